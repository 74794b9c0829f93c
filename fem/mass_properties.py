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

_FARTHEST = 1e6  # pivot from the centre of mass, over the largest radius of gyration
_EQUAL = 1e-9  # difference of moments relative to the largest, up to which their axes may have any direction
_FIRST = np.array([2e-3, 1e-3, 0.0])  # of axes that are alike the first one is taken
_FLAT = 1e-6  # a radius of gyration relative to the largest below which positions along its axis lose their digits


@checked
@final
class MassProperties(Copyable):
    """The mass of a body, its centre, and its second moments along principal axes.

    A body moves as four particles of a quarter of its mass do, at c + Σ_k s_ak r_k e_k with r_k = √(J_k/m) and the
    signs s_ak of `CORNERS`: they are equimomental, with its mass, its centre and its moments J_k = ∫ x_k² dm about it.

    Of a body that is held at a pivot the mean of the particles is that point, for `Frames` with held centres. Their
    masses m q_0a² differ then, at c + Σ_k r_k q_ka/q_0a e_k with an orthogonal matrix q: equimomental for all of these,
    with 1/q_0 of a length and a direction that put the mean where it is to be. Without a pivot q is ½ (1, s_k).

    Parameters
    ----------
    mass : float
        m in kg.
    center : float64 [3]
        c in m.
    inertia : float64 [3, 3] or [3]
        About the centre in kg m²: the matrix in the coordinate axes, or the principal moments where these are those.
    pivot : float64 [3], optional
        In m.

    Attributes
    ----------
    axes : float64 [3, 3]
        The principal axes e_k, one in each row, right-handed.
    radii : float64 [3]
        r_k in m.
    masses : float64 [4]
        Of the particles in kg.

    Raises
    ------
    InvalidSystem
        If the mass is not positive, or the inertia that of no body, or of one without an extent along one axis.
    """

    def __init__(self, mass: float, center: ArrayLike, inertia: ArrayLike, pivot: ArrayLike | None = None):
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
        self.axes = _oriented(moments, axes.T)
        self.radii = np.sqrt(moments / self.mass)
        self.pivot = None if pivot is None else np.array(pivot, dtype=float)
        if self.pivot is not None and (self.pivot.shape != (3,) or not np.isfinite(self.pivot).all()):
            raise InvalidSystem(f"the pivot of a body must be three finite numbers, got {pivot}.")
        away = np.zeros(3) if self.pivot is None else self.axes @ (self.pivot - self.center)
        if np.linalg.norm(away) > _FARTHEST * self.radii.max():
            raise InvalidSystem(
                f"the pivot is {np.linalg.norm(away):.3g} m from the centre of mass, more than {_FARTHEST:.0e} times "
                f"the largest radius of gyration, {self.radii.max():.3g} m, and its rotation would be lost in "
                "round-off. Give a pivot that is nearer, or leave it out and give a velocity."
            )
        self._basis = _basis(4.0 * away / self.radii)
        self.masses = self.mass * self._basis[0] ** 2

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
        return self.center + (self._basis[1:] / self._basis[0]).T * self.radii @ self.axes

    @property
    def inertia(self) -> Array:
        """The inertia [3, 3] about the centre in kg m², in the coordinate axes."""
        squares = self.radii**2
        return self.mass * (self.axes.T * (squares.sum() - squares)) @ self.axes

    def scaled(self, factor: float) -> MassProperties:
        """Return those of a body of the same shape with a multiple of the mass."""
        return MassProperties(factor * self.mass, self.center, factor * self.inertia, self.pivot)

    def held_at(self, pivot: ArrayLike) -> MassProperties:
        """Return those with particles whose mean is a pivot [3] in m."""
        return MassProperties(self.mass, self.center, self.inertia, pivot)

    def weights(self, points: Array) -> Array:
        """Return the weights [p, 4] by which points [p, 3] in m move with the particles: ¼ (1 + s·ξ/r) by default.

        With a pivot q_0a (q_0a + Σ_k q_ka ξ_k/r_k), of the components ξ along the axes e_k from the centre.
        """
        first, axes = self._basis[0], self._basis[1:]
        return first * (first + ((points - self.center) @ self.axes.T / self.radii) @ axes)


def _oriented(moments: Array, axes: Array) -> Array:
    """Return principal axes, in rows, right-handed, that do not depend on rounding.

    Of equal moments those next to coordinate axes, so that they change smoothly with the shape of a body.
    """
    out, first = np.array(axes), 0
    while first < 3:
        last = first + 1
        while last < 3 and moments[last] - moments[last - 1] <= _EQUAL * moments[2]:
            last += 1
        left = axes[first:last].T @ axes[first:last]  # the part of each coordinate axis among these
        for k in range(first, last):
            column = left[:, np.argmax(np.linalg.norm(left, axis=0) + _FIRST)]
            out[k] = column / np.linalg.norm(column)
            out[k] *= np.sign(out[k][np.argmax(np.abs(out[k]) + _FIRST)])
            left = left - np.outer(out[k], out[k] @ left)
        first = last
    out[2] *= np.linalg.det(out)
    return out


def _basis(s: Array) -> Array:
    """Return the orthogonal matrix q [4, 4] with q_0·w = 4 and q_k·w = s_k for w = 1/q_0."""
    square = float(s @ s)
    total = 16.0 + square  # Σ 1/μ of the parts μ = q_0² of the mass: one of them large, the others alike
    small = 6.0 / (total + 8.0 + np.sqrt(square * (total - 4.0)))
    first = np.sqrt(np.array([1.0 - 3.0 * small, small, small, small]))
    others = _led(0.5 * CORNERS.T, np.full(4, 0.5), first)
    others = _led(others.T, others @ (1.0 / first), s).T if square > 0.0 else 0.5 * CORNERS.T
    return np.vstack([first, others])


def _led(rows: Array, one: Array, other: Array) -> Array:
    """Return rows mapped by an orthogonal map that takes a vector to another one of the same length.

    By mirrors across vectors that are not short, as the difference of two that are almost one would be.
    """
    if one @ other < 0.0:
        return _reflected(rows, one - other)
    return _reflected(_reflected(rows, one), one + other) if one.any() else rows


def _reflected(rows: Array, normal: Array) -> Array:
    normal = normal / np.linalg.norm(normal)
    return rows - 2.0 * np.outer(rows @ normal, normal)
