"""What a study is: by the arguments of the command line, or a study file (TOML)."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from symplex.base.files import read_whole, reason_of
from symplex.base.quantities import FilePath, whole
from symplex.base.toml import read_toml
from symplex.errors import ScenarioError
from symplex.scenario.changes import parsed_changes
from symplex.scenario.messages import as_many_as_are_reported, mistakes
from symplex.scenario.reading import read
from symplex.scenario.scenario import Scenario
from symplex.scenario.table import Table
from symplex.studies.values import MOST_MEMBERS, Combination, Sampling, parsed_choices


class StudyTable(Table):
    """The keys of a study file; values by key of the scenario are in ``[set]`` and ``[over]``."""

    scenario: FilePath
    output: FilePath | None = None
    combine: Combination = "grid"
    samples: Annotated[int | None, whole(1, MOST_MEMBERS)] = None
    sampling: Sampling = "random"
    seed: Annotated[int, whole(0, 2**32 - 1)] = 0
    quantities: list[str] = []
    pictures: bool = False
    set: dict[str, Any] = {}
    over: dict[str, Any]


def plan_of(arguments: argparse.Namespace) -> tuple[Scenario, dict[str, Any]]:
    """Return the scenario, and the other arguments of `sweep`; the command line comes before what a study file says."""
    path = Path(arguments.scenario)
    data = _read(path)
    changes, over = parsed_changes(arguments.set), parsed_choices(arguments.over)
    plan: dict[str, Any] = {}
    if _is_of_study(data):
        table = _checked(data, path.name)
        changes = table.set | changes
        over = {key: values for key, values in table.over.items() if key not in changes} | over
        scenario = Scenario.read(path.parent / table.scenario)
        plan = {name: getattr(table, name) for name in table.given_keys - {"scenario", "set", "over", "output"}}
        plan["output"] = f"{path.stem}-results" if table.output is None else path.parent / table.output
    else:
        scenario = Scenario.read(path)
    given = {name: getattr(arguments, name) for name in ("samples", "sampling", "seed", "output")}
    given |= {"combine": "zip" if arguments.zip else None, "quantities": arguments.quantity or None}
    given["pictures"] = arguments.pictures or None
    plan |= {name: value for name, value in given.items() if value is not None}
    return scenario.with_values(changes), plan | {"over": over}


def is_study_file(path: Path) -> bool:
    """Return whether a file is a study file; not if it cannot be read."""
    try:
        return _is_of_study(_read(path))
    except ScenarioError:
        return False


def _is_of_study(data: Mapping[str, Any]) -> bool:
    return isinstance(data.get("scenario"), str)


def _read(path: Path) -> dict[str, Any]:
    """Return what is in a TOML file, nothing of what is none: reading it as a scenario shows that better."""
    try:
        return read_toml(read_whole(path).decode("utf-8"))
    except FileNotFoundError:
        raise ScenarioError(f"there is no scenario or study file {path}.") from None
    except OSError as error:
        raise ScenarioError(f"{path} cannot be read: {reason_of(error)}.") from None
    except ValueError:
        return {}


def _checked(data: Mapping[str, Any], name: str) -> StudyTable:
    # Dotted keys need no quotes: [over] body.cube.mesh.cube = [...] is the key body.cube.mesh.cube.
    data = {
        key: _flat(value) if key in ("set", "over") and isinstance(value, Mapping) else value
        for key, value in data.items()
    }
    lines: list[str] = []
    with as_many_as_are_reported():
        table = read(StudyTable, data, lines)
    if table is None:
        raise mistakes(name, lines)
    return table


def _flat(table: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in table.items():
        found |= _flat(value, f"{before}{key}.") if isinstance(value, Mapping) else {f"{before}{key}": value}
    return found
