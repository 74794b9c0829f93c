"""Compiled kernels of the compressible neo-Hookean law on linear tetrahedra.

With deformed edges d_a = x_a − x_0 the shear part of the energy is quadratic in the edges, and the volumetric part
is a function of their determinant alone. With k_ab = μ V ∇N_a·∇N_b (constant), D = 6 V the undeformed determinant,
c_1 = d_2 × d_3 and cyclic, J = d_1·c_1 / D, and the deformed shape gradients g_a = F⁻ᵀ ∇N_a = c_a / (J D):

    φ            = ½ k_ab d_a·d_b − 3/2 μ V + V (λ/2 ln²J − μ ln J)
    ∂φ/∂x_a      = k_ab d_b + V (λ ln J − μ) g_a
    ∂²φ/∂x_a∂x_b = k_ab 1 + V (λ g_a ⊗ g_b + (μ − λ ln J) g_b ⊗ g_a)

for a, b = 1, 2, 3, and whatever concerns node 0 is minus the sum of the others. It is F S ∇N_a with
S = λ ln J C⁻¹ + μ (1 − C⁻¹) (Gonzalez, Schmidt and Ortiz, eq. 74), because Σ_b (∇N_a·∇N_b) d_b = F ∇N_a.

All kernels return the index of the first element with det F ≤ 0 (or not a number), or −1; its results are zero.
"""

from __future__ import annotations

from math import log

import numpy as np
from numba import njit


@njit(cache=True)
def _edges(x, d):
    """Set d_a = x_a − x_0 [3, 3] of one tetrahedron x [4, 3]."""
    for a in range(3):
        for i in range(3):
            d[a, i] = x[a + 1, i] - x[0, i]


@njit(cache=True)
def _cofactors(d, c):
    """Set c_1 = d_2 × d_3 and cyclic, and return the determinant d_1·c_1."""
    for a in range(3):
        u, v = d[(a + 1) % 3], d[(a + 2) % 3]
        c[a, 0] = u[1] * v[2] - u[2] * v[1]
        c[a, 1] = u[2] * v[0] - u[0] * v[2]
        c[a, 2] = u[0] * v[1] - u[1] * v[0]
    return d[0, 0] * c[0, 0] + d[0, 1] * c[0, 1] + d[0, 2] * c[0, 2]


@njit(cache=True)
def value(x, k, D, lmbda, mu, out):
    """Set the energies out [m] at the positions x [m, 4, 3], given k [m, 3, 3] and D [m]."""
    d, c = np.empty((3, 3)), np.empty((3, 3))
    bad = -1
    for e in range(len(x)):
        _edges(x[e], d)
        J = _cofactors(d, c) / D[e]
        out[e] = 0.0
        if not J > 0.0:
            bad = e if bad < 0 else bad
            continue
        lnJ, V = log(J), D[e] / 6.0
        shear = -3.0 * mu * V
        for a in range(3):
            for b in range(3):
                shear += k[e, a, b] * (d[a, 0] * d[b, 0] + d[a, 1] * d[b, 1] + d[a, 2] * d[b, 2])
        out[e] = 0.5 * shear + V * (0.5 * lmbda * lnJ - mu) * lnJ
    return bad


@njit(cache=True)
def gradient(x, k, D, lmbda, mu, out):
    """Set the gradients out [m, 4, 3] at the positions x [m, 4, 3], given k [m, 3, 3] and D [m]."""
    d, c = np.empty((3, 3)), np.empty((3, 3))
    bad = -1
    for e in range(len(x)):
        _edges(x[e], d)
        J = _cofactors(d, c) / D[e]
        out[e] = 0.0
        if not J > 0.0:
            bad = e if bad < 0 else bad
            continue
        p = (lmbda * log(J) - mu) / (6.0 * J)  # V (λ ln J − μ) g_a = p c_a
        for a in range(3):
            for i in range(3):
                f = k[e, a, 0] * d[0, i] + k[e, a, 1] * d[1, i] + k[e, a, 2] * d[2, i] + p * c[a, i]
                out[e, a + 1, i] = f
                out[e, 0, i] -= f
    return bad


@njit(cache=True)
def hessian(x, k, D, lmbda, mu, out):
    """Set the Hessians out [m, 12, 12] at the positions x [m, 4, 3], given k [m, 3, 3] and D [m]."""
    d, c = np.empty((3, 3)), np.empty((3, 3))
    g, k4 = np.empty((4, 3)), np.empty((4, 4))
    bad = -1
    for e in range(len(x)):
        _edges(x[e], d)
        J = _cofactors(d, c) / D[e]
        out[e] = 0.0
        if not J > 0.0:
            bad = e if bad < 0 else bad
            continue
        g[1:] = c / (J * D[e])
        g[0] = -(g[1] + g[2] + g[3])
        k4[1:, 1:] = k[e]
        k4[0, 1:] = -(k[e, 0] + k[e, 1] + k[e, 2])
        k4[1:, 0] = k4[0, 1:]
        k4[0, 0] = -(k4[0, 1] + k4[0, 2] + k4[0, 3])
        l1 = lmbda * D[e] / 6.0
        l2 = (mu - lmbda * log(J)) * D[e] / 6.0
        for a in range(4):
            for b in range(4):
                for i in range(3):
                    out[e, 3 * a + i, 3 * b + i] = k4[a, b]
                    for j in range(3):
                        out[e, 3 * a + i, 3 * b + j] += l1 * g[a, i] * g[b, j] + l2 * g[b, i] * g[a, j]
    return bad


@njit(cache=True)
def add_gradient(q, nodes, k, D, lmbda, mu, out):
    """Add the gradient at the nodal positions q [n, 3] to out [n, 3]."""
    x, f = np.empty((1, 4, 3)), np.empty((1, 4, 3))
    bad = -1
    for e in range(len(nodes)):
        for a in range(4):
            for i in range(3):
                x[0, a, i] = q[nodes[e, a], i]
        if gradient(x, k[e : e + 1], D[e : e + 1], lmbda, mu, f) == 0 and bad < 0:
            bad = e
        for a in range(4):
            for i in range(3):
                out[nodes[e, a], i] += f[0, a, i]
    return bad
