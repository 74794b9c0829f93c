"""What tables of springs, point masses, velocities and ties have in common: which nodes are meant."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from symplex.base.quantities import Text, Triple, listed, shown, vector
from symplex.errors import ScenarioError
from symplex.fem.energies.energy import Array, IntArray
from symplex.meshes.joining import nearest_nodes
from symplex.meshes.mesh import Mesh
from symplex.scenario.table import BodyName, Table

_NEAR = 1e-6  # of the size of a body: how near to a given point its node must be


class Nodes(Table):
    """Nodes of a body: of one of its groups, the one at a point, or all."""

    body: BodyName
    group: Annotated[Text | None, "Group of nodes; by default all."] = None
    at: Annotated[Triple | None, vector("m"), "Place of a node, instead of a group."] = None

    def _check_nodes(self) -> None:
        if self.group is not None and self.at is not None:
            raise ValueError("has group and at; give the name of a group, or the place of one node")


def nodes_named(body: str, group: str | None = None, at: Triple | None = None) -> Nodes:
    """Return the nodes of a body that keys of another table name."""
    return Nodes(body=body, group=group, at=at)


def group_in(mesh: Mesh, body: str, group: str | None) -> str:
    """Return the name of a body's group in the mesh of all bodies."""
    if group is None:
        return body
    name = f"{body}.{group}"
    if name not in mesh.groups:
        prefix = f"{body}."
        known = listed(g.removeprefix(prefix) for g in mesh.groups if g.startswith(prefix))
        raise ScenarioError(f"body '{body}' has no group {shown(group)}; it has: {known}.")
    return name


def nodes_in(mesh: Mesh, selection: Nodes) -> IntArray:
    """Return the nodes [m] that are meant, sorted."""
    nodes = mesh.nodes_of(group_in(mesh, selection.body, selection.group))
    if selection.at is None:
        return nodes
    return nodes[[node_at(mesh.points[nodes], selection.body, selection.at)]]


def node_at(points: Array, body: str, at: Triple) -> int:
    """Return which of the nodes of a body at points [n, 3] in m is at a place."""
    every, n = np.concatenate([points, [at]]), len(points)
    (node,), (away,) = nearest_nodes(every, np.array([n]), np.arange(n))
    if away > _NEAR * size_of(points, at):
        where = ", ".join(f"{x:.6g}" for x in points[node])
        raise ScenarioError(
            f"body '{body}' has no node at {list(at)} m; the nearest is {away:.3g} m from there, at ({where}) m."
        )
    return int(node)


def size_of(points: Array, at: Triple = (0.0, 0.0, 0.0)) -> float:
    """Return the size in m of a body; of a single point its distance from the origin, or from a place."""
    size = float(np.ptp(points, axis=0).max())
    return size or float(np.abs([*points[0], *at]).max())
