"""Conjugate gradients and BiCGStab with incomplete factors, for matrices of 3 × 3 blocks.

Vectors are [3 n] in the order of elimination of a `BlockPattern`. Sums are taken in an order that doesn't depend on the
number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Literal

import numpy as np

from symplex.fem.assembly.pattern import Array
from symplex.fem.compiled.kernels import kernel
from symplex.time.solvers.block_factor import IncompleteCholesky, IncompleteLU
from symplex.time.solvers.block_matrix import BlockPattern

LIMIT = 5000  # iterations
PATIENCE = 1000  # iterations in which the residual must halve: thin bodies in large steps take hundreds to begin
_STALLED = 0.9  # beginning again from the true residual must do better than this factor
_BREAKDOWN = 1e-14  # BiCGStab begins again where its two residuals are orthogonal to rounding

Worth = Callable[[int], bool]
Outcome = Literal["converged", "rounding", "stagnated", "indefinite", "broken down", "out of iterations"]


@dataclass(frozen=True)
class Solution:
    """What an iteration came to.

    Attributes
    ----------
    x : float64 [3 n]
    residual : float
        |b − A x|/|b|, computed from x.
    iterations : int
        Products with the matrix and solves with the factors, the check of the residual not counted.
    outcome : str
        ``"converged"``; ``"rounding"``: the residual that is carried on is small enough, but a restart does not make
        the true one smaller; ``"stagnated"``: the residual no longer falls; ``"indefinite"``: a direction along which a
        matrix that should be positive definite has no positive curvature; ``"broken down"``: a number that is not
        finite; or ``"out of iterations"``.
    """

    x: Array
    residual: float
    iterations: int
    outcome: Outcome


def always(iterations: int) -> bool:
    """Return True: iterations are worth while however many there were."""
    return True


def conjugate_gradients(
    pattern: BlockPattern,
    values: Array,
    factor: IncompleteCholesky,
    b: Array,
    tolerance: float,
    limit: int = LIMIT,
    worth: Worth = always,
    patience: int = PATIENCE,
) -> Solution:
    """Solve A x = b with A symmetric positive definite, to |b − A x| ≤ tolerance |b|.

    Each iteration is three sweeps over the matrix or its factor, with all else done on the way: the new direction and
    its product, the new residual and L⁻¹ of it, L⁻ᵀ of that. Where the residual that is carried on is small enough, it
    is replaced by the true one, and the iteration begins again if that is not.

    Parameters
    ----------
    pattern : BlockPattern
    values : float64 [nnz', 9]
        The lower half of A.
    factor : IncompleteCholesky
    b : float64 [3 n]
    tolerance : float
    limit : int
    worth : callable
        Whether to go on after so many iterations.
    patience : int
        Iterations in which the residual must halve.
    """
    x, p, q, z = (np.zeros_like(b) for _ in range(4))
    r = b.copy()
    alpha, rz_before, size, reached, best, best_at = 0.0, 1.0, 0.0, np.inf, np.inf, 0
    fresh = True

    def finish(iterations: int, outcome: Outcome) -> Solution:
        pattern.advance(values, x, 0.0, p, q)
        return Solution(x, pattern.norm(b - q) / size, iterations, outcome)

    for iteration in range(limit + 1):
        rr, rz = factor.applied(alpha, p, q, x, r, z)
        size = size or sqrt(rr)
        if size == 0.0:
            return Solution(x, 0.0, 0, "converged")
        if not rr < np.inf:
            return Solution(x, np.inf, iteration, "broken down")
        if rr <= (tolerance * size) ** 2:
            # p and q are free: the direction is not used again
            solution = finish(iteration, "converged")
            if solution.residual <= tolerance:
                return solution
            if solution.residual > _STALLED * reached:
                return Solution(x, solution.residual, iteration, "rounding")
            reached, fresh, alpha = solution.residual, True, 0.0
            np.subtract(b, q, out=r)
            rr, rz = factor.applied(0.0, p, q, x, r, z)
        if rr <= 0.25 * best:
            best, best_at = rr, iteration
        elif iteration - best_at >= patience:
            return finish(iteration, "stagnated")
        if not worth(iteration):
            return finish(iteration, "out of iterations")
        factor.backward(z)
        curvature = pattern.advance(values, z, 0.0 if fresh else rz / rz_before, p, q)
        if not curvature > 0.0:
            return finish(iteration, "indefinite" if curvature <= 0.0 else "broken down")
        alpha, rz_before, fresh = rz / curvature, rz, False
    return finish(limit, "out of iterations")


def bicgstab(
    pattern: BlockPattern,
    values: Array,
    factor: IncompleteLU,
    b: Array,
    tolerance: float,
    limit: int = LIMIT,
    worth: Worth = always,
) -> Solution:
    """Solve A x = b to |b − A x| ≤ tolerance |b| by BiCGStab (van der Vorst 1992), preconditioned on the right.

    It begins again from the true residual where that is not as small as the one that is carried on, and where it breaks
    down.

    Parameters
    ----------
    pattern : BlockPattern
    values : float64 [nnz, 9]
        All blocks of A.
    factor : IncompleteLU
    b : float64 [3 n]
    tolerance : float
    limit : int
    worth : callable
        Whether to go on after so many iterations.
    """
    x, y, z, p, v, t = (np.zeros_like(b) for _ in range(6))
    r = b.copy()
    size = pattern.norm(b)
    if size == 0.0:
        return Solution(x, 0.0, 0, "converged")
    rho, beta, omega, rr, reached, best, best_at = 0.0, 0.0, 0.0, size**2, np.inf, np.inf, 0
    shadow = r

    def finish(iterations: int, outcome: Outcome) -> Solution:
        pattern.multiply(values, x, t)
        return Solution(x, pattern.norm(b - t) / size, iterations, outcome)

    for iterations in range(0, limit, 2):
        if rr <= (tolerance * size) ** 2:
            solution = finish(iterations, "converged")
            if solution.residual <= tolerance:
                return solution
            if solution.residual > _STALLED * reached:
                return Solution(x, solution.residual, iterations, "rounding")
            reached, rho = solution.residual, 0.0
            np.subtract(b, t, out=r)
        if rho == 0.0:  # begin (again)
            shadow, beta = r.copy(), 0.0
            rr = rho = pattern.dot(r, r)
            p[...] = v[...] = 0.0
        if rr <= 0.25 * best:
            best, best_at = rr, iterations
        elif iterations - best_at >= PATIENCE:
            return finish(iterations, "stagnated")
        if not worth(iterations):
            return finish(iterations, "out of iterations")
        pattern.run(_turn, beta, omega, r, v, p)
        factor.solve(p, y)
        pattern.multiply(values, y, v)
        alpha = rho / pattern.dot(shadow, v)
        pattern.run(_reduce, alpha, v, r)
        factor.solve(r, z)
        pattern.multiply(values, z, t)
        tt = pattern.dot(t, t)
        omega = pattern.dot(t, r) / tt if tt > 0.0 else 0.0
        sums = pattern.run(_move, alpha, y, omega, z, t, shadow, x, r)
        rr, following = pattern.totals(sum(part[0] for part in sums), sum(part[1] for part in sums))
        if not rr < np.inf:
            return Solution(x, np.inf, iterations + 2, "broken down")
        lost = abs(following) <= _BREAKDOWN * sqrt(rr) * pattern.norm(shadow) or omega == 0.0
        beta = 0.0 if lost else following / rho * (alpha / omega)
        rho = 0.0 if lost else following
    return finish(limit, "out of iterations")


@kernel
def _turn(beta, omega, r, v, p, first, last):
    """Set p = r + β (p − ω v)."""
    for i in range(3 * first, 3 * last):
        p[i] = r[i] + beta * (p[i] - omega * v[i])


@kernel
def _reduce(alpha, v, r, first, last):
    """Set r −= α v."""
    for i in range(3 * first, 3 * last):
        r[i] -= alpha * v[i]


@kernel
def _move(alpha, y, omega, z, t, shadow, x, r, first, last):
    """Set x += α y + ω z and r −= ω t; return r·r and shadow·r of the rows."""
    squared = along = 0.0
    for i in range(3 * first, 3 * last):
        x[i] += alpha * y[i] + omega * z[i]
        r[i] -= omega * t[i]
        squared += r[i] * r[i]
        along += shadow[i] * r[i]
    return squared, along
