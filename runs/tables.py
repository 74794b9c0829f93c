"""Tables as text, for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_LONGEST = 28  # letters of a value


def table(rows: Sequence[tuple[str, str]]) -> str:
    """Return rows of a name and a value as aligned lines, without those of no value."""
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"  {name:<{width}}  {value}" for name, value in rows if value)


def reported_as_table(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as a table with aligned columns, numbers to the right; what is not there is left empty."""
    is_number = [all(isinstance(row.get(name), int | float | None) for row in rows) for name in columns]
    return aligned(columns, [[_reported(row.get(name)) for name in columns] for row in rows], is_number)


def aligned(heads: Sequence[str], rows: Sequence[Sequence[str]], to_right: Sequence[bool]) -> str:
    """Return words as a table, each column to the right or to the left."""
    lines = [heads, *rows]
    widths = [max(len(line[k]) for line in lines) for k in range(len(heads))]
    return "\n".join(
        "  ".join(
            word.rjust(width) if right else word.ljust(width)
            for word, width, right in zip(line, widths, to_right, strict=True)
        ).rstrip()
        for line in lines
    )


def _reported(value: Any) -> str:
    if value is None:
        return ""
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
