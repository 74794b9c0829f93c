"""Python functions that compiled loops call back, for what has no compiled form.

An exception cannot pass through a compiled loop: it is kept, the loop ends, and `Callback.raise_failure` raises it. The
handler of a signal, such as that of Ctrl-C, may run before the first statement of a function, outside of any ``try`` in
it, and what it raised there would be lost. So the loop resumes a generator, which waits inside of a ``try``.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Generator
from weakref import WeakMethod

_Function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)


class Callback:
    """A method of an object for `symplex.fem.compiled.call.call_back`; it does not keep the object alive.

    Parameters
    ----------
    method : callable
        ``method(number) -> None``, of an integer.

    Attributes
    ----------
    address : int
    """

    def __init__(self, method: Callable[[int], None]):
        self._failures: list[BaseException] = []
        calls = _calls(WeakMethod(method), self._failures)
        next(calls)
        self._function = _Function(calls.send)
        self.address = ctypes.cast(self._function, ctypes.c_void_p).value or 0

    @property
    def failed(self) -> bool:
        """Whether the method has raised an exception, which is still to be raised."""
        return bool(self._failures)

    def raise_failure(self) -> None:
        """Raise what the method has raised since the last time, if anything."""
        if self._failures:
            raise self._failures.pop()


def _calls(method: WeakMethod[Callable[[int], None]], failures: list[BaseException]) -> Generator[int, int, None]:
    """Take the number of each call, and yield whether it has failed: 0 or 1."""
    failed = 0
    while True:
        try:
            while True:
                number, failed = (yield failed), 0
                call = method()
                assert call is not None, "the object that runs the loop is alive"
                call(number)
        except GeneratorExit:
            return
        except BaseException as error:  # Ctrl-C as well
            failures.append(error)
            failed = 1
