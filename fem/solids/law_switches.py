"""Where the switches of a law change their signs along straight segments of the invariants, as a C function."""

# numba does not re-export carray.
# pyright: reportPrivateImportUsage=false

from __future__ import annotations

import numpy as np
from numba import carray

from symplex.fem.call import call_law
from symplex.fem.kernels import c_function, inlined
from symplex.fem.solids.law_functions import CHUNK
from symplex.fem.solids.sign_changes import LOOKS, begin, guesses, insert, narrow, turn

_HEADER = 4


@inlined
def _set_switches(address, p, m, x, s, at, out):
    """Set out to the switches at the places s of the segments."""
    for i in range(m):
        for k in range(CHUNK):
            at[i * CHUNK + k] = x[i * CHUNK + k] + (s[k] - 0.5) * x[(m + i) * CHUNK + k]
    call_law(address, p, at.ctypes.data, out.ctypes.data)


@inlined
def _find(address, p, m, x, row, s, at, values, zero, low, high, f_low, f_high):
    """Set low, and high, to where a switch changes its sign between them, as its values f_low and f_high do.

    Where low is high nothing is done.
    """
    for _ in range(LOOKS):
        if guesses(CHUNK, low, high, f_low, f_high, s) == 0:
            return
        _set_switches(address, p, m, x, s, at, values)
        for k in range(CHUNK):
            narrow(k, values[row + k], s, low, high, f_low, f_high, zero)


@c_function("law")
def split(p_, x_, ends_):
    """Set the rows of ends to the ends of the pieces of each segment, 0 = s_0 ≤ s_1 ≤ … = 1.

    The parameters are those of `symplex.fem.solids.law_segments.switches_of`; x has the rows of the middle and of the
    change of the invariants. Up to two changes of sign are looked for of each switch. Where there are fewer the last
    pieces are empty.
    """
    head = carray(p_, (_HEADER,))
    address, count, m = int(head[1]), int(head[2]), int(head[3])
    p = head.ctypes.data + 8 * _HEADER
    x, ends = carray(x_, (2 * m * CHUNK,)), carray(ends_, ((2 * count + 2) * CHUNK,))
    at, s, found = np.empty(m * CHUNK), np.empty(CHUNK), np.empty(count * CHUNK)
    start, middle, end = np.empty(count * CHUNK), np.empty(count * CHUNK), np.empty(count * CHUNK)
    low, high, f_low, f_high = np.empty(CHUNK), np.empty(CHUNK), np.empty(CHUNK), np.empty(CHUNK)
    turns, zero = np.empty(CHUNK), np.empty(CHUNK)
    ends[:CHUNK] = 0.0
    ends[CHUNK:] = 1.0
    for place, values in ((0.0, start), (0.5, middle), (1.0, end)):
        s[:] = place
        _set_switches(address, p, m, x, s, at, values)
    for j in range(count):
        row, turning = j * CHUNK, 0
        for k in range(CHUNK):
            turns[k] = turn(start[row + k], middle[row + k], end[row + k])
            turning += turns[k] < 1.0
        # At the turns, which are at the end for most.
        if turning > 0:
            _set_switches(address, p, m, x, turns, at, middle)
        for part in range(1 + (turning > 0)):
            for k in range(CHUNK):
                f_turn = middle[row + k] if turns[k] < 1.0 else end[row + k]
                low[k], high[k], f_low[k], f_high[k] = 0.0, turns[k], start[row + k], f_turn
                if part == 1:
                    low[k], high[k], f_low[k], f_high[k] = turns[k], 1.0, f_turn, end[row + k]
                begin(k, low, high, f_low, f_high, zero)
            _find(address, p, m, x, row, s, at, found, zero, low, high, f_low, f_high)
            for k in range(CHUNK):
                insert(low[k], ends, 2 * j + part + 1, CHUNK, k)
