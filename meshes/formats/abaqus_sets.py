"""Sets and surfaces of Abaqus input files: members by number, by range, by other sets; faces of elements by side."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from symplex.errors import MeshError
from symplex.meshes.formats.abaqus_deck import Block, Placement
from symplex.meshes.formats.numbering import Numbering, is_number, sorted_distinct
from symplex.meshes.formats.sides import ABAQUS, edges_on_side, faces_on_side
from symplex.meshes.kinds import dimension_of, face_corners, faces_of_cells
from symplex.meshes.mesh import first_alike, rows_among

Elements = Sequence[tuple[str, NDArray[np.int64]]]  # blocks: the type of cells, numbers and nodes [m, k + 1]
# Kinds of surfaces that are no faces or nodes of a mesh: rigid obstacles and the like.
_ANALYTIC = ("SEGMENTS", "CYLINDER", "REVOLUTION", "USER", "EULERIAN MATERIAL")


class _Set(NamedTuple):
    """The first n of what was added to a set."""

    key: tuple[str, str]
    n: int


@final
class Sets:
    """The sets of nodes or of elements of a deck. Names differ by more than the case of their letters."""

    def __init__(self, what: str):
        self._what = what
        self._parts: dict[str, str] = {}  # as first written
        self.prefixed = False  # whether names have that of their part in front even where none is like it
        # By part (none: the whole model) and name in capitals, the name as first written and the number of its items.
        self._names: dict[tuple[str, str], str] = {}
        self._counts: Counter[tuple[str, str]] = Counter()
        # What was added to which set, in order: numbers, ranges, other sets, and names of sets of elements whose nodes
        # are meant.
        self._items: list[tuple[tuple[str, str], NDArray[np.int64] | range | str | _Set]] = []

    def add(self, name: str, part: str, members: NDArray[np.int64] | range | str | _Set) -> None:
        """Add members to a set, which need not be there yet."""
        key = part.upper(), name.upper()
        self._parts.setdefault(part.upper(), part)
        self._names.setdefault(key, name)
        self._counts[key] += 1
        self._items.append((key, members))

    def take(self, block: Block, part: str) -> None:
        """Take an ``*NSET`` or ``*ELSET``."""
        name = block.parameter("NSET" if self._what == "node" else "ELSET")
        place = block.placement or block.members
        offset, whose = (place.offset, place.name) if place is not None else (0, part)
        members: list[NDArray[np.int64] | range | str | _Set]
        if self._what == "node" and block.parameters.get("ELSET"):
            members = [block.parameters["ELSET"]]
        elif "GENERATE" in block.parameters:
            members = [_range(line, offset) for line in block.lines]
        else:
            items = block.items()
            members = [self._as_it_is(item, whose) for item in items if not is_number(item)]
            members.append(np.array([int(item) + offset for item in items if is_number(item)], np.int64))
        for item in members:
            self.add(name, part, item)

    def _as_it_is(self, item: str, part: str) -> _Set:
        """Return what a set is by now; what it gets later on does not belong to it here."""
        for where in (part.upper(), ""):
            key = where, item.strip('"').upper()
            if key in self._names:
                return _Set(key, self._counts[key])
        raise MeshError(f"a set refers to the set '{item}', which is not defined before it.")

    def resolved(
        self,
        known: Numbering,
        elements: Elements = (),
        element_sets: Mapping[str, NDArray[np.int64]] | None = None,
    ) -> dict[str, NDArray[np.int64]]:
        """Return the numbers of the members, ascending, by name: ``part.name`` if the whole model has that name, too.

        Parameters
        ----------
        known : Numbering
            The nodes or elements that there are.
        elements, element_sets
            Where nodes of elements are meant.
        """
        parts: dict[tuple[str, str], list[NDArray[np.int64]]] = {}
        for key, item in self._items:
            if isinstance(item, range):
                found = known.within(item)
            elif isinstance(item, str):
                found = _nodes_of(elements, _named(element_sets or {}, item, self._names[key]))
            elif isinstance(item, _Set):
                found = _joined(parts[item.key][: item.n])
            else:
                found = item
            parts.setdefault(key, []).append(found)
        named: dict[str, NDArray[np.int64]] = {}
        for key, found in parts.items():
            (part, upper), name = key, self._names[key]
            members = sorted_distinct(_joined(found))
            if len(missing := members[~known.has(members)]):
                raise MeshError(f"set '{name}' refers to a {self._what} that the file does not define, {missing[0]}.")
            taken = (part and (self.prefixed or ("", upper) in parts)) or name in named
            named[f"{self._parts[part]}.{name}" if taken else name] = members
        return named


@dataclass(frozen=True)
class Surface:
    """A surface: data lines of a set or number and what stands behind the comma, the side.

    Attributes
    ----------
    name : str
    of_nodes : bool
        Whether it is one of nodes.
    items : list of (str, str)
    """

    name: str
    of_nodes: bool
    items: list[tuple[str, str]]

    def nodes(self, sets: Mapping[str, NDArray[np.int64]]) -> NDArray[np.int64]:
        """Return the numbers of the nodes of a surface of nodes."""
        found = [_members(sets, item, self.name) for item, _ in self.items]
        return sorted_distinct(_joined(found))

    def faces(
        self, elements: Elements, sets: Mapping[str, NDArray[np.int64]]
    ) -> Iterator[tuple[str, NDArray[np.int64]]]:
        """Yield the types of the faces of a surface of elements, and their nodes [f, k], given as for the elements."""
        found: dict[str, list[NDArray[np.int64]]] = {}
        for item, side in () if self.of_nodes else self.items:
            chosen = _members(sets, item, self.name)
            n = 0
            for kind, table in elements:
                cells = table[np.isin(table[:, 0], chosen)][:, 1:]
                n += len(cells)
                for face_kind, rows in self._on_side(kind, cells, side, elements) if len(cells) else ():
                    found.setdefault(face_kind, []).append(rows)
            if n < len(chosen):
                raise MeshError(f"surface '{self.name}' refers to an element that the file does not define.")
        for kind, parts in found.items():
            rows = np.concatenate(parts)
            yield kind, rows[first_alike(rows.astype(np.int32)) == np.arange(len(rows))]

    def _on_side(
        self, kind: str, cells: NDArray[np.int64], side: str, elements: Elements
    ) -> list[tuple[str, NDArray[np.int64]]]:
        dim = dimension_of(kind)
        if dim == 3 and re.fullmatch(r"S[1-6]", side):
            return [faces_on_side(ABAQUS, kind, cells, int(side[1]))]
        if dim == 3 and side == "":
            return list(_free_faces(kind, cells, elements))
        if dim == 2 and side in ("", "SPOS", "SNEG", "S1", "S2"):
            return [(kind, cells)]
        # Edges: E1 … in Abaqus; S3 … in CalculiX, after both faces.
        if dim == 2 and re.fullmatch(r"E[1-4]|S[3-6]", side):
            return [edges_on_side(kind, cells, int(side[1]) - 2 * (side[0] == "S"))]
        if dim == 1:
            return [(kind, cells)]
        raise MeshError(f"surface '{self.name}' has the side '{side}' of {kind} cells, which is not supported.")


def surface_of(block: Block) -> list[Surface]:
    """Return the surface that a ``*SURFACE`` defines; none of one that is not made of elements or nodes."""
    kind = block.parameters.get("TYPE", "ELEMENT").upper()
    if kind in _ANALYTIC:
        return []
    name = block.parameter("NAME")
    others = [key for key in ("COMBINE", "CROP") if key in block.parameters]
    if others or kind not in ("ELEMENT", "NODE"):
        how = others[0] if others else f"TYPE={kind}"
        raise MeshError(f"surface '{name}' is one with {how}, which is not supported; write it as faces of elements.")
    items = []
    for line in block.lines:
        item, *further = (word.strip() for word in line.split(","))
        if kind == "ELEMENT" and any(further[1:]):
            raise ValueError(f"a line of surface '{name}' is '{line[:60]}'")
        if block.placement is not None:
            item = of_instance(item, block.placement)
        items.append((item, further[0].upper() if further else ""))
    if block.placement is not None:
        name = of_instance(name, block.placement)
    return [Surface(name, kind == "NODE", items)]


def of_instance(item: str, placement: Placement) -> str:
    """Return what a number or a name within an instance is in the whole model."""
    return str(int(item) + placement.offset) if is_number(item) else f"{placement.name}.{item}"


def _free_faces(kind: str, cells: NDArray[np.int64], elements: Elements) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """Yield the faces of some cells that are faces of no other cell of the deck."""
    together: dict[str, list[NDArray[np.int64]]] = {}
    for other, table in elements:
        together.setdefault(other, []).append(table[:, 1:])
    of_all = faces_of_cells({other: np.concatenate(parts).astype(np.int32) for other, parts in together.items()})
    corners = face_corners(of_all)
    inner = corners[first_alike(corners) != np.arange(len(corners))]
    for face_kind, faces in faces_of_cells({kind: cells.astype(np.int32)}).items():
        yield face_kind, faces[~rows_among(face_corners({face_kind: faces}), inner)].astype(np.int64)


def _range(line: str, offset: int) -> range:
    """Return the numbers, larger by an offset, from a first to a last one by steps, which GENERATE gives."""
    words = [word.strip() for word in line.split(",") if word.strip()]
    if len(words) not in (2, 3) or not all(is_number(word) for word in words):
        raise ValueError(f"a range of a set is '{line[:60]}'")
    first, last, step = int(words[0]), int(words[1]), int(words[2]) if len(words) == 3 else 1
    if first > last or step < 1:
        raise ValueError(f"a range of a set is '{line[:60]}'")
    return range(first + offset, last + 1 + offset, step)


def _members(sets: Mapping[str, NDArray[np.int64]], item: str, surface: str) -> NDArray[np.int64]:
    return np.array([int(item)], np.int64) if is_number(item) else _named(sets, item, surface)


def _named(sets: Mapping[str, NDArray[np.int64]], item: str, who: str) -> NDArray[np.int64]:
    """Return the members of a set, named as in a deck: ``"Part-1.Set-1"``, in any case of letters."""
    requested = item.strip().strip('"').upper()
    by_upper = {name.upper(): members for name, members in sets.items()}
    for name in (requested, requested.rpartition(".")[2]):
        if name in by_upper:
            return by_upper[name]
    raise MeshError(f"'{who}' refers to the set '{item}', which is not defined.")


def _nodes_of(elements: Elements, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    parts = [table[np.isin(table[:, 0], numbers)][:, 1:].ravel() for _, table in elements]
    return sorted_distinct(_joined(parts))


def _joined(parts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.concatenate([np.empty(0, np.int64), *parts])
