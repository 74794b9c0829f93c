"""``symplex reduce``."""

from __future__ import annotations

import argparse
from pathlib import Path

from symplex.commands.common import add_command, add_scenario, reported, scenario_of


def add_parser(commands: argparse._SubParsersAction) -> None:
    """Declare the command and its arguments."""
    reduce = add_command(commands, "reduce", _reduce, "reduce a body to its interfaces and modes, into a file")
    add_scenario(reduce)
    reduce.add_argument("--body", metavar="NAME", help="of the scenario; needed where there are several")
    reduce.add_argument(
        "--modes", type=int, metavar="N", help="fixed-interface modes; default: as the body says, or 12"
    )
    reduce.add_argument(
        "--interfaces", nargs="*", metavar="GROUP", help="groups of nodes that move rigidly; default: as the body says"
    )
    reduce.add_argument(
        "--compare",
        type=int,
        default=6,
        metavar="N",
        help="natural frequencies of the free body that are compared with those of the whole; default: 6",
    )
    reduce.add_argument(
        "--output",
        action="append",
        metavar="FILE",
        help="NAME.npz for [[flexible_body]], .mat for Simscape and MATLAB, .mtx for others (K and M in two files); "
        "may be repeated; default: BODY.npz",
    )
    reduce.add_argument("--overwrite", action="store_true", help="replace the files")


def _reduce(arguments: argparse.Namespace) -> int:
    from symplex.runs.reduction import body_named, reduce_body, report_of
    from symplex.time.modes.floating import SUFFIXES
    from symplex.time.modes.reduced_body import files_of

    scenario = scenario_of(arguments)
    outputs = arguments.output or [f"{body_named(scenario, arguments.body).name}.npz"]
    for file in outputs:
        files_of(Path(file), SUFFIXES, arguments.overwrite)  # refuses what is there before anything is computed
    body, frequencies = reduce_body(scenario, arguments.body, arguments.modes, arguments.interfaces, arguments.compare)
    files = [body.save(file, overwrite=arguments.overwrite) for file in outputs]
    return reported("\n".join([*report_of(body, frequencies), f"written: {', '.join(map(str, files))}"]))
