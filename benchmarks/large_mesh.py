"""From a file to the first step of a large mesh: processor time and memory of each part.

    python benchmarks/large_mesh.py [--tetrahedra 2000000] [--text] [--folder FOLDER] [--output FILE.json]

A cube in cells of 24 tetrahedra is written as Gmsh's MSH 4.1, binary or as text, and then goes the way that
``symplex run`` goes with it: read, checked, its surface found, masses, elements, the first forces, the stable step,
steps, a frame and a checkpoint. Each part is reported with its processor time in all threads (one, unless
``SYMPLEX_THREADS`` says otherwise), the same for each tetrahedron, and the most memory that the process has had so far.
The mesh itself is made in its own process. ``renumber``, which runs do not do by themselves, is reported as well.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

os.environ.setdefault("SYMPLEX_THREADS", "1")


from symplex.base.checkpoint import Checkpoint, save_checkpoint
from symplex.contact.obstacles import HalfSpace
from symplex.contact.rigid import RigidContact
from symplex.fem.actions.mass import lumped_mass
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.solids.solid import Solid
from symplex.fem.system import System
from symplex.meshes.formats.read import read_mesh
from symplex.meshes.formats.save import save_mesh
from symplex.meshes.generate import box
from symplex.meshes.mesh import Mesh
from symplex.meshes.quality import check_mesh
from symplex.meshes.renumber import renumber
from symplex.meshes.series.series import Block, open_series
from symplex.time.explicit.newmark import Newmark

ALUMINIUM = NeoHookean(60.5e9, 26e9, 2700.0)
STEPS = 10


def cube(tetrahedra: int) -> Mesh:
    """Return the cube of 0.1 m with about so many tetrahedra."""
    return box((0.1,) * 3, (max(round((tetrahedra / 24) ** (1 / 3)), 1),) * 3, split="24")


def write_text(mesh: Mesh, path: Path) -> None:
    """Write points and tetrahedra as text, as Gmsh does by default: it takes Python a while."""
    points, cells = mesh.points, mesh.cells["tetra"]
    with path.open("w") as file:
        file.write("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n")
        file.write(f"$Nodes\n1 {len(points)} 1 {len(points)}\n3 1 0 {len(points)}\n")
        file.writelines(f"{k}\n" for k in range(1, len(points) + 1))
        for start in range(0, len(points), 100_000):
            file.writelines(f"{x:.16g} {y:.16g} {z:.16g}\n" for x, y, z in points[start : start + 100_000].tolist())
        file.write(f"$EndNodes\n$Elements\n1 {len(cells)} 1 {len(cells)}\n3 1 4 {len(cells)}\n")
        for start in range(0, len(cells), 100_000):
            rows = enumerate((cells[start : start + 100_000] + 1).tolist(), start + 1)
            file.writelines(f"{k} {a} {b} {c} {d}\n" for k, (a, b, c, d) in rows)
        file.write("$EndElements\n")


def peak() -> float:
    """Return the most memory in GB that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def parts_of_a_run(path: Path) -> dict[str, tuple[float, float]]:
    """Return processor seconds and peak memory in GB of all parts of a run, from the file of a mesh on."""
    found: dict[str, tuple[float, float]] = {}

    def timed(name: str, call: Callable[[], Any]) -> Any:
        start = process_time()
        result = call()
        found[name] = process_time() - start, peak()
        return result

    mesh = timed("read", lambda: read_mesh(path))
    cells, n = mesh.cells["tetra"], len(mesh.points)
    timed("check", lambda: check_mesh(mesh, path.name))
    surface = timed("surface", lambda: mesh.boundary_nodes)
    mass = timed("masses", lambda: lumped_mass(mesh.points, cells, ALUMINIUM.density, n))
    solid = timed("elements", lambda: Solid(mesh.points, cells, ALUMINIUM))
    floor = RigidContact(surface, HalfSpace((0.0, 0.0, -1e-3), (0.0, 0.0, 1.0)), 1e8)
    system = System(mass, {"body": solid, "floor": floor})
    state = timed("first forces", lambda: system.state(mesh.points, (0.0, 0.0, -100.0)))
    motion = timed("stable step", lambda: Newmark("auto").start(system, state))
    motion.advance(motion.dt)
    end = timed(f"{STEPS} steps", lambda: motion.advance((STEPS + 1) * motion.dt))
    found["a step"] = found[f"{STEPS} steps"][0] / STEPS, found.pop(f"{STEPS} steps")[1]
    block = Block.of({"tetra": cells})
    stresses = timed("von Mises stress", lambda: solid.von_mises(end.q))
    with open_series(path.with_suffix(".vtkhdf"), mesh.points, {"body": block}) as series:
        fields = {"velocity": end.v}, {"von_mises": {"body": stresses}}
        timed("first frame, with the mesh", lambda: series.append(0.0, end.q - mesh.points, *fields))
        timed("a frame", lambda: series.append(1.0, end.q - mesh.points, *fields))
    moment = Checkpoint(1, 0.0, "0", {}, motion.checkpoint(), ["t"])
    timed("a checkpoint", lambda: save_checkpoint(path.with_suffix(".npz"), moment))
    timed("renumber", lambda: renumber(mesh))
    found["tetrahedra"] = float(len(cells)), 0.0
    return found


def main() -> None:
    """Measure, print a table in Markdown, and write the numbers if requested."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tetrahedra", type=int, default=2_000_000)
    parser.add_argument("--text", action="store_true", help="the file is text, not binary")
    parser.add_argument("--folder", type=Path, help="for the files; default: a temporary one")
    parser.add_argument("--output", type=Path, help="JSON file for the numbers")
    parser.add_argument("--make", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.make:
        mesh = cube(arguments.tetrahedra)
        (write_text if arguments.text else save_mesh)(mesh, arguments.make)
        return
    with tempfile.TemporaryDirectory() as scratch:
        small, path = Path(scratch) / "small.msh", (arguments.folder or Path(scratch)) / "large.msh"
        save_mesh(cube(5000), small)
        parts_of_a_run(small)  # compiled, or loaded
        made = [sys.executable, __file__, "--tetrahedra", str(arguments.tetrahedra), "--make", str(path)]
        subprocess.run(made + ["--text"] * arguments.text, check=True)
        before = peak()
        found = parts_of_a_run(path)
        size = path.stat().st_size
    m = int(found.pop("tetrahedra")[0])
    print(f"{m} tetrahedra, a file of {size / 1e6:.0f} MB, {'text' if arguments.text else 'binary'};", end=" ")
    print(f"load {os.getloadavg()[0]:.1f}; {before:.2f} GB before.\n")
    print("| | processor s | ns per tetrahedron | most memory so far in GB |")
    print("| --- | --- | --- | --- |")
    for name, (seconds, memory) in found.items():
        print(f"| {name} | {seconds:.2f} | {seconds / m * 1e9:.0f} | {memory:.2f} |")
    if arguments.output:
        arguments.output.write_text(json.dumps({"tetrahedra": m, **{k: list(v) for k, v in found.items()}}, indent=1))


if __name__ == "__main__":
    main()
