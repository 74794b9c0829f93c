"""Signals that ask a run to end: Ctrl-C, and what schedulers and closing terminals send."""

from __future__ import annotations

import math
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import final

from symplex.errors import Interrupted

# Ctrl-C; a scheduler's, before it kills; that of a terminal that is closed; a limit of processor time; Ctrl-Break.
_SIGNALS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGXCPU", "SIGBREAK") if hasattr(signal, name)
]


@final
class Stop:
    """Whether a signal has asked for the end.

    Attributes
    ----------
    signal : int
        The first that did, or 0.
    """

    def __init__(self):
        self.signal = 0
        self._count = 0
        self._awaited = 1.0  # so many signals are only noted; the next one ends all at once

    @contextmanager
    def noted(self, signals: float = math.inf) -> Iterator[None]:
        """Only note the first so many signals that come inside; the next one raises `Interrupted`."""
        before, self._awaited = self._awaited, self._count + signals
        try:
            yield
        finally:
            self._awaited = before

    def raise_if_asked(self) -> None:
        """Raise `Interrupted` if a signal has come."""
        if self.signal:
            raise Interrupted(self.signal)

    def _handle(self, number: int, frame: object) -> None:
        self._count += 1
        self.signal = self.signal or number
        if self._count > self._awaited:
            raise Interrupted(number)


@contextmanager
def heeded() -> Iterator[Stop]:
    """Note the first signal that asks for the end; the second one raises `Interrupted`, wherever the program is.

    An exception from a signal handler may come where Python drops it (in a callback, say), so what has something to
    lose had better look at the note now and then. Signals that the process was asked to ignore (by ``nohup``, or in the
    background of a script) stay ignored. Outside the main thread, where Python allows no signal handlers, none is
    heeded.
    """
    stop = Stop()
    before = {}
    if threading.current_thread() is threading.main_thread():
        for number in _SIGNALS:
            if signal.getsignal(number) not in (signal.SIG_IGN, None):
                before[number] = signal.signal(number, stop._handle)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
