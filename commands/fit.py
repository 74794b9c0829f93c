"""``symplex fit``."""

from __future__ import annotations

import argparse
import shlex

from symplex.base.streams import complain, say
from symplex.commands.common import OK, add_command, add_scenario, scenario_of, status_of, words_of


def add_parser(commands: argparse._SubParsersAction) -> None:
    """Declare the command and its arguments."""
    parser = add_command(commands, "fit", _fit, "fit numbers of a scenario to measured curves, by its [fit]")
    add_scenario(parser)
    add = parser.add_argument
    add("--output", metavar="DIR", help="folder for the results; default: SCENARIO-fit")
    again = parser.add_mutually_exclusive_group()
    again.add_argument("--resume", action="store_true", help="continue the fit in the folder; evaluations are kept")
    again.add_argument("--overwrite", action="store_true", help="replace the fit that is in the folder")
    add("--no-check", action="store_true", help="do not compare derivatives with differences of runs at the end")
    add("--no-pictures", action="store_true", help="no plot")
    add("--quiet", action="store_true", help="print errors only")


def _fit(arguments: argparse.Namespace) -> int:
    from symplex.studies.fitting import fit

    try:
        found = fit(
            scenario_of(arguments),
            output=arguments.output,
            resume=arguments.resume,
            overwrite=arguments.overwrite,
            check=not arguments.no_check,
            pictures=not arguments.no_pictures,
            progress=not arguments.quiet,
        )
    except KeyboardInterrupt as error:
        again = shlex.join(["symplex", "fit", arguments.scenario, *words_of(arguments, ("set", "output")), "--resume"])
        complain(f"interrupted; evaluations are kept; continue with: {again}")
        return status_of(error)
    if not arguments.quiet:
        say(f"\n{found.report()}\n\nall of it is in {found.path}, with fitted.toml")
    return OK
