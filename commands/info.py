"""``symplex info``."""

from __future__ import annotations

import argparse
from pathlib import Path

from symplex.commands.common import add_command, told
from symplex.errors import OutputError


def add_parser(commands: argparse._SubParsersAction) -> None:
    """Declare the command and its arguments."""
    info = add_command(commands, "info", _info, "print what is in a mesh file or a results folder")
    info.add_argument("path", metavar="MESH-or-RESULT")


def _info(arguments: argparse.Namespace) -> int:
    from symplex.runs.report import mesh_report, result_report

    path = Path(arguments.path)
    if path.suffix == ".toml":
        raise OutputError(f"{path.name} is a scenario; look at it with: symplex check {path}")
    return told(result_report(path) if path.is_dir() else mesh_report(path))
