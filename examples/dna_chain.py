"""Opening of a strand of DNA, with steps ten times as large: section 4.4 and Figure 8 of Tao and Owhadi (2014).

    python examples/dna_chain.py [--output DIR] [--full]

Tao and Owhadi, "Variational and linearly-implicit integrators, with applications". Each of 200 bases of a strand has an
angle θ, a linear coupling to its two neighbours (the chain is closed) and a Morse potential by which it pairs:

    θ̈_k = θ_(k+1) − 2 θ_k + θ_(k−1) − ε U'(θ_k),    U = (exp(−a [1 − cos θ − x₀]) − 1)².

The pairs are closed at θ = arccos 0.7 = 0.795 and at 2π − 0.795 = 5.49; a long wave takes all of them from one to the
other, through the open state. Velocity Verlet takes the paper's h = 0.2, Zhang and Skeel's method its h = 2 with
β = 0.3, which slows down the short waves but not the mean angle. Both motions are chaotic: what can be compared is when
strands open.

The energy of the pairs is one of the script's own, with the third derivative that the method needs. ``--full`` follows
more strands for longer.
"""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import symplex as sx
from symplex.time.stability import stable_step

N, A, X0, EPSILON = 200, 7.0, 0.3, 1.0 / 1400.0
CLOSED = float(np.arccos(1.0 - X0))
VERLET, LARGE = "Verlet, h = 0.2", "Zhang-Skeel, h = 2"
METHODS: dict[str, sx.Integrator] = {VERLET: sx.Newmark(0.2), LARGE: sx.ZhangSkeel(2.0, beta=0.3)}
COLOURS = {VERLET: "#2c5fa8", LARGE: "#c0392b"}
LOOK = 2.0  # time between looks


class Pairing(sx.Energy):
    """φ = ε U(θ) for each base: U = (E − 1)², E = exp(−a (1 − cos θ − x₀)), E' = −a sin θ E."""

    def __init__(self) -> None:
        self.nodes = np.arange(N, dtype=np.int32)[:, None]

    def value(self, x: np.ndarray) -> np.ndarray:
        """Return ε (E − 1)² [m]."""
        E, _, _ = self._parts(x)
        return EPSILON * (E - 1.0) ** 2

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """Return 2ε (E − 1) E' [m, 1, 1]."""
        E, s, _ = self._parts(x)
        return (-2.0 * EPSILON * A * (E - 1.0) * E * s)[:, None, None]

    def hessian(self, x: np.ndarray) -> np.ndarray:
        """Return its derivative [m, 1, 1]."""
        E, s, c = self._parts(x)
        return (2.0 * EPSILON * A * E * (A * (2.0 * E - 1.0) * s**2 - (E - 1.0) * c))[:, None, None]

    def third(self, x: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Return that of this, times a² [m, 1, 1]."""
        E, s, c = self._parts(x)
        sines = A**2 * (1.0 - 4.0 * E) * s**3
        third = 2.0 * EPSILON * A * E * (sines + 3.0 * A * (2.0 * E - 1.0) * s * c + (E - 1.0) * s)
        return third[:, None, None] * a**2

    def _parts(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        theta = x[:, 0, 0]
        return np.exp(-A * (1.0 - np.cos(theta) - X0)), np.sin(theta), np.cos(theta)


def chain() -> sx.System:
    """Return the closed chain, its coupling by springs of no length on a line."""
    bases = np.arange(N)
    coupling = sx.Bars(np.column_stack([bases, (bases + 1) % N]), sx.measures.EngineeringStrain(1.0, 0.0), dim=1)
    return sx.System(np.ones(N), {"coupling": coupling, "pairing": Pairing()}, dim=1)


def strand(system: sx.System, seed: int) -> sx.State:
    """Return a strand near the closed state, with a long wave of velocities."""
    k = np.arange(1, N + 1)
    theta = 0.8 + 0.1 * np.random.default_rng(seed).standard_normal(N)
    return system.state(theta[:, None], (np.cos(4.0 * np.pi * k / N) / np.sqrt(N))[:, None])


@dataclass(frozen=True)
class Run:
    """Mean angle and its rate, energies by name and angles, all at the times t [k]; processor time in s."""

    t: np.ndarray
    mean: np.ndarray
    rate: np.ndarray
    energies: dict[str, np.ndarray]
    seconds: float

    @property
    def opening(self) -> float:
        """When the mean angle first is π, halfway; infinite if never."""
        passed = np.flatnonzero(self.mean > np.pi)
        return float(self.t[passed[0]]) if len(passed) else np.inf


def follow(system: sx.System, start: sx.State, method: sx.Integrator, duration: float) -> Run:
    """Follow a strand, looking at equal intervals."""
    motion, recorder, seconds = method.start(system, start), sx.Recorder(), 0.0
    for t in np.arange(0.0, duration + 0.5 * LOOK, LOOK):
        begin = process_time()
        state = motion.advance(t)
        seconds += process_time() - begin
        recorder(motion, state)
    path = recorder.trajectory()
    return Run(path.t, path.q.mean(axis=(1, 2)), path.v.mean(axis=(1, 2)), path.energies, seconds)


def draw(runs: dict[str, list[Run]], file: Path) -> None:
    """Draw the mean angle over time and its rate over it, as in the paper, and energies."""
    figure, panels = plt.subplots(1, 3, figsize=(15, 4.6), dpi=90, layout="constrained")
    for name, of_seeds in runs.items():
        colour = COLOURS[name]
        for n, run in enumerate(of_seeds):
            line = {"color": colour, "linewidth": 1.2 if n == 0 else 0.5, "alpha": 1.0 if n == 0 else 0.5}
            panels[0].plot(run.t, run.mean, **line, label=name if n == 0 else None)
        first = of_seeds[0]
        panels[1].plot(first.mean, first.rate, color=colour, linewidth=0.8, label=name)
        panels[2].plot(first.t, first.energies["total"], color=colour, linewidth=0.8, label=f"{name}: energy")
        if "modified_total" in first.energies:
            modified = first.energies["modified_total"]
            panels[2].plot(first.t, modified, ":", color=colour, label=f"{name}: modified energy")
    for closed in (CLOSED, 2.0 * np.pi - CLOSED):
        panels[0].axhline(closed, color="black", linewidth=0.6)
    panels[0].set(title="mean angle (lines: closed states)", xlabel="time", ylim=(-0.5, 7))
    panels[1].set(title="its rate over the mean angle, first strand", xlabel="mean angle")
    panels[2].set(title="energies, first strand", xlabel="time", ylim=(0, None))
    for axes in panels:
        axes.legend(fontsize="small")
        axes.grid(alpha=0.25)
    figure.suptitle("Strands of 200 bases (Tao and Owhadi 2014, Figure 8)")
    figure.savefig(file)
    plt.close(figure)


def main(output: Path, full: bool) -> None:
    """Follow some strands by both methods, write numbers.json and the picture."""
    output.mkdir(parents=True, exist_ok=True)
    system = chain()
    seeds, duration = (32, 4000.0) if full else (4, 500.0)
    runs = {
        name: [follow(system, strand(system, seed), method, duration) for seed in range(seeds)]
        for name, method in METHODS.items()
    }
    numbers = {
        "closed angle": CLOSED,
        "closed angle (paper)": 0.795,
        "stability limit of Verlet": stable_step(system, strand(system, 0).q),
    }
    for name, of_seeds in runs.items():
        first, opening = of_seeds[0].energies, [run.opening for run in of_seeds]
        total = first["total"]
        numbers |= {
            f"{name}: processor time of a strand [s]": sum(run.seconds for run in of_seeds) / seeds,
            f"{name}: strands that open, of {seeds}": int(np.isfinite(opening).sum()),
            f"{name}: median time of opening": float(np.median(opening)),
            f"{name}: first time of opening": float(np.min(opening)),
            f"{name}: energy at first": float(total[0]),
            f"{name}: mean energy in the second half": float(total[len(total) // 2 :].mean()),
            f"{name}: farthest mean angle": float(max(run.mean.max() for run in of_seeds)),
        }
    modified = runs[LARGE][0].energies["modified_total"]
    half = len(modified) // 2
    numbers[f"{LARGE}: spread of the modified energy, relative"] = float(np.ptp(modified) / modified.mean())
    numbers[f"{LARGE}: drift of the modified energy from the first to the second half, relative"] = float(
        modified[half:].mean() / modified[:half].mean() - 1.0
    )
    draw(runs, output / "dna_chain.png")
    (output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    for name, value in numbers.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results/dna_chain"))
    parser.add_argument("--full", action="store_true", help="more strands, for longer")
    options = parser.parse_args()
    main(options.output, options.full)
