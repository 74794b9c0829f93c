"""The layout of Abaqus and CalculiX input files: keywords with parameters, data lines, files that are included."""

from __future__ import annotations

from collections.abc import Iterator
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


class Placement(NamedTuple):
    """Where an instance of a part is: x → turn x + shift; and by how much its numbers are larger than its part's."""

    name: str
    offset: int
    turn: NDArray[np.float64]
    shift: NDArray[np.float64]


@dataclass
class Block:
    """A keyword with its parameters and the data lines below it, and where it stands: the file, first and last line.

    Of an instance with others beside it there is a ``placement``; of a set of the assembly, that of its ``members``.
    """

    keyword: str
    parameters: dict[str, str]
    lines: list[str] = field(default_factory=list)
    path: Path = Path()
    line: int = 0
    last: int = 0
    placement: Placement | None = None
    members: Placement | None = None

    @property
    def span(self) -> Span:
        """Where it is, as accounts of input take it."""
        return self.path, self.line, self.last

    def parameter(self, name: str) -> str:
        """Return a parameter that must be there.

        Raises
        ------
        MeshError
            If it is not.
        """
        if not self.parameters.get(name):
            raise MeshError(f"a *{self.keyword} has no {name}.")
        return self.parameters[name]

    def items(self) -> list[str]:
        """Return what stands in the data lines between commas."""
        return [item.strip() for line in self.lines for item in line.split(",") if item.strip()]


def blocks_of(path: Path, account: Account | None = None) -> Iterator[Block]:
    """Yield the keywords of an input file with their data, in order, and those of files that it includes.

    Lines before the first keyword are unknown to the account.

    Raises
    ------
    MeshError
        If an included file is not there, or includes itself, or there are very many.
    OSError
        If the file cannot be read.
    """
    reader = _Reader(path)
    block: Block | None = None
    continued = ""
    for text in reader.lines(path, ()):
        line = continued + text
        continued = ""
        if not line.startswith("*"):
            if block is not None:
                block.lines.append(line)
                block.last = reader.line if reader.path == block.path else block.last
            elif account is not None:
                account.add_unknown("a line before the first keyword", reader.path, reader.line)
        elif line.endswith(","):
            continued = line
        else:
            if block is not None:
                yield block
            block = _keyword(line)
            block.path, block.line, block.last = reader.path, reader.line, reader.line
            if block.keyword in _WITH_INPUT and block.parameters.get("INPUT"):
                block.lines += reader.included(block.parameters["INPUT"], path, ())
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
                    yield from self.included(_keyword(line).parameter("INPUT"), path, within)
                else:
                    yield line

    def included(self, name: str, by: Path, within: tuple[Path, ...]) -> Iterator[str]:
        """Yield the lines of a file that another one includes, looked for beside it and beside the first file."""
        path, outer = self._includes.found(name, by, within)
        yield from self.lines(path, outer)


def _keyword(line: str) -> Block:
    keyword, *words = line[1:].split(",")
    parameters = {}
    for word in words:
        name, _, value = word.partition("=")
        parameters["".join(name.split()).upper()] = value.strip().strip('"')
    return Block(" ".join(keyword.upper().split()), parameters)
