"""Wall time of explicit steps on several ranks: next to threads, on larger meshes, and with messages that arrive late.

    mpiexec -n 2 python benchmarks/mpi_steps.py efficiency
    mpiexec -n 2 python benchmarks/mpi_steps.py delay
    mpiexec -n 8 python benchmarks/mpi_steps.py bits       with more ranks than processors, too

All that is compared is timed in turns in one run, the time is that of the slowest rank, and the least of several
trials counts. It needs as many processors as ranks, with little else on them; with ``--pin`` each rank, and each
thread, keeps its own, where an operating system with much to do may put two on the same. For counts and
processor time see `mpi.py`.
"""

from __future__ import annotations

import argparse
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from time import perf_counter
from typing import Any

import numpy as np
from mpi import block

import symplex as sx
from symplex.fem.compiled import threads
from symplex.parallel.halo import Halo
from symplex.parallel.member import Failure, Member
from symplex.parallel.motion import InParts
from symplex.time.explicit.newmark import Newmark, NewmarkMotion

TRIALS, SECONDS = 40, 0.03  # how often each is timed, and for about how long
DELAYS = 0.0, 50e-6, 200e-6, 1e-3
KEPT: dict[str, Any] = {}  # the parts that this rank has, by name


@dataclass
class Keep:
    """Keep the part that the rank has under a name; tell its nodes, its ghosts, and what it sends in a step."""

    name: str

    def __call__(self, member: Member) -> tuple[int, int, int, int]:
        """Do it on one rank."""
        KEPT[self.name] = member._motion, member._system
        share, halo = member.part.share, member.halo
        return share.ghosts, len(share.nodes) - share.ghosts, halo.bytes, halo.messages


@dataclass
class Timed:
    """Take steps of a part that is kept, with messages that arrive late; tell how long one takes in s."""

    name: str
    steps: int
    delay: float = 0.0

    def __call__(self, member: Member) -> float:
        """Do it on one rank."""
        member._motion, member._system = KEPT[self.name]
        pin(member.comm.rank)
        Late.delay = self.delay
        member.comm.Barrier()
        began = perf_counter()
        failure = member.steps(self.steps)
        assert not isinstance(failure, Failure), failure
        return (perf_counter() - began) / self.steps


def pin(first: int) -> None:
    """Keep this thread on a processor, and threads of its team on the next ones, if that is asked for."""
    if not Pinned.requested:
        return
    for thread in threading.enumerate():
        helper = int(thread.name.removeprefix("symplex_team_")) + 1 if "symplex_team" in thread.name else 0
        if helper or thread is threading.current_thread():
            os.sched_setaffinity(thread.native_id or 0, {(first + helper) % (os.cpu_count() or 1)})


class Pinned:
    """Whether threads and ranks keep a processor."""

    requested = False


class Late:
    """A network that takes its time: what is sent as an exchange starts is there when a delay is over."""

    delay, _started = 0.0, 0.0
    _start, _finish = Halo.start, Halo.finish

    @classmethod
    def install(cls) -> None:
        """Let all exchanges be late."""

        def start(halo: Halo, q: np.ndarray) -> None:
            cls._start(halo, q)
            cls._started = perf_counter()

        def finish(halo: Halo, q: np.ndarray) -> None:
            while perf_counter() < cls._started + cls.delay:
                pass
            cls._finish(halo, q)

        Halo.start, Halo.finish = start, finish


def kept(ranks: sx.parallel.Ranks, name: str, elements: int, hides: bool, dt: float) -> list[tuple[int, ...]]:
    """Let ranks keep their parts of a block under a name; return what each has and sends."""
    ranks.hides = hides
    system, state = block(elements)
    motion = InParts(Newmark(dt), ranks).start(system, state)
    motion.advance(dt)
    return ranks.call(lambda rank: Keep(name))


def one_process(elements: int, dt: float) -> tuple[NewmarkMotion, int]:
    """Return the motion of a block in one process that has begun, and its number of elements."""
    system, state = block(elements)
    motion = Newmark(dt).start(system, state)
    assert isinstance(motion, NewmarkMotion)
    motion.advance(dt)
    return motion, len(system.energies["block"].nodes)


def timed_alone(motion: NewmarkMotion, number: int, most: int) -> float:
    """Return the time of a step in s in one process, with at most so many threads."""
    pin(0)
    with threads.limited(most):
        began = perf_counter()
        motion.approach(motion.t0 + (motion.n + number) * motion.dt, inf)
        return (perf_counter() - began) / number


def in_turns(calls: Mapping[str, Callable[[], float]]) -> dict[str, float]:
    """Return the least time of each of several calls, which are made in turns."""
    found: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(TRIALS):
        for name, call in calls.items():
            found[name].append(call())
    return {name: min(times) for name, times in found.items()}


def stable(elements: int) -> float:
    """Return a step in s that is stable for a block."""
    system, state = block(elements)
    return Newmark().fit(system, state, 1.0).dt


def efficiency(ranks: sx.parallel.Ranks, sizes: list[int]) -> None:
    """Print speed-ups of threads and ranks over one thread, with the same mesh and with one larger for each rank."""
    size = ranks.size
    for elements in sizes:
        dt = stable(size * elements)  # also for the smaller mesh
        reported = {
            (weak, hides): kept(ranks, f"{weak} {hides}", elements * (size if weak else 1), hides, dt)
            for weak in (False, True)
            for hides in (False, True)
        }
        motion, count = one_process(elements, dt)
        number = max(round(SECONDS / timed_alone(motion, 5, 1)), 4)

        def on(name: str, number: int = number) -> Callable[[], float]:
            return lambda: max(ranks.call(lambda rank: Timed(name, number)))

        calls: dict[str, Callable[[], float]] = {
            f"{most} threads": lambda most=most, motion=motion, number=number: timed_alone(motion, number, most)
            for most in (1, size)
        }
        times = in_turns(calls | {f"{weak} {hides}": on(f"{weak} {hides}") for weak, hides in reported})
        alone = times["1 threads"]
        print(f"{count:,} tetrahedra: {1e3 * alone:.3f} ms a step in one process with one thread", flush=True)
        print(f"  {size} threads: speed-up {alone / times[f'{size} threads']:.2f}", flush=True)
        for (weak, hides), parts in reported.items():
            gain = alone / times[f"{weak} {hides}"]
            scaled = f"efficiency {gain:.2f}" if weak else f"speed-up {gain:.2f}, efficiency {gain / size:.2f}"
            own, ghosts, sent, messages = np.max(parts, axis=0)
            print(
                f"  {size} ranks, {f'{size} times' if weak else 'the same'} mesh, {'' if hides else 'not '}hidden: "
                f"{scaled}; at most {own:,} nodes, {ghosts:,} ghosts, {sent:,} bytes in {messages} messages",
                flush=True,
            )


def delay(ranks: sx.parallel.Ranks, sizes: list[int]) -> None:
    """Print the time of a step with messages that arrive late."""
    for elements in sizes:
        dt = stable(elements)
        for hides in (False, True):
            kept(ranks, str(hides), elements, hides, dt)
        first = max(ranks.call(lambda rank: Timed("True", 5)))
        number = max(round(SECONDS / first), 4)
        times = in_turns(
            {
                f"{hides} {late}": lambda hides=hides, late=late, number=number: max(
                    ranks.call(lambda rank: Timed(str(hides), number, late))
                )
                for late in DELAYS
                for hides in (False, True)
            }
        )
        print(f"about {elements:,} tetrahedra on {ranks.size} ranks, ms a step:")
        for hides in (True, False):
            row = ", ".join(f"{1e6 * late:.0f} µs late {1e3 * times[f'{hides} {late}']:.3f}" for late in DELAYS)
            print(f"  {'hidden' if hides else 'not hidden'}: {row}", flush=True)


def bits(ranks: sx.parallel.Ranks, sizes: list[int]) -> None:
    """Print whether ranks come to the bits of one process."""
    for elements in sizes:
        found = []
        for hides in (None, True, False):
            system, state = block(elements)
            method = Newmark(stable(elements))
            ranks.hides = bool(hides)
            motion = (method if hides is None else InParts(method, ranks)).start(system, state)
            end = motion.advance(50 * method.dt)
            found.append((end.q, end.v, end.a))
        same = all(np.array_equal(a, b) for one in found[1:] for a, b in zip(found[0], one, strict=True))
        print(
            f"{elements:,} tetrahedra, 50 steps on {ranks.size} ranks: {'the same bits' if same else 'other bits'}",
            flush=True,
        )


def main() -> None:
    """Measure on the ranks that there are."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("what", choices=["efficiency", "delay", "bits"])
    parser.add_argument("--tetrahedra", type=int, nargs="+", default=[41_000, 164_000, 500_000])
    parser.add_argument("--pin", action="store_true", help="keep each rank, and each thread, on its own processor")
    arguments = parser.parse_args()
    Late.install()
    Pinned.requested = arguments.pin
    with sx.parallel.Ranks() as world:
        if world.leads:
            {"efficiency": efficiency, "delay": delay, "bits": bits}[arguments.what](world, arguments.tetrahedra)
        else:
            world.serve()


if __name__ == "__main__":
    main()
