"""Elements in blocks for vector instructions, and in slabs for threads.

Kernels work on blocks of `SIZE` elements: they gather the positions of the nodes of a block component by component,
so that the arithmetic runs over contiguous numbers, and scatter the results. Constants of the elements are stored
the same way.

Threads must not write to the same node, and sums must not depend on their number. So the elements of a large mesh
are divided into slabs across its longest direction, each thick enough that slabs that are not neighbours share no
node. All even slabs may be worked on at the same time, then all odd ones: each node sums the parts of at most two
slabs, always in the same order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.assembly.team import Phases
from symplex.fem.compiled.kernels import kernel

SIZE = 128  # elements in a block: 9 numbers of each fit the first-level cache together with their constants
SLABS = 32  # at most; halved until they fit, so that two or four threads get as many each
SMALLEST_SLAB = 2048  # elements; smaller ones don't pay for starting a thread


class Blocks:
    """The elements of one energy in blocks and slabs.

    Parameters
    ----------
    nodes : int32 [m, k]
        The nodes of the elements.
    points : float64 [n, dim]
        Undeformed positions.
    size : int
        Elements in a block.
    slab : int32 [m], optional
        The slab of each element, where they are some of those of a larger mesh and shall add up in its order; default:
        `slabs_of` them.

    Attributes
    ----------
    nodes : uint32 [blocks, size · k]
        The nodes, element by element.
    elements : int32 [blocks · size]
        The index of each element; −1 where a slab does not fill its last block.
    counts : int64 [blocks]
        The number of elements in each block.
    slabs : list of (int, int)
        The first block of each slab and the one after its last.
    phases : Phases
        The slabs in the order in which they add up, on however many threads: the even ones, then the odd ones.
    """

    def __init__(self, nodes: IntArray, points: Array, size: int = SIZE, slab: NDArray[np.int32] | None = None):
        m, k = nodes.shape
        slab = slabs_of(nodes, points) if slab is None else slab
        sizes = np.bincount(slab) if m else np.zeros(1, np.int64)
        blocks = -(-sizes // size)
        first = np.concatenate([[0], np.cumsum(blocks)])
        self.slabs = list(zip(first[:-1].tolist(), first[1:].tolist(), strict=True))
        self.phases = Phases(self.slabs[::2], self.slabs[1::2])
        self.elements = np.full(first[-1] * size, -1, np.int32)
        self.nodes = np.zeros((len(self.elements), k), np.uint32)
        _place(nodes, slab, first[:-1] * size, self.elements, self.nodes)
        self.counts = (self.elements.reshape(-1, size) >= 0).sum(axis=1)
        self.nodes = self.nodes.reshape(len(self.counts), size * k)


def slabs_of(nodes: IntArray, points: Array) -> NDArray[np.int32]:
    """Return the slab [m] of each element: as many as possible so that only neighbouring slabs share nodes."""
    m = len(nodes)
    if m < 2 * SMALLEST_SLAB:
        return np.zeros(m, np.int32)
    used = np.zeros(len(points), bool)
    used[nodes] = True
    axis = int(np.argmax([np.ptp(x[used]) for x in points.T]))
    centres = _sums(nodes, np.ascontiguousarray(points[:, axis]))
    number = SLABS
    while number * SMALLEST_SLAB > m:
        number //= 2
    while number > 1:
        first = -(-np.arange(1, number) * m // number)  # of each slab but the first, in the order along the axis
        slab, lowest, highest = _divided(nodes, centres, np.partition(centres, first)[first], len(points))
        if np.all(highest <= lowest + 1):
            return slab
        number //= 2
    return np.zeros(m, np.int32)


@kernel
def _sums(nodes, x):
    """Return the sum of x [n] over the nodes [m, k] of each element."""
    out = np.zeros(len(nodes))
    for e in range(len(nodes)):
        for a in range(nodes.shape[1]):
            out[e] += x[nodes[e, a]]
    return out


@kernel
def _divided(nodes, centres, ends, n_nodes):
    """Divide elements in the order of their centres [m], and of their indices where these are equal, in even parts.

    Parameters
    ----------
    nodes : int32 [m, k]
    centres : float64 [m]
    ends : float64 [parts − 1]
        The centre of the first element of each part but the first, ascending.
    n_nodes : int

    Returns
    -------
    part : int32 [m]
        Of each element.
    lowest, highest : int32 [n_nodes]
        The parts that the elements of each node are in; where it has none the lowest is above the highest.
    """
    m, parts = len(nodes), len(ends) + 1
    part = np.empty(m, np.int32)
    # Elements below an end, and those on it, which are in this part or in one before, as their number shows.
    below, on = np.zeros(parts, np.int64), np.zeros(parts, np.int64)
    for e in range(m):
        part[e] = np.searchsorted(ends, centres[e])
        if part[e] < parts - 1 and centres[e] == ends[part[e]]:
            on[part[e]] += 1
        else:
            below[part[e]] += 1
    number = np.zeros(parts, np.int64)  # of the next element on an end
    before = 0
    for s in range(parts):
        number[s] = before + below[s]
        before += below[s] + on[s]
    lowest, highest = np.full(n_nodes, parts, np.int32), np.zeros(n_nodes, np.int32)
    for e in range(m):
        s = part[e]
        if s < parts - 1 and centres[e] == ends[s]:
            part[e] = number[s] * parts // m
            number[s] += 1
        for node in nodes[e]:
            lowest[node] = min(lowest[node], part[e])
            highest[node] = max(highest[node], part[e])
    return part, lowest, highest


@kernel
def _place(nodes, slab, first, elements, placed):
    """Set the indices and the nodes [k] of the elements of each slab, from its first place on."""
    for e in range(len(nodes)):
        at = first[slab[e]]
        first[slab[e]] += 1
        elements[at] = e
        for a in range(nodes.shape[1]):
            placed[at, a] = nodes[e, a]
