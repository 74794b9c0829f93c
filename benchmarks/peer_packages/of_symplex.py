"""symplex itself: see `serving`."""

from __future__ import annotations

from itertools import count

import numpy as np
from serving import STEPS, Package, Problem, serve

from symplex import NeoHookean, Newmark, SaintVenantKirchhoff, System, __version__
from symplex.fem.actions.mass import add_consistent_mass
from symplex.fem.assembly.pattern import Pattern
from symplex.fem.solids.solid import Solid
from symplex.time.solvers.linear import linear_solver


def symplex(problem: Problem) -> Package:
    """Return symplex: gradient and tangent are written into arrays that are there, the latter on a fixed pattern."""
    q = problem.q
    solid = Solid(problem.points, problem.cells, NeoHookean(problem.lmbda, problem.mu, problem.density))
    pattern = Pattern(len(q), [solid.nodes])
    out, blocks, mass = np.zeros_like(q), pattern.zeros(3), np.zeros(len(pattern.indices))
    add_consistent_mass(problem.points, solid.nodes, problem.density, pattern.slots[0], mass)
    added = (problem.inertia * mass)[:, None, None] * np.eye(3)
    solver = linear_solver("auto", pattern, 3)
    system = System(problem.lumped, {"solid": solid})
    motion, taken = Newmark(problem.dt).start(system, system.state(q)), count(1)

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
        return solver.solve(problem.forces, 1e-8)

    def steps() -> None:
        motion.advance(next(taken) * STEPS * problem.dt)

    calls = {"gradient": gradient, "tangent": tangent, "iteration": iteration, "steps": steps}
    return Package(__version__, calls, lambda: gradient().copy(), product, iteration)


def other_forces(problem: Problem) -> np.ndarray:
    """Return the forces [n, 3] of Saint Venant's and Kirchhoff's law."""
    law = SaintVenantKirchhoff(problem.lmbda, problem.mu, problem.density)
    out = np.zeros_like(problem.q)
    Solid(problem.points, problem.cells, law).add_gradient(problem.q, out)
    return out


if __name__ == "__main__":
    serve(symplex)
