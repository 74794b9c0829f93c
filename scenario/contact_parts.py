"""The energies and frictions of contact: with obstacles, and between the surfaces of bodies."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from symplex.contact.friction import Friction
from symplex.contact.rigid import ObstacleContact
from symplex.errors import ScenarioError
from symplex.fem.couplings.interpolation import ChangingInterpolatedEnergy
from symplex.fem.energies.energy import IntArray
from symplex.fem.solids.plastic import solids_in
from symplex.scenario.contacts import ContactTable, SurfaceContact, Touching, body_contact, is_between, touching_body
from symplex.scenario.joined_parts import parts_by_body
from symplex.scenario.obstacles import ShapedTable

if TYPE_CHECKING:
    from symplex.scenario.building import Builder

_TOUCH = 1e-12  # depth that is rounding, not penetration, relative to the size of the bodies


class ContactParts:
    """Adds the contact that tables describe, as energies and loads.

    Parameters
    ----------
    world : Builder
    on_surface : int32 [m]
        The nodes that obstacles may touch.
    """

    def __init__(self, world: Builder, on_surface: IntArray):
        self._world, self._tables, self._mesh, self._rigid_sets = world, world.tables, world.mesh, world.rigid_sets
        self._on_surface = on_surface
        self._points = world.rigid_sets.points(world.inertia.positions())

    def add_obstacle(self, table: ShapedTable) -> None:
        """Add the contact of nodes with an obstacle that has a gap in closed form."""
        self._add(table, self._obstacle(table), table.frictions(()))

    def add_surfaces(self, table: ContactTable) -> None:
        """Add the contact between surfaces."""
        touching = self._touching
        obstacles = {other.name for other in self._tables.surfaces}
        own = {name: of for name, of in touching.items() if name not in obstacles or name == table.name}
        contact, energy = body_contact(table, own, self._points, self._rigid_sets.interpolation)
        frictions = table.frictions(list(own)).items()
        acting = {name: pair for name, pair in frictions if pair is None or is_between(contact, *pair)}
        self._add(table, contact, acting, energy)

    @cached_property
    def _touching(self) -> dict[str, Touching]:
        """All that has a surface which may touch others, by name."""
        v = self._world.inertia.velocities
        parts = parts_by_body(
            [body.name for body in self._tables.body], solids_in(self._world.energies, self._world.inelastic)
        )
        own = self._world.inelastic
        found = {name: touching_body(self._mesh, name, of, v, own) for name, of in parts.items()}
        moving = self._rigid_sets.points(v)
        for name in self._rigid_sets.skinned:
            own = moving[self._rigid_sets.points_of(name)]
            material = (self._world.inertia.framed | self._world.inertia.flexible)[name].contact_material
            found[name] = Touching(partial(self._rigid_sets.surface, name), material, own)
        for table in self._tables.rigid:
            own = moving[self._rigid_sets.points_of(table.name)]
            found[table.name] = Touching(partial(self._rigid_sets.surface, table.name), None, own, table.is_free)
        return found

    def _add(
        self,
        table: ContactTable | ShapedTable,
        contact: ObstacleContact | SurfaceContact,
        frictions: Mapping[str, tuple[str, str] | None],
        of_nodes: ChangingInterpolatedEnergy | None = None,
    ) -> None:
        """Add a contact of points and its frictions, by name, as an energy, which may be given, and loads of nodes."""
        energy = self._rigid_sets.of_points(contact) if of_nodes is None else of_nodes
        self._world.add(table.name, energy)
        for name, pair in frictions.items():
            friction = Friction(contact, **table.friction_options, between=pair)
            self._world.add(name, friction if energy is contact else energy.of_load(friction))  # pyright: ignore

    def _obstacle(self, table: ShapedTable) -> ObstacleContact:
        skinned = self._rigid_sets.skinned
        of_mesh = [name for name in self._tables.names if name not in skinned]
        free = [body.name for body in self._tables.rigid_body if body.is_free]
        names = table.bodies if table.bodies is not None else [*of_mesh, *skinned, *free]
        of_bodies = [self._mesh.nodes_of(name) for name in names if name in of_mesh]
        rigid = [self._rigid_sets.points_of(name) for name in names if name not in of_mesh]
        touching = np.concatenate([np.empty(0, np.int32), *of_bodies])
        nodes = np.concatenate([np.intersect1d(self._open_to_obstacles, touching), *rigid])
        contact = self._rigid_sets.obstacle_contact(table, nodes)
        if len(nodes) and not table.allow_initial_penetration:
            self._refuse_penetration(contact)
        return contact

    @cached_property
    def _open_to_obstacles(self) -> IntArray:
        """The nodes that obstacles may touch: those inside a body too if its elements may go."""
        eroding = [part.nodes.ravel() for part in self._world.inelastic.values() if part.erodes]
        return np.unique(np.concatenate([self._on_surface, *eroding])).astype(np.int32)

    def _refuse_penetration(self, contact: ObstacleContact) -> None:
        points = self._points
        node, depth = contact.deepest(points)
        of_bodies = self._mesh.points if len(self._mesh.points) else points
        if depth > _TOUCH * np.ptp(of_bodies, axis=0).max():
            inside = int(np.sum(contact.gaps(points) < 0))
            bodies = {name: self._mesh.nodes_of(name) for name in self._tables.names}
            follow = [*self._rigid_sets.skinned, *(table.name for table in self._tables.rigid)]
            bodies |= {name: self._rigid_sets.points_of(name) for name in follow}
            body = next(name for name, nodes in bodies.items() if node in nodes)
            at = ", ".join(f"{x:.6g}" for x in points[node])
            raise ScenarioError(
                f"body '{body}' starts inside it: {inside} nodes, the deepest at ({at}) m by {depth:.3g} m. "
                "Move the body (translate) or the obstacle, or set allow_initial_penetration = true."
            )
