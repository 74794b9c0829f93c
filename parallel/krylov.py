"""Iterative linear solvers on several ranks: the methods of one process, with incomplete factors on each rank."""

from __future__ import annotations

from typing import final

from symplex.fem.assembly.pattern import Pattern
from symplex.parallel.part_system import SubdomainSystem
from symplex.parallel.ranked_rows import RankedRows, RankedTurned
from symplex.time.solvers.block_matrix import BlockPattern
from symplex.time.solvers.iterative import KrylovSolver
from symplex.time.solvers.turned import RotatedTangent


@final
class RankedKrylov(KrylovSolver):
    """`KrylovSolver` with own rows on each rank, whose factors are of own columns: block Jacobi over ranks.

    To those of symmetric matrices belongs a coarse space (`symplex.time.solvers.coarse`).

    Parameters
    ----------
    pattern : Pattern
        Of own nodes and ghosts, which come after them.
    dim : int
    system : SubdomainSystem
    """

    _advice = "Try a smaller step, or fewer ranks."

    def __init__(self, pattern: Pattern, dim: int, system: SubdomainSystem):
        self._share, self._sums = system.part.share, system.sums
        super().__init__(pattern, dim)

    def _block_rows(self, pattern: Pattern, dim: int) -> BlockPattern:
        return RankedRows(pattern, dim, self._share, self._sums)

    def _turned_matrix(self) -> RotatedTangent:
        assert isinstance(self._rows, RankedRows)
        return RankedTurned(self._rows)

    def _require_held(self) -> None:
        """Nothing: in steps that have inertia nothing floats."""

    def _loose_part(self) -> str | None:
        """Return None: no rank sees all of the matrix."""
