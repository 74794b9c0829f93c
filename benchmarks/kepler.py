"""Work against precision on Kepler's problem with e = 0.99, eight turns.

    OMP_NUM_THREADS=1 python benchmarks/kepler.py [--quick] [--json FILE] [--picture FILE.png]

The largest error of the position over the CPU time to the end: force-stepping in x, y and in the distance alone,
explicit Newmark and energy-momentum, each as symplex has them (loops in Python around compiled assembly) and in loops
compiled for this one problem, and DOP853 of scipy. The planet starts at its nearest point, as in the force-stepping
paper, or at its farthest.

The methods with a fixed step are timed over 3000 steps, and the time multiplied; their errors are those of the compiled
loops, whose steps are the same. Those of force-stepping are root mean squares over lattices.
"""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time

import numpy as np
from scipy.integrate import solve_ivp

import symplex as sx

sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))
from kepler_orbit import PERIOD, energy_momentum, exact, force_stepping, kepler, lattice, newmark, visited

E, TURNS = 0.99, 8
DURATION = TURNS * PERIOD
TIMED_STEPS = 3000
CROSSINGS = 4 * (1 + np.sqrt(1 - E**2) + np.sqrt(2 - E**2))  # of the faces of a lattice with h = 1 in a turn

# A method: how long it takes to the end in s and what it errs, for a step and the time of the start.
Method = Callable[[float, float], tuple[float, float]]


def cpu_time(run: Callable[[], object], times: int = 3) -> float:
    """Return the least CPU time in s of several runs."""
    found = []
    for _ in range(times):
        begin = process_time()
        run()
        found.append(process_time() - begin)
    return min(found)


def plane(step: float, t0: float, lattices: int, vertex: bool = False) -> tuple[float, float]:
    """Run force-stepping in x, y at an average step."""
    h = step * CROSSINGS / PERIOD
    start = exact(np.array([t0]), E)[0][0]
    if vertex:
        integrators = [lattice(g, start - 1e-6 * g) for g in h * np.linspace(0.98, 1.02, lattices)]
    else:
        integrators = [sx.ForceStepping(h, seed=k) for k in range(lattices)]
    work = cpu_time(lambda: integrators[0].start(*kepler(E, t0)).advance(t0 + DURATION))
    errors = [force_stepping(E, integrator, DURATION, t0).error(E) for integrator in integrators]
    return work, root_mean_square(errors)


def polar(step: float, t0: float, lattices: int, vertex: bool = False) -> tuple[float, float]:
    """Run force-stepping in the distance at an average step; its errors are seen at 20 000 events at most."""
    h = step * 4 * E / PERIOD
    start = float(np.linalg.norm(exact(np.array([t0]), E)[0]))
    errors, integrators = [], []
    for k in range(lattices):
        grid = h * (1 + 0.02 * k) if vertex else h
        corner = start / grid - 1e-6 if vertex else np.random.default_rng(k).random()
        inner = sx.ForceStepping(grid, offset=np.array([[0.0], [corner % 1.0]]))
        integrators.append(sx.reductions.PolarReduction(inner))
        pieces = integrators[-1].start(*kepler(E, t0)).inner.follow(t0 + DURATION)
        knots = np.unique(np.append(pieces.event_times()[:: 1 + len(pieces.time) // 20_000], t0 + DURATION))
        errors.append(visited(integrators[-1].start(*kepler(E, t0)), knots).error(E))
    work = cpu_time(lambda: integrators[0].start(*kepler(E, t0)).advance(t0 + DURATION))
    return work, root_mean_square(errors)


def root_mean_square(errors: list[float]) -> float:
    return float(np.sqrt(np.mean(np.square(errors))))


def fixed_step(integrator: Callable[[float], sx.Integrator], compiled: Callable, step: float, t0: float):
    """Time a method of symplex."""
    motion = integrator(step).start(*kepler(E, t0))
    starts = iter(range(3))
    work = cpu_time(lambda: motion.advance(t0 + (next(starts) + 1) * TIMED_STEPS * step))
    return work * DURATION / (TIMED_STEPS * step), compiled(E, step, DURATION, t0).error(E)


def compiled_loop(compiled: Callable, step: float, t0: float) -> tuple[float, float]:
    """Time a loop compiled for this problem."""
    work = cpu_time(lambda: compiled(E, step, DURATION, t0))
    return work, compiled(E, step, DURATION, t0).error(E)


def dop853(tolerance: float, t0: float) -> tuple[float, float]:
    """Run scipy's DOP853, which chooses its steps by the tolerance."""
    q, v = exact(np.array([t0]), E)
    start = np.concatenate([q[0], v[0]])
    found = []

    def run():
        found[:] = [solve_ivp(pull, (t0, t0 + DURATION), start, "DOP853", rtol=tolerance, atol=tolerance)]

    work = cpu_time(run, 1)
    error = np.linalg.norm(found[0].y[:2].T - exact(found[0].t, E)[0], axis=1).max()
    return work, float(error)


def pull(_t: float, y: np.ndarray) -> tuple[float, float, float, float]:
    """Return the rates of x, y, ẋ, ẏ."""
    c = -1.0 / (y[0] * y[0] + y[1] * y[1]) ** 1.5
    return y[2], y[3], c * y[0], c * y[1]


def methods(lattices: int, levels: int) -> dict[str, tuple[Method, np.ndarray]]:
    """Return the methods by name, with their steps or tolerances."""
    steps = 2.0 ** -np.arange(10, 10 + levels)
    newmarks = 2.0 ** -np.arange(11, 11 + levels)
    return {
        "force-stepping": (lambda s, t: plane(s, t, lattices), steps),
        "force-stepping, from a vertex": (lambda s, t: plane(s, t, lattices, True), steps),
        "force-stepping, reduced": (lambda s, t: polar(s, t, lattices), steps[: levels - 2]),
        "force-stepping, reduced, from a vertex": (lambda s, t: polar(s, t, lattices, True), steps[: levels - 2]),
        "Newmark": (lambda s, t: fixed_step(sx.Newmark, newmark, s, t), newmarks),
        "Newmark, compiled for this": (lambda s, t: compiled_loop(newmark, s, t), newmarks),
        "energy-momentum": (lambda s, t: fixed_step(sx.EnergyMomentum, energy_momentum, s, t), steps),
        "energy-momentum, compiled for this": (lambda s, t: compiled_loop(energy_momentum, s, t), steps),
        "DOP853 of scipy": (dop853, 10.0 ** -np.arange(3.0, 14.0)),
    }


STYLES = {
    "force-stepping": ("o-", "#2c5fa8"),
    "force-stepping, from a vertex": ("o:", "#2c5fa8"),
    "force-stepping, reduced": ("v-", "#6aa6e8"),
    "force-stepping, reduced, from a vertex": ("v:", "#6aa6e8"),
    "Newmark": ("s-", "#c0392b"),
    "Newmark, compiled for this": ("s--", "#e59387"),
    "energy-momentum": ("d-", "#2e8b57"),
    "energy-momentum, compiled for this": ("d--", "#8fcba5"),
    "DOP853 of scipy": ("x-", "0.3"),
}


def draw(found: dict, file: Path) -> None:
    """Draw errors over CPU times, for both starts."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(12.5, 6.4), dpi=100, sharey=True, layout="constrained")
    for axes, (start, curves) in zip(panels, found.items(), strict=True):
        for name, rows in curves.items():
            style, colour = STYLES[name]
            _, work, error = np.transpose(rows)
            axes.loglog(work, error, style, color=colour, label=name, markersize=5, linewidth=1.4)
        axes.set(title=f"from the {start} point", xlabel="CPU time [s]", ylim=(1e-8, 5))
        axes.grid(alpha=0.25)
    panels[0].set_ylabel("max |q_h − q| in 8 turns")
    figure.suptitle("Kepler's problem, e = 0.99: work against precision")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    figure.savefig(file)


def main() -> None:
    """Run all methods from both starts, print and draw the errors over the CPU times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer steps and lattices")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    lattices, levels = (2, 5) if options.quick else (4, 7)
    for compiled in (newmark, energy_momentum):
        compiled(E, 0.1, 1.0)
    polar(1e-3, 0.0, 1)
    found = {}
    for start, t0 in (("nearest", 0.0), ("farthest", 0.5 * PERIOD)):
        found[start] = {}
        for name, (method, steps) in methods(lattices, levels).items():
            if t0 and name.endswith("vertex"):
                continue
            found[start][name] = [(float(step), *method(float(step), t0)) for step in steps]
            for step, work, error in found[start][name]:
                print(f"from the {start} point, {name:38s} {step:9.3g} {work:9.3g} s   {error:9.3g}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if options.picture:
        draw(found, options.picture)


if __name__ == "__main__":
    main()
