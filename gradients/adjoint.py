"""Adjoints: the derivatives of one number of a run by all that it depends on, carried backwards step by step."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked, described
from symplex.base.quantities import not_negative
from symplex.base.representation import Summarized
from symplex.errors import InvalidArgument, InvalidSystem
from symplex.fem.assembly.inner_products import norm
from symplex.fem.assembly.pattern import Array
from symplex.fem.system import State, System
from symplex.gradients.differentiable import DifferentiableRun, require_times
from symplex.gradients.explicit_loop import ExplicitLoop
from symplex.gradients.family import Family
from symplex.gradients.internal_variables import Increment
from symplex.gradients.linear_steps import (
    Change,
    ForcesAtPoint,
    LinearAccelerations,
    LinearStep,
    Step,
    StepForces,
    Variation,
    added,
    has_products,
    unconditional,
)
from symplex.gradients.staged import Build, staged
from symplex.gradients.tangents import state_of
from symplex.time.explicit.newmark import NewmarkMotion
from symplex.time.integrator import Integrator
from symplex.time.motion import FixedStepMotion

# What a state adds to the number that is differentiated, and its derivatives by positions and velocities.
Cost = Callable[[State], tuple[float, ArrayLike, ArrayLike]]

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
    stages = staged("gradient", build, parameters, integrator)
    if stages is None:
        family = Family(build, parameters, scales, "gradient")  # pyright: ignore[reportArgumentType]
        _require_factors(factors, [family.system])
        run = _AdjointRun(family, integrator, times, times, cost, factors, budget)  # pyright: ignore[reportArgumentType]
        back = run.back(None)
        return back.result(run.value)
    require_times("gradient", times, stages.start(stages.p).t)
    _require_factors(factors, [stage.system for stage in stages.stages])
    inside, start, runs = stages.times(times), stages.start, list[_AdjointRun]()
    for k, some in enumerate(inside):
        until = stages.until(k, some, k + 1 == len(inside))
        family = Family(stages.of(k, start), stages.p, scales, "gradient")
        known = [name for name in factors if name in family.system.energies]
        share = budget / len(inside)
        runs.append(_AdjointRun(family, stages.method(k, family.state), until, some, cost, known, share))
        end = state_of(runs[-1].motion).timed(stages.stages[k].end)

        def start(p: Array, state: State = end) -> State:
            return state

    back = None
    for run in reversed(runs):
        back = run.back(back)
    assert back is not None, "there is a stage"
    return back.result(sum(run.value for run in runs))


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
    motion : FixedStepMotion
        At its end.
    value : float
        The sum of the costs of states at some of its times.
    """

    def __init__(
        self,
        family: Family,
        integrator: Integrator,
        times: Array,
        charged: Array,
        cost: Cost,
        factors: Sequence[str],
        budget: float,
    ):
        system = family.system
        self._run = run = DifferentiableRun("gradient", system, family.state, integrator, times)
        self._back = _Backward(family, factors)
        self.motion = motion = run.begin()
        self._start = {name: array.copy() for name, array in motion.arrays().items()}
        samples = run.samples(motion)
        self._tape = (_ExplicitTape if run.is_plain and has_products(system) else _Tape)(run, self._back)
        self._last = samples[-1]
        wanted = set(samples[: len(charged)])
        segment = _segment(self._last, self._tape.bytes_per_step, budget)
        self._at_samples: dict[int, tuple[Array, Array]] = {}
        self._checkpoints: list[tuple[int, Mapping[str, Array]]] = []
        self.value = _paid(cost, family.state, self._at_samples, 0) if 0 in wanted else 0.0
        while motion.n < self._last:
            if motion.n % segment == 0:
                self._checkpoints.append((motion.n, motion.checkpoint()))
                self._tape.begin(motion, min(segment, self._last - motion.n))
            stop = min(n for n in (*samples, motion.n - motion.n % segment + segment) if n > motion.n)
            self._tape.take(stop - motion.n)
            if stop in wanted:
                self.value += _paid(cost, state_of(motion), self._at_samples, stop)

    def back(self, after: _Backward | None) -> _Backward:
        """Go back from its end, or from where a run after it has come to."""
        last, tape, back, at_samples = self._last, self._tape, self._back, self._at_samples
        if after is not None:
            back.follow(after)
        for k, (first, checkpoint) in enumerate(reversed(self._checkpoints)):
            if k:
                tape.begin(self._run.resume(checkpoint), last - first)
                tape.take(last - first)
            stops = sorted({first, last} | {n for n in at_samples if first < n < last}, reverse=True)
            for here, before in pairwise(stops):
                if here in at_samples:
                    back.add(*at_samples[here])
                tape.back(before - first, here - first)
            last = first
        tape.end()
        if 0 in at_samples:
            back.add(*at_samples[0])
        back.begin_of_run(self._start)
        return back


def _segment(n_steps: int, n_bytes: int, budget: float) -> int:
    """Return how many steps are stored together, and after how many there is a checkpoint."""
    fits = int(budget / n_bytes)
    if n_steps <= fits or n_steps == 0:
        return max(n_steps, 1)
    return min(max(math.isqrt(n_steps), 1), max(fits, 1))


class _Tape:
    """Steps of a run as they were taken since a checkpoint, and the way back over them."""

    _motion: FixedStepMotion
    arrays_per_step = 6

    def __init__(self, run: DifferentiableRun, back: _Backward):
        self._run, self._back = run, back
        state = run.start
        internal = sum(z.nbytes for z in state.internal.values())
        self.bytes_per_step = run.parts * (self.arrays_per_step * state.q.nbytes + internal)

    def begin(self, motion: FixedStepMotion, n: int) -> None:
        """Begin at a checkpoint, from which n steps are kept."""
        self._motion, self._taken, self._steps = motion, [], self._run.steps(motion)

    def take(self, n: int) -> None:
        """Take n steps."""
        self._taken += [next(self._steps) for _ in range(n)]

    def back(self, first: int, last: int) -> None:
        """Go back over the steps from the number last, counted from the checkpoint, to first."""
        for parts in reversed(self._taken[first:last]):
            for step in reversed(parts):
                linear, forces = self._run.linearised(step, self._back.family.deltas)
                self._back.step(linear, forces, step)

    def end(self) -> None:
        """End the way back."""


class _ExplicitTape(_Tape):
    """The same of explicit steps without forces that depend on velocities, in one compiled loop."""

    arrays_per_step = 2

    def __init__(self, run: DifferentiableRun, back: _Backward):
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
        some, loop = slice(first * self._run.parts, last * self._run.parts), self._loop
        by = self._back.by
        loop.by_q[...], loop.by_v[...] = by.q[..., 0], by.v[..., 0]
        self._first = some.start
        loop.back(self._sizes[some], *self._room[:, some])
        self._back.by = by._replace(
            q=loop.by_q[..., None].copy(), v=loop.by_v[..., None].copy(), a=loop.by_a[..., None].copy()
        )

    def _add(self, by_forces: Array, k: int, parameters: list[int]) -> None:
        """Add what derivatives by the forces of a kept step say of some parameters, and of factors."""
        q = self._room[0, self._first + k]
        forces = ForcesAtPoint(float(self._times[self._first + k]), q, np.zeros_like(q))
        self._back.take(unconditional(by_forces[..., None]), forces, None, parameters)

    def end(self) -> None:
        """End the way back."""
        self._back.add_explicit(self._loop)


def _paid(cost: Cost, state: State, at_samples: dict[int, tuple[Array, Array]], number: int) -> float:
    """Return what a state costs, and keep the derivatives."""
    found = cost(state)
    try:
        value, by_q, by_v = found
        number_, by_q, by_v = float(value), np.array(by_q, float), np.array(by_v, float)
        if by_q.shape != state.q.shape or by_v.shape != state.q.shape:
            raise ValueError
    except (TypeError, ValueError):
        raise InvalidArgument(
            f"gradient: cost must return a number and its derivatives by positions and velocities, "
            f"{state.q.shape} each, got {described(found)}."
        ) from None
    at_samples[number] = by_q, by_v
    return number_


class _Backward:
    """The derivatives by a state, and by all that steps after it depend on.

    Attributes
    ----------
    by : Variation
        Those by the state.
    family : Family
    factors : dict of str to float64 [m]
    """

    def __init__(self, family: Family, factors: Sequence[str]):
        self.family, self._system = family, family.system
        zero = np.zeros((*family.state.q.shape, 1))
        z = {name: np.zeros((*one.shape, 1)) for name, one in family.state.internal.items()}
        self.by = Variation(zero, zero, zero, zero, z)
        self._parameters = np.zeros(len(family))
        self._mass = np.zeros(self._system.n_nodes)
        self.factors = {name: np.zeros(len(self._system.energies[name].nodes)) for name in factors}
        self._added, self._largest = np.zeros(2), np.zeros(2)  # sizes of derivatives by positions, and velocities

    def add(self, by_q: Array, by_v: Array) -> None:
        """Add the derivatives of a cost by a state."""
        by = self.by
        self.by = by._replace(q=by.q + by_q[..., None], v=by.v + by_v[..., None])
        self._added += norm(by_q), norm(by_v)

    def step(self, linear: LinearStep, forces: StepForces, step: Step) -> None:
        """Take a step back."""
        self.by, by_g = linear.backward(self.by)
        self.take(by_g, forces, step.a1, range(len(self._parameters)))
        np.maximum(self._largest, (norm(self.by.q), norm(self.by.v)), out=self._largest)

    def follow(self, after: _Backward) -> None:
        """Begin where a later run has come to, with what it has found."""
        zero = np.zeros_like(after.by.q)
        self.by = Variation(after.by.q, after.by.v, zero, zero, after.by.z)
        self._parameters += after._parameters
        self._mass += after._mass
        self._added, self._largest = after._added, after._largest
        self.factors = after.factors | {name: one + after.factors.get(name, 0.0) for name, one in self.factors.items()}

    def add_explicit(self, loop: ExplicitLoop) -> None:
        """Add what a compiled loop over explicit steps has found."""
        self._parameters += loop.parameters
        self._add_masses(loop.by_mass.sum(axis=1))
        np.maximum(self._largest, loop.largest, out=self._largest)

    def _add_masses(self, by_mass: Array) -> None:
        self._mass += by_mass
        if self.family.masses is not None:
            self._parameters += by_mass @ self.family.masses

    def take(self, by: Change, forces: StepForces, a: Array | None, parameters: Iterable[int]) -> None:
        """Add the derivatives by some parameters, masses and factors that act through changes of equations.

        Without accelerations a [n, dim] those by masses are left out.
        """
        family, system, by_g = self.family, self._system, by.forces[..., 0]
        for j in parameters:
            changed = family.changed[j]
            if changed:
                self._parameters[j] += float(np.sum(by_g * family.slope_of_forces(j, forces)))
            if changed.joints:
                self._parameters[j] += float(by.conditions[:, 0] @ family.slope(j, forces.conditions))
            for name in changed.inelastic if by.variables else ():
                z1 = family.slope_of_variables(j, forces, name)
                self._parameters[j] += float(np.sum(by.variables[name][..., 0] * z1))
        if system.is_lumped and a is not None:
            self._add_masses(np.einsum("nd,nd->n", by_g, a))
        for name, out in self.factors.items():
            local = forces.local(system, name)
            out += np.einsum("mkd,mkd->m", by_g[system.energies[name].nodes], local)

    def begin_of_run(self, start: Mapping[str, Array]) -> None:
        """Go through the accelerations at the start."""
        state, system, q = self.family.state, self._system, start["q"]
        self.by = by = self.by._replace(v=np.where(system.fixed[..., None], 0.0, self.by.v))  # supports have their own
        if system.frames is not None:
            return  # of methods that carry none
        linear = LinearAccelerations(system, state.t, q, start["v"])
        by_q, by_v, by_g = linear.backward(np.where(system.fixed[..., None], 0.0, by.a + by.own))
        at = Increment(q, state.internal, q, 0.0, 1.0, False) if system.inelastic else None
        everything = range(len(self._parameters))
        self.take(unconditional(by_g), ForcesAtPoint(*linear.at, at), start["a"], everything)
        by_v = np.where(system.fixed[..., None], 0.0, by_v)
        self.by = by = by._replace(q=by.q + by_q, v=by.v + by_v)
        if at is not None:
            found = at.backward(system, by_g[..., 0])
            self.by = by._replace(q=by.q + (found.q0 + found.q1)[..., None], z=added(by.z, found.z0))

    def result(self, value: float) -> RunGradient:
        """Return all derivatives."""
        family, q0, v0 = self.family, self.by.q[..., 0], self.by.v[..., 0]
        z0 = {name: by[..., 0] for name, by in self.by.z.items()}
        parameters = self._parameters + np.einsum("ndk,nd->k", family.dq, q0) + np.einsum("ndk,nd->k", family.dv, v0)
        parameters += sum(by.ravel() @ family.dz[name].reshape(by.size, -1) for name, by in z0.items())
        growth = np.divide(self._largest, self._added, out=np.zeros(2), where=self._added > 0.0)
        return RunGradient(value, parameters, q0, v0, z0, self._mass, self.factors, float(growth.max()))
