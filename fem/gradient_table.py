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
from symplex.fem.call import address_of, call_kernel, float64_at, int32_at
from symplex.fem.kernels import formula
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
    """What compiled loops take beside a `GradientTable` for the forms of an implicit method.

    Attributes
    ----------
    forces, matrix : int
        The addresses of the loops of a gradient, discrete or not, and of its derivative.
    slots : int64 [k]
        The addresses of the places [m, k, k] of each law's stencils on the potential's pattern.
    arrays : tuple of ndarray
        Those at the addresses.
    """

    forces: int
    matrix: int
    slots: NDArray[np.int64]
    arrays: tuple[IntArray, ...]


def form_table(potential: Potential, by_ends: bool) -> FormTable:
    """Return the table of the (discrete, if ``by_ends``) gradient of a potential that has a `gradient_table`."""
    pairs = zip(potential.energies.values(), potential.pattern.slots, strict=False)
    slots = tuple(places for energy, places in pairs if not isinstance(energy, DeadLoad))
    addresses = np.array([places.ctypes.data for places in slots], np.int64)
    return FormTable(*_loops(by_ends), addresses, slots)


@cache
def _loops(by_ends: bool) -> tuple[int, int]:
    """Return the addresses of the loops of forces and of their derivatives, which are compiled if need be."""
    vectors, numbers = types.float64[:, ::1], types.float64[::1]
    law = types.int32[:, ::1], numbers, types.int64, *[numbers] * 3
    matrix = *law, types.int32[:, :, ::1], types.float64[:, :, ::1]
    if by_ends:
        forces = address_of(loops.add_discrete_gradient, vectors, vectors, *law, vectors)
        return forces, address_of(loops.add_discrete_hessian, vectors, vectors, *matrix)
    return address_of(loops.add_gradient, vectors, *law, vectors), address_of(loops.add_hessian, vectors, *matrix)


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


@formula
def write_forces(constant, rows, form, by_ends, q0, q1, out):
    """Set out [n, dim] to the discrete gradient from q0 to q1 [n, dim], or the gradient at q1.

    Return a sum as `write_gradient` does.
    """
    check = 0.0
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = constant[i, j]
    for row in rows:
        law = _arguments(row)
        if by_ends:
            check += call_kernel(form.forces, (q0, q1, *law, out))
        else:
            check += call_kernel(form.forces, (q1, *law, out))
    return check


@formula
def write_derivative(rows, form, by_ends, q0, q1, out):
    """Set the blocks out [nnz, dim, dim] to those of the derivative of `write_forces` with q1."""
    out[...] = 0.0
    for k in range(len(rows)):
        law, places = _arguments(rows[k]), carray(int32_at(form.slots[k]), (rows[k][1], rows[k][2], rows[k][2]))
        if by_ends:
            call_kernel(form.matrix, (q0, q1, *law, places, out))
        else:
            call_kernel(form.matrix, (q1, *law, places, out))
