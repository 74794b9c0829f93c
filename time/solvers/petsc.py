"""Linear solvers of PETSc for implicit steps: conjugate gradients with algebraic multigrid, and BiCGStab."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from symplex.errors import MissingPackage, StepFailed
from symplex.fem.assembly.pattern import Array, Pattern
from symplex.time.solvers.krylov import LIMIT
from symplex.time.solvers.linear_solver import LinearSolver
from symplex.time.solvers.singular import loose_part, singular

PREFIX, UNSYMMETRIC = "symplex_", "symplex_unsymmetric_"  # of options in the environment variable PETSC_OPTIONS
EXACT_ENOUGH = 1e-3  # a residual at which rounding may end iterations
_ROUNDING = 0.5  # of the tolerance is asked for, since the residual that is carried on is not quite the true one
_STALLED = 0.9  # beginning again from the true residual must do better than this factor
_GROWTH = 1e20  # of a residual, beyond which iterations end
# The last where the largest eigenvalues of multigrid's levels are estimated by conjugate gradients.
_INDEFINITE = "DIVERGED_INDEFINITE_MAT", "DIVERGED_INDEFINITE_PC", "DIVERGED_PCSETUP_FAILED"


class PetscSolver(LinearSolver):
    """Conjugate gradients with PETSc's multigrid GAMG, or BiCGStab with block ILU(0) if the matrix is not symmetric.

    GAMG gets the rigid motions as near null space, and its aggregation is not smoothed. A symmetric matrix that turns
    out not to be positive definite is handed to BiCGStab, and counted in ``counts``. Options in the environment
    variable ``PETSC_OPTIONS`` come before all this: those that begin with ``symplex_`` for symmetric matrices, with
    ``symplex_unsymmetric_`` for others.

    Parameters
    ----------
    pattern : Pattern
    dim : int
    """

    _advice = 'Try a smaller step, or linear="auto".'

    def __init__(self, pattern: Pattern, dim: int):
        self._petsc, self._pattern, self._dim = petsc(), pattern, dim
        self._comm = self._communicator()
        index = self._petsc.IntType
        indptr, indices, self._source = self._rows()
        self._indptr, self._indices = indptr.astype(index), indices.astype(index)
        self._size = dim * (len(indptr) - 1)  # of the own part of vectors
        self._kept: list[Any] = []  # objects of PETSc, to be destroyed in the same order on all ranks
        self._positive = False

    # -- what several ranks have of their own ----------------------------------------------------------------------

    def _communicator(self) -> Any:
        return self._petsc.COMM_SELF

    def _rows(self) -> tuple[NDArray[np.integer], NDArray[np.integer], NDArray[np.intp] | slice]:
        """Return starts and columns of the rows that are here, and the places of their blocks in the pattern."""
        return self._pattern.indptr, self._pattern.indices, slice(None)

    def _centre(self, positions: Array) -> Array:
        """Return the mean [dim] of the positions of all nodes."""
        return positions.mean(axis=0)

    def _shared(self, x: Array) -> Array:
        """Return the solution at all nodes that are seen here, given that at own ones [n, dim]."""
        return x

    def _error(self, error: Any) -> Exception:
        """Return what an error of PETSc is to the step."""
        return StepFailed(f"PETSc's solver failed with its error {error.ierr}. {self._advice}")

    def _loose_part(self) -> str | None:
        """Return in words what can move without force, if that is known."""
        return loose_part(self._pattern, self._blocks)

    # -- matrices --------------------------------------------------------------------------------------------------

    def update(self, blocks: Array, symmetric: bool, positions: Array, end: Array | None = None) -> None:
        """Take the matrix with the given blocks [nnz, dim, dim], and set up its preconditioner."""
        self._blocks, self._positions = blocks, positions
        self._positive = symmetric
        self._take()

    def _take(self) -> None:
        """Set up the solver of the present matrix."""
        PETSc = self._petsc
        self._forget()
        self.counts["factorisations"] += 1
        size = ((self._size, None), (self._size, None))
        blocks = np.ascontiguousarray(self._blocks[self._source], PETSc.ScalarType)
        rows = self._indptr, self._indices, blocks.ravel()
        matrix = self._keep(PETSc.Mat().createBAIJ(size, self._dim, csr=rows, comm=self._comm))
        diagonal = matrix.getDiagonal(self._keep(matrix.createVecLeft())).getArray().real
        coupled = np.add.reduceat(np.count_nonzero(blocks, axis=2), self._indptr[:-1]).ravel()
        self._alone = (coupled == 1) & (diagonal != 0.0)
        self._diagonal = diagonal[self._alone]
        solver = self._keep(PETSc.KSP().create(self._comm))
        conditioner = solver.getPC()
        if self._positive:
            solver.setType("cg")
            solver.setNormType(PETSc.KSP.NormType.UNPRECONDITIONED)
            conditioner.setType("gamg")
            conditioner.setGAMGSmooths(0)  # smoothed, coarse matrices of tetrahedra are nearly full
        else:
            solver.setType("bcgs")
            solver.setPCSide(PETSc.PC.Side.RIGHT)
            conditioner.setType("bjacobi")  # of ranks, with ILU(0) in each
        solver.setOptionsPrefix(PREFIX if self._positive else UNSYMMETRIC)
        solver.setFromOptions()
        if conditioner.getType() != "bjacobi":  # few others know matrices of blocks
            matrix = self._keep(matrix.convert("aij", PETSc.Mat()))
            matrix.setBlockSize(self._dim)
        if self._positive:
            matrix.setOption(PETSc.Mat.Option.SPD, True)
            matrix.setNearNullSpace(self._keep(self._rigid_motions()))
        solver.setOperators(matrix)
        self._matrix, self._solver = matrix, solver
        self._x, self._rhs, self._left = (self._keep(matrix.createVecLeft()) for _ in range(3))

    def _rigid_motions(self) -> Any:
        own = self._positions[: self._size // self._dim]
        arms = (own - self._centre(self._positions)).ravel().astype(self._petsc.ScalarType)
        places = self._keep(self._petsc.Vec().createWithArray(arms, (self._size, None), self._dim, self._comm))
        return self._petsc.NullSpace().createRigidBody(places)

    def _keep(self, one: Any) -> Any:
        self._kept.append(one)
        return one

    def _forget(self) -> None:
        for one in reversed(self._kept):
            one.destroy()
        self._kept.clear()

    # -- solutions -------------------------------------------------------------------------------------------------

    @property
    def definite(self) -> bool:
        """Whether the matrix is symmetric, and no direction was met along which it is not positive."""
        return self._positive

    def solve(self, b: Array, tolerance: float) -> Array:
        """Return x [n, dim] with |A x − b| at most tolerance · |b|, or as small as rounding lets it be."""
        PETSc = self._petsc
        own = b.reshape(-1)[: self._size]
        self._rhs.setArray(own)
        largest = self._rhs.norm(PETSc.NormType.INFINITY)
        if largest == 0.0:
            return np.zeros_like(b)
        if not largest < np.inf:
            raise StepFailed("the right-hand side of the equations of the step is not finite.")
        left, reason = self._iterate(own / largest, tolerance)  # squares of its numbers neither overflow nor vanish
        if self._positive and reason in self._reasons(*_INDEFINITE):
            self.counts["indefinite"] += 1
            self._positive = False
            self._take()
            left, reason = self._iterate(own / largest, tolerance)
        if not (left <= tolerance or (reason > 0 and left <= EXACT_ENOUGH)):
            raise self._failure(left, tolerance, reason)
        x = np.zeros(b.shape)
        x.reshape(-1)[: self._size] = self._x.getArray().real * largest
        # Multigrid ties coordinates that nothing couples to the rest; those that are fixed must not move at all.
        x.reshape(-1)[: self._size][self._alone] = own[self._alone] / self._diagonal
        return self._shared(x)

    def _iterate(self, rhs: Array, tolerance: float) -> tuple[float, int]:
        """Solve for a right-hand side; return the residual as part of it, and why iterations have ended.

        Where the residual that is carried on is small enough, but the true one is not, they begin again from that.
        """
        self._rhs.setArray(rhs)
        self._x.set(0.0)
        step = self._left.duplicate()
        size, left = self._rhs.norm(), 1.0
        self._rhs.copy(self._left)
        while True:
            self._solver.setTolerances(
                rtol=max(_ROUNDING * tolerance / left, 1e-16), atol=0.0, divtol=_GROWTH, max_it=LIMIT
            )
            try:
                self._solver.solve(self._left, step)
            except self._petsc.Error as error:
                raise self._error(error) from error
            reason = self._solver.getConvergedReason()
            self.counts["iterations"] += self._solver.getIterationNumber()
            self._x.axpy(1.0, step)
            self._matrix.mult(self._x, self._left)
            self._left.aypx(-1.0, self._rhs)
            before, left = left, self._left.norm() / size
            if left <= tolerance or reason <= 0 or not left < _STALLED * before:
                step.destroy()
                return left, reason

    def _reasons(self, *names: str) -> set[int]:
        return {getattr(self._petsc.KSP.ConvergedReason, name) for name in names}

    def _failure(self, left: float, tolerance: float, reason: int) -> StepFailed:
        if (loose := self._loose_part()) is not None:
            return singular(self._pattern, self._blocks, loose)
        reasons = self._petsc.KSP.ConvergedReason
        names = [name for name in dir(reasons) if name.startswith("DIVERGED") and getattr(reasons, name) == reason]
        return StepFailed(
            f"PETSc's solver left a residual of {left:.1e} of the right-hand side, expected {tolerance:.1e}"
            f"{f' ({names[0]})' if names else ''}. {self._advice}"
        )


def petsc() -> ModuleType:
    """Return the module of PETSc, which leaves signals to Python."""
    try:
        import petsc4py  # pyright: ignore[reportMissingImports]

        # Of several ranks not all begin at the same time; matrices on all of them have their own communicator.
        alone = getattr(sys.modules.get("mpi4py.MPI"), "COMM_SELF", None)
        petsc4py.init(["symplex", "-no_signal_handler"], comm=alone)  # nothing, if it was initialised before
        from petsc4py import PETSc  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise MissingPackage(
            "the solver petsc needs the package petsc4py, which is not installed (Debian: python3-petsc4py; conda: "
            "petsc4py)."
        ) from error
    return PETSc
