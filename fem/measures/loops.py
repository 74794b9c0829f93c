"""Energies φ(m(d)) of laws of measures of relative positions: the chain rule, in kernels over stencils.

With m, n = ∂m/∂d, H = ∂²m/∂d² of a measure (`symplex.fem.measures.relative`), its mean gradient G and K = ∂G/∂d1 along
an increment, and ξ = Δφ/(½ Δm) of a law (`symplex.fem.measures.law_formulas`), which may have an end
(`symplex.fem.measures.cut_off`):

    ∂φ/∂d = φ' n,                     ∂²φ/∂d² = φ'' n ⊗ n + φ' H,
    DG = ½ ξ G,                       ∂DG/∂d1 = ½ (∂ξ/∂m1 G ⊗ n1 + ξ K),
    ∇³φ[a, a] = φ''' (n·a)² n + φ'' (2 (n·a) H a + (a·H a) n),
    𝓕 = 2 φ',  𝓕̇ = 2 φ'' n·ḋ         (of distances only),

H and K are symmetric. This is for the first node of a stencil, and with the other sign for the second, if there is one.
(With 2 φ' at the mean length instead of ξ for the mean gradient.) What is not finite spreads to the returned sums.
"""

import numpy as np

from symplex.fem.compiled.kernels import (
    uncounted_formula as formula,
    uncounted_inlined as inlined,
    uncounted_kernel as kernel,
)
from symplex.fem.compiled.records import Integer, Nodes, Numbers, Record
from symplex.fem.measures import law_formulas
from symplex.fem.measures.cut_off import (
    curvature,
    energy,
    mean_slope,
    quotient,
    quotient_slope,
    slope,
    third_slope,
)
from symplex.fem.measures.law_formulas import ENGINEERING, GREEN, PENALTY
from symplex.fem.measures.relative import (
    COUNT,
    DISTANCE,
    FACES,
    KIND,
    ORIGIN,
    bend_of,
    difference,
    dot,
    face_value,
    gradient_of,
    mean_bend_of,
    mean_gradient_of,
    normal,
    relative,
    sum_of,
)


class MeasureRecord(Record):
    """Nodes [m, k] of stencils, a measure, and a law: its number, two constants [m] of each stencil, and its end."""

    nodes: Nodes
    measure: Numbers
    law: Integer
    a: Numbers
    b: Numbers
    end: Numbers


@inlined
def add_vector(f, nodes, e, out):
    """Add a force to the first node of a stencil, and take it from the second."""
    _add_to(f, 1.0, nodes[e, 0], out)
    if nodes.shape[1] > 1:
        _add_to(f, -1.0, nodes[e, 1], out)


@inlined
def _add_to(f, sign, a, out):
    out[a, 0] += sign * f[0]
    if out.shape[1] > 1:
        out[a, 1] += sign * f[1]
    if out.shape[1] > 2:
        out[a, 2] += sign * f[2]


@inlined
def add_row(f, j, nodes, slots, e, out):
    """Add the row j of a matrix to the blocks of a stencil, with the other sign where two nodes are coupled."""
    _add_to_block(f, 1.0, slots[e, 0, 0], j, out)
    if nodes.shape[1] > 1:
        _add_to_block(f, 1.0, slots[e, 1, 1], j, out)
        _add_to_block(f, -1.0, slots[e, 0, 1], j, out)
        _add_to_block(f, -1.0, slots[e, 1, 0], j, out)


@inlined
def _add_to_block(f, sign, place, j, out):
    out[place, j, 0] += sign * f[0]
    if out.shape[1] > 1:
        out[place, j, 1] += sign * f[1]
    if out.shape[1] > 2:
        out[place, j, 2] += sign * f[2]


@inlined
def unit_of(j):
    return 1.0 * (j == 0), 1.0 * (j == 1), 1.0 * (j == 2)


@kernel
def measures(q, nodes, measure, out):
    """Write m of each stencil."""
    for e in range(len(nodes)):
        out[e], _ = gradient_of(measure, relative(q, nodes, e, measure))


@kernel
def write_values(q, our, out, first, last):
    """Write φ of each stencil, where there is room for it; return the sum."""
    nodes, measure, law, a, b, end = our.nodes, our.measure, our.law, our.a, our.b, our.end
    total, each = 0.0, len(out) > 0
    for e in range(first, last):
        m, _ = gradient_of(measure, relative(q, nodes, e, measure))
        phi = energy(law, a[e], b[e], end, m)
        total += phi
        if each:
            out[e] = phi
    return total


@kernel
def add_at_nodes(q, our, out, first, last):
    """Add ∂φ/∂x to [m·k, dim], one row for each node of each stencil."""
    nodes, measure, law, a, b, end = our.nodes, our.measure, our.law, our.a, our.b, our.end
    k = np.uint64(nodes.shape[1])
    for e in range(first, last):
        m, n = gradient_of(measure, relative(q, nodes, e, measure))
        f = sum_of((0.0, 0.0, 0.0), slope(law, a[e], b[e], end, m), n)
        _add_to(f, 1.0, k * e, out)
        if k > 1:
            _add_to(f, -1.0, k * e + np.uint64(1), out)
    return 0.0


@inlined
def _add_pair_forces(law, q, nodes, measure, a, b, out, first, last):
    """Do as `add_gradient` for laws of distances: with the questions outside of the loop."""
    check = 0.0
    for e in range(first, last):
        d = relative(q, nodes, e, measure)
        pull = 2.0 * law_formulas.slope(law, a[e], b[e], dot(d, d))
        check += pull
        add_vector((pull * d[0], pull * d[1], pull * d[2]), nodes, e, out)
    return check


@inlined
def _add_plane_forces(q, nodes, measure, a, b, out, first, last):
    """Do as `add_gradient` for penalty contact with a half-space."""
    check, n = 0.0, normal(measure, 0)
    for e in range(first, last):
        m = face_value(measure, 0, relative(q, nodes, e, measure))
        if m < 0.0 or m != m:
            pull = law_formulas.slope(PENALTY, a[e], b[e], m)
            check += pull
            add_vector((pull * n[0], pull * n[1], pull * n[2]), nodes, e, out)
    return check


@inlined
def is_pair(our):
    """Whether an energy is a law of distances without an end."""
    return our.measure[KIND] == DISTANCE and our.end[0] == np.inf


@inlined
def is_plane(our):
    """Whether stencils are nodes in penalty contact with a half-space."""
    plane = our.law == PENALTY and our.measure[KIND] == FACES and our.measure[COUNT] == 1.0
    return plane and our.end[0] == np.inf


@inlined
def add_usual_gradient(q, our, out, first, last):
    """Do as `add_gradient` for laws of distances, or for a plane: short enough to stand in loops over steps."""
    if is_pair(our):
        if our.law == ENGINEERING:
            return _add_pair_forces(ENGINEERING, q, our.nodes, our.measure, our.a, our.b, out, first, last)
        return _add_pair_forces(our.law, q, our.nodes, our.measure, our.a, our.b, out, first, last)
    return _add_plane_forces(q, our.nodes, our.measure, our.a, our.b, out, first, last)


@kernel
def add_gradient(q, our, out, first, last):
    """Add ∂φ/∂q [n, dim]; return a sum that is finite if all forces are."""
    if is_pair(our) or is_plane(our):
        return add_usual_gradient(q, our, out, first, last)
    nodes, measure, law, a, b, end = our.nodes, our.measure, our.law, our.a, our.b, our.end
    check = 0.0
    for e in range(first, last):
        m, n = gradient_of(measure, relative(q, nodes, e, measure))
        pull = slope(law, a[e], b[e], end, m)
        if pull != 0.0:
            check += pull
            add_vector(sum_of((0.0, 0.0, 0.0), pull, n), nodes, e, out)
    return check


@kernel
def add_hessian(q, our, slots, out, first, last):
    """Add ∂²φ/∂q² to blocks; return a sum that is finite if all of it is."""
    nodes, measure, law, a, b, end = our.nodes, our.measure, our.law, our.a, our.b, our.end
    check, zero = 0.0, (0.0, 0.0, 0.0)
    for e in range(first, last):
        d = relative(q, nodes, e, measure)
        m, n = gradient_of(measure, d)
        first, second = slope(law, a[e], b[e], end, m), curvature(law, a[e], b[e], end, m)
        if first == 0.0 and second == 0.0:
            continue
        check += first + second
        for j in range(q.shape[1]):
            unit = unit_of(j)
            row = sum_of(zero, second * dot(n, unit), n)
            add_row(sum_of(row, first, bend_of(measure, d, unit)), j, nodes, slots, e, out)
    return check


@kernel
def add_discrete_gradient(q0, q1, our, out, first, last):
    """Add DG(q0, q1) [n, dim]; return a sum that is finite if all forces are."""
    nodes, measure, law, a, b, end = our.nodes, our.measure, our.law, our.a, our.b, our.end
    check = 0.0
    for e in range(first, last):
        d0, d1 = relative(q0, nodes, e, measure), relative(q1, nodes, e, measure)
        (m0, _), (m1, _) = gradient_of(measure, d0), gradient_of(measure, d1)
        xi = quotient(law, a[e], b[e], end, m0, m1)
        if xi != 0.0:
            check += xi
            add_vector(sum_of((0.0, 0.0, 0.0), 0.5 * xi, mean_gradient_of(measure, d0, d1)), nodes, e, out)
    return check


@kernel
def add_mean_gradient(q0, q1, our, out, first, last):
    """Add the mean gradient of distances [n, dim]; return a sum that is finite if all forces are."""
    nodes, measure, law, a, b, end = our.nodes, our.measure, our.law, our.a, our.b, our.end
    check = 0.0
    for e in range(first, last):
        d0, d1 = relative(q0, nodes, e, measure), relative(q1, nodes, e, measure)
        xi = mean_slope(law, a[e], b[e], end, dot(d0, d0), dot(d1, d1))
        check += xi
        add_vector(sum_of((0.0, 0.0, 0.0), 0.5 * xi, sum_of(d0, 1.0, d1)), nodes, e, out)
    return check


@kernel
def add_discrete_hessian(q0, q1, our, slots, out, first, last):
    """Add ∂DG/∂q1 to blocks; return a sum that is finite if all of it is."""
    nodes, measure, law, a, b, end = our.nodes, our.measure, our.law, our.a, our.b, our.end
    check, zero = 0.0, (0.0, 0.0, 0.0)
    for e in range(first, last):
        d0, d1 = relative(q0, nodes, e, measure), relative(q1, nodes, e, measure)
        (m0, _), (m1, n) = gradient_of(measure, d0), gradient_of(measure, d1)
        xi, rate = quotient(law, a[e], b[e], end, m0, m1), quotient_slope(law, a[e], b[e], end, m0, m1)
        if xi == 0.0 and rate == 0.0:
            continue
        check += xi + rate
        G = mean_gradient_of(measure, d0, d1)
        for j in range(q1.shape[1]):
            unit = unit_of(j)
            row = sum_of(zero, 0.5 * rate * dot(G, unit), n)
            add_row(sum_of(row, 0.5 * xi, mean_bend_of(measure, d0, d1, unit)), j, nodes, slots, e, out)
    return check


@kernel
def add_third(q, along, our, out, first, last):
    """Add ∇³V[along, along] [n, dim]; return a sum that is finite if all of it is."""
    nodes, measure, law, a, b, end = our.nodes, our.measure, our.law, our.a, our.b, our.end
    check = 0.0
    for e in range(first, last):
        d, v = relative(q, nodes, e, measure), difference(along, nodes, e)
        m, n = gradient_of(measure, d)
        second, third = curvature(law, a[e], b[e], end, m), third_slope(law, a[e], b[e], end, m)
        if second == 0.0 and third == 0.0:
            continue
        bent, rate = bend_of(measure, d, v), dot(n, v)
        by_n = third * rate * rate + second * dot(v, bent)
        check += by_n + second * rate
        f = sum_of((0.0, 0.0, 0.0), by_n, n)
        add_vector(sum_of(f, 2.0 * second * rate, bent), nodes, e, out)
    return check


@inlined
def _spread_value(value, slots, e, out):
    """Add a number to the values of a pair [2, 2], with the other sign where two nodes are coupled."""
    out[slots[e, 0, 0]] += value
    out[slots[e, 1, 1]] += value
    out[slots[e, 0, 1]] -= value
    out[slots[e, 1, 0]] -= value


@kernel
def add_secant(q, our, slots, out, first, last):
    """Add 𝓕 to values; return a sum that is finite if all of it is."""
    nodes, measure, law, a, b, end = our.nodes, our.measure, our.law, our.a, our.b, our.end
    check = 0.0
    for e in range(first, last):
        m, _ = gradient_of(measure, relative(q, nodes, e, measure))
        pull = 2.0 * slope(law, a[e], b[e], end, m)
        check += pull
        _spread_value(pull, slots, e, out)
    return check


@kernel
def add_secant_rate(q, v, our, slots, out, first, last):
    """Add 𝓕̇ to values; return a sum that is finite if all of it is."""
    nodes, measure, law, a, b, end = our.nodes, our.measure, our.law, our.a, our.b, our.end
    check = 0.0
    for e in range(first, last):
        m, n = gradient_of(measure, relative(q, nodes, e, measure))
        rate = 2.0 * curvature(law, a[e], b[e], end, m) * dot(n, difference(v, nodes, e))
        check += rate
        _spread_value(rate, slots, e, out)
    return check


# -- laws of measures in Python ------------------------------------------------------------------------------------


@kernel
def law_at(law, a, b, m, out):
    """Write φ, φ', φ'' and φ''' [4, c] at the measures m [c]."""
    for e in range(len(m)):
        out[0, e] = law_formulas.energy(law, a[e], b[e], m[e])
        out[1, e] = law_formulas.slope(law, a[e], b[e], m[e])
        out[2, e] = law_formulas.curvature(law, a[e], b[e], m[e])
        out[3, e] = law_formulas.third_slope(law, a[e], b[e], m[e])


@kernel
def law_between(law, a, b, m0, m1, out):
    """Write Δφ/Δm and its derivative with m1 [2, c] from the measures m0 to m1 [c]."""
    for e in range(len(m0)):
        out[0, e] = 0.5 * law_formulas.quotient(law, a[e], b[e], m0[e], m1[e])
        out[1, e] = 0.5 * law_formulas.quotient_slope(law, a[e], b[e], m0[e], m1[e])


# -- positions of two numbers each ---------------------------------------------------------------------------------
#
# For stiff pairs the last digit of a position is a large force. With what it leaves over in ``compensation``, and
# strains from increments, s1 − s0 = Δd·(2 d0 + Δd) and l − L = (s − L²)/(l + L), forces are exact to the round-off of
# strains. No products may be fused with sums in here: what they round off is what is looked for.

_SPLIT = 134217729.0  # 2^27 + 1


@formula
def _two_sum(a, b):
    """Return a + b, and what it has rounded off."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@formula
def _square(a):
    """Return a², and what it has rounded off (Dekker)."""
    shifted = _SPLIT * a
    high = shifted - (shifted - a)
    low = a - high
    square = a * a
    return square, ((high * high - square) + 2.0 * high * low) + low * low


@inlined
def _component(q, compensation, nodes, e, measure, i):
    """Component i of d in two numbers."""
    d, rest = _two_sum(q[nodes[e, 0], i], -measure[ORIGIN + i])
    rest += compensation[nodes[e, 0], i]
    if nodes.shape[1] > 1:
        d, lost = _two_sum(d, -q[nodes[e, 1], i])
        rest += lost - compensation[nodes[e, 1], i]
    return d, rest


@kernel
def add_increment_gradient(q, compensation, dq, our, out, first, last):
    """Add DG(q + compensation, q + compensation + Δq) [n, dim]; return a sum that is finite if all forces are."""
    nodes, measure, law, a, b, end = our.nodes, our.measure, our.law, our.a, our.b, our.end
    check, dim, zero = 0.0, q.shape[1], (0.0, 0.0, 0.0)
    for e in range(first, last):
        excess, rest = _square(b[e])  # s0 − L² in two numbers, for the laws that have an L
        excess, rest = -excess, -rest
        s0, d0 = 0.0, zero
        for i in range(dim):
            d, d_low = _component(q, compensation, nodes, e, measure, i)
            square, square_low = _square(d)
            excess, lost = _two_sum(excess, square)
            rest += lost + square_low + 2.0 * d * d_low
            s0 += (d + d_low) ** 2
            d0 = sum_of(d0, d + d_low, unit_of(i))
        step = difference(dq, nodes, e)
        d1 = sum_of(d0, 1.0, step)
        if measure[KIND] == DISTANCE:
            change = dot(step, sum_of(step, 2.0, d0))
            xi = _increment_quotient(law, a[e], b[e], end, s0, excess + rest, change)
        else:
            (m0, _), (m1, _) = gradient_of(measure, d0), gradient_of(measure, d1)
            xi = quotient(law, a[e], b[e], end, m0, m1)
        check += xi
        add_vector(sum_of(zero, 0.5 * xi, mean_gradient_of(measure, d0, d1)), nodes, e, out)
    return check


@formula
def _increment_quotient(law, a, b, end, s0, excess, change):
    """ξ(s0, s0 + change), where excess is s0 − L²."""
    if law == ENGINEERING:
        l0, l1 = np.sqrt(s0), np.sqrt(max(s0 + change, 0.0))
        if b == 0.0:
            return a
        stretch = excess / (l0 + b)
        return a * (2.0 * stretch + change / (l0 + l1)) / (l0 + l1)
    if law == GREEN:
        return 0.25 * a * (2.0 * excess + change) / (b * b)
    return quotient(law, a, b, end, s0, max(s0 + change, 0.0))
