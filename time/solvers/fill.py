"""What complete factors of a matrix would hold and take, known from its pattern alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from symplex.base.sparse import sp
from symplex.fem.assembly.pattern import IntArray, Pattern
from symplex.fem.compiled.kernels import kernel

# Seconds measured on one core (SuperLU; matrices of 3 000 to 23 000 unknowns); only their ratios count.
_PER_OPERATION, _PER_NUMBER = 5e-11, 7.2e-8  # of factors: operations, numbers in the lower one
_SOLUTION = 1e-8  # of a solution, per number in the lower factor
_PER_SYMMETRIC_PRODUCT = 7.2e-10  # of an iteration of conjugate gradients, per number in the matrix
_PER_PRODUCT = 1.1e-9  # and of a product with an unsymmetric matrix and a solution with its incomplete factors


@dataclass(frozen=True)
class Fill:
    """The size of complete factors.

    Attributes
    ----------
    numbers : float
        In the lower factor; the upper one has as many.
    operations : float
        Multiplications and additions of the factorisation, both counted.
    inside : float
        Numbers in the matrix.
    """

    numbers: float
    operations: float
    inside: float

    @property
    def _seconds(self) -> float:
        return _PER_OPERATION * self.operations + _PER_NUMBER * self.numbers

    def iterations(self, symmetric: bool) -> float:
        """Return how many iterations (see `krylov.Solution`) take as long as the factors of a matrix."""
        return self._seconds / ((_PER_SYMMETRIC_PRODUCT if symmetric else _PER_PRODUCT) * self.inside)

    @property
    def solutions(self) -> float:
        """How many solutions with factors, each with a product with the matrix, take as long as the factors."""
        return self._seconds / (_SOLUTION * self.numbers + _PER_PRODUCT * self.inside)


def fill_of(pattern: Pattern, dim: int, nodes: IntArray, limit: float) -> Fill | None:
    """Return the fill of matrices on a pattern whose nodes [n] are eliminated in this order.

    Parameters
    ----------
    pattern : Pattern
    dim : int
        Coordinates of a node.
    nodes : int32 [n]
    limit : float
        Numbers in the lower factor; where there are more, None is returned.
    """
    total, squares = _count(pattern.indptr, pattern.indices, nodes, limit / dim**2)
    if total < 0:
        return None
    return Fill(dim**2 * float(total), 2.0 * dim**3 * float(squares), float(dim**2 * len(pattern.indices)))


def minimum_degree_order(pattern: Pattern) -> IntArray:
    """Return the nodes [n] in an order of elimination by least degree, which keeps fill small.

    The order is SuperLU's, of the graph of the nodes: of all coordinates it takes a multiple of the time, and fills as
    much.
    """
    from scipy.sparse.linalg import splu

    n = pattern.n_nodes
    values = np.full(len(pattern.indices), -1.0)
    values[pattern.diagonal()] = np.diff(pattern.indptr)  # dominant, so that no pivot is looked for
    graph = sp.csc_array((values, pattern.indices, pattern.indptr), shape=(n, n))
    options = {"diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}
    return np.argsort(splu(graph, permc_spec="MMD_AT_PLUS_A", **options).perm_c).astype(np.int32)


def coordinates_of(nodes: IntArray, dim: int) -> IntArray:
    """Return the coordinates [n · dim] of nodes [n] in their order."""
    return (dim * nodes[:, None].astype(np.intp) + np.arange(dim)).ravel()


@kernel
def _count(indptr, indices, nodes, limit):
    """Return the blocks of the lower factor, and Σ over its columns of their squares; −1 where there are too many.

    Each row of the factor is the part of the elimination tree that its entries in the matrix hang on (Liu 1990).
    """
    n = len(nodes)
    place = np.empty(n, np.int64)
    for k in range(n):
        place[nodes[k]] = k
    parent, reached, height = np.full(n, -1, np.int64), np.full(n, -1, np.int64), np.ones(n, np.int64)
    total = n
    for k in range(n):
        reached[k] = k
        for s in range(indptr[nodes[k]], indptr[nodes[k] + 1]):
            i = place[indices[s]]
            while i < k and reached[i] != k:
                if parent[i] < 0:
                    parent[i] = k
                height[i] += 1
                total += 1
                reached[i] = k
                i = parent[i]
        if total > limit:
            return -1, 0
    squares = 0
    for i in range(n):
        squares += height[i] * height[i]
    return total, squares
