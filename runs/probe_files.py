"""Files of probes: rows of numbers over time, as text or as HDF5, that a kill cannot spoil."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Protocol, final

import numpy as np
from numpy.typing import NDArray

from symplex.base.arguments import checked
from symplex.base.columns import Column
from symplex.base.files import WAY_OUT, damage_reported, new_file, read_whole, reason_of
from symplex.base.toml import read_toml
from symplex.errors import OutputError
from symplex.meshes.series.committed import CommittedFile, opened
from symplex.meshes.series.redo import recover
from symplex.runs.folders import manifest_of
from symplex.runs.history import History, HistoryWriter, read_history, refuse_row

Format = Literal["csv", "hdf5"]
SUFFIXES: dict[str, str] = {"csv": ".csv", "hdf5": ".h5"}

PROBE = "probe"  # in manifests
_ROWS, _COLUMNS = "rows", "columns"
_TOGETHER = 4096  # rows that are kept in memory at most before they are written to an HDF5 file
_CHUNK = 1024
_KIND = "file of a probe"


class ProbeWriter(Protocol):
    """What rows of a probe are appended to."""

    def extend(self, rows: NDArray[np.float64]) -> None:
        """Append rows [s, columns], which begin with the time."""
        ...

    def flush(self) -> None:
        """See to it that all rows survive a kill."""
        ...

    def close(self) -> None:
        """Write all rows and close the file."""
        ...


@final
class Hdf5Writer:
    """Appends rows to an HDF5 file: a dataset ``rows`` [rows, columns], and what columns are as its attribute.

    Rows survive a kill from the next `flush` on, which comes by itself after some thousands.

    Parameters
    ----------
    path : Path
        A file that does not exist yet.
    declared : mapping of str to Column
        What the columns are, in their order, ``t`` first.
    """

    def __init__(self, path: Path, declared: Mapping[str, Column]):
        self.path, self._names = path, list(declared)
        self._waiting: list[list[float]] = []
        try:
            new_file(path).close()
            self._file = CommittedFile(path, begun=False)
            rows = self._file.root.create_dataset(
                _ROWS, (0, len(declared)), float, maxshape=(None, len(declared)), chunks=(_CHUNK, len(declared))
            )
            rows.attrs[_COLUMNS] = json.dumps([column.plain() for column in declared.values()], ensure_ascii=False)
            self._file.commit()
        except OSError as error:
            raise self._refused(error) from error

    @classmethod
    def resume(cls, path: Path, rows: int) -> Hdf5Writer:
        """Reopen a file to append to it, with its first rows only."""
        past = read_probe(path)
        writer = cls.__new__(cls)
        writer.path, writer._names, writer._waiting = path, list(past), []
        try:
            recover(path)
            writer._file = CommittedFile(path)
            writer._file.root[_ROWS].resize(rows, axis=0)  # pyright: ignore
            writer._file.commit()
        except OSError as error:
            raise writer._refused(error) from error
        return writer

    def extend(self, rows: NDArray[np.float64]) -> None:
        """Append rows [s, columns], which begin with the time."""
        good = np.isfinite(rows)
        count = len(rows) if good.all() else int(np.argmin(good.all(axis=1)))
        self._waiting += rows[:count].tolist()
        if len(self._waiting) >= _TOGETHER:
            self.flush()
        if count < len(rows):
            refuse_row(self.path, self._names, rows[count], good[count])

    def flush(self) -> None:
        """Write all rows to the disk."""
        if not self._waiting:
            return
        try:
            rows = self._file.root[_ROWS]
            count = rows.shape[0]  # pyright: ignore
            rows.resize(count + len(self._waiting), axis=0)  # pyright: ignore
            rows[count:] = np.array(self._waiting)  # pyright: ignore
            self._file.commit()
        except OSError as error:
            raise self._refused(error) from error
        self._waiting = []

    def _refused(self, error: OSError) -> OutputError:
        return OutputError(f"{self.path} cannot be written ({reason_of(error)}).")

    def close(self) -> None:
        """Write all rows and close the file."""
        try:
            self.flush()
            self._file.close()
        except OSError as failure:
            raise self._refused(failure) from failure


def open_probe(path: Path, declared: Mapping[str, Column]) -> ProbeWriter:
    """Begin the file of a probe, whose suffix shows its format."""
    if path.suffix == SUFFIXES["hdf5"]:
        return Hdf5Writer(path, declared)
    return HistoryWriter(path, declared, units=True)


def resume_probe(path: Path, declared: Mapping[str, Column], rows: int, up_to: float) -> ProbeWriter:
    """Reopen the file of a probe with its first rows only, those up to a time in s."""
    if path.suffix == SUFFIXES["hdf5"]:
        return Hdf5Writer.resume(path, rows)
    return HistoryWriter.resume(path, up_to, declared, units=True)


@checked
def read_probe(path: str | Path) -> History:
    """Return the columns [rows] of the file of a probe by name, and what they are.

    Parameters
    ----------
    path : path-like
        The file, ``probe-NAME.csv``.

    Raises
    ------
    OutputError
        If there is no file, or it cannot be read.
    """
    path = Path(path)
    if path.suffix != SUFFIXES["hdf5"]:
        return read_history(path)
    if not path.is_file():
        raise OutputError(f"{path} does not exist; a run with [[probe]] tables writes such files.")
    with damage_reported(path, _KIND, WAY_OUT), opened(path) as file:
        rows = file[_ROWS]
        if rows.nbytes > 64 * max(rows.file.id.get_filesize(), 1):  # pyright: ignore
            raise ValueError(f"it claims {rows.nbytes:,} bytes")  # pyright: ignore
        values = np.asarray(rows[...], dtype=float)  # pyright: ignore
        columns = [Column.of(plain) for plain in json.loads(rows.attrs[_COLUMNS])]  # pyright: ignore
        named = {column.name: column for column in columns}
        if values.ndim != 2 or values.shape[1] != len(named) or columns[0].name != "t":
            raise ValueError("its columns are not those that it declares")
        if not np.isfinite(values).all() or (np.diff(values[:, 0]) <= 0.0).any():
            raise ValueError("its rows are not finite numbers at times that increase")
    return History({name: values[:, k].copy() for k, name in enumerate(named)}, named)


def probe_formats(scenario_text: str) -> dict[str, str]:
    """Return the formats of the probes that a scenario has, by name; of what is no scenario none."""
    try:
        tables = read_toml(scenario_text).get("probe", [])
        found = {table["name"]: table.get("format", "csv") for table in tables}
        return {name: kind for name, kind in found.items() if isinstance(name, str) and kind in SUFFIXES}
    except (ValueError, TypeError, KeyError, AttributeError):
        return {}


def path_of_probe(folder: Path, name: str, file_format: str) -> Path:
    """Return the file of a probe in a results folder."""
    return folder / f"probe-{name}{SUFFIXES[file_format]}"


def probe_of(file: str) -> str:
    """Return the name of a probe by that of its file; empty of other files."""
    name, _, suffix = file.removeprefix("probe-").rpartition(".")
    return name if file.startswith("probe-") and f".{suffix}" in SUFFIXES.values() else ""


@checked
def read_probes(folder: str | Path) -> dict[str, History]:
    """Return what the probes of the run in a results folder have reported, by their names, those that have begun.

    Parameters
    ----------
    folder : path-like
        The results folder.

    Raises
    ------
    OutputError
        If there is no run in the folder, or a file cannot be read.
    """
    folder = Path(folder)
    if manifest := manifest_of(folder):
        paths = {
            probe_of(name): folder / name for name, what in manifest.files.items() if what == PROBE and probe_of(name)
        }
    else:  # of an earlier version
        try:
            text = read_whole(folder / "scenario.toml").decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise OutputError(f"{folder} is not a results folder: it has no scenario.toml that can be read.") from error
        paths = {name: path_of_probe(folder, name, kind) for name, kind in probe_formats(text).items()}
    return {name: read_probe(path) for name, path in paths.items() if path.exists()}
