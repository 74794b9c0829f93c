"""Secant matrices of linear neo-Hookean tetrahedra, and their rates: compiled kernels.

In the notation of `symplex.fem.solids.neo_hookean`, with w_a = v_a − v_0 the edges of the velocities,

    𝓕_ab  = k_ab + V p Γ_ab,    p = λ ln J − μ,    Γ_ab = g_a·g_b,
    𝓕̇_ab = V (λ tr Ω Γ_ab − p (Ω Γ + (Ω Γ)ᵀ)_ab),    Ω_ac = g_a·w_c,

for a, b = 1, 2, 3, and whatever concerns node 0 is minus the sum of the others. This is V ∇N_a·S ∇N_b, because
Γ_ab = ∇N_a·C⁻¹ ∇N_b, and its derivative, because ġ_a = −Σ_c Ω_ac g_c and d(ln J)/dt = tr Ω. (That it is the secant form
of the gradient, Σ_b 𝓕_ab d_b = ∂φ/∂x_a, is Σ_b Γ_ab d_b = g_a.)

Symmetric matrices are tuples (11, 22, 33, 12, 13, 23).
"""

from __future__ import annotations

import numpy as np

from symplex.fem.blocks import SIZE
from symplex.fem.kernels import inlined, kernel
from symplex.fem.logarithm import log
from symplex.fem.solids.neo_hookean import column, cross, dot, edges, gather, row, vectors

# -- one element ----------------------------------------------------------------------------------------------


@inlined
def _products(d1, d2, d3):
    """Return J D, 1/(J D), and c_1, c_2, c_3 = J D g_a."""
    c1, c2, c3 = cross(d2, d3), cross(d3, d1), cross(d1, d2)
    determinant = dot(d1, c1)
    return determinant, 1.0 / determinant, c1, c2, c3


@inlined
def _secant(d1, d2, d3, k, lmbda, mu):
    """Return J and 𝓕."""
    determinant, r, c1, c2, c3 = _products(d1, d2, d3)
    J = determinant * k[6]
    s = (lmbda * log(J) - mu) / (6.0 * k[6]) * r * r  # V p Γ_ab = s c_a·c_b
    return (
        J,
        k[0] + s * dot(c1, c1),
        k[1] + s * dot(c2, c2),
        k[2] + s * dot(c3, c3),
        k[3] + s * dot(c1, c2),
        k[4] + s * dot(c1, c3),
        k[5] + s * dot(c2, c3),
    )


@inlined
def _secant_rate(d1, d2, d3, w1, w2, w3, k, lmbda, mu):
    """Return J and 𝓕̇."""
    determinant, r, c1, c2, c3 = _products(d1, d2, d3)
    J = determinant * k[6]
    s = r * r * r / (6.0 * k[6])
    u = (lmbda * log(J) - mu) * s
    # Ω and Γ without their factors r and r²
    O1, O2, O3 = _against(c1, w1, w2, w3), _against(c2, w1, w2, w3), _against(c3, w1, w2, w3)
    C1, C2, C3 = _against(c1, c1, c2, c3), _against(c2, c1, c2, c3), _against(c3, c1, c2, c3)
    t = lmbda * (O1[0] + O2[1] + O3[2]) * s
    return (
        J,
        t * C1[0] - 2.0 * u * dot(O1, C1),
        t * C2[1] - 2.0 * u * dot(O2, C2),
        t * C3[2] - 2.0 * u * dot(O3, C3),
        t * C1[1] - u * (dot(O1, C2) + dot(O2, C1)),
        t * C1[2] - u * (dot(O1, C3) + dot(O3, C1)),
        t * C2[2] - u * (dot(O2, C3) + dot(O3, C2)),
    )


@inlined
def _against(u, v1, v2, v3):
    """Return u·v_1, u·v_2 and u·v_3."""
    return dot(u, v1), dot(u, v2), dot(u, v3)


@inlined
def _set_matrix(out, e, F):
    """Set out[e, a, b] for all four nodes."""
    s1, s2, s3 = F[0] + F[3] + F[4], F[3] + F[1] + F[5], F[4] + F[5] + F[2]
    out[e, 0, 0] = s1 + s2 + s3
    out[e, 0, 1] = out[e, 1, 0] = -s1
    out[e, 0, 2] = out[e, 2, 0] = -s2
    out[e, 0, 3] = out[e, 3, 0] = -s3
    out[e, 1, 1], out[e, 2, 2], out[e, 3, 3] = F[0], F[1], F[2]
    out[e, 1, 2] = out[e, 2, 1] = F[3]
    out[e, 1, 3] = out[e, 3, 1] = F[4]
    out[e, 2, 3] = out[e, 3, 2] = F[5]


# -- all elements, at gathered positions ------------------------------------------------------------------------


@kernel
def secant(x, k, lmbda, mu, out):
    """Set 𝓕 out [m, 4, 4] at x [m, 4, 3] given the constants k [m, 7]; return the first inverted element or −1."""
    inverted = -1
    for e in range(len(x)):
        d1, d2, d3 = edges(x, e)
        F = _secant(d1, d2, d3, row(k, e), lmbda, mu)
        _set_matrix(out, e, F[1:])
        if not F[0] > 0.0 and inverted < 0:
            inverted = e
    return inverted


@kernel
def secant_rate(x, k, lmbda, mu, v, out):
    """Set 𝓕̇ out [m, 4, 4] at x along v [m, 4, 3], as `secant`."""
    inverted = -1
    for e in range(len(x)):
        d1, d2, d3 = edges(x, e)
        w1, w2, w3 = edges(v, e)
        F = _secant_rate(d1, d2, d3, w1, w2, w3, row(k, e), lmbda, mu)
        _set_matrix(out, e, F[1:])
        if not F[0] > 0.0 and inverted < 0:
            inverted = e
    return inverted


# -- blocks of elements -------------------------------------------------------------------------------------------
# They return nan if an element is inverted, and what they add is then meaningless; else a finite number.


@inlined
def _set_rows(work, e, F):
    """Set rows 0–5 of work to the six numbers F[1:]."""
    work[e], work[SIZE + e], work[2 * SIZE + e] = F[1], F[2], F[3]
    work[3 * SIZE + e], work[4 * SIZE + e], work[5 * SIZE + e] = F[4], F[5], F[6]


@inlined
def _scatter(work, elements, n, slots, out):
    """Add the matrices in rows 0–5 of work to the values out, and what concerns node 0."""
    for e in range(n):
        to = slots[elements[e]]
        F1, F2, F3 = work[e], work[SIZE + e], work[2 * SIZE + e]
        F12, F13, F23 = work[3 * SIZE + e], work[4 * SIZE + e], work[5 * SIZE + e]
        s1, s2, s3 = F1 + F12 + F13, F12 + F2 + F23, F13 + F23 + F3
        out[np.uint64(to[0, 0])] += s1 + s2 + s3
        out[np.uint64(to[0, 1])] -= s1
        out[np.uint64(to[0, 2])] -= s2
        out[np.uint64(to[0, 3])] -= s3
        out[np.uint64(to[1, 0])] -= s1
        out[np.uint64(to[1, 1])] += F1
        out[np.uint64(to[1, 2])] += F12
        out[np.uint64(to[1, 3])] += F13
        out[np.uint64(to[2, 0])] -= s2
        out[np.uint64(to[2, 1])] += F12
        out[np.uint64(to[2, 2])] += F2
        out[np.uint64(to[2, 3])] += F23
        out[np.uint64(to[3, 0])] -= s3
        out[np.uint64(to[3, 1])] += F13
        out[np.uint64(to[3, 2])] += F23
        out[np.uint64(to[3, 3])] += F3


@kernel
def add_secant(q, nodes, counts, k, lmbda, mu, elements, slots, out, first, last):
    """Add 𝓕 of the blocks first … last − 1 at q [n, 3] to the values out [nnz].

    What couples the nodes a and b of element e goes to ``out[slots[e, a, b]]``; ``elements`` names the elements.
    """
    q = q.ravel()
    work = np.empty(9 * SIZE)
    for block in range(first, last):
        n = counts[block]
        constants, upright = k[block], 0
        gather(q, nodes[block], n, work, constants)
        for e in range(n):
            d1, d2, d3 = vectors(work, e)
            F = _secant(d1, d2, d3, column(constants, e), lmbda, mu)
            _set_rows(work, e, F)
            upright += F[0] > 0.0
        if upright < n:
            return np.nan
        _scatter(work, elements[block * SIZE :], n, slots, out)
    return 0.0


@kernel
def add_secant_rate(q, nodes, counts, k, lmbda, mu, v, elements, slots, out, first, last):
    """Add 𝓕̇ of the blocks first … last − 1 at q along v [n, 3] to the values out [nnz], as `add_secant`."""
    q, v = q.ravel(), v.ravel()
    work, rates = np.empty(9 * SIZE), np.empty(9 * SIZE)
    for block in range(first, last):
        n = counts[block]
        constants, upright = k[block], 0
        gather(q, nodes[block], n, work, constants)
        gather(v, nodes[block], n, rates, constants)
        for e in range(n):
            d1, d2, d3 = vectors(work, e)
            w1, w2, w3 = vectors(rates, e)
            F = _secant_rate(d1, d2, d3, w1, w2, w3, column(constants, e), lmbda, mu)
            _set_rows(work, e, F)
            upright += F[0] > 0.0
        if upright < n:
            return np.nan
        _scatter(work, elements[block * SIZE :], n, slots, out)
    return 0.0
