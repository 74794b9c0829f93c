"""What flat elements and shells have in common, which become a layer of solid elements."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
from numpy.typing import NDArray

from symplex.decks.deck import Deck, Section
from symplex.errors import MeshError
from symplex.meshes.formats.abaqus import Numbered
from symplex.meshes.formats.numbering import Numbering, is_number

Points = dict[int, NDArray[np.float64]]  # by the numbers of nodes
_UNIT = 1.0  # how thick elements are whose section does not say


def blocks_of(numbered: Numbered) -> Iterator[tuple[str, tuple[str, NDArray[np.int64]]]]:
    """Yield what the deck calls the type of elements, with their kind of cells, and numbers and nodes."""
    return zip(numbered.types, numbered.elements, strict=True)


def points_of(numbered: Numbered) -> Points:
    """Return the places of nodes by their numbers."""
    return dict(zip(numbered.ids.tolist(), numbered.points, strict=True))


def rings(nodes: list[int]) -> tuple[list[int], list[int]]:
    """Return the corners of a triangle or quadrilateral, and the nodes in the middle of its edges."""
    n = 3 if len(nodes) in (3, 6) else 4
    return nodes[:n], nodes[n:]


def with_solids(numbered: Numbered, points: Points, solids: dict[int, tuple[str, str, list[list[int]]]]) -> Numbered:
    """Return a mesh with other nodes, and solid elements in the place of some blocks of elements.

    Parameters
    ----------
    numbered : Numbered
    points : dict of int to float64 [3]
    solids : dict of int to (str, str, list of list of int)
        By the places of blocks: the type of elements, the kind of cells, and numbers and nodes of each.
    """
    types, elements = [*numbered.types], [*numbered.elements]
    for place, (name, kind, rows) in solids.items():
        types[place], elements[place] = name, (kind, np.array(rows, np.int64))
    ids = np.array([*points], np.int64)
    return numbered._replace(
        ids=ids, points=np.array([*points.values()]), nodes=Numbering("node", ids), types=types, elements=elements
    )


class Members:
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

    def all_among(self, who: str, some: Collection[int], what: str) -> bool:
        """Return whether elements are all among some, or none.

        Raises
        ------
        MeshError
            If some are, and others not; ``what`` names those.
        """
        found = {number in some for number in self.elements(who)}
        if len(found) > 1:
            raise MeshError(f"'{who}' has {what} and other elements, whose sides are numbered differently.")
        return found == {True}

    @staticmethod
    def _of(sets: dict[str, NDArray[np.int64]], who: str) -> list[int]:
        name = who.strip().strip('"').upper()
        return [int(name)] if is_number(name) else sets.get(name, np.empty(0, np.int64)).tolist()


def with_last_sections(deck: Deck, numbered: Numbered) -> Numbered:
    """Let each element have the last of its sections only, as CalculiX does, which is noted: others get new sets."""
    members, sets = Members(numbered), {**numbered.element_sets}
    for sections in (deck.sections, deck.beams):
        taken: set[int] = set()
        for k, section in reversed([*enumerate(sections)]):
            own = members.elements(section.elements)
            left = [number for number in own if number not in taken]
            taken.update(own)
            if len(left) < len(own):
                remark = f"{section.where}: elements of '{section.elements}' have later sections, which count"
                deck.remarks += [] if remark in deck.remarks else [remark]
                name = f"section_{section.where.line}"
                sets[name] = np.array(left, np.int64)
                sections[k] = section._replace(elements=name)
    return numbered._replace(element_sets=sets)


class Thickness:
    """How thick elements are: by their section, or where that says so by their nodes."""

    def __init__(self, deck: Deck, members: Members):
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
