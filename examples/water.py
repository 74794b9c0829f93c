"""Seven molecules of water: section 4.3 and Figures 4 to 6 of Tao and Owhadi (2014).

    python examples/water.py [--output DIR] [--full]

Tao and Owhadi, "Variational and linearly-implicit integrators, with applications". Molecules of TIP3P water
(`tip3p.py`) are rigid by constraints, with RATTLE, or nearly so by penalties, with Zhang and Skeel's simplified method
for stiff systems (eq. 19), which solves one 9 × 9 system for each molecule and step.

At the paper's kT = 0.02 by the Geometric Langevin Algorithm: the distances of oxygens (Figure 4), energies and speed.
Without friction and noise: multipliers of the first molecule from the penalties and from SHAKE (Figure 5), energy and
momenta next to one-iteration Newmark, which begins at the last positions or at predicted ones (Figure 6). ``--full``
takes the paper's time, 10000, instead of 250.
"""

import argparse
import json
import sys
from pathlib import Path
from time import process_time

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle

import symplex as sx
from symplex.fem.energies.energy import Array

sys.path.insert(0, str(Path(__file__).parent))
from tip3p import (
    BETA,
    KCAL,
    OMEGA,
    STEP,
    TEMPERATURE,
    Cluster,
    Run,
    follow,
    histogram,
    mean_and_error,
    thermostat,
    zhang_skeel,
)

from papers.linearly_implicit import LinearlyImplicitNewmark

CLUSTER = Cluster(7)
RIGID, SOFT, NEWMARK, PREDICTED = "RATTLE", "Zhang-Skeel", "one-iteration Newmark", "one iteration, predicted"
COLOURS = {RIGID: "#2c5fa8", SOFT: "#c0392b", NEWMARK: "#888888", PREDICTED: "#2e8b57"}
SYSTEMS = {RIGID: CLUSTER.rigid, SOFT: CLUSTER.penalised()}
METHODS: dict[str, sx.Integrator] = {RIGID: CLUSTER.rattle(), SOFT: zhang_skeel()}
EDGES = np.linspace(2.0, 8.0, 61)  # Å
STIFF, FINE, WINDOW = 500.0, 0.0005, 0.2  # ω and window of Figure 5, and a step that resolves the swings of the springs


# -- Figure 4: at constant temperature --------------------------------------------------------------------------


def sampled(start: sx.State, steps: int) -> dict[str, Run]:
    """Follow the cluster at constant temperature by both methods."""
    return {
        name: follow(SYSTEMS[name], thermostat(method, by_mass=name == RIGID, seed=1), start, steps, 20)
        for name, method in METHODS.items()
    }


def settled(run: Run) -> Array:
    """Return the positions after the first fifth, in which the springs of the penalties take their share of heat."""
    return run.path.q[len(run.path.q) // 5 :]


def sampling_numbers(runs: dict[str, Run]) -> dict[str, float | str]:
    """Return energies, temperatures and distances at constant temperature, and times of a step."""
    found: dict[str, float | str] = {}
    for name, run in runs.items():
        late = {key: values[len(values) // 5 :] for key, values in run.path.energies.items()}
        freedom = CLUSTER.n * (6 if name == RIGID else 9)
        energy = (late["charges"] + late["van der Waals"]) / CLUSTER.n / KCAL
        distances = CLUSTER.oxygen_distances(settled(run))
        found[f"{name}: energy of a molecule [kcal/mol]"], found[f"{name}: its standard error"] = mean_and_error(energy)
        heat, error = mean_and_error(2.0 * late["kinetic"] / freedom / TEMPERATURE)
        found[f"{name}: kinetic temperature / T"], found[f"{name}: its standard error, relative"] = heat, error
        found[f"{name}: mean distance of oxygens [Å]"] = float(distances.mean())
        found[f"{name}: neighbours within 3.5 Å"] = CLUSTER.neighbours(settled(run))
        found[f"{name}: most frequent distance [Å]"] = first_peak(distances)
        found[f"{name}: processor time of a step with friction and noise [µs]"] = 1e6 * run.seconds
        if name == SOFT:
            springs = late["molecules"].mean() / (1.5 * CLUSTER.n * TEMPERATURE)
            found[f"{name}: energy of the springs / that of equipartition"] = float(springs)
            found[f"{name}: the same by linear theory"] = springs_by_linear_theory()
    first, second = (histogram(CLUSTER.oxygen_distances(settled(run)), EDGES) for run in runs.values())
    width = EDGES[1] - EDGES[0]
    found["difference of the distributions (0: none, 1: disjoint)"] = float(0.5 * width * np.abs(first - second).sum())
    found["speed of Zhang-Skeel / RATTLE, a step"] = runs[RIGID].seconds / runs[SOFT].seconds
    return found


def first_peak(distances: Array) -> float:
    """Return the most frequent distance in Å."""
    density = histogram(distances, EDGES)
    k = int(np.argmax(density))
    return float(0.5 * (EDGES[k] + EDGES[k + 1]))


def springs_by_linear_theory() -> float:
    """Return how much more energy than kT/2 the springs of one molecule have on average at this step.

    Of a mode of frequency ω, whose frequency in the step is ω̃ = ω/√(1 + βh²ω²), velocity Verlet keeps
    ½ v² + ½ ω̃² (1 − h²ω̃²/4) x², and the Langevin equation gives that kT.
    """
    alone = Cluster(1)
    bars = alone.rods
    stiffness = sx.System(alone.mass, {"molecules": alone.penalty(OMEGA)}).hessian(alone.droplet()).toarray()
    scale = np.repeat(1.0 / np.sqrt(alone.mass), 3)
    squares = (STEP**2 * np.linalg.eigvalsh(scale[:, None] * stiffness * scale))[-len(bars.nodes) :]
    slowed = squares / (1.0 + BETA * squares)
    return float(np.mean(squares / (slowed * (1.0 - 0.25 * slowed))))


# -- Figure 5: multipliers --------------------------------------------------------------------------------------


def multipliers(start: sx.State, duration: float, dt: float) -> dict[str, Array]:
    """Return those of the first molecule, for |d|² − L² as in the paper: ``t``, ``SHAKE``, ``at t`` and ``averaged``.

    Averages over a window from the penalised cluster, times being the middles of the windows.
    """
    steps, half, look = round(duration / dt), round(0.5 * WINDOW / dt), max(1, round(0.02 / dt))
    penalty, system = CLUSTER.penalty(STIFF), CLUSTER.penalised(STIFF)
    path = sx.record(system, zhang_skeel(dt), system.state(start.q, start.v), dt * np.arange(steps + 1))
    t, averaged = (values[::look] for values in penalty.averaged_multipliers(path.t, path.q, WINDOW))
    motion = CLUSTER.shake(dt).start(CLUSTER.rigid, start)
    shaken = []
    for moment in t:
        motion.advance(moment)
        shaken.append(motion.multipliers()["molecules"])
    swinging = np.array([penalty.multipliers(q) for q in path.q[half::look][: len(t)]])
    lengths = 2.0 * CLUSTER.rods.length
    found = {"SHAKE": np.array(shaken), "averaged": averaged, "at t": swinging}
    return {"t": t} | {name: (values / lengths)[:, :3] for name, values in found.items()}


def multiplier_numbers(found: dict[str, Array], coarse: dict[str, Array]) -> dict[str, float]:
    """Return how far averages are from SHAKE's multipliers, those without averages, and those at the paper's step."""
    return {
        "multipliers: root mean square by SHAKE [eV/Å²]": float(np.sqrt(np.mean(found["SHAKE"] ** 2))),
        "multipliers by averages: mean difference": float(np.abs(found["averaged"] - found["SHAKE"]).mean()),
        "multipliers without averages: mean difference": float(np.abs(found["at t"] - found["SHAKE"]).mean()),
        "multipliers by averages at h = 0.05: mean difference": float(
            np.abs(coarse["averaged"] - coarse["SHAKE"]).mean()
        ),
    }


# -- Figure 6: what is kept -------------------------------------------------------------------------------------


def kept(start: sx.State, duration: float) -> dict[str, sx.Trajectory]:
    """Follow the cluster without friction and noise by SHAKE, eq. 19 and one-iteration Newmark, from one state."""
    steps = round(duration / STEP)
    times = STEP * np.arange(0, steps + 1, 10)
    return {
        RIGID: sx.record(CLUSTER.rigid, CLUSTER.rattle(), start, times),
        SOFT: sx.record(SYSTEMS[SOFT], METHODS[SOFT], start, times),
        NEWMARK: sx.record(SYSTEMS[SOFT], LinearlyImplicitNewmark(STEP, BETA), start, times),
        PREDICTED: sx.record(SYSTEMS[SOFT], LinearlyImplicitNewmark(STEP, BETA, "predicted"), start, times),
    }


def conservation_numbers(paths: dict[str, sx.Trajectory]) -> dict[str, float]:
    """Return changes of energy and momenta, and how far distances in molecules are from what they should be."""
    found: dict[str, float] = {}
    for name, path in paths.items():
        total = path.energies["total"]
        quarter = len(total) // 4
        found |= {
            f"{name}: spread of the energy / kT": float(total.std() / TEMPERATURE),
            f"{name}: drift of the energy from the first to the last quarter / kT": float(
                (total[-quarter:].mean() - total[:quarter].mean()) / TEMPERATURE
            ),
            f"{name}: largest change of momentum": float(np.abs(path.momentum - path.momentum[0]).max()),
            f"{name}: largest change of angular momentum": float(
                np.linalg.norm(path.angular_momentum - path.angular_momentum[0], axis=1).max()
            ),
            f"{name}: largest error of a distance in a molecule [Å]": float(
                max(np.abs(CLUSTER.rods.value(q[CLUSTER.rods.nodes])).max() for q in path.q)
            ),
        }
    found["size of the angular momentum"] = float(np.linalg.norm(paths[RIGID].angular_momentum[0]))
    return found


# -- pictures ---------------------------------------------------------------------------------------------------


def draw(runs: dict[str, Run], found: dict[str, Array], paths: dict[str, sx.Trajectory], folder: Path) -> None:
    """Draw Figures 4 and 5, and Figure 6."""
    figure, panels = plt.subplots(1, 3, figsize=(15, 4.6), dpi=85, layout="constrained")
    draw_cluster(panels[0], runs[RIGID].path.q[-1])
    for name, run in runs.items():
        density = histogram(CLUSTER.oxygen_distances(settled(run)), EDGES)
        panels[1].stairs(density, EDGES, color=COLOURS[name], linewidth=1.4, label=name)
    duration = runs[RIGID].path.t[-1]
    panels[1].set(
        title=f"distances of oxygens, T = {duration:g} (Figure 4)", xlabel="distance in Å", ylabel="density in 1/Å"
    )
    panels[2].plot(found["t"], found["at t"][:, 0], color="#bbbbbb", linewidth=0.6, label="penalty, no average")
    panels[2].plot(found["t"], found["averaged"][:, 0], color=COLOURS[SOFT], label="penalty, averages")
    panels[2].plot(found["t"], found["SHAKE"][:, 0], "--", color=COLOURS[RIGID], label="SHAKE")
    panels[2].set(title="multiplier of a bond O-H, ω = 500 (Figure 5)", xlabel="time in 10.2 fs", ylabel="eV/Å²")
    for axes in panels[1:]:
        axes.legend()
        axes.grid(alpha=0.25)
    figure.suptitle("Seven molecules of water (Tao and Owhadi 2014)")
    figure.savefig(folder / "water.png")
    plt.close(figure)

    figure, panels = plt.subplots(1, 3, figsize=(15, 4.2), dpi=85, layout="constrained")
    for name, path in paths.items():
        momenta = np.abs(path.momentum - path.momentum[0]).max(axis=1)
        spin = np.linalg.norm(path.angular_momentum - path.angular_momentum[0], axis=1)
        curves = np.abs(path.energies["total"] - path.energies["total"][0]) / TEMPERATURE, momenta, spin
        for axes, curve in zip(panels, curves, strict=True):
            axes.semilogy(path.t[1:], np.maximum(curve[1:], 1e-17), color=COLOURS[name], linewidth=0.8, label=name)
    for axes, title in zip(panels, ("energy / kT", "momentum", "angular momentum"), strict=True):
        axes.set(title=f"change of the {title}", xlabel="time in 10.2 fs")
        axes.legend()
        axes.grid(alpha=0.25)
    figure.suptitle(f"Without friction and noise, h = {STEP}, ω = {OMEGA:g} (Figure 6)")
    figure.savefig(folder / "water_conservation.png")
    plt.close(figure)


def draw_cluster(axes: Axes, q: Array) -> None:
    """Draw the atoms as balls, the nearer ones over those behind."""
    spread = q[1::3] - q[1::3].mean(axis=0)
    _, _, directions = np.linalg.svd(spread, full_matrices=False)  # seen along the least extent
    x = (q - q[1::3].mean(axis=0)) @ directions.T
    order = np.argsort(x[:, 2])
    for k in order:
        oxygen = k % 3 == 1
        depth = (x[k, 2] - x[order[0], 2]) / np.ptp(x[:, 2])
        shade = 0.25 + 0.45 * depth if oxygen else 0.35 - 0.3 * depth
        colour = plt.get_cmap("Reds" if oxygen else "Greys")(shade)
        axes.add_patch(Circle(x[k, :2], 0.75 if oxygen else 0.45, facecolor=colour, edgecolor="black", lw=0.6))
    reach = np.abs(x[:, :2]).max() + 1.0
    axes.set(title="the cluster at the end", xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    axes.set_axis_off()


# -- all of it --------------------------------------------------------------------------------------------------


def main(output: Path, full: bool) -> None:
    """Run all, write numbers.json and the pictures."""
    output.mkdir(parents=True, exist_ok=True)
    begin = process_time()
    start = CLUSTER.equilibrated(4000, 0.3)
    runs = sampled(start, 200_000 if full else 5_000)
    found, coarse = multipliers(start, 10.0 if full else 2.0, FINE), multipliers(start, 2.0, STEP)
    paths = kept(start, 500.0 if full else 50.0)
    numbers: dict[str, float | str] = {
        "kT = 0.02 in K": TEMPERATURE * CLUSTER.kelvin,
        "h = 0.05 in fs": STEP * CLUSTER.femtoseconds,
        "energy of a molecule at the start [kcal/mol]": CLUSTER.rigid.potential(start.q) / CLUSTER.n / KCAL,
        "speed of Zhang-Skeel / SHAKE, a step (paper)": 13472 / 1549,
        "processor time of a step by SHAKE [µs] (paper)": 1e6 * 13472 / 200_000,
        "processor time of a step by Zhang-Skeel [µs] (paper)": 1e6 * 1549 / 200_000,
    }
    numbers |= sampling_numbers(runs) | multiplier_numbers(found, coarse) | conservation_numbers(paths)
    draw(runs, found, paths, output)
    numbers["processor time of all [s]"] = process_time() - begin
    (output / "numbers.json").write_text(json.dumps(numbers, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for name, value in numbers.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results/water"))
    parser.add_argument("--full", action="store_true", help="the paper's time, 10000")
    options = parser.parse_args()
    main(options.output, options.full)
