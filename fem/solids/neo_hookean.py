"""Compiled kernels of the compressible neo-Hookean law on linear tetrahedra.

With deformed edges d_a = x_a − x_0 the shear part of the energy is quadratic in the edges, and the volumetric part
is a function of their determinant alone. With k_ab = μ V ∇N_a·∇N_b (constant), D = 6 V the undeformed determinant,
c_1 = d_2 × d_3 and cyclic, J = d_1·c_1 / D, and the deformed shape gradients g_a = F⁻ᵀ ∇N_a = c_a / (J D):

    φ            = ½ k_ab d_a·d_b − 3/2 μ V + V (λ/2 ln²J − μ ln J)
    ∂φ/∂x_a      = k_ab d_b + V (λ ln J − μ) g_a
    ∂²φ/∂x_a∂x_b = k_ab 1 + V (λ g_a ⊗ g_b + (μ − λ ln J) g_b ⊗ g_a)

for a, b = 1, 2, 3, and whatever concerns node 0 is minus the sum of the others. It is F S ∇N_a with
S = λ ln J C⁻¹ + μ (1 − C⁻¹) (Gonzalez, Schmidt and Ortiz, eq. 74), because Σ_b (∇N_a·∇N_b) d_b = F ∇N_a.

The constants of an element are k_11, k_22, k_33, k_12, k_13, k_23 and 1/D. Kernels for assembly work on blocks of
elements (see `symplex.fem.blocks`) and vectors are tuples, so that the arithmetic vectorises over the elements.
Where det F ≤ 0 (or is not a number) results are meaningless, and kernels say so by what they return.
"""

from __future__ import annotations

import numpy as np

from symplex.fem.blocks import SIZE
from symplex.fem.kernels import inlined, kernel
from symplex.fem.logarithm import log
from symplex.fem.solids.chunks import NINE, gather_edges, scatter_edges, set_vectors, vectors
from symplex.fem.solids.edge_algebra import cross, dot

CONSTANTS = 7


# -- one element ----------------------------------------------------------------------------------------------


@inlined
def _sum(a, u, b, v, c, w, d, y):
    """Return a u + b v + c w + d y."""
    return (
        a * u[0] + b * v[0] + c * w[0] + d * y[0],
        a * u[1] + b * v[1] + c * w[1] + d * y[1],
        a * u[2] + b * v[2] + c * w[2] + d * y[2],
    )


@inlined
def _energy(d1, d2, d3, k, lmbda, mu):
    """Return J and φ."""
    J = dot(d1, cross(d2, d3)) * k[6]
    lnJ = log(J)
    squares = k[0] * dot(d1, d1) + k[1] * dot(d2, d2) + k[2] * dot(d3, d3)
    products = k[3] * dot(d1, d2) + k[4] * dot(d1, d3) + k[5] * dot(d2, d3)
    return J, 0.5 * squares + products + ((0.5 * lmbda * lnJ - mu) * lnJ - 1.5 * mu) / (6.0 * k[6])


@inlined
def forces(d1, d2, d3, k, lmbda, mu):
    """Return J and ∂φ/∂x_1, ∂φ/∂x_2, ∂φ/∂x_3."""
    c1, c2, c3 = cross(d2, d3), cross(d3, d1), cross(d1, d2)
    J = dot(d1, c1) * k[6]
    p = (lmbda * log(J) - mu) / (6.0 * J)  # V (λ ln J − μ) g_a = p c_a
    f1 = _sum(k[0], d1, k[3], d2, k[4], d3, p, c1)
    f2 = _sum(k[3], d1, k[1], d2, k[5], d3, p, c2)
    f3 = _sum(k[4], d1, k[5], d2, k[2], d3, p, c3)
    return J, f1, f2, f3


@inlined
def spatial_gradients(d1, d2, d3, k, lmbda):
    """Return J, V λ ln J and g_1, g_2, g_3."""
    c1, c2, c3 = cross(d2, d3), cross(d3, d1), cross(d1, d2)
    determinant = dot(d1, c1)
    J = determinant * k[6]
    r = 1.0 / determinant
    g1, g2, g3 = (r * c1[0], r * c1[1], r * c1[2]), (r * c2[0], r * c2[1], r * c2[2]), (r * c3[0], r * c3[1], r * c3[2])
    return J, lmbda * log(J) / (6.0 * k[6]), g1, g2, g3


@inlined
def of_four_nodes(g1, g2, g3, k):
    """Return g_a and the rows of k_ab of all four nodes."""
    g0 = -(g1[0] + g2[0] + g3[0]), -(g1[1] + g2[1] + g3[1]), -(g1[2] + g2[2] + g3[2])
    k01, k02, k03 = -(k[0] + k[3] + k[4]), -(k[3] + k[1] + k[5]), -(k[4] + k[5] + k[2])
    row0, row1 = (-(k01 + k02 + k03), k01, k02, k03), (k01, k[0], k[3], k[4])
    row2, row3 = (k02, k[3], k[1], k[5]), (k03, k[4], k[5], k[2])
    return (g0, g1, g2, g3), (row0, row1, row2, row3)


@inlined
def _block(alpha, beta, k_ab, g, h):
    """Return k_ab 1 + α g ⊗ h + β h ⊗ g by rows."""
    u, v = (alpha * g[0], alpha * g[1], alpha * g[2]), (beta * h[0], beta * h[1], beta * h[2])
    return (
        (u[0] * h[0] + v[0] * g[0] + k_ab, u[0] * h[1] + v[0] * g[1], u[0] * h[2] + v[0] * g[2]),
        (u[1] * h[0] + v[1] * g[0], u[1] * h[1] + v[1] * g[1] + k_ab, u[1] * h[2] + v[1] * g[2]),
        (u[2] * h[0] + v[2] * g[0], u[2] * h[1] + v[2] * g[1], u[2] * h[2] + v[2] * g[2] + k_ab),
    )


# -- blocks of elements -------------------------------------------------------------------------------------------
# They return nan if an element is inverted, and what they set or add is then meaningless; else a finite number.


@inlined
def column(k, e):
    return (
        *(k[e], k[SIZE + e], k[2 * SIZE + e]),
        *(k[3 * SIZE + e], k[4 * SIZE + e], k[5 * SIZE + e], k[6 * SIZE + e]),
    )


@kernel
def set_constants(points, nodes, counts, mu, out):
    """Set the constants out [blocks, 7 · SIZE] of the elements of blocks, undeformed on points [n, 3].

    The places of a block that isn't full stay as they are.
    """
    x = points.ravel()
    work = np.empty(9 * SIZE)
    for block in range(len(nodes)):
        k = out[block]
        gather_edges(x, nodes[block], counts[block], k, work)
        for e in range(counts[block]):
            e1, e2, e3 = vectors(work, e)
            c1, c2, c3 = cross(e2, e3), cross(e3, e1), cross(e1, e2)
            D = dot(e1, c1)
            r = mu / (6.0 * D)  # μ V ∇N_a·∇N_b = μ (D/6) (c_a/D)·(c_b/D)
            _set_three(k, e, (r * dot(c1, c1), r * dot(c2, c2), r * dot(c3, c3)))
            _set_three(k, e + 3 * SIZE, (r * dot(c1, c2), r * dot(c1, c3), r * dot(c2, c3)))
            k[6 * SIZE + e] = 1.0 / D


@inlined
def _set_three(k, e, three):
    """Set three constants of an element, a row after the other."""
    k[e], k[SIZE + e], k[2 * SIZE + e] = three


@kernel
def add_gradient(q, nodes, counts, k, lmbda, mu, out, first, last):
    """Add the gradient of the blocks first … last − 1 at q [n, 3] to out [n, 3]."""
    q, out = q.ravel(), out.ravel()
    work = np.empty(9 * SIZE)
    for block in range(first, last):
        n = counts[block]
        constants, valid = k[block], 0
        gather_edges(q, nodes[block], n, constants, work)
        for e in range(n):
            d1, d2, d3 = vectors(work, e)
            J, f1, f2, f3 = forces(d1, d2, d3, column(constants, e), lmbda, mu)
            set_vectors(work, e, (f1, f2, f3))
            valid += J > 0.0
        if valid < n:
            return np.nan
        scatter_edges(work, nodes[block], n, out)
    return 0.0


@kernel
def set_energies(q, nodes, counts, k, lmbda, mu, elements, out, first, last):
    """Set the energies [m] of the elements of the blocks first … last − 1 at q [n, 3]; ``elements`` names them."""
    q = q.ravel()
    work = np.empty(9 * SIZE)
    for block in range(first, last):
        n = counts[block]
        constants, valid = k[block], 0
        gather_edges(q, nodes[block], n, constants, work)
        for e in range(n):
            d1, d2, d3 = vectors(work, e)
            J, work[e] = _energy(d1, d2, d3, column(constants, e), lmbda, mu)
            valid += J > 0.0
        if valid < n:
            return np.nan
        for e in range(n):
            out[elements[block * SIZE + e]] = work[e]
    return 0.0


@kernel
def add_hessian(q, nodes, counts, k, lmbda, mu, elements, slots, out, first, last):
    """Add the Hessian of the blocks first … last − 1 at q [n, 3] to out [nnz, 3, 3].

    The block of the nodes a and b of element e goes to ``out[slots[e, a, b]]``; ``elements`` names the elements.
    """
    q, out = q.ravel(), out.ravel()
    work, lV = np.empty(9 * SIZE), np.empty(SIZE)
    for block in range(first, last):
        n = counts[block]
        constants, valid = k[block], 0
        gather_edges(q, nodes[block], n, constants, work)
        for e in range(n):
            d1, d2, d3 = vectors(work, e)
            J, lV[e], g1, g2, g3 = spatial_gradients(d1, d2, d3, column(constants, e), lmbda)
            set_vectors(work, e, (g1, g2, g3))
            valid += J > 0.0
        if valid < n:
            return np.nan
        for e in range(n):
            k_e = column(constants, e)
            g, stiffness = of_four_nodes(*vectors(work, e), k_e)
            V = 1.0 / (6.0 * k_e[6])
            alpha, beta = V * lmbda, V * mu - lV[e]
            to = slots[elements[block * SIZE + e]]
            for a in range(4):
                for b in range(a + 1):
                    h = _block(alpha, beta, stiffness[a][b], g[a], g[b])
                    start = NINE * np.uint64(to[a, b])
                    for i in range(3):
                        for j in range(3):
                            out[start + np.uint64(3 * i + j)] += h[i][j]
                    if b < a:  # the transposed block
                        start = NINE * np.uint64(to[b, a])
                        for i in range(3):
                            for j in range(3):
                                out[start + np.uint64(3 * i + j)] += h[j][i]
    return 0.0
