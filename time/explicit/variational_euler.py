"""The variational Euler method: the symplectic method with the fewest operations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from symplex.base.arguments import checked
from symplex.errors import StepFailed, UnstableStep
from symplex.fem.energy import Array
from symplex.fem.system import State, System
from symplex.time.implicit.implicit import dividing, retold, with_work
from symplex.time.integrator import FixedStepIntegrator, FixedStepMotion, require_step, stored_grid
from symplex.time.stability import stable_step


@checked
@final
@dataclass(frozen=True)
class VariationalEuler(FixedStepIntegrator):
    """The explicit Euler method of variational integrators, also called symplectic Euler.

    v1 = v0 + dt M⁻¹ [f(t0, q0, v0) − ∇V(q0)],    q1 = q0 + dt v1

    which follows from the discrete Lagrangian dt [½ (q1 − q0)·M (q1 − q0)/dt² − V(q0)]. It is symplectic and keeps both
    momenta, but is of first order and not symmetric. Its positions are those of velocity Verlet (`Newmark`) from
    velocities that are less by half a step of force: the same method by the same work, with velocities taken at another
    moment. So take velocity Verlet, unless a comparison is wanted: Tao and Owhadi, Variational and linearly-implicit
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
    changing_stencils = True

    def __post_init__(self):
        require_step(self, self.dt)

    def start(self, system: System, state: State) -> VariationalEulerMotion:
        """Return the motion that begins at the positions and velocities of a state; fixed coordinates are at rest.

        Raises
        ------
        UnstableStep
            If dt is above the stability limit.
        InvalidSystem
            If the mass is not lumped, or supports move.
        """
        self._check_step(system, state)
        motion = VariationalEulerMotion(system, state.t, self.dt, 0)
        motion.begin(state.q, np.where(system.fixed, 0.0, state.v))
        return motion

    def resume(self, system: System, checkpoint: Mapping[str, np.ndarray]) -> VariationalEulerMotion:
        """Return the motion that goes on from a checkpoint, bit-identically, with the step stored there."""
        motion = VariationalEulerMotion(system, *stored_grid(checkpoint))
        motion._restore(checkpoint)
        return motion

    def fit(self, system: System, state: State, interval: float) -> VariationalEuler:
        """Return the method with the largest step not above its own that divides an interval in s.

        Raises
        ------
        UnstableStep, InvalidSystem
            As `start`.
        """
        fitted = replace(self, dt=dividing(self.dt, interval))
        fitted._check_step(system, state)
        return fitted

    def _check_step(self, system: System, state: State) -> None:
        system.lumped_mass("VariationalEuler")
        limit = stable_step(system, state.q)
        if self.dt > limit:
            raise UnstableStep(
                f"dt = {self.dt:.4g} s is above the stability limit of the variational Euler method, {limit:.4g} s. "
                f"Try dt = {0.8 * limit:.3g} s."
            )


@final
class VariationalEulerMotion(FixedStepMotion):
    """A motion by the variational Euler method; see `VariationalEuler`."""

    def __init__(self, system: System, t0: float, dt: float, n: int = 0):
        super().__init__(system, t0, dt, n)
        shape = (system.n_nodes, system.dim)
        self._inverse_mass = np.where(system.fixed, 0.0, 1.0 / system.lumped_mass("VariationalEuler")[:, None])
        self._q, self._v, self._a, self._gradient = (np.zeros(shape) for _ in range(4))
        self._loads = list(system.loads.values())
        # The force of each load at present, and its work since the start
        self._acting, self._works = np.zeros((len(self._loads), *shape)), np.zeros(len(self._loads))

    def _arrays(self) -> dict[str, np.ndarray]:
        arrays = {"q": self._q, "v": self._v, "a": self._a}
        return arrays | ({"acting": self._acting, "work": self._works} if self._loads else {})

    def begin(self, q: Array, v: Array) -> None:
        """Take the positions and velocities [n, dim] of the start, and find the first accelerations."""
        self._q[...], self._v[...] = q, v
        self._accelerate(self.t)

    def _accelerate(self, t: float) -> None:
        """Find the accelerations at the present positions and velocities."""
        self.system.gradient(self._q, self._gradient)
        for force, load in zip(self._acting, self._loads, strict=True):
            force[...] = load(t, self._q, self._v)
            self._gradient -= force
        np.multiply(self._gradient, -self._inverse_mass, out=self._a)

    def _run(self, n_steps: int) -> None:
        try:
            for _ in range(n_steps):
                self._v += self.dt * self._a
                dq = self.dt * self._v
                self._q += dq
                self._works += [float(np.vdot(force, dq)) for force in self._acting]
                self._accelerate(self.t0 + (self.n + 1) * self.dt)
                self.n += 1
        except StepFailed as error:
            t = self.t0 + (self.n + 1) * self.dt
            raise retold(error, f"VariationalEuler stopped at t = {t:.6g} s (dt = {self.dt:.4g} s): {error}") from None

    def energies(self, state: State) -> dict[str, float]:
        """Return the energies in J, and the work of loads, by their forces at the beginnings of steps.

        See `symplex.time.implicit.implicit.ImplicitMotion.energies`.
        """
        return with_work(self.system, self.system.energies_of(state), self._works)
