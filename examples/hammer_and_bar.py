"""A rigid hammer strikes an elastic bar: the exact force falls off exponentially.

    python examples/hammer_and_bar.py [--output DIR] [--full]

A rigid mass m of speed v that strikes the end of a bar at rest sends a wave into it, and feels ρ c A v exp(−t/τ),
with τ = m/(ρ c A), until the wave is back from the other end at 2 L/c. Here the hammer has the mass of the bar, so
that τ is L/c. By explicit Newmark with the hammer kept rigid by an energy, and by Rattle and energy-momentum with the
hammer as a frame, which is exact, it moves as it should; the force itself shows the
inertia of the nodes at the end of the bar, which bounce between both. Energy-momentum takes them without mass: then the
force is the exact one as well.

``--full`` takes twice as many elements along the bar.
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
from symplex.contact import BodyContact, RigidBodies, RigidBody, Surface

YOUNG, DENSITY, EDGE, SPEED = 1e7, 1000.0, 0.05, 1.0  # Pa, kg/m³, m, m/s; the bar is 1 m long
WAVE = (YOUNG / DENSITY) ** 0.5  # m/s
FIRST = DENSITY * WAVE * EDGE**2 * SPEED  # N: the force at first
LOOKS = 152
RUNS = {
    "explicit Newmark": ("#c0392b", False),
    "Rattle": ("#2c5fa8", False),
    "energy-momentum": ("#d08a1d", False),
    "energy-momentum, end without mass": ("#2e8b57", True),
}


@dataclass(frozen=True)
class Run:
    """One run: time in units of L/c, and the hammer's velocity and force in units of those at first."""

    t: np.ndarray
    velocity: np.ndarray
    force: np.ndarray
    energy: float


def without_mass_at_the_end(mass: np.ndarray, points: np.ndarray, h: float) -> np.ndarray:
    """Return the masses with those of the struck end moved to the nodes behind."""
    new = mass.copy()
    front, behind = (np.flatnonzero(np.abs(points[:, 2] - z) < 1e-9) for z in (0.0, h))
    new[behind[np.lexsort(points[behind].T)]] += mass[front[np.lexsort(points[front].T)]]
    new[front] = 0.0
    return new


def run(name: str, cells: int) -> Run:
    """Strike the bar."""
    h = 1.0 / cells
    bar = sx.box((EDGE, EDGE, 1.0), (1, 1, cells), split="hexahedra")
    hexahedra, n = bar.cells["hexahedron"], len(bar.points)
    solid = sx.Solid(bar.points, hexahedra, sx.NeoHookean.from_young(YOUNG, 0.0, DENSITY), formulation="full")
    hammer = RigidBody.box((EDGE, EDGE, EDGE), mass=DENSITY * EDGE**2)
    rigid = RigidBodies({"hammer": hammer.placed((0.5 * EDGE, 0.5 * EDGE, -0.5 * EDGE - 0.1 * h))}, n)
    contact = BodyContact(rigid.surface(Surface.of(bar, ["body"])), YOUNG / h, distance=0.1 * h)
    mass = np.asarray(rigid.mass(sx.lumped_mass(bar.points, hexahedra, DENSITY, n)))
    if RUNS[name][1]:
        mass = without_mass_at_the_end(mass, rigid.positions(bar.points), h)
    implicit = name.startswith("energy-momentum")
    step = (0.5 if implicit else 0.05) * h / WAVE
    energies: dict[str, sx.Energy] = {"bar": solid, "contact": rigid.of_points(contact)}
    explicit = name == "explicit Newmark"
    if explicit:
        energies["hammer"] = rigid.rigidity(1.0 / step)
    system = sx.System(mass, energies, massless=mass == 0.0, frames=None if explicit else rigid.frames())
    state = system.state(rigid.positions(bar.points), rigid.velocities(np.zeros(3), {"hammer": (0.0, 0.0, SPEED)}))
    method = sx.Rattle(step, {}) if name == "Rattle" else sx.Newmark(step)
    path = sx.record(
        system, sx.EnergyMomentum(step) if implicit else method, state, np.arange(LOOKS + 1) * 0.5 / 40 / WAVE
    )
    velocity = [rigid.motion("hammer", q, v)[0][2] for q, v in zip(path.q, path.v, strict=True)]
    force = [contact.resultants(rigid.points(q))["body", "hammer"][2] for q in path.q]
    total = path.energies["total"]
    return Run(path.t * WAVE, np.array(velocity) / SPEED, np.array(force) / FIRST, float(np.ptp(total) / total[0]))


def measures(name: str, of: Run) -> dict[str, float]:
    """Return errors relative to the exact numbers at first; of the force, from t = 0.2 L/c on."""
    exact, late = np.exp(-of.t), of.t > 0.2
    return {
        f"{name}: largest error of the velocity": float(np.abs(of.velocity - exact).max()),
        f"{name}: error of the velocity, root of the mean square": float(np.sqrt(np.mean((of.velocity - exact) ** 2))),
        f"{name}: error of the force, root of the mean square": float(np.sqrt(np.mean((of.force - exact)[late] ** 2))),
        f"{name}: mean error of the force": float(np.mean((of.force - exact)[late])),
        f"{name}: largest change of the energy": of.energy,
    }


def draw(runs: dict[str, Run], file: Path) -> None:
    """Draw velocities and forces."""
    figure, panels = plt.subplots(1, 2, figsize=(12, 4.5), layout="constrained")
    for name, of in runs.items():
        color, massless = RUNS[name]
        panels[0].plot(of.t, of.velocity, color=color, linewidth=1.2, label=name)
        panels[1].plot(of.t, of.force, color=color, linewidth=1.6 if massless else 0.6, zorder=3 if massless else 1)
    for panel, title in zip(panels, ("velocity of the hammer / v", "force / ρ c A v"), strict=True):
        panel.plot(of.t, np.exp(-of.t), "k--", linewidth=1.0, zorder=4, label="exact")
        panel.set(title=title, xlabel="time in L/c")
        panel.grid(alpha=0.25)
    panels[1].set_ylim(-0.1, 3.5)
    panels[0].legend(fontsize=9)
    figure.savefig(file, dpi=90)
    plt.close(figure)


def main(output: Path, full: bool) -> None:
    """Run all methods, write numbers.json and the picture."""
    output.mkdir(parents=True, exist_ok=True)
    runs = {name: run(name, 80 if full else 40) for name in RUNS}
    numbers: dict[str, float] = {}
    for name, of in runs.items():
        numbers |= measures(name, of)
    draw(runs, output / "hammer_and_bar.png")
    (output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    for name, value in numbers.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results/hammer_and_bar"))
    parser.add_argument("--full", action="store_true", help="twice as many elements")
    options = parser.parse_args()
    main(options.output, options.full)
