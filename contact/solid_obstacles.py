"""How the mass of solid obstacles is distributed."""

from __future__ import annotations

import numpy as np

from symplex.base.arguments import checked
from symplex.contact.obstacles import Box, Capsule, Obstacle, Sphere
from symplex.contact.rigid_body import mass_of
from symplex.errors import InvalidSystem
from symplex.fem.assembly.directions import unit_vector
from symplex.fem.assembly.pattern import Array
from symplex.fem.mass_properties import MassProperties
from symplex.fem.measures.relative import axes_from


@checked
def obstacle_mass(obstacle: Obstacle, *, density: float | None = None, mass: float | None = None) -> MassProperties:
    """Return mass, centre and inertia of a solid obstacle in space: a ball, a capsule or a box of even density.

    Parameters
    ----------
    obstacle : Sphere, Capsule or Box
    density : float, optional
        In kg/m³; or
    mass : float, optional
        in kg.

    Raises
    ------
    InvalidSystem
        If the obstacle has no volume – a half-space, a cylinder without ends, a vessel, a disc –, or not one of both is
        given, or it is not positive.
    """
    kind = type(obstacle).__name__
    if obstacle.dim != 3 or getattr(obstacle, "inside", False):
        raise InvalidSystem(f"this {kind} is no solid in space, so it has no computable mass; give MassProperties.")
    match obstacle:
        case Sphere():
            R = obstacle.radius
            m = mass_of(4.0 / 3.0 * np.pi * R**3, density, mass)
            return MassProperties(m, obstacle.center, np.full(3, 0.4 * m * R**2))
        case Box():
            m = mass_of(float(np.prod(obstacle.size)), density, mass)
            squares = obstacle.size**2 / 12.0
            return MassProperties(m, obstacle.center, _in_space(m * (squares.sum() - squares), obstacle.axes))
        case Capsule():
            along, R = obstacle.end - obstacle.start, obstacle.radius
            L = float(np.linalg.norm(along))
            bar, ends = np.pi * R**2 * L, 4.0 / 3.0 * np.pi * R**3
            m = mass_of(bar + ends, density, mass)
            # Of both hemispheres: that of a ball, moved by L/2 with centres of mass 3R/8 farther.
            turn = m / (bar + ends) * (0.5 * bar * R**2 + 0.4 * ends * R**2)
            swing = bar * (L**2 / 12.0 + R**2 / 4.0) + ends * (0.4 * R**2 + L**2 / 4.0 + 3.0 / 8.0 * L * R)
            swing *= m / (bar + ends)
            axes = axes_from(unit_vector(along))
            return MassProperties(m, 0.5 * (obstacle.start + obstacle.end), _in_space([turn, swing, swing], axes))
    raise InvalidSystem(f"a {kind} has no volume, so it has no computable mass; give MassProperties.")


def _in_space(principal: Array | list[float], axes: Array) -> Array:
    """Return an inertia [3, 3] in the coordinate axes, of principal moments [3] about axes, one in each row."""
    return axes.T @ np.diag(principal) @ axes
