"""Microseconds per step of rigid bodies, mechanisms and beams: by the compiled loop, and by the general method.

    OMP_NUM_THREADS=1 python benchmarks/multibody_steps.py [--systems NAME ...] [--methods NAME ...] [--output FILE]

A body that tumbles alone, a heavy top, the double pendulum, the four-bar linkage, the slider-crank with a flexible rod
and Andrews' squeezer of the examples, and the flying spaghetti in 5, 10 and 20 beams. RATTLE in general calls
joints back in Python; it is for rigid bodies only here. All times are processor times of one process, the best of
several runs; so take ratios between columns.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any
from unittest.mock import patch

import numpy as np

import symplex as sx
from symplex.fem.structures import BeamProperties, Frames, Joint, beams, body_particles
from symplex.time.solvers.newton import Newton

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
from mechanisms import double_pendulum, four_bar, slider_crank  # pyright: ignore[reportMissingImports]
from squeezer import squeezer  # pyright: ignore[reportMissingImports]

RUNS = 3
SOFT = BeamProperties(1e4, (1e4, 1e4), (500.0, 500.0), 500.0, 1.0, (10.0, 10.0))  # Simo and Vu-Quoc (1988)
GENERAL = Newton(linear="sparse")  # to name a solver leaves all to the general method
METHODS: dict[str, Callable[..., sx.Integrator]] = {
    "energy-momentum": sx.EnergyMomentum,
    "midpoint": sx.Midpoint,
    "generalised-α": sx.GeneralizedAlpha,
    "RATTLE": lambda dt: sx.Rattle(dt, {}),
}


def body() -> tuple[sx.System, sx.State]:
    """Return a body that tumbles about its middle axis."""
    points, mass = body_particles(1.0, [0.0, 0.0, 0.0], [0.1, 0.2, 0.3])
    frames = Frames([[0, 1, 2, 3]], points)
    system = sx.System(mass, {}, frames=frames)
    return system, system.state(points, frames.velocities(points, [0.1, 0.0, 0.0], [0.02, 3.0, 0.01]))


def top() -> tuple[sx.System, sx.State]:
    """Return a heavy top on a spherical joint, which precesses and nods."""
    points, mass = body_particles(1.0, [0.0, 0.3, 0.4], [0.1, 0.1, 0.05], [[1, 0, 0], [0, 0.8, -0.6], [0, 0.6, 0.8]])
    frames = Frames([[0, 1, 2, 3]], points)
    joints = {"tip": Joint("spherical", (frames.nodes[0], None), points, [0.0, 0.0, 0.0])}
    system = sx.System(mass, {"weight": sx.Gravity(mass, (0.0, 0.0, -9.81))}, frames=frames, joints=joints)
    spin = np.array([0.0, 0.6, 0.8]) * 100.0
    return system, system.state(points, np.cross(spin, points))


def spaghetti(n: int) -> tuple[sx.System, sx.State]:
    """Return a free beam that spins, drifts, and is bent by its velocities."""
    part, ends = np.linspace(0.0, 1.0, n + 1)[:, None], np.arange(n, dtype=np.int32)
    line = sx.Mesh((1.0 - part) * [6.0, 0.0, 0.0] + part * [0.0, 8.0, 0.0], {"line": np.column_stack([ends, ends + 1])})
    built = beams(line, SOFT, (0.0, 0.0, 1.0), extent=1.0)
    system = sx.System(built.mass, {"beams": built.energy}, frames=built.frames)
    centers, spin = built.frames.centers(built.points), np.array([0.3, -0.2, 0.4])
    v = np.array([0.5, 0.1, -0.2]) + np.cross(spin, centers)
    v[:, 2] += 3.0 * np.sin(np.linspace(0.0, np.pi, n + 1))
    return system, system.state(built.points, built.frames.velocities(built.points, v, spin))


# With the steps in s.
SYSTEMS: dict[str, tuple[Callable[[], tuple[Any, ...]], float]] = {
    "rigid body": (body, 0.02),
    "heavy top": (top, 0.002),
    "double pendulum": (double_pendulum, 0.005),
    "four-bar linkage": (four_bar, 0.002),
    "slider-crank, rod of beams": (lambda: slider_crank(0.004), 0.001),
    "Andrews' squeezer": (squeezer, 2e-5),
    "spaghetti, 5 beams": (lambda: spaghetti(5), 0.05),
    "spaghetti, 10 beams": (lambda: spaghetti(10), 0.05),
    "spaghetti, 20 beams": (lambda: spaghetti(20), 0.05),
}


def measured(
    integrator: sx.Integrator, system: sx.System, start: sx.State, dt: float, steps: int
) -> tuple[float, float]:
    """Return the shortest processor time of a step in µs, and the corrections in a step."""
    motion: Any = integrator.start(system, start)
    motion.advance(2 * dt)  # compiles
    times, n = [], 2
    for _ in range(RUNS):
        begun = process_time()
        n += steps
        motion.advance(n * dt)
        times.append(process_time() - begun)
    return 1e6 * min(times) / steps, motion.statistics()["corrections"] / motion.n


def main() -> None:
    """Measure, print a table in Markdown, and write the numbers if requested."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--systems", nargs="+", choices=list(SYSTEMS), default=list(SYSTEMS))
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--output", type=Path, help="JSON file for the numbers")
    arguments = parser.parse_args()
    numbers: dict[str, dict[str, dict[str, float]]] = {}
    for method in arguments.methods:
        print(f"\n| {method} | unknowns | corrections | general, µs | compiled, µs | ratio |")
        print("| --- " * 6 + "|")
        for name in arguments.systems:
            make, dt = SYSTEMS[name]
            system, start, *_ = make()
            if method == "RATTLE" and "beam" in name:
                continue
            integrator = METHODS[method]
            if method == "RATTLE":
                with patch.object(Joint, "condition_calls", lambda joint, dim: None):
                    slow, _ = measured(integrator(dt), system, start, dt, 100)
            else:
                slow, _ = measured(integrator(dt, newton=GENERAL), system, start, dt, 100)
            fast, corrections = measured(integrator(dt), system, start, dt, 400)
            unknowns = 6 * len(system.frames) + (system.joints.size if system.joints else 0)
            row = {"unknowns": unknowns, "corrections": corrections, "general": slow, "compiled": fast}
            numbers.setdefault(method, {})[name] = row
            print(
                f"| {name} | {unknowns} | {corrections:.1f} | {slow:.0f} | {fast:.3g} | {slow / fast:.0f} |", flush=True
            )
    if arguments.output:
        arguments.output.write_text(json.dumps(numbers, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
