"""Inner products of long vectors, by one thread."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# OpenBLAS shares what has more than 10 000 numbers among its threads. They gain nothing, as memory is what takes the
# time, and wait for the next one in loops: 0.1 s of every other processor for each product. The sum would also depend
# on their number.
_PIECE = 8192


def inner(a: Array, b: Array) -> float:
    """Return Σ a·b over all components of two arrays of one shape."""
    if a.size <= _PIECE:
        return float(np.vdot(a, b))
    a, b = a.reshape(-1), b.reshape(-1)
    return sum(float(np.vdot(a[i : i + _PIECE], b[i : i + _PIECE])) for i in range(0, len(a), _PIECE))


def norm(a: Array) -> float:
    """Return the root of the sum of squares of all components of an array."""
    return sqrt(inner(a, a))
