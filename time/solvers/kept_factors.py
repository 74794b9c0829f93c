"""Factors of small matrices on a pattern that is found once, with what elimination fills in, in compiled loops.

A library's factorisation of a matrix of some hundred unknowns takes less time than to call it from Python and to look
for its pattern. Here both are found once: the order is that of minimum degree (SuperLU's), the pattern that of the
factors in it. Complete factors are the incomplete ones on a pattern where nothing is lost, so that the loops are those
of `symplex.time.solvers.block_factor`. No pivots are looked for: the matrices have masses on their diagonals. A
solution that this makes wrong does not bring Newton's method nearer, and the general one takes over. Multipliers, which
have next to nothing there, follow the nodes that they are coupled to, and have what is filled in.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numba import types
from numpy.typing import NDArray

from symplex.base.sparse import sp
from symplex.fem.assembly.pattern import Pattern
from symplex.fem.compiled.call import address_of, call_counting_kernel, call_testing_kernel, call_writing_kernel
from symplex.fem.compiled.kernels import addressed_formula, uncounted_formula as formula
from symplex.fem.compiled.records import Counts, Integer, Numbers, Record, Rows, UnsignedIndices
from symplex.time.solvers.block_factor import incomplete_lu, lu_backward, lu_forward


class KeptFactors(Record):
    """The pattern of L and U of a block matrix in the order of elimination, and arrays for them.

    Attributes
    ----------
    nodes : int64 [n]
        The nodes in this order.
    indptr : int64 [n + 1]
    indices : uint32 [nnz']
        Row starts and columns.
    diagonal : int64 [n]
        The places in ``indices`` of the blocks on the diagonal.
    source : int64 [nnz']
        The place of each block in the matrix, −1 for those that are filled in.
    values, factor : float64 [nnz', 9]
        The blocks of the matrix, and of L and U off the diagonal.
    inverses : float64 [n, 9]
        U_ii⁻¹.
    right, solution : float64 [3 n]
        In the order of elimination.
    lu, forward, backward, factorise, is_definite, substitute : int
        The addresses of the loops, and of what calls them.
    """

    nodes: Counts
    indptr: Counts
    indices: UnsignedIndices
    diagonal: Counts
    source: Counts
    values: Rows
    factor: Rows
    inverses: Rows
    right: Numbers
    solution: Numbers
    lu: Integer
    forward: Integer
    backward: Integer
    factorise: Integer
    is_definite: Integer
    substitute: Integer


def kept_factors(pattern: Pattern, multipliers: int | None = None) -> KeptFactors:
    """Return arrays for the factors of matrices on a pattern, whose nodes from a number on are of multipliers."""
    from scipy.sparse.linalg import splu

    n = pattern.n_nodes
    degree = np.diff(pattern.indptr)
    # A matrix whose factors have all numbers that the pattern can fill: none cancels, as all off the diagonal are
    # negative, and remain so.
    rows = pattern.rows()
    numbers = np.where(rows == pattern.indices, degree[rows] + 1.0, -1.0)
    options = {"diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}, "permc_spec": "MMD_AT_PLUS_A"}
    graph = sp.csr_array((numbers, pattern.indices, pattern.indptr), shape=(n, n))
    lu = splu(sp.csc_array(graph), **options)
    nodes = np.argsort(lu.perm_c).astype(np.int64)
    if multipliers is not None:
        place = lu.perm_c.astype(float)
        of_multipliers = (rows >= multipliers) & (pattern.indices < multipliers)
        np.maximum.at(place, rows[of_multipliers], place[pattern.indices[of_multipliers]] + 0.5)
        nodes = np.argsort(place, kind="stable")
        lu = splu(sp.csc_array(graph[nodes][:, nodes]), **options | {"permc_spec": "NATURAL"})
        nodes = nodes[np.argsort(lu.perm_c)]  # which leaves each after those that it is coupled to
    places = sp.csr_array((np.arange(1, len(rows) + 1), pattern.indices, pattern.indptr), shape=(n, n))
    places = sp.csr_array(places[nodes][:, nodes])
    lower = sp.csr_array(lu.L != 0)
    filled = sp.csr_array(lower + lower.T + (places != 0), dtype=bool)
    # Zeros that are stored: those of blocks that are filled in.
    stored = sp.csr_array((np.full(filled.nnz, 0), filled.indices, filled.indptr), shape=(n, n))
    stored.sort_indices()
    keys = _rows(stored) * n + stored.indices
    places.sort_indices()
    source = np.full(len(keys), -1)
    source[np.searchsorted(keys, _rows(places) * n + places.indices)] = places.data - 1
    size = len(keys)
    kind, vectors = KeptFactors.type, types.float64[:, ::1]
    return KeptFactors(
        nodes=nodes,
        indptr=stored.indptr.astype(np.int64),
        indices=stored.indices.astype(np.uint32),
        diagonal=np.flatnonzero(_rows(stored) == stored.indices),
        source=source,
        values=np.zeros((size, 9)),
        factor=np.zeros((size, 9)),
        inverses=np.zeros((n, 9)),
        right=np.zeros(3 * n),
        solution=np.zeros(3 * n),
        **_loops(),
        factorise=address_of(_factorise, kind, types.float64[:, :, ::1]),
        is_definite=address_of(_is_definite, kind),
        substitute=address_of(_substitute, kind, vectors, vectors),
    )


def products(factors: KeptFactors) -> int:
    """Return how many products of blocks a factorisation takes."""
    right_of = factors.indptr[1:] - factors.diagonal - 1
    return int((right_of * (right_of + 1)).sum())


def _rows(matrix: sp.csr_array) -> NDArray[np.int64]:
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))  # pyright: ignore


@cache
def _loops() -> dict[str, int]:
    """Return the addresses of the loops that factorise and that solve, which are compiled if need be."""
    places, columns, blocks, vector = types.int64[::1], types.uint32[::1], types.float64[:, ::1], types.float64[::1]
    number = types.int64
    pattern = places, columns, places
    return {
        "lu": address_of(incomplete_lu, *pattern, blocks, number, blocks, blocks, number, number),
        "forward": address_of(lu_forward, *pattern, blocks, vector, vector, number, number),
        "backward": address_of(lu_backward, *pattern, blocks, blocks, vector, number, number),
    }


@formula
def factorise(factors, blocks):
    """Factorise the matrix with the given blocks [nnz, dim, dim]; return whether all pivots are regular."""
    return call_testing_kernel(factors.factorise, (factors, blocks))


@formula
def is_definite(factors):
    """Return whether the matrix that was factorised, if symmetric, is positive definite: whether all U_ii are."""
    return call_testing_kernel(factors.is_definite, (factors,))


@formula
def substitute(factors, b, out):
    """Write the solution x [n, dim] of the matrix for the right-hand side b [n, dim] to out."""
    call_writing_kernel(factors.substitute, (factors, b, out))


@addressed_formula
def _factorise(factors, blocks):
    values, dim = factors.values, blocks.shape[1]
    for s in range(len(factors.source)):
        place = factors.source[s]
        for k in range(3):
            for m in range(3):
                filled = place >= 0 and k < dim and m < dim
                values[s, 3 * k + m] = blocks[place, k, m] if filled else 0.0
    for i in range(len(factors.diagonal)):
        for k in range(dim, 3):
            values[factors.diagonal[i], 4 * k] = 1.0
    n, longest = len(factors.nodes), 0
    for i in range(n):
        longest = max(longest, factors.indptr[i + 1] - factors.indptr[i])
    pattern = factors.indptr, factors.indices, factors.diagonal
    return call_counting_kernel(factors.lu, (*pattern, values, longest, factors.factor, factors.inverses, 0, n)) < 0


@addressed_formula
def _is_definite(factors):
    for i in range(len(factors.nodes)):
        a = factors.inverses[i]
        first, second = a[0], a[0] * a[4] - a[1] * a[3]
        third = a[2] * (a[3] * a[7] - a[4] * a[6]) - a[5] * (a[0] * a[7] - a[1] * a[6]) + a[8] * second
        if not (first > 0.0 and second > 0.0 and third > 0.0):
            return False
    return True


@addressed_formula
def _substitute(factors, b, out):
    n, dim = b.shape
    right, solution = factors.right, factors.solution
    for i in range(n):
        for k in range(3):
            right[3 * i + k] = b[factors.nodes[i], k] if k < dim else 0.0
    pattern = factors.indptr, factors.indices, factors.diagonal
    call_writing_kernel(factors.forward, (*pattern, factors.factor, right, solution, 0, n))
    call_writing_kernel(factors.backward, (*pattern, factors.factor, factors.inverses, solution, 0, n))
    for i in range(n):
        for k in range(dim):
            out[factors.nodes[i], k] = solution[3 * i + k]
