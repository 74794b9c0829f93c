"""The bodies of a deck as tables of a scenario: their elements, materials and velocities at the start."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from symplex.decks.deck import Deck, MaterialData, Section, Step
from symplex.decks.geometry import DeckGeometry
from symplex.decks.material_tables import material_table, require_constants
from symplex.decks.mesh_keywords import FORMULATIONS
from symplex.decks.parts import Parts
from symplex.decks.reading import UnsupportedKeyword
from symplex.decks.stepping import OfStep
from symplex.decks.units import Units
from symplex.fem.solids.plastic import LOCKING

Table = dict[str, Any]
MOST_VELOCITIES = 300  # tables
# Of hybrid elements under laws of small strains, which have no mean dilatation: others that do not lock, if there are.
_OF_SMALL_STRAINS = {"C3D8H": "stabilized", "C3D20H": "reduced"}

_OF_METALS = dict.fromkeys(("C3D6", "C3D6H", "C3D8", "C3D8I", "C3D8H"), "mean-dilatation") | dict.fromkeys(
    ("C3D10H", "C3D15H", "C3D20H"), "full"
)


class BodyTables(OfStep):
    """Writes the bodies of one step.

    Parameters
    ----------
    large : bool
        Whether displacements may be large.
    parts : Parts
    flows : bool
        Whether metals flow.
    with_others : bool, default False
        Whether there are beams or shells too, so that the mesh has more than the body.
    """

    def __init__(
        self,
        deck: Deck,
        geometry: DeckGeometry,
        step: Step,
        units: Units,
        mesh: str,
        large: bool,
        parts: Parts,
        flows: bool,
        with_others: bool = False,
    ):
        super().__init__(deck, geometry, step, units, mesh)
        self._large, self._parts, self._flows, self._with_others = large, parts, flows, with_others

    @property
    def _sections(self) -> list[Section]:
        """Those of solid elements."""
        return [section for section in self._deck.sections if self._geometry.has_any([section.elements])]

    def tables(self) -> list[Table]:
        """Return tables ``[[body]]``, one for each part."""
        self.require_sections(self._geometry.solids, self._sections)
        if not self._parts.names and not self._step.is_static:
            self._check_densities()
        return [self._table(part) for part in self._parts.names]

    def _check_densities(self) -> None:
        """Raise UnsupportedKeyword if bars, in a deck without solid elements, have no mass."""
        for section in self._deck.sections:
            material = self._deck.materials.get(section.material.upper())
            if material is not None and material.density is None:
                raise UnsupportedKeyword(f"the material '{material.name}' has no density")

    def _table(self, part: str) -> Table:
        # Axes make another material of one that is not the same in all directions.
        own = [s for s in self._sections if part in self._parts.holding(self._nodes_of(s))]
        materials = {(section.material.upper(), section.orientation) for section in own}
        unknown = {name for name, _ in materials} - {*self._deck.materials}
        if unknown:
            raise UnsupportedKeyword(f"there is no material '{min(unknown)}'")
        scale = self._units.length
        body: Table = {"name": part, "mesh": self._file}
        nodes = self._parts.nodes(part)
        if len(self._parts.names) > 1 or self._with_others:
            body["group"] = self._geometry.group_of_nodes(nodes, part)
        if scale != 1.0:
            body["scale"] = scale
        types = self._geometry.types_of(nodes)
        large = self._large or any(self._deck.materials[name].formula for name, _ in materials)
        metals = [one for name, _ in materials if self._flows and (one := self._deck.materials[name]).yields]
        if metals and "C3D4" in types and LOCKING not in self._deck.remarks:
            self._deck.remarks.append(LOCKING)
        formulations = {found for name in types if (found := _formulation(name, large, metals))}
        if len(formulations) > 1:
            reported = " and ".join(types)
            raise UnsupportedKeyword(f"it has elements {reported}, which one body cannot have together")
        if formulations:
            body["formulation"] = formulations.pop()
        if len(materials) == 1:
            body["material"] = self._material(*materials.pop())
        else:
            body["materials"] = {
                self._geometry.element_group(
                    self._elements_of(name, axes), f"material_{name}{axes and '_'}{axes}"
                ): self._material(name, axes)
                for name, axes in sorted(materials)
            }
        if self._step.procedure != "explicit":
            body["mass"] = "consistent"
        return body

    def _nodes_of(self, section: Section) -> list[int]:
        return self._geometry.nodes_of_elements([section.elements]).tolist()

    def _elements_of(self, material: str, axes: str) -> list[str]:
        return [s.elements for s in self._sections if s.material.upper() == material and s.orientation == axes]

    @property
    def density(self) -> float:
        """The least density in kg/m³."""
        return min((m.density for m in self._deck.materials.values() if m.density), default=0.0) * self._units.density

    @property
    def stiffest(self) -> float | None:
        """The largest Young's modulus in Pa, if the deck gives any."""
        materials = self._deck.materials.values()
        found = [material.young for material in materials if material.young is not None]
        found += [max(values[:3]) for m in materials if (values := m.stiffness or m.engineering)]
        return max(found) * self._units.stress if found else None

    def _material(self, name: str, axes: str) -> Table:
        material = self._deck.materials[name]
        require_constants(material, self._step)
        if axes and axes not in self._deck.orientations:
            raise UnsupportedKeyword(f"there is no orientation '{axes}'")
        return material_table(material, self._deck.orientations.get(axes), self._units, self._large, self._flows)

    def velocities(self) -> list[Table]:
        """Return tables ``[[velocity]]`` of the start of a motion, one for all nodes with the same.

        Raises
        ------
        UnsupportedKeyword
            If there are too many.
        """
        nodes: NDArray[np.float64] = np.zeros((len(self._geometry.mesh.points), 3))
        for item in self._deck.velocities:
            nodes[self._geometry.nodes(item.nodes), item.component] = item.value * self._units.velocity
        used = np.flatnonzero(self._geometry.in_elements)
        values, which = np.unique(nodes[used], axis=0, return_inverse=True)
        if len(values) > MOST_VELOCITIES:
            raise UnsupportedKeyword(
                f"it has {len(values)} different initial velocities; {MOST_VELOCITIES} are the most"
            )
        tables: list[Table] = []
        for k, value in enumerate(values):
            if value.any():
                group = self._geometry.point_group(used[which.ravel() == k].tolist(), "moving")
                for part in self._parts.holding(used[which.ravel() == k].tolist()):
                    place = {"body": part} if len(values) == 1 else {"body": part, "group": group}
                    tables.append({**place, "velocity": value.tolist()})
        return tables


def _formulation(element: str, large: bool, metals: list[MaterialData]) -> str:
    """Return how elements of a type are computed, "" by default; metals that flow lock in other ways."""
    if metals and element in _OF_METALS:
        return _OF_METALS[element]
    if element == "C3D8R" and any("back_modulus" in one.metal for one in metals):
        return "mean-dilatation"  # stabilized hexahedra have no back stress
    found = FORMULATIONS.get(element, "")
    return found if large or found != "mean-dilatation" else _OF_SMALL_STRAINS.get(element, "full")
