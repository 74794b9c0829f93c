"""Processor time of the first run of a method on a machine, where its kernels are compiled, and of later ones.

    python benchmarks/first_run.py [--method NAME ...] [--kernels N] [--imports] [--output FILE.json]

Three steps of an elastic block of 192 linear tetrahedra that falls on a plane of penalty contact, each method in
its own processes with an empty folder for kernels: once cold, once more with what the first has left there. RATTLE
has a rigid rod as well. ``--kernels`` lists what took longest to compile; with ``--imports`` the time that a command
takes before it begins is measured instead.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from time import perf_counter, process_time

METHODS = (
    "Newmark",
    "Newmark.trapezoidal",
    "Midpoint",
    "GeneralizedAlpha",
    "EnergyMomentum",
    "GrahamJelenic cayley-magnus-4",
    "GrahamJelenic momentum-conserving-4",
    "ZhangSkeel",
    "AdaptiveVariational",
    "Rattle",
    "ForceStepping",
)
DT = 1e-6  # s, below the limit of explicit methods
GRID = 1e-4  # m, of force-stepping


def first_steps(name: str) -> dict:
    """Return processor seconds of imports and of three steps of a method in this process, and of what was compiled."""
    begin = process_time()
    import numpy as np
    from numba.core import event

    import symplex as sx
    from symplex.fem.measures.constraints import RigidBars
    from symplex.time.catalogue import catalogue

    mesh = sx.meshes.cube_mesh("I")
    cells = mesh.cells["tetra"]
    material = sx.NeoHookean(60.5e9, 26e9, 2700.0)
    imported = process_time()

    compiled: dict[str, float] = defaultdict(float)

    class Compiling(event.Listener):
        """Adds up processor times without those of what is compiled within."""

        def __init__(self):
            self.open: list[float] = []

        def on_start(self, event):
            self.open += [process_time(), 0.0]

        def on_end(self, event):
            within, start = self.open.pop(), self.open.pop()
            took = process_time() - start
            compiled[event.data["dispatcher"].py_func.__qualname__] += took - within
            if self.open:
                self.open[-1] += took

    def sizes(method):
        """Return the method with the step, the grid or the energies' step of this benchmark."""
        size = {"dt": DT, "grid": GRID, "step": 1.0}
        name = next(key for key in size if key in vars(method))
        more = {"constraints": {"rod": RigidBars.between(mesh.points, [[0, 1]])}, "external": ("floor",)}
        return replace(method, **{name: size[name]}, **{key: more[key] for key in more if key in vars(method)})

    with event.install_listener("numba:compile", Compiling()):
        mass = sx.lumped_mass(mesh.points, cells, material.density, len(mesh.points))
        floor = sx.HalfSpace(point=(0, 0, 1e-5), normal=(0, 0, 1))
        energies = {
            "strain": sx.Solid(mesh.points, cells, material),
            "floor": sx.RigidContact(mesh.boundary_nodes, floor, stiffness=1e9),
        }
        system = sx.System(mass, energies)
        method = sizes(catalogue()[name])
        motion = method.start(system, system.state(mesh.points, np.tile((1.0, 0.0, -10.0), (len(mass), 1))))
        system.energies_of(motion.advance(3 * DT))
    return {
        "import": imported - begin,
        "steps": process_time() - imported,
        "compiled": sorted(compiled.items(), key=lambda one: -one[1]),
    }


def measured(arguments: list[str], folder: str) -> tuple[float, float, str]:
    """Return the processor and wall time in s of a process with its kernels in a folder, and what it prints."""
    before, begin = os.times(), perf_counter()
    environment = os.environ | {"NUMBA_CACHE_DIR": folder}
    done = subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(arguments)}: {done.stderr}")
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return spent, perf_counter() - begin, done.stdout


def methods(names: list[str], kernels: int) -> dict:
    """Print and return the times of methods."""
    rows = {}
    print(f"{'CPU s':40}{'first run':>10}{'of it compiling':>17}{'kernels':>9}{'later run':>11}")
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            cold, _, text = measured([__file__, "--steps-of", name], folder)
            warm, _, _ = measured([__file__, "--steps-of", name], folder)
        compiled = dict(json.loads(text)["compiled"])
        rows[name] = {"first": cold, "compiling": sum(compiled.values()), "later": warm, "compiled": compiled}
        print(f"{name:40}{cold:10.1f}{sum(compiled.values()):17.1f}{len(compiled):9}{warm:11.1f}", flush=True)
        for kernel, took in list(compiled.items())[:kernels]:
            print(f"    {kernel:60}{took:8.2f}")
    return rows


def imports() -> dict:
    """Print and return the times of what begins before anything is computed."""
    example = str(Path(__file__).parent.parent / "examples" / "drop.toml")
    calls = {
        "python": ["-c", ""],
        "import symplex": ["-c", "import symplex"],
        "symplex --help": ["-m", "symplex", "--help"],
        "symplex info": ["-m", "symplex", "info", "--help"],
        "symplex check": ["-m", "symplex", "check", example],
        "from symplex import simulate": ["-c", "from symplex import simulate"],
    }
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        print(f"{'':32}{'CPU s':>8}{'wall s':>8}")
        for name, call in calls.items():
            rows[name] = min(measured(call, folder)[:2] for _ in range(4))
            print(f"{name:32}{rows[name][0]:8.2f}{rows[name][1]:8.2f}", flush=True)
    return rows


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--method", nargs="+", default=METHODS)
    parser.add_argument("--kernels", type=int, default=0, metavar="N")
    parser.add_argument("--imports", action="store_true")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--steps-of", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.steps_of:
        print(json.dumps(first_steps(arguments.steps_of)))
        return
    rows = imports() if arguments.imports else methods(arguments.method, arguments.kernels)
    if arguments.output:
        arguments.output.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
