"""Sparse matrices of 3 × 3 blocks in the order of elimination, and their products with vectors.

A matrix is stored as its lower half (block rows with the diagonal last), or if it is not symmetric as all of its
blocks (columns sorted). Where nodes have fewer than three coordinates, the others get unit rows.

Kernels work on the rows first … last − 1, so that two threads can work on the two halves of a `TwoSidedOrder`, and
results don't depend on their number. They take flat arrays and indices without sign, which need no test for counting
from the end.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from symplex.base.sparse import sp
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.compiled import threads
from symplex.fem.compiled.kernels import inlined, kernel
from symplex.fem.compiled.prefetch import prefetch
from symplex.time.solvers.aggregates import aggregates
from symplex.time.solvers.node_order import two_sided_order

THREE, NINE = np.uint64(3), np.uint64(9)
_ROUNDING = 1e-12  # of numbers on the diagonal: what two numbers that should be equal may differ by
WORTH_A_THREAD = 10_000  # nodes
_AHEAD = 16  # blocks that are taken, which are fetched before they are needed


class BlockPattern:
    """The pattern of a block matrix in the order of elimination, and the way into it from the given order.

    All sums over vectors and rows, and products with vectors, are taken here: where rows are on several ranks
    (`symplex.parallel.ranked_rows`) they are over all of these.

    Parameters
    ----------
    indptr : int32 [n + 1]
    indices : int32 [nnz]
        Row starts and columns of a symmetric pattern with its diagonal, as in CSR
        (`symplex.fem.assembly.pattern.Pattern`).
    dim : int
        Coordinates of a node: 1, 2 or 3.

    Attributes
    ----------
    nodes : int32 [n]
        The nodes in the order of elimination.
    n, dim : int
    half : float64 [nnz', 9]
        The blocks of the border of a symmetric matrix, or part of a matrix, where there are ghosts.
    """

    def __init__(self, indptr: IntArray, indices: IntArray, dim: int):
        order = two_sided_order(indptr, indices)
        self.nodes = order.nodes
        self.n, self.dim = len(indptr) - 1, dim
        self._bounds = order.bounds
        self._indptr, self._indices = indptr, indices
        self.half = np.zeros((0, 9))

    @cached_property
    def lower(self) -> BlockRows:
        """The lower half with the diagonal."""
        return _rows_of(sp.csr_array(sp.tril(self._places(), format="csr")))

    @cached_property
    def whole(self) -> BlockRows:
        """All blocks."""
        return _rows_of(self._places())

    def _places(self) -> sp.csr_array:
        """Return a matrix in the order of elimination of the places of blocks, counted from 1: zeros may be dropped."""
        numbers = np.arange(1, len(self._indices) + 1)
        places = sp.csr_array((numbers, self._indices, self._indptr), shape=(self.n, self.n))
        return sp.csr_array(places[self.nodes][:, self.nodes])

    def run(self, function: Callable[..., Any], *arguments: Any, backward: bool = False) -> list[Any]:
        """Return what a kernel returns for the first half, the second half and the separator.

        The separator comes last, or first if ``backward``; the halves may be worked on at the same time.
        """
        _, middle, separator, end = self._bounds
        halves = [(*arguments, 0, middle), (*arguments, middle, separator)]
        number = threads.count() if self.n >= WORTH_A_THREAD else 1
        if backward:
            between = function(*arguments, separator, end)
            return [*threads.run(function, halves, number), between]
        return [*threads.run(function, halves, number), function(*arguments, separator, end)]

    # -- sums over all rows --------------------------------------------------------------------------------------

    def totals(self, *parts: float) -> tuple[float, ...]:
        """Return sums over all rows, given those over the rows that are here."""
        return parts

    def total(self, parts: Array) -> Array:
        """Return sums over all rows, given those over the rows that are here."""
        return parts

    def largest(self, number: float) -> float:
        """Return the largest of the numbers that are given anywhere."""
        return number

    def every(self, flag: bool) -> bool:
        """Return whether something is true everywhere."""
        return flag

    def dot(self, u: Array, v: Array) -> float:
        """Return u·v of vectors [3 n]."""
        return self.totals(_dot(u, v))[0]

    def norm(self, v: Array) -> float:
        """Return |v| of a vector [3 n]."""
        return sqrt(self.dot(v, v))

    def bodies(self) -> tuple[int, NDArray[np.integer]]:
        """Return how many parts are connected by nothing with each other, and that of each row [n]."""
        lower = self.lower
        graph = sp.csr_array((np.ones(len(lower.indices)), lower.indices.astype(np.int32), lower.indptr))
        return sp.csgraph.connected_components(graph, directed=False)

    def aggregates(self, size: int) -> NDArray[np.int32]:
        """Return the aggregate [n] of about ``size`` nodes that each row is in, numbered from 0."""
        return aggregates(self._indptr, self._indices, size)[self.nodes]

    # -- what other ranks have: nothing, if there are none ---------------------------------------------------------

    @cached_property
    def border(self) -> Border:
        """The blocks of columns of ghosts."""
        nothing = np.zeros(0, np.intp)
        return Border(np.zeros(self.n + 1, np.int64), np.zeros(0, np.uint32), nothing, nothing)

    def numbered(self, count: int) -> tuple[int, int]:
        """Return how many things are on ranks before this one, and on all, given how many are here."""
        return 0, count

    def joined(self, rows: Array) -> Array:
        """Return the arrays [m, ...] of all ranks, one after the other."""
        return rows

    def of_ghosts(self, values: Array) -> Array:
        """Return what ghosts [g, 3] have at their owners of values [n, 3] in the order of elimination."""
        return values[:0]

    # -- products ------------------------------------------------------------------------------------------------

    def advance(self, values: Array, z: Array, beta: float, p: Array, q: Array) -> float:
        """Set p = z + β p and q = A p, given the lower half [nnz', 9] of a symmetric matrix; return p·q."""
        return self.totals(sum(self.run(symmetric_product, *self.lower[:2], values, z, beta, p, q)))[0]

    def multiply(self, values: Array, x: Array, y: Array) -> None:
        """Set y = A x, given all blocks [nnz, 9] of A."""
        self.run(product, *self.whole[:2], values, x, y)

    # -- from the given order and back -----------------------------------------------------------------------------

    def gather(self, vector: Array) -> Array:
        """Return a vector [n, dim] of all nodes as [3 n] in the order of elimination."""
        out = np.zeros((self.n, 3))
        out[:, : self.dim] = vector[self.nodes]
        return out.ravel()

    def scatter(self, vector: Array) -> Array:
        """Return a vector [3 n] in the order of elimination as [n, dim] in the order of the nodes."""
        out = np.empty((self.n, self.dim))
        out[self.nodes] = vector.reshape(self.n, 3)[:, : self.dim]
        return out

    def largest_on_diagonal(self, blocks: Array) -> float:
        """Return the largest absolute value on the diagonal of a matrix given by its blocks [nnz, dim, dim]."""
        diagonal = self.lower.source[self.lower.indptr[1:] - 1]
        return float(np.max(np.abs(np.einsum("nii->ni", blocks)[diagonal]), initial=0.0))

    def is_symmetric(self, blocks: Array) -> bool:
        """Return whether a matrix given by its blocks [nnz, dim, dim] is symmetric to rounding."""
        return bool(_is_symmetric(self._indptr, self._indices, self.transposed, blocks, _ROUNDING))

    @cached_property
    def transposed(self) -> NDArray[np.int64]:
        """The place [nnz] of the block on the other side of the diagonal of each block, in the given order."""
        places = sp.csr_array(
            (np.arange(1, len(self._indices) + 1), self._indices, self._indptr), shape=(self.n, self.n)
        )
        other = sp.csr_array(places.T)
        other.sort_indices()
        return np.asarray(other.data, np.int64) - 1

    def take(self, rows: BlockRows, blocks: Array, scale: float, out: Array) -> None:
        """Write the blocks [nnz, dim, dim] of a matrix in the given order, times a factor, to out [nnz', 9]."""
        flat = blocks.reshape(len(blocks), -1)
        self.run(_take_blocks if self.dim == 3 else _take_smaller_blocks, *rows, flat, scale, out)


class Border(NamedTuple):
    """The blocks of own rows, in the order of elimination, and columns of ghosts."""

    indptr: NDArray[np.int64]  # [n + 1]
    indices: NDArray[np.uint32]  # [nnz']: row starts and columns, counted from the first ghost
    # [nnz']: The places of these blocks in the given order, and of those with row and column exchanged
    source: NDArray[np.intp]
    opposite: NDArray[np.intp]


class BlockRows(NamedTuple):
    """Block rows in the order of elimination.

    Attributes
    ----------
    indptr : int64 [n + 1]
    indices : uint32 [nnz']
        Row starts and columns.
    source : uint32 [nnz']
        The place of each block in the given order.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.uint32]
    source: NDArray[np.uint32]


def _rows_of(places: sp.csr_array) -> BlockRows:
    places.sort_indices()
    source = (places.data - 1).astype(np.uint32)
    return BlockRows(places.indptr.astype(np.int64), places.indices.astype(np.uint32), source)


@kernel
def _is_symmetric(indptr, indices, transposed, blocks, tolerance):
    """Return whether |A_ij − A_ji| ≤ tolerance (|A_ii| |A_jj|)^½ for all numbers of blocks i and j."""
    n, dim = len(indptr) - 1, blocks.shape[1]
    size = np.zeros(n)
    for a in range(n):
        for s in range(indptr[a], indptr[a + 1]):
            if indices[s] == a:
                for i in range(dim):
                    for j in range(dim):
                        size[a] = max(size[a], abs(blocks[s, i, j]))
    for a in range(n):
        for s in range(indptr[a], indptr[a + 1]):
            b, t = indices[s], transposed[s]
            if b > a:
                break
            most = tolerance * np.sqrt(size[a] * size[b])
            for i in range(dim):
                for j in range(dim):
                    if not abs(blocks[s, i, j] - blocks[t, j, i]) <= most:
                        return False
    return True


@kernel
def _take_blocks(indptr, indices, source, blocks, scale, out, first, last):
    blocks, out, end = blocks.ravel(), out.ravel(), indptr[last]
    for s in range(indptr[first], end):
        ahead = np.int64(9) * np.int64(source[min(s + _AHEAD, end - 1)])
        prefetch(blocks, ahead)  # pyright: ignore[reportCallIssue]
        prefetch(blocks, ahead + 8)  # pyright: ignore[reportCallIssue]
        to, at = NINE * np.uint64(s), NINE * np.uint64(source[s])
        for k in range(9):
            out[to + np.uint64(k)] = scale * blocks[at + np.uint64(k)]


@kernel
def _take_smaller_blocks(indptr, indices, source, blocks, scale, out, first, last):
    """Fill blocks of 1 or 4 numbers up to 9, with ones on the diagonal."""
    dim = 1 if blocks.shape[1] == 1 else 2
    for i in range(first, last):
        for s in range(indptr[i], indptr[i + 1]):
            for k in range(3):
                for m in range(3):
                    if k < dim and m < dim:
                        out[s, 3 * k + m] = scale * blocks[source[s], dim * k + m]
                    else:
                        out[s, 3 * k + m] = 1.0 if indices[s] == i and k == m else 0.0


@inlined
def block_times(values, s, x0, x1, x2):
    """Return the product of block s of the values [9 nnz] with a vector."""
    a = NINE * np.uint64(s)
    return (
        values[a] * x0 + values[a + np.uint64(1)] * x1 + values[a + np.uint64(2)] * x2,
        values[a + np.uint64(3)] * x0 + values[a + np.uint64(4)] * x1 + values[a + np.uint64(5)] * x2,
        values[a + np.uint64(6)] * x0 + values[a + np.uint64(7)] * x1 + values[a + np.uint64(8)] * x2,
    )


@kernel
def symmetric_product(indptr, indices, values, z, beta, p, q, first, last):
    """Set p = z + β p and q = A p, given the lower half of A; return p·q of the rows.

    A row i adds its part to all q of rows before it, which are set already.
    """
    values = values.ravel()
    product = 0.0
    for row in range(first, last):
        i = THREE * np.uint64(row)
        x0 = z[i] + beta * p[i]
        x1 = z[i + np.uint64(1)] + beta * p[i + np.uint64(1)]
        x2 = z[i + np.uint64(2)] + beta * p[i + np.uint64(2)]
        p[i], p[i + np.uint64(1)], p[i + np.uint64(2)] = x0, x1, x2
        y0 = y1 = y2 = 0.0
        diagonal = indptr[row + 1] - 1
        for s in range(indptr[row], diagonal):
            j = THREE * np.uint64(indices[s])
            a = NINE * np.uint64(s)
            a0, a1, a2 = values[a], values[a + np.uint64(1)], values[a + np.uint64(2)]
            a3, a4, a5 = values[a + np.uint64(3)], values[a + np.uint64(4)], values[a + np.uint64(5)]
            a6, a7, a8 = values[a + np.uint64(6)], values[a + np.uint64(7)], values[a + np.uint64(8)]
            u0, u1, u2 = p[j], p[j + np.uint64(1)], p[j + np.uint64(2)]
            y0 += a0 * u0 + a1 * u1 + a2 * u2
            y1 += a3 * u0 + a4 * u1 + a5 * u2
            y2 += a6 * u0 + a7 * u1 + a8 * u2
            q[j] += a0 * x0 + a3 * x1 + a6 * x2
            q[j + np.uint64(1)] += a1 * x0 + a4 * x1 + a7 * x2
            q[j + np.uint64(2)] += a2 * x0 + a5 * x1 + a8 * x2
        d0, d1, d2 = block_times(values, diagonal, x0, x1, x2)
        q[i], q[i + np.uint64(1)], q[i + np.uint64(2)] = y0 + d0, y1 + d1, y2 + d2
        product += x0 * (2.0 * y0 + d0) + x1 * (2.0 * y1 + d1) + x2 * (2.0 * y2 + d2)
    return product


@kernel
def product(indptr, indices, values, x, y, first, last):
    """Set y = A x, given all blocks of A."""
    values = values.ravel()
    for row in range(first, last):
        y0 = y1 = y2 = 0.0
        for s in range(indptr[row], indptr[row + 1]):
            j = THREE * np.uint64(indices[s])
            d0, d1, d2 = block_times(values, s, x[j], x[j + np.uint64(1)], x[j + np.uint64(2)])
            y0 += d0
            y1 += d1
            y2 += d2
        i = THREE * np.uint64(row)
        y[i], y[i + np.uint64(1)], y[i + np.uint64(2)] = y0, y1, y2
    return 0.0


@kernel
def _dot(u, v):
    """Return u·v; not by a library, whose sums may depend on its number of threads."""
    s0 = s1 = s2 = 0.0
    for i in range(0, len(u), 3):
        s0 += u[i] * v[i]
        s1 += u[i + 1] * v[i + 1]
        s2 += u[i + 2] * v[i + 2]
    return s0 + s1 + s2
