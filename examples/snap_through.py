"""A shallow roof snaps through under a force in its middle, and back: paths of equilibria by arc length.

    python examples/snap_through.py [--output DIR] [--elements N]

The hinged cylindrical roof of Sze, Liu and Lo (Finite Elem. Anal. Des. 40 (2004) 1551), in two thicknesses. A thick
roof loses its stiffness at the limit load and snaps through under it; of a thin one the deflection decreases as well,
so that it snaps back whether the force or the deflection is given. Arc length follows both, in displacements and
rotations of the nodes of a quarter, and says which equilibria are stable.
"""

import argparse
import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import PolyCollection

import symplex as sx
from symplex.fem.structures import Frames, ShellProperties, Shells, shells

BLUE, RED = "#2c5fa8", "#c0392b"
RADIUS, HALF_LENGTH, HALF_ANGLE = 2540.0, 254.0, 0.1  # mm, rad
YOUNG, POISSON = 3102.75, 0.3  # N/mm²
THICKNESSES = {12.7: BLUE, 6.35: RED}  # mm
FORCE = 3000.0  # N
ACROSS_X, ACROSS_Y = [1, 0, 0, 0, 1, 1], [0, 1, 0, 1, 0, 1]  # what planes of symmetry hold


def roof(thickness: float, n: int) -> tuple[Shells, sx.System]:
    """Return a quarter of the roof in n × n elements, its middle first, under a quarter of the force."""
    angle, y = np.meshgrid(np.linspace(0, HALF_ANGLE, n + 1), np.linspace(0, HALF_LENGTH, n + 1), indexing="ij")
    at = np.arange(angle.size, dtype=np.int32).reshape(angle.shape)
    quads = np.stack([at[:-1, :-1], at[1:, :-1], at[1:, 1:], at[:-1, 1:]], axis=-1).reshape(-1, 4)
    up = np.column_stack([np.sin(angle.ravel()), np.zeros(angle.size), np.cos(angle.ravel())])
    points = RADIUS * up + np.column_stack([0.0 * y.ravel(), y.ravel(), np.full(y.size, -RADIUS * np.cos(HALF_ANGLE))])
    sheet = ShellProperties.uniform(thickness, sx.NeoHookean.from_young(YOUNG, POISSON, 1e-9))
    shell = shells(sx.Mesh(points, {"quad": quads}), sheet, directors=up)
    held = np.zeros((len(points), 6), bool)
    held[at[0]] |= np.array(ACROSS_X, bool)
    held[at[:, 0]] |= np.array(ACROSS_Y, bool)
    held[at[-1], :3] = True  # a hinge
    force = sx.actions.NodalForce(shell.particles([0])[0], [0.0, 0.0, -FORCE / 8.0])
    frames = Frames(shell.frames.nodes, shell.points, held)
    return shell, sx.System(shell.mass, shell.energies | {"force": force}, frames=frames)


def limits(load: np.ndarray, deflection: np.ndarray) -> list[float]:
    """Return the loads at which a path turns back, those of parabolas through three points each."""
    found = []
    for k in range(1, len(load) - 1):
        if (load[k] - load[k - 1]) * (load[k + 1] - load[k]) < 0.0:
            along = np.hypot(np.diff(deflection[k - 1 : k + 2]), np.diff(load[k - 1 : k + 2]) / FORCE)
            a, b, c = np.polyfit([-along[0], 0.0, along[1]], load[k - 1 : k + 2], 2)
            found.append(float(c - b * b / (4.0 * a)))
    return found


def draw(paths: dict, file: Path) -> None:
    """Draw loads over deflections, dashed where equilibria are not stable, and shapes of the thin roof."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5), dpi=90, layout="constrained")
    for thickness, colour in THICKNESSES.items():
        _, path, w = paths[thickness]
        load = FORCE * path.part
        left.plot(w, np.where(path.stable, load, np.nan), color=colour, label=f"{thickness:g} mm thick")
        left.plot(w, load, color=colour, linestyle=":", linewidth=1.0)
    left.set(xlabel="deflection in the middle in mm", ylabel="force in N", xlim=(0, 32), ylim=(-600, 3000))
    left.set_title("paths of equilibria, dotted where not stable")
    left.axhline(0.0, color="black", linewidth=0.6)
    left.legend(loc="upper left")
    left.grid(alpha=0.25)
    shell, path, w = paths[6.35]
    last = int(np.argmin(path.part))
    shown = [0, int(np.argmax(path.part[:last])), last, len(w) - 1]
    for row, k in enumerate(shown):
        corners = shell.frames.centers(path.q[k])[shell.cells["quad"]]
        for mirror in ([1, 1], [-1, 1], [1, -1], [-1, -1]):
            x, y, z = np.moveaxis(corners * [*mirror, 1.0], -1, 0)
            flat = np.stack([x + 0.35 * y, 4.0 * z + 0.3 * y - 190.0 * row], axis=-1)  # four times as high
            right.add_collection(PolyCollection(flat, facecolors="#dfe7f3", edgecolors=RED, linewidths=0.4))
        right.text(370.0, -190.0 * row, f"{FORCE * path.part[k]:.0f} N\n{w[k]:.1f} mm", va="center", fontsize=9)
    right.set(xlim=(-380, 520), ylim=(-700, 160), aspect="equal", title="the thin one, four times as high")
    right.axis("off")
    figure.suptitle("A hinged cylindrical roof of shells by arc length")
    figure.savefig(file)
    plt.close(figure)


def main(output: Path, n: int) -> None:
    """Follow both paths, write numbers.json and a picture."""
    output.mkdir(parents=True, exist_ok=True)
    numbers: dict[str, float] = {"elements along an edge of a quarter": n}
    paths = {}
    for thickness in THICKNESSES:
        shell, system = roof(thickness, n)
        path = sx.equilibria.equilibrium_path(system, shell.points, step=0.001, points=300)
        heights = np.array([shell.frames.centers(q)[0, 2] for q in path.q])
        w = heights[0] - heights
        paths[thickness] = shell, path, w
        upper, lower = limits(FORCE * path.part, w)
        name = f"{thickness:g} mm"
        numbers |= {
            f"{name}: points": len(w),
            f"{name}: upper limit load in N": upper,
            f"{name}: lower limit load in N": lower,
            f"{name}: equilibria that are not stable": int((~path.stable).sum()),
            f"{name}: largest decrease of the deflection in mm": float((np.maximum.accumulate(w) - w).max()),
            f"{name}: largest relative change of the distance of two particles of a node": max(
                shell.frames.distortion(q) for q in path.q
            ),
        }
    first = paths[12.7][1].part[:12], paths[12.7][2][:12]
    numbers["12.7 mm: deflection at 0.0877 of 3000 N in mm"] = float(np.interp(0.0877, *first))
    numbers["12.7 mm: the same by B-splines of third order (PENGoLINS)"] = 0.693
    draw(paths, output / "snap_through.png")
    (output / "numbers.json").write_text(json.dumps(numbers, indent=1) + "\n", encoding="utf-8")
    for name, value in numbers.items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=Path("results/snap_through"))
    parser.add_argument("--elements", type=int, default=8, help="along each edge of a quarter")
    options = parser.parse_args()
    main(options.output, options.elements)
