"""What the commands share that run many members: their arguments, and how to go on with what was interrupted."""

from __future__ import annotations

import argparse
import shlex
from typing import Any

from symplex.base.streams import complain
from symplex.commands.common import status_of, words_of

_OF_PROCESSES = ("output", "workers", "dask")


def add_quantities(parser: argparse.ArgumentParser, help_: str) -> None:
    """Add the numbers that are asked for of each member."""
    parser.add_argument("--quantity", action="append", default=[], metavar="NUMBER", help=f"{help_}; may be repeated")


def add_members(parser: argparse.ArgumentParser, folder: str) -> None:
    """Add the folder of a study, and by which processes its members are run."""
    add = parser.add_argument
    add("--output", metavar="DIR", help=f"folder of the study; default: {folder}")
    again = parser.add_mutually_exclusive_group()
    again.add_argument(
        "--resume", action="store_true", help="continue the study in the folder; finished members are kept"
    )
    again.add_argument("--overwrite", action="store_true", help="replace the study that is in the folder")
    add("--workers", type=int, metavar="N", help="processes at a time; default: one for each processor; 0: no others")
    add("--dask", metavar="ADDRESS", help="run the members on the Dask cluster of this scheduler, as tcp://host:8786")
    add("--quiet", action="store_true", help="print errors only")


def how_to_run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return by which processes members are run, and what becomes of a study that is there, as `sweep` has it."""
    given = {name: getattr(arguments, name) for name in ("resume", "overwrite", "workers", "dask")}
    return given | {"progress": not arguments.quiet}


def interrupted(error: KeyboardInterrupt, arguments: argparse.Namespace, name: str, *options: str) -> int:
    """Return how to go on with an interrupted study, by the options that say which it is; return the exit status."""
    words = words_of(arguments, ("set", *options, *_OF_PROCESSES))
    again = shlex.join(["symplex", name, arguments.scenario, *words, "--resume"])
    complain(f"interrupted; finished members are kept; continue with: {again}")
    return status_of(error)
