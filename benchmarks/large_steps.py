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
METHODS = {"trapezoidal rule": lambda h, newton: HilberHughesTaylor(h, alpha=0.0, newton=newton)}
METHODS["energy-momentum"] = lambda h, newton: EnergyMomentum(h, newton=newton)


def body(slenderness: int, unknowns: float) -> tuple[System, np.ndarray, np.ndarray]:
    """Return a cube (slenderness 1) or a cantilever, its points [n, 3] and the velocities [n, 3] of its vibration."""
    # A cell has four nodes of its own: its corner, centre and three faces; those at the surface have more.
    cells = max(1, round((unknowns / 15 / slenderness) ** (1 / 3)))
    if slenderness > 1:
        cells = max(1, cells - (cells > 1))
    mesh = box((slenderness * THICKNESS, THICKNESS, THICKNESS), (slenderness * cells, cells, cells))
    x, tets = mesh.points, mesh.cells["tetra"]
    mass = lumped_mass(x, tets, DENSITY, len(x))
    speed = np.sqrt(70e9 / DENSITY)  # of longitudinal waves in a bar
    length = slenderness * THICKNESS
    if slenderness == 1:
        return System(mass, {"strain": Solid(x, tets, LAW)}), x, STRAIN * speed * np.sin(30.0 * x[:, [1, 2, 0]])
    fixed = np.repeat((x[:, :1] < 1e-9), 3, axis=1)
    v = np.zeros_like(x)
    frequency = 1.875**2 * speed * THICKNESS / np.sqrt(12.0) / length**2
    v[:, 1] = STRAIN * length**2 / THICKNESS * frequency * (x[:, 0] / length) ** 2
    return System(mass, {"strain": Solid(x, tets, LAW)}, fixed=fixed), x, v


def step_of(method: str, system: System, state: State, h: float, steps: int, linear: str) -> dict[str, float]:
    """Return seconds and counts per step."""
    motion = METHODS[method](h, Newton(linear=linear)).start(system, state)
    before, start = motion.statistics(), process_time()
    numbers: dict[str, float] = {}
    try:
        motion.advance(steps * h)
    except StepFailed as error:
        print(f"    ({method}: {error})")
        return {"seconds": np.nan}
    numbers["seconds"] = (process_time() - start) / steps
    after = motion.statistics()
    for name in ("corrections", "linear_iterations", "factorisations", "direct", "shifted", "indefinite"):
        numbers[name] = (after.get(name, 0) - before.get(name, 0)) / steps
    return numbers


def warm_up(linear: str) -> None:
    """Compile all that is measured: with iterations and with complete factors."""
    system, x, v = body(100, 3000)
    for method in METHODS:
        for courant in (1, 1e4):
            h = courant * stable_step(system, x)
            step_of(method, system, system.state(x, v), h, 1, linear)


def main() -> None:
    """Measure, print a table in Markdown, and write the numbers if wanted."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bodies", nargs="+", default=["cube", "beam20", "beam100"])
    parser.add_argument("--unknowns", type=float, nargs="+", default=[3000])
    parser.add_argument("--courant", type=float, nargs="+", default=[1, 20, 200, 1000, 1e4, 1e5])
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--linear", default="auto")
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
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
            for courant in arguments.courant:
                h = courant * stable
                v = vibration.copy()
                if name == "cube":
                    v += np.cross([0.0, 0.0, TURN / h], x - 0.5 * THICKNESS)
                state = system.state(x, v)
                row = {}
                for method in arguments.methods:
                    row[method] = found = step_of(method, system, state, h, arguments.steps, arguments.linear)
                    numbers[f"{name}, {x.size}, {courant:g}, {method}"] = found
                    print(f"  {courant:8g} {method:16}", " ".join(f"{k} {v:.4g}" for k, v in found.items()), flush=True)
                times = [found["seconds"] for found in row.values()]
                print(f"  {courant:8g} ratio {times[-1] / times[0]:.2f}", flush=True)
    if arguments.output:
        arguments.output.write_text(json.dumps(numbers, indent=1))


if __name__ == "__main__":
    main()
