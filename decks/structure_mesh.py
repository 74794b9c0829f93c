"""The mesh of decks of beams and shells: elements with nodes in the middle of edges become linear ones.

A B32 is two beams, an S6 four triangles, and an S8 four quadrilaterals with a node in its middle, where its quadratic
shape functions have it; all nodes of the deck are used. Each piece is in the sets that the element is in.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from symplex.decks.beam_keywords import BEAMS
from symplex.decks.deck import Deck
from symplex.decks.discrete_keywords import CONNECTOR
from symplex.decks.geometry import DeckGeometry
from symplex.decks.mesh_keywords import SHELLS
from symplex.errors import MeshError
from symplex.meshes.formats.abaqus import Numbered
from symplex.meshes.formats.numbering import Numbering
from symplex.meshes.kinds import dimension_of

WITHOUT_FORM = ("MASS", "SPRINGA", "DASHPOTA", "T3D2", CONNECTOR)  # elements that may be next to beams and shells
_BENT = 0.5  # of the length of an element of three nodes, by which the second one may be off the middle
_MIDDLE = np.array([-0.25] * 4 + [0.5] * 4)  # the functions of the nodes of a quadratic quadrilateral in its middle


class _Split(NamedTuple):
    """What an element of some nodes becomes: a kind of cells, the nodes of each, and the remark about it."""

    cell: str
    pieces: tuple[tuple[int, ...], ...]
    remark: str


_SPLITS = {
    "line3": _Split("line", ((0, 1), (1, 2)), "beams of three nodes (B32) are two straight ones each"),
    "triangle6": _Split(
        "triangle", ((0, 3, 5), (3, 1, 4), (5, 4, 2), (3, 4, 5)), "shells of six nodes (S6) are four triangles each"
    ),
    "quad8": _Split(
        "quad",
        ((0, 4, 8, 7), (4, 1, 5, 8), (8, 5, 2, 6), (7, 8, 6, 3)),
        "shells of eight nodes (S8) are four quadrilaterals each, with a node in the middle",
    ),
}


def structure_geometry(deck: Deck, numbered: Numbered, name: str) -> DeckGeometry:
    """Return the geometry of a deck of beams and shells, of linear elements.

    Raises
    ------
    MeshError
        If a deck has flat elements or others too, or the second of three nodes of a beam is not between the others.
    """
    known = (*BEAMS, *SHELLS, *WITHOUT_FORM)
    pairs = zip(numbered.types, numbered.elements, strict=True)
    others = sorted({kind for kind, (cell, _) in pairs if kind not in known and dimension_of(cell) < 3})
    if others:
        what = "shells" if BEAMS.keys().isdisjoint(numbered.types) else "beams"
        raise MeshError(f"{what} together with elements {', '.join(others)} are not supported.")
    ids, points = [numbered.ids], [numbered.points]
    types: list[str] = []
    elements: list[tuple[str, NDArray[np.int64]]] = []
    pieces: dict[int, list[int]] = {}
    last = max((int(table[:, 0].max()) for _, table in numbered.elements if len(table)), default=0)
    for kind, (cell, table) in zip(numbered.types, numbered.elements, strict=True):
        split = _SPLITS.get(cell)
        if split is None:
            types.append(kind)
            elements.append((cell, table))
            continue
        if cell == "line3":
            _require_between(numbered, table)
        nodes = table[:, 1:]
        if cell == "quad8":
            middles = int(max(part.max() for part in ids)) + 1 + np.arange(len(table))
            places = numbered.nodes.places(nodes, f"an element {kind}")
            ids.append(middles)
            deck.middles |= {*middles.tolist()}
            points.append(np.einsum("k,mki->mi", _MIDDLE, numbered.points[places]))
            nodes = np.column_stack([nodes, middles])
        for k, piece in enumerate(split.pieces):
            numbers = table[:, 0] if k == 0 else last + 1 + np.arange(len(table))
            last = max(last, int(numbers.max()))
            for of, number in zip(table[:, 0].tolist(), numbers.tolist(), strict=True):
                pieces.setdefault(of, []).append(number)
            types.append(kind)
            elements.append((split.cell, np.column_stack([numbers, nodes[:, piece]])))
        if split.remark not in deck.remarks:
            deck.remarks.append(split.remark)
    sets = {key: _with_pieces(members, pieces) for key, members in numbered.element_sets.items()}
    every = np.concatenate(ids)
    new = numbered._replace(
        ids=every,
        points=np.concatenate(points),
        nodes=Numbering("node", every),
        types=types,
        elements=elements,
        element_sets=sets,
    )
    return DeckGeometry.of(new, name, require_volume=False, of_structures=True, pieces=pieces)


def _with_pieces(members: NDArray[np.int64], pieces: dict[int, list[int]]) -> NDArray[np.int64]:
    return np.array([number for one in members.tolist() for number in pieces.get(one, [one])], np.int64)


def _require_between(numbered: Numbered, table: NDArray[np.int64]) -> None:
    x = numbered.points[numbered.nodes.places(table[:, 1:], "a B32 element")]
    chord = x[:, 2] - x[:, 0]
    off = np.linalg.norm(x[:, 1] - 0.5 * (x[:, 0] + x[:, 2]), axis=1)
    wrong = np.flatnonzero(off > _BENT * np.linalg.norm(chord, axis=1))
    if len(wrong):
        raise MeshError(f"the second node of element {table[wrong[0], 0]} must be between the two others.")
