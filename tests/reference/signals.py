"""Signals as a program from a terminal has them."""

import signal
from contextlib import contextmanager

_HANDLERS = {"SIGINT": signal.default_int_handler, "SIGTERM": signal.SIG_DFL, "SIGHUP": signal.SIG_DFL}


@contextmanager
def as_from_a_terminal():
    """Let signals end this process and the processes that it starts.

    ``command &`` in a script starts a program with SIGINT ignored, ``nohup`` with SIGHUP ignored; runs then ignore them
    as well, and so do all processes below.
    """
    before = {
        getattr(signal, name): signal.signal(getattr(signal, name), handler)
        for name, handler in _HANDLERS.items()
        if hasattr(signal, name)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
