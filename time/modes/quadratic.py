"""Modes of systems with damping or in frames that rotate: the quadratic eigenvalue problem (λ² M + λ C + K) u = 0."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from symplex.base.arguments import checked
from symplex.base.sparse import sp
from symplex.errors import NoEquilibrium
from symplex.fem.energies.energy import Array
from symplex.fem.system import State, System
from symplex.time.modes.eigenpairs import lowest
from symplex.time.modes.framed import FramedMotions, equations_of
from symplex.time.modes.linear_equations import LinearEquations
from symplex.time.modes.rigid_motions import round_off_of_squares
from symplex.time.modes.small_motions import SmallMotions

ComplexArray = NDArray[np.complexfloating]

_DENSE = 150  # free coordinates, up to which all are computed at once
_SHIFT = 0.05  # of the highest frequency that is looked for: to the right of zero, where nothing stable is
_ZERO = 1e-5  # of that, below which λ is zero: a double one is found to the root of rounding only
_REAL = 1e-9  # of λ that its imaginary part may be
_RESIDUAL = 1e-6
_NOTHING = 1e-14  # of 1/λ, which is zero
_TOLERANCE = 1e-10  # of 1/λ; rounding of ill-conditioned matrices forbids less
_RESTARTS = 200


@final
@dataclass(frozen=True)
class ComplexModes:
    """Motions Re(u e^{λt}).

    Attributes
    ----------
    eigenvalues : complex128 [k]
        λ in 1/s, with an imaginary part that is not negative; of a pair λ, λ* there is one. By size, ascending.
    shapes : complex128 [k, n, dim]
        In kg^(-1/2), uᴴ M u = 1, the largest component real; nodes do not all swing at one time. Zero where
        coordinates are held.
    """

    eigenvalues: ComplexArray
    shapes: ComplexArray

    @property
    def frequencies(self) -> Array:
        """Im λ/2π [k] in Hz; zero of what decays or grows without swinging."""
        return np.asarray(self.eigenvalues.imag / (2.0 * math.pi), float)

    @property
    def ratios(self) -> Array:
        """−Re λ/|λ| [k]: of critical damping; negative where a motion grows, NaN where λ is zero."""
        size = np.abs(self.eigenvalues)
        return np.divide(-self.eigenvalues.real, size, out=np.full(len(size), np.nan), where=size > 0.0)

    def __repr__(self) -> str:
        few = ", ".join(f"{f:.6g}" for f in self.frequencies[:6])
        return f"ComplexModes({len(self.eigenvalues)}: {few}{', …' if len(self.eigenvalues) > 6 else ''} Hz)"


@checked
def complex_modes(system: System, state: State, n: int) -> ComplexModes:
    """Return the lowest modes of a system about a state, with all that depends on positions and velocities.

    C is −∂f/∂v of loads: of dampers and viscous stresses, and of Coriolis forces, whose part of C is skew, so that
    λ stays imaginary. The method is that of Arnoldi for the inverse of λ² M + λ C + K at a small shift, by sparse
    factors; up to 150 coordinates all modes are computed at once.

    Parameters
    ----------
    system : System
    state : State
        An equilibrium; its velocity is left out.
    n : int
        How many, at most as many as there are free coordinates with mass.

    Raises
    ------
    InvalidSystem
        If n is out of range.
    NoEquilibrium
        If the method finds no modes.
    """
    motions = SmallMotions(system, state)
    framed = FramedMotions(motions) if system.frames else None
    squares, natural = lowest(motions, n, "auto") if framed is None else framed.lowest(n)
    speed = float(np.sqrt(np.abs(squares).max())) or 1.0  # with time in units of 1/speed numbers are about 1
    zero = _ZERO  # slender beams round off more
    if framed is not None:
        zero = max(zero, np.sqrt(round_off_of_squares(motions, natural)) / speed)
    equations = _in_units(equations_of(motions), speed)
    few = equations.size <= _DENSE
    found = _all_at_once(equations) if few else _by_arnoldi(_inverse(equations), equations.size, n)
    values, vectors = _chosen(*found, n, zero)
    _require_solved(equations, values, vectors)
    weighed = np.sqrt(np.einsum("ik,ik->k", vectors.conj(), equations.mass @ vectors).real / speed**2)
    shapes = equations.nodal(vectors / weighed).reshape(-1, *system.fixed.shape)
    flat = shapes.reshape(len(values), -1)
    first = flat[np.arange(len(values)), np.argmax(np.abs(flat), axis=1)]
    return ComplexModes(speed * values, np.asarray(shapes * (np.abs(first) / first)[:, None, None], complex))


def _in_units(equations: LinearEquations, speed: float) -> LinearEquations:
    """Return equations with time in units of 1/speed, and a matrix of damping."""
    C = equations.damping
    damping = sp.csr_array(equations.stiffness.shape) if C is None else C * speed
    return replace(equations, mass=equations.mass * speed**2, damping=damping)


def _inverse(equations: LinearEquations) -> Callable[[Array], Array]:
    """Return [u, λu] ↦ (A − σB)⁻¹ B [u, λu], whose eigenvalues are 1/(λ − σ)."""
    K, C, M = equations.stiffness, equations.damping, equations.mass
    assert C is not None, "in units of time they have it"
    size = equations.size
    try:
        solve = equations.solver(sp.csr_array(K + _SHIFT * C + _SHIFT**2 * M))
    except RuntimeError as error:
        raise NoEquilibrium(f"the complex modes were not found: {error}.") from error

    def apply(z: Array) -> Array:
        u = z[:size]
        x = -solve(M @ z[size:] + C @ u + _SHIFT * (M @ u))
        return np.concatenate([x, _SHIFT * x + u])

    return apply


def _all_at_once(equations: LinearEquations) -> tuple[ComplexArray, ComplexArray]:
    """Return all eigenpairs of a full matrix, in the motions that joints let be."""
    Z = equations.possible
    if Z is not None:
        parts = equations.stiffness, equations.mass, equations.damping
        K, M, C = (sp.csr_array(Z.T @ (part @ Z)) for part in parts if part is not None)
        none = sp.csr_array((0, Z.shape[1]))
        equations = replace(equations, stiffness=K, mass=M, damping=C, conditions=none)
    size = equations.size
    values, vectors = np.linalg.eig(_inverse(equations)(np.eye(2 * size)))
    finite = np.abs(values) > _NOTHING  # coordinates without mass have none
    found = np.asarray(vectors[:size, finite], complex)
    return np.asarray(_SHIFT + 1.0 / values[finite], complex), found if Z is None else np.asarray(Z @ found, complex)


def _by_arnoldi(inverse: Callable[[Array], Array], size: int, n: int) -> tuple[ComplexArray, ComplexArray]:
    """Return the eigenpairs that are nearest to the shift."""
    from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigs

    operator = LinearOperator((2 * size, 2 * size), inverse, dtype=float)  # pyright: ignore[reportCallIssue]
    requested = min(2 * n + 4, 2 * size - 2)
    start = inverse(np.random.default_rng(0).standard_normal(2 * size))
    try:
        found: Any = eigs(operator, requested, which="LM", v0=start, tol=_TOLERANCE, maxiter=_RESTARTS)  # pyright: ignore
    except ArpackNoConvergence as error:
        raise NoEquilibrium(
            f"the complex modes were not found: {len(error.eigenvalues)} of {requested} after {_RESTARTS} restarts. "
            f"Ask "
            "for fewer, or look for elements without stiffness against some motions (reduced ones)."
        ) from error
    except ArpackError as error:
        raise NoEquilibrium(f"the complex modes were not found: {str(error).rstrip('.')}.") from error
    inverses, vectors = found
    return np.asarray(_SHIFT + 1.0 / inverses, complex), np.asarray(vectors[:size], complex)


def _chosen(values: ComplexArray, vectors: ComplexArray, n: int, least: float) -> tuple[ComplexArray, ComplexArray]:
    """Return the lowest n, one of each pair."""
    zero = np.abs(values) <= least
    real = np.abs(values.imag) <= _REAL * np.abs(values)
    values = np.where(zero, 0.0, np.where(real, values.real, values))
    keep = np.flatnonzero(~zero & (values.imag >= 0.0))
    nothing = np.flatnonzero(zero)
    chosen = np.concatenate([nothing[: -(-len(nothing) // 2)], keep[np.argsort(np.abs(values[keep]), kind="stable")]])
    if len(chosen) < n:
        raise NoEquilibrium(f"the complex modes were not found: {len(chosen)} of {n}; ask for fewer.")
    return values[chosen[:n]], vectors[:, chosen[:n]]


def _require_solved(equations: LinearEquations, values: ComplexArray, vectors: ComplexArray) -> None:
    """Refuse what does not solve the equations."""
    K, C, M = equations.stiffness, equations.damping, equations.mass
    assert C is not None, "in units of time they have it"
    parts = K @ vectors, (C @ vectors) * values, (M @ vectors) * values**2
    left = np.linalg.norm(equations.without_reactions(sum(parts)), axis=0)
    size = sum(np.linalg.norm(part, axis=0) for part in parts)
    nearly_zero = np.abs(values) == 0.0
    wrong = (left > _RESIDUAL * size) & ~nearly_zero
    if wrong.any():
        raise NoEquilibrium(
            f"the complex modes were not found: mode {int(np.argmax(wrong)) + 1} leaves a residual of "
            f"{float((left / size)[wrong].max()):.1e}."
        )
