"""Figures of matplotlib that look the same everywhere, whatever its settings are where a program is started."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from symplex.base.files import reason_of, write_whole
from symplex.errors import OutputError
from symplex.meshes.pictures.packages import require_packages

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Not .pgf, which runs the programs that the settings name, nor .eps, which has no transparency.
FORMATS = (".png", ".pdf", ".svg", ".jpg", ".jpeg", ".tif", ".tiff", ".webp")
_PAD, _RIGHT = 0.06, 0.22  # inches beside numbers, and at the right, where half of the last time is


@contextmanager
def plain_style() -> Iterator[None]:
    """Draw with the defaults of matplotlib inside: it reads a file ``matplotlibrc`` in the working directory first.

    Raises
    ------
    OutputError
        If matplotlib cannot be loaded because that file is damaged.
    RenderError
        If the packages of pictures are not installed.
    """
    require_packages()
    try:
        import matplotlib
    except ValueError as error:  # it is no text
        raise OutputError(
            f"matplotlib cannot be loaded: its settings in ./matplotlibrc are no text ({error})."
        ) from error
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        yield


def require_format(path: Path) -> None:
    """Make sure that a picture can have the suffix of a path.

    Raises
    ------
    OutputError
        If not.
    """
    if path.suffix.lower() not in FORMATS:
        raise OutputError(f"{path}: a picture is written as {', '.join(FORMATS)}, not '{path.suffix}'.")


def place_plots(figure: Figure, grid: NDArray[Any], titled: bool) -> None:
    """Place the plots [rows, columns] of a figure, which may have a title, so that the words beside them fit.

    Only numbers on y-axes have widths that are not known: these are measured once. The constrained layout of matplotlib
    measures everything twice, which takes longer than to draw the picture.
    """
    (width, height), (rows, columns) = figure.get_size_inches(), grid.shape
    top, bottom, between = (0.7 if titled else 0.36), 0.55, 0.42
    down = max((height - top - bottom - (rows - 1) * between) / rows, 0.1)
    vertical = {"top": 1.0 - top / height, "bottom": bottom / height, "hspace": between / down}
    figure.subplots_adjust(**vertical)
    drawn, left = figure.canvas.get_renderer(), []  # pyright: ignore[reportAttributeAccessIssue]
    for beside in grid.T:
        boxes = [(axes, axes.yaxis.get_tightbbox(drawn)) for axes in beside if axes.axison]
        found = [axes.bbox.x0 - box.x0 for axes, box in boxes if box is not None]
        left.append(max(found, default=0.0) / figure.dpi + _PAD)
    # All gaps are alike, so that plots are.
    gap = max(left[1:], default=0.0) + 2.0 * _PAD
    across = max((width - left[0] - _RIGHT - (columns - 1) * gap) / columns, 0.1)
    edges = {"left": left[0] / width, "right": min(left[0] + columns * across + (columns - 1) * gap, width) / width}
    figure.subplots_adjust(**edges, wspace=gap / across)


def save_figure(figure: Figure, path: Path) -> Path:
    """Write a figure in the format of the path's suffix, whole or not at all; return the path.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    picture = BytesIO()
    try:
        figure.savefig(picture, format=path.suffix[1:])
        write_whole(path, picture.getvalue())
    except (OSError, ValueError) as error:
        raise OutputError(f"{path} cannot be written ({reason_of(error)}).") from error
    return path
