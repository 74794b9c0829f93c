"""A coarse space for incomplete factors: the rigid motions of aggregates of nodes.

Incomplete factors lead a correction over a few nodes in each iteration. What is smooth over many, as all soft motions
of large or thin bodies are, comes on slowly: rigid motions Z of aggregates, six numbers for each, are taken out of the
iteration (deflation: Nicolaides 1987; in the form A-DEF2 of Tang, Nabben, Vuik and Erlangga 2009, which rounding does
not upset). With E = Zᵀ A Z it begins with x = Z E⁻¹ Zᵀ b, and its preconditioned residuals are

    z = w + Z E⁻¹ (Zᵀ r − (A Z)ᵀ w),    w = L⁻ᵀL⁻¹ r

As Zᵀ r = 0 but for rounding, r·z = r·w. Rigid motions of whole bodies are among Z: no residual is left along them, so
solutions have the momenta of exact ones.

On several ranks each has aggregates of its own nodes, and all solve with E. What this needs of all goes with the other
sums of an iteration.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from math import sqrt
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from symplex.fem.assembly.pattern import Array
from symplex.fem.compiled import threads
from symplex.fem.compiled.kernels import inlined, kernel
from symplex.time.solvers.block_factor import IncompleteCholesky, IncompleteLU
from symplex.time.solvers.block_matrix import NINE, THREE, WORTH_A_THREAD, BlockPattern
from symplex.time.solvers.krylov import LIMIT, PATIENCE, Solution, Worth
from symplex.time.solvers.sparse_cholesky import SparseCholesky

_DEPENDENT = 1e-10  # part of the square of a motion, below which it is one of those before it: of points and lines
# A translation is soft where its stiffness is this part of what the diagonal alone would be; beyond some 60 of the
# explicit method's steps in one. Below, iterations are few.
_SOFT = 1e-3
_ALONE = 32  # iterations without aggregates, whose matrix costs about as much, before they help
_COST = 1.75  # of an iteration with aggregates, in iterations without
_SMALLEST = 64  # nodes of an aggregate; twice as many, and so on,
_OPERATIONS = 1000.0  # until the factors of their matrix take no more than so many for each node
_FEWEST = 4  # aggregates that are worth it
_PATIENCE = 150  # iterations with aggregates in which the residual must halve
_ROUNDING = 64.0 * float(np.finfo(float).eps)  # of |A| |x|, |A| being about 1: what is left of |b − A x| at the end
_PIECES = 1000  # beyond which the rigid motions of whole pieces are left alone
_RANGES = 16  # of aggregates or rows, each passed over by one thread


@final
class CoarseSpace:
    """The rigid motions of aggregates, and what a matrix does to them.

    Parameters
    ----------
    rows : BlockPattern
    part : int [n]
        The aggregate of each row, numbered from 0 on each rank.

    Attributes
    ----------
    number : int
        Of aggregates, on all ranks.
    operations : float
        Of the factors of their matrix.
    patience : int
        Iterations in which the residual must halve.
    """

    patience = PATIENCE

    def __init__(self, rows: BlockPattern, part: NDArray[np.integer]):
        self._rows, self._part = rows, part.astype(np.int32)
        self._own = count = int(part.max(initial=-1)) + 1
        self._first, self.number = rows.numbered(count)
        numbers = np.zeros((rows.n, 3))
        numbers[:, 0] = self._first + part
        # Known here: own aggregates, and those of others that are next to own rows
        beyond, self._of_ghosts = np.unique(rows.of_ghosts(numbers)[:, 0].astype(np.int64), return_inverse=True)
        self._known = np.concatenate([self._first + np.arange(count), beyond])
        row, column = self._couplings()
        own = np.unique(self._known[part[row]] * self.number + self._known[column])
        own = own[own % self.number <= own // self.number]  # each of two opposite once
        self._pairs = rows.joined(own.astype(float)).astype(np.int64)
        first, second = np.divmod(self._pairs, self.number)
        self._cholesky = SparseCholesky(self.number, np.stack([first, second], axis=1))
        self.operations = self._cholesky.operations

    def _couplings(self) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
        """Return own rows and the aggregates known here that they are coupled with, those of the lower half first.

        Then follow the blocks opposite, and those of the border.
        """
        rows, border, part, own = self._rows, self._rows.border, self._part, np.arange(self._rows.n)
        row, column = np.repeat(own, np.diff(rows.lower.indptr)), rows.lower.indices
        of_border = np.repeat(own, np.diff(border.indptr))
        beyond = self._own + self._of_ghosts[border.indices]
        return np.concatenate([row, column, of_border]), np.concatenate([part[column], part[row], beyond])

    @cached_property
    def _entries(self) -> _Entries:
        rows, part, known = self._rows, self._part, self._known
        row, aggregate = self._couplings()
        entries, places = np.unique(aggregate * rows.n + row, return_inverse=True)
        half = len(rows.lower.indices)
        left, opposite, beside = np.split(places.astype(np.uint32), [half, 2 * half])
        aggregate, row = np.divmod(entries, rows.n)
        pairs = known[part[row]] * self.number + known[aggregate]
        found, block = np.unique(pairs, return_inverse=True)
        below = found % self.number <= found // self.number
        block = np.where(below, np.cumsum(below) - 1, -1)[block]
        every = np.arange(len(known) + 1)
        members = np.argsort(part, kind="stable")
        return _Entries(
            row.astype(np.uint32),
            np.searchsorted(aggregate, every),
            members.astype(np.uint32),
            np.searchsorted(part[members], every),
            left,
            opposite,
            beside,
            block,
            int(below.sum()),
        )

    def take(self, values: Array, positions: Array) -> None:
        """Take the matrix with the lower half values [nnz', 9] of a system at positions [n, dim] in m."""
        rows, lower, n, entries, part = self._rows, self._rows.lower, self._rows.n, self._entries, self._part
        coupled = np.zeros((n, 3), np.bool_)
        rows.run(_couple, *lower[:2], values, coupled)
        if len(entries.beside):
            _couple_border(*rows.border[:2], rows.half, coupled)
        self._free = free = coupled.astype(float)
        x = rows.gather(positions).reshape(-1, 3)
        nodes = np.bincount(part)
        arms = x - np.stack([np.bincount(part, x[:, i]) / nodes for i in range(3)], axis=1)[part]
        # One length for all, so that rotations are about as large as shifts whatever the units are
        square, number = rows.totals(float((arms * arms).sum()), float(n))
        arms /= max(np.sqrt(square / number), np.finfo(float).tiny)
        self._arms = arms
        self._forces = np.zeros((len(entries.rows), 18))
        rows.run(_add_forces, *lower[:2], values, arms, free, entries.left, entries.opposite, self._forces)
        ghosts = rows.of_ghosts(arms)  # of all ranks together, with a border or without
        if len(entries.beside):
            _add_forces_of_border(*rows.border[:2], rows.half, ghosts, entries.beside, self._forces)
        blocks, grams = np.zeros((entries.blocks, 6, 6)), np.zeros((len(nodes), 6, 6))
        _add_couplings(entries.rows, entries.block, arms, free, self._forces, blocks)
        _add_grams(part, arms, free, grams)
        self._bases, blocks = rows.joined(_bases(grams, _DEPENDENT)), rows.joined(blocks)
        diagonal = values[lower.indptr[1:] - 1, ::4].max(axis=1)
        sizes = rows.joined(np.bincount(part, diagonal) / nodes)
        first, second = np.divmod(self._pairs, self.number)
        blocks = np.einsum("pij,pjk,plk->pil", self._bases[first], blocks, self._bases[second])
        same, i = np.flatnonzero(first == second), np.arange(6)
        blocks[same[:, None], i, i] += np.where(self._bases[:, i, i] == 0.0, sizes[:, None], 0.0)
        self._cholesky.factorize(blocks, sizes)

    def floats(self, held: Array, diagonal: Array) -> bool:
        """Return whether nothing but inertia holds an aggregate, given what holds each node [n], and the diagonal."""
        return bool(np.any(np.bincount(self._part, held) < _SOFT * np.bincount(self._part, diagonal)))

    def along(self, r: Array, w: Array | None = None) -> Array:
        """Return Zᵀ r, and that less (A Z)ᵀ w, [2, aggregates, 6], of own rows of vectors [3 n]."""
        entries, out = self._entries, np.zeros((2, self.number, 6))
        there = np.zeros((len(self._known), 12))
        arguments = (entries.member_starts, entries.members, self._arms, self._free, r)
        arguments += (entries.starts, entries.rows, self._forces, r if w is None else w, w is not None, there)
        self._run(_collect, len(self._known), arguments)
        out[:, self._known] = there[:, :6], there[:, 6:]
        return out

    def solve(self, along: Array) -> Array:
        """Return d = E⁻¹ t of what all ranks have along the motions, t [aggregates, 6]."""
        parts = self._cholesky.solve(np.einsum("aij,aj->ai", self._bases, along))
        return np.einsum("aji,aj->ai", self._bases, parts)

    def add(self, parts: Array, out: Array) -> None:
        """Add Z d of d [aggregates, 6] to a vector out [3 n]."""
        own = np.ascontiguousarray(parts[self._first :])
        self._run(_add, self._rows.n, (self._part, self._arms, self._free, own, out))

    def _run(self, function: Callable[..., None], number: int, arguments: tuple[Any, ...]) -> None:
        """Run a kernel on ranges of rows or aggregates, whose numbers do not depend on each other."""
        ranges = [(number * k // _RANGES, number * (k + 1) // _RANGES) for k in range(_RANGES)]
        several = threads.count() if self._rows.n >= WORTH_A_THREAD else 1
        threads.run(function, [(*arguments, *one) for one in ranges], several)


class _Entries(NamedTuple):
    """The blocks of A Z, which are at rows [entries], by aggregates known here."""

    rows: NDArray[np.uint32]
    starts: NDArray[np.integer]  # [aggregates + 1]
    members: NDArray[np.uint32]  # [n] rows by their aggregates, which start
    member_starts: NDArray[np.integer]  # at [aggregates + 1]
    left: NDArray[np.uint32]  # [nnz'] which entry each block of the lower half adds to,
    opposite: NDArray[np.uint32]  # the one on the other side of the diagonal,
    beside: NDArray[np.uint32]  # and each of the border
    block: NDArray[np.integer]  # [entries] which block of the lower half of E an entry adds to, or −1,
    blocks: int  # of so many


@final
class DeflatedCholesky(IncompleteCholesky):
    """IC(0), with a coarse space where one is set."""

    space: CoarseSpace | None = None

    def applied(self, alpha: float, p: Array, q: Array, x: Array, r: Array, y: Array) -> tuple[float, float]:
        """Do as `forward`, and set y to L⁻ᵀ L⁻¹ r; return r·r and r·z over all rows."""
        space = self.space
        if space is None:
            return super().applied(alpha, p, q, x, r, y)
        own = self.forward(alpha, p, q, x, r, y)
        super().backward(y)
        sums = self._pattern.total(np.concatenate([own, space.along(r, y).ravel()]))
        of_r, along = sums[2:].reshape(2, -1, 6)
        self._parts = space.solve(along)
        return float(sums[0]), float(sums[1] + (of_r * self._parts).sum())

    def backward(self, z: Array) -> None:
        """Replace what `applied` has left by the preconditioned residual."""
        if self.space is None:
            super().backward(z)
        else:
            self.space.add(self._parts, z)


@final
class DeflatedLU(IncompleteLU):
    """ILU(0), with a coarse space where one is set: that of the symmetric part of the matrix."""

    space: CoarseSpace | None = None

    def solve(self, r: Array, z: Array) -> None:
        """Set z = w + Z E⁻¹ (Zᵀ r − (A Z)ᵀ w), w = U⁻¹ L⁻¹ r."""
        super().solve(r, z)
        if self.space is not None:
            self.space.add(self.space.solve(self._pattern.total(self.space.along(r, z)[1])), z)


Iteration = Callable[[CoarseSpace | None, Array, float, int, Worth], Solution]


@final
class TwoLevel:
    """Iterations in two levels.

    With a symmetric matrix they begin with the rigid part of bodies that inertia alone holds: nearly eigenvectors,
    which conjugate gradients from there on do not meet again (the Init-CG of Erhel and Guyomarc'h 2000). Where they
    have not ended after some iterations, and most nodes are soft, aggregates help; in a step also with all matrices
    after that. On several ranks the rigid motions of the pieces of all do before.

    Parameters
    ----------
    pattern : BlockPattern
    """

    def __init__(self, pattern: BlockPattern):
        self._pattern, self._is_new = pattern, True
        self._begin_pattern()
        self.begin()

    def _begin_pattern(self) -> None:
        """Forget the coarse spaces."""
        self._pieces: CoarseSpace | None = None
        self._aggregates: CoarseSpace | None = None
        self._has_pieces = False

    def begin(self) -> None:
        """Forget whether aggregates helped."""
        self._at_once = False

    # Made when first needed, but without a lock as of `cached_property`: ranks that are threads meet inside.

    def _of_pieces(self) -> CoarseSpace | None:
        """Return the rigid motions of what hangs together of each rank."""
        if not self._has_pieces:
            count, part = BlockPattern.bodies(self._pattern)
            if self._pattern.numbered(count)[1] <= _PIECES:
                self._pieces = CoarseSpace(self._pattern, part)
            self._has_pieces = True
        return self._pieces

    def _of_aggregates(self) -> CoarseSpace:
        """Return those of the smallest aggregates whose matrix is not too large for the system."""
        rows, size = self._pattern, _SMALLEST
        nodes = rows.numbered(rows.n)[1]
        while self._aggregates is None:
            space = CoarseSpace(rows, rows.aggregates(size))
            if space.operations <= _OPERATIONS * nodes or size > nodes:
                self._aggregates, space.patience = space, _PATIENCE
            size *= 2
        return self._aggregates

    def take(self, values: Array, positions: Array) -> None:
        """Take the matrix with the lower half values [nnz', 9] of a system at positions [n, dim] in m."""
        rows = self._pattern
        held, diagonal = self._see(lambda x: half_times(rows, values, x), values[rows.lower.indptr[1:] - 1])
        self._half, self._positions = (lambda: values), positions
        if self._at_once and self._may_help:
            return
        if (pieces := self._of_pieces()) and (self._ranks > 1 or pieces.floats(held, diagonal)):
            pieces.take(values, positions)
            self._begins = pieces
            self._helps = pieces if self._ranks > 1 else None

    def take_unsymmetric(
        self, half: Callable[[], Array], times: Callable[[Array], Array], diagonal: Array, positions: Array
    ) -> None:
        """Take a matrix that is not symmetric.

        Parameters
        ----------
        half : callable
            Returns the lower half [nnz', 9] of its symmetric part.
        times : callable
            Returns A x.
        diagonal : float64 [n, 9]
            The blocks on its diagonal.
        positions : float64 [n, dim]
            In m.
        """
        self._see(times, diagonal)
        self._half, self._positions = half, positions

    def leave(self) -> None:
        """Take a matrix that no coarse space helps with."""
        self._iterations, self._may_help = 0, False
        self._begins: CoarseSpace | None = None
        self._helps: CoarseSpace | None = None

    def _see(self, times: Callable[[Array], Array], diagonal: Array) -> tuple[Array, Array]:
        """Decide whether aggregates may help; return what holds each node as all move alike, and its diagonal [n]."""
        self.leave()
        rows = self._pattern
        shift = np.tile((np.arange(3) < rows.dim).astype(float), rows.n)
        held = (shift * times(shift)).reshape(-1, 3).sum(axis=1)
        sizes = diagonal[:, ::4][:, : rows.dim].sum(axis=1)
        soft = float(np.count_nonzero(held < _SOFT * sizes))
        soft, nodes, self._ranks, new = rows.totals(soft, float(rows.n), 1.0, float(self._is_new))
        if new and not self._is_new:  # couplings have changed on another rank, which begins again
            self._begin_pattern()
            self.begin()
        self._is_new = False
        self._may_help = soft > 0.5 * nodes >= 0.5 * _FEWEST * _SMALLEST
        return held, sizes

    def _take_aggregates(self) -> None:
        self._begins = self._helps = self._of_aggregates()
        self._helps.take(self._half(), self._positions)
        self._may_help, self._at_once = False, True  # they do not help more

    def solve(
        self, iterate: Iteration, times: Callable[[Array], Array], b: Array, tolerance: float, worth: Worth
    ) -> Solution:
        """Solve A x = b to |b − A x| ≤ tolerance |b|.

        Parameters
        ----------
        iterate : callable
            Solves with a coarse space or without one, to a tolerance, in so many iterations at most.
        times : callable
            Returns A x.
        b : float64 [3 n]
        tolerance : float
        worth : callable
            Whether to go on after so many iterations.
        """
        x, r, spent, size = np.zeros_like(b), b, 0, self._norm(b)
        while True:
            if self._may_help and (self._at_once or self._iterations >= _ALONE):
                self._take_aggregates()
            if self._begins is not None:
                part = np.zeros_like(b)
                self._begins.add(self._begins.solve(self._pattern.total(self._begins.along(r)[0])), part)
                x, r = x + part, r - times(part)
            left = self._norm(r)
            if left <= tolerance * size:
                return Solution(x, left / size if size > 0.0 else 0.0, spent, "converged")
            limit = _ALONE - self._iterations if self._may_help else LIMIT
            further = partial(_worth_further, worth, spent, _COST if self._helps else 1.0)
            found = iterate(self._helps, r, tolerance * size / left, limit, further)
            x, spent = x + found.x, spent + found.iterations
            self._iterations += found.iterations
            if not self._may_help or found.iterations < limit or found.outcome != "out of iterations":
                residual = found.residual * left
                rounding = found.outcome == "stagnated" and residual <= _ROUNDING * self._norm(x)
                return Solution(x, residual / size, spent, "rounding" if rounding else found.outcome)
            r = b - times(x)

    def _norm(self, v: Array) -> float:
        return sqrt(self._pattern.totals(float((v * v).sum()))[0])


def half_times(rows: BlockPattern, values: Array, x: Array) -> Array:
    """Return A x of a symmetric matrix, given by its lower half [nnz', 9]."""
    p, out = np.zeros_like(x), np.empty_like(x)
    rows.advance(values, x, 0.0, p, out)
    return out


def _worth_further(worth: Worth, spent: int, cost: float, more: int) -> bool:
    return worth(spent + int(cost * more))


# In plain loops, whose numbers do not depend on a library: all ranks decide by them alike.


@kernel
def _couple(indptr, indices, values, coupled, first, last):
    """Set which coordinates [n, 3] have something off the diagonal in their rows."""
    for i in range(first, last):
        for s in range(indptr[i], indptr[i + 1] - 1):
            j = indices[s]
            for c in range(3):
                for k in range(3):
                    if values[s, 3 * c + k] != 0.0:
                        coupled[i, c] = True
                        coupled[j, k] = True
        s = indptr[i + 1] - 1
        for c in range(3):
            for k in range(3):
                if c != k and values[s, 3 * c + k] != 0.0:
                    coupled[i, c] = True


@kernel
def _couple_border(indptr, indices, values, coupled):
    """Do the same for the columns of ghosts."""
    for i in range(len(indptr) - 1):
        for s in range(indptr[i], indptr[i + 1]):
            for c in range(3):
                for k in range(3):
                    if values[s, 3 * c + k] != 0.0:
                        coupled[i, c] = True


@inlined
def _add_force(out, e, b0, b1, b2, b3, b4, b5, b6, b7, b8, x0, x1, x2):
    """Add the forces of a block at the six motions of a node with the arm x to entry e of out [18 entries]."""
    o = np.uint64(18) * np.uint64(e)
    for c, u0, u1, u2 in ((np.uint64(0), b0, b1, b2), (np.uint64(1), b3, b4, b5), (np.uint64(2), b6, b7, b8)):
        out[o + c] += u0
        out[o + np.uint64(3) + c] += u1
        out[o + np.uint64(6) + c] += u2
        out[o + np.uint64(9) + c] += u2 * x1 - u1 * x2
        out[o + np.uint64(12) + c] += u0 * x2 - u2 * x0
        out[o + np.uint64(15) + c] += u1 * x0 - u0 * x1


@kernel
def _add_forces(indptr, indices, values, arms, free, left, opposite, out, first, last):
    """Add A Z of the rows and of those before them that they are coupled with to out [entries, 18]."""
    values, out = values.ravel(), out.ravel()
    for i in range(first, last):
        x0, x1, x2 = arms[i, 0], arms[i, 1], arms[i, 2]
        diagonal = indptr[i + 1] - 1
        for s in range(indptr[i], diagonal):
            j, a = indices[s], NINE * np.uint64(s)
            b0, b1, b2 = values[a], values[a + np.uint64(1)], values[a + np.uint64(2)]
            b3, b4, b5 = values[a + np.uint64(3)], values[a + np.uint64(4)], values[a + np.uint64(5)]
            b6, b7, b8 = values[a + np.uint64(6)], values[a + np.uint64(7)], values[a + np.uint64(8)]
            _add_force(out, left[s], b0, b1, b2, b3, b4, b5, b6, b7, b8, arms[j, 0], arms[j, 1], arms[j, 2])
            _add_force(out, opposite[s], b0, b3, b6, b1, b4, b7, b2, b5, b8, x0, x1, x2)
        a = NINE * np.uint64(diagonal)
        f0, f1, f2 = free[i, 0], free[i, 1], free[i, 2]
        b0, b1, b2 = f0 * values[a], values[a + np.uint64(1)], values[a + np.uint64(2)]
        b3, b4, b5 = values[a + np.uint64(3)], f1 * values[a + np.uint64(4)], values[a + np.uint64(5)]
        b6, b7, b8 = values[a + np.uint64(6)], values[a + np.uint64(7)], f2 * values[a + np.uint64(8)]
        _add_force(out, left[diagonal], b0, b1, b2, b3, b4, b5, b6, b7, b8, x0, x1, x2)
    return 0.0


@kernel
def _add_forces_of_border(indptr, indices, values, arms, beside, out):
    """Add those of the columns of ghosts with arms [g, 3]."""
    values, out = values.ravel(), out.ravel()
    for i in range(len(indptr) - 1):
        for s in range(indptr[i], indptr[i + 1]):
            g, a = indices[s], 9 * s
            b0, b1, b2, b3, b4, b5 = (
                values[a],
                values[a + 1],
                values[a + 2],
                values[a + 3],
                values[a + 4],
                values[a + 5],
            )
            b6, b7, b8 = values[a + 6], values[a + 7], values[a + 8]
            _add_force(out, beside[s], b0, b1, b2, b3, b4, b5, b6, b7, b8, arms[g, 0], arms[g, 1], arms[g, 2])


@inlined
def _along_motions(x0, x1, x2, u0, u1, u2):
    """Return the products of a vector u with the motions of a node with the arm x."""
    return u0, u1, u2, x1 * u2 - x2 * u1, x2 * u0 - x0 * u2, x0 * u1 - x1 * u0


@kernel
def _add_couplings(rows, block, arms, free, forces, out):
    """Add Zᵀ A Z of own rows to the blocks out [pairs, 6, 6] of its lower half."""
    out, forces = out.ravel(), forces.ravel()
    for e in range(len(rows)):
        if block[e] < 0:
            continue
        i, o = rows[e], 36 * np.uint64(block[e])
        x0, x1, x2, f0, f1, f2 = arms[i, 0], arms[i, 1], arms[i, 2], free[i, 0], free[i, 1], free[i, 2]
        for k in range(6):
            f, p = np.uint64(18) * np.uint64(e) + np.uint64(3 * k), o + np.uint64(k)
            u0, u1, u2 = f0 * forces[f], f1 * forces[f + np.uint64(1)], f2 * forces[f + np.uint64(2)]
            m0, m1, m2, m3, m4, m5 = _along_motions(x0, x1, x2, u0, u1, u2)
            out[p] += m0
            out[p + np.uint64(6)] += m1
            out[p + np.uint64(12)] += m2
            out[p + np.uint64(18)] += m3
            out[p + np.uint64(24)] += m4
            out[p + np.uint64(30)] += m5


@kernel
def _add_grams(part, arms, free, out):
    """Add Zᵀ Z of own rows to out [aggregates, 6, 6]."""
    for i in range(len(part)):
        a, x0, x1, x2 = part[i], arms[i, 0], arms[i, 1], arms[i, 2]
        for c in range(3):
            f = free[i, c]
            motion = _along_motions(x0, x1, x2, f * (c == 0), f * (c == 1), f * (c == 2))
            for m in range(6):
                for k in range(m + 1):
                    out[a, m, k] += motion[m] * motion[k]


@kernel
def _bases(grams, dependent):
    """Return C⁻¹ of the Cholesky factors C, with rows of zeros for motions that depend on those before them."""
    out = np.zeros_like(grams)
    C = np.empty((6, 6))
    for a in range(len(grams)):
        G = grams[a]
        for i in range(6):
            for j in range(i + 1):
                total = G[i, j]
                for k in range(j):
                    total -= C[i, k] * C[j, k]
                if j < i:
                    C[i, j] = total * out[a, j, j]
                else:
                    C[i, i] = np.sqrt(total) if total > dependent * G[i, i] else 0.0
                    out[a, i, i] = 1.0 / C[i, i] if C[i, i] > 0.0 else 0.0
        for j in range(6):
            for i in range(j + 1, 6):
                total = 0.0
                for k in range(j, i):
                    total -= C[i, k] * out[a, k, j]
                out[a, i, j] = total * out[a, i, i]
    return out


@kernel
def _collect(member_starts, members, arms, free, r, starts, rows, forces, w, both, out, first, last):
    """Set Zᵀ r, and that less (A Z)ᵀ w, of aggregates; with ``both`` false the first only."""
    forces = forces.ravel()
    for a in range(first, last):
        t0 = t1 = t2 = t3 = t4 = t5 = 0.0
        for m in range(member_starts[a], member_starts[a + 1]):
            i = members[m]
            u = THREE * np.uint64(i)
            r0, r1, r2 = free[i, 0] * r[u], free[i, 1] * r[u + np.uint64(1)], free[i, 2] * r[u + np.uint64(2)]
            x0, x1, x2 = arms[i, 0], arms[i, 1], arms[i, 2]
            t0, t1, t2 = t0 + r0, t1 + r1, t2 + r2
            t3, t4, t5 = t3 + (x1 * r2 - x2 * r1), t4 + (x2 * r0 - x0 * r2), t5 + (x0 * r1 - x1 * r0)
        out[a, 0], out[a, 1], out[a, 2], out[a, 3], out[a, 4], out[a, 5] = t0, t1, t2, t3, t4, t5
        if not both:
            continue
        for e in range(starts[a], starts[a + 1]):
            u, f = THREE * np.uint64(rows[e]), np.uint64(18) * np.uint64(e)
            w0, w1, w2 = w[u], w[u + np.uint64(1)], w[u + np.uint64(2)]
            t0 -= forces[f] * w0 + forces[f + np.uint64(1)] * w1 + forces[f + np.uint64(2)] * w2
            t1 -= forces[f + np.uint64(3)] * w0 + forces[f + np.uint64(4)] * w1 + forces[f + np.uint64(5)] * w2
            t2 -= forces[f + np.uint64(6)] * w0 + forces[f + np.uint64(7)] * w1 + forces[f + np.uint64(8)] * w2
            t3 -= forces[f + np.uint64(9)] * w0 + forces[f + np.uint64(10)] * w1 + forces[f + np.uint64(11)] * w2
            t4 -= forces[f + np.uint64(12)] * w0 + forces[f + np.uint64(13)] * w1 + forces[f + np.uint64(14)] * w2
            t5 -= forces[f + np.uint64(15)] * w0 + forces[f + np.uint64(16)] * w1 + forces[f + np.uint64(17)] * w2
        out[a, 6], out[a, 7], out[a, 8], out[a, 9], out[a, 10], out[a, 11] = t0, t1, t2, t3, t4, t5


@kernel
def _add(part, arms, free, parts, out, first, last):
    """Add Z d of d [aggregates, 6] to rows of out [3 n]."""
    for i in range(first, last):
        d, x0, x1, x2 = parts[part[i]], arms[i, 0], arms[i, 1], arms[i, 2]
        out[3 * i] += free[i, 0] * (d[0] + d[4] * x2 - d[5] * x1)
        out[3 * i + 1] += free[i, 1] * (d[1] + d[5] * x0 - d[3] * x2)
        out[3 * i + 2] += free[i, 2] * (d[2] + d[3] * x1 - d[4] * x0)
