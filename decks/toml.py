"""Writing tables as TOML."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_BARE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


def as_toml(tables: Mapping[str, Any], heading: str) -> str:
    """Return tables as TOML, below a heading in comments: single keys, tables, and lists of tables."""
    parts = ["".join(f"# {line}".rstrip() + "\n" for line in heading.split("\n"))]
    single = [f"{key} = {_value(value)}\n" for key, value in tables.items() if not isinstance(value, Mapping | list)]
    parts.append("".join(single))
    for key, value in tables.items():
        for table in value if isinstance(value, list) else [value] if isinstance(value, Mapping) else []:
            head = f"[[{key}]]" if isinstance(value, list) else f"[{key}]"
            parts.append(head + "\n" + "".join(f"{_key(k)} = {_value(v)}\n" for k, v in table.items()))
    return "\n".join(part for part in parts if part)


def _key(key: str) -> str:
    return key if key and set(key) <= _BARE else _text(key)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")  # a basic string of TOML is one of JSON


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    return repr(value)
