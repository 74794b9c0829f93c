"""The part that is shown of a plane without end: a rectangle below all that moves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]

# Beyond the bodies the rectangle reaches so far, relative to their size.
_MARGIN = 0.25


def covering(corners: Points, low: Points, high: Points) -> Points:
    """Return the corners [4, 3], in order, of a rectangle that is enlarged so that it lies below a box.

    The rectangle is returned as it is, the same object, where that is no more than it already does. Corners have the
    precision of the files they are written to, so that a series that is resumed grows like one that is not.

    Parameters
    ----------
    corners : float64 [4, 3]
        In m.
    low, high : float64 [3]
        Corners of the box in m.
    """
    origin = corners[0]
    edges = corners[[1, 3]] - origin
    lengths = np.linalg.norm(edges, axis=1)
    if not lengths.all():  # a point or a line has no directions to grow in
        return corners
    axes = edges / lengths[:, None]
    box = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
    shadow = (box - origin) @ axes.T
    first, last = shadow.min(axis=0), shadow.max(axis=0)
    if (first >= 0).all() and (last <= lengths).all():
        return corners
    margin = _MARGIN * float(np.linalg.norm(high - low))
    first, last = np.where(first < 0, first - margin, 0.0), np.where(last > lengths, last + margin, lengths)
    places = np.array([[first[0], first[1]], [last[0], first[1]], [last[0], last[1]], [first[0], last[1]]])
    return (origin + places @ axes).astype(np.float32).astype(float)
