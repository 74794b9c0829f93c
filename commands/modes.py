"""``symplex modes``."""

from __future__ import annotations

import argparse
from typing import Literal

from symplex.base.streams import complain
from symplex.commands.common import add_command, add_small_motions, reported, scenario_of
from symplex.errors import OutputError


def add_parser(commands: argparse._SubParsersAction) -> None:
    """Declare the command and its arguments."""
    modes = add_command(commands, "modes", _modes, "find the natural frequencies and modes of a scenario")
    add_small_motions(modes, "modes")
    modes.add_argument("--number", type=int, default=10, metavar="N", help="how many of the lowest; default: 10")
    modes.add_argument("--damped", action="store_true", help="with damping: complex modes, with their damping ratios")
    modes.add_argument(
        "--diameters",
        nargs="+",
        metavar="N",
        help="of a sector with [[cyclic]]: so many modes of each of these nodal diameters, or all",
    )
    modes.add_argument(
        "--solver",
        choices=["auto", "dense", "sparse", "krylov"],
        default="auto",
        help="of the linear equations; default: by size",
    )
    modes.add_argument("--no-pictures", action="store_true", help="no picture of the modes")
    modes.add_argument(
        "--film", choices=["none", "gif", "mp4"], default="none", help="a film of each mode; default: none"
    )


def _modes(arguments: argparse.Namespace) -> int:
    from symplex.runs.folders import Folder
    from symplex.runs.modes import find_modes

    scenario = scenario_of(arguments)
    output = arguments.output or f"{scenario.name}-modes"
    Folder(output, "modes").refuse_taken(arguments.overwrite)  # before anything is computed
    found = find_modes(
        scenario,
        arguments.number,
        arguments.at,
        damped=arguments.damped,
        solver=arguments.solver,
        diameters=_diameters(arguments.diameters),
    )
    found.save(
        output,
        overwrite=arguments.overwrite,
        pictures=not arguments.no_pictures,
        film=arguments.film,
        say=complain,
    )
    return reported(found.report(output))


def _diameters(words: list[str] | None) -> list[int] | Literal["all"] | None:
    """Return the nodal diameters that are asked for."""
    if words is None or words == ["all"]:
        return None if words is None else "all"
    if not all(word.isdecimal() for word in words):
        raise OutputError(f"--diameters are integers or all, got {' '.join(words)}.")
    return [int(word) for word in words]
