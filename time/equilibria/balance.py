"""The balance of all forces on a system at rest, as equations for Newton's method."""

from __future__ import annotations

from typing import final

import numpy as np

from symplex.errors import StepFailed
from symplex.fem.actions.increment_load import IncrementLoad
from symplex.fem.energies.energy import Array
from symplex.fem.energies.neighbour_list import IncompleteStencils
from symplex.fem.system import Load, System
from symplex.time.solvers.direct import SparseSolver
from symplex.time.solvers.linear_solver import take_out
from symplex.time.solvers.newton import EPS, FLOOR, masses_of_norms

_TINY = float(np.finfo(float).tiny)
_NEARLY = 1e-7  # of the largest number of a tangent: stiffness that decides nothing


@final
class StaticBalance:
    """∇V(q) − f(t, q, 0) = (1 − λ) r at q + Δq, with r what is not balanced at the start.

    With λ from 0 to 1 it leads from the shape at the start, which it takes for balanced, to a balance of all forces; of
    dead loads on a body without stress λ is the part that acts. Supports that move have gone the part λ of their way.

    Parameters
    ----------
    system : System
    t : float
        The time in s at which loads act.
    q : float64 [n, dim]
        Positions at the start in m.
    way : float64 [n, dim]
        How far supports move, zero elsewhere.
    slip : (float64 [n, dim], float), optional
        Where nodes were before the present increment, and its time in s: friction acts against the mean velocity since.
        Without, nothing slips and friction does not act.

    Attributes
    ----------
    unbalanced : float64 [n, dim]
        r in N, zero where fixed.
    size : float
        The largest force on a node that has been seen, in N, those of supports included.
    length : float
        The size of the system in m.
    start : float64 [n, dim]
        Positions at the start in m.
    """

    impulse, symmetric, at, seen = 1.0, True, (1.0, 1.0), (1.0,)

    def __init__(self, system: System, t: float, q: Array, way: Array, slip: tuple[Array, float] | None = None):
        self.system, self.way = system, way
        self._slip = slip if system.increment_loads else None
        self.inertia = 0.0
        self.t, self._rest = t, np.zeros_like(q)
        self.start, self._q = q, q
        self.constant = np.zeros_like(q)
        self.symmetric = not system.differentiable_loads
        self.size = _TINY
        self._mass = masses_of_norms(system)[:, None]
        self.unbalanced = self.residual(q)
        spans = np.ptp(np.where(np.isfinite(q), q, 0.0), axis=0)
        self.length = float(np.linalg.norm(spans)) or float(np.abs(way).max(initial=0.0)) or 1.0

    def begin(self, q: Array, part: float) -> None:
        """Be the equations for the part λ, for increments from the positions q."""
        self._q = q
        np.multiply(self.unbalanced, 1.0 - part, out=self.constant)

    def residual(self, q: Array) -> Array:
        """Return ∇V − f [n, dim] in N at the positions q, zero where fixed."""
        forces = np.zeros_like(q)
        self.write_forces(q, forces)
        self.size = max(self.size, float(np.abs(forces).max(initial=0.0)))  # those within frames included
        if self.system.joints:
            self.system.joints.at(self.t).balance(self.system, q, forces)
        if self.system.frames:
            forces = self.system.frames.resultants(self.system, forces, q)
        forces[self.system.fixed] = 0.0
        return forces

    def is_at_rest(self, q: Array) -> bool:
        """Return whether nothing acts from outside, and inner forces are no more than rounding leaves of them.

        A force without stiffness comes from outside; others are compared with what cancels in them.
        """
        system, pattern = self.system, self.system.pattern
        if self.way.any() or any(load(self.t, q, self._rest).any() for load in system.loads.values()):
            return False
        for energy, slots in zip(system.energies.values(), pattern.slots, strict=False):
            forces, blocks = np.zeros_like(q), pattern.zeros(system.dim)
            energy.add_gradient(q, forces)
            energy.add_hessian(q, slots, blocks)
            if self._norm(forces) > self._round_off(q, forces, blocks):
                return False
        return True

    def is_balanced(self, q: Array, residual: Array, tolerance: float) -> bool:
        """Return whether a residual [n, dim] at positions q is a part of the forces, or no more than round-off."""
        if np.abs(residual).max(initial=0.0) <= tolerance * self.size:
            return True
        forces = np.zeros_like(q)
        self.write_forces(q, forces)
        return self._norm(residual) <= self._round_off(q, forces, self.stiffness_of_all(q))

    def _norm(self, forces: Array) -> float:
        """Return |M^(−1/2) forces| in N/√kg."""
        return float(np.sqrt((forces * forces / self._mass).sum()))

    def _round_off(self, q: Array, forces: Array, blocks: Array) -> float:
        """Return the norm of what may be round-off of forces [n, dim] at positions q, as Newton's method takes it."""
        summed = abs(self.system.pattern.matrix(blocks)) @ np.abs(q).reshape(-1)
        summed = np.abs(forces) + summed.reshape(q.shape)
        return FLOOR * EPS * self._norm(summed)

    def is_far(self, q: Array, times: float) -> bool:
        """Return whether a node has moved by so many times the size of the system, and of the way of its supports."""
        moved = float(np.abs(q - self.start).max(initial=0.0))
        return moved > times * (self.length + float(np.abs(self.way).max(initial=0.0)))

    # -- what Newton's method asks for ----------------------------------------------------------------------

    def forces(self, dq: Array, out: Array) -> None:
        """Write ∇V − f to out."""
        self.write_forces(self._q + dq, out)

    def blocks(self, dq: Array, out: Array) -> None:
        """Write the derivative of ∇V − f to out."""
        self.write_stiffness(self._q + dq, out)

    def write_forces(self, q: Array, out: Array) -> None:
        """Write ∇V − f [n, dim] at positions q to out."""
        self.system.gradient(q, out)
        for load in self.system.loads.values():
            out -= load(self.t, q, self._velocities(load, q))

    def _velocities(self, load: Load, q: Array) -> Array:
        """Return the velocities [n, dim] that a load sees: those of slip, or none."""
        if self._slip is None or not isinstance(load, IncrementLoad):
            return self._rest
        before, dt = self._slip
        return (q - before) / dt

    def write_stiffness(self, q: Array, out: Array) -> None:
        """Write its derivative [nnz, dim, dim] on the system's pattern to out."""
        self.system.hessian_blocks(q, out)
        if self.system.differentiable_loads:
            slip = None
            if self._slip is not None:
                before, dt = self._slip
                slip = (q - before) / dt, -1.0 / dt
            self.system.add_load_derivatives(self.t, q, self._rest, -1.0, 0.0, out, slip=slip)

    # -- the tangent, with supports -------------------------------------------------------------------------

    def stiffness(self, q: Array) -> tuple[Array, Array]:
        """Return the blocks [nnz, dim, dim] in N/m, fixed coordinates taken out, and the derivative [n, dim] by λ."""
        system = self.system
        blocks = self.stiffness_of_all(q)
        by_part = self.unbalanced.copy()
        if self.way.any():
            by_part += (system.pattern.matrix(blocks) @ self.way.reshape(-1)).reshape(q.shape)
        by_part[system.fixed] = 0.0
        take_out(system.pattern, system.fixed, blocks)
        return blocks, by_part

    def stiffness_of_all(self, q: Array) -> Array:
        """Return the blocks [nnz, dim, dim] in N/m at the positions q, supports not yet taken out."""
        system = self.system
        blocks = system.pattern.zeros(system.dim)
        try:
            self.write_stiffness(q, blocks)
        except IncompleteStencils as error:
            system.extend_list(error.ends)
            blocks = system.pattern.zeros(system.dim)
            self.write_stiffness(q, blocks)
        return blocks

    def is_stable(self, q: Array) -> bool | None:
        """Return whether the pivots of a tangent that is not symmetric are positive at q; None if that is not known.

        Those of a symmetric one are where it is positive definite; in either case one of them changes its sign where a
        path of equilibria ends, or a second one begins. It is not known of a tangent that is so nearly singular that a
        little more stiffness makes them positive, as with elements of reduced integration in a row.
        """
        from symplex.time.solvers.automatic import LARGEST_DIRECT  # compiled when first needed

        if q.size > LARGEST_DIRECT:
            return None
        pattern = self.system.pattern
        solver, blocks = SparseSolver(pattern, self.system.dim), self.stiffness(q)[0]
        try:
            solver.update(blocks, False, q)
            if solver.definite:
                return True
            blocks[pattern.diagonal()] += _NEARLY * float(np.abs(blocks).max(initial=0.0)) * np.eye(self.system.dim)
            solver.update(blocks, False, q)
        except StepFailed:
            return None
        return None if solver.definite else False


def works_of_slip(system: System, t: float, before: Array, q: Array, dt: float) -> list[float]:
    """Return the work in J of each load against slip from positions before to q [n, dim] in a time dt in s."""
    v = (q - before) / dt
    return [
        system.dot(load(t, q, v), q - before) if isinstance(load, IncrementLoad) else 0.0
        for load in system.loads.values()
    ]
