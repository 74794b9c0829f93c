"""Forms of energies with compiled loops and of constant forces, for loops over steps that evaluate them many times.

To call energies from Python takes microseconds, which is most of a step of a small truss or a pendulum. All laws of
measures have one loop for each form, and so have other energies (`symplex.fem.forms.CompiledLoops`): a compiled loop
over steps calls it by its address, and nothing is compiled for a combination of energies.
"""

from __future__ import annotations

from functools import cache
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
from symplex.fem.potential import Potential

_VECTORS, _NUMBERS, _BLOCKS = types.float64[:, ::1], types.float64[::1], types.float64[:, :, ::1]
_LAW = types.int32[:, ::1], _NUMBERS, types.int64, *[_NUMBERS] * 3


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


def gradient_table(potential: Potential, form: Form = forms.GRADIENT) -> GradientTable | None:
    """Return the table of a potential's (discrete) gradient, or None if an energy has no loops and is not constant."""
    constant, found = np.zeros((potential.n_nodes, potential.dim)), []
    for energy in potential.energies.values():
        if isinstance(energy, DeadLoad):
            energy.add_gradient(constant, constant)
        elif (loops := energy.compiled_loops(potential.dim)) is not None:
            found.append(loops)
        else:
            return None
    rows = np.array([_row(loops, form) for loops in found], np.int64).reshape(-1, 10)
    return GradientTable(constant, rows, sum(len(loops.arguments[0]) for loops in found), tuple(found))


def _row(loops: CompiledLoops, form: Form) -> list[int]:
    nodes, numbers, law, *others = loops.arguments
    at_nodes, at_numbers, *at_others = (array.ctypes.data for array in (nodes, numbers, *others))
    return [at_nodes, *nodes.shape, at_numbers, len(numbers), law, *at_others, _address(loops, form)]


def _address(loops: CompiledLoops, form: Form) -> int:
    """Return the address of the loop of a form, which is compiled if need be."""
    nodal = 2 if form.ends == 2 or form.name == "third" else 1
    out = [types.int32[:, :, ::1], _BLOCKS] if form.is_matrix else [_VECTORS]
    return address_of(loops.loops[form.name], *[_VECTORS] * nodal, *_LAW, *out)


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
    return FormTable(table.constant, table.rows, by_ends, *_kernels(), derivatives)


@cache
def _kernels() -> tuple[int, int]:
    """Return the addresses of the kernels, which are compiled if need be."""
    rows = types.int64[:, ::1]
    return (
        address_of(_forces, _VECTORS, rows, types.boolean, *[_VECTORS] * 3),
        address_of(_matrix, rows, rows, types.boolean, _VECTORS, _VECTORS, _BLOCKS),
    )


@formula
def _arguments(row):
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
        check += call_kernel(row[9], (q, *_arguments(row), out))
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


@kernel
def _forces(constant, rows, by_ends, q0, q1, out):
    if not by_ends:
        return write_gradient(constant, rows, q1, out)
    check = 0.0
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = constant[i, j]
    for row in rows:
        check += call_kernel(row[9], (q0, q1, *_arguments(row), out))
    return check


@kernel
def _matrix(rows, derivatives, by_ends, q0, q1, out):
    for s in range(out.shape[0]):
        for i in range(out.shape[1]):
            for j in range(out.shape[2]):
                out[s, i, j] = 0.0
    for k in range(len(rows)):
        loop, at_slots = derivatives[k]
        law, places = _arguments(rows[k]), carray(int32_at(at_slots), (rows[k][1], rows[k][2], rows[k][2]))
        if by_ends:
            call_kernel(loop, (q0, q1, *law, places, out))
        else:
            call_kernel(loop, (q1, *law, places, out))
