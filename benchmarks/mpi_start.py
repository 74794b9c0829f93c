"""From the file of a mesh to the first steps on several ranks: processor time and memory of each of them.

    mpiexec -n 2 python benchmarks/mpi_start.py [--tetrahedra 2000000] [--folder FOLDER]
    python benchmarks/mpi_start.py               the same in one process

The cube of ``large_mesh.py``, in Gmsh's format, falls on a half-space, as ``symplex run`` has it, with ``dt = "auto"``
and, on ranks, frames in pieces. Reported are of each rank the most memory that it has had before there is a mesh, with
what is compiled for such a run, and when ten samples have been taken, the processor time between without that of steps,
and, on ranks, that of a step.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

os.environ.setdefault("SYMPLEX_THREADS", "1")

import numpy as np

import symplex as sx
from symplex.fem.assembly.pattern import Array
from symplex.parallel.member import Counts, Failure, Member

SCENARIO = """
[[body]]
name = "cube"
mesh.file = "FILE"
material = { law = "neo-hookean", lambda = 60.5e9, mu = 26e9, density = 2700.0 }
velocity = [0.0, 0.0, -100.0]
[[obstacle]]
name = "floor"
kind = "half-space"
point = [0.0, 0.0, -1e-3]
normal = [0.0, 0.0, 1.0]
stiffness = 1e8
[integrator]
kind = "newmark"
[run]
duration = 2e-7
frames = 1
[output]
pictures = false
PARTITIONED
"""
LARGE_MESH = Path(__file__).with_name("large_mesh.py")


@dataclass
class Spent:
    """Return what a rank has spent so far."""

    def __call__(self, member: Member) -> Array:
        """Do it on one rank."""
        return spent()


class Steps:
    """The steps of this rank so far, and their processor time in s."""

    number, seconds = 0, 0.0
    take = Member.steps


def steps(self: Member, number: int, parts: int = 1) -> Failure | Counts:
    """Take steps on one rank, and count them with their time."""
    start = process_time()
    found = Steps.take(self, number, parts)
    Steps.number, Steps.seconds = Steps.number + number * parts, Steps.seconds + process_time() - start
    return found


def spent() -> Array:
    """Return processor time in s, most memory in MiB, steps, and their processor time in s, of this process so far."""
    words = Path("/proc/self/status").read_text().split()
    return np.array([process_time(), int(words[words.index("VmHWM:") + 1]) / 1024, Steps.number, Steps.seconds])


def run(path: Path, ranks: Any) -> None:
    """Run the scenario of a mesh, next to that."""
    partitioned = "partitioned = true" if ranks is not None else ""
    text = SCENARIO.replace("FILE", path.name).replace("PARTITIONED", partitioned)
    scenario = sx.Scenario.parse(text, path.with_suffix(".toml"))
    folder = path.with_suffix(".results")
    sx.simulate(scenario, folder, overwrite=True, progress=False, pictures=False, ranks=ranks)


def main() -> None:
    """Measure, and print a row of Markdown for each rank."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tetrahedra", type=int, default=2_000_000)
    parser.add_argument("--folder", type=Path, help="for the files; default: a temporary one")
    arguments = parser.parse_args()
    Member.steps = steps
    several = any(name in os.environ for name in ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE"))
    with sx.parallel.Ranks() if several else nullcontext() as ranks, tempfile.TemporaryDirectory() as scratch:
        if ranks is not None and not ranks.leads:
            ranks.serve()
            return
        folder = arguments.folder or Path(scratch)

        def reported() -> list[Array]:
            return [spent()] if ranks is None else ranks.call(lambda rank: Spent())

        def made(number: int) -> Path:
            path = folder / f"cube{number}.msh"
            command = [sys.executable, str(LARGE_MESH), "--tetrahedra", str(number), "--make", str(path)]
            subprocess.run(command, check=True)
            return path

        run(made(5000), ranks)  # compiled, or loaded
        before = reported()
        run(made(arguments.tetrahedra), ranks)
        after = reported()
        print(f"load {os.getloadavg()[0]:.1f}\n")
        print("| rank | MiB before | MiB | processor s but for steps | steps | processor s of a step |")
        print("| --- | --- | --- | --- | --- | --- |")
        for rank, (one, two) in enumerate(zip(before, after, strict=True)):
            seconds, _, number, of_steps = two - one
            per_step = f"{of_steps / number:.4f}" if number else ""
            print(f"| {rank} | {one[1]:.0f} | {two[1]:.0f} | {seconds - of_steps:.1f} | {number:.0f} | {per_step} |")


if __name__ == "__main__":
    main()
