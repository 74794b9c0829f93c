"""``symplex plot``."""

from __future__ import annotations

import argparse

from symplex.base.streams import say
from symplex.commands.common import OK, add_command


def add_parser(commands: argparse._SubParsersAction) -> None:
    """Declare the command and its arguments."""
    plot = add_command(commands, "plot", _plot, "plot the histories of one run, or of several in one picture")
    plot.add_argument("results", metavar="RESULT", nargs="+", help="results folder")
    plot.add_argument(
        "--output", metavar="FILE", help="picture (.png, .pdf, .svg); default: RESULT/history.png, or comparison.png"
    )


def _plot(arguments: argparse.Namespace) -> int:
    from symplex.runs.pictures import draw_plot
    from symplex.runs.results import Folder

    say(str(draw_plot([Folder.of_run(result) for result in arguments.results], arguments.output)))
    return OK
