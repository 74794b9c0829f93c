"""Is a mesh fit for computing: volumes, shapes, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from symplex.errors import MeshError
from symplex.meshes.mesh import FACES, Mesh, row_order

# For each corner of a cell the nodes at the far ends of its three edges, right-handed in a positively oriented cell.
_CORNER_EDGES = {
    "tetra": [(0, 1, 2, 3)],
    "hexahedron": [
        (0, 1, 3, 4), (1, 2, 0, 5), (2, 3, 1, 6), (3, 0, 2, 7),
        (4, 7, 5, 0), (5, 4, 6, 1), (6, 5, 7, 2), (7, 6, 4, 3),
    ],
}  # fmt: skip
_EDGES = {"tetra": [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]}
# A corner whose edges span less than this part of the cube of the longest is flat: coordinates in double precision,
# or written with a dozen digits, cannot tell it from zero.
_FLAT = 1e-12


def corner_jacobians(points: NDArray[np.float64], cells: NDArray[np.int32], kind: str) -> NDArray[np.float64]:
    """Return the triple product of the edges at the corners of tetrahedra [m, 1] or hexahedra [m, 8] in m³.

    It is six times the volume of a tetrahedron, and the Jacobian of the map from the unit cube at the corners of a
    hexahedron.
    """
    return np.stack([np.linalg.det(_edges_at(points, cells, corner)) for corner in _CORNER_EDGES[kind]], axis=1)


def volumes(points: NDArray[np.float64], cells: NDArray[np.int32], kind: str) -> NDArray[np.float64]:
    """Return the signed volumes [m] in m³ of tetrahedra or (trilinear) hexahedra."""
    if kind == "tetra":
        return corner_jacobians(points, cells, kind)[:, 0] / 6.0
    # Divergence theorem; the mean of both ways to halve a face is exact for the bilinear one.
    total = np.zeros(len(cells))
    for a, b, c, d in FACES[kind]:
        for triangle in ((a, b, c), (a, c, d), (b, c, d), (b, d, a)):
            total += np.linalg.det(_edges_at(points, cells, (0, *triangle)))
    return total / 12.0


def shape_quality(points: NDArray[np.float64], cells: NDArray[np.int32], kind: str) -> NDArray[np.float64]:
    """Return the shape of each cell [m]: 1 at best, 0 when flat, negative when inverted.

    For tetrahedra the mean ratio ``12 (3V)^⅔ / Σ l²`` (Liu and Joe, BIT 34 (1994) 268), 1 for the regular one; for
    hexahedra the smallest scaled Jacobian of the eight corners, 1 for a box.
    """
    if kind == "tetra":
        volume = corner_jacobians(points, cells, kind)[:, 0] / 6.0
        squares = sum(((points[cells[:, b]] - points[cells[:, a]]) ** 2).sum(axis=1) for a, b in _EDGES["tetra"])
        return np.sign(volume) * 12.0 * np.cbrt(3.0 * np.abs(volume)) ** 2 / np.maximum(squares, np.finfo(float).tiny)
    worst = np.full(len(cells), np.inf)
    for corner in _CORNER_EDGES[kind]:
        edges = _edges_at(points, cells, corner)
        length = np.maximum(np.linalg.norm(edges, axis=2).prod(axis=1), np.finfo(float).tiny)
        worst = np.minimum(worst, np.linalg.det(edges) / length)
    return worst


def _edges_at(points: NDArray[np.float64], cells: NDArray[np.int32], corner: tuple[int, ...]) -> NDArray[np.float64]:
    here = points[cells[:, corner[0]]]
    return np.stack([points[cells[:, end]] - here for end in corner[1:]], axis=1)


# -- what can be wrong ------------------------------------------------------------------------------------------


def inverted_cells(mesh: Mesh, kind: str) -> NDArray[np.intp]:
    """Return the indices of the cells of a type (``tetra`` or ``hexahedron``) with negative volume at a corner."""
    relative = _relative_jacobians(mesh, kind)
    return np.flatnonzero(relative < -_FLAT)


def flat_cells(mesh: Mesh, kind: str) -> NDArray[np.intp]:
    """Return the indices of the cells of a type with no volume at a corner, to within rounding."""
    relative = _relative_jacobians(mesh, kind)
    return np.flatnonzero(np.abs(relative) <= _FLAT)


def _relative_jacobians(mesh: Mesh, kind: str) -> NDArray[np.float64]:
    cells = mesh.cells.get(kind)
    if cells is None or len(cells) == 0:
        return np.empty(0)
    extent = (mesh.points[cells].max(axis=1) - mesh.points[cells].min(axis=1)).max(axis=1)
    worst = corner_jacobians(mesh.points, cells, kind).min(axis=1)
    return worst / np.maximum(extent, np.finfo(float).tiny ** 0.25) ** 3


def unconnected_nodes(mesh: Mesh) -> NDArray[np.intp]:
    """Return the indices of the nodes that belong to no volume cell (to no cell, in a mesh without volume cells)."""
    connected = np.zeros(len(mesh.points), bool)
    for kind in mesh.volume_types or mesh.cells:
        connected[mesh.cells[kind]] = True
    return np.flatnonzero(~connected)


def duplicate_cells(mesh: Mesh, kind: str) -> NDArray[np.intp]:
    """Return the indices of the cells of a type whose nodes are those of an earlier cell."""
    order, new = row_order(mesh.cells[kind])
    starts = np.flatnonzero(new)
    if len(starts) == len(order):
        return np.empty(0, np.intp)
    earliest = np.minimum.reduceat(order, starts)
    return np.setdiff1d(np.arange(len(order)), earliest)


def check_mesh(mesh: Mesh, name: str = "mesh") -> None:
    """Refuse a mesh that no system of volume cells can be built on.

    Parameters
    ----------
    mesh : Mesh
    name : str
        What to call the mesh in the message, such as its file name.

    Raises
    ------
    MeshError
        If coordinates are not finite, cells occur twice, tetrahedra or hexahedra are inverted or flat, or nodes
        belong to no volume cell. The first of these is reported, with the cells or nodes by index.
    """
    wrong = np.flatnonzero(~np.isfinite(mesh.points).all(axis=1))
    if len(wrong):
        raise MeshError(f"{name}: {_some(wrong, len(mesh.points), 'nodes')} have coordinates that are not finite.")
    for kind in mesh.volume_types:
        total = len(mesh.cells[kind])
        if len(wrong := duplicate_cells(mesh, kind)):
            raise MeshError(
                f"{name}: {_some(wrong, total, f'{kind} cells')} occur twice; drop_duplicates(mesh) removes them."
            )
        if kind not in _CORNER_EDGES:
            continue
        if len(wrong := flat_cells(mesh, kind)):
            raise MeshError(f"{name}: {_some(wrong, total, f'{kind} cells')} have no volume; make the mesh anew there.")
        if len(wrong := inverted_cells(mesh, kind)):
            raise MeshError(
                f"{name}: {_some(wrong, total, f'{kind} cells')} are inverted (negative volume); "
                "orient(mesh) turns them round."
            )
    if len(wrong := unconnected_nodes(mesh)):
        raise MeshError(
            f"{name}: {_some(wrong, len(mesh.points), 'nodes')} belong to no volume cell; "
            "drop_unconnected(mesh) removes them."
        )


def _some(index: NDArray[np.intp], total: int, what: str) -> str:
    listed = ", ".join(str(i) for i in index[:5])
    more = ", …" if len(index) > 5 else ""
    return f"{len(index)} of {total} {what} ({listed}{more})"


# -- summary ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MeshInfo:
    """What a mesh consists of and how good it is.

    Attributes
    ----------
    n_points : int
    low, high : tuple of float
        Corners of the bounding box in m.
    cells : mapping of str to int
        Number of cells by type.
    cell_groups : mapping of str to (mapping of str to int)
        Number of cells by type in each group.
    point_groups : mapping of str to int
        Number of points in each group.
    bodies : int
        Number of connected parts (unconnected nodes not counted).
    volume : float
        Sum of the volumes of tetrahedra and hexahedra in m³.
    quality_min, quality_median : float or None
        Shape of the tetrahedra and hexahedra (see ``shape_quality``); None if there are none.
    inverted, flat, duplicates, unconnected : int
        Numbers of bad cells and of nodes in no volume cell.
    """

    n_points: int
    low: tuple[float, ...]
    high: tuple[float, ...]
    cells: Mapping[str, int]
    cell_groups: Mapping[str, Mapping[str, int]]
    point_groups: Mapping[str, int]
    bodies: int
    volume: float
    quality_min: float | None
    quality_median: float | None
    inverted: int
    flat: int
    duplicates: int
    unconnected: int


def describe(mesh: Mesh) -> MeshInfo:
    """Return what a mesh consists of and how good it is."""
    solid = [kind for kind in mesh.volume_types if kind in _CORNER_EDGES]
    quality = np.concatenate([np.empty(0), *(shape_quality(mesh.points, mesh.cells[kind], kind) for kind in solid)])
    return MeshInfo(
        n_points=len(mesh.points),
        low=tuple(float(x) for x in mesh.points.min(axis=0)),
        high=tuple(float(x) for x in mesh.points.max(axis=0)),
        cells={kind: len(cells) for kind, cells in mesh.cells.items()},
        cell_groups={
            name: {kind: len(index) for kind, index in members.items()} for name, members in mesh.cell_groups.items()
        },
        point_groups={name: len(index) for name, index in mesh.point_groups.items()},
        bodies=_count_bodies(mesh),
        volume=float(sum(volumes(mesh.points, mesh.cells[kind], kind).sum() for kind in solid)),
        quality_min=float(quality.min()) if len(quality) else None,
        quality_median=float(np.median(quality)) if len(quality) else None,
        inverted=sum(len(inverted_cells(mesh, kind)) for kind in solid),
        flat=sum(len(flat_cells(mesh, kind)) for kind in solid),
        duplicates=sum(len(duplicate_cells(mesh, kind)) for kind in mesh.volume_types),
        unconnected=len(unconnected_nodes(mesh)),
    )


def _count_bodies(mesh: Mesh) -> int:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n = len(mesh.points)
    # A cell holds its nodes together as well as edges from its first node to each other would.
    pairs = [
        np.stack([np.repeat(cells[:, 0], cells.shape[1] - 1), cells[:, 1:].ravel()])
        for cells in (mesh.cells[kind] for kind in mesh.volume_types or mesh.cells)
    ]
    i, j = np.concatenate([np.empty((2, 0), np.int32), *pairs], axis=1)
    count, _ = connected_components(coo_array((np.ones(len(i), np.int8), (i, j)), shape=(n, n)), directed=False)
    return int(count) - len(unconnected_nodes(mesh))
