"""What short steps look at: the pairs of a list that may come within d̂ while no vertex goes far, and where none meet.

Nothing depends on it. Pairs farther than d̂ from each other add exactly nothing, and the way between two places within
a ball stays in it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from symplex.contact.pair_energy import PairEnergy, nearest
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.compiled.kernels import inlined, kernel


class Place(NamedTuple):
    """Where the vertices [v, 3] of a surface were, in m, and the square in m² of how far they may go from there."""

    at: Array
    room: float


class NearPairs(NamedTuple):
    """Pairs of a list that were near each other."""

    place: Place  # as long as no vertex goes farther, ``energy`` has all pairs that come within d̂
    energy: PairEnergy
    away: float  # how far in m vertices had been from where the list was found, at most
    ahead: float  # how much farther than d̂ in m pairs were


def near_pairs(q: Array, vertices: IntArray, listed: PairEnergy, ahead: float, away: float) -> NearPairs:
    """Return those of a list that are closer than d̂ + ahead at the positions q [n, 3].

    The list must have all of these.
    """
    pairs = listed.record
    if len(pairs.nodes):
        pairs = pairs.chosen(np.flatnonzero(nearest(q, pairs)[1] < pairs.reach + ahead))
    return NearPairs(place(q, vertices, 0.49 * ahead), PairEnergy(listed.surface, pairs), away, ahead)


def place(q: Array, vertices: IntArray, distance: float) -> Place:
    """Return where vertices are at q [n, 3], with how far in m they may go."""
    return Place(q[vertices], distance * distance)


@kernel
def farthest_of(q, nodes, at):
    """Return the largest |q_n − at|² of nodes [v] with positions at [v, 3]; infinite if one is not finite."""
    largest = 0.0
    for k in range(len(nodes)):
        largest = _larger(largest, q, nodes[k], at, k)
    return largest


@kernel
def farthest_moved(q, nodes, at):
    """Return the largest |q_n − at_n|² of nodes [v]; infinite if one is not finite."""
    largest = 0.0
    for n in nodes:
        largest = _larger(largest, q, n, at, n)
    return largest


@inlined
def _larger(largest, q, n, at, k):
    squared = (q[n, 0] - at[k, 0]) ** 2 + (q[n, 1] - at[k, 1]) ** 2 + (q[n, 2] - at[k, 2]) ** 2
    if not squared <= largest:
        return squared if squared < np.inf else np.inf
    return largest
