"""Figures of matplotlib: one palette, one style, and one function that fills a page with panels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from symplex.base.files import reason_of, write_atomic
from symplex.errors import OutputError
from symplex.meshes.pictures.packages import require_packages
from symplex.meshes.pictures.words import check_dpi, check_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Not .pgf, which runs the programs that the settings name, nor .eps, which has no transparency.
FORMATS = (".png", ".pdf", ".svg", ".jpg", ".jpeg", ".tif", ".tiff", ".webp")
COLOURS = ("#1f4e79", "#d1622b", "#3a8f5c", "#8e4f9e", "#b8912f", "#c0392b", "#5aa5c4", "#7a5c46")
AXIS_COLOURS = (COLOURS[5], COLOURS[2], COLOURS[0])  # of x, y and z
GOOD, DOUBTFUL, BAD, NEUTRAL = COLOURS[2], COLOURS[4], COLOURS[5], "#8a94a3"
STYLES = ("-", "--", ":", "-.")
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_DPI, _LEAST, _LEAST_INCHES = 120, 64, 2.5
_WIDTH, _ROW = 13.0, 3.4  # inches of a page, and of a row of panels
_NARROW = 7.0  # inches; on narrower paper panels are not next to each other
# Inches next to numbers, at the right where half of the last number is, above, below and between panels.
_PAD, _RIGHT, _TITLE, _HEAD, _FOOT, _BETWEEN, _NUMBERS = 0.06, 0.22, 0.34, 0.36, 0.55, 0.42, 0.4
_ENTRY = 0.19  # inches of a line of a legend
_FLAT = 1e-9  # of their size, a range of values that is round-off
_WIDE = 30.0  # the ratio of the largest to the smallest positive value from which an axis is logarithmic


class Sheet(NamedTuple):
    """The size of a figure in pixels, where it is given."""

    width: int | None = None
    height: int | None = None
    dpi: float = _DPI

    def inches(self, width: float, height: float) -> tuple[float, float]:
        """Return the width and the height in inches, where they are not given those here."""
        return (
            width if self.width is None else self.width / self.dpi,
            height if self.height is None else self.height / self.dpi,
        )

    def check(self, path: Path) -> None:
        """Refuse a size that no figure can have."""
        try:
            check_dpi(self.dpi)
            check_size(self.width or _LEAST, self.height)
        except ValueError as error:
            raise OutputError(f"{path.name}: {error}") from None
        if min(self.inches(_WIDTH, _ROW)) < _LEAST_INCHES:
            raise OutputError(
                f"{path.name}: {self.width or self.height} pixels at {self.dpi:g} dpi are too few for its letters; "
                f"it is to be at least {_LEAST_INCHES:g} inches wide and high."
            )


class Curve(NamedTuple):
    """One curve of a panel.

    Attributes
    ----------
    x, y : float64 [rows]
        In the units of the panel.
    label : str
        In the legend; without one it is not in it.
    colour : str
        As ``#1f4e79``.
    style : str
        Of the line, as matplotlib has it.
    width : float
        Of the line in points.
    mark : str
        At each row, as matplotlib has it.
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    label: str = ""
    colour: str = COLOURS[0]
    style: str | tuple[int, tuple[int, ...]] = "-"
    width: float = 1.4
    mark: str = ""


@dataclass(frozen=True)
class Panel:
    """A plot of some curves in one unit.

    Attributes
    ----------
    title, unit, x : str
        Words above it, next to its vertical axis, and below it.
    curves : sequence of Curve
    log, log_x : bool
        Whether its axes are logarithmic.
    height : float
        Relative to that of other panels.
    ticks : sequence of str
        Words in place of the numbers 0, 1, … of its horizontal axis.
    marks : mapping of str to float
        Where vertical lines are, by name.
    equal : bool
        Whether both axes have one scale.
    draw : callable, optional
        Draws more on the axes.
    """

    title: str
    unit: str = ""
    x: str = ""
    curves: Sequence[Curve] = ()
    log: bool = False
    log_x: bool = False
    height: float = 1.0
    ticks: Sequence[str] = ()
    marks: Mapping[str, float] = field(default_factory=dict)
    equal: bool = False
    draw: Callable[[Axes], None] | None = None


def draw_page(
    rows: Sequence[Panel] | Sequence[Sequence[Panel]], path: Path, title: str | None = None, sheet: Sheet | None = None
) -> Path:
    """Draw panels to a file, which they fill, and return the file.

    Parameters
    ----------
    rows : sequence of Panel, or of sequence of Panel
        Panels alone are placed two in a row on wide paper; the last one has a row to itself if their number is odd.
    path : Path
    title : str, optional
    sheet : Sheet, optional
        Default: 13 inches wide, and as high as the panels ask for.
    """
    sheet = sheet or Sheet()
    require_format(path)
    sheet.check(path)
    with plain_style():
        return save_figure(figure_of_page(rows, title, sheet), path)


def figure_of_page(
    rows: Sequence[Panel] | Sequence[Sequence[Panel]], title: str | None = None, sheet: Sheet | None = None
) -> Figure:
    """Return the figure that `draw_page` writes; to be called in `plain_style`."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    sheet = sheet or Sheet()
    most = 2 if sheet.inches(_WIDTH, _ROW)[0] >= _NARROW else 1
    given = [[row] if isinstance(row, Panel) else list(row) for row in rows]
    flat = [one for row in given for one in row]
    alone = any(isinstance(row, Panel) for row in rows)
    placed = [flat[k : k + most] for k in range(0, len(flat), most)] if alone or most == 1 else given
    heights = [max(panel.height for panel in row) for row in placed]
    size = sheet.inches(_WIDTH, _ROW * sum(heights) + (_TITLE + 0.16 if title else 0.0))
    figure = Figure(figsize=size, dpi=sheet.dpi)
    FigureCanvasAgg(figure)
    grid = [[figure.add_axes((0.0, 0.0, 1.0, 1.0), label=str((i, j))) for j in range(len(row))]
            for i, row in enumerate(placed)]  # fmt: skip
    first: dict[str, Axes] = {}  # of those over the same quantity
    for i, (row, of_row) in enumerate(zip(placed, grid, strict=True)):
        for j, (panel, axes) in enumerate(zip(row, of_row, strict=True)):
            if panel.x and not (panel.log_x or panel.ticks or panel.equal):
                if panel.x in first:
                    axes.sharex(first[panel.x])
                first.setdefault(panel.x, axes)
            below = placed[i + 1][min(j, len(placed[i + 1]) - 1)] if i + 1 < len(placed) else None
            _draw(panel, axes, below is None or below.x != panel.x)
    if title:
        figure.suptitle(title, y=1.0 - 0.08 / size[1], va="top", fontsize=14)
    _place(figure, placed, grid, heights, bool(title))
    return figure


def _draw(panel: Panel, axes: Axes, lowest: bool) -> None:
    """Draw a panel; without what is below its axis if the panel beneath has the same."""
    for curve in panel.curves:
        axes.plot(curve.x, curve.y, color=curve.colour, linestyle=curve.style or "none", linewidth=curve.width,
                  marker=curve.mark, markersize=4.0, label=curve.label or None)  # fmt: skip
    # Without y matplotlib looks at all ticks for what is in the way of a title.
    axes.set_title(panel.title, fontsize=11, loc="left", y=1.0)
    if panel.curves:
        axes.set_ylabel(panel.unit)
        axes.grid(alpha=0.25)
        axes.margins(x=0.01 if not panel.ticks and not any(curve.mark for curve in panel.curves) else 0.05)
    if panel.log and _has_positive([curve.y for curve in panel.curves]):
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(_power)
    else:
        low, high = axes.get_ylim()
        if high - low < _FLAT * max(abs(low), abs(high)):  # the numbers on the axis would not be distinguished
            axes.set_ylim(*sorted((0.95 * low, 1.05 * high) if low > 0.0 else (1.05 * low, 0.95 * high)))
    if panel.log_x and _has_positive([curve.x for curve in panel.curves]):
        axes.set_xscale("log")
    if panel.ticks:
        axes.set_xticks(range(len(panel.ticks)), panel.ticks)
    if panel.equal:
        axes.set_aspect("equal", adjustable="datalim")
    for name, place in panel.marks.items():
        axes.axvline(place, color="0.45", linestyle=(0, (4, 3)), linewidth=0.8, zorder=0)
        axes.annotate(name, (place, 1.0), (2, -2), xycoords=axes.get_xaxis_transform(), textcoords="offset points",
                      rotation=90, fontsize=7, color="0.45", va="top")  # fmt: skip
    if panel.draw is not None:
        panel.draw(axes)
    axes.set_xlabel(panel.x if lowest else "")
    axes.tick_params(labelbottom=lowest)


def _has_positive(values: Sequence[NDArray[np.float64]]) -> bool:
    """Return whether a logarithmic axis has anything to show of curves, or whether there are none."""
    return not values or any((np.asarray(one) > 0.0).any() for one in values)


def _place(
    figure: Figure, placed: list[list[Panel]], grid: list[list[Axes]], heights: list[float], titled: bool
) -> None:
    """Place the panels of a figure so that the words next to them fit, and their legends to the right of them.

    Only widths of numbers and legends are not known: these are measured once. The constrained layout of matplotlib
    measures everything twice, which takes longer than to draw the picture.
    """
    width, height = figure.get_size_inches()
    drawn = figure.canvas.get_renderer()  # pyright: ignore[reportAttributeAccessIssue]
    shown = [any(axes.get_xlabel() for axes in of_row) for of_row in grid]
    gaps = [
        _NUMBERS if is_shown and row is not placed[-1] else 0.0 for row, is_shown in zip(placed, shown, strict=True)
    ]
    top = _TITLE * titled + _HEAD
    free = height - top - _FOOT - (len(placed) - 1) * _BETWEEN - sum(gaps)
    downs = [max(free * part / sum(heights), 0.1) for part in heights]
    sides: dict[tuple[int, int], tuple[float, float]] = {}  # inches left and right by the column, of rows of a length
    for row, of_row, down in zip(placed, grid, downs, strict=True):
        for j, (panel, axes) in enumerate(zip(row, of_row, strict=True)):
            box = axes.yaxis.get_tightbbox(drawn) if axes.axison else None
            left = _PAD + ((axes.bbox.x0 - box.x0) / figure.dpi if box is not None else 0.0)
            right = max(_RIGHT if j == len(row) - 1 else 2 * _PAD, _legend(panel, axes, down, drawn) / figure.dpi)
            key = len(row), j
            before = sides.get(key, (0.0, 0.0))
            sides[key] = max(left, before[0]), max(right, before[1])
    edge = max((left for (_, j), (left, _) in sides.items() if j == 0), default=0.0)
    y = height - top
    for of_row, down, gap in zip(grid, downs, gaps, strict=True):
        y -= down
        across = width / len(of_row)
        for j, axes in enumerate(of_row):
            left, right = sides[len(of_row), j]
            left = edge if j == 0 else left
            inside = max(across - left - right, 0.1)
            axes.set_position(((j * across + left) / width, y / height, inside / width, down / height))
        y -= _BETWEEN + gap


def _legend(panel: Panel, axes: Axes, down: float, drawn: object) -> float:
    """Put the legend of a panel to the right of it, as far as it fits, and return its width in pixels."""
    handles, labels = axes.get_legend_handles_labels()
    if not handles:
        return 0.0
    most = max(2, int(down / _ENTRY))
    if len(handles) > most:
        handles, labels = handles[:most], [*labels[: most - 1], f"… {len(labels) - most + 1} more"]
    labels = [label if len(label) <= 32 else f"{label[:31]}…" for label in labels]
    legend = axes.legend(handles, labels, loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.4, frameon=False,
                         fontsize=9, handlelength=1.4, labelspacing=0.35, borderpad=0.2)  # fmt: skip
    return float(legend.get_window_extent(drawn).width) + 0.08 * axes.figure.dpi  # type: ignore[arg-type]


def tint(colour: str) -> str:
    """Return a colour of the palette as surfaces have it, on which edges are seen."""
    parts = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return "#" + "".join(f"{round(0.6 * part + 0.4 * 255):02x}" for part in parts)


def is_wide(values: Sequence[float] | NDArray[np.float64]) -> bool:
    """Return whether values are best seen on a logarithmic axis."""
    return bool(len(values)) and min(values) > 0.0 and max(values) > _WIDE * min(values)


def _power(value: float, _: object) -> str:
    """Return a number by its power of ten, in plain letters: matplotlib takes a tenth of a second to load formulas."""
    if value <= 0.0:
        return ""
    exponent = int(np.floor(np.log10(value) + 1e-9))
    factor = f"{value / 10.0**exponent:.3g}"
    return f"{'' if factor == '1' else factor + '·'}10{str(exponent).translate(_RAISED)}"


@contextmanager
def plain_style() -> Iterator[None]:
    """Draw with the defaults of matplotlib inside: it reads a file ``matplotlibrc`` in the working directory first."""
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
    """Make sure that a picture can have the suffix of a path."""
    if path.suffix.lower() not in FORMATS:
        raise OutputError(f"{path}: a picture is written as {', '.join(FORMATS)}, not '{path.suffix}'.")


def save_figure(figure: Figure, path: Path) -> Path:
    """Write a figure in the format of the path's suffix, whole or not at all; return the path."""
    picture = BytesIO()
    try:
        figure.savefig(picture, format=path.suffix[1:])
        write_atomic(path, picture.getvalue())
    except (OSError, ValueError) as error:
        raise OutputError(f"{path} cannot be written ({reason_of(error)}).") from error
    return path
