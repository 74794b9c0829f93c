"""The lowest modes of a clamped block, by ways to solve for them: CPU time and memory, each in its own process.

    python benchmarks/modes.py [--cells 6 10 14] [--number 10] [--ways sparse krylov]

The Lanczos method with shift and inversion (ARPACK) by sparse factors (SuperLU), by the package's conjugate gradients
in two levels; and LOBPCG with pyamg for a preconditioner, which solves no equations. Times are ratios to the first that
is done, of one run.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
from time import process_time
from typing import Any

import numpy as np
import scipy.sparse as sp
from pyamg_solver import rigid_motions

import symplex as sx
from symplex.time.modes.eigenpairs import scale
from symplex.time.modes.small_motions import SmallMotions

WAYS = ("sparse", "krylov", "lobpcg")
LARGEST_DIRECT = 120_000  # unknowns: above, factors do not fit


def block(cells: int) -> tuple[sx.System, sx.State]:
    """Return a beam of 4 × 1 × 1 cubes of hexahedra, clamped at an end."""
    mesh = sx.box((4.0, 1.0, 1.0), (4 * cells, cells, cells), split="hexahedra")
    elements = mesh.cells["hexahedron"]
    solid = sx.Solid(mesh.points, elements, sx.NeoHookean.from_young(200e9, 0.3, 8000.0))
    fixed = np.repeat(mesh.points[:, :1] == 0.0, 3, axis=1)
    mass = sx.lumped_mass(mesh.points, elements, 8000.0, len(mesh.points))
    system = sx.System(mass, {"block": solid}, fixed=fixed)
    return system, system.state(mesh.points)


def by_lobpcg(system: sx.System, state: sx.State, n: int) -> np.ndarray:
    """Return frequencies in Hz by LOBPCG (Knyazev 2001) with smoothed aggregation."""
    from pyamg.aggregation import smoothed_aggregation_solver
    from scipy.sparse.linalg import lobpcg

    motions = SmallMotions(system, state)
    free, some = motions.free, n + 4
    K = sp.csr_matrix(motions.among_free(motions.matrix(motions.symmetric_stiffness)))
    M = motions.among_free(motions.mass)
    shift = 1e-8 * scale(motions)
    K = K + shift * M
    K = sp.bsr_matrix(K, blocksize=(3, 3))
    near = rigid_motions(state.q)[free]
    ladder = smoothed_aggregation_solver(K, B=near, symmetry="symmetric", max_coarse=300)
    start = np.random.default_rng(0).standard_normal((len(free), some))
    squares, _ = lobpcg(K, start, B=M, M=ladder.aspreconditioner(), largest=False, tol=1e-6 * abs(K).max(), maxiter=200)
    return np.sqrt(np.sort(squares)[:n] - shift) / (2.0 * np.pi)


def measured(task: tuple[int, str, int]) -> dict[str, Any]:
    """Return CPU time in s, memory in MB beyond what the system takes, and frequencies."""
    cells, way, n = task
    for size in (2, cells):  # compiled first
        system, state = block(size)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        start = process_time()
        if way == "lobpcg":
            found = by_lobpcg(system, state, n)
        else:
            found = sx.modes.natural_modes(system, state, n, solver=way).frequencies
        seconds = process_time() - start
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"seconds": seconds, "memory": (after - before) / 1e3, "found": found, "free": int((~system.fixed).sum())}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cells", type=int, nargs="+", default=[6, 10, 14])
    parser.add_argument("--ways", choices=WAYS, nargs="+", default=WAYS)
    parser.add_argument("--number", type=int, default=10)
    arguments = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    for cells in arguments.cells:
        first = None
        for way in arguments.ways:
            if way == "sparse" and 12 * cells * (cells + 1) ** 2 > LARGEST_DIRECT:
                continue
            with context.Pool(1) as pool:
                row = pool.map(measured, [(cells, way, arguments.number)])[0]
            first = first or row
            off = np.abs(row["found"] / first["found"] - 1.0).max()
            print(
                f"{row['free']:8,} free coordinates  {way:10s} {row['seconds'] / first['seconds']:6.2f} times "
                f"{first['seconds']:.1f} s, {row['memory']:6.0f} MB, frequencies within {off:.0e}",
                flush=True,
            )


if __name__ == "__main__":
    main()
