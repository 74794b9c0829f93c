"""Processor time per element of every form, for all laws on all elements, on one thread.

    SYMPLEX_THREADS=1 OMP_NUM_THREADS=1 python benchmarks/laws.py [--nodes 6000] [--rounds 9] [--output FILE.json]

A cube of 0.1 m, deformed by some per cent. Each form is computed by compiled loops (`loops`), and with the law as NumPy
functions (`NumPy`), in turn: the least time of several rounds of each. Printed are ns per element, and the ratios; of
neo-Hookean tetrahedra, which have their own kernels for some forms, also to the loops for any law (`any`).
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import symplex as sx
from symplex.fem.assembly.forms import FORMS as FORMS_OF_ENERGIES
from symplex.fem.assembly.pattern import Array, IntArray, Pattern
from symplex.meshes.generate import box
from symplex.meshes.mesh import Mesh
from symplex.meshes.midside_nodes import quadratic

LAWS = {
    "NeoHookean": sx.NeoHookean(60.5e9, 26e9, 2700.0),
    "SaintVenantKirchhoff": sx.SaintVenantKirchhoff(60.5e9, 26e9, 2700.0),
    "MooneyRivlin": sx.MooneyRivlin(10e9, 3e9, 80e9, 2700.0),
    "LinearElastic": sx.LinearElastic(60.5e9, 26e9, 2700.0),
    "Gent": sx.material("-mu*Jm/2*log(1 - (I1bar - 3)/Jm) + K/2*(J - 1)**2", mu=26e9, Jm=50.0, K=80e9, density=2700.0),
}
FORMS = (
    "value",
    "gradient",
    "hessian",
    "discrete_gradient",
    "discrete_hessian",
    "increment_gradient",
    "mean_gradient",
    "secant",
    "secant_rate",
    "third",
)


class InPython(sx.Material):
    """A law as the NumPy functions of another, which elements know nothing more of."""

    def __init__(self, law: sx.Material):
        self.density, self.objective, self.law = law.density, law.objective, law  # pyright: ignore

    def energy_density(self, C: Array) -> Array:
        return self.law.energy_density(C)

    def stress(self, C: Array) -> Array:
        return self.law.stress(C)

    def tangent(self, C: Array) -> Array:
        return self.law.tangent(C)

    def discrete_stress(self, C0: Array, C1: Array) -> Array:
        return self.law.discrete_stress(C0, C1)

    def discrete_tangent(self, C0: Array, C1: Array) -> Array:
        return self.law.discrete_tangent(C0, C1)

    def stress_curvature(self, C: Array, H: Array) -> Array:
        return self.law.stress_curvature(C, H)


def mesh_of(kind: str, nodes: int) -> Mesh:
    """Return a cube of 0.1 m with about so many nodes."""
    edge = nodes ** (1 / 3) - 1
    if kind == "tetra10":
        return quadratic(box((0.1,) * 3, (max(1, round(edge / 2)),) * 3, split="6"))
    return box((0.1,) * 3, (max(1, round(edge)),) * 3, split="hexahedra" if kind == "hexahedron" else "6")


def calls(elements: sx.Solid, points: Array, nodes: IntArray) -> dict[str, Callable[[], object]]:
    """Return the assembled forms that a path has, at fixed positions."""
    rng, size = np.random.default_rng(0), 0.1 * len(points) ** (-1 / 3)
    q0 = 1.02 * points + 0.02 * size * rng.standard_normal(points.shape)
    q1 = q0 + 0.02 * size * rng.standard_normal(points.shape)
    v, zero = rng.standard_normal(points.shape), np.zeros_like(points)
    pattern = Pattern(len(points), [nodes])
    given: dict[str, tuple[Array, ...]] = {
        "gradient": (q0,),
        "hessian": (q0,),
        "discrete_gradient": (q0, q1),
        "discrete_hessian": (q0, q1),
        "increment_gradient": (q0, zero, q1 - q0),
        "mean_gradient": (q0, q1),
        "secant": (q0,),
        "secant_rate": (q0, v),
        "third": (q0, v),
    }
    found: dict[str, Callable[[], object]] = {"value": lambda: elements.total(q0)}
    for form in FORMS_OF_ENERGIES:
        out = np.zeros(form.shape(len(q0), len(pattern.indices), 3))
        found[form.name] = lambda form=form, out=out: elements.add(form, given[form.name], out, pattern.slots[0])
    return found


def times(paths: dict[str, dict[str, Callable[[], object]]], form: str, rounds: int) -> dict[str, float]:
    """Return the least processor time in s of a form by each path that has it, taken in turn."""
    best: dict[str, float] = {}
    for turn in range(rounds + 1):  # the first compiles
        for name, forms in paths.items():
            if form in forms and (name != "NumPy" or turn < 4):
                start = process_time()
                forms[form]()
                if turn:
                    best[name] = min(best.get(name, np.inf), process_time() - start)
    return best


def main() -> None:
    """Measure, print tables in Markdown, and write the numbers if requested."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--nodes", type=int, default=6_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--output", type=Path, help="JSON file for the numbers")
    arguments = parser.parse_args()
    numbers: dict[str, float] = {}
    print(f"ns per element, one thread; load {os.getloadavg()[0]:.1f}\n")
    print("| elements | law | " + " | ".join(form.replace("_", " ") for form in FORMS) + " |")
    print("| --- | --- |" + " --- |" * len(FORMS))
    for kind in ("tetra", "hexahedron", "tetra10"):
        mesh = mesh_of(kind, arguments.nodes)
        points, nodes = np.ascontiguousarray(mesh.points), np.ascontiguousarray(mesh.cells[kind], np.int32)
        for name, law in LAWS.items():
            laws: dict[str, Any] = {"loops": law, "NumPy": InPython(law)}
            if kind == "tetra" and isinstance(law, sx.NeoHookean):  # the same as a formula: for the loops for any law
                laws["any"] = sx.material("mu/2*(I1 - 3) - mu*log(J) + lmbda/2*log(J)**2", **vars(law))
            paths = {
                path: calls(sx.Solid(points, nodes, one, formulation="full"), points, nodes)
                for path, one in laws.items()
            }
            entries = []
            for form in FORMS:
                if form.startswith("secant") and not law.objective:
                    entries.append("–")
                    continue
                found = times(paths, form, arguments.rounds)
                numbers |= {f"{kind}, {name}, {form}, {path} [ns]": t / len(nodes) * 1e9 for path, t in found.items()}
                entry = f"{found['loops'] / len(nodes) * 1e9:.3g}"
                if "any" in found:
                    entry += f" ({found['any'] / found['loops']:.2f} × by any law)"
                if "NumPy" in found:
                    entry += f" (NumPy/{found['NumPy'] / found['loops']:.2g})"
                entries.append(entry)
            print(f"| {kind} | {name} | " + " | ".join(entries) + " |", flush=True)
    if arguments.output:
        arguments.output.write_text(json.dumps(numbers, indent=1))


if __name__ == "__main__":
    main()
