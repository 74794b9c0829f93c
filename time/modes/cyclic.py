"""Modes of a structure of equal sectors from one of them: a complex Hermitian problem for each nodal diameter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, final

import numpy as np
from numpy.typing import NDArray

from symplex.base.arguments import checked
from symplex.base.quantities import whole
from symplex.base.sparse import sp
from symplex.errors import InvalidSystem, NoEquilibrium
from symplex.fem.couplings.cyclic import MOST_SECTORS, CyclicSymmetry
from symplex.fem.energies.energy import Array, IntArray
from symplex.fem.system import State, System
from symplex.time.modes.eigenpairs import SHIFT, scale
from symplex.time.modes.rigid_motions import round_off_of_squares
from symplex.time.modes.small_motions import SmallMotions

_DENSE = 300  # coordinates up to which all frequencies are computed at once
_LOWER = 100.0  # by which the shift goes down where the matrix is not positive definite
_SHIFTS = 8
_RESTARTS = 300
_CONVERGED = 1e-12

Complex = NDArray[np.complexfloating]


@final
@dataclass(frozen=True)
class CyclicModes:
    """Natural vibrations of a structure of N equal sectors, Re(u e^{iknα} e^{iωt}) in the k-th of them.

    Of a diameter n with 0 < n < N/2 each frequency is that of two modes of the whole: waves that travel in both
    directions, or these standing.

    Attributes
    ----------
    diameters : int32 [k]
        The nodal diameters, ascending.
    frequencies : float64 [k]
        In Hz, ascending for each diameter; negative where the state is not stable.
    shapes : complex128 [k, n, 3]
        In kg^(-1/2) in the sector, with uᴴ M u = 1 there.
    """

    diameters: IntArray
    frequencies: Array
    shapes: Complex

    def of_diameter(self, n: int) -> Array:
        """Return the frequencies in Hz of a nodal diameter."""
        return self.frequencies[self.diameters == n]

    def __repr__(self) -> str:
        some = ", ".join(f"{n}: {f:.6g}" for n, f in zip(self.diameters[:6], self.frequencies[:6], strict=True))
        return f"CyclicModes({len(self.frequencies)}: {some}{', …' if len(self.frequencies) > 6 else ''} Hz)"


@checked
def cyclic_modes(
    system: System,
    state: State,
    symmetry: CyclicSymmetry,
    n: Annotated[int, whole(1, 100_000)],
    diameters: Sequence[Annotated[int, whole(0, MOST_SECTORS)]] | None = None,
) -> CyclicModes:
    """Return the lowest natural frequencies of a structure of which the system is one sector.

    K_n a = ω² M_n a with K_n = Tᴴ K T, where u = T a has the symmetry exactly: what the nodes of one side do follows
    from the other side. As in `natural_modes` what depends on velocities is left out. The method is that of Lanczos
    with a shift below all ω², by sparse factors; up to 300 coordinates all are computed at once.

    Parameters
    ----------
    system : System
        The sector, without an energy of the symmetry.
    state : State
        An equilibrium of it, in which all sectors are alike.
    symmetry : CyclicSymmetry
    n : int
        How many for each diameter; there may be fewer.
    diameters : sequence of int, optional
        Nodal diameters from 0 to N/2; default: all of these.

    Raises
    ------
    InvalidSystem
        If a diameter is out of range, sizes do not match, or supports on both sides are not alike.
    NoEquilibrium
        If the method finds no frequencies.
    """
    most = symmetry.sectors // 2
    asked = sorted(set(range(most + 1) if diameters is None else diameters))
    if not asked or asked[-1] > most:
        raise InvalidSystem(f"cyclic_modes: diameters must be from 0 to {most}, half of the sectors, got {asked}.")
    if symmetry.points.shape != state.q.shape:
        raise InvalidSystem("cyclic_modes: the symmetry is of other nodes than those of the system.")
    if system.frames:
        raise InvalidSystem("cyclic_modes does not take frames (beams, shells, rigid bodies); take solids.")
    motions = SmallMotions(system, state)
    K, M = sp.csr_array(motions.matrix(motions.symmetric_stiffness)), motions.mass
    unit = SHIFT * scale(motions)
    found: list[tuple[int, Array, Complex]] = []
    for diameter in asked:
        T = symmetry.motions(diameter, system.fixed)
        squares, vectors = _lowest(sp.csr_array(T.conj().T @ K @ T), sp.csr_array(T.conj().T @ M @ T), n, unit)
        found.append((diameter, squares, np.asarray((T @ vectors).T, complex)))
    shapes = np.concatenate([some for _, _, some in found])
    squares = np.concatenate([some for _, some, _ in found])
    rounding = max(
        round_off_of_squares(motions, np.asarray(part, float).reshape(-1, *state.q.shape))
        for part in (shapes.real, shapes.imag)
    )
    squares = np.where(np.abs(squares) <= max(rounding, 1e-3 * unit), 0.0, squares)
    largest = np.take_along_axis(shapes, np.abs(shapes).argmax(axis=1)[:, None], axis=1)
    shapes = (shapes * (np.abs(largest) / largest)).reshape(-1, *state.q.shape)
    of = np.concatenate([np.full(len(some), diameter, np.int32) for diameter, some, _ in found])
    return CyclicModes(of, np.sign(squares) * np.sqrt(np.abs(squares)) / (2.0 * math.pi), shapes)


def _lowest(K: sp.csr_array, M: sp.csr_array, n: int, unit: float) -> tuple[Array, Complex]:
    """Return the lowest ω² [k] in 1/s² of Hermitian matrices, ascending, and vectors [r, k] with aᴴ M a = 1."""
    size = len(K.indptr) - 1
    moving = int(np.count_nonzero(np.abs(M.diagonal()) > 0.0))
    if not moving:
        return np.empty(0), np.empty((size, 0), complex)
    n = min(n, moving)
    for k in range(_SHIFTS):
        shift = -unit * _LOWER**k
        try:
            inverses, vectors = _dense(K, M, n, shift) if size <= max(_DENSE, n + 2) else _sparse(K, M, n, shift)
        except _NotDefinite:
            continue
        weights = np.einsum("ik,ik->k", vectors.conj(), M @ vectors).real
        order = np.argsort(-inverses)
        return shift + 1.0 / inverses[order], (vectors / np.sqrt(weights))[:, order]
    raise NoEquilibrium("the frequencies of the sector were not found: the stiffness has no lower bound by the masses.")


class _NotDefinite(Exception):
    """There are ω² below the shift."""


def _dense(K: sp.csr_array, M: sp.csr_array, n: int, shift: float) -> tuple[Array, Complex]:
    """Return 1/(ω² − σ) [n], and vectors, of full matrices; M may be singular."""
    from scipy.linalg import LinAlgError, eigh

    size = len(K.indptr) - 1
    try:
        return eigh(M.toarray(), (K - shift * M).toarray(), subset_by_index=[size - n, size - 1])
    except LinAlgError as error:
        raise _NotDefinite from error


def _sparse(K: sp.csr_array, M: sp.csr_array, n: int, shift: float) -> tuple[Array, Complex]:
    """Return the same by Lanczos' method with factors that show by their pivots whether K − σM is definite."""
    from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigs, splu

    size = len(K.indptr) - 1
    options: Any = {"SymmetricMode": True}
    matrix = sp.csc_matrix(K - shift * M)
    try:
        factors = splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
    except RuntimeError as error:
        raise _NotDefinite from error
    pivots = factors.U.diagonal()
    if not (np.array_equal(factors.perm_r, factors.perm_c) and (pivots.real > 0.0).all()):
        raise _NotDefinite
    # M^½ (K − σM)⁻¹ M^½ would need roots; (K − σM)⁻¹ M has the same eigenvalues, which are real.
    operator = LinearOperator((size, size), lambda a: factors.solve(M @ a), dtype=complex)  # pyright: ignore
    start = factors.solve(M @ np.random.default_rng(0).standard_normal(size).astype(complex))
    try:
        precise: Any = {"tol": _CONVERGED, "maxiter": _RESTARTS}
        found: Any = eigs(operator, min(n + 2, size - 2), which="LM", v0=start, **precise)
    except ArpackNoConvergence as error:
        raise NoEquilibrium(
            f"the frequencies of the sector were not found: {len(error.eigenvalues)} of {n} after {_RESTARTS} "
            "restarts. Ask for fewer."
        ) from error
    except ArpackError as error:
        raise NoEquilibrium(f"the frequencies of the sector were not found: {str(error).rstrip('.')}.") from error
    return _ritz(K - shift * M, M, found[1], n)


def _ritz(A: sp.csr_array, M: sp.csr_array, vectors: Complex, n: int) -> tuple[Array, Complex]:
    """Return the best eigenpairs of M a = μ A a in a space of vectors, which are orthogonal where values are equal."""
    from scipy.linalg import eigh

    basis = np.linalg.qr(vectors)[0]
    values, turn = eigh(basis.conj().T @ (M @ basis), basis.conj().T @ (A @ basis))
    return values[-n:], np.asarray(basis @ turn[:, -n:], complex)
