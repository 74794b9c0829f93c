"""Which runs have derivatives, and the steps that they take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np

from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.actions.increment_load import IncrementLoad
from symplex.fem.actions.loads import ProportionalLoad
from symplex.fem.assembly.pattern import Array
from symplex.fem.energies.differentiable_load import DifferentiableLoad
from symplex.fem.system import State, System
from symplex.gradients.framed_steps import FramedLinearStep, FramedSolvers
from symplex.gradients.internal_variables import WEIGHTS
from symplex.gradients.linear_steps import (
    Change,
    ExplicitLinearStep,
    ForcesAtPoint,
    ForcesOnStep,
    ImplicitLinearStep,
    LinearStep,
    Solvers,
    Step,
    StepForces,
    Variation,
    has_products,
)
from symplex.gradients.staged import Leg, require_times
from symplex.time.composition import Composition, substeps
from symplex.time.explicit.newmark import Newmark, NewmarkMotion
from symplex.time.implicit.implicit import ImplicitIntegrator, ImplicitMotion
from symplex.time.integrator import FixedStepIntegrator, Integrator, stored_grid
from symplex.time.internal import arrays_of, internal_of
from symplex.time.motion import FixedStepMotion
from symplex.time.trajectory import common_divisor

_METHODS = (
    "EnergyMomentum, Midpoint, VariationalMidpoint, Newmark, HilberHughesTaylor, GeneralizedAlpha, and compositions of "
    "these"
)
_OF_STEP = 3e-3  # of the size of a step, by which it and its time are changed


class DifferentiableRun:
    """A run whose steps can be linearised.

    Parameters
    ----------
    who : str
        For messages.
    system : System
    state : State
        Where it begins.
    method : Integrator
    times : float64 [T]
        In s, of the samples.
    leg : Leg, optional
        The part of a run that it is, whose start and end may move.

    Attributes
    ----------
    method : FixedStepIntegrator
        With the step that divides the times.
    moves : bool
        Whether its start depends on parameters.
    start : State
    parts : int
        Steps that one is composed of.
    is_plain : bool
        Whether steps are explicit, and forces depend on positions and time alone.
    carries : bool
        Whether accelerations are carried by the method, rather than those of positions and velocities.

    Raises
    ------
    InvalidArgument
        If the times do not ascend.
    InvalidSystem
        If the method or a part of the system is not differentiable.
    """

    def __init__(
        self, who: str, system: System, state: State, method: Integrator, times: Array, leg: Leg | None = None
    ):
        self.system, self._who, self._solvers, self._leg = system, who, Solvers(system), leg
        self.moves = leg is not None and leg.shift != 0.0
        require_times(who, times, state.t)
        self.times, self.start = times, state
        inner = method.integrator if isinstance(method, Composition) else method
        require_differentiable(who, system, method, inner)
        self._dt = np.nan if leg is None else leg.entered.dt
        interval = common_divisor(times, state.t) if np.isnan(self._dt) else None
        self.method: Any = method if interval is None else method.fit(system, state, interval)
        self._parts = substeps(method.order, method.scheme) if isinstance(method, Composition) else [1.0]
        inner = self.method.integrator if isinstance(method, Composition) else self.method
        self._scheme = None if isinstance(inner, Newmark) and inner.explicit else inner.scheme
        self.parts = len(self._parts)
        explicit = self._scheme is None and not system.inelastic and not system.differentiable_loads
        self.is_plain = explicit and system.frames is None
        self.carries = self._scheme is None or self._scheme(1.0).carries
        self._framed = None if system.frames is None else FramedSolvers(system)
        if system.frames is not None and self._scheme is None:
            raise InvalidSystem(
                f"{who}: explicit {inner.name} has no derivatives with frames (beams, shells, rigid bodies as frames), "
                f"of which the system has {len(system.frames)}. Use an implicit method."
            )
        if who == "gradient" and system.frames is not None and self.carries and (system.joints or not system.is_lumped):
            raise InvalidSystem(
                f"gradient: with {'joints' if system.joints else 'a consistent mass'}, {inner.name} has tangents only: "
                "what it makes of carried accelerations is not taken back. Use EnergyMomentum, Midpoint or tangent."
            )

    def begin(self) -> FixedStepMotion:
        """Return the motion at its start."""
        return self.method.start(self.system, self.start) if np.isnan(self._dt) else self.at(self.system, self.start)

    def at(self, system: System, state: State) -> FixedStepMotion:
        """Return a motion with the step of the run that begins at another state, or of another system."""
        return self.method.restart(system, state, self._dt) or self.method.start(system, state)

    def resume(self, checkpoint: Mapping[str, np.ndarray]) -> FixedStepMotion:
        """Return the motion at a checkpoint."""
        return self.method.resume(self.system, checkpoint)

    def in_loop(self, motion: FixedStepMotion) -> TypeGuard[NewmarkMotion]:
        """Return whether its steps can be linearised in a compiled loop."""
        plain = self.is_plain and not self.moves and self.system.is_lumped
        return plain and isinstance(motion, NewmarkMotion) and has_products(self.system)

    def samples(self, motion: FixedStepMotion) -> list[int]:
        """Return the numbers [T] of the steps after which the samples are.

        Raises
        ------
        StepFailed
            If a time is no whole number of steps away.
        """
        steps = (self.times - motion.t0) / motion.dt
        numbers = np.rint(steps)
        off = np.flatnonzero(np.abs(steps - numbers) > 1e-6)
        if len(off):
            raise StepFailed(
                f"{self._who}: t = {self.times[off[0]]:.9g} s is {steps[off[0]]:.9g} steps of dt = {motion.dt:.6g} s "
                "after the start, not an integer. Take times that divide evenly."
            )
        return numbers.astype(int).tolist()

    def steps(self, motion: FixedStepMotion) -> Iterator[Sequence[Step]]:
        """Take one step of the motion after the other, and yield the parts of each, by composition or cutback."""
        parts = self._parts
        inner = getattr(motion, "inner", motion)
        begun: list[tuple[float, float, dict[str, Array]]] = []

        def watch(t: float, h: float) -> None:
            begun.append((t, h, moving(inner)))

        if isinstance(inner, ImplicitMotion):
            inner.watched = watch
        before = moving(inner)
        while True:
            t, h, taken, start = motion.t, motion.dt, [], 0.0
            for part in parts:
                begun.clear()
                if len(parts) == 1:
                    motion.advance(motion.t0 + (motion.n + 1) * h)
                else:
                    inner.substep(t + start * h, part * h)
                solved = begun or [(t + start * h, part * h, before)]
                ends = [one for _, _, one in solved[1:]] + [moving(inner)]
                taken += [self.step(*one, end) for one, end in zip(solved, ends, strict=True)]
                start, before = start + part, ends[-1]
            if len(parts) > 1:
                motion.n += 1
                motion.observe(motion.t)
            if (limit := inner.arrays().get("limit")) is not None and limit[2] > 1.0:
                raise StepFailed(
                    f"{self._who}: t = {motion.t:.6g} s: steps that divide as elements become thin have no "
                    f"derivatives, here into {limit[2]:g}. Take a shorter step than {h:.6g} s."
                )
            yield taken

    def rates(self, checkpoint: Mapping[str, Array], by_end: bool) -> Variation:
        """Return the derivatives [..., 1] of the end of the step from a checkpoint, from what it starts with there.

        By the time at which the run ends, or by that at which it starts, its steps dividing the time between. They are
        differences of this one step, which take account of whatever depends on time: loads, supports, motors.
        """
        assert self._leg is not None, "there is a time that moves"
        t0, dt, n = stored_grid(checkpoint)
        parts = self._leg.parts
        begins, size = (n / parts, 1.0 / parts) if by_end else (1.0 - n / parts, -1.0 / parts)
        found: dict[str, Array] = {}
        for at, weight in WEIGHTS:
            e = at * _OF_STEP * dt
            t, h = t0 + n * dt + e * begins, dt + e * size
            grid = {"t0": np.array(t), "dt": np.array(h), "n": np.array(0)}
            motion = self.resume({**checkpoint, **grid})
            motion.advance(t + h)
            for name, array in moving(getattr(motion, "inner", motion)).items():
                found[name] = found.get(name, 0.0) + weight / (_OF_STEP * dt) * array
        q, v, a = (found[name][..., None] for name in ("q", "v", "a"))
        own = found["own_a"][..., None] if "own_a" in found else a
        return Variation(q, v, a, own, {name: z[..., None] for name, z in internal_of(found).items()})

    def by_end(self) -> Variation:
        """Return the derivatives [..., 1] of the end of the run by the time at which that is."""
        assert self._leg is not None, "there is a time that moves"
        motion, zero = self.begin(), np.zeros((*self.start.q.shape, 1))
        d = Variation(zero, zero, zero, zero, {k: np.zeros((*z.shape, 1)) for k, z in self.start.internal.items()})
        none, steps = {name: 0.0 * z for name, z in d.z.items()}, self.steps(motion)
        for _ in range(self._leg.parts):
            checkpoint = motion.checkpoint()
            for step in next(steps):
                linear, forces = self.linearised(step, np.array([_OF_STEP * step.h]))
                d = linear.forward(d, Change(zero, np.zeros((len(forces.conditions(self.system)), 1)), none))
            d = d.plus(self.rates(checkpoint, True), np.ones(1))
        return d

    def step(self, t: float, h: float, before: Mapping[str, Array], after: Mapping[str, Array]) -> Step:
        """Return a step between two sets of arrays."""
        dq, own = after["q"] - before["q"], before.get("own_a", before["a"])
        a1 = after["a"] if self.carries else self._end_acceleration(h, dq, before)
        return Step(t, h, before["q"], before["v"], before["a"], own, after["q"], a1, internal_of(before))

    def _end_acceleration(self, h: float, dq: Array, before: Mapping[str, Array]) -> Array:
        """Return −M⁻¹F of an implicit step, by its equations."""
        assert self._scheme is not None, "it is implicit"
        scheme = self._scheme(h)
        by = scheme.by_v * before["v"] + scheme.by_a * before["a"] + scheme.by_own * before.get("own_a", before["a"])
        return np.where(self.system.fixed, 0.0, (scheme.inertia * dq - by) / scheme.impulse)

    def linearised(self, step: Step, deltas: Array) -> tuple[LinearStep, StepForces]:
        """Return a step, linearised, and its forces as a function of a system.

        Internal variables are differentiated by differences along changes that go by deltas [k] at most.
        """
        if self._scheme is None:
            seen = step.v0 + step.h * step.a0
            at = step.t + step.h, step.q1, seen, step.increment(1.0, False) if self.system.inelastic else None
            return ExplicitLinearStep(self.system, step, deltas), ForcesAtPoint(*at)
        scheme = self._scheme(step.h)
        if self._framed is not None:
            linear = FramedLinearStep(self.system, self._framed, scheme, step, deltas)
            return linear, linear.forces
        return ImplicitLinearStep(self.system, self._solvers, scheme, step, deltas), ForcesOnStep(scheme, step)


def moving(motion: FixedStepMotion) -> dict[str, Array]:
    """Return copies of the arrays of a motion that steps depend on."""
    arrays = motion.arrays()
    found = {name: arrays[name].copy() for name in ("q", "v", "a", "own_a") if name in arrays}
    return found | arrays_of(internal_of(arrays))


def require_differentiable(who: str, system: System, method: Integrator, inner: Integrator) -> None:
    """Check that a method has steps with derivatives, and that all parts of a system have.

    Raises
    ------
    InvalidSystem
        If one has not; with its name.
    """
    name = type(method).__name__
    of_newmark = isinstance(inner, Newmark)
    if not (of_newmark or isinstance(inner, ImplicitIntegrator)) or not isinstance(method, FixedStepIntegrator):
        raise InvalidSystem(f"{who}: {name} has no derivatives here. Use one of {_METHODS}.")
    if not (of_newmark and inner.explicit) and inner.scheme(1.0).impulse == 0.0:  # pyright: ignore[reportAttributeAccessIssue]
        raise InvalidSystem(f"{who}: Midpoint with alpha = 1 has no derivatives here. Take alpha = 0.5.")
    if isinstance(inner, Newmark) and inner.contact_steps != 1:
        raise InvalidSystem(
            f"{who}: steps that contact_steps divides have no derivatives, got {inner.contact_steps!r}. Take 1."
        )
    if isinstance(method, Composition):
        if method.scheme == "blanes-moan":
            raise InvalidSystem(f"{who}: the scheme 'blanes-moan' has no derivatives here. Take 'kahan-li'.")
        if system.changing:
            found = next(iter(system.changing))
            raise InvalidSystem(
                f"{who}: a Composition has no derivatives where stencils change, as those of energy '{found}'. Use "
                f"{inner.name}."
            )
    require_differentiable_parts(who, system)


def require_differentiable_parts(who: str, system: System) -> None:
    """Check that all parts of a system have derivatives.

    Raises
    ------
    InvalidSystem
        If one has not; with its name.
    """
    for name, part in system.inelastic.items():
        if part.erodes:
            raise InvalidSystem(f"{who}: elements of '{name}' may go, which has no derivatives.")
    if system.massless.any():
        raise InvalidSystem(f"{who}: nodes without mass, {int(system.massless.sum())} here, have no derivatives.")
    for name, load in system.loads.items():
        if not isinstance(load, DifferentiableLoad | IncrementLoad | ProportionalLoad):
            raise InvalidSystem(
                f"{who}: load '{name}' ({type(load).__name__}) has no derivatives. Make it a DifferentiableLoad, or a "
                "NodalLoad if it depends on time only."
            )
