"""Reduced bodies: the key of a body, the table of those from files, and what both describe."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np

from symplex.base.quantities import ZERO, FilePath, Name, Quantity, Triple, vector
from symplex.base.sparse import sp
from symplex.contact.surfaces import Surface
from symplex.errors import OutputError, ScenarioError
from symplex.fem.couplings.interpolation import Interpolation
from symplex.fem.energies.energy import Array, IntArray
from symplex.fem.outputs.solid_fields import SolidFields
from symplex.fem.solids.constitutive import Material
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.structures.corotational import CorotationalEnergy
from symplex.fem.system import State, System
from symplex.meshes.mesh import Mesh, merge
from symplex.scenario.bodies import Body, ReducedTable, mesh_of
from symplex.scenario.parts import parts_of
from symplex.scenario.table import BodyTable, Need, Rotation, needs_of_mass
from symplex.time.modes.floating import FlexibleBody, flexible_body

if TYPE_CHECKING:
    from symplex.scenario.building import Builder
    from symplex.scenario.tables import Tables

_TENSOR = np.array([[0, 3, 5], [3, 1, 4], [5, 4, 2]])  # of the components xx, yy, zz, xy, yz, xz
_PARTS = [0, 4, 8, 1, 5, 2]


class FlexibleBodyTable(BodyTable):
    """A reduced body from a file that `symplex reduce` has written: few coordinates, for small deformations.

    Couplings and supports hold its interfaces; it may have contact, loads and probes at any of its nodes. It takes
    implicit integrators ([reduced.md](../reduced.md)).
    """

    mass: ClassVar[Literal["consistent"]] = "consistent"
    name: Annotated[Name, "Names its energy in the history and its block in ParaView."]
    file: Annotated[FilePath, "NAME.npz."]
    rotate: Annotated[Rotation | None, "About its origin."] = None
    translate: Annotated[Triple, vector("m"), "After rotating."] = ZERO
    velocity: Annotated[Triple, vector("m/s"), "At the start."] = ZERO
    angular_velocity: Annotated[
        Triple, vector("rad/s"), "At the start, about the centre of mass, added to `velocity`."
    ] = ZERO

    def needs(self) -> Iterable[Need]:
        """A consistent mass."""
        for need in needs_of_mass(self.mass):
            yield need._replace(message="reduced bodies need an implicit integrator, not {method}.")

    def reduced_body(self, folder: Path) -> FlexibleBody:
        """Return it; files are looked for in a folder."""
        try:
            body = FlexibleBody.read(folder / self.file)
        except OutputError as error:
            raise ScenarioError(str(error)) from None
        turn = np.eye(3) if self.rotate is None else self.rotate.matrix
        return body.placed(turn, np.array(self.translate))

    def add_stiffness(self, world: Builder) -> None:
        """Add its energy."""
        world.add(self.name, world.inertia.flexible[self.name].energy)


class ReducedBodyTable(FlexibleBodyTable):
    """A body with the key ``reduced``."""

    body_table: ClassVar[Body]

    def named(self, what: Quantity) -> list[str]:
        """Return what the body names, as the file of its mesh."""
        return self.body_table.named(what)

    def reduced_body(self, folder: Path) -> FlexibleBody:
        """Return the body, reduced."""
        assert self.body_table.reduced is not None
        return reduced(self.body_table, mesh_of(self.body_table, folder), self.body_table.reduced)


def reduced(body: Body, mesh: Mesh, table: ReducedTable) -> FlexibleBody:
    """Return a body reduced as a table says, given its mesh."""
    if any(one.is_plastic or one.is_viscous or one.viscous for one in body.material_of_group.values()):
        raise ScenarioError("reduced is for elastic materials; leave out what flows or is viscous.")
    return flexible_body(mesh, system_of(body, mesh), table.interfaces, table.modes)


def system_of(body: Body, mesh: Mesh) -> System:
    """Return the system of a body alone, given its mesh."""
    parts, n = parts_of(body, merge({body.name: mesh})), len(mesh.points)
    if body.mass == "consistent":
        mass = sum((part.consistent_mass(mesh.points, n) for part in parts), sp.csr_array((n, n)))
    else:
        mass = np.sum([part.lumped_mass(mesh.points, n) for part in parts], axis=0)
    return System(mass, {part.name: part.solid(mesh.points) for part in parts})


def with_reduced_bodies(tables: Tables) -> Tables:
    """Return tables in which bodies that are reduced are so."""
    found = [_table_of(body) for body in tables.body if body.reduced is not None]
    bodies = [body for body in tables.body if body.reduced is None]
    return replace(tables, body=bodies, flexible_body=[*tables.flexible_body, *found]) if found else tables


def _table_of(body: Body) -> ReducedBodyTable:
    table = ReducedBodyTable(name="reduced", file="reduced.npz")
    moving = {key: value for key in ("velocity", "angular_velocity") if any(value := getattr(body, key))}
    return table.replaced(name=body.name, body_table=body, here=body.here, **moving)


def mesh_of_nodes(body: FlexibleBody) -> Mesh:
    """Return the mesh of the nodes of a reduced body, with its interfaces as groups."""
    nodes = np.arange(len(body.nodes), dtype=np.int32)
    return Mesh(body.points, {"vertex": nodes[:, None]}, point_groups=dict(body.interfaces))


def skin_of(body: FlexibleBody) -> tuple[sp.csr_array, IntArray, IntArray]:
    """Return weights [p, k] of points of its surface, triangles, and which points are drawn: all."""
    surface = Surface.of(body.mesh)
    used = surface.vertices
    triangles = np.searchsorted(used, surface.triangles).astype(np.int32)
    return sp.csr_array(body.functions[used]), triangles, np.arange(len(used), dtype=np.int32)


@dataclass(frozen=True, eq=False)
class Flexible:
    """A reduced body in the mesh of all bodies.

    Attributes
    ----------
    table : FlexibleBodyTable
    body : FlexibleBody
    first : int
        The first of its nodes.
    """

    table: FlexibleBodyTable
    body: FlexibleBody
    first: int

    @cached_property
    def nodes(self) -> IntArray:
        """Its nodes [k] in the mesh of all bodies."""
        return np.arange(self.first, self.first + len(self.body.nodes), dtype=np.int32)

    @cached_property
    def energy(self) -> CorotationalEnergy:
        """Its energy."""
        return self.body.energy(self.nodes)

    def follow(self, n_nodes: int) -> Interpolation:
        """Return how the nodes of its own mesh follow all nodes."""
        functions = sp.csr_array(self.body.functions)
        shape = (len(self.body.mesh.points), n_nodes)
        return Interpolation(sp.csr_array((functions.data, functions.indices + self.first, functions.indptr), shape))

    def consistent_mass(self, points: Array, n_nodes: int) -> sp.csr_array:
        """Return its mass matrix [n_nodes, n_nodes] in kg."""
        rows, columns = (np.tile(self.nodes, (len(self.nodes), 1)).T, np.tile(self.nodes, (len(self.nodes), 1)))
        return sp.csr_array((self.body.mass.ravel(), (rows.ravel(), columns.ravel())), shape=(n_nodes, n_nodes))

    def masses(self, n_nodes: int) -> Array:
        """Return the sums [n_nodes] in kg of the rows of its mass matrix."""
        mass = np.zeros(n_nodes)
        mass[self.nodes] = self.body.mass.sum(axis=1)
        return mass

    @property
    def contact_material(self) -> Material:
        """A material that says how stiff contact must be."""
        if not self.body.moduli:
            raise ScenarioError(f"'{self.table.name}' has no isotropic material, which contact needs.")
        moduli = np.concatenate(list(self.body.moduli.values()))
        young, poisson, density = (float(x) for x in moduli[np.argmin(moduli[:, 0])])
        return NeoHookean.from_young(young, poisson, density)

    @cached_property
    def _fields(self) -> tuple[System, SolidFields] | None:
        solids = self.body.solids()
        if not solids:
            return None
        system = System(np.ones(len(self.body.mesh.points)), solids)
        return system, SolidFields(system)

    def field(self, name: str, state: State) -> Array | None:
        """Return a field of its elements, of linear stresses and strains."""
        if self._fields is None:
            return None
        system, fields = self._fields
        u = self.body.functions @ self.energy.displacements(state.q[self.nodes])
        own = system.state(self.body.mesh.points + u)
        found = {key: fields.of_elements(name, own, key) for key in system.energies}
        parts = []
        for kind, moduli in self.body.moduli.items():
            every, of = np.unique(moduli, axis=0, return_inverse=True)
            values = [found[f"{kind} {k}"] for k in range(len(every))]
            out = np.empty((len(moduli), *values[0].shape[1:]))
            for k, one in enumerate(values):
                out[of.ravel() == k] = one
            parts.append(out)
        values = np.concatenate(parts)
        if values.ndim == 1 or values.shape[1] != 6:
            return values
        R, tensors = self.energy.rotation(state.q[self.nodes]), values[:, _TENSOR]
        return (R @ tensors @ R.T).reshape(-1, 9)[:, _PARTS]

    def nodes_in(self, group: str | None) -> IntArray:
        """Return the nodes of a group of its own mesh, or all."""
        mesh = self.body.mesh
        if group is None:
            return np.arange(len(mesh.points), dtype=np.int32)
        self._require(group)
        return mesh.nodes_of(group)

    def faces_in(self, group: str | None) -> dict[str, IntArray]:
        """Return the faces of a group of its own mesh."""
        if group is None:
            raise ScenarioError("group is required, of faces, elements or points.")
        self._require(group)
        return dict(self.body.mesh.faces_of(group))

    def _require(self, group: str) -> None:
        groups = self.body.mesh.groups
        if group not in groups:
            raise ScenarioError(
                f"group '{group}' is not in '{self.table.name}'; it has: {', '.join(groups) or 'none'}."
            )
