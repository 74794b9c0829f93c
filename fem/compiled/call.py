"""Calling a compiled local function by its address, from inside a compiled loop.

An energy hands its local functions to an event loop as addresses of C functions
(:class:`symplex.fem.energies.energy.LatticeFunctions`). The loop is then compiled and cached once for all energies;
passing jitted functions instead would compile it again in every process.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_DOUBLE = ir.DoubleType()
_INT = ir.IntType(64)


def _call(builder, values, n_indices, n_steps):
    """Emit ``f(p, x, int64 × n_indices, double × n_steps)`` with f, p, x given as integer addresses."""
    pointers = [_DOUBLE.as_pointer()] * 2
    f_type = ir.FunctionType(_DOUBLE, [*pointers, *[_INT] * n_indices, *[_DOUBLE] * n_steps])
    f = builder.inttoptr(values[0], f_type.as_pointer())
    p_and_x = [builder.inttoptr(value, _DOUBLE.as_pointer()) for value in values[1:3]]
    return builder.call(f, [*p_and_x, *values[3:]])


def _compiled(function: Callable) -> Callable[..., float]:
    """Return the intrinsic as compiled code calls it: without the typing context, with numbers."""
    return intrinsic(function)


@_compiled
def call_value(typingctx, f, p, x):
    """Return f(p, x); all three are addresses (int64)."""

    def codegen(context, builder, signature, args):
        return _call(builder, args, 0, 0)

    return types.float64(types.int64, types.int64, types.int64), codegen


@_compiled
def call_difference(typingctx, f, p, x, i, h):
    """Return f(p, x, i, h); f, p and x are addresses (int64)."""

    def codegen(context, builder, signature, args):
        return _call(builder, args, 1, 1)

    return types.float64(types.int64, types.int64, types.int64, types.int64, types.float64), codegen


@_compiled
def call_mixed(typingctx, f, p, x, i, j, hi, hj):
    """Return f(p, x, i, j, hi, hj); f, p and x are addresses (int64)."""

    def codegen(context, builder, signature, args):
        return _call(builder, args, 2, 2)

    return (
        types.float64(types.int64, types.int64, types.int64, types.int64, types.int64, types.float64, types.float64),
        codegen,
    )


@_compiled
def call_law(typingctx, f, p, x, out):
    """Call f(p, x, out), the energy or derivatives of a law at points; all are addresses (int64)."""

    def codegen(context, builder, signature, args):
        pointer = _DOUBLE.as_pointer()
        f_type = ir.FunctionType(ir.VoidType(), [pointer] * 3)
        function = builder.inttoptr(args[0], f_type.as_pointer())
        builder.call(function, [builder.inttoptr(value, pointer) for value in args[1:]])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64, types.int64), codegen


@_compiled
def call_hourglass(typingctx, f, kind, frozen, start, factor, rows, x, d, y, e, out):
    """Call f(kind, frozen, start, factor, rows, x, d, y, e, out), of a chunk; f and arrays are addresses."""

    def codegen(context, builder, signature, args):
        pointer = _DOUBLE.as_pointer()
        f_type = ir.FunctionType(ir.VoidType(), [*[_INT] * 3, _DOUBLE, *[pointer] * 6])
        function = builder.inttoptr(args[0], f_type.as_pointer())
        builder.call(function, [*args[1:5], *(builder.inttoptr(value, pointer) for value in args[5:])])
        return context.get_dummy_value()

    return types.void(*[types.int64] * 4, types.float64, *[types.int64] * 6), codegen


@_compiled
def call_back(typingctx, address, number):
    """Return f(number), 0 unless it has failed, of a `Callback` f at an address (int64)."""

    def codegen(context, builder, signature, args):
        function = builder.inttoptr(args[0], ir.FunctionType(_INT, [_INT]).as_pointer())
        return builder.call(function, args[1:])

    return types.int64(types.int64, types.int64), codegen


def array_of(context: Any, builder: Any, kind: types.Array, data: Any, shape: list[Any]) -> Any:
    """Return an array in C order of what is at a pointer, without an owner whose references would be counted."""
    size = context.get_abi_sizeof(context.get_data_type(kind.dtype))
    strides = [_INT(size)]
    for extent in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], extent))
    from numba.np.arrayobj import populate_array  # which loads what only compiling needs

    array = context.make_array(kind)(context, builder)
    populate_array(
        array,
        data=data,
        shape=cgutils.pack_array(builder, shape),
        strides=cgutils.pack_array(builder, strides),
        itemsize=_INT(size),
        meminfo=None,
    )
    return array._getvalue()


@_compiled
def ranges_at(typingctx, address, n):
    """Return the ranges [n, 2] at an address."""

    def codegen(context, builder, signature, args):
        kind = signature.return_type
        data = builder.inttoptr(args[0], _INT.as_pointer())
        return array_of(context, builder, kind, data, [args[1], _INT(2)])

    return types.uint64[:, ::1](types.int64, types.int64), codegen


@_compiled
def slots_at(typingctx, address, m, k):
    """Return the places [m, k, k] of stencils on a pattern at an address."""

    def codegen(context, builder, signature, args):
        kind = signature.return_type
        data = builder.inttoptr(args[0], ir.IntType(32).as_pointer())
        return array_of(context, builder, kind, data, [args[1], args[2], args[2]])

    return types.int32[:, :, ::1](types.int64, types.int64, types.int64), codegen


# By identity, as numba's types, of which equal ones are one object, compute their hashes at each call. What is
# identified is kept.
_ADDRESSES: dict[tuple[int, ...], tuple[int, Any]] = {}


def address_of(kernel: Any, *arguments: types.Type) -> int:
    """Return the address of a compiled kernel for arguments of given types, for `call_kernel`."""
    key = (id(kernel), *map(id, arguments))
    known = _ADDRESSES.get(key)
    if known is None:
        kernel.compile(arguments)
        compiled = kernel.overloads[arguments]
        address = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
        known = _ADDRESSES[key] = address, (kernel, arguments)
    return known[0]


def _calling(result: types.Type) -> Callable:
    """Return the intrinsic that calls a kernel of a result."""

    def call(typingctx, address, arguments):
        def codegen(context, builder, signature, args):
            kinds = list(signature.args[1])
            convention = context.call_conv
            pointer = convention.get_function_type(result, kinds).as_pointer()
            values = [builder.extract_value(args[1], i) for i in range(len(kinds))]
            kernel = builder.inttoptr(args[0], pointer)
            return convention.call_function(builder, kernel, result, kinds, values)[1]

        return result(types.int64, arguments), codegen

    return _compiled(call)


# Of the kernel at an address (int64) and a tuple of its arguments; by its result: a number, a count, none or a truth.
# Called by name, a kernel would be compiled once more into each one that calls it. It must raise nothing.
call_kernel, call_counting_kernel, call_writing_kernel = map(_calling, (types.float64, types.int64, types.none))
call_testing_kernel = _calling(types.boolean)
