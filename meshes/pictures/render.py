"""Pictures and films of a series, drawn off screen."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from symplex.base.arguments import checked
from symplex.base.files import reason_of, write_whole
from symplex.errors import RenderError
from symplex.meshes.pictures.figures import plain_style, require_format, save_figure
from symplex.meshes.pictures.scene import Scene, colours
from symplex.meshes.pictures.view import View
from symplex.meshes.series.frames import Series
from symplex.units import si_scale

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DPI = 100
# Pixels of the column with the colour bar, and of the line with the time.
_BAR, _HEAD = 130, 44
_NAMED, _LONGEST = 12, 14  # bodies at most whose colours are told, and letters of a name
_FFMPEG = ["-preset", "veryfast"]
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
    width: int = 1600,
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
        each body in a colour of its own.
    view : View, optional
        The direction to look from, and whether a section is shown.
    columns : int, optional
        Pictures in a row.
    width : int, default 1600
        Width of the picture in pixels.

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
        be written.
    """
    path = Path(path)
    require_format(path)
    chosen = _evenly(len(series), 6) if times is None else [series.index_at(t) for t in times]
    with plain_style():
        scene = Scene(series, field, view or View(), chosen)
        require_rendering()
        save_figure(_panel(series, scene, chosen, columns, width), path)
    return path


def _panel(series: Series, scene: Scene, chosen: Sequence[int], columns: int | None, width: int) -> Figure:
    # At most four in a row, and rows of equal length.
    columns = columns or -(-len(chosen) // -(-len(chosen) // 4))
    rows = -(-len(chosen) // columns)
    across = (width - _BAR) // columns
    down = int(across * scene.aspect)
    height = rows * (down + _HEAD) + 12
    time_label = _time_labels(series)
    figure = _figure(width, height)
    with _plotter(across, down) as plotter:
        for k, i in enumerate(chosen):
            left, top = (k % columns) * across, (k // columns) * (down + _HEAD) + _HEAD
            axes = figure.add_axes((left / width, 1 - (top + down) / height, across / width, down / height))
            axes.imshow(scene.draw(plotter, i), interpolation="none", aspect="auto")
            axes.set_axis_off()
            x, y = (left + across / 2) / width, 1 - (top - _HEAD / 2 + 4) / height
            figure.text(x, y, time_label(i), ha="center", va="center", fontsize=14)
    length = min(0.8, 520 / height)
    _add_key(figure, scene, ((width - _BAR + 18) / width, 0.5 - length / 2, 20 / width, length))
    return figure


@checked
def render_film(
    series: Series,
    path: str | Path,
    *,
    field: str = "von_mises",
    view: View | None = None,
    max_frames: int = 61,
    fps: int | None = None,
    size: tuple[int, int] = (800, 500),
    progress: Callable[[float], None] | None = None,
) -> Path:
    """Draw a film of the deformation.

    Parameters
    ----------
    series, field, view
        As for `render_snapshots`.
    path : path-like
        ``.mp4`` or ``.gif``. Without the package imageio-ffmpeg an .mp4 becomes a .gif of the same name.
    max_frames : int, default 61
        Of longer series so many frames are shown, evenly spaced.
    fps : int, optional
        Frames per second; by default 24, fewer if the film would be shorter than 4 s.
    size : tuple of int, default (800, 500)
        Pixels of a frame.
    progress : callable, optional
        Called after each frame with the part of the film that is done, up to 1.

    Returns
    -------
    Path
        The file that was written, which says whether it became a .gif.

    Raises
    ------
    RenderError
        As for `render_snapshots`, or if the film cannot be written.
    """
    path = Path(path)
    if path.suffix not in (".mp4", ".gif"):
        raise RenderError(f"{path}: a film is written as .mp4 or .gif, not '{path.suffix}'.")
    if path.suffix == ".mp4" and not _has_ffmpeg():
        path = path.with_suffix(".gif")
    chosen = _evenly(len(series), max_frames)
    scene = Scene(series, field, view or View(), chosen)
    require_rendering()
    width, height = size
    speed = fps or max(2, min(24, len(chosen) // 4))
    with plain_style(), _plotter(width - _BAR, height) as plotter, _film(path, speed) as add:
        figure = _figure(_BAR, height)
        _add_key(figure, scene, (0.12, 0.2, 0.14, 0.6))
        strip = _pixels(figure)
        time_label, time_figure = _time_labels(series), _figure(260, 40)
        time_text = time_figure.text(0, 0.5, "", va="center", fontsize=17)
        for k, i in enumerate(chosen):
            image = np.concatenate([scene.draw(plotter, i), strip], axis=1)
            time_text.set_text(time_label(i))
            label = _pixels(time_figure)
            corner = image[12 : 12 + label.shape[0], 16 : 16 + label.shape[1]]
            np.minimum(corner, label, out=corner)  # the text, without its white paper
            add(image)
            if progress is not None:
                progress((k + 1) / len(chosen))
    return path


@cache
def _probe() -> str:
    """Return why nothing can be drawn here, or an empty text."""
    try:
        # -P: what lies in the working directory is no module of ours.
        done = subprocess.run([sys.executable, "-P", "-c", _PROBE], capture_output=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        return "a test picture was not finished after two minutes"
    if done.returncode == 0:
        return ""
    said = re.sub(r"\x1b\[[0-9;]*m", "", done.stderr.decode(errors="replace"))  # VTK writes in colour
    lines = [line.split("|", 1)[-1].strip() for line in said.splitlines() if line.strip()]
    ended = f"signal {-done.returncode}" if done.returncode < 0 else f"status {done.returncode}"
    return f"a test picture ended with {ended}" + (f": {textwrap.shorten(lines[-1].rstrip('.'), 160)}" if lines else "")


def require_rendering() -> None:
    """Make sure that pictures can be drawn here; the first call draws one in a process of its own.

    Raises
    ------
    RenderError
        If not, for example without any OpenGL.
    """
    if reason := _probe():
        raise RenderError(
            f"no pictures can be drawn here: {reason}. Install an OpenGL driver (for example Mesa's libegl1 or "
            "libosmesa6), or open the series in ParaView on another machine."
        )


@contextmanager
def _plotter(width: int, height: int) -> Iterator:
    """Open an off-screen window, with what VTK says about a missing X server kept from the user."""
    import pyvista

    with _quiet():
        plotter = pyvista.Plotter(off_screen=True, window_size=[width, height], lighting="light kit")
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


def _figure(width: int, height: int) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width / _DPI, height / _DPI), dpi=_DPI, facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def _add_key(figure: Figure, scene: Scene, place: tuple[float, float, float, float]) -> None:
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
    shades = ScalarMappable(Normalize(*scene.limits), colours())
    bar = figure.colorbar(shades, cax=figure.add_axes(place), extend="max" if scene.is_clipped else "neither")
    bar.set_label(scene.label, fontsize=13)
    bar.ax.tick_params(labelsize=11)


def _evenly(n: int, wanted: int) -> list[int]:
    """Return up to ``wanted`` of n frames, evenly spaced, the first and the last among them."""
    return np.unique(np.linspace(0, max(n - 1, 0), min(n, wanted)).round().astype(int)).tolist()


def time_unit(times: NDArray[np.float64]) -> tuple[float, str, int]:
    """Return the factor, the unit and the digits behind the point in which times in s are told apart."""
    scale, unit = si_scale(float(np.abs(times).max(initial=0.0)), "s")
    gap = float(np.diff(times * scale).min(initial=np.inf))
    return scale, unit, int(np.clip(np.ceil(-np.log10(gap) - 1e-9), 0, 6)) if np.isfinite(gap) else 2


def _time_labels(series: Series) -> Callable[[int], str]:
    """Return a function that writes the time of a frame, in one unit for the whole series."""
    scale, unit, digits = time_unit(series.times)
    times = series.times * scale
    return lambda i: f"t = {times[i]:.{digits}f} {unit}"


def _pixels(figure: Figure) -> NDArray[np.uint8]:
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())[..., :3].copy()  # type: ignore[attr-defined]


def _has_ffmpeg() -> bool:
    try:
        import imageio_ffmpeg

        imageio_ffmpeg.get_ffmpeg_exe()
    except (ImportError, RuntimeError):
        return False
    return True


@contextmanager
def _film(path: Path, fps: int) -> Iterator[Callable[[NDArray[np.uint8]], None]]:
    """Open a film for writing and yield the function that adds a picture to it; it is there whole or not at all."""
    try:
        if path.suffix == ".gif":
            film = BytesIO()
            with _encoder(film, format="GIF", duration=1000 / fps, loop=0) as add:
                yield add
            write_whole(path, film.getvalue())
            return
        with TemporaryDirectory() as folder:
            aside = Path(folder) / f"film{path.suffix}"
            options = {"codec": "libx264", "quality": 8, "macro_block_size": 2, "output_params": _FFMPEG}
            with _encoder(aside, fps=fps, **options) as add:
                yield add
            _check_film(aside)
            write_whole(path, aside.read_bytes())
    except (OSError, ValueError) as error:
        raise RenderError(f"{path} cannot be written ({reason_of(error)}).") from error


@contextmanager
def _encoder(target: Path | BytesIO, **options: Any) -> Iterator[Callable[[NDArray[np.uint8]], None]]:
    import imageio.v2 as imageio

    film: Any = imageio.get_writer(target, **options)
    with film:
        yield film.append_data


def _check_film(path: Path) -> None:
    """Raise an OSError if a film cannot be played: its encoder does not tell when the disk was full."""
    from imageio_ffmpeg import count_frames_and_secs

    try:
        count_frames_and_secs(path)
    except RuntimeError:
        raise OSError("the encoder could not finish; is the disk full?") from None
