"""From the tables of a scenario to a mesh, a system, its initial state and an integrator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
from scipy.sparse import csr_array, diags_array

from symplex.contact.friction import Friction
from symplex.contact.rigid import RigidContact
from symplex.errors import ScenarioError, SymplexError
from symplex.fem.actions.loads import Gravity, NodalForce, NodalLoad, Pressure, SurfaceTraction
from symplex.fem.actions.support_motion import SupportMotion
from symplex.fem.actions.supports import fixed_mask
from symplex.fem.energy import Array, Energy, IntArray
from symplex.fem.measures.constraints import Constraint, OnSphere, RigidBars
from symplex.fem.solids.solid import Solid
from symplex.fem.system import Load, State, System
from symplex.meshes.joining import join_nodes
from symplex.meshes.mesh import Mesh, merge
from symplex.scenario.actions import LoadTable, Rod, Support
from symplex.scenario.bodies import mesh_of
from symplex.scenario.contacts import body_contact
from symplex.scenario.integrators import fitted_integrator
from symplex.scenario.joined_parts import parts_by_body
from symplex.scenario.obstacles import obstacle_of
from symplex.scenario.parts import Part, parts_of
from symplex.scenario.prescribed import factor, support_motion
from symplex.scenario.selections import group_in
from symplex.scenario.springs import spring_of
from symplex.scenario.tables import ObstacleTable, Tables
from symplex.scenario.ties import TieTable, drawn_to, on_surface, surface_tie, tied_pairs
from symplex.scenario.trusses import MEMBERS, Truss, truss_mesh
from symplex.scenario.validation import mistakes, place
from symplex.time.integrator import Integrator

T = TypeVar("T")
_LINES = ("line", "line3")  # of which the first two nodes are the ends
_TOUCH = 1e-12  # depth that is rounding, not penetration, relative to the size of the bodies


class Built(NamedTuple):
    """What tables describe; see `symplex.scenario.scenario.Problem`."""

    mesh: Mesh
    system: System
    state: State
    integrator: Integrator
    n_rods: int
    carriers: Mapping[str, int]


class Builder:
    """Builds what tables describe and collects mistakes on the way, so that a user sees all of them at once.

    Parameters
    ----------
    tables : Tables
    path : Path
        Of the scenario file: its name is in messages, files are looked for in its folder.
    """

    def __init__(self, tables: Tables, path: Path):
        self._tables, self._path = tables, path
        self._lines: list[str] = []

    def build(self) -> Built:
        """Return all of it.

        Raises
        ------
        ScenarioError
            With one line for each mistake.
        """
        self._mesh = self._tied(merge(self._meshes()))
        self._raise_mistakes()
        n = len(self._mesh.points)
        self._carriers = {table.name: n + k for k, table in enumerate(self._tables.moving_obstacles)}
        self._n_nodes = n + len(self._carriers)
        fixed, moving = self._supports()
        energies, loads = self._energies_and_loads()
        rods = self._rods()
        self._raise_mistakes()
        system = self._try(
            "[[support]]", lambda: System(self._mass(), energies, fixed=fixed, loads=loads, moving=moving)
        )
        self._raise_mistakes()
        assert system is not None, "a mistake would have been raised"
        state = self._try("at the start", system.state, self._positions(), self._velocities)
        self._raise_mistakes()
        assert state is not None, "a mistake would have been raised"
        integrator = self._try(place("integrator"), fitted_integrator, self._tables, rods, system, state)
        self._raise_mistakes()
        assert integrator is not None, "a mistake would have been raised"
        n_rods = sum(len(rod.nodes) for rod in rods.values())
        return Built(self._mesh, system, state, integrator, n_rods, self._carriers)

    def _try(self, here: str, what: Callable[..., T], *args) -> T | None:
        """Return what(*args); if it fails, add a line and return None."""
        try:
            return what(*args)
        except SymplexError as error:
            self._lines.append(f"{here}: {error}")
            return None

    def _raise_mistakes(self) -> None:
        if self._lines:
            raise mistakes(self._path.name, self._lines)

    # -- bodies, trusses, point masses ------------------------------------------------------------------------

    def _meshes(self) -> dict[str, Mesh]:
        """Return the meshes of all that has nodes, by name."""
        tables, folder = self._tables, self._path.parent
        meshes: dict[str, Mesh | None] = {}
        for k, body in enumerate(tables.body):
            meshes[body.name] = self._try(place("body", k, body.name), mesh_of, body, folder)
        for k, truss in enumerate(tables.truss):
            meshes[truss.name] = self._try(place("truss", k, truss.name), truss_mesh, truss, folder)
        meshes |= {table.name: table.own_mesh() for table in tables.point_mass if table.has_node}
        self._raise_mistakes()
        return {name: mesh for name, mesh in meshes.items() if mesh is not None}

    def _tied(self, mesh: Mesh) -> Mesh:
        """Return the mesh in which tied nodes are one, or are on the surfaces that they are held on."""
        ties = [(place("tie", k, table.name), table) for k, table in enumerate(self._tables.tie)]
        pairs = [self._try(here, tied_pairs, table, mesh) for here, table in ties if table.kind == "nodes"]
        self._raise_mistakes()
        if pairs:
            joined = self._try(
                "[[tie]]", join_nodes, mesh, np.concatenate([some for some in pairs if some is not None])
            )
            mesh = mesh if joined is None else joined
        self._on_surface: dict[str, tuple[TieTable, IntArray, IntArray]] = {}
        for here, table in ties:
            if table.kind == "surface" and (found := self._try(here, on_surface, table, mesh)) is not None:
                mesh = drawn_to(mesh, *found)
                self._on_surface[str(table.name)] = (table, *found)
        return mesh

    def _nodes_of(self, body: str) -> IntArray:
        return self._mesh.nodes_of(body)

    @cached_property
    def _parts(self) -> dict[str, list[Part]]:
        """The parts of each body."""
        return {body.name: parts_of(body, self._mesh) for body in self._tables.body}

    @cached_property
    def _trusses(self) -> dict[str, Truss]:
        """The bars of each truss."""
        return {
            table.name: Truss(table, self._mesh.cells_of("line", f"{table.name}.{MEMBERS}"))
            for table in self._tables.truss
        }

    @cached_property
    def _body_mass(self) -> dict[str, Array]:
        """Lumped nodal masses [n] of each body and truss, and of each point mass."""
        points, n = self._mesh.points, self._n_nodes
        found = {
            name: np.sum([part.lumped_mass(points, n) for part in parts], axis=0) for name, parts in self._parts.items()
        }
        found |= {name: truss.lumped_mass(points, n) for name, truss in self._trusses.items()}
        for k, table in enumerate(self._tables.point_mass):
            mass = self._try(place("point_mass", k, table.name), table.masses, self._mesh, n)
            found[table.name] = np.zeros(n) if mass is None else mass
        return found

    def _mass(self) -> Array | csr_array:
        """Return the nodal masses [n], or the mass matrix if any body has a consistent one."""
        tables, points, n = self._tables, self._mesh.points, self._n_nodes
        consistent = [item.name for item in (*tables.body, *tables.truss) if item.mass == "consistent"]
        lumped = sum((mass for name, mass in self._body_mass.items() if name not in consistent), self._carried_mass)
        self._require_mass(np.sum([*self._body_mass.values(), self._carried_mass], axis=0))
        if not consistent:
            return lumped
        mass = diags_array(lumped).tocsr()
        for name in consistent:
            for part in self._parts.get(name, []) or [self._trusses[name]]:
                mass = mass + part.consistent_mass(points, n)
        return mass.tocsr()

    def _require_mass(self, mass: Array) -> None:
        """Refuse nodes of trusses without mass."""
        for truss in self._tables.truss:
            nodes = self._nodes_of(truss.name)
            bare = nodes[mass[nodes] == 0.0]
            if len(bare):
                at = ", ".join(f"{x:.6g}" for x in self._mesh.points[bare[0]])
                raise ScenarioError(
                    f"{len(bare)} of {len(nodes)} nodes of the truss '{truss.name}' have no mass, the first at ({at}) "
                    "m; give member_mass, or a [[point_mass]] on its nodes."
                )

    @property
    def _carried_mass(self) -> Array:
        """The masses [n] of obstacles that move."""
        mass = np.zeros(self._n_nodes)
        for table in self._tables.moving_obstacles:
            mass[self._carriers[table.name]] = table.mass
        return mass

    def _positions(self) -> Array:
        """Return the positions [n, 3] of the nodes of the mesh and of obstacles that move."""
        centers = [table.center for table in self._tables.moving_obstacles]
        return np.concatenate([self._mesh.points, np.reshape(centers, (-1, 3))])

    @cached_property
    def _velocities(self) -> Array:
        """The velocities v + ω × (x − centre of mass) [n, 3], body by body, and what is added to them."""
        points = self._positions()
        v = np.zeros_like(points)
        for table in self._tables.moving_obstacles:
            v[self._carriers[table.name]] = table.velocity
        for table in (item for item in self._tables.point_mass if item.has_node):
            v[self._nodes_of(table.name)] = table.velocity or 0.0
        given = np.full_like(v, np.nan)
        for body in (*self._tables.body, *self._tables.truss):
            nodes, mass = self._nodes_of(body.name), self._body_mass[body.name]
            centre = mass @ points / mass.sum() if mass.any() else points[nodes].mean(axis=0)
            own = np.array(body.velocity) + np.cross(body.angular_velocity, points[nodes] - centre)
            self._require_same(body.name, nodes, given[nodes], own)
            given[nodes] = v[nodes] = own
        for k, table in enumerate(self._tables.velocity):
            self._try(place("velocity", k), table.add, self._mesh, self._body_mass, v)
        return v

    def _require_same(self, name: str, nodes: IntArray, before: Array, own: Array) -> None:
        """Refuse nodes that bodies share and that would start with two velocities."""
        off = np.nan_to_num(np.linalg.norm(own - before, axis=1))
        k = int(np.argmax(off))
        if off[k] > _TOUCH * np.abs(own).max():
            at = ", ".join(f"{x:.6g}" for x in self._mesh.points[nodes[k]])
            self._lines.append(
                f"'{name}' is tied at ({at}) m to another body that starts with another velocity, by {off[k]:.3g} m/s; "
                "let both move alike, and add the rest by [[velocity]]."
            )

    # -- supports, energies, loads ------------------------------------------------------------------------------

    def _group(self, table: Support | Rod | LoadTable) -> str:
        """Return the name of a body's group in the mesh of all bodies."""
        return group_in(self._mesh, table.body, table.group)

    def _supports(self) -> tuple[np.ndarray, dict[str, SupportMotion]]:
        """Return which coordinates [n, 3] do not move, and what moves in a given way by name."""
        fixed: list[tuple[IntArray, str]] = []
        moving: dict[str, SupportMotion] = {}
        for k, support in enumerate(self._tables.support):
            here = place("support", k, support.name)
            group = self._try(here, self._group, support)
            if group is None:
                continue
            nodes = self._mesh.nodes_of(group)
            if not support.moves:
                fixed.append((nodes, support.components))
            elif (motion := self._try(here, self._motion, support, nodes)) is not None:
                moving[str(support.name)] = motion
        return fixed_mask(self._n_nodes, fixed), moving

    def _motion(self, support: Support, nodes: IntArray) -> SupportMotion:
        motion = support_motion(support, nodes, self._mesh.points, self._path.parent)
        (first, last), duration = motion.span, self._tables.run.duration
        if first > 0.0 or last < duration * (1.0 - _TOUCH):
            raise ScenarioError(
                f"history: its table goes from {first:g} to {last:g} s, but the run from 0 to {duration:g} s; let it "
                "cover the run."
            )
        return motion

    def _rods(self) -> dict[str, Constraint]:
        """Return the rigid rods by name."""
        rods: dict[str, Constraint] = {}
        for k, table in enumerate(self._tables.rod):
            rod = self._try(place("rod", k, table.name), self._rod, table)
            if rod is not None:
                rods[table.name] = rod
        return rods

    def _rod(self, table: Rod) -> Constraint:
        """Return rods from the nodes of a group to a point, or along its lines, of the lengths that they have."""
        mesh, group = self._mesh, self._group(table)
        if table.to is not None:
            nodes = mesh.nodes_of(group)
            return OnSphere(nodes, table.to, np.linalg.norm(mesh.points[nodes] - table.to, axis=1))
        lines = [cells[:, :2] for kind in _LINES if len(cells := mesh.cells_of(kind, group))]
        if not lines:
            raise ScenarioError(
                f"group '{table.group}' of body '{table.body}' has no lines, along which rods could be; for rods from "
                "each of its nodes to a fixed point give the point: to = [x, y, z]."
            )
        return RigidBars.between(mesh.points, np.concatenate(lines))

    def _energies_and_loads(self) -> tuple[dict[str, Energy], dict[str, Load]]:
        tables = self._tables
        energies: dict[str, Energy] = {}
        loads: dict[str, Load] = {}
        for k, body in enumerate(tables.body):
            for part in self._parts[body.name]:
                solid = self._try(place("body", k, body.name), part.solid, self._mesh.points)
                if solid is not None:
                    energies[part.name] = solid
        energies |= {name: truss.bars(self._mesh.points) for name, truss in self._trusses.items()}
        for k, table in enumerate(tables.spring):
            spring = self._try(place("spring", k, table.name), spring_of, table, self._mesh)
            if spring is not None:
                energies[table.name] = spring
        for name, (table, nodes, triangles) in self._on_surface.items():
            young = min(part.material.material().young for part in self._parts[table.to])
            energies[name] = surface_tie(table, self._mesh, young, nodes, triangles)
        for k, obstacle in enumerate(tables.obstacle):
            contact = self._try(place("obstacle", k, obstacle.name), self._contact, obstacle)
            if contact is not None:
                energies[obstacle.name] = contact
                if obstacle.has_friction:
                    loads[f"friction_{obstacle.name}"] = Friction(contact, **obstacle.friction_options)
        self._raise_mistakes()  # contact needs all bodies
        solids = {name: energy for name, energy in energies.items() if isinstance(energy, Solid)}
        bodies = parts_by_body([body.name for body in tables.body], solids)
        for k, table in enumerate(tables.contact):
            here = place("contact", k, table.name)
            contact = self._try(here, body_contact, table, self._mesh, bodies, self._velocities)
            if contact is not None:
                energies[table.name] = contact
                for name, pair in table.frictions([body.name for body in tables.body]).items():
                    loads[name] = Friction(contact, **table.friction_options, between=pair)
        if tables.gravity is not None:
            mass = np.sum([*self._body_mass.values(), self._carried_mass], axis=0)
            energies["gravity"] = Gravity(mass, tables.gravity.acceleration)
        for k, table in enumerate(tables.load):
            load = self._try(place("load", k, table.name), self._load, table)
            if isinstance(load, Energy):
                energies[table.name] = load
            elif load is not None:
                loads[table.name] = load
        return energies, loads

    @cached_property
    def _surface_nodes(self) -> IntArray:
        """The nodes on the boundary of bodies, and all of trusses and point masses."""
        bare = [name for name in self._tables.names if name not in self._parts]
        return np.unique(np.concatenate([self._mesh.boundary_nodes, *map(self._nodes_of, bare)]))

    def _contact(self, table: ObstacleTable) -> RigidContact:
        bodies = table.bodies if table.bodies is not None else self._tables.names
        of_bodies = np.concatenate([np.empty(0, np.int32), *(self._nodes_of(name) for name in bodies)])
        nodes = np.intersect1d(self._surface_nodes, of_bodies)
        carrier = self._carriers.get(table.name)
        contact = RigidContact(nodes, obstacle_of(table, carrier is not None), table.contact_stiffness, carrier)
        if len(nodes) and not table.allow_initial_penetration:
            self._refuse_penetration(contact)
        return contact

    def _refuse_penetration(self, contact: RigidContact) -> None:
        points = self._positions()
        node, depth = contact.deepest(points)
        if depth > _TOUCH * np.ptp(self._mesh.points, axis=0).max():
            inside = int(np.sum(contact.gaps(points) < 0))
            body = next(name for name in self._tables.names if node in self._nodes_of(name))
            at = ", ".join(f"{x:.6g}" for x in points[node])
            raise ScenarioError(
                f"body '{body}' starts inside it: {inside} nodes, the deepest at ({at}) m by {depth:.3g} m. "
                "Move the body (translate) or the obstacle, or set allow_initial_penetration = true."
            )

    def _load(self, table: LoadTable) -> Energy | Load:
        group = self._group(table)
        history = factor(table.history, self._path.parent) if table.history is not None else 1.0
        if table.kind == "nodal":
            nodes = self._mesh.nodes_of(group)
            if table.history is None:
                return NodalForce(nodes, table.force)
            return NodalLoad(nodes, table.force, history)
        faces = self._mesh.faces_of(group)
        if table.kind == "pressure":
            return Pressure(faces, table.pressure, history)
        load = SurfaceTraction(self._mesh.points, faces, table.traction, history)
        # What is constant has a potential.
        return NodalForce(load.nodes, load.forces) if table.history is None else load
