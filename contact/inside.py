"""Points inside bodies, next to the vertices of their surfaces, that follow the nodes there."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np

from symplex.base.sparse import sp
from symplex.contact.surfaces import Surface
from symplex.errors import InvalidSystem
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.meshes.shape_functions import SHAPE_FUNCTIONS

_FLAT = 0.05  # of the largest eigenvalue of Σ A n nᵀ: below it the faces at a vertex count as one plane (25° apart)
_FARTHEST = 3.0  # depths that a vertex moves at a sharp corner
_THIN = 1e-6  # of the cube of the longest of three edges: what spans less is flat
_NONE = 1e-12  # weights that are rounding


def inward(surface: Surface, points: Array) -> Array:
    """Return the ways [v, 3] of vertices for which all faces next to them move inwards by 1.

    On a plane that is the normal, at edges and corners more: the least squares solution of n·w = −1 for the triangles
    at a vertex, by their areas.
    """
    x = points[surface.triangles]
    normals = np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0])  # twice the area long
    sizes = np.linalg.norm(normals, axis=1)
    units = normals / np.where(sizes > 0.0, sizes, 1.0)[:, None]
    corner = np.searchsorted(surface.vertices, surface.triangles)
    squares, sums = np.zeros((len(surface.vertices), 3, 3)), np.zeros((len(surface.vertices), 3))
    np.add.at(squares, corner, (normals[:, :, None] * units[:, None, :])[:, None])
    np.add.at(sums, corner, normals[:, None])
    values, axes = np.linalg.eigh(squares)
    kept = values > _FLAT * values[:, -1:]
    parts = np.einsum("vik,vi->vk", axes, sums) * kept / np.where(kept, values, 1.0)
    way = -np.einsum("vik,vk->vi", axes, parts)
    lengths = np.linalg.norm(way, axis=1)
    return way * np.minimum(1.0, _FARTHEST / np.where(lengths > 0.0, lengths, 1.0))[:, None]


def weights_inside(surface: Surface, points: Array, cells: Mapping[str, IntArray], way: Array) -> sp.csr_array:
    """Return the weights [p, p] of points that have gone inwards, where vertices of a surface are at rest.

    Parameters
    ----------
    surface : Surface
    points : float64 [p, 3]
        At rest, in m.
    cells : mapping of str to int32 [m, k]
        Volume cells; bodies without any are rigid.
    way : float64 [v, 3]
        How far vertices go, in m. Weights reproduce it: they sum to one, and what they say moves with the four nodes
        in any motion that is affine.

    Raises
    ------
    InvalidSystem
        If all cells at a vertex are flat.
    """
    others, shares = _in_cells(surface, points, cells, way)
    for body in range(len(surface.names)):
        own = np.flatnonzero(surface.vertex_bodies == body)
        if (others[own] < 0).all():
            others[own], shares[own] = _in_rigid(surface.vertices[own], points, way[own])
    missing = (others[:, 0] < 0) & way.any(axis=1)
    if missing.any():
        node = surface.vertices[missing][0]
        raise InvalidSystem(f"node {node} of a surface has no cell with a volume, so that nothing is inside there.")
    moved = np.flatnonzero(others[:, 0] >= 0)
    rows, nodes = np.repeat(moved, others.shape[1]), others[moved].ravel()
    size = (len(points), len(points))
    change = sp.coo_array((shares[moved].ravel(), (surface.vertices[rows], nodes)), size).tocsr()
    change -= sp.diags_array(np.asarray(change.sum(axis=1)))
    change.data[np.abs(change.data) < _NONE] = 0.0
    weights = sp.csr_array(sp.eye_array(len(points)) + change)
    weights.eliminate_zeros()
    return weights


def _in_cells(surface: Surface, points: Array, cells: Mapping[str, IntArray], way: Array) -> tuple[IntArray, Array]:
    """Return three more nodes [v, 4] for each vertex, and their weights; negative ones where there is no cell.

    The way is Σ c_b (x_b − x_a) in the cell where the Σ |c_b| are smallest, which is the one that it leads into. The
    fourth node is the vertex itself, with no weight: rigid bodies need four.
    """
    place = np.full(len(points), -1)
    place[surface.vertices] = np.arange(len(surface.vertices))
    others, shares = np.full((len(way), 4), -1, np.int32), np.zeros((len(way), 4))
    least = np.full(len(way), np.inf)
    for kind, nodes in cells.items():
        for a, next_to in enumerate(_beside(kind)):
            rows = np.flatnonzero(place[nodes[:, a]] >= 0)
            vertices, three = place[nodes[rows, a]], nodes[rows][:, next_to]
            edges = points[three] - points[nodes[rows, a]][:, None]
            long = np.linalg.norm(edges, axis=2).max(axis=1, initial=0.0)
            flat = ~(np.abs(np.linalg.det(edges)) > _THIN * long**3)
            edges[flat] = np.eye(3)
            parts = np.linalg.solve(edges.swapaxes(1, 2), way[vertices][:, :, None])[:, :, 0]
            sizes = np.where(flat, np.inf, np.abs(parts).sum(axis=1))
            order = np.lexsort((sizes, vertices))
            best = order[np.unique(vertices[order], return_index=True)[1]]
            best = best[sizes[best] < least[vertices[best]]]
            into = vertices[best]
            least[into], shares[into, :3] = sizes[best], parts[best]
            others[into, :3], others[into, 3] = three[best], surface.vertices[into]
    return others, shares


def _in_rigid(vertices: IntArray, points: Array, way: Array) -> tuple[IntArray, Array]:
    """Return four nodes [v, 4] of a rigid body that lie far apart, and their weights for the ways [v, 3]."""
    x = points[vertices]
    four = [int(np.argmax(np.linalg.norm(x - x.mean(axis=0), axis=1)))]
    left = x - x[four[0]]
    for _ in range(3):  # the farthest from the point, the line and the plane of those before
        four.append(int(np.argmax(np.linalg.norm(left, axis=1))))
        along = left[four[-1]] / max(float(np.linalg.norm(left[four[-1]])), np.finfo(float).tiny)
        left = left - np.outer(left @ along, along)
    parts = np.linalg.solve((x[four[1:]] - x[four[0]]).T, way.T).T
    shares = np.column_stack([-parts.sum(axis=1), parts])
    return np.tile(vertices[four].astype(np.int32), (len(vertices), 1)), shares


@cache
def _beside(kind: str) -> list[list[int]]:
    """Return for each node of a type of cells the three nearest others of the reference cell that are in no plane."""
    nodes = SHAPE_FUNCTIONS[kind].nodes
    found = []
    for a in range(len(nodes)):
        three: list[int] = []
        for b in np.argsort(np.linalg.norm(nodes - nodes[a], axis=1), kind="stable")[1:].tolist():
            if np.linalg.matrix_rank(nodes[[*three, b]] - nodes[a]) == len(three) + 1:
                three.append(b)
            if len(three) == 3:
                break
        found.append(three)
    return found
