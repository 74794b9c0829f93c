"""Linear constraints of a deck: equations, ties, rigid bodies and couplings as rows Σ c u = b of displacements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from symplex.decks.deck import Deck, RigidGroup, Tie
from symplex.decks.geometry import DeckGeometry, Face
from symplex.decks.reading import NotUnderstood
from symplex.meshes.kinds import FACE_KINDS
from symplex.meshes.shape_functions import SHAPE_FUNCTIONS

_NEAREST = 12  # faces, by their centres, among which that of a tied node is looked for
_NEAR = 0.025  # of the size of a face: how far from it a node is tied without a tolerance, as CalculiX has it
_BEYOND = 1e-3  # of a face: how far beyond its edge a foot may be
_NEWTON = 20
_MOST = 5000  # equations
_NO_WEIGHT = 1e-10

Array = NDArray[np.float64]
Dof = tuple[int, int]


@dataclass
class Rows:
    """Equations between displacements, in the units of the deck.

    Attributes
    ----------
    factors : list of dict of (node, component) to float
        The largest of each is 1 in size.
    values : list of float
    turns : dict of int to Array
        Nodes that the deck does not have, whose displacements are the rotations of rigid nodes: their places, those of
        the nodes that turn.
    turning : dict of int to int
        The node whose displacements are the rotations of a reference node.
    """

    factors: list[dict[Dof, float]] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    turns: dict[int, Array] = field(default_factory=dict)
    turning: dict[int, int] = field(default_factory=dict)

    def add(self, factors: Mapping[Dof, float], value: float = 0.0) -> None:
        """Add an equation."""
        size = max(map(abs, factors.values()), default=0.0)
        if not size:
            raise NotUnderstood("an equation has no factors")
        kept = {dof: factor / size for dof, factor in factors.items() if abs(factor) > _NO_WEIGHT * size}
        self.factors.append(kept)
        self.values.append(value / size)

    def turned(self, node: int, component: int) -> Dof | None:
        """Return where a component of a node is: rotations are displacements of another; None if it has no rotation."""
        if component < 3:
            return node, component
        return (self.turning[node], component - 3) if node in self.turning else None

    @property
    def nodes(self) -> set[int]:
        """All nodes that are in an equation."""
        return {node for row in self.factors for node, _ in row}


def rows_of(deck: Deck, geometry: DeckGeometry, local: Mapping[int, Array], nonlinear: bool) -> Rows:
    """Return all linear constraints of a deck.

    Parameters
    ----------
    deck : Deck
    geometry : DeckGeometry
    local : mapping of int to float64 [3, 3]
        The directions of nodes with a local system.
    nonlinear : bool
        Whether displacements may be large.

    Raises
    ------
    NotUnderstood
        If there are too many, or rigid bodies whose rotations may be large.
    MeshError
        If a set is not there.
    """
    rows = Rows()
    for equation in deck.equations:
        for members in _spread([geometry.nodes(term.nodes) for term in equation]):
            factors: dict[Dof, float] = {}
            for term, node in zip(equation, members, strict=True):
                axis = np.eye(3)[term.component] if node not in local else local[node][term.component]
                for i in np.flatnonzero(axis):
                    factors[node, int(i)] = factors.get((node, int(i)), 0.0) + term.factor * float(axis[i])
            rows.add(factors)
    for tie in deck.ties:
        _add_tie(rows, tie, geometry)
    for rigid in deck.rigid:
        if nonlinear:
            raise NotUnderstood("rigid bodies and couplings are known for small rotations only, without NLGEOM")
        _add_rigid(rows, rigid, geometry)
    if any(node in local for node in rows.turning):
        raise NotUnderstood("a reference node with rotations in a local system is not known")
    if len(rows.factors) > _MOST:
        raise NotUnderstood(f"it has {len(rows.factors)} equations; more than {_MOST} are too many")
    return rows


def _spread(sets: Sequence[NDArray[np.int64]]) -> Iterator[tuple[int, ...]]:
    """Yield the nodes of equations between sets: one for each node, with which single nodes stand in all."""
    sizes = {len(nodes) for nodes in sets} - {1}
    if len(sizes) > 1 or sum(len(nodes) > 1 for nodes in sets) > 1:
        raise NotUnderstood("equations between several sets of nodes are not known")
    m = max(len(nodes) for nodes in sets)
    yield from zip(*(np.broadcast_to(nodes, m).tolist() for nodes in sets), strict=True)


def _add_rigid(rows: Rows, rigid: RigidGroup, geometry: DeckGeometry) -> None:
    """Add u = u_r + θ × (x − x_r) for each node: of those of a rigid body, or coupled to a reference node."""
    points = geometry.mesh.points
    (reference,) = _single(geometry, rigid.reference)
    place = points[reference]
    if rigid.rotation:
        (turning,) = _single(geometry, rigid.rotation)
    else:
        turning = len(points) + len(rows.turns)
        rows.turns[turning] = place
    if rows.turning.setdefault(reference, turning) != turning:
        raise NotUnderstood(f"node {geometry.numbers[reference]} is the reference node of several rigid bodies")
    nodes = geometry.surface_nodes(rigid.nodes) if rigid.is_surface else geometry.nodes(rigid.nodes)
    for node in np.setdiff1d(nodes, [reference, turning]).tolist():
        d = points[node] - place
        for i in rigid.components:
            j, k = (i + 1) % 3, (i + 2) % 3  # (θ × d)_i = θ_j d_k − θ_k d_j
            rows.add({(node, i): 1.0, (reference, i): -1.0, (turning, j): -float(d[k]), (turning, k): float(d[j])})


def _single(geometry: DeckGeometry, who: str) -> list[int]:
    nodes = geometry.nodes(who)
    if len(nodes) != 1:
        raise NotUnderstood(f"'{who}' has {len(nodes)} nodes, not one")
    return nodes.tolist()


def _add_tie(rows: Rows, tie: Tie, geometry: DeckGeometry) -> None:
    """Add u = Σ N_a u_a for each node that is tied, at the point of the other surface that is nearest to it."""
    points = geometry.mesh.points
    faces = geometry.faces(geometry.sides(tie.master, 0))
    if not faces:
        raise NotUnderstood(f"the surface '{tie.master}' has no faces")
    tree = KDTree([points[list(face)].mean(axis=0) for face in faces])
    for node in np.setdiff1d(geometry.surface_nodes(tie.slave), np.concatenate(faces)).tolist():
        nearest = np.atleast_1d(tree.query(points[node], min(_NEAREST, len(faces)))[1]).tolist()
        found = [_foot(points[node], points[list(faces[k])]) for k in nearest]
        best = min(range(len(found)), key=lambda k: found[k][1])
        weights, away = found[best]
        face: Face = faces[nearest[best]]
        size = float(np.ptp(points[list(face)], axis=0).max())
        if away > (tie.tolerance if tie.tolerance is not None else _NEAR * size):
            continue  # as CalculiX, which warns of it
        if tie.adjust and away > 1e-6 * size:
            raise NotUnderstood("a tied node is moved to the other surface; write it there, or ADJUST=NO")
        for i in range(3):
            rows.add({(node, i): -1.0, **{(a, i): float(w) for a, w in zip(face, weights, strict=True)}})


def _foot(x: Array, corners: Array) -> tuple[Array, float]:
    """Return the weights [k] of the nodes of a face for its point nearest to x, and the distance; inf if beyond it."""
    shape = SHAPE_FUNCTIONS[FACE_KINDS[len(corners)]]
    triangular = len(corners) in (3, 6)
    at = np.full(2, 1 / 3) if triangular else np.zeros(2)
    for _ in range(_NEWTON):
        (values,), (slopes,) = shape(at[None])
        tangents = corners.T @ slopes
        change = np.linalg.lstsq(tangents, x - values @ corners, rcond=None)[0]
        at = np.clip(at + change, -2.0, 2.0)
        if np.abs(change).max() < 1e-13:
            break
    beyond = max(-at.min(), at.sum() - 1.0) if triangular else np.abs(at).max() - 1.0
    if beyond > _BEYOND:
        return np.zeros(len(corners)), np.inf
    values = shape(at[None])[0][0]
    return values, float(np.linalg.norm(values @ corners - x))
