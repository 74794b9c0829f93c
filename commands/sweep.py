"""``symplex sweep``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from symplex.base.streams import say
from symplex.commands.common import FAILED, OK, add_command, add_scenario
from symplex.commands.members import add_members, add_quantities, how_to_run, interrupted

if TYPE_CHECKING:
    from symplex.studies.members import Sweep

_OVER = """\
values: a list, 0.1,0.2,0.4; ranges with both ends, linear(FIRST, LAST, COUNT) or log(FIRST, LAST, COUNT); random
numbers, uniform(LEAST, MOST), log-uniform(LEAST, MOST) or normal(MEAN, DEVIATION), with --samples
"""
_SAMPLES = ("samples", "sampling", "seed")
_MOST_TOLD = 30  # members that are listed


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
    add("--sampling", choices=["random", "latin-hypercube", "sobol"], help="how they fill the space; default: random")
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
        say(_report(study))
    return FAILED if study.failed else OK


def _report(study: Sweep) -> str:
    """Return a table of the members, and where all of it is."""
    from symplex.runs.tables import told_as_table

    columns = ["member", *study.keys, *study.quantities]
    rows = [row if row["status"] == "finished" else row | {"note": row["status"]} for row in study.rows()]
    lines = [told_as_table([*columns, *(["note"] if study.failed else [])], rows[:_MOST_TOLD])]
    if len(rows) > _MOST_TOLD:
        lines.append(f"… {len(rows) - _MOST_TOLD} more")
    odd = [one for one in study.members if one.status != "finished" or one.reason]  # or without a number
    lines += [f"member {one.name}: {one.status}: {one.reason}" for one in odd[:_MOST_TOLD]]
    done = len(study.members) - len(study.failed)
    lines.append(f"{done} of {len(study.members)} members finished; all of it is in {study.path}, as table.csv")
    return "\n".join(lines)
