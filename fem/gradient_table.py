"""Forms of energies with compiled loops and of constant forces, for loops over steps that evaluate them many times.

To call energies from Python takes microseconds, which is most of a step of a small truss or a pendulum. All laws of
measures have one loop for each form, and so have other energies (`symplex.fem.forms.CompiledLoops`): a compiled loop
over steps calls it by its address, and nothing is compiled for a combination of energies.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import NamedTuple

import numpy as np
from numba import carray, types  # pyright: ignore[reportPrivateImportUsage]
from numpy.typing import NDArray

from symplex.fem import forms
from symplex.fem.actions.loads import DeadLoad
from symplex.fem.assembly import Array
from symplex.fem.call import address_of, call_kernel, call_writing_kernel, float64_at, int32_at
from symplex.fem.forms import CompiledLoops, Form
from symplex.fem.kernels import formula, kernel, uncounted_formula
from symplex.fem.measures.constraints import Constraint
from symplex.fem.potential import Potential

VECTORS, _NUMBERS, BLOCKS = types.float64[:, ::1], types.float64[::1], types.float64[:, :, ::1]
LAW = types.int32[:, ::1], _NUMBERS, types.int64, *[_NUMBERS] * 3


class GradientTable(NamedTuple):
    """A potential, as compiled loops take it; see `write_gradient`.

    Attributes
    ----------
    constant : float64 [n, dim]
        The part of it in N that does not depend on positions.
    rows : int64 [k, 10]
        For each energy its stencils (address, m, k), numbers (address, how many), law, the addresses of its two
        constants, its end, and its loop.
    stencils : int
        How many there are in all.
    loops : tuple of CompiledLoops
        The others of each energy, and what is at the addresses, which lives as long as the table.
    """

    constant: Array
    rows: NDArray[np.int64]
    stencils: int
    loops: tuple[CompiledLoops, ...]


def gradient_table(
    potential: Potential, form: Form = forms.GRADIENT, among: Set[str] | None = None
) -> GradientTable | None:
    """Return the table of a potential's gradient, or another vector, or of that of the energies named.

    None if an energy has no loops and is not constant.
    """
    constant, found = np.zeros((potential.n_nodes, potential.dim)), []
    for name, energy in potential.energies.items():
        if among is not None and name not in among:
            continue
        if isinstance(energy, DeadLoad):
            energy.add_gradient(constant, constant)
        elif (loops := energy.compiled_loops(potential.dim)) is not None and form.name in loops.loops:
            found.append(loops)
        else:
            return None
    rows = table_of([row_of(loops, _address(loops, form)) for loops in found])
    return GradientTable(constant, rows, sum(len(loops.arguments[0]) for loops in found), tuple(found))


class SecantTable(NamedTuple):
    """The secant form 𝓕 of energies and its rate, as compiled loops take them.

    Attributes
    ----------
    values, rates : int64 [k, 10]
        Rows as those of a `GradientTable`.
    slots : int64 [k]
        The addresses of the places of their stencils on the pattern.
    write : int
        The address of the kernel that calls them.
    """

    values: NDArray[np.int64]
    rates: NDArray[np.int64]
    slots: NDArray[np.int64]
    write: int


def secant_table(potential: Potential, among: Set[str]) -> SecantTable | None:
    """Return the table of the energies named, or None if one has no loops."""
    tables = [gradient_table(potential, form, among) for form in (forms.SECANT, forms.SECANT_RATE)]
    values, rates = (None if table is None else table.rows for table in tables)
    places = zip(potential.energies, potential.pattern.slots, strict=False)
    slots = np.array([slots.ctypes.data for name, slots in places if name in among], np.int64)
    if values is None or rates is None or len(values) < len(slots):
        return None
    rows = types.int64[:, ::1]
    write = address_of(_secants, rows, types.int64[::1], types.boolean, VECTORS, VECTORS, _NUMBERS)
    return SecantTable(values, rates, slots, write)


class EnergyTable(NamedTuple):
    """Energies, as compiled loops take them; what addresses lead to is the energies'.

    Attributes
    ----------
    constant : float64 [n, dim]
        The gradient in N of those that are linear.
    rows : int64 [k, 10]
        Rows of the others as those of a `GradientTable`, with the loops of sums.
    write : int
        The address of the kernel that calls them.
    """

    constant: Array
    rows: NDArray[np.int64]
    write: int


class EnergyLoops(NamedTuple):
    """A table, how many terms it has, and what is at its addresses."""

    table: EnergyTable
    terms: int
    kept: tuple[CompiledLoops, ...]


def energy_table(potential: Potential) -> EnergyLoops | None:
    """Return the table of a potential's energies, or None if one is neither linear nor has a loop."""
    gradient = gradient_table(potential)
    if gradient is None or not all("total" in one.loops for one in gradient.loops):
        return None
    rows = [row_of(one, address_of(one.loops["total"], VECTORS, *LAW)) for one in gradient.loops]
    write = address_of(_energies, VECTORS, types.int64[:, ::1], VECTORS, _NUMBERS)
    return EnergyLoops(EnergyTable(gradient.constant, table_of(rows), write), 1 + len(rows), gradient.loops)


class ConditionTable(NamedTuple):
    """Constraints, as compiled loops take them; what addresses lead to is the constraints'.

    Attributes
    ----------
    values, gradients : int64 [k, 10]
        Rows as those of a `GradientTable`, with the loops of g and with those of ∇g.
    write_values, write_gradients : int
        The addresses of kernels that call them.
    """

    values: NDArray[np.int64]
    gradients: NDArray[np.int64]
    write_values: int
    write_gradients: int


def condition_table(constraints: Sequence[Constraint]) -> ConditionTable | None:
    """Return the table of constraints, or None if one has no loops."""
    found = [constraint.compiled_loops() for constraint in constraints]
    loops = [loops for loops in found if loops is not None]
    if len(loops) < len(found):
        return None
    values = [row_of(one, address_of(one.loops["values"], VECTORS, *LAW, _NUMBERS)) for one in loops]
    gradients = [row_of(one, address_of(one.loops["rows"], VECTORS, *LAW, VECTORS)) for one in loops]
    kernels = (
        address_of(_conditions, types.int64[:, ::1], VECTORS, _NUMBERS),
        address_of(_condition_gradients, types.int64[:, ::1], VECTORS, VECTORS),
    )
    return ConditionTable(table_of(values), table_of(gradients), *kernels)


def table_of(rows: list[list[int]]) -> NDArray[np.int64]:
    """Return rows as a table [k, 10]."""
    return np.array(rows, np.int64).reshape(-1, 10)


def row_of(loops: CompiledLoops, address: int) -> list[int]:
    """Return the row of what loops take and the address of one of them."""
    nodes, numbers, law, *others = loops.arguments
    at_nodes, at_numbers, *at_others = (array.ctypes.data for array in (nodes, numbers, *others))
    return [at_nodes, *nodes.shape, at_numbers, len(numbers), law, *at_others, address]


def _address(loops: CompiledLoops, form: Form) -> int:
    """Return the address of the loop of a form, which is compiled if need be."""
    nodal = 2 if form.ends == 2 or form.name in ("third", "secant_rate") else 1
    numbers = BLOCKS if form.kind == "block" else _NUMBERS
    out = [types.int32[:, :, ::1], numbers] if form.is_matrix else [VECTORS]
    return address_of(loops.loops[form.name], *[VECTORS] * nodal, *LAW, *out)


class FormTable(NamedTuple):
    """A potential as the compiled loops of implicit methods take it.

    What its addresses lead to is the `GradientTable`'s and the pattern's, which have to live as long.

    Attributes
    ----------
    constant : float64 [n, dim]
    rows : int64 [k, 10]
        See `GradientTable`.
    by_ends : bool
        Whether gradients are discrete ones.
    forces, matrix : int
        The addresses of kernels: of all forces and of their derivative.
    derivatives : int64 [k, 2]
        The addresses of each energy's loop of the derivative, and of the places [m, k, k] of its stencils on the
        potential's pattern.
    """

    constant: Array
    rows: NDArray[np.int64]
    by_ends: bool
    forces: int
    matrix: int
    derivatives: NDArray[np.int64]


def form_table(potential: Potential, table: GradientTable, by_ends: bool) -> FormTable:
    """Return the table of the (discrete, if ``by_ends``) gradient of a potential and of its derivative."""
    pairs = zip(potential.energies.values(), potential.pattern.slots, strict=False)
    slots = [places.ctypes.data for energy, places in pairs if not isinstance(energy, DeadLoad)]
    form = forms.DISCRETE_HESSIAN if by_ends else forms.HESSIAN
    derivatives = [(_address(loops, form), places) for loops, places in zip(table.loops, slots, strict=True)]
    derivatives = np.array(derivatives, np.int64).reshape(-1, 2)
    rows = types.int64[:, ::1]
    matrix = address_of(_matrix, rows, rows, types.boolean, VECTORS, VECTORS, BLOCKS)
    return force_table(table)._replace(by_ends=by_ends, matrix=matrix, derivatives=derivatives)


def force_table(table: GradientTable) -> FormTable:
    """Return the table of a gradient without its derivative."""
    forces = address_of(_forces, VECTORS, types.int64[:, ::1], types.boolean, *[VECTORS] * 3)
    return FormTable(table.constant, table.rows, False, forces, 0, np.zeros((0, 2), np.int64))


@formula
def arguments_of(row):
    """Return what loops take of an energy: nodes, numbers, law, its constants and its end."""
    at_nodes, m, k, at_numbers, size, law, at_a, at_b, at_end, _ = row
    nodes = carray(int32_at(at_nodes), (m, k))
    numbers, end = carray(float64_at(at_numbers), size), carray(float64_at(at_end), 4)
    return nodes, numbers, law, carray(float64_at(at_a), m), carray(float64_at(at_b), m), end


@formula
def write_gradient(constant, rows, q, out):
    """Set out [n, dim] to the gradient at q [n, dim]; return a sum that is finite if all forces are."""
    check = 0.0
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = constant[i, j]
    for row in rows:
        check += call_kernel(row[9], (q, *arguments_of(row), out))
    return check


@uncounted_formula
def write_forces(form, q0, q1, out):
    """Set out [n, dim] to the discrete gradient from q0 to q1 [n, dim], or the gradient at q1.

    Return a sum as `write_gradient` does.
    """
    return call_kernel(form.forces, (form.constant, form.rows, form.by_ends, q0, q1, out))


@uncounted_formula
def write_derivative(form, q0, q1, out):
    """Set the blocks out [nnz, dim, dim] to those of the derivative of `write_forces` with q1."""
    call_writing_kernel(form.matrix, (form.rows, form.derivatives, form.by_ends, q0, q1, out))


@uncounted_formula
def write_secants(table, q, out):
    """Set out [nnz] to the values of 𝓕 at q [n, dim]; return a sum that is finite if all are."""
    return call_kernel(table.write, (table.values, table.slots, False, q, q, out))


@uncounted_formula
def write_secant_rates(table, q, v, out):
    """Set out [nnz] to the values of 𝓕̇ at q along v [n, dim]; return a sum that is finite if all are."""
    return call_kernel(table.write, (table.rates, table.slots, True, q, v, out))


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
def _secants(rows, slots, of_rate, q, v, out):
    check = 0.0
    for s in range(len(out)):
        out[s] = 0.0
    for k in range(len(rows)):
        law, places = arguments_of(rows[k]), carray(int32_at(slots[k]), (rows[k][1], rows[k][2], rows[k][2]))
        if of_rate:
            check += call_kernel(rows[k][9], (q, v, *law, places, out))
        else:
            check += call_kernel(rows[k][9], (q, *law, places, out))
    return check


@kernel
def _energies(constant, rows, q, out):
    out[0] = 0.0
    for i in range(q.shape[0]):
        for j in range(q.shape[1]):
            out[0] += constant[i, j] * q[i, j]
    for k in range(len(rows)):
        out[k + 1] = call_kernel(rows[k][9], (q, *arguments_of(rows[k])))


@kernel
def _conditions(rows, q, out):
    start = 0
    for row in rows:
        end = start + row[1]
        call_writing_kernel(row[9], (q, *arguments_of(row), out[start:end]))
        start = end


@kernel
def _condition_gradients(rows, q, out):
    start = 0
    for i in range(out.shape[0]):
        for k in range(out.shape[1]):
            out[i, k] = 0.0
    for row in rows:
        end = start + row[1] * row[2]
        call_writing_kernel(row[9], (q, *arguments_of(row), out[start:end]))
        start = end


@kernel
def _forces(constant, rows, by_ends, q0, q1, out):
    if not by_ends:
        return write_gradient(constant, rows, q1, out)
    check = 0.0
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = constant[i, j]
    for row in rows:
        check += call_kernel(row[9], (q0, q1, *arguments_of(row), out))
    return check


@kernel
def _matrix(rows, derivatives, by_ends, q0, q1, out):
    for s in range(out.shape[0]):
        for i in range(out.shape[1]):
            for j in range(out.shape[2]):
                out[s, i, j] = 0.0
    for k in range(len(rows)):
        loop, at_slots = derivatives[k]
        law, places = arguments_of(rows[k]), carray(int32_at(at_slots), (rows[k][1], rows[k][2], rows[k][2]))
        if by_ends:
            call_kernel(loop, (q0, q1, *law, places, out))
        else:
            call_kernel(loop, (q1, *law, places, out))
