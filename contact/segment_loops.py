"""Energies of pairs of facets by integrals over what they share, with derivatives, in compiled loops.

With the area A of the first facet at rest and the polygon and gap of `symplex.contact.facet_pairs`

    φ = m(c) ∫ ½ k (d̂ − γ)² 2 A dλ,    γ in (−depth, d̂),

where m grows from 0 to 1 with the cosine c between the normals, one turned round. All polygons of a facet make up the
facet where surfaces lie above each other, so that a uniform γ gives its nodes, and those opposite, the forces of a
uniform pressure.

∂φ/∂x follows backwards through the steps of the integral. With x + i ε e_c the imaginary part of the gradient is ε
times a column of the Hessian, to round-off (Squire and Trapp, SIAM Review 40, 1998).

The discrete gradient is that of `symplex.fem.energies.projected_gradient`: g_m + (n/|r|²) r, with r the increment
without its rigid motion about the middle.
"""

import numpy as np

from symplex.contact.facet_pairs import (
    STEP,
    add_to,
    cross,
    dot,
    gap_at,
    gather_facets,
    is_own,
    minus,
    overlap,
    place,
    plus,
    row,
    scatter_facets,
    set_column,
    times,
    triangle,
    workspace,
)
from symplex.fem.compiled.kernels import formula, kernel

_EPS = 2.0**-52
_SMALL = 1e-9  # increments, relative to the size of a pair
_LOST = 4.0 * _EPS  # of energies


@formula
def _pair(x, e, our, room, bar):
    """Return φ of a pair at its positions x [2 w, 3]; if bar [2 w, 3] is not empty, ∂φ/∂x is added to it."""
    common = overlap(x, e, our, room, True)
    zero = 0.0 * common.d
    if common.corners == 0:
        return zero
    mu, mu_bar, P, P_bar, origin, ends, rings, shapes, slopes, _ = room
    w, slope = our.nodes.shape[1] // 2, len(bar) > 0
    k, reach, n, facing = our.stiffness, our.reach, common.n, common.facing
    if slope:
        mu_bar[:] = 0.0
        P_bar[: common.used] = 0.0
    n_bar = zero, zero, zero
    total = zero
    first, second = our.pairs[e, 0], our.pairs[e, 1]
    width, opposite = our.sizes[first], our.sizes[second]
    density = 2.0 * our.areas[first]
    for j in range(1, common.corners - 1):
        (p, r, t), edges, area = triangle(P, rings[common.ring], j)
        area_bar = zero
        for point in range(len(our.weights)):
            b1, b2 = our.points[point, 1], our.points[point, 2]
            weight = our.weights[point, 0]
            u, v = place(P, p, edges, b1, b2)
            gap, _, _ = gap_at(x, e, our, room, u, v)
            gamma = dot(n, gap)
            if gamma.real >= reach or gamma.real <= -our.depth:
                continue
            h = reach - gamma
            phi = 0.5 * k * h * h
            total += weight * area * density * phi
            if not slope:
                continue
            pull = -facing * weight * area * density * k * h
            by_u, by_v, by1, by2 = zero, zero, zero, zero
            for A in range(width):
                add_to(bar, A, times(-pull * shapes[0, A], n))
                along = dot(n, row(x, A))
                by_u -= slopes[0, A, 0] * along
                by_v -= slopes[0, A, 1] * along
            for B in range(opposite):
                add_to(bar, w + B, times(pull * shapes[1, B], n))
                along = dot(n, row(x, w + B))
                by1 += slopes[1, B, 0] * along
                by2 += slopes[1, B, 1] * along
            n_bar = plus(n_bar, times(pull, gap))
            by_u += by1 * (mu[1, 1] - mu[1, 0]) + by2 * (mu[2, 1] - mu[2, 0])
            by_v += by1 * (mu[1, 2] - mu[1, 0]) + by2 * (mu[2, 2] - mu[2, 0])
            u_bar, v_bar = pull * by_u, pull * by_v
            for b, by in ((1, by1), (2, by2)):
                mu_bar[b, 0] += pull * by * (1.0 - u - v)
                mu_bar[b, 1] += pull * by * u
                mu_bar[b, 2] += pull * by * v
            area_bar += facing * weight * density * phi
            for corner, share in ((p, 1.0 - b1 - b2), (r, b1), (t, b2)):
                P_bar[corner, 0] += share * u_bar
                P_bar[corner, 1] += share * v_bar
        if slope:
            ru, rv, tu, tv = edges
            P_bar[r, 0] += area_bar * tv
            P_bar[r, 1] -= area_bar * tu
            P_bar[t, 0] -= area_bar * rv
            P_bar[t, 1] += area_bar * ru
            P_bar[p, 0] += area_bar * (rv - tv)
            P_bar[p, 1] += area_bar * (tu - ru)
    if slope:
        for new in range(common.used - 1, 2, -1):
            _unclip(new, mu, mu_bar, P, P_bar, origin, ends)
        _back(e, our, mu, mu_bar, common, n_bar, total, bar)
    return facing * total


@formula
def _back(e, our, mu, mu_bar, common, n_bar, total, bar):
    """Pass derivatives with μ, n and the total on to the corners of both facets."""
    (X0, a1, a2, size_N), (Y0, M, e1, e2, size_M) = common.first, common.second
    n, normal, d, (q1, q2) = common.n, common.normal, common.d, common.ways
    c0, c1, c2, d0, d1, d2 = our.corners[e]
    zero = 0.0 * d
    q1_bar, q2_bar = (zero, zero, zero), (zero, zero, zero)
    d_bar, M_bar = zero, (zero, zero, zero)
    for a in range(3):
        v = minus(X0 if a == 0 else plus(X0, a1 if a == 1 else a2), Y0)
        u1, u2 = mu_bar[1, a] / d, mu_bar[2, a] / d
        q1_bar, q2_bar = plus(q1_bar, times(u1, v)), plus(q2_bar, times(u2, v))
        d_bar -= u1 * mu[1, a] + u2 * mu[2, a]
        f = plus(times(u1, q1), times(u2, q2))
        inside = mu_bar[3, a] / (d * our.depth)
        f = plus(f, times(inside, M))
        M_bar = plus(M_bar, times(inside, v))
        d_bar -= inside * dot(v, M) / d
        add_to(bar, our.corners[e, a], f)
        add_to(bar, d0, times(-1.0, f))
    c_bar = total * common.facing_slope
    n_bar = plus(n_bar, plus(cross(q1_bar, e2), cross(e1, q2_bar)))
    n_bar = minus(plus(n_bar, times(d_bar, M)), times(c_bar, normal))
    normal_bar = times(-c_bar, n)
    M_bar = plus(M_bar, times(1.0 / size_M, minus(normal_bar, times(dot(normal, normal_bar), normal))))
    M_bar = plus(M_bar, times(d_bar, n))
    e1_bar = plus(cross(q2_bar, n), cross(e2, M_bar))
    e2_bar = plus(cross(n, q1_bar), cross(M_bar, e1))
    N_bar = times(1.0 / size_N, minus(n_bar, times(dot(n, n_bar), n)))
    a1_bar, a2_bar = cross(a2, N_bar), cross(N_bar, a1)
    add_to(bar, d1, e1_bar)
    add_to(bar, d2, e2_bar)
    add_to(bar, d0, times(-1.0, plus(e1_bar, e2_bar)))
    add_to(bar, c1, a1_bar)
    add_to(bar, c2, a2_bar)
    add_to(bar, c0, times(-1.0, plus(a1_bar, a2_bar)))


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


@kernel
def write_values(q, our, out, first, last):
    """Write φ of each pair, where there is room for it; return the sum."""
    x = np.empty((our.nodes.shape[1], 3))
    room, total, each = workspace(x), 0.0, len(out) > 0
    for e in range(first, last):
        gather_facets(q, our, e, x)
        phi = _pair(x, e, our, room, x[:0])
        total += phi
        if each:
            out[e] = phi
    return total


@kernel
def add_gradient(q, our, out, first, last):
    """Add ∂φ/∂q [n, 3]."""
    x = np.empty((our.nodes.shape[1], 3))
    bar, room, check = np.zeros_like(x), workspace(x), 0.0
    for e in range(first, last):
        gather_facets(q, our, e, x)
        phi = _pair(x, e, our, room, bar)
        if phi == 0.0:
            bar[:] = 0.0
        else:
            check += scatter_facets(our, e, bar, out)
    return check


@kernel
def add_hessian(q, our, slots, out, first, last):
    """Add ∂²φ/∂q² to the blocks [nnz, 3, 3]."""
    x = np.empty((our.nodes.shape[1], 3))
    z = np.empty(x.shape, np.complex128)
    bar, room, of_value, check = np.zeros_like(z), workspace(z), workspace(x), 0.0
    for e in range(first, last):
        gather_facets(q, our, e, x)
        if _pair(x, e, our, of_value, x[:0]) == 0.0:
            continue
        for a in range(len(x)):
            if not is_own(our, e, a):
                continue
            for i in range(3):
                z[:] = x
                z[a, i] += STEP * 1j
                _pair(z, e, our, room, bar)
                check += set_column(slots, e, a, i, bar, out)
    return check


@formula
def _without_rigid_motion(x0, x1, e, our, middle, r):
    """Set r [2 w, 3], what Δx has beyond a rigid motion about the middle [2 w, 3]; return |r|²."""
    zero = 0.0 * x1[0, 0]
    count, mean, moved = 0, (zero, zero, zero), (zero, zero, zero)
    for a in range(len(x1)):
        if is_own(our, e, a):
            count += 1
            mean, moved = plus(mean, row(middle, a)), plus(moved, minus(row(x1, a), row(x0, a)))
    mean, moved = times(1.0 / count, mean), times(1.0 / count, moved)
    # r = Δx − mean − ω × y, with I ω = Σ y × Δx
    L, xx, yy, zz, xy, yz, zx = (zero, zero, zero), zero, zero, zero, zero, zero, zero
    for a in range(len(x1)):
        if is_own(our, e, a):
            y = minus(row(middle, a), mean)
            L = plus(L, cross(y, minus(row(x1, a), row(x0, a))))
            xx, yy, zz = xx + y[0] * y[0], yy + y[1] * y[1], zz + y[2] * y[2]
            xy, yz, zx = xy + y[0] * y[1], yz + y[1] * y[2], zx + y[2] * y[0]
    r0, r1, r2 = (yy + zz, -xy, -zx), (-xy, zz + xx, -yz), (-zx, -yz, xx + yy)
    c12, c20, c01 = cross(r1, r2), cross(r2, r0), cross(r0, r1)
    omega = times(1.0 / dot(r0, c12), plus(plus(times(L[0], c12), times(L[1], c20)), times(L[2], c01)))
    squared = zero
    for a in range(len(x1)):
        if is_own(our, e, a):
            dx = minus(row(x1, a), row(x0, a))
            rest = minus(minus(dx, moved), cross(omega, minus(row(middle, a), mean)))
            squared += dot(rest, rest)
            r[a, 0], r[a, 1], r[a, 2] = rest
    return squared


@formula
def _discrete(x0, x1, e, our, room, r, g0, g, g1, middle):
    """Find DG = g + (n/|r|²) r of a pair from x0 to x1; return how it is found, n and |r|².

    How is 0 if it is zero, 1 if it is the gradient g at the middle, of small increments, 2 if n is found by Simpson's
    rule, else 3.
    """
    g0[:], g[:], g1[:] = 0.0, 0.0, 0.0
    middle[:] = 0.5 * (x0 + x1)
    phi0, phi1 = _pair(x0, e, our, room, g0), _pair(x1, e, our, room, g1)
    at_middle = _pair(middle, e, our, room, g)
    if phi0 == 0.0 and phi1 == 0.0 and at_middle == 0.0:
        return 0, 0.0, 0.0
    squared = _without_rigid_motion(x0, x1, e, our, middle, r)
    work, simpson, lost, size = 0.0, 0.0, abs(phi0) + abs(phi1), 0.0
    for a in range(len(x1)):
        if is_own(our, e, a):
            size += dot(row(middle, a), row(middle, a))
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
    room, check = workspace(x0), 0.0
    for e in range(first, last):
        gather_facets(q0, our, e, x0)
        gather_facets(q1, our, e, x1)
        _shift(q0, q1, our, e, x1)
        how, n, squared = _discrete(x0, x1, e, our, room, r, g0, g, g1, middle)
        if how == 0:
            continue
        if how > 1:
            for a in range(len(x1)):
                if is_own(our, e, a):
                    add_to(g, a, times(n / squared, row(r, a)))
        check += scatter_facets(our, e, g, out)
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
    room, complex_room, check = workspace(x0), workspace(z), 0.0
    for e in range(first, last):
        gather_facets(q0, our, e, x0)
        gather_facets(q1, our, e, x1)
        _shift(q0, q1, our, e, x1)
        how, n, squared = _discrete(x0, x1, e, our, room, r, g0, g, g1, middle)
        if how == 0:
            continue
        if how == 2:  # n = b·Δx/6, b = g0 − 2 g + g1
            z[:] = x1 + (STEP * 1j) * (x1 - x0)
            _pair(z, e, our, complex_room, bar)
            n_slope[:] = (g0 - 2.0 * g + g1 + bar.imag / STEP) / 6.0
            bar[:] = 0.0
        else:
            n_slope[:] = g1 - g
        share = 1.0 / 6.0 if how == 2 else 0.5
        for a in range(len(x1)):
            if not is_own(our, e, a):
                continue
            for i in range(3):
                z[:] = middle
                z[a, i] += STEP * 1j
                _pair(z, e, our, complex_room, bar)
                along = 0.0  # (H Δx) of this coordinate, as H is symmetric
                for b in range(len(x1)):
                    for j in range(3):
                        along += bar[b, j].imag / STEP * (x1[b, j] - x0[b, j])
                bar *= 0.5
                if how > 1:
                    z[:], z0[:] = x1, x0
                    z[a, i] += STEP * 1j
                    by = n / squared
                    z_middle[:] = 0.5 * (z0 + z)
                    bent = _without_rigid_motion(z0, z, e, our, z_middle, r_of_z).imag / STEP
                    by_slope = (n_slope[a, i] - share * along - by * bent) / squared
                    for b in range(len(x1)):
                        if is_own(our, e, b):
                            for j in range(3):
                                bar[b, j] += 1j * (STEP * r[b, j] * by_slope) + by * r_of_z[b, j]
                check += set_column(slots, e, a, i, bar, out)
    return check


@kernel
def write_gaps(q, our, gaps):
    """Write the least γ [m] of each pair in m; infinite where facets have nothing in common."""
    x = np.empty((our.nodes.shape[1], 3))
    room = workspace(x)
    for e in range(len(gaps)):
        gather_facets(q, our, e, x)
        gaps[e] = np.inf
        common = overlap(x, e, our, room, False)
        for j in range(1, common.corners - 1):
            (p, _, _), edges, _ = triangle(room[2], room[6][common.ring], j)
            for point in range(len(our.weights)):
                u, v = place(room[2], p, edges, our.points[point, 1], our.points[point, 2])
                gap, _, _ = gap_at(x, e, our, room, u, v)
                gaps[e] = min(gaps[e], dot(common.n, gap))


@kernel
def add_pressures(q, our, out):
    """Add to out [n, 2] what nodes have of the forces in N and areas in m² of what is pressed, by linear functions."""
    x = np.empty((our.nodes.shape[1], 3))
    room = workspace(x)
    for e in range(len(our.nodes)):
        gather_facets(q, our, e, x)
        common = overlap(x, e, our, room, True)
        for j in range(1, common.corners - 1):
            (p, _, _), edges, area = triangle(room[2], room[6][common.ring], j)
            for point in range(len(our.weights)):
                u, v = place(room[2], p, edges, our.points[point, 1], our.points[point, 2])
                gap, m1, m2 = gap_at(x, e, our, room, u, v)
                gamma = dot(common.n, gap)
                if gamma >= our.reach or gamma <= -our.depth:
                    continue
                pressed = 2.0 * our.weights[point, 0] * area * our.areas[our.pairs[e, 0]]
                force = common.facing * pressed * our.stiffness * (our.reach - gamma)
                shares = 1.0 - u - v, u, v, 1.0 - m1 - m2, m1, m2
                for c in range(6):
                    node = our.nodes[e, our.corners[e, c]]
                    out[node, 0] += force * shares[c]
                    out[node, 1] += pressed * shares[c]
