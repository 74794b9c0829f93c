"""Mass redistribution: contact nodes without inertia, for a smooth pressure."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem
from symplex.fem.energy import Array
from symplex.fem.nodes import Nodes, distinct_nodes, require_nodes


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
