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
Gauss' rule: on the left along the mean tangent vectors, on the right along those of the end. At one position the loops
of any law serve, as those of `symplex.fem.solids.dilatation_loops` do.
"""

from __future__ import annotations

import numpy as np

from symplex.fem.compiled.kernels import inlined, kernel
from symplex.fem.compiled.lanes import LANES, add_lane_products, add_lanes, aligned
from symplex.fem.compiled.vectors import (
    Mat3,
    added,
    cofactors,
    dot,
    full,
    mat3_at,
    mixed,
    set_at,
    shifted,
    square,
    stored,
    sym3_at,
    transposed,
    vec3_at,
)
from symplex.fem.solids.chunks import (
    CHUNK,
    chunks,
    direction,
    elements_per_chunk,
    gather_changes,
    integrate,
    place,
    volume,
    work,
)
from symplex.fem.solids.dilatation_loops import (
    add_stresses,
    gather_dilated,
    inverse,
    room_of_pieces,
    scale,
    set_between,
    set_dilated,
    set_pieces,
    set_pressures,
    set_rule,
    set_segments,
    set_work,
    sum_over_points,
)
from symplex.fem.solids.increments import PLACES, SYMMETRIC, stress_of
from symplex.fem.solids.law_gradients import evaluate, set_forces
from symplex.fem.solids.law_hessians import add_fibre, all_finite, second_row, set_tangents
from symplex.fem.solids.tangent_blocks import BLOCK, PART, accumulate, room_of_sums, scatter_tangents

_MINUS = np.array([-1.0])
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


@added
def _add_product(u, v):
    """Add u ⊗ v of six numbers each, of which the sum is symmetric."""
    for i in range(6):
        for j in range(i, 6):
            yield u[i] * v[j]


@added
def _add_curvature(A, N, n, s):
    """Add n {·, N} + 2 s A ⊙ A, A of order 3."""
    a, b, c, d, e, f = A
    yield 2.0 * s * a * a, n * N[2] + 2.0 * s * d * d, n * N[1] + 2.0 * s * e * e
    yield 2.0 * s * a * d, 2.0 * s * a * e, 2.0 * s * d * e - n * N[5]
    yield 2.0 * s * b * b, n * N[0] + 2.0 * s * f * f
    yield 2.0 * s * d * b, 2.0 * s * d * f - n * N[4], 2.0 * s * b * f
    yield 2.0 * s * c * c, 2.0 * s * e * f - n * N[3], 2.0 * s * e * c, 2.0 * s * f * c
    n = 0.5 * n
    yield s * (a * b + d * d) - n * N[2], s * (a * f + e * d) + n * N[5]
    yield s * (d * f + e * b) + n * N[4], s * (a * c + e * e) - n * N[1]
    yield s * (d * c + e * f) + n * N[3], s * (b * c + f * f) - n * N[0]


@inlined
def _add_elasticities(our, chunk, w, G, W, rho, L):
    """Add w L, w [CHUNK], to the rows of L, given the derivatives of W with the pressure in W_θ."""
    m, geometry, fibres = 3 + our.fibres, our.geometry[chunk], our.fibres
    r11, r12, r13 = second_row(m, 0, 0), second_row(m, 0, 1), second_row(m, 0, 2)
    r22, r23, r33 = second_row(m, 1, 1), second_row(m, 1, 2), second_row(m, 2, 2)
    for p in range(CHUNK):
        g, M, r = sym3_at(G, p, CHUNK), sym3_at(geometry, p, CHUNK), rho[p]
        N, A = cofactors(M), inverse(g)
        g1, g2 = 2.0 * r * M, 2.0 * r * r * mixed(g, N)
        W12, W13, W23 = w[p] * W[place(r12, p)], w[p] * W[place(r13, p)], w[p] * W[place(r23, p)]
        _add_product(L, p, CHUNK, g1, w[p] * W[place(r11, p)] * g1 + W12 * g2 + W13 * A)
        _add_product(L, p, CHUNK, g2, W12 * g1 + w[p] * W[place(r22, p)] * g2 + W23 * A)
        _add_product(L, p, CHUNK, A, W13 * g1 + W23 * g2 + w[p] * W[place(r33, p)] * A)
        _add_curvature(L, p, CHUNK, A, N, 4.0 * w[p] * r * r * W[place(1, p)], -w[p] * W[place(2, p)])
    for i in range(fibres):
        for p in range(CHUNK):
            g, M, r = sym3_at(G, p, CHUNK), sym3_at(geometry, p, CHUNK), rho[p]
            g4 = 2.0 * r * square(direction(geometry, i, p))
            u = W[place(second_row(m, 0, 3 + i), p)] * (2.0 * r * M)
            u = u + W[place(second_row(m, 1, 3 + i), p)] * (2.0 * r * r * mixed(g, cofactors(M)))
            u = u + W[place(second_row(m, 2, 3 + i), p)] * inverse(g)
            for j in range(i):
                u = u + 2.0 * r * W[place(second_row(m, 3 + j, 3 + i), p)] * square(direction(geometry, j, p))
            _add_product(L, p, CHUNK, g4, w[p] * (u + W[place(second_row(m, 3 + i, 3 + i), p)] * g4))
            _add_product(L, p, CHUNK, w[p] * u, g4)


@inlined
def _set_coupled(our, chunk, vectors_of, G, y, kappa, rho, share, tu, tz):
    """Set tu and tz [9, CHUNK] to the forces V Σ_b U_ab d_b and V Σ_b Z_ab d_b."""
    geometry, weights, fibres = our.geometry[chunk], our.weights, our.fibres
    for p in range(CHUNK):
        g, M, r, V = sym3_at(G, p, CHUNK), sym3_at(geometry, p, CHUNK), rho[p], volume(weights, geometry, p)
        A = inverse(g)
        Z = 2.0 * r * y[p] * M + 2.0 * r * r * y[place(1, p)] * mixed(g, cofactors(M))
        Z = Z + (y[place(2, p)] - kappa[p]) * A
        for f in range(fibres):
            Z = Z + 2.0 * r * y[place(3 + f, p)] * square(direction(geometry, f, p))
        d = mat3_at(vectors_of, p, CHUNK)
        set_at(tu, p, CHUNK, V * share[p] * A @ d)
        set_at(tz, p, CHUNK, V * Z @ d)


@inlined
def _set_nodal(t, slopes, size, f, to, first):
    """Set rows [3 k, E] from ``first`` on to the nodal vectors of t; f is `work`."""
    integrate(t, slopes, f)
    to[first + 3 * size : first + 3 * slopes.shape[1] * size] = f
    for e in range(0, 3 * size, LANES):
        add_lanes(False, _MINUS, 0, 0, f, e, 3 * size, slopes.shape[1] - 1, to, first + e)


@inlined
def _set_blocks(our, chunk, means, ends, S, L, first, H):
    """Set H of the points first … first + PART − 1."""
    geometry, weights = our.geometry[chunk], our.weights
    for j in range(PART):
        p = first + j
        V, m, d = volume(weights, geometry, p), mat3_at(means, p, CHUNK), mat3_at(ends, p, CHUNK)
        D = mat3_at(L, p, CHUNK), mat3_at(L, 9 * CHUNK + p, CHUNK), vec3_at(L, 18 * CHUNK + p, CHUNK)
        _set_blocks_of_point(H, j, PART, m, d, D, V, 0.5 * V * sym3_at(S, p, CHUNK))


@stored
def _set_blocks_of_point(m, d, L, V, T):
    """Set the blocks, of which column r is how t_a changes with component r of d_b."""
    D, T = [x for part in L for x in part.parts], full(T)
    columns = [[stress_of(D, {row[c]: V * x[c] for c in range(3)}) @ m for x in transposed(d)] for row in SYMMETRIC]
    for a, b in PLACES:
        yield shifted(transposed(Mat3(*[column[a] for column in columns[b]])), T[a][b])


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
                    at, by = left + each, right + 2 * each
                    add_lane_products(True, 1.0, rows, at, -each, rows, by, each, 2, K, to)


@inlined
def _scale_seconds(m, rho, W):
    """Multiply the rows of the second derivatives by ρ as often as the invariants of both have it."""
    for i in range(m):
        for j in range(i, m):
            power = (0 if i == 2 else 2 if i == 1 else 1) + (0 if j == 2 else 2 if j == 1 else 1)
            row = second_row(m, i, j)
            for _ in range(power):
                for p in range(CHUNK):
                    W[place(row, p)] *= rho[p]


@kernel
def add_hessian(q, our, slots, out, first, last):
    """Add the Hessian of the chunks first … last − 1 at q [n, 3] to out [nnz, 3, 3], by all second derivatives of W.

    That of a law with the derivatives of `dilatation_loops.add_gradient` and W'_ij at C, each times ρ as often as γ_i
    and γ_j have it, and the products of the nodal vectors.
    """
    q, out, fibres = q.ravel(), out.ravel(), our.fibres
    m, k, points = 3 + fibres, our.slopes.shape[1], len(our.slopes)
    rows, size = m + m * (m + 1) // 2, elements_per_chunk(points)
    x, d, tu, tz = work(our), aligned(9 * CHUNK), aligned(9 * CHUNK), aligned(9 * CHUNK)
    invariants, W, of_slopes = np.zeros(m * CHUNK), aligned(rows * CHUNK), aligned(m * CHUNK)
    rho, share, a, kappa = aligned(CHUNK), aligned(CHUNK), aligned(CHUNK), aligned(CHUNK)
    P, mean_kappa, coupled = aligned(CHUNK), aligned(CHUNK), aligned(12 * k * size)
    H, half, K = aligned(9 * BLOCK), room_of_sums(our), aligned(k * k * BLOCK)
    for chunk in chunks(first, last):
        if not gather_dilated(q, our, chunk, x, d, invariants, rho, share, W) or not all_finite(W, rows):
            return np.nan
        set_work(invariants, W, fibres, a)
        sum_over_points(our, chunk, a, P)
        _set_slopes(invariants, W, m, of_slopes, kappa)
        sum_over_points(our, chunk, kappa, mean_kappa)
        set_pressures(a, share, P, W)
        for p in range(CHUNK):
            W[place(second_row(m, 2, 2), p)] += P[p] * share[p]
            of_slopes[place(2, p)] -= kappa[p]
        scale(fibres, rho, W)
        scale(fibres, rho, of_slopes)
        _scale_seconds(m, rho, W)
        _set_pressure_forces(our, chunk, d, share, tu)
        set_forces(our, chunk, d, of_slopes, tz)
        for of in range(2):
            _set_nodal(tu, our.slopes, size, x, coupled, 6 * of * k * size)
            _set_nodal(tz, our.slopes, size, x, coupled, (6 * of + 3) * k * size)
        _combine(coupled, 3 * k, size, P, mean_kappa)
        for start in range(0, our.counts[chunk], PART):
            for g in range(points):
                set_tangents(our, chunk, d, W, g * size + start, H)
                for f in range(fibres):
                    add_fibre(our, chunk, d, W, f, g * size + start, half, H)
                accumulate(H, our, chunk, g, start, True, half, K)
            _add_products(K, k, True, coupled, 0, size, start)
            scatter_tangents(H, K, True, our, chunk, start, slots, out)
    return 0.0


@inlined
def _set_pressure_forces(our, chunk, d, share, t):
    """Set t [9, CHUNK] to the forces V π/w h_a."""
    geometry, weights = our.geometry[chunk], our.weights
    for p in range(CHUNK):
        c = cofactors(mat3_at(d, p, CHUNK))
        set_at(t, p, CHUNK, volume(weights, geometry, p) * share[p] / dot(mat3_at(d, p, CHUNK)[0], c[0]) * c)


@inlined
def _combine(rows, each, size, P, mean_kappa):
    """Replace z by z − P u, and z1 by z1 + κ̄ u1, in the rows u, z, u1, z1 [each, E]."""
    for r in range(each):
        for e in range(size):
            at = r * size + e
            rows[each * size + at] -= P[e] * rows[at]
            rows[3 * each * size + at] += mean_kappa[e] * rows[2 * each * size + at]


@kernel
def add_discrete_hessian(q0, q1, our, slots, out, first, last):
    """Add the tangents of the chunks first … last − 1 between q0 and q1 [n, 3] to out [nnz, 3, 3].

    The law has the first and second derivatives of W.
    """
    q0, q1, out = q0.ravel(), q1.ravel(), out.ravel()
    m, k, points = 3 + our.fibres, our.slopes.shape[1], len(our.slopes)
    all_rows, size, gauss = m + m * (m + 1) // 2, elements_per_chunk(points), our.rule.shape[1]
    x, y = work(our), work(our)
    means, ends, tu, tz = aligned(9 * CHUNK), aligned(9 * CHUNK), aligned(9 * CHUNK), aligned(9 * CHUNK)
    middle, change, G, S = aligned(6 * CHUNK), aligned(6 * CHUNK), aligned(6 * CHUNK), aligned(6 * CHUNK)
    invariants, W, of_slopes = aligned(m * CHUNK), aligned(all_rows * CHUNK), aligned(m * CHUNK)
    rho, share, a, kappa = aligned(CHUNK), aligned(CHUNK), aligned(CHUNK), aligned(CHUNK)
    P, mean_kappa, L = aligned(CHUNK), aligned(CHUNK), aligned(NUMBERS * CHUNK)
    each = 3 * k * size
    coupled = np.empty(4 * each * gauss)  # w u, w (z − P u), u1 and z1 + κ̄ u1 at each point of Gauss' rule
    room = room_of_pieces(our)
    H, half, K = aligned(9 * BLOCK), room_of_sums(our), aligned(k * k * BLOCK)
    for chunk in chunks(first, last):
        gather_changes(q0, q1, our, chunk, x, y, means, ends)
        if set_segments(means, ends, middle, change) < CHUNK:
            return np.nan
        for t in range(9 * CHUNK):
            ends[t] = means[t] + 0.5 * ends[t]
        S[:] = 0.0
        L[:] = 0.0
        evaluations = gauss * set_pieces(our, chunk, middle, change, room)
        if 4 * each * evaluations > len(coupled):
            coupled = np.empty(4 * each * evaluations)
        for i in range(evaluations):
            s, w, w_end = set_rule(our, i % gauss, i // gauss, room)
            set_between(middle, change, s, G)
            set_dilated(G, our.geometry[chunk], our.weights, our.fibres, points, invariants, rho, share)
            evaluate(our, invariants, W)
            if not all_finite(W, all_rows):
                return np.nan
            set_work(invariants, W, our.fibres, a)
            sum_over_points(our, chunk, a, P)
            _set_slopes(invariants, W, m, of_slopes, kappa)
            sum_over_points(our, chunk, kappa, mean_kappa)
            set_pressures(a, share, P, W)
            for p in range(CHUNK):
                W[place(second_row(m, 2, 2), p)] += P[p] * share[p]
            add_stresses(our, chunk, w, G, W, rho, S)
            _add_elasticities(our, chunk, w_end, G, W, rho, L)
            to = 4 * i * each
            _set_coupled(our, chunk, means, G, of_slopes, kappa, rho, share, tu, tz)
            _set_nodal(tu, our.slopes, size, x, coupled, to)
            _set_nodal(tz, our.slopes, size, x, coupled, to + each)
            _set_coupled(our, chunk, ends, G, of_slopes, kappa, rho, share, tu, tz)
            _set_nodal(tu, our.slopes, size, x, coupled, to + 2 * each)
            _set_nodal(tz, our.slopes, size, x, coupled, to + 3 * each)
            for r in range(3 * k):
                for e in range(size):
                    at = to + r * size + e
                    coupled[at + each] = w_end[e] * (coupled[at + each] - P[e] * coupled[at])
                    coupled[at] *= w_end[e]
                    coupled[at + 3 * each] += mean_kappa[e] * coupled[at + 2 * each]
        for start in range(0, our.counts[chunk], PART):
            for g in range(points):
                at = g * size + start
                _set_blocks(our, chunk, means, ends, S, L, at, H)
                accumulate(H, our, chunk, g, start, False, half, K)
            for i in range(evaluations):
                _add_products(K, k, False, coupled, i, size, start)
            scatter_tangents(H, K, False, our, chunk, start, slots, out)
    return 0.0
