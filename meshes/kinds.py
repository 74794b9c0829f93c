"""Types of cells, by meshio's names: their dimension, corners and faces. Nodes are numbered as in VTK."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from symplex.errors import MeshError

# Faces of the volume cells, outward normal by the right-hand rule for a positively oriented cell.
FACES: dict[str, tuple[tuple[int, ...], ...]] = {
    "tetra": ((0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)),
    "tetra10": ((0, 2, 1, 6, 5, 4), (0, 1, 3, 4, 8, 7), (1, 2, 3, 5, 9, 8), (0, 3, 2, 7, 9, 6)),
    "hexahedron": ((0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)),
    "hexahedron20": (
        (0, 3, 2, 1, 11, 10, 9, 8), (4, 5, 6, 7, 12, 13, 14, 15), (0, 1, 5, 4, 8, 17, 12, 16),
        (1, 2, 6, 5, 9, 18, 13, 17), (2, 3, 7, 6, 10, 19, 14, 18), (3, 0, 4, 7, 11, 16, 15, 19),
    ),
    "hexahedron27": (
        (0, 3, 2, 1, 11, 10, 9, 8, 24), (4, 5, 6, 7, 12, 13, 14, 15, 25), (0, 1, 5, 4, 8, 17, 12, 16, 22),
        (1, 2, 6, 5, 9, 18, 13, 17, 21), (2, 3, 7, 6, 10, 19, 14, 18, 23), (3, 0, 4, 7, 11, 16, 15, 19, 20),
    ),
    "wedge": ((0, 2, 1), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5)),
    "wedge15": (
        (0, 2, 1, 8, 7, 6), (3, 4, 5, 9, 10, 11),
        (0, 1, 4, 3, 6, 13, 9, 12), (1, 2, 5, 4, 7, 14, 10, 13), (2, 0, 3, 5, 8, 12, 11, 14),
    ),
    "wedge18": (
        (0, 2, 1, 8, 7, 6), (3, 4, 5, 9, 10, 11),
        (0, 1, 4, 3, 6, 13, 9, 12, 15), (1, 2, 5, 4, 7, 14, 10, 13, 16), (2, 0, 3, 5, 8, 12, 11, 14, 17),
    ),
    "pyramid": ((0, 3, 2, 1), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)),
    "pyramid13": (
        (0, 3, 2, 1, 8, 7, 6, 5),
        (0, 1, 4, 5, 10, 9), (1, 2, 4, 6, 11, 10), (2, 3, 4, 7, 12, 11), (3, 0, 4, 8, 9, 12),
    ),
}  # fmt: skip

# Edges of linear cells, in the order of the nodes that quadratic cells have in the middle of them.
EDGES: dict[str, tuple[tuple[int, int], ...]] = {
    "line": ((0, 1),),
    "triangle": ((0, 1), (1, 2), (2, 0)),
    "quad": ((0, 1), (1, 2), (2, 3), (3, 0)),
    "tetra": ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)),
    "hexahedron": (
        (0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7),
    ),
    "wedge": ((0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3), (1, 4), (2, 5)),
    "pyramid": ((0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4), (2, 4), (3, 4)),
}  # fmt: skip
# Corners around the nodes that cells have in the middle of quadrilaterals and of the cell, in their order.
MIDDLES: dict[str, tuple[tuple[int, ...], ...]] = {
    "quad": ((0, 1, 2, 3),),
    "hexahedron": (
        (0, 3, 7, 4), (1, 2, 6, 5), (0, 1, 5, 4), (3, 2, 6, 7), (0, 1, 2, 3), (4, 5, 6, 7), (0, 1, 2, 3, 4, 5, 6, 7),
    ),
    "wedge": ((0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5)),
}  # fmt: skip

_Integer = TypeVar("_Integer", bound=np.integer)
# By the number of their nodes.
FACE_KINDS = {3: "triangle", 4: "quad", 6: "triangle6", 8: "quad8", 9: "quad9"}

_CORNERS = {"vertex": 1, "line": 2, "triangle": 3, "quad": 4, "tetra": 4, "pyramid": 5, "wedge": 6, "hexahedron": 8}
_DIMENSIONS = {"vertex": 0, "line": 1, "triangle": 2, "quad": 2, "polygon": 2}
_DIMENSIONS |= dict.fromkeys(("tetra", "hexahedron", "wedge", "pyramid", "polyhedron"), 3)
_PATTERN = re.compile(rf"({'|'.join(_DIMENSIONS)})\d*")
# Other names that are in use for types of cells.
_OTHER_NAMES = {
    "tet": "tetra", "tets": "tetra", "tet4": "tetra", "tetra4": "tetra", "tetrahedron": "tetra", "tetrahedra": "tetra",
    "tet10": "tetra10", "hex": "hexahedron", "hexa": "hexahedron", "hex8": "hexahedron", "hexahedron8": "hexahedron",
    "hexahedra": "hexahedron", "brick": "hexahedron", "prism": "wedge", "penta": "wedge", "tri": "triangle",
    "triangle3": "triangle", "quadrangle": "quad", "quadrilateral": "quad", "quad4": "quad", "bar": "line",
    "truss": "line", "edge": "line", "beam": "line", "line2": "line", "point": "vertex", "node": "vertex",
}  # fmt: skip


def dimension_of(kind: str) -> int:
    """Return the dimension of cells of a type (meshio's name): 3 for ``tetra`` and ``tetra10``, 0 for ``vertex``."""
    found = _PATTERN.fullmatch(kind)
    if found is None:
        raise MeshError(f"cells of the type '{kind}' are not supported; known are: {', '.join(_DIMENSIONS)}.")
    return _DIMENSIONS[found[1]]


def require_kind(kind: str) -> None:
    """Refuse the name of a type of cells that does not exist, with the one that may be meant."""
    if _PATTERN.fullmatch(kind) and kind not in _OTHER_NAMES:
        return
    close = get_close_matches(kind.lower(), [*_CORNERS, *_OTHER_NAMES], n=1)
    meant = _OTHER_NAMES.get(close[0], close[0]) if close else None
    hint = f"did you mean '{meant}'? Types" if meant else "types"
    raise MeshError(f"there are no cells of a type '{kind}'; {hint} are {', '.join(_CORNERS)}, tetra10 and the like.")


def corners_of(kind: str, cells: NDArray[_Integer]) -> NDArray[_Integer]:
    """Return the corners [m, c] of cells [m, k], without the nodes between them."""
    return cells[:, : _CORNERS.get(kind.rstrip("0123456789"), cells.shape[1])]


def faces_of_cells(cells: Mapping[str, NDArray[np.int32]]) -> dict[str, NDArray[np.int32]]:
    """Return all faces [f, k] of volume cells, outward, by type: those between two cells twice.

    Cells of types whose faces are not known have none.
    """
    return {
        kind: np.concatenate([of[:, list(face)] for of, face in parts]) for kind, parts in face_parts(cells).items()
    }


def face_parts(cells: Mapping[str, NDArray[np.int32]]) -> dict[str, list[tuple[NDArray[np.int32], tuple[int, ...]]]]:
    """Return what `faces_of_cells` puts together by type of faces: cells [m, k], and which of their nodes it has."""
    parts: dict[str, list[tuple[NDArray[np.int32], tuple[int, ...]]]] = {}
    for kind, faces in FACES.items():
        if kind in cells and len(cells[kind]):
            for face in faces:
                parts.setdefault(FACE_KINDS[len(face)], []).append((cells[kind], face))
    return parts


def face_corners(faces: Mapping[str, NDArray[np.int32]]) -> NDArray[np.int32]:
    """Return the corners [f, 4] of triangles and quadrilaterals of any order, of triangles with the smallest one twice.

    Rows with the same nodes are the same face, also where one is linear and the other quadratic. Polygons are rows of
    one node, which no face is.
    """
    rows = [np.empty((0, 4), np.int32)]
    for kind, cells in faces.items():
        corners = corners_of(kind, cells)[:, : 1 if kind.startswith("polygon") else None]
        filling = corners.min(axis=1, keepdims=True, initial=np.iinfo(np.int32).max)
        rows.append(np.hstack([corners, *[filling] * (4 - corners.shape[1])]))
    return np.concatenate(rows)
