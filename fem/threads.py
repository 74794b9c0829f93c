"""Running compiled kernels, which release Python's lock, on several threads."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class OfThread(threading.local, Generic[T]):
    """A value that each thread has of its own, made when it first asks: kernels run without a lock.

    Parameters
    ----------
    make : callable
        Makes the value.
    """

    def __init__(self, make: Callable[[], T]):
        self.value = make()


_most: list[int] = []  # set by `limited`, the innermost last


@contextmanager
def limited(most: int) -> Iterator[None]:
    """Let kernels run on so many threads at most inside: the other processors are for other processes."""
    _most.append(most)
    try:
        yield
    finally:
        _most.pop()


@cache
def count() -> int:
    """Return the number of threads: ``SYMPLEX_THREADS`` if that is set, else the processors open to this process."""
    wanted = os.environ.get("SYMPLEX_THREADS", "")
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run(kernel: Callable[..., Any], tasks: Sequence[tuple], threads: int) -> list[Any]:
    """Return ``[kernel(*task) for task in tasks]``, computed on the given number of threads.

    The calling thread is one of them. Each takes the next task as soon as it is free, and those that have not begun
    when none is left are called off, so that a busy machine costs little.
    """
    threads = min(threads, len(tasks), *_most[-1:])
    if threads <= 1:
        return [kernel(*task) for task in tasks]
    results: list[Any] = [None] * len(tasks)
    waiting = deque(enumerate(tasks))
    helpers = [_pool(threads - 1).submit(_work, kernel, waiting, results) for _ in range(threads - 1)]
    try:
        _work(kernel, waiting, results)
    finally:
        waiting.clear()
        begun = [helper for helper in helpers if not helper.cancel()]
        wait(begun)  # all of them, whatever fails: nothing may go on writing after the return
    for helper in begun:
        helper.result()
    return results


def _work(kernel: Callable[..., Any], waiting: deque[tuple[int, tuple]], results: list[Any]) -> None:
    while True:
        try:
            index, task = waiting.popleft()
        except IndexError:
            return
        results[index] = kernel(*task)


@cache
def _pool(workers: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(workers, thread_name_prefix="symplex")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads do not survive a fork
