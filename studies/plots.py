"""What figures of studies show: numbers over parameters, errors over steps, differences over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from symplex.meshes.pictures.figures import COLOURS, Curve, Panel, is_wide
from symplex.units import si_scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from symplex.studies.histories import Difference

Row = Mapping[str, Any]

_MOST_PANELS = 4  # numbers, and parameters
_MOST_BARS = 12


def sweep_panels(rows: Sequence[Row], keys: Sequence[str], units: Mapping[str, str]) -> list[list[Panel]]:
    """Return the numbers of a study over each of its parameters, a row of panels for each number."""
    names = [name for name in units if any(row.get(name) is not None for row in rows)][:_MOST_PANELS]
    there = {name: [row for row in rows if row.get(name) is not None] for name in names}
    return [[_over(there[name], key, name, units.get(name, ""), keys) for key in keys[:_MOST_PANELS]] for name in names]


def _over(rows: Sequence[Row], key: str, name: str, unit: str, keys: Sequence[str]) -> Panel:
    """Return a number over a parameter: a line for each combination of the others if there are few, else points."""
    others = [other for other in keys if other != key]
    numbers = all(isinstance(row[key], int | float) and not isinstance(row[key], bool) for row in rows)
    ticks = list(dict.fromkeys(_short(row[key]) for row in rows))
    groups: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        x = float(row[key]) if numbers else float(ticks.index(_short(row[key])))
        groups.setdefault(", ".join(f"{other} = {_short(row[other])}" for other in others), []).append((x, row[name]))
    if len(groups) <= len(COLOURS) and len(groups) < len(rows):
        lines = {label if len(groups) > 1 else "": np.array(sorted(group)) for label, group in groups.items()}
        curves = [
            Curve(line[:, 0], line[:, 1], label, colour, mark="o")
            for colour, (label, line) in zip(COLOURS, lines.items(), strict=False)
        ]
    else:
        points = np.array([one for group in groups.values() for one in group])
        curves = [Curve(points[:, 0], points[:, 1], style="", mark="o")]
    x, y = np.concatenate([one.x for one in curves]), np.concatenate([one.y for one in curves])
    title = f"{name}{f' in {unit}' if unit else ''}"
    return Panel(
        title, x=key, curves=curves, log=is_wide(y), log_x=numbers and is_wide(x), ticks=() if numbers else ticks
    )


def _short(value: Any) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 24 else f"{text[:23]}…"


def convergence_panels(
    sizes: np.ndarray, errors: Mapping[str, np.ndarray], orders: Mapping[str, np.ndarray]
) -> list[Panel]:
    """Return errors [levels] over relative sizes [levels] of steps or elements, with lines of the observed orders."""
    curves, slopes = [], []
    for colour, (name, error) in zip(COLOURS, errors.items(), strict=False):
        there = np.isfinite(error) & (error > 0.0)
        order = orders[name][-1]
        label = f"{name}: order {order:.2f}" if np.isfinite(order) else name
        curves.append(Curve(sizes[there], error[there], label, colour, mark="o"))
        if there.any() and np.isfinite(order):
            slope = 0.6 * error[there][0] * (sizes / sizes[there][0]) ** round(order)
            slopes.append(Curve(sizes, slope, colour=colour, style="--", width=0.9))

    def numbers(axes: Axes) -> None:
        for one in slopes:
            order = round(float(np.log(one.y[-1] / one.y[0]) / np.log(one.x[-1] / one.x[0])))
            axes.annotate(str(order), (one.x[-1], one.y[-1]), fontsize=9, color=one.colour, va="top")

    x = "size of steps or elements, relative to the coarsest"
    return [Panel("error", x=x, curves=[*curves, *slopes], log=True, log_x=True, height=1.6, draw=numbers)]


def difference_panels(
    times: np.ndarray, over_time: Mapping[str, np.ndarray], differences: Sequence[Difference]
) -> list[Panel]:
    """Return the root mean squares of differences of fields over time [frames], and the relative differences of all."""
    scale, unit = si_scale(float(np.abs(times).max()), "s")
    units = {one.name: one.unit for one in differences}
    curves = [
        Curve(times * scale, np.where(values > 0.0, values, np.nan), f"{name} in {units[name]}", colour, mark="o")
        for colour, (name, values) in zip(COLOURS, over_time.items(), strict=False)
        if values.any()
    ]
    largest = sorted((one for one in differences if one.relative > 0.0), key=lambda one: one.relative)[-_MOST_BARS:]

    def bars(axes: Axes) -> None:
        axes.barh([one.name for one in largest], [one.relative for one in largest], color=COLOURS[0])
        axes.tick_params(labelsize=8)
        axes.grid(alpha=0.25)

    return [
        Panel("fields: root mean square", x=f"time ({unit})", curves=curves, log=True),
        Panel("largest differences, relative", log_x=bool(largest), draw=bars),
    ]
