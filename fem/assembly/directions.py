"""Directions: vectors of unit length."""

from __future__ import annotations

import numpy as np

from symplex.fem.assembly.pattern import Array


def unit_vector(vector: Array) -> Array:
    """Return a vector [dim] that is not zero, of unit length; also one whose square would overflow or vanish."""
    # By a power of two, which changes no digit.
    scaled = np.ldexp(vector, -int(np.frexp(np.abs(vector).max())[1]))
    return scaled / np.linalg.norm(scaled)
