"""Runs of a study in their own processes, on this machine or on a Dask cluster."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import connection, resource_tracker
from pathlib import Path
from time import perf_counter, sleep
from typing import TYPE_CHECKING, NamedTuple

from symplex.base.pipes import closed_pipes_raise
from symplex.base.quantities import shown
from symplex.errors import OutputError, StepFailed, SymplexError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

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
    from symplex.runs.folders import FolderBusy
    from symplex.runs.results import RunFolder
    from symplex.runs.run import simulate
    from symplex.scenario.scenario import Scenario

    begun = perf_counter()
    try:
        scenario = Scenario.parse(task.text, Path(task.path))
        while True:
            there = RunFolder(task.folder).holds_run
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


def _serve(pipe: Connection) -> None:
    """Run the members that come through a pipe until it is closed, as it is when the study's process ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the study's process heeds it
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):
        while True:
            pipe.send(run_member(pipe.recv()))


def _end_with_parent() -> None:
    """End this process once the one that began it is gone; a run that is on the way keeps a checkpoint."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


class _Worker:
    """A process that runs one member after the other, with its own pipe.

    Processes that share a queue may die with its lock in their hands, and then leave the others waiting for ever.

    Attributes
    ----------
    pipe : Connection
        Where an `Outcome` comes from, or the end of the file if the process has died.
    task : Task or None
        What it is running.
    """

    def __init__(self):
        # Not forked: threads, such as those of kernels, do not survive it.
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.task: Task | None = None
        self._process = context.Process(target=_serve, args=(other,))
        with _environment_of_workers(), _without_interrupts():
            self._process.start()
        other.close()

    def begin(self, task: Task) -> None:
        """Give it a member to run."""
        self.task = task
        with suppress(OSError), closed_pipes_raise():  # it has died, as whoever looks into the pipe will see
            self.pipe.send(task)

    def finished(self) -> tuple[Task, Outcome | None]:
        """Return the member that it ran and what became of that, or None if the process has died.

        To be called once there is something in the pipe.
        """
        task, self.task = self.task, None
        assert task is not None
        try:
            return task, self.pipe.recv()
        except (EOFError, OSError):
            return task, None

    def ask_to_end(self) -> None:
        """Ask it to end; a run keeps a checkpoint."""
        self._process.terminate()

    def end(self) -> None:
        """End it, as it does by itself where it runs nothing."""
        self.pipe.close()
        if self.task is not None:
            self.ask_to_end()
        self._process.join(_PATIENCE)
        self._process.kill()
        self._process.join()


def in_processes(tasks: Sequence[Task], workers: int, stop: Stop) -> Iterator[Outcome]:
    """Run members in processes with one thread each, and yield what becomes of them as it does.

    When a signal asks for the end, members that are on the way keep a checkpoint, reported as interrupted; those that
    have not begun are not reported. Where a process dies, as those do that take too much memory, its member is run
    again, alone, and has failed if it dies again.
    """
    left = deque(tasks)
    done = False
    while left and not stop.signal:
        lost: list[Task] = []
        for outcome in _together(left, workers, stop, lost):
            done = True
            yield outcome
        for task in lost:
            if stop.signal:
                yield Outcome(task.name, INTERRUPTED, _STOPPED)
                continue
            again: list[Task] = []
            yield from _together(deque([task]), 1, stop, again)
            if again and not done:
                raise OutputError(
                    "the processes of the study die as they begin; a script that begins a study needs the line "
                    "'if __name__ == \"__main__\":' before it, as each process reads the script."
                )
            if again:
                yield Outcome(task.name, FAILED, "its process died without a word, as when memory is short.")
            done = True


def _together(left: deque[Task], workers: int, stop: Stop, lost: list[Task]) -> Iterator[Outcome]:
    """Run members at the same time, until none is left, or one is added to ``lost`` as its process has died."""
    team: list[_Worker] = []
    asked = False
    try:
        while left and len(team) < workers:
            team.append(_Worker())
            team[-1].begin(left.popleft())
        while busy := [worker for worker in team if worker.task is not None]:
            ready = connection.wait([worker.pipe for worker in busy], _LOOK)
            for worker in (worker for worker in busy if worker.pipe in ready):
                task, outcome = worker.finished()
                if outcome is not None:
                    if left and not lost and not stop.signal:
                        worker.begin(left.popleft())
                    yield outcome
                elif stop.signal:
                    yield Outcome(task.name, INTERRUPTED, _STOPPED)
                else:
                    lost.append(task)
            if stop.signal and not asked:
                asked = True
                for worker in team:
                    worker.ask_to_end()
    finally:
        for worker in team:
            worker.end()


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Keep Ctrl-C, which a terminal sends to all processes, from those that are started inside, from the first."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # as it begins it lets signals through
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _environment_of_workers() -> Iterator[None]:
    """Let processes that are started inside compute on one thread each, and import nothing from where they start.

    multiprocessing starts them, and the tracker of its resources, by ``python -c``, which looks for modules in the
    working directory first, where only data are.
    """
    changes = dict.fromkeys(_THREADS, "1") | {"PYTHONSAFEPATH": "1"}
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def on_dask(tasks: Sequence[Task], address: str, stop: Stop) -> Iterator[Outcome]:
    """Run members on a Dask cluster, as `in_processes` does; what has begun there goes on to its end."""
    try:
        from distributed import Client, as_completed
    except ImportError:
        raise OutputError(
            "a Dask cluster needs dask.distributed, which is not installed; pip install 'symplex[dask]'."
        ) from None
    if not re.fullmatch(r"([a-z]+://)?[^/\s]+:\d+", address):  # of others Client fails in its own threads
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
