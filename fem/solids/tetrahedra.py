"""Linear tetrahedra: undeformed geometry and deformation gradients.

Node 0 is the origin of the element and the edges E_a = X_a − X_0 (a = 1, 2, 3) span it, so that
F E_a = d_a with the deformed edges d_a = x_a − x_0.
"""

from __future__ import annotations

import numpy as np

from symplex.errors import MeshError
from symplex.fem.energy import Array, IntArray

# A tetrahedron is flat if its determinant is below this fraction of the product of its edges' lengths.
FLAT = 1e-12


def edges(x: Array) -> Array:
    """Return the edges x_a − x_0 [m, 3 (a), 3 (component)] of tetrahedra with nodes at x [m, 4, 3]."""
    return x[:, 1:] - x[:, :1]


def determinants(E: Array) -> Array:
    """Return E_1 · (E_2 × E_3) [m]."""
    return np.einsum("ei,ei->e", E[:, 0], np.cross(E[:, 1], E[:, 2]))


def volumes(points: Array, cells: IntArray) -> Array:
    """Return the signed volumes [m] in m³ of the tetrahedra ``cells`` [m, 4] on ``points`` [n, 3]."""
    return determinants(edges(points[cells])) / 6.0


def checked_volumes(points: Array, cells: IntArray) -> Array:
    """Return the volumes [m] in m³ of undeformed tetrahedra, all positive.

    Raises
    ------
    MeshError
        If an element is inverted, flat or has a point that is not finite.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # of points that are not finite, told below
        E = edges(points[cells])
        det = determinants(E)
        scale = np.sqrt((E * E).sum(axis=2)).prod(axis=1)
    bad = np.flatnonzero(~(det > FLAT * scale))
    if len(bad):
        inverted = int(np.count_nonzero(det[bad] < -FLAT * scale[bad]))
        first = ", ".join(str(e) for e in bad[:5]) + (", …" if len(bad) > 5 else "")
        raise MeshError(
            f"{len(bad)} of {len(cells)} tetrahedra have no positive volume (elements {first}; element {bad[0]} with "
            f"nodes {', '.join(map(str, cells[bad[0]]))} has {det[bad[0]] / 6:.3g} m³): {inverted} inverted, "
            f"{len(bad) - inverted} flat. Swap two nodes of inverted elements; remove flat ones."
        )
    return det / 6.0


def shape_gradients(points: Array, cells: IntArray) -> Array:
    """Return the gradients of the four shape functions ∂N_a/∂X [m, 4, 3] in 1/m on undeformed points [n, 3].

    ∇N_1 = E_2 × E_3 / det E and cyclic; ∇N_0 = −∇N_1 − ∇N_2 − ∇N_3.
    """
    E = edges(points[cells])
    G = np.empty((len(cells), 4, 3))
    for a in (1, 2, 3):
        G[:, a] = np.cross(E[:, a % 3], E[:, (a + 1) % 3])
    G[:, 1:] /= determinants(E)[:, None, None]
    G[:, 0] = -G[:, 1:].sum(axis=1)
    return G


def deformation_gradients(points: Array, cells: IntArray, q: Array) -> Array:
    """Return F = Σ_a d_a ⊗ ∇N_a [m, 3, 3] for the positions q [n, 3] of the undeformed points [n, 3]."""
    return np.einsum("eai,eaj->eij", edges(q[cells]), shape_gradients(points, cells)[:, 1:])
