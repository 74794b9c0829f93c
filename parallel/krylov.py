"""Iterative linear solvers on several ranks: the methods of one process, with incomplete factors on each rank."""

from __future__ import annotations

from typing import final

from symplex.fem.assembly.pattern import Pattern
from symplex.parallel.coarse import CoarseSpace, DeflatedCholesky, DeflatedStart
from symplex.parallel.part_system import SubdomainSystem
from symplex.parallel.ranked_rows import RankedRows, RankedTurned
from symplex.time.solvers.block_factor import IncompleteCholesky
from symplex.time.solvers.block_matrix import BlockPattern
from symplex.time.solvers.iterative import KrylovSolver
from symplex.time.solvers.rigid_start import RigidInitialGuess
from symplex.time.solvers.turned import RotatedTangent


@final
class RankedKrylov(KrylovSolver):
    """`KrylovSolver` with own rows on each rank, whose factors are of own columns: block Jacobi over ranks.

    To those of symmetric matrices belongs a coarse space (`symplex.parallel.coarse`).

    Parameters
    ----------
    pattern : Pattern
        Of own nodes and ghosts, which come after them.
    dim : int
    system : SubdomainSystem
    """

    _advice = "Try a smaller step, or fewer ranks."

    def __init__(self, pattern: Pattern, dim: int, system: SubdomainSystem):
        self._share, self._sums, self._fixed = system.part.share, system.sums, system.fixed
        super().__init__(pattern, dim)

    def _block_rows(self, pattern: Pattern, dim: int) -> BlockPattern:
        return RankedRows(pattern, dim, self._share, self._sums)

    def _rigid_start(self) -> RigidInitialGuess:
        assert isinstance(self._rows, RankedRows)
        self._space = CoarseSpace(self._rows, self._sums, self._fixed)
        return DeflatedStart(self._rows, self._space)

    def _incomplete(self) -> IncompleteCholesky:
        assert isinstance(self._rows, RankedRows)
        return DeflatedCholesky(self._rows, self._sums, self._space)

    def _turned_matrix(self) -> RotatedTangent:
        assert isinstance(self._rows, RankedRows)
        return RankedTurned(self._rows)

    def _require_held(self) -> None:
        """Nothing: in steps that have inertia nothing floats."""

    def _loose_part(self) -> str | None:
        """Return None: no rank sees all of the matrix."""
