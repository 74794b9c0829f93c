"""Forms of the energies of a system, and its constraints, as tables for compiled loops over steps.

To call energies from Python takes microseconds, which is most of a step of a small truss or a pendulum. A compiled loop
over steps reads the rows of their calls instead (`symplex.fem.assembly.calls`), and nothing is compiled for a
combination of energies. The forces of springs and planes stand in the loop itself: to call them takes as long as they.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any

import numpy as np
from numba import types  # pyright: ignore[reportPrivateImportUsage]
from numpy.typing import NDArray

from symplex.fem.actions.loads import DeadLoad
from symplex.fem.assembly import forms
from symplex.fem.assembly.calls import (
    ROWS,
    Call,
    add_matrix_rows,
    add_rows,
    kept_table_of,
    row_of,
    rows_of,
)
from symplex.fem.assembly.forms import BLOCKS, NUMBERS, VECTORS, Form
from symplex.fem.assembly.pattern import Array
from symplex.fem.compiled.call import address_of, call_kernel, ranges_at
from symplex.fem.compiled.kernels import formula, kernel, uncounted_formula
from symplex.fem.compiled.records import CountRows, Integer, Record, Rows, at_address
from symplex.fem.energies.potential import Potential
from symplex.fem.measures.constraints import Constraint
from symplex.fem.measures.loops import MeasureRecord, add_gradient, add_usual_gradient, is_pair, is_plane

_measures_at = at_address(MeasureRecord)


class Table(Record):
    """Rows of calls as compiled loops take them; `write` reads them.

    Attributes
    ----------
    constant : float64 [n, dim]
        The part of nodal vectors that does not depend on positions.
    rows : int64 [k, 7]
        Of the calls (see `symplex.fem.assembly.calls`), which live as long; of forces with whether loops have them in.
    takes_two : int
        Whether these take two nodal arrays, such as the positions at both ends of an increment.
    kernel : int
        The address of the kernel that reads them.
    """

    constant: Rows
    rows: CountRows
    takes_two: Integer
    kernel: Integer


def _table(constant: Array, rows: NDArray[np.int64], takes_two: bool, kernel: int) -> Table:
    return Table(constant=constant, rows=rows, takes_two=takes_two, kernel=kernel)


def form_table(potential: Potential, form: Form = forms.GRADIENT, among: Set[str] | None = None) -> Table | None:
    """Return the table of a form of a potential, or of that of the energies named.

    Energies are written apart, [1 + k] with that of constant forces first, others are added up. None if an energy has
    no calls, or stencils that change, and is not constant.
    """
    constant, rows, kept = np.zeros((potential.n_nodes, potential.dim)), [], []
    slots = potential.pattern.slots if form.is_matrix else [None] * len(potential.energies)
    for (name, energy), places in zip(potential.energies.items(), slots, strict=False):
        if among is not None and name not in among:
            continue
        if isinstance(energy, DeadLoad):
            if form.kind == "value":
                return None
            energy.add_gradient(constant, constant)
            continue
        calls = None if name in potential.changing or energy.threaded else energy.calls(form, potential.dim)
        if calls is None or (form.kind == "number" and len(calls) > 1):
            return None
        new = rows_of(form, calls, places)
        if form is forms.GRADIENT:
            new[:, _IS_USUAL] = [_is_usual(call) for call in calls]
        rows += new.tolist()
        kept.append((calls, places))
    address, out = _KERNELS[form.kind]
    return _table(constant, kept_table_of(rows, kept), form.takes == 2, _address(address, out))


def condition_tables(constraints: Sequence[Constraint], dim: int) -> tuple[Table, Table] | None:
    """Return the tables of all conditions g [c], and of ∇g [f, dim] at each node of each stencil.

    None if a constraint has no calls. The last three integers of rows are none, and the number of stencils and of what
    is written of each.
    """
    found = [constraint.condition_calls(dim) for constraint in constraints]
    calls = [pair for pair in found if pair is not None]
    if len(calls) < len(found):
        return None

    def table(of_pair: int, out: types.Type) -> Table:
        sizes = [(c, k if of_pair else 1) for c, k in (constraint.nodes.shape for constraint in constraints)]
        rows = [row_of(pair[of_pair], (VECTORS,), (out,))[:4] for pair in calls]
        rows = [[*row, 0, *size] for row, size in zip(rows, sizes, strict=True)]
        return _table(np.zeros((0, dim)), kept_table_of(rows, calls), False, _address(_write_apart, out))

    return table(0, NUMBERS), table(1, VECTORS)


_IS_USUAL = 4  # of the integers of a row of forces, which has no places on a pattern


def _is_usual(call: Call) -> bool:
    """Return whether loops have the kernel of forces of a call in them."""
    usual = is_pair.py_func, is_plane.py_func
    return call.kernel is add_gradient and any(is_usual(call.record) for is_usual in usual)


@uncounted_formula
def write_gradient(constant, rows, q, out):
    """Set out [n, dim] to the gradient at q [n, dim]; return a sum that is finite if all forces are."""
    _set_constant(constant, out)
    check = 0.0
    for k in range(len(rows)):
        row = rows[k]
        if row[_IS_USUAL]:
            ranges: Any = ranges_at(row[2], row[3])
            our: Any = _measures_at(row[1])
            for r in range(row[3]):
                check += add_usual_gradient(q, our, out, ranges[r, 0], ranges[r, 1])
        else:
            check += add_rows(rows[k : k + 1], (q,), out)
    return check


@formula
def _set_constant(constant, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = constant[i, j]


@uncounted_formula
def write(table, q0, q1, out):
    """Set out to what a table finds for q0 and q1 [n, dim], or for q1; return a number that is finite if all is."""
    return call_kernel(table.kernel, (table.constant, table.rows, table.takes_two, q0, q1, out))


def _address(kernel, out):
    return address_of(kernel, VECTORS, ROWS, types.boolean, VECTORS, VECTORS, out)


@kernel
def _write_vectors(constant, rows, takes_two, q0, q1, out):
    if not takes_two:
        return write_gradient(constant, rows, q1, out)
    _set_constant(constant, out)
    return add_rows(rows, (q0, q1), out)


@kernel
def _write_matrix(constant, rows, takes_two, q0, q1, out):
    out[:] = 0.0
    return add_matrix_rows(rows, (q0, q1), out) if takes_two else add_matrix_rows(rows, (q1,), out)


@kernel
def _write_energies(constant, rows, takes_two, q0, q1, out):
    out[0] = 0.0
    for i in range(q1.shape[0]):
        for j in range(q1.shape[1]):
            out[0] += constant[i, j] * q1[i, j]
    for k in range(len(rows)):
        out[k + 1] = add_rows(rows[k : k + 1], (q1,), out[:0])
    return 0.0


@kernel
def _write_apart(constant, rows, takes_two, q0, q1, out):
    start, check = 0, 0.0
    out[:] = 0.0
    for k in range(len(rows)):
        end = start + rows[k, 5] * rows[k, 6]
        check += add_rows(rows[k : k + 1], (q1,), out[start:end])
        start = end
    return check


# By the kind of a form, with what they write.
_KERNELS = {
    "number": (_write_energies, NUMBERS),
    "vector": (_write_vectors, VECTORS),
    "block": (_write_matrix, BLOCKS),
    "value": (_write_matrix, NUMBERS),
}
