"""What a scenario gives as functions of time: the factors of loads, and the motions of supports."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.quantities import MOST, ZERO
from symplex.errors import ScenarioError
from symplex.fem.actions.accelerograms import corrected_baseline
from symplex.fem.actions.histories import checked_table
from symplex.fem.actions.support_motion import SupportMotion, SupportRotation, SupportTranslation
from symplex.fem.actions.time_function import TimeFunction
from symplex.fem.energies.energy import Array
from symplex.scenario.definitions import formula_at

if TYPE_CHECKING:
    from symplex.scenario.actions import History, Support

_ROUNDING = 1e-12  # of the time of a run


def factor(
    history: History, folder: Path, begin: float = 0.0, size: float = 1.0
) -> Callable[[float], float] | tuple[Array, Array]:
    """Return the factor of a load as a function of time, or as a table; files are looked for in a folder.

    The history counts from a time in s, and multiplies a size.
    """
    if history.kind != "table":
        return (_course(history) if size == 1.0 else _course(history).scaled(size)).shifted(begin).value
    times, factors = _record(history, folder)
    return times + begin, size * factors


def support_motion(table: Support, nodes: ArrayLike, points: Array, folder: Path) -> SupportMotion:
    """Return the motion of a support.

    Parameters
    ----------
    table : Support
        One that moves.
    nodes : int [m]
    points : float64 [n, 3]
        The positions in m of all nodes at the start.
    folder : Path
        Where files are looked for.
    """
    course = course_of(table, folder)
    if table.rotation is not None:
        turn = table.rotation
        angle = course.scaled(math.radians(turn.degrees))
        return SupportRotation(nodes, points, angle, center=turn.point, axis=turn.axis)
    if table.field is not None:
        directions = _field(table, points[np.asarray(nodes)])
        return SupportTranslation(nodes, directions, course, components=table.components)
    return SupportTranslation(nodes, cast(tuple, table.shift), course, components=table.components)


def course_of(table: Support, folder: Path) -> TimeFunction:
    """Return the factor of the motion of a support over time; files are looked for in a folder."""
    if table.velocity is not None:
        return TimeFunction.steady(1.0).shifted(table.begin)
    if table.history is None:  # of a support of the start alone, which stands where it is given
        return TimeFunction(_one, _zero, _zero)
    return _motion(table, table.history, folder).shifted(table.begin)


def oblique_motion(table: Support, node: int, folder: Path) -> SupportMotion:
    """Return the motion along x, by its factor in m, of the node that drives a support in directions of its own."""
    return SupportTranslation([node], "x", course_of(table, folder))


def displacements_at(table: Support, x: Array) -> Array:
    """Return the displacements [m, 3] in m at places [m, 3] in m of a support where its factor is 1."""
    if table.field is None:
        return np.tile(np.array(table.shift or ZERO, dtype=float), (len(x), 1))
    places = dict(zip("xyz", x.T.tolist(), strict=True))
    return np.column_stack([formula_at(one, places) for one in table.field])


def _field(table: Support, x: Array) -> Array:
    """Return the displacements [m, 3] in m that formulas give at places [m, 3]."""
    found = displacements_at(table, x)
    free = [axis for k, axis in enumerate("xyz") if axis not in table.components and found[:, k].any()]
    if free:
        raise ScenarioError(f"field is not zero in {free[0]}, which is not among the components.")
    if not found.any():
        raise ScenarioError("field is zero at all nodes; leave it out for a support at rest.")
    return found


def _one(t: float) -> float:
    return 1.0


def _zero(t: float) -> float:
    return 0.0


def require_covered(
    motion: SupportMotion | TimeFunction, end: float, begin: float = 0.0, whole_run: bool = True
) -> None:
    """Check that a motion is known while it acts, from one time in s to another."""
    first, last = motion.span
    if first > begin or last < end * (1.0 - _ROUNDING):
        acts = (
            f"the run from 0 to {end:g} s; let it cover the run."
            if whole_run
            else f"the support acts for {end - begin:g} s; let it cover that."
        )
        raise ScenarioError(f"history: its table goes from {first - begin:g} to {last - begin:g} s, but {acts}")


def _motion(table: Support, history: History, folder: Path) -> TimeFunction:
    """Return the factor of a displacement, of a rotation, or of an acceleration integrated twice."""
    if history.kind == "table" and table.acceleration is not None:
        times, accelerations = _record(history, folder)
        return TimeFunction.of_accelerations(times, corrected_baseline(times, accelerations, table.baseline))
    return motion_over_time(history, folder, table.interpolation == "spline")


def motion_over_time(history: History, folder: Path, spline: bool) -> TimeFunction:
    """Return the factor of a motion, of a table by a spline or by lines; files are looked for in a folder."""
    if history.kind != "table":
        return _course(history)
    return TimeFunction.table(*_record(history, folder), smooth=spline)


def _course(history: History) -> TimeFunction:
    """Return a factor given by a formula, with its derivatives: functions that can be sent to other processes."""
    if history.kind == "sine":
        w = 2.0 * math.pi * cast(float, history.frequency)
        return TimeFunction(partial(_sine, w), partial(_sine_rate, w), partial(_sine_second, w))
    T = cast(float, history.duration)
    if history.kind == "ramp":
        return TimeFunction(partial(_ramp, T), partial(_ramp_rate, T), _zero, smooth=False)
    if history.kind == "smooth-ramp":
        return TimeFunction(partial(_smooth_ramp, T), partial(_smooth_ramp_rate, T), partial(_smooth_ramp_second, T))
    w = math.pi / T
    parts = (partial(_until, T, partial(one, w)) for one in (_sine, _sine_rate, _sine_second))
    return TimeFunction(*parts, smooth=False)


def _until(T: float, value: Callable[[float], float], t: float) -> float:
    return value(t) if t < T else 0.0


def _sine(w: float, t: float) -> float:
    return math.sin(w * t)


def _sine_rate(w: float, t: float) -> float:
    return w * math.cos(w * t)


def _sine_second(w: float, t: float) -> float:
    return -w * w * math.sin(w * t)


def _ramp(T: float, t: float) -> float:
    return min(t / T, 1.0)


def _ramp_rate(T: float, t: float) -> float:
    return 1.0 / T if t < T else 0.0


def _smooth_ramp(T: float, t: float) -> float:
    """Return 10 s³ − 15 s⁴ + 6 s⁵, whose two derivatives are 0 at both ends."""
    s = _ramp(T, t)
    return s**3 * (10.0 - 15.0 * s + 6.0 * s**2)


def _smooth_ramp_rate(T: float, t: float) -> float:
    s = _ramp(T, t)
    return 30.0 * s**2 * (1.0 - s) ** 2 / T


def _smooth_ramp_second(T: float, t: float) -> float:
    s = _ramp(T, t)
    return 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s) / T**2


def _record(history: History, folder: Path) -> tuple[Array, Array]:
    """Return the times and factors of a table, from its file if it names one."""
    if history.file is None:
        times, factors = history.times, history.factors
    else:
        times, factors = read_table(folder / history.file, history.file)
    return checked_table(history.file or "history", np.array(times), np.array(factors), "factors")


# -- tables in files ----------------------------------------------------------------------------------------------

# A digit that is no part of a word or unit, such as those of "a1", "m/s^2", "s-2" or "[1]".
_DIGIT = re.compile(r"(?<![\w^\[(/*+\-−.])[+\-−.]*\d")


def read_table(path: Path, called: str) -> tuple[list[float], list[float]]:
    """Return the two columns of a file of times and factors (see `read_numbers`)."""
    times, factors = zip(*read_numbers(path, called, 2, "time (s) and factor"), strict=True)
    return list(times), list(factors)


def read_numbers(path: Path, called: str, columns: int, requested: str) -> list[list[float]]:
    """Return the rows of a file of comma-separated numbers.

    The first row may be a heading: one without any number. Empty lines are left out. All else must be as many finite
    numbers as there are columns; nothing is skipped.

    Parameters
    ----------
    path : Path
        Text in UTF-8, with or without the mark of byte order that spreadsheets put in front.
    called : str
        What messages call the file.
    columns : int
    requested : str
        What messages call the columns.
    """
    many = {2: "two", 3: "three"}[columns]
    try:
        if path.exists() and not path.is_file():
            raise ScenarioError(f"{called} is not a file.")
        rows = list(_rows(path.read_bytes().decode("utf-8-sig")))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not a text file in UTF-8"
        raise ScenarioError(f"{called} cannot be read: {why}.") from None
    if rows and _is_heading(rows[0][1]):
        del rows[0]
    if not rows:
        raise ScenarioError(f"{called} has no numbers; expected {many} columns, {requested}.")
    numbers = [[_number(word) for word in row] for _, row in rows]
    for (line, _), values in zip(rows, numbers, strict=True):
        if len(values) != columns or not all(map(math.isfinite, values)):
            raise ScenarioError(
                f"{called}, line {line} must have {many} numbers with a comma between them and points for decimals, "
                f"{requested}. Only a first line without any number is a heading."
            )
        if max(map(abs, values)) > MOST:
            raise ScenarioError(f"{called}, line {line}: numbers must be below {MOST:g}.")
    return numbers


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a text that are not empty, with the numbers of their lines."""
    reader, line = csv.reader(io.StringIO(text, newline="")), 1
    for row in reader:
        if row:
            yield line, row
        line = reader.line_num + 1


def _is_heading(row: list[str]) -> bool:
    return all(math.isnan(_number(word)) and word.strip().lower() != "nan" and not _DIGIT.search(word) for word in row)


def _number(word: str) -> float:
    """Return the number that a word is, or NaN."""
    try:
        return math.nan if "_" in word else float(word)
    except ValueError:
        return math.nan
