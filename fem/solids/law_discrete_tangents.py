"""The tangent of the discrete gradient of elements with any law: see `symplex.fem.solids.law_discrete`."""

from __future__ import annotations

import numpy as np

from symplex.fem.compiled.kernels import inlined, kernel
from symplex.fem.compiled.lanes import aligned
from symplex.fem.compiled.logarithm import artanh_ratio
from symplex.fem.compiled.vectors import (
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
)
from symplex.fem.solids.chunks import (
    BETWEEN,
    CHUNK,
    add_hourglasses,
    chunks,
    direction,
    elements_per_chunk,
    gather_changes,
    place,
    volume,
    work,
)
from symplex.fem.solids.increments import PLACES, SlopeOfMixed, determinants
from symplex.fem.solids.law_discrete import mean_matrices, set_segments
from symplex.fem.solids.law_hessians import all_finite, isotropic_derivatives, second_row
from symplex.fem.solids.law_segments import average, room_of_ends
from symplex.fem.solids.tangent_blocks import BLOCK, PART, accumulate, add_fibre_blocks, room_of_sums, scatter_tangents


@expanded
def _invariant_slopes(m, i, d, M):
    """Return G_m, X, H, N, {G_m, N}, and ∂t_a/∂W̄_i /V for i = 1, 2, and K m; and g1, g2, c1, det d1 at the end d."""
    N, c, c1 = cofactors(M), cofactors(m), cofactors(d)
    G, X, H = mean_matrices(m, i)
    GN = mixed(G, N)
    f = 2.0 * M @ m, 2.0 * GN @ m, H @ m + dot(m[0], c[0]) * c
    g = 2.0 * M @ d, 2.0 * mixed(G + 0.5 * X, N) @ d, c1
    return G, X, H, N, GN, f, g, dot(d[0], c1[0])


@inlined
def _quotient(m, c, i):
    """Return τ = 4 A(z)/s² and its derivative with det d1."""
    _, delta, s = determinants(m, c, i)
    ratio, slope = artanh_ratio(delta / s)
    r = 4.0 / (s * s)
    # z = δ/s: ∂z/∂(det d1) = 2 det d0/s²
    return r * ratio, r * (slope * (s - delta) / (s * s) - 2.0 * ratio / s)


@stored
def _set_blocks(m, i, d, M, W1, W2, W3, second, tau, slope):
    """Set H of a point, given the means of the derivatives of V W, τ and ∂τ/∂(det d1)."""
    G, X, small, N, GN, f, g, determinant = _invariant_slopes(m, i, d, M)
    S = full(W1 * M + W2 * GN + 0.5 * W3 * tau * (gram(cofactors(m)) + small))  # half of it
    W11, W22, W33, W12, W13, W23 = second
    h = 1.0 / determinant
    y1 = W11 * g[0] + W12 * g[1] + W13 * h * g[2]
    y2 = W12 * g[0] + W22 * g[1] + W23 * h * g[2]
    y3 = tau * W13 * g[0] + tau * W23 * g[1] + (tau * W33 * h + W3 * slope) * g[2]
    Z = SlopeOfMixed(W2 * N + 0.5 * W3 * tau * (G + 1.0 / 6.0 * X), m, d)
    for a, b in PLACES:
        B = Z.products(a, b) + outer(f[0][a], y1[b])
        yield shifted(Z.added(B + (outer(f[1][a], y2[b]) + outer(f[2][a], y3[b])), a, b), S[a][b])


@inlined
def _ends(means, increments, geometry, p):
    """Return m, i, the tangent vectors at the end, and M of a point."""
    m, i = mat3_at(means, p, CHUNK), mat3_at(increments, p, CHUNK)
    return m, i, m + 0.5 * i, sym3_at(geometry, p, CHUNK)


@inlined
def _set_tangents(our, chunk, means, increments, W, first, H):
    """Set H of the points first … first + PART − 1, given W̄_i and W̄'_ij of the chunk."""
    geometry, weights = our.geometry[chunk], our.weights
    for j in range(PART):
        p = first + j
        m, i, d, M = _ends(means, increments, geometry, p)
        tau, slope = _quotient(m, cofactors(m), i)
        W1, W2, W3, second = isotropic_derivatives(W, our.fibres, p, volume(weights, geometry, p))
        _set_blocks(H, j, PART, m, i, d, M, W1, W2, W3, second, tau, slope)


@inlined
def _add_fibre(our, chunk, means, increments, W, f, first, room, H):
    """Add to H what concerns I4 of family f: its force, and its products with all invariants before it.

    There are loops of their own over points as in `law_hessians`.
    """
    k, geometry, weights = 3 + our.fibres, our.geometry[chunk], our.weights
    for j in range(PART):
        p = first + j
        m, i, d, M = _ends(means, increments, geometry, p)
        V = volume(weights, geometry, p)
        _, _, _, _, _, forces, slopes, determinant = _invariant_slopes(m, i, d, M)
        tau, _ = _quotient(m, cofactors(m), i)
        A1, A2 = V * W[place(second_row(k, 0, 3 + f), p)], V * W[place(second_row(k, 1, 3 + f), p)]
        A3 = V * W[place(second_row(k, 2, 3 + f), p)]
        set_at(room, j, PART, A1 * slopes[0] + A2 * slopes[1] + A3 / determinant * slopes[2])
        set_at(room, j + BLOCK, PART, A1 * forces[0] + A2 * forces[1] + A3 * tau * forces[2])
    for other in range(f):
        for j in range(PART):
            p = first + j
            m, _, d, _ = _ends(means, increments, geometry, p)
            beta = direction(geometry, other, p)
            s = 2.0 * volume(weights, geometry, p) * W[place(second_row(k, 3 + other, 3 + f), p)] * beta
            add_at(room, j, PART, outer(s, beta @ d))
            add_at(room, j + BLOCK, PART, outer(s, beta @ m))
    for j in range(PART):
        p = first + j
        m, _, d, _ = _ends(means, increments, geometry, p)
        V, alpha = volume(weights, geometry, p), direction(geometry, f, p)
        y, z = mat3_at(room, j, PART), mat3_at(room, j + BLOCK, PART)
        W4, W44 = V * W[place(3 + f, p)], 4.0 * V * W[place(second_row(k, 3 + f, 3 + f), p)]
        add_fibre_blocks(H, j, PART, alpha, alpha @ m, alpha @ d, y, z, W4, W44)


@kernel
def add_discrete_hessian(q0, q1, our, slots, out, first, last):
    """Add the tangent of the discrete gradient of the chunks first … last − 1 from q0 to q1 [n, 3] to out [nnz, 3, 3].

    The law has the first and second derivatives of W.
    """
    q0, q1, out, fibres = q0.ravel(), q1.ravel(), out.ravel(), our.fibres
    m, k, points = 3 + fibres, our.slopes.shape[1], len(our.slopes)
    rows, size = m + m * (m + 1) // 2, elements_per_chunk(points)
    x, y, means, increments = work(our), work(our), aligned(9 * CHUNK), aligned(9 * CHUNK)
    segments, at, room = np.zeros(2 * m * CHUNK), aligned(m * CHUNK), room_of_ends(our.switches)
    W, averages, tau = aligned(rows * CHUNK), aligned(rows * CHUNK), aligned(CHUNK)
    H, half, K = aligned(9 * BLOCK), room_of_sums(our), aligned(k * k * BLOCK)
    for chunk in chunks(first, last):
        gather_changes(q0, q1, our, chunk, x, y, means, increments)
        if set_segments(our, chunk, means, increments, segments, tau) < CHUNK:
            return np.nan
        average(our.law, our.parameters.ctypes.data, our.rule, our.switches, m, rows, segments, room, at, W, averages)
        if not all_finite(averages, rows):
            return np.nan
        for start in range(0, our.counts[chunk], PART):
            for g in range(points):
                _set_tangents(our, chunk, means, increments, averages, g * size + start, H)
                for f in range(fibres):
                    _add_fibre(our, chunk, means, increments, averages, f, g * size + start, half, H)
                accumulate(H, our, chunk, g, start, False, half, K)
            add_hourglasses(our, chunk, BETWEEN, 0, start, 0.5, x, means, y, increments, K)
            scatter_tangents(H, K, False, our, chunk, start, slots, out)
    return 0.0
