"""The equations of a step, solved by an accelerated iteration, or Newton's method where that fails, to round-off."""

from __future__ import annotations

from math import inf, isfinite, sqrt
from typing import Protocol, final

import numpy as np

from symplex.errors import StepFailed
from symplex.fem.compiled.kernels import uncounted_kernel as kernel
from symplex.fem.energies.energy import Array

FLOOR = 16.0 * float(np.finfo(float).eps)  # of what is summed up in a step: may be round-off
PLAIN_PART = 1.0 / 16.0  # of it at which an iteration without factors ends
DEPTH = 20  # pairs of changes remembered
STAGNATION = 0.5  # at the floor, an iteration that does not do better than this factor is the last
DEEP = 1.0 / 64.0  # part of the floor that is small enough for it to be the last at once;
IDLE = 3  # above it, so many of them
DEPENDENT = 1e-8  # part of a change of the correction that must be new
DIVERGED = 4.0  # a correction that is larger than the smallest one by this factor is of no use
PATIENCE = 40  # iterations without Newton's method

_HALVINGS = 12
_DIFFERENCE = 1e-7  # of z, for derivatives along a direction
_FORCING = 0.03  # how exact a correction of Newton's method is
_NEAR = 0.1  # from where on the accelerated iteration is tried again: a correction that shortens the next one so much
_DESCENT = 0.25  # by how much a whole correction of Newton's method must make the next one smaller, at least
_CAME_NEAR = 1e-2  # part of the first residual to which an iteration must have got for Newton's method to begin there
_FALLING = 1e-3  # a residual that falls by this factor converges quadratically, and is not stopped


def accelerated_iteration(keep, advance, remember):
    """Return the accelerated iteration for equations p, made of functions of them: to be run as it is, or compiled.

    ``keep(p)`` keeps z as the best so far; ``advance(p)`` goes on to the next z and returns the norms of the residual,
    infinite where forces are not defined, and of the correction there; ``remember(p)`` keeps what the last change of z
    has made of the correction.
    """

    def run(p, norm, least, smallest, idle, left, floor, enough):
        """Iterate, at most ``left`` times, from where the residual has a norm and the correction the ``least`` one.

        Return whether that got to the floor, the ``smallest`` norm so far, and how often the last ones did not help.
        """
        while True:
            idle = 0 if norm < STAGNATION * smallest else idle + 1
            if norm < smallest:
                smallest = norm
                keep(p)
            if smallest <= floor and (smallest <= enough or idle >= (1 if smallest <= DEEP * floor else IDLE)):
                return True, smallest, idle
            if left < 0:
                return False, smallest, idle
            left -= 1
            norm, size = advance(p)
            if not size < DIVERGED * least:  # at the floor it is noise, where nothing better is to be had
                return isfinite(norm) and smallest <= floor, smallest, idle
            least = min(least, size)
            remember(p)

    return run


class StepProblem(Protocol):
    """The equations g(z) = 0 of a step, for z [2, n, dim], and a matrix P that is nearly the inverse of ∂g/∂z."""

    def residual(self, z: Array) -> Array:
        """Return g(z); `StepFailed` where there is none."""
        ...

    def correction(self, g: Array) -> Array:
        """Return P g."""
        ...

    def renew(self, z: Array) -> bool:
        """Make P for the neighbourhood of z; return whether there is any use in that."""
        ...


@final
class StepSolver:
    """Solves g(z) = 0 by z += d(z) with d = −P g, made faster by what has been seen of d.

    Each change u of z comes with the change q of d that it made. Of what d is now, the part in the span of the q is
    taken back before the next step: z += (d − Σ (q·d) q) − Σ (q·d) u, with orthonormal q. For a linear problem this is
    GCR, as good as GMRES, with the preconditioner P; for others it is Anderson's acceleration (Washio and Oosterlee,
    1997). It needs neither derivatives nor a linear solution within.

    Where d grows, as for stiff bodies that turn far in a step, Newton's method begins at the same place, or at the best
    one if that was much better: the same recursion along small changes of z solves its linear equations, P is rebuilt
    for each of them, and corrections are halved until the next one that the same P gives is shorter (Deuflhard).

    Parameters
    ----------
    weights : float64 [n]
        Of the nodes in norms: masses.
    iterations : int
        Residuals in a step after which it fails.

    Attributes
    ----------
    z : float64 [2, n, dim]
        The last solution.
    count : int
        The residuals that the last step took, solved or not.
    """

    z: Array
    count: int

    def __init__(self, weights: Array, iterations: int):
        self._weights = weights
        self._iterations = iterations
        self._changes = self._effects = np.zeros(0)  # u and q [DEPTH, 2, n, dim]
        self._seen = 0

    def solve(self, problem: StepProblem, start: Array, floor: float, enough: float) -> int:
        """Find z with the norm of g(z) as small as round-off lets it be; return the number of residuals it took.

        Parameters
        ----------
        problem : StepProblem
        start : float64 [2, n, dim]
            Where several solutions are near, it decides which one is found.
        floor : float
            A norm of g that may be round-off: where it is reached, the iteration ends when it no longer gets on.
        enough : float
            A norm at which it ends at once.
        """
        if self._changes.shape[1:] != start.shape:
            self._changes, self._effects = (np.zeros((DEPTH, *start.shape)) for _ in range(2))
        self._problem, self._floor, self._enough = problem, floor, enough
        self._norms: list[float] = []
        self.count, self._idle, self._smallest, self.z = 0, 0, inf, start
        g = self._residual(start)
        if self._iterate(start, g):
            return self.count
        if self._smallest > _CAME_NEAR * self._norms[0]:
            self.z = start
        elif self.z is not start:
            g = self._residual(self.z)
        if not (problem.renew(self.z) and self._newton(self.z, g)):
            raise self._failure()
        return self.count

    def _iterate(self, z: Array, g: Array) -> bool:
        """Return whether the accelerated iteration from z, with the residual g, got to the floor."""
        self._at, self._d, self._seen = z, -self._problem.correction(g), 0
        self._norms.append(self.norm(g))
        left = min(PATIENCE, self._iterations - self.count)
        before = self._norms[-1], self.norm(self._d), self._smallest, self._idle
        found, self._smallest, self._idle = _iterate(self, *before, left, self._floor, self._enough)
        return found

    def _keep(self) -> None:
        self.z = self._at

    def _advance(self) -> tuple[float, float]:
        """Go on to the next z; return the norms of its residual and its correction, infinite where it has none."""
        before, self._change = self._d, self._d.copy()
        take_back(self._weights, before, self._changes, self._effects, min(self._seen, DEPTH), self._change)
        self._at = self._at + self._change
        try:
            g = self._residual(self._at)
        except StepFailed:  # forces that are not defined there
            return inf, inf
        self._norms.append(self.norm(g))
        self._d = -self._problem.correction(g)
        self._effect = self._d - before
        return self._norms[-1], self.norm(self._d)

    def _remember_last(self) -> None:
        self._remember(self._change, self._effect)

    def _newton(self, z: Array, g: Array) -> bool:
        """Return whether Newton's method from z, with the residual g, got near enough for the accelerated iteration."""
        falling = False
        while self.count <= self._iterations or falling:
            d = -self._problem.correction(g)
            following = self._search(z, self._linear_solution(z, g, d), self.norm(d))
            if following is None:
                return False
            before = self.norm(g)
            z, g, near = following
            falling = self.norm(g) < _FALLING * before
            self._problem.renew(z)
            if (near or self.norm(g) <= self._floor) and self._iterate(z, g):
                return True
        return False

    def _linear_solution(self, z: Array, g: Array, d: Array) -> Array:
        """Return u with ∂d/∂z u = −d, nearly: the correction of z."""
        total, left = np.zeros_like(z), d.copy()
        scale = _DIFFERENCE * (self.norm(z) + self.norm(d))
        self._seen = 0
        for _ in range(DEPTH):
            size = self.norm(left)
            if size <= _FORCING * self.norm(d):
                break
            part = scale / size
            # P of the difference, not the difference of P: its linear solutions may be inexact.
            change = -self._problem.correction((self._residual(z + part * left) - g) / part)
            known = self._seen
            self._remember(left.copy(), change)
            if self._seen == known:
                break
            along = self._dot(self._effects[known], left)
            total -= along * self._changes[known]
            left -= along * self._effects[known]
        return total  # what is left is small only as P sees it

    def _search(self, z: Array, u: Array, size: float) -> tuple[Array, Array, bool] | None:
        """Return z + u or a part of the way where the next correction is shorter, g, and whether it is much shorter."""
        part = 1.0
        for _ in range(_HALVINGS):
            try:
                g = self._residual(z + part * u)
            except StepFailed:
                part *= 0.5
                continue
            following = self.norm(self._problem.correction(g))
            if following < (1.0 - _DESCENT * part) * size:
                return z + part * u, g, following < _NEAR * size
            part *= 0.5
        return None

    def _residual(self, z: Array) -> Array:
        self.count += 1
        return self._problem.residual(z)

    def norm(self, g: Array) -> float:
        """Return |g|, weighted."""
        return sqrt(self._dot(g, g))

    def _dot(self, a: Array, b: Array) -> float:
        return dot(self._weights, a, b)

    def _remember(self, u: Array, q: Array) -> None:
        self._seen += remember(self._weights, self._changes, self._effects, u, q, self._seen)

    def _failure(self) -> StepFailed:
        norms = self._norms
        scale = norms[0] or 1.0
        fell = ", ".join(f"{norm / scale:.1e}" for norm in norms[-6:])
        return StepFailed(
            f"the equations of the step were not solved: after {self.count} residuals the last one is "
            f"{norms[-1] / scale:.1e} of the first, expected {self._floor / scale:.0e}. The last ones: {fell}. "
            "Try a smaller step."
        )


_iterate = accelerated_iteration(StepSolver._keep, StepSolver._advance, StepSolver._remember_last)


@kernel
def dot(weights, a, b):
    """Return Σ weights · a · b for a, b [2, n, dim]; not by a library, whose sums may depend on its threads."""
    total = 0.0
    for k in range(a.shape[0]):
        for n in range(a.shape[1]):
            s = 0.0
            for i in range(a.shape[2]):
                s += a[k, n, i] * b[k, n, i]
            total += weights[n] * s
    return total


@kernel
def take_back(weights, d, changes, effects, known, out):
    """Subtract (q·d) (u + q) of the known pairs from out."""
    for p in range(known):
        part = dot(weights, effects[p], d)
        subtract(part, changes[p], out)
        subtract(part, effects[p], out)


@kernel
def remember(weights, changes, effects, u, q, seen):
    """Keep a change u and what it has made q, with what is new in them; return 1, or 0 if there is nothing."""
    size, place = np.sqrt(dot(weights, q, q)), seen % DEPTH
    effects[place] = 0.0  # the oldest pair is forgotten
    for p in range(min(seen, DEPTH)):
        part = dot(weights, effects[p], q)
        subtract(part, effects[p], q)
        subtract(part, changes[p], u)
    rest = np.sqrt(dot(weights, q, q))
    if not rest > DEPENDENT * size:
        return 0
    for k in range(q.shape[0]):
        for n in range(q.shape[1]):
            for i in range(q.shape[2]):
                changes[place, k, n, i], effects[place, k, n, i] = u[k, n, i] / rest, q[k, n, i] / rest
    return 1


@kernel
def subtract(part, x, out):
    for k in range(out.shape[0]):
        for n in range(out.shape[1]):
            for i in range(out.shape[2]):
                out[k, n, i] -= part * x[k, n, i]
