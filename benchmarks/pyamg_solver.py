"""Smoothed aggregation by pyamg as a linear solver, which benchmarks compare with the package's own."""

from __future__ import annotations

from typing import final

import numpy as np
import scipy.sparse as sp

from symplex.errors import MissingPackage, StepFailed
from symplex.fem.assembly.pattern import Array, Pattern
from symplex.time.solvers.linear_solver import LinearSolver

LIMIT = 5000  # iterations
_ROUNDING = 0.5  # of the tolerance is asked for, since the residual that is carried on is not quite the true one


@final
class PyamgSolver(LinearSolver):
    """Conjugate gradients (or BiCGStab) with smoothed aggregation that keeps the rigid motions as near null space.

    The hierarchy is rebuilt for each matrix.

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
        try:
            import pyamg  # noqa: F401  # pyright: ignore[reportMissingImports]
        except ImportError as error:
            raise MissingPackage("pyamg is not installed: pip install pyamg.") from error
        self._pattern = pattern

    def update(self, blocks: Array, symmetric: bool, positions: Array, end: Array | None = None) -> None:
        """Set up the hierarchy for the matrix with the given blocks [nnz, dim, dim]."""
        from pyamg.aggregation import smoothed_aggregation_solver  # pyright: ignore[reportMissingImports]

        self._symmetric = symmetric
        matrix = self._pattern.matrix(blocks)
        self._matrix = sp.bsr_matrix((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape)
        modes = rigid_motions(positions)
        rows = sp.csr_matrix(self._matrix)
        alone = np.asarray(abs(rows).sum(axis=1)).ravel() == np.abs(rows.diagonal())  # fixed coordinates
        modes[alone] = 0.0
        kind = "symmetric" if symmetric else "nonsymmetric"
        hierarchy = smoothed_aggregation_solver(self._matrix, B=modes, symmetry=kind, max_coarse=300)
        self._preconditioner = hierarchy.aspreconditioner()

    @property
    def definite(self) -> bool:
        """Whether the matrix is symmetric: more is not known."""
        return self._symmetric

    def solve(self, b: Array, tolerance: float) -> Array:
        """Return x [n, dim] with |A x − b| at most tolerance · |b|.

        Raises
        ------
        StepFailed
            If the tolerance is not reached.
        """
        from scipy.sparse.linalg import bicgstab, cg

        method, rhs = cg if self._symmetric else bicgstab, b.reshape(-1)
        x, _ = method(
            self._matrix, rhs, rtol=_ROUNDING * tolerance, maxiter=LIMIT, M=self._preconditioner, callback=self._count
        )
        left, size = np.linalg.norm(rhs - self._matrix @ x), np.linalg.norm(rhs)
        if not left <= tolerance * size:
            raise StepFailed(f"multigrid left a residual of {left / size:.1e}, expected {tolerance:.1e}.")
        return x.reshape(b.shape)

    def _count(self, _: Array) -> None:
        self.counts["iterations"] += 1


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
