"""How results change as a step or a mesh is refined: the observed order, and an estimate of what they tend to."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from symplex.base.arguments import checked, is_real
from symplex.base.files import damage_reported, read_whole
from symplex.base.quantities import shown
from symplex.base.toml import read_toml
from symplex.errors import OutputError, RenderError, ScenarioError
from symplex.fem.energies.energy import Array
from symplex.meshes.pictures.figures import Panel
from symplex.runs.folders import Folder
from symplex.runs.study import Study
from symplex.runs.tables import reported_as_table
from symplex.scenario.changes import chosen
from symplex.scenario.definitions import evaluated
from symplex.scenario.integrators import step_of
from symplex.scenario.scenario import Scenario
from symplex.studies.members import Sweep, read_sweep
from symplex.studies.plots import convergence_panels
from symplex.studies.study_file import CONVERGENCE, CONVERGENCE_PLOT, read_study
from symplex.studies.sweeping import sweep

_STEP = "integrator.dt"
_MOST = 12  # refinements


@dataclass(frozen=True, repr=False)
class Convergence(Study):
    """A convergence study; see `converge`.

    Attributes
    ----------
    study : Sweep
        The runs, from the coarsest to the finest.
    sizes : float64 [levels]
        The size of steps or elements, relative to the coarsest.
    values : dict of str to float64 [levels]
        Each quantity.
    orders : dict of str to float64 [levels]
        The order that is observed from each level and the one or two before it; NaN where there is none.
    limits : dict of str to float
        What each quantity tends to: the exact value, if it is given, else after Richardson from the last levels; NaN
        where differences do not become smaller.
    exact : float or None
        The exact value, if it was given.
    """

    study: Sweep
    sizes: Array
    values: dict[str, Array]
    orders: dict[str, Array]
    limits: dict[str, float]
    exact: float | None = None

    def errors(self, name: str) -> Array:
        """Return how far the values [levels] of a quantity are from what it tends to."""
        return np.abs(self.values[name] - self.limits[name])

    def order(self, name: str) -> float:
        """Return the order of a quantity that is observed on the finest levels."""
        return float(self.orders[name][-1])

    def rows(self, name: str | None = None) -> list[dict[str, Any]]:
        """Return a row for each level: its key's value, a quantity, its estimated error, and the observed order.

        Parameters
        ----------
        name : str, optional
            The quantity; without it, rows of all, each with its own name.
        """
        if name is None:
            named = [(one, row) for one in self.values for row in self.rows(one)]
            return [{"quantity": one} | {"value" if k == one else k: x for k, x in row.items()} for one, row in named]
        key = self.study.keys[0]
        columns = zip(self.study.members, self.values[name], self.errors(name), self.orders[name], strict=True)
        return [
            {key: member.values[key], name: float(x), "error": _finite(error), "order": _finite(order)}
            for member, x, error, order in columns
        ]

    def report(self) -> str:
        """Return a table of each quantity, and what it tends to."""
        parts = []
        for name in self.values:
            rows, unit = self.rows(name), self.study.units.get(name, "")
            limit, order = self.limits[name], self.order(name)
            if math.isfinite(limit) and math.isfinite(order):
                found = f"{name} tends to {limit:.8g}{unit and ' '}{unit} at the observed order {order:.3g}"
            else:
                found = f"{name}: the differences show no order; refine more, or begin finer"
            parts.append(f"{reported_as_table(list(rows[0]), rows)}\n{found}")
        return "\n\n".join(parts)

    def write(self) -> None:
        """Write it to the folder of the runs, as ``convergence.json``.

        Raises
        ------
        OutputError
            If it cannot be written.
        """
        plain: dict[str, Any] = {"ratio": float(self.sizes[0] / self.sizes[1]), "exact": self.exact, "quantities": {}}
        for name in self.values:
            reported = {"unit": self.study.units.get(name, ""), "limit": _finite(self.limits[name])}
            reported |= {"values": self.values[name].tolist(), "orders": [_finite(one) for one in self.orders[name]]}
            plain["quantities"][name] = reported
        folder = Folder(self.study.path, "study")
        folder.file(CONVERGENCE_PLOT, "picture")
        folder.write(CONVERGENCE, json.dumps(plain, indent=1, ensure_ascii=False) + "\n", "errors and orders")

    def panels(self) -> list[Panel]:
        """Return the errors over the sizes."""
        return convergence_panels(self.sizes, {name: self.errors(name) for name in self.values}, self.orders)

    def _picture(self) -> tuple[Path, str]:
        return self.study.path / CONVERGENCE_PLOT, read_study(self.study.path).title

    def _reported(self) -> list[tuple[str, str]]:
        reported = [(name, f"order {self.order(name):.3g}, tends to {self.limits[name]:.6g}") for name in self.values]
        return [("folder", str(self.study.path)), ("over", self.study.keys[0]), *reported]


def observed_orders(values: Array, ratio: float, exact: float | None = None) -> tuple[Array, float]:
    """Return the observed orders [levels] of values on ever finer levels, and what the values tend to.

    With ``exact`` the order at a level is that of the errors there and one level before, log(e₋₁/e)/log r; else that
    of the differences of three levels, p = log((q₋₁ − q₋₂)/(q − q₋₁))/log r, and the limit is
    q* = q + (q − q₋₁)/(rᵖ − 1) (Richardson's extrapolation; Roache, Verification and Validation in Computational
    Science and Engineering, 1998).

    Parameters
    ----------
    values : float64 [levels]
    ratio : float
        r > 1, of the sizes of a level and the next finer one.
    exact : float, optional
    """
    orders = np.full(len(values), np.nan)
    steps = np.abs(values - exact) if exact is not None else np.diff(values)
    first = 1 if exact is not None else 2
    for i in range(1, len(steps)):
        before, now = float(steps[i - 1]), float(steps[i])
        if now and before / now > 0.0:
            orders[i + first - 1] = math.log(before / now) / math.log(ratio)
    if exact is not None:
        return orders, exact
    p = orders[-1]
    if len(values) > 1 and values[-1] == values[-2]:
        return orders, float(values[-1])
    return orders, float(values[-1] + (values[-1] - values[-2]) / (ratio**p - 1.0)) if p > 0.0 else math.nan


@checked
def converge(
    scenario: Scenario | str | Path,
    key: str = "integrator.dt",
    *,
    refinements: int = 4,
    factor: float | None = None,
    quantities: Sequence[str] = ("final(kinetic)",),
    exact: float | None = None,
    output: str | Path | None = None,
    resume: bool = False,
    overwrite: bool = False,
    workers: int | None = None,
    dask: str | None = None,
    progress: bool = True,
) -> Convergence:
    """Run a scenario with ever finer steps or meshes, and find the order at which results converge.

    Parameters
    ----------
    scenario : Scenario or path-like
    key : str, default "integrator.dt"
        What is refined, as in `Scenario.with_values`: a step, a number of cells or several, as
        ``body.bar.mesh.cells``, or any number, as ``define.n``.
    refinements : int, default 4
        How often.
    factor : float, optional
        By what the value is multiplied each time; default: ½, or 2 for whole numbers, as of cells.
    quantities : sequence of str, default ("final(kinetic)",)
        Numbers of a run, see `sweep`.
    exact : float, optional
        What the quantity is exactly, if that is known and there is only one.
    output, resume, overwrite, workers, dask, progress : optional
        As of `sweep`; the folder is ``NAME-convergence`` here.

    Returns
    -------
    Convergence

    Raises
    ------
    ScenarioError
        If the key has no number, or a level is no valid scenario.
    OutputError
        If a run fails; those that are finished are kept. As `sweep`.
    """
    if not isinstance(scenario, Scenario):
        scenario = Scenario.read(scenario)
    if not 1 <= refinements <= _MOST:
        raise ScenarioError(f"there are to be {refinements} refinements, must be from 1 to {_MOST}.")
    if exact is not None and len(quantities) != 1:
        raise ScenarioError("an exact value is that of one quantity; give one.")
    scenario, coarsest = _coarsest(scenario, key)
    if factor is None:
        factor = 2.0 if _is_whole(coarsest) and key != _STEP else 0.5
    if not 1e-6 <= factor <= 1e6 or factor == 1.0:
        raise ScenarioError(f"the factor is {factor:g}, must be from 1e-6 to 1e6 and not 1.")
    if key == _STEP and factor > 1.0:
        raise ScenarioError(f"the factor is {factor:g}, which makes steps longer; take one below 1, such as 0.5.")
    study = sweep(
        scenario,
        {key: [_times(coarsest, factor**i, key) for i in range(refinements + 1)]},
        output=output if output is not None else f"{scenario.name}-convergence",
        quantities=quantities,
        resume=resume,
        overwrite=overwrite,
        workers=workers,
        dask=dask,
        progress=progress,
    )
    if study.failed:
        failed = study.failed[0]
        raise OutputError(
            f"{study.path}: the run with {key} = {failed.values[key]} {failed.status}: {failed.reason.rstrip('.')}. "
            "What is finished is kept."
        )
    if reason := next((member.reason for member in study.members if member.reason), None):
        raise OutputError(reason)  # a quantity that it does not have
    found = _observed(study, max(factor, 1.0 / factor), exact)
    found.write()
    with suppress(RenderError):  # the study has said why
        found.plot()
    return found


@checked
def read_convergence(path: str | Path) -> Convergence:
    """Return the convergence study that is in a folder.

    Parameters
    ----------
    path : path-like
        The folder.

    Raises
    ------
    OutputError
        If there is none, or it cannot be read.
    """
    study = read_sweep(path)
    file = study.path / CONVERGENCE
    with damage_reported(file, "convergence study", "--resume of the study writes it again"):
        known = json.loads(read_whole(file))
        ratio, exact = known["ratio"], known["exact"]
        if not (is_real(ratio) and ratio > 1.0 and (exact is None or is_real(exact))):
            raise ValueError("a ratio or an exact value that is none")
        return _observed(study, ratio, exact)


def _observed(study: Sweep, ratio: float, exact: float | None) -> Convergence:
    """Return the orders that runs show whose sizes have a ratio."""
    values = {name: np.array([member.numbers[name] for member in study.members]) for name in study.quantities}
    found = {name: observed_orders(column, ratio, exact) for name, column in values.items()}
    orders = {name: each[0] for name, each in found.items()}
    limits = {name: each[1] for name, each in found.items()}
    sizes = ratio ** -np.arange(len(study.members), dtype=float)
    return Convergence(study, sizes, values, orders, limits, exact)


def _coarsest(scenario: Scenario, key: str) -> tuple[Scenario, Any]:
    """Return the scenario with samples that do not change with the step, and the value of the key at the beginning.

    A step is made to divide the time between samples, so that all steps are exact parts of it.
    """
    if key != _STEP or scenario.tables.stage:
        return scenario, value_at(scenario, key)
    run, step = scenario.tables.run, step_of(scenario.build().integrator)
    step = value_at(scenario, key) if step is None else step
    return scenario.with_values({"run.frames": run.frames, "run.samples": run.n_samples, key: step}), step


def value_at(scenario: Scenario, key: str) -> Any:
    """Return the value of a key, with numbers in place of expressions."""
    data = read_toml(scenario.text)
    lines: list[str] = []
    found: Any = data if key.startswith("define.") else evaluated(data, lines)
    *way, last = key.split(".")
    try:
        for depth, name in enumerate(way):
            found = chosen(found, name, ".".join(way[:depth])) if isinstance(found, list) else found[name]
        value = found[last]
    except (KeyError, TypeError, ValueError):
        raise ScenarioError(
            f"{scenario.path.name}: there is no {shown(key)} to change; name a key that is given."
        ) from None
    numbers = value if isinstance(value, list) else [value]
    if numbers and all(is_real(one) for one in numbers):
        return value
    raise ScenarioError(f"{scenario.path.name}: {key} is {shown(value)}, must be a number, or several, to be refined.")


def _is_whole(value: Any) -> bool:
    return all(isinstance(one, int) for one in (value if isinstance(value, list) else [value]))


def _times(value: Any, factor: float, key: str) -> Any:
    """Return a number, or each of several, times a factor; whole ones stay so."""
    if isinstance(value, list):
        return [_times(one, factor, key) for one in value]
    if not isinstance(value, int) or key == _STEP:
        return value * factor
    found = round(value * factor)
    if abs(found - value * factor) > 1e-9 * abs(found) or found == 0:
        raise ScenarioError(f"{key}: {value} times {factor:g} is not an integer; take another factor, such as 2.")
    return found


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
