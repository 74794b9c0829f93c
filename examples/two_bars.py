"""A bar hits an equal one that is at rest, with contact between bodies: the force between them next to the exact one.

    python examples/two_bars.py [--output DIR] [--full]

Bars of linear hexahedra (length, density and stiffness 1, so that waves run at c = 1) of one element in cross-section.
The exact force is ½ ρ c v A for the time 2 L/c; then the bars have exchanged their velocities, and nothing vibrates.
Energy-momentum takes steps of half the time that a wave needs for an element. With a lumped mass the force between the
bars rings on the masses of the nodes that touch, and the front of the wave leaves vibrations behind. Without mass at
these nodes the force is smooth, and with the mixture of lumped and consistent mass that cancels the dispersion of the
step little is left vibrating.

``--full`` also takes finer meshes, tetrahedra, the barrier, and bars that meet off centre.
"""

import argparse
import json
from dataclasses import dataclass, replace
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import symplex as sx

SPEED = 0.01  # of the first bar, in units of c
COURANT = 0.5
COLOURS = {
    "lumped mass": "#c0392b",
    "lumped mass, contact nodes without": "#d08a1d",
    "mixed mass, contact nodes without": "#2c5fa8",
}


@dataclass(frozen=True)
class Bars:
    """How two bars are made: elements along each, how they are cut, the law of contact, and by how much they are off.

    Lengths are in units of an element; the stiffness of contact is 2 E/h.
    """

    elements: int = 40
    split: str = "hexahedra"
    law: str = "penalty"
    off: tuple[float, float] = (0.0, 0.0)
    gap: float = 0.02  # beyond the distance at which forces begin
    distance: float = 0.1

    def system(self, way: str) -> tuple[sx.System, sx.State]:
        """Return the system of both bars, and its start."""
        h = 1.0 / self.elements
        mesh = sx.box((1.0, h, h), (self.elements, 1, 1), split=self.split)
        n, cells = len(mesh.points), mesh.cells[mesh.volume_types[0]]
        shift = np.array([1.0 + (self.distance + self.gap) * h, self.off[0] * h, self.off[1] * h])
        points = np.vstack([mesh.points, mesh.points + shift])
        cells = np.vstack([cells, cells + n])
        bar = sx.contact.Surface.of(mesh)
        surface = sx.contact.Surface.join([replace(bar, names=("first",)), replace(bar.shifted(n), names=("second",))])
        contact = sx.contact.BodyContact(surface, 2.0 / h, law=self.law, distance=self.distance * h)
        solid = sx.Solid(points, cells, sx.LinearElastic(lmbda=0.0, mu=0.5, density=1.0), formulation="full")
        mass = sx.lumped_mass(points, cells, 1.0, 2 * n)
        if "mixed" in way:
            consistent = sx.consistent_mass(points, cells, 1.0, 2 * n)
            mass = sx.actions.mixed_mass(mass, consistent, courant=COURANT)
        massless = np.zeros(2 * n, bool)
        if "without" in way:
            touching = np.concatenate([mesh.nodes_of("x_max"), n + mesh.nodes_of("x_min")])
            mass = sx.contact.mass_moved_inward(mass, points, cells, touching)
            massless[touching] = True
        system = sx.System(mass, {"solid": solid, "contact": contact}, massless=massless)
        v = np.where(np.arange(2 * n)[:, None] < n, [SPEED, 0.0, 0.0], 0.0)
        return system, system.state(points, v)


@dataclass(frozen=True)
class Run:
    """What was seen in each step [k]: its middle since the first contact, and the force in units of the exact one."""

    t: np.ndarray
    force: np.ndarray
    energy: float  # the largest relative change
    momentum: float
    left: float  # the part of the energy that is left vibrating

    def numbers(self, name: str) -> dict[str, float]:
        """Return what is claimed about the run."""
        inside = (self.t > 0.2) & (self.t < 1.8)
        return {
            f"{name}: mean force in contact, over the exact one": float(self.force[inside].mean()),
            f"{name}: its scatter": float(self.force[inside].std()),
            f"{name}: energy left vibrating": self.left,
            f"{name}: largest relative change of the energy": self.energy,
            f"{name}: largest relative change of the momentum": self.momentum,
        }


def follow(bars: Bars, way: str) -> Run:
    """Follow the impact of two bars."""
    system, state = bars.system(way)
    h = 1.0 / bars.elements
    dt, area, first = COURANT * h, h * h, np.arange(system.n_nodes) < system.n_nodes // 2
    motion = sx.EnergyMomentum(dt).start(system, state)
    energy, momentum = system.energies_of(state)["total"], system.momentum(state)
    begin = bars.gap * h / SPEED
    steps = round((2.6 + begin) / dt)
    p, forces, drifts = np.zeros(steps + 1), np.zeros(steps), np.zeros((steps, 2))
    p[0] = momentum[0]
    for k in range(steps):
        state = motion.advance((k + 1) * dt)
        p[k + 1] = system.apply_mass(state.v)[first, 0].sum()
        forces[k] = (p[k] - p[k + 1]) / dt
        drifts[k] = (
            abs(system.energies_of(state)["total"] / energy - 1.0),
            np.abs(system.momentum(state) - momentum).max() / momentum[0],
        )
    speeds = np.array([p[-1], momentum[0] - p[-1]]) / area
    return Run(
        (np.arange(steps) + 0.5) * dt - begin,
        forces / (0.5 * SPEED * area),
        float(drifts[:, 0].max()),
        float(drifts[:, 1].max()),
        float(1.0 - (speeds**2).sum() / SPEED**2),
    )


def draw(runs: dict[str, Run], file: Path) -> None:
    """Draw the force between the bars over time."""
    figure, panels = plt.subplots(len(runs), 1, figsize=(9, 7), dpi=80, layout="constrained", sharex=True)
    for axes, (way, run) in zip(panels, runs.items(), strict=True):
        axes.plot(run.t, np.where((run.t > 0) & (run.t < 2), 1.0, 0.0), color="black", linewidth=1.0, linestyle="--")
        axes.plot(run.t, run.force, color=COLOURS[way], linewidth=1.2)
        left = f"{100 * run.left:.1f} % of the energy left vibrating"
        axes.set(ylabel="force / exact force", title=f"{way}: {left}", ylim=(-0.3, 2.5))
        axes.grid(alpha=0.25)
    panels[-1].set_xlabel("c t / L since the first contact")
    figure.savefig(file)
    plt.close(figure)


def main(output: Path, full: bool) -> None:
    """Follow the impact in three ways, write numbers.json and the picture."""
    output.mkdir(parents=True, exist_ok=True)
    runs = {way: follow(Bars(), way) for way in COLOURS}
    numbers = {}
    for way, run in runs.items():
        numbers |= run.numbers(way)
    if full:
        best = "mixed mass, contact nodes without"
        others = {
            "80 elements": Bars(80),
            "160 elements": Bars(160),
            "tetrahedra": Bars(split="6"),
            "barrier": Bars(law="barrier"),
            "off centre": Bars(off=(0.3, 0.2)),
        }
        for name, bars in others.items():
            numbers |= follow(bars, best).numbers(name)
    draw(runs, output / "two_bars.png")
    (output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    for name, value in numbers.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results/two_bars"))
    parser.add_argument("--full", action="store_true", help="also take finer meshes and other contacts")
    options = parser.parse_args()
    main(options.output, options.full)
