"""Coming to rest by strongly damped motion, where no path of loads leads to an equilibrium."""

from __future__ import annotations

import numpy as np

from symplex.errors import NoEquilibrium, StepFailed
from symplex.fem.energies.energy import Array
from symplex.time.equilibria.balance import StaticBalance
from symplex.time.solvers.newton import NewtonSolver
from symplex.time.solvers.nodal_coordinates import FramedSolver
from symplex.time.solvers.singular import loose_part

_STEPS = 400
_FIRST = 0.01  # of the size of the system, by which the first step lets it move
_LONGER, _SHORTER = 4.0, 1.0 / 16.0
_SHORTEST = 1e-16  # of the square of the first step
_BALANCED = 1e-9  # of the forces, that inertia may be
_FAR = 100.0  # sizes of the system that a node may move


def way_of_supports(
    balance: StaticBalance, solver: NewtonSolver | FramedSolver, q: Array, part: float, more: float
) -> Array:
    """Return how far supports move [n, dim] in m for more of their way, from positions q after a part of it.

    They go straight, and frames with them as rigid bodies.
    """
    if not (isinstance(solver, FramedSolver) and balance.way.any()):
        return more * balance.way
    z, way = solver.coordinates.increments(balance.start, balance.way), np.empty_like(q)
    solver.coordinates.write_increment(balance.start, (part + more) * z, way)
    return np.where(balance.system.moving.mask, balance.start + way - q, 0.0)


def relaxed(balance: StaticBalance, q: Array, part: float, solver: NewtonSolver | FramedSolver) -> tuple[Array, int]:
    """Return the shape in which a system comes to rest, and how many corrections that took.

    Steps of the implicit Euler method, each from rest: M Δq/τ² + ∇V(q + Δq) − f = 0. Each lowers V by more than
    |M^½ Δq|²/2τ², if there is a potential, so that none leads to an equilibrium that is not stable; and what is loose,
    a body that has to fall on its support, has inertia. τ grows as long as steps can be taken; in the end they are
    those of Newton's method. It is at rest where the forces of inertia are small: all others balance them to round-off,
    of which stiff members can leave more than that.

    Parameters
    ----------
    balance : StaticBalance
    q : float64 [n, dim]
        Where to begin, in m.
    part : float
        Of the way of supports that they have gone there.
    solver : NewtonSolver or FramedSolver
    """
    system = balance.system
    balance.begin(q, 1.0)
    residual, corrections = balance.residual(q), 0
    mass = float(np.mean(system.apply_mass(np.ones_like(q))))
    first = _FIRST * balance.length * mass / max(float(np.abs(residual).max()), 1e-12 * balance.size)
    square, stride, failure = first, 1.0 - part, None
    for _ in range(_STEPS):
        system.update_neighbours(q)
        balance.begin(q, 1.0)
        balance.inertia = 1.0 / square
        try:
            corrections += solver.solve(balance, q, way_of_supports(balance, solver, q, part, stride))
            if balance.symmetric and solver.definite is False:
                raise StepFailed("the step leads to no minimum of its potential.")
        except StepFailed as error:
            failure = error
            square, stride = square * _SHORTER, 0.5 * stride
            if square < _SHORTEST * first:
                break
            continue
        finally:
            balance.inertia = 0.0
        moved, taken = solver.increment.copy(), square
        q, part = q + moved, part + stride
        stride, square = min(2.0 * stride, 1.0 - part), square * _LONGER
        system.settle(q)
        residual = balance.residual(q)
        # Forces that no step could be distinguished from round-off are not balanced by that; others are, to round-off.
        left = np.where(system.fixed, 0.0, system.apply_mass(moved)) / taken if corrections else residual
        if part >= 1.0 and np.abs(left).max() <= _BALANCED * balance.size:
            return q, corrections
        if balance.is_far(q, _FAR):
            raise _moves_away(balance, q)
    why = "" if failure is None else f" The last step that failed: {failure}"
    raise NoEquilibrium(
        f"no static equilibrium was found: after {corrections} corrections of damped motion forces of "
        f"{float(np.abs(residual).max()):.2e} N are left of {balance.size:.2e} N.{why}"
    )


def _moves_away(balance: StaticBalance, q: Array) -> NoEquilibrium:
    """Return the error that a system comes to no rest, with what is loose in it."""
    system = balance.system
    try:
        loose = None if system.frames else loose_part(system.pattern, balance.stiffness(q)[0])
    except StepFailed:
        loose = None
    what = "the loads are more than it can carry" if loose is None else loose.partition(", or take a method")[0]
    return NoEquilibrium(
        f"there is no static equilibrium: under its loads the system moves away, by more than {_FAR:g} times its size; "
        f"{what}."
    )
