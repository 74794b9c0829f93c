"""The search for the size of a step at which its discrete energy has the required value."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from typing import final

import numpy as np

from symplex.errors import StepFailed
from symplex.fem.compiled.kernels import uncounted_kernel as kernel
from symplex.time.variational.variational import Attempt

EPS = 2.0**-52
ROUND_OFF = 4.0  # of the energies, in ε: what their sum may be off
ITERATIONS = 12  # of interpolation; three or four are usual
NEAR = 0.05  # relative difference of sizes up to which one solution starts from the other
STALLED = 2  # sizes without any gain after which it ends
# What may be left of h² |dE/d(h²)| where round-off ends the search: it is 1/2000 of a step. The round-off of positions
# far from the origin is more in an energy of small strains than that of their sum.
ROUGH = 1e-3
_DIVISIONS = 4  # of the way to each bound, when looking for a change of sign


@kernel
def inverse(f: float, a: float, g: float, b: float, k: float, c: float) -> float:
    """Return s at g = 0 of the parabola s(g) through three points (g, s); NaN if two have the same g."""
    if f in (g, k) or g == k:
        return math.nan
    return a * g * k / ((f - g) * (f - k)) + b * f * k / ((g - f) * (g - k)) + c * f * g / ((k - f) * (k - g))


def interpolation(excess, is_exact):
    """Return the search by interpolation, made of functions of what it is for: to be run as it is, or compiled.

    ``excess(p, h)`` returns E(h) less the required energy, NaN where there is no step; ``is_exact(p)`` whether the best
    step so far has this energy to round-off.
    """

    def run(p, h, first, low, high, still, slope):
        """Interpolate h² as a function of E by parabolas, from the excess of a first size, until excesses fall no more.

        See `StepSearch.nearest`.
        """
        rise, s = first - still, h * h
        if slope * rise == 0.0:
            return
        # s = x/slope + bend (x/rise)², x = g − still: through h = 0 with the slope there, and the first size
        bend = s - rise / slope
        following = -still / slope + bend * (still / rise) ** 2
        rate = 1.0 / slope - 2.0 * bend * still / rise**2  # ds/dg at g = 0
        # Of the last three points: their excesses and sizes
        f, a, g, b, k, c, points = still, 0.0, first, s, 0.0, 0.0, 2
        least, stalled = abs(first), 0
        for _ in range(ITERATIONS):
            if not low * low <= following <= high * high:
                return
            new = excess(p, math.sqrt(following))
            if is_exact(p) or math.isnan(new):
                return
            if abs(new) < least:
                if points > 2:
                    f, a, g, b = g, b, k, c
                k, c, points = new, following, 3
                least, stalled = abs(new), 0
                following = inverse(f, a, g, b, k, c)
            else:  # at the end excesses are round-off, from which nothing can be interpolated
                stalled += 1
                following -= rate * new
            if stalled == STALLED:
                return

    return run


@final
class StepSearch:
    """Looks for the size h of a step for which its discrete energy E(h) is the required one.

    Parameters
    ----------
    solve : callable
        Returns the step of a size in s, with one of nearly the same size to begin with, or None; raises `StepFailed`
        where there is none.
    requested : float
        The discrete energy in J.

    Attributes
    ----------
    attempts, corrections : int
        Steps solved, and what Newton's method took for them.
    """

    def __init__(self, solve: Callable[[float, Attempt | None], Attempt], requested: float):
        self._solve = solve
        self._requested = requested
        self.attempts = self.corrections = 0
        self._best: tuple[float, Attempt] | None = None
        self._enough = 0.0

    def excess(self, h: float) -> float:
        """Return E(h) less the required energy in J, NaN where the step cannot be solved."""
        near = self._found
        try:
            attempt = self._solve(h, near if near is not None and abs(h / near.h - 1.0) < NEAR else None)
        except StepFailed:
            return math.nan
        self.attempts += 1
        self.corrections += attempt.corrections
        excess = attempt.before - self._requested
        if self._best is None or abs(excess) < abs(self._best[0]):
            self._best = excess, attempt
        return excess

    def nearest(self, guess: float, low: float, high: float, still: float, slope: float) -> Attempt | None:
        """Return the step that interpolation leads to from a guess, or else the one nearest to it.

        Parameters
        ----------
        guess, low, high : float
            In s, in this order: low, guess, high.
        still : float
            E(0) less the required energy in J.
        slope : float
            dE/d(h²) at h = 0 in J/s².

        Returns
        -------
        Attempt or None
            With the required energy as closely as round-off lets it be, if there is one from low to high.
        """
        self._enough = ROUGH * abs(slope) * guess * guess
        first = self.excess(guess)
        if self._is_exact():
            return self._found
        if math.isfinite(first):
            _interpolate(self, guess, first, low, high, still, slope)
            if self._near:
                return self._found
        bracket = self._bracket(guess, first, low, high)
        if bracket is not None:
            self._between(*bracket)
            if self._near:
                return self._found
        return None

    # -- inside ---------------------------------------------------------------------------------------------

    @property
    def _found(self) -> Attempt | None:
        return None if self._best is None else self._best[1]

    def _is_exact(self) -> bool:
        """Whether the best step so far has the required energy to the round-off of a sum."""
        return self._best is not None and abs(self._best[0]) <= ROUND_OFF * EPS * self._best[1].size

    @property
    def _near(self) -> bool:
        """Whether what is left, where no size is better, is little next to what decides on the size."""
        return self._is_exact() or (self._best is not None and abs(self._best[0]) <= self._enough)

    def _bracket(self, h: float, excess: float, low: float, high: float) -> tuple[float, float] | None:
        """Return two sizes between which E(h) passes the required energy, the nearest ones to h."""
        up, down = [(h, excess)], [(h, excess)]
        ways = [(way, bound) for way, bound in ((down, low), (up, high)) if bound != h]
        for n in range(1, _DIVISIONS + 1):
            for way, bound in ways:
                last, before = way[-1]
                if n > 1 and math.isnan(before):
                    continue  # the one before could not be solved
                size = h * (bound / h) ** (n / _DIVISIONS)
                way.append((size, self.excess(size)))
                if before * way[-1][1] <= 0.0:
                    return last, size
        return self._dip([point for point in [*reversed(down[1:]), *up] if math.isfinite(point[1])])

    def _dip(self, points: list[tuple[float, float]]) -> tuple[float, float] | None:
        """Return two sizes around a change of sign at the least of the excesses, all of one sign, or None."""
        if len(points) < 3:
            return None
        least = min(range(len(points)), key=lambda i: abs(points[i][1]))
        if least in (0, len(points) - 1):
            return None
        (a, of_a), (b, of_b), (c, of_c) = points[least - 1 : least + 2]
        for _ in range(ITERATIONS):
            # The least of the parabola through the three
            d, of_d = _vertex(a, b, c, of_a, of_b, of_c)
            if of_b * of_d > 0.25 * of_b * of_b or not a < d < c or d == b:
                return None  # it does not come near zero
            of_d = self.excess(d)
            if of_b * of_d <= 0.0:
                return min(b, d), max(b, d)
            if abs(of_d) < abs(of_b):
                a, of_a, b, of_b, c, of_c = (a, of_a, d, of_d, b, of_b) if d < b else (b, of_b, d, of_d, c, of_c)
            elif d < b:
                a, of_a = d, of_d
            else:
                c, of_c = d, of_d
        return None

    def _between(self, a: float, b: float) -> None:
        """Narrow two sizes down to round-off."""
        from scipy.optimize import brentq

        with suppress(ValueError):  # where there is no step between, or round-off has changed a sign; `_near` shows
            brentq(self.excess, a, b, xtol=4 * EPS * a, rtol=np.float64(4 * EPS))


_interpolate = interpolation(StepSearch.excess, StepSearch._is_exact)


def _vertex(a: float, b: float, c: float, of_a: float, of_b: float, of_c: float) -> tuple[float, float]:
    """Return where the parabola through three points has its extremum, and its value there; NaN for a line."""
    left, right = (of_b - of_a) / (b - a), (of_c - of_b) / (c - b)
    curvature = (right - left) / (c - a)
    if curvature == 0.0:
        return math.nan, math.nan
    slope = left + curvature * (b - a)  # at b
    return b - 0.5 * slope / curvature, of_b - 0.25 * slope * slope / curvature
