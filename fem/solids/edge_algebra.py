"""Vectors and symmetric matrices of one point, as tuples, so that loops over many points become vector instructions.

A deformed body has at each point three tangent vectors d_a = ∂x/∂ξ_a, the edges of a linear tetrahedron. Symmetric
3 × 3 matrices are tuples (11, 22, 33, 12, 13, 23).
"""

from __future__ import annotations

from symplex.fem.kernels import inlined

# -- vectors --------------------------------------------------------------------------------------------------


@inlined
def cross(u, v):
    return u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]


@inlined
def dot(u, v):
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]


@inlined
def times(r, v):
    return r * v[0], r * v[1], r * v[2]


@inlined
def along(u, r, v):
    """Return u + r v."""
    return u[0] + r * v[0], u[1] + r * v[1], u[2] + r * v[2]


@inlined
def combined(a, u, b, v, c, w):
    """Return a u + b v + c w."""
    return (
        a * u[0] + b * v[0] + c * w[0],
        a * u[1] + b * v[1] + c * w[1],
        a * u[2] + b * v[2] + c * w[2],
    )


@inlined
def products(d):
    """Return d_2 × d_3, d_3 × d_1 and d_1 × d_2."""
    return cross(d[1], d[2]), cross(d[2], d[0]), cross(d[0], d[1])


@inlined
def outer(u, d, v, e, w, f):
    """Return u ⊗ d + v ⊗ e + w ⊗ f by rows, one after the other."""
    return (
        u[0] * d[0] + v[0] * e[0] + w[0] * f[0],
        u[0] * d[1] + v[0] * e[1] + w[0] * f[1],
        u[0] * d[2] + v[0] * e[2] + w[0] * f[2],
        u[1] * d[0] + v[1] * e[0] + w[1] * f[0],
        u[1] * d[1] + v[1] * e[1] + w[1] * f[1],
        u[1] * d[2] + v[1] * e[2] + w[1] * f[2],
        u[2] * d[0] + v[2] * e[0] + w[2] * f[0],
        u[2] * d[1] + v[2] * e[1] + w[2] * f[1],
        u[2] * d[2] + v[2] * e[2] + w[2] * f[2],
    )


@inlined
def pair(u, d, v, e):
    """Return u ⊗ d + v ⊗ e by rows."""
    return (
        *(u[0] * d[0] + v[0] * e[0], u[0] * d[1] + v[0] * e[1], u[0] * d[2] + v[0] * e[2]),
        *(u[1] * d[0] + v[1] * e[0], u[1] * d[1] + v[1] * e[1], u[1] * d[2] + v[1] * e[2]),
        *(u[2] * d[0] + v[2] * e[0], u[2] * d[1] + v[2] * e[1], u[2] * d[2] + v[2] * e[2]),
    )


# -- symmetric matrices ---------------------------------------------------------------------------------------


@inlined
def gram(d):
    """Return d_a·d_b."""
    return dot(d[0], d[0]), dot(d[1], d[1]), dot(d[2], d[2]), dot(d[0], d[1]), dot(d[0], d[2]), dot(d[1], d[2])


@inlined
def gram_slopes(d, e):
    """Return d_a·e_b + e_a·d_b."""
    return (
        *(2.0 * dot(d[0], e[0]), 2.0 * dot(d[1], e[1]), 2.0 * dot(d[2], e[2])),
        *(dot(d[0], e[1]) + dot(d[1], e[0]), dot(d[0], e[2]) + dot(d[2], e[0]), dot(d[1], e[2]) + dot(d[2], e[1])),
    )


@inlined
def linear(a, A, b, B):
    """Return a A + b B."""
    return (
        *(a * A[0] + b * B[0], a * A[1] + b * B[1], a * A[2] + b * B[2]),
        *(a * A[3] + b * B[3], a * A[4] + b * B[4], a * A[5] + b * B[5]),
    )


@inlined
def scaled(r, A):
    """Return r A."""
    return r * A[0], r * A[1], r * A[2], r * A[3], r * A[4], r * A[5]


@inlined
def contracted(A, B):
    """Return A : B."""
    return A[0] * B[0] + A[1] * B[1] + A[2] * B[2] + 2.0 * (A[3] * B[3] + A[4] * B[4] + A[5] * B[5])


@inlined
def cofactors(A):
    return (
        *(A[1] * A[2] - A[5] * A[5], A[0] * A[2] - A[4] * A[4], A[0] * A[1] - A[3] * A[3]),
        *(A[4] * A[5] - A[3] * A[2], A[3] * A[5] - A[4] * A[1], A[3] * A[4] - A[5] * A[0]),
    )


@inlined
def mixed(A, B):
    """Return {A, B} = cof(A + B) − cof A − cof B."""
    return (
        A[1] * B[2] + A[2] * B[1] - 2.0 * A[5] * B[5],
        A[0] * B[2] + A[2] * B[0] - 2.0 * A[4] * B[4],
        A[0] * B[1] + A[1] * B[0] - 2.0 * A[3] * B[3],
        A[4] * B[5] + A[5] * B[4] - A[3] * B[2] - A[2] * B[3],
        A[3] * B[5] + A[5] * B[3] - A[4] * B[1] - A[1] * B[4],
        A[3] * B[4] + A[4] * B[3] - A[5] * B[0] - A[0] * B[5],
    )


@inlined
def applied(A, d):
    """Return Σ_b A_ab d_b for a = 1, 2, 3."""
    return (
        combined(A[0], d[0], A[3], d[1], A[4], d[2]),
        combined(A[3], d[0], A[1], d[1], A[5], d[2]),
        combined(A[4], d[0], A[5], d[1], A[2], d[2]),
    )


@inlined
def symmetric_times(D, e):
    """Return D e of six numbers, given the 21 of a symmetric D on and above its diagonal, row by row."""
    return (
        D[0] * e[0] + D[1] * e[1] + D[2] * e[2] + D[3] * e[3] + D[4] * e[4] + D[5] * e[5],
        D[1] * e[0] + D[6] * e[1] + D[7] * e[2] + D[8] * e[3] + D[9] * e[4] + D[10] * e[5],
        D[2] * e[0] + D[7] * e[1] + D[11] * e[2] + D[12] * e[3] + D[13] * e[4] + D[14] * e[5],
        D[3] * e[0] + D[8] * e[1] + D[12] * e[2] + D[15] * e[3] + D[16] * e[4] + D[17] * e[5],
        D[4] * e[0] + D[9] * e[1] + D[13] * e[2] + D[16] * e[3] + D[18] * e[4] + D[19] * e[5],
        D[5] * e[0] + D[10] * e[1] + D[14] * e[2] + D[17] * e[3] + D[19] * e[4] + D[20] * e[5],
    )


# -- between two positions ------------------------------------------------------------------------------------
# m_a are the mean tangent vectors, i_a their increments; A = mᵀm, B = iᵀi, X = mᵀi + iᵀm, so that the mean of the Gram
# matrices is G_m = A + B/4, and X their difference.


@inlined
def average_cofactors(A, B, X):
    """Return H with cof G_m + cof(X)/12 = cof A + H: H = ¼ {A + B/8, B} + cof(X)/12."""
    return linear(0.25, mixed(linear(1.0, A, 0.125, B), B), 1.0 / 12.0, cofactors(X))


@inlined
def determinants(m, c, i):
    """Return det m, and the difference δ and the sum s of the determinants at the ends; c are the `products` of m.

    δ = Σ_a c_a·i_a + ¼ det i and s = 2 det m + ½ Σ_a m_a·e_a, e the products of i.
    """
    e = products(i)
    determinant = dot(m[0], c[0])
    delta = dot(c[0], i[0]) + dot(c[1], i[1]) + dot(c[2], i[2]) + 0.25 * dot(i[0], e[0])
    total = 2.0 * determinant + 0.5 * (dot(m[0], e[0]) + dot(m[1], e[1]) + dot(m[2], e[2]))
    return determinant, delta, total
