"""The discrete gradient of elements with any law W(I1, I2, θ, I4, …), which is called by its address.

Between two positions with the mean tangent vectors m_a and their increments i_a the invariants change by

    ΔI1 = M : X,    ΔI2 = {G_m, N} : X,    Δθ = 2 z A(z),    ΔI4 = 2 v_m·v_i,
    G_m = mᵀm + ¼ iᵀi = (G0 + G1)/2,    X = mᵀi + iᵀm = G1 − G0,    z = δ/s,  A(z) = artanh(z)/z,

δ and s the difference and the sum of det d1 and det d0, without cancellation (see
`symplex.fem.solids.increments`). With the means W̄_i of the first derivatives of W along the straight segment
of the invariants, by Gauss' rule, W̄_i ΔI_i is the change of W, and it is the work of

    t_a = V Σ_b (2 W̄_1 M + 2 W̄_2 {G_m, N} + W̄_θ τ K)_ab m_b + 2 V W̄_4 α_a v_m,
    τ = 4 A(z)/s²,    K = cof G_m + cof(X)/12,

because det d1² − det d0² = δ s = K : X: the exact quotients of the invariants. Nothing is divided by an increment,
and nothing changes when 0 and 1 are exchanged. K acts on m_b as det m · c_a + H_ab m_b, H of second order in the
increments.

The tangent ∂t_a/∂d1_b has the means W̄'_ij of s W_ij at the positions s of Gauss' rule, the derivatives gj of the
invariants at d1, c1 and T = ½ G_m + X/12:

    V Σ_ij (∂t_a/∂W̄_i) ⊗ W̄'_ij gj_b + V W̄_θ ∂τ/∂(det d1) (K m)_a ⊗ c1_b + ½ S_ab 1 + Z_ab,

with S the matrix of t_a = Σ_b S_ab m_b, and Z_ab the slope of {V W̄_2 N + V W̄_θ τ T, G1}. It is not symmetric.
"""

from __future__ import annotations

import numpy as np

from symplex.fem.compiled.kernels import inlined, kernel
from symplex.fem.compiled.lanes import aligned
from symplex.fem.compiled.logarithm import artanh_ratio, log
from symplex.fem.compiled.vectors import (
    cofactors,
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
    vec3_at,
)
from symplex.fem.solids.chunks import (
    BETWEEN,
    CHUNK,
    add_hourglasses,
    chunks,
    direction,
    gather_increments,
    place,
    room_of_hourglasses,
    scatter,
    volume,
    work,
)
from symplex.fem.solids.increments import average_cofactors, determinants
from symplex.fem.solids.law_segments import average, room_of_ends


@expanded
def mean_matrices(m, i):
    """Return G_m, X and H."""
    A, B, X = gram(m), gram(i), gram_slopes(m, i)
    return A + 0.25 * B, X, average_cofactors(A, B, X)


@inlined
def set_segments(our, chunk, means, increments, segments, tau):
    """Set the rows of the invariants half way between the two positions, and those of their changes.

    Those of I2 are set if the law has it, those of changes if the rule needs whole segments and not their middle only.
    tau [CHUNK] is set to τ. Return how many points are inverted at neither end.
    """
    geometry, fibres = our.geometry[chunk], our.fibres
    valid, middle, change = 0, segments, segments[(3 + fibres) * CHUNK :]
    for p in range(CHUNK):
        m, i, M = mat3_at(means, p, CHUNK), mat3_at(increments, p, CHUNK), sym3_at(geometry, p, CHUNK)
        D = geometry[place(6, p)]
        _, delta, s = determinants(m, cofactors(m), i)
        z = delta / s
        ratio, _ = artanh_ratio(z)
        middle[p] = contracted(M, gram(m) + 0.25 * gram(i))
        middle[place(2, p)] = 0.5 * log(0.25 * (s - delta) * (s + delta) / (D * D))
        change[place(2, p)] = 2.0 * z * ratio
        tau[p] = 4.0 * ratio / (s * s)
        valid += abs(delta) < s
    if our.rule.shape[1] > 1:
        for p in range(CHUNK):
            X = gram_slopes(mat3_at(means, p, CHUNK), mat3_at(increments, p, CHUNK))
            change[p] = contracted(sym3_at(geometry, p, CHUNK), X)
    if our.has_i2:
        for p in range(CHUNK):
            m, i = mat3_at(means, p, CHUNK), mat3_at(increments, p, CHUNK)
            N, X, G = cofactors(sym3_at(geometry, p, CHUNK)), gram_slopes(m, i), gram(m) + 0.25 * gram(i)
            middle[place(1, p)] = contracted(N, cofactors(G) + 0.25 * cofactors(X))
            change[place(1, p)] = contracted(mixed(G, N), X)
    for f in range(fibres):
        for p in range(CHUNK):
            alpha = direction(geometry, f, p)
            v, w = alpha @ mat3_at(means, p, CHUNK), alpha @ mat3_at(increments, p, CHUNK)
            middle[place(3 + f, p)] = dot(v, v) + 0.25 * dot(w, w)
            change[place(3 + f, p)] = 2.0 * dot(v, w)
    return valid


@inlined
def _set_forces(our, chunk, means, increments, W, tau):
    """Replace the means by the forces t_a, given W̄_i; return at how many points these are finite."""
    geometry, weights, fibres = our.geometry[chunk], our.weights, our.fibres
    v = aligned(3 * fibres * CHUNK)
    for f in range(fibres):
        for p in range(CHUNK):
            set_at(v, 3 * f * CHUNK + p, CHUNK, direction(geometry, f, p) @ mat3_at(means, p, CHUNK))
    if our.has_i2:
        finite = _set_isotropic_forces(means, increments, geometry, weights, True, W, tau)
    else:
        finite = _set_isotropic_forces(means, increments, geometry, weights, False, W, tau)
    for f in range(fibres):
        for p in range(CHUNK):
            r = 2.0 * volume(weights, geometry, p) * W[place(3 + f, p)]
            t = mat3_at(means, p, CHUNK)
            set_at(means, p, CHUNK, t + outer(r * direction(geometry, f, p), vec3_at(v, 3 * f * CHUNK + p, CHUNK)))
            finite -= not abs(r) < np.inf
    return finite


@inlined
def _set_isotropic_forces(means, increments, geometry, weights, has_i2, W, tau):
    """Do so except for what concerns fibres."""
    finite = 0
    for p in range(CHUNK):
        m, i, M = mat3_at(means, p, CHUNK), mat3_at(increments, p, CHUNK), sym3_at(geometry, p, CHUNK)
        V = volume(weights, geometry, p)
        c = cofactors(m)
        G, _, H = mean_matrices(m, i)
        W1, W2, W3 = V * W[p], V * W[place(1, p)], V * W[place(2, p)]
        P = W3 * tau[p]
        S = 2.0 * W1 * M + P * H
        if has_i2:
            S = S + 2.0 * W2 * mixed(G, cofactors(M))
        set_at(means, p, CHUNK, S @ m + P * dot(m[0], c[0]) * c)
        finite += abs(W1 + W2 + W3) < np.inf
    return finite


@kernel
def add_increment_gradient(q, compensation, q1, our, out, first, last):
    """Add the discrete gradient of the chunks first … last − 1 to out [n, 3], from q to q1 [n, 3].

    With a compensation c [n, 3], which is empty otherwise, it is that from q + c to q + c + q1. The law has the first
    derivatives of W.
    """
    q, compensation, q1, out = q.ravel(), compensation.ravel(), q1.ravel(), out.ravel()
    m = 3 + our.fibres
    x, y, u = work(our), work(our), room_of_hourglasses(our)
    means, increments = aligned(9 * CHUNK), aligned(9 * CHUNK)
    segments, at, room = np.zeros(2 * m * CHUNK), aligned(m * CHUNK), room_of_ends(our.switches)
    W, averages, tau = aligned(m * CHUNK), aligned(m * CHUNK), aligned(CHUNK)
    for chunk in chunks(first, last):
        gather_increments(q, compensation, q1, our, chunk, x, y, means, increments)
        if set_segments(our, chunk, means, increments, segments, tau) < CHUNK:
            return np.nan
        average(our.law, our.parameters.ctypes.data, our.rule, our.switches, m, m, segments, room, at, W, averages)
        add_hourglasses(our, chunk, BETWEEN, 0, 0, 1.0, x, means, y, increments, u)
        if _set_forces(our, chunk, means, increments, averages, tau) < CHUNK:
            return np.nan
        scatter(means, our, chunk, x, u, out)
    return 0.0
