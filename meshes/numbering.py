"""Numbers that a file gives its nodes and elements, and the places they have in a mesh."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from symplex.errors import MeshError


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
        place = np.searchsorted(self._sorted, numbers)
        beyond = place == len(self._sorted)
        place[beyond] = 0
        if numbers.size and (len(self._sorted) == 0 or np.any(wrong := beyond | (self._sorted[place] != numbers))):
            first = numbers.flat[0] if len(self._sorted) == 0 else numbers[wrong][0]
            raise MeshError(f"{who} refers to a {self._what} that is not in the file ({first}).")
        return self._order[place]
