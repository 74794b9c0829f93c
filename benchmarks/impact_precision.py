"""Error against CPU time in the oblique impact: force-stepping on two directions of the lattice, and explicit Newmark.

    OPENBLAS_NUM_THREADS=1 python benchmarks/impact_precision.py [--quick] [--json FILE] [--picture FILE.png]

The cube of section 6.3 of Gonzalez, Schmidt and Ortiz on mesh I, 60 µs. Two errors are measured against Newmark at a
step of 0.025 ns, itself compared with 0.05 ns: the largest nodal position error in the middle of the impact, at 15 µs,
and the error of the mean velocity after it. Force-stepping is run from several lattice offsets (root mean square).
"""

import argparse
import json
from pathlib import Path
from time import process_time

import numpy as np
from force_stepping import impact

import symplex as sx

MIDDLE, END = 15e-6, 60e-6  # s
WALL_AXES = np.array([[1, 0, 0], [0, np.sqrt(0.5), np.sqrt(0.5)], [0, -np.sqrt(0.5), np.sqrt(0.5)]])
GRIDS = (1e-3, 5e-4, 2.5e-4, 1.25e-4, 6.25e-5, 3.1e-5, 1.6e-5)  # m
STEPS = (1e-8, 5e-9, 2e-9, 1e-9, 5e-10, 2e-10, 1e-10)  # s


def run(system: sx.System, integrator: sx.Integrator, state: sx.State) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the positions at 15 µs, the mean velocity at 60 µs, and the CPU time in s."""
    begin = process_time()
    motion = integrator.start(system, state)
    middle = motion.advance(MIDDLE)
    end = motion.advance(END)
    return middle.q, system.momentum(end) / system.mass.sum(), process_time() - begin


def errors(found: list, reference: tuple) -> dict[str, float]:
    """Return the root mean square errors and the mean time of several runs."""
    return {
        "position [m]": float(np.sqrt(np.mean([np.abs(q - reference[0]).max() ** 2 for q, _, _ in found]))),
        "mean velocity [m/s]": float(np.sqrt(np.mean([np.sum((v - reference[1]) ** 2) for _, v, _ in found]))),
        "seconds": float(np.mean([seconds for _, _, seconds in found])),
    }


def measure(quick: bool) -> dict[str, list[dict]]:
    """Return the rows of each method."""
    system, state = impact(sx.cube_mesh("I"))
    run(system, sx.Newmark(dt=1e-8), state)  # compiles
    run(system, sx.ForceStepping(1e-3), state)
    fine = 2e-10 if quick else 2.5e-11
    reference = run(system, sx.Newmark(dt=fine), state)
    rows = {"reference against twice its step": [errors([run(system, sx.Newmark(dt=2 * fine), state)], reference)]}
    seeds = range(2 if quick else 6)
    for label, axes in (("force-stepping, coordinate axes", None), ("force-stepping, axes of the wall", WALL_AXES)):
        rows[label] = []
        for h in GRIDS[:4] if quick else GRIDS:
            found = [run(system, sx.ForceStepping(h, seed=seed, axes=axes), state) for seed in seeds]
            rows[label].append({"h [m]": h, **errors(found, reference)})
    rows["explicit Newmark"] = [
        {"dt [s]": dt, **errors([run(system, sx.Newmark(dt=dt), state)], reference)}
        for dt in (STEPS[:4] if quick else STEPS)
    ]
    return rows


def draw(rows: dict[str, list[dict]], path: Path) -> None:
    """Draw both errors over the CPU time."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained", sharex=True)
    names = {
        "position [m]": "position error at 15 µs (m)",
        "mean velocity [m/s]": "error of the rebound velocity (m/s)",
    }
    for panel, (key, name) in zip(panels, names.items(), strict=True):
        for label, marker in zip(list(rows)[1:], "os^", strict=True):
            panel.loglog([r["seconds"] for r in rows[label]], [r[key] for r in rows[label]], marker + "-", label=label)
        panel.set(xlabel="CPU time (s)", ylabel=name)
        panel.grid(alpha=0.3)
    panels[0].legend(fontsize="small")
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--picture", type=Path)
    arguments = parser.parse_args()
    table = measure(arguments.quick)
    for label, entries in table.items():
        print(label)
        for row in entries:
            print("   ", ", ".join(f"{key} {value:.3g}" for key, value in row.items()))
    if arguments.json:
        arguments.json.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
    if arguments.picture:
        draw(table, arguments.picture)
