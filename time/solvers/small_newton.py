"""Newton's method for the steps of small systems, all of it compiled.

It is that of `symplex.time.solvers.newton` as long as that takes whole corrections: the same residual, norms, floors
and criteria. Where one does not help, or forces are not finite, there is no increment: the step is begun anew by the
general method, which halves corrections, follows roots, and says why a step fails.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from symplex.fem.assembly import Array, IntArray
from symplex.fem.gradient_table import FormTable, form_table, gradient_table, write_derivative, write_forces
from symplex.fem.kernels import formula
from symplex.fem.system import System
from symplex.time.solvers.kept_factors import KeptFactors, factorise, kept_factors, products, substitute
from symplex.time.solvers.linear import SMALL
from symplex.time.solvers.newton import DESCENT, EPS, FALLING, FLOOR, STAGNATION, residual, tangent

_PRODUCTS = 20_000  # of blocks in a factorisation, at most: beyond that a library's dense or sparse factors are faster


class SmallSystem(NamedTuple):
    """A system as compiled Newton iterations take it.

    Attributes
    ----------
    constant : float64 [n, dim]
    rows : int64 [k, 9]
    form
        See `symplex.fem.gradient_table`.
    mass, mass_values : float64 [n], [nnz]
        In kg, of nodes and on the pattern.
    fixed : bool [n, dim]
    indptr, indices : int32 [n + 1], [nnz]
        The pattern.
    """

    constant: Array
    rows: NDArray[np.int64]
    form: FormTable
    mass: Array
    mass_values: Array
    fixed: NDArray[np.bool_]
    indptr: IntArray
    indices: IntArray


class Room(NamedTuple):
    """What compiled Newton iterations write to: vectors [n, dim] and blocks [nnz, dim, dim].

    The increment and the forces of the last one are its result.
    """

    increment: Array
    forces: Array
    residual: Array
    correction: Array
    trial: Array
    trial_forces: Array
    trial_residual: Array
    middle: Array
    blocks: Array


class SmallNewton(NamedTuple):
    """All that belongs to the Newton iterations of a small system; `arrays` are those behind addresses in it."""

    system: SmallSystem
    factors: KeptFactors
    room: Room
    arrays: tuple[Array | IntArray, ...]


def small_newton(system: System, by_ends: bool) -> SmallNewton | None:
    """Return what belongs to compiled iterations for (discrete, if ``by_ends``) gradients of a system, if it is for them.

    It is for lumped masses without loads, and energies of laws of measures and constant forces on a pattern whose
    factors are small.
    """
    size = system.n_nodes * system.dim
    if size > SMALL or not system.is_lumped or system.massless.any() or system.changing or system.impassable:
        return None
    if system.loads or system.inelastic or system.moving:
        return None
    table = gradient_table(system)
    if table is None:
        return None
    pattern = system.pattern
    factors = kept_factors(pattern)
    if products(factors) > _PRODUCTS:
        return None
    mass, form = np.array(system.mass), form_table(system, by_ends)
    # Copies, so that addresses and layouts are those of arrays that nothing else changes.
    fixed, indptr, indices = np.array(system.fixed), pattern.indptr.copy(), pattern.indices.copy()
    small = SmallSystem(
        table.constant, table.rows, form, mass, np.array(system.mass_values), fixed, indptr, indices
    )
    vectors = (np.zeros((system.n_nodes, system.dim)) for _ in range(8))
    room = Room(*vectors, pattern.zeros(system.dim))
    return SmallNewton(small, factors, room, table.arrays)


@formula
def _evaluate(system, room, scheme, q):
    """Set the forces and the residual of the trial increment; return the norm of the residual."""
    trial, middle, forces = room.trial, room.middle, room.trial_forces
    for i in range(q.shape[0]):
        for k in range(q.shape[1]):
            middle[i, k] = q[i, k] + scheme.alpha * trial[i, k]
    check = write_forces(system.constant, system.rows, system.form, scheme.by_ends, q, middle, forces)
    if not np.isfinite(check):
        return np.inf
    return np.sqrt(
        residual(
            scheme.inertia,
            system.mass,
            trial,
            scheme.impulse,
            forces,
            scheme.momentum,
            system.fixed,
            system.mass,
            room.trial_residual,
        )
    )


@formula
def _linearise(system, factors, room, scheme, q):
    """Factorise the tangent matrix; return the floor of the residual's norm, −1 if it has no factors."""
    middle, blocks = room.middle, room.blocks
    for i in range(q.shape[0]):
        for k in range(q.shape[1]):
            middle[i, k] = q[i, k] + scheme.alpha * room.increment[i, k]
    write_derivative(system.rows, system.form, scheme.by_ends, q, middle, blocks)
    blocks *= scheme.alpha
    squared = tangent(
        scheme.inertia,
        scheme.inertia,
        system.mass_values,
        scheme.impulse,
        room.forces,
        scheme.momentum,
        room.increment,
        q,
        system.mass,
        system.fixed,
        system.indptr,
        system.indices,
        blocks,
    )
    if not np.isfinite(squared) or not factorise(factors, blocks):
        return -1.0
    return FLOOR * EPS * np.sqrt(squared)


@formula
def _accept(room):
    for i in range(room.trial.shape[0]):
        for k in range(room.trial.shape[1]):
            room.increment[i, k] = room.trial[i, k]
            room.forces[i, k] = room.trial_forces[i, k]
            room.residual[i, k] = room.trial_residual[i, k]


@formula
def find_increment(system, factors, room, scheme, q, limit):
    """Find the increment from q [n, dim] by whole corrections; return their number and that of matrices.

    The first is −1 if there is none.

    Parameters
    ----------
    system, factors, room
        Those of a `SmallNewton`.
    scheme
        With the attributes ``inertia``, ``impulse``, ``momentum``, ``symmetric`` of
        `symplex.time.solvers.newton.StepEquations` (momentum: its constant), ``alpha``, at which part of the increment
        forces are, and ``by_ends``, whether they are discrete gradients from q to there.
    q : float64 [n, dim]
    limit : int
        Corrections after which there is none.
    """
    room.trial[...] = 0.0
    norm = _evaluate(system, room, scheme, q)
    if not np.isfinite(norm):
        return -1, 0
    _accept(room)
    floor, before = -1.0, np.inf
    corrections, matrices = 0, 0
    while norm > 0.0:
        if norm > floor:
            floor = _linearise(system, factors, room, scheme, q)
            matrices += 1
            if floor < 0.0:
                return -1, matrices
        at_floor = norm <= floor
        if corrections >= limit and not at_floor and norm > FALLING * before:
            return -1, matrices
        substitute(factors, room.residual, room.correction)
        product = 0.0
        for i in range(q.shape[0]):
            for k in range(q.shape[1]):
                room.trial[i, k] = room.increment[i, k] - room.correction[i, k]
                product += room.correction[i, k] * room.residual[i, k]
        if scheme.symmetric and product < 0.0:
            return -1, matrices
        improved = _evaluate(system, room, scheme, q)
        if not improved < (1.0 - DESCENT) * norm:
            if at_floor:
                break
            return -1, matrices
        _accept(room)
        corrections += 1
        if at_floor and improved > STAGNATION * norm:
            break
        before, norm = norm, improved
    return corrections, matrices
