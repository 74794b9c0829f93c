"""``symplex response``."""

from __future__ import annotations

import argparse

from symplex.base.streams import complain
from symplex.commands.common import add_command, add_small_motions, reported, scenario_of


def add_parser(commands: argparse._SubParsersAction) -> None:
    """Declare the command and its arguments."""
    response = add_command(
        commands,
        "response",
        _response,
        "find the harmonic, random or spectral response, by the [response] of a scenario",
    )
    add_small_motions(response, "response")
    response.add_argument("--no-pictures", action="store_true", help="no plot")


def _response(arguments: argparse.Namespace) -> int:
    from symplex.runs.folders import Folder
    from symplex.runs.response import find_response
    from symplex.runs.spectral import find_random, find_spectrum

    scenario = scenario_of(arguments)
    output = arguments.output or f"{scenario.name}-response"
    Folder(output, "response").refuse_taken(arguments.overwrite)  # before anything is computed
    table = scenario.tables.response
    if table is not None and table.psd is not None:
        found = find_random(scenario, arguments.at)
    elif table is not None and table.spectrum is not None:
        found = find_spectrum(scenario, arguments.at)
    else:
        found = find_response(scenario, arguments.at)
    found.save(output, overwrite=arguments.overwrite, pictures=not arguments.no_pictures, say=complain)
    return reported(found.report(output))
