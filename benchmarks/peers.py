"""All that is compared with other packages, in one run: solids, contact, a small system and whole runs of decks.

    python benchmarks/peers.py [PYTHON ...] [--before PYTHON] [--quick] [--rounds 5] [--json FILE] [--write]

Each Python is one that other packages are installed for; what is found there takes part: ``pip install felupe
scikit-fem ngsolve akantu meshio warp-lang mujoco jax ipctk numba scipy heyoka``, ``KratosMultiphysics
KratosStructuralMechanicsApplication KratosConstitutiveLawsApplication``, and Debian's ``python3-dolfinx`` and
``calculix-ccx``. ``--before`` is a Python with another version of symplex. Every package runs in its own process on
one thread (``benchmarks/peer_packages``). All are given the same mesh, positions, law and quadrature,

    W = λ/2 (ln J)² − μ ln J + μ/2 (tr C − 3)

at one point of linear tetrahedra, and what they compute is compared before anything is timed; Akantu and MuJoCo have
no such law in space and take that of Saint Venant and Kirchhoff, for which their forces are compared with ours. The
processes are asked in turn and several times over, one at a time; processor times count, the shortest and the median,
so that a busy machine changes ratios little. The limits of the machine are measured in the same run. ``--write`` writes
the table into ``docs/benchmarks/peers.md``.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from contact_search import NEAR, two_cubes
from explicit_step import ALUMINIUM, bytes_per_tetrahedron, cube, machine, processor

from symplex.fem.actions.mass import lumped_mass
from symplex.fem.assembly.pattern import Pattern
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.solids.solid import Solid
from symplex.fem.system import System
from symplex.time.stability import stable_step

HERE = Path(__file__).parent
PROGRAMS = HERE / "peer_packages"
sys.path.insert(0, str(PROGRAMS))
from of_symplex import other_forces  # noqa: E402  # pyright: ignore[reportMissingImports]
from serving import STEPS, Deck, Impact, Problem, Springs, Surfaces, Tetrahedra  # noqa: E402  # pyright: ignore[reportMissingImports]


class Known(NamedTuple):
    """A package: its name, the module by which it is found, and the problems that its program can do."""

    title: str
    module: str
    problems: tuple[type, ...]


ALL = (Tetrahedra, Surfaces, Springs, Impact, Deck)
PACKAGES = {
    "symplex": Known("symplex", "symplex", ALL),
    "dolfinx": Known("DOLFINx", "dolfinx", (Tetrahedra,)),
    "ngsolve": Known("NGSolve", "ngsolve", (Tetrahedra,)),
    "felupe": Known("FElupe", "felupe", (Tetrahedra,)),
    "scikit_fem": Known("scikit-fem", "skfem", (Tetrahedra,)),
    "akantu": Known("Akantu", "akantu", (Tetrahedra,)),
    "kratos": Known("Kratos", "KratosMultiphysics", (Tetrahedra,)),
    "warp": Known("Warp", "warp", (Tetrahedra,)),
    "jax": Known("JAX", "jax", (Tetrahedra, Impact)),
    "mujoco": Known("MuJoCo", "mujoco", (Tetrahedra,)),
    "ipctk": Known("ipctk", "ipctk", (Surfaces,)),
    "scipy": Known("SciPy", "scipy", (Springs,)),
    "heyoka": Known("heyoka", "heyoka", (Springs,)),
    "calculix": Known("CalculiX", "", (Deck,)),  # a command, run from any Python
}
LARGE = {"mujoco": 10_000, "scikit_fem": 100_000}  # tetrahedra beyond which a package would take minutes to start
COURANT = 20.0  # explicit steps in that of the correction
CLOSE = {
    "share": 0.2,
    "displacements": 1e-3,
    "positions": 1e-5,
    "by_velocity": 1e-8,
    "by_factor": 1e-8,
}  # relative; all else 1e-5
PAGE = HERE.parent / "docs" / "benchmarks" / "peers.md"
BEGIN, END = "<!-- peers: python benchmarks/peers.py -->", "<!-- end of peers -->"
ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "SYMPLEX_THREADS", "MKL_NUM_THREADS")}
ONE_THREAD["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"


@dataclass
class Peer:
    """The process of a package.

    Attributes
    ----------
    reported : dict
        What it says of itself: version, calls, law, remark.
    found : dict of str to array
        What it computes.
    differs : dict of str to float
        By how much that differs from ours, relative to the largest.
    shortest, medians : dict of str to list of float
        Processor times in s of each call in every round.
    """

    title: str
    process: subprocess.Popen[str]
    reported: dict[str, Any]
    found: dict[str, np.ndarray]
    differs: dict[str, float] = field(default_factory=dict)
    shortest: dict[str, list[float]] = field(default_factory=dict)
    medians: dict[str, list[float]] = field(default_factory=dict)

    @classmethod
    def start(cls, name: str, title: str, python: str, problem: Path) -> Peer | None:
        """Return the process of a package that is ready to be timed; None if it fails, with its last line reported."""
        environment = os.environ | ONE_THREAD
        environment["PATH"] = f"{Path(python).absolute().parent}{os.pathsep}{os.environ['PATH']}"  # compilers
        results = problem.parent / f"{name}-{len(list(problem.parent.iterdir()))}.npz"
        with results.with_suffix(".log").open("w+", encoding="utf-8") as log:
            process = subprocess.Popen(
                [python, str(PROGRAMS / f"of_{name}.py"), str(problem), str(results)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
                env=environment, cwd=problem.parent,
            )  # fmt: skip
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith("ready "):
                    with np.load(results) as file:
                        return cls(title, process, json.loads(line[6:]), dict(file))
            log.seek(0)
            print(f"({title} by {python}: {(log.read().strip().splitlines() or ['it ended'])[-1][:150]})")
        return None

    def time(self, call: str, seconds: float) -> None:
        """Let it time a call for a while."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(call, seconds, file=self.process.stdin, flush=True)
        while line := self.process.stdout.readline():
            if line.startswith("times "):
                for times, value in zip((self.shortest, self.medians), json.loads(line[6:]), strict=True):
                    times.setdefault(call, []).append(value)
                return
        raise SystemExit(f"{self.title} ended while it was asked for {call}")

    def end(self) -> None:
        """Let the process end."""
        self.process.communicate()


# -- problems --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Task:
    """A problem with what is timed.

    Attributes
    ----------
    title : str
    problem : Problem
    calls : mapping of str to (str, int, str)
        What a call is named in the table, the number of its parts, and what one of these is.
    seconds : float
        For how long each call is timed in a round; 0 for once, in one round.
    limits : dict of str to float
        The time of a call in s that the memory or the arithmetic of the machine takes.
    """

    title: str
    problem: Any
    calls: Mapping[str, tuple[str, int, str]]
    seconds: float = 0.2
    limits: dict[str, float] = field(default_factory=dict)


def problem_of(tetrahedra: int) -> Tetrahedra:
    """Return a strained cube of about so many tetrahedra."""
    solid, q = cube(tetrahedra)
    mass = lumped_mass(solid.points, solid.nodes, ALUMINIUM.density, len(q))
    step = stable_step(System(mass, {"solid": solid}), solid.points)
    direction, forces = np.random.default_rng(1).standard_normal((2, *q.shape))
    constants = ALUMINIUM.lmbda, ALUMINIUM.mu, ALUMINIUM.density, 0.5 * step, 4.0 / (COURANT * step) ** 2
    return Tetrahedra(solid.points, q, solid.nodes, *constants, direction, forces)


def solids(tetrahedra: int, bandwidth: float) -> Task:
    """Return forces, tangent, correction and explicit steps of a cube."""
    problem = problem_of(tetrahedra)
    m, each = len(problem.cells), "a tetrahedron"
    calls = {"forces": ("forces", m, each), "tangent": ("tangent", m, each)}
    calls |= {"correction": ("implicit correction", m, each), "steps": ("explicit step", m * STEPS, each)}
    solid, q = cube(tetrahedra)
    moved = bytes_per_tetrahedron(solid, q, Pattern(len(q), [solid.nodes]))["moved"] / bandwidth
    # A step reads and writes velocities and positions, too, and reads masses.
    motion = 8 * (4 * q.size + len(q)) / bandwidth
    limits = {"forces": moved * m, "steps": (moved * m + motion) * STEPS} if 100 * m > 4e6 else {}
    return Task(f"{m} linear tetrahedra", problem, calls, 0.2, limits)


def contact(triangles: int) -> Task:
    """Return the search for near pairs of two cubes, and the share of a motion that nothing passes through."""
    case = two_cubes(triangles)
    faces = np.ascontiguousarray(case.surface.triangles, np.int32)
    edges = np.ascontiguousarray(case.surface.edges, np.int32)
    problem = Surfaces(case.q, case.ahead, faces, edges, len(case.q) // 2, case.distance)
    each = "a triangle"
    calls = {
        "pairs": (f"pairs within {NEAR:g} edges", len(faces), each),
        "share": ("collision-free part", len(faces), each),
    }
    return Task(f"contact of {len(faces)} triangles", problem, calls)


def springs(stiffness: float, error: float) -> Task:
    """Return a double pendulum on springs, let go at 60 and 30 degrees."""
    from scipy.integrate import solve_ivp

    x = np.array([[0.0, 0.0], [np.sin(np.pi / 3), -np.cos(np.pi / 3)], [0.0, 0.0]])
    x[2] = x[1] + [0.5, -np.sqrt(0.75)]
    pairs, duration, gravity = np.array([[0, 1], [1, 2]]), 5.0, 9.81

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        q, v = y.reshape(2, 2, 2)
        d = q - np.vstack([x[:1], q[:1]])
        pulls = stiffness * (1.0 - 1.0 / np.linalg.norm(d, axis=1, keepdims=True)) * d
        return np.concatenate([v, np.vstack([pulls[1] - pulls[0], -pulls[1]]) - [0.0, gravity]]).ravel()

    start = np.concatenate([x[1:].ravel(), np.zeros(4)])
    end = solve_ivp(rates, (0.0, duration), start, "DOP853", rtol=1e-13, atol=1e-13).y[:4, -1].reshape(2, 2)
    exact = np.vstack([x[:1], end])
    problem = Springs(x, np.ones(3), pairs, np.ones(2), stiffness, gravity, duration, exact, error)
    calls = {"run": (f"{duration:g} s within {error:g} m", 1, "a run")}
    return Task(f"double pendulum on springs of {stiffness:g} N/m", problem, calls)


def impact(cells: int, steps: int) -> Task:
    """Return a cube that falls on a floor on one of its edges, and the derivatives of where it is at the end."""
    from symplex.meshes.generate import box

    mesh = box((0.1,) * 3, (cells,) * 3)
    points, nodes = mesh.points - 0.05, mesh.cells["tetra"]
    cos, sin = np.cos(0.6), np.sin(0.6)
    points = points @ np.array([[1.0, 0.0, 0.0], [0.0, cos, sin], [0.0, -sin, cos]])
    points[:, 2] -= points[:, 2].min() - 1e-4
    lmbda, mu, density = 4e6, 1e6, 1000.0
    masses = lumped_mass(points, nodes, density, len(points))
    solid = Solid(points, nodes, NeoHookean(lmbda, mu, density))
    stiffness = float(0.2 * masses.mean() / stable_step(System(masses, {"solid": solid}), points) ** 2)
    dt = 0.4 * stable_step(System(masses, {"solid": solid}), points)
    velocity = np.tile([1.0, 0.0, -3.0], (len(points), 1))
    problem = Impact(points, nodes, masses, velocity, lmbda, mu, density, stiffness, dt, steps)
    m, each = len(nodes), "a tetrahedron"
    title = f"impact of {m} tetrahedra, {steps} explicit steps"
    calls = {"run": ("run", m * steps, each), "gradient": ("run, derivatives by 3n + m numbers", m * steps, each)}
    return Task(title, problem, calls, 1.0)


def decks() -> Iterator[Task]:
    """Yield a static and a dynamic step of a cantilever of quadratic tetrahedra."""
    from symplex.meshes.generate import box
    from symplex.meshes.midside_nodes import quadratic

    n = 24, 6, 6
    mesh = quadratic(box((0.4, 0.1, 0.1), n, split="6"))
    cells = mesh.cells["tetra10"] + 1
    held = np.flatnonzero(mesh.points[:, 0] < 1e-9) + 1
    end = np.flatnonzero(mesh.points[:, 0] > 0.4 - 1e-9) + 1
    lines = ["*NODE, NSET=ALL", *(f"{i}, {x:.12g}, {y:.12g}, {z:.12g}" for i, (x, y, z) in enumerate(mesh.points, 1))]
    lines += [
        "*ELEMENT, TYPE=C3D10, ELSET=ALL",
        *(", ".join(map(str, [e, *c])) for e, c in enumerate(cells.tolist(), 1)),
    ]
    for name, nodes in (("HELD", held), ("END", end)):
        lines += [f"*NSET, NSET={name}", *(f"{node}," for node in nodes)]
    lines += ["*MATERIAL, NAME=RUBBER", "*HYPERELASTIC, NEO HOOKE", "5e5, 2e-7", "*DENSITY", "1000."]
    lines += ["*SOLID SECTION, ELSET=ALL, MATERIAL=RUBBER", "*BOUNDARY", "HELD, 1, 3"]
    load = [f"END, 3, {-100.0 / len(end):.12g}"]
    output = ["*NODE FILE", "U", "*END STEP"]
    steps = {
        "static, large displacements, 4 increments": ["*STATIC, DIRECT", "0.25, 1."],
        "implicit dynamics, 20 increments": ["*DYNAMIC, DIRECT", "1e-3, 0.02"],
    }
    for title, procedure in steps.items():
        deck = "\n".join([*lines, "*STEP, NLGEOM, INC=1000", *procedure, "*CLOAD", *load, *output]) + "\n"
        calls = {"run": (title, 1, "a run")}
        yield Task(f"deck, {len(cells)} C3D10, {mesh.points.size} unknowns", Deck(deck, end), calls, 0.0)


# -- a run -----------------------------------------------------------------------------------------------------------


def programs(pythons: list[str], before: str | None) -> list[tuple[str, str, str]]:
    """Return names, titles and Pythons of all packages that are there."""
    out = [("symplex", "symplex", sys.executable)] + ([("symplex", "before", before)] if before else [])
    code = "import importlib.util as u, sys; print(*(n for n in sys.argv[1:] if u.find_spec(n)))"
    left = {name: known for name, known in PACKAGES.items() if name != "symplex"}
    if shutil.which("ccx"):
        out.append(("calculix", left.pop("calculix").title, sys.executable))
    for python in [*pythons, sys.executable]:
        modules = [known.module for known in left.values() if known.module]
        asked = subprocess.run([python, "-c", code, *modules], capture_output=True, text=True, check=True, cwd="/")
        there = {name: known for name, known in left.items() if known.module in asked.stdout.split()}
        out += [(name, known.title, python) for name, known in there.items()]
        left = {name: known for name, known in left.items() if name not in there}
    if missing := ", ".join(known.title for known in left.values()):
        print(f"(not found: {missing})")
    return out


def measure(task: Task, found: list[tuple[str, str, str]], rounds: int) -> list[Peer]:
    """Return all packages that take part in a task, with their times."""
    kind = type(task.problem)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "problem.npz"
        task.problem.save(path)
        peers: list[Peer] = []
        for name, title, python in found:
            size = len(getattr(task.problem, "cells", ()))
            if kind in PACKAGES[name].problems and size <= LARGE.get(name, size):
                peers += [peer] if (peer := Peer.start(name, title, python, path)) else []
        compare(peers, task.problem)
        for _ in range(rounds if task.seconds else 1):
            for peer in peers:
                for call in peer.reported["calls"]:
                    peer.time(call, task.seconds)
        for peer in peers:
            peer.end()
    return peers


def compare(peers: list[Peer], problem: Problem) -> None:
    """Set by how much packages differ from the first, and end if one computes something else."""
    for peer in peers[1:]:
        ours = peers[0].found if peer.reported["law"] == "neo-Hooke" else {"forces": other_forces(problem)}
        for what, values in peer.found.items():
            peer.differs[what] = float(np.abs(values - ours[what]).max() / np.abs(ours[what]).max())
            if not peer.differs[what] < CLOSE.get(what, 1e-5):
                raise SystemExit(f"{peer.title} computes something else: {what} differ by {peer.differs[what]:.2g}")


def rows(task: Task, peers: list[Peer]) -> Iterator[dict[str, Any]]:
    """Yield what is known of each call."""
    for call, (title, parts, each) in task.calls.items():
        ours = peers[0]
        row: dict[str, Any] = {"problem": task.title, "call": title, "each": each, "packages": {}}
        if call in task.limits:
            row["limit"] = task.limits[call] / parts
        for peer in peers:
            if call in peer.shortest:
                least, median = min(peer.shortest[call]), float(np.median(peer.medians[call]))
                entry = {"least": least / parts, "median": median / parts}
                entry |= {"ratio": least / min(ours.shortest[call]), "version": peer.reported["version"]}
                entry |= {"of_medians": median / float(np.median(ours.medians[call])), "differs": peer.differs}
                row["packages"][peer.title] = entry | {"law": peer.reported["law"], "remark": peer.reported["remark"]}
        yield row


def table(found: list[dict[str, Any]]) -> str:
    """Return the table in Markdown."""
    lines = ["| problem | | symplex: least, median | limit | before | others, as multiples of symplex |"]
    lines += ["| --- " * 6 + "|"]
    last = ""
    for row in found:
        packages = dict(row["packages"])
        ours, before = packages.pop("symplex"), packages.pop("before", None)
        others = sorted(packages.items(), key=lambda item: item[1]["ratio"])
        listed = ", ".join(f"{name} {rounded(one['ratio'])} ({rounded(one['of_medians'])})" for name, one in others)
        limit = f"{time_of(row['limit'])}" if "limit" in row else "–"
        then = f"{before['ratio']:.2f} ({before['of_medians']:.2f})" if before else "–"
        each = f" {row['each']}" if row["each"] != "a run" else ""
        cells = [row["problem"] if row["problem"] != last else "", row["call"]]
        cells += [f"{time_of(ours['least'])}, {time_of(ours['median'])}{each}", limit, then, listed or "–"]
        lines.append("| " + " | ".join(cells) + " |")
        last = row["problem"]
    return "\n".join(lines)


def rounded(ratio: float) -> str:
    """Return two digits of a ratio, without a power of ten."""
    return f"{float(f'{ratio:.1e}'):g}"


def time_of(seconds: float) -> str:
    """Return a time with its unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def versions(found: list[dict[str, Any]]) -> str:
    """Return packages with versions, laws, remarks, and by how much their results differ."""
    lines: dict[str, str] = {}
    differs: dict[str, dict[str, float]] = {}
    for row in found:
        for name, entry in row["packages"].items():
            what = [entry["law"]] if entry["law"] != "neo-Hooke" else []
            what += [entry["remark"]] if entry["remark"] and name not in ("symplex", "before") else []
            lines[name] = f"{name} {entry['version']}" + (f" ({'; '.join(what)})" if what else "")
            for key, value in entry["differs"].items():
                differs.setdefault(name, {})[key] = max(value, differs.get(name, {}).get(key, 0.0))
    largest = [f"{name}: {', '.join(f'{k} {v:.0e}' for k, v in values.items())}" for name, values in differs.items()]
    return f"{', '.join(lines.values())}. Largest relative differences: {'; '.join(largest)}."


def main() -> None:
    """Measure, print the table, and write it if requested."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pythons", nargs="*", metavar="PYTHON", help="Pythons that other packages are installed for")
    parser.add_argument("--before", metavar="PYTHON", help="a Python with another version of symplex")
    parser.add_argument("--quick", action="store_true", help="small meshes only")
    parser.add_argument("--rounds", type=int, default=5, help="how often all are measured in turn")
    parser.add_argument("--json", type=Path, help="file for the numbers")
    parser.add_argument("--write", action="store_true", help=f"write the table into {PAGE.name}")
    arguments = parser.parse_args()
    load, limits = os.getloadavg()[0], [machine(1)]
    tasks = [solids(5000, limits[0][0]), contact(1000), springs(1e2, 1e-6), springs(1e4, 1e-6)]
    tasks.append(impact(4, 400))
    if not arguments.quick:
        tasks += [solids(50_000, limits[0][0]), contact(10_000), *decks()]
    there = programs(arguments.pythons, arguments.before)
    found: list[dict[str, Any]] = []
    for task in tasks:
        new = list(rows(task, measure(task, there, arguments.rounds)))
        print(table(new), flush=True)
        found += new
        limits.append(machine(1))
    bandwidth, arithmetic = np.max(limits, axis=0).tolist()
    conditions = (
        f"{processor()}, one thread: {bandwidth / 1e9:.1f} GB/s, {arithmetic / 1e9:.0f} Gflop/s; load before "
        f"the run {load:.1f}; {arguments.rounds} rounds."
    )
    text = "\n\n".join([table(found), conditions, versions(found)])
    print(f"\n{text}")
    if arguments.json:
        arguments.json.write_text(json.dumps({"conditions": conditions, "rows": found}, indent=1), encoding="utf-8")
    if arguments.write:
        page = PAGE.read_text(encoding="utf-8")
        head, tail = page.split(BEGIN)[0], page.split(END)[1]
        PAGE.write_text(f"{head}{BEGIN}\n{text}\n{END}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
