"""The tangent of the discrete gradient of elements with any law: see `symplex.fem.solids.law_discrete`."""

from __future__ import annotations

import numpy as np

from symplex.fem.kernels import inlined, kernel
from symplex.fem.logarithm import artanh_ratio
from symplex.fem.solids.chunks import (
    BETWEEN,
    CHUNK,
    add_hourglasses,
    along_fibre,
    are_edges,
    direction,
    elements_per_chunk,
    gather_changes,
    matrix,
    place,
    vectors,
    volume,
    work,
)
from symplex.fem.solids.edge_algebra import (
    along,
    applied,
    cofactors,
    determinants,
    dot,
    gram,
    linear,
    mixed,
    pair,
    products,
    scaled,
)
from symplex.fem.solids.law_discrete import mean_matrices, set_segments
from symplex.fem.solids.law_hessians import all_finite, of_each, second_row
from symplex.fem.solids.law_segments import average, room_of_ends
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
    slope_block,
    slope_of_mixed,
)


@inlined
def _invariant_slopes(m, i, d, M):
    """Return G_m, X, H, N, and ∂t_a/∂W̄_i /V for i = 1, 2, and K m; and g1, g2, c1, det d1 at the end d."""
    N, c = cofactors(M), products(m)
    G, X, H = mean_matrices(m, i)
    GN = mixed(G, N)
    f1, f2 = applied(scaled(2.0, M), m), applied(scaled(2.0, GN), m)
    u, determinant = applied(H, m), dot(m[0], c[0])
    f3 = along(u[0], determinant, c[0]), along(u[1], determinant, c[1]), along(u[2], determinant, c[2])
    ends = mixed(linear(1.0, G, 0.5, X), N)
    g1, g2 = applied(scaled(2.0, M), d), applied(scaled(2.0, ends), d)
    c1 = products(d)
    return G, X, H, N, GN, (f1, f2, f3), (g1, g2, c1), dot(d[0], c1[0])


@inlined
def _quotient(m, c, i):
    """Return τ = 4 A(z)/s² and its derivative with det d1."""
    _, delta, s = determinants(m, c, i)
    ratio, slope = artanh_ratio(delta / s)
    r = 4.0 / (s * s)
    # z = δ/s: ∂z/∂(det d1) = 2 det d0/s²
    return r * ratio, r * (slope * (s - delta) / (s * s) - 2.0 * ratio / s)


@inlined
def _set_tangents(means, increments, geometry, weights, fibres, W, first, H):
    """Set H of the points first … first + PART − 1, given W̄_i and W̄'_ij of the chunk."""
    k = 3 + fibres
    r11, r12, r13 = second_row(k, 0, 0), second_row(k, 0, 1), second_row(k, 0, 2)
    r22, r23, r33 = second_row(k, 1, 1), second_row(k, 1, 2), second_row(k, 2, 2)
    for j in range(PART):
        p = first + j
        m, i, M = vectors(means, p), vectors(increments, p), matrix(geometry, p)
        d = along(m[0], 0.5, i[0]), along(m[1], 0.5, i[1]), along(m[2], 0.5, i[2])
        V = volume(weights, geometry, p)
        c = products(m)
        G, X, small, N, GN, f, g, determinant = _invariant_slopes(m, i, d, M)
        tau, slope = _quotient(m, c, i)
        W1, W2, W3 = V * W[place(0, p)], V * W[place(1, p)], V * W[place(2, p)]
        S = linear(W1, M, W2, GN)  # half of it
        S = linear(1.0, S, 0.5 * W3 * tau, linear(1.0, gram(c), 1.0, small))
        W11, W12, W13 = V * W[place(r11, p)], V * W[place(r12, p)], V * W[place(r13, p)]
        W22, W23, W33 = V * W[place(r22, p)], V * W[place(r23, p)], V * W[place(r33, p)]
        h = 1.0 / determinant
        y1 = of_each(W11, g[0], W12, g[1], W13 * h, g[2])
        y2 = of_each(W12, g[0], W22, g[1], W23 * h, g[2])
        y3 = of_each(tau * W13, g[0], tau * W23, g[1], tau * W33 * h + W3 * slope, g[2])
        T = linear(W2, N, 0.5 * W3 * tau, linear(1.0, G, 1.0 / 6.0, X))
        Q, Y = slope_of_mixed(T, m, d)
        B = slope_block(Q[1][0], d[2], Q[2][0], d[1], f[0][0], y1[0])
        B = plus(B, 1.0, pair(f[1][0], y2[0], f[2][0], y3[0]))
        set_block(H, j, B, S[0])
        B = slope_block(Q[1][1], d[2], Q[2][1], d[1], f[0][0], y1[1])
        B = plus(B, 1.0, pair(f[1][0], y2[1], f[2][0], y3[1]))
        set_block(H, j + BLOCK, plus(B, -1.0, Y[2]), S[3])
        B = slope_block(Q[1][2], d[2], Q[2][2], d[1], f[0][0], y1[2])
        B = plus(B, 1.0, pair(f[1][0], y2[2], f[2][0], y3[2]))
        set_block(H, j + 2 * BLOCK, plus(B, 1.0, Y[1]), S[4])
        B = slope_block(Q[2][0], d[0], Q[0][0], d[2], f[0][1], y1[0])
        B = plus(B, 1.0, pair(f[1][1], y2[0], f[2][1], y3[0]))
        set_block(H, j + 3 * BLOCK, plus(B, 1.0, Y[2]), S[3])
        B = slope_block(Q[2][1], d[0], Q[0][1], d[2], f[0][1], y1[1])
        B = plus(B, 1.0, pair(f[1][1], y2[1], f[2][1], y3[1]))
        set_block(H, j + 4 * BLOCK, B, S[1])
        B = slope_block(Q[2][2], d[0], Q[0][2], d[2], f[0][1], y1[2])
        B = plus(B, 1.0, pair(f[1][1], y2[2], f[2][1], y3[2]))
        set_block(H, j + 5 * BLOCK, plus(B, -1.0, Y[0]), S[5])
        B = slope_block(Q[0][0], d[1], Q[1][0], d[0], f[0][2], y1[0])
        B = plus(B, 1.0, pair(f[1][2], y2[0], f[2][2], y3[0]))
        set_block(H, j + 6 * BLOCK, plus(B, -1.0, Y[1]), S[4])
        B = slope_block(Q[0][1], d[1], Q[1][1], d[0], f[0][2], y1[1])
        B = plus(B, 1.0, pair(f[1][2], y2[1], f[2][2], y3[1]))
        set_block(H, j + 7 * BLOCK, plus(B, 1.0, Y[0]), S[5])
        B = slope_block(Q[0][2], d[1], Q[1][2], d[0], f[0][2], y1[2])
        B = plus(B, 1.0, pair(f[1][2], y2[2], f[2][2], y3[2]))
        set_block(H, j + 8 * BLOCK, B, S[2])


@inlined
def _add_fibre(means, increments, geometry, weights, fibres, W, f, first, room, H):
    """Add to H what concerns I4 of family f: its force, and its products with all invariants before it.

    There are loops of their own over points as in `law_hessians`.
    """
    k = 3 + fibres
    for j in range(PART):
        p = first + j
        m, i, M = vectors(means, p), vectors(increments, p), matrix(geometry, p)
        d = along(m[0], 0.5, i[0]), along(m[1], 0.5, i[1]), along(m[2], 0.5, i[2])
        V = volume(weights, geometry, p)
        _, _, _, _, _, forces, slopes, determinant = _invariant_slopes(m, i, d, M)
        tau, _ = _quotient(m, products(m), i)
        A1, A2 = V * W[place(second_row(k, 0, 3 + f), p)], V * W[place(second_row(k, 1, 3 + f), p)]
        A3 = V * W[place(second_row(k, 2, 3 + f), p)]
        set_nine(room, j, of_each(A1, slopes[0], A2, slopes[1], A3 / determinant, slopes[2]))
        set_nine(room, j + BLOCK, of_each(A1, forces[0], A2, forces[1], A3 * tau, forces[2]))
    for other in range(f):
        for j in range(PART):
            p = first + j
            beta = direction(geometry, other, p)
            w, half = along_fibre(vectors(means, p), beta), along_fibre(vectors(increments, p), beta)
            w1 = w[0] + 0.5 * half[0], w[1] + 0.5 * half[1], w[2] + 0.5 * half[2]
            r = 2.0 * volume(weights, geometry, p) * W[place(second_row(k, 3 + other, 3 + f), p)]
            s = r * beta[0], r * beta[1], r * beta[2]
            add_nine(room, j, s, w1)
            add_nine(room, j + BLOCK, s, w)
    for j in range(PART):
        p = first + j
        V, alpha, y, z = volume(weights, geometry, p), direction(geometry, f, p), nine(room, j), nine(room, j + BLOCK)
        v, half = along_fibre(vectors(means, p), alpha), along_fibre(vectors(increments, p), alpha)
        v1 = v[0] + 0.5 * half[0], v[1] + 0.5 * half[1], v[2] + 0.5 * half[2]
        W4, W44 = V * W[place(3 + f, p)], 4.0 * V * W[place(second_row(k, 3 + f, 3 + f), p)]
        add_fibre_blocks(H, j, alpha, v, v1, y, z, W4, W44)


@kernel
def add_discrete_hessian(
    q0,
    q1,
    nodes,
    counts,
    geometry,
    weights,
    slopes,
    fibres,
    law,
    parameters,
    rule,
    switches,
    hourglass,
    elements,
    slots,
    out,
    first,
    last,
):
    """Add the tangent of the discrete gradient of the chunks first … last − 1 from q0 to q1 [n, 3] to out [nnz, 3, 3].

    ``law`` is the address of the first and second derivatives of W; for the others see `law_hessians.add_hessian` and
    `law_discrete.add_increment_gradient`.
    """
    q0, q1, out = q0.ravel(), q1.ravel(), out.ravel()
    m, k, points, edges = 3 + fibres, slopes.shape[1], len(slopes), are_edges(slopes)
    rows, size = m + m * (m + 1) // 2, elements_per_chunk(points)
    x, y, means, increments = work(slopes), work(slopes), np.empty(9 * CHUNK), np.empty(9 * CHUNK)
    segments, at, room = np.empty(2 * m * CHUNK), np.empty(m * CHUNK), room_of_ends(switches)
    W, averages, tau = np.empty(rows * CHUNK), np.empty(rows * CHUNK), np.empty(CHUNK)
    H, half, K = np.empty(9 * BLOCK), np.empty(3 * BLOCK), np.empty(k * k * BLOCK)
    for chunk in range(first, last):
        n, constants = counts[chunk], geometry[chunk]
        gather_changes(q0, q1, nodes[chunk], n, slopes, constants, x, y, means, increments)
        if set_segments(means, increments, constants, fibres, segments, tau) < CHUNK:
            return np.nan
        average(law, parameters.ctypes.data, rule, switches, m, rows, segments, room, at, W, averages)
        if not all_finite(averages, rows):
            return np.nan
        for start in range(0, n, PART):
            for g in range(points):
                _set_tangents(means, increments, constants, weights, fibres, averages, g * size + start, H)
                for f in range(fibres):
                    _add_fibre(means, increments, constants, weights, fibres, averages, f, g * size + start, half, H)
                if not edges:
                    if g == 0:
                        K[:] = 0.0
                    accumulate(H, slopes, g, constants, start, k, False, half, K)
            add_hourglasses(hourglass, BETWEEN, 0, start, 0.5, fibres, slopes, constants, x, means, y, increments, K)
            named = elements[chunk * size + start :]
            if edges:
                scatter_of_edges(H, named, min(PART, n - start), slots, out)
            else:
                scatter_of_nodes(K, k, False, named, min(PART, n - start), slots, out)
    return 0.0
