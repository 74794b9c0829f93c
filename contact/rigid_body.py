"""Rigid bodies that move: a surface, and how its mass is distributed."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.contact.surfaces import Surface
from symplex.errors import InvalidSystem, MeshError, StepFailed
from symplex.fem.assembly.copying import Copyable
from symplex.fem.assembly.pattern import Array
from symplex.fem.mass_properties import MassProperties
from symplex.meshes.closed_surfaces import box_surface, cylinder_surface, sphere_surface
from symplex.meshes.mesh import Mesh

_ORTHONORMAL = 1e-9


@partial(checked, but=("properties",))
@final
class RigidBody(Copyable):
    """A body that does not deform, with a surface of triangles.

    In a system it is four particles with the same mass, centre and moments of inertia (`MassProperties`), so that all
    integrators take it as any four nodes; `RigidBodies` puts some into a system. Its points move with the particles, by
    weights that are constant.

    Parameters
    ----------
    mesh : Mesh
        Of the triangles of a surface, or of volume cells, whose boundary is the surface.
    properties : MassProperties

    Attributes
    ----------
    mesh : Mesh
        In three dimensions, where the body is at rest.
    properties : MassProperties
    """

    def __init__(self, mesh: Mesh, properties: MassProperties):
        self.mesh, self.properties = mesh, properties
        self._surface = _surface(mesh)

    @classmethod
    @checked
    def of(cls, mesh: Mesh, *, density: float | None = None, mass: float | None = None) -> Self:
        """Return the body that a mesh of a closed surface of triangles, or of volume cells, bounds.

        Parameters
        ----------
        mesh : Mesh
            With outward triangles, if it is a surface.
        density : float, optional
            In kg/m³; or
        mass : float, optional
            in kg, evenly distributed.

        Raises
        ------
        InvalidSystem
            If not one of both is given, or it is not positive.
        MeshError
            If the mesh has no faces, or its surface is open, turned inside out, or of parts that overlap.
        """
        surface = _surface(mesh)
        if not all(surface.has_volume):
            raise MeshError(
                "the surface of a rigid body is open: some edges have no triangle on the other side. Close it, or give "
                "its mass and inertia as MassProperties: RigidBody(mesh, properties)."
            )
        from symplex.contact.penetration import counted_twice  # compiled when first needed

        if (where := counted_twice(mesh.points, surface.triangles)) is not None:
            raise MeshError(
                f"the surface of a rigid body must bound each part of its volume once, but {where}. Join its parts to "
                "one surface, let the normals of cavities point into them, or give mass and inertia as MassProperties."
            )
        one = MassProperties.of_surface(mesh.points, surface.triangles, 1.0)
        return cls(mesh, one.scaled(mass_of(one.mass, density, mass) / one.mass))

    @classmethod
    @checked
    def sphere(
        cls, radius: float, *, density: float | None = None, mass: float | None = None, refinements: int = 3
    ) -> Self:
        """Return a ball about the origin, with the inertia of a ball and a surface of triangles with corners on it.

        Parameters
        ----------
        radius : float
            In m.
        density, mass : float
            As in `of`.
        refinements : int, default 3
            How often the twenty faces of an icosahedron are cut into four.

        Raises
        ------
        InvalidSystem
            As `of`.
        MeshError
            If the radius is not positive, or there are too many triangles.
        """
        mesh = sphere_surface(radius, refinements)
        mass = mass_of(4.0 / 3.0 * np.pi * radius**3, density, mass)
        return cls(mesh, MassProperties(mass, np.zeros(3), np.full(3, 0.4 * mass * radius**2)))

    @classmethod
    @checked
    def box(
        cls,
        size: ArrayLike,
        *,
        density: float | None = None,
        mass: float | None = None,
        cells: tuple[int, int, int] = (1, 1, 1),
    ) -> Self:
        """Return a block about the origin with edges along the axes.

        Parameters
        ----------
        size : float64 [3]
            In m.
        density, mass : float
            As in `of`.
        cells : int [3], default (1, 1, 1)
            How many squares of two triangles its faces have along each axis.

        Raises
        ------
        InvalidSystem
            As `of`.
        MeshError
            If a length is not positive.
        """
        return cls.of(box_surface(size, cells), density=density, mass=mass)

    @classmethod
    @checked
    def cylinder(
        cls,
        radius: float,
        length: float,
        *,
        density: float | None = None,
        mass: float | None = None,
        rings: int = 4,
        layers: int | None = None,
    ) -> Self:
        """Return a round bar about the origin along the z axis, with the inertia of a cylinder.

        Parameters
        ----------
        radius, length : float
            In m.
        density, mass : float
            As in `of`.
        rings : int, default 4
            Rings of triangles on the flat ends; the outermost one has six times as many corners.
        layers : int, optional
            Along its length; default: with triangles of about the same size.

        Raises
        ------
        InvalidSystem
            As `of`.
        MeshError
            If a length is not positive.
        """
        mesh = cylinder_surface(radius, length, rings, layers)
        mass = mass_of(np.pi * radius**2 * length, density, mass)
        across = mass * (radius**2 / 4.0 + length**2 / 12.0)
        return cls(mesh, MassProperties(mass, np.zeros(3), [across, across, 0.5 * mass * radius**2]))

    def placed(self, center: ArrayLike, rotation: ArrayLike | None = None) -> RigidBody:
        """Return the body with its centre of mass elsewhere, turned about it.

        Parameters
        ----------
        center : float64 [3]
            In m.
        rotation : float64 [3, 3], optional
            Default: none.

        Raises
        ------
        InvalidSystem
            If it is no rotation.
        """
        R, to = np.eye(3) if rotation is None else np.array(rotation, dtype=float), np.array(center, dtype=float)
        if R.shape != (3, 3) or not np.abs(R @ R.T - np.eye(3)).max() < _ORTHONORMAL or np.linalg.det(R) < 0.0:
            raise InvalidSystem("the rotation of a rigid body must be an orthogonal matrix [3, 3] of determinant 1.")
        old = self.properties
        points = to + (self.mesh.points - old.center) @ R.T
        return RigidBody(replace(self.mesh, points=points), MassProperties(old.mass, to, R @ old.inertia @ R.T))

    def held_at(self, pivot: ArrayLike) -> RigidBody:
        """Return the body held at a point [3] in m, about which it rotates, for `RigidBodies.frames`.

        Raises
        ------
        InvalidSystem
            If the point is no point, or too far away.
        """
        return RigidBody(self.mesh, self.properties.held_at(pivot))

    @property
    def particles(self) -> Array:
        """The positions [4, 3] in m of its particles at rest."""
        return self.properties.particles

    def surface(self, name: str) -> Surface:
        """Return the surface, of a body of this name, in the numbering of the points of the mesh."""
        return _surface(self.mesh, name)

    def velocities(self, linear: ArrayLike = (0.0, 0.0, 0.0), angular: ArrayLike = (0.0, 0.0, 0.0)) -> Array:
        """Return velocities [4, 3] in m/s of the particles.

        Parameters
        ----------
        linear : float64 [3], optional
            Of the centre of mass in m/s.
        angular : float64 [3], optional
            In rad/s, in the coordinate axes.
        """
        v, omega = np.array(linear, dtype=float), np.array(angular, dtype=float)
        if v.shape != (3,) or omega.shape != (3,) or not np.isfinite([v, omega]).all():
            raise InvalidSystem(f"the velocities of a rigid body must be finite, [3]; they are {linear} and {angular}.")
        return v + np.cross(omega, self.particles - self.properties.center)

    # -- where it is, from its particles ----------------------------------------------------------------------

    def pose(self, x: Array) -> tuple[Array, Array]:
        """Return the centre of mass [3] in m and the rotation [3, 3] from where it is at rest, from particles [4, 3].

        The rotation is that next to the affine map of the particles, which energies keep near one and constraints make
        one.
        """
        own = self.properties
        center, rest = own.masses @ x / own.mass, (own.particles - own.center) @ own.axes.T
        axes = (own.masses[:, None] * rest).T @ (x - center) / own.mass / own.radii[:, None] ** 2  # F e_k
        U, _, V = np.linalg.svd(axes.T @ own.axes)
        U[:, 2] *= np.linalg.det(U @ V)
        return center, U @ V

    def motion(self, x: Array, v: Array) -> tuple[Array, Array]:
        """Return the velocity [3] in m/s of the centre and the angular velocity [3] in rad/s, in space.

        It is that with which the body at x [4, 3] has the angular momentum of its particles of velocities v [4, 3].
        """
        velocity, omega = motion_of(self.properties.masses, x, v)[1:]
        return velocity, omega


def motion_of(masses: Array, x: Array, v: Array) -> tuple[Array, Array, Array]:
    """Return the centre of mass [3], its velocity [3] and the angular velocity [3] of particles with masses [4]."""
    share = masses / masses.sum()
    center, velocity = share @ x, share @ v
    y = x - center
    second = (share[:, None] * y).T @ y
    moment = share @ np.cross(y, v - velocity)
    try:
        return center, velocity, np.linalg.solve(np.trace(second) * np.eye(3) - second, moment)
    except np.linalg.LinAlgError:
        raise StepFailed("the particles of a rigid body have come to one line or point. Take a smaller dt.") from None


def _surface(mesh: Mesh, name: str = "body") -> Surface:
    """Return the surface of a mesh of volume cells or triangles as that of one body."""
    volumes = Surface.of(mesh) if mesh.volume_types else None
    triangles = mesh.cells_of("triangle") if volumes is None else volumes.triangles
    if mesh.points.shape[1:] != (3,) or not len(triangles):
        raise MeshError("a rigid body has a mesh of triangles or of volume cells in three dimensions.")
    return Surface.from_triangles(mesh.points, triangles, name)


def mass_of(volume: float, density: float | None, mass: float | None) -> float:
    """Return the mass in kg of a body of a volume in m³, given it or the density."""
    if (density is None) == (mass is None):
        raise InvalidSystem("a rigid body has a density or a mass: give one of both.")
    name, given, unit = ("density", density, "kg/m³") if mass is None else ("mass", mass, "kg")
    if given is None or not (np.isfinite(given) and given > 0.0):
        raise InvalidSystem(f"the {name} of a rigid body must be positive; it is {given:g} {unit}.")
    return volume * given if mass is None else given
