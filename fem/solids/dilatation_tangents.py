"""The tangents of elements whose dilatation is its mean over the element.

In the notation of `symplex.fem.solids.dilatation_loops`, with γ_1 = 2 ρ M, γ_2 = 2 ρ² {G, N}, γ_θ = G⁻¹,
γ_4 = 2 ρ α ⊗ α and n = (2 I1, 4 I2, 3, 2 I4),

    y_i = ⅔ W_i + ⅓ Σ_j W_ij n_j (+ ⅔ W_2 if i = 2, − ⅔ W_θ if i = θ),    κ = Σ y_i n_i/3,    c = P π/w,

S changes by L with ½ dG of its own point,

    L = Σ_ij W'_ij γ_i ⊗ γ_j + 4 ρ² W_2 {·, N} − 2 (W_θ + c − a) G⁻¹ ⊙ G⁻¹,
    W'_iθ = W_iθ − y_i,    W'_θθ = W_θθ − 2 y_θ + κ + c,    W'_ij = W_ij of others,

and with all points of the element by U = π/w G⁻¹ and Z = Σ y_i γ_i − κ G⁻¹, as `symplex.fem.solids.mean_dilatation`
says. L is a symmetric matrix of 6 × 6, of which the 21 numbers on and above the diagonal are kept.

Between two positions ∂t_a/∂d1_b has the means of S, of s L and of s times the products of nodal vectors of U and Z, by
Gauss' rule: on the left along the mean tangent vectors, on the right along those of the end. The Hessian is the case of
two ends that are the same, with L and S in full.
"""

from __future__ import annotations

import numpy as np

from symplex.fem.call import call_law
from symplex.fem.kernels import inlined, kernel
from symplex.fem.solids.chunks import (
    CHUNK,
    direction,
    elements_per_chunk,
    gather_changes,
    integrate,
    matrix,
    place,
    set_vectors,
    vectors,
    volume,
    work,
)
from symplex.fem.solids.dilatation_loops import (
    add_stresses,
    inverse,
    of_fibre,
    room_of_pieces,
    set_between,
    set_dilated,
    set_pieces,
    set_pressures,
    set_rule,
    set_segments,
    set_work,
    sum_over_points,
)
from symplex.fem.solids.edge_algebra import applied, cofactors, linear, mixed, scaled, symmetric_times
from symplex.fem.solids.law_hessians import all_finite, second_row
from symplex.fem.solids.tangent_blocks import BLOCK, PART, accumulate, scatter_of_nodes, set_block

NUMBERS = 21  # of a symmetric matrix of 6 × 6


@inlined
def _factor(invariants, i, p):
    """Return n_i."""
    if i == 2:
        return 3.0
    return (4.0 if i == 1 else 2.0) * invariants[place(i, p)]


@inlined
def _set_slopes(invariants, W, m, y, kappa):
    """Set the rows y_i and κ [CHUNK], and replace W_iθ and, but for c, W_θθ by those of L."""
    for p in range(CHUNK):
        kappa[p] = 0.0
    for i in range(m):
        for p in range(CHUNK):
            total = (4.0 if i == 1 else 0.0 if i == 2 else 2.0) * W[place(i, p)]
            for j in range(m):
                total += W[place(second_row(m, min(i, j), max(i, j)), p)] * _factor(invariants, j, p)
            y[place(i, p)] = total / 3.0
            kappa[p] += total * _factor(invariants, i, p) / 9.0
    for i in range(m):
        for p in range(CHUNK):
            W[place(second_row(m, min(i, 2), max(i, 2)), p)] -= (2.0 if i == 2 else 1.0) * y[place(i, p)]
    for p in range(CHUNK):
        W[place(second_row(m, 2, 2), p)] += kappa[p]


@inlined
def _add_product(L, p, u, v):
    """Add u ⊗ v of six numbers each, of which the sum is symmetric."""
    row = 0
    for i in range(6):
        for j in range(i, 6):
            L[place(row, p)] += u[i] * v[j]
            row += 1


@inlined
def _add_rows(L, p, first, A):
    """Add numbers to rows from one on."""
    for i in range(len(A)):
        L[place(first + i, p)] += A[i]


@inlined
def _add_elasticities(w, G, geometry, fibres, W, rho, L):
    """Add w L, w [CHUNK], to the rows of L, given the derivatives of W with the pressure in W_θ."""
    m = 3 + fibres
    r11, r12, r13 = second_row(m, 0, 0), second_row(m, 0, 1), second_row(m, 0, 2)
    r22, r23, r33 = second_row(m, 1, 1), second_row(m, 1, 2), second_row(m, 2, 2)
    for p in range(CHUNK):
        g, M, r = matrix(G, p), matrix(geometry, p), rho[p]
        N, A = cofactors(M), inverse(g)
        g1, g2 = scaled(2.0 * r, M), scaled(2.0 * r * r, mixed(g, N))
        W12, W13, W23 = w[p] * W[place(r12, p)], w[p] * W[place(r13, p)], w[p] * W[place(r23, p)]
        u1 = linear(1.0, linear(w[p] * W[place(r11, p)], g1, W12, g2), W13, A)
        u2 = linear(1.0, linear(W12, g1, w[p] * W[place(r22, p)], g2), W23, A)
        u3 = linear(1.0, linear(W13, g1, W23, g2), w[p] * W[place(r33, p)], A)
        _add_product(L, p, g1, u1)
        _add_product(L, p, g2, u2)
        _add_product(L, p, A, u3)
        n = 4.0 * w[p] * r * r * W[place(1, p)]
        s = -w[p] * W[place(2, p)]
        a, b, c, d, e, f = A
        _add_rows(L, p, 0, (2.0 * s * a * a, n * N[2] + 2.0 * s * d * d, n * N[1] + 2.0 * s * e * e))
        _add_rows(L, p, 3, (2.0 * s * a * d, 2.0 * s * a * e, 2.0 * s * d * e - n * N[5]))
        _add_rows(L, p, 6, (2.0 * s * b * b, n * N[0] + 2.0 * s * f * f))
        _add_rows(L, p, 8, (2.0 * s * d * b, 2.0 * s * d * f - n * N[4], 2.0 * s * b * f))
        _add_rows(L, p, 11, (2.0 * s * c * c, 2.0 * s * e * f - n * N[3], 2.0 * s * e * c, 2.0 * s * f * c))
        n *= 0.5
        _add_rows(L, p, 15, (s * (a * b + d * d) - n * N[2], s * (a * f + e * d) + n * N[5]))
        _add_rows(L, p, 17, (s * (d * f + e * b) + n * N[4], s * (a * c + e * e) - n * N[1]))
        _add_rows(L, p, 19, (s * (d * c + e * f) + n * N[3], s * (b * c + f * f) - n * N[0]))
    for i in range(fibres):
        for p in range(CHUNK):
            g, M, r = matrix(G, p), matrix(geometry, p), rho[p]
            g1, g2 = scaled(2.0 * r, M), scaled(2.0 * r * r, mixed(g, cofactors(M)))
            g4 = scaled(2.0 * r, of_fibre(direction(geometry, i, p)))
            u = linear(W[place(second_row(m, 0, 3 + i), p)], g1, W[place(second_row(m, 1, 3 + i), p)], g2)
            u = linear(1.0, u, W[place(second_row(m, 2, 3 + i), p)], inverse(g))
            for j in range(i):
                beta = of_fibre(direction(geometry, j, p))
                u = linear(1.0, u, 2.0 * r * W[place(second_row(m, 3 + j, 3 + i), p)], beta)
            v = linear(1.0, u, W[place(second_row(m, 3 + i, 3 + i), p)], g4)
            _add_product(L, p, g4, scaled(w[p], v))
            _add_product(L, p, scaled(w[p], u), g4)


@inlined
def _set_coupled(vectors_of, G, geometry, weights, fibres, y, kappa, rho, share, tu, tz):
    """Set tu and tz [9, CHUNK] to the forces V Σ_b U_ab d_b and V Σ_b Z_ab d_b."""
    for p in range(CHUNK):
        g, M, r, V = matrix(G, p), matrix(geometry, p), rho[p], volume(weights, geometry, p)
        A = inverse(g)
        Z = linear(2.0 * r * y[p], M, 2.0 * r * r * y[place(1, p)], mixed(g, cofactors(M)))
        Z = linear(1.0, Z, y[place(2, p)] - kappa[p], A)
        for f in range(fibres):
            Z = linear(1.0, Z, 2.0 * r * y[place(3 + f, p)], of_fibre(direction(geometry, f, p)))
        d = vectors(vectors_of, p)
        set_vectors(tu, p, applied(scaled(V * share[p], A), d))
        set_vectors(tz, p, applied(scaled(V, Z), d))


@inlined
def _set_nodal(t, slopes, size, f, to, first):
    """Set rows [3 k, E] from ``first`` on to the nodal vectors of t; f is `work`."""
    integrate(t, slopes, f)
    for r in range(3):
        for e in range(size):
            total = 0.0
            for a in range(1, slopes.shape[1]):
                value = f[(3 * (a - 1) + r) * size + e]
                to[first + (3 * a + r) * size + e] = value
                total += value
            to[first + r * size + e] = -total


@inlined
def _set_blocks(means, ends, geometry, weights, S, L, geometric, first, H):
    """Set H of the points first … first + PART − 1."""
    for j in range(PART):
        p = first + j
        V = volume(weights, geometry, p)
        m, d = vectors(means, p), vectors(ends, p)
        T = scaled(V * geometric, matrix(S, p))
        D = (
            *(L[place(0, p)], L[place(1, p)], L[place(2, p)], L[place(3, p)], L[place(4, p)], L[place(5, p)]),
            *(L[place(6, p)], L[place(7, p)], L[place(8, p)], L[place(9, p)], L[place(10, p)], L[place(11, p)]),
            *(L[place(12, p)], L[place(13, p)], L[place(14, p)], L[place(15, p)], L[place(16, p)]),
            *(L[place(17, p)], L[place(18, p)], L[place(19, p)], L[place(20, p)]),
        )
        x, y, z = (d[0][0], d[1][0], d[2][0]), (d[0][1], d[1][1], d[2][1]), (d[0][2], d[1][2], d[2][2])
        u, v, w = _first(D, V, x, m), _first(D, V, y, m), _first(D, V, z, m)
        _set_column(H, j, u, v, w, T[0], T[3], T[4])
        u, v, w = _second(D, V, x, m), _second(D, V, y, m), _second(D, V, z, m)
        _set_column(H, j + BLOCK, u, v, w, T[3], T[1], T[5])
        u, v, w = _third(D, V, x, m), _third(D, V, y, m), _third(D, V, z, m)
        _set_column(H, j + 2 * BLOCK, u, v, w, T[4], T[5], T[2])


@inlined
def _first(D, V, x, m):
    """Return how t_a changes with one component of d_1, x that component of all three."""
    return applied(symmetric_times(D, (V * x[0], 0.0, 0.0, V * x[1], V * x[2], 0.0)), m)


@inlined
def _second(D, V, x, m):
    return applied(symmetric_times(D, (0.0, V * x[1], 0.0, V * x[0], 0.0, V * x[2])), m)


@inlined
def _third(D, V, x, m):
    return applied(symmetric_times(D, (0.0, 0.0, V * x[2], 0.0, V * x[0], V * x[1])), m)


@inlined
def _set_column(H, first, u, v, w, s1, s2, s3):
    """Set the blocks (a, b) for a = 1, 2, 3, of which u, v and w are the columns."""
    set_block(H, first, _of_columns(u[0], v[0], w[0]), s1)
    set_block(H, first + 3 * BLOCK, _of_columns(u[1], v[1], w[1]), s2)
    set_block(H, first + 6 * BLOCK, _of_columns(u[2], v[2], w[2]), s3)


@inlined
def _of_columns(u, v, w):
    return u[0], v[0], w[0], u[1], v[1], w[1], u[2], v[2], w[2]


@inlined
def _add_products(K, k, symmetric, rows, i, size, start):
    """Add w (z − P u) ⊗ u1 + w u ⊗ (z1 + κ̄ u1), four nodal vectors of point i of Gauss' rule in rows."""
    each = 3 * k * size
    of = 4 * i * each + start
    for m in range(k):
        for n in range(m + 1 if symmetric else k):
            for r in range(3):
                left = of + (3 * m + r) * size
                for c in range(3):
                    right, to = of + (3 * n + c) * size, (k * m + n) * BLOCK + (3 * r + c) * PART
                    for j in range(PART):
                        K[to + j] += (
                            rows[left + each + j] * rows[right + 2 * each + j]
                            + rows[left + j] * rows[right + 3 * each + j]
                        )


@kernel
def add_tangent(
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
    symmetric,
    elements,
    slots,
    out,
    first,
    last,
):
    """Add the tangents of the chunks first … last − 1 between q0 and q1 [n, 3] to out [nnz, 3, 3].

    ``rule`` and ``switches`` are those of `symplex.fem.solids.dilatation_loops.add_increment_gradient`; ``law`` is the
    address of the first and second derivatives of W. With ``symmetric`` both ends are the same, and the tangent is the
    Hessian. For the others see `law_hessians.add_hessian`.
    """
    q0, q1, out = q0.ravel(), q1.ravel(), out.ravel()
    m, k, points = 3 + fibres, slopes.shape[1], len(slopes)
    all_rows, size, gauss = m + m * (m + 1) // 2, elements_per_chunk(len(slopes)), rule.shape[1]
    x, y = work(slopes), work(slopes)
    means, ends, tu, tz = np.empty(9 * CHUNK), np.empty(9 * CHUNK), np.empty(9 * CHUNK), np.empty(9 * CHUNK)
    middle, change, G, S = np.empty(6 * CHUNK), np.empty(6 * CHUNK), np.empty(6 * CHUNK), np.empty(6 * CHUNK)
    invariants, W, of_slopes = np.empty(m * CHUNK), np.empty(all_rows * CHUNK), np.empty(m * CHUNK)
    rho, share, a, kappa = np.empty(CHUNK), np.empty(CHUNK), np.empty(CHUNK), np.empty(CHUNK)
    P, mean_kappa, L = np.empty(CHUNK), np.empty(CHUNK), np.empty(NUMBERS * CHUNK)
    each = 3 * k * size
    coupled = np.empty(4 * each * gauss)  # w u, w (z − P u), u1 and z1 + κ̄ u1 at each point of Gauss' rule
    room = room_of_pieces(switches, points, fibres)
    H, half, K = np.empty(9 * BLOCK), np.empty(3 * BLOCK), np.empty(k * k * BLOCK)
    for chunk in range(first, last):
        n, constants = counts[chunk], geometry[chunk]
        gather_changes(q0, q1, nodes[chunk], n, slopes, constants, x, y, means, ends)
        if set_segments(means, ends, middle, change) < CHUNK:
            return np.nan
        for t in range(9 * CHUNK):
            ends[t] = means[t] + 0.5 * ends[t]
        S[:] = 0.0
        L[:] = 0.0
        evaluations = gauss * set_pieces(switches, middle, change, constants, weights, points, room)
        if 4 * each * evaluations > len(coupled):
            coupled = np.empty(4 * each * evaluations)
        for i in range(evaluations):
            s, w, w_end = set_rule(rule, i % gauss, i // gauss, points, room)
            set_between(middle, change, s, G)
            set_dilated(G, constants, weights, fibres, points, invariants, rho, share)
            call_law(law, parameters.ctypes.data, invariants.ctypes.data, W.ctypes.data)
            if not all_finite(W, all_rows):
                return np.nan
            set_work(invariants, W, fibres, a)
            sum_over_points(constants, weights, points, a, P)
            _set_slopes(invariants, W, m, of_slopes, kappa)
            sum_over_points(constants, weights, points, kappa, mean_kappa)
            set_pressures(a, share, P, points, W)
            for p in range(points * size):
                W[place(second_row(m, 2, 2), p)] += P[p % size] * share[p]
            add_stresses(w, G, constants, fibres, W, rho, S)
            _add_elasticities(w_end, G, constants, fibres, W, rho, L)
            to = 4 * i * each
            _set_coupled(means, G, constants, weights, fibres, of_slopes, kappa, rho, share, tu, tz)
            _set_nodal(tu, slopes, size, x, coupled, to)
            _set_nodal(tz, slopes, size, x, coupled, to + each)
            _set_coupled(ends, G, constants, weights, fibres, of_slopes, kappa, rho, share, tu, tz)
            _set_nodal(tu, slopes, size, x, coupled, to + 2 * each)
            _set_nodal(tz, slopes, size, x, coupled, to + 3 * each)
            for r in range(3 * k):
                for e in range(size):
                    at = to + r * size + e
                    coupled[at + each] = w_end[e] * (coupled[at + each] - P[e] * coupled[at])
                    coupled[at] *= w_end[e]
                    coupled[at + 3 * each] += mean_kappa[e] * coupled[at + 2 * each]
        for start in range(0, n, PART):
            for g in range(points):
                at = g * size + start
                _set_blocks(means, ends, constants, weights, S, L, 1.0 if symmetric else 0.5, at, H)
                if g == 0:
                    K[:] = 0.0
                accumulate(H, slopes, g, constants, start, k, symmetric, half, K)
            for i in range(evaluations):
                _add_products(K, k, symmetric, coupled, i, size, start)
            named = elements[chunk * size + start :]
            scatter_of_nodes(K, k, symmetric, named, min(PART, n - start), slots, out)
    return 0.0
