"""A moment of a motion."""

from __future__ import annotations

from dataclasses import dataclass, replace

from symplex.base.representation import Summarized
from symplex.fem.assembly import Array


@dataclass(frozen=True, repr=False)
class State(Summarized):
    """A moment of a motion.

    Attributes
    ----------
    t : float
        Time in s.
    q, v, a : float64 [n, dim]
        Positions in m (not displacements), velocities in m/s, accelerations in m/s².
    """

    t: float
    q: Array
    v: Array
    a: Array

    def reversed(self) -> State:
        """Return the same state with the velocities reversed."""
        return replace(self, v=-self.v)
