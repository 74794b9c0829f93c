"""The forces of dampers, of drag and of Coriolis, and their derivatives, in compiled loops over stencils.

They are called as `symplex.fem.actions.looped_load` says; none has a history, or sees the ends of an increment.
"""

import numpy as np

from symplex.fem.compiled.kernels import (
    uncounted_formula as formula,
    uncounted_inlined as inlined,
    uncounted_kernel as kernel,
)
from symplex.fem.compiled.records import Matrices, Nodes, Numbers, Record, Rows
from symplex.fem.measures.loops import add_row, add_vector, unit_of
from symplex.fem.measures.relative import difference, dot, sum_of

_ZERO = (0.0, 0.0, 0.0)

# -- drag: f = −(c + k |w|) w with w = v − u


class DragRecord(Record):
    """Nodes [m, 1], c [m] in N s/m, k [m] in kg/m, and u [3] in m/s."""

    nodes: Nodes
    c: Numbers
    k: Numbers
    u: Numbers


@inlined
def _in_fluid(v, nodes, e, u):
    """Return w."""
    return sum_of(difference(v, nodes, e), -1.0, u)


@kernel
def add_drag(factor, q0, q1, q, v, our, out, first, last):
    """Add the forces of drag; see the formula above."""
    nodes, c, k, u = our.nodes, our.c, our.k, our.u
    check = 0.0
    for e in range(first, last):
        w, size = _in_fluid(v, nodes, e, u), c[e]
        if k[e] != 0.0:
            size += k[e] * np.sqrt(dot(w, w))
        check += size
        add_vector((-size * w[0], -size * w[1], -size * w[2]), nodes, e, out)
    return check


@kernel
def add_drag_derivatives(factor, q0, q1, q, v, by_q, by_v, our, slots, out, first, last):
    """Add by_v ∂f/∂v, ∂f/∂v = −c 1 − k (|w| 1 + w ⊗ w/|w|)."""
    nodes, c, k, u = our.nodes, our.c, our.k, our.u
    check = 0.0
    for e in range(first, last):
        w, same, along = _in_fluid(v, nodes, e, u), c[e], 0.0
        if k[e] != 0.0:
            speed = np.sqrt(dot(w, w))
            same += k[e] * speed
            along = k[e] / speed if speed > 0.0 else 0.0
        check += same
        for j in range(out.shape[1]):
            unit = unit_of(j)
            row = sum_of(_ZERO, -by_v * same, unit)
            add_row(sum_of(row, -by_v * along * dot(w, unit), w), j, nodes, slots, e, out)
    return check


# -- dashpots between two nodes: with d = x_0 − x_1, f_0 = −f_1 = −c d (d·ḋ)/d² --------------------------------------


class PairRecord(Record):
    """Nodes [m, 2] and c [m] in N s/m."""

    nodes: Nodes
    c: Numbers


@kernel
def add_pair_dashpots(factor, q0, q1, q, v, our, out, first, last):
    """Add the forces of dashpots along pairs; none where one has no length."""
    nodes, c = our.nodes, our.c
    check = 0.0
    for e in range(first, last):
        d = difference(q, nodes, e)
        squared = dot(d, d)
        if squared != 0.0:
            pull = -c[e] * dot(d, difference(v, nodes, e)) / squared
            check += pull
            add_vector((pull * d[0], pull * d[1], pull * d[2]), nodes, e, out)
    return check


@kernel
def add_pair_dashpot_derivatives(factor, q0, q1, q, v, by_q, by_v, our, slots, out, first, last):
    """Add by_q ∂f/∂q + by_v ∂f/∂v.

    ∂f_0/∂d = −c [(d·ḋ) 1 + d ⊗ ḋ − 2 (d·ḋ) d ⊗ d/d²]/d² and ∂f_0/∂ḋ = −c d ⊗ d/d².
    """
    nodes, c = our.nodes, our.c
    check = 0.0
    for e in range(first, last):
        d, rate = difference(q, nodes, e), difference(v, nodes, e)
        squared, product = dot(d, d), dot(d, rate)
        if squared == 0.0:
            continue
        factor = -c[e] / squared
        same, along = factor * by_q * product, factor * (by_v - 2.0 * by_q * product / squared)
        check += same + along
        row = sum_of(sum_of(_ZERO, along, d), factor * by_q, rate)
        for j in range(out.shape[1]):
            unit = unit_of(j)
            add_row(sum_of(sum_of(_ZERO, dot(d, unit), row), same, unit), j, nodes, slots, e, out)
    return check


# -- linear in velocities: f = −C v ----------------------------------------------------------------------------------


class LinearRecord(Record):
    """Nodes [m, k] and C [m, k·dim, k·dim] in N s/m."""

    nodes: Nodes
    matrices: Matrices


@kernel
def add_linear(factor, q0, q1, q, v, our, out, first, last):
    """Add −C v."""
    nodes, matrices = our.nodes, our.matrices
    check, k, dim = 0.0, nodes.shape[1], out.shape[1]
    for e in range(first, last):
        for n in range(k):
            for i in range(dim):
                force = 0.0
                for m in range(k):
                    for j in range(dim):
                        force += matrices[e, n * dim + i, m * dim + j] * v[nodes[e, m], j]
                out[nodes[e, n], i] -= force
                check += force
    return check


@kernel
def add_linear_derivatives(factor, q0, q1, q, v, by_q, by_v, our, slots, out, first, last):
    """Add −by_v C."""
    nodes, matrices = our.nodes, our.matrices
    k, dim = nodes.shape[1], out.shape[1]
    for e in range(first, last):
        for n in range(k):
            for i in range(dim):
                for m in range(k):
                    for j in range(dim):
                        out[slots[e, n, m], i, j] -= by_v * matrices[e, n * dim + i, m * dim + j]
    return 0.0


# -- dashpots between sets of nodes: with the way d = Σ s_a x_a + X, e = d/|d| and w = e·ḋ, ----------------------------
# f_a = −s_a c |w|^(p − 1) w e.


class DashpotRecord(Record):
    """Nodes and shares s [m, k], c [m] in N s/m (to the power p), exponents p [m], and X [3] in m."""

    nodes: Nodes
    shares: Rows
    c: Numbers
    exponents: Numbers
    point: Numbers


@formula
def _along(x, nodes, shares, e, i):
    """Return the component i of Σ s_a x_a."""
    d = 0.0
    for a in range(nodes.shape[1]):
        d += shares[e, a] * x[nodes[e, a], i]
    return d


@formula
def _way(q, v, nodes, shares, point, e, dim):
    """Return |d| and d·ḋ."""
    squared, product = 0.0, 0.0
    for i in range(dim):
        d = _along(q, nodes, shares, e, i) + point[i]
        squared += d * d
        product += d * _along(v, nodes, shares, e, i)
    return np.sqrt(squared), product


@formula
def _slope(w, c, exponent):
    """Return c |w|^(p − 1)."""
    return c if exponent == 1.0 else c * abs(w) ** (exponent - 1.0)


@kernel
def add_dashpots(factor, q0, q1, q, v, our, out, first, last):
    """Add the forces of dashpots; none where one has no length."""
    nodes, shares, c, exponents, point = our.nodes, our.shares, our.c, our.exponents, our.point
    check, k, dim = 0.0, nodes.shape[1], out.shape[1]
    for e in range(first, last):
        length, product = _way(q, v, nodes, shares, point, e, dim)
        if length > 0.0 or np.isnan(length):
            w = product / length
            pull = _slope(w, c[e], exponents[e]) * w / length
            check += pull
            for i in range(dim):
                force = pull * (_along(q, nodes, shares, e, i) + point[i])
                for a in range(k):
                    out[nodes[e, a], i] -= shares[e, a] * force
    return check


@kernel
def add_dashpot_derivatives(factor, q0, q1, q, v, by_q, by_v, our, slots, out, first, last):
    """Add by_q ∂f/∂q + by_v ∂f/∂v.

    With P = (1 − e ⊗ e)/|d|, which is ∂e/∂d, and w' = P ḋ, which is ∂w/∂d: ∂(F e)/∂d = F P + F' e ⊗ w' and
    ∂(F e)/∂ḋ = F' e ⊗ e, F = c |w|^(p − 1) w.
    """
    nodes, shares, c, exponents, point = our.nodes, our.shares, our.c, our.exponents, our.point
    check, k, dim = 0.0, nodes.shape[1], out.shape[1]
    for e in range(first, last):
        length, product = _way(q, v, nodes, shares, point, e, dim)
        if not length > 0.0:
            continue
        w = product / length
        slope = _slope(w, c[e], exponents[e])
        pull, slope = slope * w, exponents[e] * slope
        for i in range(dim):
            along = (_along(q, nodes, shares, e, i) + point[i]) / length
            for j in range(dim):
                other = (_along(q, nodes, shares, e, j) + point[j]) / length
                rate = _along(v, nodes, shares, e, j)
                across = ((1.0 if i == j else 0.0) - along * other) / length
                value = by_q * (pull * across + slope * along * (rate - w * other) / length)
                value += by_v * slope * along * other
                check += value
                for a in range(k):
                    for b in range(k):
                        out[slots[e, a, b], i, j] -= shares[e, a] * shares[e, b] * value
    return check


DRAG = {"forces": add_drag, "force_derivatives": add_drag_derivatives}
LINEAR = {"forces": add_linear, "force_derivatives": add_linear_derivatives}
PAIR_DASHPOTS = {"forces": add_pair_dashpots, "force_derivatives": add_pair_dashpot_derivatives}
DASHPOTS = {"forces": add_dashpots, "force_derivatives": add_dashpot_derivatives}
