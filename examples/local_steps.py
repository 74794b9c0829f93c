"""Local time steps: a bracket, a horn that tapers 1:50, and a node that is kicked in resonance.

    python examples/local_steps.py [--output DIR] [--across N]

The horn is struck at its thick end; the wave runs into the tip, where elements are 50 times smaller. Explicit Newmark
takes the step of the smallest element everywhere, `Multirate` each element's own.
"""

import argparse
import json
import math
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import symplex as sx

STEEL = sx.NeoHookean(115.4e9, 76.9e9, 7850.0)
SPEED = 5.0  # m/s of the blow
STIFF, SOFT, LEVEL = 100.0, 5.0, 5  # N/m of the springs of the kicked node of 1 kg, and the level of the stiff one


def body(mesh: sx.Mesh) -> tuple[sx.System, sx.State]:
    """Return a free steel body, struck at its lower end, and spinning."""
    points, cells = mesh.points, mesh.cells["tetra"]
    solid = sx.Solid(points, cells, STEEL)
    system = sx.System(sx.lumped_mass(points, cells, STEEL.density, len(points)), {"solid": solid})
    z = points[:, 2] - points[:, 2].min()
    v = np.cross([20.0, 0.0, 60.0], points - points.mean(axis=0))
    v[:, 2] += SPEED * np.exp(-((z / (0.3 * z.max())) ** 2))
    return system, system.state(points, v)


def horn(across: int, ratio: float = 50.0) -> sx.Mesh:
    """Return a bar of 1 m that tapers by a ratio, with as many elements across everywhere."""
    mesh = sx.box((1.0, 1.0, 1.0), (across, across, 10 * across), split="6")
    x, y, w = (mesh.points - [0.5, 0.5, 0.0]).T
    size = ratio**-w
    return sx.Mesh(np.column_stack([0.4 * size * x, 0.4 * size * y, 1.0 - size]), mesh.cells)


def struck(mesh: sx.Mesh, looks: int = 60) -> tuple[dict[str, float], np.ndarray]:
    """Return what both methods keep while waves cross a body twice, and times and energies [3, looks + 1]."""
    system, state = body(mesh)
    t = np.linspace(0.0, 2.0 * np.ptp(mesh.points, axis=0).max() / STEEL.wave_speed, looks + 1)
    runs, changes, momenta = [], [], []
    for method in (sx.explicit.Multirate(), sx.Newmark("auto")):
        motion = method.fit(system, state, t[1]).start(system, state)
        runs.append((motion, [motion.energies(motion.advance(at)) for at in t]))
        end = motion.advance(t[-1])
        momenta.append([np.concatenate([system.momentum(s), system.angular_momentum(s)]) for s in (state, end)])
    (motion, energies), (newmark, _) = runs
    exchanged = np.ptp([reported["kinetic"] for reported in energies])
    changes = [np.array([reported["total"] - run[0]["total"] for reported in run]) / exchanged for _, run in runs]
    ends = [run.advance(t[-1]).q for run in (motion, newmark)]
    before, after = momenta[0]
    found = {
        "tetrahedra": len(system.energies["solid"].nodes),
        "levels": len(motion.division.parts),
        "times fewer elements": motion.gain,
        "change of energy / exchanged": float(np.abs(changes[0]).max()),
        "the same by explicit Newmark": float(np.abs(changes[1]).max()),
        "change of momenta / largest": float(np.abs(after - before).max() / np.abs(before).max()),
        "difference of positions / largest displacement": float(
            np.abs(ends[0] - ends[1]).max() / np.abs(ends[1] - state.q).max()
        ),
    }
    return found, np.array([t, *changes])


def growth(turns: float, steps: int = 100) -> tuple[float, float]:
    """Return how fast a kicked node swings more and more, per kick, as found and as the trace of a step says.

    Parameters
    ----------
    turns : float
        Half turns of the stiff spring between two kicks of the soft one.
    steps : int
    """
    omega, length = math.sqrt(STIFF), 1.0
    laws = {name: sx.measures.EngineeringStrain(k, length) for name, k in (("stiff", STIFF), ("soft", SOFT))}
    springs = {name: sx.Bars([[0, 1]], law, dim=1) for name, law in laws.items()}
    system = sx.System([1.0, 1.0], springs, dim=1, fixed=np.array([[True], [False]]))
    half = math.sin(0.5 * math.pi * turns / 2**LEVEL)
    dt = 2.0 * half / omega * 2**LEVEL
    trace = math.cos(math.pi * turns) - 0.5 * dt * SOFT * math.sin(math.pi * turns) / (omega * math.sqrt(1.0 - half**2))
    method = sx.explicit.Multirate(dt, given={"stiff": LEVEL, "soft": 0})
    run = sx.record(system, method, system.state([[0.0], [length + 1e-9]]), dt * np.array([0, steps]))
    start, end = (math.hypot(q[1, 0] - length, v[1, 0] / omega) for q, v in zip(run.q, run.v, strict=True))
    return math.log(end / start) / steps, math.acosh(max(abs(trace), 1.0))


def draw(history: np.ndarray, turns: np.ndarray, rates: np.ndarray, path: Path) -> None:
    """Draw the energies of the horn, and the resonances of the kicked node."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(9.0, 3.4), layout="constrained")
    t, local, newmark = history
    left.plot(1e3 * t, local, color="#c0392b", lw=0.8, label="local steps")
    left.plot(1e3 * t, newmark, color="#2c5fa8", lw=0.8, label="explicit Newmark")
    left.set(xlabel="t in ms", ylabel="change of energy / exchanged", title="horn, 1:50")
    left.legend(fontsize=8)
    right.plot(turns, rates[:, 0], ".", color="#c0392b", label="found")
    right.plot(turns, rates[:, 1], color="#2c5fa8", lw=0.8, label="trace of a step")
    right.axvline(4.0 * math.asin(0.6) / math.pi, color="grey", ls=":", label="farthest, with safety 0.6")
    right.set(xlabel="half turns between two kicks", ylabel="growth per kick", title="kicked node", ylim=(-0.01, None))
    right.legend(fontsize=8)
    fig.savefig(path, dpi=110)


def main(output: Path, across: int) -> None:
    """Compute, write numbers.json and the picture."""
    output.mkdir(parents=True, exist_ok=True)
    numbers: dict[str, object] = {}
    numbers["bracket"], _ = struck(sx.read_mesh(sx.bundled("bracket")))
    numbers["horn"], history = struck(horn(across))
    turns = np.linspace(0.5, 2.3, 91)
    rates = np.array([growth(of) for of in turns])
    numbers["largest growth per kick"] = float(rates[:, 0].max())
    numbers["by the trace"] = float(rates[:, 1].max())
    draw(history, turns, rates, output / "local_steps.png")
    (output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(numbers, indent=1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results/local_steps"))
    parser.add_argument("--across", type=int, default=3, help="elements across the horn")
    options = parser.parse_args()
    main(options.output, options.across)
