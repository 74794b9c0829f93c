"""The rigid part of a solution, with which conjugate gradients begin: what inertia alone holds takes them longest.

In a step that is long next to the periods of a free body only its inertia holds its rigid motions Z, which are then the
softest by far. With x = Z (ZᵀA Z)⁻¹ Zᵀ b nothing is left of them in the residual b − A x, and as they are nearly
eigenvectors, conjugate gradients from there on do not meet them again (the Init-CG of Erhel and Guyomarc'h 2000).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from symplex.fem.assembly.pattern import Array
from symplex.time.solvers.block_factor import IncompleteCholesky
from symplex.time.solvers.block_matrix import BlockPattern
from symplex.time.solvers.krylov import Solution, Worth, conjugate_gradients

# A translation is soft where its stiffness is this part of what the diagonal alone would be; beyond some 60 of the
# explicit method's steps in one. Below, iterations are few.
_SOFT = 1e-3
_DEPENDENT = 1e-9  # part of the stiffest rigid motion: of bodies that are lines or points not all are different
_MANY = 1000  # bodies, beyond which their rigid parts are left alone
_ROUNDING = 1e-13  # part of what the diagonal alone would be, below which nothing holds a motion


class RigidInitialGuess:
    """Solutions with a matrix, given by its lower half, by conjugate gradients that begin with the rigid part.

    Parameters
    ----------
    pattern : BlockPattern
    """

    def __init__(self, pattern: BlockPattern):
        self._pattern = pattern
        self._bodies, self._body = pattern.bodies()
        self._motions: Array | None = None

    def take(self, values: Array, positions: Array) -> None:
        """Take the matrix with the lower half values [nnz', 9] of a body at positions [n, dim] in m."""
        self._values, self._motions = values, None
        if self._bodies > _MANY:
            return
        there = np.arange(3) < self._pattern.dim
        shift = np.tile(there.astype(float), self._pattern.n)
        diagonal = self._sums(values[self._pattern.lower.indptr[1:] - 1, ::4] @ there)
        if not np.any(self._sums((shift * self._times(shift)).reshape(-1, 3).sum(axis=1)) < _SOFT * diagonal):
            return
        self._motions = self._rigid_motions(self._pattern.gather(positions).reshape(-1, 3), there)
        forces = [self._times(np.ascontiguousarray(self._motions[..., k]).ravel()).reshape(-1, 3) for k in range(6)]
        stiffness = np.empty((self._bodies, 6, 6))
        for k, force in enumerate(forces):
            stiffness[:, :, k] = self._along_motions(force)
        values, vectors = np.linalg.eigh(0.5 * (stiffness + stiffness.swapaxes(1, 2)))
        held = values > np.maximum(_DEPENDENT * values[:, -1:], _ROUNDING * diagonal[:, None])
        inverse = np.where(held, 1.0, 0.0) / np.where(held, values, 1.0)
        self._compliance = np.einsum("bkm,bm,blm->bkl", vectors, inverse, vectors)

    def solve(self, factor: IncompleteCholesky, b: Array, tolerance: float, worth: Worth) -> Solution:
        """Solve A x = b to |b − A x| ≤ tolerance |b| as `conjugate_gradients` does, with incomplete factors of A."""
        first = self.first(b)
        if first is None:
            return conjugate_gradients(self._pattern, self._values, factor, b, tolerance, worth=worth)
        x, r = first
        size, left = (float(np.sqrt(square)) for square in self._pattern.totals(*(_square(v) for v in (b, r))))
        if left <= tolerance * size:
            return Solution(x, left / size if size > 0.0 else 0.0, 0, "converged")
        rest = conjugate_gradients(self._pattern, self._values, factor, r, tolerance * size / left, worth=worth)
        return Solution(x + rest.x, rest.residual * left / size, rest.iterations, rest.outcome)

    def first(self, b: Array) -> tuple[Array, Array] | None:
        """Return the rigid part x of a solution with b [3 n], and b − A x; None if rigid motions are not soft."""
        if self._motions is None:
            return None
        parts = np.einsum("bkl,bl->bk", self._compliance, self._along_motions(b.reshape(-1, 3)))
        x = np.einsum("nik,nk->ni", self._motions, parts[self._body]).ravel()
        return x, b - self._times(x)

    def _times(self, x: Array) -> Array:
        p, out = np.zeros_like(x), np.empty_like(x)
        self._pattern.advance(self._values, x, 0.0, p, out)
        return out

    def _sums(self, numbers: Array) -> Array:
        """Return the sums over the nodes of each body of numbers [n]."""
        return self._pattern.total(np.asarray(np.bincount(self._body, numbers, self._bodies), float))

    def _along_motions(self, forces: Array) -> Array:
        """Return what the forces [n, 3] do along the rigid motions of each body [bodies, 6]."""
        assert self._motions is not None
        works = np.einsum("nik,ni->kn", self._motions, forces)
        return np.stack([self._sums(work) for work in works], axis=1)

    def _rigid_motions(self, x: Array, there: NDArray[np.bool_]) -> Array:
        """Return three translations and three rotations [n, 3, 6] of each body about its centre, all as large."""
        counts = self._sums(np.ones(len(x)))
        centres = np.stack([self._sums(x[:, i]) / counts for i in range(3)], axis=1)
        arms = x - centres[self._body]
        arms /= max(self._pattern.largest(float(np.abs(arms).max(initial=0.0))), np.finfo(float).tiny)
        motions = np.zeros((len(x), 3, 6))
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            motions[:, i, i] = 1.0
            motions[:, j, 3 + i], motions[:, k, 3 + i] = -arms[:, k], arms[:, j]
        motions[:, ~there] = 0.0
        return motions


def _square(v: Array) -> float:
    return float((v * v).sum())
