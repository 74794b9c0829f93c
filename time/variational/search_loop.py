"""The search for a step that keeps the discrete energy, of small systems, all of it compiled.

It is that of `symplex.time.variational.step_search` as long as interpolation leads to the step. Where it does not, or
Newton's method takes no whole corrections, there is none, and the general search looks for it.
"""

from __future__ import annotations

from typing import NamedTuple, final

import numpy as np

from symplex.fem.assembly import forms
from symplex.fem.assembly.pattern import Array
from symplex.fem.compiled.call import call_testing_kernel
from symplex.fem.compiled.kernels import uncounted_formula as formula, uncounted_kernel as kernel
from symplex.fem.compiled.records import Counts, Integer, Matrices, Numbers, Record, Rows
from symplex.fem.form_table import Table, form_table, write
from symplex.fem.load_table import write_load
from symplex.fem.system import System
from symplex.time.implicit.implicit_loop import CompiledSteps, dot
from symplex.time.implicit.scheme import Scheme
from symplex.time.solvers.compiled_newton import (
    FORCES,
    INCREMENT,
    KEPT_SIZE,
    LOAD,
    SEEN_POSITIONS,
    SEEN_VELOCITIES,
    VELOCITIES,
    CompiledSystem,
    write_seen_load,
)
from symplex.time.solvers.kept_factors import KeptFactors
from symplex.time.variational.step_search import EPS, NEAR, ROUGH, ROUND_OFF, interpolation
from symplex.time.variational.variational import Attempt

# Vectors [n, dim] that the search writes to: an increment to begin with, and of the best step so far the increment and
# its forces; then numbers of that step.
_START, _BEST, _BEST_FORCES = range(3)
_H, _EXCESS, _MIDDLE, _SIZE, _CORRECTIONS, _ATTEMPTS = range(6)


class Search(Record):
    """What a search works with.

    Attributes
    ----------
    find : int
        The address of Newton's method for an increment.
    limit : int
        Of its corrections.
    energies : Table
    rooms : float64 [3, n, dim]
    terms : float64 [k]
        Energies in J.
    momentum : float64 [n, dim]
        In kg m/s.
    works, best_works, load_factors : float64 [l]
        Of loads in J, and what these are multiplied by: 1, as none changes with time.
    counts : int64 [2]
    best : float64 [6]
        Numbers of the best step so far.
    kept : float64 [2]
        Those of factors that are kept.
    """

    find: Integer
    limit: Integer
    energies: Table
    rooms: Matrices
    terms: Numbers
    momentum: Rows
    works: Numbers
    best_works: Numbers
    load_factors: Numbers
    counts: Counts
    best: Numbers
    kept: Numbers


@final
class CompiledSearch:
    """Searches for steps of a system whose energies and loads have compiled loops, and whose loads are steady.

    Parameters
    ----------
    system : System
    small : CompiledSteps, optional
        Its steps in compiled loops, if it has any.
    limit : int
        Of corrections in a step.
    resolved : float
        How many times the round-off of the energies h²|D|/8 must be.
    """

    def __init__(self, system: System, small: CompiledSteps | None, limit: int, resolved: float):
        self._newton = small.newton if small else None
        energies = None if self._newton is None else form_table(system, forms.VALUE)
        if self._newton is None or small is None or energies is None or self._newton.loads.change_with_time:
            self._search = None
            return
        shape, loads = (system.n_nodes, system.dim), np.zeros(len(system.loads))
        self._search = Search(
            find=small.find,
            limit=limit,
            energies=energies,
            rooms=np.zeros((3, *shape)),
            terms=np.zeros(1 + len(energies.rows)),
            momentum=np.zeros(shape),
            works=loads,
            best_works=loads.copy(),
            load_factors=np.ones_like(loads),
            counts=np.zeros(2, np.int64),
            best=np.zeros(6),
            kept=np.zeros(2),
        )
        self._kept = small, energies
        self._resolved = resolved

    def __bool__(self) -> bool:
        """Whether the system is one for it."""
        return self._search is not None

    def find(
        self, q: Array, v: Array, h: float, bounds: tuple[float, float], requested: float
    ) -> tuple[Attempt, int] | None:
        """Return the step from positions and velocities [n, dim] with the required discrete energy in J.

        And how many sizes were tried, beginning with the last one h, between bounds in s. None if the general search
        has to look for it.
        """
        search, newton = self._search, self._newton
        if search is None or newton is None:
            return None
        numbers = h, *bounds, requested, self._resolved
        if not _search(search, newton.system, newton.factors, newton.vectors, newton.blocks, q, v, *numbers):
            return None
        size, middle, energy = (float(search.best[place]) for place in (_H, _MIDDLE, _SIZE))
        dq, forces = (search.rooms[place].copy() for place in (_BEST, _BEST_FORCES))
        works, corrections = search.best_works.tolist(), int(search.best[_CORRECTIONS])
        return Attempt(size, dq, forces, middle, energy, works, corrections), int(search.best[_ATTEMPTS])


@formula
def _kinetic(mass, v):
    """Return ½ vᵀ M v."""
    total = 0.0
    for i in range(v.shape[0]):
        for k in range(v.shape[1]):
            total += 0.5 * mass[i] * v[i, k] * v[i, k]
    return total


@formula
def _sums(terms, kinetic):
    """Return the sum of all energies, and that of their absolute values."""
    total, size = kinetic, kinetic
    for term in terms:
        total += term
        size += abs(term)
    return total, size


@formula
def _indicator(system, vectors, blocks, q, v):
    """Return D = aᵀ M a + vᵀ ∇²V v."""
    force = vectors[FORCES]
    write(system.forces, q, q, force)
    for load in range(len(system.loads.forces.rows)):
        write_load(system.loads.forces, load, 1.0, q, q, q, v, vectors[LOAD])
        for i in range(q.shape[0]):
            for k in range(q.shape[1]):
                force[i, k] -= vectors[LOAD, i, k]
    write(system.tangent, q, q, blocks)
    total = 0.0
    for a in range(q.shape[0]):
        for i in range(q.shape[1]):
            if not system.fixed[a, i]:
                total += force[a, i] * force[a, i] / system.mass[a]
        for s in range(system.indptr[a], system.indptr[a + 1]):
            b = system.indices[s]
            for i in range(q.shape[1]):
                for j in range(q.shape[1]):
                    total += v[a, i] * blocks[s, i, j] * v[b, j]
    return total


class _Problem(NamedTuple):
    """A search in a system from positions and velocities [n, dim], for the required energy in J."""

    search: Search
    system: CompiledSystem
    factors: KeptFactors
    vectors: Array
    blocks: Array
    q: Array
    v: Array
    requested: float


@formula
def _excess(p, h):
    """Return E(h) less the required energy, NaN where there is no step; keep it if it is the best."""
    search, system, factors, vectors, blocks, q = p.search, p.system, p.factors, p.vectors, p.blocks, p.q
    rooms, best = search.rooms, search.best
    part = h / best[_H] if best[_H] > 0.0 and abs(h / best[_H] - 1.0) < NEAR else 0.0
    for i in range(q.shape[0]):
        for k in range(q.shape[1]):
            rooms[_START, i, k] = part * rooms[_BEST, i, k]
            vectors[VELOCITIES, i, k] = 0.0
    # That of `impulsive`, which is not compiled.
    scheme = Scheme(0.5, 1.0 / h, 0.5 * h, False, h, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.5, 1.0 / h, 0.0, 0.0, False)
    equations = system, factors, scheme, search.load_factors, search.momentum, q, rooms[_START]
    arguments = *equations, vectors, blocks, search.limit, search.counts
    if not call_testing_kernel(search.find, (*arguments, True, search.kept)):
        search.kept[KEPT_SIZE] = 0.0
        if not call_testing_kernel(search.find, (*arguments, False, search.kept)):
            return np.nan
    dq = vectors[INCREMENT]
    for i in range(q.shape[0]):
        for k in range(q.shape[1]):
            vectors[SEEN_POSITIONS, i, k] = q[i, k] + 0.5 * dq[i, k]
            vectors[SEEN_VELOCITIES, i, k] = dq[i, k] / h
    write(search.energies, vectors[SEEN_POSITIONS], vectors[SEEN_POSITIONS], search.terms)
    middle, size = _sums(search.terms, _kinetic(system.mass, vectors[SEEN_VELOCITIES]))
    work = 0.0
    for load in range(len(search.works)):
        write_seen_load(system, load, 1.0, q, vectors)
        search.works[load] = dot(vectors[LOAD], dq)
        work += search.works[load]
    best[_ATTEMPTS] += 1.0
    excess = middle - 0.5 * work - p.requested
    if best[_H] == 0.0 or abs(excess) < abs(best[_EXCESS]):
        best[_H], best[_EXCESS], best[_MIDDLE], best[_SIZE] = h, excess, middle, size
        for i in range(q.shape[0]):
            for k in range(q.shape[1]):
                rooms[_BEST, i, k] = dq[i, k]
                rooms[_BEST_FORCES, i, k] = 0.0 if system.fixed[i, k] else vectors[FORCES, i, k]
        for load in range(len(search.works)):
            search.best_works[load] = search.works[load]
    return excess


@formula
def _is_exact(p):
    """Return whether the best step so far has the required energy to the round-off of a sum."""
    best = p.search.best
    return best[_H] > 0.0 and abs(best[_EXCESS]) <= ROUND_OFF * EPS * best[_SIZE]


_interpolate = formula(interpolation(_excess, _is_exact))


@kernel
def _search(search, system, factors, vectors, blocks, q, v, h, low, high, requested, resolved):
    """Find the step; return whether there is one. See `StepSearch.nearest`."""
    best = search.best
    best[:] = 0.0
    search.kept[KEPT_SIZE] = 0.0
    search.counts[0] = 0
    for i in range(q.shape[0]):
        for k in range(q.shape[1]):
            search.momentum[i, k] = system.mass[i] * v[i, k]
    write(search.energies, q, q, search.terms)
    total, size = _sums(search.terms, _kinetic(system.mass, v))
    still, slope = total - requested, -0.125 * _indicator(system, vectors, blocks, q, v)
    if not h * h * abs(slope) > resolved * EPS * size:
        return False
    enough = ROUGH * abs(slope) * h * h
    p = _Problem(search, system, factors, vectors, blocks, q, v, requested)
    excess = _excess(p, h)
    if not (np.isnan(excess) or _is_exact(p)):
        _interpolate(p, h, excess, low, high, still, slope)
    best[_CORRECTIONS] = search.counts[0]
    return _is_exact(p) or (best[_H] > 0.0 and abs(best[_EXCESS]) <= enough)
