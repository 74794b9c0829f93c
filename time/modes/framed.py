"""Small motions of systems with frames, in the displacements and rotations of these."""

from __future__ import annotations

from typing import final

import numpy as np
import scipy.sparse as sp

from symplex.errors import InvalidSystem, NoEquilibrium
from symplex.fem.assembly.pattern import Array
from symplex.time.modes.small_motions import SmallMotions
from symplex.time.solvers.nodal_coordinates import NodalCoordinates

_DENSE = 300  # coordinates, up to which all frequencies are computed at once
_SHIFT = 1e-8  # of the mean of K/M, below zero: K of a body that nothing holds is singular


@final
class FramedMotions:
    """Stiffness and mass of nodal coordinates about a state.

    K is that of particles for motions that keep frames rigid, with what forces on them have of it as they rotate.

    Parameters
    ----------
    motions : SmallMotions

    Attributes
    ----------
    n_free : int
        How many coordinates are free.
    scale : float
        The mean of K/M in 1/s², a measure of the largest ω².
    """

    def __init__(self, motions: SmallMotions):
        system = motions.system
        assert system.frames is not None, "it is for systems with frames"
        self._q, self._coordinates = motions.q, NodalCoordinates(system, system.frames)
        forces = system.gradient(motions.q)
        for load in system.loads.values():
            forces -= load(motions.t, motions.q, np.zeros_like(motions.q))
        self._fixed = self._coordinates.system.fixed
        self._basis = self._coordinates.basis(motions.q)
        self._K = self._matrix(motions.symmetric_stiffness, forces)
        self.n_free = len(np.array(self._K.diagonal(), float))
        self._M = self._matrix(system.mass_values[:, None, None] * np.eye(3), np.zeros_like(forces))
        self.scale = float(np.mean(np.array(self._K.diagonal(), float) / np.array(self._M.diagonal(), float))) or 1.0

    def _matrix(self, blocks: Array, forces: Array) -> sp.csr_array:
        pattern, q = self._coordinates.system.pattern, self._q
        out = pattern.zeros(3)
        self._coordinates.write_matrix(blocks, (q, q), np.zeros(self._fixed.shape), forces, 1.0, out)
        matrix = self._basis.T @ sp.csr_array(pattern.matrix(out)) @ self._basis
        return sp.csr_array(0.5 * (matrix + matrix.T))

    def lowest(self, n: int) -> tuple[Array, Array]:
        """Return the n lowest ω² [n] in 1/s², ascending, and their shapes [n, nodes, 3] with uᵀ M u = 1."""
        if not 1 <= n <= self.n_free:
            raise InvalidSystem(
                f"natural_modes: n must be from 1 to {self.n_free}, how many coordinates are free, got {n}."
            )
        squares, vectors = self._pairs(n)
        z = (self._basis @ vectors).T
        return squares, np.array([self._coordinates.motions(self._q, one.reshape(-1, 3)) for one in z])

    def _pairs(self, n: int) -> tuple[Array, Array]:
        from scipy.linalg import eigh
        from scipy.sparse.linalg import ArpackError, eigsh

        if self.n_free <= max(_DENSE, 2 * n + 2):
            return eigh(self._K.toarray(), self._M.toarray(), subset_by_index=[0, n - 1])
        start = np.random.default_rng(0).standard_normal(self.n_free)
        try:
            options = {"sigma": -_SHIFT * self.scale, "v0": start}
            squares, vectors = eigsh(sp.csc_array(self._K), n, sp.csc_array(self._M), **options)  # pyright: ignore
        except (ArpackError, RuntimeError) as error:
            raise NoEquilibrium(f"the natural frequencies were not found: {str(error).rstrip('.')}.") from error
        order = np.argsort(squares)
        return squares[order], vectors[:, order]
