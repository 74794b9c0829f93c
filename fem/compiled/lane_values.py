"""Functions of eight numbers at once: the algebra of `symplex.fem.compiled.vectors` in vector registers.

A function of rows of eight numbers, of as many points, is written once with vectors and matrices as values. A kernel
that calls it has vector instructions without loops and without arrays that might overlap.
"""

# numba's declarations of what registers code are incomplete.
# pyright: reportOptionalCall=false

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import intrinsic, lower_builtin

from symplex.fem.compiled.vectors import Number

EIGHT = 8
_DOUBLE, _INDEX = ir.DoubleType(), ir.IntType(64)
_VECTOR = ir.VectorType(_DOUBLE, EIGHT)
_CONTRACT = ("contract",)


def laned(function: Callable[..., Iterator[tuple[int, Any]]]) -> Callable[..., None]:
    """Let kernels run a function of rows of eight numbers: ``f(W, *numbers)`` with rows one after the other in W.

    The function is given ``rows``, of which ``rows(i, n)`` are those from i on, and numbers; it yields the first row
    and the value, or tuple of values, that is stored there.
    """

    @wraps(function)
    def on_arrays(W: Any, *numbers: Any) -> None:
        table = W.reshape(-1, EIGHT)
        for first, value in function(lambda i, n: list(table[i : i + n].copy()), *numbers):
            for k, x in enumerate(_flat(value)):
                table[first + k] = x

    class Template(AbstractTemplate):
        key = on_arrays

        def generic(self, args: Any, kws: Any) -> Any:
            """Return the signature of a call."""
            return types.void(args[0], *[types.float64] * (len(args) - 1))

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        base = context.make_array(signature.args[0])(context, builder, args[0]).data

        def place(row: int) -> Any:
            return builder.bitcast(builder.gep(base, [_INDEX(EIGHT * row)], inbounds=True), _VECTOR.as_pointer())

        def rows(first: int, n: int) -> list[Number]:
            return [Number(builder, builder.load(place(first + k), align=8)) for k in range(n)]

        numbers = [Number(builder, _spread(builder, x)) for x in args[1:]]
        for first, value in function(rows, *numbers):
            for k, x in enumerate(_flat(value)):
                builder.store(_vector(builder, x), place(first + k), align=8)
        return context.get_dummy_value()

    infer_global(on_arrays, types.Function(Template))
    lower_builtin(on_arrays, types.VarArg(types.Any))(code)
    return on_arrays


def less(a: Any, b: Any) -> Any:
    """Return in which lanes a < b; in none where one is not a number."""
    one = _number_of(a, b)
    if one is None:
        return np.less(a, b)
    return Number(one.builder, one.builder.fcmp_ordered("<", _vector(one.builder, a), _vector(one.builder, b)))


def both(first: Any, *others: Any) -> Any:
    """Return in which lanes all conditions hold."""
    for other in others:
        if isinstance(first, Number):
            first = Number(first.builder, first.builder.and_(first.value, other.value))
        else:
            first = np.logical_and(first, other)
    return first


def where(condition: Any, a: Any, b: Any) -> Any:
    """Return a in the lanes where a condition holds, b in the others; of tuples each of their numbers."""
    if isinstance(a, tuple):
        return tuple([where(condition, x, y) for x, y in zip(a, b, strict=True)])
    if not isinstance(condition, Number):
        return np.where(condition, a, b)
    builder = condition.builder
    return Number(builder, builder.select(condition.value, _vector(builder, a), _vector(builder, b)))


def _number_of(*candidates: Any) -> Number | None:
    return next((x for x in candidates if isinstance(x, Number)), None)


def _vector(builder: Any, x: Any) -> Any:
    return x.value if isinstance(x, Number) else ir.Constant(_VECTOR, [float(x)] * EIGHT)


def _flat(found: Any) -> list[Any]:
    parts: Any = getattr(found, "parts", found)
    return [x for part in parts for x in _flat(part)] if isinstance(parts, tuple) else [found]


def _spread(builder: Any, number: Any) -> Any:
    """Return eight times a number."""
    one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), number, ir.IntType(32)(0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), EIGHT), [0] * EIGHT)
    return builder.shuffle_vector(one, ir.Constant(_VECTOR, ir.Undefined), zeros)


def _compiled(function: Callable[..., Any]) -> Callable[..., None]:
    """Return the intrinsic as compiled code calls it: without the typing context."""
    return intrinsic(function)


class _Arrays:
    """Places in contiguous arrays of doubles."""

    def __init__(self, context: Any, builder: Any, signature: Any, args: Any):
        self._builder = builder
        self._data = [
            context.make_array(kind)(context, builder, value).data if isinstance(kind, types.Array) else None
            for kind, value in zip(signature.args, args, strict=True)
        ]

    def number(self, array: int, index: Any) -> Any:
        """Return the pointer to a number."""
        return self._builder.gep(self._data[array], [index], inbounds=True)

    def lanes(self, array: int, index: Any) -> Any:
        """Return the pointer to eight numbers."""
        return self._builder.bitcast(self.number(array, index), _VECTOR.as_pointer())


@_compiled
def set_lane_deformations(typingctx, x, G, e, k, W):
    """Set the first nine rows of W to F_iK = Σ_a x_ai G[e, K, a] of an element with nodes at x [3k], G [m, 3, k, 8]."""

    def codegen(context, builder, signature, args):
        arrays, e, k = _Arrays(context, builder, signature, args), args[2], args[3]
        sums = [cgutils.alloca_once(builder, _VECTOR) for _ in range(9)]
        for one in sums:
            builder.store(ir.Constant(_VECTOR, [0.0] * EIGHT), one)
        first = builder.mul(e, _INDEX(3))
        with cgutils.for_range(builder, k) as loop:
            xs = [
                _spread(
                    builder, builder.load(arrays.number(0, builder.add(builder.mul(loop.index, _INDEX(3)), _INDEX(i))))
                )
                for i in range(3)
            ]
            for K in range(3):
                row = builder.add(builder.mul(builder.add(first, _INDEX(K)), k), loop.index)
                slope = builder.load(arrays.lanes(1, builder.mul(row, _INDEX(EIGHT))), align=8)
                for i in range(3):
                    product = builder.fmul(xs[i], slope, flags=_CONTRACT)
                    place = sums[3 * i + K]
                    builder.store(builder.fadd(builder.load(place), product, flags=_CONTRACT), place)
        for c, one in enumerate(sums):
            builder.store(builder.load(one), arrays.lanes(4, _INDEX(EIGHT * c)), align=8)
        return context.get_dummy_value()

    return types.void(x, G, types.intp, types.intp, W), codegen


@_compiled
def set_lane_forces(typingctx, W, first, G, e, k, out):
    """Set out[e, a, i] to Σ T_iK G[e, K, a] over K and lanes, T the nine rows of W from the first one on."""

    def codegen(context, builder, signature, args):
        arrays, first, e, k = _Arrays(context, builder, signature, args), args[1], args[3], args[4]
        T = [
            builder.load(arrays.lanes(0, builder.mul(builder.add(first, _INDEX(c)), _INDEX(EIGHT))), align=8)
            for c in range(9)
        ]
        start = builder.mul(e, _INDEX(3))
        with cgutils.for_range(builder, k) as loop:
            slopes = []
            for K in range(3):
                row = builder.add(builder.mul(builder.add(start, _INDEX(K)), k), loop.index)
                slopes.append(builder.load(arrays.lanes(2, builder.mul(row, _INDEX(EIGHT))), align=8))
            at = builder.mul(builder.add(builder.mul(e, k), loop.index), _INDEX(3))
            for i in range(3):
                total = builder.fmul(T[3 * i], slopes[0], flags=_CONTRACT)
                for K in (1, 2):
                    product = builder.fmul(T[3 * i + K], slopes[K], flags=_CONTRACT)
                    total = builder.fadd(total, product, flags=_CONTRACT)
                builder.store(_sum(builder, total), arrays.number(5, builder.add(at, _INDEX(i))))
        return context.get_dummy_value()

    return types.void(W, types.intp, G, types.intp, types.intp, out), codegen


def _sum(builder: Any, lanes: Any) -> Any:
    """Return the sum of eight numbers, by halves."""
    n = EIGHT
    while n > 1:
        n //= 2
        halves = [
            builder.shuffle_vector(
                lanes,
                ir.Constant(lanes.type, ir.Undefined),
                ir.Constant(ir.VectorType(ir.IntType(32), n), [part * n + i for i in range(n)]),
            )
            for part in range(2)
        ]
        lanes = builder.fadd(*halves, flags=_CONTRACT)
    return builder.extract_element(lanes, ir.IntType(32)(0))
