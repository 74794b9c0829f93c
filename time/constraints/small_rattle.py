"""Steps of RATTLE for small systems, many of them in one compiled loop."""

from __future__ import annotations

from typing import final

import numpy as np

from symplex.fem.assembly import Array
from symplex.fem.gradient_table import form_table, write
from symplex.fem.kernels import uncounted_formula as formula, uncounted_kernel as kernel
from symplex.fem.load_table import load_loops, write_load
from symplex.fem.system import System
from symplex.time.constraints.multiplier_loops import push
from symplex.time.constraints.multipliers import Multipliers
from symplex.time.constraints.small_conditions import (
    are_on_the_same_side,
    close,
    factorise,
    project,
)
from symplex.time.solvers.small_newton import steps_at_once
from symplex.time.steps import Steps

# Vectors [n, dim] that the loop writes to: velocities in the middle of a step, positions without and with impulses,
# ∇V less the loads, and the velocities that loads see.
_HALF, _TARGET, _NEXT, _GRADIENT, _SEEN = range(5)


@final
class SmallRattle:
    """Steps with the gradients of energies and the loops of constraints in one loop, where all have these.

    Parameters
    ----------
    system : System
    multipliers : Multipliers
    """

    def __init__(self, system: System, multipliers: Multipliers):
        alone = not (system.inelastic or system.moving or system.changing or system.impassable)
        self._loads = load_loops(system, derivatives=False) if alone else None
        alone = self._loads is not None
        self._conditions = multipliers.compiled() if alone else None
        self._form = form_table(system) if self._conditions is not None else None
        self.at_once = steps_at_once(system)
        self._vectors = np.zeros((5, system.n_nodes, system.dim))
        self._impulses, self._gradients = np.zeros(multipliers.size), multipliers.empty_gradients()

    def __bool__(self) -> bool:
        """Whether the system is one for them."""
        return self._form is not None

    def take(
        self,
        n: int,
        steps: Steps,
        q: Array,
        v: Array,
        known: tuple[Array, Array, Array, Array],
        counts: Array,
        acting: Array,
        works: Array,
    ) -> int:
        """Take up to n steps from positions and velocities [n, dim].

        Return how many were taken: all is before the next one then, but for the factors, and the general method says
        why it is not possible. Known are accelerations without constraints and gradients at q, for which the matrix is
        factorised, the impulses of the step before, and sizes of terms; counts [1] are of corrections. Loads act with
        the forces acting [l, n, dim] in N at q, and the work of each is added to works [l].
        """
        if self._form is None or self._loads is None:
            return 0
        rooms = self._vectors, self._impulses, self._gradients
        n, factors = steps.load_factors(n, self._loads, 1.0)
        work = self._loads.table.forces, factors, acting, works
        return _steps(n, steps.sizes, self._form, self._conditions, *rooms, q, v, *known, counts, *work)


@kernel
def _steps(
    n,
    steps,
    form,
    conditions,
    vectors,
    new,
    after,
    q,
    v,
    applied,
    gradients,
    impulses,
    sizes,
    counts,
    loads,
    factors,
    acting,
    works,
):
    """Take n steps; return how many were possible."""
    inverse_mass = conditions.inverse_mass
    half, target, following, force = vectors[_HALF], vectors[_TARGET], vectors[_NEXT], vectors[_GRADIENT]
    for step in range(n):
        h = steps[step % len(steps)]
        for i in range(q.shape[0]):
            for k in range(q.shape[1]):
                half[i, k] = v[i, k] + 0.5 * h * applied[i, k]
                target[i, k] = q[i, k] + h * half[i, k]
        for i in range(len(new)):
            new[i] = impulses[i]
        corrections = close(conditions, target, gradients, h, sizes, new, following)
        if corrections < 0:
            return step
        push(gradients, conditions.rows, conditions.nodes, inverse_mass, new, 1.0, half)
        write(conditions.slopes, following, following, after)
        if not are_on_the_same_side(conditions, gradients, after) or not factorise(conditions, after, after):
            return step
        if not np.isfinite(write(form, following, following, force)):
            return step
        if len(works):
            _subtract_loads(loads, factors[step % len(factors)], vectors, q, v, acting, works)
        for i in range(q.shape[0]):
            for k in range(q.shape[1]):
                q[i, k] = following[i, k]
                applied[i, k] = -force[i, k] * inverse_mass[i, k]
                v[i, k] = half[i, k] + 0.5 * h * applied[i, k]
        for i in range(gradients.shape[0]):
            for k in range(gradients.shape[1]):
                gradients[i, k] = after[i, k]
        for i in range(len(new)):
            impulses[i] = new[i]
        project(conditions, gradients, v)
        counts[0] += corrections
    return n


@formula
def _subtract_loads(loads, factors, vectors, q, v, acting, works):
    """Take the loads at the next positions, with the velocities predicted there, off ∇V; add up their work."""
    for i in range(q.shape[0]):
        for k in range(q.shape[1]):
            vectors[_SEEN, i, k] = 2.0 * vectors[_HALF, i, k] - v[i, k]
    for load in range(len(works)):
        force, next_ones = acting[load], (vectors[_NEXT], vectors[_NEXT], vectors[_NEXT])
        work = _work(force, vectors[_NEXT], q)
        write_load(loads, load, factors[load], *next_ones, vectors[_SEEN], force)
        works[load] += 0.5 * (work + _work(force, vectors[_NEXT], q))
        for i in range(q.shape[0]):
            for k in range(q.shape[1]):
                vectors[_GRADIENT, i, k] -= force[i, k]


@formula
def _work(force, q1, q0):
    """Return force·(q1 − q0)."""
    work = 0.0
    for i in range(force.shape[0]):
        for k in range(force.shape[1]):
            work += force[i, k] * (q1[i, k] - q0[i, k])
    return work
