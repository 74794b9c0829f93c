"""The plane of a section through deformed bodies, which goes along with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from symplex.errors import RenderError
from symplex.meshes.series.frames import Block

Positions = Mapping[str, NDArray[np.float64]]


class Plane(NamedTuple):
    """A plane by its unit normal and a point in m."""

    normal: NDArray[np.float64]
    origin: NDArray[np.float64]


@final
class Section:
    """A plane that cuts bodies, at a given place or where it cuts as many as it can.

    Parameters
    ----------
    normal : float64 [3]
        A unit vector.
    origin : tuple of 3 float, optional
        A point of the plane in m; without it the plane follows the bodies that it cuts at first.
    bodies : mapping of str to Block
    first : mapping of str to float64 [n_b, 3]
        Positions of the nodes of each body in m, as they are at first.
    """

    def __init__(
        self,
        normal: NDArray[np.float64],
        origin: tuple[float, float, float] | None,
        bodies: Mapping[str, Block],
        first: Positions,
    ):
        self._normal = normal
        self._bodies = bodies
        if origin is not None and not np.isfinite(origin).all():
            raise RenderError(f"the point of a section is three numbers, not {list(origin)}.")
        self._fixed = None if origin is None else float(np.array(origin, float) @ normal)
        self._followed, self._part = list(bodies), 0.5
        if self._fixed is None:
            self._follow(first)

    def plane(self, positions: Positions) -> Plane:
        """Return the plane for bodies at the given positions."""
        return Plane(self._normal, self._place(positions) * self._normal)

    def cuts(self, positions: Positions) -> bool:
        """Whether the plane goes through any cell."""
        place = self._place(positions)
        return any(self._is_cut(name, positions, place) for name in self._bodies)

    def reach(self, positions: Positions) -> tuple[float, float]:
        """Return between what places along the normal the bodies are."""
        return self._extent(positions, self._bodies)

    def _place(self, positions: Positions) -> float:
        """Return the distance of the plane from the origin of space, along the normal."""
        if self._fixed is not None:
            return self._fixed
        low, high = self._extent(positions, self._followed)
        return low + self._part * (high - low)

    def _follow(self, positions: Positions) -> None:
        """Choose which bodies the plane follows, and what part of them it keeps on either side."""
        low, high = self._extent(positions, self._bodies)
        middle = 0.5 * (low + high)
        ends = np.unique([end for name in self._bodies for end in self._extent(positions, [name])])
        between = 0.5 * (ends[1:] + ends[:-1])
        best: list[str] = []
        for place in (middle, *sorted(between, key=lambda place: abs(place - middle)), *self._centres(positions)):
            cut = [name for name in self._bodies if self._is_cut(name, positions, place)]
            if len(cut) > len(best):
                best, (low, high) = cut, self._extent(positions, cut)
                self._followed, self._part = cut, (place - low) / (high - low)

    def _centres(self, positions: Positions) -> list[float]:
        """Return the middle of a cell of each body: bodies can be hollow where their own middle is."""
        found = []
        for name in self._bodies:
            lows, highs = self._intervals(name, positions)
            if len(lows):
                widest = int(np.argmax(highs - lows))
                found.append(0.5 * float(lows[widest] + highs[widest]))
        return found

    def _is_cut(self, name: str, positions: Positions, place: float) -> bool:
        """Whether a plane goes through cells of a body, or between two that share faces in it."""
        lows, highs = self._intervals(name, positions)
        is_within = lows.min(initial=np.inf) < place < highs.max(initial=-np.inf)
        return bool(is_within and ((lows <= place) & (place <= highs)).any())

    def _intervals(self, name: str, positions: Positions) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return between what places along the normal each cell of a body is."""
        block = self._bodies[name]
        if not block.n_cells:
            return np.empty(0), np.empty(0)
        places, starts = (positions[name] @ self._normal)[block.connectivity], block.offsets[:-1]
        return np.minimum.reduceat(places, starts), np.maximum.reduceat(places, starts)

    def _extent(self, positions: Positions, names: list[str] | Mapping[str, Block]) -> tuple[float, float]:
        places = np.concatenate([positions[name] @ self._normal for name in names])
        return float(places.min()), float(places.max())
