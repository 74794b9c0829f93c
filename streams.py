"""Standard output and standard error, whatever they are: in any encoding, closed, or full."""

from __future__ import annotations

import codecs
import os
import sys
from contextlib import suppress
from io import TextIOWrapper

# What units and sentences are written with, for encodings that lack it.
_PLAIN = {"µ": "u", "·": "|", "×": "x", "…": "...", "−": "-", "²": "^2", "³": "^3", "°": "deg"}
_ERRORS = "symplex.plain"


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


def tell(line: str) -> None:
    """Print a line to standard error, if it can be."""
    with suppress(OSError):
        print(line, file=sys.stderr, flush=True)


def drop_output() -> None:
    """Send what is still to be written to standard output nowhere, as it cannot be written."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _in_plain(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    plain = []
    for character in error.object[error.start : error.end]:
        number = f"\\x{ord(character):02x}" if ord(character) < 256 else f"\\u{ord(character):04x}"
        plain.append(_PLAIN.get(character, number))
    return "".join(plain), error.end
