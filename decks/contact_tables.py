"""Contact of a deck as tables of a scenario."""

from __future__ import annotations

from typing import Any

import numpy as np

from symplex.decks.deck import ContactPair, Deck, Interaction, Step
from symplex.decks.geometry import DeckGeometry, Face
from symplex.decks.parts import Parts
from symplex.decks.reading import UnsupportedKeyword
from symplex.decks.tied import feet_on_faces
from symplex.decks.units import Units
from symplex.meshes.kinds import FACE_KINDS, corners_of

Table = dict[str, Any]
# Flat faces pass into each other by p/(2 k) to p/(3 k), as the nodes of both press: docs/body-contact.md.
_OF_BOTH_SIDES = 0.4
# Of E/h: the least stiffness with which it matters little how far faces pass into each other.
_LEAST_STIFFNESS = 1.0
# Of an element: over what distance an exponential pressure may act that counts as hard contact.
_MOST_CLEARANCE = 1e-2
_CREEP = 1e-5  # of the size of the mesh: how far what sticks may creep in a static step
_NONE = 1e-5  # of the size of a face: a gap or an overlap that is none


class ContactTables:
    """Writes contact of one step.

    Parameters
    ----------
    deck : Deck
    geometry : DeckGeometry
    step : Step
    units : Units
    parts : Parts
    """

    def __init__(self, deck: Deck, geometry: DeckGeometry, step: Step, units: Units, parts: Parts):
        self._deck, self._geometry, self._step = deck, geometry, step
        self._units, self._parts = units, parts
        self._young = max((m.young for m in deck.materials.values() if m.young), default=0.0)

    def tables(self) -> list[Table]:
        """Return tables ``[[contact]]``, one for each two bodies.

        Raises
        ------
        UnsupportedKeyword
            If the step or the surfaces are such that contact of a scenario is another one.
        """
        found: dict[tuple[str, str], Table] = {}
        for pair in self._deck.touching:
            keys = self._keys(pair)
            slave, master = (self._geometry.faces_of_surface(who) for who in (pair.slave, pair.master))
            if not master:
                raise UnsupportedKeyword(f"{pair.where}: the second surface, '{pair.master}', has no faces")
            nodes = self._geometry.surface_nodes(pair.slave).tolist()  # those of a surface of nodes as well
            if len(self._parts.names) == 1:
                raise UnsupportedKeyword(f"{pair.where}: '{pair.slave}' and '{pair.master}' are surfaces of one body")
            self._check_stiffness(pair, [*slave, *master])
            self._check_gaps(pair, nodes, master)
            for one in self._parts.holding(nodes):
                for other in self._parts.holding(face[0] for face in master):
                    if one == other:
                        raise UnsupportedKeyword(f"{pair.where}: contact of a body with itself is not supported")
                    bodies = (min(one, other), max(one, other))
                    if found.get(bodies, keys) != keys:
                        raise UnsupportedKeyword(f"{pair.where}: two bodies are in contact in different ways")
                    found[bodies] = keys
        return [
            {"name": f"contact_{k}", "bodies": list(bodies), "begins": "touch", **keys}
            for k, (bodies, keys) in enumerate(found.items(), start=1)
        ]

    def _keys(self, pair: ContactPair) -> Table:
        interaction = self._interaction(pair)
        step = self._step
        if step.procedure == "buckle":
            raise UnsupportedKeyword("buckling of bodies in contact is not supported")
        if step.procedure in ("frequency", "modal-dynamic"):
            raise UnsupportedKeyword("vibrations of bodies in contact are not supported")
        static_before = any(s.procedure == "static" for s in self._deck.steps[: step.number - 1])
        if interaction.friction and step.is_motion and static_before:
            raise UnsupportedKeyword(
                f"{pair.where}: friction in motions after static steps, in which it acts already, is not supported"
            )
        keys: Table = {}
        if interaction.stiffness is not None:
            keys["stiffness"] = _OF_BOTH_SIDES * interaction.stiffness * self._units.stress / self._units.length
        if interaction.friction:
            keys["friction"] = interaction.friction
            if step.procedure == "static":
                size = float(np.linalg.norm(np.ptp(self._geometry.mesh.points, axis=0))) * self._units.length
                keys["slip_speed"] = _CREEP * size / (step.period * self._units.time)
        return keys

    def _interaction(self, pair: ContactPair) -> Interaction:
        if pair.interaction not in self._deck.interactions:
            raise UnsupportedKeyword(f"{pair.where}: there is no surface interaction '{pair.interaction}'")
        return self._deck.interactions[pair.interaction]

    def _check_stiffness(self, pair: ContactPair, faces: list[Face]) -> None:
        """Raise UnsupportedKeyword where contact is softer than an element, so that its depth matters."""
        interaction, points = self._interaction(pair), self._geometry.mesh.points
        stiffness = interaction.stiffness
        size = float(np.mean([np.ptp(points[list(face)], axis=0).max() for face in faces]))
        if interaction.clearance > _MOST_CLEARANCE * size:
            raise UnsupportedKeyword(
                f"{pair.where}: an exponential pressure acts over {interaction.clearance:.3g}, more than "
                f"{_MOST_CLEARANCE:g} of an element of {size:.3g}; a scenario has hard contact only"
            )
        if stiffness is None:
            return
        if stiffness * size < _LEAST_STIFFNESS * self._young:
            raise UnsupportedKeyword(
                f"{pair.where}: a stiffness of {stiffness:.3g} is less than E/h, {self._young / size:.3g}: bodies "
                "yield mostly where they are in contact, by how pressures are integrated"
            )

    def _check_gaps(self, pair: ContactPair, nodes: list[int], master: list[Face]) -> None:
        """Raise UnsupportedKeyword where nodes of the first surface overlap the second one."""
        points = self._geometry.mesh.points
        for node, (face, weights, away) in zip(nodes, feet_on_faces(points[nodes], master, points), strict=True):
            if not np.isfinite(away):
                continue
            x = points[list(corners_of(FACE_KINDS[len(face)], np.array([face]))[0])]
            normal = np.cross(x[2] - x[0], x[-1] - x[1]) if len(x) == 4 else np.cross(x[1] - x[0], x[2] - x[0])
            size = np.sqrt(np.linalg.norm(normal))
            if away <= _NONE * size:
                continue
            below = normal @ (points[node] - weights @ points[list(face)]) < 0.0
            number = self._geometry.numbers[node]
            if below and away < size:  # what is farther is behind the other body
                raise UnsupportedKeyword(
                    f"{pair.where}: node {number} is {away:.3g} below '{pair.master}' at the start, which presses in a "
                    "deck; in a scenario overlaps are without stress. Let the surfaces touch"
                )


def rubs(deck: Deck) -> bool:
    """Return whether bodies in contact rub, so that static steps depend on the way to them."""
    interactions = (deck.interactions.get(pair.interaction) for pair in deck.touching)
    return any(one is not None and one.friction for one in interactions)
