"""A droplet of a hundred molecules of water: section 4.3 and Figure 7 of Tao and Owhadi (2014).

    python examples/water_100.py [--output DIR] [--full]

Tao and Owhadi, "Variational and linearly-implicit integrators, with applications". As `water.py`, with 44 550 pairs of
charges: the distances of oxygens at the paper's kT = 0.02, by RATTLE and by Zhang and Skeel's simplified method for
stiff systems, and the processor time of a step and of its forces, and SHAKE's, without friction and noise. ``--full``
takes the paper's time, 1000, instead of 15.
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

import symplex as sx

sys.path.insert(0, str(Path(__file__).parent))
from tip3p import KCAL, STEP, TEMPERATURE, Cluster, Run, follow, histogram, thermostat, zhang_skeel
from water import COLOURS, RIGID, SOFT, draw_cluster

CLUSTER = Cluster(100)
EDGES = np.linspace(2.0, 20.0, 91)  # Å
SHAKE, AGAIN = "SHAKE, no friction and noise", "RATTLE, other noise"


def seconds_of_forces(system: sx.System, q: np.ndarray, times: int = 20) -> float:
    """Return the least processor time in s of the forces of a system."""
    found = []
    for _ in range(times):
        begin = process_time()
        system.gradient(q)
        found.append(process_time() - begin)
    return min(found)


def difference(one: Run, other: Run) -> float:
    """Return by which part of their area the distributions of distances differ."""
    first, second = (histogram(CLUSTER.oxygen_distances(run.path.q), EDGES) for run in (one, other))
    return float(0.5 * np.sum(np.diff(EDGES) * np.abs(first - second)))


def numbers_of(runs: dict[str, Run], start: sx.State) -> dict[str, float]:
    """Return what was sampled by both methods and how long a step took."""
    found = {
        "energy of a molecule at the start [kcal/mol]": CLUSTER.rigid.potential(start.q) / CLUSTER.n / KCAL,
        "processor time of a step by SHAKE [µs] (paper)": 1e6 * 42234 / 20_000,
        "processor time of a step by Zhang-Skeel [µs] (paper)": 1e6 * 30059 / 20_000,
        "speed of Zhang-Skeel / SHAKE, a step (paper)": 42234 / 30059,
        "processor time of the forces [µs]": 1e6 * seconds_of_forces(CLUSTER.rigid, start.q),
    }
    picoseconds = STEP * CLUSTER.femtoseconds / 1000.0
    for name, run in runs.items():
        found[f"{name}: processor time of a step [µs]"] = 1e6 * run.seconds
        found[f"{name}: processor time of a picosecond [s]"] = run.seconds / picoseconds
        freedom = CLUSTER.n * (9 if name == SOFT else 6)
        late = {key: values[len(values) // 2 :] for key, values in run.path.energies.items()}
        energy = late["charges"] + late["van der Waals"]
        found[f"{name}: energy of a molecule [kcal/mol]"] = float(energy.mean() / CLUSTER.n / KCAL)
        found[f"{name}: kinetic temperature / T"] = float(2.0 * late["kinetic"].mean() / freedom / TEMPERATURE)
        found[f"{name}: neighbours within 3.5 Å"] = CLUSTER.neighbours(run.path.q)
        found[f"{name}: largest error of a distance in a molecule [Å]"] = float(
            max(np.abs(CLUSTER.rods.value(q[CLUSTER.rods.nodes])).max() for q in run.path.q)
        )
    found["difference of the distributions (0: none, 1: disjoint)"] = difference(runs[RIGID], runs[SOFT])
    found["the same between runs of RATTLE with other noise"] = difference(runs[RIGID], runs[AGAIN])
    found["speed of Zhang-Skeel / RATTLE, a step"] = runs[RIGID].seconds / runs[SOFT].seconds
    return found


def draw(runs: dict[str, Run], file: Path) -> None:
    """Draw the droplet and the distances of oxygens."""
    figure, panels = plt.subplots(1, 2, figsize=(12, 5.2), dpi=85, layout="constrained")
    draw_cluster(panels[0], runs[RIGID].path.q[-1])
    for name in (RIGID, SOFT):
        density = histogram(CLUSTER.oxygen_distances(runs[name].path.q), EDGES)
        panels[1].stairs(density, EDGES, color=COLOURS[name], linewidth=1.4, label=name)
    panels[1].set(
        title=f"distances of oxygens, T = {runs[RIGID].path.t[-1]:g}", xlabel="distance in Å", ylabel="density in 1/Å"
    )
    panels[1].legend()
    panels[1].grid(alpha=0.25)
    figure.suptitle("A hundred molecules of water (Tao and Owhadi 2014, Figure 7)")
    figure.savefig(file)
    plt.close(figure)


def main(output: Path, full: bool) -> None:
    """Run all, write numbers.json and the picture."""
    output.mkdir(parents=True, exist_ok=True)
    start = CLUSTER.equilibrated(4000 if full else 400, 0.3)
    steps = 20_000 if full else 300
    soft = CLUSTER.penalised()
    runs = {
        RIGID: follow(CLUSTER.rigid, thermostat(CLUSTER.rattle(), by_mass=True, seed=1), start, steps, 20),
        AGAIN: follow(CLUSTER.rigid, thermostat(CLUSTER.rattle(), by_mass=True, seed=2), start, steps, 20),
        SOFT: follow(soft, thermostat(zhang_skeel(), by_mass=True, seed=1), start, steps, 20),
        SHAKE: follow(CLUSTER.rigid, CLUSTER.shake(), start, min(steps, 2000), 20),
    }
    numbers = numbers_of(runs, start)
    draw(runs, output / "water_100.png")
    (output / "numbers.json").write_text(json.dumps(numbers, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for name, value in numbers.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results/water_100"))
    parser.add_argument("--full", action="store_true", help="the paper's time, 1000")
    options = parser.parse_args()
    main(options.output, options.full)
