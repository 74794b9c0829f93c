"""Running a scenario: the motion, its history and frames, checkpoints, pictures and a summary, in one folder."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from symplex.base.arguments import checked
from symplex.base.checkpoint import Checkpoint
from symplex.errors import OutputError
from symplex.meshes.formats.account import some
from symplex.parallel.ranks import Ranks
from symplex.runs import drawing_processes
from symplex.runs.beginning import (
    built,
    default_folder,
    device_of,
    goes_beyond,
    last_checkpoint,
    refuse_other_inputs,
)
from symplex.runs.inputs import refuse_changed_scenario
from symplex.runs.interrupts import heeded
from symplex.runs.loop import Run
from symplex.runs.plausibility import doubts
from symplex.runs.progress import Display, compilation_announced, display
from symplex.runs.reporters import Given, Reporter
from symplex.runs.results import RunFolder
from symplex.runs.summary import Clock
from symplex.scenario.scenario import Problem, Scenario
from symplex.time.trajectory import Observer


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
    strict: bool = False,
    reporters: Sequence[Reporter | Observer] = (),
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
    strict : bool, default False
        Whether to refuse mesh files with lines that are unknown; else these are listed.
    reporters : sequence of Reporter or callable
        Reporters of your own, or functions of a motion and a state as for `march`, which are shown each sample after
        history, probes and frames have been written.

    Returns
    -------
    dict
        The content of ``summary.json``; nothing on other ranks than the first.

    Raises
    ------
    ScenarioError
        If the scenario is not valid.
    OutputError
        If the folder holds a run already, or files that a run would replace, cannot be written, or cannot be resumed;
        or if one of the reporters fails, with a checkpoint before the sample.
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
    device_of(scenario)  # one that is requested must be there
    probes = {table.name: table.format for table in scenario.tables.probe}
    own = [Given(reporter) for reporter in reporters]
    others = [name for reporter in own for name in reporter.files]
    folder = RunFolder(output or default_folder(scenario), scenario.tables.output.format, probes, others)
    shown = display(progress)
    if not resume:
        folder.refuse_taken(overwrite)
        return _computed(scenario, folder, shown, None, overwrite, pictures, ranks, strict, own)
    refuse_changed_scenario(scenario, folder)
    folder.refuse_links()
    finished = folder.read_summary()
    if finished.get("status") == "finished" and not goes_beyond(scenario, finished):
        refuse_other_inputs(scenario, folder, finished)
        shown.say(f"{folder.path} holds the finished run; nothing is left to do.")
        return finished
    checkpoint = last_checkpoint(scenario, folder)
    return _computed(scenario, folder, shown, checkpoint, True, pictures, ranks, strict, own)


def _computed(
    scenario: Scenario,
    folder: RunFolder,
    shown: Display,
    checkpoint: Checkpoint | None,
    overwrite: bool,
    pictures: bool,
    ranks: Ranks | None,
    strict: bool,
    reporters: Sequence[Reporter],
) -> dict[str, Any]:
    """Run from a checkpoint, or else from the beginning, and return the summary."""
    clock = Clock()
    shown.say(scenario.title)
    pictures = pictures and scenario.tables.output.pictures
    with (
        folder.held(),
        compilation_announced(shown),
        drawing_processes.taken(pictures and ranks is None) as processes,  # not with MPI
        ExitStack() as opened,
    ):
        with clock.part("build"):
            problem = _listed(built(scenario, folder, checkpoint, ranks), shown, strict)
            run = Run(problem, folder, clock, shown, opened, ranks, processes, reporters)
            for line in doubts(problem) if checkpoint is None else ():
                shown.say(f"warning: {line}")
            del problem  # the run lets go of the whole where ranks have its parts
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
                with suppress(OutputError):  # where the disk is full, the first error is the one to report
                    run.finish("failed", str(error), pictures, stop)
                raise
            except KeyboardInterrupt:
                with suppress(OutputError):
                    run.finish("interrupted", "stopped from outside", False, stop)
                raise
            return run.finish("finished", "", pictures, stop)


def _listed(problem: Problem, shown: Display, strict: bool) -> Problem:
    """Return a problem after its unknown input was listed, or refused."""
    if strict:
        problem.require_known()
    for line in some(problem.unknown):
        shown.say(f"unknown input: {line}")
    return problem
