"""``symplex render``."""

from __future__ import annotations

import argparse
from dataclasses import replace

from symplex.base.streams import say
from symplex.commands.common import OK, add_command
from symplex.commands.view_options import add_size, add_view_options, look_of


def add_parser(commands: argparse._SubParsersAction) -> None:
    """Declare the command and its arguments."""
    render = add_command(commands, "render", _render, "draw snapshots of a run, and a film if it is asked for")
    render.add_argument("result", metavar="RESULT", help="results folder")
    add_view_options(render)
    moments = render.add_mutually_exclusive_group()
    moments.add_argument("--times", type=float, nargs="+", metavar="T", help="times of the snapshots in s")
    moments.add_argument("--at", type=float, metavar="T", help="one picture, of the time T in s: RESULT/snapshot.png")
    add_size(render)
    render.add_argument("--output", metavar="FILE", help="snapshots (.png, .pdf, .svg); default: RESULT/snapshots.png")
    render.add_argument(
        "--film",
        nargs="?",
        choices=["auto", "mp4", "gif", "none"],
        const="auto",
        default="none",
        help="draw a film as well; without a format .mp4, or .gif where no .mp4 can be made",
    )
    render.add_argument("--orbit", type=float, metavar="DEGREES", help="let the camera of the film go round the bodies")
    render.add_argument("--to", metavar="DIRECTION", help="let the camera of the film go there, a direction as --view")


def _render(arguments: argparse.Namespace) -> int:
    from symplex.runs.pictures import draw_film, draw_snapshots, view_table
    from symplex.runs.results import RunFolder

    folder = RunFolder.of_run(arguments.result)
    look, output = look_of(arguments, view_table(folder)), arguments.output
    if arguments.at is not None:
        stills, output = replace(look, times=[arguments.at]), output or folder.snapshot
    else:
        stills = look
    say(str(draw_snapshots(folder, stills, output)))
    if arguments.film != "none":
        say(str(draw_film(folder, arguments.film, look)))
    return OK
