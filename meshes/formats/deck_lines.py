"""The lines of a text deck with their places, and its keywords with the lines below them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from symplex.meshes.formats.account import Account

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


def sections_of(lines: Iterable[Line], star: str, account: Account, head: Callable[[str], str]) -> Iterator[Section]:
    """Yield keywords with the lines below them, given what begins a keyword and what returns its word."""
    section: Section | None = None
    for line in lines:
        if line.text.startswith(star):
            if section is not None:
                yield section
            section = Section(line._replace(text=head(line.text[1:].upper())))
        elif section is None:
            account.add_unknown("a line before the first keyword", *line.span)
        else:
            section.lines.append(line)
    if section is not None:
        yield section


def span_of(first: Line, last: Line) -> Span:
    """Return where lines are, as accounts of input take it: in the file of the first."""
    return first.path, first.number, last.number if last.path == first.path else first.number


def lines_of(path: Path) -> Iterator[Line]:
    """Yield the lines of a file."""
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        for number, text in enumerate(file, start=1):
            yield Line(text.rstrip(), path, number)
