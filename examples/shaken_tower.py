"""A lattice tower on ground that shakes: weakly, next to the exact linear solution, and strongly, with its energy.

    python examples/shaken_tower.py [--output DIR] [--full]

The ground follows a record of accelerations, an artificial earthquake: ``SupportTranslation`` with
``TimeFunction.of_accelerations``. For weak shaking the equations are linear, and each mode of vibration has an exact
solution, since the record is linear between its times; so has the ratio of what comes out at the top to what goes in,
frequency by frequency. For strong shaking the tower turns and stretches; the ground does work, dampers take it, and the
energy-momentum method keeps the balance to round-off.

``--full`` halves the step twice more.
"""

import argparse
import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.signal import lsim

import symplex as sx

STOREYS, HEIGHT, WIDTH = 8, 2.0, 2.0  # m
EA, DENSITY, AREA = 63e6, 7850.0, 3e-4  # N, kg/m³, m²
PAYLOAD = 100.0  # kg on each node of a storey
DAMPING = 0.05  # of the first mode
SPACING, SHAKING, DURATION = 0.02, 7.0, 16.0  # s
WEAK, STRONG = 0.01, 60.0  # largest acceleration in m/s²
STEPS = (0.02, 0.01)
MAGNIFIED = 4.0  # in the picture
TOP = 2 * STOREYS  # the node at the top left


def tower() -> tuple[np.ndarray, np.ndarray]:
    """Return the nodes [n, 2] and the bars [m, 2]: two legs, and beams and crossed braces between them."""
    points = np.array([[0.5 * side * WIDTH * (1.0 - 0.5 * k / STOREYS), k * HEIGHT] for k in range(STOREYS + 1)
                       for side in (-1.0, 1.0)])  # fmt: skip
    storey = np.array([[0, 2], [1, 3], [2, 3], [0, 3], [1, 2]])
    return points, np.concatenate([storey + 2 * k for k in range(STOREYS)]).astype(np.int32)


def earthquake() -> tuple[np.ndarray, np.ndarray]:
    """Return times and accelerations [k] with the largest 1, after which the ground is at rest where it was."""
    t = SPACING * np.arange(round(DURATION / SPACING) + 1)
    window = np.where(t < SHAKING, np.sin(np.pi * np.minimum(t / SHAKING, 1.0)) ** 2, 0.0)
    noise = np.convolve(np.random.default_rng(1).standard_normal(len(t) + 2), [0.25, 0.5, 0.25], "valid")
    parts = [window * noise, window, window * t]
    courses = [sx.actions.TimeFunction.of_accelerations(t, a) for a in parts]
    ends = np.array([[u.value(DURATION), u.rate(DURATION)] for u in courses])
    a = parts[0] - np.column_stack(parts[1:]) @ np.linalg.solve(ends[1:].T, ends[0])
    return t, a / np.abs(a).max()


points, bars = tower()
lengths = np.linalg.norm(points[bars[:, 1]] - points[bars[:, 0]], axis=1)
steel = sx.Bars(bars, sx.measures.EngineeringStrain(EA / lengths, lengths), dim=2)
payload = np.full(len(points), PAYLOAD)
payload[:2] = 0.0
mass = sx.actions.consistent_bar_mass(points, bars, DENSITY, AREA, len(points)) + sp.diags_array(payload)
free = np.arange(4, 2 * len(points))  # of the coordinates x0, y0, x1, …, all but those of the feet
times, record = earthquake()


def modes() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return frequencies ω [k] in rad/s, the tops of the modes [k], and how much the ground's motion is of each [k].

    M_ff w'' + C w' + K_ff w = −(M_ff e_f + M_fc e_c) a for the motion w relative to the ground, with e = 1 in x.
    """
    still = sx.System(mass, {"steel": steel}, dim=2)
    K = still.hessian(points).toarray()[np.ix_(free, free)]
    M = np.kron(mass.toarray(), np.eye(2))[free]
    squares, shapes = eigh(K, M[:, free])
    return np.sqrt(squares), shapes[2 * TOP - 4], shapes.T @ M[:, ::2].sum(axis=1)


omega, tops, shares = modes()
damping_time = 2.0 * DAMPING / omega[0]


def exact_top(at: np.ndarray) -> np.ndarray:
    """Return how far the top is from the ground at some times by linear theory, for a record of up to 1 m/s²."""
    a = np.interp(at, times, record)
    total = np.zeros(len(at))
    for w, top, share in zip(omega, tops, shares, strict=True):
        mode = (np.array([[0.0, 1.0], [-w * w, -damping_time * w * w]]), [[0.0], [-share]], [[top, 0.0]], [[0.0]])
        total += lsim(mode, a, at)[1]
    return total


def response(f: np.ndarray) -> np.ndarray:
    """Return the top's motion over the ground's, complex, at frequencies f in Hz by linear theory."""
    w = 2.0 * np.pi * f[:, None]
    return 1.0 + np.sum(tops * shares * w**2 / (omega**2 - w**2 + 1j * damping_time * omega**2 * w), axis=1)


def shaken(largest: float, method: sx.Integrator, every: float) -> sx.Trajectory:
    """Return the motion of the tower on ground with the given largest acceleration."""
    ground = sx.actions.TimeFunction.of_accelerations(times, largest * record)
    system = sx.System(
        mass,
        {"steel": steel},
        dim=2,
        loads={"dampers": sx.actions.StiffnessDamping(steel, points, damping_time)},
        moving={"ground": sx.actions.SupportTranslation([0, 1], [1.0, 0.0], ground)},
    )
    return sx.record(system, method, system.state(points), every * np.arange(round(DURATION / every) + 1))


def top_of(run: sx.Trajectory) -> np.ndarray:
    """Return how far the top is from where it is at rest on the ground [k]."""
    return run.q[:, TOP, 0] - run.q[:, 0, 0] - (points[TOP] - points[0])[0]


def measured_response(run: sx.Trajectory) -> tuple[np.ndarray, np.ndarray]:
    """Return frequencies in Hz and the top's motion over the ground's, from the spectra of a whole run."""
    ground, top = (run.q[:, node, 0] - run.q[0, node, 0] for node in (0, TOP))
    every = run.t[1] - run.t[0]
    # Accelerations have flatter spectra; the second differences cancel in the ratio.
    spectra = [np.fft.rfft(np.diff(x, 2)) for x in (top, ground)]
    return np.fft.rfftfreq(len(top) - 2, every), spectra[0] / spectra[1]


def weak_numbers(steps: tuple[float, ...]) -> tuple[dict, dict[str, sx.Trajectory]]:
    """Return what is claimed about weak shaking, and the runs."""
    numbers: dict = {}
    runs: dict[str, sx.Trajectory] = {}
    exact = WEAK * exact_top(SPACING * np.arange(round(DURATION / SPACING) + 1))
    for dt in steps:
        methods: dict[str, sx.Integrator] = {"second order": sx.EnergyMomentum(dt)}
        if dt == STEPS[0]:
            methods["fourth order"] = sx.Composition(sx.EnergyMomentum(dt))
        for name, method in methods.items():
            run = runs[f"{name}, dt = {dt}"] = shaken(WEAK, method, 0.02)
            error = np.abs(top_of(run) - exact).max() / np.abs(exact).max()
            numbers[f"weak, {name}, dt = {dt}: error of the top, relative"] = float(error)
    f, ratio = measured_response(runs[f"fourth order, dt = {STEPS[0]}"])
    first = omega[0] / (2.0 * np.pi)
    near = np.abs(f - first) < 0.1 * first
    peak = np.flatnonzero(near)[np.abs(ratio[near]).argmax()]
    numbers |= {
        "first frequency [Hz]": float(first),
        "second frequency [Hz]": float(omega[1] / (2.0 * np.pi)),
        "peak of the response at [Hz]": float(f[peak]),
        "peak of the response": float(np.abs(ratio[peak])),
        "peak of the response, linear theory": float(np.abs(response(f[[peak]]))[0]),
        "largest error of the response up to the second frequency, relative": float(
            np.abs(ratio / response(f) - 1.0)[(f > 0.2) & (f < omega[1] / (2.0 * np.pi))].max()
        ),
    }
    return numbers, runs


def strong_numbers(run: sx.Trajectory) -> dict:
    """Return what is claimed about strong shaking."""
    energies = run.energies
    linear = STRONG * exact_top(run.t)
    top = top_of(run)
    return {
        "strong: largest sway of the top [m]": float(np.abs(top).max()),
        "strong: largest difference to linear theory [m]": float(np.abs(top - linear).max()),
        "strong: largest energy of the tower [J]": float(energies["total"].max()),
        "strong: work of the ground [J]": float(energies["work_ground"][-1]),
        "strong: work of the dampers [J]": float(energies["work_dampers"][-1]),
        "strong: largest error of the balance [J]": float(np.abs(energies["balance"] - energies["balance"][0]).max()),
    }


def draw(weak: sx.Trajectory, strong: sx.Trajectory, file: Path) -> None:
    """Draw the tower, its weak motion next to linear theory, its response by frequency, and the energies."""
    figure = plt.figure(figsize=(13, 8), dpi=80, layout="constrained")
    grid = figure.add_gridspec(2, 3, width_ratios=[0.8, 1.3, 1.3])
    shape = figure.add_subplot(grid[:, 0])
    reach = np.abs(top_of(strong)).argmax()
    last = len(strong.t) - 1
    moments = ((0, "#b0b0b0", "at rest"), (reach, "#c0392b", "farthest"), (min(reach + 13, last), "#2c5fa8", "later"))
    for k, color, name in moments:
        for n, (a, b) in enumerate(bars):
            x = strong.q[k, [a, b]] - [strong.q[k, 0, 0] - points[0, 0], 0.0]
            x[:, 0] += (MAGNIFIED - 1.0) * (x[:, 0] - points[[a, b], 0])
            label = f"t = {strong.t[k]:.2f} s, {name}" if n == 0 else None
            shape.plot(x[:, 0], x[:, 1], color=color, linewidth=1.3, label=label)
    shape.set(aspect="equal", title=f"Sway from the ground [m], {MAGNIFIED:g}-fold,\nshaken by up to {STRONG:g} m/s²")
    shape.legend(loc="upper center", bbox_to_anchor=(0.5, -0.04))

    motion = figure.add_subplot(grid[0, 1:])
    motion.plot(weak.t, 1e3 * WEAK * exact_top(weak.t), color="#b0b0b0", linewidth=3.5, label="top, linear theory")
    motion.plot(weak.t, 1e3 * top_of(weak), color="#c0392b", linewidth=1.0, label="top, energy-momentum of 4th order")
    motion.plot(weak.t, 1e3 * weak.q[:, 0, 0] - 1e3 * points[0, 0], color="#2c5fa8", linewidth=1.0, label="ground")
    motion.set(xlabel="time [s]", title=f"Sway of the top from the ground, shaken by up to {WEAK:g} m/s² [mm]")
    motion.legend(loc="upper right", ncols=3)

    ratio = figure.add_subplot(grid[1, 1])
    f, found = measured_response(weak)
    shown = (f > 0.2) & (f < 12.0)
    ratio.semilogy(f[shown], np.abs(response(f[shown])), color="#b0b0b0", linewidth=3.5, label="linear theory")
    ratio.semilogy(f[shown], np.abs(found[shown]), color="#c0392b", linewidth=1.0, label="from the spectra")
    ratio.set(xlabel="frequency [Hz]", title="Motion of the top over that of the ground")
    ratio.legend()

    energy = figure.add_subplot(grid[1, 2])
    parts = strong.energies
    energy.plot(strong.t, 1e-3 * parts["work_ground"], color="#2c5fa8", label="work of the ground")
    energy.plot(strong.t, -1e-3 * parts["work_dampers"], color="#d08a1d", label="lost in dampers")
    energy.plot(strong.t, 1e-3 * parts["total"], color="#c0392b", label="energy of the tower")
    error = np.abs(parts["balance"] - parts["balance"][0]).max()
    energy.set(xlabel="time [s]", title=f"Energy [kJ]; the balance errs by {error:.0e} J at most")
    energy.legend(loc="upper right")
    for axes in (motion, ratio, energy):
        axes.grid(alpha=0.25)
    figure.savefig(file)
    plt.close(figure)


def main(output: Path, full: bool) -> None:
    """Shake the tower weakly and strongly, write numbers.json and the picture."""
    output.mkdir(parents=True, exist_ok=True)
    steps = (*STEPS, STEPS[-1] / 2, STEPS[-1] / 4) if full else STEPS
    numbers, runs = weak_numbers(steps)
    strong = shaken(STRONG, sx.EnergyMomentum(0.01), 0.02)
    numbers |= strong_numbers(strong)
    draw(runs[f"fourth order, dt = {STEPS[0]}"], strong, output / "shaken_tower.png")
    (output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    for name, value in numbers.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results/shaken_tower"))
    parser.add_argument("--full", action="store_true", help="two smaller steps besides")
    options = parser.parse_args()
    main(options.output, options.full)
