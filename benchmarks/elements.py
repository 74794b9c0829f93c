"""Processor time per element to assemble each type of elements with each law, on one thread.

    SYMPLEX_THREADS=1 OMP_NUM_THREADS=1 python benchmarks/elements.py [--nodes 10000] [--shapes] [--output FILE.json]

A cube of 0.1 m, deformed by some per cent, with about the same number of nodes for all types of elements: energy,
gradient, tangent into a fixed pattern, discrete gradient and its tangent, consistent mass; the best of several calls.
Then all shapes of elements with the neo-Hookean law, relative to the hexahedron of 8 points too (--shapes: only these).
FElupe takes part, on the same mesh and law, where it can be imported (``pip install felupe``).
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from pathlib import Path
from time import process_time

import numpy as np

from symplex.fem.actions.mass import add_consistent_mass
from symplex.fem.assembly.pattern import Pattern
from symplex.fem.solids.constitutive import Material
from symplex.fem.solids.materials import LinearElastic, MooneyRivlin, NeoHookean, SaintVenantKirchhoff
from symplex.fem.solids.solid import Formulation, Solid
from symplex.meshes.generate import box
from symplex.meshes.mesh import Mesh
from symplex.meshes.midside_nodes import quadratic

LAWS = (
    NeoHookean(60.5e9, 26e9, 2700.0),
    SaintVenantKirchhoff(60.5e9, 26e9, 2700.0),
    MooneyRivlin(10e9, 3e9, 80e9, 2700.0),
    LinearElastic(60.5e9, 26e9, 2700.0),
)


# How boxes are cut into each family of cells, and the nodes of linear ones for each cell of the box; those of quadratic
# ones.
SPLITS = {"tetra": ("6", 1), "hexahedron": ("hexahedra", 1), "wedge": ("wedges", 1), "pyramid": ("pyramids", 2)}
PER_CELL = {"tetra10": 8, "hexahedron20": 4, "hexahedron27": 8, "wedge15": 6, "wedge18": 8, "pyramid13": 13}
SHAPES: list[tuple[str, Formulation]] = [
    ("hexahedron", "full"),
    ("hexahedron", "stabilized"),
    ("tetra", "full"),
    ("wedge", "full"),
    ("pyramid", "full"),
    ("tetra10", "full"),
    ("hexahedron20", "full"),
    ("hexahedron20", "reduced"),
    ("hexahedron27", "full"),
    ("wedge15", "full"),
    ("wedge18", "full"),
    ("pyramid13", "full"),
]


class Averaged(Material):
    """A law as a user adds it, without a closed form of the discrete stress: rubber by Gauss' rule."""

    def __init__(self, law: Material):
        self.law, self.density = law, law.density

    def energy_density(self, C):
        return self.law.energy_density(C)

    def stress(self, C):
        return self.law.stress(C)

    def tangent(self, C):
        return self.law.tangent(C)


def best(call: Callable[[], object], calls: int = 7) -> float:
    """Return the shortest processor time in s of some calls."""
    call()
    times = []
    for _ in range(calls):
        start = process_time()
        call()
        times.append(process_time() - start)
    return min(times)


def mesh_of(kind: str, nodes: int) -> Mesh:
    """Return a cube of 0.1 m with about so many nodes."""
    family = kind.rstrip("0123456789")
    split, per_cell = SPLITS[family]
    extra = PER_CELL.get(kind, per_cell)
    mesh = box((0.1,) * 3, (max(1, round((nodes / extra) ** (1 / 3))),) * 3, split=split)
    return mesh if kind == family else quadratic(mesh, centres=kind in ("hexahedron27", "wedge18"))


def positions(solid: Solid) -> tuple[np.ndarray, np.ndarray]:
    """Return two deformed states."""
    rng, size = np.random.default_rng(0), 0.02 * np.cbrt(solid.volumes.mean())
    q0 = 1.02 * solid.points + size * rng.standard_normal(solid.points.shape)
    return q0, q0 + size * rng.standard_normal(q0.shape)


def times_of(solid: Solid) -> dict[str, float]:
    """Return µs per element of each assembled form."""
    q0, q1 = positions(solid)
    pattern = Pattern(len(q0), [solid.nodes])
    slots, values, out = pattern.slots[0], pattern.zeros(3), np.zeros_like(q0)
    mass = np.zeros(len(pattern.indices))
    forms = {
        "energy": lambda: solid.total(q0),
        "gradient": lambda: solid.add_gradient(q0, out),
        "tangent": lambda: solid.add_hessian(q0, slots, values),
        "discrete gradient": lambda: solid.add_discrete_gradient(q0, q1, out),
        "its tangent": lambda: solid.add_discrete_hessian(q0, q1, slots, values),
        "mass": lambda: add_consistent_mass(solid.points, solid.nodes, 1.0, slots, mass),
    }
    return {name: best(form) / len(solid.nodes) * 1e6 for name, form in forms.items()}


def compare_shapes(nodes: int) -> dict[str, float]:
    """Print µs per element of all shapes, with ratios to the fully integrated hexahedron, and return the numbers."""
    print("| elements | gradient | ratio | tangent | ratio | discrete gradient | its tangent | mass |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    numbers: dict[str, float] = {}
    first: dict[str, float] = {}
    for kind, formulation in SHAPES:
        mesh, shape = mesh_of(kind, nodes), f"{kind}, {formulation}"
        times = times_of(Solid(mesh.points, mesh.cells[kind], LAWS[0], formulation=formulation))
        first = first or times
        ratios = {what: times[what] / first[what] for what in ("gradient", "tangent")}
        row = [f"{times[what]:.3g} | {ratio:.2g}" for what, ratio in ratios.items()]
        row += [f"{times[what]:.3g}" for what in ("discrete gradient", "its tangent", "mass")]
        print(f"| {len(mesh.cells[kind])} {shape} | " + " | ".join(row) + " |", flush=True)
        numbers |= {f"{shape}, {what} [µs]": time for what, time in times.items()}
        numbers |= {f"{shape}, {what}, relative": ratio for what, ratio in ratios.items()}
    return numbers


def felupe_times(solid: Solid) -> dict[str, float]:
    """Return µs per element of FElupe on the same mesh, and the largest difference of its forces from ours."""
    import felupe

    regions = {
        "tetra": felupe.RegionTetra,
        "hexahedron": felupe.RegionHexahedron,
        "tetra10": felupe.RegionQuadraticTetra,
    }
    q, _ = positions(solid)
    field = felupe.FieldContainer(
        [felupe.Field(regions[solid.kind](felupe.Mesh(solid.points, solid.nodes, solid.kind)), dim=3)]
    )
    field[0].values[:] = q - solid.points
    body = felupe.SolidBody(felupe.NeoHookeCompressible(mu=LAWS[0].mu, lmbda=LAWS[0].lmbda), field)
    theirs, ours = np.asarray(body.assemble.vector(field).todense()).reshape(q.shape), np.zeros_like(q)
    solid.add_gradient(q, ours)
    return {
        "gradient": best(lambda: body.assemble.vector(field), 3) / len(solid.nodes) * 1e6,
        "tangent": best(lambda: body.assemble.matrix(field), 3) / len(solid.nodes) * 1e6,
        "difference": float(np.abs(theirs - ours).max() / np.abs(ours).max()),
    }


FORMULATIONS: list[tuple[str, Formulation]] = [("tetra", "full"), ("hexahedron", "full"), ("hexahedron", "stabilized")]
FORMULATIONS += [("tetra10", "full")]


def compare_laws(nodes: int) -> dict[str, float]:
    """Print µs per element of three types of elements with all laws, and FElupe's, and return the numbers."""
    numbers: dict[str, float] = {}
    print("| elements | law | energy | gradient | tangent | discrete gradient | its tangent | mass |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for kind, formulation in FORMULATIONS:
        mesh = mesh_of(kind, nodes)
        for law in (*LAWS, Averaged(LAWS[2])):
            solid = Solid(mesh.points, mesh.cells[kind], law, formulation=formulation)
            times, name = times_of(solid), f"{type(law).__name__}, {formulation}"
            print(
                f"| {len(solid.nodes)} {kind} | {name} | " + " | ".join(f"{t:.3g}" for t in times.values()) + " |",
                flush=True,
            )
            numbers |= {f"{kind}, {name}, {what} [µs]": time for what, time in times.items()}
    print()
    for kind in ("tetra", "hexahedron", "tetra10"):
        mesh = mesh_of(kind, nodes)
        solid = Solid(mesh.points, mesh.cells[kind], LAWS[0], formulation="full")
        try:
            theirs = felupe_times(solid)
        except ImportError:
            print("FElupe is not installed.")
            break
        ours = times_of(solid)
        ratios = ", ".join(
            f"{what} {theirs[what]:.3g} µs ({theirs[what] / ours[what]:.1f} times ours)"
            for what in ("gradient", "tangent")
        )
        print(f"- FElupe, {kind}, neo-Hookean: {ratios}; forces differ by {theirs['difference']:.0e}")
        numbers |= {f"FElupe, {kind}, {what}": value for what, value in theirs.items()}
    print()
    return numbers


def main() -> None:
    """Measure, print a table in Markdown, and write the numbers if requested."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--output", type=Path, help="JSON file for the numbers")
    parser.add_argument("--shapes", action="store_true", help="compare shapes of elements only")
    arguments = parser.parse_args()
    numbers: dict[str, float] = {}
    print(f"µs per element, one thread; load {os.getloadavg()[0]:.1f}\n")
    if not arguments.shapes:
        numbers |= compare_laws(arguments.nodes)
    numbers |= compare_shapes(arguments.nodes)
    if arguments.output:
        arguments.output.write_text(json.dumps(numbers, indent=1))


if __name__ == "__main__":
    main()
