"""What a run has shown, in numbers: ``summary.json``."""

from __future__ import annotations

import math
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from importlib.metadata import PackageNotFoundError, version
from time import perf_counter
from typing import Any

import numpy as np

from symplex.base.version import VERSION
from symplex.fem.energy import Array
from symplex.fem.measures.constraints import Constraint
from symplex.runs.history import read_history
from symplex.runs.results import Folder
from symplex.scenario.scenario import Problem
from symplex.time.totals import ALL_TOTALS, kept_energy, relative_energy_changes

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


def drifts(history: Mapping[str, Array]) -> dict[str, float]:
    """Return the largest change of energies and momenta since the start.

    Energies relative to the energy exchanged (`symplex.time.totals.EnergyExchange`), momenta to the largest of their
    kind.
    """
    found = {}
    for name in ALL_TOTALS:
        if name in history:
            found[name] = float(np.abs(relative_energy_changes(history, name)).max())
    for kind in ("momentum", "angular_momentum"):
        vectors = np.stack([history[f"{kind}_{axis}"] for axis in "xyz"], axis=1)
        scale = np.linalg.norm(vectors, axis=1).max()
        for axis, change in zip("xyz", np.abs(vectors - vectors[0]).max(axis=0), strict=True):
            found[f"{kind}_{axis}"] = float(change / scale) if scale > 0 else 0.0
    return found


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
    problem: Problem, folder: Folder, clock: Clock, status: str, reason: str, statistics: Mapping[str, float]
) -> dict[str, Any]:
    """Return the summary of a run whose history is in a folder."""
    scenario, system = problem.scenario, problem.system
    summary: dict[str, Any] = {
        "status": status,
        "reason": reason,
        "title": scenario.tables.title,
        "scenario": scenario.path.name,
        "scenario_sha256": scenario.hash,
        "versions": versions(),
        "nodes": system.n_nodes,
        "elements": {name: {solid.kind: len(solid.nodes)} for name, solid in problem.solids.items()},
        "dofs": int(system.fixed.size - system.fixed.sum()),
        "mass": float(system.lumped_mass("summary").sum()) if system.is_lumped else float(system.mass.sum()),
        "loads": _loads(problem),
        "kind": scenario.tables.integrator.kind,
        "integrator": type(problem.integrator).__name__,
        "parameters": _plain(problem.integrator),
        "conserves": sorted(problem.integrator.conserves),
        "statistics": dict(statistics),
        "duration": scenario.tables.run.duration,
        "wall_time": {"total": clock.total, "earlier_runs": clock.before, **clock.parts},
    }
    if folder.history.exists() and folder.history.stat().st_size:
        summary |= _of_history(problem, read_history(folder.history), summary["mass"])
    return summary


def _loads(problem: Problem) -> list[str]:
    """Return the names of what does work: loads, and supports that move."""
    return [*problem.system.loads, *problem.system.moving.motions]


def _of_history(problem: Problem, history: Mapping[str, Array], mass: float) -> dict[str, Any]:
    strain = sum(history[name] for name in problem.solids)
    found = {
        "t_end": float(history["t"][-1]),
        "samples": len(history["t"]) - 1,
        "energy_start": float(history["total"][0]),
        "energy_end": float(history["total"][-1]),
        "energy_kept": kept_energy(problem.integrator.energy, history),
        "drift": drifts(history),
        "mean_velocity_end": [float(history[f"momentum_{axis}"][-1]) / mass for axis in "xyz"],
        "peak_strain_energy": float(np.max(strain)),
    }
    if work := {name: float(history[f"work_{name}"][-1]) for name in _loads(problem) if f"work_{name}" in history}:
        found["work"] = work
    if "heat" in history:
        found["heat"] = float(history["heat"][-1])
        found["mean_temperature"] = float(history["temperature"].mean())
    if problem.contacts:
        force = np.stack([history[f"contact_force_{axis}"] for axis in "xyz"], axis=1)
        found["peak_contact_force"] = float(np.linalg.norm(force, axis=1).max())
        found["peak_penetration"] = float(history["penetration"].max())
    return found


def versions() -> dict[str, str]:
    """Return the versions of symplex, Python and the packages that a result depends on."""
    found = {"symplex": VERSION, "python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found | {"platform": f"{platform.system()} {platform.machine()}"}
