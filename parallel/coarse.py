"""A coarse space for incomplete factors of parts: the rigid motions of each part, solved for on all ranks.

Factors of what couples own nodes know nothing of what lies beyond a part: there, a correction that is smooth over
several parts comes on by one part an iteration. The rigid motions Z of all parts are few, six numbers for each, and are
taken out of the iteration (deflation: Nicolaides 1987; in the form A-DEF2 of Tang, Nabben, Vuik and Erlangga 2009,
which rounding does not upset). With E = Zᵀ A Z it begins with x = Z E⁻¹ Zᵀ b, and its preconditioned residuals are

    z = w + Z E⁻¹ (Zᵀ r − (A Z)ᵀ w),    w = L⁻ᵀL⁻¹ r

As Zᵀ r = 0 but for rounding, r·z = r·w. What this needs of all ranks goes with the other sums of an iteration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.compiled.kernels import kernel
from symplex.time.solvers.block_factor import IncompleteCholesky
from symplex.time.solvers.block_matrix import BlockPattern, symmetric_product
from symplex.time.solvers.rigid_start import RigidInitialGuess

if TYPE_CHECKING:
    from symplex.parallel.ranked_rows import RankedRows
    from symplex.parallel.reductions import Reductions

MOST = 64  # pieces of parts, beyond which there is no coarse space: each rank factorises its dense matrix
_DEPENDENT = 1e-9  # part of a motion's stiffness, below which it is one of those before it: of points and lines


@final
class CoarseSpace:
    """The rigid motions of the pieces of all parts: of what hangs together of each.

    Parameters
    ----------
    rows : RankedRows
    sums : Reductions
    fixed : bool [l, dim]
        Which coordinates of own nodes and ghosts do not move: they have no part in the motions of pieces.

    Attributes
    ----------
    exists : bool
        Whether there are several ranks, and not too many pieces; once it has seen a matrix.
    """

    def __init__(self, rows: RankedRows, sums: Reductions, fixed: NDArray[np.bool_]):
        self._rows, self._sums = rows, sums
        free = np.zeros((len(fixed), 3))
        free[:, : rows.dim] = ~fixed
        self._free, self._free_ghosts = free[rows.nodes], free[rows.n :]
        self.exists, self._is_numbered = False, False

    def _number(self) -> None:
        """Number the pieces of all ranks, in the order of these, and find the rows next to each."""
        self._is_numbered = True
        rows, sums = self._rows, self._sums
        number, piece = BlockPattern.bodies(rows)
        counts = sums.gathered(np.array([float(number)]))[:, 0].astype(int)
        self._counts, self._all = counts, int(counts.sum())
        self.exists = len(counts) > 1 and self._all <= MOST
        if not self.exists:
            return
        self._first, self._piece = int(counts[: sums.rank].sum()), piece
        here = np.zeros((rows.n, 3))
        here[:, 0] = self._first + piece
        beyond = rows.of_ghosts(here)[:, 0].astype(np.int64)[rows.border.indices]
        own = np.arange(rows.n)
        self._of_border = np.repeat(own, np.diff(rows.border.indptr))
        pairs, self._place = np.unique(self._of_border * self._all + beyond, return_inverse=True)
        # Where forces of motions are: at own rows those of their pieces, then those of others next to them.
        self._row = np.concatenate([own, pairs // self._all]).astype(np.int32)
        self._to: IntArray = np.concatenate([self._first + piece, pairs % self._all]).astype(np.int32)

    def see(self, values: Array, positions: Array) -> bool:
        """Take the matrix with the lower half values [nnz', 9] of a system at positions [n, dim] in m.

        Return whether there is a coarse space for it.
        """
        if not self._is_numbered:
            self._number()
        if not self.exists:
            return False
        rows, piece = self._rows, self._piece
        x, nodes = rows.gather(positions).reshape(-1, 3), np.bincount(piece)
        arms = x - np.stack([np.bincount(piece, x[:, i]) / nodes for i in range(3)], axis=1)[piece]
        arms /= max(rows.largest(float(np.abs(arms).max(initial=0.0))), np.finfo(float).tiny)
        self._motions = _motions(arms, self._free)
        of_ghosts = _motions(rows.of_ghosts(arms), self._free_ghosts)
        self._forces = np.zeros((len(self._row), 6, 3))
        p, q = np.zeros(3 * rows.n), np.empty(3 * rows.n)
        for k in range(6):
            motion = np.ascontiguousarray(self._motions[:, k]).ravel()
            rows.run(symmetric_product, *rows.lower[:2], values, motion, 0.0, p, q)
            self._forces[: rows.n, k] = q.reshape(-1, 3)
        forces = np.einsum("eij,ekj->eki", rows.half.reshape(-1, 3, 3), of_ghosts[rows.border.indices])
        np.add.at(self._forces[rows.n :], self._place, forces)
        stiffness = np.zeros((6 * int(self._counts.max()), 6 * self._all))
        _couple(self._row, self._to, self._first, self._motions, self._forces, stiffness)
        parts = zip(self._sums.gathered(stiffness), self._counts, strict=True)
        self._factors = np.concatenate([of_rank[: 6 * count] for of_rank, count in parts])
        _factorize(self._factors, _DEPENDENT)
        return True

    def along(self, r: Array) -> Array:
        """Return Zᵀ r [6 pieces] of own rows of a vector [3 n]."""
        out = np.zeros(6 * self._all)
        _add_along(self._row[: self._rows.n], self._to, self._motions, 1.0, r, out)
        return out

    def subtract_works(self, w: Array, along: Array) -> None:
        """Take (A Z)ᵀ w of own rows of a vector [3 n] off what is along the motions [6 pieces]."""
        _add_along(self._row, self._to, self._forces, -1.0, w, along)

    def solve(self, along: Array) -> None:
        """Replace what all ranks have along the motions [6 pieces] by E⁻¹ times that."""
        _solve(self._factors, along)

    def add(self, parts: Array, out: Array) -> None:
        """Add Z d of parts d [6 pieces] to a vector out [3 n]."""
        _add_parts(self._row[: self._rows.n], self._to, self._motions, 1.0, parts, out)

    def subtract_forces(self, parts: Array, out: Array) -> None:
        """Take A Z d of parts d [6 pieces] off a vector out [3 n]."""
        _add_parts(self._row, self._to, self._forces, -1.0, parts, out)


@final
class DeflatedCholesky(IncompleteCholesky):
    """IC(0) of what couples own nodes, with a coarse space, if there is one."""

    def __init__(self, rows: RankedRows, sums: Reductions, space: CoarseSpace):
        super().__init__(rows)
        self._sums, self._space = sums, space

    def applied(self, alpha: float, p: Array, q: Array, x: Array, r: Array, y: Array) -> tuple[float, float]:
        """Do as `forward`, and set y to L⁻ᵀ L⁻¹ r; return r·r and r·z over all rows."""
        space = self._space
        if not space.exists:
            return super().applied(alpha, p, q, x, r, y)
        own = self.forward(alpha, p, q, x, r, y)
        super().backward(y)
        along = space.along(r)
        space.subtract_works(y, along)
        squared, product, *parts = self._sums.total(np.concatenate([own, along])).tolist()
        self._parts = np.array(parts)
        space.solve(self._parts)
        return squared, product

    def backward(self, z: Array) -> None:
        """Replace what `applied` has left by the preconditioned residual."""
        if self._space.exists:
            self._space.add(self._parts, z)
        else:
            super().backward(z)


@final
class DeflatedStart(RigidInitialGuess):
    """Solutions that begin with the part in the coarse space; without one, with the rigid part of bodies."""

    def __init__(self, rows: RankedRows, space: CoarseSpace):
        super().__init__(rows)
        self._space = space

    def take(self, values: Array, positions: Array) -> None:
        """Take the matrix with the lower half values [nnz', 9] of a system at positions [n, dim] in m."""
        self._values = values
        if not self._space.see(values, positions):
            super().take(values, positions)

    def first(self, b: Array) -> tuple[Array, Array] | None:
        """Return the part x of a solution with b [3 n], and b − A x."""
        space = self._space
        if not space.exists:
            return super().first(b)
        parts = self._pattern.total(space.along(b))
        space.solve(parts)
        x, r = np.zeros_like(b), b.copy()
        space.add(parts, x)
        space.subtract_forces(parts, r)
        return x, r


def _motions(arms: Array, free: Array) -> Array:
    """Return three translations and three rotations [n, 6, 3] of nodes with arms [n, 3], zero where not free [n, 3]."""
    motions = np.zeros((len(arms), 6, 3))
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        motions[:, i, i] = 1.0
        motions[:, 3 + i, j], motions[:, 3 + i, k] = -arms[:, k], arms[:, j]
    return motions * free[:, None]


# In plain loops, whose numbers do not depend on a library: all ranks decide by them alike.


@kernel
def _couple(row, to, first, motions, forces, out):
    """Add Zᵀ A Z of own rows to out [6 own pieces, 6 pieces]; first is the first own piece."""
    for s in range(len(row)):
        i, b = row[s], 6 * to[s]
        a = 6 * (to[i] - first)
        for m in range(6):
            for k in range(6):
                for c in range(3):
                    out[a + m, b + k] += motions[i, m, c] * forces[s, k, c]


@kernel
def _add_along(row, to, vectors, scale, x, out):
    """Add the products of vectors [s, 6, 3] at rows [s] with x [3 n] to out [6 pieces], at the pieces ``to`` [s]."""
    for s in range(len(row)):
        i, a = 3 * row[s], 6 * to[s]
        for k in range(6):
            out[a + k] += scale * (vectors[s, k, 0] * x[i] + vectors[s, k, 1] * x[i + 1] + vectors[s, k, 2] * x[i + 2])


@kernel
def _add_parts(row, to, vectors, scale, parts, out):
    """Add parts [6 pieces] of vectors [s, 6, 3] to out [3 n], as `_add_along` does the other way."""
    for s in range(len(row)):
        i, a = 3 * row[s], 6 * to[s]
        for c in range(3):
            total = 0.0
            for k in range(6):
                total += vectors[s, k, c] * parts[a + k]
            out[i + c] += scale * total


@kernel
def _factorize(a, dependent):
    """Replace a symmetric matrix by the lower half of its Cholesky factor, motions that depend on others left out."""
    for i in range(len(a)):
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
    """Replace b by A⁻¹ b."""
    n = len(b)
    for i in range(n):
        total = b[i]
        for k in range(i):
            total -= factors[i, k] * b[k]
        b[i] = total / factors[i, i] if factors[i, i] > 0.0 else 0.0
    for i in range(n - 1, -1, -1):
        b[i] = b[i] / factors[i, i] if factors[i, i] > 0.0 else 0.0
        for k in range(i):
            b[k] -= factors[i, k] * b[i]
