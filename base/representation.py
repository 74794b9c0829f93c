"""What objects print of themselves: sizes of arrays instead of their numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from html import escape

import numpy as np

_MOST = 8  # numbers of an array that are printed
_LONGEST = 8  # names of a list that are printed


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


class Summarized:
    """A dataclass that prints the shapes of its arrays, where they are long, and of mappings only the names."""

    def __repr__(self) -> str:
        given = ((field.name, getattr(self, field.name)) for field in fields(self) if field.repr)  # pyright: ignore
        return f"{type(self).__name__}({', '.join(f'{name}={_summary(value)}' for name, value in given)})"


def _summary(value: object) -> str:
    if isinstance(value, np.ndarray) and value.size > _MOST:
        return shape_of(value)
    if isinstance(value, Mapping):
        return f"{{{names(map(str, value)) if value else ''}}}"
    return repr(value)
