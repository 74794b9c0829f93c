"""Decks of beams as scenarios: elements of lines with sections, whose nodes have rotations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symplex.decks.beam_keywords import BEAMS
from symplex.decks.courses import Courses
from symplex.decks.deck import BeamSection, Deck, Spin, Step
from symplex.decks.discrete import discrete_of
from symplex.decks.geometry import DeckGeometry
from symplex.decks.parts import BODY
from symplex.decks.reading import UnsupportedKeyword
from symplex.decks.state import Acting, Value, acting, require_static_start, starts_loaded
from symplex.decks.stepping import run_of
from symplex.decks.units import Units
from symplex.errors import MeshError
from symplex.meshes.formats.abaqus import Numbered

Table = dict[str, Any]
_AXES = "xyz"
_SAME = 1e-9  # by which part numbers and directions may differ that are one
_BENT = 0.5  # of the length of an element of three nodes, by which the second one may be off the middle
_WITHOUT_DENSITY = 1000.0  # kg/m³, where only a static equilibrium is requested, which has nothing to do with it
REMARK = "beams have large displacements and rotations in all steps, also without NLGEOM"
_HALVED = "beams of three nodes (B32) are two straight ones each, through the second node"


def has_beams(numbered: Numbered) -> bool:
    """Return whether a mesh has elements of beams."""
    return any(kind in BEAMS for kind in numbered.types)


def beam_geometry(deck: Deck, numbered: Numbered, name: str) -> DeckGeometry:
    """Return the geometry of a deck of beams, those of three nodes as two each.

    Raises
    ------
    MeshError
        If a deck has other elements too, or the second of three nodes is not between the others.
    """
    others = sorted({kind for kind in numbered.types if kind not in BEAMS and kind != "MASS"})
    if others:
        raise MeshError(f"beams together with elements {', '.join(others)} are not supported.")
    types, elements = [], []
    sets = {key: [*members.tolist()] for key, members in numbered.element_sets.items()}
    last = max(int(table[:, 0].max()) for _, table in numbered.elements)
    for kind, (cell, table) in zip(numbered.types, numbered.elements, strict=True):
        if BEAMS.get(kind) != 3:
            types.append(kind)
            elements.append((cell, table))
            continue
        _require_between(numbered, table)
        new = last + 1 + np.arange(len(table))
        last += len(table)
        of = dict(zip(table[:, 0].tolist(), new.tolist(), strict=True))
        for members in sets.values():
            members += [of[number] for number in members if number in of]
        types += [kind, kind]
        elements += [("line", table[:, :3]), ("line", np.column_stack([new, table[:, 2:]]))]
        if _HALVED not in deck.remarks:
            deck.remarks.append(_HALVED)
    arrays = {key: np.array(members, np.int64) for key, members in sets.items()}
    return DeckGeometry.of(
        numbered._replace(types=types, elements=elements, element_sets=arrays), name, require_volume=False
    )


def _require_between(numbered: Numbered, table: NDArray[np.int64]) -> None:
    x = numbered.points[numbered.nodes.places(table[:, 1:], "a B32 element")]
    chord = x[:, 2] - x[:, 0]
    off = np.linalg.norm(x[:, 1] - 0.5 * (x[:, 0] + x[:, 2]), axis=1)
    wrong = np.flatnonzero(off > _BENT * np.linalg.norm(chord, axis=1))
    if len(wrong):
        raise MeshError(f"the second node of element {table[wrong[0], 0]} must be between the two others.")


class BeamStepWriter:
    """Writes the tables of one step of a deck of beams.

    Parameters
    ----------
    deck : Deck
    geometry : DeckGeometry
        Is asked for groups, which have to be written with the mesh.
    step : Step
    units : Units
    mesh : str
        The file of the mesh.
    """

    loose: tuple[int, ...] = ()

    def __init__(self, deck: Deck, geometry: DeckGeometry, step: Step, units: Units, mesh: str):
        self._deck, self._geometry, self._step, self._units, self._file = deck, geometry, step, units, mesh
        follows = step.procedure in ("dynamic", "modal-dynamic") or (
            step.procedure == "frequency" and step.perturbation
        )
        self._preload = starts_loaded(deck, step) if follows else 0
        self._courses = Courses(deck, step, units, self._preload)
        self._refuse()
        if REMARK not in deck.remarks:
            deck.remarks.append(REMARK)

    def _refuse(self) -> None:
        """Raise UnsupportedKeyword if the deck has what beams cannot be given."""
        deck, step = self._deck, self._step
        given = {
            "*TRANSFORM": deck.systems,
            "*EQUATION": [*deck.equations, *deck.linked],
            "*TIE": deck.ties,
            "*RIGID BODY and *COUPLING": [*deck.rigid, *deck.distributed],
            "*MPC": deck.multi_point,
            "*CONTACT PAIR": deck.contacts,
            "*SPRING": deck.springs,
            "*DASHPOT": deck.dashpots,
            "*INITIAL CONDITIONS, TYPE=VELOCITY": deck.velocities,
            "*DAMPING": [m for m in deck.materials.values() if (m.alpha or m.beta) and self._courses.moves],
        }
        if names := [name for name, found in given.items() if found]:
            raise UnsupportedKeyword(f"{names[0]} in a deck of beams is not supported")
        if step.procedure == "explicit":
            raise UnsupportedKeyword("*DYNAMIC, EXPLICIT of beams is not supported; take *DYNAMIC")

    def tables(self) -> Table:
        """Return the tables of the scenario.

        Raises
        ------
        UnsupportedKeyword
            If the step says what a scenario cannot.
        MeshError
            If it refers to what is not there.
        """
        step = self._step
        if step.is_static:
            require_static_start(self._deck, step)
        title = self._deck.title or "imported deck"
        tables: Table = {"title": f"{title[:180]}, step {step.number}" if len(self._deck.steps) > 1 else title[:200]}
        tables["beam"] = [self._beam()]
        acts = self._acting()
        tables["support"] = self._supports(acts)
        tables["point_mass"] = self._masses()
        tables["gravity"] = self._gravity(acts)
        tables["load"] = self._loads(acts)
        if (step.procedure == "static" or self._preload) and acts.loaded:
            tables["start"] = {"kind": "static"}
        tables["integrator"], tables["run"] = run_of(step, self._units)
        return {key: table for key, table in tables.items() if table}

    # -- members --------------------------------------------------------------------------------------------------

    def _beam(self) -> Table:
        """Return the table ``[[beam]]``, with a part for each other section or direction.

        Raises
        ------
        UnsupportedKeyword
            If members have no section, or two.
        """
        geometry = self._geometry
        numbers = np.concatenate([[number] for number, kind, _ in geometry.discrete() if kind in BEAMS]).astype(
            np.int64
        )
        taken = np.zeros(len(numbers), int)
        kinds: list[tuple[Table, list[int]]] = []
        for section in self._deck.beams:
            inside = np.isin(numbers, geometry.elements([section.elements]))
            taken += inside
            for up, members in self._directions(section, numbers[inside]):
                kinds.append(({"up": up, **self._section(section)}, members))
        if (taken != 1).any():
            at = int(np.argmax(taken != 1))
            raise UnsupportedKeyword(f"element {numbers[at]} has {'two sections' if taken[at] else 'no section'}")
        (first, _), *others = kinds
        beam: Table = {"name": BODY, "mesh": {"file": self._file}}
        beam |= {"scale": self._units.length} if self._units.length != 1.0 else {}
        beam |= first
        if others:
            beam["parts"] = [
                {"group": geometry.line_group(members, f"beams_{k}"), **table}
                for k, (table, members) in enumerate(others, start=2)
            ]
        return beam

    def _directions(self, section: BeamSection, numbers: NDArray[np.int64]) -> Iterable[tuple[list[float], list[int]]]:
        """Yield directions for axis 1 of the sections of members, with the numbers of these.

        It is the direction 1 of the deck, but for an I, whose web is along the direction 2 = 3 × 1.
        """
        if section.kind != "I":
            yield list(section.first), numbers.tolist()
            return
        found: dict[tuple[float, ...], list[int]] = {}
        points, requested = self._geometry.mesh.points, {*numbers.tolist()}
        for number, _, (a, b) in (row for row in self._geometry.discrete() if row[0] in requested):
            t = (points[b] - points[a]) / np.linalg.norm(points[b] - points[a])
            found.setdefault(tuple(np.round(np.cross(t, section.first), 9).tolist()), []).append(number)
        yield from ((list(up), members) for up, members in found.items())

    def _section(self, section: BeamSection) -> Table:
        units, stress = self._units, self._units.stress
        values = [x * units.length for x in section.values]
        if not section.kind:
            area, about_1, about_2, torsion = section.values
            assert section.moduli is not None
            E, G = section.moduli
            table: Table = {
                "area": area * units.length**2,
                "I1": about_1 * units.length**4,
                "I2": about_2 * units.length**4,
                "J": torsion * units.length**4,
                "k1": 1.0,
                "k2": 1.0,
            }
            young, poisson, density = E, E / (2.0 * G) - 1.0, section.density
            called = f"the general section of '{section.elements}'"
        else:
            table = _shape(section.kind, values)
            if section.material.upper() not in self._deck.materials:
                raise UnsupportedKeyword(f"there is no material '{section.material}'")
            material = self._deck.materials[section.material.upper()]
            if material.young is None:
                raise UnsupportedKeyword(f"the material '{material.name}' of beams must be isotropic and elastic")
            young, poisson, density = material.young, material.poisson, material.density
            called = f"the material '{material.name}'"
        if density is None and not self._step.is_static:
            raise UnsupportedKeyword(f"{called} has no density")
        given = _WITHOUT_DENSITY if density is None else density * units.density
        return {"section": table, "material": {"young": young * stress, "poisson": poisson, "density": given}}

    # -- what acts ------------------------------------------------------------------------------------------------

    def _acting(self) -> Acting:
        """Return what acts; natural vibrations are about the state before, under the loads of that."""
        step = self._step
        if step.procedure != "frequency":
            return acting(self._deck, self._geometry, step.number)
        held = acting(self._deck, self._geometry, step.number).supports
        if not self._preload:
            return Acting(supports={key: Value(0.0, "", 0) for key in held})
        acts = acting(self._deck, self._geometry, self._preload)
        if {*held} != {*acts.supports}:
            raise UnsupportedKeyword("other nodes are held than in the step before")
        return acts

    def _place(self, nodes: Iterable[int], name: str) -> Table:
        return {"body": BODY, "group": self._geometry.point_group(nodes, name)}

    def _supports(self, acts: Acting) -> list[Table]:
        by_node: dict[int, set[int]] = {}
        for (node, component), value in acts.supports.items():
            if value.value:
                raise UnsupportedKeyword("supports that move nodes of beams are not supported")
            by_node.setdefault(node, set()).add(component)
        alike: dict[tuple[str, str], list[int]] = {}
        for node, held in by_node.items():
            letters = ["".join(_AXES[c - first] for c in sorted(held) if first <= c < first + 3) for first in (0, 3)]
            alike.setdefault((letters[0], letters[1]), []).append(node)
        return [
            {**self._place(nodes, "held"), "components": components, "rotations": rotations}
            for (components, rotations), nodes in alike.items()
        ]

    def _loads(self, acts: Acting) -> list[Table]:
        if acts.pressures:
            raise UnsupportedKeyword("forces along beams (P1, P2 …) are not supported; give them to nodes")
        tables: list[Table] = []
        for key, first, unit in (
            ("force", 0, self._units.force),
            ("moment", 3, self._units.force * self._units.length),
        ):
            by_node: dict[tuple[int, str, bool], NDArray[np.float64]] = {}
            for (node, component), values in acts.forces.items():
                if not first <= component < first + 3:
                    continue
                for value in values:
                    size, amplitude, changes = self._courses.course(value)
                    vector = by_node.setdefault((node, amplitude, changes), np.zeros(3))
                    vector[component - first] += size * unit
            alike: dict[tuple[tuple[float, ...], str, bool], list[int]] = {}
            for (node, amplitude, changes), vector in by_node.items():
                if vector.any():
                    alike.setdefault((tuple(vector.tolist()), amplitude, changes), []).append(node)
            for k, ((vector, amplitude, changes), nodes) in enumerate(alike.items(), start=1):
                table = {"name": f"{key}_{k}", "kind": "nodal", **self._place(nodes, "loaded"), key: list(vector)}
                history = self._courses.history(amplitude) if changes else None
                tables.append(table | ({"history": history} if history else {}))
        return tables

    def _gravity(self, acts: Acting) -> Table | None:
        total = np.zeros(3)
        every = {number for number, kind, _ in self._geometry.discrete() if kind in BEAMS or kind == "MASS"}
        for weight, value in acts.weights:
            if isinstance(weight, Spin):
                raise UnsupportedKeyword("centrifugal forces on beams are not supported")
            size, _, changes = self._courses.course(value)
            if changes or not every <= {*self._geometry.elements([weight.elements]).tolist()}:
                raise UnsupportedKeyword("a weight of beams that changes, or of a part of them, is not supported")
            total += size * np.array(weight.acceleration) * self._units.acceleration
        return {"acceleration": total.tolist()} if total.any() else None

    def _masses(self) -> list[Table]:
        discrete = discrete_of(self._deck, self._geometry, nonlinear=True)
        return [
            {"name": f"mass_{k}", **self._place([node for node, _ in on], "heavy"), "mass": mass * self._units.mass}
            for k, (on, mass) in enumerate(discrete.masses, start=1)
        ]


def _shape(kind: str, values: list[float]) -> Table:
    """Return the section of a kind with dimensions in m.

    Raises
    ------
    UnsupportedKeyword
        If it is none that a scenario has.
    """
    least = {"RECT": 2, "CIRC": 1, "PIPE": 2, "BOX": 6, "I": 7}[kind]
    if len(values) < least:
        raise UnsupportedKeyword(f"a section {kind} has {len(values)} dimensions, must have {least}")
    if kind == "RECT":
        return {"kind": "rectangle", "height": values[0], "width": values[1]}
    if kind == "PIPE":
        return {"kind": "pipe", "radius": values[0], "thickness": values[1]}
    if kind == "CIRC":
        if len(values) == 1:
            return {"kind": "circle", "radius": values[0]}
        if not _alike(values[:2]):
            raise UnsupportedKeyword("elliptic sections (CIRC with two diameters) are not supported")
        return {"kind": "circle", "radius": 0.5 * values[0]}
    if kind == "BOX":
        if not _alike(values[2:6]):
            raise UnsupportedKeyword("boxes with walls of different thickness are not supported")
        return {"kind": "box", "height": values[0], "width": values[1], "thickness": values[2]}
    origin, height, lower, upper, below, above, web = values[:7]
    if not (_alike([lower, upper]) and _alike([below, above]) and _alike([2.0 * origin, height])):
        raise UnsupportedKeyword("sections I with two different flanges, or away from their nodes, are not supported")
    return {"kind": "i", "height": height, "width": upper, "web": web, "flange": above}


def _alike(values: list[float]) -> bool:
    return max(values) - min(values) <= _SAME * max(values)
