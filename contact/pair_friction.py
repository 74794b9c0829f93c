"""Friction of contact pairs: forces that keep both momenta and never give energy, in compiled loops.

For a pair with coefficients c̄ of nearest points, their distance p̄ = Σ c̄_a x_a and the normal force N of the increment
(`symplex.contact.pair_discrete`), x the midpoints of the increment and v the mean velocities:

    y_a = x_a − m + β (m − x̄),      m the mean of the vertex, the face or the edge that a is of, x̄ of all nodes
    I = Σ (|o|² 1 − o ⊗ o) + β Σ (|r|² 1 − r ⊗ r),    o = x_a − m,  r = m − x̄,
    ω = I⁻¹ Σ y_a × v_a,      σ = P (Σ c̄_a v_a − ω × p̄) = Σ S_a v_a,
    t = N σ μ ψ/|σ|,          I ξ = p̄ × t,      f_a = −S_aᵀ t = −(c̄_a t − ξ × y_a).

ω is the angular velocity of a rigid motion, so that σ is zero in one. Therefore Σ f_a = 0, Σ x_a × f_a = 0, and
f·v = −t·σ is never positive, in increments of any size. With a small β the couple of t about the other surface is taken
by normal forces, and the resultant on each is t; without any, it could not be taken by edges that are nearly parallel.

P is the projection onto the plane orthogonal to a unit vector n, along which the pressure counts: N = N_pair p̂·n. On
flat faces some pairs are tilted, of a vertex and the border of a face that it is not above, or of an edge and the end
of another one; the sum of their forces would be more than the force between the faces. So n is the normal of the face,
or of both edges, where p̄ is less than 37° from it; beyond 45°, as at corners, it is p̂, and in between a mean.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from symplex.contact import laws, mollifier
from symplex.contact.closest import DEGENERATE, closest, combined, minus, row
from symplex.contact.friction_law import pull
from symplex.contact.pair_discrete import mean_coefficients, mean_distance
from symplex.contact.pairs import add_force, add_matrix, edges, gather
from symplex.fem.assembly import Array
from symplex.fem.kernels import uncounted_formula as formula, uncounted_inlined as inlined, uncounted_kernel as kernel
from symplex.fem.solids.edge_algebra import along, cross, dot, times
from symplex.fem.threads import OfThread

_BETA = 1.0 / 64.0
_STEEP, _FLAT = 0.7, 0.8  # cosines of the tilts from which on n is p̂, and the normal of the face
_SINGULAR = 1e-14  # det I, relative to (tr I)³, of nodes on one line
_DIFFERENCE = 1e-6  # of the distance of a pair, for derivatives
_NEAREST = 1e-3  # of d̂: below, differences do not become smaller


class Room(NamedTuple):
    """Numbers of one pair at a time: velocities, y and forces [4, 3], S [12, 3]."""

    v: Array
    y: Array
    base: Array
    S: Array


_room = OfThread(lambda: Room(np.zeros((4, 3)), np.zeros((4, 3)), np.zeros((4, 3)), np.zeros((12, 3))))


def room() -> Room:
    """Return room for the numbers of one pair, that of the thread (see `symplex.contact.pairs.scratch`)."""
    return _room.value


@inlined
def _applied(J, u):
    """A symmetric matrix (11, 22, 33, 12, 13, 23) times a vector."""
    return (
        J[0] * u[0] + J[3] * u[1] + J[4] * u[2],
        J[3] * u[0] + J[1] * u[1] + J[5] * u[2],
        J[4] * u[0] + J[5] * u[1] + J[2] * u[2],
    )


@inlined
def _projected(u, n):
    """P u."""
    return along(u, -dot(u, n), n)


@formula
def _normal(edge_edge, x, p):
    """Return n and p̂·n."""
    p = times(1.0 / dot(p, p) ** 0.5, p)
    if edge_edge:
        a, b = edges(x)
    else:
        a, b = minus(row(x, 2), row(x, 1)), minus(row(x, 3), row(x, 1))
    n = cross(a, b)
    squared = dot(n, n)
    if squared <= DEGENERATE * dot(a, a) * dot(b, b):
        return p, 1.0
    n = times(1.0 / squared**0.5, n)
    cosine = dot(n, p)
    part = min(max((abs(cosine) - _STEEP) / (_FLAT - _STEEP), 0.0), 1.0)
    part *= part * (3.0 - 2.0 * part)
    n = along(times(1.0 - part, p), part if cosine > 0.0 else -part, n)
    n = times(1.0 / dot(n, n) ** 0.5, n)
    return n, dot(p, n)


@formula
def _inverse_inertia(edge_edge, x, y):
    """Set y; return whether I has an inverse, and that."""
    first = 2 if edge_edge else 1  # how many nodes the first vertex or edge has
    I11, I22, I33, I12, I13, I23 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(3):
        one, other = 0.0, 0.0
        for a in range(4):
            if a < first:
                one += x[a, i]
            else:
                other += x[a, i]
        mean = 0.25 * (one + other)
        one, other = one / first, other / (4 - first)
        for a in range(4):
            middle = one if a < first else other
            y[a, i] = x[a, i] - middle + _BETA**0.5 * (middle - mean)
    for a in range(4):
        # In this sum the mixed products cancel.
        u0, u1, u2 = y[a, 0], y[a, 1], y[a, 2]
        I11 += u1 * u1 + u2 * u2
        I22 += u0 * u0 + u2 * u2
        I33 += u0 * u0 + u1 * u1
        I12 -= u0 * u1
        I13 -= u0 * u2
        I23 -= u1 * u2
    for i in range(3):
        one, other = 0.0, 0.0
        for a in range(4):
            if a < first:
                one += y[a, i]
            else:
                other += y[a, i]
        # These are √β (m − x̄); y has β (m − x̄).
        one, other = one / first, other / (4 - first)
        for a in range(4):
            y[a, i] -= (1.0 - _BETA**0.5) * (one if a < first else other)
    C11, C12, C13 = I22 * I33 - I23 * I23, I13 * I23 - I12 * I33, I12 * I23 - I13 * I22
    det = I11 * C11 + I12 * C12 + I13 * C13
    if not det > _SINGULAR * (I11 + I22 + I33) ** 3:
        return False, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    C22, C33, C23 = I11 * I33 - I13 * I13, I11 * I22 - I12 * I12, I12 * I13 - I11 * I23
    return True, (C11 / det, C22 / det, C33 / det, C12 / det, C13 / det, C23 / det)


@formula
def _slip_operator(edge_edge, w, threshold, law, work, space):
    """Set S_a of the pair from work.x0 to work.x1; return N, or zero where there is none.

    S [12, 3] has at 3 a + j the slip velocity of a unit velocity of the node a in the direction j.
    """
    s0, s1 = closest(edge_edge, work.x0, work.c0), closest(edge_edge, work.x1, work.c1)
    if s0 >= law.reach * law.reach and s1 >= law.reach * law.reach:
        return 0.0
    mean_coefficients(edge_edge, s0, s1, work)
    p = mean_distance(work)
    size = dot(p, p) ** 0.5
    (a0, b0), (a1, b1) = edges(work.x0), edges(work.x1)
    m = 0.5 * (
        mollifier.value(mollifier.ratio(threshold, a0, b0)) + mollifier.value(mollifier.ratio(threshold, a1, b1))
    )
    N = 2.0 * w * m * abs(laws.quotient(law.kind, law.stiffness, law.reach, s0, s1)) * size
    if not N > 0.0:
        return 0.0
    for a in range(4):
        for i in range(3):
            work.middle[a, i] = 0.5 * (work.x0[a, i] + work.x1[a, i])
    regular, J = _inverse_inertia(edge_edge, work.middle, space.y)
    if not regular:
        return 0.0
    n, cosine = _normal(edge_edge, work.middle, p)
    for a in range(4):
        y = row(space.y, a)
        for j in range(3):
            e = (1.0 * (j == 0), 1.0 * (j == 1), 1.0 * (j == 2))
            turn = cross(_applied(J, cross(y, e)), p)
            slip = _projected(along(times(work.c[a], e), -1.0, turn), n)
            for i in range(3):
                space.S[3 * a + j, i] = slip[i]
    return N * cosine


@inlined
def _slip(space):
    """Σ S_a v_a."""
    slip = (0.0, 0.0, 0.0)
    for r in range(12):
        slip = along(slip, space.v[r // 3, r % 3], row(space.S, r))
    return slip


@formula
def _set_force(edge_edge, w, threshold, law, friction, work, space, force):
    """Set the forces [4, 3] of the pair; return N."""
    N = _slip_operator(edge_edge, w, threshold, law, work, space)
    force[:] = 0.0
    if N > 0.0:
        slip = _slip(space)
        ratio, _ = pull(friction, dot(slip, slip) ** 0.5)
        t = times(N * ratio, slip)
        for r in range(12):
            force[r // 3, r % 3] = -dot(t, row(space.S, r))
    return N


@kernel
def add_friction(q0, q1, v, pairs, law, friction, work, space, out):
    """Add the forces to out [n, 3]; return a sum that is finite if all are."""
    check = 0.0
    for e in range(len(pairs.nodes)):
        gather(q0, pairs.nodes, e, work.x0)
        gather(q1, pairs.nodes, e, work.x1)
        gather(v, pairs.nodes, e, space.v)
        N = _set_force(pairs.edge_edge[e], pairs.weights[e], pairs.parallel[e], law, friction, work, space, work.force)
        if N != 0.0:
            check += add_force(work.force, pairs.nodes, e, out)
    return check


@kernel
def add_friction_derivatives(q0, q1, v, by_q, by_v, secant, pairs, law, friction, work, space, slots, out):
    """Add 2 by_q ∂f/∂q1 + by_v ∂f/∂v to the blocks [nnz, 3, 3].

    The derivative with v is −Sᵀ (∂t/∂σ) S, with t/σ for ∂t/∂σ if the secant is wanted; that with q1 is a difference.
    """
    check = 0.0
    for e in range(len(pairs.nodes)):
        edge_edge, w, threshold = pairs.edge_edge[e], pairs.weights[e], pairs.parallel[e]
        gather(q0, pairs.nodes, e, work.x0)
        gather(q1, pairs.nodes, e, work.x1)
        gather(v, pairs.nodes, e, space.v)
        N = _set_force(edge_edge, w, threshold, law, friction, work, space, space.base)
        if N == 0.0:
            continue
        slip = _slip(space)
        ratio, rate = pull(friction, dot(slip, slip) ** 0.5)
        for r in range(12):
            along_slip = 0.0 if secant else rate * dot(row(space.S, r), slip)
            change = along(times(ratio, row(space.S, r)), along_slip, slip)
            for s in range(12):
                work.matrix[s, r] = -by_v * N * dot(change, row(space.S, s))
        gap = dot(combined(work.c1, work.x1), combined(work.c1, work.x1)) ** 0.5
        step = _DIFFERENCE * max(gap, _NEAREST * law.reach)
        for r in range(3, 12):
            b, j = r // 3, r % 3
            before = work.x1[b, j]
            work.x1[b, j] = before + step
            taken = work.x1[b, j] - before
            _set_force(edge_edge, w, threshold, law, friction, work, space, work.force)
            work.x1[b, j] = before
            for s in range(12):
                # Positions are relative to the first node: with it all others move back.
                change = 2.0 * by_q * (work.force[s // 3, s % 3] - space.base[s // 3, s % 3]) / taken
                work.matrix[s, r] += change
                work.matrix[s, j] -= change
        check += add_matrix(work.matrix, slots, e, out)
    return check
