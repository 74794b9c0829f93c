"""Friction over facets: tractions integrated where pressures are, in compiled loops.

At a point of the polygon of a pair (`symplex.contact.facet_pairs`), with p = Σ c_a x_a, the coefficients c_a being −N_A
of the first facet and N_B of the second, and the force N = m w k (d̂ − γ) of its weight w,

    σ = P (Σ c_a v_a − ω × p),    P = 1 − n ⊗ n,    t = N σ μ ψ/|σ|,
    ω = n × ṅ + ½ n (n·Σ ∇λ_c × v_c),    ṅ = −Σ ∇λ_c (n·v_c),

ω the angular velocity of the first facet with corners c, so that σ is zero in a rigid motion. With m = Σ p × t of all
points the forces and their power are

    f_a = −Σ c_a t,    f_c += −(∇λ_c·(m × n)) n + ½ (m·n) n × ∇λ_c,    Σ f·v = −Σ t·σ ≤ 0,

of which resultant and moment vanish at any positions. A uniform traction gives all nodes the forces of a uniform
stress, and the couples γ n × t of surfaces that overlap by −γ cancel but at the edges of what is in contact.

Positions are the midpoints of an increment, so that both momenta are kept; the pressure is that there, which the
discrete gradient of the contact has, too, but for terms of the third order. Derivatives are by complex steps.
"""

import numpy as np

from symplex.contact.facet_pairs import (
    STEP,
    FacetPairs,
    add_to,
    cross,
    dot,
    gap_at,
    gather_facets,
    is_own,
    minus,
    overlap,
    place,
    plus,
    row,
    scatter_facets,
    set_column,
    times,
    triangle,
    workspace,
)
from symplex.contact.friction_law import FrictionLaw, pull
from symplex.fem.compiled.kernels import formula, kernel
from symplex.fem.compiled.records import Integer, Number


class FacetFrictionRecord(FacetPairs):
    """Pairs of facets with the law of friction, and whether to take secants."""

    dynamic: Number
    static: Number
    slip_speed: Number
    secant: Integer


@formula
def _add_forces(x, v, e, our, room, f, tractions):
    """Add the forces of a pair to f [2 w, 3] at its positions and velocities [2 w, 3]; return whether there are any.

    To tractions [6, 3], if they are not empty, is added what corners have of the forces by linear functions.
    """
    common = overlap(x, e, our, room, True)
    n, zero = common.n, 0.0 * common.d
    _, _, P, _, _, _, rings, shapes, _, _ = room
    w, law = our.nodes.shape[1] // 2, FrictionLaw(our.dynamic, our.static, our.slip_speed)
    width, opposite = our.sizes[our.pairs[e, 0]], our.sizes[our.pairs[e, 1]]
    c0, c1, c2 = our.corners[e, 0], our.corners[e, 1], our.corners[e, 2]
    _, a1, a2, size = common.first
    g1, g2 = times(1.0 / size, cross(a2, n)), times(1.0 / size, cross(n, a1))
    d1, d2 = minus(row(v, c1), row(v, c0)), minus(row(v, c2), row(v, c0))
    turn = plus(times(dot(n, d1), g1), times(dot(n, d2), g2))  # −ṅ
    spin = 0.5 * dot(n, plus(cross(g1, d1), cross(g2, d2)))
    omega = plus(cross(turn, n), times(spin, n))
    moment, acts = (zero, zero, zero), False
    for j in range(1, common.corners - 1):
        (p, _, _), edges, area = triangle(P, rings[common.ring], j)
        for point in range(len(our.weights)):
            l1, l2 = place(P, p, edges, our.points[point, 1], our.points[point, 2])
            gap, m1, m2 = gap_at(x, e, our, room, l1, l2)
            gamma = dot(n, gap)
            if gamma.real >= our.reach or gamma.real <= -our.depth:
                continue
            acts = True
            slip = times(-1.0, cross(omega, gap))
            for A in range(width):
                slip = minus(slip, times(shapes[0, A], row(v, A)))
            for B in range(opposite):
                slip = plus(slip, times(shapes[1, B], row(v, w + B)))
            slip = minus(slip, times(dot(n, slip), n))
            here = slip[0].real, slip[1].real, slip[2].real
            ratio, rate = pull(law, np.sqrt(dot(here, here)))
            along = 0.0 if our.secant != 0 else rate
            touching = 2.0 * our.weights[point, 0] * area * our.areas[our.pairs[e, 0]]
            pressing = common.facing * touching * our.stiffness * (our.reach - gamma)
            # Of complex steps the law has the first derivative.
            t = times(pressing * (ratio + along * dot(here, minus(slip, here))), slip)
            for A in range(width):
                add_to(f, A, times(shapes[0, A], t))
            for B in range(opposite):
                add_to(f, w + B, times(-shapes[1, B], t))
            moment = plus(moment, cross(gap, t))
            shares = 1.0 - l1 - l2, l1, l2, 1.0 - m1 - m2, m1, m2
            for c in range(len(tractions)):
                add_to(tractions, c, times(shares[c] if c < 3 else -shares[c], t))
    if acts:
        lever, twist = cross(moment, n), 0.5 * dot(moment, n)
        f1 = plus(times(-dot(g1, lever), n), times(twist, cross(n, g1)))
        f2 = plus(times(-dot(g2, lever), n), times(twist, cross(n, g2)))
        add_to(f, c1, f1)
        add_to(f, c2, f2)
        add_to(f, c0, times(-1.0, plus(f1, f2)))
    return acts


@formula
def _gather_middle(q0, q1, our, e, x, to):
    """Set x [2 w, 3] to the midpoints of an increment, relative to that of the first node."""
    gather_facets(q0, our, e, x)
    gather_facets(q1, our, e, to)
    x[:] = 0.5 * (x + to)


@kernel
def add_friction(factor, q0, q1, q, v, our, out, first, last):
    """Add the forces to out [n, 3]; return a sum that is finite if all are."""
    x = np.empty((our.nodes.shape[1], 3))
    u, f, room, check = np.empty_like(x), np.zeros_like(x), workspace(x), 0.0
    for e in range(first, last):
        _gather_middle(q0, q1, our, e, x, u)
        gather_facets(v, our, e, u)
        if _add_forces(x, u, e, our, room, f, f[:0]):
            check += scatter_facets(our, e, f, out)
    return check


@kernel
def add_friction_derivatives(factor, q0, q1, q, v, by_q, by_v, our, slots, out, first, last):
    """Add 2 by_q ∂f/∂q1 + by_v ∂f/∂v, with t/σ for ∂t/∂σ if secants are requested, to blocks [nnz, 3, 3]."""
    x = np.empty((our.nodes.shape[1], 3))
    z, zv, bar = np.empty(x.shape, np.complex128), np.empty(x.shape, np.complex128), np.zeros(x.shape, np.complex128)
    u, f, room, complex_room, check = np.empty_like(x), np.zeros_like(x), workspace(x), workspace(z), 0.0
    for e in range(first, last):
        _gather_middle(q0, q1, our, e, x, u)
        gather_facets(v, our, e, u)
        if not _add_forces(x, u, e, our, room, f, f[:0]):
            continue
        f[:] = 0.0
        for a in range(len(x)):
            if not is_own(our, e, a):
                continue
            for i in range(3):
                z[:], zv[:] = x, u
                z[a, i] += by_q * STEP * 1j
                zv[a, i] += by_v * STEP * 1j
                _add_forces(z, zv, e, our, complex_room, bar, bar[:0])
                check += set_column(slots, e, a, i, bar, out)
    return check


@kernel
def add_tractions(q, v, our, out):
    """Add to out [n, 3] what nodes have of friction in N, by linear functions."""
    x = np.empty((our.nodes.shape[1], 3))
    u, f, room, found = np.empty_like(x), np.zeros_like(x), workspace(x), np.zeros((6, 3))
    for e in range(len(our.nodes)):
        gather_facets(q, our, e, x)
        gather_facets(v, our, e, u)
        if _add_forces(x, u, e, our, room, f, found):
            for c in range(6):
                out[our.nodes[e, our.corners[e, c]]] += found[c]
            found[:] = 0.0


KERNELS = {"forces": add_friction, "force_derivatives": add_friction_derivatives}
