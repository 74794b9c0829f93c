"""``symplex warmup``."""

from __future__ import annotations

import argparse

from symplex.base.streams import say
from symplex.commands.common import OK, add_command, add_scenario, reported, scenario_of


def add_parser(commands: argparse._SubParsersAction) -> None:
    """Declare the command and its arguments."""
    warmup = add_command(
        commands,
        "warmup",
        _warmup,
        "compile the kernels of a scenario, or of all usual methods, before they are needed",
    )
    add_scenario(warmup, "scenario file (.toml); default: what the examples are made of", optional=True)
    warmup.add_argument("--quiet", action="store_true", help="print errors only")


def _warmup(arguments: argparse.Namespace) -> int:
    from symplex.fem.compiled.kernel_cache import lasting_cache

    lasting_cache()  # which refuses, before kernels are declared that would be kept elsewhere
    from symplex.runs.warming import warm_up

    scenario = None if arguments.scenario is None else scenario_of(arguments)
    if arguments.quiet:
        warm_up(scenario)
        return OK
    say("compiling what is not there yet; Ctrl-C stops it, and what was compiled is kept")
    return reported(warm_up(scenario, say).text())
