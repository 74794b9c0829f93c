"""Whether surfaces pass through each other: on a straight way of the nodes, or where they are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from symplex.contact.closest import closest
from symplex.contact.grid import (
    LEVELS,
    Grid,
    arrange,
    boxes_within,
    find_stretches,
    largest_extent,
    most_rows,
    overlap,
)
from symplex.contact.pairs import SurfacePairs, relative
from symplex.contact.passing import free_way, meeting, without_mean
from symplex.contact.search import edges_through_faces, find_swept
from symplex.contact.surfaces import Surface, components_of, is_closed
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.compiled.kernels import formula, kernel
from symplex.fem.compiled.vectors import (
    Vec3,
    cross,
    dot,
    vec3_of,
)

_KEPT = 0.1  # of the distance at the beginning of a way
_MET = 1e-7  # of the size of a pair: what comes nearer has met
_SHALLOW = 1e-9  # of the largest triangle: what reaches less deep only touches
_COMPARISONS = 32  # per triangle, vertex and edge, before the way that is looked at is halved
_SHORTEST = 1e-3  # part of a way beyond which it is not halved
_BELOW = 1e-6  # of the size of a triangle: how far below it is looked what is inside
_LOOKED_AT = 20_000  # triangles, below which that is done
_LITTLE = 1e-3  # of the area, or the size, that may be wrong in a surface: what rounding in a file makes
_SAMPLES = 2000  # of points inside another body, among which the deepest is sought


class Intersection(NamedTuple):
    """Where two bodies, or a body and itself, pass through each other.

    Attributes
    ----------
    bodies : tuple of two str
        Their names.
    place : float64 [3]
        The position in m of the point that is deepest inside.
    depth : float
        An estimate in m of how deep: the largest distance of a vertex or the centre of a triangle, of one body inside
        the other, from the other's surface. Of a body with itself, and of surfaces that are not closed, how far an edge
        that passes through a triangle reaches through its plane.
    """

    bodies: tuple[str, str]
    place: Array
    depth: float

    def __str__(self) -> str:
        """Return a clause."""
        x, y, z = self.place
        one, other = self.bodies
        who = f"body '{one}' passes through itself" if one == other else f"the bodies '{one}' and '{other}' overlap"
        return f"{who} by about {self.depth:.3g} m at ({x:.4g}, {y:.4g}, {z:.4g}) m"


def collision_free_fraction(surface: Surface, q0: Array, q1: Array, between: NDArray[np.bool_]) -> float:
    """Return a share in [0, 1] of the straight way of all nodes from q0 to q1 on which nothing meets.

    1 where nothing comes near. Otherwise each pair has about a tenth of its distance at q0 left, and not less than a
    hundredth on the way; or the way was so long that a part of it was looked at only.

    Parameters
    ----------
    surface : Surface
    q0, q1 : float64 [n, 3]
        Nodal positions in m.
    between : bool [bodies, bodies]
        Which bodies may meet, symmetric; on the diagonal those with themselves.
    """
    share, end = 1.0, q1
    at_most = _COMPARISONS * (len(surface.triangles) + len(surface.vertices) + len(surface.edges))
    while (pairs := find_swept(surface, q0, end, between, at_most)) is None:
        share *= 0.5
        end = q0 + share * (q1 - q0)
        if share < _SHORTEST:  # so many are near each other where they are
            at_most = 0
    return share * free_share(pairs.nodes, pairs.edge_edge, q0, end)


@kernel
def free_share(nodes, edge_edge, q0, q1):
    """Return the share in [0, 1] of the way from q0 to q1 [n, 3] on which pairs [m, 4] keep a tenth of their gap."""
    share = 1.0
    for i in range(len(nodes)):
        x, w = _way(nodes, i, q0, q1)
        s, _ = closest(edge_edge[i], x)
        share = free_way(edge_edge[i], x, w, _KEPT * np.sqrt(s), share)
    return share


@kernel
def first_meeting(nodes, edge_edge, q0, q1):
    """Return the first pair in the list that meets on the way from q0 to q1 [n, 3], or −1, and at which share of it."""
    for i in range(len(nodes)):
        x, w = _way(nodes, i, q0, q1)
        size = max(dot(x[1], x[1]), dot(x[2], x[2]), dot(x[3], x[3]))
        share = meeting(edge_edge[i], x, w, _MET * np.sqrt(size))
        if share <= 1.0:
            return i, share
    return -1, 1.0


@formula
def _way(nodes, i, q0, q1):
    """Return positions of a pair, relative to its first node, and displacements without their mean."""
    a, b, c, d = nodes[i]
    w = (
        *(vec3_of(q1, a) - vec3_of(q0, a), vec3_of(q1, b) - vec3_of(q0, b)),
        *(vec3_of(q1, c) - vec3_of(q0, c), vec3_of(q1, d) - vec3_of(q0, d)),
    )
    return relative(q0, a, b, c, d), without_mean(w)


def find_penetration(surface: Surface, pairs: SurfacePairs, q0: Array, q1: Array) -> str | None:
    """Return a clause on the first pair of a list that passes through on the way from q0 to q1 [n, 3], or None.

    All pairs that meet on the way are found, and none that stay apart by more than a millionth of their size. What is
    not in the list is not looked at.
    """
    i, share = first_meeting(pairs.nodes, pairs.edge_edge, q0, q1)
    if i < 0:
        return None
    nodes, edge_edge = pairs.nodes[i], bool(pairs.edge_edge[i])
    x, y, z = (q0[nodes] + share * (q1 - q0)[nodes]).mean(axis=0)
    one, other = (surface.names[body] for body in surface.bodies_of(nodes[[0, 3]]))
    what = ("an edge", "an edge") if edge_edge else ("a vertex", "a face")
    of_other = "the same body" if one == other else f"'{other}'"
    return f"{what[0]} of '{one}' passed through {what[1]} of {of_other} near ({x:.4g}, {y:.4g}, {z:.4g}) m"


# -- where they are --------------------------------------------------------------------------------------------------


def intersections(surface: Surface, q: Array, between: NDArray[np.bool_]) -> list[Intersection]:
    """Return where bodies pass through each other at the positions q [n, 3] in m, one place for each pair of bodies.

    Found are edges through triangles, and of bodies with closed surfaces vertices and centres of triangles of one that
    are inside another one: also those of bodies wholly inside, or with faces in one plane. Bodies that touch do not
    pass through each other.

    Parameters
    ----------
    surface : Surface
    q : float64 [n, 3]
    between : bool [bodies, bodies]
        Which bodies are looked at, symmetric; on the diagonal those with themselves.
    """
    deepest = _deepest_edges(surface, q, between)
    deepest |= _deepest_inside(surface, q, between)
    return [
        Intersection((surface.names[one], surface.names[other]), place, depth)
        for (one, other), (depth, place) in sorted(deepest.items(), key=lambda item: item[0])
    ]


_Deepest = dict[tuple[int, int], tuple[float, Array]]  # depth in m and place [3], by two bodies, the smaller one first


def _deepest_edges(surface: Surface, q: Array, between: NDArray[np.bool_]) -> _Deepest:
    """Return the ends of edges that reach farthest through triangles, of each two bodies."""
    edges, faces = edges_through_faces(surface, q, between)
    ends, corners = q[surface.edges[edges]], q[surface.triangles[faces]]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    heights = np.abs(np.einsum("mej,mj->me", ends - corners[:, :1], normals))  # of both ends
    depths, nearer = heights.min(axis=1), heights.argmin(axis=1)
    bodies = np.sort(np.column_stack([surface.edge_bodies[edges], surface.triangle_bodies[faces]]), axis=1)
    found: _Deepest = {}
    for i in np.argsort(depths, kind="stable"):  # the deepest one last
        found[int(bodies[i, 0]), int(bodies[i, 1])] = float(depths[i]), ends[i, nearer[i]]
    return found


def _deepest_inside(surface: Surface, q: Array, between: NDArray[np.bool_]) -> _Deepest:
    """Return the vertices and centres of triangles that are deepest inside another body, of each two bodies."""
    triangles = [surface.triangles[surface.triangle_bodies == b] for b in range(len(surface.names))]
    points = [
        np.concatenate([q[surface.vertices[surface.vertex_bodies == b]], q[nodes].mean(axis=1)])
        for b, nodes in enumerate(triangles)
    ]
    lower, upper = (np.array([end(of, axis=0) for of in points]) for end in (np.min, np.max))
    found: _Deepest = {}
    for other, nodes in enumerate(triangles):
        partners = [
            one
            for one in np.flatnonzero(between[:, other])
            if one != other and (lower[one] <= upper[other]).all() and (lower[other] <= upper[one]).all()
        ]
        if not partners or not is_closed(nodes):
            continue
        grid, boxes, largest = _grid_of(nodes, q)
        for one in map(int, partners):
            near = points[one][((points[one] >= lower[other]) & (points[one] <= upper[other])).all(axis=1)]
            inside = near[windings(near, upper[other, 0], grid, nodes, q) != 0]
            inside = inside[:: -(-len(inside) // _SAMPLES) or 1]
            depth = distances_to(inside, boxes, nodes, q)
            bodies = (min(one, other), max(one, other))
            if len(depth) and depth.max() > max(_SHALLOW * largest, found.get(bodies, (0.0,))[0]):
                found[bodies] = float(depth.max()), inside[np.argmax(depth)]
    return found


def _grid_of(nodes: IntArray, q: Array) -> tuple[Grid, Array, float]:
    """Return the grid in which triangles [f, 3] are found, their boxes [f, 6], and the largest extent of one in m."""
    corners = q[nodes].reshape(-1, 3)
    region = np.concatenate([corners.min(axis=0), corners.max(axis=0)])[None]
    boxes, members = boxes_within(nodes, np.zeros(len(nodes), np.int32), q, q, 0.0, region, np.ones((1, 1), bool))
    largest = largest_extent(boxes)
    return Grid(*arrange(boxes, members, largest, 0.0)), boxes, largest


def counted_twice(points: Array, triangles: IntArray) -> str | None:
    """Return a clause on where closed triangles [f, 3] bound a volume more than once, or less, or None.

    Closed parts may touch each other, and be in each other as cavities are, with normals that point into the cavity.
    """
    parts = components_of(triangles, len(points))
    if not parts.any() and not _has_wings(triangles):
        return None
    some = triangles[:: -(-len(triangles) // _LOOKED_AT)]
    x = points[some]
    normals = np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0])
    areas = np.linalg.norm(normals, axis=1)
    sizes = np.sqrt(areas)[:, None]
    below = x.mean(axis=1) - _BELOW * normals / np.where(sizes > 0.0, sizes, 1.0)
    grid, _, _ = _grid_of(triangles, points)
    times = windings(below, float(points[:, 0].max()), grid, triangles, points)
    wrong = np.where(times != 1, areas, 0.0)
    if wrong.sum() > _LITTLE * areas.sum():
        f = int(np.argmax(wrong))
        return f"below its triangle at {_at(x[f].mean(axis=0))} it is counted {times[f]} times"
    x = points[triangles] - points[0]
    volumes = np.bincount(parts, np.einsum("fi,fi->f", x[:, 0], np.cross(x[:, 1], x[:, 2])))
    outward = [triangles[parts == k] for k in np.flatnonzero(volumes > 0.0)]
    surface = Surface.join([Surface.from_triangles(points, own, f"{k}") for k, own in enumerate(outward)])
    for found in intersections(surface, points, ~np.eye(len(outward), dtype=bool)):
        if found.depth > _LITTLE * float(np.ptp(points, axis=0).max()):
            return f"closed parts of it overlap by about {found.depth:.3g} m at {_at(found.place)}"
    return None


def _has_wings(triangles: IntArray) -> bool:
    """Return whether an edge has more than two triangles, as where closed parts touch along edges."""
    ends = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1).astype(np.int64)
    return bool(np.unique(ends[:, 0] * (int(triangles.max()) + 1) + ends[:, 1], return_counts=True)[1].max() > 2)


def _at(place: Array) -> str:
    """Return a place in words."""
    return f"({', '.join(f'{x:.4g}' for x in place)}) m"


@kernel
def windings(points, farthest, grid, triangles, q):
    """Return how often closed triangles [f, 3] wind around points [p, 3]: 0 outside.

    What a ray along x meets is counted with its sign. In the plane normal to it a point is in a triangle if one of the
    two edges that reach across its z is beyond its y: as neighbours compute the same for their edge, each point is in
    one triangle of a closed surface, also on the edge of two.
    """
    result = np.zeros(len(points), np.int64)
    stretches = np.empty((most_rows(grid), 2), np.int64)
    box = np.empty((1, 6))
    for i in range(len(points)):
        x, y, z = points[i]
        box[0, 0], box[0, 1], box[0, 2], box[0, 3], box[0, 4], box[0, 5] = x, y, z, farthest, y, z
        for level in range(LEVELS):
            for stretch in range(find_stretches(box, 0, grid, level, stretches)):
                for place in range(stretches[stretch, 0], stretches[stretch, 1]):
                    if overlap(box, 0, grid.boxes, place):
                        result[i] += _passes(x, y, z, triangles[grid.order[place]], q)
    return result


@formula
def _passes(x, y, z, nodes, q):
    """Return 1 where a ray along x leaves through a triangle, −1 where it enters, 0 where it passes by."""
    beyond, sign = 0, 0
    for k in range(3):
        a, b = nodes[k], nodes[(k + 1) % 3]
        up = q[b, 2] > z
        if (q[a, 2] > z) != up:
            low, high = min(a, b), max(a, b)
            share = (z - q[low, 2]) / (q[high, 2] - q[low, 2])
            if q[low, 1] + share * (q[high, 1] - q[low, 1]) > y:
                beyond += 1
                sign = 1 if up else -1
    if beyond != 1:
        return 0
    a, b, c = nodes
    x_a = vec3_of(q, a)
    above = dot(Vec3(x, y, z) - x_a, cross(vec3_of(q, b) - x_a, vec3_of(q, c) - x_a))
    return sign if above * sign < 0.0 else 0


@kernel
def distances_to(points, boxes, triangles, q):
    """Return the distances [p] in m of points [p, 3] from the nearest of triangles [f, 3], in boxes [f, 6]."""
    result = np.empty(len(points))
    for i in range(len(points)):
        point = vec3_of(points, i)
        least = np.inf
        for f in range(len(triangles)):
            apart = 0.0
            for j in range(3):
                d = max(boxes[f, j] - points[i, j], points[i, j] - boxes[f, 3 + j], 0.0)
                apart += d * d
            if apart < least:
                a, b, c = triangles[f]
                s, _ = closest(
                    False, (point - point, vec3_of(q, a) - point, vec3_of(q, b) - point, vec3_of(q, c) - point)
                )
                least = min(least, s)
        result[i] = np.sqrt(least)
    return result
