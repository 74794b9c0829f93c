"""Gmsh's MSH format, version 4.1: reading all physical groups, and writing groups that overlap.

meshio refuses files in which some cells are in no physical group (saved with ``Mesh.SaveAll``), loses one of two
groups of the same name, and writes one group for each cell; so this version of the format is read and written here.
The layout is that of the section "MSH file format" of the Gmsh reference manual.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from symplex.errors import MeshError
from symplex.meshes.kinds import dimension_of
from symplex.meshes.mesh import Mesh

if TYPE_CHECKING:
    import meshio

Names = Mapping[tuple[int, int], str]
_INT, _SIZE, _DOUBLE = np.dtype("<i4"), np.dtype("<u8"), np.dtype("<f8")


def is_gmsh41(path: Path) -> bool:
    """Return whether a file says that it is MSH 4.1 (or just 4, as some programs write)."""
    with path.open("rb") as file:
        for line in file:
            if line.strip() == b"$MeshFormat":
                return file.readline().split()[:1] in ([b"4.1"], [b"4"])
    return False


def physical_names(path: Path) -> dict[tuple[int, int], str]:
    """Return the names of the physical groups of a file of any version, by dimension and tag."""
    names: dict[tuple[int, int], str] = {}
    with path.open("rb") as file:
        for line in file:
            if line.startswith((b"$Entities", b"$Nodes")):
                break
            if line.strip() == b"$PhysicalNames":
                for _ in range(int(file.readline())):
                    dim, tag, name = shlex.split(file.readline().decode())[:3]
                    names[int(dim), int(tag)] = name
                break
    return names


def physical_name(names: Names, dim: int, tag: int) -> str:
    """Return the name of a physical group, made from dimension and tag (``surface_3``) if it has none."""
    return names.get((dim, tag), f"{('point', 'curve', 'surface', 'volume')[dim]}_{tag}")


# -- reading ----------------------------------------------------------------------------------------------------


class _Numbers(Protocol):
    """The numbers of a section, one after the other."""

    def take(self, dtype: np.dtype, count: int) -> NDArray: ...


class _BinaryNumbers:
    def __init__(self, data: bytes):
        self._data, self._at = data, 0

    def take(self, dtype: np.dtype, count: int) -> NDArray:
        values = np.frombuffer(self._data, dtype, count, self._at)
        self._at += values.nbytes
        return values


class _TextNumbers:
    def __init__(self, data: bytes):
        self._values, self._at = np.array(data.split(), _DOUBLE), 0

    def take(self, dtype: np.dtype, count: int) -> NDArray:
        values = self._values[self._at : self._at + count]
        if len(values) < count:
            raise ValueError("a section is shorter than it says")
        self._at += count
        return values.astype(dtype)


def read_gmsh41(path: Path) -> meshio.Mesh:
    """Return points, cells and the physical groups (as cell sets) of an MSH 4.1 file as meshio would.

    Raises
    ------
    MeshError
        If the file is partitioned or from a machine of other byte order.
    ValueError, KeyError
        If it is broken.
    """
    import meshio

    sections = _sections(path.read_bytes())
    _, binary, size = sections["MeshFormat"].split(b"\n")[0].split()
    if "PartitionedEntities" in sections:
        raise MeshError("the mesh is partitioned; save it without partitions.")
    is_text = binary == b"0"
    if size != b"8" or not (is_text or b"\n\x01\x00\x00\x00" in sections["MeshFormat"]):
        raise MeshError("the file was written on another kind of machine; write it as text (Mesh.Binary = 0).")
    read = _TextNumbers if is_text else _BinaryNumbers
    groups_of = _read_entities(read(sections["Entities"])) if "Entities" in sections else {}
    node_tags, points = _read_nodes(read(sections["Nodes"]))
    blocks = _read_elements(read(sections["Elements"]))
    names = physical_names(path)
    cells, cell_sets = [], {}
    for block, (entity, kind, tags) in enumerate(blocks):
        cells.append((kind, _places(node_tags, tags)))
        for group in groups_of.get(entity, []):
            members = cell_sets.setdefault(physical_name(names, entity[0], group), [None] * len(blocks))
            members[block] = np.arange(len(tags))
    return meshio.Mesh(points, cells, cell_sets=cell_sets)


def _sections(data: bytes) -> dict[str, bytes]:
    """Return what is between ``$Name`` and ``$EndName``, by name."""
    sections: dict[str, bytes] = {}
    at = data.find(b"$")
    while at >= 0:
        line_end = data.find(b"\n", at)
        name = data[at + 1 : line_end].strip()
        end = data.find(b"$End" + name, line_end)
        if line_end < 0 or end < 0:
            raise ValueError("it is cut short")
        sections[name.decode()] = data[line_end + 1 : end]
        at = data.find(b"$", end + 4 + len(name))
    return sections


def _read_entities(numbers: _Numbers) -> dict[tuple[int, int], list[int]]:
    """Return the tags of the physical groups of each entity, by its dimension and tag."""
    groups_of = {}
    for dim, count in enumerate(numbers.take(_SIZE, 4)):
        for _ in range(int(count)):
            tag = int(numbers.take(_INT, 1)[0])
            numbers.take(_DOUBLE, 3 if dim == 0 else 6)
            n_groups = int(numbers.take(_SIZE, 1)[0])
            groups_of[dim, tag] = [abs(int(group)) for group in numbers.take(_INT, n_groups)]
            if dim > 0:
                numbers.take(_INT, int(numbers.take(_SIZE, 1)[0]))
    return groups_of


def _read_nodes(numbers: _Numbers) -> tuple[NDArray, NDArray[np.float64]]:
    n_blocks = int(numbers.take(_SIZE, 4)[0])
    tags, points = [np.empty(0, _SIZE)], [np.empty((0, 3))]
    for _ in range(n_blocks):
        dim, _, parametric = (int(x) for x in numbers.take(_INT, 3))
        n = int(numbers.take(_SIZE, 1)[0])
        tags.append(numbers.take(_SIZE, n))
        columns = 3 + (dim if parametric else 0)
        points.append(numbers.take(_DOUBLE, n * columns).reshape(n, columns)[:, :3])
    return np.concatenate(tags), np.concatenate(points)


def _read_elements(numbers: _Numbers) -> list[tuple[tuple[int, int], str, NDArray]]:
    """Return for each block the entity (dimension, tag), the cell type and the node tags [m, k]."""
    from meshio._common import num_nodes_per_cell
    from meshio.gmsh.common import _gmsh_to_meshio_order, _gmsh_to_meshio_type

    n_blocks = int(numbers.take(_SIZE, 4)[0])
    blocks = []
    for _ in range(n_blocks):
        dim, entity, element_type = (int(x) for x in numbers.take(_INT, 3))
        m = int(numbers.take(_SIZE, 1)[0])
        kind = _gmsh_to_meshio_type[element_type]
        k = num_nodes_per_cell[kind]
        table = numbers.take(_SIZE, m * (k + 1)).reshape(m, k + 1)
        blocks.append(((dim, entity), kind, _gmsh_to_meshio_order(kind, table[:, 1:])))
    return blocks


def _places(known: NDArray, tags: NDArray) -> NDArray[np.int64]:
    """Return where node tags are in the list of known ones, −1 if they are not."""
    place_of = np.full(int(max(known.max(initial=0), tags.max(initial=0))) + 1, -1, np.int64)
    place_of[known.astype(np.int64)] = np.arange(len(known))
    return place_of[tags.astype(np.int64)]


# -- writing ----------------------------------------------------------------------------------------------------


def write_gmsh41(mesh: Mesh, path: Path) -> None:
    """Write a mesh as binary MSH 4.1, its groups as physical groups (those of points as groups of dimension 0).

    Gmsh puts the elements of an *entity* into groups; so there is one entity for each set of groups that some cells
    share.

    Raises
    ------
    MeshError
        If Gmsh has no such cells.
    OSError
        If the file cannot be written.
    """
    from meshio.gmsh.common import _meshio_to_gmsh_order, _meshio_to_gmsh_type

    tag_of = {name: tag for tag, name in enumerate(mesh.groups, start=1)}
    entities: dict[int, list[tuple[NDArray[np.float64], list[int]]]] = {0: [], 1: [], 2: [], 3: []}
    blocks: list[tuple[int, int, int, NDArray]] = []
    points = np.zeros((len(mesh.points), 3))
    points[:, : mesh.points.shape[1]] = mesh.points
    marked = np.unique(np.concatenate([np.empty(0, np.int32), *mesh.point_groups.values()]))
    point_groups = {name: np.searchsorted(marked, index) for name, index in mesh.point_groups.items()}
    cell_groups = {
        kind: {name: members[kind] for name, members in mesh.cell_groups.items() if kind in members}
        for kind in mesh.cells
    }
    parts = [("vertex", marked[:, None], point_groups), *((k, c, cell_groups[k]) for k, c in mesh.cells.items())]
    for kind, cells, groups in parts:
        if kind not in _meshio_to_gmsh_type:
            raise MeshError(f"{path.name}: Gmsh has no cells of the type '{kind}'.")
        dim = dimension_of(kind)
        for members, names in _by_shared_groups(len(cells), groups):
            nodes = _meshio_to_gmsh_order(kind, cells[members])
            entities[dim].append((points[nodes.ravel()], [tag_of[name] for name in names]))
            blocks.append((dim, len(entities[dim]), _meshio_to_gmsh_type[kind], nodes))
    named = {(dim, tag) for dim, found in entities.items() for _, tags in found for tag in tags}
    with path.open("wb") as file:
        file.write(b"$MeshFormat\n4.1 1 8\n" + np.array(1, _INT).tobytes() + b"\n$EndMeshFormat\n")
        lines = [f'{dim} {tag} "{mesh.groups[tag - 1]}"' for dim, tag in sorted(named)]
        file.write("\n".join(["$PhysicalNames", str(len(lines)), *lines, "$EndPhysicalNames\n"]).encode())
        file.write(b"$Entities\n" + _entity_bytes(entities) + b"\n$EndEntities\n")
        file.write(b"$Nodes\n" + _node_bytes(points, blocks[-1][:2]) + b"\n$EndNodes\n")
        file.write(b"$Elements\n")
        file.writelines(_element_bytes(blocks))
        file.write(b"\n$EndElements\n")


def _by_shared_groups(n: int, groups: Mapping[str, NDArray]) -> list[tuple[NDArray[np.intp], list[str]]]:
    """Return the sets of items, of n, that are in the same groups, with the names of these."""
    code = np.zeros(n, np.int64)
    shared: list[list[str]] = [[]]
    for name, index in groups.items():
        code *= 2
        code[index] += 1
        # Number again those sets that occur: there are never more of them than items.
        occurs = np.bincount(code, minlength=2 * len(shared)) > 0
        shared = [shared[k // 2] + [name] * (k % 2) for k in np.flatnonzero(occurs)]
        code = (np.cumsum(occurs) - 1)[code]
    order = np.argsort(code, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(code, minlength=len(shared)))[:-1])
    return [(part, names) for part, names in zip(parts, shared, strict=True) if len(part)]


def _entity_bytes(entities: Mapping[int, list[tuple[NDArray[np.float64], list[int]]]]) -> bytes:
    parts = [np.array([len(entities[dim]) for dim in range(4)], _SIZE).tobytes()]
    for dim in range(4):
        for tag, (points, groups) in enumerate(entities[dim], start=1):
            corners = [points[0]] if dim == 0 else [points.min(axis=0), points.max(axis=0)]
            parts.append(np.array(tag, _INT).tobytes() + np.concatenate(corners).astype(_DOUBLE).tobytes())
            parts.append(np.array(len(groups), _SIZE).tobytes() + np.array(groups, _INT).tobytes())
            if dim > 0:
                parts.append(np.array(0, _SIZE).tobytes())
    return b"".join(parts)


def _node_bytes(points: NDArray[np.float64], entity: tuple[int, int]) -> bytes:
    n = len(points)
    head = np.array([1, n, 1, n], _SIZE).tobytes() + np.array([*entity, 0], _INT).tobytes()
    return head + np.array(n, _SIZE).tobytes() + np.arange(1, n + 1, dtype=_SIZE).tobytes() + points.tobytes()


def _element_bytes(blocks: list[tuple[int, int, int, NDArray]]) -> list[bytes]:
    total = sum(len(nodes) for *_, nodes in blocks)
    parts = [np.array([len(blocks), total, 1, total], _SIZE).tobytes()]
    first = 1
    for dim, entity, element_type, nodes in blocks:
        table = np.column_stack([np.arange(first, first + len(nodes)), nodes.astype(np.int64) + 1]).astype(_SIZE)
        parts.append(np.array([dim, entity, element_type], _INT).tobytes() + np.array(len(nodes), _SIZE).tobytes())
        parts.append(table.tobytes())
        first += len(nodes)
    return parts
