"""``symplex view``."""

from __future__ import annotations

import argparse

from symplex.base.streams import say
from symplex.commands.common import OK, add_command


def add_parser(commands: argparse._SubParsersAction) -> None:
    """Declare the command and its arguments."""
    view = add_command(commands, "view", _view, "look at a run: in a window, or as a page for browsers")
    view.add_argument("result", metavar="RESULT", help="results folder")
    view.add_argument("--html", metavar="FILE", help="write one self-contained page instead of opening a window")


def _view(arguments: argparse.Namespace) -> int:
    from symplex.runs.page.write import write_page

    say(str(write_page(arguments.result, arguments.html)))
    return OK
