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
from symplex.meshes.mesh import Mesh, merge
from symplex.scenario.actions import LoadTable, Rod, Support
from symplex.scenario.bodies import mesh_of
from symplex.scenario.contacts import body_contact
from symplex.scenario.integrators import fitted_integrator
from symplex.scenario.joined_parts import parts_by_body
from symplex.scenario.obstacles import obstacle_of
from symplex.scenario.parts import Part, parts_of
from symplex.scenario.prescribed import factor, support_motion
from symplex.scenario.quantities import listed, shown
from symplex.scenario.tables import ObstacleTable, Tables
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
        bodies = {
            body.name: mesh
            for k, body in enumerate(self._tables.body)
            if (mesh := self._try(place("body", k, body.name), mesh_of, body, self._path.parent)) is not None
        }
        self._raise_mistakes()
        self._mesh = merge(bodies)
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

    # -- bodies -----------------------------------------------------------------------------------------------

    def _nodes_of(self, body: str) -> IntArray:
        return self._mesh.nodes_of(body)

    @cached_property
    def _parts(self) -> dict[str, list[Part]]:
        """The parts of each body."""
        return {body.name: parts_of(body, self._mesh) for body in self._tables.body}

    @cached_property
    def _body_mass(self) -> dict[str, Array]:
        """Lumped nodal masses [n] of each body."""
        points, n = self._mesh.points, self._n_nodes
        return {
            name: np.sum([part.lumped_mass(points, n) for part in parts], axis=0) for name, parts in self._parts.items()
        }

    def _mass(self) -> Array | csr_array:
        """Return the nodal masses [n], or the mass matrix if any body has a consistent one."""
        bodies = self._tables.body
        lumped = sum((self._body_mass[body.name] for body in bodies if body.mass == "lumped"), self._carried_mass)
        consistent = [body.name for body in bodies if body.mass == "consistent"]
        if not consistent:
            return lumped
        mass = diags_array(lumped).tocsr()
        for part in (part for name in consistent for part in self._parts[name]):
            mass = mass + part.consistent_mass(self._mesh.points, self._n_nodes)
        return mass.tocsr()

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
        """The velocities v + ω × (x − centre of mass) [n, 3], body by body."""
        points = self._positions()
        v = np.zeros_like(points)
        for table in self._tables.moving_obstacles:
            v[self._carriers[table.name]] = table.velocity
        for body in self._tables.body:
            nodes, mass = self._nodes_of(body.name), self._body_mass[body.name]
            centre = mass @ points / mass.sum()
            v[nodes] = np.array(body.velocity) + np.cross(body.angular_velocity, points[nodes] - centre)
        return v

    # -- supports, energies, loads ------------------------------------------------------------------------------

    def _group(self, table: Support | Rod | LoadTable) -> str:
        """Return the name of a body's group in the mesh of all bodies."""
        if table.group is None:
            return table.body
        group = f"{table.body}.{table.group}"
        if group not in self._mesh.groups:
            prefix = f"{table.body}."
            known = listed(g.removeprefix(prefix) for g in self._mesh.groups if g.startswith(prefix))
            raise ScenarioError(f"body '{table.body}' has no group {shown(table.group)}; it has: {known}.")
        return group

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

    def _contact(self, table: ObstacleTable) -> RigidContact:
        bodies = table.bodies if table.bodies is not None else [body.name for body in self._tables.body]
        of_bodies = np.concatenate([np.empty(0, np.int32), *(self._nodes_of(name) for name in bodies)])
        nodes = np.intersect1d(self._mesh.boundary_nodes, of_bodies)
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
            body = next(body.name for body in self._tables.body if node in self._nodes_of(body.name))
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
