"""What the schemes of Graham and Jelenić add in a step, in one compiled loop for all of them.

Loads, a consistent mass, and energies without loops or whose stencils change have no compiled form, and are called
back. So are all forces of large systems, which the loops of many elements find on several threads.
"""

from __future__ import annotations

from collections.abc import Set
from functools import cache

import numpy as np
from numba import typeof, types

from symplex.fem.assembly import forms
from symplex.fem.compiled.call import address_of, call_back, call_kernel, call_writing_kernel
from symplex.fem.compiled.kernels import addressed_formula, uncounted_formula as formula, uncounted_kernel as kernel
from symplex.fem.compiled.records import Indices, Integer, Matrices, Numbers, Record, Rows
from symplex.fem.compiled.secant_product import secant_product
from symplex.fem.form_table import Table, form_table, write
from symplex.fem.system import System
from symplex.time.conserving.scheme_table import CAYLEY, ENDS, HERMITE, MIDDLE, SchemeTable

# Vectors [n, dim] that loops write to: the position and h × the velocity in question, which also are to be called back
# with, and what forces make of them; and others.
POSITION, RATE, RESULT, _FIRST, _SECOND, _LEFT, _OUTER0, _OUTER1 = range(8)
# What is called back: 𝓕 and its rate, all accelerations, those from outside, by the place, and M⁻¹ of forces.
CALL_SECANTS, CALL_RATES, CALL_ACCELERATIONS, CALL_OUTSIDE, CALL_MASS, KINDS = range(6)
_MOST_NODES = 5000  # of a system for compiled loops alone: beyond that calls from Python take no time next to
START, END, POINTS = range(3)  # places where accelerations from outside are looked for: Gauss points are the last
# Values [nnz]: of 𝓕 at both ends and of its rate, and what is made of them.
_START, _START_RATE, _END, _MEAN, _CHANGE, _TILDE = range(6)


class SchemeForces(Record):
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
    loaded : int
        Whether there are any of these.
    secant, secant_rate : Table
        𝓕 and its rate, of all others.
    in_python, is_lumped : int
        Whether forces are called back, and whether the mass is lumped; if not, M⁻¹ is.
    back : int
        The address of what is called back.
    multiply, add, combine : int
        The addresses of loops that are called in many places, where they would be compiled once more in each.
    """

    inverse_mass: Rows
    indptr: Indices
    indices: Indices
    force: Table
    gradient: Table
    outer: Table
    loaded: Integer
    secant: Table
    secant_rate: Table
    in_python: Integer
    is_lumped: Integer
    back: Integer
    multiply: Integer
    add: Integer
    combine: Integer


class SchemeRooms(Record):
    """Arrays that the loops write to.

    Attributes
    ----------
    vectors, ends, x : float64 [8, n, dim], [8, n, dim], [2 + p, n, dim]
    jerk : float64 [n, dim]
        At the start of the step.
    outer, outer_moments : float64 [points, n, dim], [known, n, dim]
    values, moments : float64 [points, nnz], [known, nnz]
    found : float64 [nnz]
        What is called back writes to.
    """

    vectors: Matrices
    ends: Matrices
    x: Matrices
    jerk: Rows
    outer: Matrices
    outer_moments: Matrices
    values: Rows
    moments: Rows
    found: Numbers


def has_loops(system: System) -> bool:
    """Return whether a system has nothing but energies and lumped masses, and is a small one."""
    alone = not (system.loads or system.inelastic or system.moving or system.changing or system.collision_checked)
    return alone and system.is_lumped and not system.massless.any() and system.n_nodes <= _MOST_NODES


def scheme_forces(
    system: System,
    back: int = 0,
    *,
    secant: Set[str] = frozenset(),
    external: Set[str] = frozenset(),
    form: forms.Form = forms.GRADIENT,
) -> SchemeForces | None:
    """Return a system's forces; None if some are to be called back and cannot be.

    Parameters
    ----------
    system : System
    back : int
        The address of what may be called back.
    secant, external : set of str
        Energies of which there is 𝓕, and those that act like loads.
    form : Form
        Of the forces of schemes of second order.
    """
    asked = (form, None), (forms.GRADIENT, None), (forms.GRADIENT, external)
    asked = *asked, (forms.SECANT, secant), (forms.SECANT_RATE, secant)
    found = [form_table(system, *one) for one in asked] if has_loops(system) else []
    in_python = not found or None in found
    if in_python and not back:
        return None
    if in_python:  # none of no energies is called back
        found = [form_table(system, one, set()) for one, _ in asked]
    tables = [table for table in found if table is not None]
    free = np.where(system.fixed, 0.0, 1.0)
    inverse_mass = free / np.asarray(system.mass)[:, None] if system.is_lumped else free
    pattern, loaded = system.pattern, bool(external or system.loads)
    places = {"indptr": pattern.indptr, "indices": pattern.indices, "inverse_mass": inverse_mass}
    forces = dict(zip(("force", "gradient", "outer", "secant", "secant_rate"), tables, strict=True))
    kinds = {"loaded": loaded, "in_python": in_python, "is_lumped": system.is_lumped, "back": back}
    return SchemeForces(**places, **forces, **kinds, **dict(zip(("multiply", "add", "combine"), _loops(), strict=True)))


@cache
def _loops() -> tuple[int, int, int]:
    """Return the addresses of the loops that products, sums and interpolants are, which are compiled if need be."""
    x, numbers, places, index = types.float64[:, ::1], types.float64[::1], types.int32[::1], types.int64
    return (
        address_of(secant_product, places, places, numbers, x, x, x),
        address_of(_add_to, types.float64, x, x),
        address_of(_combine, x, index, types.float64, index, index, types.float64[:, :, ::1], x),
    )


def scheme_rooms(scheme: SchemeTable, system: System) -> SchemeRooms:
    """Return room for a scheme."""
    shape, nnz = (system.n_nodes, system.dim), len(system.pattern.indices)
    points = max(len(scheme.outer_positions), len(scheme.quintic), 1)
    return SchemeRooms(
        vectors=np.zeros((8, *shape)),
        ends=np.zeros((8, *shape)),
        x=np.zeros((2 + len(scheme.products), *shape)),
        jerk=np.zeros(shape),
        outer=np.zeros((points, *shape)),
        outer_moments=np.zeros((scheme.known, *shape)),
        values=np.zeros((max(len(scheme.positions), 6), nnz)),
        moments=np.zeros((scheme.known, nnz)),
        found=np.zeros(nnz),
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


@kernel
def evaluate(address, begins, scheme, forces, rooms, h, z0, z1, a0, out):
    """Do as `begin_step` or `add_step`, from Python."""
    return call_kernel(address, (begins, scheme, forces, rooms, h, z0, z1, a0, out))


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
def _copy(x, out):
    """Copy x [n, dim] to out."""
    for i in range(out.shape[0]):
        for k in range(out.shape[1]):
            out[i, k] = x[i, k]


@formula
def _look_at(rooms, z):
    """Let the state z [2, n, dim] be that in question."""
    _copy(z[0], rooms.vectors[POSITION])
    _copy(z[1], rooms.vectors[RATE])


@formula
def _look_at_point(forces, rooms, positions, rates, point, known, stride):
    """Let the state at a point of the step be that in question."""
    combine(forces, positions, point, 1.0, known, stride, rooms.ends, rooms.vectors[POSITION])
    if forces.in_python:
        combine(forces, rates, point, 0.0, known, stride, rooms.ends, rooms.vectors[RATE])


@formula
def _product(forces, rooms, values, x, out):
    """Write M⁻¹ 𝓕 x to out; return a number that is finite if that was possible."""
    pattern = forces.indptr, forces.indices
    call_writing_kernel(forces.multiply, (*pattern, values, x, forces.inverse_mass, out))
    if forces.is_lumped:
        return 0.0
    _copy(out, rooms.vectors[RESULT])
    return _called_back(forces, rooms, CALL_MASS, out)


@formula
def _called_back(forces, rooms, number, out):
    """Call back, and copy the result to out [n, dim]; return a number that is finite if it was possible."""
    if call_back(forces.back, number):
        return np.nan
    _copy(rooms.vectors[RESULT], out)
    return 0.0


@formula
def accelerate(forces, factor, q, out):
    """Write `factor` times the accelerations at q [n, dim] to out; return a number that is finite if all are."""
    check = write(forces.gradient, q, q, out)
    _scale(-factor, forces.inverse_mass, out)
    return check


@formula
def _accelerate(forces, rooms, h, z, out):
    """Write h² times the accelerations at the end z [2, n, dim] of a step to out; return as `accelerate`."""
    if not forces.in_python:
        return accelerate(forces, h * h, z[0], out)
    _look_at(rooms, z)
    return _called_back(forces, rooms, CALL_ACCELERATIONS, out)


@formula
def _from_outside(forces, rooms, h, place, out):
    """Write h² times the accelerations of what acts from outside at the state in question, of a place, to out.

    Return as `accelerate`.
    """
    if forces.in_python:
        return _called_back(forces, rooms, KINDS * place + CALL_OUTSIDE, out)
    check = write(forces.outer, rooms.vectors[POSITION], rooms.vectors[POSITION], out)
    _scale(-h * h, forces.inverse_mass, out)
    return check


@formula
def _secants(forces, rooms, h, of_rate, out):
    """Write h² 𝓕, or its rate, at the state in question to out [nnz]; return as `accelerate`."""
    if forces.in_python:
        if call_back(forces.back, CALL_RATES if of_rate else CALL_SECANTS):
            return np.nan
        for s in range(len(out)):
            out[s] = h * h * rooms.found[s]
        return 0.0
    if of_rate:
        check = write(forces.secant_rate, rooms.vectors[POSITION], rooms.vectors[RATE], out)
    else:
        check = write(forces.secant, rooms.vectors[POSITION], rooms.vectors[POSITION], out)
    for s in range(len(out)):
        out[s] *= h * h
    return check


@formula
def _write_jerk(forces, rooms, h, z, out):
    """Write −h³ d(M⁻¹𝓕 r)/dt at a state z [2, n, dim] to out; return as `accelerate`."""
    values, room = rooms.values[_START], rooms.vectors[_FIRST]
    _look_at(rooms, z)
    check = _secants(forces, rooms, h, False, values)
    check += _product(forces, rooms, values, z[1], out)
    check += _secants(forces, rooms, h, True, values)
    check += _product(forces, rooms, values, z[0], room)
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
    _look_at(rooms, z0)
    check = _secants(forces, rooms, h, False, rooms.values[_START])
    check += _secants(forces, rooms, h, True, rooms.values[_START_RATE])
    if forces.loaded:
        check += _from_outside(forces, rooms, h, START, rooms.vectors[_OUTER0])
    _copy(z0[0], rooms.ends[0])
    _copy(z0[1], rooms.ends[1])
    return check


@addressed_formula
def _evaluate_cayley(begins, scheme, forces, rooms, h, z0, z1, a0, out):
    """Do as `begin_step` or `add_step` for Cayley's transform."""
    if not begins:
        check = _set_ends(scheme, forces, rooms, h, z1)
        check += _set_moments(scheme, forces, rooms, h)
        return check + _apply_words(scheme, forces, rooms, z0, z1, out)
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
    _look_at(rooms, z1)
    check = _secants(forces, rooms, h, False, values[_END]) + _secants(forces, rooms, h, True, values[_TILDE])
    for s in range(values.shape[1]):
        values[_MEAN, s] = 0.5 * (values[_START, s] + values[_END, s])
        values[_CHANGE, s] = values[_END, s] - values[_START, s]
        values[_TILDE, s] = values[_MEAN, s] - (values[_TILDE, s] - values[_START_RATE, s]) / 12.0
    for i in range(r.shape[0]):
        for k in range(r.shape[1]):
            r[i, k], w[i, k] = 0.5 * (z0[0, i, k] + z1[0, i, k]), 0.5 * (z0[1, i, k] + z1[1, i, k])
            out[0, i, k] = w[i, k]
    bent, room = vectors[_FIRST], vectors[_SECOND]
    check += _product(forces, rooms, values[_MEAN], w, room)
    _add_scaled(forces, 1.0 / 12.0, room, out[0])
    check += _product(forces, rooms, values[_CHANGE], r, room)
    _add_scaled(forces, 1.0 / 12.0, room, out[0])
    check += _product(forces, rooms, values[_TILDE], r, bent)
    check += _product(forces, rooms, values[_TILDE], bent, out[1])
    check += _product(forces, rooms, values[_CHANGE], w, room)
    for i in range(r.shape[0]):
        for k in range(r.shape[1]):
            out[1, i, k] = -bent[i, k] - (out[1, i, k] + room[i, k]) / 12.0
    if not forces.loaded:
        return check
    mean, after = vectors[_LEFT], vectors[_OUTER1]
    check += _from_outside(forces, rooms, h, END, after)
    for i in range(r.shape[0]):
        for k in range(r.shape[1]):
            out[0, i, k] -= (after[i, k] - vectors[_OUTER0, i, k]) / 12.0
            mean[i, k] = 0.5 * (after[i, k] + vectors[_OUTER0, i, k])
    _copy(z1[0], ends[2])
    _copy(z1[1], ends[3])
    check += _product(forces, rooms, values[_MEAN], mean, room)
    _add_scaled(forces, 1.0 / 12.0, room, out[1])
    for point in range(len(scheme.outer_positions)):
        _look_at_point(forces, rooms, scheme.outer_positions, scheme.outer_rates, point, 2, 2)
        check += _from_outside(forces, rooms, h, POINTS + point, room)
        _add_scaled(forces, scheme.outer_moments[0, point], room, out[1])
    return check


@formula
def _set_ends(scheme, forces, rooms, h, z1):
    """Set what the interpolant needs of the end of a step, and of its start what depends on that."""
    known, ends, check = scheme.known, rooms.ends, 0.0
    _copy(z1[0], ends[known])
    _copy(z1[1], ends[known + 1])
    if known > 2:
        check += _accelerate(forces, rooms, h, z1, ends[known + 2])
    if known > 3:
        check += _write_jerk(forces, rooms, h, z1, ends[7])
        _copy(rooms.jerk, ends[3])
        if forces.loaded:
            first = POINTS + len(scheme.outer_positions)
            for point in range(len(scheme.quintic)):
                _look_at_point(forces, rooms, scheme.quintic, scheme.quintic_rates, point, 3, 4)
                check += _from_outside(forces, rooms, h, first + point, rooms.outer[point])
            for point in range(len(scheme.quintic)):
                _add_scaled(forces, scheme.slopes[0, point], rooms.outer[point], ends[3])
                _add_scaled(forces, scheme.slopes[1, point], rooms.outer[point], ends[7])
    return check


@formula
def _set_moments(scheme, forces, rooms, h):
    """Set the moments of h² 𝓕, and of the accelerations from outside."""
    known, check = scheme.known, 0.0
    for point in range(len(scheme.positions)):
        combine(forces, scheme.positions, point, 1.0, known, known, rooms.ends, rooms.vectors[POSITION])
        check += _secants(forces, rooms, h, False, rooms.values[point])
    for m in range(known):
        total = rooms.moments[m]
        for s in range(len(total)):
            total[s] = 0.0
        for point in range(len(scheme.positions)):
            factor = scheme.moments[m, point]
            for s in range(len(total)):
                total[s] += factor * rooms.values[point, s]
    if forces.loaded:
        for point in range(len(scheme.outer_positions)):
            _look_at_point(forces, rooms, scheme.outer_positions, scheme.outer_rates, point, known, known)
            check += _from_outside(forces, rooms, h, POINTS + point, rooms.outer[point])
        for m in range(known):
            total = rooms.outer_moments[m]
            for i in range(total.shape[0]):
                for k in range(total.shape[1]):
                    total[i, k] = 0.0
            for point in range(len(scheme.outer_positions)):
                _add_scaled(forces, scheme.outer_moments[m, point], rooms.outer[point], total)
    return check


@formula
def _apply_words(scheme, forces, rooms, z0, z1, out):
    """Write C (r, w) to out [2, n, dim], the affine column of forces included; return as `accelerate`.

    The moments of h² M⁻¹ f belong to every −H_k r at the right end of a word.
    """
    check = 0.0
    x, left, room = rooms.x, rooms.vectors[_LEFT], rooms.vectors[_FIRST]
    for gain in range(2):
        for i in range(left.shape[0]):
            for k in range(left.shape[1]):
                x[gain, i, k] = 0.5 * (z0[gain, i, k] + z1[gain, i, k])
                out[gain, i, k] = 0.0
    for p in range(len(scheme.products)):
        m, source = scheme.products[p, 0] - 1, scheme.products[p, 1]
        check += _product(forces, rooms, rooms.moments[m], x[source], x[2 + p])
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
        check += _product(forces, rooms, rooms.moments[m - 1], left, room)
        _add_scaled(forces, 1.0, room, out[gain])
    return check


_EVALUATE = {MIDDLE: _evaluate_middle, ENDS: _evaluate_middle, HERMITE: _evaluate_hermite, CAYLEY: _evaluate_cayley}


def evaluation(scheme: SchemeTable, forces: SchemeForces, rooms: SchemeRooms) -> int:
    """Return the address of what evaluates a kind of scheme, compiled if need be; see `begin_step` and `add_step`."""
    state = types.float64[:, :, ::1]
    arguments = *map(typeof, (scheme, forces, rooms)), types.float64, state, state, types.float64[:, ::1], state
    return address_of(_EVALUATE[scheme.kind], types.boolean, *arguments)
