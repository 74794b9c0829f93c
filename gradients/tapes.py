"""How the states of a run are at hand on the way back: kept, or found again by walking back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

import numpy as np

from symplex.errors import InvalidSystem
from symplex.fem.assembly.pattern import Array
from symplex.fem.system import State
from symplex.gradients.backward import Backward
from symplex.gradients.differentiable import DifferentiableRun, moving
from symplex.gradients.explicit_loop import ExplicitLoop
from symplex.gradients.integer_steps import IntegerSteps
from symplex.gradients.linear_steps import ForcesAtPoint, has_products, unconditional
from symplex.gradients.tangents import state_of
from symplex.time.explicit.newmark import NewmarkMotion
from symplex.time.motion import FixedStepMotion

_RETURNED = 1e-11  # how far from a checkpoint, relative to its size, states that were walked back to may be


class Tape:
    """Steps of a run as they were taken since a checkpoint, and the way back over them."""

    _motion: FixedStepMotion
    arrays_per_step = 6

    def __init__(self, run: DifferentiableRun, back: Backward):
        self._run, self._back = run, back
        state = run.start
        internal = sum(z.nbytes for z in state.internal.values())
        self.bytes_per_step = run.parts * (self.arrays_per_step * state.q.nbytes + internal)

    @property
    def state(self) -> State:
        """The state to which steps have been taken."""
        return state_of(self._motion)

    def begin(self, motion: FixedStepMotion, n: int) -> None:
        """Begin at a checkpoint, from which n steps are kept."""
        self._motion, self._taken, self._steps = motion, [], self._run.steps(motion)
        self._before: list[
            Mapping[str, Array]
        ] = []  # checkpoints at the starts of steps that depend on that of the run

    def take(self, n: int) -> None:
        """Take n steps."""
        for _ in range(n):
            if self._run.moves:
                self._before.append(self._motion.checkpoint())
            self._taken.append(next(self._steps))

    def back(self, first: int, last: int) -> None:
        """Go back over the steps from the number last, counted from the checkpoint, to first."""
        for k, parts in reversed(list(enumerate(self._taken))[first:last]):
            if self._run.moves:
                self._back.add_time(self._run.rates(self._before[k], False))
            for step in reversed(parts):
                linear, forces = self._run.linearised(step, self._back.family.deltas)
                self._back.step(linear, forces, step)

    def end(self) -> None:
        """End the way back."""


class ExplicitTape(Tape):
    """The same of explicit steps without forces that depend on velocities, in one compiled loop."""

    arrays_per_step = 2

    def __init__(self, run: DifferentiableRun, back: Backward):
        super().__init__(run, back)
        self._loop = ExplicitLoop(back.family, self._add, bool(back.factors))
        self._room = np.zeros((2, 0, *run.start.q.shape))

    def begin(self, motion: FixedStepMotion, n: int) -> None:
        """Begin at a checkpoint, from which n steps are kept."""
        super().begin(motion, n)
        if self._room.shape[1] < n * self._run.parts:
            self._room = np.empty((2, n * self._run.parts, *self._room.shape[2:]))
        self._sizes, self._kept = np.full(n * self._run.parts, motion.dt), 0
        self._times = motion.t0 + (motion.n + 1.0 + np.arange(n * self._run.parts)) * motion.dt

    def take(self, n: int) -> None:
        """Take n steps."""
        if isinstance(self._motion, NewmarkMotion):
            some = slice(self._kept, self._kept + n)
            self._motion.record(*self._room[:, some])
            self._kept += n
            return
        for _ in range(n):
            for step in next(self._steps):
                self._room[0, self._kept], self._room[1, self._kept] = step.q1, step.a1
                self._sizes[self._kept], self._times[self._kept] = step.h, step.t + step.h
                self._kept += 1

    def back(self, first: int, last: int) -> None:
        """Go back over the steps from the number last, counted from the checkpoint, to first."""
        by, loop = self._back.by, self._loop
        loop.by_q[...], loop.by_v[...] = by.q[..., 0], by.v[..., 0]
        self._go_back(first, last)
        q, v, a = (array[..., None].copy() for array in (loop.by_q, loop.by_v, loop.by_a))
        self._back.by = by._replace(q=q, v=v, a=a)

    def _go_back(self, first: int, last: int) -> None:
        """Go back in the loop."""
        some = slice(first * self._run.parts, last * self._run.parts)
        self._first = some.start
        self._loop.back(self._sizes[some], *self._room[:, some])

    def _add(self, by_forces: Array, k: int, parameters: list[int]) -> None:
        """Add what derivatives by the forces of a kept step say of some parameters, and of factors."""
        q = self._room[0, self._first + k]
        forces = ForcesAtPoint(float(self._times[self._first + k]), q, np.zeros_like(q))
        self._back.take(unconditional(by_forces[..., None]), forces, None, parameters)

    def end(self) -> None:
        """End the way back."""
        self._back.add_explicit(self._loop)


@final
class IntegerTape(ExplicitTape):
    """Explicit steps on integers, which are walked back to the same bits: nothing is kept of them."""

    arrays_per_step = 0

    @property
    def state(self) -> State:
        """The state to which steps have been taken."""
        return self._steps_of.state(self._t0 + self._n * self._h)

    def begin(self, motion: FixedStepMotion, n: int) -> None:
        """Begin at the start of a run."""
        self._steps_of = IntegerSteps(self._run.system, state_of(motion), motion.dt)
        self._t0, self._h, self._n = motion.t0, motion.dt, 0

    def take(self, n: int) -> None:
        """Take n steps."""
        self._steps_of.advance(n)
        self._n += n

    def _go_back(self, first: int, last: int) -> None:
        """Go back in the loop."""
        self._loop.walk(last - first, self._steps_of)
        self._n = first

    def _add(self, by_forces: Array, k: int, parameters: list[int]) -> None:
        """Add what derivatives by the forces of the present step say of some parameters, and of factors."""
        q = self._steps_of.q[0]
        forces = ForcesAtPoint(self._t0, q, np.zeros_like(q))
        self._back.take(unconditional(by_forces[..., None]), forces, None, parameters)


@final
class WalkingTape(Tape):
    """Steps of a method that is its own inverse, each of which is taken again backwards from where it ended."""

    arrays_per_step = 0

    def begin(self, motion: FixedStepMotion, n: int) -> None:
        """Begin at a checkpoint."""
        self._motion = motion

    def take(self, n: int) -> None:
        """Take n steps."""
        self._motion.advance(self._motion.t0 + (self._motion.n + n) * self._motion.dt)

    def back(self, first: int, last: int) -> None:
        """Go back over the steps from the number last to first."""
        motion, run = self._motion, self._run
        for _ in range(first, last):
            t, h, end = motion.t, motion.dt, moving(motion)
            motion.substep(t, -h)
            motion.n -= 1
            step = run.step(motion.t, h, moving(motion), end)
            linear, forces = run.linearised(step, self._back.family.deltas)
            self._back.step(linear, forces, step)

    def has_returned(self, checkpoint: Mapping[str, Array]) -> bool:
        """Return whether it has come back to a checkpoint."""
        now = self._motion.arrays()
        pairs = [(now[name], checkpoint[name]) for name in ("q", "v")]
        return all(np.abs(a - b).max() <= _RETURNED * np.abs(b).max() for a, b in pairs)


def tape_of(run: DifferentiableRun, back: Backward, walks: bool) -> Tape:
    """Return the way in which the states of a run are at hand.

    Raises
    ------
    InvalidSystem
        If it is to walk back, and its method or system cannot.
    """
    plain = run.is_plain and has_products(run.system)
    if run.moves:  # some steps, whose sizes depend on parameters
        return Tape(run, back)
    if not walks:
        return (ExplicitTape if plain else Tape)(run, back)
    if plain and run.parts == 1:
        return IntegerTape(run, back)
    if run.carries or run.parts > 1 or run.system.inelastic or run.system.changing or not run.method.symmetric:
        raise InvalidSystem(
            'gradient: states="walk back" is known of EnergyMomentum, Midpoint and explicit Newmark, without internal '
            "variables and stencils that change, and by Newmark without loads that depend on velocities. Leave it out."
        )
    return WalkingTape(run, back)
