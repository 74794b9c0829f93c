"""Where switches of a law change their signs in elements of mean dilatation, as a C function.

While the metrics of an element go straight from their start to their end, the invariants at a point depend on all of
its points: all pieces of an element's way are common to them.
"""

# numba does not re-export carray.
# pyright: reportPrivateImportUsage=false

from __future__ import annotations

import numpy as np
from numba import carray

from symplex.fem.call import call_law
from symplex.fem.kernels import c_function, inlined
from symplex.fem.solids.chunks import CHUNK, GEOMETRY, elements_per_chunk
from symplex.fem.solids.dilatation_loops import set_between, set_dilated
from symplex.fem.solids.sign_changes import LOOKS, begin, guesses, insert, narrow, turn

_HEADER = 5


@inlined
def _set_switches(address, p, way, fibres, points, places, room, out):
    """Set out to the switches of all points at the places [E] of the elements' ways."""
    middle, change, geometry, weights = way
    s, G, invariants, rho, share = room
    size = elements_per_chunk(points)
    for t in range(CHUNK):
        s[t] = places[t % size]
    set_between(middle, change, s, G)
    set_dilated(G, geometry, weights, fibres, points, invariants, rho, share)
    call_law(address, p, invariants.ctypes.data, out.ctypes.data)


@c_function("law")
def split_dilated(p_, x_, ends_):
    """Set the rows of ends [rows, E] to the ends of the pieces of each element's way, 0 = s_0 ≤ s_1 ≤ … = 1.

    The parameters are those of `symplex.fem.solids.solid_forms`; x has the rows of the middle and of the change
    of the metrics, those of the geometry, and the weights. Up to two changes of sign are looked for of each switch at
    each point. Where there are fewer the last pieces are empty.
    """
    head = carray(p_, (_HEADER,))
    address, count, fibres, points = int(head[1]), int(head[2]), int(head[3]), int(head[4])
    p, known, size = head.ctypes.data + 8 * _HEADER, 12 + GEOMETRY + 3 * fibres, elements_per_chunk(points)
    x, ends = carray(x_, ((known + 1) * CHUNK,)), carray(ends_, ((2 * count * points + 2) * size,))
    way = x[: 6 * CHUNK], x[6 * CHUNK : 12 * CHUNK], x[12 * CHUNK : known * CHUNK], x[known * CHUNK :]
    room = np.empty(CHUNK), np.empty(6 * CHUNK), np.empty((3 + fibres) * CHUNK), np.empty(CHUNK), np.empty(CHUNK)
    places, values = np.empty(size), np.empty(count * CHUNK)
    start, middle, end = np.empty(count * CHUNK), np.empty(count * CHUNK), np.empty(count * CHUNK)
    low, high, f_low, f_high = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    turns, f_turns, zero, rows = np.empty(size), np.empty(size), np.empty(size), np.ones(size, np.int64)
    ends[:size] = 0.0
    ends[size:] = 1.0
    for place, out in ((0.0, start), (0.5, middle), (1.0, end)):
        places[:] = place
        _set_switches(address, p, way, fibres, points, places, room, out)
    for first in range(0, count * points * size, size):
        row = first // (points * size) * CHUNK + first % (points * size)  # of one switch, at one point of each element
        turning, changing = 0, 0
        for e in range(size):
            turns[e], f_turns[e] = turn(start[row + e], middle[row + e], end[row + e]), end[row + e]
            turning += turns[e] < 1.0
            changing += start[row + e] * end[row + e] < 0.0
        if turning > 0:
            _set_switches(address, p, way, fibres, points, turns, room, values)
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
                _set_switches(address, p, way, fibres, points, places, room, values)
                for e in range(size):
                    narrow(e, values[row + e], places, low, high, f_low, f_high, zero)
            for e in range(size):
                if low[e] < 1.0:
                    insert(low[e], ends, rows[e], size, e)
                    rows[e] += 1
