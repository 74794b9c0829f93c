"""Reading Abaqus and CalculiX input files: nodes, elements, and the sets and surfaces that name them.

meshio's own reader mistakes which elements an ``*ELEMENT, ELSET=`` names when blocks without a set come before, and
forgets earlier nodes at a second ``*NODE``; sets are what users put their supports and materials on.
"""

from __future__ import annotations

import re
import warnings
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from symplex.errors import MeshError
from symplex.meshes.formats.abaqus_deck import Block, blocks_of
from symplex.meshes.formats.abaqus_instances import STRIDE, placed
from symplex.meshes.formats.abaqus_keywords import MESH_PARAMETERS, WITHOUT_LINES, says_nothing
from symplex.meshes.formats.abaqus_sets import Sets, Surface, surface_of
from symplex.meshes.formats.account import Account
from symplex.meshes.formats.numbering import Numbering, is_number, sorted_distinct
from symplex.meshes.formats.raw import RawCells, RawMesh
from symplex.meshes.kinds import dimension_of

# Element families by the part of the name that says shape and number of nodes; what follows are formulations.
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
    (r"(T2D2|T3D2|B21|B31|B33|R2D2|RB3D2|SPRINGA|SPRING2|DASHPOTA|CONN3D2|GAPUNI)", "line", 2),
    (r"(T2D3|T3D3|B22|B32)", "line3", 3),
    (r"(MASS|ROTARYI|SPRING1|DCOUP3D)", "vertex", 1),
]
# Keywords that make or move nodes and elements, so that without them the mesh would be another one.
_MAKE_MESH = {
    "SYSTEM": "write the nodes in global coordinates",
    "NGEN": "write all nodes out",
    "NFILL": "write all nodes out",
    "NCOPY": "write all nodes out",
    "NMAP": "write all nodes out",
    "ELGEN": "write all elements out",
    "ELCOPY": "write all elements out",
    "IMPERFECTION": "write the nodes as they are with it",
    "SYMMETRIC MODEL GENERATION": "write the whole model out",
    "PARAMETER": "write numbers instead of parameters",
}
# Those of solids: reduced integration, incompatible modes, modified, improved surface stress, hybrid; with pore
# pressures, electric potentials, temperatures.
_FORMULATIONS = r"(R|I)?(M|I)?(S|H|HS)?(P|E)?(H|T|HT)?"
_EXACT = 2**53  # up to which double precision holds whole numbers
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eEdD][+-]?\d+)?")


def read_abaqus(path: Path, account: Account) -> RawMesh:
    """Return nodes, elements, sets and surfaces of an input file as meshio would.

    Parts and their instances, or nodes and elements without parts; ``*INCLUDE`` is followed. Of several instances, or
    one that is moved, sets are called ``INSTANCE.SET``. Surfaces of elements are groups of faces,
    surfaces of nodes are groups of points. In ``info`` are the types of the elements that are of another formulation
    than the plain one (``C3D8R``), by cell type.
    """
    deck = DeckMesh(account)
    for block in placed(blocks_of(path, account), account):
        deck.take(block)
    return deck.whole()


class Numbered(NamedTuple):
    """Nodes, elements and sets of a deck by its own numbers.

    Attributes
    ----------
    ids : int64 [n]
        The numbers of the nodes, in the order of the file.
    points : float64 [n, 3]
    nodes : Numbering
    types : list of str
        Of each block of elements what the deck calls their type.
    elements : list of (str, int64 [m, k + 1])
        Of each block the type of cells, and numbers and nodes of its elements.
    node_sets, element_sets : dict of str to int64 [g]
    surfaces : list of Surface
    """

    ids: NDArray[np.int64]
    points: NDArray[np.float64]
    nodes: Numbering
    types: list[str]
    elements: list[tuple[str, NDArray[np.int64]]]
    node_sets: dict[str, NDArray[np.int64]]
    element_sets: dict[str, NDArray[np.int64]]
    surfaces: list[Surface]

    def raw(self, formulations: dict[str, list[str]]) -> RawMesh:
        """Return the mesh, with what the deck calls solid elements of another formulation than the plain one."""
        _, points, nodes, _, elements, all_node_sets, element_sets, surfaces = self
        node_sets = dict(all_node_sets)
        cells = [(kind, nodes.places(table[:, 1:], f"a {kind} cell")) for kind, table in elements]
        placed = [(k, np.column_stack([t[:, 0], c])) for (k, t), (_, c) in zip(elements, cells, strict=True)]
        faces = [
            (surface.name, kind, rows) for surface in surfaces for kind, rows in surface.faces(placed, element_sets)
        ]
        for surface in surfaces:
            if surface.of_nodes:
                _add_node_surface(node_sets, surface)
        in_blocks = {
            name: [np.flatnonzero(np.isin(table[:, 0], members)) for _, table in elements]
            for name, members in element_sets.items()
        }
        _rename_others(in_blocks, node_sets, cells, nodes)
        taken = {name.upper() for name in (*in_blocks, *node_sets)}
        blocks = len(cells) + len(faces)
        cell_sets = {name: [*members, *[None] * len(faces)] for name, members in in_blocks.items()}
        for k, (name, _, rows) in enumerate(faces, start=len(cells)):
            unique = f"{name}.surface" if name.upper() in taken else name
            cell_sets.setdefault(unique, [None] * blocks)[k] = np.arange(len(rows))
        point_sets = {name: nodes.places(members, f"set '{name}'") for name, members in node_sets.items()}
        blocks_of_cells = [RawCells(*block) for block in (*cells, *((kind, rows) for _, kind, rows in faces))]
        numbers = [table[:, 0] for _, table in elements] + [np.zeros(len(rows), np.int64) for *_, rows in faces]
        return RawMesh(
            points,
            blocks_of_cells,
            point_sets,
            cell_sets,
            info=formulations,
            point_numbers=self.ids,
            cell_numbers=numbers,
        )


class DeckMesh:
    """The mesh of a deck, taken keyword by keyword, by the file's own numbers of nodes and elements.

    Parameters
    ----------
    account : Account, optional
        What is informed which keywords, parameters and lines say nothing about the mesh, or are unknown.

    Attributes
    ----------
    formulations : dict of str to list of str
        The types of solid elements that are of another formulation than the plain one, by cell type.
    """

    def __init__(self, account: Account | None = None):
        self._account = account
        self._nodes: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []
        self._elements: list[tuple[str, NDArray[np.int64]]] = []
        self._types: list[str] = []
        self._surfaces: list[Surface] = []
        self._part, self._placed = "", False
        self.formulations: dict[str, list[str]] = {}
        self._node_sets, self._element_sets = Sets("node"), Sets("element")

    def take(self, block: Block) -> None:
        """Take a keyword with its data; most keywords say nothing about the mesh."""
        word = block.keyword
        if block.placement is not None:
            self._part = block.placement.name
            self._node_sets.prefixed = self._element_sets.prefixed = True
        elif self._placed:
            self._part = ""
        self._placed = block.placement is not None
        if word == "NODE":
            self._take_nodes(block)
        elif word == "ELEMENT":
            self._take_elements(block)
        elif word == "NSET":
            self._node_sets.take(block, self._part)
        elif word == "ELSET":
            self._element_sets.take(block, self._part)
        elif word == "SURFACE":
            surfaces = surface_of(block)
            self._surfaces += surfaces
            if not surfaces and self._account is not None:
                self._account.add_unknown("*SURFACE", *block.span, "such surfaces are not read")
        elif word == "PART":
            self._part = block.parameters.get("NAME", "")
        elif word == "END PART":
            self._part = ""
        elif word in _MAKE_MESH and (block.lines or block.parameters):
            raise MeshError(f"it uses *{word}, which is not supported; {_MAKE_MESH[word]}.")
        if self._account is not None:
            _note(block, self._account)

    def _take_nodes(self, block: Block) -> None:
        system = block.parameters.get("SYSTEM", "R").upper()
        if system not in ("R", "C"):
            raise MeshError(f"it uses *NODE, SYSTEM={system}, which is not supported; {_MAKE_MESH['SYSTEM']}.")
        ids, table = _nodes(block.lines)
        if system == "C":  # radius, angle in degrees, height
            angle = np.radians(table[:, 1])
            table = np.column_stack([table[:, 0] * np.cos(angle), table[:, 0] * np.sin(angle), table[:, 2]])
        if block.placement is not None:
            _check_room(ids)
            ids = ids + block.placement.offset
            table = table @ block.placement.turn.T + block.placement.shift
        self._nodes.append((ids, table))
        if "NSET" in block.parameters:
            self._node_sets.add(block.parameter("NSET"), self._part, ids)

    def _take_elements(self, block: Block) -> None:
        name = block.parameter("TYPE").upper()
        kind, k, plain = _cell_type(name)
        if not plain and dimension_of(kind) == 3 and name not in self.formulations.setdefault(kind, []):
            self.formulations[kind].append(name)
        table, surplus = _element_rows(name, k, block.lines)
        if surplus and self._account is not None:
            self._account.add_unknown(
                f"*{block.keyword}, TYPE={name}",
                *block.span,
                f"lines have more numbers than {k + 1}, which are not read",
            )
        if block.placement is not None:
            _check_room(table)
            table = table + block.placement.offset
        self._elements.append((kind, table))
        self._types.append(name)
        if "ELSET" in block.parameters:
            self._element_sets.add(block.parameter("ELSET"), self._part, table[:, 0])

    @cached_property
    def numbered(self) -> Numbered:
        """All that was taken, by the numbers of the file."""
        ids = np.concatenate([np.empty(0, np.int64), *(ids for ids, _ in self._nodes)])
        points = np.concatenate([np.empty((0, 3)), *(points for _, points in self._nodes)])
        numbers = np.concatenate([np.empty(0, np.int64), *(table[:, 0] for _, table in self._elements)])
        try:
            nodes, elements = Numbering("node", ids), Numbering("element", numbers)
        except MeshError as error:
            raise MeshError(f"{str(error)[:-1]}; if the file has several parts, write it without parts.") from None
        element_sets = self._element_sets.resolved(elements)
        node_sets = self._node_sets.resolved(nodes, self._elements, element_sets)
        return Numbered(ids, points, nodes, self._types, self._elements, node_sets, element_sets, self._surfaces)

    def whole(self) -> RawMesh:
        """Return all that was taken."""
        return self.numbered.raw(self.formulations)


def _note(block: Block, account: Account) -> None:
    """Say to an account what of a keyword was not used."""
    name = "".join(block.keyword.split())
    if name in MESH_PARAMETERS:
        for unknown in (key for key in block.parameters if key not in MESH_PARAMETERS[name]):
            account.add_unknown(f"*{block.keyword}, {unknown}", *block.span[:2], why="the parameter is not supported")
        if block.lines and (name in WITHOUT_LINES or (name == "NSET" and block.parameters.get("ELSET"))):
            account.add_unknown(f"*{block.keyword}", *block.span, "its lines are not read")
    elif says_nothing(name):
        account.add_without_meaning(*block.span)
    else:
        account.add_unknown(f"*{block.keyword}", *block.span)


def _check_room(numbers: NDArray[np.int64]) -> None:
    """Raise MeshError if numbers of one instance would reach those of the next."""
    if numbers.max(initial=0) >= STRIDE:
        raise MeshError(f"a part has the number {numbers.max()}; with several instances numbers must be below 10⁸.")


def _add_node_surface(node_sets: dict[str, NDArray[np.int64]], surface: Surface) -> None:
    """Add the nodes of a surface to the sets, by another name where a set of other nodes has its own."""
    members = surface.nodes(node_sets)
    same = next((name for name in node_sets if name.upper() == surface.name.upper()), None)
    if same is None or not np.array_equal(node_sets[same], members):
        node_sets[surface.name if same is None else f"{surface.name}.surface"] = members


def _rename_others(element_sets: dict[str, list], node_sets: dict, cells: list, nodes: Numbering) -> None:
    """Give sets of elements another name where a set of other nodes than theirs has it.

    Of a face that a user chooses, pre-processors write a set of its nodes and one of the elements behind it by the same
    name; who supports it means the nodes.
    """
    by_upper = {name.upper(): name for name in node_sets}
    for name in [name for name in element_sets if name.upper() in by_upper]:
        same = node_sets[by_upper[name.upper()]]
        parts = [rows[index].ravel() for (_, rows), index in zip(cells, element_sets[name], strict=True)]
        own = sorted_distinct(np.concatenate([np.empty(0, np.int64), *parts]))
        if not np.array_equal(own, sorted_distinct(nodes.places(same, f"set '{name}'"))):
            element_sets[f"{name}.elements"] = element_sets.pop(name)


def _nodes(lines: list[str]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return numbers [n] and coordinates [n, 3] of nodes: all at once if all lines are plain, else line by line."""
    if all(line.count(",") == 3 and line.partition(",")[0].strip().isdecimal() for line in lines):
        values = _numbers(lines, np.float64, "+-.eE")
        if values is not None and len(values) == 4 * len(lines):
            table = values.reshape(-1, 4)
            return table[:, 0].astype(np.int64), np.ascontiguousarray(table[:, 1:])
    rows = [_node(line) for line in lines]
    return np.array([row[0] for row in rows], np.int64), np.array([row[1] for row in rows], float).reshape(-1, 3)


def _numbers(lines: list[str], dtype: type, signs: str) -> NDArray | None:
    """Return all numbers of lines of digits and some signs; None if there is anything else, or a number too large."""
    text = ",".join(lines)
    if not text.isascii() or set(text) - set("0123456789, " + signs):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            values = np.fromstring(text, dtype, sep=",") if text else np.empty(0, dtype)
    except (DeprecationWarning, ValueError):
        return None
    return values if values.max(initial=0) < _EXACT else None


def _node(line: str) -> tuple[int, list[float]]:
    """Return number and coordinates of a node; what is left out is 0, normals may follow."""
    number, *fields = (word.strip() for word in line.split(","))
    if not is_number(number) or len(fields) > 7:
        raise ValueError(f"the line of a node is '{line[:60]}'")
    fields += [""] * (3 - len(fields))
    return int(number), [_float(word, line) if word else 0.0 for word in fields[:3]]


def _float(word: str, line: str) -> float:
    if not _NUMBER.fullmatch(word):
        raise ValueError(f"the line of a node is '{line[:60]}'")
    return float(word.replace("D", "E").replace("d", "e"))


def _element_rows(name: str, k: int, lines: list[str]) -> tuple[NDArray[np.int64], bool]:
    """Return numbers and nodes [m, k + 1] of elements, and whether numbers follow the last node of any.

    Each is in one line, where what follows the last node is left out, or in several, the first of which it begins.
    """
    if all(line.count(",") == k for line in lines):
        values = _numbers(lines, np.int64, "")
        if values is not None and len(values) == (k + 1) * len(lines):
            return values.reshape(-1, k + 1), False
    rows: list[list[int]] = []
    row: list[int] = []
    surplus = False
    for line in lines:
        words = [word.strip() for word in line.split(",")]
        if words[-1] == "":
            words.pop()
        if not all(is_number(word) for word in words):
            raise ValueError(f"the line of an element is '{line[:60]}'")
        if not row and len(words) > k + 1:
            words, surplus = words[: k + 1], True
        row += map(int, words)
        if len(row) > k + 1:
            raise ValueError(f"element {row[0]} of type {name} has more numbers than {k + 1}")
        if len(row) == k + 1:
            rows.append(row)
            row = []
    if row:
        raise ValueError(f"element {row[0]} of type {name} has {len(row) - 1} nodes, not {k}")
    return np.array(rows, np.int64).reshape(-1, k + 1), surplus


def _cell_type(abaqus_type: str) -> tuple[str, int, bool]:
    """Return the type of cells, its number of nodes, and whether the name says nothing else."""
    for pattern, kind, k in _TYPES:
        further = _FORMULATIONS if dimension_of(kind) == 3 else r"(?!\d)\w*"
        if re.fullmatch(pattern + further, abaqus_type):
            return kind, k, re.fullmatch(pattern, abaqus_type) is not None
    raise MeshError(f"the element type '{abaqus_type}' is not supported.")
