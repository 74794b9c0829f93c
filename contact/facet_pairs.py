"""Pairs of facets and what they have in common: the polygon, and the gap at its points, in compiled code.

A *facet* is a triangle of a surface, part of a face with shape functions N_A. The first facet of a pair has the normal
n; with its barycentric coordinates λ, and those μ of the second one, the ray from x(λ) along n meets the plane of the
second at μ(λ), which is linear in λ. What is common to both is the polygon {λ ≥ 0, μ_b(λ) ≥ −ε_b}, with ε_b > 0 at the
outer edges of a surface only; of linear faces it ends at γ = d̂ as well: what is integrated is smooth, and so are sums
over slivers. There the gap is the length along n of

    p = Σ_B N_B(μ(λ)) y_B − Σ_A N_A(λ) x_A,    γ = n·p.

Integrals are taken by a rule in each triangle (P_0, P_j, P_j+1) of the polygon. The code runs on real and on complex
positions.
"""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from symplex.fem.compiled.kernels import formula
from symplex.fem.compiled.records import Indices, Integer, Matrices, Nodes, Number, Numbers, Record, Rows

STEP = 1e-40  # of imaginary parts
_ALIGNED = 1e-12  # of the height of a facet
_STEEP, _FACING = 0.2, 0.5  # cosines between which facets begin to face each other
_LARGEST = 3.5  # above Σ |N_A| on any face


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

    def chosen(self, rows: NDArray[np.intp]) -> Self:
        """Return some of them, by their places in the list."""
        return self.replace(nodes=self.nodes[rows], corners=self.corners[rows], pairs=self.pairs[rows])


@formula
def row(x, a):
    return x[a, 0], x[a, 1], x[a, 2]


@formula
def minus(a, b):
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@formula
def plus(a, b):
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@formula
def times(s, a):
    return s * a[0], s * a[1], s * a[2]


@formula
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@formula
def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@formula
def add_to(out, a, v):
    out[a, 0] += v[0]
    out[a, 1] += v[1]
    out[a, 2] += v[2]


@formula
def workspace(x):
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
def _set_shape(l1, l2, coefficients, size, N, slopes, terms):
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


class Overlap(NamedTuple):
    """What two facets have in common: a polygon, and what it follows from."""

    corners: int  # of the polygon, 0 if there is none
    ring: int  # where these are
    used: int  # points
    facing: complex  # m(c)
    facing_slope: complex
    n: tuple  # of the first
    normal: tuple  # of the second
    first: tuple  # its corner, edges and the size of their product
    second: tuple
    d: complex  # n·(e1 × e2)
    ways: tuple  # of μ_1 and μ_2, over d


@formula
def overlap(x, e, our, room, acts):
    """Find what a pair at its positions x [2 w, 3] has in common; ``acts``: nothing where there is no force."""
    mu, _, P, _, origin, ends, rings, _, _, _ = room
    c0, c1, c2, d0, d1, d2 = our.corners[e]
    X0, Y0 = row(x, c0), row(x, d0)
    a1, a2 = minus(row(x, c1), X0), minus(row(x, c2), X0)
    e1, e2 = minus(row(x, d1), Y0), minus(row(x, d2), Y0)
    N, M = cross(a1, a2), cross(e1, e2)
    size_N, size_M = np.sqrt(dot(N, N)), np.sqrt(dot(M, M))
    n, normal = times(1.0 / size_N, N), times(1.0 / size_M, M)
    c, d = -dot(n, normal), dot(n, M)
    zero = 0.0 * c
    q1, q2 = cross(e2, n), cross(n, e1)
    facing, facing_slope = zero + 1.0, zero
    used, corners, ring = 0, 0, 0
    if c.real > _STEEP and not (acts and _is_apart(x, e, our, n)):
        if c.real < _FACING:
            s = (c - _STEEP) / (_FACING - _STEEP)
            facing, facing_slope = s * s * (3.0 - 2.0 * s), 6.0 * s * (1.0 - s) / (_FACING - _STEEP)
        lowest = np.inf
        for a in range(3):
            v = minus(X0 if a == 0 else plus(X0, a1 if a == 1 else a2), Y0)
            mu[1, a], mu[2, a] = dot(v, q1) / d, dot(v, q2) / d
            mu[0, a] = 1.0 - mu[1, a] - mu[2, a]
            g = -dot(v, M) / d
            mu[3, a] = (our.reach - g) / our.depth
            lowest = min(lowest, g.real)
        cut = acts and our.linear != 0
        if not (cut and lowest >= our.reach):
            used, corners, ring = _clip(4 if cut else 3, mu, our.beyond[our.pairs[e, 1]], P, origin, ends, rings)
        if corners < 3:
            corners = 0
    first, second = (X0, a1, a2, size_N), (Y0, M, e1, e2, size_M)
    return Overlap(corners, ring, used, facing, facing_slope, n, normal, first, second, d, (q1, q2))


@formula
def _is_apart(x, e, our, n):
    """Return whether γ is nowhere between −depth and d̂, by a bound from the heights of nodes along n."""
    w = our.nodes.shape[1] // 2
    if w == 3:  # the corners alone tell more
        return False
    low0, high0, low1, high1 = np.inf, -np.inf, np.inf, -np.inf
    for a in range(our.sizes[our.pairs[e, 0]]):
        at = dot(n, row(x, a)).real
        low0, high0 = min(low0, at), max(high0, at)
    for a in range(our.sizes[our.pairs[e, 1]]):
        at = dot(n, row(x, w + a)).real
        low1, high1 = min(low1, at), max(high1, at)
    middle, wide = 0.5 * (low1 + high1 - low0 - high0), 0.5 * _LARGEST * (high0 - low0 + high1 - low1)
    return middle - wide >= our.reach or middle + wide <= -our.depth


@formula
def triangle(P, ring, j):
    """Return the points of a triangle of the polygon, the edges from the first one and twice its area."""
    p, r, t = ring[0], ring[j], ring[j + 1]
    ru, rv, tu, tv = P[r, 0] - P[p, 0], P[r, 1] - P[p, 1], P[t, 0] - P[p, 0], P[t, 1] - P[p, 1]
    return (p, r, t), (ru, rv, tu, tv), ru * tv - tu * rv


@formula
def place(P, p, edges, b1, b2):
    """Return λ_1 and λ_2 at a point of a triangle."""
    ru, rv, tu, tv = edges
    return P[p, 0] + b1 * ru + b2 * tu, P[p, 1] + b1 * rv + b2 * tv


@formula
def gap_at(x, e, our, room, u, v):
    """Return p at λ = (1 − u − v, u, v), and μ_1 and μ_2; shape functions and slopes are set."""
    mu, _, _, _, _, _, _, shapes, slopes, terms = room
    w = our.nodes.shape[1] // 2
    first, second = our.pairs[e, 0], our.pairs[e, 1]
    width, opposite = our.sizes[first], our.sizes[second]
    l0 = 1.0 - u - v
    m1 = l0 * mu[1, 0] + u * mu[1, 1] + v * mu[1, 2]
    m2 = l0 * mu[2, 0] + u * mu[2, 1] + v * mu[2, 2]
    _set_shape(u, v, our.shapes[first], width, shapes[0], slopes[0], terms)
    _set_shape(m1, m2, our.shapes[second], opposite, shapes[1], slopes[1], terms)
    zero = 0.0 * u
    gap = zero, zero, zero
    for A in range(width):
        gap = minus(gap, times(shapes[0, A], row(x, A)))
    for B in range(opposite):
        gap = plus(gap, times(shapes[1, B], row(x, w + B)))
    return gap, m1, m2


@formula
def gather_facets(q, our, e, x):
    """Set x [2 w, 3] to positions relative to the first node of a pair."""
    nodes = our.nodes
    o = nodes[e, 0]
    for a in range(nodes.shape[1]):
        for i in range(3):
            x[a, i] = q[nodes[e, a], i] - q[o, i]


@formula
def is_own(our, e, a):
    """Return whether a node of a pair is no filling."""
    w = our.nodes.shape[1] // 2
    return a < our.sizes[our.pairs[e, 0]] if a < w else a - w < our.sizes[our.pairs[e, 1]]


@formula
def scatter_facets(our, e, bar, out):
    """Add what is of the nodes of a pair to out [n, 3] and forget it; return the sum."""
    total = 0.0
    for a in range(len(bar)):
        for i in range(3):
            total += bar[a, i]
            out[our.nodes[e, a], i] += bar[a, i]
            bar[a, i] = 0.0
    return total


@formula
def set_column(slots, e, a, i, bar, out):
    """Add the imaginary part of what is of the nodes of a pair to a column of blocks and forget it; return the sum."""
    total = 0.0
    for b in range(len(bar)):
        at = slots[e, b, a]
        for j in range(3):
            value = bar[b, j].imag / STEP
            total += value
            out[at, j, i] += value
            bar[b, j] = 0.0
    return total
