"""Directions: vectors of unit length, and rotations about them."""

from __future__ import annotations

import math

import numpy as np

from symplex.fem.assembly.pattern import Array


def unit_vector(vector: Array) -> Array:
    """Return a vector [dim] that is not zero, of unit length; also one whose square would overflow or vanish."""
    # By a power of two, which changes no digit.
    scaled = np.ldexp(vector, -int(np.frexp(np.abs(vector).max())[1]))
    return scaled / np.linalg.norm(scaled)


def rotation_matrix(e: Array, angle: float) -> Array:
    """Return R = cos θ I + sin θ [e]× + (1 − cos θ) e ⊗ e [3, 3], about a unit vector (Rodrigues)."""
    cross = np.array([[0.0, -e[2], e[1]], [e[2], 0.0, -e[0]], [-e[1], e[0], 0.0]])
    return math.cos(angle) * np.eye(3) + math.sin(angle) * cross + (1.0 - math.cos(angle)) * np.outer(e, e)
