"""Which rank owns which node: clusters of near nodes, divided by METIS where it is installed, else along a curve.

METIS sees clusters of up to 32 nodes that are neighbours on a Hilbert curve, each as heavy as its nodes have elements.
That takes a few hundredths of what all nodes would take, and little more is exchanged: only the clusters along the
borders differ from what all nodes would give.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from symplex.base.sparse import sp
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.meshes.renumber import hilbert_order

_CLUSTER = 32  # nodes at most
_PER_RANK = 64  # clusters at least, where there are so many nodes
_AT_ONCE = 1 << 18  # stencils that are looked at together


def owners(points: Array, stencils: Sequence[IntArray], ranks: int) -> NDArray[np.int32]:
    """Return the rank [n] that owns each node; each rank has one at least.

    Parameters
    ----------
    points : float64 [n, dim]
        Where the nodes are.
    stencils : sequence of int32 [m, k]
        What couples them.
    ranks : int
        Not more than there are nodes.
    """
    n = len(points)
    weights = np.ones(n, np.int64)
    for nodes in stencils:
        for first in range(0, len(nodes), _AT_ONCE):
            weights += np.bincount(nodes[first : first + _AT_ONCE].ravel(), minlength=n)
    order = hilbert_order(points)
    size = int(np.clip(n // (ranks * _PER_RANK), 1, _CLUSTER))
    metis = _metis()
    if metis is not None and ranks > 1:
        cluster = np.empty(n, np.int32)
        cluster[order] = np.arange(n, dtype=np.int32) // size
        heavy = np.bincount(cluster, weights=weights).astype(np.int32)
        owner = _divided_by(metis, _coupled(cluster, stencils, len(heavy)), heavy, ranks)[cluster]
        if len(np.unique(owner)) == ranks:
            return owner
    # Along the curve: each rank as much work, and one node at least.
    before = np.cumsum(weights[order])
    owner = np.empty(n, np.int32)
    along = np.minimum((before - weights[order]) * ranks // before[-1], ranks - 1)
    along = np.minimum(np.maximum(along, np.arange(n) - (n - ranks)), np.arange(n))  # where nodes are few
    owner[order] = along
    return owner


def _metis() -> ModuleType | None:
    try:
        import pymetis
    except ImportError:
        return None
    return pymetis


def _coupled(cluster: IntArray, stencils: Sequence[IntArray], n: int) -> sp.csr_array:
    """Return how often two clusters are in the same stencil [n, n]."""
    found = sp.csr_array((n, n), dtype=np.int32)
    for nodes in stencils:
        k = nodes.shape[1]
        for first in range(0, len(nodes) if k > 1 else 0, _AT_ONCE):
            of = cluster[nodes[first : first + _AT_ONCE]]
            of = of[(of != of[:, :1]).any(axis=1)]
            before, after = np.triu_indices(k, 1)
            row, column = of[:, before].ravel(), of[:, after].ravel()
            other = row != column
            ones = np.ones(int(other.sum()), np.int32)
            found = found + sp.csr_array((ones, (row[other], column[other])), shape=(n, n))
    return sp.csr_array(found + found.T)


def _divided_by(metis: ModuleType, coupled: sp.csr_array, heavy: IntArray, ranks: int) -> NDArray[np.int32]:
    graph = metis.CSRAdjacency(coupled.indptr.astype(np.int32), coupled.indices.astype(np.int32))
    _, part = metis.part_graph(ranks, graph, vweights=heavy, eweights=coupled.data.astype(np.int32))
    return np.array(part, np.int32)
