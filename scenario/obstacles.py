"""The tables of obstacles, and what they describe."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import declared
from symplex.base.quantities import (
    ZERO,
    FilePath,
    Name,
    Quantity,
    Triple,
    counts,
    lengths,
    nonzero,
    numbers,
    positive,
    refused,
    vector,
    whole,
)
from symplex.contact.obstacles import Box, Capsule, Cylinder, HalfSpace, Obstacle, Sphere
from symplex.contact.spline_surfaces import SplineSurface
from symplex.errors import ScenarioError
from symplex.fem.assembly.pattern import Array
from symplex.scenario.actions import formulas
from symplex.scenario.definitions import formula_at
from symplex.scenario.friction import FrictionTable
from symplex.scenario.prescribed import read_numbers
from symplex.scenario.rigid import SurfaceTable
from symplex.scenario.rigid_motion import RigidMotionTable
from symplex.scenario.table import TOUCHED, Rotation, TouchingName, one_of

if TYPE_CHECKING:
    from symplex.scenario.building import Builder


INSIDE = "The inside is the free side, as of a vessel, a pipe or a container."


class _ObstacleTable(FrictionTable, RigidMotionTable):
    adds_energy = True
    takes_rotations = True
    takes_reduced = True
    name: Annotated[Name, "Names its energy and its block."]
    stiffness: Annotated[float | None, positive("N/m"), "k for each node."] = None
    penalty: Annotated[float | None, positive("m/N"), "ε = 1/k, instead."] = None
    bodies: Annotated[list[TouchingName] | None, TOUCHED] = None
    allow_initial_penetration: Annotated[bool, "A body may start inside it."] = False

    def _check(self) -> _ObstacleTable:
        one_of(self, ["stiffness", "penalty"], "contact parameter")
        if self.bodies == []:
            raise ValueError("bodies is [], must name a body; without the key all bodies are meant")
        return self

    @property
    def without_secant(self) -> list[str]:
        """Where it stands still, or slides without turning; pairs of points have a secant form."""
        return [] if self.has_secant else [self.name]

    def frictions(self, touching: Sequence[str]) -> dict[str, tuple[str, str] | None]:
        """Return the only friction."""
        return {f"friction_{self.name}": None} if self.has_friction else {}

    def add_stiffness(self, world: Builder) -> None:
        """Add its energy and friction."""
        world.contact.add_obstacle(self)  # pyright: ignore[reportArgumentType]

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
    """A half-space bounded by a plane; it can have no mass."""

    kind: Literal["half-space"]
    point: Annotated[Triple, vector("m"), "Point of the plane."]
    normal: Annotated[Triple, nonzero(), "To the free side."]
    normalize: Annotated[
        bool,
        "`false` takes the normal as it is, so that g = (q − point)·normal is no distance: the paper's convention.",
    ] = True

    def _check_normal(self) -> None:
        self._require_no_mass("a half-space has no end")

    @property
    def middle(self) -> Triple:
        """The point of the plane."""
        return self.point


class SphereTable(_ObstacleTable):
    """A rigid ball or, of the inside, a vessel; with a mass it moves, and turns if an angular velocity is given."""

    kind: Literal["sphere"]
    center: Annotated[Triple, vector("m"), "Its centre."]
    radius: Annotated[float, declared(Sphere, "radius")]
    inside: Annotated[bool, INSIDE] = False

    def _check_mass(self) -> None:
        if self.inside and (self.density is not None or (self.is_free and self.turns)):
            self._require_no_mass("a vessel has no volume that could rotate")

    @property
    def middle(self) -> Triple:
        """The centre."""
        return self.center

    @property
    def own_mass(self) -> float:
        """The mass in kg of one that moves freely."""
        return self.mass if self.mass is not None else 4.0 / 3.0 * np.pi * self.radius**3 * cast(float, self.density)


class CylinderTable(_ObstacleTable):
    """A round bar without ends, or a pipe; it can have no mass."""

    kind: Literal["cylinder"]
    point: Annotated[Triple, vector("m"), "Point of its axis."]
    axis: Annotated[Triple, nonzero(), "Direction of its axis."]
    radius: Annotated[float, declared(Cylinder, "radius")]
    inside: Annotated[bool, INSIDE] = False

    def _check_axis(self) -> None:
        self._require_no_mass("a cylinder has no ends")

    @property
    def middle(self) -> Triple:
        """The point of the axis."""
        return self.point


class CapsuleTable(_ObstacleTable):
    """A round bar with hemispheres for ends, or the inside of it."""

    kind: Literal["capsule"]
    start: Annotated[Triple, vector("m"), "Centre of the hemisphere at one end."]
    end: Annotated[Triple, vector("m"), "Centre of that at the other end."]
    radius: Annotated[float, declared(Capsule, "radius")]
    inside: Annotated[bool, INSIDE] = False

    def _check_ends(self) -> None:
        if self.start == self.end:
            raise ValueError('start and end are one point, must be two; take kind = "sphere"')
        if self.inside:
            self._require_no_mass("a vessel has no volume")

    @property
    def middle(self) -> Triple:
        """The middle between the ends."""
        return cast(Triple, tuple((0.5 * (np.array(self.start) + np.array(self.end))).tolist()))


class BoxTable(_ObstacleTable):
    """A block, or a container."""

    kind: Literal["box"]
    center: Annotated[Triple, vector("m"), "Its centre."]
    size: Annotated[Triple, lengths("m"), "Its edges."]
    rotate: Annotated[Rotation | None, "About its centre."] = None
    inside: Annotated[bool, INSIDE] = False

    def _check_size(self) -> None:
        if self.inside:
            self._require_no_mass("a container has no volume")

    @property
    def middle(self) -> Triple:
        """The centre."""
        return self.center


def _grid(value: Any) -> tuple[tuple[Triple, ...], ...]:
    """Return rows of places, all as long."""
    if not isinstance(value, list | tuple) or not value or not all(isinstance(row, list | tuple) for row in value):
        raise refused("rows of places, [[[x, y, z], …], …]", value)
    rows = tuple(tuple(vector("m").check(place) for place in row) for row in value)
    if len({len(row) for row in rows}) > 1:
        raise ValueError(f"must have rows of one length, got {sorted({len(row) for row in rows})} places")
    return rows


def _range(value: Any) -> tuple[float, float]:
    first, last = numbers("", 2).check(value)
    if not first < last:
        raise refused("two ascending numbers", value)
    return first, last


class SplineTable(_ObstacleTable):
    """What is behind a smooth surface, a bicubic spline through a grid of points: one of CAD, or given by formulas.

    The free side is that to which the first direction (u, from row to row) × the second one (v, along a row) points.
    Beyond its edges it continues along its tangents. It can have no mass; it rotates about its origin.
    """

    kind: Literal["spline"]
    points: Annotated[
        tuple[tuple[Triple, ...], ...] | None,
        Quantity(_grid, "m", "rows of places"),
        "Rows of points of the surface, four rows of four at least.",
    ] = None
    file: Annotated[FilePath | None, "File of these instead, a line `x, y, z` for each, row after row."] = None
    rows: Annotated[int | None, whole(4, 10_000), "How many rows the file has."] = None
    map: Annotated[
        tuple[str, str, str] | None,
        Quantity(partial(formulas, names="uv"), "m", "three formulas of u, v"),
        'Or x, y and z by formulas, such as `["u", "v", "0.01*cos(20*u)"]`.',
    ] = None
    u: Annotated[tuple[float, float], Quantity(_range, "", "two numbers"), "From where to where u goes."] = (0.0, 1.0)
    v: Annotated[tuple[float, float], Quantity(_range, "", "two numbers"), "From where to where v goes."] = (0.0, 1.0)
    cells: Annotated[
        tuple[int, int], counts(1000, 3, of=2), "Pieces along u and v of the spline through the formulas."
    ] = (20, 20)
    degree: Annotated[int, declared(SplineSurface, "degree")] = 3
    flip: Annotated[bool, "The free side is the other one."] = False
    translate: Annotated[Triple, vector("m"), "Where its origin is."] = ZERO

    def _check_source(self) -> None:
        source = one_of(self, ["points", "file", "map"], "source")
        if source != "map":
            self.refuse_unused("u", "v", "cells", goes_with=f"map, not with {source}")
        if (self.rows is None) == (source == "file"):
            raise ValueError("rows goes with file, and file needs it: how many rows of points it has")
        self._require_no_mass("a surface has no volume")

    @property
    def middle(self) -> Triple:
        """Its origin."""
        return self.translate

    def grid(self, folder: Path) -> Array:
        """Return its points [r, c, 3] in m, without the translation; files are looked for in a folder."""
        if self.points is not None:
            return np.array(self.points)
        if self.file is not None and self.rows is not None:
            places = np.array(read_numbers(folder / self.file, self.file, 3, "x, y and z (m)"))
            if len(places) % self.rows:
                raise ScenarioError(
                    f"{self.file} has {len(places)} points, which are no {self.rows} rows of one length."
                )
            return places.reshape(self.rows, -1, 3)
        u, v = (np.linspace(*ends, n + 1) for ends, n in zip((self.u, self.v), self.cells, strict=True))
        at = {"u": np.repeat(u, len(v)).tolist(), "v": np.tile(v, len(u)).tolist()}
        return np.column_stack([formula_at(one, at) for one in self.map or ()]).reshape(len(u), len(v), 3)


ShapedTable = (
    HalfSpaceTable | SphereTable | CylinderTable | CapsuleTable | BoxTable | SplineTable
)  # with a gap in closed form
ObstacleTable = ShapedTable | SurfaceTable


def obstacle_of(table: ShapedTable, origin: ArrayLike = ZERO, folder: Path = Path()) -> Obstacle:
    """Return the obstacle that a table describes, as seen from a point in m, such as the node that carries it.

    Files are looked for in a folder.
    """

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
        case SplineTable():
            return SplineSurface(table.grid(folder) + seen(table.translate), table.degree, table.flip)
