"""Implicit steps of small systems, many of them in one compiled loop."""

from __future__ import annotations

from typing import final

import numpy as np
from numba import typeof, types

from symplex.fem.assembly.pattern import Array
from symplex.fem.compiled.call import address_of, call_testing_kernel, call_writing_kernel
from symplex.fem.compiled.kernels import uncounted_formula as formula, uncounted_kernel as kernel
from symplex.fem.load_table import write_load
from symplex.fem.system import System
from symplex.time.implicit.scheme import Scheme, by_mass, change_of_v, impulsive, own_at_end
from symplex.time.solvers.compiled_newton import (
    FORCES,
    INCREMENT,
    LOAD,
    VELOCITIES,
    compiled_newton,
    find_increment,
    see_loads,
    steps_at_once,
    write_seen_load,
)
from symplex.time.solvers.framed_newton import find_framed_increment, framed_newton, keep_rigid
from symplex.time.solvers.newton import Newton
from symplex.time.steps import Steps

_by_mass, _own_at_end, _change_of_v = map(formula, (by_mass, own_at_end, change_of_v))


@final
class CompiledSteps:
    """Steps of a system whose Newton iterations are compiled, as long as these take whole corrections.

    Parameters
    ----------
    system : System
    newton : Newton
    by_ends : bool
        Whether forces are discrete gradients.

    Attributes
    ----------
    at_once : int
        So many steps to take at most in one call.
    counts : int64 [2]
        Corrections and factorisations since the start.
    newton : CompiledNewton or None
        What they take of the system, if it is one for them.
    find : int
        The address of Newton's method for an increment.
    """

    def __init__(self, system: System, newton: Newton, by_ends: bool):
        make, find = (framed_newton, find_framed_increment) if system.frames else (compiled_newton, find_increment)
        self.newton = make(system, by_ends) if newton.linear == "auto" else None
        self._limit, self._joints = newton.iterations, system.joints
        self.at_once, self.counts, self.find = 1, np.zeros(2, np.int64), 0
        if self.newton is None:
            return
        self.at_once = steps_at_once(system)
        self._kept, self._keep_rigid = np.zeros(2), 0
        self._momentum, self._spare, self._zero = (np.zeros((system.n_nodes, system.dim)) for _ in range(3))
        if system.frames:
            kinds = types.float64[:, ::1], types.float64[:, ::1], types.float64[:, ::1], types.float64[:, :, ::1]
            self._keep_rigid = address_of(keep_rigid, typeof(self.newton.system), *kinds)
        self.find = address_of(find, *self._equations())  # called by name it would be compiled once more
        self._inverse_mass = np.where(system.fixed, 0.0, 1.0 / np.asarray(system.mass)[:, None])

    def __bool__(self) -> bool:
        """Whether the system is one for them."""
        return self.newton is not None

    def take(
        self,
        n: int,
        steps: Steps,
        schemes: list[Scheme],
        q: Array,
        v: Array,
        accelerations: tuple[Array, Array] | None,
        works: Array,
    ) -> int:
        """Take up to n steps, by schemes of their parts in turn, from positions, velocities and accelerations [n, dim].

        Return how many were taken: all is before the next one then, which the general method has to take. The
        accelerations are a0 and α0, for schemes that have them. The work in J of loads and of joints whose motion is
        given is added to works [loads + joints].
        """
        if self.newton is None:
            return 0
        system, factors, vectors, blocks, loads = self.newton
        n, seen = steps.load_factors(n, loads, schemes[0].seen)
        n, begin = steps.load_factors(n, loads, 0.0) if schemes[0].work_at_ends else (n, seen)
        if system.frames is not None and len(system.frames.driven):
            given = self._joints.given_at(steps.times(n, 0.0), steps.times(n, 1.0))
            n = len(given)
            seen = np.hstack([np.broadcast_to(seen, (n, seen.shape[1])) if len(seen) == 1 else seen[:n], given])
        a, own = accelerations or (self._spare, self._spare)
        others = self._momentum, self._limit, self._zero, q, v, a, own, self._inverse_mass, self.counts
        schemes_of, rigid = np.array(schemes, float), self._keep_rigid if accelerations else 0
        taken = _steps(
            self.find, rigid, n, schemes_of, system, factors, vectors, blocks, *others, works, seen, begin, self._kept
        )
        if system.frames is not None:
            works[len(loads.histories) :] += system.frames.works
            system.frames.works[:] = 0.0
        return taken

    def _equations(self) -> tuple[types.Type, ...]:
        """Return the types of what Newton's method takes."""
        assert self.newton is not None, "it is asked for where there is one"
        scheme, vectors = typeof(impulsive(1.0, 1.0, 1.0, 1.0, 1.0, discrete=False)), types.float64[:, ::1]
        parts = typeof(self.newton.system), typeof(self.newton.factors), scheme, types.float64[::1], *[vectors] * 3
        rooms = types.float64[:, :, ::1], types.float64[:, :, ::1]
        return *parts, *rooms, types.int64, types.int64[::1], types.boolean, types.float64[::1]

    @property
    def increment(self) -> Array:
        """That of the last step [n, dim] in m."""
        assert self.newton is not None, "no step was taken"
        return self.newton.vectors[INCREMENT]

    def solve(self, scheme: Scheme, t: float, q: Array, v: Array, start: Array) -> tuple[Array, Array, int] | None:
        """Return increment and forces [n, dim] of a step from t and the corrections that it took, without taking it.

        From increments [n, dim] to start with. None if the general method has to look for it.
        """
        if self.newton is None:
            return None
        system, factors, vectors, blocks, loads = self.newton
        counts, state = np.zeros(2, np.int64), (q.copy(), v.copy(), self._spare, self._spare, self._inverse_mass)
        n, seen = Steps.one(t, scheme.h).load_factors(1, loads, scheme.seen)
        rest = (
            self._momentum,
            self._limit,
            start,
            *state,
            counts,
            np.zeros(len(system.loads.forces.rows)),
            seen,
            seen,
            self._kept,
        )
        if not _steps(self.find, 0, n, np.array([scheme], float), system, factors, vectors, blocks, *rest):
            return None
        return self.increment.copy(), vectors[FORCES].copy(), int(counts[0])


@kernel
def _steps(
    find, keep_rigid, n, schemes, system, factors, vectors, blocks,
    momentum, limit, start, q, v, a, own, inverse_mass, counts, works, seen, begin, kept,
):  # fmt: skip
    """Take n steps, with the factors seen [s, l] of loads, and those at the begin; return how many were possible.

    At the address ``keep_rigid``, unless it is 0, is what makes carried accelerations those of rigid frames.
    """
    for step in range(n):
        c = schemes[step % len(schemes)]
        more = c[12], c[13], c[14], c[15], c[16] > 0.0
        scheme = Scheme(c[0], c[1], c[2], c[3] > 0.0, c[4], c[5], c[6], c[7], c[8], c[9], c[10], c[11], *more)
        for i in range(q.shape[0]):
            for k in range(q.shape[1]):
                momentum[i, k] = system.mass[i] * _by_mass(scheme, v[i, k], a[i, k], own[i, k])
                vectors[VELOCITIES, i, k] = scheme.seen_v * v[i, k] + scheme.seen_own * own[i, k]
        load_factors = seen[step % len(seen)]
        equations = system, factors, scheme, load_factors, momentum, q, start
        if not call_testing_kernel(find, (*equations, vectors, blocks, limit, counts, False, kept)):
            return step
        if len(system.loads.forces.rows):
            _add_works(system, scheme, load_factors, begin[step % len(begin)], vectors, q, v, works)
        _finish(scheme, vectors, inverse_mass, q, v, a, own)
        if keep_rigid:  # else what is across rigid motions grows: the equations say nothing of it
            call_writing_kernel(keep_rigid, (system, q, v, own, vectors))
    return n


@formula
def _add_works(system, scheme, factors, at_begin, vectors, q, v, works):
    """Add the work of each load on the increment."""
    see_loads(scheme, q, vectors, INCREMENT)
    for k in range(len(system.loads.forces.rows)):
        write_seen_load(system, k, factors[k], q, vectors)
        work = dot(vectors[LOAD], vectors[INCREMENT])
        if scheme.work_at_ends:
            write_load(system.loads.forces, k, at_begin[k], q, q, q, v, vectors[LOAD])
            work = 0.5 * (work + dot(vectors[LOAD], vectors[INCREMENT]))
        works[k] += work


@formula
def dot(x, y):
    """Return the inner product of vectors [n, dim]."""
    total = 0.0
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            total += x[i, k] * y[i, k]
    return total


@formula
def _finish(scheme, vectors, inverse_mass, q, v, a, own):
    """Move by the increment, with velocities from the forces and not from it: their sum is zero to round-off."""
    for i in range(q.shape[0]):
        for k in range(q.shape[1]):
            q[i, k] += vectors[INCREMENT, i, k]
            a1 = -vectors[FORCES, i, k] * inverse_mass[i, k]
            own1 = _own_at_end(scheme, a1, a[i, k], own[i, k])
            v[i, k] += _change_of_v(scheme, own[i, k], own1)
            a[i, k], own[i, k] = a1, own1
