"""What a run shows on the terminal while it goes on; the run does not depend on whether it can be shown."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, TextIO, cast

from symplex.base.streams import Writer, printable, say
from symplex.units import si_scale

if TYPE_CHECKING:
    from rich.progress import Progress

_NOTHING = 1e-40  # in any SI unit: squares of rounding
_BETWEEN_LINES = 10.0  # s of wall time between lines where there is no terminal


def si(value: float, unit: str, digits: int = 3) -> str:
    """Return a value with an SI prefix: ``si(6e-5, "s")`` is ``60 µs``."""
    if abs(value) < _NOTHING:
        value = 0.0
    factor, unit = si_scale(abs(value), unit)
    rounded = float(f"{value * factor:.{digits}g}")
    return f"{rounded:.{max(digits, 4)}g} {unit}".rstrip()


def clock(seconds: float) -> str:
    """Return a wall time as ``4.2 s``, ``3:07`` or ``1:12:00``."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class Display:
    """Shows how far a run is; the base shows nothing."""

    def say(self, message: str) -> None:
        """Show a line that stays."""

    def begin(self, t: float, duration: float) -> None:
        """The motion goes on from t."""

    def update(self, t: float, drift: float, done: str) -> None:
        """The motion has come to t, with an energy drift, and has ``done`` so many steps or events."""

    def draw(self, picture: str, part: float) -> None:
        """A part of a picture, from 0 to 1, has been drawn."""

    def end(self) -> None:
        """The motion or the drawing is over, or has failed."""


class Lines(Display):
    """Prints a line now and then: for logs and pipes."""

    def __init__(self):
        self._pace = _Pace()
        self._next = 0.0
        self._picture = ""

    def say(self, message: str) -> None:
        """Print a line."""
        say(message)

    def begin(self, t: float, duration: float) -> None:
        """The motion goes on from t."""
        self._pace.begin(t, duration)
        self._next = perf_counter() + _BETWEEN_LINES

    def update(self, t: float, drift: float, done: str) -> None:
        """Print where the motion is, if the last line is old."""
        self._pace.t = t
        if perf_counter() >= self._next:
            self._next = perf_counter() + _BETWEEN_LINES
            self.say(f"{self._pace.text()} · energy drift {drift:.1e} · {done}")

    def draw(self, picture: str, part: float) -> None:
        """Print what is drawn, once."""
        if picture != self._picture:
            self.say(f"drawing {picture} …")
        self._picture = picture


class Bar(Display):
    """A live bar on a terminal."""

    def __init__(self):
        self._pace = _Pace()
        self._progress: Progress | None = None

    def say(self, message: str) -> None:
        """Print a line, above the bar if there is one."""
        if self._progress is not None:
            self._progress.console.print(printable(message), markup=False, highlight=False)
        else:
            say(message)

    def begin(self, t: float, duration: float) -> None:
        """Show the bar."""
        self._pace.begin(t, duration)
        self._show(duration, t)

    def update(self, t: float, drift: float, done: str) -> None:
        """Move the bar."""
        self._pace.t = t
        text = f"{self._pace.text()} · drift {drift:.1e} · {done}"
        if self._progress is not None:
            self._progress.update(self._task, completed=t, description=text)

    def draw(self, picture: str, part: float) -> None:
        """Move its own bar, which goes when the drawing is over."""
        if self._progress is None:
            self._show(1.0, 0.0, transient=True)
        if self._progress is not None:
            self._progress.update(self._task, completed=part, description=f"drawing {picture}")

    def _show(self, total: float, completed: float, *, transient: bool = False) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        columns = BarColumn(bar_width=24), TextColumn("{task.description}", markup=False)
        self._progress = Progress(*columns, console=Console(file=cast(TextIO, Writer(sys.stdout))), transient=transient)
        self._task = self._progress.add_task("", total=total)
        self._progress.update(self._task, completed=completed)
        self._progress.start()

    def end(self) -> None:
        """Leave the bar as it is."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None


class _Pace:
    """Where a run is, how fast it goes, how long it will take."""

    def begin(self, t: float, duration: float) -> None:
        self.t = self._t0 = t
        self._duration = duration
        self._clock0 = perf_counter()

    def text(self) -> str:
        spent = max(perf_counter() - self._clock0, 1e-9)
        rate = (self.t - self._t0) / spent
        left = clock((self._duration - self.t) / rate) if rate > 0 else "?"
        return f"{si(self.t, 's')} of {si(self._duration, 's')} · {si(rate, 's')}/s · {left} left"


@contextmanager
def compilation_announced(shown: Display) -> Iterator[None]:
    """Say so if kernels are compiled inside: it takes a while, and happens once."""
    from numba.core.event import Event, Listener, install_listener

    class Once(Listener):
        said = False

        def on_start(self, event: Event) -> None:
            if not self.said:
                shown.say("compiling; from the next run on this is cached …")
            self.said = True

        def on_end(self, event: Event) -> None:
            pass

    with install_listener("numba:compile", Once()):
        yield


def display(progress: bool) -> Display:
    """Return the display that suits where the output goes; a silent one if progress is off."""
    if not progress:
        return Display()
    return Bar() if Writer(sys.stdout).isatty() else Lines()
