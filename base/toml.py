"""TOML that others may have written: read with a bound on its depth, and one sentence for what is none."""

from __future__ import annotations

import tomllib
from typing import Any

DEEPEST = 100  # tables and lists in one another: none needs so many, and functions that call themselves bear them


def read_toml(text: str) -> dict[str, Any]:
    """Return what a text in TOML says; line ends may be those of Windows.

    Raises
    ------
    ValueError
        If it is not TOML, with the reason as the end of a sentence.
    """
    try:
        found = tomllib.loads(text.replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        raise ValueError(message[:1].lower() + message[1:]) from None
    except ValueError:  # of Python's own, about the longest numbers
        raise ValueError("it holds a number of too many digits") from None
    except RecursionError:
        raise ValueError("its brackets are nested too deeply") from None
    _require_shallow(found)
    return found


def _require_shallow(data: dict[str, Any]) -> None:
    """Refuse tables that are nested deeply, as names of tables with thousands of dots make them."""
    inner: list[Any] = [data]
    for _ in range(DEEPEST):
        values = (value for one in inner for value in (one.values() if isinstance(one, dict) else one))
        inner = [value for value in values if isinstance(value, dict | list)]
        if not inner:
            return
    raise ValueError("its tables are nested too deeply")
