"""Algebraic multigrid that knows the rigid motions of a body, for very large steps; pyamg does the work."""

from __future__ import annotations

from typing import final

import numpy as np
import scipy.sparse as sp

from symplex.errors import MissingPackage, StepFailed
from symplex.fem.assembly.inner_products import inner, norm
from symplex.fem.assembly.pattern import Array, Pattern
from symplex.time.solvers.automatic import LARGEST_DIRECT
from symplex.time.solvers.direct import SparseSolver
from symplex.time.solvers.krylov import LIMIT
from symplex.time.solvers.linear_solver import LinearSolver
from symplex.time.solvers.singular import loose_part, singular

_ROUNDING = 0.5  # of the tolerance is asked for, since the residual that is carried on is not quite the true one


@final
class MultigridSolver(LinearSolver):
    """Conjugate gradients (or BiCGStab) with smoothed aggregation that keeps the rigid motions as near null space.

    The hierarchy is rebuilt for each matrix, which takes as long as some ten iterations. What they do not get done is
    solved with sparse factors, if these fit into memory.

    Parameters
    ----------
    pattern : Pattern
    dim : int

    Raises
    ------
    MissingPackage
        If pyamg is not installed.
    """

    def __init__(self, pattern: Pattern, dim: int):
        require_pyamg()
        self._pattern, self._dim = pattern, dim
        self._sparse: SparseSolver | None = None

    def update(self, blocks: Array, symmetric: bool, positions: Array, end: Array | None = None) -> None:
        """Set up the hierarchy for the matrix with the given blocks [nnz, dim, dim]."""
        from pyamg.aggregation import smoothed_aggregation_solver  # pyright: ignore[reportMissingImports]

        self.counts["factorisations"] += 1
        self._symmetric = self._positive = symmetric
        self._blocks, self._factorised = blocks, False
        matrix = self._pattern.matrix(blocks)
        self._matrix = sp.bsr_matrix((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape)
        modes = rigid_motions(positions)
        modes[_alone(self._matrix)] = 0.0
        hierarchy = smoothed_aggregation_solver(
            self._matrix, B=modes, symmetry="symmetric" if symmetric else "nonsymmetric", max_coarse=300
        )
        self._preconditioner = hierarchy.aspreconditioner()

    def solve(self, b: Array, tolerance: float) -> Array:
        """Return x [n, dim] with |A x − b| at most tolerance · |b|.

        Raises
        ------
        StepFailed
            If the tolerance is not reached.
        """
        from scipy.sparse.linalg import bicgstab, cg

        if self._factorised:
            return self._factors().solve(b, tolerance)
        method = cg if self._symmetric else bicgstab
        rhs = b.reshape(-1)
        x, _ = method(
            self._matrix, rhs, rtol=_ROUNDING * tolerance, maxiter=LIMIT, M=self._preconditioner, callback=self._count
        )
        left, size = norm(rhs - self._matrix @ x), norm(rhs)
        if not left <= tolerance * size:
            loose = loose_part(self._pattern, self._blocks)
            if loose is not None:
                raise singular(self._pattern, self._blocks, loose)
            if rhs.size > LARGEST_DIRECT:
                raise StepFailed(
                    f"multigrid left a residual of {left / size:.1e} of the right-hand side, expected {tolerance:.1e}. "
                    'Try a smaller step, or linear="auto".'
                )
            return self._factors().solve(b, tolerance)
        self._positive &= inner(rhs, x) >= 0.0
        return x.reshape(b.shape)

    def _factors(self) -> SparseSolver:
        """Return the direct solver with the present matrix."""
        self._sparse = self._sparse or SparseSolver(self._pattern, self._dim)
        if not self._factorised:
            self._sparse.update(self._blocks, self._symmetric, np.empty(0))
            self._factorised = True
            self.counts["direct"] += 1
        if self._symmetric:
            self._positive = self._sparse.definite
        return self._sparse

    @property
    def definite(self) -> bool:
        """Whether the matrix is symmetric, and no direction was met along which it is not positive."""
        return self._positive

    def _count(self, _: Array) -> None:
        self.counts["iterations"] += 1


def require_pyamg() -> None:
    """Check that pyamg is installed.

    Raises
    ------
    MissingPackage
        If it is not.
    """
    try:
        import pyamg  # noqa: F401  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise MissingPackage(
            'linear="multigrid" needs pyamg, which is not installed: pip install "symplex[multigrid]".'
        ) from error


def rigid_motions(positions: Array) -> Array:
    """Return the rigid motions [n·dim, dim (dim + 1)/2] at positions [n, dim]: translations, then rotations.

    Rotations are about the centre and as large as translations, so that units don't matter.
    """
    n, dim = positions.shape
    arms = positions - positions.mean(axis=0)
    arms /= max(float(np.abs(arms).max(initial=0.0)), np.finfo(float).tiny)
    modes = [np.tile(axis, (n, 1)) for axis in np.eye(dim)]
    for i in range(dim):
        for j in range(i):
            rotation = np.zeros((n, dim))
            rotation[:, i], rotation[:, j] = arms[:, j], -arms[:, i]
            modes.append(rotation)
    return np.column_stack([mode.ravel() for mode in modes])


def _alone(matrix: sp.bsr_matrix) -> np.ndarray:
    """Return which rows have nothing off the diagonal: fixed coordinates."""
    rows = sp.csr_matrix(matrix)
    next_to = np.asarray(abs(rows).sum(axis=1)).ravel() - np.abs(rows.diagonal())
    return next_to == 0.0
