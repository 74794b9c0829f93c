"""Reading the meshes of LS-DYNA decks: nodes, solid and shell elements, parts and sets of nodes as groups."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from symplex.errors import MeshError
from symplex.meshes.formats.by_parts import Parts, whole
from symplex.meshes.formats.includes import Includes
from symplex.meshes.formats.raw import RawMesh

_NODE = (8, 16, 16, 16)  # widths of fields
_SOLIDS = {4: "tetra", 6: "wedge", 8: "hexahedron", 10: "tetra10"}
_MOVE = ("NODE_TRANSFORM", "INCLUDE_TRANSFORM", "ELEMENT_GENERATE_SOLID", "DEFINE_TRANSFORMATION")


def read_lsdyna(path: Path) -> RawMesh:
    """Return nodes, solids and shells of a keyword deck; parts and sets of nodes are sets, by their titles.

    Raises
    ------
    MeshError
        If fields are wider than the standard (``LONG``), or meshes are generated or moved by keywords.
    ValueError
        If a line is not what its keyword asks for.
    """
    parts = Parts()
    for word, lines in _blocks(path):
        if word == "NODE":
            for line in lines:
                parts.add_node(_fields(line, _NODE))
        elif word.startswith("ELEMENT_SOLID"):
            _take_solids(parts, lines)
        elif word in ("ELEMENT_SHELL", "ELEMENT_SHELL_THICKNESS"):
            _take_shells(parts, lines[:: 2 if word.endswith("THICKNESS") else 1])
        elif word == "PART":
            for title, line in zip(lines[::2], lines[1::2], strict=False):
                parts.names[whole(_fields(line, (10,))[0])] = title.strip()
        elif word in ("SET_NODE_LIST", "SET_NODE_LIST_TITLE", "SET_NODE"):
            _take_set(parts, word, lines)
        elif word in _MOVE:
            raise MeshError(f"it uses *{word}, which is not supported; write the whole mesh out.")
    return parts.mesh()


def _blocks(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield keywords with the lines below them."""
    word, lines = "", []
    for line in _lines(path, (), Includes(path)):
        if not line.startswith("*"):
            lines.append(line)
            continue
        if word:
            yield word, lines
        words = line[1:].upper().split()
        word, lines = words[0] if words else "", []
        long = [option for option in words[1:] if option.startswith("LONG=") and option != "LONG=S"]
        if long or "%" in words:
            raise MeshError("its fields are wider than the standard (LONG); write it in the standard format.")
        if word == "END":
            return
    if word:
        yield word, lines


def _lines(path: Path, within: tuple[Path, ...], includes: Includes) -> Iterator[str]:
    """Yield the lines of a file without comments, an ``*INCLUDE`` as the lines of its file.

    Empty lines are left out, but where they may be titles.
    """
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        named = titled = False
        for text in file:
            line = text.rstrip()
            if line.startswith("$") or not (line.strip() or titled):
                continue
            if line.startswith("*"):
                word = line.upper().split()[0]
                named, titled = word == "*INCLUDE", word == "*PART" or word.endswith("_TITLE")
            elif named:
                inner, outer = includes.found(line.strip(), path, within)
                yield from _lines(inner, outer, includes)
                continue
            if not named:
                yield line


def _fields(line: str, widths: tuple[int, ...]) -> list[str]:
    """Return the fields of a line: between commas, or of given widths, the last of which repeats."""
    if "," in line:
        return [word.strip() for word in line.split(",")]
    found, at, k = [], 0, 0
    while at < len(line) and k < len(widths) + 20:
        width = widths[min(k, len(widths) - 1)]
        found.append(line[at : at + width].strip())
        at, k = at + width, k + 1
    return found


def _take_solids(parts: Parts, lines: list[str]) -> None:
    rows = iter(lines)
    for line in rows:
        number, part, *rest = _numbers(line)
        if not rest:  # nodes are in the next line
            rest = _numbers(next(rows, ""))
        nodes = _without_repetition([node for node in rest if node])
        if len(nodes) not in _SOLIDS:
            raise ValueError(f"solid {number} has {len(nodes)} nodes")
        parts.add(_SOLIDS[len(nodes)], number, part, nodes)


def _without_repetition(nodes: list[int]) -> list[int]:
    """Return the nodes of a tetrahedron that is written as a hexahedron, its last node five times, or those given."""
    return nodes[:4] if len(nodes) == 8 and len({*nodes[3:]}) == 1 else nodes


def _take_shells(parts: Parts, lines: list[str]) -> None:
    for line in lines:
        number, part, *rest = _numbers(line)
        nodes = [node for node in rest[:4] if node]
        if len(nodes) == 4 and nodes[2] == nodes[3]:
            nodes.pop()
        if len(nodes) not in (3, 4):
            raise ValueError(f"shell {number} has {len(nodes)} nodes")
        parts.add("triangle" if len(nodes) == 3 else "quad", number, part, nodes)


def _take_set(parts: Parts, word: str, lines: list[str]) -> None:
    title = lines.pop(0).strip() if word.endswith("TITLE") and lines else ""
    if not lines:
        raise ValueError(f"a *{word} is empty")
    number = whole(_fields(lines[0], (10,))[0])
    members = [whole(word) for line in lines[1:] for word in _fields(line, (10,)) if word]
    parts.sets.setdefault(title or f"set_{number}", []).extend(member for member in members if member)


def _numbers(line: str) -> list[int]:
    found = [whole(word) if word else 0 for word in _fields(line, (8,))]
    if len(found) < 2:
        raise ValueError(f"the line of an element is '{line[:60]}'")
    return found
