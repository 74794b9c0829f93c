"""Mapped meshes: boxes of cells put into another shape, and cylinders, tubes and balls of several such blocks.

Sides of blocks that come to lie on each other are joined; faces within the body are dropped from its sides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from symplex.base.arguments import checked, described
from symplex.base.quantities import not_negative, positive
from symplex.errors import MeshError
from symplex.meshes.generate import box
from symplex.meshes.joining import join_nodes
from symplex.meshes.kinds import dimension_of
from symplex.meshes.mesh import Mesh, rows_among, take
from symplex.meshes.midside_nodes import quadratic
from symplex.meshes.quality import check_mesh
from symplex.meshes.renumber import renumber

Array = NDArray[np.float64]
Shape = Callable[[Array], Array]
Block = tuple[Sequence[int], Shape, Mapping[str, str]]  # cells, map of the unit box, names of its sides

BLOCK_SPLITS = ("hexahedra", "24", "pyramids")  # which cut both sides of a face alike, however blocks lie
_SAME = 1e-9  # of the size of a mesh: how near to each other nodes are one
_CORE, _BULGE = 0.5, 0.5  # of the block in the middle: its size over that of the body, and how far its sides are round


@checked
def mapped(mesh: Mesh, shape: Callable[[Array], Array]) -> Mesh:
    """Return a mesh whose points a function has moved to another shape.

    Nodes that come to lie at one place are joined, as where a strip is bent to a ring; the sides that meet there are
    sides no more. Map a quadratic mesh, ``mapped(quadratic(mesh), shape)``, for elements with curved edges.

    Parameters
    ----------
    mesh : Mesh
    shape : callable
        Returns the places [n, 3] in m of points [n, 3].

    Raises
    ------
    MeshError
        If it does not return finite places [n, 3], or elements become inverted or flat.

    Examples
    --------
    >>> def bent(x):
    ...     return np.column_stack([x[:, 0] * np.cos(x[:, 1]), x[:, 0] * np.sin(x[:, 1]), x[:, 2]])
    >>> quarter = box((1.0, np.pi / 2, 0.1), (4, 6, 1), split="hexahedra", origin=(1.0, 0.0, 0.0))
    >>> sorted(mapped(quarter, bent).groups)
    ['body', 'x_max', 'x_min', 'y_max', 'y_min', 'z_max', 'z_min']
    """
    found = np.ascontiguousarray(shape(mesh.points.copy()), dtype=float)
    if found.shape != mesh.points.shape or not np.isfinite(found).all():
        raise MeshError(
            f"mapped: the shape must return finite places of shape {mesh.points.shape}, got {described(found)}."
        )
    moved = _joined(replace(mesh, points=found), mesh.points)
    check_mesh(moved, "mapped mesh")
    return moved


@checked
def cylinder(
    radius: Annotated[float, positive("m")],
    length: Annotated[float, positive("m")],
    cells: Sequence[int],
    *,
    inner: Annotated[float, not_negative("m")] = 0.0,
    degrees: Annotated[float, positive("°")] = 360.0,
    grading: Annotated[float, positive("1")] = 1.0,
    split: str = "hexahedra",
    order: int = 1,
) -> Mesh:
    """Return a cylinder or, with an inner radius, a tube about z from z = 0; all of it or a sector.

    Parameters
    ----------
    radius, length : float
        In m.
    cells : three ints
        Numbers of cells along the radius, around and along z. Those of a solid cylinder are an even number in each
        quarter, half of which are the edges of a block in the middle; those along the radius are outside of this.
    inner : float, default 0
        Inner radius in m.
    degrees : float, default 360
        Of a sector, from the x axis; of a solid cylinder 90, 180 or 360.
    grading : float, default 1
        Size of the outermost cells along the radius over that of the innermost, in between geometric.
    split : {"hexahedra", "24", "pyramids"}
        How cells are cut (`box`).
    order : {1, 2}
        Of the elements: with 2 they have nodes between their corners, on the curved surface too.

    Returns
    -------
    Mesh
        With the groups ``body``, ``outside``, ``inside``, ``z_min``, ``z_max`` and, of a sector, ``y0`` and ``x0``
        where it ends in the planes y = 0 and x = 0, else ``start`` and ``end``.

    Raises
    ------
    MeshError
        If numbers do not fit.
    """
    if inner >= radius or not degrees <= 360.0:
        raise MeshError(
            f"cylinder: inner must be below radius and degrees at most 360, got {inner:g} m, {radius:g} m and "
            f"{degrees:g}°."
        )
    counts = _counts("cylinder", cells, 3)
    along = {"z_min": "z_min", "z_max": "z_max"}
    if inner > 0.0:
        names = along | {
            "x_min": "inside",
            "x_max": "outside",
            "y_min": _plane(0.0, "start"),
            "y_max": _plane(degrees, "end"),
        }
        angle = np.radians(degrees)

        def ring(u: Array) -> Array:
            r, theta = inner + (radius - inner) * _graded(u[:, 0], grading, counts[0]), angle * u[:, 1]
            return np.column_stack([r * np.cos(theta), r * np.sin(theta), length * u[:, 2]])

        if degrees == 360.0 and counts[1] < 3:
            raise MeshError(f"cylinder: a whole tube needs 3 cells around at least, got {counts[1]}.")
        return _assembled("cylinder", [(counts, ring, names)], split, order)
    if degrees not in (90.0, 180.0, 360.0):
        raise MeshError(f"cylinder: degrees of a solid one must be 90, 180 or 360, got {degrees:g}; give inner.")
    quarters = int(degrees // 90.0)
    n = _in_blocks("cylinder", counts[1], quarters)
    blocks: list[Block] = []
    for k in range(quarters):
        x0, y0 = _plane(90.0 * (k + 1), "end"), _plane(90.0 * k, "start")
        parts = [
            ((n, n, counts[2]), _disc_core, along | {"x_min": x0, "y_min": y0}),
            ((counts[0], n, counts[2]), partial(_disc_side, grading, counts[0]), along | {"y_min": y0}),
            ((counts[0], n, counts[2]), partial(_disc_top, grading, counts[0]), along | {"y_max": x0}),
        ]
        for which, (numbers, shape, names) in enumerate(parts):
            sides = dict(names) if which == 0 else {**names, "x_max": "outside"}
            blocks.append((numbers, partial(_placed, shape, k, np.array([radius, radius, length])), sides))
    return _assembled("cylinder", blocks, split, order)


@checked
def ball(
    radius: Annotated[float, positive("m")],
    cells: Sequence[int],
    *,
    inner: Annotated[float, not_negative("m")] = 0.0,
    symmetry: str = "",
    grading: Annotated[float, positive("1")] = 1.0,
    split: str = "hexahedra",
    order: int = 1,
) -> Mesh:
    """Return a ball or, with an inner radius, a hollow one about the origin; all of it, a half, a quarter, an eighth.

    Parameters
    ----------
    radius : float
        In m.
    cells : two ints
        Numbers of cells along the radius, and along a quarter of a great circle, an even one. A solid ball has a block
        in the middle with half of these along its edges; those along the radius are outside of this.
    symmetry : str, default ""
        Letters of xyz: the planes x = 0 … that bound it, on the positive side of which it is; ``"xyz"`` is an eighth.
    inner, grading, split, order
        As of `cylinder`.

    Returns
    -------
    Mesh
        With the groups ``body``, ``outside``, ``inside`` and ``x0``, ``y0``, ``z0`` on the planes of symmetry.

    Raises
    ------
    MeshError
        If numbers do not fit.
    """
    if inner >= radius:
        raise MeshError(f"ball: inner must be below radius, got {inner:g} m and {radius:g} m.")
    if set(symmetry) - set("xyz") or len(set(symmetry)) < len(symmetry):
        raise MeshError(f"ball: symmetry must be some letters of 'xyz', got {described(symmetry)}.")
    counts = _counts("ball", cells, 2)
    n = _in_blocks("ball", counts[1], 1)
    blocks: list[Block] = []
    signs = [(1,) if letter in symmetry else (1, -1) for letter in "xyz"]
    for octant in np.stack(np.meshgrid(*signs, indexing="ij"), axis=-1).reshape(-1, 3):
        # A reflection would turn elements inside out, unless two axes are exchanged as well.
        axes = [0, 1, 2] if octant.prod() > 0 else [1, 0, 2]
        parts: list[Block] = []
        if inner == 0.0:
            parts.append(((n, n, n), _ball_core, {f"{a}_min": f"{'xyz'[axes.index(k)]}0" for k, a in enumerate("xyz")}))
        side = partial(_ball_side, grading, counts[0], inner / radius)
        for turn in range(3):  # towards x, y and z
            planes = {f"{'xyz'[k]}_min": f"{'xyz'[axes.index((k + turn) % 3)]}0" for k in (1, 2)}
            names = planes | {"x_max": "outside"} | ({"x_min": "inside"} if inner > 0.0 else {})
            parts.append(((counts[0], n, n), partial(_rolled, side, turn), names))
        blocks += [
            (numbers, partial(_in_octant, shape, axes, radius * octant.astype(float)), names)
            for numbers, shape, names in parts
        ]
    return _assembled("ball", blocks, split, order)


# -- maps of the unit box ---------------------------------------------------------------------------------------------


def _graded(u: Array, ratio: float, cells: int) -> Array:
    """Return places 0 … 1 whose steps, where those of u are equal, grow geometrically by `ratio` in all."""
    if ratio == 1.0 or cells == 1:
        return u
    growth = np.log(ratio) * cells / (cells - 1)
    return np.expm1(growth * u) / np.expm1(growth)


def _disc_core(u: Array) -> Array:
    """Return a square with bulging sides, a quarter of the middle of a disc of radius 1; z as it is."""
    x, y = u[:, 0], u[:, 1]
    round_x, round_y = x * np.sqrt(1.0 - y * y / 2.0), y * np.sqrt(1.0 - x * x / 2.0)
    flat = 1.0 - _BULGE
    return np.column_stack([_CORE * (flat * x + _BULGE * round_x), _CORE * (flat * y + _BULGE * round_y), u[:, 2]])


def _disc_side(grading: float, cells: int, u: Array) -> Array:
    """Return what is between the middle of a disc and its rim, below the diagonal."""
    t = _graded(u[:, 0], grading, cells)[:, None]
    angle = 0.25 * np.pi * u[:, 1]
    inner = _disc_core(np.column_stack([np.ones(len(u)), u[:, 1], u[:, 2]]))
    return (1.0 - t) * inner + t * np.column_stack([np.cos(angle), np.sin(angle), u[:, 2]])


def _disc_top(grading: float, cells: int, u: Array) -> Array:
    """Return the mirror image of `_disc_side`, above the diagonal."""
    return _disc_side(grading, cells, np.column_stack([u[:, 0], 1.0 - u[:, 1], u[:, 2]]))[:, [1, 0, 2]]


def _placed(shape: Shape, quarter: int, size: Array, u: Array) -> Array:
    """Return a shape of radius and length 1 scaled, after quarters of a turn about z."""
    x = shape(u)
    for _ in range(quarter):
        x = np.column_stack([-x[:, 1], x[:, 0], x[:, 2]])
    return size * x


def _ball_core(u: Array) -> Array:
    """Return a cube with bulging sides, an eighth of the middle of a ball of radius 1."""
    x2, y2, z2 = (u * u).T
    others = np.column_stack([y2 + z2, z2 + x2, x2 + y2]), np.column_stack([y2 * z2, z2 * x2, x2 * y2])
    return _CORE * u * (1.0 - _BULGE + _BULGE * np.sqrt(1.0 - others[0] / 2.0 + others[1] / 3.0))


def _ball_side(grading: float, cells: int, inner: float, u: Array) -> Array:
    """Return what is between the middle of a ball, or an inner radius, and its surface, towards x."""
    t = _graded(u[:, 0], grading, cells)[:, None]
    normal = np.column_stack([np.ones(len(u)), np.tan(0.25 * np.pi * u[:, 1:])])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    base = inner * normal if inner > 0.0 else _ball_core(np.column_stack([np.ones(len(u)), u[:, 1:]]))
    return (1.0 - t) * base + t * normal


def _rolled(shape: Shape, turn: int, u: Array) -> Array:
    """Return a shape about the axis (1, 1, 1) by thirds of a turn."""
    return np.roll(shape(u), turn, axis=1)


def _in_octant(shape: Shape, axes: list[int], scale: Array, u: Array) -> Array:
    return scale * shape(u)[:, axes]


# -- blocks -----------------------------------------------------------------------------------------------------------


def _plane(degrees: float, other: str) -> str:
    """Return the name of a side along the radius at an angle."""
    return {0.0: "y0", 90.0: "x0"}.get(degrees % 180.0, other)


def _counts(who: str, cells: Sequence[int], n: int) -> list[int]:
    numbers = np.asarray(cells)
    if numbers.shape != (n,) or numbers.dtype.kind not in "iu" or numbers.min() < 1:
        raise MeshError(f"{who}: cells must be {n} integers, 1 at least, got {described(cells)}.")
    return [int(count) for count in numbers]


def _in_blocks(who: str, around: int, quarters: int) -> int:
    """Return how many cells each of the two blocks of a quarter has around."""
    if around % (2 * quarters):
        raise MeshError(f"{who}: cells around must be a multiple of {2 * quarters}, got {around}.")
    return around // (2 * quarters)


def _assembled(who: str, blocks: Iterable[Block], split: str, order: int) -> Mesh:
    """Return the mesh of blocks, joined, with sides by name."""
    if split not in BLOCK_SPLITS:
        raise MeshError(f"{who}: split must be one of {', '.join(BLOCK_SPLITS)}, got {described(split)}.")
    if order not in (1, 2):
        raise MeshError(f"{who}: order must be 1 or 2, got {described(order)}.")
    points: list[Array] = []
    cells: dict[str, list[NDArray[np.int32]]] = {}
    groups: dict[str, dict[str, list[NDArray[np.int32]]]] = {}
    n, count = 0, {}
    for numbers, shape, names in blocks:
        one = box((1.0, 1.0, 1.0), numbers, split=split)
        one = one if order == 1 else quadratic(one)
        points.append(shape(one.points))
        for group, members in one.cell_groups.items():
            if (name := "body" if group == "body" else names.get(group)) is None:
                continue
            for kind, index in members.items():
                groups.setdefault(name, {}).setdefault(kind, []).append(index + count.get(kind, 0))
        for kind, rows in one.cells.items():
            cells.setdefault(kind, []).append(rows + n)
            count[kind] = count.get(kind, 0) + len(rows)
        n += len(one.points)
    mesh = Mesh(
        np.concatenate(points),
        {kind: np.concatenate(rows).astype(np.int32) for kind, rows in cells.items()},
        {
            name: {kind: np.concatenate(rows).astype(np.int32) for kind, rows in of.items()}
            for name, of in groups.items()
        },
    )
    mesh = renumber(_joined(mesh, None))
    check_mesh(mesh, f"{who} of so few cells")
    return mesh


def _joined(mesh: Mesh, before: Array | None) -> Mesh:
    """Return a mesh in which boundary nodes at one place are one, unless they were there before.

    Faces between joined nodes that are within the body now are dropped.
    """
    from scipy.spatial import KDTree  # which takes long to import

    size = float(np.ptp(mesh.points, axis=0).max(initial=0.0))
    nodes = mesh.boundary_nodes if mesh.volume_types else np.arange(len(mesh.points), dtype=np.int32)
    pairs = nodes[KDTree(mesh.points[nodes]).query_pairs(_SAME * size, output_type="ndarray")]
    if before is not None and len(pairs):
        away = np.linalg.norm(before[pairs[:, 0]] - before[pairs[:, 1]], axis=1)
        pairs = pairs[away > _SAME * float(np.ptp(before, axis=0).max(initial=0.0))]
    if not len(pairs):
        return mesh
    touched = mesh.points[np.unique(pairs)]
    joined = join_nodes(mesh, pairs)
    return _without_inner_faces(joined, touched, size)


def _without_inner_faces(mesh: Mesh, touched: Array, size: float) -> Mesh:
    """Return a mesh without the faces, all of whose nodes are at places [m, 3], that are between two elements."""
    from scipy.spatial import KDTree  # which takes long to import

    on = KDTree(touched).query(mesh.points)[0] <= _SAME * size
    boundary = mesh.boundary_faces
    kept = {kind: np.arange(len(rows)) for kind, rows in mesh.cells.items()}
    for kind, rows in mesh.cells.items():
        if dimension_of(kind) == 2 and len(rows):
            inside = on[rows].all(axis=1) & ~rows_among(rows, boundary.get(kind, rows[:0]))
            kept[kind] = np.flatnonzero(~inside)
    return take(mesh, np.arange(len(mesh.points)), kept)
