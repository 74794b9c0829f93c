"""Velocities of nodes at the start: a translation, a spin about an axis and a linear field."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem
from symplex.fem.assembly.pattern import Array

_NONE = (0.0, 0.0, 0.0)


@checked
def velocity_field(
    points: ArrayLike,
    velocity: ArrayLike = _NONE,
    angular_velocity: ArrayLike = _NONE,
    gradient: ArrayLike | None = None,
    point: ArrayLike = _NONE,
) -> Array:
    """Return the velocities v = v0 + ω × (x − p) + G (x − p) [n, 3] in m/s of points in space.

    Parameters
    ----------
    points : float64 [n, 3]
        x in m.
    velocity : float64 [3], optional
        v0 in m/s, of the point p.
    angular_velocity : float64 [3], optional
        ω in rad/s: a spin about the axis along it through p.
    gradient : float64 [3, 3], optional
        G in 1/s; its rows are those of the components of the velocity.
    point : float64 [3], optional
        p in m; default: the origin.

    Raises
    ------
    InvalidSystem
        If a shape does not fit, or a number is not finite.
    """
    x = _finite("points", points, (len(np.atleast_2d(np.asarray(points))), 3))
    v0, omega, p = (
        _finite(name, values, (3,))
        for name, values in (("velocity", velocity), ("angular_velocity", angular_velocity), ("point", point))
    )
    arm = x - p
    v = v0 + np.cross(omega, arm)
    if gradient is not None:
        v += arm @ _finite("gradient", gradient, (3, 3)).T
    return v


def _finite(name: str, values: ArrayLike, shape: tuple[int, ...]) -> Array:
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise InvalidSystem(f"velocity_field: {name} must be numbers.") from None
    if array.shape != shape or not np.isfinite(array).all():
        raise InvalidSystem(f"velocity_field: {name} must be finite numbers {list(shape)}; its shape is {array.shape}.")
    return array
