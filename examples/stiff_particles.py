"""Four particles on springs of very different stiffness: section 4.4 of Simo and Gonzalez (1993), its Figure 3.

    python examples/stiff_particles.py [--output DIR] [--full]

Simo and Gonzalez, "Assessment of energy-momentum and symplectic schemes for stiff dynamical systems" (1993). The
springs have frequencies from 12 to 4470 rad/s, the steps resolve the lowest only, and the start excites the softest
springs. The midpoint rule, which is symplectic, gains energy without bound at the two larger steps; energy-momentum
keeps energy and angular momentum at all three. The paper does not print the natural lengths: they are 1.

``--full`` takes the paper's 5·10⁵ steps where it takes them.
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

STEPS = {0.04: "#c0392b", 0.03: "#d08a1d", 0.02: "#2c5fa8"}
SAMPLES = {0.04: 12, 0.03: 16, 0.02: 25}  # of the lowest vibration, as printed
LIMIT = 100.0  # the midpoint rule has blown up where energy is that many times its initial value

positions = np.array([[0.0, 0.0, 0.0], [0.8983, 0.5616, 0.0], [0.0, 1.0010, 0.0], [0.2589, 0.5987, 0.7580]])
momenta = np.array([[0.0, 0.0, 0.0], [-0.05, 0.0866, 0.0], [0.0, -0.1, 0.0], [-0.05, 0.0288, 0.0]])
stiffness = [1e2, 1e4, 1e6, 1e7, 5e3, 5e2]  # of the pairs 12, 13, 14, 23, 24, 34
springs = sx.Bars(sx.measures.all_pairs(4), sx.measures.EngineeringStrain(stiffness, 1.0))
system = sx.System(np.ones(4), {"springs": springs})
start = system.state(positions, momenta)  # all masses are 1


@dataclass(frozen=True)
class Run:
    """Energy over its initial value, and angular momentum [k, 3] and momentum [k, 3], at some of the steps."""

    t: np.ndarray
    energy: np.ndarray
    angular_momentum: np.ndarray
    momentum: np.ndarray

    @property
    def blown_up(self) -> bool:
        """Whether the energy has passed the limit."""
        return bool(self.energy[-1] > LIMIT)

    @property
    def error(self) -> np.ndarray:
        """The relative change of the energy [k]."""
        return np.abs(self.energy - 1.0)

    @property
    def angular_error(self) -> np.ndarray:
        """The change of the angular momentum [k], relative to its size."""
        change = self.angular_momentum - self.angular_momentum[0]
        return np.linalg.norm(change, axis=1) / np.linalg.norm(self.angular_momentum[0])


def frequencies() -> np.ndarray:
    """Return the six frequencies in rad/s of the tetrahedron without stress."""
    regular = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) / np.sqrt(8)
    return np.sqrt(np.linalg.eigvalsh(system.hessian(regular).toarray())[6:])


def follow(method: sx.Integrator, dt: float, steps: int, every: int = 1) -> Run:
    """Follow the particles until the energy has passed the limit, and look after every so many steps."""
    motion, state = method.start(system, start), start
    initial = system.energies_of(start)["total"]
    rows = []
    for n in range(0, steps + 1, every):
        state = motion.advance(n * dt)
        energy = system.energies_of(state)["total"] / initial
        rows.append((state.t, energy, system.angular_momentum(state), system.momentum(state)))
        if energy > LIMIT:
            break
    return Run(*(np.array(column) for column in zip(*rows, strict=True)))


def measures(name: str, run: Run, dt: float) -> dict:
    """Return what is claimed about one run."""
    return {
        f"{name}: steps": round(run.t[-1] / dt),
        f"{name}: blows up": run.blown_up,
        f"{name}: least energy over its initial value": float(run.energy.min()),
        f"{name}: greatest energy over its initial value": float(run.energy.max()),
        f"{name}: largest relative change of the energy": float(run.error.max()),
        f"{name}: largest relative change of the angular momentum": float(run.angular_error.max()),
        f"{name}: largest change of the momentum": float(np.abs(run.momentum - run.momentum[0]).max()),
    }


def long_runs() -> dict:
    """Return what is claimed about long runs; the paper's is that of the midpoint rule at its smallest step."""
    numbers = measures("dt = 0.02, midpoint, long", follow(sx.Midpoint(0.02), 0.02, 500_000, every=20), 0.02)
    for dt in STEPS:
        for name, kept in (("long", False), ("compensated, long", True)):
            run = follow(sx.EnergyMomentum(dt, compensated=kept), dt, 100_000, every=20)
            numbers |= measures(f"dt = {dt}, energy-momentum, {name}", run, dt)
    return numbers


def draw(runs: dict[str, dict[float, Run]], compensated: dict[float, Run], file: Path) -> None:
    """Draw energy and angular momentum over time for both methods and all steps, and the errors of the second."""
    figure, panels = plt.subplots(2, 3, figsize=(13, 7), dpi=100, layout="constrained")
    for (name, of_steps), column in zip(runs.items(), panels.T, strict=False):
        for (dt, run), width in zip(of_steps.items(), (4.0, 2.2, 1.0), strict=True):  # they lie on each other
            shown = run.t <= 12.0
            label, momentum = f"Δt = {dt}", np.linalg.norm(run.angular_momentum, axis=1)
            column[0].semilogy(
                run.t[shown],
                run.energy[shown],
                color=STEPS[dt],
                linewidth=1.0 if name == "midpoint" else width,
                label=label,
            )
            column[1].plot(run.t[shown], momentum[shown], color=STEPS[dt], linewidth=width, label=label)
        column[0].set(title=f"{name}: energy / initial energy", ylim=(0.5, 1.5 * LIMIT), xlim=(0, 12))
        size = np.linalg.norm(system.angular_momentum(start))
        column[1].set(title=f"{name}: |angular momentum|", ylim=(0, 2 * size), xlim=(0, 12))
        column[0].legend(loc="upper right")
    for dt in STEPS:
        lines = (runs["energy-momentum"][dt], "-", f"Δt = {dt}"), (compensated[dt], ":", None)
        for run, style, text in lines:
            for axes, error in zip(panels[:, 2], (run.error, run.angular_error), strict=True):
                size = np.maximum(error[1:], np.finfo(float).eps / 2)
                axes.loglog(run.t[1:] / dt, size, style, color=STEPS[dt], linewidth=0.9, label=text)
    panels[0, 2].set(title="energy-momentum: |ΔE| / E")
    panels[1, 2].set(title="energy-momentum: |ΔJ| / |J|")
    for axes in panels[:, 2]:
        axes.set(xlabel="steps", ylim=(1e-16, 1e-5))
        axes.legend(loc="upper left", title="dotted: compensated")
    for axes in panels[:, :2].ravel():
        axes.set(xlabel="time")
    for axes in panels.ravel():
        axes.grid(alpha=0.25)
    figure.suptitle("Four stiff particles, ω from 12.6 to 4472 rad/s (Simo and Gonzalez 1993, Figure 3)")
    figure.savefig(file)
    plt.close(figure)


def main(output: Path, full: bool) -> None:
    """Follow both methods at three steps, write numbers.json and the picture."""
    output.mkdir(parents=True, exist_ok=True)
    omega = frequencies()
    numbers = {
        "least frequency [rad/s]": float(omega[0]),
        "least frequency [rad/s] (paper)": 12.0,
        "greatest frequency [rad/s]": float(omega[-1]),
        "greatest frequency [rad/s] (paper)": 4470.0,
    }
    runs: dict[str, dict[float, Run]] = {"midpoint": {}, "energy-momentum": {}}
    compensated: dict[float, Run] = {}
    for dt, samples in SAMPLES.items():
        numbers[f"dt = {dt}: steps in the slowest vibration"] = float(2.0 * np.pi / omega[0] / dt)
        numbers[f"dt = {dt}: steps in the slowest vibration (paper)"] = samples
        runs["midpoint"][dt] = follow(sx.Midpoint(dt), dt, 2000)
        runs["energy-momentum"][dt] = follow(sx.EnergyMomentum(dt), dt, 2000, every=2)
        compensated[dt] = follow(sx.EnergyMomentum(dt, compensated=True), dt, 2000, every=2)
        for name, of_steps in (*runs.items(), ("energy-momentum, compensated", compensated)):
            numbers |= measures(f"dt = {dt}, {name}", of_steps[dt], dt)
    if full:
        numbers |= long_runs()
    draw(runs, compensated, output / "stiff_particles.png")
    (output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    for name, value in numbers.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results/stiff_particles"))
    parser.add_argument("--full", action="store_true", help="5·10⁵ steps of the midpoint rule, 10⁵ of energy-momentum")
    options = parser.parse_args()
    main(options.output, options.full)
