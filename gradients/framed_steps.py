"""Steps of systems with frames and joints, linearised.

The equations r = inertia M Δq − M w + impulse (F + Ḡᵀλ) of particles are tested with the rigid motions P̄ of frames at
q̄ = q0 + α Δq, and joints hold at the end, g(q1) = 0 (`symplex.time.solvers.nodal_coordinates`). Changes of the end are

    δq1 = S δq0 + P1 y,

where S takes what a frame is at the start by its rotation in the step, so that frames may change with parameters too,
and y are small displacements and rotations at the end. With δρ̄ = (1 − α) δρ0 + α δρ1 for the arms ρ of particles

    P̄ᵀ (δr + impulse Ḡᵀ δλ) + Σ δρ̄ × r = 0,    G1 δq1 + ∂g/∂p = 0.

Methods that carry accelerations make these and velocities those of rigid motions after each step
(`symplex.gradients.rigid_frames`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

import numpy as np

from symplex.fem.assembly.pattern import Array
from symplex.fem.system import System
from symplex.gradients.internal_variables import IncrementChange
from symplex.gradients.linear_steps import (
    Change,
    ForcesOnStep,
    LinearStep,
    Names,
    Product,
    Solvers,
    Step,
    StepForces,
    Variation,
    added,
    applied,
    before_end,
    derivatives_of_forces,
    evaluated,
    variables_at_end,
)
from symplex.gradients.rigid_frames import made_rigid, rigid_backward, rigid_changes
from symplex.time.implicit.scheme import Scheme, by_mass, change_of_v, own_at_end
from symplex.time.solvers.direct import SparseSolver
from symplex.time.solvers.linear_solver import take_out
from symplex.time.solvers.nodal_coordinates import NodalCoordinates, direct_solver

_REFINEMENTS = 2  # of solutions with multipliers, each of which leaves of an error its part δ


@final
class FramedSolvers:
    """The coordinates of a system with frames, and linear solvers for its matrices.

    Parameters
    ----------
    system : System

    Attributes
    ----------
    coordinates : NodalCoordinates
    """

    def __init__(self, system: System):
        assert system.frames is not None, "it is for systems with frames"
        self.coordinates = NodalCoordinates(system, system.frames, with_joints=True)
        self._solvers = Solvers(
            self.coordinates.system, direct_solver if self.coordinates.border is None else SparseSolver
        )

    def solve(self, blocks: Array, b: Array, transposed: bool) -> Array:
        """Return the solutions [nodes, 3, k] of a matrix, or its transpose, without the shift −δ of multipliers."""
        own = self.coordinates.system
        places = np.zeros(own.fixed.shape)
        b = np.where(own.fixed[..., None], 0.0, b)
        x = self._solvers.solve(blocks, b, places, transposed)
        if (border := self.coordinates.border) is not None:
            first = self.coordinates.n_nodes
            exact = blocks.copy()
            node, axis = np.nonzero(~border.unused)
            exact[own.pattern.diagonal()[first + node], axis, axis] = 0.0
            product = Product(own, exact)
            times = product.transposed_times if transposed else product.times
            for _ in range(_REFINEMENTS):
                x += self._solvers.solve(blocks, b - times(x), places, transposed)
        return np.where(own.fixed[..., None], 0.0, x)


def _rate(system: System, stiffness: Array) -> float:
    """Return about how large K/M is in 1/s²."""
    diagonal = np.abs(np.einsum("nii->n", stiffness[system.pattern.diagonal()])).sum()
    return float(diagonal / (3.0 * system.mass_values[system.pattern.diagonal()].sum())) or 1.0


@final
class FramedForces(StepForces):
    """The forces of an implicit step, by its scheme, with those of its joints."""

    def __init__(
        self,
        of_step: StepForces,
        step: Step,
        middle: Array,
        multipliers: Array,
        ends: tuple[Array, Array, Array] | None,
    ):
        self._of_step, self._step, self._middle, self._multipliers = of_step, step, middle, multipliers
        self._ends = ends

    def of(self, system: System, names: Names) -> Array:
        """Return G − f + Ḡᵀλ [n, 3]."""
        out = self._of_step.of(system, names)
        if names.joints:
            joints = system.joints.at(self._step.t, self._step.t + self._step.h)
            joints.add_forces(joints.gradients(self._middle), self._multipliers, out)
        return out

    def local(self, system: System, energy: str) -> Array:
        """Return ∂φ/∂x, or the discrete gradients, [m, k, dim]."""
        return self._of_step.local(system, energy)

    def variables(self, system: System) -> Mapping[str, Array]:
        """Return the internal variables at the end of the step, by the names of parts."""
        return self._of_step.variables(system)

    def carried(self, system: System) -> Array | None:
        """Return velocities and accelerations [2, n, dim] at its end, made those of rigid frames."""
        return None if self._ends is None else np.stack(made_rigid(system, *self._ends))

    def conditions(self, system: System) -> Array:
        """Return g [c] at the end."""
        if not system.joints:
            return np.zeros(0)
        return system.joints.at(self._step.t + self._step.h).violations(self._step.q1)


@final
class FramedLinearStep(LinearStep):
    """A step of an implicit method, of a system with frames."""

    def __init__(self, system: System, solvers: FramedSolvers, scheme: Scheme, step: Step, deltas: Array):
        assert system.frames is not None, "it is for systems with frames"
        self._system, self._solvers, self._scheme, self._step = system, solvers, scheme, step
        self._frames, self._free, self._deltas = system.frames, ~system.fixed[..., None], deltas
        self._rotations = self._frames.rotations(step.q0, step.q1)
        self._rotations[system.fixed[self._frames.nodes].all(axis=(1, 2))] = np.eye(3)
        self._alpha = 0.5 if scheme.discrete else scheme.alpha  # where forces act
        self._middle = step.q0 + self._alpha * (step.q1 - step.q0)
        own1 = own_at_end(scheme, step.a1, step.a0, step.own0)
        v1 = step.v0 + change_of_v(scheme, step.own0, own1)
        self._ends = (step.q1, v1, own1) if scheme.carries else None  # before they are made rigid
        system.covering(self._assemble)

    def _assemble(self) -> None:
        system, scheme, step, coordinates = self._system, self._scheme, self._step, self._solvers.coordinates
        by_start, by_end, by_v = derivatives_of_forces(system, scheme, step)
        self._by_v = None if by_v is None else Product(system, by_v)
        forces = ForcesOnStep(scheme, step)
        total = forces.of(system, Names.of(system)._replace(joints=()))
        momentum = scheme.inertia * (step.q1 - step.q0) - by_mass(scheme, step.v0, step.a0, step.own0)
        momentum = system.apply_mass(momentum)
        self._border, multipliers = coordinates.border, np.zeros(0)
        if (border := self._border) is not None:
            joints = system.joints.at(step.t, step.t + step.h)
            multipliers = joints.balance(system, self._middle, total + momentum / scheme.impulse)
            border.take_times(step.t, step.t + step.h)
            border.begin(step.q0, scheme.inertia, scheme.impulse, _rate(system, by_end))
            border.at_increment(border.unknowns(multipliers), self._middle, step.q1, total)
            border.add_stiffness(self._alpha, by_end)
            border.add_stiffness(1.0 - self._alpha, by_start)
            self._gradients = border.at_end.gradients(step.q1)
        self.forces = FramedForces(forces, step, self._middle, multipliers, self._ends)
        self._residual = momentum + scheme.impulse * total
        masses = scheme.inertia * system.mass_values[:, None, None] * np.eye(3)
        by_end, by_start = scheme.impulse * by_end + masses, scheme.impulse * by_start - masses
        self._by_end, self._by_start = Product(system, by_end), Product(system, by_start)
        own = coordinates.system
        self._blocks, still = own.pattern.zeros(3), np.zeros(own.fixed.shape)
        ends = self._middle, step.q1
        if system.inelastic:
            of_parts = np.zeros_like(by_end)
            evaluated(scheme, step).add_derivatives(system, of_parts)
            by_end = by_end + scheme.impulse * of_parts  # not in place: a product reads it
        coordinates.write_matrix(by_end, ends, still, self._residual, self._alpha, self._blocks)
        if border is not None:
            border.add_border(still, self._blocks)
        take_out(own.pattern, own.fixed, self._blocks)

    def forward(self, d: Variation, g: Change) -> Variation:
        """Return the changes at its end."""
        scheme, coordinates = self._scheme, self._solvers.coordinates
        carried = self._carried(d.q)
        forces = self._by_end.times(carried) + self._by_start.times(d.q) + scheme.impulse * g.forces
        if self._system.inelastic:
            at = evaluated(scheme, self._step)
            change = IncrementChange(at, d.q, d.z, carried, self._deltas)
            forces += scheme.impulse * change.of_forces(self._system)
        if self._by_v is not None:
            forces -= scheme.impulse * self._by_v.times(scheme.seen_v * d.v + scheme.seen_own * d.own)
        w = by_mass(scheme, d.v, d.a, d.own)
        left = self._resultants(self._middle, forces - applied(self._system, w))
        left[1 : 2 * len(self._frames) : 2] += self._moments((1.0 - self._alpha) * d.q + self._alpha * carried)
        if self._border is not None:
            opened = np.einsum("cai,caik->ck", self._gradients, carried[self._border.at_end.nodes])
            left[coordinates.n_nodes :] = self._border.equations(opened + g.conditions)
        q = carried + self._motions(self._step.q1, self._solvers.solve(self._blocks, -left, False))
        a = np.where(self._free, (scheme.inertia * (q - d.q) - w) / scheme.impulse, 0.0)
        own = own_at_end(scheme, a, d.a, d.own)
        v = d.v + change_of_v(scheme, d.own, own)
        if self._ends is not None:
            v, own = rigid_changes(self._system, self._ends, (q, v, own))
            v, own = (v, own) if g.carried is None else (v + g.carried[0], own + g.carried[1])
        z = variables_at_end(self._system, self._step, d, q, g, self._deltas)
        return Variation(q, v, a, own, z)

    def backward(self, adjoint: Variation) -> tuple[Variation, Change]:
        """Return the derivatives by the start, and by the forces."""
        scheme, coordinates = self._scheme, self._solvers.coordinates
        by_masses = None
        if self._ends is not None:
            by = adjoint.v[..., 0], adjoint.own[..., 0]
            found, by_masses = rigid_backward(self._system, self._system.frames.rigid_motion, self._ends, by)  # pyright: ignore[reportOptionalMemberAccess]
            loose = np.ones(len(by[0]), bool)
            loose[self._frames.nodes] = False
            q, v, own = (one[..., None] for one in found)
            adjoint = adjoint._replace(
                q=adjoint.q + q, v=v + loose[:, None, None] * adjoint.v, own=own + loose[:, None, None] * adjoint.own
            )
        by_own = adjoint.own + scheme.h * scheme.gamma * adjoint.v
        by_a = np.where(self._free, adjoint.a + scheme.own_a1 * by_own, 0.0) / scheme.impulse
        by_end, by_q0, z = before_end(self._system, self._step, adjoint)
        by_end = by_end + scheme.inertia * by_a
        mu = self._solvers.solve(self._blocks, self._resultants(self._step.q1, by_end), True)
        m, by_arms = self._motions(self._middle, mu), self._moments_back(mu[1 : 2 * len(self._frames) : 2])
        by_end = by_end - self._by_end.transposed_times(m) - self._alpha * by_arms
        if self._system.inelastic:
            found = evaluated(scheme, self._step).backward(self._system, -scheme.impulse * m[..., 0])
            by_end, by_q0, z = by_end + found.q1[..., None], by_q0 + found.q0[..., None], added(z, found.z0)
        by_conditions = np.zeros((0, mu.shape[2]))
        if self._border is not None:
            by_conditions = -self._border.of_equations(mu[coordinates.n_nodes :])
            local = self._gradients[..., None] * by_conditions[:, None, None]
            np.add.at(by_end, self._border.at_end.nodes, local)
        q = self._carried(by_end, back=True) - self._by_start.transposed_times(m) - (1.0 - self._alpha) * by_arms
        q += by_q0 - scheme.inertia * by_a
        by_w = applied(self._system, m) - by_a
        by_seen = 0.0 if self._by_v is None else scheme.impulse * self._by_v.transposed_times(m)
        v = adjoint.v + scheme.by_v * by_w + scheme.seen_v * by_seen
        a = scheme.by_a * by_w + scheme.own_a0 * by_own
        own = scheme.by_own * by_w + scheme.own_own * by_own + scheme.h * (1.0 - scheme.gamma) * adjoint.v
        own = own + scheme.seen_own * by_seen
        return Variation(q, v, a, own, z), Change(-scheme.impulse * m, by_conditions, adjoint.z, masses=by_masses)

    def _carried(self, dq: Array, back: bool = False) -> Array:
        """Return S δq [n, 3, k], or Sᵀ δq."""
        out, nodes = dq.copy(), self._frames.nodes
        mean = dq[nodes].mean(axis=1, keepdims=True)
        rotations = self._rotations.swapaxes(1, 2) if back else self._rotations
        out[nodes] = mean + np.einsum("fij,fajk->faik", rotations, dq[nodes] - mean)
        return out

    def _resultants(self, q: Array, forces: Array) -> Array:
        """Return P(q)ᵀ forces [nodes, 3, k], zero of multipliers."""
        coordinates = self._solvers.coordinates
        out = np.zeros((forces.shape[2], *coordinates.system.fixed.shape))
        for k in range(forces.shape[2]):
            coordinates.write_resultants(q, np.ascontiguousarray(forces[..., k]), out[k])
        return np.moveaxis(out, 0, 2).copy()

    def _motions(self, q: Array, z: Array) -> Array:
        """Return P(q) z [n, 3, k]."""
        return np.stack([self._solvers.coordinates.motions(q, z[..., k]) for k in range(z.shape[2])], axis=2)

    def _moments(self, x: Array) -> Array:
        """Return Σ δρ × r [f, 3, k] for changes x [n, 3, k] of particles."""
        nodes = self._frames.nodes
        arms = x[nodes] - x[nodes].mean(axis=1, keepdims=True)
        shared = self._frames.shares[:, None, None] * self._residual[nodes]
        return np.cross(arms, shared[..., None], axis=2).sum(axis=1)

    def _moments_back(self, theta: Array) -> Array:
        """Return the derivatives [n, 3, k] by changes of particles of θ·Σ δρ × r for θ [f, 3, k]."""
        nodes = self._frames.nodes
        out = np.zeros((*self._residual.shape, theta.shape[2]))
        local = np.cross(self._residual[nodes][..., None], theta[:, None], axis=2)
        out[nodes] = local - local.mean(axis=1, keepdims=True)
        return out
