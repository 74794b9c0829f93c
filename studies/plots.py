"""Pictures of studies: numbers over parameters, errors over steps, differences over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from symplex.meshes.pictures.figures import plain_style, require_format, save_figure
from symplex.runs.plots import Sheet
from symplex.units import si_scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from symplex.studies.histories import Difference

Row = Mapping[str, Any]

_SHEET = Sheet()

_COLOURS = ("#1f4e79", "#d1622b", "#3a8f5c", "#8e4f9e", "#b8912f", "#4d4d4d", "#5aa5c4", "#c0392b")
_MOST_PANELS = 4  # numbers, and parameters
_MOST_LINES = len(_COLOURS)  # in one plot; more members are points
_MOST_BARS = 12
_LOG = 30.0  # the ratio of the largest to the smallest positive value from which an axis is logarithmic


def _figure(rows: int, columns: int, title: str, sheet: Sheet = _SHEET) -> tuple[Figure, np.ndarray]:
    """Return a figure with so many plots [rows, columns]."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    size = sheet.inches_or(6.0 * columns + (2.0 if columns == 1 else 0.0), 3.6 * rows + 0.5)
    figure = Figure(figsize=size, dpi=sheet.dpi, layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(title, fontsize=13)
    return figure, figure.subplots(rows, columns, squeeze=False)


def plot_sweep(
    rows: Sequence[Row],
    keys: Sequence[str],
    units: Mapping[str, str],
    path: Path,
    title: str,
    sheet: Sheet = _SHEET,
) -> Path:
    """Plot the numbers of a study over each of its parameters: lines where few values of the others make these.

    Raises
    ------
    OutputError
        If the picture cannot be written, or not in this size.
    """
    _check(path, sheet)
    names = [name for name in units if any(row.get(name) is not None for row in rows)][:_MOST_PANELS]
    keys = keys[:_MOST_PANELS]
    with plain_style():
        figure, grid = _figure(len(names), len(keys), title, sheet)
        for i, name in enumerate(names):
            for j, key in enumerate(keys):
                _over(grid[i, j], [row for row in rows if row.get(name) is not None], key, name, keys)
                unit = units.get(name, "")
                grid[i, j].set_title(f"{name}{f' in {unit}' if unit else ''}", fontsize=11, loc="left")
                grid[i, j].set_xlabel(key)
        return save_figure(figure, path)


def _check(path: Path, sheet: Sheet) -> None:
    require_format(path)
    sheet.check(path)


def _over(axes: Axes, rows: Sequence[Row], key: str, name: str, keys: Sequence[str]) -> None:
    """Plot a number over a parameter, a line for each combination of the others if there are few."""
    others = [other for other in keys if other != key]
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(", ".join(f"{other} = {_short(row[other])}" for other in others), []).append(row)
    numbers = all(isinstance(row[key], int | float) and not isinstance(row[key], bool) for row in rows)
    ticks = list(dict.fromkeys(_short(row[key]) for row in rows))

    def x_of(row: Row) -> float:
        return float(row[key]) if numbers else float(ticks.index(_short(row[key])))

    if len(groups) <= _MOST_LINES and len(groups) < len(rows):
        for colour, (label, group) in zip(_COLOURS, groups.items(), strict=False):
            group = sorted(group, key=x_of)
            axes.plot([x_of(row) for row in group], [row[name] for row in group], "o-", color=colour, label=label, ms=4)
        if len(groups) > 1:
            axes.legend(fontsize=8, framealpha=0.85)
    else:
        axes.plot([x_of(row) for row in rows], [row[name] for row in rows], "o", color=_COLOURS[0], ms=4, alpha=0.7)
    if not numbers:
        axes.set_xticks(range(len(ticks)), ticks)
    elif _is_wide([x_of(row) for row in rows]):
        axes.set_xscale("log")
    if _is_wide([row[name] for row in rows]):
        axes.set_yscale("log")
    axes.grid(alpha=0.25)


def _short(value: Any) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 24 else f"{text[:23]}…"


def _is_wide(values: Sequence[float]) -> bool:
    return bool(values) and min(values) > 0.0 and max(values) > _LOG * min(values)


def plot_convergence(
    sizes: np.ndarray,
    errors: Mapping[str, np.ndarray],
    orders: Mapping[str, np.ndarray],
    path: Path,
    title: str,
    sheet: Sheet = _SHEET,
) -> Path:
    """Plot errors [levels] over relative sizes [levels] of steps or elements, with lines of the observed orders.

    Raises
    ------
    OutputError
        If the picture cannot be written, or not in this size.
    """
    _check(path, sheet)
    with plain_style():
        figure, grid = _figure(1, 1, title, sheet)
        axes = grid[0, 0]
        for colour, (name, error) in zip(_COLOURS, errors.items(), strict=False):
            there = np.isfinite(error) & (error > 0.0)
            order = orders[name][-1]
            label = f"{name}: order {order:.2f}" if np.isfinite(order) else name
            axes.plot(sizes[there], error[there], "o-", color=colour, label=label, ms=5)
            if there.any() and np.isfinite(order):
                slope = error[there][0] * (sizes / sizes[there][0]) ** round(order)
                axes.plot(sizes, 0.6 * slope, "--", color=colour, linewidth=0.9, alpha=0.7)
                axes.annotate(f"{round(order)}", (sizes[-1], 0.6 * slope[-1]), fontsize=9, color=colour, va="top")
        axes.set_xscale("log")
        if any((np.isfinite(error) & (error > 0.0)).any() for error in errors.values()):
            axes.set_yscale("log")
        axes.set_xlabel("size of steps or elements, relative to the coarsest")
        axes.set_title("error", fontsize=11, loc="left")
        axes.grid(alpha=0.25, which="both")
        axes.legend(fontsize=9, framealpha=0.85)
        return save_figure(figure, path)


def plot_differences(
    times: np.ndarray,
    over_time: Mapping[str, np.ndarray],
    differences: Sequence[Difference],
    path: Path,
    sheet: Sheet = _SHEET,
) -> Path:
    """Plot the root mean squares of differences of fields over time [frames], and the relative differences of all.

    Raises
    ------
    OutputError
        If the picture cannot be written, or not in this size.
    """
    _check(path, sheet)
    with plain_style():
        figure, grid = _figure(1, 2, "differences", sheet)
        fields, bars = grid[0]
        scale, unit = si_scale(float(np.abs(times).max()), "s")
        units = {one.name: one.unit for one in differences}
        for colour, (name, values) in zip(_COLOURS, over_time.items(), strict=False):
            if values.any():
                shown = np.where(values > 0.0, values, np.nan)
                fields.plot(times * scale, shown, "o-", color=colour, ms=3, label=f"{name} in {units[name]}")
                fields.set_yscale("log")
        fields.set_title("fields: root mean square", fontsize=11, loc="left")
        fields.set_xlabel(f"t in {unit}")
        fields.grid(alpha=0.25)
        if fields.get_legend_handles_labels()[0]:
            fields.legend(fontsize=8, framealpha=0.85)
        largest = sorted((one for one in differences if one.relative > 0.0), key=lambda one: one.relative)[-_MOST_BARS:]
        bars.barh([one.name for one in largest], [one.relative for one in largest], color=_COLOURS[0])
        if largest:
            bars.set_xscale("log")
        bars.tick_params(labelsize=8)
        bars.set_title("largest differences, relative", fontsize=11, loc="left")
        bars.grid(alpha=0.25)
        return save_figure(figure, path)
