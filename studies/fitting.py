"""Calibration: numbers of a scenario by least squares, for curves and natural frequencies that were measured."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from symplex.base.arguments import checked
from symplex.base.columns import Column
from symplex.base.files import damage_reported, is_file, read_whole, reason_of
from symplex.base.streams import say
from symplex.base.version import VERSION
from symplex.errors import OutputError, ScenarioError
from symplex.fem.energies.energy import Array
from symplex.gradients.equilibria import FrequencyTangent
from symplex.meshes.pictures.figures import COLOURS, Curve, Panel
from symplex.meshes.pictures.packages import pictures_if_possible
from symplex.runs.folders import SUMMARY, Folder
from symplex.runs.inputs import named_inputs, refuse_changed_files
from symplex.runs.study import Study
from symplex.runs.tables import table
from symplex.scenario.fit import FitCurve, FitTable, Measured, read_curve
from symplex.scenario.scenario import Scenario
from symplex.studies.derivatives import KeyedRun

PLOT = "fit.png"
_FREQUENCIES, _MODE = "natural frequencies", "mode"
_EVALUATIONS = "evaluations.jsonl"
_COLUMNS = ("parameter", "value", "deviation", "start", "at_bound")
_TOLERANCE = 1e-8  # of scaled parameters, and of the sum of squares
_STEPS = (1e-4, 1e-5, 1e-6)  # of the differences that derivatives are compared with, in scales


class FittedCurve(NamedTuple):
    """A curve of a fit.

    Attributes
    ----------
    name : str
        Of what it is, with its test.
    unit : str
    measured : Measured
    fitted : float64 [m]
    """

    name: str
    unit: str
    measured: Measured
    fitted: Array

    @property
    def axis(self) -> str:
        """What its abscissa is."""
        return _MODE if self.name.startswith(_FREQUENCIES) else "time (s)"

    @property
    def residuals(self) -> Array:
        """(value − measured)/deviation [m]."""
        return (self.fitted - self.measured.values) / self.measured.deviations


@dataclass(frozen=True, repr=False)
class FitFound(Study):
    """A fit; see `fit`.

    Attributes
    ----------
    path : Path or None
        Its folder.
    title : str
    keys : list of str
        Of the parameters.
    values, start : float64 [k]
        What was found, and where the fit began.
    deviations : float64 [k]
        Standard deviations of the values, from (JᵀJ)⁻¹; infinite where the curves say nothing.
    correlations : float64 [k, k]
    at_bound : list of bool
        Whether a value is an end of its range, so that its deviation means little.
    chi_squared : float
        Σ residuals².
    curves : list of FittedCurve
    evaluations : int
        Of the curves with their derivatives.
    gradient_error : float or None
        How far derivatives in a random direction are from differences of runs, relative to the largest.
    scenario : str
        The text with the values found.
    """

    path: Path | None
    title: str
    keys: list[str]
    values: Array
    start: Array
    deviations: Array
    correlations: Array
    at_bound: list[bool]
    chi_squared: float
    curves: list[FittedCurve]
    evaluations: int
    gradient_error: float | None
    scenario: str

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each parameter."""
        columns = zip(self.keys, self.values, self.deviations, self.start, self.at_bound, strict=True)
        return [
            {"parameter": key, "value": float(value), "deviation": _finite(deviation), "start": float(start)}
            | {"at_bound": "yes" if bound else ""}
            for key, value, deviation, start, bound in columns
        ]

    def panels(self) -> list[list[Panel]]:
        """Return each curve with what was measured, and its residuals."""
        found = []
        for k, curve in enumerate(self.curves):
            t, colour = curve.measured.t, COLOURS[k % len(COLOURS)]
            style = "" if curve.axis == _MODE else "-"
            shown = [
                Curve(t, curve.measured.values, "measured", "#888888", "", mark="o" if curve.axis == _MODE else "."),
                Curve(t, curve.fitted, "fitted", colour, style, mark="x" if curve.axis == _MODE else ""),
            ]
            left = Panel(curve.name, curve.unit, curve.axis, shown)
            residuals = [Curve(t, curve.residuals, colour=colour, style="", mark=".")]
            found.append([left, Panel(f"{curve.name}: residuals / deviation", "", curve.axis, residuals)])
        return found

    @property
    def numbers(self) -> int:
        """How many measured numbers there are."""
        return sum(len(curve.measured.t) for curve in self.curves)

    def _listed(self) -> dict[str, str]:
        return {name: name.replace("_", " ") for name in _COLUMNS}

    def _notes(self) -> list[str]:
        notes = [f"Σ (residual/deviation)² is {self.chi_squared:.6g} of {self.numbers} numbers"]
        pairs = [(abs(self.correlations[i, j]), i, j) for i in range(len(self.keys)) for j in range(i)]
        for size, i, j in sorted(pairs, reverse=True)[:3]:
            if size > 0.9:
                notes.append(f"{self.keys[i]} and {self.keys[j]} are correlated by {self.correlations[i, j]:.3f}")
        notes += [
            f"the curves do not determine {key}"
            for key, one in zip(self.keys, self.deviations, strict=True)
            if not math.isfinite(one)
        ]
        if self.gradient_error is not None:
            error = f"{self.gradient_error:.1e}"
            notes.append(f"derivatives differ from differences of runs by {error} in a random direction")
        return notes

    def _picture(self) -> tuple[Path, str]:
        return (self.path or Path()) / PLOT, self.title

    def _reported(self) -> list[tuple[str, str]]:
        return [
            *([("folder", str(self.path))] if self.path else []),
            *(
                (key, f"{value:.6g} ± {deviation:.2g}")
                for key, value, deviation in zip(self.keys, self.values, self.deviations, strict=True)
            ),
        ]


@checked
def fit(
    scenario: Scenario | str | Path,
    *,
    output: str | Path | None = None,
    resume: bool = False,
    overwrite: bool = False,
    check: bool = True,
    pictures: bool = True,
    progress: bool = True,
) -> FitFound:
    """Fit numbers of a scenario to curves and natural frequencies that were measured, by its table [fit].

    Minimised is Σ ((value − measured)/deviation)² by `scipy.optimize.least_squares` (Levenberg–Marquardt steps in a
    trust region, within ranges), with the derivatives of the runs (`symplex.tangent`). Values between the samples of a
    run are interpolated linearly.

    Parameters
    ----------
    scenario : Scenario or path-like
    output : path-like, optional
        Folder of the results; default: ``NAME-fit`` here.
    resume : bool, default False
        Go on with the fit that is in the folder: what was evaluated is not evaluated again.
    overwrite : bool, default False
        Replace a fit that is in the folder. Other files are never replaced.
    check : bool, default True
        Whether to compare derivatives with differences of runs, in a random direction.
    pictures : bool, default True
        Whether to draw curves and residuals.
    progress : bool, default True
        Whether to print a line for each evaluation.

    Returns
    -------
    FitFound

    Raises
    ------
    ScenarioError
        If there is no [fit], a key has no number, a file cannot be read, or the scenario is not valid.
    InvalidSystem
        If a part of the scenario has no derivatives, with its name.
    OutputError
        If the folder holds something else, or cannot be written.
    """
    problem = residuals_of(scenario)
    scenario = problem.scenario
    if resume and overwrite:
        raise OutputError("resume and overwrite are mutually exclusive: a fit is continued or replaced.")
    folder = Folder(output if output is not None else f"{scenario.name}-fit", "fit")
    if not resume:
        folder.refuse_taken(overwrite, resumable=True)
    with folder.held():
        known = _begin(folder, scenario, resume)
        problem.keep(folder.file(_EVALUATIONS, "evaluations"), known, say if progress else lambda line: None)
        found = problem.found(folder.path, check)
        _save(folder, found)
        if pictures:
            with pictures_if_possible(say if progress else lambda line: None):
                found.plot(folder.file(PLOT, "picture"))
    return found


def residuals_of(scenario: Scenario | str | Path) -> FitResiduals:
    """Return the residuals of a scenario's table [fit]."""
    if not isinstance(scenario, Scenario):
        scenario = Scenario.read(scenario)
    if scenario.tables.fit is None:
        raise ScenarioError(
            f"{scenario.path.name}: there is no [fit] table, which says what is sought, and by which curves."
        )
    return FitResiduals(scenario, scenario.tables.fit)


def _begin(folder: Folder, scenario: Scenario, resume: bool) -> list[dict[str, Any]]:
    """Begin a folder, or go on with it; return the evaluations that are there."""
    text, inputs = scenario.text, {"inputs": named_inputs([scenario])}
    if not resume:
        folder.begin()
        folder.write("scenario.toml", text, "scenario")
        folder.write_json("inputs.json", inputs, "hashes of files")
        return []
    path = folder.path / "scenario.toml"
    if not folder.is_ours or not is_file(path):
        raise OutputError(f"{folder.path} holds no fit to resume; begin one without --resume.")
    with damage_reported(path, "scenario", "begin the fit again with --overwrite"):
        if read_whole(path).decode("utf-8") != text:
            raise OutputError(
                f"{folder.path} cannot be resumed: the scenario has changed since. Restore it, replace the fit with "
                "--overwrite, or begin a new one with another --output."
            )
        before = json.loads(read_whole(folder.path / "inputs.json"))["inputs"]
        refuse_changed_files(before, inputs["inputs"], folder.path)
    return list(_evaluations(folder.path / _EVALUATIONS))


def _evaluations(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the evaluations in a file, without a last line that was cut short."""
    if is_file(path):
        for line in read_whole(path).decode("utf-8").split("\n")[:-1]:
            with suppress(ValueError):
                yield json.loads(line)


class _Test(NamedTuple):
    """A test: its run, its curves, and the numbers of its natural frequencies [m] with what was measured."""

    name: str
    run: KeyedRun
    curves: list[tuple[FitCurve, Measured]]
    frequencies: Measured


class _Evaluated(NamedTuple):
    """Residuals [m], and their derivatives by scaled parameters [m, k]."""

    residuals: Array
    jacobian: Array


class FitResiduals:
    """The residuals (value − measured)/deviation [m] of a table [fit], functions of its parameters [k]."""

    def __init__(self, scenario: Scenario, given: FitTable):
        self.scenario, self._table = scenario, given
        self.keys = [parameter.key for parameter in given.parameters]
        end, folder, name = float(scenario.times[-1]), scenario.path.parent, scenario.path.name
        self._tests: list[_Test] = []
        for test in given.tests or [None]:
            curves = [curve for curve in given.curves if test is None or curve.test == test.name]
            one = scenario if test is None else scenario.with_values(test.values)
            try:
                measured = [(curve, read_curve(curve, folder, end)) for curve in curves]
            except ScenarioError as error:
                raise ScenarioError(f"{name}: [fit]: {error}") from None
            columns = list(dict.fromkeys(curve.of for curve in curves))
            some = [(f.number, f.value, f.deviation) for f in given.frequencies if test is None or f.test == test.name]
            rings = Measured(*np.array(sorted(some), float).reshape(-1, 3).T)
            own = "" if test is None else test.name
            self._tests.append(_Test(own, KeyedRun(one, self.keys, columns), measured, rings))
            if clash := next((key for key in self.keys if test is not None and key in test.values), None):
                raise ScenarioError(f"{name}: [fit]: {clash} is sought, and a test sets it; leave it out of the test.")
        values = self._tests[0].run.values
        self.start = np.array(
            [v if p.start is None else p.start for p, v in zip(given.parameters, values, strict=True)]
        )
        self._scales = np.array(
            [abs(s) if p.scale is None else p.scale for p, s in zip(given.parameters, self.start, strict=True)]
        )
        for parameter, start, scale in zip(given.parameters, self.start, self._scales, strict=True):
            if not scale > 0.0:
                raise ScenarioError(f"{name}: [fit]: {parameter.key} starts at 0; give its scale.")
            if parameter.range and not parameter.range[0] <= start <= parameter.range[1]:
                raise ScenarioError(
                    f"{name}: [fit]: {parameter.key} must start within range = {list(parameter.range)}, got {start:g}."
                )
        self.ranges = np.array([p.range or (-math.inf, math.inf) for p in given.parameters])  # [k, 2]
        windows = [t for t in given.windows or () if t < end]
        self._windows = [*windows, end]
        for window in self._windows:
            rows = any((measured.t <= window).any() for test in self._tests for _, measured in test.curves)
            if not rows and not given.frequencies:
                raise ScenarioError(f"{name}: [fit]: no curve has a row up to the window {window:g} s.")
        self._known: dict[str, _Evaluated] = {}
        self._kept: Path | None = None
        self._say: Callable[[str], object] = lambda line: None
        self._count = 0

    def __call__(self, p: Array) -> Array:
        """Return the residuals [m] of all that is measured at parameters p [k]."""
        return self._evaluated(p / self._scales, self._windows[-1]).residuals

    def jacobian(self, p: Array) -> Array:
        """Return their derivatives [m, k]."""
        return self._evaluated(p / self._scales, self._windows[-1]).jacobian / self._scales

    def keep(self, path: Path, known: Sequence[Mapping[str, Any]], say: Callable[[str], object]) -> None:
        """Keep evaluations in a file, whose earlier ones are known, and report each."""
        self._kept, self._say = path, say
        with damage_reported(path, "file of evaluations", "begin the fit again with --overwrite"):
            for one in known:
                found = _Evaluated(np.array(one["residuals"], float), np.array(one["jacobian"], float))
                self._known[_key(one["window"], np.array(one["p"]))] = found
            lines = [json.dumps(one) + "\n" for one in known]  # without a line that was cut short
        try:
            path.write_text("".join(lines), "utf-8")
        except OSError as error:
            raise OutputError(f"{path} cannot be written: {reason_of(error)}.") from None

    def _evaluated(self, s: Array, window: float) -> _Evaluated:
        """Return residuals and derivatives at scaled parameters s [k], of what is measured up to a time in s."""
        p = s * self._scales
        key = _key(window, p)
        if key not in self._known:
            parts = [self._of_test(test, p, window) for test in self._tests]
            found = _Evaluated(np.concatenate([one[0] for one in parts]), np.vstack([one[1] for one in parts]))
            self._known[key] = found
            numbers = {"residuals": found.residuals.tolist(), "jacobian": found.jacobian.tolist()}
            self._append({"window": window, "p": p.tolist(), **numbers})
        found = self._known[key]
        self._count += 1
        numbers = ", ".join(f"{name} = {value:.6g}" for name, value in zip(self.keys, p, strict=True))
        mean = float(np.mean(found.residuals**2))
        self._say(f"{self._count}: to t = {window:g} s, mean (residual/deviation)² = {mean:.6g} at {numbers}")
        return found

    def _append(self, one: Mapping[str, Any]) -> None:
        if self._kept is None:
            return
        try:
            with self._kept.open("a", encoding="utf-8") as file:
                file.write(json.dumps(one) + "\n")
        except OSError as error:
            raise OutputError(f"{self._kept} cannot be written: {reason_of(error)}.") from None

    def _of_test(self, test: _Test, p: Array, window: float) -> tuple[Array, Array]:
        measured = [(curve, some) for curve, one in test.curves if len((some := _until(one, window)).t)]
        residuals, slopes = [np.zeros(0)], [np.zeros((0, len(p)))]
        if len(test.frequencies.t):
            rings, chosen = self._frequencies(test, p), test.frequencies.t.astype(int) - 1
            residuals.append((rings.frequencies[chosen] - test.frequencies.values) / test.frequencies.deviations)
            slopes.append(rings.derivatives[chosen] * self._scales / test.frequencies.deviations[:, None])
        if not measured:
            return np.concatenate(residuals), np.vstack(slopes)
        found = test.run.tangent(p, self._scales, max(float(some.t[-1]) for _, some in measured))
        for curve, some in measured:
            k = test.run.columns.index(curve.of)
            value = np.interp(some.t, found.t, found.values[:, k])
            by = np.column_stack([np.interp(some.t, found.t, found.jacobian[:, k, j]) for j in range(len(p))])
            if found.stopped and len(found.t) > 1:  # the last time moves, and with it the line to there
                part = (some.t - found.t[-2]) / (found.t[-1] - found.t[-2])
                rate = (found.values[-1, k] - found.values[-2, k]) / (found.t[-1] - found.t[-2])
                by -= np.outer(np.where((part > 0.0) & (part < 1.0), part * rate, 0.0), found.dt[-1])
            residuals.append((value - some.values) / some.deviations)
            slopes.append(by * self._scales / some.deviations[:, None])
        return np.concatenate(residuals), np.vstack(slopes)

    def _frequencies(self, test: _Test, p: Array) -> FrequencyTangent:
        return test.run.frequencies(p, self._scales, int(test.frequencies.t[-1]), self._table.at)

    def found(self, path: Path | None, check: bool) -> FitFound:
        """Fit one window after the other, and return what was found."""
        from scipy.optimize import least_squares

        s, window = self.start / self._scales, self._windows[-1]
        low, high = self.ranges.T / self._scales
        for window in self._windows:

            def jac(s: Array, window: float = window) -> Array:
                return self._known[_key(window, s * self._scales)].jacobian

            s = least_squares(
                lambda s, window=window: self._evaluated(s, window).residuals,
                s,
                jac,  # pyright: ignore[reportArgumentType]
                bounds=(low, high),
                xtol=_TOLERANCE,
                ftol=_TOLERANCE,
            ).x
        at_end = self._evaluated(s, window)
        deviations, correlations = _uncertainty(at_end.jacobian)
        p, near = s * self._scales, 1e-6 * (1.0 + np.abs(s))
        return FitFound(
            path,
            self.scenario.title,
            self.keys,
            p,
            self.start,
            deviations * self._scales,
            correlations,
            [bool(one) for one in (s - low < near) | (high - s < near)],
            float(np.sum(at_end.residuals**2)),
            self._curves(at_end.residuals),
            len(self._known),
            self._gradient_error(s) if check else None,
            self.scenario.with_values(dict(zip(self.keys, map(float, p), strict=True))).text,
        )

    def _curves(self, residuals: Array) -> list[FittedCurve]:
        found, first = [], 0
        for test in self._tests:
            rings = [(_FREQUENCIES, "Hz", test.frequencies)] if len(test.frequencies.t) else []
            curves = [(curve.of, test.run.units[curve.of], measured) for curve, measured in test.curves]
            for of, unit, measured in (*rings, *curves):
                some = residuals[first : first + len(measured.t)]
                first += len(some)
                name = f"{of}, {test.name}" if test.name else of
                found.append(FittedCurve(name, unit, measured, measured.values + some * measured.deviations))
        return found

    def _gradient_error(self, s: Array) -> float:
        """Return how far derivatives in a random direction are from differences of runs, for the best step of these."""
        direction = np.random.default_rng(0).standard_normal(len(s))
        direction /= np.linalg.norm(direction)
        p, move = s * self._scales, direction * self._scales
        worst = 0.0
        for test in self._tests:
            compared: list[tuple[Array, Callable[[Array], Array]]] = []
            if len(test.frequencies.t):
                n, at = int(test.frequencies.t[-1]), self._table.at
                slopes = self._frequencies(test, p).derivatives @ move
                compared.append((slopes, lambda p, test=test, n=n, at=at: test.run.frequencies_only(p, n, at)))
            if test.curves:
                end = max(float(measured.t[-1]) for _, measured in test.curves)
                slopes = test.run.tangent(p, self._scales, end).jacobian @ move
                compared.append((slopes, lambda moved, test=test, end=end: test.run.run(moved, end, p)))
            for slopes, function in compared:
                size, errors = np.abs(slopes).max(axis=0), []
                for step in _STEPS:
                    ends = [function(p + sign * step * move) for sign in (1.0, -1.0)]
                    if len({len(slopes), *map(len, ends)}) > 1:  # stopped between other samples
                        continue
                    difference = np.abs((ends[0] - ends[1]) / (2.0 * step) - slopes).max(axis=0)
                    errors.append(float(np.max(difference / np.where(size > 0.0, size, 1.0))))
                worst = max(worst, min(errors, default=math.inf))
        return worst


def _until(measured: Measured, window: float) -> Measured:
    some = measured.t <= window * (1.0 + 1e-12)
    return Measured(*(column[some] for column in measured))


def _key(window: float, p: Array) -> str:
    """Return what an evaluation is known by."""
    return " ".join(map(repr, [float(window), *map(float, p)]))


def _uncertainty(jacobian: Array) -> tuple[Array, Array]:
    """Return standard deviations [k] and correlations [k, k], from (JᵀJ)⁻¹; infinite along what J does not see."""
    _, sizes, directions = np.linalg.svd(jacobian, full_matrices=False)
    k = jacobian.shape[1]
    seen = sizes > 1e-12 * max(float(sizes.max(initial=0.0)), 1e-300)
    if len(sizes) < k:
        seen = np.concatenate([seen, np.zeros(k - len(sizes), bool)])
        sizes = np.concatenate([sizes, np.zeros(k - len(sizes))])
        directions = np.linalg.qr(directions.T, mode="complete")[0].T
    inverse = np.divide(1.0, sizes, out=np.zeros(k), where=seen)
    covariance = (directions.T * inverse**2) @ directions
    deviations = np.sqrt(np.diag(covariance))
    scale = np.where(deviations > 0.0, deviations, 1.0)
    correlations = covariance / np.outer(scale, scale)
    np.fill_diagonal(correlations, 1.0)
    blind = (np.abs(directions[~seen]) > 1e-6).any(axis=0) if (~seen).any() else np.zeros(k, bool)
    return np.where(blind, np.inf, deviations), correlations


def _save(folder: Folder, found: FitFound) -> None:
    """Write the files of a fit."""
    columns = [Column(name) for name in _COLUMNS]
    folder.write_table("fit", columns, ({k: "" if v is None else v for k, v in row.items()} for row in found.rows()))
    rows = [
        {"curve": curve.name, "t": t, "measured": m, "deviation": d, "fitted": f}
        for curve in found.curves
        for t, m, d, f in zip(*map(np.ndarray.tolist, (*curve.measured, curve.fitted)), strict=True)
    ]
    folder.write_table("curves", [Column(name) for name in ("curve", "t", "measured", "deviation", "fitted")], rows)
    folder.write("fitted.toml", found.scenario, "scenario with the values found")
    folder.write_summary(
        {
            "study": "fit",
            "symplex": VERSION,
            "title": found.title,
            "parameters": found.rows(),
            "correlations": found.correlations.tolist(),
            "chi_squared": found.chi_squared,
            "numbers": found.numbers,
            "evaluations": found.evaluations,
            "gradient_error": found.gradient_error,
            "units": {curve.name: curve.unit for curve in found.curves},
            "notes": found._notes(),
        }
    )


def read_fit(path: Path) -> FitFound:
    """Return the fit that is in a folder."""
    if not is_file(path / SUMMARY):
        raise OutputError(f"{path} holds no fit that has come to its end; go on with it by symplex fit --resume.")
    with damage_reported(path / SUMMARY, "fit", "begin it again with --overwrite"):
        summary = json.loads(read_whole(path / SUMMARY))
        units = summary.get("units", {})  # which the first versions did not keep
        rows: dict[str, list[list[float]]] = {}
        for row in csv.DictReader(io.StringIO(read_whole(path / "curves.csv").decode("utf-8"))):
            numbers = [float(row[name]) for name in ("t", "measured", "deviation", "fitted")]
            rows.setdefault(row["curve"], []).append(numbers)
        columns = {name: np.array(some).T for name, some in rows.items()}
        return FitFound(
            path,
            summary["title"],
            [one["parameter"] for one in summary["parameters"]],
            np.array([one["value"] for one in summary["parameters"]], float),
            np.array([one["start"] for one in summary["parameters"]], float),
            np.array([math.inf if one["deviation"] is None else one["deviation"] for one in summary["parameters"]]),
            np.array(summary["correlations"], float),
            [bool(one["at_bound"]) for one in summary["parameters"]],
            float(summary["chi_squared"]),
            [FittedCurve(name, units.get(name, ""), Measured(*some[:3]), some[3]) for name, some in columns.items()],
            summary["evaluations"],
            summary["gradient_error"],
            read_whole(path / "fitted.toml").decode("utf-8"),
        )


def fit_report(path: Path, summary: Mapping[str, Any]) -> str:
    """Return what is in the folder of a fit, as text."""
    rows = [
        (one["parameter"], f"{one['value']:.6g}" + ("" if one["deviation"] is None else f" ± {one['deviation']:.2g}"))
        for one in summary["parameters"]
    ]
    return f"Fit of {summary['title']}\n{table(rows)}\n" + "\n".join(summary["notes"])


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
