"""Kernels over ranges of blocks or nodes, shared by threads that stay awake between the parts of a step.

To wake a thread that sleeps takes some 50 µs, as long as the forces of 4 000 tetrahedra. So helpers look for the next
job for a while before they sleep, in compiled code, without Python's lock; a job is given to them from compiled code as
well, when the thread that leads has given up that lock, and each takes ranges until none is left. A job may have
phases: a phase begins when all ranges of the one before are done, which costs a fraction of a microsecond.

Whether threads pay is decided by the time that a job takes on one, the least that was seen of it: what an element costs
depends on its type and law. Where shared jobs take longer than that, because others use the processors, the next ones
are not shared, twice as many each time. Results don't depend on these decisions.
"""

from __future__ import annotations

import atexit
import ctypes
import threading
from collections.abc import Callable, Sequence
from itertools import pairwise
from math import inf
from time import perf_counter, sleep
from typing import Any, NamedTuple

import numpy as np
from numba import typeof, types  # pyright: ignore[reportPrivateImportUsage]
from numpy.typing import NDArray

from symplex.fem.assembly.calls import run, run_matrix
from symplex.fem.compiled import threads
from symplex.fem.compiled.atomics import add, exchange, give_way, load, pause, store
from symplex.fem.compiled.call import address_of, call_kernel
from symplex.fem.compiled.kernels import uncounted_formula, uncounted_kernel

# Seconds that a job has to save to be shared, some twice what is lost: to a helper that is awake, and to wake one.
AWAKE, ASLEEP = 15e-6, 75e-6
_SERIES = 50e-6  # s between two jobs that follow each other: a helper that has to be woken will be awake for the next
_LOOKS = 10_000  # of a helper for the next job before it sleeps, some 0.3 ms
# Jobs in a row that may be slower for being shared, and jobs that are not shared after that: others use the processors.
_TRIALS, _MOST_LEFT_OUT = 4, 512
_LOOKS_AT_ONCE = 200  # of a thread that waits for another one, before it lets others have its processor
_JOB, _NEXT, _DONE, _WORDS = 0, 16, 32, 48  # words that are far apart are on cache lines of their own
_SHIFT, _MASK = 32, 0xFFFFFFFF
_MOST_JOBS = 2**30  # then numbers begin again: no helper is as far behind


class _Task(NamedTuple):
    """What compiled loops take of a job: the kernel's address and its arguments before the ranges, and these."""

    address: int
    arguments: tuple[Any, ...]
    bounds: NDArray[np.int64]
    ends: NDArray[np.int64]
    results: NDArray[np.float64]


class Phases:
    """Ranges of blocks or nodes that kernels are run over, in phases.

    Parameters
    ----------
    *phases : sequence of (int, int)
        The first and the end of each range. Those of one phase may be worked on at the same time, and a phase begins
        when the one before has ended.
    """

    def __init__(self, *phases: Sequence[tuple[int, int]]):
        bounds = [bound for phase in phases for bound in phase]
        self._bounds = np.array(bounds, np.int64).reshape(-1, 2)
        self._ends = np.cumsum([len(phase) for phase in phases])
        self._ranges: list[tuple[int, int]] = [(int(first), int(last)) for first, last in bounds]
        self.widest = max((len(phase) for phase in phases), default=0)
        self._seconds: dict[Any, float] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what copies are made of: times are those of this process."""
        ends = [0, *self._ends.tolist()]
        return Phases, tuple(self._ranges[a:b] for a, b in pairwise(ends))

    @property
    def ranges(self) -> NDArray[np.uint64]:
        """All ranges, phase after phase, as a `symplex.fem.assembly.calls.Call` has them."""
        return self._bounds.view(np.uint64)

    def run(self, kernel: Callable[..., Any], *arguments: Any) -> list[float]:
        """Return ``[kernel(*arguments, first, last) for first, last in ranges]``, the ranges phase after phase.

        Parameters
        ----------
        kernel : callable
            A compiled kernel that returns a number, and raises nothing.
        *arguments
            What it takes before the range.
        """
        if not hasattr(kernel, "overloads"):
            return self._interpreted(kernel, arguments)

        def task() -> _Task:
            return self.task(_address(kernel, arguments), arguments)

        return self._shared(kernel, lambda: [kernel(*arguments, *ends) for ends in self._ranges], task)

    def add(self, row: NDArray[np.int64], nodal: tuple[Any, ...], out: Any, slots: Any = None) -> float:
        """Add what a call finds for nodal arrays, as `symplex.fem.assembly.calls.run` does.

        Parameters
        ----------
        row : int64 [1, 7]
            Of a call for these ranges.
        nodal : tuple of float64 [n, dim]
        out : float64
        slots : int32 [m, k, k], optional
            Of a matrix, the places that the row has.
        """
        add, to = (run, (out,)) if slots is None else (run_matrix, (slots, out))
        address, record = row[0, :2].tolist()
        results = self._shared(
            address, lambda: [add(row, out, *nodal)], lambda: self.task(address, (*nodal, record, *to))
        )
        return sum(results)

    def _shared(self, kernel: Any, alone: Callable[[], list[float]], task: Callable[[], _Task]) -> list[float]:
        """Return the results of a task, shared if that pays, or of this thread alone."""
        number = threads.most(self.widest)
        if number <= 1:
            return alone()
        if kernel not in self._seconds:
            self._seconds[kernel] = 0.0  # not known yet: the first call may compile it
            return alone()
        seconds, start, team = self._seconds[kernel], perf_counter(), _team(threads.count() - 1)
        results = team.run(task, number, start, seconds)
        if results is None:
            number, results = 1, alone()
        team.ended = perf_counter()
        self._seconds[kernel] = min(seconds or inf, number * (team.ended - start))
        return results

    def _interpreted(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> list[Any]:
        """Return what a function returns that is not compiled."""
        tasks, first, results = [(*arguments, *bounds) for bounds in self._ranges], 0, []
        for end in self._ends:
            results += threads.run(function, tasks[first:end], threads.most(self.widest))
            first = end
        return results

    def task(self, address: int, arguments: tuple[Any, ...]) -> _Task:
        """Return what compiled loops take."""
        return _Task(address, arguments, self._bounds, self._ends, np.empty(len(self._bounds)))


class _Helper:
    """A thread that waits for jobs: awake for a while, then asleep."""

    def __init__(self):
        self.asleep = False
        self.bell = threading.Lock()
        self.bell.acquire()


class _Team:
    """The thread that has a job, and its helpers, which take ranges of it from each other; one job at a time.

    Parameters
    ----------
    helpers : int

    Attributes
    ----------
    ended : float
        When the last job did, shared or not.
    """

    def __init__(self, helpers: int):
        self._words = np.zeros(_WORDS, np.int64)
        self._number = 0  # of the last job
        self._job: tuple[int, _Task, int] | None = None  # its number, and how many helpers it wants
        self.ended = 0.0
        self._looks = _LOOKS
        self._slow = 0  # shared jobs in a row that were slower than on one thread
        self._rounds = 0  # how often _TRIALS of them were
        self._left_out = 0  # jobs to come that are not shared for it
        self._busy = threading.Lock()
        self._helpers = [_Helper() for _ in range(helpers)]
        for k in range(helpers):
            threading.Thread(target=self._help, args=(k,), name=f"symplex_team_{k}", daemon=True).start()

    def run(self, make: Callable[[], _Task], number: int, start: float, seconds: float) -> list[float] | None:
        """Return the results of a job on a number of threads; None if that doesn't pay, or the team has another one.

        Parameters
        ----------
        make : callable
            Returns the task.
        number : int
        start : float
            The time.
        seconds : float
            What the job takes on one thread.
        """
        if not self._busy.acquire(blocking=False):
            return None
        try:
            sleepers = [helper for helper in self._helpers[: number - 1] if helper.asleep]
            awake = not sleepers or start - self.ended < _SERIES
            if not self._pays((1.0 - 1.0 / number) * seconds, awake):
                return None
            task = make()
            self._number = self._number % _MOST_JOBS + 1
            self._job = self._number, task, number - 1
            for helper in sleepers:
                helper.asleep = False
                helper.bell.release()
            _lead(self._words, self._number, *task, _GIVE_WAY)
            self._judge(perf_counter() - start > seconds)
            return task.results.tolist()
        finally:
            self._job = None  # with its arrays
            self._busy.release()

    def _pays(self, saved: float, awake: bool) -> bool:
        """Return whether to share a job that would take so many seconds less if sharing cost nothing."""
        if self._left_out:
            self._left_out -= 1
            return False
        return saved > (AWAKE if awake else ASLEEP)

    def _judge(self, slow: bool) -> None:
        """Leave the next jobs out if the last ones, in which helpers may have been woken, all were slow."""
        self._slow = self._slow + 1 if slow else 0
        if not slow:
            self._rounds = 0
        elif self._slow == _TRIALS:
            self._slow, self._left_out = 0, min(_TRIALS << self._rounds, _MOST_LEFT_OUT)
            self._rounds += 1

    def _help(self, index: int) -> None:
        helper, seen = self._helpers[index], 0
        while True:
            # Without Python's lock; what is found is a job that the leading thread has begun, and given up that lock.
            found = _look(self._words, seen, self._looks, _GIVE_WAY)
            if found == seen:
                if self._number == seen or not self._looks:
                    helper.asleep = True
                    helper.bell.acquire()
                continue
            seen, job = found, self._job
            if job is not None and index < job[2]:
                _work_on(self._words, job[0], *job[1], _GIVE_WAY)

    def rest(self) -> None:
        """Let helpers sleep, and wait until they do, a second at most: none may ask for Python's lock when it ends."""
        self._looks = 0
        self._words[_JOB] = -1  # no job has this number: who looks for one returns
        for _ in range(1000):
            if all(helper.asleep for helper in self._helpers):
                return
            sleep(1e-3)


_teams: dict[int, _Team] = {}  # by the number of helpers
_making = threading.Lock()


def _team(helpers: int) -> _Team:
    found = _teams.get(helpers)
    if found is None:
        with _making:
            found = _teams.get(helpers) or _teams.setdefault(helpers, _Team(helpers))
    return found


@atexit.register
def _rest() -> None:
    for team in _teams.values():
        team.rest()


threads.after_fork(_teams.clear)


def _kind(argument: Any) -> Any:
    """Return what distinguishes the types that a kernel is compiled for."""
    if isinstance(argument, np.ndarray):
        return argument.dtype, argument.ndim, argument.flags.num
    return tuple(map(_kind, argument)) if isinstance(argument, tuple) else type(argument)


_addresses: dict[tuple[Any, ...], int] = {}


def _address(kernel: Any, arguments: tuple[Any, ...]) -> int:
    """Return the address of a kernel for arguments, and a range, of the types that these have."""
    kinds = tuple(map(_kind, arguments))
    found = _addresses.get((kernel, kinds))
    if found is None:
        signature = *map(typeof, arguments), types.int64, types.int64
        found = address_of(kernel, *signature)
        assert kernel.overloads[signature].signature.return_type == types.float64, "it has to return a number"
        _addresses[kernel, kinds] = found
    return found


def _address_of_c(name: str) -> int:
    """Return the address of a function of the C library, 0 if it has none of that name."""
    try:
        return ctypes.cast(getattr(ctypes.CDLL(None), name), ctypes.c_void_p).value or 0
    except (OSError, TypeError, AttributeError):
        return 0


_GIVE_WAY = _address_of_c("sched_yield")


@uncounted_kernel
def _look(words, seen, looks, yielding):
    """Return the number of another job than the last one that was seen, or that one's after some looks."""
    for look in range(looks):
        found = load(words, _JOB)
        if found != seen:
            return found
        _pause(look, yielding)
    return seen


@uncounted_kernel
def _lead(words, job, address, arguments, bounds, ends, results, yielding):
    """Let helpers know of a job, and work on it until all of it is done."""
    store(words, _DONE, 0)
    store(words, _NEXT, job << _SHIFT)
    store(words, _JOB, job)
    _work(words, job, address, arguments, bounds, ends, results, yielding)
    _wait(words, job, len(bounds), yielding)


@uncounted_kernel
def _work_on(words, job, address, arguments, bounds, ends, results, yielding):
    """Work on a job until nothing is left to begin."""
    _work(words, job, address, arguments, bounds, ends, results, yielding)


@uncounted_formula
def _work(words, job, address, arguments, bounds, ends, results, yielding):
    """Take ranges of a job, as long as there are any."""
    phase = 0
    while True:
        ticket = load(words, _NEXT)  # the job and its next range
        at = ticket & _MASK
        if ticket >> _SHIFT != job or at >= len(bounds):
            return
        while at >= ends[phase]:
            phase += 1
        if phase > 0:
            _wait(words, job, ends[phase - 1], yielding)
        if exchange(words, _NEXT, ticket, ticket + 1):
            results[at] = call_kernel(address, (*arguments, bounds[at, 0], bounds[at, 1]))
            add(words, _DONE, 1)


@uncounted_formula
def _wait(words, job, number, yielding):
    """Wait until so many ranges of a job are done, or it has ended."""
    looks = 0
    while load(words, _DONE) < number and load(words, _NEXT) >> _SHIFT == job:
        looks += 1
        _pause(looks, yielding)


@uncounted_formula
def _pause(looks, yielding):
    """Wait for some nanoseconds; from time to time let others have the processor."""
    pause()
    if yielding != 0 and looks % _LOOKS_AT_ONCE == _LOOKS_AT_ONCE - 1:
        give_way(yielding)
