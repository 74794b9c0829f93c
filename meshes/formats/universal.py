"""Reading I-DEAS universal files (.unv): nodes, elements, groups, and the unit of length.

Datasets by their numbers: nodes 2411 and 781, elements 2412 and 780, groups 2467, 2477, 2452, 2435 and 2432, units 164.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from symplex.errors import MeshError
from symplex.meshes.formats.account import Account
from symplex.meshes.formats.deck_lines import Section, lines_of
from symplex.meshes.formats.numbering import Numbering, is_number
from symplex.meshes.formats.raw import RawCells, RawMesh

# Solid elements by their descriptor: the type of cells, and where its nodes are among those of the file, in which the
# nodes in the middle of edges stand between the corners.
_SOLIDS: dict[int, tuple[str, tuple[int, ...]]] = {
    111: ("tetra", (0, 1, 2, 3)),
    112: ("wedge", (0, 1, 2, 3, 4, 5)),
    113: ("wedge15", (0, 2, 4, 9, 11, 13, 1, 3, 5, 10, 12, 14, 6, 7, 8)),
    115: ("hexahedron", (0, 1, 2, 3, 4, 5, 6, 7)),
    116: ("hexahedron20", (0, 2, 4, 6, 12, 14, 16, 18, 1, 3, 5, 7, 13, 15, 17, 19, 8, 9, 10, 11)),
    118: ("tetra10", (0, 2, 4, 9, 1, 3, 5, 6, 7, 8)),
}
# Flat elements and shells have descriptors from 41 to 105, the last digit of which is their shape.
_FLAT: dict[int, tuple[str, tuple[int, ...]]] = {
    1: ("triangle", (0, 1, 2)),
    2: ("triangle6", (0, 2, 4, 1, 3, 5)),
    4: ("quad", (0, 1, 2, 3)),
    5: ("quad8", (0, 2, 4, 6, 1, 3, 5, 7)),
}
_LINES: dict[int, tuple[str, tuple[int, ...]]] = {
    11: ("line", (0, 1)),
    21: ("line", (0, 1)),
    22: ("line", (0, 1)),
    23: ("line3", (0, 2, 1)),
    24: ("line3", (0, 2, 1)),
    121: ("line", (0, 1)),
    136: ("line", (0, 1)),
    161: ("vertex", (0,)),
}
_WITH_ORIENTATION = (11, 21, 22, 23, 24)  # beams have a line more, before their nodes
_GROUPS = {"2467": 4, "2477": 4, "2452": 4, "2435": 4, "2432": 2}  # how many numbers there are of each member
_NODE, _ELEMENT = 7, 8  # types of members of groups
_COUNT = {"2412": 5, "780": 7}  # where the number of nodes is in the line of an element
# Header, coordinate systems, functions, results, trace lines, materials, properties, sections, loads, restraints.
_WITHOUT_MEANING = (
    "18", "55", "56", "57", "58", "82", "151", "754", "755", "757", "772", "773", "776", "788", "790", "791", "792",
    "1703", "1710", "1716", "2414", "2416", "2420", "2437", "2438",
)  # fmt: skip


def read_universal(path: Path, account: Account) -> RawMesh:
    """Return nodes, elements, and groups of both as sets.

    Coordinates are in the unit of length that a dataset of units gives, or else as the file has them. The nodes of a
    group that has elements as well are the set ``name.nodes``.
    """
    numbers: list[int] = []
    points: list[NDArray[np.float64]] = []
    elements: dict[str, list[list[int]]] = {}
    groups: dict[str, list[tuple[int, int]]] = {}
    unit: float | None = None
    for section in _datasets(path, account):
        dataset, lines = section.head.text, section.texts
        if dataset in ("2411", "781"):
            numbers += [_whole(line[:10]) for line in lines[::2]]
            points.append(_reals(lines[1::2]).reshape(-1, 3))
        elif dataset in _COUNT:
            _take_elements(elements, lines, _COUNT[dataset])
        elif dataset in _GROUPS:
            if _take_groups(groups, lines, _GROUPS[dataset]):
                account.add_unknown(f"dataset {dataset}", *section.span, "only nodes and elements of groups are read")
        elif dataset == "164":
            unit = _unit(lines)
            for line in (section.lines[0], *section.lines[2:]):  # what units are called, temperatures
                account.add_without_meaning(*line.span)
        elif dataset in _WITHOUT_MEANING:
            account.add_without_meaning(*section.span)
        else:
            account.add_unknown(f"dataset {dataset}", *section.span)
    coordinates = np.concatenate([np.empty((0, 3)), *points])
    if len(coordinates) != len(numbers):
        raise ValueError(f"it has {len(numbers)} nodes, and coordinates of {len(coordinates)}")
    return replace(_mesh(np.array(numbers, np.int64), coordinates, elements, groups), unit=unit)


def _unit(lines: list[str]) -> float:
    """Return the m in the unit of length: a file has how many units of length, force and temperature are one of SI."""
    _whole(lines[0][:10] if lines else "")
    per_metre = float(_reals(lines[1:2])[0]) if len(lines) > 1 else 0.0
    if not 0.0 < per_metre < np.inf:
        raise ValueError(f"its unit of length is 1/{per_metre:g} m")
    return 1.0 / per_metre


def _mesh(
    numbers: NDArray[np.int64],
    points: NDArray[np.float64],
    elements: dict[str, list[list[int]]],
    groups: dict[str, list[tuple[int, int]]],
) -> RawMesh:
    nodes = Numbering("node", numbers)
    tables = {kind: np.array(rows, np.int64) for kind, rows in elements.items()}
    known = np.concatenate([np.empty(0, np.int64), *(table[:, 0] for table in tables.values())])
    every = Numbering("element", known)
    cells = [RawCells(kind, nodes.places(table[:, 1:], f"a {kind} cell")) for kind, table in tables.items()]
    point_sets: dict[str, NDArray[np.int64]] = {}
    cell_sets: dict[str, list[NDArray[np.intp] | None]] = {}
    for name, members in groups.items():
        of_nodes, of_elements = (
            np.array([number for kind, number in members if kind == requested], np.int64)
            for requested in (_NODE, _ELEMENT)
        )
        if len(of_elements):
            every.places(of_elements, f"group '{name}'")
            cell_sets[name] = [np.flatnonzero(np.isin(table[:, 0], of_elements)) for table in tables.values()]
        if len(of_nodes):
            unique = f"{name}.nodes" if len(of_elements) else name
            point_sets[unique] = np.unique(nodes.places(of_nodes, f"group '{name}'"))
    return RawMesh(points, cells, point_sets, cell_sets)


def _datasets(path: Path, account: Account) -> Iterator[Section]:
    """Yield the numbers of datasets with their lines; each stands between two lines of -1."""
    section: Section | None = None
    inside = False
    for line in lines_of(path):
        if line.text.strip() == "-1":
            if section is not None:
                yield section
            inside, section = not inside, None
        elif section is not None:
            section.lines.append(line)
        elif inside:
            section = Section(line._replace(text=line.text.strip()))
        elif line.text.strip():
            account.add_unknown("a line outside of datasets", *line.span)
    if inside:
        raise ValueError(f"dataset {section.head.text if section else ''} has no end, a line of -1")


def _take_elements(elements: dict[str, list[list[int]]], lines: list[str], at: int) -> None:
    """Take elements; how many nodes each has is at a place of its first line."""
    rows = iter(lines)
    for line in rows:
        head = _wholes(line)
        if len(head) < at + 1:
            raise ValueError(f"the line of an element is '{line[:60]}'")
        number, descriptor, count = head[0], head[1], head[at]
        if descriptor in _WITH_ORIENTATION:
            _wholes(next(rows, ""))
        nodes: list[int] = []
        while len(nodes) < count:
            more = _wholes(next(rows, ""))
            if not more:
                raise ValueError(f"element {number} has {len(nodes)} nodes, not {count}")
            nodes += more
        kind, order = _cell(descriptor, number)
        if len(nodes) != len(order):
            raise ValueError(
                f"element {number} of the descriptor {descriptor} has {len(nodes)} nodes, not {len(order)}"
            )
        elements.setdefault(kind, []).append([number, *(nodes[k] for k in order)])


def _cell(descriptor: int, number: int) -> tuple[str, Sequence[int]]:
    found = _SOLIDS.get(descriptor) or _LINES.get(descriptor)
    if found is None and 41 <= descriptor <= 105:
        found = _FLAT.get(descriptor % 10)
    if found is None:
        raise MeshError(f"element {number} has the descriptor {descriptor}, which is not supported.")
    return found


def _take_groups(groups: dict[str, list[tuple[int, int]]], lines: list[str], width: int) -> bool:
    """Take groups: a line of eight numbers, the last of which counts members, one of the name, and the members.

    Return whether there are others than nodes and elements.
    """
    rows, others = iter(lines), False
    for line in rows:
        head = _wholes(line)
        if len(head) < 8:
            raise ValueError(f"the line of a group is '{line[:60]}'")
        name = " ".join(next(rows, "").split()) or f"group_{head[0]}"
        found: list[int] = []
        while len(found) < width * head[7]:
            more = _wholes(next(rows, ""))
            if not more:
                raise ValueError(f"group '{name}' has {len(found) // width} members, not {head[7]}")
            found += more
        others = others or not {*found[::width]} <= {_NODE, _ELEMENT}
        groups.setdefault(name, []).extend(zip(found[::width], found[1::width], strict=True))
    return others


def _wholes(line: str) -> list[int]:
    """Return whole numbers in columns of ten."""
    fields = [line[k : k + 10] for k in range(0, len(line), 10)]
    return [int(word) for field in fields if (word := field.strip()) and _is_whole(word)]


def _is_whole(word: str) -> bool:
    if not is_number(word.removeprefix("-")):
        raise ValueError(f"'{word[:20]}' stands where an integer must be")
    return True


def _whole(field: str) -> int:
    found = _wholes(field)
    if len(found) != 1:
        raise ValueError(f"'{field[:20]}' stands where an integer must be")
    return found[0]


def _reals(lines: list[str]) -> NDArray[np.float64]:
    """Return all numbers of lines of three, in columns of 25, with D or E for exponents."""
    fields = [line[k : k + 25] for line in lines for k in (0, 25, 50)]
    return np.array([float(field.replace("D", "E").replace("d", "e")) for field in fields])
