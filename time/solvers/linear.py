"""The choice of a linear solver for implicit steps."""

from __future__ import annotations

from typing import Literal

from symplex.fem.assembly.pattern import Pattern
from symplex.time.solvers.direct import DenseSolver, SparseSolver
from symplex.time.solvers.linear_solver import LinearSolver

# Which solver: "dense" and "sparse" are direct, "krylov" and "petsc" iterate; "auto" takes the one for the
# size, and a direct one where iterations fail or would cost more.
Linear = Literal["auto", "dense", "sparse", "krylov", "petsc"]
LinearOfModes = Literal["auto", "dense", "sparse", "krylov"]

DENSE = 200  # unknowns up to which a dense factorisation is faster than a sparse one
_SPARSE = 2000  # unknowns up to which sparse factors are as fast as iterations


def require_solver(kind: Linear) -> None:
    """Check that the library of a solver is installed."""
    if kind == "petsc":
        from symplex.time.solvers.petsc import petsc

        petsc()


def linear_solver(kind: Linear, pattern: Pattern, dim: int) -> LinearSolver:
    """Return the solver of a kind for matrices on a pattern."""
    size = pattern.n_nodes * dim
    if kind == "dense" or (kind == "auto" and size <= DENSE):
        return DenseSolver(pattern, dim)
    if kind == "sparse" or (kind == "auto" and size <= _SPARSE):
        return SparseSolver(pattern, dim)
    if kind == "petsc":
        from symplex.time.solvers.petsc import PetscSolver

        return PetscSolver(pattern, dim)
    if kind == "krylov":
        from symplex.time.solvers.iterative import KrylovSolver  # compiled when first needed

        return KrylovSolver(pattern, dim)
    from symplex.time.solvers.automatic import AutomaticSolver

    return AutomaticSolver(pattern, dim)
