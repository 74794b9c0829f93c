"""The choice between iterations and complete factors, by what each costs."""

from __future__ import annotations

from functools import cached_property
from math import log
from typing import final

from symplex.fem.assembly.pattern import Array, IntArray, Pattern
from symplex.time.solvers.direct import SparseSolver
from symplex.time.solvers.fill import Fill, fill_of, minimum_degree_order
from symplex.time.solvers.iterative import KrylovSolver
from symplex.time.solvers.linear_solver import LinearSolver

LARGEST_DIRECT = 60_000  # unknowns up to which sparse factors are tried where iterations fail: some 4 GB
_MOST_NUMBERS = 1.6e8  # in the lower factor, up to which it is whatever the number of unknowns: some 3 GB
_FREE = 64  # iterations before it is asked what factors would cost
_BAND_TO_FILL = 4.0  # the factors of the order with a narrow band hold so many times as much, at most
_ANALYSIS = 0.05  # part of the time of the factors in that order in which the better one is found
_CLOSER = 0.01  # part of the tolerance that solutions with factors of another matrix keep to, which costs little
_EXACT = 1e-11  # but to no less than this, which is near to rounding
_FEW, _MANY = 2, 12  # iterations with the factors of another matrix: at least, and at most


@final
class AutomaticSolver(LinearSolver):
    """`KrylovSolver`, and sparse factors where they are cheaper, or it doesn't get done, if they fit into memory.

    Iterations end where they have taken as long as a factorisation would (known from the pattern), or begin with the
    factors where the last ones tell that they would; so no matrix takes much more than twice the cheaper of both. For
    the matrices after that, until the next step, the factors precondition a few iterations, and are replaced where
    these are not few. Nothing is kept from one step to the next (`begin`), nor is anything timed: a resumed run goes
    the same way.

    Parameters
    ----------
    pattern : Pattern
    dim : int
    """

    def __init__(self, pattern: Pattern, dim: int):
        self._pattern, self._dim = pattern, dim
        self._krylov = KrylovSolver(pattern, dim)
        self._sparse: SparseSolver | None = None
        self._fresh = False  # whether the factors are of the present matrix
        self.begin()

    @cached_property
    def counts(self) -> dict[str, int]:
        """Those of `KrylovSolver`, which counts on."""
        return self._krylov.counts

    def begin(self) -> None:
        """Forget how fast iterations converged, and the factors."""
        self._direct, self._per_fall = False, 0.0
        self._krylov.begin()

    def update(self, blocks: Array, symmetric: bool, positions: Array, end: Array | None = None) -> None:
        """Take the matrix with the given blocks [nnz, dim, dim]."""
        self._matrix, self._fresh = (blocks, symmetric, positions), False
        if not self._direct:
            self._krylov.update(blocks, symmetric, positions, end)

    @property
    def definite(self) -> bool:
        """Whether the matrix is symmetric, and no direction was met along which it is not positive."""
        if not self._direct:
            return self._krylov.definite
        return self._matrix[1] and self._factors().definite

    def solve(self, b: Array, tolerance: float) -> Array:
        """Return x [n, dim] with |A x − b| at most tolerance · |b|."""
        if self._direct:
            return self._solve_directly(b, tolerance)
        if self._worth(int(self._per_fall * log(1.0 / tolerance)) if tolerance > 0.0 else 0):
            x = self._krylov.attempt(b, tolerance, self._worth)
            if x is not None:
                iterations, residual = self._krylov.progress
                self._per_fall = iterations / max(-log(residual), 1.0) if residual > 0.0 else 0.0
                return x
            if self._fill is None and self._pattern.n_nodes * self._dim > LARGEST_DIRECT:
                raise self._krylov.failure(tolerance)
        return self._factors().solve(b, tolerance)

    def _worth(self, iterations: int) -> bool:
        """Return whether to iterate beyond a number of iterations, rather than to factorise.

        It doesn't matter what is known already, only what can be.
        """
        if iterations < _FREE:
            return True
        symmetric, band = self._krylov.by_halves, self._band
        if band is None or iterations < _ANALYSIS * band.iterations(symmetric):
            return True
        return self._fill is None or iterations < self._fill.iterations(symmetric)

    @cached_property
    def _band(self) -> Fill | None:
        """What factors in the order with a narrow band hold, which takes no time to find; None if far too much."""
        return fill_of(self._pattern, self._dim, self._krylov.nodes, _BAND_TO_FILL * _MOST_NUMBERS)

    @cached_property
    def _order(self) -> IntArray:
        return minimum_degree_order(self._pattern)

    @cached_property
    def _fill(self) -> Fill | None:
        """What factors hold; None if too much."""
        return fill_of(self._pattern, self._dim, self._order, _MOST_NUMBERS) if self._band else None

    @cached_property
    def _few(self) -> int:
        """How many iterations with the factors of another matrix are fewer than it takes to make them again."""
        return int(min(max(0.5 * self._fill.solutions, _FEW), _MANY)) if self._fill else _MANY

    def _solve_directly(self, b: Array, tolerance: float) -> Array:
        """Return x by the factors, which may be those of an earlier matrix."""
        if not self._fresh and self._sparse and tolerance > 0.0:
            closer = min(tolerance, max(_CLOSER * tolerance, _EXACT))
            x, iterations = self._sparse.solve_near(self._matrix[0], b, closer, self._few)
            self.counts["iterations"] += iterations
            if x is not None:
                return x
        return self._factors().solve(b, tolerance)

    def _factors(self) -> SparseSolver:
        """Return the direct solver with the present matrix."""
        self._sparse = self._sparse or SparseSolver(self._pattern, self._dim, nodes=self._order)
        if not self._fresh:
            self._sparse.update(*self._matrix)
            self._direct = self._fresh = True
            self.counts["direct"] += 1
        return self._sparse
