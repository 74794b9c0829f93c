"""Reading the bulk data of Nastran decks: grid points and elements, which are grouped by their properties.

meshio's own reader takes points in local coordinate systems as if they were in the global one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from symplex.errors import MeshError
from symplex.meshes.formats.account import UNKNOWN, Account
from symplex.meshes.formats.deck_lines import Line, Span, lines_of, span_of
from symplex.meshes.formats.includes import Includes
from symplex.meshes.formats.numbering import Numbering, is_number, places_by_value
from symplex.meshes.formats.raw import RawCells, RawMesh

# Cards of elements: the types of cells by the numbers of their nodes.
_ELEMENTS: dict[str, dict[int, str]] = {
    "CTETRA": {4: "tetra", 10: "tetra10"},
    "CHEXA": {8: "hexahedron", 20: "hexahedron20"},
    "CPENTA": {6: "wedge", 15: "wedge15"},
    "CPYRA": {5: "pyramid", 13: "pyramid13"},
    "CPYRAM": {5: "pyramid", 13: "pyramid13"},
    "CTRIA3": {3: "triangle"},
    "CTRIAR": {3: "triangle"},
    "CTRIA6": {3: "triangle", 6: "triangle6"},
    "CQUAD4": {4: "quad"},
    "CQUADR": {4: "quad"},
    "CSHEAR": {4: "quad"},
    "CQUAD8": {4: "quad", 8: "quad8"},
    "CROD": {2: "line"},
    "CTUBE": {2: "line"},
    "CBAR": {2: "line"},
    "CBEAM": {2: "line"},
    "CBUSH": {1: "vertex", 2: "line"},
    "CBUSH1D": {1: "vertex", 2: "line"},
    "CGAP": {1: "vertex", 2: "line"},
}
_SOLID = re.compile(r"C(I?HEX|TET|PENT|PYR|WEDGE)\w*")
# Cards of other elements, as springs and dampers; cards that make nodes, or take them from elsewhere.
_OTHER_ELEMENTS = re.compile(
    r"C(ELAS|DAMP|BEND|BEAM3|ONROD|VISC|WELD|FAST|SEAM|TRIAX|QUADX|QUAD$|TRIA$|RAC|HBDY)\w*|PLOTEL\w*"
)
_MAKE_MESH = ("AUXMODEL", "BEGIN", "GRIDB", "GRIDF", "POINT", "FEEDGE", "FEFACE", "SEBULK", "SELOC", "SEELT")
# Cards that say nothing about the mesh: properties, materials, supports, loads, joints, masses, tables, what is solved
# and written, local systems (nodes in one are refused).
_WITHOUT_MEANING = re.compile(
    r"P(SOLID|LSOLID|SHELL|COMP\w?|BARL?|BEAML?|BCOMP|BEND|ROD|TUBE|BUSH1?D?T?|GAP|SHEAR|ELAST?|DAMPT?|DAMP5|VISC|MASS"
    r"|FAST|WELD|ARAM|LOAD\w*)"
    r"|MAT\w*|CREEP|GRDSET|SPOINT|EPOINT|CORD[123][CRS]|SNORM|ASET1?|BSET1?|CSET1?|QSET1?|OMIT1?|USET1?|SE?SET\w*"
    r"|SPC\w*|MPC\w*|SUP[AO]\w+|RBAR1?|RBE[123]|RROD|RSPLINE|RSSCON|RTRPLT1?|RJOINT|CONM[12]|CMASS[1234]"
    r"|FORCE\w*|MOMENT\w*|GRAV|ACCEL1?|RFORCE|SLOAD|TEMP\w*|DEFORM|LOADT?|DLOAD|LSEQ|[RT]LOAD[12]|DAREA|DELAY|DPHASE"
    r"|TABLE\w*|TABDMP1|TABRND1|RANDPS|TIC\w*|TF|EIG\w+|FREQ\w*|TSTEP\w*|NLPARM|NLPCI|NLSTEP|NLAUTO|TSTEPNL|MDLPRM"
    r"|DTI|DMI\w*|SET[1-4]|SWLDPRM|MONPNT\w*|DRESP\w|DCON\w*|DSCREEN|DOPTPRM|DESVAR|DVPREL\w|DVMREL\w|DVCREL\w|DLINK"
    r"|DEQATN|DDVAL|DTABLE|BC\w+|BSURFS?|BLSEG|BFRIC|BGADD|BGSET|BGPARM|BEDGE|BOUTPUT|NSM\w*|DAMPING|HYBDAMP|SPLINE\w"
    r"|AERO|AEROS|CAERO\w|PAERO\w|MKAERO\w|FLUTTER|FLFACT|TRIM\w*|AE\w+|CLOAD|CONV\w?|PCONV\w?|RAD\w+|VIEW\w*|RANDT[12]|ACMODL|PLPLANE|PLCOMP|ECHO\w*|STRESS|OUTRCV|VECTOR|RADM|PHBDY"
)
# Nodes between corners: after those of the base the valid edges, then the top.
_ORDERS = {
    "hexahedron20": [*range(12), *range(16, 20), *range(12, 16)],
    "wedge15": [*range(9), *range(12, 15), *range(9, 12)],
}
_END = re.compile(r"\s*ENDDATA\b", re.IGNORECASE)
_FORMULA = "DEQATN"  # the card whose commas are no ends of fields
_NOT_READ = "such elements are not read"
_REAL = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(?:[eEdD]([+-]?\d+)|([+-]\d+))?")


def read_nastran(path: Path, account: Account) -> RawMesh:
    """Return points, cells, and as sets those of one property (``property_7``), as meshio would."""
    numbers: list[int] = []
    points: list[list[float]] = []
    elements: dict[str, list[tuple[int, int, list[int]]]] = {}
    for name, fields, span in _cards(path, account):
        if name == "GRID":
            number, point = _grid(fields)
            numbers.append(number)
            points.append(point)
        elif name == "GRDSET" and _system(fields[1]):
            raise MeshError(f"its points are in the coordinate system '{fields[1]}'; write them in the global one.")
        elif name in _ELEMENTS:
            kind, element = _element(name, fields)
            elements.setdefault(kind, []).append(element)
        elif _SOLID.fullmatch(name):
            raise MeshError(f"elements {name} are not supported.")
        elif name.startswith("="):
            raise MeshError("it replicates cards (=), which is not supported; write all cards out.")
        elif name.split()[0] in _MAKE_MESH:
            raise MeshError(f"it uses {name}, which is not supported; write one model of GRID cards.")
        elif _WITHOUT_MEANING.fullmatch(name):
            account.add_without_meaning(*span)
        else:
            what = name if name[0].isalpha() else "a line"
            account.add_unknown(what, *span, _NOT_READ if _OTHER_ELEMENTS.fullmatch(name) else UNKNOWN)
    nodes = Numbering("node", np.array(numbers, np.int64))
    Numbering("element", np.array([number for rows in elements.values() for number, _, _ in rows], np.int64))
    cells = []
    sets: dict[str, list[NDArray[np.intp] | None]] = {}
    for block, (kind, rows) in enumerate(elements.items()):
        connectivity = nodes.places(np.array([row[2] for row in rows], np.int64), f"a {kind} cell")
        cells.append(RawCells(kind, connectivity[:, _ORDERS[kind]] if kind in _ORDERS else connectivity))
        properties = np.array([row[1] for row in rows], np.int64)
        for number, places in places_by_value(properties).items():
            if number:
                sets.setdefault(f"property_{number}", [None] * len(elements))[block] = places
    where: NDArray[np.float64] = np.array(points, float).reshape(-1, 3)
    return RawMesh(where, cells, cell_sets=sets)


def _cards(path: Path, account: Account) -> Iterator[tuple[str, list[str], Span]]:
    """Yield the cards of the bulk data: their names, their fields after it, at least eight, and where they are."""
    lines = list(_lines(path, (), Includes(path), account))
    begin = next((k + 1 for k, line in enumerate(lines) if line.text.upper().startswith("BEGIN BULK")), 0)
    for line in lines[:begin]:  # what is solved for, and how
        account.add_without_meaning(*line.span)
    ended, card, fields, last = begin == 0, "", [""], ""
    first_line = last_line = Line("", path, 0)
    for line in lines[begin:]:
        if _END.match(line.text):
            ended = True
            continue
        before = last  # by its last field a line may name the one that continues it
        if line.text[:6].upper() == _FORMULA:
            name, found, last = _FORMULA, [], ""
        elif card == _FORMULA and line.text[:1] in (" ", "+", "*"):
            name, found, last = "", [], ""
        else:
            name, found, last = _fields(line.text)
        if name[:1] not in ("", "+", "*"):
            if card:
                yield card, fields + [""] * 8, span_of(first_line, last_line)
            card, fields, first_line = name, found, line
        elif not card:
            account.add_unknown("a line without a card", *line.span)
        else:
            fields += found
            if name[1:].strip() and name[1:].strip() != before[1:].strip():
                account.add_unknown(card, *line.span, "it continues a line by another name than that one has")
        last_line = line
    if not ended:
        raise ValueError("it ends without ENDDATA")
    if card:
        yield card, fields + [""] * 8, span_of(first_line, last_line)


def _lines(path: Path, within: tuple[Path, ...], includes: Includes, account: Account) -> Iterator[Line]:
    """Yield the lines of a file up to its ENDDATA, without comments, an INCLUDE as the lines of its file."""
    ended = False
    for line in lines_of(path):
        text = line.text.partition("$")[0].rstrip().expandtabs(8)
        found = re.fullmatch(r"\s*INCLUDE\s+'?([^']*)'?\s*", text, re.IGNORECASE)
        if not text.strip():
            continue
        if ended:
            account.add_unknown("a line after ENDDATA", *line.span)
        elif found is not None:
            inner, outer = includes.found(found[1].strip(), path, within)
            yield from _lines(inner, outer, includes, account)
        else:
            ended = _END.match(text) is not None
            yield Line(text, line.path, line.number)


def _fields(line: str) -> tuple[str, list[str], str]:
    """Return the first field of a line, of a card without the star of wide fields, those of data, and the last one."""
    if "," in line:
        first, *found = (word.strip() for word in line.split(","))
        large = "*" in first
        most = 4 if large else 8
        while len(found) > most + 1 and not found[-1]:
            found.pop()
        if len(found) > most + 1:
            raise ValueError(f"a line has more than {most + 2} fields: '{line[:60]}'")
        last = found[most] if len(found) > most else ""
        found = found[:most]
    else:
        first = line[:8].strip()
        large = "*" in first
        width, most = (16, 4) if large else (8, 8)
        found = [line[8 + width * k : 8 + width * (k + 1)].strip() for k in range(most)]
        last = line[72:80].strip()
    found += [""] * (most - len(found))
    return (first.upper() if first[:1] in ("+", "*") else first.rstrip("* ").upper()), found, last.upper()


def _grid(fields: list[str]) -> tuple[int, list[float]]:
    if _system(fields[1]):
        raise MeshError(
            f"point '{fields[0]}' is in the coordinate system '{fields[1]}'; write the points in the global one."
        )
    return _whole(fields[0], "GRID"), [_real(field) if field else 0.0 for field in fields[2:5]]


def _system(field: str) -> bool:
    return field not in ("", "0")


def _element(name: str, fields: list[str]) -> tuple[str, tuple[int, int, list[int]]]:
    """Return the type of an element, its number, that of its property (0: none is given), and its nodes."""
    kinds = _ELEMENTS[name]
    most = max(kinds)
    given = fields[2 : 2 + most]
    if name in ("CTRIA6", "CQUAD8") and not all(given):
        given = given[: min(kinds)]  # a face, whose nodes between corners may be left out
    nodes = [_whole(field, name) for field in given if field]
    if name in ("CTETRA", "CHEXA", "CPENTA", "CPYRA", "CPYRAM") and any(fields[2 + most :]):
        raise ValueError(f"{name} '{fields[0]}' has more nodes than {most}")
    if len(nodes) not in kinds or not all(given[: len(nodes)]):
        requested = " or ".join(map(str, kinds))
        raise MeshError(f"{name} '{fields[0]}' has {len(nodes)} nodes; it can have {requested}.")
    number = _whole(fields[0], name)
    return kinds[len(nodes)], (number, _whole(fields[1], name) if fields[1] else 0, nodes)


def _whole(field: str, card: str) -> int:
    if not is_number(field):
        raise ValueError(f"a {card} has '{field[:20]}' where an integer must be")
    return int(field)


def _real(field: str) -> float:
    found = _REAL.fullmatch(field)
    if found is None:
        raise ValueError(f"a GRID has '{field[:20]}' where a coordinate must be")
    return float(f"{found[1]}e{found[2] or found[3] or 0}")
