"""The folder of a parameter study, and the file in it that says what it is: begun, gone on with, or replaced."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from symplex.base.files import damage_reported, is_file, read_whole, reason_of, write_text
from symplex.base.version import VERSION
from symplex.errors import OutputError
from symplex.runs.folders import MEMBERS, STUDY, Folder, manifest_of
from symplex.runs.inputs import named_inputs, refuse_changed_files, refuse_other_version
from symplex.runs.results import RunFolder
from symplex.scenario.scenario import Scenario
from symplex.studies.indices import DESIGNS

TABLE, PLOT, CONVERGENCE, CONVERGENCE_PLOT = "table.csv", "table.png", "convergence.json", "convergence.png"
INDICES = "indices.csv"
_OF_ALL = {STUDY: "study", TABLE: "table", PLOT: "picture", INDICES: "table"}
_FILES = _OF_ALL | {CONVERGENCE: "errors and orders", CONVERGENCE_PLOT: "picture"}
_FORMAT = 1  # of study.json


@dataclass(frozen=True)
class StudyFile:
    """What ``study.json`` says.

    Attributes
    ----------
    scenario : str
        The name of its file.
    sha256 : str
        Of the scenario.
    title : str
    members : dict of str to dict
        The values by key of each member.
    version : str
        Of symplex; empty if an earlier one has begun it, which did not say.
    inputs : mapping of str to str
        Hashes of the files that the scenarios of members name (`symplex.runs.inputs`).
    design : str
        Of the samples, if it is one of `symplex.studies.indices`.
    """

    scenario: str
    sha256: str
    title: str
    members: dict[str, dict[str, Any]]
    version: str = ""
    inputs: Mapping[str, str] = field(default_factory=dict)
    design: str = ""

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        members: Mapping[str, Mapping[str, Any]],
        scenarios: Iterable[Scenario],
        design: str = "",
    ) -> StudyFile:
        """Return what there is to say of a study of a scenario with these values, and the scenarios of its members."""
        plain, title = json.loads(json.dumps(members, default=str)), scenario.title
        return cls(scenario.path.name, scenario.hash, title, plain, VERSION, named_inputs(scenarios), design)

    def write(self, home: Path) -> None:
        """Write it to the folder of the study."""
        plain = {"format": _FORMAT, "scenario": self.scenario, "scenario_sha256": self.sha256, "title": self.title}
        plain |= {"symplex": self.version, "inputs": dict(self.inputs)}
        plain |= {"design": self.design} if self.design else {}
        text = json.dumps(plain | {"members": self.members}, indent=1, ensure_ascii=False)
        write_text(home / STUDY, text + "\n")


def read_study(home: Path) -> StudyFile:
    """Return what the file in the folder of a study says."""
    path = home / STUDY
    if not path.exists():
        raise OutputError(f"{home} holds no study of symplex: there is no {STUDY}.")
    with damage_reported(path, "study", "choose another folder with --output"):
        before = json.loads(read_whole(path))
        if not isinstance(before, dict):
            raise ValueError(f"a {type(before).__name__} instead of an object")
        members = before["members"]
        if not isinstance(members, dict) or not members or not all(isinstance(one, dict) for one in members.values()):
            raise ValueError("no members, or some without values")
        if not all(name.isdecimal() for name in members):  # they are names of folders
            raise ValueError("members with names that are no numbers")
        name, inputs = str(before.get("scenario", "")), before.get("inputs", {})
        if not isinstance(inputs, dict):
            raise ValueError("no hashes of files by name")
        version, title = str(before.get("symplex", "")), str(before.get("title", name))
        design = before.get("design", "")
        if design not in ("", *DESIGNS):
            raise ValueError("a design of samples that is unknown")
        return StudyFile(name, str(before.get("scenario_sha256", "")), title, members, version, inputs, design)


def folder_of(home: Path, name: str) -> Path:
    """Return the results folder of a member."""
    return home / MEMBERS / name


def begin_study(folder: Folder, study: StudyFile, resume: bool, overwrite: bool) -> None:
    """Begin a study in its folder, or make sure that it is the one that was begun there."""
    home = folder.path
    if resume:
        if not (home / STUDY).exists():
            raise OutputError(f"{home} holds no study to resume; begin one without --resume.")
        _require_same(home, read_study(home), study)
        folder.adopt({name: what for name, what in _FILES.items() if is_file(home / name)} | _OF_ALL)
        return
    folder.refuse_taken(overwrite, resumable=True)
    try:  # the file that shows of members stays: a study that is killed meanwhile can still be replaced
        for name in read_study(home).members if (home / STUDY).exists() else ():
            RunFolder(folder_of(home, name)).remove()
    except OSError as error:
        raise OutputError(f"{home} cannot be written: {reason_of(error)}.") from error
    if manifest_of(home) is None and (home / STUDY).exists():  # of an earlier version
        for name in _FILES if is_file(home / CONVERGENCE) else _OF_ALL:
            (home / name).unlink(missing_ok=True)
    folder.begin(_OF_ALL)
    study.write(home)


def _require_same(home: Path, before: StudyFile, study: StudyFile) -> None:
    same = {"the scenario": before.sha256 == study.sha256, "what is varied": before.members == study.members}
    if changed := next((what for what, is_same in same.items() if not is_same), None):
        raise OutputError(
            f"{home} cannot be resumed: {changed} has changed since. Restore it, replace the study with --overwrite, "
            "or begin a new one with another --output."
        )
    if before.version:  # else an earlier one has begun it
        refuse_other_version(before.version, study.version, home)
        refuse_changed_files(before.inputs, study.inputs, home)
