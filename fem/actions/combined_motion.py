"""The sum of motions of the same nodes: an axis that moves as a support turns about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem
from symplex.fem.actions.support_motion import SupportMotion
from symplex.fem.assembly.pattern import Array


@checked
@final
class CombinedMotion(SupportMotion):
    """Motions of the same nodes at the same time: their displacements are added.

    With a `SupportTranslation` and a `SupportRotation` the axis goes along: a drill that advances, a wheel that rolls.

    Parameters
    ----------
    motions : sequence of SupportMotion
        At least one, of the same nodes and components.

    Raises
    ------
    InvalidSystem
        If there is none, or nodes or components differ.
    """

    def __init__(self, motions: Sequence[SupportMotion]):
        if not len(motions):
            raise InvalidSystem("CombinedMotion: there is no motion.")
        first = motions[0]
        for motion in motions[1:]:
            if not np.array_equal(motion.nodes, first.nodes) or motion.axes != first.axes:
                raise InvalidSystem("CombinedMotion: the motions must be of the same nodes and components.")
        self.motions, self.nodes, self.axes = tuple(motions), first.nodes, first.axes
        self.smooth = all(motion.smooth for motion in motions)
        self.span = max(motion.span[0] for motion in motions), min(motion.span[1] for motion in motions)

    def displacement(self, t: float) -> Array:
        """Return the displacements [m, c] in m at the time t in s."""
        return np.sum([motion.displacement(t) for motion in self.motions], axis=0)

    def velocity(self, t: float) -> Array:
        """Return the velocities [m, c] in m/s at the time t in s; where they jump, those after it."""
        return np.sum([motion.velocity(t) for motion in self.motions], axis=0)

    def acceleration(self, t: float) -> Array:
        """Return the accelerations [m, c] in m/s² at the time t in s."""
        return np.sum([motion.acceleration(t) for motion in self.motions], axis=0)
