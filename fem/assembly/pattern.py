"""Scattering local gradients and Hessians: a fixed sparsity pattern, and kernels that write values only."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from symplex.base.sparse import sp
from symplex.fem.assembly.nodes import require_nodes
from symplex.fem.compiled.kernels import kernel

Array = NDArray[np.float64]
IntArray = NDArray[np.int32]


class Pattern:
    """Which nodes are coupled by given stencils, and where each local coupling is stored.

    The pattern is that of a block matrix with one row and one column per node, columns sorted, the diagonal always
    present, so that a mass fits in as well.

    Parameters
    ----------
    n_nodes : int
    stencils : sequence of int32 [m, k]
        The stencils of each energy; k may differ.

    Attributes
    ----------
    indptr : int32 [n + 1]
    indices : int32 [nnz]
        Row starts and columns (nodes), as in CSR.
    slots : list of int32 [m, k, k]
        For each array of stencils the place in ``indices`` of the coupling of its nodes a and b.

    Raises
    ------
    InvalidSystem
        If a stencil refers to a node that does not exist.
    """

    def __init__(self, n_nodes: int, stencils: Sequence[IntArray]):
        for nodes in stencils:
            require_nodes("a stencil", nodes, n_nodes)
        self.n_nodes = n_nodes
        sizes = np.concatenate([np.full(len(nodes), nodes.shape[1], np.int32) for nodes in stencils] or [[]])
        nodes = np.concatenate([nodes.ravel() for nodes in stencils] or [[]]).astype(np.int32)
        self.indptr, indices, slots = _pattern(n_nodes, _starts(sizes), nodes)
        self.indices = indices.copy()  # the kernel's array has room for couplings that occur more than once
        ends = np.cumsum([nodes.shape[0] * nodes.shape[1] ** 2 for nodes in stencils])[:-1]
        parts = np.split(slots, ends) if len(stencils) else []
        self.slots = [part.reshape(*s.shape, s.shape[1]) for part, s in zip(parts, stencils, strict=True)]

    def rows(self) -> NDArray[np.int64]:
        """Return the row [nnz] of each block."""
        return np.repeat(np.arange(self.n_nodes), np.diff(self.indptr))

    def diagonal(self) -> NDArray[np.int64]:
        """Return the place [n] in ``indices`` of the block on the diagonal of each row."""
        return np.flatnonzero(self.rows() == self.indices)

    def held(self, fixed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which numbers [nnz, dim, dim] are in a row or a column of a fixed coordinate, given as [n, dim]."""
        return fixed[self.rows()][:, :, None] | fixed[self.indices][:, None, :]

    def zeros(self, dim: int) -> Array:
        """Return zero values [nnz, dim, dim] for a matrix on this pattern."""
        return np.zeros((len(self.indices), dim, dim))

    def matrix(self, values: Array) -> sp.bsr_array:
        """Return the matrix [n·dim, n·dim] with the given blocks [nnz, dim, dim], which it shares."""
        size = self.n_nodes * values.shape[1]
        return sp.bsr_array((values, self.indices, self.indptr), shape=(size, size))


def _starts(sizes: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return where each of consecutive runs of the given sizes starts, and where the last ends."""
    starts = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts


@kernel
def _pattern(n_nodes, starts, nodes):
    """Return indptr, indices and slots of the stencils nodes[starts[s] : starts[s + 1]]."""
    m = len(starts) - 1
    # The stencils of each node, as positions in ``nodes``, and the place of each stencil's slots.
    first = np.zeros(n_nodes + 1, np.int64)
    for node in nodes:
        first[node + 1] += 1
    for node in range(n_nodes):
        first[node + 1] += first[node]
    fill = first.copy()
    stencil = np.empty(len(nodes), np.int32)
    place = np.empty(len(nodes), np.int64)
    n_slots = 0
    for s in range(m):
        k = starts[s + 1] - starts[s]
        for a in range(k):
            node = nodes[starts[s] + a]
            stencil[fill[node]] = s
            place[fill[node]] = n_slots + a * k
            fill[node] += 1
        n_slots += k * k

    slots = np.empty(n_slots, np.int32)
    indptr = np.empty(n_nodes + 1, np.int32)
    indices = np.empty(n_nodes + n_slots, np.int32)
    slot_of = np.full(n_nodes, -1, np.int32)
    indptr[0] = end = 0
    for row in range(n_nodes):
        begin = end
        slot_of[row] = begin
        indices[begin] = row
        end += 1
        for t in range(first[row], first[row + 1]):
            for j in range(starts[stencil[t]], starts[stencil[t] + 1]):
                if slot_of[nodes[j]] < begin:
                    slot_of[nodes[j]] = begin
                    indices[end] = nodes[j]
                    end += 1
        _sort(indices, begin, end)
        for j in range(begin, end):
            slot_of[indices[j]] = j
        for t in range(first[row], first[row + 1]):
            s = stencil[t]
            for b in range(starts[s + 1] - starts[s]):
                slots[place[t] + b] = slot_of[nodes[starts[s] + b]]
        indptr[row + 1] = end
    return indptr, indices[:end], slots


@kernel
def _sort(numbers, begin, end):
    """Sort numbers[begin:end], which are few, by insertion."""
    for i in range(begin + 1, end):
        number = numbers[i]
        j = i
        while j > begin and numbers[j - 1] > number:
            numbers[j] = numbers[j - 1]
            j -= 1
        numbers[j] = number


@kernel
def scatter_vectors(local, nodes, out):
    """Add local[s, a, :] to out[nodes[s, a], :]."""
    for s in range(nodes.shape[0]):
        for a in range(nodes.shape[1]):
            for i in range(out.shape[1]):
                out[nodes[s, a], i] += local[s, a, i]


@kernel
def scatter_blocks(local, slots, out):
    """Add the dim × dim blocks (a, b) of local [m, k·dim, k·dim] to out[slots[s, a, b]] [nnz, dim, dim]."""
    dim = out.shape[1]
    for s in range(slots.shape[0]):
        for a in range(slots.shape[1]):
            for b in range(slots.shape[2]):
                for i in range(dim):
                    for j in range(dim):
                        out[slots[s, a, b], i, j] += local[s, a * dim + i, b * dim + j]


@kernel
def scatter_values(local, slots, out):
    """Add local[s, a, b] to out[slots[s, a, b]] [nnz]."""
    for s in range(slots.shape[0]):
        for a in range(slots.shape[1]):
            for b in range(slots.shape[2]):
                out[slots[s, a, b]] += local[s, a, b]
