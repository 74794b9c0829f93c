"""Plots of time histories: energies, momenta, contact force, steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from symplex.base.arguments import checked
from symplex.base.columns import AXES, ENERGIES, Column, constant_totals
from symplex.errors import OutputError
from symplex.meshes.pictures.figures import place_plots, plain_style, require_format, save_figure
from symplex.meshes.pictures.words import check_dpi, check_size
from symplex.runs.history import Rows, columns_of
from symplex.time.totals import relative_energy_changes
from symplex.units import si_scale

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_AXIS_COLOURS = ("#c0392b", "#2e8b57", "#2c5fa8")
_RUN_COLOURS = ("#1f4e79", "#d1622b", "#3a8f5c", "#8e4f9e", "#b8912f", "#4d4d4d")
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_STYLES = ("-", "--", ":", "-.")
# Where energies are larger than their changes by this factor, the changes are plotted.
_OFFSET = 10.0
_MOST_PANELS = 40  # in the picture of probes
_DPI, _LEAST, _LEAST_INCHES = 120, 64, 2.5
_NARROW = 7.0  # inches; on narrower paper plots are not side by side


def _columns(panel: _Panel, history: Rows) -> dict[str, np.ndarray]:
    return {column.name: history[column.name] for column in panel.columns if column.name in history}


class _Panel(NamedTuple):
    """A plot of some columns over time, in one unit."""

    title: str
    unit: str
    columns: Sequence[Column]
    values: Callable[[_Panel, Rows], dict[str, np.ndarray]] = _columns
    log: bool = False


class Curve(NamedTuple):
    """One curve of a plot.

    Attributes
    ----------
    name : str
        Words for it.
    colour : str
        As ``#1f4e79``.
    y : float64 [rows]
        In the unit of the plot.
    """

    name: str
    colour: str
    y: np.ndarray


class Plotted(NamedTuple):
    """A plot of a history over time as numbers, for others to draw.

    Attributes
    ----------
    title, unit : str
    log : bool
        Whether its axis is logarithmic.
    curves : list of Curve
    """

    title: str
    unit: str
    log: bool
    curves: list[Curve]


def plotted(history: Rows) -> list[Plotted]:
    """Return the plots of a history that `plot_history` draws, as numbers."""
    found = []
    for panel in _panels({"": history}):
        by_name = panel.values(panel, history)
        largest = max((float(np.abs(y).max(initial=0.0)) for y in by_name.values()), default=0.0)
        scale, unit = (1.0, "") if panel.log else si_scale(largest, panel.unit)
        described = {column.name: column for column in panel.columns}
        several = len(panel.columns) > 1
        curves = [
            Curve(_words(described[k]), _colour(panel, described[k], 0, several), y * scale) for k, y in by_name.items()
        ]
        found.append(Plotted(panel.title, unit, panel.log, curves))
    return found


@checked
def plot_history(
    history: Rows,
    path: str | Path,
    *,
    title: str | None = None,
    stages: Mapping[str, float] | None = None,
    width: int | None = None,
    height: int | None = None,
    dpi: float | None = None,
) -> Path:
    """Plot everything in a history into one picture.

    Parameters
    ----------
    history : mapping of str to float64 [rows]
        Columns by name, as `symplex.runs.history.read_history` returns them, with what they are; of a mapping their
        names tell it.
    path : path-like
        The picture, in a format that matplotlib writes.
    title : str, optional
    stages : mapping of str to float, optional
        The times in s at which stages begin, by name: lines mark them.
    width, height : int, optional
        Of the picture in pixels. Default: 13 inches wide, and as high as the plots ask for.
    dpi : float, default 120
        Pixels in an inch, in which letters and lines have their sizes.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    OutputError
        If the history has no rows or no energies, or the picture cannot have the suffix of the path or be written.
    """
    return _plotted({"": history}, path, title, {} if stages is None else stages, Sheet(width, height, dpi or _DPI))


@checked
def compare_histories(
    histories: Mapping[str, Rows],
    path: str | Path,
    *,
    title: str | None = None,
    width: int | None = None,
    height: int | None = None,
    dpi: float | None = None,
) -> Path:
    """Plot several histories over each other, one line style each; see `plot_history`.

    Parameters
    ----------
    histories : mapping of str to history
        Histories by label.
    path : path-like
    title : str, optional
    width, height : int, optional
    dpi : float, optional
        As of `plot_history`.
    """
    return _plotted(histories, path, title, {}, Sheet(width, height, dpi or _DPI))


@checked
def plot_probes(probes: Mapping[str, Rows], path: str | Path, *, title: str | None = None) -> Path:
    """Plot what probes have told into one picture: a plot for each quantity of each of them, up to 40.

    Parameters
    ----------
    probes : mapping of str to history
        As `symplex.runs.probe_files.read_probes` returns them; those without rows are left out.
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
        If there are no rows, or the picture cannot have the suffix of the path or be written.
    """
    path = Path(path)
    require_format(path)
    shown = [{"": history} for history in probes.values() if len(history.get("t", ()))]
    if not shown:
        raise OutputError(f"{path.name}: probes have told nothing yet; there is nothing to plot.")
    with plain_style():
        panels = [(panel, one) for one in shown for panel in _panels(one)]
        if not panels:
            raise OutputError(f"{path.name}: no column of the probes is one that is plotted.")
        save_figure(_drawn(panels[:_MOST_PANELS], title, {}, Sheet(None, None, _DPI)), path)
    return path


class Sheet(NamedTuple):
    """The size of a picture, where it is given, in pixels."""

    width: int | None = None
    height: int | None = None
    dpi: float = _DPI

    def inches(self, rows: int, titled: bool) -> tuple[float, float]:
        """Return the width and the height of a picture with so many rows of plots."""
        return self.inches_or(13.0, 3.4 * rows + (0.5 if titled else 0))

    def inches_or(self, width: float, height: float) -> tuple[float, float]:
        """Return the width and the height of a picture in inches, where they are not given those here."""
        return (
            width if self.width is None else self.width / self.dpi,
            height if self.height is None else self.height / self.dpi,
        )

    def check(self, path: Path) -> None:
        """Refuse a size that no picture can have.

        Raises
        ------
        OutputError
            If it is such.
        """
        try:
            check_dpi(self.dpi)
            check_size(self.width or _LEAST, self.height)
        except ValueError as error:
            raise OutputError(f"{path.name}: {error}") from None
        if min(self.inches(1, False)) < _LEAST_INCHES:
            raise OutputError(
                f"{path.name}: {self.width or self.height} pixels at {self.dpi:g} dpi are too few for its letters; "
                f"it is to be at least {_LEAST_INCHES:g} inches wide and high."
            )


def _plotted(
    histories: Mapping[str, Rows], path: str | Path, title: str | None, stages: Mapping[str, float], sheet: Sheet
) -> Path:
    path = Path(path)
    require_format(path)
    sheet.check(path)
    _require(histories, path)
    with plain_style():
        save_figure(_figure(histories, title, stages, sheet), path)
    return path


def _figure(histories: Mapping[str, Rows], title: str | None, stages: Mapping[str, float], sheet: Sheet) -> Figure:
    return _drawn([(panel, histories) for panel in _panels(histories)], title, stages, sheet)


def _drawn(
    panels: Sequence[tuple[_Panel, Mapping[str, Rows]]], title: str | None, stages: Mapping[str, float], sheet: Sheet
) -> Figure:
    """Return the figure of plots, each of some histories."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    size = sheet.inches(-(-len(panels) // 2), bool(title))
    columns = 2 if size[0] >= _NARROW else 1
    figure = Figure(figsize=size, dpi=sheet.dpi)
    FigureCanvasAgg(figure)
    grid = np.atleast_1d(figure.subplots(-(-len(panels) // columns), columns, sharex=True)).ravel()
    scale, unit = si_scale(max(float(np.abs(h["t"]).max()) for _, of in panels for h in of.values()), "s")
    for axes, (panel, histories) in zip(grid, panels, strict=False):
        _draw(axes, panel, histories, scale)
        _mark(axes, {name: begin * scale for name, begin in stages.items()})
    for axes in grid[len(panels) :]:
        axes.set_axis_off()
    for axes in grid[max(0, len(panels) - columns) : len(panels)]:
        axes.set_xlabel(f"time ({unit})")
        axes.tick_params(labelbottom=True)
    if title:
        figure.suptitle(title, y=1.0 - 0.08 / size[1], va="top", fontsize=14)
    place_plots(figure, grid.reshape(-1, columns), bool(title))
    return figure


def _require(histories: Mapping[str, Rows], path: Path) -> None:
    for label, history in histories.items():
        of = f" '{label}'" if label else ""
        if not len(history.get("t", ())):
            raise OutputError(f"{path.name}: the history{of} has no rows; there is nothing to plot.")
        if "kinetic" not in history or "total" not in history:
            raise OutputError(f"{path.name}: the history{of} lacks 'kinetic' or 'total'; it has {', '.join(history)}.")
    if not histories:
        raise OutputError(f"{path.name}: no histories to plot.")


def _panels(histories: Mapping[str, Rows]) -> list[_Panel]:
    """Return the plots for which there are columns."""
    described = [columns_of(history) for history in histories.values()]
    columns = {name: column for one in described for name, column in one.items()}
    by_title: dict[str, list[Column]] = {}
    for column in columns.values():
        by_title.setdefault(column.plot, []).append(column)
    by_title.pop("", None)
    panels = []
    for title, together in by_title.items():
        unit = together[0].unit
        if title != ENERGIES:
            panels.append(_Panel(title, unit, together))
            continue
        kept = {name for one in described for name in constant_totals(one.values())}
        totals = [column for column in together if column.name in kept]
        what = f" ({_words(totals[0])})" if len(totals) == 1 and totals[0].name != "total" else ""
        changes = _are_offset(histories, together)
        panels += [
            _Panel(title + ", change since the start" * changes, unit, together, _changes if changes else _columns),
            _Panel(f"relative change of the total energy{what}", "", totals, _relative_changes, log=True),
        ]
    return panels


def _are_offset(histories: Mapping[str, Rows], energies: Sequence[Column]) -> bool:
    """Whether energies change little beside what they are: of gravity far from the origin, all lines would be flat."""
    columns = [history[one.name] for history in histories.values() for one in energies if one.name in history]
    largest = max(float(np.abs(energy).max()) for energy in columns)
    return largest > _OFFSET * max(float(np.ptp(energy)) for energy in columns) > 0


def _draw(axes: Axes, panel: _Panel, histories: Mapping[str, Rows], time_scale: float) -> None:
    described = {column.name: column for column in panel.columns}
    curves = {label: panel.values(panel, history) for label, history in histories.items()}
    largest = max((float(np.abs(y).max()) for by_name in curves.values() for y in by_name.values()), default=0.0)
    scale, unit = (1.0, "") if panel.log else si_scale(largest, panel.unit)
    several_runs, several_columns = len(histories) > 1, len(panel.columns) > 1
    for run, (label, by_name) in enumerate(curves.items()):
        for k, (name, y) in enumerate(by_name.items()):
            axes.plot(
                histories[label]["t"] * time_scale,
                y * scale,
                color=_colour(panel, described[name], run, several_columns),
                linestyle=_STYLES[run % len(_STYLES)] if several_columns else "-",
                # Later curves are thinner, so that those beneath show where they coincide.
                linewidth=max(1.2, 2.6 - 0.5 * k),
                label=(_words(described[name]) if run == 0 else None) if several_columns else label or None,
            )
    if several_columns and several_runs:
        for run, label in enumerate(histories):
            axes.plot([], [], color="0.35", linestyle=_STYLES[run % len(_STYLES)], label=label)
    alone = "" if several_columns else _axis(panel.columns[0])
    # Without y matplotlib looks at all ticks for what is in the way of a title.
    axes.set_title(f"{panel.title}, {alone}" if alone else panel.title, fontsize=11, loc="left", y=1.0)
    axes.set_ylabel(unit)
    if panel.log:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(_power)
    axes.grid(alpha=0.25)
    axes.margins(x=0.01)
    if several_runs or several_columns:
        axes.legend(fontsize=9, framealpha=0.85)


def _mark(axes: Axes, stages: Mapping[str, float]) -> None:
    """Mark where stages begin, and call them by their names."""
    for name, begin in stages.items():
        axes.axvline(begin, color="0.45", linestyle=(0, (4, 3)), linewidth=0.8, zorder=0)
        axes.annotate(
            name,
            (begin, 1.0),
            (2, -2),
            xycoords=axes.get_xaxis_transform(),
            textcoords="offset points",
            rotation=90,
            fontsize=7,
            color="0.45",
            va="top",
        )


def _power(value: float, _: object) -> str:
    """Return a number by its power of ten, in plain letters: matplotlib takes a tenth of a second to load formulas."""
    if value <= 0.0:
        return ""
    exponent = int(np.floor(np.log10(value) + 1e-9))
    factor = f"{value / 10.0**exponent:.3g}"
    return f"{'' if factor == '1' else factor + '·'}10{str(exponent).translate(_RAISED)}"


def _changes(panel: _Panel, history: Rows) -> dict[str, np.ndarray]:
    return {name: energy - energy[0] for name, energy in _columns(panel, history).items()}


def _relative_changes(panel: _Panel, history: Rows) -> dict[str, np.ndarray]:
    """Return the relative changes of energies, by size, floored at the resolution of floats, by column."""
    least = np.finfo(float).eps / 2
    kept = constant_totals(columns_of(history).values())
    return {name: np.maximum(np.abs(relative_energy_changes(history, name)), least) for name in kept}


def _words(column: Column) -> str:
    return _axis(column) or column.name.replace("_", " ")


def _axis(column: Column) -> str:
    """Return which component of its vector a column is, as x of ``displacement_x_mean``; nothing if it is none."""
    without = {axis: column.name.replace(f"_{axis}", "", 1) for axis in AXES if f"_{axis}" in column.name}
    return next((axis for axis, vector in without.items() if vector == column.vector), "")


def _colour(panel: _Panel, column: Column, run: int, several_columns: bool) -> str:
    if not several_columns:
        return _RUN_COLOURS[run % len(_RUN_COLOURS)]
    if axis := _axis(column):
        return _AXIS_COLOURS[AXES.index(axis)]
    if column.name == "total" and not panel.log:
        return "#000000"
    return _RUN_COLOURS[panel.columns.index(column) % len(_RUN_COLOURS)]
