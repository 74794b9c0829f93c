"""A particle in a double well by the energy-preserving variational integrator: section 5.1 of Sharma et al. (2019).

    python examples/double_well.py [--output DIR] [--full]

Sharma, Patil and Woolsey, "Energy-preserving variational integrators for forced Lagrangian systems" (2019), Figures
1-7. The potential is V = ½ (q⁴ − q²), the mass 1, and the particle starts at rest from 0.74 or 0.995 (Kane, Marsden and
Ortiz 1999; not printed in the paper): in small oscillations, or just below the top between the wells. The adaptive
integrator takes first steps of 0.01 and 0.1; the variational midpoint rule takes as many steps of one size. From 1.05,
above the top, the indicator D changes its sign, and no step exists there.

``--full`` follows the particle for 80 s instead of 8 s.
"""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_ivp

import symplex as sx

STARTS = {"a": 0.74, "b": 0.995}
FIRST_STEPS = (0.01, 0.1)
ADAPTIVE, FIXED = "#2c5fa8", "#c0392b"


class DoubleWell(sx.Energy):
    """V = ½ (q⁴ − q²) of one particle on a line."""

    nodes = np.array([[0]], dtype=np.int32)

    def value(self, x: np.ndarray) -> np.ndarray:
        """Return V [1] in J."""
        q = x[:, 0, 0]
        return 0.5 * (q**4 - q**2)

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """Return dV/dq [1, 1, 1] in N."""
        return 2.0 * x**3 - x

    def hessian(self, x: np.ndarray) -> np.ndarray:
        """Return d²V/dq² [1, 1, 1] in N/m."""
        return 6.0 * x**2 - 1.0


system = sx.System(np.ones(1), {"well": DoubleWell()}, dim=1)


def exact(q0: float, duration: float):
    """Return the motion from rest as a function of time, by a method of order 8."""
    return solve_ivp(
        lambda _, y: [y[1], y[0] - 2.0 * y[0] ** 3],
        (0.0, duration),
        [q0, 0.0],
        method="DOP853",
        rtol=3e-14,
        atol=1e-15,
        dense_output=True,
    ).sol


@dataclass(frozen=True)
class Run:
    """All steps [k]: t, q, v in their middle, as in the paper; sizes, discrete energies, some condition numbers, D."""

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    h: np.ndarray
    energy: np.ndarray
    condition: np.ndarray
    indicator: np.ndarray

    @property
    def energy_error(self) -> np.ndarray:
        """The change of the discrete energy [k] in J."""
        return np.abs(self.energy - self.energy[0])

    def error(self, solution) -> np.ndarray:
        """Return the distance [k] of q from the exact motion in m."""
        return np.abs(self.q - solution(self.t)[0])


def adaptive(q0: float, h0: float, duration: float) -> Run:
    """Follow the particle by the adaptive integrator to the last step that ends before a time."""
    motion = sx.AdaptiveVariational(h0, hold=False).start(system, system.state([[q0]]))
    rows = []
    while True:
        (t, q, v), indicator = motion.midpoint, motion.indicator()
        condition = motion.condition() if len(rows) % 5 == 0 else np.nan
        state = motion.step()
        if state.t > duration:
            return Run(*map(np.array, zip(*rows, strict=True)))
        energy = motion.energies(state)["discrete_energy"]
        rows.append((t, q.item(), v.item(), motion.h, energy, condition, indicator))


def fixed(q0: float, steps: int, duration: float) -> Run:
    """Follow the particle by as many steps of one size."""
    h = duration / steps
    motion = sx.VariationalMidpoint(h).start(system, system.state([[q0]]))
    rows, q = [], q0
    for n in range(1, steps + 1):
        state, before = motion.advance(n * h), q
        q = state.q.item()
        energy = motion.energies(state)["discrete_energy"]
        rows.append(((n - 0.5) * h, 0.5 * (q + before), (q - before) / h, h, energy, np.nan, np.nan))
    return Run(*map(np.array, zip(*rows, strict=True)))


def stop() -> dict:
    """Start above the top, and return where no step exists."""
    motion = sx.AdaptiveVariational(0.01, hold=False).start(system, system.state([[1.05]]))
    steps, initial = 0, motion.indicator()
    try:
        while steps < 10_000:
            motion.step()
            steps += 1
    except sx.SymplexError as error:
        state = motion.advance(motion.t)
        solution = exact(1.05, 5.0)
        times = np.linspace(0.0, 5.0, 500_001)
        q, v = solution(times)
        D = (2.0 * q**3 - q) ** 2 + (6.0 * q**2 - 1.0) * v**2
        return {
            "1.05: D at the start": initial,
            "1.05: stopped at [s]": state.t,
            "1.05: where D of the exact motion changes its sign [s]": float(times[np.argmax(D < 0.0)]),
            "1.05: last step over the first": motion.h / 0.01,
            "1.05: D there": motion.indicator(),
            "1.05: what it says": str(error),
        }
    raise AssertionError("it did not stop")


def measures(name: str, run: Run, next_to: Run, solution) -> dict:
    """Return what is claimed about an adaptive run and the one with fixed steps next to it."""
    law = run.h**3 * run.indicator
    return {
        f"{name}: steps": len(run.t),
        f"{name}: least step over the first": float(run.h.min() / run.h[0]),
        f"{name}: greatest step over the first": float(run.h.max() / run.h[0]),
        f"{name}: h³ D, greatest over least": float(law.max() / law.min()),
        f"{name}: largest error of the discrete energy [J]": float(run.energy_error.max()),
        f"{name}: largest error of the discrete energy, fixed step [J]": float(next_to.energy_error.max()),
        f"{name}: largest error of the position [m]": float(run.error(solution).max()),
        f"{name}: largest error of the position, fixed step [m]": float(next_to.error(solution).max()),
        f"{name}: least condition number": float(np.nanmin(run.condition)),
        f"{name}: greatest condition number": float(np.nanmax(run.condition)),
    }


def draw(runs: dict, solutions: dict, file: Path) -> None:
    """Draw the figures of the paper, one column for each start and first step."""
    figure, panels = plt.subplots(5, 4, figsize=(13, 14), dpi=66, layout="constrained")
    columns = [(h0, letter) for h0 in FIRST_STEPS for letter in STARTS]
    for (h0, letter), column in zip(columns, panels.T, strict=True):
        run, next_to, solution = *runs[letter, h0], solutions[letter]
        q, v = solution(np.linspace(0.0, run.t[-1], 4000))
        column[0].plot(q, v, color="0.6", linewidth=3.0, label="exact")
        column[0].plot(next_to.q, next_to.v, ".", color=FIXED, markersize=2.5, label="fixed step")
        column[0].plot(run.q, run.v, ".", color=ADAPTIVE, markersize=2.5, label="adaptive")
        column[0].set(title=f"q(0) = {STARTS[letter]}, first step {h0} s", xlabel="q", ylabel="q̇")
        for axes, values in ((column[1], "energy_error"), (column[2], None)):
            for shown, colour in ((next_to, FIXED), (run, ADAPTIVE)):
                y = getattr(shown, values) if values else shown.error(solution)
                axes.semilogy(shown.t, np.maximum(y, 1e-18), color=colour, linewidth=0.8)
        column[1].set(ylim=(1e-18, 1e-2), ylabel="error of the discrete energy")
        column[2].set(ylim=(1e-12, 1), ylabel="error of the position")
        column[3].plot(run.t, run.h, color=ADAPTIVE)
        law = run.h[0] * np.cbrt(run.indicator[0] / run.indicator)
        column[3].plot(run.t, law, ":", color="black", linewidth=1.0, label="∝ D^(−1/3)")
        column[3].set(ylabel="step [s]", ylim=(0, 1.1 * run.h.max()))
        column[4].semilogy(run.t[::5], run.condition[::5], color=ADAPTIVE)
        column[4].set(ylabel="condition number", xlabel="t [s]", ylim=(10, 1e6))
    panels[0, 0].legend(fontsize=8)
    panels[3, 0].legend(fontsize=8)
    for axes in panels.ravel():
        axes.grid(alpha=0.25)
    figure.savefig(file)
    plt.close(figure)


def main(output: Path, full: bool) -> None:
    """Follow all runs, write numbers.json and the picture."""
    output.mkdir(parents=True, exist_ok=True)
    duration = 80.0 if full else 8.0
    numbers, runs, solutions = {}, {}, {}
    for letter, q0 in STARTS.items():
        solution = solutions[letter] = exact(q0, duration)
        for h0 in FIRST_STEPS:
            run = adaptive(q0, h0, duration)
            next_to = fixed(q0, len(run.t), float(run.t[-1] + 0.5 * run.h[-1]))
            runs[letter, h0] = run, next_to
            numbers |= measures(f"{q0}, {h0} s", run, next_to, solution)
    numbers |= {
        "0.74, 0.01 s: largest error of the discrete energy [J] (paper)": 1e-14,
        "0.74, 0.01 s: largest error of the discrete energy, fixed step [J] (paper)": 1e-8,
        "0.995, 0.01 s: largest error of the discrete energy, fixed step [J] (paper)": 1e-6,
        "0.995, 0.01 s: greatest step over the first (paper)": 4.0,
    }
    numbers |= stop()
    draw(runs, solutions, output / "double_well.png")
    (output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    for name, value in numbers.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results/double_well"))
    parser.add_argument("--full", action="store_true", help="follow the particle for 80 s")
    options = parser.parse_args()
    main(options.output, options.full)
