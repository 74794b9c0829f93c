"""Waiting for messages without taking a processor from those that have work, where there are fewer than ranks."""

from __future__ import annotations

import os
from collections.abc import Callable
from time import perf_counter, sleep

_SOON = 2e-4  # s: what comes so soon is met at once
_NAP, _LONGEST_NAP = 2e-5, 2e-3  # s

_yield = getattr(os, "sched_yield", lambda: None)


def wait_until(is_there: Callable[[], bool], longest_nap: float = _LONGEST_NAP) -> None:
    """Return when something is there: ask all the time for a moment, then ever less often, with naps between in s."""
    if is_there():
        return
    began, nap = perf_counter(), _NAP
    while not is_there():
        if perf_counter() - began < _SOON:
            _yield()
        else:
            sleep(nap)
            nap = min(2.0 * nap, longest_nap)
