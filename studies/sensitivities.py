"""Sensitivities: how much numbers of a run change with numbers of its scenario."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from symplex.base.arguments import checked
from symplex.base.columns import Column
from symplex.base.files import damage_reported, read_whole
from symplex.base.quantities import listed, shown
from symplex.base.streams import say
from symplex.base.version import VERSION
from symplex.errors import OutputError, ScenarioError
from symplex.fem.energies.energy import Array
from symplex.meshes.pictures.figures import COLOURS, Panel
from symplex.meshes.pictures.packages import pictures_if_possible
from symplex.runs.folders import SUMMARY, Folder
from symplex.runs.study import Study
from symplex.runs.tables import reported_as_table
from symplex.scenario.scenario import Scenario
from symplex.studies.derivatives import KeyedRun
from symplex.studies.quantities import RunQuantity

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PLOT = "sensitivity.png"
_CHANGE = 0.01  # of a value, by default
_DELTA = 1e-5  # of the change of a curve, to differentiate a quantity of it
_COLUMNS = ("parameter", "value", "change", "quantity", "number", "derivative", "by_change", "elasticity")


@dataclass(frozen=True, repr=False)
class Sensitivity(Study):
    """Derivatives of numbers of a run by numbers of its scenario; see `sensitivity`.

    Attributes
    ----------
    path : Path or None
        Its folder.
    title : str
    values, changes : dict of str to float
        Of the scenario's numbers by key.
    numbers : dict of str to float
        Of the run, by quantity.
    derivatives : dict of str to float64 [k]
        Of each quantity by each of the scenario's numbers.
    units : dict of str to str
        Of the quantities.
    """

    path: Path | None
    title: str
    values: dict[str, float]
    changes: dict[str, float]
    numbers: dict[str, float]
    derivatives: dict[str, Array]
    units: dict[str, str]

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each quantity and parameter, those that change it most first."""
        return [row for name in self.numbers for row in self._of(name)]

    def _of(self, name: str) -> list[dict[str, Any]]:
        rows = []
        for (key, value), by in zip(self.values.items(), self.derivatives[name], strict=True):
            number, change = self.numbers[name], self.changes[key]
            row = {"parameter": key, "value": value, "change": change, "quantity": name, "number": number}
            row |= {"derivative": float(by), "by_change": float(by * change)}
            rows.append(row | {"elasticity": float(by * value / number) if number else None})
        return sorted(rows, key=lambda row: -abs(row["by_change"]))

    def panels(self) -> list[list[Panel]]:
        """Return a tornado plot of each quantity: what each change does to it, up and down."""
        return [[self._tornado(name)] for name in self.numbers]

    def _tornado(self, name: str) -> Panel:
        rows = self._of(name)[::-1]

        def bars(axes: Axes) -> None:
            heads = [f"{row['parameter']} ± {row['change']:.3g}" for row in rows]
            for sign, colour, label in ((1.0, COLOURS[0], "increased"), (-1.0, COLOURS[1], "decreased")):
                axes.barh(heads, [sign * row["by_change"] for row in rows], color=colour, label=label)
            axes.axvline(0.0, color="black", lw=0.8)
            axes.legend(fontsize=8)
            axes.tick_params(labelsize=8)

        unit = self.units.get(name, "")
        what = f"change of {name} = {self.numbers[name]:.6g}{unit and ' '}{unit}"
        return Panel(name, x=what, draw=bars, height=0.4 + 0.15 * len(rows))

    def _listed(self) -> dict[str, str]:
        return {name: name.replace("_", " ") for name in _COLUMNS}

    def _picture(self) -> tuple[Path, str]:
        return (self.path or Path()) / PLOT, self.title

    def _reported(self) -> list[tuple[str, str]]:
        return [("folder", str(self.path)), ("by", listed(self.values)), ("of", listed(self.numbers))]


@checked
def sensitivity(
    scenario: Scenario | str | Path,
    by: Mapping[str, float | None] | Sequence[str],
    quantities: Sequence[str],
    *,
    output: str | Path | None = None,
    overwrite: bool = False,
    pictures: bool = True,
    progress: bool = True,
) -> Sensitivity:
    """Return how much numbers of a run change with numbers of its scenario, by one run with its tangents.

    Parameters
    ----------
    scenario : Scenario or path-like
    by : mapping of str to float, or sequence of str
        Keys of the scenario's numbers, as of `Scenario.with_values`, each with the change that plots show; without one,
        or None, a hundredth of the value.
    quantities : sequence of str
        Numbers of the run, as of `sweep`: ``final(tip.displacement_z)``, ``max(kinetic)``. Derivatives of extremes are
        those at the sample where they are.
    output : path-like, optional
        Folder of the results; default: ``NAME-sensitivity`` here.
    overwrite : bool, default False
        Replace sensitivities that are in the folder. Other files are never replaced.
    pictures : bool, default True
        Whether to draw a tornado plot.
    progress : bool, default True
        Whether to say why a plot is not drawn.

    Returns
    -------
    Sensitivity

    Raises
    ------
    ScenarioError
        If a key has no number, a quantity is none of a curve, or the scenario is not valid.
    InvalidSystem
        If a part of the scenario has no derivatives, with its name.
    OutputError
        If the folder holds something else, or cannot be written.
    """
    if not isinstance(scenario, Scenario):
        scenario = Scenario.read(scenario)
    changes = dict(by) if isinstance(by, Mapping) else dict.fromkeys(by)
    if not changes or not quantities:
        raise ScenarioError("sensitivities need one key, and one quantity, at least.")
    requested = [RunQuantity.of(text) for text in quantities]
    for one in requested:
        if one.reduction in ("", "time_of_max") and not one.condition:
            raise ScenarioError(
                f"{shown(one.name)} has no derivative; take one of a column, such as final(COLUMN), max(COLUMN) or "
                "mean(PROBE.COLUMN), or the time of a condition, events.NAME."
            )
        if one.condition and one.condition not in (known := [when.name for when in scenario.tables.when]):
            there = f"there are {listed(known)}" if known else "there is none"
            raise ScenarioError(f"{scenario.path.name}: no [[when]] has the name {shown(one.condition)}; {there}.")
    folder = Folder(output if output is not None else f"{scenario.name}-sensitivity", "sensitivity")
    folder.refuse_taken(overwrite)
    columns = list(dict.fromkeys(one.source for one in requested if not one.condition))
    run = KeyedRun(scenario, list(changes), columns)
    sizes = {}
    for (key, change), value in zip(changes.items(), run.values, strict=True):
        sizes[key] = _CHANGE * abs(float(value)) if change is None else abs(float(change))
        if not sizes[key] > 0.0:
            raise ScenarioError(f"{scenario.path.name}: {key} is {value:g}; give a change that is not 0.")
    scales = np.array([max(abs(value), size) for value, size in zip(run.values, sizes.values(), strict=True)])
    found = run.tangent(run.values, scales, float(run.times[-1]))
    numbers, derivatives, units = {}, {}, {}
    for one in requested:
        if name := one.condition:
            if name not in found.events:
                raise ScenarioError(
                    f"{scenario.path.name}: {one.name} has no derivative: it does not hold in this run, holds at its "
                    "start, or changes nothing. Take one that stops the run, or that a from, until or stage names."
                )
            numbers[one.name], derivatives[one.name] = found.events[name], found.event_derivatives[name]
            units[one.name] = "s"
            continue
        k = columns.index(one.source)
        values, slopes, moving = found.values[:, k], found.jacobian[:, k] * scales, found.dt * scales
        numbers[one.name], units[one.name] = one.reduced(found.t, values), run.units[one.source]
        changed = zip(moving.T, slopes.T, strict=True)
        derivatives[one.name] = np.array([_slope(one, found.t, values, *change) for change in changed]) / scales
    title = scenario.title
    reported = dict(zip(changes, map(float, run.values), strict=True))
    study = Sensitivity(folder.path, title, reported, sizes, numbers, derivatives, units)
    folder = Folder.begun(folder.path, "sensitivity", scenario.text, overwrite)
    rows = [{name: "" if x is None else x for name, x in row.items()} for row in study.rows()]
    folder.write_table("sensitivity", [Column(name) for name in _COLUMNS], rows)
    summary = {"title": title, "rows": study.rows(), "units": units}
    folder.write_summary({"study": "sensitivity", "symplex": VERSION, **summary})
    if pictures:
        with pictures_if_possible(say if progress else lambda line: None):
            study.plot(folder.file(PLOT, "picture"))
    return study


def _slope(quantity: RunQuantity, t: Array, values: Array, dt: Array, slope: Array) -> float:
    """Return the derivative of a quantity of a curve along a change of it, and of its times."""
    size, change, moved = (float(np.abs(x).max()) for x in (values, slope, dt))
    if not change and not moved:
        return 0.0
    e = _DELTA * min((size or 1.0) / change if change else np.inf, (t[-1] - t[0]) / len(t) / moved if moved else np.inf)
    ends = [quantity.reduced(t + sign * e * dt, values + sign * e * slope) for sign in (1.0, -1.0)]
    return (ends[0] - ends[1]) / (2.0 * e)


def read_sensitivity(path: Path) -> Sensitivity:
    """Return the sensitivities that are in a folder."""
    with damage_reported(path / SUMMARY, "study", "compute it again, in another folder"):
        summary = json.loads(read_whole(path / SUMMARY))
        rows = summary["rows"]
        values = {row["parameter"]: float(row["value"]) for row in rows}
        by = {(row["quantity"], row["parameter"]): float(row["derivative"]) for row in rows}
        numbers = {row["quantity"]: float(row["number"]) for row in rows}
        return Sensitivity(
            path,
            summary["title"],
            values,
            {row["parameter"]: float(row["change"]) for row in rows},
            numbers,
            {name: np.array([by[name, key] for key in values]) for name in numbers},
            summary.get("units", {}),  # which the first versions did not keep
        )


def sensitivity_report(path: Path, summary: Mapping[str, Any]) -> str:
    """Return what is in the folder of sensitivities, as text."""
    heads = {name: name.replace("_", " ") for name in _COLUMNS}
    rows = [{heads[name]: row.get(name) for name in _COLUMNS} for row in summary["rows"]]
    if not rows:
        raise OutputError(f"{path}: there is no row.")
    return f"Sensitivities of {summary['title']}\n{reported_as_table(list(rows[0]), rows)}"
