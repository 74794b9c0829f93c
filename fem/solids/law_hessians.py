"""The Hessian of elements with any law W(I1, I2, θ, I4, …), which is called by its address.

In the notation of `symplex.fem.solids.law_gradients`, with h_a = c_a/(d_1·c_1) and the derivatives of the invariants

    g1_a = 2 Σ_b M_ab d_b,    g2_a = 2 Σ_b {G, N}_ab d_b,    gθ_a = h_a,    g4_a = 2 (a0·∇ξ_a) v,

the forces t_a = V Σ_i W_i gi_a on the tangent vectors change with d_b by

    H_ab/V = Σ_ij W_ij gi_a ⊗ gj_b + (2 W_1 M + 2 W_2 {G, N} + 2 W_4 α ⊗ α)_ab 1 + 2 W_2 Z_ab − W_θ h_b ⊗ h_a,

α_a = a0·∇ξ_a and Z_ab the slope of {G, N} (see `symplex.fem.solids.tangent_blocks`).
"""

from __future__ import annotations

import numpy as np

from symplex.fem.compiled.kernels import inlined, kernel
from symplex.fem.compiled.lanes import aligned
from symplex.fem.compiled.vectors import (
    Sym3,
    add_at,
    cofactors,
    dot,
    expanded,
    full,
    gram,
    mat3_at,
    mixed,
    outer,
    set_at,
    shifted,
    stored,
    sym3_at,
    transposed,
)
from symplex.fem.solids.chunks import (
    AT,
    CHUNK,
    add_hourglasses,
    chunks,
    direction,
    elements_per_chunk,
    place,
    volume,
    work,
)
from symplex.fem.solids.increments import PLACES, SlopeOfMixed
from symplex.fem.solids.law_gradients import gather_law
from symplex.fem.solids.tangent_blocks import (
    BLOCK,
    PART,
    accumulate,
    add_fibre_blocks,
    room_of_sums,
    scatter_tangents,
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


@expanded
def invariant_slopes(d, M):
    """Return N, {G, N}, g1, g2 and gθ = h of a point."""
    c, N = cofactors(d), cofactors(M)
    GN = mixed(gram(d), N)
    return N, GN, 2.0 * M @ d, 2.0 * GN @ d, 1.0 / dot(d[0], c[0]) * c


@stored
def _set_blocks(d, M, W1, W2, W3, second):
    """Set H of a point, given the derivatives of V W, those of second order as a symmetric matrix."""
    N, GN, g1, g2, h = invariant_slopes(d, M)
    S = full(2.0 * W1 * M + 2.0 * W2 * GN)
    y1, y2, y3 = (row[0] * g1 + row[1] * g2 + row[2] * h for row in full(second))
    Z, n = SlopeOfMixed(2.0 * W2 * N, d, d), -W3 * h
    upper = {}
    for a, b in PLACES:
        if a <= b:
            B = Z.added(Z.products(a, b) + outer(h[b], n[a]), a, b)
            B = B + (outer(g1[a], y1[b]) + outer(g2[a], y2[b]) + outer(h[a], y3[b]))
            upper[a, b] = shifted(B, S[a][b])
        yield upper[a, b] if a <= b else transposed(upper[b, a])


@inlined
def isotropic_derivatives(W, fibres, p, V):
    """Return V ∂W/∂I_i and V ∂²W/∂I_i∂I_j of I1, I2 and θ at a point."""
    m = 3 + fibres
    r11, r12, r13 = second_row(m, 0, 0), second_row(m, 0, 1), second_row(m, 0, 2)
    r22, r23, r33 = second_row(m, 1, 1), second_row(m, 1, 2), second_row(m, 2, 2)
    W11, W22, W33 = V * W[place(r11, p)], V * W[place(r22, p)], V * W[place(r33, p)]
    second = Sym3(W11, W22, W33, V * W[place(r12, p)], V * W[place(r13, p)], V * W[place(r23, p)])
    return V * W[place(0, p)], V * W[place(1, p)], V * W[place(2, p)], second


@inlined
def set_tangents(our, chunk, d, W, first, H):
    """Set H of the points first … first + PART − 1, given the first and second derivatives of W of the chunk."""
    geometry, weights = our.geometry[chunk], our.weights
    for j in range(PART):
        p = first + j
        W1, W2, W3, second = isotropic_derivatives(W, our.fibres, p, volume(weights, geometry, p))
        _set_blocks(H, j, PART, mat3_at(d, p, CHUNK), sym3_at(geometry, p, CHUNK), W1, W2, W3, second)


@kernel
def add_hessian(q, our, slots, out, first, last):
    """Add the Hessian of the chunks first … last − 1 at q [n, 3] to out [nnz, 3, 3], by all second derivatives of W.

    The block of the nodes a and b of element e goes to ``out[slots[e, a, b]]``.
    """
    q, out, fibres = q.ravel(), out.ravel(), our.fibres
    m, k, points = 3 + fibres, our.slopes.shape[1], len(our.slopes)
    rows, size = m + m * (m + 1) // 2, elements_per_chunk(points)
    x, d = work(our), aligned(9 * CHUNK)
    invariants, W = aligned(m * CHUNK), aligned(rows * CHUNK)
    H, half, K = aligned(9 * BLOCK), room_of_sums(our), aligned(k * k * BLOCK)
    for chunk in chunks(first, last):
        if not gather_law(q, our, chunk, x, d, invariants, W) or not all_finite(W, rows):
            return np.nan
        for start in range(0, our.counts[chunk], PART):
            for g in range(points):
                set_tangents(our, chunk, d, W, g * size + start, H)
                for f in range(fibres):
                    add_fibre(our, chunk, d, W, f, g * size + start, half, H)
                accumulate(H, our, chunk, g, start, True, half, K)
            add_hourglasses(our, chunk, AT, 0, start, 1.0, x, d, x, d, K)
            scatter_tangents(H, K, True, our, chunk, start, slots, out)
    return 0.0


@inlined
def add_fibre(our, chunk, d, W, f, first, room, H):
    """Add to H what concerns I4 of family f: its force, and its products with all invariants before it.

    There are loops of their own over points for each step of it, as no vector instructions would be made of one loop
    around another.
    """
    m, geometry, weights = 3 + our.fibres, our.geometry[chunk], our.weights
    for j in range(PART):
        p = first + j
        e, M = mat3_at(d, p, CHUNK), sym3_at(geometry, p, CHUNK)
        V = volume(weights, geometry, p)
        _, _, g1, g2, h = invariant_slopes(e, M)
        A1, A2 = V * W[place(second_row(m, 0, 3 + f), p)], V * W[place(second_row(m, 1, 3 + f), p)]
        set_at(room, j, PART, A1 * g1 + A2 * g2 + V * W[place(second_row(m, 2, 3 + f), p)] * h)
    for other in range(f):
        for j in range(PART):
            p = first + j
            beta = direction(geometry, other, p)
            r = 2.0 * volume(weights, geometry, p) * W[place(second_row(m, 3 + other, 3 + f), p)]
            add_at(room, j, PART, outer(r * beta, beta @ mat3_at(d, p, CHUNK)))
    for j in range(PART):
        p = first + j
        V, alpha, y = volume(weights, geometry, p), direction(geometry, f, p), mat3_at(room, j, PART)
        v = alpha @ mat3_at(d, p, CHUNK)
        W4, W44 = 2.0 * V * W[place(3 + f, p)], 4.0 * V * W[place(second_row(m, 3 + f, 3 + f), p)]
        add_fibre_blocks(H, j, PART, alpha, v, v, y, y, W4, W44)
