"""Write the tables of elements and keywords into docs/decks.md: ``python tests/write_deck_tables.py``."""

from __future__ import annotations

import re
from pathlib import Path

from symplex.decks.keywords import documented
from symplex.decks.mesh_keywords import ELEMENTS

PAGE = Path(__file__).parents[1] / "docs" / "decks.md"


def tables() -> dict[str, str]:
    """Return the tables by the names of the comments around them."""
    named: dict[str, list[str]] = {}
    for name, how in ELEMENTS.items():
        named.setdefault(how, []).append(f"`{name}`")
    elements = [
        "| element | computed as |",
        "| --- | --- |",
        *(f"| {', '.join(names)} | {how} |" for how, names in named.items()),
    ]
    return {"elements": "\n".join(elements), "keywords": documented()}


def main() -> None:
    """Put the tables in the place of the old ones."""
    text = PAGE.read_text("utf-8")
    for name, table in tables().items():
        new = f"<!-- {name} -->\n{table}\n<!-- end of {name} -->"
        text = re.sub(f"<!-- {name} -->.*<!-- end of {name} -->", lambda _, new=new: new, text, flags=re.DOTALL)
    PAGE.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
