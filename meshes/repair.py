"""Mending meshes; each function returns a new mesh and leaves its argument alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from symplex.meshes.kinds import corners_of
from symplex.meshes.mesh import Mesh, first_alike, take
from symplex.meshes.quality import corner_jacobians, unconnected_nodes

# The order of nodes that turns a cell inside out.
_TURNED = {
    "tetra": [0, 1, 3, 2],
    "tetra10": [0, 1, 3, 2, 4, 8, 7, 6, 5, 9],
    "hexahedron": [4, 5, 6, 7, 0, 1, 2, 3],
    "hexahedron20": [4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11, 16, 17, 18, 19],
    "hexahedron27": [
        *(4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11, 16, 17, 18, 19),
        *(20, 21, 22, 23, 25, 24, 26),
    ],
    "wedge": [3, 4, 5, 0, 1, 2],
    "wedge15": [3, 4, 5, 0, 1, 2, 9, 10, 11, 6, 7, 8, 12, 13, 14],
    "wedge18": [3, 4, 5, 0, 1, 2, 9, 10, 11, 6, 7, 8, 12, 13, 14, 15, 16, 17],
    "pyramid": [0, 3, 2, 1, 4],
    "pyramid13": [0, 3, 2, 1, 4, 8, 7, 6, 5, 9, 12, 11, 10],
    "triangle": [0, 2, 1],
    "triangle6": [0, 2, 1, 5, 4, 3],
    "quad": [0, 3, 2, 1],
    "quad8": [0, 3, 2, 1, 7, 6, 5, 4],
    "quad9": [0, 3, 2, 1, 7, 6, 5, 4, 8],
}


def orient(mesh: Mesh) -> Mesh:
    """Return the mesh with its volume cells positively oriented and its boundary faces outward.

    Cells whose volume is negative at every corner are turned round, as are the triangles and quads that lie on the
    boundary of the volume cells with an inward normal. Zero volumes and twisted cells stay as they are. Cells that
    occur twice hide the boundary: drop them first.
    """
    cells = dict(mesh.cells)
    for kind in mesh.volume_types:
        if kind in _TURNED:
            inverted = corner_jacobians(mesh.points, cells[kind], kind).max(axis=1) < 0
            cells[kind] = _turn(cells[kind], kind, inverted)
    turned = replace(mesh, cells=cells)
    for kind, boundary in turned.boundary_faces.items():
        if kind in cells:
            corners = corners_of(kind, cells[kind]), corners_of(kind, boundary)
            cells[kind] = _turn(cells[kind], kind, _are_reversed(*corners))
    return replace(mesh, cells=cells)


def drop_unconnected(mesh: Mesh) -> Mesh:
    """Return the mesh without the nodes that belong to no volume cell, nor the faces and edges on such nodes.

    In a mesh without volume cells the nodes of no cell at all go. The others keep their order.
    """
    connected = np.ones(len(mesh.points), bool)
    connected[unconnected_nodes(mesh)] = False
    kept = {kind: np.flatnonzero(connected[cells].all(axis=1)) for kind, cells in mesh.cells.items()}
    return take(mesh, np.flatnonzero(connected), kept)


def drop_duplicates(mesh: Mesh) -> Mesh:
    """Return the mesh with each cell once; the one that stays, the first, joins the groups of those that go."""
    kept, groups = {}, {name: dict(members) for name, members in mesh.cell_groups.items()}
    for kind, cells in mesh.cells.items():
        first = first_alike(cells)
        kept[kind] = np.flatnonzero(first == np.arange(len(cells)))
        for members in groups.values():
            if kind in members:
                members[kind] = np.unique(first[members[kind]]).astype(np.int32)
    return take(replace(mesh, cell_groups=groups), np.arange(len(mesh.points)), kept)


def _turn(cells: NDArray[np.int32], kind: str, which: NDArray[np.bool_]) -> NDArray[np.int32]:
    cells = cells.copy()
    cells[which] = cells[which][:, _TURNED[kind]]
    return cells


def _are_reversed(faces: NDArray[np.int32], boundary: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which faces [m] run the other way round than the boundary face on the same nodes."""
    first = first_alike(np.concatenate([boundary, faces]))[len(boundary) :]
    on_boundary = first < len(boundary)
    reversed_ = np.zeros(len(faces), bool)
    mine = _from_smallest(faces[on_boundary])
    outward = _from_smallest(boundary[first[on_boundary]])
    reversed_[on_boundary] = mine[:, 1] != outward[:, 1]
    return reversed_


def _from_smallest(faces: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the faces rotated so that each begins at its smallest node."""
    k = faces.shape[1]
    shift = (faces.argmin(axis=1)[:, None] + np.arange(k)) % k
    return np.take_along_axis(faces, shift, axis=1)
