"""A results folder as what other tools read: its tables as CSV, Parquet or HDF5, its frames as VTU or a series."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import BytesIO
from os.path import lexists
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from symplex.base.arguments import checked
from symplex.base.files import reason_of, write_atomic
from symplex.errors import OutputError
from symplex.meshes.series.series import open_series
from symplex.runs.frd import frd_of
from symplex.runs.history import History, columns_of, lines_of, title_line
from symplex.runs.result import Result, read_result

_SERIES = (".pvd", ".vtkhdf")


@checked
def export_result(
    result: Result | str | Path,
    to: str | Path,
    *,
    probe: str | None = None,
    time: float | None = None,
    overwrite: bool = False,
) -> Path:
    """Write what a run has left in a format that other tools read, which the suffix of the file shows.

    ``.csv``, ``.parquet`` and ``.h5`` have the rows of the history, or of a probe, with the units of columns: in CSV
    behind their names, in Parquet as ``unit`` in the metadata of each field, in HDF5 as files of probes have them. With
    ``.vtu`` one frame is written, with all fields; with ``.pvd`` and ``.vtkhdf`` all of them; with ``.frd`` all as
    CalculiX has them, with the data of nodes, which are numbered from 1 in the order of the results.

    Parameters
    ----------
    result : Result or path-like
        The run, or its results folder.
    to : path-like
        The file.
    probe : str, optional
        The name of a probe; default: the history.
    time : float, optional
        In s, of the frame; the nearest one is written. Default: the last.
    overwrite : bool, default False
        Whether a file that is there is replaced; a series is not.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    OutputError
        If there is no run, probe or frame, the run's files cannot be read, the file is there (or, of a .pvd, the folder
        of its frames), is one of the run's own, cannot be written or has another suffix, or a package is missing that
        it needs.

    Examples
    --------
    >>> sx.export_result("drop-results", "drop.parquet")
    """
    path, suffix = Path(to), Path(to).suffix.lower()
    result = result if isinstance(result, Result) else read_result(result)
    known = (*_TABLES, ".vtu", ".frd", *_SERIES)
    if suffix not in known:
        raise OutputError(f"{path}: results are exported as {', '.join(known)}, not '{suffix}'.")
    for given, name, suffixes in ((probe, "a probe", (*_TABLES,)), (time, "a time", (".vtu",))):
        if given is not None and suffix not in suffixes:
            raise OutputError(f"{path}: {name} is given, which goes with {', '.join(suffixes)}.")
    if path.resolve() in (file.resolve() for file in result.folder.files()):
        raise OutputError(f"{path} is a file of the run itself; choose another name.")
    if suffix == ".pvd" and lexists(path.with_suffix("")):
        raise OutputError(
            f"{path.with_suffix('')}, in which the files of {path.name} would be, exists already; remove it, or choose "
            "another name."
        )
    if lexists(path) and not (overwrite and path.is_file() and suffix not in _SERIES):
        way_out = "remove it" if suffix in _SERIES or not path.is_file() else "replace it with --overwrite"
        raise OutputError(f"{path} exists already; {way_out}, or choose another name.")
    try:
        if suffix in _SERIES:
            _write_series(result, path)
        else:
            write_atomic(path, _content(result, suffix, probe, time))
    except OSError as error:
        raise OutputError(f"{path} cannot be written ({reason_of(error)}).") from error
    return path


def _content(result: Result, suffix: str, probe: str | None, time: float | None) -> bytes:
    """Return a file by its suffix."""
    if suffix == ".vtu":
        return _vtu(result, time)
    if suffix == ".frd":
        return frd_of(result.series, result.scenario.tables.title or "symplex")
    return _TABLES[suffix](_table(result, probe))


def _table(result: Result, probe: str | None) -> History:
    if probe is None:
        return result.history
    if probe not in result.probes:
        there = ", ".join(result.probes) or "none"
        raise OutputError(f"{result.path} has no probe '{probe}'; there are {there}.")
    return result.probes[probe]


def _csv(table: History) -> bytes:
    return title_line(table, columns_of(table)) + lines_of(np.column_stack(list(table.values())))


def _parquet(table: History) -> bytes:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise OutputError("Parquet files need the package pyarrow; install symplex[parquet].") from None
    columns, out = columns_of(table), BytesIO()
    fields = [pyarrow.field(name, pyarrow.float64(), metadata={"unit": columns[name].unit}) for name in table]
    arrays = [pyarrow.array(values) for values in table.values()]
    pyarrow.parquet.write_table(pyarrow.table(arrays, schema=pyarrow.schema(fields)), out)
    return out.getvalue()


def _hdf5(table: History) -> bytes:
    import h5py

    out = BytesIO()
    with h5py.File(out, "w") as file:
        rows = file.create_dataset("rows", data=np.column_stack(list(table.values())))
        declared = [column.plain() for column in columns_of(table).values()]
        rows.attrs["columns"] = json.dumps(declared, ensure_ascii=False)
    return out.getvalue()


_TABLES: dict[str, Callable[[History], bytes]] = {".csv": _csv, ".parquet": _parquet, ".h5": _hdf5}


def _vtu(result: Result, time: float | None) -> bytes:
    grid = result.frame(time).mesh()
    with TemporaryDirectory() as folder:
        aside = Path(folder) / "frame.vtu"
        grid.save(aside)
        return aside.read_bytes()


def _write_series(result: Result, path: Path) -> None:
    series = result.series
    with open_series(path, series.points, series.blocks) as writer:
        for frame in series.frames():
            writer.append(frame.t, frame.displacement, frame.point_data, frame.cell_data)
