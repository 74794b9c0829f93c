"""``symplex compare``."""

from __future__ import annotations

import argparse

from symplex.base.streams import complain
from symplex.commands.common import FAILED, add_command, reported
from symplex.errors import InvalidArgument


def add_parser(commands: argparse._SubParsersAction) -> None:
    """Declare the command and its arguments."""
    parser = add_command(commands, "compare", _compare, "compare two results: histories and fields at equal times")
    parser.add_argument("first", metavar="RESULT", help="results folder, at whose times and nodes they are compared")
    parser.add_argument("second", metavar="RESULT", help="results folder")
    parser.add_argument(
        "--tolerance",
        type=float,
        metavar="R",
        help="fail, with exit status 1, if a relative difference is larger, or the second lacks what the first has",
    )
    parser.add_argument("--output", metavar="DIR", help="folder for the table, pictures, and the differences of fields")


def _compare(arguments: argparse.Namespace) -> int:
    from symplex.studies.comparison import compare

    if arguments.tolerance is not None and not arguments.tolerance >= 0.0:
        raise InvalidArgument(f"--tolerance is {arguments.tolerance:g}, must be a number that is not negative.")
    found = compare(arguments.first, arguments.second, output=arguments.output)
    lines = [found.report()]
    if arguments.output is not None:
        lines.append(f"pictures and the differences of fields are in {arguments.output}")
    status = reported("\n".join(lines))
    if arguments.tolerance is None:
        return status
    beyond = found.beyond(arguments.tolerance)
    if beyond:
        worst = max(beyond, key=lambda one: one.relative)
        complain(
            f"error: {len(beyond)} of {len(found.differences)} differ by more than {arguments.tolerance:g}; most of "
            f"all {worst.name}, by {worst.relative:.3g} at t = {worst.t:.6g} s."
        )
    if found.left_out:
        complain(
            f"error: {found.second} must have all that {found.first} has, but lacks: {'; '.join(found.left_out)}. "
            "Compare with a finished run of the same bodies, probes and [output] fields."
        )
    return FAILED if beyond or found.left_out else status
