"""Adjoints: the derivatives of one number of a run by all that it depends on, carried backwards step by step."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked, described
from symplex.base.quantities import not_negative
from symplex.base.representation import Summarized
from symplex.errors import InvalidArgument, InvalidSystem
from symplex.fem.assembly.inner_products import norm
from symplex.fem.assembly.pattern import Array
from symplex.fem.system import State
from symplex.gradients.differentiable import DifferentiableRun
from symplex.gradients.family import Build, Family
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
    unconditional,
)
from symplex.gradients.tangents import state_of
from symplex.time.integrator import Integrator
from symplex.time.motion import FixedStepMotion

# What a state adds to the number that is differentiated, and its derivatives by positions and velocities.
Cost = Callable[[State], tuple[float, ArrayLike, ArrayLike]]

_ARRAYS = 6  # nodal arrays that are stored of a step
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
    integrator: Integrator,
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
        One that `tangent` takes.
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
    family = Family(build, parameters, scales, "gradient")
    system = family.system
    for name in factors:
        if name not in system.energies or name in system.changing:
            fit = [name for name in system.energies if name not in system.changing]
            raise InvalidSystem(f"gradient: factors must be energies with stencils that stay, {fit}, got '{name}'.")
    run = DifferentiableRun("gradient", system, family.state, integrator, np.asarray(times, float))
    back = _Backward(family, factors)
    motion = run.begin()
    start = {name: array.copy() for name, array in motion.arrays().items()}
    samples = run.samples(motion)
    segment = _segment(samples[-1], family.state.q.nbytes, budget)
    at_samples: dict[int, tuple[Array, Array]] = {}
    checkpoints, value = [], 0.0
    steps, taken = run.steps(motion), []
    wanted = set(samples)
    if 0 in wanted:
        value += _paid(cost, family.state, at_samples, 0)
    while motion.n < samples[-1]:
        if motion.n % segment == 0:
            checkpoints.append((motion.n, motion.checkpoint()))
            taken = []
        parts = next(steps)
        taken.append(parts)
        if motion.n in wanted:
            value += _paid(cost, state_of(motion), at_samples, motion.n)
    last = samples[-1]
    for k, (first, checkpoint) in enumerate(reversed(checkpoints)):
        if k:
            taken = _again(run, run.resume(checkpoint), last - first)
        for number in range(last, first, -1):
            if number in at_samples:
                back.add(*at_samples[number])
            for step in reversed(taken[number - first - 1]):
                linear, forces = run.linearised(step, family.deltas)
                back.step(linear, forces, step)
        last = first
    if 0 in at_samples:
        back.add(*at_samples[0])
    back.begin_of_run(start)
    return back.result(value)


def _segment(n_steps: int, n_bytes: int, budget: float) -> int:
    """Return how many steps are stored together, and after how many there is a checkpoint."""
    fits = int(budget / (_ARRAYS * n_bytes))
    if n_steps <= fits or n_steps == 0:
        return max(n_steps, 1)
    return min(max(math.isqrt(n_steps), 1), max(fits, 1))


def _again(run: DifferentiableRun, motion: FixedStepMotion, n: int) -> list[Sequence[Step]]:
    """Return the parts of n steps of a motion."""
    steps: Iterator[Sequence[Step]] = run.steps(motion)
    return [next(steps) for _ in range(n)]


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
    """The derivatives by a state, and by all that steps after it depend on."""

    def __init__(self, family: Family, factors: Sequence[str]):
        self._family, self._system = family, family.system
        zero = np.zeros((*family.state.q.shape, 1))
        z = {name: np.zeros((*one.shape, 1)) for name, one in family.state.internal.items()}
        self._by = Variation(zero, zero, zero, zero, z)
        self._parameters = np.zeros(len(family))
        self._mass = np.zeros(self._system.n_nodes)
        self._factors = {name: np.zeros(len(self._system.energies[name].nodes)) for name in factors}
        self._added, self._largest = np.zeros(2), np.zeros(2)  # sizes of derivatives by positions, and velocities

    def add(self, by_q: Array, by_v: Array) -> None:
        """Add the derivatives of a cost by a state."""
        by = self._by
        self._by = by._replace(q=by.q + by_q[..., None], v=by.v + by_v[..., None])
        self._added += norm(by_q), norm(by_v)

    def step(self, linear: LinearStep, forces: StepForces, step: Step) -> None:
        """Take a step back."""
        self._by, by_g = linear.backward(self._by)
        self._take(by_g, forces, step.a1)
        np.maximum(self._largest, (norm(self._by.q), norm(self._by.v)), out=self._largest)

    def _take(self, by: Change, forces: StepForces, a: Array) -> None:
        """Add the derivatives by parameters, masses and factors that act through changes of equations."""
        family, system, by_g = self._family, self._system, by.forces[..., 0]
        for j, changed in enumerate(family.changed):
            if changed:
                self._parameters[j] += float(np.sum(by_g * family.slope_of_forces(j, forces)))
            if changed.joints:
                self._parameters[j] += float(by.conditions[:, 0] @ family.slope(j, forces.conditions))
            for name in changed.inelastic if by.variables else ():
                z1 = family.slope_of_variables(j, forces, name)
                self._parameters[j] += float(np.sum(by.variables[name][..., 0] * z1))
        if system.is_lumped:
            by_mass = np.einsum("nd,nd->n", by_g, a)
            self._mass += by_mass
            if family.masses is not None:
                self._parameters += by_mass @ family.masses
        for name, out in self._factors.items():
            local = forces.local(system, name)
            out += np.einsum("mkd,mkd->m", by_g[system.energies[name].nodes], local)

    def begin_of_run(self, start: Mapping[str, Array]) -> None:
        """Go through the accelerations at the start."""
        state, by = self._family.state, self._by
        if self._system.frames is not None:
            return  # of methods that carry none
        system, q = self._system, start["q"]
        linear = LinearAccelerations(system, state.t, q, start["v"])
        by_q, by_v, by_g = linear.backward(np.where(system.fixed[..., None], 0.0, by.a + by.own))
        at = Increment(q, state.internal, q, 0.0, 1.0, False) if system.inelastic else None
        self._take(unconditional(by_g), ForcesAtPoint(*linear.at, at), start["a"])
        self._by = by = by._replace(q=by.q + by_q, v=by.v + by_v)
        if at is not None:
            found = at.backward(system, by_g[..., 0])
            self._by = by._replace(q=by.q + (found.q0 + found.q1)[..., None], z=added(by.z, found.z0))

    def result(self, value: float) -> RunGradient:
        """Return all derivatives."""
        family, q0, v0 = self._family, self._by.q[..., 0], self._by.v[..., 0]
        z0 = {name: by[..., 0] for name, by in self._by.z.items()}
        parameters = self._parameters + np.einsum("ndk,nd->k", family.dq, q0) + np.einsum("ndk,nd->k", family.dv, v0)
        parameters += sum(by.ravel() @ family.dz[name].reshape(by.size, -1) for name, by in z0.items())
        growth = np.divide(self._largest, self._added, out=np.zeros(2), where=self._added > 0.0)
        return RunGradient(value, parameters, q0, v0, z0, self._mass, self._factors, float(growth.max()))
