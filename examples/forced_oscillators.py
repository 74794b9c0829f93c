"""Forced and damped oscillators by the energy-preserving variational integrator: sections 5.2-5.3 of Sharma et al.

    python examples/forced_oscillators.py [--output DIR] [--full]

Sharma, Patil and Woolsey, "Energy-preserving variational integrators for forced Lagrangian systems" (2019), Figures
8-15: m q̈ + c q̇ + k q = F0 cos(ω t), with m = 1 and k = 4 (2 rad/s), first steps of 0.01 s, and next to the adaptive
integrator the variational midpoint rule with as many steps of one size. What the paper does not print: F0 = 1 and
q(0) = 0, q̇(0) = 1 make its ranges of steps at ω/ω_n = 0.1 and 5; the third ratio and the damping are ours.

For a linear spring h² D is constant to leading order, D = m q̈² + k q̇²: with damping D falls (dD/dt = −2 c q̈²), so that
steps can only grow, and the discrete energy stays h² D/8 = const. below that of the motion.

``--full`` follows the oscillators for 32 s, instead of 16 s (ω/ω_n = 0.1) or 5 s.
"""

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import symplex as sx

NATURAL = 2.0
STIFFNESS = NATURAL**2
FORCE = 1.0
FIRST_STEP = 0.01
RATIOS = (0.1, 2.0, 5.0)
DAMPING = (0.01, 0.05, 0.1)
ADAPTIVE, FIXED, PLAIN = "#2c5fa8", "#c0392b", "#d08a1d"
PRINTED = {  # of the paper
    "ratio 0.1: least step [s] (paper)": 0.0095,
    "ratio 0.1: greatest step [s] (paper)": 0.0105,
    "ratio 5.0: least step [s] (paper)": 0.007,
    "ratio 5.0: greatest step [s] (paper)": 0.022,
    "ratio 0.1: largest error of the energy, adaptive [J] (paper)": 1e-4,
    "ratio 0.1: largest error of the energy, fixed [J] (paper)": 1e-2,
    "ratio 5.0: largest error of the energy, adaptive [J] (paper)": 1e-4,
    "ratio 5.0: largest error of the energy, fixed [J] (paper)": 1e-1,
}


class Spring(sx.Energy):
    """½ k q² of one particle on a line."""

    nodes = np.array([[0]], dtype=np.int32)

    def value(self, x: np.ndarray) -> np.ndarray:
        """Return ½ k q² [1] in J."""
        return 0.5 * STIFFNESS * x[:, 0, 0] ** 2

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """Return k q [1, 1, 1] in N."""
        return STIFFNESS * x

    def hessian(self, x: np.ndarray) -> np.ndarray:
        """Return k [1, 1, 1] in N/m."""
        return np.full_like(x, STIFFNESS)


Motion = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]


def forced(ratio: float) -> tuple[sx.System, Motion]:
    """Return the oscillator forced at a ratio of its frequency, and its exact q, q̇ and q̈ from q = 0, q̇ = 1."""
    omega = ratio * NATURAL
    load = {"force": lambda t, q, v: np.full_like(q, FORCE * np.cos(omega * t))}
    steady = FORCE / (STIFFNESS - omega**2)

    def motion(t):
        s, c = np.sin(NATURAL * t), np.cos(NATURAL * t)
        q = steady * (np.cos(omega * t) - c) + s / NATURAL
        v = steady * (NATURAL * s - omega * np.sin(omega * t)) + c
        return q, v, FORCE * np.cos(omega * t) - STIFFNESS * q

    return sx.System(np.ones(1), {"spring": Spring()}, dim=1, loads=load), motion


def damped(zeta: float) -> tuple[sx.System, Motion]:
    """Return the oscillator with a part of its critical damping, and its exact q, q̇ and q̈ from q = 0, q̇ = 1."""
    rate, frequency = zeta * NATURAL, NATURAL * np.sqrt(1.0 - zeta**2)
    load = {"damper": sx.actions.Drag(np.ones(1), 2.0 * rate)}

    def motion(t):
        decay, s, c = np.exp(-rate * t), np.sin(frequency * t), np.cos(frequency * t)
        q, v = decay * s / frequency, decay * (c - rate / frequency * s)
        return q, v, -STIFFNESS * q - 2.0 * rate * v

    return sx.System(np.ones(1), {"spring": Spring()}, dim=1, loads=load), motion


@dataclass(frozen=True)
class Run:
    """All steps [k]: t and q at their ends, sizes, discrete energies, those without the load's part, without work."""

    t: np.ndarray
    h: np.ndarray
    q: np.ndarray
    energy: np.ndarray
    plain: np.ndarray
    balance: np.ndarray

    def energy_error(self, motion: Motion, plain: bool = False) -> np.ndarray:
        """Return the distance [k] in J of the discrete energy from that of the exact motion."""
        q, v, _ = motion(self.t)
        return np.abs((self.plain if plain else self.energy) - 0.5 * (v**2 + STIFFNESS * q**2))

    def error(self, motion: Motion) -> np.ndarray:
        """Return the distance [k] in m from the exact motion."""
        return np.abs(self.q - motion(self.t)[0])


def start(system: sx.System) -> sx.State:
    """Return the state with q = 0 and q̇ = 1."""
    return system.state([[0.0]], [[1.0]])


def adaptive(system: sx.System, duration: float) -> Run:
    """Follow the oscillator by the adaptive integrator to the last step that ends before a time."""
    motion = sx.AdaptiveVariational(FIRST_STEP, hold=False).start(system, start(system))
    state, rows = start(system), []
    while True:
        before, state = state, motion.step()
        if state.t > duration:
            return Run(*map(np.array, zip(*rows, strict=True)))
        rows.append(seen(motion, before, state))


def fixed(system: sx.System, steps: int, duration: float) -> Run:
    """Follow the oscillator by as many steps of one size."""
    motion = sx.VariationalMidpoint(duration / steps).start(system, start(system))
    state, rows = start(system), []
    for n in range(1, steps + 1):
        before, state = state, motion.advance(n * duration / steps)
        rows.append(seen(motion, before, state))
    return Run(*map(np.array, zip(*rows, strict=True)))


def seen(motion: sx.Motion, before: sx.State, state: sx.State) -> tuple[float, ...]:
    """Return a row of a run."""
    h, q0, q1 = state.t - before.t, before.q.item(), state.q.item()
    plain = 0.5 * ((q1 - q0) / h) ** 2 + 0.5 * STIFFNESS * (0.5 * (q0 + q1)) ** 2
    energies = motion.energies(state)
    work = sum(value for name, value in energies.items() if name.startswith("work_"))
    return state.t, h, q1, energies["discrete_energy"], plain, energies["discrete_energy"] - work


def follow(system: sx.System, duration: float) -> tuple[Run, Run]:
    """Return the adaptive run and the one with as many fixed steps."""
    run = adaptive(system, duration)
    return run, fixed(system, len(run.t), float(run.t[-1]))


def indicator(motion: Motion, t: np.ndarray) -> np.ndarray:
    """Return D [k] in J/s² along the exact motion."""
    _, v, a = motion(t)
    return a**2 + STIFFNESS * v**2


def measures(name: str, run: Run, next_to: Run, motion: Motion) -> dict:
    """Return what is claimed about an adaptive run and the one with fixed steps next to it."""
    law = run.h**2 * indicator(motion, run.t - 0.5 * run.h)
    numbers = {
        f"{name}: steps": len(run.t),
        f"{name}: least step [s]": float(run.h.min()),
        f"{name}: greatest step [s]": float(run.h.max()),
        f"{name}: last step over the first": float(run.h[-1] / run.h[0]),
        f"{name}: least change of a step, relative": float(np.diff(run.h).min() / FIRST_STEP),
        f"{name}: h² D, greatest over least": float(law.max() / law.min()),
    }
    for kind, one in (("adaptive", run), ("fixed", next_to)):
        change = np.abs(one.balance - one.balance[0]).max()
        numbers |= {
            f"{name}: largest error of discrete energy less work, {kind} [J]": float(change),
            f"{name}: largest error of the energy, {kind} [J]": float(one.energy_error(motion).max()),
            f"{name}: largest error of the energy without the load's part, {kind} [J]": float(
                one.energy_error(motion, plain=True).max()
            ),
            f"{name}: error of the energy at the end over that at the start, {kind}": float(
                one.energy_error(motion)[-1] / one.energy_error(motion)[0]
            ),
            f"{name}: largest error of the position, {kind} [m]": float(one.error(motion).max()),
        }
    return numbers


def draw(runs: dict[float, tuple[Run, Run]], motions: dict[float, Motion], title: str, file: Path) -> None:
    """Draw the figures of the paper, one column for each run."""
    figure, panels = plt.subplots(4, len(runs), figsize=(12, 11), dpi=72, layout="constrained")
    for (value, (run, next_to)), column in zip(runs.items(), panels.T, strict=True):
        motion = motions[value]
        t = np.linspace(0.0, run.t[-1], 2000)
        column[0].plot(t, motion(t)[0], color="0.7", linewidth=3.0, label="exact")
        for one, colour, name in ((next_to, FIXED, "fixed step"), (run, ADAPTIVE, "adaptive")):
            column[0].plot(one.t, one.q, "--", color=colour, linewidth=1.0, label=name)
            column[1].semilogy(one.t, one.energy_error(motion), color=colour, linewidth=0.9)
            column[2].semilogy(one.t, np.maximum(one.error(motion), 1e-12), color=colour, linewidth=0.9)
        plain = next_to.energy_error(motion, plain=True)
        column[1].semilogy(next_to.t, plain, ":", color=PLAIN, linewidth=1.0, label="fixed, without the load's part")
        column[3].plot(run.t, run.h, color=ADAPTIVE)
        D = indicator(motion, t)
        column[3].plot(t, FIRST_STEP * np.sqrt(D[0] / D), ":", color="black", linewidth=1.2, label="∝ D^(−1/2)")
        column[0].set(title=title.format(value), ylabel="q [m]", ylim=(None, 1.9 * max(motion(t)[0])))
        column[1].set(ylabel="error of the energy [J]", ylim=(1e-9, 1))
        column[2].set(ylabel="error of the position [m]", ylim=(1e-9, 1e-1))
        column[3].set(ylabel="step [s]", xlabel="t [s]", ylim=(0, 1.1 * run.h.max()))
    for axes in panels[(0, 1, 3), 0]:
        axes.legend(fontsize=8, loc="lower left" if axes is panels[3, 0] else "upper right")
    for axes in panels.ravel():
        axes.grid(alpha=0.25)
    figure.savefig(file)
    plt.close(figure)


def main(output: Path, full: bool) -> None:
    """Follow all runs, write numbers.json and the pictures."""
    output.mkdir(parents=True, exist_ok=True)
    numbers = dict(PRINTED)
    runs, motions = {}, {}
    for ratio in RATIOS:
        system, motions[ratio] = forced(ratio)
        runs[ratio] = follow(system, 32.0 if full else 16.0 if ratio < 1.0 else 5.0)
        numbers |= measures(f"ratio {ratio}", *runs[ratio], motions[ratio])
    draw(runs, motions, "forced at {} times its frequency", output / "forced_oscillators.png")
    runs, motions = {}, {}
    for zeta in (*DAMPING, -0.05):
        system, motions[zeta] = damped(zeta)
        runs[zeta] = follow(system, 32.0 if full else 5.0)
        numbers |= measures(f"damping {zeta}", *runs[zeta], motions[zeta])
    draw(runs, motions, "damping ratio {}", output / "damped_oscillators.png")
    (output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    for name, value in numbers.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results/forced_oscillators"))
    parser.add_argument("--full", action="store_true", help="follow the oscillators for 32 s")
    options = parser.parse_args()
    main(options.output, options.full)
