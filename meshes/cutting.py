"""Bodies cut apart: nodes between elements doubled, so that the two sides of a cut can move on their own."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symplex.base.arguments import checked
from symplex.errors import MeshError
from symplex.meshes.kinds import FACES, corners_of
from symplex.meshes.mesh import Mesh


class Cut(NamedTuple):
    """A mesh that is cut.

    Attributes
    ----------
    mesh : Mesh
        New nodes follow the others; they are in the groups of points of those that they double.
    back, front : int32 [p]
        The nodes on both sides of the cut, pair by pair at one place; the front is on the side of the normal.
    """

    mesh: Mesh
    back: NDArray[np.int32]
    front: NDArray[np.int32]


@checked
def cut_by_plane(mesh: Mesh, point: ArrayLike, normal: ArrayLike, group: str | None = None) -> Cut:
    """Return a mesh cut between the elements whose centres are on one side of a plane and on the other.

    The cut follows the faces of the elements, so it is a staircase where these are not in the plane.

    Parameters
    ----------
    mesh : Mesh
    point : float64 [3]
        A point of the plane in m.
    normal : float64 [3]
        A direction across it.
    group : str, optional
        Only these elements are cut; by default all that the plane meets.

    Raises
    ------
    MeshError
        If point or normal are none, there is no such group, no elements are on one side, or others share the nodes on
        the cut.
    """
    p, n = np.asarray(point, float), np.asarray(normal, float)
    if not (p.shape == n.shape == (3,) and np.isfinite([p, n]).all() and n.any()):
        raise MeshError(
            f"a plane needs a point and a normal of three finite numbers, the normal not zero, got {point!r:.60} and "
            f"{normal!r:.60}."
        )
    cells = _Cells(mesh)
    chosen = np.ones(cells.count, bool) if group is None else cells.of_group(group)
    front = cells.centres @ n > p @ n
    whose = "elements" if group is None else f"elements of '{group}'"
    if not (chosen & front).any() or not (chosen & ~front).any():
        along = cells.centres[chosen] @ n / np.linalg.norm(n)
        raise MeshError(
            f"all {whose} are on one side of the plane: their centres are from {along.min():.6g} to {along.max():.6g} "
            f"m along the normal, the plane is at {p @ n / np.linalg.norm(n):.6g} m."
        )
    cut = cells.nodes_of(chosen & front) & cells.nodes_of(chosen & ~front)
    if not cut.any():
        raise MeshError(f"the {whose} on both sides of the plane share no nodes, so that there is nothing to cut.")
    others = cells.touching(cut) & ~chosen
    if others.any():
        raise MeshError(
            f"{int(others.sum()):,} elements that are not in '{group}' share nodes on the cut, the first with its "
            f"centre at {_at(cells.centres[others][0])}; cut at another place, or add them to the group."
        )
    return _apart(mesh, cells, cut, front)


@checked
def cut_by_faces(mesh: Mesh, nodes: ArrayLike, normal: ArrayLike) -> Cut:
    """Return a mesh cut at the faces between two elements whose corners are among some nodes.

    Parameters
    ----------
    mesh : Mesh
    nodes : int [p]
        As of a group of faces.
    normal : float64 [3]
        A direction across the faces.

    Raises
    ------
    MeshError
        If there are no such faces, or elements on both sides are joined by others around the edge of the cut.
    """
    n, chosen, cells = np.asarray(normal, float), np.asarray(nodes), _Cells(mesh)
    if n.shape != (3,) or not np.isfinite(n).all() or not n.any():
        raise MeshError(f"a normal must be three finite numbers, not all zero, got {normal!r:.60}.")
    whole = chosen.ndim == 1 and chosen.dtype.kind in "iu" and len(chosen) > 0
    if not whole or chosen.min() < 0 or chosen.max() >= len(mesh.points):
        raise MeshError(f"nodes must be numbers [p] of nodes, 0 to {len(mesh.points) - 1}, got {nodes!r:.60}.")
    on = np.zeros(len(mesh.points), bool)
    on[chosen] = True
    near = np.flatnonzero(cells.touching(on))
    pairs, corners = cells.shared_faces(near)
    is_cut = on[corners].all(axis=1)
    if not is_cut.any():
        raise MeshError(
            "no face between two elements has all its corners among the nodes, so that there is nothing to cut; name "
            "the nodes or faces of a surface within the body."
        )
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components  # which takes long to import

    joined = pairs[~is_cut]
    graph = coo_array((np.ones(len(joined)), joined.T), shape=(cells.count, cells.count))
    label = connected_components(graph, directed=False)[1]
    owners = pairs[is_cut]
    along = cells.centres @ n
    swap = along[owners[:, 0]] > along[owners[:, 1]]
    owners[swap] = owners[swap][:, ::-1]  # back, front
    back, front = (np.isin(label, label[owners[:, k]]) for k in (0, 1))
    around = np.flatnonzero(back & front)
    if len(around):
        raise MeshError(
            f"the faces do not cut the body apart: elements on both sides are joined by others around their edge, near "
            f"{_at(cells.centres[around[0]])}. The cut must reach to the surface of the body, with a normal across it."
        )
    middle = mesh.points[np.unique(corners[is_cut])].mean(axis=0) @ n
    front |= ~back & (along > middle)  # of elements that have edges only on the cut
    cut = cells.nodes_of(np.isin(np.arange(cells.count), owners[:, 0]))
    cut &= cells.nodes_of(np.isin(np.arange(cells.count), owners[:, 1]))
    return _apart(mesh, cells, cut, front)


class _Cells:
    """The volume cells of a mesh in one numbering, type by type."""

    def __init__(self, mesh: Mesh):
        self._mesh, self._first = mesh, {}
        self.count = 0
        for kind in mesh.volume_types:
            self._first[kind] = self.count
            self.count += len(mesh.cells[kind])
        if not self.count:
            raise MeshError("the mesh has no volume elements, which could be cut apart.")
        self.centres = np.concatenate(
            [mesh.points[corners_of(kind, mesh.cells[kind])].mean(axis=1) for kind in self._first]
        )

    def of(self, mask: NDArray[np.bool_], kind: str) -> NDArray[np.bool_]:
        """Return the part of a mask [count] of cells of one type."""
        first = self._first[kind]
        return mask[first : first + len(self._mesh.cells[kind])]

    def of_group(self, group: str) -> NDArray[np.bool_]:
        """Return which cells are in a group."""
        members = self._mesh.cell_groups.get(group, {})
        mask = np.zeros(self.count, bool)
        for kind in self._first:
            self.of(mask, kind)[members.get(kind, [])] = True
        if not mask.any():
            known = ", ".join(self._mesh.cell_groups) or "none"
            raise MeshError(f"there is no group '{group}' of elements; groups are: {known}.")
        return mask

    def nodes_of(self, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which nodes [n] some cells have."""
        found = np.zeros(len(self._mesh.points), bool)
        for kind in self._first:
            found[self._mesh.cells[kind][self.of(mask, kind)]] = True
        return found

    def touching(self, nodes: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which cells have any of some nodes."""
        return np.concatenate([nodes[self._mesh.cells[kind]].any(axis=1) for kind in self._first])

    def shared_faces(self, chosen: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the pairs [f, 2] of some cells that share faces, and their corners [f, 4], of triangles one twice."""
        mask = np.zeros(self.count, bool)
        mask[chosen] = True
        rows, owners = [np.empty((0, 4), np.int32)], [np.empty(0, np.int64)]
        for kind, first in self._first.items():
            index = np.flatnonzero(self.of(mask, kind))
            corners = _CORNERS[kind.rstrip("0123456789")]
            for face in FACES[kind]:
                own = [k for k in face if k < corners]
                row = np.sort(self._mesh.cells[kind][index][:, own], axis=1)
                rows.append(np.hstack([row, *[row[:, :1]] * (4 - len(own))]))
                owners.append(index + first)
        every, of = np.sort(np.concatenate(rows), axis=1), np.concatenate(owners)
        order = np.lexsort(every.T)
        alike = (every[order][1:] == every[order][:-1]).all(axis=1)
        at = np.flatnonzero(alike)
        return np.column_stack([of[order][at], of[order][at + 1]]), every[order][at]


_CORNERS = {"tetra": 4, "pyramid": 5, "wedge": 6, "hexahedron": 8}


def _apart(mesh: Mesh, cells: _Cells, cut: NDArray[np.bool_], front: NDArray[np.bool_]) -> Cut:
    """Return a mesh in which the elements in front have their own nodes on the cut, and the faces on them too."""
    back = np.flatnonzero(cut).astype(np.int32)
    n = len(mesh.points)
    place = np.arange(n, dtype=np.int32)
    place[back] = np.arange(n, n + len(back))
    before = cells.nodes_of(front & cells.touching(cut)) & ~cut
    moved = {}
    for kind, nodes in mesh.cells.items():
        # Of faces and lines those are in front that go on to a node there.
        own = cells.of(front, kind) if kind in mesh.volume_types else before[nodes].any(axis=1)
        moved[kind] = np.where(np.expand_dims(own, 1), place[nodes], nodes).astype(np.int32)
    groups = {
        name: np.concatenate([index, place[index[cut[index]]]]).astype(np.int32)
        for name, index in mesh.point_groups.items()
    }
    numbers = mesh.point_numbers
    result = replace(
        mesh,
        points=np.concatenate([mesh.points, mesh.points[back]]),
        cells=moved,
        point_groups=groups,
        point_numbers=None if numbers is None else np.concatenate([numbers, numbers[back]]),
    )
    return Cut(result, back, place[back])


def _at(point: NDArray[np.float64]) -> str:
    """Return a place in words."""
    return f"({', '.join(f'{x:.4g}' for x in point)}) m"
