"""The tables of loads, each an energy where it has a potential, else a load."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np

from symplex.base.quantities import Name, Text, Triple, nonzero, number, vector
from symplex.base.sparse import sp
from symplex.errors import ScenarioError
from symplex.fem.actions.centrifugal import Centrifugal
from symplex.fem.actions.energy_load import EnergyLoad
from symplex.fem.actions.loads import NodalForce, NodalLoad, Pressure, SurfaceTraction
from symplex.fem.actions.mass import nodal_masses
from symplex.fem.couplings.interpolation import Interpolation
from symplex.fem.energies.energy import Array, Energy, IntArray
from symplex.fem.structures.moments import Moment
from symplex.fem.system import Load
from symplex.scenario.actions import History, Timed
from symplex.scenario.prescribed import factor
from symplex.scenario.selections import group_in
from symplex.scenario.table import BodyName, Need, one_of

if TYPE_CHECKING:
    from symplex.scenario.building import Builder

Factor = Callable[[float], float] | tuple[Array, Array]
_ALONG = 1e-6  # sine of the angle between a moment and the normal of a shell, below which it is about the normal


class _LoadTable(Timed):
    does_work = True
    name: Annotated[Name, "Names its energy, or the column `work_NAME` of its work."]
    body: BodyName
    group: Annotated[
        Text,
        "Faces: those that the group holds; of a group of elements their faces on the boundary, of a group of "
        "points the faces of the boundary with all nodes in it.",
    ]
    history: Annotated[History | None, "Factor over time; by default 1."] = None

    @property
    def has_potential(self) -> bool:
        """Whether it is an energy: a constant force of constant direction."""
        return self.history is None

    @property
    def energies(self) -> list[str]:
        """Itself, where it has a potential."""
        return [self.name] if self.has_potential else []

    without_secant = energies

    @property
    def why_not(self) -> str:
        """Why it has no potential, if it has none."""
        return "changes with time" if self.history is not None else "follows the surface"

    def needs(self) -> Iterable[Need]:
        """Loads, where it has no potential."""
        if not self.has_potential:
            yield Need(
                "loads",
                f"it {self.why_not}, so it has no potential, which {{kind}} needs; take another integrator, such as "
                "{others}, or a constant nodal load or traction.",
            )

    def add_forces(self, world: Builder) -> None:
        """Add an energy or a load."""
        # What is constant has a potential.
        history = factor(self.history, world.folder, self.begin) if self.history is not None else None
        whole = self.group is None or self.body in world.flexible  # of which the mesh has few nodes
        group = self.body if whole else group_in(world.mesh, self.body, self.group)
        world.add(self.name, self.load(world, group, history))

    def load(self, world: Builder, group: str, history: Factor | None) -> Energy | Load:
        """Return it, given the group of the mesh of all bodies, and its factor, if that is not 1."""
        raise NotImplementedError


class NodalLoadTable(_LoadTable):
    """The same force, or the same moment, on each node of a group, or of a point mass."""

    takes_rotations = True
    takes_reduced = True
    kind: Literal["nodal"]
    group: Annotated[Text | None, "Group of nodes; not of a point mass."] = None  # pyright: ignore[reportIncompatibleVariableOverride]
    force: Annotated[Triple | None, vector("N per node"), "Force on each node."] = None
    moment: Annotated[
        Triple | None, vector("N m per node"), "Moment on each node of a beam or shell, instead; its direction stays."
    ] = None

    def _check(self) -> None:
        one_of(self, ["force", "moment"], "load")

    @property
    def has_potential(self) -> bool:
        """Whether it is an energy: a constant force, and no moment."""
        return self.history is None and self.moment is None

    @property
    def why_not(self) -> str:
        """Why it has no potential, if it has none."""
        return super().why_not if self.moment is None else "is a moment"

    def load(self, world: Builder, group: str, history: Factor | None) -> Energy | Load:
        """Return forces on nodes; on those that are several particles each has a part."""
        nodes, framed = world.mesh.nodes_of(group), world.inertia.framed.get(self.body)
        if self.moment is not None:
            if framed is None:
                raise ScenarioError(
                    f"moments act on nodes of beams and shells, and '{self.body}' is none; give forces."
                )
            chosen = np.isin(framed.particles[:, 0], nodes)
            particles, rods = framed.particles[chosen], framed.structure.frames.is_rod[chosen]
            if rods.any() and not rods.all():
                raise ScenarioError(
                    f"a moment acts on nodes of one kind, and {int(rods.sum())} of {len(rods)} are on no fold; give "
                    "one load for each kind, with groups of their nodes."
                )
            arms = framed.structure.frames.rest_arms[chosen, 0]
            size = np.linalg.norm(arms, axis=1) * np.linalg.norm(self.moment)
            if rods.any() and (np.linalg.norm(np.cross(arms, self.moment), axis=1) < _ALONG * size).all():
                raise ScenarioError(
                    "its moment is about the normal of the shell, where a smooth shell has no rotation, so that it "
                    "would do nothing; give forces in the plane of the shell instead."
                )
            particles = particles[:, : 2 if rods.any() else 4]
            mass = framed.masses(world.rigid_sets.n_nodes)
            return Moment(particles, mass, self.moment, 1.0 if history is None else history)
        force = np.array(self.force)
        if (one := world.inertia.flexible.get(self.body)) is not None:
            forces = np.zeros_like(one.body.mesh.points)
            forces[one.nodes_in(self.group)] = force
            return _dead(one.follow(world.rigid_sets.n_nodes).forces(forces), history)
        if framed is not None:
            force = framed.shares(nodes)[:, None] * force
        return NodalForce(nodes, force) if history is None else NodalLoad(nodes, force, history)


class _FaceLoadTable(_LoadTable):
    """A load on faces, of shells as well."""

    takes_rotations = True
    takes_reduced = True
    group: Annotated[  # pyright: ignore[reportIncompatibleVariableOverride]
        Text | None,
        "Group of faces, of elements (their faces on the boundary) or of points (faces with all nodes in it). Of "
        "shells elements, by default all.",
    ] = None

    def faces(self, world: Builder, group: str) -> tuple[Array, dict[str, IntArray], Interpolation | None]:
        """Return points [p, 3] in m, the faces on them by type, and how they follow nodes, unless they are nodes."""
        if self.body in world.inertia.beams:
            raise ScenarioError(f"'{self.body}' is a beam, which has no faces; give forces on its nodes.")
        if (one := world.inertia.flexible.get(self.body)) is not None:
            return one.body.mesh.points, one.faces_in(self.group), one.follow(world.rigid_sets.n_nodes)
        shell = world.inertia.shells.get(self.body)
        if shell is None:
            if self.group is None:
                raise ScenarioError("group is required, of faces, elements or points.")
            return world.mesh.points, dict(world.mesh.faces_of(group)), None
        frames = shell.structure.frames
        return (
            frames.centers(shell.structure.points),
            shell.faces_in(self.group),
            shell.centers(world.rigid_sets.n_nodes),
        )


class TractionTable(_FaceLoadTable):
    """A force per undeformed area of faces, of constant direction."""

    kind: Literal["traction"]
    traction: Annotated[Triple, vector("Pa"), "Force per undeformed area."]

    def load(self, world: Builder, group: str, history: Factor | None) -> Energy | Load:
        """Return forces on the nodes of faces."""
        points, faces, follow = self.faces(world, group)
        load = SurfaceTraction(points, faces, self.traction, 1.0 if history is None else history)
        if follow is not None:
            return _dead(follow.forces(_spread(load.nodes, load.forces, len(points))), history)
        return NodalForce(load.nodes, load.forces) if history is None else load


class PressureTable(_FaceLoadTable):
    """A pressure on faces, normal to them as they move; of shells on one of their sides."""

    kind: Literal["pressure"]
    pressure: Annotated[float, number("Pa"), "Positive pushes into the body."]
    side: Annotated[
        Literal["top", "bottom"] | None,
        'Of a shell: `"top"`, where its normal is and which is meant by default, or `"bottom"`. It acts on the area of '
        "the surface of nodes.",
    ] = None
    follower: Annotated[
        bool, "`false`: with the directions and areas of the undeformed faces, as in linear analyses."
    ] = True

    @property
    def has_potential(self) -> bool:
        """Whether it is an energy: constant, and not following the surface."""
        return self.history is None and not self.follower

    def load(self, world: Builder, group: str, history: Factor | None) -> Energy | Load:
        """Return the pressure on faces."""
        points, faces, follow = self.faces(world, group)
        if self.side is not None and self.body not in world.inertia.shells:
            raise ScenarioError(f"side is of shells, and '{self.body}' is none; leave the key out.")
        size = -self.pressure if self.side == "bottom" else self.pressure
        if not self.follower:
            forces = Pressure(faces, size)(0.0, points, np.zeros_like(points))
            return _dead(forces if follow is None else follow.forces(forces), history)
        load = Pressure(faces, size, 1.0 if history is None else history)
        return load if follow is None else follow.of_load(load)


def _spread(nodes: IntArray, forces: Array, n: int) -> Array:
    """Return forces [k, 3] on nodes [k] as those on n nodes."""
    out = np.zeros((n, 3))
    out[nodes] = forces
    return out


def _dead(forces: Array, history: Factor | None) -> Energy | Load:
    """Return forces [n, 3] in N of constant directions."""
    nodes = np.flatnonzero(forces.any(axis=1)).astype(np.int32)
    if not len(nodes):
        raise ScenarioError("it is zero everywhere; leave it out.")
    return NodalForce(nodes, forces[nodes]) if history is None else NodalLoad(nodes, forces[nodes], history)


class _BodyForceTable(_LoadTable):
    takes_rotations = True
    takes_reduced = True
    group: Annotated[Text | None, "Group of elements; by default the whole body."] = None  # pyright: ignore[reportIncompatibleVariableOverride]

    def load(self, world: Builder, group: str, history: Factor | None) -> Energy | Load:
        """Return forces on what has mass."""
        mass = world.inertia.mass_of(self.body, self.group, of_motion=isinstance(self, GravityLoadTable))
        if not nodal_masses("a load", mass).any():
            raise ScenarioError(f"group '{self.group}' of '{self.body}' has no elements with mass.")
        if isinstance(self, CentrifugalLoadTable) and self.follows:
            energy = Centrifugal(mass, self.angular_velocity, self.point)
            return energy if history is None else EnergyLoad(energy, history)
        forces = self.of_mass(mass, world.inertia.positions())
        return _dead(forces, history)

    def of_mass(self, mass: Array | sp.csr_array, points: Array) -> Array:
        """Return the nodal forces [n, 3] in N at the places of the start."""
        raise NotImplementedError


class GravityLoadTable(_BodyForceTable):
    """The weight of a body, or of a group of its elements."""

    kind: Literal["gravity"]
    acceleration: Annotated[Triple, vector("m/s²"), "In addition to that of `[gravity]`."]

    def of_mass(self, mass: Array | sp.csr_array, points: Array) -> Array:
        """Return masses times the acceleration."""
        return np.outer(nodal_masses("a load", mass), self.acceleration)


class CentrifugalLoadTable(_BodyForceTable):
    """The centrifugal forces on a body, or a group of its elements, in a frame that rotates steadily.

    A force on a body in a frame at rest, without Coriolis forces: for the equilibrium of what rotates steadily, with
    ``[start] kind = "static"``. It acts on consistent masses, whatever ``mass`` is.
    """

    kind: Literal["centrifugal"]
    angular_velocity: Annotated[Triple, nonzero("rad/s"), "ω, along the axis."]
    point: Annotated[Triple, vector("m"), "Point of the axis."]
    follows: Annotated[
        bool,
        "`true`: m ω² r at the places where nodes are, with a potential without `history`; `false`: at the "
        "undeformed places, constant, as in linear analyses.",
    ] = True

    def of_mass(self, mass: Array | sp.csr_array, points: Array) -> Array:
        """Return the forces of the rotation."""
        out = np.zeros_like(points)
        Centrifugal(mass, self.angular_velocity, self.point).add_gradient(points, out)
        return -out


LoadTable = NodalLoadTable | TractionTable | PressureTable | GravityLoadTable | CentrifugalLoadTable
