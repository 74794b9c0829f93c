"""``symplex check``."""

from __future__ import annotations

import argparse

from symplex.commands.common import FAILED, OK, add_command, add_scenario, add_strict, reported, scenario_of


def add_parser(commands: argparse._SubParsersAction) -> None:
    """Declare the command and its arguments."""
    check = add_command(commands, "check", _check, "validate a scenario; print sizes, stable step, memory and time")
    add_scenario(check)
    add_strict(check, "mesh files")


def _check(arguments: argparse.Namespace) -> int:
    from symplex.runs.beginning import default_folder
    from symplex.runs.check import check_report

    scenario = scenario_of(arguments)
    default_folder(scenario)  # where it may not be, this shows
    problem = scenario.build()
    if arguments.strict:
        problem.require_known()
    report, failure = check_report(problem)
    return reported(report) or (FAILED if failure else OK)
