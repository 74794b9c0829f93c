"""The table of pretension sections: a body is cut, and the two sides are drawn together, as in a bolt."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import numpy as np

from symplex.base.quantities import Name, Text, Triple, nonzero, positive, vector
from symplex.base.sparse import sp
from symplex.errors import ScenarioError
from symplex.fem.assembly.directions import unit_vector
from symplex.fem.couplings.equations import LinearConstraints
from symplex.fem.energies.energy import IntArray
from symplex.meshes.cutting import cut_by_faces, cut_by_plane
from symplex.meshes.joining import nearest_nodes
from symplex.meshes.mesh import Mesh
from symplex.scenario.equations import stiffness_of
from symplex.scenario.table import BODY, Entry, one_of

if TYPE_CHECKING:
    from symplex.scenario.building import Builder


class PretensionTable(Entry):
    """Bolt preload: a body is cut, and its two sides are drawn together by s along the normal n of the cut.

    The displacement of ``node``, a ``[[point_mass]]`` of small mass, along x is s: a ``[[load]]`` on it is the force
    across the cut, positive in tension, a moving ``[[support]]`` the shortening, and one that acts ``from`` a later
    time locks the bolt ([how](../stages.md#bolt-preload)).
    """

    adds_energy = True
    joins = True
    name: Annotated[Name, "Names the energy of the equations, and the groups NAME_back and NAME_front of the body."]
    body: Annotated[str, BODY, "Body that is cut."]
    node: Annotated[str, BODY, "Point mass at its own position whose displacement along x is s; y and z are held."]
    normal: Annotated[Triple, nonzero(), "n, in either direction."]
    point: Annotated[
        Triple | None,
        vector("m"),
        "The cut is between the elements whose centres are on one side and on the other of the plane across n here.",
    ] = None
    elements: Annotated[Text | None, "Group of elements that the plane cuts; by default all that it meets."] = None
    group: Annotated[
        Text | None, "Instead of the plane: group of faces, or nodes, within the body, to whose surface it reaches."
    ] = None
    stiffness: Annotated[
        float | None, positive("N/m of each equation"), "By default 1000 E h, as of a `[[constraint]]`."
    ] = None

    def _check(self) -> None:
        if one_of(self, ["point", "group"], "place of the cut") == "group":
            self.refuse_unused("elements", goes_with="point, the plane across which they are cut")
        if self.body == self.node:
            raise ValueError("needs a node of its own: name a [[point_mass]] with a position")

    @property
    def _sides(self) -> tuple[str, str]:
        """The names of the groups of nodes on both sides."""
        return f"{self.name}_back", f"{self.name}_front"

    def cut(self, mesh: Mesh) -> Mesh:
        """Return the mesh of the body cut, with the nodes on both sides as groups."""
        taken = [name for name in self._sides if name in mesh.groups]
        if taken:
            raise ScenarioError(f"'{self.body}' has a group '{taken[0]}' already; give the section another name.")
        if self.group is None:
            cut = cut_by_plane(mesh, self.point or (), self.normal, self.elements)
        elif self.group in mesh.groups:
            cut = cut_by_faces(mesh, mesh.nodes_of(self.group), self.normal)
        else:
            known = ", ".join(mesh.groups) or "none"
            raise ScenarioError(f"body '{self.body}' has no group '{self.group}'; it has: {known}.")
        return replace(cut.mesh, point_groups={**cut.mesh.point_groups, **dict(zip(self._sides, cut[1:], strict=True))})

    def add_stiffness(self, world: Builder) -> None:
        """Add the energy of the equations."""
        world.add(self.name, self._equations(world))

    def _equations(self, world: Builder) -> LinearConstraints:
        """Return u_front − u_back + s n = 0 for each pair of nodes, and that the node stays on its line."""
        tables, mesh = world.tables, world.mesh
        if self.node not in [table.name for table in tables.point_mass if table.has_nodes]:
            raise ScenarioError(f"node '{self.node}' is no [[point_mass]] with a position; add one, and name it here.")
        others = [table.name for table in tables.pretension if table.node == self.node and table is not self]
        if others:
            raise ScenarioError(f"'{others[0]}' has the node '{self.node}' too; each section needs one of its own.")
        touching = [table.name for table in tables.contact if (self.body, self.body) in table.pairs(tables.touching)]
        if touching:
            raise ScenarioError(
                f"'{self.body}' may touch itself, by [[contact]] '{touching[0]}', and the sides of the cut would; "
                "leave self out there."
            )
        (node,) = mesh.nodes_of(self.node)
        back, front = self._pairs(mesh)
        back, front = back.astype(np.int64), front.astype(np.int64)
        p, n = len(back), unit_vector(np.array(self.normal))
        rows, axes, ones = np.arange(3 * p), np.tile(np.arange(3), p), np.ones(3 * p)
        entries = [
            (ones, rows, 3 * np.repeat(front, 3) + axes),
            (-ones, rows, 3 * np.repeat(back, 3) + axes),
            (np.tile(n, p), rows, np.full(3 * p, 3 * node)),
            (np.ones(2), [3 * p, 3 * p + 1], [3 * node + 1, 3 * node + 2]),
        ]
        factors, at, columns = (np.concatenate([entry[k] for entry in entries]) for k in range(3))
        matrix = sp.csr_array((factors, (at, columns)), shape=(3 * p + 2, 3 * len(mesh.points)))
        stiffness = self.stiffness
        if stiffness is None:
            stiffness = stiffness_of(mesh, {self.body: world.inertia.young[self.body]})
        return LinearConstraints(mesh.points, matrix, stiffness=stiffness)

    def _pairs(self, mesh: Mesh) -> tuple[IntArray, IntArray]:
        """Return the nodes [p] of both sides in the mesh of all bodies, at the same places."""
        back, front = (mesh.nodes_of(f"{self.body}.{side}") for side in self._sides)
        if len(np.intersect1d(back, front)) or len(back) != len(front):
            raise ScenarioError("a [[tie]] makes nodes of both sides of the cut one; cut at another place.")
        nearest, away = nearest_nodes(mesh.points, back, front)
        if away.any() or len(np.unique(nearest)) < len(front):
            raise ScenarioError("a [[tie]] moves nodes on the cut; cut at another place.")
        return back, nearest
