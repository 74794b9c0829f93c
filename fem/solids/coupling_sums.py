"""Blocks of one coupling of nodes, summed over the linear tetrahedra that share it, in vector registers.

Of each element there is a record of `RECORD` numbers: the vectors g_0 … g_3 of its nodes, each in four places, and in
the fourth places and behind them β and the ten k_ab, where `PLACES` shows. The block of the nodes a and b is

    Σ α g_a ⊗ g_b + β g_b ⊗ g_a + k_ab 1,

with one α for all elements. Which elements share a coupling is given by codes: 16 times the element, plus 4 a + b.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

RECORD = 24
BETA = 3
_KS = {
    (0, 1): 7,
    (0, 2): 11,
    (0, 3): 15,
    (1, 2): 16,
    (1, 3): 17,
    (2, 3): 18,
    (0, 0): 19,
    (1, 1): 20,
    (2, 2): 21,
    (3, 3): 22,
}
PLACES = np.array([_KS[min(a, b), max(a, b)] for a in range(4) for b in range(4)], np.uint8)  # of k_ab at 4 a + b

_DOUBLE, _INT = ir.DoubleType(), ir.IntType(64)
_FOUR = ir.VectorType(_DOUBLE, 4)
_CONTRACT = ("contract",)


def _compiled(function: Callable[..., Any]) -> Callable[..., None]:
    """Return the intrinsic as compiled code calls it: without the typing context."""
    return intrinsic(function)


@_compiled
def add_coupling(typingctx, records, codes, first, last, alpha, places, out, to, opposite):
    """Add the block of the elements codes[first:last] to out[to : to + 9], and transposed at ``opposite``.

    On the diagonal, where both are the same, it is added once. All arrays are contiguous and of one dimension.
    """

    def codegen(context, builder, signature, args):
        _, _, first, last, alpha, _, _, to, opposite = args
        data = {
            name: context.make_array(signature.args[i])(context, builder, args[i]).data
            for i, name in ((0, "records"), (1, "codes"), (5, "places"), (6, "out"))
        }
        rows = [cgutils.alloca_once(builder, _FOUR) for _ in range(3)]
        k_sum = cgutils.alloca_once(builder, _DOUBLE)
        for row in rows:
            builder.store(ir.Constant(_FOUR, [0.0] * 4), row)
        builder.store(_DOUBLE(0.0), k_sum)
        alphas = _splat(builder, alpha)
        with cgutils.for_range_slice(builder, first, last, _INT(1)) as (at, _):
            code = builder.zext(builder.load(builder.gep(data["codes"], [at])), _INT)
            record = builder.gep(data["records"], [builder.mul(builder.lshr(code, _INT(4)), _INT(RECORD))])
            g = builder.gep(record, [builder.and_(code, _INT(12))])
            h = builder.gep(record, [builder.shl(builder.and_(code, _INT(3)), _INT(2))])
            place = builder.load(builder.gep(data["places"], [builder.and_(code, _INT(15))]))
            k = builder.load(builder.gep(record, [builder.zext(place, _INT)]))
            beta = _splat(builder, builder.load(builder.gep(record, [_INT(BETA)])))
            of_h, of_g = (
                builder.fmul(
                    builder.load(builder.bitcast(vector, _FOUR.as_pointer()), align=8), factor, flags=_CONTRACT
                )
                for vector, factor in ((h, alphas), (g, beta))
            )
            for i, row in enumerate(rows):
                total = builder.load(row)
                for vector, other in ((g, of_h), (h, of_g)):
                    component = _splat(builder, builder.load(builder.gep(vector, [_INT(i)])))
                    total = builder.fadd(total, builder.fmul(component, other, flags=_CONTRACT), flags=_CONTRACT)
                builder.store(total, row)
            builder.store(builder.fadd(builder.load(k_sum), k), k_sum)
        next_to = builder.icmp_signed("!=", to, opposite)
        totals = [[builder.extract_element(builder.load(row), ir.IntType(32)(j)) for j in range(3)] for row in rows]
        for i in range(3):
            totals[i][i] = builder.fadd(totals[i][i], builder.load(k_sum))
        for i in range(3):
            for j in range(3):
                # Symmetric to the last bit on the diagonal.
                upper = totals[min(i, j)][max(i, j)]
                number = builder.select(next_to, totals[i][j], upper) if i > j else totals[i][j]
                _add(builder, data["out"], to, 3 * i + j, number)
        with builder.if_then(next_to):
            for i in range(3):
                for j in range(3):
                    _add(builder, data["out"], opposite, 3 * j + i, totals[i][j])
        return context.get_dummy_value()

    index = types.intp
    return types.void(records, codes, index, index, types.float64, places, out, index, index), codegen


def _add(builder, out, first, more, number):
    """Add a number to out[first + more]."""
    place = builder.gep(out, [builder.add(first, _INT(more))])
    builder.store(builder.fadd(builder.load(place), number), place)


def _splat(builder, number):
    """Return a vector of one number."""
    undefined = ir.Constant(_FOUR, ir.Undefined)
    return builder.shuffle_vector(
        builder.insert_element(undefined, number, ir.IntType(32)(0)),
        undefined,
        ir.Constant(ir.VectorType(ir.IntType(32), 4), [0] * 4),
    )
