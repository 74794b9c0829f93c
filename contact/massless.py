"""Contact nodes without inertia, for a smooth pressure: their mass goes to other nodes."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.base.sparse import sp
from symplex.errors import InvalidSystem
from symplex.fem.actions.mass import nodal_masses
from symplex.fem.assembly.nodes import Nodes, distinct_nodes, require_nodes
from symplex.fem.assembly.pattern import Array, IntArray

_NEAREST = 1.0 + 1e-6  # how much farther away a node may be and yet count as one of the nearest


@checked
def redistributed_mass(mass: ArrayLike, points: ArrayLike, nodes: Nodes) -> Array:
    """Return nodal masses [n] in kg without any at the given nodes, with the same moments up to the second.

    A node that meets an obstacle in a penalty method rings on its own mass. Without inertia it follows the obstacle
    and the body (Khenous, Laborde and Renard, 2008). The masses of the other nodes are multiplied by one quadratic
    polynomial of the position, so that total mass, centre of mass and all moments of inertia stay as they are.

    Parameters
    ----------
    mass : float64 [n]
        Lumped masses in kg.
    points : float64 [n, dim]
        Undeformed positions in m.
    nodes : int [m]
        The nodes to free of their mass; usually those that may touch. Give `System` the mask
        ``massless=mass == 0`` of what is returned.

    Raises
    ------
    InvalidSystem
        If there are too few other nodes to take the mass with its moments, or one would get a negative mass.
    """
    m, x = np.asarray(mass, dtype=float), np.asarray(points, dtype=float)
    if m.ndim != 1 or x.ndim != 2 or len(x) != len(m):
        raise InvalidSystem(f"redistributed_mass: masses and points have shapes {m.shape} and {x.shape}.")
    if not (np.isfinite(x).all() and (m > 0).all() and np.isfinite(m).all()):
        raise InvalidSystem("redistributed_mass: masses must be positive, and they and points finite.")
    freed = distinct_nodes("redistributed_mass", nodes)
    require_nodes("redistributed_mass", freed, len(m))
    # Scaled about the centre, so that the moments are of one size.
    centre = m @ x / m.sum()
    z = (x - centre) / max(np.abs(x - centre).max(), 1e-300)
    pairs = combinations_with_replacement(range(x.shape[1]), 2)
    powers = np.column_stack([np.ones(len(m)), z, *(z[:, i] * z[:, j] for i, j in pairs)])

    kept = np.ones(len(m), bool)
    kept[freed] = False
    moments = powers[kept].T @ (m[kept, None] * powers[kept])
    coefficients, _, rank, _ = np.linalg.lstsq(moments, powers.T @ m, rcond=1e-12)
    if rank < powers.shape[1]:
        raise InvalidSystem(
            f"redistributed_mass: the {kept.sum()} nodes that keep mass cannot have the same moments of inertia; "
            "take a finer mesh, or free fewer nodes."
        )
    new = np.where(kept, m * (powers @ coefficients), 0.0)
    negative = np.flatnonzero(kept & (new <= 0))
    if len(negative):
        raise InvalidSystem(
            f"redistributed_mass: node {negative[0]} would get a mass of {new[negative[0]]:.3g} kg; "
            "take a finer mesh, or free fewer nodes."
        )
    return new


@checked
def mass_moved_inward(
    mass: ArrayLike | sp.csr_array, points: Array, cells: IntArray, nodes: Nodes
) -> Array | sp.csr_array:
    """Return the mass without any at the given nodes, each moving, as mass, with the node behind it.

    M' = Rᵀ M R with v = R v', in which a freed node has the velocity of the nearest node that keeps its mass and is in
    one of its cells (of all that are equally near, the mean). It is symmetric, positive definite for all other nodes,
    and has the whole mass; that of a freed node is moved inward by one element. Lumped masses stay lumped, Rᵀ m.

    Parameters
    ----------
    mass : float64 [n] or sparse [n, n]
        In kg: lumped, consistent or between the two (`symplex.actions.mixed_mass`).
    points : float64 [n, dim]
        Undeformed positions in m.
    cells : int32 [m, k]
        The nodes of the elements.
    nodes : int [...]
        The nodes to free of their mass: usually those that may touch. Give `System` the mask ``massless``, True there.

    Raises
    ------
    InvalidSystem
        If a node has none behind it that keeps its mass, or sizes do not match.
    """
    x = np.asarray(points, dtype=float)
    n = len(x)
    if x.ndim != 2 or not np.isfinite(x).all():
        raise InvalidSystem(f"mass_moved_inward: points must be finite, [n, dim]; their shape is {x.shape}.")
    consistent = sp.issparse(mass)
    whole = sp.csr_array(mass) if consistent else nodal_masses("mass_moved_inward", np.asarray(mass))
    if whole.shape != ((n, n) if consistent else (n,)):
        raise InvalidSystem(f"mass_moved_inward: masses of shape {whole.shape} do not fit {n} points.")
    freed = distinct_nodes("mass_moved_inward", nodes)
    require_nodes("mass_moved_inward", freed, n)
    if cells.ndim != 2:
        raise InvalidSystem(f"mass_moved_inward: cells must have a row for each element; their shape is {cells.shape}.")
    require_nodes("mass_moved_inward", cells, n)
    R = _behind(x, cells, freed)
    if not consistent:
        return R.T @ whole
    moved = sp.csr_array(R.T @ whole @ R)
    moved.eliminate_zeros()
    return moved


def _behind(x: Array, cells: IntArray, freed: IntArray) -> sp.csr_array:
    """Return R [n, n]: ones for nodes that keep their mass, and for the others shares of those behind them."""
    n = len(x)
    kept = np.ones(n, bool)
    kept[freed] = False
    around = cells[~kept[cells].all(axis=1)]
    k = cells.shape[1]
    pairs = np.unique(np.column_stack([np.repeat(around, k, axis=1).ravel(), np.tile(around, k).ravel()]), axis=0)
    first, second = pairs[~kept[pairs[:, 0]] & kept[pairs[:, 1]]].T
    distances = np.linalg.norm(x[second] - x[first], axis=1)
    nearest = np.full(n, np.inf)
    np.minimum.at(nearest, first, distances)
    alone = freed[~np.isfinite(nearest[freed])]
    if len(alone):
        raise InvalidSystem(
            f"mass_moved_inward: node {alone[0]} has no node behind it that keeps its mass; take a finer mesh, or free "
            "fewer nodes."
        )
    behind = distances <= _NEAREST * nearest[first]
    first, second = first[behind], second[behind]
    share = 1.0 / np.bincount(first, minlength=n)[first]
    same = np.flatnonzero(kept)
    rows, columns = np.concatenate([same, first]), np.concatenate([same, second])
    return sp.csr_array((np.concatenate([np.ones(len(same)), share]), (rows, columns)), shape=(n, n))
