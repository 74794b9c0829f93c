"""Numbers that a file gives its nodes and elements, and the places they have in a mesh."""

from __future__ import annotations

from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import NDArray

from symplex.errors import MeshError

_GAPS = 8  # at most so many numbers for each that is given


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
    """

    def __init__(self, what: str, numbers: NDArray[np.integer]):
        self._what = what
        self._numbers = np.asarray(numbers, np.int64)
        least, most = int(self._numbers.min(initial=1)), int(self._numbers.max(initial=0))
        # Most files number from 1 on with few gaps: a table of places is found and asked in a tenth of the time.
        self._table: NDArray[np.int32] | None = None
        if least >= 1 and most <= _GAPS * len(self._numbers):
            places = np.arange(len(self._numbers), dtype=np.int32)
            self._table = np.full(most + 1, -1, np.int32)
            self._table[self._numbers] = places
            is_distinct = bool((self._table[self._numbers] == places).all())
        else:
            is_distinct = not (self._sorted[1:] == self._sorted[:-1]).any()
        if not is_distinct:
            twice = self._sorted[1:][self._sorted[1:] == self._sorted[:-1]]
            raise MeshError(f"{what} {twice[0]} is defined twice.")
        if least < 1:
            raise MeshError(f"a {what} has the number {least}; numbers begin with 1.")

    def places(self, numbers: NDArray[np.integer], who: str) -> NDArray[np.int64]:
        """Return the places of some numbers, of any shape; ``who`` refers to them, in messages."""
        place, known = self._found(numbers)
        if not known.all():
            raise MeshError(f"{who} refers to a {self._what} that is not in the file ({numbers[~known][0]}).")
        return place

    def has(self, numbers: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Return which of some numbers are defined."""
        return self._found(numbers)[1]

    def within(self, numbers: range) -> NDArray[np.int64]:
        """Return the numbers of a range, which may be of any length, that are defined."""
        low, high = np.searchsorted(self._sorted, [numbers.start, min(numbers.stop, np.iinfo(np.int64).max)])
        inside = self._sorted[low:high]
        return inside[(inside - numbers.start) % numbers.step == 0]

    @cached_property
    def _order(self) -> NDArray[np.intp]:
        return np.argsort(self._numbers, kind="stable")

    @cached_property
    def _sorted(self) -> NDArray[np.int64]:
        return self._numbers[self._order]

    def _found(self, numbers: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the places of numbers, and which are defined: of others the place means nothing."""
        if len(self._numbers) == 0:
            return np.zeros(numbers.shape, np.int64), np.zeros(numbers.shape, bool)
        if self._table is not None:
            inside = (numbers >= 0) & (numbers < len(self._table))
            place = self._table[numbers if inside.all() else np.where(inside, numbers, 0)]
            return place.astype(np.int64), inside & (place >= 0)
        at = np.minimum(np.searchsorted(self._sorted, numbers), len(self._sorted) - 1)
        return self._order[at], self._sorted[at] == numbers
