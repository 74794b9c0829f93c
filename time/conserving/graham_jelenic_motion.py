"""Motions by the schemes of Graham and Jelenić: how the equations of steps are solved without a tangent."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import final

import numpy as np

from symplex.errors import StepFailed
from symplex.fem.energies.energy import Array
from symplex.fem.energies.neighbour_list import IncompleteStencils
from symplex.fem.system import System
from symplex.time.conserving.algorithm_mc import ConservingScheme
from symplex.time.conserving.cayley_preconditioner import CayleyPreconditioner
from symplex.time.conserving.conserving_loop import AHEAD, ConservingSteps
from symplex.time.conserving.gauss_interpolant import combined
from symplex.time.conserving.step_solver import FLOOR, PLAIN_PART, StepSolver
from symplex.time.motion import FixedStepMotion, with_context
from symplex.time.solvers.continuation import followed
from symplex.time.solvers.linear import Linear
from symplex.time.solvers.rigid_prediction import rigid_prediction
from symplex.time.steps import Steps

# Part of the floor at which an iteration ends; a larger one where it contracts: its result is better than its start.
_FACTORS_PART = 1.0 / 1024.0
_PLAIN, _FACTORS = 1.0, 2.0  # how steps are solved
_CONTRACTS = 4.0  # bound of hω up to which steps are tried without factors,
_MANY = {2: 20, 4: 32, 6: 32, 8: 32}  # and iterations up to which they take less time so; order 2 has cheap corrections
_STALE = 1.5  # how much more iterations than with new factors are worth new ones
_FEW = 3  # iterations for which no factors are worth it
_EASY = 10  # residuals of a step with factors that leave no doubt about its root
_SHORTEST_PART = 2.0**-20  # of a step by which a root is followed
_EFFORT = 5  # times the residuals of a step that may be spent to follow a root
_CLOSE = 0.1  # part of the motion in a step by which a root that is followed may be off its prediction


@final
class GrahamJelenicMotion(FixedStepMotion):
    """A motion by one of Graham and Jelenić's methods; see `symplex.time.conserving.graham_jelenic`.

    A step solves g(Z1) = Z1 − Z0 − C (Z0 + Z1)/2 − Z_a = 0 by an accelerated iteration (`StepSolver`). Where steps are
    short it begins where a smooth motion would be, and where it takes factors of the stiffness at what a rigid body of
    the same momenta would do: among the solutions that there may be for stiff systems, that decides which is found. The
    state that it goes on with is Z0 + C (Z0 + Z1)/2 + Z_a with what was found for Z1: linear momentum then does not see
    the error of the solution at all, and angular momentum sees it times the change in a step.
    """

    def __init__(
        self, system: System, t0: float, dt: float, n: int, scheme: ConservingScheme, iterations: int, linear: Linear
    ):
        self.name = scheme.title
        super().__init__(system, t0, dt, n)
        self._scheme = scheme
        shape = (system.n_nodes, system.dim)
        self._stiff_at = np.zeros(shape)
        self._before = np.zeros((3, *shape))  # position, velocity and acceleration a step ago
        self._iterations, self._factorised = np.zeros(1), np.zeros(1)
        self._of_step = np.zeros(1)  # the size that this is for: a composition has several
        # Which way steps are solved, the iterations of the first step after factors were made, and of the last step.
        self._effort = np.zeros(3)
        mass = np.asarray(system.mass if system.is_lumped else system.mass.diagonal())
        self._limit = iterations
        self._solver = StepSolver(mass, iterations)
        self._preconditioner = CayleyPreconditioner(system, scheme.order, linear)
        self._ready = False  # whether the preconditioner is what the arrays say
        self._t, self._h, self._z0 = t0, dt, np.zeros((2, *shape))
        self._gain = np.empty_like(self._z0)

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that move, and what is known of the solution of steps."""
        return super().arrays() | {
            "before": self._before,
            "stiff_at": self._stiff_at,
            "of_step": self._of_step,
            "effort": self._effort,
            "iterations": self._iterations,
            "factorised": self._factorised,
        }

    def statistics(self) -> dict[str, float]:
        """Return the number of ``steps``, ``iterations``, and of matrices that were ``factorised``."""
        return {
            "steps": self.n,
            "iterations": int(self._iterations[0]),
            "factorised": int(self._factorised[0]),
        }

    @cached_property
    def _loop(self) -> ConservingSteps | None:
        """What compiled loops take of the system, looked for at the first step: of many motions none is ever taken."""
        scheme, parts = self._scheme, self._scheme.compiled()
        return parts and ConservingSteps(self.system, scheme.order, *parts, self._limit, _MANY[scheme.order])

    def _compiled_steps(self, n: int, steps: Steps) -> int:
        """Take up to n steps of one size without factors, where the system is a small one."""
        h = float(steps.sizes[0])
        if len(steps.sizes) > 1 or self._of_step[0] != abs(h) or self._effort[0] != _PLAIN or self._loop is None:
            return 0
        self._at_once = self._loop.at_once
        if self._effort[2] > _MANY[self._scheme.order]:
            return 0
        self._h = h
        self._prepare()
        magnitudes, arrays = self._preconditioner.magnitudes, (self._q, self._v, self._a, self._before)
        taken, residuals = self._loop.take(n, h, self.n == 0, magnitudes, arrays, self._effort)
        self._iterations += residuals
        return taken

    def _step(self, t: float, h: float) -> None:
        if self._compiled_steps(1, Steps.one(t, h)):
            return
        system, scheme = self.system, self._scheme
        self._begin(t, h)
        self._prepare()
        self._solve(t, h)
        z1 = self._solver.z
        self._with_stencils(z1[0], lambda: scheme.add(z1, self._gain))
        if system.loads:
            self._work.add_loads(scheme.work(z1))
        for now, before in zip((self._q, self._v, self._a), self._before, strict=True):
            before[...] = now
        self._q += self._gain[0]
        self._v += self._gain[1] / h
        system.accelerations(system.force(t + h, self._q, self._v), self._a)

    def observe(self, t: float) -> None:
        """Nothing: the accelerations are there."""

    def _begin(self, t: float, h: float) -> None:
        """Set up the equations of a step of size h in s from the time t."""
        self._t, self._h, self._z0 = t, h, np.stack([self._q, h * self._v])
        self._with_stencils(self._q, lambda: self._scheme.begin(t, h, self._z0, self._a))

    def stencils_changed(self) -> None:
        """Begin again with factors: a motion that goes on from a checkpoint would have others than these."""
        self._of_step[0] = 0.0

    def _with_stencils(self, q1: Array, evaluate: Callable[[], None]) -> None:
        """Evaluate what takes matrices within a step that ends at q1, with stencils found again if they lack some.

        They are found for both ends of the step; what lies between is complete where it is no farther than half a
        margin from one of them.
        """
        try:
            evaluate()
        except IncompleteStencils:
            self.system.extend_list((self._z0[0], q1))
            self.stencils_changed()
            self._scheme.begin(self._t, self._h, self._z0, self._a)
            evaluate()

    def _prepare(self) -> None:
        """Make the preconditioner what it should be at the beginning of a step."""
        way, at_first, at_last = self._effort
        size = abs(self._h)
        if self._of_step[0] != size:
            self._of_step[0], self._stiff_at[...], self._ready = size, self._q, True
            self._linearise(self._q)
            way = _PLAIN if self._preconditioner.largest() < _CONTRACTS else _FACTORS
            requested = way == _FACTORS
        elif way == _PLAIN:
            requested = at_last > _MANY[self._scheme.order]
        else:
            requested = at_last > _STALE * at_first + _FEW
        if requested:
            way = _FACTORS
            self._renew(self._q)
        elif not self._ready:  # gone on with from a checkpoint
            self._linearise(self._stiff_at)
            if way == _FACTORS:
                self._preconditioner.factorise()
        self._effort[0] = way
        self._ready = True

    def _solve(self, t: float, h: float) -> None:
        """Solve the equations of the step, with factors if it can't be done without."""
        solver = self._solver
        plain = self._effort[0] == _PLAIN
        moving = plain or self._scheme.starts_moving
        start = self._extrapolated() if moving else rigid_prediction(self.system, *self._z0)
        try:
            count = self._converge(start)
            if not (plain or count <= _EASY or self._is_near(solver.z)):
                count += self._go_on_from(self._followed(t, h), solver.z)
        except StepFailed as error:
            if not plain:
                best = solver.z
                near = self._followed(t, h)
                try:
                    count = self._go_on_from(near, self._z0)
                except StepFailed:
                    raise with_context(error, f"{error}{self._scheme.remark(best)}") from None
            else:
                self._effort[0] = _FACTORS
                self._renew(self._q)
                self._solve(t, h)
                return
        self._iterations += count
        self._effort[2] = count
        if self._effort[1] == 0.0:
            self._effort[1] = count

    def _converge(self, start: Array) -> int:
        """Solve the equations from a start down to round-off; return the number of residuals it took."""
        floor = FLOOR * self._solver.norm(self._preconditioner.size(self._z0))
        part = PLAIN_PART if self._effort[0] == _PLAIN else _FACTORS_PART
        return self._solver.solve(self, start, floor, part * floor)

    def _is_near(self, z: Array) -> bool:
        """Return whether small steps can lead to a root: not if it is no minimum where theirs is one."""
        if not self._scheme.is_minimum:
            return True
        self._renew(0.5 * (self._z0[0] + z[0]))
        return self._preconditioner.definite

    def _go_on_from(self, near: Array | None, other: Array) -> int:
        """Solve the equations from near the root that small steps lead to, if there is one, or from another root."""
        return self._converge(other if near is None else near)

    def _followed(self, t: float, h: float) -> Array | None:
        """Return nearly the root that small steps lead to, if any does, and set up the equations of the step again."""
        whole, left = self._z0, _EFFORT * self._limit

        def root(part: float, guess: Array) -> Array | None:
            nonlocal left
            if left < 0:
                return None
            self._begin(t, part * h)
            guess = np.stack([guess[0], part * guess[1]])
            try:
                self._renew(0.5 * (self._z0[0] + guess[0]))
                self._converge(guess)
            except StepFailed:
                return None
            finally:
                left -= self._solver.count
            found = self._solver.z
            off, moved = self._solver.norm(found - guess), self._solver.norm(found - self._z0)
            if off > _CLOSE * moved or not self._is_near(found):
                return None
            return np.stack([found[0], found[1] / part])

        slope = np.stack([whole[1], h * h * self._a])
        try:
            return followed(root, whole, slope, _SHORTEST_PART)
        finally:
            self._begin(t, h)
            self._renew(self._q)

    def _extrapolated(self) -> Array:
        """Return where a smooth motion would be: on the quintic through the last two states, or by Taylor's series.

        The states of methods of second order are not so near to one smooth motion that the quintic were of use.
        """
        h = self._h
        if self.n == 0 or self._scheme.order == 2:
            bend = 0.5 * h * h * self._a
            return self._z0 + np.stack([self._z0[1] + bend, 2.0 * bend])
        q, v, a = self._before
        ends = [q, h * v, h * h * a, self._q, h * self._v, h * h * self._a]
        return np.stack([q + combined(AHEAD[:1], ends)[0], combined(AHEAD[1:], ends)[0]])

    def residual(self, z: Array) -> Array:
        """Return g(z)."""
        self._with_stencils(z[0], lambda: self._scheme.add(z, self._gain))
        return z - self._z0 - self._gain

    def correction(self, g: Array) -> Array:
        """Return what is nearly the solution of the linearised equations."""
        return g if self._effort[0] == _PLAIN else self._preconditioner.solve(g)

    def renew(self, z: Array) -> bool:
        """Make the factors again for the middle of a step that ends at z; return whether they are used."""
        if self._effort[0] == _PLAIN:
            return False
        self._renew(0.5 * (self._z0[0] + z[0]))
        return True

    def _renew(self, q: Array) -> None:
        self._stiff_at[...] = q
        self._linearise(q)
        self._preconditioner.factorise()
        self._factorised += 1
        self._effort[1] = 0.0

    def _linearise(self, q: Array) -> None:
        self._with_stencils(q, lambda: self._preconditioner.linearise(q, self._h))
