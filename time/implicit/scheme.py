"""One step of an implicit method as a table of numbers."""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

from symplex.time.solvers.newton import Newton


class Scheme(NamedTuple):
    """A step of size h: the equations of its increment Δq, and what follows from the forces F found with it.

    inertia M Δq + impulse F − momentum = 0,  momentum = M (by_v v0 + by_a a0 + by_own α0)
    a1 = −M⁻¹F,  α1 = own_a1 a1 + own_a0 a0 + own_own α0,  v1 = v0 + h [(1 − γ) α0 + γ α1]

    a are the accelerations of the state, α those that a method carries in addition.

    Attributes
    ----------
    alpha, inertia, impulse : float
        F is the gradient at q0 + alpha Δq, or the discrete gradient from q0 to q0 + Δq, less the loads; inertia in 1/s,
        impulse in s.
    discrete : bool
        Whether F is the discrete gradient.
    h, by_v, by_a, by_own, own_a1, own_a0, own_own, gamma : float
    seen, rate, seen_v, seen_own : float
        Loads are evaluated at q0 + seen Δq, the time t0 + seen h and the velocities seen_v v0 + seen_own α0 + rate Δq.
    work_at_ends : bool
        Whether the work of loads is that of the mean of their forces there and at the start, or of those there.
    """

    alpha: float
    inertia: float
    impulse: float
    discrete: bool
    h: float
    by_v: float
    by_a: float
    by_own: float
    own_a1: float
    own_a0: float
    own_own: float
    gamma: float
    seen: float
    rate: float
    seen_v: float
    seen_own: float
    work_at_ends: bool

    @property
    def carries(self) -> bool:
        """Whether the method carries accelerations α."""
        return self.gamma != 1.0 or self.own_a0 != 0.0 or self.own_own != 0.0 or self.by_own != 0.0


class OneStep(Protocol):
    """A method that is its scheme."""

    @property
    def newton(self) -> Newton:
        """How the equations are solved."""
        ...

    def scheme(self, h: float) -> Scheme:
        """Return a step of size h in s, of either sign."""
        ...


def impulsive(h: float, alpha: float, inertia: float, impulse: float, seen: float, discrete: bool) -> Scheme:
    """Return a scheme with v1 = v0 − h M⁻¹F, of a step h of either sign, whose equations have inertia M v0.

    Loads are evaluated at the part ``seen`` of the increment, with the mean velocity.
    """
    by_v = inertia * abs(h) * math.copysign(1.0, h)
    of_loads = seen, 1.0 / h, 0.0, 0.0, False
    return Scheme(alpha, inertia, impulse, discrete, h, by_v, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, *of_loads)


# What follows from a table, of numbers or of arrays: `symplex.time.implicit.implicit_loop` compiles these.


def by_mass(scheme, v0, a0, own0):
    """Return the momentum of the equations, by the mass."""
    return scheme.by_v * v0 + scheme.by_a * a0 + scheme.by_own * own0


def own_at_end(scheme, a1, a0, own0):
    """Return α1."""
    return scheme.own_a1 * a1 + scheme.own_a0 * a0 + scheme.own_own * own0


def change_of_v(scheme, own0, own1):
    """Return v1 − v0."""
    return scheme.h * ((1.0 - scheme.gamma) * own0 + scheme.gamma * own1)
