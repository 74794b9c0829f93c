"""What of a scenario has mass: bodies, trusses, beams, shells, point masses; where they are and how they move first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from symplex.base.sparse import sp
from symplex.errors import ScenarioError
from symplex.fem.actions.mass_scaling import scaled_mass
from symplex.fem.energies.energy import Array, IntArray
from symplex.fem.structures.beam import Beams
from symplex.fem.structures.shell import Shells
from symplex.meshes.mesh import Mesh
from symplex.scenario.beams import Beam
from symplex.scenario.bodies import Body
from symplex.scenario.flexible import Flexible
from symplex.scenario.framed import Framed
from symplex.scenario.mass_scaling import ScaledBody, of_body
from symplex.scenario.messages import place
from symplex.scenario.parts import Part, massless_nodes, moved_inward, parts_of
from symplex.scenario.rigid_nodes import RigidNodeSets, Try
from symplex.scenario.shells import Shell
from symplex.scenario.tables import Tables
from symplex.scenario.trusses import MEMBERS, Truss
from symplex.time.modes.floating import FlexibleBody

_SAME = 1e-12  # velocities that differ by this part are one


class Inertia:
    """Masses, positions and velocities at the start of all that has nodes.

    Parameters
    ----------
    tables : Tables
    mesh : Mesh
        Of all bodies, trusses and point masses.
    structures : mapping of str to Beams or Shells
        By name, each in its own numbering.
    own_meshes : mapping of str to Mesh
        Of these, before their nodes are several particles.
    reduced : mapping of str to FlexibleBody
        Reduced bodies by name.
    rigid_sets : RigidNodeSets
        What is rigid and has its own nodes.
    attempt : callable
        Returns what a function returns, or shows a mistake with its place and returns None.
    tell : callable
        Tells a mistake.
    """

    def __init__(
        self,
        tables: Tables,
        mesh: Mesh,
        structures: Mapping[str, Beams | Shells],
        own_meshes: Mapping[str, Mesh],
        reduced: Mapping[str, FlexibleBody],
        rigid_sets: RigidNodeSets,
        attempt: Try,
        tell: Callable[[str], None],
    ):
        self._tables, self._mesh, self._rigid_sets, self._try, self._tell = tables, mesh, rigid_sets, attempt, tell
        self._structures, self._own_meshes, self._reduced = structures, own_meshes, reduced

    @cached_property
    def parts(self) -> dict[str, list[Part]]:
        """The parts of each body."""
        return {body.name: self._scaled(body, parts_of(body, self._mesh)) for body in self._tables.body}

    def _scaled(self, body: Body, parts: list[Part]) -> list[Part]:
        """Return parts with the mass that [mass_scaling] adds."""
        table = self._tables.mass_scaling
        if table is None or not self._try(place("mass_scaling"), table.applies_to, body):
            return parts
        points = self._mesh.points
        return [part._replace(scaling=scaled_mass(part.solid(points), table.dt)) for part in parts]

    @cached_property
    def scaled(self) -> dict[str, ScaledBody]:
        """How much mass is added to bodies, by name."""
        found = {name: [part.scaling for part in parts if part.scaling] for name, parts in self.parts.items()}
        return {name: of_body(some, self._rigid_sets.n_nodes) for name, some in found.items() if some}

    @cached_property
    def trusses(self) -> dict[str, Truss]:
        """The bars of each truss."""
        return {
            table.name: Truss(table, self._mesh.cells_of("line", f"{table.name}.{MEMBERS}"))
            for table in self._tables.truss
        }

    @cached_property
    def beams(self) -> dict[str, Beam]:
        """The beams by name."""
        return {
            table.name: Beam(
                table,
                one,
                int(self._mesh.nodes_of(table.name)[0]),
                self._own_meshes[table.name],
                [self._members(f"{table.name}.{part.group}", table.name) for part in table.parts],
            )
            for table in self._tables.beam
            if isinstance(one := self._structures[table.name], Beams)
        }

    @cached_property
    def shells(self) -> dict[str, Shell]:
        """The shells by name."""
        return {
            table.name: Shell(table, one, int(self._mesh.nodes_of(table.name)[0]), self._own_meshes[table.name])
            for table in self._tables.shell
            if isinstance(one := self._structures[table.name], Shells)
        }

    @cached_property
    def flexible(self) -> dict[str, Flexible]:
        """The reduced bodies by name."""
        return {
            table.name: Flexible(table, self._reduced[table.name], int(self._mesh.nodes_of(table.name)[0]))
            for table in self._tables.flexible_body
        }

    @property
    def framed(self) -> dict[str, Framed]:
        """Beams and shells by name, in the order of the mesh."""
        return {**self.beams, **self.shells}

    def _members(self, group: str, name: str) -> IntArray:
        """Return which members of beams a group has, by their numbers in the beams."""
        first = self._mesh.cell_groups[name]["line"][0]
        return (self._mesh.cell_groups[group]["line"] - first).astype(np.int32)

    @cached_property
    def of_bodies(self) -> dict[str, Array]:
        """Lumped nodal masses [n] of each body and truss, and of each point mass."""
        points, n = self._mesh.points, self._rigid_sets.n_nodes
        found = {
            name: np.sum([part.lumped_mass(points, n) for part in parts], axis=0) for name, parts in self.parts.items()
        }
        found |= {name: truss.lumped_mass(points, n) for name, truss in self.trusses.items()}
        found |= {name: one.masses(n) for name, one in (*self.framed.items(), *self.flexible.items())}
        for table in self._tables.point_mass:
            mass = self._try(table.here, table.masses, self._mesh, n, self.framed)
            found[table.name] = np.zeros(n) if mass is None else mass
        return found

    @cached_property
    def mass(self) -> Array | sp.csr_array:
        """The nodal masses [n], or the mass matrix if any body has a consistent one."""
        tables, points, n = self._tables, self._mesh.points, self._rigid_sets.n_nodes
        coupled = (*tables.body, *tables.flexible_body, *tables.truss, *tables.beam, *tables.shell)
        consistent = [item.name for item in coupled if item.mass == "consistent"]
        riding = self._rigid_sets.masses(sum(float(mass.sum()) for mass in self.of_bodies.values()))
        lumped = sum((mass for name, mass in self.of_bodies.items() if name not in consistent), riding)
        self._require_mass(np.sum([*self.of_bodies.values(), riding], axis=0))
        if not consistent:
            return self._moved_inward(lumped)
        mass = sp.diags_array(lumped).tocsr()
        for name in consistent:
            mass = sum((part.consistent_mass(points, n) for part in self._parts_with_mass(name)), mass)
        return self._moved_inward(mass.tocsr())

    def _parts_with_mass(self, name: str) -> Sequence[Part | Truss | Framed | Flexible]:
        """Return what the mass of a body is of."""
        if name in self.flexible:
            return [self.flexible[name]]
        return self.parts.get(name) or [self.trusses[name] if name in self.trusses else self.framed[name]]

    @cached_property
    def _at_rest(self) -> bool:
        """Whether all of the run is static, so that nothing has inertia."""
        return all(method.kind == "static" for method in self._tables.integrators)

    def mass_of(self, name: str, group: str | None = None, *, of_motion: bool = True) -> Array | sp.csr_array:
        """Return the mass of a body, or of elements of it, on which body forces act: nodal masses [n], or a matrix.

        In a motion, weights and the forces of a rotating frame are accelerations of all that has inertia: they act on
        the same masses, so that what falls freely falls as a whole, and does not begin to turn. All other body
        forces, and all in a run that is static, act on consistent masses: lumped ones of quadratic elements are no
        integrals of shape functions, and would spoil the stresses. Nodes that are to have no mass have theirs here.

        Parameters
        ----------
        name : str
        group : str, optional
            Of elements; default: all of it.
        of_motion : bool, default True
            Whether the forces are accelerations.
        """
        points, n = self._mesh.points, self._rigid_sets.n_nodes
        tables = self._tables
        every = (*tables.body, *tables.flexible_body, *tables.truss, *tables.beam, *tables.shell)
        of = {item.name: item.mass for item in every}
        if not of_motion or self._at_rest:
            of |= {item.name: "consistent" for item in (*tables.body, *tables.truss)}
        if group is None and of.get(name) != "consistent":
            return self.of_bodies[name]
        parts = self._parts_with_mass(name) if name in of else []
        if group is not None:
            if name not in self.parts:
                raise ScenarioError(f"'{name}' has no elements of which a group could be; leave group out.")
            found = [part.within(self._mesh, f"{name}.{group}") for part in self.parts[name]]
            parts = [part for part in found if len(part.cells)]
            if of[name] != "consistent":
                return sum((part.lumped_mass(points, n) for part in parts), np.zeros(n))
        return sum((part.consistent_mass(points, n) for part in parts), sp.csr_array((n, n)))

    def mass_in_frame(self) -> Array | sp.csr_array:
        """Return the masses on which the forces of a rotating frame act."""
        return self.weights() if self._at_rest else self.mass

    def mass_without(self, names: Sequence[str], alone: IntArray) -> Array | sp.csr_array:
        """Return `mass` without that of some bodies, but for nodes [k] that have no other."""
        lumped = np.sum([self.of_bodies[name] for name in names], axis=0)
        rest = np.zeros(len(lumped))
        rest[alone] = lumped[alone]
        if isinstance(self.mass, np.ndarray):
            return self.mass - lumped + rest
        consistent = {body.name for body in self._tables.body if body.mass == "consistent"}
        less = sp.diags_array(np.sum([self.of_bodies[one] for one in names if one not in consistent], axis=0) - rest)
        points, n = self._mesh.points, self._rigid_sets.n_nodes
        parts = [part for name in names if name in consistent for part in self.parts[name]]
        return (self.mass - sum((part.consistent_mass(points, n) for part in parts), less.tocsr())).tocsr()

    def weights(self, without: Sequence[str] = ()) -> Array | sp.csr_array:
        """Return the nodal masses [n] on which gravity acts, or the matrix if those of any body are one.

        Those of all but some bodies.
        """
        found = [self.mass_of(name) for name in self.of_bodies if name not in without]
        lumped = sum((mass for mass in found if isinstance(mass, np.ndarray)), self._rigid_sets.weights)
        consistent = [mass for mass in found if not isinstance(mass, np.ndarray)]
        return sum(consistent, sp.diags_array(lumped).tocsr()) if consistent else lumped

    def _moved_inward(self, mass: Array | sp.csr_array) -> Array | sp.csr_array:
        """Return a mass without that of nodes that are to have none."""
        for body in self._tables.body:
            moved = self._try(body.here, moved_inward, mass, body, self.parts[body.name], self._mesh)
            mass = mass if moved is None else moved
        return mass

    @cached_property
    def young(self) -> dict[str, float]:
        """The least of Young's moduli in Pa of each body."""
        return {name: min(part.material.material().young for part in parts) for name, parts in self.parts.items()}

    @cached_property
    def moved(self) -> dict[str, Array]:
        """Those of `of_bodies`, without what nodes have that are to have none: it is at the nodes behind them."""
        found = dict(self.of_bodies)
        for body in self._tables.body:
            own = found[body.name], body, self.parts[body.name], self._mesh
            moved = self._try(body.here, moved_inward, *own)
            found[body.name] = own[0] if moved is None else moved
        return found

    @property
    def massless(self) -> np.ndarray:
        """Which nodes [n] are to have no mass."""
        mask = np.zeros(self._rigid_sets.n_nodes, bool)
        for body in self._tables.body:
            mask[massless_nodes(body, self._mesh)] = True
        return mask

    def _require_mass(self, mass: Array) -> None:
        """Refuse nodes of trusses without mass."""
        for truss in self._tables.truss:
            nodes = self._mesh.nodes_of(truss.name)
            bare = nodes[mass[nodes] == 0.0]
            if len(bare):
                self._tell(
                    f"{truss.here}: {len(bare)} of {len(nodes)} nodes have no mass, the first at "
                    f"{self._at(bare[0])}; give member_mass, or a [[point_mass]] on its nodes."
                )

    def positions(self) -> Array:
        """Return the positions [n, 3] of all nodes at the start."""
        return self._rigid_sets.positions(self._mesh.points)

    @cached_property
    def velocities(self) -> Array:
        """The velocities v + ω × (x − centre of mass) [n, 3], body by body, and what is added to them."""
        points = self.positions()
        v = np.zeros_like(points)
        self._rigid_sets.set_velocities(v)
        given = np.full_like(v, np.nan)
        for table in (item for item in self._tables.point_mass if item.has_nodes):
            nodes = self._mesh.nodes_of(table.name)
            v[nodes] = table.velocity or 0.0
            given[nodes] = np.nan if table.velocity is None else table.velocity
        there = [body for body in self._tables.body if not body.begins_later]
        for body in (*there, *self._tables.flexible_body, *self._tables.truss, *self._tables.beam, *self._tables.shell):
            nodes, mass = self._mesh.nodes_of(body.name), self.of_bodies[body.name]
            centre = mass @ points / mass.sum() if mass.any() else points[nodes].mean(axis=0)
            own = np.array(body.velocity) + np.cross(body.angular_velocity, points[nodes] - centre)
            self._require_same(
                body.name,
                nodes,
                given[nodes],
                own,
                "starts with another velocity, by {} m/s; let both move alike, and add the rest by [[velocity]].",
            )
            given[nodes] = v[nodes] = own
        v += self._added(v.shape)
        for one in self.framed.values():  # whose nodes are rigid, however a field changes from place to place
            frames, own = one.structure.frames, one.own(v)
            own[...] = frames.rigid_velocities(one.own(points), own)
        return v

    def _added(self, shape: tuple[int, ...]) -> Array:
        """Return what tables of velocities add [n, 3], to nodes that bodies share once."""
        fields: dict[str, Array] = {}  # by body, NaN where nothing is added
        for table in self._tables.velocity:
            found = self._try(table.here, table.field, self._mesh, self.of_bodies)
            if found is not None:
                nodes, v = found
                own = fields.setdefault(table.body, np.full(shape, np.nan))
                own[nodes] = np.nan_to_num(own[nodes]) + v
        added = np.full(shape, np.nan)
        for name, own in fields.items():
            nodes = np.flatnonzero(~np.isnan(own[:, 0])).astype(np.int32)
            self._require_same(
                name,
                nodes,
                added[nodes],
                own[nodes],
                "is given another [[velocity]] there, by {} m/s; give both the same, or only one of them.",
            )
            added[nodes] = own[nodes]
        return np.nan_to_num(added)

    def require_free(self, fixed: NDArray[np.bool_]) -> None:
        """Refuse tables of velocities that are those of coordinates [n, 3] only that supports hold or move."""
        for table in self._tables.velocity:
            found = self._try(table.here, table.field, self._mesh, self.of_bodies)
            if found is not None and fixed[found[0]][found[1] != 0.0].all():
                self._tell(
                    f"{table.here}: has no effect, as supports hold all {len(found[0])} nodes that it names "
                    "in its direction; leave it out, or name others."
                )

    def _require_same(self, name: str, nodes: IntArray, before: Array, own: Array, mistake: str) -> None:
        """Refuse nodes that bodies share and that would have two velocities."""
        off = np.nan_to_num(np.linalg.norm(own - before, axis=1))
        k = int(np.argmax(off))
        if off[k] > _SAME * np.abs(own).max():
            self._tell(
                f"'{name}' is tied at {self._at(nodes[k])} to another one that {mistake.format(f'{off[k]:.3g}')}"
            )

    def _at(self, node: int) -> str:
        """Return the place of a node in words."""
        return f"({', '.join(f'{x:.6g}' for x in self._mesh.points[node])}) m"
