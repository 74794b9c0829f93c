"""Section 6.1.3 of the force-stepping paper: convergence on Kepler's problem, its Figures 12 and 13.

    python examples/kepler_convergence.py [--output DIR] [--full]

Some turns with e = 0.85 and 0.99, by force-stepping, explicit Newmark and the energy-momentum method of LaBudde and
Greenspan, over their average steps: the semi-major axis, the period and the positions against the exact ones. Then the
same positions when the planet starts at its farthest point, and by force-stepping when it starts next to a lattice
vertex: what the paper's figures compare is how the methods err at the start. By default three turns and few lattices,
which takes some ten seconds; ``--full`` is eight turns, more lattices and smaller steps, and takes some minutes.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path as File
from typing import NamedTuple

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from kepler_orbit import PERIOD, Path, energy_momentum, exact, force_stepping, lattice, newmark, orbits

import symplex as sx

STEPPING, VERTEX, NEWMARK, ENERGY_MOMENTUM = "force-stepping", "from a vertex", "Newmark", "energy-momentum"
FAR = ", from the farthest point"
STYLES = {
    STEPPING: ("o-", "#2c5fa8"),
    f"{STEPPING}, {VERTEX}": ("^-", "#6aa6e8"),
    NEWMARK: ("s-", "#c0392b"),
    ENERGY_MOMENTUM: ("d-", "#2e8b57"),
    STEPPING + FAR: ("o--", "#2c5fa8"),
    NEWMARK + FAR: ("s--", "#c0392b"),
}


class Errors(NamedTuple):
    """Errors of one run, or root mean squares of several, or arrays of these over the steps.

    Those of the apsides are NaN where the orbit does not close.
    """

    step: np.ndarray
    axis: np.ndarray
    period: np.ndarray
    precession: np.ndarray
    first_turn: np.ndarray
    position: np.ndarray


class Study(NamedTuple):
    """An orbit and for how long it is followed."""

    e: float
    turns: int
    lattices: int

    @property
    def duration(self) -> float:
        return self.turns * PERIOD


WORDS = {
    "axis": "semi-major axis",
    "period": "period, relative",
    "precession": "precession in a turn [rad]",
    "first_turn": "position, first turn",
    "position": "position",
}


def errors(path: Path, e: float) -> Errors:
    """Measure a path."""
    found = orbits(path)
    spectral = [np.nan] * 3
    if found:
        spectral = [abs(found.semi_major_axis - 1.0), abs(found.period / PERIOD - 1.0), abs(found.precession)]
    away = np.linalg.norm(path.q - exact(path.t, e)[0], axis=1)
    first = path.t - path.t[0] <= PERIOD
    step = (path.t[-1] - path.t[0]) / (len(path.t) - 1)
    return Errors._make(np.array([step, *spectral, away[first].max(), away.max()]))


def grid_for(step: float, e: float) -> float:
    """Return the grid size with this average step: an orbit crosses 4(1 + b + √(1 + b²))/h faces in a turn."""
    b = np.sqrt(1.0 - e * e)
    return step * 4.0 * (1.0 + b + np.hypot(1.0, b)) / PERIOD


def on_random_lattices(study: Study, step: float, t0: float = 0.0) -> Errors:
    """Return root mean square errors of force-stepping over random lattices."""
    integrators = [sx.ForceStepping(grid_for(step, study.e), seed=k) for k in range(study.lattices)]
    return root_mean_square(study, integrators, t0)


def from_vertex(study: Study, step: float) -> Errors:
    """Return the same for a start one millionth of a grid size from a vertex; the grid size varies by 2 per cent."""
    start = exact(np.zeros(1), study.e)[0][0]
    grids = grid_for(step, study.e) * np.linspace(0.98, 1.02, study.lattices)
    return root_mean_square(study, [lattice(h, start - 1e-6 * h) for h in grids], 0.0)


def root_mean_square(study: Study, integrators: list[sx.ForceStepping], t0: float) -> Errors:
    runs = [errors(force_stepping(study.e, integrator, study.duration, t0), study.e) for integrator in integrators]
    return Errors._make(np.sqrt(np.mean(np.square(runs), axis=0)))


def convergence(study: Study, steps: np.ndarray) -> dict[str, Errors]:
    """Return the errors of all methods, each an array over the steps."""
    e, duration, far = study.e, study.duration, 0.5 * PERIOD
    methods: dict[str, Callable[[float], Errors]] = {
        STEPPING: lambda step: on_random_lattices(study, step),
        f"{STEPPING}, {VERTEX}": lambda step: from_vertex(study, step),
        NEWMARK: lambda step: errors(newmark(e, step, duration), e),
        ENERGY_MOMENTUM: lambda step: errors(energy_momentum(e, step, duration), e),
        STEPPING + FAR: lambda step: on_random_lattices(study, step, far),
        NEWMARK + FAR: lambda step: errors(newmark(e, step, duration, far), e),
    }
    return {label: Errors._make(np.transpose([method(step) for step in steps])) for label, method in methods.items()}


def rates(e: float, curves: dict[str, Errors]) -> dict:
    """Fit an order to every curve: to the last five steps, as far as the errors there are below a third."""
    numbers = {}
    for label, curve in curves.items():
        numbers[f"e = {e}, {label}: least step"] = float(curve.step[-1])
        for measure, words in WORDS.items():
            error, step = getattr(curve, measure)[-5:], curve.step[-5:]
            small = error < 1 / 3
            if np.count_nonzero(small) >= 3:
                order = np.polyfit(np.log(step[small]), np.log(error[small]), 1)[0]
                numbers[f"e = {e}, {label}: order of the {words}"] = float(order)
            numbers[f"e = {e}, {label}: error of the {words} at the least step"] = float(error[-1])
    return numbers


def comparison(e: float, curves: dict[str, Errors]) -> dict:
    """Compare Newmark with force-stepping at the least step, and with what the start makes of it.

    Far from the centre Newmark's modified energy is H; at the start, where v² = (1 + e)/(1 − e) and r = 1 − e, it is
    H + dt² (v·∇²V v/12 − |∇V|²/24) = H + dt² (1 + 2e)/24r⁴. Force-stepping moves with H + V_h − V of the start, whose
    root mean square over the lattices is h²/(6√2 r³). The semi-major axis errs by 2a² of this.
    """
    stepping, verlet = curves[STEPPING], curves[NEWMARK]
    step, r = verlet.step[-1], 1.0 - e
    of_newmark = step**2 * (1.0 + 2.0 * e) / (24.0 * r**4)
    of_stepping = grid_for(step, e) ** 2 / (6.0 * np.sqrt(2.0) * r**3)
    return {
        f"e = {e}: error of the semi-major axis by the energy at the start, Newmark": float(2.0 * of_newmark),
        f"e = {e}: error of the semi-major axis by the energy at the start, force-stepping": float(2.0 * of_stepping),
        f"e = {e}: Newmark's error over force-stepping's, by the energies at the start": float(
            of_newmark / of_stepping
        ),
        **{
            f"e = {e}: Newmark's error over force-stepping's, {words}": float(
                getattr(verlet, measure)[-1] / getattr(stepping, measure)[-1]
            )
            for measure, words in WORDS.items()
        },
    }


def draw_convergence(curves: dict[float, dict[str, Errors]], file: File) -> None:
    """Draw the errors of the paper's methods and start (Figs. 12 and 13)."""
    figure, panels = plt.subplots(2, 3, figsize=(12.5, 8), dpi=100, sharex="row", layout="constrained")
    names = {"axis": "|a_h − 1|", "period": "|ω_h/2π − 1|", "position": "max |q_h − q| over all turns"}
    for row, (e, by_method) in zip(panels, curves.items(), strict=True):
        for axes, (measure, name) in zip(row, names.items(), strict=True):
            for label in (STEPPING, NEWMARK, ENERGY_MOMENTUM):
                draw_curve(axes, by_method[label], measure, label)
            draw_second_order(axes, by_method[STEPPING].step, getattr(by_method[STEPPING], measure)[-1] / 3.0)
            axes.set(title=f"e = {e}: {name}", xlabel="average time step")
            axes.grid(alpha=0.25)
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    figure.savefig(file)
    plt.close(figure)


def draw_starts(curves: dict[float, dict[str, Errors]], file: File) -> None:
    """Draw the errors of the positions for several starts."""
    figure, panels = plt.subplots(1, 2, figsize=(12.5, 5.6), dpi=100, layout="constrained")
    for axes, (e, by_method) in zip(panels, curves.items(), strict=True):
        for label, curve in by_method.items():
            draw_curve(axes, curve, "position", label)
        axes.set(title=f"e = {e}: max |q_h − q| over all turns", xlabel="average time step", ylim=(None, 20))
        axes.grid(alpha=0.25)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    figure.savefig(file)
    plt.close(figure)


def draw_curve(axes, curve: Errors, measure: str, label: str) -> None:
    style, colour = STYLES[label]
    axes.loglog(curve.step, getattr(curve, measure), style, color=colour, label=label, markersize=4.5, linewidth=1.3)


def draw_second_order(axes, steps: np.ndarray, low: float) -> None:
    """Draw a line of the second order that begins at an error at the least step."""
    axes.loglog(steps, low * (steps / steps.min()) ** 2, ":", color="0.4", label="order 2")


def main() -> None:
    """Run all methods for both eccentricities, write numbers.json and the pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=File, default=File("results/kepler_convergence"))
    parser.add_argument("--full", action="store_true", help="eight turns, six lattices and smaller steps")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    turns, lattices, levels = (8, 6, 8) if options.full else (3, 3, 6)
    numbers, curves = {}, {}
    for e, coarsest in ((0.85, 6), (0.99, 9)):
        curves[e] = convergence(Study(e, turns, lattices), 2.0 ** -np.arange(coarsest, coarsest + levels))
        numbers |= rates(e, curves[e]) | comparison(e, curves[e])
    draw_convergence(curves, options.output / "kepler_convergence.png")
    draw_starts(curves, options.output / "kepler_starts.png")
    numbers = {name: value for name, value in numbers.items() if np.isfinite(value)}
    (options.output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    for name, value in numbers.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    main()
