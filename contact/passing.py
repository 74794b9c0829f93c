"""Whether a vertex and a triangle, or two edges, pass through each other, as formulas for compiled loops."""

from __future__ import annotations

import numpy as np

from symplex.contact.closest import closest, combined
from symplex.fem.kernels import formula

TOUCHING = 1e-12  # of the longest edge: an edge that reaches less far through a triangle only touches it
_INSIDE = 1e-9  # what its barycentric coordinates exceed where an edge passes through a triangle
_SHARE = 0.9  # of a step that does not lead to contact
_MOST_STEPS = 256
_MOST_TO_MEET = 2000  # pairs that graze each other take hundreds; a false alarm ends a run


@formula
def without_mean(w):
    """Subtract the mean of displacements w [4, 3] from them."""
    for j in range(3):
        mean = 0.25 * (w[0, j] + w[1, j] + w[2, j] + w[3, j])
        for a in range(4):
            w[a, j] -= mean


@formula
def relative_way(edge_edge, w):
    """Return a bound in m of how far the two move towards each other in displacements w [4, 3], without their mean."""
    one, other = 0.0, 0.0
    for a in range(4):
        squared = w[a, 0] * w[a, 0] + w[a, 1] * w[a, 1] + w[a, 2] * w[a, 2]
        if a == 0 or (a == 1 and edge_edge):
            one = max(one, squared)
        else:
            other = max(other, squared)
    return np.sqrt(one) + np.sqrt(other)


@formula
def free_way(edge_edge, x, w, gap, most, c):
    """Return a share t of displacements, at most ``most``, up to which the two stay farther apart than about a gap.

    Additive advancement (Li, Kaufman and Jiang, Codimensional incremental potential contact, 2021, algorithm 1): no
    points of the two approach each other by more than the sum l of the longest displacements, so that a step d/l does
    not lead to contact. Nine tenths of it are added up until the gap would be passed; the first one always is. It ends
    at once where no such step would, as the two stay apart in the present direction of their distance: bodies that
    slide along each other take one step instead of many. After 256 steps what is reached is returned.

    Parameters
    ----------
    edge_edge : bool
    x : float64 [4, 3]
        Positions relative to the first one; what is left in them is of no use.
    w : float64 [4, 3]
        Displacements without their mean.
    gap, most : float
        In m; as a share.
    c : float64 [4]
        Room for the closest points.
    """
    way = relative_way(edge_edge, w)
    d = np.sqrt(closest(edge_edge, x, c))
    t = 0.0
    for step in range(_MOST_STEPS):
        if not d > 0.0:
            return t
        if not way > 0.0:
            return most
        forward = _SHARE * d / way
        # No later step on the way to ``most`` is longer than this one and a share of the way to there.
        if _way_along(edge_edge, x, w, combined(c, x), gap) >= forward + (1.0 + _SHARE) * (most - t):
            return most
        _advance(x, w, forward)
        d = np.sqrt(closest(edge_edge, x, c))
        if step > 0 and d < gap:
            return t
        t += forward
        if t >= most:
            return most
    return t


@formula
def meeting(edge_edge, x, w, gap, c):
    """Return the share of displacements after which the two are nearer than a gap, or 2 if they never are up to 1.

    Steps are as long as they surely do not meet: by the sum of displacements, or in the present direction of their
    distance, in which the separation of convex bodies changes linearly. If it has not ended after 2000 steps, it says
    that they meet. The arguments are those of `free_way`.
    """
    way = relative_way(edge_edge, w)
    t = 0.0
    for _ in range(_MOST_TO_MEET):
        d = np.sqrt(closest(edge_edge, x, c))
        if d <= gap:
            return t
        forward = _way_along(edge_edge, x, w, combined(c, x), 0.5 * gap)
        if way > 0.0:
            forward = max(forward, _SHARE * d / way)
        t += forward
        if t > 1.0:
            return 2.0
        _advance(x, w, forward)
    return t


@formula
def _advance(x, w, share):
    """Move positions x [4, 3] by a share of displacements w, but for the first one, to which they are relative."""
    for a in range(1, 4):
        for j in range(3):
            x[a, j] += share * (w[a, j] - w[0, j])


@formula
def _way_along(edge_edge, x, w, p, gap):
    """Return the share of displacements up to which the two stay a gap apart along p, from the second to the first."""
    length = np.sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2])
    n0, n1, n2 = p[0] / length, p[1] / length, p[2] / length
    share = np.inf
    for a in range(2 if edge_edge else 1):
        for b in range(2 if edge_edge else 1, 4):
            apart = n0 * (x[a, 0] - x[b, 0]) + n1 * (x[a, 1] - x[b, 1]) + n2 * (x[a, 2] - x[b, 2])
            closing = n0 * (w[b, 0] - w[a, 0]) + n1 * (w[b, 1] - w[a, 1]) + n2 * (w[b, 2] - w[a, 2])
            if closing > 0.0:
                share = min(share, max(apart - gap, 0.0) / closing)
            elif not apart >= gap:
                share = 0.0
    return share


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
    least = TOUCHING * np.sqrt((n0 * n0 + n1 * n1 + n2 * n2) * longest)
    below = above + rise
    if not ((above > least and below < -least) or (above < -least and below > least)):
        return False
    # It meets the plane at t0 + λ e + μ f:  λ = f·(g × r)/(n·g),  μ = −e·(g × r)/(n·g).
    h0, h1, h2 = g1 * r2 - g2 * r1, g2 * r0 - g0 * r2, g0 * r1 - g1 * r0
    second = (h0 * f0 + h1 * f1 + h2 * f2) / rise
    third = -(h0 * e0 + h1 * e1 + h2 * e2) / rise
    return min(second, third, 1.0 - second - third) > _INSIDE
