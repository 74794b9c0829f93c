"""The pages of the manual, written from the records alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from verification_manual.problem import PROBLEMS, Problem, Row

INDEX = "README.md"
COMMAND = "python benchmarks/verification_manual"
ROUND_OFF = 1e-9
EXACT = 1e-4  # up to which deviations of a problem are stated by the largest alone
MOST = 8  # values of a line
STATED = ("method", "quantity", "target", "accepted")  # once above a table, where all rows have the same


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


def limit(value: float) -> str:
    """Return how far a number may be off, as it is printed; a dash where it is shown only."""
    if value == float("inf"):
        return "–"
    return f"{100.0 * value:g} %" if value >= 1e-4 else f"{value:g}".replace("-", "−")


def cell(text: str) -> str:
    """Return text that may stand in a table."""
    return text.replace("|", "\\|")


def _worst(rows: list[Row]) -> list[Row]:
    """Return the worst row of each quantity where all of several methods are right to round-off; else all rows."""
    methods = dict.fromkeys(row.by for row in rows)
    if len(methods) < 3 or any(abs(row.deviation) > ROUND_OFF for row in rows):
        return rows
    of: dict[str, list[Row]] = {}
    for row in rows:
        of.setdefault(row.what, []).append(row)
    if any(len({row.target for row in group}) > 1 or len(group) < len(methods) for group in of.values()):
        return rows
    worst = (max(group, key=lambda row: abs(row.deviation)) for group in of.values())
    return [replace(row, by=", ".join(methods)) for row in worst]


def entry(one: Problem, record: Mapping, before: Problem | None = None) -> str:
    """Return the section of a problem after another one; what all rows share is stated once, above the table."""
    rows = rows_of(record)
    source = "as above" if before is not None and before.source == one.source else one.source
    alike = len({one.limit(row) for row in rows}) == 1
    if len(rows) > 2 and alike and all(abs(row.deviation) <= EXACT for row in rows):
        stated = _exact(one, rows)
        return "\n".join([f"## {one.title}", "", one.model, "", f"*Target:* {source}. {stated}", ""])
    rows = _worst(rows)
    scales = [number(row.scale) if row.scale not in (None, 1.0) else "" for row in rows]
    common = scales[0] if len(set(scales)) == 1 else ""
    parts = [f" of {scale}" if scale and not common else "" for scale in scales]
    columns = {
        "method": [row.by for row in rows],
        "quantity": [row.what for row in rows],
        "target": [number(row.target) for row in rows],
        "found": [number(row.found) for row in rows],
        "deviation": [deviation(row) + part for row, part in zip(rows, parts, strict=True)],
        "accepted": [limit(one.limit(row)) for row in rows],
    }
    shown, worst = _crossed(columns), len(rows) < len(record["rows"])
    facts: dict[str, str] = {}
    if len(rows) > 1:
        facts = {head: cells[0] for head, cells in columns.items() if head in STATED and len(set(cells)) == 1}
    if worst:
        facts = {"largest deviations of": rows[0].by} | {head: facts[head] for head in facts if head != "method"}
    if worst or len(rows) > 1:
        del columns["found"]  # the target and the deviation say it
    if shown and (judged := _judged(columns["accepted"])):
        facts["accepted"] = f"{judged} (in brackets: not judged)"
    columns = {head: cells for head, cells in columns.items() if head not in facts and not (worst and head == "method")}
    facts |= {"deviations relative to": common} if common else {}
    lines = shown or [list(columns), *(list(cells) for cells in zip(*columns.values(), strict=True))]
    if "target" in facts:
        facts = {"target value" if head == "target" else head: value for head, value in facts.items()}
    stated = "".join(f" *{head.capitalize()}:* {value}." for head, value in facts.items())
    if list(columns)[1:] in (["deviation"], ["target", "deviation"]) and not shown and len(lines) <= MOST:
        found = "; ".join(f"{what}: {', '.join(cells)}" for what, *cells in lines[1:])
        stated += f" *{lines[0][0].capitalize()}{', target' * (len(columns) > 2)}, deviation:* {found}."
        return "\n".join([f"## {one.title}", "", one.model, "", f"*Target:* {source}.{stated}", ""])
    text = [f"## {one.title}", "", one.model, "", f"*Target:* {source}.{stated}", ""]
    text += [f"| {' | '.join(map(cell, lines[0]))} |", f"|{' --- |' * len(lines[0])}"]
    return "\n".join([*text, *(f"| {' | '.join(map(cell, line))} |" for line in lines[1:]), ""])


def _exact(one: Problem, rows: list[Row]) -> str:
    """Return what is stated of a problem all of whose numbers are exact but for small deviations."""
    of: dict[str, set[float]] = {}
    for row in rows:
        of.setdefault(row.what, set()).add(row.target)
    values = {f"{row.what} ({row.by})" if len(of[row.what]) > 1 else row.what: row.target for row in rows}
    targets = [what if target == 0.0 else f"{what}: {number(target)}" for what, target in values.items()]
    if len(targets) > MOST:
        targets = [*targets[: MOST - 2], f"and {len(targets) - MOST + 2} more in `records.json`"]
    methods = dict.fromkeys(row.by for row in rows)
    worst = max(rows, key=lambda row: abs(row.deviation))
    where = f", {worst.what}, {worst.by}" if len(methods) > 1 and deviation(worst) != "0" else ""
    return (
        f"*Values:* {'; '.join(targets)}. *By:* {', '.join(methods)}. "
        f"*Largest deviation:* {deviation(worst)} (accepted: {limit(one.limit(worst))}){where}."
    )


def _judged(limits: list[str]) -> str:
    """Return the only limit of the rows that are judged, if others are not; else nothing."""
    judged = set(limits) - {"–"}
    return judged.pop() if "–" in limits and len(judged) == 1 else ""


def _crossed(columns: Mapping[str, list[str]]) -> list[list[str]]:
    """Return deviations by quantity and method, where most methods have most quantities; else nothing."""
    limits = columns["accepted"]
    judged = _judged(limits)
    shown = [f"({x})" if judged and y == "–" else x for x, y in zip(columns["deviation"], limits, strict=True)]
    names, fixed = columns["method"], [head for head in ("target", "accepted") if len(set(columns[head])) > 1]
    if judged or len(set(zip(names, limits, strict=True))) == len(set(names)):
        fixed = [head for head in fixed if head != "accepted"]
        if not judged and len(set(limits)) > 1:
            names = [f"{name} (accepted {x})" for name, x in zip(names, limits, strict=True)]
    given: dict[str, tuple[str, ...]] = {}
    lines: dict[tuple[str, int], dict[str, str]] = {}
    for what, method, value, *cells in zip(
        columns["quantity"], names, shown, *(columns[head] for head in fixed), strict=True
    ):
        if given.setdefault(what, tuple(cells)) != tuple(cells):
            return []
        time = sum(method in lines[key] for key in lines if key[0] == what)  # of a quantity that occurs twice
        lines.setdefault((what, time), {})[method] = value
    methods = list(dict.fromkeys(names))
    if min(len(lines), len(methods)) < 2 or len(names) < 0.6 * len(lines) * len(methods):
        return []
    rows = [[what, *given[what], *(cells.get(method, "") for method in methods)] for (what, _), cells in lines.items()]
    table = [["deviation of", *fixed, *methods], *rows]
    return table if len(methods) <= len(lines) else [list(row) for row in zip(*table, strict=True)]


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
        head = f"# Verification: {family.lower()}\n\nWritten by `{COMMAND}` ([all problems](README.md)).\n\n"
        pages[file_of(family)] = head + "\n".join(
            entry(one, records[one.name], before) for one, before in zip(members, [None, *members], strict=False)
        )
    count = sum(map(len, families.values()))
    numbers = sum(len(records[one.name]["rows"]) for members in families.values() for one in members)
    lines = [
        "# Verification manual",
        "",
        f"{count} problems with known solutions, {numbers} compared numbers. Pages give models, sources of targets,",
        "and the deviation of every element, law and method next to what is accepted; *largest* is the one nearest to",
        "its limit, as a part of it. A dash under *accepted*: not judged, e.g. elements known to lock.",
        "",
        f"    {COMMAND}                      compute all and write these pages",
        f"    {COMMAND} --only NAME ...      some problems",
        f"    {COMMAND} --list               their names",
        "",
        "| page | problems | largest |",
        "| --- | --- | --- |",
    ]
    for family, members in families.items():
        file = file_of(family)
        links = ", ".join(f"[{one.title.replace(',', '')}]({file}#{anchor(one.title)})" for one in members)
        parts = [abs(row.deviation) / one.limit(row) for one in members for row in rows_of(records[one.name])]
        lines.append(f"| **[{family}]({file})** | {links} | {max(parts):.2f} |")
    pages[INDEX] = "\n".join(lines) + "\n"
    return pages
