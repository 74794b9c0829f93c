"""How the times of conditions that end a part of a run depend on parameters.

A condition g(u, t, p) = 0 is located within a step by a shorter one, whose end u depends on its time t* too.
With changes δu of that end at a fixed time, and its rate u' by that time,

    δt* = −(∂g/∂u δu + ∂g/∂p δp)/(∂g/∂u u' + ∂g/∂t),    du = δu + u' δt*.

Backwards, with μ the derivatives by u, and ν those by t* of all that follows: with λ = −(μ·u' + ν)/(∂g/∂u u' + ∂g/∂t)
the condition adds λ ∂g/∂u to those by u at a fixed time, and λ ∂g/∂p to those by parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import final

import numpy as np

from symplex.errors import InvalidSystem
from symplex.fem.assembly.pattern import Array
from symplex.fem.system import State, System
from symplex.gradients.differentiable import DifferentiableRun
from symplex.gradients.family import Family
from symplex.gradients.internal_variables import WEIGHTS
from symplex.gradients.linear_steps import Variation
from symplex.gradients.staged import Leg, StagedBuild
from symplex.gradients.tangents import along, slopes
from symplex.time.stage_event import Event

_OF_STEP = 1e-2  # of the size of a step, to differentiate by the time
_RELATIVE = 1e-5  # of the size of positions, velocities and others, to differentiate by one of them
_LEAST_RATE = 1e-3  # of a condition where it begins to hold, relative to its mean on the way there
_SHORTEST = 1e-7  # step to it, relative to its time, to differentiate by that
_OF_STATE = 1e-6  # how far a condition of the state alone may be from holding, relative to the start of the way


@final
class Condition:
    """A condition where it begins to hold, at the end of a part of a run.

    Parameters
    ----------
    stages : StagedBuild
    leg : Leg
    family : Family
    run : DifferentiableRun
    state : State
        At its end.

    Attributes
    ----------
    stops : bool
        Whether the run ends there.
    by_end : Variation
        The derivatives [..., 1] of the state by its time.

    Raises
    ------
    InvalidSystem
        If it has no derivative: where it only just holds, or depends on more than a state.
    """

    def __init__(self, stages: StagedBuild, leg: Leg, family: Family, run: DifferentiableRun, state: State):
        assert leg.event is not None, "a condition ends it"
        self._stages, self._family, self._run, self._state, self._leg = stages, family, run, state, leg
        self._name = leg.event.name
        self.stops = leg.event.then == "stop"
        self.is_time = leg.event.value == "time"
        if self.is_time:
            bound, count = (
                leg.event.bound,
                range(len(family)),
            )  # the difference is zero, without rounding, if it is given
            bounds = [family.slope(j, lambda system: np.array(self._event(system).bound - bound)) for j in count]
            self._bounds, self._since = np.array(bounds), self._place_of_last_before()
            if self._since is None and not self._bounds.any():
                zero, z = np.zeros((*state.q.shape, 1)), {k: np.zeros((*z.shape, 1)) for k, z in state.internal.items()}
                self.by_end = Variation(zero, zero, zero, zero, z)
                return
        if leg.end - leg.entered.t < _SHORTEST * abs(leg.end):
            raise InvalidSystem(
                f"{stages.who}: the condition '{self._name}' holds {leg.end - leg.entered.t:.1g} s after a step, too "
                "soon to find by differences how the state depends on that time. Change its bound or the step a little."
            )
        self.by_end = run.by_end()
        if self.is_time:
            return
        start, end = (self._excess(family.system, one) for one in (family.state, state))
        if not abs(end) <= _OF_STATE * abs(start):
            raise InvalidSystem(
                f"{stages.who}: the condition '{self._name}' has no derivative: its value depends on more than the "
                "state, as work that was done does. Take one of the state."
            )
        delta = _OF_STEP * leg.entered.dt
        self._rate = along(family.system, state, self.by_end, 0, delta, self._excess, 1.0)
        if not self._rate * (leg.end - leg.entered.t) > _LEAST_RATE * abs(start):
            raise InvalidSystem(
                f"{stages.who}: the condition '{self._name}' only just holds at t = {leg.end:.9g} s, where its value "
                f"changes by {self._rate:.3g} in a second: that time has no derivative by parameters. Change its bound."
            )

    def _place_of_last_before(self) -> int | None:
        """Return the number of the condition from which the time of this one counts."""
        event, moved = self._leg.event, self._stages.moved
        assert event is not None, "a condition ends it"
        t = max((t for name, t in self._stages.all_happened.items() if name in event.after), default=None)
        if t is None or t in moved:
            return None if t is None else moved.index(t)
        if t <= self._stages.legs[0].entered.t:
            return None  # it holds from the start
        raise InvalidSystem(
            f"{self._stages.who}: the time of the condition '{self._name}' counts from one that is only recorded, "
            "of which no derivative is found. Let it follow one that changes the run."
        )

    def _excess(self, system: System, state: State) -> float:
        """Return by how much it holds at a state, with accelerations that follow from it unless they are carried."""
        motion = self._run.at(system, state)
        found = motion.advance(state.t)
        state = replace(found, a=state.a) if self._run.carries else found
        return self._event(system).excess(motion, state, 0.0)

    def _event(self, system: System) -> Event:
        """Return the condition as it is for the parameters of a system."""
        return self._stages.event_of(system, self._name)

    def slopes(self, d: Variation, moved: Array) -> Array:
        """Return the derivatives [k] of its time, from those of the state then and of earlier conditions [m, k]."""
        if self.is_time:
            return self._bounds if self._since is None else self._bounds + moved[self._since]
        return -slopes(self._family, self._state, d, self._excess, every=True) / self._rate

    def backward(self, by: Variation, by_time: float) -> tuple[Variation, Array]:
        """Return the derivatives by the state at a fixed time and by parameters, from those by state and time."""
        family, found = self._family, np.zeros(len(self._family))
        by_time += by.dot(self.by_end)
        if self.is_time:
            found += by_time * self._bounds
            if self._since is not None:
                found[len(self._stages.p) + self._since] += by_time
            return by, found
        factor = -by_time / self._rate
        for j in range(len(found)):
            found[j] = factor * float(family.slope(j, lambda system: np.array(self._excess(system, self._state))))
        return by.plus(self._by_state(), np.array([factor])), found

    def _by_state(self) -> Variation:
        """Return the derivatives [..., 1] of its excess by the state."""
        state, zero = self._state, np.zeros((*self._state.q.shape, 1))
        parts = {"q": state.q, "v": state.v} | ({"a": state.a} if self._run.carries else {})
        found = {name: self._by(array, name, None)[..., None] for name, array in parts.items()}
        z = {name: self._by(array, "internal", name)[..., None] for name, array in state.internal.items()}
        return Variation(found["q"], found["v"], found.get("a", zero), zero, z)

    def _by(self, array: Array, name: str, part: str | None) -> Array:
        """Return the derivatives of its excess by an array of the state."""
        size = float(np.ptp(array, axis=0).max() if name == "q" else np.abs(array).max(initial=0.0)) or 1.0
        sizes = np.random.default_rng(0).uniform(0.5, 1.0, array.size)  # of changes that do not cancel

        def evaluate(places: slice, e: float) -> float:
            changed = array.ravel().copy()
            changed[places] += e * sizes[places]
            given = changed.reshape(array.shape)
            state = replace(self._state, **{name: given if part is None else {**self._state.internal, part: given}})
            return self._excess(self._family.system, state)

        return (_sparse_slopes(evaluate, array.size, _RELATIVE * size) / sizes).reshape(array.shape)


def _sparse_slopes(evaluate: Callable[[slice, float], float], n: int, delta: float) -> Array:
    """Return the derivatives [n] of a function that depends on few of n numbers, by changes of several of them.

    Where changes of some numbers by δ and −2δ leave it as it is, to the bit, it does not depend on them.
    """
    out, base = np.zeros(n), evaluate(slice(0, 0), 0.0)
    waiting: list[tuple[int, int]] = [(0, n)]
    while waiting:
        first, last = waiting.pop()
        if last - first > 1:
            some = slice(first, last)
            if any(evaluate(some, e) != base for e in (delta, -2.0 * delta)):
                middle = (first + last) // 2
                waiting += [(first, middle), (middle, last)]
        elif last > first:
            at: Sequence[float] = [w * evaluate(slice(first, last), far * delta) for far, w in WEIGHTS]
            out[first] = sum(at) / delta
    return out
