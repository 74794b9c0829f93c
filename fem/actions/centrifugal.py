"""The centrifugal potential: forces on what turns steadily, in a frame that turns with it."""

from __future__ import annotations

from typing import ClassVar, final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.base.sparse import sp
from symplex.errors import InvalidSystem
from symplex.fem.actions import centrifugal_loops
from symplex.fem.actions.mass import nodal_masses
from symplex.fem.assembly.forms import kernels_of
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.energies.kernel_energy import KernelEnergy


def centrifugal_matrix(omega: Array) -> Array:
    """Return P = |ω|² 1 − ω ⊗ ω of an angular velocity ω [3] in rad/s, or [1] in the plane: [3, 3] or [2, 2]."""
    if len(omega) == 1:
        return omega[0] ** 2 * np.eye(2)
    return omega @ omega * np.eye(3) - np.outer(omega, omega)


def cross_matrix(omega: Array) -> Array:
    """Return ω̂ of an angular velocity ω [3] in rad/s, or [1] in the plane, with ω̂ x = ω × x: [3, 3] or [2, 2]."""
    if len(omega) == 1:
        return np.array([[0.0, -omega[0]], [omega[0], 0.0]])
    return np.cross(omega, np.eye(3)).T


def required_omega(who: str, given: ArrayLike) -> Array:
    """Return an angular velocity [3] or [1]; `InvalidSystem` if it is none."""
    omega = np.atleast_1d(np.array(given, dtype=float))
    if omega.shape not in ((1,), (3,)) or not np.isfinite(omega).all():
        raise InvalidSystem(
            f"{who}: the angular velocity must be three finite numbers, or one in the plane (rad/s); it is {given}."
        )
    return omega


def mass_stencils(who: str, mass: Array | sp.csr_array) -> tuple[IntArray, Array]:
    """Return stencils [m, k], each a node or two nodes that a mass matrix joins, and the masses [m, k, k] in them."""
    if sp.issparse(mass):
        nodes, weights = _pairs(who, sp.csr_array(mass))
    else:
        masses = nodal_masses(who, mass)
        heavy = np.flatnonzero(masses)
        nodes, weights = heavy.astype(np.int32)[:, None], masses[heavy, None, None]
    if not len(nodes):
        raise InvalidSystem(f"{who}: there is no mass.")
    return nodes, weights


def _pairs(who: str, mass: sp.csr_array) -> tuple[IntArray, Array]:
    """Return a stencil for each two nodes that a mass joins; what a node has alone is in one of its stencils."""
    if mass.shape is None or mass.shape[0] != mass.shape[1] or not np.isfinite(mass.data).all():
        raise InvalidSystem(f"{who}: a mass matrix must be square and finite; its shape is {mass.shape}.")
    upper = sp.triu(mass, k=1).tocoo()
    joined = upper.data != 0.0
    a, b, m_ab = upper.row[joined], upper.col[joined], upper.data[joined]
    own = mass.diagonal()
    alone = np.setdiff1d(np.flatnonzero(own), np.concatenate([a, b]))
    # Those that no mass joins with others are in pairs too, the last of an odd number with any other node.
    partner = np.append(alone, (alone[-1] + 1) % len(own)) if len(alone) % 2 else alone
    if len(own) == 1 and len(alone):
        return np.zeros((1, 1), np.int32), np.asarray(own, float)[:, None, None]
    pairs = np.concatenate([np.stack([a, b], axis=1), partner.reshape(-1, 2)])
    weights = np.zeros((len(pairs), 2, 2))
    weights[: len(a), 0, 1] = weights[: len(a), 1, 0] = m_ab
    nodes, first = np.unique(pairs, return_index=True)
    weights[first // 2, first % 2, first % 2] = own[nodes]
    return pairs.astype(np.int32), weights


@checked
@final
class Centrifugal(KernelEnergy):
    """The centrifugal potential of a frame that turns with ω about an axis through p.

    φ = −½ Σ_ab m_ab (x_a − p)·P (x_b − p) with P = |ω|² 1 − ω ⊗ ω and masses m_ab, so that the force
    Σ_b m_ab P (x_b − p) on the node a points away from the axis, and grows with the distance. It is quadratic: the
    discrete gradient is the gradient at the midpoint. Forces by velocities (Coriolis) are no part of it.

    Parameters
    ----------
    mass : float64 [n] or sparse [n, n]
        Nodal masses in kg, or the consistent mass matrix, symmetric. In motions that of the system; for equilibria of
        quadratic elements the consistent one.
    angular_velocity : float64 [3] or [1]
        ω in rad/s; one number in the plane.
    point : float64 [dim], optional
        p in m, on the axis; by default the origin.

    Attributes
    ----------
    weights : float64 [m, k, k]
        The masses in kg of each stencil: a node, or two of them that a mass matrix joins.

    Raises
    ------
    InvalidSystem
        If shapes do not fit, numbers are not finite, or there is no mass.
    """

    kernels: ClassVar = kernels_of(centrifugal_loops)

    def __init__(self, mass: Array | sp.csr_array, angular_velocity: ArrayLike, point: ArrayLike | None = None):
        self._matrix = centrifugal_matrix(required_omega("Centrifugal", angular_velocity))
        dim = len(self._matrix)
        self._point = np.zeros(dim) if point is None else np.array(point, dtype=float)
        if self._point.shape != (dim,) or not np.isfinite(self._point).all():
            raise InvalidSystem(f"Centrifugal: the point must be {dim} finite numbers (m); it is {point}.")
        nodes, self.weights = mass_stencils("Centrifugal", mass)
        self.nodes = np.ascontiguousarray(nodes, np.int32)
        self._compose(
            dim,
            centrifugal_loops.CentrifugalRecord(
                nodes=self.nodes,
                matrix=np.ascontiguousarray(self._matrix),
                point=self._point,
                weights=np.ascontiguousarray(self.weights, float),
            ),
        )

    def value(self, x: Array) -> Array:
        """Return φ [m] in J at the positions x [m, k, dim] in m."""
        d = x - self._point
        return -0.5 * np.einsum("mki,mki->m", d, self.weights @ (d @ self._matrix))
