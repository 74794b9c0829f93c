"""Quadratic meshes from linear ones: a node in the middle of each edge."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from symplex.base.arguments import checked
from symplex.errors import MeshError
from symplex.meshes.mesh import Mesh

# The edges of linear cells in the order of the nodes of the quadratic ones (meshio's, which is VTK's).
_EDGES = {
    "tetra": ("tetra10", [(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)]),
    "triangle": ("triangle6", [(0, 1), (1, 2), (2, 0)]),
    "line": ("line3", [(0, 1)]),
}


@checked
def quadratic(mesh: Mesh) -> Mesh:
    """Return the mesh with tetrahedra, triangles and lines made quadratic, with nodes in the middle of straight edges.

    Points keep their indices, the new ones follow. Groups of cells keep their members, under the new type of cells.

    Raises
    ------
    MeshError
        If there are cells of other types than tetrahedra, triangles, lines and vertices.
    """
    others = sorted({*mesh.cells} - {*_EDGES, "vertex"})
    if others:
        raise MeshError(
            f"only tetrahedra, triangles and lines can be made quadratic; the mesh has {', '.join(others)}."
        )
    kinds = [kind for kind in mesh.cells if kind in _EDGES and len(mesh.cells[kind])]
    # Each edge of each cell, lower node first, as one number.
    n = len(mesh.points)
    ends = [np.sort(mesh.cells[kind][:, np.array(_EDGES[kind][1])], axis=2).astype(np.int64) for kind in kinds]
    keys = [pairs[..., 0] * n + pairs[..., 1] for pairs in ends]
    edges, place = np.unique(np.concatenate([np.empty(0, np.int64), *map(np.ravel, keys)]), return_inverse=True)
    middles = 0.5 * (mesh.points[edges // n] + mesh.points[edges % n])
    cells: dict[str, NDArray[np.int32]] = {k: c for k, c in mesh.cells.items() if k == "vertex"}
    first = 0
    for kind, key in zip(kinds, keys, strict=True):
        new = (n + place[first : first + key.size].reshape(key.shape)).astype(np.int32)
        cells[_EDGES[kind][0]] = np.ascontiguousarray(np.hstack([mesh.cells[kind], new]))
        first += key.size
    names = {kind: new for kind, (new, _) in _EDGES.items()}
    groups = {
        name: {names.get(kind, kind): index for kind, index in members.items()}
        for name, members in mesh.cell_groups.items()
    }
    return Mesh(np.concatenate([mesh.points, middles]), cells, groups, mesh.point_groups)
