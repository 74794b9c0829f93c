"""Reading versions 1 and 2.2 of Gmsh's MSH format, text and binary, with all their physical groups."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from symplex.errors import MeshError
from symplex.meshes.formats.account import Account
from symplex.meshes.formats.gmsh_order import from_gmsh_order
from symplex.meshes.formats.gmsh_sections import (
    DOUBLE,
    INT,
    BinaryNumbers,
    MshFile,
    Names,
    TextNumbers,
    exactly,
    physical_name,
    read_sections,
)
from symplex.meshes.formats.numbering import Numbering, places_by_value
from symplex.meshes.formats.raw import RawCells, RawMesh
from symplex.meshes.kinds import dimension_of

# Of each type of elements: their numbers, the tag of their physical group (0: none), and their nodes [m, k].
_Elements = dict[int, tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]


def read_gmsh22(path: Path, account: Account) -> RawMesh:
    """Return points, cells and the physical groups (as cell sets) of an MSH 1 or 2.2 file as meshio would.

    A cell that is in several groups is there once for each of them, as in the file.
    """
    from meshio.gmsh.common import _gmsh_to_meshio_type

    file = read_sections(path, account)
    names = file.names()
    node_numbers, points = _read_nodes(file)
    nodes = Numbering("node", node_numbers)
    elements = _read_text_elements(file) if file.is_text else _read_binary_elements(file)
    _refuse_repeated(elements)
    cells, groups = [], []
    for element_type, (_, tags, connectivity) in elements.items():
        kind = _gmsh_to_meshio_type[element_type]
        places = nodes.places(from_gmsh_order(kind, connectivity), f"a {kind} cell")
        cells.append(RawCells(kind, places))
        groups.append(_members(names, dimension_of(kind), tags))
    sets = {name: [members.get(name) for members in groups] for name in {n for members in groups for n in members}}
    file.note_unused(sets, path, account)
    return RawMesh(points, cells, cell_sets=sets)


def _members(names: Names, dim: int, tags: NDArray[np.int64]) -> dict[str, NDArray[np.intp]]:
    """Return the cells of a type by the physical group that they are in; tags may be negative, for the other side."""
    members: dict[str, list[NDArray[np.intp]]] = {}
    for tag, places in places_by_value(np.abs(tags)).items():
        if tag:
            members.setdefault(physical_name(names, dim, tag), []).append(places)
    return {name: np.concatenate(parts) for name, parts in members.items()}


def _read_nodes(file: MshFile) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    n, data = file.counted("Nodes")
    if file.is_text:
        numbers = TextNumbers(data)
        table = numbers.rows(DOUBLE, n, 4)
        numbers.end()
        return exactly(table[:, 0], np.dtype(np.int64)), np.ascontiguousarray(table[:, 1:])
    record = np.dtype([("number", "<i4"), ("x", "<f8", 3)])
    if len(data) < n * record.itemsize or data[n * record.itemsize :].strip():
        raise ValueError("$Nodes is shorter or longer than it says")
    table = np.frombuffer(data, record, n)
    return table["number"].astype(np.int64), table["x"].copy()


def _read_text_elements(file: MshFile) -> _Elements:
    """Return the elements of lines ``number type n-tags tags … nodes …``.

    Those of version 1 are ``number type physical elementary n-nodes nodes …``, as many numbers as with two tags.
    """
    n, data = file.counted("Elements")
    values, starts = TextNumbers(data).lines(np.dtype(np.int64))
    if len(starts) != n + 1:
        raise ValueError(f"there are {len(starts) - 1} elements, but it says {n}")
    lengths = np.diff(starts)
    if n and lengths.min() < 3:
        raise ValueError("an element has less than three numbers")
    begin = starts[:-1]
    if file.is_first:
        values = _with_two_tags(values, begin, lengths)
    types, n_tags = values[begin + 1], values[begin + 2]
    found: _Elements = {}
    for element_type in dict.fromkeys(types.tolist()):
        mine = types == element_type
        k = _n_nodes(element_type)
        at, tags = begin[mine], n_tags[mine]
        wrong = (tags < 0) | (lengths[mine] != 3 + tags + k)
        if wrong.any():
            first = at[wrong][0]
            raise ValueError(
                f"element {values[first]} has {lengths[mine][wrong][0]} numbers, not 3, {values[first + 2]} tags "
                f"and {k} nodes"
            )
        physical = np.where(tags > 0, values[np.minimum(at + 3, len(values) - 1)], 0)
        found[element_type] = values[at], physical, values[(at + 3 + tags)[:, None] + np.arange(k)]
    return found


def _with_two_tags(values: NDArray[np.int64], begin: NDArray[np.intp], lengths: NDArray[np.intp]) -> NDArray[np.int64]:
    """Return the numbers of elements of version 1 in the order of version 2.2."""
    if len(lengths) and lengths.min() < 6:
        raise ValueError("an element has less than six numbers")
    wrong = np.flatnonzero(values[begin + 4] != lengths - 5)
    if len(wrong):
        k = wrong[0]
        raise ValueError(f"element {values[begin[k]]} has {lengths[k] - 5} nodes, but it says {values[begin[k] + 4]}")
    values = values.copy()
    values[begin + 4], values[begin + 3], values[begin + 2] = values[begin + 3], values[begin + 2], 2
    return values


def _read_binary_elements(file: MshFile) -> _Elements:
    """Return the elements of blocks ``type n n-tags`` with a row ``number tags … nodes …`` for each."""
    n, data = file.counted("Elements")
    numbers = BinaryNumbers(data)
    parts: dict[int, list[NDArray]] = {}
    read = 0
    while read < n:
        element_type, m, n_tags = (int(x) for x in numbers.take(INT, 3))
        if m < 1 or n_tags < 0:
            raise ValueError(f"a block has {m} elements with {n_tags} tags")
        k = _n_nodes(element_type)
        table = numbers.rows(INT, m, 1 + n_tags + k)
        physical = table[:, 1] if n_tags else np.zeros(m, INT)
        parts.setdefault(element_type, []).append(np.column_stack([table[:, 0], physical, table[:, 1 + n_tags :]]))
        read += m
    numbers.end()
    if read != n:
        raise ValueError(f"there are {read} elements, but it says {n}")
    tables = {element_type: np.concatenate(rows).astype(np.int64) for element_type, rows in parts.items()}
    return {element_type: (table[:, 0], table[:, 1], table[:, 2:]) for element_type, table in tables.items()}


def _n_nodes(element_type: int) -> int:
    from meshio._common import num_nodes_per_cell
    from meshio.gmsh.common import _gmsh_to_meshio_type

    if element_type not in _gmsh_to_meshio_type:
        raise MeshError(f"elements of Gmsh's type {element_type} are not supported.")
    return num_nodes_per_cell[_gmsh_to_meshio_type[element_type]]


def _refuse_repeated(elements: _Elements) -> None:
    """Refuse an element number that stands for two elements; one in two groups may be there twice."""
    rows = []
    for element_type, (ids, _, nodes) in elements.items():
        same = np.unique(np.column_stack([ids, np.sort(nodes, axis=1)]), axis=0)[:, 0]
        rows.append(np.column_stack([same, np.full(len(same), element_type)]))
    Numbering("element", np.concatenate([np.empty((0, 2), np.int64), *rows])[:, 0])
