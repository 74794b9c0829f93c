"""What a run keeps of its samples: rows of the history and of probes, frames, and the energy drift until now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
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
from symplex.runs.history import HistoryWriter, read_history
from symplex.runs.pieces import FramesOfRanks, in_pieces
from symplex.runs.probes import ProbesOfRun
from symplex.runs.results import Folder
from symplex.runs.rows import RowsOfRun, found_once
from symplex.scenario.scenario import Problem
from symplex.time.motion import Motion
from symplex.time.totals import EnergyExchange

_LARGE = 100_000  # points that are drawn, above which frames are written while the motion goes on


@final
class SamplesOfRun:
    """Writes the samples of one run, from the first or from a stored one on.

    Parameters
    ----------
    problem, folder
    opened : ExitStack
        Closes the files of the run.
    ranks : Ranks or None
        Among which the motion is divided.
    checkpoints : CheckpointsOfRun
        Told whether frames, and so they, are in a part for each rank.

    Attributes
    ----------
    columns : list of str
        Of the history.
    statistics : mapping of str to float
        Of the motion, at the last sample.
    drift : float
        Of the energy that is kept, until the last sample.
    probes : ProbesOfRun
    """

    def __init__(
        self,
        problem: Problem,
        folder: Folder,
        opened: ExitStack,
        ranks: Ranks | None,
        checkpoints: CheckpointsOfRun,
    ):
        self._problem, self._folder, self._opened, self._ranks = problem, folder, opened, ranks
        self._checkpoints = checkpoints
        self._times = problem.scenario.times
        self._drawn = Shown(problem)
        self._in_pieces = in_pieces(problem, len(self._drawn.points), ranks)
        self.probes = ProbesOfRun(problem, folder)
        self.columns: list[str] = []
        self.statistics: Mapping[str, float] = {}
        self.drift = 0.0
        self._watched = ""  # among the columns the energy that is kept
        self._energy0: float | None = None
        self._exchange = EnergyExchange()
        self._background = Background(False)
        self._rows: RowsOfRun | None = None
        self._history: HistoryWriter | None = None
        self._series: SeriesWriter | FramesOfRanks | None = None

    def begin(self, motion: Motion, state: State) -> None:
        """Open all files, and write the first sample."""
        folder, opened = self._folder, self._opened
        # What is counted only once it occurs is not in the first row, but in the summary.
        self.columns = list(RowsOfRun(self._problem, motion).row(state, motion.gradient))
        self._history = opened.enter_context(HistoryWriter(folder.history, self._described(motion)))
        self._series = opened.enter_context(self._new_series())
        write_expected(self._problem, folder.conservation)
        self.probes.begin(opened)
        self.record(0, state, motion)

    def resume(self, checkpoint: Checkpoint, motion: Motion) -> None:
        """Open all files, and cut what is later than a checkpoint."""
        problem, folder, opened = self._problem, self._folder, self._opened
        t = float(self._times[checkpoint.sample])
        self.columns, self._checkpoints.last = list(checkpoint.columns), checkpoint.parts
        described = self._described(motion)
        for energies in self._energies_until(checkpoint):  # before anything is cut
            self._watch(*energies)
        self.probes.check(checkpoint.sample)
        is_frame = problem.scenario.is_frame[: checkpoint.sample + 1].copy()
        is_frame[list(self.probes.frames_brought())] = True
        self._series = opened.enter_context(self._old_series(motion, t, int(is_frame.sum())))
        self._history = opened.enter_context(HistoryWriter.resume(folder.history, t, described))
        self.probes.resume(checkpoint.sample, opened)
        renew_expected(problem, folder)
        self.statistics = motion.statistics()

    def write_aside(self) -> None:
        """From now on write large frames while the motion goes on."""
        # Entered last, it ends before the files that it writes are closed.
        self._background = self._opened.enter_context(Background(len(self._drawn.points) > _LARGE))

    def record(self, k: int, state: State, motion: Motion) -> None:
        """Write sample k."""
        assert self._rows is not None, "it has begun"
        assert self._history is not None, "it has begun"
        acting = found_once(motion, state)
        row = self._rows.row(state, acting) if self._problem.scenario.is_row[k] else None
        self.statistics = motion.statistics()
        if self.probes.look(k, state, motion, acting) or self._problem.scenario.is_frame[k]:
            self._background.wait()  # for the frame before: each takes as much memory as the positions
            if isinstance(self._series, FramesOfRanks):
                self._series.append(state.t)
            else:
                assert self._series is not None, "it has begun"
                at_points, at_cells = fields_of(self._problem, self._drawn, acting, state)
                self._background.do(
                    self._series.append, state.t, self._drawn.displacement(state.q), at_points, at_cells
                )
        # After the frame: a row that is there has its frame.
        if self._problem.probes:
            self._background.wait()
        self.probes.write_some()
        if row is not None:
            self._background.do(self._history.append, {name: row[name] for name in self.columns})
            self._watch(row[self._watched], row["kinetic"], row["total"])

    def flush(self) -> None:
        """See to it that all that was recorded is in its files, as a checkpoint counts on."""
        self._background.wait()
        self.probes.flush()

    def done(self) -> str:
        """Return how much the motion has done, in words."""
        name, count = next(iter(self.statistics.items()))
        return f"{count:,} {name}"

    # -- inside -----------------------------------------------------------------------------------------------

    def _new_series(self) -> SeriesWriter | FramesOfRanks:
        problem, shown, path = self._problem, self._drawn, self._folder.series
        if self._ranks is None or not self._in_pieces:
            return open_series(path, shown.points, shown.blocks)
        self._checkpoints.in_parts = True
        return FramesOfRanks(self._ranks, problem, shown, path).begin()

    def _old_series(self, motion: Motion, t: float, frames: int) -> SeriesWriter | FramesOfRanks:
        """Return the series without what is later than t in s: in pieces by ranks that have the parts of then."""
        path = self._folder.series
        if self._ranks is not None and self._in_pieces:
            motion.advance(t)  # with which each has its part
            by_ranks = FramesOfRanks(self._ranks, self._problem, self._drawn, path)
            if by_ranks.fit():
                self._checkpoints.in_parts = True
                return by_ranks.resume(t, frames)
        return resume_series(path, t, frames)

    def _energies_until(self, checkpoint: Checkpoint) -> Iterator[tuple[float, float, float]]:
        """Return the energy to be kept, the kinetic and the total one of the rows up to a sample from the history."""
        path, sample = self._folder.history, checkpoint.sample
        past = read_history(path)
        until = past["t"][past["t"] <= self._times[sample]]
        wanted = self._times[: sample + 1][self._problem.scenario.is_row[: sample + 1]]
        if not np.array_equal(until, wanted):
            raise OutputError(
                f"{self._folder.path} cannot be resumed: {path.name} has {len(until)} rows up to the checkpoint, "
                f"expected {len(wanted)} at the times of the scenario; {WAY_OUT}."
            )
        if list(past) != self.columns:
            odd = [name for name in (*self.columns, *past) if (name in self.columns) != (name in past)]
            what = f"'{odd[0]}'" if odd else "in another order"
            raise OutputError(
                f"{self._folder.path} cannot be resumed: the columns of {path.name} are not those that the run wrote "
                f"({what}); {WAY_OUT}."
            )
        names = (self._watched, "kinetic", "total")
        return zip(*(past[name][: len(wanted)] for name in names), strict=True)

    def _described(self, motion: Motion) -> dict[str, Column]:
        """Return what the columns of the history are, and watch one of them."""
        self._rows = RowsOfRun(self._problem, motion)
        columns = self._rows.describe(self.columns)
        self._watched = next(column.name for column in columns.values() if column.watched)
        return columns

    def _watch(self, energy: float, kinetic: float, total: float) -> None:
        """Keep the energy drift up to date."""
        if self._energy0 is None:
            self._energy0 = energy
        self._exchange.add(kinetic, total)
        self.drift = self._exchange.relative(energy - self._energy0)
