"""What the commands share: their exit statuses, how they print, and the scenario that many of them begin with."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from symplex.base.files import reason_of
from symplex.base.streams import complain, say
from symplex.errors import Interrupted

if TYPE_CHECKING:
    from symplex.scenario.scenario import Scenario

OK, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


def status_of(error: KeyboardInterrupt) -> int:
    """Return the exit status of a command that was stopped from outside."""
    return 128 + error.signal if isinstance(error, Interrupted) else INTERRUPTED


def reported(text: str) -> int:
    """Print what a command is for; return a failure if it cannot be printed, unless the reader wants no more of it."""
    failure = say(text)
    if failure is None or isinstance(failure, BrokenPipeError):
        return OK
    complain(f"error: the output cannot be written: {reason_of(failure)}.")
    return FAILED


def add_command(
    commands: argparse._SubParsersAction, name: str, command: Callable[[argparse.Namespace], int], help_: str
) -> argparse.ArgumentParser:
    """Return the parser of a new command, which is done by the function ``command`` and returns an exit status."""
    parser = commands.add_parser(name, help=help_, description=help_[0].upper() + help_[1:] + ".")
    parser.set_defaults(command=command)
    return parser


def add_scenario(
    parser: argparse.ArgumentParser, help_: str = "scenario file (.toml)", *, optional: bool = False
) -> None:
    """Add the arguments of a command that begins with a scenario: its file, and other values than the file's."""
    parser.add_argument("scenario", metavar="SCENARIO", nargs="?" if optional else None, help=help_)
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="TABLE.KEY=VALUE",
        help="another value than the file's, as integrator.dt=1e-6 or body.NAME.material.young=2e11; may be repeated",
    )


def add_strict(parser: argparse.ArgumentParser, whose: str) -> None:
    """Add the option that refuses unknown lines of mesh files."""
    parser.add_argument(
        "--strict", action="store_true", help=f"refuse {whose} with lines that are unknown, which are listed otherwise"
    )


def add_small_motions(parser: argparse.ArgumentParser, kind: str) -> None:
    """Add the arguments of a command about small motions of a scenario: the state, and the folder for ``kind``."""
    add_scenario(parser)
    parser.add_argument(
        "--at",
        default="start",
        metavar="T",
        help="about the state at the time T in s, to which the scenario is computed; default: its start",
    )
    parser.add_argument("--output", metavar="DIR", help=f"folder for the results; default: SCENARIO-{kind}")
    parser.add_argument(
        "--overwrite", action="store_true", help=f"replace what 'symplex {kind}' has left in the folder"
    )


def words_of(arguments: argparse.Namespace, names: Iterable[str]) -> list[str]:
    """Return the words by which options of these names were given, to give them again."""
    words: list[str] = []
    for name in names:
        value = getattr(arguments, name)
        if value is True:
            words.append(f"--{name}")
        elif value is not None and value is not False:
            every = value if isinstance(value, list) else [value]
            words += [word for one in every for word in (f"--{name}", str(one))]
    return words


def scenario_of(arguments: argparse.Namespace) -> Scenario:
    """Return the scenario of a file, with the values that the command line gives."""
    from symplex.errors import ScenarioError
    from symplex.scenario.changes import parsed_changes
    from symplex.scenario.scenario import Scenario
    from symplex.studies.plans import is_study_file

    path = Path(arguments.scenario)
    if path.is_dir():
        raise ScenarioError(f"{path} is a folder; name a scenario file (.toml).")
    if is_study_file(path):
        raise ScenarioError(f"{path} is a study file, of many runs; run it with: symplex sweep {path}")
    return Scenario.read(path).with_values(parsed_changes(arguments.set))
