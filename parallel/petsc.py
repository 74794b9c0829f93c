"""PETSc as the linear solver of implicit steps on several ranks: its matrices have the rows of all of them."""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from symplex.fem.assembly.pattern import Array, Pattern
from symplex.parallel.part_system import SubdomainSystem
from symplex.time.solvers.petsc import PetscSolver


@final
class RankedPetsc(PetscSolver):
    """`PetscSolver` with own rows on each rank, of the numbers that follow those of the ranks before.

    It takes what `RankedKrylov` does.
    """

    _advice = "Try a smaller step."

    def __init__(self, pattern: Pattern, dim: int, system: SubdomainSystem):
        self._share, self._sums, self._halo = system.part.share, system.sums, system.halo
        super().__init__(pattern, dim)

    def _communicator(self) -> Any:
        return self._sums.comm

    def _rows(self) -> tuple[NDArray[np.integer], NDArray[np.integer], NDArray[np.intp] | slice]:
        pattern, own = self._pattern, self._share.ghosts
        first = sum(self._sums.reported(own)[: self._sums.comm.rank])
        numbers = np.zeros(pattern.n_nodes)
        numbers[:own] = np.arange(first, first + own)
        numbers = self._halo.shared(numbers).astype(np.int64)
        end = pattern.indptr[own]
        columns = numbers[pattern.indices[:end]]
        source = np.lexsort((columns, pattern.rows()[:end]))
        return pattern.indptr[: own + 1], columns[source], source

    def _centre(self, positions: Array) -> Array:
        own = self._share.ghosts
        return self._sums.total(positions[:own].sum(axis=0)) / self._sums.total(np.array([own]))

    def _shared(self, x: Array) -> Array:
        return self._halo.shared(x)

    def _error(self, error: Any) -> Exception:
        """Return the error itself, which ends all ranks: others may wait for this one."""
        return error

    def _loose_part(self) -> str | None:
        """Return None: no rank sees all of the matrix."""
