"""The gradient at mean strains of elements with any law W(I1, I2, θ, I4, …), which is called by its address.

Between two positions the forces are F_m S(C_m) ∇N_a with F_m = (F0 + F1)/2 and C_m = (C0 + C1)/2. In the notation of
`symplex.fem.solids.law_discrete`, at the invariants of G_m = A + B/4, with g = det G_m,

    t_a = V Σ_b (2 W_1 M + 2 W_2 {G_m, N} + W_θ cof G_m/g)_ab m_b + 2 V W_4 α_a v_m,
    Σ_b (cof G_m)_ab m_b = det m · c_a + (¼ {A + B/8, B} m)_a,
    g = (det m)² + ¼ |Σ_a i_a ⊗ c_a|² + 1/16 |Σ_a m_a ⊗ e_a|² + 1/64 (det i)²,

e the products of i: a sum of squares, so that flat elements do not lose digits.
"""

from __future__ import annotations

import numpy as np

from symplex.fem.call import call_law
from symplex.fem.kernels import inlined, kernel
from symplex.fem.logarithm import log
from symplex.fem.solids.chunks import (
    BETWEEN,
    CHUNK,
    add_hourglasses,
    along_fibre,
    direction,
    gather_changes,
    matrix,
    place,
    room_of_hourglasses,
    scatter,
    set_vectors,
    vectors,
    volume,
    work,
)
from symplex.fem.solids.edge_algebra import (
    along,
    applied,
    cofactors,
    contracted,
    determinants,
    dot,
    gram,
    linear,
    mixed,
    outer,
    products,
    scaled,
)
from symplex.fem.solids.law_hessians import all_finite


@inlined
def _square(N):
    """Return the sum of the squares of nine numbers."""
    first = N[0] * N[0] + N[1] * N[1] + N[2] * N[2]
    second = N[3] * N[3] + N[4] * N[4] + N[5] * N[5]
    return first + second + (N[6] * N[6] + N[7] * N[7] + N[8] * N[8])


@inlined
def _strains(m, i):
    """Return G_m, H = cof G_m − cof A, the products c, det m, g, and whether both ends are not inverted."""
    c, e = products(m), products(i)
    A, B = gram(m), gram(i)
    determinant, delta, s = determinants(m, c, i)
    first = _square(outer(i[0], c[0], i[1], c[1], i[2], c[2]))
    second = _square(outer(m[0], e[0], m[1], e[1], m[2], e[2]))
    g = determinant * determinant + 0.25 * first + 0.0625 * second + 0.015625 * dot(i[0], e[0]) ** 2
    H = scaled(0.25, mixed(linear(1.0, A, 0.125, B), B))
    return linear(1.0, A, 0.25, B), H, c, determinant, g, abs(delta) < s


@inlined
def _set_invariants(means, increments, geometry, fibres, invariants):
    """Set the rows of the invariants of C_m; return how many points are inverted at neither end."""
    valid = 0
    for p in range(CHUNK):
        M, D = matrix(geometry, p), geometry[place(6, p)]
        G, _, _, _, g, good = _strains(vectors(means, p), vectors(increments, p))
        invariants[p] = contracted(M, G)
        invariants[place(1, p)] = contracted(cofactors(M), cofactors(G))
        invariants[place(2, p)] = 0.5 * log(g / (D * D))
        valid += good
    for f in range(fibres):
        for p in range(CHUNK):
            alpha = direction(geometry, f, p)
            v, w = along_fibre(vectors(means, p), alpha), along_fibre(vectors(increments, p), alpha)
            invariants[place(3 + f, p)] = dot(v, v) + 0.25 * dot(w, w)
    return valid


@inlined
def _set_forces(means, increments, geometry, weights, fibres, W, t):
    """Set t [9, CHUNK] to the forces, given the first derivatives of W."""
    for p in range(CHUNK):
        m, M = vectors(means, p), matrix(geometry, p)
        V = volume(weights, geometry, p)
        G, H, c, determinant, g, _ = _strains(m, vectors(increments, p))
        P = V * W[place(2, p)] / g
        S = linear(2.0 * V * W[p], M, 2.0 * V * W[place(1, p)], mixed(G, cofactors(M)))
        u, r = applied(linear(1.0, S, P, H), m), P * determinant
        set_vectors(t, p, (along(u[0], r, c[0]), along(u[1], r, c[1]), along(u[2], r, c[2])))
    for f in range(fibres):
        for p in range(CHUNK):
            alpha, u = direction(geometry, f, p), vectors(t, p)
            v = along_fibre(vectors(means, p), alpha)
            r = 2.0 * volume(weights, geometry, p) * W[place(3 + f, p)]
            set_vectors(
                t, p, (along(u[0], r * alpha[0], v), along(u[1], r * alpha[1], v), along(u[2], r * alpha[2], v))
            )


@kernel
def add_mean_gradient(
    q0, q1, nodes, counts, geometry, weights, slopes, fibres, has_i2, law, parameters, hourglass, out, first, last
):
    """Add the forces of the mean strains of the chunks first … last − 1 from q0 to q1 [n, 3] to out [n, 3].

    ``law`` is the address of the first derivatives of W; for the others see `law_gradients.add_gradient`.
    """
    q0, q1, out = q0.ravel(), q1.ravel(), out.ravel()
    m = 3 + fibres
    x, y, t, u = work(slopes), work(slopes), np.empty(9 * CHUNK), room_of_hourglasses(slopes)
    means, increments = np.empty(9 * CHUNK), np.empty(9 * CHUNK)
    invariants, W = np.empty(m * CHUNK), np.empty(m * CHUNK)
    for chunk in range(first, last):
        n, constants = counts[chunk], geometry[chunk]
        gather_changes(q0, q1, nodes[chunk], n, slopes, constants, x, y, means, increments)
        if _set_invariants(means, increments, constants, fibres, invariants) < CHUNK:
            return np.nan
        call_law(law, parameters.ctypes.data, invariants.ctypes.data, W.ctypes.data)
        if not all_finite(W, m):
            return np.nan
        _set_forces(means, increments, constants, weights, fibres, W, t)
        add_hourglasses(hourglass, BETWEEN, 0, 0, 1.0, fibres, slopes, constants, x, means, y, increments, u)
        scatter(t, nodes[chunk], n, slopes, constants, x, u, out)
    return 0.0
