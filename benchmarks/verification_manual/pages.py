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


def _cells(one: Problem, row: Row) -> tuple[str, ...]:
    """Return the cells of a row of a problem's table."""
    scaled = f" of {number(row.scale)}" if row.scale not in (None, 1.0) else ""
    measured = (number(row.target), number(row.found), deviation(row) + scaled)
    return row.by, row.what, *measured, limit(one.limit(row))


def entry(one: Problem, record: Mapping) -> str:
    """Return the section of a problem; columns with one value only are stated once, above the table."""
    heads = ("method", "quantity", "target", "found", "deviation", "accepted")
    columns = dict(zip(heads, zip(*(_cells(one, row) for row in rows_of(record)), strict=True), strict=True))
    several = len(columns["found"]) > 1
    same = {
        head: column[0] for head, column in columns.items() if several and head != "found" and len(set(column)) == 1
    }
    facts = "; ".join(f"{head}: {value}" for head, value in same.items())
    stated = f" All rows: {facts}." if facts else ""
    kept = {head: column for head, column in columns.items() if head not in same}
    shown = _crossed(kept) or [list(kept), *(list(row) for row in zip(*kept.values(), strict=True))]
    lines = [f"## {one.title}", "", one.model, "", f"*Target:* {one.source}.{stated}", ""]
    lines += [f"| {' | '.join(map(cell, shown[0]))} |", f"|{' --- |' * len(shown[0])}"]
    lines += [f"| {' | '.join(map(cell, row))} |" for row in shown[1:]]
    return "\n".join([*lines, "", f"    {COMMAND} --only {one.name}", ""])


def _crossed(columns: Mapping[str, tuple[str, ...]]) -> list[list[str]]:
    """Return deviations by quantity and method, where every method has every quantity; else nothing."""
    if not {"method", "quantity", "target", "deviation"} <= set(columns):
        return []
    pairs = list(zip(columns["quantity"], columns["method"], strict=True))
    quantities, methods = list(dict.fromkeys(columns["quantity"])), list(dict.fromkeys(columns["method"]))
    fixed = [head for head in ("target", "accepted") if head in columns]
    given: dict[str, set[tuple[str, ...]]] = {what: set() for what in quantities}
    for what, *cells in zip(columns["quantity"], *(columns[head] for head in fixed), strict=True):
        given[what].add(tuple(cells))
    if len(set(pairs)) < len(quantities) * len(methods) or any(len(cells) > 1 for cells in given.values()):
        return []
    found = dict(zip(pairs, columns["deviation"], strict=True))
    rows = [[what, *next(iter(given[what])), *(found[what, method] for method in methods)] for what in quantities]
    table = [["deviation of", *fixed, *methods], *rows]
    return table if len(methods) <= len(quantities) else [list(row) for row in zip(*table, strict=True)]


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
        f"{count} problems with known solutions and {numbers} compared numbers. Each page gives the models, the",
        "sources of the targets and the result of every element, law or method; the table below has the largest",
        "deviation of each problem. A dash under *accepted*: shown but not judged, e.g. elements known to lock.",
        "Recompute with",
        "",
        f"    {COMMAND}                      all",
        f"    {COMMAND} --only NAME ...      some problems",
        f"    {COMMAND} --list               their names",
        "",
        "Results are stored in `records.json`, from which these pages are written.",
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
