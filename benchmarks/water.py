"""Clusters of water: microseconds of a step and of its parts, and what is kept for how much work.

    OMP_NUM_THREADS=1 python benchmarks/water.py [--molecules 7 30 100] [--output FILE.json]

First, for clusters of some sizes, the processor time of a step of SHAKE, RATTLE and Zhang and Skeel's simplified method
for stiff systems, and of its parts: forces, and matrix and solution of the last. All take turns, many times, and the
least times count.

Then, for seven molecules without friction and noise, from one state: the spread of the energy over steps, in units of
kT, and processor time of a picosecond, for steps of several sizes and springs; and the same at the paper's numbers if
its energies are in kcal/mol. Takes one minute. Discussed in `docs/water.md`.
"""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time

import numpy as np

import symplex as sx
from symplex.errors import SymplexError

sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))
from tip3p import BETA, KCAL, OMEGA, STEP, TEMPERATURE, Cluster, thermostat, zhang_skeel

ROUNDS, STEPS = 12, 40  # in turns, and steps of each
PICOSECONDS = 1.0  # of the runs that show what is kept
STEPS_OF_SHAKE = (0.05, 0.1, 0.2, 0.4, 0.8, 1.2)
STEPS_OF_SPRINGS = (0.0125, 0.025, 0.05, 0.1, 0.2)


def least_times(calls: dict[str, Callable[[], object]], rounds: int = ROUNDS) -> dict[str, float]:
    """Return the least processor time in µs of calls that take turns."""
    least = dict.fromkeys(calls, np.inf)
    for _ in range(rounds):
        for name, call in calls.items():
            begin = process_time()
            call()
            least[name] = min(least[name], process_time() - begin)
    return {name: 1e6 * seconds for name, seconds in least.items()}


def stepping(motion: sx.Motion, dt: float) -> Callable[[], object]:
    """Return the call that takes some steps of a motion."""
    done = 0

    def go() -> None:
        nonlocal done
        done += STEPS
        motion.advance(done * dt)

    return go


def times_of_a_step(n: int) -> dict[str, float]:
    """Return the processor times in µs of a step with n molecules, and of its parts."""
    cluster = Cluster(n)
    start = cluster.equilibrated(100, 0.3)
    soft = cluster.penalised()
    methods = {
        "SHAKE": (cluster.rigid, cluster.shake()),
        "RATTLE": (cluster.rigid, cluster.rattle()),
        "Zhang-Skeel": (soft, zhang_skeel()),
        "RATTLE, friction and noise": (cluster.rigid, thermostat(cluster.rattle(), by_mass=True)),
        "Zhang-Skeel, friction and noise": (soft, thermostat(zhang_skeel(), by_mass=True)),
    }
    steps = {
        name: stepping(method.start(system, system.state(start.q, start.v)), STEP)
        for name, (system, method) in methods.items()
    }
    force, whole = (sx.variational.ModifiedForce(soft, beta, "simplified", ("molecules",)) for beta in (BETA, 0.0))
    parts = {
        "forces": lambda: [soft.gradient(start.q) for _ in range(STEPS)],
        "modified forces": lambda: [force.accelerations(start.q, STEP) for _ in range(STEPS)],
        "forces as accelerations": lambda: [whole.accelerations(start.q, STEP) for _ in range(STEPS)],
    }
    found = {name: time / STEPS for name, time in least_times({**steps, **parts}).items()}
    found["matrix and solution"] = found.pop("modified forces") - found.pop("forces as accelerations")
    return found


def kept(
    cluster: Cluster, system: sx.System, method: sx.Integrator, dt: float, start: sx.State
) -> dict[str, float | str]:
    """Return the spread and drift of the energy in units of kT, and the processor time of a picosecond in s."""
    duration = PICOSECONDS * 1000.0 / cluster.femtoseconds
    every = max(1, round(duration / 100 / dt))  # some 100 looks
    looks = int(duration / (every * dt))
    total: list[float] = []
    least = np.inf  # processor time between two looks
    try:
        motion = method.start(system, system.state(start.q, start.v))
        for k in range(looks + 1):
            begin = process_time()
            state = motion.advance(k * every * dt)
            least = min(least, process_time() - begin) if k else np.inf
            total.append(motion.energies(state)["total"])
    except SymplexError as error:
        return {"stopped at": f"{len(total) / looks:.2g} of the time: {error}"}
    energy, quarter = np.array(total[1:]) / TEMPERATURE, looks // 4
    return {
        "spread of the energy / kT": float(energy.std()),
        "drift / kT": float(energy[-quarter:].mean() - energy[:quarter].mean()),
        "processor time of a picosecond [s]": least * looks / PICOSECONDS,
    }


def work_and_precision(energy: float) -> dict[str, dict[str, float | str]]:
    """Return what is kept for steps of several sizes, and springs of two frequencies, with a unit of energy in eV."""
    cluster = Cluster(7, energy)
    start = cluster.equilibrated(2000, 0.1)
    found: dict[str, dict[str, float | str]] = {}
    for dt in STEPS_OF_SHAKE:
        found[f"RATTLE, h = {dt} ({dt * cluster.femtoseconds:.2g} fs)"] = kept(
            cluster, cluster.rigid, cluster.rattle(dt), dt, start
        )
    for omega in (OMEGA, 5.0 * OMEGA):
        system = cluster.penalised(omega)
        for dt in STEPS_OF_SPRINGS:
            name = f"Zhang-Skeel, omega = {omega:g}, h = {dt} ({dt * cluster.femtoseconds:.2g} fs)"
            found[name] = kept(cluster, system, zhang_skeel(dt), dt, start)
    return found


def main(molecules: list[int], file: Path | None) -> None:
    """Measure, print and write."""
    found = {
        "µs of a step": {n: times_of_a_step(n) for n in molecules},
        "energies in eV": work_and_precision(1.0),
        "energies in kcal/mol": work_and_precision(KCAL),
    }
    text = json.dumps(found, indent=1, ensure_ascii=False)
    print(text)
    if file:
        file.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--molecules", type=int, nargs="+", default=[7, 30, 100])
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    main(options.molecules, options.output)
