"""Newmark's method with one iteration of Newton's method in each step: linearly implicit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, final

import numpy as np

from symplex.base.arguments import checked
from symplex.errors import StepFailed
from symplex.fem.energy import Array
from symplex.fem.system import State, System
from symplex.time.explicit.newmark import require_stable
from symplex.time.implicit.implicit import dividing, retold, with_work
from symplex.time.integrator import FixedStepIntegrator, FixedStepMotion, require_step, stored_grid
from symplex.time.solvers.definite import DefiniteSolver
from symplex.time.solvers.linear import Linear

Guess = Literal["last", "predicted"]
Accelerations = Literal["linearised", "evaluated"]


@checked
@final
@dataclass(frozen=True)
class LinearlyImplicitNewmark(FixedStepIntegrator):
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
    changing_stencils = True

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

    def start(self, system: System, state: State) -> LinearlyImplicitNewmarkMotion:
        """Return the motion that begins at the positions and velocities of a state; fixed coordinates are at rest.

        Raises
        ------
        UnstableStep
            If β < ¼ and dt is above the stability limit (which is not looked for with a consistent mass).
        InvalidSystem
            If nodes are massless, or supports move.
        """
        self._check_step(system, state)
        motion = LinearlyImplicitNewmarkMotion(self, system, state.t, self.dt, 0)
        motion.begin(state.q, np.where(system.fixed, 0.0, state.v))
        return motion

    def resume(self, system: System, checkpoint: Mapping[str, np.ndarray]) -> LinearlyImplicitNewmarkMotion:
        """Return the motion that goes on from a checkpoint, bit-identically, with the step stored there."""
        motion = LinearlyImplicitNewmarkMotion(self, system, *stored_grid(checkpoint))
        motion._restore(checkpoint)
        return motion

    def fit(self, system: System, state: State, interval: float) -> LinearlyImplicitNewmark:
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
        system.require_inertia("LinearlyImplicitNewmark")
        require_stable(system, state, self.dt, self.beta)


@final
class LinearlyImplicitNewmarkMotion(FixedStepMotion):
    """A motion by Newmark's method with one iteration a step; see `LinearlyImplicitNewmark`."""

    def __init__(self, method: LinearlyImplicitNewmark, system: System, t0: float, dt: float, n: int = 0):
        super().__init__(system, t0, dt, n)
        self._newmark = method
        self._linear = DefiniteSolver(system, method.linear)
        shape = (system.n_nodes, system.dim)
        # Accelerations: those of the forces here, which belong to a state, and those that the next step takes
        self._q, self._v, self._a, self._taken = (np.zeros(shape) for _ in range(4))
        self._gradient = np.zeros(shape)  # at the present positions, if it is known
        self._known = False
        self._loads = list(system.loads.values())
        # The force of each load as the last step saw it, and its work since the start
        self._acting, self._works = np.zeros((len(self._loads), *shape)), np.zeros(len(self._loads))

    def _arrays(self) -> dict[str, np.ndarray]:
        arrays = {"q": self._q, "v": self._v, "a": self._a, "taken": self._taken}
        return arrays | ({"acting": self._acting, "work": self._works} if self._loads else {})

    def begin(self, q: Array, v: Array) -> None:
        """Take the positions and velocities [n, dim] of the start, and find the first accelerations."""
        self._q[...], self._v[...] = q, v
        self._load(self.t, q, v)
        self._observe()
        self._taken[...] = self._a

    def _run(self, n_steps: int) -> None:
        try:
            for _ in range(n_steps):
                self._step(self.dt)
                self.n += 1
        except StepFailed as error:
            when = f"LinearlyImplicitNewmark stopped in the step from t = {self.t:.6g} s (dt = {self.dt:.4g} s)"
            raise retold(error, f"{when}: {error}") from None
        if n_steps:
            self._observe()

    def _step(self, h: float) -> None:
        system, method, s = self.system, self._newmark, self._newmark.beta * h * h
        acting = self._acting.copy()
        r = h * self._v + (0.5 * h * h - s) * self._taken
        predicted = self._q + r
        self._load(self.t + h, predicted, self._v + h * self._taken)
        # With q1 = q0 + r + s a1 the equation for d = q1 − p is (M + s ∇²V(p)) d = M (q0 + r − p) + s [f − ∇V(p)].
        if method.guess == "last":
            p, gradient = self._q, self._present_gradient()
            b = s * (self._acting.sum(axis=0) - gradient) + system.apply_mass(r)
        else:
            p = predicted
            b = s * (self._acting.sum(axis=0) - system.gradient(p))
        b[system.fixed] = 0.0
        self._linear.update(p, s)
        d = self._linear.solve(b)
        dq, a = (d, (d - r) / s) if method.guess == "last" else (r + d, d / s)
        self._q += dq
        self._known = False
        if method.accelerations == "evaluated":
            a = self._accelerations()
        self._v += 0.5 * h * (self._taken + a)
        self._taken[...] = a
        self._works += 0.5 * np.tensordot(acting + self._acting, dq, axes=2)

    def _load(self, t: float, q: Array, v: Array) -> None:
        """Evaluate the loads at a time, positions and velocities."""
        for force, load in zip(self._acting, self._loads, strict=True):
            force[...] = load(t, q, v)

    def _present_gradient(self) -> Array:
        """Return ∇V [n, dim] in N at the present positions."""
        if not self._known:
            self.system.gradient(self._q, self._gradient)
            self._known = True
        return self._gradient

    def _accelerations(self) -> Array:
        """Return M⁻¹ [f − ∇V] [n, dim] at the present positions, with the loads as they were last seen."""
        force = self._acting.sum(axis=0) - self._present_gradient()
        force[self.system.fixed] = 0.0
        return self.system.accelerations(force)

    def _observe(self) -> None:
        """Set what is not needed for the steps, but belongs to a state: the true accelerations."""
        if self._loads:
            self._a[...] = self.system.accelerations(self.system.force(self.t, self._q, self._v))
        else:
            self._a[...] = self._accelerations()

    def energies(self, state: State) -> dict[str, float]:
        """Return the energies in J, and the work of loads, by the mean forces at the ends of steps.

        See `symplex.time.implicit.implicit.ImplicitMotion.energies`.
        """
        return with_work(self.system, self.system.energies_of(state), self._works)
