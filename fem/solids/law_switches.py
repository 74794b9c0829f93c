"""Where the switches of a law change their signs along straight ways, as C functions.

A way is a segment of the invariants of one point, or the metrics of an element of mean dilatation between their start
and their end: the invariants at a point then depend on all of its points, and all pieces of the way are common to them.
"""

# numba does not re-export carray.
# pyright: reportPrivateImportUsage=false

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import carray

from symplex.fem.compiled.call import call_law
from symplex.fem.compiled.kernels import c_function, inlined
from symplex.fem.solids.chunks import CHUNK, GEOMETRY, elements_per_chunk
from symplex.fem.solids.dilatation_loops import set_between, set_dilated
from symplex.fem.solids.sign_changes import LOOKS, begin, guesses, insert, narrow, turn

_HEADER = 5


@cache
def split_at_switches(dilated: bool) -> Any:
    """Return the C function that splits ways at the switches of a law, compiled when it is first asked for."""
    return c_function("law")(_splitting(dilated))


@inlined
def _set_in_segments(address, p, x, m, places, at, out):
    """Set out to the switches at places [CHUNK] of segments of the m invariants."""
    for i in range(m):
        for k in range(CHUNK):
            at[i * CHUNK + k] = x[i * CHUNK + k] + (places[k] - 0.5) * x[(m + i) * CHUNK + k]
    call_law(address, p, at.ctypes.data, out.ctypes.data)


@inlined
def _set_in_elements(address, p, x, fibres, points, places, room, invariants, out):
    """Set out to the switches of all points at the places [E] of the elements' ways."""
    s, G, rho, share = room
    size, known = elements_per_chunk(points), 12 + GEOMETRY + 3 * fibres
    for t in range(CHUNK):
        s[t] = places[t % size]
    set_between(x, x[6 * CHUNK :], s, G)
    set_dilated(G, x[12 * CHUNK :], x[known * CHUNK :], fibres, points, invariants, rho, share)
    call_law(address, p, invariants.ctypes.data, out.ctypes.data)


@inlined
def _set_switches(dilated, address, p, x, fibres, points, places, room, invariants, out):
    if dilated:
        _set_in_elements(address, p, x, fibres, points, places, room, invariants, out)
    else:
        _set_in_segments(address, p, x, 3 + fibres, places, invariants, out)


def _splitting(dilated: bool) -> Callable[..., None]:
    """Return the function of ways of elements, or of segments of the invariants."""

    def split(p_, x_, ends_):
        """Set the rows of ends [rows, ways] to the ends of the pieces of each way, 0 = s_0 ≤ s_1 ≤ … = 1.

        The parameters are those of `symplex.fem.solids.law_segments.switches_of`; x has the rows of the middle and of
        the change of the invariants, or of the metrics, and then those of the geometry, and the weights. Up to two
        changes of sign are looked for of each switch at each point. Where there are fewer the last pieces are empty.
        """
        head = carray(p_, (_HEADER,))
        address, count, fibres, points = int(head[1]), int(head[2]), int(head[3]), int(head[4])
        p, size = head.ctypes.data + 8 * _HEADER, elements_per_chunk(points)
        rows = 13 + GEOMETRY + 3 * fibres if dilated else 2 * (3 + fibres)
        x, ends = carray(x_, (rows * CHUNK,)), carray(ends_, ((2 * count * points + 2) * size,))
        room = np.empty(CHUNK), np.empty(6 * CHUNK), np.empty(CHUNK), np.empty(CHUNK)
        invariants, places, values = np.empty((3 + fibres) * CHUNK), np.empty(size), np.empty(count * CHUNK)
        start, middle, end = np.empty(count * CHUNK), np.empty(count * CHUNK), np.empty(count * CHUNK)
        low, high, f_low, f_high = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
        turns, f_turns, zero, filled = np.empty(size), np.empty(size), np.empty(size), np.ones(size, np.int64)
        ends[:size] = 0.0
        ends[size:] = 1.0
        for place, out in ((0.0, start), (0.5, middle), (1.0, end)):
            places[:] = place
            _set_switches(dilated, address, p, x, fibres, points, places, room, invariants, out)
        for first in range(0, count * points * size, size):
            row = first // (points * size) * CHUNK + first % (points * size)  # of one switch, at one point of each way
            turning, changing = 0, 0
            for e in range(size):
                turns[e], f_turns[e] = turn(start[row + e], middle[row + e], end[row + e]), end[row + e]
                turning += turns[e] < 1.0
                changing += start[row + e] * end[row + e] < 0.0
            if turning > 0:
                _set_switches(dilated, address, p, x, fibres, points, turns, room, invariants, values)
                for e in range(size):
                    if turns[e] < 1.0:
                        f_turns[e] = values[row + e]
            for part in range(1 + (turning > 0) if turning + changing > 0 else 0):
                for e in range(size):
                    low[e], high[e], f_low[e], f_high[e] = 0.0, turns[e], start[row + e], f_turns[e]
                    if part == 1:
                        low[e], high[e], f_low[e], f_high[e] = turns[e], 1.0, f_turns[e], end[row + e]
                    begin(e, low, high, f_low, f_high, zero)
                for _ in range(LOOKS):
                    if guesses(size, low, high, f_low, f_high, places) == 0:
                        break
                    _set_switches(dilated, address, p, x, fibres, points, places, room, invariants, values)
                    for e in range(size):
                        narrow(e, values[row + e], places, low, high, f_low, f_high, zero)
                for e in range(size):
                    if low[e] < 1.0:
                        insert(low[e], ends, filled[e], size, e)
                        filled[e] += 1

    return split
