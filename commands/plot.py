"""``symplex plot``."""

from __future__ import annotations

import argparse
from pathlib import Path

from symplex.base.streams import say
from symplex.commands.common import OK, add_command
from symplex.commands.view_options import add_size, size_words


def add_parser(commands: argparse._SubParsersAction) -> None:
    """Declare the command and its arguments."""
    plot = add_command(
        commands, "plot", _plot, "plot the histories of one run, or of several in one picture; or a study"
    )
    plot.add_argument(
        "results",
        metavar="RESULT",
        nargs="+",
        help="results folder, or that of one sweep, convergence study, comparison, fit or sensitivity",
    )
    plot.add_argument(
        "--output",
        metavar="FILE",
        help="picture (.png, .pdf, .svg); default: RESULT/history.png, comparison.png, or the study's own",
    )
    add_size(plot, "120")


def _plot(arguments: argparse.Namespace) -> int:
    from symplex.runs.drawing import draw_plot
    from symplex.runs.results import RunFolder
    from symplex.studies.folders import plot_study

    width, height = size_words(arguments.size)
    if len(arguments.results) == 1:
        drawn = plot_study(Path(arguments.results[0]), arguments.output, width, height, arguments.dpi)
        if drawn is not None:
            say(str(drawn))
            return OK
    folders = [RunFolder.of_run(result) for result in arguments.results]
    say(str(draw_plot(folders, arguments.output, width=width, height=height, dpi=arguments.dpi)))
    return OK
