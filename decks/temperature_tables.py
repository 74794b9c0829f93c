"""Temperatures of a step as tables of a scenario: what materials are and expand by, and fields by nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from symplex.decks.courses import Courses
from symplex.decks.deck import Deck, MaterialData
from symplex.decks.geometry import DeckGeometry
from symplex.decks.reading import UnsupportedKeyword
from symplex.decks.state import Acting, initial_temperatures

Table = dict[str, Any]
Course = tuple[str, bool]
_SAME = 1e-9  # of the largest change, by which temperatures differ that are meant to be one


class TemperatureTables:
    """Writes temperatures of one step.

    Parameters
    ----------
    deck : Deck
        Whose materials get what they have at these temperatures.
    geometry : DeckGeometry
    courses : Courses
    acts : Acting

    Attributes
    ----------
    files : dict of str to str
        By the names that tables have, the texts of files of temperatures by nodes.
    """

    def __init__(self, deck: Deck, geometry: DeckGeometry, courses: Courses, acts: Acting):
        self._deck, self._geometry, self._courses = deck, geometry, courses
        self.files: dict[str, str] = {}
        self._initial = initial_temperatures(deck, geometry)
        n = len(self._initial)
        self._fields: dict[Course, NDArray[np.float64]] = {("", False): np.zeros(n)}  # ΔT, and what histories multiply
        for node, value in acts.temperatures.items():
            size, amplitude, changes = courses.course(value)
            course = (amplitude, True) if changes else ("", False)
            self._fields.setdefault(course, np.zeros(n))[node] = size
            if value.amplitude:  # other values are changes already
                self._fields["", False][node] -= self._initial[node]
        places = {int(number): place for place, number in enumerate(geometry.numbers)}
        for number, others in deck.over().items():
            for field in (self._initial, *self._fields.values()):
                field[[places[other] for other in others if other in places]] = field[places[number]]
        self._used = np.flatnonzero(geometry.in_elements)
        if not len(self._used):
            self._used = np.arange(n)
        self._set_materials()

    @property
    def _changes(self) -> bool:
        """Whether temperatures change with time."""
        return any(field[self._used].any() for course, field in self._fields.items() if course[1])

    def _set_materials(self) -> None:
        """Give materials what they have at the temperatures of the step."""
        deck, used = self._deck, self._deck.used()["material"]
        change = self._fields["", False][self._used]
        at_end = self._initial[self._used] + change
        uniform = float(at_end[0]) if not self._changes and np.ptp(at_end) <= _SAME * np.abs(at_end).max() else None
        expanding = [material for name, material in deck.materials.items() if name in used and material.expansions]
        for name, material in deck.materials.items():
            if name not in used:
                continue
            if deck.heated is None:
                material.require_first()
                continue
            material.set_constants(uniform, deck.heated)
            moved = self._changes or bool(change.any())
            if not moved or not material.expansions:
                material.expansion = None
                continue
            if material.expands_apart:
                raise UnsupportedKeyword(f"the material '{material.name}' expands differently in its directions")
            if len(material.expansions) == 1 or all(a == material.expansions[0][0] for a, _ in material.expansions):
                material.expansion = material.expansions[0][0]
            elif self._changes:
                raise UnsupportedKeyword(
                    f"the expansion of '{material.name}' depends on temperatures, which change with time"
                )
            else:
                material.expansion = self._secant(material, change, at_end, len(expanding) > 1)

    def _secant(
        self, material: MaterialData, change: NDArray[np.float64], at_end: NDArray[np.float64], several: bool
    ) -> float:
        """Return what a material expands by for each K; where that differs, ΔT becomes one that gives the strain."""
        strain = material.expanded(at_end) - material.expanded(self._initial[self._used])
        rates = strain[change != 0.0] / change[change != 0.0]
        if np.ptp(rates) <= _SAME * np.abs(rates).max():
            return float(rates[0])
        if several:
            raise UnsupportedKeyword(
                f"the expansion of '{material.name}' depends on temperatures that differ between nodes, and other "
                "materials expand too"
            )
        largest = float(rates[np.abs(rates).argmax()])
        self._fields["", False][self._used] = strain / largest
        return largest

    def tables(self, bodies: dict[str, NDArray[np.int64]], name: str, *, uniform: bool = False) -> list[Table]:
        """Return tables ``[[temperature]]`` of bodies, given the places of their nodes.

        Parameters
        ----------
        bodies : dict of str to int [k]
        name : str
            Begins the names of files.
        uniform : bool, default False
            Whether each body must have one temperature only.
        """
        found: list[Table] = []
        expands = any(material.expansion for material in self._deck.materials.values())
        for (amplitude, changes), field in self._fields.items() if expands else ():
            for body, nodes in bodies.items():
                own = field[nodes]
                if not own.any():
                    continue
                table: Table = {"body": body}
                if np.ptp(own) <= _SAME * np.abs(own).max():
                    table["change"] = float(own[0])
                elif uniform:
                    raise UnsupportedKeyword("temperatures that differ between nodes of beams or shells")
                else:
                    file = f"{name}-temperature-{len(self.files) + 1}.csv"
                    rows = zip(self._geometry.numbers[nodes].tolist(), own.tolist(), strict=True)
                    self.files[file] = "node,K\n" + "".join(f"{node},{change!r}\n" for node, change in rows)
                    table["file"] = file
                if history := self._courses.history(amplitude) if changes else None:
                    table |= {"name": f"heat_{len(found) + 1}", "history": history}
                found.append(table)
        return found
