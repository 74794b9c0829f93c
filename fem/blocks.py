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

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symplex.fem import threads
from symplex.fem.assembly import Array, IntArray

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
    """

    def __init__(self, nodes: IntArray, points: Array, size: int = SIZE):
        m, k = nodes.shape
        slab = _slabs(nodes, points)
        sizes = np.bincount(slab) if m else np.zeros(1, int)
        blocks = -(-sizes // size)
        first = np.concatenate([[0], np.cumsum(blocks)])
        self.slabs = list(zip(first[:-1].tolist(), first[1:].tolist(), strict=True))
        order = np.argsort(slab, kind="stable")
        starts = first[:-1] * size - (np.cumsum(sizes) - sizes)
        place = np.arange(m) + np.repeat(starts, sizes)
        self.elements = np.full(first[-1] * size, -1, np.int32)
        self.elements[place] = order
        self.counts = (self.elements.reshape(-1, size) >= 0).sum(axis=1)
        self.nodes = np.zeros((len(self.elements), k), np.uint32)
        self.nodes[place] = nodes[order]
        self.nodes = self.nodes.reshape(len(self.counts), size * k)

    def pack(self, constants: Array) -> Array:
        """Return constants [m, r] of the elements as [blocks, r · SIZE], one constant after the other; padded by 0."""
        packed = np.zeros((len(self.counts), constants.shape[1], SIZE))
        by_element = packed.transpose(0, 2, 1)
        used = self.elements.reshape(-1, SIZE) >= 0
        by_element[used] = constants[self.elements[self.elements >= 0]]
        return packed.reshape(len(self.counts), constants.shape[1] * SIZE)

    def run(self, kernel: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Return ``[kernel(*arguments, first, last) for first, last in slabs]``, on several threads."""
        tasks = [(*arguments, first, last) for first, last in self.slabs]
        results: list[Any] = [None] * len(tasks)
        for parity in (0, 1):
            results[parity::2] = threads.run(kernel, tasks[parity::2], threads.count())
        return results


def _slabs(nodes: IntArray, points: Array) -> NDArray[np.intp]:
    """Return the slab [m] of each element: as many as possible so that only neighbouring slabs share nodes."""
    m = len(nodes)
    if m < 2 * SMALLEST_SLAB:
        return np.zeros(m, np.intp)
    axis = int(np.argmax(np.ptp(points[np.unique(nodes)], axis=0)))
    order = np.argsort(points[nodes, axis].sum(axis=1), kind="stable")
    nodes = nodes[order]
    number = SLABS
    while number * SMALLEST_SLAB > m:
        number //= 2
    slab = np.empty(m, np.intp)
    while number > 1:
        ascending = np.arange(m) * number // m
        of_nodes = np.repeat(ascending, nodes.shape[1])
        lowest, highest = np.full(len(points), number), np.zeros(len(points), np.intp)
        np.minimum.at(lowest, nodes.ravel(), of_nodes)
        np.maximum.at(highest, nodes.ravel(), of_nodes)
        if np.all(highest <= lowest + 1):
            slab[order] = ascending
            return slab
        number //= 2
    return np.zeros(m, np.intp)
