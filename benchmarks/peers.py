"""Forces, tangent, an implicit correction and explicit steps of neo-Hookean tetrahedra: symplex and other packages.

Example: ``python benchmarks/peers.py felupe=python dolfinx=/usr/bin/python3 --tetrahedra 5000 50000 --write``. Each
package is named with a Python that it is installed for, and is run by that, in its own process
(``benchmarks/peer_packages``), on one thread. ``pip install felupe scikit-fem ngsolve akantu meshio
KratosMultiphysics KratosStructuralMechanicsApplication KratosConstitutiveLawsApplication``, and Debian's
``python3-dolfinx``, install them. All take the same mesh and positions, the law

    W = λ/2 (ln J)² − μ ln J + μ/2 (tr C − 3)

and one point of quadrature, and their forces, the product of their tangent with a vector, and solutions are compared
before anything is timed; Akantu has no such law in space and takes that of Saint Venant and Kirchhoff, for which its
forces are compared with ours. The processes are asked in turn and several times over, one at a time, and the shortest
processor time counts, so that a busy machine changes ratios little. The bandwidth of memory, by a triad of arrays of
400 MB, is measured in the same run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

import numpy as np
from explicit_step import ALUMINIUM, cube

from symplex.fem.actions.mass import lumped_mass
from symplex.fem.system import System
from symplex.time.stability import stable_step

HERE = Path(__file__).parent
PROGRAMS = HERE / "peer_packages"
sys.path.insert(0, str(PROGRAMS))
from of_symplex import other_forces  # noqa: E402  # pyright: ignore[reportMissingImports]
from serving import STEPS, Problem  # noqa: E402  # pyright: ignore[reportMissingImports]

NAMES = {
    "symplex": "symplex",
    "dolfinx": "DOLFINx",
    "ngsolve": "NGSolve",
    "felupe": "FElupe",
    "scikit_fem": "scikit-fem",
    "akantu": "Akantu",
    "kratos": "Kratos",
}
WHAT = {"gradient": "forces", "tangent": "tangent", "iteration": "correction", "steps": "explicit step"}
COURANT = 20.0  # explicit steps in that of the correction
PAGE = HERE.parent / "docs" / "benchmarks" / "explicit.md"
BEGIN, END = "<!-- peers: python benchmarks/peers.py -->", "<!-- end of peers -->"


@dataclass
class Peer:
    """The process of a package.

    Attributes
    ----------
    reported : dict
        What it says of itself: version, calls, law, remark.
    differs : dict of str to float
        By how much its forces and so on differ from ours, relative to the largest.
    ns : dict of str to float
        The shortest processor time of each call in ns per tetrahedron.
    """

    name: str
    process: subprocess.Popen[str]
    reported: dict
    found: dict[str, np.ndarray]
    differs: dict[str, float] = field(default_factory=dict)
    ns: dict[str, float] = field(default_factory=dict)

    @classmethod
    def start(cls, name: str, python: str, problem: Path) -> Peer | None:
        """Return the process of a package that is ready to be timed; None if it fails, with its last line reported."""
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "SYMPLEX_THREADS": "1"}
        environment["PATH"] = f"{Path(python).absolute().parent}{os.pathsep}{os.environ['PATH']}"  # compilers
        program = [python, str(PROGRAMS / f"of_{name}.py"), str(problem), str(problem.parent)]
        with (problem.parent / f"{name}.log").open("w+", encoding="utf-8") as log:
            process = subprocess.Popen(
                program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, env=environment
            )
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith("ready "):
                    with np.load(problem.parent / f"of_{name}.npz") as file:
                        return cls(name, process, json.loads(line[6:]), dict(file))
            log.seek(0)
            print(f"({NAMES[name]} by {python}: {(log.read().strip().splitlines() or ['it ended'])[-1][:150]})")
        return None

    def time(self, call: str, seconds: float) -> float:
        """Return the shortest processor time in s of a call within a while."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(call, seconds, file=self.process.stdin, flush=True)
        while line := self.process.stdout.readline():
            if line.startswith("time "):
                return float(line[5:])
        raise RuntimeError(f"{NAMES[self.name]} ended while it was asked for {call}")

    def end(self) -> None:
        """Let the process end."""
        self.process.communicate()


def problem_of(tetrahedra: int) -> Problem:
    """Return a strained cube of about so many tetrahedra."""
    solid, q = cube(tetrahedra)
    mass = lumped_mass(solid.points, solid.nodes, ALUMINIUM.density, len(q))
    step = stable_step(System(mass, {"solid": solid}), solid.points)
    rng = np.random.default_rng(1)
    direction, forces = rng.standard_normal((2, *q.shape))
    constants = ALUMINIUM.lmbda, ALUMINIUM.mu, ALUMINIUM.density, 0.5 * step, 4.0 / (COURANT * step) ** 2
    return Problem(solid.points, q, solid.nodes, *constants, direction, forces)


def measure(tetrahedra: int, pythons: dict[str, str], rounds: int) -> tuple[int, list[Peer]]:
    """Return the number of tetrahedra and all packages that run, with their times."""
    problem = problem_of(tetrahedra)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "problem.npz"
        problem.save(path)
        started = [Peer.start(name, python, path) for name, python in pythons.items()]
        peers = [peer for peer in started if peer is not None]
        compare(peers, problem)
        for _ in range(rounds):
            for peer in peers:
                for call in peer.reported["calls"]:
                    per = len(problem.cells) * (STEPS if call == "steps" else 1)
                    ns = peer.time(call, 0.2) / per * 1e9
                    peer.ns[call] = min(peer.ns.get(call, np.inf), ns)
        for peer in peers:
            peer.end()
    return len(problem.cells), peers


def compare(peers: list[Peer], problem: Problem) -> None:
    """Set by how much packages differ from the first, and end if one computes something else."""
    ours = peers[0].found
    for peer in peers:
        requested = ours if peer.reported["law"] == "neo-Hooke" else {"forces": other_forces(problem)}
        for what, values in peer.found.items():
            size = np.abs(requested[what]).max()
            peer.differs[what] = float(np.abs(values - requested[what]).max() / size)
        if not max(peer.differs.values()) < 1e-5:
            raise SystemExit(f"{NAMES[peer.name]} computes something else: it differs by {peer.differs}")


def bandwidth() -> float:
    """Return the bandwidth in GB/s of a triad a = b + s c of doubles, by one thread: the best of several."""
    from symplex.fem.compiled.kernels import kernel

    @kernel
    def triad(a, b, c, s):
        for i in range(len(a)):
            a[i] = b[i] + s * c[i]

    a, b, c = (np.ones(50_000_000) for _ in range(3))
    triad(a, b, c, 2.0)
    best = np.inf
    for _ in range(5):
        start = perf_counter()
        triad(a, b, c, 2.0)
        best = min(best, perf_counter() - start)
    return 3 * a.nbytes / best * 1e-9


def table(cells: int, peers: list[Peer]) -> str:
    """Return the rows in Markdown."""
    heads = " | ".join(f"{what}" for what in WHAT.values())
    lines = [f"**{cells} tetrahedra**, ns per tetrahedron (times ours):\n"]
    lines += [f"| package | {heads} | forces, tangent, solution differ by |", "| --- " * (len(WHAT) + 2) + "|"]
    ours = peers[0].ns
    for peer in peers:
        times = [f"{peer.ns[c]:.3g} ({peer.ns[c] / ours[c]:.2g})" if c in peer.ns else "–" for c in WHAT]
        remarks = [peer.reported["law"]] if peer.reported["law"] != "neo-Hooke" else []
        remarks += [peer.reported["remark"]] if peer.reported["remark"] else []
        name = f"{NAMES[peer.name]} {peer.reported['version']}" + (f" ({'; '.join(remarks)})" if remarks else "")
        differences = "–" if peer is peers[0] else ", ".join(f"{value:.0e}" for value in peer.differs.values())
        lines.append(f"| {name} | {' | '.join(times)} | {differences} |")
    return "\n".join(lines)


def main() -> None:
    """Measure, print the tables, and write them into the page if requested."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("packages", nargs="*", metavar="NAME=PYTHON", help=f"of {', '.join(NAMES)}")
    parser.add_argument("--tetrahedra", type=int, nargs="+", default=[5000, 50_000])
    parser.add_argument("--rounds", type=int, default=5, help="how often all are measured in turn")
    parser.add_argument("--write", action="store_true", help=f"write the tables into {PAGE.name}")
    arguments = parser.parse_args()
    pythons = {"symplex": sys.executable} | dict(named.split("=", 1) for named in arguments.packages)
    if unknown := set(pythons) - set(NAMES):
        parser.error(f"there is no program for {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    load = os.getloadavg()[0]
    tables = [table(*measure(size, pythons, arguments.rounds)) for size in arguments.tetrahedra]
    conditions = f"One thread; a triad of arrays moves {bandwidth():.1f} GB/s; load of the machine {load:.1f}."
    text = "\n\n".join([*tables, conditions])
    print(text)
    if arguments.write:
        page = PAGE.read_text(encoding="utf-8")
        head, tail = page.split(BEGIN)[0], page.split(END)[1]
        PAGE.write_text(f"{head}{BEGIN}\n{text}\n{END}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
