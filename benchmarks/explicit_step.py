"""Nanoseconds per tetrahedron of the kernels of an explicit or implicit step, against the limits of this machine.

    python benchmarks/explicit_step.py [--tetrahedra 50000 500000 2000000] [--output FILE.json]

The body is the 0.1 m aluminium cube of section 6.3 of the force-stepping paper in cells of 24 tetrahedra, deformed
by some per cent. All times are the best of several calls, in one process. The limits are measured here, too:

* bandwidth (the best so far in the run), by summing an array that no cache holds; of some 88 bytes that a
  tetrahedron needs per call 72 are its nodes and constants, read once, the rest positions and forces of nodes;
* arithmetic, by polynomials that stay in registers.

`peers.py` compares them with other packages.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numba import njit

from symplex.fem.actions.mass import add_consistent_mass, lumped_mass
from symplex.fem.assembly.pattern import Pattern
from symplex.fem.compiled import threads
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.solids.solid import Solid
from symplex.fem.system import System
from symplex.meshes.generate import box
from symplex.meshes.mesh import Mesh
from symplex.time.explicit.newmark import Newmark

ALUMINIUM = NeoHookean(60.5e9, 26e9, 2700.0)
# Of the gradient, counted in `symplex.fem.solids.neo_hookean`: edges 9, cofactors 27, determinant 6, logarithm and
# pressure 28, forces 63, sums 6, scatter 12.
OPERATIONS = 151

COMPILE = """
from time import process_time
import numpy as np
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.solids.solid import Solid
points = np.vstack([np.zeros(3), np.eye(3)])
solid = Solid(points, [[0, 1, 2, 3]], NeoHookean(1.0, 1.0, 1.0))
start = process_time()
solid.add_gradient(points, np.zeros((4, 3)))
solid.total(points)
print(process_time() - start)
"""


def best(call: Callable[[], object], seconds: float = 2.0, at_least: int = 5) -> float:
    """Return the shortest time in s of some calls."""
    call()
    times: list[float] = []
    while len(times) < at_least or (sum(times) < seconds and len(times) < 1000):
        start = perf_counter()
        call()
        times.append(perf_counter() - start)
    return min(times)


# -- this machine ------------------------------------------------------------------------------------------------


@njit(nogil=True, fastmath=True)
def sum_of(a):
    total = 0.0
    for x in a:
        total += x
    return total


@njit(nogil=True, fastmath={"contract"})
def polynomials(x, y, times):
    for _ in range(times):
        for i in range(len(x)):
            t = x[i]
            p, q, r, s = t, t + 1.0, t + 2.0, t + 3.0
            for _ in range(16):
                p, q, r, s = p * t + 0.5, q * t + 0.25, r * t + 0.3, s * t + 0.1
            y[i] = p + q + r + s


def machine(number: int) -> tuple[float, float]:
    """Return the bandwidth in byte/s and the arithmetic in operations/s of a number of threads."""
    arrays = [np.ones(8_000_000) for _ in range(number)]
    small = [(np.linspace(0, 0.5, 1024), np.empty(1024)) for _ in range(number)]
    with ThreadPoolExecutor(number) as pool:
        reading = best(lambda: list(pool.map(sum_of, arrays)), at_least=20)
        computing = best(lambda: list(pool.map(lambda xy: polynomials(*xy, 200), small)), at_least=20)
    return number * 8 * 8_000_000 / reading, number * 1024 * 200 * 128 / computing


def processor() -> str:
    """Return the name of the processor."""
    info = Path("/proc/cpuinfo")
    names = [line.split(":")[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
    return names[0] if names else platform.processor()


# -- symplex -----------------------------------------------------------------------------------------------------


def body(tetrahedra: int) -> Mesh:
    """Return a mesh of about so many tetrahedra."""
    cells = max(1, round((tetrahedra / 24) ** (1 / 3)))
    return box((0.1,) * 3, (cells,) * 3)


def cube(tetrahedra: int) -> tuple[Solid, np.ndarray]:
    """Return a cube of about so many tetrahedra and its positions."""
    mesh = body(tetrahedra)
    cells = round((len(mesh.cells["tetra"]) / 24) ** (1 / 3))
    solid = Solid(mesh.points, mesh.cells["tetra"], ALUMINIUM)
    noise = np.random.default_rng(0).standard_normal(mesh.points.shape)
    return solid, 1.02 * mesh.points + 0.002 / cells * noise


def symplex_times(solid: Solid, q: np.ndarray, pattern: Pattern, number: int) -> dict[str, float]:
    """Return ns per tetrahedron of each kernel on a number of threads."""
    os.environ["SYMPLEX_THREADS"] = str(number)
    threads.count.cache_clear()
    m = len(solid.nodes)
    out = np.zeros_like(q)
    times = {"gradient": best(lambda: solid.add_gradient(q, out)), "energy": best(lambda: solid.total(q))}
    values, mass = pattern.zeros(3), np.zeros(len(pattern.indices))
    times["tangent"] = best(lambda: solid.add_hessian(q, pattern.slots[0], values))
    if number == 1:
        call = lambda: add_consistent_mass(solid.points, solid.nodes, 2700.0, pattern.slots[0], mass)  # noqa: E731
        times["mass"] = best(call)
    return {name: time / m * 1e9 for name, time in times.items()}


def whole_run(mesh: Mesh, number: int) -> dict[str, float]:
    """Return ns per tetrahedron, by the clock, of what an explicit run of a body takes, on a number of threads."""
    os.environ["SYMPLEX_THREADS"] = str(number)
    threads.count.cache_clear()
    cells = mesh.cells["tetra"]
    times: dict[str, float] = {}

    def timed(name: str, call: Callable[[], Any]) -> Any:
        start = perf_counter()
        result = call()
        times[name] = (perf_counter() - start) / len(cells) * 1e9
        return result

    mass = timed("lumped mass", lambda: lumped_mass(mesh.points, cells, 2700.0, len(mesh.points)))
    solid = timed("solid", lambda: Solid(mesh.points, cells, ALUMINIUM))
    system = System(mass, {"body": solid})
    state = timed("first state", lambda: system.state(mesh.points, mesh.points))  # with all that forces need
    motion = timed("start", lambda: Newmark("auto").start(system, state))
    steps = max(2_000_000 // len(cells), 5)
    motion.advance(steps * motion.dt)
    timed("step", lambda: motion.advance(2 * steps * motion.dt))
    times["step"] /= steps
    return times


def bytes_per_tetrahedron(solid: Solid, q: np.ndarray, pattern: Pattern) -> dict[str, float]:
    """Return what is kept in memory, and what the gradient moves per call."""
    m = len(solid.nodes)
    blocks, constants = solid.elements.blocks, solid.elements.rules[0]["geometry"]
    nodes = blocks.nodes
    kept = [solid.points, solid.nodes, solid.volumes, nodes, blocks.counts, constants, blocks.elements]
    moved = nodes.nbytes + constants.nbytes + 3 * q.nbytes  # q is read, out is read and written
    tangent = pattern.slots[0].nbytes + pattern.indices.nbytes + pattern.indptr.nbytes + pattern.zeros(3).nbytes
    couplings = solid.elements.couplings_of(pattern.slots[0], len(pattern.indices), 1.0)
    if couplings is not None:
        tangent += sum(a.nbytes for a in couplings.of_thread.value.as_dict().values() if isinstance(a, np.ndarray))
    return {"kept": sum(a.nbytes for a in kept) / m, "moved": moved / m, "of a tangent": tangent / m}


def compile_time() -> float:
    """Return the processor time in s to compile what an explicit step needs, with an empty cache."""
    with tempfile.TemporaryDirectory() as cache:
        environment = os.environ | {"NUMBA_CACHE_DIR": cache}
        run = subprocess.run([sys.executable, "-c", COMPILE], env=environment, capture_output=True, check=True)
    return float(run.stdout)


# -- report ----------------------------------------------------------------------------------------------------------


def main() -> None:
    """Measure, print tables in Markdown, and write the numbers if requested."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tetrahedra", type=int, nargs="+", default=[50_000, 500_000, 2_000_000])
    parser.add_argument("--output", type=Path, help="JSON file for the numbers")
    arguments = parser.parse_args()

    numbers: dict[str, float] = {"compile [s]": compile_time()}
    print(f"{processor()}, {os.cpu_count()} processors; load {os.getloadavg()[0]:.1f}; ", end="")
    print(f"compiling an explicit step: {numbers['compile [s]']:.1f} s of processor time\n")
    limits = {number: (0.0, 0.0) for number in (1, 2)}
    print("| tetrahedra | threads | gradient | limits: memory, arithmetic | energy | tangent | mass |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for size in arguments.tetrahedra:
        solid, q = cube(size)
        pattern = Pattern(len(q), [solid.nodes])
        memory = bytes_per_tetrahedron(solid, q, pattern)
        for number in (1, 2):
            times = symplex_times(solid, q, pattern, number)
            now, before = machine(number), limits[number]
            limits[number] = bandwidth, arithmetic = max(now[0], before[0]), max(now[1], before[1])
            times["memory limit"] = memory["moved"] / bandwidth * 1e9
            times["arithmetic limit"] = OPERATIONS / arithmetic * 1e9
            numbers |= {f"{name}, {len(solid.nodes)}, {number} threads [ns]": time for name, time in times.items()}
            cells = [
                f"{len(solid.nodes)} | {number} | {times['gradient']:.1f}",
                f"{times['memory limit']:.1f}, {times['arithmetic limit']:.1f} | {times['energy']:.1f}",
                f"{times['tangent']:.0f} | {times.get('mass', np.nan):.0f}".replace("nan", "–"),
            ]
            print("| " + " | ".join(cells) + " |", flush=True)
        numbers |= {f"bytes {name}, {len(solid.nodes)}": value for name, value in memory.items()}
    print("\n| tetrahedra | threads | lumped mass | solid | first state | start | step |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    whole_run(body(24), 1)  # compiled, or loaded
    for size in arguments.tetrahedra:
        mesh = body(size)
        m = len(mesh.cells["tetra"])
        for number in (1, 2):
            times = whole_run(mesh, number)
            numbers |= {f"{name}, {m}, {number} threads [ns]": time for name, time in times.items()}
            print(f"| {m} | {number} | " + " | ".join(f"{time:.0f}" for time in times.values()) + " |", flush=True)
    for number, (bandwidth, arithmetic) in limits.items():
        print(f"\n{number} threads: {bandwidth / 1e9:.1f} GB/s, {arithmetic / 1e9:.0f} Gflop/s", end="")
        numbers |= {f"bandwidth, {number} threads [B/s]": bandwidth, f"arithmetic, {number} threads [1/s]": arithmetic}
    print(f"\n\nBytes per tetrahedron: {memory['kept']:.0f} kept, {memory['moved']:.0f} moved by a gradient;", end=" ")
    print(f"{memory['of a tangent']:.0f} more for a tangent.\n")
    if arguments.output:
        arguments.output.write_text(json.dumps(numbers, indent=1))


if __name__ == "__main__":
    main()
