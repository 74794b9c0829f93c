"""Running compiled kernels, which release Python's lock, on several threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any


@cache
def count() -> int:
    """Return the number of threads: ``SYMPLEX_THREADS`` if that is set, else the processors open to this process."""
    wanted = os.environ.get("SYMPLEX_THREADS", "")
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run(kernel: Callable[..., Any], tasks: Sequence[tuple], threads: int) -> list[Any]:
    """Return ``[kernel(*task) for task in tasks]``, computed on the given number of threads.

    Each thread takes a run of consecutive tasks; the calling thread takes the last.
    """
    threads = min(threads, len(tasks))
    if threads <= 1:
        return [kernel(*task) for task in tasks]
    bounds = [len(tasks) * t // threads for t in range(threads + 1)]
    parts = [tasks[start:stop] for start, stop in pairwise(bounds)]
    others = [_pool(threads - 1).submit(_run_part, kernel, part) for part in parts[:-1]]
    last = _run_part(kernel, parts[-1])
    return [result for part in others for result in part.result()] + last


def _run_part(kernel: Callable[..., Any], tasks: Sequence[tuple]) -> list[Any]:
    return [kernel(*task) for task in tasks]


@cache
def _pool(workers: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(workers, thread_name_prefix="symplex")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads do not survive a fork
