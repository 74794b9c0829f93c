"""Squared distances of a vertex and a triangle, and of two edges, as formulas for compiled loops.

The closest points are Σ c_a x_a = 0 apart: of a vertex x0 and the triangle x1 x2 x3 with c = (1, −λ1, −λ2, −λ3), of
the edges x0 x1 and x2 x3 with c = (1−u, u, v−1, −v). Whatever rounding does, c belongs to points of the two.
"""

from __future__ import annotations

import numpy as np

from symplex.fem.kernels import formula, inlined

_PARALLEL = 1e-10  # sin² of the angle of edges below which their ends are compared as well
_TOUCHING = 1e-12  # of the longest edge: an edge that reaches less far through a triangle only touches it


@formula
def squared_distance(x, edge_edge, c):
    """Return |Σ c_a x_a|² in m² at the closest points of x [4, 3], with their coefficients c [4] (out)."""
    if edge_edge:
        return edge_edge_distance(x, c)
    return vertex_face_distance(x, c)


@formula
def vertex_face_distance(x, c):
    """Return the squared distance of x[0] and the triangle x[1], x[2], x[3]; c (out)."""
    # n = e × f;  λ2 = n·(r × f)/n²,  λ3 = n·(e × r)/n²: more accurate in narrow triangles than by inner products.
    e0, e1, e2 = x[2, 0] - x[1, 0], x[2, 1] - x[1, 1], x[2, 2] - x[1, 2]
    f0, f1, f2 = x[3, 0] - x[1, 0], x[3, 1] - x[1, 1], x[3, 2] - x[1, 2]
    r0, r1, r2 = x[0, 0] - x[1, 0], x[0, 1] - x[1, 1], x[0, 2] - x[1, 2]
    n0, n1, n2 = e1 * f2 - e2 * f1, e2 * f0 - e0 * f2, e0 * f1 - e1 * f0
    nn = n0 * n0 + n1 * n1 + n2 * n2
    if nn > 0.0:
        second = (n0 * (r1 * f2 - r2 * f1) + n1 * (r2 * f0 - r0 * f2) + n2 * (r0 * f1 - r1 * f0)) / nn
        third = (n0 * (e1 * r2 - e2 * r1) + n1 * (e2 * r0 - e0 * r2) + n2 * (e0 * r1 - e1 * r0)) / nn
        if second >= 0.0 and third >= 0.0 and second + third <= 1.0:
            c[0], c[1], c[2], c[3] = 1.0, second + third - 1.0, -second, -third
            return _squared(x, c)
    # Outside of the prism over the triangle: on one of its edges.
    least, first, last, share = _on_segment(x, 0, 1, 2)
    for a, b in ((2, 3), (3, 1)):
        s, _, _, t = _on_segment(x, 0, a, b)
        if s < least:
            least, first, last, share = s, a, b, t
    c[0], c[1], c[2], c[3] = 1.0, 0.0, 0.0, 0.0
    c[first], c[last] = share - 1.0, -share
    return least


@formula
def edge_edge_distance(x, c):
    """Return the squared distance of the edges x[0] x[1] and x[2] x[3]; c (out)."""
    # n = e × f;  u = n·(r × f)/n²,  v = n·(r × e)/n²
    e0, e1, e2 = x[1, 0] - x[0, 0], x[1, 1] - x[0, 1], x[1, 2] - x[0, 2]
    f0, f1, f2 = x[3, 0] - x[2, 0], x[3, 1] - x[2, 1], x[3, 2] - x[2, 2]
    r0, r1, r2 = x[2, 0] - x[0, 0], x[2, 1] - x[0, 1], x[2, 2] - x[0, 2]
    n0, n1, n2 = e1 * f2 - e2 * f1, e2 * f0 - e0 * f2, e0 * f1 - e1 * f0
    nn = n0 * n0 + n1 * n1 + n2 * n2
    least = -1.0
    if nn > 0.0:
        u = (n0 * (r1 * f2 - r2 * f1) + n1 * (r2 * f0 - r0 * f2) + n2 * (r0 * f1 - r1 * f0)) / nn
        v = (n0 * (r1 * e2 - r2 * e1) + n1 * (r2 * e0 - r0 * e2) + n2 * (r0 * e1 - r1 * e0)) / nn
        if 0.0 <= u <= 1.0 and 0.0 <= v <= 1.0:
            c[0], c[1], c[2], c[3] = 1.0 - u, u, v - 1.0, -v
            least = _squared(x, c)
            squares = (e0 * e0 + e1 * e1 + e2 * e2) * (f0 * f0 + f1 * f1 + f2 * f2)
            if nn > _PARALLEL * squares:
                return least
    # An end of one of them is closest; of nearly parallel ones it may be, within rounding.
    for end, a, b in ((0, 2, 3), (1, 2, 3), (2, 0, 1), (3, 0, 1)):
        s, _, _, t = _on_segment(x, end, a, b)
        if least < 0.0 or s < least:
            least = s
            sign = 1.0 if end < 2 else -1.0
            c[0], c[1], c[2], c[3] = 0.0, 0.0, 0.0, 0.0
            c[end], c[a], c[b] = sign, sign * (t - 1.0), -sign * t
    return least


@formula
def relative_way(x, y, edge_edge):
    """Return a bound in m of how far points of the two move relative to each other from x [4, 3] to y [4, 3].

    The sum of the longest ways of both, without the mean of the four: eq. 14 ff. of Li, Kaufman and Jiang (2021).
    """
    m0 = 0.25 * (y[0, 0] - x[0, 0] + y[1, 0] - x[1, 0] + y[2, 0] - x[2, 0] + y[3, 0] - x[3, 0])
    m1 = 0.25 * (y[0, 1] - x[0, 1] + y[1, 1] - x[1, 1] + y[2, 1] - x[2, 1] + y[3, 1] - x[3, 1])
    m2 = 0.25 * (y[0, 2] - x[0, 2] + y[1, 2] - x[1, 2] + y[2, 2] - x[2, 2] + y[3, 2] - x[3, 2])
    one, other = 0.0, 0.0
    for a in range(4):
        w0, w1, w2 = y[a, 0] - x[a, 0] - m0, y[a, 1] - x[a, 1] - m1, y[a, 2] - x[a, 2] - m2
        way = w0 * w0 + w1 * w1 + w2 * w2
        if a == 0 or (a == 1 and edge_edge):
            one = max(one, way)
        else:
            other = max(other, way)
    return np.sqrt(one) + np.sqrt(other)


@formula
def cuts(q, a, b, t0, t1, t2):
    """Return whether the edge a b passes through the triangle t0 t1 t2, nodes at q [n, 3]; touching is not passing."""
    e0, e1, e2 = q[t1, 0] - q[t0, 0], q[t1, 1] - q[t0, 1], q[t1, 2] - q[t0, 2]
    f0, f1, f2 = q[t2, 0] - q[t0, 0], q[t2, 1] - q[t0, 1], q[t2, 2] - q[t0, 2]
    g0, g1, g2 = q[b, 0] - q[a, 0], q[b, 1] - q[a, 1], q[b, 2] - q[a, 2]
    r0, r1, r2 = q[a, 0] - q[t0, 0], q[a, 1] - q[t0, 1], q[a, 2] - q[t0, 2]
    n0, n1, n2 = e1 * f2 - e2 * f1, e2 * f0 - e0 * f2, e0 * f1 - e1 * f0
    above, rise = n0 * r0 + n1 * r1 + n2 * r2, n0 * g0 + n1 * g1 + n2 * g2
    longest = max(e0 * e0 + e1 * e1 + e2 * e2, f0 * f0 + f1 * f1 + f2 * f2, g0 * g0 + g1 * g1 + g2 * g2)
    least = _TOUCHING * np.sqrt((n0 * n0 + n1 * n1 + n2 * n2) * longest)
    below = above + rise
    if not ((above > least and below < -least) or (above < -least and below > least)):
        return False
    # Where it meets the plane: second = (g × f)·r/(g·n) and so on, of one sign with their sum.
    h0, h1, h2 = g1 * r2 - g2 * r1, g2 * r0 - g0 * r2, g0 * r1 - g1 * r0
    second = (h0 * f0 + h1 * f1 + h2 * f2) / rise
    third = -(h0 * e0 + h1 * e1 + h2 * e2) / rise
    return second >= 0.0 and third >= 0.0 and second + third <= 1.0


@inlined
def _on_segment(x, point, a, b):
    """Return the squared distance of a point and the segment a b, a, b, and the share of b in the closest point."""
    e0, e1, e2 = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    r0, r1, r2 = x[point, 0] - x[a, 0], x[point, 1] - x[a, 1], x[point, 2] - x[a, 2]
    ee = e0 * e0 + e1 * e1 + e2 * e2
    t = (e0 * r0 + e1 * r1 + e2 * r2) / ee if ee > 0.0 else 0.0
    t = min(max(t, 0.0), 1.0)
    d0, d1, d2 = r0 - t * e0, r1 - t * e1, r2 - t * e2
    return d0 * d0 + d1 * d1 + d2 * d2, a, b, t


@inlined
def _squared(x, c):
    """Return |Σ c_a x_a|², summed from differences to x[0], as Σ c_a = 0."""
    total = 0.0
    for k in range(3):
        d = c[1] * (x[1, k] - x[0, k]) + c[2] * (x[2, k] - x[0, k]) + c[3] * (x[3, k] - x[0, k])
        total += d * d
    return total
