"""The pictures of a run: a plot of its history, snapshots and a film of its frames."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from symplex.errors import OutputError, RenderError
from symplex.history import read_history
from symplex.meshes.render import render_film, render_snapshots
from symplex.meshes.scene import View
from symplex.meshes.series import Series, read_series
from symplex.plots import compare_histories, plot_history
from symplex.results import Folder
from symplex.streams import printable

Show = Callable[[str, float], None]

_DIRECTIONS = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1), "-x": (-1, 0, 0), "-y": (0, -1, 0), "-z": (0, 0, -1)}


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
        plot_history(read_history(folder.history), folder.plot, title=title or None)
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
        title = folders[0].read_summary().get("title")
        return plot_history(read_history(folders[0].history), output or folders[0].plot, title=title)
    names = [folder.path.resolve().name for folder in folders]
    names = names if len(set(names)) == len(names) else [str(folder.path) for folder in folders]
    labels = [printable(name) for name in names]  # fonts have no letters for what is no UTF-8
    histories = {label: read_history(folder.history) for label, folder in zip(labels, folders, strict=True)}
    return compare_histories(histories, output or "comparison.png")


def draw_snapshots(
    folder: Folder,
    *,
    field: str | None = None,
    view: View | None = None,
    times: Sequence[float] | None = None,
    output: str | Path | None = None,
) -> Path:
    """Draw snapshots of a run, by default to ``snapshots.png`` in its folder, and return the file.

    Raises
    ------
    RenderError
        If nothing can be drawn here, or there is no such field.
    OutputError
        If the frames cannot be read, or a time is outside the run.
    """
    if output is None:
        folder.refuse_links()
    series = read_series(folder.series)
    return render_snapshots(series, output or folder.snapshots, times=times, field=field or _field(series), view=view)


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
        series, path, field=field or _field(series), view=view, progress=lambda part: show("the film", part)
    )
    if kind == "mp4" and path.suffix != ".mp4":
        raise RenderError(f"an .mp4 needs the package imageio-ffmpeg; {path} was written instead.")
    return path


def view_of(direction: str, section: str | None) -> View:
    """Return a view from a word: ``auto``, an axis such as ``x`` or ``-y`` to look along, or three numbers.

    Raises
    ------
    OutputError
        If it is none of these.
    """
    if direction == "auto":
        return View(section=section)
    if direction in _DIRECTIONS:
        towards = _DIRECTIONS[direction]
    else:
        try:
            x, y, z = (float(word) for word in direction.split(","))
        except ValueError:
            raise OutputError(
                f"'{direction}' is no view; take auto, {', '.join(_DIRECTIONS)}, or three numbers such as 1,-2,0.5."
            ) from None
        towards = (x, y, z)
    up = (0.0, 1.0, 0.0) if towards[0] == towards[1] == 0 else (0.0, 0.0, 1.0)
    return View(direction=towards, up=up, section=section)


def _field(series: Series) -> str:
    """Return what colours show where nothing is asked for."""
    return "von_mises" if "von_mises" in series.cell_fields else "displacement"
