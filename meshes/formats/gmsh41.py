"""Gmsh's MSH format, version 4.1: reading all physical groups, and writing groups that overlap.

meshio refuses files in which some cells are in no physical group (saved with ``Mesh.SaveAll``), loses one of two
groups of the same name, and writes one group for each cell; so this version of the format is read and written here.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from symplex.errors import MeshError
from symplex.meshes.formats.account import Account
from symplex.meshes.formats.gmsh_order import from_gmsh_order, to_gmsh_order
from symplex.meshes.formats.gmsh_sections import DOUBLE, INT, SIZE, Numbers, physical_name, read_sections
from symplex.meshes.formats.numbering import Numbering
from symplex.meshes.formats.raw import RawCells, RawMesh
from symplex.meshes.kinds import dimension_of
from symplex.meshes.mesh import Mesh

# -- reading ----------------------------------------------------------------------------------------------------


def read_gmsh41(path: Path, account: Account) -> RawMesh:
    """Return points, cells and the physical groups (as cell sets) of an MSH 4.1 file as meshio would."""
    file = read_sections(path, account)
    if "PartitionedEntities" in file.sections:
        raise MeshError("the mesh is partitioned; save it without partitions.")
    groups_of = _read_entities(file.numbers("Entities")) if "Entities" in file.sections else None
    node_numbers, points = _read_nodes(file.numbers("Nodes"))
    nodes = Numbering("node", node_numbers)
    blocks = _read_elements(file.numbers("Elements"))
    names = file.names()
    cells, cell_sets = [], {}
    for block, (entity, kind, connectivity) in enumerate(blocks):
        cells.append(RawCells(kind, nodes.places(connectivity, f"a {kind} cell")))
        if groups_of is not None and entity not in groups_of:
            raise ValueError(f"there are elements of the entity {entity[1]} of dimension {entity[0]}, which it has not")
        for group in (groups_of or {}).get(entity, []):
            members = cell_sets.setdefault(physical_name(names, entity[0], group), [None] * len(blocks))
            members[block] = np.arange(len(connectivity))
    file.note_unused(cell_sets, path, account)
    return RawMesh(points, cells, cell_sets=cell_sets)


def _read_entities(numbers: Numbers) -> dict[tuple[int, int], list[int]]:
    """Return the tags of the physical groups of each entity, by its dimension and tag."""
    groups_of = {}
    for dim, count in enumerate(numbers.take(SIZE, 4)):
        for _ in range(int(count)):
            tag = int(numbers.take(INT, 1)[0])
            numbers.take(DOUBLE, 3 if dim == 0 else 6)
            n_groups = int(numbers.take(SIZE, 1)[0])
            if (dim, tag) in groups_of:
                raise ValueError(f"the entity {tag} of dimension {dim} is defined twice")
            groups_of[dim, tag] = [abs(int(group)) for group in numbers.take(INT, n_groups)]
            if dim > 0:
                numbers.take(INT, int(numbers.take(SIZE, 1)[0]))
    numbers.end()
    return groups_of


def _read_nodes(numbers: Numbers) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    n_blocks, total, _, _ = numbers.line(SIZE, SIZE, SIZE, SIZE)
    tags, points = [np.empty(0, SIZE)], [np.empty((0, 3))]
    for _ in range(n_blocks):
        dim, _, parametric, n = numbers.line(INT, INT, INT, SIZE)
        if not (0 <= dim <= 3 and parametric in (0, 1)):
            raise ValueError("a block of nodes has no right dimension")
        tags.append(numbers.rows(SIZE, n, 1).ravel())
        points.append(numbers.rows(DOUBLE, n, 3 + dim * parametric)[:, :3])
    numbers.end()
    return _counted("nodes", np.concatenate(tags), total), np.concatenate(points)


def _read_elements(numbers: Numbers) -> list[tuple[tuple[int, int], str, NDArray[np.int64]]]:
    """Return for each block the entity (dimension, tag), the cell type and the numbers of the nodes [m, k]."""
    from meshio._common import num_nodes_per_cell
    from meshio.gmsh.common import _gmsh_to_meshio_type

    n_blocks, total, _, _ = numbers.line(SIZE, SIZE, SIZE, SIZE)
    tags, blocks = [np.empty(0, SIZE)], []
    for _ in range(n_blocks):
        dim, entity, element_type, m = numbers.line(INT, INT, INT, SIZE)
        if element_type not in _gmsh_to_meshio_type:
            raise MeshError(f"elements of Gmsh's type {element_type} are not supported.")
        kind = _gmsh_to_meshio_type[element_type]
        if dimension_of(kind) != dim:
            raise ValueError(f"{kind} cells are not of dimension {dim}")
        table = numbers.rows(SIZE, m, num_nodes_per_cell[kind] + 1)
        tags.append(table[:, 0])
        nodes = _counted("nodes", table[:, 1:])
        blocks.append(((dim, entity), kind, from_gmsh_order(kind, nodes)))
    numbers.end()
    Numbering("element", _counted("elements", np.concatenate(tags), total))
    return blocks


def _counted(what: str, tags: NDArray, total: int | None = None) -> NDArray[np.int64]:
    """Return tags as signed numbers; of all, there are as many as the section says."""
    if total is not None and len(tags) != total:
        raise ValueError(f"there are {len(tags)} {what}, but it says {total}")
    if tags.size and tags.max() > np.iinfo(np.int64).max:
        raise ValueError(f"{what} have numbers up to {tags.max()}")
    return tags.astype(np.int64)


# -- writing ----------------------------------------------------------------------------------------------------


def write_gmsh41(mesh: Mesh, path: Path) -> None:
    """Write a mesh as binary MSH 4.1, its groups as physical groups (those of points as groups of dimension 0).

    Gmsh puts the elements of an *entity* into groups; so there is one entity for each set of groups that some cells
    share.
    """
    from meshio.gmsh.common import _meshio_to_gmsh_type

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
            nodes = to_gmsh_order(kind, cells[members])
            entities[dim].append((points[nodes.ravel()], [tag_of[name] for name in names]))
            blocks.append((dim, len(entities[dim]), _meshio_to_gmsh_type[kind], nodes))
    named = {(dim, tag) for dim, found in entities.items() for _, tags in found for tag in tags}
    with path.open("wb") as file:
        file.write(b"$MeshFormat\n4.1 1 8\n" + np.array(1, INT).tobytes() + b"\n$EndMeshFormat\n")
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
    parts = [np.array([len(entities[dim]) for dim in range(4)], SIZE).tobytes()]
    for dim in range(4):
        for tag, (points, groups) in enumerate(entities[dim], start=1):
            corners = [points[0]] if dim == 0 else [points.min(axis=0), points.max(axis=0)]
            parts.append(np.array(tag, INT).tobytes() + np.concatenate(corners).astype(DOUBLE).tobytes())
            parts.append(np.array(len(groups), SIZE).tobytes() + np.array(groups, INT).tobytes())
            if dim > 0:
                parts.append(np.array(0, SIZE).tobytes())
    return b"".join(parts)


def _node_bytes(points: NDArray[np.float64], entity: tuple[int, int]) -> bytes:
    n = len(points)
    head = np.array([1, n, 1, n], SIZE).tobytes() + np.array([*entity, 0], INT).tobytes()
    return head + np.array(n, SIZE).tobytes() + np.arange(1, n + 1, dtype=SIZE).tobytes() + points.tobytes()


def _element_bytes(blocks: list[tuple[int, int, int, NDArray]]) -> list[bytes]:
    total = sum(len(nodes) for *_, nodes in blocks)
    parts = [np.array([len(blocks), total, 1, total], SIZE).tobytes()]
    first = 1
    for dim, entity, element_type, nodes in blocks:
        table = np.column_stack([np.arange(first, first + len(nodes)), nodes.astype(np.int64) + 1]).astype(SIZE)
        parts.append(np.array([dim, entity, element_type], INT).tobytes() + np.array(len(nodes), SIZE).tobytes())
        parts.append(table.tobytes())
        first += len(nodes)
    return parts
