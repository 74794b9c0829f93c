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

from symplex.fem.compiled.kernels import inlined, kernel
from symplex.fem.compiled.lanes import aligned
from symplex.fem.compiled.logarithm import log
from symplex.fem.compiled.vectors import (
    cofactors,
    contracted,
    dot,
    expanded,
    gram,
    mat3_at,
    mixed,
    outer,
    set_at,
    sym3_at,
)
from symplex.fem.solids.chunks import (
    BETWEEN,
    CHUNK,
    add_hourglasses,
    chunks,
    direction,
    gather_changes,
    place,
    room_of_hourglasses,
    scatter,
    volume,
    work,
)
from symplex.fem.solids.increments import determinants
from symplex.fem.solids.law_gradients import evaluate
from symplex.fem.solids.law_hessians import all_finite


@expanded
def _square(a, b):
    """Return |Σ_i a_i ⊗ b_i|²."""
    N = outer(a[0], b[0]) + outer(a[1], b[1]) + outer(a[2], b[2])
    return dot(N[0], N[0]) + dot(N[1], N[1]) + dot(N[2], N[2])


@expanded
def _strains(m, i):
    """Return G_m, H = cof G_m − cof A, the cofactors c, det m, g, and δ and s of `determinants`."""
    c, e = cofactors(m), cofactors(i)
    A, B = gram(m), gram(i)
    determinant, delta, s = determinants(m, c, i)
    last = dot(i[0], e[0])
    g = determinant * determinant + 0.25 * _square(i, c) + 0.0625 * _square(m, e) + 0.015625 * (last * last)
    return A + 0.25 * B, 0.25 * mixed(A + 0.125 * B, B), c, determinant, g, delta, s


@inlined
def _set_invariants(our, chunk, means, increments, invariants):
    """Set the rows of the invariants of C_m; return how many points are inverted at neither end."""
    geometry, valid = our.geometry[chunk], 0
    for p in range(CHUNK):
        M, D = sym3_at(geometry, p, CHUNK), geometry[place(6, p)]
        G, _, _, _, g, delta, s = _strains(mat3_at(means, p, CHUNK), mat3_at(increments, p, CHUNK))
        invariants[p] = contracted(M, G)
        invariants[place(1, p)] = contracted(cofactors(M), cofactors(G))
        invariants[place(2, p)] = 0.5 * log(g / (D * D))
        valid += abs(delta) < s
    for f in range(our.fibres):
        for p in range(CHUNK):
            alpha = direction(geometry, f, p)
            v, w = alpha @ mat3_at(means, p, CHUNK), alpha @ mat3_at(increments, p, CHUNK)
            invariants[place(3 + f, p)] = dot(v, v) + 0.25 * dot(w, w)
    return valid


@inlined
def _set_forces(our, chunk, means, increments, W, t):
    """Set t [9, CHUNK] to the forces, given the first derivatives of W."""
    geometry, weights = our.geometry[chunk], our.weights
    for p in range(CHUNK):
        m, M = mat3_at(means, p, CHUNK), sym3_at(geometry, p, CHUNK)
        V = volume(weights, geometry, p)
        G, H, c, determinant, g, _, _ = _strains(m, mat3_at(increments, p, CHUNK))
        P = V * W[place(2, p)] / g
        S = 2.0 * V * W[p] * M + 2.0 * V * W[place(1, p)] * mixed(G, cofactors(M)) + P * H
        set_at(t, p, CHUNK, S @ m + P * determinant * c)
    for f in range(our.fibres):
        for p in range(CHUNK):
            alpha = direction(geometry, f, p)
            r = 2.0 * volume(weights, geometry, p) * W[place(3 + f, p)]
            set_at(t, p, CHUNK, mat3_at(t, p, CHUNK) + outer(r * alpha, alpha @ mat3_at(means, p, CHUNK)))


@kernel
def add_mean_gradient(q0, q1, our, out, first, last):
    """Add the forces of the mean strains of the chunks first … last − 1 from q0 to q1 [n, 3] to out [n, 3].

    The law has the first derivatives of W.
    """
    q0, q1, out = q0.ravel(), q1.ravel(), out.ravel()
    m = 3 + our.fibres
    x, y, t, u = work(our), work(our), aligned(9 * CHUNK), room_of_hourglasses(our)
    means, increments = aligned(9 * CHUNK), aligned(9 * CHUNK)
    invariants, W = aligned(m * CHUNK), aligned(m * CHUNK)
    for chunk in chunks(first, last):
        gather_changes(q0, q1, our, chunk, x, y, means, increments)
        if _set_invariants(our, chunk, means, increments, invariants) < CHUNK:
            return np.nan
        evaluate(our, invariants, W)
        if not all_finite(W, m):
            return np.nan
        _set_forces(our, chunk, means, increments, W, t)
        add_hourglasses(our, chunk, BETWEEN, 0, 0, 1.0, x, means, y, increments, u)
        scatter(t, our, chunk, x, u, out)
    return 0.0
