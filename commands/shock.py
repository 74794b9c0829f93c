"""``symplex shock``."""

from __future__ import annotations

import argparse
from pathlib import Path

from symplex.base.streams import complain
from symplex.commands.common import add_command, reported


def add_parser(commands: argparse._SubParsersAction) -> None:
    """Declare the command and its arguments."""
    shock = add_command(commands, "shock", _shock, "shock response spectrum of the accelerations of a probe")
    shock.add_argument("result", metavar="RESULT", help="results folder")
    shock.add_argument("--probe", metavar="NAME", required=True, help="probe with accelerations")
    shock.add_argument("--column", metavar="C", action="append", help="of its file, several times for several")
    shock.add_argument("--ratio", type=float, default=0.05, metavar="Z", help="of critical damping; default: 0.05")
    shock.add_argument(
        "--between",
        type=float,
        nargs=2,
        metavar=("F1", "F2"),
        help="natural frequencies in Hz; default: from one period in the run to a tenth of the rate of samples",
    )
    shock.add_argument("--points", type=int, default=120, metavar="N", help="how many frequencies; default: 120")
    shock.add_argument("--output", metavar="DIR", help="folder for the spectrum; default: RESULT-shock")
    shock.add_argument("--overwrite", action="store_true", help="replace what 'symplex shock' has left in the folder")
    shock.add_argument("--no-pictures", action="store_true", help="no plot")


def _shock(arguments: argparse.Namespace) -> int:
    from symplex.runs.folders import Folder
    from symplex.runs.shock import find_shock

    output = arguments.output or f"{Path(arguments.result).resolve().name}-shock"
    Folder(output, "shock").refuse_taken(arguments.overwrite)  # before anything is computed
    first, last = arguments.between or (None, None)
    found = find_shock(
        arguments.result,
        arguments.probe,
        arguments.column,
        ratio=arguments.ratio,
        first=first,
        last=last,
        points=arguments.points,
    )
    found.save(output, overwrite=arguments.overwrite, pictures=not arguments.no_pictures, say=complain)
    return reported(found.report(output))
