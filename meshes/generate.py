"""Structured meshes: boxes of tetrahedra or hexahedra, the cubes of the force-stepping paper, lattices of bars."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray

from symplex.base.arguments import checked, described
from symplex.errors import MeshError
from symplex.meshes.kinds import FACES
from symplex.meshes.memory import require_memory
from symplex.meshes.mesh import Mesh
from symplex.meshes.renumber import renumber

SPLITS = ("24", "6", "hexahedra", "body-centred")
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

# What a cell of a box takes of memory while it is cut and renumbered, in bytes, as measured, and into how many parts it
# is cut.
_COST = {"24": (3000, 24), "6": (900, 6), "hexahedra": (300, 1), "body-centred": (1800, 12)}
_COST_OF_BAR = 120


@partial(checked, but=("cells",))
def box(
    size: Sequence[float],
    cells: Sequence[int],
    *,
    split: str = "24",
    origin: Sequence[float] = (0.0, 0.0, 0.0),
) -> Mesh:
    """Return a box of nx × ny × nz equal cells, each cut the same way.

    Parameters
    ----------
    size : three floats
        Edge lengths in m.
    cells : three ints
        Number of cells along each edge.
    split : {"24", "6", "hexahedra", "body-centred"}
        How a cell is cut. ``"24"``: into 24 tetrahedra through its centre and the centres of its six faces; no
        direction is preferred. ``"6"``: into the 6 tetrahedra around one diagonal (Kuhn), on the vertices only.
        ``"hexahedra"``: not at all. ``"body-centred"``: tetrahedra of the body-centred cubic lattice, each on one
        edge of a cell face and the centres of the two cells beside it, the best-shaped ones that repeat; on the
        boundary, where there is one centre only, the face is halved along alternating diagonals. All have the same
        volume, a twelfth of a cell.
    origin : three floats, default 0
        The corner with the smallest coordinates, in m.

    Returns
    -------
    Mesh
        Positively oriented, with the group ``body`` (all volume cells) and the groups ``x_min``, ``x_max``,
        ``y_min`` … (the sides, as outward triangles or quads), numbered as by ``renumber``.

    Raises
    ------
    MeshError
        If a size or a number of cells is not positive, the split is unknown, or there are more cells than fit into
        memory.
    """
    lengths, counts = _checked(size, cells, dim=3)
    if counts.min() < 1 or lengths.min() <= 0:
        raise MeshError(f"a box needs positive sizes and at least one cell each way, not {size} m and {cells} cells.")
    if split not in _COST:
        raise MeshError(f"a box cannot be split by '{split}'; it can by: {', '.join(SPLITS)}.")
    _require_size("box", counts, *_COST[split])
    grid = _Grid(counts)
    if split == "24":
        lattice, kind, body, sides = _cut_in_24(grid)
    elif split == "6":
        lattice, kind, body, sides = _cut_in_6(grid)
    elif split == "hexahedra":
        lattice, kind, body, sides = _uncut(grid)
    else:
        lattice, kind, body, sides = _body_centred(grid)
    if len(origin) != 3 or not np.isfinite(origin).all():
        raise MeshError(f"the origin of a box must be three finite numbers, not {described(origin)}.")
    points = np.asarray(origin, float) + lattice * (lengths / counts)
    return renumber(_with_sides(points, kind, body, sides))


@checked
def cube_mesh(name: str, size: float = 0.1) -> Mesh:
    """Return one of the three meshes of the oblique impact of a cube, with edges along the axes from the origin.

    ``"I"``: 2×2×2 cells of 24 tetrahedra (71 nodes); ``"II"``: 4×4×4 cells on their vertices only (125 nodes);
    ``"III"``: 4×4×4 cells of 24 tetrahedra (429 nodes). The paper prints the numbers of nodes; the construction
    reproduces them.

    Parameters
    ----------
    name : {"I", "II", "III"}
    size : float, default 0.1
        Edge length in m.

    Raises
    ------
    MeshError
        If there is no mesh of that name.

    References
    ----------
    Gonzalez, Schmidt and Ortiz, Force-stepping integrators in Lagrangian mechanics, section 6.3.
    """
    recipes = {"I": (2, "24"), "II": (4, "6"), "III": (4, "24")}
    if name not in recipes:
        raise MeshError(f"there is no cube mesh '{name}'; there are: {', '.join(recipes)}.")
    n, split = recipes[name]
    return box((size,) * 3, (n,) * 3, split=split)


# -- boxes ------------------------------------------------------------------------------------------------------


class _Grid:
    """The cells of a box with their vertices, and where further nodes are numbered."""

    def __init__(self, counts: NDArray[np.int64]):
        self.counts = counts
        self.cells = _lattice(counts)
        self.vertices = _lattice(counts + 1)
        corner = self.cells[:, None, :] + _CORNERS
        self.corners = _flat_index(corner, counts + 1).astype(np.int32)

    def on_side(self, side: str) -> NDArray[np.intp]:
        """Return the indices of the cells along a side."""
        axis, end = "xyz".index(side[0]), side.endswith("max")
        return np.flatnonzero(self.cells[:, axis] == (self.counts[axis] - 1 if end else 0))


def _cut_in_24(grid: _Grid):
    n_cells = len(grid.cells)
    first_centre = len(grid.vertices)
    centre = np.arange(first_centre, first_centre + n_cells, dtype=np.int32)
    points = [grid.vertices, grid.cells + 0.5]
    # Centres of the faces across each axis: those with the cell's own index and, on its far side, the next.
    face_centre: Blocks = {}
    first = first_centre + n_cells
    for axis, letter in enumerate("xyz"):
        step = np.eye(3, dtype=np.int64)[axis]
        faces = _lattice(grid.counts + step)
        points.append(faces + 0.5 * (1 - step))
        for end, shift in (("min", 0 * step), ("max", step)):
            face_centre[f"{letter}_{end}"] = (first + _flat_index(grid.cells + shift, grid.counts + step)).astype(
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


def _cut_in_6(grid: _Grid):
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


def _uncut(grid: _Grid):
    sides = {side: grid.corners[grid.on_side(side)][:, face] for side, face in SIDES.items()}
    return grid.vertices, "hexahedron", grid.corners, sides


def _body_centred(grid: _Grid):
    n_cells = len(grid.cells)
    centre = np.arange(len(grid.vertices), len(grid.vertices) + n_cells, dtype=np.int32)
    tetrahedra, sides = [], {}
    for axis, letter in enumerate("xyz"):
        inner = np.flatnonzero(grid.cells[:, axis] < grid.counts[axis] - 1)
        next_cell = _flat_index(grid.cells[inner] + np.eye(3, dtype=np.int64)[axis], grid.counts)
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


def _with_sides(points: NDArray[np.float64], kind: str, body: NDArray[np.int32], sides: Blocks) -> Mesh:
    face_kind = "quad" if kind == "hexahedron" else "triangle"
    groups: dict[str, Mapping[str, NDArray[np.int32]]] = {"body": {kind: np.arange(len(body), dtype=np.int32)}}
    first = 0
    for side in sorted(sides):
        groups[side] = {face_kind: np.arange(first, first + len(sides[side]), dtype=np.int32)}
        first += len(sides[side])
    faces = np.concatenate([sides[side] for side in sorted(sides)])
    return Mesh(points, {kind: body, face_kind: faces.astype(np.int32)}, groups)


# -- lattices of bars -------------------------------------------------------------------------------------------

DIAGONALS = ("none", "single", "cross", "body", "all")


def bar_lattice(
    size: Sequence[float],
    cells: Sequence[int],
    *,
    diagonals: str = "none",
    origin: Sequence[float] | None = None,
) -> Mesh:
    """Return a lattice of bars (``line`` cells) on the vertices of a regular grid, on a line, in the plane or in space.

    One cell count makes a chain, two a plane lattice, three a space lattice. A count of 0 (with any size) keeps a
    direction without cells: ``bar_lattice((1, 0, 0), (10, 0, 0))`` is a chain in space.

    Parameters
    ----------
    size : sequence of dim floats
        Extent in m.
    cells : sequence of dim ints
        Number of cells each way.
    diagonals : {"none", "single", "cross", "body", "all"}
        Bars besides those along the axes. ``"single"``: one diagonal in each square and one in each cube, which
        makes simplices (a rigid truss); ``"cross"``: both diagonals of each square; ``"body"``: the four of each
        cube; ``"all"``: both of these.
    origin : sequence of dim floats, default 0
        The corner with the smallest coordinates, in m.

    Returns
    -------
    Mesh
        With the cell groups ``axial`` and, if there are any, ``diagonal``, and the point groups ``x_min``, ``x_max`` …

    Raises
    ------
    MeshError
        If sizes do not match, a direction with cells has no size, the diagonals are unknown, or there are more cells
        than fit into memory.
    """
    lengths, counts = _checked(size, cells, dim=None)
    dim = len(counts)
    if counts.min() < 0 or counts.max() < 1 or np.any(lengths[counts > 0] <= 0):
        raise MeshError(f"a lattice needs a positive size wherever it has cells, not {size} m and {cells} cells.")
    if diagonals not in DIAGONALS:
        raise MeshError(f"a lattice cannot have diagonals '{diagonals}'; it can have: {', '.join(DIAGONALS)}.")
    directions = _bar_directions(dim, diagonals)
    _require_size("lattice", counts + 1, _COST_OF_BAR * len(directions), len(directions))
    vertices = _lattice(counts + 1)
    bars = {"axial": [], "diagonal": []}
    for offset in directions:
        ends = vertices + offset
        inside = np.all((ends >= 0) & (ends <= counts), axis=1)
        pair = np.stack([np.flatnonzero(inside), _flat_index(ends[inside], counts + 1)], axis=1)
        bars["axial" if np.abs(offset).sum() == 1 else "diagonal"].append(pair.astype(np.int32))
    groups, first = {}, 0
    for name, parts in bars.items():
        count = sum(len(part) for part in parts)
        if count:
            groups[name] = {"line": np.arange(first, first + count, dtype=np.int32)}
        first += count
    corner = np.zeros(dim) if origin is None else np.asarray(origin, float)
    spacing = np.where(counts > 0, lengths / np.maximum(counts, 1), 0.0)
    points = (corner + vertices * spacing).astype(np.float64)
    sides = {
        f"{letter}_{end}": np.flatnonzero(vertices[:, axis] == (counts[axis] if end == "max" else 0)).astype(np.int32)
        for axis, letter in zip(range(dim), "xyz", strict=False)
        if counts[axis] > 0
        for end in ("min", "max")
    }
    return renumber(Mesh(points, {"line": np.concatenate(bars["axial"] + bars["diagonal"])}, groups, sides))


def ring(radius: float, bars: int) -> Mesh:
    """Return a regular polygon of bars in the plane about the origin, counter-clockwise.

    Parameters
    ----------
    radius : float
        Distance of the nodes from the origin in m.
    bars : int
        Number of bars, at least 3.

    Raises
    ------
    MeshError
        If the radius is not positive or there are fewer than three bars.
    """
    if not (0 < radius < np.inf and bars >= 3):
        raise MeshError(f"a ring needs a positive radius and at least 3 bars, not {radius} m and {bars}.")
    _require_size("ring", np.array([bars]), _COST_OF_BAR, 1)
    angle = 2 * np.pi * np.arange(bars) / bars
    node = np.arange(bars, dtype=np.int32)
    lines = np.stack([node, np.roll(node, -1)], axis=1)
    return Mesh(radius * np.stack([np.cos(angle), np.sin(angle)], axis=1), {"line": lines}, {"axial": {"line": node}})


def _bar_directions(dim: int, diagonals: str) -> list[NDArray[np.int64]]:
    """Return the offset to the next vertex along each direction of bars; of each pair ±offset the larger."""
    wanted = {
        "none": lambda offset: False,
        "single": lambda offset: min(offset) >= 0,
        "cross": lambda offset: np.count_nonzero(offset) == 2,
        "body": lambda offset: np.count_nonzero(offset) == 3,
        "all": lambda offset: True,
    }[diagonals]
    half = [offset for offset in product((-1, 0, 1), repeat=dim) if offset > (0,) * dim]
    return [np.array(offset) for offset in half if np.count_nonzero(offset) == 1 or wanted(offset)]


# -- regular grids ----------------------------------------------------------------------------------------------


def _checked(size: Sequence[float], cells: Sequence[int], dim: int | None):
    try:
        lengths, counts = np.asarray(size, float), np.asarray(cells)
    except ValueError:
        raise MeshError(f"numbers of cells must be whole numbers, not {described(cells)}.") from None
    right = (1, 2, 3) if dim is None else (dim,)
    if lengths.ndim != 1 or lengths.shape != counts.shape or len(counts) not in right:
        wanted = " or ".join(str(n) for n in right)
        raise MeshError(f"size {described(size)} and cells {described(cells)} must have the same length, {wanted}.")
    whole = np.issubdtype(counts.dtype, np.integer) and bool((counts <= np.iinfo(np.int32).max).all())
    if not np.all(np.isfinite(lengths)) or not whole:
        raise MeshError(f"sizes must be finite and cell counts whole numbers below 2³¹, not {size} and {cells}.")
    return lengths, counts.astype(np.int64)


def _require_size(what: str, counts: NDArray[np.int64], cost: int, parts: int) -> None:
    """Refuse more cells than fit into memory, or can be numbered; counts may be beyond what 64 bits hold together."""
    n = math.prod(int(count) for count in counts)
    called = f"a {what} of {' × '.join(str(count) for count in counts)} cells"
    require_memory(called, float(n) * cost)
    if n * parts > np.iinfo(np.int32).max:
        raise MeshError(f"{called} would have more elements than can be numbered, {n * parts:.3g}; take fewer cells.")


def _lattice(shape: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the index vectors [n, dim] of a grid, the first index fastest."""
    grids = np.meshgrid(*(np.arange(n) for n in shape[::-1]), indexing="ij")
    return np.stack([grid.ravel() for grid in grids[::-1]], axis=1)


def _flat_index(index: NDArray[np.int64], shape: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the place of index vectors [..., dim] in the numbering of ``_lattice``."""
    strides = np.concatenate([[1], np.cumprod(shape[:-1])])
    return index @ strides
