"""What the schemes of Graham and Jelenić add in a step of a small system, in one compiled loop for all of them.

The formulas are those of `symplex.time.conserving.conserving_schemes` and `symplex.time.conserving.cayley_magnus`, with
the loops of energies called by address.
"""

from __future__ import annotations

from collections.abc import Set
from functools import cache
from typing import NamedTuple

import numpy as np
from numba import typeof, types

from symplex.fem import forms
from symplex.fem.assembly import Array, IntArray
from symplex.fem.call import address_of, call_kernel, call_writing_kernel
from symplex.fem.gradient_table import Table, form_table, write
from symplex.fem.kernels import addressed_formula, uncounted_formula as formula
from symplex.fem.secant import secant_product
from symplex.fem.system import System
from symplex.time.conserving.small_schemes import CAYLEY, ENDS, HERMITE, MIDDLE, SmallScheme

# Vectors [n, dim] that loops write to.
POSITION, FORCE, _FIRST, _SECOND, _LEFT, _OUTER0, _OUTER1 = range(7)
# Values [nnz]: of 𝓕 at both ends and of its rate, and what is made of them.
_START, _START_RATE, _END, _MEAN, _CHANGE, _TILDE = range(6)


class SmallForces(NamedTuple):
    """A system as the loops take it.

    Attributes
    ----------
    inverse_mass : float64 [n, dim]
    indptr, indices : int32
        The pattern.
    force : Table
        Of all energies, as the scheme has it between both ends.
    gradient, outer : Table
        Of all energies, and of those named external, at one place.
    loaded : bool
        Whether there are any of these.
    secant, secant_rate : Table
        𝓕 and its rate, of all others.
    multiply, add, combine : int
        The addresses of loops that are called in many places, where they would be compiled once more in each.
    """

    inverse_mass: Array
    indptr: IntArray
    indices: IntArray
    force: Table
    gradient: Table
    outer: Table
    loaded: bool
    secant: Table
    secant_rate: Table
    multiply: int
    add: int
    combine: int


class SmallRooms(NamedTuple):
    """Arrays that the loops write to.

    Attributes
    ----------
    vectors, ends, x : float64 [7, n, dim], [8, n, dim], [2 + p, n, dim]
    jerk : float64 [n, dim]
        At the start of the step.
    outer, outer_moments : float64 [points, n, dim], [known, n, dim]
    values, moments : float64 [points, nnz], [known, nnz]
    """

    vectors: Array
    ends: Array
    x: Array
    jerk: Array
    outer: Array
    outer_moments: Array
    values: Array
    moments: Array


def with_scheme(
    scheme: SmallScheme, system: System, external: Set[str] = frozenset(), form: forms.Form = forms.GRADIENT
) -> tuple[SmallScheme, SmallForces] | None:
    """Return a scheme and a system's forces; None if an energy has no loops.

    Parameters
    ----------
    scheme : SmallScheme
    system : System
    external : set of str
        Energies that act like loads.
    form : Form
        Of the forces of schemes of second order.
    """
    inner = system.energies.keys() - external if scheme.kind in (HERMITE, CAYLEY) else set()
    asked = (form, None), (forms.GRADIENT, None), (forms.GRADIENT, external)
    tables = [form_table(system, *one) for one in (*asked, (forms.SECANT, inner), (forms.SECANT_RATE, inner))]
    known = [table for table in tables if table is not None]
    if len(known) < len(tables):
        return None
    pattern, inverse_mass = system.pattern, np.where(system.fixed, 0.0, 1.0 / np.asarray(system.mass)[:, None])
    force, gradient, outer, secant, rate = known
    of_all = inverse_mass, pattern.indptr, pattern.indices, force, gradient
    return scheme, SmallForces(*of_all, outer, bool(external), secant, rate, *_loops())


@cache
def _loops() -> tuple[int, int, int]:
    """Return the addresses of the loops that products, sums and interpolants are, which are compiled if need be."""
    x, numbers, places, index = types.float64[:, ::1], types.float64[::1], types.int32[::1], types.int64
    return (
        address_of(secant_product, places, places, numbers, x, x, x),
        address_of(_add_to, types.float64, x, x),
        address_of(_combine, x, index, types.float64, index, index, types.float64[:, :, ::1], x),
    )


def small_rooms(scheme: SmallScheme, system: System) -> SmallRooms:
    """Return room for a scheme."""
    shape, nnz = (system.n_nodes, system.dim), len(system.pattern.indices)
    points = max(len(scheme.outer_positions), len(scheme.quintic), 1)
    return SmallRooms(
        np.zeros((7, *shape)),
        np.zeros((8, *shape)),
        np.zeros((2 + len(scheme.products), *shape)),
        np.zeros(shape),
        np.zeros((points, *shape)),
        np.zeros((scheme.known, *shape)),
        np.zeros((max(len(scheme.positions), 6), nnz)),
        np.zeros((scheme.known, nnz)),
    )


@formula
def begin_step(address, scheme, forces, rooms, h, z0, a0):
    """Set what belongs to the start of a step at z0 [2, n, dim] with the accelerations a0 [n, dim].

    Return a number that is finite if all is.
    """
    return call_kernel(address, (True, scheme, forces, rooms, h, z0, z0, a0, z0))


@formula
def add_step(address, scheme, forces, rooms, h, z0, z1, a0, out):
    """Write C (Z0 + Z1)/2 + Z_a [2, n, dim] to out, if the step ends at z1; return a finite number if all is."""
    return call_kernel(address, (False, scheme, forces, rooms, h, z0, z1, a0, out))


@formula
def combine(forces, weights, point, base, known, stride, ends, out):
    """Write Σ weight · end to out; see `_combine`."""
    call_writing_kernel(forces.combine, (weights, point, base, known, stride, ends, out))


@addressed_formula
def _combine(weights, point, base, known, stride, ends, out):
    """Write Σ weight · end to out, of `known` vectors at each end, the second of which begin at a stride.

    The position at the start, in whose place that at the end is a change, comes with the factor `base`.
    """
    for i in range(out.shape[0]):
        for k in range(out.shape[1]):
            start = ends[0, i, k]
            total = base * start + weights[point, known] * (ends[stride, i, k] - start)
            for j in range(1, known):
                total += weights[point, j] * ends[j, i, k]
                total += weights[point, known + j] * ends[stride + j, i, k]
            out[i, k] = total


@formula
def _scale(factor, weights, out):
    """Multiply out [n, dim] by a factor and weights."""
    for i in range(out.shape[0]):
        for k in range(out.shape[1]):
            out[i, k] *= factor * weights[i, k]


@addressed_formula
def _add_to(factor, x, out):
    for i in range(out.shape[0]):
        for k in range(out.shape[1]):
            out[i, k] += factor * x[i, k]


@formula
def _add_scaled(forces, factor, x, out):
    """Add factor · x to out [n, dim]."""
    call_writing_kernel(forces.add, (factor, x, out))


@formula
def _product(forces, values, x, out):
    """Write M⁻¹ 𝓕 x to out."""
    pattern = forces.indptr, forces.indices
    call_writing_kernel(forces.multiply, (*pattern, values, x, forces.inverse_mass, out))


@formula
def accelerate(forces, factor, q, out):
    """Write `factor` times the accelerations at q [n, dim] to out; return a number that is finite if all are."""
    check = write(forces.gradient, q, q, out)
    _scale(-factor, forces.inverse_mass, out)
    return check


@formula
def _from_outside(forces, h, q, out):
    """Write h² times the accelerations of what acts from outside at q [n, dim] to out; return as `accelerate`."""
    check = write(forces.outer, q, q, out)
    _scale(-h * h, forces.inverse_mass, out)
    return check


@formula
def _secants(forces, h, z, of_rate, out):
    """Write h² 𝓕, or its rate, at a state z [2, n, dim] to out [nnz]; return as `accelerate`."""
    check = write(forces.secant_rate, z[0], z[1], out) if of_rate else write(forces.secant, z[0], z[0], out)
    for s in range(len(out)):
        out[s] *= h * h
    return check


@formula
def _write_jerk(forces, rooms, h, z, out):
    """Write −h³ d(M⁻¹𝓕 r)/dt at a state z [2, n, dim] to out; return as `accelerate`."""
    values, room = rooms.values[_START], rooms.vectors[_FIRST]
    check = _secants(forces, h, z, False, values)
    _product(forces, values, z[1], out)
    check += _secants(forces, h, z, True, values)
    _product(forces, values, z[0], room)
    for i in range(out.shape[0]):
        for k in range(out.shape[1]):
            out[i, k] = -(out[i, k] + room[i, k])
    return check


@addressed_formula
def _evaluate_middle(begins, scheme, forces, rooms, h, z0, z1, a0, out):
    """Do as `begin_step` or `add_step` for a scheme of second order."""
    if begins:
        return 0.0
    position = rooms.vectors[POSITION]
    for i in range(position.shape[0]):
        for k in range(position.shape[1]):
            middle = 0.5 * (z0[0, i, k] + z1[0, i, k])
            position[i, k] = middle if scheme.kind == MIDDLE else z1[0, i, k]
            out[0, i, k] = 0.5 * (z0[1, i, k] + z1[1, i, k])
    check = write(forces.force, z0[0], position, out[1])
    _scale(-h * h, forces.inverse_mass, out[1])
    return check


@addressed_formula
def _evaluate_hermite(begins, scheme, forces, rooms, h, z0, z1, a0, out):
    """Do as `begin_step` or `add_step` for M4."""
    if not begins:
        return _add_hermite(scheme, forces, rooms, h, z0, z1, out)
    check = _secants(forces, h, z0, False, rooms.values[_START])
    check += _secants(forces, h, z0, True, rooms.values[_START_RATE])
    if forces.loaded:
        check += _from_outside(forces, h, z0[0], rooms.vectors[_OUTER0])
    for i in range(a0.shape[0]):
        for k in range(a0.shape[1]):
            rooms.ends[0, i, k], rooms.ends[1, i, k] = z0[0, i, k], z0[1, i, k]
    return check


@addressed_formula
def _evaluate_cayley(begins, scheme, forces, rooms, h, z0, z1, a0, out):
    """Do as `begin_step` or `add_step` for Cayley's transform."""
    if not begins:
        check = _set_ends(scheme, forces, rooms, h, z1)
        check += _set_moments(scheme, forces, rooms, h)
        _apply_words(scheme, forces, rooms, z0, z1, out)
        return check
    ends = rooms.ends
    for i in range(a0.shape[0]):
        for k in range(a0.shape[1]):
            ends[0, i, k], ends[1, i, k] = z0[0, i, k], z0[1, i, k]
            if scheme.known > 2:
                ends[2, i, k] = h * h * a0[i, k]
    return _write_jerk(forces, rooms, h, z0, rooms.jerk) if scheme.known > 3 else 0.0


@formula
def _add_hermite(scheme, forces, rooms, h, z0, z1, out):
    """Do as `add_step` for M4."""
    values, vectors, ends, r, w = rooms.values, rooms.vectors, rooms.ends, rooms.x[0], rooms.x[1]
    check = _secants(forces, h, z1, False, values[_END]) + _secants(forces, h, z1, True, values[_TILDE])
    for s in range(values.shape[1]):
        values[_MEAN, s] = 0.5 * (values[_START, s] + values[_END, s])
        values[_CHANGE, s] = values[_END, s] - values[_START, s]
        values[_TILDE, s] = values[_MEAN, s] - (values[_TILDE, s] - values[_START_RATE, s]) / 12.0
    for i in range(r.shape[0]):
        for k in range(r.shape[1]):
            r[i, k], w[i, k] = 0.5 * (z0[0, i, k] + z1[0, i, k]), 0.5 * (z0[1, i, k] + z1[1, i, k])
            out[0, i, k] = w[i, k]
    bent, room = vectors[_FIRST], vectors[_SECOND]
    _product(forces, values[_MEAN], w, room)
    _add_scaled(forces, 1.0 / 12.0, room, out[0])
    _product(forces, values[_CHANGE], r, room)
    _add_scaled(forces, 1.0 / 12.0, room, out[0])
    _product(forces, values[_TILDE], r, bent)
    _product(forces, values[_TILDE], bent, out[1])
    _product(forces, values[_CHANGE], w, room)
    for i in range(r.shape[0]):
        for k in range(r.shape[1]):
            out[1, i, k] = -bent[i, k] - (out[1, i, k] + room[i, k]) / 12.0
    if not forces.loaded:
        return check
    mean, after = vectors[_LEFT], vectors[_OUTER1]
    check += _from_outside(forces, h, z1[0], after)
    for i in range(r.shape[0]):
        for k in range(r.shape[1]):
            out[0, i, k] -= (after[i, k] - vectors[_OUTER0, i, k]) / 12.0
            mean[i, k] = 0.5 * (after[i, k] + vectors[_OUTER0, i, k])
            ends[2, i, k], ends[3, i, k] = z1[0, i, k], z1[1, i, k]
    _product(forces, values[_MEAN], mean, room)
    _add_scaled(forces, 1.0 / 12.0, room, out[1])
    for point in range(len(scheme.outer_positions)):
        combine(forces, scheme.outer_positions, point, 1.0, 2, 2, ends, vectors[POSITION])
        check += _from_outside(forces, h, vectors[POSITION], room)
        _add_scaled(forces, scheme.outer_moments[0, point], room, out[1])
    return check


@formula
def _set_ends(scheme, forces, rooms, h, z1):
    """Set what the interpolant needs of the end of a step, and of its start what depends on that."""
    known, ends, jerk0, check = scheme.known, rooms.ends, rooms.jerk, 0.0
    for i in range(jerk0.shape[0]):
        for k in range(jerk0.shape[1]):
            ends[known, i, k], ends[known + 1, i, k] = z1[0, i, k], z1[1, i, k]
    if known > 2:
        check += accelerate(forces, h * h, z1[0], ends[known + 2])
    if known > 3:
        check += _write_jerk(forces, rooms, h, z1, ends[7])
        for i in range(jerk0.shape[0]):
            for k in range(jerk0.shape[1]):
                ends[3, i, k] = jerk0[i, k]
        if forces.loaded:
            for point in range(len(scheme.quintic)):
                combine(forces, scheme.quintic, point, 1.0, 3, 4, ends, rooms.vectors[POSITION])
                check += _from_outside(forces, h, rooms.vectors[POSITION], rooms.outer[point])
            for point in range(len(scheme.quintic)):
                _add_scaled(forces, scheme.slopes[0, point], rooms.outer[point], ends[3])
                _add_scaled(forces, scheme.slopes[1, point], rooms.outer[point], ends[7])
    return check


@formula
def _set_moments(scheme, forces, rooms, h):
    """Set the moments of h² 𝓕, and of the accelerations from outside."""
    known, position, check = scheme.known, rooms.vectors[POSITION], 0.0
    for point in range(len(scheme.positions)):
        combine(forces, scheme.positions, point, 1.0, known, known, rooms.ends, position)
        check += write(forces.secant, position, position, rooms.values[point])
    for m in range(known):
        for s in range(rooms.moments.shape[1]):
            total = 0.0
            for point in range(len(scheme.positions)):
                total += scheme.moments[m, point] * rooms.values[point, s]
            rooms.moments[m, s] = h * h * total
    if forces.loaded:
        for point in range(len(scheme.outer_positions)):
            combine(forces, scheme.outer_positions, point, 1.0, known, known, rooms.ends, position)
            check += _from_outside(forces, h, position, rooms.outer[point])
        for m in range(known):
            for i in range(position.shape[0]):
                for k in range(position.shape[1]):
                    rooms.outer_moments[m, i, k] = 0.0
            for point in range(len(scheme.outer_positions)):
                _add_scaled(forces, scheme.outer_moments[m, point], rooms.outer[point], rooms.outer_moments[m])
    return check


@formula
def _apply_words(scheme, forces, rooms, z0, z1, out):
    """Write C (r, w), as `symplex.time.conserving.cayley_words.apply_words`."""
    x, left, room = rooms.x, rooms.vectors[_LEFT], rooms.vectors[_FIRST]
    for gain in range(2):
        for i in range(left.shape[0]):
            for k in range(left.shape[1]):
                x[gain, i, k] = 0.5 * (z0[gain, i, k] + z1[gain, i, k])
                out[gain, i, k] = 0.0
    for p in range(len(scheme.products)):
        m, source = scheme.products[p, 0] - 1, scheme.products[p, 1]
        _product(forces, rooms.moments[m], x[source], x[2 + p])
        if source == 0 and forces.loaded:
            _add_scaled(forces, -1.0, rooms.outer_moments[m], x[2 + p])
    for t in range(len(scheme.terms)):
        _add_scaled(forces, scheme.term_factors[t], x[scheme.terms[t, 1]], out[scheme.terms[t, 0]])
    t = 0
    while t < len(scheme.last):
        gain, m = scheme.last[t, 0], scheme.last[t, 1]
        for i in range(left.shape[0]):
            for k in range(left.shape[1]):
                left[i, k] = 0.0
        while t < len(scheme.last) and scheme.last[t, 0] == gain and scheme.last[t, 1] == m:
            _add_scaled(forces, scheme.last_factors[t], x[scheme.last[t, 2]], left)
            t += 1
        _product(forces, rooms.moments[m - 1], left, room)
        _add_scaled(forces, 1.0, room, out[gain])


_EVALUATE = {MIDDLE: _evaluate_middle, ENDS: _evaluate_middle, HERMITE: _evaluate_hermite, CAYLEY: _evaluate_cayley}


def evaluation(scheme: SmallScheme, forces: SmallForces, rooms: SmallRooms) -> int:
    """Return the address of what evaluates a kind of scheme, compiled if need be; see `begin_step` and `add_step`."""
    state = types.float64[:, :, ::1]
    arguments = *map(typeof, (scheme, forces, rooms)), types.float64, state, state, types.float64[:, ::1], state
    return address_of(_EVALUATE[scheme.kind], types.boolean, *arguments)
