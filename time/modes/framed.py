"""Small motions of systems with frames, in the displacements and rotations of these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, final

import numpy as np

from symplex.base.sparse import sp
from symplex.errors import NoEquilibrium
from symplex.fem.assembly.pattern import Array
from symplex.time.modes.eigenpairs import require_modes
from symplex.time.modes.linear_equations import LinearEquations
from symplex.time.modes.small_motions import SmallMotions
from symplex.time.solvers.nodal_coordinates import NodalCoordinates

_DENSE = 300  # coordinates, up to which all frequencies are computed at once
_SHIFT = 1e-8  # of the mean of K/M, below zero: K of a body that nothing holds is singular


@final
class FramedMotions:
    """Small motions about a state in nodal coordinates.

    K is that of particles for motions that keep frames rigid, with what forces on them have of it as they rotate.

    Parameters
    ----------
    motions : SmallMotions

    Attributes
    ----------
    basis : sparse [3n, k]
        Displacements of particles by coordinates.
    of_joints : float64 [nnz, 3, 3]
        Blocks of the stiffness that forces of joints have.
    gradients : sparse [c, 3n]
        Those of the conditions of joints.
    """

    def __init__(self, motions: SmallMotions):
        system, q = motions.system, motions.q
        assert system.frames is not None, "it is for systems with frames"
        self._motions = motions
        coordinates, joints = NodalCoordinates(system, system.frames), system.joints.at(motions.t)
        self._coordinates = coordinates
        self._P, self._free = system.frames.small_motions(q), coordinates.basis(q)
        self.basis = sp.csr_array(self._P @ self._free)
        self._forces = system.gradient(q)
        for load in system.loads.values():
            self._forces -= load(motions.t, q, np.zeros_like(q))
        self.of_joints = np.zeros_like(motions.stiffness)
        self.gradients = sp.csr_array((0, q.size))
        if joints:
            multipliers = joints.balance(system, q, self._forces)
            joints.add_stiffness(multipliers, system.joint_slots(), self.of_joints)
            values, columns = joints.gradients(q), 3 * joints.nodes[:, :, None] + np.arange(3)
            rows = np.repeat(np.arange(joints.size), 24)
            self.gradients = sp.csr_array((values.ravel(), (rows, columns.ravel())), shape=(joints.size, q.size))

    @cached_property
    def equations(self) -> LinearEquations:
        """The equations of small motions, with the symmetric part of K and without damping."""
        coordinates, blocks = self._coordinates, self._motions.symmetric_stiffness + self.of_joints
        reduced = coordinates.stiffness(blocks, self._motions.q, self._forces, symmetric=True)
        K = sp.csr_array(self._free.T @ coordinates.system.pattern.matrix(reduced) @ self._free)
        M = sp.csr_array(self.basis.T @ self._motions.mass @ self.basis)
        of_nodes = self._motions.matrix(self._motions.stiffness + self.of_joints), self.gradients
        return LinearEquations(self.basis, K, M, None, sp.csr_array(self.gradients @ self.basis), of_nodes)

    @cached_property
    def scale(self) -> float:
        """The mean of K/M in 1/s², a measure of the largest ω²."""
        K, M = (np.array(matrix.diagonal(), float) for matrix in (self.equations.stiffness, self.equations.mass))
        return float(np.mean(K / M)) or 1.0

    @property
    def n_moving(self) -> int:
        """How many independent motions there are."""
        return self.equations.n_moving

    def change_by_rotations(self, vector: Array, rotations: Mapping[str, Array]) -> sp.csr_array:
        """Return the change of K as frames rotate against the stencils of energies, which are not rotated.

        Frames with arms ρ + δρ move particles by θ × δρ more.

        Parameters
        ----------
        vector : float64 [k]
            A small motion, with the rotations of frames.
        rotations : mapping of str to float64 [m, 3]
            Those of the stencils of energies in it, taken off.
        """
        system, q = self._motions.system, self._motions.q
        frames = system.frames
        assert frames is not None, "it is for systems with frames"
        frame_of, arms = np.full(len(q), -1), np.zeros_like(q)
        frame_of[frames.nodes], arms[frames.nodes] = np.arange(len(frames))[:, None], frames.arms(q)
        turns = (self._free @ vector).reshape(-1, 3)[1 : 2 * len(frames) : 2]
        out = sp.csr_array((len(vector), len(vector)))
        for name, omega in rotations.items():
            nodes, H = system.energies[name].nodes, system.energies[name].hessian(q[system.energies[name].nodes])
            m, size = len(nodes), 3 * nodes.shape[1]
            flat = nodes.ravel()
            framed = frame_of[flat] >= 0
            starts = np.concatenate([[0], np.cumsum(framed)])
            f = frame_of[flat[framed]]
            delta = np.cross(turns[f] - np.repeat(omega, nodes.shape[1], axis=0)[framed], arms[flat[framed]])
            blocks = np.cross(np.eye(3), delta[:, None]).swapaxes(1, 2)  # θ × δρ
            coordinates = self._P.shape[1]  # pyright: ignore[reportOptionalSubscript]
            extra = sp.bsr_array((blocks, 2 * f + 1, starts), shape=(3 * len(flat), coordinates))
            local = sp.bsr_array((H, np.arange(m), np.arange(m + 1)), shape=(m * size, m * size))
            moved = sp.csr_array(self._P)[(3 * flat[:, None] + np.arange(3)).ravel()]
            part = self._free.T @ (extra.T @ (local @ moved)) @ self._free
            out = sp.csr_array(out + part + part.T)
        return out

    def lowest(self, n: int) -> tuple[Array, Array]:
        """Return the n lowest ω² [n] in 1/s², ascending, and their shapes [n, nodes, 3] with uᵀ M u = 1."""
        require_modes(n, self.n_moving)
        squares, vectors = self._pairs(n)
        return squares, self.equations.nodal(vectors).reshape(-1, *self._motions.q.shape)

    def _pairs(self, n: int) -> tuple[Array, Array]:
        from scipy.linalg import eigh
        from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

        equations = self.equations
        K, M, size = equations.stiffness, equations.mass, equations.size
        if size <= max(_DENSE, 2 * n + 2):
            Z = np.eye(size) if equations.possible is None else equations.possible
            squares, vectors = eigh(Z.T @ (K @ Z), Z.T @ (M @ Z), subset_by_index=[0, n - 1])
            return squares, Z @ vectors
        start, shift = np.random.default_rng(0).standard_normal(size), -_SHIFT * self.scale
        try:
            options: dict[str, Any] = {"sigma": shift, "v0": start}
            if len(equations.conditions.indptr) > 1:  # (K − σM)⁻¹ among motions that joints let be
                inverse = equations.solver(sp.csr_array(K - shift * M))
                options["OPinv"] = LinearOperator((size, size), inverse, dtype=float)  # pyright: ignore
            squares, vectors = eigsh(sp.csc_array(K), n, sp.csc_array(M), **options)
        except (ArpackError, RuntimeError) as error:
            raise NoEquilibrium(f"the natural frequencies were not found: {str(error).rstrip('.')}.") from error
        order = np.argsort(squares)
        return squares[order], vectors[:, order]


def equations_of(motions: SmallMotions) -> LinearEquations:
    """Return the equations of small motions with all of K and C, those of frames in nodal coordinates."""
    if motions.system.frames:
        found = FramedMotions(motions).equations
        if motions.system.differentiable_loads:  # some of which follow what they act on
            skew = motions.matrix(motions.stiffness - motions.symmetric_stiffness)
            K = sp.csr_array(found.stiffness + found.basis.T @ skew @ found.basis)
            found = replace(found, stiffness=K)
    else:
        size, of_nodes = motions.system.fixed.size, motions.matrix(motions.stiffness)
        basis = sp.csr_array(sp.csc_array(sp.eye_array(size))[:, motions.free])
        K, M = motions.among_free(of_nodes), motions.among_free(motions.mass)
        no_joints = sp.csr_array((0, len(motions.free))), sp.csr_array((0, size))
        found = LinearEquations(basis, K, M, None, no_joints[0], (of_nodes, no_joints[1]))
    if motions.damping is None:
        return found
    C = sp.csr_array(found.basis.T @ motions.matrix(motions.damping) @ found.basis)
    return replace(found, damping=C)
