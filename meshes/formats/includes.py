"""Files that include others: found, counted, and kept from including themselves."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import final

from symplex.errors import MeshError

_MOST_FILES = 1000  # one by one or in one another
_DEEPEST = 20
_INCLUDES = re.compile(r"include|input", re.IGNORECASE)
_ANY_QUOTE = re.compile("'.*'", re.DOTALL)
_HIDDEN = "'…' (included files are not quoted)"
_KEYWORD = re.compile(r"a line[a-z ]*(\*?[A-Z]*|/[A-Z]*)?|[*/$][A-Za-z_/, -]{1,40}[0-9]{0,2}")


def unquoted(message: str, path: Path) -> str:
    """Return a message about a file without what it quotes of files that this one includes.

    Any file may be included that can be read, and what it holds may be secret. Messages quote between apostrophes. What
    stands in the first file is known to who wrote it, and is left.

    Parameters
    ----------
    message : str
    path : Path
        The first file.
    """
    quotes = message.split("'")[1::2]
    if not quotes:
        return message
    try:
        status = path.stat()
        text = _text(path, status.st_mtime_ns, status.st_size)
    except OSError:
        return message
    if not text or all(_plain(quote) in text for quote in quotes):
        return message
    return _ANY_QUOTE.sub(_HIDDEN, message)


@lru_cache(maxsize=1)
def _text(path: Path, _changed: int, _size: int) -> str:
    """Return what a file says, in capitals and with single blanks; nothing if it includes no other."""
    text = path.read_text(encoding="utf-8", errors="replace")
    return _plain(text) if _INCLUDES.search(text) else ""


def is_keyword(text: str) -> bool:
    """Return whether a text looks like a keyword, which is quoted of included files as well: a mark and letters."""
    return _KEYWORD.fullmatch(text) is not None


@contextmanager
def without_quotes(path: Path) -> Iterator[None]:
    """Let no MeshError about a file quote those that it includes."""
    try:
        yield
    except MeshError as error:
        raise MeshError(unquoted(str(error), path)) from None


def _plain(text: str) -> str:
    return " ".join(text.upper().split())


@final
class Includes:
    """The files that a file includes.

    Parameters
    ----------
    path : Path
        The file that is read.
    """

    def __init__(self, path: Path):
        self._folder = path.parent
        self._n_files = 0

    def found(self, name: str, by: Path, within: tuple[Path, ...]) -> tuple[Path, tuple[Path, ...]]:
        """Return an included file, looked for next to the one that includes it and next to the first.

        Parameters
        ----------
        name : str
            As it is written.
        by : Path
            The file in which it is written.
        within : tuple of Path
            The files that this one is included by.

        Returns
        -------
        path : Path
        within : tuple of Path
            The files that it is included by.
        """
        self._n_files += 1
        if self._n_files > _MOST_FILES or len(within) >= _DEEPEST:
            raise MeshError(f"more than {_MOST_FILES} files are included, or more than {_DEEPEST} in one another.")
        try:
            path = next((folder / name for folder in (by.parent, self._folder) if (folder / name).exists()), None)
        except (OSError, ValueError):  # no name of a file
            path = None
        if path is None:
            raise MeshError(f"the included file {name[:100]} is not there.")
        if not stat.S_ISREG(path.stat().st_mode):
            raise MeshError(f"the included {name} is no regular file.")
        outer = (*within, by.resolve())
        if path.resolve() in outer:
            raise MeshError(f"the file {name} includes itself.")
        return path, outer
