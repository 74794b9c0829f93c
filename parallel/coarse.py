"""A coarse space for incomplete factors of parts: the rigid motions of each part, solved for on all ranks.

Factors of what couples own nodes know nothing of what lies beyond a part: there, a correction that is smooth over
several parts comes on by one part an iteration. The rigid motions Z of all parts are few, six numbers for each, and
M⁻¹ = L⁻ᵀL⁻¹ + Z (ZᵀA Z)⁻¹ Zᵀ takes it everywhere at once (an additive method of two levels: Smith, Bjørstad and Gropp
1996, chapter 2). What it needs of all ranks, Zᵀ r, goes with the sums of an iteration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import numpy as np

from symplex.fem.assembly import Array
from symplex.fem.kernels import kernel
from symplex.time.solvers.block_factor import IncompleteCholesky
from symplex.time.solvers.block_matrix import BlockPattern, symmetric_product

if TYPE_CHECKING:
    from symplex.parallel.ranked_rows import RankedRows
    from symplex.parallel.reductions import Reductions

MOST = 128  # pieces of parts, beyond which there is no coarse space: each rank factorises its dense matrix
_DEPENDENT = 1e-9  # part of a motion's stiffness, below which it is one of those before it: of points and lines


@final
class TwoLevelCholesky(IncompleteCholesky):
    """IC(0) of what couples own nodes, and the rigid motions of the pieces of all parts as a coarse space.

    A piece is what hangs together of a part.

    Parameters
    ----------
    rows : RankedRows
    sums : Reductions
    """

    def __init__(self, rows: RankedRows, sums: Reductions):
        super().__init__(rows)
        self._rows, self._sums = rows, sums
        number, piece = BlockPattern.bodies(rows)
        counts = sums.gathered(np.array([float(number)]))[:, 0].astype(int)
        self._exists = len(counts) > 1 and int(counts.sum()) <= MOST
        if not self._exists:
            return
        self._piece, self._counts = piece.astype(np.int32), counts
        first = int(counts[: sums.rank].sum())
        self._own = slice(6 * first, 6 * (first + number))  # of all rigid motions
        here = np.zeros((rows.n, 3))
        here[:, 0] = first + piece
        self._piece_of_ghosts = rows.of_ghosts(here)[:, 0].astype(np.int32)

    def see(self, values: Array, positions: Array) -> None:
        """Take the matrix with the lower half values [nnz', 9] of a system at positions [n, dim] in m.

        It is kept for those that follow, which a coarse space may differ from.
        """
        if not self._exists:
            return
        rows, piece, number = self._rows, self._piece, len(self._counts)
        x = rows.gather(positions).reshape(-1, 3)
        nodes = np.bincount(piece)
        arms = x - np.stack([np.bincount(piece, x[:, i]) / nodes for i in range(3)], axis=1)[piece]
        arms /= max(rows.largest(float(np.abs(arms).max(initial=0.0))), np.finfo(float).tiny)
        self._arms = arms
        motions, of_ghosts = _motions(arms, rows.dim), _motions(rows.of_ghosts(arms), rows.dim)
        stiffness = np.zeros((len(nodes), 6, int(self._counts.sum()), 6))
        p, q, pieces = np.zeros(3 * rows.n), np.empty(3 * rows.n), np.arange(len(nodes))
        first = self._own.start // 6
        for k in range(6):
            rows.run(symmetric_product, *rows.lower[:2], values, np.ascontiguousarray(motions[:, k]).ravel(), 0.0, p, q)
            for m in range(6):
                works = (motions[:, m] * q.reshape(-1, 3)).sum(axis=1)
                stiffness[pieces, m, first + pieces, k] = np.bincount(piece, works)
        border = rows.border
        row = np.repeat(np.arange(rows.n), np.diff(border.indptr))
        forces = np.einsum("eij,ekj->eki", rows.half.reshape(-1, 3, 3), of_ghosts[border.indices])
        works = np.einsum("emi,eki->emk", motions[row], forces)
        np.add.at(stiffness.swapaxes(1, 2), (piece[row], self._piece_of_ghosts[border.indices]), works)
        most = 6 * int(self._counts.max())
        sent = np.zeros((most, 6 * int(self._counts.sum())))
        sent[: 6 * len(nodes)] = stiffness.reshape(6 * len(nodes), -1)
        gathered = self._sums.gathered(sent)
        self._factors = np.concatenate([gathered[rank, : 6 * self._counts[rank]] for rank in range(number)])
        _factorize(self._factors, _DEPENDENT)
        self._sent = np.zeros(2 + most)

    def applied(self, alpha: float, p: Array, q: Array, x: Array, r: Array, y: Array) -> tuple[float, float]:
        """Do as `forward`; return r·r and r·z over all rows, z being what `backward` makes of y."""
        if not self._exists:
            return super().applied(alpha, p, q, x, r, y)
        sent = self._sent
        sent[:2] = self.forward(alpha, p, q, x, r, y)
        sent[2:] = 0.0
        _add_along(r, self._piece, self._arms, self._rows.dim, sent[2:])
        gathered = self._sums.gathered(sent)
        squared, product = gathered[:, :2].sum(axis=0).tolist()
        parts = zip(gathered, self._counts, strict=True)
        self._part = np.concatenate([numbers[2 : 2 + 6 * count] for numbers, count in parts])
        return squared, product + _solve(self._factors, self._part)

    def backward(self, z: Array) -> None:
        """Replace y by z = L⁻ᵀ y + Z (ZᵀA Z)⁻¹ Zᵀ r."""
        super().backward(z)
        if self._exists:
            _add_motions(self._part[self._own], self._piece, self._arms, self._rows.dim, z)


def _motions(arms: Array, dim: int) -> Array:
    """Return three translations and three rotations [n, 6, 3] of nodes with arms [n, 3]."""
    motions = np.zeros((len(arms), 6, 3))
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        motions[:, i, i] = 1.0
        motions[:, 3 + i, j], motions[:, 3 + i, k] = -arms[:, k], arms[:, j]
    motions[:, :, dim:] = 0.0
    return motions


# In plain loops, whose numbers do not depend on a library: all ranks decide by them alike.


@kernel
def _factorize(a, dependent):
    """Replace a symmetric matrix by the lower half of its Cholesky factor, motions that depend on others left out."""
    n = len(a)
    for i in range(n):
        least = dependent * a[i, i]
        for j in range(i + 1):
            total = a[i, j]
            for k in range(j):
                total -= a[i, k] * a[j, k]
            if j < i:
                a[i, j] = total / a[j, j] if a[j, j] > 0.0 else 0.0
            else:
                a[i, i] = np.sqrt(total) if total > least else 0.0


@kernel
def _solve(factors, b):
    """Replace b by x = A⁻¹ b; return b·x."""
    n = len(b)
    product = 0.0
    for i in range(n):
        total = b[i]
        for k in range(i):
            total -= factors[i, k] * b[k]
        b[i] = total / factors[i, i] if factors[i, i] > 0.0 else 0.0
        product += b[i] * b[i]
    for i in range(n - 1, -1, -1):
        b[i] = b[i] / factors[i, i] if factors[i, i] > 0.0 else 0.0
        for k in range(i):
            b[k] -= factors[i, k] * b[i]
    return product


@kernel
def _add_along(forces, piece, arms, dim, out):
    """Add Zᵀ f of forces [3 n] to out [6 pieces]."""
    for row in range(len(piece)):
        first = 6 * piece[row]
        f = forces[3 * row], forces[3 * row + 1], forces[3 * row + 2]
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            if i < dim:
                out[first + i] += f[i]
            if j < dim:
                out[first + 3 + i] -= arms[row, k] * f[j]
            if k < dim:
                out[first + 3 + i] += arms[row, j] * f[k]


@kernel
def _add_motions(parts, piece, arms, dim, out):
    """Add Z d of parts [6 pieces] to out [3 n]."""
    for row in range(len(piece)):
        first = 6 * piece[row]
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            if i < dim:
                out[3 * row + i] += parts[first + i]
            if j < dim:
                out[3 * row + j] -= arms[row, k] * parts[first + 3 + i]
            if k < dim:
                out[3 * row + k] += arms[row, j] * parts[first + 3 + i]
