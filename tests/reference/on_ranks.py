"""Scenarios for several ranks, and how tests start these; imported where mpi4py and its mpiexec are installed."""

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from contextlib import suppress
from pathlib import Path

import pytest

pytest.importorskip("mpi4py", reason="mpi4py is not installed: symplex[mpi]")
BESIDE = Path(sysconfig.get_path("scripts")) / "mpiexec"  # of a wheel
MPIEXEC = BESIDE if BESIDE.exists() else shutil.which("mpiexec")
if MPIEXEC is None:
    pytest.skip("there is no mpiexec beside this Python: symplex[mpi]", allow_module_level=True)

DROP = """
title = "A bar falls on a floor"
[[body]]
name = "bar"
mesh = { box = [1.0, 0.2, 0.2], cells = [8, 2, 2] }
material = { law = "neo-hookean", young = 1e7, poisson = 0.3, density = 1000.0 }
velocity = [0.0, 0.0, -3.0]
translate = [0.0, 0.0, 0.01]
[[support]]
body = "bar"
group = "x_min"
[gravity]
acceleration = [0.0, 0.0, -9.81]
[[obstacle]]
name = "floor"
kind = "half-space"
point = [0.0, 0.0, 0.0]
normal = [0.0, 0.0, 1.0]
stiffness = 1e5
[integrator]
kind = "newmark"
[run]
duration = 0.01
frames = 4
[output]
pictures = false
[[probe]]
name = "tip"
body = "bar"
points = [[1.0, 0.1, 0.1]]
"""
PUSHED = """
[[support]]
name = "grip"
body = "bar"
group = "x_max"
displacement = [0.0, 0.0, 0.002]
history = { kind = "sine", frequency = 100.0 }
[[load]]
name = "push"
kind = "traction"
body = "bar"
group = "z_max"
traction = [1e4, 0.0, -2e4]
history = { kind = "table", times = [0.0, 0.005, 0.02], factors = [0.0, 1.0, 0.0] }
[[load]]
name = "air"
kind = "pressure"
body = "bar"
group = "y_max"
pressure = 1e4
[[damping]]
alpha = 30.0
"""
# Its mpiexec refuses to start anything for root and more ranks than processors, and its ranks keep their processor from
# others while they wait; other libraries ignore these.
OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}


LONGEST = 200  # s that a command may take; a rank that waits for another one that does not come waits for ever


def run(ranks, folder, *words, python=("-m", "symplex", "run")):
    """Run a command on so many ranks, in a folder; if it does not end, raise with where each rank is."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONFAULTHANDLER": "1"} | OPEN_MPI
    command = [str(MPIEXEC), "-n", str(ranks), sys.executable, *python, *words]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=folder, env=environment, **pipes) as process:
        try:
            out, err = process.communicate(timeout=LONGEST)
        except subprocess.TimeoutExpired:
            started = descendants(process.pid)
            signal_all([one for one in started if is_python(one)], signal.SIGABRT)  # faulthandler writes the stacks
            time.sleep(3.0)
            signal_all([process.pid, *started], signal.SIGKILL)  # or the ranks would keep the pipes open
            out, err = process.communicate()
            raise AssertionError(f"{command} did not end in {LONGEST} s.\n{out}\n{err}") from None
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def descendants(ancestor):
    """Return the numbers of the processes that a process has started, and those that these have."""
    parents = {int(path.parent.name): int(path.read_text().rpartition(")")[2].split()[1]) for path in stats()}
    found = [ancestor]
    for number in found:  # which grows
        found += [child for child, parent in parents.items() if parent == number]
    return found[1:]


def stats():
    return [path for path in Path("/proc").glob("[0-9]*/stat") if path.exists()]


def is_python(number):
    return Path(f"/proc/{number}/cmdline").read_bytes().startswith(sys.executable.encode())


def signal_all(numbers, sent):
    for number in numbers:
        with suppress(ProcessLookupError):
            os.kill(number, sent)
