"""The loops over conditions that multipliers are found by: products with gradients G, one row for each node of each."""

import numpy as np

from symplex.fem.kernels import uncounted_kernel as kernel

_EPS = float(np.finfo(float).eps)
FLOOR = 4.0 * _EPS  # of the terms of g: what round-off leaves of it
AT_FLOOR = 16.0  # how far above that a violation may be that falls no further
SLOW = 0.25  # a correction with an old matrix that does not do better than this factor asks for a new one
ITERATIONS = 50


@kernel
def add_rates(gradients, rows, nodes, v, out):
    """Add G v."""
    for e in range(len(rows)):
        for i in range(v.shape[1]):
            out[rows[e]] += gradients[e, i] * v[nodes[e], i]


@kernel
def push(gradients, rows, nodes, inverse_mass, impulses, scale, out):
    """Add scale · M⁻¹ Gᵀ impulses."""
    for e in range(len(rows)):
        impulse = scale * impulses[rows[e]]
        for i in range(out.shape[1]):
            out[nodes[e], i] += inverse_mass[nodes[e], i] * (impulse * gradients[e, i])


@kernel
def add_products(left, right, first, second, slots, nodes, inverse_mass, out):
    """Add left · M⁻¹ · right of pairs of gradients at one node to their entries of the matrix."""
    for p in range(len(first)):
        product = 0.0
        for i in range(left.shape[1]):
            product += left[first[p], i] * inverse_mass[nodes[first[p]], i] * right[second[p], i]
        out[slots[p]] += product


@kernel
def add_alignments(left, right, rows, nodes, inverse_mass, out):
    """Add the diagonal of G_left M⁻¹ G_rightᵀ, for conditions that have a node once."""
    for e in range(len(rows)):
        for i in range(left.shape[1]):
            out[rows[e]] += left[e, i] * inverse_mass[nodes[e], i] * right[e, i]


@kernel
def add_round_off(gradients, rows, nodes, q, factor, out):
    """Add factor · |G| |q|."""
    for e in range(len(rows)):
        for i in range(q.shape[1]):
            out[rows[e]] += factor * abs(gradients[e, i] * q[nodes[e], i])


@kernel
def worst(values, floor):
    """Return the greatest violation over its floor, infinite if one is not a number, and where it is."""
    greatest, where = 0.0, 0
    for c in range(len(values)):
        violation = abs(values[c])
        excess = violation / floor[c] if violation > 0.0 else 0.0
        if not excess <= greatest:
            greatest, where = excess, c
            if not np.isfinite(excess):
                return np.inf, where
    return greatest, where
