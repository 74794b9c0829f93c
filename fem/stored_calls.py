"""Calls of kernels that take arrays one by one, instead of a record.

What such a kernel takes is stored at an address as the tuple that it is; a kernel for tuples of that type fetches it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numba import typeof, types  # pyright: ignore[reportPrivateImportUsage]
from numba.extending import intrinsic

from symplex.fem.call import address_of, call_kernel
from symplex.fem.calls import VECTORS, Call
from symplex.fem.kernels import uncounted_kernel


class _Arguments:
    """A kernel's address and its arguments, as a record that `_run` reads."""

    def __init__(self, kernel: Any, arguments: tuple[Any, ...]):
        signature = VECTORS, *map(typeof, arguments), VECTORS, types.int64, types.int64
        job = address_of(kernel, *signature), arguments
        self.type = types.CPointer(typeof(job))
        self._kept = job, np.empty(_words(job), np.int64)
        self.address = self._kept[1].ctypes.data
        _store(self.address, job)


def stored_call(kernel: Any, arguments: tuple[Any, ...], ranges: Sequence[tuple[int, int]]) -> Call:
    """Return the call ``kernel(q, *arguments, out, first, last)`` for ranges of blocks of stencils.

    Parameters
    ----------
    kernel : callable
        A compiled kernel; it returns a number, which is finite if all that it has added is, and raises nothing.
    arguments : tuple
        What it takes between the positions [n, dim] and the result [n, dim].
    ranges : sequence of (int, int)
        Of blocks of stencils, in the order in which they are added up.
    """
    return Call(_run, _Arguments(kernel, arguments), np.array(ranges, np.int64).reshape(-1, 2))


def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the intrinsic as compiled code calls it: without the typing context."""
    return intrinsic(function)


@_compiled
def _write_at(typingctx, address, value):
    """Write a value of any type to an address (int64)."""

    def codegen(context, builder, signature, args):
        # As it is in registers: numba's own form of tuples in memory fails for those in tuples that have truth values.
        pointer = context.get_value_type(signature.args[1]).as_pointer()
        builder.store(args[1], builder.inttoptr(args[0], pointer))
        return context.get_dummy_value()

    return types.void(types.int64, value), codegen


@_compiled
def _read(typingctx, pointer):
    """Return the value that a typed pointer leads to, as `_write_at` has written it."""

    def codegen(context, builder, signature, args):
        wanted = context.get_value_type(signature.return_type).as_pointer()
        return builder.load(builder.bitcast(args[0], wanted))

    return pointer.dtype(pointer), codegen


@_compiled
def _size_of(typingctx, value):
    """Return how many bytes a value of any type takes."""

    def codegen(context, builder, signature, args):
        return context.get_constant(types.int64, context.get_abi_sizeof(context.get_value_type(signature.args[0])))

    return types.int64(value), codegen


@uncounted_kernel
def _words(value):
    return _size_of(value) // 8 + 1


@uncounted_kernel
def _store(address, value):
    _write_at(address, value)


@uncounted_kernel
def _run(q, job, out, first, last):
    address, arguments = _read(job)
    return call_kernel(address, (q, *arguments, out, first, last))
