"""Mistakes in scenarios in words: one sentence each, with its place."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from symplex.base.quantities import listed, shown
from symplex.base.streams import printable
from symplex.errors import ScenarioError

_known_to_be_close: ContextVar[dict[tuple[str, tuple[str, ...]], list[str]] | None] = ContextVar("close", default=None)
_TOLD = 50  # mistakes that are reported one by one
REFERENCE = "docs/scenario/{}.md"  # the page of a table
_COMPARED = 100  # letters of a word that are compared with known ones


def mistakes(name: str, lines: Sequence[str]) -> ScenarioError:
    """Return the error that shows all mistakes in a file, each once, one line each."""
    lines = list(dict.fromkeys(lines))
    message = [printable(f"{name}: {line}", breaks=False) for line in lines[:_TOLD]]
    if len(lines) > _TOLD:
        message.append(printable(f"{name}: and {len(lines) - _TOLD:,} more mistakes.", breaks=False))
    return ScenarioError("\n".join(message))


def place(table: str, index: int | None = None, name: Any = None) -> str:
    """Return how messages call a table: ``[run]``, ``[[body]] #2 'arm'``."""
    if index is None:
        return f"[{table}]"
    return f"[[{table}]] #{index + 1}" + (f" {shown(name)}" if name and isinstance(name, str) else "")


@contextmanager
def as_many_as_are_reported() -> Iterator[None]:
    """Look for words that are close to unknown ones for as many inside as there are mistakes that are reported.

    Of 100 000 unknown keys the others are counted only.
    """
    token = _known_to_be_close.set({})
    try:
        yield
    finally:
        _known_to_be_close.reset(token)


def suggestion(word: Any, known: Sequence[str]) -> str:
    """Return a hint at the known word closest to what is not one, or the list of the known ones."""
    if not known:
        return "there are none at all."
    close = close_to(word, known)
    return f"did you mean '{close[0]}'?" if close else f"known are: {listed(known)}."


def close_to(word: Any, known: Sequence[str]) -> list[str]:
    """Return the known word closest to one that is of a similar length, if any is close."""
    if not isinstance(word, str):
        return []
    found = _known_to_be_close.get()
    if found is None:
        return difflib.get_close_matches(word[:_COMPARED], known, n=1)
    key = word[:_COMPARED], tuple(known)
    if key not in found and len(found) < _TOLD:
        found[key] = difflib.get_close_matches(key[0], known, n=1)
    return found.get(key, [])
