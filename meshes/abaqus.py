"""Reading Abaqus and CalculiX input files: nodes, elements, and the sets that name them.

meshio's own reader mistakes which elements an ``*ELEMENT, ELSET=`` names when blocks without a set come before, and
forgets earlier nodes at a second ``*NODE``; sets are what users put their supports and materials on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symplex.errors import MeshError

if TYPE_CHECKING:
    import meshio
    from meshio import CellBlock

# Element families by the part of the name that says shape and number of nodes (what follows are formulations).
_TYPES: list[tuple[str, str, int]] = [
    (r"C3D4", "tetra", 4),
    (r"C3D10", "tetra10", 10),
    (r"C3D8", "hexahedron", 8),
    (r"C3D20", "hexahedron20", 20),
    (r"C3D6", "wedge", 6),
    (r"C3D15", "wedge15", 15),
    (r"C3D5", "pyramid", 5),
    (r"(S|STRI|CPS|CPE|CAX|R3D|M3D|SFM3D|DS)3", "triangle", 3),
    (r"(S|CPS|CPE|CAX|R3D|M3D|SFM3D|DS)4", "quad", 4),
    (r"(STRI65|(S|CPS|CPE|CAX|M3D|SFM3D|DS)6)", "triangle6", 6),
    (r"(S|CPS|CPE|CAX|M3D|SFM3D|DS)8", "quad8", 8),
    (r"(T2D2|T3D2|B21|B31|R2D2)", "line", 2),
    (r"(T2D3|T3D3|B22|B32)", "line3", 3),
]


@dataclass
class _Block:
    """A keyword with its parameters and the data lines below it."""

    keyword: str
    parameters: dict[str, str]
    lines: list[str]

    def numbers(self, dtype: type) -> NDArray:
        return np.array(" ".join(self.lines).replace(",", " ").split(), dtype)

    def items(self) -> list[str]:
        return [item.strip() for line in self.lines for item in line.split(",") if item.strip()]


def read_abaqus(path: Path) -> meshio.Mesh:
    """Return nodes, elements, element sets and node sets of an input file as meshio would.

    One part, or nodes and elements without parts; ``*INCLUDE`` is followed.

    Raises
    ------
    MeshError
        If the file has several parts or a moved instance, an unknown element type, or an undefined set.
    """
    import meshio

    deck = _Deck()
    for block in _blocks(path):
        deck.take(block)
    return meshio.Mesh(
        deck.points,
        deck.cells,
        point_sets={name: deck.node_places(np.unique(ids)) for name, ids in deck.node_sets.items()},
        cell_sets={name: deck.in_blocks(np.unique(ids)) for name, ids in deck.element_sets.items()},
    )


class _Deck:
    """What has been read so far, by the file's own numbers of nodes and elements."""

    def __init__(self):
        self._node_ids: list[NDArray] = []
        self._points: list[NDArray] = []
        self._elements: list[tuple[str, NDArray]] = []
        self.node_sets: dict[str, NDArray] = {}
        self.element_sets: dict[str, NDArray] = {}

    def take(self, block: _Block) -> None:
        if block.keyword == "NODE":
            self._take_nodes(block)
        elif block.keyword == "ELEMENT":
            self._take_elements(block)
        elif block.keyword == "NSET":
            _extend(self.node_sets, block.parameters["NSET"], _members(block, self.node_sets))
        elif block.keyword == "ELSET":
            _extend(self.element_sets, block.parameters["ELSET"], _members(block, self.element_sets))
        elif block.keyword == "INSTANCE" and block.lines:
            raise MeshError("an instance is moved or turned; write the input file without parts and instances.")

    def _take_nodes(self, block: _Block) -> None:
        rows = [[float(x) for x in line.split(",")[:4] if x.strip()] for line in block.lines]
        table = np.array([row + [0.0] * (4 - len(row)) for row in rows]).reshape(-1, 4)
        ids = table[:, 0].astype(np.int64)
        self._node_ids.append(ids)
        self._points.append(table[:, 1:])
        if "NSET" in block.parameters:
            _extend(self.node_sets, block.parameters["NSET"], ids)

    def _take_elements(self, block: _Block) -> None:
        kind, k = _cell_type(block.parameters["TYPE"])
        table = block.numbers(np.int64).reshape(-1, k + 1)
        self._elements.append((kind, table))
        if "ELSET" in block.parameters:
            _extend(self.element_sets, block.parameters["ELSET"], table[:, 0])

    @property
    def points(self) -> NDArray[np.float64]:
        return np.concatenate([np.empty((0, 3)), *self._points])

    @property
    def cells(self) -> list[tuple[str, ArrayLike] | CellBlock]:
        _refuse_repeated(
            np.concatenate([np.empty(0, np.int64), *(table[:, 0] for _, table in self._elements)]), "element"
        )
        return [(kind, self.node_places(table[:, 1:])) for kind, table in self._elements]

    def node_places(self, ids: NDArray[np.int64]) -> NDArray[np.int64]:
        known = np.concatenate([np.empty(0, np.int64), *self._node_ids])
        _refuse_repeated(known, "node")
        order = np.argsort(known)
        place = np.searchsorted(known, ids, sorter=order)
        missing = place == len(known)
        place[missing] = 0
        if len(known) == 0 or np.any(missing | (known[order[place]] != ids)):
            raise MeshError("an element or a set refers to a node that the file does not define.")
        return order[place]

    def in_blocks(self, ids: NDArray[np.int64]) -> list[ArrayLike]:
        return [np.flatnonzero(np.isin(table[:, 0], ids)) for _, table in self._elements]


def _blocks(path: Path) -> Iterator[_Block]:
    block: _Block | None = None
    continued = ""
    with path.open(encoding="utf-8", errors="replace") as file:
        for text in file:
            line = continued + text.strip()
            continued = ""
            if not line or line.startswith("**"):
                continue
            if not line.startswith("*"):
                if block is not None:
                    block.lines.append(line)
                continue
            if line.endswith(","):
                continued = line
                continue
            if block is not None:
                yield block
            block = _keyword(line)
            if block.keyword == "INCLUDE":
                yield from _blocks(path.parent / block.parameters["INPUT"])
    if block is not None:
        yield block


def _keyword(line: str) -> _Block:
    keyword, *words = line[1:].split(",")
    parameters = {}
    for word in words:
        name, _, value = word.partition("=")
        parameters[name.strip().upper()] = value.strip().strip('"')
    return _Block(" ".join(keyword.upper().split()), parameters, [])


def _members(block: _Block, sets: dict[str, NDArray]) -> NDArray[np.int64]:
    """Return the numbers in a set: listed, generated from first, last and step, or those of other sets."""
    if "GENERATE" in block.parameters:
        parts = []
        for line in block.lines:
            first, last, *step = (int(x) for x in line.split(",") if x.strip())
            parts.append(np.arange(first, last + 1, *step))
        return np.concatenate([np.empty(0, np.int64), *parts])
    by_upper = {name.upper(): ids for name, ids in sets.items()}
    parts = []
    for item in block.items():
        if item.isdigit():
            parts.append([int(item)])
        elif item.strip('"').upper() in by_upper:
            parts.append(by_upper[item.strip('"').upper()])
        else:
            raise MeshError(f"a set refers to the set '{item}', which is not defined before it.")
    return np.concatenate([np.empty(0, np.int64), *parts])


def _extend(sets: dict[str, NDArray], name: str, ids: NDArray) -> None:
    sets[name] = np.concatenate([sets[name], ids]) if name in sets else ids


def _cell_type(abaqus_type: str) -> tuple[str, int]:
    for pattern, kind, k in _TYPES:
        if re.fullmatch(pattern + r"(?!\d)\w*", abaqus_type.upper()):
            return kind, k
    raise MeshError(f"the element type '{abaqus_type}' is not known.")


def _refuse_repeated(ids: NDArray[np.int64], what: str) -> None:
    values, counts = np.unique(ids, return_counts=True)
    if len(values) < len(ids):
        raise MeshError(
            f"{what} {values[counts > 1][0]} is defined twice; if the file has several parts, write it without parts."
        )
