"""Microseconds per step of small trusses by several methods, next to a loop written for nothing else.

    python benchmarks/small_systems.py [--bars 1 10 100 1000] [--methods newmark ...] [--output FILE.json]

The truss is a chain of springs that hangs between two supports in gravity, swinging, above a plane that it meets; of
rods, which RATTLE takes, it hangs from one. Damped, it has a dashpot along each bar, and drag on its masses; driven,
forces by a sine on all masses and by a table on one; turning, it is in a frame that rotates; rubbing, the plane has
friction. All times are processor times of one process, the best of several runs; so take ratios between rows.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from math import sin
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from symplex.contact.friction import Friction
from symplex.contact.obstacles import HalfSpace
from symplex.contact.rigid import RigidContact
from symplex.fem.actions.damping import Dashpots, Drag
from symplex.fem.actions.loads import Gravity, NodalLoad
from symplex.fem.compiled.kernels import kernel
from symplex.fem.measures.bars import Bars
from symplex.fem.measures.constraints import RigidBars
from symplex.fem.measures.pair_laws import EngineeringStrain
from symplex.fem.state import State
from symplex.fem.system import System
from symplex.time.composition import Composition
from symplex.time.conserving.energy_momentum import EnergyMomentum
from symplex.time.conserving.graham_jelenic import GrahamJelenic
from symplex.time.constraints.multipliers import project
from symplex.time.constraints.rattle import Rattle, RattleMotion
from symplex.time.explicit.newmark import Newmark, NewmarkMotion
from symplex.time.implicit.midpoint import Midpoint
from symplex.time.integrator import Integrator
from symplex.time.modes.rotating import rotating_frame
from symplex.time.solvers.newton import Newton
from symplex.time.variational.adaptive_variational import AdaptiveVariational
from symplex.time.variational.zhang_skeel import ZhangSkeel, ZhangSkeelMotion

STIFFNESS, LENGTH, MASS, PLANE = 1e5, 0.1, 0.1, 1e5
STEP = 1e-4  # s; ω dt is 0.2

# To name the solver that is taken for sizes of up to 2000 unknowns leaves all else to the general method.
DENSE, SPARSE = Newton(linear="dense"), Newton(linear="sparse")
OUTSIDE = ("gravity", "plane")  # of schemes made of secant matrices
FROM_PYTHON = ", from Python"  # with energies called from Python in each step
# What acts besides: dampers, loads that change with time, a frame that turns, friction on the plane
LOADS = DAMPED, DRIVEN, TURNING, RUBBING = ", damped", ", driven", ", turning", ", rubbing"
METHODS: dict[str, Callable[[], Integrator]] = {
    "newmark": lambda: Newmark(STEP),
    "composition 4": lambda: Composition(Newmark(STEP)),
    "M4": lambda: GrahamJelenic(STEP, "M4", OUTSIDE),
    "CM4": lambda: GrahamJelenic(STEP, "CM4", OUTSIDE),
    "CM6": lambda: GrahamJelenic(STEP, "CM6", OUTSIDE),
    "CM8": lambda: GrahamJelenic(STEP, "CM8", OUTSIDE),
    "Graham-Jelenic EM": lambda: GrahamJelenic(STEP, "EM"),
    "adaptive": lambda: AdaptiveVariational(STEP),
    "adaptive, dense": lambda: AdaptiveVariational(STEP, newton=DENSE),
    "adaptive, sparse": lambda: AdaptiveVariational(STEP, newton=SPARSE),
    "zhang-skeel": lambda: ZhangSkeel(STEP),
    "energy-momentum": lambda: EnergyMomentum(STEP),
    "energy-momentum, dense": lambda: EnergyMomentum(STEP, newton=DENSE),
    "energy-momentum, sparse": lambda: EnergyMomentum(STEP, newton=SPARSE),
    "midpoint": lambda: Midpoint(STEP),
    "midpoint, dense": lambda: Midpoint(STEP, newton=DENSE),
    "midpoint, sparse": lambda: Midpoint(STEP, newton=SPARSE),
    "trapezoidal": lambda: Newmark.trapezoidal(STEP),
}
LOADED = ("newmark", "energy-momentum", "midpoint", "trapezoidal")
METHODS |= {name + loads: METHODS[name] for loads in LOADS for name in LOADED}


def chain(bars: int) -> tuple[System, State]:
    """Return a chain of springs between two supports, and a state in which it swings."""
    n = bars + 1
    x = np.zeros((n, 3))
    x[:, 0] = LENGTH * np.arange(n)
    fixed = np.zeros((n, 3), bool)
    fixed[[0, -1] if bars > 1 else [0]] = True
    mass = np.full(n, MASS)
    energies = {
        "springs": Bars(np.column_stack([np.arange(bars), np.arange(1, n)]), EngineeringStrain(STIFFNESS, LENGTH)),
        "gravity": Gravity(mass, (0.0, 0.0, -9.81)),
        "plane": RigidContact(np.arange(n), HalfSpace((0.0, 0.0, -0.01), (0.0, 0.0, 1.0)), PLANE),
    }
    system = System(mass, energies, fixed=fixed)
    v = np.where(fixed, 0.0, np.column_stack([np.zeros(n), np.sin(np.arange(n)), np.zeros(n)]))
    return system, system.state(x, v)


def loaded(system: System, loads: str) -> System:
    """Return a chain on which something acts besides."""
    if loads == TURNING:
        return rotating_frame(system, (0.0, 0.3, 1.0))
    if loads == DAMPED:
        acting = {"dashpots": Dashpots(system.energies["springs"].nodes, 1.0), "drag": Drag(system.mass, 0.1)}
    elif loads == RUBBING:
        plane = system.energies["plane"]
        assert isinstance(plane, RigidContact)
        acting = {"friction": Friction(plane, 0.3, slip_speed=0.01)}
    else:
        n, table = system.n_nodes, ([0.0, 0.01, 0.02], [0.0, 1.0, 0.5])
        acting = {
            "swing": NodalLoad(np.arange(n), (0.0, 0.05, 0.0), sine),
            "push": NodalLoad([n - 1 if n == 2 else n // 2], (0.0, 0.0, 1.0), table),
        }
    return System(system.mass, system.energies, fixed=system.fixed, loads=acting)


def sine(t: float) -> float:
    """Return the factor of the load that swings."""
    return sin(300.0 * t)


@kernel
def bare_steps(n, dt, q, v, a, pairs, inverse_mass):
    """Velocity Verlet of the same chain: springs, gravity and the plane in one loop."""
    for _ in range(n):
        for i in range(len(q)):
            for k in range(3):
                v[i, k] += 0.5 * dt * a[i, k]
                q[i, k] += dt * v[i, k]
                a[i, k] = 0.0
            a[i, 2] = -9.81 * MASS - PLANE * min(q[i, 2] + 0.01, 0.0)
        for e in range(len(pairs)):
            i, j = pairs[e, 0], pairs[e, 1]
            x, y, z = q[i, 0] - q[j, 0], q[i, 1] - q[j, 1], q[i, 2] - q[j, 2]
            pull = STIFFNESS * (1.0 - LENGTH / np.sqrt(x * x + y * y + z * z))
            a[i, 0] -= pull * x
            a[i, 1] -= pull * y
            a[i, 2] -= pull * z
            a[j, 0] += pull * x
            a[j, 1] += pull * y
            a[j, 2] += pull * z
        for i in range(len(q)):
            for k in range(3):
                a[i, k] *= inverse_mass[i, k]
                v[i, k] += 0.5 * dt * a[i, k]


def best(run: Callable[[int], object], steps: int) -> float:
    """Return the shortest processor time of a step in µs, in runs of so many steps."""
    run(steps)
    times = []
    for _ in range(5):
        start = process_time()
        run(steps)
        times.append(process_time() - start)
    return 1e6 * min(times) / steps


def bare(system: System, state: State, steps: int) -> float:
    """Return the time of a step of the loop in µs, after a comparison of its motion with that of `Newmark`."""
    q, v, a = state.q.copy(), state.v.copy(), system.accelerations_at(0.0, state.q, state.v)
    pairs = np.ascontiguousarray(system.energies["springs"].nodes)
    inverse_mass = np.where(system.fixed, 0.0, 1.0 / MASS)
    bare_steps(50, STEP, q, v, a, pairs, inverse_mass)
    same = Newmark(STEP).start(system, state).advance(50 * STEP)
    if not np.allclose(q, same.q, rtol=0.0, atol=1e-10):
        raise SystemExit("the loop and Newmark do not agree")
    return best(lambda n: bare_steps(n, STEP, q, v, a, pairs, inverse_mass), steps)


def rods(bars: int) -> tuple[System, State, Integrator]:
    """Return a chain of rods that hangs from one support, a state of it, and RATTLE."""
    springs, state = chain(bars)
    fixed = np.zeros_like(springs.fixed)
    fixed[0] = True
    energies = {name: energy for name, energy in springs.energies.items() if name != "springs"}
    system, constraints = System(springs.mass, energies, fixed=fixed), {}
    constraints["rods"] = RigidBars(springs.energies["springs"].nodes, LENGTH)
    v = np.where(fixed, 0.0, state.v)
    return system, project(system, constraints, system.state(state.q, v)), Rattle(STEP, constraints)


def method(name: str, bars: int, steps: int) -> float:
    """Return the time of a step of a method in µs."""
    plain = name.removesuffix(FROM_PYTHON)
    if plain == "rattle":
        system, state, integrator = rods(bars)
    else:
        (system, state), integrator = chain(bars), METHODS[plain]()
    if loads := next((one for one in LOADS if plain.endswith(one)), None):
        system = loaded(system, loads)
    motion: Any = integrator.start(system, state)
    inner = getattr(motion, "inner", motion)
    if name != plain and isinstance(inner, NewmarkMotion | RattleMotion):
        inner._table = inner._loads = None  # forces are called back
    elif name != plain and isinstance(inner, ZhangSkeelMotion):
        inner._compiles = False
    elif name != plain:
        inner._compiled_steps = lambda n, sizes: 0
    if isinstance(integrator, AdaptiveVariational):
        return best(lambda n: [motion.step() for _ in range(n)], steps)
    reached = 0

    def run(n: int) -> None:
        nonlocal reached
        reached += n
        motion.advance(reached * STEP)

    return best(run, steps)


def main() -> None:
    """Measure, print a table in Markdown, and write the numbers if requested."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--bars", type=int, nargs="+", default=[1, 10, 100, 1000])
    known = [*METHODS, "rattle"]
    known += [name + FROM_PYTHON for name in known if name[0] in "rzcMCG" or name.endswith(LOADS)]
    parser.add_argument("--methods", nargs="+", choices=known, default=known)
    parser.add_argument("--output", type=Path, help="JSON file for the numbers")
    arguments = parser.parse_args()
    numbers: dict[str, dict[int, float]] = {}
    for bars in arguments.bars:
        system, state = chain(bars)
        many, few = max(2_000_000 // (bars + 10), 500), max(5000 // (bars + 10), 20)
        numbers.setdefault("bare loop", {})[bars] = bare(system, state, many)
        for name in arguments.methods:
            if bars > 200 and name.endswith("dense"):
                numbers.setdefault(name, {})[bars] = float("nan")
                continue
            steps = many if name.startswith("newmark") and not name.endswith(FROM_PYTHON) else few
            numbers.setdefault(name, {})[bars] = method(name, bars, steps)
    print("| µs per step | " + " | ".join(f"{bars} bars" for bars in arguments.bars) + " |")
    print("| --- " * (1 + len(arguments.bars)) + "|")
    for name, row in numbers.items():
        print(f"| {name} | " + " | ".join(f"{row[bars]:.3g}" for bars in arguments.bars) + " |")
    if arguments.output:
        arguments.output.write_text(json.dumps(numbers, indent=2) + "\n")


if __name__ == "__main__":
    main()
