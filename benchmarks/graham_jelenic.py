"""What a step of Graham and Jelenić's methods costs next to energy-momentum: sizes, stiffness, lumped and full mass.

    OMP_NUM_THREADS=1 SYMPLEX_THREADS=1 python benchmarks/graham_jelenic.py [--cells 4 9 18] [--courant 1 10 100]
        [--mass lumped consistent] [--schemes energy-momentum cayley-magnus-4 …] [--vibration 20]
        [--orders | --largest | --interpolants] [--output FILE.json]

The body is the 0.1 m aluminium cube of section 6.3 of the force-stepping paper in cells of 24 linear neo-Hookean
tetrahedra, spinning at 2000 rad/s and vibrating at 20 m/s (strains of 0.3 %; with ``--vibration 200`` of 3 %). Steps
are given by their Courant number, in stable steps of the explicit method. For each method: processor seconds of a step,
residuals of its equations (corrections of Newton's method for EM), products with the secant matrix, matrices
factorised. EM is `EnergyMomentum` with Newton's method, as are ``midpoint`` and ``trapezoidal``. All in one process and
thread, the first step not counted; so take ratios.

With ``--orders``: entries in a row of the matrices that Newton's method would have to factorise if the equations of the
paper were linearised as they are: products of 2, 3, 4 sparse matrices at order 4, 6, 8, where the mass is lumped.
With ``--largest``: the largest Courant number, of powers of 2, with which a method takes ten steps.
With ``--interpolants``: what CM4, CM6 and CM8 err by with both of their interpolants, on two of the examples.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import scipy.sparse as sp

import symplex as sx
from symplex.time.conserving.cayley_magnus import CayleyMagnus
from symplex.time.conserving.cayley_words import program
from symplex.time.conserving.conserving_schemes import MomentumConserving4
from symplex.time.conserving.schemes import ABBREVIATIONS, SCHEMES
from symplex.time.stability import stable_step

sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))

ENOUGH, STEPS = 3.0, 4  # seconds and steps after which a measurement ends


@dataclass
class Result:
    """The cost of a step of one method."""

    unknowns: int
    mass: str
    courant: float
    scheme: str
    seconds: float = float("nan")
    iterations: float = float("nan")
    products: float = float("nan")
    factorised: float = float("nan")
    failure: str = ""


def products_of(scheme: str) -> int:
    """Return how many products with the secant matrix a residual of a scheme takes."""
    kind = SCHEMES.get(ABBREVIATIONS.get(scheme, scheme))
    if kind is None or not issubclass(kind, CayleyMagnus):
        return 5 if kind is MomentumConserving4 else 0
    products, gains = program(kind.order)
    of_rates = 2 if kind.order == 8 else 0
    return len(products) + sum(len(last) for _, last in gains) + of_rates


def cube(cells: int, mass: str, vibration: float) -> tuple[sx.System, sx.State, float]:
    """Return the cube of 24 · cells³ tetrahedra, its state, and the stable step of explicit Newmark in s.

    Parameters
    ----------
    cells : int
        Along an edge.
    mass : {"lumped", "consistent"}
    vibration : float
        Velocity in m/s.
    """
    mesh = sx.box((0.1,) * 3, (cells,) * 3, split="24")
    tets, aluminium = mesh.cells["tetra"], sx.NeoHookean(60.5e9, 26e9, 2700.0)
    energies = {"strain": sx.Solid(mesh.points, tets, aluminium)}
    lumped = sx.System(sx.lumped_mass(mesh.points, tets, 2700.0, len(mesh.points)), energies)
    system = lumped
    if mass == "consistent":
        system = sx.System(sx.consistent_mass(mesh.points, tets, 2700.0, len(mesh.points)), energies)
    wave = np.sin(60.0 * mesh.points[:, [1, 2, 0]])
    v = np.cross([0.0, 0.0, 2000.0], mesh.points - 0.05) + vibration * wave
    return system, system.state(mesh.points + 1e-6 * vibration * wave, v), stable_step(lumped, mesh.points)


def method(scheme: Any, dt: float) -> sx.Integrator:
    """Return a method with a step in s: a scheme, or one of those with Newton's method."""
    newton = {"energy-momentum": sx.EnergyMomentum, "midpoint": sx.Midpoint, "trapezoidal": sx.Newmark.trapezoidal}
    return newton[scheme](dt) if scheme in newton else sx.GrahamJelenic(dt, scheme)


def measure(system: sx.System, state: sx.State, dt: float, result: Result) -> None:
    """Take steps and put their costs into a result."""
    try:
        motion = method(result.scheme, dt).start(system, state)
        motion.advance(state.t + dt)
        before, steps, began = dict(motion.statistics()), 0, process_time()
        while steps < STEPS and process_time() - began < ENOUGH:
            steps += 1
            motion.advance(state.t + (1 + steps) * dt)
        result.seconds = (process_time() - began) / steps
    except sx.SymplexError as error:
        result.failure = str(error)
        return
    counts = {name: (count - before.get(name, 0)) / steps for name, count in motion.statistics().items()}
    result.iterations = counts.get("iterations", counts.get("corrections", float("nan")))
    result.factorised = counts.get("factorised", counts.get("factorisations", float("nan")))
    result.products = products_of(result.scheme) * (result.iterations + 1.0)


def fill(system: sx.System) -> dict[str, float]:
    """Return the blocks in a row of the matrices of order 2, 4, 6 and 8, lumped mass, if they were formed."""
    pattern = system.pattern
    ones = np.ones(len(pattern.indices), dtype=np.int8)
    adjacency = sp.csr_array((ones, pattern.indices, pattern.indptr), shape=(system.n_nodes,) * 2)
    power: Any = adjacency
    found = {}
    for order in (2, 4, 6, 8):
        found[f"order {order}"] = power.nnz / system.n_nodes
        power = power @ adjacency
        power.data[:] = 1
    return found


def largest(system: sx.System, state: sx.State, stable: float, scheme: str) -> float:
    """Return the largest Courant number, a power of 2 up to 1024, with which ten steps can be taken; 0 if none."""
    courant = 1.0
    try:
        while courant <= 1024.0:
            dt = courant * stable
            method(scheme, dt).start(system, state).advance(state.t + 10 * dt)
            courant *= 2.0
    except sx.SymplexError:
        pass
    return 0.5 * courant if courant > 1.0 else 0.0


def interpolants() -> None:
    """Print the errors in positions with both interpolants: relative on the springs, in m on the spinning block."""
    import spinning_block
    import spring_mass

    springs = spring_mass.SYSTEMS["free"]
    start = springs.state(spring_mass.positions, spring_mass.momenta)
    exact = spring_mass.reference(False, 30.0)[-1, 0]
    of = spinning_block.block((4, 2, 1), 0.5)
    turned = sx.Composition(sx.Newmark(of.end / (64 * of.stable_steps)), 8).start(of.system, of.start).advance(of.end).q
    print("| problem | steps | scheme | stable | hermite | ratio |\n" + "| --- " * 6 + "|")
    for scheme in ("cayley-magnus-4", "cayley-magnus-6", "cayley-magnus-8"):
        for steps in (30, 120, 480):
            both = [
                sx.GrahamJelenic(30.0 / steps, scheme, interpolant=interpolant).start(springs, start).advance(30.0).q
                for interpolant in ("stable", "hermite")
            ]
            tell("springs", steps, scheme, [spring_mass.relative(q, exact) for q in both])
        for steps in (of.stable_steps, 2 * of.stable_steps, 4 * of.stable_steps):
            both = [
                sx.GrahamJelenic(of.end / steps, scheme, interpolant=interpolant).start(of.system, of.start)
                for interpolant in ("stable", "hermite")
            ]
            ends = [motion.advance(of.end).q for motion in both]
            tell("block", steps, scheme, [float(np.sqrt(np.mean(np.sum((q - turned) ** 2, axis=1)))) for q in ends])


def tell(problem: str, steps: int, scheme: str, errors: list[float]) -> None:
    """Print a row of the table of `interpolants`."""
    stable, hermite = errors
    print(f"| {problem} | {steps} | {scheme} | {stable:.3g} | {hermite:.3g} | {stable / hermite:.2f} |", flush=True)


def table(system: sx.System, state: sx.State, stable: float, options: argparse.Namespace, mass: str) -> list[Result]:
    """Measure all methods at all steps and print a table in Markdown."""
    size, results = 3 * system.n_nodes, []
    print(f"\n{size} unknowns, {mass} mass\n")
    print("| Courant | method | s | over EM | iterations | products | factorised | |\n" + "| --- " * 8 + "|")
    for courant in options.courant:
        of_em = float("nan")
        for scheme in options.schemes:
            r = Result(size, mass, courant, scheme)
            measure(system, state, courant * stable, r)
            of_em = r.seconds if scheme == "energy-momentum" else of_em
            results.append(r)
            costs = f"{r.seconds:.3g} | {r.seconds / of_em:.2g} | {r.iterations:.1f} | {r.products:.0f}"
            print(f"| {courant:g} | {scheme} | {costs} | {r.factorised:.1f} | {r.failure} |", flush=True)
    return results


def main() -> None:
    """Measure, print tables in Markdown, and write the numbers if requested."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, nargs="+", default=[4, 9, 18], help="along an edge of the cube")
    parser.add_argument("--courant", type=float, nargs="+", default=[1.0, 10.0, 100.0])
    parser.add_argument("--mass", nargs="+", choices=("lumped", "consistent"), default=["lumped", "consistent"])
    parser.add_argument(
        "--schemes",
        nargs="+",
        default=["energy-momentum", "momentum-conserving-4", "cayley-magnus-4", "cayley-magnus-6", "cayley-magnus-8"],
    )
    parser.add_argument("--vibration", type=float, default=20.0, help="velocity in m/s")
    parser.add_argument("--orders", action="store_true", help="entries of the matrices that are not formed")
    parser.add_argument("--largest", action="store_true", help="the largest Courant numbers")
    parser.add_argument("--interpolants", action="store_true", help="errors with both interpolants")
    parser.add_argument("--output", type=Path, help="JSON file for the numbers")
    options = parser.parse_args()
    if options.interpolants:
        interpolants()
        return
    results: list[Result] = []
    for cells in options.cells:
        for mass in options.mass:
            system, state, stable = cube(cells, mass, options.vibration)
            of_cube = f"{3 * system.n_nodes} unknowns, {mass} mass"
            if options.orders:
                rows = ", ".join(f"{order}: {count:.0f}" for order, count in fill(system).items())
                print(f"{of_cube}, blocks in a row: {rows}", flush=True)
            elif options.largest:
                for scheme in options.schemes:
                    found = largest(system, state, stable, scheme)
                    print(f"{of_cube}, largest Courant number of {scheme}: {found:g}", flush=True)
            else:
                results += table(system, state, stable, options, mass)
    if options.output:
        options.output.write_text(json.dumps([asdict(result) for result in results], indent=1))


if __name__ == "__main__":
    main()
