"""Time histories: energies, momenta and the like as columns of a CSV file that a kill cannot spoil."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from io import BufferedWriter
from pathlib import Path
from types import MappingProxyType, ModuleType, TracebackType
from typing import TYPE_CHECKING, Literal, Never, Self, final

import numpy as np
import orjson
from numpy.typing import NDArray

from symplex.base.arguments import checked
from symplex.base.columns import Column, energy_column, work_column
from symplex.base.files import WAY_OUT, damage_reported, read_whole, reason_of, write_text
from symplex.base.quantities import listed
from symplex.base.representation import names
from symplex.errors import OutputError

if TYPE_CHECKING:
    import pandas

Rows = Mapping[str, NDArray[np.float64]]

_LARGEST = 1e150  # far beyond anything physical; squares and sums of smaller numbers are finite


class History(dict[str, NDArray[np.float64]]):
    """The columns [rows] of a history by name, and what each of them is.

    Attributes
    ----------
    columns : dict of str to Column
    """

    def __init__(self, rows: Rows, declared: Mapping[str, Column]):
        super().__init__(rows)
        self.columns = _described(list(rows), declared)

    def __missing__(self, name: str) -> NDArray[np.float64]:
        """Refuse a column that there is not, as of a file from which it was cut."""
        raise OutputError(f"the history lacks '{name}'; it has {listed(self)}.")

    def __repr__(self) -> str:
        rows = len(next(iter(self.values()), ()))
        return f"History({rows:,} rows; columns: {names(self)})"

    def to_pandas(self) -> pandas.DataFrame:
        """Return the columns as a frame of pandas with the time in s as its index, and the units in ``attrs``."""
        pandas = loaded_pandas()
        frame = pandas.DataFrame({name: rows for name, rows in self.items() if name != "t"})
        frame.index = pandas.Index(self.get("t", np.arange(float(len(frame)))), name="t")
        frame.attrs["units"] = {name: column.unit for name, column in self.columns.items()}
        return frame


def loaded_pandas() -> ModuleType:
    """Return pandas, which is heavy, and optional."""
    try:
        import pandas
    except ImportError:
        raise OutputError("frames need the package pandas; install symplex[pandas].") from None
    return pandas


def columns_of(history: Rows) -> dict[str, Column]:
    """Return what the columns of a history are: as it was declared, or what their names report."""
    return history.columns if isinstance(history, History) else guessed_columns(history)


def guessed_columns(names: Iterable[str]) -> dict[str, Column]:
    """Return what the columns of a history without a declaration are, as earlier versions have left, by their names."""
    from symplex.scenario.integrators import reserved_columns  # which imports all methods; declarations need none

    known, found, in_energies = reserved_columns(), {}, False
    for name in names:
        if name in known:
            found[name] = known[name]
        elif in_energies:
            found[name] = energy_column(name)
        elif name.startswith("work_"):
            found[name] = work_column(name)
        else:
            found[name] = Column(name)
        in_energies = (in_energies or name == "kinetic") and name != "total"
    return found


def _described(names: list[str], declared: Mapping[str, Column]) -> dict[str, Column]:
    """Return what columns are, guessed where it is not declared."""
    if declared.keys() >= set(names):
        return {name: declared[name] for name in names}
    return {name: declared.get(name, column) for name, column in guessed_columns(names).items()}


def declaration_of(path: Path) -> Path:
    """Return the file next to a history that shows what its columns are."""
    return path.with_suffix(".json")


@final
class HistoryWriter:
    """Appends rows to a CSV file, each on the disk when ``append`` returns; a context manager.

    Numbers are written so that reading them gives the same floats again. What the columns are is in a JSON file next to
    it, which is there before the first row.

    Parameters
    ----------
    path : path-like
        A file that does not exist yet.
    declared : mapping of str to Column, optional
        What columns are; of others it is guessed.
    units : bool, default False
        Whether the first line has units behind the names, as ``force_x [N]``.
    """

    def __init__(self, path: str | Path, declared: Mapping[str, Column] = MappingProxyType({}), *, units: bool = False):
        self.path = Path(path)
        self.columns: list[str] = []
        self._declared, self._units = declared, units
        self._file = self._open("xb")

    @classmethod
    def resume(
        cls,
        path: str | Path,
        up_to: float,
        declared: Mapping[str, Column] = MappingProxyType({}),
        *,
        units: bool = False,
    ) -> HistoryWriter:
        """Reopen a history to append to it, without the rows whose ``t`` is later than ``up_to``."""
        path = Path(path)
        lines = _whole_lines(path)
        past = _parsed(path, lines)
        kept = lines[: 1 + int(np.count_nonzero(past["t"] <= up_to))]
        writer = cls.__new__(cls)
        writer.path = path
        writer.columns, writer._declared, writer._units = list(past), declared, units
        writer._declare()
        write_text(path, "".join(f"{line}\n" for line in kept))
        writer._file = writer._open("ab")
        return writer

    def append(self, row: Mapping[str, float]) -> None:
        """Append a row; the first one names the columns, beginning with ``t``."""
        if not self.columns:
            self._begin(row)
        if row.keys() != set(self.columns):
            odd = sorted(set(row) ^ set(self.columns))[0]
            raise OutputError(f"{self.path.name}: column '{odd}' is not in every row; a history has the same columns.")
        self.extend(np.array([[row[name] for name in self.columns]], dtype=float))

    def extend(self, rows: NDArray[np.float64]) -> None:
        """Append rows [s, columns] of the columns that the first row has named, or of those that are declared."""
        if not self.columns:
            self._begin(dict.fromkeys(self._declared, 0.0))
        good = np.abs(rows) <= _LARGEST
        count = len(rows) if good.all() else int(np.argmin(good.all(axis=1)))
        if count:
            self._write(lines_of(rows[:count]))
        if count < len(rows):
            refuse_row(self.path, self.columns, rows[count], good[count])

    def _begin(self, row: Mapping[str, float]) -> None:
        if "t" not in row:
            raise OutputError(f"{self.path.name}: the rows of a history need the time 't'; they have {', '.join(row)}.")
        if odd := next((name for name in row if set(name) & set(',"\r\n')), None):
            raise OutputError(f"{self.path.name}: {odd!r} cannot name a column; leave out commas, quotes and breaks.")
        self.columns = ["t", *(name for name in row if name != "t")]
        self._declare()
        self._write(title_line(self.columns, self._declared if self._units else {}))

    def _declare(self) -> None:
        """Write what the columns are."""
        columns = [column.plain() for column in _described(self.columns, self._declared).values()]
        write_text(declaration_of(self.path), json.dumps({"columns": columns}, indent=1, ensure_ascii=False) + "\n")

    def _write(self, lines: bytes) -> None:
        try:
            self._file.write(lines)
            self._file.flush()
        except OSError as error:
            raise OutputError(f"{self.path} cannot be written ({error.strerror or error}).") from error

    def _open(self, mode: Literal["xb", "ab"]) -> BufferedWriter:
        try:
            return self.path.open(mode)
        except FileExistsError as error:
            raise OutputError(f"{self.path} exists already; remove it, choose another name, or resume it.") from error
        except OSError as error:
            raise OutputError(f"{self.path} cannot be written ({error.strerror or error}).") from error

    def flush(self) -> None:
        """Do nothing: each row is on the disk already."""

    def close(self) -> None:
        """Close the file; more than once does no harm."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def title_line(names: Iterable[str], columns: Mapping[str, Column]) -> bytes:
    """Return the first line of CSV: names, with units behind them where there are, as ``force_x [N]``."""
    units = {name: column.unit for name, column in columns.items() if column.unit}
    titles = (f"{name} [{units[name]}]" if name in units else name for name in names)
    return ",".join(titles).encode() + b"\n"


def lines_of(rows: NDArray[np.float64]) -> bytes:
    """Return finite rows [s, columns] as lines of CSV, of which the same floats are read again."""
    if not len(rows):
        return b""
    # Each number as a list of JSON has it: the shortest text of it, ten times as fast as `repr`.
    listed = orjson.dumps(np.ascontiguousarray(rows), option=orjson.OPT_SERIALIZE_NUMPY)
    return listed[2:-2].replace(b"],[", b"\n") + b"\n"


def refuse_row(path: Path, columns: Sequence[str], row: NDArray[np.float64], good: NDArray[np.bool_]) -> Never:
    """Raise the error about a row of which some numbers are not good."""
    k = int(np.argmin(good))
    raise OutputError(f"{path.name}: '{columns[k]}' is {float(row[k])} at t = {row[0]:g} s.")


@checked
def read_history(path: str | Path) -> History:
    """Return the columns [rows] of a history by name; a last line that was cut short is left out.

    What the columns are is read from the file next to it, if there is one.

    Parameters
    ----------
    path : path-like
        The file, ``history.csv``.

    Raises
    ------
    OutputError
        If there is no history, it cannot be read, or it is not as a `HistoryWriter` leaves it: rows of finite numbers,
        later ones below earlier ones.
    """
    path = Path(path)
    return History(_parsed(path, _whole_lines(path)), _read_declaration(declaration_of(path)))


def _read_declaration(path: Path) -> dict[str, Column]:
    """Return what columns are, by name: of none, if there is no such file."""
    with damage_reported(path, "declaration of columns", "remove it: the names then describe the columns"):
        try:
            columns = json.loads(read_whole(path))["columns"]
        except FileNotFoundError:
            return {}
        return {column.name: column for column in map(Column.of, columns)}


def _whole_lines(path: Path) -> list[str]:
    """Return the lines that end in a line break."""
    try:
        text = read_whole(path).decode("utf-8-sig")
    except FileNotFoundError as error:
        raise OutputError(f"{path} does not exist; a run writes its history there.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise OutputError(f"{path} cannot be read ({reason_of(error)}); {WAY_OUT}.") from error
    return text.replace("\r\n", "\n").split("\n")[:-1]


def _parsed(path: Path, lines: list[str]) -> dict[str, NDArray[np.float64]]:
    """Return the columns of a history given as lines."""
    columns = _columns(path, lines)
    values = np.empty((len(lines) - 1, len(columns)))
    for i, line in enumerate(lines[1:]):
        try:
            row = [float(word) for word in line.split(",")]
        except ValueError:
            row = []
        if len(row) != len(columns) or not (np.abs(row) <= _LARGEST).all():
            raise OutputError(f"{path}, line {i + 2}: not {len(columns)} numbers ({line[:40]!r}); {WAY_OUT}.")
        values[i] = row
    if (back := np.flatnonzero(np.diff(values[:, 0]) <= 0)).size:
        raise OutputError(f"{path}, line {back[0] + 3}: its time is not later than the one before; {WAY_OUT}.")
    return {name: values[:, k].copy() for k, name in enumerate(columns)}


def _columns(path: Path, lines: list[str]) -> list[str]:
    # Files of probes have units behind the names.
    columns = [word.split(" [")[0] for word in lines[0].split(",")] if lines else []
    if columns[:1] != ["t"] or len(set(columns)) < len(columns):
        raise OutputError(
            f"{path} is not a history: its first line does not name columns beginning with 't'; {WAY_OUT}."
        )
    return columns
