"""Numbers that a file gives its nodes and elements, and the places they have in a mesh."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from symplex.errors import MeshError


def is_number(word: str) -> bool:
    """Return whether a word is digits only, and not more than 64 bits hold."""
    return word.isdecimal() and word.isascii() and len(word) <= 18


def sorted_distinct(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the distinct among numbers, ascending: ``np.unique``, which for whole numbers is many times slower."""
    ordered = np.sort(numbers)
    new = np.ones(len(ordered), bool)
    new[1:] = ordered[1:] != ordered[:-1]
    return ordered[new]


def places_by_value(values: NDArray[np.int64]) -> dict[int, NDArray[np.intp]]:
    """Return for each value, ascending, where it is."""
    order = np.argsort(values, kind="stable")
    distinct, first = np.unique(values[order], return_index=True)
    return dict(zip(distinct.tolist(), np.split(order, first[1:]), strict=True))


@final
class Numbering:
    """The numbers of nodes or elements in the order in which a file defines them.

    Parameters
    ----------
    what : str
        What is numbered, in messages: ``node`` or ``element``.
    numbers : int64 [n]

    Raises
    ------
    MeshError
        If a number is not positive, or occurs twice.
    """

    def __init__(self, what: str, numbers: NDArray[np.integer]):
        self._what = what
        self._order = np.argsort(numbers, kind="stable")
        self._sorted = np.asarray(numbers, np.int64)[self._order]
        twice = np.flatnonzero(self._sorted[1:] == self._sorted[:-1])
        if len(twice):
            raise MeshError(f"{what} {self._sorted[twice[0]]} is defined twice.")
        if len(numbers) and self._sorted[0] < 1:
            raise MeshError(f"a {what} has the number {self._sorted[0]}; numbers begin with 1.")

    def places(self, numbers: NDArray[np.integer], who: str) -> NDArray[np.int64]:
        """Return the places of some numbers, of any shape; ``who`` refers to them, in messages.

        Raises
        ------
        MeshError
            If one is not defined.
        """
        place, known = self._found(numbers)
        if not known.all():
            raise MeshError(f"{who} refers to a {self._what} that is not in the file ({numbers[~known][0]}).")
        return self._order[place]

    def has(self, numbers: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Return which of some numbers are defined."""
        return self._found(numbers)[1]

    def within(self, numbers: range) -> NDArray[np.int64]:
        """Return the numbers of a range, which may be of any length, that are defined."""
        low, high = np.searchsorted(self._sorted, [numbers.start, min(numbers.stop, np.iinfo(np.int64).max)])
        inside = self._sorted[low:high]
        return inside[(inside - numbers.start) % numbers.step == 0]

    def _found(self, numbers: NDArray[np.integer]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        if len(self._sorted) == 0:
            return np.zeros(numbers.shape, np.intp), np.zeros(numbers.shape, bool)
        place = np.minimum(np.searchsorted(self._sorted, numbers), len(self._sorted) - 1)
        return place, self._sorted[place] == numbers
