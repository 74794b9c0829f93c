"""Paths of equilibria by arc length, through points at which the load turns back."""

from __future__ import annotations

from collections.abc import Generator
from math import sqrt
from typing import NamedTuple

import numpy as np

from symplex.errors import StepFailed
from symplex.fem.energies.energy import Array
from symplex.time.equilibria.balance import StaticBalance
from symplex.time.equilibria.lost_stiffness import LostStiffness
from symplex.time.solvers.direct import SparseSolver
from symplex.time.solvers.linear import Linear, linear_solver
from symplex.time.solvers.linear_solver import take_out
from symplex.time.solvers.nodal_coordinates import NodalCoordinates

_FIRST = 0.05  # of the load, along the tangent, that a first step makes
_SHORTEST = 1e-6  # of the first step
_CORRECTIONS = 12
_USUAL = 4  # corrections: where it takes less, steps get longer
_MOST, _MOST_ACROSS = 2.0, 100.0  # how far corrections may lead, in steps: where bonds break or arrest, much farther
_BALANCED = 1e-10  # residual relative to the forces
_FAR = 100.0  # sizes of the system


class PathPoint(NamedTuple):
    """An equilibrium on a path.

    Attributes
    ----------
    part : float
        λ, of the load and of the way of supports.
    q : float64 [n, dim]
        Positions in m.
    stable : bool
        Whether the tangent is positive definite there.
    corrections : int
        That it took.
    """

    part: float
    q: Array
    stable: bool
    corrections: int


def arc_length_path(
    balance: StaticBalance, q: Array, part: float, linear: Linear, step: float, lost: LostStiffness | None = None
) -> Generator[PathPoint, float | None]:
    """Yield equilibria along the path that leads on from a balanced shape with λ growing at first.

    Each step goes along the tangent, and is corrected on the plane across it (Riks 1979); λ is an unknown as the
    positions are, and of frames displacements and rotations. It ends where no step is short enough, or the system has
    moved far off. Sent a number, it goes back to the point before and on with a step that is so much shorter.

    Parameters
    ----------
    balance : StaticBalance
    q : float64 [n, dim]
    part : float
        λ of the shape q.
    linear : str
        The linear solver (`symplex.time.solvers.linear.Linear`).
    step : float
        How far nodes may move in a step, in the quadratic mean, as a part of the size of the system.
    lost : LostStiffness, optional
        By which the path goes on where something flows or opens: along motions in which that grows, corrected on the
        plane across what they lose. Without, along those that turn least.
    """
    tangent = _Tangent(balance, linear)
    along = tangent.at(q)
    if along is None:
        return
    most = step * balance.length * sqrt(tangent.n_nodes)
    size = first = min(_FIRST * tangent.norm(along), most)
    before = along
    while size > _SHORTEST * first:
        direction = along / tangent.norm(along)
        turns = 0.0 if lost is None else tangent.inner(direction, lost.by(q, before))
        if (turns or tangent.inner(direction, before)) < 0.0:
            direction = -direction
        rate = 1.0 / tangent.inner(direction, along)  # dλ/ds
        across = None if lost is None else lost.by(q + size * direction, direction)
        found = tangent.corrected(q, part, size * direction, size * rate, across)
        if found is None:
            size *= 0.5
            continue
        last = q, part, before, size
        q, part, before, count = found
        next_along = tangent.at(q)
        if next_along is None:
            return
        along = next_along
        shorter = yield PathPoint(part, q, tangent.definite, count)
        if shorter is not None:
            q, part, before, size = last
            size *= shorter
            next_along = tangent.at(q)
            if next_along is None:
                return
            along = next_along
            continue
        if balance.is_far(q, _FAR):
            return
        size = min(size * (_USUAL / max(count, 1)) ** 0.5, most)


def between(balance: StaticBalance, q0: Array, q1: Array, share: float) -> Array:
    """Return the shape [n, dim] after a part of the motion from one to another, in which frames stay rigid."""
    system = balance.system
    if not system.frames:
        return q0 + share * (q1 - q0)
    coordinates, dq = NodalCoordinates(system, system.frames), np.empty_like(q0)
    coordinates.write_increment(q0, share * coordinates.increments(q0, q1 - q0), dq)
    return q0 + dq


class _Tangent:
    """Solutions with the tangent matrix of a balance, in the coordinates of Newton's method.

    These are positions; of frames displacements and rotations, which are as long in norms as the motions of particles
    as far apart as frames are.
    """

    def __init__(self, balance: StaticBalance, linear: Linear):
        self._balance = balance
        system = balance.system
        self._coordinates = NodalCoordinates(system, system.frames) if system.frames else None
        if self._coordinates is None:
            self._solver, self._lengths = linear_solver(linear, system.pattern, system.dim), None
            self.n_nodes = len(balance.start)
            return
        of_nodes, f = self._coordinates.system, 2 * len(self._coordinates.frames)
        self._solver = (
            SparseSolver(of_nodes.pattern, 3) if linear == "auto" else linear_solver(linear, of_nodes.pattern, 3)
        )
        self.n_nodes = len(of_nodes.fixed) - f // 2
        mass = np.asarray(of_nodes.mass)
        self._lengths = np.ones((len(mass), 1))
        self._lengths[1:f:2, 0] = np.sqrt(mass[1:f:2] / mass[:f:2])
        arms = balance.start[self._coordinates.frames]
        arms = np.abs(arms - arms.mean(axis=1, keepdims=True)).max(axis=(1, 2))
        self._arms = np.ones_like(self._lengths)
        self._arms[1:f:2, 0] = arms
        self._unbalanced = np.empty(of_nodes.fixed.shape)
        self._coordinates.write_resultants(balance.start, balance.unbalanced, self._unbalanced)
        self._way = self._coordinates.increments(balance.start, balance.way)

    def inner(self, a: Array, b: Array) -> float:
        """Return the inner product of two motions in m²."""
        if self._lengths is None:
            return float(np.vdot(a, b))
        return float(np.vdot(self._lengths * a, self._lengths * b))

    def norm(self, motion: Array) -> float:
        """Return the size of a motion in m."""
        return sqrt(self.inner(motion, motion))

    @property
    def definite(self) -> bool:
        return self._solver.definite

    def at(self, q: Array) -> Array | None:
        """Return the motion [k, dim] by λ, and take the matrix at q; None where there is none."""
        balance = self._balance
        try:
            if self._coordinates is None:
                blocks, by_part = balance.stiffness(q)
                way = balance.way
            else:
                blocks, by_part = self._of_frames(q)
                way = self._way
            self._solver.begin()
            self._solver.update(blocks, balance.symmetric, q)
            return way - self._solver.solve(by_part, _BALANCED)
        except StepFailed:
            return None

    def _of_frames(self, q: Array) -> tuple[Array, Array]:
        """Return the blocks [nnz, 3, 3], fixed coordinates taken out, and the derivative [k, 3] of the balance by λ."""
        balance, coordinates = self._balance, self._coordinates
        assert coordinates is not None, "there are frames"
        pattern, fixed = coordinates.system.pattern, coordinates.system.fixed
        forces = np.empty_like(q)
        balance.write_forces(q, forces)
        blocks = coordinates.stiffness(balance.stiffness_of_all(q), q, forces, balance.symmetric)
        by_part = self._unbalanced.copy()
        if self._way.any():
            by_part += (pattern.matrix(blocks) @ self._way.reshape(-1)).reshape(by_part.shape)
        by_part[fixed] = 0.0
        take_out(pattern, fixed, blocks)
        return blocks, by_part

    def _moved(self, q: Array, motion: Array) -> Array:
        """Return the positions [n, dim] after a motion from q."""
        if self._coordinates is None:
            return q + motion
        dq = np.empty_like(q)
        self._coordinates.write_increment(q, motion, dq)
        return q + dq

    def _residual(self, q: Array, part: float) -> tuple[Array, bool]:
        """Return what is not balanced [k, dim] at q with λ, and whether that is nothing."""
        balance = self._balance
        if self._coordinates is None:
            residual = balance.residual(q) - (1.0 - part) * balance.unbalanced
            return residual, balance.is_balanced(q, residual, _BALANCED)
        residual = np.empty_like(self._unbalanced)
        self._coordinates.write_resultants(q, balance.residual(q), residual)
        residual -= (1.0 - part) * self._unbalanced
        residual[self._coordinates.system.fixed] = 0.0
        return residual, float(np.abs(residual / self._arms).max(initial=0.0)) <= _BALANCED * balance.size

    def corrected(
        self, q: Array, part: float, step: Array, by: float, across: Array | None = None
    ) -> tuple[Array, float, Array, int] | None:
        """Return an equilibrium on the plane across a step, or across another motion, if it is near.

        With its λ, the motion that led to it, and how many corrections it took.
        """
        reach = self.norm(step)
        normal, most = step / reach, _MOST
        if across is not None and self.inner(across, step) > 0.0:
            normal, most = across / self.norm(across), _MOST_ACROSS
        new, new_part, motion, last = self._moved(q, step), part + by, step.copy(), np.inf
        for count in range(_CORRECTIONS):
            try:
                residual, balanced = self._residual(new, new_part)
            except StepFailed:
                return None
            along = self.at(new)
            if along is None:
                return None
            try:
                correction = -self._solver.solve(residual, _BALANCED)
            except StepFailed:
                return None
            change = -self.inner(normal, correction) / self.inner(normal, along)
            correction = correction + change * along
            moved = self.norm(correction)
            if not moved < most * reach:
                return None
            if moved <= 1e-6 * reach and balanced:
                return new, new_part, motion, count
            if count > 3 and moved > 0.9 * last:
                return None
            new, new_part, motion, last = self._moved(new, correction), new_part + change, motion + correction, moved
        return None
