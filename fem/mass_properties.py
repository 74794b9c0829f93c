"""How mass is distributed: of closed surfaces with a density, and the four particles with the same inertia."""

from __future__ import annotations

from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem, MeshError
from symplex.fem.assembly.copying import Copyable
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.structures.rigidity import CORNERS

_FLAT = 1e-6  # a radius of gyration relative to the largest below which positions along its axis lose their digits


@checked
@final
class MassProperties(Copyable):
    """The mass of a body, its centre, and its second moments along principal axes.

    A body moves as four particles of a quarter of its mass do, at c + Σ_k s_ak r_k e_k with r_k = √(J_k/m) and the
    signs s_ak of `CORNERS`: they are equimomental, with its mass, its centre and its moments J_k = ∫ x_k² dm about it.

    Parameters
    ----------
    mass : float
        m in kg.
    center : float64 [3]
        c in m.
    inertia : float64 [3, 3] or [3]
        About the centre in kg m²: the matrix in the coordinate axes, or the principal moments where these are those.

    Attributes
    ----------
    axes : float64 [3, 3]
        The principal axes e_k, one in each row, right-handed.
    radii : float64 [3]
        r_k in m.

    Raises
    ------
    InvalidSystem
        If the mass is not positive, or the inertia that of no body, or of one without an extent along one axis.
    """

    def __init__(self, mass: float, center: ArrayLike, inertia: ArrayLike):
        self.center, about = np.array(center, dtype=float), np.array(inertia, dtype=float)
        about = np.diag(about) if about.shape == (3,) else about
        if not (np.isfinite(mass) and mass > 0.0):
            raise InvalidSystem(f"the mass of a body must be positive; it is {mass:g} kg.")
        if self.center.shape != (3,) or not np.isfinite(self.center).all():
            raise InvalidSystem(f"the centre of a body must be three finite numbers; it is {center}.")
        is_matrix = about.shape == (3, 3) and np.isfinite(about).all()
        if not is_matrix or np.abs(about - about.T).max() > 1e-9 * np.abs(about).max():
            raise InvalidSystem(f"an inertia is three principal moments, or a symmetric matrix; it is {inertia}.")
        self.mass = float(mass)
        moments, axes = np.linalg.eigh(0.5 * np.trace(about) * np.eye(3) - 0.5 * (about + about.T))
        if moments[0] < -1e-9 * moments[2]:
            principal = moments.sum() - moments
            raise InvalidSystem(
                f"no body has the principal moments of inertia {np.array2string(principal, precision=4)} kg m²: none "
                "may exceed the sum of the others."
            )
        if not moments[0] > _FLAT**2 * moments[2]:
            flat = np.array2string(axes[:, 0], precision=3, suppress_small=True)
            raise InvalidSystem(
                f"the body has no extent along {flat}: all of its mass is in a plane or on a line, and points next to "
                "it could not follow. Give it a thickness."
            )
        self.axes = np.ascontiguousarray(axes.T)
        self.axes[2] *= np.linalg.det(self.axes)
        self.radii = np.sqrt(moments / self.mass)

    @classmethod
    @checked
    def of_surface(cls, points: Array, triangles: IntArray, density: float) -> Self:
        """Return those of what a closed surface bounds, of constant density.

        The integrals are sums over the tetrahedra between the triangles and one point, exact for flat faces.

        Parameters
        ----------
        points : float64 [p, 3]
            In m.
        triangles : int [f, 3]
            Their nodes, with outward normals by the right-hand rule. Each edge has as many triangles on either side.
        density : float
            In kg/m³.

        Raises
        ------
        InvalidSystem
            If the density is not positive, or the body is flat.
        MeshError
            If the surface bounds no volume, or its normals point inwards.
        """
        if not (np.isfinite(density) and density > 0.0):
            raise InvalidSystem(f"the density of a body must be positive; it is {density:g} kg/m³.")
        x = points[triangles]
        origin = x.mean(axis=(0, 1))
        x = x - origin
        volumes = np.einsum("fi,fi->f", x[:, 0], np.cross(x[:, 1], x[:, 2])) / 6.0
        volume, size = float(volumes.sum()), float(np.abs(volumes).sum())
        if volume < -1e-12 * size:
            raise MeshError(
                f"the triangles of the surface bound a volume of {volume:.4g} m³: their normals point inwards. Turn "
                "the order of their nodes around."
            )
        if not volume > 1e-12 * size:
            raise MeshError("the triangles of the surface bound no volume.")
        corners = x.sum(axis=1)
        center = 0.25 * (volumes @ corners) / volume
        second = np.einsum("f,fi,fj->ij", volumes, corners, corners) + np.einsum("f,fai,faj->ij", volumes, x, x)
        second = second / 20.0 - volume * np.outer(center, center)
        inertia = np.trace(second) * np.eye(3) - second
        return cls(density * volume, origin + center, density * inertia)

    @property
    def particles(self) -> Array:
        """The positions [4, 3] in m of the four particles."""
        return self.center + CORNERS * self.radii @ self.axes

    @property
    def inertia(self) -> Array:
        """The inertia [3, 3] about the centre in kg m², in the coordinate axes."""
        squares = self.radii**2
        return self.mass * (self.axes.T * (squares.sum() - squares)) @ self.axes

    def scaled(self, factor: float) -> MassProperties:
        """Return those of a body of the same shape with a multiple of the mass."""
        return MassProperties(factor * self.mass, self.center, factor * self.inertia)

    def weights(self, points: Array) -> Array:
        """Return the weights [p, 4] of the particles by which points [p, 3] in m move with the body: ¼ (1 + s·ξ/r)."""
        return 0.25 * (1.0 + ((points - self.center) @ self.axes.T / self.radii) @ CORNERS.T)
