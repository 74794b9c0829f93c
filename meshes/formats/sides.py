"""The numbered sides of volume cells, by which files name faces."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from symplex.errors import MeshError
from symplex.meshes.kinds import FACE_KINDS, FACES, corners_of

# For each family of cells its sides 1, 2, … by their corners, as the manuals of the formats number them.
Sides = dict[str, tuple[str, ...]]
ABAQUS: Sides = {
    "tetra": ("012", "031", "132", "230"),
    "hexahedron": ("0123", "4765", "0451", "1562", "2673", "3740"),
    "wedge": ("012", "354", "0341", "1452", "2530"),
    "pyramid": ("0123", "041", "142", "243", "340"),
}
EXODUS: Sides = {
    "tetra": ("013", "123", "032", "021"),
    "hexahedron": ("0154", "1265", "2376", "0473", "0321", "4567"),
    "wedge": ("0143", "1254", "0352", "021", "345"),
    "pyramid": ("014", "124", "234", "043", "0321"),
}


def faces_on_side(sides: Sides, kind: str, cells: NDArray[np.int64], side: int) -> tuple[str, NDArray[np.int64]]:
    """Return the type and the nodes [m, k] of the faces on one side, 1 and up, of cells, outward."""
    family = kind.rstrip("0123456789")
    names = sides.get(family, ())
    if not 1 <= side <= len(names):
        raise MeshError(f"there is no side {side} of {kind} cells.")
    corners = {int(corner) for corner in names[side - 1]}
    n = len(corners)
    # Of types whose faces are not known, by their corners.
    face = next(face for face in FACES.get(kind, FACES[family]) if set(face[:n]) == corners)
    return FACE_KINDS[len(face)], cells[:, list(face)]


def edges_on_side(kind: str, cells: NDArray[np.int64], side: int) -> tuple[str, NDArray[np.int64]]:
    """Return the type and the nodes of the edges on one side, 1 and up, of flat cells, or of the ends of lines."""
    corners = corners_of(kind, cells)
    k, n = side - 1, corners.shape[1]
    if not 0 <= k < n or n > 4:
        raise MeshError(f"there is no side {side} of {kind} cells.")
    if n == 2:
        return "vertex", corners[:, [k]]
    ends = [k, (k + 1) % n]
    return ("line3", cells[:, [*ends, n + k]]) if cells.shape[1] >= 2 * n else ("line", cells[:, ends])
