"""Sums over nodes or points for 16 elements at once, in vector registers whatever the number of terms.

A compiler makes vector instructions of an inner loop of known length only where it can tell that its arrays do not
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
        contract = ("contract",)
        int32 = ir.IntType(32)

        def vector_at(base, index):
            return builder.bitcast(builder.gep(base, [index]), _VECTOR.as_pointer())

        place = vector_at(data[2], to)
        total = cgutils.alloca_once(builder, _VECTOR)
        builder.store(ir.Constant(_VECTOR, [0.0] * LANES), total)
        with builder.if_then(args[0]):
            builder.store(builder.load(place, align=8), total)
        with cgutils.for_range(builder, n) as loop:
            factor = builder.load(builder.gep(data[0], [builder.add(first, builder.mul(loop.index, stride))]))
            undefined = ir.Constant(_VECTOR, ir.Undefined)
            splat = builder.shuffle_vector(
                builder.insert_element(undefined, factor, int32(0)),
                undefined,
                ir.Constant(ir.VectorType(int32, LANES), [0] * LANES),
            )
            term = builder.load(vector_at(data[1], builder.add(at, builder.mul(loop.index, step))), align=8)
            product = builder.fmul(splat, term, flags=contract)
            builder.store(builder.fadd(builder.load(total), product, flags=contract), total)
        builder.store(builder.load(total), place, align=8)
        return context.get_dummy_value()

    index = types.intp
    return types.void(types.boolean, factors, index, index, x, index, index, index, out, index), codegen
