"""Joints of decks of beams and shells: connectors, constraints of two nodes, rigid bodies, couplings, supports.

A reference node on no element is a point of the body of the first node that moves with it: the others are joined to
that rigidly, and what holds or loads the reference node acts on it there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from symplex.decks.deck import Deck, Distributed, RigidGroup
from symplex.decks.discrete_keywords import CONNECTOR, CONNECTORS
from symplex.decks.geometry import DeckGeometry
from symplex.decks.reading import UnsupportedKeyword
from symplex.decks.rigid import single, weighted_nodes
from symplex.decks.state import directions, oriented
from symplex.decks.units import Units
from symplex.fem.actions.centrifugal import cross_matrix

Table = dict[str, Any]
Bodies = Mapping[str, tuple[str, set[int]]]
_MOST = 500  # joints
_FLAT = 1e-9  # of the largest moment of inertia: below it nodes are on a line
_NEAR = 1e-6  # of the size of a deck, by which nodes that are joined may be apart
# Joints to the ground, by the displacements and rotations that they leave free: none, one along an axis, or all.
_TO_GROUND = {
    (0, 0): "rigid", (0, 1): "revolute", (0, 3): "spherical", (1, 0): "prismatic", (1, 1): "cylindrical",
    (2, 1): "planar", (1, 3): "inline", (2, 3): "inplane",
}  # fmt: skip


class StructureJoints:
    """Joints of a deck, and where its reference nodes are.

    Parameters
    ----------
    deck : Deck
    geometry : DeckGeometry
        Is asked for groups of nodes.
    bodies : mapping of str to (str, set of int)
        Of beams and shells by name, their kinds, and the places of their nodes.
    units : Units

    Attributes
    ----------
    tables : list of dict
        ``[[joint]]``.
    on : dict of int to int
        By reference nodes on no element, the nodes with which they move.
    turning : dict of int to int
        By nodes whose displacements are rotations of reference nodes, these.

    Raises
    ------
    UnsupportedKeyword
        If something cannot be a joint, or there are too many.
    """

    def __init__(self, deck: Deck, geometry: DeckGeometry, bodies: Bodies, units: Units):
        self._deck, self._geometry, self._bodies, self._units = deck, geometry, bodies, units
        points = geometry.mesh.points
        self._near = _NEAR * float(np.ptp(points, axis=0).max(initial=0.0))
        self.tables: list[Table] = []
        self.on: dict[int, int] = {}
        self.turning: dict[int, int] = {}
        owners = [own for _, own in bodies.values()]
        for node in sorted(set.intersection(*owners)) if len(owners) > 1 else []:
            places = [(name, node) for name in bodies]
            self._add("weld", "rigid", places, points[node])
        self._add_rigid_bodies()
        self._add_pairs()
        self._add_connectors()
        if len(self.tables) > _MOST:
            raise UnsupportedKeyword(f"it has {len(self.tables)} joints; more than {_MOST} are too many")

    def owner(self, node: int) -> str:
        """Return the body that a node is on.

        Raises
        ------
        UnsupportedKeyword
            If it is on none.
        """
        for name, (_, own) in self._bodies.items():
            if node in own:
                return name
        raise UnsupportedKeyword(f"node {self._geometry.numbers[node]} is on no beam and no shell, but joined to one")

    def hold(self, node: int, point: NDArray[np.float64], axes: NDArray[np.float64], held: Iterable[int]) -> Table:
        """Return a joint to the ground for what is held of a point that moves with a node.

        Parameters
        ----------
        node : int
        point : float64 [3]
            In the deck's unit of length.
        axes : float64 [3, 3]
            Directions in rows.
        held : iterable of int
            Displacements 0, 1, 2 along them, and rotations 3, 4, 5 about them.

        Raises
        ------
        UnsupportedKeyword
            If no joint holds just these.
        """
        free = [[k for k in range(3) if first + k not in {*held}] for first in (0, 3)]
        kind = _TO_GROUND.get((len(free[0]), len(free[1])))
        slides, turns = free
        fits = {
            "cylindrical": slides == turns,
            "planar": len(turns) == 1 and turns[0] not in slides,
        }.get(kind or "", kind is not None)
        if kind is None or not fits:
            raise UnsupportedKeyword(
                f"node {self._geometry.numbers[node]}, or a point that moves with it, is held in directions oblique to "
                "the axes, or at a distance, of which no joint leaves free the same displacements and rotations"
            )
        fixed = [k for k in range(3) if k not in slides]
        axis = {"revolute": turns, "cylindrical": turns, "planar": turns, "inplane": fixed}.get(kind)
        axis = slides if kind in ("prismatic", "inline") else axis
        table = self._table("ground", kind, [(self.owner(node), node)], point)
        return table | ({} if axis is None else {"axis": axes[axis[0]].tolist()})

    def _table(self, name: str, kind: str, places: list[tuple[str, int]], at: NDArray[np.float64]) -> Table:
        numbers = self._geometry.numbers
        groups = [self._geometry.point_group([node], f"node_{numbers[node]}") for _, node in places]
        return {
            "name": "_".join([name, *dict.fromkeys(str(numbers[node]) for _, node in places)]),
            "kind": kind,
            "bodies": [body for body, _ in places],
            "groups": groups,
            "at": (at * self._units.length).tolist(),
        }

    def _add(self, name: str, kind: str, places: list[tuple[str, int]], at: NDArray[np.float64], **more: Any) -> None:
        table = self._table(name, kind, places, at) | more
        if any(other["name"] == table["name"] for other in self.tables):
            raise UnsupportedKeyword(
                f"the nodes {' and '.join(str(self._geometry.numbers[node]) for _, node in places)} are joined twice"
            )
        self.tables.append(table)

    def _join(self, name: str, kind: str, a: int, b: int, at: NDArray[np.float64], **more: Any) -> None:
        """Add a joint between two nodes."""
        if a != b:
            self._add(name, kind, [(self.owner(a), a), (self.owner(b), b)], at, **more)

    def _require_together(self, what: str, a: int, b: int) -> None:
        if self._geometry.length((a, b)) > self._near:
            of = " and ".join(str(self._geometry.numbers[node]) for node in (a, b))
            raise UnsupportedKeyword(f"{what} of the nodes {of}, which are not at one place, is not supported")

    def _on_body(self, node: int) -> bool:
        return any(node in own for _, own in self._bodies.values())

    # -- what a deck has ------------------------------------------------------------------------------------------

    def _add_rigid_bodies(self) -> None:
        """Add rigid bodies and kinematic couplings: all nodes joined to the reference node, or to the first of them."""
        geometry, points = self._geometry, self._geometry.mesh.points
        for rigid in self._deck.rigid:
            members = members_of(rigid, geometry)
            reference = single(geometry, rigid.reference)[0] if rigid.reference else members[0]
            members = [node for node in members if node != reference]
            whole = len(rigid.turns) == 3
            if not members:
                raise UnsupportedKeyword(f"the rigid body of node {geometry.numbers[reference]} has no other nodes")
            if self._on_body(reference):
                master = reference
            else:
                if reference in self.on:
                    raise UnsupportedKeyword(
                        f"node {geometry.numbers[reference]} is the reference node of several rigid bodies"
                    )
                master = self.on[reference] = members[0]
            if rigid.rotation:
                self.turning[single(geometry, rigid.rotation)[0]] = reference
            for node in members:
                self._join("rigid", "rigid" if whole else "spherical", node, master, points[node])

    def _add_pairs(self) -> None:
        """Add constraints of two nodes, or of the nodes of two sets one by one."""
        for constraint in self._deck.multi_point:
            if constraint.kind not in ("BEAM", "PIN", "TIE"):
                raise UnsupportedKeyword(f"*MPC {constraint.kind} of beams and shells is not supported")
            first, second = (self._geometry.nodes(who).tolist() for who in constraint.nodes[:2])
            if len(constraint.nodes) > 2 or (len(second) > 1 and len(first) != len(second)):
                raise UnsupportedKeyword(f"a *MPC {constraint.kind} must be of two nodes, or two sets of as many")
            for k, a in enumerate(first):
                b = second[k] if len(second) > 1 else second[0]
                if constraint.kind != "BEAM":
                    self._require_together(f"a *MPC {constraint.kind}", a, b)
                kind = "spherical" if constraint.kind == "PIN" else "rigid"
                self._join("mpc", kind, a, b, self._geometry.mesh.points[b])

    def _add_connectors(self) -> None:
        for connector in self._deck.connectors:
            kind, axes = CONNECTORS[frozenset(connector.kinds)]
            for _, of, (a, b) in self._geometry.discrete(connector.elements):
                if of != CONNECTOR:
                    raise UnsupportedKeyword(f"{connector.where}: '{connector.elements}' has elements {of}")
                if kind in ("spherical", "revolute", "universal") or (kind == "rigid" and connector.kinds != ("BEAM",)):
                    self._require_together(f"a connector {', '.join(connector.kinds)}", a, b)
                at = self._geometry.mesh.points[a]
                more: Table = {}
                if axes:
                    first, second = connector.orientations
                    if not first:
                        raise UnsupportedKeyword(f"{connector.where}: the connectors need an orientation")
                    more["axis"] = self._axes(first, at)[axes[0]].tolist()
                    if len(axes) > 1:
                        more["second"] = self._axes(second or first, at)[axes[1]].tolist()
                    elif second and not self._alike(first, second, at):
                        raise UnsupportedKeyword(
                            f"{connector.where}: connectors whose orientations differ at both ends are not supported"
                        )
                # The axes of these are of the second body of a joint, and of the first end of a connector.
                ends = (b, a) if kind in ("inline", "inplane") else (a, b)
                self._join("connector", kind, *ends, at, **more)

    def _axes(self, name: str, at: NDArray[np.float64]) -> NDArray[np.float64]:
        return directions(oriented(self._deck, name), at[None])[0]

    def _alike(self, first: str, second: str, at: NDArray[np.float64]) -> bool:
        return bool(np.abs(self._axes(first, at) - self._axes(second, at)).max() < _NEAR)


def members_of(rigid: RigidGroup, geometry: DeckGeometry) -> list[int]:
    """Return the nodes of a rigid body or coupling of beams, shells or solids."""
    if rigid.of == "surface":
        return geometry.surface_nodes(rigid.nodes).tolist()
    if rigid.of == "nodes":
        return geometry.nodes(rigid.nodes).tolist()
    numbers = geometry.elements([rigid.nodes])
    cells = geometry.cells(("line", "quad", "triangle")).values()
    found = [c[np.isin(n, numbers)].ravel() for n, c in cells]
    if geometry.has_any([rigid.nodes]):
        found.append(geometry.nodes_of_elements([rigid.nodes]))
    return np.unique(np.concatenate(found)).tolist()


def divided(deck: Deck, geometry: DeckGeometry, framed: Collection[int]) -> tuple[Deck, Deck]:
    """Return a deck with the rigid bodies, couplings and constraints of beams and shells alone, and with the others."""
    own = {*framed}
    rigid = [own.issuperset(members_of(one, geometry)) and _is_joint(one, own, geometry) for one in deck.rigid]
    pairs = [
        one.kind != "MEANROT" and own.issuperset(n for who in one.nodes for n in geometry.nodes(who).tolist())
        for one in deck.multi_point
    ]
    means = [
        own.issuperset(weighted_nodes(one, single(geometry, one.reference)[0], geometry)[0].tolist())
        for one in deck.distributed
        if not one.of_element
    ]
    if len(means) < len(deck.distributed):
        raise UnsupportedKeyword("elements DCOUP3D in a deck of beams or shells are not supported")

    def part(of_frames: bool) -> Deck:
        return replace(
            deck,
            rigid=[one for one, is_own in zip(deck.rigid, rigid, strict=True) if is_own == of_frames],
            multi_point=[one for one, is_own in zip(deck.multi_point, pairs, strict=True) if is_own == of_frames],
            distributed=[one for one, is_own in zip(deck.distributed, means, strict=True) if is_own == of_frames],
        )

    return part(True), part(False)


def _is_joint(rigid: RigidGroup, framed: set[int], geometry: DeckGeometry) -> bool:
    """Return whether a rigid body or coupling of nodes of beams and shells can be joints, with large rotations."""
    whole = len(rigid.components) == len(rigid.turns) == 3
    on_element = not rigid.reference or single(geometry, rigid.reference)[0] in framed
    return whole or (on_element and not rigid.axes and len(rigid.components) == 3 and not rigid.turns)


class Shares(NamedTuple):
    """A reference node, and by nodes what [3, 6] of a force and moment on it these get.

    Nodes on a line get nothing of moments about that, ``lost`` [k, 6].
    """

    reference: int
    of_nodes: dict[int, NDArray[np.float64]]
    lost: NDArray[np.float64]


def shares_of(coupling: Distributed, geometry: DeckGeometry) -> Shares:
    """Return what of a force and a moment on the reference node of a coupling nodes get.

    Of a force F and a moment M on the reference node, node i gets w_i (F + (T⁻¹ M̄) × r_i) with the weights w of sum 1,
    r from the weighted centre c, T = Σ w (r² 1 − r rᵀ) and M̄ = M + (x − c) × F: by node a matrix [3, 6].

    Raises
    ------
    UnsupportedKeyword
        If weights are not positive.
    """
    points = geometry.mesh.points
    (reference,) = single(geometry, coupling.reference)
    nodes, weights = weighted_nodes(coupling, reference, geometry)
    r = points[nodes] - weights @ points[nodes]
    inertia = np.einsum("n,ni,ni->", weights, r, r) * np.eye(3) - np.einsum("n,ni,nj->ij", weights, r, r)
    values, vectors = np.linalg.eigh(inertia)
    known = values > _FLAT * values.max()
    of_moment = (vectors[:, known] / values[known]) @ vectors[:, known].T
    arm = cross_matrix(points[reference] - weights @ points[nodes])
    found: dict[int, NDArray[np.float64]] = {}
    for node, w, place in zip(nodes.tolist(), weights, r, strict=True):
        turned = -cross_matrix(place) @ of_moment  # (T⁻¹ M) × r
        found[node] = w * np.hstack([np.eye(3) + turned @ arm, turned])
    along = vectors[:, ~known].T
    return Shares(reference, found, along @ np.hstack([arm, np.eye(3)]))
