"""Which vertices are near which triangles of a surface, and which edges near which, found in a `Grid`.

What is found, and in which order, follows from the positions alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from symplex.contact.closest import closest
from symplex.contact.grid import (
    LEVELS,
    Grid,
    arrange,
    boxes_of_bodies,
    boxes_within,
    find_stretches,
    largest_extent,
    most_rows,
    overlap,
)
from symplex.contact.pairs import SurfacePairs, relative
from symplex.contact.passing import cuts, relative_way, without_mean
from symplex.contact.surfaces import Surface
from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.compiled.kernels import formula, kernel

_VERTEX_FACE, _EDGE_EDGE, _EDGE_FACE, _FACE_FACE = 0, 1, 2, 3  # kinds of pairs
_SIDES = ((0, 2), (1, 1), (1, 2), (2, 2))  # which primitives they are of: vertices, edges, triangles
_NEAR_ONE, _NEAR_EITHER, _SWEPT = 0, 1, 2  # what is sought: near at one position, at either of two, on the way
_NO_LIMIT = np.iinfo(np.int64).max
_PARALLEL = 1e-3  # of |E1|² |E2|²: below it |e1 × e2|² counts as nearly parallel


class _Sought(NamedTuple):
    """What is sought: how, at or on the way between which positions, how near, between which bodies, how many at most.

    ``near`` [bodies, bodies] are those that are paired, of which some may be too far from each other.
    """

    way: int
    q0: Array
    q1: Array
    distance: float
    near: NDArray[np.bool_]
    at_most: int


class _Side(NamedTuple):
    """Primitives, vertices, edges or triangles, with their nodes [p, k] and bodies [p], in a grid."""

    nodes: IntArray
    bodies: IntArray
    grid: Grid


def find_pairs(
    surface: Surface,
    ends: tuple[Array, ...],
    distance: float,
    between: NDArray[np.bool_],
    around: NDArray[np.bool_] | None = None,
) -> SurfacePairs:
    """Return the pairs that are closer than a distance at one of one or two positions of the nodes.

    Parameters
    ----------
    surface : Surface
    ends : tuple of float64 [n, 3]
        The nodal positions in m, one or two arrays.
    distance : float
        In m.
    between : bool [bodies, bodies]
        Which bodies are paired, symmetric; on the diagonal those with themselves. What shares a node is no pair.
    around : bool [n], optional
        Nodes of which each pair must have one; default: any pair. Of a part of a surface that takes part of the time.

    Raises
    ------
    InvalidSystem
        If the surface has nodes that there are none of.
    StepFailed
        If a position is not finite.
    """
    way = _NEAR_ONE if len(ends) == 1 else _NEAR_EITHER
    found = _found(surface, _Sought(way, ends[0], ends[-1], distance, between, _NO_LIMIT), around)
    assert found is not None
    return found


def find_swept(
    surface: Surface, q0: Array, q1: Array, between: NDArray[np.bool_], at_most: int = 0
) -> SurfacePairs | None:
    """Return the pairs that may touch on the straight way of the nodes from q0 to q1.

    Parameters
    ----------
    surface : Surface
    q0, q1 : float64 [n, 3]
        Nodal positions in m.
    between : bool [bodies, bodies]
        As in `find_pairs`.
    at_most : int, optional
        How many pairs are looked at before it gives up and returns None; default: any number. Of nodes that move by
        much more than an edge, all pairs may be.

    Raises
    ------
    InvalidSystem, StepFailed
        As `find_pairs`.
    """
    return _found(surface, _Sought(_SWEPT, q0, q1, 0.0, between, at_most or _NO_LIMIT))


def edges_through_faces(surface: Surface, q: Array, between: NDArray[np.bool_]) -> tuple[IntArray, IntArray]:
    """Return edges [m] and triangles [m], by their indices, that cut each other at the positions q [n, 3] in m.

    Sorted by edge and triangle. Edges that lie in the plane of a triangle do not cut it; their neighbours do, or the
    surfaces touch without passing through.
    """
    _require_positions(surface, (q,))
    found = _search(_EDGE_FACE, surface, _Sought(_NEAR_ONE, q, q, 0.0, between, _NO_LIMIT))
    assert found is not None
    return found


def faces_near(
    surface: Surface,
    ends: tuple[Array, ...],
    distance: float,
    between: NDArray[np.bool_],
    around: NDArray[np.bool_] | None = None,
) -> tuple[IntArray, IntArray]:
    """Return pairs of triangles [m], [m], by their indices, that may come nearer than a distance in m.

    They are those whose boxes, about all positions on the straight way between one or two ends [n, 3], do. Sorted. With
    nodes ``around`` [n] a corner of a pair must be one of these.
    """
    _require_positions(surface, ends)
    found = _search(_FACE_FACE, surface, _Sought(_NEAR_ONE, ends[0], ends[-1], distance, between, _NO_LIMIT), around)
    assert found is not None
    return found


def _found(surface: Surface, sought: _Sought, around: NDArray[np.bool_] | None = None) -> SurfacePairs | None:
    _require_positions(surface, (sought.q0, sought.q1))
    faces = _search(_VERTEX_FACE, surface, sought, around)
    edges = None if faces is None else _search(_EDGE_EDGE, surface, sought, around)
    if faces is None or edges is None:
        return None
    (vertex, face), (a, b) = faces, edges
    nodes = np.empty((len(vertex) + len(a), 4), np.int32)
    nodes[: len(vertex), 0] = surface.vertices[vertex]
    nodes[: len(vertex), 1:] = surface.triangles[face]
    nodes[len(vertex) :, :2] = surface.edges[a]
    nodes[len(vertex) :, 2:] = surface.edges[b]
    weights = np.concatenate(
        [0.5 * surface.vertex_areas[vertex], 0.25 * (surface.edge_areas[a] + surface.edge_areas[b])]
    )
    lengths = surface.edge_lengths
    parallel = np.concatenate([np.zeros(len(vertex)), _PARALLEL * (lengths[a] * lengths[b]) ** 2])
    edge_edge = np.repeat(np.array([0, 1], np.uint8), [len(vertex), len(a)])
    return SurfacePairs(nodes=nodes, edge_edge=edge_edge, weights=weights, parallel=parallel)


def _require_positions(surface: Surface, ends: tuple[Array, ...]) -> None:
    last = int(surface.vertices[-1])
    for q in ends:
        if q.ndim != 2 or q.shape[1] != 3 or len(q) <= last:
            raise InvalidSystem(f"the surface has nodes up to {last} in three dimensions; positions are {q.shape}.")
        if not np.isfinite(q[surface.vertices]).all():
            bad = surface.vertices[~np.isfinite(q[surface.vertices]).all(axis=1)][0]
            raise StepFailed(f"the position of node {bad} on the surface is not finite: {q[bad]}. Try a smaller step.")


def _search(
    kind: int, surface: Surface, sought: _Sought, around: NDArray[np.bool_] | None = None
) -> tuple[IntArray, IntArray] | None:
    """Return the pairs of one kind, sorted, as indices of the first [m] and the second [m]; None if too many."""
    q0, q1 = (np.ascontiguousarray(q, dtype=float) for q in (sought.q0, sought.q1))
    distance = float(sought.distance)
    regions = np.empty((len(surface.names), 6))
    boxes_of_bodies(surface.vertices, surface.vertex_bodies, q0, q1, distance, regions)
    near = sought.near & _overlapping(regions)
    if not near.any():
        return np.empty(0, np.int32), np.empty(0, np.int32)

    primitives = (
        (surface.vertices[:, None], surface.vertex_bodies),
        (surface.edges, surface.edge_bodies),
        (surface.triangles, surface.triangle_bodies),
    )
    first, second = _SIDES[kind]
    same = first == second
    sides = [primitives[first]] if same else [primitives[first], primitives[second]]
    boxed = [boxes_within(nodes, bodies, q0, q1, distance, regions, near) for nodes, bodies in sides]
    if around is not None:
        own = [around[nodes].any(axis=1) for nodes, _ in sides]
        boxed = _within_reach(boxed, own)
        # What is not sought is as of other bodies, of which no two are paired.
        sides = [
            (nodes, bodies + (~which * len(near)).astype(np.int32))
            for (nodes, bodies), which in zip(sides, own, strict=True)
        ]
        near = np.block([[near, near], [near, np.zeros_like(near)]])
    if not all(len(members) for _, members in boxed):
        return np.empty(0, np.int32), np.empty(0, np.int32)
    largest = max(largest_extent(boxes) for boxes, _ in boxed)
    # Where the first ones are smaller, vertices above all, cells as for the second keep neighbours together.
    *ahead, (boxes, members) = boxed
    grids = [Grid(*arrange(boxes, members, largest, 0.0))]
    grids[:0] = [Grid(*arrange(*those, largest, grids[0].size[grids[0].size > 0.0].min())) for those in ahead]
    sought = sought._replace(q0=q0, q1=q1, distance=distance, near=near, at_most=int(sought.at_most))
    one, other = _Side(*sides[0], grids[0]), _Side(*sides[-1], grids[-1])
    keys, complete = _keys(kind, False, one, other, sought)
    if complete and not same:  # and those with smaller boxes on the second side
        more, complete = _keys(kind, True, other, one, sought)
        keys = np.concatenate([keys, more])
    if not complete:
        return None
    keys.sort()
    return (keys >> 32).astype(np.int32), (keys & 0xFFFFFFFF).astype(np.int32)


def _within_reach(boxed: list[tuple[Array, IntArray]], own: list[NDArray[np.bool_]]) -> list[tuple[Array, IntArray]]:
    """Return those of the boxes and members that overlap the region of all that are sought, by side."""
    of_own = np.concatenate([boxes[which[members]] for (boxes, members), which in zip(boxed, own, strict=True)])
    low, high = of_own[:, :3].min(axis=0, initial=np.inf), of_own[:, 3:].max(axis=0, initial=-np.inf)
    inside = [(boxes[:, :3] <= high).all(axis=1) & (boxes[:, 3:] >= low).all(axis=1) for boxes, _ in boxed]
    return [(boxes[which], members[which]) for (boxes, members), which in zip(boxed, inside, strict=True)]


def _overlapping(boxes: Array) -> NDArray[np.bool_]:
    """Return which boxes [m, 6] overlap which [m, m]."""
    below = np.all(boxes[:, None, :3] <= boxes[None, :, 3:], axis=2)
    return np.logical_and(below, below.T)


@kernel
def _keys(kind, turned, side, other, sought):
    """Return the pairs of one set with another as first · 2³² + second, unsorted, and whether these are all.

    Of each box the larger ones of the other set are looked at, and those of its level: of its own set those at later
    places, of another one unless the sides are turned.
    """
    nodes, bodies, grid = side.nodes, side.bodies, side.grid
    others, of_others, among = other.nodes, other.bodies, other.grid
    near, keys, found, looked = sought.near, np.empty(1024, np.int64), 0, 0
    stretches = np.empty((most_rows(among), 2), np.int64)
    itself = kind in (_EDGE_EDGE, _FACE_FACE)
    for own in range(LEVELS):
        for place in range(grid.levels[own], grid.levels[own + 1]):
            i = grid.order[place]
            for level in range(own if turned else own + 1):
                for stretch in range(find_stretches(grid.boxes, place, among, level, stretches)):
                    begin, end = stretches[stretch]
                    if itself and level == own:
                        begin = max(begin, place + 1)
                    for p in range(begin, end):
                        if not overlap(grid.boxes, place, among.boxes, p):
                            continue
                        j = among.order[p]
                        if not near[bodies[i], of_others[j]] or _share_node(nodes, i, others, j):
                            continue
                        looked += 1
                        if turned or (itself and j < i):
                            yes = _is_requested(kind, others, j, nodes, i, sought)
                            key = (np.int64(j) << 32) + i
                        else:
                            yes = _is_requested(kind, nodes, i, others, j, sought)
                            key = (np.int64(i) << 32) + j
                        if yes:
                            if found == len(keys):
                                keys = np.concatenate((keys, np.empty(found, np.int64)))
                            keys[found] = key
                            found += 1
            if looked > sought.at_most:
                return keys[:0], False
    return keys[:found], True


@formula
def _share_node(nodes, i, others, j):
    for a in range(nodes.shape[1]):
        for b in range(others.shape[1]):
            if nodes[i, a] == others[j, b]:
                return True
    return False


@formula
def _is_requested(kind, nodes, i, others, j, sought):
    """Return whether a pair is what is sought."""
    way, q0, q1, distance = sought.way, sought.q0, sought.q1, sought.distance
    if kind == _FACE_FACE:  # what is sought are boxes
        return True
    if kind == _EDGE_FACE:
        return cuts(q0, nodes[i, 0], nodes[i, 1], others[j, 0], others[j, 1], others[j, 2])
    edge_edge = kind == _EDGE_EDGE
    x = _relative(nodes, i, others, j, q0)
    s, _ = closest(edge_edge, x)
    if way == _NEAR_ONE or s < distance * distance:
        return s < distance * distance
    y = _relative(nodes, i, others, j, q1)
    if way == _NEAR_EITHER:
        t, _ = closest(edge_edge, y)
        return t < distance * distance
    w = without_mean((y[0] - x[0], y[1] - x[1], y[2] - x[2], y[3] - x[3]))
    return s <= relative_way(edge_edge, w) ** 2


@formula
def _relative(nodes, i, others, j, q):
    """Return the positions of a pair, relative to its first node."""
    if nodes.shape[1] == 2:
        return relative(q, nodes[i, 0], nodes[i, 1], others[j, 0], others[j, 1])
    return relative(q, nodes[i, 0], others[j, 0], others[j, 1], others[j, 2])
