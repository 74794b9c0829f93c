"""Flat elements of a deck as one layer of solid ones: plane strain, plane stress and axisymmetric.

The nodes of the deck are the lower side of the layer, at z = 0, and new ones are above them: as far as the section is
thick, or turned about the axis y by 2°. They move as the nodes below: of plane strain and plane stress alike in x and
y, of axisymmetric elements turned by the same angle.
"""

from __future__ import annotations

from collections.abc import Collection, Set as AbstractSet
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from symplex.decks.deck import NOWHERE, Deck, FacePressure, Missed, PointForce, Prescribed, Term
from symplex.decks.layers import Members, Points, Thickness, blocks_of, points_of, rings, with_solids
from symplex.decks.mesh_keywords import SOLID_OF_FLAT
from symplex.errors import MeshError
from symplex.meshes.formats.abaqus import Numbered
from symplex.meshes.formats.abaqus_sets import Surface

SECTOR = float(np.radians(2.0))  # of axisymmetric elements
_PART = float(SECTOR / (2.0 * np.pi))
_SIDES = 2  # of a layer, above and below, before those on its edges
_PLANE = 1e-6  # of the size of the mesh: how far from z = 0 a node is on it
_HALF, _WHOLE = 0.5, 1.0
_FLAT = "flat elements"


@dataclass
class _Copies:
    """New nodes over those of a deck, by the number of these, the family of elements, its size, and the height."""

    points: Points
    deck: Deck
    next: int
    known: dict[tuple[int, str, float, float], int] = field(default_factory=dict)

    def of(self, node: int, family: str, size: float, height: float) -> int:
        """Return the node over another one, at this part of the size; it is made and linked at the first time."""
        key = node, family, size, height
        if key not in self.known:
            number = self.known[key] = self.next
            self.next += 1
            self.deck.copies.setdefault(node, []).append(number)
            x, y, _ = self.points[node]
            terms: list[tuple[int, int, float]]  # component, the one of the node below that it follows, and factor
            if family == "CAX":
                angle = size * height
                self.points[number] = np.array([x * np.cos(angle), y, x * np.sin(angle)])
                terms = [(0, 0, np.cos(angle)), (1, 1, 1.0), (2, 0, np.sin(angle))]
            else:
                self.points[number] = np.array([x, y, size * height])
                terms = [(0, 0, 1.0), (1, 1, 1.0)]
            for component, below, factor in terms:
                self._follow(number, component, node, below, factor)
            if family == "CPE":
                self.deck.held.append(Prescribed(str(number), 2, 0.0, ""))
            if family == "CPS" and height == _HALF:
                self._follow(number, 2, self.of(node, family, size, _WHOLE), 2, _HALF)
        return self.known[key]

    def _follow(self, node: int, component: int, other: int, of: int, factor: float) -> None:
        self.deck.linked.append((Term(str(node), component, 1.0), Term(str(other), of, -float(factor))))


def layered(deck: Deck, numbered: Numbered) -> Numbered:
    """Return the mesh of a deck with flat elements as solid ones, and note in the deck what links their nodes.

    Sides of flat elements, their edges, become sides of the solid ones, and forces on axisymmetric ones, which are for
    the whole circle, those of the sector.

    Raises
    ------
    MeshError
        If a flat element is not in the plane, reaches the axis, has no thickness, or a surface has flat elements and
        others.
    """
    flat = {number for name, (_, t) in blocks_of(numbered) if name in SOLID_OF_FLAT for number in t[:, 0].tolist()}
    if not flat:
        return numbered
    if deck.velocities:
        deck.missed.append(Missed("INITIAL CONDITIONS", NOWHERE, "velocities of flat elements are not supported", 0))
    members, points = Members(numbered), points_of(numbered)
    copies = _Copies(points, deck, int(numbered.ids.max()) + 1)
    sizes = Thickness(deck, members)
    on_circle: set[int] = set()
    solids: dict[int, tuple[str, str, list[list[int]]]] = {}
    for place, (name, (_, table)) in enumerate(blocks_of(numbered)):
        if name not in SOLID_OF_FLAT:
            continue
        family = name[:3]
        _check_plane(points, table, family)
        solids[place] = *SOLID_OF_FLAT[name], [_solid(copies, row, family, sizes) for row in table.tolist()]
        nodes = {*table[:, 1:].ravel().tolist()}
        deck.held += [Prescribed(str(node), 2, 0.0, "") for node in sorted(nodes)]
        if family == "CAX":
            on_circle |= nodes
    for step in deck.steps:
        step.pressures = [_of_edge(pressure, members, flat) for pressure in step.pressures]
        step.forces = [force for given in step.forces for force in _of_sector(given, members, on_circle)]
    _share_masses(deck, numbered, members, on_circle)
    deck.remarks.append(
        f"{len(flat)} elements of plane strain, plane stress or symmetry about y are a layer of solid ones"
    )
    surfaces = [_of_edges(surface, members, flat) for surface in numbered.surfaces]
    return with_solids(numbered, points, solids)._replace(surfaces=surfaces)


def _check_plane(points: Points, table: NDArray[np.int64], family: str) -> None:
    """Raise MeshError if nodes of flat elements are not where these are defined."""
    size = max(float(np.abs(x).max()) for x in points.values())
    for number, *nodes in table.tolist():
        x = np.array([points[node] for node in nodes])
        if np.abs(x[:, 2]).max() > _PLANE * size:
            raise MeshError(f"element {number} of type {family} is not in the plane z = 0.")
        if family == "CAX" and x[:, 0].min() <= _PLANE * size:
            raise MeshError(
                f"element {number} of type {family} reaches the axis, where its sector has an edge instead of a face; "
                "that is not supported."
            )


def _solid(copies: _Copies, row: list[int], family: str, sizes: Thickness) -> list[int]:
    """Return number and nodes of the solid element of a layer."""
    number, *nodes = row
    size = {node: SECTOR if family == "CAX" else sizes.of(number, node) for node in nodes}
    corners, middles = rings(nodes)
    x = np.array([copies.points[node] for node in corners])
    if np.cross(x[1] - x[0], x[-1] - x[0])[2] < 0.0:  # seen from behind
        if family == "CAX":
            raise MeshError(f"the nodes of element {number} are not anticlockwise.")
        size = {node: -of for node, of in size.items()}
    found = [number]
    for ring in (corners, middles):
        found += ring
        found += [copies.of(node, family, size[node], _WHOLE) for node in ring]
    return found + [copies.of(node, family, size[node], _HALF) for node in corners if middles]


def _of_edge(pressure: FacePressure, members: Members, flat: Collection[int]) -> FacePressure:
    """Return a pressure on edges of flat elements as one on sides of solid ones."""
    if not pressure.side or not members.all_among(pressure.elements, flat, _FLAT):
        return pressure
    return pressure._replace(side=pressure.side + _SIDES)


def _of_edges(surface: Surface, members: Members, flat: Collection[int]) -> Surface:
    """Return a surface with edges of flat elements as one with sides of solid ones."""
    if surface.of_nodes:
        return surface
    items: list[tuple[str, str]] = []
    for item, side in surface.items:
        if members.all_among(item, flat, _FLAT):
            if side[:1] != "S" or not side[1:].isdecimal():
                raise MeshError(f"surface '{surface.name}' names no sides of flat elements.")
            side = f"S{int(side[1:]) + _SIDES}"
        items.append((item, side))
    return replace(surface, items=items)


def _share_masses(deck: Deck, numbered: Numbered, members: Members, on_circle: AbstractSet[int]) -> None:
    """Give the sector its part of masses on nodes of axisymmetric elements, which are for the whole circle.

    Raises
    ------
    MeshError
        If a set has masses on other nodes as well.
    """
    node_of = {t[0]: t[1] for name, (_, table) in blocks_of(numbered) if name == "MASS" for t in table.tolist()}
    for k, mass in enumerate(deck.masses):
        on = {node_of[number] in on_circle for number in members.elements(mass.elements) if number in node_of}
        if len(on) > 1:
            raise MeshError(f"'{mass.elements}' has masses on nodes of axisymmetric elements, and on others.")
        if on == {True}:
            deck.masses[k] = mass._replace(mass=mass.mass * _PART)


def _of_sector(force: PointForce, members: Members, on_circle: AbstractSet[int]) -> list[PointForce]:
    """Return a force on nodes; on those of axisymmetric elements, where it is for a circle, the part of the sector."""
    nodes = members.nodes(force.nodes)
    if not on_circle.isdisjoint(nodes):
        shares = [(node, _PART if node in on_circle else 1.0) for node in nodes]
        return [force._replace(nodes=str(node), value=force.value * share) for node, share in shares]
    return [force]
