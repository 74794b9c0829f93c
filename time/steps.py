"""Steps on the grid of times of a motion, as compiled loops take them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from symplex.fem.assembly import Array
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
    """

    t0: float
    dt: float
    n: int
    sizes: Array
    starts: Array

    @classmethod
    def one(cls, t: float, h: float) -> Steps:
        """Return one step of the size h in s from the time t."""
        return cls(t, h, 0, np.array([h]), np.zeros(1))

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
