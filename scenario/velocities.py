"""The table of velocities at the start."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from symplex.base.quantities import ZERO, Quantity, Text, Triple, refused, vector
from symplex.fem.energies.energy import Array, IntArray
from symplex.fem.velocities import velocity_field
from symplex.meshes.mesh import Mesh
from symplex.scenario.selections import nodes_in, nodes_named
from symplex.scenario.table import BodyName, Entry

if TYPE_CHECKING:
    from symplex.scenario.tables import Tables


def _matrix(value: Any) -> tuple[Triple, Triple, Triple]:
    if not isinstance(value, list | tuple) or len(value) != 3:
        raise refused("three rows of three numbers (1/s)", value)
    x, y, z = (vector("1/s").check(row) for row in value)
    return x, y, z


def wrong_velocities(tables: Tables) -> list[str]:
    """Return lines about velocities at the start that would have no effect, as the start has others or none."""
    start = None if tables.start is None else tables.start.kind
    if tables.integrators[0].kind == "static":
        why = 'the run begins with kind = "static", which moves without velocities'
        advice = 'To add velocities to an equilibrium, begin with [start] kind = "static" instead'
    elif start == "result":
        why, advice = '[start] kind = "result" takes those of another run', "To change them give a perturbation"
    else:
        return []
    lines = [
        f"{here}: {velocity} has no effect, as {why}; leave it out. {advice}."
        for here, item in tables.entries()
        for velocity in item.initial_velocities
    ]
    if tables.start is not None and tables.integrators[0].kind == "static":
        changed = tables.start.perturbation
        if start == "relative-equilibrium":
            lines.append(f"[start]: the rotation has no effect, as {why}; begin with another integrator.")
        elif changed is not None and changed.of == "velocities":
            lines.append(f"[start]: the perturbation of velocities has no effect, as {why}; leave it out.")
    return lines


class VelocityTable(Entry):
    """Initial velocity field: what is added to the velocities of a body, v₀ + ω × (x − p) + G (x − p)."""

    takes_rotations = True
    takes_reduced = True
    body: BodyName
    group: Annotated[Text | None, "Group of nodes; by default the whole body."] = None
    velocity: Annotated[Triple | None, vector("m/s"), "v₀."] = None
    angular_velocity: Annotated[Triple | None, vector("rad/s"), "ω."] = None
    gradient: Annotated[
        tuple[Triple, Triple, Triple] | None, Quantity(_matrix, "1/s", "three rows of three numbers"), "G."
    ] = None
    point: Annotated[Triple | None, vector("m"), "p; by default the centre of mass of these nodes."] = None

    @property
    def initial_velocities(self) -> list[str]:
        """All of it."""
        return ["it"]

    def _check(self) -> None:
        if self.velocity is None and self.angular_velocity is None and self.gradient is None:
            raise ValueError("has no motion; give velocity, angular_velocity, gradient, or several of these")
        if self.point is not None and self.angular_velocity is None and self.gradient is None:
            raise ValueError("point goes with angular_velocity or gradient, which vanish there")

    def field(self, mesh: Mesh, masses: Mapping[str, Array]) -> tuple[IntArray, Array]:
        """Return the nodes [m] that are meant, and what is added to their velocities [m, 3] in m/s.

        The field is about a point, or the centre of mass of these nodes.

        Parameters
        ----------
        mesh : Mesh
        masses : mapping of str to float64 [n]
            Lumped masses of nodes in kg, by body.
        """
        nodes = nodes_in(mesh, nodes_named(self.body, self.group))
        x, m = mesh.points[nodes], masses[self.body][nodes]
        centre = m @ x / m.sum() if m.any() else x.mean(axis=0)
        point = centre if self.point is None else np.array(self.point)
        return nodes, velocity_field(x, self.velocity or ZERO, self.angular_velocity or ZERO, self.gradient, point)
