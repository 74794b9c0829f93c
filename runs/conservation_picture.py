"""The conservation report in one picture: changes over time with their floors, verdicts, and where the energy went."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from symplex.base.columns import WORK
from symplex.meshes.pictures.figures import plain_style, require_format, save_figure
from symplex.runs.history import columns_of
from symplex.runs.invariants import ROUND_OFF, Part, PartRows, Quantity, Verdict
from symplex.units import si_scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from symplex.runs.conservation_report import Conservation

_COLOURS = ("#1f4e8c", "#d1731f", "#2f8f4e", "#a83232", "#6f4fa0", "#8a7a1f", "#2a8f8f", "#a0567f")
_MARKS: dict[Verdict, str] = {
    "round-off": "#2f8f4e",
    "solver": "#2f8f4e",
    "oscillates": "#c9a227",
    "drifts": "#a83232",
    "changed": "#8a94a3",
    "at rest": "#8a94a3",
}


def draw(report: Conservation, path: Path) -> Path:
    """Draw a report to a file and return it."""
    require_format(path)
    with plain_style():
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        works = any(part.works for part in report.parts)
        listed = sum(len(part.quantities) for part in report.parts)
        height = max(4.2 + 2.6 * works, 1.2 + 0.36 * listed + 0.5 * len(report.parts))
        figure = Figure(figsize=(13.0, height), dpi=110, layout="constrained")
        FigureCanvasAgg(figure)
        figure.suptitle(f"Conservation: {report.title}" if report.title else "Conservation", fontsize=13)
        grid = figure.add_gridspec(1 + works, 2, width_ratios=(1.0, 0.9), height_ratios=(1.6, 1.0)[: 1 + works])
        last = float(np.abs(report.history["t"]).max())
        time_scale, unit = si_scale(last, "s")
        changes = figure.add_subplot(grid[0, 0])
        _draw_changes(changes, report, time_scale)
        lowest = changes
        if works:
            lowest = figure.add_subplot(grid[1, 0], sharex=changes)
            _draw_works(lowest, report, time_scale)
        lowest.set_xlabel(f"time ({unit})")
        _write_verdicts(figure.add_subplot(grid[:, 1]), report.parts)
        save_figure(figure, path)
    return path


def _colours(parts: tuple[Part, ...]) -> dict[str, str]:
    """Return a colour for each quantity that could be kept in a part of the run."""
    names = dict.fromkeys(one.name for part in parts for one in part.quantities if _is_drawn(one))
    return {name: _COLOURS[k % len(_COLOURS)] for k, name in enumerate(names)}


def _is_drawn(one: Quantity) -> bool:
    return not one.changed_by and one.verdict != "at rest"


def _draw_changes(axes: Axes, report: Conservation, time_scale: float) -> None:
    colours, shown = _colours(report.parts), set()
    for part in report.parts:
        rows = PartRows(report.history, part.expected)
        curves = rows.curves()
        for one in part.quantities:
            if not _is_drawn(one) or one.scale <= 0.0:
                continue
            values = curves[one.name][0]
            change = np.abs(values - values[0]) / one.scale
            label = None if one.name in shown else one.name.replace("_", " ")
            shown.add(one.name)
            style = {"color": colours[one.name], "linewidth": 1.4, "label": label}
            seen = change > 0.0  # nothing is drawn where nothing has changed
            axes.semilogy(rows.t[seen] * time_scale, change[seen], **style)
            steps = np.linspace(0.0, 1.0, 50)[1:]
            floor = ROUND_OFF * one.floor / one.scale * np.sqrt(steps)
            t = rows.t[0] + steps * (rows.t[-1] - rows.t[0])
            axes.semilogy(t * time_scale, floor, color=colours[one.name], linewidth=0.9, linestyle=(0, (4, 3)))
    axes.set_title("changes of what can be kept, as parts of what moves; dashed: round-off", fontsize=11, loc="left")
    axes.grid(alpha=0.25)
    axes.margins(x=0.01)
    if shown:
        axes.legend(fontsize=8, framealpha=0.85, ncols=2)


def _draw_works(axes: Axes, report: Conservation, time_scale: float) -> None:
    history, columns = report.history, columns_of(report.history)
    works = [column for column in columns.values() if column.kind == "work" and column.name in history]
    curves = {one.name.removeprefix("work_").replace("_", " "): history[one.name] for one in works}
    curves |= {name: history[name] - history[name][0] for name in ("total", "balance") if name in history}
    scale, unit = si_scale(max(float(np.abs(curve).max()) for curve in curves.values()), "J")
    for k, (name, curve) in enumerate(curves.items()):
        style = {"total": "black", "balance": "0.55"}.get(name, _COLOURS[k % len(_COLOURS)])
        label = f"change of the {name}" if name in ("total", "balance") else name
        axes.plot(history["t"] * time_scale, curve * scale, color=style, linewidth=1.4, label=label)
    axes.set_title(f"{WORK} put in since the start, and what the total energy has made of it", fontsize=11, loc="left")
    axes.set_ylabel(unit)
    axes.grid(alpha=0.25)
    axes.legend(fontsize=8, framealpha=0.85)


def _write_verdicts(axes: Axes, parts: tuple[Part, ...]) -> None:
    from textwrap import shorten

    from symplex.runs.conservation_report import part_title, words_of

    axes.set_axis_off()
    lines: list[tuple[str, str, str]] = []
    for part in parts:
        lines.append(("", part_title(part, len(parts) > 1), ""))
        for name, words, verdict in words_of(part.quantities):
            lines.append((name, words, _MARKS[verdict]))
    step = 1.0 / max(len(lines) * 1.6, 12.0)
    y = 1.0
    for name, words, mark in lines:
        if not mark:
            axes.text(0.0, y, shorten(words, 88), fontsize=9, va="top", fontweight="bold", transform=axes.transAxes)
            y -= 1.1 * step
            continue
        axes.plot([0.012], [y - 0.2 * step], "o", color=mark, markersize=7, transform=axes.transAxes, clip_on=False)
        axes.text(0.035, y, name, fontsize=9, va="top", transform=axes.transAxes)
        axes.text(
            0.035, y - 0.62 * step, shorten(words, 96), fontsize=8, va="top", color="0.3", transform=axes.transAxes
        )
        y -= 1.6 * step
