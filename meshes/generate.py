"""Structured meshes: boxes of any linear cells, the cubes of the force-stepping paper, lattices of bars."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product

import numpy as np
from numpy.typing import NDArray

from symplex.base.arguments import checked, described
from symplex.errors import MeshError
from symplex.meshes.box_cuts import CUTS, Blocks, Grid, flat_index, lattice
from symplex.meshes.kinds import FACE_KINDS
from symplex.meshes.memory import require_memory
from symplex.meshes.mesh import Mesh
from symplex.meshes.renumber import renumber

SPLITS = tuple(CUTS)
_COST_OF_BAR = 120  # bytes, as measured


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
    split : {"24", "6", "hexahedra", "body-centred", "wedges", "pyramids"}
        How a cell is cut. ``"24"``: into 24 tetrahedra through its centre and the centres of its six faces; no
        direction is preferred. ``"6"``: into the 6 tetrahedra around one diagonal (Kuhn), on the vertices only.
        ``"hexahedra"``: not at all. ``"body-centred"``: tetrahedra of the body-centred cubic lattice, each on one
        edge of a cell face and the centres of the two cells next to it, the best-shaped ones that repeat; on the
        boundary, where there is one centre only, the face is halved along alternating diagonals. All have the same
        volume, a twelfth of a cell. ``"wedges"``: into two, on triangles across z. ``"pyramids"``: into six, on its
        faces with their tips in its centre.
    origin : three floats, default 0
        The corner with the smallest coordinates, in m.

    Returns
    -------
    Mesh
        Positively oriented, with the group ``body`` (all volume cells) and the groups ``x_min``, ``x_max``,
        ``y_min`` … (the sides, as outward triangles or quads, of wedges both), numbered as by ``renumber``.

    Raises
    ------
    MeshError
        If a size or a number of cells is not positive, the split is unknown, or there are more cells than fit into
        memory.
    """
    lengths, counts = _checked(size, cells, dim=3)
    if counts.min() < 1 or lengths.min() <= 0:
        raise MeshError(f"a box needs positive sizes and at least one cell each way, not {size} m and {cells} cells.")
    if split not in CUTS:
        raise MeshError(f"a box cannot be split by '{split}'; it can by: {', '.join(SPLITS)}.")
    cut, parts, cost = CUTS[split]
    _require_size("box", counts, cost, parts)
    lattice_points, kind, body, sides = cut(Grid(counts))
    if len(origin) != 3 or not np.isfinite(origin).all():
        raise MeshError(f"the origin of a box must be three finite numbers, not {described(origin)}.")
    points = np.asarray(origin, float) + lattice_points.astype(float) * (lengths / counts)
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


def _with_sides(points: NDArray[np.float64], kind: str, body: NDArray[np.int32], sides: Blocks) -> Mesh:
    groups: dict[str, Mapping[str, NDArray[np.int32]]] = {"body": {kind: np.arange(len(body), dtype=np.int32)}}
    faces: dict[str, list[NDArray[np.int32]]] = {}
    count: dict[str, int] = {}
    for side in sorted(sides):
        rows = sides[side].astype(np.int32)
        face_kind = FACE_KINDS[rows.shape[1]]
        first = count.get(face_kind, 0)
        groups[side] = {face_kind: np.arange(first, first + len(rows), dtype=np.int32)}
        count[face_kind] = first + len(rows)
        faces.setdefault(face_kind, []).append(rows)
    return Mesh(points, {kind: body, **{k: np.concatenate(rows) for k, rows in faces.items()}}, groups)


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
    """
    lengths, counts = _checked(size, cells, dim=None)
    dim = len(counts)
    if counts.min() < 0 or counts.max() < 1 or np.any(lengths[counts > 0] <= 0):
        raise MeshError(f"a lattice needs a positive size wherever it has cells, not {size} m and {cells} cells.")
    if diagonals not in DIAGONALS:
        raise MeshError(f"a lattice cannot have diagonals '{diagonals}'; it can have: {', '.join(DIAGONALS)}.")
    directions = _bar_directions(dim, diagonals)
    _require_size("lattice", counts + 1, _COST_OF_BAR * len(directions), len(directions))
    vertices = lattice(counts + 1)
    bars = {"axial": [], "diagonal": []}
    for offset in directions:
        ends = vertices + offset
        inside = np.all((ends >= 0) & (ends <= counts), axis=1)
        pair = np.stack([np.flatnonzero(inside), flat_index(ends[inside], counts + 1)], axis=1)
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
    requested = {
        "none": lambda offset: False,
        "single": lambda offset: min(offset) >= 0,
        "cross": lambda offset: np.count_nonzero(offset) == 2,
        "body": lambda offset: np.count_nonzero(offset) == 3,
        "all": lambda offset: True,
    }[diagonals]
    half = [offset for offset in product((-1, 0, 1), repeat=dim) if offset > (0,) * dim]
    return [np.array(offset) for offset in half if np.count_nonzero(offset) == 1 or requested(offset)]


# -- regular grids ----------------------------------------------------------------------------------------------


def _checked(size: Sequence[float], cells: Sequence[int], dim: int | None):
    try:
        lengths, counts = np.asarray(size, float), np.asarray(cells)
    except ValueError:
        raise MeshError(f"numbers of cells must be integers, not {described(cells)}.") from None
    right = (1, 2, 3) if dim is None else (dim,)
    if lengths.ndim != 1 or lengths.shape != counts.shape or len(counts) not in right:
        requested = " or ".join(str(n) for n in right)
        raise MeshError(f"size {described(size)} and cells {described(cells)} must have the same length, {requested}.")
    whole = np.issubdtype(counts.dtype, np.integer) and bool((counts <= np.iinfo(np.int32).max).all())
    if not np.all(np.isfinite(lengths)) or not whole:
        raise MeshError(f"sizes must be finite and cell counts integers below 2³¹, not {size} and {cells}.")
    return lengths, counts.astype(np.int64)


def _require_size(what: str, counts: NDArray[np.int64], cost: int, parts: int) -> None:
    """Refuse more cells than fit into memory, or can be numbered; counts may be beyond what 64 bits hold together."""
    n = math.prod(int(count) for count in counts)
    called = f"a {what} of {' × '.join(str(count) for count in counts)} cells"
    require_memory(called, float(n) * cost)
    if n * parts > np.iinfo(np.int32).max:
        raise MeshError(f"{called} would have more elements than can be numbered, {n * parts:.3g}; take fewer cells.")
