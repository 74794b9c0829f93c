"""Two spinning cubes of rubber hit each other off centre: energy, momenta and rebound, by method and step.

    python examples/colliding_cubes.py [--output DIR]

Two cubes of 0.1 m and 192 tetrahedra each close at 3.5 m/s, a tenth of the speed of sound. Energy-momentum takes four
steps that differ twentyfold, with a barrier and with a penalty; compared with explicit Newmark and the midpoint rule.
"""

import argparse
import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from colliding_bodies import Bodies, Run, bodies, follow

import symplex as sx

RUBBER = sx.NeoHookean.from_young(1e6, 0.3, 1000.0)
SPEED, END, LOOKS = 3.5, 0.02, 20
STEPS = 1e-3, 5e-4, 2e-4, 5e-5


def cubes(law: str) -> Bodies:
    """Return the cubes, 12 mm before they meet."""
    left = sx.box((0.1, 0.1, 0.1), (2, 2, 2))
    right = sx.box((0.1, 0.1, 0.1), (2, 2, 2), origin=(0.112, 0.03, 0.02))
    spin = np.array([5.0, 10.0, 20.0])
    motion = {"left": ((0.5 * SPEED, 0.0, 0.0), spin), "right": ((-0.5 * SPEED, 0.0, 0.0), -spin)}
    return bodies({"left": left, "right": right}, RUBBER, motion, law=law, speed=SPEED)


def runs() -> dict[str, Run]:
    """Return all runs by the names of methods."""
    found = {}
    for law in ("barrier", "penalty"):
        of = cubes(law)
        for dt in STEPS:
            found[f"energy-momentum, {law}, {dt:g} s"] = follow(of, sx.EnergyMomentum(dt), END, LOOKS)
        for dt in STEPS[:3:2]:
            found[f"midpoint, {law}, {dt:g} s"] = follow(of, sx.Midpoint(dt), END, LOOKS)
    found["explicit Newmark, penalty"] = follow(of, sx.Newmark("auto"), END, LOOKS)
    return found


def render(of: Bodies, run: Run, output: Path) -> None:
    """Draw the cubes before, in and after contact."""
    file = output / "cubes.vtkhdf"
    file.unlink(missing_ok=True)
    q0 = of.mesh.points
    with sx.open_series(file, q0, {"cubes": sx.meshes.Block.of({"tetra": of.mesh.cells["tetra"]})}) as series:
        for state in run.states:
            stress = {"von_mises": {"cubes": of.solid.von_mises(state.q)}}
            series.append(state.t, state.q - q0, point_data={"velocity": state.v}, cell_data=stress)
    sx.render_snapshots(sx.read_series(file), output / "colliding_cubes.png", times=[0.0, 0.006, 0.010, 0.020])


def draw(found: dict[str, Run], path: Path) -> None:
    """Draw the change of energy in time."""
    fig, ax = plt.subplots(figsize=(7.0, 4.0), layout="constrained")
    for name, run in found.items():
        if "penalty" in name and not name.startswith("explicit"):
            continue
        total = np.array(run.energies["total"])
        style = {"energy-momentum": "-", "midpoint": "--", "explicit Newmark": ":"}[name.split(",")[0]]
        change = np.abs(total - total[0]) / total[0]
        ax.semilogy(1e3 * np.linspace(0.0, END, LOOKS + 1), np.maximum(change, 1e-16), style, label=name)
    ax.set(xlabel="time [ms]", ylabel="change of energy / energy", ylim=(5e-17, 2.0))
    ax.legend(fontsize=7, loc="center right")
    ax.grid(alpha=0.3)
    fig.savefig(path, dpi=110)


def main(output: Path) -> None:
    """Run all, write numbers.json and the pictures."""
    output.mkdir(parents=True, exist_ok=True)
    found, of = runs(), cubes("barrier")
    numbers = {}
    for name, run in found.items():
        exact = found[f"energy-momentum, {'penalty' if 'penalty' in name else 'barrier'}, {STEPS[-1]:g} s"]
        change = of.mean_velocity("right", exact.end) - of.mean_velocity("right", of.start)
        rebound = of.mean_velocity("right", run.end)
        differs = np.linalg.norm(rebound - of.mean_velocity("right", exact.end)) / np.linalg.norm(change)
        numbers[name] = run.numbers() | {
            "rebound [m/s]": rebound.round(4).tolist(),
            "difference of rebound, as part of the change of velocity": round(float(differs), 4),
        }
    draw(found, output / "colliding_cubes_energy.png")
    render(of, found[f"energy-momentum, barrier, {STEPS[-1]:g} s"], output)
    (output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(numbers, indent=1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results/colliding_cubes"))
    main(parser.parse_args().output)
