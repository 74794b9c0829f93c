"""Tangent vectors of hexahedra of eight nodes at eight points, and forces on them, by edges.

Where shape functions are products of linear ones, ∂N_n/∂ξ_a differs in its sign only between the two ends of an edge
along ξ_a, and does not change along ξ_a. So Σ_n ∂N_n/∂ξ_a x_n is a sum over four edges instead of eight nodes, and the
same at two points: 16 products for each component of d_a at all points instead of 56, and as many for the forces.

Arrays are those of a chunk of 16 elements (see `symplex.fem.solids.chunks`), all contiguous and of one dimension. Nodes
are in the order of VTK, points in that of a product of rules with the last coordinate changing first.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

SIZE = 16  # elements of a chunk
POINTS = 8
# Along each ξ_a: the two ends of four edges, and four points with the smaller ξ_a; the others are so much further.
_EDGES = (
    ((1, 0), (2, 3), (5, 4), (6, 7)),
    ((3, 0), (2, 1), (7, 4), (6, 5)),
    ((4, 0), (5, 1), (6, 2), (7, 3)),
)
_POINTS_OF = ((0, 1, 2, 3), (0, 1, 4, 5), (0, 2, 4, 6))
_FURTHER = (4, 2, 1)

_LANES = 8
_INT = ir.IntType(64)
_VECTOR = ir.VectorType(ir.DoubleType(), _LANES)
_CONTRACT = ("contract",)


def _compiled(function: Callable[..., Any]) -> Callable[..., None]:
    """Return the intrinsic as compiled code calls it: without the typing context."""
    return intrinsic(function)


@_compiled
def interpolate_bricks(typingctx, x, slopes, d):
    """Set d_a = Σ_n ∂N_n/∂ξ_a x_n, from x [3 · 7, SIZE] of the nodes relative to the first one."""

    def codegen(context, builder, signature, args):
        rows_x, factors, rows_d = _data(context, builder, signature, args)
        with _components_and_lanes(builder) as (i, lane):
            nodes = [None, *(builder.load(_node(builder, rows_x, n, i, lane), align=8) for n in range(1, 8))]
            for a in range(3):
                edges = [_difference(builder, nodes[end], nodes[beginning]) for end, beginning in _EDGES[a]]
                for g in _POINTS_OF[a]:
                    total = _sum(builder, [_weight(builder, factors, g, end, a) for end, _ in _EDGES[a]], edges)
                    for point in (g, g + _FURTHER[a]):
                        builder.store(total, _point(builder, rows_d, point, a, i, lane), align=8)
        return context.get_dummy_value()

    return types.void(x, slopes, d), codegen


@_compiled
def integrate_bricks(typingctx, t, slopes, f):
    """Set f_n = Σ_g Σ_a ∂N_n/∂ξ_a t_a [3 · 7, SIZE] of all nodes but the first one."""

    def codegen(context, builder, signature, args):
        rows_t, factors, rows_f = _data(context, builder, signature, args)
        with _components_and_lanes(builder) as (i, lane):
            forces: list[Any] = [None] * 8
            for a in range(3):
                of_points = []
                for g in _POINTS_OF[a]:
                    near, far = (
                        builder.load(_point(builder, rows_t, point, a, i, lane), align=8)
                        for point in (g, g + _FURTHER[a])
                    )
                    of_points.append(builder.fadd(near, far))
                for end, beginning in _EDGES[a]:
                    weights = [_weight(builder, factors, g, end, a) for g in _POINTS_OF[a]]
                    force = _sum(builder, weights, of_points)
                    forces[end] = force if forces[end] is None else builder.fadd(forces[end], force)
                    if beginning:
                        forces[beginning] = _difference(builder, forces[beginning], force)
            for n in range(1, 8):
                builder.store(forces[n], _node(builder, rows_f, n, i, lane), align=8)
        return context.get_dummy_value()

    return types.void(t, slopes, f), codegen


def _data(context, builder, signature, args):
    """Return pointers to the numbers of arrays."""
    return [
        context.make_array(kind)(context, builder, array).data for kind, array in zip(signature.args, args, strict=True)
    ]


@contextmanager
def _components_and_lanes(builder):
    """Loop over the three components of vectors and the first of each `_LANES` elements."""
    with cgutils.for_range(builder, _INT(3)) as component, cgutils.for_range(builder, _INT(SIZE // _LANES)) as lanes:
        yield component.index, builder.mul(lanes.index, _INT(_LANES))


def _vector_at(builder, rows, row, i, lane):
    """Return a pointer to the lanes of row + i · SIZE."""
    index = builder.add(builder.add(builder.mul(i, _INT(SIZE * row[1])), _INT(SIZE * row[0])), lane)
    return builder.bitcast(builder.gep(rows, [index]), _VECTOR.as_pointer())


def _node(builder, rows, n, i, lane):
    """Return a pointer to a component of a node but the first one."""
    return _vector_at(builder, rows, (3 * (n - 1), 1), i, lane)


def _point(builder, rows, g, a, i, lane):
    """Return a pointer to a component of d_a or t_a at a point."""
    return _vector_at(builder, rows, (3 * a * POINTS + g, POINTS), i, lane)


def _difference(builder, a, b):
    """Return a − b, where None stands for zero."""
    if b is None:
        return a
    return builder.fneg(b) if a is None else builder.fsub(a, b)


def _weight(builder, slopes, g, n, a):
    """Return ∂N_n/∂ξ_a at a point in all lanes."""
    number = builder.load(builder.gep(slopes, [_INT((8 * g + n) * 3 + a)]))
    undefined = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(undefined, number, ir.IntType(32)(0))
    return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(ir.IntType(32), _LANES), [0] * _LANES))


def _sum(builder, factors, vectors):
    """Return Σ factor · vector."""
    total = None
    for factor, vector in zip(factors, vectors, strict=True):
        product = builder.fmul(factor, vector, flags=_CONTRACT)
        total = product if total is None else builder.fadd(total, product, flags=_CONTRACT)
    return total
