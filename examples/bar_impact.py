"""An elastic bar hits a rigid wall, and a rod that bounces on an obstacle for ever, next to their exact solutions.

    python examples/bar_impact.py [--output DIR] [--full]

The bar (length, density and stiffness 1, so that waves run at c = 1) meets the wall at t = 1: it must push with the
constant force ρ c v0 for the time 2 L/c and come back with its whole speed. The rod is held at one end and would touch
an obstacle with the other, were it not pressed together at the start, by the strain −½ (in units of 0.01, at rest): it
must move with the period 3, in contact during [1, 2] with the force ½. Contact is a penalty of 1e8. The midpoint rule
and energy-momentum take the same steps; in the third run the touching node gives its mass to the others.

``--full`` also takes finer meshes, for the way to the exact solution.
"""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import symplex as sx

SPEED = 0.01  # of the impact
SCALE = 0.01  # of the rod
PENALTY = 1e8
COLOURS = {
    "midpoint": "#c0392b",
    "energy-momentum": "#d08a1d",
    "energy-momentum, redistributed mass": "#2c5fa8",
}


@dataclass(frozen=True)
class Problem:
    """A bar along x of unit density and stiffness: its start, and what is known of its motion.

    ``pushed`` are the times in which the exact force is ``force``; elsewhere it is zero.
    """

    name: str
    elements: int
    gap: float  # of node 0 at rest in front of the wall
    clamped: bool  # the far end
    strain: float  # at the start
    speed: float  # at the start, towards the wall
    pushed: tuple[tuple[float, float], ...]
    force: float
    duration: float
    dt: float

    def exact_force(self, t: np.ndarray) -> np.ndarray:
        """Return the exact force of the wall at the times t."""
        touching = np.any([(t > begin) & (t < end) for begin, end in self.pushed], axis=0)
        return np.where(touching, self.force, 0.0)

    def system(self, massless: bool) -> tuple[sx.System, sx.State, sx.RigidContact]:
        """Return the system, its start and the wall."""
        n, length = self.elements, 1.0 / self.elements
        material = np.linspace(0.0, 1.0, n + 1)[:, None]
        x = self.gap + material
        mass = np.full(n + 1, length)
        mass[[0, -1]] *= 0.5
        if massless:
            mass = sx.contact.redistributed_mass(mass, x, [0])
        pairs = np.column_stack([np.arange(n), np.arange(1, n + 1)])
        bar = sx.Bars(pairs, sx.measures.EngineeringStrain(1.0 / length, length), dim=1)
        wall = sx.RigidContact([0], sx.HalfSpace([0.0], [1.0]), PENALTY)
        ends = np.arange(n + 1)[:, None]
        system = sx.System(
            mass,
            {"bar": bar, "wall": wall},
            dim=1,
            fixed=(ends == n) & self.clamped,
            massless=(ends[:, 0] == 0) & massless,
        )
        q = x - self.strain * (1.0 - material)  # the far end where it is
        return system, system.state(q, np.full(x.shape, -self.speed)), wall


@dataclass(frozen=True)
class Run:
    """Force of the wall in each step [k], and energy over its initial value and mean velocity after it [k]."""

    t: np.ndarray  # the middle of each step
    force: np.ndarray
    energy: np.ndarray
    velocity: np.ndarray


def impact(elements: int, dt: float) -> Problem:
    """Return the free bar that hits the wall at t = 1."""
    return Problem("bar", elements, SPEED, False, 0.0, SPEED, ((1.0, 3.0),), SPEED, 4.0, dt)


def rod(elements: int, dt: float) -> Problem:
    """Return the rod of period 3, three times."""
    pushed = tuple((3.0 * k + 1.0, 3.0 * k + 2.0) for k in range(3))
    return Problem("rod", elements, 0.0, True, -0.5 * SCALE, 0.0, pushed, 0.5 * SCALE, 9.0, dt)


def follow(problem: Problem, way: str) -> Run:
    """Follow one problem by the method of that name."""
    system, state, wall = problem.system(massless="redistributed" in way)
    method = sx.Midpoint(problem.dt) if way == "midpoint" else sx.EnergyMomentum(problem.dt)
    motion = method.start(system, state)
    initial, rows = system.energies_of(state)["total"], []
    for n in range(1, round(problem.duration / problem.dt) + 1):
        reached = motion.advance(n * problem.dt)
        ends = state.q[None, :1], reached.q[None, :1]
        gradient = wall.gradient(0.5 * (ends[0] + ends[1])) if way == "midpoint" else wall.discrete_gradient(*ends)
        energy = system.energies_of(reached)["total"] / initial
        rows.append((n - 0.5, -gradient.item(), energy, system.momentum(reached)[0] / system.mass.sum()))
        state = reached
    n, force, energy, velocity = np.array(rows).T
    return Run(n * problem.dt, force, energy, velocity)


def measures(problem: Problem, way: str, run: Run) -> dict:
    """Return what is claimed about one run, of forces in its first contact, next to the exact values."""
    name = f"{problem.name}, {way}"
    begin, end = problem.pushed[0]
    inside = (run.t > begin + 0.1) & (run.t < end - 0.1)
    touching = run.t[(run.force > 0.1 * problem.force) & (run.t < end + 0.5)]
    impulse = run.force[run.t < end + 0.5].sum() * problem.dt
    numbers = {
        f"{name}: largest relative change of the energy": float(np.abs(run.energy - 1.0).max()),
        f"{name}: mean force in contact": float(run.force[inside].mean()),
        f"{name}: mean force in contact (exact)": problem.force,
        f"{name}: scatter of the force in contact, relative": float(run.force[inside].std() / problem.force),
        f"{name}: first touch": float(touching[0] - 0.5 * problem.dt),
        f"{name}: first touch (exact)": begin,
        f"{name}: time from first to last touch": float(np.ptp(touching) + problem.dt),
        f"{name}: time from first to last touch (exact)": end - begin,
        f"{name}: impulse": float(impulse),
        f"{name}: impulse (exact)": problem.force * (end - begin),
    }
    if problem.clamped:
        return numbers | {f"{name}: period": period(problem, run), f"{name}: period (exact)": 3.0}
    rebound = float(run.velocity[-1] / problem.speed)
    return numbers | {f"{name}: velocity after / before": rebound, f"{name}: velocity after / before (exact)": 1.0}


def period(problem: Problem, run: Run) -> float:
    """Return the mean time between the middles of contact, as seen by its force."""
    middles = []
    for begin, end in problem.pushed:
        near = (run.t > begin - 0.5) & (run.t < end + 0.5)
        middles.append(np.average(run.t[near], weights=run.force[near]))
    return float(np.polyfit(np.arange(len(middles)), middles, 1)[0])


def draw(runs: dict[Problem, dict[str, Run]], file: Path) -> None:
    """Draw the force of the wall and the energy over time, for both problems and all three ways."""
    figure, panels = plt.subplots(4, 2, figsize=(13, 10), dpi=80, layout="constrained", sharex="col")
    for column, (problem, of_ways) in zip(panels.T, runs.items(), strict=True):
        fine = np.linspace(0.0, problem.duration, 4001)
        for axes, (way, run) in zip(column, of_ways.items(), strict=False):
            axes.plot(run.t, run.force / problem.force, color=COLOURS[way], linewidth=1.0)
            axes.plot(fine, problem.exact_force(fine) / problem.force, color="black", linewidth=1.0, linestyle="--")
            axes.set(title=f"{problem.name}, {way}", ylabel="force / exact force", ylim=(-0.5, 4.5))
            column[3].semilogy(run.t, np.maximum(np.abs(run.energy - 1.0), 1e-16), color=COLOURS[way], linewidth=0.9)
            column[3].plot([], [], color=COLOURS[way], linewidth=2.5, label=way)  # for the legend
        column[3].set(xlabel="time", ylabel="|ΔE| / E", ylim=(1e-17, 1e6), title=f"{problem.name}: energy")
    for axes in panels.ravel():
        axes.grid(alpha=0.25)
    figure.legend(*panels[3, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    figure.suptitle("Force of the wall on a bar that hits it, and on a rod of period 3 (dashed: exact)")
    figure.savefig(file)
    plt.close(figure)


def convergence(counts: tuple[int, ...]) -> dict:
    """Return how the rebound and the scatter of the force depend on the mesh."""
    numbers = {}
    for n in counts:
        problem = impact(n, 1.0 / n)
        for way in COLOURS:
            found = measures(problem, way, follow(problem, way))
            numbers |= {f"{n} elements: {what}": value for what, value in found.items() if "(exact)" not in what}
    return numbers


def main(output: Path, full: bool) -> None:
    """Follow both problems in three ways, write numbers.json and the picture."""
    output.mkdir(parents=True, exist_ok=True)
    problems = impact(100, 0.01), rod(100, 0.01)
    runs = {problem: {way: follow(problem, way) for way in COLOURS} for problem in problems}
    numbers = {}
    for problem, of_ways in runs.items():
        for way, run in of_ways.items():
            numbers |= measures(problem, way, run)
    if full:
        numbers |= convergence((50, 100, 200, 400))
    draw(runs, output / "bar_impact.png")
    (output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    for name, value in numbers.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results/bar_impact"))
    parser.add_argument("--full", action="store_true", help="also take meshes of 50 to 400 elements")
    options = parser.parse_args()
    main(options.output, options.full)
