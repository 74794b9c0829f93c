"""A flexible beam in free flight: the flying spaghetti of Simo and Vu-Quoc (1988), for 10⁴ steps.

    python examples/flying_spaghetti.py [--output DIR] [--steps N]

A force and a moment at one end of a free, straight beam throw it, in the first 5 s; after that nothing acts from
outside. The energy-momentum method keeps the work that was done as energy, and both momenta, to round-off.
"""

import argparse
import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import symplex as sx
from symplex.fem.structures import BeamProperties, Beams, Moment, beams

BLUE, RED, GREY = "#2c5fa8", "#c0392b", "#888888"
ELEMENTS, STEP, ACTING = 10, 0.05, 5.0  # s
SHOWN = 15.0  # s, of the flight in the picture
EVERY = 10  # steps between samples


def thrown() -> tuple[Beams, sx.System]:
    """Return the beam from (6, 0, 0) to (0, 8, 0), and it under M(t) (0, −½, −1) and M(t)/10 along x at its first end.

    M rises to 200 N m at 2.5 s and falls to zero at 5 s. EA = kGA = 10⁴ N, EI = GJ = 500 N m², ρA = 1 kg/m, and
    10 kg m of inertia for each axis across.
    """
    part = np.linspace(0.0, 1.0, ELEMENTS + 1)[:, None]
    points = (1.0 - part) * [6.0, 0.0, 0.0] + part * [0.0, 8.0, 0.0]
    ends = np.arange(ELEMENTS + 1, dtype=np.int32)
    mesh = sx.Mesh(points, {"line": np.column_stack([ends[:-1], ends[1:]])})
    properties = BeamProperties(1e4, (1e4, 1e4), (500.0, 500.0), 500.0, 1.0, (10.0, 10.0))
    beam = beams(mesh, properties, (0.0, 0.0, 1.0), extent=1.0)  # which leaves least round-off
    first, history = beam.particles([0]), ([0.0, 0.5 * ACTING, ACTING], [0.0, 200.0, 0.0])
    loads = {
        "force": sx.actions.NodalLoad(first.ravel(), [0.1 / 4.0, 0.0, 0.0], history),
        "moment": Moment(first, beam.mass, [0.0, -0.5, -1.0], history),
    }
    return beam, sx.System(beam.mass, {"beam": beam.energy}, frames=beam.frames, loads=loads)


def convergence(beam: Beams, system: sx.System) -> dict:
    """Return the distances of the tip at 5 s from where half of the step leads, and the orders that they show."""
    tips = []
    for step in (0.05, 0.025, 0.0125, 0.00625):
        state = sx.EnergyMomentum(step).start(system, system.state(beam.points)).advance(ACTING)
        tips.append(beam.frames.centers(state.q)[-1])
    distances = np.linalg.norm(np.diff(tips, axis=0), axis=1)
    return {
        "distances of the tip at 5 s from that with half of the step, in m": distances.tolist(),
        "orders": np.log2(distances[:-1] / distances[1:]).tolist(),
    }


def draw(paths: np.ndarray, times: np.ndarray, drifts: dict[str, np.ndarray], file: Path) -> None:
    """Draw shapes in flight, from along y and along z, and how far energy and momenta are off."""
    figure = plt.figure(figsize=(10, 8.5), dpi=90, layout="constrained")
    grid = figure.add_gridspec(3, 1, height_ratios=(3, 3, 5))
    views = ((figure.add_subplot(grid[0]), 1, "y in m"), (figure.add_subplot(grid[1]), 2, "z in m"))
    colours = plt.get_cmap("viridis")(np.linspace(0.0, 0.9, len(paths)))
    for axes, other, label in views:
        for shape, colour in zip(paths, colours, strict=True):
            axes.plot(shape[:, 0], shape[:, other], color=colour, linewidth=1.5)
        axes.plot(paths[:, 0, 0], paths[:, 0, other], color=GREY, linewidth=0.5, label="the end that was thrown")
        axes.set(xlabel="x in m", ylabel=label, aspect="equal")
        axes.grid(alpha=0.25)
    views[0][0].legend(loc="lower left")
    views[0][0].set(title=f"shapes every {SHOWN / (len(paths) - 1):g} s")
    axes = figure.add_subplot(grid[2])
    for (name, values), colour in zip(drifts.items(), (RED, BLUE, "black"), strict=True):
        axes.semilogy(times, np.maximum(values, 1e-17), color=colour, linewidth=1.0, label=name)
    axes.set(xlabel="t in s", ylabel="relative change since 5 s", ylim=(1e-17, 1e-10))
    axes.set(title=f"{len(times) * EVERY} steps of {STEP:g} s")
    axes.legend(loc="upper left", ncols=3)
    axes.grid(alpha=0.25)
    figure.suptitle("A beam in free flight by the energy-momentum method")
    figure.savefig(file)
    plt.close(figure)


def main(output: Path, steps: int) -> None:
    """Follow the flight, write numbers.json and a picture."""
    output.mkdir(parents=True, exist_ok=True)
    beam, system = thrown()
    motion = sx.EnergyMomentum(STEP).start(system, system.state(beam.points))
    paths = [beam.frames.centers(motion.advance(t).q) for t in np.linspace(0.0, ACTING, 6)]
    free = motion.advance(ACTING)
    energy, work = system.energies_of(free)["total"], motion.energies(free)
    momenta = system.momentum(free), system.angular_momentum(free)
    times = ACTING + STEP * np.arange(EVERY, steps + 1, EVERY)
    rows, bending, corrections = [], [], motion.statistics()["corrections"]
    for t in times:
        state = motion.advance(t)
        if t <= SHOWN + 1e-9 and round(t / STEP) % round(1.0 / STEP) == 0:
            paths.append(beam.frames.centers(state.q))
        energies = system.energies_of(state)
        bending.append(energies["beam"] / energies["total"])
        now = system.momentum(state), system.angular_momentum(state)
        off = [np.linalg.norm(a - b) / np.linalg.norm(b) for a, b in zip(now, momenta, strict=True)]
        rows.append((abs(energies["total"] / energy - 1.0), *off))
    drifts = dict(zip(("energy", "momentum", "angular momentum"), np.array(rows).T, strict=True))
    numbers = {
        "steps": steps,
        **{f"{name.replace(' ', '_')}_drift": float(values.max()) for name, values in drifts.items()},
        "largest relative change of a distance within a frame": beam.frames.distortion(state.q),
        "energy less the work of the force and the moment, at 5 s": work["balance"],
        "energy at 5 s": energy,
        "momentum along x at 5 s": float(momenta[0][0]),
        "largest part of the energy in deformation": max(bending),
        "corrections in a step": (motion.statistics()["corrections"] - corrections) / steps,
        **convergence(beam, system),
    }
    draw(np.array(paths), times, drifts, output / "flying_spaghetti.png")
    (output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    for name, value in numbers.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results/flying_spaghetti"))
    parser.add_argument("--steps", type=int, default=10_000, help="of the free flight")
    options = parser.parse_args()
    main(options.output, options.steps)
