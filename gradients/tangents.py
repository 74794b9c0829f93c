"""Tangents: derivatives of a run by a few parameters, carried forwards step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked, described
from symplex.base.representation import Summarized
from symplex.errors import InvalidArgument
from symplex.fem.assembly.pattern import Array
from symplex.fem.system import State, System
from symplex.gradients.differentiable import DifferentiableRun, require_times
from symplex.gradients.family import WEIGHTS, Family
from symplex.gradients.linear_steps import Change, ForcesAtPoint, LinearAccelerations, StepForces, Variation
from symplex.gradients.staged import Build, StagedBuild, staged
from symplex.time.integrator import Integrator
from symplex.time.internal import internal_of
from symplex.time.motion import FixedStepMotion

_RELATIVE = 1e-5  # of the size of a system, by which positions are changed at most to differentiate what is observed

Observe = Callable[[System, State], Any]


@dataclass(frozen=True, repr=False)
class RunTangent(Summarized):
    """Numbers of a run at some times, and their derivatives by parameters.

    Attributes
    ----------
    t : float64 [T]
        Times in s.
    values : float64 [T, m]
        What was observed.
    jacobian : float64 [T, m, k]
        Derivatives of these by each of k parameters.
    state : State
        At the last time.
    dq, dv : float64 [n, dim, k]
        Derivatives of its positions and velocities.
    dz : dict of str to float64 [..., k]
        Those of its internal variables, by the names of parts.
    """

    t: Array
    values: Array
    jacobian: Array
    state: State
    dq: Array
    dv: Array
    dz: Mapping[str, Array]

    def state_at(self, change: ArrayLike) -> State:
        """Return the state at the last time for parameters that differ by ``change`` [k], to first order.

        With it a function builds a further run, whose derivatives are those of both.
        """
        state, dp = self.state, np.asarray(change, float)
        z = {name: value + self.dz[name] @ dp for name, value in state.internal.items()}
        return State(state.t, state.q + self.dq @ dp, state.v + self.dv @ dp, state.a, internal=z)


@partial(checked, but=("parameters", "scales"))
def tangent(
    build: Build,
    parameters: ArrayLike,
    integrator: Integrator | None,
    times: Array,
    observe: Observe | None = None,
    *,
    scales: ArrayLike | None = None,
) -> RunTangent:
    """Return numbers of a run and their derivatives by a few parameters.

    The run is that of `march`; each of its steps is linearised at the solution that it has found, so that derivatives
    are those of the discrete motion, through contact and friction too. The step is that of the parameters given: where
    ``dt="auto"`` would follow from them, it does not.

    How forces, masses and starts depend on a parameter is found by differences of single evaluations at one state
    (`symplex.gradients.family`), never of runs; so are derivatives of what is observed. Hessians are those that
    energies have: in closed form, or of a user's own by differences of its gradient.

    Parameters
    ----------
    build : callable
        ``build(p)`` returns the `System` and the `State` at the start for parameters p [k]: moduli, densities,
        stiffnesses, a spin, positions of nodes, anything that they are made of. What is not smooth in them, such as
        numbers of nodes, has no derivative.
    parameters : float64 [k]
        p where derivatives are taken.
    integrator : Integrator
        `EnergyMomentum`, `Midpoint`, `VariationalMidpoint`, `Newmark`, `HilberHughesTaylor`, `GeneralizedAlpha`, or a
        `Composition` of one. None where ``build(p)`` returns `Stages` in place of the system.
    times : float64 [T]
        In s, ascending.
    observe : callable, optional
        ``observe(system, state)`` returns numbers [m] of a state, as of probes; default: all positions.
    scales : float64 [k], optional
        How much of each parameter is a considerable change; default: its size, which must not be zero then.

    Returns
    -------
    RunTangent

    Raises
    ------
    InvalidSystem
        If the method or a part of the system has no derivatives, with its name.
    InvalidArgument
        If an argument is of another kind than described.
    StepFailed
        If a step cannot be taken.

    Examples
    --------
    >>> def build(p):
    ...     strain = sx.Solid(mesh.points, cells, sx.NeoHookean.from_young(p[0], 0.3, 1000.0))
    ...     system = sx.System(mass, {"strain": strain})
    ...     return system, system.state(mesh.points, v)
    >>> found = sx.tangent(build, [1e6], sx.EnergyMomentum(1e-4), times, lambda system, state: state.q[tip])
    >>> scipy.optimize.least_squares(lambda p: ..., jac=lambda p: ...)
    """
    times = np.asarray(times, float)
    if (stages := staged("tangent", build, parameters, integrator)) is not None:
        return _in_stages(stages, times, observe, scales)
    family = Family(build, parameters, scales)  # pyright: ignore[reportArgumentType]
    run = DifferentiableRun("tangent", family.system, family.state, integrator, times)  # pyright: ignore[reportArgumentType]
    motion = run.begin()
    samples = run.samples(motion)
    d = initial_variation(family, motion.arrays()["a"])
    values, jacobian, state = [], [], family.state
    steps = run.steps(motion)
    for number in samples:
        while motion.n < number:
            for step in next(steps):
                linear, forces = run.linearised(step, family.deltas)
                d = linear.forward(d, changes(family, forces, step.a1))
        state = state_of(motion)
        if observe is None:
            values.append(state.q.ravel())
            jacobian.append(d.q.reshape(-1, len(family)).copy())
            continue
        a = d.a if run.carries else consistent_accelerations(family, state, d)
        values.append(observed(observe, family.system, state))
        jacobian.append(observed_slopes(observe, family, state, d._replace(a=a)))
    return RunTangent(run.times, np.array(values), np.array(jacobian), state, d.q, d.v, d.z)


def _in_stages(stages: StagedBuild, times: Array, observe: Observe | None, scales: ArrayLike | None) -> RunTangent:
    """Return numbers of a run in stages, each of which begins at the state of the one before to first order."""
    require_times("tangent", times, stages.start(stages.p).t)
    inside, found = stages.times(times), []
    start: Callable[[Array], State] = stages.start
    one: RunTangent | None = None
    for k, some in enumerate(inside):
        until = stages.until(k, some, k + 1 == len(inside))
        state = start(stages.p)
        one = tangent(stages.of(k, start), stages.p, stages.method(k, state), until, observe, scales=scales)
        found.append((one.values[: len(some)], one.jacobian[: len(some)]))
        start = partial(_first_order, one, stages.p, stages.stages[k].end)
    values, jacobian = (np.concatenate([some[i] for some in found if len(some[0])]) for i in (0, 1))
    assert one is not None, "there is a stage"
    return RunTangent(times, values, jacobian, one.state, one.dq, one.dv, one.dz)


def _first_order(found: RunTangent, p0: Array, t: float, p: Array) -> State:
    """Return the end of a run at t in s for other parameters than p0."""
    return found.state_at(p - p0).timed(t)


def state_of(motion: FixedStepMotion) -> State:
    """Return the present state of a motion."""
    arrays = motion.arrays()
    q, v, a = (arrays[name].copy() for name in ("q", "v", "a"))
    return State(motion.t, q, v, a, internal=internal_of(arrays))


def changes(family: Family, forces: StepForces, a: Array) -> Change:
    """Return how parameters change the equations of a step, with the accelerations a [n, dim] at its end."""
    out = np.zeros((*a.shape, len(family)))
    conditions = np.zeros((len(forces.conditions(family.system)), len(family)))
    for j, changed in enumerate(family.changed):
        if changed:
            out[..., j] = family.slope_of_forces(j, forces)
        if changed.joints:
            conditions[:, j] = family.slope(j, forces.conditions)
        if family.masses is not None:
            out[..., j] += family.masses[:, j, None] * a
    return Change(out, conditions, _variables(family, forces))


def _variables(family: Family, forces: StepForces) -> dict[str, Array]:
    """Return how parameters change internal variables at the end of a step, [..., k] by the names of parts."""
    found = {name: np.zeros((*dz.shape[:-1], len(family))) for name, dz in family.dz.items()}
    for name, dz in found.items():
        for j, changed in enumerate(family.changed):
            if name in changed.inelastic:
                dz[..., j] = family.slope(j, lambda system, name=name: forces.variables(system)[name])
    return found


def initial_variation(family: Family, a: Array) -> Variation:
    """Return the derivatives of the start by parameters."""
    state = family.state
    d = Variation(family.dq, family.dv, np.zeros_like(family.dq), np.zeros_like(family.dq), family.dz)
    a = consistent_accelerations(family, State(state.t, state.q, state.v, a, internal=state.internal), d)
    return d._replace(a=a, own=a.copy())


def consistent_accelerations(family: Family, state: State, d: Variation) -> Array:
    """Return the derivatives [n, dim, k] of the accelerations M⁻¹(f − ∇V) of a state."""
    if family.system.frames is not None or family.system.inelastic:
        return slopes(family, state, d, _accelerations)
    linear = LinearAccelerations(family.system, state.t, state.q, state.v)
    return linear.forward(d.q, d.v, changes(family, ForcesAtPoint(*linear.at), state.a).forces)


def _accelerations(system: System, state: State) -> Array:
    return system.accelerations_at(state.t, state.q, state.v, state.internal)


def slopes(family: Family, state: State, d: Variation, evaluate: Callable[[System, State], Array]) -> Array:
    """Return the derivatives [..., k] of a function of a system and a state, by differences along their changes."""
    size, columns = float(np.ptp(state.q, axis=0).max()) or 1.0, []
    for j, changed in enumerate(family.changed):
        far = float(np.abs(d.q[..., j]).max())
        delta = min(family.deltas[j], _RELATIVE * size / far) if far > 0.0 else family.deltas[j]
        total: Array | float = 0.0
        for at, weight in WEIGHTS:
            e = at * delta
            q, v, a = state.q + e * d.q[..., j], state.v + e * d.v[..., j], state.a + e * d.a[..., j]
            z = {name: value + e * d.z[name][..., j] for name, value in state.internal.items()}
            total = total + weight / delta * evaluate(family.system, State(state.t, q, v, a, internal=z))
        if changed or family.masses is not None:
            total = total + family.slope(j, lambda system: evaluate(system, state))
        columns.append(total)
    return np.stack(columns, axis=-1)


def observed(observe: Observe, system: System, state: State) -> Array:
    """Return what is observed, as numbers [m].

    Raises
    ------
    InvalidArgument
        If it is something else.
    """
    found = observe(system, state)
    try:
        numbers = np.atleast_1d(np.array(found, dtype=float))
    except (TypeError, ValueError):
        numbers = np.zeros((0, 0))
    if numbers.ndim != 1 or not np.isfinite(numbers).all():
        raise InvalidArgument(f"tangent: observe must return finite numbers [m], got {described(found)}.")
    return numbers


def observed_slopes(observe: Observe, family: Family, state: State, d: Variation) -> Array:
    """Return the derivatives [m, k] of what is observed."""
    return slopes(family, state, d, lambda system, at: observed(observe, system, at))
