"""Iterative linear solvers for implicit steps: block-incomplete factors with conjugate gradients or BiCGStab."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from symplex.errors import StepFailed
from symplex.fem.assembly.pattern import Array, IntArray, Pattern
from symplex.time.solvers.block_matrix import BlockPattern, BlockRows
from symplex.time.solvers.coarse import CoarseSpace, DeflatedCholesky, DeflatedLU, TwoLevel, half_times
from symplex.time.solvers.krylov import PATIENCE, Solution, Worth, always, bicgstab, conjugate_gradients
from symplex.time.solvers.linear_solver import LinearSolver
from symplex.time.solvers.singular import floating_part, loose_part, singular
from symplex.time.solvers.turned import RotatedTangent

EXACT_ENOUGH = 1e-3  # a residual at which rounding may end an iteration; solutions of singular systems leave about 1

_ENDS = {
    "rounding": "could not improve it",
    "stagnated": "stagnated",
    "indefinite": "met a direction without stiffness",
    "broken down": "met numbers that are not finite",
    "out of iterations": "was stopped",
}


class KrylovSolver(LinearSolver):
    """Conjugate gradients with block IC(0), or BiCGStab with block ILU(0) if the matrix is not symmetric.

    A symmetric matrix that turns out not to be positive definite is handed to BiCGStab, too, and counted in ``counts``.
    That of a discrete gradient is solved by conjugate gradients with its symmetric part, once its columns are turned
    back (`symplex.time.solvers.turned`); where this doesn't get done, all that follow in the step go to BiCGStab.

    Parameters
    ----------
    pattern : Pattern
    dim : int

    """

    def __init__(self, pattern: Pattern, dim: int):
        self._pattern = pattern
        self._rows = self._block_rows(pattern, dim)
        self._turned, self._start = self._turned_matrix(), TwoLevel(self._rows)
        self.begin()

    def _block_rows(self, pattern: Pattern, dim: int) -> BlockPattern:
        """Return the rows that are solved for here."""
        return BlockPattern(pattern.indptr, pattern.indices, dim)

    def _turned_matrix(self) -> RotatedTangent:
        return RotatedTangent(self._rows)

    def begin(self) -> None:
        """Turn the columns of matrices again, and forget whether a coarse space helped."""
        self._start.begin()
        self._may_turn, self._turns = True, False

    def update(self, blocks: Array, symmetric: bool, positions: Array, end: Array | None = None) -> None:
        """Factorise the matrix with the given blocks [nnz, dim, dim] incompletely."""
        self.counts["factorisations"] += 1
        self._blocks = blocks
        largest = self._rows.largest_on_diagonal(blocks)
        if not 0.0 < largest < np.inf:
            raise StepFailed(f"the largest number on the diagonal of the matrix of the step is {largest}.")
        # A power of two that makes it about 1: factors in single precision hold whatever the units are.
        self._scale = 2.0 ** -np.frexp(largest)[1]
        # Of energy-momentum the matrix at the start of a step is symmetric, though not those that follow.
        symmetric = symmetric or self._rows.is_symmetric(blocks)
        self._definite = symmetric and self._factorize_symmetric()
        self._turns = not symmetric and end is not None and self._may_turn and self._factorize_turned(positions, end)
        self._positions = positions
        if self._definite or self._turns:
            self._start.take(self._half, positions)
        self._factorized = self._definite or self._turns or self._factorize_any(symmetric)

    def _factorize_symmetric(self) -> bool:
        self._rows.take(self._rows.lower, self._blocks, self._scale, self._half)
        definite = self._rows.every(self._has_factors())
        self.counts["indefinite"] += not definite
        return definite

    def _factorize_turned(self, middle: Array, end: Array) -> bool:
        self._rows.take(self._rows.whole, self._blocks, self._scale, self._whole)
        return self._turned.take(self._whole, middle, end, self._half) and self._rows.every(self._has_factors())

    def _has_factors(self) -> bool:
        found = self._cholesky.factorize(self._half) < 0
        if found and self._cholesky.shift > 0.0:
            self.counts["shifted"] += 1
            self._require_held()
        return found

    def _require_held(self) -> None:
        """Check that no part of the system floats, which iterations need not notice."""
        loose = floating_part(self._pattern, self._blocks)
        if loose is not None:
            raise singular(self._pattern, self._blocks, loose)

    def _factorize_any(self, symmetric: bool) -> bool:
        """Factorise a matrix that is not symmetric, or not positive definite; return whether it has factors."""
        self._rows.take(self._rows.whole, self._blocks, self._scale, self._whole)
        if symmetric:
            self._start.leave()
        else:
            diagonal = self._whole[self._lu.diagonal]
            self._start.take_unsymmetric(self._symmetric_part, self._whole_times, diagonal, self._positions)
        return self._rows.every(self._lu.factorize(self._whole) < 0)

    def _symmetric_part(self) -> Array:
        self._turned.take_as_it_is(self._whole, self._half)
        return self._half

    @cached_property
    def _half(self) -> Array:
        """The lower half of a symmetric matrix, or part of a matrix."""
        return _room(self._rows.lower)

    @cached_property
    def _cholesky(self) -> DeflatedCholesky:
        """The incomplete factors of that."""
        return DeflatedCholesky(self._rows)

    @cached_property
    def _whole(self) -> Array:
        """All blocks of a matrix."""
        return _room(self._rows.whole)

    @cached_property
    def _lu(self) -> DeflatedLU:
        return DeflatedLU(self._rows)

    @property
    def nodes(self) -> IntArray:
        """The nodes [n] in the order in which incomplete factors eliminate them, which has a narrow band."""
        return self._rows.nodes

    @property
    def progress(self) -> tuple[int, float]:
        """The iterations of the last solution, and the residual that it left as a part of the right-hand side."""
        return (0, 1.0) if self._last is None else (self._last.iterations, self._last.residual)

    @property
    def by_halves(self) -> bool:
        """Whether iterations see the half of a matrix only, and its factors."""
        return self._definite or self._turns

    @property
    def definite(self) -> bool:
        """Whether the matrix is symmetric, and no direction was met along which it is not positive."""
        return self._definite

    def solve(self, b: Array, tolerance: float) -> Array:
        """Return x [n, dim] with |A x − b| at most tolerance · |b|, or as small as rounding lets it be."""
        x = self.attempt(b, tolerance)
        if x is None:
            raise self.failure(tolerance)
        return x

    def attempt(self, b: Array, tolerance: float, worth: Worth = always) -> Array | None:
        """Return x as `solve` does, or None if the tolerance is not reached: then `failure` says why.

        Iterations end where they are no longer ``worth`` while (see `symplex.time.solvers.krylov`).
        """
        self._last: Solution | None = None
        rhs = self._rows.gather(b)
        size = self._rows.largest(float(np.max(np.abs(rhs), initial=0.0)))
        if size == 0.0:
            return np.zeros_like(b)
        if not size < np.inf:
            raise StepFailed("the right-hand side of the equations of the step is not finite.")
        rhs /= size  # squares of its numbers neither overflow nor vanish
        if self._definite:
            self._last = self._note(self._solve_half(rhs, tolerance, worth))
            if self._last.outcome == "indefinite":
                self.counts["indefinite"] += 1
                self._definite = False
                self._factorized = self._factorize_any(True)
        if self._turns:
            self._last = self._note(self._turned.solve(self._solve_half, rhs, tolerance, worth))
            if self._last.outcome not in ("converged", "out of iterations"):
                self._may_turn = self._turns = False
                self._factorized = self._factorize_any(False)
        if not self._definite and not self._turns and self._factorized:
            solution = self._start.solve(self._bicgstab, self._whole_times, rhs, tolerance, worth)
            self._last = self._note(solution)
        if self._last is None or not _is_solved(self._last):
            return None
        return self._rows.scatter(self._last.x) * (self._scale * size)

    def _solve_half(self, b: Array, tolerance: float, worth: Worth) -> Solution:
        """Solve with the symmetric matrix of which the lower half is kept."""
        return self._start.solve(self._conjugate_gradients, self._half_times, b, tolerance, worth)

    def _conjugate_gradients(
        self, space: CoarseSpace | None, b: Array, tolerance: float, limit: int, worth: Worth
    ) -> Solution:
        self._cholesky.space = space
        patience = PATIENCE if space is None else space.patience
        return conjugate_gradients(self._rows, self._half, self._cholesky, b, tolerance, limit, worth, patience)

    def _half_times(self, x: Array) -> Array:
        return half_times(self._rows, self._half, x)

    def _bicgstab(self, space: CoarseSpace | None, b: Array, tolerance: float, limit: int, worth: Worth) -> Solution:
        self._lu.space = space
        return bicgstab(self._rows, self._whole, self._lu, b, tolerance, limit, worth)

    def _whole_times(self, x: Array) -> Array:
        out = np.empty_like(x)
        self._rows.multiply(self._whole, x, out)
        return out

    def _note(self, solution: Solution) -> Solution:
        self.counts["iterations"] += solution.iterations
        return solution

    def failure(self, tolerance: float) -> StepFailed:
        """Return what is to be said of the last attempt."""
        if (loose := self._loose_part()) is not None:
            return singular(self._pattern, self._blocks, loose)
        message = "the matrix of the step has no incomplete factors"
        if self._last is not None:
            message = (
                f"the linear solver left a residual of {self._last.residual:.1e} of the right-hand side (expected "
                f"{tolerance:.1e}) and {_ENDS[self._last.outcome]} after {self._last.iterations} iterations"
            )
        return StepFailed(f"{message}. {self._advice}")

    _advice = 'Try a smaller step, or linear="sparse" if memory allows.'

    def _loose_part(self) -> str | None:
        """Return in words what can move without force, if that is known."""
        return loose_part(self._pattern, self._blocks)


def _is_solved(solution: Solution) -> bool:
    return solution.outcome == "converged" or (solution.outcome == "rounding" and solution.residual <= EXACT_ENOUGH)


def _room(rows: BlockRows) -> Array:
    return np.empty((len(rows.indices), 9))
