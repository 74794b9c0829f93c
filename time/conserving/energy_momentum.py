"""The energy-momentum method: energy and both momenta to round-off, at any step that can be solved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from symplex.base.arguments import checked
from symplex.fem.energy import Array
from symplex.fem.kernels import kernel
from symplex.fem.system import System
from symplex.time.implicit.implicit import IMPLICIT, ImplicitIntegrator, ImplicitMotion
from symplex.time.implicit.small_steps import Scheme, impulsive


@checked
@final
@dataclass(frozen=True)
class EnergyMomentum(ImplicitIntegrator["EnergyMomentumMotion"]):
    """The midpoint rule with discrete gradients DG in place of gradients.

    q1 − q0 = dt (v0 + v1)/2,  M (v1 − v0) = dt [f(t_½, (q0 + q1)/2, (q1 − q0)/dt) − DG(q0, q1)]

    DG·(q1 − q0) = V(q1) − V(q0), taken in each energy (see `Energy.discrete_gradient`), so that what leaves V as it is
    (translations, rotations) leaves DG without resultant or moment as well. For two-point energies it is the method of
    LaBudde and Greenspan, eqs. 69, 75 of Simo and Gonzalez (1993), 6.2 of Graham and Jelenić (2006); for solids that
    of Simo and Tarnow (1992); for contact it conserves energy across opening and closing. A load that does work
    changes the energy by the work Σ f·(q1 − q0).

    A body in steady rotation at ω turns by 2 atan(ω dt/2) in a step.

    Parameters
    ----------
    dt : float
        Step in s.
    compensated : bool, default False
        Keep positions to twice the digits, where the last digit of a position is a large force: for stiff pairs, and
        for bodies far from the origin. Energy then stays far closer. Pairs, solids and contact with obstacles see them,
        other energies the rounded positions; so do the energies of a state, which scatter accordingly.
    newton : Newton, optional
        How the equations are solved.

    Raises
    ------
    ValueError
        If the step is not positive.
    """

    compensated: bool = False

    order = 2
    conserves = frozenset({"energy", "momentum", "angular momentum"})
    symmetric = True
    needs = frozenset({"gradient", "discrete_gradient"})
    takes = IMPLICIT | {"jumping supports", "massless nodes", "composition"}

    def _motion(self, system: System, t0: float, dt: float, n: int) -> EnergyMomentumMotion:
        return EnergyMomentumMotion(system, t0, dt, n, self)


@final
class EnergyMomentumMotion(ImplicitMotion):
    """A motion by the energy-momentum method; see `EnergyMomentum`.

    (2/h) M Δq + h DG(q0, q0 + Δq) − h f = 2 M v0
    """

    symmetric = False
    at = (0.5, 1.0)
    _by_ends = True

    def __init__(self, system: System, t0: float, dt: float, n: int, method: EnergyMomentum):
        super().__init__(system, t0, dt, n, method.newton)
        self._compensation = np.zeros_like(self._q) if method.compensated else None
        if method.compensated:
            self._by_ends = None

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that move, with the last digits of positions if they are kept."""
        return super().arrays() | ({} if self._compensation is None else {"compensation": self._compensation})

    def _begin(self, t: float, h: float) -> None:
        self._t, self._h = t, h
        size = abs(h)  # of a step back as well, so that the matrix is never negative
        self.inertia, self.impulse = 2.0 / size, size
        side = np.copysign(1.0, h)
        self.constant[...] = self.system.apply_mass(self._carry(2.0 * side * self._v, side * self._given_dv))

    def _scheme(self, h: float) -> Scheme:
        return impulsive(h, 1.0, 2.0 / abs(h), abs(h), 0.5, symmetric=False)

    def forces(self, dq: Array, out: Array) -> None:
        """Write DG(q0, q0 + Δq) − f to out."""
        if self._compensation is None:
            np.add(self._q, dq, out=self._buffer)
            self.system.discrete_gradient(self._q, self._buffer, out)
        else:
            self.system.increment_gradient(self._q, self._compensation, dq, out)
        self._subtract_loads(dq, out)

    def blocks(self, dq: Array, out: Array) -> None:
        """Write ∂DG/∂q1 to out."""
        np.add(self._q, dq, out=self._buffer)
        self.system.discrete_hessian_blocks(self._q, self._buffer, out)
        self._subtract_load_derivatives(dq, 0.5, 1.0 / self._h, out)

    def _loaded(self, dq: Array) -> tuple[float, Array, Array]:
        return self._t + 0.5 * self._h, self._q + 0.5 * dq, dq / self._h

    def _ends(self, dq: Array) -> tuple[Array, Array]:
        return self._q, self._q + dq

    def _finish(self, h: float, dq: Array, forces: Array) -> None:
        # From the forces, not as 2 Δq/h − v0: they sum to zero to round-off, while Δq has the error of the solution.
        if self._compensation is None:
            self._q += dq
        else:
            _add(self._q, self._compensation, dq)
        forces *= -h
        self._v += self._accelerated(forces, self._given_dv)
        massless = self.system.massless
        if massless.any():
            self._v[massless] = dq[massless] / h


@kernel
def _add(q, compensation, dq):
    """Add dq to the positions q + compensation; compensation is what their sum, rounded to q, has left over."""
    for n in range(q.shape[0]):
        for i in range(q.shape[1]):
            step = compensation[n, i] + dq[n, i]
            total = q[n, i] + step
            part = total - q[n, i]
            compensation[n, i] = (q[n, i] - (total - part)) + (step - part)
            q[n, i] = total
