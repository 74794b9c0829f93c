"""Flat elements of a deck as one layer of solid ones: plane strain, plane stress and axisymmetric.

The nodes of the deck are the lower side of the layer, at z = 0, and new ones are above them: as far as the section is
thick, or turned about the axis y by 2°. They move as the nodes below: of plane strain and plane stress alike in x and
y, of axisymmetric elements turned by the same angle.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Set as AbstractSet
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from symplex.decks.deck import Deck, FacePressure, PointForce, Prescribed, Section, Term
from symplex.decks.mesh_keywords import SOLID_OF_FLAT
from symplex.errors import MeshError
from symplex.meshes.formats.abaqus import Numbered
from symplex.meshes.formats.abaqus_sets import Surface
from symplex.meshes.formats.numbering import Numbering, is_number

SECTOR = float(np.radians(2.0))  # of axisymmetric elements
_PART = float(SECTOR / (2.0 * np.pi))
_SIDES = 2  # of a layer, above and below, before those on its edges
_PLANE = 1e-6  # of the size of the mesh: how far from z = 0 a node is on it
_HALF, _WHOLE = 0.5, 1.0
_UNIT = 1.0  # how thick elements are whose section does not say


@dataclass
class _Copies:
    """New nodes over those of a deck, by the number of these, the family of elements, its size, and the height."""

    points: dict[int, NDArray[np.float64]]
    deck: Deck
    next: int
    known: dict[tuple[int, str, float, float], int] = field(default_factory=dict)

    def of(self, node: int, family: str, size: float, height: float) -> int:
        """Return the node over another one, at this part of the size; it is made and linked at the first time."""
        key = node, family, size, height
        if key not in self.known:
            number = self.known[key] = self.next
            self.next += 1
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
    flat = {number for name, (_, t) in _blocks(numbered) if name in SOLID_OF_FLAT for number in t[:, 0].tolist()}
    if not flat:
        return numbered
    members = _Members(numbered)
    points = dict(zip(numbered.ids.tolist(), numbered.points, strict=True))
    copies = _Copies(points, deck, int(numbered.ids.max()) + 1)
    sizes = _Sizes(deck, members)
    on_circle: set[int] = set()
    types: list[str] = []
    elements: list[tuple[str, NDArray[np.int64]]] = []
    for name, (kind, table) in _blocks(numbered):
        if name not in SOLID_OF_FLAT:
            types.append(name)
            elements.append((kind, table))
            continue
        family, solid, solid_kind = name[:3], *SOLID_OF_FLAT[name]
        _check_plane(points, table, family)
        rows = [_solid(copies, row, family, sizes) for row in table.tolist()]
        types.append(solid)
        elements.append((solid_kind, np.array(rows, np.int64)))
        nodes = {*table[:, 1:].ravel().tolist()}
        deck.held += [Prescribed(str(node), 2, 0.0, "") for node in sorted(nodes)]
        if family == "CAX":
            on_circle |= nodes
    ids = np.array([*points], np.int64)
    for step in deck.steps:
        step.pressures = [_of_edge(pressure, members, flat) for pressure in step.pressures]
        step.forces = [force for given in step.forces for force in _of_sector(given, members, on_circle)]
    _share_masses(deck, numbered, members, on_circle)
    return numbered._replace(
        ids=ids,
        points=np.array([*points.values()]),
        nodes=Numbering("node", ids),
        types=types,
        elements=elements,
        surfaces=[_of_edges(surface, members, flat) for surface in numbered.surfaces],
    )


def _blocks(numbered: Numbered) -> Iterator[tuple[str, tuple[str, NDArray[np.int64]]]]:
    """Yield what the deck calls the type of elements, with their kind of cells, and numbers and nodes."""
    return zip(numbered.types, numbered.elements, strict=True)


def _check_plane(points: dict[int, NDArray[np.float64]], table: NDArray[np.int64], family: str) -> None:
    """Raise MeshError if nodes of flat elements are not where these are defined."""
    size = max(float(np.abs(x).max()) for x in points.values())
    for number, *nodes in table.tolist():
        x = np.array([points[node] for node in nodes])
        if np.abs(x[:, 2]).max() > _PLANE * size:
            raise MeshError(f"element {number} of type {family} is not in the plane z = 0.")
        if family == "CAX" and x[:, 0].min() <= _PLANE * size:
            raise MeshError(
                f"element {number} of type {family} reaches the axis, where its sector has an edge instead of a face; "
                "that is not known."
            )


def _solid(copies: _Copies, row: list[int], family: str, sizes: _Sizes) -> list[int]:
    """Return number and nodes of the solid element of a layer."""
    number, *nodes = row
    size = {node: SECTOR if family == "CAX" else sizes.of(number, node) for node in nodes}
    corners, middles = (nodes[:4], nodes[4:]) if len(nodes) in (4, 8) else (nodes[:3], nodes[3:])
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


class _Members:
    """The members of sets of a deck, or the one of a number."""

    def __init__(self, numbered: Numbered):
        self._elements = {name.upper(): found for name, found in numbered.element_sets.items()}
        self._nodes = {name.upper(): found for name, found in numbered.node_sets.items()}

    def elements(self, who: str) -> list[int]:
        """Return numbers of elements, none of a set that is not there."""
        return self._of(self._elements, who)

    def nodes(self, who: str) -> list[int]:
        """Return numbers of nodes, none of a set that is not there."""
        return self._of(self._nodes, who)

    @staticmethod
    def _of(sets: dict[str, NDArray[np.int64]], who: str) -> list[int]:
        name = who.strip().strip('"').upper()
        return [int(name)] if is_number(name) else sets.get(name, np.empty(0, np.int64)).tolist()


class _Sizes:
    """How thick elements are: by their section, or where that says so by their nodes."""

    def __init__(self, deck: Deck, members: _Members):
        self._of_element: dict[int, Section] = {}
        for section in deck.sections:
            self._of_element |= dict.fromkeys(members.elements(section.elements), section)
        self._of_node: dict[int, float] = {}
        for nodes, size in deck.thicknesses:
            self._of_node |= dict.fromkeys(members.nodes(nodes), size)

    def of(self, element: int, node: int) -> float:
        """Return how thick an element is at a node.

        Raises
        ------
        MeshError
            If that is not given, or not positive.
        """
        section = self._of_element.get(element)
        if section is None:
            raise MeshError(f"element {element} has no section, which would say how thick it is.")
        size = self._of_node.get(node) if section.by_nodes else section.area or _UNIT
        if size is None:
            raise MeshError(f"node {node} has no *NODAL THICKNESS, by which element {element} would be thick.")
        if size <= 0.0:
            raise MeshError(f"element {element} is {size:g} thick; it must be positive.")
        return size


def _all_flat(members: list[int], flat: Collection[int], who: str) -> bool:
    """Return whether elements are flat, all or none."""
    found = {number in flat for number in members}
    if len(found) > 1:
        raise MeshError(f"'{who}' has flat elements and others, whose sides are numbered differently.")
    return found == {True}


def _of_edge(pressure: FacePressure, members: _Members, flat: Collection[int]) -> FacePressure:
    """Return a pressure on edges of flat elements as one on sides of solid ones."""
    if not pressure.side or not _all_flat(members.elements(pressure.elements), flat, pressure.elements):
        return pressure
    return pressure._replace(side=pressure.side + _SIDES)


def _of_edges(surface: Surface, members: _Members, flat: Collection[int]) -> Surface:
    """Return a surface with edges of flat elements as one with sides of solid ones."""
    if surface.of_nodes:
        return surface
    items: list[tuple[str, str]] = []
    for item, side in surface.items:
        if _all_flat(members.elements(item), flat, item):
            if side[:1] != "S" or not side[1:].isdecimal():
                raise MeshError(f"surface '{surface.name}' names no sides of flat elements.")
            side = f"S{int(side[1:]) + _SIDES}"
        items.append((item, side))
    return replace(surface, items=items)


def _share_masses(deck: Deck, numbered: Numbered, members: _Members, on_circle: AbstractSet[int]) -> None:
    """Give the sector its part of masses on nodes of axisymmetric elements, which are for the whole circle.

    Raises
    ------
    MeshError
        If a set has masses on other nodes as well.
    """
    node_of = {t[0]: t[1] for name, (_, table) in _blocks(numbered) if name == "MASS" for t in table.tolist()}
    for k, mass in enumerate(deck.masses):
        on = {node_of[number] in on_circle for number in members.elements(mass.elements) if number in node_of}
        if len(on) > 1:
            raise MeshError(f"'{mass.elements}' has masses on nodes of axisymmetric elements, and on others.")
        if on == {True}:
            deck.masses[k] = mass._replace(mass=mass.mass * _PART)


def _of_sector(force: PointForce, members: _Members, on_circle: AbstractSet[int]) -> list[PointForce]:
    """Return a force on nodes: on those of axisymmetric elements, where it is for the whole circle, the part of the sector."""
    nodes = members.nodes(force.nodes)
    if not on_circle.isdisjoint(nodes):
        shares = [(node, _PART if node in on_circle else 1.0) for node in nodes]
        return [force._replace(nodes=str(node), value=force.value * share) for node, share in shares]
    return [force]
