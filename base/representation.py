"""What objects print of themselves: sizes of arrays instead of their numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import fields
from html import escape
from reprlib import recursive_repr
from textwrap import shorten

import numpy as np

_MOST = 8  # numbers of an array that are printed
_LONGEST = 8  # names of a list that are printed
_LETTERS = 200  # of a part


def shape_of(array: np.ndarray) -> str:
    """Return type and shape of an array, as docstrings give them: ``float64 [71, 3]``."""
    return f"{array.dtype} [{', '.join(map(str, array.shape))}]"


def names(listed: Iterable[str]) -> str:
    """Return names in a row, the first ones of many, ``none`` of none."""
    every = list(listed)
    rest = f", … {len(every)} in all" if len(every) > _LONGEST else ""
    return ", ".join(every[:_LONGEST]) + rest or "none"


def table_html(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """Return a table of HTML for notebooks."""
    body = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in rows)
    return f"<table><caption>{escape(title)}</caption><tbody>{body}</tbody></table>"


class Tabled(ABC):
    """An object that prints rows of names and values, in one line, and as a table in notebooks."""

    @abstractmethod
    def _reported(self) -> list[tuple[str, str]]:
        """Return names and values."""

    def _caption(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        return f"{type(self).__name__}({'; '.join(f'{name} {value}' for name, value in self._reported())})"

    def _repr_html_(self) -> str:
        return table_html(self._caption(), self._reported())

    def text(self) -> str:
        """Return the same as lines, aligned, below a title."""
        rows = self._reported()
        width = max((len(name) for name, _ in rows), default=0)
        return "\n".join([self._caption(), *(f"  {name:<{width}}  {value}".rstrip() for name, value in rows)])


class Described:
    """An object that prints its class and its public attributes, in one line."""

    @recursive_repr("…")
    def __repr__(self) -> str:
        given = ((name, value) for name, value in vars(self).items() if not name.startswith("_"))
        return _one_line(type(self).__name__, given)


class Summarized:
    """A dataclass that prints the shapes of its arrays, where they are long, and of mappings only the names."""

    @recursive_repr("…")
    def __repr__(self) -> str:
        given = ((field.name, getattr(self, field.name)) for field in fields(self) if field.repr)  # pyright: ignore
        return _one_line(type(self).__name__, given)


def _one_line(name: str, given: Iterable[tuple[str, object]]) -> str:
    return f"{name}({', '.join(f'{key}={_summary(value)}' for key, value in given)})"


def _summary(value: object) -> str:
    if isinstance(value, np.ndarray):
        return shape_of(value) if value.size > _MOST else " ".join(repr(value).split())
    if isinstance(value, Mapping):
        return f"{{{names(map(str, value)) if value else ''}}}"
    if isinstance(value, list | tuple | set | frozenset) and len(value) > _LONGEST:
        return f"{type(value).__name__} of {len(value)}"
    if callable(value) and hasattr(value, "__qualname__"):
        return value.__qualname__
    return shorten(repr(value), _LETTERS, placeholder=" …")
