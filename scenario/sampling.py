"""How long a run or a stage of it takes, how often it is looked at, and the parts that it falls into."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from symplex.base.quantities import positive, whole
from symplex.fem.energies.energy import Array
from symplex.scenario.actions import SAME_TIME, Timed
from symplex.scenario.table import Entry

if TYPE_CHECKING:
    from symplex.scenario.tables import Tables

MOST_FRAMES = 10**6
ROUNDING = 1e-12  # by how much a step may be longer than it should


class Sampled(Entry):
    """How long, and how often something is stored."""

    of_all = True
    duration: Annotated[float, positive("s"), "How long."]
    frames: Annotated[
        int,
        whole(1, MOST_FRAMES),
        "Deformed meshes that are stored, besides the initial one; without `samples` fewer where `dt` makes fewer "
        "steps.",
    ] = 60
    samples: Annotated[
        int | None,
        whole(1, 10 * MOST_FRAMES),
        "Rows of the history and of probes after the start: a multiple of `frames`, by default 10 × `frames`, "
        "but no more than steps.",
    ] = None

    def _check(self) -> None:
        if self.n_samples % self.frames:
            near = max(round(self.n_samples / self.frames), 1) * self.frames
            raise ValueError(
                f"samples must be a multiple of frames = {self.frames}, such as {near}, got {self.samples}"
            )

    @property
    def n_samples(self) -> int:
        """Rows of the history after the first."""
        return 10 * self.frames if self.samples is None else self.samples

    def with_steps(self, dt: float) -> Self:
        """Return the same with no more samples than there are steps of dt in s, where the file gives no number.

        Where it gives no number of frames either, there is a sample after each step, and a frame after each or every
        second, third … one; the step is then hardly made smaller. Frames that are given stay as they are.
        """
        steps = math.ceil(self.duration / dt * (1.0 - ROUNDING))
        if self.samples is not None or steps >= self.n_samples:
            return self
        each, frames = math.ceil(steps / self.frames), self.frames
        if not self.gives("frames"):
            frames = math.ceil(steps / each)
        return self.replaced(frames=frames, samples=frames * each)

    def gives(self, key: str) -> bool:
        """Return whether the file gives a key."""
        return key in self.given_keys


class Run(Sampled):
    """How long, and how often something is stored; and checkpoints. With stages it has only the last two keys."""

    checkpoint: Annotated[
        float,
        positive("s of wall time"),
        "Between checkpoints; there is one at the end and when a signal ends the run, too.",
    ] = 15.0
    until: Annotated[
        float | None,
        positive("s"),
        "End of an extended run, by default `duration` ([more](../studies.md#extending-a-finished-run)).",
    ] = None

    @property
    def end(self) -> float:
        """The time in s to which the run goes."""
        return self.duration if self.until is None else self.until


@dataclass(frozen=True)
class RunInterval:
    """A part of a run in which one integrator goes on and the same things act.

    Attributes
    ----------
    stage : int
        The number of the stage that it is in, from 0.
    start, end : float
        Times in s.
    samples : int
    interval : float
        The time in s between samples.
    """

    stage: int
    start: float
    end: float
    samples: int
    interval: float


@dataclass(frozen=True)
class Timeline:
    """All of a run.

    Attributes
    ----------
    legs : tuple of Leg
    times : float64 [samples + 1]
        At which the motion is looked at, from 0, in s.
    is_frame : bool [samples + 1]
        Whether a sample is a frame as well.
    is_row : bool [samples + 1]
        Whether it has a row in the history: at frames and the ends of parts it has.
    """

    legs: tuple[RunInterval, ...]
    times: Array
    is_frame: NDArray[np.bool_]
    is_row: NDArray[np.bool_]


def timeline(tables: Tables) -> Timeline:
    """Return when a run is sampled, and its parts: stages, cut where something begins or ends to act.

    Samples are spread evenly over each part, so that each cut is a sample; stages have as many as they are to have.
    Frames at given times are at the samples nearest to them.
    """
    legs: list[RunInterval] = []
    times, is_frame, begin = [np.zeros(1)], [np.ones(1, bool)], 0.0
    for k, stage in enumerate(tables.sampled):
        n, every = stage.n_samples, stage.n_samples // stage.frames
        bounds = [begin, *_cuts(tables, begin, stage.duration), begin + stage.duration]
        if n < len(bounds) - 1:
            raise ValueError(
                f"[{'[stage]' if tables.stage else 'run'}]: has {n} samples, but falls into {len(bounds) - 1} parts, "
                "as something begins or ends to act within it; give it more samples"
            )
        counts = _spread(n, (np.array(bounds) - begin) / stage.duration)
        for start, end, first, last in zip(bounds, bounds[1:], counts, counts[1:], strict=False):
            m = int(last - first)
            legs.append(RunInterval(k, start, end, m, (end - start) / m))
            times.append(start + (end - start) * (np.arange(1, m + 1) / m))
        is_frame.append(np.arange(1, n + 1) % every == 0)
        begin = bounds[-1]
    if tables.run.until is not None:
        last, every = legs[-1], tables.sampled[-1].n_samples // tables.sampled[-1].frames
        n = every * _frames_beyond(tables, last, every)
        # The samples of a run that goes on are those of the run that ends, to the last bit, and so are its steps.
        beyond = last.start + (last.end - last.start) * (
            np.arange(last.samples + 1, last.samples + n + 1) / last.samples
        )
        legs[-1] = replace(last, end=float(beyond[-1]) if n else last.end, samples=last.samples + n)
        times.append(beyond)
        is_frame.append(np.arange(1, n + 1) % every == 0)
    every_time, frames = np.concatenate(times), np.concatenate(is_frame)
    rows = (np.arange(len(every_time)) % tables.output.history_every == 0) | frames
    rows[np.cumsum([leg.samples for leg in legs])] = True
    found = Timeline(tuple(legs), every_time, frames, rows)
    end = found.times[-1]
    for t in tables.output.frames_at:
        if t > end * (1.0 + SAME_TIME):
            raise ValueError(f"ends at {end:g} s, before the frame that [output] frames_at requests at {t:g} s")
        nearest = np.abs(found.times - t).argmin()
        found.is_frame[nearest] = found.is_row[nearest] = True
    return found


class Change(NamedTuple):
    """What a condition that has held changes of a run.

    Attributes
    ----------
    t : float
        Its time in s.
    stage : int, optional
        The stage that begins there.
    ends : bool
        Whether the run ends there.
    """

    t: float
    stage: int | None
    ends: bool


def changed_timeline(before: Timeline, changes: Iterable[Change]) -> Timeline:
    """Return a timeline with samples and frames at the times of changes, and the later times of stages moved there.

    There are as many legs as before: those that are left out take no time.
    """
    for change in changes:
        k, t = int(np.searchsorted(before.times, change.t)), change.t
        at = k < len(before.times) and before.times[k] == t
        later, legs, shift = slice(k + at, None), list(before.legs), 0.0
        if change.ends:
            later, legs = slice(len(before.times), None), [_between(leg, leg.start, min(leg.end, t)) for leg in legs]
        elif change.stage is not None:
            first = next(leg.start for leg in legs if leg.stage >= change.stage)
            shift = t - first
            later = slice(int(np.searchsorted(before.times, first * (1.0 + SAME_TIME), side="right")), None)
            legs = [
                _between(leg, leg.start + shift, leg.end + shift)
                if leg.stage >= change.stage
                else _between(leg, min(leg.start, t), min(leg.end, t))
                for leg in legs
            ]
        times = np.concatenate([before.times[:k], [t], before.times[later] + shift])
        frames, rows = (np.concatenate([marks[:k], [True], marks[later]]) for marks in (before.is_frame, before.is_row))
        before = Timeline(tuple(legs), times, frames, rows)
    return before


def _between(leg: RunInterval, start: float, end: float) -> RunInterval:
    """Return a leg between other times in s."""
    return replace(leg, start=start, end=max(end, start))


def _frames_beyond(tables: Tables, last: RunInterval, every: int) -> int:
    """Return how many frames there are after the last leg of a run until the time to which it goes on.

    A frame is kept every so many samples.
    """
    end, until, each = last.end, tables.run.end, every * last.interval
    frames = round((until - end) / each)
    if until < end * (1.0 - SAME_TIME):
        raise ValueError(f"[run]: until is {until:g} s, before the {end:g} s that it lasts anyway; give more, or none")
    if abs(until - end - frames * each) > SAME_TIME * until:
        near = [end + max(k, 0) * each for k in (math.floor((until - end) / each), math.ceil((until - end) / each))]
        raise ValueError(
            f"[run]: until is {until:g} s, between two frames, which are {each:g} s apart; give {near[0]:.9g} or "
            f"{near[1]:.9g}"
        )
    if every * frames > 10 * MOST_FRAMES:
        raise ValueError(f"[run]: until is {until:g} s, which takes more than {10 * MOST_FRAMES:,} samples")
    for _, item in tables.entries(Timed):
        for time in (item.begin, item.until):
            if time is not None and end * (1.0 - SAME_TIME) < time < until * (1.0 - SAME_TIME):
                raise ValueError(
                    f"[run]: until is {until:g} s, but something begins or ends to act at {time:g} s, after the "
                    f"duration of {end:g} s; a run goes on only while nothing changes: give a longer duration instead"
                )
    return frames


def _cuts(tables: Tables, begin: float, duration: float) -> list[float]:
    """Return the times in s within a stage at which something begins or ends to act."""
    found: list[float] = []
    for t in sorted(
        {time for _, item in tables.entries(Timed) for time in (item.begin, item.until) if time is not None}
    ):
        inside = begin + SAME_TIME * duration < t < begin + (1.0 - SAME_TIME) * duration
        if inside and (not found or t - found[-1] > SAME_TIME * duration):
            found.append(t)
    return found


def _spread(n: int, parts: Sequence[float] | Array) -> NDArray[np.int_]:
    """Return the numbers of the samples, of n, at ascending parts of a stage from 0 to 1: all different."""
    counts = np.rint(n * np.asarray(parts)).astype(int)
    for i in range(1, len(counts)):
        counts[i] = max(counts[i], counts[i - 1] + 1)
    counts[-1] = n
    for i in range(len(counts) - 2, 0, -1):
        counts[i] = min(counts[i], counts[i + 1] - 1)
    return counts
