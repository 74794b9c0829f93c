"""Compiled kernels of the discrete gradient of the neo-Hookean law on linear tetrahedra, and of its tangent.

Between two positions the forces f_a = V F_m S* ∇N_a, F_m = (F0 + F1)/2, with the discrete stress (in closed form)

    S* = μ 1 + 2 w[c0, c1] K,   K = (cof C0 + 4 cof C_m + cof C1)/6,   w[c0, c1] = (w(c1) − w(c0))/(c1 − c0),

c = det C, w(c) = λ/8 ln²c − μ/2 ln c, C_m = (C0 + C1)/2, do exactly the work of the energy: c1 − c0 = K : (C1 − C0)
and C1 − C0 = 2 sym F_mᵀ(F1 − F0). As S* is symmetric, the forces keep both momenta.

As in `neo_hookean` everything is written with edges: m_a those of the mean (x0 + x1)/2, i_a their increments, which
are differences of positions of one node, so that they keep their digits when they are tiny. With Gram matrices
G = dᵀd of the edges d instead of C (cof C = E cof G Eᵀ/D², E the undeformed edges, D = det E)

    f_a = k_ab m_b + P K_ab m_b,    P = V (λ (ln J0 + ln J1)/2 − μ) · 4 A(z)/s²,    z = δ/s,  A(z) = artanh(z)/z,
    δ = det d1 − det d0 = Σ_a c_a·i_a + ¼ det i,    s = det d0 + det d1 = 2 det m + ½ Σ_a m_a·e_a,

c_a = m_(a+1) × m_(a+2), e_a = i_(a+1) × i_(a+2). Nothing is divided by an increment, and nothing changes when 0 and 1
are exchanged. K = cof G_m + cof(G1 − G0)/12, and of this the large part, cof(mᵀm), acts on m_b as det m · c_a:

    K_ab m_b = det m · c_a + H_ab m_b,    H = ¼ {A + B/8, B} + cof(X)/12,   A = mᵀm, B = iᵀi, X = G1 − G0 = mᵀi + iᵀm,

with {A, B} the bilinear form of the cofactors, cof(A + B) = cof A + {A, B} + cof B. H is of second order in i.

The tangent ∂f/∂x1 follows with T = ½ A + ⅛ B + X/12, since the derivative of K is {T, ∂G1}; it is not symmetric.
"""

from __future__ import annotations

import numpy as np

from symplex.fem.blocks import SIZE
from symplex.fem.kernels import inlined, kernel
from symplex.fem.logarithm import artanh_ratio, log
from symplex.fem.solids.neo_hookean import (
    NINE,
    column,
    cross,
    dot,
    places,
    row,
    scatter,
    set_vectors,
    vectors,
)

PART = 16  # elements whose tangents are found at once: their 81 numbers each fit the first-level cache

# -- one element ----------------------------------------------------------------------------------------------


@inlined
def along(u, r, v):
    """Return u + r v."""
    return u[0] + r * v[0], u[1] + r * v[1], u[2] + r * v[2]


@inlined
def combined(a, u, b, v, c, w):
    """Return a u + b v + c w."""
    return (
        a * u[0] + b * v[0] + c * w[0],
        a * u[1] + b * v[1] + c * w[1],
        a * u[2] + b * v[2] + c * w[2],
    )


# Symmetric matrices are tuples (11, 22, 33, 12, 13, 23).


@inlined
def gram(d1, d2, d3):
    return dot(d1, d1), dot(d2, d2), dot(d3, d3), dot(d1, d2), dot(d1, d3), dot(d2, d3)


@inlined
def _cofactors(A):
    return (
        *(A[1] * A[2] - A[5] * A[5], A[0] * A[2] - A[4] * A[4], A[0] * A[1] - A[3] * A[3]),
        *(A[4] * A[5] - A[3] * A[2], A[3] * A[5] - A[4] * A[1], A[3] * A[4] - A[5] * A[0]),
    )


@inlined
def mixed(A, B):
    """Return {A, B} = cof(A + B) − cof A − cof B."""
    return (
        A[1] * B[2] + A[2] * B[1] - 2.0 * A[5] * B[5],
        A[0] * B[2] + A[2] * B[0] - 2.0 * A[4] * B[4],
        A[0] * B[1] + A[1] * B[0] - 2.0 * A[3] * B[3],
        A[4] * B[5] + A[5] * B[4] - A[3] * B[2] - A[2] * B[3],
        A[3] * B[5] + A[5] * B[3] - A[4] * B[1] - A[1] * B[4],
        A[3] * B[4] + A[4] * B[3] - A[5] * B[0] - A[0] * B[5],
    )


@inlined
def linear(a, A, b, B):
    """Return a A + b B."""
    return (
        *(a * A[0] + b * B[0], a * A[1] + b * B[1], a * A[2] + b * B[2]),
        *(a * A[3] + b * B[3], a * A[4] + b * B[4], a * A[5] + b * B[5]),
    )


@inlined
def _strains(m, i):
    """Return A, B, X and H of the mean edges m and their increments i."""
    m1, m2, m3 = m
    i1, i2, i3 = i
    A, B = gram(m1, m2, m3), gram(i1, i2, i3)
    X = (
        *(2.0 * dot(m1, i1), 2.0 * dot(m2, i2), 2.0 * dot(m3, i3)),
        *(dot(m1, i2) + dot(m2, i1), dot(m1, i3) + dot(m3, i1), dot(m2, i3) + dot(m3, i2)),
    )
    H = linear(0.25, mixed(linear(1.0, A, 0.125, B), B), 1.0 / 12.0, _cofactors(X))
    return A, B, X, H


@inlined
def determinants(m, c, i):
    """Return det m, δ and s; c are the cross products of the mean edges m, and i the increments."""
    e1, e2, e3 = cross(i[1], i[2]), cross(i[2], i[0]), cross(i[0], i[1])
    determinant = dot(m[0], c[0])
    delta = dot(c[0], i[0]) + dot(c[1], i[1]) + dot(c[2], i[2]) + 0.25 * dot(i[0], e1)
    total = 2.0 * determinant + 0.5 * (dot(m[0], e1) + dot(m[1], e2) + dot(m[2], e3))
    return determinant, delta, total


@inlined
def products(d):
    """Return d_2 × d_3, d_3 × d_1 and d_1 × d_2."""
    return cross(d[1], d[2]), cross(d[2], d[0]), cross(d[0], d[1])


@inlined
def _pressure(delta, s, k, lmbda, mu):
    """Return V (λ (ln J0 + ln J1)/2 − μ), 4/s², A(z) and A'(z)."""
    p = (lmbda * 0.5 * log(0.25 * (s - delta) * (s + delta) * k[6] * k[6]) - mu) / (6.0 * k[6])
    ratio, slope = artanh_ratio(delta / s)
    return p, 4.0 / (s * s), ratio, slope


@inlined
def _forces(m, i, k, lmbda, mu):
    """Return whether det d0 and det d1 are positive, and f_1, f_2, f_3."""
    c = products(m)
    _, _, _, H = _strains(m, i)
    determinant, delta, s = determinants(m, c, i)
    p, r, ratio, _ = _pressure(delta, s, k, lmbda, mu)
    P = p * r * ratio
    p = P * determinant
    f1 = along(combined(k[0] + P * H[0], m[0], k[3] + P * H[3], m[1], k[4] + P * H[4], m[2]), p, c[0])
    f2 = along(combined(k[3] + P * H[3], m[0], k[1] + P * H[1], m[1], k[5] + P * H[5], m[2]), p, c[1])
    f3 = along(combined(k[4] + P * H[4], m[0], k[5] + P * H[5], m[1], k[2] + P * H[2], m[2]), p, c[2])
    return abs(delta) < s, f1, f2, f3


@inlined
def _q(P, T, m):
    """Return P Q_1, P Q_2, P Q_3, where Q_f = T_(f+2) m_(f+1) − T_(f+1) m_(f+2) and T is one row of T."""
    T1, T2, T3 = P * T[0], P * T[1], P * T[2]
    return (
        (T3 * m[1][0] - T2 * m[2][0], T3 * m[1][1] - T2 * m[2][1], T3 * m[1][2] - T2 * m[2][2]),
        (T1 * m[2][0] - T3 * m[0][0], T1 * m[2][1] - T3 * m[0][1], T1 * m[2][2] - T3 * m[0][2]),
        (T2 * m[0][0] - T1 * m[1][0], T2 * m[0][1] - T1 * m[1][1], T2 * m[0][2] - T1 * m[1][2]),
    )


@inlined
def outer(u, d, v, e, w, f):
    """Return u ⊗ d + v ⊗ e + w ⊗ f by rows, one after the other."""
    return (
        u[0] * d[0] + v[0] * e[0] + w[0] * f[0],
        u[0] * d[1] + v[0] * e[1] + w[0] * f[1],
        u[0] * d[2] + v[0] * e[2] + w[0] * f[2],
        u[1] * d[0] + v[1] * e[0] + w[1] * f[0],
        u[1] * d[1] + v[1] * e[1] + w[1] * f[1],
        u[1] * d[2] + v[1] * e[2] + w[1] * f[2],
        u[2] * d[0] + v[2] * e[0] + w[2] * f[0],
        u[2] * d[1] + v[2] * e[1] + w[2] * f[1],
        u[2] * d[2] + v[2] * e[2] + w[2] * f[2],
    )


@inlined
def set_block(tangents, place, a, b, matrix, diagonal, sign, Y):
    """Set the block (a, b) to matrix + diagonal · 1 + sign Y, in tangents [3 (a), 3 (b), 9 (components), PART]."""
    first = 9 * (3 * a + b) * PART + place
    tangents[first] = matrix[0] + diagonal + sign * Y[0]
    tangents[first + PART] = matrix[1] + sign * Y[1]
    tangents[first + 2 * PART] = matrix[2] + sign * Y[2]
    tangents[first + 3 * PART] = matrix[3] + sign * Y[3]
    tangents[first + 4 * PART] = matrix[4] + diagonal + sign * Y[4]
    tangents[first + 5 * PART] = matrix[5] + sign * Y[5]
    tangents[first + 6 * PART] = matrix[6] + sign * Y[6]
    tangents[first + 7 * PART] = matrix[7] + sign * Y[7]
    tangents[first + 8 * PART] = matrix[8] + diagonal + sign * Y[8]


@inlined
def _set_tangent(m, i, k, lmbda, mu, tangents, place):
    """Set the blocks ∂f_a/∂x1_b for a, b = 1, 2, 3 (see `set_block`); return whether det d0 and det d1 are positive.

    They are (½ k_ab + ½ P K_ab) 1 + ∂P/∂(det d1) Φ_a ⊗ c1_b + P Z_ab, with Φ_a = K_ab m_b and, from ∂K = {T, ∂G1},

        Q_cf = T_(c,f+2) m_(f+1) − T_(c,f+1) m_(f+2),    Y_c = Σ_f Q_cf ⊗ d1_f,
        Z_ab = Q_(a+1,b) ⊗ d1_(a+2) − Q_(a+2,b) ⊗ d1_(a+1) + (0 if b = a, −Y_(a+2) if b = a + 1, Y_(a+1) if b = a + 2).
    """
    c = products(m)
    A, B, X, H = _strains(m, i)
    determinant, delta, s = determinants(m, c, i)
    p, r, ratio, slope = _pressure(delta, s, k, lmbda, mu)
    P = p * r * ratio
    # z = δ/s: ∂z/∂(det d1) = 2 det d0/s², and ∂ ln J/∂(det d1) = 1/det d1
    z_slope = (s - delta) / (s * s)
    P_slope = r * (lmbda * ratio / (6.0 * k[6] * (s + delta)) + p * (slope * z_slope - 2.0 * ratio / s))

    K = linear(1.0, gram(c[0], c[1], c[2]), 1.0, H)
    u1 = along(combined(H[0], m[0], H[3], m[1], H[4], m[2]), determinant, c[0])
    u2 = along(combined(H[3], m[0], H[1], m[1], H[5], m[2]), determinant, c[1])
    u3 = along(combined(H[4], m[0], H[5], m[1], H[2], m[2]), determinant, c[2])
    T = linear(0.5, linear(1.0, A, 0.25, B), 1.0 / 12.0, X)
    q1, q2, q3 = _q(P, (T[0], T[3], T[4]), m), _q(P, (T[3], T[1], T[5]), m), _q(P, (T[4], T[5], T[2]), m)

    d1, d2, d3 = along(m[0], 0.5, i[0]), along(m[1], 0.5, i[1]), along(m[2], 0.5, i[2])
    c1, c2, c3 = cross(d2, d3), cross(d3, d1), cross(d1, d2)
    n1, n2, n3 = times(-1.0, d1), times(-1.0, d2), times(-1.0, d3)
    g1, g2, g3 = times(P_slope, c1), times(P_slope, c2), times(P_slope, c3)
    Y1 = outer(q1[0], d1, q1[1], d2, q1[2], d3)
    Y2 = outer(q2[0], d1, q2[1], d2, q2[2], d3)
    Y3 = outer(q3[0], d1, q3[1], d2, q3[2], d3)
    D = linear(0.5, k, 0.5 * P, K)
    set_block(tangents, place, 0, 0, outer(q2[0], d3, q3[0], n2, u1, g1), D[0], 0.0, Y1)
    set_block(tangents, place, 0, 1, outer(q2[1], d3, q3[1], n2, u1, g2), D[3], -1.0, Y3)
    set_block(tangents, place, 0, 2, outer(q2[2], d3, q3[2], n2, u1, g3), D[4], 1.0, Y2)
    set_block(tangents, place, 1, 0, outer(q3[0], d1, q1[0], n3, u2, g1), D[3], 1.0, Y3)
    set_block(tangents, place, 1, 1, outer(q3[1], d1, q1[1], n3, u2, g2), D[1], 0.0, Y2)
    set_block(tangents, place, 1, 2, outer(q3[2], d1, q1[2], n3, u2, g3), D[5], -1.0, Y1)
    set_block(tangents, place, 2, 0, outer(q1[0], d2, q2[0], n1, u3, g1), D[4], -1.0, Y2)
    set_block(tangents, place, 2, 1, outer(q1[1], d2, q2[1], n1, u3, g2), D[5], 1.0, Y1)
    set_block(tangents, place, 2, 2, outer(q1[2], d2, q2[2], n1, u3, g3), D[2], 0.0, Y3)
    return abs(delta) < s


@inlined
def times(r, v):
    return r * v[0], r * v[1], r * v[2]


@inlined
def of_nodes(tangents, place, component):
    """Return a component of the blocks of all four nodes: whatever concerns node 0 is minus the sum."""
    t, row = component * PART + place, 9 * PART
    r1 = tangents[t], tangents[t + row], tangents[t + 2 * row]
    r2 = tangents[t + 3 * row], tangents[t + 4 * row], tangents[t + 5 * row]
    r3 = tangents[t + 6 * row], tangents[t + 7 * row], tangents[t + 8 * row]
    s1, s2, s3 = -(r1[0] + r1[1] + r1[2]), -(r2[0] + r2[1] + r2[2]), -(r3[0] + r3[1] + r3[2])
    t1, t2, t3 = -(r1[0] + r2[0] + r3[0]), -(r1[1] + r2[1] + r3[1]), -(r1[2] + r2[2] + r3[2])
    return (
        (-(s1 + s2 + s3), t1, t2, t3),
        (s1, r1[0], r1[1], r1[2]),
        (s2, r2[0], r2[1], r2[2]),
        (s3, r3[0], r3[1], r3[2]),
    )


@inlined
def means_and_increments(x0, x1, e):
    """Return the edges of the mean of x0 and x1 [m, 4, 3] of element e, and their increments."""
    o = x0[e, 0, 0] + x1[e, 0, 0], x0[e, 0, 1] + x1[e, 0, 1], x0[e, 0, 2] + x1[e, 0, 2]
    p = x1[e, 0, 0] - x0[e, 0, 0], x1[e, 0, 1] - x0[e, 0, 1], x1[e, 0, 2] - x0[e, 0, 2]
    return (
        (_mean(x0[e, 1], x1[e, 1], o), _mean(x0[e, 2], x1[e, 2], o), _mean(x0[e, 3], x1[e, 3], o)),
        (_increment(x0[e, 1], x1[e, 1], p), _increment(x0[e, 2], x1[e, 2], p), _increment(x0[e, 3], x1[e, 3], p)),
    )


@inlined
def _mean(y0, y1, o):
    return 0.5 * (y0[0] + y1[0] - o[0]), 0.5 * (y0[1] + y1[1] - o[1]), 0.5 * (y0[2] + y1[2] - o[2])


@inlined
def _increment(y0, y1, p):
    return y1[0] - y0[0] - p[0], y1[1] - y0[1] - p[1], y1[2] - y0[2] - p[2]


# -- all elements, at gathered positions ------------------------------------------------------------------------


@kernel
def gradient(x0, x1, k, lmbda, mu, out):
    """Set the discrete gradients out [m, 4, 3] from x0 to x1 [m, 4, 3]; return the first inverted element or −1."""
    inverted = -1
    for e in range(len(x0)):
        m, i = means_and_increments(x0, x1, e)
        upright, f1, f2, f3 = _forces(m, i, row(k, e), lmbda, mu)
        for j in range(3):
            out[e, 0, j] = -(f1[j] + f2[j] + f3[j])
            out[e, 1, j], out[e, 2, j], out[e, 3, j] = f1[j], f2[j], f3[j]
        if not upright and inverted < 0:
            inverted = e
    return inverted


@kernel
def hessian(x0, x1, k, lmbda, mu, out):
    """Set the tangents out [m, 12, 12] of the discrete gradient by x1, as `gradient`."""
    inverted = -1
    tangents = np.empty(81 * PART)
    for e in range(len(x0)):
        m, i = means_and_increments(x0, x1, e)
        upright = _set_tangent(m, i, row(k, e), lmbda, mu, tangents, 0)
        for r in range(3):
            for c in range(3):
                h = of_nodes(tangents, 0, 3 * r + c)
                for a in range(4):
                    for b in range(4):
                        out[e, 3 * a + r, 3 * b + c] = h[a][b]
        if not upright and inverted < 0:
            inverted = e
    return inverted


# -- blocks of elements -------------------------------------------------------------------------------------------
# They return nan if an element is inverted, and what they set or add is then meaningless; else a finite number.


@inlined
def gather_increments(q0, q1, nodes, n, means, increments):
    """Set the rows of means and increments [9, SIZE] to the components of m_1, m_2, m_3 and i_1, i_2, i_3."""
    for e in range(n):
        n0, n1, n2, n3 = places(nodes, e)
        for j in range(3):
            u = np.uint64(j)
            o0, o1 = q0[n0 + u], q1[n0 + u]
            o, p = o0 + o1, o1 - o0
            u1, v1, w1 = q1[n1 + u], q1[n2 + u], q1[n3 + u]
            u0, v0, w0 = q0[n1 + u], q0[n2 + u], q0[n3 + u]
            means[j * SIZE + e] = 0.5 * (u0 + u1 - o)
            means[(3 + j) * SIZE + e] = 0.5 * (v0 + v1 - o)
            means[(6 + j) * SIZE + e] = 0.5 * (w0 + w1 - o)
            increments[j * SIZE + e] = u1 - u0 - p
            increments[(3 + j) * SIZE + e] = v1 - v0 - p
            increments[(6 + j) * SIZE + e] = w1 - w0 - p


@inlined
def scatter_tangents(tangents, elements, size, slots, out):
    """Add the blocks of the first elements in tangents to out [nnz · 9]."""
    for j in range(size):
        to = slots[elements[j]]
        for r in range(3):
            for c in range(3):
                h = of_nodes(tangents, j, 3 * r + c)
                for a in range(4):
                    for b in range(4):
                        out[NINE * np.uint64(to[a, b]) + np.uint64(3 * r + c)] += h[a][b]


@inlined
def _gather_precisely(q, low, dq, nodes, n, means, increments):
    """Do so for the increments Δq from q + low in differences, none larger than an edge however far the body is."""
    for e in range(n):
        n0, n1, n2, n3 = places(nodes, e)
        for j in range(3):
            u = np.uint64(j)
            o, r, p = q[n0 + u], low[n0 + u], dq[n0 + u]
            i1, i2, i3 = dq[n1 + u] - p, dq[n2 + u] - p, dq[n3 + u] - p
            means[j * SIZE + e] = (q[n1 + u] - o) + ((low[n1 + u] - r) + 0.5 * i1)
            means[(3 + j) * SIZE + e] = (q[n2 + u] - o) + ((low[n2 + u] - r) + 0.5 * i2)
            means[(6 + j) * SIZE + e] = (q[n3 + u] - o) + ((low[n3 + u] - r) + 0.5 * i3)
            increments[j * SIZE + e] = i1
            increments[(3 + j) * SIZE + e] = i2
            increments[(6 + j) * SIZE + e] = i3


@inlined
def _turn_into_forces(means, increments, n, constants, lmbda, mu):
    """Replace the means by f_1, f_2, f_3 of n elements; return how many of these are not inverted."""
    upright = 0
    for e in range(n):
        good, f1, f2, f3 = _forces(vectors(means, e), vectors(increments, e), column(constants, e), lmbda, mu)
        set_vectors(means, e, f1, f2, f3)
        upright += good
    return upright


@kernel
def add_gradient(q0, q1, nodes, counts, k, lmbda, mu, out, first, last):
    """Add the discrete gradient of the blocks first … last − 1 from q0 to q1 [n, 3] to out [n, 3]."""
    q0, q1, out = q0.ravel(), q1.ravel(), out.ravel()
    means, increments = np.empty(9 * SIZE), np.empty(9 * SIZE)
    for block in range(first, last):
        n = counts[block]
        gather_increments(q0, q1, nodes[block], n, means, increments)
        if _turn_into_forces(means, increments, n, k[block], lmbda, mu) < n:
            return np.nan
        scatter(means, nodes[block], n, out)
    return 0.0


@kernel
def add_increment_gradient(q, low, dq, nodes, counts, k, lmbda, mu, out, first, last):
    """Add the discrete gradient of the blocks first … last − 1 from q + low to q + low + Δq [n, 3] to out [n, 3]."""
    q, low, dq, out = q.ravel(), low.ravel(), dq.ravel(), out.ravel()
    means, increments = np.empty(9 * SIZE), np.empty(9 * SIZE)
    for block in range(first, last):
        n = counts[block]
        _gather_precisely(q, low, dq, nodes[block], n, means, increments)
        if _turn_into_forces(means, increments, n, k[block], lmbda, mu) < n:
            return np.nan
        scatter(means, nodes[block], n, out)
    return 0.0


@kernel
def add_hessian(q0, q1, nodes, counts, k, lmbda, mu, elements, slots, out, first, last):
    """Add the tangent of the blocks first … last − 1 from q0 to q1 [n, 3] to out [nnz, 3, 3].

    The block of the nodes a and b of element e goes to ``out[slots[e, a, b]]``; ``elements`` names the elements.
    """
    q0, q1, out = q0.ravel(), q1.ravel(), out.ravel()
    means, increments = np.empty(9 * SIZE), np.empty(9 * SIZE)
    tangents = np.empty(81 * PART)
    for block in range(first, last):
        n = counts[block]
        constants, upright = k[block], 0
        gather_increments(q0, q1, nodes[block], n, means, increments)
        for start in range(0, n, PART):
            size = min(PART, n - start)
            for j in range(size):
                e = start + j
                m, i, k_e = vectors(means, e), vectors(increments, e), column(constants, e)
                upright += _set_tangent(m, i, k_e, lmbda, mu, tangents, j)
            scatter_tangents(tangents, elements[block * SIZE + start :], size, slots, out)
        if upright < n:
            return np.nan
    return 0.0
