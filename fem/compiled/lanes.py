"""Sums over nodes or points for 16 elements at once, in vector registers whatever the number of terms.

A compiler makes vector instructions of an inner loop of known length only where it can determine that its arrays do not
overlap, and keeps a sum in registers only where the number of terms is known, too. Written as vectors, one loop serves
all numbers of nodes and points.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 16
_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_CONTRACT = ("contract",)


def _compiled(function: Callable[..., Any]) -> Callable[..., None]:
    """Return the intrinsic as compiled code calls it: without the typing context."""
    return intrinsic(function)


@_compiled
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


@_compiled
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


def _splat(builder, number):
    """Return a vector of one number."""
    undefined = ir.Constant(_VECTOR, ir.Undefined)
    return builder.shuffle_vector(
        builder.insert_element(undefined, number, ir.IntType(32)(0)),
        undefined,
        ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES),
    )
