"""The viscosity of the hourglass modes of hexahedra of one point: a load in proportion to the rate of their strains.

With Q_αi = d_i·g_α of `symplex.fem.solids.hourglass`, where d_i = Σ_a β_ai x_a and g_α = Σ_a Γ_αa x_a, and the matrix K
of the energy ½ Q·K Q for a viscosity in place of ℂ, the forces are −(∂Q/∂x)ᵀ K Q̇. Q̇ is zero in rigid motions.
"""

from __future__ import annotations

from typing import final

import numpy as np

from symplex.fem.assembly import Array
from symplex.fem.copying import Copyable
from symplex.fem.solids.constitutive import Material
from symplex.fem.solids.hourglass import Hexahedra, hourglass_patterns, moduli_of

_PLANES = ((1, 2), (0, 2), (0, 1))
_PLACES = ((0, 3, 4), (3, 1, 5), (4, 5, 2))  # of the six numbers of a symmetric matrix


@final
class HourglassViscosity(Copyable):
    """The viscosity of the hourglass modes.

    Parameters
    ----------
    geometry : Hexahedra
    material : Material
        For messages.
    viscosity : float64 [3, 3, 3, 3]
        𝔻 in Pa s, positive definite.
    """

    def __init__(self, geometry: Hexahedra, material: Material, viscosity: Array):
        moduli = moduli_of(geometry, material, viscosity[None])
        gamma = 0.125 * (hourglass_patterns().T - geometry.patterns @ geometry.slopes.swapaxes(1, 2))
        # g and d of the nodes, [m, 7, 8]
        self._linear = np.concatenate([gamma, geometry.slopes.swapaxes(1, 2)], axis=1)
        self._K = np.zeros((len(moduli), 12, 12))
        for m, (j, k) in enumerate(_PLANES):
            E = np.zeros((3, 12))  # (Q_kj, Q_jk, Q_jj + Q_kk)
            E[0, 3 * k + j] = E[1, 3 * j + k] = E[2, 3 * j + j] = E[2, 3 * k + k] = 1.0
            D = moduli[:, 6 * m : 6 * m + 6][:, _PLACES]
            self._K += E.T @ D @ E
            self._K[:, 9 + m, 9 + m] += moduli[:, 18 + m]

    def forces(self, x: Array, v: Array) -> Array:
        """Return the forces [m, 8, 3] in N at x with velocities v [m, 8, 3]."""
        B = self._slopes(x)
        T = self._K @ (B @ v.reshape(len(v), 24, 1))
        return -(B.swapaxes(1, 2) @ T).reshape(v.shape)

    def derivatives(self, x: Array, v: Array) -> tuple[Array, Array]:
        """Return ∂f/∂x in N/m and ∂f/∂v in N s/m [m, 24, 24]."""
        B, rates = self._slopes(x), self._slopes(v)  # Q̇ = B(x) v = B(v) x
        left = B.swapaxes(1, 2) @ self._K
        T = (self._K @ (B @ v.reshape(len(v), 24, 1))).reshape(-1, 4, 3)
        S = np.zeros((len(T), 7, 7))
        S[:, :4, 4:], S[:, 4:, :4] = T, T.swapaxes(1, 2)
        geometric = self._linear.swapaxes(1, 2) @ S @ self._linear
        by_x = left @ rates + np.einsum("eab,ij->eaibj", geometric, np.eye(3)).reshape(-1, 24, 24)
        return -by_x, -(left @ B)

    def _slopes(self, x: Array) -> Array:
        """Return ∂Q/∂x [m, 12, 24] at x [m, 8, 3]."""
        y = self._linear @ x
        g, d = y[:, :4], y[:, 4:]
        out = np.einsum("eij,eaA->eaiAj", d, self._linear[:, :4])
        out += np.einsum("eaj,eiA->eaiAj", g, self._linear[:, 4:])
        return out.reshape(-1, 12, 24)


def gradients_of(geometry: Hexahedra) -> Array:
    """Return the mean gradients b_a [m, 1, 3, 8]."""
    return np.ascontiguousarray((geometry.slopes @ np.linalg.inv(geometry.frames)).swapaxes(1, 2)[:, None])
