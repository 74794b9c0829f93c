"""Writing to pipes of other processes."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def closed_pipes_raise() -> Iterator[None]:
    """Let writing to a pipe that nobody reads raise an error, where it ends the process otherwise.

    Python ignores that signal, but gmsh, once it is initialized, lets it end the process.
    """
    if os.name != "posix":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPIPE})
    try:
        yield
    finally:
        if signal.SIGPIPE not in before and signal.SIGPIPE in signal.sigpending():
            signal.sigwait({signal.SIGPIPE})
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
