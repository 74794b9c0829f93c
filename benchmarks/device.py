"""Explicit Newmark on a CUDA device: the memory that a step moves, and how long steps take next to processors.

    python benchmarks/device.py            for 10⁵ and 10⁶ tetrahedra
    python benchmarks/device.py 3000000    for about so many

The first is counted from the arrays, on any machine; the second is measured where there is a device, by wall time.
"""

from __future__ import annotations

import sys
from time import perf_counter

import numpy as np

import symplex as sx
from symplex.device import OnDevice
from symplex.device.finding import is_simulated, require_device
from symplex.device.stencils import Stencils, stencils_of
from symplex.errors import SymplexError
from symplex.fem.compiled import threads

LAWS = {
    "neo-Hookean": sx.NeoHookean(6e6, 4e6, 1000.0),
    "Mooney-Rivlin": sx.MooneyRivlin(2e6, 1e6, 1e7, 1000.0),
    "linear": sx.LinearElastic(6e6, 4e6, 1000.0),
}
STEPS, TRIALS = 200, 5
_NUMBER, _INDEX = 8, 4  # bytes


def block(tetrahedra: int, law: sx.Material) -> tuple[sx.System, sx.State]:
    """Return about so many tetrahedra in a cube on a floor, with weight, that vibrate a little."""
    n = max(round((tetrahedra / 6.0) ** (1.0 / 3.0)), 1)
    mesh = sx.box((1.0, 1.0, 1.0), (n, n, n), split="6")
    cells = mesh.cells["tetra"]
    mass = sx.lumped_mass(mesh.points, cells, law.density, len(mesh.points))
    energies = {
        "block": sx.Solid(mesh.points, cells, law),
        "gravity": sx.Gravity(mass, (0.0, 0.0, -9.81)),
        "floor": sx.RigidContact(mesh.boundary_nodes, sx.HalfSpace((0.0, 0.0, 0.0), (0.0, 0.0, 1.0)), 1e4),
    }
    system = sx.System(mass, energies)
    return system, system.state(mesh.points, 0.1 * np.sin(3.0 * mesh.points))


def traffic(system: sx.System) -> dict[str, float]:
    """Return the bytes that each kernel reads and writes in a step, each number once, by the number of tetrahedra."""
    stencils = stencils_of(system)
    elements = next(one for one in stencils if one.kernel != "of_measure")
    coordinates, entries = system.n_nodes * system.dim, sum(one.nodes.size for one in stencils)
    sums = entries * (system.dim * _NUMBER + _INDEX) + (system.n_nodes + 1) * _INDEX
    found = {
        "drift": 5 * coordinates * _NUMBER,  # q, v, a read, q, v written
        "elements": _of(elements, system),
        "contact": sum(_of(one, system) for one in stencils if one is not elements),
        "sums and kick": sums + 5 * coordinates * _NUMBER,  # v, mass and constant forces read, v, a written
    }
    return {name: size / len(elements.nodes) for name, size in found.items()}


def _of(stencils: Stencils, system: sx.System) -> int:
    """Return the bytes of a kernel of stencils: what it knows of them, positions, and the forces that it writes."""
    known = sum(x.nbytes for x in stencils.arguments if isinstance(x, np.ndarray))
    touched = len(np.unique(stencils.nodes))
    return known + system.dim * _NUMBER * (touched + stencils.nodes.size)


def time_of(method: sx.Integrator, system: sx.System, state: sx.State) -> float:
    """Return the time of a step in s, the least of several."""
    motion = method.start(system, state)
    dt = motion.dt  # pyright: ignore[reportAttributeAccessIssue]
    motion.advance(2 * dt)  # compiled
    times = []
    for k in range(TRIALS):
        began = perf_counter()
        motion.approach((2 + (k + 1) * STEPS) * dt, np.inf)
        times.append((perf_counter() - began) / STEPS)
    return min(times)


def main(sizes: list[int]) -> None:
    """Print both."""
    for name, law in LAWS.items():
        system, _ = block(48_000, law)
        found = traffic(system)
        parts = ", ".join(f"{what} {size:.0f}" for what, size in found.items())
        print(f"{name}: {sum(found.values()):.0f} bytes a tetrahedron and step ({parts})")
    try:
        device = require_device()
    except SymplexError as error:
        print(f"Nothing is measured: {error}")
        return
    if is_simulated():
        print("Nothing is measured: this is numba's CUDA simulator.")
        return
    print(f"{device}, next to {threads.count()} threads of this machine")
    for size in sizes:
        for name, law in LAWS.items():
            system, state = block(size, law)
            m, moved = len(system.energies["block"].nodes), sum(traffic(system).values())
            there = time_of(OnDevice(sx.Newmark()), system, state)
            here = time_of(sx.Newmark(), system, state)
            print(
                f"{m:9d} tetrahedra, {name:14s} {1e9 * there / m:7.3f} ns a tetrahedron and step "
                f"({moved * m / there / 1e9:.0f} GB/s), processors {1e9 * here / m:6.2f} ns: ratio {here / there:.1f}"
            )


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or [100_000, 1_000_000])
