"""Small motions of systems with frames, in the displacements and rotations of these."""

from __future__ import annotations

from functools import cached_property
from typing import Any, final

import numpy as np
import scipy.sparse as sp

from symplex.errors import InvalidSystem, NoEquilibrium
from symplex.fem.assembly.pattern import Array
from symplex.time.modes.small_motions import SmallMotions
from symplex.time.solvers.nodal_coordinates import NodalCoordinates

_DENSE = 300  # coordinates, up to which all frequencies are computed at once
_RANK = 1e-12  # of the squares of conditions of length one, below which they are redundant
_DELTA = 1e-9  # of the stiffness that joints have, where they are redundant
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
        self._joints = system.joints.at(motions.t)
        self._q, self._coordinates = motions.q, NodalCoordinates(system, system.frames)
        forces = system.gradient(motions.q)
        for load in system.loads.values():
            forces -= load(motions.t, motions.q, np.zeros_like(motions.q))
        stiffness = motions.symmetric_stiffness
        if system.joints:
            stiffness = stiffness.copy()
            multipliers = self._joints.balance(system, motions.q, forces)
            self._joints.add_stiffness(multipliers, system.joint_slots(), stiffness)
        self._fixed = self._coordinates.system.fixed
        self._basis = self._coordinates.basis(motions.q)
        self._K = self._matrix(stiffness, forces)
        self.n_free = len(np.array(self._K.diagonal(), float))
        self._M = self._matrix(system.mass_values[:, None, None] * np.eye(3), np.zeros_like(forces))
        self._G = sp.csr_array(self._conditions() @ self._basis)
        self.scale = float(np.mean(np.array(self._K.diagonal(), float) / np.array(self._M.diagonal(), float))) or 1.0

    def _matrix(self, blocks: Array, forces: Array) -> sp.csr_array:
        pattern, q = self._coordinates.system.pattern, self._q
        out = pattern.zeros(3)
        self._coordinates.write_matrix(blocks, (q, q), np.zeros(self._fixed.shape), forces, 1.0, out)
        matrix = self._basis.T @ sp.csr_array(pattern.matrix(out)) @ self._basis
        return sp.csr_array(0.5 * (matrix + matrix.T))

    def _conditions(self) -> sp.csr_array:
        """Return the gradients [c, 3 nodes] of the conditions of joints."""
        joints, f = self._joints, len(self._coordinates.frames)
        size = self._fixed.size
        if not joints:
            return sp.csr_array((0, size))
        rows = joints.resultants(self._q, joints.gradients(self._q)).reshape(joints.size, 2, 6)
        condition, side = np.nonzero(joints.frame >= 0)
        columns = 6 * joints.frame[condition, side][:, None] + np.arange(6)
        assert size >= 6 * f, "frames come first"
        values = rows[condition, side].ravel()
        return sp.csr_array((values, (np.repeat(condition, 6), columns.ravel())), shape=(joints.size, size))

    @property
    def stiffness(self) -> sp.csr_array:
        """K [free, free]."""
        return self._K

    def resultants(self, forces: Array) -> Array:
        """Return the forces and moments [free] of nodal forces [n, 3] in N."""
        out = np.zeros(self._fixed.shape)
        self._coordinates.write_resultants(self._q, forces, out)
        return self._basis.T @ out.ravel()

    def nodal(self, vectors: Array) -> Array:
        """Return the small motions [k, n, 3] of nodes of vectors [free, k]."""
        z = (self._basis @ vectors).T
        return np.array([self._coordinates.motions(self._q, one.reshape(-1, 3)) for one in z])

    def moved(self, vector: Array) -> Array:
        """Return the positions [n, 3] in m of nodes after finite translations and rotations [free]."""
        out = np.zeros_like(self._q)
        self._coordinates.write_increment(self._q, (self._basis @ vector).reshape(-1, 3), out)
        return self._q + out

    def lowest(self, n: int) -> tuple[Array, Array]:
        """Return the n lowest ω² [n] in 1/s², ascending, and their shapes [n, nodes, 3] with uᵀ M u = 1."""
        if not 1 <= n <= self.n_moving:
            raise InvalidSystem(
                f"natural_modes: n must be from 1 to {self.n_moving}, how many coordinates are free, got {n}."
            )
        squares, vectors = self._pairs(n)
        return squares, self.nodal(vectors)

    @cached_property
    def n_moving(self) -> int:
        """How many independent motions there are."""
        return self.n_free - self._rank

    @cached_property
    def _rank(self) -> int:
        """The rank of the conditions of joints."""
        if not self._joints:
            return 0
        scaled = self._scaled_conditions()
        return int(np.linalg.matrix_rank(scaled @ scaled.T, tol=_RANK, hermitian=True))

    @cached_property
    def _possible(self) -> Array:
        """The motions [free, k] that joints let be, orthonormal."""
        if not self._joints:
            return np.eye(self.n_free)
        return np.linalg.svd(self._scaled_conditions())[2][self._rank :].T

    def _scaled_conditions(self) -> Array:
        """Return the conditions as a full matrix with rows of length one."""
        G = self._G.toarray()
        norms = np.linalg.norm(G, axis=1, keepdims=True)
        return G / np.where(norms > 0.0, norms, 1.0)

    def _within_joints(self, shift: float) -> dict[str, Any]:
        """Return what lets the Lanczos method find motions that joints let be: (K − σM)⁻¹ among them."""
        if not self._joints:
            return {}
        from scipy.sparse.linalg import LinearOperator, splu

        n, c, K = self.n_free, self._joints.size, self._K - shift * self._M
        size = float(abs(K).max())
        norms = np.sqrt(np.asarray(self._G.multiply(self._G).sum(axis=1)).ravel())
        G = sp.csr_array(sp.diags_array(size / np.where(norms > 0.0, norms, 1.0)) @ self._G)
        whole = sp.csc_array(sp.block_array([[K, G.T], [G, -_DELTA * size * sp.eye_array(c)]]))
        factors = splu(whole)

        def solve(b: Array) -> Array:
            return factors.solve(np.concatenate([b.ravel(), np.zeros(c)]))[:n]

        return {"OPinv": LinearOperator((n, n), solve, dtype=float)}  # pyright: ignore[reportCallIssue]

    def _pairs(self, n: int) -> tuple[Array, Array]:
        from scipy.linalg import eigh
        from scipy.sparse.linalg import ArpackError, eigsh

        if self.n_free <= max(_DENSE, 2 * n + 2):
            Z = self._possible
            K, M = (Z.T @ (matrix @ Z) for matrix in (self._K, self._M))
            squares, vectors = eigh(K, M, subset_by_index=[0, n - 1])
            return squares, Z @ vectors
        start, shift = np.random.default_rng(0).standard_normal(self.n_free), -_SHIFT * self.scale
        try:
            options = {"sigma": shift, "v0": start} | self._within_joints(shift)
            squares, vectors = eigsh(sp.csc_array(self._K), n, sp.csc_array(self._M), **options)  # pyright: ignore
        except (ArpackError, RuntimeError) as error:
            raise NoEquilibrium(f"the natural frequencies were not found: {str(error).rstrip('.')}.") from error
        order = np.argsort(squares)
        return squares[order], vectors[:, order]
