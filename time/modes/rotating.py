"""Systems in a frame that rotates steadily."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem
from symplex.fem.actions.centrifugal import Centrifugal
from symplex.fem.actions.coriolis import Coriolis
from symplex.fem.system import System

CENTRIFUGAL, CORIOLIS = "centrifugal", "coriolis"  # what the energy and the load are called


@checked
def rotating_frame(system: System, angular_velocity: ArrayLike, point: ArrayLike | None = None) -> System:
    """Return a system as it is in a frame that rotates: with the energy ``centrifugal`` and the load ``coriolis``.

    Its supports are at rest in the frame, and all else acts as it is given there. `static_equilibrium` finds the shape
    of a rotating structure, and `complex_modes` its vibrations; those of `natural_modes` lack the Coriolis forces.

    Parameters
    ----------
    system : System
    angular_velocity : float or float64 [3]
        ω in rad/s, a number in the plane.
    point : float64 [dim], optional
        A point of the axis in m; default: the origin.

    Raises
    ------
    InvalidSystem
        If it is in such a frame already, or a number is not finite or of another dimension than the system.
    """
    taken = {*system.energies, *system.loads, *system.inelastic, *system.moving.motions}
    if name := next((name for name in (CENTRIFUGAL, CORIOLIS) if name in taken), None):
        raise InvalidSystem(f"the system has a part called '{name}' already; is it in a frame that rotates?")
    if np.size(angular_velocity) != (3 if system.dim == 3 else 1):
        raise InvalidSystem(
            f"the angular velocity of a frame in {system.dim} dimensions is "
            f"{'three numbers' if system.dim == 3 else 'one number'} in rad/s, not {angular_velocity}."
        )
    return system.with_parts(
        {**system.energies, CENTRIFUGAL: Centrifugal(system.mass, angular_velocity, point)},
        {**system.loads, CORIOLIS: Coriolis(system.mass, angular_velocity)},
    )
