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

from symplex.fem.compiled.kernels import c_function, formula, inlined
from symplex.fem.compiled.lanes import add_lane_products
from symplex.fem.compiled.vectors import (
    Mat3,
    Vec3,
    added,
    dot,
    expanded,
    mat3_at,
    set_at,
    stored,
    sym3_at,
    vec3_at,
)
from symplex.fem.solids.chunks import (
    ALONG,
    AT,
    BETWEEN,
    CHUNK,
)
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
def _nodes(x, p):
    """Return the vectors of nodes 1–7."""
    return (
        *(vec3_at(x, p, CHUNK), vec3_at(x, 3 * CHUNK + p, CHUNK), vec3_at(x, 6 * CHUNK + p, CHUNK)),
        *(vec3_at(x, 9 * CHUNK + p, CHUNK), vec3_at(x, 12 * CHUNK + p, CHUNK)),
        *(vec3_at(x, 15 * CHUNK + p, CHUNK), vec3_at(x, 18 * CHUNK + p, CHUNK)),
    )


@inlined
def _shares(rows, p):
    """Return s_α."""
    return (
        *(vec3_at(rows, p, CHUNK), vec3_at(rows, 3 * CHUNK + p, CHUNK)),
        *(vec3_at(rows, 6 * CHUNK + p, CHUNK), vec3_at(rows, 9 * CHUNK + p, CHUNK)),
    )


@inlined
def _vectors(x, d, rows, p):
    """Return g_1, …, g_4."""
    return _patterns(_nodes(x, p), mat3_at(d, p, CHUNK), _shares(rows, p))


@expanded
def _patterns(x, d, s):
    """Return them from the vectors of the nodes, one component after the other: so they fit the registers."""
    found = []
    for i in range(3):
        x1, x2, x3, x4, x5, x6, x7 = (one[i] for one in x)
        u = Vec3(d[0][i], d[1][i], d[2][i])
        found += [
            0.125 * (((x1 + x6 + x7) - (x2 + x3 + x4 + x5)) - dot(s[0], u)),
            0.125 * (((x3 + x5 + x6) - (x1 + x2 + x4 + x7)) - dot(s[1], u)),
            0.125 * (((x2 + x4 + x6) - (x1 + x3 + x5 + x7)) - dot(s[2], u)),
            0.125 * (((x1 + x3 + x4 + x6) - (x2 + x5 + x7)) - dot(s[3], u)),
        ]
    return tuple([Vec3(*found[alpha::4]) for alpha in range(4)])


@inlined
def _tangents(d, rows, frozen):
    """Return the rows of d_i, or those of the undeformed ones."""
    return rows[_FROZEN * CHUNK :] if frozen == 1 else d


@expanded
def _products(d, g):
    """Return Q, the vectors Q_α."""
    return tuple([d @ one for one in g])


@expanded
def _sum(P, r, Q):
    """Return P + r Q of four vectors each."""
    return tuple([u + r * v for u, v in zip(P, Q, strict=True)])


@inlined
def _moduli(rows, p):
    """Return K of an element: three symmetric matrices and three numbers."""
    return (
        *(sym3_at(rows, _MODULI * CHUNK + p, CHUNK), sym3_at(rows, (_MODULI + 6) * CHUNK + p, CHUNK)),
        *(sym3_at(rows, (_MODULI + 12) * CHUNK + p, CHUNK), vec3_at(rows, (_MODULI + 18) * CHUNK + p, CHUNK)),
    )


@expanded
def _stress(K, Q):
    """Return T = K Q, both as four vectors."""
    s1 = K[0] @ Vec3(Q[2][1], Q[1][2], Q[1][1] + Q[2][2])
    s2 = K[1] @ Vec3(Q[2][0], Q[0][2], Q[0][0] + Q[2][2])
    s3 = K[2] @ Vec3(Q[1][0], Q[0][1], Q[0][0] + Q[1][1])
    return (
        Vec3(s2[2] + s3[2], s3[1], s2[1]),
        Vec3(s3[0], s1[2] + s3[2], s1[1]),
        Vec3(s2[0], s1[0], s1[2] + s2[2]),
        Vec3(*[a * b for a, b in zip(K[3], Q[3], strict=True)]),
    )


@inlined
def _stress_at(kind, frozen, rows, tangents, x, d, y, e, p):
    """Return T, or T̄ of an increment, or Ṫ along y."""
    u, g, K = mat3_at(tangents, p, CHUNK), _vectors(x, d, rows, p), _moduli(rows, p)
    if kind == AT:
        return _stress(K, _products(u, g))
    v, h = mat3_at(e, p, CHUNK), _vectors(y, e, rows, p)
    if kind == ALONG:
        return _stress(K, _sum(_products(u, h), 1.0, _products(v, g)))
    # half the sum of the products at the ends
    return _stress(K, _sum(_products(u, g), 0.0 if frozen == 1 else 0.25, _products(v, h)))


# -- energy and forces --------------------------------------------------------------------------------------------


def energies(kind, frozen, start, factor, rows_, x_, d_, y_, e_, out_):
    """Add the energies of the elements at x to out [CHUNK]."""
    rows, x, d = carray(rows_, (_ROWS * CHUNK,)), carray(x_, (21 * CHUNK,)), carray(d_, (9 * CHUNK,))
    out, tangents = carray(out_, (CHUNK,)), _tangents(d, rows, frozen)
    for p in range(CHUNK):
        Q = _products(mat3_at(tangents, p, CHUNK), _vectors(x, d, rows, p))
        T = _stress(_moduli(rows, p), Q)
        out[p] += 0.5 * _dot12(T, Q)


def forces(kind, frozen, start, factor, rows_, x_, d_, y_, e_, out_):
    """Set out [30, CHUNK] to the forces f on nodes 1–7 and t on d, which act by the nodes' γ and β.

    ``AT``: the gradient at x; ``BETWEEN``: the discrete gradient; ``ALONG``: the third derivative ∇³φ[y, y], which is
    the forces of T'' at the vectors of x and twice those of T' at the vectors of y.
    """
    rows, x, d = carray(rows_, (_ROWS * CHUNK,)), carray(x_, (21 * CHUNK,)), carray(d_, (9 * CHUNK,))
    y, e, out = carray(y_, (21 * CHUNK,)), carray(e_, (9 * CHUNK,)), carray(out_, (FORCES * CHUNK,))
    of_d, tangents = 0.0 if frozen == 1 else 1.0, _tangents(d, rows, frozen)
    if kind == ALONG:
        for p in range(CHUNK):
            u, g, K = mat3_at(tangents, p, CHUNK), _vectors(x, d, rows, p), _moduli(rows, p)
            v, h = mat3_at(e, p, CHUNK), _vectors(y, e, rows, p)
            T = _stress(K, _sum(_products(v, h), 1.0, _products(v, h)))
            U = _stress(K, _sum(_products(u, h), 1.0, _products(v, g)))
            of_g = _sum(_of_patterns(T, u), 1.0, _of_patterns(_twice(U), v))
            _put_forces(rows, p, of_g, _of_tangents(T, g) + _of_tangents(_twice(U), h), out)
    elif kind == AT:
        for p in range(CHUNK):
            u, g = mat3_at(tangents, p, CHUNK), _vectors(x, d, rows, p)
            T = _stress(_moduli(rows, p), _products(u, g))
            _put_forces(rows, p, _of_patterns(T, u), of_d * _of_tangents(T, g), out)
    else:
        for p in range(CHUNK):
            u, g = mat3_at(tangents, p, CHUNK), _vectors(x, d, rows, p)
            v, h = mat3_at(e, p, CHUNK), _vectors(y, e, rows, p)
            T = _stress(_moduli(rows, p), _sum(_products(u, g), 0.25 * of_d, _products(v, h)))
            _put_forces(rows, p, _of_patterns(T, u), of_d * _of_tangents(T, g), out)


@expanded
def _twice(T):
    return tuple([2.0 * t for t in T])


@expanded
def _of_patterns(T, d):
    """Return Σ_i T_αi d_i, the forces on g_α."""
    return tuple([t @ d for t in T])


@expanded
def _of_tangents(T, g):
    """Return Σ_α T_αi g_α, the forces on d_i."""
    return Mat3(*[T[0][i] * g[0] + T[1][i] * g[1] + T[2][i] * g[2] + T[3][i] * g[3] for i in range(3)])


@stored
def _set_forces(v, t, s):
    """Set the forces of v on g_α and t on d_i, s the shares, of one component: every third row."""
    u1, u2, u3, u4 = (0.125 * one for one in v)
    yield (u1 + u4) - (u2 + u3)
    yield u3 - (u1 + u2 + u4)
    yield (u2 + u4) - (u1 + u3)
    yield (u3 + u4) - (u1 + u2)
    yield u2 - (u1 + u3 + u4)
    yield u1 + u2 + u3 + u4
    yield u1 - (u2 + u3 + u4)
    for i in range(3):
        yield t[i] - (s[0][i] * u1 + s[1][i] * u2 + s[2][i] * u3 + s[3][i] * u4)


@expanded
def _components(v, t):
    """Return the components of four vectors and of three."""
    return tuple([(tuple([one[i] for one in v]), (t[0][i], t[1][i], t[2][i])) for i in range(3)])


@inlined
def _put_forces(rows, p, v, t, out):
    """Set the forces of v on g_α and t on d_i."""
    s, (x, y, z) = _shares(rows, p), _components(v, t)
    _set_forces(out, p, 3 * CHUNK, x[0], x[1], s)
    _set_forces(out, p + CHUNK, 3 * CHUNK, y[0], y[1], s)
    _set_forces(out, p + 2 * CHUNK, 3 * CHUNK, z[0], z[1], s)


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
    slopes, tangents = (_FROZEN + 9 * frozen) * CHUNK + start, _tangents(d, rows, frozen)
    for j in range(size):
        S = _stress_at(kind, frozen, rows, tangents, x, d, y, e, start + j)
        set_at(T, j, size, S)
    for alpha in range(4):
        for a in range(NODES):
            of, h, to = slopes + 3 * a * CHUNK, _pattern(alpha, a), (NODES * alpha + a) * size
            for j in range(size):
                b = vec3_at(rows, of + j, CHUNK)
                gamma[to + j] = 0.125 * (h - dot(vec3_at(rows, 3 * alpha * CHUNK + start + j, CHUNK), b))
                half[to + j] = dot(vec3_at(T, 3 * alpha * size + j, size), b)


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


@expanded
def _dot12(S, T):
    """Return the sum of 12 products."""
    products = [s * t for u, v in zip(S, T, strict=True) for s, t in zip(u, v, strict=True)]
    return sum(products[1:6], products[0]) + sum(products[7:], products[6])


@inlined
def _twelve(R, t):
    """Return the twelve numbers of one coordinate of one element."""
    return (
        *(vec3_at(R, t, _SLOPES), vec3_at(R, t + 3 * _SLOPES, _SLOPES)),
        *(vec3_at(R, t + 6 * _SLOPES, _SLOPES), vec3_at(R, t + 9 * _SLOPES, _SLOPES)),
    )


@formula
def _set_slopes(rows, frozen, start, part, x, d, y, e, gamma, d_, g_, R):
    """Set R [12, 8, 3, PART] to ∂Q_αi/∂x_a = γ_αa d_i + β_ai g_α at x + part · y; d_ and g_ are work."""
    of_g, tangents = 0.0 if frozen == 1 else 1.0, _tangents(d, rows, frozen)
    for j in range(PART):
        p = start + j
        u, g = mat3_at(tangents, p, CHUNK), _vectors(x, d, rows, p)
        set_at(d_, j, PART, u + part * of_g * mat3_at(e, p, CHUNK))
        set_at(g_, j, PART, _sum(g, part, _vectors(y, e, rows, p)))
    slopes = (_FROZEN + 9 * frozen) * CHUNK + start
    for alpha in range(4):
        for i in range(3):
            for a in range(NODES):
                of, to = slopes + (3 * a + i) * CHUNK, (3 * alpha + i) * _SLOPES + 3 * a * PART
                for c in range(3):
                    d_at, g_at, at = (3 * i + c) * PART, (3 * alpha + c) * PART, to + c * PART
                    add_lane_products(False, 1.0, gamma, (NODES * alpha + a) * PART, 0, d_, d_at, 0, 1, R, at)
                    add_lane_products(True, of_g, rows, of, 0, g_, g_at, 0, 1, R, at)


@formula
def _set_stress_slopes(rows, start, R, S):
    """Set S to K R."""
    for column in range(3 * NODES):
        for j in range(PART):
            t = column * PART + j
            set_at(S, t, _SLOPES, _stress(_moduli(rows, start + j), _twelve(R, t)))


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
                _add_block(out, to + j, PART, factor, _column(R, 3 * a * PART + j), _column(S, 3 * b * PART + j))
            for c in range(3):
                _add_secants(of_secants, gamma, half, a, b, PART, 0, out, to + 4 * c * PART)


@inlined
def _column(R, t):
    """Return the numbers of the three coordinates of a node of an element."""
    return _twelve(R, t), _twelve(R, t + PART), _twelve(R, t + 2 * PART)


@added
def _add_block(factor, R, S):
    """Add factor · Rᵀ S of two nodes of an element."""
    for r in R:
        for s in S:
            yield factor * _dot12(r, s)


def no_forces(kind, frozen, start, factor, rows_, x_, d_, y_, e_, out_):
    """Set out [30, CHUNK] to zeros: for stresses of the law alone."""
    out = carray(out_, (FORCES * CHUNK,))
    for t in range(FORCES * CHUNK):
        out[t] = 0.0


FUNCTIONS = {function.__name__: function for function in (energies, forces, no_forces, secants, blocks)}
