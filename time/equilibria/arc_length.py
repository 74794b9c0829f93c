"""Paths of equilibria by arc length, through points at which the load turns back."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import NamedTuple

import numpy as np

from symplex.errors import StepFailed
from symplex.fem.energies.energy import Array
from symplex.time.equilibria.balance import StaticBalance
from symplex.time.solvers.linear import Linear, linear_solver

_FIRST = 0.05  # of the load, along the tangent, that a first step makes
_SHORTEST = 1e-6  # of the first step
_CORRECTIONS = 12
_USUAL = 4  # corrections: where it takes less, steps get longer
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


def arc_length_path(balance: StaticBalance, q: Array, part: float, linear: Linear, step: float) -> Iterator[PathPoint]:
    """Yield equilibria along the path that leads on from a balanced shape with λ growing at first.

    Each step goes along the tangent, and is corrected on the plane across it (Riks 1979); λ is an unknown as the
    positions are. It ends where no step is short enough, or the system has moved far off.

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
    """
    tangent = _Tangent(balance, linear)
    along = tangent.at(q)
    if along is None:
        return
    most = step * balance.length * sqrt(len(q))
    size = first = min(_FIRST * float(np.linalg.norm(along)), most)
    before = along
    while size > _SHORTEST * first:
        direction = along / np.linalg.norm(along)
        if np.vdot(direction, before) < 0.0:
            direction = -direction
        rate = 1.0 / float(np.vdot(direction, along))  # dλ/ds
        found = tangent.corrected(q, part, size * direction, size * rate)
        if found is None:
            size *= 0.5
            continue
        new, part, count = found
        before, q = new - q, new
        next_along = tangent.at(q)
        if next_along is None:
            return
        along = next_along
        yield PathPoint(part, q, tangent.definite, count)
        if balance.is_far(q, _FAR):
            return
        size = min(size * (_USUAL / max(count, 1)) ** 0.5, most)


class _Tangent:
    """Solutions with the tangent matrix of a balance."""

    def __init__(self, balance: StaticBalance, linear: Linear):
        self._balance = balance
        system = balance.system
        self._solver = linear_solver(linear, system.pattern, system.dim)

    @property
    def definite(self) -> bool:
        return self._solver.definite

    def at(self, q: Array) -> Array | None:
        """Return dq/dλ [n, dim], and take the matrix at q; None where there is none."""
        balance = self._balance
        try:
            blocks, by_part = balance.stiffness(q)
            self._solver.begin()
            self._solver.update(blocks, balance.symmetric, q)
            return balance.way - self._solver.solve(by_part, _BALANCED)
        except StepFailed:
            return None

    def corrected(self, q: Array, part: float, dq: Array, by: float) -> tuple[Array, float, int] | None:
        """Return an equilibrium on the plane across a step, its λ, and how many corrections it took, if it is near."""
        balance, normal, reach = self._balance, dq / np.linalg.norm(dq), float(np.linalg.norm(dq))
        new, new_part, last = q + dq, part + by, np.inf
        for count in range(_CORRECTIONS):
            try:
                residual = balance.residual(new) - (1.0 - new_part) * balance.unbalanced
            except StepFailed:
                return None
            along = self.at(new)
            if along is None:
                return None
            try:
                correction = -self._solver.solve(residual, _BALANCED)
            except StepFailed:
                return None
            change = -float(np.vdot(normal, correction)) / float(np.vdot(normal, along))
            correction = correction + change * along
            moved = float(np.linalg.norm(correction))
            if not moved < 2.0 * reach:
                return None
            if moved <= 1e-6 * reach and balance.is_balanced(new, residual, _BALANCED):
                return new, new_part, count
            if count > 3 and moved > 0.9 * last:
                return None
            new, new_part, last = new + correction, new_part + change, moved
        return None
