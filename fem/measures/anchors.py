"""Springs between nodes and a point that does not move."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem
from symplex.fem.assembly.nodes import Nodes, node_indices
from symplex.fem.assembly.pattern import Array
from symplex.fem.measures.composition import MeasureEnergy
from symplex.fem.measures.pair_laws import CompiledLaw, PairLaw
from symplex.fem.measures.relative import distance


@checked
@final
class Anchors(MeasureEnergy):
    """Springs from nodes to a fixed point c, φ(s) with s = |x − c|²: each has a law of two points, as bars have.

    They keep the energy, but no momentum: the point takes up the force. Of angular momentum about c all is kept.

    Parameters
    ----------
    nodes : int [m]
    point : float64 [dim]
        c in m.
    law : PairLaw
        `EngineeringStrain`, `GreenStrain`, `TensionOnly`, `CompressionOnly` …, with constants for each spring or for
        all.

    Raises
    ------
    InvalidSystem
        If the point is not finite, or the law has constants for another number of springs.
    """

    def __init__(self, nodes: Nodes, point: ArrayLike, law: PairLaw):
        stencils = node_indices("Anchors", nodes)[:, None]
        self.point = np.array(point, dtype=float)
        if self.point.ndim != 1 or not 1 <= len(self.point) <= 3 or not np.isfinite(self.point).all():
            raise InvalidSystem(f"Anchors: the point must be 1 to 3 finite coordinates (m); it is {point!r:.60}.")
        self.law = law
        for name, values in law.constants.items():
            if values.ndim and values.shape != (len(stencils),):
                raise InvalidSystem(f"Anchors: {name} has shape {values.shape}, but there are {len(stencils)} springs.")
        if not isinstance(law, CompiledLaw):
            self._compose(stencils, distance(self.point), law, len(self.point))
            return
        self._compose(stencils, distance(self.point), law.arguments(), len(self.point))

    def lengths(self, q: Array) -> Array:
        """Return the lengths [m] in m at the nodal positions q [n, dim]."""
        return np.linalg.norm(q[self.nodes[:, 0]] - self.point, axis=1)

    def tensions(self, q: Array) -> Array:
        """Return the forces [m] in N along the springs, positive where they pull: 2 φ'(s) l."""
        lengths = self.lengths(q)
        return 2.0 * self.law.slope(lengths**2) * lengths
