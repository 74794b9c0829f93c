"""The symplectic midpoint rule, and the family of first-order methods around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from symplex.base.arguments import checked
from symplex.fem.energy import Array
from symplex.fem.system import System
from symplex.time.implicit.implicit import IMPLICIT, ImplicitIntegrator, ImplicitMotion
from symplex.time.implicit.small_steps import Scheme, impulsive
from symplex.time.solvers.newton import Newton
from symplex.time.traits import Trait


@checked
@final
@dataclass(frozen=True)
class Midpoint(ImplicitIntegrator["MidpointMotion"]):
    """The midpoint rule, α = ½, or another symplectic member of the α-family of Simo and Gonzalez (1993), eqs. 69-72.

    q1 − q0 = dt M⁻¹ p_(1−α),  p1 − p0 = dt [f(t_α, q_α, (q1 − q0)/dt) − ∇V(q_α)],
    x_α = (1 − α) x0 + α x1

    All members keep both momenta and the symplectic form; α = ½ is of second order and symmetric, the others of first
    order. α = 0 and 1 are the two symplectic Euler methods. None is stable at any step for stiff nonlinear systems:
    α = ½ may gain energy without bound where it does not resolve the fast vibrations (section 4.4).

    Parameters
    ----------
    dt : float
        Step in s.
    alpha : float, default 0.5
        From 0 to 1.
    newton : Newton, optional
        How the equations are solved.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    alpha: float = 0.5

    conserves = frozenset({"momentum", "angular momentum", "symplectic form"})

    def __post_init__(self):
        super().__post_init__()
        if not 0.0 <= self.alpha <= 1.0:
            raise ValueError(f"Midpoint: alpha must be from 0 to 1; it is {self.alpha}.")

    @property
    def order(self) -> float:
        """2 for α = ½, else 1."""
        return 2 if self.alpha == 0.5 else 1

    @property
    def symmetric(self) -> bool:
        """Whether α = ½."""
        return self.alpha == 0.5

    @property
    def takes(self) -> frozenset[Trait]:
        """All but nodes without mass and constraints; only α = ½ can be composed."""
        more: set[Trait] = {"jumping supports", "composition"} if self.symmetric else {"jumping supports"}
        return IMPLICIT | more

    def _motion(self, system: System, t0: float, dt: float, n: int) -> MidpointMotion:
        return MidpointMotion(system, t0, dt, n, self.newton, self.alpha)


class MidpointRuleMotion(ImplicitMotion):
    """A motion whose steps are those of the midpoint rule with a parameter α.

    (1/h) M Δq + (1 − α) h [∇V(q0 + α Δq) − f] = M v0
    """

    symmetric = True
    _by_ends = False

    def __init__(self, system: System, t0: float, dt: float, n: int, newton: Newton, alpha: float):
        super().__init__(system, t0, dt, n, newton)
        self.alpha = alpha
        self.seen, self.at = (1.0, alpha), (alpha, alpha)
        self._seen_at = alpha

    def _begin(self, t: float, h: float) -> None:
        self._t, self._h = t, h
        size = abs(h)  # of a step back as well, so that the matrix is never negative
        self.inertia, self.impulse = 1.0 / size, (1.0 - self.alpha) * size
        side = np.copysign(1.0, h)
        change = side * (1.0 - self.alpha) * self._given_dv
        self.constant[...] = self.system.apply_mass(self._carry(side * self._v, change))

    def _scheme(self, h: float) -> Scheme:
        size = abs(h)
        return impulsive(h, self.alpha, 1.0 / size, (1.0 - self.alpha) * size, self.alpha, symmetric=self.symmetric)

    def _between(self, dq: Array) -> Array:
        """Return q_α."""
        np.multiply(dq, self.alpha, out=self._buffer)
        return np.add(self._q, self._buffer, out=self._buffer)

    def forces(self, dq: Array, out: Array) -> None:
        """Write ∇V(q_α) − f to out."""
        self.system.gradient(self._between(dq), out)
        self._subtract_loads(dq, out)

    def blocks(self, dq: Array, out: Array) -> None:
        """Write α ∇²V(q_α) to out."""
        self.system.hessian_blocks(self._between(dq), out)
        out *= self.alpha
        self._subtract_load_derivatives(dq, self.alpha, 1.0 / self._h, out)

    def _loaded(self, dq: Array) -> tuple[float, Array, Array]:
        return self._t + self.alpha * self._h, self._q + self.alpha * dq, dq / self._h

    def _finish(self, h: float, dq: Array, forces: Array) -> None:
        # From the forces and not from Δq, for their sum is zero to round-off.
        self._q += dq
        forces *= -h
        self._v += self._accelerated(forces, self._given_dv)


@final
class MidpointMotion(MidpointRuleMotion):
    """A motion by the midpoint rule; see `Midpoint`."""
