"""The table of cyclic symmetry: a body is one sector of a structure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import numpy as np

from symplex.base.quantities import ZERO, Name, Text, Triple, nonzero, positive, vector, whole
from symplex.contact.surfaces import Surface
from symplex.errors import MeshError, ScenarioError
from symplex.fem.couplings.cyclic import MOST_SECTORS, CyclicSymmetry
from symplex.fem.energies.energy import Array
from symplex.meshes.mesh import Mesh
from symplex.scenario.equations import stiffness_of
from symplex.scenario.selections import group_in
from symplex.scenario.table import BodyName, Entry

if TYPE_CHECKING:
    from symplex.scenario.building import Builder


class CyclicTable(Entry):
    """Cyclic symmetry: a body is one of equal sectors about an axis, which all move alike.

    The nodes of its high side follow the low side, rotated by the angle of a sector, by a penalty
    ([modes.md](../modes.md#cyclic-symmetry)). Masses, forces and energies are those of one sector. Tables of several
    bodies have the same axis and number of sectors.
    """

    adds_energy = True
    name: Annotated[Name, "Names the energy of the equations."]
    body: BodyName
    low: Annotated[Text, "Group of nodes or faces of one side."]
    high: Annotated[Text, "Group of nodes or faces of the other side, whose nodes follow."]
    sectors: Annotated[int, whole(2, MOST_SECTORS), "How many sectors the structure has."]
    axis: Annotated[Triple, nonzero(), "Direction of the axis."]
    point: Annotated[Triple, vector("m"), "Point of the axis."] = ZERO
    tolerance: Annotated[
        float | None, positive("m"), "Largest gap between both sides, by default 1e-6 of their size."
    ] = None
    stiffness: Annotated[
        float | None, positive("N/m of each node"), "By default 1000 E h, as of a `[[constraint]]`."
    ] = None

    def symmetry(self, mesh: Mesh, points: Array) -> CyclicSymmetry:
        """Return the symmetry of the groups of a mesh, of all nodes at points [n, 3] in m at the start."""
        low, high = (group_in(mesh, self.body, group) for group in (self.low, self.high))
        try:
            triangles = Surface.of(mesh, low).triangles
        except MeshError:
            triangles = None  # a group without faces: then nodes must be at the same places
        sides = mesh.nodes_of(low), mesh.nodes_of(high)
        if triangles is not None and not np.isin(triangles, sides[0]).all():
            triangles = None
        of = {"axis": self.axis, "point": self.point, "tolerance": self.tolerance}
        return CyclicSymmetry(points, *sides, self.sectors, triangles=triangles, **of)

    def add_stiffness(self, world: Builder) -> None:
        """Add the energy of the equations."""
        stiffness = self.stiffness
        if stiffness is None:
            stiffness = stiffness_of(world.mesh, {self.body: world.inertia.young[self.body]})
        symmetry = self.symmetry(world.mesh, world.inertia.positions())
        world.add(self.name, symmetry.constraints(stiffness))


def whole_symmetry(tables: Sequence[CyclicTable], mesh: Mesh, points: Array) -> CyclicSymmetry:
    """Return the symmetry of all bodies of a sector."""
    first, found = tables[0], [table.symmetry(mesh, points) for table in tables]
    odd = [one for one in tables if (one.sectors, one.axis, one.point) != (first.sectors, first.axis, first.point)]
    if odd:
        raise ScenarioError(
            f"[[cyclic]] '{odd[0].name}' has another axis, point or number of sectors than '{first.name}'; a structure "
            "has one."
        )
    if len(found) == 1:
        return found[0]
    low, high = (np.concatenate([getattr(one, name) for one in found]) for name in ("low", "nodes"))
    faces = [one.triangles for one in found if one.triangles is not None]
    triangles = np.concatenate(faces) if len(faces) == len(found) else None
    near = [table.tolerance for table in tables if table.tolerance is not None]
    of = {"axis": first.axis, "point": first.point, "tolerance": max(near) if near else None}
    return CyclicSymmetry(points, low, high, first.sectors, triangles=triangles, **of)
