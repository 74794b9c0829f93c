"""Seconds per Newton iteration of an implicit step: tangent, incomplete factors, solution; and what others take.

    python benchmarks/implicit_step.py [--cells 8 15 21 27] [--courant 20] [--threads 1] [--direct 10000]
                                       [--output FILE.json]

The body is the 0.1 m aluminium cube of section 6.3 of the force-stepping paper in cells of 24 linear neo-Hookean
tetrahedra, deformed by some per cent and spinning; the step is 20 times the stable step of the explicit method. The
matrices are those of the first Newton iteration: 2 M/h + h/2 ∇²V (symmetric) of the midpoint method, and with h ∂DG/∂q1
(not symmetric) of the energy-momentum method. All times are processor times, the best of several calls, in one
process; so take ratios between columns, not times from another machine.

scipy (conjugate gradients with Jacobi's preconditioner; sparse LU factors on the smaller meshes) and pyamg, where it
can be imported (``pip install pyamg``), solve the same systems.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time

os.environ.setdefault("OMP_NUM_THREADS", "1")  # for the libraries that others use

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, cg

from symplex.errors import MissingPackage
from symplex.fem.actions.mass import lumped_mass
from symplex.fem.assembly.pattern import Pattern
from symplex.fem.compiled import threads
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.solids.solid import Solid
from symplex.fem.system import System
from symplex.meshes.generate import box
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.solvers.direct import SparseSolver
from symplex.time.solvers.iterative import KrylovSolver
from symplex.time.solvers.linear_solver import LinearSolver
from symplex.time.solvers.multigrid import MultigridSolver
from symplex.time.stability import stable_step

TOLERANCES = (1e-3, 1e-8)


@dataclass
class Problem:
    """The linear system of the first Newton iteration of a step."""

    system: System
    q: np.ndarray
    v: np.ndarray
    h: float
    symmetric: bool

    @property
    def end(self) -> np.ndarray:
        """Where the body is at the end of the discrete gradient of the matrix that is not symmetric."""
        return self.q + 0.5 * self.h * self.v

    def assemble(self, out: np.ndarray | None = None) -> np.ndarray:
        """Return the blocks [nnz, 3, 3] of the matrix (in out if given)."""
        system, h = self.system, self.h
        if self.symmetric:
            blocks = system.hessian_blocks(self.q, out)
        else:
            blocks = system.discrete_hessian_blocks(self.q, self.end, out)
        blocks *= 0.5 * h if self.symmetric else h
        pattern = system.pattern
        diagonal = np.flatnonzero(np.repeat(np.arange(system.n_nodes), np.diff(pattern.indptr)) == pattern.indices)
        for axis in range(3):
            blocks[diagonal, axis, axis] += 2.0 / h * system.mass
        return blocks

    def right_hand_side(self) -> np.ndarray:
        """Return 2 M v − h ∇V [n, 3]."""
        return 2.0 * self.system.mass[:, None] * self.v - self.h * self.system.gradient(self.q)


def spinning_cube(cells: int, courant: float) -> Problem:
    """Return the symmetric problem of a cube of 24 · cells³ tetrahedra."""
    mesh = box((0.1,) * 3, (cells,) * 3)
    tets = mesh.cells["tetra"]
    mass = lumped_mass(mesh.points, tets, 2700.0, len(mesh.points))
    system = System(mass, {"strain": Solid(mesh.points, tets, NeoHookean(60.5e9, 26e9, 2700.0))})
    wave = np.sin(60.0 * mesh.points[:, [1, 2, 0]])
    v = np.cross([0.0, 0.0, 2000.0], mesh.points - 0.05) + 200.0 * wave
    q = mesh.points + 2e-4 * wave
    return Problem(system, q, v, courant * stable_step(system, mesh.points), True)


def best(call: Callable[[], object], seconds: float = 2.0, at_least: int = 3) -> float:
    """Return the shortest processor time in s of some calls, the first not counted."""
    call()
    times: list[float] = []
    while len(times) < at_least or (sum(times) < seconds and len(times) < 20):
        start = process_time()
        call()
        times.append(process_time() - start)
    return min(times)


def measure(problem: Problem, turned: bool) -> dict[str, float]:
    """Return the seconds of the parts of a Newton iteration, counts and bytes; with columns turned back or not."""
    ends = (0.5 * (problem.q + problem.end), problem.end) if turned else (problem.q,)
    pattern, b = problem.system.pattern, problem.right_hand_side()
    blocks = problem.assemble()
    numbers = {"assembly": best(lambda: problem.assemble(blocks))}
    start = process_time()
    solver = KrylovSolver(pattern, 3)
    solver.update(blocks, problem.symmetric, *ends)
    numbers["first"] = process_time() - start
    numbers["factors"] = best(lambda: solver.update(blocks, problem.symmetric, *ends))
    for tolerance in TOLERANCES:
        before = solver.counts["iterations"]
        solver.solve(b, tolerance)
        numbers[f"iterations to {tolerance:.0e}"] = solver.counts["iterations"] - before
        numbers[f"solution to {tolerance:.0e}"] = best(lambda tolerance=tolerance: solver.solve(b, tolerance))
    kept, values = (solver._cholesky, solver._half) if solver.by_halves else (solver._lu, solver._whole)
    rows = solver._rows.lower if solver.by_halves else solver._rows.whole
    arrays = (blocks, pattern.indices, values, kept._factor, kept._inverses, *rows)
    if turned:
        arrays += (solver._whole, solver._turned._rotations, *solver._turned._places, *solver._rows.whole)
    numbers["megabytes"] = sum(array.nbytes for array in arrays) / 1e6
    return numbers


def measure_others(problem: Problem, largest_direct: int) -> dict[str, float]:
    """Return the seconds of other solvers: what is done once for a matrix, and the solution to 1e-8."""
    blocks, b, pattern = problem.assemble(), problem.right_hand_side(), problem.system.pattern
    numbers: dict[str, float] = {}
    matrix = sp.csr_array(pattern.matrix(blocks))
    inverse = 1.0 / matrix.diagonal()
    jacobi = LinearOperator(matrix.shape, matvec=lambda r: inverse * r, dtype=float)
    count = Counter()
    solve = lambda: cg(matrix, b.ravel(), rtol=1e-8, M=jacobi, callback=count)  # noqa: E731
    numbers["scipy CG, Jacobi: solution"] = best(solve, at_least=2)
    numbers["scipy CG, Jacobi: iterations"] = count.of_one(solve)
    others: dict[str, Callable[[Pattern, int], LinearSolver]] = {"pyamg CG": MultigridSolver}
    if b.size <= largest_direct:
        others["sparse LU"] = SparseSolver
    for name, kind in others.items():
        try:
            solver = kind(pattern, 3)
        except MissingPackage:
            print(f"({name}: pyamg is not installed)")
            continue
        update = lambda solver=solver: solver.update(blocks, True, problem.q)  # noqa: E731
        numbers[f"{name}: factors"] = best(update, at_least=2)
        numbers[f"{name}: solution"] = best(lambda solver=solver: solver.solve(b, 1e-8), at_least=2)
    return numbers


class Counter:
    """Counts the calls of a callback."""

    calls = 0

    def __call__(self, _: object) -> None:
        self.calls += 1

    def of_one(self, solve: Callable[[], object]) -> int:
        """Return how many calls one solution makes."""
        before = self.calls
        solve()
        return self.calls - before


def whole_step(problem: Problem) -> dict[str, float]:
    """Return the seconds of an energy-momentum step, all Newton iterations down to round-off."""
    motion = EnergyMomentum(problem.h).start(problem.system, problem.system.state(problem.q, problem.v))
    motion.advance(problem.h)
    before, start, wall = motion.statistics()["corrections"], process_time(), perf_counter()
    motion.advance(2.0 * problem.h)
    step, wall = process_time() - start, perf_counter() - wall
    corrections = motion.statistics()["corrections"] - before
    return {"step": step, "step (wall)": wall, "corrections": corrections, "per correction": step / corrections}


def processor() -> str:
    """Return the name of the processor."""
    info = Path("/proc/cpuinfo")
    names = [line.split(":")[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
    return names[0] if names else platform.processor()


def main() -> None:
    """Measure, print tables in Markdown, and write the numbers if requested."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, nargs="+", default=[8, 15, 21, 27], help="along an edge of the cube")
    parser.add_argument("--courant", type=float, default=20.0, help="steps of the explicit method in one")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--direct", type=int, default=10_000, help="unknowns up to which sparse LU takes part")
    parser.add_argument("--output", type=Path, help="JSON file for the numbers")
    arguments = parser.parse_args()
    os.environ["SYMPLEX_THREADS"] = str(arguments.threads)
    threads.count.cache_clear()
    print(f"{processor()}, load {os.getloadavg()[0]:.1f}; {arguments.threads} thread(s); Courant {arguments.courant:g}")
    numbers: dict[str, dict[str, float]] = {}
    for cells in arguments.cells:
        problem = spinning_cube(cells, arguments.courant)
        size = 3 * problem.system.n_nodes
        print(f"\n## {size} unknowns, {24 * cells**3} tetrahedra\n")
        print("| s | tangent | factors | to 1e-3 | iterations | to 1e-8 | iterations | MB |\n" + "| --- " * 8 + "|")
        for name in ("symmetric, CG", "unsymmetric, BiCGStab", "unsymmetric, turned back"):
            problem.symmetric = name.startswith("symmetric")
            found = measure(problem, name.endswith("turned back"))
            numbers[f"{size}, {name}"] = found
            print(f"| {name} | {found['assembly']:.4f} | {found['factors']:.4f}", end="")
            for tolerance in TOLERANCES:
                seconds, iterations = found[f"solution to {tolerance:.0e}"], found[f"iterations to {tolerance:.0e}"]
                print(f" | {seconds:.4f} | {iterations:.0f}", end="")
            print(f" | {found['megabytes']:.0f} |", flush=True)
        problem.symmetric = True
        others = measure_others(problem, arguments.direct)
        numbers[f"{size}, others"] = others
        ours = numbers[f"{size}, symmetric, CG"]["solution to 1e-08"] + numbers[f"{size}, symmetric, CG"]["factors"]
        print(f"\nOthers to 1e-8, as multiples of our factors and solution ({ours:.4f} s):")
        for name, value in others.items():
            if "iterations" not in name:
                print(f"- {name} {value / ours:.1f}")
        numbers[f"{size}, step"] = found = whole_step(problem)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(
            f"\nEnergy-momentum step to round-off: {found['step']:.2f} s, {found['corrections']:.0f} corrections; ",
            end="",
        )
        print(f"{found['per correction']:.3f} s each. Largest memory of the process so far: {peak:.2f} GB.", flush=True)
        numbers[f"{size}, step"]["peak gigabytes so far"] = peak
    if arguments.output:
        arguments.output.write_text(json.dumps(numbers, indent=1))


if __name__ == "__main__":
    main()
