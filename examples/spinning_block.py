"""A rubber block spins and vibrates, by methods of order 2 to 8: what an error costs, and what is kept.

    python examples/spinning_block.py [--output DIR] [--full]

A neo-Hookean block turns about its shortest axis, in the shape in which stress and centrifugal force balance, and
vibrates in its lowest modes. Graham and Jelenić (2006) have methods of high order for trusses; as the force on a solid
is 𝓕 x with a symmetric secant matrix 𝓕 as well, they hold for it unchanged: M4, and CM4, CM6 and CM8 of their
recursion. Beside them stand energy-momentum and explicit Newmark and their compositions to order 4, 6 and 8. All errors
are those of the positions after half a turn, against a composition of explicit Newmark of order 8 at a very small step.

``--full`` takes a whole turn, a finer mesh, more steps, and more methods of second order.
"""

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import eigh

import symplex as sx
from symplex.time.stability import stable_step

OMEGA = 2.0  # rad/s
MODES, SPEED = (6, 7, 9), 0.2  # which modes are excited, and the speed in m/s in each
LOOKS = 20
# Steps by method, as parts of the number of stable steps of explicit Newmark; the second ones with --full only.
IMPLICIT = (1, 2), (0.5,)
FAMILIES = {
    "momentum-conserving-4": ("#c0392b", "s-", *IMPLICIT),
    "cayley-magnus-4": ("#8e44ad", "o--", *IMPLICIT),
    "cayley-magnus-6": ("#2c5fa8", "o-", *IMPLICIT),
    "cayley-magnus-8": ("#2e8b57", "o-", *IMPLICIT),
    "midpoint": ("#a6761d", "x-", (), (1, 4, 8)),
    "Newmark, trapezoidal": ("#a6761d", "+:", (), (1, 4, 8)),
    "assumed-distance": ("#1b9e77", "x--", (), (1, 4)),
    "energy-momentum-exact-angle": ("#1b9e77", "+-.", (), (1, 4)),
    "exact-steady-motion": ("#1b9e77", ".:", (), (1, 4)),
    "energy-momentum": ("#d08a1d", "^-", (1, 4), (8,)),
    "energy-momentum, composed to 4": ("#d08a1d", "v--", (0.2, 0.8), (1.6,)),
    "energy-momentum, composed to 6": ("#d08a1d", "v-.", (0.2, 0.4), (0.8,)),
    "energy-momentum, composed to 8": ("#d08a1d", "v:", (0.1, 0.2), (0.4,)),
    "explicit Newmark": ("#555555", "^-", (2, 8), (32, 128)),
    "explicit Newmark, composed to 4": ("#555555", "v--", (2, 4), (8, 16)),
    "explicit Newmark, composed to 6": ("#555555", "v-.", (2, 4), (8,)),
    "explicit Newmark, composed to 8": ("#555555", "v:", (2, 4), (8,)),
}


@dataclass(frozen=True)
class Block:
    """The block, its initial state, the time of its turn, and the least number of stable steps of explicit Newmark."""

    mesh: sx.Mesh
    strain: sx.Solid
    system: sx.System
    start: sx.State
    end: float
    stable_steps: int


@dataclass(frozen=True)
class Run:
    """One run: the error at the end, processor time, and relative changes of what may be kept, look by look."""

    steps: int
    error: float
    seconds: float
    energy: np.ndarray
    momentum: float
    angular_momentum: np.ndarray


def method(name: str, dt: float) -> sx.Integrator:
    """Return a method by its name here."""
    if name in (
        "momentum-conserving-4",
        "cayley-magnus-4",
        "cayley-magnus-6",
        "cayley-magnus-8",
        "assumed-distance",
        "energy-momentum-exact-angle",
        "exact-steady-motion",
    ):
        return sx.GrahamJelenic(dt, name)
    if name in ("midpoint", "Newmark, trapezoidal"):
        return sx.Midpoint(dt) if name == "midpoint" else sx.Newmark.trapezoidal(dt)
    kind, _, order = name.partition(", composed to ")
    second = sx.EnergyMomentum(dt) if kind == "energy-momentum" else sx.Newmark(dt)
    return sx.Composition(second, int(order)) if order else second


def block(cells: tuple[int, int, int], turns: float) -> Block:
    """Return the block, turning steadily but for some of its lowest modes."""
    mesh = sx.box((1.0, 0.6, 0.3), cells, split="24", origin=(-0.5, -0.3, -0.15))
    tets = mesh.cells["tetra"]
    mass = sx.lumped_mass(mesh.points, tets, 1.0, len(mesh.points))
    strain = sx.Solid(mesh.points, tets, sx.NeoHookean(lmbda=2.0, mu=1.0, density=1.0))
    system = sx.System(mass, {"strain": strain})
    steady = sx.equilibria.relative_equilibrium(system, mesh.points, [0.0, 0.0, OMEGA]).state
    _, modes = eigh(
        system.hessian(steady.q).toarray(), np.diag(np.repeat(mass, 3)), subset_by_index=[MODES[0], MODES[-1]]
    )
    v = steady.v.copy()
    for k in MODES:
        mode = modes[:, k - MODES[0]]
        sign = np.sign(mode[np.argmax(np.abs(mode))])
        v += SPEED * np.sqrt(mass.sum()) * sign * mode.reshape(v.shape)
    end = 2.0 * np.pi / OMEGA * turns
    stable_steps = int(np.ceil(end / stable_step(system, steady.q)))
    return Block(mesh, strain, system, system.state(steady.q, v), end, stable_steps)


def run(of: Block, make: Callable[[float], sx.Integrator], steps: int, exact: np.ndarray) -> Run:
    """Follow the block round."""
    system, start, dt = of.system, of.start, of.end / steps
    make(dt).start(system, start).advance(dt)  # compiled, if it was not
    motion, seconds = make(dt).start(system, start), 0.0
    states = [start]
    for n in np.unique(np.arange(1, LOOKS + 1) * steps // LOOKS):
        if n > 0:
            began = process_time()
            states.append(motion.advance(n * dt))
            seconds += process_time() - began
    energy = np.array([system.energies_of(s)["total"] for s in states])
    p = np.array([system.momentum(s) for s in states])
    j = np.array([system.angular_momentum(s) for s in states])
    size = np.linalg.norm(np.asarray(system.mass)[:, None] * start.v)
    error = float(np.sqrt(np.mean(np.sum((states[-1].q - exact) ** 2, axis=1))))
    return Run(
        steps,
        error,
        seconds,
        np.abs(energy - energy[0]) / system.kinetic(start.v),
        float(np.abs(p - p[0]).max() / size),
        np.linalg.norm(j - j[0], axis=1) / np.linalg.norm(j[0]),
    )


def runs_of(of: Block, exact: np.ndarray, full: bool) -> tuple[dict[str, list[Run]], dict[str, str]]:
    """Return the runs of each method, from the largest step on, and what is said of steps that can't be taken."""
    found: dict[str, list[Run]] = {}
    failed: dict[str, str] = {}
    for name, (_, _, parts, more) in FAMILIES.items():
        found[name] = []
        for part in sorted(parts + more if full else parts):
            steps = max(round(part * of.stable_steps), 1)
            try:
                found[name].append(run(of, lambda dt, name=name: method(name, dt), steps, exact))
            except sx.SymplexError as error:
                failed[f"{name}, {steps} steps: failed"] = str(error)
    return found, failed


# -- numbers and pictures -----------------------------------------------------------------------------------------


def measures(name: str, runs: list[Run]) -> dict[str, float]:
    """Return what is claimed about one method."""
    numbers = {}
    for r in runs:
        key = f"{name}, {r.steps} steps"
        numbers[f"{key}: error [m]"] = r.error
        numbers[f"{key}: processor time [s]"] = round(r.seconds, 4)
        numbers[f"{key}: largest change of the energy"] = float(r.energy.max())
        numbers[f"{key}: largest change of the momentum"] = r.momentum
        numbers[f"{key}: largest change of the angular momentum"] = float(r.angular_momentum.max())
    above = [r for r in runs if r.error > 1e-11][-2:]  # of round-off
    if len(above) == 2:
        ratio = above[1].steps / above[0].steps
        numbers[f"{name}: order"] = float(np.log(above[0].error / above[1].error) / np.log(ratio))
    return numbers


def draw_errors(found: dict[str, list[Run]], end: float, file: Path) -> None:
    """Draw errors against steps and processor time."""
    figure, panels = plt.subplots(1, 2, figsize=(12, 6), sharey=True, layout="constrained")
    for name, runs in found.items():
        if not runs:
            continue
        color, style, *_ = FAMILIES[name]
        errors = [r.error for r in runs]
        panels[0].loglog([end / r.steps for r in runs], errors, style, color=color, markersize=5, label=name)
        panels[1].loglog([r.seconds for r in runs], errors, style, color=color, markersize=5)
    panels[0].set(xlabel="step in s", ylabel="error of the positions at the end, in m", title="errors against steps")
    panels[1].set(xlabel="processor time in s", title="and against processor time")
    for axes in panels:
        axes.grid(alpha=0.25)
    figure.legend(loc="outside lower center", ncols=4, fontsize=9)
    figure.savefig(file, dpi=90)
    plt.close(figure)


def draw_histories(found: dict[str, list[Run]], end: float, file: Path) -> None:
    """Draw the changes of energy and angular momentum, by all methods that were run with about one step."""
    figure, panels = plt.subplots(1, 2, figsize=(12, 5), sharey=True, layout="constrained")
    for name in (
        "momentum-conserving-4",
        "cayley-magnus-4",
        "cayley-magnus-6",
        "cayley-magnus-8",
        "energy-momentum",
        "explicit Newmark",
        "explicit Newmark, composed to 8",
    ):
        color, style, *_ = FAMILIES[name]
        r = found[name][max(len(found[name]) - 2, 0)]
        t = np.linspace(0.0, end, len(r.energy))
        label = f"{name}, {r.steps} steps"
        for axes, change in zip(panels, (r.energy, r.angular_momentum), strict=True):
            axes.semilogy(t[1:], np.maximum(change[1:], 1e-17), style, color=color, markersize=4, label=label)
    for axes, title in zip(panels, ("energy", "angular momentum"), strict=True):
        axes.set(title=f"relative change of the {title}", xlabel="time in s")
        axes.grid(alpha=0.25)
    panels[1].legend(fontsize=8, loc="upper left")
    figure.savefig(file, dpi=90)
    plt.close(figure)


def render(of: Block, output: Path) -> tuple[float, float]:
    """Draw the block on its way by CM6; return the least and the greatest principal stretch."""
    file = output / "block.vtkhdf"
    file.unlink(missing_ok=True)  # of an earlier run
    times = np.linspace(0.0, of.end, 9)
    motion, stretches = (
        sx.GrahamJelenic(of.end / (16 * -(-of.stable_steps // 16)), "cayley-magnus-6").start(of.system, of.start),
        [],
    )
    with sx.open_series(
        file, of.mesh.points, {"block": sx.meshes.Block.of({"tetra": of.mesh.cells["tetra"]})}
    ) as series:
        for t in times:
            q = motion.advance(t).q
            stress = {"von_mises": {"block": of.strain.von_mises(q)}}
            series.append(t, q - of.mesh.points, cell_data=stress)
            stretches.append(np.linalg.svd(of.strain.deformation_gradients(q), compute_uv=False))
    picture = output / "spinning_block.png"
    sx.render_snapshots(sx.read_series(file), picture, times=times[:8].tolist(), width=1200)
    return float(np.min(stretches)), float(np.max(stretches))


def main(output: Path, full: bool) -> None:
    """Run all methods, write numbers.json and the pictures."""
    output.mkdir(parents=True, exist_ok=True)
    of = block((5, 3, 2), 1.0) if full else block((4, 2, 1), 0.5)
    fine, finer = (
        sx.Composition(sx.Newmark(of.end / (part * of.stable_steps)), 8).start(of.system, of.start).advance(of.end)
        for part in (12, 24)
    )
    numbers: dict[str, float | str] = {
        "unknowns": 3 * of.system.n_nodes,
        "tetrahedra": len(of.mesh.cells["tetra"]),
        "least number of stable steps of explicit Newmark": of.stable_steps,
        "error of the reference, or less [m]": float(np.abs(fine.q - finer.q).max()),
    }
    found, failed = runs_of(of, finer.q, full)
    for name, runs in found.items():
        numbers |= measures(name, runs)
    numbers |= failed
    numbers["least principal stretch"], numbers["greatest principal stretch"] = render(of, output)
    draw_errors(found, of.end, output / "spinning_block_errors.png")
    draw_histories(found, of.end, output / "spinning_block_histories.png")
    (output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    for name, value in numbers.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results/spinning_block"))
    parser.add_argument("--full", action="store_true", help="a whole turn, a finer mesh, more steps and methods")
    options = parser.parse_args()
    main(options.output, options.full)
