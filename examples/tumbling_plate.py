"""A flexible plate in free flight that turns over and over, by shells.

    python examples/tumbling_plate.py [--output DIR] [--steps N]

A rectangle of soft rubber is thrown with a spin about its middle axis of inertia, about which no rigid body rotates
steadily: it turns over again and again, and bends and twists as it does. The energy-momentum method keeps energy,
momentum and angular momentum to round-off, whatever the step.
"""

import argparse
import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb

import symplex as sx
from symplex.fem.structures import ShellProperties, Shells, shells

BLUE, RED, YELLOW = "#2c5fa8", "#c0392b", "#e8b04b"
LENGTH, WIDTH, THICKNESS = 1.0, 0.6, 0.02  # m
ELEMENTS = 8, 5
STEP, EVERY = 5e-3, 10  # s, and steps between samples
SPIN, BEND = 8.0, 1.5  # rad/s, m/s
SHOWN, APART = 12, 0.15  # shapes in the picture, and s between them


def plate() -> tuple[Shells, sx.System, sx.State]:
    """Return the plate, E = 1 MPa, ν = 0.45, ρ = 1000 kg/m³, thrown with a spin about y, a little about x, and bent."""
    x, y = np.meshgrid(*(np.linspace(-0.5, 0.5, n + 1) for n in ELEMENTS), indexing="ij")
    at = np.arange(x.size, dtype=np.int32).reshape(x.shape)
    quads = np.stack([at[:-1, :-1], at[1:, :-1], at[1:, 1:], at[:-1, 1:]], axis=-1).reshape(-1, 4)
    points = np.column_stack([LENGTH * x.ravel(), WIDTH * y.ravel(), np.zeros(x.size)])
    rubber = sx.NeoHookean.from_young(1e6, 0.45, 1000.0)
    shell = shells(sx.Mesh(points, {"quad": quads}), ShellProperties.uniform(THICKNESS, rubber))
    system = sx.System(shell.mass, shell.energies, frames=shell.frames)
    spin = np.array([0.05 * SPIN, SPIN, 0.0])
    v = np.array([1.2, 0.0, 0.6]) + np.cross(spin, points)
    v[:, 2] += BEND * (12.0 * x.ravel() ** 2 - 1.0)
    return shell, system, system.state(shell.points, shell.frames.velocities(shell.points, v, spin))


def draw(shell: Shells, shapes: list, rows: np.ndarray, file: Path) -> None:
    """Draw shapes in flight, both sides in their colours, and how far energy and momenta are off."""
    figure = plt.figure(figsize=(11, 8), dpi=90, layout="constrained")
    grid = figure.add_gridspec(2, 1, height_ratios=(5, 4))
    axes = figure.add_subplot(grid[0])
    side, above = np.array([0.85, 0.52, 0.0]), np.array([-0.2, 0.33, 0.92])  # of the picture, in space
    towards = np.cross(side, above)
    for n, q in enumerate(shapes):
        row, column = divmod(n, SHOWN // 2)
        x = shell.frames.centers(q)
        x = x - x.mean(axis=0)
        corners = x[shell.cells["quad"]]
        normals = np.cross(corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1])
        normals /= np.linalg.norm(normals, axis=1)[:, None]
        base = np.where((normals @ towards > 0.0)[:, None], to_rgb(BLUE), to_rgb(YELLOW))
        light = 0.5 + 0.5 * np.abs(normals @ [0.3, -0.4, 0.87])
        order = np.argsort(corners.mean(axis=1) @ towards)
        flat = np.stack([corners @ side + 1.15 * column, corners @ above - 1.25 * row], axis=-1)
        colours = base[order] * light[order, None]
        axes.add_collection(PolyCollection(flat[order], facecolors=colours, edgecolors="white", linewidths=0.4))
        axes.text(1.15 * column, -1.25 * row - 0.66, f"{APART * n:.2f} s", ha="center", fontsize=9)
    axes.set(xlim=(-0.6, 1.15 * (SHOWN // 2 - 1) + 0.6), ylim=(-2.0, 0.6), aspect="equal")
    axes.axis("off")
    axes.set_title("the plate from one direction, its sides in two colours")
    axes = figure.add_subplot(grid[1])
    names = ("energy", "momentum", "angular momentum")
    for values, name, colour in zip(rows[:, 1:4].T, names, (RED, BLUE, "black"), strict=True):
        axes.semilogy(rows[:, 0], np.maximum(values, 1e-17), color=colour, linewidth=1.0, label=name)
    axes.set(xlabel="t in s", ylabel="relative change", ylim=(1e-17, 1e-9))
    axes.set(title=f"{len(rows) * EVERY} steps of {1e3 * STEP:g} ms")
    axes.legend(loc="upper left", ncols=3)
    axes.grid(alpha=0.25)
    figure.suptitle("A plate of shells in free flight by the energy-momentum method")
    figure.savefig(file)
    plt.close(figure)


def main(output: Path, steps: int) -> None:
    """Follow the flight, write numbers.json and a picture."""
    output.mkdir(parents=True, exist_ok=True)
    shell, system, start = plate()
    motion = sx.EnergyMomentum(STEP).start(system, start)
    before = system.energies_of(start)["total"], system.momentum(start), system.angular_momentum(start)
    rows, shapes, bending, sides = [], [start.q], [], []
    for n in range(EVERY, steps + 1, EVERY):
        state = motion.advance(STEP * n)
        if len(shapes) < SHOWN and n % round(APART / STEP) == 0:
            shapes.append(state.q)
        energies = system.energies_of(state)
        bending.append(energies["quad"] / energies["total"])
        now = system.momentum(state), system.angular_momentum(state)
        off = [np.linalg.norm(a - b) / np.linalg.norm(b) for a, b in zip(now, before[1:], strict=True)]
        rows.append((state.t, abs(energies["total"] / before[0] - 1.0), *off))
        x = shell.frames.centers(state.q)
        sides.append((x[ELEMENTS[1]] - x[0]) @ before[2] > 0.0)  # whether an edge points along the angular momentum
    table = np.array(rows)
    numbers = {
        "steps": steps,
        "energy_drift": float(table[:, 1].max()),
        "momentum_drift": float(table[:, 2].max()),
        "angular_momentum_drift": float(table[:, 3].max()),
        "largest relative change of the distance of two particles of a node": shell.frames.distortion(state.q),
        "largest part of the energy in deformation": max(bending),
        "how often it has turned over": int(np.abs(np.diff(sides)).sum()),
        "corrections in a step": motion.statistics()["corrections"] / steps,
    }
    draw(shell, shapes, table, output / "tumbling_plate.png")
    (output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    for name, value in numbers.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results/tumbling_plate"))
    parser.add_argument("--steps", type=int, default=2000, help="of 5 ms")
    options = parser.parse_args()
    main(options.output, options.steps)
