"""Whether a vertex and a triangle, or two edges, pass through each other, as formulas for compiled loops."""

from __future__ import annotations

import numpy as np

from symplex.contact.closest import closest, combined
from symplex.fem.kernels import formula

TOUCHING = 1e-12  # of the longest edge: an edge that reaches less far through a triangle only touches it
_SAFETY = 0.9  # of a step that surely does not lead to contact
_SMALL_STEPS = 64  # after which steps are taken by the direction of the gap as well
_MOST_STEPS = 2000


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
    """Return the share t ≤ ``most`` of displacements up to which the two stay farther apart than a gap in m.

    Additive advancement (Li, Kaufman and Jiang, Codimensional incremental potential contact, 2021, algorithm 1): as no
    points of the two approach each other faster than the sum l of the longest displacements, a step (d − gap)/l leads
    to no contact; steps are added up until the gap is reached. It ends at once, too, when by the present direction
    n of the shortest distance they stay apart up to ``most``: what is between two convex bodies along n changes
    linearly with t. So motions along each other take few steps. After many small ones n leads as far as it is safe.

    Parameters
    ----------
    edge_edge : bool
    x : float64 [4, 3]
        Positions relative to the first one; what they become on return is of no use.
    w : float64 [4, 3]
        Displacements without their mean.
    gap, most : float
    c : float64 [4]
        Room for the closest points.
    """
    way = relative_way(edge_edge, w)
    t = 0.0
    for step in range(_MOST_STEPS):
        s = closest(edge_edge, x, c)
        d = np.sqrt(s)
        if d <= gap:
            return t
        by_direction = _until(edge_edge, x, w, combined(c, x), d, gap)
        if t + by_direction >= most:
            return most
        forward = _SAFETY * (d - gap) / way if way > 0.0 else most
        if step >= _SMALL_STEPS:
            forward = max(forward, _SAFETY * by_direction)
        if t + forward >= most:
            return most
        if step > 0 and d <= _REACHED * gap:
            return t
        t += forward
        for a in range(1, 4):
            for j in range(3):
                x[a, j] += forward * (w[a, j] - w[0, j])
    return t
