"""The table of ties between bodies, and what it describes: nodes that are one, or that are held on a surface."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np

from symplex.base.quantities import Name, Text, positive
from symplex.contact.surfaces import Surface
from symplex.errors import ScenarioError
from symplex.fem.couplings.interpolation import InterpolatedEnergy
from symplex.fem.couplings.ties import feet, tie_to_surface
from symplex.fem.energies.energy import Array, IntArray
from symplex.meshes.joining import nearest_nodes
from symplex.meshes.mesh import Mesh
from symplex.scenario.selections import group_in, nodes_in, nodes_named, size_of
from symplex.scenario.table import BodyName, Entry

if TYPE_CHECKING:
    from symplex.scenario.building import Builder

_STIFF = 10.0  # of a tie, as a multiple of E h
_MOST_MOVED = 0.5  # of the shortest edge at a node: how far a tie may move it
_NEAR = 1e-6  # of the size of the body: how far nodes that are one may be from each other by default


class TieTable(Entry):
    """Tied contact: nodes of a body that are those of another one, or are fixed to its surface.

    Tie the finer mesh to the coarser one. Tied nodes must start with one velocity. Faces whose nodes are tied are no
    surface any more, and bodies that share nodes cannot be in contact with each other.
    """

    joins = True
    name: Annotated[Name | None, 'Of kind `"surface"`: names its energy.'] = None
    kind: Annotated[
        Literal["nodes", "surface"],
        'Nodes at the same place become one; or `"surface"`: nodes are fixed to the surface of `to` by ½ k |x − '
        "Σ N_a x_a|², which conserves both momenta.",
    ] = "nodes"
    body: BodyName
    group: Annotated[Text | None, "Nodes, each of which is tied; by default those that are near enough."] = None
    to: Annotated[BodyName, "Body to which they are tied."]
    to_group: Annotated[Text | None, "Group of that; by default the whole body."] = None
    tolerance: Annotated[
        float | None,
        positive("m"),
        "Largest gap, by default 1e-6 of the size. Gaps are closed by moving nodes, by at most half the shortest "
        "edge there.",
    ] = None
    stiffness: Annotated[
        float | None,
        positive("N/m of each node"),
        'Of kind `"surface"`: k, by default 10 E h, with Young\'s modulus E and the mean edge h of the surface of '
        "`to`.",
    ] = None

    def _check(self) -> None:
        if self.body == self.to:
            raise ValueError(f"ties '{self.body}' to itself; name two bodies")
        if self.kind == "nodes":
            if self.stiffness is not None:
                raise ValueError('stiffness goes with kind = "surface"; nodes that are one need none')
            return
        if self.name is None:
            raise ValueError('of kind "surface" needs a name, for the column of its energy')

    @property
    def energies(self) -> list[str]:
        """That of a surface."""
        return [str(self.name)] if self.kind == "surface" else []

    def add_stiffness(self, world: Builder) -> None:
        """Add the energy that holds nodes on a surface."""
        if self.kind == "surface":
            nodes, triangles = world.on_surface[str(self.name)]
            young = world.inertia.young[self.to]
            world.add(str(self.name), surface_tie(self, world.inertia.positions(), young, nodes, triangles))

    def tolerance_in(self, mesh: Mesh) -> float:
        """Return how far in m a node may be from where it is tied to."""
        if self.tolerance is not None:
            return self.tolerance
        return _NEAR * max(size_of(mesh.points[mesh.nodes_of(name)]) for name in (self.body, self.to))


def tied_pairs(table: TieTable, mesh: Mesh) -> tuple[IntArray, str]:
    """Return the pairs [p, 2] of nodes that a tie makes one, in the mesh of all bodies, and what to say of gaps.

    Of a group each node must have another one; of a body without a group those are tied that have.
    """
    nodes = nodes_in(mesh, nodes_named(table.body, table.group))
    others = nodes_in(mesh, nodes_named(table.to, table.to_group))
    nearest, away = nearest_nodes(mesh.points, nodes, others)
    near = away <= table.tolerance_in(mesh)
    if not (near.all() if table.group is not None else near.any()):
        k = int(np.argmax(away) if table.group is not None else np.argmin(away))
        raise ScenarioError(f"{_far(table, mesh, nodes[k], away[k], int((~near).sum()), len(nodes))}")
    return np.column_stack([nodes[near], nearest[near]]), gap_closed(table, mesh, nodes[near], away[near])


def _far(table: TieTable, mesh: Mesh, node: int, away: float, far: int, total: int) -> str:
    at = ", ".join(f"{x:.6g}" for x in mesh.points[node])
    whose = f"group '{table.group}' of '{table.body}'" if table.group is not None else f"'{table.body}'"
    what = "node" if table.kind == "nodes" else "point of the surface"
    which = "farthest" if table.group is not None else "nearest"
    return (
        f"{far} of {total} nodes of {whose} have no {what} of '{table.to}' within {table.tolerance_in(mesh):.3g} m: "
        f"the {which}, at ({at}) m, is {away:.3g} m away. Move the body, give a larger tolerance, or another group."
    )


def on_surface(table: TieTable, mesh: Mesh) -> tuple[IntArray, IntArray, str]:
    """Return the nodes [m] that are held on the surface of another body, its triangles [f, 3], and what to say of gaps.

    Of a group all nodes must be near it; of a body without a group those are held that are.
    """
    triangles = Surface.of(mesh, group_in(mesh, table.to, table.to_group)).triangles
    every = nodes_in(mesh, nodes_named(table.body, table.group))
    nodes = np.setdiff1d(every, triangles).astype(np.int32)
    if not len(nodes):
        raise ScenarioError(f"all {len(every)} nodes that it names belong to the surface of '{table.to}' already.")
    away = feet(mesh.points, nodes, triangles).distances
    near = away <= table.tolerance_in(mesh)
    if not (near.all() if table.group is not None else near.any()):
        k = int(np.argmax(away) if table.group is not None else np.argmin(away))
        raise ScenarioError(_far(table, mesh, nodes[k], away[k], int((~near).sum()), len(near)))
    return nodes[near], triangles, gap_closed(table, mesh, nodes[near], away[near])


def drawn_to(mesh: Mesh, nodes: IntArray, triangles: IntArray) -> Mesh:
    """Return the mesh with nodes moved to the points of a surface that are nearest to them."""
    found = feet(mesh.points, nodes, triangles)
    points = mesh.points.copy()
    points[nodes] = np.einsum("ma,mai->mi", found.weights, mesh.points[found.triangles])
    return replace(mesh, points=points)


def gap_closed(table: TieTable, mesh: Mesh, nodes: IntArray, away: Array) -> str:
    """Return what to say of nodes [m] that a tie moves by distances [m] in m, empty if these are rounding."""
    if not (away > table.replaced(tolerance=None).tolerance_in(mesh)).any():
        return ""
    shortest = np.full(len(mesh.points), np.inf)
    for cells in (own for own in mesh.cells.values() if own.shape[1] > 1):
        rows = cells[np.isin(cells, nodes).any(axis=1)]
        for k in range(rows.shape[1]):
            others = np.delete(rows, k, axis=1)
            lengths = np.linalg.norm(mesh.points[others] - mesh.points[rows[:, k], None], axis=2)
            np.minimum.at(shortest, rows[:, k], lengths.min(axis=1))
    k = int(np.argmax(away / shortest[nodes]))
    if away[k] > _MOST_MOVED * shortest[nodes[k]]:
        raise ScenarioError(
            f"the gap to '{table.to}' must be at most {_MOST_MOVED:g} of the shortest edge there, "
            f"{shortest[nodes[k]]:.3g} m, got {away[k]:.3g} m: it is closed by moving nodes, which would spoil their "
            "elements. Move the body, or give a smaller tolerance."
        )
    return f"closes a gap of up to {away.max():.3g} m to '{table.to}', by moving nodes ({len(nodes):,} are tied)"


def surface_tie(
    table: TieTable, points: Array, young: float, nodes: IntArray, triangles: IntArray
) -> InterpolatedEnergy:
    """Return the energy that holds nodes on a surface; by default k = 10 E h, h the mean edge of the surface.

    Parameters
    ----------
    table : TieTable
    points : float64 [n, 3]
        Where all nodes are at the start, in m.
    young : float
        E in Pa, of the body that the surface is of.
    nodes, triangles
        As `on_surface` returns them.
    """
    corners = points[triangles]
    edge = float(np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).mean())
    stiffness = _STIFF * young * edge if table.stiffness is None else table.stiffness
    return tie_to_surface(points, nodes, triangles, stiffness)
