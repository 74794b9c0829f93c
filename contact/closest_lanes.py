"""Closest points of eight pairs at once: what `symplex.contact.closest` finds, without branches between the lanes.

Rows of eight numbers: x_1, x_2 and x_3 relative to x_0, c, s, |a × b|² of the face or the edges, and where the nearest
points are inside of both, as mostly. Where they are not in some lane, it is looked at what is nearest of their borders.
"""

from symplex.contact.closest import DEGENERATE
from symplex.fem.compiled.kernels import formula
from symplex.fem.compiled.lane_values import EIGHT, both, laned, less, where
from symplex.fem.compiled.lanes import aligned, gather_lanes
from symplex.fem.compiled.vectors import Vec3, cross, dot, vec3_at

_X, C, S, N2, _INSIDE, ROWS = 0, 9, 13, 14, 15, 16
_NODES = 4


def _positions(rows):
    return [Vec3(*rows(_X + 3 * a, 3)) for a in range(3)]


def _squared(c, x):
    """Return |Σ c_a x_a|²."""
    p = c[1] * x[0] + c[2] * x[1] + c[3] * x[2]
    return dot(p, p)


@laned
def _set_above_faces(rows):
    x = _positions(rows)
    a, b, r = x[1] - x[0], x[2] - x[0], -x[0]
    n = cross(a, b)
    squared = dot(n, n)
    second, third = dot(cross(r, b), n) / squared, dot(cross(a, r), n) / squared
    first = 1.0 - second - third
    c = (1.0 + 0.0 * first, -first, -second, -third)
    inside = both(
        less(DEGENERATE * dot(a, a) * dot(b, b), squared), *[less(0.0, part) for part in (first, second, third)]
    )
    yield C, (*c, _squared(c, x), squared, where(inside, 1.0, 0.0))


@laned
def _set_between_edges(rows):
    x = _positions(rows)
    a, b, r = x[0], x[2] - x[1], -x[1]
    n = cross(a, b)
    squared = dot(n, n)
    u, v = -dot(cross(r, b), n) / squared, -dot(cross(r, a), n) / squared
    c = (1.0 - u, u, v - 1.0, -v)
    within = [less(0.0, part) for part in (u, v)] + [less(part, 1.0) for part in (u, v)]
    inside = both(less(DEGENERATE * dot(a, a) * dot(b, b), squared), *within)
    yield C, (*c, _squared(c, x), squared, where(inside, 1.0, 0.0))


def _foot(r, e):
    """Return the t in [0, 1] at which t e is nearest to r; 0 if e is."""
    length, part = dot(e, e), dot(r, e)
    return where(less(0.0, part), where(less(part, length), part / length, 1.0), 0.0)


def _nearest(rows, candidates):
    """Yield c and s of what is inside, or else of the first of the nearest candidates, pairs of c and p."""
    (c, p), *others = candidates
    nearest = dot(p, p)
    for other, p in others:
        s = dot(p, p)
        nearer = less(s, nearest)
        nearest, c = where(nearer, s, nearest), where(nearer, other, c)
    inside = less(0.5, rows(_INSIDE, 1)[0])
    c = where(inside, tuple(rows(C, 4)), c)
    yield C, (*c, where(inside, rows(S, 1)[0], _squared(c, _positions(rows))))


@laned
def _set_on_borders(rows):
    """Set c and s of the nearest edge of a face, where a vertex is not above it."""
    x, candidates = _positions(rows), []
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        e = x[j] - x[i]
        t = _foot(-x[i], e)
        shares = {i: t - 1.0, j: -t, k: 0.0}
        candidates.append(((1.0, shares[0], shares[1], shares[2]), -x[i] - t * e))
    yield from _nearest(rows, candidates)


@laned
def _set_at_ends(rows):
    """Set c and s of the nearest end of two edges, where the nearest points are not inside of both."""
    x, candidates = _positions(rows), []
    a, b, r = x[0], x[2] - x[1], -x[1]
    for u, start in ((0.0, r), (1.0, r + a)):
        v = _foot(start, b)
        candidates.append(((1.0 - u, u, v - 1.0, -v), start - v * b))
    for v, start in ((0.0, r), (1.0, r - b)):
        u = _foot(-start, a)
        candidates.append(((1.0 - u, u, v - 1.0, -v), start + u * a))
    yield from _nearest(rows, candidates)


@formula
def workspace():
    """Return the rows."""
    return aligned(EIGHT * ROWS)


@formula
def set_closest(q, nodes, edge_edge, e, last, W):
    """Set the rows W of up to eight pairs of one kind from e on, before the last one; return how many."""
    kind, n = edge_edge[e], 1
    while n < EIGHT and e + n < last and edge_edge[e + n] == kind:
        n += 1
    gather_lanes(q, nodes[e : e + n], _NODES, 0, n, EIGHT, W)
    if kind:
        _set_between_edges(W)
    else:
        _set_above_faces(W)
    inside = 0.0
    for lane in range(EIGHT):
        inside += W[EIGHT * _INSIDE + lane]
    if inside < EIGHT:
        if kind:
            _set_at_ends(W)
        else:
            _set_on_borders(W)
    return n


@formula
def pair_of(W, lane):
    """Return s, c and the positions of a pair, relative to its first node."""
    still = Vec3(0.0, 0.0, 0.0)
    x = still, vec3_at(W, lane, EIGHT), vec3_at(W, 3 * EIGHT + lane, EIGHT), vec3_at(W, 6 * EIGHT + lane, EIGHT)
    at = C * EIGHT + lane
    return W[S * EIGHT + lane], (W[at], W[at + EIGHT], W[at + 2 * EIGHT], W[at + 3 * EIGHT]), x
