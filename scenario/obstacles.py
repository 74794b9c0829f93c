"""The tables of obstacles, and what they describe."""

from __future__ import annotations

from typing import Annotated, Literal, cast

import numpy as np
from numpy.typing import ArrayLike
from pydantic import model_validator

from symplex.base.quantities import ZERO, Name, Text, Triple, positive, vector
from symplex.contact.obstacles import Box, Capsule, Cylinder, HalfSpace, Obstacle, Sphere
from symplex.scenario.friction import FrictionTable
from symplex.scenario.rigid import SurfaceTable
from symplex.scenario.rigid_motion import RigidMotionTable
from symplex.scenario.table import Rotation, Table, one_of


class _ObstacleTable(FrictionTable, RigidMotionTable):
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
    def middle(self) -> Triple:
        """The point in m about which it turns."""
        raise NotImplementedError

    @property
    def is_carried(self) -> bool:
        """Whether one node carries it: it moves, but does not turn."""
        return (self.is_free or self.is_driven) and not self.is_framed

    @property
    def is_framed(self) -> bool:
        """Whether it moves and turns with a frame of four nodes: with a mass all do but spheres without spin."""
        return self.turns or (self.is_free and not isinstance(self, SphereTable))

    @property
    def has_secant(self) -> bool:
        """Whether its contact has a secant form: on a frame, and of carried spheres, as pairs have one."""
        return self.is_framed or (self.is_carried and isinstance(self, SphereTable))

    def _require_no_mass(self, why: str) -> None:
        if self.is_free:
            raise ValueError(
                f"{why}, so it can have no {'mass' if self.mass is not None else 'density'}; "
                'take a sphere, a capsule, a box or kind = "surface", or give it a motion'
            )

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
        self._require_no_mass("a half-space has no end")
        return self

    @property
    def middle(self) -> Triple:
        """The point of the plane."""
        return self.point


class SphereTable(_ObstacleTable):
    """A rigid ball or, of the inside, a vessel; with a mass it moves, and turns if an angular velocity is given."""

    kind: Literal["sphere"]
    center: Annotated[Triple, vector("m")]
    radius: Annotated[float, positive("m")]
    inside: bool = False

    @model_validator(mode="after")
    def _check_mass(self) -> SphereTable:
        if self.inside and (self.density is not None or (self.is_free and self.turns)):
            self._require_no_mass("a vessel has no volume that could rotate")
        return self

    @property
    def middle(self) -> Triple:
        """The centre."""
        return self.center

    @property
    def own_mass(self) -> float:
        """The mass in kg of one that moves freely."""
        return self.mass if self.mass is not None else 4.0 / 3.0 * np.pi * self.radius**3 * cast(float, self.density)


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
        self._require_no_mass("a cylinder has no ends")
        return self

    @property
    def middle(self) -> Triple:
        """The point of the axis."""
        return self.point


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
        if self.inside:
            self._require_no_mass("a vessel has no volume")
        return self

    @property
    def middle(self) -> Triple:
        """The middle between the ends."""
        return cast(Triple, tuple((0.5 * (np.array(self.start) + np.array(self.end))).tolist()))


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
        if self.inside:
            self._require_no_mass("a container has no volume")
        return self

    @property
    def middle(self) -> Triple:
        """The centre."""
        return self.center


ShapedTable = HalfSpaceTable | SphereTable | CylinderTable | CapsuleTable | BoxTable  # with a gap in closed form
ObstacleTable = ShapedTable | SurfaceTable

OBSTACLES: dict[str, type[Table]] = {
    "half-space": HalfSpaceTable,
    "sphere": SphereTable,
    "cylinder": CylinderTable,
    "capsule": CapsuleTable,
    "box": BoxTable,
    "surface": SurfaceTable,
}


def obstacle_of(table: ShapedTable, origin: ArrayLike = ZERO) -> Obstacle:
    """Return the obstacle that a table describes, as seen from a point in m, such as the node that carries it."""

    def seen(place: Triple) -> np.ndarray:
        return np.array(place) - np.asarray(origin)

    match table:
        case HalfSpaceTable():
            return HalfSpace(seen(table.point), table.normal, table.normalize)
        case SphereTable():
            return Sphere(seen(table.center), table.radius, table.inside)
        case CylinderTable():
            return Cylinder(seen(table.point), table.axis, table.radius, table.inside)
        case CapsuleTable():
            return Capsule(seen(table.start), seen(table.end), table.radius, table.inside)
        case BoxTable():
            axes = None if table.rotate is None else table.rotate.matrix.T
            return Box(seen(table.center), table.size, axes, table.inside)
