"""Nodes of several parts of a mesh made one, where they lie at the same place."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symplex.base.arguments import checked
from symplex.base.sparse import sp
from symplex.errors import MeshError
from symplex.meshes.mesh import Mesh, distinct


def nearest_nodes(
    points: NDArray[np.float64], nodes: NDArray[np.integer], others: NDArray[np.integer]
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return for each node the nearest of others [m], and how far that is [m] in m; both are indices of points."""
    if not len(others):
        raise MeshError("there are no nodes among which the nearest could be.")
    from scipy.spatial import KDTree  # which takes long to import

    distances, index = KDTree(points[others]).query(points[nodes])
    return np.asarray(others, np.int32)[index], np.asarray(distances)


@checked
def join_nodes(mesh: Mesh, pairs: ArrayLike) -> Mesh:
    """Return the mesh in which the nodes of each pair are one; it keeps the place of the smaller one.

    Cells and groups follow. Bodies whose nodes are joined are tied exactly, under every integrator.

    Parameters
    ----------
    mesh : Mesh
    pairs : int [p, 2]
        Nodes, which lie at the same place; each may be in several pairs.

    Raises
    ------
    MeshError
        If they are not pairs of nodes, or two nodes of one cell would become one.
    """
    rows = np.asarray(pairs)
    n = len(mesh.points)
    if rows.size == 0:
        return mesh
    if rows.ndim != 2 or rows.shape[1] != 2 or rows.dtype.kind not in "iu" or rows.min() < 0 or rows.max() >= n:
        raise MeshError(f"nodes are joined by pairs [p, 2] of indices below {n}.")
    graph = sp.coo_array((np.ones(len(rows)), rows.T), shape=(n, n))
    from scipy.sparse.csgraph import connected_components  # which takes long to import

    label = connected_components(graph, directed=False)[1]
    first = np.full(int(label.max()) + 1, n, np.int64)
    np.minimum.at(first, label, np.arange(n))
    kept = np.unique(first)
    place = np.searchsorted(kept, first[label]).astype(np.int32)
    cells = {kind: np.ascontiguousarray(place[nodes]) for kind, nodes in mesh.cells.items()}
    for kind, nodes in cells.items():
        ordered = np.sort(nodes, axis=1)
        if nodes.shape[1] > 1 and (ordered[:, 1:] == ordered[:, :-1]).any():
            raise MeshError(f"two nodes of one {kind} cell would be joined; they are too near to each other.")
    points = {name: distinct(place[index], len(kept)) for name, index in mesh.point_groups.items()}
    return replace(
        mesh,
        points=np.ascontiguousarray(mesh.points[kept]),
        cells=cells,
        point_groups=points,
        point_numbers=None if mesh.point_numbers is None else mesh.point_numbers[kept],
    )
