"""Implicit steps on several ranks: iterations, sums over ranks and processor time, next to one process.

    mpiexec -n 2 python benchmarks/mpi_implicit.py [--linear krylov] [--courant 10 100]

Neo-Hookean tetrahedra in a free block that turns and vibrates, 3 steps. Processor time is that of all ranks together,
waiting for messages included, and shows the work only where each rank has its own processor.
"""

from __future__ import annotations

import argparse
from itertools import product
from time import process_time

import numpy as np

import symplex as sx
from symplex.parallel.member import Member
from symplex.parallel.motion import InParts
from symplex.time.implicit.implicit import ImplicitMotion
from symplex.time.stability import stable_step

RUBBER = sx.NeoHookean(lmbda=6e6, mu=4e6, density=1000.0)
STEPS = 3


class Spent:
    """Return the processor time so far, and how often all ranks have met."""

    def __call__(self, member: Member) -> tuple[float, int]:
        """Do it on one rank."""
        return process_time(), member.system.sums.count


def block(n: int) -> tuple[sx.System, sx.State]:
    """Return a block of 12 n³ tetrahedra in motion."""
    mesh = sx.box((2.0, 1.0, 1.0), (2 * n, n, n), split="6")
    cells = mesh.cells["tetra"]
    mass = sx.lumped_mass(mesh.points, cells, RUBBER.density, len(mesh.points))
    system = sx.System(mass, {"block": sx.Solid(mesh.points, cells, RUBBER)})
    turning = np.cross([0.0, 1.0, 2.0], mesh.points - [1.0, 0.5, 0.5])
    return system, system.state(mesh.points, turning + np.sin(3.0 * mesh.points[:, [1, 2, 0]]))


def main(ranks: sx.parallel.Ranks) -> None:
    """Print a line for each method and step."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--linear", choices=["krylov", "petsc"], default="krylov")
    parser.add_argument("--courant", type=float, nargs="+", default=[10.0, 100.0])
    arguments = parser.parse_args()
    system, state = block(8)
    limit = stable_step(system, state.q)
    for method, courant in product((sx.Midpoint, sx.EnergyMomentum), arguments.courant):
        chosen = method(courant * limit, newton=sx.Newton(linear=arguments.linear))
        alone = chosen.start(system, state)
        assert isinstance(alone, ImplicitMotion)
        alone.advance(chosen.dt)  # compiled
        before = process_time()
        alone.advance((1 + STEPS) * chosen.dt)
        one = process_time() - before
        motion = InParts(chosen, ranks).start(system, state)
        motion.advance(chosen.dt)
        first = ranks.call(lambda rank: Spent())
        motion.advance((1 + STEPS) * chosen.dt)
        last = ranks.call(lambda rank: Spent())
        spent = [after[0] - start[0] for start, after in zip(first, last, strict=True)]
        counts, whole = motion.statistics(), alone.statistics()
        meetings = last[0][1] / counts["linear_iterations"]
        print(
            f"{method.__name__} at Courant {courant:g}, {len(system.energies['block'].nodes):,} tetrahedra, "
            f"{ranks.size} ranks: {counts['linear_iterations'] / counts['corrections']:.1f} iterations a correction "
            f"(one process {whole['linear_iterations'] / whole['corrections']:.1f}), "
            f"{counts['corrections']:.0f} corrections ({whole['corrections']:.0f}), "
            f"{meetings:.2f} sums over ranks an iteration; "
            f"processor time {max(spent):.2f} s on the slowest rank, {one:.2f} s in one process"
        )


if __name__ == "__main__":
    with sx.parallel.Ranks() as world:
        if world.leads:
            main(world)
        else:
            world.serve()
