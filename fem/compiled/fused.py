"""Products that are fused with sums."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

_DOUBLE = ir.DoubleType()


@intrinsic
def multiply_add(typingctx, a, b, c):
    """Return a b + c, rounded once on processors that can.

    Compilers may fuse ``a * b + c`` or not: not where the product is of use elsewhere, too.
    """

    def codegen(context, builder, signature, args):
        kind = ir.FunctionType(_DOUBLE, [_DOUBLE] * 3)
        return builder.call(builder.module.declare_intrinsic("llvm.fmuladd", [_DOUBLE], kind), args)

    return types.float64(types.float64, types.float64, types.float64), codegen
