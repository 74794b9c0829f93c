"""Where the switches of a law change their signs along straight segments of the invariants, as a C function."""

# numba does not re-export carray.
# pyright: reportPrivateImportUsage=false

from __future__ import annotations

import numpy as np
from numba import carray

from symplex.fem.call import call_law
from symplex.fem.kernels import c_function, inlined
from symplex.fem.solids.law_functions import CHUNK

_ZERO = 1e-14  # what a switch is at its place, relative to its values at the ends of where it was looked for
_NEAR = 1e-13  # the distance of two places, relative to the segment, between which none is looked for
_LOOKS = 60  # for a place: linear switches take one, others some five
_HEADER = 4


@inlined
def _set_switches(address, p, m, x, s, at, out):
    """Set out to the switches at the places s of the segments."""
    for i in range(m):
        for k in range(CHUNK):
            at[i * CHUNK + k] = x[i * CHUNK + k] + (s[k] - 0.5) * x[(m + i) * CHUNK + k]
    call_law(address, p, at.ctypes.data, out.ctypes.data)


@inlined
def _turn(start, middle, end):
    """Return where the parabola through values at 0, ½ and 1 turns towards the other sign, or 1 if it does not within.

    Values at both ends have one sign.
    """
    curvature = 2.0 * (start - 2.0 * middle + end)
    slope = 4.0 * middle - 3.0 * start - end
    if start * end > 0.0 and start * curvature > 0.0 and 0.0 < -slope / (2.0 * curvature) < 1.0:
        return -slope / (2.0 * curvature)
    return 1.0


@inlined
def _find(address, p, m, x, row, s, at, values, zero, low, high, f_low, f_high):
    """Set low, and high, to where a switch changes its sign between them, as its values f_low and f_high do.

    By false position after Illinois: the value at an end that stays is halved. Where low is high nothing is done.
    """
    for _ in range(_LOOKS):
        looking = 0
        for k in range(CHUNK):
            s[k] = low[k]
            if low[k] < high[k]:
                s[k] -= f_low[k] * (high[k] - low[k]) / (f_high[k] - f_low[k])
                looking += 1
        if looking == 0:
            return
        _set_switches(address, p, m, x, s, at, values)
        for k in range(CHUNK):
            f = values[row + k]
            if not (abs(f) > zero[k] and high[k] - low[k] > _NEAR):
                low[k] = high[k] = s[k]
            elif f * f_low[k] > 0.0:
                low[k], f_low[k] = s[k], f
                f_high[k] *= 0.5
            else:
                high[k], f_high[k] = s[k], f
                f_low[k] *= 0.5


@inlined
def _insert(place, ends, rows, k):
    """Insert a place into the first rows of ends, which rise."""
    row = rows
    while ends[(row - 1) * CHUNK + k] > place:
        ends[row * CHUNK + k] = ends[(row - 1) * CHUNK + k]
        row -= 1
    ends[row * CHUNK + k] = place


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
            turns[k] = _turn(start[row + k], middle[row + k], end[row + k])
            turning += turns[k] < 1.0
        # At the turns, which are at the end for most.
        if turning > 0:
            _set_switches(address, p, m, x, turns, at, middle)
        for part in range(1 + (turning > 0)):
            for k in range(CHUNK):
                turn, f_turn = turns[k], middle[row + k] if turns[k] < 1.0 else end[row + k]
                low[k], high[k], f_low[k], f_high[k] = 0.0, turn, start[row + k], f_turn
                if part == 1:
                    low[k], high[k], f_low[k], f_high[k] = turn, 1.0, f_turn, end[row + k]
                zero[k] = _ZERO * (abs(f_low[k]) + abs(f_high[k]))
                if not f_low[k] * f_high[k] < 0.0:  # nothing to be found, and the last piece is empty
                    low[k] = high[k] = 1.0
            _find(address, p, m, x, row, s, at, found, zero, low, high, f_low, f_high)
            for k in range(CHUNK):
                _insert(low[k], ends, 2 * j + part + 1, k)
