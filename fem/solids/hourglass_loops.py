"""The hourglass energy of hexahedra of one point: quartic in the positions, by compiled loops over chunks.

With the tangent vectors d_i = Σ_a β_ai x_a of the mean deformation and, for the four patterns h_α = ηζ, ζξ, ξη, ξηζ at
the nodes, the vectors g_α = Σ_a γ_αa x_a that vanish in affine motions, γ_αa = ⅛ (h_αa − Σ_i s_αi β_ai), the energy is

    φ = ½ Q·K Q,    Q_αi = d_i·g_α.

K takes the strains (Q_kj, Q_jk, Q_jj + Q_kk) that vary with ξ_m, for (m, j, k) = (1, 2, 3), (2, 1, 3), (3, 1, 2), by
a matrix of 3 × 3 each, and Q_4i by one number each (`symplex.fem.solids.hourglass`). With T = K Q

    f_a = Σ_αi T_αi (γ_αa d_i + β_ai g_α),    𝓕_ab = Σ_αi T_αi (γ_αa β_bi + β_ai γ_αb),
    ∂²φ = Σ_r (∂e_r) k_rs (∂e_s) + 𝓕 1,  e the strains.

Q is a scalar product, so that its mean T̄ = K (Q⁰ + Q¹)/2 does the work T̄·(Q¹ − Q⁰) at the mean vectors: the discrete
gradient takes T̄, d and g at the mean positions, and is the gradient at mean strains as well.

Where the law is not objective the d_i are the undeformed ones: Q is linear, and φ quadratic.

What is known of an element: the rows s_αi [4, 3], six numbers (11, 22, 33, 12, 13, 23) of each of the three matrices,
the three numbers of Q_4i, the undeformed d_i if the law is not objective, and its slopes β
(`symplex.fem.solids.chunks`).
"""

from __future__ import annotations

import numpy as np

from symplex.fem.kernels import inlined, kernel
from symplex.fem.solids.chunks import (
    CHUNK,
    gather,
    gather_compensated_nodes,
    gather_node_changes,
    integrate_apart,
    interpolate,
    own_slopes,
    place,
    scatter_nodes,
    set_vectors,
    vector,
    work,
)
from symplex.fem.solids.edge_algebra import dot
from symplex.fem.solids.law_secants import scatter_secants
from symplex.fem.solids.tangent_blocks import BLOCK, PART, scatter_of_nodes

NODES = 8
PRODUCTS = 12  # Q_αi
MODULI, FROZEN = 12, 33  # rows after those of s


# -- vectors, products and moduli of chunks -------------------------------------------------------------------------


@inlined
def _freeze(frozen, rows, d):
    """Set d to the undeformed vectors, if the law is not objective."""
    if frozen:
        for t in range(9 * CHUNK):
            d[t] = rows[FROZEN * CHUNK + t]


@inlined
def _set_patterns(x, d, rows, g):
    """Set g [12, CHUNK] from the nodes relative to the first x [21, CHUNK] and d [9, CHUNK]."""
    for i in range(3):
        for p in range(CHUNK):
            x1, x2, x3, x4 = x[place(i, p)], x[place(3 + i, p)], x[place(6 + i, p)], x[place(9 + i, p)]
            x5, x6, x7 = x[place(12 + i, p)], x[place(15 + i, p)], x[place(18 + i, p)]
            g[place(i, p)] = 0.125 * ((x1 + x6 + x7) - (x2 + x3 + x4 + x5))
            g[place(3 + i, p)] = 0.125 * ((x3 + x5 + x6) - (x1 + x2 + x4 + x7))
            g[place(6 + i, p)] = 0.125 * ((x2 + x4 + x6) - (x1 + x3 + x5 + x7))
            g[place(9 + i, p)] = 0.125 * ((x1 + x3 + x4 + x6) - (x2 + x5 + x7))
    for alpha in range(4):
        for i in range(3):
            for p in range(CHUNK):
                s = vector(rows, 3 * alpha, p)
                of_affine = s[0] * d[place(i, p)] + s[1] * d[place(3 + i, p)] + s[2] * d[place(6 + i, p)]
                g[place(3 * alpha + i, p)] -= 0.125 * of_affine


@inlined
def _vectors_at(q, nodes, n, slopes, rows, frozen, x, d, g):
    """Set d and g of the elements of a chunk at q [3 n_nodes]."""
    gather(q, nodes, n, slopes, rows, x, d)
    _set_patterns(x, d, rows, g)
    _freeze(frozen, rows, d)


@inlined
def _set_products(factor, d, g, Q):
    """Add factor · d_i·g_α to the rows Q_αi."""
    for alpha in range(4):
        for i in range(3):
            for p in range(CHUNK):
                Q[place(3 * alpha + i, p)] += factor * dot(vector(d, 3 * i, p), vector(g, 3 * alpha, p))


@inlined
def _stress(rows, p, Q):
    """Return T = K Q of an element, both as 12 numbers."""
    s1 = _moduli(rows, 0, p, Q[7], Q[5], Q[4] + Q[8])
    s2 = _moduli(rows, 6, p, Q[6], Q[2], Q[0] + Q[8])
    s3 = _moduli(rows, 12, p, Q[3], Q[1], Q[0] + Q[4])
    c = vector(rows, MODULI + 18, p)
    return (
        *(s2[2] + s3[2], s3[1], s2[1]),
        *(s3[0], s1[2] + s3[2], s1[1]),
        *(s2[0], s1[0], s1[2] + s2[2]),
        *(c[0] * Q[9], c[1] * Q[10], c[2] * Q[11]),
    )


@inlined
def _moduli(rows, first, p, a, b, c):
    """Return what one of the matrices of 3 × 3 makes of a vector."""
    x, y = vector(rows, MODULI + first, p), vector(rows, MODULI + first + 3, p)
    return x[0] * a + y[0] * b + y[1] * c, y[0] * a + x[1] * b + y[2] * c, y[1] * a + y[2] * b + x[2] * c


@inlined
def _twelve(rows, p):
    """Return the numbers of rows 0–11."""
    return (*vector(rows, 0, p), *vector(rows, 3, p), *vector(rows, 6, p), *vector(rows, 9, p))


@inlined
def _set_stresses(rows, Q):
    """Replace Q by T."""
    for p in range(CHUNK):
        T = _stress(rows, p, _twelve(Q, p))
        set_vectors(Q, p, ((T[0], T[1], T[2]), (T[3], T[4], T[5]), (T[6], T[7], T[8])))
        Q[place(9, p)], Q[place(10, p)], Q[place(11, p)] = T[9], T[10], T[11]


# -- forces -----------------------------------------------------------------------------------------------------


@inlined
def _add_forces(factor, T, d, g, frozen, t, u):
    """Add the forces factor · Σ_α T_αi g_α on d_i to t [9, CHUNK], and factor · Σ_i T_αi d_i on g_α to u [12, CHUNK]."""
    for alpha in range(4):
        for c in range(3):
            for p in range(CHUNK):
                s = vector(T, 3 * alpha, p)
                of_d = s[0] * d[place(c, p)] + s[1] * d[place(3 + c, p)] + s[2] * d[place(6 + c, p)]
                u[place(3 * alpha + c, p)] += factor * of_d
    if not frozen:
        for i in range(3):
            for c in range(3):
                for p in range(CHUNK):
                    s1, s2, s3, s4 = T[place(i, p)], T[place(3 + i, p)], T[place(6 + i, p)], T[place(9 + i, p)]
                    of_g = (
                        s1 * g[place(c, p)] + s2 * g[place(3 + c, p)] + s3 * g[place(6 + c, p)] + s4 * g[place(9 + c, p)]
                    )
                    t[place(3 * i + c, p)] += factor * of_g


@inlined
def _scatter(t, u, nodes, n, slopes, rows, f, out):
    """Add the forces on d and g of the n elements of a chunk to out [3 n_nodes]; f is `work`."""
    for i in range(3):
        for c in range(3):
            for p in range(CHUNK):
                of_patterns = rows[place(i, p)] * u[place(c, p)] + rows[place(3 + i, p)] * u[place(3 + c, p)]
                of_patterns += rows[place(6 + i, p)] * u[place(6 + c, p)] + rows[place(9 + i, p)] * u[place(9 + c, p)]
                t[place(3 * i + c, p)] -= 0.125 * of_patterns
    integrate_apart(t, NODES, rows, own_slopes(slopes, rows), f)
    for c in range(3):
        for p in range(CHUNK):
            u1, u2, u3, u4 = u[place(c, p)], u[place(3 + c, p)], u[place(6 + c, p)], u[place(9 + c, p)]
            f[place(c, p)] += 0.125 * ((u1 + u4) - (u2 + u3))
            f[place(3 + c, p)] += 0.125 * (u3 - (u1 + u2 + u4))
            f[place(6 + c, p)] += 0.125 * ((u2 + u4) - (u1 + u3))
            f[place(9 + c, p)] += 0.125 * ((u3 + u4) - (u1 + u2))
            f[place(12 + c, p)] += 0.125 * (u2 - (u1 + u3 + u4))
            f[place(15 + c, p)] += 0.125 * (u1 + u2 + u3 + u4)
            f[place(18 + c, p)] += 0.125 * (u1 - (u2 + u3 + u4))
    scatter_nodes(f, nodes, n, NODES, CHUNK, out)


@kernel
def add_gradient(q, nodes, counts, geometry, weights, slopes, frozen, out, first, last):
    """Add the gradient of the chunks first … last − 1 at q [n, 3] to out [n, 3].

    ``frozen`` tells that the law is not objective; for the others see `law_gradients.add_gradient`.
    """
    q, out = q.ravel(), out.ravel()
    x, d, g = work(slopes), np.empty(9 * CHUNK), np.empty(12 * CHUNK)
    Q, t, u = np.empty(PRODUCTS * CHUNK), np.empty(9 * CHUNK), np.empty(12 * CHUNK)
    for chunk in range(first, last):
        n, rows = counts[chunk], geometry[chunk]
        _vectors_at(q, nodes[chunk], n, slopes, rows, frozen, x, d, g)
        Q[:], t[:], u[:] = 0.0, 0.0, 0.0
        _set_products(1.0, d, g, Q)
        _set_stresses(rows, Q)
        _add_forces(1.0, Q, d, g, frozen, t, u)
        _scatter(t, u, nodes[chunk], n, slopes, rows, x, out)
    return 0.0


@kernel
def add_discrete_gradient(q0, q1, nodes, counts, geometry, weights, slopes, frozen, out, first, last):
    """Add the discrete gradient, which is that at mean strains too, of the chunks from q0 to q1 [n, 3] to out [n, 3]."""
    return _add_between(q0, q0, q1, False, nodes, counts, geometry, slopes, frozen, out, first, last)


@kernel
def add_increment_gradient(q, compensation, dq, nodes, counts, geometry, weights, slopes, frozen, out, first, last):
    """Add the discrete gradient of the chunks from q + c to q + c + Δq, c the compensation, [n, 3] to out [n, 3]."""
    return _add_between(q, compensation, dq, True, nodes, counts, geometry, slopes, frozen, out, first, last)


@inlined
def _add_between(q, compensation, q1, compensated, nodes, counts, geometry, slopes, frozen, out, first, last):
    q, compensation, q1, out = q.ravel(), compensation.ravel(), q1.ravel(), out.ravel()
    x, d, g = work(slopes), np.empty(9 * CHUNK), np.empty(12 * CHUNK)
    y, e, h = work(slopes), np.empty(9 * CHUNK), np.empty(12 * CHUNK)
    Q, t, u = np.empty(PRODUCTS * CHUNK), np.empty(9 * CHUNK), np.empty(12 * CHUNK)
    for chunk in range(first, last):
        n, rows = counts[chunk], geometry[chunk]
        if compensated:
            gather_compensated_nodes(q, compensation, q1, nodes[chunk], n, NODES, CHUNK, x, y)
        else:
            gather_node_changes(q, q1, nodes[chunk], n, NODES, CHUNK, x, y)
        _set_means(x, y, slopes, rows, frozen, d, e, g, h, Q)
        t[:], u[:] = 0.0, 0.0
        _add_forces(1.0, Q, d, g, frozen, t, u)
        _scatter(t, u, nodes[chunk], n, slopes, rows, x, out)
    return 0.0


@inlined
def _set_means(x, y, slopes, rows, frozen, d, e, g, h, Q):
    """Set the mean d and g, their increments e and h, and Q to T̄, from the means x and increments y of nodes."""
    interpolate(x, slopes, rows, d)
    interpolate(y, slopes, rows, e)
    _set_patterns(x, d, rows, g)
    _set_patterns(y, e, rows, h)
    _freeze(frozen, rows, d)
    Q[:] = 0.0
    _set_products(1.0, d, g, Q)
    if frozen:
        e[:] = 0.0
    else:
        _set_products(0.25, e, h, Q)  # half the sum of the products at the ends
    _set_stresses(rows, Q)


@kernel
def set_values(q, nodes, counts, geometry, weights, slopes, frozen, elements, out, first, last):
    """Set out [m] to the energies of the elements of the chunks, which ``elements`` names."""
    q = q.ravel()
    x, d, g, Q = work(slopes), np.empty(9 * CHUNK), np.empty(12 * CHUNK), np.empty(PRODUCTS * CHUNK)
    for chunk in range(first, last):
        n, rows = counts[chunk], geometry[chunk]
        _vectors_at(q, nodes[chunk], n, slopes, rows, frozen, x, d, g)
        Q[:] = 0.0
        _set_products(1.0, d, g, Q)
        for p in range(n):
            of = _twelve(Q, p)
            T = _stress(rows, p, of)
            total = 0.0
            for r in range(PRODUCTS):
                total += T[r] * of[r]
            out[elements[chunk * CHUNK + p]] = 0.5 * total
    return 0.0


@kernel
def add_third(q, a, nodes, counts, geometry, weights, slopes, out, first, last):
    """Add ∇³φ[a, a] of the chunks at q along a [n, 3] to out [n, 3].

    With Q' and Q'' along a it is the forces of T'' at the vectors of q, and twice those of T' at the vectors of a.
    """
    q, a, out = q.ravel(), a.ravel(), out.ravel()
    x, d, g = work(slopes), np.empty(9 * CHUNK), np.empty(12 * CHUNK)
    y, e, h = work(slopes), np.empty(9 * CHUNK), np.empty(12 * CHUNK)
    Q, t, u = np.empty(PRODUCTS * CHUNK), np.empty(9 * CHUNK), np.empty(12 * CHUNK)
    for chunk in range(first, last):
        n, rows = counts[chunk], geometry[chunk]
        _vectors_at(q, nodes[chunk], n, slopes, rows, False, x, d, g)
        _vectors_at(a, nodes[chunk], n, slopes, rows, False, y, e, h)
        t[:], u[:], Q[:] = 0.0, 0.0, 0.0
        _set_products(2.0, e, h, Q)
        _set_stresses(rows, Q)
        _add_forces(1.0, Q, d, g, False, t, u)
        Q[:] = 0.0
        _set_products(1.0, d, h, Q)
        _set_products(1.0, e, g, Q)
        _set_stresses(rows, Q)
        _add_forces(2.0, Q, e, h, False, t, u)
        _scatter(t, u, nodes[chunk], n, slopes, rows, x, out)
    return 0.0


# -- matrices -----------------------------------------------------------------------------------------------------


@inlined
def _pattern(alpha, a):
    """Return h_αa."""
    x = -1.0 if a == 0 or a == 3 or a == 4 or a == 7 else 1.0
    y = -1.0 if a == 0 or a == 1 or a == 4 or a == 5 else 1.0
    z = -1.0 if a < 4 else 1.0
    return (x if alpha != 0 else 1.0) * (y if alpha != 1 else 1.0) * (z if alpha != 2 else 1.0)


@inlined
def _set_pattern_slopes(rows, slopes, start, size, gamma):
    """Set gamma [4, 8, size] to γ_αa of the elements from ``start`` on."""
    for alpha in range(4):
        for a in range(NODES):
            of, h = own_slopes(slopes, rows) + 3 * a * CHUNK + start, _pattern(alpha, a)
            for j in range(size):
                s = vector(rows, 3 * alpha, start + j)
                b = rows[of + j], rows[of + CHUNK + j], rows[of + 2 * CHUNK + j]
                gamma[(NODES * alpha + a) * size + j] = 0.125 * (h - dot(s, b))


@inlined
def _set_secants(rows, slopes, start, size, T, gamma, half, F):
    """Set F [8, 8, size] to 𝓕_ab, a ≤ b, of the elements from ``start`` on, given T [12, CHUNK]; half is work."""
    _set_pattern_slopes(rows, slopes, start, size, gamma)
    for alpha in range(4):
        for b in range(NODES):
            of = own_slopes(slopes, rows) + 3 * b * CHUNK + start
            for j in range(size):
                s = vector(T, 3 * alpha, start + j)
                half[(NODES * alpha + b) * size + j] = dot(s, (rows[of + j], rows[of + CHUNK + j], rows[of + 2 * CHUNK + j]))
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
        _vectors_at(q, nodes[chunk], n, slopes, rows, False, x, d, g)
        Q[:] = 0.0
        if rate:
            _vectors_at(v, nodes[chunk], n, slopes, rows, False, x, e, h)
            _set_products(1.0, d, h, Q)
            _set_products(1.0, e, g, Q)
        else:
            _set_products(1.0, d, g, Q)
        _set_stresses(rows, Q)
        _set_secants(rows, slopes, 0, CHUNK, Q, gamma, half, F)
        scatter_secants(F, n, NODES, CHUNK, elements, chunk * CHUNK, slots, out)
    return 0.0


@inlined
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


@inlined
def _set_stress_slopes(rows, start, R, S):
    """Set S to K R."""
    step = 3 * NODES * PART
    for column in range(3 * NODES):
        for j in range(PART):
            t = column * PART + j
            first = R[t], R[t + step], R[t + 2 * step], R[t + 3 * step], R[t + 4 * step], R[t + 5 * step]
            t += 6 * step
            last = R[t], R[t + step], R[t + 2 * step], R[t + 3 * step], R[t + 4 * step], R[t + 5 * step]
            T = _stress(rows, start + j, (*first, *last))
            t -= 6 * step
            S[t], S[t + step], S[t + 2 * step], S[t + 3 * step], S[t + 4 * step], S[t + 5 * step] = T[:6]
            t += 6 * step
            S[t], S[t + step], S[t + 2 * step], S[t + 3 * step], S[t + 4 * step], S[t + 5 * step] = T[6:]


@inlined
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
        _vectors_at(q, nodes[chunk], n, slopes, rows, frozen, x, d, g)
        Q[:] = 0.0
        _set_products(1.0, d, g, Q)
        _set_stresses(rows, Q)
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
        _set_means(x, y, slopes, rows, frozen, d, e, g, h, Q)
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
