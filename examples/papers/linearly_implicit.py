"""Newmark's method with one iteration of Newton's method in each step: linearly implicit."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal, final

import numpy as np

from symplex.base.arguments import checked
from symplex.fem.energies.energy import Array
from symplex.fem.system import State, System
from symplex.time.integrator import FixedStepIntegrator, require_step
from symplex.time.motion import FixedStepMotion
from symplex.time.solvers.definite import DefiniteSolver
from symplex.time.solvers.linear import Linear
from symplex.time.stability import require_stable

Guess = Literal["last", "predicted"]
Accelerations = Literal["linearised", "evaluated"]


@checked
@final
@dataclass(frozen=True)
class LinearlyImplicitNewmark(FixedStepIntegrator["LinearlyImplicitNewmarkMotion"]):
    """Newmark's implicit method with γ = ½, its equations left after one iteration of Newton's method.

    q1 = q0 + h v0 + h² [(½ − β) a0 + β a1],  v1 = v0 + ½h (a0 + a1),  M a1 + ∇V(p) + ∇²V(p) (q1 − p) = f

    with p where the iteration begins. Of linear systems it is Newmark's method. Tao and Owhadi, Variational and
    linearly-implicit integrators, with applications (2014), show by it what is lost so: it is of second order and keeps
    linear momentum, but is neither symmetric nor symplectic. They do not say where their iteration begins, nor which
    accelerations the next step takes; both are to be chosen. ``guess="last"`` loses much energy at large steps, as
    their pictures show. With ``guess="predicted"`` (and linearised accelerations) it is the simplified method of Zhang
    and Skeel for x = q − βh² a (`ZhangSkeel`; exactly, but for the first a0), and loses hardly any.

    Loads are taken at the end of each step, with the positions and velocities predicted there (a1 = 0; v0 + h a0).

    Parameters
    ----------
    dt : float
        Step h in s.
    beta : float, default 0.25
        β > 0. Linear systems are stable at any step if β ≥ ¼, otherwise up to h ω = (¼ − β)^(−½).
    guess : {"last", "predicted"}, default "last"
        Where the iteration begins: at the last positions, or at those of the step with a1 = 0.
    accelerations : {"linearised", "evaluated"}, default "linearised"
        What the next step takes as a0: the solution a1, or M⁻¹ [f − ∇V(q1)]. Evaluated ones are less stable.
    linear : str, default "auto"
        The linear solver (see `Newton`).

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    dt: float
    beta: float = 0.25
    guess: Guess = "last"
    accelerations: Accelerations = "linearised"
    linear: Linear = field(default="auto", kw_only=True)

    order = 2
    conserves = frozenset({"momentum"})
    symmetric = False
    needs = frozenset({"gradient", "hessian"})
    takes = frozenset({"supports", "loads", "consistent mass", "changing stencils", "thermostat"})

    def __post_init__(self):
        require_step(self, self.dt)
        if not 0.0 < self.beta < math.inf:
            raise ValueError(
                f"LinearlyImplicitNewmark: beta must be positive; it is {self.beta}. With 0 take Newmark, which is "
                "explicit then."
            )
        for name, known in (("guess", Guess), ("accelerations", Accelerations), ("linear", Linear)):
            value = getattr(self, name)
            if value not in known.__args__:
                raise ValueError(
                    f"LinearlyImplicitNewmark: {name} must be one of {', '.join(known.__args__)}; it is {value!r}."
                )

    def _motion(self, system: System, t0: float, dt: float, n: int) -> LinearlyImplicitNewmarkMotion:
        return LinearlyImplicitNewmarkMotion(self, system, t0, dt, n)

    def _step_size(self, system: System, state: State) -> float:
        require_stable(system, state, self.dt, self.beta)
        return self.dt


@final
class LinearlyImplicitNewmarkMotion(FixedStepMotion):
    """A motion by Newmark's method with one iteration a step; see `LinearlyImplicitNewmark`."""

    loads_at_ends = True

    def __init__(self, method: LinearlyImplicitNewmark, system: System, t0: float, dt: float, n: int = 0):
        super().__init__(system, t0, dt, n)
        self._newmark = method
        self._linear = DefiniteSolver(system, method.linear)
        # The accelerations that the next step takes, next to those of the forces here, which belong to a state
        self._taken = np.zeros_like(self._q)
        self._gradient = np.zeros_like(self._q)  # at the present positions, if it is known
        self._known = False

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that move, with the accelerations that the next step takes."""
        return super().arrays() | {"taken": self._taken}

    def begin(self, q: Array, v: Array) -> None:
        """Take positions and velocities [n, dim] of the start, and find all else that moves."""
        super().begin(q, v)
        self._taken[...] = self._a

    def _step(self, t: float, h: float) -> None:
        system, method, s = self.system, self._newmark, self._newmark.beta * h * h
        r = h * self._v + (0.5 * h * h - s) * self._taken
        predicted = self._q + r
        load = self._work.evaluate(t + h, predicted, self._v + h * self._taken)
        # With q1 = q0 + r + s a1 the equation for d = q1 − p is (M + s ∇²V(p)) d = M (q0 + r − p) + s [f − ∇V(p)].
        if method.guess == "last":
            p, gradient = self._q, self._present_gradient()
            b = s * (load - gradient) + system.apply_mass(r)
        else:
            p = predicted
            b = s * (load - system.gradient(p))
        b[system.fixed] = 0.0
        self._linear.update(p, s)
        d = self._linear.solve(b)
        dq, a = (d, (d - r) / s) if method.guess == "last" else (r + d, d / s)
        self._q += dq
        self._known = False
        if method.accelerations == "evaluated":
            a = self._accelerations(load)
        self._v += 0.5 * h * (self._taken + a)
        self._taken[...] = a
        self._work.add_mean(dq)

    def _present_gradient(self) -> Array:
        """Return ∇V [n, dim] in N at the present positions."""
        if not self._known:
            self.system.gradient(self._q, self._gradient)
            self._known = True
        return self._gradient

    def _accelerations(self, load: Array | float) -> Array:
        """Return M⁻¹ [f − ∇V] [n, dim] at the present positions, with a load as it was last seen."""
        force = load - self._present_gradient()
        force[self.system.fixed] = 0.0
        return self.system.accelerations(force)

    def observe(self, t: float) -> None:
        """Set what is not needed for the steps, but belongs to a state: the true accelerations."""
        if self._work:
            super().observe(t)
        else:
            self._a[...] = self._accelerations(0.0)
