"""The falling bracket of drop.py by energy-momentum, at 53 times the largest stable explicit step.

    python examples/drop_implicit.py [--output DIR] [--full]

Next to energy-momentum run the midpoint rule, at the same step, and explicit Newmark. The force of the floor is the
mean over each of the large steps, from the change of the momentum.

``--full`` goes on to 2 ms, as the scenario drop.toml does.
"""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from drop import cells, mass, newmark, points, start, strain, system

import symplex as sx
from symplex.time.stability import stable_step

DT = 1e-5
WEIGHT = 9.81 * mass.sum()
COLOURS = {"energy-momentum": "#2c5fa8", "midpoint": "#c0392b", "explicit Newmark": "#d08a1d"}


@dataclass(frozen=True)
class Run:
    """What was seen after each of the large steps, and the processor time in s that all took."""

    trajectory: sx.Trajectory
    statistics: dict[str, float]
    seconds: float

    @property
    def energy_error(self) -> np.ndarray:
        """The change of the energy [k] over the kinetic energy of the start."""
        energies = self.trajectory.energies
        return np.abs(energies["total"] - energies["total"][0]) / energies["kinetic"][0]

    @property
    def force(self) -> np.ndarray:
        """The mean force of the floor in N in each large step [k − 1]."""
        return np.diff(self.trajectory.momentum[:, 2]) / DT + WEIGHT


def follow(method: sx.Integrator, duration: float) -> Run:
    """Follow the bracket, looking after every large step."""
    motion, recorder, seconds = method.start(system, start), sx.Recorder(), 0.0
    for t in DT * np.arange(round(duration / DT) + 1):
        begin = process_time()
        state = motion.advance(t)
        seconds += process_time() - begin
        recorder(motion, state)
    return Run(recorder.trajectory(), motion.statistics(), seconds)


def measures(name: str, run: Run) -> dict:
    """Return what is claimed about one run."""
    path, force = run.trajectory, run.force
    touching = force > 1.0
    aside = path.momentum[:, :2]
    return {
        f"{name}: steps": run.statistics["steps"],
        **({f"{name}: corrections": run.statistics["corrections"]} if "corrections" in run.statistics else {}),
        f"{name}: processor time [s]": run.seconds,
        f"{name}: largest change of the energy over the first kinetic energy": float(run.energy_error.max()),
        f"{name}: largest horizontal momentum over the first momentum": float(
            np.abs(aside).max() / np.linalg.norm(path.momentum[0])
        ),
        f"{name}: greatest force of the floor [N]": float(force.max()),
        f"{name}: impulse of the floor [N s]": float(force.sum() * DT),
        f"{name}: first touch [µs]": float(1e6 * DT * np.argmax(touching)),
        f"{name}: mean vertical velocity at the end [m/s]": float(path.momentum[-1, 2] / mass.sum()),
    }


def draw(runs: dict[str, Run], file: Path) -> None:
    """Draw the force of the floor, the strain energy and the change of the energy over time."""
    figure, panels = plt.subplots(1, 3, figsize=(13, 4.2), dpi=100, layout="constrained")
    for name, run in runs.items():
        path, colour = run.trajectory, COLOURS[name]
        micro = 1e6 * path.t
        panels[0].stairs(1e-3 * run.force, micro, color=colour, linewidth=1.2, label=name)
        panels[1].plot(micro, 1e3 * path.energies["strain"], color=colour, linewidth=1.2)
        panels[2].semilogy(micro, np.maximum(run.energy_error, 1e-17), color=colour, linewidth=1.2)
    panels[0].set(title="mean force of the floor in steps of 10 µs", ylabel="kN")
    panels[1].set(title="strain energy", ylabel="mJ")
    panels[2].set(title="|ΔE| / initial kinetic energy", ylim=(1e-17, 10))
    for axes in panels:
        axes.set(xlabel="µs")
        axes.grid(alpha=0.25)
    handles = panels[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=3)
    figure.savefig(file)
    plt.close(figure)


def render(path: sx.Trajectory, output: Path) -> None:
    """Write the motion as a series and draw snapshots of the impact."""
    file = output / "bracket.vtkhdf"
    file.unlink(missing_ok=True)  # of an earlier run
    with sx.open_series(file, points, {"bracket": sx.meshes.Block.of({"tetra": cells})}) as series:
        for t, q in zip(path.t, path.q, strict=True):
            series.append(t, q - points, cell_data={"von_mises": {"bracket": strain.von_mises(q)}})
    times = [1e-6 * t for t in (160, 180, 200, 220, 260, 400)]
    sx.render_snapshots(sx.read_series(file), output / "drop_implicit_bracket.png", times=times, width=1300)


def main(output: Path, full: bool) -> None:
    """Drop the bracket by all methods, write numbers.json and the pictures."""
    output.mkdir(parents=True, exist_ok=True)
    duration = 2e-3 if full else 4e-4
    methods = {"energy-momentum": sx.EnergyMomentum(DT), "midpoint": sx.Midpoint(DT), "explicit Newmark": newmark}
    runs = {name: follow(method, duration) for name, method in methods.items()}
    numbers = {"step over the largest stable one of explicit Newmark": DT / stable_step(system, start.q)}
    for name, run in runs.items():
        numbers |= measures(name, run)
    draw(runs, output / "drop_implicit.png")
    render(runs["energy-momentum"].trajectory, output)
    (output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    for name, value in numbers.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results/drop_implicit"))
    parser.add_argument("--full", action="store_true", help="2 ms, as drop.toml")
    options = parser.parse_args()
    main(options.output, options.full)
