"""Plots of time histories: energies, momenta, contact force, steps, and phase planes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np

from symplex.base.arguments import checked
from symplex.base.columns import AXES, ENERGIES, WORK, Column, constant_totals
from symplex.errors import OutputError
from symplex.meshes.pictures.figures import (
    AXIS_COLOURS,
    COLOURS,
    STYLES,
    Curve,
    Panel,
    Sheet,
    draw_page,
    require_format,
)
from symplex.runs.history import Rows, columns_of
from symplex.time.totals import relative_energy_changes
from symplex.units import si_scale

_OFFSET = 10.0  # where energies are larger than their changes by this factor, the changes are plotted
_MOST_PANELS = 40  # in the picture of probes
_MOVES = 1e-9  # of the largest component, below which a component is at rest
_NONE: Mapping[str, float] = MappingProxyType({})


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
        names report it.
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
    sheet = Sheet(width, height, dpi or Sheet().dpi)
    path = _allowed({"": history}, path, sheet)
    return draw_page(panels_of({"": history}, stages or _NONE), path, title, sheet)


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
    sheet = Sheet(width, height, dpi or Sheet().dpi)
    path = _allowed(histories, path, sheet)
    return draw_page(panels_of(histories), path, title, sheet)


@checked
def plot_probes(probes: Mapping[str, Rows], path: str | Path, *, title: str | None = None) -> Path:
    """Plot what probes have reported into one picture: a plot for each quantity of each of them, up to 40.

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
    shown = [history for history in probes.values() if len(history.get("t", ()))]
    if not shown:
        raise OutputError(f"{path.name}: probes have no rows yet; there is nothing to plot.")
    last = max(float(np.abs(history["t"]).max()) for history in shown)
    panels = [panel for history in shown for panel in panels_of({"": history}, last=last)]
    if not panels:
        raise OutputError(f"{path.name}: no column of the probes is one that is plotted.")
    return draw_page(panels[:_MOST_PANELS], path, title)


def _allowed(histories: Mapping[str, Rows], path: str | Path, sheet: Sheet) -> Path:
    """Return a path as one, if histories can be plotted to it."""
    path = Path(path)
    require_format(path)
    sheet.check(path)
    for label, history in histories.items():
        of = f" '{label}'" if label else ""
        if not len(history.get("t", ())):
            raise OutputError(f"{path.name}: the history{of} has no rows; there is nothing to plot.")
        if "kinetic" not in history or "total" not in history:
            raise OutputError(f"{path.name}: the history{of} lacks 'kinetic' or 'total'; it has {', '.join(history)}.")
    if not histories:
        raise OutputError(f"{path.name}: no histories to plot.")
    return path


def panels_of(
    histories: Mapping[str, Rows], stages: Mapping[str, float] = _NONE, last: float | None = None
) -> list[Panel]:
    """Return the plots of histories by label, over the time: those for which there are columns.

    Parameters
    ----------
    histories : mapping of str to history
    stages : mapping of str to float, optional
        The times in s at which stages begin, by name, which are marked.
    last : float, optional
        The time in s by which the unit of all times is chosen; default: the last one of the histories.
    """
    described = [columns_of(history) for history in histories.values()]
    columns = {name: column for one in described for name, column in one.items()}
    if last is None:
        last = max((float(np.abs(one["t"]).max()) for one in histories.values()), default=0.0)
    scale, unit = si_scale(last, "s")
    over = {"x": f"time ({unit})", "marks": {name: begin * scale for name, begin in stages.items()}}
    times = {label: one["t"] * scale for label, one in histories.items()}
    by_title: dict[str, list[Column]] = {}
    for column in columns.values():
        if column.plot and not (column.kind == "count" and _is_even(column.name, histories)):
            by_title.setdefault(column.plot, []).append(column)
    panels = []
    for title, together in by_title.items():
        values = {
            label: {column.name: one[column.name] for column in together if column.name in one}
            for label, one in histories.items()
        }
        if title != ENERGIES:
            panels.append(_panel(Panel(title, together[0].unit, **over), together, values, times))
            continue
        kept = {name for one in described for name in constant_totals(one.values())}
        totals = [column for column in together if column.name in kept]
        what = f" ({_words(totals[0])})" if len(totals) == 1 and totals[0].name != "total" else ""
        if _are_offset([y for by_name in values.values() for y in by_name.values()]):
            title += ", change since the start"
            values = {label: {name: y - y[0] for name, y in by_name.items()} for label, by_name in values.items()}
        relative = Panel(f"relative change of the total energy{what}", log=True, **over)
        changes = {label: _relative_changes(one) for label, one in histories.items()}
        panels += [
            _panel(Panel(title, together[0].unit, **over), together, values, times),
            _panel(relative, totals, changes, times),
        ]
    return panels + [panel for history in histories.values() if len(histories) == 1 for panel in _phases(history)]


def _panel(
    panel: Panel,
    columns: Sequence[Column],
    values: Mapping[str, Mapping[str, np.ndarray]],
    times: Mapping[str, np.ndarray],
) -> Panel:
    """Return a panel with the values of columns by label of the run, in a readable unit."""
    largest = max((float(np.abs(y).max(initial=0.0)) for one in values.values() for y in one.values()), default=0.0)
    scale, unit = (1.0, "") if panel.log else si_scale(largest, panel.unit)
    several_runs, several = len(values) > 1, len(columns) > 1
    described = {column.name: column for column in columns}
    words = dict(zip(described, _distinguished([_words(column) for column in columns]), strict=True))
    curves = []
    for run, (label, by_name) in enumerate(values.items()):
        for k, (name, y) in enumerate(by_name.items()):
            said = (words[name] if run == 0 else "") if several else label
            style = STYLES[run % len(STYLES)] if several else "-"
            # Later curves are thinner, so that those beneath show where they coincide.
            colour, width = _colour(columns, described[name], run, panel.log), max(1.2, 2.6 - 0.5 * k)
            curves.append(Curve(times[label], y * scale, said, colour, style, width))
    if several and several_runs:
        none = np.empty(0)
        curves += [Curve(none, none, label, "#595959", STYLES[k % len(STYLES)]) for k, label in enumerate(values)]
    alone = columns[0].name.removeprefix("work_").replace("_", " ") if panel.title == WORK else _axis(columns[0])
    axis = "" if several else alone
    return replace(panel, title=f"{panel.title}, {axis}" if axis else panel.title, unit=unit, curves=curves)


def _is_even(name: str, histories: Mapping[str, Rows]) -> bool:
    """Return whether a count grows evenly with time, as that of constant steps does: it shows nothing."""
    for history in histories.values():
        if name not in history or len(history["t"]) < 3:
            continue
        t, n = history["t"], history[name]
        line = np.interp(t, (t[0], t[-1]), (n[0], n[-1]))
        if not np.abs(n - line).max() <= 1.0:
            return False
    return True


def _are_offset(energies: Sequence[np.ndarray]) -> bool:
    """Return whether energies change little for what they are: of gravity far from the origin, all would be flat."""
    largest = max(float(np.abs(energy).max()) for energy in energies)
    return largest > _OFFSET * max(float(np.ptp(energy)) for energy in energies) > 0


def _relative_changes(history: Rows) -> dict[str, np.ndarray]:
    """Return the relative changes of energies, by size, floored at the resolution of floats, by column."""
    least = np.finfo(float).eps / 2
    kept = constant_totals(columns_of(history).values())
    return {name: np.maximum(np.abs(relative_energy_changes(history, name)), least) for name in kept}


def _phases(history: Rows) -> list[Panel]:
    """Return phase planes where at most two coordinates move: velocities over positions or displacements.

    Where a history has positions only, velocities are their differences between samples.
    """
    if len(history["t"]) < 3:
        return []
    columns = columns_of(history)
    vectors: dict[str, dict[str, np.ndarray]] = {}
    for name, column in columns.items():
        if column.kind == "length" and column.subject.startswith(("position", "displacement")) and name in history:
            vectors.setdefault(column.subject, {})[name] = history[name]
    if any(name.startswith("spin") for name in columns):  # of a rigid body, which has six
        return []
    size = max((float(np.ptp(x)) for vector in vectors.values() for x in vector.values()), default=0.0)
    moving = [
        (of, name, x) for of, vector in vectors.items() for name, x in vector.items() if np.ptp(x) > _MOVES * size
    ]
    if not 1 <= len(moving) <= 2:
        return []
    panels = []
    for of, name, x in moving:
        rate = name.replace(of.split("_")[0], "velocity", 1)
        if rate not in history and of.startswith("displacement"):  # of a body, whose probe was not asked for it
            return []
        v = history[rate] if rate in history else np.gradient(x, history["t"], edge_order=2)
        (along, length), (upwards, speed) = (
            si_scale(float(np.abs(x).max()), "m"),
            si_scale(float(np.abs(v).max()), "m/s"),
        )
        words = columns[name].plot or of.replace("_", " ")
        words += f", {_axis(columns[name])}" if _axis(columns[name]) else ""
        colour = AXIS_COLOURS[AXES.index(_axis(columns[name]) or "z")]
        curves = [
            Curve(x * along, v * upwards, colour=colour),
            Curve(x[:1] * along, v[:1] * upwards, "start", colour, "", mark="o"),
        ]
        panels.append(Panel(f"phase plane: {words}", speed, f"{words} ({length})", curves))
    return panels


def _distinguished(labels: list[str]) -> list[str]:
    """Return labels without the words with which all begin, and which the title of their panel has."""
    while len(labels) > 1 and all(" " in one for one in labels) and len({one.partition(" ")[0] for one in labels}) == 1:
        labels = [label.partition(" ")[2] for label in labels]
    return labels


def _words(column: Column) -> str:
    return _axis(column) or column.name.replace("_", " ")


def _axis(column: Column) -> str:
    """Return which component of its vector a column is, as x of ``displacement_x_mean``; nothing if it is none."""
    without = {axis: column.name.replace(f"_{axis}", "", 1) for axis in AXES if f"_{axis}" in column.name}
    return next((axis for axis, vector in without.items() if vector == column.vector), "")


def _colour(columns: Sequence[Column], column: Column, run: int, log: bool) -> str:
    if len(columns) == 1:
        return COLOURS[run % len(COLOURS)]
    if axis := _axis(column):
        return AXIS_COLOURS[AXES.index(axis)]
    if column.name == "total" and not log:
        return "#000000"
    return COLOURS[[one.name for one in columns].index(column.name) % len(COLOURS)]
