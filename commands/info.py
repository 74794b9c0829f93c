"""``symplex info``."""

from __future__ import annotations

import argparse
from pathlib import Path

from symplex.commands.common import add_command, add_strict, reported
from symplex.errors import OutputError


def add_parser(commands: argparse._SubParsersAction) -> None:
    """Declare the command and its arguments."""
    info = add_command(commands, "info", _info, "print what is in a mesh file or a folder of results")
    add_strict(info, "a mesh file")
    info.add_argument("path", metavar="MESH-or-RESULT", help="mesh file, or folder of a run, modes, a study …")


def _info(arguments: argparse.Namespace) -> int:
    from symplex.runs.report import mesh_report, result_report
    from symplex.studies.folders import study_report

    path = Path(arguments.path)
    if path.suffix == ".toml":
        raise OutputError(f"{path.name} is a scenario; look at it with: symplex check {path}")
    if path.is_dir():
        return reported(study_report(path) or result_report(path))
    return reported(mesh_report(path, strict=arguments.strict))
