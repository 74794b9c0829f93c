"""The Hessian of elements with any law W(I1, I2, θ, I4, …), which is called by its address.

In the notation of `symplex.fem.solids.law_gradients`, with h_a = c_a/(d_1·c_1) and the derivatives of the invariants

    g1_a = 2 Σ_b M_ab d_b,    g2_a = 2 Σ_b {G, N}_ab d_b,    gθ_a = h_a,    g4_a = 2 (a0·∇ξ_a) v,

the forces t_a = V Σ_i W_i gi_a on the tangent vectors change with d_b by

    H_ab/V = Σ_ij W_ij gi_a ⊗ gj_b + (2 W_1 M + 2 W_2 {G, N} + 2 W_4 α ⊗ α)_ab 1 + 2 W_2 Z_ab − W_θ h_b ⊗ h_a,

α_a = a0·∇ξ_a and Z_ab the slope of {G, N} (see `symplex.fem.solids.tangent_blocks`).
"""

from __future__ import annotations

import numpy as np

from symplex.fem.call import call_law
from symplex.fem.kernels import inlined, kernel
from symplex.fem.solids.chunks import (
    AT,
    CHUNK,
    add_hourglasses,
    along_fibre,
    are_edges,
    direction,
    elements_per_chunk,
    gather,
    matrix,
    place,
    vectors,
    volume,
    work,
)
from symplex.fem.solids.edge_algebra import (
    applied,
    cofactors,
    combined,
    dot,
    gram,
    linear,
    mixed,
    outer,
    products,
    scaled,
    times,
)
from symplex.fem.solids.law_gradients import set_invariants
from symplex.fem.solids.tangent_blocks import (
    BLOCK,
    PART,
    accumulate,
    add_fibre_blocks,
    add_nine,
    nine,
    plus,
    scatter_of_edges,
    scatter_of_nodes,
    set_block,
    set_nine,
    set_transposed_block,
    slope_block,
    slope_of_mixed,
)


@inlined
def second_row(m, i, j):
    """Return where ∂²W/∂I_i∂I_j, i ≤ j, stands after the m first derivatives."""
    return m + i * m - i * (i - 1) // 2 + j - i


@inlined
def all_finite(rows, count):
    """Return whether the first rows of CHUNK numbers each are finite."""
    finite = 0
    for t in range(count * CHUNK):
        finite += abs(rows[t]) < np.inf
    return finite == count * CHUNK


@inlined
def invariant_slopes(d, M):
    """Return N, {G, N}, g1, g2 and gθ = h of a point."""
    c = products(d)
    r = 1.0 / dot(d[0], c[0])
    N = cofactors(M)
    GN = mixed(gram(d), N)
    g1, g2 = applied(scaled(2.0, M), d), applied(scaled(2.0, GN), d)
    return N, GN, g1, g2, (times(r, c[0]), times(r, c[1]), times(r, c[2]))


@inlined
def of_each(A11, g1, A12, g2, A13, g3):
    """Return A11 g1_a + A12 g2_a + A13 g3_a for a = 1, 2, 3."""
    return (
        combined(A11, g1[0], A12, g2[0], A13, g3[0]),
        combined(A11, g1[1], A12, g2[1], A13, g3[1]),
        combined(A11, g1[2], A12, g2[2], A13, g3[2]),
    )


@inlined
def _set_tangents(d, geometry, weights, fibres, W, first, H):
    """Set H of the points first … first + PART − 1, given the first and second derivatives of W of the chunk."""
    m = 3 + fibres
    r11, r12, r13 = second_row(m, 0, 0), second_row(m, 0, 1), second_row(m, 0, 2)
    r22, r23, r33 = second_row(m, 1, 1), second_row(m, 1, 2), second_row(m, 2, 2)
    for j in range(PART):
        p = first + j
        e, M = vectors(d, p), matrix(geometry, p)
        V = volume(weights, geometry, p)
        N, GN, g1, g2, h = invariant_slopes(e, M)
        W2, W3 = V * W[place(1, p)], V * W[place(2, p)]
        S = linear(2.0 * V * W[place(0, p)], M, 2.0 * W2, GN)
        W11, W12, W13 = V * W[place(r11, p)], V * W[place(r12, p)], V * W[place(r13, p)]
        W22, W23, W33 = V * W[place(r22, p)], V * W[place(r23, p)], V * W[place(r33, p)]
        y1 = of_each(W11, g1, W12, g2, W13, h)
        y2 = of_each(W12, g1, W22, g2, W23, h)
        y3 = of_each(W13, g1, W23, g2, W33, h)
        Q, Y = slope_of_mixed(scaled(2.0 * W2, N), e, e)
        n1, n2, n3 = times(-W3, h[0]), times(-W3, h[1]), times(-W3, h[2])
        B = slope_block(Q[1][0], e[2], Q[2][0], e[1], h[0], n1)
        set_block(H, j, plus(B, 1.0, outer(g1[0], y1[0], g2[0], y2[0], h[0], y3[0])), S[0])
        B = slope_block(Q[2][1], e[0], Q[0][1], e[2], h[1], n2)
        set_block(H, j + 4 * BLOCK, plus(B, 1.0, outer(g1[1], y1[1], g2[1], y2[1], h[1], y3[1])), S[1])
        B = slope_block(Q[0][2], e[1], Q[1][2], e[0], h[2], n3)
        set_block(H, j + 8 * BLOCK, plus(B, 1.0, outer(g1[2], y1[2], g2[2], y2[2], h[2], y3[2])), S[2])
        B = plus(slope_block(Q[1][1], e[2], Q[2][1], e[1], h[1], n1), -1.0, Y[2])
        B = plus(B, 1.0, outer(g1[0], y1[1], g2[0], y2[1], h[0], y3[1]))
        set_block(H, j + BLOCK, B, S[3])
        set_transposed_block(H, j + 3 * BLOCK, B, S[3])
        B = plus(slope_block(Q[1][2], e[2], Q[2][2], e[1], h[2], n1), 1.0, Y[1])
        B = plus(B, 1.0, outer(g1[0], y1[2], g2[0], y2[2], h[0], y3[2]))
        set_block(H, j + 2 * BLOCK, B, S[4])
        set_transposed_block(H, j + 6 * BLOCK, B, S[4])
        B = plus(slope_block(Q[2][2], e[0], Q[0][2], e[2], h[2], n2), -1.0, Y[0])
        B = plus(B, 1.0, outer(g1[1], y1[2], g2[1], y2[2], h[1], y3[2]))
        set_block(H, j + 5 * BLOCK, B, S[5])
        set_transposed_block(H, j + 7 * BLOCK, B, S[5])


@kernel
def add_hessian(
    q,
    nodes,
    counts,
    geometry,
    weights,
    slopes,
    fibres,
    has_i2,
    law,
    parameters,
    hourglass,
    elements,
    slots,
    out,
    first,
    last,
):
    """Add the Hessian of the chunks first … last − 1 at q [n, 3] to out [nnz, 3, 3].

    The block of the nodes a and b of element e goes to ``out[slots[e, a, b]]``; ``elements`` names the elements.
    ``law`` is the address of the first and second derivatives of W, ``hourglass`` that of the tangents of the hourglass
    energy; for the others see `law_gradients.add_gradient`.
    """
    q, out = q.ravel(), out.ravel()
    m, k, points, edges = 3 + fibres, slopes.shape[1], len(slopes), are_edges(slopes)
    rows, size = m + m * (m + 1) // 2, elements_per_chunk(points)
    x, d = work(slopes), np.empty(9 * CHUNK)
    invariants, W = np.empty(m * CHUNK), np.empty(rows * CHUNK)
    H, half, K = np.empty(9 * BLOCK), np.empty(3 * BLOCK), np.empty(k * k * BLOCK)
    for chunk in range(first, last):
        n, constants = counts[chunk], geometry[chunk]
        gather(q, nodes[chunk], n, slopes, constants, x, d)
        if set_invariants(d, constants, fibres, has_i2, invariants) < CHUNK:
            return np.nan
        call_law(law, parameters.ctypes.data, invariants.ctypes.data, W.ctypes.data)
        if not all_finite(W, rows):
            return np.nan
        for start in range(0, n, PART):
            for g in range(points):
                _set_tangents(d, constants, weights, fibres, W, g * size + start, H)
                for f in range(fibres):
                    _add_fibre(d, constants, weights, fibres, W, f, g * size + start, half, H)
                if not edges:
                    if g == 0:
                        K[:] = 0.0
                    accumulate(H, slopes, g, constants, start, k, True, half, K)
            add_hourglasses(hourglass, AT, 0, start, 1.0, fibres, slopes, constants, x, d, x, d, K)
            named = elements[chunk * size + start :]
            if edges:
                scatter_of_edges(H, named, min(PART, n - start), slots, out)
            else:
                scatter_of_nodes(K, k, True, named, min(PART, n - start), slots, out)
    return 0.0


@inlined
def _add_fibre(d, geometry, weights, fibres, W, f, first, room, H):
    """Add to H what concerns I4 of family f: its force, and its products with all invariants before it.

    There are loops of their own over points for each step of it, as no vector instructions would be made of one loop
    around another.
    """
    m = 3 + fibres
    for j in range(PART):
        p = first + j
        e, M = vectors(d, p), matrix(geometry, p)
        V = volume(weights, geometry, p)
        _, _, g1, g2, h = invariant_slopes(e, M)
        A1, A2 = V * W[place(second_row(m, 0, 3 + f), p)], V * W[place(second_row(m, 1, 3 + f), p)]
        set_nine(room, j, of_each(A1, g1, A2, g2, V * W[place(second_row(m, 2, 3 + f), p)], h))
    for other in range(f):
        for j in range(PART):
            p = first + j
            beta = direction(geometry, other, p)
            w = along_fibre(vectors(d, p), beta)
            r = 2.0 * volume(weights, geometry, p) * W[place(second_row(m, 3 + other, 3 + f), p)]
            add_nine(room, j, (r * beta[0], r * beta[1], r * beta[2]), w)
    for j in range(PART):
        p = first + j
        V, alpha, y = volume(weights, geometry, p), direction(geometry, f, p), nine(room, j)
        v = along_fibre(vectors(d, p), alpha)
        W4, W44 = 2.0 * V * W[place(3 + f, p)], 4.0 * V * W[place(second_row(m, 3 + f, 3 + f), p)]
        add_fibre_blocks(H, j, alpha, v, v, y, y, W4, W44)
