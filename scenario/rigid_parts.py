"""Bodies that are rigid, and rigid parts of others: frames, like rigid bodies, with the mesh and mass of a body."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from symplex.base.quantities import ZERO, Quantity
from symplex.base.sparse import sp
from symplex.contact.rigid_body import RigidBody
from symplex.contact.surfaces import Surface
from symplex.errors import MeshError, ScenarioError
from symplex.fem.couplings.interpolation import Interpolation
from symplex.fem.energies.energy import IntArray
from symplex.fem.mass_properties import MassProperties
from symplex.fem.measures.bars import Bars
from symplex.fem.measures.pair_laws import EngineeringStrain
from symplex.meshes.joining import nearest_nodes
from symplex.meshes.mesh import Mesh
from symplex.scenario.bodies import Body, elements_of, mesh_of
from symplex.scenario.equations import stiffness_of
from symplex.scenario.rigid import RigidBodyTable, ShapeTable
from symplex.scenario.tables import Tables

if TYPE_CHECKING:
    from symplex.scenario.building import Builder

_SAME = 1e-9  # of the size of a body: how near to each other nodes of both are
_EXPLICIT = 0.01  # of the stiffness of constraints, 1000 E h: what explicit steps bear, as ties have it


class RigidPart(RigidBodyTable):
    """A body that is rigid, or the rigid part of one, whose other elements hold on to it by the nodes of both.

    They do by the energy ½ k |x − Σ w_a x_a|² of each node, with the point that follows the frame; k is 1000 E h, or
    10 E h where a stage is explicit. A force f leaves f/k.
    """

    body_table: ClassVar[Body]
    group: ClassVar[str | None]  # pyright: ignore[reportIncompatibleVariableOverride]

    @property
    def energies(self) -> list[str]:
        """That of the nodes that hold on to it."""
        return [f"{self.name}_tie"] if self.group is not None else []

    def named(self, what: Quantity) -> list[str]:
        """Return what the body names too, as the file of its mesh."""
        return [*super().named(what), *self.body_table.named(what)]

    def body(self, folder: Path) -> RigidBody:
        """Return it where it is at the start, with the mass of its materials."""
        whole = mesh_of(self.body_table.replaced(rigid=None), folder)
        mesh = elements_of(whole, self.group, f"body '{self.body_table.name}'")
        self._require_connected(mesh)
        surface = Surface.of(mesh)
        used = surface.vertices
        triangles = np.searchsorted(used, surface.triangles).astype(np.int32)
        return RigidBody(Mesh(mesh.points[used], {"triangle": triangles}), self._properties(mesh))

    def _require_connected(self, mesh: Mesh) -> None:
        if len(Surface.of(mesh).names) > 1:
            raise MeshError(
                f"rigid: {len(Surface.of(mesh).names)} parts of '{self.name}' are not connected; each rigid part "
                "is one. Make them separate groups, or bodies."
            )

    def _properties(self, mesh: Mesh) -> MassProperties:
        """Return mass, centre and inertia of all materials together."""
        found = []
        for group, material in self.body_table.material_of_group.items():
            if group is None or any(map(len, mesh.cell_groups.get(group, {}).values())):
                part = mesh if group is None else elements_of(mesh, group, self.name)
                found.append(MassProperties.of_surface(part.points, Surface.of(part).triangles, material.density))
        mass = sum(one.mass for one in found)
        center = sum(one.mass * one.center for one in found) / mass
        inertia = np.zeros((3, 3))
        for one in found:
            d = one.center - center
            inertia += one.inertia + one.mass * (d @ d * np.eye(3) - np.outer(d, d))
        return MassProperties(mass, center, inertia)

    def add_stiffness(self, world: Builder) -> None:
        """Add what holds other elements of the body to it."""
        if self.group is None:
            return
        rigid, of = world.rigid_sets, self.body_table.name
        bodies = rigid.bodies
        assert bodies is not None, "it is one of them"
        nodes, surface = world.mesh.nodes_of(of), bodies.bodies[self.name].mesh.points
        held = self._interface(world.mesh.points, nodes, surface)
        particles, properties = rigid.rigid_sets[self.name].nodes, rigid.rigid_sets[self.name].properties
        assert properties is not None, "it has four particles"
        weights = properties.weights(world.mesh.points[held])
        m, n = len(held), rigid.n_nodes
        rows = np.concatenate([np.arange(m), np.repeat(np.arange(m, 2 * m), 4)])
        columns = np.concatenate([held, np.tile(particles, m)])
        values = np.concatenate([np.ones(m), weights.ravel()])
        following = Interpolation(sp.csr_array((values, (rows, columns)), shape=(2 * m, n)))
        pairs = np.column_stack([np.arange(m), np.arange(m, 2 * m)])
        stiffness = stiffness_of(world.mesh, {of: world.inertia.young[of]})
        if any(one.bare().needs <= {"gradient"} and one.kind != "static" for one in world.tables.integrators):
            stiffness *= _EXPLICIT
        world.add(self.energies[0], following.of(Bars(pairs, EngineeringStrain(stiffness, 0.0))))

    def _interface(self, points: np.ndarray, nodes: IntArray, surface: np.ndarray) -> IntArray:
        """Return the nodes of the body that are at the places of those of its rigid part."""
        every = np.concatenate([points, surface])
        others = np.arange(len(points), len(every), dtype=np.int32)
        away = nearest_nodes(every, nodes, others)[1]
        held = nodes[away <= _SAME * float(np.ptp(surface, axis=0).max())]
        if not len(held):
            raise ScenarioError(
                f"rigid: group '{self.group}' shares no node with the rest of '{self.body_table.name}'; make it a body."
            )
        return held


def with_rigid_parts(tables: Tables) -> Tables:
    """Return tables in which bodies that are rigid, and rigid parts, are rigid bodies."""
    rigid = [_part(body) for body in tables.body if body.rigid is not None]
    bodies = [body for body in tables.body if body.rigid is not True]
    return replace(tables, body=bodies, rigid_body=[*tables.rigid_body, *rigid]) if rigid else tables


def _part(body: Body) -> RigidPart:
    """Return the rigid body that a body, or a part of it, is."""
    group = body.rigid if isinstance(body.rigid, str) else None
    name = body.name if group is None else f"{body.name}.{group}"
    table = RigidPart(name="rigid", mesh=ShapeTable(sphere=1.0), density=1.0)
    turning = {"angular_velocity": body.angular_velocity} if any(body.angular_velocity or ZERO) else {}
    return table.replaced(name=name, velocity=body.velocity, body_table=body, group=group, here=body.here, **turning)
