"""The account of a text file that is read: each line is used, known to mean nothing, or unknown.

A reader uses a line, or it says of the line that it means nothing here, or that it is unknown. Unknown lines are
listed for the user, so that nothing is left out silently.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple, final

from symplex.base.streams import printable
from symplex.errors import MeshError
from symplex.meshes.formats.includes import is_keyword, unquoted

UNKNOWN = "it is not supported"
MISSING = "it is missing at the end; the file may be cut short"
_LONGEST = 60  # characters that are quoted of a file
_MOST = 10  # kinds of unknown lines in one message


class Unknown(NamedTuple):
    """Lines, one after the other, that a reader did not use and does not know.

    Attributes
    ----------
    what : str
        The keyword, card or section, as the format writes it: ``*SENSOR``.
    path : Path
    line, last : int
        The first and the last line, from 1; 0 where that is not known.
    why : str
    """

    what: str
    path: Path
    line: int
    last: int
    why: str


@final
class Account:
    """What became of the lines of a file, and of those that it includes.

    Parameters
    ----------
    path : Path
        The file that is read. Included files are named in messages, this one is not.

    Attributes
    ----------
    unknown : list of Unknown
        In the order in which they were found.
    """

    def __init__(self, path: Path):
        self.path = path
        self.unknown: list[Unknown] = []
        self._seen: set[Unknown] = set()
        self._without_meaning: list[tuple[Path, int, int]] = []

    def add_unknown(self, what: str, path: Path, line: int, last: int = 0, why: str = UNKNOWN) -> None:
        """Note lines that are neither used nor known; of one line ``last`` may be left out."""
        reported = Unknown(printable(what, breaks=False)[:_LONGEST], path, line, max(line, last), why)
        if reported not in self._seen:  # as parts of decks are, which are read once for each instance
            self._seen.add(reported)
            self.unknown.append(reported)

    def add_without_meaning(self, path: Path, line: int, last: int = 0) -> None:
        """Note lines that are known to mean nothing for what is read."""
        self._without_meaning.append((path, line, max(line, last)))

    def became(self, path: Path, line: int) -> Literal["used", "without meaning", "unknown"]:
        """Return what became of a line; used is all that no reader has said anything of."""
        if any(path == one.path and one.line <= line <= one.last for one in self.unknown):
            return "unknown"
        known = any(path == of and first <= line <= last for of, first, last in self._without_meaning)
        return "without meaning" if known else "used"

    def listed(self) -> list[str]:
        """Return one line for each kind of what is unknown, in the order of the file."""
        found: dict[tuple[str, str], list[Unknown]] = {}
        for one in self.unknown:
            found.setdefault((one.what, one.why), []).append(one)
        return [self._reported(ones) for ones in found.values()]

    def require_known(self) -> None:
        """Refuse the file if a line is unknown."""
        if lines := self.listed():
            raise MeshError(refusal(lines))

    def _reported(self, ones: list[Unknown]) -> str:
        first = ones[0]
        included = first.path != self.path
        # Any file may be included, and what it holds may be secret: of such a file only keywords are quoted.
        what = first.what if not included or is_keyword(first.what) else "a line"
        times = f" ({len(ones)} times)" if len(ones) > 1 else ""
        where = f"line {first.line}: " if first.line else ""
        place = f"{first.path.name + ', ' if included else ''}{where}"
        return f"{place}{what}: {unquoted(first.why, self.path)}{times}"


def some(lines: Sequence[str]) -> list[str]:
    """Return the first kinds of unknown lines, and how many there are more."""
    more = [f"and {len(lines) - _MOST:,} more kinds of lines"] if len(lines) > _MOST else []
    return [*lines[:_MOST], *more]


def refusal(lines: Sequence[str]) -> str:
    """Return the sentence that refuses unknown lines."""
    return f"all lines must be known, got {'; '.join(some(lines))}. Remove these lines, or read without strict."
