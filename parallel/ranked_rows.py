"""The rows of a block matrix that are on one rank: those of its own nodes, with columns of ghosts next to them.

What couples own nodes is a `BlockPattern`, whose factors precondition (block Jacobi over ranks). The columns of ghosts
are added to products once their numbers are there, which travel while own columns are multiplied.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from symplex.base.sparse import sp
from symplex.fem.assembly.pattern import Array, Pattern
from symplex.fem.compiled.kernels import kernel
from symplex.parallel.division import Share
from symplex.parallel.halo import Halo
from symplex.parallel.reductions import Reductions
from symplex.time.solvers.block_matrix import BlockPattern, BlockRows, Border, block_times, symmetric_product
from symplex.time.solvers.turned import RotatedTangent, take_symmetric_part


class RankedRows(BlockPattern):
    """The rows of own nodes, and sums over those of all ranks.

    Parameters
    ----------
    pattern : Pattern
        Of own nodes and ghosts, which come after them.
    dim : int
    share : Share
    sums : Reductions
    """

    def __init__(self, pattern: Pattern, dim: int, share: Share, sums: Reductions):
        n, end = share.ghosts, int(pattern.indptr[share.ghosts])
        rows, columns = pattern.rows(), pattern.indices
        inside = np.flatnonzero(columns[:end] < n)
        indptr = np.zeros(n + 1, np.int32)
        np.cumsum(np.bincount(rows[inside], minlength=n), out=indptr[1:])
        super().__init__(indptr, columns[inside], dim)
        self.share, self._sums, self._pattern, self._inside = share, sums, pattern, inside
        self._ghosts = len(share.nodes) - n
        self.values = np.empty((len(self.border.indices), 9))  # those of the border that are multiplied with
        self.half = self.values  # those of a symmetric matrix, or part of a matrix
        self._halo, self._incoming = self.halo(3), np.empty((self._ghosts, 3))
        self._p = np.zeros((self._ghosts, 3))

    @cached_property
    def border(self) -> Border:
        """The blocks of own rows, in the order of elimination, and columns of ghosts."""
        pattern, n, rows = self._pattern, self.n, self._pattern.rows()
        end = int(pattern.indptr[n])
        place = np.empty(n, np.int64)
        place[self.nodes] = np.arange(n)
        next_to = np.flatnonzero(pattern.indices[:end] >= n)
        order = np.argsort(place[rows[next_to]], kind="stable")
        source = next_to[order]
        indptr = np.zeros(n + 1, np.int64)
        np.cumsum(np.bincount(place[rows[source]], minlength=n), out=indptr[1:])
        keys = rows * pattern.n_nodes + pattern.indices  # ascending
        opposite = np.searchsorted(keys, pattern.indices[source].astype(np.int64) * pattern.n_nodes + rows[source])
        return Border(indptr, (pattern.indices[source] - n).astype(np.uint32), source, opposite)

    def halo(self, numbers: int) -> Halo:
        """Return an exchange of so many numbers of each node, from the order of elimination to that of ghosts."""
        place, n = np.empty(self.n, np.intp), self.n
        place[self.nodes] = np.arange(n)
        neighbours = [
            one._replace(sent=place[one.sent], first=one.first - n, last=one.last - n) for one in self.share.neighbours
        ]
        return self._sums.halo(neighbours, numbers)

    def numbered(self, count: int) -> tuple[int, int]:
        """Return how many things are on ranks before this one, and on all, given how many are here."""
        counts = self._sums.gathered(np.array([float(count)]))[:, 0].astype(int)
        return int(counts[: self._sums.rank].sum()), int(counts.sum())

    def joined(self, rows: Array) -> Array:
        """Return the arrays [m, ...] of all ranks, one after the other."""
        counts = self._sums.gathered(np.array([float(len(rows))]))[:, 0].astype(int)
        padded = np.zeros((counts.max(), *rows.shape[1:]))
        padded[: len(rows)] = rows
        return np.concatenate([of[:n] for of, n in zip(self._sums.gathered(padded), counts, strict=True)])

    # -- the numbers of a matrix ---------------------------------------------------------------------------------

    def take(self, rows: BlockRows, blocks: Array, scale: float, out: Array) -> None:
        """Write the blocks [nnz, dim, dim] of a matrix in the given order, times a factor, to out, and the border's."""
        super().take(rows._replace(source=self._inside[rows.source].astype(np.uint32)), blocks, scale, out)
        self._given, self.half = (blocks, scale), self.values
        self.take_at(self.border.source, self.values)

    def take_at(self, places: NDArray[np.intp], out: Array) -> None:
        """Write the blocks at some places of the matrix that was taken last to out [nnz', 9]."""
        blocks, scale = self._given
        out.fill(0.0)
        out.reshape(-1, 3, 3)[:, : self.dim, : self.dim] = scale * blocks[places]

    def largest_on_diagonal(self, blocks: Array) -> float:
        """Return the largest absolute value on the diagonal of the matrix on all ranks."""
        return self._sums.largest(super().largest_on_diagonal(blocks[self._inside]))

    def is_symmetric(self, blocks: Array) -> bool:
        """Return whether the matrix is symmetric to rounding, as far as own columns report, on all ranks."""
        return self.every(super().is_symmetric(blocks[self._inside]))

    # -- sums and products -----------------------------------------------------------------------------------------

    def totals(self, *parts: float) -> tuple[float, ...]:
        """Return sums over all rows, given those over own ones."""
        return self._sums.totals(*parts)

    def total(self, parts: Array) -> Array:
        """Return sums over all rows, given those over own ones."""
        return self._sums.total(parts)

    def largest(self, number: float) -> float:
        """Return the largest of the numbers of all ranks."""
        return self._sums.largest(number)

    def every(self, flag: bool) -> bool:
        """Return whether something is true on all ranks."""
        return self._sums.largest(float(not flag)) == 0.0

    def advance(self, values: Array, z: Array, beta: float, p: Array, q: Array) -> float:
        """Set p = z + β p and q = A p for a symmetric matrix, of which the lower half of own columns is given."""
        self._halo.start(z.reshape(-1, 3))
        along = sum(self.run(symmetric_product, *self.lower[:2], values, z, beta, p, q))
        self._halo.finish(self._incoming)
        self._p = self._incoming + beta * self._p if beta != 0.0 else self._incoming.copy()
        return self.totals(along + _add_border(*self.border[:2], self.half, self._p, p, q))[0]

    def multiply(self, values: Array, x: Array, y: Array) -> None:
        """Set y = A x, given all blocks [nnz, 9] of own columns."""
        self._halo.start(x.reshape(-1, 3))
        super().multiply(values, x, y)
        self._halo.finish(self._incoming)
        _add_border(*self.border[:2], self.values, self._incoming, x, y)

    def of_ghosts(self, values: Array) -> Array:
        """Return what ghosts [g, 3] have at their owners of values [n, 3] in the order of elimination."""
        self._halo.start(values)
        self._halo.finish(self._incoming)
        return self._incoming.copy()

    def scatter(self, vector: Array) -> Array:
        """Return a vector [3 n] in the order of elimination as [l, dim], with the numbers of ghosts."""
        vector = vector.reshape(-1, 3)
        self._halo.start(vector)
        out = np.empty((len(self.share.nodes), self.dim))
        out[self.nodes] = vector[:, : self.dim]
        self._halo.finish(self._incoming)
        out[self.n :] = self._incoming[:, : self.dim]
        return out

    # -- what hangs together ---------------------------------------------------------------------------------------

    def bodies(self) -> tuple[int, NDArray[np.integer]]:
        """Return how many parts are connected by nothing with each other, and that of each row [n].

        Each part of a rank is known by the least number that a node of it has in the whole mesh, which goes from rank
        to rank until nothing changes.
        """
        own, nodes = self.n, self.share.nodes
        end = self._pattern.indptr[own]
        rows, columns = self._pattern.rows()[:end], self._pattern.indices[:end]
        graph = sp.csr_array((np.ones(end), (rows, columns)), shape=(len(nodes),) * 2)
        number, part = sp.csgraph.connected_components(graph, directed=False)
        label, sent = nodes.astype(float), np.zeros((own, 3))
        while True:
            least = np.full(number, np.inf)
            np.minimum.at(least, part, label)
            label = least[part]
            sent[:, 0] = label[self.nodes]
            self._halo.start(sent)
            self._halo.finish(self._incoming)
            changed = np.any(self._incoming[:, 0] != label[own:])
            label[own:] = self._incoming[:, 0]
            if self.every(not changed):
                break
        known = np.unique(np.concatenate(self._sums.reported(np.unique(label[:own]))))
        return len(known), np.searchsorted(known, label[self.nodes])


class RankedTurned(RotatedTangent):
    """The symmetric part of A R on several ranks.

    The rotations of own nodes are by own neighbours; those of ghosts are theirs at home.
    """

    def __init__(self, pattern: RankedRows):
        super().__init__(pattern)
        self._rows = pattern
        ghosts = len(pattern.share.nodes) - pattern.n
        self._halo, self._of_ghosts = pattern.halo(9), np.empty((ghosts, 9))
        number = len(pattern.border.indices)
        self._both, self._half = np.empty((2 * number, 9)), np.empty((number, 9))

    def _take_border(self) -> list[tuple[float, float]]:
        """Take the symmetric part of the columns of ghosts, by the rows of these that are here; return sums."""
        rows, number = self._rows, len(self._half)
        self._halo.start(self._rotations)
        rows.take_at(rows.border.source, self._both[:number])
        rows.take_at(rows.border.opposite, self._both[number:])
        self._halo.finish(self._of_ghosts)
        rotations = np.concatenate([self._rotations, self._of_ghosts])
        places = np.arange(2 * number, dtype=np.uint32)
        columns = rows.border.indices + np.uint32(rows.n)
        arguments = (rows.border.indptr, columns, places[:number], places[number:], self._both, rotations, self._half)
        rows.half = self._half
        return [take_symmetric_part(*arguments, 0, rows.n)]


@kernel
def _add_border(indptr, indices, values, ghosts, x, y):
    """Add the products of the border with the numbers of ghosts [g, 3] to y; return x times what was added."""
    values = values.ravel()
    along = 0.0
    for row in range(len(indptr) - 1):
        y0 = y1 = y2 = 0.0
        for s in range(indptr[row], indptr[row + 1]):
            g = ghosts[indices[s]]
            d0, d1, d2 = block_times(values, s, g[0], g[1], g[2])
            y0, y1, y2 = y0 + d0, y1 + d1, y2 + d2
        i = 3 * row
        y[i], y[i + 1], y[i + 2] = y[i] + y0, y[i + 1] + y1, y[i + 2] + y2
        along += x[i] * y0 + x[i + 1] * y1 + x[i + 2] * y2
    return along
