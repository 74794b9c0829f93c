"""Reading the meshes of LS-DYNA decks: nodes, solid and shell elements, parts and sets of nodes as groups."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from symplex.errors import MeshError
from symplex.meshes.formats.account import MISSING, UNKNOWN, Account
from symplex.meshes.formats.by_parts import Parts, whole
from symplex.meshes.formats.deck_lines import Line, lines_of, sections_of
from symplex.meshes.formats.includes import Includes
from symplex.meshes.formats.raw import RawMesh

_NODE = (8, 16, 16, 16)  # widths of fields
_SOLIDS = {4: "tetra", 6: "wedge", 8: "hexahedron", 10: "tetra10"}
_SETS = ("SET_NODE", "SET_NODE_TITLE", "SET_NODE_LIST", "SET_NODE_LIST_TITLE")
# Keywords that make, move, join or take away nodes and elements, or read other files than *INCLUDE does.
_MAKE_MESH = (
    "CASE_", "COMPONENT_", "DEFINE_TRANSFORMATION", "DELETE_", "ELEMENT_GENERATE", "ELEMENT_SOLID_", "ELEMENT_TSHELL_",
    "INCLUDE_", "NODE_MERGE", "NODE_TRANSFORM", "PART_DUPLICATE", "PART_MOVE", "PERTURBATION_NODE",
)  # fmt: skip
# First words of keywords that say nothing about the mesh.
_WITHOUT_MEANING = {
    "AIRBAG", "ALE", "BOUNDARY", "CESE", "CHEMISTRY", "COMMENT", "CONSTRAINED", "CONTACT", "CONTROL", "DAMPING",
    "DATABASE", "DEFINE", "EM", "EOS", "FATIGUE", "FREQUENCY", "HOURGLASS", "ICFD", "INITIAL", "INTEGRATION",
    "INTERFACE", "KEYWORD", "LOAD", "MAT", "MODULE", "PARAMETER", "RIGIDWALL", "SECTION", "SENSOR", "TERMINATION",
    "TITLE", "USER",
}  # fmt: skip
# Why the others are not read, by their first words.
_WHY = {
    "ELEMENT": "such elements are not read",
    "INCLUDE": "included files are not looked for there",
    "PART": "the names of its parts are not read",
    "SET": "such sets are not read",
}
# Keywords of solids: how many lines of each element say something else than its nodes.
_SOLID_KEYWORDS = {"ELEMENT_SOLID": 0, "ELEMENT_SOLID_ORTHO": 2, "ELEMENT_TSHELL": 0, "ELEMENT_TSHELL_BETA": 1}


def read_lsdyna(path: Path, account: Account) -> RawMesh:
    """Return nodes, solids, thick and thin shells of a keyword deck; parts and sets of nodes are sets, by titles."""
    parts = Parts()
    for section in sections_of(_lines(path, (), Includes(path), account), "*", account, _keyword):
        word, lines = section.head.text, section.texts
        if word == "NODE":
            for line in lines:
                parts.add_node(_fields(line, _NODE))
        elif word in _SOLID_KEYWORDS:
            _take_solids(parts, word, lines)
        elif word in ("ELEMENT_SHELL", "ELEMENT_SHELL_THICKNESS"):
            _take_shells(parts, section.lines, word.endswith("THICKNESS"), account)
        elif word == "PART":
            _take_parts(parts, lines)
        elif word in _SETS:
            _take_set(parts, word, lines)
        elif f"{word}_".startswith(_MAKE_MESH) and not word.startswith("INCLUDE_PATH"):
            raise MeshError(f"it uses *{word}, which is not supported; write the whole mesh out.")
        elif word.split("_")[0] in _WITHOUT_MEANING:
            account.add_without_meaning(*section.span)
        else:
            account.add_unknown(f"*{word}", *section.span, _WHY.get(word.split("_")[0], UNKNOWN))
    return parts.mesh()


def _keyword(text: str) -> str:
    """Return a keyword without its options."""
    words = text.split()
    word = words[0] if words else ""
    long = [option for option in words[1:] if option.startswith("LONG=") and option != "LONG=S"]
    if long or "%" in (*words, word[-1:]) or "+" in (*words, word[-1:]):
        raise MeshError("its fields are wider than the standard (LONG); write it in the standard format.")
    if any(option.startswith("CID=") for option in words[1:]):
        raise MeshError(f"it uses *{word} for one case only (CID), which is not supported; write one case.")
    return word.rstrip("-")


def _lines(path: Path, within: tuple[Path, ...], includes: Includes, account: Account) -> Iterator[Line]:
    """Yield the lines of a file up to its ``*END``, without comments, an ``*INCLUDE`` as the lines of its file.

    Empty lines are left out, but where they may be titles.
    """
    named = titled = ended = False
    line = Line("", path, 0)
    for line in lines_of(path):
        text = line.text
        if text.startswith("$") or not (text.strip() or titled):
            continue
        if ended:
            account.add_unknown("a line after *END", *line.span)
            continue
        if text.startswith("*"):
            word = text.upper().split()[0]
            if ended := word == "*END":
                continue
            named, titled = word == "*INCLUDE", word == "*PART" or word.endswith("_TITLE")
        elif named:
            inner, outer = includes.found(text.strip(), path, within)
            yield from _lines(inner, outer, includes, account)
            continue
        if not named:
            yield line
    if not ended and not within:
        account.add_unknown("*END", *line.span, MISSING)


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


def _take_solids(parts: Parts, word: str, lines: list[str]) -> None:
    formulation = "ELEMENT_TSHELL" if word.startswith("ELEMENT_TSHELL") else ""
    rows = iter(lines)
    for line in rows:
        number, part, *rest = _numbers(line)
        if not rest:  # nodes are in the next line
            rest = _numbers(next(rows, ""))
        nodes = _without_repetition([node for node in rest if node])
        if len(nodes) not in _SOLIDS:
            raise ValueError(f"solid {number} has {len(nodes)} nodes")
        parts.add(_SOLIDS[len(nodes)], number, part, nodes, formulation)
        for _ in range(_SOLID_KEYWORDS[word]):
            if "." not in next(rows, ""):
                raise ValueError(f"solid {number} of *{word} has too few lines")


def _without_repetition(nodes: list[int]) -> list[int]:
    """Return the nodes of a tetrahedron that is written as a hexahedron, its last node five times, or those given."""
    return nodes[:4] if len(nodes) == 8 and len({*nodes[3:]}) == 1 else nodes


def _take_shells(parts: Parts, lines: list[Line], thick: bool, account: Account) -> None:
    """Take shells, each with a line of thicknesses below it if they have such lines."""
    if thick and (len(lines) % 2 or not all("." in line.text for line in lines[1::2])):
        raise ValueError("a shell has no line of thicknesses, or such a line has no shell")
    for line in lines[:: 2 if thick else 1]:
        number, part, *rest = _numbers(line.text)
        if any(rest[4:]):
            account.add_unknown("*ELEMENT_SHELL", *line.span, "nodes between corners of shells are not read")
        nodes = [node for node in rest[:4] if node]
        if len(nodes) == 4 and nodes[2] == nodes[3]:
            nodes.pop()
        if len(nodes) not in (3, 4):
            raise ValueError(f"shell {number} has {len(nodes)} nodes")
        parts.add("triangle" if len(nodes) == 3 else "quad", number, part, nodes)


def _take_parts(parts: Parts, lines: list[str]) -> None:
    """Take the titles of parts, each with a line of numbers below it."""
    while lines and not lines[-1].strip():
        lines.pop()
    if len(lines) % 2:
        raise ValueError("a part has no title, or a title has no part")
    for title, line in zip(lines[::2], lines[1::2], strict=True):
        parts.names[whole(_fields(line, (10,))[0])] = title.strip()


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
