"""Standard output and standard error, whatever they are (in any encoding, closed, full), and what may be said there."""

from __future__ import annotations

import codecs
import os
import re
import sys
from contextlib import suppress
from io import TextIOWrapper
from typing import TextIO, final

# What units and sentences are written with, for encodings that lack it.
_PLAIN = {"µ": "u", "·": "|", "×": "x", "…": "...", "−": "-", "²": "^2", "³": "^3", "°": "deg"}
_ERRORS = "symplex.plain"
_QUOTED = re.compile(r"(['\"`])([^'\"`]{16})[^'\"`]{4,}\1")
_LONGEST, _MOST = 1000, 60  # letters of a line and lines of a message that are shown


def prepare_streams() -> None:
    """Let standard output and standard error take any text, and no file come in their place where they are closed.

    A character that the encoding of a stream lacks is written in a plainer way, or as its number.
    """
    for number in (0, 1, 2):  # ascending, as the system gives the lowest number that is free
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    # Python has no stream where there was none at its start; much of it minds.
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    codecs.register_error(_ERRORS, _in_plain)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors=_ERRORS)


def settle() -> None:
    """Write what the standard streams still hold, or drop it, so that Python's own end has nothing to fail at."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            with suppress(OSError, ValueError):
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, stream.fileno())
                os.close(nowhere)


def _in_plain(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    plain = []
    for character in error.object[error.start : error.end]:
        number = f"\\x{ord(character):02x}" if ord(character) < 256 else f"\\u{ord(character):04x}"
        plain.append(_PLAIN.get(character, number))
    return "".join(plain), error.end


# -- what is said -------------------------------------------------------------------------------------------------


def printable(text: str, *, breaks: bool = True) -> str:
    """Return a text with what is not to be printed (control characters; without ``breaks``, line breaks) as escapes."""
    return "".join(c if c.isprintable() or (breaks and c == "\n") else repr(c)[1:-1] for c in text)


def discreet(text: str) -> str:
    """Return a message with a few letters only of what it quotes of a file, which may be something secret."""
    return _QUOTED.sub(r"\1\2…\1", text)


def bounded(text: str) -> list[str]:
    """Return the lines of a message: not too many of them, none too long."""
    lines = text.split("\n")
    more = [f"… and {len(lines) - _MOST:,} more lines"] if len(lines) > _MOST else []
    return [_shortened(line) for line in lines[:_MOST]] + more


def _shortened(line: str) -> str:
    """Return a line without its middle if it is long: what is wrong is said at its beginning or its end."""
    half = _LONGEST // 2
    return line if len(line) <= _LONGEST else f"{line[:half]} … {line[-half:]}"


@final
class Writer:
    """A text stream that writing to never fails: what cannot be written is lost, and nothing more is tried.

    Attributes
    ----------
    failure : Exception or None
        Why nothing can be written.
    """

    def __init__(self, stream: TextIO | None):
        self._stream = stream
        self.failure: Exception | None = None

    def write(self, text: str) -> int:
        """Write a text, in escapes where the encoding of the stream lacks a character."""
        if self._stream is not None and self.failure is None:
            try:
                try:
                    self._stream.write(text)
                except UnicodeEncodeError:
                    encoding = self._stream.encoding
                    self._stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
            except (OSError, ValueError) as error:  # gone, full, or closed
                self.failure = error
        return len(text)

    def flush(self) -> None:
        """Have all written that was."""
        if self._stream is not None and self.failure is None:
            try:
                self._stream.flush()
            except (OSError, ValueError) as error:
                self.failure = error

    @property
    def encoding(self) -> str:
        """That of the stream."""
        return getattr(self._stream, "encoding", None) or "utf-8"

    def isatty(self) -> bool:
        """Return whether there is a terminal."""
        try:
            return self._stream is not None and self._stream.isatty()
        except ValueError:  # closed
            return False

    def fileno(self) -> int:
        """Return the file descriptor, if there is one."""
        if self._stream is None:
            raise OSError("there is no stream")
        return self._stream.fileno()


def say(text: str) -> Exception | None:
    """Print a text, with what could steer a terminal as escapes; return why it could not be printed, if so."""
    return _print(sys.stdout, text)


def complain(text: str) -> None:
    """Print a message on the standard error, each of its lines after ``symplex:``."""
    _print(sys.stderr, "\n".join(f"symplex: {line}" for line in bounded(text)))


def _print(stream: TextIO | None, text: str) -> Exception | None:
    writer = Writer(stream)
    writer.write(printable(text) + "\n")
    writer.flush()
    return writer.failure
