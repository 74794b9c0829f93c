"""``symplex report``."""

from __future__ import annotations

import argparse

from symplex.base.streams import complain
from symplex.commands.common import add_command, reported


def add_parser(commands: argparse._SubParsersAction) -> None:
    """Declare the command and its arguments."""
    report = add_command(
        commands, "report", _report, "report which invariants a run conserved, and what changed the others"
    )
    report.add_argument("result", metavar="RESULT", help="results folder")
    report.add_argument("--output", metavar="FILE", help="picture (.png, .pdf, .svg); default: RESULT/conservation.png")


def _report(arguments: argparse.Namespace) -> int:
    from symplex.meshes.pictures.packages import pictures_if_possible
    from symplex.runs.conservation_report import conservation, write_report
    from symplex.runs.result import read_result

    result = read_result(arguments.result)
    folder = result.folder
    report = conservation(result)
    folder.refuse_links()
    write_report(report, folder.conservation)
    written = [folder.conservation]
    with pictures_if_possible(complain):
        written.append(report.plot(arguments.output or folder.conservation_plot))
    return reported(f"{report.text()}\n  {', '.join(map(str, written))}")
