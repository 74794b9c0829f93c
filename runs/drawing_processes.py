"""Processes that draw the pictures of a run, on another core: they load what they draw with while the motion goes on.

Loading matplotlib and VTK takes longer than most pictures do. Two processes are begun with a run, one for plots and one
for what VTK renders. Whatever way the process ends that has begun them, they end with it: a pipe informs them.
Little is imported here, so that they can be begun before all else is loaded.
"""

from __future__ import annotations

import _thread
import atexit
import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, Queue
from time import sleep
from typing import TYPE_CHECKING, Any, BinaryIO, final

from symplex.base.pipes import closed_pipes_raise
from symplex.errors import RenderError
from symplex.meshes.pictures.packages import require_packages

if TYPE_CHECKING:
    from symplex.runs.drawing import Drawn, Look
    from symplex.runs.results import RunFolder

Show = Callable[[str, float], None]

_PLOTS, _FRAMES = "plots", "frames"  # what the processes draw
# -P: what lies in the working directory is no module of ours.
_PROGRAM = (
    "import sys; sys.path[:] = sys.argv[2:]; from symplex.runs.drawing_processes import serve; serve(sys.argv[1])"
)
_IDLE = 30.0  # s of wall time without anything to draw, after which a process ends; a longer run begins others
_PATIENCE = 2.0  # s of wall time in which a process may end by itself


# -- in the process that computes -------------------------------------------------------------------------------------


@final
class DrawingProcesses:
    """The processes that draw for one run.

    Attributes
    ----------
    owner : int
        The process that has begun them: after a fork there are two that hold the pipes.
    """

    def __init__(self):
        self.owner = os.getpid()
        self._frames, self._plots = _Process(_FRAMES), None

    def complete(self) -> None:
        """Begin what has not begun yet: plots need less, and there is much to load next to at first."""
        self._plots = self._plots or _Process(_PLOTS)

    @property
    def _begun(self) -> list[_Process]:
        return [self._frames] if self._plots is None else [self._plots, self._frames]

    def draw(self, folder: RunFolder, look: Look, film: str, seconds: float, title: str, show: Show) -> Drawn | None:
        """Draw all pictures of a run, and return what was left out; nothing if no process can be begun any more.

        What is shown has the same order as if it were drawn in one process; see `symplex.runs.pictures.draw_all`.
        """
        try:
            try:
                self.complete()
                assert self._plots is not None, "it has begun"
                self._plots.ask(folder, title)
                self._frames.ask(folder, look, film, seconds)
            except OSError:
                self.end()
                return None
            plotted, rendered = self._plots.outcome(show), self._frames.outcome(show)
        except BaseException:
            self.end()
            raise
        return plotted if plotted.skipped else rendered

    @property
    def is_at_rest(self) -> bool:
        """Whether they have nothing to do and are there still."""
        return all(process.is_at_rest for process in self._begun)

    def end(self) -> None:
        """End them; what they draw is left out, and nothing of it stays."""
        for process in self._begun:
            process.ask_to_end()
        for process in self._begun:
            process.end()


@final
class _Process:
    """A process that draws one kind of pictures, begun at once and, where it has ended by itself, once more."""

    def __init__(self, kind: str):
        self._kind = kind
        self._task: bytes | None = None  # while it is drawing
        self._begin()

    def _begin(self) -> None:
        # In a group of its own it is not asked to end by a Ctrl-C that the run is to heed.
        group: dict[str, Any] = (
            {"process_group": 0}
            if os.name == "posix"
            else {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
        )
        program = [sys.executable, "-P", "-c", _PROGRAM, self._kind, *map(os.path.abspath, sys.path)]
        self._process = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **group)

    @property
    def is_at_rest(self) -> bool:
        """Whether it has nothing to do and is there still."""
        return self._task is None and self._process.poll() is None

    def ask(self, *arguments: Any) -> None:
        """Let it draw."""
        self._task = pickle.dumps((str(Path.cwd()), arguments))
        try:
            self._send(self._task)
        except OSError:
            self._ask_another(self._task)

    def _ask_another(self, task: bytes) -> None:
        """Let another one draw: this one has waited long enough for something to do, and has ended."""
        self._reap()
        self._begin()
        self._send(task)

    def _send(self, task: bytes) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        with closed_pipes_raise():
            pipe.write(task)
            pipe.flush()

    def outcome(self, show: Show) -> Drawn:
        """Return what was left out of what it was asked for, once it is done."""
        from symplex.runs.drawing import Drawn

        assert self._task is not None, "it has been asked"
        once_more = True
        while True:
            assert self._process.stdout is not None
            try:
                kind, reported = pickle.load(self._process.stdout)
            except (EOFError, pickle.UnpicklingError):
                status = self._process.wait()
                if status == 0 and once_more:  # it ended just as it was asked
                    once_more = False
                    with suppress(OSError):
                        self._ask_another(self._task)
                        continue
                self._task = None
                ended = f"signal {-status}" if status < 0 else f"status {status}"
                return Drawn(f"the process that draws {self._kind} ended with {ended}")
            if kind == "shown":
                show(*reported)
                continue
            self._task = None
            if kind == "failed":
                raise reported
            return reported

    def ask_to_end(self) -> None:
        """Tell it that nothing is requested any more."""
        with suppress(OSError), closed_pipes_raise():
            assert self._process.stdin is not None
            self._process.stdin.close()

    def end(self) -> None:
        """See to it that it ends."""
        if self._task is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_PATIENCE)
        self._reap()

    def _reap(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError), closed_pipes_raise():
                assert pipe is not None
                pipe.close()


_resting: list[DrawingProcesses] = []  # that have been begun, and draw for no run


def begin() -> None:
    """Begin processes for the next run, if it is to have any."""
    _resting[:] = [processes for processes in _resting if processes.owner == os.getpid()]
    if not _resting and _are_useful():
        with suppress(OSError):  # as where no more processes may be begun
            _resting.append(DrawingProcesses())


@contextmanager
def taken(requested: bool) -> Iterator[DrawingProcesses | None]:
    """Take processes for one run, if pictures are requested and drawing them elsewhere is of use."""
    if not requested or not _are_useful():
        yield None
        return
    begin()
    found = _resting.pop() if _resting else None
    try:
        if found is not None:
            with suppress(OSError):  # it is tried once more when there is something to draw
                found.complete()
        yield found
    finally:
        if found is not None:
            if found.is_at_rest:
                _resting.append(found)  # the next run has them loaded
            else:
                found.end()


def _are_useful() -> bool:
    """Whether there is another core to draw on, and what is drawn with is not loaded here already."""
    if "pyvista" in sys.modules or os.environ.get("SYMPLEX_THREADS") == "1" or not sys.executable:
        return False
    if getattr(sys, "frozen", False):  # a program that holds its Python: it would be begun itself
        return False
    if "multiprocessing.process" in sys.modules:
        from multiprocessing import parent_process

        if parent_process() is not None:  # one of many, as those of a study
            return False
    try:
        require_packages()
    except RenderError:  # as who asks for pictures is informed
        return False
    return (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1) > 1


@atexit.register
def _end_all() -> None:
    while _resting:
        processes = _resting.pop()
        if processes.owner == os.getpid():
            processes.end()


# -- in the process that draws ----------------------------------------------------------------------------------------


def serve(kind: str) -> None:
    """Draw what the process that has begun this one asks for, until its end of the pipe is closed."""
    # It is interrupted once nobody waits for pictures, also where a script began the run with Ctrl-C ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # Copies of the pipes: whatever else is written by this process or read by others comes not between.
    asked, reported = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    tasks: Queue[tuple[Any, ...]] = Queue()
    is_drawing = threading.Event()
    try:
        threading.Thread(target=_listen, args=(asked, tasks, is_drawing), daemon=True).start()
        _serve(kind, tasks, is_drawing, reported)
    except (KeyboardInterrupt, OSError):  # nothing is requested any more
        os._exit(1)
    # No more: what other packages have begun need not end well.
    os._exit(0)


def _listen(asked: BinaryIO, tasks: Queue[tuple[Any, ...]], is_drawing: threading.Event) -> None:
    """Pass on what is asked for, and end the process once nobody can ask any more."""
    with suppress(Exception):  # the end of the pipe, or what nobody can read
        while True:
            tasks.put(pickle.load(asked))
    if is_drawing.is_set():
        _thread.interrupt_main()  # temporary files are removed on the way
        sleep(_PATIENCE)
    os._exit(0)


def _serve(kind: str, tasks: Queue[tuple[Any, ...]], is_drawing: threading.Event, reported: BinaryIO) -> None:
    gc.disable()  # for what is loaded, which leaves no garbage
    from symplex.runs.drawing import plot_run, prepare_plots, prepare_rendering, render_run

    def tell(*message: Any) -> None:
        pickle.dump(message, reported)
        reported.flush()

    draw, prepare = {_PLOTS: (plot_run, prepare_plots), _FRAMES: (render_run, prepare_rendering)}[kind]
    with suppress(Exception):  # who asks for pictures is informed why there are none
        prepare()
    gc.freeze()
    gc.enable()
    while True:
        try:
            folder, arguments = tasks.get(timeout=_IDLE)
        except Empty:
            return
        is_drawing.set()
        try:
            os.chdir(folder)  # it may be another one since
            left_out = draw(*arguments, lambda picture, part: tell("shown", (picture, part)))
        except Exception as error:
            tell("failed", error)
        else:
            tell("done", left_out)
        is_drawing.clear()
