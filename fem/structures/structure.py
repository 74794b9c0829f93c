"""What kernels of quadratic measures are compiled for: which products of vectors make which measure.

A `Structure` is known when a kernel is compiled, so that loops over its terms cost nothing
(`symplex.fem.compiled.vectors`). It is part of the type of a record, and there is a compiled kernel for each one: all
beams have one, all shells another.
"""

# numba's declarations of what registers code are incomplete.
# pyright: reportPrivateUsage=false

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, ClassVar, final

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import models, register_model

from symplex.fem.compiled.call import array_of
from symplex.fem.compiled.records import Integer, Nodes, Record, RecordType, Rows
from symplex.fem.compiled.vectors import (
    _DOUBLE,
    _INDEX,
    Number,
    Vec3,
    _array,
    _as_index,
    _llvm,
    _loaded,
    _places_of_row,
    _value_type,
    _ValueType,
)

Terms = tuple[tuple[int, int, float], ...]  # (r, s, c): c p_r·p_s


@final
@dataclass(frozen=True)
class Structure:
    """Which products of vectors make which measure, and which measures an energy couples.

    Attributes
    ----------
    nodes : int
        k, of a stencil.
    vectors : int
        Of which products are taken, each a sum of differences of positions.
    measures : tuple of tuples of (int, int, float)
        Of each measure the terms (r, s, c): c p_r·p_s.
    coupled : tuple of (int, int)
        The pairs of measures i ≤ j with a stiffness.
    stressed : tuple of int
        The measures with a stress at rest.
    """

    nodes: int
    vectors: int
    measures: tuple[Terms, ...]
    coupled: tuple[tuple[int, int], ...]
    stressed: tuple[int, ...]

    SIZE: ClassVar[int] = 0  # to expanded functions it is a value without components

    def __call__(self) -> Structure:
        """Return itself, as what expanded functions get."""
        return self

    @cached_property
    def stiff(self) -> tuple[int, ...]:
        """The measures with a stiffness."""
        return tuple(sorted({i for pair in self.coupled for i in pair}))

    @cached_property
    def places(self) -> tuple[int, int, int, int]:
        """Where rests, stiffnesses and stresses at rest begin in a row of numbers, after the weights; and the end."""
        rest = self.vectors * (self.nodes - 1)
        stiffness = rest + len(self.measures)
        stress = stiffness + len(self.coupled)
        return rest, stiffness, stress, stress + len(self.stressed)

    @property
    def room(self) -> int:
        """Numbers of a matrix of a stencil, and of what it is made of: slopes, stresses of them, one for each pair."""
        n = 3 * self.nodes
        return n * n + 2 * len(self.stiff) * n + self.nodes * self.nodes


class StructureType(_ValueType):
    """The type of a structure in kernels."""

    def __init__(self, structure: Structure):
        self.kind: Any = structure
        types.Type.__init__(self, f"Structure({sha256(repr(structure).encode()).hexdigest()[:16]})")

    def __reduce__(self) -> Any:
        return StructureType, (self.kind,)


@register_model(StructureType)
class _StructureModel(models.OpaqueModel):
    """A word that nothing reads."""


@final
class MeasuresRecord(Record):
    """Nodes [m, k] of stencils, and a row of numbers for each: weights, measures at rest, stiffnesses and stresses.

    Attributes
    ----------
    structure : Structure
    """

    nodes: Nodes
    numbers: Rows
    structure: Integer  # a number in Python's declaration only: its type in kernels is the structure

    def __init__(self, structure: Structure, **values: Any):
        super().__init__(structure=0, **values)
        self.__dict__["structure"] = structure
        self.type: Any = RecordType("MeasuresRecord", (*_OTHERS, ("structure", StructureType(structure))))


_OTHERS = tuple(field for field in MeasuresRecord.type.fields.items() if field[0] != "structure")


# -- in kernels -----------------------------------------------------------------------------------------------------


@_loaded
def numbers_of(typingctx, structure, rows, e):
    """Return the numbers of a stencil, as a tuple."""
    size = structure.kind.places[3]

    def code(context, builder, signature, args):
        row = _as_index(context, builder, e, args[2])
        places = _places_of_row(context, builder, rows, args[1], row, size)
        found = tuple(Number(builder, builder.load(place)) for place in places)
        return _llvm(context, builder, signature.return_type, found)

    return types.UniTuple(types.float64, size)(structure, rows, e), code


@_loaded
def differences_of(typingctx, structure, q, nodes, e):
    """Return the vectors q [n, 3] at the nodes of a stencil but the first, less that of the first."""
    others = structure.kind.nodes - 1

    def code(context, builder, signature, args):
        stencils, row = _array(context, builder, nodes, args[2]), _as_index(context, builder, e, args[3])

        def at(a):
            place = cgutils.get_item_pointer(context, builder, nodes, stencils, [row, _INDEX(a)])
            node = _as_index(context, builder, nodes.dtype, builder.load(place))
            places = _places_of_row(context, builder, q, args[1], node, 3)
            return Vec3(*[Number(builder, builder.load(place)) for place in places])

        first = at(0)
        return _llvm(context, builder, signature.return_type, tuple(at(a + 1) - first for a in range(others)))

    return types.UniTuple(_value_type(Vec3), others)(structure, q, nodes, e), code


@_loaded
def room_of(typingctx, structure):
    """Return an array on the stack with room for the matrix of a stencil."""
    kind = types.float64[::1]

    def code(context, builder, signature, args):
        size = structure.kind.room
        data = cgutils.alloca_once(builder, ir.ArrayType(_DOUBLE, size))
        return array_of(context, builder, kind, builder.bitcast(data, _DOUBLE.as_pointer()), [_INDEX(size)])

    return kind(structure), code


@_loaded
def count_of(typingctx, structure):
    """Return how many measures have a stiffness."""

    def code(context, builder, signature, args):
        return _INDEX(len(structure.kind.stiff))

    return types.int64(structure), code


@_loaded
def nodes_of(typingctx, structure):
    """Return how many nodes a stencil has: known while a kernel is compiled, so that loops have known lengths."""

    def code(context, builder, signature, args):
        return _INDEX(structure.kind.nodes)

    return types.int64(structure), code
