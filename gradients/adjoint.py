"""Adjoints: the derivatives of one number of a run by all that it depends on, carried backwards step by step."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked, described
from symplex.base.quantities import not_negative
from symplex.base.representation import Summarized
from symplex.errors import InvalidArgument, InvalidSystem, StepFailed
from symplex.fem.assembly.pattern import Array
from symplex.fem.system import State, System
from symplex.gradients.backward import Backward
from symplex.gradients.conditions import Condition
from symplex.gradients.differentiable import DifferentiableRun
from symplex.gradients.family import Family
from symplex.gradients.staged import Build, staged
from symplex.gradients.tapes import IntegerTape, Tape, WalkingTape, tape_of
from symplex.time.integrator import Integrator

# What a state adds to the number that is differentiated, its derivatives by positions and velocities, and by the time.
Cost = Callable[[State], Sequence[Any]]

_BUDGET = 2e9  # bytes of stored steps


@dataclass(frozen=True, repr=False)
class RunGradient(Summarized):
    """A number of a run, and its derivatives.

    Attributes
    ----------
    value : float
        The sum of the costs.
    parameters : float64 [k]
        Derivatives by the parameters.
    q0, v0 : float64 [n, dim]
        By positions and velocities of the start, energies and loads staying as they are.
    z0 : dict of str to float64
        By internal variables of the start, by the names of parts.
    mass : float64 [n]
        By lumped masses; zero where there is a consistent mass.
    factors : dict of str to float64 [m]
        By a factor on each local energy (an element's modulus, relative to what it is), of the energies asked for.
    retaken : int
        How many steps were taken again from checkpoints.
    growth : float
        How many times larger the derivative by a state, its positions or velocities, has become on the way than what
        costs have added to it. Where motions are chaotic or unstable it is large, and a gradient right but useless.
    """

    value: float
    parameters: Array
    q0: Array
    v0: Array
    z0: Mapping[str, Array]
    mass: Array
    factors: Mapping[str, Array]
    retaken: int
    growth: float


@partial(checked, but=("parameters", "scales"))
def gradient(
    build: Build,
    parameters: ArrayLike,
    integrator: Integrator | None,
    times: Array,
    cost: Cost,
    *,
    scales: ArrayLike | None = None,
    factors: Sequence[str] = (),
    budget: Annotated[float, not_negative("B")] = _BUDGET,
    states: Literal["keep", "walk back"] = "keep",
) -> RunGradient:
    """Return a number of a run and its derivatives by all that it depends on, by one run back.

    The transposes of the linearised steps (see `tangent`) are applied from the last to the first. Steps are stored, or,
    where they do not fit into the budget, taken again from checkpoints, one at each √N of N steps.

    Parameters
    ----------
    build : callable
        ``build(p)`` returns the `System` and the `State` at the start for parameters p [k]; as for `tangent`.
    parameters : float64 [k]
        p where derivatives are taken.
    integrator : Integrator
        One that `tangent` takes; None where ``build(p)`` returns `Stages` in place of the system.
    times : float64 [T]
        In s, ascending.
    cost : callable
        ``cost(state)`` returns what a state at one of the times adds to the number, c, with ∂c/∂q and ∂c/∂v [n, dim].
    scales : float64 [k], optional
        How much of each parameter is a considerable change; default: its size, which must not be zero then.
    factors : sequence of str, optional
        Energies by whose local energies, each times a factor, derivatives are found too: the field of moduli of a body.
    budget : float, default 2e9
        Bytes that stored steps may take.
    states : {"keep", "walk back"}, default "keep"
        Whether states are kept for the way back, or found again by steps backwards. Explicit `Newmark` takes its steps
        on integers then, which return to the same bits (the run differs by rounding from that of `march`). By
        `EnergyMomentum` and `Midpoint` states are compared with a checkpoint each √N steps, and taken again from there
        where they do not return, as where friction sticks or damping is strong.

    Returns
    -------
    RunGradient

    Raises
    ------
    InvalidSystem
        If the method or a part of the system has no derivatives, with its name, or there is no such energy.
    InvalidArgument
        If an argument is of another kind than described.
    StepFailed
        If a step cannot be taken.

    Examples
    --------
    >>> def cost(state):
    ...     missed = state.q[tip] - target
    ...     by_q = np.zeros_like(state.q)
    ...     by_q[tip] = missed
    ...     return 0.5 * missed @ missed, by_q, np.zeros_like(by_q)
    >>> found = sx.gradient(build, [1e6], sx.Newmark(1e-5), [0.1], cost, factors=["strain"])
    """
    times = np.asarray(times, float)
    stages = staged("gradient", build, parameters, integrator, times)
    if stages is None:
        family = Family(build, parameters, scales, "gradient")  # pyright: ignore[reportArgumentType]
        _require_factors(factors, [family.system])
        made = DifferentiableRun("gradient", family.system, family.state, integrator, times)  # pyright: ignore[reportArgumentType]
        run = _AdjointRun(family, made, len(times), cost, factors, budget, states)
        return _result(run.back(None), [run])
    _require_factors(factors, [leg.stage.system for leg in stages.legs])
    runs, k = list[_AdjointRun](), len(stages.p)
    start: Callable[[Array], State] = stages.start
    own = np.abs(stages.p) if scales is None else np.asarray(scales, float)
    for leg in stages.legs:
        some, until = stages.inside(leg)
        p, sizes = (
            np.append(stages.p, stages.moved[: leg.conditions]),
            np.append(own, leg.conditions * [leg.entered.dt]),
        )
        build_leg = stages.of(leg, partial(_of_own, start, k), partial(_moved, k))
        family = Family(build_leg, p, sizes, "gradient", moves=leg.shift != 0.0)
        known = [name for name in factors if name in family.system.energies]
        made = DifferentiableRun("gradient", family.system, family.state, stages.method(leg, family.state), until, leg)
        share = budget / len(stages.legs)
        run = _AdjointRun(family, made, len(some), cost, known, share, states)
        if leg.moves:
            run.condition = Condition(stages, leg, family, made, run.end)
        runs.append(run)
        start = partial(_given, run.end.timed(leg.end))
    back = None
    for run in reversed(runs):
        back = run.back(back)
    assert back is not None, "there is a stage"
    return _result(back, runs)


def _of_own(start: Callable[[Array], State], k: int, p: Array) -> State:
    """Return the start for k parameters, of which there are more."""
    return start(p[:k])


def _moved(k: int, p: Array) -> Array:
    """Return the times in s of conditions, which follow k parameters."""
    return p[k:]


def _given(state: State, p: Array) -> State:
    """Return a state, which is the same for all parameters."""
    return state


def _result(back: Backward, runs: Sequence[_AdjointRun]) -> RunGradient:
    value, retaken = sum(run.value for run in runs), sum(run.retaken for run in runs)
    z0 = {name: by[..., 0] for name, by in back.by.z.items()}
    q0, v0 = back.by.q[..., 0], back.by.v[..., 0]
    return RunGradient(value, back.by_parameters(), q0, v0, z0, back.mass, back.factors, retaken, back.growth)


def _require_factors(factors: Sequence[str], systems: Sequence[System]) -> None:
    """Check that derivatives by factors on local energies are known."""
    fit = list(dict.fromkeys(name for one in systems for name in one.energies if name not in one.changing))
    for name in factors:
        if name not in fit:
            raise InvalidSystem(f"gradient: factors must be energies with stencils that stay, {fit}, got '{name}'.")


class _AdjointRun:
    """A run that was taken, with what it takes to go back.

    Attributes
    ----------
    end : State
    retaken : int
        How many steps were taken again.
    value : float
        The sum of the costs of states at some of its times.
    condition : Condition or None
        That ends it.
    """

    condition: Condition | None

    def __init__(
        self,
        family: Family,
        run: DifferentiableRun,
        n_charged: int,
        cost: Cost,
        factors: Sequence[str],
        budget: float,
        states: str,
    ):
        self._run, self.condition = run, None
        self._back = Backward(family, factors)
        motion = run.begin()
        self._start = {name: array.copy() for name, array in motion.arrays().items()}
        samples = run.samples(motion)
        self._tape = tape_of(run, self._back, states == "walk back")
        self.retaken, self._last = 0, samples[-1]
        required = set(samples[:n_charged])
        segment = self._last or 1
        if not isinstance(self._tape, IntegerTape):
            room = 0.0 if isinstance(self._tape, WalkingTape) else budget
            segment = _segment(self._last, self._tape.bytes_per_step, room)
        self._at_samples: dict[int, tuple[Array, Array, float]] = {}
        self._checkpoints: list[tuple[int, Mapping[str, Array]]] = []
        self.value = _paid(cost, family.state, self._at_samples, 0) if 0 in required else 0.0
        n = 0
        while n < self._last:
            if n % segment == 0:
                self._checkpoints.append((n, motion.checkpoint()))
                self._tape.begin(motion, min(segment, self._last - n))
            stop = min(k for k in (*samples, n - n % segment + segment) if k > n)
            self._tape.take(stop - n)
            n = stop
            if n in required:
                self.value += _paid(cost, self._tape.state, self._at_samples, n)
        self.end = self._tape.state if self._last else family.state

    def back(self, after: Backward | None) -> Backward:
        """Go back from its end, or from where a run after it has come to."""
        last, tape, later = self._last, self._tape, None
        by_time = 0.0 if after is None else self._back.follow(after)
        if self.condition is not None:
            if self.condition.stops and last in self._at_samples:  # else it is of a given time
                *costs, more = self._at_samples.pop(last)
                self._back.add(*costs)
                by_time += more
            self._back.end_by(*self.condition.backward(self._back.by, by_time))
        for first, checkpoint in reversed(self._checkpoints):
            if not (isinstance(tape, WalkingTape) and self._walks(tape, first, last, checkpoint, later)):
                again: Tape = Tape(self._run, self._back) if isinstance(tape, WalkingTape) else tape
                if later is not None or again is not tape:
                    again.begin(self._run.resume(checkpoint), last - first)
                    again.take(last - first)
                    self.retaken += last - first
                self._go_back(again, first, last)
            last, later = first, checkpoint
        tape.end()
        if 0 in self._at_samples:
            self._back.add(*self._at_samples[0][:2])
        self._back.begin_of_run(self._start)
        return self._back

    def _walks(
        self,
        tape: WalkingTape,
        first: int,
        last: int,
        checkpoint: Mapping[str, Array],
        later: Mapping[str, Array] | None,
    ) -> bool:
        """Walk back to a checkpoint, from a later one or the end; return whether that is where it has led."""
        kept = self._back.copy()
        if later is not None:
            tape.begin(self._run.resume(later), last - first)
        try:
            self._go_back(tape, first, last)
        except StepFailed:
            returned = False
        else:
            returned = tape.has_returned(checkpoint)
        if not returned:
            self._back.restore(kept)
        return returned

    def _go_back(self, tape: Tape, first: int, last: int) -> None:
        """Go back over the steps after a checkpoint."""
        stops = sorted({first, last} | {n for n in self._at_samples if first < n < last}, reverse=True)
        for here, before in pairwise(stops):
            if here in self._at_samples:
                self._back.add(*self._at_samples[here][:2])
            tape.back(before - first, here - first)


def _segment(n_steps: int, n_bytes: int, budget: float) -> int:
    """Return how many steps are stored together, and after how many there is a checkpoint."""
    fits = int(budget / max(n_bytes, 1))
    if n_steps <= fits or n_steps == 0:
        return max(n_steps, 1)
    return math.isqrt(n_steps)


def _paid(cost: Cost, state: State, at_samples: dict[int, tuple[Array, Array, float]], number: int) -> float:
    """Return what a state costs, and keep the derivatives."""
    found = cost(state)
    try:
        value, by_q, by_v, *by_t = found
        numbers, by_q, by_v = [float(x) for x in (value, *by_t)], np.array(by_q, float), np.array(by_v, float)
        if by_q.shape != state.q.shape or by_v.shape != state.q.shape or len(by_t) > 1:
            raise ValueError
    except (TypeError, ValueError):
        raise InvalidArgument(
            f"gradient: cost must return a number and its derivatives by positions and velocities, "
            f"{state.q.shape} each, and by the time if it depends on that, got {described(found)}."
        ) from None
    at_samples[number] = by_q, by_v, sum(numbers[1:])
    return numbers[0]
