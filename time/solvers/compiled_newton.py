"""Newton's method for the steps of small systems, all of it compiled.

It is that of `symplex.time.solvers.newton`, made of compiled functions. Where it does not end at an increment, or the
root may not be the one that small steps lead to, the general solver begins again, which follows roots, and says why a
step fails.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from symplex.fem.assembly import forms
from symplex.fem.assembly.pattern import Array, Pattern
from symplex.fem.compiled.kernels import addressed_formula, uncounted_formula as formula, uncounted_inlined as inlined
from symplex.fem.compiled.records import Indices, Integer, Mask, Numbers, Record
from symplex.fem.form_table import Table, form_table, write
from symplex.fem.load_table import LoadLoops, LoadTable, load_loops, subtract_load_derivatives, write_load
from symplex.fem.system import System
from symplex.time.solvers.kept_factors import KeptFactors, factorise, is_definite, kept_factors, products, substitute
from symplex.time.solvers.newton import DESCENT, EPS, FLOOR, FOUND, HALVINGS, LEAPS, newtons_method
from symplex.time.solvers.step_equations import residual, tangent

KEPT_SIZE, KEPT_FLOOR = range(2)  # numbers of kept factors: the size of their step in s, and the floor there
_FAST = 0.9  # of the residual, which a correction by kept factors must take away
_WORK_AT_ONCE = 20_000  # stencils and nodes in a compiled loop, which hears no signal: some 20 ms
MOST_PRODUCTS = 20_000  # of blocks in a factorisation: beyond that a library's dense or sparse factors are faster


class CompiledSystem(Record):
    """A system as compiled Newton iterations take it.

    Attributes
    ----------
    forces, tangent
        Of energies and of their derivative; see `symplex.fem.form_table`.
    loads
        See `symplex.fem.load_table`.
    mass, mass_values : float64 [n], [nnz]
        In kg, of nodes and on the pattern.
    fixed : bool [n, dim]
    indptr, indices : int32 [n + 1], [nnz]
        The pattern.
    symmetric : int
        Whether the matrix of a step is.
    frames : Record or None
        What iterations for frames have in addition (`symplex.time.solvers.framed_newton`).
    """

    forces: Table
    tangent: Table
    loads: LoadTable
    mass: Numbers
    mass_values: Numbers
    fixed: Mask
    indptr: Indices
    indices: Indices
    symmetric: Integer
    frames: ClassVar[Any] = None


# Vectors [n, dim] that compiled Newton iterations write to, as places in one array: the increment, its forces and its
# residual, those of the trial increment, the correction, and positions. Then the velocities that loads see without an
# increment, those that they see with it, the positions that they see, and the forces of one load.
INCREMENT, FORCES, RESIDUAL, TRIAL, TRIAL_FORCES, TRIAL_RESIDUAL, _CORRECTION, POSITIONS = range(8)
VELOCITIES, SEEN_VELOCITIES, SEEN_POSITIONS, LOAD = range(8, 12)


class CompiledNewton(NamedTuple):
    """All that belongs to the Newton iterations of a small system.

    Attributes
    ----------
    system : CompiledSystem
    factors : KeptFactors
    vectors : float64 [12, n, dim]
        The increment that was found in m, the forces there in N, and others.
    blocks : float64 [nnz, dim, dim]
    loads : LoadLoops
        Of the system.
    """

    system: CompiledSystem
    factors: KeptFactors
    vectors: Array
    blocks: Array
    loads: LoadLoops


def steps_at_once(system: System) -> int:
    """Return how many steps to take in one call of a compiled loop."""
    stencils = sum(len(energy.nodes) for energy in system.energies.values())
    stencils += sum(load.nodes.size for load in system.differentiable_loads)
    return max(_WORK_AT_ONCE // (stencils + 10 * system.n_nodes), 1)


def compiled_newton(system: System, by_ends: bool) -> CompiledNewton | None:
    """Return what compiled iterations for (discrete, if ``by_ends``) gradients take of a system, if it is for them.

    It is for lumped masses, energies and loads with compiled loops, and constant forces, on a pattern whose factors are
    small.
    """
    found = compiled_system(system, by_ends)
    if found is None or (factors := small_factors(system.pattern)) is None:
        return None
    vectors = np.zeros((LOAD + 1, system.n_nodes, system.dim))
    small, loads = found
    return CompiledNewton(small, factors, vectors, system.pattern.zeros(system.dim), loads)


def compiled_system(system: System, by_ends: bool) -> tuple[CompiledSystem, LoadLoops] | None:
    """Return a system as compiled iterations take it, and its loads, if it is for them but perhaps for its size."""
    if (
        system.n_nodes > MOST_PRODUCTS
        or not system.is_lumped
        or system.massless.any()
        or system.changing
        or system.collision_checked
    ):
        return None
    if system.inelastic or system.moving or (loads := load_loops(system, derivatives=True)) is None:
        return None
    forces = form_table(system, forms.DISCRETE_GRADIENT if by_ends else forms.GRADIENT)
    if forces is None:
        return None
    pattern = system.pattern
    mass, tangent = np.array(system.mass), form_table(system, forms.DISCRETE_HESSIAN if by_ends else forms.HESSIAN)
    assert tangent is not None, "energies with calls of gradients have those of their derivatives"
    # Copies, so that addresses and layouts are those of arrays that nothing else changes.
    fixed, indptr, indices = np.array(system.fixed), pattern.indptr.copy(), pattern.indices.copy()
    symmetric = not (by_ends or system.differentiable_loads)
    small = CompiledSystem(
        forces=forces,
        tangent=tangent,
        loads=loads.table,
        mass=mass,
        mass_values=np.array(system.mass_values),
        fixed=fixed,
        indptr=indptr,
        indices=indices,
        symmetric=symmetric,
    )
    return small, loads


def small_factors(pattern: Pattern, multipliers: int | None = None) -> KeptFactors | None:
    """Return arrays for the factors on a pattern (see `kept_factors`), if they are small."""
    if len(pattern.indices) - pattern.n_nodes > MOST_PRODUCTS:  # at least so many, without looking for what fills in
        return None
    factors = kept_factors(pattern, multipliers)
    return None if products(factors) > MOST_PRODUCTS else factors


@formula
def _position(scheme, q, vectors, increment):
    """Set the positions where an increment has its forces."""
    for i in range(q.shape[0]):
        for k in range(q.shape[1]):
            vectors[POSITIONS, i, k] = q[i, k] + scheme.alpha * vectors[increment, i, k]


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
        return q, vectors[POSITIONS]
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
    see_loads(scheme, q, vectors, TRIAL)
    for load in range(len(system.loads.forces.rows)):
        write_seen_load(system, load, factors[load], q, vectors)
        for i in range(q.shape[0]):
            for k in range(q.shape[1]):
                vectors[TRIAL_FORCES, i, k] -= vectors[LOAD, i, k]


@formula
def set_forces(system, scheme, load_factors, q, vectors):
    """Set the forces of the trial increment, and the positions that they are of; return whether they are finite."""
    _position(scheme, q, vectors, TRIAL)
    if not np.isfinite(write(system.forces, q, vectors[POSITIONS], vectors[TRIAL_FORCES])):
        return False
    if len(system.loads.forces.rows):
        _subtract_loads(system, scheme, load_factors, q, vectors)
    return True


@formula
def set_blocks(system, scheme, load_factors, q, vectors, blocks):
    """Set the blocks to the derivatives of the forces of the increment."""
    _position(scheme, q, vectors, INCREMENT)
    write(system.tangent, q, vectors[POSITIONS], blocks)
    for s in range(blocks.shape[0]):
        for i in range(blocks.shape[1]):
            for k in range(blocks.shape[2]):
                blocks[s, i, k] *= scheme.alpha
    if len(system.loads.derivatives.rows):
        see_loads(scheme, q, vectors, INCREMENT)
        q0, q1 = _ends(system, q, vectors)
        seen = vectors[SEEN_POSITIONS], vectors[SEEN_VELOCITIES]
        subtract_load_derivatives(system.loads, load_factors, q0, q1, *seen, scheme.seen, scheme.rate, blocks)


class _Step(NamedTuple):
    """The equations of a step, and what Newton's method writes to; see `find_increment`."""

    mass: Array
    system: CompiledSystem
    factors: KeptFactors
    scheme: Any
    load_factors: Array
    momentum: Array
    q: Array
    vectors: Array
    blocks: Array
    counts: NDArray[np.int64]
    by_kept: bool
    kept: Array


@formula
def _evaluate(p):
    """Set the forces and the residual of the trial increment; return the norm of the residual."""
    system, scheme, vectors = p.system, p.scheme, p.vectors
    if not set_forces(system, scheme, p.load_factors, p.q, vectors):
        return np.inf
    forces = vectors[TRIAL_FORCES]
    mass, fixed, out = system.mass, system.fixed, vectors[TRIAL_RESIDUAL]
    inertia, impulse = scheme.inertia, scheme.impulse
    return np.sqrt(residual(inertia, mass, vectors[TRIAL], impulse, forces, p.momentum, fixed, mass, out))


@formula
def _linearise(p):
    """Factorise the tangent matrix; return the floor of the residual's norm, −1 if it has no factors."""
    if p.by_kept and p.kept[KEPT_SIZE] != 0.0:
        return p.kept[KEPT_FLOOR]
    system, scheme, q, vectors, blocks = p.system, p.scheme, p.q, p.vectors, p.blocks
    set_blocks(system, scheme, p.load_factors, q, vectors, blocks)
    equations = scheme.impulse, vectors[FORCES], p.momentum, vectors[INCREMENT], q, system.mass, system.fixed
    matrix = system.indptr, system.indices, blocks, 0, q.shape[0]
    squared = tangent(scheme.inertia, scheme.inertia, system.mass_values, *equations, *matrix)
    p.counts[1] += 1
    if not np.isfinite(squared) or not factorise(p.factors, blocks):
        return -1.0
    floor = FLOOR * EPS * np.sqrt(squared)
    if p.by_kept:
        p.kept[KEPT_SIZE], p.kept[KEPT_FLOOR] = scheme.h, floor
    return floor


@inlined
def correct(p, norm, before, floor):
    """Set the correction; return its product with the residual."""
    vectors = p.vectors
    substitute(p.factors, vectors[RESIDUAL], vectors[_CORRECTION])
    scale = p.scheme.h / p.kept[KEPT_SIZE] if p.by_kept else 1.0
    product = 0.0
    for i in range(vectors.shape[1]):
        for k in range(vectors.shape[2]):
            vectors[_CORRECTION, i, k] *= scale
            product += vectors[_CORRECTION, i, k] * vectors[RESIDUAL, i, k]
    return product


@inlined
def put(p, part):
    """Set the trial increment to that after a part of the correction."""
    vectors = p.vectors
    for i in range(vectors.shape[1]):
        for k in range(vectors.shape[2]):
            vectors[TRIAL, i, k] = vectors[INCREMENT, i, k] - part * vectors[_CORRECTION, i, k]


@inlined
def free_part(p):
    """Return 1: nothing that must not pass through something else has compiled loops."""
    return 1.0


@formula
def next_is_shorter(p, most):
    """Return whether the same factors give a correction shorter than this part of it at the trial increment."""
    if p.by_kept:
        return False
    vectors, mass = p.vectors, p.mass
    substitute(p.factors, vectors[TRIAL_RESIDUAL], vectors[POSITIONS])
    before, after = 0.0, 0.0
    for i in range(vectors.shape[1]):
        for k in range(vectors.shape[2]):
            before += mass[i] * vectors[_CORRECTION, i, k] ** 2
            after += mass[i] * vectors[POSITIONS, i, k] ** 2
    return after < most**2 * before


@inlined
def _accept(p, norm):
    """Go to the trial increment, with its forces and its residual."""
    accept_trial(p.vectors)


@inlined
def accept_trial(vectors):
    """Make the trial increment the increment."""
    for place in range(INCREMENT, TRIAL):
        for i in range(vectors.shape[1]):
            for k in range(vectors.shape[2]):
                vectors[place, i, k] = vectors[place + TRIAL, i, k]


_find = inlined(newtons_method(_evaluate, _accept, _linearise, correct, put, free_part, next_is_shorter))


@addressed_formula
def find_increment(
    system, factors, scheme, load_factors, momentum, q, start, vectors, blocks, limit, counts, by_kept, kept
):
    """Find the increment from q [n, dim]; return whether there is one, which small steps may lead to.

    It adds the number of corrections, and that of factorisations, to counts [2].

    By kept factors, of another step from there of nearly the same size, it does so as long as each correction reduces
    the residual to a tenth. That is for the midpoint rule, whose matrices M/h + h/4 K are in proportion to 1/h but for
    (h/h' − 1) (h ω/2)².

    Parameters
    ----------
    system, factors, vectors, blocks
        Those of a `CompiledNewton`.
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
    by_kept : bool
    kept : float64 [2]
        The size in s of the step that kept factors are of, 0 if they are not found yet, and the floor there.
    """
    for i in range(q.shape[0]):
        for k in range(q.shape[1]):
            vectors[TRIAL, i, k] = start[i, k]
    p = _Step(system.mass, system, factors, scheme, load_factors, momentum, q, vectors, blocks, counts, by_kept, kept)
    norm = _evaluate(p)
    if not np.isfinite(norm):
        return False
    _accept(p, norm)
    descent, halvings, leaps = (_FAST, 0, 0) if by_kept else (DESCENT, HALVINGS, LEAPS)
    end, corrections, smooth, _ = _find(p, norm, limit, 0.0, descent, halvings, leaps)
    if end != FOUND or not (smooth or not system.symmetric or is_definite(factors)):
        return False
    counts[0] += corrections
    return True
