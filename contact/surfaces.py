"""Surfaces of bodies as triangles, edges and vertices, between which contact is sought."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symplex.base.arguments import checked
from symplex.base.representation import Summarized
from symplex.base.sparse import sp
from symplex.errors import InvalidSystem, MeshError
from symplex.fem.assembly.copying import Copyable
from symplex.fem.assembly.nodes import connectivity, require_nodes
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.meshes.mesh import Mesh, distinct

# What faces are cut into at their nodes, by type: triangles, of quadratic faces of corners first, then of the nodes in
# the middle of edges; and quadrilaterals, each cut along the diagonal at its smallest node, so that the cut does not
# depend on where a face begins.
_PIECES = {
    "triangle": ([(0, 1, 2)], []),
    "triangle6": ([(0, 3, 5), (3, 1, 4), (5, 4, 2), (3, 4, 5)], []),
    "quad": ([], [(0, 1, 2, 3)]),
    "quad8": ([(0, 4, 7), (4, 1, 5), (5, 2, 6), (6, 3, 7)], [(4, 5, 6, 7)]),
    "quad9": ([], [(0, 4, 8, 7), (4, 1, 5, 8), (8, 5, 2, 6), (7, 8, 6, 3)]),
}

_MOST = 9  # nodes of a face
_OF_NODES = ("vertices", "edges", "triangles")


@dataclass(frozen=True, eq=False, repr=False)
class Surface(Summarized, Copyable):
    """The surfaces of one or several bodies in three dimensions, made of triangles.

    Made by `Surface.of` from a mesh, by `Surface.from_triangles` and by `Surface.join`. All rows are sorted, so that
    the order of anything found on a surface follows from its nodes alone.

    Attributes
    ----------
    names : tuple of str
        Of the bodies.
    vertices : int32 [v]
        The nodes on the surface, sorted.
    edges : int32 [e, 2]
        Their nodes, the smaller one first.
    triangles : int32 [f, 3]
        Their nodes, the smallest one first, with the outward normal by the right-hand rule.
    vertex_bodies, edge_bodies, triangle_bodies : int32 [v], [e], [f]
        To which body they belong, as an index of ``names``.
    vertex_areas : float64 [v]
        A third of the areas in m² of the triangles at a vertex, at rest.
    edge_areas : float64 [e]
        A third of those of the triangles at an edge.
    edge_lengths : float64 [e]
        In m, at rest.
    has_volume : tuple of bool
        For each body whether its surface bounds a volume; open surfaces of triangles alone do not.
    faces : int32 [f, 9]
        The nodes of the face that each triangle is a part of, as meshio orders them, then −1.
    """

    names: tuple[str, ...]
    vertices: IntArray
    edges: IntArray
    triangles: IntArray
    vertex_bodies: IntArray
    edge_bodies: IntArray
    triangle_bodies: IntArray
    vertex_areas: Array
    edge_areas: Array
    edge_lengths: Array
    has_volume: tuple[bool, ...]
    faces: IntArray

    @classmethod
    @partial(checked, but=("cls",))
    def of(cls, mesh: Mesh, bodies: str | Sequence[str] | None = None) -> Self:
        """Return the boundary of the volume cells of a mesh.

        Quadratic faces become the triangles between all their nodes, quadrilaterals are cut along a diagonal.

        Parameters
        ----------
        mesh : Mesh
            In three dimensions.
        bodies : str or sequence of str, optional
            Groups of the mesh, each a body: of volume cells, or of faces on the boundary. Default: what hangs together
            is a body, ``"body"`` if there is one, else ``"body 1"``, ``"body 2"`` … by their smallest nodes.

        Raises
        ------
        MeshError
            If there are no boundary faces, a group does not exist or has none, two bodies share a node, or an edge has
            no length.
        """
        if mesh.points.shape[1] != 3:
            raise MeshError(f"surfaces are of bodies in three dimensions; the mesh has {mesh.points.shape[1]}.")
        if bodies is None:
            triangles, faces = _triangulated(mesh.boundary_faces)
            if not len(triangles):
                raise MeshError(
                    "the mesh has no boundary faces, as it has no volume cells; Surface.from_triangles takes triangles."
                )
            label = components_of(triangles, len(mesh.points))
            n = int(label.max()) + 1
            names = ("body",) if n == 1 else tuple(f"body {i + 1}" for i in range(n))
            return cls._build(names, mesh.points, triangles, label, (True,) * n, faces)
        names = (bodies,) if isinstance(bodies, str) else tuple(bodies)
        parts = [_triangulated(mesh.faces_of(name)) for name in names]
        if not parts:
            raise MeshError("no body was named, so there is no surface.")
        of_body = np.repeat(np.arange(len(parts), dtype=np.int32), [len(part) for part, _ in parts])
        triangles, faces = (np.concatenate(rows) for rows in zip(*parts, strict=True))
        return cls._build(names, mesh.points, triangles, of_body, (True,) * len(parts), faces)

    @classmethod
    @partial(checked, but=("cls", "triangles"))
    def from_triangles(cls, points: Array, triangles: ArrayLike, name: str = "body") -> Self:
        """Return the surface of one body given by its triangles.

        Parameters
        ----------
        points : float64 [n, 3]
            At rest, in m.
        triangles : int [f, 3]
            Their nodes, with outward normals by the right-hand rule.
        name : str, optional
            Of the body.

        Raises
        ------
        MeshError
            If there is no triangle, or an edge has no length.
        InvalidSystem
            If a triangle has a node that does not exist, or one twice.
        """
        nodes = connectivity("Surface.from_triangles", triangles)
        if points.ndim != 2 or points.shape[1] != 3:
            raise InvalidSystem(f"Surface.from_triangles: points have shape {points.shape}, not [n, 3].")
        if nodes.ndim != 2 or nodes.shape[1] != 3:
            raise InvalidSystem(f"Surface.from_triangles: triangles have shape {nodes.shape}, not [f, 3].")
        require_nodes("Surface.from_triangles", nodes, len(points))
        if not len(nodes):
            raise MeshError("Surface.from_triangles: there is no triangle.")
        closed = is_closed(nodes)
        return cls._build((name,), points, nodes, np.zeros(len(nodes), np.int32), (closed,), _widened(nodes))

    @classmethod
    def join(cls, surfaces: Sequence[Surface]) -> Self:
        """Return the surface of the bodies of several surfaces, all of one numbering of nodes (see `shifted`).

        Raises
        ------
        MeshError
            If there is none, two bodies have one name, or share a node.
        """
        names = tuple(name for surface in surfaces for name in surface.names)
        if not names:
            raise MeshError("there is no surface to join.")
        first = np.cumsum([0, *[len(surface.names) for surface in surfaces]])

        def joined(rows: str) -> NDArray:
            return np.concatenate([getattr(surface, rows) for surface in surfaces])

        def of_body(rows: str) -> IntArray:
            parts = [getattr(surface, rows) + n for surface, n in zip(surfaces, first[:-1], strict=True)]
            return np.concatenate(parts).astype(np.int32)

        vertices, triangles, edges = joined("vertices"), joined("triangles"), joined("edges")
        _require_bodies(names, vertices, of_body("vertex_bodies"))
        v, e, f = np.argsort(vertices), np.lexsort(edges.T[::-1]), np.lexsort(triangles.T[::-1])
        return cls(
            names,
            vertices[v],
            edges[e],
            triangles[f],
            of_body("vertex_bodies")[v],
            of_body("edge_bodies")[e],
            of_body("triangle_bodies")[f],
            joined("vertex_areas")[v],
            joined("edge_areas")[e],
            joined("edge_lengths")[e],
            tuple(has for surface in surfaces for has in surface.has_volume),
            joined("faces")[f],
        )

    def shifted(self, first: int) -> Surface:
        """Return the surface with ``first`` added to its nodes: of a body whose nodes follow those of others.

        Raises
        ------
        InvalidSystem
            If a node would have a negative index, or one above 2³¹ − 1.
        """
        if not (self.vertices[0] + first >= 0 and self.vertices[-1] + first <= np.iinfo(np.int32).max):
            raise InvalidSystem(f"the nodes {self.vertices[0]} to {self.vertices[-1]} cannot be shifted by {first}.")
        moved = {name: (getattr(self, name) + first).astype(np.int32) for name in _OF_NODES}
        faces = np.where(self.faces < 0, -1, self.faces + first).astype(np.int32)
        return replace(self, faces=faces, **moved)

    def renumbered(self, nodes: IntArray) -> Surface:
        """Return the surface of nodes that are numbered by their places among others [s], which ascend."""
        moved = {name: np.searchsorted(nodes, getattr(self, name)).astype(np.int32) for name in _OF_NODES}
        faces = np.where(self.faces < 0, -1, np.searchsorted(nodes, self.faces)).astype(np.int32)
        return replace(self, faces=faces, **moved)

    def renamed(self, *names: str) -> Surface:
        """Return the surface with other names of its bodies.

        Raises
        ------
        MeshError
            If these are not as many, or two are the same.
        """
        if len(names) != len(self.names):
            raise MeshError(f"{len(names)} names were given to {len(self.names)} bodies.")
        _require_names(names)
        return replace(self, names=names)

    def bodies_of(self, nodes: IntArray) -> IntArray:
        """Return the bodies [...] that nodes [...] of the surface belong to."""
        return self.vertex_bodies[np.searchsorted(self.vertices, nodes)]

    def body(self, name: str) -> int:
        """Return the index of a body.

        Raises
        ------
        InvalidSystem
            If there is none of this name.
        """
        if name not in self.names:
            raise InvalidSystem(f"there is no body '{name}'; there are: {', '.join(self.names)}.")
        return self.names.index(name)

    def require_volume(self, body: int) -> None:
        """Check that a body, by its index, can be in contact with itself.

        Raises
        ------
        InvalidSystem
            If its surface is open and bounds no volume.
        """
        if not self.has_volume[body]:
            raise InvalidSystem(
                f"body '{self.names[body]}' cannot be in contact with itself: its surface is open and bounds no "
                "volume. Take a body of volume cells or a closed surface, or contact with other bodies only."
            )

    @classmethod
    def _build(
        cls,
        names: tuple[str, ...],
        points: Array,
        triangles: IntArray,
        of_body: IntArray,
        volume: tuple[bool, ...],
        faces: IntArray,
    ) -> Self:
        """Return the surface of triangles in any order and rotation, each of a body."""
        _require_triangles(triangles)
        triangles = _from_smallest(triangles)
        order = np.lexsort(triangles.T[::-1])
        triangles, of_body = np.ascontiguousarray(triangles[order]), of_body[order].astype(np.int32)
        vertices = distinct(triangles.ravel(), len(points))
        corner = np.searchsorted(vertices, triangles)
        vertex_bodies = np.zeros(len(vertices), np.int32)
        vertex_bodies[corner] = of_body[:, None]
        _require_bodies(names, triangles.ravel(), np.repeat(of_body, 3))

        ends = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]], axis=2).astype(np.int64)  # [f, 3, 2]
        keys, side = np.unique(ends[..., 0] * len(points) + ends[..., 1], return_inverse=True)
        edges = np.column_stack([keys // len(points), keys % len(points)]).astype(np.int32)
        lengths = np.linalg.norm(points[edges[:, 1]] - points[edges[:, 0]], axis=1)
        if not lengths.min() > 0.0:
            a, b = edges[np.argmin(lengths)]
            raise MeshError(f"the edge between nodes {a} and {b} of the surface has no length; merge these nodes.")
        x = points[triangles]
        third = np.linalg.norm(np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]), axis=1) / 6.0
        vertex_areas, edge_areas = np.zeros(len(vertices)), np.zeros(len(edges))
        np.add.at(vertex_areas, corner, third[:, None])
        np.add.at(edge_areas, side.reshape(-1, 3), third[:, None])
        return cls(
            names,
            vertices,
            edges,
            triangles,
            vertex_bodies,
            vertex_bodies[np.searchsorted(vertices, edges[:, 0])],
            of_body,
            vertex_areas,
            edge_areas,
            lengths,
            volume,
            np.ascontiguousarray(faces[order]),
        )


def _triangulated(faces: Mapping[str, IntArray]) -> tuple[IntArray, IntArray]:
    """Return the triangles [f, 3] that faces, by type, are cut into, and of each the nodes [f, 9] of its face."""
    cut = list(_cut(faces))
    triangles = np.concatenate([np.empty((0, 3), np.int32), *[triangles for triangles, _ in cut]])
    return triangles, np.concatenate([np.empty((0, _MOST), np.int32), *[_widened(rows) for _, rows in cut]])


def _cut(faces: Mapping[str, IntArray]) -> Iterator[tuple[IntArray, IntArray]]:
    for kind, rows in faces.items():
        triangles, quadrilaterals = _PIECES[kind]
        for columns in triangles:
            yield rows[:, columns], rows
        for columns in quadrilaterals:
            quads = _from_smallest(rows[:, columns])
            yield quads[:, [0, 1, 2]], rows
            yield quads[:, [0, 2, 3]], rows


def _widened(rows: IntArray) -> IntArray:
    """Return the nodes [f, 9] of faces, and −1 after them."""
    return np.pad(rows.astype(np.int32), ((0, 0), (0, _MOST - rows.shape[1])), constant_values=-1)


def _from_smallest(rows: IntArray) -> IntArray:
    """Return rows of nodes rotated so that each begins with its smallest one."""
    k = rows.shape[1]
    columns = (np.argmin(rows, axis=1)[:, None] + np.arange(k)) % k
    return np.take_along_axis(rows, columns, axis=1)


def components_of(triangles: IntArray, n_points: int) -> IntArray:
    """Return for each triangle which part of the surface it belongs to, parts counted by their smallest nodes."""
    a, b = triangles[:, [0, 1]].ravel(), triangles[:, [1, 2]].ravel()
    graph = sp.coo_array((np.ones(len(a), np.int8), (a, b)), (n_points, n_points))
    from scipy.sparse.csgraph import connected_components  # which takes long to import

    label = connected_components(graph, directed=False)[1][triangles[:, 0]]
    smallest = np.full(int(label.max(initial=0)) + 1, n_points)
    np.minimum.at(smallest, label, triangles.min(axis=1))
    used = np.flatnonzero(smallest < n_points)
    place = np.empty(len(smallest), np.int32)
    place[used[np.argsort(smallest[used])]] = np.arange(len(used))
    return place[label]


def is_closed(triangles: IntArray) -> bool:
    """Return whether each edge of triangles has as many that run along it one way as the other."""
    halves = triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2).astype(np.int64)
    n = int(halves.max()) + 1
    forward = np.sort(halves[:, 0] * n + halves[:, 1])
    return bool(np.array_equal(forward, np.sort(halves[:, 1] * n + halves[:, 0])))


def _require_triangles(triangles: IntArray) -> None:
    a, b, c = triangles.T
    if (twice := np.flatnonzero((a == b) | (b == c) | (c == a))).size:
        raise InvalidSystem(f"a triangle of the surface has one node twice: {triangles[twice[0]].tolist()}.")


def _require_names(names: tuple[str, ...]) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            raise MeshError(f"{count} bodies are named '{name}'; each needs a different name.")


def _require_bodies(names: tuple[str, ...], nodes: IntArray, of_body: IntArray) -> None:
    """Check that bodies have their own names and share no nodes, given nodes [m] with the body of each [m]."""
    _require_names(names)
    order = np.lexsort([of_body, nodes])
    nodes, of_body = nodes[order], of_body[order]
    shared = np.flatnonzero((nodes[1:] == nodes[:-1]) & (of_body[1:] != of_body[:-1]))
    if len(shared):
        i = int(shared[0])
        raise MeshError(
            f"the bodies '{names[of_body[i]]}' and '{names[of_body[i + 1]]}' share node {nodes[i]}: what hangs "
            "together is one body. Name a group that holds both."
        )
