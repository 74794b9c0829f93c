"""``symplex plot``."""

from __future__ import annotations

import argparse

from symplex.base.streams import say
from symplex.commands.common import OK, add_command
from symplex.commands.looks import add_size, size_words


def add_parser(commands: argparse._SubParsersAction) -> None:
    """Declare the command and its arguments."""
    plot = add_command(commands, "plot", _plot, "plot the histories of one run, or of several in one picture")
    plot.add_argument("results", metavar="RESULT", nargs="+", help="results folder")
    plot.add_argument(
        "--output", metavar="FILE", help="picture (.png, .pdf, .svg); default: RESULT/history.png, or comparison.png"
    )
    add_size(plot)


def _plot(arguments: argparse.Namespace) -> int:
    from symplex.runs.pictures import draw_plot
    from symplex.runs.results import Folder

    folders = [Folder.of_run(result) for result in arguments.results]
    width, height = size_words(arguments.size)
    say(str(draw_plot(folders, arguments.output, width=width, height=height, dpi=arguments.dpi)))
    return OK
