"""Which cell a point is in, and the weights of the cell's nodes there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symplex.base.arguments import checked
from symplex.base.sparse import sp
from symplex.errors import MeshError
from symplex.meshes.kinds import dimension_of
from symplex.meshes.mesh import Mesh
from symplex.meshes.shape_functions import SHAPE_FUNCTIONS

Array = NDArray[np.float64]

_INSIDE = 1e-6  # of a reference cell, or of the length of a line, by which a point may be outside
_ITERATIONS = 30


@checked
def weights_in_cells(mesh: Mesh, at: ArrayLike, group: str | None = None) -> sp.csr_array:
    """Return the weights [p, n] of a mesh's nodes for points: those of the shape functions of the cells they are in.

    A field of nodal values u is W u there; the weights of a point sum to one. Points may be in volume cells, or on
    lines.

    Parameters
    ----------
    mesh : Mesh
    at : float64 [p, dim]
        In m.
    group : str, optional
        Only cells of this group; default: all.

    Raises
    ------
    MeshError
        If a point is in no cell, or there is no such group.
    """
    points = _points_of(mesh, at)
    cells = _cells_in(mesh, group)
    rows, columns, values = [], [], []
    for k, x in enumerate(points):
        found = _weights(mesh.points, cells, x)
        if found is None:
            raise _in_no_cell(mesh.points, cells, x)
        nodes, weights = found
        rows += [k] * len(nodes)
        columns += nodes.tolist()
        values += weights.tolist()
    return sp.csr_array((values, (rows, columns)), shape=(len(points), len(mesh.points)))


@checked
def are_in_cells(mesh: Mesh, at: ArrayLike, group: str | None = None) -> NDArray[np.bool_]:
    """Return which points [p] are in a volume cell of a mesh, or on a line.

    Parameters
    ----------
    mesh, at, group
        As of `weights_in_cells`.
    """
    points, cells = _points_of(mesh, at), _cells_in(mesh, group)
    return np.array([_weights(mesh.points, cells, x) is not None for x in points], dtype=bool)


class _Cells(NamedTuple):
    """Cells of one type, and the boxes that they are in."""

    kind: str
    rows: NDArray[np.int32]
    low: Array
    high: Array


def _points_of(mesh: Mesh, at: ArrayLike) -> Array:
    points = np.array(at, dtype=float)
    if points.ndim != 2 or points.shape[1] != mesh.points.shape[1] or not np.isfinite(points).all():
        raise MeshError(f"points must be finite positions [p, {mesh.points.shape[1]}] in m.")
    return points


def _cells_in(mesh: Mesh, group: str | None) -> list[_Cells]:
    """Return the cells of a group in which points can be."""
    found = []
    for kind in mesh.cells:
        rows = mesh.cells_of(kind, group)
        if kind not in SHAPE_FUNCTIONS or dimension_of(kind) not in (1, 3) or not len(rows):
            continue
        corners = mesh.points[rows]
        low, high = corners.min(axis=1), corners.max(axis=1)
        # Faces of quadratic cells may bulge beyond their nodes.
        room = (_INSIDE if len(rows[0]) in (2, 4, 8) else 0.2) * np.linalg.norm(high - low, axis=1)[:, None]
        found.append(_Cells(kind, rows, low - room, high + room))
    return found


def _weights(points: Array, cells: Sequence[_Cells], x: Array) -> tuple[NDArray[np.int32], Array] | None:
    """Return the nodes of the cell that a point is in, and their weights; None if it is in none."""
    for kind, rows, low, high in cells:
        for row in np.flatnonzero(((x >= low) & (x <= high)).all(axis=1)):
            local = _inverted(kind, points[rows[row]], x)
            if local is not None and _outside(kind, local) <= _INSIDE:
                return rows[row], SHAPE_FUNCTIONS[kind](local[None])[0][0]
    return None


def _in_no_cell(points: Array, cells: Sequence[_Cells], x: Array) -> MeshError:
    """Return what to raise for a point that is in no cell."""
    place = ", ".join(f"{c:.6g}" for c in x)
    nodes = np.unique(np.concatenate([of.rows.ravel() for of in cells] or [np.empty(0, np.int32)]))
    if not len(nodes):
        return MeshError("there are no cells with volume and no lines, in which points could be.")
    away = np.linalg.norm(points[nodes] - x, axis=1)
    near = ", ".join(f"{c:.6g}" for c in points[nodes[np.argmin(away)]])
    return MeshError(f"({place}) m is in no cell; the nearest node is {away.min():.3g} m away, at ({near}) m.")


def _inverted(kind: str, nodes: Array, x: Array) -> Array | None:
    """Return ξ with Σ N_a(ξ) x_a = x by Newton's method, or None where there is none."""
    shapes = SHAPE_FUNCTIONS[kind]
    local, size = shapes.nodes.mean(axis=0), float(np.ptp(nodes, axis=0).max())
    for _ in range(_ITERATIONS):
        N, slopes = shapes(local[None])
        error = x - N[0] @ nodes
        step = np.linalg.lstsq(nodes.T @ slopes[0], error, rcond=None)[0]
        local = local + step
        if not np.isfinite(local).all() or np.abs(local).max() > 10.0:
            return None
        if np.abs(step).max() < 1e-13:
            break
    away = np.linalg.norm(x - shapes(local[None])[0][0] @ nodes)
    return local if away <= _INSIDE * size else None


def _outside(kind: str, local: Array) -> float:
    """Return how far a point is outside the reference cell."""
    family = kind.rstrip("0123456789")
    if family == "tetra":
        return float(max(-local.min(), local.sum() - 1.0))
    if family == "wedge":
        return float(max(-local[:2].min(), local[:2].sum() - 1.0, abs(local[2]) - 1.0))
    if family == "pyramid":
        return float(max(-local[2], np.abs(local[:2]).max() - (1.0 - local[2])))
    return float(np.abs(local).max() - 1.0)
