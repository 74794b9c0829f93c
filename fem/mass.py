"""Mass of linear tetrahedra, lumped and consistent."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from symplex.fem import tetrahedra
from symplex.fem.energy import Array, IntArray


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
    """
    share = 0.25 * density * tetrahedra.checked_volumes(points, cells)
    return np.bincount(cells.ravel(), weights=np.repeat(share, 4), minlength=n_nodes)


def consistent_mass(points: Array, cells: IntArray, density: float, n_nodes: int) -> sp.csr_array:
    """Return the consistent mass matrix ∫ ρ N_a N_b [n_nodes, n_nodes] in kg: ρ V (1 + δ_ab)/20.

    Parameters and errors are those of `lumped_mass`. One row per node, the same for each direction.
    """
    share = density * tetrahedra.checked_volumes(points, cells) / 20.0
    local = share[:, None, None] * (1.0 + np.eye(4))
    rows = np.repeat(cells, 4, axis=1).ravel()
    columns = np.tile(cells, (1, 4)).ravel()
    return sp.coo_array((local.ravel(), (rows, columns)), shape=(n_nodes, n_nodes)).tocsr()
