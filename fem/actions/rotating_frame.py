"""What acts in a frame that rotates steadily: centrifugal forces, which have a potential, and those of Coriolis.

With positions q and velocities v in the frame, which turns at ω about an axis through the point c,

    M v̇ + ∇V(q) = f + M P (q − c) − 2 M ω̂ v,    ω̂ x = ω × x,    P = −ω̂ ω̂.

What is at rest in the frame rotates in space, and small vibrations about it are those of a rotating structure.
"""

from __future__ import annotations

from typing import final

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem
from symplex.fem.actions.damping import DifferentiableLoad
from symplex.fem.actions.mass import nodal_masses
from symplex.fem.assembly import Array, IntArray, scatter_vectors
from symplex.fem.energy import Energy


@checked
@final
class Centrifugal(Energy):
    """The potential of centrifugal forces, φ = −½ (q − c)ᵀ M P (q − c): −½ m |ω|² r² of a mass at the distance r.

    It is not bounded from below: beyond a critical speed nothing holds against it. A softening, −M P, is its stiffness.

    Parameters
    ----------
    mass : float64 [n] or sparse [n, n]
        Nodal masses in kg, or the consistent mass matrix.
    angular_velocity : float or float64 [3]
        ω in rad/s, a number in the plane.
    point : float64 [dim], optional
        c in m, on the axis; default: the origin.

    Raises
    ------
    InvalidSystem
        If the angular velocity or the point is not of a plane or of space and finite, or masses are not those of nodes.
    """

    def __init__(self, mass: Array | sp.csr_array, angular_velocity: ArrayLike, point: ArrayLike | None = None):
        self._hat = _cross_matrix("Centrifugal", angular_velocity)
        self._P = -self._hat @ self._hat
        dim = len(self._hat)
        self.point = np.zeros(dim) if point is None else np.array(point, dtype=float)
        if self.point.shape != (dim,) or not np.isfinite(self.point).all():
            raise InvalidSystem(f"Centrifugal: the point must be {dim} finite numbers in m; it is {point}.")
        self.nodes, self._masses = _shares("Centrifugal", mass)

    def value(self, x: Array) -> Array:
        """Return φ [m] in J."""
        return 0.5 * np.einsum("mai,mai->m", x - self.point, self.gradient(x))

    def gradient(self, x: Array) -> Array:
        """Return −M P (x − c) [m, k, dim] in N."""
        return -(self._masses @ ((x - self.point) @ self._P))

    def hessian(self, x: Array) -> Array:
        """Return −M P [m, k·dim, k·dim] in N/m."""
        m, k, dim = x.shape
        return -np.einsum("mab,ij->maibj", self._masses, self._P).reshape(m, k * dim, k * dim)

    def discrete_gradient(self, x0: Array, x1: Array) -> Array:
        """Return the gradient [m, k, dim] in N at the middle: φ is quadratic."""
        return self.gradient(0.5 * (x0 + x1))

    def discrete_hessian(self, x0: Array, x1: Array) -> Array:
        """Return −½ M P [m, k·dim, k·dim] in N/m."""
        return 0.5 * self.hessian(x1)

    def third(self, x: Array, a: Array) -> Array:
        """Return zeros [m, k, dim]."""
        return np.zeros_like(x)

    def generators(self, dim: int) -> tuple[Array, Array]:
        """Return what leaves it alike: the rotation about the axis, and in space the shift along it."""
        A, b = [self._hat], [-self._hat @ self.point]
        if dim == 3:
            A.append(np.zeros((3, 3)))
            b.append(np.array([self._hat[2, 1], self._hat[0, 2], self._hat[1, 0]]))
        return np.array(A), np.array(b)


@checked
@final
class Coriolis(DifferentiableLoad):
    """The forces of Coriolis, f = −2 M ω × v, which do no work.

    Parameters
    ----------
    mass, angular_velocity
        As of `Centrifugal`.

    Raises
    ------
    InvalidSystem
        If the angular velocity is not of a plane or of space and finite, or masses are not those of nodes.
    """

    def __init__(self, mass: Array | sp.csr_array, angular_velocity: ArrayLike):
        self._hat = _cross_matrix("Coriolis", angular_velocity)
        self.nodes, self._masses = _shares("Coriolis", mass)

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Return −2 M ω × v [n, dim] in N."""
        out = np.zeros_like(v)
        scatter_vectors(np.ascontiguousarray(-2.0 * (self._masses @ (v[self.nodes] @ self._hat.T))), self.nodes, out)
        return out

    def derivatives(self, t: float, x: Array, v: Array) -> tuple[Array, Array]:
        """Return zeros, and −2 M ω̂ [m, k·dim, k·dim]."""
        m, k, dim = x.shape
        by_v = -2.0 * np.einsum("mab,ij->maibj", self._masses, self._hat).reshape(m, k * dim, k * dim)
        return np.zeros_like(by_v), by_v


def _cross_matrix(who: str, angular_velocity: ArrayLike) -> Array:
    """Return ω̂ [dim, dim] of an angular velocity in space, or in the plane."""
    omega = np.atleast_1d(np.array(angular_velocity, dtype=float))
    if omega.shape not in ((1,), (3,)) or not np.isfinite(omega).all():
        raise InvalidSystem(
            f"{who}: the angular velocity must be three finite numbers in rad/s, or one in the plane; it is "
            f"{angular_velocity}."
        )
    if len(omega) == 1:
        return np.array([[0.0, -omega[0]], [omega[0], 0.0]])
    return np.cross(omega, np.eye(3)).T


def _shares(who: str, mass: Array | sp.csr_array) -> tuple[IntArray, Array]:
    """Return stencils [m, k] with a part [m, k, k] of the mass each: nodes, or pairs that a mass matrix couples."""
    if not sp.issparse(mass):
        nodal = nodal_masses(who, mass)
        return np.arange(len(nodal), dtype=np.int32)[:, None], nodal[:, None, None]
    entries = sp.coo_array(mass)
    n, above = entries.shape[0], (entries.col > entries.row) & (entries.data != 0.0)  # pyright: ignore
    pairs, coupling = np.column_stack([entries.row, entries.col])[above], entries.data[above]
    # What is coupled with nothing is paired with a neighbour of which it has no mass.
    alone = np.setdiff1d(np.arange(n), pairs)
    if n > 1:
        pairs = np.concatenate([pairs, np.column_stack([alone, (alone + 1) % n])])
        coupling = np.concatenate([coupling, np.zeros(len(alone))])
    diagonal = np.asarray(sp.csr_array(mass).diagonal())
    if n == 1:
        return np.zeros((1, 1), np.int32), diagonal[:, None, None]
    each = diagonal / np.maximum(np.bincount(pairs.ravel(), minlength=n), 1)
    local = np.empty((len(pairs), 2, 2))
    local[:, 0, 0], local[:, 1, 1] = each[pairs].T
    local[:, 0, 1] = local[:, 1, 0] = coupling
    return np.ascontiguousarray(pairs, dtype=np.int32), local
