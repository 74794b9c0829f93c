"""``symplex view``."""

from __future__ import annotations

import argparse
from pathlib import Path

from symplex.base.streams import say
from symplex.commands.common import OK, add_command
from symplex.commands.view_options import add_view_options, look_of


def add_parser(commands: argparse._SubParsersAction) -> None:
    """Declare the command and its arguments."""
    view = add_command(commands, "view", _view, "look at a run: in a window, or as one page for any browser")
    view.add_argument("result", metavar="RESULT", help="results folder, or with --html that of a fit")
    view.add_argument(
        "--html",
        nargs="?",
        const="",
        metavar="FILE",
        help="write one self-contained page instead of opening a window; default: RESULT/view.html",
    )
    add_view_options(view)
    view.add_argument(
        "--fields", nargs="+", metavar="NAME", help="fields to include in the page besides displacement; default: all"
    )
    view.add_argument(
        "--max-size",
        type=float,
        metavar="MB",
        help="size of the page; to fit, frames are left out, then the inside of bodies; default: 20",
    )
    view.add_argument("--overwrite", action="store_true", help="replace FILE if it is there")


def _view(arguments: argparse.Namespace) -> int:
    from symplex.runs.folders import kind_of
    from symplex.runs.pictures import view_table
    from symplex.runs.results import RunFolder

    if kind_of(path := Path(arguments.result)) == "fit":
        return _view_fit(path, arguments.html, arguments.overwrite)
    folder = RunFolder.of_run(arguments.result)
    look = look_of(arguments, view_table(folder))
    if arguments.html is None:
        from symplex.runs.window import open_window

        open_window(folder, look)
        return OK
    from symplex.runs.page.write import MAX_SIZE, write_page

    say(
        str(
            write_page(
                folder.path,
                arguments.html or folder.path / "view.html",
                field=look.field,
                fields=arguments.fields,
                view=look.view,
                max_size=MAX_SIZE if arguments.max_size is None else arguments.max_size,
                overwrite=arguments.overwrite,
            )
        )
    )
    return OK


def _view_fit(path: Path, html: str | None, overwrite: bool) -> int:
    from symplex.errors import OutputError
    from symplex.runs.page.write import write_study_page
    from symplex.studies.fitting import read_fit

    if html is None:
        raise OutputError(f"{path} holds a fit, which has no bodies to look at; add --html for a page of its curves.")
    fit = read_fit(path)
    say(str(write_study_page(fit, html or path / "view.html", fit.title, overwrite=overwrite)))
    return OK
