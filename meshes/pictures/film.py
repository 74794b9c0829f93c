"""Films of a series, drawn off screen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symplex.base.arguments import checked
from symplex.base.files import reason_of, write_atomic
from symplex.errors import RenderError
from symplex.meshes.pictures.figures import plain_style
from symplex.meshes.pictures.render import (
    BAR,
    add_key,
    evenly,
    figure_of,
    pixels_of,
    plotter_of,
    require_rendering,
    time_labels,
)
from symplex.meshes.pictures.scene import Scene
from symplex.meshes.pictures.view import View
from symplex.meshes.series.frames import Series

FRAMES = 61  # of a film at most, if nothing else is asked for
_FFMPEG = ["-preset", "veryfast"]


@checked
def render_film(
    series: Series,
    path: str | Path,
    *,
    field: str = "von_mises",
    view: View | None = None,
    max_frames: int = FRAMES,
    fps: int | None = None,
    size: tuple[int, int] = (800, 500),
    progress: Callable[[float], None] | None = None,
) -> Path:
    """Draw a film of the deformation.

    Parameters
    ----------
    series : Series
    field : str, default "von_mises"
    view : View, optional
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
    chosen = evenly(len(series), max_frames)
    scene = Scene(series, field, view or View(), chosen)
    require_rendering()
    width, height = size
    speed = fps or max(2, min(24, len(chosen) // 4))
    with plain_style(), plotter_of(width - BAR, height) as plotter, _film(path, speed) as add:
        figure = figure_of(BAR, height)
        add_key(figure, scene, (0.12, 0.2, 0.14, 0.6))
        strip = pixels_of(figure)
        time_label, time_figure = time_labels(series), figure_of(260, 40)
        time_text = time_figure.text(0, 0.5, "", va="center", fontsize=17)
        for k, i in enumerate(chosen):
            part = k / max(len(chosen) - 1, 1)
            image = np.concatenate([scene.draw(plotter, i, part=part), strip], axis=1)
            time_text.set_text(time_label(i))
            label = pixels_of(time_figure)
            corner = image[12 : 12 + label.shape[0], 16 : 16 + label.shape[1]]
            np.minimum(corner, label, out=corner)  # the text, without its white paper
            add(image)
            if progress is not None:
                progress((k + 1) / len(chosen))
    return path


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
            write_atomic(path, film.getvalue())
            return
        with TemporaryDirectory() as folder:
            aside = Path(folder) / f"film{path.suffix}"
            options = {"codec": "libx264", "quality": 8, "macro_block_size": 2, "output_params": _FFMPEG}
            with _encoder(aside, fps=fps, **options) as add:
                yield add
            _check_film(aside)
            write_atomic(path, aside.read_bytes())
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
