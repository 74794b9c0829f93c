"""Springs between points that follow nodes, such as the centres of frames."""

from __future__ import annotations

from typing import final

import numpy as np

from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.couplings.interpolation import InterpolatedEnergy
from symplex.fem.measures.anchors import Anchors
from symplex.fem.measures.bars import Bars
from symplex.fem.measures.inelastic_bars import InelasticBars
from symplex.fem.measures.pair_laws import CompiledLaw, PairLaw


@final
class InterpolatedBars:
    """The lengths and forces of springs whose ends are points of an interpolation, at positions of nodes.

    Parameters
    ----------
    energy : InterpolatedEnergy
        Of `Bars` or `Anchors`.

    Attributes
    ----------
    bars : Bars or Anchors
        Of the points.
    nodes : int32 [m, k]
        The nodes that each spring follows.
    """

    def __init__(self, energy: InterpolatedEnergy):
        assert isinstance(energy.energy, Bars | Anchors), "it is of springs"
        self.energy, self.bars = energy, energy.energy
        self.nodes: IntArray = energy.nodes

    @property
    def law(self) -> PairLaw | CompiledLaw:
        """That of the springs."""
        return self.bars.law

    def lengths(self, q: Array) -> Array:
        """Return the lengths [m] in m at the positions q [n, 3] of nodes."""
        return self.bars.lengths(self.energy.interpolation.points(q))

    def tensions(self, q: Array) -> Array:
        """Return the forces [m] in N along the springs, positive where they pull."""
        return self.bars.tensions(self.energy.interpolation.points(q))

    def ends(self) -> tuple[Array, IntArray, IntArray, Array]:
        """Return fixed points [f, 3], lines [m, 2] of points, and the nodes and weights [p, K] these follow.

        Fixed points are the last; their weights are zero.
        """
        every = np.arange(self.energy.interpolation.n_points, dtype=np.int32)[:, None]
        nodes, weights = self.energy.interpolation.stencils(every)
        weights, lines = weights[:, 0], self.bars.nodes
        if isinstance(self.bars, Bars):
            return np.empty((0, 3)), lines, nodes, weights
        lines = np.column_stack([lines[:, 0], np.full(len(lines), len(every), np.int32)])
        nodes, weights = np.concatenate([nodes, nodes[:1]]), np.concatenate([weights, 0.0 * weights[:1]])
        return self.bars.point[None], lines, nodes, weights


def springs_of(part: object) -> Bars | Anchors | InelasticBars | InterpolatedBars | None:
    """Return springs or the members of a truss, if an energy or inelastic part is that of such."""
    if isinstance(part, Bars | Anchors | InelasticBars):
        return part
    if isinstance(part, InterpolatedEnergy) and isinstance(part.energy, Bars | Anchors):
        return InterpolatedBars(part)
    return None
