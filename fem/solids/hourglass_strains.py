"""The strains of the hourglass modes of hexahedra of one point, for stresses that are no function of them alone.

They are the twelve products Q_αi = d_i·g_α of `symplex.fem.solids.hourglass`, where d_i = Σ_a β_ai x_a and
g_α = Σ_a Γ_αa x_a. A stress T of them makes the forces −(∂Q/∂x)ᵀ T. Q is bilinear, so that Q1 − Q0 is ∂Q/∂x at the mean
position times x1 − x0, and the same after rigid motions.
"""

from __future__ import annotations

from typing import final

import numpy as np

from symplex.fem.assembly.copying import Copyable
from symplex.fem.assembly.pattern import Array
from symplex.fem.solids.hourglass import Hexahedra, hourglass_patterns

PRODUCTS = 12
_PLANES = ((1, 2), (0, 2), (0, 1))
_PLACES = ((0, 3, 4), (3, 1, 5), (4, 5, 2))  # of the six numbers of a symmetric matrix


@final
class HourglassStrains(Copyable):
    """The products Q of hexahedra, and the forces of stresses of them.

    Parameters
    ----------
    geometry : Hexahedra

    Attributes
    ----------
    linear : float64 [m, 7, 8]
        Γ_αa and β_ai, with which g and d are sums of x.
    """

    def __init__(self, geometry: Hexahedra):
        gamma = 0.125 * (hourglass_patterns().T - geometry.patterns @ geometry.slopes.swapaxes(1, 2))
        # of the nodes, those of g and d
        self.linear = np.concatenate([gamma, geometry.slopes.swapaxes(1, 2)], axis=1)

    def _vectors(self, x: Array) -> tuple[Array, Array]:
        """Return g [m, 4, 3] and d [m, 3, 3]."""
        y = self.linear @ (x - x[:, :1])  # of differences, so that little is lost far from the origin
        return y[:, :4], y[:, 4:]

    def products(self, x: Array) -> Array:
        """Return Q in m² [m, 12] at x [m, 8, 3]."""
        g, d = self._vectors(x)
        return (g @ d.swapaxes(1, 2)).reshape(-1, PRODUCTS)

    def slopes(self, x: Array) -> Array:
        """Return ∂Q/∂x in m [m, 12, 24] at x [m, 8, 3]."""
        g, d = self._vectors(x)
        out = np.einsum("eij,eaA->eaiAj", d, self.linear[:, :4]) + np.einsum("eaj,eiA->eaiAj", g, self.linear[:, 4:])
        return out.reshape(-1, PRODUCTS, 24)

    def forces(self, x: Array, T: Array) -> Array:
        """Return −(∂Q/∂x)ᵀ T in N [m, 8, 3] of T in N/m [m, 12] at x [m, 8, 3]."""
        return -(self.slopes(x).swapaxes(1, 2) @ T[:, :, None]).reshape(x.shape)

    def secants(self, T: Array) -> Array:
        """Return 𝓕 [m, 8, 8] of T, with Σ T_αi ∂²Q_αi/∂x∂x = 𝓕 1."""
        half = self.linear[:, :4].swapaxes(1, 2) @ T.reshape(-1, 4, 3) @ self.linear[:, 4:]
        return half + half.swapaxes(1, 2)  # symmetric to the last bit

    def curvature(self, T: Array) -> Array:
        """Return Σ T_αi ∂²Q_αi/∂x∂x in N/m [m, 24, 24]."""
        return np.einsum("eab,ij->eaibj", self.secants(T), np.eye(3)).reshape(-1, 24, 24)


def matrices_of(moduli: Array) -> Array:
    """Return the matrices K [m, 12, 12] that 21 numbers of each element [m, 21] stand for, with T = K Q."""
    K = np.zeros((len(moduli), PRODUCTS, PRODUCTS))
    for m, (j, k) in enumerate(_PLANES):
        E = np.zeros((3, PRODUCTS))  # (Q_kj, Q_jk, Q_jj + Q_kk)
        E[0, 3 * k + j] = E[1, 3 * j + k] = E[2, 3 * j + j] = E[2, 3 * k + k] = 1.0
        K += E.T @ moduli[:, 6 * m : 6 * m + 6][:, _PLACES] @ E
        K[:, 9 + m, 9 + m] += moduli[:, 18 + m]
    return K
