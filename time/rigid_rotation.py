"""Rotations of bodies: axes, matrices, and the rotations that fit best, in space and in the plane as a part of it."""

from __future__ import annotations

from math import atan2, sin

import numpy as np

from symplex.fem.actions.centrifugal import centrifugal_matrix
from symplex.fem.assembly.directions import unit_vector
from symplex.fem.energies.energy import Array
from symplex.fem.system import System

SAME = 1e-6  # principal moments that differ by this part of their sum are taken for equal
IN_LINE = 1e-9  # of the size of a body: its width below which it is a line


def in_space(x: Array) -> Array:
    """Return vectors [..., dim] as new vectors [..., 3]."""
    out = np.zeros((*x.shape[:-1], 3))
    out[..., : x.shape[-1]] = x
    return out


def axis_of(omega: Array) -> tuple[Array, float]:
    """Return the unit vector [3] along an angular velocity [3] or [1], and its size."""
    vector = omega if len(omega) == 3 else np.array([0.0, 0.0, omega[0]])
    return unit_vector(vector), float(np.linalg.norm(vector))


def centrifugal(omega: Array) -> Array:
    """Return P = |ω|² I − ω ⊗ ω [dim, dim], in the plane |ω|² I."""
    return centrifugal_matrix(omega)


def rotation(axis: Array, angle: float, dim: int) -> Array:
    """Return the matrix [dim, dim] of the rotation about a unit vector [3] by an angle in rad."""
    hat = np.cross(axis, np.eye(3)).T
    return (np.eye(3) + sin(angle) * hat + 2.0 * sin(0.5 * angle) ** 2 * hat @ hat)[:dim, :dim]


def angle_between(a: Array, b: Array) -> float:
    """Return the angle in rad between vectors [3]."""
    return atan2(float(np.linalg.norm(np.cross(a, b))), float(a @ b))


def centre_of_mass(system: System, q: Array) -> Array:
    """Return the centre of mass [dim] in m."""
    weights = system.apply_mass(np.ones((system.n_nodes, 1)))[:, 0]
    return weights @ q / weights.sum()


def inertia_about(system: System, arm: Array, axis: Array) -> float:
    """Return the moment of inertia in kg m² about an axis."""
    across = np.cross(axis, in_space(arm))
    return float(np.vdot(across, system.apply_mass(across)))


def nearest_principal(system: System, arm: Array, axis: Array) -> Array:
    """Return the unit vector [3] along the principal axis that is nearest to an axis.

    Axes of equal moments span a plane, or all of space, in which every direction is principal.
    """
    moments, axes = np.linalg.eigh(arm.T @ system.apply_mass(arm))
    same = np.abs(moments[:, None] - moments) <= SAME * moments.sum()
    projections = [axes[:, row] @ (axes[:, row].T @ axis) for row in same]
    best = max(projections, key=lambda projection: float(np.linalg.norm(projection)))
    return best / np.linalg.norm(best)


def angle_about(system: System, axis: Array, before: Array, after: Array) -> float:
    """Return the angle in rad about an axis that turns arms [n, dim] best, in the mean by mass, into those after."""
    weighted = in_space(system.apply_mass(before))
    weighted -= np.outer(weighted @ axis, axis)
    seen = in_space(after)
    return atan2(float(np.cross(weighted, seen).sum(axis=0) @ axis), float(np.vdot(weighted, seen)))


def tilt_of(system: System, before: Array, after: Array, axis: Array) -> float:
    """Return the angle in rad by which the rotation that fits best turns the axis."""
    if system.dim == 2:
        return 0.0
    H = after.T @ system.apply_mass(before)
    u, _, vt = np.linalg.svd(H + IN_LINE * np.linalg.norm(H) * np.eye(3))
    best = (u * [1.0, 1.0, np.sign(np.linalg.det(u @ vt))]) @ vt
    return angle_between(axis, best @ axis)
