"""What the compiled loops over contact pairs share: the law, room for the numbers of a pair, gathering, scattering.

Pairs are a `symplex.contact.search.SurfacePairs`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from symplex.fem.assembly import Array
from symplex.fem.kernels import uncounted_formula as formula, uncounted_inlined as inlined
from symplex.fem.threads import OfThread


class Law(NamedTuple):
    """The law of contact (`symplex.contact.laws`): which, k in N/m³ and d̂ in m."""

    kind: int
    stiffness: float
    reach: float


class Scratch(NamedTuple):
    """Numbers of one pair at a time, so that loops allocate nothing.

    Positions at both ends and in the middle [4, 3]; the coefficients there [4]; E [2, 4], W, V [2, 12] of
    `symplex.contact.closest.slide`; vectors of 12 coordinates: ∂θ, the gradient of the mollifier and its mean
    gradient; the bend of that [6, 6]; forces [4, 3] and a matrix [12, 12].
    """

    x0: Array
    x1: Array
    middle: Array
    c0: Array
    c1: Array
    c: Array
    E: Array
    W: Array
    V: Array
    T: Array
    g: Array
    D: Array
    B: Array
    force: Array
    matrix: Array


_SHAPES = [(4, 3)] * 3 + [(4,)] * 3 + [(2, 4)] + [(2, 12)] * 2 + [(12,)] * 3 + [(6, 6), (4, 3), (12, 12)]
_scratch = OfThread(lambda: Scratch(*map(np.zeros, _SHAPES)))  # contacts may be in several systems at once


def scratch() -> Scratch:
    """Return room for the numbers of one pair, that of the thread."""
    return _scratch.value


@formula
def gather(q, nodes, e, x):
    """Set x [4, 3], the positions of a pair relative to its first node, from nodal vectors q [n, 3]."""
    first = nodes[e, 0]
    for a in range(4):
        for i in range(3):
            x[a, i] = q[nodes[e, a], i] - q[first, i]


@inlined
def edges(x):
    """The vectors e1 and e2 of two edges."""
    return (
        (x[1, 0] - x[0, 0], x[1, 1] - x[0, 1], x[1, 2] - x[0, 2]),
        (x[3, 0] - x[2, 0], x[3, 1] - x[2, 1], x[3, 2] - x[2, 2]),
    )


@formula
def expand(scale, first, second, g):
    """Set g [12], by nodes, from vectors of the first and the second edge."""
    for i in range(3):
        g[i], g[3 + i] = -scale * first[i], scale * first[i]
        g[6 + i], g[9 + i] = -scale * second[i], scale * second[i]


@formula
def sign(a):
    """Whether an edge ends (1) or begins (−1) at the node a."""
    return 1.0 if a == 1 or a == 3 else -1.0


@formula
def add_force(force, nodes, e, out):
    """Add force [4, 3] to out [n, 3]; return a sum that is finite if all are."""
    check = 0.0
    for a in range(4):
        for i in range(3):
            out[nodes[e, a], i] += force[a, i]
            check += force[a, i]
    return check


@formula
def add_matrix(matrix, slots, e, out):
    """Add matrix [12, 12] to the blocks out [nnz, 3, 3]; return a sum that is finite if all of it is."""
    check = 0.0
    for a in range(4):
        for b in range(4):
            slot = slots[e, a, b]
            for i in range(3):
                for j in range(3):
                    out[slot, i, j] += matrix[3 * a + i, 3 * b + j]
                    check += matrix[3 * a + i, 3 * b + j]
    return check
