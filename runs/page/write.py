"""A run as one self-contained HTML file: the bodies in motion, their histories, its summary."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symplex.base.arguments import checked
from symplex.base.files import reason_of, write_atomic
from symplex.base.streams import printable
from symplex.errors import OutputError, SymplexError
from symplex.meshes.pictures.packed import Arrays, pack_series
from symplex.meshes.pictures.render import time_unit
from symplex.meshes.pictures.scene import Scene
from symplex.meshes.pictures.view import View
from symplex.meshes.series.series import Series
from symplex.runs.conservation_picture import draw
from symplex.runs.conservation_report import conservation
from symplex.runs.drawing import shown_field
from symplex.runs.history import History, Rows, columns_of
from symplex.runs.pictures import upright_in
from symplex.runs.plots import panels_of
from symplex.runs.progress import si
from symplex.runs.report import result_report
from symplex.runs.result import Result, read_result
from symplex.runs.results import RunFolder
from symplex.runs.study import Study

_SCRIPTS = ("data.js", "cutting.js", "draw.js", "plots.js", "page.js")
MAX_SIZE = 20.0  # MB
_MARK = b"<!-- made by symplex view -->"
_PAGE = 80_000  # bytes of all but the arrays and what is said
_ROWS = 3000  # of a curve; of longer ones the least and the largest value of each part is kept


@checked
def write_page(
    result: str | Path,
    path: str | Path,
    *,
    field: str | None = None,
    fields: Sequence[str] | None = None,
    view: View | None = None,
    max_size: float = MAX_SIZE,
    overwrite: bool = False,
) -> Path:
    """Write a run to one HTML file, which any browser with WebGL 2 opens from the disk, and return the file.

    Parameters
    ----------
    result : path-like
        The results folder, of a run that is finished or not.
    path : path-like
        The ``.html`` file.
    field : str, optional
        What colours show at first; default: the von Mises stress, the axial force, or the displacement.
    fields : sequence of str, optional
        What can be chosen, next to the displacement; default: all that is stored.
    view : View, optional
        From where the bodies are seen at first.
    max_size : float, default 20
        Size of the file in MB (10⁶ bytes). To fit, frames are left out, and if need be what is inside of bodies.

    overwrite : bool, default False
        Whether a file that is there may be replaced; a page of an earlier time always may.

    Raises
    ------
    OutputError
        If there is no run, neither its frames nor its history can be read, or the file is there and no page, or cannot
        be written.
    RenderError
        If there is no such field, or the page cannot be made so small.
    """
    path = Path(path)
    _require_page(path, overwrite)
    if not max_size > 0:
        raise OutputError(f"the size of a page is above 0 MB, not {max_size:g}.")
    run = read_result(result)
    arrays = Arrays()
    panels, missed = _histories(run, arrays)
    header = {"texts": _texts(run), "panels": panels}
    there = _there(run)
    if isinstance(there, str):
        if not panels:
            raise OutputError(there)
        times = run.history["t"]
        header |= {"no_model": there, "model": None, "note": there}
    else:
        times = there.times
        taken = len(json.dumps(header)) + _PAGE
        header |= _model(run, there, arrays, field, fields, view, int(max_size * 1e6) - taken)
    header["note"] = " ".join([header["note"], *missed])
    _write(path, _title(run), header, arrays, times)
    return path


@checked
def write_study_page(study: Study, path: str | Path, title: str, *, overwrite: bool = False) -> Path:
    """Write a study with curves over time – a fit – to one HTML file, and return the file.

    Parameters
    ----------
    study : Study
    path : path-like
        The ``.html`` file.
    title : str
    overwrite : bool, default False
        Whether a file that is there may be replaced; a page of an earlier time always may.

    Raises
    ------
    OutputError
        If no curve is over time, or the file is there and no page, or cannot be written.
    """
    path = Path(path)
    _require_page(path, overwrite)
    arrays, panels, last = Arrays(), [], 0.0
    for panel in (one for row in study.panels() for one in (row if isinstance(row, Sequence) else [row])):
        if panel.x != "time (s)":
            continue
        t, curves = [arrays.add(curve.x) for curve in panel.curves], []
        for k, curve in enumerate(panel.curves):
            y = arrays.add(np.asarray(curve.y, np.float32))
            curves.append({"name": curve.label or panel.title, "colour": curve.colour, "y": y, "rows": k})
            last = max(last, float(curve.x[-1]))
        panels.append({"title": panel.title, "unit": panel.unit, "log": panel.log, "t": t, "curves": curves})
    if not panels:
        raise OutputError(f"{path}: there is no curve over time in it; symplex plot draws it.")
    with TemporaryDirectory() as folder:
        picture = study.plot(Path(folder) / "study.png").read_bytes()
    texts = [{"title": "summary", "words": study.report(), "picture": _embedded(picture)}]
    header = {"texts": texts, "panels": panels, "model": None, "no_model": "", "note": ""}
    _write(path, title, header, arrays, np.array([0.0, last]))
    return path


def _require_page(path: Path, overwrite: bool) -> None:
    """Refuse a file that is no page, or another file that is there."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise OutputError(f"{path}: a page is written as .html, not '{path.suffix}'.")
    if path.exists() and not overwrite and not _is_page(path):
        raise OutputError(
            f"{path} is there, and is no page of symplex; replace it with --overwrite, or give another name."
        )


def _write(path: Path, title: str, header: dict[str, Any], arrays: Arrays, times: NDArray[np.float64]) -> None:
    factor, unit, digits = time_unit(times)
    header["time_unit"] = {"factor": factor, "unit": unit, "digits": digits}
    try:
        write_atomic(path, _page(title, header, arrays).encode("utf-8", "replace"))
    except OSError as error:
        raise OutputError(f"{path} cannot be written ({reason_of(error)}).") from error


def _is_page(path: Path) -> bool:
    """Return whether a file is a page that was written here before."""
    try:
        with path.open("rb") as file:
            return _MARK in file.read(len(_MARK) + 20)
    except OSError:
        return False


def _title(run: Result) -> str:
    try:
        return printable(str(run.summary.get("title") or run.path.resolve().name))
    except OutputError:  # a damaged summary keeps nothing from being shown
        return printable(run.path.resolve().name)


def _page(title: str, header: dict[str, Any], arrays: Arrays) -> str:
    """Return the page with all that it is made of."""
    here = files("symplex.runs.page")
    parts = {
        "STYLE": here.joinpath("page.css").read_text("utf-8"),
        "SCRIPT": "\n".join(here.joinpath(name).read_text("utf-8") for name in _SCRIPTS),
        "TITLE": html.escape(title),
        # Nothing of it can end the element that it is in.
        "HEADER": json.dumps(header, allow_nan=False, ensure_ascii=True).replace("<", "\\u003c"),
        "DATA": base64.b64encode(b"".join(arrays.parts)).decode("ascii"),
    }
    pieces = re.split(r"@(STYLE|SCRIPT|TITLE|HEADER|DATA)@", here.joinpath("page.html").read_text("utf-8"))
    return "".join(parts[piece] if k % 2 else piece for k, piece in enumerate(pieces))


# -- histories and words -------------------------------------------------------------------------------------------


def _histories(run: Result, arrays: Arrays) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the plots of the history and of the probes, and sentences on what cannot be read."""
    panels: list[dict[str, Any]] = []
    missed: list[str] = []
    try:
        panels += _panels("", run.history, arrays)
    except OutputError as error:
        missed.append(str(error))
    try:
        for name, history in run.probes.items():
            panels += _panels(f"{name}: ", _all_plotted(history), arrays)
    except OutputError as error:
        missed.append(str(error))
    return panels, missed


def _all_plotted(history: History) -> History:
    """Return a history of which all columns are plotted: components of a vector together, others by themselves."""
    columns = columns_of(history)
    named = {
        name: column if column.plot or column.kind == "time" or name == "t" else replace(column, plot=column.subject)
        for name, column in columns.items()
    }
    return History(history, named)


def _panels(before: str, history: Rows, arrays: Arrays) -> list[dict[str, Any]]:
    """Return the plots of a history, with where their numbers are."""
    t = history.get("t")
    if t is None or not len(t):
        return []
    all_rows = arrays.add(t)
    found = []
    for plot in panels_of({"": history}):
        if not plot.x.startswith("time"):
            continue
        times, curves = [all_rows], []
        for curve in plot.curves:
            rows = _telling(curve.y)
            if rows is None:
                y, k = curve.y, 0
            else:
                y, k = curve.y[rows], len(times)
                times.append(arrays.add(t[rows]))
            numbers = arrays.add(np.asarray(y, np.float32))
            curves.append({"name": curve.label or plot.title, "colour": curve.colour, "y": numbers, "rows": k})
        unit = _plain_unit(plot.unit)
        found.append({"title": before + plot.title, "unit": unit, "log": plot.log, "t": times, "curves": curves})
    return found


def _telling(y: NDArray[np.float64]) -> NDArray[np.intp] | None:
    """Return the rows of a long curve by which it looks as it does: the least and the largest value of each part."""
    if len(y) <= _ROWS:
        return None
    bounds = np.linspace(0, len(y), _ROWS // 2, dtype=int)
    parts = list(pairwise(bounds.tolist()))
    least = [a + int(np.argmin(y[a:b])) for a, b in parts]
    largest = [a + int(np.argmax(y[a:b])) for a, b in parts]
    return np.unique([0, len(y) - 1, *least, *largest])


def _plain_unit(unit: str) -> str:
    """Return a unit without the powers of ten as matplotlib has them."""
    digits = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    return re.sub(r"10\$\^\{(-?\d+)\}\$", lambda found: "10" + found[1].translate(digits), unit)


def _texts(run: Result) -> list[dict[str, str]]:
    """Return what is said of the run, each with the title of its tab."""
    reported: dict[str, Callable[[], dict[str, str]]] = {
        "summary": lambda: {"words": result_report(run.path)},
        "conservation": lambda: _conservation(run),
        "scenario": lambda: {"words": run.scenario_text},
    }
    found = []
    for title, reported_so in reported.items():
        try:
            found.append({"title": title} | reported_so())
        except SymplexError as error:  # one that is damaged keeps no other from being reported
            found.append({"title": title, "words": str(error)})
    return found


def _conservation(run: Result) -> dict[str, str]:
    """Return the conservation report in words, and as a picture."""
    report = conservation(run)
    with TemporaryDirectory() as folder:
        picture = draw(report, Path(folder) / "conservation.png").read_bytes()
    return {"words": report.text(), "picture": _embedded(picture)}


def _embedded(picture: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(picture).decode("ascii")


# -- bodies --------------------------------------------------------------------------------------------------------


def _there(run: Result) -> Series | str:
    """Return the frames of a run, or why there are none."""
    try:
        series = run.series
    except OutputError as error:
        return str(error)
    return series if len(series) else f"{series.path} has no frames."


def _model(
    run: Result,
    series: Series,
    arrays: Arrays,
    field: str | None,
    fields: Sequence[str] | None,
    view: View | None,
    max_bytes: int,
) -> dict[str, Any]:
    """Return what is shown of the bodies."""
    folder = RunFolder.of_run(run.path)
    view = upright_in(view, folder)
    shown = field or shown_field(series)
    scene = Scene(series, shown, replace(view, section=None), [0, len(series) - 1])
    packed = pack_series(series, fields, arrays, max_bytes)
    at_first = "velocity" if shown == "speed" else shown
    n = len(packed.frames)
    said = [f"{n} frames" if n == len(series) else f"{n} of {len(series)} frames, for a small file"]
    said += ["only the surfaces of bodies, for a small file"] if packed.is_hollow else []
    said.append(f"displacements to within {si(packed.resolution, 'm')}")
    status = "" if run.status == "finished" else f"{run.status}; "
    return {
        "model": packed.header,
        "camera": scene.camera.plain(),
        "field": at_first,
        "factor": view.scale,
        "cut": {"across": view.section, "place": view.origin and max(view.origin, key=abs)},
        "note": f"{status}{'; '.join(said)}.",
    }
