"""Approximate potentials, and triangulations that keep parity: Figures 1 and 4 of the force-stepping paper.

    python examples/triangulations.py [--output DIR] [--full]

Gonzalez, Schmidt and Ortiz, "Force-stepping integrators in Lagrangian mechanics" (2010), section 4.3. Squares with one
diagonal each, whose neighbours are copies or mirror images of each other across all lines of a direction, make three
triangulations of the plane: copies in both directions, mirror images in both, and mirror images in one. The second can
lie about the origin in two ways. For each: its diagonals as V_h has them, whether a motion that starts reflected is the
reflection of the motion, and the error of the motion of four particles. ``--full`` takes more lattices.

Before, Kepler's potential along a line past the centre, and what stands for it: terraces in energy-stepping, a
continuous piecewise-linear function in force-stepping (Figure 1).
"""

import argparse
import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_ivp

import symplex as sx
from papers.energy_stepping import EnergyStepping

# By name: what is mirrored (x and y), the offset of the planes that do not have to go through the origin, and a colour.
LATTICES = {
    "copies": ((False, False), (0.0, 0.0), "#555555"),
    "mirror images in both directions": ((True, True), (0.0, 0.0), "#2c5fa8"),
    "the same about another vertex": ((True, True), (1.0, 0.0), "#2e8b57"),
    "mirror images in one direction": ((True, False), (0.0, 0.0), "#c0392b"),
}
H, DURATION = 0.02, 0.5  # of the reflected motions
GRIDS, LONG = (0.01, 0.0025, 0.000625), 3.0  # of the errors


TERRACE, CELL, ASIDE = 0.5, 0.2, 0.1  # height of terraces, grid size, and how far from the centre the line goes past it


def approximations() -> dict[str, np.ndarray]:
    """Return Kepler's potential along a line, ``x`` and ``exact``, with both approximations of it."""
    fixed = np.array([[True, True], [False, False]])
    kepler = sx.System(
        np.ones(2), {"V": sx.Bars([[0, 1]], sx.measures.InverseDistance(1.0), dim=2)}, dim=2, fixed=fixed
    )
    start = kepler.state([[0.0, 0.0], [1.01, ASIDE]], [[0.0, 0.0], [0.0, 1.0]])
    flat = EnergyStepping(TERRACE).start(kepler, start)
    linear = sx.ForceStepping(CELL, offset=np.array([0.5, 0.5])).start(kepler, start)  # no vertex in the centre
    x = np.linspace(-1.5, 1.5, 1201)
    line = [np.array([[0.0, 0.0], [along, ASIDE]]) for along in x]
    values = {
        "exact": kepler.potential,
        "terraces": flat.terraced_potential,
        "piecewise linear": linear.lattice_potential,
    }
    return {"x": x} | {name: np.array([value(q) for q in line]) for name, value in values.items()}


def draw_approximations(found: dict[str, np.ndarray], file: Path) -> None:
    """Draw Figure 1."""
    figure, axes = plt.subplots(figsize=(6, 3.6), dpi=80, layout="constrained")
    colours = {"exact": "black", "terraces": "#c0392b", "piecewise linear": "#2c5fa8"}
    for name, colour in colours.items():
        axes.plot(found["x"], found[name], color=colour, linewidth=1.2, label=name)
    axes.set(xlabel="x", ylabel="V", title=f"Kepler's potential along y = {ASIDE} (Figure 1)")
    axes.legend()
    figure.savefig(file)
    plt.close(figure)


def particles() -> tuple[sx.System, sx.State]:
    """Return four particles of Lennard-Jones that vibrate."""
    system = sx.System(
        np.ones(4), {"lj": sx.Bars(sx.measures.all_pairs(4), sx.measures.LennardJones(1.0, 1.0), dim=2)}, dim=2
    )
    q = [[0.05, 0.02], [1.1, 0.1], [0.03, 1.12], [1.07, 1.2]]
    return system, system.state(q, [[0.3, 0.1], [-0.2, 0.25], [0.1, -0.4], [-0.15, 0.05]])


def rising(mirrored: tuple[bool, bool], offset: tuple[float, float], n: int = 2) -> np.ndarray:
    """Return which diagonals rise [2n, 2n] about the origin, row by row from y = −n up, x from −n on.

    V_h in the middle of a cell is the mean of V at the ends of its diagonal; V is the potential of a particle far away.
    """
    far, fixed = np.array([7.3, 4.1]), np.array([[True, True], [False, False]])
    pair = sx.System(np.ones(2), {"V": sx.Bars([[0, 1]], sx.measures.InverseDistance(1.0), dim=2)}, dim=2, fixed=fixed)
    method = sx.ForceStepping(1.0, mirrored=mirrored, offset=np.array(offset))
    motion = method.start(pair, pair.state([far, [0.3, 0.4]]))
    found = np.zeros((2 * n, 2 * n), bool)
    for row, column in np.ndindex(found.shape):
        corner = np.array([column - n, row - n], float)
        middle = motion.lattice_potential(np.array([far, corner + 0.5]))
        up = np.mean([pair.potential(np.array([far, corner + end])) for end in ([0, 0], [1, 1])])
        down = np.mean([pair.potential(np.array([far, corner + end])) for end in ([1, 0], [0, 1])])
        found[row, column] = abs(middle - up) < abs(middle - down)
    return found


def parity(mirrored: tuple[bool, bool], offset: tuple[float, float]) -> list[float]:
    """Return how far motions from starts reflected in x, in y, and in both are from the reflected motion."""
    system, state = particles()
    method = sx.ForceStepping(H, mirrored=mirrored, offset=np.array(offset))
    end = method.start(system, state).advance(DURATION)
    differences = []
    for mirror in np.array([[-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]]):
        there = method.start(system, system.state(mirror * state.q, mirror * state.v)).advance(DURATION)
        differences.append(float(np.abs(mirror * end.q - there.q).max()))
    return differences


def errors(mirrored: tuple[bool, bool], lattices: int) -> list[float]:
    """Return the mean errors of the positions at the end, over lattices with random offsets."""
    system, state = particles()

    def rate(_: float, y: np.ndarray) -> np.ndarray:
        q, v = y.reshape(2, *state.q.shape)
        return np.concatenate([v.ravel(), -system.gradient(q).ravel()])

    start = np.concatenate([state.q, state.v]).ravel()
    exact = solve_ivp(rate, (0, LONG), start, "DOP853", rtol=1e-12, atol=1e-13).y[:8, -1].reshape(4, 2)
    offsets = np.random.default_rng(2).random((lattices, 4, 2))
    return [
        float(np.mean([np.abs(run.start(system, state).advance(LONG).q - exact).max() for run in runs]))
        for runs in ([sx.ForceStepping(h, mirrored=mirrored, offset=offset) for offset in offsets] for h in GRIDS)
    ]


def draw(diagonals: dict[str, np.ndarray], found: dict[str, list[float]], file: Path) -> None:
    """Draw the triangulations and the errors."""
    figure, panels = plt.subplots(1, 5, figsize=(15, 3.4), dpi=80, layout="constrained", width_ratios=[1, 1, 1, 1, 1.4])
    for (name, rises), axes in zip(diagonals.items(), panels, strict=False):
        n = len(rises) // 2
        for k in range(-n, n + 1):
            axes.plot([-n, n], [k, k], [k, k], [-n, n], color="#888888", linewidth=1.0)
        for (row, column), up in np.ndenumerate(rises):
            x, y = column - n, row - n
            axes.plot([x, x + 1], [y, y + 1] if up else [y + 1, y], color=LATTICES[name][2], linewidth=1.6)
        axes.plot(0, 0, "ko")
        axes.set_title(name, fontsize=9)
        axes.set_aspect("equal")
        axes.set_axis_off()
    for name, values in found.items():
        panels[-1].loglog(GRIDS, values, "o-", color=LATTICES[name][2], label=name)
    panels[-1].set(xlabel="grid size h", ylabel="mean error of positions")
    panels[-1].grid(alpha=0.25, which="both")
    panels[-1].legend(fontsize=7)
    figure.savefig(file)
    plt.close(figure)


def main(output: Path, full: bool) -> None:
    """Run all lattices, write numbers.json and the picture."""
    output.mkdir(parents=True, exist_ok=True)
    along = approximations()
    draw_approximations(along, output / "approximate_potentials.png")
    numbers: dict = {
        "Kepler: how far terraces are from V, in their height": [
            float((sign * (along["terraces"] - along["exact"])).max() / TERRACE) for sign in (-1.0, 1.0)
        ],
        "Kepler: the lowest value of V and of its interpolation": [
            float(along[name].min()) for name in ("exact", "piecewise linear")
        ],
        "Kepler: largest jump of the interpolation between points, of that of V": float(
            np.abs(np.diff(along["piecewise linear"])).max() / np.abs(np.diff(along["exact"])).max()
        ),
    }
    diagonals, found = {}, {}
    for name, (mirrored, offset, _) in LATTICES.items():
        diagonals[name] = rising(mirrored, offset)
        numbers[f"{name}: rising diagonals about the origin, row by row"] = diagonals[name].astype(int).tolist()
        numbers[f"{name}: difference from the motion reflected in x, in y, in both"] = parity(mirrored, offset)
        if mirrored not in (LATTICES[other][0] for other in found):  # offsets are random there
            found[name] = errors(mirrored, 96 if full else 12)
            numbers[f"{name}: mean errors"] = found[name]
            slope = np.polyfit(np.log(GRIDS), np.log(found[name]), 1)[0]
            numbers[f"{name}: order of the error"] = float(slope)
            numbers[f"{name}: error, of that of copies"] = float(
                np.exp(np.mean(np.log(found[name]) - np.log(found["copies"])))
            )
    draw(diagonals, found, output / "triangulations.png")
    (output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    for name, value in numbers.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results/triangulations"))
    parser.add_argument("--full", action="store_true", help="more lattices")
    options = parser.parse_args()
    main(options.output, options.full)
