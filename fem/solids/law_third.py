"""The third derivative ∇³φ[a, a] of elements with any law W(I1, I2, θ, I4, …), which is called by its address.

Along a direction that changes the tangent vectors at the rates b_a, and G at the rates G' = dᵀb + bᵀd and G'' = 2 bᵀb,
the forces t_a = V Σ_i W_i gi_a (see `symplex.fem.solids.law_hessians`) change at the second rate

    t''_a/V = Σ_i W_i'' gi_a + 2 W_i' gi'_a + W_i gi''_a,
    W_i' = Σ_j W_ij I_j',    W_i'' = Σ_jk W_ijk I_j' I_k' + Σ_j W_ij I_j'',

with L = Σ_a b_a ⊗ h_a and

    g1 = 2 M d,       g1' = 2 M b,                      g1'' = 0,
    g2 = 2 {G, N} d,  g2' = 2 {G', N} d + 2 {G, N} b,   g2'' = 2 {G'', N} d + 4 {G', N} b,
    gθ = h,           gθ' = −Lᵀ h,                      gθ'' = 2 (Lᵀ)² h,
    g4_a = 2 α_a v,   g4'_a = 2 α_a v',                 g4'' = 0,

    I1' = M : G',     I2' = {G, N} : G',                      θ' = tr L,      I4' = 2 v·v',
    I1'' = M : G'',   I2'' = {G', N} : G' + {G, N} : G'',     θ'' = −tr L²,   I4'' = 2 v'·v'.
"""

from __future__ import annotations

import numpy as np

from symplex.fem.compiled.kernels import inlined, kernel
from symplex.fem.compiled.lanes import aligned
from symplex.fem.compiled.vectors import (
    Mat3,
    Vec3,
    add_at,
    contracted,
    dot,
    expanded,
    gram,
    gram_slopes,
    mat3_at,
    mixed,
    outer,
    set_at,
    sym3_at,
)
from symplex.fem.solids.chunks import (
    ALONG,
    CHUNK,
    add_hourglasses,
    chunks,
    direction,
    gather,
    place,
    room_of_hourglasses,
    scatter,
    volume,
    work,
)
from symplex.fem.solids.law_gradients import gather_law
from symplex.fem.solids.law_hessians import all_finite, invariant_slopes
from symplex.fem.solids.law_secants import set_rates


@expanded
def _transposed(h, b, u):
    """Return Lᵀ u."""
    return Vec3(dot(b[0], u), dot(b[1], u), dot(b[2], u)) @ h


@inlined
def _set_rates_of_invariants(d, b, geometry, fibres, once, twice):
    """Set the rows I_j' and I_j''."""
    for p in range(CHUNK):
        e, u, M = mat3_at(d, p, CHUNK), mat3_at(b, p, CHUNK), sym3_at(geometry, p, CHUNK)
        N, GN, _, _, h = invariant_slopes(e, M)
        slope, curvature = gram_slopes(e, u), 2.0 * gram(u)
        once[p], twice[p] = contracted(M, slope), contracted(M, curvature)
        once[place(1, p)] = contracted(GN, slope)
        twice[place(1, p)] = contracted(mixed(slope, N), slope) + contracted(GN, curvature)
        # tr L = Σ b_a·h_a and tr L² = Σ_ab (b_a·h_b)(b_b·h_a)
        s1, s2, s3 = dot(u[0], h[0]), dot(u[1], h[1]), dot(u[2], h[2])
        products = dot(u[0], h[1]) * dot(u[1], h[0]) + dot(u[0], h[2]) * dot(u[2], h[0])
        products += dot(u[1], h[2]) * dot(u[2], h[1])
        once[place(2, p)] = s1 + s2 + s3
        twice[place(2, p)] = -(s1 * s1 + s2 * s2 + s3 * s3 + 2.0 * products)
    for f in range(fibres):
        for p in range(CHUNK):
            alpha = direction(geometry, f, p)
            v, w = alpha @ mat3_at(d, p, CHUNK), alpha @ mat3_at(b, p, CHUNK)
            once[place(3 + f, p)], twice[place(3 + f, p)] = 2.0 * dot(v, w), 2.0 * dot(w, w)


@inlined
def _set_second_rates(m, W, once, twice, out):
    """Set the rows W_i'' of out."""
    set_rates(m, W, twice, out)
    row = m + m * (m + 1) // 2
    for i in range(m):  # W_ijk for i ≤ j ≤ k stands for all its permutations
        for j in range(i, m):
            for k in range(j, m):
                for p in range(CHUNK):
                    x, y, z = once[place(i, p)], once[place(j, p)], once[place(k, p)]
                    w = W[place(row, p)]
                    out[place(i, p)] += w * y * z * (1.0 if j == k else 2.0)
                    if j > i:
                        out[place(j, p)] += w * x * z * (1.0 if i == k else 2.0)
                    if k > j:
                        out[place(k, p)] += w * x * y * (1.0 if i == j else 2.0)
                row += 1


@inlined
def _set_forces(d, b, geometry, weights, W, once, twice):
    """Replace the tangent vectors d by t'', but for what concerns fibres."""
    for p in range(CHUNK):
        e, u, M = mat3_at(d, p, CHUNK), mat3_at(b, p, CHUNK), sym3_at(geometry, p, CHUNK)
        V = volume(weights, geometry, p)
        N, GN, _, _, h = invariant_slopes(e, M)
        slope = mixed(gram_slopes(e, u), N)
        # of d: 2 W_1'' M + 2 W_2'' {G, N} + 4 W_2' {G', N} + 2 W_2 {G'', N}
        # of b: 4 W_1' M + 4 W_2' {G, N} + 4 W_2 {G', N}
        A1, B1 = 2.0 * V * twice[p], 4.0 * V * once[p]
        A2, B2, C2 = 2.0 * V * twice[place(1, p)], 4.0 * V * once[place(1, p)], 4.0 * V * W[place(1, p)]
        T, curved = V * twice[place(2, p)], mixed(gram(u), N)
        of_d = (A1 * M + A2 * GN + B2 * slope + C2 * curved) @ e
        of_b = (B1 * M + B2 * GN + C2 * slope) @ u
        T1, T2 = -2.0 * V * once[place(2, p)], 2.0 * V * W[place(2, p)]
        set_at(d, p, CHUNK, _forces(of_d + of_b, h, u, T, T1, T2))


@expanded
def _forces(t, h, b, identity, once, twice):
    """Return t_a + (identity + once · Lᵀ + twice · (Lᵀ)²) h_a."""
    L = [_transposed(h, b, row) for row in h]
    LL = [_transposed(h, b, row) for row in L]
    return t + identity * h + once * Mat3(*L) + twice * Mat3(*LL)


@inlined
def _add_fibre_forces(d, b, geometry, weights, f, once, twice, t):
    """Add to t [9, CHUNK] 2 V α_a (W_4'' v + 2 W_4' v')."""
    for p in range(CHUNK):
        alpha = direction(geometry, f, p)
        v, w = alpha @ mat3_at(d, p, CHUNK), alpha @ mat3_at(b, p, CHUNK)
        V = 2.0 * volume(weights, geometry, p)
        r, s = V * twice[place(3 + f, p)], 2.0 * V * once[place(3 + f, p)]
        add_at(t, p, CHUNK, outer(alpha, r * v + s * w))


@kernel
def add_third(q, a, our, out, first, last):
    """Add ∇³V[a, a] of the chunks at q along a [n, 3] to out [n, 3], by the derivatives of W up to the third."""
    q, a, out, fibres = q.ravel(), a.ravel(), out.ravel(), our.fibres
    m = 3 + fibres
    rows = m + m * (m + 1) // 2 + m * (m + 1) * (m + 2) // 6
    x, y, u = work(our), work(our), room_of_hourglasses(our)
    d, b, t = aligned(9 * CHUNK), aligned(9 * CHUNK), aligned(9 * CHUNK)
    invariants, W = aligned(m * CHUNK), aligned(rows * CHUNK)
    of_invariants, curvatures = aligned(m * CHUNK), aligned(m * CHUNK)
    once, twice = aligned(m * CHUNK), aligned(m * CHUNK)
    for chunk in chunks(first, last):
        constants = our.geometry[chunk]
        if not gather_law(q, our, chunk, x, d, invariants, W) or not all_finite(W, rows):
            return np.nan
        gather(a, our, chunk, y, b)
        _set_rates_of_invariants(d, b, constants, fibres, of_invariants, curvatures)
        set_rates(m, W, of_invariants, once)
        _set_second_rates(m, W, of_invariants, curvatures, twice)
        add_hourglasses(our, chunk, ALONG, 0, 0, 1.0, x, d, y, b, u)
        t[:] = 0.0
        for f in range(fibres):
            _add_fibre_forces(d, b, constants, our.weights, f, once, twice, t)
        _set_forces(d, b, constants, our.weights, W, once, twice)
        t += d
        scatter(t, our, chunk, x, u, out)
    return 0.0
