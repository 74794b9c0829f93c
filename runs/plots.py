"""Plots of time histories: energies, momenta, contact force, steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from symplex.base.arguments import checked
from symplex.errors import OutputError
from symplex.meshes.pictures.figures import plain_style, require_format, save_figure
from symplex.runs.history import History
from symplex.time.totals import ALL_TOTALS, LESS_WORK, relative_energy_changes
from symplex.units import si_scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_AXES = "xyz"
_AXIS_COLOURS = ("#c0392b", "#2e8b57", "#2c5fa8")
_RUN_COLOURS = ("#1f4e79", "#d1622b", "#3a8f5c", "#8e4f9e", "#b8912f", "#4d4d4d")
_STYLES = ("-", "--", ":", "-.")
# Where energies are larger than their changes by this factor, the changes are plotted.
_OFFSET = 10.0
# Columns that are neither energies nor vectors.
_STATISTICS = ("temperature", "events", "steps", "crossings", "iterations", "held", "dt")


def _columns(panel: _Panel, history: History) -> dict[str, np.ndarray]:
    return {name: history[name] for name in panel.columns if name in history}


class _Panel(NamedTuple):
    """A plot of some columns over time, in one unit."""

    title: str
    unit: str
    columns: Sequence[str]
    values: Callable[[_Panel, History], dict[str, np.ndarray]] = _columns
    log: bool = False


@checked
def plot_history(history: History, path: str | Path, *, title: str | None = None) -> Path:
    """Plot everything in a history into one picture.

    Parameters
    ----------
    history : mapping of str to float64 [rows]
        Columns by name, as `symplex.runs.history.read_history` returns them.
    path : path-like
        The picture, in a format that matplotlib writes.
    title : str, optional

    Returns
    -------
    Path
        The file.

    Raises
    ------
    OutputError
        If the history has no rows or no energies, or the picture cannot have the suffix of the path or be written.
    """
    return compare_histories({"": history}, path, title=title)


@checked
def compare_histories(histories: Mapping[str, History], path: str | Path, *, title: str | None = None) -> Path:
    """Plot several histories over each other, one line style each; see `plot_history`.

    Parameters
    ----------
    histories : mapping of str to history
        Histories by label.
    """
    path = Path(path)
    require_format(path)
    _require(histories, path)
    with plain_style():
        save_figure(_figure(histories, title), path)
    return path


def _figure(histories: Mapping[str, History], title: str | None) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    panels = _panels(histories)
    rows = -(-len(panels) // 2)
    figure = Figure(figsize=(13, 3.4 * rows + (0.5 if title else 0)), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    grid = np.atleast_1d(figure.subplots(rows, 2, sharex=True)).ravel()
    scale, unit = si_scale(max(float(np.abs(h["t"]).max()) for h in histories.values()), "s")
    for axes, panel in zip(grid, panels, strict=False):
        _draw(axes, panel, histories, scale)
    for axes in grid[len(panels) :]:
        axes.set_axis_off()
    for axes in grid[max(0, len(panels) - 2) : len(panels)]:
        axes.set_xlabel(f"time ({unit})")
        axes.tick_params(labelbottom=True)
    if title:
        figure.suptitle(title, fontsize=14)
    return figure


def _require(histories: Mapping[str, History], path: Path) -> None:
    for label, history in histories.items():
        of = f" '{label}'" if label else ""
        if not len(history.get("t", ())):
            raise OutputError(f"{path.name}: the history{of} has no rows; there is nothing to plot.")
        if "kinetic" not in history or "total" not in history:
            raise OutputError(f"{path.name}: the history{of} lacks 'kinetic' or 'total'; it has {', '.join(history)}.")
    if not histories:
        raise OutputError(f"{path.name}: no histories to plot.")


def _panels(histories: Mapping[str, History]) -> list[_Panel]:
    """Return the plots for which there are columns."""
    names = list(dict.fromkeys(name for history in histories.values() for name in history))
    vectors = {
        stem: [f"{stem}_{axis}" for axis in _AXES if f"{stem}_{axis}" in names]
        for stem in ("momentum", "angular_momentum", "contact_force")
    }
    energies = [name for name in names if any(name in _energies(history) for history in histories.values())]
    kept = [name for name in energies if any(name in _kept(history) for history in histories.values())]
    what = f" ({_words(kept[0])})" if len(kept) == 1 and kept[0] != "total" else ""
    changes = _are_offset(histories, energies)
    panels = [
        _Panel("energies" + ", change since the start" * changes, "J", energies, _changes if changes else _columns),
        _Panel(f"relative change of the total energy{what}", "", kept, _relative_changes, log=True),
        _Panel("linear momentum", "kg m/s", vectors["momentum"]),
        _Panel("angular momentum", "kg m²/s", vectors["angular_momentum"]),
        _Panel("contact force", "N", vectors["contact_force"]),
        *(_Panel(name, "s" if name == "dt" else "", [name]) for name in _STATISTICS if name in names),
    ]
    return [panel for panel in panels if panel.columns]


def _energies(history: History) -> list[str]:
    """Return the columns from ``kinetic`` to ``total``, which are in J, and any further total."""
    names = list(history)
    first, last = sorted((names.index("kinetic"), names.index("total")))
    return [*names[first : last + 1], *(name for name in ALL_TOTALS if name in names[last + 1 :])]


def _kept(history: History) -> list[str]:
    """Return the totals that neither loads nor a thermostat change."""
    return [name for name in ALL_TOTALS if name in history and LESS_WORK.get(name) not in history]


def _are_offset(histories: Mapping[str, History], energies: Sequence[str]) -> bool:
    """Whether energies change little beside what they are: of gravity far from the origin, all lines would be flat."""
    columns = [history[name] for history in histories.values() for name in energies if name in history]
    largest = max(float(np.abs(energy).max()) for energy in columns)
    return largest > _OFFSET * max(float(np.ptp(energy)) for energy in columns) > 0


def _draw(axes: Axes, panel: _Panel, histories: Mapping[str, History], time_scale: float) -> None:
    curves = {label: panel.values(panel, history) for label, history in histories.items()}
    largest = max((float(np.abs(y).max()) for by_name in curves.values() for y in by_name.values()), default=0.0)
    scale, unit = (1.0, "") if panel.log else si_scale(largest, panel.unit)
    several_runs, several_columns = len(histories) > 1, len(panel.columns) > 1
    for run, (label, by_name) in enumerate(curves.items()):
        for k, (name, y) in enumerate(by_name.items()):
            axes.plot(
                histories[label]["t"] * time_scale,
                y * scale,
                color=_colour(panel, name, run, several_columns),
                linestyle=_STYLES[run % len(_STYLES)] if several_columns else "-",
                # Later curves are thinner, so that those beneath show where they coincide.
                linewidth=max(1.2, 2.6 - 0.5 * k),
                label=(_words(name) if run == 0 else None) if several_columns else label or None,
            )
    if several_columns and several_runs:
        for run, label in enumerate(histories):
            axes.plot([], [], color="0.35", linestyle=_STYLES[run % len(_STYLES)], label=label)
    axes.set_title(panel.title, fontsize=11, loc="left")
    axes.set_ylabel(unit)
    if panel.log:
        axes.set_yscale("log")
    axes.grid(alpha=0.25)
    axes.margins(x=0.01)
    if several_runs or several_columns:
        axes.legend(fontsize=9, framealpha=0.85)


def _changes(panel: _Panel, history: History) -> dict[str, np.ndarray]:
    return {name: energy - energy[0] for name, energy in _columns(panel, history).items()}


def _relative_changes(panel: _Panel, history: History) -> dict[str, np.ndarray]:
    """Return the relative changes of energies, by size, floored at the resolution of floats, by column."""
    least = np.finfo(float).eps / 2
    return {name: np.maximum(np.abs(relative_energy_changes(history, name)), least) for name in _kept(history)}


def _words(name: str) -> str:
    if name[-2:-1] == "_" and name[-1] in _AXES:
        return name[-1]
    return name.replace("_", " ")


def _colour(panel: _Panel, name: str, run: int, several_columns: bool) -> str:
    if not several_columns:
        return _RUN_COLOURS[run % len(_RUN_COLOURS)]
    if name[-2:-1] == "_" and name[-1] in _AXES:
        return _AXIS_COLOURS[_AXES.index(name[-1])]
    if name == "total" and not panel.log:
        return "black"
    return _RUN_COLOURS[list(panel.columns).index(name) % len(_RUN_COLOURS)]
