"""The functions that laws are made of, without branches; not a number where they have no value."""

from __future__ import annotations

from math import inf, nan

from symplex.fem.compiled.exponential import exp as exponential
from symplex.fem.compiled.kernels import inlined
from symplex.fem.compiled.logarithm import log as logarithm

_LEAST = 2.2250738585072014e-308  # the least normal double


@inlined
def exp(x: float) -> float:
    """Return eˣ."""
    return exponential(x)


@inlined
def log(x: float) -> float:
    """Return ln x; not a number where x is not positive and finite."""
    y = logarithm(x)
    return y if _LEAST <= x < inf else nan


@inlined
def power(x: float, n: float) -> float:
    """Return xⁿ for x ≥ 0, within about |n ln x| units in the last place; not a number for negative x."""
    y = exponential(n * log(x))
    y = 1.0 if n == 0.0 else y
    return 0.0 if x == 0.0 and n > 0.0 else y


@inlined
def positive(x: float) -> float:
    """Return the positive part of x."""
    return 0.0 if x < 0.0 else x


@inlined
def step(x: float) -> float:
    """Return the slope of the positive part of x; at 0 that to its right."""
    return 0.0 if x < 0.0 else 1.0
