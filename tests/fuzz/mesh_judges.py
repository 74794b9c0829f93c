"""What a mesh file of text says, by parsers that are written apart from the package: strict, plain and slow.

Each returns a `Said`, or raises `Invalid` for a text that says no mesh. Keywords and sections that say nothing about
the mesh are passed over, as the package does.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

Point = tuple[float, float, float]
# By Gmsh's numbers of types and Abaqus' names: dimension and number of nodes.
GMSH_TYPES = {1: (1, 2), 2: (2, 3), 3: (2, 4), 4: (3, 4), 5: (3, 8), 6: (3, 6), 7: (3, 5), 15: (0, 1)}
_SOLID = "(R|H|RH|I|IH|M|MH|T|HT|RT|P|PH|RP|RPH|E|RE)?"
ABAQUS_TYPES = {
    rf"C3D4{_SOLID}": (3, 4), rf"C3D8{_SOLID}": (3, 8), rf"C3D6{_SOLID}": (3, 6), rf"C3D5{_SOLID}": (3, 5),
    rf"C3D10{_SOLID}": (3, 10), r"(S|R3D|CPS|CPE|M3D)4([A-Z]\w*)?": (2, 4), r"(S|R3D|CPS|CPE|M3D)3([A-Z]\w*)?": (2, 3),
}  # fmt: skip
ABAQUS_SIDES = {
    4: ("1 2 3", "1 4 2", "2 4 3", "3 4 1"),
    8: ("1 2 3 4", "5 8 7 6", "1 5 6 2", "2 6 7 3", "3 7 8 4", "4 8 5 1"),
    6: ("1 2 3", "4 6 5", "1 4 5 2", "2 5 6 3", "3 6 4 1"),
    5: ("1 2 3 4", "1 5 2", "2 5 3", "3 5 4", "4 5 1"),
}
_REAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


class Invalid(Exception):
    """A text that says no mesh."""


@dataclass
class Said:
    """A mesh as a text says it: cells as (dimension, nodes), groups of cells and of points by name."""

    points: dict[int, Point] = field(default_factory=dict)
    cells: dict[int, tuple[int, tuple[int, ...]]] = field(default_factory=dict)
    cell_groups: dict[str, set[int]] = field(default_factory=dict)
    point_groups: dict[str, set[int]] = field(default_factory=dict)
    faces: dict[str, list[tuple[int, ...]]] = field(default_factory=dict)  # of surfaces
    merges: bool = False  # whether a cell that is there twice is one

    def seen(self) -> dict[str, Any]:
        """Return what can be compared with what was read."""
        for _, nodes in self.cells.values():
            require(all(node in self.points for node in nodes), "a cell refers to a node that is not there")
        place = {key: (dim, frozenset(self.points[node] for node in nodes)) for key, (dim, nodes) in self.cells.items()}
        solid = [key for key, (dim, _) in self.cells.items() if dim > 0]
        collapsed = any(len(set(nodes)) < len(nodes) for _, nodes in self.cells.values())
        cells = Counter(place[key] for key in solid)
        ordered = Counter((dim, tuple(self.points[n] for n in nodes)) for dim, nodes in map(self.cells.get, solid))  # pyright: ignore
        for faces in self.faces.values():
            cells.update({(2, frozenset(self.points[n] for n in nodes)) for nodes in faces})
        groups = {name: {place[key] for key in keys if place[key][0] > 0} for name, keys in self.cell_groups.items()}
        for name, faces in self.faces.items():
            groups.setdefault(name, set()).update((2, frozenset(self.points[n] for n in nodes)) for nodes in faces)
        points = {name: {self.points[n] for n in nodes} for name, nodes in self.point_groups.items()}
        for name, keys in self.cell_groups.items():
            for key in keys:
                if self.cells[key][0] == 0:
                    points.setdefault(name, set()).update(place[key][1])
        return {
            "points": Counter(self.points.values()),
            "cells": set(cells) if self.merges else cells,
            "ordered": None if collapsed or self.merges or self.faces else ordered,
            "cell groups": {name: members for name, members in groups.items() if members},
            "point groups": {name: members for name, members in points.items() if members},
        }


def seen_of(mesh: Any, like: Mapping[str, Any]) -> dict[str, Any]:
    """Return a mesh that was read as `Said.seen` does, with as much as another one has."""
    from symplex.meshes.kinds import dimension_of

    points = [tuple(x) for x in mesh.points.tolist()]
    rows = {
        kind: [(dimension_of(kind), tuple(points[n] for n in row)) for row in cells.tolist()]
        for kind, cells in mesh.cells.items()
    }
    place = {kind: [(dim, frozenset(nodes)) for dim, nodes in cells] for kind, cells in rows.items()}
    cells = Counter(cell for of_kind in place.values() for cell in of_kind)
    groups = {
        name: {place[kind][k] for kind, index in members.items() for k in index.tolist()}
        for name, members in mesh.cell_groups.items()
    }
    marks = {name: {points[n] for n in index.tolist()} for name, index in mesh.point_groups.items()}
    return {
        "points": Counter(points),
        "cells": set(cells) if isinstance(like["cells"], set) else cells,
        "ordered": None if like["ordered"] is None else Counter(c for of_kind in rows.values() for c in of_kind),
        "cell groups": {name: members for name, members in groups.items() if members},
        "point groups": {name: members for name, members in marks.items() if members},
    }


def require(condition: bool, why: str) -> None:
    """Raise Invalid unless a condition holds."""
    if not condition:
        raise Invalid(why)


def real(word: str) -> float:
    """Return a finite number."""
    require(_REAL.fullmatch(word) is not None and math.isfinite(float(word)), f"'{word}' is no number")
    return float(word)


def whole(word: str) -> int:
    """Return a whole number, of which 3.0 is one."""
    value = real(word)
    require(value == int(value), f"'{word}' is not whole")
    return int(value)


# -- Gmsh -------------------------------------------------------------------------------------------------------


def gmsh_sections(text: str) -> dict[str, list[list[str]]]:
    """Return the words of the lines of each section."""
    sections: dict[str, list[list[str]]] = {}
    name = None
    for line in text.split("\n"):
        words = line.split()
        if name is None:
            if not words:
                continue
            require(len(words) == 1 and words[0].startswith("$") and len(words[0]) > 1, f"'{line}' begins no section")
            name = words[0][1:]
            require(name not in sections, f"two sections {name}")
            sections[name] = []
        elif words and words[0].startswith("$End"):
            require(words == [f"$End{name}"], f"'{line}' does not end {name}")
            name = None
        elif words:
            sections[name].append([line] if name == "PhysicalNames" and len(sections[name]) > 0 else words)
    require(name is None, "cut short")
    return sections


def gmsh_names(lines: list[list[str]]) -> dict[tuple[int, int], str]:
    """Return the names of physical groups."""
    names: dict[tuple[int, int], str] = {}
    if not lines:
        return names
    require(len(lines[0]) == 1 and whole(lines[0][0]) == len(lines) - 1, "another number of names")
    for (line,) in lines[1:]:
        found = re.fullmatch(r'\s*([0-3])\s+(-?\d+)\s+(?:"([^"]*)"(?:\s+\w+)*|([^\s"]+))\s*', line)
        require(found is not None, f"'{line}' is no name")
        assert found is not None
        key = int(found[1]), abs(int(found[2]))
        require(key not in names, "two names")
        names[key] = found[3] if found[4] is None else found[4]
    return names


def gmsh_name(names: Mapping[tuple[int, int], str], dim: int, tag: int) -> str:
    """Return the name of a group, made for one that has none."""
    return names.get((dim, tag), f"{['point', 'curve', 'surface', 'volume'][dim]}_{tag}")


def new(table: dict, key: Any, value: Any) -> None:
    """Put something into a table in which it must not be; numbers begin with 1."""
    require(key not in table and key > 0, f"{key} twice, or below 1")
    table[key] = value


def gmsh22(text: str) -> Said:
    """Return what a Gmsh file of version 2.2 says."""
    sections = gmsh_sections(text)
    require(sections.get("MeshFormat", [[]])[0] in (["2.2", "0", "8"], ["2", "0", "8"]), "another format")
    require({"Nodes", "Elements"} <= set(sections), "nodes or elements are missing")
    names = gmsh_names(sections.get("PhysicalNames", []))
    said = Said(merges=True)
    head, *rows = sections["Nodes"] or [[]]
    require(len(head) == 1 and whole(head[0]) == len(rows), "another number of nodes")
    for row in rows:
        require(len(row) == 4, "a node without three coordinates")
        new(said.points, whole(row[0]), tuple(real(word) for word in row[1:]))
    head, *rows = sections["Elements"] or [[]]
    require(len(head) == 1 and whole(head[0]) == len(rows), "another number of elements")
    where: dict[tuple[int, int, frozenset[int]], int] = {}
    for row in rows:
        numbers = [whole(word) for word in row]
        require(len(numbers) >= 3 and numbers[1] in GMSH_TYPES, "no type")
        number, kind, n_tags = numbers[:3]
        dim, k = GMSH_TYPES[kind]
        require(n_tags >= 0 and len(numbers) == 3 + n_tags + k, "another number of nodes in an element")
        nodes = tuple(numbers[3 + n_tags :])
        alike = where.get((number, kind, frozenset(nodes)))
        if alike is None:
            new(said.cells, number, (dim, nodes))
            where[number, kind, frozenset(nodes)] = number
        if n_tags and numbers[3]:
            said.cell_groups.setdefault(gmsh_name(names, dim, abs(numbers[3])), set()).add(number)
    return said


def gmsh41(text: str) -> Said:
    """Return what a Gmsh file of version 4.1 says."""
    sections = gmsh_sections(text)
    require(sections.get("MeshFormat", [[]])[0] in (["4.1", "0", "8"], ["4", "0", "8"]), "another format")
    require({"Nodes", "Elements"} <= set(sections), "nodes or elements are missing")
    names = gmsh_names(sections.get("PhysicalNames", []))
    groups = gmsh_entities(sections["Entities"]) if "Entities" in sections else None
    said = Said()
    lines = iter(sections["Nodes"])
    n_blocks, n_nodes, _, _ = four(lines)
    for _ in range(n_blocks):
        dim, _, parametric, n = four(lines)
        require(0 <= dim <= 3 and parametric in (0, 1), "no dimension of nodes")
        ids = [number for _ in range(n) for number in map(whole, taken(lines, 1))]
        for node in ids:
            row = [real(word) for word in taken(lines, 3 + dim * parametric)]
            new(said.points, node, tuple(row[:3]))
    require(next(lines, None) is None and len(said.points) == n_nodes, "another number of nodes")
    lines = iter(sections["Elements"])
    n_blocks, n_elements, _, _ = four(lines)
    for _ in range(n_blocks):
        dim, entity, kind, n = four(lines)
        require(kind in GMSH_TYPES and GMSH_TYPES[kind][0] == dim, "no type of that dimension")
        require(groups is None or (dim, entity) in groups, "an entity that is not there")
        for _ in range(n):
            number, *nodes = (whole(word) for word in taken(lines, 1 + GMSH_TYPES[kind][1]))
            new(said.cells, number, (dim, tuple(nodes)))
            for tag in (groups or {}).get((dim, entity), []):
                said.cell_groups.setdefault(gmsh_name(names, dim, tag), set()).add(number)
    require(next(lines, None) is None and len(said.cells) == n_elements, "another number of elements")
    return said


def gmsh_entities(rows: Iterable[list[str]]) -> dict[tuple[int, int], list[int]]:
    """Return the physical groups of entities; numbers may be spread over lines as one likes."""
    words = iter([word for row in rows for word in row])

    def take(n: int) -> list[str]:
        found = [word for _, word in zip(range(n), words, strict=False)]
        require(n >= 0 and len(found) == n, "too few numbers of entities")
        return found

    counts = [whole(word) for word in take(4)]
    require(min(counts) >= 0, "fewer than no entities")
    groups: dict[tuple[int, int], list[int]] = {}
    for dim, count in enumerate(counts):
        for _ in range(count):
            key = dim, whole(take(1)[0])
            require(key not in groups, "an entity twice")
            for word in take(3 if dim == 0 else 6):
                real(word)
            groups[key] = [abs(whole(word)) for word in take(whole(take(1)[0]))]
            if dim:
                for word in take(whole(take(1)[0])):
                    whole(word)
    require(next(words, None) is None, "too many numbers of entities")
    return groups


def taken(lines: Any, n: int) -> list[str]:
    """Return the next line, of n words."""
    line = next(lines, None)
    require(line is not None and len(line) == n, f"a line does not have {n} numbers")
    return line  # pyright: ignore[reportReturnType]


def four(lines: Any) -> tuple[int, int, int, int]:
    """Return the next line, of four numbers, of which the last is a count or larger than nothing."""
    a, b, c, d = (whole(word) for word in taken(lines, 4))
    require(d >= 0, "a negative count")
    return a, b, c, d


# -- Abaqus -----------------------------------------------------------------------------------------------------

_FORBIDDEN = ("SYSTEM", "NGEN", "NFILL", "NCOPY", "NMAP", "ELGEN", "ELCOPY")


def abaqus(text: str) -> Said:
    """Return what an Abaqus input file says."""
    said = Said()
    node_sets: dict[str, set[int]] = {}
    element_sets: dict[str, set[int]] = {}
    written: dict[str, str] = {}
    surfaces: list[tuple[str, dict[str, str], list[list[str]]]] = []
    for keyword, parameters, rows in abaqus_blocks(text):
        if keyword == "NODE":
            require(parameters.get("SYSTEM", "R").upper() == "R", "another system")
            numbers = abaqus_nodes(said, rows)
            if "NSET" in parameters:
                grow(node_sets, written, "N", parameters["NSET"], numbers)
        elif keyword == "ELEMENT":
            kind = parameters.get("TYPE", "").upper()
            shape = next((shape for pattern, shape in ABAQUS_TYPES.items() if re.fullmatch(pattern, kind)), None)
            require(shape is not None, f"type {kind}")
            assert shape is not None
            numbers = abaqus_elements(said, rows, *shape)
            if "ELSET" in parameters:
                grow(element_sets, written, "E", parameters["ELSET"], numbers)
        elif keyword in ("NSET", "ELSET"):
            sets = node_sets if keyword == "NSET" else element_sets
            require(bool(parameters.get(keyword)), "a set without a name")
            members: set[int] = set()
            if keyword == "NSET" and parameters.get("ELSET"):
                chosen = element_sets[parameters["ELSET"].upper()]
                members = {node for number in chosen for node in said.cells[number][1]}
            elif "GENERATE" in parameters:
                for row in rows:
                    members |= {n for n in (said.points if keyword == "NSET" else said.cells) if n in abaqus_range(row)}
            else:
                for word in (word for row in rows for word in row if word):
                    members |= {int(word)} if word.isdecimal() else named(sets, word)
            grow(sets, written, keyword[0], parameters[keyword], members)
        elif keyword == "SURFACE":
            surfaces.append((keyword, parameters, rows))
        else:
            require(keyword not in _FORBIDDEN, keyword)
    for number in (n for members in node_sets.values() for n in members):
        require(number in said.points, "a set refers to a node that is not there")
    for number in (n for members in element_sets.values() for n in members):
        require(number in said.cells, "a set refers to an element that is not there")
    for _, parameters, rows in surfaces:
        abaqus_surface(said, parameters, rows, node_sets, element_sets)
    of_nodes, said.point_groups = said.point_groups, {}
    for upper, members in node_sets.items():
        said.point_groups[written["N" + upper]] = members
    for name, members in of_nodes.items():
        if node_sets.get(name.upper()) != members:
            said.point_groups[name + ".surface" * (name.upper() in node_sets)] = members
    for upper, members in element_sets.items():
        own = {node for number in members for node in said.cells[number][1]}
        other = upper in node_sets and node_sets[upper] != own
        said.cell_groups[written["E" + upper] + ".elements" * other] = members
    rename = {name.upper() for name in (*said.cell_groups, *said.point_groups)}
    said.faces = {name + ".surface" * (name.upper() in rename): faces for name, faces in said.faces.items()}
    return said


def abaqus_blocks(text: str) -> list[tuple[str, dict[str, str], list[list[str]]]]:
    """Return keywords, parameters, and the words of the data lines."""
    blocks: list[tuple[str, dict[str, str], list[list[str]]]] = []
    begun = ""
    for full in text.split("\n"):
        line = begun + full.strip()
        begun = ""
        if not line or line.startswith("**"):
            begun = "" if line else begun
            continue
        if not line.startswith("*"):
            if blocks:
                blocks[-1][2].append([word.strip() for word in line.split(",")])
            continue
        if line.endswith(","):
            begun = line
            continue
        keyword, *words = line[1:].split(",")
        parameters = {}
        for word in words:
            key, _, value = word.partition("=")
            parameters["".join(key.split()).upper()] = value.strip().strip('"')
        blocks.append((" ".join(keyword.upper().split()), parameters, []))
    return blocks


def grow(sets: dict[str, set[int]], written: dict[str, str], what: str, name: str, members: Iterable[int]) -> None:
    """Add members to a set, whose name is written as it was first."""
    require(bool(name), "a set without a name")
    written.setdefault(what + name.upper(), name)
    sets.setdefault(name.upper(), set()).update(members)


def named(sets: Mapping[str, set[int]], word: str) -> set[int]:
    """Return the members of a set."""
    require(word.strip('"').upper() in sets, f"no set {word}")
    return sets[word.strip('"').upper()]


def decimal(word: str) -> int:
    """Return a number of digits only."""
    require(word.isdecimal() and word.isascii() and int(word) > 0, f"'{word}' is no number of a node or an element")
    return int(word)


def abaqus_nodes(said: Said, rows: list[list[str]]) -> list[int]:
    """Take nodes."""
    numbers = []
    for row in rows:
        require(1 <= len(row) <= 8, "a node with more than seven numbers")
        x = [real(word.replace("D", "E").replace("d", "e")) if word else 0.0 for word in [*row[1:4], "", "", ""][:3]]
        numbers.append(decimal(row[0]))
        new(said.points, numbers[-1], tuple(x))
    return numbers


def abaqus_elements(said: Said, rows: list[list[str]], dim: int, k: int) -> list[int]:
    """Take elements, which may go on in the next line; what follows the last node in the first line is left out."""
    numbers, row = [], []
    for words in rows:
        found = [decimal(word) for word in (words[:-1] if words[-1] == "" else words)]
        row += found if row else found[: k + 1]
        require(len(row) <= k + 1, "an element with too many nodes")
        if len(row) == k + 1:
            numbers.append(row[0])
            new(said.cells, row[0], (dim, tuple(row[1:])))
            row = []
    require(not row, "an element with too few nodes")
    return numbers


def abaqus_range(row: list[str]) -> range:
    """Return the numbers of a line of GENERATE."""
    words = [word for word in row if word]
    require(len(words) in (2, 3) and all(word.isdecimal() for word in words), "no range")
    first, last, step = int(words[0]), int(words[1]), int(words[2]) if len(words) == 3 else 1
    require(first <= last and step > 0, "no range")
    return range(first, last + 1, step)


def abaqus_surface(
    said: Said,
    parameters: Mapping[str, str],
    rows: list[list[str]],
    node_sets: Mapping[str, set[int]],
    element_sets: Mapping[str, set[int]],
) -> None:
    """Take a surface."""
    kind, name = parameters.get("TYPE", "ELEMENT").upper(), parameters.get("NAME", "")
    if kind in ("SEGMENTS", "CYLINDER", "REVOLUTION", "USER", "EULERIAN MATERIAL"):
        return
    require(kind in ("ELEMENT", "NODE") and bool(name) and not {"COMBINE", "CROP"} & set(parameters), "no surface")
    for row in rows:
        members = (
            named(node_sets if kind == "NODE" else element_sets, row[0]) if not row[0].isdecimal() else {int(row[0])}
        )
        if kind == "NODE":
            require(all(n in said.points for n in members), "a surface of nodes that are not there")
            said.point_groups.setdefault(name, set()).update(members)
            continue
        side = row[1].upper() if len(row) > 1 else ""
        for number in members:
            require(number in said.cells, "a surface of an element that is not there")
            dim, nodes = said.cells[number]
            said.faces.setdefault(name, [])
            if dim == 2:
                require(side in ("", "SPOS", "SNEG", "S1", "S2"), "no side of a shell")
                said.faces[name].append(nodes)
            elif dim == 3 and side == "":
                said.faces[name] += [face for face in faces_of(nodes) if alone(said, face)]
            else:
                sides = ABAQUS_SIDES.get(len(nodes), ()) if dim == 3 else ()
                require(re.fullmatch(r"S[1-6]", side) is not None and int(side[1]) <= len(sides), "no side")
                said.faces[name].append(tuple(nodes[int(k) - 1] for k in sides[int(side[1]) - 1].split()))


def faces_of(nodes: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return the faces of a cell."""
    return [tuple(nodes[int(k) - 1] for k in side.split()) for side in ABAQUS_SIDES.get(len(nodes), ())]


def alone(said: Said, face: tuple[int, ...]) -> bool:
    """Return whether a face belongs to one volume cell only."""
    cells = [nodes for dim, nodes in said.cells.values() if dim == 3]
    return sum(set(face) == set(other) for nodes in cells for other in faces_of(nodes)) == 1


JUDGES = {"gmsh 2.2 text": gmsh22, "gmsh 4.1 text": gmsh41, "abaqus": abaqus}
