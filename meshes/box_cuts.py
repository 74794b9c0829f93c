"""How the cells of a box are cut: its nodes on a grid, its cells, and the faces on its sides."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from symplex.meshes.kinds import FACES

# Name of each side of a box, and the corners of a cell on it (in the order of FACES["hexahedron"], outward).
SIDES: dict[str, tuple[int, ...]] = {
    "z_min": FACES["hexahedron"][0],
    "z_max": FACES["hexahedron"][1],
    "y_min": FACES["hexahedron"][2],
    "x_max": FACES["hexahedron"][3],
    "y_max": FACES["hexahedron"][4],
    "x_min": FACES["hexahedron"][5],
}
# Corners of a cell in meshio's order of a hexahedron, in units of the cell.
_CORNERS = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)])

Blocks = dict[str, NDArray[np.int32]]

# The nodes in units of cells, the type of the cells, the cells, and the faces on each side.
Cut = tuple[NDArray[np.float64], str, NDArray[np.int32], Blocks]


class Grid:
    """The cells of a box with their vertices, and where further nodes are numbered."""

    def __init__(self, counts: NDArray[np.int64]):
        self.counts = counts
        self.cells = lattice(counts)
        self.vertices = lattice(counts + 1)
        corner = self.cells[:, None, :] + _CORNERS
        self.corners = flat_index(corner, counts + 1).astype(np.int32)

    def on_side(self, side: str) -> NDArray[np.intp]:
        """Return the indices of the cells along a side."""
        axis, end = "xyz".index(side[0]), side.endswith("max")
        return np.flatnonzero(self.cells[:, axis] == (self.counts[axis] - 1 if end else 0))


def _cut_in_24(grid: Grid) -> Cut:
    n_cells = len(grid.cells)
    first_centre = len(grid.vertices)
    centre = np.arange(first_centre, first_centre + n_cells, dtype=np.int32)
    points = [grid.vertices, grid.cells + 0.5]
    # Centres of the faces across each axis: those with the cell's own index and, on its far side, the next.
    face_centre: Blocks = {}
    first = first_centre + n_cells
    for axis, letter in enumerate("xyz"):
        step = np.eye(3, dtype=np.int64)[axis]
        faces = lattice(grid.counts + step)
        points.append(faces + 0.5 * (1 - step))
        for end, shift in (("min", 0 * step), ("max", step)):
            face_centre[f"{letter}_{end}"] = (first + flat_index(grid.cells + shift, grid.counts + step)).astype(
                np.int32
            )
        first += len(faces)
    tetrahedra, sides = [], {}
    for side, face in SIDES.items():
        edges = list(zip(face, (*face[1:], face[0]), strict=True))
        for a, b in edges:
            a_node, b_node = grid.corners[:, a], grid.corners[:, b]
            tetrahedra.append(np.stack([b_node, a_node, face_centre[side], centre], axis=1))
        at = grid.on_side(side)
        sides[side] = np.concatenate(
            [np.stack([grid.corners[at, a], grid.corners[at, b], face_centre[side][at]], axis=1) for a, b in edges]
        )
    return np.concatenate(points), "tetra", np.concatenate(tetrahedra), sides


def _cut_in_6(grid: Grid) -> Cut:
    corner_of = {tuple(int(c) for c in corner): k for k, corner in enumerate(_CORNERS)}
    local = []
    for path in permutations(range(3)):
        steps = np.cumsum([np.zeros(3, int), *np.eye(3, dtype=int)[list(path)]], axis=0)
        a, b, c, d = (corner_of[tuple(int(c) for c in step)] for step in steps)
        even = np.linalg.det(np.eye(3)[list(path)]) > 0
        local.append((a, b, c, d) if even else (a, c, b, d))
    tetrahedra = np.concatenate([grid.corners[:, tetrahedron] for tetrahedron in np.array(local)])
    sides = {}
    for side, face in SIDES.items():
        triangles = [
            [tetrahedron[k] for k in triangle]
            for tetrahedron in local
            for triangle in FACES["tetra"]
            if {tetrahedron[k] for k in triangle} <= set(face)
        ]
        at = grid.on_side(side)
        sides[side] = np.concatenate([grid.corners[at][:, triangle] for triangle in triangles])
    return grid.vertices, "tetra", tetrahedra, sides


def _uncut(grid: Grid) -> Cut:
    sides = {side: grid.corners[grid.on_side(side)][:, face] for side, face in SIDES.items()}
    return grid.vertices, "hexahedron", grid.corners, sides


def _body_centred(grid: Grid) -> Cut:
    n_cells = len(grid.cells)
    centre = np.arange(len(grid.vertices), len(grid.vertices) + n_cells, dtype=np.int32)
    tetrahedra, sides = [], {}
    for axis, letter in enumerate("xyz"):
        inner = np.flatnonzero(grid.cells[:, axis] < grid.counts[axis] - 1)
        next_cell = flat_index(grid.cells[inner] + np.eye(3, dtype=np.int64)[axis], grid.counts)
        face = SIDES[f"{letter}_max"]
        for a, b in zip(face, (*face[1:], face[0]), strict=True):
            ends = grid.corners[inner, b], grid.corners[inner, a]
            tetrahedra.append(np.stack([*ends, centre[next_cell], centre[inner]], axis=1))
    for side, face in SIDES.items():
        at = grid.on_side(side)
        odd = (grid.cells[at].sum(axis=1) % 2).astype(bool)
        a, b, c, d = grid.corners[at][:, face].T
        first = np.where(odd, [a, b, c], [a, b, d]).T
        second = np.where(odd, [a, c, d], [b, c, d]).T
        sides[side] = np.concatenate([first, second])
        for triangle in (first, second):
            tetrahedra.append(np.column_stack([triangle[:, [0, 2, 1]], centre[at]]).astype(np.int32))
    return np.concatenate([grid.vertices, grid.cells + 0.5]), "tetra", np.concatenate(tetrahedra), sides


def _cut_in_wedges(grid: Grid) -> Cut:
    """Cut cells along one diagonal across z."""
    wedges = np.concatenate([grid.corners[:, half] for half in _HALVES])
    sides = {}
    for side, face in SIDES.items():
        at = grid.corners[grid.on_side(side)]
        if side[0] == "z":
            halves = [[corner for corner in half if corner in face] for half in _HALVES]
            # the bottom's normal points down
            turned = [half if side == "z_max" else half[::-1] for half in halves]
            sides[side] = np.concatenate([at[:, half] for half in turned])
        else:
            sides[side] = at[:, face]
    return grid.vertices, "wedge", wedges, sides


_HALVES = ([0, 1, 2, 4, 5, 6], [0, 2, 3, 4, 6, 7])


def _cut_in_pyramids(grid: Grid) -> Cut:
    centre = np.arange(len(grid.vertices), len(grid.vertices) + len(grid.cells), dtype=np.int32)
    inward = [grid.corners[:, face[::-1]] for face in SIDES.values()]
    pyramids = np.concatenate([np.column_stack([base, centre]) for base in inward])
    sides = {side: grid.corners[grid.on_side(side)][:, face] for side, face in SIDES.items()}
    return np.concatenate([grid.vertices, grid.cells + 0.5]), "pyramid", pyramids, sides


# By the name of a split: how, and into how many cells, and what a cell takes of memory meanwhile in bytes, as measured.
CUTS = {
    "24": (_cut_in_24, 24, 3000),
    "6": (_cut_in_6, 6, 900),
    "hexahedra": (_uncut, 1, 300),
    "body-centred": (_body_centred, 12, 1800),
    "wedges": (_cut_in_wedges, 2, 500),
    "pyramids": (_cut_in_pyramids, 6, 1200),
}


# -- regular grids ----------------------------------------------------------------------------------------------


def lattice(shape: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the index vectors [n, dim] of a grid, the first index fastest."""
    grids = np.meshgrid(*(np.arange(n) for n in shape[::-1]), indexing="ij")
    return np.stack([grid.ravel() for grid in grids[::-1]], axis=1)


def flat_index(index: NDArray[np.int64], shape: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the place of index vectors [..., dim] in the numbering of ``lattice``."""
    strides = np.concatenate([[1], np.cumprod(shape[:-1])])
    return index @ strides
