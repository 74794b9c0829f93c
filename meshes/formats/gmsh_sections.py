"""What all versions of Gmsh's MSH format have in common: sections, numbers as text or binary, names of groups.

Numbers are taken strictly: a file that has one too few, one too many, or 3.7 where a node is meant, is damaged, and a
reader that goes on would return another mesh. The layout is that of the section "MSH file format" of the Gmsh
reference manual.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol, final

import numpy as np
from numpy.typing import NDArray

from symplex.errors import MeshError
from symplex.meshes.formats.account import Account

Names = Mapping[tuple[int, int], str]
INT, SIZE, DOUBLE = np.dtype("<i4"), np.dtype("<u8"), np.dtype("<f8")
_EXACT = 2.0**53  # up to which double precision holds whole numbers
_CHARACTERS_AT_ONCE = 1 << 24
_LINE_END = ord("\n")
_IN_WORD = np.array([not bytes([code]).isspace() for code in range(256)])
# A file has each of these once; views and comments may be repeated.
_ONCE = ("MeshFormat", "PhysicalNames", "Entities", "Nodes", "Elements", "NOD", "ELM")
_OF_FIRST = {"NOD": "Nodes", "ELM": "Elements"}  # the sections of version 1, which has no section of its version
# Fields, and what the geometry is like.
_WITHOUT_MEANING = (
    "Comments", "NodeData", "ElementData", "ElementNodeData", "InterpolationScheme", "Parametrizations", "Periodic",
)  # fmt: skip


def version_of(path: Path) -> str:
    """Return the version that an MSH file says it has; an empty string if it says none."""
    with path.open("rb") as file:
        for _ in range(1000):  # comments may come first
            line = file.readline(1024)
            if line.strip() == b"$NOD":
                return "1"
            if line.strip() == b"$MeshFormat":
                words = file.readline(1024).split()
                return words[0].decode("ascii", "replace") if words else ""
            if not line:
                break
    return ""


def physical_name(names: Names, dim: int, tag: int) -> str:
    """Return the name of a physical group, made from dimension and tag (``surface_3``) if it has none."""
    return names.get((dim, tag), f"{('point', 'curve', 'surface', 'volume')[dim]}_{tag}")


class Numbers(Protocol):
    """The numbers of a section, one after the other."""

    def take(self, dtype: np.dtype, count: int) -> NDArray:
        """Return the next numbers [count]."""
        ...

    def line(self, *dtypes: np.dtype) -> tuple[int, ...]:
        """Return the next whole numbers, which are a line of a text file."""
        ...

    def rows(self, dtype: np.dtype, n: int, k: int) -> NDArray:
        """Return the next numbers as a table [n, k], each row of which is a line of a text file."""
        ...

    def end(self) -> None:
        """Raise ValueError if there are more numbers."""
        ...


@final
class BinaryNumbers:
    """The numbers of a binary section."""

    def __init__(self, data: bytes):
        self._data, self._at = data, 0

    def take(self, dtype: np.dtype, count: int) -> NDArray:
        """Return the next numbers [count]."""
        if count < 0 or self._at + count * dtype.itemsize > len(self._data):
            raise ValueError("a section is shorter than it says")
        values = np.frombuffer(self._data, dtype, count, self._at)
        self._at += values.nbytes
        return values

    def line(self, *dtypes: np.dtype) -> tuple[int, ...]:
        """Return the next whole numbers, of these types."""
        return tuple(int(self.take(dtype, 1)[0]) for dtype in dtypes)

    def rows(self, dtype: np.dtype, n: int, k: int) -> NDArray:
        """Return the next numbers as a table [n, k]."""
        return self.take(dtype, n * k).reshape(n, k)

    def end(self) -> None:
        """Raise ValueError if there are more numbers."""
        if self._data[self._at :].strip():
            raise ValueError("a section is longer than it says")


@final
class TextNumbers:
    """The numbers of a section of text."""

    def __init__(self, data: bytes):
        words = _words_of_lines(data)
        self._starts = np.concatenate([[0], np.cumsum(words)])  # of lines, among the numbers, with the end
        # NumPy warns where the text goes wrong, which is an error where files are read, and NUL would end it.
        self._values = np.fromstring(data, DOUBLE, sep=" ") if len(words) else np.empty(0)
        if len(self._values) != self._starts[-1]:
            raise ValueError("a section has something else than numbers")
        self._at = 0

    def take(self, dtype: np.dtype, count: int) -> NDArray:
        """Return the next numbers [count]."""
        values = self._values[self._at : self._at + count]
        if count < 0 or len(values) < count:
            raise ValueError("a section is shorter than it says")
        self._at += count
        return exactly(values, dtype)

    def line(self, *dtypes: np.dtype) -> tuple[int, ...]:
        """Return the next whole numbers, which must be a line."""
        (row,) = self.rows(DOUBLE, 1, len(dtypes))
        return tuple(int(exactly(row[k : k + 1], dtype)[0]) for k, dtype in enumerate(dtypes))

    def rows(self, dtype: np.dtype, n: int, k: int) -> NDArray:
        """Return the next numbers as a table [n, k], each row of which must be a line."""
        first, start = int(np.searchsorted(self._starts, self._at)), self._at
        values = self.take(dtype, n * k)
        if not np.array_equal(self._starts[first : first + n + 1], start + k * np.arange(n + 1)):
            raise ValueError(f"a line does not have {k} numbers")
        return values.reshape(n, k)

    def lines(self, dtype: np.dtype) -> tuple[NDArray, NDArray[np.intp]]:
        """Return all numbers, and where lines begin among them, with the end as the last."""
        return exactly(self._values, dtype), self._starts

    def end(self) -> None:
        """Raise ValueError if there are more numbers."""
        if self._at < len(self._values):
            raise ValueError("a section is longer than it says")


def _words_of_lines(data: bytes) -> NDArray[np.int64]:
    """Return the number of words of each line that has any."""
    found, begin = [], 0
    while begin < len(data):  # some lines at a time: what is known of each character takes more room than the text
        end = data.find(b"\n", begin + _CHARACTERS_AT_ONCE) + 1 or len(data)
        text = np.frombuffer(data, np.uint8, end - begin, begin)
        in_word = _IN_WORD[text]
        in_word[1:] &= ~in_word[:-1]  # of each word its first character only
        ends = np.flatnonzero(text == _LINE_END)
        starts = np.concatenate([[0], ends + 1])
        words = np.add.reduceat(in_word, starts[starts < len(text)], dtype=np.int64)
        found.append(words[words > 0])
        begin = end
    return np.concatenate([np.empty(0, np.int64), *found])


def exactly(values: NDArray[np.float64], dtype: np.dtype) -> NDArray:
    """Return numbers of a text as numbers of some type, which must hold them."""
    if dtype.kind == "f":
        return values
    info = np.iinfo(dtype)
    low, high = max(info.min, -_EXACT), min(info.max, _EXACT)
    right = (values >= low) & (values <= high) & (np.rint(values) == values)
    if not right.all():
        raise ValueError(f"{values[~right][0]:g} stands where an integer must be")
    return values.astype(dtype)


class MshFile(NamedTuple):
    """The sections of a file by name, whether they are text, their first lines, and whether it is of version 1."""

    sections: Mapping[str, bytes]
    is_text: bool
    lines: Mapping[str, int]
    is_first: bool = False

    def numbers(self, section: str) -> Numbers:
        """Return the numbers of a section."""
        return (TextNumbers if self.is_text else BinaryNumbers)(self._of(section))

    def counted(self, section: str) -> tuple[int, bytes]:
        """Return the number in the first line of a section, and what follows it."""
        first, _, rest = self._of(section).lstrip().partition(b"\n")
        if not re.fullmatch(rb"\s*\d{1,15}\s*", first):
            raise ValueError(f"${section} does not begin with a number")
        return int(first), rest

    def names(self) -> dict[tuple[int, int], str]:
        """Return the names of the physical groups by dimension and tag."""
        names: dict[tuple[int, int], str] = {}
        if "PhysicalNames" not in self.sections:
            return names
        count, text = self.counted("PhysicalNames")
        lines = [line for line in text.decode("utf-8", "replace").split("\n") if line.strip()]
        for line in lines:
            found = re.fullmatch(r'\s*([0-3])\s+(-?\d{1,10})\s+(?:"([^"]*)"(?:\s+\w+)*|([^\s"]+))\s*', line)
            if found is None:
                raise ValueError(f"a name of a group is '{line.strip()[:40]}'")
            key = int(found[1]), abs(int(found[2]))
            if key in names:
                raise MeshError(f"the physical group {key[1]} of dimension {key[0]} has two names.")
            names[key] = found[3] if found[4] is None else found[4]
        if len(lines) != count:
            raise ValueError(f"there are {len(lines)} names of groups, but it says {count}")
        return names

    def note_unused(self, used: Collection[str], path: Path, account: Account) -> None:
        """Say to an account which names of physical groups are not among those that are used."""
        for name in {name: None for name in self.names().values() if name not in used}:
            before, found, _ = self._of("PhysicalNames").partition(f'"{name}"'.encode())
            line = self.lines["PhysicalNames"] + (1 + before.count(b"\n") if found else 0)
            account.add_unknown(f"group '{name}'", path, line, why="it has no elements")

    def _of(self, section: str) -> bytes:
        if section not in self.sections:
            raise ValueError(f"it has no section ${section}")
        return self.sections[section]


def read_sections(path: Path, account: Account) -> MshFile:
    """Return the sections of an MSH file."""
    data = path.read_bytes()
    sections, lines = _sections(data, path, account)
    if "NOD" in sections:
        return MshFile({_OF_FIRST.get(key, key): section for key, section in sections.items()}, True, lines, True)
    if "MeshFormat" not in sections:
        raise ValueError("it has no section $MeshFormat")
    first, _, rest = sections["MeshFormat"].lstrip().partition(b"\n")
    words = first.split()
    if len(words) != 3 or words[1] not in (b"0", b"1"):
        raise ValueError("its $MeshFormat is not that of a Gmsh file")
    is_text = words[1] == b"0"
    for name, section in sections.items():
        is_closed = section.endswith(b"\n") or not section.strip()
        if (is_text or name == "PhysicalNames") and (not is_closed or re.search(rb"(?m)^\$", section)):
            raise ValueError(f"${name} does not end before another section begins")
    if words[2] != b"8" or not (is_text or rest[:4] == b"\x01\0\0\0"):
        raise MeshError("the file was written on another kind of machine; write it as text (Mesh.Binary = 0).")
    return MshFile(sections, is_text, lines)


def _sections(data: bytes, path: Path, account: Account) -> tuple[dict[str, bytes], dict[str, int]]:
    """Return what is between ``$Name`` and ``$EndName``, and the line of ``$Name``, by name."""
    sections: dict[str, bytes] = {}
    lines: dict[str, int] = {}
    at = _next_section(data, 0)
    while at >= 0:
        line_end = data.find(b"\n", at)
        name = data[at + 1 : line_end].strip()
        # Of a binary section the end may follow at once.
        begin = rb"\$END" if name.decode("utf-8", "replace") in _OF_FIRST else rb"\$End"
        end = re.compile(begin + re.escape(name) + rb"[ \t\r]*(\n|$)").search(data, line_end)
        if line_end < 0 or end is None:
            raise ValueError("it is cut short")
        key = name.decode("utf-8", "replace")
        if key in sections and key in _ONCE:
            raise ValueError(f"it has two sections ${key}")
        sections[key] = data[line_end + 1 : end.start()]
        lines[key] = 1 + data.count(b"\n", 0, at)
        last = lines[key] + 1 + sections[key].count(b"\n")
        if key in _WITHOUT_MEANING:
            account.add_without_meaning(path, lines[key], last)
        elif key not in _ONCE:
            account.add_unknown(f"${key}", path, lines[key], last)
        at = _next_section(data, end.end())
    return sections, lines


def _next_section(data: bytes, at: int) -> int:
    """Return where the next section begins, −1 if there is none; between sections there is nothing."""
    rest = re.compile(rb"\s*(\$?)").match(data, at)
    assert rest is not None, "a pattern that nothing matches, too"
    if rest[1]:
        return rest.start(1)
    if rest.end() < len(data):
        raise ValueError("there is something between its sections")
    return -1
