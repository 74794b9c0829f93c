"""Direct solvers for implicit steps."""

from __future__ import annotations

from typing import final

import numpy as np

from symplex.base.sparse import sp
from symplex.fem.assembly.inner_products import norm
from symplex.fem.assembly.pattern import Array, IntArray, Pattern
from symplex.fem.compiled.kernels import kernel
from symplex.time.solvers.conjugate_residuals import conjugate_residuals
from symplex.time.solvers.fill import coordinates_of, minimum_degree_order
from symplex.time.solvers.linear_solver import LinearSolver
from symplex.time.solvers.singular import loose_part, singular

_PIVOT = 0.1  # a diagonal pivot may be this part of the largest one of its column
_REFINE = 1e-12  # relative residual above which a solution is improved
_BROKEN = 1e-8  # and above which, after that, the factors are rebuilt with all pivoting
_SINGULAR = 1e-3  # and above which the matrix is taken for singular, whose solutions leave about 1
_LOST = 1e-13  # a pivot that is this part of the largest number in its column may be nothing but rounding
_SCALINGS = 20  # sweeps of scaling, each of which halves the digits by which rows differ
_ALIKE = 0.5  # numbers on the diagonal, relative to the largest of their columns, from which on no sweep is needed


@final
class DenseSolver(LinearSolver):
    """LU factors of the full matrix, for a few nodes."""

    def __init__(self, pattern: Pattern, dim: int):
        from scipy.linalg.lapack import dgetrf, dgetrs, dpotrf  # pyright: ignore[reportAttributeAccessIssue]

        self._factorise, self._substitute, self._symmetric = dgetrf, dgetrs, dpotrf
        self._pattern = pattern
        size = pattern.n_nodes * dim
        self._matrix, self._largest = np.zeros((size, size)), np.zeros(size)

    def update(self, blocks: Array, symmetric: bool, positions: Array, end: Array | None = None) -> None:
        """Factorise the matrix with the given blocks [nnz, dim, dim]."""
        self._blocks = blocks
        _fill(blocks, self._pattern.indptr, self._pattern.indices, self._matrix)
        _set_largest(self._matrix, self._largest)
        # LAPACK's order is by columns: it gets the transpose, without a copy, and solves with its transpose.
        self._lu, self._pivots, info = self._factorise(self._matrix.T, overwrite_a=1)
        self.counts["factorisations"] += 1
        if info > 0:
            raise singular(self._pattern, blocks)
        if _any_lost(self._lu, self._largest):
            _require_regular(self._pattern, blocks)

    @property
    def definite(self) -> bool:
        """Whether the matrix, if symmetric, is positive definite: whether it has a Cholesky factor."""
        whole = self._pattern.matrix(self._blocks).toarray()
        return self._symmetric(whole, overwrite_a=1)[1] == 0

    def solve(self, b: Array, tolerance: float) -> Array:
        """Return x [n, dim]."""
        x, _ = self._substitute(self._lu, self._pivots, b.reshape(-1), trans=1)
        return x.reshape(b.shape)


@final
class SparseSolver(LinearSolver):
    """Sparse LU factors (SuperLU) in an order that is found once.

    Where numbers on the diagonal are too small for pivots, as of rotations next to displacements, rows and columns are
    scaled first: pivots off the diagonal would fill the factors.

    Parameters
    ----------
    pattern : Pattern
    dim : int
    pivot : float, default 0.1
        Which part of the largest one of its column a diagonal pivot may be. With 0 there is no pivoting, which
        symmetric positive definite matrices do not need.
    nodes : int32 [n], optional
        The nodes in their order of elimination; by default one of least degree.
    """

    def __init__(self, pattern: Pattern, dim: int, pivot: float = _PIVOT, nodes: IntArray | None = None):
        self._pattern, self._pivot = pattern, pivot
        blocks = np.arange(len(pattern.indices) * dim * dim, dtype=float).reshape(-1, dim, dim)
        places = sp.csc_array(pattern.matrix(blocks))  # where each entry is in the blocks
        self._order = coordinates_of(minimum_degree_order(pattern) if nodes is None else nodes, dim)
        self._places = sp.csc_array(places[self._order][:, self._order])
        self._places.sort_indices()
        self._definite: bool | None = None
        self._scale: Array | None = None
        self._test = np.random.default_rng(0).standard_normal(len(self._order))

    def update(self, blocks: Array, symmetric: bool, positions: Array, end: Array | None = None) -> None:
        """Factorise the matrix with the given blocks [nnz, dim, dim]."""
        from scipy.sparse.linalg import splu

        self._blocks, self._definite = blocks, None
        options = {"diag_pivot_thresh": self._pivot, "options": {"SymmetricMode": True}}
        self._matrix, self._scale = self._with_values(blocks), None
        if self._pivot > 0.0 and (scale := _scale_of(self._matrix, self._pivot)) is not None:
            self._matrix, self._scale = _scaled(self._matrix, scale), scale
        self._lu = self._guarded(splu, permc_spec="NATURAL", **options)
        self.counts["factorisations"] += 1
        # A motion without force that the right-hand side happens not to excite: pivots that are lost show here
        # (SuperLU does not give them without a copy of all its factors).
        if not np.abs(self._lu.solve(self._test)).max() * np.abs(self._matrix.data).max(initial=0.0) < 1.0 / _LOST:
            _require_regular(self._pattern, blocks)

    @property
    def definite(self) -> bool:
        """Whether the matrix, if symmetric, is positive definite: all pivots on its diagonal are."""
        if self._definite is None:
            self._definite = self._has_positive_pivots()
        return self._definite

    def _has_positive_pivots(self) -> bool:
        lu = self._lu
        if not np.array_equal(lu.perm_r, lu.perm_c):  # which positive matrices do not need, but may have got
            from scipy.sparse.linalg import splu

            options = {"diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}
            lu = self._guarded(splu, permc_spec="NATURAL", **options)
        return np.array_equal(lu.perm_r, lu.perm_c) and bool(np.all(lu.U.diagonal() > 0.0))

    def solve(self, b: Array, tolerance: float) -> Array:
        """Return x [n, dim], improved by iterative refinement where little pivoting has lost digits."""
        rhs = self._in_own_order(b)
        x = self._lu.solve(rhs)
        size = norm(rhs)
        residual = rhs - self._matrix @ x
        if norm(residual) > _REFINE * size:
            x += self._lu.solve(residual)
            if not norm(rhs - self._matrix @ x) <= _BROKEN * size:
                x = self._with_full_pivoting(rhs)
        return self._in_given_order(x, b.shape)

    def solve_near(self, blocks: Array, b: Array, tolerance: float, limit: int) -> tuple[Array | None, int]:
        """Return x [n, dim] with |A x − b| at most tolerance · |b| for another matrix A of blocks [nnz, dim, dim].

        The factors precondition generalised conjugate residuals. None is returned for x if more than ``limit``
        iterations are needed; the second is how many there were.
        """
        matrix = self._with_values(blocks)
        if self._scale is not None:
            matrix = _scaled(matrix, self._scale)
        x, iterations = conjugate_residuals(
            lambda p: matrix @ p, self._lu.solve, self._in_own_order(b), tolerance, limit
        )
        return (None if x is None else self._in_given_order(x, b.shape)), iterations

    def _in_given_order(self, x: Array, shape: tuple[int, ...]) -> Array:
        out = np.empty_like(x)
        out[self._order] = x if self._scale is None else self._scale * x
        return out.reshape(shape)

    def _in_own_order(self, b: Array) -> Array:
        rhs = b.reshape(-1)[self._order]
        return rhs if self._scale is None else self._scale * rhs

    def _with_values(self, blocks: Array) -> sp.csc_array:
        places = self._places
        data = blocks.reshape(-1)[places.data.astype(np.intp)]
        return sp.csc_array((data, places.indices, places.indptr), shape=places.shape)

    def _with_full_pivoting(self, rhs: Array) -> Array:
        from scipy.sparse.linalg import splu

        self._lu = self._guarded(splu, permc_spec="COLAMD")
        x = self._lu.solve(rhs)
        if not norm(rhs - self._matrix @ x) <= _SINGULAR * norm(rhs):
            raise singular(self._pattern, self._blocks)
        return x

    def _guarded(self, splu, **options):
        try:
            return splu(self._matrix, **options)
        except RuntimeError as error:  # "Factor is exactly singular"
            raise singular(self._pattern, self._blocks) from error


def _require_regular(pattern: Pattern, blocks: Array) -> None:
    """Raise if something is loose in a matrix that may be ill-conditioned only."""
    loose = loose_part(pattern, blocks)
    if loose is not None:
        raise singular(pattern, blocks, loose)


def _scale_of(matrix: sp.csc_array, pivot: float) -> Array | None:
    """Return factors [n] of rows and columns with which numbers on the diagonal can be pivots; None if they can be.

    The largest number in each column becomes 1 (Ruiz, A scaling algorithm to equilibrate both rows and columns norms in
    matrices, RAL-TR-2001-034): with that those on the diagonal of a positive matrix do.
    """
    diagonal, starts = np.abs(matrix.diagonal()), matrix.indptr[:-1]
    sizes = np.abs(matrix.data)
    if len(sizes) == 0 or not (np.diff(matrix.indptr) > 0).all():
        return None
    largest = np.maximum.reduceat(sizes, starts)
    if not np.isfinite(largest).all() or (diagonal >= pivot * largest).all() or not (largest > 0.0).all():
        return None
    scale, columns = np.ones(len(diagonal)), np.repeat(np.arange(len(diagonal)), np.diff(matrix.indptr))
    for _ in range(_SCALINGS):
        part = 1.0 / np.sqrt(largest)
        scale *= part
        sizes *= part[matrix.indices]
        sizes *= part[columns]
        diagonal *= part * part
        largest = np.maximum.reduceat(sizes, starts)
        if (diagonal >= _ALIKE * largest).all() or np.abs(largest - 1.0).max() < 1.0 - _ALIKE:
            break
    return scale


def _scaled(matrix: sp.csc_array, scale: Array) -> sp.csc_array:
    """Return the matrix with rows and columns times factors [n]."""
    data = matrix.data * scale[matrix.indices]
    data *= np.repeat(scale, np.diff(matrix.indptr))
    return sp.csc_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


@kernel
def _fill(blocks, indptr, indices, out):
    """Write the blocks into the full matrix out."""
    dim = blocks.shape[1]
    out[...] = 0.0
    for a in range(len(indptr) - 1):
        for s in range(indptr[a], indptr[a + 1]):
            for i in range(dim):
                for j in range(dim):
                    out[a * dim + i, indices[s] * dim + j] = blocks[s, i, j]


@kernel
def _set_largest(matrix, out):
    """Set out to the largest absolute value of each row."""
    for i in range(len(matrix)):
        out[i] = 0.0
        for j in range(len(matrix)):
            out[i] = max(out[i], abs(matrix[i, j]))


@kernel
def _any_lost(lu, largest):
    """Return whether a pivot may be no more than rounding of the largest number in its column."""
    below = False
    for i in range(len(largest)):
        below |= abs(lu[i, i]) <= _LOST * largest[i]
    return below
