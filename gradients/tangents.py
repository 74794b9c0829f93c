"""Tangents: derivatives of a run by a few parameters, carried forwards step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked, described
from symplex.base.representation import Summarized
from symplex.errors import InvalidArgument
from symplex.fem.assembly.pattern import Array
from symplex.fem.system import State, System
from symplex.gradients.differentiable import DifferentiableRun
from symplex.gradients.explicit_loop import ExplicitLoop
from symplex.gradients.family import WEIGHTS, Family
from symplex.gradients.linear_steps import Change, ForcesAtPoint, LinearAccelerations, StepForces, Variation
from symplex.gradients.staged import Build, StagedBuild, staged
from symplex.time.explicit.newmark import NewmarkMotion
from symplex.time.integrator import Integrator
from symplex.time.internal import internal_of
from symplex.time.motion import FixedStepMotion

_ROOM = 3e6  # bytes of states that are recorded at once
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
    variation : Variation
        All of these, with those of accelerations as the method carries them.
    events : dict of str to float
        Times in s of the conditions that change the run, by name.
    event_derivatives : dict of str to float64 [k]
        Derivatives of these.
    stopped : str
        The condition at whose time the run stops, which is the last time then; empty if none does.
    """

    t: Array
    values: Array
    jacobian: Array
    state: State
    dq: Array
    dv: Array
    dz: Mapping[str, Array]
    variation: Variation
    events: Mapping[str, float] = field(default_factory=dict)
    event_derivatives: Mapping[str, Array] = field(default_factory=dict)
    stopped: str = ""

    @property
    def dt(self) -> Array:
        """The derivatives [T, k] of the times: zero, but those of a condition that stops the run."""
        out = np.zeros((len(self.t), self.dq.shape[2]))
        if self.stopped:
            out[-1] = self.event_derivatives[self.stopped]
        return out

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
    if (stages := staged("tangent", build, parameters, integrator, times)) is not None:
        return _in_stages(stages, observe, scales)
    family = Family(build, parameters, scales)  # pyright: ignore[reportArgumentType]
    run = DifferentiableRun("tangent", family.system, family.state, integrator, times)  # pyright: ignore[reportArgumentType]
    return _carried(family, run, observe, len(times))


def _carried(family: Family, run: DifferentiableRun, observe: Observe | None, n_observed: int) -> RunTangent:
    """Return numbers of a run at some of its times, and their derivatives."""
    motion = run.begin()
    samples = run.samples(motion)
    d = initial_variation(family, motion.arrays()["a"])
    values, jacobian, state = [], [], family.state
    steps, explicit = run.steps(motion), _ExplicitTangents(family, motion, d) if run.in_loop(motion) else None
    for number in samples:
        if explicit is not None:
            d = explicit.advance(number, d)
        while motion.n < number:
            checkpoint = motion.checkpoint() if run.moves else {}
            for step in next(steps):
                linear, forces = run.linearised(step, family.deltas)
                d = linear.forward(d, changes(family, forces, step.a1))
            if run.moves:
                d = d.plus(run.rates(checkpoint, False), family.dt)
        state = state_of(motion)
        if len(values) < n_observed:
            found, slope = _observed(observe, family, run, state, d)
            values.append(found)
            jacobian.append(slope)
    return RunTangent(run.times, np.array(values), np.array(jacobian), state, d.q, d.v, d.z, d)


class _ExplicitTangents:
    """Explicit steps whose derivatives are found in one compiled loop."""

    def __init__(self, family: Family, motion: NewmarkMotion, d: Variation):
        self._family, self._motion, self._first = family, motion, 0
        self._loop = ExplicitLoop(family, self._write, False)
        self._changes = tuple(np.ascontiguousarray(np.moveaxis(x, -1, 0)) for x in (d.q, d.v, d.a))
        shape = family.state.q.shape
        self._room = np.empty((2, max(int(_ROOM / (16 * np.prod(shape) or 1)), 1), *shape))

    def advance(self, number: int, d: Variation) -> Variation:
        """Take the steps up to a number; return the derivatives there, where they are d now."""
        motion = self._motion
        while motion.n < number:
            self._first = motion.n
            n = min(number - motion.n, self._room.shape[1])
            positions, accelerations = self._room[:, :n]
            motion.record(positions, accelerations)
            self._loop.forward(np.full(n, motion.dt), positions, accelerations, self._changes)
        q, v, a = (np.moveaxis(x, 0, -1).copy() for x in self._changes)
        return d._replace(q=q, v=v, a=a, own=a)

    def _write(self, slopes: Array, k: int, parameters: Sequence[int]) -> None:
        """Write the derivatives of forces after a recorded step by parameters."""
        q, motion = self._room[0, k], self._motion
        at = ForcesAtPoint(motion.t0 + (self._first + k + 1) * motion.dt, q, np.zeros_like(q))
        for j in parameters:
            slopes[j] = self._family.slope_of_forces(j, at)


def _observed(
    observe: Observe | None,
    family: Family,
    run: DifferentiableRun,
    state: State,
    d: Variation,
    dt: Array | None = None,
) -> tuple[Array, Array]:
    """Return what is observed of a state, and its derivatives [m, k], where those dt [k] of its time may not be 0."""
    if observe is None:
        return state.q.ravel(), d.q.reshape(-1, len(family)).copy()
    a = d.a if run.carries else consistent_accelerations(family, state, d, dt)
    slope = slopes(family, state, d._replace(a=a), lambda system, at: observed(observe, system, at), dt)
    return observed(observe, family.system, state), slope


def _in_stages(stages: StagedBuild, observe: Observe | None, scales: ArrayLike | None) -> RunTangent:
    """Return numbers of a run in stages, each of which begins at the state of the one before to first order."""
    from symplex.gradients.conditions import Condition  # which needs the derivatives of values of here

    values, jacobian, times = [], [], np.array(stages.moved)
    start: Callable[[Array], State] = stages.start
    dt, one = np.zeros((len(times), len(stages.p))), None
    for leg in stages.legs:
        some, until = stages.inside(leg)
        moved = partial(_moved_to_first_order, times, dt.copy(), stages.p)
        family = Family(stages.of(leg, start, moved), stages.p, scales, moves=leg.shift != 0.0)
        method = stages.method(leg, family.state)
        run = DifferentiableRun("tangent", family.system, family.state, method, until, leg)
        is_last = stages.stopped and leg is stages.legs[-1]
        one = _carried(family, run, observe, len(some) - bool(is_last))
        values += list(one.values)
        jacobian += list(one.jacobian)
        if leg.event is not None:
            d, k = one.variation, leg.conditions
            if leg.moves:
                condition = Condition(stages, leg, family, run, one.state)
                dt[k] = condition.slopes(d, dt)
                d = d.plus(condition.by_end, dt[k])
            if is_last:
                found, slope = _observed(observe, family, run, one.state, d, dt[k])
                values.append(found)
                jacobian.append(slope)
            one = RunTangent(one.t, one.values, one.jacobian, one.state, d.q, d.v, d.z, d)
        start = partial(_first_order, one, stages.p, leg.end)
    assert one is not None, "there is a stage"
    happened = {name: dt[stages.moved.index(t)] for name, t in stages.happened.items() if t in stages.moved}
    numbers = np.array(values), np.array(jacobian)
    of_events = {name: stages.happened[name] for name in happened}, happened, stages.stopped
    return RunTangent(stages.times, *numbers, one.state, one.dq, one.dv, one.dz, one.variation, *of_events)


def _moved_to_first_order(times: Array, dt: Array, p0: Array, p: Array) -> Array:
    """Return times [m] in s for other parameters than p0, by which they have derivatives [m, k]."""
    return times + dt @ (p - p0)


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
    carried = None if forces.carried(family.system) is None else np.zeros((2, *out.shape))
    for j, changed in enumerate(family.changed):
        if changed:
            out[..., j] = family.slope_of_forces(j, forces)
        if changed.joints:
            conditions[:, j] = family.slope(j, forces.conditions)
        if family.masses is not None:
            out[..., j] += family.masses[:, j, None] * a
        if carried is not None and (changed.joints or family.masses is not None):
            carried[..., j] = family.slope(j, forces.carried)  # pyright: ignore[reportArgumentType]
    return Change(out, conditions, _variables(family, forces), carried)


def _variables(family: Family, forces: StepForces) -> dict[str, Array]:
    """Return how parameters change internal variables at the end of a step, [..., k] by the names of parts."""
    found = {name: np.zeros((*dz.shape[:-1], len(family))) for name, dz in family.dz.items()}
    for name, dz in found.items():
        for j, changed in enumerate(family.changed):
            if name in changed.inelastic:
                dz[..., j] = family.slope(j, lambda system, name=name: forces.variables(system)[name])
    return found


def initial_variation(family: Family, a: Array) -> Variation:
    """Return the derivatives of the start by parameters, with those of its time."""
    state, system = family.state, family.system
    d = Variation(family.dq, family.dv.copy(), np.zeros_like(family.dq), np.zeros_like(family.dq), family.dz)
    state = State(state.t, state.q, state.v, a, internal=state.internal)
    for j in map(int, np.flatnonzero(family.dt) if system.moving else ()):
        d.v[..., j] += family.slope_at_start(j, lambda one, t: one.held(t, state.v))
    a = consistent_accelerations(family, state, d, family.dt)
    return d._replace(a=a, own=a.copy())


def consistent_accelerations(family: Family, state: State, d: Variation, dt: Array | None = None) -> Array:
    """Return the derivatives [n, dim, k] of the accelerations M⁻¹(f − ∇V) of a state, whose time may have some [k]."""
    if family.system.frames is not None or family.system.inelastic or (dt is not None and dt.any()):
        return slopes(family, state, d, _accelerations, dt)
    linear = LinearAccelerations(family.system, state.t, state.q, state.v)
    return linear.forward(d.q, d.v, changes(family, ForcesAtPoint(*linear.at), state.a).forces)


def _accelerations(system: System, state: State) -> Array:
    return system.accelerations_at(state.t, state.q, state.v, state.internal)


def slopes(
    family: Family,
    state: State,
    d: Variation,
    evaluate: Callable[[System, State], Any],
    dt: Array | None = None,
    every: bool = False,
) -> Array:
    """Return the derivatives [..., k] of a function of a system and a state, by differences along their changes.

    With the time of the state, where it has derivatives [k]; of a system that depends on a parameter, or of every one.
    """
    columns = []
    for j, changed in enumerate(family.changed):
        total = along(family.system, state, d, j, family.deltas[j], evaluate, 0.0 if dt is None else dt[j])
        if every or changed or family.masses is not None:
            total = total + family.slope(j, lambda system: evaluate(system, state))
        columns.append(total)
    return np.stack(columns, axis=-1)


def along(
    system: System,
    state: State,
    d: Variation,
    j: int,
    delta: float,
    evaluate: Callable[[System, State], Any],
    dt: float = 0.0,
) -> Any:
    """Return the derivative of a function of a system and a state along direction j of changes, and dt of the time."""
    far = float(np.abs(d.q[..., j]).max())
    if far > 0.0:
        delta = min(delta, _RELATIVE * (float(np.ptp(state.q, axis=0).max()) or 1.0) / far)
    total: Any = 0.0
    for at, weight in WEIGHTS:
        e = at * delta
        q, v, a = state.q + e * d.q[..., j], state.v + e * d.v[..., j], state.a + e * d.a[..., j]
        z = {name: value + e * d.z[name][..., j] for name, value in state.internal.items()}
        total = total + weight / delta * evaluate(system, State(state.t + e * dt, q, v, a, internal=z))
    return total


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
