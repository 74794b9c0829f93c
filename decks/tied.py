"""Ties of a deck: nodes of one surface that stay where they are on a face of another one."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from symplex.decks.deck import Tie
from symplex.decks.geometry import DeckGeometry, Face
from symplex.decks.reading import UnsupportedKeyword
from symplex.decks.rows import Array, Rows
from symplex.meshes.kinds import FACE_KINDS
from symplex.meshes.shape_functions import SHAPE_FUNCTIONS

_NEAREST = 12  # faces of one size, by their centres, among which that of a tied node is looked for
NEAR = 0.025  # of the size of a face: how far from it a node is tied without a tolerance, as CalculiX has it
_BEYOND = 1e-3  # of a face: how far beyond its edge a foot may be
_NEWTON = 20
_CONVERGED = 1e-13  # of a face: changes of its coordinates that end the iteration
_CHUNK = 1024  # places at once


class Foot(NamedTuple):
    """The point of a surface that is nearest to a place: the nodes of its face, their weights, and how far it is.

    If there is no foot, as the place is beyond the edges of the surface, it is infinitely far.
    """

    face: list[int]
    weights: Array
    away: float


def add_tie(rows: Rows, tie: Tie, geometry: DeckGeometry) -> None:
    """Add u = Σ N_a u_a for each node that is tied, at the point of the other surface that is nearest to it."""
    points = geometry.mesh.points
    faces = geometry.faces(geometry.sides(tie.master, 0))
    if not faces:
        raise UnsupportedKeyword(f"the surface '{tie.master}' has no faces")
    nodes = np.setdiff1d(geometry.surface_nodes(tie.slave), np.concatenate(faces))
    for node, (face, weights, away) in zip(nodes.tolist(), feet_on_faces(points[nodes], faces, points), strict=True):
        size = float(np.ptp(points[list(face)], axis=0).max())
        if away > (tie.tolerance if tie.tolerance is not None else NEAR * size):
            continue  # as CalculiX, which warns of it
        for i in range(3):
            rows.add({(node, i): -1.0, **{(a, i): float(w) for a, w in zip(face, weights, strict=True)}})


def feet_on_faces(x: Array, faces: list[Face], points: Array) -> list[Foot]:
    """Return for each place x [m, 3] its foot on the nearest of some faces, whose nodes have positions in points."""
    best = np.full(len(x), np.inf)
    chosen = np.zeros(len(x), np.int64)
    weights = np.zeros((len(x), max(map(len, faces))))
    for alike in _alike(faces, points):
        nodes = np.array([faces[k] for k in alike])
        tree = KDTree(points[nodes].mean(axis=1))
        near = tree.query(x, k=min(_NEAREST, len(alike)))[1].reshape(len(x), -1)
        for k in range(0, len(x), _CHUNK):
            part = slice(k, k + _CHUNK)
            own, away = _feet(np.repeat(x[part], near.shape[1], axis=0), points[nodes[near[part].ravel()]])
            away = away.reshape(-1, near.shape[1])
            first = away.argmin(axis=1)
            rows = np.arange(len(away))
            nearer = np.flatnonzero(away[rows, first] < best[part])
            at = k + nearer
            best[at] = away[nearer, first[nearer]]
            chosen[at] = alike[near[at, first[nearer]]]
            weights[at] = 0.0
            weights[at, : nodes.shape[1]] = own.reshape(len(away), near.shape[1], -1)[nearer, first[nearer]]
    return [
        Foot(list(faces[k]), w[: len(faces[k])], d)
        for k, w, d in zip(chosen.tolist(), weights, best.tolist(), strict=True)
    ]


def _alike(faces: list[Face], points: Array) -> list[NDArray[np.int64]]:
    """Return the places of faces with as many nodes and of about one size: the nearest of these have near centres."""
    found: dict[tuple[int, int], list[int]] = {}
    for k, face in enumerate(faces):
        size = float(np.ptp(points[list(face)], axis=0).max())
        found.setdefault((len(face), math.frexp(size)[1]), []).append(k)
    return [np.array(places) for places in found.values()]


def _feet(x: Array, corners: Array) -> tuple[Array, Array]:
    """Return the weights [m, k] of the nodes of a face for its point nearest to x, and distances; inf beyond it."""
    n = corners.shape[1]
    shape = SHAPE_FUNCTIONS[FACE_KINDS[n]]
    triangular = n in (3, 6)
    at = np.full((len(x), 2), 1 / 3 if triangular else 0.0)
    left = np.arange(len(x))
    for _ in range(_NEWTON):
        values, slopes = shape(at[left])
        tangents = np.einsum("mni,mnj->mij", corners[left], slopes)
        off = x[left] - np.einsum("mn,mni->mi", values, corners[left])
        change = np.einsum("mji,mi->mj", np.linalg.pinv(tangents), off)
        at[left] = np.clip(at[left] + change, -2.0, 2.0)
        left = left[np.abs(change).max(axis=1) >= _CONVERGED]
        if not len(left):
            break
    beyond = np.maximum(-at.min(axis=1), at.sum(axis=1) - 1.0) if triangular else np.abs(at).max(axis=1) - 1.0
    values = shape(at)[0]
    away = np.linalg.norm(np.einsum("mn,mni->mi", values, corners) - x, axis=1)
    return values, np.where(beyond > _BEYOND, np.inf, away)
