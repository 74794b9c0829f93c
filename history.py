"""Time histories: energies, momenta and the like as columns of a CSV file that a kill cannot spoil.

Here is also which of the energies in a row a method keeps, and relative to what their changes are measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from io import TextIOWrapper
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from symplex.errors import OutputError

History = dict[str, NDArray[np.float64]]
Energy = TypeVar("Energy", float, NDArray[np.float64])

# The total energy, preceded by what integrators keep instead.
TOTALS = (
    "lattice_total",
    "terraced_total",
    "discrete_balance",
    "balance",
    "discrete_energy",
    "modified_total",
    "total",
)


def conserved_energy(row: Mapping[str, Any]) -> str:
    """Return the energy that the integrator aims to keep: the first of `TOTALS` that there is."""
    return next(name for name in TOTALS if name in row)


def relative_energy_change(energy: Energy, start: float, largest_kinetic: float) -> Energy:
    """Return the change of an energy since the start, over the energy at the start or the largest kinetic energy.

    The larger of the two is taken: what moves from rest has no energy at its start.

    Parameters
    ----------
    energy : float or [rows]
        In J.
    start : float
        This energy at the start in J.
    largest_kinetic : float
        The largest kinetic energy up to now in J.
    """
    scale = max(abs(start), largest_kinetic)
    return (energy - start) / scale if scale > 0 else 0.0 * energy


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
        kept = lines[:1] + [line for line in lines[1:] if float(line.split(",", 1)[0]) <= up_to]
        writer = cls.__new__(cls)
        writer.path = path
        writer.columns = _columns(path, lines)
        aside = path.with_name(path.name + ".new")
        try:
            aside.write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")
            aside.replace(path)
        except OSError as error:
            raise OutputError(f"{path} cannot be written ({error.strerror or error}).") from error
        writer._file = writer._open("a")
        return writer

    def append(self, row: Mapping[str, float]) -> None:
        """Append a row; the first one names the columns, beginning with ``t``.

        Raises
        ------
        OutputError
            If the columns differ from those of the first row, a value is not finite, or the row cannot be written.
        """
        if not self.columns:
            self._begin(row)
        if set(row) != set(self.columns):
            odd = sorted(set(row) ^ set(self.columns))[0]
            raise OutputError(f"{self.path.name}: column '{odd}' is not in every row; a history has the same columns.")
        if bad := next((name for name in self.columns if not np.isfinite(row[name])), None):
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


def read_history(path: str | Path) -> History:
    """Return the columns [rows] of a history by name; a last line that was cut short is left out.

    Raises
    ------
    OutputError
        If there is no history or it cannot be read.
    """
    path = Path(path)
    lines = _whole_lines(path)
    columns = _columns(path, lines)
    values = np.empty((len(lines) - 1, len(columns)))
    for i, line in enumerate(lines[1:]):
        try:
            values[i] = [float(word) for word in line.split(",")]
        except ValueError as error:
            raise OutputError(f"{path.name}, line {i + 2}: not {len(columns)} numbers ({line[:40]!r}).") from error
    return {name: values[:, k].copy() for k, name in enumerate(columns)}


def _whole_lines(path: Path) -> list[str]:
    """Return the lines that end in a line break."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise OutputError(f"{path} does not exist; a run writes its history there.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise OutputError(f"{path} cannot be read ({error}).") from error
    return text.split("\n")[:-1]


def _columns(path: Path, lines: list[str]) -> list[str]:
    columns = lines[0].split(",") if lines else []
    if columns[:1] != ["t"] or len(set(columns)) < len(columns):
        raise OutputError(f"{path} is not a history: its first line does not name columns beginning with 't'.")
    return columns
