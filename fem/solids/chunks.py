"""Elements in chunks of 128 points of quadrature: gathering tangent vectors, and scattering forces on them.

128 linear tetrahedra, 16 hexahedra of 8 points or 32 quadratic tetrahedra of 4 points make a chunk; point p of it is
the point g = p // E of the element p % E of E. With the nodes relative to the first one and the slopes of the shape
functions on the reference cell,

    d_a = Σ_n ∂N_n/∂ξ_a (x_n − x_0),    f_n = Σ_g Σ_a ∂N_n/∂ξ_a t_a,    f_0 = −Σ_n f_n,

where t_a are the forces on d_a. Of a linear tetrahedron d_a = x_a − x_0 and f_a = t_a. Positions far from the origin
cost no digits, and forces sum to zero exactly. E is a multiple of 16, so that an element may have any number of nodes
and up to 8 points; where these do not fill a chunk, as 6 points do not, what is left repeats its first point with the
weight 0. Rules of more points, as the 27 of quadratic hexahedra, are taken in parts of up to 8, one after the other.

Elements of one point, other than linear tetrahedra, are stabilized hexahedra: they have slopes of their own each, in
the last 24 rows of what is known of their point, node by node, those of the mean gradients, which no reference cell
knows; and before these rows what the C functions of the hourglass energy know of them, which add its forces and
tangents (`symplex.fem.solids.hourglass_functions`).

What is known of a point are the rows M_11, M_22, M_33, M_12, M_13, M_23 of M_ab = ∇ξ_a·∇ξ_b and D = det ∂X/∂ξ, and
for each family of fibres the three components a0·∇ξ_a of their direction. A chunk that is not full repeats its last
element.
"""

from __future__ import annotations

import numpy as np

from symplex.fem.compiled.call import call_hourglass
from symplex.fem.compiled.kernels import formula, inlined
from symplex.fem.compiled.lanes import (
    EIGHT,
    LANES,
    add_lanes,
    aligned,
    gather_lanes,
    gather_lanes_along,
    gather_lanes_between,
    scatter_lanes,
)
from symplex.fem.compiled.prefetch import prefetch
from symplex.fem.compiled.records import Counts, Indices, Integer, Matrices, Numbers, Record, Rows, UnsignedRows
from symplex.fem.compiled.vectors import vec3_at
from symplex.fem.solids.brick_sums import POINTS, integrate_bricks, interpolate_bricks

CHUNK = 128
MOST_POINTS = 8  # of an element in a chunk
GEOMETRY = 7  # rows of a point, before those of fibres
THREE = np.uint64(3)  # indices without sign need no test for counting from the end
NINE = np.uint64(9)
NUMBERS_OF_A_LINE = 8  # of the cache
NO_COMPENSATION = np.empty((0, 3))  # of positions that are known to their last digit only
AT, BETWEEN, ALONG = 0, 1, 2  # kinds of what a C function of the hourglass energy returns


class Elements(Record):
    """The elements of a solid in chunks, with all their points of quadrature or a part of these.

    Attributes
    ----------
    nodes : uint32 [chunks, E · k]
        The nodes of the elements of each chunk, element by element.
    counts : int64 [chunks]
        How many elements it has.
    elements : int32 [chunks · E]
        Which these are.
    geometry : float64 [chunks, rows · CHUNK]
        What is known of their points.
    weights : float64 [CHUNK]
        Of the points on the reference cell.
    slopes : float64 [g, k, 3]
        ∂N_n/∂ξ_a at the points.
    """

    nodes: UnsignedRows  # pyright: ignore[reportIncompatibleVariableOverride]
    counts: Counts
    elements: Indices
    geometry: Rows
    weights: Numbers
    slopes: Matrices


class StabilizedElements(Elements):
    """Elements that may have an hourglass energy.

    Attributes
    ----------
    fibres : int
        F, of how many families of fibres the geometry has the directions.
    hourglass : int
        The address of a C function of the hourglass energy, if there is one (`hourglass_functions`).
    """

    fibres: Integer
    hourglass: Integer


@inlined
def chunks(first, last):
    """Return a range of chunks, with a sign: products of indices without one and numbers with one are no integers."""
    return range(np.int64(first), np.int64(last))


@inlined
def elements_per_chunk(points):
    """Return how many elements with so many points of quadrature make a chunk."""
    return CHUNK // points // LANES * LANES


@inlined
def work(our):
    """Return room for the nodes of a chunk relative to the first ones, or for the forces on them [3 (k − 1), E]."""
    return aligned(3 * (our.slopes.shape[1] - 1) * elements_per_chunk(len(our.slopes)))


@inlined
def are_edges(slopes):
    """Return whether the tangent vectors are the edges x_a − x_0: of a linear tetrahedron."""
    return len(slopes) == 1 and slopes.shape[1] == 4


@inlined
def have_own_slopes(slopes):
    """Return whether each element has slopes of its own, after all else that is known of its point."""
    return len(slopes) == 1 and slopes.shape[1] > 4


@inlined
def are_bricks(slopes):
    """Return whether they are hexahedra of eight nodes and eight points: no other element has as many of both."""
    return len(slopes) == POINTS and slopes.shape[1] == 8


@inlined
def own_slopes(slopes, geometry):
    """Return where the slopes of the elements of a chunk begin in what is known of them."""
    return len(geometry) - 3 * slopes.shape[1] * CHUNK


# -- rows of points -------------------------------------------------------------------------------------------


@inlined
def place(row, p):
    """Return the index of point p of a row; unsigned, or the compiler would load points one by one."""
    return np.uint64(row * CHUNK + p)


@inlined
def volume(weights, geometry, p):
    """Return the undeformed volume of a point."""
    return weights[np.uint64(p)] * geometry[place(6, p)]


@inlined
def direction(geometry, f, p):
    """Return a0·∇ξ_a of a family of fibres."""
    return vec3_at(geometry, (GEOMETRY + 3 * f) * CHUNK + p, CHUNK)


# -- nodes ----------------------------------------------------------------------------------------------------


@inlined
def gather(q, our, chunk, x, d):
    """Set d [9, CHUNK] to the tangent vectors of the elements of a chunk at q [3 n_nodes]; x is `work`."""
    slopes = our.slopes
    if are_edges(slopes):
        gather_edges(q, our, chunk, CHUNK, d)
    else:
        size = elements_per_chunk(len(slopes))
        _gather_nodes(q, our, chunk, size, slopes.shape[1], size, x)
        interpolate(x, slopes, our.geometry[chunk], d)


@inlined
def gather_edges(q, our, chunk, places, d):
    """Set so many places of d [9, CHUNK], a multiple of eight, to the edges of linear tetrahedra."""
    _gather_nodes(q, our, chunk, places, 4, CHUNK, d)


@inlined
def _gather_nodes(q, our, chunk, places, k, size, x):
    """Set x [3 (k − 1), size] to the nodes relative to the first.

    Of the size only so many places are set, those after the n elements to the last one of these.
    """
    nodes, n, following = our.nodes[chunk], our.counts[chunk], next_chunk(our, chunk)
    for e in range(0, places, EIGHT):
        _fetch_geometry(our.geometry[following], 0, e, size)
        _fetch_nodes(q, our.nodes[following], k, e)
        gather_lanes(q, nodes, k, e, n, size, x)


@inlined
def next_chunk(our, chunk):
    """Return the chunk whose numbers are fetched meanwhile."""
    return min(chunk + 1, len(our.counts) - 1)


@inlined
def _fetch_geometry(geometry, half, e, size):
    """Start to load what eight elements need of one half of the geometry: all at once would wait for one another."""
    numbers, first = EIGHT * len(geometry) // (2 * size), half * len(geometry) // 2
    for number in range(0, numbers, NUMBERS_OF_A_LINE):
        prefetch(geometry, first + e * numbers // EIGHT + number)  # pyright: ignore[reportCallIssue]


@inlined
def _fetch_nodes(rows, nodes, k, e):
    """Start to load rows of nodes of some of eight elements: neighbours share them, or the lines that hold them."""
    for some in range(e, e + EIGHT, max(1, 2 * EIGHT // k)):
        for a in range(k):
            prefetch(rows, THREE * nodes[np.uint64(k * some + a)])  # pyright: ignore[reportCallIssue]


@inlined
def gather_changes(q0, q1, our, chunk, x, y, means, increments):
    """Set means and increments [9, CHUNK] to those of the tangent vectors from q0 to q1 [3 n_nodes].

    x and y, which are `work`, are set to those of the nodes relative to the first ones, but for linear tetrahedra.
    """
    gather_increments(q0, q0[:0], q1, our, chunk, x, y, means, increments)


@inlined
def gather_increments(q, compensation, q1, our, chunk, x, y, means, increments):
    """Do so from q to q1, or if there is a compensation c from q + c to q + c + q1."""
    slopes = our.slopes
    if are_edges(slopes):
        gather_edge_increments(q, compensation, q1, our, chunk, CHUNK, means, increments)
    else:
        k, size, geometry = slopes.shape[1], elements_per_chunk(len(slopes)), our.geometry[chunk]
        _gather_node_increments(q, compensation, q1, our, chunk, size, k, size, x, y)
        interpolate(x, slopes, geometry, means)
        interpolate(y, slopes, geometry, increments)


@inlined
def gather_edge_increments(q, compensation, q1, our, chunk, places, means, increments):
    """Set so many places of means and increments [9, CHUNK] to those of the edges of linear tetrahedra."""
    _gather_node_increments(q, compensation, q1, our, chunk, places, 4, CHUNK, means, increments)


@inlined
def _gather_node_increments(q, compensation, q1, our, chunk, places, k, size, means, increments):
    """Set the means and increments [3 (k − 1), size] of the nodes relative to the first one."""
    nodes, n, following = our.nodes[chunk], our.counts[chunk], next_chunk(our, chunk)
    for e in range(0, places, EIGHT):
        _fetch_geometry(our.geometry[following], 0, e, size)
        _fetch_nodes(q, our.nodes[following], k, e)
        _fetch_nodes(q1, our.nodes[following], k, e)
        if len(compensation) > 0:
            gather_lanes_along(q, compensation, q1, nodes, k, e, n, size, means, increments)
        else:
            gather_lanes_between(q, q1, nodes, k, e, n, size, means, increments)


@inlined
def interpolate(x, slopes, geometry, d):
    """Set d_a = Σ_n ∂N_n/∂ξ_a x_n, from x [3 (k − 1), E]."""
    if have_own_slopes(slopes):
        _interpolate_apart(x, geometry, own_slopes(slopes, geometry), d)
    elif are_bricks(slopes):
        interpolate_bricks(x, slopes.ravel(), d)
    else:
        _interpolate_together(x, slopes, d)


@formula
def _interpolate_apart(x, geometry, first, d):
    """Do so with the slopes of the 8 nodes that are rows of the geometry from ``first`` on."""
    for a in range(3):
        slopes = geometry[first + (3 + a) * CHUNK :]  # of node 1
        for i in range(3):
            for p in range(CHUNK):  # all seven in one sum, which stays in a register
                d[place(3 * a + i, p)] = (
                    slopes[place(0, p)] * x[place(i, p)]
                    + slopes[place(3, p)] * x[place(3 + i, p)]
                    + slopes[place(6, p)] * x[place(6 + i, p)]
                    + slopes[place(9, p)] * x[place(9 + i, p)]
                    + slopes[place(12, p)] * x[place(12 + i, p)]
                    + slopes[place(15, p)] * x[place(15 + i, p)]
                    + slopes[place(18, p)] * x[place(18 + i, p)]
                )


@inlined
def _interpolate_together(x, slopes, d):
    points, k = slopes.shape[0], slopes.shape[1]
    size, factors = elements_per_chunk(points), slopes.ravel()
    for g in range(points):
        for a in range(3):
            for i in range(3):
                to = (3 * a + i) * CHUNK + g * size
                for e in range(0, size, LANES):
                    add_lanes(False, factors, 3 * (g * k + 1) + a, 3, x, i * size + e, 3 * size, k - 1, d, to + e)
    for row in range(9):
        for p in range(points * size, CHUNK):
            d[place(row, p)] = d[place(row, 0)]


@inlined
def room_of_hourglasses(our):
    """Return room for the forces of the hourglass energy, if the elements have one: on nodes 1–7 and on d_a."""
    return aligned((30 if have_own_slopes(our.slopes) else 0) * CHUNK)


@inlined
def add_hourglasses(our, chunk, kind, frozen, start, factor, x, d, y, e, out):
    """Call a C function of the hourglass energy with rows of a chunk, if the elements have one."""
    if have_own_slopes(our.slopes):
        rows = our.geometry[chunk][(GEOMETRY + 3 * our.fibres) * CHUNK :]
        call_hourglass(
            our.hourglass,
            kind,
            frozen,
            start,
            factor,
            rows.ctypes.data,
            x.ctypes.data,
            d.ctypes.data,
            y.ctypes.data,
            e.ctypes.data,
            out.ctypes.data,
        )


@inlined
def add_energies(our, chunk, W, out):
    """Add the energies of the elements of a chunk to out [m], if there is room, given V W at their points.

    Return their sum.
    """
    points, n = len(our.slopes), our.counts[chunk]
    size, whole = elements_per_chunk(points), 0.0
    for e in range(0, n, EIGHT):
        _fetch_geometry(our.geometry[next_chunk(our, chunk)], 1, e, size)
    for e in range(n):
        total = W[e]
        for g in range(1, points):
            total += W[g * size + e]
        if len(out) > 0:
            out[our.elements[chunk * size + e]] += total
        whole += total
    return whole


@inlined
def scatter(t, our, chunk, f, u, out):
    """Add the forces of the elements of a chunk with t_a in t [9, CHUNK] to out [3 n_nodes]; f is `work`.

    u are the forces of the hourglass energy, if there is one (see `room_of_hourglasses`).
    """
    slopes, geometry = our.slopes, our.geometry[chunk]
    if are_edges(slopes):
        scatter_edges(t, our, chunk, out)
    else:
        if have_own_slopes(slopes):
            _integrate_apart(t, slopes.shape[1], geometry, own_slopes(slopes, geometry), u, f)
        else:
            integrate(t, slopes, f)
        size = elements_per_chunk(len(slopes))
        _scatter_nodes(f, our, chunk, slopes.shape[1], size, out)


@inlined
def scatter_edges(t, our, chunk, out):
    """Add the forces t [9, CHUNK] on the edges of linear tetrahedra to out [3 n_nodes]."""
    _scatter_nodes(t, our, chunk, 4, CHUNK, out)


@formula
def _integrate_apart(t, k, geometry, first, u, f):
    """Set f_n = Σ_a ∂N_n/∂ξ_a t_a [3 (k − 1), CHUNK] with the slopes that are rows of the geometry, and add u."""
    for p in range(9 * CHUNK):
        t[p] += u[3 * (k - 1) * CHUNK + p]
    for n in range(1, k):
        at = first + 3 * n * CHUNK
        for i in range(3):
            to = 3 * (n - 1) + i
            for p in range(CHUNK):
                f[place(to, p)] = u[place(to, p)] + (
                    geometry[np.uint64(at + p)] * t[place(i, p)]
                    + geometry[np.uint64(at + CHUNK + p)] * t[place(3 + i, p)]
                    + geometry[np.uint64(at + 2 * CHUNK + p)] * t[place(6 + i, p)]
                )


@inlined
def integrate(t, slopes, f):
    """Set f_n = Σ_g Σ_a ∂N_n/∂ξ_a t_a [3 (k − 1), E]."""
    if are_bricks(slopes):
        integrate_bricks(t, slopes.ravel(), f)
    else:
        _integrate_together(t, slopes, f)


@inlined
def _integrate_together(t, slopes, f):
    points, k = slopes.shape[0], slopes.shape[1]
    size, factors = elements_per_chunk(points), slopes.ravel()
    for m in range(1, k):
        for i in range(3):
            to = (3 * (m - 1) + i) * size
            for e in range(0, size, LANES):
                for a in range(3):
                    at = (3 * a + i) * CHUNK + e
                    add_lanes(a > 0, factors, 3 * m + a, 3 * k, t, at, size, points, f, to + e)


@inlined
def _scatter_nodes(f, our, chunk, k, size, out):
    """Add f [3 (k − 1), size] to the nodes, and minus their sum to the first one."""
    n, following = our.counts[chunk], next_chunk(our, chunk)
    for e in range(0, n, EIGHT):
        _fetch_geometry(our.geometry[following], 1, e, size)
        _fetch_nodes(out, our.nodes[following], k, e)
        scatter_lanes(f, our.nodes[chunk], k, e, n, size, out)
