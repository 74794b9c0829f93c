"""Whether a vertex and a triangle, or two edges, pass through each other, as formulas for compiled loops."""

from __future__ import annotations

import numpy as np

from symplex.contact.closest import closest, combined
from symplex.fem.compiled.kernels import formula
from symplex.fem.compiled.vectors import cross, dot, expanded, vec3_of

TOUCHING = 1e-12  # of the longest edge: an edge that reaches less far through a triangle only touches it
_INSIDE = 1e-9  # what its barycentric coordinates exceed where an edge passes through a triangle
_SHARE = 0.9  # of a step that does not lead to contact
_MOST_STEPS = 256
_MOST_TO_MEET = 2000  # pairs that graze each other take hundreds; a false alarm ends a run


@expanded
def without_mean(w):
    """Return four displacements without their mean."""
    mean = 0.25 * (w[0] + w[1] + w[2] + w[3])
    return tuple([one - mean for one in w])


@formula
def relative_way(edge_edge, w):
    """Return a bound in m of how far the two move towards each other in displacements w without their mean."""
    first, second, third, fourth = dot(w[0], w[0]), dot(w[1], w[1]), dot(w[2], w[2]), dot(w[3], w[3])
    if edge_edge:
        return np.sqrt(max(first, second)) + np.sqrt(max(third, fourth))
    return np.sqrt(first) + np.sqrt(max(second, third, fourth))


@formula
def free_way(edge_edge, x, w, gap, most):
    """Return a share t of displacements, at most ``most``, up to which the two stay farther apart than about a gap.

    Additive advancement (Li, Kaufman and Jiang, Codimensional incremental potential contact, 2021, algorithm 1): no
    points of the two approach each other by more than the sum l of the longest displacements, so that a step d/l does
    not lead to contact. Nine tenths of it are added up until the gap would be passed; the first one always is. It ends
    at once where no such step would, as the two stay apart in the present direction of their distance: bodies that
    slide along each other take one step instead of many. After 256 steps what is reached is returned.

    Parameters
    ----------
    edge_edge : bool
    x : tuple of four Vec3
        Positions relative to the first one.
    w : tuple of four Vec3
        Displacements without their mean.
    gap, most : float
        In m; as a share.
    """
    way = relative_way(edge_edge, w)
    s, c = closest(edge_edge, x)
    d = np.sqrt(s)
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
        x = _advanced(x, w, forward)
        s, c = closest(edge_edge, x)
        d = np.sqrt(s)
        if step > 0 and d < gap:
            return t
        t += forward
        if t >= most:
            return most
    return t


@formula
def meeting(edge_edge, x, w, gap):
    """Return the share of displacements after which the two are nearer than a gap, or 2 if they never are up to 1.

    Steps are as long as they surely do not meet: by the sum of displacements, or in the present direction of their
    distance, in which the separation of convex bodies changes linearly. If it has not ended after 2000 steps, it says
    that they meet. The arguments are those of `free_way`.
    """
    way = relative_way(edge_edge, w)
    t = 0.0
    for _ in range(_MOST_TO_MEET):
        s, c = closest(edge_edge, x)
        d = np.sqrt(s)
        if d <= gap:
            return t
        forward = _way_along(edge_edge, x, w, combined(c, x), 0.5 * gap)
        if way > 0.0:
            forward = max(forward, _SHARE * d / way)
        t += forward
        if t > 1.0:
            return 2.0
        x = _advanced(x, w, forward)
    return t


@expanded
def _advanced(x, w, share):
    """Return positions after a share of displacements w, but for the first one, to which they are relative."""
    return (x[0], *[x[a] + share * (w[a] - w[0]) for a in range(1, 4)])


@formula
def _way_along(edge_edge, x, w, p, gap):
    """Return the share of displacements up to which the two stay a gap apart along p, from the second to the first."""
    n = p / np.sqrt(dot(p, p))
    share = np.inf
    for a in range(2 if edge_edge else 1):
        for b in range(2 if edge_edge else 1, 4):
            apart, closing = dot(n, x[a] - x[b]), dot(n, w[b] - w[a])
            if closing > 0.0:
                share = min(share, max(apart - gap, 0.0) / closing)
            elif not apart >= gap:
                share = 0.0
    return share


@formula
def cuts(q, a, b, t0, t1, t2):
    """Return whether the edge a b passes through the triangle t0 t1 t2, nodes at q [n, 3]; touching is not passing."""
    e, f = vec3_of(q, t1) - vec3_of(q, t0), vec3_of(q, t2) - vec3_of(q, t0)
    g, r = vec3_of(q, b) - vec3_of(q, a), vec3_of(q, a) - vec3_of(q, t0)
    n = cross(e, f)
    above, rise = dot(n, r), dot(n, g)
    least = TOUCHING * np.sqrt(dot(n, n) * max(dot(e, e), dot(f, f), dot(g, g)))
    below = above + rise
    if not ((above > least and below < -least) or (above < -least and below > least)):
        return False
    # It meets the plane at t0 + λ e + μ f:  λ = f·(g × r)/(n·g),  μ = −e·(g × r)/(n·g).
    h = cross(g, r)
    second, third = dot(h, f) / rise, -dot(h, e) / rise
    return min(second, third, 1.0 - second - third) > _INSIDE
