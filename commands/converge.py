"""``symplex converge``."""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING

from symplex.base.streams import complain, say
from symplex.commands.common import OK, add_command, add_scenario, scenario_of, status_of

if TYPE_CHECKING:
    from symplex.studies.convergence import Convergence


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
    times.add_argument("--doublings", type=int, metavar="N", help="double it so often; default: 4, of whole numbers")
    times.add_argument("--refinements", type=int, metavar="N", help="multiply it so often by the --factor")
    add("--factor", type=float, metavar="F", help="default: 0.5, or 2 for whole numbers")
    add(
        "--quantity",
        action="append",
        default=[],
        metavar="NUMBER",
        help="of a run, as max(COLUMN) or final(PROBE.COLUMN), see sweep; default: final(kinetic); may be repeated",
    )
    add("--exact", type=float, metavar="X", help="what the quantity is exactly, if that is known")
    add("--output", metavar="DIR", help="folder of the study; default: SCENARIO-convergence")
    add("--resume", action="store_true", help="go on with the study in the folder; what is finished is kept")
    add("--workers", type=int, metavar="N", help="processes at a time; default: one for each processor; 0: no others")
    add("--dask", metavar="ADDRESS", help="run the members on the Dask cluster of this scheduler, as tcp://host:8786")
    add("--quiet", action="store_true", help="print errors only")


def _converge(arguments: argparse.Namespace) -> int:
    from symplex.studies.convergence import converge

    given = (arguments.refinements, arguments.halvings, arguments.doublings)
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
            resume=arguments.resume,
            workers=arguments.workers,
            dask=arguments.dask,
            progress=not arguments.quiet,
        )
    except KeyboardInterrupt as error:
        again = shlex.join(["symplex", "converge", *_words(arguments), "--resume"])
        complain(f"interrupted; what is finished is kept; go on with: {again}")
        return status_of(error)
    if not arguments.quiet:
        say(_report(found))
    return OK


def _words(arguments: argparse.Namespace) -> list[str]:
    """Return the arguments that say which study it is."""
    words = [arguments.scenario, "--key", arguments.key]
    words += [
        word for name in ("set", "quantity") for value in getattr(arguments, name) for word in (f"--{name}", value)
    ]
    for name in ("halvings", "doublings", "refinements", "factor", "exact", "output", "workers", "dask"):
        value = getattr(arguments, name)
        words += [] if value is None else [f"--{name}", str(value)]
    return words


def _report(found: Convergence) -> str:
    """Return a table of each quantity, what it tends to, and where all of it is."""
    from symplex.runs.tables import told_as_table

    lines = []
    for name in found.values:
        rows = found.rows(name)
        unit = found.study.units.get(name, "")
        limit, order = found.limits[name], found.order(name)
        lines += [told_as_table(list(rows[0]), rows)]
        if limit == limit and order == order:
            lines += [f"{name} tends to {limit:.8g}{f' {unit}' if unit else ''} at the observed order {order:.3g}", ""]
        else:
            lines += [f"{name}: the differences show no order; refine more, or begin finer", ""]
    return "\n".join([*lines, f"all of it is in {found.study.path}, with table.csv and convergence.png"])
