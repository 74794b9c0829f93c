"""Which linear tetrahedra share each coupling of two nodes: the way to sum each block of a matrix once.

Element by element, a symmetric tangent is 16 sums of blocks in memory, of which each block has five to twenty. Coupling
by coupling each block is written once, with its transposed one, in any order: threads need no slabs for it.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple, cast

import numpy as np
from numba import types
from numpy.typing import NDArray

from symplex.fem.assembly.pattern import IntArray
from symplex.fem.assembly.team import Phases
from symplex.fem.compiled.kernels import kernel
from symplex.fem.compiled.records import Indices, Number, Record, Rows
from symplex.fem.compiled.threads import OfThread
from symplex.fem.solids.coupling_sums import PLACES, RECORD

Codes = NDArray[np.uint32]
LEAST = 4096  # elements from which on couplings are found: below, all blocks are in cache
_MOST = 2**27  # elements that codes can distinguish
_COUPLINGS = 4096  # of a task of a thread, at least
_MOST_TASKS = 32


class CouplingRecord(Record):
    """The couplings of linear tetrahedra, in the order in which elements have them first.

    Attributes
    ----------
    to, opposite : int32 [c]
        The places of the block of each coupling and of its transposed one; the same on the diagonal.
    start : int32 [c + 1]
        Where the codes of each begin.
    codes : uint32 [10 m]
        The elements of each; see `symplex.fem.solids.coupling_sums`.
    places : uint8 [16]
        Of k_ab in what is known of an element.
    alpha : float
        In Pa.
    records : float64 [m, RECORD]
        What is known of each element.
    """

    to: Indices
    opposite: Indices
    start: Indices
    codes: Annotated[Codes, types.uint32[::1]]
    places: Annotated[NDArray[np.uint8], types.uint8[::1]]
    alpha: Number
    records: Rows


class Couplings(NamedTuple):
    """The couplings of linear tetrahedra on a pattern.

    Attributes
    ----------
    slots : int32 [m, 4, 4]
        The places of blocks that they are made from.
    phases : Phases
        Parts of the couplings.
    of_thread : OfThread of CouplingRecord
        With room for what is known of the elements.
    """

    slots: IntArray
    phases: Phases
    of_thread: OfThread[CouplingRecord]


def couplings_of(slots: IntArray, blocks: int, alpha: float) -> Couplings | None:
    """Return the couplings of elements whose blocks have given places [m, 4, 4] among so many blocks, and their α.

    None if there are few elements, or places are not those of a symmetric pattern in which each pair of nodes has its
    own.
    """
    m = len(slots)
    if not LEAST <= m <= _MOST:
        return None
    number, to, opposite, start, codes = cast(
        "tuple[int, IntArray, IntArray, IntArray, Codes]", _couplings(slots, blocks)
    )
    if number < 0:
        return None
    known = {"to": to[:number].copy(), "opposite": opposite[:number].copy(), "start": start[: number + 1].copy()}
    known |= {"codes": codes, "places": PLACES, "alpha": alpha}
    tasks = max(min(number // _COUPLINGS, _MOST_TASKS), 1)
    phases = Phases([(number * k // tasks, number * (k + 1) // tasks) for k in range(tasks)])
    return Couplings(slots, phases, OfThread(lambda: CouplingRecord(**known, records=np.empty((m, RECORD)))))


@kernel
def _couplings(slots, blocks):
    """Return the number of couplings, −1 if there is none for each block, and arrays that begin with them."""
    m = len(slots)
    size, opposite_of = np.zeros(blocks, np.int32), np.full(blocks, -1, np.int32)
    for e in range(m):
        for a in range(4):
            for b in range(4):
                s, t = slots[e, a, b], slots[e, b, a]
                if (s == t) != (a == b) or (opposite_of[s] >= 0 and opposite_of[s] != t):
                    s = -1
                if s < 0:
                    none = np.empty(0, np.int32)
                    return -1, none, none, none, np.empty(0, np.uint32)
                opposite_of[s] = t
                size[s] += s <= t
    to, opposite, start = np.empty(blocks, np.int32), np.empty(blocks, np.int32), np.empty(blocks + 1, np.int32)
    codes, fill = np.empty(10 * m, np.uint32), np.full(blocks, -1, np.int32)
    number = end = 0
    for e in range(m):
        for a in range(4):
            for b in range(4):
                s = slots[e, a, b]
                if s > opposite_of[s]:
                    continue
                if fill[s] < 0:
                    to[number], opposite[number], start[number], fill[s] = s, opposite_of[s], end, end
                    number += 1
                    end += size[s]
                codes[fill[s]] = 16 * e + 4 * a + b
                fill[s] += 1
    start[number] = end
    return number, to, opposite, start, codes
