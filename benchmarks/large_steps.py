"""Seconds per step of energy-momentum and of the trapezoidal rule, from small steps to quasi-static ones.

    python benchmarks/large_steps.py [--bodies cube beam20 beam100] [--unknowns 3000] [--courant 1 20 200 1000 1e4 1e5]
                                     [--steps 2] [--linear auto] [--output FILE.json]

Bodies of aluminium in linear neo-Hookean tetrahedra, 24 in a cell: a free cube that turns by 0.2 rad in a step, and
cantilevers 20 and 100 times as long as thick. All vibrate in their lowest shapes with strains of 10⁻³. Courant is the
step as a multiple of the largest stable step of the explicit method. Both methods take the same steps from the same
state, one warms up first; times are processor times of this process, so take ratios, not times from another machine.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from time import process_time

os.environ.setdefault("OMP_NUM_THREADS", "1")  # for the libraries that others use

import numpy as np

from symplex.errors import StepFailed
from symplex.fem.actions.mass import lumped_mass
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.solids.solid import Solid
from symplex.fem.state import State
from symplex.fem.system import System
from symplex.meshes.generate import box
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.implicit.generalized_alpha import HilberHughesTaylor
from symplex.time.solvers.newton import Newton
from symplex.time.stability import stable_step

THICKNESS, DENSITY, STRAIN, TURN = 0.1, 2700.0, 1e-3, 0.2
LAW = NeoHookean(60.5e9, 26e9, DENSITY)
WAVES = np.sqrt(70e9 / DENSITY)  # speed in m/s of longitudinal waves in a bar


def trapezoidal_rule(h: float, newton: Newton) -> HilberHughesTaylor:
    """Return the trapezoidal rule with steps of h in s."""
    return HilberHughesTaylor(h, alpha=0.0, newton=newton)


def energy_momentum(h: float, newton: Newton) -> EnergyMomentum:
    """Return energy-momentum with steps of h in s."""
    return EnergyMomentum(h, newton=newton)


METHODS = {"trapezoidal rule": trapezoidal_rule, "energy-momentum": energy_momentum}
COUNTED = ("corrections", "linear_iterations", "direct")


def body(slenderness: int, unknowns: float) -> tuple[System, np.ndarray, np.ndarray]:
    """Return a cube (slenderness 1) or a cantilever, its points [n, 3] and the velocities [n, 3] of its vibration."""
    cells = max(1, round((unknowns / 15 / slenderness) ** (1 / 3) - (0.5 if slenderness > 1 else 0.0)))  # across
    mesh = box((slenderness * THICKNESS, THICKNESS, THICKNESS), (slenderness * cells, cells, cells))
    x, tets = mesh.points, mesh.cells["tetra"]
    mass = lumped_mass(x, tets, DENSITY, len(x))
    length = slenderness * THICKNESS
    if slenderness == 1:
        return System(mass, {"strain": Solid(x, tets, LAW)}), x, STRAIN * WAVES * np.sin(30.0 * x[:, [1, 2, 0]])
    fixed = np.repeat((x[:, :1] < 1e-9), 3, axis=1)
    v = np.zeros_like(x)
    frequency = 1.875**2 * WAVES * THICKNESS / np.sqrt(12.0) / length**2
    v[:, 1] = STRAIN * length**2 / THICKNESS * frequency * (x[:, 0] / length) ** 2
    return System(mass, {"strain": Solid(x, tets, LAW)}, fixed=fixed), x, v


def step_of(method: str, system: System, state: State, h: float, steps: int, linear: str) -> dict[str, float]:
    """Return seconds and counts per step; no seconds if a step fails."""
    motion = METHODS[method](h, Newton(linear=linear)).start(system, state)  # pyright: ignore[reportArgumentType]
    start = process_time()
    try:
        motion.advance(steps * h)
    except StepFailed as error:
        print(f"({method}: {error})")
        return {"seconds": np.nan}
    seconds, counts = process_time() - start, motion.statistics()
    return {"seconds": seconds / steps} | {name: counts.get(name, 0) / steps for name in COUNTED}


def warm_up(linear: str) -> None:
    """Compile all that is measured: with iterations and with complete factors."""
    system, x, v = body(100, 3000)
    for method in METHODS:
        for courant in (1, 1e4):
            h = courant * stable_step(system, x)
            step_of(method, system, system.state(x, v), h, 1, linear)


def main() -> None:
    """Measure, print a table in Markdown, and write the numbers if requested."""
    parser = argparse.ArgumentParser(description="Energy-momentum and the trapezoidal rule")
    parser.add_argument("--bodies", nargs="+", default=["cube", "beam20", "beam100"])
    parser.add_argument("--unknowns", type=float, nargs="+", default=[3000])
    parser.add_argument("--courant", type=float, nargs="+", default=[1, 20, 200, 1000, 1e4, 1e5])
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--linear", default="auto")
    parser.add_argument("--output", type=Path, help="JSON file for the numbers")
    arguments = parser.parse_args()
    numbers: dict[str, dict[str, float]] = {}
    print(f"load {os.getloadavg()[0]:.1f}; linear={arguments.linear}")
    warm_up(arguments.linear)
    for unknowns in arguments.unknowns:
        for name in arguments.bodies:
            system, x, vibration = body(1 if name == "cube" else int(name.removeprefix("beam")), unknowns)
            stable = stable_step(system, x)
            print(f"\n## {name}, {x.size} unknowns\n")
            print("| Courant | method | s | " + " | ".join(COUNTED) + " |\n" + "| --- " * (3 + len(COUNTED)) + "|")
            for courant in arguments.courant:
                h = courant * stable
                turn = np.cross([0.0, 0.0, TURN / h], x - 0.5 * THICKNESS) if name == "cube" else 0.0
                state = system.state(x, vibration + turn)
                for method in METHODS:
                    found = step_of(method, system, state, h, arguments.steps, arguments.linear)
                    numbers[f"{name}, {x.size}, {courant:g}, {method}"] = found
                    counts = " | ".join(f"{found.get(count, np.nan):.0f}" for count in COUNTED)
                    print(f"| {courant:g} | {method} | {found['seconds']:.4f} | {counts} |", flush=True)
                pair = [numbers[f"{name}, {x.size}, {courant:g}, {method}"]["seconds"] for method in METHODS]
                print(f"| | ratio | {pair[1] / pair[0]:.2f} |" + " |" * len(COUNTED), flush=True)
    if arguments.output:
        arguments.output.write_text(json.dumps(numbers, indent=1))


if __name__ == "__main__":
    main()
