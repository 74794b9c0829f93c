"""What all implicit methods share: the loop over steps, and the parameters of a method."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from symplex.base.columns import count_column
from symplex.errors import StepFailed
from symplex.fem.assembly import Pattern
from symplex.fem.energy import Array
from symplex.fem.system import System
from symplex.time.implicit.halving import in_parts
from symplex.time.implicit.small_steps import Scheme, SmallSteps
from symplex.time.integrator import STEPS, FixedMotion, FixedStepIntegrator, require_step
from symplex.time.motion import FixedStepMotion, with_context
from symplex.time.solvers.linear_solver import COUNTS, LinearSolver
from symplex.time.solvers.newton import Newton, NewtonSolver
from symplex.time.steps import Steps
from symplex.time.traits import Trait

_LITTLE = 0.1  # of how far all else moves in a step: supports that move less are not what tears elements
_RARE = ("linear_iterations", *COUNTS[2:])
IMPLICIT_COLUMNS = (STEPS, *map(count_column, ("corrections", "halved", "factorisations", *_RARE)))


class ImplicitMotion(FixedStepMotion):
    """A motion whose steps solve equations for the increment of positions (`symplex.time.solvers.newton`)."""

    inertia: float
    impulse: float
    symmetric: bool
    at: tuple[float, float] = (1.0, 1.0)
    seen: tuple[float, ...] = (1.0,)
    filters_steps = True
    _h: float  # the step that is being taken, in s
    _seen_at: float = 1.0  # after which part of the step inelastic parts are seen, if not by their mean forces
    _own_accelerations: tuple[Array, Array] | None = None  # those at the end of a step and the method's, if it has them
    _by_ends: bool | None = None  # if compiled loops can take steps: whether of discrete gradients
    _small: SmallSteps | None = None
    _secant = False  # whether loads give secants for their derivatives with the velocity

    def __init__(self, system: System, t0: float, dt: float, n: int, newton: Newton):
        super().__init__(system, t0, dt, n)
        shape = (system.n_nodes, system.dim)
        self.constant, self._buffer = np.zeros(shape), np.zeros(shape)
        self._corrections, self._halved, self._linear = np.zeros(1), np.zeros(1), np.zeros(len(COUNTS))
        # Where bodies collide, steps are halved by default: which step can be solved is not known before.
        self._halvings = (6 if system.impassable else 0) if newton.halvings is None else newton.halvings
        self._solver = NewtonSolver(system, newton)
        # Of supports that move, zero elsewhere: increments and changes of velocity in the step
        self._given_dq, self._given_dv = (np.zeros(shape if self._moving else 0) for _ in range(2))
        self.symmetric = self.symmetric and not system.differentiable_loads
        self._newton = newton

    def solve_by(self, solver: Callable[[Pattern, int], LinearSolver], symmetric: bool) -> None:
        """Take another linear solver, which a function returns for a pattern and a dimension.

        And whether the matrices are symmetric, which rows that are elsewhere may tell.
        """
        self._solver = NewtonSolver(self.system, self._newton, solver)
        self.symmetric = symmetric

    @abstractmethod
    def _loaded(self, dq: Array) -> tuple[float, Array, Array]:
        """Return the time, positions and velocities at which the step sees the loads."""

    def _ends(self, dq: Array) -> tuple[Array, Array] | None:
        """Return the positions between which loads act, if their middle is where the step sees the loads."""
        return None

    @abstractmethod
    def forces(self, dq: Array, out: Array) -> None:
        """Write the forces of the step [n, dim] in N for the increment Δq to out."""

    @abstractmethod
    def blocks(self, dq: Array, out: Array) -> None:
        """Write the blocks [nnz, dim, dim] in N/m of the derivative of the forces to out."""

    @abstractmethod
    def _begin(self, t: float, h: float) -> None:
        """Set up the equations of a step of size h in s from the time t."""

    def _scheme(self, h: float) -> Scheme:
        """Return a step of size h in s as compiled loops take it, where `_by_ends` is set."""
        raise NotImplementedError

    @abstractmethod
    def _finish(self, h: float, dq: Array, forces: Array) -> None:
        """Move by the increment Δq with the forces there (zero where fixed), which may be overwritten."""

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that move, and counts."""
        counts = {"corrections": self._corrections, "halved": self._halved, "linear": self._counted()}
        return super().arrays() | counts

    def statistics(self) -> dict[str, float]:
        """Return the number of ``steps``, of ``corrections`` by Newton's method, and of ``halved`` steps if allowed.

        Then what the linear solver did: ``factorisations``, incomplete ones included, and, if there were any,
        ``linear_iterations`` and the matrices that were ``shifted`` to have incomplete factors, ``indefinite`` though
        symmetric, or factorised completely (``direct``) where iterations failed or would have cost more.
        """
        counts: dict[str, float] = {"steps": self.n, "corrections": int(self._corrections[0])}
        if self._halvings:
            counts["halved"] = int(self._halved[0])
        factorisations, iterations, *matrices = map(int, self._counted())
        counts["factorisations"] = factorisations
        rare = zip(_RARE, (iterations, *matrices), strict=True)
        return counts | {name: count for name, count in rare if count}

    def _counted(self) -> Array:
        """Return the counts of the linear solver since the start, in the order of `COUNTS`."""
        counts = self._solver.counts
        self._linear += [counts[name] for name in COUNTS]
        counts.update(dict.fromkeys(COUNTS, 0))
        return self._linear

    def _step(self, t: float, h: float) -> None:
        if not self._compiled_steps(1, Steps.one(t, h)):
            self._halved += in_parts(self._attempt, t, h, self._halvings)

    def _compiled_steps(self, n: int, steps: Steps) -> int:
        """Take up to n steps, where the system is a small one."""
        small = self._small_steps()
        if not small:
            return 0
        schemes = [self._scheme(float(h)) for h in steps.sizes]
        before = small.counts.copy()
        works = self._work.done[: len(self._work.loads)]
        taken = small.take(n, steps, schemes, self._q, self._v, self._own_accelerations, works)
        corrections, factorisations = small.counts - before
        self._corrections += corrections
        self._solver.counts["factorisations"] += int(factorisations)
        return taken

    def _small_steps(self) -> SmallSteps | None:
        """Return what takes steps in compiled loops, looked for at the first: of many motions none is ever taken."""
        if self._small is None and self._by_ends is not None:
            self._small = SmallSteps(self.system, self._newton, self._by_ends)
            self._at_once = self._small.at_once
        return self._small or None

    def _attempt(self, t: float, h: float) -> None:
        """Move by a step, or by none if its equations cannot be solved."""
        self.system.agreed(lambda: self._set_up(t, h))
        self._solve(h)
        self._end_step(h, self._solver.increment, self._solver.forces)

    def _set_up(self, t: float, h: float) -> float:
        """Set up the equations of a step, with the supports at its end; return 0."""
        if self._moving:
            self._move_supports(t + h)
        self._begin(t, h)
        return 0.0

    def _solve(self, h: float) -> None:
        """Find the increment of the step; where supports move, if need be from a start at which all else moves, too."""
        if not self._moving:
            self._corrections += self._found_from(0.0)
            return
        try:
            self._corrections += self._found_from(self._given_dq)
        except StepFailed:
            # Supports that move far against all else tear their elements; a body that flies with them is not torn.
            carried = np.where(self.system.fixed, self._given_dq, h * self._v)
            try:
                self._corrections += self._found_from(carried)
            except StepFailed as error:
                _, far, _ = self.system.foremost(np.abs(self._given_dq).max(axis=1))
                free = np.where(self.system.fixed, 0.0, h * self._v)
                _, most, _ = self.system.foremost(np.abs(free).max(axis=1))
                if far <= _LITTLE * most:
                    raise  # they are not what moves far
                raise with_context(error, f"{error} In this step the supports move by up to {far:.3g} m.") from None

    def _found_from(self, start: Array | float) -> int:
        """Find the increment by Newton's method, with friction if need be from where its secants lead to.

        Where bodies begin to stick, or to slip, its corrections may go back and forth between both.
        """
        solver = self._solver
        try:
            return solver.solve(self, self._q, start, follow=True)
        except StepFailed:
            if not self.system.agreed(lambda: float(len(self.system.increment_loads))):
                raise
            self._secant = True
            try:
                return solver.solve(self, self._q, start)
            except StepFailed as error:
                near, failure = solver.increment.copy(), error
            finally:
                self._secant = False
        try:
            return solver.solve(self, self._q, near)
        except StepFailed:
            raise failure from None

    def _end_step(self, h: float, dq: Array, forces: Array) -> None:
        """Move by the solution of the step, and add up the work of loads and supports."""
        supports, work = self._moving, self._work
        v0 = self._v.copy() if supports else self._v
        if work.loads:
            work.add_loads(self._works_of_loads(h, dq))
        if supports:
            work.add_supports(self._forces_of_supports(dq, forces) * dq)
        if self._internal:
            work.add_dissipated(self._internal.advance(self._q, self._q + dq, h))
        if self.system.has_supports:
            forces[self.system.fixed] = 0.0
        self._finish(h, dq, forces)
        if supports:
            np.copyto(self._v, v0 + self._given_dv, where=supports.mask)
            # On the mass it is [M (v1 − v0)]·(v0 + v1)/2, so that all energy balances. The same forces on the increment
            # would do the work of the mean velocity Δq/h, from which that of the ends differs by O(h²).
            work.add_supports(0.5 * self.system.apply_mass(self._v - v0) * (v0 + self._v))

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

    def _subtract_loads(self, dq: Array, out: Array) -> None:
        """Take the loads off the forces of the step."""
        if self._work.loads:
            for force in self._forces_of_loads(dq):
                out -= force
        if self._internal:
            q1, h, mean = self._inelastic_at(dq)
            self._internal.subtract_forces(self._q, q1, h, out, mean=mean)

    def _inelastic_at(self, dq: Array) -> tuple[Array, float, bool]:
        """Return where the step sees inelastic parts, after which time in s, and whether by their mean forces."""
        ends = self._ends(dq)
        if ends is not None:
            return ends[1], self._h, True
        return self._loaded(dq)[1], self._h * self._seen_at, False

    def _forces_of_loads(self, dq: Array) -> Iterator[Array]:
        """Yield the force [n, dim] of each load."""
        (t, q, v), ends = self._loaded(dq), self._ends(dq)
        for load in self._work.loads:
            yield load(t, q, v) if ends is None else self.system.load_over(load, t, ends, v)

    def _subtract_load_derivatives(self, dq: Array, by_q: float, by_v: float, out: Array) -> None:
        """Take their derivatives off the blocks, where q and v change by by_q and by_v (in 1/s) times Δq."""
        if self.system.differentiable_loads:
            self.system.add_load_derivatives(*self._loaded(dq), -by_q, -by_v, out, self._ends(dq), self._secant)
        if self._internal:
            q1, h, mean = self._inelastic_at(dq)
            self._internal.subtract_derivatives(self._q, q1, h, 1.0 if mean else by_q, out, mean=mean)

    def _works_of_loads(self, h: float, dq: Array) -> list[float]:
        """Return the work in J of each load in a step of size h in s, before the motion has moved."""
        return [self.system.dot(force, dq) for force in self._forces_of_loads(dq)]

    def _forces_of_supports(self, dq: Array, forces: Array) -> Array:
        """Return the mean forces [n, dim] in N that supports do work against in a step, before the motion has moved."""
        return forces


# What implicit methods take as a rule.
IMPLICIT: frozenset[Trait] = frozenset(
    {
        *("supports", "moving supports", "loads", "internal variables", "consistent mass"),
        *("changing stencils", "barriers", "thermostat"),
    }
)


@dataclass(frozen=True)
class ImplicitIntegrator(FixedStepIntegrator[FixedMotion]):
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

    needs = frozenset({"gradient", "hessian"})
    takes = IMPLICIT
    columns = IMPLICIT_COLUMNS

    def __post_init__(self):
        require_step(self, self.dt)
