"""The tables of rigid bodies and rigid surfaces, and what they describe."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, cast

import numpy as np

from symplex.base.quantities import ZERO, FilePath, Name, Text, Triple, counts, lengths, positive, vector, whole
from symplex.contact.rigid_body import RigidBody
from symplex.contact.surfaces import Surface
from symplex.errors import MeshError
from symplex.fem.energies.energy import Array, IntArray
from symplex.fem.mass_properties import MassProperties
from symplex.meshes.bundled_meshes import bundled
from symplex.meshes.closed_surfaces import box_surface, cylinder_surface, sphere_surface
from symplex.meshes.formats.read import read_mesh
from symplex.meshes.mesh import Mesh
from symplex.scenario.contacts import ContactTable
from symplex.scenario.rigid_motion import PIVOTS, RigidMotionTable
from symplex.scenario.table import TOUCHED, Rotation, Table, TouchingName, one_of, placed

if TYPE_CHECKING:
    from symplex.scenario.tables import Tables

_SAME = 1e-9  # of the size of a surface: how near to each other corners of its triangles are one


class ShapeTable(Table):
    """Where a rigid surface comes from; a text alone is the name of a file."""

    file: Annotated[FilePath | None, "STL or mesh file; of volume cells it is their boundary."] = None
    bundled: Annotated[Text | None, 'A part that comes with symplex, such as `"bracket"`.'] = None
    sphere: Annotated[float | None, positive("m"), "Radius of a ball about the origin."] = None
    refinements: Annotated[int, whole(0, 7), "How often the triangles of the ball are halved."] = 3
    box: Annotated[Triple | None, lengths("m"), "Edges of a block about the origin."] = None
    cells: Annotated[tuple[int, int, int], counts(1000), "Squares along the edges of the block."] = (1, 1, 1)
    cylinder: Annotated[float | None, positive("m"), "Radius of a bar along z about the origin."] = None
    length: Annotated[float | None, positive("m"), "Length of the bar."] = None
    rings: Annotated[int, whole(1, 200), "Circles of triangles of the bar."] = 4

    @classmethod
    def _prepared(cls, value: Any) -> Any:
        return {"file": value} if isinstance(value, str) else value

    def _check(self) -> None:
        source = self.source
        for key, owner in (("refinements", "sphere"), ("cells", "box"), ("length", "cylinder"), ("rings", "cylinder")):
            if key in self.given_keys and source != owner:
                raise ValueError(f"{key} goes with {owner}, not with {source}")
        if self.cylinder is not None and self.length is None:
            raise ValueError("cylinder, a radius, needs length (m)")

    @property
    def source(self) -> str:
        """Which of the sources is given."""
        return one_of(self, ["file", "bundled", "sphere", "box", "cylinder"], "source")

    def mesh(self, scale: float, folder: Path) -> tuple[Mesh, str]:
        """Return a mesh and what to call it in messages; files are looked for in a folder."""
        if self.file is not None:
            path = folder / self.file
            return read_mesh(path, scale=scale, require_volume=False), path.name
        if self.bundled is not None:
            mesh, called = read_mesh(bundled(self.bundled)), self.bundled
        elif self.sphere is not None:
            mesh, called = sphere_surface(self.sphere, self.refinements), "sphere"
        elif self.box is not None:
            mesh, called = box_surface(self.box, self.cells), "box"
        else:
            radius, length = cast(float, self.cylinder), cast(float, self.length)
            mesh, called = cylinder_surface(radius, length, self.rings), "cylinder"
        return replace(mesh, points=mesh.points * scale), called


class RigidTable(RigidMotionTable):
    """A rigid surface, that stands still, moves in a given way, or freely with a mass.

    Open surfaces stand still or move in a given way: for a mass a surface must be closed. It may have several closed
    parts, apart, touching or as cavities with their normals into the cavity; parts that overlap are refused.
    """

    name: Annotated[Name, "Names its block, and its energy if it is an obstacle."]
    mesh: Annotated[ShapeTable, "Where its surface comes from."]
    group: Annotated[Text | None, "Only these faces, or the boundary of these elements."] = None
    scale: Annotated[float, positive("m per unit of the file"), "`1e-3` for a file in millimetres."] = 1.0
    flip: Annotated[bool, "Reverse its triangles: normals must point out of a closed surface."] = False
    rotate: Annotated[Rotation | None, "About the mesh's origin, after scaling."] = None
    translate: Annotated[Triple, vector("m"), "After rotating."] = ZERO

    def body(self, folder: Path) -> RigidBody:
        """Return the rigid body where it is at the start; files are looked for in a folder.

        Its mass is 1 kg unless it moves freely: what follows its nodes then does not depend on it.
        """
        mesh, called = self.mesh.mesh(self.scale, folder)
        points, triangles = _surface_of(mesh, self.group, called)
        if self.flip:
            triangles = np.ascontiguousarray(triangles[:, ::-1])
        points = placed(points, self.rotate, self.translate)
        mesh = Mesh(points, {"triangle": triangles}, unknown=mesh.unknown)
        closed = all(Surface.from_triangles(mesh.points, triangles).has_volume)
        if not self.is_free:
            if closed:
                _require_outward(mesh, called)
            low, high = mesh.points.min(axis=0), mesh.points.max(axis=0)
            inertia = np.full(3, 0.1 * float(np.sum((high - low) ** 2)))
            return RigidBody(mesh, MassProperties(1.0, 0.5 * (low + high), inertia))
        if not closed:
            raise MeshError(
                f"the surface of {called} is open: some edges have no triangle on the other side. A body with a mass "
                "needs a closed one; without mass it may stand still, or move in a given way."
            )
        _require_outward(mesh, called)
        return RigidBody.of(mesh, density=self.density, mass=self.mass)


class RigidBodyTable(RigidTable):
    """A rigid body among the others, which ``[[contact]]`` names; it meets obstacles if it has a mass.

    Contact between rigid bodies alone needs a ``stiffness``. Free bodies are [exactly
    rigid](../body-contact.md#rigid-bodies) under most methods; others take the energy ``rigidity``, of a frequency of
    10/``dt`` under implicit methods that conserve energy or the symplectic form, 3/``dt`` under other implicit ones,
    1/``dt`` under explicit ones.
    """

    brings_nodes = True
    pivot: Annotated[
        Triple | None,
        vector("m"),
        "Point that is fixed, exactly or, with the energy `rigidity`, by the energy `pivots`: it rotates about that, "
        "with `angular_velocity`, and has no `velocity`.",
    ] = None

    def _check_pivot(self) -> None:
        if self.pivot is not None and not self.is_free:
            raise ValueError("pivot goes with a mass or density: it is the point about which a free body turns")
        if self.pivot is not None and any(self.velocity or ZERO):
            raise ValueError("has a pivot, about which it can only turn; leave velocity out")

    def columns(self, tables: Tables) -> Iterable[str]:
        """Its pose, and what holds it at its pivot."""
        return [*super().columns(tables), *([PIVOTS] if self.pivot is not None else [])]


class SurfaceTable(RigidTable, ContactTable):
    """An obstacle of any shape: a rigid surface that touches bodies as they touch each other.

    Faces, edges and vertices meet, so that nothing passes between nodes. Without ``distance`` forces begin at a tenth
    of the shortest edge of the bodies, or at the shortest edge of all if that is less.
    """

    kind: Literal["surface"]
    bodies: Annotated[list[TouchingName] | None, TOUCHED] = None  # pyright: ignore[reportIncompatibleVariableOverride]
    with_itself: ClassVar[bool] = False  # pyright: ignore[reportIncompatibleVariableOverride]
    # It follows the particles of a rigid body, and no other nodes carry it.
    is_carried: ClassVar[bool] = False
    is_framed: ClassVar[bool] = False

    def _check_bodies(self) -> None:
        if self.bodies == []:
            raise ValueError("bodies is [], must name a body; without the key all bodies are meant")

    def columns(self, tables: Tables) -> Iterable[str]:
        """Its pose, and forces."""
        return [*RigidTable.columns(self, tables), *ContactTable.columns(self, tables)]

    def among(self, bodies: list[str]) -> list[str]:
        """Return the names of the surface and of the bodies that it may touch, given those of all."""
        meant = bodies if self.bodies is None else self.bodies
        return [self.name, *(name for name in bodies if name in meant and name != self.name)]

    def pairs(self, bodies: list[str]) -> list[tuple[str, str]]:
        """Return the surface with each of the bodies that it may touch, given the names of all bodies."""
        return [(self.name, name) for name in self.among(bodies)[1:]]


def _surface_of(mesh: Mesh, group: str | None, called: str) -> tuple[Array, IntArray]:
    """Return the points [p, 3] and triangles [f, 3] of a surface, or of the boundary of volume cells.

    Corners in one place are one: in STL each triangle has its own.
    """
    if mesh.points.shape[1] != 3:
        raise MeshError(f"{called} is not in three dimensions.")
    if group is not None and group not in mesh.groups:
        raise MeshError(f"group '{group}' is not in {called}; it has: {', '.join(mesh.groups) or 'none'}.")
    if mesh.volume_types:
        triangles = (Surface.of(mesh) if group is None else Surface.of(mesh, group)).triangles
    else:
        quads = mesh.cells_of("quad", group).reshape(-1, 4)
        parts = [mesh.cells_of("triangle", group).reshape(-1, 3), quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]
        triangles = np.concatenate(parts).astype(np.int32)
    if not len(triangles):
        raise MeshError(f"{called} has no triangles, quadrilaterals or volume cells, so it has no surface.")
    used = np.unique(triangles)
    points = mesh.points[used]
    grid = np.round(points / (_SAME * float(np.ptp(points, axis=0).max())))
    _, first, place = np.unique(grid, axis=0, return_index=True, return_inverse=True)
    triangles = place.ravel()[np.searchsorted(used, triangles)].astype(np.int32)
    a, b, c = triangles.T
    return points[first], np.ascontiguousarray(triangles[(a != b) & (b != c) & (c != a)])


def _require_outward(mesh: Mesh, called: str) -> None:
    """Check that the normals of a closed surface point outwards."""
    x = mesh.points[mesh.cells["triangle"]] - mesh.points.mean(axis=0)
    volume = np.einsum("fi,fi->", x[:, 0], np.cross(x[:, 1], x[:, 2])) / 6.0
    if volume < 0.0:
        raise MeshError(
            f"the normals of {called} point inwards, as if all but {-volume:.3g} m³ were solid; flip = true turns its "
            "triangles round."
        )
