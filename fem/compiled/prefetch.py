"""Asking for memory before it is needed."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

_BYTE_POINTER, _INT32 = ir.IntType(8).as_pointer(), ir.IntType(32)
_TYPE = ir.FunctionType(ir.VoidType(), [_BYTE_POINTER, _INT32, _INT32, _INT32])
_READ, _KEEP, _DATA, _SOON = (_INT32(flag) for flag in (0, 3, 1, 2))


@intrinsic
def prefetch(typingctx, array, index):
    """Start to load the cache line that holds array[index] (one dimension, contiguous)."""

    def codegen(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        instruction = builder.module.declare_intrinsic("llvm.prefetch", [_BYTE_POINTER], _TYPE)
        address = builder.bitcast(builder.gep(data, [args[1]]), _BYTE_POINTER)
        builder.call(instruction, [address, _READ, _KEEP, _DATA])
        return context.get_dummy_value()

    return types.void(array, types.intp), codegen


@intrinsic
def prefetch_at(typingctx, address):
    """Start to load the cache line at an address (int64)."""

    def codegen(context, builder, signature, args):
        instruction = builder.module.declare_intrinsic("llvm.prefetch", [_BYTE_POINTER], _TYPE)
        builder.call(instruction, [builder.inttoptr(args[0], _BYTE_POINTER), _READ, _SOON, _DATA])
        return context.get_dummy_value()

    return types.void(types.int64), codegen
