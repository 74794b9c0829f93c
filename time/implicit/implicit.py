"""What all implicit methods share: the loop over steps, and the parameters of a method."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from symplex.base.columns import count_column
from symplex.base.quantities import positive
from symplex.errors import StepFailed
from symplex.fem.assembly.pattern import Pattern
from symplex.fem.compiled.kernels import kernel
from symplex.fem.energies.energy import Array
from symplex.fem.system import System
from symplex.time.implicit.cutback import with_cutbacks
from symplex.time.implicit.implicit_loop import CompiledSteps
from symplex.time.implicit.scheme import OneStep, Scheme, by_mass, change_of_v, own_at_end
from symplex.time.integrator import STEPS, FixedStepIntegrator, require_step
from symplex.time.motion import FixedStepMotion, with_context
from symplex.time.solvers.linear_solver import COUNTS, LinearSolver
from symplex.time.solvers.newton import Newton, NewtonSolver
from symplex.time.solvers.nodal_coordinates import FramedSolver, newton_solver
from symplex.time.steps import Steps
from symplex.time.traits import Trait

_LITTLE = 0.1  # of how far all else moves in a step: supports that move less are not what tears elements
_RARE = ("linear_iterations", *COUNTS[2:])
IMPLICIT_COLUMNS = (STEPS, *map(count_column, ("corrections", "halved", "factorisations", *_RARE)))


class ImplicitMotion(FixedStepMotion):
    """A motion by a method that is its scheme.

    Each step solves the equations of the scheme for the increment of positions (`symplex.time.solvers.newton`).

    Parameters
    ----------
    method : OneStep
    system : System
    t0, dt : float
        Time of the start and step in s.
    n : int, default 0
        Number of steps already taken.
    compensated : bool, default False
        Whether positions carry the digits that rounding cuts off; with discrete gradients.

    Attributes
    ----------
    watched : callable, optional
        Called with the beginning and the size in s of each step, or part of a step that was cut back, that is solved
        outside of compiled loops, before the motion moves by it.
    """

    filters_steps = True
    watched: Callable[[float, float], None] | None = None
    inertia: float
    impulse: float

    def __init__(self, method: OneStep, system: System, t0: float, dt: float, n: int = 0, *, compensated: bool = False):
        self.name = type(method).__name__
        super().__init__(system, t0, dt, n)
        self._scheme, self._newton = method.scheme, method.newton
        self._now = scheme = method.scheme(dt)  # of the step that is being taken
        self.symmetric = not (scheme.discrete or system.differentiable_loads)
        self.at = (0.5, 1.0) if scheme.discrete else (scheme.alpha, scheme.alpha)
        self.seen = tuple({1.0: None, scheme.alpha: None})
        shape = (system.n_nodes, system.dim)
        self.constant, self._buffer = np.zeros(shape), np.zeros(shape)
        self._own_a = np.zeros(shape) if scheme.carries else None
        self._compensation = np.zeros(shape) if compensated else None
        self._corrections, self._halved, self._linear = np.zeros(1), np.zeros(1), np.zeros(len(COUNTS))
        # Where bodies collide, steps are halved by default: which step can be solved is not known before.
        self._halvings = (
            (6 if system.collision_checked else 0) if self._newton.halvings is None else self._newton.halvings
        )
        self._solver = newton_solver(system, self._newton)
        # Of supports that move, zero elsewhere: increments, changes of velocity and accelerations of the step
        self._given_dq, self._given_dv, self._given_a = (np.zeros(shape if self._moving else 0) for _ in range(3))
        self._given = self._moving.mask  # the coordinates of supports that move
        self._loop: CompiledSteps | None = None
        self._secant = False  # whether loads give secants for their derivatives with the velocity

    def solve_by(self, solver: Callable[[Pattern, int], LinearSolver], symmetric: bool) -> None:
        """Take another linear solver, which a function returns for a pattern and a dimension.

        And whether the matrices are symmetric, which rows that are elsewhere may tell.
        """
        self._solver = NewtonSolver(self.system, self._newton, solver)
        self.symmetric = symmetric

    def begin(self, q: Array, v: Array) -> None:
        """Take positions and velocities [n, dim] of the start, and find all else that moves."""
        if self.system.joints:
            self.system.joints.at(self.t).require_closed(self.system, q, v, self.name.removesuffix("Motion"))
        super().begin(q, v)
        if self._own_a is not None:
            self._own_a[...] = self._a

    def observe(self, t: float) -> None:
        """Set the accelerations of the state, unless steps carry them."""
        if self._own_a is None:
            super().observe(t)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that move, and counts."""
        counts = {"corrections": self._corrections, "halved": self._halved, "linear": self._counted()}
        more = {"own_a": self._own_a, "compensation": self._compensation}
        return super().arrays() | counts | {name: array for name, array in more.items() if array is not None}

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

    @property
    def _own(self) -> Array | float:
        """The accelerations that the method carries, if any."""
        return 0.0 if self._own_a is None else self._own_a

    def _step(self, t: float, h: float) -> None:
        if not self._compiled_steps(1, Steps.one(t, h)):
            self._halved += with_cutbacks(self._attempt, t, h, self._halvings)

    def _compiled_steps(self, n: int, steps: Steps) -> int:
        """Take up to n steps, where the system is a small one."""
        small = self._found_loop()
        if not small:
            return 0
        schemes = [self._scheme(float(h)) for h in steps.sizes]
        before = small.counts.copy()
        works = self._work.buffers()[1]  # of loads and joints: there is nothing else that does any
        accelerations = None if self._own_a is None else (self._a, self._own_a)
        taken = small.take(n, steps, schemes, self._q, self._v, accelerations, works)
        corrections, factorisations = small.counts - before
        self._corrections += corrections
        self._solver.counts["factorisations"] += int(factorisations)
        return taken

    def _found_loop(self) -> CompiledSteps | None:
        """Return what takes steps in compiled loops, looked for at the first: of many motions none is ever taken."""
        many = self._own_a is not None and bool(self.system.joints) and self.system.joints.has_many
        if self._loop is None and self._compensation is None and not many:
            self._loop = CompiledSteps(self.system, self._newton, self._now.discrete)
            self._at_once = self._loop.at_once
        return self._loop or None

    def _attempt(self, t: float, h: float) -> None:
        """Move by a step, or by none if its equations cannot be solved."""
        self.system.agreed(lambda: self._set_up(t, h))
        self._solve(h)
        if self.watched is not None:
            self.watched(t, h)
        self._end_step(h, self._solver.increment, self._solver.forces)

    def _set_up(self, t: float, h: float) -> float:
        """Set up the equations of a step, with the supports at its end; return 0."""
        self._now = scheme = self._scheme(h)
        self._t, self.inertia, self.impulse = t, scheme.inertia, scheme.impulse
        if isinstance(self._solver, FramedSolver):
            self._solver.times = t, t + h
        momentum = by_mass(scheme, self._v, self._a, self._own)
        if self._moving:
            self._move_supports(t + h)
            # The values at supports for which the equations hold with the given increments and accelerations
            np.copyto(momentum, scheme.inertia * self._given_dq - scheme.impulse * self._given_a, where=self._given)
        self.constant[...] = self.system.apply_mass(momentum)
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
            work.add_loads(self._works_of_loads(dq))
        if supports:
            work.add_supports(self._forces_of_supports(dq, forces) * dq)
        if self.system.joints.moving and isinstance(self._solver, FramedSolver):
            work.add_joints(self._solver.works_of_joints())
        if self._internal:
            work.add_dissipated(self._internal.advance(self._q, self._q + dq, h))
        if self.system.has_supports:
            forces[self.system.fixed] = 0.0
        self._finish(dq, forces)
        if supports:
            np.copyto(self._v, v0 + self._given_dv, where=self._given)
            # On the mass it is [M (v1 − v0)]·(v0 + v1)/2, so that all energy balances. The same forces on the increment
            # would do the work of the mean velocity Δq/h, from which that of the ends differs by O(h²).
            work.add_supports(0.5 * self.system.apply_mass(self._v - v0) * (v0 + self._v))

    def _move_supports(self, t1: float) -> None:
        """Set the increments, changes of velocity and accelerations of the supports in a step that ends at t1."""
        h = self._now.h
        np.copyto(self._given_dq, self._origin + self._moving.displacements(t1) - self._q, where=self._given)
        np.copyto(self._given_dv, self._moving.velocities(t1) - self._v, where=self._given)
        self._given_a = self._given_dv / h if self._own_a is None else self._moving.accelerations(t1)

    # -- the equations --------------------------------------------------------------------------------------

    def forces(self, dq: Array, out: Array) -> None:
        """Write the forces of the step [n, dim] in N for the increment Δq to out."""
        if self._compensation is not None:
            self.system.increment_gradient(self._q, self._compensation, dq, out)
        elif self._now.discrete:
            self.system.discrete_gradient(self._q, np.add(self._q, dq, out=self._buffer), out)
        else:
            self.system.gradient(self._between(dq), out)
        for force in self._forces_of_loads(dq):
            out -= force
        if self._internal:
            self._internal.subtract_forces(self._q, *self._inelastic(dq), out, mean=self._now.discrete)

    def blocks(self, dq: Array, out: Array) -> None:
        """Write the blocks [nnz, dim, dim] in N/m of the derivative of the forces to out."""
        scheme, system = self._now, self.system
        if scheme.discrete:
            system.discrete_hessian_blocks(self._q, np.add(self._q, dq, out=self._buffer), out)
        else:
            system.hessian_blocks(self._between(dq), out)
            if scheme.alpha != 1.0:
                out *= scheme.alpha
        if system.differentiable_loads:
            seen = *self._seen(dq), -scheme.seen, -scheme.rate
            system.add_load_derivatives(*seen, out, self._ends(dq), self._secant)
        if self._internal:
            q1, h = self._inelastic(dq)
            by_q = 1.0 if scheme.discrete else scheme.alpha
            self._internal.subtract_derivatives(self._q, q1, h, by_q, out, mean=scheme.discrete)

    def _between(self, dq: Array) -> Array:
        """Return the positions [n, dim] at which the step takes gradients."""
        np.multiply(dq, self._now.alpha, out=self._buffer)
        return np.add(self._q, self._buffer, out=self._buffer)

    def _ends(self, dq: Array) -> tuple[Array, Array] | None:
        """Return the positions between which loads act, if forces are discrete gradients."""
        return (self._q, self._q + dq) if self._now.discrete else None

    def _seen(self, dq: Array) -> tuple[float, Array, Array]:
        """Return the time, positions and velocities at which the step evaluates loads."""
        scheme = self._now
        v = scheme.rate * dq
        if self._own_a is not None:
            v += scheme.seen_v * self._v + scheme.seen_own * self._own_a
            if self._moving:
                np.copyto(v, self._v + self._given_dv, where=self._given)
        return self._t + scheme.seen * scheme.h, self._q + scheme.seen * dq, v

    def _inelastic(self, dq: Array) -> tuple[Array, float]:
        """Return where the step evaluates inelastic parts, and after which time in s."""
        part = self._now.alpha
        return self._q + part * dq, part * self._now.h

    def _forces_of_loads(self, dq: Array) -> list[Array]:
        """Return the force [n, dim] of each load."""
        if not self._work.loads:
            return []
        (t, q, v), ends = self._seen(dq), self._ends(dq)
        return [load(t, q, v) if ends is None else self.system.load_over(load, t, ends, v) for load in self._work.loads]

    # -- what follows from the solution ---------------------------------------------------------------------

    def _working_loads(self, dq: Array) -> list[Array]:
        """Return the force [n, dim] of each load that does its work in the step, before the motion has moved."""
        forces = self._forces_of_loads(dq)
        if not self._now.work_at_ends:
            return forces
        at_start = [load(self._t, self._q, self._v) for load in self._work.loads]
        return [0.5 * (one + other) for one, other in zip(at_start, forces, strict=True)]

    def _works_of_loads(self, dq: Array) -> list[float]:
        """Return the work in J of each load in the step, before the motion has moved."""
        return [self.system.dot(force, dq) for force in self._working_loads(dq)]

    def _forces_of_supports(self, dq: Array, forces: Array) -> Array:
        """Return the mean forces [n, dim] in N that supports do work against in a step, before the motion has moved."""
        if not self._now.work_at_ends:
            return forces
        q1 = self._q + dq
        ends = self.system.gradient(self._q) + self.system.gradient(q1)
        self._internal.subtract_forces(self._q, self._q, 0.0, ends, mean=False)
        self._internal.subtract_forces(self._q, q1, self._now.h, ends, mean=False)
        return 0.5 * ends - sum(self._working_loads(dq))

    def _finish(self, dq: Array, forces: Array) -> None:
        """Move by the increment Δq with the forces there (zero where fixed), which may be overwritten.

        Accelerations and velocities follow from the forces and not from Δq: their sum is zero to round-off.
        """
        scheme, system = self._now, self.system
        np.negative(forces, out=forces)
        moving = bool(self._moving)
        a = system.response(forces, self._given_a) if moving else system.accelerations(forces, self._buffer)
        if self._compensation is None:
            self._q += dq
        else:
            _add(self._q, self._compensation, dq)
        own_a = own_at_end(scheme, a, self._a, self._own)
        if moving:
            np.copyto(own_a, a, where=self._given)
        self._v += change_of_v(scheme, self._own, own_a)
        if self._own_a is None:
            if system.massless.any():
                self._v[system.massless] = dq[system.massless] / scheme.h
            return
        if system.frames:  # else what is across rigid motions grows: the equations say nothing of it
            self._v[...], own_a = system.frames.rigid_motion(system, self._q, self._v, own_a)
        if system.joints:
            self._v[...], own_a = system.joints.keep_along(system, self._q, self._v, own_a)
        self._a[...], self._own_a[...] = a, own_a
        for carried in (self._v, self._a, self._own_a):  # which the loads of the next step see
            system.share(carried)


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


# What implicit methods take as a rule.
IMPLICIT: frozenset[Trait] = frozenset(
    {
        *("supports", "moving supports", "loads", "internal variables", "history"),
        *("consistent mass", "changing stencils", "barriers", "thermostat", "frames"),
    }
)


@dataclass(frozen=True)
class ImplicitIntegrator(FixedStepIntegrator[ImplicitMotion]):
    """A method with implicit steps of one size, which its `scheme` describes.

    Parameters
    ----------
    dt : float
        Step in s.
    newton : Newton, optional
        How the equations are solved.
    """

    dt: Annotated[float, positive("s")]
    newton: Newton = field(default=Newton(), kw_only=True)

    needs = frozenset({"gradient", "hessian"})
    takes = IMPLICIT
    columns = IMPLICIT_COLUMNS

    def __post_init__(self):
        require_step(self, self.dt)

    @abstractmethod
    def scheme(self, h: float) -> Scheme:
        """Return a step of size h in s, of either sign."""

    def _motion(self, system: System, t0: float, dt: float, n: int) -> ImplicitMotion:
        return ImplicitMotion(self, system, t0, dt, n)
