"""Ten thousand argon atoms in free space: a warm drop that evaporates, by lists of neighbours.

    python examples/argon_cloud.py [--output DIR] [--atoms N] [--picoseconds P]

All pairs of 10⁴ atoms would be 5·10⁷; those within the cut-off of 2.5 σ are 9·10⁴, and which ones they are changes as
atoms leave the drop. The list of neighbours is renewed between steps, and with it the matrices of implicit methods.
There are no walls and no periods: energy, momentum and angular momentum are constant. Energy-momentum keeps all of them
to round-off, velocity Verlet the momenta. Units as in argon.py: nm, ns, masses of an atom, energies in them. By default
10 ps by Verlet's method, and a fiftieth of that by energy-momentum.
"""

import argparse
import json
from pathlib import Path
from time import perf_counter

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import symplex as sx

BOLTZMANN, ATOM = 1.380658e-23, 66.34e-27  # J/K, kg
EPSILON = 119.8 * BOLTZMANN / ATOM  # (m/s)², which is (nm/ns)²
KELVIN = BOLTZMANN / ATOM  # k_B times one kelvin
SIGMA = 0.341  # nm
TEMPERATURE = 240.0  # K at the start; much of it becomes potential energy
TURNS = 5.0  # rad/ns, of the drop as a whole at the start
PICOSECOND = 1e-3  # ns


def drop(atoms: int) -> tuple[sx.System, sx.State]:
    """Return a round piece of the closest packing in the plane, with the velocities of a temperature."""
    spacing = 1.12 * SIGMA
    reach = int(np.ceil(np.sqrt(atoms))) + 2
    i, j = np.meshgrid(np.arange(-reach, reach + 1), np.arange(-reach, reach + 1), indexing="ij")
    lattice = spacing * np.stack([i + 0.5 * (j % 2), 0.5 * np.sqrt(3.0) * j], axis=-1).reshape(-1, 2)
    inner = np.argsort(np.sum(lattice**2, axis=1), kind="stable")[:atoms]
    q = lattice[np.sort(inner)]  # row by row: neighbours are close in memory as well
    v = np.sqrt(TEMPERATURE * KELVIN) * np.random.default_rng(0).standard_normal(q.shape)
    v += TURNS * np.column_stack([-q[:, 1], q[:, 0]]) - v.mean(axis=0)
    pairs = sx.measures.ShortRangeLennardJones(EPSILON, SIGMA, dim=2)
    system = sx.System(np.ones(atoms), {"argon": pairs}, dim=2)
    return system, system.state(q, v)


def follow(
    method: sx.Newmark | sx.EnergyMomentum, atoms: int, duration: float, samples: int
) -> tuple[dict[str, float], list[sx.State]]:
    """Run a method from the start; return what it keeps, what it takes, and the states."""
    system, start = drop(atoms)
    method = method.fit(system, start, duration / samples)
    method.start(*drop(50)).advance(float(method.dt))  # compiles
    motion = method.start(system, start)
    lists = system.energies["argon"].version
    states, totals = [start], [system.energies_of(start)["total"]]
    began = perf_counter()
    for t in np.linspace(start.t, start.t + duration, samples + 1)[1:]:
        states.append(motion.advance(t))
        totals.append(motion.energies(states[-1])["total"])
    seconds = perf_counter() - began
    counts = motion.statistics()
    steps = counts["steps"]
    kinetic = system.kinetic(start.v)
    momentum = np.abs(np.array([system.momentum(state) for state in states]) - system.momentum(start)).max()
    spin = np.array([system.angular_momentum(state)[0] for state in states])
    size = float(np.abs(start.v).sum())
    lever = float(np.abs(start.q).sum() * np.abs(start.v).max())
    numbers = {
        "steps": steps,
        "time per step [ms]": 1e3 * seconds / steps,
        "lists of neighbours": system.energies["argon"].version - lists,
        "pairs in the last list": len(system.energies["argon"].nodes),
        "change of the energy / kinetic energy at the start": float(np.ptp(totals)) / kinetic,
        "change of the momentum / sum of those of the atoms": float(momentum) / size,
        "change of the angular momentum / sum of those of the atoms": float(np.ptp(spin)) / lever,
        "temperature at the end [K]": system.kinetic(states[-1].v) / (atoms * KELVIN),
    }
    if "corrections" in counts:
        numbers["Newton corrections per step"] = counts["corrections"] / steps
    return numbers, states


def draw(path: Path, states: list[sx.State]) -> None:
    """Draw the drop at the start and at the end, coloured by speed."""
    figure, panels = plt.subplots(1, 2, figsize=(12, 6), layout="constrained", sharex=True, sharey=True)
    fastest = 3.0 * np.sqrt(TEMPERATURE * KELVIN)
    for axes, state in zip(panels, (states[0], states[-1]), strict=True):
        speed = np.linalg.norm(state.v, axis=1)
        area = 20_000.0 / len(state.q)
        points = axes.scatter(*state.q.T, c=speed, s=area, cmap="inferno", vmin=0.0, vmax=fastest, linewidths=0)
        axes.set(title=f"t = {state.t / PICOSECOND:.3g} ps", xlabel="x (nm)", aspect="equal")
    panels[0].set_ylabel("y (nm)")
    figure.colorbar(points, ax=panels, label="speed (m/s)")
    figure.savefig(path, dpi=80)
    plt.close(figure)


def main() -> None:
    """Run both methods, write numbers.json and the picture."""
    parser = argparse.ArgumentParser(description="Argon atoms in free space, by lists of neighbours.")
    parser.add_argument("--output", type=Path, default=Path("results/argon_cloud"))
    parser.add_argument("--atoms", type=int, default=10_000)
    parser.add_argument("--picoseconds", type=float, default=10.0)
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    duration = options.picoseconds * PICOSECOND
    numbers: dict[str, float] = {"atoms": options.atoms, "all pairs": options.atoms * (options.atoms - 1) // 2}
    runs = {
        "Verlet": (sx.Newmark(5e-3 * PICOSECOND), duration),
        "energy-momentum": (sx.EnergyMomentum(10e-3 * PICOSECOND), 0.02 * duration),
    }
    for name, (method, time) in runs.items():
        found, states = follow(method, options.atoms, time, 10)
        numbers |= {f"{name}: {what}": value for what, value in found.items()}
        if name == "Verlet":
            draw(options.output / "argon_cloud.png", states)
    (options.output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    for name, value in numbers.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    main()
