"""The lowest eigenpairs of K u = ω² M u: all at once, or by the Lanczos method with shift and inversion.

The method of Lanczos (ARPACK) asks for products with (K − σM)⁻¹. With σ below the lowest ω² the matrix is positive
definite, which the pivots of its factors or the curvatures of conjugate gradients tell, so that no lower one is missed.
"""

from __future__ import annotations

import numpy as np

from symplex.errors import InvalidSystem, NoEquilibrium, StepFailed
from symplex.fem.energies.energy import Array
from symplex.time.modes.small_motions import SmallMotions
from symplex.time.solvers.linear import LinearOfModes, linear_solver
from symplex.time.solvers.linear_solver import LinearSolver

_DENSE = 200  # free coordinates, up to which all frequencies are computed at once
_DIRECT = 8_000  # free coordinates up to which sparse factors are as fast as iterations, and small
SHIFT = 1e-8  # of the mean of K/M, below zero: K of a body that nothing holds is singular
_LOWER = 100.0  # by which the shift goes down where the matrix is not positive definite
_SHIFTS = 8
_RESTARTS = 300
_TOLERANCE = 1e-10  # of the equations of each iteration
_CONVERGED = 1e-8  # of shapes, whose errors count twice in what the Ritz step makes of them


class _NotDefinite(Exception):
    """There are ω² below the shift."""


def require_modes(n: int, moving: int) -> None:
    """Refuse a number of modes that there are not, given how many coordinates move."""
    if not moving:
        raise InvalidSystem("no free coordinate has mass, so there are no natural modes. Let some be free.")
    if not 1 <= n <= moving:
        raise InvalidSystem(
            f"the number of natural modes must be from 1 to {moving}, the number of free coordinates with mass, got "
            f"{n}. Ask for fewer."
        )


def lowest(motions: SmallMotions, n: int, solver: LinearOfModes) -> tuple[Array, Array]:
    """Return the n lowest ω² [n] in 1/s², ascending, and their shapes [n, nodes, dim] with uᵀ M u = 1."""
    free, moving = motions.free, motions.n_moving
    require_modes(n, moving)
    if solver == "dense" or len(free) <= max(_DENSE, 2 * n + 2):
        return _all_at_once(motions, n)
    return _ritz(motions, _by_lanczos(motions, n, solver))


def _all_at_once(motions: SmallMotions, n: int) -> tuple[Array, Array]:
    """Return eigenpairs of full matrices, coordinates without mass eliminated."""
    from scipy.linalg import LinAlgError, eigh, solve

    K = motions.among_free(motions.matrix(motions.symmetric_stiffness)).toarray()
    M = motions.among_free(motions.mass).toarray()
    light = M.diagonal() == 0.0
    heavy = ~light
    follow = np.zeros((light.sum(), heavy.sum()))
    try:
        if light.any():
            follow = -solve(K[np.ix_(light, light)], K[np.ix_(light, heavy)], assume_a="sym")
        reduced = K[np.ix_(heavy, heavy)] + K[np.ix_(heavy, light)] @ follow
        squares, found = eigh(reduced, M[np.ix_(heavy, heavy)], subset_by_index=[0, n - 1])
    except LinAlgError as error:
        raise NoEquilibrium(f"the natural frequencies were not found: {error}.") from error
    vectors = np.zeros((len(K), n))
    vectors[heavy], vectors[light] = found, follow @ found
    return squares, motions.nodal(vectors)


def _ritz(motions: SmallMotions, vectors: Array) -> tuple[Array, Array]:
    """Return the best eigenpairs in a space of vectors [n·dim, k]: exact ones to second order of their error."""
    from scipy.linalg import eigh

    K = motions.pattern.matrix(motions.symmetric_stiffness)
    squares, turn = eigh(vectors.T @ (K @ vectors), vectors.T @ (motions.mass @ vectors))
    return squares, (vectors @ turn).T.reshape(-1, *motions.system.fixed.shape)


def scale(motions: SmallMotions) -> float:
    """Return the mean of K/M of free coordinates in 1/s², a measure of the largest ω²."""
    free = ~motions.system.fixed
    stiffness = np.abs(motions.on_diagonal(motions.symmetric_stiffness))[free].mean()
    return float(stiffness / motions.mass.diagonal()[free.ravel()].mean()) or 1.0


# -- Lanczos ------------------------------------------------------------------------------------------------------


def _by_lanczos(motions: SmallMotions, n: int, solver: LinearOfModes) -> Array:
    """Return the shapes [n·dim, n] of the lowest eigenpairs."""
    linear: LinearOfModes = solver if solver != "auto" else "sparse" if len(motions.free) <= _DIRECT else "auto"
    shift = -SHIFT * scale(motions)
    inverse = linear_solver(linear, motions.pattern, motions.system.dim)
    for _ in range(_SHIFTS):
        try:
            return _inverted(motions, inverse, n, shift)
        except _NotDefinite:
            shift *= _LOWER
    raise NoEquilibrium("the natural frequencies were not found: the stiffness has no lower bound by the masses.")


def _inverted(motions: SmallMotions, inverse: LinearSolver, n: int, shift: float) -> Array:
    from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigsh

    shape, held = motions.system.fixed.shape, motions.system.fixed.ravel()
    size = held.size
    inverse.update(motions.shifted(motions.symmetric_stiffness, -shift), True, motions.q)
    if not inverse.definite:
        raise _NotDefinite

    def solve(b: Array) -> Array:
        b = np.where(held, 0.0, b.reshape(-1))
        x = inverse.solve(b.reshape(shape), _TOLERANCE).reshape(-1)
        if not inverse.definite:
            raise _NotDefinite
        return np.where(held, 0.0, x)

    def weigh(x: Array) -> Array:
        return np.where(held, 0.0, motions.mass @ np.where(held, 0.0, x.reshape(-1)))

    operator = LinearOperator((size, size), solve, dtype=float)  # pyright: ignore[reportCallIssue]
    mass = LinearOperator((size, size), weigh, dtype=float)  # pyright: ignore[reportCallIssue]
    start = solve(weigh(np.random.default_rng(0).standard_normal(size)))  # the same for every call
    try:
        # Of the first operator only the size counts, where the inverse is given.
        options = {"which": "LM", "OPinv": operator, "v0": start, "maxiter": _RESTARTS, "tol": _CONVERGED}
        _, vectors = eigsh(mass, n, mass, sigma=shift, **options)  # pyright: ignore
    except ArpackNoConvergence as error:
        raise NoEquilibrium(
            f"the natural frequencies were not found: {len(error.eigenvalues)} of {n} after {_RESTARTS} restarts. Ask "
            "for fewer, or look for elements without stiffness against some motions (reduced ones)."
        ) from error
    except (ArpackError, StepFailed) as error:
        raise NoEquilibrium(f"the natural frequencies were not found: {str(error).rstrip('.')}.") from error
    return vectors
