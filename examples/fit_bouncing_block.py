"""Four numbers of a bouncing block from noisy curves: its modulus and damping, the floor's friction, and its spin.

    python examples/fit_bouncing_block.py [--output DIR]

A rubber block is thrown at a floor with a spin, and bounces. Two of its corners were seen every half a millisecond, to
within half a millimetre; here a run with known numbers and noise plays the test. The fit begins far off, and the time
that it looks at grows: over the whole of it at once, least squares might stop in a local minimum. Derivatives are those
of the discrete motion (`sx.tangent`), the optimiser is SciPy's.
"""

import argparse
import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import least_squares

import symplex as sx

NAMES = ("Young's modulus [Pa]", "viscosity [Pa s]", "friction coefficient", "spin [rad/s]")
EXACT = np.array([3e5, 60.0, 0.35, -9.0])
START = np.array([1.8e5, 150.0, 0.15, -6.0])
NOISE = 5e-4  # m
STEP = 5e-4  # s
TIMES = STEP * np.arange(1, 241)
WINDOWS = (0.03, 0.06, 0.12)  # s

mesh = sx.box((0.08, 0.06, 0.05), (2, 2, 2))
cells = mesh.cells["tetra"]
mass = sx.lumped_mass(mesh.points, cells, 1000.0, len(mesh.points))
corners = [np.flatnonzero((mesh.points == corner).all(axis=1))[0] for corner in ((0, 0, 0.05), (0.08, 0.06, 0.05))]
method = sx.EnergyMomentum(STEP)


def build(p: np.ndarray) -> tuple[sx.System, sx.State]:
    """Return the block and the floor for four numbers, and how it is thrown."""
    young, viscosity, coefficient, spin = p
    strain = sx.Solid(mesh.points, cells, sx.NeoHookean.from_young(young, 0.3, 1000.0))
    floor = sx.RigidContact(mesh.boundary_nodes, sx.HalfSpace((0, 0, -0.02), (0, 0, 1)), 2000.0)
    energies = {"block": strain, "gravity": sx.Gravity(mass, (0, 0, -9.81)), "floor": floor}
    loads = {
        "viscosity": sx.ViscousStress(strain, viscosity),
        "friction": sx.contact.Friction(floor, coefficient, slip_speed=0.02),
    }
    v = np.array([1.0, 0.2, -0.8]) + spin * np.cross([0.2, 1.0, 0.0], mesh.points - mesh.points.mean(axis=0))
    system = sx.System(mass, energies, loads=loads)
    return system, system.state(mesh.points, v)


def seen(system: sx.System, state: sx.State) -> np.ndarray:
    """Return the positions of the two corners in m."""
    return state.q[corners].ravel()


def measured() -> np.ndarray:
    """Return the noisy curves [240, 6] in m."""
    system, state = build(EXACT)
    curves = np.array([seen(system, reached) for reached in sx.march(system, method, state, TIMES)])
    return curves + NOISE * np.random.default_rng(2026).standard_normal(curves.shape)


def fitted(data: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the numbers, their standard deviations, and how many tangents it took."""
    p, count = START, 0
    for end in WINDOWS:
        some = end + 0.5 * STEP > TIMES
        found: dict[bytes, sx.gradients.RunTangent] = {}

        def of(s: np.ndarray, some: np.ndarray = some, found: dict = found) -> sx.gradients.RunTangent:
            if s.tobytes() not in found:
                found[s.tobytes()] = sx.tangent(build, s * EXACT, method, TIMES[some], seen)
            return found[s.tobytes()]

        fit = least_squares(
            lambda s, some=some: ((of(s).values - data[some]) / NOISE).ravel(),
            p / EXACT,
            lambda s: (of(s).jacobian * EXACT / NOISE).reshape(-1, 4),
            bounds=(0.1, 10.0),
            xtol=1e-8,
        )
        p, count = fit.x * EXACT, count + len(found)
    return p, np.sqrt(np.diag(np.linalg.inv(fit.jac.T @ fit.jac))) * np.abs(EXACT), count


def gradient_error(p: np.ndarray) -> float:
    """Return the largest relative difference of derivatives from central differences of runs.

    Differences err by the square of their step and by rounding over it, and where a contact begins a step earlier or
    later: of several steps the best one counts.
    """

    def run(p: np.ndarray) -> np.ndarray:
        system, state = build(p)
        return np.array([seen(system, reached) for reached in sx.march(system, method, state, TIMES[::60])])

    jacobian, worst = sx.tangent(build, p, method, TIMES[::60], seen).jacobian, 0.0
    for j in range(len(p)):
        errors = []
        for relative in (1e-4, 2e-5, 4e-6):
            e = relative * p[j] * np.eye(len(p))[j]
            slopes = (run(p + e) - run(p - e)) / (2.0 * e[j])
            errors.append(np.abs(slopes - jacobian[..., j]).max() / np.abs(slopes).max())
        worst = max(worst, min(errors))
    return float(worst)


def main(output: Path) -> None:
    """Fit, compare with what is known, draw."""
    output.mkdir(parents=True, exist_ok=True)
    data = measured()
    p, deviations, count = fitted(data)
    sigmas = (p - EXACT) / deviations
    numbers: dict[str, float] = {}
    for name, value, deviation in zip(NAMES, p, deviations, strict=True):
        numbers |= {name: float(value), f"{name}, deviation": float(deviation)}
    system, state = build(p)
    curves = np.array([seen(system, reached) for reached in sx.march(system, method, state, TIMES)])
    residuals = (curves - data) / NOISE
    numbers |= {
        "young_sigmas": float(abs(sigmas[0])),
        "largest_sigmas": float(np.abs(sigmas).max()),
        "chi_squared_per_number": float(np.mean(residuals**2)),
        "gradient_error": gradient_error(p),
        "tangents": float(count),
    }
    system, state = build(START)
    before = np.array([seen(system, reached) for reached in sx.march(system, method, state, TIMES)])
    _draw(output / "fit_bouncing_block.png", data, before, curves, residuals)
    (output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n")
    print(json.dumps(numbers, indent=1))


def _draw(path: Path, data: np.ndarray, before: np.ndarray, curves: np.ndarray, residuals: np.ndarray) -> None:
    """Draw the heights of the corners, and what is left."""
    figure, (above, below) = plt.subplots(2, 1, sharex=True, figsize=(8, 6), height_ratios=(3, 1), layout="constrained")
    for corner, colour in enumerate(("tab:blue", "tab:orange")):
        k = 3 * corner + 2
        above.plot(1e3 * TIMES, 1e3 * data[:, k], ".", color=colour, ms=2, label=f"corner {corner + 1}, measured")
        above.plot(1e3 * TIMES, 1e3 * curves[:, k], color=colour, label="fitted")
        above.plot(1e3 * TIMES, 1e3 * before[:, k], ":", color=colour, label="at the start of the fit")
        below.plot(1e3 * TIMES, residuals[:, k], ".", color=colour, ms=2)
    above.set_ylabel("height (mm)")
    above.legend(ncols=2)
    below.set(xlabel="time (ms)", ylabel="residual / deviation")
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results/fit_bouncing_block"))
    main(parser.parse_args().output)
