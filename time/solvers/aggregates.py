"""Aggregates of nodes: connected groups of about as many each, found from a pattern alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from symplex.fem.assembly.pattern import IntArray
from symplex.fem.compiled.kernels import kernel

_SMALLEST = 0.25  # of the size that is asked for: what is smaller joins the neighbour that it has most couplings with


def aggregates(indptr: IntArray, indices: IntArray, size: int) -> NDArray[np.int32]:
    """Return the aggregate [n] of each node of a symmetric pattern, numbered from 0.

    Each grows from a node next to those before it by levels of neighbours (Farhat 1988), up to ``size`` nodes. No
    aggregate holds nodes of bodies that the pattern does not connect.

    Parameters
    ----------
    indptr : int32 [n + 1]
    indices : int32 [nnz]
        Row starts and columns.
    size : int
    """
    return _grown(indptr, indices, size, int(_SMALLEST * size))


@kernel
def _grown(indptr, indices, size, least):
    """Return the aggregates; those with fewer than ``least`` nodes join a neighbour, if they have one."""
    n = len(indptr) - 1
    part, queue = np.full(n, -1, np.int32), np.empty(n, np.int32)
    front, waits = np.empty(n, np.int32), np.zeros(n, np.bool_)  # nodes next to aggregates, the oldest first
    couplings = np.zeros(n, np.int32)
    first_front = last_front = first_node = number = 0
    while True:
        seed = -1
        while first_front < last_front and seed < 0:
            if part[front[first_front]] < 0:
                seed = front[first_front]
            first_front += 1
        while seed < 0 and first_node < n:
            if part[first_node] < 0:
                seed = first_node
            first_node += 1
        if seed < 0:
            return part
        part[seed], queue[0] = number, seed
        first, end = 0, 1
        while first < end:
            node = queue[first]
            first += 1
            for s in range(indptr[node], indptr[node + 1]):
                other = indices[s]
                if part[other] >= 0:
                    continue
                if end < size:
                    part[other], queue[end] = number, other
                    end += 1
                elif not waits[other]:
                    waits[other], front[last_front] = True, other
                    last_front += 1
        if end >= least:
            number += 1
            continue
        into, most = -1, 0
        for k in range(end):
            for s in range(indptr[queue[k]], indptr[queue[k] + 1]):
                other = part[indices[s]]
                if other < number:
                    couplings[other] += 1
                    if couplings[other] > most or (couplings[other] == most and other < into):
                        into, most = other, couplings[other]
        for k in range(end):
            for s in range(indptr[queue[k]], indptr[queue[k] + 1]):
                couplings[part[indices[s]]] = 0
        if into < 0:
            number += 1
            continue
        for k in range(end):
            part[queue[k]] = into
