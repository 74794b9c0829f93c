"""Scenarios for several ranks, and how tests start these; imported where mpi4py and its mpiexec are installed."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

pytest.importorskip("mpi4py", reason="mpi4py is not installed: symplex[mpi]")
BESIDE = Path(sysconfig.get_path("scripts")) / "mpiexec"  # of a wheel
MPIEXEC = BESIDE if BESIDE.exists() else shutil.which("mpiexec")
if MPIEXEC is None:
    pytest.skip("there is no mpiexec next to this Python: symplex[mpi]", allow_module_level=True)

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
# Its mpiexec refuses to start anything for root, and more ranks than processors; other libraries ignore these.
OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}


def run(ranks, folder, *words, python=("-m", "symplex", "run")):
    """Run a command on so many ranks, in a folder."""
    environment = os.environ | {"OMP_NUM_THREADS": "1"} | OPEN_MPI
    return subprocess.run(
        [str(MPIEXEC), "-n", str(ranks), sys.executable, *python, *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
