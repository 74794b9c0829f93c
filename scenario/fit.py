"""The table [fit]: which numbers of a scenario are sought, by which curves that were measured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import numpy as np

from symplex.base.quantities import (
    FilePath,
    Name,
    Text,
    by_name,
    listed,
    number,
    numbers,
    positive,
    refused,
    shown,
    whole,
)
from symplex.errors import ScenarioError
from symplex.fem.energies.energy import Array
from symplex.scenario.messages import suggestion
from symplex.scenario.prescribed import read_numbers
from symplex.scenario.probes import ProbeTable
from symplex.scenario.table import Entry, Table

_MODES = 1000
_MOST = 100  # parameters, of which all are moved at each evaluation


class FittedParameter(Table):
    """A number that is sought."""

    key: Annotated[Text, "As of `--set`: a number of the scenario, such as `body.cube.material.young` or `define.E`."]
    start: Annotated[float | None, number(""), "Where the fit begins; by default the scenario's value."] = None
    range: Annotated[tuple[float, ...] | None, numbers("", 2), "The least and the largest value."] = None
    scale: Annotated[float | None, positive(""), "A considerable change; by default the size of the start."] = None

    def _check(self) -> None:
        if self.range is not None and not self.range[0] < self.range[1]:
            raise ValueError(f"range {refused('two numbers that ascend', list(self.range))}")
        if self.range is not None and self.start is not None and not self.range[0] <= self.start <= self.range[1]:
            raise ValueError(f"start must be within range = {list(self.range)}, got {self.start:g}")


class FitTest(Table):
    """One of several tests, each with values of its own."""

    name: Annotated[Name, "Named by curves."]
    values: Annotated[dict[str, float], by_name(number("")), "Numbers of the scenario by key, as of `--set`."]


class FitCurve(Table):
    """A curve that was measured."""

    data: Annotated[
        FilePath, "A file of comma-separated times (s), values, and where `deviation` is not given standard deviations."
    ]
    of: Annotated[
        Text,
        "What it is of: a column of a `[[probe]]`, as `tip.displacement_z`, or `kinetic`, `total`, the energy of a "
        "part by its name, `momentum_x`, `angular_momentum_x`.",
    ]
    deviation: Annotated[float | None, positive(""), "The standard deviation of all values."] = None
    test: Annotated[Name | None, "The test that it is of; goes with `tests`."] = None


class FitFrequency(Table):
    """A natural frequency that was measured."""

    number: Annotated[int, whole(1, _MODES), "Of the mode, counted from the lowest."]
    value: Annotated[float, positive("Hz"), "What was measured."]
    deviation: Annotated[float, positive("Hz"), "Its standard deviation."]
    test: Annotated[Name | None, "The test that it is of; goes with `tests`."] = None


class FitTable(Entry):
    """Calibration, which `symplex fit` does ([gradients.md](../gradients.md#symplex-fit)); runs ignore it.

    Sought are the parameters for which Σ ((value − measured)/deviation)² is least.
    """

    of_all = True
    parameters: Annotated[list[FittedParameter], 'Such as `{ key = "body.cube.material.young", range = [1e5, 1e7] }`.']
    curves: Annotated[
        list[FitCurve], 'Such as `{ data = "tip.csv", of = "tip.displacement_z", deviation = 1e-4 }`.'
    ] = []
    frequencies: Annotated[
        list[FitFrequency], "Natural frequencies, such as `{ number = 1, value = 81.2, deviation = 0.4 }`."
    ] = []
    at: Annotated[
        Literal["start", "equilibrium"],
        "What they are about: the start, or the static equilibrium that is found from there.",
    ] = "start"
    tests: Annotated[
        list[FitTest], 'Runs with other values, such as `{ name = "fast", values = { "define.v" = 2 } }`.'
    ] = []
    windows: Annotated[
        tuple[float, ...] | None,
        numbers("s"),
        "Ends of growing windows of time: the fit to each begins where that before has ended. By default all is fitted "
        "at once.",
    ] = None

    def _check(self) -> None:
        if not self.parameters:
            raise ValueError("parameters must be a list of tables, got []")
        if not self.curves and not self.frequencies:
            raise ValueError("curves or frequencies are required")
        if self.at != "start" and not self.frequencies:
            raise ValueError("at goes with frequencies")
        if len(self.parameters) > _MOST:
            raise ValueError(f"parameters must be at most {_MOST}, got {len(self.parameters)}")
        for what, names in (("key", [p.key for p in self.parameters]), ("test", [test.name for test in self.tests])):
            if twice := next((name for name in names if names.count(name) > 1), None):
                raise ValueError(f"two have the {what} {shown(twice)}; leave one of them out")
        tests = [test.name for test in self.tests]
        for curve in self.curves:
            if curve.test is None and tests:
                raise ValueError(f"curve {shown(curve.data)}: test is required where there are tests: {listed(tests)}")
            if curve.test is not None and curve.test not in tests:
                raise ValueError(f"curve {shown(curve.data)}: there is no test {shown(curve.test)}")
        for one in self.frequencies:
            if one.test is None and tests:
                raise ValueError(f"frequency {one.number}: test is required where there are tests: {listed(tests)}")
            if one.test is not None and one.test not in tests:
                raise ValueError(f"frequency {one.number}: there is no test {shown(one.test)}")
        known = [one.test for one in (*self.curves, *self.frequencies)]
        if unused := [name for name in tests if name not in known]:
            raise ValueError(f"test {shown(unused[0])} has no curve and no frequency")
        if self.windows is not None and not (np.diff([0.0, *self.windows]) > 0.0).all():
            raise ValueError(f"windows {refused('times that ascend', list(self.windows), 's')}")


def wrong_curves(table: FitTable, probes: Sequence[ProbeTable]) -> list[str]:
    """Return lines about curves of probes that there are not."""
    names = [probe.name for probe in probes]
    lines = []
    for curve in table.curves:
        probe, dot, _ = curve.of.rpartition(".")
        if dot and probe not in names:
            hint = suggestion(probe, names)
            lines.append(f"[fit]: curve {shown(curve.data)}: there is no [[probe]] {shown(probe)}; {hint}")
    return lines


class Measured(NamedTuple):
    """A curve as its file has it: times in s, values and standard deviations [m]."""

    t: Array
    values: Array
    deviations: Array


def read_curve(curve: FitCurve, folder: Path, end: float) -> Measured:
    """Return a curve that was measured, from its file in a folder."""
    path = folder / curve.data
    if curve.deviation is None:
        rows = np.array(read_numbers(path, curve.data, 3, "time (s), value and standard deviation; or give deviation"))
    else:
        rows = np.array(read_numbers(path, curve.data, 2, "time (s) and value"))
        rows = np.column_stack([rows, np.full(len(rows), curve.deviation)])
    t, values, deviations = (np.ascontiguousarray(column) for column in rows.T)
    if not (np.diff(t) > 0.0).all():
        raise ScenarioError(f"{curve.data}: times must ascend.")
    if t[0] < 0.0 or t[-1] > end * (1.0 + 1e-9):
        raise ScenarioError(
            f"{curve.data}: times must be from 0 to the end of the run at {end:g} s, got {t[0]:g} to {t[-1]:g} s. Give "
            "[run] a longer duration, or leave rows out."
        )
    if not (deviations > 0.0).all():
        raise ScenarioError(f"{curve.data}: standard deviations must be positive, got {deviations.min():g}.")
    return Measured(t, values, deviations)
