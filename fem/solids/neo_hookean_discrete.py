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
from symplex.fem.solids.chunks import edge_changes, edges_with_compensation, scatter_edges, set_vectors, vectors
from symplex.fem.solids.edge_algebra import (
    along,
    applied,
    average_cofactors,
    determinants,
    gram,
    gram_slopes,
    linear,
    products,
    scaled,
    times,
)
from symplex.fem.solids.neo_hookean import column
from symplex.fem.solids.tangent_blocks import (
    BLOCK,
    PART,
    plus,
    scatter_of_edges,
    set_block,
    slope_block,
    slope_of_mixed,
)

# -- one element ----------------------------------------------------------------------------------------------


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
    H = average_cofactors(gram(m), gram(i), gram_slopes(m, i))
    determinant, delta, s = determinants(m, c, i)
    p, r, ratio, _ = _pressure(delta, s, k, lmbda, mu)
    P = p * r * ratio
    p = P * determinant
    u = applied(linear(1.0, k, P, H), m)
    return abs(delta) < s, along(u[0], p, c[0]), along(u[1], p, c[1]), along(u[2], p, c[2])


@inlined
def _set_tangent(m, i, k, lmbda, mu, tangents, place):
    """Set the blocks ∂f_a/∂x1_b for a, b = 1, 2, 3; return whether det d0 and det d1 are positive.

    They are (½ k_ab + ½ P K_ab) 1 + ∂P/∂(det d1) Φ_a ⊗ c1_b + Z_ab, with Φ_a = K_ab m_b and the slope Z of {P T, G1}
    (see `symplex.fem.solids.tangent_blocks`).
    """
    c = products(m)
    A, E, X = gram(m), gram(i), gram_slopes(m, i)
    H = average_cofactors(A, E, X)
    determinant, delta, s = determinants(m, c, i)
    p, r, ratio, slope = _pressure(delta, s, k, lmbda, mu)
    P = p * r * ratio
    # z = δ/s: ∂z/∂(det d1) = 2 det d0/s², and ∂ ln J/∂(det d1) = 1/det d1
    z_slope = (s - delta) / (s * s)
    P_slope = r * (lmbda * ratio / (6.0 * k[6] * (s + delta)) + p * (slope * z_slope - 2.0 * ratio / s))
    v = applied(H, m)
    u1, u2, u3 = along(v[0], determinant, c[0]), along(v[1], determinant, c[1]), along(v[2], determinant, c[2])
    d = along(m[0], 0.5, i[0]), along(m[1], 0.5, i[1]), along(m[2], 0.5, i[2])
    T = linear(0.5, linear(1.0, A, 0.25, E), 1.0 / 12.0, X)
    Q, Y = slope_of_mixed(scaled(P, T), m, d)
    c1 = products(d)
    g1, g2, g3 = times(P_slope, c1[0]), times(P_slope, c1[1]), times(P_slope, c1[2])
    D = linear(0.5, k, 0.5 * P, linear(1.0, gram(c), 1.0, H))
    set_block(tangents, place, slope_block(Q[1][0], d[2], Q[2][0], d[1], u1, g1), D[0])
    B = slope_block(Q[1][1], d[2], Q[2][1], d[1], u1, g2)
    set_block(tangents, place + BLOCK, plus(B, -1.0, Y[2]), D[3])
    B = slope_block(Q[1][2], d[2], Q[2][2], d[1], u1, g3)
    set_block(tangents, place + 2 * BLOCK, plus(B, 1.0, Y[1]), D[4])
    B = slope_block(Q[2][0], d[0], Q[0][0], d[2], u2, g1)
    set_block(tangents, place + 3 * BLOCK, plus(B, 1.0, Y[2]), D[3])
    set_block(tangents, place + 4 * BLOCK, slope_block(Q[2][1], d[0], Q[0][1], d[2], u2, g2), D[1])
    B = slope_block(Q[2][2], d[0], Q[0][2], d[2], u2, g3)
    set_block(tangents, place + 5 * BLOCK, plus(B, -1.0, Y[0]), D[5])
    B = slope_block(Q[0][0], d[1], Q[1][0], d[0], u3, g1)
    set_block(tangents, place + 6 * BLOCK, plus(B, -1.0, Y[1]), D[4])
    B = slope_block(Q[0][1], d[1], Q[1][1], d[0], u3, g2)
    set_block(tangents, place + 7 * BLOCK, plus(B, 1.0, Y[0]), D[5])
    set_block(tangents, place + 8 * BLOCK, slope_block(Q[0][2], d[1], Q[1][2], d[0], u3, g3), D[2])
    return abs(delta) < s


# -- blocks of elements -------------------------------------------------------------------------------------------
# They return nan if an element is inverted, and what they set or add is then meaningless; else a finite number.


@inlined
def _turn_into_forces(means, increments, n, constants, lmbda, mu):
    """Replace the means by f_1, f_2, f_3 of n elements; return how many of these are not inverted."""
    valid = 0
    for e in range(n):
        good, f1, f2, f3 = _forces(vectors(means, e), vectors(increments, e), column(constants, e), lmbda, mu)
        set_vectors(means, e, (f1, f2, f3))
        valid += good
    return valid


@kernel
def add_gradient(q0, q1, nodes, counts, k, lmbda, mu, out, first, last):
    """Add the discrete gradient of the blocks first … last − 1 from q0 to q1 [n, 3] to out [n, 3]."""
    q0, q1, out = q0.ravel(), q1.ravel(), out.ravel()
    means, increments = np.empty(9 * SIZE), np.empty(9 * SIZE)
    for block in range(first, last):
        n = counts[block]
        edge_changes(q0, q1, nodes[block], n, means, increments)
        if _turn_into_forces(means, increments, n, k[block], lmbda, mu) < n:
            return np.nan
        scatter_edges(means, nodes[block], n, out)
    return 0.0


@kernel
def add_increment_gradient(q, compensation, dq, nodes, counts, k, lmbda, mu, out, first, last):
    """Add the discrete gradient of the blocks first … last − 1 from q + c to q + c + Δq, c the compensation, to out."""
    q, compensation, dq, out = q.ravel(), compensation.ravel(), dq.ravel(), out.ravel()
    means, increments = np.empty(9 * SIZE), np.empty(9 * SIZE)
    for block in range(first, last):
        n = counts[block]
        edges_with_compensation(q, compensation, dq, nodes[block], n, means, increments)
        if _turn_into_forces(means, increments, n, k[block], lmbda, mu) < n:
            return np.nan
        scatter_edges(means, nodes[block], n, out)
    return 0.0


@kernel
def add_hessian(q0, q1, nodes, counts, k, lmbda, mu, elements, slots, out, first, last):
    """Add the tangent of the blocks first … last − 1 from q0 to q1 [n, 3] to out [nnz, 3, 3].

    The block of the nodes a and b of element e goes to ``out[slots[e, a, b]]``; ``elements`` names the elements.
    """
    q0, q1, out = q0.ravel(), q1.ravel(), out.ravel()
    means, increments = np.empty(9 * SIZE), np.empty(9 * SIZE)
    tangents = np.empty(9 * BLOCK)
    for block in range(first, last):
        n = counts[block]
        constants, valid = k[block], 0
        edge_changes(q0, q1, nodes[block], n, means, increments)
        for start in range(0, n, PART):
            size = min(PART, n - start)
            for j in range(size):
                e = start + j
                m, i, k_e = vectors(means, e), vectors(increments, e), column(constants, e)
                valid += _set_tangent(m, i, k_e, lmbda, mu, tangents, j)
            scatter_of_edges(tangents, elements[block * SIZE + start :], size, slots, out)
        if valid < n:
            return np.nan
    return 0.0
