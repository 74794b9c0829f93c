"""``symplex sweep``."""

from __future__ import annotations

import argparse

from symplex.base.streams import say
from symplex.commands.common import FAILED, OK, add_command, add_scenario
from symplex.commands.members import add_members, add_quantities, how_to_run, interrupted

_OVER = """\
values: a list, 0.1,0.2,0.4; ranges with both ends, linear(FIRST, LAST, COUNT) or log(FIRST, LAST, COUNT); random
numbers, uniform(LEAST, MOST), log-uniform(LEAST, MOST) or normal(MEAN, DEVIATION), with --samples
"""
_SAMPLES = ("samples", "sampling", "seed")


def add_parser(commands: argparse._SubParsersAction) -> None:
    """Declare the command and its arguments."""
    parser = add_command(commands, "sweep", _sweep, "run a scenario with many values of some keys, or a study file")
    parser.epilog, parser.formatter_class = _OVER, argparse.RawDescriptionHelpFormatter
    add_scenario(parser, "scenario or study file (.toml)")
    add = parser.add_argument
    add(
        "--over",
        action="append",
        default=[],
        metavar="TABLE.KEY=VALUES",
        help='what is varied, as define.h=0.1,0.2 or "body.NAME.material.young=log(1e9, 1e11, 5)"; may be repeated',
    )
    add("--zip", action="store_true", help="take lists one value after the other, not each with each")
    add("--samples", type=int, metavar="N", help="how many random samples")
    add("--sampling", metavar="NAME", help="how they fill the space, e.g. sobol or saltelli; default: random")
    add("--seed", type=int, metavar="N", help="of the random numbers; default: 0")
    add_quantities(
        parser, "in the table of results: a key of summary.json, as drift.total, or max(COLUMN), final(PROBE.COLUMN) …"
    )
    add("--pictures", action="store_true", help="draw a plot, snapshots and a film of each member")
    add_members(parser, "SCENARIO-study, or STUDY-results of a study file")


def _sweep(arguments: argparse.Namespace) -> int:
    from symplex.studies.plans import plan_of
    from symplex.studies.sweeping import sweep

    scenario, plan = plan_of(arguments)
    try:
        study = sweep(scenario, **plan, **how_to_run(arguments))
    except KeyboardInterrupt as error:
        return interrupted(error, arguments, "sweep", "over", "quantity", *_SAMPLES, "zip", "pictures")
    if not arguments.quiet:
        done = len(study.members) - len(study.failed)
        say(study.report())
        say(f"{done} of {len(study.members)} members finished; all of it is in {study.path}, as table.csv")
    return FAILED if study.failed else OK
