"""Whether HDF5's library can read a file: on some damaged ones it crashes, or goes on without end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from math import ceil
from pathlib import Path

from symplex.errors import MeshError

_SECONDS = 10.0
_BYTES_PER_SECOND = 2e6
# Seconds are those of the processor, so that a busy machine damages no file; elsewhere there is the clock only.
_IS_POSIX = os.name == "posix"
_LIMIT = "import resource; resource.setrlimit(resource.RLIMIT_CPU, ({}, {}))\n"
_PATIENCE = 60  # by which a clock may show more
# In its own process, which knows nothing of the folder it is in: all attributes, and all data.
_PROGRAM = """
import sys
import h5py

def look(name, item):
    for key in item.attrs:
        item.attrs[key]
    if isinstance(item, h5py.Dataset):
        item[()]

with h5py.File(sys.argv[1], "r") as file:
    look("", file)
    file.visititems(look)
"""


def require_readable(path: Path) -> None:
    """Refuse an HDF5 file on which the library crashes or does not end; others are as they are."""
    with path.open("rb") as file:
        if file.read(4) != b"\x89HDF" or not sys.executable:
            return
    requested = seconds = ceil(_SECONDS + path.stat().st_size / _BYTES_PER_SECOND)
    program = _PROGRAM
    if _IS_POSIX:
        seconds, last = _limits(requested)
        program = _LIMIT.format(seconds, last) + program
    try:
        status = subprocess.run(
            [sys.executable, "-I", "-c", program, str(path.resolve())],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds * (_PATIENCE if _IS_POSIX else 1),
            check=False,
        ).returncode
    except subprocess.TimeoutExpired:
        status = None
    except OSError:  # no other process can be started here
        return
    if status is None or (_IS_POSIX and status == -signal.SIGXCPU):
        if seconds < requested:
            raise MeshError(
                f"HDF5's library reads it for more than {seconds} s, and processes may not take longer here; "
                "allow more (ulimit -t), or write it again if it is damaged."
            )
        raise MeshError(f"it is damaged: HDF5's library reads it for more than {seconds} s; write it again.")
    if status < 0:
        raise MeshError("it is damaged: HDF5's library crashes on it; write it again.")


def _limits(seconds: int) -> tuple[int, int]:
    """Return the seconds after which a process is asked to end, and is ended: fewer where fewer are allowed."""
    import resource

    allowed = resource.getrlimit(resource.RLIMIT_CPU)[1]
    if allowed == resource.RLIM_INFINITY or allowed > seconds:
        return seconds, seconds + 1
    return max(allowed - 1, 1), allowed
