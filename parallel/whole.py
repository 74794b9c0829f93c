"""The system of the first rank: all of it, with forces and energies by the parts of it that the ranks have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from symplex.fem.system import System
from symplex.parallel.pieces import require_few, require_parts
from symplex.parallel.placement import placed

if TYPE_CHECKING:
    from symplex.fem.assembly.pattern import Array
    from symplex.parallel.placement import Placement
    from symplex.parallel.ranks import Ranks


class SystemOfRanks(System):
    """A system that no rank computes alone: what its elements need in steps is made of each part on its rank.

    It is for motions in explicit steps. The first rank has what describes the system: nodes with masses and supports,
    the nodes of elements, loads. Forces, and with them accelerations at the start and the largest frequency, have the
    bits of one process; energies are exact sums. All else, as the Hessian for an equilibrium at the start, is computed
    as by one process, and so are forces while a motion of another system is on the ranks.

    Parameters
    ----------
    *arguments, **options
        As those of `System`.
    ranks : Ranks
    """

    def __init__(self, *arguments: Any, ranks: Ranks, **options: Any):
        super().__init__(*arguments, **options)
        self._ranks = ranks

    def gradient(self, q: Array, out: Array | None = None) -> Array:
        """Return ∇V(q) [n, dim] in N (into ``out`` if given), fixed coordinates included.

        Raises
        ------
        InvalidSystem
            If the system cannot be divided among the ranks.
        """
        placement = self._placement(q)
        if placement is None:
            return super().gradient(q, out)
        out = np.empty((self.n_nodes, self.dim)) if out is None else out
        placement.gradient(q, out)
        return out

    def potentials(self, q: Array) -> dict[str, float]:
        """Return the energies in J at the nodal positions q [n, dim] by name."""
        placement = self._placement(q)
        return super().potentials(q) if placement is None else placement.potentials(self, q)

    def _placement(self, q: Array) -> Placement | None:
        """Return its parts on the ranks; None while these have others that move.

        Raises
        ------
        InvalidSystem
            If it cannot be divided among them.
        """
        there = self._ranks.placed
        if there is None or not there.is_of(self):
            require_parts(self, contact=True)
            require_few(self, self._ranks.size)
            if there is not None and there.is_moving:
                return None
        return placed(self, q, self._ranks)
