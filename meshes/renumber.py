"""Numbering by locality: cells along a space-filling curve, nodes in the order of their first use."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from symplex.meshes.mesh import Mesh, take


def renumber(mesh: Mesh) -> Mesh:
    """Return the mesh with cells and nodes renumbered so that neighbours in space are neighbours in memory.

    The cells of each type follow a Hilbert curve through their centres; nodes are numbered in the order in which the
    volume cells (then all others) first use them, unconnected nodes last. Groups keep their members.

    Gathering and scattering over two million tetrahedra takes as long as after reverse Cuthill–McKee, and a seventh of
    what it takes in random order; and any range of cells is compact, so that threads share few nodes.
    """
    kinds = sorted(mesh.cells, key=lambda kind: kind not in mesh.volume_types)
    orders = {kind: hilbert_order(_centres(mesh.points, mesh.cells[kind])) for kind in kinds}
    node_order = first_use((mesh.cells[kind][orders[kind]] for kind in kinds), len(mesh.points))
    return take(mesh, node_order, {kind: orders[kind] for kind in mesh.cells})


def hilbert_order(points: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the order [n] of points [n, dim] along a Hilbert curve (stable: equal places keep their order).

    The curve runs through a cube around the points, so that its cells are as wide in each direction.

    Notes
    -----
    J. Skilling, Programming the Hilbert curve, AIP Conf. Proc. 707 (2004) 381: axes to transpose.
    """
    n, dim = points.shape
    if n == 0:
        return np.empty(0, np.intp)
    # Some eight boxes of the curve per point: finer ones only cost time.
    bits = min(62 // dim, int(np.ceil(np.log2(8 * n) / dim)) + 1)
    low = points.min(axis=0)
    extent = float((points - low).max())
    scale = (2**bits - 1) / extent if extent > 0 else 0.0
    axes = [((points[:, k] - low[k]) * scale).astype(np.int64) for k in range(dim)]
    q = 1 << (bits - 1)
    while q > 1:
        p = q - 1
        for k in range(dim):
            high = (axes[k] & q) != 0
            swap = (axes[0] ^ axes[k]) & p
            swap[high] = 0
            axes[0] ^= np.where(high, p, swap)
            axes[k] ^= swap
        q >>= 1
    for k in range(1, dim):
        axes[k] ^= axes[k - 1]
    flip = np.zeros(n, np.int64)
    q = 1 << (bits - 1)
    while q > 1:
        flip ^= np.where(axes[-1] & q, q - 1, 0)
        q >>= 1
    index = np.zeros(n, np.int64)
    for bit in range(bits - 1, -1, -1):
        for k in range(dim):
            index = (index << 1) | (((axes[k] ^ flip) >> bit) & 1)
    return np.argsort(index, kind="stable")


def first_use(blocks: Iterable[NDArray[np.int32]], n_points: int) -> NDArray[np.intp]:
    """Return the order [n] in which blocks of connectivity, one after the other, first use the points."""
    flat = np.concatenate([np.empty(0, np.int32), *(block.ravel() for block in blocks)])
    place = np.full(n_points, len(flat), np.int64)
    # Of several values for one place, assignment keeps the last: backwards, that is the first use.
    place[flat[::-1]] = np.arange(len(flat) - 1, -1, -1)
    return np.argsort(place, kind="stable")


def _centres(points: NDArray[np.float64], cells: NDArray[np.int32]) -> NDArray[np.float64]:
    centres = np.zeros((len(cells), points.shape[1]))
    for column in cells.T:
        centres += points[column]
    return centres / cells.shape[1]
