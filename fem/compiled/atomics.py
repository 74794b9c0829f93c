"""Words of memory that several threads of compiled code read and write without locks, in one order for all."""

from __future__ import annotations

import platform
from collections.abc import Callable

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

_WORD = ir.IntType(64)
_ALIGNED = 8
_PAUSE = "llvm.x86.sse2.pause" if platform.machine().lower() in ("x86_64", "amd64") else ""


def _compiled(function: Callable) -> Callable[..., int]:
    """Return the intrinsic as compiled code calls it: without the typing context, with whole numbers."""
    return intrinsic(function)


def _place(context, builder, signature, args):
    """Return a pointer to words[at], the first two arguments; words are int64, contiguous, of one dimension."""
    data = context.make_array(signature.args[0])(context, builder, args[0]).data
    return builder.gep(data, [args[1]])


@_compiled
def load(typingctx, words, at):
    """Return words[at], with all that was written before it was."""

    def codegen(context, builder, signature, args):
        return builder.load_atomic(_place(context, builder, signature, args), "acquire", _ALIGNED)

    return types.int64(words, types.intp), codegen


@_compiled
def store(typingctx, words, at, value):
    """Set words[at], after all that was written before."""

    def codegen(context, builder, signature, args):
        builder.store_atomic(args[2], _place(context, builder, signature, args), "release", _ALIGNED)
        return context.get_dummy_value()

    return types.void(words, types.intp, types.int64), codegen


@_compiled
def add(typingctx, words, at, value):
    """Add to words[at], after all that was written before; return what was there."""

    def codegen(context, builder, signature, args):
        return builder.atomic_rmw("add", _place(context, builder, signature, args), args[2], "acq_rel")

    return types.int64(words, types.intp, types.int64), codegen


@_compiled
def exchange(typingctx, words, at, expected, value):
    """Set words[at] if it is what is expected; return whether it was."""

    def codegen(context, builder, signature, args):
        place = _place(context, builder, signature, args)
        found = builder.cmpxchg(place, args[2], args[3], "acq_rel", "acquire")
        return builder.extract_value(found, 1)

    return types.boolean(words, types.intp, types.int64, types.int64), codegen


@_compiled
def pause(typingctx):
    """Wait for some cycles, and leave what the core has to a thread next to it on the same one."""

    def codegen(context, builder, signature, args):
        if _PAUSE:
            builder.call(builder.module.declare_intrinsic(_PAUSE, (), ir.FunctionType(ir.VoidType(), [])), [])
        return context.get_dummy_value()

    return types.void(), codegen


@_compiled
def give_way(typingctx, function):
    """Call the C function ``int function(void)`` at an address (int64), such as that of ``sched_yield``."""

    def codegen(context, builder, signature, args):
        kind = ir.FunctionType(ir.IntType(32), [])
        builder.call(builder.inttoptr(args[0], kind.as_pointer()), [])
        return context.get_dummy_value()

    return types.void(types.int64), codegen
