"""Reading Exodus II meshes, in either kind of netCDF file, with their blocks and sets as groups.

meshio needs the package netCDF4 for them, and forgets blocks and side sets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symplex.errors import MeshError
from symplex.meshes.formats.account import Account
from symplex.meshes.formats.raw import RawCells, RawMesh
from symplex.meshes.formats.sides import EXODUS, edges_on_side, faces_on_side
from symplex.meshes.kinds import dimension_of

# Exodus' names of shapes, without the number of nodes, and what they are by that number.
_SHAPES: dict[str, dict[int, str]] = {
    "SPHERE": {1: "vertex"},
    "CIRCLE": {1: "vertex"},
    "BAR": {2: "line", 3: "line3"},
    "BEAM": {2: "line", 3: "line3"},
    "TRUSS": {2: "line", 3: "line3"},
    "EDGE": {2: "line", 3: "line3"},
    "TRI": {3: "triangle", 6: "triangle6"},
    "TRIANGLE": {3: "triangle", 6: "triangle6"},
    "TRISHELL": {3: "triangle", 6: "triangle6"},
    "QUAD": {4: "quad", 8: "quad8", 9: "quad9"},
    "SHELL": {3: "triangle", 4: "quad", 8: "quad8", 9: "quad9"},
    "TET": {4: "tetra", 10: "tetra10"},
    "TETRA": {4: "tetra", 10: "tetra10"},
    "HEX": {8: "hexahedron", 20: "hexahedron20", 27: "hexahedron27"},
    "HEXAHEDRON": {8: "hexahedron", 20: "hexahedron20", 27: "hexahedron27"},
    "WEDGE": {6: "wedge", 15: "wedge15"},
    "PENTA": {6: "wedge", 15: "wedge15"},
    "PYRAMID": {5: "pyramid", 13: "pyramid13"},
}
# Nodes between corners in Exodus' order: after those of the base the valid edges, then the top.
_ORDERS = {
    "hexahedron20": [*range(12), *range(16, 20), *range(12, 16)],
    "hexahedron27": [*range(12), *range(16, 20), *range(12, 16), 23, 24, 25, 26, 21, 22, 20],
    "wedge15": [*range(9), *range(12, 15), *range(9, 12)],
}


# Variables that are read, and those that say nothing about the mesh: titles, times, fields, maps of numbers, factors.
_KNOWN = re.compile(
    r"coord[xyz]?|connect\d+|(eb|ns|ss)_(prop1|names|status)|node_ns\d+|(elem|side)_ss\d+"
    r"|coor_names|qa_records|info_records|time_whole|vals_\w+|name_\w+|\w+_var_tab|dist_fact_\w+|attrib\d+"
    r"|attrib_name\d+|(eb|ns|ss)_prop\d+|(elem|node)_(num_)?map|(em|nm)_prop\d+|entity_attrib\w*"
)


def read_exodus(path: Path, account: Account) -> RawMesh:
    """Return points, cells and, as sets, the blocks, node sets and side sets of an Exodus file as meshio would.

    Those without a name are called ``block_1``, ``nodeset_1`` and ``sideset_1``, by their numbers.
    """
    with _variables(path) as file:
        for name in file.names():
            if not _KNOWN.fullmatch(name):
                account.add_unknown(f"the variable {name}", path, 0)
        points = _points(file)
        cells, cell_sets, shells = _blocks(file)
        ends = np.cumsum([0, *(len(rows) for _, rows in cells)])
        faces = [
            (name, kind, rows)
            for name, elements, sides in _side_sets(file)
            for kind, rows in _faces(name, cells, shells, ends, elements, sides)
        ]
        point_sets = {name: file.whole(f"node_ns{k}").ravel() - 1 for k, name in file.named("ns", "nodeset")}
    n = len(cells) + len(faces)
    for k, (name, _, rows) in enumerate(faces, start=len(cells)):
        cell_sets.setdefault(name, {})[k] = np.arange(len(rows))
    wrong = [
        name for name, index in point_sets.items() if index.size and not 0 <= index.min() <= index.max() < len(points)
    ]
    if wrong:
        raise MeshError(f"node set '{wrong[0]}' refers to a node that is not in the file.")
    return RawMesh(
        points,
        [RawCells(*block) for block in (*cells, *((kind, rows) for _, kind, rows in faces))],
        point_sets=point_sets,
        cell_sets={name: [members.get(k) for k in range(n)] for name, members in cell_sets.items()},
    )


class _File:
    """The variables of a netCDF file, of whichever kind."""

    def __init__(self, variables: Mapping):
        self._variables = variables

    def __contains__(self, name: str) -> bool:
        return name in self._variables

    def names(self) -> list[str]:
        """Return the names of variables; those of HDF5 that stand for dimensions only are left out."""
        return [name for name, variable in self._variables.items() if not _is_dimension(variable)]

    def array(self, name: str) -> NDArray:
        if name not in self._variables:
            raise ValueError(f"it has no {name}")
        return np.array(self._variables[name][()] if self._variables[name].shape == () else self._variables[name][:])

    def whole(self, name: str) -> NDArray[np.int64]:
        values = self.array(name)
        if values.dtype.kind not in "iu":
            raise ValueError(f"its {name} are not integers")
        return values.astype(np.int64)

    def attribute(self, name: str, key: str) -> str:
        variable = self._variables[name]
        value = variable.attrs[key] if hasattr(variable, "attrs") else getattr(variable, key)
        return value.decode() if isinstance(value, bytes) else str(np.asarray(value).item())

    def named(self, short: str, called: str) -> Iterator[tuple[int, str]]:
        """Yield the places, from 1, and the names of blocks (eb), node sets (ns) or side sets (ss)."""
        first = {"eb": "connect", "ns": "node_ns", "ss": "elem_ss"}[short]
        ids = self.whole(f"{short}_prop1") if f"{short}_prop1" in self else np.empty(0, np.int64)
        names = self.array(f"{short}_names") if f"{short}_names" in self else np.empty((0, 0), "S1")
        count = 0
        while f"{first}{count + 1}" in self:
            count += 1
        count = max(count, len(ids))
        seen: set[str] = set()
        for k in range(1, count + 1):
            if f"{first}{k}" not in self:  # one without members
                continue
            name = (
                b"".join(names[k - 1].tolist()).split(b"\0")[0].decode("utf-8", "replace").strip()
                if k <= len(names)
                else ""
            )
            number = ids[k - 1] if k <= len(ids) else k
            name = name or f"{called}_{number}"
            while name in seen:
                name += f"_{number}"
            seen.add(name)
            yield k, name


def _is_dimension(variable: Any) -> bool:
    """Return whether a data set of HDF5 is a dimension of netCDF, which has no values of its own."""
    label = getattr(variable, "attrs", {}).get("NAME", b"")
    text = label.decode("ascii", "replace") if isinstance(label, bytes) else str(label)
    return text.startswith("This is a netCDF dimension but not a netCDF variable")


@contextmanager
def _variables(path: Path) -> Iterator[_File]:
    with path.open("rb") as file:
        start = file.read(4)
    if start == b"CDF\x05":
        raise MeshError("it is a netCDF file of the kind CDF-5; write it as netCDF-4 (nccopy -k netCDF-4).")
    if start == b"\x89HDF":
        import h5py

        with h5py.File(path, "r") as hdf5:
            yield _File(hdf5)
    else:
        from scipy.io import netcdf_file

        with netcdf_file(path, "r", mmap=False) as netcdf:
            yield _File(netcdf.variables)


def _points(file: _File) -> NDArray[np.float64]:
    if "coord" in file:
        return np.ascontiguousarray(file.array("coord").T, np.float64)
    axes = [file.array(f"coord{axis}") for axis in "xyz" if f"coord{axis}" in file]
    if not axes:
        raise ValueError("it has no coordinates")
    return np.column_stack(axes).astype(np.float64)


def _blocks(
    file: _File,
) -> tuple[list[tuple[str, NDArray[np.int64]]], dict[str, dict[int, NDArray[np.intp]]], list[bool]]:
    """Return the type and the nodes [m, k] of each block, the blocks as sets of cells, and which are of shells."""
    shells = []
    cells: list[tuple[str, NDArray[np.int64]]] = []
    sets: dict[str, dict[int, NDArray[np.intp]]] = {}
    for k, name in file.named("eb", "block"):
        rows = file.whole(f"connect{k}") - 1
        shape = file.attribute(f"connect{k}", "elem_type").strip().upper()
        kinds = _SHAPES.get(shape.rstrip("0123456789"), {})
        if rows.ndim != 2 or rows.shape[1] not in kinds:
            raise MeshError(
                f"block '{name}' has elements '{shape}' of {rows.shape[-1]} nodes, which are not supported."
            )
        kind = kinds[rows.shape[1]]
        sets[name] = {len(cells): np.arange(len(rows))}
        cells.append((kind, rows[:, _ORDERS[kind]] if kind in _ORDERS else rows))
        shells.append("SHELL" in shape)
    return cells, sets, shells


def _side_sets(file: _File) -> Iterator[tuple[str, NDArray[np.int64], NDArray[np.int64]]]:
    for k, name in file.named("ss", "sideset"):
        elements, sides = file.whole(f"elem_ss{k}").ravel(), file.whole(f"side_ss{k}").ravel()
        if len(elements) != len(sides):
            raise ValueError(f"side set '{name}' has {len(elements)} elements, but {len(sides)} sides")
        yield name, elements - 1, sides


def _faces(
    name: str,
    cells: list[tuple[str, NDArray[np.int64]]],
    shells: list[bool],
    ends: NDArray[np.int64],
    elements: NDArray[np.int64],
    sides: NDArray[np.int64],
) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """Yield the types and nodes of the faces of a side set; of a shell, which has two faces, the shell itself."""
    if elements.size and not 0 <= elements.min() <= elements.max() < ends[-1]:
        raise MeshError(f"side set '{name}' refers to an element that is not in the file.")
    for k, (kind, rows) in enumerate(cells):
        mine = (elements >= ends[k]) & (elements < ends[k + 1])
        is_shell = shells[k]
        for side in np.unique(sides[mine]).tolist():
            chosen = rows[elements[mine & (sides == side)] - ends[k]]
            if dimension_of(kind) == 3:
                yield faces_on_side(EXODUS, kind, chosen, side)
            elif is_shell and side <= 2:
                yield kind, chosen
            else:
                yield edges_on_side(kind, chosen, side - 2 * is_shell)
