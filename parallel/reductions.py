"""What all ranks find together: sums, the same bits on each, and exchanges at the borders of their parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from symplex.fem.assembly.pattern import Array
from symplex.parallel.division import Neighbour
from symplex.parallel.halo import Halo
from symplex.parallel.patience import wait_until

if TYPE_CHECKING:
    from mpi4py import MPI

_NAP = 5e-5  # s at most: the others are in the same iteration


class Reductions:
    """Sums in the order of ranks, which all ranks find from the parts of all.

    So they don't depend on how a library adds them up, and what is decided by them is decided alike everywhere.

    Attributes
    ----------
    comm : MPI.Comm
    rank : int
    count : int
        How often all ranks have met.
    """

    def __init__(self, comm: MPI.Comm):
        self.comm, self.rank, self.count = comm, comm.rank, 0

    def halo(self, neighbours: Sequence[Neighbour], numbers: int, vectors: int = 1) -> Halo:
        """Return an exchange of so many numbers of each node, in each of some vectors."""
        return Halo(self.comm, neighbours, numbers, vectors)

    def reported(self, one: Any) -> list[Any]:
        """Return what each rank has to report, in their order."""
        return self.comm.allgather(one)

    def abort(self) -> None:
        """End all ranks at once."""
        self.comm.Abort(1)

    def gathered(self, numbers: Array) -> Array:
        """Return the numbers [...] of all ranks [ranks, ...]."""
        numbers = np.ascontiguousarray(numbers, float)
        out = np.empty((self.comm.size, *numbers.shape))
        request = self.comm.Iallgather(numbers, out)
        wait_until(request.Test, _NAP)
        self.count += 1
        return out

    def total(self, numbers: Array) -> Array:
        """Return the sum [...] over all ranks of numbers [...]."""
        return self.gathered(numbers).sum(axis=0)

    def totals(self, *numbers: float) -> tuple[float, ...]:
        """Return the sum of each of some numbers."""
        return tuple(self.total(np.array(numbers)).tolist())

    def largest(self, number: float) -> float:
        """Return the largest of the numbers of all ranks; not a number if one is none."""
        return float(self.gathered(np.array([number])).max())
