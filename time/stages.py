"""Motions in stages: one integrator after the other, on systems that differ in what acts, on one time axis."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter
from typing import NamedTuple, final

import numpy as np

from symplex.base.arguments import checked
from symplex.base.columns import Column, work_column
from symplex.errors import InvalidArgument, InvalidSystem, StepFailed
from symplex.fem.energies.energy import Array, Energy
from symplex.fem.structures.joints import Connection, JointReaction
from symplex.fem.system import State, System
from symplex.time.integrator import FixedStepIntegrator, Integrator, dividing
from symplex.time.motion import FixedStepMotion, Motion, require_time, with_context
from symplex.time.stage_event import Event, as_array, from_array, where_it_holds
from symplex.time.totals import BALANCE
from symplex.time.traits import FEATURES, Trait
from symplex.time.work import work_columns

SWITCHES = work_column("work_switches")
_STAGE, _INNER, _KEPT = "stage", "motion.", "kept."  # in checkpoints
_EVENTS, _BRIDGE, _SEEN, _PENDING = "events", "bridge", "seen", "pending"
_SAME = 1e-9  # times that differ by this part of a stage, or of a step, are one
_ROUNDING = 4e-16  # the same relative to a time


class Beginning(ABC):
    """What a stage makes of the state at which it begins, such as elements that have no stress there.

    What it keeps of that state is in checkpoints, so that a motion goes on as it was.
    """

    @abstractmethod
    def begun(self, state: State, kept: Mapping[str, Array]) -> tuple[State, dict[str, Array]]:
        """Return the state with which the stage begins, and what is kept from now on; the same again if it has begun.

        Only coordinates that were fixed may be changed.
        """

    @abstractmethod
    def system(self, of: System, kept: Mapping[str, Array]) -> System:
        """Return the system of the stage, of the same nodes and names, given the stage's own and what is kept."""


@checked
@final
@dataclass(frozen=True)
class Stage:
    """A part of a motion.

    Parameters
    ----------
    system : System
        Of the same nodes as those of all other stages; energies, supports and loads may differ.
    integrator : Integrator
        With a step that divides the stage (`Integrator.fit`), unless there is an interval.
    end : float
        The time in s at which it ends.
    name : str, optional
        How messages call it.
    interval : float, optional
        The time in s between output states: the step is fitted to it at the state at which the stage begins, so that
        ``dt="auto"`` takes the stability limit of the shape there.
    beginning : Beginning, optional
        Makes its system and state from those at which it begins.
    """

    system: System
    integrator: Integrator
    end: float
    name: str = ""
    interval: float | None = None
    beginning: Beginning | None = None

    def made(self, kept: Mapping[str, Array]) -> Stage:
        """Return the stage with the system that follows from what was kept of states."""
        if self.beginning is None:
            return self
        return replace(self, system=self.beginning.system(self.system, kept), beginning=None)

    def begin(self, state: State, interval: float | None = None) -> Motion:
        """Return the motion that begins at a state, with steps that divide an interval in s; by default the stage's.

        Raises
        ------
        UnstableStep, InvalidSystem, StepFailed
            As `Integrator.fit` and `Integrator.start`.
        """
        method, interval = self.integrator, self.interval if interval is None else interval
        if interval is not None:
            method = method.fit(self.system, state, interval)
        return method.start(self.system, state)


@checked
@final
@dataclass(frozen=True)
class Stages(Integrator):
    """Integrators one after the other, each on its own system, on one time axis and with one balance of energy.

    A stage begins at the positions and velocities at which the one before it ends; the state at that time is still
    that of the earlier one. What changes there is accounted for: energies that begin or end (a constant load that is
    taken away with what is left of its potential), velocities that supports take over at once, and what a method that
    brings to rest takes. It is ``work_switches``, so that ``balance``, the total energy less all work, goes on without
    a jump. An energy is zero in stages that do not have it; totals that a stage's method does not tell of are the
    total, or the balance.

    Parameters
    ----------
    stages : sequence of Stage
        In the order of time.
    events : sequence of Event, optional
        Conditions on the motion, evaluated in all stages. Where one happens that other stages follow, the present
        stage ends there: the step in which it does is taken again by a shorter one, and the steps after it are fitted
        to the next output time. Each of these is a step of the method of one size, started from positions and
        velocities, so that it conserves what the method does; what the method carries from step to step besides these
        begins again.

    Raises
    ------
    InvalidSystem
        If there are no stages, their ends do not ascend, or their systems differ in nodes or masses; if two events have
        one name, or one comes after another that there is not.
    """

    stages: Sequence[Stage]
    events: Sequence[Event] = ()

    order = 1
    symmetric = False

    def __post_init__(self):
        object.__setattr__(self, "stages", tuple(self.stages))
        object.__setattr__(self, "events", tuple(self.events))
        if not self.stages or not all(isinstance(stage, Stage) for stage in self.stages):
            raise InvalidSystem("Stages: expected one Stage at least.")
        self._require(self.stages)
        if not all(isinstance(event, Event) for event in self.events):
            raise InvalidSystem("Stages: events must be a sequence of Event.")
        names = [event.name for event in self.events]
        for event in self.events:
            if names.count(event.name) > 1:
                raise InvalidSystem(f"Stages: two events are called '{event.name}'; each needs its own name.")
            if odd := [name for name in event.after if name not in names or name == event.name]:
                raise InvalidSystem(
                    f"Stages: the event '{event.name}' comes after '{odd[0]}', which must be another of its events."
                )

    def _require(self, stages: Sequence[Stage]) -> None:
        """Check that stages can follow each other in this motion."""
        first = self.stages[0].system
        for k, stage in enumerate(stages):
            if k and not stage.end > stages[k - 1].end:
                raise InvalidSystem(
                    f"Stages: a stage ends at {stage.end:g} s, but the one before it at {stages[k - 1].end:g} s; ends "
                    "must ascend."
                )
            if (stage.system.n_nodes, stage.system.dim) != (first.n_nodes, first.dim):
                raise InvalidSystem("Stages: the systems of all stages must have the same nodes and dimension.")

    def following(self, event: Event, happened: Mapping[str, float]) -> Sequence[Stage]:
        """Return the stages that follow an event, given the times in s of all that has happened; none if none do.

        Raises
        ------
        InvalidSystem
            If they do not go with the others.
        """
        stages = event.follow(happened)
        if stages is None:
            return ()
        if not all(isinstance(stage, Stage) for stage in stages):
            raise InvalidSystem(f"Stages: what follows the event '{event.name}' must be instances of Stage.")
        self._require(stages)  # pyright: ignore[reportArgumentType]
        return stages  # pyright: ignore[reportReturnType]

    @cached_property
    def every_stage(self) -> Sequence[Stage]:
        """The stages, and those that follow each event: whatever occurs in the motion occurs in one of them."""
        end, events = self.stages[0].end, self.events
        happened = [dict.fromkeys((*event.after, event.name), end) for event in events]
        return (*self.stages, *(s for e, past in zip(events, happened, strict=True) for s in self.following(e, past)))

    @property
    def conserves(self) -> frozenset[str]:
        """What all stages conserve."""
        return frozenset.intersection(*(stage.integrator.conserves for stage in self.every_stage))

    @property
    def takes(self) -> frozenset[Trait]:
        """All; each stage refuses for itself."""
        return frozenset(FEATURES)

    @property
    def columns(self) -> tuple[Column, ...]:
        """Those of all stages, the work of what switches, and the balance."""
        reported = {column.name: column for stage in self.every_stage for column in stage.integrator.columns}
        return tuple((reported | {SWITCHES.name: SWITCHES, BALANCE.name: BALANCE}).values())

    def start(self, system: System, state: State) -> StagedMotion:
        """Return the motion that begins at a state, with the first stage, whose system it must be.

        Raises
        ------
        InvalidSystem
            If the system is another one; as the integrator of the first stage.
        """
        if system is not self.stages[0].system:
            raise InvalidArgument("Stages: the motion begins with the system of the first stage; start it with that.")
        return StagedMotion(self, state)

    def resume(self, system: System, checkpoint: Mapping[str, np.ndarray]) -> StagedMotion:
        """Return the motion that goes on from a checkpoint, bit-identically.

        Raises
        ------
        InvalidSystem
            If it is of another motion.
        """
        return StagedMotion(self, None, checkpoint)


class Entered(NamedTuple):
    """Where a motion in stages has begun to take steps of another size, or of another stage.

    Attributes
    ----------
    after : str
        The event that its stages follow; empty of those that are given.
    happened : dict of str to float
        The times in s of all events up to that one.
    at : int
        The number of the stage.
    t, dt : float
        When, and the size of its steps, in s; NaN of methods without steps of one size.
    parts : int
        Into how many of these the way to a time is divided, to which they are fitted; 0 if they are not.
    """

    after: str
    happened: Mapping[str, float]
    at: int
    t: float
    dt: float
    parts: int


@final
class StagedMotion(Motion):
    """A motion in stages; see `Stages`.

    Attributes
    ----------
    entered : list of Entered
    """

    _method: Stages  # pyright: ignore[reportIncompatibleVariableOverride]

    def __init__(self, method: Stages, state: State | None, checkpoint: Mapping[str, np.ndarray] | None = None):
        self._stages = method.stages
        self._method = method
        self._names = _names(method.every_stage)
        self._done = dict.fromkeys(self._names.works, 0.0)  # in the stages before the present one
        self._counts: dict[str, float] = dict.fromkeys(self._names.counts, 0.0)
        self._happened: dict[str, float] = {}
        self._pending: Event | None = None  # that has happened at the present time, which other stages follow
        self._bridge: float | None = None  # the time to which steps are fitted after an event
        self._seen: State | None = None  # at which events were evaluated last
        self._before = 0.0  # the total energy in J at the end of the motion before
        self._kept: dict[str, Array] = {}  # of states at which stages began
        self._followed: tuple[str, Mapping[str, float]] = "", {}  # the event whose stages these are, and all up to it
        self.entered: list[Entered] = []
        if checkpoint is not None:
            self._restore(checkpoint)
        else:
            assert state is not None, "it begins with one or the other"
            self._t = state.t  # at which the present motion has begun, or events were evaluated
            self._at, self._now = 0, self._stages[0]
            self._motion = self._now.begin(state)
            self._keep_entered(state.t, None)

    def _keep_entered(self, t: float, interval: float | None) -> None:
        """Keep that steps begin at a time in s, fitted to an interval in s if one is given."""
        dt = self._motion.dt if isinstance(self._motion, FixedStepMotion) else np.nan
        parts = round(interval / dt) if interval and dt > 0.0 else 0
        self.entered.append(Entered(*self._followed, self._at, t, dt, parts))

    @property
    def system(self) -> System:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The system of the present stage."""
        return self._motion.system

    @property
    def stage(self) -> int:
        """The number of the present stage, from 0; of those that follow the last event, if any do."""
        return self._at

    @property
    def happened(self) -> dict[str, float]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The times in s of the events that have happened, by name and in this order."""
        return dict(self._happened)

    @property
    def stopped(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The name of the event at which the motion has stopped; empty if it goes on."""
        stopping = {event.name for event in self._method.events if event.then == "stop"}
        return next((name for name in self._happened if name in stopping), "")

    def advance(self, t: float) -> State:
        """Move to the time t in s and return the state there; at the end of a stage it is that before the next.

        Where an event stops the motion it is the state there, at an earlier time, from then on.
        """
        self._go(t, np.inf)
        try:
            return self._motion.advance(t if not self.stopped else self._happened[self.stopped])
        except StepFailed as error:
            raise self._placed(error) from None

    def approach(self, t: float, seconds: float) -> bool:
        """Move towards the time t in s for about so many seconds of wall time; return whether it is reached.

        It also stops where an event has happened that other stages follow: `advance` to its time returns the state.
        """
        return self._go(t, seconds)

    def _go(self, t: float, seconds: float) -> bool:
        """Move as `approach`; all the time that it takes is infinite."""
        require_time("Stages", t, -np.inf)
        clock = perf_counter()
        try:
            while not self.stopped:
                if self._pending is not None:
                    if t <= self._happened[self._pending.name]:
                        break
                    self._follow(self._pending, t)
                is_after = self._is_after(t)
                goal = self._stages[self._at].end if is_after else t
                target = goal if self._bridge is None else min(goal, self._bridge)
                left = max(seconds - (perf_counter() - clock), 0.0)
                if not (self._watch if self._armed() else self._reach)(target, left):
                    if self._pending is not None and seconds == np.inf:
                        continue
                    return bool(self.stopped)
                if target < goal:
                    self._open(self._close(target), target)
                elif is_after:
                    self._switch()
                else:
                    break
        except StepFailed as error:
            raise self._placed(error) from None
        return True

    def _reach(self, t: float, seconds: float) -> bool:
        """Move to a time in s of the present motion; return whether it is reached."""
        if seconds == np.inf:
            self._motion.advance(t)
            return True
        return self._motion.approach(t, seconds)

    def _is_after(self, t: float) -> bool:
        """Return whether a time is after the present stage."""
        end = self._stages[self._at].end
        start = self._stages[self._at - 1].end if self._at else None
        beyond = t > end + _SAME * (end - start if start is not None else abs(end))
        if beyond and self._at == len(self._stages) - 1:
            raise StepFailed(f"t = {t:.6g} s is after the end of the last stage, {end:.6g} s.")
        return beyond

    def _placed(self, error: StepFailed) -> StepFailed:
        name = self._stages[self._at].name
        return with_context(error, f"stage '{name}': {error}") if name else error

    def _switch(self) -> None:
        """Go on with the next stage."""
        end = self._stages[self._at].end
        state = self._close(end)
        self._at += 1
        self._open(state, end)

    def _close(self, t: float) -> State:
        """Add up what the present motion has done up to a time in s, and return the state there."""
        state = self._motion.advance(t)
        before = self._motion.energies(state)
        for name in self._names.works:
            self._done[name] += before.get(name, 0.0)
        for name, count in self._motion.statistics().items():
            self._counts[name] = self._counts.get(name, 0.0) + count
        self._before = before["total"]
        return state

    def _open(self, state: State, t: float, interval: float | None = None) -> None:
        """Begin the present stage at a time in s, with steps that divide an interval in s, if one is given."""
        stage, state = self._stages[self._at], state.timed(t)
        if stage.beginning is not None:
            state, self._kept = stage.beginning.begun(state, self._kept)
        self._now = stage.made(self._kept)
        self._enter(self._now.begin(state, interval), t, interval)

    def _enter(self, motion: Motion, t: float, interval: float | None) -> None:
        """Go on with a motion that begins at a time in s, and take account of what it changes of the energy."""
        self._motion = motion
        self._keep_entered(t, interval)
        after = self._motion.energies(self._motion.advance(t))
        # A method that brings to rest shows itself what that takes.
        reported = sum(after.get(name, 0.0) for name in self._names.works)
        self._done[SWITCHES.name] += after["total"] - self._before - reported
        self._bridge, self._seen, self._t = None, None, t

    # -- events ---------------------------------------------------------------------------------------------

    def _armed(self) -> list[Event]:
        """Return the events that may happen."""
        done = self._happened
        return [e for e in self._method.events if e.name not in done and all(name in done for name in e.after)]

    def _watch(self, t: float, seconds: float) -> bool:
        """Move to a time in s within the present motion; return whether it is reached before an event changes it."""
        clock = perf_counter()
        if self._seen is None:
            self._seen = self._motion.advance(self._t).timed(self._t)
            if not self._evaluate(self._seen, None):
                return False
        while self._seen.t < t:
            if not (armed := self._armed()):
                return self._reach(t, max(seconds - (perf_counter() - clock), 0.0))
            before, look = self._motion.checkpoint(), self._next_look(armed, t)
            if not self._evaluate(self._motion.advance(look).timed(look), before):
                return False
            if self._seen.t < t and perf_counter() - clock >= seconds:
                return False
        return True

    def _next_look(self, armed: Sequence[Event], t: float) -> float:
        """Return the time in s at which events are evaluated next, at most t."""
        motion = self._motion
        if not isinstance(motion, FixedStepMotion):
            return t
        look = motion.t0 + (motion.n + min(event.every for event in armed)) * motion.dt
        return look if look < t - 0.5 * motion.dt else t

    def _evaluate(self, state: State, before: Mapping[str, np.ndarray] | None) -> bool:
        """Find what has happened up to a state; return whether the motion goes on from there as before.

        Before it is the checkpoint at the last state; events that hold at the first state happen there.
        """
        found: list[tuple[float, int, Event]] = []
        for k, event in enumerate(self._armed()):
            excess = event.excess(self._motion, state, self._since(event))
            if excess > 0.0:
                found.append((state.t if before is None else self._located(event, excess, state), k, event))
        for t, _, event in sorted(found):
            self._happened[event.name] = float(t)
            if event.then == "record":
                continue
            if before is not None and t < state.t:
                self._shorten(before, t)
            self._pending = event if event.then != "stop" else None
            return False
        self._seen = state
        return True

    def _since(self, event: Event) -> float:
        """Return the time in s of the last of the events before one."""
        return max((self._happened[name] for name in event.after), default=0.0)

    def _located(self, event: Event, excess: float, state: State) -> float:
        """Return the time in s at which an event has happened, of which the excess at a state is given."""
        assert self._seen is not None, "it was evaluated before"
        first = self._seen

        def after(h: float) -> float:
            motion = self._shorter(first, (first.t + h) - first.t)
            return event.excess(motion, motion.advance(first.t + h).timed(first.t + h), self._since(event))

        size, least = state.t - first.t, _ROUNDING * max(abs(first.t), abs(state.t))
        h = where_it_holds(after, size, excess, least)
        return first.t + h if size - h > _SAME * size + least else state.t

    def _shorter(self, state: State, size: float) -> Motion:
        """Return the present motion begun again at a state, with steps that divide a size in s."""
        stage, motion = self._now, self._motion
        if isinstance(stage.integrator, FixedStepIntegrator) and isinstance(motion, FixedStepMotion):
            found = stage.integrator.restart(stage.system, state, dividing(motion.dt, size))
            if found is not None:
                return found
        return stage.begin(state, size)

    def _shorten(self, before: Mapping[str, np.ndarray], t: float) -> None:
        """Go back to a checkpoint at the last evaluation, and on to a time in s by steps that divide the way."""
        stage, first = self._now, self._seen
        assert first is not None, "it was evaluated"
        bridge = self._bridge
        self._motion = stage.integrator.resume(stage.system, before)
        state = self._close(first.t).timed(first.t)
        self._enter(self._shorter(state, t - first.t), first.t, t - first.t)
        self._bridge = bridge
        self._motion.advance(t)

    def _follow(self, event: Event, goal: float) -> None:
        """Go on with the stages that follow the event of the present time, on the way to an output time in s."""
        t = self._happened[event.name]
        state, self._pending = self._close(t), None
        self._followed = event.name, self.happened
        self._stages = self._method.following(event, self.happened)
        later = [k for k, stage in enumerate(self._stages) if stage.end > t + _ROUNDING * abs(t)]
        if not later:
            raise StepFailed(
                f"the event '{event.name}' happened at t = {t:.6g} s, after the end of the last stage that follows it, "
                f"{self._stages[-1].end:.6g} s."
            )
        self._at = later[0]
        goal = min(goal, self._stages[self._at].end)
        if goal - t > _ROUNDING * abs(t):
            self._open(state, t, goal - t)
            self._bridge = goal
        else:
            self._open(state, goal)

    def energies(self, state: State) -> dict[str, float]:
        """Return the energies in J, with all work since the start of the first stage."""
        found, names = self._motion.energies(state), self._names
        works = {name: self._done[name] + found.get(name, 0.0) for name in names.works}
        balance = found["total"] - sum(works.values())
        totals = {
            column.name: found.get(column.name, balance if column.less_work_of else found["total"])
            for column in names.totals
        }
        energies = {name: found.get(name, 0.0) for name in ("kinetic", *names.energies)}
        return energies | {"total": found["total"]} | totals | works | {BALANCE.name: balance}

    def statistics(self) -> dict[str, float]:
        """Return the counts of all stages together."""
        counts = dict(self._counts)
        for name, count in self._motion.statistics().items():
            counts[name] = counts.get(name, 0.0) + count
        return {name: int(count) if count == int(count) else count for name, count in counts.items()}

    @property
    def columns(self) -> tuple[Column, ...]:
        """What histories may have of it: of all stages."""
        of_stages = {
            column.name: column
            for stage in self._method.every_stage
            for column in (*stage.system.columns, *work_columns(stage.system))
        }
        return tuple((of_stages | {column.name: column for column in self._method.columns}).values())

    def momenta(self, state: State) -> tuple[Array, Array]:
        """Return the linear and the angular momentum of a state just returned."""
        return self._motion.momenta(state)

    def observed(self, state: State, gradient: Callable[[Energy, State], Array]) -> dict[str, float]:
        """Return what energies and joints report of a state just returned; joints that are no more have no force."""
        found, none = self._motion.observed(state, gradient), np.zeros(3)
        for name, joint in self._names.joints.items():
            if name not in self.system.joints:
                found |= joint.observed(name, state.q, JointReaction(none, none, True))
        return found

    def gradient(self, energy: Energy, state: State) -> Array:
        """Return ∂φ/∂x [m, k, dim] in N of one of the system's energies at a state just returned, as it acts."""
        return self._motion.gradient(energy, state)

    @property
    def slip(self) -> Array | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The velocities [n, dim] in m/s against which friction acts now, where they are not those of the state."""
        return self._motion.slip

    def constraint_forces(self) -> Array | None:
        """Return the forces [n, dim] in N of constraints that the present method keeps, if it keeps any."""
        return self._motion.constraint_forces()

    def checkpoint(self) -> dict[str, np.ndarray]:
        """Return all that is needed to go on bit-identically, as a flat mapping of arrays."""
        inner = {_INNER + name: array for name, array in self._motion.checkpoint().items()}
        counts = {f"count.{name}": np.array(count) for name, count in self._counts.items()}
        done = {f"done.{name}": np.array(work) for name, work in self._done.items()}
        kept = {_STAGE: np.array(self._at)} | inner | counts | done
        kept |= {_KEPT + name: array for name, array in self._kept.items()}
        if not self._method.events:
            return kept
        seen = self._t if self._seen is None else self._seen.t
        bridge = np.nan if self._bridge is None else self._bridge
        happened, pending = as_array(self._happened, self._method.events), np.array(self._pending is not None)
        return kept | {_EVENTS: happened, _BRIDGE: np.array(bridge), _SEEN: np.array(seen), _PENDING: pending}

    def _restore(self, checkpoint: Mapping[str, np.ndarray]) -> None:
        events = self._method.events
        if events and not {_EVENTS, _BRIDGE, _SEEN, _PENDING} <= checkpoint.keys():
            raise InvalidSystem("the checkpoint does not belong to a motion with these events.")
        if events:
            bridge, self._t = float(checkpoint[_BRIDGE]), float(checkpoint[_SEEN])
            self._bridge = None if np.isnan(bridge) else bridge
            by_name, times = {event.name: event for event in events}, from_array(checkpoint[_EVENTS], events)
            leading = [k for k, name in enumerate(times) if not isinstance(by_name[name].then, str)]
            if bool(checkpoint[_PENDING]):
                self._pending = by_name[list(times)[leading.pop()]]
            if leading:
                past = dict(list(times.items())[: leading[-1] + 1])
                self._stages = self._method.following(by_name[list(past)[-1]], past)
            self._happened = times
        if _STAGE not in checkpoint or not 0 <= int(checkpoint[_STAGE]) < len(self._stages):
            raise InvalidSystem("the checkpoint does not belong to a motion in these stages.")
        self._at = int(checkpoint[_STAGE])
        for prefix, kept in (("count.", self._counts), ("done.", self._done)):
            kept |= {
                name.removeprefix(prefix): float(value) for name, value in checkpoint.items() if name.startswith(prefix)
            }
        inner = {name.removeprefix(_INNER): value for name, value in checkpoint.items() if name.startswith(_INNER)}
        self._kept = {name.removeprefix(_KEPT): a for name, a in checkpoint.items() if name.startswith(_KEPT)}
        self._now = self._stages[self._at].made(self._kept)
        self._motion = self._now.integrator.resume(self._now.system, inner)


@dataclass(frozen=True)
class _Names:
    """What the stages report, by kinds."""

    energies: tuple[str, ...]
    works: tuple[str, ...]
    totals: tuple[Column, ...]
    counts: tuple[str, ...]
    joints: Mapping[str, Connection]


def _names(stages: Sequence[Stage]) -> _Names:
    columns = {column.name: column for stage in stages for column in stage.integrator.columns}
    of_systems = [column for stage in stages for column in work_columns(stage.system)]
    works = [column.name for column in (*of_systems, *columns.values()) if column.kind == "work"]
    reported = [column for stage in stages for column in stage.system.columns]
    energies = [column.name for column in reported if column.kind == "energy" and column.name != "kinetic"]
    totals = {name: column for name, column in columns.items() if column.kind == "total" and name != BALANCE.name}
    return _Names(
        tuple(dict.fromkeys(energies)),
        (*dict.fromkeys(works), SWITCHES.name),
        tuple(totals.values()),
        tuple(name for name, column in columns.items() if column.kind == "count" and column.plot),
        {name: joint for stage in stages for name, joint in stage.system.joints.items()},
    )
