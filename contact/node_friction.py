"""Friction of nodes with any rigid obstacle, from the forces of the contact.

w = Σ_a c_a v_a of the nodes of the stencil, 1 of the node and what is left of those that carry the obstacle, so that
c_a f are the forces on them. Of a frame Σ_a c_a x_a = 0 as well: their moments sum to zero. f·w = −t·σ is never
positive.
"""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from symplex.contact.friction_law import FrictionLaw
from symplex.contact.friction_loops import friction_of, friction_rows, slip_of
from symplex.contact.rigid import ObstacleContact
from symplex.fem.actions.increment_load import Factors
from symplex.fem.assembly.copying import Copyable
from symplex.fem.assembly.forms import LoadForm
from symplex.fem.assembly.pattern import Array, IntArray, scatter_blocks, scatter_vectors
from symplex.fem.compiled.kernels import formula, kernel


@final
class NodeFriction(Copyable):
    """The friction of the nodes of any contact with an obstacle."""

    def call(self, form: LoadForm) -> None:
        """Return nothing: forces are found from Python."""

    def __init__(self, contact: ObstacleContact, friction: FrictionLaw):
        self._contact, self._friction = contact, friction

    @property
    def nodes(self) -> IntArray:
        """The nodes [m, 1], or each with those that carry the obstacle [m, k]."""
        return self._contact.nodes

    def add(self, q0: Array, q1: Array, v: Array, out: Array) -> float:
        """Add the forces to out [n, dim]; return a sum that is finite if all are."""
        rows, F, w, shares = self._acting(q0, q1, v)
        f = np.empty_like(F)
        check = _set_forces(F, w, self._friction, f)
        scatter_vectors(shares[:, :, None] * f[:, None], self.nodes[rows], out)
        return check

    def add_derivatives(self, q0: Array, q1: Array, v: Array, by: Factors, slots: IntArray, out: Array) -> float:
        """Add 2 by.q ∂f/∂q1 + by.v ∂f/∂v to the blocks [nnz, dim, dim]; return a sum that is finite if all are.

        The c_a of a frame are taken as constants: the derivative with positions is that of the forces F alone.
        """
        rows, F, w, shares = self._acting(q0, q1, v)
        (m, k), dim = shares.shape, v.shape[1]
        by_force, by_velocity = np.empty((2, m, dim, dim))
        check = _set_derivatives(F, w, self._friction, by.secant, by_force, by_velocity)
        nodes = self.nodes
        of_first = self._contact.discrete_hessian(q0[nodes], q1[nodes])[rows, :dim]  # −∂F/∂q1
        change = by.v * np.einsum("mij,ma->miaj", by_velocity, shares).reshape(m, dim, k * dim)
        change -= 2.0 * by.q * by_force @ of_first
        blocks = np.einsum("ma,mij->maij", shares, change).reshape(m, k * dim, k * dim)
        scatter_blocks(blocks, slots[rows], out)
        return check

    def _acting(self, q0: Array, q1: Array, v: Array) -> tuple[NDArray[np.intp], Array, Array, Array]:
        """Return which stencils are in contact, and their F and w [m, dim] and c [m, k]."""
        nodes = self.nodes
        F = -self._contact.discrete_gradient(q0[nodes], q1[nodes])[:, 0]
        rows = np.flatnonzero(F.any(axis=1))
        acting = nodes[rows]
        shares = self._contact.shares(0.5 * (q0[acting] + q1[acting]))
        return rows, F[rows], np.einsum("ma,mai->mi", shares, v[acting]), shares


@formula
def _vector(u):
    """Return a vector of up to three components with three."""
    return u[0], u[1] if len(u) > 1 else 0.0, u[2] if len(u) > 2 else 0.0


@kernel
def _set_forces(F, w, law, out):
    """Set f [m, dim]; return a sum that is finite if all are."""
    check = 0.0
    for e in range(len(F)):
        f = friction_of(slip_of(_vector(F[e]), _vector(w[e])), law)
        for i in range(F.shape[1]):
            out[e, i] = f[i]
            check += f[i]
    return check


@kernel
def _set_derivatives(F, w, law, secant, by_force, by_velocity):
    """Set ∂f/∂F and ∂f/∂w [m, dim, dim]; return a sum that is finite if all are."""
    check = 0.0
    for e in range(len(F)):
        slip = slip_of(_vector(F[e]), _vector(w[e]))
        for i in range(F.shape[1]):
            of_velocity, of_force = friction_rows(slip, law, secant, i)
            for j in range(F.shape[1]):
                by_velocity[e, i, j], by_force[e, i, j] = of_velocity[j], of_force[j]
                check += of_velocity[j] + of_force[j]
    return check
