"""Steps on the grid of times of a motion, as compiled loops take them."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from symplex.fem.assembly.pattern import Array
from symplex.fem.load_table import LoadLoops


class Steps(NamedTuple):
    """Steps to be taken one after the other, the k-th whole one from the time t0 + (n + k) dt, in parts.

    Attributes
    ----------
    t0, dt : float
        In s.
    n : int
        Whole steps before.
    sizes, starts : float64 [s]
        Of the parts of a whole step, in s: how long they are, and how long after its beginning they begin.
    kicks : float64 [s, 2]
        Of an explicit method, for how long in s accelerations act before and after the drift of each part.
    """

    t0: float
    dt: float
    n: int
    sizes: Array
    starts: Array
    kicks: Array

    @classmethod
    def one(cls, t: float, h: float) -> Steps:
        """Return one step of the size h in s from the time t."""
        return cls(t, h, 0, *_whole(h))

    def time(self, part: int) -> float:
        """Return the time in s at which a part begins, counted from the first one of the steps."""
        whole, k = divmod(part, len(self.sizes))
        return self.t0 + (self.n + whole) * self.dt + float(self.starts[k])

    def times(self, count: int, part: float) -> Array:
        """Return the times [count] in s after a part of each of the next steps, as steps from Python find them."""
        whole = -(-count // len(self.sizes))
        begin = self.t0 + (self.n + np.arange(whole)) * self.dt
        return ((begin[:, None] + self.starts) + part * self.sizes).ravel()[:count]

    def load_factors(self, count: int, loads: LoadLoops, part: float) -> tuple[int, Array]:
        """Return of how many of the next steps the factors of loads are known after a part of each, and these [s, l].

        All steps have the same ones, s = 1, where no load changes with time.
        """
        if not loads.change_with_time:
            return count, np.ones((1, len(loads.histories)))
        factors = loads.factors(self.times(count, part))
        return len(factors), factors


@lru_cache(maxsize=16)  # of a step from Python, of which they would be a fourth
def _whole(h: float) -> tuple[Array, Array, Array]:
    """Return the size, the start and the kicks of a step in one part."""
    return np.array([h]), np.zeros(1), np.array([[0.5 * h, 0.5 * h]])
