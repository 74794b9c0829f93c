"""The forces of Coriolis: on what moves in a frame that turns."""

from __future__ import annotations

from typing import final

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem
from symplex.fem.actions.centrifugal import cross_matrix, mass_stencils, required_omega
from symplex.fem.actions.damping import DifferentiableLoad
from symplex.fem.assembly import Array, scatter_vectors


@checked
@final
class Coriolis(DifferentiableLoad):
    """The forces of Coriolis in a frame that turns steadily, f = −2 M ω × v, which do no work.

    With the `Centrifugal` potential they make a system that of a frame: with positions and velocities in it,

        M v̇ + ∇V(q) = f + M P (q − p) − 2 M ω × v.

    Parameters
    ----------
    mass : float64 [n] or sparse [n, n]
        Nodal masses in kg, or the consistent mass matrix, symmetric.
    angular_velocity : float64 [3] or [1]
        ω in rad/s; one number in the plane.

    Raises
    ------
    InvalidSystem
        If shapes do not fit, numbers are not finite, or there is no mass.
    """

    def __init__(self, mass: Array | sp.csr_array, angular_velocity: ArrayLike):
        self._hat = cross_matrix(required_omega("Coriolis", angular_velocity))
        self.nodes, self._weights = mass_stencils("Coriolis", mass)

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Return −2 M ω × v [n, dim] in N.

        Raises
        ------
        InvalidSystem
            If velocities are of another dimension than the angular velocity.
        """
        self._require(v.shape[1])
        out = np.zeros_like(v)
        scatter_vectors(np.ascontiguousarray(-2.0 * (self._weights @ (v[self.nodes] @ self._hat.T))), self.nodes, out)
        return out

    def derivatives(self, t: float, x: Array, v: Array) -> tuple[Array, Array]:
        """Return zeros, and −2 M ω̂ [m, k·dim, k·dim]."""
        m, k, dim = x.shape
        self._require(dim)
        by_v = -2.0 * np.einsum("mab,ij->maibj", self._weights, self._hat).reshape(m, k * dim, k * dim)
        return np.zeros_like(by_v), by_v

    def _require(self, dim: int) -> None:
        """Raise `InvalidSystem` if vectors of ``dim`` components are not of the dimension of the angular velocity."""
        if dim != len(self._hat):
            raise InvalidSystem(
                f"Coriolis: the angular velocity is one in {len(self._hat)} dimensions, but velocities have {dim} "
                "components; give three numbers in space, one in the plane (rad/s)."
            )
