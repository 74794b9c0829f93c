"""What the commands print: a run's summary, a scenario's sizes, a mesh's contents."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from symplex.contact.bodies import BodyContact
from symplex.errors import InvalidSystem, OutputError, StepFailed
from symplex.fem.energy import Array
from symplex.fem.measures.anchors import Anchors
from symplex.fem.measures.bars import Bars
from symplex.fem.solids.elements import LINE, SOLIDS
from symplex.fem.solids.solid import Solid
from symplex.meshes.formats.read import read_mesh
from symplex.meshes.mesh import Mesh
from symplex.meshes.quality import MeshInfo, describe
from symplex.meshes.series.series import read_series
from symplex.runs.progress import clock, si
from symplex.runs.results import Folder
from symplex.scenario.integrators import step_of
from symplex.scenario.joined_parts import joined_cells
from symplex.scenario.scenario import Problem
from symplex.time.motion import FixedStepMotion, Motion
from symplex.time.stability import stable_step
from symplex.time.totals import BALANCE

_NOISE = 1e-9  # energies that are rounding, relative to the largest
_TRIAL = 0.5  # s of wall time to measure the speed in
_WARM_UP = 20.0  # s of wall time for the first piece, with compiling
_FIRST_PIECE = 2.0**-200  # of the duration
_CENTURY = 3.15576e9  # s
_UNITS = {"peak_contact_force": "N", "peak_penetration": "m"}  # of what earlier versions have summarised


def table(rows: Sequence[tuple[str, str]]) -> str:
    """Return rows of a name and a value as aligned lines."""
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"  {name:<{width}}  {value}" for name, value in rows if value)


def run_report(summary: Mapping[str, Any], folder: str | Path) -> str:
    """Return the summary of a run as lines.

    Raises
    ------
    OutputError
        If the summary is damaged or another version's.
    """
    try:
        return _run_report(summary, folder)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise OutputError(
            f"{Folder(folder).summary} is not as this version of symplex writes it; remove it, and --resume writes it "
            "anew."
        ) from error


def _run_report(summary: Mapping[str, Any], folder: str | Path) -> str:
    if "t_end" not in summary:
        return table([("status", _status(summary))])
    drift = summary["drift"]
    counts = ", ".join(f"{value:,} {name.replace('_', ' ')}" for name, value in summary["statistics"].items())
    rows = [
        ("status", _status(summary)),
        ("time", f"{si(summary['t_end'], 's')} of {si(summary['duration'], 's')}"),
        ("size", f"{summary['nodes']:,} nodes, {_elements(summary['elements'])}"),
        ("integrator", f"{summary.get('kind', summary['integrator'])}: {counts}"),
        ("total energy", f"{si(summary['energy_start'], 'J', 6)} to {si(summary['energy_end'], 'J', 6)}"),
        _drift(summary),
        _heat(summary),
        ("momentum change", ", ".join(f"{axis} {drift[f'momentum_{axis}']:.1e}" for axis in "xyz") + " (relative)"),
        ("mean velocity", ", ".join(f"{v:.6g}" for v in summary["mean_velocity_end"]) + " m/s"),
        ("peak strain energy", si(summary["peak_strain_energy"], "J", 4)),
    ]
    rows[4:4] = [_stage(stage) for stage in summary.get("stages", ())]
    for name, unit in summary.get("units", _UNITS).items():
        if name in summary and name not in _OF_HEAT:
            sampled = " (at the samples)" if name.startswith(("peak_", "least_")) else ""
            rows.append((name.replace("_", " "), f"{si(summary[name], unit, 4)}{sampled}"))
    rows.append(("wall time", _wall_time(summary["wall_time"])))
    rows.append(("results", f"{folder}: {', '.join(_files(Path(folder)))}"))
    return table(rows)


def _stage(stage: Mapping[str, Any]) -> tuple[str, str]:
    """Return a row on a part of a run."""
    span = f"{si(stage['start'], 's')} to {si(stage['end'], 's')}, {stage['integrator']}"
    if "energy_end" not in stage:
        return _called(stage["name"]), f"{span}: not reached"
    total = f"total energy {si(stage['energy_end'], 'J', 6)} at its end"
    return _called(stage["name"]), f"{span}: {total}, balance within {si(stage['balance_change'], 'J', 2)}"


def _called(stage: str) -> str:
    return f"stage '{stage}'" if stage else "part"


def _status(summary: Mapping[str, Any]) -> str:
    return f"{summary['status']}: {summary['reason']}" if summary["reason"] else summary["status"]


def _drift(summary: Mapping[str, Any]) -> tuple[str, str]:
    """Return a row on the change of the total energy, and of the one that is kept instead."""
    drift, loads, kept = summary["drift"], ", ".join(summary.get("loads", ())), summary["energy_kept"]
    if (balance := BALANCE.name) in drift:
        taken = [*([f"the work of {loads}"] if loads else []), *(["the heat"] if "heat" in summary else [])]
        discrete = "" if kept == balance else f"; {drift[kept]:.1e} of {kept}"
        less = f", {' and '.join(taken)} taken off" if taken else ""
        return "energy balance", f"{drift[balance]:.1e} (relative){less}{discrete}"
    total = f"{drift['total']:.1e}"
    if loads:
        return "energy change", f"{total} (relative); work is done by {loads}"
    if kept == "total":
        return "energy drift", f"{total} (relative)"
    nearly = "" if "energy" in summary["conserves"] else "nearly "
    finer = ", less on a finer grid" if kept == "lattice_total" else ""
    return "energy drift", f"{drift[kept]:.1e} of {kept}, which it {nearly}keeps; {total} of total{finer} (relative)"


_OF_HEAT = ("heat", "mean_temperature")


def _heat(summary: Mapping[str, Any]) -> tuple[str, str]:
    """Return a row on what a thermostat has done, without a value if there is none."""
    if "heat" not in summary:
        return "heat", ""
    of = [summary, *summary.get("stages", ())]
    wanted = next(item["parameters"]["temperature"] for item in of if "temperature" in item["parameters"])
    temperatures = f"{summary['mean_temperature']:.4g}, wanted {wanted:.4g}"
    return "heat", f"{si(summary['heat'], 'J', 4)}; mean temperature {temperatures}"


def _wall_time(parts: Mapping[str, float]) -> str:
    split = ", ".join(f"{name} {clock(s)}" for name, s in parts.items() if name not in ("total", "earlier_runs"))
    return f"{clock(parts['total'])} ({split})"


def _files(folder: Path) -> list[str]:
    names = [path.name for path in folder.iterdir() if path.is_file()]
    return sorted(name for name in names if not name.startswith(".") and not name.endswith(".npz"))


def result_report(path: Path) -> str:
    """Return what is in a results folder.

    Raises
    ------
    OutputError
        If there is no run in it, or its summary is another version's.
    """
    folder = Folder.of_run(path)
    summary = folder.read_summary()
    title = summary.get("title") or path.name
    if not summary:
        return f"{title}\n" + table(
            [("status", "killed before its end; resume it"), ("files", ", ".join(_files(path)))]
        )
    return f"{title}\n{run_report(summary, path)}"


def mesh_report(path: Path) -> str:
    """Return what is in a mesh file and how good it is, or in the file of a motion.

    Raises
    ------
    MeshError, OutputError
        If it cannot be read.
    """
    if path.suffix in (".vtkhdf", ".pvd"):
        return _series_report(path)
    mesh = read_mesh(path, require_volume=False)
    info = describe(mesh)
    size = " × ".join(f"{high - low:.4g}" for low, high in zip(info.low, info.high, strict=True))
    low = ", ".join(f"{x:.4g}" for x in info.low)
    rows = [
        ("points", f"{info.n_points:,}"),
        ("cells", _counted(info.cells)),
        ("bodies", str(info.bodies)),
        ("size", f"{size}, from ({low}), in units of the file"),
        ("volume", _volume(info) if mesh.volume_types else "none: the mesh has no volume cells"),
    ]
    if info.quality_min is not None:
        rows.append(("shape", f"worst {info.quality_min:.3f}, median {info.quality_median:.3f} (1 is best)"))
    groups = [f"{name} ({_counted(members)})" for name, members in info.cell_groups.items()]
    groups += [f"{name} ({n:,} points)" for name, n in info.point_groups.items()]
    rows.append(("groups", ", ".join(groups) or "none"))
    troubles = {
        "inverted cells": info.inverted,
        "flat cells": info.flat,
        "repeated cells": info.duplicates,
        "unconnected nodes": info.unconnected,
    }
    found = [f"{n} {what}" for what, n in troubles.items() if n]
    found += [f"{kind} cells cannot be judged" for kind in info.unjudged]
    rows.append(("troubles", ", ".join(found) or "none"))
    known = [element.kind for element in SOLIDS]
    if others := [kind for kind in mesh.volume_types if kind not in known]:
        rows.append(("elements", f"{' and '.join(others)} cannot be computed with, only {', '.join(known)}"))
    for kind, names in mesh.formulations.items():
        rows.append(("formulation", f"{', '.join(names)} in the file; {kind} is computed as {_computed_as(kind)}"))
    return f"{path.name}\n{table(rows)}"


def _computed_as(kind: str) -> str:
    """Return how elements are computed by default."""
    return "stabilized, of one point with an hourglass energy" if kind == "hexahedron" else "full, with all points"


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{n:,} {kind}" for kind, n in counts.items())


def _volume(info: MeshInfo) -> str:
    without = f", without {' and '.join(info.unjudged)}" if info.unjudged else ""
    return "unknown" if info.quality_min is None else f"{info.volume:.6g}{without}"


def _series_report(path: Path) -> str:
    """Return what is in the file of a motion that a run has written."""
    series = read_series(path)
    times = f", from {si(series.times[0], 's')} to {si(series.times[-1], 's')}" if len(series) else ""
    rows = [
        ("motion", f"{len(series)} frames{times}"),
        ("points", f"{len(series.points):,}"),
        *(
            (
                "obstacle" if block.is_obstacle else "body",
                f"{name}: {_counted({k: len(c) for k, c in block.cells.items()})}",
            )
            for name, block in series.blocks.items()
        ),
        ("fields", ", ".join(["displacement", *series.point_fields, *series.cell_fields])),
    ]
    return f"{path.name}\n{table(rows)}"


def check_report(problem: Problem) -> tuple[str, str]:
    """Return sizes, stable step, and the estimated memory and time of a run; and why it fails early, if it does."""
    scenario, system = problem.scenario, problem.system
    tables = scenario.tables
    rows = [("size", f"{system.n_nodes:,} nodes, {int((~system.fixed).sum()):,} degrees of freedom")]
    mesh = problem.mesh
    for name, solids in problem.parts.items():
        rows.append((f"body '{name}'", _body(mesh.points[mesh.nodes_of(name)], solids)))
        rows += [(f"  {part}", _material(solid)) for part, solid in solids.items() if len(solids) > 1]
    for name, bars in problem.trusses.items():
        rows.append((f"truss '{name}'", _truss(bars, mesh, name)))
    for name, springs in problem.springs.items():
        rows.append((f"spring '{name}'", _springs(springs, problem.state.q)))
    pieces = describe(mesh).bodies
    if pieces > len(tables.names):
        rows.append(("pieces", f"{pieces}, as parts of a body that share no nodes are not joined"))
    points = problem.riders.points(problem.state.q)
    for name, contact in problem.contacts.items():
        gap = float(np.min(contact.gaps(points), initial=np.inf))
        rows.append((f"obstacle '{name}'", f"{len(contact.nodes):,} nodes may touch, the nearest at {gap:.4g} m"))
    for name, rider in problem.riders.riders.items():
        if rider.mass > 0.0:
            rows.append((f"rigid '{name}'", f"{rider.mass:.6g} kg, which moves freely"))
    if problem.n_rods:
        rows.append(("rods", f"{problem.n_rods:,}, which keep their lengths"))
    for name, contact in problem.body_contacts.items():
        rows.append((f"contact '{name}'", _body_contact(contact, points)))
    if len(tables.body) > 1 and not problem.body_contacts:
        rows.append(("between bodies", "no contact: they pass through each other; [[contact]] lets them touch"))
    energies = system.energies_of(problem.state)
    noise = _NOISE * max(map(abs, energies.values()))
    shown = {name: value if abs(value) > noise else 0.0 for name, value in energies.items()}
    rows.append(("energy", ", ".join(f"{name} {si(value, 'J', 5)}" for name, value in shown.items())))
    if system.is_lumped and all(energy.bounded_stiffness for energy in system.energies.values()):
        rows.append(("stable step", f"{si(stable_step(system, problem.state.q), 's', 4)} (explicit Newmark)"))
    rows += _steps(problem)
    run = tables.run
    rows.append(("run", f"{si(run.duration, 's')}, {run.frames} frames, {run.n_samples} samples of the history"))
    rows.append(("disk", f"{_disk(problem) / 1e6:.1f} MB"))
    time, failure = _estimate(problem)
    rows.append(("time", time))
    rows.append(("memory", _memory()))
    return f"{scenario.path.name} is valid{', but fails early' if failure else ''}.\n{table(rows)}", failure


def _body(points: Array, solids: Mapping[str, Solid]) -> str:
    """Return size, elements and mass of a body, and its material if it has only one part."""
    size = " × ".join(f"{length:.4g}" for length in np.ptp(points, axis=0))
    cells = _elements({"": {kind: len(rows) for kind, rows in joined_cells(solids).items()}})
    if len(solids) == 1:
        return f"{size} m, {cells}, {_material(*solids.values())}"
    mass = sum(solid.material.density * solid.volumes.sum() for solid in solids.values())
    return f"{size} m, {cells}, {mass:.6g} kg"


def _truss(bars: Bars, mesh: Mesh, name: str) -> str:
    """Return size, members, lengths and prestress of a truss."""
    points, lengths = mesh.points, bars.lengths(mesh.points)
    size = " × ".join(f"{length:.4g}" for length in np.ptp(points[mesh.nodes_of(name)], axis=0))
    return f"{size} m, {len(bars.nodes):,} members of {_range(lengths, 'm')}, {_forces(bars, points)}"


def _springs(springs: Bars | Anchors, q: Array) -> str:
    """Return the number of springs, their lengths and forces at the start."""
    return f"{len(springs.nodes):,} of {_range(springs.lengths(q), 'm')}, {_forces(springs, q)}"


def _range(values: Array, unit: str) -> str:
    low, high = float(values.min()), float(values.max())
    return si(high, unit) if high - low <= _NOISE * abs(high) else f"{si(low, unit)} to {si(high, unit)}"


def _forces(bars: Bars | Anchors, q: Array) -> str:
    """Return the forces along bars, if there are any but rounding."""
    forces, lengths = bars.tensions(q), bars.lengths(q)
    stiffness = 4.0 * lengths**2 * bars.law.curvature(lengths**2) + 2.0 * bars.law.slope(lengths**2)  # d²φ/dl²
    if (np.abs(forces) <= _NOISE * np.abs(stiffness * lengths)).all():
        return "without forces at the start"
    return f"forces of {_range(forces, 'N')} at the start"


def _material(solid: Solid) -> str:
    """Return the mass of a part of a body and what its material is like."""
    material = solid.material
    moduli = f", E = {si(material.young, 'Pa')}, ν = {material.poisson:.3f}" if material.isotropic else ", fibres"
    return f"{material.density * solid.volumes.sum():.6g} kg, waves {material.wave_speed:.5g} m/s{moduli}"


def _steps(problem: Problem) -> Iterator[tuple[str, str]]:
    """Yield rows on the steps of each part of a run."""
    legs = problem.scenario.timeline.legs
    for leg, stage in zip(legs, problem.stages, strict=True):
        dt = step_of(stage.integrator)
        steps = "" if dt is None else f"{si(dt, 's', 6)}, {round((leg.end - leg.start) / dt):,} steps"
        if len(legs) == 1:
            yield "step", steps
            continue
        free = f"{int((~stage.system.fixed).sum()):,} degrees of freedom"
        span = f"{si(leg.start, 's')} to {si(leg.end, 's')}, {type(stage.integrator).__name__}"
        yield _called(stage.name), f"{span}, {free}{', step ' if steps else ''}{steps}"


def _body_contact(contact: BodyContact, q: Array) -> str:
    """Return the law, the stiffness and the distance of contact between bodies, and what may touch."""
    surface, near = contact.surface, contact.contacts(q)
    pairs = int(np.triu(contact.between).sum())
    touching = "nothing nearer at the start"
    if len(near.gaps):
        pressed = si(contact.total(q), "J")
        touching = f"{len(near.gaps):,} pairs nearer at the start, which press bodies apart with {pressed}"
    return (
        f"{contact.law}, {si(contact.stiffness, 'N/m³')} from a distance of {si(contact.reach, 'm')} on ({touching}); "
        f"{len(surface.triangles):,} triangles, {pairs:,} pair{'s' * (pairs > 1)} of bodies"
    )


def _elements(of_bodies: Mapping[str, Mapping[str, int]]) -> str:
    """Return how many elements of each type bodies have."""
    counts = {
        element.plural: sum(kinds.get(element.kind, 0) for kinds in of_bodies.values()) for element in (*SOLIDS, LINE)
    }
    return ", ".join(f"{count:,} {plural}" for plural, count in counts.items() if count)


def _disk(problem: Problem) -> float:
    """Return the size in bytes of the frames: float32 positions, displacements and fields."""
    fields = problem.scenario.tables.output.fields
    per_node = 24 + 12 * sum(name in fields for name in ("velocity", "contact_force"))
    per_node += 4 * sum(name in fields for name in ("contact_pressure", "gap")) if problem.body_contacts else 0
    per_cell = 4 * ("von_mises" in fields)
    elements = sum(len(solid.nodes) for solid in problem.solids.values())
    return (problem.scenario.tables.run.frames + 1) * (per_node * problem.system.n_nodes + per_cell * elements)


def _estimate(problem: Problem) -> tuple[str, str]:
    """Return how long a run will take at the speed of its first moments, and why these fail, if they do."""
    stage, several = problem.stages[0], len(problem.stages) > 1
    duration = stage.end
    try:
        motion = stage.integrator.start(stage.system, problem.state)
        reached, spent = _trial(motion, duration)
    except (StepFailed, InvalidSystem) as error:
        return f"fails early: {error}", str(error)
    if reached == 0.0:
        return f"unknown: after {clock(spent)} its first moment is not over", ""
    left = spent * duration / reached
    length = clock(left) if left < _CENTURY else f"{left / _CENTURY:,.0f} centuries"
    what = f" for the first of {len(problem.stages)} parts" if several else ""
    return f"about {length}{what} at the speed of the first {si(reached, 's')}, plus output", ""


def _trial(motion: Motion, duration: float) -> tuple[float, float]:
    """Let a motion go on for a moment; return a time in s by which it has moved, and the wall time in s that it took.

    It goes on by pieces, each as long as all before it. The first, in which kernels are compiled, is a step, or so
    short that hardly an event is in it, however fast they follow each other.
    """
    first = motion.dt if isinstance(motion, FixedStepMotion) else duration * _FIRST_PIECE
    start = perf_counter()
    if not motion.approach(first, _WARM_UP):
        return 0.0, perf_counter() - start
    moved, spent, t = first, perf_counter() - start, first
    start = perf_counter()
    while 2.0 * t <= duration and (left := _TRIAL - (perf_counter() - start)) > 0.0:
        t *= 2.0
        if not motion.approach(t, left):
            break
        moved, spent = t - first, perf_counter() - start
    return moved, spent


def _memory() -> str:
    """Return the most memory that this process has used, which has built and begun the run."""
    try:
        import resource
    except ImportError:  # not on Windows
        return ""
    unit = 1 if sys.platform == "darwin" else 1024
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6:.0f} MB, without pictures"
