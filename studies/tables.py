"""Tables of numbers as text, for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_LONGEST = 28  # letters of a value


def told_as_table(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as a table with aligned columns; what is not there is left empty."""
    text = [[*columns], *([_told(row.get(name)) for name in columns] for row in rows)]
    widths = [max(len(line[k]) for line in text) for k in range(len(columns))]
    is_number = [all(isinstance(row.get(name), int | float | None) for row in rows) for name in columns]
    aligned = (
        "  ".join(
            word.rjust(width) if right else word.ljust(width)
            for word, width, right in zip(line, widths, is_number, strict=True)
        ).rstrip()
        for line in text
    )
    return "\n".join(aligned)


def _told(value: Any) -> str:
    if value is None:
        return ""
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
