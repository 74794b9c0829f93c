"""What a study shows on the terminal while it goes on; it does not depend on whether it can be shown."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, TextIO, cast

from symplex.base.streams import Writer, printable, say
from symplex.runs.progress import clock

if TYPE_CHECKING:
    from rich.progress import Progress

_BETWEEN_LINES = 10.0  # s of wall time between lines where there is no terminal


class MembersShown:
    """Shows how many members of a study have been run: as a bar on a terminal, else as a line now and then.

    Parameters
    ----------
    total : int
        How many there are.
    kept : int
        How many of them need no run: those that were finished before, and those that have failed already.
    failed : int
        How many have failed already.
    progress : bool
        Whether to show anything.
    """

    def __init__(self, total: int, kept: int, failed: int, progress: bool):
        self._total, self._kept, self._progress = total, kept, progress
        self._done, self._failed = 0, failed
        self._begun = perf_counter()
        self._next = self._begun + _BETWEEN_LINES
        self._bar: Progress | None = None

    @contextmanager
    def shown(self) -> Iterator[MembersShown]:
        """Show it as long as the block goes on."""
        if self._progress and Writer(sys.stdout).isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn

            columns = BarColumn(bar_width=24), TextColumn("{task.description}", markup=False)
            self._bar = Progress(*columns, console=Console(file=cast(TextIO, Writer(sys.stdout))))
            self._task = self._bar.add_task(self._text(), total=self._total, completed=self._kept)
            self._bar.start()
        try:
            yield self
        finally:
            if self._bar is not None:
                self._bar.stop()

    def say(self, message: str) -> None:
        """Print a line, above the bar if there is one."""
        if self._bar is not None:
            self._bar.console.print(printable(message), markup=False, highlight=False)
        elif self._progress:
            say(message)

    def one_more(self, failed: bool) -> None:
        """One more member has come to its end."""
        self._done += 1
        self._failed += failed
        if self._bar is not None:
            self._bar.update(self._task, completed=self._kept + self._done, description=self._text())
        elif perf_counter() >= self._next:
            self._next = perf_counter() + _BETWEEN_LINES
            self.say(self._text())

    def _text(self) -> str:
        left = self._total - self._kept - self._done
        text = f"{self._kept + self._done} of {self._total} members"
        text += f", {self._failed} failed" if self._failed else ""
        if self._done and left:
            text += f" · {clock((perf_counter() - self._begun) / self._done * left)} left"
        return text
