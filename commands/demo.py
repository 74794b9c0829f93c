"""``symplex demo``."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from symplex.commands.common import add_command, reported

if TYPE_CHECKING:
    from symplex.runs.results import RunFolder

# Explicit, with one body, one law and one obstacle: of all that there is, this compiles least.
_SCENARIO = """\
# A bracket of soft rubber is thrown, spins, and bounces on the floor. All units are SI.
title = "A rubber bracket bounces"

[[body]]
name = "bracket"
mesh = { bundled = "bracket" }
material = { young = 3e5, poisson = 0.4, density = 1100 }
rotate = { axis = [1, 0.4, 0], degrees = 35 }
translate = [0, 0, 0.05]
velocity = [0.3, 0, -1.6]
angular_velocity = [0, 9, 3]

[[obstacle]]
name = "floor"
kind = "half-space"
point = [0, 0, 0]
normal = [0, 0, 1]
stiffness = 300 # N/m for each node

[gravity]
acceleration = [0, 0, -9.81]

[integrator]
kind = "newmark" # explicit: velocity Verlet
dt = "auto"

[run]
duration = 0.14
frames = 42
samples = 168

[output]
film = "none"
"""
_FOLDER = "symplex-demo"


def add_parser(commands: argparse._SubParsersAction) -> None:
    """Declare the command and its arguments."""
    demo = add_command(commands, "demo", _demo, "run a small example and draw it: a rubber bracket bounces")
    demo.add_argument("--output", metavar="DIR", default=_FOLDER, help=f"results folder; default: {_FOLDER}")
    demo.add_argument("--overwrite", action="store_true", help="replace the run that is in the folder")


def _demo(arguments: argparse.Namespace) -> int:
    from symplex.runs.results import RunFolder
    from symplex.runs.run import simulate
    from symplex.scenario.scenario import Scenario

    folder = RunFolder(arguments.output)
    folder.refuse_taken(arguments.overwrite, resumable=False)
    summary = simulate(Scenario.parse(_SCENARIO, Path("demo.toml")), folder.path, overwrite=arguments.overwrite)
    page = None
    if "pictures_skipped" not in summary:
        from symplex.runs.page.write import write_page

        page = write_page(folder.path, folder.path / "view.html")
    return reported(_report(summary, folder, page))


def _report(summary: Mapping[str, Any], folder: RunFolder, page: Path | None) -> str:
    """Return what has come of it, where it is, and what to do next."""
    from symplex.runs.progress import clock, si
    from symplex.runs.tables import table

    seconds = summary["wall_time"]["total"]
    steps, drift = summary["statistics"]["steps"], summary["drift"]["total"]
    files = [("the scenario", folder.scenario), ("frames for ParaView", folder.series)]
    if page is not None:
        pictures = [("six moments", folder.snapshots), ("histories", folder.plot), ("a page to turn and play", page)]
        files = [*pictures, *files]
    name = shlex.quote(str(folder.path))
    tries = [
        (f"symplex view {name}", "look at it in a window"),
        (f"symplex report {name}", "what of energy and momenta was kept"),
        (f"symplex run {shlex.quote(str(folder.scenario))} --set integrator.dt=5e-5 --output finer", "smaller steps"),
        ("symplex warmup", "compile at leisure what other first runs would wait for"),
    ]
    return "\n".join(
        [
            f"{si(summary['t_end'], 's')} in {steps:,} steps and {clock(seconds)}; the energy changed by {drift:.1e}",
            table([(what, str(path)) for what, path in files]),
            "what to try next:",
            table(tries),
        ]
    )
