"""The root of a step's equations that small steps lead to: followed from a step of no size on."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from symplex.fem.energies.energy import Array

_FIRST = 1.0 / 8.0  # of a step
_LEAST = 1.0 / 512.0  # of what has been reached, below which a branch of roots is at its end
_PARTS = 64  # of a step, at most, those that were too long included
_GROWTH = 2.0

# A part λ of a step and where to begin -> the root nearest to there, or None if it is not near.
Root = Callable[[float, Array], Array | None]


def followed(root: Root, none: Array, slope: Array | None = None, shortest: float = _LEAST) -> Array | None:
    """Return what is nearly the root of a whole step, by those of parts of it, or None if they do not reach it.

    Parts grow from λ = 0, each begun on the line through the last two roots, and shortened where that is not near
    enough. The root of a small step is the only one there is; where this branch turns back no step leads further.

    Parameters
    ----------
    root : callable
    none : float64 array
        The root of λ = 0.
    slope : float64 array, optional
        Its derivative with respect to λ there, if it is known.
    shortest : float, default 1/512
        The smallest part at the start of the branch: without a tangent it must resolve the fastest vibrations.
    """
    reached, size, at = 0.0, _FIRST, none
    slope = np.zeros_like(none) if slope is None else slope
    for _ in range(_PARTS):
        part = min(reached + size, 1.0)
        found = root(part, at + (part - reached) * slope)
        if found is None:
            size *= 0.5
            if size < max(_LEAST * reached, shortest):
                return None
            continue
        if part == 1.0:
            return found
        reached, at, slope = part, found, (found - at) / (part - reached)
        size *= _GROWTH
    return None
