"""Linear tetrahedra: undeformed geometry and deformation gradients.

Node 0 is the origin of the element and the edges E_a = X_a − X_0 (a = 1, 2, 3) span it, so that
F E_a = d_a with the deformed edges d_a = x_a − x_0.
"""

from __future__ import annotations

import numpy as np

from symplex.errors import MeshError
from symplex.fem.compiled.kernels import formula, kernel
from symplex.fem.energies.energy import Array, IntArray

# A tetrahedron is flat if its determinant is below this fraction of the product of its edges' lengths.
FLAT = 1e-12
_ROUND_OFF = 4.0 * np.finfo(float).eps


def edges(x: Array) -> Array:
    """Return the edges x_a − x_0 [m, 3 (a), 3 (component)] of tetrahedra with nodes at x [m, 4, 3]."""
    return x[:, 1:] - x[:, :1]


def determinants(E: Array) -> Array:
    """Return E_1 · (E_2 × E_3) [m]."""
    return np.einsum("ei,ei->e", E[:, 0], np.cross(E[:, 1], E[:, 2]))


def checked_volumes(points: Array, cells: IntArray) -> Array:
    """Return the volumes [m] in m³ of undeformed tetrahedra, all positive."""
    det = straight_determinants(points, cells)
    if not np.isnan(det).any():
        return det / 6.0
    with np.errstate(over="ignore", invalid="ignore"):  # of points that are not finite, reported below
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


def straight_determinants(points: Array, cells: IntArray) -> Array:
    """Return E_1 · (E_2 × E_3) [m] in m³ of linear tetrahedra, or of quadratic ones with straight edges.

    It is nan for an element that is inverted, flat or has a point that is not finite, and for a quadratic one whose
    nodes within edges aren't half-way, to round-off: its Jacobian isn't constant.

    Parameters
    ----------
    points : float64 [n, 3]
    cells : int32 [m, k]
        The nodes, of points that there are; k = 4 or 10.
    """
    out = np.empty(len(cells))
    _set_determinants(np.ascontiguousarray(points, float), np.ascontiguousarray(cells, np.int32), out)
    return out


@kernel
def _set_determinants(points, cells, out):
    """Set out [m] to what `straight_determinants` returns."""
    for e in range(len(cells)):
        c = cells[e]
        determinant = determinant_unless_flat(points, c)
        if cells.shape[1] == 10:  # nodes within the edges 01, 12, 20, 03, 13, 23
            straight = _half_way(points, c[4], c[0], c[1]) and _half_way(points, c[5], c[1], c[2])
            straight = straight and _half_way(points, c[6], c[2], c[0]) and _half_way(points, c[7], c[0], c[3])
            straight = straight and _half_way(points, c[8], c[1], c[3]) and _half_way(points, c[9], c[2], c[3])
            determinant = determinant if straight else np.nan
        out[e] = determinant


@formula
def determinant_unless_flat(points, c):
    """Return E_1 · (E_2 × E_3) of the element with the nodes c, or nan if it is inverted, flat or not finite."""
    o, x, y, z = points[c[0]], points[c[1]], points[c[2]], points[c[3]]
    ux, uy, uz = x[0] - o[0], x[1] - o[1], x[2] - o[2]
    vx, vy, vz = y[0] - o[0], y[1] - o[1], y[2] - o[2]
    wx, wy, wz = z[0] - o[0], z[1] - o[1], z[2] - o[2]
    determinant = ux * (vy * wz - vz * wy) + uy * (vz * wx - vx * wz) + uz * (vx * wy - vy * wx)
    squares = (ux * ux + uy * uy + uz * uz) * (vx * vx + vy * vy + vz * vz) * (wx * wx + wy * wy + wz * wz)
    return determinant if determinant > FLAT * np.sqrt(squares) else np.nan


@formula
def _half_way(points, node, a, b):
    """Return whether a node is half-way between two others, but for round-off of the positions."""
    for i in range(3):
        p, q = points[a, i], points[b, i]
        if not abs(2.0 * points[node, i] - p - q) <= _ROUND_OFF * (abs(p) + abs(q)):
            return False
    return True


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
