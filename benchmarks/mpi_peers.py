"""Explicit steps on one and two ranks: symplex and DOLFINx, on the same mesh, with the same law and as many steps.

    python benchmarks/mpi_peers.py --mpiexec .venv/bin/mpiexec dolfinx=/usr/bin/python3:/usr/bin/mpiexec --write

Each package is named with a Python that it is installed for (Debian's ``python3-dolfinx``) and the mpiexec of its MPI
library. All programs (``benchmarks/peer_packages/ranks_of_*.py``) run at the same time, take steps in turns, and the
least wall time of several trials counts; those that wait sleep. In the end all must have come to the same positions.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from peers import PACKAGES, PROGRAMS, problem_of

STEPS = 20
PAGE = Path(__file__).parent.parent / "docs" / "benchmarks" / "mpi.md"
BEGIN, END = "<!-- compared: python benchmarks/mpi_peers.py -->", "<!-- end of compared -->"


class Program:
    """A package on so many ranks.

    Attributes
    ----------
    version : str
    least : float
        The least time of a step in s so far.
    positions : float64 [n, 3]
        Where it came to, once it has ended.
    """

    def __init__(self, name: str, python: str, mpiexec: str, ranks: int, problem: Path, prefix: list[str]):
        program, self._folder = PROGRAMS / f"ranks_of_{name}.py", problem.parent
        one = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "SYMPLEX_THREADS")}
        root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}  # of Open MPI
        unbound = {"OMPI_MCA_hwloc_base_binding_policy": "none"}  # else ranks of all programs share one processor
        self.name, self.ranks, self.least = name, ranks, np.inf
        self._process = subprocess.Popen(
            [mpiexec, "-n", str(ranks), *prefix, python, str(program), str(problem), str(problem.parent)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **one, **root, **unbound},
        )  # fmt: skip
        self.version = json.loads(self._answer("ready"))["version"]

    def _answer(self, word: str) -> str:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(word):
                return line[len(word) :]
        raise SystemExit(f"{PACKAGES[self.name].title} on {self.ranks} ranks ended")

    def take_steps(self) -> None:
        """Take steps, and their time."""
        assert self._process.stdin is not None
        print(STEPS, file=self._process.stdin, flush=True)
        self.least = min(self.least, float(self._answer("time")) / STEPS)

    def end(self) -> None:
        """Let it end, and read where it came to."""
        self._process.communicate()
        self.positions = np.load(self._folder / f"ranks_of_{self.name}_{self.ranks}.npy")


def measure(tetrahedra: int, packages: dict[str, list[str]], trials: int, prefix: list[str]) -> str:
    """Return rows of a table: times of a step and efficiencies."""
    problem = problem_of(tetrahedra)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "problem.npz"
        problem.save(path)
        programs = [Program(name, *paths, ranks, path, prefix) for name, paths in packages.items() for ranks in (1, 2)]
        for _ in range(trials):
            for program in programs:
                program.take_steps()
        for program in programs:
            program.end()
    moved = np.abs(programs[0].positions - problem.q).max()
    lines = []
    for one, two in zip(programs[::2], programs[1::2], strict=True):
        differs = max(np.abs(each.positions - programs[0].positions).max() for each in (one, two)) / moved
        if not differs < 1e-9:
            raise SystemExit(f"{PACKAGES[one.name].title} comes to other positions: they differ by {differs:.1e}")
        ours, ours_two = programs[0].least, programs[1].least
        lines.append(
            f"| {len(problem.cells)} | {PACKAGES[one.name].title} {one.version} "
            f"| {1e3 * one.least:.3g} ms ({one.least / ours:.2g}) "
            f"| {1e3 * two.least:.3g} ms ({two.least / ours_two:.2g}) | {one.least / two.least / 2:.2f} "
            f"| {'–' if one is programs[0] else f'{differs:.0e}'} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Measure, print the table, and write it into the page if requested."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("packages", nargs="*", metavar="NAME=PYTHON:MPIEXEC")
    parser.add_argument("--mpiexec", default="mpiexec", help="that of symplex")
    parser.add_argument("--tetrahedra", type=int, nargs="+", default=[50_000, 200_000])
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--prefix", default="", help="a command that runs Python on each rank, as 'chrt -r 1'")
    parser.add_argument("--write", action="store_true", help=f"write the table into {PAGE.name}")
    arguments = parser.parse_args()
    packages = {"symplex": [sys.executable, arguments.mpiexec]}
    packages |= {name: paths.split(":") for name, paths in (each.split("=", 1) for each in arguments.packages)}
    heads = "| tetrahedra | package | a step on 1 rank | on 2 ranks | efficiency | positions differ by |"
    prefix = shlex.split(arguments.prefix)
    rows = [measure(n, packages, arguments.trials, prefix) for n in arguments.tetrahedra]
    text = "\n".join([heads, "| --- " * 6 + "|", *rows])
    print(text)
    if arguments.write:
        page = PAGE.read_text(encoding="utf-8")
        head, tail = page.split(BEGIN)[0], page.split(END)[1]
        PAGE.write_text(f"{head}{BEGIN}\n{text}\n{END}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
