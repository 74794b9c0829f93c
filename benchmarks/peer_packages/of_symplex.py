"""symplex itself, this version or another one: see `serving`."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from itertools import count
from pathlib import Path

import numpy as np
from serving import STEPS, Deck, Impact, Package, Springs, Surfaces, Tetrahedra, serve

import symplex as sx
from symplex.fem.actions.loads import Gravity
from symplex.fem.actions.mass import add_consistent_mass
from symplex.fem.assembly.pattern import Pattern
from symplex.fem.measures.bars import Bars, EngineeringStrain
from symplex.fem.solids.solid import Solid
from symplex.time.solvers.linear import linear_solver


def tetrahedra(problem: Tetrahedra) -> Package:
    """Return forces and tangent that are written into arrays that are there, the latter on a fixed pattern."""
    q = problem.q
    solid = Solid(problem.points, problem.cells, sx.NeoHookean(problem.lmbda, problem.mu, problem.density))
    pattern = Pattern(len(q), [solid.nodes])
    out, blocks, mass = np.zeros_like(q), pattern.zeros(3), np.zeros(len(pattern.indices))
    add_consistent_mass(problem.points, solid.nodes, problem.density, pattern.slots[0], mass)
    added = (problem.inertia * mass)[:, None, None] * np.eye(3)
    solver = linear_solver("auto", pattern, 3)
    system = sx.System(problem.lumped, {"solid": solid})
    motion, taken = sx.Newmark(problem.dt).start(system, system.state(q)), count(1)

    def forces() -> np.ndarray:
        out[...] = 0.0
        solid.add_gradient(q, out)
        return out

    def tangent() -> np.ndarray:
        blocks[...] = 0.0
        solid.add_hessian(q, pattern.slots[0], blocks)
        return blocks

    def product() -> np.ndarray:
        return (pattern.matrix(tangent()) @ problem.direction.ravel()).reshape(q.shape)

    def correction() -> np.ndarray:
        tangent()
        blocks[...] += added
        solver.update(blocks, True, q)
        return solver.solve(problem.forces, 1e-8)

    def steps() -> None:
        motion.advance(next(taken) * STEPS * problem.dt)

    calls = {"forces": forces, "tangent": tangent, "correction": correction, "steps": steps}
    found = {"forces": lambda: forces().copy(), "product": product, "solution": correction}
    return Package(sx.__version__, calls, found)


def other_forces(problem: Tetrahedra) -> np.ndarray:
    """Return the forces [n, 3] of Saint Venant's and Kirchhoff's law."""
    law = sx.SaintVenantKirchhoff(problem.lmbda, problem.mu, problem.density)
    out = np.zeros_like(problem.q)
    Solid(problem.points, problem.cells, law).add_gradient(problem.q, out)
    return out


def surfaces(problem: Surfaces) -> Package:
    """Return pairs with their distances, and the share by additive CCD."""
    from symplex.contact.penetration import collision_free_fraction
    from symplex.contact.search import find_pairs
    from symplex.contact.surfaces import Surface

    of_first = (problem.triangles < problem.second).all(axis=1)
    parts = problem.triangles[of_first], problem.triangles[~of_first] - problem.second
    points = problem.q[: problem.second], problem.q[problem.second :]
    first, second = (Surface.from_triangles(x, faces, name) for x, faces, name in zip(points, parts, "ab", strict=True))
    surface = Surface.join([first, second.shifted(problem.second)])
    between = ~np.eye(2, dtype=bool)

    def pairs():
        return find_pairs(surface, (problem.q,), problem.distance, between)

    def share() -> float:
        return collision_free_fraction(surface, problem.q, problem.ahead, between)

    return Package(sx.__version__, {"pairs": pairs, "share": share}, {"share": lambda: np.array([share()])})


def springs(problem: Springs) -> Package:
    """Return compositions of explicit Newmark of order 6 (Blanes and Moan) and 8: the cheaper one."""
    fixed = np.zeros(problem.x.shape, bool)
    fixed[0] = True
    bars = Bars(problem.pairs, EngineeringStrain(problem.stiffness, problem.lengths), dim=2)
    energies = {"springs": bars, "gravity": Gravity(problem.masses, (0.0, -problem.gravity))}
    system = sx.System(problem.masses, energies, dim=2, fixed=fixed)
    state = system.state(problem.x)

    def run(steps: float) -> np.ndarray:
        newmark = sx.Newmark(problem.duration / steps)
        return sx.Composition(newmark, 6, "blanes-moan").start(system, state).advance(problem.duration).q

    tuned = problem.tuned(run, [round(200 * 2 ** (0.25 * k)) for k in range(40)])
    return Package(sx.__version__, {"run": tuned}, {"positions": tuned}, remark="Blanes and Moan, order 6")


def impact(problem: Impact) -> Package:
    """Return the adjoint of explicit Newmark."""
    law = sx.NeoHookean(problem.lmbda, problem.mu, problem.density)
    solid = Solid(problem.points, problem.cells, law)
    floor = sx.RigidContact(np.arange(len(problem.points)), sx.HalfSpace((0, 0, 0), (0, 0, 1)), problem.stiffness)
    system = sx.System(problem.masses, {"solid": solid, "floor": floor})
    end = problem.steps * problem.dt

    def build(p):
        return system, system.state(problem.points, p[0] * problem.velocity)

    def cost(state):
        u = state.q - problem.points
        return 0.5 * float(np.sum(u * u)), u, np.zeros_like(u)

    def run() -> np.ndarray:
        return sx.Newmark(problem.dt).start(*build([1.0])).advance(end).q

    def gradient():
        return sx.gradient(build, [1.0], sx.Newmark(problem.dt), np.array([end]), cost, factors=["solid"])

    found = {"positions": run, "by_velocity": lambda: gradient().v0, "by_factor": lambda: gradient().factors["solid"]}
    return Package(sx.__version__, {"run": run, "gradient": gradient}, found)


def deck(problem: Deck) -> Package:
    """Return the command ``symplex run`` on the scenario of the deck, with its results written."""
    from symplex.decks import import_deck

    folder = Path(tempfile.mkdtemp())
    (folder / "deck.inp").write_text(problem.text, encoding="utf-8")
    imported = import_deck(folder / "deck.inp", folder / "imported")
    scenario = imported.scenarios[1]

    def run() -> None:
        command = [sys.executable, "-m", "symplex", "run", str(scenario), "--output", str(folder / "results")]
        subprocess.run([*command, "--overwrite", "--no-pictures", "--quiet"], check=True, cwd="/")

    def displacements() -> np.ndarray:
        run()
        end = sx.read_result(folder / "results").frame(index=-1).displacement
        numbers = np.concatenate([*imported.bodies.values()])
        place = {int(number): i for i, number in enumerate(numbers[: len(end)])}
        return np.array([end[place[node]] for node in problem.nodes.tolist()])

    return Package(sx.__version__, {"run": run}, {"displacements": displacements})


if __name__ == "__main__":
    serve({Tetrahedra: tetrahedra, Surfaces: surfaces, Springs: springs, Impact: impact, Deck: deck})
