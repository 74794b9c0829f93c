"""What a run has shown, in numbers: ``summary.json``."""

from __future__ import annotations

import math
import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from importlib.metadata import PackageNotFoundError, version
from time import perf_counter
from types import MappingProxyType
from typing import Any

import numpy as np

from symplex.base.columns import Column
from symplex.base.version import VERSION
from symplex.fem.energies.energy import Array
from symplex.fem.measures.constraints import Constraint
from symplex.fem.structures.frames import nodes_and_degrees
from symplex.runs.conservation_report import report_of, write_report
from symplex.runs.history import Rows, columns_of, read_history
from symplex.runs.parts import Parts
from symplex.runs.results import RunFolder
from symplex.scenario.mass_scaling import KINETIC
from symplex.scenario.scenario import Problem
from symplex.time.stages import Stages
from symplex.time.totals import BALANCE, relative_energy_changes

_NOTHING: Mapping[str, float] = MappingProxyType({})
_ROUNDED = 1e-9  # of what a vector could be: below, it is rounding
_TOUCHING = 1e-3  # of the largest contact force: below, nothing touches
_WINDOW = 0.1  # of the time that a contact lasts: over so much its force is filtered
_PACKAGES = ("numpy", "scipy", "numba", "h5py", "vtk")


class Clock:
    """Wall time by parts in s.

    Attributes
    ----------
    before : float
        Spent by the runs that this one continues.
    parts : dict of str to float
    """

    def __init__(self):
        self.before = 0.0
        self.parts: dict[str, float] = {}
        self._start = perf_counter()

    @property
    def total(self) -> float:
        """All the time spent, earlier runs included."""
        return self.before + perf_counter() - self._start

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count the time spent inside as a part."""
        start = perf_counter()
        try:
            yield
        finally:
            self.parts[name] = self.parts.get(name, 0.0) + perf_counter() - start


def drifts(history: Rows, possible: Mapping[str, float] = _NOTHING) -> dict[str, float]:
    """Return the largest change since the start of all columns that declare it: energies and momenta.

    Energies relative to the energy exchanged (`symplex.time.totals.EnergyExchange`), others to the largest size of
    theirs; where that is rounding only, as of momenta of bodies that fly towards each other, to what it could be.

    Parameters
    ----------
    history : mapping of str to float64 [rows]
    possible : mapping of str to float, optional
        How large vectors could be, by name.
    """
    found = {}
    for subject, columns in _subjects(history, "drift").items():
        if columns[0].kind == "total":
            found[subject] = float(np.abs(relative_energy_changes(history, subject)).max())
            continue
        vectors, scale = _together(history, columns), _sizes(history, columns).max()
        if scale < _ROUNDED * possible.get(subject, 0.0):
            scale = possible[subject]
        for column, change in zip(columns, np.abs(vectors - vectors[0]).max(axis=0), strict=True):
            found[column.name] = float(change / scale) if scale > 0 else 0.0
    return found


def _subjects(history: Rows, *summaries: str) -> dict[str, list[Column]]:
    """Return the columns that declare one of the given summaries, those of a vector together."""
    found: dict[str, list[Column]] = {}
    for column in columns_of(history).values():
        if column.summary in summaries:
            found.setdefault(column.subject, []).append(column)
    return found


def _together(history: Rows, columns: Sequence[Column]) -> Array:
    """Return columns side by side [rows, columns]."""
    return np.stack([history[column.name] for column in columns], axis=1)


def _sizes(history: Rows, columns: Sequence[Column]) -> Array:
    """Return the size [rows] of a vector, or of a number."""
    return np.linalg.norm(_together(history, columns), axis=1)


def _summarised(history: Rows) -> tuple[dict[str, float], dict[str, str], dict[str, float]]:
    """Return what columns declare to be summarised, the units of it, and the work of actions, each by name."""
    values: dict[str, float] = {}
    units: dict[str, str] = {}
    works: dict[str, float] = {}
    for subject, columns in _subjects(history, "end", "mean", "peak", "least").items():
        kind, rows = columns[0].summary, _sizes(history, columns) if len(columns) > 1 else history[columns[0].name]
        if subject.startswith("work_"):
            works[subject.removeprefix("work_")] = float(rows[-1])
            continue
        value = {"end": rows[-1], "mean": rows.mean(), "peak": rows.max(), "least": rows.min()}[kind]
        name = subject if kind == "end" else f"{kind}_{subject}"
        values[name], units[name] = float(value), columns[0].unit
        if kind == "peak" and columns[0].kind == "force":
            filtered = f"{name}_filtered"
            values[filtered], units[filtered] = (
                filtered_peak(history["t"], _together(history, columns)),
                columns[0].unit,
            )
    return values, units, works


def filtered_peak(t: Array, forces: Array) -> float:
    """Return the largest size of the mean of a contact force over a tenth of the time that the contact lasts.

    The force of stiff contact rings on the masses of the nodes that it acts on, or comes in blows: its largest value is
    that of the mesh. Of several contacts the longest counts; a pause ends one if it is longer than a tenth of the time
    from the first force to the last.

    Parameters
    ----------
    t : float64 [rows]
        In s.
    forces : float64 [rows, components]
        In N.
    """
    sizes = np.linalg.norm(forces, axis=1)
    acting = t[sizes > _TOUCHING * sizes.max()]
    if not len(acting):
        return 0.0
    pauses = np.flatnonzero(np.diff(acting) > _WINDOW * (acting[-1] - acting[0]))
    longest = np.max(acting[[*pauses, -1]] - acting[[0, *(pauses + 1)]])
    if longest == 0.0:  # too few samples to report
        return float(sizes.max())
    window = _WINDOW * longest
    impulses = np.vstack([0.0 * forces[:1], np.cumsum(0.5 * (forces[1:] + forces[:-1]) * np.diff(t)[:, None], axis=0)])
    starts = np.append(t[t < t[-1] - window], t[-1] - window)
    gained = [np.interp(starts + window, t, column) - np.interp(starts, t, column) for column in impulses.T]
    return float(np.linalg.norm(gained, axis=0).max() / window)


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: of an integrator, or what it is made of, its parameters by name."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Constraint):
        return {"kind": type(value).__name__, "conditions": len(value.nodes)}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if is_dataclass(value):
        return {item.name: _plain(getattr(value, item.name)) for item in fields(value)}
    return value


def summarize(
    problem: Problem, folder: RunFolder, clock: Clock, status: str, reason: str, statistics: Mapping[str, float]
) -> dict[str, Any]:
    """Return the summary of a run whose history is in a folder."""
    scenario, system, parts = problem.scenario, problem.system, Parts.of(problem)
    nodes, degrees = nodes_and_degrees(system)
    summary: dict[str, Any] = {
        "status": status,
        "reason": reason,
        "title": scenario.tables.title,
        "scenario": scenario.path.name,
        "scenario_sha256": scenario.hash,
        "versions": versions(),
        "nodes": nodes,
        "elements": {part.name: part.elements for part in parts if part.elements},
        "dofs": degrees,
        "mass": float(system.mass.sum()),
        "loads": _loads(problem),
        "kind": ", ".join(dict.fromkeys(table.kind for table in scenario.tables.integrators)),
        "integrator": type(problem.integrator).__name__,
        "parameters": {} if isinstance(problem.integrator, Stages) else _plain(problem.integrator),
        "conserves": sorted(problem.integrator.conserves),
        "statistics": dict(statistics),
        "duration": scenario.tables.run.end,
        "wall_time": {"total": clock.total, "earlier_runs": clock.before, **clock.parts},
    }
    if problem.scaled:
        summary["mass_scaling"] = _scaled(problem)
    if folder.history.exists() and folder.history.stat().st_size:
        history = read_history(folder.history)
        summary |= _of_history(problem, history, summary["mass"])
        if problem.scaled:
            moving = history["kinetic"] > _ROUNDED * history["kinetic"].max()
            shares = history[KINETIC][moving] / history["kinetic"][moving]
            summary["mass_scaling"]["largest_part_of_kinetic_energy"] = float(shares.max(initial=0.0))
        if isinstance(problem.integrator, Stages):
            summary["stages"] = list(_stages(problem, history))
        if len(history["t"]) > 1:
            report = report_of(problem, history, folder)
            write_report(report, folder.conservation)
            summary["conservation"] = report.verdicts()
    return summary


def _scaled(problem: Problem) -> dict[str, Any]:
    """Return how much mass is added to bodies and to all."""
    table, scaled = problem.scenario.tables.mass_scaling, problem.scaled
    assert table is not None, "it has led to what is added"
    added, own = (sum(getattr(one, key) for one in scaled.values()) for key in ("added", "own"))
    bodies = {
        name: {"added_mass": one.added, "part_of_mass": one.share, "elements": one.elements, "of_elements": one.of}
        for name, one in scaled.items()
    }
    return {"dt": table.dt, "added_mass": added, "part_of_mass": added / own, "bodies": bodies}


def _stages(problem: Problem, history: Rows) -> Iterator[dict[str, Any]]:
    """Yield what each part of a run was, and what it has come to, as far as it has been computed."""
    legs, drifting = problem.scenario.timeline.legs, BALANCE.name
    for leg, stage in zip(legs, problem.stages, strict=True):
        rows = np.flatnonzero((history["t"] >= leg.start) & (history["t"] <= leg.end))
        found: dict[str, Any] = {
            "name": stage.name,
            "start": leg.start,
            "end": leg.end,
            "integrator": type(stage.integrator).__name__,
            "parameters": _plain(stage.integrator),
            "conserves": sorted(stage.integrator.conserves),
            "dofs": int((~stage.system.fixed).sum()),
        }
        if len(rows):
            found |= {"samples": len(rows) - 1, "energy_end": float(history["total"][rows[-1]])}
            found["balance_change"] = float(np.ptp(history[drifting][rows]))
        yield found


def _loads(problem: Problem) -> list[str]:
    """Return the names of what does work: loads, inelastic parts, and supports that move."""
    systems = [stage.system for stage in problem.stages]
    return list(dict.fromkeys(name for s in systems for name in (*s.loads, *s.inelastic, *s.moving.motions)))


def _of_history(problem: Problem, history: Rows, mass: float) -> dict[str, Any]:
    values, units, works = _summarised(history)
    energies = [name for part in Parts.of(problem) for name in part.energies]
    strain = sum(history[name if name in history else f"stored_{name}"] for name in energies)
    found = {
        "t_end": float(history["t"][-1]),
        "samples": len(history["t"]) - 1,
        "energy_start": float(history["total"][0]),
        "energy_end": float(history["total"][-1]),
        "energy_kept": next((name for name, column in columns_of(history).items() if column.watched), "total"),
        "drift": drifts(history, _possible(problem, history, mass)),
        "mean_velocity_end": [float(history[f"momentum_{axis}"][-1]) / mass for axis in "xyz"],
        "peak_strain_energy": float(np.max(strain)),
    }
    return found | values | {"units": units} | ({"work": works} if works else {})


def _possible(problem: Problem, history: Rows, mass: float) -> dict[str, float]:
    """Return how large momenta could be with all kinetic energy in one motion, the angular one at the farthest node."""
    momentum = math.sqrt(2.0 * mass * float(history["kinetic"].max()))
    farthest = float(np.linalg.norm(problem.state.q, axis=1).max())
    return {"momentum": momentum, "angular_momentum": momentum * farthest}


def versions() -> dict[str, str]:
    """Return the versions of symplex, Python and the packages that a result depends on."""
    found = {"symplex": VERSION, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found | {"platform": f"{platform.system()} {platform.machine()}"}
