"""Studies: how hard a rope catches a climber; a mesh and a step refined; two runs compared.

    python examples/parameter_study.py [--output DIR] [--workers N]

The first study is `falling_climber.toml` with 12 ropes and falls. At the lowest point the fall has become strain
energy, m g (f + u) = ½ k u², so that the rope catches with k u = m g (1 + √(1 + 2 k f/(m g))).
The second one halves the elements of a hanging block (without Poisson's contraction its energy is (ρ g)² A L³/(6 E)),
the third one the step. The last compares the motions of two steps, field by field.
"""

import argparse
import json
import math
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import symplex as sx

HERE = Path(__file__).parent
BLOCK = """
[define]
n = 1
[[body]]
name = "block"
mesh = { box = [0.4, 0.4, 1.0], cells = [1, 1, "=n"], split = "hexahedra" }
formulation = "full"
material = { law = "linear-elastic", young = 1e6, poisson = 0.0, density = 1000 }
[[support]]
body = "block"
group = "z_max"
components = "xyz"
[gravity]
acceleration = [0, 0, -10]
[start]
kind = "static"
[integrator]
kind = "energy-momentum"
dt = 1e-3
[run]
duration = 1e-3
frames = 1
samples = 1
[output]
pictures = false
"""
BLOCK_ENERGY = (1000.0 * 10.0) ** 2 * 0.16 / (6.0 * 1e6)
SWUNG = BLOCK.replace('[start]\nkind = "static"\n', "").replace("n = 1\n", "n = 4\n", 1)
SWUNG = SWUNG.replace("duration = 1e-3\nframes = 1\nsamples = 1", "duration = 0.1\nframes = 5").replace("1e-3", "5e-3")


def caught(values: dict[str, float]) -> float:
    """Return the exact force in N with which a rope catches."""
    weight, k = 80.0 * 9.81, values["define.EA"] / 10.0
    return weight * (1.0 + math.sqrt(1.0 + 2.0 * k * values["define.f"] / weight))


def main(output: Path, workers: int) -> None:
    """Run the studies, write numbers.json and the picture."""
    output.mkdir(parents=True, exist_ok=True)
    ropes = sx.sweep(
        HERE / "falling_climber.toml",
        {"define.EA": "log(1e4, 1e5, 4)", "define.f": [1.0, 4.0, 8.0]},
        quantities=["max(rope)", "drift.total"],
        output=output / "ropes",
        workers=workers,
        progress=False,
    )
    forces = [math.sqrt(2.0 * one.values["define.EA"] / 10.0 * one.numbers["max(rope)"]) for one in ropes.members]
    exact = [caught(one.values) for one in ropes.members]
    mesh = sx.converge(
        sx.Scenario.parse(BLOCK, "block.toml"),
        "define.n",
        refinements=3,
        quantities=["first(block)"],
        output=output / "mesh",
        workers=workers,
        progress=False,
    )
    step = sx.converge(
        sx.Scenario.parse(SWUNG, "swung.toml"),
        quantities=["final(block)"],
        output=output / "step",
        workers=workers,
        progress=False,
    )
    found = sx.compare(step.study.members[-2].path, step.study.members[-1].path, output=output / "steps-compared")
    draw(ropes, forces, mesh, step, output / "parameter_study.png")
    numbers = {
        "members": len(ropes.members),
        "largest relative error of the catching force": float(np.max(np.abs(np.array(forces) / exact - 1.0))),
        "mesh: observed order": mesh.order("first(block)"),
        "mesh: relative error of the extrapolated energy": abs(mesh.limits["first(block)"] / BLOCK_ENERGY - 1.0),
        "step: observed order": step.order("final(block)"),
        "compared: relative difference of displacements of the two smallest steps": found["displacement"].relative,
    }
    (output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    for name, value in numbers.items():
        print(f"{name}: {value}")


def draw(ropes: sx.studies.Sweep, forces: list[float], mesh, step, file: Path) -> None:
    """Draw the catching force over the ratio of fall and rope, and errors over elements and steps."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.5), dpi=80, layout="constrained")
    for modulus in dict.fromkeys(one.values["define.EA"] for one in ropes.members):
        of_it = [
            (one, force) for one, force in zip(ropes.members, forces, strict=True) if one.values["define.EA"] == modulus
        ]
        falls = [one.values["define.f"] / 10.0 for one, _ in of_it]
        line = left.plot(falls, [force / 1e3 for _, force in of_it], "o", label=f"EA = {modulus / 1e3:.1f} kN")[0]
        fine = np.linspace(0.1, 0.8, 50)
        exact = [caught({"define.EA": modulus, "define.f": 10.0 * ratio}) / 1e3 for ratio in fine]
        left.plot(fine, exact, color=line.get_color(), linewidth=0.9)
    left.set(xlabel="fall / length of rope", ylabel="force in kN", title="A rope catches (lines: exact)")
    left.legend(fontsize=8)
    for study, name, label in ((mesh, "first(block)", "elements"), (step, "final(block)", "steps")):
        order = f"{label}: order {study.order(name):.3f}"
        right.loglog(study.sizes, study.errors(name) / abs(study.limits[name]), "o-", label=order)
    right.set(xlabel="size, relative to the coarsest", ylabel="relative error", title="Convergence")
    right.legend()
    for axes in (left, right):
        axes.grid(alpha=0.25)
    figure.savefig(file)
    plt.close(figure)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results/parameter_study"))
    parser.add_argument("--workers", type=int, default=0, help="processes; default: none but this one")
    options = parser.parse_args()
    main(options.output, options.workers)
