"""The variational Euler method: the symplectic method with the fewest operations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from symplex.base.arguments import checked
from symplex.errors import UnstableStep
from symplex.fem.system import State, System
from symplex.time.integrator import FixedStepIntegrator, require_step
from symplex.time.motion import FixedStepMotion
from symplex.time.stability import stable_step


@checked
@final
@dataclass(frozen=True)
class VariationalEuler(FixedStepIntegrator["VariationalEulerMotion"]):
    """The explicit Euler method of variational integrators, also called symplectic Euler.

    v1 = v0 + dt M⁻¹ [f(t0, q0, v0) − ∇V(q0)],    q1 = q0 + dt v1

    which follows from the discrete Lagrangian dt [½ (q1 − q0)·M (q1 − q0)/dt² − V(q0)]. It is symplectic and keeps both
    momenta, but is of first order and not symmetric. Its positions are those of velocity Verlet (`Newmark`) from
    velocities that are less by half a step of force: the same method by the same work, with velocities taken at another
    moment. So take velocity Verlet, unless a comparison is requested: Tao and Owhadi, Variational and linearly-implicit
    integrators, with applications (2014), run this method on systems with penalties.

    Parameters
    ----------
    dt : float
        Step in s, below the stability limit of velocity Verlet.

    Raises
    ------
    ValueError
        If the step is not positive.
    """

    dt: float

    order = 1
    conserves = frozenset({"momentum", "angular momentum", "symplectic form"})
    symmetric = False
    takes = frozenset({"supports", "loads", "changing stencils", "thermostat"})

    def __post_init__(self):
        require_step(self, self.dt)

    def _motion(self, system: System, t0: float, dt: float, n: int) -> VariationalEulerMotion:
        return VariationalEulerMotion(system, t0, dt, n)

    def _step_size(self, system: System, state: State) -> float:
        limit = stable_step(system, state.q)
        if self.dt > limit:
            raise UnstableStep(
                f"dt = {self.dt:.4g} s is above the stability limit of the variational Euler method, {limit:.4g} s. "
                f"Try dt = {0.8 * limit:.3g} s."
            )
        return self.dt


@final
class VariationalEulerMotion(FixedStepMotion):
    """A motion by the variational Euler method; see `VariationalEuler`."""

    loads_at_ends = True

    def __init__(self, system: System, t0: float, dt: float, n: int = 0):
        super().__init__(system, t0, dt, n)
        self._inverse_mass = np.where(system.fixed, 0.0, 1.0 / np.asarray(system.mass)[:, None])
        self._gradient = np.zeros_like(self._q)

    def _step(self, t: float, h: float) -> None:
        self._v += h * self._a
        dq = h * self._v
        self._q += dq
        self._work.add_loads([self.system.dot(force, dq) for force in self._work.acting])
        self.system.gradient(self._q, self._gradient)
        if self._work:
            self._gradient -= self._work.evaluate(t + h, self._q, self._v)
        np.multiply(self._gradient, -self._inverse_mass, out=self._a)

    def observe(self, t: float) -> None:
        """Nothing: the accelerations are there."""
