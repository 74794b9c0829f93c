"""A moment of a motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from symplex.base.representation import Summarized
from symplex.fem.assembly.pattern import Array


@dataclass(frozen=True, repr=False)
class State(Summarized):
    """A moment of a motion.

    Attributes
    ----------
    t : float
        Time in s.
    q, v, a : float64 [n, dim]
        Positions in m (not displacements), velocities in m/s, accelerations in m/s².
    internal : mapping of str to float64
        The internal variables of the parts of the system that have some (`symplex.fem.energies.inelastic`), by name.
    """

    t: float
    q: Array
    v: Array
    a: Array
    internal: Mapping[str, Array] = field(default_factory=dict, kw_only=True)

    def reversed(self) -> State:
        """Return the same state with the velocities reversed."""
        return replace(self, v=-self.v)

    def timed(self, t: float) -> State:
        """Return the same state with the time in s as it was asked for: motions meet it but for rounding."""
        return replace(self, t=t)

    def of_nodes(self, nodes: NDArray[np.integer]) -> State:
        """Return the state as far as given nodes go: where the others are somewhere else, they need not be brought."""
        return self
