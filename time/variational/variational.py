"""The variational midpoint rule with forces, step by step of any size, and its discrete energy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from symplex.base.arguments import checked
from symplex.fem.energies.energy import Array
from symplex.fem.system import State, System
from symplex.time.implicit.implicit import IMPLICIT, IMPLICIT_COLUMNS, ImplicitIntegrator, ImplicitMotion
from symplex.time.implicit.implicit_loop import CompiledSteps
from symplex.time.implicit.midpoint import Midpoint
from symplex.time.implicit.scheme import Scheme
from symplex.time.steps import Steps
from symplex.time.totals import DISCRETE_ENERGY


@checked
@final
@dataclass(frozen=True)
class VariationalMidpoint(ImplicitIntegrator):
    """The forced variational integrator of the midpoint Lagrangian, in steps of one size.

    L_d = dt [½ vᵀ M v − V(q_m)],  f_d⁺ = f_d⁻ = (dt/2) f(t_m, q_m, v),
    q_m = (q0 + q1)/2,  v = (q1 − q0)/dt,  t_m = t0 + dt/2

    It is the midpoint rule, and keeps what that keeps: both momenta, and the symplectic form where there are no loads.
    Besides, it shows the discrete energy of its steps, which a fixed step does not conserve and `AdaptiveVariational`
    does: at the end of a step E1 = ½ vᵀ M v + V(q_m) + ½ W, at its beginning E0 = E1 − W, with the work of the loads
    W = f_m·(q1 − q0). From Sharma, Patil and Woolsey (2019), eqs. 32-36 (E1 is their eq. 33; 37 is misprinted).

    Parameters
    ----------
    dt : float
        Step in s.
    newton : Newton, optional
        How the equations are solved.

    Raises
    ------
    ValueError
        If the step is not positive.
    """

    kind = "variational-midpoint"
    order = 2
    conserves = frozenset({"momentum", "angular momentum", "symplectic form"})
    symmetric = True
    columns = (*IMPLICIT_COLUMNS, DISCRETE_ENERGY)
    takes = IMPLICIT - {"moving supports", "internal variables", "history", "frames"} | {"composition"}

    def scheme(self, h: float) -> Scheme:
        """Return (1/h) M Δq + (h/2) [∇V(q0 + Δq/2) − f] = M v0."""
        return Midpoint(abs(h)).scheme(h)

    def _motion(self, system: System, t0: float, dt: float, n: int) -> VariationalMidpointMotion:
        return VariationalMidpointMotion(self, system, t0, dt, n)


@final
@dataclass(frozen=True)
class Attempt:
    """A step of some size that was solved but not yet taken.

    Attributes
    ----------
    h : float
        Its size in s.
    dq, forces : float64 [n, dim]
        The increment in m, and ∇V − f at the midpoint in N (zero where fixed).
    middle : float
        ½ vᵀ M v + V(q_m) in J.
    size : float
        The sum of the absolute values of the energies in J, which round-off is proportional to.
    work : list of float
        The work of each load in J.
    corrections : int
        How many Newton's method took.
    """

    h: float
    dq: Array
    forces: Array
    middle: float
    size: float
    work: list[float]
    corrections: int

    @property
    def before(self) -> float:
        """The discrete energy in J at the beginning of the step."""
        return self.middle - 0.5 * sum(self.work)

    @property
    def after(self) -> float:
        """The discrete energy in J at the end of the step."""
        return self.middle + 0.5 * sum(self.work)


@final
class VariationalMidpointMotion(ImplicitMotion):
    """A motion by the variational midpoint rule; see `VariationalMidpoint`."""

    def __init__(self, method: VariationalMidpoint, system: System, t0: float, dt: float, n: int = 0):
        super().__init__(method, system, t0, dt, n)
        self._discrete = np.full(1, np.nan)  # at the end of the last step, if there was one

    # -- a step of any size -----------------------------------------------------------------------------------

    def attempt(self, t: float, h: float, near: Attempt | None = None) -> Attempt:
        """Return the step of size h in s from the time t, without taking it.

        Newton's method starts at zero, or from the increment of another step from there of nearly the same size.
        """
        start = np.zeros_like(self._q) if near is None else (h / near.h) * near.dq
        dq, forces, corrections = self._solved(t, h, start, follow=near is None)
        forces[self.system.fixed] = 0.0
        middle, size = self._middle(h, dq, self._between(dq))
        return Attempt(h, dq, forces, middle, size, self._works_of_loads(dq), corrections)

    def _solved(self, t: float, h: float, start: Array, follow: bool) -> tuple[Array, Array, int]:
        """Return the increment of a step and the forces there, and the corrections of an increment to start with."""
        small = self._found_loop()
        scheme = self._scheme(h)
        found = small.solve(scheme, t, self._q, self._v, start) if small else None
        if found is not None:
            self._t, self._now = t, scheme
            return found
        self._set_up(t, h)
        corrections = self._solver.solve(self, self._q, start, follow=follow)
        return self._solver.increment.copy(), self._solver.forces.copy(), corrections

    @property
    def compiled_steps(self) -> CompiledSteps | None:
        """Its steps in compiled loops, where the system is a small one."""
        return self._found_loop()

    def take(self, attempt: Attempt) -> None:
        """Move to the end of a step."""
        self._q += attempt.dq
        self._v -= attempt.h * self.system.accelerations(attempt.forces)

    def after(self, t: float, attempt: Attempt) -> State:
        """Return the state at the end of a step from the time t, without taking it."""
        q = self._q + attempt.dq
        v = self._v - attempt.h * self.system.accelerations(attempt.forces)
        t = t + attempt.h
        return State(t, q, v, self.system.accelerations(self.system.force(t, q, v)))

    @property
    def q(self) -> Array:
        """The present positions [n, dim] in m."""
        return self._q

    @property
    def v(self) -> Array:
        """The present velocities [n, dim] in m/s."""
        return self._v

    def place(self, q: Array, v: Array) -> None:
        """Put the motion at positions and velocities [n, dim], from which attempts start."""
        self._q[...], self._v[...] = q, v

    def _middle(self, h: float, dq: Array, q: Array) -> tuple[float, float]:
        """Return ½ vᵀ M v + V(q) in J at q in the middle of a step, and the sum of the absolute values of its terms."""
        terms = [self.system.kinetic(dq / h), *(energy.total(q) for energy in self.system.energies.values())]
        return sum(terms), sum(map(abs, terms))

    # -- steps of one size ------------------------------------------------------------------------------------

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that move, with the discrete energy."""
        return super().arrays() | {"discrete": self._discrete}

    def _compiled_steps(self, n: int, steps: Steps) -> int:
        """Take up to n steps, where the system is a small one."""
        taken, small = super()._compiled_steps(n, steps), self._loop
        if taken and small is not None:
            dq, h = small.increment, float(steps.sizes[(taken - 1) % len(steps.sizes)])
            q, dot = self._q - 0.5 * dq, self.system.dot
            t = float(steps.times(taken, 0.5)[-1])
            works = [dot(load(t, q, dq / h), dq) for load in self._work.loads]
            self._discrete[0] = self._middle(h, dq, q)[0] + 0.5 * sum(works)
        return taken

    def _finish(self, dq: Array, forces: Array) -> None:
        middle, _ = self._middle(self._now.h, dq, self._between(dq))
        self._discrete[0] = middle + 0.5 * sum(self._works_of_loads(dq))
        super()._finish(dq, forces)

    def energies(self, state: State) -> dict[str, float]:
        """Return the energies in J as all implicit methods do, with ``discrete_energy`` at the end of the last step.

        Before the first step it is that at its beginning.
        """
        discrete = float(self._discrete[0])
        if np.isnan(discrete):
            discrete = self.attempt(self.t0, self.dt).before
        return super().energies(state) | {DISCRETE_ENERGY.name: discrete}
