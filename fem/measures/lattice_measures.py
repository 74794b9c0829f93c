"""Differences of laws of measures between lattice points, as C functions of one stencil.

A coordinate that grows by h changes a measure by Δm, exactly (|d|² by h (2 d_c + h)); the energy then changes by
½ ξ Δm with the quotient ξ of the law, and the mixed difference is ½ (ξ' Δm' − ξ Δm), both without cancellation (see
`symplex.fem.measures.law_formulas`).

Rows of parameters: [numbers in the row, dim, nodes, law, constants of the law (2), its end (4), the measure].
"""

# numba declares the address of a compiled function as int | None, and does not re-export carray.
# pyright: reportArgumentType=false, reportPrivateImportUsage=false

from math import inf, isfinite

import numpy as np
from numba import carray

from symplex.fem.compiled.kernels import c_function, formula, inlined
from symplex.fem.energies.energy import Array, LatticeFunctions
from symplex.fem.measures.cut_off import energy, quotient, quotient_change
from symplex.fem.measures.relative import (
    CORE,
    DISTANCE,
    FACES,
    HALF,
    KIND,
    ORIGIN,
    axis,
    dot,
    excess,
    face_value,
    largest_face,
    sum_of,
)

_DIM, _NODES, _LAW, _A, _B, _END = range(1, 7)
_HEADER = 10


@inlined
def _row(p_):
    return carray(p_, (int(carray(p_, (1,))[0]),))


@inlined
def _component(p, x, i):
    """d_i of the stencil at the coordinates x."""
    dim = int(p[_DIM])
    if i >= dim:
        return 0.0
    d = x[i] - p[_HEADER + ORIGIN + i]
    return d - x[dim + i] if p[_NODES] > 1.0 else d


@inlined
def _step(p, i, h):
    """The component of d that the coordinate i changes, and by how much."""
    dim = int(p[_DIM])
    return i % dim, h if i < dim else -h


@formula
def _changes_of_core(measure, d, i, hi, j, hj):
    s = first = second = both = 0.0
    for a in range(3):
        A, h = axis(measure, a), measure[HALF + a]
        y, up, across = dot(A, d), hi * A[i], hj * A[j]
        e, e_i, e_j, e_ij = excess(y, h), excess(y + up, h), excess(y + across, h), excess(y + up + across, h)
        s += e * e
        least, most = (
            min(min(y, y + up), min(y + across, y + up + across)),
            max(max(y, y + up), max(y + across, y + up + across)),
        )
        if least >= h or most <= -h:
            first += up * (2.0 * e + up)
            second += across * (2.0 * e + across)
            both += 2.0 * up * across
        else:
            first += (e_i - e) * (e_i + e)
            second += (e_j - e) * (e_j + e)
            both += (e_ij - e_i) * (e_ij + e_i) - (e_j - e) * (e_j + e)
    return s, first, second, both


@formula
def _changes_of_faces(measure, d, i, hi, j, hj):
    at_i = sum_of(d, hi, (1.0 * (i == 0), 1.0 * (i == 1), 1.0 * (i == 2)))
    along_j = (1.0 * (j == 0), 1.0 * (j == 1), 1.0 * (j == 2))
    f, m = largest_face(measure, d)
    (f_i, m_i), (f_j, m_j) = largest_face(measure, at_i), largest_face(measure, sum_of(d, hj, along_j))
    f_ij, m_ij = largest_face(measure, sum_of(at_i, hj, along_j))
    if f == f_i == f_j == f_ij:
        zero = face_value(measure, f, (0.0, 0.0, 0.0))
        normal_i = face_value(measure, f, (1.0 * (i == 0), 1.0 * (i == 1), 1.0 * (i == 2))) - zero
        return m, hi * normal_i, hj * (face_value(measure, f, along_j) - zero), 0.0
    return m, m_i - m, m_j - m, (m_ij - m_i) - (m_j - m)


@formula
def _changes(p, x, i, hi, j, hj):
    """m, its changes with the coordinates i and j, and its mixed difference."""
    measure = p[_HEADER:]
    (i, hi), (j, hj) = _step(p, i, hi), _step(p, j, hj)
    d = _component(p, x, 0), _component(p, x, 1), _component(p, x, 2)
    if measure[KIND] == DISTANCE:
        first, second = hi * (2.0 * d[i] + hi), hj * (2.0 * d[j] + hj)
        return dot(d, d), first, second, 2.0 * hi * hj if i == j else 0.0
    if measure[KIND] == CORE:
        return _changes_of_core(measure, d, i, hi, j, hj)
    return _changes_of_faces(measure, d, i, hi, j, hj)


@inlined
def _measured(p, m):
    """A measure without what rounding has taken below zero."""
    return m if p[_HEADER + KIND] == FACES else max(m, 0.0)


@inlined
def _finite(change):
    """A change of energy, infinite where a law has its pole at an end."""
    return change if isfinite(change) else inf


@c_function("value")
def _value(p_, x):
    p = _row(p_)
    m, _, _, _ = _changes(p, x, 0, 0.0, 0, 0.0)
    phi = energy(p[_LAW], p[_A], p[_B], p[_END:_HEADER], m)
    return inf if np.isnan(phi) else phi


@c_function("difference")
def _difference(p_, x, i, h):
    p = _row(p_)
    m, change, _, _ = _changes(p, x, i, h, 0, 0.0)
    return _finite(0.5 * change * quotient(p[_LAW], p[_A], p[_B], p[_END:_HEADER], m, _measured(p, m + change)))


@c_function("mixed")
def _mixed(p_, x, i, j, hi, hj):
    p = _row(p_)
    law, a, b, cut = p[_LAW], p[_A], p[_B], p[_END:_HEADER]
    m, first, second, both = _changes(p, x, i, hi, j, hj)
    other, end = _measured(p, m + second), _measured(p, m + first + second + both)
    xi = quotient(law, a, b, cut, m, other)
    turn = quotient_change(law, a, b, cut, m, other, _measured(p, m + first) - m, end - other)
    return _finite(0.5 * ((xi + turn) * both + turn * second))


def measure_lattice(
    measure: Array, law: int, a: Array, b: Array, end: Array, *, nodes: int, dim: int
) -> LatticeFunctions:
    """Return the lattice functions of stencils of one or two nodes: a law of a measure, constants a and b [m].

    The law may have an end [4] (see `symplex.fem.measures.cut_off`).
    """
    size = _HEADER + len(measure)
    rows = np.empty((len(a), size))
    rows[:, :_HEADER] = [size, dim, nodes, law, 0.0, 0.0, *end]
    rows[:, _A], rows[:, _B] = a, b
    rows[:, _HEADER:] = measure
    return LatticeFunctions(rows, _value.address, _difference.address, _mixed.address, size=nodes * dim)
