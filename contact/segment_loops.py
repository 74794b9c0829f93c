"""Energies of pairs of facets by integrals over what they share, with derivatives, in compiled loops.

A *facet* is a triangle of a surface, part of a face with shape functions N_A. The first facet of a pair has the normal
n; with its barycentric coordinates λ, and those μ of the second one, the ray from x(λ) along n meets the plane of the
second at μ(λ), which is linear in λ. What is common to both is the polygon {λ ≥ 0, μ_b(λ) ≥ −ε_b}, with ε_b > 0 at the
outer edges of a surface only. With the area A of the first at rest

    φ = m(c) ∫ ½ k (d̂ − γ)² 2 A dλ,    γ = n·(Σ_B N_B(μ(λ)) y_B − Σ_A N_A(λ) x_A) in (−depth, d̂),

(of linear faces the polygon ends at γ = d̂ as well: what is integrated is smooth, and so are sums over slivers)

where m grows from 0 to 1 with the cosine c between the normals, one turned round. All polygons of a facet make up the
facet where surfaces lie above each other, so that a uniform γ gives its nodes, and those opposite, the forces of a
uniform pressure. The integral is taken by a rule in each triangle (P_0, P_j, P_j+1) of the polygon.

∂φ/∂x follows backwards through these steps. The code runs on real and on complex positions: with x + i ε e_c the
imaginary part of the gradient is ε times a column of the Hessian, to round-off (Squire and Trapp, SIAM
Review 40, 1998).

The discrete gradient is that of `symplex.fem.energies.projected_gradient`: g_m + (n/|r|²) r, with r the increment
without its rigid motion about the middle.
"""

import numpy as np

from symplex.fem.compiled.kernels import formula, kernel
from symplex.fem.compiled.records import Indices, Integer, Matrices, Nodes, Number, Numbers, Record, Rows

_EPS = 2.0**-52
_STEP = 1e-40  # of imaginary parts
_ALIGNED = 1e-12  # of the height of a facet
_SMALL = 1e-9  # increments, relative to the size of a pair
_LOST = 4.0 * _EPS  # of energies
_STEEP, _FACING = 0.2, 0.5  # cosines between which facets begin to face each other


class FacetPairs(Record):
    """Pairs of facets, sorted."""

    nodes: Nodes  # [m, 2 w]: of the faces of the first and of the second, each filled up by its first one to w
    corners: Nodes  # [m, 6]: the places among these of the corners of both facets
    pairs: Nodes  # [m, 2]: the facets
    sizes: Indices  # [f]: how many nodes the face of each facet has
    areas: Numbers  # [f]: at rest in m²
    beyond: Rows  # [f, 3]: ε of the edges opposite to its corners
    shapes: Matrices  # [f, t, w]: the coefficients of products of λ_1 and λ_2 in N_A (`symplex.contact.facets`)
    points: Rows  # [g, 3]: the barycentric coordinates of the points of the rule
    weights: Rows  # [g, 1]: they sum to 1/2
    stiffness: Number
    reach: Number  # d̂ in m
    depth: Number
    linear: Integer  # whether all faces have three or four nodes


@formula
def _row(x, a):
    return x[a, 0], x[a, 1], x[a, 2]


@formula
def _minus(a, b):
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@formula
def _plus(a, b):
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@formula
def _times(s, a):
    return s * a[0], s * a[1], s * a[2]


@formula
def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@formula
def _cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@formula
def _add(out, a, v):
    out[a, 0] += v[0]
    out[a, 1] += v[1]
    out[a, 2] += v[2]


@formula
def _room(x):
    """Return arrays of the type of positions, for what is found on the way."""
    return (
        np.zeros((4, 3), x.dtype),  # μ_b at the corners a of the first; how far these are inside, over the depth
        np.zeros((4, 3), x.dtype),  # the derivative of φ with it
        np.zeros((16, 2), x.dtype),  # points of polygons: λ_1, λ_2
        np.zeros((16, 2), x.dtype),  # the derivative with them
        np.zeros((16, 3), x.dtype),  # where new ones come from: part, levels of both ends
        np.zeros((16, 3), np.int64),  # and from which edge of which points
        np.zeros((2, 16), np.int64),  # polygons
        np.zeros((2, 9), x.dtype),  # shape functions of both
        np.zeros((2, 9, 2), x.dtype),  # and their slopes with two barycentric coordinates
        np.zeros((15, 3), x.dtype),  # products of these, with slopes
    )


@formula
def _shape(l1, l2, coefficients, size, N, slopes, terms):
    """Set shape functions [9] and slopes [9, 2] of a facet at its barycentric coordinates."""
    count = len(coefficients)
    terms[0, 0], terms[0, 1], terms[0, 2] = 1.0, 0.0, 0.0
    begin, width = 0, 1
    while begin + width < count:  # the next degree: that one by λ_1, and the last of it by λ_2
        to = begin + width
        for i in range(width):
            p, p1, p2 = terms[begin + i, 0], terms[begin + i, 1], terms[begin + i, 2]
            terms[to + i, 0], terms[to + i, 1], terms[to + i, 2] = l1 * p, p + l1 * p1, l1 * p2
            if i == width - 1:
                terms[to + width, 0], terms[to + width, 1], terms[to + width, 2] = l2 * p, l2 * p1, p + l2 * p2
        begin, width = to, width + 1
    for A in range(size):
        p, p1, p2 = 0.0 * l1, 0.0 * l1, 0.0 * l1
        for i in range(count):
            c = coefficients[i, A]
            p += c * terms[i, 0]
            p1 += c * terms[i, 1]
            p2 += c * terms[i, 2]
        N[A], slopes[A, 0], slopes[A, 1] = p, p1, p2


@formula
def _clip(sides, mu, beyond, P, origin, ends, rings):
    """Cut the first facet to what is common; return how many points there are, corners, and in which ring these are."""
    P[0, 0], P[0, 1], P[1, 0], P[1, 1], P[2, 0], P[2, 1] = 0.0, 0.0, 1.0, 0.0, 0.0, 1.0
    used, n, ring = 3, 3, 0
    rings[0, 0], rings[0, 1], rings[0, 2] = 0, 1, 2
    for b in range(sides):
        kept, to = 0, 1 - ring
        more = beyond[b] if b < 3 else 0.0
        lowest, highest = np.inf, -np.inf
        for i in range(n):
            level = (_level(mu, b, P, rings[ring, i]) + more).real
            lowest, highest = min(lowest, level), max(highest, level)
        # Where an edge lies on another one, what is cut must be decided alike on both of its sides.
        if highest <= _ALIGNED:
            return used, 0, ring
        if lowest >= -_ALIGNED:
            continue
        for i in range(n):
            p, r = rings[ring, i], rings[ring, (i + 1) % n]
            lp = _level(mu, b, P, p) + more
            lr = _level(mu, b, P, r) + more
            inside = lp.real >= 0.0
            if inside:
                rings[to, kept] = p
                kept += 1
            if inside != (lr.real >= 0.0):
                t = lp / (lp - lr)
                P[used, 0] = P[p, 0] + t * (P[r, 0] - P[p, 0])
                P[used, 1] = P[p, 1] + t * (P[r, 1] - P[p, 1])
                origin[used, 0], origin[used, 1], origin[used, 2] = t, lp, lr
                ends[used, 0], ends[used, 1], ends[used, 2] = b, p, r
                rings[to, kept] = used
                kept += 1
                used += 1
        n, ring = kept, to
        if n < 3:
            break
    return used, n, ring


@formula
def _level(mu, b, P, p):
    return (1.0 - P[p, 0] - P[p, 1]) * mu[b, 0] + P[p, 0] * mu[b, 1] + P[p, 1] * mu[b, 2]


@formula
def _pair(x, e, our, room, mode, bar):
    """Return φ of a pair at its positions x [2 w, 3].

    With mode 1 ∂φ/∂x is added to bar [2 w, 3]. With mode 2 the least γ is returned instead, infinite if nothing is
    common to both. With mode 3 it is what corners have, by linear functions, of the force and area of what is pressed
    that is added, to two columns of the first three rows for the first facet and of the next three for the second.
    """
    mu, mu_bar, P, P_bar, origin, ends, rings, shapes, slopes, terms = room
    w = our.nodes.shape[1] // 2
    k, reach = our.stiffness, our.reach
    c0, c1, c2, d0, d1, d2 = our.corners[e]
    X0, Y0 = _row(x, c0), _row(x, d0)
    a1, a2 = _minus(_row(x, c1), X0), _minus(_row(x, c2), X0)
    e1, e2 = _minus(_row(x, d1), Y0), _minus(_row(x, d2), Y0)
    N, M = _cross(a1, a2), _cross(e1, e2)
    size_N, size_M = np.sqrt(_dot(N, N)), np.sqrt(_dot(M, M))
    n, normal = _times(1.0 / size_N, N), _times(1.0 / size_M, M)
    c = -_dot(n, normal)
    nothing = np.inf if mode == 2 else 0.0
    zero = 0.0 * c
    if c.real <= _STEEP:
        return zero + nothing
    s = (c - _STEEP) / (_FACING - _STEEP)
    facing, facing_slope = zero + 1.0, zero
    if c.real < _FACING:
        facing, facing_slope = s * s * (3.0 - 2.0 * s), 6.0 * s * (1.0 - s) / (_FACING - _STEEP)

    d = _dot(n, M)
    q1, q2 = _cross(e2, n), _cross(n, e1)
    lowest = zero + np.inf
    for a in range(3):
        v = _minus(X0 if a == 0 else _plus(X0, a1 if a == 1 else a2), Y0)
        mu[1, a], mu[2, a] = _dot(v, q1) / d, _dot(v, q2) / d
        mu[0, a] = 1.0 - mu[1, a] - mu[2, a]
        g = -_dot(v, M) / d
        mu[3, a] = (reach - g) / our.depth
        if g.real < lowest.real:
            lowest = g
    if mode != 2 and our.linear and lowest.real >= reach:
        return zero
    used, corners, ring = _clip(
        4 if our.linear and mode != 2 else 3, mu, our.beyond[our.pairs[e, 1]], P, origin, ends, rings
    )
    if corners < 3:
        return zero + nothing
    if mode == 1:
        mu_bar[:] = 0.0
        P_bar[:used] = 0.0
    n_bar = zero, zero, zero
    total, least = zero, zero + np.inf
    first, second = our.pairs[e, 0], our.pairs[e, 1]
    width, opposite = our.sizes[first], our.sizes[second]
    density = 2.0 * our.areas[first]
    p = rings[ring, 0]
    for j in range(1, corners - 1):
        r, t = rings[ring, j], rings[ring, j + 1]
        ru, rv, tu, tv = P[r, 0] - P[p, 0], P[r, 1] - P[p, 1], P[t, 0] - P[p, 0], P[t, 1] - P[p, 1]
        area, area_bar = ru * tv - tu * rv, zero
        for point in range(len(our.weights)):
            b1, b2 = our.points[point, 1], our.points[point, 2]
            u, v = P[p, 0] + b1 * ru + b2 * tu, P[p, 1] + b1 * rv + b2 * tv
            weight = our.weights[point, 0]
            l0 = 1.0 - u - v
            m1 = l0 * mu[1, 0] + u * mu[1, 1] + v * mu[1, 2]
            m2 = l0 * mu[2, 0] + u * mu[2, 1] + v * mu[2, 2]
            _shape(u, v, our.shapes[first], width, shapes[0], slopes[0], terms)
            _shape(m1, m2, our.shapes[second], opposite, shapes[1], slopes[1], terms)
            gap = zero, zero, zero
            xu, xv, y1, y2 = gap, gap, gap, gap
            for A in range(width):
                at = _row(x, A)
                gap = _minus(gap, _times(shapes[0, A], at))
                xu, xv = _plus(xu, _times(slopes[0, A, 0], at)), _plus(xv, _times(slopes[0, A, 1], at))
            for B in range(opposite):
                at = _row(x, w + B)
                gap = _plus(gap, _times(shapes[1, B], at))
                y1, y2 = _plus(y1, _times(slopes[1, B, 0], at)), _plus(y2, _times(slopes[1, B, 1], at))
            gamma = _dot(n, gap)
            if gamma.real < least.real:
                least = gamma
            if gamma.real >= reach or gamma.real <= -our.depth:
                continue
            h = reach - gamma
            phi = 0.5 * k * h * h
            total += weight * area * density * phi
            if mode == 3:
                pressed = weight * area * density
                parts = l0, u, v, 1.0 - m1 - m2, m1, m2
                for corner in range(6):
                    bar[corner, 0] += facing * pressed * k * h * parts[corner]
                    bar[corner, 1] += pressed * parts[corner]
            if mode != 1:
                continue
            pull = -facing * weight * area * density * k * h
            for A in range(width):
                _add(bar, A, _times(-pull * shapes[0, A], n))
            for B in range(opposite):
                _add(bar, w + B, _times(pull * shapes[1, B], n))
            n_bar = _plus(n_bar, _times(pull, gap))
            by1, by2 = _dot(n, y1), _dot(n, y2)
            by_u = by1 * (mu[1, 1] - mu[1, 0]) + by2 * (mu[2, 1] - mu[2, 0]) - _dot(n, xu)
            by_v = by1 * (mu[1, 2] - mu[1, 0]) + by2 * (mu[2, 2] - mu[2, 0]) - _dot(n, xv)
            u_bar, v_bar = pull * by_u, pull * by_v
            mu_bar[1, 0] += pull * by1 * l0
            mu_bar[1, 1] += pull * by1 * u
            mu_bar[1, 2] += pull * by1 * v
            mu_bar[2, 0] += pull * by2 * l0
            mu_bar[2, 1] += pull * by2 * u
            mu_bar[2, 2] += pull * by2 * v
            area_bar += facing * weight * density * phi
            b0 = 1.0 - b1 - b2
            P_bar[p, 0] += b0 * u_bar
            P_bar[p, 1] += b0 * v_bar
            P_bar[r, 0] += b1 * u_bar
            P_bar[r, 1] += b1 * v_bar
            P_bar[t, 0] += b2 * u_bar
            P_bar[t, 1] += b2 * v_bar
        if mode == 1:
            P_bar[r, 0] += area_bar * tv
            P_bar[r, 1] -= area_bar * tu
            P_bar[t, 0] -= area_bar * rv
            P_bar[t, 1] += area_bar * ru
            P_bar[p, 0] += area_bar * (rv - tv)
            P_bar[p, 1] += area_bar * (tu - ru)
    if mode == 2:
        return least
    if mode != 1:
        return facing * total

    for new in range(used - 1, 2, -1):
        _unclip(new, mu, mu_bar, P, P_bar, origin, ends)
    q1_bar, q2_bar = (zero, zero, zero), (zero, zero, zero)
    d_bar, M_bar = zero, (zero, zero, zero)
    for a in range(3):
        v = _minus(X0 if a == 0 else _plus(X0, a1 if a == 1 else a2), Y0)
        u1, u2 = mu_bar[1, a] / d, mu_bar[2, a] / d
        q1_bar, q2_bar = _plus(q1_bar, _times(u1, v)), _plus(q2_bar, _times(u2, v))
        d_bar -= u1 * mu[1, a] + u2 * mu[2, a]
        f = _plus(_times(u1, q1), _times(u2, q2))
        inside = mu_bar[3, a] / (d * our.depth)
        f = _plus(f, _times(inside, M))
        M_bar = _plus(M_bar, _times(inside, v))
        d_bar -= inside * _dot(v, M) / d
        _add(bar, our.corners[e, a], f)
        _add(bar, d0, _times(-1.0, f))
    c_bar = total * facing_slope
    n_bar = _plus(n_bar, _plus(_cross(q1_bar, e2), _cross(e1, q2_bar)))
    n_bar = _minus(_plus(n_bar, _times(d_bar, M)), _times(c_bar, normal))
    normal_bar = _times(-c_bar, n)
    M_bar = _plus(M_bar, _times(1.0 / size_M, _minus(normal_bar, _times(_dot(normal, normal_bar), normal))))
    M_bar = _plus(M_bar, _times(d_bar, n))
    e1_bar = _plus(_cross(q2_bar, n), _cross(e2, M_bar))
    e2_bar = _plus(_cross(n, q1_bar), _cross(M_bar, e1))
    N_bar = _times(1.0 / size_N, _minus(n_bar, _times(_dot(n, n_bar), n)))
    a1_bar, a2_bar = _cross(a2, N_bar), _cross(N_bar, a1)
    _add(bar, d1, e1_bar)
    _add(bar, d2, e2_bar)
    _add(bar, d0, _times(-1.0, _plus(e1_bar, e2_bar)))
    _add(bar, c1, a1_bar)
    _add(bar, c2, a2_bar)
    _add(bar, c0, _times(-1.0, _plus(a1_bar, a2_bar)))
    return facing * total


@formula
def _unclip(new, mu, mu_bar, P, P_bar, origin, ends):
    """Pass the derivative with a new point of a polygon on to the ends of the edge that it is on, and to μ."""
    t, lp, lr = origin[new, 0], origin[new, 1], origin[new, 2]
    b, p, r = ends[new, 0], ends[new, 1], ends[new, 2]
    u, v = P_bar[new, 0], P_bar[new, 1]
    t_bar = u * (P[r, 0] - P[p, 0]) + v * (P[r, 1] - P[p, 1])
    P_bar[p, 0] += (1.0 - t) * u
    P_bar[p, 1] += (1.0 - t) * v
    P_bar[r, 0] += t * u
    P_bar[r, 1] += t * v
    squared = (lp - lr) * (lp - lr)
    for end in range(2):
        at = p if end == 0 else r
        l_bar = (-lr if end == 0 else lp) / squared * t_bar
        P_bar[at, 0] += l_bar * (mu[b, 1] - mu[b, 0])
        P_bar[at, 1] += l_bar * (mu[b, 2] - mu[b, 0])
        shares = l_bar * (1.0 - P[at, 0] - P[at, 1]), l_bar * P[at, 0], l_bar * P[at, 1]
        for a in range(3):
            if b == 0:  # μ_0 = 1 − μ_1 − μ_2
                mu_bar[1, a] -= shares[a]
                mu_bar[2, a] -= shares[a]
            else:
                mu_bar[b, a] += shares[a]


@formula
def _gather(q, our, e, x):
    """Set x [2 w, 3] to positions relative to the first node of a pair."""
    nodes = our.nodes
    o = nodes[e, 0]
    for a in range(nodes.shape[1]):
        for i in range(3):
            x[a, i] = q[nodes[e, a], i] - q[o, i]


@formula
def _is_own(our, e, a):
    """Return whether a node of a pair is no filling."""
    w = our.nodes.shape[1] // 2
    return a < our.sizes[our.pairs[e, 0]] if a < w else a - w < our.sizes[our.pairs[e, 1]]


@kernel
def write_values(q, our, out, first, last):
    """Write φ of each pair, where there is room for it; return the sum."""
    x = np.empty((our.nodes.shape[1], 3))
    room, total, each = _room(x), 0.0, len(out) > 0
    for e in range(first, last):
        _gather(q, our, e, x)
        phi = _pair(x, e, our, room, 0, x)
        total += phi
        if each:
            out[e] = phi
    return total


@kernel
def add_gradient(q, our, out, first, last):
    """Add ∂φ/∂q [n, 3]."""
    x = np.empty((our.nodes.shape[1], 3))
    bar, room, check = np.zeros_like(x), _room(x), 0.0
    for e in range(first, last):
        _gather(q, our, e, x)
        phi = _pair(x, e, our, room, 1, bar)
        if phi == 0.0:
            bar[:] = 0.0
        else:
            check += _scatter(our, e, bar, out)
    return check


@formula
def _scatter(our, e, bar, out):
    """Add what is of the nodes of a pair to out [n, 3] and forget it; return the sum."""
    total = 0.0
    for a in range(len(bar)):
        for i in range(3):
            total += bar[a, i]
            out[our.nodes[e, a], i] += bar[a, i]
            bar[a, i] = 0.0
    return total


@kernel
def add_hessian(q, our, slots, out, first, last):
    """Add ∂²φ/∂q² to the blocks [nnz, 3, 3]."""
    x = np.empty((our.nodes.shape[1], 3))
    z = np.empty(x.shape, np.complex128)
    bar, room, of_value, check = np.zeros_like(z), _room(z), _room(x), 0.0
    for e in range(first, last):
        _gather(q, our, e, x)
        if _pair(x, e, our, of_value, 0, x) == 0.0:
            continue
        for a in range(len(x)):
            if not _is_own(our, e, a):
                continue
            for i in range(3):
                z[:] = x
                z[a, i] += _STEP * 1j
                _pair(z, e, our, room, 1, bar)
                check += _set_column(slots, e, a, i, bar, out)
    return check


@formula
def _set_column(slots, e, a, i, bar, out):
    """Add the imaginary part of what is of the nodes of a pair to a column of blocks and forget it; return the sum."""
    total = 0.0
    for b in range(len(bar)):
        at = slots[e, b, a]
        for j in range(3):
            value = bar[b, j].imag / _STEP
            total += value
            out[at, j, i] += value
            bar[b, j] = 0.0
    return total


@formula
def _without_rigid_motion(x0, x1, e, our, middle, r):
    """Set r [2 w, 3], what Δx has beyond a rigid motion about the middle [2 w, 3], which is set; return |r|²."""
    middle[:] = 0.5 * (x0 + x1)
    zero = 0.0 * x1[0, 0]
    count, mean, moved = 0, (zero, zero, zero), (zero, zero, zero)
    for a in range(len(x1)):
        if _is_own(our, e, a):
            count += 1
            mean, moved = _plus(mean, _row(middle, a)), _plus(moved, _minus(_row(x1, a), _row(x0, a)))
    mean, moved = _times(1.0 / count, mean), _times(1.0 / count, moved)
    # r = Δx − mean − ω × y, with I ω = Σ y × Δx
    L, xx, yy, zz, xy, yz, zx = (zero, zero, zero), zero, zero, zero, zero, zero, zero
    for a in range(len(x1)):
        if _is_own(our, e, a):
            y = _minus(_row(middle, a), mean)
            L = _plus(L, _cross(y, _minus(_row(x1, a), _row(x0, a))))
            xx, yy, zz = xx + y[0] * y[0], yy + y[1] * y[1], zz + y[2] * y[2]
            xy, yz, zx = xy + y[0] * y[1], yz + y[1] * y[2], zx + y[2] * y[0]
    r0, r1, r2 = (yy + zz, -xy, -zx), (-xy, zz + xx, -yz), (-zx, -yz, xx + yy)
    c12, c20, c01 = _cross(r1, r2), _cross(r2, r0), _cross(r0, r1)
    omega = _times(1.0 / _dot(r0, c12), _plus(_plus(_times(L[0], c12), _times(L[1], c20)), _times(L[2], c01)))
    squared = zero
    for a in range(len(x1)):
        if _is_own(our, e, a):
            dx = _minus(_row(x1, a), _row(x0, a))
            rest = _minus(_minus(dx, moved), _cross(omega, _minus(_row(middle, a), mean)))
            squared += _dot(rest, rest)
            r[a, 0], r[a, 1], r[a, 2] = rest
    return squared


@formula
def _discrete(x0, x1, e, our, room, r, g0, g, g1, middle):
    """Find DG = g + (n/|r|²) r of a pair from x0 to x1; return how it is found, n and |r|².

    How is 0 if it is zero, 1 if it is the gradient g at the middle, of small increments, 2 if n is found by Simpson's
    rule, else 3.
    """
    g0[:], g[:], g1[:] = 0.0, 0.0, 0.0
    squared = _without_rigid_motion(x0, x1, e, our, middle, r)
    phi0, phi1 = _pair(x0, e, our, room, 1, g0), _pair(x1, e, our, room, 1, g1)
    at_middle = _pair(middle, e, our, room, 1, g)
    if phi0 == 0.0 and phi1 == 0.0 and at_middle == 0.0:
        return 0, 0.0, squared
    work, simpson, lost, size = 0.0, 0.0, abs(phi0) + abs(phi1), 0.0
    for a in range(len(x1)):
        if _is_own(our, e, a):
            size += _dot(_row(middle, a), _row(middle, a))
            for i in range(3):
                dx = x1[a, i] - x0[a, i]
                work += g[a, i] * dx
                simpson += (g0[a, i] - 2.0 * g[a, i] + g1[a, i]) * dx / 6.0
                lost += abs(g[a, i] * middle[a, i])
    if squared <= _SMALL * _SMALL * size:  # then the correction is less than the rounding of energies
        return 1, 0.0, squared
    n = phi1 - phi0 - work
    return (2, simpson, squared) if abs(n - simpson) <= _LOST * lost else (3, n, squared)


@formula
def _like(x):
    """Return six arrays of the shape and type of x."""
    zero = np.zeros_like
    return zero(x), zero(x), zero(x), zero(x), zero(x), zero(x)


@kernel
def add_discrete_gradient(q0, q1, our, out, first, last):
    """Add DG [n, 3] from q0 to q1."""
    x0 = np.empty((our.nodes.shape[1], 3))
    x1, r, g0, g, g1, middle = _like(x0)
    room, check = _room(x0), 0.0
    for e in range(first, last):
        _gather(q0, our, e, x0)
        _gather(q1, our, e, x1)
        _shift(q0, q1, our, e, x1)
        how, n, squared = _discrete(x0, x1, e, our, room, r, g0, g, g1, middle)
        if how == 0:
            continue
        if how > 1:
            for a in range(len(x1)):
                if _is_own(our, e, a):
                    _add(g, a, _times(n / squared, _row(r, a)))
        check += _scatter(our, e, g, out)
    return check


@formula
def _shift(q0, q1, our, e, x1):
    """Let x1 be relative to where the first node was."""
    o = our.nodes[e, 0]
    for i in range(3):
        by = q1[o, i] - q0[o, i]
        for a in range(len(x1)):
            x1[a, i] += by


@kernel
def add_discrete_hessian(q0, q1, our, slots, out, first, last):
    """Add ∂DG/∂q1 = ½ H + r ⊗ ∂(n/|r|²) + (n/|r|²) ∂r to the blocks [nnz, 3, 3], with H at the middle."""
    x0 = np.empty((our.nodes.shape[1], 3))
    x1, r, g0, g, g1, middle = _like(x0)
    n_slope = np.zeros_like(x0)
    z0, z, r_of_z, bar, z_middle, _ = _like(np.empty(x0.shape, np.complex128))
    room, complex_room, check = _room(x0), _room(z), 0.0
    for e in range(first, last):
        _gather(q0, our, e, x0)
        _gather(q1, our, e, x1)
        _shift(q0, q1, our, e, x1)
        how, n, squared = _discrete(x0, x1, e, our, room, r, g0, g, g1, middle)
        if how == 0:
            continue
        if how == 2:  # n = b·Δx/6, b = g0 − 2 g + g1
            z[:] = x1 + (_STEP * 1j) * (x1 - x0)
            _pair(z, e, our, complex_room, 1, bar)
            n_slope[:] = (g0 - 2.0 * g + g1 + bar.imag / _STEP) / 6.0
            bar[:] = 0.0
        else:
            n_slope[:] = g1 - g
        share = 1.0 / 6.0 if how == 2 else 0.5
        for a in range(len(x1)):
            if not _is_own(our, e, a):
                continue
            for i in range(3):
                z[:] = middle
                z[a, i] += _STEP * 1j
                _pair(z, e, our, complex_room, 1, bar)
                along = 0.0  # (H Δx) of this coordinate, as H is symmetric
                for b in range(len(x1)):
                    for j in range(3):
                        along += bar[b, j].imag / _STEP * (x1[b, j] - x0[b, j])
                bar *= 0.5
                if how > 1:
                    z[:], z0[:] = x1, x0
                    z[a, i] += _STEP * 1j
                    by = n / squared
                    bent = _without_rigid_motion(z0, z, e, our, z_middle, r_of_z).imag / _STEP
                    by_slope = (n_slope[a, i] - share * along - by * bent) / squared
                    for b in range(len(x1)):
                        if _is_own(our, e, b):
                            for j in range(3):
                                bar[b, j] += 1j * (_STEP * r[b, j] * by_slope) + by * r_of_z[b, j]
                check += _set_column(slots, e, a, i, bar, out)
    return check


@kernel
def write_gaps(q, our, gaps):
    """Write the least γ [m] of each pair in m; infinite where facets have nothing in common."""
    x = np.empty((our.nodes.shape[1], 3))
    room = _room(x)
    for e in range(len(gaps)):
        _gather(q, our, e, x)
        gaps[e] = _pair(x, e, our, room, 2, x)


@kernel
def add_pressures(q, our, out):
    """Add to out [n, 2] what nodes have of the forces in N and areas in m² of what is pressed, by linear functions."""
    x = np.empty((our.nodes.shape[1], 3))
    bar, room = np.zeros_like(x), _room(x)
    for e in range(len(our.nodes)):
        _gather(q, our, e, x)
        _pair(x, e, our, room, 3, bar)
        for c in range(6):
            node = our.nodes[e, our.corners[e, c]]
            out[node, 0] += bar[c, 0]
            out[node, 1] += bar[c, 1]
        bar[:] = 0.0
