"""The separate parts of a scenario: bodies, trusses and masses that ties, springs and the like join."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from symplex.base.sparse import sp
from symplex.errors import ScenarioError, SymplexError
from symplex.fem.energies.energy import IntArray
from symplex.meshes.mesh import Mesh
from symplex.scenario.methods import METHODS
from symplex.scenario.sampling import timeline
from symplex.scenario.start import Beginning, RotationStart, Start
from symplex.scenario.tables import Tables

if TYPE_CHECKING:
    from symplex.scenario.building import Built


def connected_parts(tables: Tables) -> list[set[str]]:
    """Return the names of what tables join, part by part."""
    from scipy.sparse.csgraph import connected_components  # with much of scipy, for what few scenarios need

    names = tables.names
    if not names:
        return []
    place = {name: k for k, name in enumerate(names)}
    together = [table.bodies_named for _, table in tables.entries() if table.joins]
    joined = [(bodies[0], other) for bodies in together for other in bodies]
    i, j = np.array([(place[one], place[other]) for one, other in joined], int).reshape(-1, 2).T
    count, labels = connected_components(
        sp.coo_array((np.ones(len(i)), (i, j)), shape=(len(names),) * 2), directed=False
    )
    return [{name for name, label in zip(names, labels, strict=True) if label == part} for part in range(count)]


def rotating_apart(
    tables: Tables, table: RotationStart, beginning: Beginning, build: Callable[[Tables], Built]
) -> Start:
    """Return the state in which each separate part is in steady rotation about its own centre of mass.

    Parameters
    ----------
    tables : Tables
    table : RotationStart
        Whose angular velocity or momentum each part has.
    beginning : Beginning
        Of the whole scenario; all that is rigid and has nodes of its own stays as it is there.
    build : callable
        Returns what tables describe.
    """
    q, v = beginning.q.copy(), beginning.v.copy()
    if not (parts := connected_parts(tables)):
        raise ScenarioError(
            'kind = "relative-equilibrium" is for bodies and trusses, which rotation stretches; rigid bodies begin '
            "with their own angular_velocity."
        )
    for names in parts:
        called = " and ".join(f"'{name}'" for name in tables.names if name in names)
        try:
            part = build(_only(tables, names))
            nodes = _nodes_of(beginning.mesh, part.mesh, names)
            # What moves steadily as a whole is the same in all that turns: its velocity is added afterwards.
            velocity = beginning.v[nodes].mean(axis=0)
            own = Beginning(beginning.folder, part.mesh, part.system, part.state.q, part.state.v - velocity)
            found = own.state(table)
        except SymplexError as error:
            raise ScenarioError(f"{called}: {error}") from error
        q[nodes], v[nodes] = found.q, found.v + velocity
    return Start(q, v)


def _only(tables: Tables, names: set[str]) -> Tables:
    """Return the tables of some bodies, trusses and masses, of what joins them, and of what acts on them."""
    step = min(leg.interval for leg in timeline(replace(tables, stage=[])).legs)
    # Nothing moves by it; that of the scenario may depend on what is left out here.
    integrator = METHODS["midpoint"](**{"kind": "midpoint", "dt": step})
    return replace(tables, **tables.within(names) | {"integrator": integrator})


def _nodes_of(whole: Mesh, part: Mesh, names: set[str]) -> IntArray:
    """Return the nodes of a part in the mesh of all: both have them in the same order."""
    nodes = np.unique(np.concatenate([whole.nodes_of(name) for name in names]))
    assert np.array_equal(whole.points[nodes], part.points), "the same tables give the same nodes"
    return nodes
