"""Compiled kernels of the third derivative of the neo-Hookean energy on linear tetrahedra.

With P = μ F + l F⁻ᵀ, l = λ ln J − μ, the spatial shape gradients g_a = F⁻ᵀ ∇N_a and the spatial gradient of the
direction, L = Σ_b a_b ⊗ g_b, the derivatives along a are l' = λ tr L, l'' = −λ tr L², (F⁻ᵀ)' = −Lᵀ F⁻ᵀ and
(F⁻ᵀ)'' = 2 (Lᵀ)² F⁻ᵀ, so that

    ∇³φ[a, a]_a = V (−λ tr(L²) g_a − 2 λ tr L Lᵀ g_a + 2 l (Lᵀ)² g_a),    a = 1, 2, 3,

and minus their sum for node 0. The shear part of the energy is quadratic in x and has none.
"""

from __future__ import annotations

import numpy as np

from symplex.fem.blocks import SIZE
from symplex.fem.kernels import inlined, kernel
from symplex.fem.logarithm import log
from symplex.fem.solids.neo_hookean import (
    column,
    cross,
    dot,
    edges,
    gather,
    row,
    scatter,
    set_vectors,
    vectors,
)


@inlined
def _transposed_product(g, b, v):
    """Return Lᵀ v for L = Σ_k b_k ⊗ g_k."""
    s1, s2, s3 = dot(b[0], v), dot(b[1], v), dot(b[2], v)
    return (
        g[0][0] * s1 + g[1][0] * s2 + g[2][0] * s3,
        g[0][1] * s1 + g[1][1] * s2 + g[2][1] * s3,
        g[0][2] * s1 + g[1][2] * s2 + g[2][2] * s3,
    )


@inlined
def _of_node(g_a, g, b, identity, once, twice):
    """Return (identity + once · Lᵀ + twice · (Lᵀ)²) g_a."""
    u = _transposed_product(g, b, g_a)
    w = _transposed_product(g, b, u)
    return (
        identity * g_a[0] + once * u[0] + twice * w[0],
        identity * g_a[1] + once * u[1] + twice * w[1],
        identity * g_a[2] + once * u[2] + twice * w[2],
    )


@inlined
def _third(d1, d2, d3, b1, b2, b3, k, lmbda, mu):
    """Return J and ∇³φ[a, a] of the nodes 1, 2 and 3 for edges d and their directions b."""
    c1, c2, c3 = cross(d2, d3), cross(d3, d1), cross(d1, d2)
    determinant = dot(d1, c1)
    J, r = determinant * k[6], 1.0 / determinant
    g1, g2, g3 = (r * c1[0], r * c1[1], r * c1[2]), (r * c2[0], r * c2[1], r * c2[2]), (r * c3[0], r * c3[1], r * c3[2])
    g, b = (g1, g2, g3), (b1, b2, b3)
    # tr L = Σ b_k·g_k and tr L² = Σ_kl (b_k·g_l)(b_l·g_k)
    p12, p13, p23 = dot(b1, g2) * dot(b2, g1), dot(b1, g3) * dot(b3, g1), dot(b2, g3) * dot(b3, g2)
    s1, s2, s3 = dot(b1, g1), dot(b2, g2), dot(b3, g3)
    V = 1.0 / (6.0 * k[6])
    identity = -lmbda * V * (s1 * s1 + s2 * s2 + s3 * s3 + 2.0 * (p12 + p13 + p23))
    once, twice = -2.0 * lmbda * V * (s1 + s2 + s3), 2.0 * V * (lmbda * log(J) - mu)
    return (
        J,
        _of_node(g1, g, b, identity, once, twice),
        _of_node(g2, g, b, identity, once, twice),
        _of_node(g3, g, b, identity, once, twice),
    )


@kernel
def third(x, k, lmbda, mu, a, out):
    """Set out [m, 4, 3] to ∇³φ[a, a] at x [m, 4, 3]; return the first inverted element or −1."""
    inverted = -1
    for e in range(len(x)):
        d1, d2, d3 = edges(x, e)
        b1, b2, b3 = edges(a, e)
        J, f1, f2, f3 = _third(d1, d2, d3, b1, b2, b3, row(k, e), lmbda, mu)
        for i in range(3):
            out[e, 0, i] = -(f1[i] + f2[i] + f3[i])
            out[e, 1, i], out[e, 2, i], out[e, 3, i] = f1[i], f2[i], f3[i]
        if not J > 0.0 and inverted < 0:
            inverted = e
    return inverted


@kernel
def add_third(q, nodes, counts, k, lmbda, mu, a, out, first, last):
    """Add ∇³V[a, a] of the blocks first … last − 1 at q [n, 3] to out [n, 3]; nan if an element is inverted."""
    q, a, out = q.ravel(), a.ravel(), out.ravel()
    work, directions = np.empty(9 * SIZE), np.empty(9 * SIZE)
    for block in range(first, last):
        n = counts[block]
        constants, upright = k[block], 0
        gather(q, nodes[block], n, work, constants)
        gather(a, nodes[block], n, directions, constants)
        for e in range(n):
            d1, d2, d3 = vectors(work, e)
            b1, b2, b3 = vectors(directions, e)
            J, f1, f2, f3 = _third(d1, d2, d3, b1, b2, b3, column(constants, e), lmbda, mu)
            set_vectors(work, e, f1, f2, f3)
            upright += J > 0.0
        if upright < n:
            return np.nan
        scatter(work, nodes[block], n, out)
    return 0.0
