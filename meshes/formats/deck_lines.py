"""The lines of a text deck with their places, and its keywords with the lines below them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

Span = tuple[Path, int, int]  # a file, the first and the last line


class Line(NamedTuple):
    """A line without blanks at its end, and where it is."""

    text: str
    path: Path
    number: int

    @property
    def span(self) -> Span:
        """Where it is, as accounts of input take it."""
        return self.path, self.number, self.number


@dataclass
class Section:
    """A keyword, and the lines below it up to the next one."""

    head: Line
    lines: list[Line] = field(default_factory=list)

    @property
    def texts(self) -> list[str]:
        """The lines below the keyword."""
        return [line.text for line in self.lines]

    @property
    def span(self) -> Span:
        """Where it is, as accounts of input take it: in the file of its keyword."""
        return span_of(self.head, self.lines[-1] if self.lines else self.head)


def span_of(first: Line, last: Line) -> Span:
    """Return where lines are, as accounts of input take it: in the file of the first."""
    return first.path, first.number, last.number if last.path == first.path else first.number


def lines_of(path: Path) -> Iterator[Line]:
    """Yield the lines of a file."""
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        for number, text in enumerate(file, start=1):
            yield Line(text.rstrip(), path, number)
