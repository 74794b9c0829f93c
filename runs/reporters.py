"""Reporters: what looks at the samples of a run, such as its history, probes, frames and progress, and users' own."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, final

from symplex.base.arguments import checked, described
from symplex.base.columns import Column
from symplex.base.representation import Described
from symplex.errors import InvalidSystem, OutputError, SymplexError
from symplex.fem.outputs.forces import Acting
from symplex.fem.system import State
from symplex.runs.background import Background
from symplex.runs.history import HistoryWriter
from symplex.runs.rows import RowsOfRun, found_once
from symplex.time.motion import Motion
from symplex.time.trajectory import Observer


@final
class Sample:
    """A sample of a run: a state, and what is computed of it once for all reporters. Runs make them.

    Parameters
    ----------
    number, state, motion, is_row, is_frame
        See below.
    rows : RowsOfRun
        Makes the row of the history.
    background : Background
        Calls what writes.

    Attributes
    ----------
    number : int
        From 0 on.
    t : float
        In s.
    state : State
    motion : Motion
        With its system, energies, momenta and forces; it goes on after the sample.
    is_row, is_frame : bool
        Whether the history has a row of it, and the series a frame.
    """

    def __init__(
        self,
        number: int,
        state: State,
        motion: Motion,
        rows: RowsOfRun,
        background: Background,
        *,
        is_row: bool = True,
        is_frame: bool = True,
    ):
        self.number, self.state, self.motion, self.t = number, state, motion, state.t
        self.is_row, self.is_frame = is_row, is_frame
        self._rows, self._background = rows, background

    @cached_property
    def acting(self) -> Acting:
        """The gradients of energies at the state, as the motion feels them."""
        return found_once(self.motion, self.state)

    @cached_property
    def row(self) -> Mapping[str, float]:
        """The row of the history: time, energies, momenta and the rest by the names of columns."""
        return self._rows.row(self.state, self.acting)

    def later(self, function: Callable[..., object], *arguments: Any) -> None:
        """Call a function that writes, after all that was given before; of large models while the motion goes on."""
        self._background.do(function, *arguments)

    def wait(self) -> None:
        """Wait until all that was given is written."""
        self._background.wait()


class Reporter:
    """Looks at the samples of a run; the base of reporters of your own for `simulate`.

    All methods but `report` may be left as they are.

    Attributes
    ----------
    files : sequence of str
        The names of the files that it writes in the results folder: no run takes the place of others of these names,
        and ``overwrite`` removes them with the run.

    Examples
    --------
    >>> class Fastest(sx.runs.Reporter):
    ...     def begin(self, folder, kept):
    ...         self.speed = 0.0
    ...     def report(self, sample):
    ...         self.speed = max(self.speed, abs(sample.state.v).max())
    >>> sx.simulate("drop.toml", reporters=[Fastest()])
    """

    files: Sequence[str] = ()

    def check(self, folder: Path, kept: float) -> None:
        """Refuse to resume a run by raising an error, before anything in its folder is changed."""

    def begin(self, folder: Path, kept: float | None) -> None:
        """Begin, in a results folder that is there.

        Parameters
        ----------
        folder : Path
        kept : float or None
            Of a run that is resumed the time in s of the last sample that counts: what was written of later ones is to
            be removed, as they are reported again.
        """

    def report(self, sample: Sample) -> None:
        """Report a sample, in the order of their numbers."""

    def flush(self) -> None:
        """See to it that all that was reported survives a kill, as a checkpoint counts on it."""

    def end(self) -> None:
        """Close files; the run has ended, in whatever way."""


@checked
class TableReporter(Described, Reporter):
    """Writes numbers of your own, a row for each sample, as a probe does: to ``probe-NAME.csv``.

    So `read_result` and `read_probes` have them, plots, pages, exports and comparisons too. A kill leaves whole rows,
    and a run that is resumed continues them.

    Parameters
    ----------
    name : str
        As of a probe.
    row : callable
        Returns the numbers of a `Sample` by name, the same names for each; the time is added.
    units : mapping of str to str, optional
        Of the numbers, by name; SI.
    every : int, default 1
        Of how many samples one has a row.

    Examples
    --------
    >>> height = sx.runs.TableReporter("height", lambda sample: {"z": sample.state.q[:, 2].max()}, {"z": "m"})
    >>> sx.simulate("drop.toml", "drop-results", reporters=[height])
    >>> sx.read_result("drop-results").probes["height"]["z"]
    """

    def __init__(
        self,
        name: str,
        row: Callable[[Sample], Mapping[str, float]],
        units: Mapping[str, str] = MappingProxyType({}),
        *,
        every: int = 1,
    ):
        if not name or Path(name).name != name:
            raise InvalidSystem(f"TableReporter: name must be that of a file without a folder, got {name!r}.")
        if every < 1:
            raise InvalidSystem(f"TableReporter: every must be at least 1, got {every}.")
        self.name = name
        self.files = (f"probe-{name}.csv", f"probe-{name}.json")
        self._row, self._every = row, every
        self._declared = {"t": Column("t", "s", "time")} | {key: Column(key, unit) for key, unit in units.items()}
        self._path = Path(self.files[0])
        self._writer: HistoryWriter | None = None

    def begin(self, folder: Path, kept: float | None) -> None:
        """Begin the table, or continue it."""
        self._path, self._writer = folder / self.files[0], None
        if kept is not None and self._path.exists():
            self._writer = HistoryWriter.resume(self._path, kept, self._declared, units=True)

    def report(self, sample: Sample) -> None:
        """Write a row."""
        if sample.number % self._every:
            return
        row = {"t": sample.t, **{name: float(value) for name, value in self._row(sample).items()}}
        if self._writer is None:
            self._writer = HistoryWriter(self._path, self._declared, units=True)
        self._writer.append(row)

    def end(self) -> None:
        """Close the file."""
        if self._writer is not None:
            self._writer.close()


class ReporterFailed(OutputError):
    """A reporter of the user's own that has raised an error."""


@final
class Given(Reporter):
    """A reporter that a user has given, or an observer as of `march`, whose errors are reported in a sentence."""

    def __init__(self, given: Reporter | Observer):
        if not isinstance(given, Reporter) and (isinstance(given, type) or not callable(given)):
            raise InvalidSystem(
                f"simulate: reporters must be Reporters, or functions of a motion and a state, got {described(given)}."
            )
        self._own = given if isinstance(given, Reporter) else _Observing(given)
        self.files = self._own.files
        self._name = getattr(given, "__name__", type(given).__name__)
        self._failed = False

    def check(self, folder: Path, kept: float) -> None:
        """Refuse what it refuses."""
        with self._reported(kept):
            self._own.check(folder, kept)

    def begin(self, folder: Path, kept: float | None) -> None:
        """Begin."""
        with self._reported(kept or 0.0):
            self._own.begin(folder, kept)

    def report(self, sample: Sample) -> None:
        """Report a sample."""
        with self._reported(sample.t):
            self._own.report(sample)

    def flush(self) -> None:
        """Save what was reported; what it has failed to report is reported again by a run that is resumed."""
        if not self._failed:
            with self._reported():
                self._own.flush()

    def end(self) -> None:
        """Close files."""
        with self._reported():
            self._own.end()

    @contextmanager
    def _reported(self, t: float | None = None) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            self._failed = True
            where = traceback.extract_tb(error.__traceback__)[-1]
            what = str(error) if isinstance(error, SymplexError) else f"{type(error).__name__}: {error}"
            when = "at the end" if t is None else f"t = {t:.6g} s"
            raise ReporterFailed(
                f"{when}: reporter {self._name} failed ({what.rstrip('.')}; {Path(where.filename).name}, line "
                f"{where.lineno}). All samples before are kept; correct it, and resume the run."
            ) from error


@final
class _Observing(Reporter):
    """A function of a motion and a state as a reporter."""

    def __init__(self, observer: Observer):
        self._observer = observer

    def report(self, sample: Sample) -> None:
        """Call the function."""
        self._observer(sample.motion, sample.state)
