"""Elements in the lanes of vector instructions: rows of nodes to lanes and back, and sums over nodes or points.

A compiler makes vector instructions of an inner loop of known length only where it can determine that its arrays do not
overlap, and keeps a sum in registers only where the number of terms is known, too. Written as vectors, one loop serves
all numbers of nodes and points. Nor does it make vectors of the three numbers of a node, which lie one after the other:
the rows of eight elements are transposed in registers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from symplex.fem.compiled.kernels import inlined

LANES = 16
EIGHT = 8  # elements whose nodes are gathered and scattered at once
MOST_NODES = 27  # of an element
_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_CONTRACT = ("contract",)

_DOUBLE, _BIT, _SHORT, _INDEX = ir.DoubleType(), ir.IntType(1), ir.IntType(32), ir.IntType(64)
_PAIR, _ROW, _EIGHT = (ir.VectorType(_DOUBLE, n) for n in (2, 4, EIGHT))
_LOAD = ir.FunctionType(_ROW, [_ROW.as_pointer(), _SHORT, ir.VectorType(_BIT, 4), _ROW])


def compiled(function: Callable[..., Any]) -> Callable[..., None]:
    """Return the intrinsic as compiled code calls it: without the typing context."""
    return intrinsic(function)


class Lanes:
    """Vectors of eight numbers of an array from a place on, while a kernel is compiled."""

    def __init__(self, builder: Any, base: Any):
        self._builder = builder
        self._base = base

    def __call__(self, index: Any) -> Lanes:
        """Return those from a place after this one."""
        return Lanes(self._builder, self._builder.gep(self._base, [index], inbounds=True))

    def load(self, index: int, kind: Any = _EIGHT) -> Any:
        """Return the vector that begins with a number, or one of another kind."""
        return self._builder.load(_at(self._builder, self._base, _INDEX(index), kind), align=8)

    def store(self, vector: Any, index: int) -> None:
        """Set it."""
        self._builder.store(vector, _at(self._builder, self._base, _INDEX(index), vector.type), align=8)


def vectors_of(context: Any, builder: Any, signature: Any, args: Any) -> list[Lanes]:
    """Return the vectors of the arrays of one dimension that an intrinsic takes."""
    return [Lanes(builder, base) for base in _data(context, builder, signature, args, 0)[1]]


_LINE = 8  # numbers of a line of the cache


@inlined
def aligned(n):
    """Return an array of n numbers that begins with a line of the cache: vectors across two lines load twice."""
    room = np.empty(n + _LINE)
    first = (_LINE - (room.ctypes.data >> 3) % _LINE) % _LINE
    return room[first : first + n]


# -- rows of nodes ----------------------------------------------------------------------------------------------------


def _gathering(combined: Callable[..., list[Any]], given: int) -> Callable[..., None]:
    """Return an intrinsic that gathers some arrays [3 n] for nodes 1 … k − 1 relative to node 0 of eight elements.

    ``f(*arrays, nodes, k, first, n, stride, *out)`` sets the rows of the elements from ``first`` on in each out
    [3 (k − 1), stride]; those after the n elements of ``nodes`` [n · k] are as the last one. What is set is
    ``combined(builder, at, origin)`` of a component of all arrays at a node and at node 0.
    """

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        arrays, (nodes, *out) = _data(context, builder, signature, args, given)
        k, first, n, stride = args[given + 1 : given + 5]
        last = builder.sub(n, _INDEX(1))
        starts = []  # of the nodes of each element
        for lane in range(EIGHT):
            e = builder.add(first, _INDEX(lane))
            starts.append(builder.mul(k, builder.select(builder.icmp_signed("<", e, last), e, last)))

        def components(a: Any) -> list[tuple]:
            """Return x, y and z of node a, each of all arrays."""
            rows = [_row_of(builder, nodes, builder.add(start, a)) for start in starts]
            of_arrays = [_lanes_of([_loaded(builder, array, row) for row in rows], builder) for array in arrays]
            return list(zip(*of_arrays, strict=True))

        origin = components(_INDEX(0))
        with cgutils.for_range_slice(builder, _INDEX(1), k, _INDEX(1)) as (a, _):
            row = builder.mul(builder.sub(a, _INDEX(1)), _INDEX(3))
            for i, (at, of) in enumerate(zip(components(a), origin, strict=True)):
                to = builder.add(builder.mul(builder.add(row, _INDEX(i)), stride), first)
                for found, array in zip(combined(builder, at, of), out, strict=True):
                    builder.store(found, _at(builder, array, to, _EIGHT), align=8)
        return context.get_dummy_value()

    return code


@compiled
def gather_lanes(typingctx, q, nodes, k, first, n, stride, x):
    """Set x [3 (k − 1), stride] to the nodes relative to the first one, of eight elements (see `_gathering`)."""

    def relative(builder, at, origin):
        return [builder.fsub(at[0], origin[0])]

    i = types.intp
    return types.void(q, nodes, i, i, i, i, x), _gathering(relative, 1)


@compiled
def gather_lanes_between(typingctx, q0, q1, nodes, k, first, n, stride, means, increments):
    """Set means and increments of them between two positions."""

    def between(builder, at, origin):
        total, change = builder.fadd(*origin), builder.fsub(origin[1], origin[0])
        mean = builder.fmul(ir.Constant(_EIGHT, [0.5] * EIGHT), builder.fsub(builder.fadd(*at), total))
        return [mean, builder.fsub(builder.fsub(at[1], at[0]), change)]

    i = types.intp
    return types.void(q0, q1, nodes, i, i, i, i, means, increments), _gathering(between, 2)


@compiled
def gather_lanes_along(typingctx, q, compensation, dq, nodes, k, first, n, stride, means, increments):
    """Set them from q + compensation, by differences no larger than an edge, however far the body is."""

    def along(builder, at, origin):
        x, c, change = (builder.fsub(*pair) for pair in zip(at, origin, strict=True))
        half = builder.fmul(ir.Constant(_EIGHT, [0.5] * EIGHT), change)
        return [builder.fadd(x, builder.fadd(c, half)), change]

    i = types.intp
    return types.void(q, compensation, dq, nodes, i, i, i, i, means, increments), _gathering(along, 3)


@compiled
def scatter_lanes(typingctx, f, nodes, k, first, n, stride, out):
    """Add f [3 (k − 1), stride] to nodes 1 … k − 1 in out [3 n], and minus their sum to node 0.

    Of up to eight elements from ``first`` on, one after the other: sums do not depend on how elements are grouped.
    """

    def codegen(context, builder, signature, args):
        (forces,), (nodes, out) = _data(context, builder, signature, args, 1)
        k, first, n, stride = args[2:6]
        work = cgutils.alloca_once(builder, ir.ArrayType(_ROW, EIGHT * MOST_NODES))
        rows = builder.bitcast(work, _ROW.as_pointer())  # [8, k]
        sums = [cgutils.alloca_once_value(builder, ir.Constant(_EIGHT, [0.0] * EIGHT)) for _ in range(3)]

        def keep(lanes, a):
            for e, row in enumerate(_rows_of(lanes, builder)):
                builder.store(row, builder.gep(rows, [builder.add(builder.mul(k, _INDEX(e)), a)]))

        with cgutils.for_range_slice(builder, _INDEX(1), k, _INDEX(1)) as (a, _):
            row, lanes = builder.mul(builder.sub(a, _INDEX(1)), _INDEX(3)), []
            for i, total in enumerate(sums):
                at = builder.add(builder.mul(builder.add(row, _INDEX(i)), stride), first)
                lanes.append(builder.load(_at(builder, forces, at, _EIGHT), align=8))
                builder.store(builder.fadd(builder.load(total), lanes[i]), total)
            keep(lanes, a)
        keep([builder.fneg(builder.load(total)) for total in sums], _INDEX(0))

        left = builder.sub(n, first)
        left = builder.select(builder.icmp_signed("<", left, _INDEX(EIGHT)), left, _INDEX(EIGHT))
        start = builder.mul(k, first)
        with cgutils.for_range(builder, builder.mul(left, k)) as loop:
            row = _row_of(builder, nodes, builder.add(start, loop.index))
            force = builder.bitcast(builder.gep(rows, [loop.index]), _DOUBLE.as_pointer())
            for at, kind in ((0, _PAIR), (2, _DOUBLE)):
                to = _at(builder, out, builder.add(row, _INDEX(at)), kind)
                more = builder.load(_at(builder, force, _INDEX(at), kind), align=8)
                builder.store(builder.fadd(builder.load(to, align=8), more), to, align=8)
        return context.get_dummy_value()

    i = types.intp
    return types.void(f, nodes, i, i, i, i, out), codegen


def _data(context, builder, signature, args, given):
    """Return pointers to the numbers of the first arrays, and of those after them."""
    pointers = [
        context.make_array(kind)(context, builder, array).data
        for kind, array in zip(signature.args, args, strict=True)
        if isinstance(kind, types.Array)
    ]
    return pointers[:given], pointers[given:]


def _at(builder, numbers, index, kind):
    """Return a pointer to a vector that begins with a number of an array."""
    return builder.bitcast(builder.gep(numbers, [index], inbounds=True), kind.as_pointer())


def _row_of(builder, nodes, index):
    """Return where the three numbers of a node begin."""
    return builder.mul(builder.zext(builder.load(builder.gep(nodes, [index], inbounds=True)), _INDEX), _INDEX(3))


def _loaded(builder, array, row):
    """Return three numbers and a zero: what follows them may be beyond the end."""
    load = cgutils.get_or_insert_function(builder.module, _LOAD, "llvm.masked.load.v4f64.p0")
    mask, zeros = ir.Constant(ir.VectorType(_BIT, 4), [1, 1, 1, 0]), ir.Constant(_ROW, [0.0] * 4)
    return builder.call(load, [_at(builder, array, row, _ROW), _SHORT(8), mask, zeros])


def _shuffled(builder, x, y, *indices):
    return builder.shuffle_vector(x, y, ir.Constant(ir.VectorType(_SHORT, len(indices)), list(indices)))


def _alternating(builder, x, y):
    """Return the even numbers of two vectors in turn, and the odd ones."""
    return (
        _shuffled(builder, x, y, 0, 8, 2, 10, 4, 12, 6, 14),
        _shuffled(builder, x, y, 1, 9, 3, 11, 5, 13, 7, 15),
    )


def _lanes_of(rows, builder):
    """Return the first three columns of eight rows of four numbers."""
    halves = [_shuffled(builder, rows[e], rows[e + 4], *range(EIGHT)) for e in range(4)]
    (x01, y01), (x23, y23) = _alternating(builder, *halves[:2]), _alternating(builder, *halves[2:])
    front, back = (0, 1, 8, 9, 4, 5, 12, 13), (2, 3, 10, 11, 6, 7, 14, 15)
    return [
        _shuffled(builder, x01, x23, *front),
        _shuffled(builder, y01, y23, *front),
        _shuffled(builder, x01, x23, *back),
    ]


def _rows_of(lanes, builder):
    """Return the eight rows of three columns and zeros."""
    even, odd = _alternating(builder, lanes[0], lanes[1])
    zeros = ir.Constant(_EIGHT, [0.0] * EIGHT)
    last_even, last_odd = _alternating(builder, lanes[2], zeros)
    rows = []
    for half in (0, 4):
        for at in (half, half + 2):
            for first, last in ((even, last_even), (odd, last_odd)):
                rows.append(_shuffled(builder, first, last, at, at + 1, at + 8, at + 9))
    return rows


# -- blocks of matrices -----------------------------------------------------------------------------------------------


@compiled
def turn_block(typingctx, K, at):
    """Replace nine rows of LANES numbers from K[at] on, the components of blocks, by these blocks one after another."""

    def codegen(context, builder, signature, args):
        (block,) = vectors_of(context, builder, signature, args)
        block = block(args[1])
        parts = range(0, LANES, EIGHT)
        found = [[block.load(LANES * c + part) for c in range(9)] for part in parts]
        for part, components in zip(parts, found, strict=True):
            for e, row in enumerate(_transposed(components[:8], builder)):
                block.store(row, 9 * (part + e))
                block.store(builder.extract_element(components[8], _SHORT(e)), 9 * (part + e) + 8)
        return context.get_dummy_value()

    return types.void(K, types.intp), codegen


@compiled
def add_block(typingctx, out, to, K, at, mirrored):
    """Add the nine numbers from K[at] on, or those of the transposed block, to out[to], …"""

    def codegen(context, builder, signature, args):
        out, K = vectors_of(context, builder, signature, args)
        out, block = out(args[1]), K(args[3])
        first = block.load(0)
        turned = _shuffled(builder, first, first, 0, 3, 6, 1, 4, 7, 2, 5)
        first = builder.select(args[4], turned, first)
        out.store(builder.fadd(out.load(0), first), 0)
        out.store(builder.fadd(out.load(8, _DOUBLE), block.load(8, _DOUBLE)), 8)
        return context.get_dummy_value()

    i = types.intp
    return types.void(out, i, K, i, types.boolean), codegen


def _transposed(rows, builder):
    """Return the columns of eight vectors of eight."""
    for step in (1, 2, 4):
        front = [i if not i & step else i - step + EIGHT for i in range(EIGHT)]
        back = [i + step if not i & step else i + EIGHT for i in range(EIGHT)]
        found = list(rows)
        for i in (i for i in range(EIGHT) if not i & step):
            found[i] = _shuffled(builder, rows[i], rows[i + step], *front)
            found[i + step] = _shuffled(builder, rows[i], rows[i + step], *back)
        rows = found
    return rows


# -- sums -------------------------------------------------------------------------------------------------------------


@compiled
def add_lanes(typingctx, kept, factors, first, stride, x, at, step, n, out, to):
    """Set out[to + l] to (out[to + l] if kept else 0) + Σ_m factors[first + m stride] x[at + m step + l].

    For the lanes l < LANES and the terms m < n; all arrays are contiguous and of one dimension.
    """

    def codegen(context, builder, signature, args):
        _, factors, first, stride, x, at, step, n, out, to = args
        data = [
            context.make_array(kind)(context, builder, array).data
            for kind, array in zip(
                (signature.args[1], signature.args[4], signature.args[8]), (factors, x, out), strict=True
            )
        ]

        def vector_at(base, index):
            return builder.bitcast(builder.gep(base, [index]), _VECTOR.as_pointer())

        place = vector_at(data[2], to)
        total = cgutils.alloca_once(builder, _VECTOR)
        builder.store(ir.Constant(_VECTOR, [0.0] * LANES), total)
        with builder.if_then(args[0]):
            builder.store(builder.load(place, align=8), total)
        with cgutils.for_range(builder, n) as loop:
            factor = builder.load(builder.gep(data[0], [builder.add(first, builder.mul(loop.index, stride))]))
            term = builder.load(vector_at(data[1], builder.add(at, builder.mul(loop.index, step))), align=8)
            product = builder.fmul(_splat(builder, factor), term, flags=_CONTRACT)
            builder.store(builder.fadd(builder.load(total), product, flags=_CONTRACT), total)
        builder.store(builder.load(total), place, align=8)
        return context.get_dummy_value()

    index = types.intp
    return types.void(types.boolean, factors, index, index, x, index, index, index, out, index), codegen


@compiled
def add_lane_products(typingctx, kept, factor, x, at, stride, y, of, step, n, out, to):
    """Set out[to + l] to (out[to + l] if kept else 0) + factor · Σ_m x[at + m stride + l] y[of + m step + l].

    See `add_lanes`.
    """

    def codegen(context, builder, signature, args):
        kept, factor, x, at, stride, y, of, step, n, out, to = args
        data = [
            context.make_array(signature.args[i])(context, builder, array).data
            for i, array in ((2, x), (5, y), (9, out))
        ]

        def vector_at(base, index):
            return builder.bitcast(builder.gep(base, [index]), _VECTOR.as_pointer())

        total = cgutils.alloca_once(builder, _VECTOR)
        builder.store(ir.Constant(_VECTOR, [0.0] * LANES), total)
        with cgutils.for_range(builder, n) as loop:
            first = builder.load(vector_at(data[0], builder.add(at, builder.mul(loop.index, stride))), align=8)
            second = builder.load(vector_at(data[1], builder.add(of, builder.mul(loop.index, step))), align=8)
            product = builder.fmul(first, second, flags=_CONTRACT)
            builder.store(builder.fadd(builder.load(total), product, flags=_CONTRACT), total)
        place = vector_at(data[2], to)
        builder.store(builder.fmul(_splat(builder, factor), builder.load(total), flags=_CONTRACT), total)
        with builder.if_then(kept):
            builder.store(builder.fadd(builder.load(place, align=8), builder.load(total)), total)
        builder.store(builder.load(total), place, align=8)
        return context.get_dummy_value()

    index = types.intp
    return types.void(types.boolean, types.float64, x, index, index, y, index, index, index, out, index), codegen


@compiled
def sum_alike(typingctx, x, stride, n):
    """Set each of n numbers of x to the sum of all that are a multiple of the stride away, itself a multiple of LANES.

    Those of the points of an element, which are as many numbers apart as a chunk has elements.
    """

    def codegen(context, builder, signature, args):
        base = context.make_array(signature.args[0])(context, builder, args[0]).data
        _, stride, n = args
        step = _INDEX(LANES)
        with cgutils.for_range_slice(builder, _INDEX(0), stride, step) as (first, _):
            total = cgutils.alloca_once_value(builder, ir.Constant(_VECTOR, [0.0] * LANES))
            with cgutils.for_range_slice(builder, first, n, stride) as (p, _):
                place = _at(builder, base, p, _VECTOR)
                builder.store(builder.fadd(builder.load(total), builder.load(place, align=8)), total)
            with cgutils.for_range_slice(builder, first, n, stride) as (p, _):
                builder.store(builder.load(total), _at(builder, base, p, _VECTOR), align=8)
        return context.get_dummy_value()

    return types.void(x, types.intp, types.intp), codegen


def _splat(builder, number):
    """Return a vector of one number."""
    undefined = ir.Constant(_VECTOR, ir.Undefined)
    return builder.shuffle_vector(
        builder.insert_element(undefined, number, ir.IntType(32)(0)),
        undefined,
        ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES),
    )
