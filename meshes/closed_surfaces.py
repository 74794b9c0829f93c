"""Closed surfaces of triangles: spheres, cylinders and boxes about the origin."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symplex.base.arguments import checked
from symplex.errors import MeshError
from symplex.meshes.generate import box
from symplex.meshes.mesh import Mesh

_MOST_TRIANGLES = 20_000_000


@checked
def sphere_surface(radius: float, refinements: int = 3) -> Mesh:
    """Return a sphere as an icosahedron with faces cut into four again and again, with all points on the sphere.

    Parameters
    ----------
    radius : float
        In m.
    refinements : int, default 3
        The surface has 20·4ʳ triangles, of edges that differ in length by a factor of 1.2 at most.
    """
    _require_positive("sphere", radius=radius)
    if not (refinements >= 0 and 20 * 4 ** min(refinements, 20) <= _MOST_TRIANGLES):
        raise MeshError(f"a sphere has 0 to 9 refinements, not {refinements}.")
    g = 0.5 * (1.0 + math.sqrt(5.0))
    ring = [(-1.0, g), (1.0, g), (-1.0, -g), (1.0, -g)]
    points = np.array([(x, y, 0.0) for x, y in ring] + [(0.0, x, y) for x, y in ring] + [(y, 0.0, x) for x, y in ring])
    triangles = _convex_faces(points)
    for _ in range(refinements):
        points, triangles = _cut_in_four(points, triangles)
        points = points / np.linalg.norm(points, axis=1, keepdims=True)
    points *= radius / np.linalg.norm(points, axis=1, keepdims=True)
    return Mesh(points, {"triangle": triangles.astype(np.int32)})


@checked
def cylinder_surface(radius: float, length: float, rings: int = 4, layers: int | None = None) -> Mesh:
    """Return a round bar along the z axis with flat ends, of triangles of about the same size.

    Parameters
    ----------
    radius, length : float
        In m.
    rings : int, default 4
        Rings of triangles on the ends: ring i has 6 i points, and the bar 6 n corners around.
    layers : int, optional
        Of triangles along the bar; default: as high as their sides are long.
    """
    _require_positive("cylinder", radius=radius, length=length)
    if rings < 1 or (layers is not None and layers < 1):
        raise MeshError(f"a cylinder has one ring and one layer at least, not {rings} and {layers}.")
    side = 2.0 * math.pi * radius / (6.0 * rings)
    layers = max(round(length / side), 1) if layers is None else layers
    if 12 * rings * (rings + layers) > _MOST_TRIANGLES:
        raise MeshError(f"a cylinder of {rings} rings and {layers} layers has more than {_MOST_TRIANGLES} triangles.")
    disc, faces = _disc(rings)
    around = 6 * rings
    rim, heights = disc[-around:], length * (np.arange(layers + 1) / layers - 0.5)
    points = [np.column_stack([radius * disc, np.full(len(disc), heights[0])])]
    points += [np.column_stack([radius * rim, np.full(around, height)]) for height in heights[1:-1]]
    points += [np.column_stack([radius * disc, np.full(len(disc), heights[-1])])]
    top = len(disc) + (layers - 1) * around
    rows = len(disc) + around * np.arange(-1, layers)[:, None] + np.arange(around)
    rows[-1] += len(disc) - around
    triangles = [faces[:, ::-1], faces + top]
    for layer in range(layers):
        a, c = rows[layer], rows[layer + 1]
        b, d = np.roll(a, -1), np.roll(c, -1)
        # Cut along one diagonal in one layer, along the other one in the next.
        cut = ((a, b, c), (b, d, c)) if layer % 2 else ((a, b, d), (a, d, c))
        triangles += [np.column_stack(corners) for corners in cut]
    return Mesh(np.concatenate(points), {"triangle": np.concatenate(triangles).astype(np.int32)})


@checked
def box_surface(size: ArrayLike, cells: tuple[int, int, int] = (1, 1, 1)) -> Mesh:
    """Return a box with edges along the axes.

    Parameters
    ----------
    size : float64 [3]
        In m.
    cells : int [3], default (1, 1, 1)
        How many rectangles of two triangles its faces have along each axis.
    """
    lengths = np.array(size, dtype=float)
    if lengths.shape != (3,):
        raise MeshError(f"the size of a box is three lengths; it is {size}.")
    solid = box(tuple(lengths.tolist()), cells, split="6")
    nodes, triangles = np.unique(solid.boundary_faces["triangle"], return_inverse=True)
    return Mesh(solid.points[nodes] - 0.5 * lengths, {"triangle": triangles.reshape(-1, 3).astype(np.int32)})


def _convex_faces(points: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the outward triangles of an icosahedron about the origin from its twelve corners of edges of length 2."""
    near = np.isclose(np.linalg.norm(points[:, None] - points, axis=2), 2.0)
    found = [
        (a, b, c) for a in range(12) for b in range(a) for c in range(b) if near[a, b] and near[b, c] and near[c, a]
    ]
    faces = np.array(found)
    inward = np.linalg.det(points[faces]) < 0.0
    faces[inward] = faces[inward][:, ::-1]
    return faces


def _cut_in_four(
    points: NDArray[np.float64], faces: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    edges = np.sort(faces[:, [[0, 1], [1, 2], [2, 0]]], axis=2).reshape(-1, 2)
    unique, place = np.unique(edges, axis=0, return_inverse=True)
    middle = len(points) + place.reshape(-1, 3)
    (a, b, c), (ab, bc, ca) = faces.T, middle.T
    rows = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
    cut = np.concatenate([np.column_stack(row) for row in rows])
    return np.concatenate([points, 0.5 * points[unique].sum(axis=1)]), cut


def _disc(rings: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the points [n, 2] of a disc of radius one, ring by ring, and its triangles, counter-clockwise."""
    points, faces = [np.zeros((1, 2))], []
    first = 0
    for ring in range(1, rings + 1):
        angles = math.pi / 3.0 * np.arange(6 * ring) / ring
        points.append(ring / rings * np.column_stack([np.cos(angles), np.sin(angles)]))
        inner, outer = max(6 * (ring - 1), 1), 6 * ring
        start = first + inner
        for sector in range(6):
            for i in range(ring):
                out = start + sector * ring + i
                ahead = start + (sector * ring + i + 1) % outer
                within = first + (sector * (ring - 1) + i) % inner
                faces.append((out, ahead, within))
                if i + 1 < ring:
                    faces.append((ahead, first + (sector * (ring - 1) + i + 1) % inner, within))
        first = start
    return np.concatenate(points), np.array(faces)


def _require_positive(what: str, **lengths: float) -> None:
    for name, length in lengths.items():
        if not (math.isfinite(length) and length > 0.0):
            raise MeshError(f"the {name} of a {what} must be positive; it is {length:g} m.")
