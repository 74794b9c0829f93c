"""Quadratic meshes from linear ones: a node in the middle of each edge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from symplex.base.arguments import checked
from symplex.errors import MeshError
from symplex.meshes.kinds import EDGES, MIDDLES
from symplex.meshes.mesh import Mesh, row_order

# The quadratic cells of each type of linear ones, and those with nodes in quadrilaterals and in the middle as well.
_QUADRATIC = {
    "line": "line3",
    "triangle": "triangle6",
    "quad": "quad8",
    "tetra": "tetra10",
    "hexahedron": "hexahedron20",
    "wedge": "wedge15",
    "pyramid": "pyramid13",
}
_WITH_MIDDLES = {**_QUADRATIC, "quad": "quad9", "hexahedron": "hexahedron27", "wedge": "wedge18"}


def is_quadratic(kind: str) -> bool:
    """Return whether cells of a type have nodes between their corners."""
    return kind in {*_QUADRATIC.values(), *_WITH_MIDDLES.values()}


@checked
def quadratic(mesh: Mesh, *, centres: bool = False) -> Mesh:
    """Return the mesh with all its cells made quadratic, with nodes in the middle of straight edges.

    Tetrahedra get 10 nodes, hexahedra 20, wedges 15, pyramids 13, triangles 6, quadrilaterals 8, lines 3. Points keep
    their indices, the new ones follow. Groups of cells keep their members, under the new type of cells.

    Parameters
    ----------
    mesh : Mesh
        Of linear cells.
    centres : bool, default False
        Whether there shall be nodes in the middle of quadrilaterals and of hexahedra too, so that these have 9 and 27,
        and wedges 18.

    Raises
    ------
    MeshError
        If there are cells of other types, or, with centres, pyramids, which have no node in the middle of their base.
    """
    others = sorted({*mesh.cells} - {*_QUADRATIC, "vertex"})
    if others:
        raise MeshError(f"only linear cells can be made quadratic; the mesh has {', '.join(others)}.")
    kinds = [kind for kind in mesh.cells if kind in _QUADRATIC and len(mesh.cells[kind])]
    if centres and "pyramid" in kinds:
        raise MeshError(
            "centres=True does not fit to pyramids, which have no node in the middle of their base; leave it away for "
            "hexahedra of 20 nodes, wedges of 15 and pyramids of 13."
        )
    names = _WITH_MIDDLES if centres else _QUADRATIC
    points, rows = mesh.points, {kind: mesh.cells[kind] for kind in kinds}
    for corners in (2, 4, 8) if centres else (2,):  # of edges, of quadrilaterals, of hexahedra
        inside = {kind: [*EDGES[kind], *MIDDLES.get(kind, ())] for kind in kinds}
        groups = {kind: [group for group in inside[kind] if len(group) == corners] for kind in kinds}
        points, new = _with_middles(points, mesh.cells, {kind: group for kind, group in groups.items() if group})
        rows |= {kind: np.hstack([rows[kind], nodes]) for kind, nodes in new.items()}
    cells = {
        names.get(kind, kind): rows.get(kind, mesh.cells[kind]) for kind in (*kinds, "vertex") if kind in mesh.cells
    }
    cell_groups = {
        name: {names.get(kind, kind): index for kind, index in members.items()}
        for name, members in mesh.cell_groups.items()
    }
    return Mesh(points, cells, cell_groups, mesh.point_groups, unknown=mesh.unknown)


def _with_middles(
    points: NDArray[np.float64], cells: Mapping[str, NDArray[np.int32]], groups: Mapping[str, Sequence[Sequence[int]]]
) -> tuple[NDArray[np.float64], dict[str, NDArray[np.int32]]]:
    """Return the points followed by the middles of groups of corners, all of one size, of cells; and these as nodes.

    Groups of the same corners have one middle, whatever cells they are of.
    """
    corners = {kind: cells[kind][:, np.array(columns)] for kind, columns in groups.items()}
    if not corners:
        return points, {}
    rows = np.concatenate([part.reshape(-1, part.shape[2]) for part in corners.values()])
    order, first = row_order(rows)
    place = np.empty(len(rows), np.int64)
    place[order] = np.cumsum(first) - 1
    middles = points[rows[order[first]]].mean(axis=1)
    new, start = {}, 0
    for kind, part in corners.items():
        m, n, _ = part.shape
        new[kind] = (len(points) + place[start : start + m * n].reshape(m, n)).astype(np.int32)
        start += m * n
    return np.concatenate([points, middles]), new
