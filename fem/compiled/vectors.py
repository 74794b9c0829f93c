"""Vectors and 3 × 3 matrices as values, in kernels as in Python.

`Vec3`, `Mat3`, the matrix of three rows, and `Sym3`, a symmetric matrix, hold what has + − · /: numbers, arrays of the
numbers of many points, or, while a kernel is compiled, LLVM's values. So their algebra is written once. A function that
is `expanded` runs once for each place where a kernel calls it, and the operations that it does are the code there,
fused as those of other formulas are: loops over components and indices cost nothing, and there is nothing to compile.
It must not ask for values, as `if u[0] > 0.0` would.

In kernels they are of the types of numba that stand at the end, and live in registers. An index that is known when a
kernel is compiled costs nothing, and the components of another one are compared one by one.
"""

# numba's declarations of what registers code are incomplete.
# pyright: reportOptionalCall=false

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from itertools import count, islice
from typing import Any, ClassVar, TypeVar

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global
from numba.extending import (
    NativeValue,
    box,
    intrinsic,
    lower_builtin,
    models,
    register_model,
    typeof_impl,
    unbox,
)

_Function = TypeVar("_Function", bound=Callable[..., Any])
_SUMS = 8  # under way at the same time
_ANY = ((types.VarArg(types.Any),),)


class _Value:
    """Components with the operators that all kinds have."""

    __slots__ = ("parts",)
    __array_ufunc__ = None  # an array times a vector is a vector of arrays
    SIZE: ClassVar[int]

    def __init__(self, *parts: Any):
        self.parts = parts if len(parts) == self.SIZE else tuple(_flat(parts))
        if len(self.parts) != self.SIZE:
            raise TypeError(f"{type(self).__name__} must have {self.SIZE} components, got {len(self.parts)}.")

    def __getitem__(self, i: int) -> Any:
        return self.parts[i]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.parts)

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self.parts}"

    def __add__(self, other: Any) -> Any:
        return self._each(operator.add, other)

    def __sub__(self, other: Any) -> Any:
        return self._each(operator.sub, other)

    def _each(self, operation: Callable, other: Any) -> Any:
        if type(other) is not type(self):
            return NotImplemented
        return type(self)(*map(operation, self.parts, other.parts))

    def __neg__(self) -> Any:
        return type(self)(*[-x for x in self.parts])

    def __rmul__(self, factor: Any) -> Any:
        return NotImplemented if isinstance(factor, _Value) else type(self)(*[factor * x for x in self.parts])

    __mul__ = __rmul__

    def __truediv__(self, divisor: Any) -> Any:
        return NotImplemented if isinstance(divisor, _Value) else type(self)(*[x / divisor for x in self.parts])


class Vec3(_Value):
    """A vector. ``v @ d`` is Σ_a v_a d_a of the rows of a matrix, or the product of two vectors."""

    __slots__ = ()
    SIZE = 3

    def __matmul__(self, other: Any) -> Any:
        if not isinstance(other, Vec3 | Mat3):
            return NotImplemented
        return self[0] * other[0] + self[1] * other[1] + self[2] * other[2]


class Mat3(_Value):
    """A matrix, made of three rows or of nine numbers; ``A[i]`` is a row."""

    __slots__ = ()
    SIZE = 9

    def __getitem__(self, i: int) -> Vec3:
        return Vec3(*self.parts[3 * i : 3 * i + 3])

    def __iter__(self) -> Iterator[Vec3]:
        return iter((self[0], self[1], self[2]))

    def __matmul__(self, other: Any) -> Any:
        return type(other)(*[row @ other for row in self]) if isinstance(other, Vec3 | Mat3) else NotImplemented


class Sym3(_Value):
    """A symmetric matrix, of the numbers 11, 22, 33, 12, 13, 23."""

    __slots__ = ()
    SIZE = 6

    def __matmul__(self, other: Any) -> Any:
        return full(self) @ other


# -- the algebra ------------------------------------------------------------------------------------------------------
# Of the deformed tangent vectors d_a = ∂x/∂ξ_a of a point, the edges of a linear tetrahedron, a matrix has the rows.


def expanded(function: _Function, operands: Sequence[tuple] = _ANY) -> _Function:
    """Let kernels call a function of numbers, values and tuples of them, of which it returns one."""

    def signature_of(args: Sequence[types.Type]) -> Any:
        found = function(*map(_symbols, args))
        return None if found is NotImplemented else _type_of(found)(*map(_as_numbers, args))

    def code(context: Any, builder: Any, signature: Any, args: Sequence[Any]) -> Any:
        symbols = [_symbols(kind, builder, value) for kind, value in zip(signature.args, args, strict=True)]
        return _llvm(context, builder, signature.return_type, function(*symbols))

    _teach(function, signature_of, code, operands)
    return function


def stored(function: Callable[..., Iterator[Any]], *, add: bool = False) -> Callable[..., None]:
    """Let kernels store what a function yields, each value before the next one is computed: ``f(rows, i, n, *args)``.

    The components, one after the other, are set to be n numbers apart in an array of one dimension, from i on.
    """

    @wraps(function)
    def setting(rows: Any, first: int, stride: int, *args: Any) -> None:
        numbers = [x for found in function(*args) for x in _flat(found)]
        at = slice(first, first + len(numbers) * stride, stride)
        rows[at] = rows[at] + numbers if add else numbers

    def signature_of(args: Sequence[types.Type]) -> Any:
        return types.void(args[0], types.intp, types.intp, *map(_as_numbers, args[3:]))

    def code(context: Any, builder: Any, signature: Any, args: Sequence[Any]) -> Any:
        symbols = [_symbols(kind, builder, value) for kind, value in zip(signature.args[3:], args[3:], strict=True)]
        places = _places(context, builder, signature.args, args)
        for found in function(*symbols):
            for x in _flat(found):
                place = next(places)
                new = Number(builder, builder.load(place)) + x if add else x
                builder.store(new.value, place)
        return context.get_dummy_value()

    _teach(setting, signature_of, code)
    return setting


def added(function: Callable[..., Iterator[Any]]) -> Callable[..., None]:
    """Let kernels add what a function yields to such components."""
    return stored(function, add=True)


def scattered(function: Callable[..., Iterator[Any]]) -> Callable[..., Any]:
    """Let kernels add what a function yields to rows of an array: ``f(out, rows, e, *args)``.

    The function yields indices and a value, and ``yield a, b, K`` adds K to out[rows[e, a, b]]. Returned is the sum of
    all numbers, which is finite if all of them are.
    """

    @wraps(function)
    def scatter(out: Any, rows: Any, e: int, *args: Any) -> Any:
        total = 0.0
        for *index, value in function(*args):
            numbers = np.array(_flat(value))
            out[rows[(e, *index)]] += numbers.reshape(out.shape[1:])
            total += numbers.sum()
        return total

    def signature_of(args: Sequence[types.Type]) -> Any:
        return types.float64(*args[:2], types.intp, *map(_as_numbers, args[3:]))

    def code(context: Any, builder: Any, signature: Any, args: Sequence[Any]) -> Any:
        symbols = [_symbols(kind, builder, value) for kind, value in zip(signature.args[3:], args[3:], strict=True)]
        out, rows = signature.args[:2]
        sums: list[Any] = []  # several, as an addition has to wait for the one before
        for *index, value in function(*symbols):
            at = [args[2], *map(_INDEX, index)]
            place = cgutils.get_item_pointer(context, builder, rows, _array(context, builder, rows, args[1]), at)
            row = _as_index(context, builder, rows.dtype, builder.load(place))
            numbers = _flat(value)
            for x, to in zip(numbers, _places_of_row(context, builder, out, args[0], row, len(numbers)), strict=True):
                builder.store((Number(builder, builder.load(to)) + x).value, to)
                sums = [*sums, x] if len(sums) < _SUMS else [*sums[1:], sums[0] + x]
        total: Any = sum(sums[1:], sums[0])
        return total.value

    _teach(scatter, signature_of, code)
    return scatter


def _teach(function: Callable, signature_of: Callable, code: Callable, operands: Sequence[tuple] = _ANY) -> None:
    """Let numba know the type and the code of a function's calls in kernels."""

    class Template(AbstractTemplate):
        key = function

        def generic(self, args: Sequence[types.Type], kws: Any) -> Any:
            """Return the signature of a call, or None for what the function does not take."""
            try:
                return signature_of(args)
            except TypeError:
                return None

    infer_global(function, types.Function(Template))
    for kinds in operands:
        lower_builtin(function, *kinds)(code)


@expanded
def dot(u, v):
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]


@expanded
def cross(u, v):
    return Vec3(u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])


@expanded
def outer(u, v):
    """Return u ⊗ v."""
    return Mat3(u[0] * v, u[1] * v, u[2] * v)


@expanded
def square(v):
    """Return v ⊗ v as a symmetric matrix."""
    return Sym3(v[0] * v[0], v[1] * v[1], v[2] * v[2], v[0] * v[1], v[0] * v[2], v[1] * v[2])


@expanded
def transposed(A):
    return Mat3(*[A[j][i] for i in range(3) for j in range(3)])


@expanded
def mirrored(A):
    """Return the symmetric matrix with the numbers on and above the diagonal of A."""
    return Mat3(*[A[min(i, j)][max(i, j)] for i in range(3) for j in range(3)])


@expanded
def shifted(A, r):
    """Return A + r 1."""
    return Mat3(*[x + r if i % 4 == 0 else x for i, x in enumerate(A.parts)])


@expanded
def full(A):
    """Return the nine numbers of a symmetric matrix."""
    return Mat3(A[0], A[3], A[4], A[3], A[1], A[5], A[4], A[5], A[2])


@expanded
def gram(d):
    """Return d_a·d_b."""
    return Sym3(dot(d[0], d[0]), dot(d[1], d[1]), dot(d[2], d[2]), dot(d[0], d[1]), dot(d[0], d[2]), dot(d[1], d[2]))


@expanded
def gram_slopes(d, e):
    """Return d_a·e_b + e_a·d_b."""
    return Sym3(
        *[2.0 * dot(d[a], e[a]) for a in range(3)],
        *[dot(d[a], e[b]) + dot(d[b], e[a]) for a, b in ((0, 1), (0, 2), (1, 2))],
    )


@expanded
def contracted(A, B):
    """Return A : B of symmetric matrices."""
    return A[0] * B[0] + A[1] * B[1] + A[2] * B[2] + 2.0 * (A[3] * B[3] + A[4] * B[4] + A[5] * B[5])


@expanded
def cofactors(A):
    """Return cof A; of rows d_a these are d_2 × d_3, d_3 × d_1 and d_1 × d_2."""
    if isinstance(A, Mat3):
        return Mat3(cross(A[1], A[2]), cross(A[2], A[0]), cross(A[0], A[1]))
    return Sym3(
        *(A[1] * A[2] - A[5] * A[5], A[0] * A[2] - A[4] * A[4], A[0] * A[1] - A[3] * A[3]),
        *(A[4] * A[5] - A[3] * A[2], A[3] * A[5] - A[4] * A[1], A[3] * A[4] - A[5] * A[0]),
    )


@expanded
def mixed(A, B):
    """Return {A, B} = cof(A + B) − cof A − cof B of symmetric matrices."""
    return Sym3(
        A[1] * B[2] + A[2] * B[1] - 2.0 * A[5] * B[5],
        A[0] * B[2] + A[2] * B[0] - 2.0 * A[4] * B[4],
        A[0] * B[1] + A[1] * B[0] - 2.0 * A[3] * B[3],
        A[4] * B[5] + A[5] * B[4] - A[3] * B[2] - A[2] * B[3],
        A[3] * B[5] + A[5] * B[3] - A[4] * B[1] - A[1] * B[4],
        A[3] * B[4] + A[4] * B[3] - A[5] * B[0] - A[0] * B[5],
    )


# -- in arrays --------------------------------------------------------------------------------------------------------


def _loaded(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the intrinsic as compiled code calls it: without the typing context."""
    return intrinsic(function)


@_loaded
def vec3_at(typingctx, rows, first, stride):
    """Return the vector whose components are ``stride`` numbers apart in an array of one dimension."""
    return _loading(Vec3, rows)


@_loaded
def sym3_at(typingctx, rows, first, stride):
    """Return such a symmetric matrix."""
    return _loading(Sym3, rows)


@_loaded
def mat3_at(typingctx, rows, first, stride):
    """Return such a matrix."""
    return _loading(Mat3, rows)


@stored
def set_at(value):
    """Set the components of a value, or of a tuple of values."""
    yield value


@added
def add_at(value):
    """Add to the components of a value, or of a tuple of values."""
    yield value


@_loaded
def vec3_of(typingctx, rows, i):
    """Return row i of an array [n, 3], or of its numbers one after the other."""

    def code(context, builder, signature, args):
        row = _as_index(context, builder, i, args[1])
        places = _places_of_row(context, builder, rows, args[0], row, 3)
        found = Vec3(*[Number(builder, builder.load(place)) for place in places])
        return _llvm(context, builder, signature.return_type, found)

    return _value_type(Vec3)(rows, i), code


# -- while a kernel is compiled ---------------------------------------------------------------------------------------

_DOUBLE = ir.DoubleType()
_INDEX = ir.IntType(64)


class Number:
    """A number of LLVM, or a vector of them, whose operators write instructions.

    Without a builder it is what has the type of a number.
    """

    __slots__ = ("builder", "value")

    def __init__(self, builder: Any = None, value: Any = None):
        self.builder = builder
        self.value = value

    def _written(self, instruction: str, *operands: Any) -> Any:
        if not all(isinstance(x, Number | float | int) for x in operands):
            return NotImplemented
        if self.builder is None:
            return self
        kind = next(x.value.type for x in operands if isinstance(x, Number))
        n = getattr(kind, "count", None)
        values = [
            x.value if isinstance(x, Number) else ir.Constant(kind, float(x) if n is None else [float(x)] * n)
            for x in operands
        ]
        return Number(self.builder, getattr(self.builder, instruction)(*values, flags=("contract",)))

    def __add__(self, other: Any) -> Any:
        return self._written("fadd", self, other)

    def __radd__(self, other: Any) -> Any:
        return self._written("fadd", other, self)

    def __sub__(self, other: Any) -> Any:
        return self._written("fsub", self, other)

    def __rsub__(self, other: Any) -> Any:
        return self._written("fsub", other, self)

    def __mul__(self, other: Any) -> Any:
        return self._written("fmul", self, other)

    def __rmul__(self, other: Any) -> Any:
        return self._written("fmul", other, self)

    def __truediv__(self, other: Any) -> Any:
        return self._written("fdiv", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._written("fdiv", other, self)

    def __neg__(self) -> Any:
        return self._written("fneg", self)


class _ValueType(types.Type):
    """A kind of value, as numba knows it."""

    def __init__(self, kind: type[_Value]):
        self.kind = kind
        super().__init__(name=kind.__name__)

    def __reduce__(self) -> Any:
        return _value_type, (self.kind,)


_TYPES: dict[type[_Value], _ValueType] = {kind: _ValueType(kind) for kind in (Vec3, Sym3, Mat3)}


def _value_type(kind: type[_Value]) -> _ValueType:
    return _TYPES[kind]


@register_model(_ValueType)
class _ValueModel(models.StructModel):
    """One double for each component."""

    def __init__(self, manager: Any, kind: _ValueType):
        super().__init__(manager, kind, [(f"x{i}", types.float64) for i in range(kind.kind.SIZE)])


def _parts(kind: Any) -> list[types.Type]:
    """Return the types of a tuple."""
    return list(kind)


def _symbols(kind: Any, builder: Any = None, value: Any = None) -> Any:
    """Return what a value of a type of numba is to an expanded function."""

    def part(i: int) -> Any:
        return None if builder is None else builder.extract_value(value, i)

    if isinstance(kind, _ValueType):
        return kind.kind(*[Number(builder, part(i)) for i in range(kind.kind.SIZE)])
    if isinstance(kind, types.BaseTuple):
        return tuple(_symbols(one, builder, part(i)) for i, one in enumerate(_parts(kind)))
    if isinstance(kind, types.Number):
        return Number(builder, value)
    raise TypeError(kind)


def _type_of(found: Any) -> types.Type:
    """Return the type of what an expanded function returns."""
    if isinstance(found, _Value):
        return _TYPES[type(found)]
    return types.Tuple([_type_of(one) for one in found]) if isinstance(found, tuple) else types.float64


def _as_numbers(kind: Any) -> types.Type:
    """Return a type with floating-point numbers for all others."""
    if isinstance(kind, types.BaseTuple):
        return types.Tuple([_as_numbers(one) for one in _parts(kind)])
    return types.float64 if isinstance(kind, types.Number) else kind


def _llvm(context: Any, builder: Any, kind: Any, found: Any) -> Any:
    """Return the value of LLVM of what an expanded function returns."""
    if isinstance(found, Number):
        return found.value
    if isinstance(found, float | int):
        return ir.Constant(_DOUBLE, float(found))
    kinds = _parts(kind) if isinstance(kind, types.BaseTuple) else [types.float64] * len(found.parts)
    value = ir.Constant(context.get_value_type(kind), ir.Undefined)
    for i, (one, part) in enumerate(zip(kinds, getattr(found, "parts", found), strict=True)):
        value = builder.insert_value(value, _llvm(context, builder, one, part), i)
    return value


def _flat(found: Any) -> list[Any]:
    """Return the numbers of a value or a tuple of values, one after the other."""
    parts: Any = getattr(found, "parts", found)
    return [x for part in parts for x in _flat(part)] if isinstance(parts, tuple) else [found]


def _array(context: Any, builder: Any, kind: types.Array, value: Any) -> Any:
    return context.make_array(kind)(context, builder, value)


def _as_index(context: Any, builder: Any, kind: types.Type, value: Any) -> Any:
    return context.cast(builder, value, kind, types.intp)


def _places(context: Any, builder: Any, kinds: Sequence[Any], args: Sequence[Any]) -> Iterator[Any]:
    """Yield pointers to the numbers of (rows, first, stride), one after the other."""
    base = _array(context, builder, kinds[0], args[0]).data
    first, stride = (_as_index(context, builder, kind, x) for kind, x in zip(kinds[1:3], args[1:3], strict=True))
    for c in count():
        yield builder.gep(base, [builder.add(first, builder.mul(_INDEX(c), stride))], inbounds=True)


def _places_of_row(context: Any, builder: Any, kind: Any, rows: Any, row: Any, n: int) -> list[Any]:
    """Return pointers to the n numbers of a row, of which all lie one after the other, or of an array [m, n]."""
    array = _array(context, builder, kind, rows)
    if kind.layout == "C":
        first = builder.mul(row, _INDEX(n))
        return [builder.gep(array.data, [builder.add(first, _INDEX(c))], inbounds=True) for c in range(n)]
    return [cgutils.get_item_pointer(context, builder, kind, array, [row, _INDEX(c)]) for c in range(n)]


def _loading(kind: type[_Value], rows: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Sequence[Any]) -> Any:
        places = islice(_places(context, builder, signature.args, args), kind.SIZE)
        numbers = [Number(builder, builder.load(place)) for place in places]
        return _llvm(context, builder, signature.return_type, kind(*numbers))

    return _value_type(kind)(rows, types.intp, types.intp), code


@infer_global(operator.getitem)
class _Item(AbstractTemplate):
    def generic(self, args: Sequence[types.Type], kws: Any) -> Any:
        """Return the signature of an index into a value."""
        if isinstance(args[0], _ValueType) and isinstance(args[1], types.Integer):
            return _type_of(_symbols(args[0])[0])(*args)
        return None


@lower_builtin("static_getitem", _ValueType, types.IntegerLiteral)
def _known_item(context: Any, builder: Any, signature: Any, args: Sequence[Any]) -> Any:
    return _llvm(context, builder, signature.return_type, _symbols(signature.args[0], builder, args[0])[args[1]])


@lower_builtin(operator.getitem, _ValueType, types.Integer)
def _item(context: Any, builder: Any, signature: Any, args: Sequence[Any]) -> Any:
    symbols = _symbols(signature.args[0], builder, args[0])
    index = _as_index(context, builder, signature.args[1], args[1])
    items = [_llvm(context, builder, signature.return_type, one) for one in symbols]
    found = items[-1]
    for i in reversed(range(len(items) - 1)):
        found = builder.select(builder.icmp_signed("==", index, _INDEX(i)), items[i], found)
    return found


@typeof_impl.register(_Value)
def _typeof(value: _Value, context: Any) -> _ValueType:
    return _TYPES[type(value)]


@unbox(_ValueType)
def _unbox(kind: _ValueType, value: Any, c: Any) -> NativeValue:
    parts = c.pyapi.object_getattr_string(value, "parts")
    found = ir.Constant(c.context.get_value_type(kind), ir.Undefined)
    for i in range(kind.kind.SIZE):
        number = c.pyapi.float_as_double(c.pyapi.tuple_getitem(parts, i))
        found = c.builder.insert_value(found, number, i)
    c.pyapi.decref(parts)
    return NativeValue(found, is_error=cgutils.is_not_null(c.builder, c.pyapi.err_occurred()))


@box(_ValueType)
def _box(kind: _ValueType, value: Any, c: Any) -> Any:
    numbers = [c.pyapi.float_from_double(c.builder.extract_value(value, i)) for i in range(kind.kind.SIZE)]
    maker = c.pyapi.unserialize(c.pyapi.serialize_object(kind.kind))
    found = c.pyapi.call_function_objargs(maker, numbers)
    for one in (maker, *numbers):
        c.pyapi.decref(one)
    return found


_OPERANDS: dict[Callable, list[tuple]] = {
    operator.add: [(_ValueType, _ValueType)],
    operator.sub: [(_ValueType, _ValueType)],
    operator.neg: [(_ValueType,)],
    operator.mul: [(types.Float, _ValueType), (_ValueType, types.Float)],
    operator.truediv: [(_ValueType, types.Float)],
    operator.matmul: [(_ValueType, _ValueType)],
}
for _kind in _TYPES:
    expanded(_kind)
for _operation, _operands in _OPERANDS.items():
    expanded(_operation, _operands)
