"""Complete Cholesky factors of sparse matrices of 6 × 6 blocks, for the few thousand unknowns of coarse spaces.

In plain loops, whose numbers depend neither on a library nor on its threads: all ranks decide by them alike.
"""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from symplex.fem.assembly.pattern import Array, Pattern
from symplex.fem.compiled.kernels import inlined, kernel
from symplex.time.solvers.fill import minimum_degree_order

SIX, BLOCK = 6, 36
_NOTHING = 1e-13  # part of a size, below which a pivot is rounding: nothing holds that motion


@final
class SparseCholesky:
    """A = L Lᵀ, with blocks in an order of least fill.

    Parameters
    ----------
    n : int
        Block rows.
    pairs : int [m, 2]
        Rows and columns of blocks: of two that are opposite each other one.

    Attributes
    ----------
    operations : float
        Multiplications and additions of the factorisation, both counted.
    """

    def __init__(self, n: int, pairs: NDArray[np.integer]):
        self.n = n
        order = minimum_degree_order(Pattern(n, [np.ascontiguousarray(pairs, dtype=np.int32)]))
        self._place = np.empty(n, np.int32)
        self._place[order] = np.arange(n)
        places = self._place[pairs]
        rows, columns = places.max(axis=1), places.min(axis=1)
        sorted_by_row = np.lexsort((columns, rows))
        starts = np.searchsorted(rows[sorted_by_row], np.arange(n + 1))
        self._indptr, self._rows = _filled(starts, columns[sorted_by_row])
        keys = np.repeat(np.arange(n), np.diff(self._indptr)) * n + self._rows
        self._at = np.searchsorted(keys, columns.astype(np.int64) * n + rows)
        self._turned = places[:, 0] < places[:, 1]  # pairs that are given as blocks of the upper half
        self._factor = np.empty((len(self._rows), BLOCK))
        self.operations = float(2 * SIX**3 * (np.diff(self._indptr) ** 2).sum() // 2)

    def factorize(self, blocks: Array, sizes: Array) -> None:
        """Factorise the matrix with the blocks [m, 6, 6] of the pairs.

        Pivots that are rounding next to the sizes [n] of what the blocks on the diagonal were made of are left out.
        """
        turned = self._turned[:, None, None]
        self._factor.fill(0.0)
        # Kept by columns, so that a column of a block is contiguous
        self._factor[self._at] = np.where(turned, blocks, blocks.swapaxes(1, 2)).reshape(-1, BLOCK)
        least = np.empty(self.n)
        least[self._place] = _NOTHING * sizes
        _factorize(self._indptr, self._rows, self._factor, least)

    def solve(self, b: Array) -> Array:
        """Return A⁻¹ b of b [n, 6]; parts along motions that nothing holds are left out."""
        x = np.empty((self.n, SIX))
        x[self._place] = b
        _solve(self._indptr, self._rows, self._factor, x.ravel())
        return x[self._place]


@kernel
def _filled(starts, columns):
    """Return the starts and rows of the columns of the factor of a matrix whose lower half is given by rows.

    Each row of the factor is the part of the elimination tree that its entries in the matrix hang on (Liu 1990).
    """
    n = len(starts) - 1
    parent, reached, height = np.full(n, -1, np.int64), np.full(n, -1, np.int64), np.ones(n, np.int64)
    for k in range(n):
        reached[k] = k
        for s in range(starts[k], starts[k + 1]):
            i = columns[s]
            while i < k and reached[i] != k:
                if parent[i] < 0:
                    parent[i] = k
                height[i] += 1
                reached[i] = k
                i = parent[i]
    indptr = np.zeros(n + 1, np.int64)
    for k in range(n):
        indptr[k + 1] = indptr[k] + height[k]
    rows, end = np.empty(indptr[n], np.int64), indptr[:-1].copy()
    reached.fill(-1)
    for k in range(n):
        rows[end[k]] = k
        end[k] += 1
        reached[k] = k
        for s in range(starts[k], starts[k + 1]):
            i = columns[s]
            while i < k and reached[i] != k:
                rows[end[i]] = k
                end[i] += 1
                reached[i] = k
                i = parent[i]
    return indptr, rows


@kernel
def _factorize(indptr, rows, factor, least):
    """Replace the lower half by its factor, column by column, with inverse numbers on its diagonal."""
    n = len(indptr) - 1
    factor = factor.ravel()
    place = np.zeros(n, np.uint64)
    for j in range(n):
        begin, end = indptr[j], indptr[j + 1]
        _factorize_block(factor, 36 * begin, least[j])
        for s in range(begin + 1, end):
            _divide(factor, 36 * np.uint64(s), 36 * np.uint64(begin))
        for s in range(begin + 1, end):
            column = rows[s]
            for t in range(indptr[column], indptr[column + 1]):
                place[rows[t]] = 36 * t
            for t in range(s, end):
                _subtract_product(factor, place[rows[t]], 36 * np.uint64(t), 36 * np.uint64(s))


@kernel
def _factorize_block(a, d, least):
    """Replace a symmetric block at d by its factor C with 1/C_ii on the diagonal, 0 where nothing holds."""
    for j in range(6):
        for i in range(j, 6):
            total = a[d + 6 * j + i]
            for k in range(j):
                total -= a[d + 6 * k + i] * a[d + 6 * k + j]
            if i == j:
                a[d + 7 * j] = 1.0 / np.sqrt(total) if total > least else 0.0
            else:
                a[d + 6 * j + i] = total * a[d + 7 * j]


@inlined
def _divide(a, s, d):
    """Replace a block X at s by X C⁻ᵀ."""
    for k in range(6):
        inverse = a[d + np.uint64(7 * k)]
        for i in range(6):
            total = a[s + np.uint64(6 * k + i)]
            for c in range(k):
                total -= a[s + np.uint64(6 * c + i)] * a[d + np.uint64(6 * c + k)]
            a[s + np.uint64(6 * k + i)] = total * inverse


@inlined
def _subtract_product(a, to, u, v):
    """Take the product U Vᵀ of the blocks at u and v off the block at ``to``."""
    for j in range(6):
        for i in range(6):
            total = a[to + np.uint64(6 * j + i)]
            for c in range(6):
                total -= a[u + np.uint64(6 * c + i)] * a[v + np.uint64(6 * c + j)]
            a[to + np.uint64(6 * j + i)] = total


@kernel
def _solve(indptr, rows, factor, x):
    """Replace b by A⁻¹ b."""
    n = len(indptr) - 1
    factor = factor.ravel()
    for j in range(n):
        b, d = 6 * j, 36 * indptr[j]
        for k in range(6):
            x[b + k] *= factor[d + 7 * k]
            for i in range(k + 1, 6):
                x[b + i] -= factor[d + 6 * k + i] * x[b + k]
        x0, x1, x2, x3, x4, x5 = x[b], x[b + 1], x[b + 2], x[b + 3], x[b + 4], x[b + 5]
        for s in range(indptr[j] + 1, indptr[j + 1]):
            a, f = 6 * np.uint64(rows[s]), 36 * np.uint64(s)
            for i in range(6):
                u = np.uint64(i)
                x[a + u] -= (
                    factor[f + u] * x0 + factor[f + np.uint64(6 + i)] * x1 + factor[f + np.uint64(12 + i)] * x2
                ) + (
                    factor[f + np.uint64(18 + i)] * x3
                    + factor[f + np.uint64(24 + i)] * x4
                    + factor[f + np.uint64(30 + i)] * x5
                )
    for j in range(n - 1, -1, -1):
        b, d = 6 * j, 36 * indptr[j]
        for s in range(indptr[j] + 1, indptr[j + 1]):
            a, f = 6 * np.uint64(rows[s]), 36 * np.uint64(s)
            x0, x1, x2 = x[a], x[a + np.uint64(1)], x[a + np.uint64(2)]
            x3, x4, x5 = x[a + np.uint64(3)], x[a + np.uint64(4)], x[a + np.uint64(5)]
            for k in range(6):
                g = f + np.uint64(6 * k)
                x[b + k] -= (factor[g] * x0 + factor[g + np.uint64(1)] * x1 + factor[g + np.uint64(2)] * x2) + (
                    factor[g + np.uint64(3)] * x3 + factor[g + np.uint64(4)] * x4 + factor[g + np.uint64(5)] * x5
                )
        for k in range(5, -1, -1):
            for i in range(k + 1, 6):
                x[b + k] -= factor[d + 6 * k + i] * x[b + i]
            x[b + k] *= factor[d + 7 * k]
