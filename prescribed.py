"""What a scenario gives as functions of time: the factors of loads, and the motions of supports."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from symplex.actions import History, Support
from symplex.errors import ScenarioError
from symplex.fem.energy import Array
from symplex.fem.loads import checked_table
from symplex.fem.support_motion import SupportMotion, SupportRotation, SupportTranslation
from symplex.fem.time_function import TimeFunction


def factor(history: History, folder: Path) -> Callable[[float], float] | tuple[Array, Array]:
    """Return the factor of a load as a function of time, or as a table; files are looked for in a folder.

    Raises
    ------
    ScenarioError
        If a file cannot be read.
    """
    return _record(history, folder) if history.kind == "table" else _course(history).value


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

    Raises
    ------
    ScenarioError
        If a file cannot be read.
    InvalidSystem
        If a table is not in order.
    """
    if table.velocity is not None:
        return SupportTranslation(nodes, table.velocity, TimeFunction.steady(1.0), components=table.components)
    course = _motion(table, cast(History, table.history), folder)
    if table.rotation is not None:
        turn = table.rotation
        angle = course.scaled(math.radians(turn.degrees))
        return SupportRotation(nodes, points, angle, center=turn.point, axis=turn.axis)
    direction = table.displacement if table.acceleration is None else table.acceleration
    return SupportTranslation(nodes, cast(tuple, direction), course, components=table.components)


def _motion(table: Support, history: History, folder: Path) -> TimeFunction:
    """Return the factor of a displacement, of a rotation, or of an acceleration integrated twice."""
    if history.kind != "table":
        return _course(history)
    times, factors = _record(history, folder)
    if table.acceleration is not None:
        return TimeFunction.of_accelerations(times, factors)
    return TimeFunction.table(times, factors, smooth=table.interpolation == "spline")


def _course(history: History) -> TimeFunction:
    """Return a factor given by a formula, with its derivatives."""
    if history.kind == "sine":
        w = 2.0 * math.pi * cast(float, history.frequency)
        return TimeFunction(
            lambda t: math.sin(w * t), lambda t: w * math.cos(w * t), lambda t: -w * w * math.sin(w * t)
        )
    T = cast(float, history.duration)
    if history.kind == "ramp":
        return TimeFunction(lambda t: min(t / T, 1.0), lambda t: 1.0 / T if t < T else 0.0, lambda t: 0.0, smooth=False)
    if history.kind == "smooth-ramp":  # 10 s³ − 15 s⁴ + 6 s⁵, whose two derivatives are 0 at both ends

        def part(t: float) -> float:
            return min(t / T, 1.0)

        return TimeFunction(
            lambda t: part(t) ** 3 * (10.0 - 15.0 * part(t) + 6.0 * part(t) ** 2),
            lambda t: 30.0 * part(t) ** 2 * (1.0 - part(t)) ** 2 / T,
            lambda t: 60.0 * part(t) * (1.0 - part(t)) * (1.0 - 2.0 * part(t)) / T**2,
        )
    w = math.pi / T
    return TimeFunction(
        lambda t: math.sin(w * t) if t < T else 0.0,
        lambda t: w * math.cos(w * t) if t < T else 0.0,
        lambda t: -w * w * math.sin(w * t) if t < T else 0.0,
        smooth=False,
    )


def _record(history: History, folder: Path) -> tuple[Array, Array]:
    """Return the times and factors of a table, from its file if it names one."""
    if history.file is None:
        return np.array(history.times), np.array(history.factors)
    path = folder / history.file
    try:
        rows = [row for row in csv.reader(path.read_text("utf-8").splitlines()) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not a text file"
        raise ScenarioError(f"{history.file} cannot be read: {why}.") from None
    if rows and not _numbers(rows[0]):
        del rows[0]  # a heading
    wrong = next((k for k, row in enumerate(rows) if len(row) != 2 or not _numbers(row)), None)
    if wrong is not None:
        raise ScenarioError(
            f"{history.file}: row {wrong + 1} of the numbers is '{','.join(rows[wrong])}'; wanted two columns with a "
            "comma between them, times (s) and factors."
        )
    if not rows:
        raise ScenarioError(f"{history.file} has no numbers; wanted two columns, times (s) and factors.")
    times, factors = np.array(rows, dtype=float).T
    return checked_table(history.file, times, factors, "factors")


def _numbers(row: list[str]) -> bool:
    try:
        return all(math.isfinite(float(word)) for word in row)
    except ValueError:
        return False
