"""Reading the meshes of Radioss starter files: nodes, solid and shell elements, parts and groups of nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from symplex.errors import MeshError
from symplex.meshes.formats.account import MISSING, UNKNOWN, Account
from symplex.meshes.formats.by_parts import Parts, whole
from symplex.meshes.formats.deck_lines import Line, lines_of, sections_of
from symplex.meshes.formats.includes import Includes
from symplex.meshes.formats.numbering import is_number
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
# Keywords that make, move or join nodes and elements.
_MAKE_MESH = ("CNODE", "MERGE", "RANDOM", "TRANSFORM")
# First words of keywords that say nothing about the mesh, those of the engine's part in the same file among them.
_WITHOUT_MEANING = {
    "ACCEL", "ACTIV", "ADMAS", "ADYREL", "ALE", "AMS", "ANALY", "ANIM", "ARCH", "BCS", "CLOAD", "CONVEC", "CYL_JOINT",
    "DAMP", "DEFAULT", "DEF_INTER", "DEF_SHELL", "DEF_SOLID", "DFS", "DT", "DTIX", "DYREL", "EBCS", "EIG", "END",
    "EOS", "EULER", "FAIL", "FRAME", "FUNCT", "FUNC_2D", "FXBODY", "GAUGE", "GJOINT", "GRAV", "H3D", "HEAT", "IMPACC",
    "IMPDISP", "IMPFLUX", "IMPTEMP", "IMPVEL", "INIBRI", "INISH3", "INISHE", "INITEMP", "INITHERM", "INIVEL", "INTER",
    "IOFLAG", "KEREL", "LEAK", "LOAD", "MAT", "MON", "MONVOL", "MOVE_FUNCT", "NBCS", "NONLOCAL", "OUTP", "PARITH",
    "PERTURB", "PLOAD", "PRINT", "PROP", "RADIATION", "RBE2", "RBE3", "RBODY", "RFILE", "RLINK", "RUN", "RWALL",
    "SECT", "SENSOR", "SHFRA", "SKEW", "SLIPRING", "SPMD", "STATE", "STOP", "TABLE", "TFILE", "TH", "THERM_STRESS",
    "THPART", "TITLE", "UPWIND", "VERS", "VISC",
}  # fmt: skip
# Keywords of groups and of elements that are not read.
_GROUPS = re.compile(r"GR\w+|SURF|LINE|SUBSET|SET|BOX")
_OTHER_ELEMENTS = ("BEAM", "RIVET", "SPHCEL", "SPRING", "TRUSS", "XELEM")
# Of units, which may be numbers as well.
_PREFIXES = {
    "": 1.0, "y": 1e-24, "z": 1e-21, "a": 1e-18, "f": 1e-15, "p": 1e-12, "n": 1e-9, "mu": 1e-6, "u": 1e-6, "m": 1e-3,
    "c": 1e-2, "d": 1e-1, "da": 1e1, "h": 1e2, "k": 1e3, "M": 1e6, "G": 1e9,
}  # fmt: skip


def read_radioss(path: Path, account: Account) -> RawMesh:
    """Return nodes and elements of a starter file; parts and groups of nodes are sets, by their titles.

    Coordinates are in the unit of length that ``/BEGIN`` gives, or else as the file has them.
    """
    parts = Parts()
    begin: float | None = None
    units: dict[int, float] = {}
    nodes: list[tuple[str, list[str]]] = []  # numbers of local systems of units, and nodes in them
    for section in sections_of(_lines(path, (), Includes(path), account), "/", account, _keyword):
        words, lines = section.head.text.split("/"), section.texts
        word = words[0]
        if word == "NODE":
            nodes.append((words[1] if len(words) > 1 else "", lines))
        elif word == "BEGIN":
            begin = _begin(lines)
            account.add_without_meaning(*section.lines[0].span if lines else section.span)
        elif word == "UNIT" and len(words) > 1 and is_number(words[1]) and len(lines) > 1:
            units[_number(words)] = _unit(lines[1])
            account.add_without_meaning(*section.lines[0].span)
        elif word in _ELEMENTS:
            _take_elements(parts, word, _number(words), lines)
        elif word in _UNKNOWN:
            raise MeshError(f"elements /{word} are not supported.")
        elif word == "PART" and lines:
            parts.names[_number(words)] = lines[0].strip()
            for line in section.lines[1:]:  # properties and materials
                account.add_without_meaning(*line.span)
        elif words[:2] == ["GRNOD", "NODE"] and lines:
            number = _number(words[1:])
            name = lines[0].strip() or f"group_{number}"
            members = [whole(word) for line in lines[1:] for word in _fields(line, (10,)) if word]
            parts.sets.setdefault(name, []).extend(members)
        elif word in _MAKE_MESH:
            raise MeshError(f"it uses /{word}, which is not supported; write the whole mesh out.")
        elif word in _WITHOUT_MEANING:
            account.add_without_meaning(*section.span)
        else:
            why = "such groups are not read" if _GROUPS.fullmatch(word) else UNKNOWN
            why = "such elements are not read" if word in _OTHER_ELEMENTS else why
            account.add_unknown(f"/{word}", *section.span, why)
    _take_nodes(parts, nodes, begin, units)
    return parts.mesh(begin)


def _take_nodes(parts: Parts, nodes: list[tuple[str, list[str]]], begin: float | None, units: dict[int, float]) -> None:
    """Take nodes in the unit of the file, those of local systems of units, too."""
    for system, lines in nodes:
        factor = 1.0
        if system:
            if begin is None or whole(system) not in units:
                raise MeshError(
                    f"/NODE/{system} is in units that the file does not define; write all nodes in one unit."
                )
            factor = units[int(system)] / begin
        for line in lines:
            parts.add_node(_fields(line, (10, 20, 20, 20)), factor)


def _begin(lines: list[str]) -> float | None:
    """Return the m in the unit of length of a file: below its title and version, before those to compute with."""
    if len(lines) < 3:  # as of versions without units
        return None
    if len(lines) != 4 or not all(is_number(word) for word in lines[1].split()):
        raise ValueError("a /BEGIN is not a title, a version, and two lines of units")
    _unit(lines[3])
    return _unit(lines[2])


def _unit(line: str) -> float:
    """Return the m in a unit of length, the second in a line of those of mass, length and time."""
    words = line.split()
    if len(words) != 3:
        raise ValueError(f"units of mass, length and time are '{line.strip()[:60]}'")
    return [_one_unit(word, base) for word, base in zip(words, ("g", "m", "s"), strict=True)][1]


def _one_unit(word: str, base: str) -> float:
    """Return a unit in multiples of a base: that with a prefix, or a number."""
    if word.endswith(base) and word[: -len(base)] in _PREFIXES:
        return _PREFIXES[word[: -len(base)]]
    try:
        value = float(word)
    except ValueError:
        raise MeshError(f"its unit '{word[:20]}' is not supported; write {base} with or without a prefix.") from None
    if not 0.0 < value < float("inf"):
        raise ValueError(f"one of its units is {value:g}")
    return value


def _number(words: list[str]) -> int:
    if len(words) < 2:
        raise ValueError(f"a /{words[0]} has no number")
    return whole(words[1])


def _keyword(text: str) -> str:
    """Return a keyword without the first slash."""
    word = text.strip()
    if word.startswith("/"):  # with one more slash, what encloses other keywords
        raise MeshError(f"it uses /{word.split('/')[1]}, which is not supported; write the whole mesh out.")
    return word


def _lines(path: Path, within: tuple[Path, ...], includes: Includes, account: Account) -> Iterator[Line]:
    """Yield the lines of a file up to its ``/END``, without comments, a ``#include`` as the lines of its file."""
    ended = False
    line = Line("", path, 0)
    for line in lines_of(path):
        text = line.text
        if text.lower().startswith("#include") and not ended:
            inner, outer = includes.found(text[8:].strip(), path, within)
            yield from _lines(inner, outer, includes, account)
        elif text.upper().split()[:1] in (["/END"], ["#ENDDATA"]) and not ended:
            ended = True
        elif text.strip() and not text.startswith(("#", "$")):
            if ended:
                account.add_unknown("a line after /END", *line.span)
            else:
                yield line
    if not ended and not within:
        account.add_unknown("/END", *line.span, MISSING)


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
        number, *rest = _fields(line, (10,))
        if not any(rest):  # nodes are in the next line
            rest = _fields(next(rows, ""), (10,))
        nodes = [whole(field) for field in rest[:k] if field]
        # Behind the nodes of shells are an angle and a thickness.
        if len(nodes) < k or (any(rest[k:]) and word not in ("SHELL", "SH3N")):
            raise ValueError(f"element {number} of /{word} has {sum(map(bool, rest))} nodes, not {k}")
        parts.add(kind, whole(number), part, nodes)
