"""The pictures of a run: a plot of its history, snapshots and a film of its frames, seen as its scenario says."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from symplex.base.files import read_whole
from symplex.errors import RenderError, SymplexError
from symplex.meshes.pictures.packages import require_packages
from symplex.meshes.pictures.render import is_rendering
from symplex.meshes.pictures.view import View
from symplex.runs.drawing import Drawn, Look, Show, film_in, plot_run, render_run, snapshots_in
from symplex.runs.results import RunFolder
from symplex.scenario.pictures import ViewTable
from symplex.scenario.scenario import Scenario

if TYPE_CHECKING:
    from symplex.runs.drawing_processes import DrawingProcesses


def draw_all(
    folder: RunFolder,
    *,
    film: str,
    seconds: float,
    look: Look | None = None,
    title: str = "",
    show: Show = lambda picture, part: None,
    processes: DrawingProcesses | None = None,
) -> Drawn:
    """Draw all pictures of a run, and return what was left out.

    Parameters
    ----------
    folder : RunFolder
    film : {"auto", "mp4", "gif", "none"}
        With ``auto`` there is a film if it is drawn in a second, or in a fifth of the time that the run has taken.
    seconds : float
        How long that was.
    look : Look, optional
    title : str, optional
        Over the plot.
    show : callable, optional
        Called with the name of the picture that is being drawn, and the part of it that is done.
    processes : DrawingProcesses, optional
        Those that draw, plots next to frames; without them all is drawn here.
    """
    try:
        require_packages()
    except RenderError as error:
        return Drawn(str(error))
    look = _upright_in(look, folder)
    drawn = None if processes is None else processes.draw(folder, look, film, seconds, title, show)
    if drawn is not None:
        return drawn
    with ThreadPoolExecutor(1) as aside:  # whether anything can be drawn, a process of its own finds out meanwhile
        aside.submit(is_rendering)
        plotted = plot_run(folder, title, show)
    return plotted if plotted.skipped else render_run(folder, look, film, seconds, show)


def draw_snapshots(
    folder: RunFolder,
    look: Look | None = None,
    output: str | Path | None = None,
    *,
    progress: Callable[[float], None] | None = None,
) -> Path:
    """Draw snapshots of a run, with up where its gravity has it; see `symplex.runs.drawing.snapshots_in`."""
    return snapshots_in(folder, _upright_in(look, folder), output, progress=progress)


def draw_film(folder: RunFolder, kind: str = "auto", look: Look | None = None) -> Path:
    """Draw a film of a run to ``film.mp4`` or ``film.gif`` in its folder, and return the file."""
    return film_in(folder, kind, _upright_in(look, folder))


def _upright_in(look: Look | None, folder: RunFolder) -> Look:
    look = look or Look()
    return replace(look, view=upright_in(look.view, folder))


def _scenario_of(folder: RunFolder) -> Scenario | None:
    """Return the scenario of a run; None if it is damaged, another version's, or no file: a pipe keeps us waiting."""
    try:
        return Scenario.parse(read_whole(folder.scenario).decode("utf-8"), folder.scenario)
    except (SymplexError, OSError, UnicodeDecodeError):
        return None


def view_table(folder: RunFolder) -> ViewTable:
    """Return what the scenario of a run says on its pictures, nothing if it cannot be read."""
    scenario = _scenario_of(folder)
    return ViewTable() if scenario is None else scenario.tables.output.view


def upright_in(view: View | None, folder: RunFolder) -> View:
    """Return the view of a run, with gravity pointing down where up is left open, and the pivots of its bodies."""
    scenario = _scenario_of(folder)  # without it the obstacles are left to report what is up
    return (view or View()) if scenario is None else upright(view, scenario)


def upright(view: View | None, scenario: Scenario) -> View:
    """Return a view with gravity pointing down where up is left open, and the pivots of a scenario."""
    view, tables = view or View(), scenario.tables
    pivots = tuple((one.name, one.pivot) for one in tables.rigid_body if one.pivot is not None)
    view = replace(view, pivots=view.pivots or pivots)
    if view.up is not None or tables.gravity is None or not any(tables.gravity.acceleration):
        return view
    x, y, z = tables.gravity.acceleration
    return replace(view, up=(-x, -y, -z))
