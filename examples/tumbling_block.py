"""A free rubber block tumbles with large strains, and rotates steadily.

    python examples/tumbling_block.py [--output DIR] [--full]

A neo-Hookean block is thrown spinning about its middle axis, about which no rotation is stable. It tumbles, and
stretches by half and more. Energy-momentum keeps energy and both momenta to round-off at a step of more than twice the
largest stable one of explicit Newmark; with the midpoint rule and the trapezoidal member of Newmark's family, at the
same step, energy grows until a step can no longer be taken.

Rotating steadily in the shape in which stress and centrifugal force balance, the block turns by 2 atan(ω Δt/2) in each
step of energy-momentum and keeps its shape, however large the step. So it does by the trapezoidal rule, but not stably;
the midpoint rule sets it vibrating.

``--full`` takes 10⁵ steps.
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
from symplex.time.stability import stable_step

DT = 0.2
SPIN = 3.0  # of the tumbling block
OMEGA, TURN_DT, TURNS = 1.2, 0.5, 60  # of the steady rotation, its step and their number
COLOURS = {"energy-momentum": "#2c5fa8", "midpoint": "#c0392b", "Newmark, trapezoidal": "#d08a1d"}

mesh = sx.box((1.0, 0.6, 0.3), (4, 2, 1), split="6", origin=(-0.5, -0.3, -0.15))
cells = mesh.cells["tetra"]
mass = sx.lumped_mass(mesh.points, cells, 1.0, len(mesh.points))
strain = sx.Solid(mesh.points, cells, sx.NeoHookean(lmbda=2.0, mu=1.0, density=1.0))
system = sx.System(mass, {"strain": strain})


@dataclass(frozen=True)
class Run:
    """What was seen at some of the steps, and why it stopped, if it did."""

    trajectory: sx.Trajectory
    stretches: np.ndarray  # [k, 2], the least and the greatest principal stretch of all elements
    stopped: str | None

    @property
    def energy_error(self) -> np.ndarray:
        """The relative change of the energy [k]."""
        total = self.trajectory.energies["total"]
        return np.abs(total / total[0] - 1.0)

    @property
    def angular_error(self) -> np.ndarray:
        """The change of the angular momentum [k], relative to its size."""
        momentum = self.trajectory.angular_momentum
        return np.linalg.norm(momentum - momentum[0], axis=1) / np.linalg.norm(momentum[0])


def thrown() -> sx.State:
    """Return the start: a spin about the middle axis, slightly off it, with a bending wave.

    The centre of mass rests, for far from the origin positions have fewer digits left for the strains.
    """
    v = np.cross([0.1 * SPIN, SPIN, 0.05 * SPIN], mesh.points)
    v[:, 2] += 0.3 * np.cos(np.pi * mesh.points[:, 0])
    return system.state(mesh.points, v - mass @ v / mass.sum())


def follow(method: sx.Integrator, start: sx.State, steps: int, every: int = 1) -> Run:
    """Follow the block, as far as it goes."""
    recorder, stretches, stopped = sx.Recorder(), [], None
    try:
        for state in sx.march(system, method, start, DT * np.arange(0, steps + 1, every), observers=[recorder]):
            of_elements = np.linalg.svd(strain.deformation_gradients(state.q), compute_uv=False)
            stretches.append((of_elements.min(), of_elements.max()))
    except sx.SymplexError as error:
        stopped = str(error)
    return Run(recorder.trajectory(), np.array(stretches), stopped)


def measures(name: str, run: Run) -> dict:
    """Return what is claimed about one run."""
    path = run.trajectory
    speeds = np.linalg.norm(path.v[0], axis=1)
    return {
        f"{name}: steps": round(path.t[-1] / DT),
        f"{name}: largest relative change of the energy": float(run.energy_error.max()),
        f"{name}: largest relative change of the angular momentum": float(run.angular_error.max()),
        f"{name}: largest momentum over the sum of m |v|": float(np.abs(path.momentum).max() / (mass @ speeds)),
        f"{name}: least principal stretch": float(run.stretches[:, 0].min()),
        f"{name}: greatest principal stretch": float(run.stretches[:, 1].max()),
        f"{name}: stopped": run.stopped,
    }


# -- steady rotation ----------------------------------------------------------------------------------------------


def steady_start() -> sx.equilibria.RelativeEquilibrium:
    """Return the steady rotation about the axis of greatest inertia, which is turned to z."""
    q = mesh.points - mass @ mesh.points / mass.sum()
    _, axes = np.linalg.eigh((mass[:, None] * q).T @ q)
    q = q @ (axes[:, ::-1] * np.linalg.det(axes[:, ::-1]))  # the longest along x, the shortest along z
    return sx.equilibria.relative_equilibrium(system, q, [0.0, 0.0, OMEGA])


def rotation(method: sx.Integrator, start: sx.State) -> tuple[np.ndarray, np.ndarray]:
    """Return the angle [k] of each step about z in rad, and after it the largest change of the turned shape [k].

    Both end where no further step can be taken.
    """
    motion, q = method.start(system, start), start.q
    before, turned, angles, changes = q, 0.0, [], []
    for n in range(1, TURNS + 1):
        try:
            after = motion.advance(n * TURN_DT).q
        except sx.SymplexError:
            break
        angles.append(angle_between(before, after))
        turned += angles[-1]
        cos, sin = np.cos(turned), np.sin(turned)
        changes.append(np.abs(after - q @ [[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]]).max())
        before = after
    return np.array(angles), np.array(changes)


def angle_between(q0: np.ndarray, q1: np.ndarray) -> float:
    """Return the angle in rad about z by which the body is turned from q0 to q1, in the mean by mass."""
    across = mass @ (q0[:, 0] * q1[:, 1] - q0[:, 1] * q1[:, 0])
    return float(np.arctan2(across, mass @ (q0[:, 0] * q1[:, 0] + q0[:, 1] * q1[:, 1])))


def steady() -> tuple[dict, dict[str, np.ndarray]]:
    """Return the numbers of the steady rotation, and the change of the shape by each method."""
    found, angle = steady_start(), 2.0 * np.arctan(0.5 * OMEGA * TURN_DT)
    stretches = np.linalg.svd(strain.deformation_gradients(found.state.q), compute_uv=False)
    numbers = {
        "steady rotation: 2 atan(ω Δt/2) [rad]": angle,
        "steady rotation: largest unbalanced force": found.residual,
        "steady rotation: greatest principal stretch": float(stretches.max()),
    }
    shapes = {}
    for name, method in methods(TURN_DT).items():
        angles, shapes[name] = rotation(method, found.state)
        numbers[f"steady rotation, {name}: steps"] = len(angles)
        numbers[f"steady rotation, {name}: mean angle of a step [rad]"] = float(angles.mean())
        numbers[f"steady rotation, {name}: largest error of the angle [rad]"] = float(np.abs(angles - angle).max())
        numbers[f"steady rotation, {name}: largest change of the shape"] = float(shapes[name].max())
    return numbers, shapes


# -- pictures and numbers -----------------------------------------------------------------------------------------


def methods(dt: float) -> dict[str, sx.Integrator]:
    """Return the three methods at one step."""
    return {
        "energy-momentum": sx.EnergyMomentum(dt),
        "midpoint": sx.Midpoint(dt),
        "Newmark, trapezoidal": sx.Newmark.trapezoidal(dt),
    }


def draw(runs: dict[str, Run], shapes: dict[str, np.ndarray], file: Path) -> None:
    """Draw energy and angular momentum, stretches, and what becomes of the steady rotation."""
    figure, panels = plt.subplots(2, 2, figsize=(11, 7.4), dpi=100, layout="constrained")
    for name, run in runs.items():
        t, colour = run.trajectory.t, COLOURS[name]
        for axes, error in zip(panels[0], (run.energy_error, run.angular_error), strict=True):
            axes.semilogy(t, np.maximum(error, 1e-17), color=colour, linewidth=1.0, label=name)
            if run.stopped:
                axes.plot(t[-1], error[-1], "x", color=colour, markersize=9, markeredgewidth=2)
        panels[1, 0].semilogy(t, run.stretches, color=colour, linewidth=0.9)
        shape = np.maximum(shapes[name], 1e-17)
        panels[1, 1].semilogy(np.arange(1, len(shape) + 1), shape, ".-", color=colour, linewidth=0.9)
        if len(shape) < TURNS:
            panels[1, 1].plot(len(shape), shape[-1], "x", color=colour, markersize=9, markeredgewidth=2)
    longest = min(120.0, runs["energy-momentum"].trajectory.t[-1])
    for axes, title in zip(
        panels.ravel(),
        (
            "tumbling: relative change of the energy",
            "tumbling: relative change of angular momentum",
            "tumbling: least and greatest principal stretch",
            "steady rotation: change of the shape",
        ),
        strict=True,
    ):
        axes.set(title=title, xlabel="time", xlim=(0.0, longest))
        axes.grid(alpha=0.25)
    panels[1, 1].set(xlabel="steps", xlim=(0, TURNS))
    panels[1, 0].set(ylim=(0.01, 20.0))
    handles = panels[0, 0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=3, title="x: no further step can be taken")
    figure.savefig(file)
    plt.close(figure)


def render(path: sx.Trajectory, output: Path) -> None:
    """Write the beginning of the motion as a series and draw snapshots of it."""
    file = output / "block.vtkhdf"
    file.unlink(missing_ok=True)  # of an earlier run
    with sx.open_series(file, mesh.points, {"block": sx.meshes.Block.of({"tetra": cells})}) as series:
        for t, q in zip(path.t[:43], path.q[:43], strict=True):
            stress = {"von_mises": {"block": strain.von_mises(q)}}
            series.append(t, q - mesh.points, cell_data=stress)
    times = path.t[0:43:6].tolist()
    sx.render_snapshots(sx.read_series(file), output / "tumbling_block.png", times=times, width=1300)


def main(output: Path, full: bool) -> None:
    """Throw the block by all methods, rotate it, write numbers.json and the pictures."""
    output.mkdir(parents=True, exist_ok=True)
    numbers = {"step over the largest stable one of explicit Newmark": DT / stable_step(system, mesh.points)}
    runs = {name: follow(method, thrown(), 600) for name, method in methods(DT).items()}
    for name, run in runs.items():
        numbers |= measures(name, run)
    if full:
        numbers |= measures("energy-momentum, long", follow(sx.EnergyMomentum(DT), thrown(), 100_000, every=50))
    of_rotation, shapes = steady()
    draw(runs, shapes, output / "tumbling_block_histories.png")
    render(runs["energy-momentum"].trajectory, output)
    (output / "numbers.json").write_text(json.dumps(numbers | of_rotation, indent=1) + "\n", encoding="utf-8")
    for name, value in (numbers | of_rotation).items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results/tumbling_block"))
    parser.add_argument("--full", action="store_true", help="take 10⁵ steps of energy-momentum")
    options = parser.parse_args()
    main(options.output, options.full)
