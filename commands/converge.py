"""``symplex converge``."""

from __future__ import annotations

import argparse

from symplex.base.streams import say
from symplex.commands.common import OK, add_command, add_scenario, scenario_of
from symplex.commands.members import add_members, add_quantities, how_to_run, interrupted

_TIMES = ("refinements", "halvings", "doublings")


def add_parser(commands: argparse._SubParsersAction) -> None:
    """Declare the command and its arguments."""
    parser = add_command(
        commands, "converge", _converge, "refine the step or the mesh of a scenario; find the observed order"
    )
    add_scenario(parser)
    add = parser.add_argument
    add("--key", default="integrator.dt", help="what is refined, as body.NAME.mesh.cells; default: integrator.dt")
    times = parser.add_mutually_exclusive_group()
    times.add_argument("--halvings", type=int, metavar="N", help="halve it so often; default: 4, of a step")
    times.add_argument("--doublings", type=int, metavar="N", help="double it so often; default: 4, of integers")
    times.add_argument("--refinements", type=int, metavar="N", help="multiply it so often by the --factor")
    add("--factor", type=float, metavar="F", help="default: 0.5, or 2 for integers")
    add_quantities(parser, "of a run, as max(COLUMN) or final(PROBE.COLUMN), see sweep; default: final(kinetic)")
    add("--exact", type=float, metavar="X", help="what the quantity is exactly, if that is known")
    add_members(parser, "SCENARIO-convergence")


def _converge(arguments: argparse.Namespace) -> int:
    from symplex.studies.convergence import converge

    given = [getattr(arguments, name) for name in _TIMES]
    factor = 0.5 if arguments.halvings is not None else 2.0 if arguments.doublings is not None else arguments.factor
    try:
        found = converge(
            scenario_of(arguments),
            arguments.key,
            refinements=next((n for n in given if n is not None), 4),
            factor=factor,
            quantities=arguments.quantity or ["final(kinetic)"],
            exact=arguments.exact,
            output=arguments.output,
            **how_to_run(arguments),
        )
    except KeyboardInterrupt as error:
        return interrupted(error, arguments, "converge", "key", "quantity", *_TIMES, "factor", "exact")
    if not arguments.quiet:
        picture = " and convergence.png" if (found.study.path / "convergence.png").exists() else ""
        say(f"{found.report()}\n\nall of it is in {found.study.path}, with table.csv{picture}")
    return OK
