"""Closest points of a vertex and a face, and of two edges, as coefficients of the four nodes.

A stencil x_0 … x_3 is a vertex with the three nodes of a face, or the two nodes of an edge with those of another one. A
point of each, and what lies between them, is

    p = Σ c_a x_a,    c = (1, −λ1, −λ2, −λ3)  or  (1 − u, u, v − 1, −v),    Σ c_a = 0,

λ of the triangle, u and v in [0, 1]: a convex set C. The squared distance is s = min |p|² over C. A coefficient that
lies at the end of its range is exactly 0 there (or 1), so that the part of the face or edge which is nearest, its
interior, an edge or a vertex, can be distinguished from c.

Positions are taken relative to the first node: only differences count.
"""

from symplex.fem.compiled.kernels import uncounted_formula as formula, uncounted_inlined as inlined
from symplex.fem.compiled.vectors import cross, dot, expanded

# sin² of the angle between two edges below which they are taken for parallel, and a face for its three edges: nearest
# are then points of an edge and an end of the other. Those differ by some 1e-20 of squared lengths.
DEGENERATE = 1e-20
_NOWHERE = (0.0, 0.0, 0.0, 0.0)


@expanded
def combined(c, x):
    """Return Σ c_a x_a of positions relative to the first one."""
    return c[1] * x[1] + c[2] * x[2] + c[3] * x[3]


@inlined
def moved(edge_edge, c0, c1, x):
    """Return Σ (c1_a − c0_a) x_a for c0 and c1 of C.

    It lies in the face, in its edge if both are there, or in the plane of both edges, also where c1 − c0 is so small
    that rounding makes its sum differ from zero.
    """
    if edge_edge:
        return (c1[1] - c0[1]) * (x[1] - x[0]) + (c1[3] - c0[3]) * (x[3] - x[2])
    if c0[1] == 0.0 and c1[1] == 0.0:
        return (c1[1] - c0[1]) * (x[1] - x[2]) + (c1[3] - c0[3]) * (x[3] - x[2])
    return (c1[2] - c0[2]) * (x[2] - x[1]) + (c1[3] - c0[3]) * (x[3] - x[1])


@inlined
def closest(edge_edge, x):
    """Return s and c for positions relative to the first one."""
    c = _edge_edge(x) if edge_edge else _vertex_face(x)
    p = combined(c, x)
    return dot(p, p), c


@formula
def _foot(r, e):
    """Return the t in [0, 1] at which t e is nearest to r; 0 if e is."""
    length, part = dot(e, e), dot(r, e)
    if part <= 0.0:
        return 0.0
    return 1.0 if part >= length else part / length


@formula
def _on_edge(x, a, b):
    """Return which share of the edge a b is nearest to x, and its squared distance."""
    r, e = x - a, b - a
    t = _foot(r, e)
    p = r - t * e
    return t, dot(p, p)


@inlined
def _vertex_face(x):
    """Return c: in the interior of the face if the vertex is above it, otherwise on the nearest of its edges."""
    a, b, r = x[2] - x[1], x[3] - x[1], x[0] - x[1]
    n = cross(a, b)
    squared = dot(n, n)
    if squared > DEGENERATE * dot(a, a) * dot(b, b):
        second, third = dot(cross(r, b), n) / squared, dot(cross(a, r), n) / squared
        first = 1.0 - second - third
        if first > 0.0 and second > 0.0 and third > 0.0:
            return 1.0, -first, -second, -third
    t, nearest = _on_edge(x[0], x[1], x[2])
    c = (1.0, t - 1.0, -t, 0.0)
    t, s = _on_edge(x[0], x[2], x[3])
    if not s >= nearest:
        nearest, c = s, (1.0, 0.0, t - 1.0, -t)
    t, s = _on_edge(x[0], x[3], x[1])
    if not s >= nearest:
        c = (1.0, -t, 0.0, t - 1.0)
    return c


@inlined
def _edge_edge(x):
    """Return c: in the interiors of both edges if the nearest points are there, otherwise at an end of one."""
    a, b, r = x[1] - x[0], x[3] - x[2], x[0] - x[2]
    n = cross(a, b)
    squared = dot(n, n)
    if squared > DEGENERATE * dot(a, a) * dot(b, b):
        # r + u a − v b is parallel to n.
        u, v = -dot(cross(r, b), n) / squared, -dot(cross(r, a), n) / squared
        if 0.0 < u < 1.0 and 0.0 < v < 1.0:
            return 1.0 - u, u, v - 1.0, -v
    nearest, c = -1.0, _NOWHERE
    for end in range(4):
        if end < 2:
            u = 1.0 * end
            v = _foot(r + u * a, b)
        else:
            v = 1.0 * (end - 2)
            u = _foot(v * b - r, a)
        p = r + u * a - v * b
        s = dot(p, p)
        if not (nearest >= 0.0 and s >= nearest):
            nearest, c = s, (1.0 - u, u, v - 1.0, -v)
    return c


@inlined
def directions(edge_edge, c):
    """Return the directions E, zeros if there are less than two, in which c can move within C, and their number."""
    if edge_edge:
        one, other = (-1.0, 1.0, 0.0, 0.0), (0.0, 0.0, 1.0, -1.0)
        first, second = c[0] != 0.0 and c[1] != 0.0, c[2] != 0.0 and c[3] != 0.0
    else:
        one, other = (0.0, 1.0, -1.0, 0.0), (0.0, 1.0, 0.0, -1.0)
        first, second = c[1] != 0.0 and c[2] != 0.0, c[1] != 0.0 and c[3] != 0.0
        if c[1] == 0.0 and c[2] != 0.0 and c[3] != 0.0:
            first, one = True, (0.0, 0.0, 1.0, -1.0)
    if first and second:
        return one, other, 2
    if first:
        return one, _NOWHERE, 1
    if second:
        return other, _NOWHERE, 1
    return _NOWHERE, _NOWHERE, 0


@inlined
def inverse_gram(t, u, count):
    """Return the inverse of G_kl = t_k·t_l of t and u as (G⁻¹_00, G⁻¹_01, G⁻¹_11); zeros beyond the count."""
    if count == 0:
        return 0.0, 0.0, 0.0
    if count == 1:
        return 1.0 / dot(t, t), 0.0, 0.0
    n = cross(t, u)
    d = 1.0 / dot(n, n)
    return d * dot(u, u), -d * dot(t, u), d * dot(t, t)


@inlined
def slide(edge_edge, x, c, p):
    """Return the directions E, and W and V of the derivative of c with the positions, ∂c_a/∂x_bj = −Σ_k E_ka V_k,bj.

    V = G⁻¹ W,  W_l,bj = E_lb p_j + t_lj c_b,  t_l = Σ E_la x_a, for W and V two tuples of four vectors each: c keeps p
    orthogonal to all t_l.
    """
    one, other, count = directions(edge_edge, c)
    t, u = combined(one, x), combined(other, x)
    W, V = _slide(one, other, inverse_gram(t, u, count), t, u, c, p)
    return (one, other), W, V


@expanded
def _slide(one, other, inverse, t, u, c, p):
    W0, W1 = ([E[b] * p + c[b] * v for b in range(4)] for E, v in ((one, t), (other, u)))
    V0, V1 = ([g * W0[b] + h * W1[b] for b in range(4)] for g, h in (inverse[:2], inverse[1:]))
    return (tuple(W0), tuple(W1)), (tuple(V0), tuple(V1))
