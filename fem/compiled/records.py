"""What kernels read, by name: arrays and numbers that Python passes to compiled code as one address.

A kernel with a record takes a handful of parameters instead of one for each array, and all records look alike to who
calls it: a table of (kernel, record) rows (`symplex.fem.assembly.calls`) is read by one compiled loop, whatever the
energies.

    class Bars(Record):
        nodes: Nodes
        stiffness: Numbers

    record = Bars(nodes=nodes, stiffness=stiffness)  # refused by name if a type or dimension does not fit
    record.nodes                                      # in Python and in kernels, which take records from there, too

A field may be another record. Kernels are compiled for the type of a record (`type_of`); they must not change its
numbers or extents.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Annotated, Any, ClassVar, Self, get_origin, get_type_hints

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    intrinsic,
    lower_getattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)
from numba.np.numpy_support import as_dtype
from numpy.typing import NDArray

from symplex.errors import InvalidSystem
from symplex.fem.compiled.call import array_of

_WORD = 8  # bytes
_INT = ir.IntType(64)

# Fields that many records have.
Nodes = Annotated[NDArray[np.int32], types.int32[:, ::1]]
Numbers = Annotated[NDArray[np.float64], types.float64[::1]]
Rows = Annotated[NDArray[np.float64], types.float64[:, ::1]]
UnsignedRows = Annotated[NDArray[np.uint32], types.uint32[:, ::1]]
Matrices = Annotated[NDArray[np.float64], types.float64[:, :, ::1]]
States = Annotated[NDArray[np.float64], types.float64[:, :, :, ::1]]
Indices = Annotated[NDArray[np.int32], types.int32[::1]]
Places = Annotated[NDArray[np.int32], types.int32[:, :, ::1]]
Mask = Annotated[NDArray[np.bool_], types.boolean[:, ::1]]
UnsignedIndices = Annotated[NDArray[np.uint32], types.uint32[::1]]
Truths = Annotated[NDArray[np.bool_], types.boolean[::1]]
Counts = Annotated[NDArray[np.int64], types.int64[::1]]
CountRows = Annotated[NDArray[np.int64], types.int64[:, ::1]]
Integer = Annotated[int, types.int64]
Number = Annotated[float, types.float64]


class RecordType(types.Type):
    """The type of a record in compiled code: an address, with the types of what is there."""

    def __init__(self, name: str, fields: tuple[tuple[str, types.Type], ...]):
        self.fields = dict(fields)
        listed = ", ".join(f"{field}: {kind}" for field, kind in fields)
        super().__init__(name=f"{name}({listed})")


@register_model(RecordType)
class _RecordModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: RecordType):
        super().__init__(manager, kind, _INT)


@infer_getattr
class _Fields(AttributeTemplate):
    key = RecordType

    def generic_resolve(self, kind: RecordType, name: str) -> types.Type | None:
        return kind.fields.get(name)


@lower_getattr_generic(RecordType)
def _field(context: Any, builder: Any, kind: RecordType, address: Any, name: str) -> Any:
    """Load a field; records do not change while kernels run, so that LLVM may load once what a loop reads often."""
    word = 0
    for other, field in kind.fields.items():
        if other == name:
            break
        word += _words(field)
    field = kind.fields[name]

    def load(at: int, of: ir.Type) -> Any:
        place = builder.inttoptr(builder.add(address, _INT(at * _WORD)), of.as_pointer())
        value = builder.load(place)
        value.set_metadata("invariant.load", builder.module.add_metadata([]))
        return value

    if not isinstance(field, types.Array):
        return load(word, context.get_value_type(field))
    data = load(word, context.get_data_type(field.dtype).as_pointer())
    shape = [load(word + 1 + axis, _INT) for axis in range(field.ndim)]
    return array_of(context, builder, field, data, shape)


def _words(field: types.Type) -> int:
    if isinstance(field, types.UniTuple):
        return field.count
    return 1 + field.ndim if isinstance(field, types.Array) else 1


class _Declared:
    """An attribute of a class of records, found from its annotations when it is first asked for."""

    def __init__(self, name: str):
        self._name = name

    def __get__(self, record: Record | None, owner: type[Record]) -> Any:
        hints = get_type_hints(owner, include_extras=True).items()
        kinds = tuple((name, kind) for name, hint in hints if (kind := _kind_of(hint)) is not None)
        owner.type = RecordType(f"{owner.__module__}.{owner.__qualname__}", kinds)
        owner._fields = tuple(
            (name, kind, as_dtype(kind.dtype) if isinstance(kind, types.Array) else None) for name, kind in kinds
        )
        return getattr(owner, self._name)


def _kind_of(hint: Any) -> Any:
    """Return the type of a field, or None of another attribute."""
    if get_origin(hint) is Annotated:
        return hint.__metadata__[0]
    return hint.type if isinstance(hint, type) and issubclass(hint, Record) else None


class Record:
    """Arrays and numbers with names; a class of it declares them as annotations (see the module).

    Parameters
    ----------
    **values
        One for each field. Arrays must have the type and the number of dimensions that is declared, and be contiguous.

    Attributes
    ----------
    address : int
        Of the packed fields; the record has to live as long as it is used.
    call_rows : dict of str to (int32 [m, k, k] or None, int64 [r, 7])
        Of the calls that read it, by the names of forms, with the places on a pattern that matrices have in them
        (`symplex.fem.assembly.calls.known_rows`). Copies have addresses of their own, and none.

    Raises
    ------
    InvalidSystem
        If a value does not fit its field.
    """

    type: ClassVar[RecordType]
    nodes: NDArray[np.int32]  # of the stencils, where there are any
    _fields: ClassVar[tuple[tuple[str, Any, Any], ...]]  # name, type, dtype of an array

    def __init_subclass__(cls) -> None:
        cls.type, cls._fields = _Declared("type"), _Declared("_fields")  # pyright: ignore[reportAttributeAccessIssue]

    def __init__(self, **values: Any):
        words: list[Any] = []
        for name, kind, dtype in self._fields:
            value = values[name]
            if isinstance(kind, RecordType):
                words.append(value.address)
            elif dtype is None:
                numbers = np.array(value, as_dtype(getattr(kind, "dtype", kind))).reshape(-1)
                if len(numbers) != _words(kind):
                    raise InvalidSystem(
                        f"{type(self).__name__}: {name} must be {_words(kind)} numbers, got {len(numbers)}."
                    )
                words += numbers.view(np.int64).tolist()
            else:
                if value.dtype != dtype or value.ndim != kind.ndim or not value.flags.c_contiguous:
                    raise InvalidSystem(
                        f"{type(self).__name__}: {name} must be a contiguous array of {dtype} with {kind.ndim} "
                        f"dimensions, got {value.dtype} with {value.ndim}."
                    )
                words += (value.__array_interface__["data"][0], *value.shape)
        self.__dict__.update(values)
        self.call_rows: dict[str, tuple[NDArray[np.int32] | None, NDArray[np.int64]]] = {}
        self._packed = np.array(words, np.int64)
        self.address: int = self._packed.__array_interface__["data"][0]

    def as_dict(self) -> dict[str, Any]:
        """Return the fields by name."""
        return {name: getattr(self, name) for name, *_ in self._fields}

    def replace(self, **changes: Any) -> Self:
        """Return a record with other values for some fields."""
        return type(self)(**self.as_dict() | changes)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return a record of copies, which has its own address."""
        return type(self)(**deepcopy(self.as_dict(), memo))

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what a pickle is made of: the fields, as addresses differ where it is read."""
        return _made, (type(self), self.as_dict())


def at_address(record: type[Record]) -> Any:
    """Return the function for compiled code that takes the address (int64) of what is a record of a class."""

    def at(typingctx: Any, address: Any) -> Any:
        return record.type(types.int64), lambda context, builder, signature, args: args[0]

    return intrinsic(at)


def _made(kind: type[Record], values: dict[str, Any]) -> Record:
    return kind(**values)


@typeof_impl.register(Record)
def _type_of(value: Record, context: Any) -> RecordType:
    return value.type


@unbox(RecordType)
def _unbox(kind: RecordType, value: Any, c: Any) -> NativeValue:
    address = c.pyapi.object_getattr_string(value, "address")
    found = c.pyapi.long_as_longlong(address)
    c.pyapi.decref(address)
    return NativeValue(found, is_error=c.pyapi.c_api_error())
