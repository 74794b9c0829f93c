"""Reading the meshes of Radioss starter files: nodes, solid and shell elements, parts and groups of nodes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from symplex.errors import MeshError
from symplex.meshes.formats.by_parts import Parts, whole
from symplex.meshes.formats.includes import Includes
from symplex.meshes.formats.raw import RawMesh

# Types of cells and their numbers of nodes by keywords.
_ELEMENTS = {
    "BRICK": ("hexahedron", 8),
    "TETRA4": ("tetra", 4),
    "TETRA10": ("tetra10", 10),
    "PENTA6": ("wedge", 6),
    "SHELL": ("quad", 4),
    "SH3N": ("triangle", 3),
}
_UNKNOWN = ("BRIC20", "SHEL16", "QUAD", "TRIA")
_MOVE = ("TRANSFORM", "SUBMODEL")


def read_radioss(path: Path) -> RawMesh:
    """Return nodes and elements of a starter file; parts and groups of nodes are sets, by their titles.

    Raises
    ------
    MeshError
        If it has elements that are not known, or meshes are moved by keywords.
    ValueError
        If a line is not what its keyword asks for.
    """
    parts = Parts()
    for words, lines in _blocks(path):
        word = words[0]
        if word == "NODE":
            for line in lines:
                parts.add_node(_fields(line, (10, 20, 20, 20)))
        elif word in _ELEMENTS:
            _take_elements(parts, word, _number(words), lines)
        elif word in _UNKNOWN:
            raise MeshError(f"elements /{word} are not known.")
        elif word == "PART" and lines:
            parts.names[_number(words)] = lines[0].strip()
        elif words[:2] == ["GRNOD", "NODE"] and lines:
            name = lines[0].strip() or f"group_{_number(words[1:])}"
            members = [whole(word) for line in lines[1:] for word in _fields(line, (10,)) if word]
            parts.sets.setdefault(name, []).extend(members)
        elif word in _MOVE:
            raise MeshError(f"it uses /{word}, which is not supported; write the whole mesh out.")
    return parts.mesh()


def _number(words: list[str]) -> int:
    if len(words) < 2:
        raise ValueError(f"a /{words[0]} has no number")
    return whole(words[1])


def _blocks(path: Path) -> Iterator[tuple[list[str], list[str]]]:
    """Yield keywords, as the words between their slashes, with the lines below them."""
    words: list[str] = []
    lines: list[str] = []
    for line in _lines(path, (), Includes(path)):
        if not line.startswith("/"):
            lines.append(line)
            continue
        if words:
            yield words, lines
        words, lines = line[1:].upper().strip().split("/"), []
        if words[0] == "END":
            return
    if words:
        yield words, lines


def _lines(path: Path, within: tuple[Path, ...], includes: Includes) -> Iterator[str]:
    """Yield the lines of a file without comments, a ``#include`` as the lines of its file."""
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        for text in file:
            line = text.rstrip()
            if line.lower().startswith("#include"):
                inner, outer = includes.found(line[8:].strip(), path, within)
                yield from _lines(inner, outer, includes)
            elif line.strip() and not line.startswith(("#", "$")):
                yield line


def _fields(line: str, widths: tuple[int, ...]) -> list[str]:
    """Return the fields of a line: of given widths, the last of which repeats, or between blanks."""
    found, at, k = [], 0, 0
    while at < len(line):
        width = widths[min(k, len(widths) - 1)]
        found.append(line[at : at + width].strip())
        at, k = at + width, k + 1
    return line.split() if any(" " in word for word in found) else found


def _take_elements(parts: Parts, word: str, part: int, lines: list[str]) -> None:
    kind, k = _ELEMENTS[word]
    rows = iter(lines)
    for line in rows:
        number, *nodes = (whole(field) for field in _fields(line, (10,)) if field)
        if not nodes:  # they are in the next line
            nodes = [whole(field) for field in _fields(next(rows, ""), (10,)) if field]
        if len(nodes) < k:
            raise ValueError(f"element {number} of /{word} has {len(nodes)} nodes, not {k}")
        parts.add(kind, number, part, nodes[:k])
