"""Nodes that a deck moves before it begins: those of one surface onto another one, without stress."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from symplex.decks.deck import Deck
from symplex.decks.geometry import DeckGeometry
from symplex.decks.reading import real
from symplex.decks.tied import NEAR, feet_on_faces

_NONE = 1e-6  # of the size of a face: how far from it a node is on it


def adjusted(deck: Deck, geometry: DeckGeometry) -> DeckGeometry:
    """Return the geometry with nodes of tied surfaces, and of those in contact, moved where the deck says ``ADJUST``.

    What was moved is noted in the remarks of the deck.

    Raises
    ------
    MeshError
        If there is no such surface or set.
    """
    points = geometry.mesh.points.copy()
    for slave, master, reach in _surfaces(deck):
        moved = _move(points, geometry, slave, master, reach)
        if len(moved):
            reported = (
                f"{len(moved)} nodes of '{slave}' are moved to '{master}', by up to {max(moved):.3g}, as ADJUST says"
            )
            deck.remarks.append(reported)
    return replace(geometry, mesh=replace(geometry.mesh, points=points))


def _surfaces(deck: Deck) -> list[tuple[str, str, float | str | None]]:
    """Return two surfaces, and to what distance or of which set nodes are moved; None: as near as ties reach."""
    found: list[tuple[str, str, float | str | None]] = [
        (tie.slave, tie.master, tie.tolerance) for tie in deck.ties if tie.adjust and not tie.cyclic
    ]
    for pair in deck.contacts:
        if pair.adjust is None:
            continue
        try:
            found.append((pair.slave, pair.master, real(pair.adjust)))
        except ValueError:
            found.append((pair.slave, pair.master, pair.adjust))
    return found


def _move(
    points: np.ndarray, geometry: DeckGeometry, slave: str, master: str, reach: float | str | None
) -> list[float]:
    """Move nodes of one surface to another one, and return by how much each."""
    faces = geometry.faces_of_surface(master)
    if not faces:
        return []
    nodes = np.setdiff1d(geometry.surface_nodes(slave), np.concatenate([np.array(face) for face in faces]))
    if isinstance(reach, str):
        nodes = np.intersect1d(nodes, geometry.nodes(reach))
    moved: list[float] = []
    for node, (face, weights, away) in zip(nodes.tolist(), feet_on_faces(points[nodes], faces, points), strict=True):
        size = float(np.ptp(points[face], axis=0).max())
        most = NEAR * size if reach is None else np.inf if isinstance(reach, str) else reach
        if _NONE * size < away <= most and np.isfinite(away):
            points[node] = weights @ points[face]
            moved.append(away)
    return moved
