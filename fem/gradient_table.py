"""Forms of laws of measures and constant forces, for compiled loops that evaluate them many times.

To call energies from Python takes microseconds, which is most of a step of a small truss or a pendulum. All laws of
measures have one loop for each form (`symplex.fem.measures.loops.add_gradient` and its like), so that a compiled loop
over steps calls it for each of them, and nothing is compiled for a combination of energies.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numba import carray, types  # pyright: ignore[reportPrivateImportUsage]
from numpy.typing import NDArray

from symplex.fem.actions.loads import DeadLoad
from symplex.fem.assembly import Array, IntArray
from symplex.fem.call import address_of, call_kernel, call_writing_kernel, float64_at, int32_at
from symplex.fem.kernels import formula, kernel, uncounted_formula
from symplex.fem.measures import loops
from symplex.fem.measures.composition import MeasureEnergy
from symplex.fem.potential import Potential


class GradientTable(NamedTuple):
    """A potential, as compiled loops take it; see `write_gradient`.

    Attributes
    ----------
    constant : float64 [n, dim]
        The part of it in N that does not depend on positions.
    rows : int64 [k, 9]
        For each law of a measure its stencils (address, m, k), measure (address, numbers), law, and the addresses of
        its two constants and its end.
    stencils : int
        How many there are in all.
    arrays : tuple of ndarray
        Those at the addresses, which live as long as the table.
    """

    constant: Array
    rows: NDArray[np.int64]
    stencils: int
    arrays: tuple[Array | IntArray, ...]


def gradient_table(potential: Potential) -> GradientTable | None:
    """Return the table of a potential, or None if an energy is neither a compiled law nor a constant force."""
    constant, rows, arrays, stencils = np.zeros((potential.n_nodes, potential.dim)), [], [], 0
    for energy in potential.energies.values():
        if isinstance(energy, DeadLoad):
            energy.add_gradient(constant, constant)
        elif isinstance(energy, MeasureEnergy) and (found := energy.compiled_gradient(potential.dim)) is not None:
            nodes, measure, law, a, b, end = found
            arrays += [nodes, measure, a, b, end]
            at_nodes, at_measure, *others = (array.ctypes.data for array in (nodes, measure, a, b, end))
            rows.append([at_nodes, *nodes.shape, at_measure, len(measure), law, *others])
            stencils += len(nodes)
        else:
            return None
    return GradientTable(constant, np.array(rows, np.int64).reshape(-1, 9), stencils, tuple(arrays))


class FormTable(NamedTuple):
    """A potential as the compiled loops of implicit methods take it.

    What its addresses lead to is the `GradientTable`'s and the pattern's, which have to live as long.

    Attributes
    ----------
    constant : float64 [n, dim]
    rows : int64 [k, 9]
        See `GradientTable`.
    by_ends : bool
        Whether gradients are discrete ones.
    forces, matrix, of_forces, of_matrix : int
        The addresses of kernels: of all forces and of their derivative, and of the loops of one law.
    slots : int64 [k]
        The addresses of the places [m, k, k] of each law's stencils on the potential's pattern.
    """

    constant: Array
    rows: NDArray[np.int64]
    by_ends: bool
    forces: int
    matrix: int
    of_forces: int
    of_matrix: int
    slots: NDArray[np.int64]


def form_table(potential: Potential, table: GradientTable, by_ends: bool) -> FormTable:
    """Return the table of the (discrete, if ``by_ends``) gradient of a potential."""
    pairs = zip(potential.energies.values(), potential.pattern.slots, strict=False)
    slots = [places.ctypes.data for energy, places in pairs if not isinstance(energy, DeadLoad)]
    return FormTable(table.constant, table.rows, by_ends, *_kernels(by_ends), np.array(slots, np.int64))


@cache
def _kernels(by_ends: bool) -> tuple[int, int, int, int]:
    """Return the addresses of the kernels, which are compiled if need be."""
    vectors, numbers, blocks = types.float64[:, ::1], types.float64[::1], types.float64[:, :, ::1]
    law = types.int32[:, ::1], numbers, types.int64, *[numbers] * 3
    matrix = *law, types.int32[:, :, ::1], blocks
    ends = [vectors] * (2 if by_ends else 1)
    of_forces, of_matrix = loops.add_gradient, loops.add_hessian
    if by_ends:
        of_forces, of_matrix = loops.add_discrete_gradient, loops.add_discrete_hessian
    rows, choice = types.int64[:, ::1], (types.boolean, types.int64)
    return (
        address_of(_forces, vectors, rows, *choice, *[vectors] * 3),
        address_of(_matrix, rows, types.int64[::1], *choice, vectors, vectors, blocks),
        address_of(of_forces, *ends, *law, vectors),
        address_of(of_matrix, *ends, *matrix),
    )


@formula
def _arguments(row):
    """Return what loops take of a law: nodes, measure, law, its constants and its end."""
    at_nodes, m, k, at_measure, numbers, law, at_a, at_b, at_end = row
    nodes = carray(int32_at(at_nodes), (m, k))
    measure, end = carray(float64_at(at_measure), numbers), carray(float64_at(at_end), 4)
    return nodes, measure, law, carray(float64_at(at_a), m), carray(float64_at(at_b), m), end


@formula
def write_gradient(constant, rows, q, out):
    """Set out [n, dim] to the gradient at q [n, dim]; return a sum that is finite if all forces are."""
    check = 0.0
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = constant[i, j]
    for row in rows:
        nodes, measure, law, a, b, end = _arguments(row)
        check += loops.add_gradient(q, nodes, measure, law, a, b, end, out)
    return check


@uncounted_formula
def write_forces(form, q0, q1, out):
    """Set out [n, dim] to the discrete gradient from q0 to q1 [n, dim], or the gradient at q1.

    Return a sum as `write_gradient` does.
    """
    arguments = form.constant, form.rows, form.by_ends, form.of_forces
    return call_kernel(form.forces, (*arguments, q0, q1, out))


@uncounted_formula
def write_derivative(form, q0, q1, out):
    """Set the blocks out [nnz, dim, dim] to those of the derivative of `write_forces` with q1."""
    arguments = form.rows, form.slots, form.by_ends, form.of_matrix
    call_writing_kernel(form.matrix, (*arguments, q0, q1, out))


@kernel
def _forces(constant, rows, by_ends, loop, q0, q1, out):
    check = 0.0
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = constant[i, j]
    for row in rows:
        law = _arguments(row)
        if by_ends:
            check += call_kernel(loop, (q0, q1, *law, out))
        else:
            check += call_kernel(loop, (q1, *law, out))
    return check


@kernel
def _matrix(rows, slots, by_ends, loop, q0, q1, out):
    for s in range(out.shape[0]):
        for i in range(out.shape[1]):
            for j in range(out.shape[2]):
                out[s, i, j] = 0.0
    for k in range(len(rows)):
        law, places = _arguments(rows[k]), carray(int32_at(slots[k]), (rows[k][1], rows[k][2], rows[k][2]))
        if by_ends:
            call_kernel(loop, (q0, q1, *law, places, out))
        else:
            call_kernel(loop, (q1, *law, places, out))
