"""States between the steps, and the moments at which something happens."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast, final

import numpy as np

from symplex.base.arguments import checked
from symplex.base.representation import Described
from symplex.fem.energies.energy import Array
from symplex.fem.system import State

# On [0, 1], by the powers 0 to 5 of the time: the polynomials that are 0 at the start, with the value 1 for one of
# v0, a0, a1, v1, q1 and 0 for the others.
_BASIS = np.array(
    [
        [0.0, 1.0, 0.0, -6.0, 8.0, -3.0],
        [0.0, 0.0, 0.5, -1.5, 1.5, -0.5],
        [0.0, 0.0, 0.0, 0.5, -1.0, 0.5],
        [0.0, 0.0, 0.0, -4.0, 7.0, -3.0],
        [0.0, 0.0, 0.0, 10.0, -15.0, 6.0],
    ]
)
_EXPONENTS = np.arange(6)


@final
@checked
class Interpolant(Described):
    """The motion between two states: the quintic polynomials with the positions, velocities and accelerations of both.

    For a motion that is smooth in between, the error is of sixth order in the interval for positions, fifth for
    velocities, fourth for accelerations, besides that of the states. States of every integrator will do, next to each
    other or not; in contact that opens or closes the motion is less smooth.

    Parameters
    ----------
    start, end : State
    """

    def __init__(self, start: State, end: State):
        self.start, self.end = start, end
        self._h = h = end.t - start.t
        values = [h * start.v, h * h * start.a, h * h * end.a, h * end.v, end.q - start.q]
        self._coefficients = np.tensordot(_BASIS.T, np.array(values), 1)  # [power, n, dim]

    def __call__(self, t: float) -> State:
        """Return the state at the time t in s, which should be between the two."""
        if self._h == 0.0:
            return self.start
        x = (t - self.start.t) / self._h
        q, v, a = (self._derivative(x, k) / self._h**k for k in range(3))
        return State(float(t), self.start.q + q, v, a)

    def _derivative(self, x: float, k: int) -> Array:
        factors = np.ones(6)  # n (n − 1) … of x^n, which are 0 for the powers that vanish
        for j in range(k):
            factors *= _EXPONENTS - j
        powers = x ** np.maximum(_EXPONENTS - k, 0)
        return np.tensordot(factors * powers, self._coefficients, 1)


@checked
def locate(event: Callable[[State], float], start: State, end: State, samples: int = 8) -> State | None:
    """Return the state at which a function of the state first changes its sign, or None if it does not.

    Parameters
    ----------
    event : callable
        A continuous function of a `State`, such as a gap, or q·v at an apsis. Zero at the start doesn't count.
    start, end : State
        Two states of a motion, usually one step apart.
    samples : int, default 8
        Parts of the interval in which changes of sign are looked for: two in one part are not seen.

    Returns
    -------
    State or None
        On the `Interpolant`, at the time of the change to round-off.

    Raises
    ------
    ValueError
        If there are no parts.
    """
    if samples < 1:
        raise ValueError(f"locate: samples must be at least 1; it is {samples}.")
    from scipy.optimize import brentq

    between = Interpolant(start, end)
    times = np.linspace(start.t, end.t, samples + 1)
    before, value = start.t, event(start)
    for t in times[1:]:
        following = event(between(t))
        if following == 0.0 or value * following < 0.0:
            if following != 0.0:
                t = brentq(lambda s: event(between(s)), before, t, xtol=4 * np.spacing(abs(t)))
            return between(cast(float, t))
        before, value = t, following
    return None
