"""Derivatives of one number of a run, as they are carried backwards."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import final

import numpy as np

from symplex.fem.assembly.inner_products import norm
from symplex.fem.assembly.pattern import Array
from symplex.fem.masses import Masses
from symplex.gradients.explicit_loop import ExplicitLoop
from symplex.gradients.family import Family
from symplex.gradients.internal_variables import Increment
from symplex.gradients.linear_steps import (
    Change,
    ForcesAtPoint,
    LinearAccelerations,
    LinearStep,
    Step,
    StepForces,
    Variation,
    added,
    unconditional,
)
from symplex.gradients.rigid_frames import rigid_backward


@final
class Backward:
    """The derivatives by a state, and by all that steps after it depend on.

    Attributes
    ----------
    by : Variation
        Those by the state.
    family : Family
    mass : float64 [n]
    factors : dict of str to float64 [m]
    """

    def __init__(self, family: Family, factors: Sequence[str]):
        self.family, self._system = family, family.system
        zero = np.zeros((*family.state.q.shape, 1))
        z = {name: np.zeros((*one.shape, 1)) for name, one in family.state.internal.items()}
        self.by = Variation(zero, zero, zero, zero, z)
        self._parameters = np.zeros(len(family))
        self.mass = np.zeros(self._system.n_nodes)
        self.factors = {name: np.zeros(len(self._system.energies[name].nodes)) for name in factors}
        self._added, self._largest = np.zeros(2), np.zeros(2)  # sizes of derivatives by positions, and velocities

    def copy(self) -> Backward:
        """Return a copy."""
        new = copy.copy(self)
        for name in ("_parameters", "mass", "_added", "_largest"):
            setattr(new, name, getattr(self, name).copy())
        new.factors = {name: one.copy() for name, one in self.factors.items()}
        return new

    def restore(self, kept: Backward) -> None:
        """Take what a copy has."""
        vars(self).update(vars(kept))

    def add(self, by_q: Array, by_v: Array) -> None:
        """Add the derivatives of a cost by a state."""
        by = self.by
        self.by = by._replace(q=by.q + by_q[..., None], v=by.v + by_v[..., None])
        self._added += norm(by_q), norm(by_v)

    def step(self, linear: LinearStep, forces: StepForces, step: Step) -> None:
        """Take a step back."""
        self.by, by_g = linear.backward(self.by)
        self.take(by_g, forces, step.a1, range(len(self._parameters)))
        np.maximum(self._largest, (norm(self.by.q), norm(self.by.v)), out=self._largest)

    def follow(self, after: Backward) -> float:
        """Begin where a later run has come to; return the derivative by the time of a condition that is between."""
        zero, k = np.zeros_like(after.by.q), len(self._parameters)
        self.by = Variation(after.by.q, after.by.v, zero, zero, after.by.z)
        self._parameters += after._parameters[:k]
        self.mass += after.mass
        self._added, self._largest = after._added, after._largest
        self.factors = after.factors | {name: one + after.factors.get(name, 0.0) for name, one in self.factors.items()}
        return float(after._parameters[k:].sum())

    def end_by(self, by: Variation, parameters: Array) -> None:
        """Take the derivatives by the state at a time that is fixed, and add those by parameters."""
        self.by = by
        self._parameters += parameters

    def add_time(self, rates: Variation) -> None:
        """Add those by the time of the start, by which the end of a step has rates."""
        self._parameters += self.by.dot(rates) * self.family.dt

    def add_explicit(self, loop: ExplicitLoop) -> None:
        """Add what a compiled loop over explicit steps has found."""
        self._parameters += loop.parameters
        self._add_masses(loop.by_mass.sum(axis=1))
        np.maximum(self._largest, loop.largest, out=self._largest)

    def _add_masses(self, by_mass: Array) -> None:
        self.mass += by_mass
        if self.family.masses is not None:
            self._parameters += by_mass @ self.family.masses

    def take(self, by: Change, forces: StepForces, a: Array | None, parameters: Iterable[int]) -> None:
        """Add the derivatives by some parameters, masses and factors that act through changes of equations.

        Without accelerations a [n, dim] those by masses are left out.
        """
        family, system, by_g = self.family, self._system, by.forces[..., 0]
        for j in parameters:
            changed = family.changed[j]
            if changed:
                self._parameters[j] += float(np.sum(by_g * family.slope_of_forces(j, forces)))
            if changed.joints:
                self._parameters[j] += float(by.conditions[:, 0] @ family.slope(j, forces.conditions))
            for name in changed.inelastic if by.variables else ():
                z1 = family.slope_of_variables(j, forces, name)
                self._parameters[j] += float(np.sum(by.variables[name][..., 0] * z1))
        if by.masses is not None:
            self._add_masses(by.masses)
        if system.is_lumped and a is not None:
            self._add_masses(np.einsum("nd,nd->n", by_g, a))
        for name, out in self.factors.items():
            local = forces.local(system, name)
            out += np.einsum("mkd,mkd->m", by_g[system.energies[name].nodes], local)

    def begin_of_run(self, start: Mapping[str, Array]) -> None:
        """Go through the accelerations at the start."""
        state, system, q = self.family.state, self._system, start["q"]
        v, by_a, moves = start["v"], self.by.a + self.by.own, np.flatnonzero(self.family.dt)
        for j in map(int, moves):
            held = self.family.slope_at_start(j, lambda one, t: one.held(t, v))
            a = self.family.slope_at_start(j, lambda one, t: one.accelerations_at(t, q, v, state.internal))
            self._parameters[j] += float(np.sum(self.by.v[..., 0] * held) + np.sum(by_a[..., 0] * a))
        self.by = by = self.by._replace(v=np.where(system.fixed[..., None], 0.0, self.by.v))  # supports have their own
        if system.frames is not None and not by_a.any():
            return  # of methods that carry none
        linear = LinearAccelerations(system, state.t, q, v)
        by_a = np.where(system.fixed[..., None], 0.0, by_a)
        by_q, by_v, by_g = linear.backward(by_a) if system.frames is None else self._of_frames(linear, by_a[..., 0])
        at = Increment(q, state.internal, q, 0.0, 1.0, False) if system.inelastic else None
        others = np.setdiff1d(range(len(self._parameters)), moves)
        self.take(
            unconditional(by_g), ForcesAtPoint(*linear.at, at), start["a"] if system.frames is None else None, others
        )
        by_v = np.where(system.fixed[..., None], 0.0, by_v)
        self.by = by = by._replace(q=by.q + by_q, v=by.v + by_v)
        if at is not None:
            found = at.backward(system, by_g[..., 0])
            self.by = by._replace(q=by.q + (found.q0 + found.q1)[..., None], z=added(by.z, found.z0))

    def _of_frames(self, linear: LinearAccelerations, by_a: Array) -> tuple[Array, Array, Array]:
        """Return the derivatives by positions, velocities and forces through accelerations of frames."""
        system, (t, q, v) = self._system, linear.at
        frames, loose = system.frames, np.ones((len(q), 1))
        assert frames is not None, "it has frames"
        loose[frames.nodes] = 0.0
        force, masses = system.force(t, q, v, internal=self.family.state.internal), np.asarray(system.mass)[:, None]

        def accelerations(like: Masses, q: Array, v: Array, force: Array) -> tuple[Array]:
            return (frames.accelerations(like, force, q, v),)

        (by_q, by_v, by_force), by_masses = rigid_backward(system, accelerations, (q, v, force), (by_a,))
        of_loose = loose * by_a / masses
        self._add_masses(by_masses - np.sum(of_loose * force, axis=1) / masses[:, 0])
        more_q, more_v, by_g = linear.backward_of_forces(-(by_force + of_loose)[..., None])
        return by_q[..., None] + more_q, by_v[..., None] + more_v, by_g

    def by_parameters(self) -> Array:
        """Return the derivatives [k] by parameters, those through the start included."""
        family, found = self.family, self._parameters.copy()
        found += np.einsum("ndk,nd->k", family.dq, self.by.q[..., 0])
        found += np.einsum("ndk,nd->k", family.dv, self.by.v[..., 0])
        return found + sum(by.ravel() @ family.dz[name].reshape(by.size, -1) for name, by in self.by.z.items())

    @property
    def growth(self) -> float:
        """How many times larger derivatives by a state have become than what costs have added to them."""
        return float(np.divide(self._largest, self._added, out=np.zeros(2), where=self._added > 0.0).max())
