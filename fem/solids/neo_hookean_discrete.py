"""Compiled kernels of the discrete gradient of the neo-Hookean law on linear tetrahedra, and of its tangent.

Between two positions the forces f_a = V F_m S* ∇N_a, F_m = (F0 + F1)/2, with the discrete stress (in closed form)

    S* = μ 1 + 2 w[c0, c1] K,   K = (cof C0 + 4 cof C_m + cof C1)/6,   w[c0, c1] = (w(c1) − w(c0))/(c1 − c0),

c = det C, w(c) = λ/8 ln²c − μ/2 ln c, C_m = (C0 + C1)/2, do exactly the work of the energy: c1 − c0 = K : (C1 − C0)
and C1 − C0 = 2 sym F_mᵀ(F1 − F0). As S* is symmetric, the forces keep both momenta.

As in `neo_hookean` everything is written with edges: m_a those of the mean (x0 + x1)/2, i_a their increments, which
are differences of positions of one node, so that they keep their digits when they are tiny. With Gram matrices
G = dᵀd of the edges d instead of C (cof C = E cof G Eᵀ/D², E the undeformed edges, D = det E)

    f_a = k_ab m_b + P K_ab m_b,    P = V (λ (ln J0 + ln J1)/2 − μ) · 4 A(z)/s²,    z = δ/s,  A(z) = artanh(z)/z,
    δ = det d1 − det d0 = Σ_a c_a·i_a + ¼ det i,    s = det d0 + det d1 = 2 det m + ½ Σ_a m_a·e_a,

c_a = m_(a+1) × m_(a+2), e_a = i_(a+1) × i_(a+2). Nothing is divided by an increment, and nothing changes when 0 and 1
are exchanged. K = cof G_m + cof(G1 − G0)/12, and of this the large part, cof(mᵀm), acts on m_b as det m · c_a:

    K_ab m_b = det m · c_a + H_ab m_b,    H = ¼ {A + B/8, B} + cof(X)/12,   A = mᵀm, B = iᵀi, X = G1 − G0 = mᵀi + iᵀm,

with {A, B} the bilinear form of the cofactors, cof(A + B) = cof A + {A, B} + cof B. H is of second order in i.

The tangent ∂f/∂x1 follows with T = ½ A + ⅛ B + X/12, since the derivative of K is {T, ∂G1}; it is not symmetric.
"""

from __future__ import annotations

import numpy as np

from symplex.fem.compiled.kernels import inlined, kernel
from symplex.fem.compiled.lanes import aligned
from symplex.fem.compiled.logarithm import artanh_ratio, log
from symplex.fem.compiled.vectors import cofactors, full, gram, gram_slopes, mat3_at, outer, set_at, shifted, stored
from symplex.fem.solids.chunks import CHUNK, chunks, gather_edge_increments, scatter_edges
from symplex.fem.solids.increments import PLACES, SlopeOfMixed, average_cofactors, determinants
from symplex.fem.solids.neo_hookean import constants_of, places_of
from symplex.fem.solids.tangent_blocks import BLOCK, PART, scatter_tangents

# -- one element ----------------------------------------------------------------------------------------------


@inlined
def _constants_of(geometry, e, mu):
    """Return k_ab and 1/D of an element of a chunk."""
    M, D = constants_of(geometry, e)
    return mu * D / 6.0 * M, 1.0 / D


@inlined
def _pressure(delta, s, inverse, lmbda, mu):
    """Return V (λ (ln J0 + ln J1)/2 − μ), 4/s², A(z) and A'(z)."""
    p = (lmbda * 0.5 * log(0.25 * (s - delta) * (s + delta) * inverse * inverse) - mu) / (6.0 * inverse)
    ratio, slope = artanh_ratio(delta / s)
    return p, 4.0 / (s * s), ratio, slope


@inlined
def _forces(m, i, k, inverse, lmbda, mu):
    """Return whether det d0 and det d1 are positive, and f."""
    c = cofactors(m)
    H = average_cofactors(gram(m), gram(i), gram_slopes(m, i))
    determinant, delta, s = determinants(m, c, i)
    p, r, ratio, _ = _pressure(delta, s, inverse, lmbda, mu)
    P = p * r * ratio
    return abs(delta) < s, (k + P * H) @ m + P * determinant * c


@inlined
def _set_tangent(m, i, k, inverse, lmbda, mu, tangents, place):
    """Set the blocks ∂f_a/∂x1_b for a, b = 1, 2, 3; return whether det d0 and det d1 are positive."""
    c = cofactors(m)
    determinant, delta, s = determinants(m, c, i)
    p, r, ratio, slope = _pressure(delta, s, inverse, lmbda, mu)
    # z = δ/s: ∂z/∂(det d1) = 2 det d0/s², and ∂ ln J/∂(det d1) = 1/det d1
    z_slope = (s - delta) / (s * s)
    P_slope = r * (lmbda * ratio / (6.0 * inverse * (s + delta)) + p * (slope * z_slope - 2.0 * ratio / s))
    _set_blocks(tangents, place, PART, m, i, c, k, determinant, p * r * ratio, P_slope)
    return abs(delta) < s


@stored
def _set_blocks(m, i, c, k, determinant, P, P_slope):
    """Set the blocks (½ k_ab + ½ P K_ab) 1 + ∂P/∂(det d1) Φ_a ⊗ c1_b + Z_ab.

    Φ_a = K_ab m_b, and Z is the slope of {P T, G1}.
    """
    A, E, X = gram(m), gram(i), gram_slopes(m, i)
    H = average_cofactors(A, E, X)
    u = H @ m + determinant * c
    d = m + 0.5 * i
    Z = SlopeOfMixed(P * (0.5 * (A + 0.25 * E) + 1.0 / 12.0 * X), m, d)
    g = P_slope * cofactors(d)
    D = full(0.5 * k + 0.5 * P * (gram(c) + H))
    for a, b in PLACES:
        yield shifted(Z.added(Z.products(a, b) + outer(u[a], g[b]), a, b), D[a][b])


# -- chunks of elements -------------------------------------------------------------------------------------------
# They return nan if an element is inverted, and what they set or add is then meaningless; else a finite number.


@kernel
def add_increment_gradient(q, compensation, q1, our, out, first, last):
    """Add the discrete gradient of the chunks first … last − 1 to out [n, 3], from q to q1 [n, 3].

    With a compensation c [n, 3], which is empty otherwise, it is that from q + c to q + c + q1.
    """
    q, compensation, q1, out, lmbda, mu = q.ravel(), compensation.ravel(), q1.ravel(), out.ravel(), our.lmbda, our.mu
    means, increments = aligned(9 * CHUNK), aligned(9 * CHUNK)
    for chunk in chunks(first, last):
        constants, places, valid = our.geometry[chunk], places_of(our.counts[chunk]), 0
        gather_edge_increments(q, compensation, q1, our, chunk, places, means, increments)
        for e in range(places):
            m, i = mat3_at(means, e, CHUNK), mat3_at(increments, e, CHUNK)
            good, f = _forces(m, i, *_constants_of(constants, e, mu), lmbda, mu)
            set_at(means, e, CHUNK, f)
            valid += good
        if valid < places:
            return np.nan
        scatter_edges(means, our, chunk, out)
    return 0.0


@kernel
def add_discrete_hessian(q0, q1, our, slots, out, first, last):
    """Add the tangent of the chunks first … last − 1 from q0 to q1 [n, 3] to out [nnz, 3, 3].

    The block of the nodes a and b of element e goes to ``out[slots[e, a, b]]``.
    """
    q0, q1, out, lmbda, mu = q0.ravel(), q1.ravel(), out.ravel(), our.lmbda, our.mu
    means, increments = aligned(9 * CHUNK), aligned(9 * CHUNK)
    tangents = aligned(9 * BLOCK)
    for chunk in chunks(first, last):
        constants, places, valid = our.geometry[chunk], places_of(our.counts[chunk]), 0
        gather_edge_increments(q0, q0[:0], q1, our, chunk, places, means, increments)
        for start in range(0, places, PART):
            for j in range(min(PART, places - start)):
                e = start + j
                m, i = mat3_at(means, e, CHUNK), mat3_at(increments, e, CHUNK)
                valid += _set_tangent(m, i, *_constants_of(constants, e, mu), lmbda, mu, tangents, j)
            scatter_tangents(tangents, tangents, False, our, chunk, start, slots, out)
        if valid < places:
            return np.nan
    return 0.0
