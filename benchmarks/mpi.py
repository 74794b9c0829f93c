"""Explicit Newmark on several ranks: what is computed twice and sent, how much work and memory each rank has.

    python benchmarks/mpi.py parts               ghosts, messages and bytes by the number of ranks, without MPI
    mpiexec -n 2 python benchmarks/mpi.py steps  the work of a step in parts against the whole
    mpiexec -n 2 python benchmarks/mpi.py memory what memory each rank takes
    mpiexec -n 2 python benchmarks/mpi.py rows   a row of the history by sums of parts, and from nodes that are gathered

Work is processor time of the loops, which other processes on the machine leave alone; the least of several. Wall
times, also with messages that arrive late, are those of `mpi_steps.py`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import symplex as sx
from symplex.fem.compiled import threads
from symplex.parallel.division import Division
from symplex.parallel.member import Command, Member
from symplex.parallel.motion import InParts
from symplex.parallel.part_system import SubdomainSystem
from symplex.parallel.partition import owners

RUBBER = sx.NeoHookean(lmbda=6e6, mu=4e6, density=1000.0)
STEPS, TRIALS = 20, 7


def block(elements: int, stretch: float = 2.0) -> tuple[sx.System, sx.State]:
    """Return about so many tetrahedra in a block, twice as long as it is wide."""
    n = max(round((elements / 6.0 / stretch) ** (1.0 / 3.0)), 1)
    mesh = sx.box((stretch, 1.0, 1.0), (round(stretch * n), n, n), split="6")
    cells = mesh.cells["tetra"]
    mass = sx.lumped_mass(mesh.points, cells, RUBBER.density, len(mesh.points))
    system = sx.System(mass, {"block": sx.Solid(mesh.points, cells, RUBBER)})
    velocity = 0.1 * np.sin(3.0 * mesh.points)
    return system, system.state(mesh.points, velocity)


def parts() -> None:
    """Print what parts cost by counts: elements that are computed more than once, and what is sent."""
    print(
        "   elements  ranks  on several ranks  and inner twice  ghosts/node  bytes/step of a rank  messages  interface"
    )
    for elements in (41_000, 330_000):
        system, state = block(elements)
        nodes = system.energies["block"].nodes
        for ranks in (2, 4, 8, 64):
            owner = owners(state.q, [nodes], ranks)
            division = Division(owner, {"block": nodes}, ranks)
            shares = [division.share(rank) for rank in range(ranks)]
            around = sum(len(np.union1d(share.inner["block"], share.outer["block"])) for share in shares)
            computed = sum(len(share.inner["block"]) + len(share.outer["block"]) for share in shares)
            ghosts = sum(len(share.nodes) - share.ghosts for share in shares)
            sent = max(sum(8 + 24 * len(one.sent) for one in share.neighbours) for share in shares)
            messages = max(len(share.neighbours) for share in shares)
            # Parts by elements: each to the owner of its first node; forces at shared nodes are sent both ways.
            shared = _shared(nodes, owner[nodes[:, 0]], len(owner))
            print(
                f"{len(nodes):11,}  {ranks:5}  {around / len(nodes) - 1:15.1%}  {computed / len(nodes) - 1:15.1%}"
                f"  {ghosts / len(owner):10.1%}  {sent:20,}  {messages:8}  {24 * shared / ranks:,.0f} bytes by sums"
            )


def _shared(nodes: np.ndarray, rank: np.ndarray, n: int) -> int:
    """Return how often nodes are on a rank next to another one that they are on, if elements are divided."""
    pairs = np.unique(np.repeat(rank.astype(np.int64), nodes.shape[1]) * n + nodes.ravel())
    times = np.bincount(pairs % n, minlength=n)
    return int((times * (times - 1)).sum())


class Timed:
    """Take steps, and tell the processor time of the loops over elements in each."""

    def __init__(self, steps: int):
        self.steps = steps

    def __call__(self, member: Member) -> float:
        """Do it on one rank."""
        spent, added = [0.0], SubdomainSystem._added

        def timed(self: SubdomainSystem, *arguments: Any) -> Any:
            before = process_time()
            found = added(self, *arguments)
            spent[0] += process_time() - before
            return found

        SubdomainSystem._added = timed
        try:
            member.steps(self.steps)
        finally:
            SubdomainSystem._added = added
        return spent[0] / self.steps


def steps(ranks: sx.parallel.Ranks) -> None:
    """Print the work of the ranks in a step, and that of one process with one thread."""
    for elements in (41_000, 82_000):
        system, state = block(elements)
        method = sx.Newmark().fit(system, state, 1.0)
        motion = InParts(method, ranks).start(system, state)
        motion.advance(method.dt)
        whole, out = [], np.zeros_like(state.q)
        of_ranks = []
        for _ in range(TRIALS):
            before = process_time()
            with threads.limited(1):
                for _ in range(STEPS):
                    system.gradient(state.q, out)
            whole.append((process_time() - before) / STEPS)
            of_ranks.append(ranks.call(lambda rank: Timed(STEPS)))
        least = np.min(of_ranks, axis=0)
        print(
            f"{len(system.energies['block'].nodes):,} tetrahedra on {ranks.size} ranks: elements of the whole "
            f"{1e3 * min(whole):.2f} ms, of the ranks {', '.join(f'{1e3 * one:.2f}' for one in least)} ms; "
            f"efficiency of the work {min(whole) / ranks.size / least.max():.2f}"
        )


class Spent:
    """Do another command, and tell its processor time."""

    def __init__(self, command: Command):
        self.command = command

    def __call__(self, member: Member) -> float:
        """Do it on one rank."""
        before = process_time()
        self.command(member)
        return process_time() - before


def rows(ranks: sx.parallel.Ranks) -> None:
    """Print the processor time of a row of the history on each rank, by sums of parts and from all nodes."""
    for elements in (41_000, 164_000):
        system, state = block(elements)
        method = sx.Newmark().fit(system, state, 1.0)
        motion = InParts(method, ranks).start(system, state)
        motion.advance(method.dt)
        gathered: list[list[float]] = []
        summed: list[list[float]] = []
        for _ in range(TRIALS):
            gathered.append(ranks.call(lambda rank: Spent(Member.all_arrays)))
            summed.append(ranks.call(lambda rank: Spent(Member.sums)))
            before = process_time()
            motion._gather()
            arrays = motion.arrays()
            whole = sx.State(motion.t, *(arrays[name].copy() for name in ("q", "v", "a")))
            with threads.limited(1):
                (system.energies_of(whole), system.momentum(whole), system.angular_momentum(whole))
            gathered[-1][0] = process_time() - before
        for name, found in (("from all nodes", gathered), ("by sums", summed)):
            least = np.min(found, axis=0)
            reported = ", ".join(f"{1e3 * one:.2f}" for one in least)
            print(
                f"{len(system.energies['block'].nodes):,} tetrahedra, a row {name}: {reported} ms on the ranks",
                flush=True,
            )


class Memory:
    """Return what memory the process has, and the most that it has had, in MB."""

    def __call__(self, member: Member) -> tuple[float, float]:
        """Do it on one rank."""
        words = Path("/proc/self/status").read_text().split()
        return tuple(int(words[words.index(name) + 1]) / 1024 for name in ("VmRSS:", "VmHWM:"))  # type: ignore


def memory(ranks: sx.parallel.Ranks) -> None:
    """Print the memory of ranks before there is a mesh, when each has its part, and after some steps."""

    def reported(when: str) -> None:
        found = ", ".join(f"{now:.0f} ({most:.0f})" for now, most in ranks.call(lambda rank: Memory()))
        print(f"{when}: {found} MB now (at most) on the ranks", flush=True)

    reported("at the start")
    system, state = block(1_000_000)
    method = sx.Newmark(1e-7)
    motion = InParts(method, ranks).start(system, state)
    del state
    reported(f"{len(system.energies['block'].nodes):,} tetrahedra, before they are divided")
    motion.advance(0.0)
    reported("when each has its part")
    for n in range(1, 4):
        motion.energies(motion.advance(n * method.dt))
    reported("after samples")
    motion.checkpoint()
    reported("with a checkpoint of the whole")


if __name__ == "__main__":
    what = sys.argv[1] if len(sys.argv) > 1 else "parts"
    if what == "parts":
        parts()
    else:
        for hides in (True, False) if what != "memory" else (False,):
            with sx.parallel.Ranks(hides=hides) as world:
                if world.leads:
                    print("the exchange is hidden" if hides else "the exchange is not hidden", flush=True)
                if world.leads:
                    {"memory": memory, "rows": rows, "steps": steps}[what](world)
                else:
                    world.serve()
