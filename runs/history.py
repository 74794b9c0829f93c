"""Time histories: energies, momenta and the like as columns of a CSV file that a kill cannot spoil."""

from __future__ import annotations

from collections.abc import Mapping
from io import TextIOWrapper
from pathlib import Path
from types import TracebackType
from typing import Self, final

import numpy as np
from numpy.typing import NDArray

from symplex.base.arguments import checked
from symplex.base.files import WAY_OUT, read_whole, reason_of, write_whole
from symplex.errors import OutputError

History = dict[str, NDArray[np.float64]]

_LARGEST = 1e150  # far beyond anything physical; squares and sums of smaller numbers are finite


@final
class HistoryWriter:
    """Appends rows to a CSV file, each on the disk when ``append`` returns; a context manager.

    Numbers are written so that reading them gives the same floats again.

    Parameters
    ----------
    path : path-like
        A file that does not exist yet.

    Raises
    ------
    OutputError
        If the file exists or cannot be written.
    """

    def __init__(self, path: str | Path):
        self.path = Path(path)
        self.columns: list[str] = []
        self._file = self._open("x")

    @classmethod
    def resume(cls, path: str | Path, up_to: float) -> HistoryWriter:
        """Reopen a history to append to it, without the rows whose ``t`` is later than ``up_to``.

        Raises
        ------
        OutputError
            If there is no history or it cannot be read.
        """
        path = Path(path)
        lines = _whole_lines(path)
        past = _parsed(path, lines)
        kept = lines[: 1 + int(np.count_nonzero(past["t"] <= up_to))]
        writer = cls.__new__(cls)
        writer.path = path
        writer.columns = list(past)
        try:
            write_whole(path, "".join(f"{line}\n" for line in kept).encode())
        except OSError as error:
            raise OutputError(f"{path} cannot be written ({reason_of(error)}).") from error
        writer._file = writer._open("a")
        return writer

    def append(self, row: Mapping[str, float]) -> None:
        """Append a row; the first one names the columns, beginning with ``t``.

        Raises
        ------
        OutputError
            If the columns differ from those of the first row, a value is not finite or beyond 1e150, or the row cannot
            be written.
        """
        if not self.columns:
            self._begin(row)
        if set(row) != set(self.columns):
            odd = sorted(set(row) ^ set(self.columns))[0]
            raise OutputError(f"{self.path.name}: column '{odd}' is not in every row; a history has the same columns.")
        if bad := next((name for name in self.columns if not abs(row[name]) <= _LARGEST), None):
            raise OutputError(f"{self.path.name}: '{bad}' is {row[bad]} at t = {row['t']:g} s.")
        self._write(",".join(repr(float(row[name])) for name in self.columns))

    def _begin(self, row: Mapping[str, float]) -> None:
        if "t" not in row:
            raise OutputError(f"{self.path.name}: the rows of a history need the time 't'; they have {', '.join(row)}.")
        if odd := next((name for name in row if set(name) & set(',"\r\n')), None):
            raise OutputError(f"{self.path.name}: {odd!r} cannot name a column; leave out commas, quotes and breaks.")
        self.columns = ["t", *(name for name in row if name != "t")]
        self._write(",".join(self.columns))

    def _write(self, line: str) -> None:
        try:
            self._file.write(line + "\n")
            self._file.flush()
        except OSError as error:
            raise OutputError(f"{self.path} cannot be written ({error.strerror or error}).") from error

    def _open(self, mode: str) -> TextIOWrapper:
        try:
            return self.path.open(mode, encoding="utf-8", newline="\n")  # type: ignore[return-value]
        except FileExistsError as error:
            raise OutputError(f"{self.path} exists already; remove it, choose another name, or resume it.") from error
        except OSError as error:
            raise OutputError(f"{self.path} cannot be written ({error.strerror or error}).") from error

    def close(self) -> None:
        """Close the file; more than once does no harm."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@checked
def read_history(path: str | Path) -> History:
    """Return the columns [rows] of a history by name; a last line that was cut short is left out.

    Raises
    ------
    OutputError
        If there is no history, it cannot be read, or it is not as a `HistoryWriter` leaves it: rows of finite numbers,
        later ones below earlier ones.
    """
    path = Path(path)
    return _parsed(path, _whole_lines(path))


def _whole_lines(path: Path) -> list[str]:
    """Return the lines that end in a line break."""
    try:
        text = read_whole(path).decode("utf-8-sig")
    except FileNotFoundError as error:
        raise OutputError(f"{path} does not exist; a run writes its history there.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise OutputError(f"{path} cannot be read ({reason_of(error)}); {WAY_OUT}.") from error
    return text.replace("\r\n", "\n").split("\n")[:-1]


def _parsed(path: Path, lines: list[str]) -> History:
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
    columns = lines[0].split(",") if lines else []
    if columns[:1] != ["t"] or len(set(columns)) < len(columns):
        raise OutputError(
            f"{path} is not a history: its first line does not name columns beginning with 't'; {WAY_OUT}."
        )
    return columns
