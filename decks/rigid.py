"""Reference nodes of a deck: rigid bodies, and couplings that hold a surface or distribute forces on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from symplex.decks.deck import Deck, Distributed, MultiPoint, RigidGroup
from symplex.decks.geometry import DeckGeometry
from symplex.decks.reading import UnsupportedKeyword
from symplex.decks.rows import Array, Dof, Rows, rotation_of
from symplex.decks.state import Value, directions, oriented

_AXES = np.eye(3)
_MOST = 900  # nodes that a reference node follows


def add_rigid(rows: Rows, rigid: RigidGroup, deck: Deck, geometry: DeckGeometry) -> None:
    """Add u = u_r + θ × (x − x_r) for each node: of those of a rigid body, or coupled to a reference node."""
    points = geometry.mesh.points
    reference = reference_of(rigid, geometry)
    place = points[reference]
    if rigid.rotation and reference in rows.framed:
        raise UnsupportedKeyword(f"node {geometry.numbers[reference]} of a beam or shell cannot have a ROT NODE")
    if rigid.rotation:
        (turning,) = single(geometry, rigid.rotation)
    elif rigid.of == "elements" and reference in rows.turning:  # of the same body as its NSET
        turning = rows.turning[reference]
    else:
        turning = _turning_node(rows, reference, place, geometry)
    if rigid.rotation and rows.turning.setdefault(reference, turning) != turning:
        raise UnsupportedKeyword(f"node {geometry.numbers[reference]} is the reference node of several rigid bodies")
    nodes = np.setdiff1d(_rigid_nodes(rigid, geometry), [reference, turning])
    local = None if not rigid.axes else directions(oriented(deck, rigid.axes), points[nodes])
    if local is not None and np.isnan(local).any():
        raise UnsupportedKeyword("a node on the axis of the coupling's cylindrical system has no radial direction")
    for k, node in enumerate(nodes.tolist()):
        for i in rigid.components:
            axis = _AXES[i] if local is None else local[k, i]
            rows.add(_rigid_motion(node, reference, turning, points[node] - place, axis))
        for i in rigid.turns if node in rows.framed else ():
            axis = _AXES[i] if local is None else local[k, i]
            turned = {(rotation_of(node), j): float(axis[j]) for j in range(3)}
            rows.add(turned | {(turning, j): -float(axis[j]) for j in range(3)})


class Driven(NamedTuple):
    """A rigid body or coupling all of whose motion is given: its nodes turn about the reference node."""

    group: RigidGroup
    reference: int
    nodes: list[int]
    turn: dict[int, Value]


def rotation_dofs(rigid: RigidGroup, geometry: DeckGeometry) -> list[Dof]:
    """Return what a deck calls the rotations of the reference node of a rigid body."""
    if rigid.rotation:
        return [(single(geometry, rigid.rotation)[0], i) for i in range(3)]
    return [(reference_of(rigid, geometry), i) for i in range(3, 6)]


def driven_groups(deck: Deck, geometry: DeckGeometry, supports: Mapping[Dof, Value]) -> list[Driven]:
    """Return the rigid bodies whose reference node is held and turned by supports."""
    found: list[Driven] = []
    for rigid in deck.rigid:
        reference = reference_of(rigid, geometry)
        held = [supports.get((reference, i)) for i in range(3)]
        turned = [supports.get(dof) for dof in rotation_dofs(rigid, geometry)]
        if any(value is None or value.value for value in held) or any(value is None for value in turned):
            continue
        if rigid.components == (0, 1, 2) and not rigid.axes and any(value and value.value for value in turned):
            nodes = np.setdiff1d(_rigid_nodes(rigid, geometry), [reference]).tolist()
            turn = {i: value for i, value in enumerate(turned) if value is not None}
            found.append(Driven(rigid, reference, nodes, turn))
    return found


def reference_of(rigid: RigidGroup, geometry: DeckGeometry) -> int:
    """Return the place of the reference node of a rigid body, the first of its nodes if none is named."""
    return single(geometry, rigid.reference)[0] if rigid.reference else int(_rigid_nodes(rigid, geometry)[0])


def _rigid_nodes(rigid: RigidGroup, geometry: DeckGeometry) -> NDArray[np.int64]:
    """Return the places of the nodes of a rigid body or coupling."""
    if rigid.of == "surface":
        return geometry.surface_nodes(rigid.nodes)
    return geometry.nodes_of_elements([rigid.nodes]) if rigid.of == "elements" else geometry.nodes(rigid.nodes)


def _rigid_motion(node: int, reference: int, turning: int, d: Array, axis: Array) -> dict[Dof, float]:
    """Return the factors of e·(u − u_r − θ × d) = 0 for a node at d from a reference node, in a direction e."""
    factors: dict[Dof, float] = {(node, i): float(axis[i]) for i in range(3)}
    factors |= {(reference, i): -float(axis[i]) for i in range(3)}
    moment = np.cross(d, axis)  # e·(θ × d) = θ·(d × e)
    return factors | {(turning, i): -float(moment[i]) for i in range(3)}


def _turning_node(rows: Rows, reference: int, place: Array, geometry: DeckGeometry) -> int:
    """Return a new node whose displacements are the rotations of a reference node.

    Raises
    ------
    UnsupportedKeyword
        If this has one already.
    """
    if reference in rows.turning:
        raise UnsupportedKeyword(f"node {geometry.numbers[reference]} is the reference node of several rigid bodies")
    if reference in rows.framed:
        turning = rows.turning[reference] = rotation_of(reference)
        return turning
    turning = rows.turning[reference] = rows.add_point(place)
    return turning


def single(geometry: DeckGeometry, who: str) -> list[int]:
    """Return the one node that a set has, in a list."""
    nodes = geometry.nodes(who)
    if len(nodes) != 1:
        raise UnsupportedKeyword(f"'{who}' has {len(nodes)} nodes, not one")
    return nodes.tolist()


def add_multi_point(rows: Rows, constraint: MultiPoint, geometry: DeckGeometry) -> None:
    """Add that two nodes keep their distance or move as one, or that a node has the mean rotation of others.

    With the places r of n nodes from the axis e through their centre, θ = 1/n Σ (e × r)·(u − ū)/r². The axis is the
    place of the node whose first displacement is θ.
    """
    points = geometry.mesh.points
    *nodes, last = (single(geometry, who)[0] for who in constraint.nodes)
    if constraint.kind in ("PIN", "TIE"):
        for i in range(3):
            rows.add({(nodes[0], i): 1.0, (last, i): -1.0})
        return
    if constraint.kind == "BEAM":
        d = points[last] - points[nodes[0]]
        rows.add({(node, i): s * float(d[i]) for node, s in ((last, 1.0), (nodes[0], -1.0)) for i in range(3)})
        return
    size = np.linalg.norm(points[last])
    if not size:
        raise UnsupportedKeyword("the node of a MEANROT is at the origin, so that it gives no axis")
    axis = points[last] / size
    r = points[nodes] - points[nodes].mean(axis=0)
    r -= np.outer(r @ axis, axis)
    squares = np.einsum("ni,ni->n", r, r)
    if not squares.all():
        raise UnsupportedKeyword("a node of a MEANROT is on its axis")
    weights = np.cross(axis, r) / squares[:, None]
    weights = (weights - weights.mean(axis=0)) / len(nodes)
    factors = {(node, i): float(w[i]) for node, w in zip(nodes, weights, strict=True) for i in range(3)}
    rows.add(factors | {(last, 0): -1.0})


def weighted_nodes(
    coupling: Distributed, reference: int, geometry: DeckGeometry
) -> tuple[NDArray[np.integer], NDArray[np.float64]]:
    """Return the nodes that the reference node of a coupling follows, and their weights, of sum 1.

    Raises
    ------
    UnsupportedKeyword
        If weights are not positive, or the reference node is one of the nodes.
    """
    if coupling.surface is not None:
        nodes = geometry.surface_nodes(coupling.surface)
        weights = np.ones(len(nodes))
    else:
        sets = [(geometry.nodes(who), weight) for who, weight in coupling.weights]
        nodes = np.concatenate([members for members, _ in sets])
        weights = np.concatenate([np.full(len(members), weight) for members, weight in sets])
    if reference in nodes or not weights.sum() > 0.0 or weights.min() < 0.0:
        raise UnsupportedKeyword(
            "its weights are not positive, or its reference node is among the nodes that it follows"
        )
    return nodes, weights / weights.sum()


def add_distributed(rows: Rows, coupling: Distributed, deck: Deck, geometry: DeckGeometry) -> None:
    """Add that a reference node moves as the mean of others.

    With weights w of sum 1, x̄ = Σ w x, r = x − x̄, and the mean rotation θ, Σ w (r² 1 − r rᵀ) θ = Σ w r × u: the least
    squares of a rigid motion. The reference node has u_r = Σ w u + θ × (x_r − x̄).
    """
    points = geometry.mesh.points
    if coupling.of_element:
        found = [places for *_, places in geometry.discrete(coupling.reference)]
        if len(found) != 1:
            raise UnsupportedKeyword(f"'{coupling.reference}' has {len(found)} elements, not one")
        reference = found[0][0]
    else:
        (reference,) = single(geometry, coupling.reference)
    nodes, weights = weighted_nodes(coupling, reference, geometry)
    if len(nodes) > _MOST:
        raise UnsupportedKeyword(f"it follows {len(nodes)} nodes; more than {_MOST} are too many")
    centre = weights @ points[nodes]
    r = points[nodes] - centre
    arm = points[reference] - centre
    turning = None if coupling.of_element else _turning_node(rows, reference, points[reference], geometry)
    for i in range(3):
        mean: dict[Dof, float] = {(reference, i): -1.0}
        mean |= {(node, i): float(w) for node, w in zip(nodes.tolist(), weights, strict=True)}
        if turning is not None:
            moment = np.cross(arm, _AXES[i])
            mean |= {(turning, k): float(moment[k]) for k in range(3)}
        rows.add(mean)
    if turning is None:
        return
    inertia = np.einsum("n,ni,ni->", weights, r, r) * np.eye(3) - np.einsum("n,ni,nj->ij", weights, r, r)
    if np.linalg.matrix_rank(inertia, tol=1e-9 * np.trace(inertia)) < 3:
        raise UnsupportedKeyword("the nodes of a coupling that distributes forces are on one line")
    for i in range(3):
        turn: dict[Dof, float] = {(turning, k): -float(inertia[i, k]) for k in range(3)}
        for node, w, d in zip(nodes.tolist(), weights, r, strict=True):
            moment = np.cross(_AXES[i], d)  # e·(r × u) = u·(e × r)
            turn |= {(node, k): float(w * moment[k]) for k in range(3)}
        rows.add(turn)
    if coupling.axes:
        local = directions(oriented(deck, coupling.axes), points[[reference]])[0]
        rows.local |= {reference: local, turning: local}
