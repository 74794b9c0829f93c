"""Cyclic symmetry of a deck: one sector of a structure, whose other sectors move as it does, but for a phase.

With the rotation R by the angle α of a sector, nodes on one side move as those on the other, u_s = e^{inα} R u_m, for a
nodal diameter n. Where e^{inα} is not real, a second body has the imaginary parts of the displacements.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import KDTree
from scipy.spatial.transform import Rotation

from symplex.decks.deck import Deck, Sector, Step, Tie
from symplex.decks.geometry import DeckGeometry
from symplex.decks.reading import UnsupportedKeyword
from symplex.decks.rows import IMAGINARY, Array, Dof, Rows
from symplex.decks.tied import Foot, feet_on_faces

_NEAR = 1e-3  # of the size of the sector: how far nodes of both sides may be apart without a tolerance
_ROUNDING = 1e-12  # of it, that nodes in the same places may be apart
_ZERO = 1e-12  # of a factor


def diameter_of(deck: Deck, step: Step) -> int | None:
    """Return the nodal diameter of a step of one sector; None if the deck has no cyclic symmetry.

    Raises
    ------
    UnsupportedKeyword
        If it has several.
    """
    if not any(tie.cyclic for tie in deck.ties):
        return None
    if deck.sector is None:
        raise UnsupportedKeyword("a *TIE with CYCLIC SYMMETRY has no *CYCLIC SYMMETRY MODEL")
    if step.procedure == "buckle":
        raise UnsupportedKeyword("buckling of one sector of a structure with cyclic symmetry is not supported")
    if step.procedure != "frequency":  # all sectors move alike
        return 0
    if step.diameters is None:
        raise UnsupportedKeyword("frequencies of a sector need *SELECT CYCLIC SYMMETRY MODES")
    first, last = step.diameters
    if first != last:
        raise UnsupportedKeyword(f"frequencies of several nodal diameters, {first} to {last}, are several scenarios")
    return first


def is_complex(sector: Sector, diameter: int) -> bool:
    """Return whether displacements of a nodal diameter have imaginary parts."""
    return diameter > 0 and 2 * diameter != sector.count


def add_cyclic(rows: Rows, tie: Tie, sector: Sector, diameter: int, geometry: DeckGeometry) -> None:
    """Add that nodes of one side of a sector move as the other side does, turned, with the phase of the diameter."""
    points = geometry.mesh.points
    a, b = np.array(sector.a), np.array(sector.b)
    length = np.linalg.norm(b - a)
    if not length:
        raise UnsupportedKeyword("the axis of the cyclic symmetry has no direction")
    slaves = geometry.surface_nodes(tie.slave)
    faces = geometry.faces_of_surface(tie.master)
    masters = geometry.surface_nodes(tie.master)
    size = float(np.ptp(points[slaves], axis=0).max())
    best: tuple[float, float, Array] | None = None
    tree = KDTree(points[masters])
    for angle in (2.0 * np.pi / sector.count, -2.0 * np.pi / sector.count):
        turn = Rotation.from_rotvec(angle * (b - a) / length).as_matrix()
        there = (points[slaves] - a) @ turn + a  # turned back
        away = float(np.median(tree.query(there)[0]))
        if best is None or away < best[0]:
            best = (away, angle, turn)
    assert best is not None
    _, angle, turn = best
    phase = np.array([np.cos(diameter * angle), np.sin(diameter * angle)])
    there = (points[slaves] - a) @ turn + a
    if not faces and len(np.unique(tree.query(there)[1])) < len(slaves):
        raise UnsupportedKeyword("nodes of both sides of the sector do not belong to each other one by one")
    if faces:
        feet = feet_on_faces(there, faces, points)
    else:
        distances, places = map(np.atleast_1d, tree.query(there))
        feet = [Foot([int(masters[k])], np.ones(1), float(d)) for d, k in zip(distances, places, strict=True)]
    for node, (nodes, weights, away) in zip(slaves.tolist(), feet, strict=True):
        if away > max(tie.tolerance if tie.tolerance is not None else _NEAR * size, _ROUNDING * size):
            raise UnsupportedKeyword(
                f"node {geometry.numbers[node]} is {away:.3g} away from the other side of the sector; both sides must "
                "have nodes in the same places, or faces"
            )
        _add(rows, node, nodes, weights, turn, phase, is_complex(sector, diameter))


def _add(rows: Rows, node: int, others: list[int], weights: Array, turn: Array, phase: Array, both: bool) -> None:
    """Add u = e^{inα} R Σ w u_m for a node: the real part, and the imaginary one if there is any."""
    c, s = map(float, phase)
    for own, parts in [(0, ((0, c), (IMAGINARY, -s)))] + ([(IMAGINARY, ((0, s), (IMAGINARY, c)))] if both else []):
        for i in range(3):
            factors: dict[Dof, float] = {(node + own, i): 1.0}
            for part, p in parts:
                for other, w in zip(others, weights.tolist(), strict=True):
                    for j in range(3) if abs(p) > _ZERO and (both or part == 0) else ():
                        dof = (other + part, j)
                        factors[dof] = factors.get(dof, 0.0) - p * w * float(turn[i, j])
            factors = {dof: factor for dof, factor in factors.items() if abs(factor) > _ZERO}
            if factors:  # of nodes on the axis some are of no consequence
                rows.add(factors)
