"""Linear faces from quadratic ones: quadrilaterals of eight nodes and triangles of six in several pieces each.

Pieces follow the quadratic map of their element, so that they are curved as it is. New nodes on an edge are those of
both neighbours.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from symplex.base.arguments import checked
from symplex.base.quantities import whole
from symplex.errors import MeshError
from symplex.meshes.mesh import Mesh
from symplex.meshes.shape_functions import SHAPE_FUNCTIONS

MOST_PIECES = 8
QUADRATIC_FACES = ("quad8", "triangle6")


class _Division(NamedTuple):
    """How an element is divided into n pieces along each edge.

    Attributes
    ----------
    cell : str
        What pieces are.
    nodes : list of tuples
        Of each node of the lattice what it is: ("own", k) one of the element, ("edge", e, k) that at k/n of an edge, or
        ("inner", j).
    weights : float64 [nodes, 8 or 6]
        The functions of the element's nodes there.
    pieces : int [p, 4 or 3]
        By nodes of the lattice.
    edges : int [e, 3]
        Ends and middle, (a, b, m), of each edge.
    """

    cell: str
    nodes: list[tuple[str, int, int]]
    weights: NDArray[np.float64]
    pieces: NDArray[np.int64]
    edges: NDArray[np.int64]


def _division(kind: str, n: int) -> _Division:
    """Return how elements of eight or six nodes are divided."""
    corners = 4 if kind == "quad8" else 3
    edges = np.array([(e, (e + 1) % corners, corners + e) for e in range(corners)])
    at: dict[tuple[int, int], int] = {}
    places: list[tuple[int, int]] = []
    pieces: list[tuple[int, ...]] = []

    def number(i: int, j: int) -> int:
        if (i, j) not in at:
            at[i, j] = len(places)
            places.append((i, j))
        return at[i, j]

    if corners == 4:
        for j in range(n):
            for i in range(n):
                pieces.append((number(i, j), number(i + 1, j), number(i + 1, j + 1), number(i, j + 1)))
    else:
        for j in range(n):
            for i in range(n - j):
                pieces.append((number(i, j), number(i + 1, j), number(i, j + 1)))
                if i + j < n - 1:
                    pieces.append((number(i + 1, j), number(i + 1, j + 1), number(i, j + 1)))
    nodes, inner = [], 0
    for i, j in places:
        along = _on_edges(i, j, n, corners)
        if along is None:
            nodes.append(("inner", inner, 0))
            inner += 1
            continue
        edge, k = along
        own = edges[edge, {0: 0, n: 1, n // 2: 2}[k]] if k in (0, n) or 2 * k == n else None
        nodes.append(("edge", edge, k) if own is None else ("own", int(own), 0))
    xi = np.array(places) / n
    weights, _ = SHAPE_FUNCTIONS[kind](2.0 * xi - 1.0 if corners == 4 else xi)
    return _Division("quad" if corners == 4 else "triangle", nodes, weights, np.array(pieces), edges)


def _on_edges(i: int, j: int, n: int, corners: int) -> tuple[int, int] | None:
    """Return the edge on which a place of the lattice is, and which part of n it is along it from its first end."""
    if j == 0:
        return 0, i
    if corners == 3:
        return (1, j) if i + j == n else (2, n - j) if i == 0 else None
    return (1, j) if i == n else (2, n - i) if j == n else (3, n - j) if i == 0 else None


@checked
def divided_faces(mesh: Mesh, pieces: Annotated[int, whole(2, MOST_PIECES)] = 2) -> Mesh:
    """Return a mesh with its quadratic faces in linear pieces, of which shells are made.

    Quadrilaterals of eight nodes become 2 × 2 ones, or 4 × 4 and so on, triangles of six 4 or 16. Points keep their
    indices, new ones follow. Groups of cells have the pieces of their members; groups of nodes have the new nodes on
    edges, and in faces, all of whose nodes they have.

    Parameters
    ----------
    mesh : Mesh
    pieces : int, default 2
        Along each edge, an even number, so that nodes in the middle of edges stay, up to 8.

    Raises
    ------
    MeshError
        If there are no such faces, or the number of pieces is odd.
    """
    if pieces % 2:
        raise MeshError(f"divided_faces: pieces must be an even number, got {pieces}.")
    kinds = [kind for kind in QUADRATIC_FACES if len(mesh.cells.get(kind, ()))]
    if not kinds:
        raise MeshError("divided_faces: the mesh must have cells 'quad8' or 'triangle6', got none.")
    divisions = {kind: _division(kind, pieces) for kind in kinds}
    keys = {kind: _keys(mesh.cells[kind], divisions[kind], pieces) for kind in kinds}
    every, inverse = np.unique(np.concatenate([*keys.values()]), axis=0, return_inverse=True)
    first_inner, last = len(mesh.points) + len(every), 0
    points = np.empty((len(every), mesh.points.shape[1]))
    cells: dict[str, list[NDArray[np.int64]]] = {}
    parts: dict[str, int] = {}
    inner_points, members = [], []
    for kind in kinds:
        own, division = mesh.cells[kind], divisions[kind]
        lattice = np.empty((len(own), len(division.nodes)), np.int64)
        x = np.einsum("ak,mki->mai", division.weights, mesh.points[own])
        edge_nodes = inverse.ravel()[last : last + len(keys[kind])].reshape(len(own), -1)
        last += len(keys[kind])
        on_edge, of_inner = 0, [at for at, node in enumerate(division.nodes) if node[0] == "inner"]
        for at, (what, k, _) in enumerate(division.nodes):
            if what == "own":
                lattice[:, at] = own[:, k]
            elif what == "edge":
                lattice[:, at] = len(mesh.points) + edge_nodes[:, on_edge]
                points[edge_nodes[:, on_edge]] = x[:, at]
                on_edge += 1
        inner = np.arange(len(own) * len(of_inner)).reshape(len(own), -1)
        lattice[:, of_inner] = first_inner + inner
        first_inner += inner.size
        inner_points.append(x[:, of_inner].reshape(-1, mesh.points.shape[1]))
        members.append((own, inner))
        cells.setdefault(division.cell, []).append(lattice[:, division.pieces].reshape(-1, division.pieces.shape[1]))
        parts[kind] = len(division.pieces)
    out = {kind: rows for kind, rows in mesh.cells.items() if kind not in kinds}
    moved: dict[str, tuple[str, int, int]] = {}
    for kind in kinds:
        name = divisions[kind].cell
        before = len(out.get(name, ()))
        moved[kind] = name, before, parts[kind]
        out[name] = np.concatenate([*([out[name]] if before else []), *cells[name]]).astype(np.int32)
    groups = {name: _with_pieces(rows, moved) for name, rows in mesh.cell_groups.items()}
    nodes = {name: _with_nodes(index, mesh, every, members) for name, index in mesh.point_groups.items()}
    return Mesh(np.concatenate([mesh.points, points, *inner_points]), out, groups, nodes, unknown=mesh.unknown)


def _keys(cells: NDArray[np.int32], division: _Division, n: int) -> NDArray[np.int64]:
    """Return (a, m, b, k) of new nodes on edges [m · e, 4], the same for both neighbours: k/n from the lower end a."""
    rows = []
    for what, edge, k in division.nodes:
        if what == "edge":
            a, b, middle = (cells[:, at].astype(np.int64) for at in division.edges[edge])
            rows.append(np.column_stack([np.minimum(a, b), middle, np.maximum(a, b), np.where(a < b, k, n - k)]))
    return np.stack(rows, axis=1).reshape(-1, 4) if rows else np.empty((0, 4), np.int64)


def _with_pieces(
    members: Mapping[str, NDArray[np.int32]], moved: dict[str, tuple[str, int, int]]
) -> dict[str, NDArray[np.int32]]:
    """Return the members of a group of cells by kind, with the pieces of those that are divided."""
    out = {kind: rows for kind, rows in members.items() if kind not in moved}
    for kind, (name, before, count) in moved.items():
        rows = members.get(kind, np.empty(0, np.int32))
        if len(rows):
            pieces = (before + count * rows[:, None] + np.arange(count)).ravel()
            out[name] = np.concatenate([out.get(name, np.empty(0, np.int32)), pieces]).astype(np.int32)
    return out


def _with_nodes(
    index: NDArray[np.int32],
    mesh: Mesh,
    edges: NDArray[np.int64],
    faces: list[tuple[NDArray[np.int32], NDArray[np.int64]]],
) -> NDArray[np.int32]:
    """Return the nodes of a group, with the new ones on edges and in faces all of whose nodes are in it."""
    inside = np.zeros(len(mesh.points), bool)
    inside[index] = True
    found = [index, len(mesh.points) + np.flatnonzero(inside[edges[:, :3]].all(axis=1))]
    first = len(mesh.points) + len(edges)
    for own, inner in faces:
        found.append(first + inner[inside[own].all(axis=1)].ravel())
        first += inner.size
    return np.concatenate(found).astype(np.int32)
