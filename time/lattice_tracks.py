"""What the event loop of force-stepping moves: the lattice, one parabola for each coordinate, and the queue.

Lattice coordinates z = q/h − o. A plain (Kuhn) triangulation repeats the same cell everywhere: a dof is described by
its cell ⌊z⌋ and its fraction f = z − ⌊z⌋. In a *mirrored* one (Fig. 4 of the paper: invariant under reflections at
lattice planes) every cell is the mirror image of its neighbours: a dof is described by the nearest even vertex u, its
distance f = |z − u| from it and the side s = ±1 it is on, z = u + s f. Then everything that holds for f in a plain
cell holds for it here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from symplex.fem.energy import Array
from symplex.time.interaction import Interactions

# Columns of Tracks.dof, one cache line for each dof. Fractions and rates are in lattice units.
FRACTION, RATE, ACCEL, START, CELL, GRADIENT, SIGN = range(7)
COLUMNS = 8

# Columns of Tracks.count
INTEGER_EVENTS, PAIR_EVENTS, RENEWALS, OTHER_CROSSINGS, SINCE_EPOCH = range(5)
N_COUNTS = 5

# Columns of a log of parabolas
LOG_TIME, LOG_DOF, LOG_EVENT, LOG_POSITION, LOG_VELOCITY, LOG_ACCELERATION = range(6)
LOG_COLUMNS = 6


class Lattice(NamedTuple):
    """The grid and the masses.

    Attributes
    ----------
    spacing, offset : float64 [n·dim]
        h_i in m and o_i: lattice planes are at q_i = h_i (u + o_i).
    inertia : float64 [n·dim]
        m_i h_i in kg m; infinite for a fixed coordinate.
    dim : uint32
    mirrored : bool
        Whether neighbouring cells are mirror images.
    """

    spacing: NDArray[np.float64]
    offset: NDArray[np.float64]
    inertia: NDArray[np.float64]
    dim: np.uint32
    mirrored: bool


class Tracks(NamedTuple):
    """All that changes: one parabola per dof, the integers of the topology, and the queue.

    Attributes
    ----------
    dof : float64 [n·dim, COLUMNS]
        The fraction f with ḟ and f̈ at the time ``START``; the cell ⌊z⌋ or vertex u; ∂V_h/∂f / h in N; the side s
        (1 on a plain lattice).
    gap : int32 [...]
        For each dof i (from ``row[i]`` on) and each dof j of the star of its node: ⌊z_j − z_i⌋ on a plain lattice,
        ⌊f_j − f_i⌋ on a mirrored one.
    version : int64 [n·dim]
        How often the parabola of a dof has changed.
    partner, side : int32, int8 [n·dim]
        The next event of a dof: with which dof of its star (its place there, or −1: with its own planes);
        through the lower or upper plane (∓1), or none (0: its first event, see `begin`).
    partner_version : int64 [n·dim]
        The partner's version when the event was scheduled.
    key, winner : float64, uint32 [2·2^p]
        The tournament tree of event times.
    count : int64 [N_COUNTS]
    epoch : float64 [1]
        The time in s that ``START`` and the keys count from.
    """

    dof: NDArray[np.float64]
    gap: NDArray[np.int32]
    version: NDArray[np.int64]
    partner: NDArray[np.int32]
    side: NDArray[np.int8]
    partner_version: NDArray[np.int64]
    key: NDArray[np.float64]
    winner: NDArray[np.uint32]
    count: NDArray[np.int64]
    epoch: NDArray[np.float64]


def empty_tracks(tables: Interactions, n: int) -> Tracks:
    """Return tracks of n dofs with an empty queue."""
    leaves = 1
    while leaves < n:
        leaves *= 2
    winner = np.zeros(2 * leaves, np.uint32)
    winner[leaves:] = np.arange(leaves)
    for level in range(leaves.bit_length() - 2, -1, -1):  # every match is won by its first player
        winner[2**level : 2 ** (level + 1)] = winner[2 ** (level + 1) : 2 ** (level + 2) : 2]
    n_pairs = int(tables.row[-1] + tables.star_ptr[-1] - tables.star_ptr[-2]) if n else 0
    return Tracks(
        dof=np.zeros((n, COLUMNS)),
        gap=np.zeros(n_pairs, np.int32),
        version=np.zeros(n, np.int64),
        partner=np.full(n, -1, np.int32),
        side=np.zeros(n, np.int8),
        partner_version=np.zeros(n, np.int64),
        key=np.full(2 * leaves, np.inf),
        winner=winner,
        count=np.zeros(N_COUNTS, np.int64),
        epoch=np.zeros(1),
    )


def place(z: Array, mirrored: bool) -> tuple[Array, Array, Array]:
    """Return the cells, signs and fractions of lattice coordinates z: z = cell + sign · fraction."""
    if not mirrored:
        cell = np.floor(z)
        return cell, np.ones_like(z), z - cell
    cell = 2.0 * np.round(0.5 * z)
    return cell, np.where(z < cell, -1.0, 1.0), np.abs(z - cell)


def lattice_coordinates(dof: Array, tau: Array) -> tuple[Array, Array, Array]:
    """Return z less its cell, ż and z̈ of the rows of ``Tracks.dof``, at the times tau after their ``START``."""
    sign = dof[:, SIGN]
    fraction = dof[:, FRACTION] + tau * (dof[:, RATE] + 0.5 * tau * dof[:, ACCEL])
    return sign * fraction, sign * (dof[:, RATE] + tau * dof[:, ACCEL]), sign * dof[:, ACCEL]
