"""A ring truss of 1080 bars rotates steadily, and then shaken: which schemes keep its path, and at what cost.

    python examples/ring_truss.py [--output DIR] [--full]

Two rings above two others, a little wider, all braced: a tube of square section with 60 bays, as large structures in
space are built. In relative equilibrium (Graham and Jelenić 2006, eq. 2.37) it turns about its axis and moves along it
as a rigid body would. Then it is kicked into an oval, and followed by CM6 at a quarter of the step for reference. All
schemes of the paper take the same step, which resolves the rotation and the slow vibrations, but not the fast ones of
the bars.

``--full`` follows the ring four times as long.
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
from mpl_toolkits.mplot3d.art3d import Line3DCollection

import symplex as sx

BAYS, RADIUS, WIDTH = 60, 1.0, 0.2
STIFFNESS = 1000.0  # EA in N; the mass per length is 1 kg/m
OMEGA, SPEED = 1.0, 0.2  # of rotation and translation
DT, STEPS = 0.05, 60
KICK = 0.1  # velocity in m/s that makes the ring oval
COLOURS = {
    "symplectic-momentum": "#c0392b",
    "energy-momentum": "#2c5fa8",
    "energy-momentum-exact-angle": "#2e8b57",
    "exact-steady-motion": "#6f42a6",
    "momentum-conserving-4": "#d08a1d",
    "cayley-magnus-6": "#333333",
}


def ring() -> tuple[np.ndarray, np.ndarray]:
    """Return nodes [n, 3] and bars [m, 2] of the tube: edges, diagonals of all faces, and of the sections."""
    angle = np.repeat(2.0 * np.pi * np.arange(BAYS) / BAYS, 4)
    radius = RADIUS + np.tile(0.5 * WIDTH * np.array([-1, 1, 1, -1]), BAYS)
    height = np.tile(0.5 * WIDTH * np.array([-1, -1, 1, 1]), BAYS)
    nodes = np.column_stack([radius * np.cos(angle), radius * np.sin(angle), height])
    here = np.arange(4 * BAYS).reshape(BAYS, 4)
    ahead, next_to = np.roll(here, -1, axis=0), np.roll(here, -1, axis=1)
    ends = [
        (here, ahead),
        (here, next_to),
        (here, np.roll(ahead, -1, axis=1)),
        (next_to, ahead),
        (here[:, :2], here[:, 2:]),
    ]
    return nodes, np.concatenate([np.column_stack([a.ravel(), b.ravel()]) for a, b in ends]).astype(np.int32)


points, pairs = ring()
lengths = np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1)
bars = sx.Bars(pairs, sx.measures.GreenStrain(STIFFNESS / lengths, lengths))
system = sx.System(sx.actions.bar_mass(points, pairs, 1.0, 1.0, len(points)), {"bars": bars})
steady = sx.equilibria.relative_equilibrium(system, points, [0.0, 0.0, OMEGA], velocity=[0.0, 0.0, SPEED])


@dataclass(frozen=True)
class Run:
    """A motion, and the processor time of a step in s."""

    trajectory: sx.Trajectory
    path: sx.equilibria.RelativePath
    step_time: float


def method(name: str, dt: float) -> sx.Integrator:
    """Return a scheme of the paper; SM and EM with Newton's method."""
    if name == "symplectic-momentum":
        return sx.Midpoint(dt)
    return sx.EnergyMomentum(dt) if name == "energy-momentum" else sx.GrahamJelenic(dt, name)


def shaken() -> sx.State:
    """Return the steady rotation with a kick outwards in x and inwards in y."""
    arm = steady.state.q - steady.centre
    return system.state(steady.state.q, steady.state.v + KICK * arm * [1.0, -1.0, 0.0] / RADIUS)


def follow(name: str, start: sx.State, dt: float, steps: int) -> Run:
    """Follow the ring; the first step, which makes what the others use, is not timed."""
    recorder, integrator = sx.Recorder(), method(name, dt)
    motion = integrator.start(system, start)
    began = process_time()
    for n in range(steps + 1):
        recorder(motion, motion.advance(n * dt))
        began = process_time() if n == 1 else began
    step_time = (process_time() - began) / (steps - 1)
    seen = recorder.trajectory()
    return Run(seen, steady.path(seen.t, seen.q), step_time)


def measures(key: str, run: Run) -> dict:
    """Return what is claimed about one run."""
    seen, path = run.trajectory, run.path
    momentum, angular = (
        np.linalg.norm(of - of[0], axis=1).max() / np.linalg.norm(of[0])
        for of in (seen.momentum, seen.angular_momentum)
    )
    return {
        f"{key}: largest deformation": float(path.deformation.max()),
        f"{key}: mean lambda_r": float(1.0 - path.lag[-1] / (path.speed * path.t[-1])),
        f"{key}: range of lambda_r": float(np.ptp(path.lambda_r)),
        f"{key}: mean lambda_t": float(path.way[-1] / (path.velocity * path.t[-1])),
        f"{key}: largest relative change of the energy": float(energy_error(run).max()),
        f"{key}: largest relative change of the momentum": float(momentum),
        f"{key}: largest relative change of the angular momentum": float(angular),
        f"{key}: processor time of a step [ms]": 1e3 * run.step_time,
    }


def against(run: Run, reference: Run) -> np.ndarray:
    """Return the distance [k] of a run from the reference at its times, root mean square over nodes, in m."""
    every = (len(reference.trajectory.t) - 1) // (len(run.trajectory.t) - 1)
    difference = run.trajectory.q - reference.trajectory.q[::every]
    return np.sqrt(np.mean(np.sum(difference**2, axis=2), axis=1))


# -- pictures -----------------------------------------------------------------------------------------------------


def energy_error(run: Run) -> np.ndarray:
    """Return the relative change of the energy [k]."""
    energy = run.trajectory.energies["total"]
    return np.abs(energy / energy[0] - 1.0)


def draw(of_steady: dict[str, Run], of_shaken: dict[str, Run], reference: Run, file: Path) -> None:
    """Draw lag, shape and energy of the steady rotation, and error, shape and energy of the shaken ring."""
    figure, panels = plt.subplots(2, 3, figsize=(13, 7), dpi=75, layout="constrained")
    columns = {
        "steady: |lag| of the angle [rad]": (of_steady, lambda run: np.abs(run.path.lag)),
        "steady: deformation": (of_steady, lambda run: run.path.deformation),
        "steady: |ΔE| / E": (of_steady, energy_error),
        "shaken: distance from the reference [m]": (of_shaken, lambda run: against(run, reference)),
        "shaken: deformation": (of_shaken, lambda run: run.path.deformation),
        "shaken: |ΔE| / E": (of_shaken, energy_error),
    }
    for axes, (title, (runs, values)) in zip(panels.ravel(), columns.items(), strict=True):
        for name, run in runs.items():
            shown = np.maximum(values(run)[1:], 1e-17)
            axes.plot(run.path.t[1:], shown, color=COLOURS[name], linewidth=1.1, label=name)
        axes.set(title=title, xlabel="time [s]", yscale="linear" if title == "shaken: deformation" else "log")
        axes.grid(alpha=0.25)
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
    figure.savefig(file)
    plt.close(figure)


def draw_ring(run: Run, file: Path) -> None:
    """Draw the shaken ring in motion, its bars coloured by tension."""
    figure = plt.figure(figsize=(11.5, 3.2), dpi=80)
    frames = np.linspace(0, len(run.trajectory.t) - 1, 3).round().astype(int)
    tensions = np.array([bars.tensions(run.trajectory.q[n]) for n in frames])
    for place, (n, tension) in enumerate(zip(frames, tensions, strict=True)):
        axes = figure.add_axes((0.3 * place - 0.01, 0.0, 0.32, 0.95), projection="3d")
        q = run.trajectory.q[n] - steady.exact(run.path.t[n]).q.mean(axis=0)
        lines = Line3DCollection(q[pairs], cmap="viridis", linewidths=0.7)
        lines.set(array=tension, clim=(tensions.min(), tensions.max()))
        axes.add_collection3d(lines)
        axes.scatter(*q[2], color="#c0392b", s=30)
        axes.set(xlim=(-1.1, 1.1), ylim=(-1.1, 1.1), zlim=(-0.4, 0.4))
        axes.set_title(f"t = {run.path.t[n]:g} s, turned by {run.path.angle[n]:.3f} rad", y=1.0)
        axes.set_box_aspect((2.2, 2.2, 0.8), zoom=1.3)
        axes.view_init(38, -60)
        axes.set_axis_off()
    colours = matplotlib.cm.ScalarMappable(matplotlib.colors.Normalize(tensions.min(), tensions.max()), "viridis")
    figure.colorbar(colours, cax=figure.add_axes((0.93, 0.15, 0.012, 0.7)), label="tension [N]")
    figure.savefig(file)
    plt.close(figure)


def main(output: Path, full: bool) -> None:
    """Follow the ring by all schemes, steady and shaken, write numbers.json and the pictures."""
    output.mkdir(parents=True, exist_ok=True)
    numbers = {
        "bars": len(pairs),
        "unknowns": points.size,
        "stretch": steady.stretch,
        "largest unbalanced force over the largest tension": steady.residual / bars.tensions(steady.state.q).max(),
        "energy-momentum: lambda_r by eq. 6.5": float(np.arctan(0.5 * OMEGA * DT) / (0.5 * OMEGA * DT)),
    }
    steps = 4 * STEPS if full else STEPS
    of_steady = {name: follow(name, steady.state, DT, steps) for name in COLOURS}
    of_shaken = {name: follow(name, shaken(), DT, steps) for name in COLOURS}
    reference = follow("cayley-magnus-6", shaken(), DT / 4, 4 * steps)
    for which, runs in (("steady", of_steady), ("shaken", of_shaken)):
        for name, run in runs.items():
            numbers |= measures(f"{which}, {name}", run)
    for name, run in of_shaken.items():
        distance = float(against(run, reference)[-1])
        numbers[f"shaken, {name}: distance from the reference at the end [m]"] = distance
    draw(of_steady, of_shaken, reference, output / "ring_truss_histories.png")
    draw_ring(of_shaken["energy-momentum"], output / "ring_truss.png")
    (output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    for name, value in numbers.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results/ring_truss"))
    parser.add_argument("--full", action="store_true", help="four times as long")
    options = parser.parse_args()
    main(options.output, options.full)
