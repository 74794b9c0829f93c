"""Running a scenario: the motion, its history and frames, checkpoints, pictures and a summary, in one folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from symplex.base.arguments import checked
from symplex.base.checkpoint import Checkpoint
from symplex.base.columns import Column
from symplex.base.files import WAY_OUT
from symplex.base.version import VERSION
from symplex.device.finding import require_device
from symplex.errors import InvalidSystem, OutputError, ScenarioError
from symplex.fem.system import State
from symplex.meshes.series.series import SeriesWriter, open_series, resume_series
from symplex.parallel.ranks import Ranks
from symplex.runs import drawing_processes
from symplex.runs.background import Background
from symplex.runs.beginning import built, default_folder, goes_beyond, last_checkpoint, too_early
from symplex.runs.checkpoints import CheckpointsOfRun
from symplex.runs.conservation_report import renew_expected, write_expected
from symplex.runs.drawing_processes import DrawingProcesses
from symplex.runs.frames import Shown, fields_of
from symplex.runs.history import HistoryWriter, read_history
from symplex.runs.inputs import fingerprint, hashes, refuse_changed_files, refuse_changed_scenario
from symplex.runs.interrupts import Stop, heeded
from symplex.runs.pieces import FramesOfRanks, in_pieces
from symplex.runs.probes import ProbesOfRun
from symplex.runs.progress import Display, compilation_announced, display
from symplex.runs.results import Folder
from symplex.runs.rows import RowsOfRun, found_once
from symplex.runs.summary import Clock, summarize
from symplex.scenario.methods import NewmarkTable
from symplex.scenario.scenario import Problem, Scenario
from symplex.scenario.start import Start
from symplex.time.integrator import Integrator
from symplex.time.motion import Motion
from symplex.time.totals import EnergyExchange

if TYPE_CHECKING:
    from symplex.runs.drawing import Drawn

_LARGE = 100_000  # points that are drawn, above which frames are written while the motion goes on
_LOOK = 0.1  # s of wall time between two looks at whether a checkpoint is due, or the run is to end


@checked
def simulate(
    scenario: Scenario | str | Path,
    output: str | Path | None = None,
    *,
    resume: bool = False,
    overwrite: bool = False,
    progress: bool = True,
    pictures: bool = True,
    ranks: Ranks | None = None,
) -> dict[str, Any]:
    """Run a scenario and keep everything in a results folder.

    Parameters
    ----------
    scenario : Scenario or path-like
    output : path-like, optional
        The results folder; default: the scenario's ``output.directory``, or ``NAME-results`` here.
    resume : bool, default False
        Go on from the last checkpoint in the folder; the result is bit-identical to that of an uninterrupted run.
    overwrite : bool, default False
        Replace a run that is in the folder. Files that are not of a run are never replaced or removed.
    progress : bool, default True
        Whether to print how far it is.
    pictures : bool, default True
        Whether to draw a plot, snapshots and a film at the end.
    ranks : Ranks, optional
        The processes among which the motion is divided, all of which call this function. The first one reads and
        writes all files; the others come back when it leaves the ``with`` of the ranks.

    Returns
    -------
    dict
        The content of ``summary.json``; nothing on other ranks than the first.

    Raises
    ------
    ScenarioError
        If the scenario is not valid.
    OutputError
        If the folder holds a run already, or files that a run would replace, cannot be written, or cannot be resumed.
    StepFailed
        If the motion cannot go on; all that was computed is kept.
    Interrupted
        On Ctrl-C, SIGTERM or SIGHUP, with a checkpoint to resume from; it is a KeyboardInterrupt.
    """
    if ranks is not None and not ranks.leads:
        ranks.serve()
        return {}
    if not isinstance(scenario, Scenario):
        scenario = Scenario.read(scenario)
    _device_of(scenario)
    probes = {table.name: table.format for table in scenario.tables.probe}
    folder = Folder(output or default_folder(scenario), scenario.tables.output.format, probes)
    shown = display(progress)
    if not resume:
        folder.refuse_taken(overwrite)
        return _computed(scenario, folder, shown, None, overwrite, pictures, ranks)
    refuse_changed_scenario(scenario, folder)
    folder.refuse_links()
    finished = folder.read_summary()
    if finished.get("status") == "finished" and not goes_beyond(scenario, finished):
        if isinstance(inputs := finished.get("inputs"), dict):  # earlier versions did not keep them
            refuse_changed_files(inputs, hashes(scenario.files), folder)
        shown.say(f"{folder.path} holds the finished run; nothing is left to do.")
        return finished
    return _computed(scenario, folder, shown, last_checkpoint(scenario, folder), True, pictures, ranks)


def _computed(
    scenario: Scenario,
    folder: Folder,
    shown: Display,
    checkpoint: Checkpoint | None,
    overwrite: bool,
    pictures: bool,
    ranks: Ranks | None,
) -> dict[str, Any]:
    """Run from a checkpoint, or else from the beginning, and return the summary."""
    clock = Clock()
    shown.say(scenario.tables.title or scenario.name)
    pictures = pictures and scenario.tables.output.pictures
    with (
        folder.held(),
        compilation_announced(shown),
        drawing_processes.taken(pictures and ranks is None) as processes,  # not beside MPI
        ExitStack() as opened,
    ):
        with clock.part("build"):
            run = _Run(built(scenario, folder, checkpoint), folder, clock, shown, opened, ranks, processes)
        if checkpoint is None:
            run.start()  # what fails at its start leaves nothing behind
        with heeded() as stop:  # before, there was nothing to lose
            if checkpoint is None:
                folder.create(scenario.text, overwrite)
                run.keep_start()
            else:
                run.resume(checkpoint)  # what is refused leaves all as it is
                folder.keep_scenario(scenario.text)
            try:
                run.go(stop)
            except Exception as error:
                with suppress(OutputError):  # where the disk is full, the first error is the one to tell
                    run.finish("failed", str(error), pictures, stop)
                raise
            except KeyboardInterrupt:
                with suppress(OutputError):
                    run.finish("interrupted", "stopped from outside", False, stop)
                raise
            return run.finish("finished", "", pictures, stop)


def _device_of(scenario: Scenario) -> str | None:
    """Return the name of the device that a scenario wants for its steps, if it wants one.

    Raises
    ------
    MissingPackage, ScenarioError
        If there is none.
    """
    tables = scenario.tables
    wanting = [tables.integrator, *(stage.integrator for stage in tables.stage)]
    if not any(isinstance(table, NewmarkTable) and table.device != "cpu" for table in wanting):
        return None
    try:
        return require_device()
    except InvalidSystem as error:
        raise ScenarioError(f"{scenario.path.name}: {error}") from None


def _divided(problem: Problem, ranks: Ranks) -> Integrator:
    """Return the integrator of a problem on several ranks."""
    from symplex.parallel.motion import in_parts

    try:
        return in_parts(problem.integrator, ranks)
    except InvalidSystem as error:
        raise ScenarioError(f"{problem.scenario.path.name}: {error}") from None


class _Run:
    """One run, from its first or from a stored sample to the end.

    Parameters
    ----------
    problem, folder, clock, shown
    opened : ExitStack
        Closes the files of the run.
    ranks : Ranks or None
        Among which the motion is divided.
    processes : DrawingProcesses or None
        That draw the pictures, if others than this one do.

    Raises
    ------
    ScenarioError
        If it cannot be.
    """

    def __init__(
        self,
        problem: Problem,
        folder: Folder,
        clock: Clock,
        shown: Display,
        opened: ExitStack,
        ranks: Ranks | None,
        processes: DrawingProcesses | None,
    ):
        self._problem, self._ranks = problem, ranks
        self._processes = processes
        self._integrator = problem.integrator if ranks is None else _divided(problem, ranks)
        self._folder = folder
        self._clock = clock
        self._shown = shown
        self._drawn = Shown(problem)
        self._in_pieces = in_pieces(problem, len(self._drawn.points), ranks)
        self._probes = ProbesOfRun(problem, folder)
        self._times = problem.scenario.times
        self._inputs = hashes(problem.scenario.files) | fingerprint(
            problem.mesh, *(stage.system for stage in problem.stages)
        )
        self._opened = opened
        self._saved = perf_counter()  # the time of the last checkpoint
        self._columns: list[str] = []  # of the history
        self._checkpoints = CheckpointsOfRun(folder.checkpoint, ranks)
        self._rows: RowsOfRun | None = None
        self._watched = ""  # among them the energy that is kept
        self._statistics: Mapping[str, float] = {}
        self._energy0: float | None = None
        self._exchange, self._drift = EnergyExchange(), 0.0
        self._background = Background(False)
        self._started: tuple[Motion, State] | None = None
        self._resumed: tuple[Motion, int, HistoryWriter, SeriesWriter | FramesOfRanks] | None = None

    def start(self) -> None:
        """Set the system in motion; nothing is written yet."""
        with self._clock.part("prepare"):
            motion = self._integrator.start(self._problem.system, self._problem.state)
            self._started = motion, self._advanced(motion, 0)

    def keep_start(self) -> None:
        """Keep what [start] has led to in the folder: the run that it is of may be gone when this one goes on."""
        if self._problem.scenario.tables.start is not None:
            state = self._problem.state
            Start(state.q, state.v, state.internal).save(self._folder.start, VERSION)

    def resume(self, checkpoint: Checkpoint) -> None:
        """Set the system in motion from a checkpoint, and cut history and series to its sample."""
        with self._clock.part("prepare"):
            self._resumed = self._continued(checkpoint)

    def go(self, stop: Stop) -> None:
        """Compute all samples that are not there yet, or as many as there are until a signal asks for the end."""
        with self._clock.part("prepare"):
            motion, first, history, series = self._resumed or self._begun()
            # Entered last, it ends before the files that it writes are closed.
            self._background = self._opened.enter_context(Background(len(self._drawn.points) > _LARGE))
        last = len(self._times) - 1
        self._shown.begin(float(self._times[first]), float(self._times[-1]))
        try:
            for k in range(first + 1, last + 1):
                self._approach(k, motion, stop)
                with self._clock.part("stepping"):
                    state = self._advanced(motion, k)
                with self._clock.part("output"), stop.noted():
                    self._record(k, state, motion, history, series)
                    if k == last or self._is_due or stop.signal:
                        self._save(k, motion)
                self._shown.update(state.t, self._drift, self._done())
                if k < last:
                    stop.raise_if_asked()
        finally:
            self._shown.end()
            self._opened.close()

    def _approach(self, k: int, motion: Motion, stop: Stop) -> None:
        """Let the motion go on to sample k, with checkpoints on the way if it takes long."""
        reached = False
        while not reached:
            with self._clock.part("stepping"):
                reached = motion.approach(float(self._times[k]), _LOOK)
            if not reached and (self._is_due or stop.signal):
                with self._clock.part("output"), stop.noted():
                    self._save(k - 1, motion)
                stop.raise_if_asked()

    @property
    def _is_due(self) -> bool:
        """Whether the last checkpoint is old."""
        return perf_counter() - self._saved > self._problem.scenario.tables.run.checkpoint

    def finish(self, status: str, reason: str, pictures: bool, stop: Stop) -> dict[str, Any]:
        """Write the summary, draw pictures, and return the summary."""
        with stop.noted():
            summary = self._summarize(status, reason)
        if pictures and "t_end" in summary:
            drawn = self._draw(stop)
            told = {"pictures_skipped": drawn.skipped, "film_skipped": drawn.no_film}
            with stop.noted():
                summary = self._summarize(status, reason) | {name: why for name, why in told.items() if why}
                self._folder.write_summary(summary)
        return summary

    def _summarize(self, status: str, reason: str) -> dict[str, Any]:
        summary = summarize(self._problem, self._folder, self._clock, status, reason, self._statistics)
        summary["inputs"] = self._inputs
        if self._ranks is not None:
            summary["ranks"] = self._ranks.size
        if device := _device_of(self._problem.scenario):
            summary["device"] = device
        if self._problem.probes:
            summary["probes"] = self._probes.summary()
        self._folder.write_summary(summary)
        return summary

    def _draw(self, stop: Stop) -> Drawn:
        """Draw all pictures; return what was left out, and why."""
        from symplex.runs.drawing import Drawn, Look
        from symplex.runs.pictures import draw_all

        tables, seconds = self._problem.scenario.tables, self._clock.total
        try:
            stop.raise_if_asked()  # at the last sample
            look = Look.of(tables.output.view)
            with self._clock.part("pictures"), stop.noted(0):
                drawn = draw_all(
                    self._folder,
                    film=tables.output.film,
                    seconds=seconds,
                    look=look,
                    title=tables.title,
                    show=self._shown.draw,
                    processes=self._processes,
                )
        except KeyboardInterrupt:
            drawn = Drawn(f"stopped from outside; draw them with: symplex render {self._folder.path}")
        finally:
            self._shown.end()
        for what, why in (("pictures skipped", drawn.skipped), ("no film", drawn.no_film)):
            if why:
                self._shown.say(f"{what}: {why}")
        return drawn

    # -- where it begins --------------------------------------------------------------------------------------

    def _begun(self) -> tuple[Motion, int, HistoryWriter, SeriesWriter | FramesOfRanks]:
        """Return the motion at the first sample, with a history and a series that hold it."""
        folder, opened = self._folder, self._opened
        assert self._started is not None, "it would have been resumed"
        motion, state = self._started
        # What is counted only once it occurs is not in the first row, but in the summary.
        self._rows = RowsOfRun(self._problem, motion)
        self._columns = list(self._rows.row(state, motion.gradient))
        history = opened.enter_context(HistoryWriter(folder.history, self._described(motion)))
        series = opened.enter_context(self._new_series())
        write_expected(self._problem, folder.conservation)
        self._probes.begin(opened)
        self._record(0, state, motion, history, series)
        self._save(0, motion)
        return motion, 0, history, series

    def _continued(self, checkpoint: Checkpoint) -> tuple[Motion, int, HistoryWriter, SeriesWriter | FramesOfRanks]:
        problem, folder, opened = self._problem, self._folder, self._opened
        refuse_changed_files(checkpoint.inputs, self._inputs, folder)
        if checkpoint.sample >= len(self._times):
            past = read_history(folder.history)["t"]
            raise OutputError(too_early(problem.scenario, float(past[-1])))
        self._clock.before = checkpoint.wall_time
        motion = self._integrator.resume(problem.system, checkpoint.motion)
        t = float(self._times[checkpoint.sample])
        self._columns, self._checkpoints.last = list(checkpoint.columns), checkpoint.parts
        described = self._described(motion)
        for energies in self._energies_until(checkpoint):  # before anything is cut
            self._watch(*energies)
        self._probes.check(checkpoint.sample)
        is_frame = problem.scenario.is_frame[: checkpoint.sample + 1].copy()
        is_frame[list(self._probes.frames_brought())] = True
        frames = int(is_frame.sum())
        series = opened.enter_context(self._old_series(motion, t, frames))
        history = opened.enter_context(HistoryWriter.resume(folder.history, t, described))
        self._probes.resume(checkpoint.sample, opened)
        renew_expected(problem, folder)
        self._statistics = motion.statistics()
        self._shown.say(f"resuming at t = {t:.6g} s")
        return motion, checkpoint.sample, history, series

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
                f"wanted {len(wanted)} at the times of the scenario; {WAY_OUT}."
            )
        if list(past) != self._columns:
            odd = [name for name in (*self._columns, *past) if (name in self._columns) != (name in past)]
            what = f"'{odd[0]}'" if odd else "in another order"
            raise OutputError(
                f"{self._folder.path} cannot be resumed: the columns of {path.name} are not those that the run wrote "
                f"({what}); {WAY_OUT}."
            )
        names = (self._watched, "kinetic", "total")
        return zip(*(past[name][: len(wanted)] for name in names), strict=True)

    def _advanced(self, motion: Motion, k: int) -> State:
        """Return the state at sample k, with the time as it was asked for: steps hit it but for rounding."""
        t = float(self._times[k])
        return motion.advance(t).timed(t)

    # -- what is kept -----------------------------------------------------------------------------------------

    def _record(
        self, k: int, state: State, motion: Motion, history: HistoryWriter, series: SeriesWriter | FramesOfRanks
    ) -> None:
        assert self._rows is not None, "it has begun"
        acting = found_once(motion, state)
        row = self._rows.row(state, acting) if self._problem.scenario.is_row[k] else None
        self._statistics = motion.statistics()
        if self._probes.look(k, state, motion, acting) or self._problem.scenario.is_frame[k]:
            self._background.wait()  # for the frame before: each takes as much memory as the positions
            if isinstance(series, FramesOfRanks):
                series.append(state.t)
            else:
                at_points, at_cells = fields_of(self._problem, self._drawn, acting, state)
                self._background.do(series.append, state.t, self._drawn.displacement(state.q), at_points, at_cells)
        # After the frame: a row that is there has its frame.
        if self._problem.probes:
            self._background.wait()
        self._probes.write_some()
        if row is not None:
            self._background.do(history.append, {name: row[name] for name in self._columns})
            self._watch(row[self._watched], row["kinetic"], row["total"])

    def _described(self, motion: Motion) -> dict[str, Column]:
        """Return what the columns of the history are, and watch one of them."""
        self._rows = RowsOfRun(self._problem, motion)
        columns = self._rows.describe(self._columns)
        self._watched = next(column.name for column in columns.values() if column.watched)
        return columns

    def _watch(self, energy: float, kinetic: float, total: float) -> None:
        """Keep the energy drift up to date that the display shows."""
        if self._energy0 is None:
            self._energy0 = energy
        self._exchange.add(kinetic, total)
        self._drift = self._exchange.relative(energy - self._energy0)

    def _done(self) -> str:
        name, count = next(iter(self._statistics.items()))
        return f"{count:,} {name}"

    def _save(self, k: int, motion: Motion) -> None:
        """Keep the motion, at sample k or between that and the next one."""
        self._background.wait()  # before the checkpoint that counts on what was written
        self._probes.flush()
        moment = Checkpoint(k, self._clock.total, VERSION, self._inputs, {}, self._columns)
        self._checkpoints.save(moment, motion)
        self._saved = perf_counter()
