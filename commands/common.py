"""What the commands share: their exit statuses, how they print, and the scenario that many of them begin with."""

from __future__ import annotations

import argparse
from collections.abc import Callable
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


def told(text: str) -> int:
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


def add_scenario(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a command that begins with a scenario: its file, and other values than the file's."""
    parser.add_argument("scenario", metavar="SCENARIO", help="scenario file (.toml)")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="TABLE.KEY=VALUE",
        help="another value than the file's, as integrator.dt=1e-6 or body.NAME.material.young=2e11; may be repeated",
    )


def scenario_of(arguments: argparse.Namespace) -> Scenario:
    """Return the scenario of a file, with the values that the command line gives."""
    from symplex.scenario.changes import parsed_changes
    from symplex.scenario.scenario import Scenario

    return Scenario.read(arguments.scenario).with_values(parsed_changes(arguments.set))
