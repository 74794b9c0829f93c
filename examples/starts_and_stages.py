"""Runs that begin in equilibrium, and in which something begins or ends, against what is known of them.

    python examples/starts_and_stages.py [--output DIR] [NAME ...]

``bent_beam``: a cantilever that is bent and let go swings with the first frequency of Timoshenko's beam.
``hung_and_dropped``: a bar that hangs and is let go falls as a whole with g, but its lower end stays where it is until
a wave has come down. ``preload_and_impact``: a bar is stretched by implicit steps, to the energy ½ E A ε² L, and
struck by explicit ones. ``spinning_plate``: a plate in steady rotation, disturbed, keeps near its exact motion.
``rotating_truss``: so does the truss of ``truss_equilibrium.py``, whose stretch Graham and Jelenić (2006) tell.
"""

import argparse
import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from numpy.polynomial import legendre
from scipy.linalg import eigh
from scipy.optimize import least_squares

import symplex as sx

HERE = Path(__file__).parent
NAMES = ("bent_beam", "hung_and_dropped", "preload_and_impact", "spinning_plate", "rotating_truss")
BLUE, RED, GREY = "#2c5fa8", "#c0392b", "#888888"
PART = 1e-9  # s, of a time


def timoshenko(length: float, height: float, young: float, poisson: float, density: float, terms: int = 14) -> float:
    """Return the first frequency in Hz of a cantilever of square section, by Ritz's method with polynomials.

    ½ ∫ E I ψ'² + k G A (w' − ψ)² dx and ½ ∫ ρ A w² + ρ I ψ² dx, k = 10 (1 + ν)/(12 + 11 ν) (Cowper).
    """
    area, inertia = height**2, height**4 / 12.0
    shear = 10.0 * (1.0 + poisson) / (12.0 + 11.0 * poisson) * young / (2.0 * (1.0 + poisson)) * area
    x, weight = legendre.leggauss(2 * terms)
    s, weight = 0.5 * (x + 1.0), 0.5 * length * weight
    values = np.array([legendre.legval(x, np.eye(terms)[k]) for k in range(terms)])
    slopes = np.array([legendre.legval(x, legendre.legder(np.eye(terms)[k])) for k in range(terms)])
    shape, slope = s * values, (values + 2.0 * s * slopes) / length  # zero at the clamped end

    def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.einsum("g,ig,jg->ij", weight, a, b)

    corner = -shear * product(slope, shape)
    stiffness = np.block(
        [
            [shear * product(slope, slope), corner],
            [corner.T, young * inertia * product(slope, slope) + shear * product(shape, shape)],
        ]
    )
    mass = density * np.kron(np.diag([area, inertia]), product(shape, shape))
    return float(np.sqrt(eigh(stiffness, mass, eigvals_only=True)[0]) / (2.0 * np.pi))


def bent_beam(history, series) -> tuple[dict[str, float], tuple]:
    """Return frequencies in Hz, and what is drawn: the deflection of the end."""
    t = history["t"]
    end = np.flatnonzero(series.points[:, 0] > 1.0 - PART)
    w = np.array([series.frame(k).displacement[end, 2].mean() for k in range(len(series))])
    momentum = history["momentum_z"]
    exact = timoshenko(1.0, 0.05, 1e9, 0.3, 1000.0)

    def misfit(p):
        return p[0] * np.sin(2.0 * np.pi * p[1] * t) + p[2] * np.cos(2.0 * np.pi * p[1] * t) - momentum

    found = least_squares(misfit, [np.abs(momentum).max(), exact, 0.0], x_scale=[0.1, 0.01, 0.1])
    euler = 1.8751040687**2 / (2.0 * np.pi) * np.sqrt(1e9 * 0.05**2 / 12.0 / 1000.0)
    numbers = {
        "frequency / Hz": float(found.x[1]),
        "Timoshenko's": exact,
        "Euler and Bernoulli's": float(euler),
        "energy change": float(np.ptp(history["total"]) / history["total"][0]),
    }
    smooth = np.linspace(0.0, t[-1], 500)
    drawn = [
        (series.times, w * 1e3, "o", BLUE, "end of the beam"),
        (smooth, w[0] * 1e3 * np.cos(2.0 * np.pi * exact * smooth), "-", GREY, "at Timoshenko's frequency"),
    ]
    return numbers, ("Bent and released", "deflection / mm", drawn)


def hung_and_dropped(history, series) -> tuple[dict[str, float], tuple]:
    """Return the sag and the fall of the whole, against their exact values, and what is drawn: both ends."""
    release, t = 0.02, history["t"]
    top, low = (np.flatnonzero(np.abs(series.points[:, 2] - z) < PART) for z in (1.1, 0.1))
    low = low[series.points[low, 2] > 0.05]
    z = np.array([[series.frame(k).displacement[i, 2].mean() for i in (top, low)] for k in range(len(series))])
    falling = (t >= release) & (history["contact_force_z"] == 0.0) & (t < 0.12)
    requested = -10.0 * 9.81 * (t - release)
    wave = 1.0 / np.sqrt(2e5 / 1000.0)
    at = (series.times > release) & (series.times < release + 0.8 * wave)
    numbers = {
        "sag / mm": float(-z[0, 1] * 1e3),
        "ρ g L²/2E / mm": 1000.0 * 9.81 / (2.0 * 2e5) * 1e3,
        "error of the fall": float(
            np.abs(history["momentum_z"] - requested)[falling].max() / np.abs(requested[falling]).max()
        ),
        "lower end moves before the wave / mm": float(np.abs(z[at, 1] - z[0, 1]).max() * 1e3),
        "fall of the top by then / mm": float(np.abs(z[at, 0] - z[0, 0]).max() * 1e3),
        "balance": float(np.ptp(history["balance"]) / history["kinetic"].max()),
    }
    drawn = [
        (series.times, z[:, 0] + 1.1, "-", BLUE, "upper end"),
        (series.times, z[:, 1] + 0.1, "-", RED, "lower end"),
    ]
    return numbers, ("Sag, then drop", "height / m", drawn)


def preload_and_impact(history, series) -> tuple[dict[str, float], tuple]:
    """Return the energy of the preload, and the balance in both stages; and what is drawn: energies."""
    t, scale = history["t"], np.abs(history["work_stretch"]).max()
    implicit = t <= 0.05 + PART
    k = int(np.flatnonzero(implicit)[-1])
    numbers = {
        "strain energy of the preload / J": float(history["bar"][k]),
        "½ E A ε² L / J": 0.5 * 1e9 * 0.05**2 * 0.01**2,
        "balance, implicit": float(np.ptp(history["balance"][implicit]) / scale),
        "balance, explicit": float(np.ptp(history["balance"][~implicit]) / scale),
        "jump of the balance": float(abs(history["balance"][k + 1] - history["balance"][k]) / scale),
    }
    drawn = [
        (t, history["total"], "-", BLUE, "total energy"),
        (t, history["work_stretch"], "--", RED, "work of the support"),
        (t, 20.0 * history["kinetic"], "-", GREY, "20 × kinetic energy"),
    ]
    return numbers, ("Preload implicit, impact explicit", "energy / J", drawn)


def spinning_plate(history, series) -> tuple[dict[str, float], tuple]:
    """Return how far the plate is from its exact motion; and what is drawn: its deformation in the turning frame."""
    start = series.points + series.frame(0).displacement
    off = []
    for k in range(len(series)):
        q = series.points + series.frame(k).displacement
        u, _, v = np.linalg.svd((start - start.mean(axis=0)).T @ (q - q.mean(axis=0)))
        off.append(np.linalg.norm((start - start.mean(axis=0)) @ (u @ v) - (q - q.mean(axis=0)), axis=1).max())
    momentum = history["angular_momentum_z"]
    numbers = {
        "disturbed by / mm": 0.1,
        "largest deformation since / mm": float(np.max(off) * 1e3),
        "energy change": float(np.ptp(history["total"]) / history["kinetic"][0]),
        "angular momentum change": float(np.ptp(momentum) / np.abs(momentum).max()),
    }
    drawn = [(series.times, np.multiply(off, 1e3), "-", BLUE, "largest of a node")]
    return numbers, ("A plate in steady rotation, disturbed", "deformation / mm", drawn)


def rotating_truss(history, series) -> tuple[dict[str, float], tuple]:
    """Return the stretch of the spokes in equilibrium, and what is kept; and what is drawn: their lengths."""
    text = (HERE / "rotating_truss.toml").read_text("utf-8")
    steady = sx.Scenario.parse(text.replace("perturbation", "# perturbation")).build()
    stretch = float(np.linalg.norm(steady.state.q[1] - steady.state.q[0]))
    dt = 0.25
    seen = sx.record(steady.system, sx.EnergyMomentum(dt), steady.state, [0.0, 36 * dt])
    arm = seen.q[:, 1] - seen.q[:, 0]
    turned = 2.0 * np.pi + np.arctan2(-np.cross(arm[0], arm[1])[2], arm[0] @ arm[1])  # about −z, more than once
    spokes = []
    for k in range(len(series)):
        q = series.points + series.frame(k).displacement
        spokes.append(np.linalg.norm(q[1:] - q[0], axis=1))
    momentum = np.array([history[f"angular_momentum_{axis}"] for axis in "xyz"])
    numbers = {
        "stretch in equilibrium": stretch,
        "stretch of the paper": 1.0052720575,
        "rotation by steps of 1/4 over the exact one": float(turned / 9.0),
        "lambda_r of the paper's eq. 6.5": float(np.arctan(0.5 * dt) / (0.5 * dt)),
        "disturbed by": 0.01,
        "largest change of a spoke since": float(np.abs(np.array(spokes) - stretch).max()),
        "energy change": float(np.ptp(history["total"]) / history["total"][0]),
        "angular momentum change": float(np.ptp(momentum, axis=1).max() / np.abs(momentum).max()),
    }
    drawn = [
        (series.times, of_one, "-", colour, f"spoke {k + 1}")
        for k, (of_one, colour) in enumerate(zip(np.transpose(spokes), (BLUE, RED, "#2e8b57", "#d08a1d"), strict=True))
    ]
    drawn.append((series.times[[0, -1]], [stretch, stretch], "--", GREY, "in equilibrium"))
    return numbers, ("A truss in steady rotation, disturbed", "length / m", drawn)


SEEN = {
    "bent_beam": bent_beam,
    "hung_and_dropped": hung_and_dropped,
    "preload_and_impact": preload_and_impact,
    "spinning_plate": spinning_plate,
    "rotating_truss": rotating_truss,
}


def main() -> None:
    """Run the scenarios, and write numbers and a picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; default: all")
    parser.add_argument("--output", type=Path, default=Path("starts-and-stages"))
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    names = arguments.names or NAMES
    found, panels = {}, []
    for name in names:
        folder = arguments.output / name
        sx.simulate(HERE / f"{name}.toml", folder, overwrite=True, progress=False, pictures=False)
        found[name], panel = SEEN[name](
            sx.read_history(folder / "history.csv"), sx.read_series(folder / "motion.vtkhdf")
        )
        panels.append(panel)
        print(f"{name}:")
        for what, number in found[name].items():
            print(f"  {what:<38} {number:.6g}")
    (arguments.output / "numbers.json").write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n", "utf-8")
    rows = (len(panels) + 1) // 2
    figure, axes = plt.subplots(
        rows, min(len(panels), 2), figsize=(11, 3.4 * rows), squeeze=False, layout="constrained"
    )
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    for axis, (title, label, drawn) in zip(axes.flat, panels, strict=False):
        for t, y, style, colour, what in drawn:
            axis.plot(t, y, style, color=colour, label=what, ms=3, lw=1.2)
        axis.set(title=title, xlabel="t / s", ylabel=label)
        if len(drawn) > 1:
            axis.margins(y=0.25)
        axis.legend(frameon=False, fontsize=8, loc="upper right", ncols=len(drawn), columnspacing=1.2, handlelength=1.4)
    figure.savefig(arguments.output / "starts_and_stages.png", dpi=110)


if __name__ == "__main__":
    main()
