"""Kepler's problem, section 6.1 of the force-stepping paper: its Figures 5 to 11.

    python examples/kepler.py [--output DIR] [--full]

Gonzalez, Schmidt and Ortiz, "Force-stepping integrators in Lagrangian mechanics" (2010). A planet starts at its
periapsis, on orbits of eccentricity 0.85 (32 turns) and 0.99 (8 turns). Force-stepping is compared with explicit
Newmark and the energy-momentum method of LaBudde and Greenspan, whose steps are force-stepping's average; then
force-stepping and Newmark on the reduced Lagrangian of the distance alone.

Everything has the paper's length. By default the fixed-step methods run for e = 0.99 in loops compiled for this
problem; ``--full`` takes them from symplex, as for e = 0.85: the same steps, but minutes for half a million of them.
"""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path as File

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from kepler_orbit import (
    PERIOD,
    Path,
    angular_momentum,
    energy_defect,
    energy_momentum,
    exact,
    force_stepping,
    kepler,
    lattice,
    newmark,
    orbits,
    stepped,
    visited,
)
from matplotlib.patches import Circle

import symplex as sx

STEPPING, NEWMARK, ENERGY_MOMENTUM = "force-stepping", "Newmark", "energy-momentum"
COLOURS = {STEPPING: "#2c5fa8", NEWMARK: "#c0392b", ENERGY_MOMENTUM: "#2e8b57"}
OFFSETS = 20  # lattices tried for the mean and the scatter of the average step


@dataclass(frozen=True)
class Case:
    """One run of the paper."""

    e: float
    grid: float
    turns: int
    printed_step: float | None  # the average step, if it is printed

    @property
    def duration(self) -> float:
        return self.turns * PERIOD

    def divided(self, step: float) -> float:
        """Return the step next to the required one that divides the duration."""
        return self.duration / round(self.duration / step)

    @property
    def name(self) -> str:
        return f"e = {self.e}"


MODERATE = Case(0.85, 0.022, 32, 0.0125)
STRONG = Case(0.99, 0.000247, 8, None)
REDUCED = Case(0.85, 0.0067, 32, 0.0125)


def in_the_plane(case: Case, output: File, full: bool) -> dict:
    """Run the three methods on L(x, y, ẋ, ẏ) (Figs. 5 to 7, 10 and 11)."""
    e, name = case.e, case.name
    integrator = lattice(case.grid)
    path = force_stepping(e, integrator, case.duration)
    numbers = steps_in_the_plane(case, path)
    dt = case.divided(case.printed_step or numbers[f"{name}: average step"])
    numbers[f"{name}: step of Newmark and energy-momentum"] = dt
    paths = {STEPPING: path}
    if full or e < 0.9:
        paths[NEWMARK] = stepped(e, sx.Newmark(dt), dt, case.duration)
        paths[ENERGY_MOMENTUM] = stepped(e, sx.EnergyMomentum(dt), dt, case.duration)
    else:
        paths[NEWMARK] = newmark(e, dt, case.duration)
        paths[ENERGY_MOMENTUM] = energy_momentum(e, dt, case.duration)
    changes = {label: invariants(p, e) for label, p in paths.items()}
    changes[STEPPING] = lattice_invariants(e, integrator, case.duration)
    for label, p in paths.items():
        numbers |= measures(f"{name}, {label}", p, e, changes[label])
    conserved = -0.5 + energy_defect(e, integrator)
    numbers[f"{name}, {STEPPING}: semi-major axis that V_h - V at the start makes"] = -0.5 / conserved
    numbers[f"{name}, {STEPPING}: period over 2π that V_h - V at the start makes"] = (-2.0 * conserved) ** -1.5
    draw_orbits(case, paths, output / f"kepler_e{100 * e:03.0f}.png")
    draw_invariants(case, changes, path, output / f"kepler_e{100 * e:03.0f}_invariants.png")
    return numbers


def steps_in_the_plane(case: Case, path: Path) -> dict:
    """Return the steps of force-stepping, those of other lattices, and what they must be on average.

    An orbit passes the faces of x, of y and of y − x twice for each grid size of its width 2a, height 2b and
    2√(a² + b²) across.
    """
    name, b = case.name, np.sqrt(1.0 - case.e**2)
    system, state = kepler(case.e)
    averages = []
    for seed in range(OFFSETS):
        motion = sx.ForceStepping(case.grid, seed=seed).start(system, state)
        motion.advance(case.duration)
        averages.append(case.duration / motion.statistics()["events"])
    numbers = spread(name, path)
    if case.printed_step:
        numbers[f"{name}: average step (paper)"] = case.printed_step
    numbers[f"{name}: average step, mean over {OFFSETS} random lattices"] = float(np.mean(averages))
    numbers[f"{name}: average step, standard deviation over these"] = float(np.std(averages, ddof=1))
    numbers[f"{name}: average step, 2πh/(4(1 + b + √(1 + b²)))"] = PERIOD * case.grid / (4 * (1 + b + np.hypot(1, b)))
    return numbers


def spread(name: str, path: Path) -> dict:
    """Return the average, the extremes and the median of the steps between the knots."""
    steps = np.diff(path.t)
    return {
        f"{name}: steps": len(steps),
        f"{name}: average step": float(steps.mean()),
        f"{name}: least step": float(steps.min()),
        f"{name}: median step": float(np.median(steps)),
        f"{name}: greatest step": float(steps.max()),
    }


def invariants(path: Path, e: float) -> dict:
    """Return the times in turns, and the relative changes of energy and angular momentum."""
    energy = 0.5 * np.sum(path.v**2, axis=1) - 1.0 / np.linalg.norm(path.q, axis=1)
    momentum = path.q[:, 0] * path.v[:, 1] - path.q[:, 1] * path.v[:, 0]
    return {
        "turns": path.t / PERIOD,
        "energy": np.abs(energy / energy[0] - 1.0),
        "angular momentum": np.abs(momentum / angular_momentum(e) - 1.0),
    }


def lattice_invariants(e: float, integrator: sx.Integrator, duration: float) -> dict:
    """Return the same for a motion by force-stepping, whose energy is K + V_h, and K + V, at 4001 times."""
    system, state = kepler(e)
    run = sx.record(system, integrator, state, np.linspace(0.0, duration, 4001))
    energy, energy_v = run.energies["lattice_total"], run.energies["total"]
    return {
        "turns": run.t / PERIOD,
        "energy": np.abs(energy / energy[0] - 1.0),
        "energy with V": np.abs(energy_v / energy_v[0] - 1.0),
        "angular momentum": np.abs(run.angular_momentum[:, 0] / angular_momentum(e) - 1.0),
    }


def measures(name: str, path: Path, e: float, changes: dict) -> dict:
    """Return what is claimed about one run."""
    found = orbits(path)
    numbers = {
        f"{name}: largest relative change of the energy": float(changes["energy"].max()),
        f"{name}: largest relative change of the angular momentum": float(changes["angular momentum"].max()),
        f"{name}: farthest knot": float(np.linalg.norm(path.q, axis=1).max()),
        f"{name}: largest distance from the exact position": path.error(e),
        f"{name}: returns": found is not None,
    }
    if found:
        numbers[f"{name}: semi-major axis"] = found.semi_major_axis
        numbers[f"{name}: period over 2π"] = found.period / PERIOD
        numbers[f"{name}: precession in a turn [rad]"] = found.precession
    return numbers


def reduced(case: Case, output: File) -> dict:
    """Run force-stepping and Newmark on l(r, ṙ) and reconstruct the angle (Figs. 8 and 9)."""
    name = f"reduced, {case.name}"
    integrator = sx.reductions.PolarReduction(sx.ForceStepping(case.grid, offset=np.zeros((2, 1))))
    pieces = integrator.start(*kepler(case.e)).inner.follow(case.duration)
    knots = np.unique(np.concatenate([[0.0], pieces.event_times(), [case.duration]]))
    path = visited(integrator.start(*kepler(case.e)), knots)
    numbers = spread(name, path)
    numbers[f"{name}: average step (paper)"] = case.printed_step
    numbers[f"{name}: average step, 2πh/4e"] = PERIOD * case.grid / (4 * case.e)
    dt = case.divided(case.printed_step or numbers[f"{name}: average step"])
    paths = {STEPPING: path, NEWMARK: stepped(case.e, sx.reductions.PolarReduction(sx.Newmark(dt)), dt, case.duration)}
    changes = {
        STEPPING: lattice_invariants(case.e, integrator, case.duration),
        NEWMARK: invariants(paths[NEWMARK], case.e),
    }
    for label, p in paths.items():
        numbers |= measures(f"{name}, {label}", p, case.e, changes[label])
    draw_reduced(case, paths, changes, output / "kepler_reduced.png")
    return numbers


# -- pictures ---------------------------------------------------------------------------------------------------


def draw_orbits(case: Case, paths: dict[str, Path], file: File) -> None:
    """Draw the orbit of each method over the exact one, and where force-stepping steps how far (Figs. 5 and 10)."""
    wide = case.e > 0.9
    figure, panels = plt.subplots(2, 2, figsize=(10, 5.3 if wide else 8.8), dpi=100, layout="constrained")
    places = {STEPPING: panels[0, 0], NEWMARK: panels[1, 0], ENERGY_MOMENTUM: panels[1, 1]}
    for label, axes in places.items():
        draw_orbit(axes, case.e, label, paths[label])
    draw_steps(figure, panels[0, 1], paths[STEPPING])
    for axes in panels.ravel():
        axes.set(xlim=(-2.1, 0.2) if wide else (-2.1, 0.5), ylim=(-0.4, 0.5) if wide else (-1.1, 1.5))
    if wide:  # Newmark leaves the picture
        reach = 1.1 * np.linalg.norm(paths[NEWMARK].q, axis=1).max()
        places[NEWMARK].set(xlim=(-0.9 * reach, 0.1 * reach), ylim=(-0.17 * reach, 0.22 * reach))
    figure.suptitle(f"Kepler's problem, e = {case.e}, {case.turns} turns; force-stepping with h = {case.grid:g}")
    figure.savefig(file)
    plt.close(figure)


def draw_orbit(axes, e: float, label: str, path: Path) -> None:
    every = max(1, len(path.t) // 40_000)
    axes.plot(*path.q[::every].T, color=COLOURS[label], linewidth=0.5)
    axes.plot(*exact(np.linspace(0, PERIOD, 4001), e)[0].T, color="black", linewidth=1.3)
    axes.plot(0, 0, "o", color="black", markersize=3)
    axes.set(title=f"{label} (black: exact)", xlabel="x", ylabel="y", aspect="equal")


def draw_steps(figure, axes, path: Path) -> None:
    """Colour the knots by the step that begins there, on the iso-curves of the potential."""
    steps = np.log10(np.diff(path.t))
    every = max(1, len(steps) // 30_000)
    low, high = np.percentile(steps, [1, 99])
    for radius in 2.0 ** np.arange(-6, 2):
        axes.add_patch(Circle((0, 0), radius, fill=False, color="0.8", linewidth=0.7))
    dots = axes.scatter(
        *path.q[:-1:every].T, c=steps[::every], s=1.0, cmap="viridis", vmin=low, vmax=high, linewidths=0
    )
    figure.colorbar(dots, ax=axes, label="log₁₀ of the time step", shrink=0.85)
    axes.set(title="steps of force-stepping; grey: V = const", xlabel="x", ylabel="y", aspect="equal")


def draw_invariants(case: Case, changes: dict[str, dict], path: Path, file: File) -> None:
    """Draw energies and momenta over time and the histogram of steps (Figs. 6, 7 and 11)."""
    figure, panels = plt.subplots(1, 3, figsize=(13, 4.3), dpi=100, layout="constrained")
    draw_changes(panels[:2], changes)
    draw_histogram(panels[2], path)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower left", ncols=4)
    figure.suptitle(f"Kepler's problem, e = {case.e}")
    figure.savefig(file)
    plt.close(figure)


def draw_changes(panels, changes: dict[str, dict]) -> None:
    lines = [(STEPPING, "energy with V", f"{STEPPING}, K + V", "#9db8dd")]
    lines += [(label, "energy", f"{STEPPING}, K + V_h" if label == STEPPING else label, None) for label in changes]
    for label, what, text, colour in lines:
        draw_change(panels[0], changes[label], what, text, colour or COLOURS[label])
    for label, columns in changes.items():
        draw_change(panels[1], columns, "angular momentum", label, COLOURS[label])
    for axes, what in zip(panels, ("energy", "angular momentum"), strict=True):
        axes.set(xlabel="turns", ylim=(1e-17, 10), title=f"relative change of the {what}")
        axes.grid(alpha=0.25)


def draw_change(axes, columns: dict, what: str, text: str, colour: str) -> None:
    every = max(1, len(columns["turns"]) // 20_000)
    size = np.maximum(columns[what], np.finfo(float).eps / 2)
    axes.semilogy(columns["turns"][::every], size[::every], color=colour, linewidth=0.7)
    axes.plot([], [], color=colour, linewidth=2.5, label=text)


def draw_histogram(axes, path: Path) -> None:
    steps = np.diff(path.t)
    bins = np.geomspace(np.percentile(steps, 0.1), steps.max(), 60)
    axes.hist(steps, bins=bins, color=COLOURS[STEPPING])
    axes.axvline(steps.mean(), color="black", linestyle="--", label=f"average, {steps.mean():.3g}")
    axes.set(xscale="log", xlabel="time step", ylabel="number of steps", title="steps of force-stepping")
    axes.margins(y=0.2)
    axes.legend(loc="upper left")


def draw_reduced(case: Case, paths: dict[str, Path], changes: dict[str, dict], file: File) -> None:
    """Draw the reconstructed orbits, the steps in space, energies and momenta (Figs. 8 and 9)."""
    figure, panels = plt.subplots(2, 3, figsize=(13, 8.4), dpi=100, layout="constrained")
    for axes, label in zip(panels[0], (STEPPING, NEWMARK), strict=False):
        draw_orbit(axes, case.e, label, paths[label])
    draw_steps(figure, panels[0, 2], paths[STEPPING])
    for axes in panels[0]:
        axes.set(xlim=(-2.1, 0.5), ylim=(-1.1, 1.5))
    draw_changes(panels[1, :2], changes)
    draw_histogram(panels[1, 2], paths[STEPPING])
    figure.legend(*panels[1, 0].get_legend_handles_labels(), loc="outside lower left", ncols=4)
    figure.suptitle(f"Kepler's problem reduced to the distance, e = {case.e}, {case.turns} turns; h = {case.grid:g}")
    figure.savefig(file)
    plt.close(figure)


def main() -> None:
    """Run all parts, write numbers.json and the pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=File, default=File("results/kepler"))
    parser.add_argument("--full", action="store_true", help="take all fixed-step methods from symplex")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    numbers = in_the_plane(MODERATE, options.output, options.full)
    numbers |= reduced(REDUCED, options.output)
    numbers |= in_the_plane(STRONG, options.output, options.full)
    (options.output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    for name, value in numbers.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    main()
