"""Loops over stencils with all that they take in memory, so that one compiled loop calls any of them alike.

The loop of a gradient takes positions, what it needs to know of its stencils, and the result; what it needs differs
from one kind of energy to the next. Stored at an address, all of it is one number beside the address of a kernel that
fetches it, and a loop over steps calls loops of any kind, of which nothing is compiled for their combination.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import typeof, types  # pyright: ignore[reportPrivateImportUsage]
from numba.extending import intrinsic
from numpy.typing import NDArray

from symplex.fem.call import address_of, call_kernel, float64_at
from symplex.fem.kernels import uncounted_formula, uncounted_kernel

_VECTORS = types.float64[:, ::1]


class StoredCall(NamedTuple):
    """The call of a loop that adds nodal vectors [n, dim] to others.

    Attributes
    ----------
    row : (int, int)
        The addresses of the kernel that fetches the arguments and of these; see `add_stored`.
    kept : tuple
        What is at the addresses, to live as long.
    """

    row: tuple[int, int]
    kept: tuple[Any, ...]


def stored_call(kernel: Any, arguments: tuple[Any, ...], ranges: Sequence[tuple[int, int]] | None = None) -> StoredCall:
    """Return the call ``kernel(q, *arguments, out)``, or ``kernel(q, *arguments, out, first, last)`` for all ranges.

    Parameters
    ----------
    kernel : callable
        A compiled kernel; it returns a number, which is finite if all that it has added is, and raises nothing.
    arguments : tuple
        What it takes between the positions [n, dim] and the result [n, dim].
    ranges : sequence of (int, int), optional
        Of blocks of stencils, in the order in which they are added up.
    """
    ends = [types.int64] * 2 if ranges is not None else []
    signature = _VECTORS, *map(typeof, arguments), _VECTORS, *ends
    bounds = np.array([] if ranges is None else ranges, np.int64).reshape(-1, 2)
    job = address_of(kernel, *signature), bounds, arguments
    room = np.empty(_words(job), np.int64)
    _store(room.ctypes.data, job)
    run = _run_whole if ranges is None else _run_ranges
    return StoredCall((address_of(run, _VECTORS, types.CPointer(typeof(job)), _VECTORS), room.ctypes.data), (job, room))


def table_of_calls(calls: Sequence[StoredCall]) -> NDArray[np.int64]:
    """Return the rows of calls as a table [k, 2]."""
    return np.array([call.row for call in calls], np.int64).reshape(-1, 2)


@uncounted_formula
def add_stored(calls, q, out):
    """Add what calls [k, 2] find at q [n, dim] to out [n, dim]; return a sum that is finite if all of it is."""
    check = 0.0
    for k in range(len(calls)):
        check += call_kernel(calls[k, 0], (q, float64_at(calls[k, 1]), out))
    return check


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
def _run_ranges(q, job, out):
    address, bounds, arguments = _read(job)
    check = 0.0
    for k in range(len(bounds)):
        check += call_kernel(address, (q, *arguments, out, bounds[k, 0], bounds[k, 1]))
    return check


@uncounted_kernel
def _run_whole(q, job, out):
    address, _, arguments = _read(job)
    return call_kernel(address, (q, *arguments, out))
