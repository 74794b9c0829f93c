"""The hourglass energy of hexahedra of one point as C functions of a chunk: quartic in the positions.

With the tangent vectors d_i = Σ_a β_ai x_a of the mean deformation and, for the four patterns h_α = ηζ, ζξ, ξη, ξηζ at
the nodes, the vectors g_α = Σ_a γ_αa x_a that vanish in affine motions, γ_αa = ⅛ (h_αa − Σ_i s_αi β_ai), the energy is

    φ = ½ Q·K Q,    Q_αi = d_i·g_α.

K takes the strains (Q_kj, Q_jk, Q_jj + Q_kk) that vary with ξ_m, for (m, j, k) = (1, 2, 3), (2, 1, 3), (3, 1, 2), by
a matrix of 3 × 3 each, and Q_4i by one number each (`symplex.fem.solids.hourglass`). With T = K Q

    f_a = Σ_αi T_αi (γ_αa d_i + β_ai g_α),    ∂Q_αi/∂x_a = γ_αa d_i + β_ai g_α,
    𝓕_ab = Σ_αi T_αi (γ_αa β_bi + β_ai γ_αb),    ∂²φ = (∂Q)ᵀ K (∂Q) + 𝓕 1.

Q is a scalar product, so that its mean T̄ = K (Q⁰ + Q¹)/2 does the work T̄·(Q¹ − Q⁰) at the mean vectors: the discrete
gradient takes T̄, d and g at the mean positions, and is the gradient at mean strains as well. Its tangent is half of
(∂Q)(mean)ᵀ K (∂Q)(end) + 𝓕 1. Where the law is not objective the d_i are the undeformed ones: Q is linear, and φ
quadratic.

The loops of a law gather the nodes and tangent vectors of a chunk, call one of these by its address, and add up what it
gives together with what the law gives: nothing is gathered or added twice, and no loop is compiled for hexahedra alone.
All take ``(kind, frozen, start, factor, rows, x, d, y, e, out)``:

kind : int
    ``AT``: at the nodes x; ``BETWEEN``: of increments y with the means x; ``ALONG``: derivatives at x along y.
frozen : int
    1 if the law is not objective.
start : int
    The first of the 16 elements of `blocks`.
factor : float
    Of what `blocks` adds.
rows : float64 [57 or 66, CHUNK]
    What is known of the elements: the rows s_αi [4, 3], six numbers (11, 22, 33, 12, 13, 23) of each of the three
    matrices, the three numbers of Q_4i, the undeformed d_i [9] if the law is not objective, and β [8, 3].
x, y : float64 [21, CHUNK]
    Nodes relative to the first.
d, e : float64 [9, CHUNK]
    Tangent vectors of x and y.
out : float64
    The result.
"""

# numba does not re-export carray.
# pyright: reportPrivateImportUsage=false

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba import carray

from symplex.fem.kernels import c_function, formula, inlined
from symplex.fem.lanes import add_lane_products
from symplex.fem.solids.chunks import ALONG, AT, BETWEEN, CHUNK, vector
from symplex.fem.solids.edge_algebra import combined, dot
from symplex.fem.solids.tangent_blocks import BLOCK, PART

NODES = 8
PRODUCTS = 12  # Q_αi
FORCES = 30  # rows of the forces on nodes 1–7 and on d
_MODULI, _FROZEN = 12, 33  # rows after those of s
_ROWS = 66  # at most
_SLOPES = 3 * NODES * PART  # numbers of ∂Q_αi/∂x of a part


@cache
def address_of(name: str) -> int:
    """Return the address of one of the functions, compiled when it is first asked for."""
    return _compiled(name).address


@cache
def _compiled(name: str) -> Any:
    """Return a compiled function, kept as long as the process lives."""
    return c_function("hourglass")(FUNCTIONS[name])


# -- one element ------------------------------------------------------------------------------------------------------


@inlined
def _at(rows, row, t):
    """Return the number of a component in a row of vectors, at place t of the first."""
    return rows[np.uint64(t + 3 * row * CHUNK)]


@inlined
def _patterns(x, d, rows, p, t):
    """Return a component of g_1, …, g_4, which is at the places t of its rows."""
    x1, x2, x3, x4 = _at(x, 0, t), _at(x, 1, t), _at(x, 2, t), _at(x, 3, t)
    x5, x6, x7 = _at(x, 4, t), _at(x, 5, t), _at(x, 6, t)
    u = _at(d, 0, t), _at(d, 1, t), _at(d, 2, t)
    return (
        0.125 * (((x1 + x6 + x7) - (x2 + x3 + x4 + x5)) - dot(vector(rows, 0, p), u)),
        0.125 * (((x3 + x5 + x6) - (x1 + x2 + x4 + x7)) - dot(vector(rows, 3, p), u)),
        0.125 * (((x2 + x4 + x6) - (x1 + x3 + x5 + x7)) - dot(vector(rows, 6, p), u)),
        0.125 * (((x1 + x3 + x4 + x6) - (x2 + x5 + x7)) - dot(vector(rows, 9, p), u)),
    )


@inlined
def _vectors(x, d, rows, p):
    """Return g_1, …, g_4."""
    u, v, w = _patterns(x, d, rows, p, p), _patterns(x, d, rows, p, p + CHUNK), _patterns(x, d, rows, p, p + 2 * CHUNK)
    return (u[0], v[0], w[0]), (u[1], v[1], w[1]), (u[2], v[2], w[2]), (u[3], v[3], w[3])


@inlined
def _tangents(d, rows, frozen, p):
    """Return d_i, or the undeformed ones."""
    if frozen == 1:
        return vector(rows, _FROZEN, p), vector(rows, _FROZEN + 3, p), vector(rows, _FROZEN + 6, p)
    return vector(d, 0, p), vector(d, 3, p), vector(d, 6, p)


@inlined
def _products(d, g):
    """Return Q."""
    return (
        *(dot(d[0], g[0]), dot(d[1], g[0]), dot(d[2], g[0])),
        *(dot(d[0], g[1]), dot(d[1], g[1]), dot(d[2], g[1])),
        *(dot(d[0], g[2]), dot(d[1], g[2]), dot(d[2], g[2])),
        *(dot(d[0], g[3]), dot(d[1], g[3]), dot(d[2], g[3])),
    )


@inlined
def _sum(P, r, Q):
    """Return P + r Q."""
    return (
        *(P[0] + r * Q[0], P[1] + r * Q[1], P[2] + r * Q[2], P[3] + r * Q[3]),
        *(P[4] + r * Q[4], P[5] + r * Q[5], P[6] + r * Q[6], P[7] + r * Q[7]),
        *(P[8] + r * Q[8], P[9] + r * Q[9], P[10] + r * Q[10], P[11] + r * Q[11]),
    )


@inlined
def _stress(rows, p, Q):
    """Return T = K Q of an element, both as 12 numbers."""
    s1 = _moduli(rows, 0, p, Q[7], Q[5], Q[4] + Q[8])
    s2 = _moduli(rows, 6, p, Q[6], Q[2], Q[0] + Q[8])
    s3 = _moduli(rows, 12, p, Q[3], Q[1], Q[0] + Q[4])
    c = vector(rows, _MODULI + 18, p)
    return (
        *(s2[2] + s3[2], s3[1], s2[1]),
        *(s3[0], s1[2] + s3[2], s1[1]),
        *(s2[0], s1[0], s1[2] + s2[2]),
        *(c[0] * Q[9], c[1] * Q[10], c[2] * Q[11]),
    )


@inlined
def _moduli(rows, first, p, a, b, c):
    """Return what one of the matrices of 3 × 3 makes of a vector."""
    x, y = vector(rows, _MODULI + first, p), vector(rows, _MODULI + first + 3, p)
    return x[0] * a + y[0] * b + y[1] * c, y[0] * a + x[1] * b + y[2] * c, y[1] * a + y[2] * b + x[2] * c


@inlined
def _stress_at(kind, frozen, rows, x, d, y, e, p):
    """Return T, or T̄ of an increment, or Ṫ along y."""
    u, g = _tangents(d, rows, frozen, p), _vectors(x, d, rows, p)
    if kind == AT:
        return _stress(rows, p, _products(u, g))
    v, h = (vector(e, 0, p), vector(e, 3, p), vector(e, 6, p)), _vectors(y, e, rows, p)
    if kind == ALONG:
        return _stress(rows, p, _sum(_products(u, h), 1.0, _products(v, g)))
    # half the sum of the products at the ends
    return _stress(rows, p, _sum(_products(u, g), 0.0 if frozen == 1 else 0.25, _products(v, h)))


# -- energy and forces --------------------------------------------------------------------------------------------


def energies(kind, frozen, start, factor, rows_, x_, d_, y_, e_, out_):
    """Add the energies of the elements at x to out [CHUNK]."""
    rows, x, d = carray(rows_, (_ROWS * CHUNK,)), carray(x_, (21 * CHUNK,)), carray(d_, (9 * CHUNK,))
    out = carray(out_, (CHUNK,))
    for p in range(CHUNK):
        Q = _products(_tangents(d, rows, frozen, p), _vectors(x, d, rows, p))
        T = _stress(rows, p, Q)
        out[p] += 0.5 * _dot12(T, Q)


def forces(kind, frozen, start, factor, rows_, x_, d_, y_, e_, out_):
    """Set out [30, CHUNK] to the forces f on nodes 1–7 and t on d, which act by the nodes' γ and β.

    ``AT``: the gradient at x; ``BETWEEN``: the discrete gradient; ``ALONG``: the third derivative ∇³φ[y, y], which is
    the forces of T'' at the vectors of x and twice those of T' at the vectors of y.
    """
    rows, x, d = carray(rows_, (_ROWS * CHUNK,)), carray(x_, (21 * CHUNK,)), carray(d_, (9 * CHUNK,))
    y, e, out = carray(y_, (21 * CHUNK,)), carray(e_, (9 * CHUNK,)), carray(out_, (FORCES * CHUNK,))
    of_d = 0.0 if frozen == 1 else 1.0
    if kind == ALONG:
        for p in range(CHUNK):
            u, g = _tangents(d, rows, frozen, p), _vectors(x, d, rows, p)
            v, h = (vector(e, 0, p), vector(e, 3, p), vector(e, 6, p)), _vectors(y, e, rows, p)
            T = _stress(rows, p, _sum(_products(v, h), 1.0, _products(v, h)))
            U = _stress(rows, p, _sum(_products(u, h), 1.0, _products(v, g)))
            of_g = _of_patterns(T, u, 1.0), _of_patterns(U, v, 2.0)
            of_u = _of_tangents(T, g, 1.0), _of_tangents(U, h, 2.0)
            _set_forces(rows, p, _plus4(of_g[0], of_g[1]), _plus3(of_u[0], of_u[1]), out)
    elif kind == AT:
        for p in range(CHUNK):
            u, g = _tangents(d, rows, frozen, p), _vectors(x, d, rows, p)
            T = _stress(rows, p, _products(u, g))
            _set_forces(rows, p, _of_patterns(T, u, 1.0), _of_tangents(T, g, of_d), out)
    else:
        for p in range(CHUNK):
            u, g = _tangents(d, rows, frozen, p), _vectors(x, d, rows, p)
            v, h = (vector(e, 0, p), vector(e, 3, p), vector(e, 6, p)), _vectors(y, e, rows, p)
            T = _stress(rows, p, _sum(_products(u, g), 0.25 * of_d, _products(v, h)))
            _set_forces(rows, p, _of_patterns(T, u, 1.0), _of_tangents(T, g, of_d), out)


@inlined
def _of_patterns(T, d, r):
    """Return r Σ_i T_αi d_i, the forces on g_α."""
    return (
        combined(r * T[0], d[0], r * T[1], d[1], r * T[2], d[2]),
        combined(r * T[3], d[0], r * T[4], d[1], r * T[5], d[2]),
        combined(r * T[6], d[0], r * T[7], d[1], r * T[8], d[2]),
        combined(r * T[9], d[0], r * T[10], d[1], r * T[11], d[2]),
    )


@inlined
def _of_tangents(T, g, r):
    """Return r Σ_α T_αi g_α, the forces on d_i."""
    return (
        _combined4(r * T[0], g[0], r * T[3], g[1], r * T[6], g[2], r * T[9], g[3]),
        _combined4(r * T[1], g[0], r * T[4], g[1], r * T[7], g[2], r * T[10], g[3]),
        _combined4(r * T[2], g[0], r * T[5], g[1], r * T[8], g[2], r * T[11], g[3]),
    )


@inlined
def _combined4(a, u, b, v, c, w, d, z):
    return (
        a * u[0] + b * v[0] + c * w[0] + d * z[0],
        a * u[1] + b * v[1] + c * w[1] + d * z[1],
        a * u[2] + b * v[2] + c * w[2] + d * z[2],
    )


@inlined
def _plus(u, v):
    return u[0] + v[0], u[1] + v[1], u[2] + v[2]


@inlined
def _plus3(u, v):
    return _plus(u[0], v[0]), _plus(u[1], v[1]), _plus(u[2], v[2])


@inlined
def _plus4(u, v):
    return _plus(u[0], v[0]), _plus(u[1], v[1]), _plus(u[2], v[2]), _plus(u[3], v[3])


@inlined
def _set_forces(rows, p, u, t, out):
    """Set the forces of u on g_α and t on d_i."""
    _set_component(rows, p, p, u[0][0], u[1][0], u[2][0], u[3][0], (t[0][0], t[1][0], t[2][0]), out)
    _set_component(rows, p, p + CHUNK, u[0][1], u[1][1], u[2][1], u[3][1], (t[0][1], t[1][1], t[2][1]), out)
    _set_component(rows, p, p + 2 * CHUNK, u[0][2], u[1][2], u[2][2], u[3][2], (t[0][2], t[1][2], t[2][2]), out)


@inlined
def _put(rows, row, t, value):
    """Set what `_at` returns."""
    rows[np.uint64(t + 3 * row * CHUNK)] = value


@inlined
def _set_component(rows, p, at, v1, v2, v3, v4, t, out):
    """Do so for a component, which is at the places ``at``."""
    u1, u2, u3, u4 = 0.125 * v1, 0.125 * v2, 0.125 * v3, 0.125 * v4
    _put(out, 0, at, (u1 + u4) - (u2 + u3))
    _put(out, 1, at, u3 - (u1 + u2 + u4))
    _put(out, 2, at, (u2 + u4) - (u1 + u3))
    _put(out, 3, at, (u3 + u4) - (u1 + u2))
    _put(out, 4, at, u2 - (u1 + u3 + u4))
    _put(out, 5, at, u1 + u2 + u3 + u4)
    _put(out, 6, at, u1 - (u2 + u3 + u4))
    a, b, c, d = vector(rows, 0, p), vector(rows, 3, p), vector(rows, 6, p), vector(rows, 9, p)
    _put(out, 7, at, t[0] - (a[0] * u1 + b[0] * u2 + c[0] * u3 + d[0] * u4))
    _put(out, 8, at, t[1] - (a[1] * u1 + b[1] * u2 + c[1] * u3 + d[1] * u4))
    _put(out, 9, at, t[2] - (a[2] * u1 + b[2] * u2 + c[2] * u3 + d[2] * u4))


# -- secant matrices --------------------------------------------------------------------------------------------------


@inlined
def _pattern(alpha, a):
    """Return h_αa."""
    x = -1.0 if a == 0 or a == 3 or a == 4 or a == 7 else 1.0
    y = -1.0 if a == 0 or a == 1 or a == 4 or a == 5 else 1.0
    z = -1.0 if a < 4 else 1.0
    return (x if alpha != 0 else 1.0) * (y if alpha != 1 else 1.0) * (z if alpha != 2 else 1.0)


@formula
def _set_secant_slopes(kind, frozen, rows, x, d, y, e, start, size, T, gamma, half):
    """Set T [12, size], gamma [4, 8, size] to γ_αa, and half to Σ_i T_αi β_bi of the elements from ``start`` on."""
    slopes = (_FROZEN + 9 * frozen) * CHUNK + start
    for j in range(size):
        S = _stress_at(kind, frozen, rows, x, d, y, e, start + j)
        T[j], T[size + j], T[2 * size + j], T[3 * size + j], T[4 * size + j], T[5 * size + j] = S[:6]
        t = 6 * size + j
        T[t], T[t + size], T[t + 2 * size], T[t + 3 * size], T[t + 4 * size], T[t + 5 * size] = S[6:]
    for alpha in range(4):
        for a in range(NODES):
            of, h, to = slopes + 3 * a * CHUNK, _pattern(alpha, a), (NODES * alpha + a) * size
            for j in range(size):
                b = rows[of + j], rows[of + CHUNK + j], rows[of + 2 * CHUNK + j]
                gamma[to + j] = 0.125 * (h - dot(vector(rows, 3 * alpha, start + j), b))
                t = 3 * alpha * size + j
                half[to + j] = T[t] * b[0] + T[t + size] * b[1] + T[t + 2 * size] * b[2]


@inlined
def _add_secants(factor, gamma, half, a, b, size, start, out, to):
    """Add factor · 𝓕_ab of 16 elements to out[to], …"""
    of_a, of_b, step = a * size + start, b * size + start, NODES * size
    add_lane_products(True, factor, gamma, of_a, step, half, of_b, step, 4, out, to)
    add_lane_products(True, factor, half, of_a, step, gamma, of_b, step, 4, out, to)


def secants(kind, frozen, _, factor, rows_, x_, d_, y_, e_, out_):
    """Add 𝓕_ab, 1 ≤ a ≤ b, to out [8, 8, CHUNK]; ``ALONG``: its rate."""
    rows, x, d = carray(rows_, (_ROWS * CHUNK,)), carray(x_, (21 * CHUNK,)), carray(d_, (9 * CHUNK,))
    y, e, out = carray(y_, (21 * CHUNK,)), carray(e_, (9 * CHUNK,)), carray(out_, (NODES * NODES * CHUNK,))
    work = np.empty((PRODUCTS + 8 * NODES) * CHUNK)
    T, gamma, half = work[: 12 * CHUNK], work[12 * CHUNK : 44 * CHUNK], work[44 * CHUNK :]
    _set_secant_slopes(kind, frozen, rows, x, d, y, e, 0, CHUNK, T, gamma, half)
    for b in range(1, NODES):
        for a in range(1, b + 1):
            for start in range(0, CHUNK, PART):
                _add_secants(1.0, gamma, half, a, b, CHUNK, start, out, (NODES * a + b) * CHUNK + start)


# -- tangents ---------------------------------------------------------------------------------------------------------


@inlined
def _dot12(S, T):
    """Return the sum of 12 products."""
    total = S[0] * T[0] + S[1] * T[1] + S[2] * T[2] + S[3] * T[3] + S[4] * T[4] + S[5] * T[5]
    return total + (S[6] * T[6] + S[7] * T[7] + S[8] * T[8] + S[9] * T[9] + S[10] * T[10] + S[11] * T[11])


@inlined
def _twelve(R, t):
    """Return the twelve numbers of one coordinate of one element."""
    first = R[t], R[t + _SLOPES], R[t + 2 * _SLOPES], R[t + 3 * _SLOPES], R[t + 4 * _SLOPES], R[t + 5 * _SLOPES]
    t += 6 * _SLOPES
    last = R[t], R[t + _SLOPES], R[t + 2 * _SLOPES], R[t + 3 * _SLOPES], R[t + 4 * _SLOPES], R[t + 5 * _SLOPES]
    return (*first, *last)


@formula
def _set_slopes(rows, frozen, start, part, x, d, y, e, gamma, d_, g_, R):
    """Set R [12, 8, 3, PART] to ∂Q_αi/∂x_a = γ_αa d_i + β_ai g_α at x + part · y; d_ and g_ are work."""
    of_g = 0.0 if frozen == 1 else 1.0
    for j in range(PART):
        p = start + j
        u, g = _tangents(d, rows, frozen, p), _vectors(x, d, rows, p)
        v, h = _tangents(e, rows, 0, p), _vectors(y, e, rows, p)
        _put_sum(d_, j, u[0], part * of_g, v[0])
        _put_sum(d_, j + 3 * PART, u[1], part * of_g, v[1])
        _put_sum(d_, j + 6 * PART, u[2], part * of_g, v[2])
        _put_sum(g_, j, g[0], part, h[0])
        _put_sum(g_, j + 3 * PART, g[1], part, h[1])
        _put_sum(g_, j + 6 * PART, g[2], part, h[2])
        _put_sum(g_, j + 9 * PART, g[3], part, h[3])
    slopes = (_FROZEN + 9 * frozen) * CHUNK + start
    for alpha in range(4):
        for i in range(3):
            for a in range(NODES):
                of, to = slopes + (3 * a + i) * CHUNK, (3 * alpha + i) * _SLOPES + 3 * a * PART
                for c in range(3):
                    d_at, g_at, at = (3 * i + c) * PART, (3 * alpha + c) * PART, to + c * PART
                    add_lane_products(False, 1.0, gamma, (NODES * alpha + a) * PART, 0, d_, d_at, 0, 1, R, at)
                    add_lane_products(True, of_g, rows, of, 0, g_, g_at, 0, 1, R, at)


@inlined
def _put_sum(rows, t, u, r, v):
    """Set three numbers to u + r v."""
    rows[t], rows[t + PART], rows[t + 2 * PART] = u[0] + r * v[0], u[1] + r * v[1], u[2] + r * v[2]


@formula
def _set_stress_slopes(rows, start, R, S):
    """Set S to K R."""
    for column in range(3 * NODES):
        for j in range(PART):
            t = column * PART + j
            T = _stress(rows, start + j, _twelve(R, t))
            S[t], S[t + _SLOPES], S[t + 2 * _SLOPES], S[t + 3 * _SLOPES] = T[0], T[1], T[2], T[3]
            t += 4 * _SLOPES
            S[t], S[t + _SLOPES], S[t + 2 * _SLOPES], S[t + 3 * _SLOPES] = T[4], T[5], T[6], T[7]
            t += 4 * _SLOPES
            S[t], S[t + _SLOPES], S[t + 2 * _SLOPES], S[t + 3 * _SLOPES] = T[8], T[9], T[10], T[11]


def blocks(kind, frozen, start, factor, rows_, x_, d_, y_, e_, out_):
    """Add factor · (∂²φ) of 16 elements to out [8 (a), 8 (b), 9, PART], b ≤ a; ``BETWEEN``: all of an increment."""
    rows, x, d = carray(rows_, (_ROWS * CHUNK,)), carray(x_, (21 * CHUNK,)), carray(d_, (9 * CHUNK,))
    y, e, out = carray(y_, (21 * CHUNK,)), carray(e_, (9 * CHUNK,)), carray(out_, (NODES * NODES * BLOCK,))
    work = np.empty(97 * PART)
    T, gamma, half = work[: 12 * PART], work[12 * PART : 44 * PART], work[44 * PART : 76 * PART]
    d_of, g_of = work[76 * PART : 85 * PART], work[85 * PART :]
    R, S = np.empty(PRODUCTS * _SLOPES), np.empty(PRODUCTS * _SLOPES)
    _set_secant_slopes(kind, frozen, rows, x, d, y, e, start, PART, T, gamma, half)
    _set_slopes(rows, frozen, start, 0.5 if kind == BETWEEN else 0.0, x, d, y, e, gamma, d_of, g_of, R)
    _set_stress_slopes(rows, start, R, S)
    if kind == BETWEEN:
        _set_slopes(rows, frozen, start, 0.0, x, d, y, e, gamma, d_of, g_of, R)
    of_secants = 0.0 if frozen == 1 else factor
    for a in range(NODES):
        for b in range(NODES if kind == BETWEEN else a + 1):
            to = (NODES * a + b) * BLOCK
            for j in range(PART):
                _add_block(factor, R, S, 3 * a * PART + j, 3 * b * PART + j, out, to + j)
            for c in range(3):
                _add_secants(of_secants, gamma, half, a, b, PART, 0, out, to + 4 * c * PART)


@inlined
def _add_block(factor, R, S, a, b, out, to):
    """Add factor · Rᵀ S of two nodes of an element to out [9, PART]."""
    u, v, w = _twelve(S, b), _twelve(S, b + PART), _twelve(S, b + 2 * PART)
    r = _twelve(R, a)
    out[to] += factor * _dot12(r, u)
    out[to + PART] += factor * _dot12(r, v)
    out[to + 2 * PART] += factor * _dot12(r, w)
    s = _twelve(R, a + PART)
    out[to + 3 * PART] += factor * _dot12(s, u)
    out[to + 4 * PART] += factor * _dot12(s, v)
    out[to + 5 * PART] += factor * _dot12(s, w)
    t = _twelve(R, a + 2 * PART)
    out[to + 6 * PART] += factor * _dot12(t, u)
    out[to + 7 * PART] += factor * _dot12(t, v)
    out[to + 8 * PART] += factor * _dot12(t, w)


def no_forces(kind, frozen, start, factor, rows_, x_, d_, y_, e_, out_):
    """Set out [30, CHUNK] to zeros: for stresses of the law alone."""
    out = carray(out_, (FORCES * CHUNK,))
    for t in range(FORCES * CHUNK):
        out[t] = 0.0


FUNCTIONS = {function.__name__: function for function in (energies, forces, no_forces, secants, blocks)}
