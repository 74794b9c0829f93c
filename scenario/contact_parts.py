"""The energies and frictions of contact: with obstacles, and between the surfaces of bodies."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from symplex.contact.bodies import BodyContact
from symplex.contact.friction import Friction
from symplex.contact.rigid import ObstacleContact
from symplex.errors import ScenarioError
from symplex.fem.energy import Array, Energy, IntArray
from symplex.fem.interpolation import ChangingInterpolatedEnergy
from symplex.fem.solids.solid import Solid
from symplex.fem.system import Load
from symplex.meshes.mesh import Mesh
from symplex.scenario.contacts import ContactTable, Touching, body_contact, is_between, touching_body
from symplex.scenario.friction import FrictionTable
from symplex.scenario.joined_parts import parts_by_body
from symplex.scenario.obstacles import ShapedTable
from symplex.scenario.riders import Riders, Try
from symplex.scenario.rigid import SurfaceTable
from symplex.scenario.sentences import place
from symplex.scenario.tables import Tables

_TOUCH = 1e-12  # depth that is rounding, not penetration, relative to the size of the bodies


class ContactParts:
    """The contact that tables describe, as energies and loads by name.

    Parameters
    ----------
    tables : Tables
    mesh : Mesh
        Of all bodies.
    riders : Riders
    q : float64 [n, 3]
        Where nodes are at the start, in m.
    try_ : callable
        ``try_(here, what, *args)`` returns what(*args), or notes the mistake and returns None.

    Attributes
    ----------
    energies : dict of str to Energy
    loads : dict of str to Load
    """

    def __init__(self, tables: Tables, mesh: Mesh, riders: Riders, q: Array, try_: Try):
        self._tables, self._mesh, self._riders, self._try = tables, mesh, riders, try_
        self._points = riders.points(q)
        self.energies: dict[str, Energy] = {}
        self.loads: dict[str, Load] = {}

    def add_obstacles(self, on_surface: IntArray) -> None:
        """Add the contact of nodes, among those on surfaces, with obstacles that have a gap in closed form."""
        for k, table in enumerate(self._tables.obstacle):
            if isinstance(table, SurfaceTable):
                continue
            contact = self._try(place("obstacle", k, table.name), self._obstacle, table, on_surface)
            if contact is not None:
                self._add(table, contact, {f"friction_{table.name}": None} if table.has_friction else {})

    def add_surfaces(self, solids: Mapping[str, Solid], v: Array) -> None:
        """Add the contact between surfaces, given strain energies by name and the velocities [n, 3] of nodes in m/s."""
        tables = self._tables
        touching = self._touching(solids, v)
        obstacles = {table.name for table in tables.surfaces}
        for key in ("contact", "obstacle"):
            for k, table in enumerate(getattr(tables, key)):
                if not isinstance(table, ContactTable):
                    continue
                own = {name: of for name, of in touching.items() if name not in obstacles or name == table.name}
                follow = None if self._riders.bodies is None else self._riders.bodies.interpolation
                found = self._try(place(key, k, table.name), body_contact, table, own, self._points, follow)
                if found is not None:
                    contact, energy = found
                    frictions = table.frictions(list(own)).items()
                    acting = {name: pair for name, pair in frictions if pair is None or is_between(contact, *pair)}
                    self._add(table, contact, acting, energy)

    def _touching(self, solids: Mapping[str, Solid], v: Array) -> dict[str, Touching]:
        """Return all that has a surface which may touch others, by name."""
        parts = parts_by_body([body.name for body in self._tables.body], solids)
        found = {name: touching_body(self._mesh, name, of, v) for name, of in parts.items()}
        moving = self._riders.points(v)
        for table in self._tables.rigid:
            own = moving[self._riders.points_of(table.name)]
            found[table.name] = Touching(partial(self._riders.surface, table.name), None, own, table.is_free)
        return found

    def _add(
        self,
        table: FrictionTable,
        contact: ObstacleContact | BodyContact,
        frictions: Mapping[str, tuple[str, str] | None],
        of_nodes: ChangingInterpolatedEnergy | None = None,
    ) -> None:
        """Add a contact of points and its frictions, by name, as an energy, which may be given, and loads of nodes."""
        energy = self._riders.of_points(contact) if of_nodes is None else of_nodes
        self.energies[table.name] = energy  # pyright: ignore[reportAttributeAccessIssue]
        for name, pair in frictions.items():
            friction = Friction(contact, **table.friction_options, between=pair)
            self.loads[name] = friction if energy is contact else energy.of_load(friction)  # pyright: ignore

    def _obstacle(self, table: ShapedTable, on_surface: IntArray) -> ObstacleContact:
        of_mesh = self._tables.names
        free = [body.name for body in self._tables.rigid_body if body.is_free]
        names = table.bodies if table.bodies is not None else [*of_mesh, *free]
        of_bodies = [self._mesh.nodes_of(name) for name in names if name in of_mesh]
        rigid = [self._riders.points_of(name) for name in names if name not in of_mesh]
        touching = np.concatenate([np.empty(0, np.int32), *of_bodies])
        nodes = np.concatenate([np.intersect1d(on_surface, touching), *rigid])
        contact = self._riders.obstacle_contact(table, nodes)
        if len(nodes) and not table.allow_initial_penetration:
            self._refuse_penetration(contact)
        return contact

    def _refuse_penetration(self, contact: ObstacleContact) -> None:
        points = self._points
        node, depth = contact.deepest(points)
        of_bodies = self._mesh.points if len(self._mesh.points) else points
        if depth > _TOUCH * np.ptp(of_bodies, axis=0).max():
            inside = int(np.sum(contact.gaps(points) < 0))
            bodies = {name: self._mesh.nodes_of(name) for name in self._tables.names}
            bodies |= {table.name: self._riders.points_of(table.name) for table in self._tables.rigid}
            body = next(name for name, nodes in bodies.items() if node in nodes)
            at = ", ".join(f"{x:.6g}" for x in points[node])
            raise ScenarioError(
                f"body '{body}' starts inside it: {inside} nodes, the deepest at ({at}) m by {depth:.3g} m. "
                "Move the body (translate) or the obstacle, or set allow_initial_penetration = true."
            )
