"""Stencils that change, as those of contact between bodies, among levels."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from symplex.errors import StepFailed
from symplex.fem.assembly.calls import Call
from symplex.fem.assembly.pattern import Array
from symplex.fem.energies.contact_energy import contact_of
from symplex.fem.energies.neighbour_list import NeighbourListEnergy
from symplex.time.explicit.local_loops import copy_rows, move_rows


@final
class ChangingStencils:
    """All stencils of an energy whose stencils change: those of its level, whichever there are.

    The nodes that they may have move at the rate of the level, so that forces are balanced, and so are their moments.

    Parameters
    ----------
    energy : NeighbourListEnergy
    place : int [n]
        Where each node is among those of the level, those that it may act on with numbers of at least 0.
    dim : int
        Dimension of space.
    """

    widest = 1

    def __init__(self, energy: NeighbourListEnergy, place: NDArray[np.integer], dim: int):
        nodes = energy.possible_nodes
        self._energy = energy
        self._nodes = np.arange(len(place)) if nodes is None else nodes.astype(np.int64)
        self._places = place[self._nodes].astype(np.int64)
        # Of all nodes, in the order of the system; the others stay zero.
        self._q, self._before, self._out = (np.zeros((len(place), dim)) for _ in range(3))

    def calls(self) -> list[Call] | None:
        """Return None: their loops do not know which stencils there are."""
        return None

    def begin(self, q: Array) -> None:
        """Take the positions q [l, dim] that the next step begins with."""
        copy_rows(q, self._places, self._before, self._nodes)

    def add_gradient(self, q: Array, out: Array) -> None:
        """Add the gradient in N at the nodal positions q [l, dim] to out [l, dim]."""
        copy_rows(q, self._places, self._q, self._nodes)
        if what := contact_of(self._energy).find_penetration(self._before, self._q):
            raise StepFailed(f"{what}. Try a smaller step, or a stiffer contact.")
        copy_rows(self._q, self._nodes, self._before, self._nodes)
        self._energy.renewed(self._q)
        self._energy.add_gradient(self._q, self._out)
        move_rows(self._out, self._nodes, out, self._places)
