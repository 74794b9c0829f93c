"""Ties of a deck: nodes of one surface that stay where they are on a face of another one."""

from __future__ import annotations

import numpy as np

from symplex.decks.deck import Tie
from symplex.decks.geometry import DeckGeometry, Face
from symplex.decks.reading import NotUnderstood
from symplex.decks.rows import Array, Rows
from symplex.meshes.kinds import FACE_KINDS
from symplex.meshes.shape_functions import SHAPE_FUNCTIONS

_NEAREST = 12  # faces, by their centres, among which that of a tied node is looked for
NEAR = 0.025  # of the size of a face: how far from it a node is tied without a tolerance, as CalculiX has it
_BEYOND = 1e-3  # of a face: how far beyond its edge a foot may be
_NEWTON = 20


def add_tie(rows: Rows, tie: Tie, geometry: DeckGeometry) -> None:
    """Add u = Σ N_a u_a for each node that is tied, at the point of the other surface that is nearest to it."""
    points = geometry.mesh.points
    faces = geometry.faces(geometry.sides(tie.master, 0))
    if not faces:
        raise NotUnderstood(f"the surface '{tie.master}' has no faces")
    for node in np.setdiff1d(geometry.surface_nodes(tie.slave), np.concatenate(faces)).tolist():
        face, weights, away = nearest_on_faces(points[node], faces, points)
        size = float(np.ptp(points[list(face)], axis=0).max())
        if away > (tie.tolerance if tie.tolerance is not None else NEAR * size):
            continue  # as CalculiX, which warns of it
        for i in range(3):
            rows.add({(node, i): -1.0, **{(a, i): float(w) for a, w in zip(face, weights, strict=True)}})


def nearest_on_faces(x: Array, faces: list[Face], points: Array) -> tuple[list[int], Array, float]:
    """Return the nodes of the face that is nearest to a place x, their weights for its foot, and the distance."""
    centres = np.array([points[list(face)].mean(axis=0) for face in faces])
    nearest = np.argsort(np.linalg.norm(centres - x, axis=1))[:_NEAREST].tolist()
    found = [_foot(x, points[list(faces[k])]) for k in nearest]
    best = min(range(len(found)), key=lambda k: found[k][1])
    return list(faces[nearest[best]]), *found[best]


def _foot(x: Array, corners: Array) -> tuple[Array, float]:
    """Return the weights [k] of the nodes of a face for its point nearest to x, and the distance; inf if beyond it."""
    shape = SHAPE_FUNCTIONS[FACE_KINDS[len(corners)]]
    triangular = len(corners) in (3, 6)
    at = np.full(2, 1 / 3) if triangular else np.zeros(2)
    for _ in range(_NEWTON):
        (values,), (slopes,) = shape(at[None])
        tangents = corners.T @ slopes
        change = np.linalg.lstsq(tangents, x - values @ corners, rcond=None)[0]
        at = np.clip(at + change, -2.0, 2.0)
        if np.abs(change).max() < 1e-13:
            break
    beyond = max(-at.min(), at.sum() - 1.0) if triangular else np.abs(at).max() - 1.0
    if beyond > _BEYOND:
        return np.zeros(len(corners)), np.inf
    values = shape(at[None])[0][0]
    return values, float(np.linalg.norm(values @ corners - x))
