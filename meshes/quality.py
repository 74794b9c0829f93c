"""Is a mesh fit for computing: volumes, shapes, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from symplex.errors import MeshError
from symplex.meshes.kinds import FACE_KINDS, FACES
from symplex.meshes.mesh import Mesh, row_order
from symplex.meshes.quadrature import conical, gauss
from symplex.meshes.shape_functions import SHAPE_FUNCTIONS

# For each corner of a cell the nodes at the far ends of its three edges, right-handed in a positively oriented cell;
# quadratic cells are taken as if their edges were straight. Four edges meet at the tip of a pyramid, which is left out.
_TETRA = [(0, 1, 2, 3)]
_HEXAHEDRON = [
    (0, 1, 3, 4), (1, 2, 0, 5), (2, 3, 1, 6), (3, 0, 2, 7),
    (4, 7, 5, 0), (5, 4, 6, 1), (6, 5, 7, 2), (7, 6, 4, 3),
]  # fmt: skip
_WEDGE = [(0, 1, 2, 3), (1, 2, 0, 4), (2, 0, 1, 5), (3, 5, 4, 0), (4, 3, 5, 1), (5, 4, 3, 2)]
_PYRAMID = [(0, 1, 3, 4), (1, 2, 0, 4), (2, 3, 1, 4), (3, 0, 2, 4)]
_CORNER_EDGES = {
    "tetra": _TETRA,
    "tetra10": _TETRA,
    "hexahedron": _HEXAHEDRON,
    "hexahedron20": _HEXAHEDRON,
    "hexahedron27": _HEXAHEDRON,
    "wedge": _WEDGE,
    "wedge15": _WEDGE,
    "wedge18": _WEDGE,
    "pyramid": _PYRAMID,
    "pyramid13": _PYRAMID,
}
# The scaled Jacobian at the corners of the best cell: a wedge on an equilateral triangle, a pyramid with equal edges.
_BEST = {"hexahedron": 1.0, "wedge": np.sqrt(0.75), "pyramid": np.sqrt(0.5)}
_TETRAHEDRA = ("tetra", "tetra10")
_TETRA_EDGES = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
# A corner whose edges span less than this part of the cube of the longest is flat: coordinates in double precision,
# or written with a dozen digits, cannot distinguish it from zero.
_FLAT = 1e-12


def corner_jacobians(points: NDArray[np.float64], cells: NDArray[np.int32], kind: str) -> NDArray[np.float64]:
    """Return the triple products [m, c] in m³ of the edges at the corners of cells, at one of a tetrahedron.

    It is six times the volume of a tetrahedron, and the Jacobian of the map from the unit cube at the corners of a
    hexahedron. Quadratic cells are taken as if their edges were straight.
    """
    return np.stack([_triple_product(points, cells, corner) for corner in _CORNER_EDGES[kind]], axis=1)


def volumes(points: NDArray[np.float64], cells: NDArray[np.int32], kind: str) -> NDArray[np.float64]:
    """Return the signed volumes [m] in m³ of cells, exact for bilinear and for curved faces."""
    if kind == "tetra":
        return corner_jacobians(points, cells, kind)[:, 0] / 6.0
    # Divergence theorem: V = ∮ x·n dA / 3.
    total = np.zeros(len(cells))
    for face in FACES[kind]:
        nodes = len(face)
        if nodes > 4:
            total += _quadratic_flux(points[cells[:, list(face)]] - points[cells[:, 0], None])
        else:
            # The mean of both ways to halve a quadrilateral is exact for the bilinear one.
            a, b, c, d = (*face, face[-1])[:4]
            for triangle in ((a, b, c), (a, c, d), (b, c, d), (b, d, a)) if nodes == 4 else ((a, b, c),) * 2:
                total += _triple_product(points, cells, (0, *triangle)) / 12.0
    return total


def _quadratic_flux(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ∫ x·(∂x/∂u × ∂x/∂v) du dv / 3 [m] over quadratic faces with nodes at x [m, k, 3]."""
    kind = FACE_KINDS[x.shape[1]]
    # exact for the fifth degree in each coordinate, and, folded, for the fifth of both
    rule = conical(4, 2) if kind == "triangle6" else gauss(3, 2)
    shapes, slopes = SHAPE_FUNCTIONS[kind](rule.points)
    at, du, dv = (np.einsum("gk,mki->mgi", N, x) for N in (shapes, slopes[..., 0], slopes[..., 1]))
    return np.einsum("mgi,mgi,g->m", at, np.cross(du, dv), rule.weights) / 3.0


def shape_quality(points: NDArray[np.float64], cells: NDArray[np.int32], kind: str) -> NDArray[np.float64]:
    """Return the shape of each cell [m]: 1 at best, 0 when flat, negative when inverted.

    For tetrahedra the mean ratio ``12 (3V)^⅔ / Σ l²`` (Liu and Joe, BIT 34 (1994) 268), 1 for the regular one; for
    others the smallest scaled Jacobian of the corners, relative to that of the best cell: 1 for a box.
    """
    if kind in _TETRAHEDRA:
        volume = corner_jacobians(points, cells, kind)[:, 0] / 6.0
        squares = sum(((points[cells[:, b]] - points[cells[:, a]]) ** 2).sum(axis=1) for a, b in _TETRA_EDGES)
        return np.sign(volume) * 12.0 * np.cbrt(3.0 * np.abs(volume)) ** 2 / np.maximum(squares, np.finfo(float).tiny)
    worst = np.full(len(cells), np.inf)
    for corner in _CORNER_EDGES[kind]:
        here = points[cells[:, corner[0]]]
        lengths = [np.linalg.norm(points[cells[:, end]] - here, axis=1) for end in corner[1:]]
        product = np.maximum(np.prod(lengths, axis=0), np.finfo(float).tiny)
        worst = np.minimum(worst, _triple_product(points, cells, corner) / product)
    return worst / _BEST[kind.rstrip("0123456789")]


def _triple_product(
    points: NDArray[np.float64], cells: NDArray[np.int32], corner: tuple[int, ...]
) -> NDArray[np.float64]:
    """Return a × b · c [m] for the edges a, b, c from one node of each cell to three others."""
    x, y, z = np.ascontiguousarray(points.T)
    origin, *ends = (cells[:, k] for k in corner)
    (a1, b1, c1), (a2, b2, c2), (a3, b3, c3) = ([u[end] - u[origin] for end in ends] for u in (x, y, z))
    return a1 * (b2 * c3 - b3 * c2) + a2 * (b3 * c1 - b1 * c3) + a3 * (b1 * c2 - b2 * c1)


# -- what can be wrong ------------------------------------------------------------------------------------------


def bad_cells(mesh: Mesh, kind: str) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the indices of the cells of a type that are inverted, and of those that are flat.

    Parameters
    ----------
    mesh : Mesh
    kind : str
        One of volume cells with known faces.

    Returns
    -------
    inverted, flat : int [·]
        Cells with negative volume at a corner, and with none there to within rounding.
    """
    cells = mesh.cells[kind]
    worst = corner_jacobians(mesh.points, cells, kind).min(axis=1)
    whole = max((float(np.ptp(x)) for x in mesh.points.T), default=0.0) if len(cells) else 0.0
    near = np.flatnonzero(~(worst > _FLAT * whole * whole * whole))  # all others are far from it, as small as they are
    limit = _FLAT * np.ptp(mesh.points[cells[near]], axis=1).max(axis=1, initial=0.0) ** 3
    return near[worst[near] < -limit], near[np.abs(worst[near]) <= limit]


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
        inverted, flat = bad_cells(mesh, kind)
        if len(flat):
            raise MeshError(f"{name}: {_some(flat, total, f'{kind} cells')} have no volume; remesh there.")
        if len(inverted):
            raise MeshError(
                f"{name}: {_some(inverted, total, f'{kind} cells')} are inverted (negative volume); "
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
        Sum of the volumes in m³ of the volume cells that can be judged.
    quality_min, quality_median : float or None
        Shape of these (see ``shape_quality``); None if there are none.
    inverted, flat, duplicates, unconnected : int
        Numbers of bad cells and of nodes in no volume cell.
    unjudged : tuple of str
        Types of volume cells of which neither volume nor shape is known, such as ``pyramid14``.
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
    unjudged: tuple[str, ...] = ()


def describe(mesh: Mesh) -> MeshInfo:
    """Return what a mesh consists of and how good it is."""
    solid = [kind for kind in mesh.volume_types if kind in _CORNER_EDGES]
    bad = [bad_cells(mesh, kind) for kind in solid]
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
        inverted=sum(len(inverted) for inverted, _ in bad),
        flat=sum(len(flat) for _, flat in bad),
        duplicates=sum(len(duplicate_cells(mesh, kind)) for kind in mesh.volume_types),
        unconnected=len(unconnected_nodes(mesh)),
        unjudged=tuple(kind for kind in mesh.volume_types if kind not in _CORNER_EDGES),
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
