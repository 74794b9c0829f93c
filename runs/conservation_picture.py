"""The conservation report in one picture: changes over time with their floors, verdicts, and where the energy went."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from symplex.base.columns import WORK
from symplex.meshes.pictures.figures import BAD, COLOURS, DOUBTFUL, GOOD, NEUTRAL, Curve, Panel, draw_page
from symplex.runs.history import columns_of
from symplex.runs.invariants import ROUND_OFF, Part, PartRows, Quantity, Verdict
from symplex.units import si_scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from symplex.runs.conservation_report import Conservation

_MARKS: dict[Verdict, str] = {
    "round-off": GOOD,
    "solver": GOOD,
    "oscillates": DOUBTFUL,
    "drifts": BAD,
    "changed": NEUTRAL,
    "at rest": NEUTRAL,
}
_DASHES, _LINE = (0, (4, 3)), 0.052  # of a floor, and the height of a line of words, of that of a panel


def draw(report: Conservation, path: Path) -> Path:
    """Draw a report to a file and return it."""
    changes = [_changes(report), *([_works(report)] if any(part.works for part in report.parts) else [])]
    title = f"Conservation: {report.title}" if report.title else "Conservation"
    return draw_page([changes, [_verdicts(report.parts)]], path, title)


def _changes(report: Conservation) -> Panel:
    """Return the changes of what can be kept, with the floors of round-off."""
    scale, unit = si_scale(float(np.abs(report.history["t"]).max()), "s")
    colours, curves, shown = _colours(report.parts), [], set()
    for part in report.parts:
        rows = PartRows(report.history, part.expected)
        found = rows.curves()
        for one in part.quantities:
            if not _is_drawn(one) or one.scale <= 0.0:
                continue
            values, colour = found[one.name][0], colours[one.name]
            change = np.abs(values - values[0]) / one.scale
            seen = change > 0.0  # nothing is drawn where nothing has changed
            label = "" if one.name in shown else one.name.replace("_", " ")
            shown.add(one.name)
            curves.append(Curve(rows.t[seen] * scale, change[seen], label, colour))
            steps = np.linspace(0.0, 1.0, 50)[1:]
            floor = ROUND_OFF * one.floor / one.scale * np.sqrt(steps)
            t = rows.t[0] + steps * (rows.t[-1] - rows.t[0])
            curves.append(Curve(t * scale, floor, "", colour, _DASHES, 0.9))
    title = "relative changes of what can be kept; dashed: round-off"
    return Panel(title, x=f"time ({unit})", curves=curves, log=True)


def _works(report: Conservation) -> Panel:
    """Return the work and heat since the start, and the changes of the total energy and the balance."""
    history, columns = report.history, columns_of(report.history)
    time_scale, time_unit = si_scale(float(np.abs(history["t"]).max()), "s")
    works = [column for column in columns.values() if column.kind == "work" and column.name in history]
    found = {one.name.removeprefix("work_").replace("_", " "): history[one.name] for one in works}
    totals = {f"change of {name}": history[name] - history[name][0] for name in ("total", "balance") if name in history}
    scale, unit = si_scale(max(float(np.abs(curve).max()) for curve in (found | totals).values()), "J")
    colours = {"change of total": "black", "change of balance": "0.55"}
    curves = [
        Curve(history["t"] * time_scale, y * scale, name, colours.get(name, COLOURS[k % len(COLOURS)]))
        for k, (name, y) in enumerate((found | totals).items())
    ]
    return Panel(f"{WORK} put in since the start", unit, f"time ({time_unit})", curves)


def _colours(parts: tuple[Part, ...]) -> dict[str, str]:
    """Return a colour for each quantity that could be kept in a part of the run."""
    names = dict.fromkeys(one.name for part in parts for one in part.quantities if _is_drawn(one))
    return {name: COLOURS[k % len(COLOURS)] for k, name in enumerate(names)}


def _is_drawn(one: Quantity) -> bool:
    return not one.changed_by and one.verdict != "at rest"


def _verdicts(parts: tuple[Part, ...]) -> Panel:
    """Return what the report says, in words."""
    from symplex.runs.conservation_report import part_title, words_of

    lines: list[tuple[str, str, str]] = []
    for part in parts:
        lines.append(("", part_title(part, len(parts) > 1), ""))
        lines += [(name, words, _MARKS[verdict]) for name, words, verdict in words_of(part.quantities)]
    return Panel("", height=max(_LINE * (len(lines) + 1), 0.2), draw=partial(_write, lines=lines))


def _write(axes: Axes, lines: list[tuple[str, str, str]]) -> None:
    from textwrap import shorten

    axes.set_axis_off()
    for k, (name, words, mark) in enumerate(lines):
        y = 1.0 - (k + 0.5) / len(lines)
        if not mark:
            axes.text(0.0, y, shorten(words, 170), fontsize=9, va="center", fontweight="bold", transform=axes.transAxes)
            continue
        axes.plot([0.008], [y], "o", color=mark, markersize=7, transform=axes.transAxes, clip_on=False)
        axes.text(0.02, y, name, fontsize=9, va="center", transform=axes.transAxes)
        axes.text(0.22, y, shorten(words, 150), fontsize=9, va="center", color="0.3", transform=axes.transAxes)
