"""Many runs of one scenario with other values: a parameter study in one folder."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from symplex.base.arguments import checked
from symplex.base.files import damage_reported, read_whole, write_text
from symplex.base.representation import table_html
from symplex.errors import Interrupted, OutputError, ScenarioError, SymplexError
from symplex.fem.threads import count
from symplex.runs.history import loaded_pandas
from symplex.runs.interrupts import heeded
from symplex.runs.result import Result
from symplex.runs.results import Folder
from symplex.runs.run import goes_beyond
from symplex.scenario.quantities import listed, shown
from symplex.scenario.scenario import Scenario
from symplex.studies.display import MembersShown
from symplex.studies.quantities import RunQuantity, usual_quantities
from symplex.studies.values import Combination, Sampling, combined
from symplex.studies.workers import FAILED, FINISHED, Outcome, Task, outcomes

_FORMAT = 1  # of study.json
_MEMBERS, _STUDY, _TABLE, _PLOT = "members", "study.json", "table.csv", "table.png"
_NOT_RUN = "not run yet"


@dataclass(frozen=True)
class Member:
    """A run of a study.

    Attributes
    ----------
    name : str
        Of its folder.
    values : dict of str to object
        What it has in place of the scenario's values, by key.
    path : Path
        Its results folder.
    status : str
        ``finished``, ``failed``, ``interrupted`` or ``not run yet``.
    reason : str
        Why it is not finished.
    numbers : dict of str to float
        What was asked for, by name; empty if it is not finished.
    """

    name: str
    values: dict[str, Any]
    path: Path
    status: str
    reason: str
    numbers: dict[str, float]


@dataclass(frozen=True, repr=False)
class Sweep:
    """A parameter study that has been run; see `sweep`.

    Attributes
    ----------
    path : Path
        Its folder.
    members : list of Member
    units : dict of str to str
        Of the numbers, by name.
    """

    path: Path
    members: list[Member]
    units: dict[str, str]

    @property
    def keys(self) -> list[str]:
        """The keys that are varied."""
        return list(self.members[0].values)

    @property
    def quantities(self) -> list[str]:
        """The names of the numbers."""
        return list(dict.fromkeys(name for member in self.members for name in member.numbers))

    @property
    def failed(self) -> list[Member]:
        """The members that are not finished."""
        return [member for member in self.members if member.status != FINISHED]

    def result(self, name: str) -> Result:
        """Return the result of a member.

        Raises
        ------
        OutputError
            If there is none.
        """
        for member in self.members:
            if member.name == name:
                return Result(Folder.of_run(member.path))
        raise OutputError(f"there is no member {shown(name)}; there are {listed(one.name for one in self.members)}.")

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each member: its name, values, numbers (None where there are none), status and reason."""
        return [
            {"member": member.name, **member.values}
            | {name: member.numbers.get(name) for name in self.quantities}
            | {"status": member.status, "reason": member.reason}
            for member in self.members
        ]

    def to_pandas(self) -> Any:
        """Return the rows as a pandas DataFrame.

        Raises
        ------
        OutputError
            If pandas is not installed.
        """
        return loaded_pandas().DataFrame(self.rows()).set_index("member")

    def __repr__(self) -> str:
        return f"Sweep({'; '.join(f'{name} {value}' for name, value in self._told())})"

    def _repr_html_(self) -> str:
        return table_html("Sweep", self._told())

    def _told(self) -> list[tuple[str, str]]:
        done = len(self.members) - len(self.failed)
        told = [("folder", str(self.path)), ("members", f"{len(self.members)}, {done} finished")]
        return [*told, ("over", listed(self.keys)), ("numbers", listed(self.quantities))]


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
    workers: int | None = None,
    dask: str | None = None,
    pictures: bool = False,
    progress: bool = True,
) -> Sweep:
    """Run a scenario with many values of some keys, each member in a results folder of its own.

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
    sampling : {"random", "latin-hypercube", "sobol"}, default "random"
        How they fill the space: independent, or evenly, by `scipy.stats.qmc`.
    seed : int, default 0
        Of the random numbers, which are the same for the same seed.
    quantities : sequence of str, optional
        The numbers that the table is to have of each member: a key of its summary, as ``"drift.total"``, or ``first``,
        ``final``, ``min``, ``max``, ``absmax``, ``range``, ``mean``, ``rms``, ``time_of_max`` of a column of its
        history or of a probe, as ``"max(kinetic)"``, ``"final(tip.displacement_z)"``.
    resume : bool, default False
        Go on with the study that is in the folder: members that are finished are kept, others go on where they were.
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
    wanted = [RunQuantity.of(text) for text in quantities]
    if workers is not None and workers < 0:
        raise ScenarioError(f"workers is {workers}, must be at least 0.")
    values = combined(over, combine, samples, sampling, seed)
    home = Path(output if output is not None else f"{scenario.name}-study")
    width = max(3, len(str(len(values))))
    named = {f"{k:0{width}}": one for k, one in enumerate(values, 1)}
    scenarios, invalid = _scenarios(scenario, named)
    folder = Folder(home)
    with folder.held(), heeded() as stop:
        _begin(home, scenario, named, resume)
        todo = [name for name, one in scenarios.items() if not _is_finished(_folder_of(home, name), one)]
        path = str(scenario.path.absolute())
        tasks = [
            Task(name, scenarios[name].text, path, str(_folder_of(home, name).absolute()), pictures) for name in todo
        ]
        found = {name: Outcome(name, FAILED, reason) for name, reason in invalid.items()}
        members_shown = MembersShown(len(named), len(named) - len(todo), len(invalid), progress)
        with members_shown.shown() as display:
            for outcome in outcomes(tasks, count() if workers is None else workers, dask, stop):
                found[outcome.name] = outcome
                display.one_more(outcome.status != FINISHED)
                if outcome.status == FAILED:
                    display.say(f"member {outcome.name} failed: {outcome.reason.splitlines()[0]}")
        found |= {name: Outcome(name, _NOT_RUN) for name in todo if name not in found}
        study = _gathered(home, named, found, wanted)
        _write_table(study)
        if stop.signal:
            raise Interrupted(stop.signal)
        done = [member for member in study.members if member.status == FINISHED]
        if done and not study.quantities:
            raise OutputError(done[0].reason)
        _draw(study, scenario.tables.title or scenario.name)
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


def _folder_of(home: Path, name: str) -> Path:
    return home / _MEMBERS / name


def _begin(home: Path, scenario: Scenario, named: Mapping[str, Mapping[str, Any]], resume: bool) -> None:
    """Begin a study in its folder, or make sure that it is the one that was begun there.

    Raises
    ------
    OutputError
        If it is another one, or cannot be written.
    """
    described = {
        "format": _FORMAT,
        "scenario": scenario.path.name,
        "scenario_sha256": scenario.hash,
        "members": json.loads(json.dumps(named, default=str)),
    }
    path = home / _STUDY
    if path.exists():
        if not resume:
            raise OutputError(f"{home} already holds a study; go on with it with --resume, or choose another --output.")
        with damage_reported(path, "study", "choose another folder with --output"):
            before = json.loads(read_whole(path))
            if not isinstance(before, dict):
                raise ValueError(f"a {type(before).__name__} instead of an object")
        for key, what in (("scenario_sha256", "the scenario"), ("members", "what is varied")):
            if before.get(key) != described[key]:
                raise OutputError(
                    f"{home} cannot be resumed: {what} has changed since. Restore it, or begin a new study with "
                    "another --output."
                )
        return
    if resume:
        raise OutputError(f"{home} holds no study to resume; begin one without --resume.")
    if there := [item.name for item in home.iterdir() if item.name != ".lock"]:
        raise OutputError(f"{home} holds {' and '.join(sorted(there)[:3])}, but no study; choose another --output.")
    write_text(path, json.dumps(described, indent=1, ensure_ascii=False) + "\n")


def _is_finished(path: Path, scenario: Scenario) -> bool:
    """Return whether a member has been run to its end, and with this scenario."""
    try:
        summary = Folder(path).read_summary()
        done = summary.get("status") == FINISHED and summary.get("scenario_sha256") == scenario.hash
        return done and not goes_beyond(scenario, summary)
    except SymplexError:  # running it tells what is wrong
        return False


def _gathered(
    home: Path, named: Mapping[str, dict[str, Any]], found: Mapping[str, Outcome], wanted: Sequence[RunQuantity]
) -> Sweep:
    """Return the study with the numbers of all members that are finished."""
    members, units = [], {}
    for name, values in named.items():
        outcome, path, numbers = found.get(name, Outcome(name, FINISHED)), _folder_of(home, name), {}
        status, reason = outcome.status, outcome.reason
        if status == FINISHED:
            try:
                result = Result(Folder.of_run(path))
                for quantity in wanted or usual_quantities(result):
                    numbers[quantity.name] = quantity.value(result)
                    units[quantity.name] = quantity.unit(result)
            except OutputError as error:
                reason = str(error)
        members.append(Member(name, values, path, status, reason, numbers))
    return Sweep(home, members, units)


def _write_table(study: Sweep) -> None:
    text = StringIO()
    columns = ["member", *study.keys, *study.quantities, "status", "reason"]
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: "" if value is None else value for name, value in row.items()} for row in study.rows())
    write_text(study.path / _TABLE, text.getvalue())


def _draw(study: Sweep, title: str) -> None:
    from symplex.studies.plots import plot_sweep

    if study.quantities:
        plot_sweep(study.rows(), study.keys, study.units, study.path / _PLOT, title)
