"""One linear system of an implicit step or a static equilibrium by each solver: iterations and processor time.

    OMP_NUM_THREADS=1 python benchmarks/linear_solvers.py [--bodies hexahedra:12 tetrahedra:10 quadratic:6 beam:6]
                                                          [--loads static 1000 20] [--solvers krylov petsc multigrid]

Bodies are four times as long as thick, ``beam`` forty times, clamped at an end, with so many cells across, of a
neo-Hookean law; ``incompressible`` is of hexahedra with mean dilatation and ν = 0.499. ``cube`` is that of
`benchmarks/implicit_step.py`. Loads: the stiffness alone, or a step of the trapezoidal rule of so many stable steps of
the explicit method; ``EM:1000`` is such a step of energy-momentum (of the cube). Solvers that are not installed are
left out. All are called in turns in one process, with one thread; the least processor time of some calls counts.
``one level`` is `KrylovSolver` without its coarse space.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from time import process_time

import numpy as np
from implicit_step import spinning_cube

import symplex as sx
from symplex.errors import MissingPackage, StepFailed
from symplex.fem.assembly.pattern import Pattern
from symplex.fem.compiled import threads
from symplex.meshes.midside_nodes import quadratic
from symplex.time.solvers import coarse
from symplex.time.solvers.direct import SparseSolver
from symplex.time.solvers.linear import Linear, linear_solver
from symplex.time.solvers.linear_solver import LinearSolver, take_out
from symplex.time.stability import stable_step

TOLERANCES = (1e-2, 1e-8)
KINDS = ("krylov", "one level", "petsc", "multigrid", "sparse")
LARGEST_DIRECT = 40_000  # unknowns
STEEL = dict(young=200e9, density=8000.0)

System = tuple[Pattern, np.ndarray, bool, tuple[np.ndarray, ...], np.ndarray]


def clamped(kind: str, cells: int, load: str) -> System:
    """Return pattern, blocks, whether they are symmetric, positions and right-hand side of a body under its weight."""
    length = 40 if kind == "beam" else 4
    split = "24" if kind in ("tetrahedra", "beam") else "6" if kind == "quadratic" else "hexahedra"
    mesh = sx.box((float(length), 1.0, 1.0), (length * cells, cells, cells), split=split)
    mesh = quadratic(mesh) if kind == "quadratic" else mesh
    elements = next(iter(mesh.cells.values()))
    soft = kind == "incompressible"
    law = sx.NeoHookean.from_young(STEEL["young"], 0.499 if soft else 0.3, STEEL["density"])
    solid = sx.Solid(mesh.points, elements, law, **({"formulation": "mean-dilatation"} if soft else {}))
    fixed = np.repeat(mesh.points[:, :1] == 0.0, 3, axis=1)
    mass = sx.lumped_mass(mesh.points, elements, STEEL["density"], len(mesh.points))
    system = sx.System(mass, {"body": solid}, fixed=fixed)
    blocks = system.hessian_blocks(mesh.points)
    if load != "static":
        h = float(load) * stable_step(system, mesh.points)
        blocks *= 0.25 * h * h
        blocks[system.pattern.diagonal()] += mass[:, None, None] * np.eye(3)
    take_out(system.pattern, fixed, blocks)
    weight = np.where(fixed, 0.0, mass[:, None] * [0.0, 0.0, -9.81])
    return system.pattern, blocks, True, (mesh.points,), weight


def turning(cells: int, load: str) -> System:
    """Return the same of a cube in motion."""
    problem = spinning_cube(cells, float(load.removeprefix("EM:")))
    problem = replace(problem, symmetric=not load.startswith("EM:"))
    ends = (problem.q,) if problem.symmetric else (0.5 * (problem.q + problem.end), problem.end)
    return problem.system.pattern, problem.assemble(), problem.symmetric, ends, problem.right_hand_side()


def made(kind: str, pattern: Pattern) -> LinearSolver | None:
    """Return a solver; None where its package is not installed, or it takes too long."""
    if kind == "sparse" and 3 * pattern.n_nodes > LARGEST_DIRECT:
        return None
    try:
        named: Linear = "krylov" if kind == "one level" else kind  # pyright: ignore[reportAssignmentType]
        return SparseSolver(pattern, 3, pivot=0.0) if kind == "sparse" else linear_solver(named, pattern, 3)
    except MissingPackage:
        return None


def compare(name: str, system: System, kinds: list[str], calls: int) -> None:
    """Print the rows of a linear system, one for each solver."""
    pattern, blocks, symmetric, ends, b = system
    solvers = {kind: solver for kind in kinds if (solver := made(kind, pattern))}
    set_up = dict.fromkeys(solvers, float("inf"))
    spent = {kind: dict.fromkeys(TOLERANCES, float("inf")) for kind in solvers}
    iterations: dict[str, dict[float, str]] = {kind: {} for kind in solvers}
    for _ in range(calls):
        for kind, solver in solvers.items():
            coarse._SOFT = -1.0 if kind == "one level" else SOFT
            solver.begin()
            for tolerance in TOLERANCES:
                solver.begin()
                start = process_time()
                solver.update(blocks, symmetric, *ends)
                attempt(solver, b, 0.5)  # PETSc sets up a preconditioner when it is first needed
                set_up[kind] = min(set_up[kind], process_time() - start)
                before, start = solver.counts["iterations"], process_time()
                reported = attempt(solver, b, tolerance)
                spent[kind][tolerance] = min(spent[kind][tolerance], process_time() - start)
                iterations[kind][tolerance] = reported or str(solver.counts["iterations"] - before)
    for kind in solvers:
        of = [f"{iterations[kind][t]}: {spent[kind][t]:.3f} s" for t in TOLERANCES]
        print(f"| {name} | {b.size:,} | {kind} | {set_up[kind]:.3f} s | {' | '.join(of)} |", flush=True)


SOFT = coarse._SOFT


def attempt(solver: LinearSolver, b: np.ndarray, tolerance: float) -> str:
    """Solve; return what to say where that fails."""
    try:
        solver.solve(b, tolerance)
    except StepFailed:
        return "failed"
    return ""


def main() -> None:
    """Measure, and print the rows of a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    bodies = ["hexahedra:16", "tetrahedra:12", "quadratic:8", "incompressible:12", "beam:4"]
    parser.add_argument("--bodies", nargs="+", default=bodies)
    parser.add_argument("--loads", nargs="+", default=["static"])
    parser.add_argument("--solvers", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--calls", type=int, default=3)
    arguments = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}")
    print("| | unknowns | solver | set-up | " + " | ".join(f"to {t:.0e}" for t in TOLERANCES) + " |")
    with threads.limited(1):
        for body in arguments.bodies:
            kind, cells = body.split(":")
            for load in arguments.loads:
                of = turning(int(cells), load) if kind == "cube" else clamped(kind, int(cells), load)
                compare(f"{kind}, {load}", of, arguments.solvers, arguments.calls)


if __name__ == "__main__":
    main()
