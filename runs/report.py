"""What the commands print of a run and of a mesh; of a scenario, see `symplex.runs.check`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from symplex.errors import OutputError
from symplex.fem.solids.elements import LINE, SOLIDS
from symplex.meshes.formats.account import some
from symplex.meshes.formats.read import read_mesh
from symplex.meshes.quality import MeshInfo, describe
from symplex.meshes.series.series import read_series
from symplex.runs.progress import clock, si
from symplex.runs.results import RunFolder
from symplex.runs.tables import table
from symplex.time.totals import BALANCE

_COLUMNS_OF_PROBE = 6  # that are reported; all are in the summary
_OF_SHELLS = {"quad": "quadrilaterals", "triangle": "triangles"}
_UNITS = {
    "peak_contact_force": "N",
    "peak_contact_force_filtered": "N",
    "peak_penetration": "m",
}  # of what earlier versions have summarised


def run_report(summary: Mapping[str, Any], folder: str | Path) -> str:
    """Return the summary of a run as lines."""
    try:
        return _run_report(summary, folder)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise OutputError(
            f"{RunFolder(folder).summary} is not as this version of symplex writes it; remove it, and --resume writes "
            "it again."
        ) from error


def _run_report(summary: Mapping[str, Any], folder: str | Path) -> str:
    if "t_end" not in summary:
        return table([("status", _status(summary))])
    drift = summary["drift"]
    counts = ", ".join(f"{value:,} {name.replace('_', ' ')}" for name, value in summary["statistics"].items())
    momenta = ("momentum change", ", ".join(f"{a} {drift[f'momentum_{a}']:.1e}" for a in "xyz") + " (relative)")
    rows = [
        ("status", _status(summary)),
        ("time", f"{si(summary['t_end'], 's')} of {si(summary['duration'], 's')}"),
        ("size", ", ".join(filter(None, [f"{summary['nodes']:,} nodes", elements(summary["elements"])]))),
        ("integrator", f"{summary.get('kind', summary['integrator'])}: {counts}"),
        ("total energy", f"{si(summary['energy_start'], 'J', 6)} to {si(summary['energy_end'], 'J', 6)}"),
        *([("motion", "none, except for rounding")] if _is_at_rest(summary) else [_drift(summary), momenta]),
        _heat(summary),
        ("mean velocity", ", ".join(f"{v:.6g}" for v in summary["mean_velocity_end"]) + " m/s"),
        ("peak strain energy", si(summary["peak_strain_energy"], "J", 4)),
    ]
    rows[4:4] = [_stage(stage) for stage in summary.get("stages", ())]
    rows[4:4] = [(f"when '{event['name']}'", si(event["t"], "s", 9)) for event in summary.get("events", ())]
    for name, unit in summary.get("units", _UNITS).items():
        if name in summary and name not in _OF_HEAT:
            sampled = " (at the samples)" if name.startswith(("peak_", "least_")) else ""
            rows.append((name.replace("_", " "), f"{si(summary[name], unit, 4)}{sampled}"))
    rows += _kept(summary.get("conservation", ()))
    rows += _probes(summary.get("probes", {}))
    rows.append(("wall time", _wall_time(summary["wall_time"])))
    rows.append(("results", f"{folder}: {', '.join(_files(Path(folder)))}"))
    return table(rows)


def _probes(probes: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return rows on the first columns of probes, with the least and the largest values."""
    rows = []
    for name, probe in probes.items():
        for column, known in list(probe["columns"].items())[:_COLUMNS_OF_PROBE]:
            least, largest = (si(known[which], known["unit"], 5) for which in ("least", "largest"))
            when = f"{si(known['t_least'], 's')} and {si(known['t_largest'], 's')}"
            rows.append((f"probe '{name}'", f"{column} from {least} to {largest}, at {when}"))
    return rows


def _stage(stage: Mapping[str, Any]) -> tuple[str, str]:
    """Return a row on a part of a run."""
    span = f"{si(stage['start'], 's', 6)} to {si(stage['end'], 's', 6)}, {stage['integrator']}"
    if "energy_end" not in stage:
        return called(stage["name"]), f"{span}: not reached"
    total = f"total energy {si(stage['energy_end'], 'J', 6)} at its end"
    return called(stage["name"]), f"{span}: {total}, balance within {si(stage['balance_change'], 'J', 2)}"


_TOLD = {"round-off": "kept to round-off", "solver": "kept to the tolerance of the solver"}


def _kept(parts: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Return rows on what a run has kept, by verdict."""
    rows = []
    for number, part in enumerate(parts):
        found: dict[str, list[str]] = {}
        for name, one in part["kept"].items():
            found.setdefault(_TOLD.get(one["verdict"], ""), []).append(name.replace("_", " "))
        of = f"{called(part['stage']) if part['stage'] else f'part {number + 1}'}, " if len(parts) > 1 else ""
        rows += [(f"{of}{words}", ", ".join(names)) for words, names in found.items() if words]
    return rows


def called(stage: str) -> str:
    return f"stage '{stage}'" if stage else "part"


def _status(summary: Mapping[str, Any]) -> str:
    return f"{summary['status']}: {summary['reason']}" if summary["reason"] else summary["status"]


def _is_at_rest(summary: Mapping[str, Any]) -> bool:
    """Return whether nothing has moved, so that all that could be reported of changes is rounding."""
    return {one["verdict"] for part in summary.get("conservation", ()) for one in part["kept"].values()} == {"at rest"}


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
    requested = next(item["parameters"]["temperature"] for item in of if "temperature" in item["parameters"])
    temperatures = f"{summary['mean_temperature']:.4g}, expected {requested:.4g}"
    return "heat", f"{si(summary['heat'], 'J', 4)}; mean temperature {temperatures}"


def _wall_time(parts: Mapping[str, float]) -> str:
    split = ", ".join(f"{name} {clock(s)}" for name, s in parts.items() if name not in ("total", "earlier_runs"))
    return f"{clock(parts['total'])} ({split})"


def _files(folder: Path) -> list[str]:
    names = [path.name for path in folder.iterdir() if path.is_file()]
    return sorted(name for name in names if not name.startswith(".") and not name.endswith(".npz"))


def result_report(path: Path) -> str:
    """Return what is in a results folder."""
    folder = RunFolder.of_run(path)
    summary = folder.read_summary()
    title = summary.get("title") or path.name
    if not summary:
        return f"{title}\n" + table(
            [("status", "killed before its end; resume it"), ("files", ", ".join(_files(path)))]
        )
    return f"{title}\n{run_report(summary, path)}"


def mesh_report(path: Path, *, strict: bool = False) -> str:
    """Return what is in a mesh file and how good it is, or in the file of a motion.

    Parameters
    ----------
    path : Path
    strict : bool, default False
        Whether to refuse a mesh file with unknown lines; else they are listed.
    """
    if path.suffix in (".vtkhdf", ".pvd"):
        return _series_report(path)
    mesh = read_mesh(path, require_volume=False, strict=strict)
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
    rows += [("unknown input", line) for line in some(mesh.unknown)]
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


def elements(of_bodies: Mapping[str, Mapping[str, int]]) -> str:
    """Return how many elements of each type bodies have."""
    plurals = {element.kind: element.plural for element in (*SOLIDS, LINE)} | _OF_SHELLS
    counts = {plural: sum(kinds.get(kind, 0) for kinds in of_bodies.values()) for kind, plural in plurals.items()}
    return ", ".join(f"{count:,} {plural}" for plural, count in counts.items() if count)
