"""How histories of two runs differ: each column at equal times."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.integrate import trapezoid

from symplex.base.quantities import listed
from symplex.fem.energies.energy import Array
from symplex.runs.history import History, columns_of
from symplex.studies.scales import Scales

SAME_TIME = 1e-9  # of a run, by which two times may differ that are meant to be one
_LEFT_OUT = ("time", "count")  # columns that no two methods have alike


@dataclass(frozen=True)
class Difference:
    """How much a column or a field of two runs differs, second less first.

    Attributes
    ----------
    name : str
    where : str
        ``history``, ``probe NAME``, ``nodes`` or ``cells``.
    unit : str
    rms : float
        The root mean square over time (of a field: over nodes or cells, at the time at which it is largest).
    largest : float
        The largest difference; of vectors that of fields is the length.
    t : float
        When that is, in s.
    relative : float
        The largest difference as a part of the largest value, of energies of the energy exchanged.
    """

    name: str
    where: str
    unit: str
    rms: float
    largest: float
    t: float
    relative: float


def common_times(first: Array, second: Array) -> tuple[Array, bool]:
    """Return the times of the first run at which there is the second one as well, and whether this has all of them."""
    slack = SAME_TIME * max(float(np.ptp(first)), float(np.ptp(second)))
    times = first[(first >= second[0] - slack) & (first <= second[-1] + slack)]
    nearest = np.abs(second[np.clip(np.searchsorted(second, times), 0, len(second) - 1)] - times)
    before = np.abs(second[np.clip(np.searchsorted(second, times) - 1, 0, len(second) - 1)] - times)
    return times, bool((np.minimum(nearest, before) <= slack).all())


def left_out_of(what: str, first: History, second: History) -> Iterator[str]:
    """Yield what the history of a first run has that cannot be compared with that of a second one, but for counts."""
    odd = [name for name, one in columns_of(first).items() if name not in second and one.kind not in _LEFT_OUT]
    if odd:
        yield f"column {listed(odd)} of {what}"
    if lost := rows_left_out(first["t"], second["t"]):
        yield f"rows of {what}: {lost}"


def rows_left_out(first: Array, second: Array) -> str:
    """Return how many times of a first run are before the first or after the last of a second one, if any are."""
    there = len(common_times(first, second)[0]) if len(first) and len(second) else 0
    if there == len(first):
        return ""
    reached = f" (the other is from t = {second[0]:.6g} s to {second[-1]:.6g} s)" if len(second) else ""
    return f"{len(first) - there} of {len(first)}{reached}"


def compared_histories(where: str, first: History, second: History, scales: Scales) -> Iterator[Difference]:
    """Yield the differences of the columns that two histories both have, but for counts."""
    times, _ = common_times(first["t"], second["t"])
    if not len(times):
        return
    columns = {name: one for name, one in columns_of(first).items() if name in second and one.kind not in _LEFT_OUT}
    at = np.searchsorted(first["t"], times)
    pairs = {name: (first[name][at], np.interp(times, second["t"], second[name])) for name in columns}
    sizes: dict[str, float] = {}
    for name, column in columns.items():
        largest = max(float(np.abs(values).max()) for values in pairs[name])
        sizes[column.subject] = max(sizes.get(column.subject, 0.0), largest)
    for name, column in columns.items():
        difference = pairs[name][1] - pairs[name][0]
        k, span = int(np.abs(difference).argmax()), float(np.ptp(times))
        rms = math.sqrt(trapezoid(difference**2, times) / span) if span else abs(float(difference[0]))
        largest, size = abs(float(difference[k])), scales.of_column(column, sizes[column.subject])
        yield Difference(name, where, column.unit, rms, largest, float(times[k]), largest / size if largest else 0.0)
