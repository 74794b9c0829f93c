"""Energy, forces, tangent and a Newton iteration of neo-Hookean tetrahedra: symplex beside other packages, in one run.

Example: ``OMP_NUM_THREADS=1 python benchmarks/assembly_packages.py --tetrahedra 5000 50000``. All take the same mesh,
positions, law

    W = λ/2 (ln J)² − μ ln J + μ/2 (tr C − 3)

and one point of quadrature, and are checked against each other: forces, and the tangent by its product with a vector.
FElupe, scikit-fem and NGSolve take part where they can be imported (``pip install felupe scikit-fem ngsolve``). NGSolve
derives forces and tangent from the energy, and from the stress, both compiled by a C++ compiler if there is one; the
faster one counts. An iteration is a whole one of the midpoint rule with the step of 20 explicit ones: symplex solves by
conjugate gradients to 1e-8, NGSolve by its sparse Cholesky factors, FElupe by SuperLU as its Newton's method does (on
small meshes only). All is on one thread. Processor time is measured, of all in turn and several times over, and the
best is taken, so that a busy machine changes ratios little.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import numpy as np
import scipy.sparse as sp
from explicit_step import ALUMINIUM, cube
from scipy.sparse.linalg import spsolve

from symplex.fem.actions.mass import add_consistent_mass, consistent_mass, lumped_mass
from symplex.fem.assembly import Pattern
from symplex.fem.solids.solid import Solid
from symplex.fem.system import System
from symplex.time.solvers.linear import linear_solver
from symplex.time.stability import stable_step

LMBDA, MU = ALUMINIUM.lmbda, ALUMINIUM.mu
WHAT = ("energy", "gradient", "tangent", "iteration")
COURANT = 20.0  # steps of the explicit method in one of an implicit one
LARGEST_SUPERLU = 10_000  # unknowns


@dataclass
class Package:
    """What a package can do.

    Attributes
    ----------
    calls : mapping of str to function
        ``energy``, ``gradient``, ``tangent``: those that it has; ``iteration``: the tangent of a step of the midpoint
        rule, 4 M/h² + ∇²V with the consistent mass, and the solution of its equations for given forces.
    forces : function
        Return the forces [n, 3] in N.
    product : function
        Return the product of the tangent with a field [n, 3].
    solution : function, optional
        Return what an iteration gives [n, 3].
    """

    name: str
    calls: dict[str, Callable[[], object]]
    forces: Callable[[], np.ndarray]
    product: Callable[[np.ndarray], np.ndarray]
    solution: Callable[[], np.ndarray] | None = None


def inertia(solid: Solid) -> float:
    """Return 4/h² for the step of the iterations."""
    mass = lumped_mass(solid.points, solid.nodes, ALUMINIUM.density, len(solid.points))
    return 4.0 / (COURANT * stable_step(System(mass, {"solid": solid}), solid.points)) ** 2


def right_hand_side(q: np.ndarray) -> np.ndarray:
    """Return forces [n, 3] that the iterations are solved for."""
    return np.random.default_rng(2).standard_normal(q.shape)


def symplex(solid: Solid, q: np.ndarray) -> list[Package]:
    """Return symplex: gradient and tangent are written into arrays that are there, the latter on a fixed pattern."""
    pattern = Pattern(len(q), [solid.nodes])
    out, blocks, mass = np.zeros_like(q), pattern.zeros(3), np.zeros(len(pattern.indices))
    add_consistent_mass(solid.points, solid.nodes, ALUMINIUM.density, pattern.slots[0], mass)
    added = (inertia(solid) * mass)[:, None, None] * np.eye(3)
    solver, b = linear_solver("auto", pattern, 3), right_hand_side(q)

    def gradient() -> np.ndarray:
        out[...] = 0.0
        solid.add_gradient(q, out)
        return out

    def tangent() -> np.ndarray:
        blocks[...] = 0.0
        solid.add_hessian(q, pattern.slots[0], blocks)
        return blocks

    def product(x: np.ndarray) -> np.ndarray:
        return (pattern.matrix(tangent()) @ x.ravel()).reshape(x.shape)

    def iteration() -> np.ndarray:
        tangent()
        blocks[...] += added
        solver.update(blocks, True, q)
        return solver.solve(b, 1e-8)

    calls = {"energy": lambda: solid.total(q), "gradient": gradient, "tangent": tangent, "iteration": iteration}
    return [Package("symplex", calls, lambda: gradient().copy(), product, iteration)]


def felupe(solid: Solid, q: np.ndarray) -> list[Package]:
    """Return FElupe."""
    import felupe as fe  # pyright: ignore[reportMissingImports]

    field = fe.FieldContainer([fe.Field(fe.RegionTetra(fe.Mesh(solid.points, solid.nodes, "tetra")), dim=3)])
    field[0].values[:] = q - solid.points
    body = fe.SolidBody(fe.NeoHookeCompressible(mu=MU, lmbda=LMBDA), field)
    calls = {"gradient": lambda: body.assemble.vector(field), "tangent": lambda: body.assemble.matrix(field)}
    mass = consistent_mass(solid.points, solid.nodes, ALUMINIUM.density, len(q))
    added = sp.csr_matrix(sp.kron(inertia(solid) * mass, sp.eye_array(3)))
    b = right_hand_side(q).ravel()

    def iteration() -> np.ndarray:
        return np.asarray(spsolve(body.assemble.matrix(field) + added, b)).reshape(
            q.shape
        )  # as its Newton's method does

    if q.size <= LARGEST_SUPERLU:
        calls["iteration"] = iteration
    forces = lambda: np.asarray(body.assemble.vector(field).todense()).reshape(q.shape)  # noqa: E731
    product = lambda x: (body.assemble.matrix(field) @ x.ravel()).reshape(x.shape)  # noqa: E731
    return [Package("FElupe", calls, forces, product, calls.get("iteration"))]


def scikit_fem(solid: Solid, q: np.ndarray) -> list[Package]:
    """Return scikit-fem, whose forms are written out here."""
    import skfem  # pyright: ignore[reportMissingImports]
    from skfem.helpers import (  # pyright: ignore[reportMissingImports]
        ddot,
        det,
        grad,
        identity,
        inv,
        mul,
        transpose,
    )

    mesh = skfem.MeshTet(solid.points.T.copy(), solid.nodes.T.astype(np.int64))
    basis = skfem.Basis(mesh, skfem.ElementVector(skfem.ElementTetP1()), intorder=1)
    u = (q - solid.points).ravel()

    # Stress and the like are data: in the forms they would be evaluated anew for each shape function.
    @skfem.LinearForm
    def stress(v, w):
        return ddot(w["P"], grad(v))

    @skfem.BilinearForm
    def stiffness(du, v, w):
        H, G = grad(du), w["G"]
        turned = transpose(mul(G, mul(H, G)))
        dP = MU * H + LMBDA * ddot(transpose(G), H) * transpose(G) - w["t"] * turned
        return ddot(dP, grad(v))

    def strains():
        F = grad(basis.interpolate(u))
        F = F + identity(F)
        return F, inv(F), LMBDA * np.log(det(F)) - MU

    def gradient():
        F, G, t = strains()
        return stress.assemble(basis, P=MU * F + t * transpose(G))

    def tangent():
        _, G, t = strains()
        return stiffness.assemble(basis, G=G, t=t)

    calls = {"gradient": gradient, "tangent": tangent}
    product = lambda x: (tangent() @ x.ravel()).reshape(x.shape)  # noqa: E731
    return [Package("scikit-fem", calls, lambda: gradient().reshape(q.shape), product)]


def ngsolve(solid: Solid, q: np.ndarray) -> list[Package]:
    """Return NGSolve with forces and tangent from the energy, and from the stress."""
    import ngsolve as ng  # pyright: ignore[reportMissingImports]
    from netgen import meshing  # pyright: ignore[reportMissingImports]

    raw = meshing.Mesh(dim=3)
    raw.AddPoints(solid.points)
    raw.Add(meshing.FaceDescriptor(surfnr=1, domin=1, bc=1))
    raw.AddElements(dim=3, index=1, data=np.ascontiguousarray(solid.nodes), base=0)
    mesh = ng.Mesh(raw)
    space = ng.H1(mesh, order=1, dim=3)  # its matrix has 3 × 3 blocks
    u, v = space.TnT()
    F = ng.Grad(u) + ng.Id(3)
    J = ng.Det(F)
    W = LMBDA / 2 * ng.log(J) ** 2 - MU * ng.log(J) + MU / 2 * (ng.InnerProduct(F, F) - 3)
    P = MU * F + (LMBDA * ng.log(J) - MU) * ng.Inv(F).trans
    dx = ng.dx(intrules={ng.ET.TET: ng.IntegrationRule(ng.ET.TET, 0)})
    at = ng.GridFunction(space)
    at.vec.FV().NumPy()[:] = (q - solid.points).ravel()
    m = ng.BilinearForm(space)
    m += inertia(solid) * ALUMINIUM.density * ng.InnerProduct(u, v) * ng.dx
    m.Assemble()
    b, solution = at.vec.CreateVector(), at.vec.CreateVector()
    b.FV().NumPy()[:] = right_hand_side(q).ravel()
    packages = []
    for name, form, integrand in (
        ("NGSolve, energy", lambda W: ng.Variation(W * dx), W),
        ("NGSolve, stress", lambda power: power * dx, ng.InnerProduct(P, ng.Grad(v))),
    ):
        a = ng.BilinearForm(space)
        a += form(compiled(integrand))
        forces, out, x = (at.vec.CreateVector() for _ in range(3))

        def gradient(a=a, forces=forces) -> np.ndarray:
            a.Apply(at.vec, forces)
            return forces.FV().NumPy().reshape(q.shape)

        def product(field: np.ndarray, a=a, out=out, x=x) -> np.ndarray:
            a.AssembleLinearization(at.vec)
            x.FV().NumPy()[:] = field.ravel()
            out.data = a.mat * x
            return out.FV().NumPy().reshape(q.shape).copy()

        def iteration(a=a) -> np.ndarray:
            a.AssembleLinearization(at.vec)
            a.mat.AsVector().data += m.mat.AsVector()
            solution.data = a.mat.Inverse(inverse="sparsecholesky") * b
            return solution.FV().NumPy().reshape(q.shape).copy()

        calls = {
            "gradient": gradient,
            "tangent": lambda a=a: a.AssembleLinearization(at.vec),
            "iteration": iteration,
        }
        if name == "NGSolve, energy":
            calls["energy"] = lambda a=a: a.Energy(at.vec)
        packages.append(Package(name, calls, lambda gradient=gradient: gradient().copy(), product, iteration))
    return packages


def compiled(integrand):
    """Return an integrand of NGSolve as machine code, if there is a C++ compiler, else as its fastest interpreter."""
    try:
        return integrand.Compile(True, wait=True)
    except Exception as error:
        print(f"(NGSolve is not compiled: {str(error).strip()[:100]})")
        return integrand.Compile()


def best_in_turn(calls: dict[str, Callable[[], object]], rounds: int, seconds: float) -> dict[str, float]:
    """Return the shortest processor time in s of each function, called in turn: each for a while, several times."""
    shortest = dict.fromkeys(calls, np.inf)
    for _ in range(rounds):
        for name, call in calls.items():
            call()
            spent = 0.0
            while spent < seconds:
                start = process_time()
                call()
                spent += (lasted := process_time() - start)
                shortest[name] = min(shortest[name], lasted)
    return shortest


def measure(tetrahedra: int, rounds: int) -> dict[str, dict[str, float]]:
    """Return ns per tetrahedron of each package, and how much its forces and its tangent differ from ours."""
    solid, q = cube(tetrahedra)
    packages = symplex(solid, q)
    for name, make in (("FElupe", felupe), ("scikit-fem", scikit_fem), ("NGSolve", ngsolve)):
        try:
            packages += make(solid, q)
        except ImportError:
            print(f"({name} is not installed)")
    direction = np.random.default_rng(1).standard_normal(q.shape)
    forces, product = packages[0].forces(), packages[0].product(direction)
    solution = np.asarray(packages[0].calls["iteration"]())
    calls = {f"{package.name}: {what}": call for package in packages for what, call in package.calls.items()}
    times = best_in_turn(calls, rounds, 0.2)
    results: dict[str, dict[str, float]] = {}
    for package in packages:
        of = {what: times[f"{package.name}: {what}"] / len(solid.nodes) * 1e9 for what in WHAT if what in package.calls}
        of["forces differ"] = float(np.abs(package.forces() - forces).max() / np.abs(forces).max())
        of["tangent differs"] = float(np.abs(package.product(direction) - product).max() / np.abs(product).max())
        if package.solution:
            change = package.solution() - solution
            of["solution differs"] = float(np.abs(change).max() / np.abs(solution).max())
        results[package.name] = of
    return results


def main() -> None:
    """Measure, print a table in Markdown for each size, and write the numbers if wanted."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tetrahedra", type=int, nargs="+", default=[5000, 50_000])
    parser.add_argument("--rounds", type=int, default=5, help="how often all are measured in turn")
    parser.add_argument("--output", type=Path, help="JSON file for the numbers")
    arguments = parser.parse_args()
    os.environ["SYMPLEX_THREADS"] = "1"
    numbers = {}
    for size in arguments.tetrahedra:
        numbers[size] = results = measure(size, arguments.rounds)
        ours = results["symplex"]
        print(f"\n## {size} tetrahedra wanted, load {os.getloadavg()[0]:.1f}: ns per tetrahedron (times ours)\n")
        print("| package | energy | gradient | tangent | iteration | forces, tangent, solution differ by |")
        print("| --- " * 6 + "|")
        for name, of in results.items():
            cells = [f"{of[what]:.4g} ({of[what] / ours[what]:.3g})" if what in of else "–" for what in WHAT]
            differences = ", ".join(f"{value:.0e}" for what, value in of.items() if "differ" in what)
            print(f"| {name} | {' | '.join(cells)} | {differences} |")
    if arguments.output:
        arguments.output.write_text(json.dumps(numbers, indent=1))


if __name__ == "__main__":
    main()
