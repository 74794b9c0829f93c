"""Where functions of a place in [0, 1] change their signs, for many of them at once.

A change between two places is found by false position after Illinois: the value at an end that stays is halved. Two
changes are seen if the parabola through the values at both ends and in the middle turns in between.
"""

from __future__ import annotations

from symplex.fem.compiled.kernels import inlined

LOOKS = 60  # for a place: linear functions take one, others some five
_ZERO = 1e-14  # what a function is at its place, relative to its values at the ends of where it was looked for
_NEAR = 1e-13  # the distance of two places between which none is looked for


@inlined
def turn(start, middle, end):
    """Return where the parabola through values at 0, ½ and 1 turns towards the other sign, or 1 if it does not within.

    Values at both ends have one sign.
    """
    curvature = 2.0 * (start - 2.0 * middle + end)
    slope = 4.0 * middle - 3.0 * start - end
    if start * end > 0.0 and start * curvature > 0.0 and 0.0 < -slope / (2.0 * curvature) < 1.0:
        return -slope / (2.0 * curvature)
    return 1.0


@inlined
def begin(k, low, high, f_low, f_high, zero):
    """Set what a value at a place counts as zero of function k, and low and high to 1 if there is no change between."""
    zero[k] = _ZERO * (abs(f_low[k]) + abs(f_high[k]))
    if not f_low[k] * f_high[k] < 0.0:
        low[k] = high[k] = 1.0


@inlined
def guesses(n, low, high, f_low, f_high, s):
    """Set the places s of the first n functions to look at next, and return how many are still looked for."""
    looking = 0
    for k in range(n):
        s[k] = low[k]
        if low[k] < high[k]:
            s[k] -= f_low[k] * (high[k] - low[k]) / (f_high[k] - f_low[k])
            looking += 1
    return looking


@inlined
def narrow(k, f, s, low, high, f_low, f_high, zero):
    """Move an end of what is left for function k to the place s, where it is f; both ends where it is found."""
    if not (abs(f) > zero[k] and high[k] - low[k] > _NEAR):
        low[k] = high[k] = s[k]
    elif f * f_low[k] > 0.0:
        low[k], f_low[k] = s[k], f
        f_high[k] *= 0.5
    else:
        high[k], f_high[k] = s[k], f
        f_low[k] *= 0.5


@inlined
def insert(place, ends, rows, n, k):
    """Insert a place into the first rows of ends [rows, n], which rise, in column k."""
    row = rows
    while ends[(row - 1) * n + k] > place:
        ends[row * n + k] = ends[(row - 1) * n + k]
        row -= 1
    ends[row * n + k] = place
