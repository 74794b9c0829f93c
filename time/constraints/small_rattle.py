"""Steps of RATTLE for small systems, many of them in one compiled loop."""

from __future__ import annotations

from typing import final

import numpy as np

from symplex.fem.assembly import Array
from symplex.fem.gradient_table import force_table, gradient_table, write_condition_gradients, write_forces
from symplex.fem.kernels import uncounted_kernel as kernel
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

# Vectors [n, dim] that the loop writes to: velocities in the middle of a step, positions without and with impulses,
# ∇V.
_HALF, _TARGET, _NEXT, _GRADIENT = range(4)


@final
class SmallRattle:
    """Steps with the gradients of energies and the loops of constraints in one loop, where all have these.

    Parameters
    ----------
    system : System
    multipliers : Multipliers
    """

    def __init__(self, system: System, multipliers: Multipliers):
        alone = not (system.loads or system.inelastic or system.moving or system.changing or system.impassable)
        self._conditions = multipliers.compiled() if alone else None
        self._table = gradient_table(system) if self._conditions is not None else None
        self._form = None if self._table is None else force_table(self._table)
        self.at_once = steps_at_once(system)
        self._vectors = np.zeros((4, system.n_nodes, system.dim))
        self._impulses, self._gradients = np.zeros(multipliers.size), multipliers.empty_gradients()

    def __bool__(self) -> bool:
        """Whether the system is one for them."""
        return self._form is not None

    def take(
        self, n: int, sizes: Array, q: Array, v: Array, known: tuple[Array, Array, Array, Array], counts: Array
    ) -> int:
        """Take up to n steps of sizes [s] in s, in turn, from positions and velocities [n, dim].

        Return how many were taken: all is before the next one then, but for the factors, and the general method says
        why it is not possible. Known are accelerations without constraints and gradients at q, for which the matrix is
        factorised, the impulses of the step before, and sizes of terms; counts [1] are of corrections.
        """
        if self._form is None:
            return 0
        rooms = self._vectors, self._impulses, self._gradients
        return _steps(n, sizes, self._form, self._conditions, *rooms, q, v, *known, counts)


@kernel
def _steps(n, steps, form, conditions, vectors, new, after, q, v, applied, gradients, impulses, sizes, counts):
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
        write_condition_gradients(conditions.table, following, after)
        if not are_on_the_same_side(conditions, gradients, after) or not factorise(conditions, after, after):
            return step
        if not np.isfinite(write_forces(form, following, following, force)):
            return step
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
