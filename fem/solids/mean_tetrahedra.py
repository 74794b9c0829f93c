"""Compiled kernels of the gradient of linear neo-Hookean tetrahedra at mean strains, and of its tangent.

Between two positions the forces are f_a = V F_m S(C_m) ∇N_a with F_m = (F0 + F1)/2 and the stress of the mean strain,
C_m = (C0 + C1)/2. In the notation of `symplex.fem.solids.neo_hookean_discrete`, with the Gram matrix G_m = A + B/4 of
C_m, its determinant g and K = cof G_m,

    f_a = k_ab m_b + P K_ab m_b,    P = V p/g,    p = λ/2 ln(g/D²) − μ,
    K_ab m_b = det m · c_a + H_ab m_b,    H = ¼ {A + B/8, B},
    g = (det m)² + ¼ |Σ_a i_a ⊗ c_a|² + 1/16 |Σ_a m_a ⊗ e_a|² + 1/64 (det i)²,

and with l_a = K_ab m_b, n_a = K_ab d1_b and Q = Σ_c m_c ⊗ n_c the tangent is

    ∂f_a/∂x1_b = ½ (k_ab + P K_ab) 1 + V/(2g²) (λ l_a ⊗ n_b − p (l_b ⊗ n_a + K_ab Q)).

It follows from ∂g = n_b·∂d1_b and ∂(K/g) = −K ∂G_m K/g², ∂G_m = sym(d1ᵀ ∂d1). It is not symmetric.
"""

from __future__ import annotations

import numpy as np

from symplex.fem.blocks import SIZE
from symplex.fem.kernels import inlined, kernel
from symplex.fem.logarithm import log
from symplex.fem.solids.neo_hookean import column, dot, row, scatter, set_vectors, vectors
from symplex.fem.solids.neo_hookean_discrete import (
    PART,
    along,
    combined,
    determinants,
    gather_increments,
    gram,
    linear,
    means_and_increments,
    mixed,
    of_nodes,
    outer,
    products,
    scatter_tangents,
    set_block,
    times,
)

# -- one element ----------------------------------------------------------------------------------------------


@inlined
def _square(N):
    """Return the sum of the squares of nine numbers."""
    first = N[0] * N[0] + N[1] * N[1] + N[2] * N[2]
    second = N[3] * N[3] + N[4] * N[4] + N[5] * N[5]
    return first + second + (N[6] * N[6] + N[7] * N[7] + N[8] * N[8])


@inlined
def _strained(m, i, k, lmbda, mu):
    """Return whether det d0 and det d1 are positive, g, V p, K, and l_1, l_2, l_3."""
    c, e = products(m), products(i)
    determinant, delta, s = determinants(m, c, i)
    # A sum of squares, so that flat elements do not lose digits.
    squares = _square(outer(i[0], c[0], i[1], c[1], i[2], c[2])), _square(outer(m[0], e[0], m[1], e[1], m[2], e[2]))
    g = determinant * determinant + 0.25 * squares[0] + 0.0625 * squares[1] + 0.015625 * dot(i[0], e[0]) ** 2
    Vp = (0.5 * lmbda * log(g * k[6] * k[6]) - mu) / (6.0 * k[6])
    A, B = gram(m[0], m[1], m[2]), gram(i[0], i[1], i[2])
    H = mixed(linear(0.25, A, 0.03125, B), B)
    l1 = along(combined(H[0], m[0], H[3], m[1], H[4], m[2]), determinant, c[0])
    l2 = along(combined(H[3], m[0], H[1], m[1], H[5], m[2]), determinant, c[1])
    l3 = along(combined(H[4], m[0], H[5], m[1], H[2], m[2]), determinant, c[2])
    return abs(delta) < s, g, Vp, linear(1.0, gram(c[0], c[1], c[2]), 1.0, H), l1, l2, l3


@inlined
def _forces(m, i, k, lmbda, mu):
    """Return whether det d0 and det d1 are positive, and f_1, f_2, f_3."""
    upright, g, Vp, _, l1, l2, l3 = _strained(m, i, k, lmbda, mu)
    P = Vp / g
    f1 = along(combined(k[0], m[0], k[3], m[1], k[4], m[2]), P, l1)
    f2 = along(combined(k[3], m[0], k[1], m[1], k[5], m[2]), P, l2)
    f3 = along(combined(k[4], m[0], k[5], m[1], k[2], m[2]), P, l3)
    return upright, f1, f2, f3


@inlined
def _set_tangent(m, i, k, lmbda, mu, tangents, place):
    """Set the blocks ∂f_a/∂x1_b for a, b = 1, 2, 3 (see `set_block`); return whether det d0 and det d1 are positive."""
    upright, g, Vp, K, l1, l2, l3 = _strained(m, i, k, lmbda, mu)
    d1, d2, d3 = along(m[0], 0.5, i[0]), along(m[1], 0.5, i[1]), along(m[2], 0.5, i[2])
    n1 = combined(K[0], d1, K[3], d2, K[4], d3)
    n2 = combined(K[3], d1, K[1], d2, K[5], d3)
    n3 = combined(K[4], d1, K[5], d2, K[2], d3)
    D = linear(0.5, k, 0.5 * Vp / g, K)
    factor = 0.5 / (g * g)
    alpha, beta = factor * lmbda / (6.0 * k[6]), -factor * Vp
    Q = outer(m[0], n1, m[1], n2, m[2], n3)
    a1, a2, a3 = times(alpha, n1), times(alpha, n2), times(alpha, n3)
    b1, b2, b3 = times(beta, n1), times(beta, n2), times(beta, n3)
    set_block(tangents, place, 0, 0, _pair(l1, a1, l1, b1), D[0], beta * K[0], Q)
    set_block(tangents, place, 0, 1, _pair(l1, a2, l2, b1), D[3], beta * K[3], Q)
    set_block(tangents, place, 0, 2, _pair(l1, a3, l3, b1), D[4], beta * K[4], Q)
    set_block(tangents, place, 1, 0, _pair(l2, a1, l1, b2), D[3], beta * K[3], Q)
    set_block(tangents, place, 1, 1, _pair(l2, a2, l2, b2), D[1], beta * K[1], Q)
    set_block(tangents, place, 1, 2, _pair(l2, a3, l3, b2), D[5], beta * K[5], Q)
    set_block(tangents, place, 2, 0, _pair(l3, a1, l1, b3), D[4], beta * K[4], Q)
    set_block(tangents, place, 2, 1, _pair(l3, a2, l2, b3), D[5], beta * K[5], Q)
    set_block(tangents, place, 2, 2, _pair(l3, a3, l3, b3), D[2], beta * K[2], Q)
    return upright


@inlined
def _pair(u, d, v, e):
    """Return u ⊗ d + v ⊗ e by rows, one after the other."""
    return (
        *(u[0] * d[0] + v[0] * e[0], u[0] * d[1] + v[0] * e[1], u[0] * d[2] + v[0] * e[2]),
        *(u[1] * d[0] + v[1] * e[0], u[1] * d[1] + v[1] * e[1], u[1] * d[2] + v[1] * e[2]),
        *(u[2] * d[0] + v[2] * e[0], u[2] * d[1] + v[2] * e[1], u[2] * d[2] + v[2] * e[2]),
    )


# -- all elements, at gathered positions ------------------------------------------------------------------------


@kernel
def gradient(x0, x1, k, lmbda, mu, out):
    """Set the forces out [m, 4, 3] from x0 to x1 [m, 4, 3]; return the first inverted element or −1."""
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
    """Set the tangents out [m, 12, 12] of the forces by x1, as `gradient`."""
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


@kernel
def add_gradient(q0, q1, nodes, counts, k, lmbda, mu, out, first, last):
    """Add the forces of the blocks first … last − 1 from q0 to q1 [n, 3] to out [n, 3]."""
    q0, q1, out = q0.ravel(), q1.ravel(), out.ravel()
    means, increments = np.empty(9 * SIZE), np.empty(9 * SIZE)
    for block in range(first, last):
        n = counts[block]
        constants, upright = k[block], 0
        gather_increments(q0, q1, nodes[block], n, means, increments)
        for e in range(n):
            good, f1, f2, f3 = _forces(vectors(means, e), vectors(increments, e), column(constants, e), lmbda, mu)
            set_vectors(means, e, f1, f2, f3)
            upright += good
        if upright < n:
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
