"""Section 6.2 of the force-stepping paper: a cluster of seven argon atoms in the plane, its Figures 14 to 16.

    python examples/argon.py [--output DIR] [--full]

Gonzalez, Schmidt and Ortiz, "Force-stepping integrators in Lagrangian mechanics" (2010). Lengths are in nm, times in
ns, masses in those of an atom and energies in the mass of an atom times (nm/ns)². By default the first 0.05 ns, in
seconds; ``--full`` is the paper's length, 10 ns, and takes about ten minutes.
"""

import argparse
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

import symplex as sx

BOLTZMANN, ATOM = 1.380658e-23, 66.34e-27  # J/K, kg
EPSILON = 119.8 * BOLTZMANN / ATOM  # (m/s)², which is (nm/ns)²
KELVIN = BOLTZMANN / ATOM  # k_B times one kelvin
SIGMA = 0.341  # nm
# Table I
POSITIONS = np.array(
    [[0.0, 0.0], [0.02, 0.39], [0.34, 0.17], [0.36, -0.21], [-0.02, -0.40], [-0.35, -0.16], [-0.31, 0.21]]
)
VELOCITIES = np.array([[-30, -20], [50, -90], [-70, -60], [90, 40], [80, 90], [-40, 100], [-80, -60]], float)
GRIDS = (0.020, 0.005)  # nm
PAPERS_ENERGY, PAPERS_STEPS = -10.51928, {0.020: 3.12, 0.005: 0.80}  # E/ε, and average steps in fs
FEMTOSECOND = 1e-6  # ns
# The numbers of Table I, multiples of 0.01 nm, are tied on the lattices: what crosses at once at the start is no step.
TIES = 1e-10  # ns
WINDOW = 0.05  # ns, of the trajectories that are drawn
BLUE, ORANGE = "#1f4e79", "#d1622b"
PAPER = ("Jacobi", True)  # what the paper used: Jacobi coordinates and a parity-invariant triangulation

OTHERS = (("Jacobi", False), ("plain", True), ("plain", False))


def cluster() -> tuple[sx.System, sx.State]:
    """Return the cluster of Table I."""
    lennard_jones = sx.Bars(sx.measures.all_pairs(7), sx.measures.LennardJones(EPSILON, SIGMA), dim=2)
    system = sx.System(np.ones(7), {"Lennard-Jones": lennard_jones}, dim=2)
    return system, system.state(POSITIONS, VELOCITIES)


def method(coordinates: str, mirrored: bool, h: float, seed: int = 0) -> sx.Integrator:
    """Return force-stepping in plain or Jacobi coordinates, with (mirrored) or without parity-invariance.

    Parity-invariance needs the same mirrors for all atoms. In Jacobi coordinates they go through the origin; in plain
    ones they may lie anywhere.
    """
    if coordinates == "Jacobi":
        return sx.reductions.JacobiReduction(sx.ForceStepping(h, seed=seed, mirrored=mirrored))
    offset = np.random.default_rng(seed).random(2) if mirrored else None
    return sx.ForceStepping(h, seed=seed, mirrored=mirrored, offset=offset)


# -- what is recorded ---------------------------------------------------------------------------------------


@dataclass
class Record:
    """What is measured along a run, at the times of the samples."""

    states: list[sx.State] = field(default_factory=list)
    total: list[float] = field(default_factory=list)  # K + V
    energy: list[float] = field(default_factory=list)  # the conserved one: K + V_h of force-stepping
    temperature: list[float] = field(default_factory=list)  # in K
    steps: np.ndarray = field(default_factory=lambda: np.empty(0))  # in ns

    def add(self, motion: sx.Motion, state: sx.State, kinetic_integral: float) -> None:
        """Add a sample; the temperature is that of eq. 71."""
        energies = motion.energies(state)
        self.states.append(state)
        self.total.append(energies["total"])
        self.energy.append(energies.get("lattice_total", energies["total"]))
        mean_kinetic = kinetic_integral / state.t if state.t > 0 else energies["kinetic"]
        self.temperature.append(mean_kinetic / (len(state.q) * KELVIN))

    @property
    def times(self) -> np.ndarray:
        """The times of the samples in ns."""
        return np.array([state.t for state in self.states])

    def momentum(self, system: sx.System) -> np.ndarray:
        """Return the linear momentum [samples, 2]."""
        return np.array([system.momentum(state) for state in self.states])

    def angular_momentum(self, system: sx.System) -> np.ndarray:
        """Return the angular momentum [samples]."""
        return np.array([system.angular_momentum(state)[0] for state in self.states])


def sample_times(duration: float, n: int) -> np.ndarray:
    """Return n intervals over all of a run, and as many over its last 50 ps."""
    window = np.linspace(max(duration - WINDOW, 0.0), duration, n + 1)
    return np.union1d(np.linspace(0.0, duration, n + 1), window)


def follow(system: sx.System, state: sx.State, integrator: sx.Integrator, times: np.ndarray) -> Record:
    """Run force-stepping and record it; the steps and the kinetic energy exactly, from all its parabolas."""
    motion = integrator.start(system, state)
    inner: Any = getattr(motion, "inner", motion)  # the motion in Jacobi coordinates
    record = Record()
    record.add(motion, state, 0.0)
    kinetic_integral, steps, last = 0.0, [], np.empty(0)
    for t in times[1:]:
        pieces = inner.follow(t)
        # The centre of mass is at rest, so that the kinetic energy is that of the Jacobi vectors.
        kinetic_integral += kinetic_energy_integral(pieces, inner.system.lumped_mass("argon"))
        events = pieces.event_times()
        steps.append(np.diff(np.concatenate([last, events[events > state.t + TIES]])))
        last = events[-1:]
        record.add(motion, motion.advance(t), kinetic_integral)
    record.steps = np.concatenate(steps)
    return record


def kinetic_energy_integral(pieces, mass: np.ndarray) -> float:
    """Return the integral of ½ v M v over all parabolas."""
    order = np.argsort(pieces.dof, kind="stable")  # by coordinate, and in time for each
    dof = pieces.dof[order]
    begin = np.maximum(pieces.time[order], pieces.t0)
    end = np.where(np.diff(dof, append=-1) == 0, np.append(begin[1:], pieces.t1), pieces.t1)
    first = pieces.v[order] + pieces.a[order] * (begin - pieces.time[order])
    last = first + pieces.a[order] * (end - begin)
    return float(np.sum(mass[dof // pieces.shape[1]] * (end - begin) * (first**2 + first * last + last**2)) / 6.0)


def verlet(system: sx.System, state: sx.State, dt: float, times: np.ndarray) -> Record:
    """Run velocity Verlet, which is explicit Newmark, and record it at whole steps; the temperature by trapezia."""
    motion = sx.Newmark(dt=dt).start(system, state)
    every = max(round(20 * FEMTOSECOND / dt), 1)
    grid = np.unique(np.concatenate([np.arange(0, times[-1] / dt, every), np.round(times / dt)]).astype(int))
    requested = set(np.round(times / dt).astype(int).tolist())
    record = Record()
    kinetic_integral, before, n_before = 0.0, system.kinetic(state.v), 0
    for n in grid.tolist():
        now = motion.advance(n * dt)
        kinetic = system.kinetic(now.v)
        kinetic_integral += 0.5 * (before + kinetic) * dt * (n - n_before)
        before, n_before = kinetic, n
        if n in requested:
            record.add(motion, now, kinetic_integral)
    return record


# -- numbers ------------------------------------------------------------------------------------------------


def numbers_of(system: sx.System, record: Record) -> dict[str, float]:
    """Return how well energy and momenta are kept, the temperature at the end, and the steps."""
    energy, spin = np.array(record.energy), record.angular_momentum(system)
    positions = np.array([state.q for state in record.states])
    inertia = np.sum((positions - positions.mean(axis=1, keepdims=True)) ** 2, axis=(1, 2)).mean()
    mean_kinetic = record.temperature[-1] * positions.shape[1] * KELVIN
    kinetic_per_freedom = mean_kinetic / (positions[0].size - 2)  # the centre of mass is at rest
    found = {
        "energy / epsilon": float(energy[0] / EPSILON),
        "relative drift of the energy": float(np.abs(energy - energy[0]).max() / abs(energy[0])),
        "range of K + V / epsilon": float(np.ptp(record.total) / EPSILON),
        "largest momentum [atom nm/ns]": float(np.abs(record.momentum(system)).max()),
        "angular momentum, mean [atom nm^2/ns]": float(spin.mean()),
        "angular momentum, standard deviation [atom nm^2/ns]": float(spin.std()),
        "angular momentum, thermal [atom nm^2/ns]": float(np.sqrt(2.0 * kinetic_per_freedom * inertia)),
        "temperature [K]": record.temperature[-1],
    }
    if len(record.steps):
        found |= {
            "steps": len(record.steps),
            "average step [fs]": float(record.steps.mean() / FEMTOSECOND),
            "least step [fs]": float(record.steps.min() / FEMTOSECOND),
            "greatest step [fs]": float(record.steps.max() / FEMTOSECOND),
            "share of steps shorter than the average": float(np.mean(record.steps < record.steps.mean())),
        }
    return found


def named_numbers(system: sx.System, record: Record, h: float, coordinates: str, mirrored: bool) -> dict[str, float]:
    """Return the numbers of a run of force-stepping under its name."""
    name = f"h = {h} nm, {coordinates}, {'parity-invariant' if mirrored else 'not parity-invariant'}"
    return {f"{name}: {what}": value for what, value in numbers_of(system, record).items()}


def expected_step(h: float, velocities: np.ndarray) -> float:
    """Return the average step in ns that the velocities [samples, n, 2] of a motion let expect.

    Planes z_i = integer are a distance h apart, and so are z_j − z_i = integer in z_j − z_i: there are Σ|v_i|/h
    + Σ|v_j − v_i|/h crossings in a unit of time.
    """
    v = velocities.reshape(len(velocities), -1)
    i, j = np.triu_indices(v.shape[1], 1)
    return h / float(np.mean(np.abs(v).sum(axis=1) + np.abs(v[:, i] - v[:, j]).sum(axis=1)))


# -- pictures -----------------------------------------------------------------------------------------------


def draw(path: Path, system: sx.System, stepping: Record, newmark: Record, title: str) -> None:
    """Draw the six panels of Figures 15 and 16."""
    figure = plt.figure(figsize=(13, 7.8), layout="constrained")
    panels = figure.subplots(2, 3)
    styles = {"force-stepping": (stepping, BLUE, 0.8), "Newmark": (newmark, ORANGE, 1.2)}
    for label, (record, colour, width) in styles.items():
        curves = (
            np.array(record.energy) / EPSILON,
            record.momentum(system)[:, 0] / 1e-12,
            record.angular_momentum(system),
            record.temperature,
        )
        for axes, curve in zip(panels.flat, curves, strict=False):
            axes.plot(record.times, curve, color=colour, lw=width, label=label)
    panels[0, 0].set(title="total energy (K + V_h of force-stepping)", ylabel="E/ε")
    panels[0, 1].set(title="linear momentum, x", ylabel="10⁻¹² atom masses · nm/ns")
    panels[0, 2].set(title="angular momentum", ylabel="atom masses · nm²/ns")
    panels[1, 0].set(title="numerical temperature (eq. 71)", ylabel="T (K)")
    panels[1, 0].set_ylim(0.0, 1.6 * stepping.temperature[-1])
    for axes in (*panels[0], panels[1, 0]):
        axes.set_xlabel("time (ns)")
    panels[0, 0].ticklabel_format(useOffset=False)
    draw_steps(panels[1, 1], stepping.steps / FEMTOSECOND)
    draw_paths(panels[1, 2], stepping)
    for axes in panels.flat:
        axes.grid(alpha=0.25)
    figure.suptitle(title)
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside upper right", ncols=2)
    figure.savefig(path, dpi=90)
    plt.close(figure)


def draw_steps(axes: Axes, steps: np.ndarray) -> None:
    """Draw the histogram of the steps in fs, and the exponential distribution of the same mean."""
    mean = steps.mean()
    edges = np.linspace(0.0, steps.max(), 61)
    axes.hist(steps, bins=edges, density=True, color=BLUE, alpha=0.55, label=f"{len(steps)} steps, mean {mean:.3g} fs")
    axes.plot(edges, np.exp(-edges / mean) / mean, color="black", lw=1.0, label="exponential distribution")
    least = 0.5 / (len(steps) * edges[1])  # half a step in an interval
    axes.set(title="time steps", xlabel="step (fs)", ylabel="density (1/fs)", yscale="log", ylim=(least, 3.0 / mean))
    axes.legend()


def draw_paths(axes: Axes, record: Record) -> None:
    """Draw the paths of the atoms over the last 50 ps, and where they were at first."""
    end = record.times[-1]
    paths = np.array([state.q for state in record.states if state.t >= end - WINDOW])
    for atom in range(paths.shape[1]):
        axes.plot(*paths[:, atom].T, lw=0.5)
    ring = POSITIONS[[1, 2, 3, 4, 5, 6, 1]]
    axes.plot(*ring.T, "k--", lw=1.0, label="t = 0")
    axes.set(title=f"atoms from {end - WINDOW:.4g} to {end:.4g} ns", xlabel="x (nm)", ylabel="y (nm)", aspect="equal")
    axes.legend(loc="upper right")


# -- all of it ----------------------------------------------------------------------------------------------


def one_grid(output: Path, h: float, duration: float, samples: int) -> dict[str, float]:
    """Run one grid size in the four ways, and Newmark with the average step of the paper's; draw its figure."""
    system, state = cluster()
    times = sample_times(duration, samples)
    papers = follow(system, state, method(*PAPER, h), times)
    numbers = named_numbers(system, papers, h, *PAPER)
    for way in OTHERS:
        numbers |= named_numbers(system, follow(system, state, method(*way, h), times), h, *way)
    dt = duration / round(duration / papers.steps.mean())
    newmark = verlet(system, state, dt, times)
    velocities = np.array([now.v for now in newmark.states])
    relative = np.array([sx.reductions.JacobiCoordinates(system.lumped_mass("argon")).relative(v) for v in velocities])
    numbers |= {
        f"h = {h} nm: Newmark's step [fs]": dt / FEMTOSECOND,
        f"h = {h} nm: Newmark's step [fs] (paper)": PAPERS_STEPS[h],
        f"h = {h} nm: average step expected from the velocities, plain [fs]": expected_step(h, velocities)
        / FEMTOSECOND,
        f"h = {h} nm: average step expected from the velocities, Jacobi [fs]": expected_step(h, relative) / FEMTOSECOND,
    }
    numbers |= {f"h = {h} nm, Newmark: {what}": value for what, value in numbers_of(system, newmark).items()}
    title = f"Frozen argon cluster: h = {h} nm, Δt = {dt / FEMTOSECOND:.3g} fs"
    draw(output / f"argon_h{1000 * h:03.0f}.png", system, papers, newmark, title)
    return numbers


def main() -> None:
    """Run both grid sizes, write numbers.json and the pictures."""
    parser = argparse.ArgumentParser(description="Seven argon atoms, Figures 14 to 16 of the force-stepping paper.")
    parser.add_argument("--output", type=Path, default=Path("results/argon"))
    parser.add_argument("--full", action="store_true", help="the paper's length, 10 ns")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    system, state = cluster()
    numbers = {
        "E/epsilon": system.energies_of(state)["total"] / EPSILON,
        "E/epsilon (paper)": PAPERS_ENERGY,
        "momentum at the start [atom nm/ns] (paper: zero)": system.momentum(state).tolist(),
        "angular momentum at the start [atom nm^2/ns]": float(system.angular_momentum(state)[0]),
    }
    for h in GRIDS:
        numbers |= one_grid(options.output, h, *((10.0, 2000) if options.full else (0.05, 200)))
    (options.output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    for name, value in numbers.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    main()
