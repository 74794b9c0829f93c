"""A tower in an earthquake: top displacement and base shear by probes, and the response spectrum of the record.

    python examples/earthquake.py [--output DIR] [--full]

The record is an artificial earthquake: noise in a window, corrected so that the ground is at rest in the end where it
was. ``earthquake.toml`` shakes a tower of bars with it; what probes tell is drawn here. The base shear is the force of
the ground on the tower, Σ M a: the forces in the tower have no resultant.

The response spectrum is the largest displacement of oscillators of all periods on this ground. Between two of its times
the record is linear, and so each oscillator has an exact solution there (Nigam and Jennings, Bull. Seismol. Soc. Am. 59
(1969) 909), next to which three integrators are put: all oscillators are one system, with the record as a load.

``--full`` halves the step once more.
"""

import argparse
import json
from itertools import pairwise
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import expm

import symplex as sx

HERE = Path(__file__).parent
SPACING, SHAKING, DURATION = 0.02, 9.0, 16.0  # s
LARGEST = 3.0  # m/s²
DAMPING = 0.05
PERIODS = np.geomspace(0.2, 4.0, 60)  # s
METHODS = {"trapezoidal rule": lambda dt: sx.Newmark(dt, beta=0.25), "energy-momentum": sx.EnergyMomentum,
           "generalized-α": lambda dt: sx.GeneralizedAlpha(dt, 0.8)}  # fmt: skip


def record() -> tuple[np.ndarray, np.ndarray]:
    """Return times in s and accelerations [k] with the largest 1, after which the ground is at rest where it was."""
    t = SPACING * np.arange(round(DURATION / SPACING) + 1)
    window = np.where(t < SHAKING, np.sin(np.pi * np.minimum(t / SHAKING, 1.0)) ** 2, 0.0)
    noise = np.random.default_rng(7).standard_normal(len(t) + 8)
    parts = [window * np.convolve(noise, np.hanning(11)[1:-1], "valid"), window, window * t]
    courses = [sx.actions.TimeFunction.of_accelerations(t, a) for a in parts]
    ends = np.array([[u.value(DURATION), u.rate(DURATION)] for u in courses])
    a = parts[0] - np.column_stack(parts[1:]) @ np.linalg.solve(ends[1:].T, ends[0])
    return t, np.round(a / np.abs(a).max(), 9)


def write_record(path: Path) -> None:
    """Write the record as the file that the scenario names."""
    rows = [f"{t:.2f},{a:.9f}" for t, a in zip(*record(), strict=True)]
    path.write_text("\n".join(["t [s],acceleration [1]", *rows]) + "\n", encoding="utf-8")


def exact_spectrum(t: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Return the largest displacements [T] in m at the times of the record, by the exact solution between them.

    x'' + 2ζω x' + ω² x = −a, with (x, x', a, a') as the state of a linear system over each interval.
    """
    largest = []
    for omega in 2.0 * np.pi / PERIODS:
        A = np.zeros((4, 4))
        A[0, 1], A[1], A[2, 3] = 1.0, (-(omega**2), -2.0 * DAMPING * omega, -1.0, 0.0), 1.0
        step, state, peak = expm(SPACING * A), np.zeros(2), 0.0
        for a0, a1 in pairwise(a):
            state = (step @ [*state, a0, (a1 - a0) / SPACING])[:2]
            peak = max(peak, abs(state[0]))
        largest.append(peak)
    return np.array(largest)


def spectrum(method: sx.Integrator, t: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Return the same by an integrator: all oscillators are one system of unit masses on springs and dampers."""
    omega, still = 2.0 * np.pi / PERIODS, np.zeros((len(PERIODS), 1))
    springs = sx.fem.LinearConstraints(still, np.eye(len(PERIODS)), stiffness=omega**2)
    system = sx.System(
        np.ones(len(PERIODS)),
        {"springs": springs},
        dim=1,
        loads={
            "dampers": sx.actions.Drag(2.0 * DAMPING * omega, 1.0),
            "ground": lambda now, q, v: np.full_like(q, -np.interp(now, t, a)),
        },
    )
    peak = np.zeros(len(PERIODS))
    for state in sx.march(system, method, system.state(still), t):
        peak = np.maximum(peak, np.abs(state.q[:, 0]))
    return peak


def of_tower(folder: Path) -> tuple[dict[str, float], sx.runs.Result]:
    """Run the scenario; return what its probes have reported."""
    scenario = sx.Scenario.read(HERE / "earthquake.toml").with_values({"output.pictures": False})
    summary = sx.simulate(scenario, folder, overwrite=True, progress=False)
    result = sx.read_result(folder)
    top, ground, base = (result.probes[name] for name in ("top", "ground", "base"))
    sway = top["displacement_x_mean"] - ground["displacement_x_mean"]
    mass = summary["mass"] if "mass" in summary else scenario.build().system.mass.sum()
    numbers = {
        "largest sway of the top [m]": float(np.abs(sway).max()),
        "largest acceleration of the top over that of the ground": float(
            np.abs(top["acceleration_x_mean"]).max() / np.abs(ground["acceleration_x_mean"]).max()
        ),
        "largest base shear over the weight": float(np.abs(base["reaction_x"]).max() / (9.81 * mass)),
        "largest overturning moment [N m]": float(np.abs(base["reaction_moment_y"]).max()),
        "largest stress of a bar [Pa]": float(result.probes["braces"]["axial_stress_max"].max()),
        "base shear: largest difference to the sum of mass times acceleration, relative": shear_error(scenario),
    }
    return numbers, result


def shear_error(scenario: sx.Scenario) -> float:
    """Return by how much the base shear of a part of the run differs from Σ M a, relative to the largest."""
    problem = scenario.build()
    held = np.zeros((problem.system.n_nodes, 3), bool)
    held[problem.mesh.nodes_of("tower.z_min")] = True
    recorder = sx.time.ProbeRecorder([sx.outputs.ReactionProbe("base", held)])
    states = sx.march(problem.system, problem.integrator, problem.state, 0.05 * np.arange(121), [recorder])
    forces = np.array([problem.system.apply_mass(state.a).sum(axis=0)[0] for state in states])
    shear = recorder.history()["reaction_x"]
    return float(np.abs(shear - forces).max() / np.abs(shear).max())


def draw(result: sx.runs.Result, spectra: dict[str, np.ndarray], file: Path) -> None:
    """Draw the record, the sway of the top, the base shear, and the response spectrum."""
    figure, axes = plt.subplots(2, 2, figsize=(13, 7.5), dpi=110, layout="constrained")
    top, ground, base = (result.probes[name] for name in ("top", "ground", "base"))
    plots = [
        ("Acceleration of the ground [m/s²]", ground["t"], ground["acceleration_x_mean"]),
        ("Sway of the top [mm]", top["t"], 1e3 * (top["displacement_x_mean"] - ground["displacement_x_mean"])),
        ("Base shear [kN]", base["t"], 1e-3 * base["reaction_x"]),
    ]
    for panel, (title, t, y) in zip(axes.ravel(), plots, strict=False):
        panel.plot(t, y, color="#2c5fa8", linewidth=1.0)
        panel.set(title=title, xlabel="time [s]")
    panel = axes[1, 1]
    panel.loglog(PERIODS, 1e3 * spectra["exact"], color="#b0b0b0", linewidth=4.5, label="exact (Nigam and Jennings)")
    styles = ("-", "--", ":")
    for style, (name, values) in zip(styles, list(spectra.items())[1:], strict=False):
        panel.loglog(PERIODS, 1e3 * values, style, linewidth=1.4, label=name)
    panel.set(title="Response spectrum: largest displacement [mm], 5 % damping", xlabel="period [s]")
    panel.set_xticks([0.2, 0.5, 1.0, 2.0, 4.0], ["0.2", "0.5", "1", "2", "4"])
    panel.minorticks_off()
    panel.legend()
    for panel in axes.ravel():
        panel.grid(alpha=0.25)
    figure.savefig(file)
    plt.close(figure)


def main(output: Path, full: bool) -> None:
    """Shake the tower, find the spectrum of the record, write numbers.json and the picture."""
    output.mkdir(parents=True, exist_ok=True)
    numbers, result = of_tower(output / "tower")
    t, a = record()
    a = LARGEST * a
    exact = exact_spectrum(t, a)
    spectra = {"exact": exact}
    for name, method in METHODS.items():
        for dt in (SPACING / 4, SPACING / 8, *((SPACING / 16,) if full else ())):
            found = spectrum(method(dt), t, a)
            spectra.setdefault(name, found)
            numbers[f"spectrum, {name}, dt = {dt}: largest error, relative"] = float(np.abs(found / exact - 1.0).max())
    numbers["spectrum: largest displacement [m]"] = float(exact.max())
    draw(result, spectra, output / "earthquake.png")
    (output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    for name, value in numbers.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results/earthquake"))
    parser.add_argument("--full", action="store_true", help="a smaller step besides")
    options = parser.parse_args()
    main(options.output, options.full)
