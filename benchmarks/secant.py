"""Processor time per element of secant matrices and their rates, next to gradients and tangents, on one thread.

    SYMPLEX_THREADS=1 OMP_NUM_THREADS=1 python benchmarks/secant.py [--nodes 10000] [--output FILE.json]

Solids of every type of elements, and random bars between near neighbours, with about the same number of nodes: the
gradient, 𝓕, 𝓕̇ and the tangent into a fixed pattern, the discrete gradient and the gradient at mean strains with their
tangents; then the product of 𝓕 with nodal vectors next to scipy's. The best of several calls.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from elements import best, mesh_of

from symplex.fem.assembly.pattern import Pattern
from symplex.fem.compiled.secant_product import secant_product
from symplex.fem.energies.energy import Energy
from symplex.fem.measures.bars import Bars, EngineeringStrain, GreenStrain, LennardJones
from symplex.fem.solids.materials import MooneyRivlin, NeoHookean, SaintVenantKirchhoff
from symplex.fem.solids.solid import Solid

SOLIDS = (
    NeoHookean(60.5e9, 26e9, 2700.0),
    SaintVenantKirchhoff(60.5e9, 26e9, 2700.0),
    MooneyRivlin(10e9, 3e9, 80e9, 2700.0),
)
PAIRS = (EngineeringStrain(1.0, 0.9), GreenStrain(1.0, 0.9), LennardJones(1.0, 0.8))


def lattice_of_bars(nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a cubic lattice of about so many nodes 1 m apart, and the bars along its edges and diagonals of faces."""
    edge = round(nodes ** (1 / 3))
    index = np.arange(edge**3).reshape((edge,) * 3)
    pairs = []
    for a, b, c in ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (0, 1, 1), (1, 0, 1)):
        ends = index[a:, b:, c:], index[: edge - a, : edge - b, : edge - c]
        pairs.append(np.column_stack([end.ravel() for end in ends]))
    points = np.stack(np.meshgrid(*[np.arange(float(edge))] * 3, indexing="ij"), -1).reshape(-1, 3)
    return points, np.concatenate(pairs)


def times_of(energy: Energy, points: np.ndarray, size: float) -> dict[str, float]:
    """Return µs per element of each assembled form, with positions that are shaken by size in m."""
    rng = np.random.default_rng(0)
    q = 1.02 * points + size * rng.standard_normal(points.shape)
    other, v = q + size * rng.standard_normal(q.shape), rng.standard_normal(q.shape)
    pattern = Pattern(len(q), [energy.nodes])
    slots, blocks, values, out = pattern.slots[0], pattern.zeros(3), np.zeros(len(pattern.indices)), np.zeros_like(q)
    forms = {
        "gradient": lambda: energy.add_gradient(q, out),
        "secant": lambda: energy.add_secant(q, slots, values),
        "its rate": lambda: energy.add_secant_rate(q, v, slots, values),
        "tangent": lambda: energy.add_hessian(q, slots, blocks),
        "discrete gradient": lambda: energy.add_discrete_gradient(q, other, out),
        "its tangent": lambda: energy.add_discrete_hessian(q, other, slots, blocks),
        "mean gradient": lambda: energy.add_mean_gradient(q, other, out),
    }
    return {name: best(form) / len(energy.nodes) * 1e6 for name, form in forms.items()}


def product_times(nodes: int, dim: int) -> dict[str, float]:
    """Return ns per number of 𝓕 of its product with nodal vectors, on a mesh of tetrahedra with about so many nodes."""
    mesh = mesh_of("tetra", nodes)
    nodes = len(mesh.points)
    pattern = Pattern(nodes, [mesh.cells["tetra"]])
    rng = np.random.default_rng(1)
    values, x = rng.standard_normal(len(pattern.indices)), rng.standard_normal((nodes, dim))
    weights, out = np.ones_like(x), np.empty_like(x)
    matrix = sp.csr_array((values, pattern.indices, pattern.indptr), shape=(nodes, nodes))
    times = {
        "secant_product": best(lambda: secant_product(pattern.indptr, pattern.indices, values, x, weights, out), 30),
        "scipy": best(lambda: matrix @ x, 30),
    }
    return {name: time / len(values) * 1e9 for name, time in times.items()}


def main() -> None:
    """Measure, print tables in Markdown, and write the numbers if requested."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--output", type=Path, help="JSON file for the numbers")
    arguments = parser.parse_args()
    numbers: dict[str, float] = {}
    energies: list[tuple[str, Energy, np.ndarray, float]] = []
    for kind in ("tetra", "hexahedron", "tetra10"):
        mesh = mesh_of(kind, arguments.nodes)
        for law in SOLIDS:
            solid = Solid(mesh.points, mesh.cells[kind], law, formulation="full")
            size = 0.02 * float(np.cbrt(solid.volumes.mean()))
            energies.append((f"{kind} | {type(law).__name__}", solid, mesh.points, size))
    points, pairs = lattice_of_bars(arguments.nodes)
    energies += [(f"bars | {type(law).__name__}", Bars(pairs, law), points, 0.02) for law in PAIRS]

    print(f"µs per element, one thread; load {os.getloadavg()[0]:.1f}\n")
    head = ""
    for name, energy, at, size in energies:
        times = times_of(energy, at, size)
        if not head:
            head = "| elements | law | " + " | ".join(times) + " |"
            print(head, "| --- " * (len(times) + 2) + "|", sep="\n")
        print(f"| {len(energy.nodes)} {name} | " + " | ".join(f"{t:.3g}" for t in times.values()) + " |", flush=True)
        numbers |= {f"{name.replace(' | ', ', ')}, {what} [µs]": time for what, time in times.items()}
    print()
    for dim in (1, 2, 3):
        each = product_times(arguments.nodes, dim)
        print(f"- product in {dim}-D: " + ", ".join(f"{name} {time:.2f} ns" for name, time in each.items()))
        numbers |= {f"product in {dim}-D, {name} [ns]": time for name, time in each.items()}
    if arguments.output:
        arguments.output.write_text(json.dumps(numbers, indent=1))


if __name__ == "__main__":
    main()
