"""Drawing what a run has left in its folder: plots of its histories, snapshots and a film of its frames.

Nothing of mechanics and scenarios is imported here: a process that draws begins with this module (`drawing_processes`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from symplex.base.streams import printable
from symplex.errors import OutputError, RenderError
from symplex.meshes.pictures.figures import plain_style
from symplex.meshes.pictures.film import FRAMES, render_film
from symplex.meshes.pictures.render import plotter_of, render_snapshots, require_rendering
from symplex.meshes.pictures.view import View
from symplex.meshes.series.series import Series, read_series
from symplex.runs.history import read_history
from symplex.runs.plots import compare_histories, plot_history, plot_probes
from symplex.runs.probe_files import read_probes
from symplex.runs.results import RunFolder

if TYPE_CHECKING:
    from symplex.scenario.pictures import ViewTable

Show = Callable[[str, float], None]

# A film is drawn unasked if it takes at most so many seconds, or this part of the time that the run has taken.
_SHORT, _PART = 1.0, 0.2
_FILM_WIDTH = 800  # pixels
_FROM_ANYWHERE = View()
_TOLD = 3  # frames of a film after which it is known how long it takes


@dataclass(frozen=True)
class Look:
    """How pictures of a run are to look.

    Attributes
    ----------
    field : str, optional
        What colours show; default: the von Mises stress, the axial force, or the displacement.
    view : View, default View()
        If it leaves open what points up, gravity points down.
    times : sequence of float, optional
        Of the snapshots, in s; default: six, evenly spaced.
    width, height : int, optional
        Of a picture, and of the film, in pixels.
    dpi : float, optional
        Pixels in an inch of the snapshots.
    """

    field: str | None = None
    view: View = _FROM_ANYWHERE
    times: Sequence[float] | None = None
    width: int | None = None
    height: int | None = None
    dpi: float | None = None

    @classmethod
    def of(cls, table: ViewTable) -> Look:
        """Return what a scenario says."""
        width, height = table.size or (None, None)
        return cls(table.field, table.view(), table.times and list(table.times), width, height, table.dpi)


class _TooLong(Exception):
    """A film would take too long; how many seconds."""


class Drawn(NamedTuple):
    """What was left out of the pictures of a run: why some were skipped, and why there is no film; else empty."""

    skipped: str = ""
    no_film: str = ""


# -- the pictures of a run that has ended -----------------------------------------------------------------------------


def plot_run(folder: RunFolder, title: str, show: Show) -> Drawn:
    """Plot the history of a run and what its probes have reported, and return why if that could not be."""
    show(folder.plot.name, 0.0)
    try:
        history, stages = read_history(folder.history), _stages(folder.read_summary())
        plot_history(history, folder.plot, title=title or None, stages=stages)
        if probes := read_probes(folder.path):
            plot_probes(probes, folder.probe_plot, title=title or None)
    except (RenderError, OutputError) as error:
        return Drawn(str(error))
    return Drawn()


def render_run(folder: RunFolder, look: Look, film: str, seconds: float, show: Show) -> Drawn:
    """Draw snapshots of a run and a film, and return what was left out.

    Parameters
    ----------
    folder : RunFolder
    look : Look
    film : {"auto", "mp4", "gif", "none"}
        With ``auto`` there is a film if it is drawn in a second, or in a fifth of the time that the run has taken.
    seconds : float
        How long that was.
    show : callable
        Called with the name of the picture that is being drawn, and the part of it that is done.
    """
    show(folder.snapshots.name, 0.0)
    drawn: list[float] = []  # times at which snapshots were there
    try:
        snapshots_in(folder, look, progress=lambda part: drawn.append(perf_counter()))
        if film != "none":
            most = max(_SHORT, _PART * seconds) if film == "auto" else None
            if most is not None and (needed := _needed(folder, drawn)) > most:
                raise _TooLong(needed)
            film_in(folder, film, look, show=show, most=most)
    except _TooLong as error:
        again = f"symplex render {folder.path} --film"
        return Drawn(no_film=f"it would take about {error.args[0]:.0f} s; draw it with: {again}")
    except (RenderError, OutputError) as error:
        return Drawn(str(error))
    return Drawn()


def _needed(folder: RunFolder, drawn: Sequence[float]) -> float:
    """Return how many seconds a film takes at least, given when snapshots were there, whose pictures are smaller."""
    return min(len(read_series(folder.series)), FRAMES) * (float(np.diff(drawn).min()) if len(drawn) > 1 else 0.0)


def _stages(summary: Mapping[str, Any]) -> dict[str, float]:
    """Return when the stages of a run have begun, those that have, but for one that is all of it."""
    found: dict[str, float] = {}
    for k, part in enumerate(summary.get("stages", ())):
        if "energy_end" in part:
            # Of a stage in several parts it is the first; a run without stages has parts without names.
            found.setdefault(part["name"] or f"part {k + 1}", part["start"])
    return found if len(found) > 1 else {}


# -- what takes longer than a picture, and can be done before there is anything to draw -------------------------------


def prepare_plots() -> None:
    """Load all that plots are drawn with."""
    with plain_style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(1.0, 1.0))
        figure.subplots().set_title("a")  # letters are looked for
        figure.savefig(BytesIO(), format="png")


def prepare_rendering() -> None:
    """Load all that frames are drawn with, a driver of OpenGL among it."""
    require_rendering()
    prepare_plots()  # they are put together by matplotlib
    with plotter_of(16, 16) as plotter:
        plotter.render()


# -- one picture ------------------------------------------------------------------------------------------------------


def draw_plot(
    folders: Sequence[RunFolder],
    output: str | Path | None = None,
    *,
    width: int | None = None,
    height: int | None = None,
    dpi: float | None = None,
) -> Path:
    """Plot the history of one run, or those of several over each other, and return the file."""
    if len(folders) == 1:
        if output is None:
            folders[0].refuse_links()
        summary = folders[0].read_summary()
        history, title = read_history(folders[0].history), summary.get("title")
        output, stages = output or folders[0].plot, _stages(summary)
        return plot_history(history, output, title=title, stages=stages, width=width, height=height, dpi=dpi)
    names = [folder.path.resolve().name for folder in folders]
    names = names if len(set(names)) == len(names) else [str(folder.path) for folder in folders]
    labels = [printable(name) for name in names]  # fonts have no letters for what is no UTF-8
    histories = {label: read_history(folder.history) for label, folder in zip(labels, folders, strict=True)}
    return compare_histories(histories, output or "comparison.png", width=width, height=height, dpi=dpi)


def snapshots_in(
    folder: RunFolder,
    look: Look,
    output: str | Path | None = None,
    *,
    progress: Callable[[float], None] | None = None,
) -> Path:
    """Draw snapshots of a run, by default to ``snapshots.png`` in its folder, and return the file."""
    if output is None:
        folder.refuse_links()
    series = read_series(folder.series)
    return render_snapshots(
        series,
        output or folder.snapshots,
        times=look.times,
        field=look.field or shown_field(series),
        view=look.view,
        width=look.width,
        height=look.height,
        dpi=look.dpi,
        progress=progress,
    )


def film_in(
    folder: RunFolder, kind: str, look: Look, *, show: Show = lambda picture, part: None, most: float | None = None
) -> Path:
    """Draw a film of a run to ``film.mp4`` or ``film.gif`` in its folder, and return the file.

    Parameters
    ----------
    folder : RunFolder
    kind : {"auto", "mp4", "gif"}
    look : Look
    show : callable
        Called once it is clear that it will be drawn.
    most : float, optional
        How long it may take in s.
    """
    folder.refuse_links()
    series = read_series(folder.series)
    path = folder.film("gif" if kind == "gif" else "mp4")
    begun, frames = perf_counter(), 0
    if most is None:
        show("the film", 0.0)

    def progress(part: float) -> None:
        nonlocal frames
        frames += 1
        needed = (perf_counter() - begun) / part
        if most is not None and frames == _TOLD and needed > most:
            raise _TooLong(needed)
        if most is None or frames >= _TOLD:
            show("the film", part)

    width = look.width or _FILM_WIDTH
    height = look.height or width * 5 // 8
    path = render_film(
        series,
        path,
        field=look.field or shown_field(series),
        view=look.view,
        size=(width + width % 2, height + height % 2),  # encoders take even numbers
        progress=progress,
    )
    if kind == "mp4" and path.suffix != ".mp4":
        raise RenderError(f"an .mp4 needs the package imageio-ffmpeg; {path} was written instead.")
    return path


def shown_field(series: Series) -> str:
    """Return what colours show where nothing is asked for."""
    fields = series.cell_fields
    if "von_mises" in fields:
        return "von_mises"
    return "axial_force" if "axial_force" in fields and "torque" not in fields else "displacement"  # beams bend
