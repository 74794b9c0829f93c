"""``symplex export``."""

from __future__ import annotations

import argparse

from symplex.commands.common import add_command, reported


def add_parser(commands: argparse._SubParsersAction) -> None:
    """Declare the command and its arguments."""
    export = add_command(commands, "export", _export, "write histories or frames of a run as other tools read them")
    export.add_argument("result", metavar="RESULT", help="results folder")
    export.add_argument(
        "--to",
        metavar="FILE",
        required=True,
        help="table: .csv, .parquet or .h5; one frame: .vtu; all frames: .pvd, .vtkhdf or .frd",
    )
    export.add_argument("--probe", metavar="NAME", help="of a table: the probe; default: the history")
    export.add_argument("--time", type=float, metavar="T", help="of a frame, in s; default: the last")
    export.add_argument("--overwrite", action="store_true", help="replace FILE if it is there")


def _export(arguments: argparse.Namespace) -> int:
    from symplex.runs.export import export_result

    path = export_result(
        arguments.result,
        arguments.to,
        probe=arguments.probe,
        time=arguments.time,
        overwrite=arguments.overwrite,
    )
    return reported(str(path))
