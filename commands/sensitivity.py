"""``symplex sensitivity``."""

from __future__ import annotations

import argparse

from symplex.base.streams import say
from symplex.commands.common import OK, add_command, add_scenario, scenario_of
from symplex.commands.members import add_quantities


def add_parser(commands: argparse._SubParsersAction) -> None:
    """Declare the command and its arguments."""
    parser = add_command(
        commands, "sensitivity", _sensitivity, "derivatives of numbers of a run by numbers of its scenario"
    )
    add_scenario(parser)
    add = parser.add_argument
    add(
        "--by",
        action="append",
        required=True,
        metavar="TABLE.KEY[=CHANGE]",
        help="a number of the scenario, as of --set, and the change that plots show, by default 1 %% of it; may be "
        "repeated",
    )
    add_quantities(parser, "of the run, as max(COLUMN) or final(PROBE.COLUMN), see sweep; default: final(kinetic)")
    add("--output", metavar="DIR", help="folder for the results; default: SCENARIO-sensitivity")
    add("--overwrite", action="store_true", help="replace the sensitivities that are in the folder")
    add("--no-pictures", action="store_true", help="no plot")
    add("--quiet", action="store_true", help="print errors only")


def _sensitivity(arguments: argparse.Namespace) -> int:
    from symplex.errors import ScenarioError
    from symplex.studies.sensitivities import sensitivity

    by: dict[str, float | None] = {}
    for text in arguments.by:
        key, equals, change = text.partition("=")
        try:
            by[key.strip()] = float(change) if equals else None
        except ValueError:
            raise ScenarioError(f"--by {text}: the change must be a number, got '{change}'.") from None
    found = sensitivity(
        scenario_of(arguments),
        by,
        arguments.quantity or ["final(kinetic)"],
        output=arguments.output,
        overwrite=arguments.overwrite,
        pictures=not arguments.no_pictures,
        progress=not arguments.quiet,
    )
    if not arguments.quiet:
        say(f"{found.report()}\n\nall of it is in {found.path}")
    return OK
