"""Functions of time with their first two derivatives: how supports move."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.actions.histories import checked_table
from symplex.fem.assembly.copying import Copyable

Function = Callable[[float], float]

_BEYOND = 1e-9  # of its length, that a table may be left by: times are rounded


@checked
@final
@dataclass(frozen=True)
class TimeFunction(Copyable):
    """A number that changes with time, with its first and second derivative.

    From Python functions, `TimeFunction(value, rate, second)`; otherwise by one of its named constructors.

    Parameters
    ----------
    value, rate, second : callable
        u, du/dt and d²u/dt² as functions of t in s. Where u has a kink, the rate is that after it.
    smooth : bool, default True
        Whether the rate is continuous.
    span : (float, float), default from −∞ to ∞
        The times in s between which it is known.

    Examples
    --------
    >>> TimeFunction.table([0.0, 0.1, 0.3, 0.5], [0.0, 0.02, 0.01, 0.0])
    >>> TimeFunction(lambda t: 0.02 * sin(9 * t), lambda t: 0.18 * cos(9 * t), lambda t: -1.62 * sin(9 * t))
    >>> TimeFunction.differenced(lambda t: 0.02 * sin(9 * t), resolution=0.005)
    """

    value: Function
    rate: Function
    second: Function
    smooth: bool = True
    span: tuple[float, float] = (-math.inf, math.inf)

    def __repr__(self) -> str:
        kind = "smooth" if self.smooth else "with kinks"
        return f"TimeFunction({kind}, known from {self.span[0]:g} s to {self.span[1]:g} s)"

    @classmethod
    @checked
    def differenced(cls, value: Function, resolution: float) -> TimeFunction:
        """Return a function whose derivatives are central differences over five points.

        They err by δ⁴u⁽⁵⁾/30 and δ⁴u⁽⁶⁾/90: for an oscillation with δ = a hundredth of the period by 5e-7 and 2e-7 of
        their size. The function must be known two δ beyond the times of a run.

        Parameters
        ----------
        value : callable
            u as a smooth function of t in s.
        resolution : float
            The distance δ of the points in s.

        Raises
        ------
        InvalidSystem
            If the resolution is not positive.
        """
        h = float(resolution)
        if not (math.isfinite(h) and h > 0):
            raise InvalidSystem(f"TimeFunction: the resolution must be positive; it is {resolution} s.")
        return cls(value, partial(_first_difference, value, h), partial(_second_difference, value, h))

    @classmethod
    @checked
    def steady(cls, rate: float) -> TimeFunction:
        """Return u = rate · t.

        Raises
        ------
        InvalidSystem
            If the rate is not finite.
        """
        if not math.isfinite(rate):
            raise InvalidSystem(f"TimeFunction: the rate must be finite; it is {rate}.")
        rate = float(rate)
        return cls(partial(_line, rate, 0.0), partial(_line, 0.0, rate), partial(_line, 0.0, 0.0))

    @classmethod
    @checked
    def table(cls, times: ArrayLike, values: ArrayLike, *, smooth: bool = True) -> TimeFunction:
        """Return the function through given values.

        Parameters
        ----------
        times : float [k]
            In s, ascending, at least two.
        values : float [k]
        smooth : bool, default True
            Whether to take the cubic spline, whose second derivative is continuous (with not-a-knot ends), or straight
            lines, whose rate jumps at the times of the table.

        Raises
        ------
        InvalidSystem
            If times do not ascend, numbers differ, or one is not finite.
        """
        from scipy.interpolate import CubicSpline, PPoly

        t, u = _two_or_more(times, values)
        if smooth:
            return cls._piecewise(CubicSpline(t, u), smooth=True)
        return cls._piecewise(PPoly(np.array([np.diff(u) / np.diff(t), u[:-1]]), t), smooth=False)

    @classmethod
    @checked
    def of_accelerations(cls, times: ArrayLike, accelerations: ArrayLike) -> TimeFunction:
        """Return the function with a given second derivative, linear between given times: a record of an earthquake.

        It is integrated exactly, and begins with u = 0 and du/dt = 0. Records whose errors make the ground drift off
        must be corrected before.

        Parameters
        ----------
        times : float [k]
            In s, ascending, at least two.
        accelerations : float [k]

        Raises
        ------
        InvalidSystem
            As `table`.
        """
        from scipy.interpolate import PPoly

        t, a = _two_or_more(times, accelerations)
        return cls._piecewise(PPoly(np.array([np.diff(a) / np.diff(t), a[:-1]]), t).antiderivative(2), smooth=True)

    @classmethod
    def _piecewise(cls, u: Any, smooth: bool) -> TimeFunction:
        """Return a piecewise polynomial of scipy as a function."""
        span = float(u.x[0]), float(u.x[-1])
        value, rate, second = (partial(_inside, of, *span) for of in (u, u.derivative(), u.derivative(2)))
        return cls(value, rate, second, smooth, span)

    def scaled(self, factor: float) -> TimeFunction:
        """Return factor · u."""
        value, rate, second = (partial(_times, factor, of) for of in (self.value, self.rate, self.second))
        return TimeFunction(value, rate, second, self.smooth, self.span)

    def shifted(self, by: float) -> TimeFunction:
        """Return u(t − by): the same, later by a time in s."""
        if by == 0.0:
            return self
        value, rate, second = (partial(_later, by, of) for of in (self.value, self.rate, self.second))
        return TimeFunction(value, rate, second, self.smooth, (self.span[0] + by, self.span[1] + by))


# The functions that the named constructors are made of: at the top of the module, where pickles find them.


def _line(slope: float, constant: float, t: float) -> float:
    return slope * t + constant


def _times(factor: float, of: Function, t: float) -> float:
    return factor * of(t)


def _later(by: float, of: Function, t: float) -> float:
    return of(t - by)


def _first_difference(u: Function, h: float, t: float) -> float:
    return (8.0 * (u(t + h) - u(t - h)) - (u(t + 2 * h) - u(t - 2 * h))) / (12.0 * h)


def _second_difference(u: Function, h: float, t: float) -> float:
    middle = u(t)
    near, far = u(t + h) - middle + (u(t - h) - middle), u(t + 2 * h) - middle + (u(t - 2 * h) - middle)
    return (16.0 * near - far) / (12.0 * h * h)


def _inside(of: Function, first: float, last: float, t: float) -> float:
    beyond = _BEYOND * (last - first)
    if not first - beyond <= t <= last + beyond:
        raise StepFailed(
            f"its table goes from {first:.6g} to {last:.6g} s, but is asked at t = {t:.6g} s; let it go on."
        )
    return float(of(t))


def time_function(given: TimeFunction | tuple[ArrayLike, ArrayLike]) -> TimeFunction:
    """Return a function of time, or that through a table (times, values)."""
    if isinstance(given, TimeFunction):
        return given
    if callable(given):
        raise InvalidSystem(
            "a motion given by a Python function needs its velocity and acceleration as well: "
            "TimeFunction(value, rate, second), or TimeFunction.differenced(value, resolution)."
        )
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise InvalidSystem("a motion must be a TimeFunction or a table (times, values).")
    return TimeFunction.table(*given)


def _two_or_more(times: ArrayLike, values: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    t, u = checked_table("a motion", times, values, "values")
    if len(t) < 2:
        raise InvalidSystem("a motion: a table needs two times at least; it has one.")
    return t, u
