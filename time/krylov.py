"""Conjugate gradients and GMRES with incomplete factors, for matrices of 3 × 3 blocks.

Vectors are [3 n] in the order of elimination of a `BlockPattern`. Sums are taken in an order that doesn't depend on the
number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Literal

import numpy as np

from symplex.fem.assembly import Array
from symplex.time.block_factor import IncompleteCholesky, IncompleteLU
from symplex.time.block_matrix import BlockPattern, kernel, product, symmetric_product

LIMIT = 2000  # iterations
PATIENCE = 300  # iterations in which the residual must halve
RESTART = 50  # GMRES keeps so many vectors
_STALLED = 0.9  # a cycle of GMRES, or a restart of CG, that does not do better than this factor is the last

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
        ``"converged"``; ``"rounding"``: the residual that is carried on is as wanted, but beginning anew does not make
        the true one smaller; ``"stagnated"``: the residual no longer falls; ``"indefinite"``: a direction along which a
        matrix that should be positive definite has no positive curvature; ``"broken down"``: a number that is not
        finite; or ``"out of iterations"``.
    """

    x: Array
    residual: float
    iterations: int
    outcome: Outcome


def conjugate_gradients(
    pattern: BlockPattern,
    values: Array,
    factor: IncompleteCholesky,
    b: Array,
    tolerance: float,
    limit: int = LIMIT,
) -> Solution:
    """Solve A x = b with A symmetric positive definite, to |b − A x| ≤ tolerance |b|.

    Each iteration is three sweeps over the matrix or its factor, with all else done on the way: the new direction and
    its product, the new residual and L⁻¹ of it, L⁻ᵀ of that. Where the residual that is carried on is small enough, it
    is replaced by the true one, and the iteration begins anew if that is not.

    Parameters
    ----------
    pattern : BlockPattern
    values : float64 [nnz', 9]
        The lower half of A.
    factor : IncompleteCholesky
    b : float64 [3 n]
    tolerance : float
    limit : int
    """
    x, p, q, z = (np.zeros_like(b) for _ in range(4))
    r = b.copy()
    alpha, rz_before, size, reached, best, best_at = 0.0, 1.0, 0.0, np.inf, np.inf, 0
    fresh = True

    def product_with(vector: Array, beta: float) -> float:
        return sum(pattern.run(symmetric_product, *pattern.lower[:2], values, vector, beta, p, q))

    def finish(iterations: int, outcome: Outcome) -> Solution:
        product_with(x, 0.0)
        return Solution(x, _norm(b - q) / size, iterations, outcome)

    for iteration in range(limit + 1):
        rr, rz = factor.forward(alpha, p, q, x, r, z)
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
            rr, rz = factor.forward(0.0, p, q, x, r, z)
        if rr <= 0.25 * best:
            best, best_at = rr, iteration
        elif iteration - best_at >= PATIENCE:
            return finish(iteration, "stagnated")
        factor.backward(z)
        curvature = product_with(z, 0.0 if fresh else rz / rz_before)
        if not curvature > 0.0:
            return finish(iteration, "indefinite" if curvature <= 0.0 else "broken down")
        alpha, rz_before, fresh = rz / curvature, rz, False
    return finish(limit, "out of iterations")


def gmres(
    pattern: BlockPattern, values: Array, factor: IncompleteLU, b: Array, tolerance: float, limit: int = LIMIT
) -> Solution:
    """Solve A x = b to |b − A x| ≤ tolerance |b| by GMRES, preconditioned on the right, restarted (Saad, Schultz 1986).

    Parameters
    ----------
    pattern : BlockPattern
    values : float64 [nnz, 9]
        All blocks of A.
    factor : IncompleteLU
    b : float64 [3 n]
    tolerance : float
    limit : int
    """
    x, z, w = (np.zeros_like(b) for _ in range(3))
    size = residual = _norm(b)
    if size == 0.0:
        return Solution(x, 0.0, 0, "converged")
    basis = np.empty((RESTART + 1, len(b)))  # memory is taken row by row, when they are first written
    r, iterations = b, 0
    while True:
        np.divide(r, residual, out=basis[0])
        room = basis[: 1 + limit - iterations]
        steps, coefficients, expected = _arnoldi(pattern, values, factor, room, residual, tolerance * size, w, z)
        iterations += steps
        _combine(coefficients, basis, w)
        factor.solve(w, z)
        x += z
        pattern.run(product, *pattern.whole[:2], values, x, w)
        r = b - w
        before, residual = residual, _norm(r)
        if not residual < np.inf:
            return Solution(x, np.inf, iterations, "broken down")
        if residual <= tolerance * size:
            return Solution(x, residual / size, iterations, "converged")
        if residual > _STALLED * before:
            reached = expected <= tolerance * size
            return Solution(x, residual / size, iterations, "rounding" if reached else "stagnated")
        if iterations >= limit:
            return Solution(x, residual / size, iterations, "out of iterations")


def _arnoldi(
    pattern: BlockPattern,
    values: Array,
    factor: IncompleteLU,
    basis: Array,
    residual: float,
    wanted: float,
    w: Array,
    z: Array,
) -> tuple[int, Array, float]:
    """Extend the basis until its smallest residual is as wanted; return its size, the coefficients, that residual."""
    most = len(basis) - 1
    hessenberg = np.zeros((most + 1, most))
    rotations: list[tuple[float, float]] = []
    right = np.zeros(most + 1)
    right[0] = residual
    steps = 0
    while steps < most and abs(right[steps]) > wanted:
        factor.solve(basis[steps], z)
        pattern.run(product, *pattern.whole[:2], values, z, w)
        column = hessenberg[:, steps]
        _orthogonalize(basis, steps, w, column)
        length = column[steps + 1]
        for k, (c, s) in enumerate(rotations):
            column[k], column[k + 1] = c * column[k] + s * column[k + 1], c * column[k + 1] - s * column[k]
        diagonal = float(np.hypot(column[steps], length))
        if not 0.0 < diagonal < np.inf:  # singular, or not finite: the caller sees it from the true residual
            break
        c, s = column[steps] / diagonal, length / diagonal
        rotations.append((c, s))
        column[steps], column[steps + 1] = diagonal, 0.0
        right[steps + 1] = -s * right[steps]
        right[steps] *= c
        steps += 1
        if length == 0.0:
            break
        np.divide(w, length, out=basis[steps])
    coefficients = np.asarray(np.linalg.solve(hessenberg[:steps, :steps], right[:steps]), dtype=float)
    return steps, coefficients, abs(float(right[steps]))


def _norm(v: Array) -> float:
    return sqrt(_dot(v, v))


@kernel
def _dot(u, v):
    """Return u·v; not by a library, whose sums may depend on its number of threads."""
    s0 = s1 = s2 = 0.0
    for i in range(0, len(u), 3):
        s0 += u[i] * v[i]
        s1 += u[i + 1] * v[i + 1]
        s2 += u[i + 2] * v[i + 2]
    return s0 + s1 + s2


@kernel
def _orthogonalize(basis, last, w, column):
    """Make w orthogonal to basis[: last + 1] (modified Gram-Schmidt); write the coefficients, then |w|, to column."""
    for k in range(last + 1):
        h = _dot(basis[k], w)
        column[k] = h
        for i in range(len(w)):
            w[i] -= h * basis[k, i]
    column[last + 1] = np.sqrt(_dot(w, w))


@kernel
def _combine(coefficients, basis, out):
    """Set out = Σ_k coefficients[k] basis[k]."""
    out[:] = 0.0
    for k in range(len(coefficients)):
        for i in range(len(out)):
            out[i] += coefficients[k] * basis[k, i]
