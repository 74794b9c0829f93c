"""``symplex buckling``."""

from __future__ import annotations

import argparse

from symplex.base.streams import complain
from symplex.commands.common import add_command, add_scenario, reported, scenario_of


def add_parser(commands: argparse._SubParsersAction) -> None:
    """Declare the command and its arguments."""
    buckling = add_command(commands, "buckling", _buckling, "find the factors of the load at which a scenario buckles")
    add_scenario(buckling)
    buckling.add_argument("--number", type=int, default=4, metavar="N", help="how many of the lowest; default: 4")
    buckling.add_argument(
        "--load",
        action="append",
        metavar="NAME",
        help="what is multiplied, several times for several: a load, a support that moves, gravity; default: all",
    )
    buckling.add_argument("--output", metavar="DIR", help="folder for the results; default: SCENARIO-buckling")
    buckling.add_argument(
        "--overwrite", action="store_true", help="replace what 'symplex buckling' has left in the folder"
    )
    buckling.add_argument("--no-pictures", action="store_true", help="no picture of the shapes")


def _buckling(arguments: argparse.Namespace) -> int:
    from symplex.runs.buckling import find_buckling
    from symplex.runs.folders import Folder

    scenario = scenario_of(arguments)
    output = arguments.output or f"{scenario.name}-buckling"
    Folder(output, "buckling").refuse_taken(arguments.overwrite)  # before anything is computed
    found = find_buckling(scenario, arguments.number, arguments.load)
    found.save(output, overwrite=arguments.overwrite, pictures=not arguments.no_pictures, say=complain)
    return reported(found.report(output))
