"""Figures of matplotlib that look the same everywhere, whatever its settings are where a program is started."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from symplex.base.files import reason_of, write_whole
from symplex.errors import OutputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Not .pgf, which runs the programs that the settings name, nor .eps, which has no transparency.
FORMATS = (".png", ".pdf", ".svg", ".jpg", ".jpeg", ".tif", ".tiff", ".webp")


@contextmanager
def plain_style() -> Iterator[None]:
    """Draw with the defaults of matplotlib inside: it reads a file ``matplotlibrc`` in the working directory first.

    Raises
    ------
    OutputError
        If matplotlib cannot be loaded because that file is damaged.
    """
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
