"""Mass of linear tetrahedra, lumped and consistent."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numba import njit

from symplex.fem import tetrahedra
from symplex.fem.assembly import Array, IntArray, Pattern
from symplex.fem.nodes import require_nodes


def lumped_mass(points: Array, cells: IntArray, density: float, n_nodes: int) -> Array:
    """Return nodal masses [n_nodes] in kg: a quarter of each tetrahedron's mass to each of its nodes.

    Parameters
    ----------
    points : float64 [n, 3]
        Undeformed positions in m.
    cells : int32 [m, 4]
        The nodes of the tetrahedra.
    density : float
        Mass per undeformed volume in kg/m³.
    n_nodes : int
        Number of nodes of the system.

    Raises
    ------
    MeshError
        If an element is inverted or flat.
    InvalidSystem
        If an element refers to a node that does not exist.
    """
    require_nodes("the mass", cells, min(n_nodes, len(points)))
    share = 0.25 * density * tetrahedra.checked_volumes(points, cells)
    masses = np.bincount(cells.ravel(), weights=np.repeat(share, 4), minlength=n_nodes)
    return np.asarray(masses, dtype=float)


def consistent_mass(points: Array, cells: IntArray, density: float, n_nodes: int) -> sp.csr_array:
    """Return the consistent mass matrix ∫ ρ N_a N_b [n_nodes, n_nodes] in kg: ρ V (1 + δ_ab)/20 per tetrahedron.

    One row per node, the same for each direction. Parameters and errors are those of `lumped_mass`.
    """
    pattern = Pattern(n_nodes, [cells])
    values = np.zeros(len(pattern.indices))
    add_consistent_mass(points, cells, density, pattern.slots[0], values)
    return sp.csr_array((values, pattern.indices, pattern.indptr), shape=(n_nodes, n_nodes))


def add_consistent_mass(points: Array, cells: IntArray, density: float, slots: IntArray, out: Array) -> None:
    """Add the consistent mass in kg of tetrahedra to the values out [nnz] of a matrix on a fixed pattern.

    Parameters
    ----------
    points, cells, density
        As in `lumped_mass`.
    slots : int32 [m, 4, 4]
        The place in out of each pair of nodes of each tetrahedron (see `symplex.fem.assembly.Pattern`).
    out : float64 [nnz]

    Raises
    ------
    MeshError
        If an element is inverted or flat.
    InvalidSystem
        If an element refers to a node that does not exist.
    """
    points, cells = np.ascontiguousarray(points, dtype=float), np.ascontiguousarray(cells, dtype=np.int32)
    require_nodes("the mass", cells, len(points))
    if not _add_consistent_mass(points, cells, density, slots, out):
        tetrahedra.checked_volumes(points, cells)


@njit(cache=True, error_model="numpy")
def _add_consistent_mass(points, cells, density, slots, out):
    """Add ρ V (1 + δ_ab)/20; return whether no element is inverted or flat (see `tetrahedra.checked_volumes`)."""
    good = True
    for e in range(len(cells)):
        o, x, y, z = points[cells[e, 0]], points[cells[e, 1]], points[cells[e, 2]], points[cells[e, 3]]
        ux, uy, uz = x[0] - o[0], x[1] - o[1], x[2] - o[2]
        vx, vy, vz = y[0] - o[0], y[1] - o[1], y[2] - o[2]
        wx, wy, wz = z[0] - o[0], z[1] - o[1], z[2] - o[2]
        determinant = ux * (vy * wz - vz * wy) + uy * (vz * wx - vx * wz) + uz * (vx * wy - vy * wx)
        squares = (ux * ux + uy * uy + uz * uz) * (vx * vx + vy * vy + vz * vz) * (wx * wx + wy * wy + wz * wz)
        good = good and determinant > tetrahedra.FLAT * np.sqrt(squares)
        share = density * determinant / 120.0
        for a in range(4):
            for b in range(4):
                out[slots[e, a, b]] += share
            out[slots[e, a, a]] += share
    return good
