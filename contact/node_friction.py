"""Friction of nodes with a rigid obstacle.

With the force F of the obstacle on a node (the discrete gradient of an increment, less its sign), N = |F|, n = F/N, w
the velocity of the node relative to the obstacle and P = 1 − n ⊗ n,

    σ = P w,    f = −t = −N σ μ ψ/|σ|,

and the opposite on the node that carries the obstacle. f·w = −t·σ is never positive.
"""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from symplex.contact.friction_law import FrictionLaw, pull
from symplex.contact.rigid import RigidContact
from symplex.fem.assembly import Array, IntArray, scatter_blocks, scatter_vectors
from symplex.fem.copying import Copyable
from symplex.fem.kernels import formula, kernel


@final
class NodeFriction(Copyable):
    """The friction of the nodes of a contact with an obstacle."""

    def __init__(self, contact: RigidContact, friction: FrictionLaw):
        self._contact, self._friction = contact, friction

    @property
    def nodes(self) -> IntArray:
        """The nodes [m, 1], or pairs of them with that which carries the obstacle [m, 2]."""
        return self._contact.nodes

    def add(self, q0: Array, q1: Array, v: Array, out: Array) -> float:
        """Add the forces to out [n, dim]; return a sum that is finite if all are."""
        rows, F, w = self._acting(q0, q1, v)
        f = np.empty_like(F)
        check = _set_forces(F, w, self._friction, f)
        nodes = self.nodes[rows]
        scatter_vectors(np.stack([f, -f][: nodes.shape[1]], axis=1), nodes, out)
        return check

    def add_derivatives(
        self, q0: Array, q1: Array, v: Array, by_q: float, by_v: float, slots: IntArray, out: Array
    ) -> float:
        """Add 2 by_q ∂f/∂q1 + by_v ∂f/∂v to the blocks [nnz, dim, dim]; return a sum that is finite if all are."""
        rows, F, w = self._acting(q0, q1, v)
        nodes, dim = self.nodes, v.shape[1]
        by_force, by_velocity = np.empty((2, len(rows), dim, dim))
        check = _set_derivatives(F, w, self._friction, by_force, by_velocity)
        of_first = self._contact.discrete_hessian(q0[nodes], q1[nodes])[rows, :dim]  # −∂F/∂q1
        signs = [1.0, -1.0][: nodes.shape[1]]
        change = by_v * np.concatenate([sign * by_velocity for sign in signs], axis=2)
        change -= 2.0 * by_q * by_force @ of_first
        scatter_blocks(np.concatenate([sign * change for sign in signs], axis=1), slots[rows], out)
        return check

    def _acting(self, q0: Array, q1: Array, v: Array) -> tuple[NDArray[np.intp], Array, Array]:
        """Return which stencils are in contact, and their F and w [m, dim]."""
        nodes = self.nodes
        F = -self._contact.discrete_gradient(q0[nodes], q1[nodes])[:, 0]
        rows = np.flatnonzero(F.any(axis=1))
        x = v[nodes[rows]]
        return rows, F[rows], x[:, 0] - x[:, 1] if nodes.shape[1] > 1 else x[:, 0]


@formula
def _set_slip(F, w, n, slip):
    """Set n and σ [dim]; return N, σ and w·n."""
    squared, along, size = 0.0, 0.0, 0.0
    for i in range(len(F)):
        squared += F[i] * F[i]
    N = squared**0.5
    for i in range(len(F)):
        n[i] = F[i] / N
        along += n[i] * w[i]
    for i in range(len(F)):
        slip[i] = w[i] - along * n[i]
        size += slip[i] * slip[i]
    return N, size**0.5, along


@kernel
def _set_forces(F, w, law, out):
    """Set f [m, dim]; return a sum that is finite if all are."""
    check = 0.0
    n, slip = np.empty(F.shape[1]), np.empty(F.shape[1])
    for e in range(len(F)):
        N, size, _ = _set_slip(F[e], w[e], n, slip)
        ratio, _ = pull(law, size)
        for i in range(len(n)):
            out[e, i] = -N * ratio * slip[i]
            check += out[e, i]
    return check


@kernel
def _set_derivatives(F, w, law, by_force, by_velocity):
    """Set ∂f/∂F and ∂f/∂w [m, dim, dim]; return a sum that is finite if all are.

    With f = −N r σ, r of |σ|, and R = r 1 + (r'/|σ|) σ ⊗ σ: ∂f/∂w = −N R P, and as ∂n/∂F = P/N and
    ∂σ/∂n = −(w·n) 1 − n ⊗ w:  ∂f/∂F = −r σ ⊗ n + R [(w·n) P + n ⊗ σ].
    """
    check = 0.0
    n, slip = np.empty(F.shape[1]), np.empty(F.shape[1])
    for e in range(len(F)):
        N, size, along = _set_slip(F[e], w[e], n, slip)
        ratio, rate = pull(law, size)
        for i in range(len(n)):
            for j in range(len(n)):
                # R is r on n, and R P = P R.
                plane = ratio * ((1.0 if i == j else 0.0) - n[i] * n[j]) + rate * slip[i] * slip[j]
                by_velocity[e, i, j] = -N * plane
                by_force[e, i, j] = along * plane + ratio * (n[i] * slip[j] - slip[i] * n[j])
                check += by_velocity[e, i, j] + by_force[e, i, j]
    return check
