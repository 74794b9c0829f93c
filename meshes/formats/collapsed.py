"""Cells that share corners with themselves: hexahedra that are wedges, pyramids or tetrahedra, and so on down.

Many programs have no other way to write these than as hexahedra of which some nodes are the same.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from symplex.meshes.mesh import Mesh

# How to look at a cell so that it stays positively oriented.
_Views = tuple[tuple[int, ...], ...]


def _hexahedron_views() -> _Views:
    """Return the 24 rotations of a hexahedron, from a turn about its axis and one about a diagonal."""
    turns = ((1, 2, 3, 0, 5, 6, 7, 4), (0, 3, 7, 4, 1, 2, 6, 5))
    views = [tuple(range(8))]
    for view in views:
        views += [new for turn in turns if (new := tuple(view[k] for k in turn)) not in views]
    return tuple(views)


_WEDGE_VIEWS: _Views = (
    (0, 1, 2, 3, 4, 5), (1, 2, 0, 4, 5, 3), (2, 0, 1, 5, 3, 4),
    (3, 5, 4, 0, 2, 1), (5, 4, 3, 2, 1, 0), (4, 3, 5, 1, 0, 2),
)  # fmt: skip
_PYRAMID_VIEWS: _Views = ((0, 1, 2, 3, 4), (1, 2, 3, 0, 4), (2, 3, 0, 1, 4), (3, 0, 1, 2, 4))

# What a cell is if some of its nodes, in some view, are the same: the pairs of these, its type, and its nodes.
_RULES: dict[str, list[tuple[_Views, tuple[tuple[int, int], ...], str, tuple[int, ...]]]] = {
    "hexahedron": [(_hexahedron_views(), ((2, 3), (6, 7)), "wedge", (0, 1, 2, 4, 5, 6))],
    "wedge": [
        (_WEDGE_VIEWS, ((3, 4), (4, 5)), "tetra", (0, 1, 2, 3)),
        (_WEDGE_VIEWS, ((0, 3),), "pyramid", (1, 4, 5, 2, 0)),
    ],
    "pyramid": [
        (_PYRAMID_VIEWS, ((2, 3),), "tetra", (0, 1, 2, 4)),
        (_PYRAMID_VIEWS, ((3, 4),), "tetra", (0, 1, 2, 3)),
    ],
}


def expand_collapsed(mesh: Mesh) -> Mesh:
    """Return the mesh with hexahedra, wedges and pyramids that have the same node several times as what they are.

    A hexahedron with an edge for a face is a wedge, one with a point for a face a pyramid, and so on. Those that are
    nothing else stay, and have no volume at some corner. The new cells follow the others of their type, in the groups
    of the old.
    """
    for kind, rules in _RULES.items():
        cells = mesh.cells.get(kind, np.empty((0, 0), np.int32))
        ordered = np.sort(cells, axis=1)
        collapsed = bool((ordered[:, 1:] == ordered[:, :-1]).any())
        for views, same, new_kind, new_nodes in rules if collapsed else ():
            for view in views:
                seen = mesh.cells[kind][:, list(view)]
                found = np.logical_and.reduce([seen[:, a] == seen[:, b] for a, b in same])
                if found.any():
                    mesh = _changed(mesh, kind, np.flatnonzero(found), new_kind, seen[found][:, list(new_nodes)])
    cells = {kind: cells for kind, cells in mesh.cells.items() if len(cells)}
    return replace(mesh, cells=cells, cell_numbers={k: n for k, n in mesh.cell_numbers.items() if k in cells})


def _changed(mesh: Mesh, kind: str, which: NDArray[np.intp], new_kind: str, new: NDArray[np.int32]) -> Mesh:
    """Return the mesh with some cells of a type as cells of another type."""
    n = len(mesh.cells[kind])
    stays = np.ones(n, bool)
    stays[which] = False
    first = len(mesh.cells.get(new_kind, ()))
    place = np.where(stays, np.cumsum(stays) - 1, -1)
    new_place = np.full(n, -1)
    new_place[which] = first + np.arange(len(which))
    cells = {**mesh.cells, kind: mesh.cells[kind][stays]}
    cells[new_kind] = np.concatenate([mesh.cells[new_kind], new]) if first else np.ascontiguousarray(new)
    groups = {}
    for name, members in mesh.cell_groups.items():
        index = members.get(kind, np.empty(0, np.int32))
        more = np.sort(new_place[index[~stays[index]]]).astype(np.int32)
        changed = {**members, kind: place[index[stays[index]]].astype(np.int32)}
        changed[new_kind] = np.concatenate([members.get(new_kind, np.empty(0, np.int32)), more])
        groups[name] = {k: i for k, i in changed.items() if len(i)}
    numbers = dict(mesh.cell_numbers)
    if numbers:
        own = numbers.get(kind, np.zeros(n, np.int64))
        others = numbers.get(new_kind, np.zeros(first, np.int64))
        numbers |= {kind: own[stays], new_kind: np.concatenate([others, own[which]])}
    return replace(mesh, cells=cells, cell_groups=groups, cell_numbers=numbers)
