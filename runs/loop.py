"""The course of a run: from sample to sample, with checkpoints on the way, to its summary and its pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from time import perf_counter
from typing import TYPE_CHECKING, Any, final

from symplex.base.checkpoint import Checkpoint
from symplex.base.version import VERSION
from symplex.errors import InvalidSystem, OutputError, ScenarioError
from symplex.fem.energies.energy import Array
from symplex.fem.system import State, System
from symplex.parallel.ranks import Ranks
from symplex.runs.beginning import device_of, divided, too_early
from symplex.runs.checkpoints import CheckpointsOfRun
from symplex.runs.drawing_processes import DrawingProcesses
from symplex.runs.history import read_history
from symplex.runs.inputs import inputs_of, refuse_changed_files
from symplex.runs.interrupts import Stop
from symplex.runs.progress import Display
from symplex.runs.reporters import Reporter, ReporterFailed
from symplex.runs.results import RunFolder
from symplex.runs.samples import SamplesOfRun
from symplex.runs.summary import Clock, summarize
from symplex.scenario.scenario import Problem
from symplex.scenario.start import Start
from symplex.time.integrator import Integrator
from symplex.time.motion import Motion

if TYPE_CHECKING:
    from symplex.runs.drawing import Drawn

_LOOK = 0.1  # s of wall time between two looks at whether a checkpoint is due, or the run is to end


@final
class Run:
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
    reporters : sequence of Reporter
        The user's own.
    """

    def __init__(
        self,
        problem: Problem,
        folder: RunFolder,
        clock: Clock,
        shown: Display,
        opened: ExitStack,
        ranks: Ranks | None,
        processes: DrawingProcesses | None,
        reporters: Sequence[Reporter] = (),
    ):
        problem = problem.of_run()
        self._problem, self._folder, self._clock, self._shown = problem, folder, clock, shown
        self._opened, self._ranks, self._processes = opened, ranks, processes
        self._integrator = problem.integrator if ranks is None else divided(problem, ranks)
        self._checkpoints = CheckpointsOfRun(folder.checkpoint, ranks)
        self._samples = SamplesOfRun(problem, folder, opened, ranks, self._checkpoints, shown, reporters)
        self._inputs = inputs_of(problem)
        self._saved = perf_counter()  # the time of the last checkpoint
        self._happened: Mapping[str, float] = {}  # events, and the one that has ended the run
        self._stopped = ""
        self._started: tuple[Motion, State] | None = None
        self._resumed: tuple[Motion, int] | None = None

    def start(self) -> None:
        """Set the system in motion; nothing is written yet."""
        with self._clock.part("prepare"):
            motion = self._set_in_motion(lambda method, system: method.start(system, self._problem.state))
            self._started = motion, self._advanced(motion, 0)

    def keep_start(self) -> None:
        """Keep what [start] has led to in the folder: the run that it is of may be gone when this one goes on."""
        if self._problem.scenario.tables.start is not None:
            state = self._problem.state
            Start(state.q, state.v, state.internal).save(self._folder.start, VERSION)

    def resume(self, checkpoint: Checkpoint) -> None:
        """Set the system in motion from a checkpoint, and cut history and series to its sample."""
        with self._clock.part("prepare"):
            refuse_changed_files(checkpoint.inputs, self._inputs, self._folder.path)
            self._inputs = {**checkpoint.inputs, **self._inputs}  # the run that it starts from may be gone
            motion = self._set_in_motion(lambda method, system: method.resume(system, checkpoint.motion))
            self._happened, self._stopped = motion.happened, motion.stopped
            if motion.happened:
                self._problem.follow(motion.happened)
            if checkpoint.sample >= len(self._times):
                past = read_history(self._folder.history)["t"]
                raise OutputError(too_early(self._problem.scenario, float(past[-1])))
            self._clock.before = checkpoint.wall_time
            self._samples.resume(checkpoint, motion)
            self._shown.say(f"resuming at t = {float(self._times[checkpoint.sample]):.6g} s")
            self._resumed = motion, checkpoint.sample

    def go(self, stop: Stop) -> None:
        """Compute all samples that are not there yet, or as many as there are until a signal asks for the end."""
        try:
            with self._clock.part("prepare"):
                motion, first = self._resumed or self._begun()
            self._note_events(motion)
            k = first
            while k < len(self._times) - 1 and not motion.stopped:
                k += 1
                self._approach(k, motion, stop)
                self._note_events(motion)
                if k == len(self._times):
                    self._save(k - 1, motion)
                    break  # it has ended at the sample before
                with self._clock.part("stepping"):
                    state = self._advanced(motion, k)
                with self._clock.part("output"), stop.noted():
                    self._record(k, state, motion)
                    last = k == len(self._times) - 1
                    if last or self._is_due or stop.signal:
                        self._save(k, motion)
                if not last:
                    stop.raise_if_asked()
        finally:
            self._opened.close()

    def finish(self, status: str, reason: str, pictures: bool, stop: Stop) -> dict[str, Any]:
        """Write the summary, draw pictures, and return the summary."""
        with stop.noted():
            summary = self._summarize(status, reason)
        if pictures and "t_end" in summary:
            drawn = self._draw(stop)
            reported = {"pictures_skipped": drawn.skipped, "film_skipped": drawn.no_film}
            with stop.noted():
                summary = self._summarize(status, reason) | {name: why for name, why in reported.items() if why}
                self._folder.write_summary(summary)
        return summary

    # -- inside -----------------------------------------------------------------------------------------------

    def _set_in_motion(self, how: Callable[[Integrator, System], Motion]) -> Motion:
        """Return the motion; on several ranks a system that they cannot have is a mistake in the scenario."""
        try:
            return how(self._integrator, self._problem.system)
        except InvalidSystem as error:
            if self._ranks is None:
                raise
            raise ScenarioError(f"{self._problem.scenario.path.name}: {error}") from None

    def _begun(self) -> tuple[Motion, int]:
        """Return the motion at the first sample, which is written."""
        assert self._started is not None, "it would have been resumed"
        motion, state = self._started
        self._samples.begin(motion, state)
        self._save(0, motion)
        return motion, 0

    def _advanced(self, motion: Motion, k: int) -> State:
        """Return the state at sample k, with the time as it was asked for: steps hit it but for rounding."""
        t = float(self._times[k])
        return motion.advance(t).timed(t)

    def _approach(self, k: int, motion: Motion, stop: Stop) -> None:
        """Let the motion go on to sample k, with checkpoints on the way if it takes long."""
        reached = False
        while not reached:
            with self._clock.part("stepping"):
                reached = motion.approach(float(self._times[k]), _LOOK)
            if len(motion.happened) > len(self._happened):
                self._note_events(motion)
                # There is a sample at an event now, unless that before it was at this time already.
                reached = motion.stopped != "" or float(self._times[k]) <= max(motion.happened.values())
                continue
            if not reached and (self._is_due or stop.signal):
                with self._clock.part("output"), stop.noted():
                    self._save(k - 1, motion)
                stop.raise_if_asked()

    def _record(self, k: int, state: State, motion: Motion) -> None:
        """Report sample k; where a reporter of the user's own fails, it can be reported again."""
        try:
            self._samples.record(k, state, motion)
        except ReporterFailed:
            self._save(k - 1, motion)
            raise

    @property
    def _times(self) -> Array:
        """The times in s of the samples, which conditions change."""
        return self._problem.scenario.times

    def _note_events(self, motion: Motion) -> None:
        """Show which events have happened since the last time; there are samples at their times then."""
        if len(motion.happened) > len(self._happened):
            self._problem.follow(motion.happened)
        for name, t in list(motion.happened.items())[len(self._happened) :]:
            self._shown.say(f"t = {t:.9g} s: '{name}' holds{', which ends the run' if name == motion.stopped else ''}")
        self._happened, self._stopped = motion.happened, motion.stopped

    @property
    def _is_due(self) -> bool:
        """Whether the last checkpoint is old."""
        return perf_counter() - self._saved > self._problem.scenario.tables.run.checkpoint

    def _save(self, k: int, motion: Motion) -> None:
        """Keep the motion, at sample k or between that and the next one."""
        self._samples.flush()
        moment = Checkpoint(k, self._clock.total, VERSION, self._inputs, {}, self._samples.columns)
        self._checkpoints.save(moment, motion)
        self._saved = perf_counter()

    def _summarize(self, status: str, reason: str) -> dict[str, Any]:
        summary = summarize(self._problem, self._folder, self._clock, status, reason, self._samples.statistics)
        summary["inputs"] = self._inputs
        if self._happened:
            summary["events"] = [{"name": name, "t": t} for name, t in self._happened.items()]
        if self._stopped:
            summary["stopped_by"] = self._stopped
            if status == "finished":
                summary["reason"] = f"'{self._stopped}' held at t = {self._happened[self._stopped]:.9g} s"
        if self._ranks is not None:
            summary["ranks"] = self._ranks.size
        if device := device_of(self._problem.scenario):
            summary["device"] = device
        if self._problem.probes:
            summary["probes"] = self._samples.probes.summary()
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
