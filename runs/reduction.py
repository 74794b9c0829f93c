"""Bodies of a scenario, reduced to be kept in files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np

from symplex.base.arguments import checked
from symplex.base.quantities import whole
from symplex.errors import ScenarioError
from symplex.fem.energies.energy import Array
from symplex.runs.tables import aligned
from symplex.scenario.bodies import Body, ReducedTable, mesh_of
from symplex.scenario.flexible import ReducedBodyTable, reduced, system_of
from symplex.scenario.scenario import Scenario
from symplex.time.modes.floating import FlexibleBody
from symplex.time.modes.natural import natural_modes


@checked
def reduce_body(
    scenario: Scenario,
    body: str | None = None,
    modes: Annotated[int, whole(0, 1000)] | None = None,
    interfaces: Sequence[str] | None = None,
    compared: Annotated[int, whole(0, 1000)] = 0,
) -> tuple[FlexibleBody, Array]:
    """Return a reduced body, and natural frequencies [compared, 2] in Hz of it without supports, whole and reduced.

    Parameters
    ----------
    scenario : Scenario
    body : str, optional
        Its name; needed where there are several.
    modes : int, optional
        How many fixed-interface modes; default: as its key ``reduced`` says, else 12.
    interfaces : sequence of str, optional
        Groups of its nodes; default: as its key ``reduced`` says, else none.
    compared : int, default 0
        How many vibrations of the free body are compared.

    Raises
    ------
    ScenarioError
        If there is no such body, or it cannot be reduced.
    """
    given = body_named(scenario, body)
    own = given.reduced or ReducedTable()
    chosen = own.replaced(
        modes=own.modes if modes is None else modes,
        interfaces=list(own.interfaces if interfaces is None else interfaces),
    )
    mesh = mesh_of(given, scenario.path.parent)
    found, frequencies = reduced(given, mesh, chosen), np.empty((0, 2))
    if compared:
        few, every_node = found.system(), system_of(given, mesh)
        most = min(compared, 3 * len(found.nodes) - 6)
        columns = [
            natural_modes(one, one.state(x), most + 6).frequencies[6:]
            for one, x in ((every_node, mesh.points), (few, found.points))
        ]
        frequencies = np.column_stack(columns)
    return found, frequencies


def body_named(scenario: Scenario, name: str | None) -> Body:
    """Return the table of a body, the only one without a name.

    Raises
    ------
    ScenarioError
        If there is none, or no name is given and there are several.
    """
    tables = scenario.tables
    every = {item.name: item for item in tables.body}
    every |= {item.name: item.body_table for item in tables.flexible_body if isinstance(item, ReducedBodyTable)}
    if name is None and len(every) == 1:
        return next(iter(every.values()))
    if name not in every:
        given = "name a body" if name is None else f"there is no body '{name}'"
        raise ScenarioError(f"{scenario.path.name}: {given}; there are: {', '.join(every) or 'none'}.")
    return every[name]


def report_of(body: FlexibleBody, frequencies: Array) -> list[str]:
    """Return lines about a reduced body, and its natural frequencies as `reduce_body` finds them."""
    lines = [repr(body)]
    if len(body.frequencies):
        few = ", ".join(f"{f:.6g}" for f in body.frequencies[:6])
        lines.append(f"fixed-interface modes: {few}{', …' if len(body.frequencies) > 6 else ''} Hz")
    if len(frequencies):
        rows = [
            [str(k + 1), f"{whole:.6g}", f"{few:.6g}", f"{few / whole - 1.0:.1e}"]
            for k, (whole, few) in enumerate(frequencies)
        ]
        lines += ["", aligned(["free body", "whole (Hz)", "reduced (Hz)", "error"], rows, [True] * 4), ""]
    return lines
