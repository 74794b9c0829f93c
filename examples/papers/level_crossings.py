"""Where a function of time first leaves a band of values: the level crossings of energy-stepping.

The function is marched over in stretches. A stretch is looked at in the middle and at its end, and halved until the
cubic through values and slopes at its ends predicts both in the middle; each half then has one critical point at most
by its own cubic, which is sixteen times better. Between critical points (roots of the slope itself, not of the cubic)
the function is monotone, so that an end beyond a level brackets one crossing, and no end beyond means none. Which
levels are looked for follows from the direction of the piece: one that rises can only cross the upper level. So the
level that was just crossed, where a motion begins again, is not found once more.

What the looks of a stretch all pass over is not seen. The caller bounds their distance by the scale of what
there is to see.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf, isfinite
from typing import NamedTuple

from symplex.errors import StepFailed

_VALUE_TOLERANCE = 0.05  # of the cubic, in heights of the band
_SLOPE_TOLERANCE = 0.02  # of the cubic, relative to the largest slope
_FLAT = 1e-6  # changes of the function that are of no interest, in heights of the band
_MOST_HALVINGS = 100
_ROUND_OFF = 1e-15


class Look(NamedTuple):
    """The function at one time.

    Attributes
    ----------
    tau : float
        The time in s.
    phi : float
        The value in J; infinite where there is none.
    slope : float
        Its rate in J/s.
    """

    tau: float
    phi: float
    slope: float


class Stretch(NamedTuple):
    """What was found after a look.

    Attributes
    ----------
    end : Look
        The end of the stretch, or the crossing.
    length : float
        The length in s of the stretch that was resolved.
    side : int
        +1: the upper level is crossed at ``end``; −1: the lower one; 0: neither.
    """

    end: Look
    length: float
    side: int


def stretch(look: Callable[[float], Look], here: Look, length: float, low: float, high: float) -> Stretch:
    """March on within the band from low to high, at most by ``length`` in s, up to the first crossing.

    Parameters
    ----------
    look : callable
        Returns the function at a time in s.
    here : Look
        Where the march begins, in the band or on its edge; from an edge the slope must lead inwards.
    length : float
        The stretch to be tried, in s.
    low, high : float
        The levels in J.

    Raises
    ------
    StepFailed
        If the function cannot be resolved over any length.
    """
    height = high - low
    for _ in range(_MOST_HALVINGS):
        middle, end = look(here.tau + 0.5 * length), look(here.tau + length)
        if not here.tau < middle.tau < end.tau:
            break
        halves = ((here, middle), (middle, end))
        if _is_resolved(here, middle, end, height) and not any(_turns_twice(*half, height) for half in halves):
            for first, last in halves:
                for a, b in _monotone(look, first, last):
                    side = _side_left(a, b, low, high)
                    if side:
                        return Stretch(_crossing(look, a, b, high if side > 0 else low), length, side)
            return Stretch(end, length, 0)
        length *= 0.5
    raise StepFailed(f"the energy along the path has no end of turns or jumps after {here.tau:.6g} s of flight.")


def _is_resolved(a: Look, m: Look, b: Look, height: float) -> bool:
    """Return whether the cubic through a and b predicts value and slope in the middle m."""
    if not (isfinite(m.phi) and isfinite(b.phi)):
        return False
    length = b.tau - a.tau
    phi = 0.5 * (a.phi + b.phi) + 0.125 * length * (a.slope - b.slope)
    slope = 1.5 * (b.phi - a.phi) / length - 0.25 * (a.slope + b.slope)
    steepest = max(abs(a.slope), abs(m.slope), abs(b.slope))
    return (
        abs(m.phi - phi) <= _VALUE_TOLERANCE * height
        and abs(m.slope - slope) <= _SLOPE_TOLERANCE * steepest + _FLAT * height / length
    )


def _turns_twice(a: Look, b: Look, height: float) -> bool:
    """Return whether the cubic through a and b has two critical points between them."""
    if a.slope * b.slope < 0.0:
        return False  # one: its slope is a parabola
    length = b.tau - a.tau
    A, B, D = a.slope * length, b.slope * length, b.phi - a.phi
    bend = A + B - 2.0 * D  # the slope is A + 2 (3D − 2A − B) x + 3 bend x²
    if bend == 0.0:
        return False
    x = -(3.0 * D - 2.0 * A - B) / (3.0 * bend)
    extreme = A + (3.0 * D - 2.0 * A - B) * x
    return 0.0 < x < 1.0 and extreme * (A + B) < 0.0 and abs(extreme) > _FLAT * height


def _monotone(look: Callable[[float], Look], a: Look, b: Look) -> Iterator[tuple[Look, Look]]:
    """Yield the monotone pieces between a and b, which have one critical point between them at most."""
    if a.slope * b.slope >= 0.0:
        yield a, b
        return
    from scipy.optimize import brentq  # which takes long to import

    known = {a.tau: a.slope, b.tau: b.slope}  # at an edge of the band the slope is known better than by looking
    # A root next to a.tau = 0 takes a thousand bisections at most.
    tau = brentq(lambda t: known[t] if t in known else look(t).slope, a.tau, b.tau, xtol=1e-300, maxiter=5000)
    turn = look(tau)._replace(slope=0.0)  # pyright: ignore[reportArgumentType]
    yield a, turn
    yield turn, b


def _side_left(a: Look, b: Look, low: float, high: float) -> int:
    """Return through which level a monotone piece leaves the band."""
    direction = a.slope + b.slope
    if direction > 0.0 and b.phi > high:
        return 1
    return -1 if direction < 0.0 and b.phi < low else 0


def _crossing(look: Callable[[float], Look], a: Look, b: Look, level: float) -> Look:
    """Return the crossing of a level on a monotone piece, by Newton's method kept within a bracket."""
    sign = 1.0 if b.phi > level else -1.0
    if sign * (a.phi - level) >= 0.0:
        return a
    here, change = b, inf
    while True:
        step = (level - here.phi) / here.slope if here.slope != 0.0 else inf
        if abs(step) <= _ROUND_OFF * b.tau:
            return here
        tau = here.tau + step
        if not a.tau < tau < b.tau or abs(step) > 0.5 * change:
            tau = 0.5 * (a.tau + b.tau)
        change = abs(tau - here.tau)
        if change <= _ROUND_OFF * b.tau or not a.tau < tau < b.tau:
            return here
        here = look(tau)
        if here.phi == level:
            return here
        if sign * (here.phi - level) > 0.0:
            b = here
        else:
            a = here
