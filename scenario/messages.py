"""Mistakes in scenarios in words: one sentence each, with its place."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, get_args, get_origin

from symplex.base.quantities import Quantity, ended, listed, must_be_one_of, refused, shown
from symplex.base.streams import printable
from symplex.errors import ScenarioError
from symplex.scenario.table import Table

_known_to_be_close: ContextVar[dict[tuple[str, tuple[str, ...]], list[str]] | None] = ContextVar("close", default=None)
_TOLD = 50  # mistakes that are reported one by one
_COMPARED = 100  # letters of a word that are compared with known ones
_CONDITIONS = {
    "string_type": "a string in quotes",
    "bool_type": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "model_type": "a table",
}


def mistakes(name: str, lines: Sequence[str]) -> ScenarioError:
    """Return the error that shows all mistakes in a file, one line each."""
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


def sentence(model: type[Table], mistake: Mapping[str, Any]) -> str:
    """Return one of pydantic's errors as a sentence."""
    keys, kind, ctx, value = mistake["loc"], mistake["type"], mistake.get("ctx", {}), mistake["input"]
    words = [str(k + 1) if isinstance(k, int) else k for k in keys]  # counted from 1, as tables are
    key = ".".join(words)
    if kind == "extra_forbidden":
        inside = f" in {'.'.join(words[:-1])}" if len(keys) > 1 else ""
        return f"unknown key {shown(keys[-1])}{inside}; {suggestion(keys[-1], _keys_of(model, keys[:-1]))}"
    if kind == "missing":
        field = _model_of(model, keys[:-1]).model_fields.get(str(keys[-1]))
        unit = next((item.unit for item in field.metadata if isinstance(item, Quantity)), "") if field else ""
        return f"{key} is missing{f' ({unit})' if unit else ''}."
    if kind == "literal_error":
        known = [word.strip(" '") for word in ctx["expected"].replace(" or ", ", ").split(",")]
        return ended(f"{key} {must_be_one_of(value, known)}")
    if kind == "value_error":
        return ended(f"{key} {ctx['error']}".strip())
    if kind in _CONDITIONS:
        return f"{key} {refused(_CONDITIONS[kind], value)}."
    return f"{key} is {shown(value)}, {mistake['msg']}."


def closest(model: type[Table], loc: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """Return the location of the known key that an unknown one is closest to."""
    return *loc[:-1], *close_to(loc[-1], _keys_of(model, loc[:-1]))


@lru_cache(1000)
def _keys_of(model: type[Table], keys: tuple[str | int, ...]) -> tuple[str, ...]:
    """Return the keys of the table inside a table that keys lead to."""
    return tuple(item.alias or name for name, item in _model_of(model, keys).model_fields.items())


def _model_of(model: type[Table], keys: Sequence[str | int]) -> type[Table]:
    """Return the model of the table inside a table that keys lead to."""
    places = 0  # in lists and mappings of tables, whose keys come next
    for key in keys:
        if places:
            places -= 1
            continue
        # A table where a mapping of tables is requested has its keys in the place of names.
        found = _table_in(next((i.annotation for n, i in model.model_fields.items() if key == (i.alias or n)), None))
        if found is None:
            return model
        model, places = found
    return model


def _table_in(annotation: Any) -> tuple[type[Table], int] | None:
    """Return the model of the tables that a value has, and in how many lists and mappings they are."""
    if isinstance(annotation, type) and issubclass(annotation, Table):
        return annotation, 0
    for part in get_args(annotation):
        if (found := _table_in(part)) is not None:
            return found[0], found[1] + (get_origin(annotation) in (list, dict))
    return None
