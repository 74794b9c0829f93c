"""The oblique impact of section 6.3 of the force-stepping paper by energy-momentum, at large steps.

    python examples/oblique_impact_implicit.py [--output DIR] [--full]

The cube of oblique_impact.py hits its wall by energy-momentum at 50 and 100 times the largest stable step of explicit
Newmark, next to explicit Newmark itself: near that step, where it is stable but a hard impact errs in energy, and at a
quarter of it, which is what ``dt="auto"`` takes. The wall pushes along its normal, so that besides energy the momentum
along it and the angular momentum about the normal must be kept.

Mesh I has 71 nodes; ``--full`` takes mesh III with 429 as well, on which elements invert by explicit Newmark near its
limit.
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

import symplex as sx
from symplex.time.stability import stable_step

DURATION = 60e-6
NORMAL = np.array([0.0, -1.0, -1.0]) / np.sqrt(2.0)
ALONG = np.array([[1.0, 0.0, 0.0], [0.0, np.sqrt(0.5), -np.sqrt(0.5)]])
COLOURS = {
    "Newmark, 0.8": "#c0392b",
    "Newmark, 0.2": "#d08a1d",
    "energy-momentum, 50": "#2c5fa8",
    "energy-momentum, 100": "#2e8b57",
}


Method = sx.Newmark | sx.EnergyMomentum


@dataclass(frozen=True)
class Impact:
    """A cube, its wall and its start."""

    mesh: sx.Mesh
    strain: sx.Solid
    system: sx.System
    start: sx.State

    @classmethod
    def of(cls, name: str) -> "Impact":
        """Return the impact of the paper's mesh of that name."""
        mesh = sx.cube_mesh(name, size=0.1)
        cells = mesh.cells["tetra"]
        aluminium = sx.NeoHookean(lmbda=60.5e9, mu=26e9, density=2700.0)
        wall = sx.HalfSpace(point=(0.101, 0.101, 0.101), normal=(0, -1, -1), normalize=False)
        strain = sx.Solid(mesh.points, cells, aluminium)
        contact = sx.RigidContact.from_penalty(mesh.boundary_nodes, wall, penalty=1e-14)
        mass = sx.lumped_mass(mesh.points, cells, aluminium.density, len(mesh.points))
        system = sx.System(mass, {"strain": strain, "wall": contact})
        return cls(mesh, strain, system, system.state(mesh.points, v=np.full(3, 1000.0)))

    def methods(self) -> dict[str, Method]:
        """Return the methods, named by their steps in units of the largest stable one of explicit Newmark."""
        limit = stable_step(self.system, self.start.q)
        found: dict[str, Method] = {}
        for name in COLOURS:
            kind, _, times = name.partition(", ")
            make = sx.Newmark if kind == "Newmark" else sx.EnergyMomentum
            found[name] = make(float(times) * limit).fit(self.system, self.start, DURATION)
        return found


@dataclass(frozen=True)
class Run:
    """What was seen at some of the steps, and the processor time in s that all took."""

    trajectory: sx.Trajectory
    statistics: dict[str, float]
    seconds: float

    @property
    def energy_error(self) -> np.ndarray:
        """The relative change of the energy [k]."""
        total = self.trajectory.energies["total"]
        return np.abs(total / total[0] - 1.0)


def follow(impact: Impact, method: Method) -> Run:
    """Follow the cube, looking some hundred times."""
    dt = float(method.dt)
    method.start(impact.system, impact.start).advance(dt)  # compiles
    steps = round(DURATION / dt)
    times = dt * np.unique(np.append(np.arange(0, steps, max(1, steps // 150)), steps))
    motion, recorder, seconds = method.start(impact.system, impact.start), sx.Recorder(), 0.0
    for t in times:
        begin = process_time()
        state = motion.advance(t)
        seconds += process_time() - begin
        recorder(motion, state)
    return Run(recorder.trajectory(), motion.statistics(), seconds)


def measures(name: str, impact: Impact, method: Method, run: Run) -> dict:
    """Return what is claimed about one run."""
    path, mass = run.trajectory, impact.system.mass
    momentum = path.momentum[0]
    along = np.abs((path.momentum - momentum) @ ALONG.T).max() / np.linalg.norm(momentum)
    turning = np.abs((path.angular_momentum - path.angular_momentum[0]) @ NORMAL).max()
    after = path.momentum[-1] / mass.sum()
    return {
        f"{name}: step [ns]": 1e9 * float(method.dt),
        f"{name}: steps": run.statistics["steps"],
        **({f"{name}: corrections": run.statistics["corrections"]} if "corrections" in run.statistics else {}),
        f"{name}: processor time [s]": run.seconds,
        f"{name}: largest relative change of the energy": float(run.energy_error.max()),
        f"{name}: largest change of the momentum along the wall, relative": float(along),
        f"{name}: largest change of the angular momentum about the normal [kg m²/s]": float(turning),
        f"{name}: largest angular momentum [kg m²/s]": float(np.linalg.norm(path.angular_momentum, axis=1).max()),
        f"{name}: peak strain energy [J]": float(path.energies["strain"].max()),
        f"{name}: mean velocity after the impact [m/s]": after.tolist(),
        f"{name}: speed away from the wall after / towards it before": float((after @ NORMAL) / (1000 * np.sqrt(2))),
    }


def draw(runs: dict[str, Run], file: Path) -> None:
    """Draw energies, their errors and the mean velocity over time."""
    figure, panels = plt.subplots(1, 3, figsize=(13, 4.4), dpi=100, layout="constrained")
    for name, run in runs.items():
        path, colour = run.trajectory, COLOURS[name]
        micro = 1e6 * path.t
        panels[0].plot(micro, 1e-6 * path.energies["strain"], color=colour, linewidth=1.2, label=name)
        panels[1].semilogy(micro, np.maximum(run.energy_error, 1e-17), color=colour, linewidth=1.0)
        panels[2].plot(micro, path.momentum[:, 0] / path.momentum[0, 0], color=colour, linewidth=1.2)
        panels[2].plot(micro, path.momentum[:, 1] / path.momentum[0, 1], color=colour, linewidth=1.2)
    panels[0].set(ylabel="MJ", title="strain energy")
    panels[1].set(ylim=(1e-17, 10), title="relative change of the energy")
    panels[2].set(title="mean velocity / initial, x (above) and y")
    for axes in panels:
        axes.set(xlabel="µs")
        axes.grid(alpha=0.25)
    handles = panels[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=4, title="steps in units of the largest stable one")
    figure.savefig(file)
    plt.close(figure)


def render(impact: Impact, run: Run, output: Path) -> None:
    """Write the motion as a series and draw snapshots of it."""
    points, strain, path = impact.mesh.points, impact.strain, run.trajectory
    block = sx.meshes.Block.of({"tetra": impact.mesh.cells["tetra"]})
    file = output / "cube.vtkhdf"
    file.unlink(missing_ok=True)  # of an earlier run
    with sx.open_series(file, points, {"cube": block}) as series:
        for t, q, v in zip(path.t, path.q, path.v, strict=True):
            stress = {"von_mises": {"cube": strain.von_mises(q)}}
            series.append(t, q - points, point_data={"velocity": v}, cell_data=stress)
    picture = output / "oblique_impact_implicit_cube.png"
    sx.render_snapshots(sx.read_series(file), picture, view=sx.View(section="x"), width=1300)


def main(output: Path, full: bool) -> None:
    """Follow the cube by all methods, write numbers.json and the pictures."""
    output.mkdir(parents=True, exist_ok=True)
    numbers = {}
    for mesh in ("III", "I") if full else ("I",):
        impact, runs = Impact.of(mesh), {}
        for name, method in impact.methods().items():
            try:
                runs[name] = follow(impact, method)
            except sx.SymplexError as error:  # explicit Newmark near its limit, on mesh III
                numbers[f"mesh {mesh}, {name}: stopped"] = str(error)
                continue
            numbers |= measures(f"mesh {mesh}, {name}", impact, method, runs[name])
    draw(runs, output / "oblique_impact_implicit.png")
    render(impact, runs["energy-momentum, 50"], output)
    (output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    for name, value in numbers.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results/oblique_impact_implicit"))
    parser.add_argument("--full", action="store_true", help="take mesh III as well")
    options = parser.parse_args()
    main(options.output, options.full)
