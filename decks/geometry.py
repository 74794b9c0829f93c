"""The mesh of a deck, and groups of its nodes and faces that a scenario needs."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symplex.decks.discrete_keywords import DISCRETE
from symplex.errors import MeshError
from symplex.meshes.formats.abaqus import Numbered
from symplex.meshes.formats.abaqus_sets import Surface
from symplex.meshes.formats.collapsed import expand_collapsed
from symplex.meshes.formats.numbering import is_number
from symplex.meshes.formats.read import mesh_of_raw
from symplex.meshes.formats.sides import ABAQUS, faces_on_side
from symplex.meshes.kinds import FACE_KINDS, corners_of, dimension_of
from symplex.meshes.mesh import Mesh, take

_FLAT = 1e-6  # by how much directions of faces may differ that count as one
_NOT_IN_NAMES = str.maketrans(dict.fromkeys('",=*$', "_"))

ALONG, AGAINST = 1, 2  # sides of shells on which a pressure acts along, and against, the normal
_SIDES_OF_SHELLS = {"SNEG": ALONG, "SPOS": AGAINST}
_SIDES_OF_SOLIDS = {f"S{side}": side for side in range(1, 7)}
_NO_PIECES: Mapping[int, list[int]] = MappingProxyType({})

Face = tuple[int, ...]  # its nodes in the mesh


@dataclass(frozen=True)
class DeckGeometry:
    """The mesh of a deck with the numbers that the deck gives its nodes and elements.

    Attributes
    ----------
    mesh : Mesh
        In the unit of length of the deck, without nodes that belong to no volume cell.
    numbers : int64 [n]
        What the deck calls the nodes of the mesh.
    """

    mesh: Mesh
    numbers: NDArray[np.int64]
    _numbered: Numbered
    _groups: _Groups
    _of_structures: bool = False
    _pieces: Mapping[int, list[int]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        numbered: Numbered,
        name: str,
        *,
        require_volume: bool = True,
        of_structures: bool = False,
        pieces: Mapping[int, list[int]] = _NO_PIECES,
    ) -> DeckGeometry:
        """Return the geometry of a deck, which must have volume cells if that is required.

        Shells of structures have sides: on ``ALONG`` a pressure acts along the normal, on ``AGAINST`` against it.
        Elements of the deck may have become several, ``pieces`` by their numbers.

        Raises
        ------
        MeshError
            If it has neither volume cells nor only springs, bars, dashpots and masses, or refers to what is not there.
        """
        solid = any(kind not in DISCRETE for kind in numbered.types)
        # Surfaces of shells would be more shells, and springs and connectors more beams.
        drawn = numbered
        if of_structures:
            blocks = [(t, e) for t, e in zip(numbered.types, numbered.elements, strict=True) if t not in DISCRETE]
            surfaces = [one for one in numbered.surfaces if one.of_nodes]
            types, elements = [t for t, _ in blocks], [e for _, e in blocks]
            drawn = numbered._replace(surfaces=surfaces, types=types, elements=elements)
        mesh = mesh_of_raw(drawn.raw({}), name, require_volume=require_volume and solid)
        mesh = replace(
            mesh,
            cell_groups={_writable(group): members for group, members in mesh.cell_groups.items()},
            point_groups={_writable(group): members for group, members in mesh.point_groups.items()},
            formulations={},
        )
        return cls(mesh, numbered.ids, numbered, _Groups(mesh), of_structures, pieces)

    # -- what a deck refers to ------------------------------------------------------------------------------------

    def nodes(self, who: str) -> NDArray[np.int64]:
        """Return the places of a node, by number, or of a set of nodes.

        Raises
        ------
        MeshError
            If there is none.
        """
        numbered = self._numbered
        return numbered.nodes.places(_members(numbered.node_sets, who), f"'{who}'")

    def _are_shells(self, who: str) -> bool:
        """Return whether all elements of a set are shells."""
        shells = [numbers for numbers, _ in self.cells(("quad", "triangle")).values()]
        return bool(shells) and bool(np.isin(self._members_of(who), np.concatenate(shells)).all())

    def sides(self, who: str, side: int | None) -> list[tuple[int, int]]:
        """Return numbers and sides of elements: on one side of an element or a set, or those of a surface (side 0).

        Raises
        ------
        MeshError
            If there is no such set or surface, the surface is not one of numbered sides, or no side is named (None).
        """
        if side is None and self._of_structures and not self.has_any([who]):
            side = ALONG
        elif side is None:
            raise MeshError(f"a load P, without the number of a side, is for shells, and '{who}' has others.")
        elif side in (1, 2) and self._of_structures and self._are_shells(who):
            side = ALONG if side == 1 else AGAINST
        elif side and self._of_structures and not np.isin(self._members_of(who), self.solids).all():
            raise MeshError(f"loads P{side} on beams and shells ('{who}') are not supported; give forces to nodes.")
        if side:
            return [(number, side) for number in self._members_of(who).tolist()]
        surface = next((s for s in self._numbered.surfaces if s.name.upper() == who.upper()), None)
        sides = {**_SIDES_OF_SOLIDS, **_SIDES_OF_SHELLS} if self._of_structures else _SIDES_OF_SOLIDS
        if surface is None or surface.of_nodes or any(label not in sides for _, label in surface.items):
            raise MeshError(f"'{who}' is no surface of sides of elements.")
        return [(number, sides[label]) for item, label in surface.items for number in self._members_of(item).tolist()]

    def surface_nodes(self, who: str) -> NDArray[np.int64]:
        """Return the places of the nodes of a surface, of nodes or of sides of elements.

        Raises
        ------
        MeshError
            If there is no such surface.
        """
        surface = next((s for s in self._numbered.surfaces if s.name.upper() == who.upper()), None)
        if surface is None:
            raise MeshError(f"there is no surface '{who}'.")
        if surface.of_nodes:
            return self._numbered.nodes.places(surface.nodes(self._numbered.node_sets), f"'{who}'")
        if self._of_structures and not all(self.has_any([item]) for item, _ in surface.items):
            return self._nodes_of_items(surface)
        faces = self.faces(self.sides(who, 0))
        if not faces:
            raise MeshError(f"the surface '{who}' has no faces of solid elements.")
        return np.unique(np.concatenate([np.array(face) for face in faces]))

    def _nodes_of_items(self, surface: Surface) -> NDArray[np.int64]:
        """Return the places of the nodes of a surface of beams, of shells, or of edges of these."""
        found: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
        for item, label in surface.items:
            members = self._members_of(item)
            edge = int(label[1:]) if re.fullmatch(r"E[1-4]", label) else 0
            if not edge and label and label not in _SIDES_OF_SHELLS:
                raise MeshError(f"the surface '{surface.name}' has a side '{label}', which beams and shells have not.")
            if edge and any(number in self._pieces for number in members.tolist()):
                raise MeshError(f"the surface '{surface.name}' has edges of quadratic shells; give it by nodes.")
            for numbers, cells in self.cells(("line", "quad", "triangle")).values():
                rows = cells[np.isin(numbers, members)]
                if edge and len(rows) and edge > rows.shape[1]:
                    raise MeshError(f"the surface '{surface.name}' has a side '{label}', which its elements have not.")
                found.append((rows[:, [edge - 1, edge % rows.shape[1]]] if edge else rows).ravel())
        return np.unique(np.concatenate(found))

    def faces_of_surface(self, who: str) -> list[Face]:
        """Return the faces of a surface, none of one of nodes."""
        surface = next((s for s in self._numbered.surfaces if s.name.upper() == who.upper()), None)
        return [] if surface is not None and surface.of_nodes else self.faces(self.sides(who, 0))

    @cached_property
    def in_elements(self) -> NDArray[np.bool_]:
        """Which nodes [n] belong to solid elements."""
        used = np.zeros(len(self.mesh.points), bool)
        for kind in self.mesh.volume_types:
            used[self.mesh.cells[kind]] = True
        return used

    @cached_property
    def solids(self) -> NDArray[np.int64]:
        """The numbers of all solid elements."""
        found = [t[:, 0] for kind, t in self._numbered.elements if dimension_of(kind) == 3]
        return np.concatenate([np.empty(0, np.int64), *found])

    def has_all(self, sets: Iterable[str]) -> bool:
        """Return whether some elements and sets of elements are all solid elements together."""
        return bool(np.isin(self.solids, self.elements(sets)).all())

    def has_any(self, sets: Iterable[str]) -> bool:
        """Return whether there is any solid element among some elements and sets of elements."""
        return bool(np.isin(self.solids, self.elements(sets)).any())

    def nodes_of_elements(self, sets: Iterable[str]) -> NDArray[np.int64]:
        """Return the places of the nodes of the solid elements among some elements and sets of elements."""
        numbers = self.elements(sets)
        found = [
            self._numbered.nodes.places(table[np.isin(table[:, 0], numbers), 1:].ravel(), f"a {kind} cell")
            for kind, table in self._numbered.elements
            if dimension_of(kind) == 3
        ]
        return np.unique(np.concatenate(found))

    def elements(self, sets: Iterable[str]) -> NDArray[np.int64]:
        """Return the numbers of some elements and of those of sets of elements."""
        return np.concatenate([self._members_of(who) for who in sets])

    def _members_of(self, who: str) -> NDArray[np.int64]:
        """Return the numbers of an element, which may be several pieces, or of the elements of a set."""
        members = _members(self._numbered.element_sets, who)
        pieces = self._pieces.get(int(members[0])) if is_number(who) else None
        return members if pieces is None else np.array(pieces, np.int64)

    def faces(self, sides: Iterable[tuple[int, int]]) -> list[Face]:
        """Return the faces on sides of elements, outward.

        Raises
        ------
        MeshError
            If an element has no such side.
        """
        requested: dict[int, list[int]] = {}
        for number, side in sides:
            requested.setdefault(side, []).append(number)
        found: list[Face] = []
        for side, numbers in requested.items():
            for kind, table in self._numbered.elements:
                chosen = table[np.isin(table[:, 0], numbers)]
                if len(chosen) and dimension_of(kind) == 3:
                    cells = self._numbered.nodes.places(chosen[:, 1:], f"a {kind} cell")
                    _, rows = faces_on_side(ABAQUS, kind, cells, side)
                    found += [tuple(row) for row in rows.tolist()]
        return found

    def by_direction(self, faces: list[Face]) -> list[tuple[NDArray[np.float64], list[Face]]] | None:
        """Return flat faces by their outward directions; None if one is not flat."""
        groups: list[tuple[NDArray[np.float64], list[Face]]] = []
        for face in faces:
            corners = corners_of(FACE_KINDS[len(face)], np.array([face]))[0]
            points = self.mesh.points[list(face)]
            x = self.mesh.points[corners]
            normal = np.cross(x[2] - x[0], x[-1] - x[1]) if len(x) == 4 else np.cross(x[1] - x[0], x[2] - x[0])
            size = np.sqrt(np.linalg.norm(normal))
            normal = normal / np.linalg.norm(normal)
            if np.abs((points - x[0]) @ normal).max() > _FLAT * size:
                return None
            for other, members in groups:
                if np.abs(other - normal).max() < _FLAT:
                    members.append(face)
                    break
            else:
                groups.append((normal, [face]))
        return groups

    def discrete(self, who: str | None = None, *, only: bool = True) -> Iterator[tuple[int, str, list[int]]]:
        """Yield number, type and nodes of elements of lines and single nodes: of an element or a set, or all.

        Raises
        ------
        MeshError
            If there is no such set, or where there must be ``only`` these in it, an element is another one.
        """
        numbered = self._numbered
        requested = None if who is None else {*_members(numbered.element_sets, who).tolist()}
        for kind, (cell, table) in zip(numbered.types, numbered.elements, strict=True):
            if dimension_of(cell) > 1:
                continue
            rows = table if requested is None else table[np.isin(table[:, 0], [*requested])]
            nodes = numbered.nodes.places(rows[:, 1:], f"a {kind} element")
            for number, places in zip(rows[:, 0].tolist(), nodes.tolist(), strict=True):
                if requested is not None:
                    requested.remove(number)
                yield number, kind, places
        if requested and only:
            raise MeshError(f"element {min(requested)} of '{who}' is no spring, dashpot or mass.")

    def length(self, pair: tuple[int, int]) -> float:
        """Return how far two nodes, by their places, are from each other."""
        a, b = pair
        return float(np.linalg.norm(self.mesh.points[b] - self.mesh.points[a]))

    def types_of(self, nodes: NDArray[np.int64]) -> list[str]:
        """Return what the deck calls the types of the solid elements that have any of some nodes, each once."""
        numbered = self._numbered
        chosen = numbered.ids[nodes]
        found = zip(numbered.types, numbered.elements, strict=True)
        return sorted({name for name, (kind, t) in found if dimension_of(kind) == 3 and np.isin(t[:, 1], chosen).any()})

    # -- groups ---------------------------------------------------------------------------------------------------

    def point_group(self, nodes: Iterable[int], name: str) -> str:
        """Return the name of a group of nodes: one of the deck, or a new one, named after ``name``."""
        return self._groups.of_points(np.unique(np.fromiter(nodes, np.int64)), name)

    def element_group(self, sets: Iterable[str], name: str) -> str:
        """Return the name of a new group of the solid elements of some sets, named after ``name``."""
        numbers = self.elements(sets)
        blocks: dict[str, list[NDArray[np.int64]]] = {}
        for kind, table in self._numbered.elements:
            if dimension_of(kind) == 3:
                blocks.setdefault(kind, []).append(table[:, 0])
        chosen = {kind: np.flatnonzero(np.isin(np.concatenate(parts), numbers)) for kind, parts in blocks.items()}
        return self._groups.of_cells({kind: index for kind, index in chosen.items() if len(index)}, _writable(name))

    def cell_group(self, kinds: Collection[str], numbers: Iterable[int], name: str) -> str:
        """Return the name of a new group of the cells of some kinds with some numbers, named after ``name``."""
        chosen = np.fromiter(numbers, np.int64)
        rows = {kind: np.flatnonzero(np.isin(own, chosen)) for kind, (own, _) in self.cells(kinds).items()}
        return self._groups.of_cells({kind: index for kind, index in rows.items() if len(index)}, name)

    def with_parts(
        self, kinds: Collection[str], name: str, parts: Iterable[tuple[dict[str, Any], Iterable[int]]]
    ) -> dict[str, Any]:
        """Return the key ``parts`` of a table, of what differs and the numbers of elements, if there are any."""
        found = [
            {"group": self.cell_group(kinds, numbers, f"{name}_{k}"), **table}
            for k, (table, numbers) in enumerate(parts, start=2)
        ]
        return {"parts": found} if found else {}

    def cells(self, kinds: Collection[str]) -> dict[str, tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Return the numbers [m] of the elements of some kinds of cells, and the places of their nodes [m, k]."""
        found: dict[str, tuple[NDArray[np.int64], NDArray[np.int64]]] = {}
        for kind in kinds:
            blocks = zip(self._numbered.types, self._numbered.elements, strict=True)
            tables = [table for name, (cell, table) in blocks if cell == kind and name not in DISCRETE]
            if tables:
                table = np.concatenate(tables)
                found[kind] = table[:, 0], self._numbered.nodes.places(table[:, 1:], f"a {kind} cell")
        return found

    def group_of_nodes(self, nodes: NDArray[np.int64], name: str) -> str:
        """Return the name of a new group of the solid elements that have all their nodes among some."""
        own = np.zeros(len(self.mesh.points), bool)
        own[nodes] = True
        chosen = {kind: np.flatnonzero(own[self.mesh.cells[kind]].all(axis=1)) for kind in self.mesh.volume_types}
        return self._groups.of_cells({kind: index for kind, index in chosen.items() if len(index)}, name)

    def face_group(self, faces: list[Face], name: str) -> str:
        """Return the name of a new group of faces, named after ``name``."""
        return self._groups.of_faces(faces, name)

    def whole(self) -> tuple[Mesh, NDArray[np.int64]]:
        """Return the mesh with all groups that were asked for, and the numbers of its nodes in the deck."""
        mesh = expand_collapsed(self._groups.added_to(self.mesh))
        if self._of_structures or not mesh.volume_types:  # bars and springs alone
            return mesh, self.numbers
        used = np.zeros(len(mesh.points), bool)
        for kind in mesh.volume_types or ["line"]:
            used[mesh.cells[kind]] = True
        kept = {kind: np.flatnonzero(used[cells].all(axis=1)) for kind, cells in mesh.cells.items()}
        nodes = np.flatnonzero(used)
        return take(mesh, nodes, kept), self.numbers[nodes]


class _Groups:
    """Groups that are added to those of a mesh."""

    def __init__(self, mesh: Mesh):
        self._known = dict(mesh.point_groups)
        self._taken = {name.upper() for name in mesh.groups}
        self._points: dict[str, NDArray[np.int64]] = {}
        self._faces: dict[str, list[Face]] = {}
        self._cells: dict[str, dict[str, NDArray[np.int64]]] = {}
        self._new: dict[tuple[str, Face], int] = {}

    def of_points(self, nodes: NDArray[np.int64], name: str) -> str:
        for known, members in (*self._known.items(), *self._points.items()):
            if len(members) == len(nodes) and np.array_equal(members, nodes):
                return known
        name = self._free(name)
        self._points[name] = nodes
        return name

    def of_faces(self, faces: list[Face], name: str) -> str:
        for known, members in self._faces.items():
            if members == faces:
                return known
        name = self._free(name)
        self._faces[name] = faces
        return name

    def of_cells(self, cells: dict[str, NDArray[np.int64]], name: str) -> str:
        for known, members in self._cells.items():
            if members.keys() == cells.keys() and all(np.array_equal(members[k], cells[k]) for k in cells):
                return known
        name = self._free(name)
        self._cells[name] = cells
        return name

    def _free(self, name: str) -> str:
        k, free = 1, name
        while free.upper() in self._taken:
            k += 1
            free = f"{name}_{k}"
        self._taken.add(free.upper())
        return free

    def added_to(self, mesh: Mesh) -> Mesh:
        """Return a mesh with these groups; faces that it has already are not added again."""
        cells = {kind: [c] for kind, c in mesh.cells.items()}
        place: dict[frozenset[int], int] = {}
        count: dict[str, int] = {}
        for kind in FACE_KINDS.values():
            known = mesh.cells.get(kind, np.empty((0, 0), np.int32))
            count[kind] = len(known)
            place |= {frozenset(row): k for k, row in enumerate(known.tolist())}
        groups = {name: dict(members) for name, members in mesh.cell_groups.items()}
        groups |= {
            name: {kind: index.astype(np.int32) for kind, index in members.items()}
            for name, members in self._cells.items()
        }
        for name, faces in self._faces.items():
            members: dict[str, list[int]] = {}
            for face in faces:
                kind, key = FACE_KINDS[len(face)], frozenset(face)
                if key not in place:
                    place[key] = count[kind]
                    count[kind] += 1
                    cells.setdefault(kind, []).append(np.array([face], np.int32))
                members.setdefault(kind, []).append(place[key])
            groups[name] = {kind: np.unique(index).astype(np.int32) for kind, index in members.items()}
        points = {name: nodes.astype(np.int32) for name, nodes in self._points.items()}
        joined = {kind: np.concatenate(parts) for kind, parts in cells.items()}
        known = {kind: mesh.cell_numbers.get(kind, np.empty(0, np.int64)) for kind in joined}
        numbers = {kind: np.pad(known[kind], (0, len(joined[kind]) - len(known[kind]))) for kind in joined}
        return replace(
            mesh, cells=joined, cell_groups=groups, point_groups={**mesh.point_groups, **points}, cell_numbers=numbers
        )


def _members(sets: Mapping[str, NDArray[np.int64]], who: str) -> NDArray[np.int64]:
    if is_number(who):
        return np.array([int(who)], np.int64)
    requested = who.strip('"').upper()
    by_upper = {name.upper(): members for name, members in sets.items()}
    for name in (requested, requested.rpartition(".")[2]):
        if name in by_upper:
            return by_upper[name]
    raise MeshError(f"there is no set '{who}'.")


def _writable(name: str) -> str:
    return name.strip().translate(_NOT_IN_NAMES) or "_"
