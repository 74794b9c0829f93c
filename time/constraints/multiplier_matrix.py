"""Matrices on a fixed pattern and their LU factors, for the multipliers of constraints."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from symplex.base.sparse import sp
from symplex.fem.assembly.pattern import Array
from symplex.fem.compiled.kernels import uncounted_kernel as kernel


@final
class BandMatrix:
    """A matrix with a narrow band, and its LU factors without pivoting: it is close to a positive definite one.

    Attributes
    ----------
    values : float64 [c, 2·width + 1]
        Row by row, the diagonal in the middle; the factors take their place.
    slots, diagonal : int32
        Where the given entries, and those on the diagonal, one for each unknown, are in the flat values.
    order : int32 [c]
        The unknowns of the rows.
    """

    def __init__(self, i: NDArray[np.integer], j: NDArray[np.integer], order: NDArray[np.integer], width: int):
        depth = 2 * width + 1
        self.values = np.zeros((len(order), depth))
        self.slots = (i.astype(np.int64) * depth + width + j - i).astype(np.int32)
        self.diagonal = (np.argsort(order) * depth + width).astype(np.int32)
        self.order = order.astype(np.int32)

    def factorise(self) -> int:
        """Factorise in the place of the values; return where it is singular, or −1."""
        row = factorise_band(self.values)
        return int(self.order[row]) if row >= 0 else -1


@final
class SparseMatrix:
    """A sparse matrix, and its LU factors; attributes as those of `BandMatrix`."""

    def __init__(self, i: NDArray[np.integer], j: NDArray[np.integer], size: int):
        keys, slots = np.unique(j.astype(np.int64) * size + i, return_inverse=True)
        self.slots = slots.astype(np.int32)
        self.values = np.zeros(len(keys))
        self.diagonal = np.searchsorted(keys, np.arange(size, dtype=np.int64) * (size + 1)).astype(np.int32)
        starts = np.searchsorted(keys, np.arange(size + 1, dtype=np.int64) * size)
        self._matrix = sp.csc_array(
            (self.values, (keys % size).astype(np.int32), starts.astype(np.int32)), (size, size)
        )

    def factorise(self) -> int:
        """Factorise; return where it is singular, or −1."""
        from scipy.sparse.linalg import splu

        try:
            self._lu = splu(self._matrix)
        except RuntimeError:  # "Factor is exactly singular"
            return int(np.argmin(np.abs(self._matrix.diagonal())))
        return -1

    def solve(self, b: Array) -> Array:
        """Return x [c]."""
        return self._lu.solve(b)


@kernel
def factorise_band(values):
    """Factorise a band matrix in its place; return the row where it has no pivot, or −1."""
    size, width = len(values), values.shape[1] // 2
    for k in range(size):
        pivot = values[k, width]
        if pivot == 0.0 or not np.isfinite(pivot):
            return k
        for i in range(k + 1, min(k + width + 1, size)):
            factor = values[i, width + k - i] / pivot
            values[i, width + k - i] = factor
            for j in range(1, min(width, size - 1 - k) + 1):
                values[i, width + k - i + j] -= factor * values[k, width + j]
    return -1


@kernel
def solve_band(values, order, b, work, out):
    """Solve with the factors of a matrix whose row i belongs to the unknown order[i]."""
    size, width = len(values), values.shape[1] // 2
    for i in range(size):
        rest = b[order[i]]
        for j in range(max(0, i - width), i):
            rest -= values[i, width + j - i] * work[j]
        work[i] = rest
    for i in range(size - 1, -1, -1):
        rest = work[i]
        for j in range(i + 1, min(i + width + 1, size)):
            rest -= values[i, width + j - i] * work[j]
        work[i] = rest / values[i, width]
        out[order[i]] = work[i]
