"""The table of velocities at the start, and the velocities of all nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
from pydantic import model_validator

from symplex.fem.energy import Array
from symplex.fem.velocities import velocity_field
from symplex.meshes.mesh import Mesh
from symplex.scenario.quantities import Quantity, Table, Text, Triple, shown, vector
from symplex.scenario.selections import nodes_in, nodes_named


def _matrix(value: Any) -> tuple[Triple, Triple, Triple]:
    if not isinstance(value, list | tuple) or len(value) != 3:
        raise ValueError(f"is {shown(value)}, must be three rows of three numbers (1/s)")
    x, y, z = (vector("1/s").check(row) for row in value)
    return x, y, z


class VelocityTable(Table):
    """What is added to the velocities of a body, or of one of its groups, at the start."""

    body: Text
    group: Text | None = None
    velocity: Annotated[Triple | None, vector("m/s")] = None
    angular_velocity: Annotated[Triple | None, vector("rad/s")] = None
    gradient: Annotated[tuple[Triple, Triple, Triple] | None, Quantity(_matrix, "1/s")] = None
    point: Annotated[Triple | None, vector("m")] = None

    @property
    def name(self) -> None:
        """None: nothing is named after it."""

    @model_validator(mode="after")
    def _check(self) -> VelocityTable:
        if self.velocity is None and self.angular_velocity is None and self.gradient is None:
            raise ValueError("has no motion; give velocity, angular_velocity, gradient, or several of these")
        if self.point is not None and self.angular_velocity is None and self.gradient is None:
            raise ValueError("point goes with angular_velocity or gradient, which vanish there")
        return self

    def add(self, mesh: Mesh, masses: Mapping[str, Array], v: Array) -> None:
        """Add to the velocities of nodes v [n, 3], about a point, or the centre of mass of those that are meant.

        Parameters
        ----------
        mesh : Mesh
        masses : mapping of str to float64 [n]
            Lumped masses of nodes in kg, by body.
        v : float64 [n, 3]

        Raises
        ------
        ScenarioError
            If there is no such group.
        """
        nodes = nodes_in(mesh, nodes_named(self.body, self.group))
        x, m = mesh.points[nodes], masses[self.body][nodes]
        centre = m @ x / m.sum() if m.any() else x.mean(axis=0)
        still = (0.0, 0.0, 0.0)
        point = centre if self.point is None else np.array(self.point)
        v[nodes] += velocity_field(x, self.velocity or still, self.angular_velocity or still, self.gradient, point)
