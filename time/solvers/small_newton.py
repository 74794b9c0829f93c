"""Newton's method for the steps of small systems, all of it compiled.

It is that of `symplex.time.solvers.newton` as long as that takes whole corrections: the same residual, norms, floors
and criteria. Where one does not help, forces are not finite, or the root may not be the one that small steps lead to,
there is no increment: the step is begun anew by the general method, which halves corrections, follows roots, and says
why a step fails.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from symplex.fem import forms
from symplex.fem.assembly import Array, IntArray
from symplex.fem.gradient_table import Table, form_table, write
from symplex.fem.kernels import addressed_formula, uncounted_formula as formula
from symplex.fem.load_table import LoadLoops, LoadTable, load_loops, subtract_load_derivatives, write_load
from symplex.fem.system import System
from symplex.time.solvers.kept_factors import KeptFactors, factorise, is_definite, kept_factors, products, substitute
from symplex.time.solvers.newton import DESCENT, EPS, FALLING, FLOOR, SHORTER, STAGNATION
from symplex.time.solvers.step_equations import residual, tangent

KEPT_SIZE, KEPT_FLOOR = range(2)  # numbers of kept factors: the size of their step in s, and the floor there
_FAST = 0.1  # of the residual, for a correction by kept factors
_WORK_AT_ONCE = 20_000  # stencils and nodes in a compiled loop, which hears no signal: some 20 ms
_PRODUCTS = 20_000  # of blocks in a factorisation, at most: beyond that a library's dense or sparse factors are faster


class SmallSystem(NamedTuple):
    """A system as compiled Newton iterations take it.

    Attributes
    ----------
    forces, tangent
        Of energies and of their derivative; see `symplex.fem.gradient_table`.
    loads
        See `symplex.fem.load_table`.
    mass, mass_values : float64 [n], [nnz]
        In kg, of nodes and on the pattern.
    fixed : bool [n, dim]
    indptr, indices : int32 [n + 1], [nnz]
        The pattern.
    symmetric : bool
        Whether the matrix of a step is.
    """

    forces: Table
    tangent: Table
    loads: LoadTable
    mass: Array
    mass_values: Array
    fixed: NDArray[np.bool_]
    indptr: IntArray
    indices: IntArray
    symmetric: bool


# Vectors [n, dim] that compiled Newton iterations write to, as places in one array: the increment, its forces and its
# residual, those of the trial increment, the correction, and positions. Then the velocities that loads see without an
# increment, those that they see with it, the positions that they see, and the forces of one load.
INCREMENT, FORCES, _RESIDUAL, _TRIAL, _TRIAL_FORCES, _TRIAL_RESIDUAL, _CORRECTION, _POSITIONS = range(8)
VELOCITIES, SEEN_VELOCITIES, SEEN_POSITIONS, LOAD = range(8, 12)


class SmallNewton(NamedTuple):
    """All that belongs to the Newton iterations of a small system.

    Attributes
    ----------
    system : SmallSystem
    factors : KeptFactors
    vectors : float64 [12, n, dim]
        The increment that was found in m, the forces there in N, and others.
    blocks : float64 [nnz, dim, dim]
    loads : LoadLoops
        Of the system.
    """

    system: SmallSystem
    factors: KeptFactors
    vectors: Array
    blocks: Array
    loads: LoadLoops


def steps_at_once(system: System) -> int:
    """Return how many steps to take in one call of a compiled loop."""
    stencils = sum(len(energy.nodes) for energy in system.energies.values())
    stencils += sum(load.nodes.size for load in system.differentiable_loads)
    return max(_WORK_AT_ONCE // (stencils + 10 * system.n_nodes), 1)


def small_newton(system: System, by_ends: bool) -> SmallNewton | None:
    """Return what compiled iterations for (discrete, if ``by_ends``) gradients take of a system, if it is for them.

    It is for lumped masses, energies and loads with compiled loops, and constant forces, on a pattern whose factors are
    small.
    """
    if (
        system.n_nodes > _PRODUCTS
        or not system.is_lumped
        or system.massless.any()
        or system.changing
        or system.impassable
    ):
        return None
    if system.inelastic or system.moving or (loads := load_loops(system, derivatives=True)) is None:
        return None
    forces = form_table(system, forms.DISCRETE_GRADIENT if by_ends else forms.GRADIENT)
    if forces is None:
        return None
    pattern = system.pattern
    if len(pattern.indices) - system.n_nodes > _PRODUCTS:  # at least so many, without looking for what fills in
        return None
    factors = kept_factors(pattern)
    if products(factors) > _PRODUCTS:
        return None
    mass, tangent = np.array(system.mass), form_table(system, forms.DISCRETE_HESSIAN if by_ends else forms.HESSIAN)
    assert tangent is not None, "energies with calls of gradients have those of their derivatives"
    # Copies, so that addresses and layouts are those of arrays that nothing else changes.
    fixed, indptr, indices = np.array(system.fixed), pattern.indptr.copy(), pattern.indices.copy()
    symmetric = not (by_ends or system.differentiable_loads)
    masses = mass, np.array(system.mass_values)
    small = SmallSystem(forces, tangent, loads.table, *masses, fixed, indptr, indices, symmetric)
    vectors = np.zeros((LOAD + 1, system.n_nodes, system.dim))
    return SmallNewton(small, factors, vectors, pattern.zeros(system.dim), loads)


@formula
def _position(scheme, q, vectors, increment):
    """Set the positions where an increment has its forces."""
    for i in range(q.shape[0]):
        for k in range(q.shape[1]):
            vectors[_POSITIONS, i, k] = q[i, k] + scheme.alpha * vectors[increment, i, k]


@formula
def see_loads(scheme, q, vectors, increment):
    """Set the positions and velocities at which loads are seen for an increment, and the positions of its forces."""
    _position(scheme, q, vectors, increment)
    for i in range(q.shape[0]):
        for k in range(q.shape[1]):
            dq = vectors[increment, i, k]
            vectors[SEEN_POSITIONS, i, k] = q[i, k] + scheme.seen * dq
            vectors[SEEN_VELOCITIES, i, k] = vectors[VELOCITIES, i, k] + scheme.rate * dq


@formula
def _ends(system, q, vectors):
    """Return the ends of the increment that loads see, of methods without discrete gradients the one position."""
    if system.forces.takes_two:
        return q, vectors[_POSITIONS]
    return vectors[SEEN_POSITIONS], vectors[SEEN_POSITIONS]


@formula
def write_seen_load(system, k, factor, q, vectors):
    """Write the forces of a load, the k-th one, as it is seen, times a factor."""
    q0, q1 = _ends(system, q, vectors)
    seen = vectors[SEEN_POSITIONS], vectors[SEEN_VELOCITIES]
    write_load(system.loads.forces, k, factor, q0, q1, *seen, vectors[LOAD])


@formula
def _subtract_loads(system, scheme, factors, q, vectors):
    """Take the loads off the forces of the trial increment."""
    see_loads(scheme, q, vectors, _TRIAL)
    for load in range(len(system.loads.forces.rows)):
        write_seen_load(system, load, factors[load], q, vectors)
        for i in range(q.shape[0]):
            for k in range(q.shape[1]):
                vectors[_TRIAL_FORCES, i, k] -= vectors[LOAD, i, k]


@formula
def _evaluate(system, scheme, factors, momentum, q, vectors):
    """Set the forces and the residual of the trial increment; return the norm of the residual."""
    _position(scheme, q, vectors, _TRIAL)
    forces = vectors[_TRIAL_FORCES]
    if not np.isfinite(write(system.forces, q, vectors[_POSITIONS], forces)):
        return np.inf
    if len(system.loads.forces.rows):
        _subtract_loads(system, scheme, factors, q, vectors)
    mass, fixed, out = system.mass, system.fixed, vectors[_TRIAL_RESIDUAL]
    inertia, impulse = scheme.inertia, scheme.impulse
    return np.sqrt(residual(inertia, mass, vectors[_TRIAL], impulse, forces, momentum, fixed, mass, out))


@formula
def _linearise(system, factors, scheme, load_factors, momentum, q, vectors, blocks):
    """Factorise the tangent matrix; return the floor of the residual's norm, −1 if it has no factors."""
    _position(scheme, q, vectors, INCREMENT)
    write(system.tangent, q, vectors[_POSITIONS], blocks)
    for s in range(blocks.shape[0]):
        for i in range(blocks.shape[1]):
            for k in range(blocks.shape[2]):
                blocks[s, i, k] *= scheme.alpha
    if len(system.loads.derivatives.rows):
        see_loads(scheme, q, vectors, INCREMENT)
        q0, q1 = _ends(system, q, vectors)
        seen = vectors[SEEN_POSITIONS], vectors[SEEN_VELOCITIES]
        subtract_load_derivatives(system.loads, load_factors, q0, q1, *seen, scheme.seen, scheme.rate, blocks)
    squared = tangent(
        scheme.inertia,
        scheme.inertia,
        system.mass_values,
        scheme.impulse,
        vectors[FORCES],
        momentum,
        vectors[INCREMENT],
        q,
        system.mass,
        system.fixed,
        system.indptr,
        system.indices,
        blocks,
        0,
        q.shape[0],
    )
    if not np.isfinite(squared) or not factorise(factors, blocks):
        return -1.0
    return FLOOR * EPS * np.sqrt(squared)


@formula
def _next_is_shorter(system, factors, norm, vectors):
    """Return whether the same factors give a shorter correction at the trial increment, which has a finite norm."""
    if not np.isfinite(norm):
        return False
    substitute(factors, vectors[_TRIAL_RESIDUAL], vectors[_POSITIONS])
    before, after = 0.0, 0.0
    for i in range(vectors.shape[1]):
        for k in range(vectors.shape[2]):
            before += system.mass[i] * vectors[_CORRECTION, i, k] ** 2
            after += system.mass[i] * vectors[_POSITIONS, i, k] ** 2
    return after < (1.0 - SHORTER) ** 2 * before


@formula
def _take_trial(vectors):
    """Go to the trial increment, with its forces and its residual."""
    for place in range(INCREMENT, _TRIAL):
        for i in range(vectors.shape[1]):
            for k in range(vectors.shape[2]):
                vectors[place, i, k] = vectors[place + _TRIAL, i, k]


@formula
def _correct(factors, scale, vectors):
    """Set the trial increment to the next one, by a correction times a number; return its product with the residual."""
    substitute(factors, vectors[_RESIDUAL], vectors[_CORRECTION])
    product = 0.0
    for i in range(vectors.shape[1]):
        for k in range(vectors.shape[2]):
            vectors[_TRIAL, i, k] = vectors[INCREMENT, i, k] - scale * vectors[_CORRECTION, i, k]
            product += vectors[_CORRECTION, i, k] * vectors[_RESIDUAL, i, k]
    return product


@addressed_formula
def find_increment(system, factors, scheme, load_factors, momentum, q, start, vectors, blocks, limit, counts):
    """Find the increment from q [n, dim] by whole corrections; return whether there is one.

    It adds their number, and that of factorisations, to counts [2].

    Parameters
    ----------
    system, factors, vectors, blocks
        Those of a `SmallNewton`.
    scheme
        With the attributes ``inertia`` and ``impulse`` of `StepEquations`
        (`symplex.time.solvers.step_equations`), ``alpha``, at which part of the increment forces are, ``seen``, at
        which loads are, and ``rate``, by how much velocities that these see change with it.
    load_factors : float64 [l]
        Of the loads.
    momentum, q, start : float64 [n, dim]
        The constant of the equations in kg m/s, positions and an increment to begin with in m.
    limit : int
        Corrections after which there is none.
    """
    floor, norm, before, improved = -1.0, np.inf, np.inf, np.inf
    corrections, matrices, at_floor, smooth = -1, 0, False, True
    for i in range(q.shape[0]):
        for k in range(q.shape[1]):
            vectors[_TRIAL, i, k] = start[i, k]
    while True:
        improved = _evaluate(system, scheme, load_factors, momentum, q, vectors)
        if not improved < (1.0 - DESCENT) * norm:
            if at_floor:
                break
            smooth = not system.symmetric
            if not _next_is_shorter(system, factors, improved, vectors):
                return False
        _take_trial(vectors)
        corrections += 1
        if improved == 0.0 or (at_floor and improved > STAGNATION * norm):
            break
        before, norm = norm, improved
        if norm > floor:
            floor = _linearise(system, factors, scheme, load_factors, momentum, q, vectors, blocks)
            matrices += 1
            if floor < 0.0:
                return False
        at_floor = norm <= floor
        if corrections >= limit and not at_floor and norm > FALLING * before:
            return False
        if _correct(factors, 1.0, vectors) < 0.0:
            smooth = not system.symmetric
    if not (smooth or is_definite(factors)):
        return False
    counts[0] += corrections
    counts[1] += matrices
    return True


@addressed_formula
def find_increment_by_kept(
    system, factors, scheme, load_factors, momentum, q, start, vectors, blocks, limit, counts, kept
):
    """Find the increment as `find_increment` does, by the factors of another step from there of nearly the same size.

    Of the midpoint rule, whose matrices M/h + h/4 K are in proportion to 1/h but for (h/h' − 1) (h ω/2)². Return
    whether each correction reduces the residual to a tenth; if not, factors of its own may do.

    Parameters
    ----------
    kept : float64 [2]
        The size in s of the step that the factors are of, 0 if they are not found yet, and the floor there.
    """
    norm, corrections, at_floor = np.inf, -1, False
    for i in range(q.shape[0]):
        for k in range(q.shape[1]):
            vectors[_TRIAL, i, k] = start[i, k]
    while True:
        improved = _evaluate(system, scheme, load_factors, momentum, q, vectors)
        if not improved < (1.0 - DESCENT if at_floor else _FAST) * norm:
            if at_floor:
                break
            return False
        _take_trial(vectors)
        corrections += 1
        if improved == 0.0 or (at_floor and improved > STAGNATION * norm):
            break
        norm = improved
        if kept[KEPT_SIZE] == 0.0:
            kept[KEPT_FLOOR] = _linearise(system, factors, scheme, load_factors, momentum, q, vectors, blocks)
            if kept[KEPT_FLOOR] < 0.0:
                return False
            kept[KEPT_SIZE] = scheme.h
            counts[1] += 1
        at_floor = norm <= kept[KEPT_FLOOR]
        if corrections >= limit and not at_floor:
            return False
        if _correct(factors, scheme.h / kept[KEPT_SIZE], vectors) < 0.0 and system.symmetric:
            return False
    counts[0] += corrections
    return True
