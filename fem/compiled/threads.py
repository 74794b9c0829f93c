"""Running compiled kernels, which release Python's lock, on several threads."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

T = TypeVar("T")

_NODES_OF_A_TASK = 4096  # at least: some 10 µs, about what a task of a thread costs
_MOST_TASKS = 16


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
    requested = os.environ.get("SYMPLEX_THREADS", "")
    if requested.isdigit() and int(requested) > 0:
        return int(requested)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def most(tasks: int) -> int:
    """Return the number of threads for so many tasks."""
    return min(count(), tasks, *_most[-1:])


def parts(n: int) -> list[tuple[int, int]]:
    """Return the first and the end of each part of n nodes that a kernel should pass over by itself.

    They don't depend on the number of threads, so sums over parts don't either.
    """
    number = max(min(n // _NODES_OF_A_TASK, _MOST_TASKS), 1)
    return [(n * k // number, n * (k + 1) // number) for k in range(number)]


def run(kernel: Callable[..., Any], tasks: Sequence[tuple], threads: int) -> list[Any]:
    """Return ``[kernel(*task) for task in tasks]``, computed on the given number of threads.

    The calling thread is one of them. Each takes the next task as soon as it is free, and threads that have not begun
    when none is left are not waited for, so that a busy machine costs little.
    """
    threads = min(threads, len(tasks), *_most[-1:])
    if threads <= 1:
        return [kernel(*task) for task in tasks]
    job, helpers = _Job(kernel, tasks), _helpers(threads - 1)
    for _ in range(threads - 1):
        helpers.put(job)
    try:
        job.work()
    finally:
        job.close()  # nothing may go on writing after the return, whatever fails
    if job.error is not None:
        raise job.error
    return job.results


class _Job:
    """Tasks of one kernel, which the thread that asks for them and its helpers take from each other.

    The parts of a step take a few hundred microseconds, so a job does with one lock: a future of `concurrent.futures`
    with its condition takes some 30 µs.
    """

    def __init__(self, kernel: Callable[..., Any], tasks: Sequence[tuple]):
        self.results: list[Any] = [None] * len(tasks)
        self.error: BaseException | None = None
        self._kernel = kernel
        self._waiting = deque(enumerate(tasks))
        self._lock = threading.Lock()
        self._helping = 0
        self._closed = False
        self._last = threading.Lock()  # held until the last helper has ended
        self._last.acquire()

    def work(self) -> None:
        """Take tasks until none is left."""
        waiting, results, kernel = self._waiting, self.results, self._kernel
        while True:
            try:
                index, task = waiting.popleft()
            except IndexError:
                return
            results[index] = kernel(*task)

    def help(self) -> None:
        """Take tasks, unless the job is closed; keep what fails."""
        with self._lock:
            if self._closed:
                return
            self._helping += 1
        try:
            self.work()
        except BaseException as error:  # raised where the job was given
            self.error = error
            self._waiting.clear()
        with self._lock:
            self._helping -= 1
            if self._closed and not self._helping:
                self._last.release()

    def close(self) -> None:
        """Call off what has not begun, and wait for the helpers that have."""
        self._waiting.clear()
        with self._lock:
            self._closed = True
            helping = self._helping
        if helping:
            self._last.acquire()


def _help(jobs: SimpleQueue[_Job]) -> None:
    while True:
        jobs.get().help()


@cache
def _helpers(number: int) -> SimpleQueue[_Job]:
    """Return the queue that a number of threads take jobs from, which they do as long as the process lives."""
    jobs: SimpleQueue[_Job] = SimpleQueue()
    for k in range(number):
        threading.Thread(target=_help, args=(jobs,), name=f"symplex_{k}", daemon=True).start()
    return jobs


def after_fork(forget: Callable[[], None]) -> None:
    """Let something be forgotten in forked processes, which threads do not survive."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=forget)


after_fork(_helpers.cache_clear)
