"""The mesh: points, cells by type, and named groups of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from symplex.base.arguments import checked
from symplex.base.representation import names, table_html
from symplex.errors import MeshError
from symplex.meshes.kinds import dimension_of, face_corners, face_parts, faces_of_cells, require_kind

if TYPE_CHECKING:
    from symplex.meshes.pictures.picture import Picture
    from symplex.meshes.pictures.view import View

_BITS = (1 << 24) - 1
_FACES_AT_ONCE = 1 << 20  # whose surface is found together
_PORTIONS = 255


@checked
@dataclass(frozen=True)
class Mesh:
    """Points and cells with named groups.

    Attributes
    ----------
    points : float64 [n, dim]
        Coordinates in metres.
    cells : mapping of str to int32 [m, k]
        Connectivity by meshio's cell type names (``tetra``, ``hexahedron``, ``line``, ``triangle`` …).
    cell_groups : mapping of str to (mapping of str to int32 [g])
        For each named group the indices of its cells, by cell type.
    point_groups : mapping of str to int32 [g]
        For each named group the indices of its points.
    formulations : mapping of str to tuple of str
        By cell type, what the file that a mesh was read from calls elements that are computed otherwise there than by
        the plain displacements of their nodes, fully integrated: ``C3D8R`` with reduced integration. A mesh is
        geometry, so they are cells like others.
    unknown : tuple of str
        Lines of the file that a mesh was read from, by kind, that were neither used nor are known to mean nothing.
    point_numbers : int64 [n], optional
        What an Abaqus or CalculiX deck calls the points; 0 of those that it does not have.
    cell_numbers : mapping of str to int64 [m]
        By cell type, what it calls the cells; 0 of those that it does not have. Empty if there are no numbers.
    """

    points: NDArray[np.float64]
    cells: Mapping[str, NDArray[np.int32]]
    cell_groups: Mapping[str, Mapping[str, NDArray[np.int32]]] = field(default_factory=dict)
    point_groups: Mapping[str, NDArray[np.int32]] = field(default_factory=dict)
    formulations: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    point_numbers: NDArray[np.int64] | None = None
    cell_numbers: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {what}" for what, count in self._counts())
        return f"Mesh({counts}; groups: {names(self.groups)})"

    def _repr_html_(self) -> str:
        rows = [(what, f"{count:,}") for what, count in self._counts()]
        if len(self.points):
            ends = zip(self.points.min(axis=0), self.points.max(axis=0), strict=True)
            rows.append(("box in m", " × ".join(f"{low:.4g} … {high:.4g}" for low, high in ends)))
        return table_html("Mesh", [*rows, ("groups", names(self.groups))])

    def plot(self, groups: bool = False, view: View | None = None, width: int = 900) -> Picture:
        """Return a picture of the mesh, which notebooks show.

        Parameters
        ----------
        groups : bool, default False
            Whether groups have their own colours. A cell in several groups has that of the smallest; groups of
            points are drawn as points.
        view : View, optional
            From where it is seen.
        width : int, default 900
            In pixels.

        Raises
        ------
        RenderError
            If nothing can be drawn here, or there are no cells.
        """
        from symplex.meshes.pictures.picture import picture_of_mesh

        # A checker of this file alone takes its class for another than that of the package.
        return picture_of_mesh(self, groups, view, width)  # pyright: ignore[reportArgumentType]

    def _counts(self) -> list[tuple[str, int]]:
        """Return how many points there are, and cells of each type."""
        return [("points", len(self.points)), *((kind, len(cells)) for kind, cells in self.cells.items())]

    @property
    def groups(self) -> list[str]:
        """Names of all groups, sorted."""
        return sorted({*self.cell_groups, *self.point_groups})

    def cells_of(self, cell_type: str, group: str | None = None) -> NDArray[np.int32]:
        """Return the connectivity [m, k] of the cells of one type, all or those of a group; none of a type without any.

        It may be the mesh's own: copy it before it is written to.

        Raises
        ------
        MeshError
            If there is no such type of cells, or the group does not exist.
        """
        require_kind(cell_type)
        cells = self.cells.get(cell_type)
        if cells is None:
            cells = np.empty((0, 0), np.int32)
        if group is None:
            return cells
        self._require(group)
        index = self.cell_groups.get(group, {}).get(cell_type, np.empty(0, np.int32))
        if len(index) and np.array_equal(index, np.arange(index[0], index[0] + len(index))):  # as those of whole bodies
            return cells[index[0] : index[0] + len(index)]  # without a copy
        return cells[index]

    def nodes_of(self, group: str) -> NDArray[np.int32]:
        """Return the sorted node indices of a group: its points and all nodes of its cells.

        Raises
        ------
        MeshError
            If the group does not exist.
        """
        self._require(group)
        parts = [np.asarray(self.point_groups.get(group, ()), np.int32)]
        parts += [self.cells[kind][index].ravel() for kind, index in self.cell_groups.get(group, {}).items()]
        return distinct(np.concatenate(parts), len(self.points))

    @property
    def volume_types(self) -> list[str]:
        """The cell types that fill a volume and of which there are cells."""
        return [kind for kind, cells in self.cells.items() if dimension_of(kind) == 3 and len(cells)]

    @cached_property
    def boundary_faces(self) -> dict[str, NDArray[np.int32]]:
        """Faces that belong to one volume cell only, as ``triangle``, ``quad``, ``triangle6`` connectivity, outward."""
        return {kind: _single(parts) for kind, parts in face_parts(self.cells).items()}

    def faces_of(self, group: str) -> dict[str, NDArray[np.int32]]:
        """Return the boundary faces of a group, by type and outward like `boundary_faces`.

        Of a group that holds faces, these and no others; of one of volume cells, their faces on the boundary; of a
        group of points only, the boundary faces all of whose nodes are in it.

        Raises
        ------
        MeshError
            If the group does not exist, has no face on the boundary, or has faces that are not on it.
        """
        self._require(group)
        members = {
            kind: self.cells[kind][index] for kind, index in self.cell_groups.get(group, {}).items() if len(index)
        }
        faces = {kind: cells for kind, cells in members.items() if dimension_of(kind) == 2}
        if faces:
            self._require_boundary(group, faces)
        requested = face_corners(faces or faces_of_cells(members))
        chosen = {}
        for kind, boundary in self.boundary_faces.items():
            if len(requested):
                among = rows_among(face_corners({kind: boundary}), requested)
            else:
                inside = np.zeros(len(self.points), bool)
                inside[self.point_groups.get(group, np.empty(0, np.int32))] = True
                among = inside[boundary].all(axis=1)
            if among.any():
                chosen[kind] = boundary[among]
        if not chosen:
            raise MeshError(f"group '{group}' has no faces on the boundary.")
        return chosen

    def _require_boundary(self, group: str, faces: Mapping[str, NDArray[np.int32]]) -> None:
        total = sum(len(cells) for cells in faces.values())
        on = int(np.count_nonzero(rows_among(face_corners(faces), face_corners(self.boundary_faces))))
        if 0 < on < total:
            raise MeshError(
                f"{total - on} of {total} faces of group '{group}' are not on the boundary; make a group of the others."
            )

    @cached_property
    def boundary_nodes(self) -> NDArray[np.int32]:
        """Sorted indices of the nodes on the boundary of the volume cells."""
        faces = [face.ravel() for face in self.boundary_faces.values()]
        return distinct(np.concatenate([np.empty(0, np.int32), *faces]), len(self.points))

    def _require(self, group: str) -> None:
        if group not in self.cell_groups and group not in self.point_groups:
            known = ", ".join(self.groups) or "none"
            raise MeshError(f"group '{group}' is not in the mesh; it has: {known}.")


@checked
def merge(meshes: Mapping[str, Mesh]) -> Mesh:
    """Join several bodies into one mesh with one node numbering, body after body.

    Parameters
    ----------
    meshes : mapping of str to Mesh
        The bodies by name. Each becomes a cell group of its name with all its cells;
        its own groups become ``name.group``. Nothing is glued: bodies share no nodes.

    Raises
    ------
    MeshError
        If there is no mesh, or their points differ in dimension.
    """
    if not meshes:
        raise MeshError("there is nothing to merge: no mesh was given.")
    dims = {name: mesh.points.shape[1] for name, mesh in meshes.items()}
    if len(set(dims.values())) > 1:
        raise MeshError(f"meshes of different dimension cannot be merged: {dims}.")
    cells: dict[str, list[NDArray[np.int32]]] = {}
    cell_groups: dict[str, dict[str, NDArray[np.int32]]] = {}
    point_groups: dict[str, NDArray[np.int32]] = {}
    first_point, first_cell = 0, dict.fromkeys({kind for mesh in meshes.values() for kind in mesh.cells}, 0)
    for name, mesh in meshes.items():
        cell_groups[name] = {
            kind: np.arange(first_cell[kind], first_cell[kind] + len(c), dtype=np.int32)
            for kind, c in mesh.cells.items()
        }
        for group, members in mesh.cell_groups.items():
            cell_groups[f"{name}.{group}"] = {
                kind: (index + first_cell[kind]).astype(np.int32) for kind, index in members.items()
            }
        for group, index in mesh.point_groups.items():
            point_groups[f"{name}.{group}"] = (index + first_point).astype(np.int32)
        for kind, c in mesh.cells.items():
            cells.setdefault(kind, []).append((c + first_point).astype(np.int32))
            first_cell[kind] += len(c)
        first_point += len(mesh.points)
    points = np.concatenate([mesh.points for mesh in meshes.values()])
    numbered = any(mesh.point_numbers is not None for mesh in meshes.values())
    cell_numbers = {
        kind: np.concatenate([_cell_numbers(mesh, kind) for mesh in meshes.values()])
        for kind in (cells if any(mesh.cell_numbers for mesh in meshes.values()) else ())
    }
    unknown = dict.fromkeys(line for mesh in meshes.values() for line in mesh.unknown)  # once of a file read twice
    return Mesh(
        points,
        {kind: np.concatenate(parts) for kind, parts in cells.items()},
        cell_groups,
        point_groups,
        unknown=tuple(unknown),
        point_numbers=np.concatenate([_point_numbers(mesh) for mesh in meshes.values()]) if numbered else None,
        cell_numbers=cell_numbers,
    )


def _point_numbers(mesh: Mesh) -> NDArray[np.int64]:
    """Return what a deck calls the points, zeros where it calls them nothing."""
    return np.zeros(len(mesh.points), np.int64) if mesh.point_numbers is None else mesh.point_numbers


def _cell_numbers(mesh: Mesh, kind: str) -> NDArray[np.int64]:
    """Return what a deck calls the cells of a type, zeros where it calls them nothing."""
    found = mesh.cell_numbers.get(kind)
    return np.zeros(len(mesh.cells.get(kind, ())), np.int64) if found is None else found


def take(mesh: Mesh, nodes: NDArray[np.integer], cells: Mapping[str, NDArray[np.integer]]) -> Mesh:
    """Return the mesh of some of the nodes and cells, in the given order.

    Parameters
    ----------
    mesh : Mesh
    nodes : int [p]
        Indices of the nodes to keep, without repetition; all nodes of the cells to keep must be among them.
    cells : mapping of str to int [c]
        Indices of the cells to keep, by cell type.

    Returns
    -------
    Mesh
        Groups keep those of their members that are kept, and go when none is.
    """
    new_node = _places(nodes, len(mesh.points))
    kept = {kind: index for kind, index in cells.items() if len(index)}
    new_cell = {kind: _places(index, len(mesh.cells[kind])) for kind, index in kept.items()}
    cell_groups = {
        name: {kind: _mapped(new_cell[kind], index) for kind, index in members.items() if kind in kept}
        for name, members in mesh.cell_groups.items()
    }
    cell_groups = {
        name: {kind: index for kind, index in members.items() if len(index)} for name, members in cell_groups.items()
    }
    point_groups = {name: _mapped(new_node, index) for name, index in mesh.point_groups.items()}
    return Mesh(
        np.ascontiguousarray(mesh.points[nodes]),
        {kind: new_node[mesh.cells[kind][index]] for kind, index in kept.items()},
        {name: members for name, members in cell_groups.items() if members},
        {name: index for name, index in point_groups.items() if len(index)},
        {kind: names for kind, names in mesh.formulations.items() if kind in kept},
        mesh.unknown,
        None if mesh.point_numbers is None else mesh.point_numbers[nodes],
        {kind: _cell_numbers(mesh, kind)[index] for kind, index in kept.items()} if mesh.cell_numbers else {},
    )


def _places(chosen: NDArray[np.integer], n: int) -> NDArray[np.int32]:
    """Return for each of n things its place among the chosen, or −1."""
    places = np.full(n, -1, np.int32)
    places[chosen] = np.arange(len(chosen), dtype=np.int32)
    return places


def _mapped(places: NDArray[np.int32], index: NDArray[np.int32]) -> NDArray[np.int32]:
    new = places[index]
    return distinct(new[new >= 0], len(places))


def distinct(index: NDArray[np.integer], n: int) -> NDArray[np.int32]:
    """Return the distinct among indices below n, sorted; for many of them ten times faster than ``np.unique``."""
    if 50 * len(index) < n:  # few of them: sorting is faster
        return np.unique(index).astype(np.int32)
    present = np.zeros(n, bool)
    present[index] = True
    return np.flatnonzero(present).astype(np.int32)


def row_order(rows: NDArray[np.int32]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return an order [m] that brings rows with the same nodes together, and where a new set of nodes begins [m]."""
    ordered = np.sort(rows, axis=1).astype(np.int64)
    base = int(ordered.max(initial=0)) + 1
    # As many columns as fit share one integer key: one sort for triangles of up to two million nodes.
    keys: list[NDArray[np.int64]] = []
    room: int = 0
    for column in ordered.T:
        if room < base:
            keys.append(column.copy())
            room = int(np.iinfo(np.int64).max) // base
        else:
            keys[-1] *= base
            keys[-1] += column
            room //= base
    order = np.argsort(keys[0])
    if len(keys) > 1:
        # The other keys decide among rows with the same first key only: fewer to sort by all.
        tied = np.diff(keys[0][order]) == 0
        place = np.flatnonzero(np.append(tied, False) | np.append(False, tied))
        among = order[place]
        order[place] = among[np.lexsort([key[among] for key in keys[::-1]])]
    first = np.ones(len(rows), bool)
    first[1:] = np.logical_or.reduce([np.diff(key[order]) != 0 for key in keys])
    return order, first


def first_alike(rows: NDArray[np.int32]) -> NDArray[np.intp]:
    """Return for each row [m] the first one with the same nodes in any order, itself if there is none before."""
    order, new = row_order(rows)
    block = np.cumsum(new) - 1
    smallest = np.minimum.reduceat(order, np.flatnonzero(new)) if len(order) else order
    first = np.empty(len(rows), np.intp)
    first[order] = smallest[block]
    return first


def rows_among(rows: NDArray[np.int32], others: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which rows [m] have the same nodes, in any order, as one of the others."""
    return first_alike(np.concatenate([others, rows]))[len(others) :] < len(others)


def _single(parts: Sequence[tuple[NDArray[np.int32], tuple[int, ...]]]) -> NDArray[np.int32]:
    """Return the faces [f, k] whose set of nodes occurs once, in their first order, given as `face_parts` returns them.

    Of many, those with near lowest nodes are looked at together, so that all are never there at the same time.
    """
    number = sum(len(cells) for cells, _ in parts)
    portions = min(number // _FACES_AT_ONCE + 1, _PORTIONS)
    if portions == 1:
        faces = np.concatenate([cells[:, list(face)] for cells, face in parts])
        return faces[_alone(faces)]
    n = 1 + max(int(cells.max()) for cells, _ in parts)
    portion = [
        (np.minimum.reduce([cells[:, k] for k in face]).astype(np.int64) * portions // n).astype(np.uint8)
        for cells, face in parts
    ]
    first = np.cumsum([0, *(len(cells) for cells, _ in parts)])
    found, places = [], []
    for k in range(portions):
        index = [np.flatnonzero(of == k) for of in portion]
        faces = np.concatenate([cells[i][:, list(face)] for i, (cells, face) in zip(index, parts, strict=True)])
        alone = _alone(faces)
        found.append(faces[alone])
        places.append(np.concatenate([i + before for i, before in zip(index, first, strict=False)])[alone])
    return np.concatenate(found)[np.argsort(np.concatenate(places))]


def _alone(faces: NDArray[np.int32]) -> NDArray[np.intp]:
    """Return the rows [a], ascending, whose set of nodes occurs once."""
    base = int(faces.max(initial=0)) + 1
    if faces.shape[1] != 3 or base**3 > np.iinfo(np.uint64).max:  # up to 2.6 million nodes
        order, first = row_order(faces)
        return np.sort(order[first & np.append(first[1:], True)])
    # Of linear triangles, of which large meshes have most, in half the time: one number for each is sorted, without the
    # order of all, and the few that occur once are looked for among all by their last bits before they are compared.
    a, b, c = np.ascontiguousarray(faces.T)
    lowest, highest = np.minimum(np.minimum(a, b), c), np.maximum(np.maximum(a, b), c)
    keys = lowest.astype(np.uint64)
    for column in (a ^ b ^ c ^ lowest ^ highest, highest):
        keys *= np.uint64(base)
        keys += column.astype(np.uint64)
    ordered = np.sort(keys)
    new = np.ones(len(keys) + 1, bool)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:-1])
    alone = ordered[new[1:] & new[:-1]]
    marked = np.zeros(_BITS + 1, bool)
    marked[alone & _BITS] = True
    likely = np.flatnonzero(marked[keys & _BITS])
    return likely[np.isin(keys[likely], alone)]
