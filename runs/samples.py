"""What a run reports of its samples: rows of the history and of probes, frames, the energy drift, and its progress."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import final

import numpy as np

from symplex.base.checkpoint import Checkpoint
from symplex.base.columns import Column
from symplex.base.files import WAY_OUT
from symplex.errors import OutputError
from symplex.fem.system import State
from symplex.meshes.series.series import SeriesWriter, open_series, resume_series
from symplex.parallel.ranks import Ranks
from symplex.runs.background import Background
from symplex.runs.checkpoints import CheckpointsOfRun
from symplex.runs.conservation_report import renew_expected, write_expected
from symplex.runs.frames import Shown, fields_of
from symplex.runs.history import History, HistoryWriter, read_history
from symplex.runs.pieces import FramesOfRanks, in_pieces
from symplex.runs.probes import ProbesOfRun
from symplex.runs.progress import Display
from symplex.runs.reporters import Reporter, Sample
from symplex.runs.results import RunFolder
from symplex.runs.rows import RowsOfRun
from symplex.scenario.scenario import Problem
from symplex.time.motion import Motion
from symplex.time.totals import EnergyExchange

_LARGE = 100_000  # points that are drawn, above which frames are written while the motion goes on


@final
class SamplesOfRun:
    """Shows the samples of one run to its reporters, from the first or from a stored one on.

    Parameters
    ----------
    problem, folder
    opened : ExitStack
        Ends the reporters.
    ranks : Ranks or None
        Among which the motion is divided.
    checkpoints : CheckpointsOfRun
        Called with whether frames, and so they, are in a part for each rank.
    shown : Display
    given : iterable of Reporter
        The user's own.

    Attributes
    ----------
    columns : list of str
        Of the history.
    statistics : mapping of str to float
        Of the motion, at the last sample.
    probes : ProbesOfRun
    """

    def __init__(
        self,
        problem: Problem,
        folder: RunFolder,
        opened: ExitStack,
        ranks: Ranks | None,
        checkpoints: CheckpointsOfRun,
        shown: Display,
        given: Iterable[Reporter] = (),
    ):
        self._problem, self._folder, self._opened = problem, folder, opened
        self._checkpoints = checkpoints
        self.probes = ProbesOfRun(problem, folder)
        self._frames = _Frames(problem, folder.series, self.probes, ranks, checkpoints)
        self._history = _History(problem, folder)
        drift = _Drift(problem, folder, self._history)
        # Frames and probes before the history: a row that is there has its frame.
        reporters = [
            self._frames,
            self.probes,
            self._history,
            drift,
            _Progress(shown, float(problem.scenario.times[-1]), drift),
        ]
        self._reporters: list[Reporter] = [*reporters, *given]
        self.statistics: Mapping[str, float] = {}
        self._background = Background(False)
        self._rows: RowsOfRun | None = None

    @property
    def columns(self) -> list[str]:
        """The names of the columns of the history."""
        return self._history.columns

    def begin(self, motion: Motion, state: State) -> None:
        """Begin all reporters, and report the first sample."""
        self._rows = self._history.of(motion)
        self._begin(None)
        self.record(0, state, motion)

    def resume(self, checkpoint: Checkpoint, motion: Motion) -> None:
        """Begin all reporters after a sample, and cut what is later than a checkpoint."""
        kept = float(self._problem.scenario.times[checkpoint.sample])
        self._checkpoints.last = checkpoint.parts
        self._history.columns, self._rows = list(checkpoint.columns), self._history.of(motion)
        self._frames.motion = motion
        for reporter in self._reporters:  # before anything is cut
            reporter.check(self._folder.path, kept)
        self._begin(kept)
        self.statistics = motion.statistics()

    def _begin(self, kept: float | None) -> None:
        for reporter in self._reporters:
            self._opened.callback(reporter.end)
            reporter.begin(self._folder.path, kept)
        # Entered last, it ends before the files that it writes are closed.
        self._background = self._opened.enter_context(Background(self._frames.n_points > _LARGE))

    def record(self, k: int, state: State, motion: Motion) -> None:
        """Report sample k."""
        assert self._rows is not None, "it has begun"
        of_run = self._problem.scenario
        requested = {"is_row": bool(of_run.is_row[k]), "is_frame": bool(of_run.is_frame[k])}
        sample = Sample(k, state, motion, self._rows, self._background, **requested)
        if sample.is_row:
            _ = sample.row  # before anything of the sample is written
        self.statistics = motion.statistics()
        self.probes.look(sample)
        for reporter in self._reporters:
            reporter.report(sample)

    def flush(self) -> None:
        """See to it that all that was recorded is in its files, as a checkpoint counts on."""
        self._background.wait()
        for reporter in self._reporters:
            reporter.flush()


@final
class _Frames(Reporter):
    """The frames of a run, in one series, or in pieces by several ranks."""

    def __init__(
        self, problem: Problem, path: Path, probes: ProbesOfRun, ranks: Ranks | None, checkpoints: CheckpointsOfRun
    ):
        self._problem, self._path, self._probes, self._checkpoints = problem, path, probes, checkpoints
        self._drawn, self._requested = Shown(problem), problem.scenario.tables.output.fields
        self.n_points = len(self._drawn.points)
        self._ranks = ranks if in_pieces(problem, self.n_points, ranks) else None
        self._series: SeriesWriter | FramesOfRanks | None = None
        self.motion: Motion | None = None  # of a run that is resumed

    def begin(self, folder: Path, kept: float | None) -> None:
        """Begin the series, or open it without what is later: in pieces by ranks that have the parts of then."""
        by_ranks = None
        if self._ranks is not None:
            if self.motion is not None and kept is not None:
                self.motion.advance(kept)  # with which each has its part
            by_ranks = FramesOfRanks(self._ranks, self._problem, self._drawn, self._path)
            self._checkpoints.with_cutbacks = kept is None or by_ranks.fit()
        if kept is None:
            shown = self._drawn
            self._series = by_ranks.begin() if by_ranks else open_series(self._path, shown.points, shown.blocks)
            return
        scenario = self._problem.scenario
        is_frame = scenario.is_frame & (scenario.times <= kept)
        is_frame[list(self._probes.frames_brought())] = True
        count = int(is_frame.sum())
        if by_ranks is not None and self._checkpoints.with_cutbacks:
            self._series = by_ranks.resume(kept, count)
        else:
            self._series = resume_series(self._path, kept, count)

    def report(self, sample: Sample) -> None:
        """Write a frame, if it is requested of the sample."""
        if not sample.is_frame:
            return
        sample.wait()  # for the frame before: each takes as much memory as the positions
        assert self._series is not None, "it has begun"
        if isinstance(self._series, FramesOfRanks):
            self._series.append(sample.t)
            return
        self._drawn.parts.follow(sample.motion.system)
        at_points, at_cells = fields_of(self._drawn, self._requested, sample.acting, sample.state)
        sample.later(self._series.append, sample.t, self._drawn.displacement(sample.state.q), at_points, at_cells)

    def end(self) -> None:
        """Close the series."""
        if self._series is not None:
            self._series.__exit__(None, None, None)


@final
class _History(Reporter):
    """The rows of ``history.csv``.

    Attributes
    ----------
    columns : list of str
        What is counted only once it occurs is not in the first row, but in the summary.
    past : History or None
        Up to the last sample that counts, of a run that is resumed.
    """

    def __init__(self, problem: Problem, folder: RunFolder):
        self._problem, self._path = problem, folder.history
        self.columns: list[str] = []
        self.past: History | None = None
        self._rows: RowsOfRun | None = None
        self._writer: HistoryWriter | None = None

    def of(self, motion: Motion) -> RowsOfRun:
        """Return what makes its rows of a motion."""
        self._rows = RowsOfRun(self._problem, motion)
        return self._rows

    @property
    def declared(self) -> dict[str, Column]:
        """What the columns are, with the energy marked that is watched."""
        assert self._rows is not None, "it has begun"
        return self._rows.describe(self.columns)

    def check(self, folder: Path, kept: float) -> None:
        """Refuse a history that has other rows up to a time, or other columns, than the run wrote."""
        past, scenario = read_history(self._path), self._problem.scenario
        until = past["t"][past["t"] <= kept]
        requested = scenario.times[scenario.is_row & (scenario.times <= kept)]
        if not np.array_equal(until, requested):
            raise OutputError(
                f"{folder} cannot be resumed: {self._path.name} has {len(until)} rows up to the checkpoint, "
                f"expected {len(requested)} at the times of the scenario; {WAY_OUT}."
            )
        if list(past) != self.columns:
            odd = [name for name in (*self.columns, *past) if (name in self.columns) != (name in past)]
            what = f"'{odd[0]}'" if odd else "in another order"
            raise OutputError(
                f"{folder} cannot be resumed: the columns of {self._path.name} are not those that the run wrote "
                f"({what}); {WAY_OUT}."
            )
        self.past = History({name: rows[: len(requested)] for name, rows in past.items()}, past.columns)

    def begin(self, folder: Path, kept: float | None) -> None:
        """Open the history without what is later than a time in s; a new one begins with its first row."""
        if kept is not None:
            self._writer = HistoryWriter.resume(self._path, kept, self.declared)

    def report(self, sample: Sample) -> None:
        """Write a row, if it is requested of the sample."""
        if not sample.is_row:
            return
        if self._writer is None:
            self.columns = list(sample.row)
            self._writer = HistoryWriter(self._path, self.declared)
        sample.later(self._writer.append, {name: sample.row[name] for name in self.columns})

    def end(self) -> None:
        """Close the file."""
        if self._writer is not None:
            self._writer.close()


@final
class _Drift(Reporter):
    """What the method is to conserve: written before the motion, and its energy watched on the way."""

    def __init__(self, problem: Problem, folder: RunFolder, history: _History):
        self._problem, self._folder, self._history = problem, folder, history
        self._watched = ""  # among the columns the energy that is kept
        self._energy0: float | None = None
        self._exchange = EnergyExchange()
        self.largest = 0.0

    def begin(self, folder: Path, kept: float | None) -> None:
        """Write what can be conserved; take note of the energies up to a time in s."""
        past = self._history.past
        if past is None:
            write_expected(self._problem, self._folder.conservation)
            return
        for row in zip(*past.values(), strict=True):
            self._take(dict(zip(past, row, strict=True)))
        renew_expected(self._problem, self._folder)

    def report(self, sample: Sample) -> None:
        """Take note of the energies of a sample."""
        if sample.is_row:
            self._take(sample.row)

    def _take(self, row: Mapping[str, float]) -> None:
        if self._energy0 is None:
            declared = self._history.declared.values()
            self._watched = next(column.name for column in declared if column.watched)
            self._energy0 = row[self._watched]
        self._exchange.add(row["kinetic"], row["total"])
        self.largest = self._exchange.relative(row[self._watched] - self._energy0)


@final
class _Progress(Reporter):
    """Shows how far the run is."""

    def __init__(self, shown: Display, end: float, drift: _Drift):
        self._shown, self._end, self._drift = shown, end, drift

    def begin(self, folder: Path, kept: float | None) -> None:
        """Begin at a time in s."""
        self._shown.begin(kept or 0.0, self._end)

    def report(self, sample: Sample) -> None:
        """Show the time, the drift, and how much the motion has done."""
        name, count = next(iter(sample.motion.statistics().items()))
        self._shown.update(sample.t, self._drift.largest, f"{count:,} {name}")

    def end(self) -> None:
        """Leave what is shown."""
        self._shown.end()
