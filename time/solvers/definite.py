"""Linear equations whose matrix M + s ∇²V must be symmetric positive definite, and where it is not."""

from __future__ import annotations

from typing import final

import numpy as np

from symplex.base.sparse import sp
from symplex.errors import StepFailed
from symplex.fem.assembly.pattern import Array, Pattern
from symplex.fem.compiled.kernels import kernel
from symplex.fem.system import System
from symplex.time.solvers.direct import SparseSolver
from symplex.time.solvers.linear import DENSE, Linear, linear_solver
from symplex.time.solvers.linear_solver import LinearSolver

_TOLERANCE = 1e-14  # of iterations, which end where rounding begins
_NARROW = 60  # coordinates off the diagonal up to which a band is faster than sparse factors: chains, thin trusses
_LARGEST = 20_000  # unknowns up to which the motion is looked for along which a matrix is not positive


@final
class DefiniteSolver:
    """Solves (M + s ∇²V(q)) x = b for one q after the other, fixed coordinates apart.

    Direct solvers tell whether the matrix is positive definite by the signs of their pivots, iterations by the
    curvatures they meet. Where each node has a matrix of its own (contact with obstacles and a lumped mass), it is
    solved node by node.

    Parameters
    ----------
    system : System
    linear : Linear
        As for Newton's method (see `symplex.time.solvers.newton.Newton`).
    """

    def __init__(self, system: System, linear: Linear):
        self._system = system
        self._linear: Linear = linear
        self._follow_pattern()
        lumped = np.asarray(system.mass if system.is_lumped else system.mass.diagonal())
        self._diagonal = lumped

    def _follow_pattern(self) -> None:
        """Take a solver for the pattern as it is now."""
        self._pattern, dim = self._system.pattern, self._system.dim
        self._blocks = self._pattern.zeros(dim)
        self._solver = _solver(self._linear, self._pattern, dim)

    def update(self, q: Array, s: float) -> None:
        """Take the matrix at the positions q [n, dim] in m with the factor s in s²."""
        if self._system.pattern is not self._pattern:
            self._follow_pattern()
        system, blocks = self._system, self._blocks
        system.hessian_blocks(q, blocks)
        indptr, indices = system.pattern.indptr, system.pattern.indices
        _shift(s, system.mass_values, self._diagonal, system.fixed, indptr, indices, blocks)
        if not np.isfinite(blocks.sum()):
            raise StepFailed("the stiffness is not finite.")
        self._s = s
        self._solver.update(blocks, True, q)
        if not self._solver.definite:
            raise self._indefinite()

    def solve(self, b: Array) -> Array:
        """Return x [n, dim]."""
        x = self._solver.solve(b, 0.0)
        if not self._solver.definite or self._system.dot(b, x) < 0.0:
            raise self._indefinite()
        return x

    def _indefinite(self) -> StepFailed:
        """Return the error about the motion along which the matrix is most negative."""
        system = self._system
        message = (
            "the matrix M + β dt² ∇²V is not positive definite: in compression or buckling the stiffness is negative"
        )
        found = self._most_negative() if system.n_nodes * system.dim <= _LARGEST else None
        advice = "Try a smaller step, or a method that solves nonlinear equations (Midpoint, EnergyMomentum)."
        if found is None:
            return StepFailed(f"{message}. {advice}")
        value, motion = found
        node = int(np.argmax(np.abs(motion).max(axis=1)))
        acting = [f"'{name}'" for name, energy in system.energies.items() if np.any(energy.nodes == node)]
        return StepFailed(
            f"{message}, most of all at node {node} ({', '.join(acting) or 'no energy'}), where ω² is about "
            f"{(value - 1.0) / self._s:.2e} /s². The step would have to be below {1.0 / np.sqrt(1.0 - value):.2g} of "
            f"what it is. {advice}"
        )

    def _most_negative(self) -> tuple[float, Array] | None:
        """Return the least eigenvalue of the matrix relative to the masses, and its motion [n, dim], if one is."""
        from scipy.sparse.linalg import ArpackError, eigsh

        system = self._system
        scale = sp.diags_array(np.repeat(1.0 / np.sqrt(self._diagonal), system.dim))
        matrix = sp.csr_array(scale @ system.pattern.matrix(self._blocks) @ scale)
        if system.n_nodes * system.dim <= DENSE:
            values, vectors = np.linalg.eigh(matrix.toarray())
        else:
            start = np.random.default_rng(0).standard_normal(system.n_nodes * system.dim)
            try:
                values, vectors = eigsh(matrix, k=1, which="SA", v0=start, tol=1e-3)  # pyright: ignore[reportArgumentType]
            except ArpackError:
                return None
        motion = np.asarray(scale @ vectors[:, 0]).reshape(system.n_nodes, system.dim)
        return (float(values[0]), motion) if values[0] < 0.0 else None


def _solver(kind: Linear, pattern: Pattern, dim: int) -> _NodeByNode | _Banded | SparseSolver | _Iterative:
    """Return the solver of a kind for symmetric positive definite matrices on a pattern."""
    size = pattern.n_nodes * dim
    if len(pattern.indices) == pattern.n_nodes:
        return _NodeByNode()
    if kind in ("auto", "dense"):
        banded = _Banded(pattern, dim)
        if kind == "dense" or size <= DENSE or banded.width <= _NARROW:
            return banded
    if kind == "sparse":
        return SparseSolver(pattern, dim, pivot=0.0)
    if kind in ("krylov", "petsc"):
        return _Iterative(linear_solver(kind, pattern, dim), _TOLERANCE)
    from symplex.time.solvers.automatic import AutomaticSolver  # compiled when first needed

    return _Iterative(AutomaticSolver(pattern, dim), _TOLERANCE)


@final
class _NodeByNode(LinearSolver):
    """Cholesky factors of matrices with blocks on the diagonal only."""

    _positive = False

    @property
    def definite(self) -> bool:
        """Whether the last matrix is positive definite: has a Cholesky factor."""
        return self._positive

    def update(self, blocks: Array, symmetric: bool, positions: Array, end: Array | None = None) -> None:
        """Factorise the matrix with the given blocks [n, dim, dim]."""
        self._factors = blocks.copy()
        self._positive = bool(_factorise(self._factors))

    def solve(self, b: Array, tolerance: float) -> Array:
        """Return x [n, dim]."""
        x = b.copy()
        _substitute(self._factors, x)
        return x


@final
class _Banded(LinearSolver):
    """Cholesky factors of a matrix in a band about its diagonal, with nodes in the order of Cuthill and McKee.

    Attributes
    ----------
    width : int
        How many coordinates off the diagonal the band reaches.
    """

    _positive = False

    @property
    def definite(self) -> bool:
        """Whether the last matrix is positive definite: has a Cholesky factor."""
        return self._positive

    def __init__(self, pattern: Pattern, dim: int):
        from scipy.linalg.lapack import dpbtrf, dpbtrs  # pyright: ignore[reportAttributeAccessIssue]

        self._factorise, self._substitute = dpbtrf, dpbtrs
        n = pattern.n_nodes
        graph = sp.csr_array((np.ones(len(pattern.indices)), pattern.indices, pattern.indptr), shape=(n, n))
        self._order = sp.csgraph.reverse_cuthill_mckee(graph, symmetric_mode=True)
        self._place = np.empty(n, np.int32)
        self._place[self._order] = np.arange(n)
        distance = np.abs(self._place[pattern.rows()] - self._place[pattern.indices]).max(initial=0)
        self.width = int(distance + 1) * dim - 1
        self._indptr, self._indices = pattern.indptr, pattern.indices
        self._size = n * dim

    def update(self, blocks: Array, symmetric: bool, positions: Array, end: Array | None = None) -> None:
        """Factorise the matrix with the given blocks [nnz, dim, dim]."""
        band = np.zeros((self._size, self.width + 1))
        _fill_band(blocks, self._indptr, self._indices, self._place, band)
        # LAPACK's order is by columns: its columns are the rows here.
        self._factors, info = self._factorise(band.T, lower=1, overwrite_ab=1)
        self._positive = info == 0

    def solve(self, b: Array, tolerance: float) -> Array:
        """Return x [n, dim]."""
        solution, _ = self._substitute(self._factors, b[self._order].reshape(-1), lower=1)
        x = np.empty_like(b)
        x[self._order] = solution.reshape(b.shape)
        return x


@final
class _Iterative(LinearSolver):
    """An iterative solver that has met no direction along which its matrix is not positive."""

    def __init__(self, solver: LinearSolver, tolerance: float):
        self._solver, self._tolerance = solver, tolerance

    def update(self, blocks: Array, symmetric: bool, positions: Array, end: Array | None = None) -> None:
        """Take the matrix with the given blocks [nnz, dim, dim]."""
        self._solver.begin()
        self._solver.update(blocks, symmetric, positions, end)

    def solve(self, b: Array, tolerance: float) -> Array:
        """Return x [n, dim]."""
        return self._solver.solve(b, max(tolerance, self._tolerance))

    @property
    def definite(self) -> bool:
        """Whether no such direction was met so far."""
        return self._solver.definite


@kernel
def _shift(s, mass_values, mass, fixed, indptr, indices, blocks):
    """Turn the blocks K into M + s K, the unit matrix times a mass where fixed."""
    dim = blocks.shape[1]
    for a in range(len(indptr) - 1):
        for t in range(indptr[a], indptr[a + 1]):
            b = indices[t]
            for i in range(dim):
                for j in range(dim):
                    if fixed[a, i] or fixed[b, j]:
                        blocks[t, i, j] = mass[a] if a == b and i == j else 0.0
                    else:
                        blocks[t, i, j] = s * blocks[t, i, j] + (mass_values[t] if i == j else 0.0)


@kernel
def _fill_band(blocks, indptr, indices, place, band):
    """Add the lower half of a matrix to band[column, row − column], with nodes in their places."""
    dim = blocks.shape[1]
    for a in range(len(indptr) - 1):
        for t in range(indptr[a], indptr[a + 1]):
            if place[a] < place[indices[t]]:
                continue
            for i in range(dim):
                row = place[a] * dim + i
                for j in range(dim):
                    column = place[indices[t]] * dim + j
                    if row >= column:
                        band[column, row - column] += blocks[t, i, j]


@kernel
def _factorise(blocks):
    """Turn the lower halves of the blocks [n, dim, dim] into their Cholesky factors; return whether all have one."""
    for n in range(len(blocks)):
        L = blocks[n]
        for j in range(L.shape[0]):
            for k in range(j):
                L[j, j] -= L[j, k] * L[j, k]
            if not L[j, j] > 0.0:
                return False
            L[j, j] = np.sqrt(L[j, j])
            for i in range(j + 1, L.shape[0]):
                for k in range(j):
                    L[i, j] -= L[i, k] * L[j, k]
                L[i, j] /= L[j, j]
    return True


@kernel
def _substitute(factors, x):
    """Turn right-hand sides x [n, dim] into solutions."""
    for n in range(len(x)):
        L = factors[n]
        for i in range(L.shape[0]):
            for k in range(i):
                x[n, i] -= L[i, k] * x[n, k]
            x[n, i] /= L[i, i]
        for i in range(L.shape[0] - 1, -1, -1):
            for k in range(i + 1, L.shape[0]):
                x[n, i] -= L[k, i] * x[n, k]
            x[n, i] /= L[i, i]
