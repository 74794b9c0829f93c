"""The pictures of a run: a plot of its history, snapshots and a film of its frames."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from symplex.base.streams import printable
from symplex.errors import OutputError, RenderError, SymplexError
from symplex.meshes.pictures.render import render_film, render_snapshots
from symplex.meshes.pictures.view import View
from symplex.meshes.series.series import Series, read_series
from symplex.runs.history import read_history
from symplex.runs.plots import compare_histories, plot_history
from symplex.runs.results import Folder
from symplex.scenario.scenario import Scenario

Show = Callable[[str, float], None]

Triple = tuple[float, float, float]

_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
_DIRECTIONS = {**_AXES, **{f"-{axis}": (-x, -y, -z) for axis, (x, y, z) in _AXES.items()}}


def draw_all(folder: Folder, *, film: str, title: str = "", show: Show = lambda picture, part: None) -> str:
    """Draw all pictures of a run and return why some were skipped, if they were.

    Parameters
    ----------
    folder : Folder
    film : {"auto", "mp4", "gif", "none"}
    title : str, optional
        Over the plot.
    show : callable, optional
        Told the name of the picture that is being drawn, and the part of it that is done.
    """
    try:
        show(folder.plot.name, 0.0)
        history, stages = read_history(folder.history), _stages(folder.read_summary())
        plot_history(history, folder.plot, title=title or None, stages=stages)
        show(folder.snapshots.name, 0.0)
        draw_snapshots(folder)
        if film != "none":
            draw_film(folder, film, show=show)
    except (RenderError, OutputError) as error:
        return str(error)
    return ""


def draw_plot(folders: Sequence[Folder], output: str | Path | None = None) -> Path:
    """Plot the history of one run, or those of several over each other, and return the file.

    Parameters
    ----------
    folders : sequence of Folder
    output : path-like, optional
        Default: ``history.png`` in the folder of one run, ``comparison.png`` here for several.

    Raises
    ------
    OutputError
        If a history cannot be read or the picture cannot be written.
    """
    if len(folders) == 1:
        if output is None:
            folders[0].refuse_links()
        summary = folders[0].read_summary()
        history, title = read_history(folders[0].history), summary.get("title")
        return plot_history(history, output or folders[0].plot, title=title, stages=_stages(summary))
    names = [folder.path.resolve().name for folder in folders]
    names = names if len(set(names)) == len(names) else [str(folder.path) for folder in folders]
    labels = [printable(name) for name in names]  # fonts have no letters for what is no UTF-8
    histories = {label: read_history(folder.history) for label, folder in zip(labels, folders, strict=True)}
    return compare_histories(histories, output or "comparison.png")


def _stages(summary: Mapping[str, Any]) -> dict[str, float]:
    """Return when the stages of a run have begun, those that have, but for one that is all of it."""
    found: dict[str, float] = {}
    for k, part in enumerate(summary.get("stages", ())):
        if "energy_end" in part:
            # Of a stage in several parts it is the first; a run without stages has parts without names.
            found.setdefault(part["name"] or f"part {k + 1}", part["start"])
    return found if len(found) > 1 else {}


def draw_snapshots(
    folder: Folder,
    *,
    field: str | None = None,
    view: View | None = None,
    times: Sequence[float] | None = None,
    output: str | Path | None = None,
) -> Path:
    """Draw snapshots of a run, by default to ``snapshots.png`` in its folder, and return the file.

    Gravity points down, unless the view says what points up.

    Raises
    ------
    RenderError
        If nothing can be drawn here, there is no such field, or a section meets no body.
    OutputError
        If the frames cannot be read, a time is outside the run, or the picture cannot be written.
    """
    if output is None:
        folder.refuse_links()
    series = read_series(folder.series)
    output = output or folder.snapshots
    return render_snapshots(series, output, times=times, field=field or shown_field(series), view=upright(view, folder))


def draw_film(
    folder: Folder,
    kind: str = "auto",
    *,
    field: str | None = None,
    view: View | None = None,
    show: Show = lambda picture, part: None,
) -> Path:
    """Draw a film of a run to ``film.mp4`` or ``film.gif`` in its folder, and return the file.

    Raises
    ------
    RenderError, OutputError
        As `draw_snapshots`; also if an .mp4 is asked for and cannot be encoded here.
    """
    folder.refuse_links()
    series = read_series(folder.series)
    path = folder.film("gif" if kind == "gif" else "mp4")
    show("the film", 0.0)
    path = render_film(
        series,
        path,
        field=field or shown_field(series),
        view=upright(view, folder),
        progress=lambda part: show("the film", part),
    )
    if kind == "mp4" and path.suffix != ".mp4":
        raise RenderError(f"an .mp4 needs the package imageio-ffmpeg; {path} was written instead.")
    return path


def view_of(direction: str, section: str | None = None, up: str | None = None) -> View:
    """Return a view from words.

    Parameters
    ----------
    direction : str
        ``auto``, or to the eye: an axis such as ``x`` or ``-y``, or three numbers such as ``1,-2,0.5``.
    section : str, optional
        Across which axis the bodies are cut, ``z``, and at will where, ``z=0.05``, in m.
    up : str, optional
        What points up, as ``direction``; ``auto`` is as without it.

    Raises
    ------
    OutputError
        If one is none of these.
    """
    axis, place = (None, None) if section is None else _section(section)
    upwards = _direction(up or "auto", "upward direction")
    return View(direction=_direction(direction, "view"), up=upwards, section=axis, origin=place)


def _direction(word: str, what: str) -> Triple | None:
    if word == "auto":
        return None
    if word in _DIRECTIONS:
        return _DIRECTIONS[word]
    try:
        x, y, z = (float(number) for number in word.split(","))
    except ValueError:
        raise OutputError(
            f"'{word}' is no {what}; take auto, {', '.join(_DIRECTIONS)}, or three numbers such as 1,-2,0.5."
        ) from None
    return x, y, z


def _section(word: str) -> tuple[str, Triple | None]:
    """Return the axis across which a section is, and a point of it if there is one."""
    axis, _, place = word.partition("=")
    try:
        normal = _AXES[axis]
        at = float(place) if "=" in word else None
    except (KeyError, ValueError):
        raise OutputError(f"'{word}' is no section; take x, y or z, or with its place in m, such as z=0.05.") from None
    if at is None:
        return axis, None
    x, y, z = (at if component else 0.0 for component in normal)
    return axis, (x, y, z)


def upright(view: View | None, folder: Folder) -> View:
    """Return a view in which the gravity of a run points down, if the view leaves open what points up."""
    view = view or View()
    if view.up is not None:
        return view
    try:
        gravity = Scenario.read(folder.scenario).tables.gravity
    except SymplexError:  # of another version; the obstacles are left to tell what is up
        return view
    if gravity is None or not any(gravity.acceleration):
        return view
    x, y, z = gravity.acceleration
    return replace(view, up=(-x, -y, -z))


def shown_field(series: Series) -> str:
    """Return what colours show where nothing is asked for."""
    return next((name for name in ("von_mises", "axial_force") if name in series.cell_fields), "displacement")
