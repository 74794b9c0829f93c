"""Where a free body would be after a step if it were rigid: where the equations of stiff bodies begin."""

from __future__ import annotations

import numpy as np

from symplex.fem.energies.energy import Array
from symplex.fem.system import System
from symplex.time.rigid_rotation import axis_of, centre_of_mass, in_space, rotation

_SINGULAR = 1e-9  # part of the largest moment of inertia below which a body is a line


def rigid_prediction(system: System, q: Array, w: Array) -> Array:
    """Return positions and h × velocities [2, n, dim] after a step as a rigid body with the momenta of the present.

    Its velocity relative to that of the rigid body turns along. No element is strained on the way. Bodies in supports,
    which do not move as a whole, stay where they are.

    Parameters
    ----------
    system : System
    q, w : float64 [n, dim]
        Positions, and h × velocities, in m.
    """
    if system.has_supports or system.dim == 1:
        return np.stack([q, w])
    centre, drift = centre_of_mass(system, q), centre_of_mass(system, w)
    arm = q - centre
    theta = _turn(system, arm, w)
    if not np.any(theta):
        return np.stack([q + drift, w])
    Q = rotation(*axis_of(theta), system.dim)
    return np.stack([centre + drift + arm @ Q.T, drift + (w - drift) @ Q.T])


def _turn(system: System, arm: Array, w: Array) -> Array:
    """Return the angle of the rotation [3], or in the plane [1], in rad: I⁻¹ times h × the angular momentum."""
    moment = np.cross(in_space(arm), in_space(system.apply_mass(w))).sum(axis=0)
    second = in_space(arm).T @ in_space(system.apply_mass(arm))
    if system.dim == 2:
        size = float(np.trace(second))
        return moment[2:] / size if size > 0.0 else np.zeros(1)
    inertia = np.trace(second) * np.eye(3) - second
    return np.linalg.pinv(inertia, rcond=_SINGULAR, hermitian=True) @ moment
