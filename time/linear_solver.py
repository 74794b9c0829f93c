"""The interface of linear solvers for implicit steps, whose matrices all have one fixed block pattern."""

from __future__ import annotations

from abc import ABC, abstractmethod

from symplex.fem.assembly import Array


class LinearSolver(ABC):
    """Solves A x = b for one matrix after the other.

    The matrix has dim × dim blocks on a fixed pattern, which is symmetric; fixed coordinates are in it as rows and
    columns of the unit matrix (times a mass).

    Parameters
    ----------
    pattern : Pattern
    dim : int
    """

    @abstractmethod
    def update(self, blocks: Array, symmetric: bool, positions: Array) -> None:
        """Take the matrix with the given blocks [nnz, dim, dim], which stay unchanged until the next update.

        The positions [n, dim] in m are for solvers that know rigid motions.

        Raises
        ------
        StepFailed
            If it is singular.
        """

    @abstractmethod
    def solve(self, b: Array, tolerance: float) -> Array:
        """Return x [n, dim] with |A x − b| at most tolerance · |b|; direct solvers are as exact as they can.

        Raises
        ------
        StepFailed
            If the tolerance is not reached.
        """
