"""How loads change with time: a factor that is constant, a function of time, or a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import isfinite
from typing import cast, final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import described, is_real
from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.assembly.copying import Copyable
from symplex.fem.assembly.pattern import Array

# A constant factor, a function of t in s, or a table (times, factors).
History = float | Callable[[float], float] | tuple[ArrayLike, ArrayLike]

_SOONEST = 1e-100  # s between two times of a table: slopes must be numbers


class Factor(Copyable, ABC):
    """A factor as a function of time that is finite."""

    @abstractmethod
    def __call__(self, t: float) -> float:
        """Return the factor at the time t in s."""

    @abstractmethod
    def at(self, times: Array) -> Array:
        """Return the factors at times [n] in s: those before the first one that has none."""


def factor_of(history: History) -> Factor:
    """Return a history as a function of time that gives finite factors only."""
    if isinstance(history, Factor):
        return history
    if callable(history):
        return _Given(history)
    if is_real(history):
        return Constant(float(finite_numbers("history", [cast(float, history)])[0]))
    if not isinstance(history, Sequence) or len(history) != 2:
        raise InvalidSystem("a history must be a number, a function of t, or a table (times, factors).")
    times, factors = checked_table("history", *history, "factors")
    return _Interpolated(times, factors)


@final
@dataclass(frozen=True)
class Constant(Factor):
    """The same at all times."""

    factor: float

    def __call__(self, t: float) -> float:
        """Return the factor."""
        return self.factor

    def at(self, times: Array) -> Array:
        """Return the factor for each time."""
        return np.full(len(times), self.factor)


@final
@dataclass(frozen=True)
class _Given(Factor):
    """A user's function of time."""

    function: Callable[[float], float]

    def __call__(self, t: float) -> float:
        """Return what the function gives."""
        factor = float(self.function(t))
        if not isfinite(factor):
            raise StepFailed(f"the history of a load gives {factor} at t = {t:.6g} s.")
        return factor

    def at(self, times: Array) -> Array:
        """Return what the function gives, one call after the other; the step that needs what fails will report it."""
        found: list[float] = []
        with suppress(Exception):  # whatever a user's function raises
            found.extend(map(self, times.tolist()))
        return np.array(found, float)


@final
@dataclass(frozen=True)
class _Interpolated(Factor):
    """Straight lines between the numbers of a table, whose first and last one hold beyond it."""

    times: Array
    factors: Array

    def __call__(self, t: float) -> float:
        """Return the number on the line at t."""
        return float(np.interp(t, self.times, self.factors))

    def at(self, times: Array) -> Array:
        """Return the numbers on the lines."""
        return np.interp(times, self.times, self.factors)


def checked_table(owner: str, times: ArrayLike, values: ArrayLike, called: str) -> tuple[Array, Array]:
    """Return the times [k] and values [k] of a table as arrays; ``owner`` and ``called`` name it and its values."""
    t, u = finite_numbers(f"{owner}: times", times), finite_numbers(f"{owner}: {called}", values)
    if len(t) != len(u) or len(t) == 0:
        raise InvalidSystem(f"{owner}: there are {len(t)} times, but {len(u)} {called}.")
    back = np.flatnonzero(np.diff(t) <= _SOONEST)
    if len(back):
        raise InvalidSystem(
            f"{owner}: times must ascend, but {t[back[0]]:.6g} s is followed by {t[back[0] + 1]:.6g} s."
        )
    return t, u


def finite_numbers(name: str, values: ArrayLike) -> Array:
    """Return finite numbers [n]; `InvalidSystem` if they are not, by a sentence that begins with a name."""
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise InvalidSystem(f"{name} must be finite numbers; it is {described(values)}.") from None
    if array.ndim != 1 or np.iscomplexobj(values) or not np.all(np.isfinite(array)):
        raise InvalidSystem(f"{name} must be finite numbers; it is {described(values)}.")
    return array
