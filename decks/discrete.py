"""Elements without volume of a deck: springs, dashpots and masses, as what they join."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symplex.decks.deck import Deck
from symplex.decks.discrete_keywords import DISCRETE
from symplex.decks.geometry import DeckGeometry
from symplex.decks.reading import UnsupportedKeyword
from symplex.decks.rows import Dof

Pair = tuple[int, int]


@dataclass
class Discrete:
    """Springs, dashpots and masses between nodes, which are places in the mesh; in the units of the deck.

    Attributes
    ----------
    linear : list of (str, list of dict of (node, component) to float, float)
        By sets of springs their name, the elongation u = Σ c u of each, and its stiffness.
    springs : list of (str, list of (node, node), float, dict)
        Those along the line between nodes that may turn, with other keys of their tables.
    dashpots : list of (str, list of (node, node), float)
    masses : list of (list of (node, number of the element), float)
    """

    linear: list[tuple[str, list[dict[Dof, float]], float]] = field(default_factory=list)
    springs: list[tuple[str, list[Pair], float, dict[str, Any]]] = field(default_factory=list)
    dashpots: list[tuple[str, list[Pair], float]] = field(default_factory=list)
    masses: list[tuple[list[tuple[int, int]], float]] = field(default_factory=list)

    @property
    def nodes(self) -> set[int]:
        """All nodes that they are on."""
        found = {node for _, rows, _ in self.linear for row in rows for node, _ in row}
        for pairs in (*(item[1] for item in self.springs), *(item[1] for item in self.dashpots)):
            found |= {node for pair in pairs for node in pair}
        return found.union(*({node for node, _ in on} for on, _ in self.masses))

    @property
    def dofs(self) -> set[Dof]:
        """The components (node, component) on which springs act, or a mass."""
        found = {dof for _, rows, _ in self.linear for row in rows for dof in row}
        whole = {node for _, pairs, *_ in self.springs for pair in pairs for node in pair}
        whole = whole.union(*({node for node, _ in on} for on, _ in self.masses))
        return found | {(node, k) for node in whole for k in range(3)}


def discrete_of(deck: Deck, geometry: DeckGeometry, nonlinear: bool, flows: bool = False) -> Discrete:
    """Return the elements without volume.

    Parameters
    ----------
    deck : Deck
    geometry : DeckGeometry
    nonlinear : bool
        Whether displacements may be large.
    flows : bool, default False
        Whether metals flow.

    Raises
    ------
    UnsupportedKeyword
        If an element has no properties, its nodes are in one place, or a bar would flow.
    MeshError
        If a set is not there.
    """
    found, reported = Discrete(), set[int]()
    for k, spring in enumerate(deck.springs, start=1):
        name = f"springs_{k}"
        turning: list[Pair] = []
        rows: list[dict[Dof, float]] = []
        for number, kind, nodes in _elements(geometry, spring.elements, "SPRING", reported):
            if spring.table and kind != "SPRINGA":
                raise UnsupportedKeyword(
                    f"{spring.where}: springs with a table of forces act along their line (SPRINGA), not {kind}"
                )
            if kind == "SPRINGA" and (nonlinear or spring.table):
                turning.append((nodes[0], nodes[1]))
            elif kind == "SPRINGA":
                axis = _axis(geometry, (nodes[0], nodes[1]), number)
                rows.append({(nodes[a], i): s * float(axis[i]) for a, s in ((1, 1.0), (0, -1.0)) for i in range(3)})
            elif kind == "SPRING1" and len(spring.directions) == 1:
                rows.append({(nodes[0], spring.directions[0]): 1.0})
            elif kind == "SPRING2" and len(spring.directions) == 2:
                rows.append({(nodes[0], spring.directions[0]): 1.0, (nodes[1], spring.directions[1]): -1.0})
            else:
                raise UnsupportedKeyword(
                    f"a *SPRING does not say in which directions the {kind} of '{spring.elements}' act"
                )
        found.linear += [(name, rows, spring.stiffness)] if rows else []
        keys = {"table": spring.table} if spring.table else {}
        found.springs += [(name, turning, spring.stiffness, keys)] if turning else []
    _add_bars(found, deck, geometry, nonlinear, flows, reported)
    for k, dashpot in enumerate(deck.dashpots, start=1):
        ends = [(nodes[0], nodes[1]) for *_, nodes in _elements(geometry, dashpot.elements, "DASHPOT", reported)]
        found.dashpots.append((f"dashpots_{k}", ends, dashpot.viscosity))
    for mass in deck.masses:
        on = [(nodes[0], number) for number, _, nodes in _elements(geometry, mass.elements, "MASS", reported)]
        found.masses.append((on, mass.mass))
    for coupling in deck.distributed:
        if coupling.of_element:
            list(_elements(geometry, coupling.reference, "DISTRIBUTING COUPLING", reported))
    for connector in deck.connectors:
        list(_elements(geometry, connector.elements, "CONNECTOR SECTION", reported))
    for number, kind, _ in geometry.discrete():
        if kind in DISCRETE and number not in reported:
            raise UnsupportedKeyword(f"element {number} of type {kind} has no *{DISCRETE[kind]}")
    return found


def _add_bars(
    found: Discrete, deck: Deck, geometry: DeckGeometry, nonlinear: bool, flows: bool, reported: set[int]
) -> None:
    """Add bars: springs of stiffness E A/L, which have ½ E A/L ε² with Green's strain ε where they turn; and masses."""
    for section in deck.sections:
        bars = [
            (number, kind, nodes)
            for number, kind, nodes in geometry.discrete(section.elements, only=False)
            if DISCRETE.get(kind) == "SOLID SECTION"
        ]
        if not bars:
            continue
        material = deck.materials.get(section.material.upper())
        if material is None or material.young is None or not section.area or section.area <= 0.0:
            raise UnsupportedKeyword(
                f"{section.where}: bars need an isotropic material '{section.material}' and a cross-section"
            )
        if flows and material.yields:
            raise UnsupportedKeyword(
                f"{section.where}: bars of a metal that flows ('{section.material}') are not supported; a [[truss]] of "
                "a scenario has them"
            )
        for number, _, nodes in bars:
            reported.add(number)
            pair = nodes[0], nodes[1]
            axis, length = _axis(geometry, pair, number), geometry.length(pair)
            stiffness = material.young * section.area / length
            if nonlinear:
                found.springs.append((f"bar_{number}", [pair], stiffness, {"law": "green-strain"}))
            else:
                row = {(pair[a], i): s * float(axis[i]) for a, s in ((1, 1.0), (0, -1.0)) for i in range(3)}
                found.linear.append((f"bar_{number}", [row], stiffness))
            if material.density is not None:
                found.masses.append(([(node, number) for node in pair], 0.5 * material.density * section.area * length))


def _elements(
    geometry: DeckGeometry, elements: str, keyword: str, reported: set[int]
) -> Iterable[tuple[int, str, list[int]]]:
    """Yield number, type and nodes of the elements of a set, for which there is a keyword."""
    for number, kind, nodes in geometry.discrete(elements):
        if DISCRETE.get(kind) != keyword:
            raise UnsupportedKeyword(f"a *{keyword} is for '{elements}', which has elements {kind}")
        reported.add(number)
        yield number, kind, nodes


def _axis(geometry: DeckGeometry, pair: Pair, number: int) -> NDArray[np.float64]:
    """Return the direction [3] from the first node to the second."""
    x = geometry.mesh.points[list(pair)]
    d = x[1] - x[0]
    if not d.any():
        raise UnsupportedKeyword(f"the nodes of element {number} are in one place; it has no direction")
    return d / np.linalg.norm(d)
