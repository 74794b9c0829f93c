"""The numbered sides of volume cells, by which files name faces."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from symplex.errors import MeshError
from symplex.meshes.kinds import FACE_KINDS, FACES

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


def faces_on_side(sides: Sides, kind: str, cells: NDArray[np.integer], side: int) -> tuple[str, NDArray[np.integer]]:
    """Return the type and the nodes [m, k] of the faces on one side, 1 and up, of cells, outward.

    Raises
    ------
    MeshError
        If there is no such side.
    """
    names = sides.get(kind.rstrip("0123456789"), ())
    if not 1 <= side <= len(names) or kind not in FACES:
        raise MeshError(f"there is no side {side} of {kind} cells.")
    corners = {int(corner) for corner in names[side - 1]}
    n = len(corners)
    face = next(face for face in FACES[kind] if set(face[:n]) == corners)
    return FACE_KINDS[len(face)], cells[:, list(face)]
