"""Runs of a study in processes of their own, on this machine or on a Dask cluster."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import threading
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from itertools import islice
from multiprocessing.process import BaseProcess
from pathlib import Path
from time import perf_counter, sleep
from typing import TYPE_CHECKING, NamedTuple

from symplex.errors import OutputError, StepFailed, SymplexError
from symplex.scenario.quantities import shown

if TYPE_CHECKING:
    from symplex.runs.interrupts import Stop

FINISHED, FAILED, INTERRUPTED = "finished", "failed", "interrupted"
_THREADS = ("SYMPLEX_THREADS", "NUMBA_NUM_THREADS", *(f"{name}_NUM_THREADS" for name in ("OMP", "OPENBLAS", "MKL")))
_LOOK = 0.1  # s of wall time between two looks at whether the study is to end
_PATIENCE = 20.0  # s of wall time for which a folder may be held by a process that is about to end
_STOPPED = "stopped from outside"


class Task(NamedTuple):
    """A member that is to be run.

    Attributes
    ----------
    name : str
    text : str
        Of its scenario.
    path : str
        Of the file of the scenario, to whose folder the paths in it are relative.
    folder : str
        Its results folder.
    pictures : bool
    """

    name: str
    text: str
    path: str
    folder: str
    pictures: bool


class Outcome(NamedTuple):
    """What has become of a member: its status, and the reason if it is not finished."""

    name: str
    status: str
    reason: str = ""


def run_member(task: Task) -> Outcome:
    """Run a member, or go on with it, and tell how it ended."""
    from symplex.runs.results import Folder, FolderBusy
    from symplex.runs.run import simulate
    from symplex.scenario.scenario import Scenario

    _orphan.busy = True
    begun = perf_counter()
    try:
        scenario = Scenario.parse(task.text, Path(task.path))
        while True:
            there = Folder(task.folder).holds_run
            try:
                simulate(scenario, task.folder, resume=there, progress=False, pictures=task.pictures)
                return Outcome(task.name, FINISHED)
            except FolderBusy:
                if perf_counter() - begun > _PATIENCE:
                    raise
                sleep(_LOOK)
    except KeyboardInterrupt:
        return Outcome(task.name, INTERRUPTED, _STOPPED)
    except (StepFailed, SymplexError) as error:
        return Outcome(task.name, FAILED, str(error))
    except Exception as error:  # a member that fails in any way keeps no other from being run
        return Outcome(task.name, FAILED, f"{type(error).__name__}: {error}")
    finally:
        _orphan.busy = False
        if _orphan.left:
            os._exit(1)


class _Orphan:
    """Whether the process that a worker works for is gone; it would wait for ever for the next member."""

    def __init__(self):
        self.left = self.busy = False

    def watch(self) -> None:
        parent = multiprocessing.parent_process()
        if parent is None:
            return
        parent.join()
        self.left = True
        if not self.busy:
            os._exit(1)
        os.kill(os.getpid(), signal.SIGTERM)  # the run keeps a checkpoint, and ends


_orphan = _Orphan()


def prepare_worker() -> None:
    """Leave Ctrl-C, which a terminal sends to all processes, to the one that runs the study, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_orphan.watch, daemon=True).start()


def in_processes(tasks: Sequence[Task], workers: int, stop: Stop) -> Iterator[Outcome]:
    """Run members in processes with one thread each, and yield what becomes of them as it does.

    When a signal asks for the end, members that are on the way keep a checkpoint, and are told as interrupted; those
    that have not begun are not told. Where a process dies, as those do that take too much memory, the members that
    were on the way are run again, each alone, and the one that dies again has failed.

    Raises
    ------
    OutputError
        If no process lives long enough to run anything.
    """
    left = {task.name: task for task in tasks}
    suspects: list[str] = []
    done = 0
    while left and not stop.signal:
        alone = bool(suspects)
        batch = [left[suspects.pop(0)]] if alone else list(left.values())
        lost: list[str] = []
        for outcome in _in_pool(batch, workers, stop, lost):
            left.pop(outcome.name)
            done += 1
            yield outcome
        if stop.signal:
            yield from (Outcome(name, INTERRUPTED, _STOPPED) for name in lost)
        elif not alone:
            suspects = lost
        elif lost:
            if not done:
                raise OutputError(
                    "the processes of the study die as they begin; a script that begins a study needs the line "
                    "'if __name__ == \"__main__\":' before it, as each process reads the script."
                )
            left.pop(lost[0])
            yield Outcome(lost[0], FAILED, "its process died without a word, as when memory is short.")


def _in_pool(tasks: Sequence[Task], workers: int, stop: Stop, lost: list[str]) -> Iterator[Outcome]:
    """Run members in one pool of processes; add those to ``lost`` that were on the way when a process died."""
    before = set(multiprocessing.active_children())
    # Not forked: threads, such as those of kernels, do not survive it.
    context = multiprocessing.get_context("spawn")
    with _one_thread_each():
        pool = ProcessPoolExecutor(min(workers, len(tasks)), mp_context=context, initializer=prepare_worker)
        waiting: dict[Future[Outcome], str] = {}
        try:
            # No more than there are processes: what waits in a pool cannot be called off when one of them ends.
            rest = iter(tasks)
            waiting |= {pool.submit(run_member, task): task.name for task in islice(rest, workers)}
            asked = False
            while waiting:
                for future in wait(waiting, _LOOK, FIRST_COMPLETED).done:
                    name = waiting.pop(future)
                    try:
                        yield future.result()
                    except BrokenProcessPool:
                        lost.append(name)
                        rest = iter(())
                    if not stop.signal and (task := next(rest, None)) is not None:
                        try:
                            waiting[pool.submit(run_member, task)] = task.name
                        except BrokenProcessPool:
                            rest = iter(())
                if stop.signal and not asked:
                    asked = True
                    _end(before)
        finally:
            if waiting:  # something else went wrong
                _end(before)
            pool.shutdown()


def _end(before: Collection[BaseProcess]) -> None:
    """Ask the processes to end that are new; runs in them keep a checkpoint."""
    for process in set(multiprocessing.active_children()) - set(before):
        process.terminate()


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Let processes that are started inside compute on one thread each."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def on_dask(tasks: Sequence[Task], address: str, stop: Stop) -> Iterator[Outcome]:
    """Run members on a Dask cluster, as `in_processes` does; what has begun there goes on to its end.

    Raises
    ------
    OutputError
        If ``dask.distributed`` is not installed, or no scheduler answers at the address.
    """
    try:
        from distributed import Client, as_completed
    except ImportError:
        raise OutputError(
            "a Dask cluster needs dask.distributed, which is not installed; pip install 'symplex[dask]'."
        ) from None
    if not re.fullmatch(r"([a-z]+://)?[^/\s]+:\d+", address):  # of others Client fails in threads of its own
        raise OutputError(f"{shown(address)} is no address of a Dask scheduler; write one as tcp://host:8786.")
    try:
        client = Client(address, timeout="10s", set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise OutputError(f"no Dask scheduler answers at {address} ({type(error).__name__}: {error}).") from None
    with client:
        # Each is another one, even of the same values: results are files, not what the function returns.
        futures = {
            client.submit(run_member, task, key=f"{task.folder}-{id(client)}", pure=False): task for task in tasks
        }
        gathered = as_completed(futures, loop=client.loop)
        while gathered.count() and not stop.signal:
            for future in gathered.next_batch(block=False) or _paused():
                yield _of_dask(future, futures[future].name)
        for future in futures:
            if stop.signal and not future.done():
                with suppress(Exception):
                    future.cancel()


def _paused() -> tuple[()]:
    sleep(_LOOK)
    return ()


def _of_dask(future, name: str) -> Outcome:
    error = future.exception()
    if error is None:
        return future.result()
    return Outcome(name, FAILED, f"{type(error).__name__}: {error}")


def outcomes(tasks: Sequence[Task], workers: int, dask: str | None, stop: Stop) -> Iterator[Outcome]:
    """Run members, on a Dask cluster if there is the address of one, and yield what becomes of them."""
    if dask is not None:
        return on_dask(tasks, dask, stop)
    return in_processes(tasks, workers, stop) if workers else here(tasks, stop)


def here(tasks: Sequence[Task], stop: Stop) -> Iterator[Outcome]:
    """Run members in this process, one after the other, as `in_processes` does."""
    for task in tasks:
        if stop.signal:
            return
        outcome = run_member(task)
        if outcome.status == INTERRUPTED:  # it has taken the signal
            stop.signal = stop.signal or signal.SIGINT
        yield outcome
