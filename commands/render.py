"""``symplex render``."""

from __future__ import annotations

import argparse

from symplex.base.streams import say
from symplex.commands.common import OK, add_command


def add_parser(commands: argparse._SubParsersAction) -> None:
    """Declare the command and its arguments."""
    render = add_command(commands, "render", _render, "draw snapshots and a film of a run")
    render.add_argument("result", metavar="RESULT", help="results folder")
    fields = "von_mises (default), displacement, speed, contact_force, contact_pressure, body …"
    render.add_argument("--field", help=f"what colours show: {fields}")
    render.add_argument("--times", type=float, nargs="+", metavar="T", help="times of the snapshots in s")
    render.add_argument("--view", default="auto", help="direction to the eye: x, -x, y … or three numbers 1,-2,0.5")
    render.add_argument(
        "--up", help="what points up, as --view; default: against gravity, or z, or y over a floor across y"
    )
    render.add_argument(
        "--slice",
        metavar="AXIS[=M]",
        help="show the section across x, y or z, mid-body or at a place: z=0.05",
    )
    render.add_argument("--film", choices=["auto", "mp4", "gif", "none"], default="auto", help="format of the film")
    render.add_argument("--output", metavar="FILE", help="snapshots; default: RESULT/snapshots.png")


def _render(arguments: argparse.Namespace) -> int:
    from symplex.runs.pictures import draw_film, draw_snapshots, view_of
    from symplex.runs.results import Folder

    folder, view = Folder.of_run(arguments.result), view_of(arguments.view, arguments.slice, arguments.up)
    field, output = arguments.field, arguments.output
    say(str(draw_snapshots(folder, field=field, view=view, times=arguments.times, output=output)))
    if arguments.film != "none":
        say(str(draw_film(folder, arguments.film, field=field, view=view)))
    return OK
