"""Closest points of a vertex and a face, and of two edges, as coefficients of the four nodes.

A stencil x_0 … x_3 is a vertex with the three nodes of a face, or the two nodes of an edge with those of another one. A
point of each, and what lies between them, is

    p = Σ c_a x_a,    c = (1, −λ1, −λ2, −λ3)  or  (1 − u, u, v − 1, −v),    Σ c_a = 0,

λ of the triangle, u and v in [0, 1]: a convex set C. The squared distance is s = min |p|² over C. A coefficient that
lies at the end of its range is exactly 0 there (or 1), so that the part of the face or edge which is nearest, its
interior, an edge or a vertex, can be told from c.

Positions are taken relative to the first node: only differences count.
"""

from symplex.fem.kernels import uncounted_formula as formula, uncounted_inlined as inlined
from symplex.fem.solids.edge_algebra import along, cross, dot, times

# sin² of the angle between two edges below which they are taken for parallel, and a face for its three edges: nearest
# are then points of an edge and an end of the other. Those differ by some 1e-20 of squared lengths.
DEGENERATE = 1e-20


@inlined
def row(x, a):
    """The vector x_a."""
    return x[a, 0], x[a, 1], x[a, 2]


@inlined
def minus(u, v):
    """Return u − v."""
    return u[0] - v[0], u[1] - v[1], u[2] - v[2]


@inlined
def combined(c, x):
    """Return Σ c_a x_a of positions x [4, 3] relative to the first one."""
    return (
        c[1] * x[1, 0] + c[2] * x[2, 0] + c[3] * x[3, 0],
        c[1] * x[1, 1] + c[2] * x[2, 1] + c[3] * x[3, 1],
        c[1] * x[1, 2] + c[2] * x[2, 2] + c[3] * x[3, 2],
    )


@inlined
def moved(edge_edge, c0, c1, x):
    """Return Σ (c1_a − c0_a) x_a for c0 and c1 of C.

    It lies in the face, in its edge if both are there, or in the plane of both edges, also where c1 − c0 is so small
    that rounding makes its sum differ from zero.
    """
    if edge_edge:
        u, v = c1[1] - c0[1], c1[3] - c0[3]
        return along(times(u, minus(row(x, 1), row(x, 0))), v, minus(row(x, 3), row(x, 2)))
    i = 2 if c0[1] == 0.0 and c1[1] == 0.0 else 1
    u, v = c1[3 - i] - c0[3 - i], c1[3] - c0[3]
    return along(times(u, minus(row(x, 3 - i), row(x, i))), v, minus(row(x, 3), row(x, i)))


@formula
def closest(edge_edge, x, c):
    """Set c [4] for positions x [4, 3] relative to the first one; return s."""
    if edge_edge:
        _edge_edge(x, c)
    else:
        _vertex_face(x, c)
    p = combined(c, x)
    return dot(p, p)


@formula
def _foot(r, e):
    """Return the t in [0, 1] at which t e is nearest to r; 0 if e is."""
    length, part = dot(e, e), dot(r, e)
    if part <= 0.0:
        return 0.0
    return 1.0 if part >= length else part / length


@formula
def _vertex_face(x, c):
    """The interior of the face if the vertex is above it, otherwise the nearest of its edges."""
    a, b, r = minus(row(x, 2), row(x, 1)), minus(row(x, 3), row(x, 1)), minus(row(x, 0), row(x, 1))
    n = cross(a, b)
    squared = dot(n, n)
    c[0] = 1.0
    if squared > DEGENERATE * dot(a, a) * dot(b, b):
        second, third = dot(cross(r, b), n) / squared, dot(cross(a, r), n) / squared
        first = 1.0 - second - third
        if first > 0.0 and second > 0.0 and third > 0.0:
            c[1], c[2], c[3] = -first, -second, -third
            return
    nearest = -1.0
    for i in range(1, 4):
        j = i % 3 + 1
        r, e = minus(row(x, 0), row(x, i)), minus(row(x, j), row(x, i))
        t = _foot(r, e)
        p = along(r, -t, e)
        s = dot(p, p)
        if not (nearest >= 0.0 and s >= nearest):
            nearest = s
            c[1] = c[2] = c[3] = 0.0
            c[i], c[j] = t - 1.0, -t


@formula
def _edge_edge(x, c):
    """The interiors of both edges if the nearest points are there, otherwise an end of one and the other edge."""
    a, b, r = minus(row(x, 1), row(x, 0)), minus(row(x, 3), row(x, 2)), minus(row(x, 0), row(x, 2))
    n = cross(a, b)
    squared = dot(n, n)
    if squared > DEGENERATE * dot(a, a) * dot(b, b):
        # r + u a − v b is parallel to n.
        u, v = -dot(cross(r, b), n) / squared, -dot(cross(r, a), n) / squared
        if 0.0 < u < 1.0 and 0.0 < v < 1.0:
            c[0], c[1], c[2], c[3] = 1.0 - u, u, v - 1.0, -v
            return
    nearest = -1.0
    for end in range(4):
        if end < 2:
            u = 1.0 * end
            v = _foot(along(r, u, a), b)
        else:
            v = 1.0 * (end - 2)
            u = _foot(minus(times(v, b), r), a)
        p = along(along(r, u, a), -v, b)
        s = dot(p, p)
        if not (nearest >= 0.0 and s >= nearest):
            nearest = s
            c[0], c[1], c[2], c[3] = 1.0 - u, u, v - 1.0, -v


@formula
def directions(edge_edge, c, E):
    """Set in E [2, 4] the directions in which c can move within C; return how many there are."""
    E[:] = 0.0
    if edge_edge:
        count = 0
        if c[0] != 0.0 and c[1] != 0.0:
            E[0, 0], E[0, 1] = -1.0, 1.0
            count = 1
        if c[2] != 0.0 and c[3] != 0.0:
            E[count, 2], E[count, 3] = 1.0, -1.0
            count += 1
        return count
    count, first = -1, 0
    for i in range(1, 4):
        if c[i] != 0.0:
            if count >= 0:
                E[count, first], E[count, i] = 1.0, -1.0
            else:
                first = i
            count += 1
    return count


@formula
def inverse_gram(x, E, count):
    """Return the inverse of G_kl = t_k·t_l, t_k = Σ E_ka x_a, as (G⁻¹_00, G⁻¹_01, G⁻¹_11); zeros beyond the count."""
    if count == 0:
        return 0.0, 0.0, 0.0
    t = combined(E[0], x)
    if count == 1:
        return 1.0 / dot(t, t), 0.0, 0.0
    u = combined(E[1], x)
    n = cross(t, u)
    d = 1.0 / dot(n, n)
    return d * dot(u, u), -d * dot(t, u), d * dot(t, t)


@formula
def slide(edge_edge, x, c, p, E, W, V):
    """Set the derivative of c with the positions, ∂c_a/∂x_bj = −Σ_k E_ka V_k,bj; return the count of directions.

    V = G⁻¹ W,  W_l,bj = E_lb p_j + t_lj c_b, for W and V [2, 12] with bj = 3 b + j: c keeps p orthogonal to all t_l.
    """
    count = directions(edge_edge, c, E)
    g00, g01, g11 = inverse_gram(x, E, count)
    t, u = combined(E[0], x), combined(E[1], x)
    for b in range(4):
        for j in range(3):
            first = E[0, b] * p[j] + t[j] * c[b]
            second = E[1, b] * p[j] + u[j] * c[b]
            i = 3 * b + j
            W[0, i], W[1, i] = first, second
            V[0, i], V[1, i] = g00 * first + g01 * second, g01 * first + g11 * second
    return count
