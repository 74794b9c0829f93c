"""The pages of the manual, written from the records alone."""

from __future__ import annotations

import re
from collections.abc import Mapping

from verification_manual.problem import PROBLEMS, Problem, Row

INDEX = "README.md"
COMMAND = "python benchmarks/verification_manual"


def rows_of(record: Mapping) -> list[Row]:
    """Return the rows of a record."""
    return [Row(**row | ({"within": float(row["within"])} if "within" in row else {})) for row in record["rows"]]


def file_of(family: str) -> str:
    """Return the name of the page of a family."""
    return re.sub(r"[^a-z]+", "-", family.lower()).strip("-") + ".md"


def number(value: float) -> str:
    """Return a number as it is printed."""
    return f"{value:.7g}".replace("-", "−") if value else "0"


def deviation(row: Row) -> str:
    """Return a deviation: in percent, or where it is very small as a part."""
    value = row.deviation
    text = f"{100.0 * value:+.2g} %" if abs(value) >= 1e-4 else f"{value:+.1e}" if value else "0"
    return text.replace("-", "−")


def largest(one: Problem, rows: list[Row]) -> Row:
    """Return the row with the largest deviation among those that are judged."""
    return max((row for row in rows if one.limit(row) < float("inf")), key=lambda row: abs(row.deviation))


def limit(value: float) -> str:
    """Return how far a number may be off, as it is printed; a dash where it is shown only."""
    if value == float("inf"):
        return "–"
    return f"{100.0 * value:g} %" if value >= 1e-4 else f"{value:g}".replace("-", "−")


def cell(text: str) -> str:
    """Return text that may stand in a table."""
    return text.replace("|", "\\|")


def entry(one: Problem, record: Mapping) -> str:
    """Return the section of a problem."""
    lines = [f"## {one.title}", "", one.model, "", f"*Target:* {one.source}", ""]
    lines += ["| by | quantity | target | found | deviation | accepted |", "| --- | --- | --- | --- | --- | --- |"]
    for row in rows_of(record):
        scaled = f" of {number(row.scale)}" if row.scale not in (None, 1.0) else ""
        cells = [
            row.by,
            row.what,
            number(row.target),
            number(row.found),
            deviation(row) + scaled,
            limit(one.limit(row)),
        ]
        lines.append("| " + " | ".join(map(cell, cells)) + " |")
    return "\n".join([*lines, "", f"    {COMMAND} --only {one.name}", ""])


def anchor(title: str) -> str:
    """Return the anchor of a heading as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def written(records: Mapping[str, Mapping]) -> dict[str, str]:
    """Return the text of each page by its name."""
    families: dict[str, list[Problem]] = {}
    for name, one in PROBLEMS.items():
        if name in records:
            families.setdefault(one.family, []).append(one)
    pages = {}
    for family, members in families.items():
        head = f"# Verification: {family.lower()}\n\nWritten by `{COMMAND}`; see the [table of all](README.md).\n\n"
        pages[file_of(family)] = head + "\n".join(entry(one, records[one.name]) for one in members)
    count = sum(map(len, families.values()))
    numbers = sum(len(records[one.name]["rows"]) for members in families.values() for one in members)
    lines = [
        "# Verification manual",
        "",
        f"{count} problems with known answers, {numbers} numbers beside their targets. Each has its model, the source",
        "of the target, and what every element, law or method gives that was tried. The largest deviation of each",
        "stands in the table; the pages have all. A dash for what is accepted: a number that is shown, but not judged,",
        "as of elements that are known to lock. All is computed and written anew by",
        "",
        f"    {COMMAND}                      all",
        f"    {COMMAND} --only NAME ...      some of them",
        f"    {COMMAND} --list               their names",
        "",
        "which also says which numbers are not within what is accepted. Numbers are kept in `records.json`, from which",
        "these pages are written.",
        "",
        "| problem | largest deviation | of | accepted |",
        "| --- | --- | --- | --- |",
    ]
    for family, members in families.items():
        lines.append(f"| **[{family}]({file_of(family)})** | | | |")
        for one in members:
            row = largest(one, rows_of(records[one.name]))
            link = f"[{one.title}]({file_of(family)}#{anchor(one.title)})"
            of = cell(f"{row.by}: {row.what}")
            lines.append(f"| {link} | {deviation(row)} | {of} | {limit(one.limit(row))} |")
    pages[INDEX] = "\n".join(lines) + "\n"
    return pages
