"""Runs in stages, given or following conditions: parts with steps of one size, each begun where the one before ends."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import described
from symplex.errors import InvalidArgument, InvalidSystem
from symplex.fem.assembly.pattern import Array
from symplex.fem.system import State, System
from symplex.time.integrator import Integrator
from symplex.time.stage_event import Event
from symplex.time.stages import Entered, Stage, Stages

_SAME = 1e-9  # times that differ by this part of a stage are one

# What a function returns for parameters p [k]: a system, or stages with their systems, and the state at the start.
Build = Callable[[Array], tuple[System | Stages, State]]


@final
@dataclass(frozen=True)
class Leg:
    """A part of a run, in steps of one size.

    Attributes
    ----------
    stage : Stage
    entered : Entered
        Where it begins; without a step where that is found there.
    end : float
        In s.
    event : Event or None
        The condition that ends it.
    conditions : int
        How many conditions have moved times before it.
    shift : float
        The derivative of its start by the time of the last of these.
    """

    stage: Stage
    entered: Entered
    end: float
    event: Event | None = None
    conditions: int = 0
    shift: float = 0.0

    @property
    def moves(self) -> bool:
        """Whether its end may depend on parameters."""
        return self.event is not None

    @property
    def parts(self) -> int:
        """Into how many steps the way to its end, or to a time after it, is divided; 0 if they are as given."""
        if self.moves:
            return max(round((self.end - self.entered.t) / self.entered.dt), 1)
        return self.entered.parts


@final
class StagedBuild:
    """What a function builds of parameters, part by part.

    Parameters
    ----------
    who : str
        For messages.
    build : callable
        Returns `Stages` and the `State` at the start for parameters p [k].
    p : float64 [k]
    times : float64 [T]
        In s, of the samples.

    Attributes
    ----------
    p : float64 [k]
    times : float64 [T]
        Those that are reached; where a condition stops the run, the last of them is its time.
    legs : list of Leg
    moved : list of float
        Times in s of the conditions that end a part, all of which depend on parameters.
    happened, all_happened : dict of str to float
        Times in s of the conditions that change the run, and of all that have held.
    stopped : str
        The condition that stops it, if one does.

    Raises
    ------
    InvalidSystem
        If stages begin in other ways than at the state where the one before ends.
    """

    def __init__(self, who: str, build: Build, p: ArrayLike, times: Array):
        self.who, self._build, self._found = who, build, dict[bytes, tuple[Stages, State]]()
        self._following = dict[tuple[bytes, str, tuple[float, ...]], tuple[Stage, ...]]()
        self._known = dict[int, tuple[System, bytes, Mapping[str, Event]]]()  # systems that were built, of which p
        self.p, self.times = np.array(p, float), times
        self.happened: Mapping[str, float] = {}
        self.all_happened: Mapping[str, float] = {}
        self.moved: list[float] = []
        self.stopped = ""
        stages, state = self._at(self.p)
        require_times(who, times, state.t)
        self.legs = self._after_conditions(stages) if stages.events else self._given(stages)
        for leg in self.legs:
            if leg.stage.beginning is not None:
                raise InvalidSystem(
                    f"{who}: stage {leg.stage.name or leg.entered.at} makes its system of the state at which it begins "
                    f"({type(leg.stage.beginning).__name__}), which has no derivatives."
                )

    def _given(self, stages: Stages) -> list[Leg]:
        """Return the stages that are reached."""
        found, start, last = [], self.start(self.p).t, self.times[-1]
        if last > stages.stages[-1].end * (1.0 + _SAME):
            raise InvalidArgument(
                f"{self.who}: t = {last:g} s is after the end of the last stage, {stages.stages[-1].end:g} s."
            )
        for at, stage in enumerate(stages.stages):
            found.append(Leg(stage, Entered("", {}, at, start, np.nan, 0), stage.end))
            start = stage.end
            if last <= stage.end + _SAME * abs(stage.end):
                break
        return found

    def _after_conditions(self, stages: Stages) -> list[Leg]:
        """Return the parts of a run with conditions, by taking it."""
        state = self.start(self.p)
        motion = stages.start(stages.stages[0].system, state)
        for k, t in enumerate(self.times):
            motion.advance(t)
            if motion.stopped:
                self.stopped = motion.stopped
                end = motion.happened[self.stopped]  # at a time before only by rounding it is that one
                self.times = np.append(self.times[:k][self.times[:k] < end - _SAME * abs(end)], end)
                break
        acting = {event.name: event for event in stages.events if event.then != "record"}
        self.all_happened = motion.happened
        self.happened = {name: t for name, t in motion.happened.items() if name in acting}
        ends = [*(one.t for one in motion.entered[1:]), float(self.times[-1])]
        found: list[Leg] = []
        shift = 0.0
        for one, end in _without_slivers(zip(motion.entered, ends, strict=True)):
            if np.isnan(one.dt):
                raise InvalidSystem(
                    f"{self.who}: {stages.stages[one.at].integrator.name} takes no steps of one size, and has no "
                    "derivatives."
                )
            event = next((acting[name] for name, t in self.happened.items() if t == end), None)
            shift = 1.0 if self.moved and one.t == self.moved[-1] else shift
            stage = self._stage_of(self.p, one, one.happened)
            found.append(leg := Leg(stage, one, end, event, len(self.moved), shift))
            if event is not None:
                self.moved.append(end)
            shift *= 1.0 - (end - one.t) / one.dt / leg.parts if leg.parts else 0.0
            shift = 0.0 if abs(shift) < _SAME else shift
        if not found:
            raise InvalidSystem(
                f"{self.who}: the condition '{self.stopped}' stops the run where it starts, at t = {ends[-1]:g} s; "
                "there is no motion to differentiate. Change its bound."
            )
        return found

    def _at(self, p: Array) -> tuple[Stages, State]:
        """Return what is built of parameters, once."""
        key = p.tobytes()
        if key not in self._found:
            built: Any = self._build(p.copy())
            if not (isinstance(built, tuple) and len(built) == 2 and isinstance(built[0], Stages)):
                raise InvalidArgument(
                    f"{self.who}: without an integrator build must return Stages and a State; it returns "
                    f"{described(built)}."
                )
            self._found[key] = built
        return self._found[key]

    def _stage_of(self, p: Array, entered: Entered, happened: Mapping[str, float]) -> Stage:
        """Return a stage for parameters, and times in s of conditions."""
        stages = self._at(p)[0]
        found = stages.stages
        if entered.after:
            key = p.tobytes(), entered.after, tuple(happened.values())
            if key not in self._following:
                event = next(event for event in stages.events if event.name == entered.after)
                self._following[key] = tuple(stages.following(event, happened))
            found = self._following[key]
        stage = found[entered.at]
        own = self._at(self.p)[0].events
        if [_kind(event) for event in stages.events] != [_kind(event) for event in own]:
            raise InvalidSystem(
                f"{self.who}: a parameter changes which conditions there are, or what follows them; there is no "
                "derivative by it."
            )
        known = self._known.get(id(stage.system))
        if known is not None and known[1] != p.tobytes():  # one system for several parameters, with other conditions
            stage = replace(stage, system=copy.copy(stage.system))
        self._known[id(stage.system)] = stage.system, p.tobytes(), {event.name: event for event in stages.events}
        return stage

    def start(self, p: Array) -> State:
        """Return the state at the start for parameters."""
        return self._at(p)[1]

    def event_of(self, system: System, name: str) -> Event:
        """Return a condition as it is for the parameters of a system that was built."""
        return self._known[id(system)][2][name]

    def of(
        self, leg: Leg, start: Callable[[Array], State], moved: Callable[[Array], Array]
    ) -> Callable[[Array], tuple[System, State]]:
        """Return the function that builds a part, which begins at a state for parameters.

        Parameters
        ----------
        leg : Leg
        start : callable
        moved : callable
            ``moved(p)`` returns the times [m] in s of conditions for parameters [k], and those times if there are more.
        """

        def build(p: Array) -> tuple[System, State]:
            times, own = moved(p), p[: len(self.p)]
            places = {t: k for k, t in enumerate(self.moved[: leg.conditions])}
            happened = {
                name: times[places[t]] if name in self.happened and t in places else t
                for name, t in leg.entered.happened.items()
            }
            stage = self._stage_of(own, leg.entered, happened)
            if abs(stage.end - leg.stage.end) > _SAME * abs(stage.end):
                raise InvalidSystem(f"{self.who}: a parameter changes when stages end; there is no derivative by it.")
            state = start(p)
            if leg.shift:
                last = leg.conditions - 1
                state = state.timed(leg.entered.t + leg.shift * (times[last] - self.moved[last]))
            return stage.system, state

        return build

    def method(self, leg: Leg, state: State) -> Integrator:
        """Return the integrator of a part, with the step that it takes from a state if that is found there."""
        stage = leg.stage
        if stage.interval is None or not np.isnan(leg.entered.dt):
            return stage.integrator
        return stage.integrator.fit(stage.system, state, stage.interval)

    def inside(self, leg: Leg) -> tuple[Array, Array]:
        """Return the times inside a part, in s, and these with its end unless it is the last one, or ends with a time.

        One at its end is in it, not in the next one.
        """
        first, end = leg is self.legs[0], leg.end + _SAME * abs(leg.end)
        start = -np.inf if first else leg.entered.t + _SAME * abs(leg.entered.t)
        some = self.times[(self.times > start) & (self.times <= end)]
        if leg is self.legs[-1] or (len(some) and abs(some[-1] - leg.end) <= _SAME * abs(leg.end)):
            return some, some
        return some, np.append(some, leg.end)


def require_times(who: str, times: Array, start: float) -> None:
    """Check the times of samples.

    Raises
    ------
    InvalidArgument
        If they do not ascend, or begin before the start in s.
    """
    if times.ndim != 1 or not len(times) or not np.isfinite(times).all() or (np.diff(times) <= 0.0).any():
        raise InvalidArgument(f"{who}: times must be finite numbers in ascending order.")
    if times[0] < start:
        raise InvalidArgument(f"{who}: times must not be before the start at {start:g} s, got {times[0]:g} s.")


def _kind(event: Event) -> tuple[object, ...]:
    """Return what of a condition no parameter can change."""
    then = event.then if isinstance(event.then, str) else ""
    return event.name, event.value == "time", event.above is None, event.after, then


def _without_slivers(parts: Iterable[tuple[Entered, float]]) -> list[tuple[Entered, float]]:
    """Return parts with their ends; what follows steps of a stage by rounding alone belongs to these.

    Of a condition that holds at the end of a step the time is located after it by a part of the next one.
    """
    found: list[tuple[Entered, float]] = []
    for one, end in parts:
        if not end > one.t:
            continue  # a condition that holds at once
        last = found[-1][0] if found else None
        if last is not None and (last.after, last.at) == (one.after, one.at) and end - one.t < _SAME * last.dt:
            found[-1] = last, end
        else:
            found.append((one, end))
    return found


def staged(who: str, build: Build, p: ArrayLike, integrator: Integrator | None, times: Array) -> StagedBuild | None:
    """Return the stages that a function builds, if it is to be without an integrator."""
    if isinstance(integrator, Stages):
        raise InvalidArgument(
            f"{who}: let build return the Stages for its parameters in place of the System, and give integrator=None."
        )
    return StagedBuild(who, build, p, times) if integrator is None else None
