"""The parts of a body: elements of one type and one material, each with its own strain energy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from symplex.base.sparse import sp
from symplex.contact.massless import mass_moved_inward
from symplex.errors import MeshError
from symplex.fem.actions.mass import consistent_mass, lumped_mass
from symplex.fem.actions.mass_scaling import ScaledMass
from symplex.fem.energies.energy import Array, IntArray
from symplex.fem.solids.elements import SOLIDS
from symplex.fem.solids.solid import Formulation, Solid
from symplex.meshes.mesh import Mesh, rows_among
from symplex.scenario.materials import MaterialTable
from symplex.scenario.selections import group_in
from symplex.scenario.temperatures import thermal_strain

_AVERAGED = (5, 6, 8)  # nodes of elements that lock where a metal flows, unless their dilatation is its mean

if TYPE_CHECKING:
    from symplex.scenario.bodies import Body


class Part(NamedTuple):
    """Elements of one type and one material of a body.

    Attributes
    ----------
    name : str
        Of its energy: the body's if it has one part only, else ``BODY.PART``, after the group of the material, or the
        type of the elements, or both.
    cells : int32 [m, k]
        In the mesh of all bodies.
    material : MaterialTable
    formulation : str, optional
        That of its elements; default: the one of their type.
    scaling : ScaledMass, optional
        Its masses, where some elements have more than their own.
    """

    name: str
    cells: IntArray
    material: MaterialTable
    formulation: Formulation | None = None
    scaling: ScaledMass | None = None

    def solid(self, points: Array, change: Array | None = None) -> Solid:
        """Return its strain energy; of the whole mesh the points [n, 3] in m are given, and ΔT [n] in K if there is."""
        formulation = self.formulation
        if formulation is None and self.material.is_plastic and self.cells.shape[1] in _AVERAGED:
            formulation = "mean-dilatation"
        strain = thermal_strain(self.material.expansion, change)
        material = self.material.material()
        return Solid(points, self.cells, material, formulation=formulation, thermal_strain=strain)

    def within(self, mesh: Mesh, group: str) -> Part:
        """Return the part of it that is in a group of elements of the mesh of all bodies."""
        kind = next(element.kind for element in SOLIDS if element.n_nodes == self.cells.shape[1])
        members = mesh.cell_groups.get(group, {}).get(kind, np.empty(0, np.int32))
        chosen = mesh.cells[kind][members]
        rows, scaling = rows_among(self.cells, chosen), self.scaling
        if scaling is not None:
            scaling = ScaledMass(scaling.cells[rows], scaling.shares[rows], scaling.factors[rows])
        return self._replace(cells=self.cells[rows], scaling=scaling)

    def lumped_mass(self, points: Array, n_nodes: int) -> Array:
        """Return its lumped nodal masses [n_nodes] in kg."""
        if self.scaling is not None:
            return self.scaling.masses(n_nodes)
        return lumped_mass(points, self.cells, self.material.density, n_nodes)

    def consistent_mass(self, points: Array, n_nodes: int) -> sp.csr_array:
        """Return its consistent mass matrix [n_nodes, n_nodes] in kg."""
        return consistent_mass(points, self.cells, self.material.density, n_nodes)


# The types of elements that formulations are for, of those that are for one type.
_ONLY_OF = {"stabilized": "hexahedron", "reduced": "hexahedron20"}


def parts_of(body: Body, mesh: Mesh) -> list[Part]:
    """Return the parts of a body, given the mesh of all bodies, in which it is a group."""
    found: list[tuple[tuple[str, ...], IntArray, MaterialTable, Formulation | None]] = []
    for group, material in body.material_of_group.items():
        whole = body.name if group is None else f"{body.name}.{group}"
        members = mesh.cell_groups.get(whole, {})  # none, where all of them are rigid
        kinds = [element.kind for element in SOLIDS if len(members.get(element.kind, ()))]
        for kind in kinds:
            words = (group,) if group is not None else ()
            words += (kind,) if len(kinds) > 1 else ()
            formulation = body.solid_formulation
            if len(kinds) > 1 and kind != _ONLY_OF.get(formulation or "", kind):
                formulation = None  # which others of the body have
            found.append((words, mesh.cells_of(kind, whole), material, formulation))
    if len(found) == 1:
        return [Part(body.name, *found[0][1:])]
    return [
        Part(".".join([body.name, *words]), cells, material, formulation)
        for words, cells, material, formulation in found
    ]


def massless_nodes(body: Body, mesh: Mesh) -> IntArray:
    """Return the nodes of a body, a group of the mesh of all, that are to have no mass."""
    if body.massless is None:
        return np.empty(0, np.int32)
    return mesh.nodes_of(group_in(mesh, body.name, body.massless))


def moved_inward(mass: Array | sp.csr_array, body: Body, parts: Sequence[Part], mesh: Mesh) -> Array | sp.csr_array:
    """Return nodal masses [n] in kg, or a matrix, with that of the massless nodes of a body at those behind them."""
    nodes = massless_nodes(body, mesh)
    if not len(nodes):
        return mass
    if len({part.cells.shape[1] for part in parts}) > 1:
        raise MeshError("massless nodes must be of elements of one type.")
    cells = np.concatenate([part.cells for part in parts])
    n = mass.shape[0]  # pyright: ignore[reportOptionalSubscript]
    points = np.concatenate([mesh.points, np.zeros((n - len(mesh.points), 3))])
    return mass_moved_inward(mass, points, cells, nodes)
