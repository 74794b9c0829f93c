"""The tables of obstacles, and what they describe."""

from __future__ import annotations

from typing import Annotated, Literal, cast

from pydantic import model_validator

from symplex.contact.obstacles import Box, Capsule, Cylinder, HalfSpace, Obstacle, Sphere
from symplex.scenario.friction import FrictionTable
from symplex.scenario.quantities import ZERO, Name, Rotation, Table, Text, Triple, one_of, positive, vector


class _ObstacleTable(FrictionTable):
    name: Name
    stiffness: Annotated[float | None, positive("N/m")] = None
    penalty: Annotated[float | None, positive("m/N")] = None
    bodies: list[Text] | None = None
    allow_initial_penetration: bool = False

    @model_validator(mode="after")
    def _check(self) -> _ObstacleTable:
        one_of(self, ["stiffness", "penalty"], "contact parameter")
        if self.bodies == []:
            raise ValueError("bodies is [], must name a body; without the key all bodies are meant")
        return self

    @property
    def contact_stiffness(self) -> float:
        """The penalty stiffness k = 1/ε in N/m."""
        return 1.0 / self.penalty if self.penalty is not None else cast(float, self.stiffness)


class HalfSpaceTable(_ObstacleTable):
    """A half-space bounded by a plane."""

    kind: Literal["half-space"]
    point: Annotated[Triple, vector("m")]
    normal: Annotated[Triple, vector("1")]
    normalize: bool = True

    @model_validator(mode="after")
    def _check_normal(self) -> HalfSpaceTable:
        if not any(self.normal):
            raise ValueError("normal is zero, must be a direction, towards the free side")
        return self


class SphereTable(_ObstacleTable):
    """A rigid ball or, of the inside, a vessel; with a mass it moves."""

    kind: Literal["sphere"]
    center: Annotated[Triple, vector("m")]
    radius: Annotated[float, positive("m")]
    inside: bool = False
    mass: Annotated[float | None, positive("kg")] = None
    velocity: Annotated[Triple, vector("m/s")] = ZERO

    @model_validator(mode="after")
    def _check_mass(self) -> SphereTable:
        if self.mass is None and any(self.velocity):
            raise ValueError("velocity goes with mass: an obstacle without mass stands still")
        return self


class CylinderTable(_ObstacleTable):
    """A round bar without ends, or a pipe."""

    kind: Literal["cylinder"]
    point: Annotated[Triple, vector("m")]
    axis: Annotated[Triple, vector("1")]
    radius: Annotated[float, positive("m")]
    inside: bool = False

    @model_validator(mode="after")
    def _check_axis(self) -> CylinderTable:
        if not any(self.axis):
            raise ValueError("axis is zero, must be a direction")
        return self


class CapsuleTable(_ObstacleTable):
    """A round bar with hemispheres for ends, or the inside of it."""

    kind: Literal["capsule"]
    start: Annotated[Triple, vector("m")]
    end: Annotated[Triple, vector("m")]
    radius: Annotated[float, positive("m")]
    inside: bool = False

    @model_validator(mode="after")
    def _check_ends(self) -> CapsuleTable:
        if self.start == self.end:
            raise ValueError('start and end are one point, must be two; take kind = "sphere"')
        return self


class BoxTable(_ObstacleTable):
    """A block, or a container."""

    kind: Literal["box"]
    center: Annotated[Triple, vector("m")]
    size: Annotated[Triple, vector("m")]
    rotate: Rotation | None = None
    inside: bool = False

    @model_validator(mode="after")
    def _check_size(self) -> BoxTable:
        if min(self.size) <= 0:
            raise ValueError(f"size is {list(self.size)}, must be three positive lengths (m)")
        return self


ObstacleTable = HalfSpaceTable | SphereTable | CylinderTable | CapsuleTable | BoxTable

OBSTACLES: dict[str, type[Table]] = {
    "half-space": HalfSpaceTable,
    "sphere": SphereTable,
    "cylinder": CylinderTable,
    "capsule": CapsuleTable,
    "box": BoxTable,
}


def obstacle_of(table: ObstacleTable, is_carried: bool = False) -> Obstacle:
    """Return the obstacle that a table describes; as seen from the node that carries it, if there is one."""
    match table:
        case HalfSpaceTable():
            return HalfSpace(table.point, table.normal, table.normalize)
        case SphereTable():
            return Sphere(ZERO if is_carried else table.center, table.radius, table.inside)
        case CylinderTable():
            return Cylinder(table.point, table.axis, table.radius, table.inside)
        case CapsuleTable():
            return Capsule(table.start, table.end, table.radius, table.inside)
        case BoxTable():
            axes = None if table.rotate is None else table.rotate.matrix.T
            return Box(table.center, table.size, axes, table.inside)
