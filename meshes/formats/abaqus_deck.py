"""The layout of Abaqus and CalculiX input files: keywords with parameters, data lines, files that are included."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from symplex.errors import MeshError
from symplex.meshes.formats.account import Account
from symplex.meshes.formats.deck_lines import Span
from symplex.meshes.formats.includes import Includes

# Keywords whose data may be in another file, named by their parameter INPUT.
_WITH_INPUT = ("NODE", "ELEMENT", "NSET", "ELSET", "SURFACE")
_WITH_TEXT = ("HEADING",)  # whose lines are a text, where "=" says nothing
# Parameters without a value, which report a line that continues a keyword from one of data.
_FLAGS = {
    "COMPOSITE", "CYCLICSYMMETRY", "DIRECT", "EXPLICIT", "FIXED", "GENERATE", "GLOBAL", "INTERNAL", "MOONEY-RIVLIN",
    "NEOHOOKE", "NLGEOM", "NODALTHICKNESS", "NOHAF", "OGDEN", "OVERLAY", "PERTURBATION", "POLYNOMIAL", "RAYLEIGH",
    "READ", "REDUCEDPOLYNOMIAL", "SMALLSLIDING", "STEADYSTATE", "UNSORTED", "UNSYMM", "VISCO", "WRITE", "YEOH",
}  # fmt: skip


class Placement(NamedTuple):
    """Where an instance of a part is: x → turn x + shift; and by how much its numbers are larger than its part's."""

    name: str
    offset: int
    turn: NDArray[np.float64]
    shift: NDArray[np.float64]


@dataclass
class Block:
    """A keyword with its parameters and the data lines below it, and where it stands: the file, first and last line.

    Of an instance with others next to it there is a ``placement``; of a set of the assembly, that of its ``members``.
    Where the data lines stand is in ``runs``: which of them, file and line where they do not follow the one before;
    ``head_last`` is the last line of the keyword and its parameters.
    """

    keyword: str
    parameters: dict[str, str]
    lines: list[str] = field(default_factory=list)
    path: Path = Path()
    line: int = 0
    head_last: int = 0
    runs: list[tuple[int, Path, int]] = field(default_factory=list)
    placement: Placement | None = None
    members: Placement | None = None

    @property
    def span(self) -> Span:
        """Where it is, as accounts of input take it."""
        return self.path, self.line, self.last

    def parameter(self, name: str) -> str:
        """Return a parameter that must be there."""
        if not self.parameters.get(name):
            raise MeshError(f"a *{self.keyword} has no {name}.")
        return self.parameters[name]

    def add(self, lines: Iterable[str], reader: _Reader) -> None:
        """Add data lines as they are read, and where they stand."""
        of_block, runs = self.lines, self.runs
        path, ahead = (runs[-1][1], runs[-1][2] - runs[-1][0]) if runs else (None, 0)
        for line in lines:
            if reader.line - len(of_block) != ahead or reader.path is not path:
                path, ahead = reader.path, reader.line - len(of_block)
                runs.append((len(of_block), path, reader.line))
            of_block.append(line)

    @property
    def last(self) -> int:
        """The last line that is in the file of the keyword."""
        path, number = self.place(len(self.lines) - 1) if self.lines else (self.path, self.head_last)
        return number if path == self.path else self.head_last

    def place(self, k: int) -> tuple[Path, int]:
        """Return where the k-th data line stands: its file, and the line in it."""
        first, path, number = self.runs[bisect_right(self.runs, k, key=lambda run: run[0]) - 1]
        return path, number + k - first

    def items(self) -> list[str]:
        """Return what stands in the data lines between commas."""
        return [item.strip() for line in self.lines for item in line.split(",") if item.strip()]


def blocks_of(path: Path, account: Account | None = None) -> Iterator[Block]:
    """Yield the keywords of an input file with their data, in order, and those of files that it includes.

    Lines before the first keyword are unknown to the account.
    """
    reader = _Reader(path)
    block: Block | None = None
    lines = reader.lines(path, ())
    may_continue = False
    for line in lines:
        if line[:1] == "*":
            if block is not None:
                yield block
            keyword, _, rest = line[1:].partition(",")
            block = Block(" ".join(keyword.upper().split()), {}, [], reader.path, reader.line, reader.line)
        elif block is None:
            if account is not None:
                account.add_unknown("a line before the first keyword", reader.path, reader.line)
            continue
        elif may_continue and _is_of_parameters(line):
            rest = line
            block.head_last = reader.line if reader.path == block.path else block.head_last
        else:
            may_continue = False
            block.add((line,), reader)
            continue
        may_continue = line.endswith(",") and block.keyword not in _WITH_TEXT
        new = _parameters(rest)
        block.parameters |= new
        if block.keyword in _WITH_INPUT and new.get("INPUT"):
            block.add(reader.included(new["INPUT"], path, ()), reader)
    if block is not None:
        yield block


class _Reader:
    """The lines of a file and of those that it includes."""

    def __init__(self, path: Path):
        self._includes = Includes(path)
        self.path, self.line = path, 0  # where the line stands that was yielded last

    def lines(self, path: Path, within: tuple[Path, ...]) -> Iterator[str]:
        """Yield the lines of a file without comments and blank ones, an ``*INCLUDE`` as the lines of its file."""
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            for number, text in enumerate(file, start=1):
                line = text.strip()
                if not line.strip("* ") or line.startswith("**"):
                    continue
                self.path, self.line = path, number
                if line[:8].upper().startswith("*INCLUDE"):
                    name = _parameters(line.partition(",")[2]).get("INPUT")
                    if not name:
                        raise MeshError("a *INCLUDE has no INPUT.")
                    yield from self.included(name, path, within)
                else:
                    yield line

    def included(self, name: str, by: Path, within: tuple[Path, ...]) -> Iterator[str]:
        """Yield the lines of a file that another one includes, looked for next to it and next to the first file."""
        path, outer = self._includes.found(name, by, within)
        yield from self.lines(path, outer)


def _parameters(text: str) -> dict[str, str]:
    """Return the parameters of a keyword by their names, in capitals without spaces; empty ones are left out.

    A parameter without a value, as in ``ELSET=``, is one that is not given; flags need none.
    """
    parameters = {}
    for word in text.split(","):
        name, equals, value = word.partition("=")
        name, value = "".join(name.split()).upper(), value.strip().strip('"')
        if name and (value or not equals or name in _FLAGS):
            if name in parameters:
                raise MeshError(f"a keyword has the parameter '{name}' twice.")
            parameters[name] = value
    return parameters


def _is_of_parameters(line: str) -> bool:
    """Return whether a line below a keyword that ends with a comma continues it: it may be one of data as well."""
    return "=" in line or not _FLAGS.isdisjoint("".join(word.split()).upper() for word in line.split(","))
