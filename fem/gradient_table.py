"""Forms of the energies of a system, and its constraints, as tables for compiled loops over steps.

To call energies from Python takes microseconds, which is most of a step of a small truss or a pendulum. A compiled loop
over steps reads the rows of their calls instead (`symplex.fem.calls`), and nothing is compiled for a combination of
energies.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any, NamedTuple

import numpy as np
from numba import types  # pyright: ignore[reportPrivateImportUsage]
from numpy.typing import NDArray

from symplex.fem import forms
from symplex.fem.actions.loads import DeadLoad
from symplex.fem.assembly import Array
from symplex.fem.call import address_of, call_kernel, call_writing_kernel
from symplex.fem.calls import (
    BLOCKS,
    NUMBERS,
    ROWS,
    VECTORS,
    add_matrix_rows,
    add_rows,
    row_of,
    rows_of,
    table_of,
)
from symplex.fem.forms import Form
from symplex.fem.kernels import formula, kernel, uncounted_formula
from symplex.fem.measures.constraints import Constraint
from symplex.fem.potential import Potential


class GradientTable(NamedTuple):
    """A form of a potential as compiled loops take it; see `write_gradient`.

    Attributes
    ----------
    constant : float64 [n, dim]
        The part of nodal vectors that does not depend on positions.
    rows : int64 [k, 7]
        Of the calls of the energies (see `symplex.fem.calls`).
    stencils : int
        How many there are in all.
    kept : tuple
        What is at the addresses, to live as long as the table.
    """

    constant: Array
    rows: NDArray[np.int64]
    stencils: int
    kept: tuple[Any, ...]


def gradient_table(
    potential: Potential, form: Form = forms.GRADIENT, among: Set[str] | None = None
) -> GradientTable | None:
    """Return the table of a potential's gradient, or another form, or of that of the energies named.

    None if an energy has no calls, or stencils that change, and is not constant.
    """
    constant, rows, kept, stencils = np.zeros((potential.n_nodes, potential.dim)), [table_of([])], [], 0
    slots = potential.pattern.slots if form.is_matrix else [None] * len(potential.energies)
    for (name, energy), places in zip(potential.energies.items(), slots, strict=False):
        if among is not None and name not in among:
            continue
        if isinstance(energy, DeadLoad):
            energy.add_gradient(constant, constant)
            continue
        calls = None if name in potential.changing else energy.calls(form, potential.dim)
        if calls is None:
            return None
        rows.append(rows_of(form, calls, places))
        kept.append((calls, places))
        stencils += len(energy.nodes)
    return GradientTable(constant, np.concatenate(rows), stencils, tuple(kept))


class SecantTable(NamedTuple):
    """The secant form 𝓕 of energies and its rate, as compiled loops take them.

    Attributes
    ----------
    values, rates : int64 [k, 7]
        Rows as those of a `GradientTable`.
    write : int
        The address of the kernel that reads them.
    """

    values: NDArray[np.int64]
    rates: NDArray[np.int64]
    write: int


class StoredSecants(NamedTuple):
    """A table and what is at its addresses."""

    table: SecantTable
    kept: tuple[Any, ...]


def secant_table(potential: Potential, among: Set[str]) -> StoredSecants | None:
    """Return the table of the energies named, or None if one has no calls."""
    values, rates = (gradient_table(potential, form, among) for form in (forms.SECANT, forms.SECANT_RATE))
    if values is None or rates is None or len(values.kept) < len(among):
        return None
    write = address_of(_secants, ROWS, types.boolean, VECTORS, VECTORS, NUMBERS)
    return StoredSecants(SecantTable(values.rows, rates.rows, write), (values.kept, rates.kept))


class EnergyTable(NamedTuple):
    """Energies, as compiled loops take them; what addresses lead to is that of `EnergyLoops`.

    Attributes
    ----------
    constant : float64 [n, dim]
        The gradient in N of those that are linear.
    rows : int64 [k, 7]
        Rows of the others as those of a `GradientTable`.
    write : int
        The address of the kernel that reads them.
    """

    constant: Array
    rows: NDArray[np.int64]
    write: int


class EnergyLoops(NamedTuple):
    """A table, how many terms it has, and what is at its addresses."""

    table: EnergyTable
    terms: int
    kept: tuple[Any, ...]


def energy_table(potential: Potential) -> EnergyLoops | None:
    """Return the table of a potential's energies, or None if one is neither linear nor has calls."""
    found = gradient_table(potential, forms.VALUE)
    if found is None or len(found.rows) > len(found.kept):
        return None
    write = address_of(_energies, VECTORS, ROWS, VECTORS, NUMBERS)
    return EnergyLoops(EnergyTable(found.constant, found.rows, write), 1 + len(found.rows), found.kept)


class ConditionTable(NamedTuple):
    """Constraints, as compiled loops take them; what addresses lead to is the constraints'.

    Attributes
    ----------
    values, gradients : int64 [k, 7]
        Rows as those of a `GradientTable`, with the calls of g and with those of ∇g; the last three integers are none,
        and the number of conditions and of nodes of each.
    write_values, write_gradients : int
        The addresses of kernels that read them.
    """

    values: NDArray[np.int64]
    gradients: NDArray[np.int64]
    write_values: int
    write_gradients: int


class StoredConditions(NamedTuple):
    """A table and what is at its addresses."""

    table: ConditionTable
    kept: tuple[Any, ...]


def condition_table(constraints: Sequence[Constraint], dim: int) -> StoredConditions | None:
    """Return the table of constraints, or None if one has no calls."""
    found = [constraint.condition_calls(dim) for constraint in constraints]
    calls = [pair for pair in found if pair is not None]
    if len(calls) < len(found):
        return None
    shapes = [[0, *constraint.nodes.shape] for constraint in constraints]
    values, gradients = (
        table_of([row_of(pair[i], (VECTORS,), (out,))[:4] + shape for pair, shape in zip(calls, shapes, strict=True)])
        for i, out in enumerate((NUMBERS, VECTORS))
    )
    kernels = (
        address_of(_conditions, ROWS, VECTORS, NUMBERS),
        address_of(_condition_gradients, ROWS, VECTORS, VECTORS),
    )
    return StoredConditions(ConditionTable(values, gradients, *kernels), tuple(calls))


class FormTable(NamedTuple):
    """A potential as the compiled loops of implicit methods take it.

    What its addresses lead to is the `GradientTable`'s, and `DerivativeTable`'s, which have to live as long.

    Attributes
    ----------
    constant : float64 [n, dim]
    rows : int64 [k, 7]
        See `GradientTable`.
    by_ends : bool
        Whether gradients are discrete ones.
    forces, matrix : int
        The addresses of kernels: of all forces and of their derivative.
    derivatives : int64 [k, 7]
        Rows of the derivative.
    """

    constant: Array
    rows: NDArray[np.int64]
    by_ends: bool
    forces: int
    matrix: int
    derivatives: NDArray[np.int64]


def form_table(potential: Potential, table: GradientTable, by_ends: bool) -> tuple[FormTable, GradientTable]:
    """Return the table of the (discrete, if ``by_ends``) gradient of a potential and of its derivative, and that."""
    derivative = gradient_table(potential, forms.DISCRETE_HESSIAN if by_ends else forms.HESSIAN)
    assert derivative is not None, "energies with calls of gradients have those of their derivatives"
    matrix = address_of(_matrix, ROWS, types.boolean, VECTORS, VECTORS, BLOCKS)
    return force_table(table)._replace(by_ends=by_ends, matrix=matrix, derivatives=derivative.rows), derivative


def force_table(table: GradientTable) -> FormTable:
    """Return the table of a gradient without its derivative."""
    forces = address_of(_forces, VECTORS, ROWS, types.boolean, *[VECTORS] * 3)
    return FormTable(table.constant, table.rows, False, forces, 0, table_of([]))


@formula
def write_gradient(constant, rows, q, out):
    """Set out [n, dim] to the gradient at q [n, dim]; return a sum that is finite if all forces are."""
    _set_constant(constant, out)
    return add_rows(rows, (q,), out)


@formula
def _set_constant(constant, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = constant[i, j]


@uncounted_formula
def write_forces(form, q0, q1, out):
    """Set out [n, dim] to the discrete gradient from q0 to q1 [n, dim], or the gradient at q1.

    Return a sum as `write_gradient` does.
    """
    return call_kernel(form.forces, (form.constant, form.rows, form.by_ends, q0, q1, out))


@uncounted_formula
def write_derivative(form, q0, q1, out):
    """Set the blocks out [nnz, dim, dim] to those of the derivative of `write_forces` with q1."""
    call_writing_kernel(form.matrix, (form.derivatives, form.by_ends, q0, q1, out))


@uncounted_formula
def write_secants(table, q, out):
    """Set out [nnz] to the values of 𝓕 at q [n, dim]; return a sum that is finite if all are."""
    return call_kernel(table.write, (table.values, False, q, q, out))


@uncounted_formula
def write_secant_rates(table, q, v, out):
    """Set out [nnz] to the values of 𝓕̇ at q along v [n, dim]; return a sum that is finite if all are."""
    return call_kernel(table.write, (table.rates, True, q, v, out))


@uncounted_formula
def write_energies(table, q, out):
    """Write the energies at q [n, dim] in J to out [1 + k], that of constant forces first."""
    call_writing_kernel(table.write, (table.constant, table.rows, q, out))


@uncounted_formula
def write_conditions(table, q, out):
    """Write g of all constraints at q [n, dim] to out [c]."""
    call_writing_kernel(table.write_values, (table.values, q, out))


@uncounted_formula
def write_condition_gradients(table, q, out):
    """Write ∇g of all constraints at q [n, dim] to out [f, dim], one row for each node of each stencil."""
    call_writing_kernel(table.write_gradients, (table.gradients, q, out))


@kernel
def _secants(rows, of_rate, q, v, out):
    out[:] = 0.0
    return add_matrix_rows(rows, (q, v), out) if of_rate else add_matrix_rows(rows, (q,), out)


@kernel
def _energies(constant, rows, q, out):
    out[0] = 0.0
    for i in range(q.shape[0]):
        for j in range(q.shape[1]):
            out[0] += constant[i, j] * q[i, j]
    for k in range(len(rows)):
        out[k + 1] = add_rows(rows[k : k + 1], (q,), out[:0])


@kernel
def _conditions(rows, q, out):
    start = 0
    for k in range(len(rows)):
        end = start + rows[k, 5]
        add_rows(rows[k : k + 1], (q,), out[start:end])
        start = end


@kernel
def _condition_gradients(rows, q, out):
    start = 0
    out[:] = 0.0
    for k in range(len(rows)):
        end = start + rows[k, 5] * rows[k, 6]
        add_rows(rows[k : k + 1], (q,), out[start:end])
        start = end


@kernel
def _forces(constant, rows, by_ends, q0, q1, out):
    _set_constant(constant, out)
    return add_rows(rows, (q0, q1), out) if by_ends else add_rows(rows, (q1,), out)


@kernel
def _matrix(rows, by_ends, q0, q1, out):
    out[:] = 0.0
    if by_ends:
        add_matrix_rows(rows, (q0, q1), out)
    else:
        add_matrix_rows(rows, (q1,), out)
