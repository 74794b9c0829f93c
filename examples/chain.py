"""A hanging chain of rods by multipliers and by penalties: section 4.2 of Tao and Owhadi (2014), Figure 3.

    python examples/chain.py [--output DIR] [--full]

Ten masses on rods of √5 swing from a straight line. SHAKE and RATTLE keep the rods rigid, Zhang and Skeel's method and
others take them as stiff springs. The paper has no reference; here it is the motion of the ten angles.

``--full`` also measures the time of a step for chains of up to 10⁴ rods.
"""

import argparse
import json
from pathlib import Path
from time import process_time

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from hanging_rods import HangingRods, Motion

import symplex as sx

OMEGA, BETA, STEP, END = 20.0, 0.4, 0.05, 50.0
METHODS = {
    "SHAKE, h = 0.05": sx.constraints.Shake,
    "SHAKE, h = 0.025": sx.constraints.Shake,
    "RATTLE, h = 0.05": sx.Rattle,
    "Zhang-Skeel, h = 0.05": sx.ZhangSkeel,
    "energy-momentum, h = 0.05": sx.EnergyMomentum,
}


def hanging(n: int) -> HangingRods:
    """Return the chain of n rods with masses at (i, −2i)."""
    i = np.arange(1.0, n + 1.0)
    return HangingRods(np.column_stack([i, -2.0 * i]))


def follow(chain: HangingRods, name: str, at: np.ndarray) -> sx.Trajectory:
    """Return the motion of the chain by one of the methods."""
    method, step = METHODS[name], float(name.split("= ")[1])
    if method in (sx.constraints.Shake, sx.Rattle):
        return sx.record(chain.system, method(step, chain.constraints), chain.start, at)
    system = chain.penalised(OMEGA)
    parameters = (step, BETA) if method is sx.ZhangSkeel else (step,)
    return sx.record(system, method(*parameters), system.state(chain.q), at)


def measures(chain: HangingRods, name: str, run: sx.Trajectory, reference: Motion) -> dict:
    """Return what is claimed about one run."""
    energy = run.energies["total"]
    return {
        f"{name}: largest error of a position": float(np.abs(run.q - reference.q).max()),
        f"{name}: largest error of the energy": float(np.abs(energy - energy[0]).max()),
        f"{name}: largest |g| of a rod": float(np.abs(chain.constraint_values(run.q)).max()),
    }


def tensions(chain: HangingRods, at: np.ndarray, reference: Motion) -> dict:
    """Return errors of the tensions by SHAKE, and by averages of the penalised motion (eq. 8)."""
    shake = chain.follow(sx.constraints.Shake(STEP, chain.constraints), at).tensions
    penalty, run = chain.penalty(OMEGA), follow(chain, "Zhang-Skeel, h = 0.05", at)
    centres, averaged = penalty.averaged_multipliers(run.t, run.q, 1.0)
    exact = np.stack([np.interp(centres, reference.t, column) for column in reference.tensions.T], axis=1)
    raw = chain.rods.tensions(np.array([penalty.multipliers(q) for q in run.q]))
    return {
        "tensions: largest": float(reference.tensions.max()),
        "tensions by SHAKE: largest error": float(np.abs(shake - reference.tensions).max()),
        "tensions by averages over 1: mean error": float(np.abs(chain.rods.tensions(averaged) - exact).mean()),
        "tensions without averages: mean error": float(np.abs(raw - reference.tensions).mean()),
    }


def times_of_steps() -> dict:
    """Return the processor time of a step in µs for chains of several lengths, the best of fifteen."""
    numbers = {}
    for n in (10, 100, 1000, 10_000):
        chain = hanging(n)
        # Tension makes waves across the chain, whose frequency the step must resolve: ω² = 4 T/(m L).
        step = 0.2 / np.sqrt(n)
        penalised = chain.penalised(20.0 * np.sqrt(n))
        methods = {
            "SHAKE": (chain.system, sx.constraints.Shake(step, chain.constraints)),
            "RATTLE": (chain.system, sx.Rattle(step, chain.constraints)),
            "Zhang-Skeel": (penalised, sx.ZhangSkeel(step, BETA)),
            "energy-momentum": (penalised, sx.EnergyMomentum(step)),
        }
        for name, (system, method) in methods.items():
            motion = method.start(system, system.state(chain.q))
            motion.advance(2 * step)
            best, steps = np.inf, max(3, 500 // n)
            for k in range(15):
                before = process_time()
                motion.advance((2 + (k + 1) * steps) * step)
                best = min(best, (process_time() - before) / steps)
            numbers[f"{n} rods, {name}: µs per step"] = 1e6 * best
    return numbers


def draw(chain: HangingRods, runs: dict[str, sx.Trajectory], reference: Motion, file: Path) -> None:
    """Draw the chain at some times, and the motion of two masses by all methods: Figure 3."""
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(14, 5), dpi=75, layout="constrained")
    colors = plt.get_cmap("viridis")(np.linspace(0.0, 0.9, 7))
    for t, color in zip(np.arange(7) * 2.0, colors, strict=True):
        q = reference.q[round(t / STEP)]
        left.plot(q[:, 0], q[:, 1], "o-", color=color, markersize=3, linewidth=1.0, label=f"t = {t:g}")
    left.set(aspect="equal", title="the chain (reference)", xlim=(-14, 14))
    left.legend(fontsize=8)
    styles = {"SHAKE, h = 0.05": ("-", 2.5), "SHAKE, h = 0.025": ("--", 1.5), "Zhang-Skeel, h = 0.05": (":", 1.5)}
    for mass, color in ((5, "#2c5fa8"), (10, "#c0392b")):
        for name, (style, width) in styles.items():
            x = runs[name].q[:, mass, 0]
            middle.plot(reference.t, x, style, color=color, linewidth=width, label=f"x of mass {mass}, {name}")
    middle.set(xlabel="time", title="all three lie on each other", xlim=(0.0, END), ylim=(-12, 20))
    middle.legend(fontsize=7, loc="upper center", ncols=2)
    for name, run in runs.items():
        error = np.abs(run.q - reference.q).max(axis=(1, 2))
        right.semilogy(reference.t[1:], error[1:], linewidth=0.9, label=name)
    right.set(xlabel="time", title="largest error of a position", ylim=(1e-7, 1e-1), xlim=(0.0, END))
    right.legend(fontsize=8, loc="lower right")
    for axes in (left, middle, right):
        axes.grid(alpha=0.25)
    figure.suptitle(f"Chain of ten rods, ω = {OMEGA:g} where penalised (Tao and Owhadi 2014, Figure 3)")
    figure.savefig(file)
    plt.close(figure)


def main(output: Path, full: bool) -> None:
    """Follow the chain by all methods, write numbers.json and the picture."""
    output.mkdir(parents=True, exist_ok=True)
    chain, at = hanging(10), STEP * np.arange(round(END / STEP) + 1)
    reference = chain.exact(at)
    runs = {name: follow(chain, name, at) for name in METHODS}
    numbers = {}
    for name, run in runs.items():
        numbers |= measures(chain, name, run, reference)
    numbers |= tensions(chain, at, reference)
    draw(chain, runs, reference, output / "chain.png")
    if full:
        numbers |= times_of_steps()
    (output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    for name, value in numbers.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results/chain"))
    parser.add_argument("--full", action="store_true", help="the time of a step for up to 10⁴ rods as well")
    options = parser.parse_args()
    main(options.output, options.full)
