"""Newmark's family with implicit steps, and its relatives with numerical damping: HHT-α and generalised-α."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from symplex.base.arguments import checked
from symplex.fem.energy import Array
from symplex.fem.system import System
from symplex.time.implicit.implicit import ImplicitIntegrator, ImplicitMotion
from symplex.time.implicit.small_steps import Scheme
from symplex.time.solvers.newton import Newton


class Coefficients(NamedTuple):
    """What tells the members of the family apart."""

    alpha_m: float
    alpha_f: float
    beta: float
    gamma: float


@checked
@final
@dataclass(frozen=True)
class GeneralizedAlpha(ImplicitIntegrator["GeneralizedAlphaMotion"]):
    """The generalised-α method of Chung and Hulbert (1993): second order, with damping of unresolved frequencies.

    q1 = q0 + dt v0 + dt² [(½ − β) a0 + β a1],  v1 = v0 + dt [(1 − γ) a0 + γ a1],
    M [(1 − α_m) a1 + α_m a0] = (1 − α_f) F1 + α_f F0,  F = f(t, q, v) − ∇V(q)

    α_m = (2ρ − 1)/(ρ + 1),  α_f = ρ/(ρ + 1),  β = ¼ (1 − α_m + α_f)²,  γ = ½ − α_m + α_f

    with ρ the factor by which a step reduces what is very fast. The accelerations a are its own; those of the states
    are M⁻¹F. It is stable at any step for linear systems; for nonlinear ones there is no bound on energy.

    Parameters
    ----------
    dt : float
        Step in s.
    rho_inf : float, default 0.8
        ρ from 0 (what is very fast is gone after one step) to 1 (no damping).
    newton : Newton, optional
        How the equations are solved.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    rho_inf: float = 0.8

    order = 2
    conserves = frozenset({"momentum"})
    symmetric = False

    def __post_init__(self):
        super().__post_init__()
        if not 0.0 <= self.rho_inf <= 1.0:
            raise ValueError(f"GeneralizedAlpha: rho_inf must be from 0 to 1; it is {self.rho_inf}.")

    @property
    def coefficients(self) -> Coefficients:
        """α_m, α_f, β and γ."""
        rho = self.rho_inf
        return _second_order((2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0))

    def _motion(self, system: System, t0: float, dt: float, n: int) -> GeneralizedAlphaMotion:
        return GeneralizedAlphaMotion("GeneralizedAlpha", system, t0, dt, n, self.coefficients, self.newton)


@checked
@final
@dataclass(frozen=True)
class HilberHughesTaylor(ImplicitIntegrator["GeneralizedAlphaMotion"]):
    """The HHT-α method of Hilber, Hughes and Taylor (1977): generalised-α with α_m = 0 and α_f = −α.

    M a1 = (1 + α) F1 − α F0,  β = (1 − α)²/4,  γ = ½ − α

    Parameters
    ----------
    dt : float
        Step in s.
    alpha : float, default -0.05
        From −1/3 (most damping) to 0 (the trapezoidal rule).
    newton : Newton, optional
        How the equations are solved.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    alpha: float = -0.05

    order = 2
    conserves = frozenset({"momentum"})
    symmetric = False

    def __post_init__(self):
        super().__post_init__()
        if not -1.0 / 3.0 <= self.alpha <= 0.0:
            raise ValueError(f"HilberHughesTaylor: alpha must be from -1/3 to 0; it is {self.alpha}.")

    @property
    def coefficients(self) -> Coefficients:
        """α_m, α_f, β and γ."""
        return _second_order(0.0, -self.alpha)

    def _motion(self, system: System, t0: float, dt: float, n: int) -> GeneralizedAlphaMotion:
        return GeneralizedAlphaMotion("HilberHughesTaylor", system, t0, dt, n, self.coefficients, self.newton)


def _second_order(alpha_m: float, alpha_f: float) -> Coefficients:
    """Return the coefficients with the γ of second order and the β of most damping of what is very fast."""
    shift = alpha_f - alpha_m
    return Coefficients(alpha_m, alpha_f, 0.25 * (1.0 + shift) ** 2, 0.5 + shift)


@final
class GeneralizedAlphaMotion(ImplicitMotion):
    """A motion by a method of the family; see `GeneralizedAlpha`.

    With a1 by Δq, and the true accelerations b0 = M⁻¹F0, times h:

    (1 − α_m)/(β h) M [Δq − h v0 − h² (½ − β) a0] + h M (α_m a0 − α_f b0) − (1 − α_f) h F1 = 0
    """

    symmetric = True
    _by_ends = False

    def __init__(
        self,
        name: str,
        system: System,
        t0: float,
        dt: float,
        n: int,
        coefficients: Coefficients,
        newton: Newton,
    ):
        self.name = name
        super().__init__(system, t0, dt, n, newton)
        self.coefficients = coefficients
        self._own_a = np.zeros_like(self._a)
        self._own_accelerations = self._a, self._own_a
        self._given_a = np.zeros_like(self._given_dv)  # accelerations of the supports at the end of the step

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that move, with the accelerations of the method's own."""
        return super().arrays() | {"own_a": self._own_a}

    def _scheme(self, h: float) -> Scheme:
        alpha_m, alpha_f, beta, gamma = self.coefficients
        size = abs(h)
        inertia, rest = (1.0 - alpha_m) / (beta * size), 1.0 / (1.0 - alpha_m)
        by = inertia * h, size * alpha_f, inertia * h * h * (0.5 - beta) - size * alpha_m
        own_of = (1.0 - alpha_f) * rest, alpha_f * rest, -alpha_m * rest
        # Loads see q1, and v1 = v0 + h [(1 − γ) α0 + γ α1] with α1 = [Δq − h v0 − h² (½ − β) α0]/(β h²).
        part = gamma / beta
        seen = 1.0, part / h, 1.0 - part, h * (1.0 - 0.5 * part), True
        return Scheme(1.0, inertia, (1.0 - alpha_f) * size, self.symmetric, h, *by, *own_of, gamma, *seen)

    def begin(self, q: Array, v: Array) -> None:
        """Take positions and velocities [n, dim] of the start, and find all else that moves."""
        super().begin(q, v)
        self._own_a[...] = self._a

    def _begin(self, t: float, h: float) -> None:
        self._t, self._h = t, h
        if self._moving:
            self._given_a = self._moving.accelerations(t + h)
        alpha_m, alpha_f, beta, _ = self.coefficients
        size = abs(h)  # of a step back as well, so that the matrix is never negative
        self.inertia = (1.0 - alpha_m) / (beta * size)
        self.impulse = (1.0 - alpha_f) * size
        self._predicted = h * self._v + h * h * (0.5 - beta) * self._own_a
        impulse = self.inertia * self._predicted + size * (alpha_f * self._a - alpha_m * self._own_a)
        self.constant[...] = self.system.apply_mass(self._carry(impulse, (1.0 - alpha_f) * size * self._given_a))

    def forces(self, dq: Array, out: Array) -> None:
        """Write −F1 to out."""
        q = np.add(self._q, dq, out=self._buffer)
        self.system.gradient(q, out)
        self._subtract_loads(dq, out)

    def _loaded(self, dq: Array) -> tuple[float, Array, Array]:
        h = self._h
        own_a = (dq - self._predicted) / (self.coefficients.beta * h * h)
        return self._t + h, self._q + dq, self._velocity(h, own_a)

    def _works_of_loads(self, h: float, dq: Array) -> list[float]:
        """Return the work in J of each load in a step, of its mean force at the ends."""
        return [self.system.dot(force, dq) for force in self._mean_loads(dq)]

    def _forces_of_supports(self, dq: Array, forces: Array) -> Array:
        """Return the mean forces [n, dim] in N at the ends of a step."""
        q1 = self._q + dq
        ends = self.system.gradient(self._q) + self.system.gradient(q1)
        self._internal.subtract_forces(self._q, self._q, 0.0, ends, mean=False)
        self._internal.subtract_forces(self._q, q1, self._h, ends, mean=False)
        return 0.5 * ends - sum(self._mean_loads(dq))

    def _mean_loads(self, dq: Array) -> list[Array]:
        """Return the mean [n, dim] of each load at the ends of the step."""
        t, q, v = self._loaded(dq)
        return [0.5 * (load(self._t, self._q, self._v) + load(t, q, v)) for load in self._work.loads]

    def blocks(self, dq: Array, out: Array) -> None:
        """Write ∇²V(q1) to out."""
        self.system.hessian_blocks(np.add(self._q, dq, out=self._buffer), out)
        by_v = self.coefficients.gamma / (self.coefficients.beta * self._h)
        self._subtract_load_derivatives(dq, 1.0, by_v, out)

    def _velocity(self, h: float, own_a: Array) -> Array:
        gamma = self.coefficients.gamma
        v = self._v + h * ((1.0 - gamma) * self._own_a + gamma * own_a)
        return np.where(self._moving.mask, self._v + self._given_dv, v) if self._moving else v

    def _finish(self, h: float, dq: Array, forces: Array) -> None:
        # a1 from the forces, not from Δq, whose error would be divided by h².
        alpha_m, alpha_f, _, _ = self.coefficients
        a = self._accelerated(np.negative(forces, out=forces), self._given_a)
        own_a = ((1.0 - alpha_f) * a + alpha_f * self._a - alpha_m * self._own_a) / (1.0 - alpha_m)
        if self._moving:
            np.copyto(own_a, a, where=self._moving.mask)
        self._q += dq
        self._v[...] = self._velocity(h, own_a)
        self._a[...] = a
        self._own_a[...] = own_a
        for carried in (self._v, self._a, self._own_a):  # which the loads of the next step see
            self.system.share(carried)

    def observe(self, t: float) -> None:
        """Nothing: the accelerations are there."""
