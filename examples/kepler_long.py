"""What becomes of Kepler's orbit by force-stepping over thousands of turns.

    python examples/kepler_long.py [--output DIR] [--full]

Section 7 of the force-stepping paper (Gonzalez, Schmidt and Ortiz, 2010) reports that momenta stay "within tight bounds
for long periods of time". Its longest run of this problem is 32 turns; here are 300 (``--full``: 3000), with e = 0.85,
the paper's grid size and smaller ones, on random lattices. The facets pull on the angular momentum almost at random and
the changes add up; the energy is kept, so that the orbit keeps its length but not its width. In the distance alone both
are kept.
"""

import argparse
import json
from pathlib import Path as File

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from kepler_orbit import PERIOD, angular_momentum, exact, kepler

import symplex as sx

E = 0.85
GRID = 0.022
RADIAL_GRID = 0.0067


def angular_momenta(integrator: sx.Integrator, turns: int) -> np.ndarray:
    """Return the relative change of the angular momentum after every turn."""
    system, state = kepler(E)
    motion = integrator.start(system, state)
    found = [system.angular_momentum(motion.advance(k * PERIOD))[0] for k in range(1, turns + 1)]
    return np.array(found) / angular_momentum(E) - 1.0


def marks(turns: int) -> np.ndarray:
    """Return the numbers of turns at which to look: 1, 3, 10, 30, …"""
    requested = np.outer(10 ** np.arange(4), [1, 3]).ravel()
    return requested[requested <= turns]


def wandering(grids: list[float], turns: int, lattices: int) -> tuple[dict, dict]:
    """Return the root mean square changes over the lattices after every turn for each grid size, and the numbers."""
    curves, numbers = {}, {}
    for h in grids:
        changes = [angular_momenta(sx.ForceStepping(h, seed=k), turns) for k in range(lattices)]
        curves[h] = np.sqrt(np.mean(np.square(changes), axis=0))
        at = marks(turns)
        numbers |= {f"h = {h}: change of the angular momentum after {n} turns": float(curves[h][n - 1]) for n in at}
        early = at[at <= 300]
        exponent = np.polyfit(np.log(early), np.log(curves[h][early - 1]), 1)[0]
        numbers[f"h = {h}: exponent in the number of turns, to 300"] = float(exponent)
    return curves, numbers


def turn(integrator: sx.Integrator, after: int) -> np.ndarray:
    """Return the positions [k, 2] in a turn after many."""
    motion = integrator.start(*kepler(E))
    return np.array([motion.advance(PERIOD * (after + s)).q[1] for s in np.linspace(0.0, 1.0, 2001)])


def draw(curves: dict, turns: int, file: File) -> None:
    """Draw the changes over the turns, and orbits in the plane and in the distance at the beginning and later."""
    figure, panels = plt.subplots(1, 3, figsize=(13, 4.6), dpi=100, layout="constrained")
    for k, (h, change) in enumerate(curves.items()):
        panels[0].loglog(np.arange(1, turns + 1), change, color=plt.get_cmap("viridis")(0.2 * k), label=f"h = {h:g}")
    root = np.sqrt(np.array([1.0, turns]))
    panels[0].loglog([1, turns], 2e-3 * root, ":", color="0.4", label="∝ √turns")
    panels[0].set(xlabel="turns", title="relative change of the angular momentum, rms")
    panels[0].grid(alpha=0.25)
    panels[0].legend(fontsize=9)
    methods = {
        f"in x, y, h = {GRID}": sx.ForceStepping(GRID, seed=1),
        f"in the distance, h = {RADIAL_GRID}": sx.reductions.PolarReduction(
            sx.ForceStepping(RADIAL_GRID, offset=np.zeros((2, 1)))
        ),
    }
    for axes, (label, integrator) in zip(panels[1:], methods.items(), strict=True):
        colours = plt.get_cmap("plasma")([0.1, 0.5, 0.8])
        for after, colour in zip((0, turns // 10, turns - 1), colours, strict=True):
            axes.plot(*turn(integrator, after).T, color=colour, linewidth=1.2, label=f"turn {after + 1}")
        axes.plot(*exact(np.linspace(0, PERIOD, 1001), E)[0].T, color="black", linewidth=0.8, label="exact")
        axes.plot(0, 0, "o", color="black", markersize=3)
        axes.set(title=label, xlabel="x", ylabel="y", aspect="equal", xlim=(-2.1, 2.1), ylim=(-2.1, 2.1))
        axes.legend(loc="lower left", fontsize=9)
    figure.suptitle("Kepler's problem by force-stepping, e = 0.85, over many turns")
    figure.savefig(file)
    plt.close(figure)


def main() -> None:
    """Follow the orbits, write numbers.json and the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=File, default=File("results/kepler_long"))
    parser.add_argument("--full", action="store_true", help="3000 turns, twelve lattices, smaller grid sizes")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    turns, lattices, levels = (3000, 12, 4) if options.full else (300, 8, 3)
    curves, numbers = wandering([GRID / 2**k for k in range(levels)], turns, lattices)
    reduced = sx.reductions.PolarReduction(sx.ForceStepping(RADIAL_GRID, offset=np.zeros((2, 1))))
    numbers["reduced: largest change of the angular momentum"] = float(np.abs(angular_momenta(reduced, turns)).max())
    draw(curves, turns, options.output / "kepler_long.png")
    (options.output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    for name, value in numbers.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    main()
