"""Meshes of decks whose elements are numbered, and belong to parts: LS-DYNA, Radioss."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from symplex.meshes.formats.numbering import Numbering, is_number, places_by_value
from symplex.meshes.formats.raw import RawCells, RawMesh


class Parts:
    """Nodes and elements of a deck, as they are read.

    Attributes
    ----------
    numbers : list of int
        Of the nodes.
    points : list of list of float
    elements : dict of str to list of (number, part, nodes)
        By type of cells.
    names : dict of int to str
        Of the parts.
    sets : dict of str to list of int
        Of nodes, by name.
    formulations : dict of str to list of str
        What the deck calls elements of other formulations, by type of cells.
    """

    def __init__(self):
        self.numbers: list[int] = []
        self.points: list[list[float]] = []
        self.elements: dict[str, list[tuple[int, int, list[int]]]] = {}
        self.names: dict[int, str] = {}
        self.sets: dict[str, list[int]] = {}
        self.formulations: dict[str, list[str]] = {}

    def add_node(self, words: list[str], factor: float = 1.0) -> None:
        """Add a node: its number and three coordinates, times a factor; the last may be left out where they are 0."""
        if len(words) < 1 or not words[0]:
            raise ValueError("a node has no number")
        self.numbers.append(whole(words[0]))
        self.points.append([factor * float(word) if word else 0.0 for word in (*words[1:4], "", "", "")[:3]])

    def add(self, kind: str, number: int, part: int, nodes: list[int], formulation: str = "") -> None:
        """Add an element, with what the deck calls it if that is another than the plain one."""
        if formulation and formulation not in self.formulations.setdefault(kind, []):
            self.formulations[kind].append(formulation)
        self.elements.setdefault(kind, []).append((number, part, nodes))

    def mesh(self, unit: float | None = None) -> RawMesh:
        """Return the mesh, with parts and sets as groups, in a unit of length in m, if the deck gives it."""
        nodes = Numbering("node", np.array(self.numbers, np.int64))
        Numbering("element", np.array([row[0] for rows in self.elements.values() for row in rows], np.int64))
        cells, members = [], self._free_names()
        sets: dict[str, list] = {}
        for block, (kind, rows) in enumerate(self.elements.items()):
            connectivity = nodes.places(np.array([row[2] for row in rows], np.int64), f"a {kind} cell")
            cells.append(RawCells(kind, connectivity))
            for part, places in places_by_value(np.array([row[1] for row in rows], np.int64)).items():
                sets.setdefault(members[part], [None] * len(self.elements))[block] = places
        point_sets = {
            name: nodes.places(np.array(numbers, np.int64), f"set '{name}'") for name, numbers in self.sets.items()
        }
        return RawMesh(
            np.array(self.points, float).reshape(-1, 3),
            cells,
            point_sets,
            cell_sets=sets,
            info=self.formulations,
            unit=unit,
        )

    def _free_names(self) -> Mapping[int, str]:
        """Return a name for each part, with its number where two have the same or it has none."""
        used = {row[1] for rows in self.elements.values() for row in rows}
        titles = [" ".join(self.names.get(part, "").split()) for part in used]
        found = {}
        for part, title in zip(used, titles, strict=True):
            found[part] = title if title and titles.count(title) == 1 else f"{title or 'part'}_{part}"
        return found


def whole(word: str) -> int:
    """Return a whole number."""
    if not is_number(word):
        raise ValueError(f"'{word[:20]}' stands where an integer must be")
    return int(word)
