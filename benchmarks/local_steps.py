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
from symplex.fem import threads
from symplex.time.explicit.multirate import Multirate


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
    t = crossings * np.ptp(mesh.points, axis=0).max() / solid.material.wave_speed
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


def main() -> None:
    """Run what the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--sizes", type=float, nargs="*", default=[0.12, 0.06, 0.03], help="of the block's elements in m"
    )
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--crossings", type=float, default=1.0)
    arguments = parser.parse_args()
    with threads.limited(1):
        compare("bracket", sx.read_mesh(sx.bundled("bracket")), arguments.crossings, arguments.turns)
        for size in arguments.sizes:
            compare(f"block, {size} m to 1/50", graded_block(size, 50.0), arguments.crossings, arguments.turns)


if __name__ == "__main__":
    main()
