"""Secant matrices of elements with any law W(I1, I2, θ, I4, …), which is called by its address, and their rates.

In the notation of `symplex.fem.solids.law_gradients`, with h_a = c_a/(d_1·c_1) and α_a = a0·∇ξ_a, the forces on the
tangent vectors are t_a = Σ_b s_ab d_b with

    s/V = 2 W_1 M + 2 W_2 {G, N} + W_θ Γ + 2 W_4 α ⊗ α,    Γ_ab = h_a·h_b = (G⁻¹)_ab,

which is V ∇ξ_a·S ∇ξ_b. Along velocities that change the tangent vectors at the rates w_a, and G at the rate
G' = dᵀw + wᵀd,

    ṡ/V = 2 Ẇ_1 M + 2 Ẇ_2 {G, N} + Ẇ_θ Γ + 2 Ẇ_4 α ⊗ α + 2 W_2 {G', N} − W_θ Γ G' Γ,    Ẇ_i = Σ_j W_ij İ_j,
    İ1 = M : G',    İ2 = {G, N} : G',    θ̇ = Γ : G'/2 = Σ_a h_a·w_a,    İ4 = 2 v·v̇.

Those of the nodes are 𝓕_mn = Σ_g Σ_ab ∂N_m/∂ξ_a s_ab ∂N_n/∂ξ_b. Kernels return nan as those of the gradient.
"""

from __future__ import annotations

import numpy as np

from symplex.fem.compiled.kernels import formula, inlined, kernel
from symplex.fem.compiled.lanes import LANES, add_lanes, aligned
from symplex.fem.compiled.vectors import (
    Sym3,
    Vec3,
    cofactors,
    contracted,
    dot,
    expanded,
    full,
    gram,
    gram_slopes,
    mat3_at,
    mixed,
    set_at,
    square,
    sym3_at,
)
from symplex.fem.solids.chunks import (
    ALONG,
    AT,
    CHUNK,
    add_hourglasses,
    are_edges,
    chunks,
    direction,
    elements_per_chunk,
    gather,
    have_own_slopes,
    own_slopes,
    place,
    volume,
    work,
)
from symplex.fem.solids.law_gradients import gather_law
from symplex.fem.solids.law_hessians import all_finite, second_row


@expanded
def _inverse(d):
    """Return Γ."""
    c = cofactors(d)
    r = 1.0 / dot(d[0], c[0])
    return r * r * gram(c)


@inlined
def _set_secants(our, chunk, d, W, s):
    """Set s [6, CHUNK] from the first derivatives of W."""
    geometry, weights = our.geometry[chunk], our.weights
    for p in range(CHUNK):
        e, M = mat3_at(d, p, CHUNK), sym3_at(geometry, p, CHUNK)
        V = volume(weights, geometry, p)
        A = 2.0 * V * W[p] * M + 2.0 * V * W[place(1, p)] * mixed(gram(e), cofactors(M))
        set_at(s, p, CHUNK, A + V * W[place(2, p)] * _inverse(e))
    for f in range(our.fibres):
        for p in range(CHUNK):
            a = direction(geometry, f, p)
            r = 2.0 * volume(weights, geometry, p) * W[place(3 + f, p)]
            set_at(s, p, CHUNK, sym3_at(s, p, CHUNK) + r * square(a))


@inlined
def _set_rates_of_invariants(d, w, geometry, fibres, rates):
    """Set the rows İ_j of the invariants."""
    for p in range(CHUNK):
        e, M = mat3_at(d, p, CHUNK), sym3_at(geometry, p, CHUNK)
        slope = gram_slopes(e, mat3_at(w, p, CHUNK))
        rates[p] = contracted(M, slope)
        rates[place(1, p)] = contracted(mixed(gram(e), cofactors(M)), slope)
        rates[place(2, p)] = 0.5 * contracted(_inverse(e), slope)
    for f in range(fibres):
        for p in range(CHUNK):
            alpha = direction(geometry, f, p)
            v, u = alpha @ mat3_at(d, p, CHUNK), alpha @ mat3_at(w, p, CHUNK)
            rates[place(3 + f, p)] = 2.0 * dot(v, u)


@inlined
def set_rates(m, W, rates, out):
    """Set the rows Ẇ_i = Σ_j W_ij İ_j of out, from the second derivatives in W."""
    for i in range(m):
        for p in range(CHUNK):
            out[place(i, p)] = 0.0
        for j in range(m):
            row = second_row(m, min(i, j), max(i, j))
            for p in range(CHUNK):
                out[place(i, p)] += W[place(row, p)] * rates[place(j, p)]


@inlined
def _add_changes(d, w, geometry, weights, W, s):
    """Add the changes of {G, N} and Γ to s [6, CHUNK]."""
    for p in range(CHUNK):
        e, M = mat3_at(d, p, CHUNK), sym3_at(geometry, p, CHUNK)
        V = volume(weights, geometry, p)
        slope = gram_slopes(e, mat3_at(w, p, CHUNK))
        A = 2.0 * V * W[place(1, p)] * mixed(slope, cofactors(M))
        A = A + -V * W[place(2, p)] * _sandwiched(_inverse(e), slope)
        set_at(s, p, CHUNK, sym3_at(s, p, CHUNK) + A)


@expanded
def _sandwiched(A, B):
    """Return A B A for symmetric matrices."""
    a = full(A)
    u = [B @ row for row in a]
    return Sym3(*[dot(a[i], u[j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))])


@inlined
def _integrate(s, our, chunk, local):
    """Set local to the matrices of the nodes, a ≤ b, but for linear tetrahedra."""
    slopes, geometry = our.slopes, our.geometry[chunk]
    if have_own_slopes(slopes):
        _integrate_apart(s, slopes.shape[1], geometry, own_slopes(slopes, geometry), local)
    elif not are_edges(slopes):
        _integrate_together(s, slopes, local)


@inlined
def _scatter(s, local, our, chunk, slots, out):
    """Add the matrices of the elements of a chunk to the values out [nnz]."""
    n, k, size = our.counts[chunk], our.slopes.shape[1], elements_per_chunk(len(our.slopes))
    if are_edges(our.slopes):
        _scatter_edges(s, n, our.elements, chunk * size, slots, out)
    else:
        _scatter_nodes(local, n, k, size, our.elements, chunk * size, slots, out)


@inlined
def _scatter_edges(s, n, elements, start, slots, out):
    """Add those of linear tetrahedra: whatever concerns node 0 is minus the sum of the others."""
    for e in range(n):
        A = sym3_at(s, e, CHUNK)
        s1, s2, s3 = A[0] + A[3] + A[4], A[3] + A[1] + A[5], A[4] + A[5] + A[2]
        rows = (s1 + s2 + s3, -s1, -s2, -s3), (-s1, A[0], A[3], A[4]), (-s2, A[3], A[1], A[5]), (-s3, A[4], A[5], A[2])
        to = slots[elements[start + e]]
        for a in range(4):
            for b in range(4):
                out[np.uint64(to[a, b])] += rows[a][b]


@formula
def _integrate_apart(s, k, geometry, first, local):
    """Set local [k, k, CHUNK], a ≤ b, of nodes with the slopes that are rows of the geometry from ``first`` on."""
    for b in range(1, k):
        for a in range(1, b + 1):
            to, of_a, of_b = (k * a + b) * CHUNK, first + 3 * a * CHUNK, first + 3 * b * CHUNK
            for p in range(CHUNK):
                x, y, z = geometry[of_b + p], geometry[of_b + CHUNK + p], geometry[of_b + 2 * CHUNK + p]
                u, v, w = geometry[of_a + p], geometry[of_a + CHUNK + p], geometry[of_a + 2 * CHUNK + p]
                local[to + p] = dot(Vec3(u, v, w), sym3_at(s, p, CHUNK) @ Vec3(x, y, z))


@inlined
def _integrate_together(s, slopes, local):
    """Set local [k, k, size], a ≤ b, of the nodes of other elements."""
    points, k = slopes.shape[0], slopes.shape[1]
    size, factors = elements_per_chunk(points), np.empty(6)
    for b in range(1, k):
        for a in range(1, b + 1):
            to = (k * a + b) * size
            for g in range(points):
                x, y, z = slopes[g, b, 0], slopes[g, b, 1], slopes[g, b, 2]
                u, v, w = slopes[g, a, 0], slopes[g, a, 1], slopes[g, a, 2]
                factors[0], factors[1], factors[2] = x * u, y * v, z * w
                factors[3], factors[4], factors[5] = x * v + y * u, x * w + z * u, y * w + z * v
                for e in range(0, size, LANES):
                    add_lanes(g > 0, factors, 0, 1, s, g * size + e, CHUNK, 6, local, to + e)


@formula
def _scatter_nodes(local, n, k, size, elements, start, slots, out):
    """Add the matrices of n elements to the values out [nnz]; whatever concerns node 0 is minus the sum."""
    for e in range(n):
        to = slots[elements[start + e]]
        whole = 0.0
        for a in range(1, k):
            total = 0.0
            for b in range(1, k):
                value = local[(k * min(a, b) + max(a, b)) * size + e]
                out[np.uint64(to[a, b])] += value
                total += value
            out[np.uint64(to[0, a])] -= total
            out[np.uint64(to[a, 0])] -= total
            whole += total
        out[np.uint64(to[0, 0])] += whole


@kernel
def add_secant(q, our, slots, out, first, last):
    """Add 𝓕 of the chunks first … last − 1 at q [n, 3] to the values out [nnz], by the first derivatives of W.

    What couples the nodes a and b of element e goes to ``out[slots[e, a, b]]``.
    """
    q, m = q.ravel(), 3 + our.fibres
    x, d, s = work(our), aligned(9 * CHUNK), aligned(6 * CHUNK)
    local = aligned(our.slopes.shape[1] ** 2 * elements_per_chunk(len(our.slopes)))
    invariants, W = aligned(m * CHUNK), aligned(m * CHUNK)
    for chunk in chunks(first, last):
        if not gather_law(q, our, chunk, x, d, invariants, W) or not all_finite(W, m):
            return np.nan
        _set_secants(our, chunk, d, W, s)
        _integrate(s, our, chunk, local)
        add_hourglasses(our, chunk, AT, 0, 0, 1.0, x, d, x, d, local)
        _scatter(s, local, our, chunk, slots, out)
    return 0.0


@kernel
def add_secant_rate(q, v, our, slots, out, first, last):
    """Add 𝓕̇ of the chunks at q along v [n, 3] to the values out [nnz], by the second derivatives of W as well."""
    q, v, m = q.ravel(), v.ravel(), 3 + our.fibres
    x, y, d, w = work(our), work(our), aligned(9 * CHUNK), aligned(9 * CHUNK)
    s = aligned(6 * CHUNK)
    local = aligned(our.slopes.shape[1] ** 2 * elements_per_chunk(len(our.slopes)))
    invariants, W = aligned(m * CHUNK), aligned((m + m * (m + 1) // 2) * CHUNK)
    rates, W_rates = aligned(m * CHUNK), aligned(m * CHUNK)
    for chunk in chunks(first, last):
        constants = our.geometry[chunk]
        if not gather_law(q, our, chunk, x, d, invariants, W) or not all_finite(W, m + m * (m + 1) // 2):
            return np.nan
        gather(v, our, chunk, y, w)
        _set_rates_of_invariants(d, w, constants, our.fibres, rates)
        set_rates(m, W, rates, W_rates)
        _set_secants(our, chunk, d, W_rates, s)
        _add_changes(d, w, constants, our.weights, W, s)
        _integrate(s, our, chunk, local)
        add_hourglasses(our, chunk, ALONG, 0, 0, 1.0, x, d, y, w, local)
        _scatter(s, local, our, chunk, slots, out)
    return 0.0
