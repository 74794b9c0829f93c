"""Differences of the energy of one element with any law W(I1, I2, θ, I4, …) between lattice points, as C functions.

At a point of quadrature with the tangent vectors d_a (see `symplex.fem.solids.chunks`) one coordinate of a node
changes only one component of them: i_a = h ∂N/∂ξ_a e_c. The invariants change by what
`symplex.fem.solids.law_discrete` has, without cancellation, and W by the means of its derivatives along the segment,
W̄_i ΔI_i.

Two coordinates change the Gram matrix by P and R alone and by P + R + X together, and the determinant by δ, ε and
δ + ε + η, so that the invariants have the mixed differences

    M : X,    N : ({G, X} + {P, R} + {P + R, X} + cof X),    ln(1 + (η det d − δ ε)/((det d + δ)(det d + ε))),
    2 v_i·v_j

and W, along the bilinear patch I(s, t) = I + s A + t B + s t Q of the invariants, that of

    ∫∫ Σ_ij W_ij (A_i + t Q_i)(B_j + s Q_j) + Σ_i W_i Q_i ds dt,

by Gauss' rule in both. Where a switch of the law (`symplex.fem.solids.law_segments`) has another sign at one end or
corner than at another, derivatives of W jump in between, and the differences are those of its values.

One row of parameters: [addresses of W, of its first and its second derivatives, and of its switches; nodes k, points g,
families of fibres F, switches, points of the rules for segments and for patches, constants of the law, those of an
hourglass energy; the constants of the law; both rules [2, n]; weights [g]; slopes ∂N/∂ξ [g, k, 3]; the geometry of each
point; the constants of the hourglass energy]. Addresses are below 2⁵³, and exact as floats.
"""

# numba declares the address of a compiled function as int | None, and does not re-export carray.
# pyright: reportArgumentType=false, reportPrivateImportUsage=false

from math import inf, isfinite, log, log1p

import numpy as np
from numba import carray

from symplex.fem.compiled.call import call_law
from symplex.fem.compiled.kernels import c_function, inlined
from symplex.fem.compiled.logarithm import artanh_ratio
from symplex.fem.compiled.vectors import (
    Vec3,
    cofactors,
    contracted,
    cross,
    dot,
    expanded,
    gram,
    gram_slopes,
    mat3_at,
    mixed,
    outer,
    sym3_at,
    vec3_at,
)
from symplex.fem.energies.energy import Array, LatticeFunctions
from symplex.fem.solids.chunks import GEOMETRY
from symplex.fem.solids.increments import (
    determinants,
)
from symplex.fem.solids.lattice_hourglass import hourglass_difference, hourglass_mixed, hourglass_value
from symplex.fem.solids.law_functions import LawFunctions
from symplex.meshes.quadrature import gauss_between

_VALUE, _FIRST, _SECOND, _SWITCHES, _NODES, _POINTS, _FIBRES, _COUNT = range(8)
_ON_SEGMENTS, _ON_PATCHES, _CONSTANTS, _HOURGLASS = range(8, 12)
_HEADER = 12
_BYTES = 8
_PATCH = 4  # points of Gauss' rule in each direction of a patch, unless one is exact


@inlined
def _row(p_):
    """Return a row, the address of the law's constants, and where rules, weights, slopes and the geometry begin."""
    head = carray(p_, (_HEADER,))
    k, points = int(head[_NODES]), int(head[_POINTS])
    segments = _HEADER + int(head[_CONSTANTS])
    patches = segments + 2 * int(head[_ON_SEGMENTS])
    weights = patches + 2 * int(head[_ON_PATCHES])
    geometry = weights + points * (1 + 3 * k)
    hourglass = geometry + points * (GEOMETRY + 3 * int(head[_FIBRES]))
    row = carray(p_, (hourglass + int(head[_HOURGLASS]),))
    return row, head.ctypes.data + _BYTES * _HEADER, segments, patches, weights, weights + points, geometry


@inlined
def _tangent_vectors(x, p, slopes, g, k):
    """Return d_a = Σ_n ∂N_n/∂ξ_a (x_n − x_0) at a point; the slopes begin at a place of the row p."""
    d = np.zeros((3, 3))
    for n in range(1, k):
        for a in range(3):
            for i in range(3):
                d[a, i] += p[slopes + (g * k + n) * 3 + a] * (x[3 * n + i] - x[i])
    return mat3_at(d.ravel(), 0, 1)


@inlined
def _moves(p, slopes, g, k, i, h):
    """Return how a step h of coordinate i changes the tangent vectors."""
    first, c = slopes + (g * k + i // 3) * 3, i % 3
    return outer(vec3_at(p, first, 1), Vec3(h * (c == 0), h * (c == 1), h * (c == 2)))


@inlined
def _point(p, first):
    """Return M, N = cof M and D of a point."""
    M = sym3_at(p, first, 1)
    return M, cofactors(M), p[first + 6]


@inlined
def _fibre(p, first, f, d):
    """Return v = Σ_a (a0·∇ξ_a) d_a."""
    return vec3_at(p, first + GEOMETRY + 3 * f, 1) @ d


@expanded
def _changes(d, c, u, v):
    """Return how the determinant changes by u, by v, and by both more than by each; c are the cofactors of d.

    Products of moves of one component vanish, as those of one coordinate with itself.
    """
    both = [cross(u[a], v[b]) + cross(v[a], u[b]) for a, b in ((1, 2), (2, 0), (0, 1))]
    return tuple([dot(x[0], y[0]) + dot(x[1], y[1]) + dot(x[2], y[2]) for x, y in ((c, u), (c, v), (d, both))])


@inlined
def _set_patch(p, first, fibres, d, u, v, start, A, B, Q):
    """Set the invariants at d, their changes by u and by v, and mixed differences; return if no corner is inverted."""
    M, N, D = _point(p, first)
    G, P, R, X = gram(d), gram_slopes(d, u) + gram(u), gram_slopes(d, v) + gram(v), gram_slopes(u, v)
    start[0], A[0], B[0], Q[0] = contracted(M, G), contracted(M, P), contracted(M, R), contracted(M, X)
    start[1] = contracted(N, cofactors(G))
    A[1] = contracted(N, mixed(G, P) + cofactors(P))
    B[1] = contracted(N, mixed(G, R) + cofactors(R))
    Q[1] = contracted(N, mixed(P, R) + (mixed(G + (P + R), X) + cofactors(X)))
    for f in range(fibres):
        w, wi, wj = _fibre(p, first, f, d), _fibre(p, first, f, u), _fibre(p, first, f, v)
        start[3 + f], Q[3 + f] = dot(w, w), 2.0 * dot(wi, wj)
        A[3 + f], B[3 + f] = 2.0 * dot(w, wi) + dot(wi, wi), 2.0 * dot(w, wj) + dot(wj, wj)
    c = cofactors(d)
    J = dot(d[0], c[0])
    Ji, Jj, J_both = _changes(d, c, u, v)
    J10, J01 = J + Ji, J + Jj
    if not (J > 0.0 and J10 > 0.0 and J01 > 0.0 and J10 + Jj + J_both > 0.0):
        return False
    start[2], A[2], B[2] = log(J / D), log1p(Ji / J), log1p(Jj / J)
    Q[2] = log1p((J_both * J - Ji * Jj) / (J10 * J01))
    return True


@inlined
def _value_at(p, constants, start, first, s, second, t, mixed, at, W, signs):
    """Return W at start + s·first + t·second + s t·mixed, and add the signs of the switches there, as counts."""
    for a in range(len(at)):
        at[a] = start[a] + s * first[a] + t * second[a] + s * t * mixed[a]
    call_law(int(p[_VALUE]), constants, at.ctypes.data, W.ctypes.data)
    value = W[0]
    call_law(int(p[_SWITCHES]), constants, at.ctypes.data, W.ctypes.data)
    for j in range(int(p[_COUNT])):
        signs[j] += W[j] > 0.0
    return value


@inlined
def _differ(signs, places):
    """Return whether a switch has not the same sign at all places."""
    differ = False
    for count in signs:
        differ |= 0 < count < places
    return differ


@c_function("value")
def _value(p_, x_):
    p, constants, _, _, weights, slopes, geometry = _row(p_)
    k, points, fibres = int(p[_NODES]), int(p[_POINTS]), int(p[_FIBRES])
    row = GEOMETRY + 3 * fibres
    x = carray(x_, (3 * k,))
    invariants, W, total = np.empty(3 + fibres), np.empty(1), 0.0
    for g in range(points):
        first = geometry + g * row
        M, N, D = _point(p, first)
        d = _tangent_vectors(x, p, slopes, g, k)
        J = dot(d[0], cross(d[1], d[2])) / D
        if not J > 0.0:
            return inf
        G = gram(d)
        invariants[0], invariants[1], invariants[2] = contracted(M, G), contracted(N, cofactors(G)), log(J)
        for f in range(fibres):
            v = _fibre(p, first, f, d)
            invariants[3 + f] = dot(v, v)
        call_law(int(p[_VALUE]), constants, invariants.ctypes.data, W.ctypes.data)
        total += p[weights + g] * D * W[0]
    if p[_HOURGLASS] > 0:
        total += hourglass_value(p, slopes, x)
    return total if isfinite(total) else inf


@c_function("difference")
def _difference(p_, x_, i, h):
    p, constants, segments, _, weights, slopes, geometry = _row(p_)
    k, points, fibres = int(p[_NODES]), int(p[_POINTS]), int(p[_FIBRES])
    row, m = GEOMETRY + 3 * fibres, 3 + fibres
    x = carray(x_, (3 * k,))
    steps, switches = int(p[_ON_SEGMENTS]), int(p[_COUNT])
    middle, change, at, W, total = np.empty(m), np.empty(m), np.empty(m), np.empty(max(m, switches)), 0.0
    none, signs = np.zeros(m), np.empty(switches, np.int64)
    for g in range(points):
        first = geometry + g * row
        M, N, D = _point(p, first)
        step = _moves(p, slopes, g, k, i, h)
        mean = _tangent_vectors(x, p, slopes, g, k) + 0.5 * step
        _, delta, s = determinants(mean, cofactors(mean), step)
        if not abs(delta) < s:
            return inf
        G, X = gram(mean) + 0.25 * gram(step), gram_slopes(mean, step)
        ratio, _ = artanh_ratio(delta / s)
        middle[0], change[0] = contracted(M, G), contracted(M, X)
        middle[1] = contracted(N, cofactors(G) + 0.25 * cofactors(X))
        change[1] = contracted(mixed(G, N), X)
        middle[2], change[2] = 0.5 * log(0.25 * (s - delta) * (s + delta) / (D * D)), 2.0 * delta / s * ratio
        for f in range(fibres):
            v, w = _fibre(p, first, f, mean), _fibre(p, first, f, step)
            middle[3 + f], change[3 + f] = dot(v, v) + 0.25 * dot(w, w), 2.0 * dot(v, w)
        if switches > 0:
            signs[:] = 0
            before = _value_at(p, constants, middle, change, -0.5, none, 0.0, none, at, W, signs)
            after = _value_at(p, constants, middle, change, 0.5, none, 0.0, none, at, W, signs)
            if _differ(signs, 2):
                total += p[weights + g] * D * (after - before)
                continue
        for n in range(steps):
            for j in range(m):
                at[j] = middle[j] + (p[segments + n] - 0.5) * change[j]
            call_law(int(p[_FIRST]), constants, at.ctypes.data, W.ctypes.data)
            for j in range(m):
                total += p[weights + g] * D * p[segments + steps + n] * W[j] * change[j]
    if p[_HOURGLASS] > 0:
        total += hourglass_difference(p, slopes, x, i, h)
    return total if isfinite(total) else inf


@c_function("mixed")
def _mixed(p_, x_, i, j, hi, hj):
    p, constants, _, patches, weights, slopes, geometry = _row(p_)
    k, points, fibres = int(p[_NODES]), int(p[_POINTS]), int(p[_FIBRES])
    row, m = GEOMETRY + 3 * fibres, 3 + fibres
    x = carray(x_, (3 * k,))
    steps, switches = int(p[_ON_PATCHES]), int(p[_COUNT])
    start, A, B, Q, at = np.empty(m), np.empty(m), np.empty(m), np.empty(m), np.empty(m)
    W, total, signs = np.empty(max(m + m * (m + 1) // 2, switches)), 0.0, np.empty(switches, np.int64)
    for g in range(points):
        first = geometry + g * row
        d, u, v = _tangent_vectors(x, p, slopes, g, k), _moves(p, slopes, g, k, i, hi), _moves(p, slopes, g, k, j, hj)
        V = p[weights + g] * p[first + 6]
        if not _set_patch(p, first, fibres, d, u, v, start, A, B, Q):
            return inf
        if switches > 0:
            signs[:] = 0
            W00 = _value_at(p, constants, start, A, 0.0, B, 0.0, Q, at, W, signs)
            W10 = _value_at(p, constants, start, A, 1.0, B, 0.0, Q, at, W, signs)
            W01 = _value_at(p, constants, start, A, 0.0, B, 1.0, Q, at, W, signs)
            W11 = _value_at(p, constants, start, A, 1.0, B, 1.0, Q, at, W, signs)
            if _differ(signs, 4):
                total += V * ((W11 - W10) - (W01 - W00))
                continue
        for r in range(steps):
            for c in range(steps):
                s, t, weight = p[patches + r], p[patches + c], p[patches + steps + r] * p[patches + steps + c] * V
                for a in range(m):
                    at[a] = start[a] + s * A[a] + t * B[a] + s * t * Q[a]
                call_law(int(p[_SECOND]), constants, at.ctypes.data, W.ctypes.data)
                n = m
                for a in range(m):
                    total += weight * W[a] * Q[a]
                    for b in range(a, m):
                        of_both = (A[a] + t * Q[a]) * (B[b] + s * Q[b])
                        if b > a:
                            of_both += (A[b] + t * Q[b]) * (B[a] + s * Q[a])
                        total += weight * W[n] * of_both
                        n += 1
    if p[_HOURGLASS] > 0:
        total += hourglass_mixed(p, slopes, x, i, j, hi, hj)
    return total if isfinite(total) else inf


def solid_lattice(
    law: LawFunctions, slopes: Array, weights: Array, geometry: Array, rule: Array, hourglass: Array | None = None
) -> LatticeFunctions:
    """Return the lattice functions of elements with a law.

    Parameters
    ----------
    law : LawFunctions
    slopes : float64 [m, g, k, 3] or [1, g, k, 3]
        ∂N_n/∂ξ_a at the points of quadrature, of each element or of all.
    weights : float64 [g]
    geometry : float64 [m, g, 7 + 3 F]
        What is known of each point (see `symplex.fem.solids.chunks`).
    rule : float64 [2, n]
        Points in [0, 1] and weights by which slopes of the law are averaged along segments.
    hourglass : float64 [m, 33], optional
        The constants of an hourglass energy (`symplex.fem.solids.hourglass`) in addition.
    """
    m, (_, points, k, _) = len(geometry), slopes.shape
    patches = rule if rule.shape[1] == 1 else gauss_between(_PATCH)
    extra = np.empty((m, 0)) if hourglass is None else hourglass
    switches = law.point_switches if law.switch_count else 0
    header = [law.point_value, law.point_first, law.point_second, switches, k, points, law.fibres, law.switch_count]
    header += [rule.shape[1], patches.shape[1], len(law.parameters), extra.shape[1]]
    shared = np.concatenate([header, law.parameters, rule.ravel(), patches.ravel(), weights])
    of_each = np.broadcast_to(slopes, (m, points, k, 3)).reshape(m, -1)
    rows = np.hstack([np.tile(shared, (m, 1)), of_each, geometry.reshape(m, -1), extra])
    functions = _value.address, _difference.address, _mixed.address
    return LatticeFunctions(np.ascontiguousarray(rows), *functions, size=3 * k, owner=law)
