"""Signals that come while kernels are called: what their handlers raise, as Ctrl-C does, is raised by the call.

numba makes each array that a kernel returns with its dtype, for which it asks a function written in Python. There
Python runs the handlers of signals; what one raises is lost on numba where the array belongs to a tuple, and the call
ends in "SystemError: … returned a result with an exception set". Here that function is kept behind a cache written in
C, in which Python runs no handlers: they run after the kernel has returned.

It is private to numba. Were it gone, calls would be as they are without this; so they are for kernels of other packages
that have returned an array before this module is imported.
"""

from __future__ import annotations

from functools import lru_cache

from numba.core import serialize


def defer_handlers() -> None:
    """Let no handler of a signal run where the results of kernels are made."""
    unpickle = getattr(serialize, "_numba_unpickle", None)
    if unpickle is not None and not hasattr(unpickle, "cache_info"):
        serialize._numba_unpickle = lru_cache(maxsize=None)(unpickle)  # pyright: ignore[reportAttributeAccessIssue]
