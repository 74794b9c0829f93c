"""symplex on several ranks: see `stepping`."""

from __future__ import annotations

import sys
from time import perf_counter

import numpy as np
from serving import Tetrahedra
from stepping import serve_steps

import symplex as sx
from symplex.parallel.member import Member
from symplex.parallel.motion import InParts


class Timed:
    """Take steps; tell their wall time in s."""

    def __init__(self, steps: int):
        self.steps = steps

    def __call__(self, member: Member) -> float:
        """Do it on one rank."""
        member.comm.Barrier()
        began = perf_counter()
        failure = member.steps(self.steps)
        assert failure is None, failure
        return perf_counter() - began


def main() -> None:
    """Run the program."""
    problem = Tetrahedra.read(sys.argv[1])
    with sx.parallel.Ranks() as ranks:
        if not ranks.leads:
            ranks.serve()
            return
        solid = sx.Solid(problem.points, problem.cells, sx.NeoHookean(problem.lmbda, problem.mu, problem.density))
        system = sx.System(problem.lumped, {"solid": solid})
        motion = InParts(sx.Newmark(problem.dt), ranks).start(system, system.state(problem.q))
        motion.advance(problem.dt)

        def timed(steps: int) -> float:
            return max(ranks.call(lambda rank: Timed(steps)))

        def positions() -> np.ndarray:
            motion._gather()
            return motion.arrays()["q"]

        serve_steps(sx.__version__, ranks.size, timed, positions)


if __name__ == "__main__":
    main()
