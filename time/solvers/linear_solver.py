"""The interface of linear solvers for implicit steps, whose matrices all have one fixed block pattern."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from symplex.fem.assembly.pattern import Array, Pattern

# What solvers count: matrices that were factorised (incompletely, or for which PETSc was set up), iterations of all
# solutions; and of the matrices those that were shifted to have incomplete factors, those that are symmetric but not
# positive definite, and those that were factorised completely where iterations failed or would have cost more.
COUNTS = ("factorisations", "iterations", "shifted", "indefinite", "direct")


_TINY = float(np.finfo(float).tiny)


def take_out(pattern: Pattern, fixed: NDArray[np.bool_], blocks: Array) -> None:
    """Make rows and columns of fixed coordinates [n, dim] in blocks [nnz, dim, dim] those of a unit matrix.

    Times the largest number of the blocks, so that nothing is compared with numbers of another size.
    """
    stiffness = max(float(np.abs(blocks).max(initial=0.0)), _TINY)
    blocks[pattern.held(fixed)] = 0.0
    node, axis = np.nonzero(fixed)
    blocks[pattern.diagonal()[node], axis, axis] = stiffness


class LinearSolver(ABC):
    """Solves A x = b for one matrix after the other.

    The matrix has dim × dim blocks on a fixed pattern, which is symmetric; fixed coordinates are in it as rows and
    columns of the unit matrix (times a mass).

    Parameters
    ----------
    pattern : Pattern
    dim : int
    """

    @cached_property
    def counts(self) -> dict[str, int]:
        """How often each of `COUNTS` was since the start."""
        return dict.fromkeys(COUNTS, 0)

    def begin(self) -> None:  # noqa: B027 - most solvers keep nothing
        """Forget what was learned from the matrices before: a step begins, perhaps of a run that is resumed."""

    @abstractmethod
    def update(self, blocks: Array, symmetric: bool, positions: Array, end: Array | None = None) -> None:
        """Take the matrix with the given blocks [nnz, dim, dim], which stay unchanged until the next update.

        The positions [n, dim] in m, those of the nodes on which the forces of the matrix act, are for solvers that know
        rigid motions. The forces of discrete gradients act at the middle and change with the end, which is then given
        as well, for solvers that turn columns back (`symplex.time.solvers.turned`).
        """

    @property
    @abstractmethod
    def definite(self) -> bool:
        """Whether the matrix, if symmetric, is positive definite: by its pivots, or as far as iterations have seen."""

    @abstractmethod
    def solve(self, b: Array, tolerance: float) -> Array:
        """Return x [n, dim] with |A x − b| at most tolerance · |b|; direct solvers are as exact as they can."""
