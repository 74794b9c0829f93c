"""Secant matrices and tangents of the hourglass energy of hexahedra, by compiled loops over chunks.

In the notation of `symplex.fem.solids.hourglass_loops`,

    𝓕_ab = Σ_αi T_αi (γ_αa β_bi + β_ai γ_αb),    ∂Q_αi/∂x_a = γ_αa d_i + β_ai g_α,    ∂²φ = (∂Q)ᵀ K (∂Q) + 𝓕 1,

and where Q is averaged between two positions, half of (∂Q)(mean)ᵀ K (∂Q)(end) + 𝓕 1.
"""

from __future__ import annotations

import numpy as np

from symplex.fem.kernels import formula, inlined, kernel
from symplex.fem.solids.chunks import CHUNK, gather_node_changes, own_slopes, place, vector, work
from symplex.fem.solids.edge_algebra import dot
from symplex.fem.solids.hourglass_loops import (
    NODES,
    PRODUCTS,
    set_means,
    set_products,
    set_stresses,
    stress,
    vectors_at,
)
from symplex.fem.solids.law_secants import scatter_secants
from symplex.fem.solids.tangent_blocks import BLOCK, PART, scatter_of_nodes


@inlined
def _pattern(alpha, a):
    """Return h_αa."""
    x = -1.0 if a == 0 or a == 3 or a == 4 or a == 7 else 1.0
    y = -1.0 if a == 0 or a == 1 or a == 4 or a == 5 else 1.0
    z = -1.0 if a < 4 else 1.0
    return (x if alpha != 0 else 1.0) * (y if alpha != 1 else 1.0) * (z if alpha != 2 else 1.0)


@formula
def _set_pattern_slopes(rows, slopes, start, size, gamma):
    """Set gamma [4, 8, size] to γ_αa of the elements from ``start`` on."""
    for alpha in range(4):
        for a in range(NODES):
            of, h = own_slopes(slopes, rows) + 3 * a * CHUNK + start, _pattern(alpha, a)
            for j in range(size):
                s = vector(rows, 3 * alpha, start + j)
                b = rows[of + j], rows[of + CHUNK + j], rows[of + 2 * CHUNK + j]
                gamma[(NODES * alpha + a) * size + j] = 0.125 * (h - dot(s, b))


@formula
def _set_secants(rows, slopes, start, size, T, gamma, half, F):
    """Set F [8, 8, size] to 𝓕_ab, a ≤ b, of the elements from ``start`` on, given T [12, CHUNK]; half is work."""
    _set_pattern_slopes(rows, slopes, start, size, gamma)
    for alpha in range(4):
        for b in range(NODES):
            of = own_slopes(slopes, rows) + 3 * b * CHUNK + start
            for j in range(size):
                s = vector(T, 3 * alpha, start + j)
                half[(NODES * alpha + b) * size + j] = dot(
                    s, (rows[of + j], rows[of + CHUNK + j], rows[of + 2 * CHUNK + j])
                )
    for b in range(NODES):
        for a in range(b + 1):
            for j in range(size):
                total = 0.0
                for alpha in range(4):
                    to_a, to_b = (NODES * alpha + a) * size + j, (NODES * alpha + b) * size + j
                    total += gamma[to_a] * half[to_b] + half[to_a] * gamma[to_b]
                F[(NODES * a + b) * size + j] = total


@kernel
def add_secant(q, nodes, counts, geometry, weights, slopes, elements, slots, out, first, last):
    """Add 𝓕 of the chunks first … last − 1 at q [n, 3] to the values out [nnz]; see `law_secants.add_secant`."""
    return _add_secants(q, q, False, nodes, counts, geometry, slopes, elements, slots, out, first, last)


@kernel
def add_secant_rate(q, v, nodes, counts, geometry, weights, slopes, elements, slots, out, first, last):
    """Add 𝓕̇ of the chunks at q along v [n, 3], with Q̇ for Q, to the values out [nnz]."""
    return _add_secants(q, v, True, nodes, counts, geometry, slopes, elements, slots, out, first, last)


@inlined
def _add_secants(q, v, rate, nodes, counts, geometry, slopes, elements, slots, out, first, last):
    q, v = q.ravel(), v.ravel()
    x, d, g = work(slopes), np.empty(9 * CHUNK), np.empty(12 * CHUNK)
    e, h = np.empty(9 * CHUNK), np.empty(12 * CHUNK)
    Q, F = np.empty(PRODUCTS * CHUNK), np.empty(NODES * NODES * CHUNK)
    gamma, half = np.empty(4 * NODES * CHUNK), np.empty(4 * NODES * CHUNK)
    for chunk in range(first, last):
        n, rows = counts[chunk], geometry[chunk]
        vectors_at(q, nodes[chunk], n, slopes, rows, False, x, d, g)
        Q[:] = 0.0
        if rate:
            vectors_at(v, nodes[chunk], n, slopes, rows, False, x, e, h)
            set_products(1.0, d, h, Q)
            set_products(1.0, e, g, Q)
        else:
            set_products(1.0, d, g, Q)
        set_stresses(rows, Q)
        _set_secants(rows, slopes, 0, CHUNK, Q, gamma, half, F)
        scatter_secants(F, n, NODES, CHUNK, elements, chunk * CHUNK, slots, out)
    return 0.0


@formula
def _set_slopes(rows, slopes, start, d, g, frozen, gamma, R):
    """Set R [12, 8, 3, PART] to ∂Q_αi/∂x_a = γ_αa d_i + β_ai g_α of the elements from ``start`` on."""
    for alpha in range(4):
        for i in range(3):
            for a in range(NODES):
                of = own_slopes(slopes, rows) + (3 * a + i) * CHUNK + start
                for c in range(3):
                    to = (((3 * alpha + i) * NODES + a) * 3 + c) * PART
                    for j in range(PART):
                        value = gamma[(NODES * alpha + a) * PART + j] * d[place(3 * i + c, start + j)]
                        if not frozen:
                            value += rows[of + j] * g[place(3 * alpha + c, start + j)]
                        R[to + j] = value


@formula
def _set_stress_slopes(rows, start, R, S):
    """Set S to K R."""
    step = 3 * NODES * PART
    for column in range(3 * NODES):
        for j in range(PART):
            t = column * PART + j
            first = R[t], R[t + step], R[t + 2 * step], R[t + 3 * step], R[t + 4 * step], R[t + 5 * step]
            t += 6 * step
            last = R[t], R[t + step], R[t + 2 * step], R[t + 3 * step], R[t + 4 * step], R[t + 5 * step]
            T = stress(rows, start + j, (*first, *last))
            t -= 6 * step
            S[t], S[t + step], S[t + 2 * step], S[t + 3 * step], S[t + 4 * step], S[t + 5 * step] = T[:6]
            t += 6 * step
            S[t], S[t + step], S[t + 2 * step], S[t + 3 * step], S[t + 4 * step], S[t + 5 * step] = T[6:]


@formula
def _set_blocks(factor, R, S, F, frozen, symmetric, K):
    """Set K to factor · (Rᵀ S + 𝓕 1), given F; if symmetric below the diagonal only."""
    step = 3 * NODES * PART
    for a in range(NODES):
        for b in range(a + 1 if symmetric else NODES):
            for i in range(3):
                for k in range(3):
                    to = (NODES * a + b) * BLOCK + (3 * i + k) * PART
                    of_a, of_b = (3 * a + i) * PART, (3 * b + k) * PART
                    for j in range(PART):
                        total = 0.0
                        for r in range(PRODUCTS):
                            total += R[of_a + r * step + j] * S[of_b + r * step + j]
                        K[to + j] = factor * total
            if not frozen:
                of, to = (NODES * min(a, b) + max(a, b)) * PART, (NODES * a + b) * BLOCK
                for j in range(PART):
                    K[to + j] += factor * F[of + j]
                    K[to + 4 * PART + j] += factor * F[of + j]
                    K[to + 8 * PART + j] += factor * F[of + j]


@kernel
def add_hessian(q, nodes, counts, geometry, weights, slopes, frozen, elements, slots, out, first, last):
    """Add the Hessian of the chunks first … last − 1 at q [n, 3] to out [nnz, 3, 3]; see `law_hessians.add_hessian`."""
    q, out = q.ravel(), out.ravel()
    x, d, g = work(slopes), np.empty(9 * CHUNK), np.empty(12 * CHUNK)
    Q, F, K = np.empty(PRODUCTS * CHUNK), np.empty(NODES * NODES * PART), np.empty(NODES * NODES * BLOCK)
    gamma, half = np.empty(4 * NODES * PART), np.empty(4 * NODES * PART)
    R, S = np.empty(PRODUCTS * 3 * NODES * PART), np.empty(PRODUCTS * 3 * NODES * PART)
    for chunk in range(first, last):
        n, rows = counts[chunk], geometry[chunk]
        vectors_at(q, nodes[chunk], n, slopes, rows, frozen, x, d, g)
        Q[:] = 0.0
        set_products(1.0, d, g, Q)
        set_stresses(rows, Q)
        for start in range(0, n, PART):
            _set_secants(rows, slopes, start, PART, Q, gamma, half, F)
            _set_slopes(rows, slopes, start, d, g, frozen, gamma, R)
            _set_stress_slopes(rows, start, R, S)
            _set_blocks(1.0, R, S, F, frozen, True, K)
            named = elements[chunk * CHUNK + start :]
            scatter_of_nodes(K, NODES, True, named, min(PART, n - start), slots, out)
    return 0.0


@kernel
def add_discrete_hessian(q0, q1, nodes, counts, geometry, weights, slopes, frozen, elements, slots, out, first, last):
    """Add the tangent of the discrete gradient of the chunks from q0 to q1 [n, 3] to out [nnz, 3, 3].

    It is ½ Σ (∂Q)(mean)ᵀ K (∂Q)(q1) + ½ 𝓕 1, with 𝓕 of T̄.
    """
    q0, q1, out = q0.ravel(), q1.ravel(), out.ravel()
    x, d, g = work(slopes), np.empty(9 * CHUNK), np.empty(12 * CHUNK)
    y, e, h = work(slopes), np.empty(9 * CHUNK), np.empty(12 * CHUNK)
    Q, F, K = np.empty(PRODUCTS * CHUNK), np.empty(NODES * NODES * PART), np.empty(NODES * NODES * BLOCK)
    gamma, half = np.empty(4 * NODES * PART), np.empty(4 * NODES * PART)
    R, S = np.empty(PRODUCTS * 3 * NODES * PART), np.empty(PRODUCTS * 3 * NODES * PART)
    for chunk in range(first, last):
        n, rows = counts[chunk], geometry[chunk]
        gather_node_changes(q0, q1, nodes[chunk], n, NODES, CHUNK, x, y)
        set_means(x, y, slopes, rows, frozen, d, e, g, h, Q)
        for t in range(9 * CHUNK):
            e[t] = d[t] + 0.5 * e[t]
        for t in range(12 * CHUNK):
            h[t] = g[t] + 0.5 * h[t]
        for start in range(0, n, PART):
            _set_secants(rows, slopes, start, PART, Q, gamma, half, F)
            _set_slopes(rows, slopes, start, e, h, frozen, gamma, R)
            _set_stress_slopes(rows, start, R, S)
            _set_slopes(rows, slopes, start, d, g, frozen, gamma, R)
            _set_blocks(0.5, R, S, F, frozen, False, K)
            named = elements[chunk * CHUNK + start :]
            scatter_of_nodes(K, NODES, False, named, min(PART, n - start), slots, out)
    return 0.0
