"""What all implicit methods share: the loop over steps, and the parameters of a method."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from symplex.base.arguments import is_real, told
from symplex.errors import InvalidArgument, InvertedElement, MaterialFailed, StepFailed
from symplex.fem.energy import Array
from symplex.fem.system import State, System
from symplex.time.integrator import FixedStepIntegrator, FixedStepMotion, require_step, stored_grid
from symplex.time.solvers.linear_solver import COUNTS
from symplex.time.solvers.newton import Newton, NewtonSolver
from symplex.time.totals import LESS_WORK


class ImplicitMotion(FixedStepMotion):
    """A motion whose steps solve equations for the increment of positions (`symplex.time.solvers.newton`)."""

    name: str
    inertia: float
    impulse: float
    symmetric: bool

    def __init__(self, system: System, t0: float, dt: float, n: int, newton: Newton):
        super().__init__(system, t0, dt, n)
        shape = (system.n_nodes, system.dim)
        self._q, self._v, self._a, self.constant, self._buffer = (np.zeros(shape) for _ in range(5))
        self._corrections, self._halved, self._linear = np.zeros(1), np.zeros(1), np.zeros(len(COUNTS))
        self._halvings = newton.halvings
        self._solver = NewtonSolver(system, newton)
        self._loads = list(system.loads.values())
        self._moving = system.moving
        self._work_done = np.zeros(len(self._loads) + len(self._moving))
        # Of supports that move, zero elsewhere: increments and changes of velocity in the step, positions less u(t)
        self._given_dq, self._given_dv, self._origin = (np.zeros(shape if self._moving else 0) for _ in range(3))
        self.symmetric = self.symmetric and not system.differentiable_loads

    @abstractmethod
    def _loaded(self, dq: Array) -> tuple[float, Array, Array]:
        """Return the time, positions and velocities at which the step sees the loads."""

    @abstractmethod
    def forces(self, dq: Array, out: Array) -> None:
        """Write the forces of the step [n, dim] in N for the increment Δq to out."""

    @abstractmethod
    def blocks(self, dq: Array, out: Array) -> None:
        """Write the blocks [nnz, dim, dim] in N/m of the derivative of the forces to out."""

    @abstractmethod
    def _begin(self, t: float, h: float) -> None:
        """Set up the equations of a step of size h in s from the time t."""

    @abstractmethod
    def _finish(self, h: float, dq: Array, forces: Array) -> None:
        """Move by the increment Δq with the forces there (zero where fixed), which may be overwritten."""

    def _arrays(self) -> dict[str, np.ndarray]:
        arrays = {"q": self._q, "v": self._v, "a": self._a, "corrections": self._corrections, "halved": self._halved}
        arrays["linear"] = self._counted()
        return arrays | {"work": self._work_done} | ({"origin": self._origin} if self._moving else {})

    def _initial(self, q: Array, v: Array, a: Array) -> dict[str, np.ndarray]:
        """Return all arrays as they are at a start."""
        arrays = {"q": q, "v": v, "a": a, "corrections": np.zeros(1), "halved": np.zeros(1)}
        arrays |= {"linear": np.zeros(len(COUNTS)), "work": np.zeros_like(self._work_done)}
        return arrays | ({"origin": q - self._moving.displacements(self.t)} if self._moving else {})

    def statistics(self) -> dict[str, float]:
        """Return the number of ``steps``, of ``corrections`` by Newton's method, and of ``halved`` steps if allowed.

        Then what the linear solver did: ``factorisations``, incomplete ones included, and, if there were any,
        ``linear_iterations`` and the matrices that were ``shifted`` to have incomplete factors, ``indefinite`` though
        symmetric, or solved with complete factors (``direct``) where iterations failed.
        """
        counts: dict[str, float] = {"steps": self.n, "corrections": int(self._corrections[0])}
        if self._halvings:
            counts["halved"] = int(self._halved[0])
        factorisations, iterations, *matrices = map(int, self._counted())
        counts["factorisations"] = factorisations
        rare = zip(("linear_iterations", *COUNTS[2:]), (iterations, *matrices), strict=True)
        return counts | {name: count for name, count in rare if count}

    def _counted(self) -> Array:
        """Return the counts of the linear solver since the start, in the order of `COUNTS`."""
        counts = self._solver.counts
        self._linear += [counts[name] for name in COUNTS]
        counts.update(dict.fromkeys(COUNTS, 0))
        return self._linear

    def _run(self, n_steps: int) -> None:
        try:
            for _ in range(n_steps):
                self._step(self.t, self.dt, self._halvings)
                self.n += 1
            self._observe()
        except StepFailed as error:
            when = f"{self.name} stopped in the step from t = {self.t:.6g} s (dt = {self.dt:.4g} s)"
            raise retold(error, f"{when}: {error}") from None

    def _step(self, t: float, h: float, halvings: int) -> None:
        """Take a step of size h in s from the time t, in two halves if it cannot be solved at once."""
        solver = self._solver
        if self._moving:
            self._move_supports(t + h)
        self._begin(t, h)
        try:
            self._solve(h)
        except StepFailed:
            if halvings == 0:
                raise
            self._halved += 1
            self._step(t, 0.5 * h, halvings - 1)
            self._step(t + 0.5 * h, 0.5 * h, halvings - 1)
            return
        self._end_step(h, solver.increment, solver.forces)

    def _solve(self, h: float) -> None:
        """Find the increment of the step; where supports move, if need be from a start at which all else moves, too."""
        solver = self._solver
        if not self._moving:
            self._corrections += solver.solve(self, self._q, follow=True)
            return
        try:
            self._corrections += solver.solve(self, self._q, self._given_dq, follow=True)
        except StepFailed:
            # Supports that move far against all else tear their elements; a body that flies with them is not torn.
            carried = np.where(self.system.fixed, self._given_dq, h * self._v)
            try:
                self._corrections += solver.solve(self, self._q, carried, follow=True)
            except StepFailed as error:
                far = np.abs(self._given_dq).max()
                raise retold(error, f"{error} In this step the supports move by up to {far:.3g} m.") from None

    def _end_step(self, h: float, dq: Array, forces: Array) -> None:
        """Move by the solution of the step, and add up the work of loads and supports."""
        supports, works = self._moving, self._work_done[len(self._loads) :]
        v0 = self._v.copy() if supports else self._v
        if self._loads:
            self._work_done[: len(self._loads)] += self._work(h, dq)
        if supports:
            works += self._work_on_forces(dq, forces)
        if self.system.has_supports:
            forces[self.system.fixed] = 0.0
        self._finish(h, dq, forces)
        if supports:
            np.copyto(self._v, v0 + self._given_dv, where=supports.mask)
            works += self._work_on_mass(v0)

    def _move_supports(self, t1: float) -> None:
        """Set the increments and changes of velocity of the supports in a step that ends at the time t1."""
        mask = self._moving.mask
        np.copyto(self._given_dq, self._origin + self._moving.displacements(t1) - self._q, where=mask)
        np.copyto(self._given_dv, self._moving.velocities(t1) - self._v, where=mask)

    def _carry(self, x: Array, change: Array) -> Array:
        """Return x with the values at supports for which inertia · M Δq − M x is M times the given change."""
        return np.where(self._moving.mask, self.inertia * self._given_dq - change, x) if self._moving else x

    def _accelerated(self, forces: Array, given: Array) -> Array:
        """Return M⁻¹ forces [n, dim] beside what is given at supports; also for impulses and changes of velocity."""
        return self.system.response(forces, given) if self._moving else self.system.accelerations(forces, self._buffer)

    def _work_on_mass(self, v0: Array) -> list[float]:
        """Return the work in J of each support on the mass in the step from the velocities v0.

        It is [M (v1 − v0)]·(v0 + v1)/2, so that all energy balances. The same forces on the increment would do the work
        of the mean velocity Δq/h, from which that of the ends differs by O(h²).
        """
        M_dv = self.system.apply_mass(self._v - v0)
        return self._moving.works(0.5 * M_dv * (v0 + self._v))

    def _observe(self) -> None:
        """Set what is not needed for the steps, but belongs to a state: here the accelerations."""
        self._a[...] = self.system.accelerations_at(self.t, self._q, self._v)

    def _subtract_loads(self, dq: Array, out: Array) -> None:
        """Take the loads off the forces of the step."""
        if self._loads:
            t, q, v = self._loaded(dq)
            for load in self._loads:
                out -= load(t, q, v)

    def _subtract_load_derivatives(self, dq: Array, by_q: float, by_v: float, out: Array) -> None:
        """Take their derivatives off the blocks, where q and v change by by_q and by_v (in 1/s) times Δq."""
        if self.system.differentiable_loads:
            self.system.add_load_derivatives(*self._loaded(dq), -by_q, -by_v, out)

    def _work(self, h: float, dq: Array) -> list[float]:
        """Return the work in J of each load in a step of size h in s, before the motion has moved."""
        t, q, v = self._loaded(dq)
        return [float(np.vdot(load(t, q, v), dq)) for load in self._loads]

    def _work_on_forces(self, dq: Array, forces: Array) -> list[float]:
        """Return the work in J of each moving support against the forces of a step, before the motion has moved."""
        return self._moving.works(forces * dq)

    def energies(self, state: State) -> dict[str, float]:
        """Return the energies of the system in J.

        With loads, or supports that move, also the work of each since the start, ``work_NAME``, and ``balance``: the
        total energy less all work.
        """
        return with_work(self.system, self.system.energies_of(state), self._work_done)


def with_work(system: System, energies: dict[str, float], works: Array) -> dict[str, float]:
    """Return energies in J with the work since the start of loads, then of supports, and the ``balance``, if any."""
    energies |= {
        f"work_{name}": float(work) for name, work in zip([*system.loads, *system.moving.motions], works, strict=True)
    }
    if len(works):
        energies[LESS_WORK["total"]] = energies["total"] - float(works.sum())
    return energies


def dividing(dt: float, interval: float) -> float:
    """Return the largest step in s not above dt that divides an interval in s.

    Raises
    ------
    InvalidArgument
        If the interval is not a positive number.
    """
    if not (is_real(interval) and math.isfinite(interval) and interval > 0):
        raise InvalidArgument(f"the interval between wanted times must be positive (s); it is {told(interval)}.")
    # The tolerance keeps a dt that divides the interval but for rounding.
    return interval / max(math.ceil(interval / dt * (1.0 - 1e-12)), 1)


def retold(error: StepFailed, told: str) -> StepFailed:
    """Return an error of the same kind with another text."""
    if isinstance(error, InvertedElement | MaterialFailed):
        return type(error)(told, error.element)
    return StepFailed(told)


@dataclass(frozen=True)
class ImplicitIntegrator(FixedStepIntegrator):
    """A method with implicit steps of one size.

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

    dt: float
    newton: Newton = field(default=Newton(), kw_only=True)

    changing_stencils = True

    def __post_init__(self):
        require_step(self, self.dt)

    def start(self, system: System, state: State) -> ImplicitMotion:
        """Return the motion that begins at the positions and velocities of a state; those of supports are as given.

        Raises
        ------
        InvalidSystem
            If an energy does not give what the method needs.
        """
        motion = self._motion(system, state.t, self.dt, 0)
        v = system.held(state.t, state.v)
        motion._restore(motion._initial(state.q, v, system.accelerations_at(state.t, state.q, v)))
        return motion

    def resume(self, system: System, checkpoint: Mapping[str, np.ndarray]) -> ImplicitMotion:
        """Return the motion that goes on from a checkpoint, bit-identically, with the step stored there."""
        motion = self._motion(system, *stored_grid(checkpoint))
        motion._restore(checkpoint)
        return motion

    def fit(self, system: System, state: State, interval: float) -> Self:
        """Return the method with the largest step not above its own that divides an interval in s."""
        return replace(self, dt=dividing(self.dt, interval))

    @abstractmethod
    def _motion(self, system: System, t0: float, dt: float, n: int) -> ImplicitMotion:
        """Return a motion of this method, its arrays not yet set."""
