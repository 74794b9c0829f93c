"""Trials in their own process, which is replaced when it hangs or dies: the program behind the fuzzers."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from symplex.errors import SymplexError

RAN, REFUSED = "ran", "refused in one sentence"
_LONGEST = 700  # letters of a line of a message
_MEMORY = 8 << 30  # bytes of addresses
_PATIENCE = 600.0  # s after which a process that does not answer hangs; trials have bounds of their own


class Isolated:
    """A process that makes trials: a script that calls `serve`.

    Parameters
    ----------
    script : Path
    """

    def __init__(self, script: Path):
        self._script = script
        self._process: subprocess.Popen[str] | None = None

    def __call__(self, task: Any) -> str:
        """Return the outcome of a trial, ``hang`` or ``crash`` included."""
        process = self._process or self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(task) + "\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], _PATIENCE)
        line = process.stdout.readline() if ready else ""
        if line:
            return json.loads(line)
        self.close()
        return "hang" if not ready else f"crash: exit status {process.returncode}"

    def _started(self) -> subprocess.Popen[str]:
        command = [sys.executable, str(self._script), "--serve"]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
        return self._process

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def __enter__(self) -> Isolated:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class TimeIsUp(BaseException):
    """A trial has gone on for as long as it may; no handler of errors catches it."""


def serve(trial: Callable[[Any], str], seconds: float) -> None:
    """Make the trials that are asked for on standard input, with bounds on memory and on the time of each.

    The time is that of processors, so that the load of a machine decides nothing.
    """
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    warnings.simplefilter("error")
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what trials print

    def time_is_up(number: int, frame: object) -> None:
        raise TimeIsUp

    signal.signal(signal.SIGPROF, time_is_up)
    for line in sys.stdin:
        bound(seconds)
        try:
            outcome = trial(json.loads(line))
        except BaseException as error:
            outcome = judged(error)
        finally:
            bound(0.0)
        answers.write(json.dumps(outcome) + "\n")
        answers.flush()


def bound(seconds: float) -> None:
    """Let `TimeIsUp` be raised in so many seconds of processor time; never, with zero."""
    signal.setitimer(signal.ITIMER_PROF, seconds)


def judged(error: BaseException, begins: str = "") -> str:
    """Return the outcome that an error is; each line of a message must begin in a given way."""
    if isinstance(error, TimeIsUp):
        return "hang"
    if isinstance(error, MemoryError):  # which the command line shows in a sentence
        return REFUSED
    if not isinstance(error, SymplexError):
        return f"traceback: {''.join(traceback.format_exception(error)[-4:])}"
    return judged_message(str(error), begins)


def judged_message(message: str, begins: str = "") -> str:
    """Return the outcome that the message of an error is."""
    for line in message.split("\n"):
        odd = next((what for what in ("Traceback", "Input should", "object at 0x", " is nan at t") if what in line), "")
        if odd or not line.isprintable() or len(line) > _LONGEST or not line.startswith(begins) or len(line) < 10:
            return f"bad message: {line[:1000]}"
    return REFUSED
