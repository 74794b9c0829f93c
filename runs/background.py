"""Output that is written by another thread while a motion goes on, in the order in which it is given."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Queue
from types import TracebackType
from typing import Any, Self


class Background:
    """Calls functions one after the other, in its own thread; a context manager, whose end waits for all.

    What was given first is done first, so that whenever the process is killed, what is on the disk is what it would be
    without the thread, at a moment a little earlier. Once something has failed, nothing that was given after it is
    done, and the error is raised where more is given or waited for.

    Parameters
    ----------
    threaded : bool
        If false, everything is done at once by who gives it.
    """

    def __init__(self, threaded: bool):
        self._waiting: Queue[tuple[Callable[..., object], tuple[Any, ...]] | None] = Queue()
        self._error: BaseException | None = None
        self._thread: threading.Thread | None = None
        if threaded:
            self._thread = threading.Thread(target=self._work, name="symplex_output", daemon=True)
            self._thread.start()

    def do(self, function: Callable[..., object], *arguments: Any) -> None:
        """Call a function with arguments that nobody changes any more, after all that was given before."""
        if self._thread is None:
            function(*arguments)
            return
        self._raise()
        self._waiting.put((function, arguments))

    def wait(self) -> None:
        """Wait until everything is done."""
        self._waiting.join()
        self._raise()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._thread is not None:
            self._waiting.put(None)
            self._thread.join()
            self._thread = None
        if kind is None:
            self._raise()

    def _raise(self) -> None:
        if self._error is not None:
            error, self._error = self._error, None
            raise error

    def _work(self) -> None:
        failed = False
        while (given := self._waiting.get()) is not None:
            function, arguments = given
            try:
                if not failed:
                    function(*arguments)
            except BaseException as error:  # raised by the thread that goes on
                self._error, failed = error, True
            finally:
                del given, function, arguments  # frames are large
                self._waiting.task_done()
        self._waiting.task_done()
