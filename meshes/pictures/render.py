"""Pictures of a series, drawn off screen."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from symplex.base.arguments import checked
from symplex.errors import OutputError, RenderError
from symplex.meshes.pictures.figures import plain_style, require_format, save_figure
from symplex.meshes.pictures.packages import require_packages
from symplex.meshes.pictures.proven import is_proven, remember
from symplex.meshes.pictures.scene import Scene
from symplex.meshes.pictures.view import View
from symplex.meshes.pictures.words import check_dpi, check_size
from symplex.meshes.series.frames import Series
from symplex.units import si_scale

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DPI, _PRINT = 100, 300  # pixels in an inch, on screens and on paper
_WIDTH = 1600  # hundredths of an inch
_LEAST_WIDTH, _LEAST_DOWN, _NARROW = (
    250,
    60,
    300,
)  # of a picture, of what is drawn in it, and of one of several in a row
# Hundredths of an inch of the column with the colour bar, and of the line with the time.
BAR, _HEAD = 130, 44
_NAMED, _LONGEST = 12, 14  # bodies at most whose colours are reported, and letters of a name
# Draws a ball and exits; a driver that crashes takes only this process with it.
_PROBE = """
import vtkmodules.vtkRenderingOpenGL2
from vtkmodules.vtkFiltersSources import vtkSphereSource
from vtkmodules.vtkRenderingCore import vtkActor, vtkPolyDataMapper, vtkRenderer, vtkRenderWindow

ball, mapper, actor = vtkSphereSource(), vtkPolyDataMapper(), vtkActor()
renderer, window = vtkRenderer(), vtkRenderWindow()
mapper.SetInputConnection(ball.GetOutputPort())
actor.SetMapper(mapper)
renderer.AddActor(actor)
window.SetOffScreenRendering(1)
window.SetSize(16, 16)
window.AddRenderer(renderer)
window.Render()
"""


def render_still(
    series: Series, path: str | Path, *, time: float | None = None, field: str = "von_mises", view: View | None = None
) -> Path:
    """Draw one frame, the last by default; see `render_snapshots`."""
    last = float(series.times[-1]) if len(series) else 0.0
    return render_snapshots(series, path, times=[last if time is None else time], field=field, view=view)


@checked
def render_snapshots(
    series: Series,
    path: str | Path,
    *,
    times: Sequence[float] | None = None,
    field: str = "von_mises",
    view: View | None = None,
    columns: int | None = None,
    labels: Sequence[str] | None = None,
    width: int | None = None,
    height: int | None = None,
    dpi: float | None = None,
    progress: Callable[[float], None] | None = None,
) -> Path:
    """Draw a panel of deformed snapshots with one colour scale.

    Parameters
    ----------
    series : Series
    path : path-like
        The picture, a ``.png``, ``.pdf``, ``.svg``, ``.jpg`` or the like.
    times : sequence of float, optional
        Times in s; the nearest frames are drawn. Default: six, evenly spaced.
    field : str, default "von_mises"
        ``displacement``, ``speed``, or a point or cell field of the series; of a vector the length is shown. ``body``:
        each body in its own colour.
    view : View, optional
        The direction to look from, and whether a section is shown.
    columns : int, optional
        Pictures in a row.
    width, height : int, optional
        Size of the picture in pixels. Default: 16 inches wide, and as high as what is shown asks for.
    dpi : float, optional
        Pixels in an inch, in which letters and lines have their sizes. Default: 100; 300 for ``.pdf`` and ``.svg``, in
        which letters and colour bars are drawn by lines and the bodies by these pixels.
    labels : sequence of str, optional
        What is above each frame of the series instead of its time.
    progress : callable, optional
        Called after each frame with the part of them that is drawn, up to 1.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    RenderError
        If nothing can be drawn here, the series has no such field or no frames, or a section meets no body.
    OutputError
        If a time is outside the series, a frame cannot be read, or the picture cannot have the suffix of the path or
        be written, or not in this size.
    """
    path = Path(path)
    require_format(path)
    dpi = dpi or (_PRINT if path.suffix.lower() in (".pdf", ".svg") else _DPI)
    sheet = _sheet(path, width, height, dpi)
    chosen = evenly(len(series), 6) if times is None else [series.index_at(t) for t in times]
    with plain_style():
        scene = Scene(series, field, view or View(), chosen)
        require_rendering()
        save_figure(_panel(series, scene, chosen, columns, sheet, labels, progress), path)
    return path


class _Sheet(NamedTuple):
    """What pictures are drawn on: its size in hundredths of an inch, and how many pixels each has."""

    width: int
    height: int | None
    density: float


def _sheet(path: Path, width: int | None, height: int | None, dpi: float) -> _Sheet:
    try:
        check_dpi(dpi)
        density = dpi / _DPI
        width = round(_WIDTH * density) if width is None else width
        check_size(width, height)
    except ValueError as error:
        raise OutputError(f"{path.name}: {error}") from None
    if width < _LEAST_WIDTH * density:
        raise OutputError(
            f"{path.name}: {width} pixels are {width / dpi:.3g} inches at {dpi:g} dpi, too few for letters; it is to "
            f"have at least {_LEAST_WIDTH / _DPI:g} inches, {int(_LEAST_WIDTH * density)} pixels."
        )
    return _Sheet(int(width / density), None if height is None else int(height / density), density)


def _panel(
    series: Series,
    scene: Scene,
    chosen: Sequence[int],
    columns: int | None,
    sheet: _Sheet,
    labels: Sequence[str] | None,
    progress: Callable[[float], None] | None,
) -> Figure:
    # At most four in a row, and rows of equal length; fewer on narrow paper.
    most = min(4, max(1, sheet.width // _NARROW))
    columns = columns or -(-len(chosen) // -(-len(chosen) // most))
    rows = -(-len(chosen) // columns)
    width, density = sheet.width, sheet.density
    across = (width - BAR) // columns
    down = int(across * scene.aspect) if sheet.height is None else max((sheet.height - 12) // rows - _HEAD, _LEAST_DOWN)
    height = rows * (down + _HEAD) + 12
    time_label = time_labels(series) if labels is None else labels.__getitem__
    figure = figure_of(width, height, density)
    figure.suppressComposite = True  # .svg and .pdf hold each picture as it was drawn
    with plotter_of(round(across * density), round(down * density)) as plotter:
        for k, i in enumerate(chosen):
            left, top = (k % columns) * across, (k // columns) * (down + _HEAD) + _HEAD
            figure.figimage(scene.draw(plotter, i, density=density), left * density, (height - top - down) * density)
            x, y = (left + across / 2) / width, 1 - (top - _HEAD / 2 + 4) / height
            figure.text(x, y, time_label(i), ha="center", va="center", fontsize=14)
            if progress is not None:
                progress((k + 1) / len(chosen))
    length = min(0.8, 520 / height)
    add_key(figure, scene, ((width - BAR + 18) / width, 0.5 - length / 2, 20 / width, length))
    return figure


@cache
def _probe() -> str:
    """Return why nothing can be drawn here, or an empty text."""
    if is_proven(_PROBE):
        return ""
    try:
        # -P: what lies in the working directory is no module of ours.
        done = subprocess.run([sys.executable, "-P", "-c", _PROBE], capture_output=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        return "a test picture was not finished after two minutes"
    if done.returncode == 0:
        remember(_PROBE)
        return ""
    said = re.sub(r"\x1b\[[0-9;]*m", "", done.stderr.decode(errors="replace"))  # VTK writes in colour
    lines = [line.split("|", 1)[-1].strip() for line in said.splitlines() if line.strip()]
    ended = f"signal {-done.returncode}" if done.returncode < 0 else f"status {done.returncode}"
    return f"a test picture ended with {ended}" + (f": {textwrap.shorten(lines[-1].rstrip('.'), 160)}" if lines else "")


def is_rendering() -> bool:
    """Return whether pictures can be drawn here; the first call in a day draws one in its own process."""
    return not _probe()


def require_rendering() -> None:
    """Make sure that pictures can be drawn here; the first call in a day draws one in its own process."""
    require_packages()
    if reason := _probe():
        raise RenderError(
            f"no pictures can be drawn here: {reason}. Install an OpenGL driver (for example Mesa's libegl1 or "
            "libosmesa6), or open the series in ParaView on another machine."
        )


@contextmanager
def plotter_of(width: int, height: int) -> Iterator:
    """Open an off-screen window, with what VTK says about a missing X server kept from the user."""
    import pyvista

    with _quiet():
        # In a notebook it would show itself.
        plotter = pyvista.Plotter(off_screen=True, notebook=False, window_size=[width, height], lighting="light kit")
        plotter.background_color = pyvista.Color("white")
        # Order-independent transparency costs as much as all the rest; only obstacles are transparent.
        plotter.renderer.SetUseOIT(False)
        try:
            plotter.enable_anti_aliasing("msaa", multi_samples=4)
            plotter.show(auto_close=False, interactive=False)
            yield plotter
        finally:
            plotter.close()


@contextmanager
def _quiet() -> Iterator[None]:
    """Send the standard error of compiled code nowhere."""
    sys.stderr.flush()
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def figure_of(width: int, height: int, density: float = 1.0) -> Figure:
    """Return a figure so many hundredths of an inch wide and high, each of so many pixels."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width / _DPI, height / _DPI), dpi=_DPI * density, facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def add_key(figure: Figure, scene: Scene, place: tuple[float, float, float, float]) -> None:
    """Draw what colours mean: the colour bar of the field, or the names of bodies."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.patches import Patch

    if scene.legend:
        names = list(scene.legend)[:_NAMED]
        words = [name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…" for name in names]
        patches = [Patch(color=scene.legend[name], label=word) for name, word in zip(names, words, strict=True)]
        patches += [Patch(color="none", label="…")] if len(scene.legend) > _NAMED else []
        figure.legend(handles=patches, loc="center left", bbox_to_anchor=(place[0], 0.5), frameon=False, fontsize=11,
                      borderaxespad=0.0, handlelength=1.0)  # fmt: skip
        return
    shades = ScalarMappable(Normalize(*scene.limits), scene.colours)
    bar = figure.colorbar(shades, cax=figure.add_axes(place), extend=scene.extend)
    bar.set_label(scene.label, fontsize=13)
    bar.ax.tick_params(labelsize=11)


def evenly(n: int, requested: int) -> list[int]:
    """Return up to ``wanted`` of n frames, evenly spaced, the first and the last among them."""
    return np.unique(np.linspace(0, max(n - 1, 0), min(n, requested)).round().astype(int)).tolist()


def time_unit(times: NDArray[np.float64]) -> tuple[float, str, int]:
    """Return the factor, the unit and the digits behind the point in which times in s are distinguished."""
    scale, unit = si_scale(float(np.abs(times).max(initial=0.0)), "s")
    gap = float(np.diff(times * scale).min(initial=np.inf))
    return scale, unit, int(np.clip(np.ceil(-np.log10(gap) - 1e-9), 0, 6)) if np.isfinite(gap) else 2


def time_labels(series: Series) -> Callable[[int], str]:
    """Return a function that writes the time of a frame, in one unit for the whole series; nothing of a still."""
    if len(series.times) == 1 and series.times[0] == 0.0:
        return lambda _: ""
    scale, unit, digits = time_unit(series.times)
    times = series.times * scale
    return lambda i: f"t = {times[i]:.{digits}f} {unit}"


def pixels_of(figure: Figure) -> NDArray[np.uint8]:
    """Return the picture [height, width, 3] of a figure."""
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())[..., :3].copy()  # type: ignore[attr-defined]
