"""Running a scenario: the motion, its history and frames, checkpoints, pictures and a summary, in one folder."""

from __future__ import annotations

import signal
import threading
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

from symplex.checkpoint import Checkpoint, fingerprint, load_checkpoint, save_checkpoint
from symplex.errors import OutputError
from symplex.fem.energy import Array
from symplex.fem.system import State
from symplex.history import HistoryWriter, conserved_energy, read_history, relative_energy_change
from symplex.meshes.series import SeriesWriter, open_series, resume_series
from symplex.progress import Display, display, told_of_compiling
from symplex.results import Folder, blocks_of, contact_forces, fields_of
from symplex.scenario import Problem, Scenario
from symplex.summary import Clock, summarize
from symplex.time.integrator import Motion
from symplex.time.langevin import Langevin

# What may change before a run is resumed.
_FREE = ("title", "run.checkpoint", "output.directory", "output.pictures", "output.film")


def simulate(
    scenario: Scenario | str | Path,
    output: str | Path | None = None,
    *,
    resume: bool = False,
    overwrite: bool = False,
    progress: bool = True,
    pictures: bool = True,
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
        Replace a run that is in the folder.
    progress : bool, default True
        Whether to print how far it is.
    pictures : bool, default True
        Whether to draw a plot, snapshots and a film at the end.

    Returns
    -------
    dict
        The content of ``summary.json``.

    Raises
    ------
    ScenarioError
        If the scenario is not valid.
    OutputError
        If the folder holds a run already, cannot be written, or cannot be resumed.
    StepFailed
        If the motion cannot go on; all that was computed is kept.
    KeyboardInterrupt
        On Ctrl-C or SIGTERM, with a checkpoint to resume from.
    """
    clock = Clock()
    if not isinstance(scenario, Scenario):
        scenario = Scenario.read(scenario)
    folder = Folder(output or default_folder(scenario), scenario.tables.output.format)
    shown = display(progress)
    if resume:
        refuse_changed(scenario, folder)
        finished = folder.read_summary()
        if finished.get("status") == "finished":
            shown.say(f"{folder.path} holds the finished run; nothing is left to do.")
            return finished
    elif not overwrite:
        folder.refuse_taken()
    shown.say(scenario.tables.title or scenario.name)
    with folder.held(), told_of_compiling(shown):
        with clock.part("build"):
            run = _Run(scenario.build(), folder, clock, shown)
        if not (resume and folder.checkpoint.exists()):
            run.start()  # what fails at its start leaves nothing behind
            folder.create(scenario.text)
        return _kept(run, pictures)


def _kept(run: _Run, pictures: bool) -> dict[str, Any]:
    """Run to the end, or to whatever ends it, and return the summary."""
    try:
        with _stoppable() as stop:
            run.go(stop)
    except Exception as error:
        with suppress(OutputError):  # where the disk is full, the first error is the one to tell
            run.finish("failed", str(error), pictures)
        raise
    except KeyboardInterrupt:
        run.finish("interrupted", "stopped from outside", False)
        raise
    return run.finish("finished", "", pictures)


def default_folder(scenario: Scenario) -> Path:
    """Return the results folder that a scenario names: relative to it, or else ``NAME-results`` here."""
    directory = scenario.tables.output.directory
    return Path(f"{scenario.name}-results") if directory is None else scenario.path.parent / directory


def refuse_changed(scenario: Scenario, folder: Folder) -> None:
    """Refuse to go on with the run in a folder if its scenario was another.

    Raises
    ------
    OutputError
        If there is no run, or a value differs.
    """
    if not folder.scenario.exists():
        raise OutputError(f"{folder.path} holds no run to resume; start one without --resume.")
    before, now = (_flat(tomllib.loads(text)) for text in (folder.scenario.read_text("utf-8"), scenario.text))
    for key in [*before, *now]:
        old, new = before.get(key, "not given"), now.get(key, "not given")
        if old != new and key not in _FREE:
            raise OutputError(
                f"{folder.path} cannot be resumed: {scenario.path.name} has changed since ({key} was {old}, is {new}). "
                "Restore it, or start anew with --overwrite or another --output."
            )


def _flat(value: Any, key: str = "") -> dict[str, Any]:
    """Return the values of nested tables and lists by dotted keys."""
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = ((str(k + 1), item) for k, item in enumerate(value))
    else:
        return {key: value}
    return {k: v for name, item in items for k, v in _flat(item, f"{key}.{name}" if key else name).items()}


class _Run:
    """One run, from its first or from a stored sample to the end."""

    def __init__(self, problem: Problem, folder: Folder, clock: Clock, shown: Display):
        self._problem = problem
        self._folder = folder
        self._clock = clock
        self._shown = shown
        self._times = problem.scenario.times
        self._fingerprint = fingerprint(problem.system, problem.mesh.points)
        self._statistics: Mapping[str, float] = {}
        self._energy0: float | None = None
        self._largest_kinetic = self._drift = 0.0
        self._started: tuple[Motion, State] | None = None

    def start(self) -> None:
        """Set the system in motion; nothing is written yet."""
        with self._clock.part("prepare"):
            motion = self._problem.integrator.start(self._problem.system, self._problem.state)
            self._started = motion, self._advanced(motion, 0)

    def go(self, stop: threading.Event) -> None:
        """Compute all samples that are not there yet."""
        with self._clock.part("prepare"):
            motion, first, history, series = self._begun(*self._started) if self._started else self._continued()
        last = len(self._times) - 1
        saved = perf_counter()
        with history, series:
            self._shown.begin(float(self._times[first]), float(self._times[-1]))
            try:
                for k in range(first + 1, last + 1):
                    with self._clock.part("stepping"):
                        state = self._advanced(motion, k)
                    with self._clock.part("output"):
                        self._record(k, state, motion, history, series)
                        due = perf_counter() - saved > self._problem.scenario.tables.run.checkpoint
                        if due or k == last or stop.is_set():
                            self._save(k, motion)
                            saved = perf_counter()
                    self._shown.update(state.t, self._drift, self._done())
                    if stop.is_set() and k < last:
                        raise KeyboardInterrupt
            finally:
                self._shown.end()

    def finish(self, status: str, reason: str, pictures: bool) -> dict[str, Any]:
        """Write the summary, draw pictures, and return the summary."""
        summary = self._summarize(status, reason)
        if pictures and self._problem.scenario.tables.output.pictures and "t_end" in summary:
            skipped = self._draw()
            summary = self._summarize(status, reason) | ({"pictures_skipped": skipped} if skipped else {})
            self._folder.write_summary(summary)
        return summary

    def _summarize(self, status: str, reason: str) -> dict[str, Any]:
        summary = summarize(self._problem, self._folder, self._clock, status, reason, self._statistics)
        self._folder.write_summary(summary)
        return summary

    def _draw(self) -> str:
        """Draw all pictures; return why some were skipped, if they were."""
        from symplex.pictures import draw_all

        tables = self._problem.scenario.tables
        try:
            with self._clock.part("pictures"):
                skipped = draw_all(self._folder, film=tables.output.film, title=tables.title, show=self._shown.draw)
        except KeyboardInterrupt:
            skipped = f"stopped from outside; draw them with: symplex render {self._folder.path}"
        finally:
            self._shown.end()
        if skipped:
            self._shown.say(f"pictures skipped: {skipped}")
        return skipped

    # -- where it begins --------------------------------------------------------------------------------------

    def _begun(self, motion: Motion, state: State) -> tuple[Motion, int, HistoryWriter, SeriesWriter]:
        problem, folder = self._problem, self._folder
        history = HistoryWriter(folder.history)
        series = open_series(folder.series, problem.mesh.points, blocks_of(problem))
        self._record(0, state, motion, history, series)
        self._save(0, motion)
        return motion, 0, history, series

    def _continued(self) -> tuple[Motion, int, HistoryWriter, SeriesWriter]:
        problem, folder = self._problem, self._folder
        checkpoint = load_checkpoint(folder.checkpoint)
        if checkpoint.fingerprint != self._fingerprint:
            raise OutputError(
                f"{folder.path} cannot be resumed: the meshes are no longer those of the run. "
                "Restore them, or start anew with --overwrite or another --output."
            )
        self._clock.before = checkpoint.wall_time
        motion = problem.integrator.resume(problem.system, checkpoint.motion)
        t = float(self._times[checkpoint.sample])
        history = HistoryWriter.resume(folder.history, t)
        series = resume_series(folder.series, t)
        self._statistics = motion.statistics()
        past = read_history(folder.history)
        if len(past["t"]) != checkpoint.sample + 1:
            raise OutputError(
                f"{folder.path} cannot be resumed: {folder.history.name} has {len(past['t'])} rows up to the "
                f"checkpoint, wanted {checkpoint.sample + 1}. Start anew with --overwrite."
            )
        for energy, kinetic in zip(past[conserved_energy(past)], past["kinetic"], strict=True):
            self._watch(energy, kinetic)
        self._shown.say(f"resuming at t = {t:.6g} s")
        return motion, checkpoint.sample, history, series

    def _advanced(self, motion: Motion, k: int) -> State:
        """Return the state at sample k, with the time as it was asked for: steps hit it but for rounding."""
        t = float(self._times[k])
        return replace(motion.advance(t), t=t)

    # -- what is kept -----------------------------------------------------------------------------------------

    def _record(self, k: int, state: State, motion: Motion, history: HistoryWriter, series: SeriesWriter) -> None:
        row = self._row(state, motion)
        if k % self._problem.scenario.samples_per_frame == 0:
            at_points, at_cells = fields_of(self._problem, motion, state)
            series.append(state.t, state.q - self._problem.mesh.points, at_points, at_cells)
        # After the frame: a row that is there has its frame. What is counted only once it occurs is in the summary.
        history.append({name: row[name] for name in history.columns or row})
        self._watch(row[conserved_energy(row)], row["kinetic"])

    def _row(self, state: State, motion: Motion) -> dict[str, float]:
        """Return a row of the history: energies, momenta, contact and the integrator's counts."""
        system = self._problem.system
        row = {"t": state.t, **motion.energies(state)}
        row |= _components("momentum", system.momentum(state))
        row |= _components("angular_momentum", system.angular_momentum(state))
        if self._problem.contacts:
            row |= _components("contact_force", contact_forces(self._problem, motion, state).sum(axis=0))
            row["penetration"] = max(max(c.deepest(state.q)[1], 0.0) for c in self._problem.contacts.values())
        if isinstance(self._problem.integrator, Langevin):
            row["temperature"] = self._problem.temperature(state)
        self._statistics = motion.statistics()
        return row | self._statistics

    def _watch(self, energy: float, kinetic: float) -> None:
        """Keep the energy drift up to date that the display shows."""
        if self._energy0 is None:
            self._energy0 = energy
        self._largest_kinetic = max(self._largest_kinetic, kinetic)
        self._drift = relative_energy_change(energy, self._energy0, self._largest_kinetic)

    def _done(self) -> str:
        name, count = next(iter(self._statistics.items()))
        return f"{count:,} {name}"

    def _save(self, k: int, motion: Motion) -> None:
        moment = Checkpoint(k, self._clock.total, self._fingerprint, motion.checkpoint())
        save_checkpoint(self._folder.checkpoint, moment)


def _components(name: str, vector: Array) -> dict[str, float]:
    return {f"{name}_{axis}": float(x) for axis, x in zip("xyz", vector, strict=True)}


@contextmanager
def _stoppable() -> Iterator[threading.Event]:
    """Give an event that Ctrl-C and SIGTERM set, so that a run ends between two samples; a second one ends it at once.

    Outside the main thread, where Python allows no signal handlers, nothing sets it.
    """
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def handle(number: int, frame: object) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
