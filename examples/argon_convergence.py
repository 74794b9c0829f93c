"""Figures 17 and 18 of the force-stepping paper: steps and errors of the argon cluster as the grid is refined.

    python examples/argon_convergence.py [--output DIR] [--full]

Gonzalez, Schmidt and Ortiz, "Force-stepping integrators in Lagrangian mechanics" (2010), section 6.2. All in Jacobi
coordinates, with and without parity-invariant triangulations, several runs for each grid size: other lattice offsets
and grid sizes that differ by some percent. By default 0.01 ns down to h = 1.4e-3 nm, in seconds; ``--full`` is the
paper's 0.1 ns, down to h = 9e-5 nm, and takes some minutes.
"""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from argon import BLUE, FEMTOSECOND, ORANGE, POSITIONS, TIES, VELOCITIES, cluster, method
from scipy.integrate import solve_ivp

import symplex as sx

COARSEST = 0.09  # nm; not a multiple of the lengths in Table I
ASYMPTOTIC = 0.02  # nm; exponents are fitted to the grids below,
NEAR = 0.5  # and those of the distance to runs that stay nearer to the exact motion than this share of its norm
EVERY = 2e-6  # ns between two looks at positions, velocities and accelerations
SPANS = (0.001, 0.01, 0.1)  # ns, the times T of the norms
WAYS = {True: ("with parity-invariance (Fig. 17)", BLUE), False: ("without parity-invariance (Fig. 18)", ORANGE)}
EULER = 0.5772156649  # −E[ln x] of an exponential variable x of mean 1


# -- the exact motion ---------------------------------------------------------------------------------------


def exact(times: np.ndarray, disturbance: float = 0.0, tolerance: float = 1e-13) -> np.ndarray:
    """Return q, v and a [3, times, 7, 2] by an explicit Runge-Kutta method of order 8, as exact as it can be.

    With a disturbance in nm, from positions moved at random by as much.
    """
    system, _ = cluster()
    start = POSITIONS + disturbance * np.random.default_rng(0).standard_normal(POSITIONS.shape)

    def rate(_, y):
        q, v = y.reshape(2, 7, 2)
        return np.concatenate([v, -system.gradient(q)]).ravel()

    scales = np.repeat([1.0, 100.0], POSITIONS.size)  # nm, nm/ns
    y0 = np.concatenate([start, VELOCITIES]).ravel()
    found = solve_ivp(rate, (0.0, times[-1]), y0, "DOP853", times, rtol=tolerance, atol=tolerance * scales)
    q, v = found.y.T.reshape(-1, 2, 7, 2).swapaxes(0, 1)
    return np.array([q, v, [-system.gradient(x) for x in q]])


def in_jacobi_coordinates(motion: np.ndarray) -> np.ndarray:
    """Return q', v' and a' [3, times, 6, 2] of q, v and a [3, times, 7, 2]."""
    flat = np.moveaxis(motion, 2, 0)
    relative = sx.reductions.JacobiCoordinates(np.ones(7)).relative(flat.reshape(7, -1))
    return np.moveaxis(relative.reshape(6, *flat.shape[1:]), 0, 2)


# -- one run ------------------------------------------------------------------------------------------------


@dataclass
class Run:
    """What a run of force-stepping shows."""

    h: float  # nm
    steps: np.ndarray  # ns
    norms: dict[float, float]  # ‖q_h‖ over (0, T) by T
    distances: dict[float, float]  # ‖q_h − q‖ over (0, T) by T
    of_positions: dict[float, float]  # largest |q_h − q| over (0, T) by T, in nm


def largest(motion: np.ndarray) -> np.ndarray:
    """Return the greatest |q|, |v| and |a| [3] of q', v' and a' [3, times, 6, 2]; their sum is the norm of eq. 72.

    |·| is the Euclidean norm over the atoms, relative to the centre of mass at rest: Jacobi coordinates are orthogonal
    with the reduced masses.
    """
    mass = sx.reductions.JacobiCoordinates(np.ones(7)).reduced_mass
    return np.sqrt(np.einsum("n,ktnd->kt", mass, motion**2)).max(axis=1)


def run(h: float, mirrored: bool, seed: int, reference: np.ndarray, times: np.ndarray) -> Run:
    """Run force-stepping over the times and compare it with the exact q', v' and a' there."""
    system, state = cluster()
    motion: Any = method("Jacobi", mirrored, h, seed).start(system, state)
    start = motion.inner.advance(times[0])
    events, samples = [], [np.array([[start.q, start.v, start.a]])]
    for part in np.array_split(times[1:], max(1, round(times[-1] / h / 0.5))):
        pieces = motion.inner.follow(part[-1])
        events.append(pieces.event_times())
        samples.append(np.stack(pieces.at(part), axis=1))
    found = np.concatenate(samples).swapaxes(0, 1)
    event_times = np.concatenate(events)
    parts = {span: times <= span * 1.001 for span in SPANS if span <= times[-1] * 1.001}
    norms = {span: largest(found[:, part]).sum() for span, part in parts.items()}
    distances = {span: largest((found - reference)[:, part]) for span, part in parts.items()}
    return Run(
        h,
        np.diff(event_times[event_times > TIES]),
        norms,
        {span: distance.sum() for span, distance in distances.items()},
        {span: distance[0] for span, distance in distances.items()},
    )


# -- numbers ------------------------------------------------------------------------------------------------


def power(h: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """Return the exponent p of values ~ h^p, and its standard error."""
    fit, covariance = np.polyfit(np.log(h), np.log(values), 1, cov=True)
    return float(fit[0]), float(np.sqrt(covariance[0, 0]))


def extremes(runs: list[Run]) -> dict[str, np.ndarray]:
    """Return the average, least and greatest step in ns of each run."""
    return {
        "average": np.array([r.steps.mean() for r in runs]),
        "greatest": np.array([r.steps.max() for r in runs]),
        "least": np.array([r.steps.min() for r in runs]),
    }


def errors(runs: list[Run], span: float, exact_norm: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the error of eq. 73, a difference of norms, and the relative norm of the difference, for each run."""
    differences = np.array([abs(r.norms[span] - exact_norm) for r in runs])
    return differences / exact_norm, np.array([r.distances[span] for r in runs]) / exact_norm


def relative_steps(runs: list[Run]) -> np.ndarray:
    """Return all steps in averages of their run, ascending."""
    return np.sort(np.concatenate([r.steps / r.steps.mean() for r in runs]))


def numbers_of(runs: list[Run], exact_norms: dict[float, float], claimed: dict[str, float]) -> dict[str, float]:
    """Return exponents with their standard errors, the paper's next to them, and what an exponential law predicts."""
    last = max(exact_norms)
    everywhere = power(np.array([r.h for r in runs]), errors(runs, last, exact_norms[last])[0])
    runs = [r for r in runs if r.h < ASYMPTOTIC]
    h = np.array([r.h for r in runs])
    counts = np.array([len(r.steps) for r in runs])
    found: dict[str, float] = {}
    steps = extremes(runs)
    for what, values in steps.items():
        found[f"exponent of the {what} step"], found[f"exponent of the {what} step, standard error"] = power(h, values)
        found[f"exponent of the {what} step (paper)"] = claimed[what]
    found["average step / h [fs/nm]"] = float(np.mean(steps["average"] / h) / FEMTOSECOND)
    ratios = np.log(steps["least"] * counts / steps["average"])
    found["ln(least step · number / average), mean (exponential law: -0.577)"] = float(ratios.mean())
    found["ln(least step · number / average), standard deviation (exponential law: 1.28)"] = float(ratios.std(ddof=1))
    found["greatest step / (average · (ln number + 0.577)), mean (exponential law: 1)"] = float(
        np.mean(steps["greatest"] / (steps["average"] * (np.log(counts) + EULER)))
    )
    short = relative_steps(runs)
    for x in (1e-4, 1e-3, 1e-2, 1.0):
        law = -np.expm1(-x)
        found[f"share of steps below {x:g} averages / exponential law"] = np.searchsorted(short, x) / len(short) / law
    for span, exact_norm in exact_norms.items():
        by_norms, by_distance = errors(runs, span, exact_norm)
        near = by_distance < NEAR
        measured = {
            "eq. 73": (by_norms, near | True),
            "norm of the difference": (by_distance, near),
            "positions": (np.array([r.of_positions[span] for r in runs]), near),
        }
        for what, (values, used) in measured.items():
            if len(np.unique(level(h[used]))) > 2:
                name = f"exponent of the error, {what}, T = {span} ns"
                found[name], found[f"{name}, standard error"] = power(h[used], values[used])
    found[f"exponent of the error, eq. 73, T = {last} ns, all grids"] = everywhere[0]
    found["exponent of the error, eq. 73, T = 0.1 ns (paper)"] = 1.0
    return found


def growth(times: np.ndarray, undisturbed: np.ndarray) -> tuple[dict[float, np.ndarray], float]:
    """Return how far motions come apart that begin some disturbances apart, and the rate of growth in 1/ns."""
    apart = {
        by: np.linalg.norm((exact(times, by)[0] - undisturbed[0]).reshape(len(times), -1), axis=1)
        for by in (1e-11, 1e-9, 1e-7)
    }
    smallest = apart[1e-11]
    grows = (times > SPANS[1] / 2) & (smallest < 1e-3)
    return apart, float(np.polyfit(times[grows], np.log(smallest[grows]), 1)[0])


# -- pictures -----------------------------------------------------------------------------------------------


def draw_steps(path: Path, runs: dict[bool, list[Run]]) -> None:
    """Draw the steps over the grid size (left of Figs. 17 and 18), and how they are distributed."""
    figure = plt.figure(figsize=(13.5, 4.8), layout="constrained")
    panels = figure.subplots(1, 3)
    for axes, (mirrored, (title, colour)) in zip(panels, WAYS.items(), strict=False):
        h = np.array([r.h for r in runs[mirrored]])
        line = np.geomspace(h.min(), h.max(), 2)
        for (what, values), marker, order in zip(extremes(runs[mirrored]).items(), "*os", (1, 1, 2), strict=True):
            exponent, error = power(h[h < ASYMPTOTIC], values[h < ASYMPTOTIC])
            label = f"{what}: h^({exponent:.2f} ± {error:.2f})"
            axes.loglog(h, values / FEMTOSECOND, marker, color=colour, ms=4, mfc="none", label=label)
            constant = np.exp(np.mean(np.log(values / h**order)[h < ASYMPTOTIC])) / FEMTOSECOND
            axes.loglog(line, constant * line**order, "k:", lw=1.0, label="h, h, h²" if order == 2 else None)
        axes.set(title=title, xlabel="grid size h (nm)", ylabel="time step (fs)")
        axes.set_ylim(top=3e6)
        axes.legend(loc="upper left")
    multiples = np.geomspace(1e-7, 12.0, 80)
    for mirrored, (title, colour) in WAYS.items():
        steps = relative_steps([r for r in runs[mirrored] if r.h < ASYMPTOTIC])
        number = np.searchsorted(steps, multiples)
        seen = number > 10
        panels[2].loglog(multiples[seen], number[seen] / len(steps), "o", color=colour, ms=3.5, mfc="none", label=title)
    panels[2].loglog(multiples, -np.expm1(-multiples), "k-", lw=1.0, label="exponential distribution, 1 − exp(−x)")
    panels[2].set(
        title="distribution of the steps, all grids",
        xlabel="x = step / average",
        ylabel="share of steps shorter than x",
    )
    panels[2].set_ylim(top=1e3)
    panels[2].legend(loc="upper left")
    share_grid(panels)
    figure.savefig(path, dpi=90)


def draw_errors(path: Path, runs: dict[bool, list[Run]], norms: dict[float, float], times, apart, rate: float) -> None:
    """Draw the errors over the grid size (right of Figs. 17 and 18), and how neighbouring motions come apart."""
    figure = plt.figure(figsize=(13.5, 4.8), layout="constrained")
    panels = figure.subplots(1, 3)
    for k, title in enumerate((r"error of eq. 73: $|\,\|q_h\|-\|q\|\,|\;/\;\|q\|$", r"error $\|q_h-q\|\;/\;\|q\|$")):
        for span, shade in zip(norms, (1.0, 0.6, 0.3), strict=False):
            for mirrored, marker in ((True, "o"), (False, "^")):
                h, values = in_the_mean(runs[mirrored], errors(runs[mirrored], span, norms[span])[k])
                colour = WAYS[mirrored][1]
                label = f"T = {span} ns, {'with' if mirrored else 'without'} parity-inv."
                panels[k].loglog(h, values, marker + "-", color=colour, alpha=shade, ms=5, lw=1.0, label=label)
        line = np.array([2e-4, 2e-2])
        panels[k].loglog(line, line, "k:", label="slope 1")
        panels[k].set(
            title=title, xlabel="grid size h (nm)", ylabel=r"relative error in $W^{2,\infty}$, rms over the runs"
        )
        panels[k].set_ylim(1e-4, 1e4)
        panels[k].legend(fontsize=8.5, loc="upper left", ncols=1)
    for by, distance in apart.items():
        panels[2].semilogy(times, distance, lw=1.0, label=f"{by:.0e} nm apart at t = 0")
    panels[2].set(
        title=f"neighbouring motions: e-fold in {1e3 / rate:.2f} ps",
        xlabel="time (ns)",
        ylabel="distance |q| (nm)",
    )
    panels[2].legend(loc="lower right")
    share_grid(panels)
    figure.savefig(path, dpi=90)


def in_the_mean(runs: list[Run], values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return grid sizes and root mean squares over the runs of about the same grid size."""
    h = np.array([r.h for r in runs])
    of_level = [level(h) == k for k in np.unique(level(h))]
    return np.array([h[k].mean() for k in of_level]), np.array([np.sqrt(np.mean(values[k] ** 2)) for k in of_level])


def share_grid(panels: np.ndarray) -> None:
    """Give all panels a light grid."""
    for axes in panels:
        axes.grid(alpha=0.25)


# -- all of it ----------------------------------------------------------------------------------------------


def level(h: np.ndarray) -> np.ndarray:
    """Return how often the coarsest grid was halved."""
    return np.round(np.log2(COARSEST / h)).astype(int)


def grid_sizes(levels: int, runs: int) -> list[tuple[float, int]]:
    """Return grid sizes in nm, each halved in turn, and seeds; fewer runs for the finest ones."""
    requested = []
    for halved in range(levels):
        few = runs if halved < 7 else max(runs // 3, 2)
        middle = (few - 1) / 2
        requested += [(COARSEST * 2.0**-halved * np.exp(0.03 * (k - middle)), k) for k in range(few)]
    return requested


def main() -> None:
    """Run all grids, write numbers.json and the pictures."""
    parser = argparse.ArgumentParser(description="Figures 17 and 18 of the force-stepping paper.")
    parser.add_argument("--output", type=Path, default=Path("results/argon_convergence"))
    parser.add_argument("--full", action="store_true", help="the paper's 0.1 ns, down to h = 9e-5 nm")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    duration, levels, repeats = (0.1, 11, 8) if options.full else (0.01, 7, 3)
    times = EVERY * np.arange(round(duration / EVERY) + 1)
    undisturbed = exact(times)
    reference = in_jacobi_coordinates(undisturbed)
    norms = {span: float(largest(reference[:, times <= span * 1.001]).sum()) for span in SPANS if span <= duration}
    runs = {
        mirrored: [run(h, mirrored, seed, reference, times) for h, seed in grid_sizes(levels, repeats)]
        for mirrored in WAYS
    }
    apart, rate = growth(times, undisturbed)
    numbers = {f"norm of the exact motion, T = {span} ns": value for span, value in norms.items()}
    apart_by_tolerance = np.linalg.norm(exact(times[[0, -1]], tolerance=1e-12)[0, -1] - undisturbed[0, -1])
    numbers[f"exact motions of tolerances 1e-12 and 1e-13 apart at {duration} ns [nm]"] = float(apart_by_tolerance)
    numbers["rate at which neighbouring motions come apart [1/ns]"] = rate
    for mirrored, (title, _) in WAYS.items():
        claimed = {"average": 1.0, "greatest": 1.0, "least": 1.75 if mirrored else 2.0}
        numbers |= {f"{title}: {what}": value for what, value in numbers_of(runs[mirrored], norms, claimed).items()}
    draw_steps(options.output / "argon_steps.png", runs)
    draw_errors(options.output / "argon_convergence.png", runs, norms, times, apart, rate)
    (options.output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    for name, value in numbers.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    main()
