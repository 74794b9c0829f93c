"""The table of nodes that move with a frame, and what it describes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, ClassVar

from symplex.base.quantities import Name, Text, Triple, vector
from symplex.errors import ScenarioError
from symplex.fem.structures.coupling import Coupling
from symplex.fem.structures.joints import columns_of
from symplex.meshes.mesh import Mesh
from symplex.scenario.actions import Timed, time_or_name
from symplex.scenario.joints import FRAMED, node_of_frame, particles_of
from symplex.scenario.selections import group_in
from symplex.scenario.table import BodyName, Need

if TYPE_CHECKING:
    from symplex.scenario.building import Builder
    from symplex.scenario.tables import Tables


class CouplingTable(Timed):
    """A kinematic coupling (RBE2): nodes of a body move with a rigid body, or a node of a beam or shell, as if rigid.

    Such as the bore of a solid on a pin that has a ``[[joint]]``, or the end of a beam in a block. It is exact and has
    no stiffness; energy and both momenta are conserved. Force and moment are those on the rigid body or node, about its
    centre ([joints.md](../joints.md#solids)).
    """

    of_all = False
    takes_reduced = True
    begin: ClassVar[float] = 0.0  # pyright: ignore[reportIncompatibleVariableOverride]
    until: Annotated[
        float | None, time_or_name(), "Time until which it holds, or the name of a `[[when]]`: then nodes are free."
    ] = None
    name: Annotated[Name, "Names its columns: `NAME_force_x`, `NAME_moment_x`, …"]
    body: BodyName
    group: Annotated[
        Text | None, "Nodes of it that move with the other body, by default all; no supports hold them."
    ] = None
    to: Annotated[str, FRAMED, "Rigid body with a mass, beam or shell."]
    at: Annotated[Triple | None, vector("m"), "Of beams and shells: where their node is at the start."] = None
    to_group: Annotated[Text | None, "Instead of that: their group of one node."] = None

    def _check(self) -> None:
        if self.at is not None and self.to_group is not None:
            raise ValueError("has at and to_group; give one of them")

    def columns(self, tables: Tables) -> Iterable[str]:
        """Force and moment, and what works are called."""
        return [*(column.name for column in columns_of(Coupling.kind, self.name)), f"work_{self.name}"]

    def needs(self) -> Iterable[Need]:
        """Joints."""
        yield Need("joints", "{kind} cannot keep couplings; take another integrator, such as {others}.")

    def framed_nodes(self, body: str, mesh: Mesh) -> list[int]:
        """Return the nodes of beams or shells, in their own mesh, that it needs the frames of."""
        return [node_of_frame(mesh, body, self.at, self.to_group)] if body == self.to else []

    def add_stiffness(self, world: Builder) -> None:
        """Add the coupling."""
        if self.to not in world.inertia.framed and self.at is not None:
            raise ScenarioError(f"at is of beams and shells, and '{self.to}' is a rigid body; leave it out.")
        particles = particles_of(world, self.to, self.at, self.to_group)
        nodes = world.mesh.nodes_of(group_in(world.mesh, self.body, self.group))
        world.add(self.name, Coupling(particles, nodes, world.inertia.positions()))
