"""Energies and loads along the angle or displacement of a joint, in compiled loops; formulas see `joint_laws`.

A coordinate is the angle of its cosine and sine m, or the displacement m, products of vectors of both bodies, with
gradients ∇m and second derivatives A times the unit matrix.
"""

import numpy as np

from symplex.fem.compiled.kernels import formula, kernel
from symplex.fem.compiled.records import Nodes, Number, Numbers, Record, Rows
from symplex.fem.structures.joint_loops import set_product

_SMALL = 1e-4  # rad below which Δα/sin Δα is taken by its series
_TURNED = 1e-3  # rad by which an angle may differ from what it was and has changed by


class CoordinateRecord(Record):
    """Nodes [1, k] and products m (`Products`), of which an angle has two; a displacement is less what it rests at.

    The numbers of a spring are k, both stops from rest, and K; those of a load M or 1, d, c and ε.
    """

    nodes: Nodes
    left: Rows
    right: Rows
    left_constant: Rows
    right_constant: Rows
    totals: Rows
    rest: Number
    numbers: Numbers


@formula
def _products(our, q0, q1, m, g):
    """Set m [p] and ∇m [p, k, 3] at the middle of two positions [n, 3]."""
    for p in range(len(m)):
        m[p] = set_product(our, our.nodes[0], q0, q1, p, g[p], 0)


@formula
def _curvature(our, p, a, b):
    """Return A of two nodes."""
    return our.left[p, a] * our.right[p, b] + our.right[p, a] * our.left[p, b]


@formula
def _value(our, m):
    return np.arctan2(m[1], m[0]) if len(m) == 2 else m[0] - our.rest


@formula
def _set_slope(m, out):
    """Set the derivative of the coordinate by m [p]."""
    if len(m) == 2:
        size = m[0] * m[0] + m[1] * m[1]
        out[0], out[1] = -m[1] / size, m[0] / size
    else:
        out[0] = 1.0


@formula
def _room(our):
    """Return arrays for m, ∇m and a derivative by m."""
    p, k = len(our.left), our.nodes.shape[1]
    return np.empty(p), np.empty((p, k, 3)), np.empty(p)


@formula
def _set_gradient(our, q, m, g, slope, n):
    """Set all that `_room` has at q, and n [k, 3] to the gradient of the coordinate, which is returned."""
    _products(our, q, q, m, g)
    _set_slope(m, slope)
    for a in range(len(n)):
        for i in range(3):
            n[a, i] = 0.0
            for p in range(len(m)):
                n[a, i] += slope[p] * g[p, a, i]
    return _value(our, m)


@formula
def _set_part(m, g, out):
    """Set the part p [k, 3] of the second derivative Σ slope A 1 − n pᵀ − p nᵀ: of an angle m ∇m/m², else none.

    It is the imaginary part of ∇²z/z − ∇z∇z/z², z = c + is.
    """
    size = 0.0
    for p in range(len(m)):
        size += m[p] * m[p]
    for a in range(len(out)):
        for i in range(3):
            out[a, i] = (m[0] * g[0, a, i] + m[1] * g[1, a, i]) / size if len(m) == 2 else 0.0


@formula
def _add_blocks(our, scale, slope, left, right, slots, out):
    """Add scale Σ slope A 1 + Σ left rightᵀ [r, k, 3] to blocks; return a sum that is finite if all of it is."""
    check, k = 0.0, our.nodes.shape[1]
    for a in range(k):
        for b in range(k):
            same, block = 0.0, out[slots[0, a, b]]
            for p in range(len(slope)):
                same += scale * slope[p] * _curvature(our, p, a, b)
            for i in range(3):
                for j in range(3):
                    value = same if i == j else 0.0
                    for r in range(len(left)):
                        value += left[r, a, i] * right[r, b, j]
                    block[i, j] += value
                    check += value
    return check


# -- springs and stops ----------------------------------------------------------------------------------------------


@formula
def _excess(our, a):
    """Return by how much a value is beyond the upper stop, and the lower one: negative."""
    return max(a - our.numbers[2], 0.0), min(a - our.numbers[1], 0.0)


@formula
def _law(our, a):
    """Return ψ, ψ' and ψ''."""
    k, hard = our.numbers[0], our.numbers[3]
    upper, lower = _excess(our, a)
    beyond = upper + lower
    value = 0.5 * k * a * a + 0.5 * hard * beyond * beyond
    return value, k * a + hard * beyond, k + (hard if beyond != 0.0 else 0.0)


@formula
def _mean_part(e0, e1, change, hard):
    """Return what a stop adds to S with S · change = ψ(a + change) − ψ(a), and to its derivative by the end."""
    if e0 == 0.0 and e1 == 0.0:
        return 0.0, 0.0
    if e0 != 0.0 and e1 != 0.0:  # their difference is the change, without its rounding
        return 0.5 * hard * (e0 + e1), 0.5 * hard
    mean = 0.5 * hard * (e1 + e0) * ((e1 - e0) / change)
    return mean, (hard * e1 - mean) / change


@formula
def _mean_law(our, a, change):
    """Return S and its derivative by the end."""
    k, hard = our.numbers[0], our.numbers[3]
    before, after = _excess(our, a), _excess(our, a + change)
    upper, rate_upper = _mean_part(before[0], after[0], change, hard)
    lower, rate_lower = _mean_part(before[1], after[1], change, hard)
    return k * (a + 0.5 * change) + upper + lower, 0.5 * k + rate_upper + rate_lower


@kernel
def write_values(q, our, out, first, last):
    """Write φ, or add it up if there is no room."""
    m, g, _ = _room(our)
    _products(our, q, q, m, g)
    found = _law(our, _value(our, m))[0]
    if len(out):
        out[0] = found
    return found


@kernel
def add_gradient(q, our, out, first, last):
    """Add ψ' n."""
    m, g, slope = _room(our)
    nodes = our.nodes[0]
    n = np.empty((len(nodes), 3))
    force, check = _law(our, _set_gradient(our, q, m, g, slope, n))[1], 0.0
    for a in range(len(nodes)):
        for i in range(3):
            out[nodes[a], i] += force * n[a, i]
            check += force * n[a, i]
    return check


@kernel
def add_hessian(q, our, slots, out, first, last):
    """Add ψ' ∇n + ψ'' n ⊗ n."""
    m, g, slope = _room(our)
    k = our.nodes.shape[1]
    left, right = np.empty((2, k, 3)), np.empty((2, k, 3))
    n, part = left[0], left[1]
    _, force, rate = _law(our, _set_gradient(our, q, m, g, slope, n))
    _set_part(m, g, part)
    for a in range(k):
        for i in range(3):
            right[0, a, i], right[1, a, i] = rate * n[a, i] - force * part[a, i], -force * n[a, i]
    return _add_blocks(our, force, slope, left, right, slots, out)


@formula
def _between(our, q0, q1, m0, m1, g, D, by_end):
    """Set m at both ends, ∇m in the middle, and D with D·(m₁ − m₀) what the coordinate changes by; return S and rates.

    by_end [p, p] is ∂D/∂m₁. S is not a number where an angle passes half a turn from its rest.
    """
    _products(our, q0, q0, m0, g)
    _products(our, q1, q1, m1, g)
    a, b = _value(our, m0), _value(our, m1)
    if len(m0) == 1:
        change = m1[0] - m0[0]
        D[0], by_end[0, 0] = 1.0, 0.0
    else:
        change = np.arctan2(m0[0] * m1[1] - m0[1] * m1[0], m0[0] * m1[0] + m0[1] * m1[1])
        if abs(change) < _SMALL:
            factor, rate = 1.0 + change * change / 6.0, change / 3.0
        else:
            sin, cos = np.sin(change), np.cos(change)
            factor, rate = change / sin, (sin - change * cos) / (sin * sin)
        square0, square1 = m0[0] * m0[0] + m0[1] * m0[1], m1[0] * m1[0] + m1[1] * m1[1]
        size = np.sqrt(square0 * square1)
        mean0, mean1 = -0.5 * (m0[1] + m1[1]), 0.5 * (m0[0] + m1[0])
        s0, s1 = -m1[1] / square1, m1[0] / square1
        D[0], D[1] = factor * mean0 / size, factor * mean1 / size
        by_end[0, 0] = (rate * mean0 * s0 - factor * mean0 * m1[0] / square1) / size
        by_end[0, 1] = (rate * mean0 * s1 - factor * mean0 * m1[1] / square1 - 0.5 * factor) / size
        by_end[1, 0] = (rate * mean1 * s0 - factor * mean1 * m1[0] / square1 + 0.5 * factor) / size
        by_end[1, 1] = (rate * mean1 * s1 - factor * mean1 * m1[1] / square1) / size
        if abs(a + change - b) > _TURNED:
            return np.nan, np.nan
    force, rate = _mean_law(our, a, change)
    return force, rate


@kernel
def add_discrete_gradient(q0, q1, our, out, first, last):
    """Add S D·∇m."""
    m0, g, D = _room(our)
    m1, by_end, nodes = np.empty_like(m0), np.empty((len(m0), len(m0))), our.nodes[0]
    force = _between(our, q0, q1, m0, m1, g, D, by_end)[0]
    _products(our, q0, q1, m1, g)
    check = 0.0
    for a in range(len(nodes)):
        for i in range(3):
            value = 0.0
            for p in range(len(D)):
                value += force * D[p] * g[p, a, i]
            out[nodes[a], i] += value
            check += value
    return check


@kernel
def add_discrete_hessian(q0, q1, our, slots, out, first, last):
    """Add ½ S D·A + ∇m̄ᵀ (S ∂D/∂m₁ + S' D ⊗ ∂α/∂m₁) ∇m¹."""
    m0, g, D = _room(our)
    m1, by_end, at_end, slope = np.empty_like(m0), np.empty((len(m0), len(m0))), np.empty_like(g), np.empty_like(m0)
    force, rate = _between(our, q0, q1, m0, m1, g, D, by_end)
    _products(our, q1, q1, m1, at_end)
    _set_slope(m1, slope)
    _products(our, q0, q1, m0, g)
    right, count = np.empty_like(g), len(D)
    for p in range(count):
        for a in range(g.shape[1]):
            for i in range(3):
                right[p, a, i] = 0.0
                for r in range(count):
                    right[p, a, i] += (force * by_end[p, r] + rate * D[p] * slope[r]) * at_end[r, a, i]
    return _add_blocks(our, 0.5 * force, D, g, right, slots, out)


# -- motors, dampers and friction: M − d α̇ − c α̇/√(α̇² + ε²) ---------------------------------------------------------


@formula
def _moment(our, factor, n, v):
    """Return what acts along the coordinate, and its derivative by the rate."""
    rate, nodes = 0.0, our.nodes[0]
    for a in range(len(nodes)):
        for i in range(3):
            rate += n[a, i] * v[nodes[a], i]
    moment, d, c, slip = our.numbers[0], our.numbers[1], our.numbers[2], our.numbers[3]
    size = np.sqrt(rate * rate + slip * slip)
    return factor * moment - d * rate - c * rate / size, -d - c * slip * slip / (size * size * size)


@kernel
def add_forces(factor, q0, q1, q, v, our, out, first, last):
    """Add M n; the factor is one of a moment that changes with time."""
    m, g, slope = _room(our)
    nodes = our.nodes[0]
    n = np.empty((len(nodes), 3))
    _set_gradient(our, q, m, g, slope, n)
    moment, check = _moment(our, factor, n, v)[0], 0.0
    for a in range(len(nodes)):
        for i in range(3):
            out[nodes[a], i] += moment * n[a, i]
            check += moment * n[a, i]
    return check


@kernel
def add_force_derivatives(factor, q0, q1, q, v, by_q, by_v, our, slots, out, first, last):
    """Add by_q (M ∇n + M' n ⊗ ∇n v) + by_v M' n ⊗ n."""
    m, g, slope = _room(our)
    nodes = our.nodes[0]
    k = len(nodes)
    left, right = np.empty((2, k, 3)), np.empty((2, k, 3))
    n, part = left[0], left[1]
    _set_gradient(our, q, m, g, slope, n)
    _set_part(m, g, part)
    moment, rate = _moment(our, factor, n, v)
    along, of_part = 0.0, 0.0
    for a in range(k):
        for i in range(3):
            along += n[a, i] * v[nodes[a], i]
            of_part += part[a, i] * v[nodes[a], i]
    for a in range(k):
        for i in range(3):
            bend = -n[a, i] * of_part - part[a, i] * along  # of ∇n v
            for b in range(k):
                for p in range(len(m)):
                    bend += slope[p] * _curvature(our, p, a, b) * v[nodes[b], i]
            right[0, a, i] = by_q * (rate * bend - moment * part[a, i]) + by_v * rate * n[a, i]
            right[1, a, i] = -by_q * moment * n[a, i]
    return _add_blocks(our, by_q * moment, slope, left, right, slots, out)


LOADS = {"forces": add_forces, "force_derivatives": add_force_derivatives}
