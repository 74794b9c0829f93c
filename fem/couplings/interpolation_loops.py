"""Loops over points that follow nodes: products with their weights, and the stencils of nodes of theirs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from symplex.errors import InvalidSystem
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.compiled.kernels import kernel


def product(rows: tuple[IntArray, IntArray, Array], x: Array, m: int, n: int, what: str) -> Array:
    """Return B x [m, dim] of x [n, dim]."""
    if x.ndim != 2 or len(x) != n:
        raise InvalidSystem(f"an interpolation is of {n} {what}; an array for them has shape {x.shape}.")
    out = np.zeros((m, x.shape[1]))
    add_product(*rows, np.ascontiguousarray(x, dtype=float), out)
    return out


def add_matrix(add: Callable[[IntArray, Array], None], weights: Array, slots: IntArray, out: Array) -> None:
    """Add Wᵀ K W to the blocks or values out [nnz, …] at slots [m, K, K]; add(slots, local) gives K for the points."""
    m, k, _ = weights.shape
    count, size = m * k * k, int(np.prod(out.shape[1:]))
    local = np.zeros((count, *out.shape[1:]))
    add(np.arange(count, dtype=np.int32).reshape(m, k, k), local)
    _expand(weights, local.reshape(count, size), slots, out.reshape(len(out), size))


@kernel
def add_product(indptr, indices, data, x, out):
    """Add B x to out [m, dim], of x [n, dim]; with fewer than thousands of rows in a third of SciPy's time."""
    for row in range(len(out)):
        for t in range(indptr[row], indptr[row + 1]):
            for i in range(out.shape[1]):
                out[row, i] += data[t] * x[indices[t], i]


@kernel
def count_nodes(of_points, indptr, indices):
    """Return how many different nodes each of the stencils of points [m, k] follows."""
    counts = np.zeros(len(of_points), np.int64)
    for s in range(len(of_points)):
        for a in range(of_points.shape[1]):
            for t in range(indptr[of_points[s, a]], indptr[of_points[s, a] + 1]):
                new = True
                for b in range(a):
                    for u in range(indptr[of_points[s, b]], indptr[of_points[s, b] + 1]):
                        if indices[u] == indices[t]:
                            new = False
                counts[s] += new
    return counts


@kernel
def gather_nodes(of_points, indptr, indices, data, nodes, weights):
    """Set the nodes [m, K] that stencils of points [m, k] follow, and their weights [m, k, K], given as zeros."""
    for s in range(len(of_points)):
        found = 0
        for a in range(of_points.shape[1]):
            for t in range(indptr[of_points[s, a]], indptr[of_points[s, a] + 1]):
                place = 0
                while place < found and nodes[s, place] != indices[t]:
                    place += 1
                if place == found:
                    nodes[s, place] = indices[t]
                    found += 1
                weights[s, a, place] += data[t]
        for place in range(found, nodes.shape[1]):
            nodes[s, place] = nodes[s, 0]


@kernel
def _expand(weights, local, slots, out):
    """Add Wᵀ K W to out [nnz, c] at slots [m, K, K], of blocks K [m·k·k, c]; blocks of zeros are passed over."""
    m, k, K = weights.shape
    for s in range(m):
        for a in range(k):
            for b in range(k):
                row = (s * k + a) * k + b
                some = False
                for i in range(local.shape[1]):
                    some = some or local[row, i] != 0.0
                if not some:
                    continue
                for A in range(K):
                    if weights[s, a, A] == 0.0:
                        continue
                    for B in range(K):
                        weight = weights[s, a, A] * weights[s, b, B]
                        if weight != 0.0:
                            for i in range(local.shape[1]):
                                out[slots[s, A, B], i] += weight * local[row, i]
