"""One correction of an implicit step by PETSc and by the package's own iterations: iterations and processor time.

    OMP_NUM_THREADS=1 python benchmarks/petsc.py [--cells 8 15] [--courant 20 100]

The matrices are those of `benchmarks/implicit_step.py`: of the midpoint method (symmetric), and of energy-momentum,
whose columns `KrylovSolver` turns back. Both solvers are called in turns in one process, with one thread; the least
processor time of three calls counts. PETSc needs petsc4py (see docs/benchmarks/implicit.md).
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from time import process_time

import numpy as np
from implicit_step import Problem, spinning_cube

from symplex.errors import StepFailed
from symplex.fem.compiled import threads
from symplex.time.solvers.linear import Linear, linear_solver
from symplex.time.solvers.linear_solver import LinearSolver

TOLERANCES = (1e-2, 1e-8)
KINDS: tuple[Linear, ...] = ("krylov", "petsc")
CALLS = 3


def main() -> None:
    """Measure, and print the rows of a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, nargs="+", default=[8, 15], help="along an edge of the cube")
    parser.add_argument("--courant", type=float, nargs="+", default=[20.0, 100.0])
    arguments = parser.parse_args()
    print("| unknowns | step | matrix | solver | set-up | " + " | ".join(f"to {t:.0e}" for t in TOLERANCES) + " |")
    with threads.limited(1):
        for cells in arguments.cells:
            for courant in arguments.courant:
                problem = spinning_cube(cells, courant)
                for symmetric in (True, False):
                    compare(replace(problem, symmetric=symmetric), courant)


def compare(problem: Problem, courant: float) -> None:
    """Print the rows of a problem, one for each solver."""
    blocks, b, kind = problem.assemble(), problem.right_hand_side(), "midpoint" if problem.symmetric else "EM"
    ends = (problem.q,) if problem.symmetric else (0.5 * (problem.q + problem.end), problem.end)
    solvers: dict[Linear, LinearSolver] = {name: linear_solver(name, problem.system.pattern, 3) for name in KINDS}
    set_up: dict[Linear, float] = dict.fromkeys(KINDS, float("inf"))
    spent: dict[Linear, dict[float, float]] = {name: dict.fromkeys(TOLERANCES, float("inf")) for name in KINDS}
    iterations: dict[Linear, dict[float, str]] = {name: {} for name in KINDS}
    for _ in range(CALLS):
        for name, solver in solvers.items():
            start = process_time()
            solver.update(blocks, problem.symmetric, *ends)
            attempt(solver, b, 0.5)  # PETSc sets up a preconditioner when it is first needed
            set_up[name] = min(set_up[name], process_time() - start)
            for tolerance in TOLERANCES:
                before, start = solver.counts["iterations"], process_time()
                reported = attempt(solver, b, tolerance)
                spent[name][tolerance] = min(spent[name][tolerance], process_time() - start)
                iterations[name][tolerance] = reported or str(solver.counts["iterations"] - before)
    for name in KINDS:
        of = [f"{iterations[name][t]}: {spent[name][t]:.3f} s" for t in TOLERANCES]
        print(f"| {b.size:,} | {courant:g} | {kind} | {name} | {set_up[name]:.3f} s | {' | '.join(of)} |", flush=True)


def attempt(solver: LinearSolver, b: np.ndarray, tolerance: float) -> str:
    """Solve; return what to say where that fails."""
    try:
        solver.solve(b, tolerance)
    except StepFailed:
        return "failed"
    return ""


if __name__ == "__main__":
    main()
