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
from symplex.runs.inputs import named_inputs, refuse_changed_files, refuse_other_version
from symplex.runs.results import Folder
from symplex.runs.study_folder import MEMBERS, STUDY
from symplex.scenario.scenario import Scenario

TABLE, PLOT, CONVERGENCE, CONVERGENCE_PLOT = "table.csv", "table.png", "convergence.json", "convergence.png"
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
    """

    scenario: str
    sha256: str
    title: str
    members: dict[str, dict[str, Any]]
    version: str = ""
    inputs: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls, scenario: Scenario, members: Mapping[str, Mapping[str, Any]], scenarios: Iterable[Scenario]
    ) -> StudyFile:
        """Return what there is to say of a study of a scenario with these values, and the scenarios of its members."""
        plain, title = json.loads(json.dumps(members, default=str)), scenario.tables.title or scenario.name
        return cls(scenario.path.name, scenario.hash, title, plain, VERSION, named_inputs(scenarios))

    def write(self, home: Path) -> None:
        """Write it to the folder of the study."""
        plain = {"format": _FORMAT, "scenario": self.scenario, "scenario_sha256": self.sha256, "title": self.title}
        plain |= {"symplex": self.version, "inputs": dict(self.inputs)}
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
        return StudyFile(name, str(before.get("scenario_sha256", "")), title, members, version, inputs)


def folder_of(home: Path, name: str) -> Path:
    """Return the results folder of a member."""
    return home / MEMBERS / name


def begin_study(home: Path, study: StudyFile, resume: bool, overwrite: bool) -> None:
    """Begin a study in its folder, or make sure that it is the one that was begun there."""
    if (home / STUDY).exists():
        before = read_study(home)
        if resume:
            _require_same(home, before, study)
            return
        if not overwrite:
            raise OutputError(
                f"{home} already holds a study; continue it with --resume, replace it with --overwrite, or choose "
                "another --output."
            )
        _remove(home, before)
    elif resume:
        raise OutputError(f"{home} holds no study to resume; begin one without --resume.")
    elif there := [item.name for item in home.iterdir() if item.name != ".lock"]:
        raise OutputError(f"{home} holds {' and '.join(sorted(there)[:3])}, but no study; choose another --output.")
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


def _remove(home: Path, study: StudyFile) -> None:
    """Remove the members of a study, and what was made of them, and nothing else; the file that tells of them stays.

    So a study that is killed meanwhile can still be replaced.
    """
    made = [TABLE, PLOT, *([CONVERGENCE, CONVERGENCE_PLOT] if is_file(home / CONVERGENCE) else [])]
    try:
        for name in made:
            if is_file(home / name):
                (home / name).unlink()
        for name in study.members:
            Folder(folder_of(home, name)).remove()
    except OSError as error:
        raise OutputError(f"{home} cannot be written: {reason_of(error)}.") from error
