"""Calls of kernels, stored in tables that one compiled loop reads whatever the energies are.

A `Call` is a kernel, the record that it reads and the ranges of stencils that it is called for. Its row in a table is
seven integers: the addresses of the three, how many ranges there are, and for matrices the place of the stencils on a
pattern. Nothing is compiled for a combination of energies: to assemble a form from Python, in the steps of a small
system, on a rank or for a level of local time steps is to read such rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple
from weakref import finalize

import numpy as np
from numba import types  # pyright: ignore[reportPrivateImportUsage]
from numpy.typing import NDArray

from symplex.fem.assembly.forms import Form, LoadForm
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.compiled.call import address_of, call_kernel, ranges_at, slots_at
from symplex.fem.compiled.kernels import uncounted_formula as formula, uncounted_kernel
from symplex.fem.compiled.records import Record

ROWS = types.int64[:, ::1]
_ROW = 7  # integers


class Call(NamedTuple):
    """The call of a kernel for some stencils.

    Attributes
    ----------
    kernel : callable
        A compiled kernel, which raises nothing (see `symplex.fem.assembly.forms` for what it takes and returns).
    record : Record
        What it reads.
    ranges : uint64 [r, 2]
        The first stencil and the end of each range, in the order in which they are added up. Indices without a sign
        save kernels the question whether they count from the end.
    """

    kernel: Any
    record: Record | Any
    ranges: NDArray[np.uint64]


@cache
def whole(m: int) -> NDArray[np.uint64]:
    """Return the range of m stencils, all of them."""
    return np.array([[0, m]], np.uint64)


def row_of(call: Call, given: tuple[Any, ...], to: tuple[Any, ...], slots: IntArray | None = None) -> list[int]:
    """Return the row of a call.

    Parameters
    ----------
    call : Call
        It has to live as long as the row is used.
    given, to : tuple of numba types
        What the kernel takes before its record, and after that up to the range.
    slots : int32 [m, k, k], optional
        The places of stencils, if it adds to a matrix.
    """
    address = address_of(call.kernel, *given, call.record.type, *to, types.uint64, types.uint64)
    places = [0, 0, 0] if slots is None else [slots.ctypes.data, *slots.shape[:2]]
    return [address, call.record.address, call.ranges.ctypes.data, len(call.ranges), *places]


def rows_of(form: Form | LoadForm, calls: Sequence[Call], slots: IntArray | None = None) -> NDArray[np.int64]:
    """Return the rows [r, 7] of calls of a form of one energy or load."""
    return table_of([row_of(call, form.given, form.to, slots) for call in calls])


def table_of(rows: list[list[int]]) -> NDArray[np.int64]:
    """Return rows as a table [r, 7]."""
    return np.array(rows, np.int64).reshape(-1, _ROW)


def kept_table_of(rows: list[list[int]], kept: Any) -> NDArray[np.int64]:
    """Return rows as a table [r, 7], for as long as which what is at their addresses is kept."""
    table = table_of(rows)
    finalize(table, _let_go, kept).atexit = False
    return table


def _let_go(kept: Any) -> None:
    """Do nothing: what was kept goes with the arguments."""


def known_rows(
    record: Record, form: Form | LoadForm, calls: Callable[[], Sequence[Call]], slots: IntArray | None = None
) -> NDArray[np.int64]:
    """Return the rows of the calls of a form that read a record, made once for it and for places on a pattern."""
    known = record.call_rows.get(form.name)
    if known is None or known[0] is not slots:
        known = record.call_rows[form.name] = slots, rows_of(form, calls(), slots)
    return known[1]


# -- reading rows --------------------------------------------------------------------------------------------------


@formula
def add_rows(rows, nodal, out):
    """Add what rows find for nodal arrays to nodal vectors [n, dim]; return a sum that is finite if all of it is."""
    check = 0.0
    for row in rows:
        ranges: Any = ranges_at(row[2], row[3])
        for r in range(row[3]):
            check += call_kernel(row[0], (*nodal, row[1], out, ranges[r, 0], ranges[r, 1]))
    return check


@formula
def add_matrix_rows(rows, nodal, out):
    """Add what rows find for nodal arrays to the blocks or values of a matrix, as `add_rows`."""
    check = 0.0
    for row in rows:
        ranges: Any = ranges_at(row[2], row[3])
        slots: Any = slots_at(row[4], row[5], row[6])
        for r in range(row[3]):
            check += call_kernel(row[0], (*nodal, row[1], slots, out, ranges[r, 0], ranges[r, 1]))
    return check


@uncounted_kernel
def run(rows, out, *nodal):
    """Do what `add_rows` does, from Python."""
    return add_rows(rows, nodal, out)


@uncounted_kernel
def run_matrix(rows, out, *nodal):
    """Do what `add_matrix_rows` does, from Python."""
    return add_matrix_rows(rows, nodal, out)


def run_apart(form: Form, calls: Sequence[Call], *gathered: Array) -> Array:
    """Return a form of each stencil apart, as its local function does, for gathered, contiguous arrays [m, k, dim].

    The records of the calls must have the stencils as ``nodes`` [m, k].
    """
    m, k, dim = gathered[0].shape
    nodal = [x.reshape(-1, dim) for x in gathered]
    if not form.is_matrix:
        out = np.zeros(m if form.kind == "number" else (m * k, dim))
        run(_rows_apart(form, calls, m, k), out, *nodal)
        return out.reshape(form.local_shape(m, k, dim))
    out = np.zeros(form.shape(m * k, m * k * k, dim))
    slots = np.arange(m * k * k, dtype=np.int32).reshape(m, k, k)
    run_matrix(_rows_apart(form, calls, m, k, slots), out, *nodal)
    if form.kind == "block":
        out = out.reshape(m, k, k, dim, dim).transpose(0, 1, 3, 2, 4)
    return out.reshape(form.local_shape(m, k, dim))


def _rows_apart(form: Form, calls: Sequence[Call], m: int, k: int, slots: IntArray | None = None) -> NDArray[np.int64]:
    """Return the rows of calls whose stencils [m, k] have nodes of their own, of numbers and vectors made once."""
    known, name = calls[0].record.call_rows, f"{form.name} apart"
    if slots is None and name in known:
        return known[name][1]
    own = np.arange(m * k, dtype=np.int32).reshape(m, k)
    apart = [call._replace(record=call.record.replace(nodes=own)) for call in calls]
    rows = kept_table_of([row_of(call, form.given, form.to, slots) for call in apart], apart)
    if slots is None:
        known[name] = None, rows
    return rows
