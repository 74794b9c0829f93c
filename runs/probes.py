"""What a run does with its probes: rows at their own rate, frames on events, what a summary shows of them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from time import perf_counter
from typing import Any, final

import numpy as np

from symplex.base.columns import Column
from symplex.base.files import WAY_OUT
from symplex.errors import OutputError, SymplexError
from symplex.fem.energies.energy import Array
from symplex.fem.outputs.probe import DeferredProbe
from symplex.fem.outputs.snapshots import Needs, Observation, Snapshots
from symplex.runs.probe_files import ProbeWriter, open_probe, path_of_probe, read_probe, resume_probe
from symplex.runs.reporters import Reporter, Sample
from symplex.runs.results import RunFolder
from symplex.scenario.probe_building import BuiltProbe
from symplex.scenario.probes import Event
from symplex.scenario.scenario import Problem

_LONGEST = 1.0  # s that rows wait at most
_MOST_NOTED = 4096  # rows that wait for the summary


@final
class ProbesOfRun(Reporter):
    """The probes of a run."""

    def __init__(self, problem: Problem, folder: RunFolder):
        self._scenario = problem.scenario
        self._probes = [_ProbeOfRun(built, folder) for built in problem.probes]
        rates: dict[int, list[_ProbeOfRun]] = {}
        for probe in self._probes:
            if probe.can_wait:
                rates.setdefault(probe.every, []).append(probe)
        self._waiting = [_Waiting(probes) for probes in rates.values()]
        self._at_once = [probe for probe in self._probes if not probe.can_wait]
        self._written = perf_counter()

    def check(self, folder: Path, kept: float) -> None:
        """Read all files up to a time in s, and find the events of then again."""
        for probe in self._probes:
            probe.replay(self._times_up_to(kept))

    def begin(self, folder: Path, kept: float | None) -> None:
        """Begin the files, or continue them without the rows after a time in s."""
        for probe in self._probes:
            if kept is None:
                probe.writer = open_probe(probe.path, probe.columns)
            else:
                rows = len(range(0, len(self._times_up_to(kept)), probe.every))
                probe.writer = resume_probe(probe.path, probe.columns, rows, kept)

    def _times_up_to(self, kept: float) -> Array:
        times = self._scenario.times
        return times[times <= kept]

    def look(self, sample: Sample) -> None:
        """Look at a sample; an event keeps a frame of it."""
        k = sample.number
        waiting = [one for one in self._waiting if k % one.every == 0]
        due = [probe for probe in self._at_once if k % probe.every == 0]
        if not (waiting or due):
            return
        motion = sample.motion
        seen = Observation(motion.system, sample.state, sample.acting, motion.constraint_forces, motion.slip)
        for one in waiting:
            one.states.add(seen)
        sample.is_frame |= any([probe.look(k, seen) for probe in due])

    def frames_brought(self) -> set[int]:
        """Return the samples up to now of which events have requested frames."""
        return set().union(*(probe.brought for probe in self._probes))

    def report(self, sample: Sample) -> None:
        """Write the rows that wait, if there are many or they have waited for long: together they cost less."""
        if not self._probes:
            return
        sample.wait()  # for the frame: a row that is there has it
        if perf_counter() - self._written > _LONGEST:
            self.write()
            return
        for one in self._waiting:
            if one.states.is_full:
                one.write()

    def write(self) -> None:
        """Write all rows that wait."""
        self._written = perf_counter()
        for one in (*self._waiting, *self._at_once):
            one.write()

    def flush(self) -> None:
        """See to it that all rows survive a kill."""
        self.write()
        for probe in self._probes:
            if probe.writer is not None:
                probe.writer.flush()

    def end(self) -> None:
        """Write what waits when a run has stopped, whose error is the one to report; close the files."""
        with suppress(SymplexError):
            self.write()
        with ExitStack() as files:  # closes all, whatever is wrong with one
            for probe in self._probes:
                if probe.writer is not None:
                    files.callback(probe.writer.close)

    def summary(self) -> dict[str, Any]:
        """Return for each probe its file, and of each column the least and the largest value with their times."""
        return {probe.name: probe.summary() for probe in self._probes}


@final
class _Waiting:
    """Probes that look at the same samples, and the states of which they have still to report."""

    def __init__(self, probes: Sequence[_ProbeOfRun]):
        self._probes, self.every = probes, probes[0].every
        self.states = Snapshots([one for probe in probes for one in probe.needs])

    def write(self) -> None:
        """Write the rows of these states, and forget them; what one probe can't tell does not keep others from it."""
        if not len(self.states):
            return
        failures = []
        for probe in self._probes:
            try:
                probe.write_rows(self.states)
            except SymplexError as error:
                failures.append(error)
        self.states.clear()
        if failures:
            raise failures[0]


@final
class _ProbeOfRun:
    """A probe with its file."""

    def __init__(self, built: BuiltProbe, folder: RunFolder):
        table = built.table
        self.name, self.every, self._parts = table.name, table.every, built.probes
        self.path = path_of_probe(folder.path, table.name, table.format)
        reported = [column for probe in built.probes for column in probe.columns]
        self.columns = {"t": Column("t", "s", "time")} | {column.name: column for column in reported}
        self.writer: ProbeWriter | None = None
        self.brought: set[int] = set()  # samples whose event requests frames
        self._names = list(self.columns)
        self._event = None if table.frame_on is None else _Watch(table.frame_on, reported)
        self._deferred = [probe for probe in built.probes if isinstance(probe, DeferredProbe)]
        self.can_wait = self._event is None and len(self._deferred) == len(built.probes)
        self._found: list[Array] = []  # rows that are to be written
        self._noted: list[Array] = []  # rows that are written, for the summary
        self._least, self._largest, self._last = (np.full((2, len(reported)), np.nan) for _ in range(3))

    @property
    def needs(self) -> list[Needs]:
        return [probe.needs for probe in self._deferred]

    def look(self, k: int, seen: Observation) -> bool:
        """Find the row of sample k; return whether its event wants a frame of it."""
        row = np.concatenate([seen.times, *(probe.values(seen) for probe in self._parts)])
        self._found.append(row)
        return self._happens(k, row[1:])

    def _happens(self, k: int, numbers: Array) -> bool:
        if self._event is None or not self._event.happens(numbers):
            return False
        self.brought.add(k)
        return True

    def _take(self, rows: Array) -> None:
        """Take note of rows [s, columns] that are there, for the summary."""
        self._noted.append(rows)
        if sum(map(len, self._noted)) > _MOST_NOTED:
            self._note_extremes()

    def _note_extremes(self) -> None:
        """Find what is largest and least in the rows noted since the last time."""
        if not self._noted:
            return
        rows, self._noted = np.concatenate(self._noted), []
        numbers = rows[:, 1:]
        self._last[0], self._last[1] = rows[-1, 0], numbers[-1]
        for known, extreme, beyond in ((self._least, np.min, np.less), (self._largest, np.max, np.greater)):
            found = extreme(numbers, axis=0)
            new = np.flatnonzero(beyond(found, known[1]) | np.isnan(known[1]))
            if len(new):
                first = (numbers[:, new] == found[new]).argmax(axis=0)
                known[0, new], known[1, new] = rows[first, 0], found[new]

    def write(self) -> None:
        """Write the rows that were found at once."""
        found, self._found = self._found, []
        if found:
            self._write(np.stack(found))

    def write_rows(self, states: Snapshots) -> None:
        """Find and write the rows of several states."""
        try:
            rows = self._rows(states)
        except SymplexError:  # of one of them; what was before is kept
            for k in range(len(states)):
                self._write(self._rows(states.single(k)))
        else:
            self._write(rows)

    def _rows(self, states: Snapshots) -> Array:
        return np.concatenate([states.times[:, None], *(probe.rows(states) for probe in self._deferred)], axis=1)

    def _write(self, rows: Array) -> None:
        assert self.writer is not None, "it has been begun"
        self.writer.extend(rows)
        self._take(rows)

    def replay(self, times: Array) -> None:
        """Take the rows that the file has at the rows' times among these, as if they were looked at again."""
        samples = np.arange(0, len(times), self.every)
        past = read_probe(self.path)
        if list(past) != self._names:
            raise OutputError(
                f"{self.path.parent} cannot be resumed: the columns of {self.path.name} are not those that the run "
                f"wrote; {WAY_OUT}."
            )
        rows = np.column_stack(list(past.values()))
        rows = rows[rows[:, 0] <= times[-1]]
        if not np.array_equal(rows[:, 0], times[samples]):
            raise OutputError(
                f"{self.path.parent} cannot be resumed: {self.path.name} has {len(rows)} rows up to the checkpoint, "
                f"expected {len(samples)} at the times of the scenario; {WAY_OUT}."
            )
        for k, row in zip(samples.tolist(), rows, strict=True):
            self._happens(k, row[1:])
        if len(rows):
            self._take(rows)

    def summary(self) -> dict[str, Any]:
        self._note_extremes()
        columns = {}
        if not np.isnan(self._last[0]).all():
            numbers = zip(self._least.T.tolist(), self._largest.T.tolist(), self._last[1].tolist(), strict=True)
            for name, ((t_least, least), (t_largest, largest), end) in zip(self._names[1:], numbers, strict=True):
                columns[name] = {"unit": self.columns[name].unit, "least": least, "t_least": t_least}
                columns[name] |= {"largest": largest, "t_largest": t_largest, "end": end}
        return {"file": self.path.name, "columns": columns}


@final
class _Watch:
    """Finds out when an event happens, from the size of what a probe shows first: of a vector, or of a number.

    ``onset``: it is not zero for the first time. ``peak``: it was larger than ever one look before, and has become
    less, which is known then only.
    """

    def __init__(self, event: Event, columns: Sequence[Column]):
        first = columns[0]
        self._columns = [k for k, one in enumerate(columns) if first.vector and one.vector == first.vector] or [0]
        self._event = event
        self._largest = self._before = -1.0
        self._is_highest = self._has_begun = False

    def happens(self, numbers: Array) -> bool:
        size = float(np.linalg.norm(numbers[self._columns]))
        if self._event == "onset":
            happens, self._has_begun = size > 0.0 and not self._has_begun, self._has_begun or size > 0.0
            return happens
        happens = self._is_highest and size < self._before
        self._is_highest = (size > self._largest and self._before >= 0.0) or (self._is_highest and size == self._before)
        self._largest, self._before = max(self._largest, size), size
        return happens
