"""Steps of Graham and Jelenić's methods for small systems, many of them in one compiled loop.

It takes the steps that the accelerated iteration solves without factors (`symplex.time.conserving.step_solver`): the
same start, residuals, norms and criteria. A step that this does not solve is begun again by the general method.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple, final

import numpy as np
from numba import types

from symplex.fem.assembly.pattern import Array
from symplex.fem.compiled.call import address_of, call_counting_kernel, call_kernel, call_writing_kernel
from symplex.fem.compiled.kernels import (
    addressed_formula,
    uncounted_formula as formula,
    uncounted_inlined as inlined,
    uncounted_kernel as kernel,
)
from symplex.fem.compiled.records import Counts, Integer, Numbers, Record, Rows, States
from symplex.fem.system import System
from symplex.time.conserving.gauss_interpolant import hermite_weights
from symplex.time.conserving.scheme_loops import (
    SchemeForces,
    SchemeRooms,
    accelerate,
    add_step,
    begin_step,
    combine,
    evaluation,
    scheme_rooms,
)
from symplex.time.conserving.scheme_table import SchemeTable
from symplex.time.conserving.step_solver import (
    DEPTH,
    FLOOR,
    PATIENCE,
    PLAIN_PART,
    accelerated_iteration,
    dot,
    remember,
    take_back,
)
from symplex.time.solvers.compiled_newton import steps_at_once

# States [2, n, dim] that the loop writes to; the last are of sizes, for round-off.
_Z0, _Z, _BEST, _GAIN, _D, _CHANGE, _EFFECT, _SIZE, _LARGER = range(9)
# Of a quintic on [0, 1], at 2: the value and the slope.
AHEAD = np.concatenate([hermite_weights(3, np.array([2.0]), derivative) for derivative in (0, 1)])


class _Solver(Record):
    """What the iteration takes and writes to.

    Attributes
    ----------
    mass : float64 [n]
        The weights of nodes in norms.
    limit, most : int
        Residuals after which a step fails, and after which the general method looks for another way.
    power : int
        Half of the order: of S in what is summed up in a step.
    ahead : float64 [2, 6]
        Weights of the quintic through the last two states.
    states, changes, effects : float64 [9, 2, n, dim], [depth, 2, n, dim]
    seen : int64 [2]
        How many changes were seen, and the residuals.
    evaluate : int
        The address of what evaluates the scheme.
    dot, take_back, remember, iterate, floor : int
        The addresses of loops; what is called by name would be compiled once more.
    """

    mass: Numbers
    limit: Integer
    most: Integer
    power: Integer
    ahead: Rows
    states: States
    changes: States
    effects: States
    seen: Counts
    evaluate: Integer
    dot: Integer
    take_back: Integer
    remember: Integer
    iterate: Integer
    floor: Integer


@final
class ConservingSteps:
    """Steps of a system by a scheme.

    Parameters
    ----------
    system : System
    order : int
    scheme : SchemeTable
    forces : SchemeForces
    limit, most : int
        Residuals after which a step fails, and after which the general method looks for another way.
    """

    def __init__(self, system: System, order: int, scheme: SchemeTable, forces: SchemeForces, limit: int, most: int):
        self._scheme, self._forces = scheme, forces
        self._rooms: SchemeRooms = scheme_rooms(scheme, system)
        self.at_once = max(steps_at_once(system) // 4, 1)
        state = (2, system.n_nodes, system.dim)
        vectors, parts = types.float64[:, ::1], (SchemeForces.type, SchemeRooms.type, _Solver.type)
        self._solver = _Solver(
            mass=np.array(system.mass),
            limit=limit,
            most=most,
            power=order // 2,
            ahead=AHEAD,
            states=np.zeros((9, *state)),
            changes=np.zeros((DEPTH, *state)),
            effects=np.zeros((DEPTH, *state)),
            seen=np.zeros(2, np.int64),
            evaluate=evaluation(scheme, forces, self._rooms),
            **_sums(),
            iterate=address_of(_iterate, types.float64, SchemeTable.type, *parts, vectors, types.float64),
            floor=address_of(_floor, SchemeForces.type, _Solver.type, types.float64[:, :, ::1]),
        )
        self._order = order

    def take(
        self, n: int, h: float, first: bool, magnitudes: Array, arrays: tuple[Array, Array, Array, Array], known: Array
    ) -> tuple[int, int]:
        """Take up to n steps of size h in s; return how many were taken, and the residuals that they took.

        All is before the next one then, which the general method has to take. The first step of a motion has no state
        before it. Magnitudes are the blocks [nnz, dim, dim] of h² |K|, arrays positions, velocities, accelerations and
        those of a step before [3, n, dim], and known is the effort, see
        `symplex.time.conserving.graham_jelenic_motion.GrahamJelenicMotion`.
        """
        counts, smooth = np.zeros(1, np.int64), not first and self._order > 2
        equations = self._scheme, self._forces, self._rooms, self._solver
        taken = _steps(n, h, smooth, *equations, magnitudes, *arrays, known, counts)
        return taken, int(counts[0])


@cache
def _sums() -> dict[str, int]:
    """Return the addresses of `dot`, `take_back` and `remember`, which are compiled if need be."""
    mass, state, states, known = types.float64[::1], types.float64[:, :, ::1], types.float64[:, :, :, ::1], types.int64
    return {
        "dot": address_of(dot, mass, state, state),
        "take_back": address_of(take_back, mass, state, states, states, known, state),
        "remember": address_of(remember, mass, states, states, state, state, known),
    }


@kernel
def _steps(n, h, smooth, scheme, forces, rooms, solver, magnitudes, q, v, a, before, effort, counts):
    """Take n steps; return how many were possible."""
    states = solver.states
    z0, z, best, gain, new = states[_Z0], states[_Z], states[_BEST], states[_GAIN], states[_D]
    for step in range(n):
        if effort[2] > solver.most:
            return step
        for i in range(q.shape[0]):
            for k in range(q.shape[1]):
                z0[0, i, k], z0[1, i, k] = q[i, k], h * v[i, k]
        _predict(h, smooth, forces, solver, rooms, z0, a, before, z)
        if not np.isfinite(begin_step(solver.evaluate, scheme, forces, rooms, h, z0, a)):
            return step
        floor = call_kernel(solver.floor, (forces, solver, magnitudes))
        residuals = call_counting_kernel(solver.iterate, (h, scheme, forces, rooms, solver, a, floor))
        if residuals < 0:
            return step
        add_step(solver.evaluate, scheme, forces, rooms, h, z0, best, a, gain)
        for i in range(q.shape[0]):
            for k in range(q.shape[1]):
                new[0, i, k] = q[i, k] + gain[0, i, k]
        if not np.isfinite(accelerate(forces, 1.0, new[0], new[1])):
            return step
        for i in range(q.shape[0]):
            for k in range(q.shape[1]):
                before[0, i, k], before[1, i, k], before[2, i, k] = q[i, k], v[i, k], a[i, k]
                q[i, k], a[i, k] = new[0, i, k], new[1, i, k]
                v[i, k] += gain[1, i, k] / h
        counts[0] += residuals
        effort[2] = residuals
        if effort[1] == 0.0:
            effort[1] = residuals
    return n


@formula
def _predict(h, smooth, forces, solver, rooms, z0, a, before, out):
    """Write where a motion would be: if smooth, on the quintic through the last two states, or by Taylor's series."""
    ends = rooms.ends
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            bend = 0.5 * h * h * a[i, k]
            out[0, i, k], out[1, i, k] = z0[0, i, k] + (z0[1, i, k] + bend), z0[1, i, k] + 2.0 * bend
            ends[0, i, k], ends[1, i, k], ends[2, i, k] = before[0, i, k], h * before[1, i, k], h * h * before[2, i, k]
            ends[3, i, k], ends[4, i, k], ends[5, i, k] = z0[0, i, k], z0[1, i, k], h * h * a[i, k]
    if smooth:
        combine(forces, solver.ahead, 0, 1.0, 3, 3, ends, out[0])
        combine(forces, solver.ahead, 1, 0.0, 3, 3, ends, out[1])


@addressed_formula
def _floor(forces, solver, magnitudes):
    """Return the norm of residuals that may be round-off: that of what is summed up in a step."""
    size, larger, z0 = solver.states[_SIZE], solver.states[_LARGER], solver.states[_Z0]
    for i in range(size.shape[1]):
        for k in range(size.shape[2]):
            larger[0, i, k], larger[1, i, k] = abs(z0[0, i, k]), abs(z0[1, i, k])
    _multiply(forces, magnitudes, larger[0], size[1])
    for i in range(size.shape[1]):
        for k in range(size.shape[2]):
            size[0, i, k] = larger[0, i, k] + larger[1, i, k]
            size[1, i, k] += larger[1, i, k]
    for _ in range(solver.power - 1):
        for part in range(2):
            _multiply(forces, magnitudes, size[part], larger[part])
        for part in range(2):
            for i in range(size.shape[1]):
                for k in range(size.shape[2]):
                    size[part, i, k] += larger[part, i, k] / 12.0
    return FLOOR * np.sqrt(_dot(solver, size, size))


@formula
def _multiply(forces, magnitudes, x, out):
    """Write |S| x for x ≥ 0 [n, dim]."""
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            total = 0.0
            for s in range(forces.indptr[i], forces.indptr[i + 1]):
                for m in range(x.shape[1]):
                    total += magnitudes[s, k, m] * x[forces.indices[s], m]
            out[i, k] = total * forces.inverse_mass[i, k]


class _Equations(NamedTuple):
    """The equations of a step from a state with the accelerations a."""

    h: float
    scheme: SchemeTable
    forces: SchemeForces
    rooms: SchemeRooms
    solver: _Solver
    a: Array


@inlined
def _residual(p):
    """Set the correction to −g(z); return its norm, infinite where forces are not defined."""
    solver, out = p.solver, p.solver.states[_D]
    z0, z, gain = solver.states[_Z0], solver.states[_Z], solver.states[_GAIN]
    check = add_step(solver.evaluate, p.scheme, p.forces, p.rooms, p.h, z0, z, p.a, gain)
    solver.seen[1] += 1
    for part in range(2):
        for i in range(out.shape[1]):
            for k in range(out.shape[2]):
                out[part, i, k] = -(z[part, i, k] - z0[part, i, k] - gain[part, i, k])
    return np.sqrt(_dot(solver, out, out)) if np.isfinite(check) else np.inf


@inlined
def _keep(p):
    """Keep z as the best."""
    _copy(p.solver.states[_Z], p.solver.states[_BEST])


@inlined
def _advance(p):
    """Go on to the next z; return the norm of the residual, and of the correction, which is the same."""
    solver, states = p.solver, p.solver.states
    z, d, change, effect = states[_Z], states[_D], states[_CHANGE], states[_EFFECT]
    _copy(d, change)
    known = solver.changes, solver.effects, min(solver.seen[0], DEPTH)
    call_writing_kernel(solver.take_back, (solver.mass, d, *known, change))
    for part in range(2):
        for i in range(z.shape[1]):
            for k in range(z.shape[2]):
                z[part, i, k] += change[part, i, k]
                effect[part, i, k] = -d[part, i, k]
    norm = _residual(p)
    for part in range(2):
        for i in range(z.shape[1]):
            for k in range(z.shape[2]):
                effect[part, i, k] += d[part, i, k]
    return norm, norm


@inlined
def _remember(p):
    """Keep the last change, and what it has made of the correction."""
    solver, states = p.solver, p.solver.states
    pairs = solver.changes, solver.effects, states[_CHANGE], states[_EFFECT], solver.seen[0]
    solver.seen[0] += call_counting_kernel(solver.remember, (solver.mass, *pairs))


_run = inlined(accelerated_iteration(_keep, _advance, _remember))


@addressed_formula
def _iterate(h, scheme, forces, rooms, solver, a, floor):
    """Find the end of a step from where the iteration begins; return the number of residuals, −1 if it is not found."""
    p = _Equations(h, scheme, forces, rooms, solver, a)
    solver.seen[0], solver.seen[1] = 0, 0
    norm = _residual(p)
    if not np.isfinite(norm):
        return -1
    left = min(PATIENCE, solver.limit - 1)
    return solver.seen[1] if _run(p, norm, norm, np.inf, 0, left, floor, PLAIN_PART * floor)[0] else -1


@formula
def _dot(solver, a, b):
    return call_kernel(solver.dot, (solver.mass, a, b))


@formula
def _copy(x, out):
    for part in range(x.shape[0]):
        for i in range(x.shape[1]):
            for k in range(x.shape[2]):
                out[part, i, k] = x[part, i, k]
