"""Local time steps against explicit Newmark: CPU seconds and errors, on the bracket and on a block graded 1:50.

Both follow a body that vibrates, each in the largest step that it chooses itself, to the same time; the reference is
explicit Newmark in a quarter of its step. Times are CPU seconds of one thread, the least of several turns in which both
run one after the other.

Run with ``python benchmarks/local_steps.py``; the graded mesh is made by gmsh (extra ``mesh``).
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np

import symplex as sx
from symplex.fem.compiled import threads
from symplex.time.explicit.multirate import Multirate

_OF_BRACKET = 30.0  # times as many crossings as of the blocks: one takes 7 ms


def graded_block(size: float, ratio: float) -> sx.Mesh:
    """Return a cube of 1 m whose elements have a size in m, at one corner smaller by a ratio."""
    import gmsh

    with TemporaryDirectory() as folder:
        gmsh.initialize()
        try:
            gmsh.option.setNumber("General.Terminal", 0)
            gmsh.model.occ.addBox(0, 0, 0, 1, 1, 1)
            gmsh.model.occ.synchronize()
            field = gmsh.model.mesh.field
            near, far, both = field.add("MathEval"), field.add("MathEval"), field.add("Min")
            field.setString(near, "F", f"{size / ratio} + 0.35*sqrt((x-1)^2+(y-1)^2+(z-1)^2)")
            field.setString(far, "F", f"{size}")
            field.setNumbers(both, "FieldsList", [near, far])
            field.setAsBackgroundMesh(both)
            for option in ("MeshSizeExtendFromBoundary", "MeshSizeFromPoints", "MeshSizeFromCurvature"):
                gmsh.option.setNumber(f"Mesh.{option}", 0)
            gmsh.model.mesh.generate(3)
            gmsh.model.addPhysicalGroup(3, [1], name="block")
            path = Path(folder) / "block.msh"
            gmsh.write(str(path))
        finally:
            gmsh.finalize()
        return sx.read_mesh(path)


def struck(mesh: sx.Mesh) -> tuple[sx.System, sx.State]:
    """Return a free steel body, one half of which moves against the other one."""
    cells, points = mesh.cells["tetra"], mesh.points
    steel = sx.NeoHookean(115.4e9, 76.9e9, 7850.0)
    solid = sx.Solid(points, cells, steel)
    system = sx.System(sx.lumped_mass(points, cells, 7850.0, len(points)), {"solid": solid})
    along = (points - points.mean(axis=0)) / np.ptp(points, axis=0).max()
    v = 10.0 * np.column_stack([-np.sin(np.pi * along[:, 0]), np.sin(np.pi * along[:, 2]), np.cos(np.pi * along[:, 1])])
    return system, system.state(points, v)


def run(method: sx.Integrator, system: sx.System, state: sx.State, t: float) -> tuple[float, sx.State, sx.Motion]:
    """Return the CPU seconds from the start to a time in s, with the state there."""
    motion = method.start(system, state)
    motion.advance(0.0)
    start = process_time()
    motion.approach(t, 1e9)
    return process_time() - start, motion.advance(t), motion


def compare(name: str, mesh: sx.Mesh, crossings: float, turns: int) -> None:
    """Print what both methods take for some crossings of the body by a wave, and their errors."""
    system, state = struck(mesh)
    solid = system.energies["solid"]
    t = crossings * crossing_time(mesh, solid)
    newmark = sx.Newmark("auto").fit(system, state, t)
    started = process_time()
    local = Multirate().fit(system, state, t)
    motion = local.start(system, state)
    setting_up = process_time() - started
    taken = {"newmark": [], "local": []}
    for _ in range(turns):
        for key, method in (("newmark", newmark), ("local", local)):
            taken[key].append(run(method, system, state, t))
    exact = run(replace(newmark, dt=newmark.dt / 4.0), system, state, t)[1]
    moved = np.abs(exact.q - state.q).max()
    ends = {key: runs[-1][1] for key, runs in taken.items()}
    errors = {key: np.abs(end.q - exact.q).max() / moved for key, end in ends.items()}
    best = {key: min(seconds for seconds, _, _ in runs) for key, runs in taken.items()}
    energies = {key: runs[-1][2].energies(runs[-1][1])["total"] for key, runs in taken.items()}
    e0 = motion.energies(motion.advance(0.0))["total"]
    print(f"{name}: {len(solid.nodes):,} tetrahedra, {t * 1e6:.1f} µs")
    print(f"  levels: {', '.join(f'{part.stencils:,}' for part in motion.division.parts)}")
    print(
        f"  steps: Newmark {newmark.dt * 1e9:.3f} ns, local {local.dt * 1e9:.1f} ns and down; set-up {setting_up:.2f} s"
    )
    print(f"  CPU s: {best['newmark']:.3f} and {best['local']:.3f}, ratio {best['newmark'] / best['local']:.2f}")
    print(f"  ideal: {motion.gain:.2f} times fewer elements")
    for key, error in errors.items():
        change = (energies[key] - e0) / e0
        print(f"  {key}: error {error:.2e} of the largest displacement, energy {change:.1e}")


def crossing_time(mesh: sx.Mesh, solid: sx.Solid) -> float:
    """Return the time in s in which a wave crosses a body."""
    return float(np.ptp(mesh.points, axis=0).max() / solid.material.wave_speed)


def distance(system: sx.System, q: np.ndarray, other: np.ndarray) -> float:
    """Return the norm of q − other [n, 3] in kg^½ m with the masses of nodes."""
    return float(np.sqrt((np.asarray(system.mass)[:, None] * (q - other) ** 2).sum()))


def work_and_precision(size: float, ratio: float, turns: int) -> dict[str, np.ndarray]:
    """Return the CPU seconds and errors [s, 2] of both methods on a block, in smaller and smaller steps.

    Errors are norms with masses, relative to that of the displacements, against explicit Newmark in an eighth of its
    step, or 1/128 of it where elements are equal.
    """
    mesh = graded_block(size, ratio)
    system, state = struck(mesh)
    t = crossing_time(mesh, system.energies["solid"])
    newmark, local = (method.fit(system, state, t) for method in (sx.Newmark("auto"), Multirate()))
    finest = 8.0 if ratio > 1.0 else 128.0
    exact = run(replace(newmark, dt=newmark.dt / finest), system, state, t)[1]
    moved = distance(system, exact.q, state.q)
    methods = {
        "Newmark": [replace(newmark, dt=newmark.dt / 2**k) for k in range(3)],
        "local steps": [replace(local, dt=local.dt / 2**k, safety=local.safety / 2**k) for k in range(5)],
    }
    found = {}
    for name, sizes in methods.items():
        runs = [[run(method, system, state, t) for _ in range(turns)] for method in sizes]
        found[name] = np.array(
            [[min(r[0] for r in same), distance(system, same[0][1].q, exact.q) / moved] for same in runs]
        )
        for method, (seconds, error) in zip(sizes, found[name], strict=True):
            print(f"  {name}, dt = {method.dt * 1e9:.2f} ns: {seconds:.4f} s, error {error:.2e}")
    return found


def draw_curves(path: Path, sizes: list[float], turns: int) -> None:
    """Draw error against CPU seconds, on blocks graded 1:50 and on one of equal elements."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    fig, axes = plt.subplots(1, len(sizes) + 1, figsize=(9.0, 3.2), layout="constrained", sharey=True)
    for ax, (size, ratio) in zip(axes, [(sizes[0], 1.0), *((size, 50.0) for size in sizes)], strict=True):
        title = f"{size:g} m, " + ("equal elements" if ratio == 1.0 else f"1:{ratio:g}")
        print(title)
        for (name, curve), color in zip(
            work_and_precision(size, ratio, turns).items(), ("#2c5fa8", "#c0392b"), strict=True
        ):
            ax.loglog(*curve.T, "o-", ms=3, lw=0.8, color=color, label=name)
        ax.set(xlabel="CPU s", title=title)
    axes[0].set(ylabel="error / displacement")
    axes[0].legend(fontsize=8)
    fig.savefig(path, dpi=110)


def error_of_meshes(sizes: list[float]) -> None:
    """Print how much the displacements of the corners differ between the first two meshes, as an error in space."""
    ends, corners = [], np.array(np.meshgrid(*[[0.0, 1.0]] * 3)).reshape(3, -1).T
    for size in sizes[:2]:
        mesh = graded_block(size, 50.0)
        system, state = struck(mesh)
        t = crossing_time(mesh, system.energies["solid"])
        end = run(Multirate().fit(system, state, t), system, state, t)[1]
        nodes = [int(np.argmin(np.linalg.norm(mesh.points - corner, axis=1))) for corner in corners]
        ends.append((end.q - state.q)[nodes])
    difference = np.linalg.norm(ends[1] - ends[0]) / np.linalg.norm(ends[1])
    print(f"corners, {sizes[0]} m against {sizes[1]} m: {difference:.2e} of their displacements")


def main() -> None:
    """Run what the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--sizes", type=float, nargs="*", default=[0.12, 0.06, 0.03], help="of the block's elements in m"
    )
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--crossings", type=float, default=1.0)
    parser.add_argument("--curves", type=Path, help="draw error against CPU seconds to this file instead")
    arguments = parser.parse_args()
    with threads.limited(1):
        if arguments.curves:
            draw_curves(arguments.curves, arguments.sizes, arguments.turns)
            error_of_meshes(arguments.sizes)
            return
        bracket = sx.read_mesh(sx.bundled("bracket"))
        compare("bracket", bracket, _OF_BRACKET * arguments.crossings, arguments.turns)
        for size in arguments.sizes:
            compare(f"block, {size} m to 1/50", graded_block(size, 50.0), arguments.crossings, arguments.turns)


if __name__ == "__main__":
    main()
