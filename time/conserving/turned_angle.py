"""By how much a body turns in a step, for the schemes that keep the angle of a steady rotation."""

from __future__ import annotations

from math import atan2, tan
from typing import Literal

import numpy as np

from symplex.errors import StepFailed
from symplex.fem.energies.energy import Array
from symplex.fem.system import System

Angle = Literal["body", "nodes"]

_HALF_TURN = 1e-3  # rad below π: there β is above 10³, and no step of use is left
_SERIES = 0.1  # rad of ½ θ, below which x cot x − 1 is summed up as a series


def turned_angle(system: System, q0: Array, q1: Array, angle: Angle) -> float:
    """Return θ in rad, from 0 to π, by which the nodes turn about their centre of mass from q0 to q1 [n, dim].

    ``"nodes"`` is eq. 6.19 of Graham and Jelenić (2006): the mean of the angles of the nodes, weighted by their
    distances. That is the angle of a rotation of bodies that lie in the plane in which they turn; elsewhere nodes off
    this plane turn by less. ``"body"`` is the angle about the axis of Σ m r̄0 × r̄1, which is that of a rotation about
    every principal axis, in which a steady rotation is; in the plane it is that of Σ m r̄0 ⊗ r̄1.
    """
    mass = system.apply_mass(np.ones((system.n_nodes, 1)))
    x0, x1 = (q - system.sum(mass * q) / system.sum(mass) for q in (q0, q1))
    if angle == "nodes":
        across, along = np.linalg.norm(_cross(x0, x1), axis=1), np.einsum("ni,ni->n", x0, x1)
        distance = np.linalg.norm(x0, axis=1) + np.linalg.norm(x1, axis=1)
        return system.dot(distance, np.arctan2(across, along)) / (float(system.sum(distance)) or 1.0)
    weighted = system.apply_mass(x1)
    axis = system.sum(_cross(x0, weighted))
    across = float(np.linalg.norm(axis))
    along = system.dot(x0, weighted)
    if system.dim == 3 and across > 0.0:  # what lies on the axis does not turn
        axis /= across
        along -= system.dot(x0 @ axis, weighted @ axis)
    return atan2(across, along)


def _cross(a: Array, b: Array) -> Array:
    """Return a × b [n, 3] in space, [n, 1] in the plane."""
    return np.cross(a, b) if a.shape[1] == 3 else a[:, :1] * b[:, 1:] - a[:, 1:] * b[:, :1]


def stretch(theta: float) -> float:
    """Return β = tan(½ θ)/(½ θ) (eq. 6.13)."""
    half = 0.5 * theta
    if np.pi - theta < _HALF_TURN:
        raise StepFailed(
            f"the body turns by {theta:.6g} rad in the step: a scheme that keeps the angle can't turn it by a half "
            "turn (π). Try a smaller step"
        )
    return tan(half) / half if half > 0.0 else 1.0


def inertia_factor(theta: float) -> float:
    """Return c = (½ θ − tan ½ θ)/(θ² tan ½ θ) (after eq. 6.18), which is −1/12 at θ = 0."""
    x = 0.5 * theta
    if x > _SERIES:
        return (x / tan(x) - 1.0) / theta**2
    u = x * x
    return -0.25 * (1 / 3 + u * (1 / 45 + u * (2 / 945 + u * (1 / 4725 + u * 2 / 93555))))
