"""An account of the lines of text files that meshio reads, which says nothing of what it leaves out."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from symplex.meshes.formats.account import Account
from symplex.meshes.formats.deck_lines import Section, Span, lines_of

_NUMBERS = r"[-+.,\deEdD\s&]*"


class _Grammar(NamedTuple):
    """What lines of a format there are.

    Attributes
    ----------
    comment : str
        A pattern of lines that mean nothing.
    keyword : str
        One of lines with a keyword, the first group of which is its name; where there is none, other lines are used.
    used, without_meaning : tuple of str
        Keywords below which lines are read, and those that say nothing about the mesh. All others are unknown.
    data : str
        A pattern of the lines below used keywords.
    """

    comment: str
    keyword: str = ""
    used: tuple[str, ...] = ()
    without_meaning: tuple[str, ...] = ()
    data: str = _NUMBERS


_XML = _Grammar(r"<\?xml.*|<!--.*-->")
_GRAMMARS = {
    "avsucd": _Grammar("#.*"),
    "dolfin-xml": _XML,
    "flac3d": _Grammar(r"[*;].*"),
    "mdpa": _Grammar(
        "//.*",
        r"(?:Begin|End)\s+(\w+)",
        ("Nodes", "Elements", "Conditions"),
        ("ModelPartData", "Properties", "Table", "NodalData", "ElementalData", "ConditionalData"),
    ),
    "medit": _Grammar("#.*|End"),
    "netgen": _Grammar("#.*|endmesh"),
    "obj": _Grammar(r"#.*|(usemtl|mtllib|[gos])\s.*", r"(\w+)", ("v", "vn", "vt", "f"), ("s",), "(?!)"),
    "off": _Grammar("#.*"),
    "permas": _Grammar(
        "!.*",
        r"\$(\w+)",
        ("COOR", "ELEMENT"),
        ("CONSTRAINTS", "END", "ENTER", "EXIT", "FIN", "GEODAT", "LOADING", "MATERIAL", "STRUCTURE", "SYSTEM"),
    ),
    "stl": _Grammar(
        "(end)?solid.*", r"(\w+)", ("vertex",), ("facet", "outer", "endloop", "endfacet"), "(?!)"
    ),
    "su2": _Grammar("%.*", r"(\w+)\s*=", ("NDIME", "NPOIN", "NELEM", "MARKER_TAG", "MARKER_ELEMS"), ("NMARK",)),
    "tecplot": _Grammar(r'#.*|TITLE\s*=\s*".*'),
    "vtu": _XML,
    "xdmf": _XML,
}  # fmt: skip


def account_for_lines(path: Path, file_format: str, account: Account) -> None:
    """Say to an account which lines of a file in one of meshio's formats mean nothing, and which are unknown."""
    if file_format == "vtk":
        account.add_without_meaning(path, 2)  # its title
    if file_format not in _GRAMMARS or _is_binary(path):
        return
    grammar = _GRAMMARS[file_format]
    comment, data = re.compile(grammar.comment), re.compile(grammar.data)
    section: Section | None = None
    for line in lines_of(path):
        text = line.text.strip()
        found = re.match(grammar.keyword, text) if grammar.keyword else None
        if comment.fullmatch(text):
            account.add_without_meaning(*line.span)
        elif found is not None:
            _take(grammar, section, account)
            section = Section(line._replace(text=found[1]))
        elif grammar.keyword and text and section is not None and section.head.text in grammar.used:
            if not data.fullmatch(text):
                account.add_unknown("a line", *line.span)
        elif section is not None:
            section.lines.append(line)
    _take(grammar, section, account)


def _take(grammar: _Grammar, section: Section | None, account: Account) -> None:
    """Say to an account what a keyword and the lines below it are."""
    if section is None or section.head.text in grammar.used:
        return
    span: Span = section.span
    if section.head.text in grammar.without_meaning:
        account.add_without_meaning(*span)
    else:
        account.add_unknown(section.head.text, *span)


def _is_binary(path: Path) -> bool:
    with path.open("rb") as file:
        return b"\0" in file.read(4096)
