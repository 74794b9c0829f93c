"""Many runs of one scenario with other values: a parameter study in one folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from symplex.base.arguments import checked
from symplex.base.streams import say
from symplex.errors import Interrupted, OutputError, ScenarioError, SymplexError
from symplex.fem.compiled.threads import count
from symplex.meshes.pictures.packages import pictures_if_possible
from symplex.runs.beginning import goes_beyond, refuse_other_inputs
from symplex.runs.folders import Folder
from symplex.runs.inputs import changed
from symplex.runs.interrupts import heeded
from symplex.runs.result import Result
from symplex.runs.results import RunFolder
from symplex.scenario.scenario import Scenario
from symplex.studies.display import MembersShown
from symplex.studies.indices import DESIGNS
from symplex.studies.known import require_reported
from symplex.studies.members import NOT_RUN, Member, Sweep
from symplex.studies.quantities import RunQuantity, usual_quantities
from symplex.studies.study_file import StudyFile, begin_study, folder_of
from symplex.studies.values import Combination, Sampling, combined
from symplex.studies.workers import FAILED, FINISHED, Outcome, Task, outcomes


@checked
def sweep(
    scenario: Scenario | str | Path,
    over: Mapping[str, Any],
    *,
    output: str | Path | None = None,
    combine: Combination = "grid",
    samples: int | None = None,
    sampling: Sampling = "random",
    seed: int = 0,
    quantities: Sequence[str] = (),
    resume: bool = False,
    overwrite: bool = False,
    workers: int | None = None,
    dask: str | None = None,
    pictures: bool = False,
    progress: bool = True,
) -> Sweep:
    """Run a scenario with many values of some keys, each member in its own results folder.

    A script that calls this needs the line ``if __name__ == "__main__":`` before, as each process reads the script.

    Parameters
    ----------
    scenario : Scenario or path-like
    over : mapping of str to sequence or str
        Values by key, the keys as in `Scenario.with_values`: a list, or a text as ``"linear(0, 1, 5)"``,
        ``"log(1e-3, 1, 4)"`` (ranges with both ends), ``"uniform(0, 1)"``, ``"log-uniform(1e-3, 1)"`` or
        ``"normal(MEAN, DEVIATION)"`` (random numbers).
    output : path-like, optional
        The folder of the study; default: ``NAME-study`` here.
    combine : {"grid", "zip"}, default "grid"
        Whether lists are combined each value with each, or the first with the first, and so on.
    samples : int, optional
        How many random samples there are, for each combination of lists.
    sampling : {"random", "latin-hypercube", "sobol", "saltelli", "morris"}, default "random"
        How they fill the space: independent; evenly, by `scipy.stats.qmc`; or in a design of SALib for d random
        numbers, from which `Sweep.indices` follow: Saltelli's of ``samples`` (d + 2) members for Sobol' indices,
        Morris' of ``samples`` (d + 1) for elementary effects.
    seed : int, default 0
        Of the random numbers, which are the same for the same seed.
    quantities : sequence of str, optional
        The numbers that the table is to have of each member: a key of its summary, as ``"drift.total"``, or ``first``,
        ``final``, ``min``, ``max``, ``absmax``, ``range``, ``mean``, ``rms``, ``time_of_max`` of a column of its
        history or of a probe, as ``"max(kinetic)"``, ``"final(tip.displacement_z)"``.
    resume : bool, default False
        Go on with the study that is in the folder: members that are finished are kept, others go on where they were.
    overwrite : bool, default False
        Replace a study that is in the folder: its members, table and plot. Other files are never replaced or removed.
    workers : int, optional
        Processes at a time, with one thread each; default: one for each processor. With 0 all is run in this process,
        one member after the other.
    dask : str, optional
        The address of the scheduler of a Dask cluster that runs the members, as ``"tcp://host:8786"``; it must see
        the same folders.
    pictures : bool, default False
        Whether to draw a plot, snapshots and a film of each member.
    progress : bool, default True
        Whether to print how far it is.

    Returns
    -------
    Sweep
        With the rows that are in ``table.csv``.

    Raises
    ------
    ScenarioError
        If a key leads nowhere, or no member is a valid scenario.
    OutputError
        If the folder holds a study or something else already, or cannot be written, or a quantity is none.
    Interrupted
        On Ctrl-C, SIGTERM or SIGHUP; members that are on the way keep a checkpoint, and the study can be resumed.
    """
    if not isinstance(scenario, Scenario):
        scenario = Scenario.read(scenario)
    requested = [RunQuantity.of(text) for text in quantities]
    if workers is not None and workers < 0:
        raise ScenarioError(f"workers is {workers}, must be at least 0.")
    values = combined(over, combine, samples, sampling, seed)
    home = Path(output if output is not None else f"{scenario.name}-study")
    if resume and overwrite:
        raise OutputError("resume and overwrite are mutually exclusive: a study is continued or replaced.")
    width = max(3, len(str(len(values))))
    named = {f"{k:0{width}}": one for k, one in enumerate(values, 1)}
    scenarios, invalid = _scenarios(scenario, named)
    require_reported(requested, scenarios.values())
    folder = Folder(home, "study")
    with folder.held(), heeded() as stop:
        file = StudyFile.of(scenario, named, scenarios.values(), sampling if sampling in DESIGNS else "")
        begin_study(folder, file, resume, overwrite)
        todo = _unfinished(home, scenarios)
        path = str(scenario.path.absolute())
        tasks = [
            Task(name, scenarios[name].text, path, str(folder_of(home, name).absolute()), pictures) for name in todo
        ]
        found = {name: Outcome(name, FAILED, reason) for name, reason in invalid.items()}
        members_shown = MembersShown(len(named), len(named) - len(todo), len(invalid), progress)
        with members_shown.shown() as display:
            for outcome in outcomes(tasks, count() if workers is None else workers, dask, stop):
                found[outcome.name] = outcome
                display.one_more(outcome.status != FINISHED)
                if outcome.status == FAILED:
                    display.say(f"member {outcome.name} failed: {outcome.reason.splitlines()[0]}")
        found |= {name: Outcome(name, NOT_RUN) for name in todo if name not in found}
        study = _gathered(home, named, found, requested, file)
        study.write_table()
        if stop.signal:
            raise Interrupted(stop.signal)
        done = [member for member in study.members if member.status == FINISHED]
        if done and not study.quantities:
            raise OutputError(done[0].reason)
        if study.quantities:
            with pictures_if_possible(say if progress else lambda message: None):
                study.plot()
    return study


def _scenarios(
    scenario: Scenario, named: Mapping[str, Mapping[str, Any]]
) -> tuple[dict[str, Scenario], dict[str, str]]:
    """Return the scenarios of all members, and what is wrong with those that are none."""
    scenarios, invalid = {}, {}
    first: ScenarioError | None = None
    for name, values in named.items():
        try:
            scenarios[name] = scenario.with_values(values)
        except ScenarioError as error:
            first = first or error
            invalid[name] = str(error)
    if first is not None and not scenarios:
        raise first
    return scenarios, invalid


def _unfinished(home: Path, scenarios: Mapping[str, Scenario]) -> list[str]:
    """Return the members that have not been run to their ends with these scenarios."""
    left, read = [], set()
    for name, scenario in scenarios.items():
        folder = RunFolder(folder_of(home, name))
        summary = _summary_of_finished(folder, scenario)
        if summary is None:
            left.append(name)
        elif (files := frozenset(scenario.files)) not in read:
            refuse_other_inputs(scenario, folder, summary)
            read.add(files)
    return left


def _summary_of_finished(folder: RunFolder, scenario: Scenario) -> dict[str, Any] | None:
    """Return the summary of a member that has been run to its end with this scenario, None of others."""
    try:
        summary = folder.read_summary()
        done = summary.get("status") == FINISHED and summary.get("scenario_sha256") == scenario.hash
        return summary if done and not goes_beyond(scenario, summary) else None
    except SymplexError:  # running it shows what is wrong
        return None


def _reason_against(result: Result, file: StudyFile) -> str:
    """Return why a finished member does not belong in the table of its study, empty if it does.

    A file may have been changed while the study was running.
    """
    inputs = result.summary.get("inputs")
    known = inputs if isinstance(inputs, Mapping) else {}
    name = changed(known, {name: digest for name, digest in file.inputs.items() if name in known})
    return f"the {name} has changed while the study was running; restore it, and replace the study" if name else ""


def _gathered(
    home: Path,
    named: Mapping[str, dict[str, Any]],
    found: Mapping[str, Outcome],
    requested: Sequence[RunQuantity],
    file: StudyFile,
) -> Sweep:
    """Return the study with the numbers of all members that are finished."""
    members, units = [], {}
    for name, values in named.items():
        outcome, path, numbers = found.get(name, Outcome(name, FINISHED)), folder_of(home, name), {}
        status, reason = outcome.status, outcome.reason
        if status == FINISHED:
            try:
                result = Result(RunFolder.of_run(path))
                if reason := _reason_against(result, file):
                    members.append(Member(name, values, path, FAILED, reason, {}))
                    continue
                for quantity in requested or usual_quantities(result):
                    numbers[quantity.name] = quantity.value(result)
                    units[quantity.name] = quantity.unit(result)
            except OutputError as error:
                reason = str(error)
        members.append(Member(name, values, path, status, reason, numbers))
    return Sweep(home, members, units, file.design)
