"""Penalty contact of nodes with a rigid obstacle."""

from __future__ import annotations

from functools import cached_property
from typing import final

import numpy as np

from symplex.base.arguments import checked
from symplex.contact import obstacles
from symplex.contact.obstacles import Obstacle
from symplex.errors import InvalidSystem
from symplex.fem.energy import Array, Energy, IntArray, LatticeFunctions
from symplex.fem.kernels import kernel
from symplex.fem.nodes import Nodes, distinct_nodes


@checked
@final
class RigidContact(Energy):
    """Nodes that a rigid obstacle pushes out: φ = ½ k ⟨−g⟩² for each, ⟨·⟩ the positive part.

    Eqs. 76–77 of Gonzalez, Schmidt and Ortiz (2010) with k = 1/ε.

    Parameters
    ----------
    nodes : int [m]
        The nodes that may touch; usually those of the boundary.
    obstacle : Obstacle
    stiffness : float
        k in N/m (if the gap is a distance).

    Raises
    ------
    InvalidSystem
        If a node is named twice, or the stiffness is not positive.
    """

    def __init__(self, nodes: Nodes, obstacle: Obstacle, stiffness: float):
        if not (np.isfinite(stiffness) and stiffness > 0):
            raise InvalidSystem(f"RigidContact: the stiffness must be positive; it is {stiffness} N/m.")
        self.nodes = distinct_nodes("RigidContact", nodes)[:, None]
        self.obstacle = obstacle
        self.stiffness = float(stiffness)
        self._parameters = obstacle.parameters
        self._least_nodes = int(self.nodes.max(initial=-1)) + 1

    @classmethod
    @checked
    def from_penalty(cls, nodes: Nodes, obstacle: Obstacle, penalty: float) -> RigidContact:
        """Return the contact with stiffness 1/ε, given the penalty parameter ε in m/N."""
        if not (np.isfinite(penalty) and penalty > 0):
            raise InvalidSystem(f"RigidContact: the penalty parameter must be positive; it is {penalty} m/N.")
        return cls(nodes, obstacle, 1.0 / penalty)

    # -- local functions --------------------------------------------------------------------------------------

    def value(self, x: Array) -> Array:
        """Return ½ k ⟨−g⟩² [m] in J at the positions x [m, 1, dim]."""
        return 0.5 * self.stiffness * self._penetration(x[:, 0]) ** 2

    def gradient(self, x: Array) -> Array:
        """Return −k ⟨−g⟩ ∂g/∂x [m, 1, dim] in N at the positions x [m, 1, dim]."""
        p = self._penetration(x[:, 0])
        return (-self.stiffness * p[:, None] * self.obstacle.gap_gradient(x[:, 0]))[:, None]

    def hessian(self, x: Array) -> Array:
        """Return k (∂g/∂x ⊗ ∂g/∂x − ⟨−g⟩ ∂²g/∂x²) [m, dim, dim] in N/m, zero where g ≥ 0."""
        p = self._penetration(x[:, 0])[:, None, None]
        n = self.obstacle.gap_gradient(x[:, 0])
        touching = self.stiffness * (p > 0)
        return touching * (n[:, :, None] * n[:, None, :] - p * self.obstacle.gap_hessian(x[:, 0]))

    def third(self, x: Array, a: Array) -> Array:
        """Return ∇³φ[a, a] = k (g'' ∂g/∂x + 2 g' ∂²g/∂x² a + g ∇³g[a, a]) [m, 1, dim], zero where g ≥ 0.

        g' = ∂g/∂x·a and g'' = a·∂²g/∂x² a. Zero at planes; where contact opens or closes there is none.
        """
        at, along = x[:, 0], a[:, 0]
        p, n = self._penetration(at), self.obstacle.gap_gradient(at)
        curved = np.einsum("mij,mj->mi", self.obstacle.gap_hessian(at), along)
        first, second = np.einsum("mi,mi->m", n, along), np.einsum("mi,mi->m", curved, along)
        third = second[:, None] * n + 2.0 * first[:, None] * curved - p[:, None] * self.obstacle.gap_third(at, along)
        return (self.stiffness * (p > 0)[:, None] * third)[:, None]

    def discrete_gradient(self, x0: Array, x1: Array) -> Array:
        """Return DG = (Δφ/Δg) G [m, 1, dim] in N from x0 to x1 [m, 1, dim], exact across opening and closing.

        G is the obstacle's mean of ∂g/∂x (`Obstacle.gap_quotient`). At a sphere it keeps the angular momentum about the
        centre.
        """
        quotient, _ = self._quotient(x0[:, 0], x1[:, 0])
        return (quotient[:, None] * self.obstacle.gap_quotient(x0[:, 0], x1[:, 0]))[:, None]

    def discrete_hessian(self, x0: Array, x1: Array) -> Array:
        """Return ∂DG/∂x1 [m, dim, dim] in N/m."""
        start, end = x0[:, 0], x1[:, 0]
        quotient, rate = self._quotient(start, end)
        n, G = self.obstacle.gap_gradient(end), self.obstacle.gap_quotient(start, end)
        normal = rate[:, None, None] * G[:, :, None] * n[:, None, :]
        return normal + quotient[:, None, None] * self.obstacle.gap_quotient_slope(start, end)

    def _quotient(self, x0: Array, x1: Array) -> tuple[Array, Array]:
        """Return Δφ/Δg [m] in N and its derivative with respect to g1 in N/m.

        With the penetrations p = ⟨−g⟩ it is −½ k (p0 + p1) r, r = Δp/(−Δg) the part of the increment that is inside:
        1 if both ends are, p/(p + g) if one is inside by p and the other outside by g.
        """
        g0, g1 = self.obstacle.gap(x0), self.obstacle.gap(x1)
        p0, p1 = np.maximum(-g0, 0.0), np.maximum(-g1, 0.0)
        p, width = p0 + p1, np.abs(g0) + np.abs(g1)
        mixed = (p0 > 0) != (p1 > 0)  # then |Δg| is the width, and one of p0 and p1 is 0
        inside = np.divide(p, width, out=np.ones_like(p), where=mixed)
        # of −p r: 1 if both are inside; otherwise r² if the end is outside, 1 − (1 − r)² if it is inside
        rate = np.where(mixed, np.where(p1 > 0, inside * (2.0 - inside), inside**2), p > 0)
        return -0.5 * self.stiffness * p * inside, 0.5 * self.stiffness * rate

    def _penetration(self, x: Array) -> Array:
        return np.maximum(-self.obstacle.gap(x), 0.0)

    # -- assembled forms --------------------------------------------------------------------------------------

    def total(self, q: Array) -> float:
        """Return the energy in J at the nodal positions q [n, dim]."""
        self._check(q)
        return _total(q, self.nodes, self._parameters, self.stiffness)

    def add_gradient(self, q: Array, out: Array) -> None:
        """Add the gradient in N at the nodal positions q [n, dim] to out [n, dim]."""
        self._check(q)
        self._check(out)
        _add_gradient(q, self.nodes, self._parameters, self.stiffness, out)

    def add_increment_gradient(self, q: Array, low: Array, dq: Array, out: Array) -> None:
        """Add the discrete gradient in N from q + low to q + low + Δq [n, dim] to out, gaps as seen from O or c."""
        for array in (q, low, dq, out):
            self._check(array)
        nodes, origin = self.nodes, self.obstacle.origin
        x = (q[nodes] - origin) + low[nodes]
        out[nodes[:, 0]] += self._at_origin.discrete_gradient(x, x + dq[nodes])[:, 0]

    @cached_property
    def _at_origin(self) -> RigidContact:
        return RigidContact(self.nodes[:, 0], self.obstacle.moved(-self.obstacle.origin), self.stiffness)

    def add_hessian(self, q: Array, slots: IntArray, out: Array) -> None:
        """Add the Hessian in N/m at the nodal positions q [n, dim] to the blocks out [nnz, dim, dim] (see `Energy`)."""
        self._check(q)
        if out.shape[1:] != (q.shape[1],) * 2:
            raise InvalidSystem(f"RigidContact: the blocks have shape {out.shape}, wanted (nnz, dim, dim).")
        _add_hessian(q, self.nodes, self._parameters, self.stiffness, slots, out)

    def add_third(self, q: Array, a: Array, out: Array) -> None:
        """Add ∇³V[a, a] at the nodal positions q along a [n, dim] to out [n, dim]; nothing at planes."""
        if self._parameters[obstacles.RADIUS] > 0.0:
            super().add_third(q, a, out)

    def _check(self, q: Array) -> None:
        if q.ndim != 2 or q.shape[1] != self.obstacle.dim or len(q) < self._least_nodes:
            raise InvalidSystem(
                f"RigidContact: an array for nodes has shape {q.shape}, wanted (n, {self.obstacle.dim}), "
                f"the obstacle's dimension, with n at least {self._least_nodes}."
            )

    def latent_stiffness(self, n_nodes: int) -> Array:
        """Return k |∂g/∂x|² in N/m for each node [n_nodes] that may touch, 0 for the others."""
        latent = np.zeros(n_nodes)
        latent[self.nodes[:, 0]] = self.stiffness * self.obstacle.slope**2
        return latent

    def lattice_functions(self, axes: Array | None = None) -> LatticeFunctions:
        """Return compiled differences of one node's energy, for force-stepping."""
        from symplex.contact.lattice import rigid_contact_lattice  # compiled when first needed

        obstacle = self.obstacle if axes is None else self.obstacle.rotated(axes)
        return rigid_contact_lattice(obstacle.parameters, self.stiffness, len(self.nodes))

    # -- for output -------------------------------------------------------------------------------------------

    def gaps(self, q: Array) -> Array:
        """Return the gaps g [m] of the contact nodes at the nodal positions q [n, dim]; negative: inside."""
        return self.obstacle.gap(q[self.nodes[:, 0]])

    def forces(self, q: Array) -> Array:
        """Return the forces [m, dim] in N of the obstacle on the contact nodes at the positions q [n, dim]."""
        return -self.gradient(q[self.nodes])[:, 0]

    def resultant(self, q: Array) -> Array:
        """Return the total force [dim] in N of the obstacle on the body at the positions q [n, dim]."""
        return self.forces(q).sum(axis=0)

    def deepest(self, q: Array) -> tuple[int, float]:
        """Return the node that is deepest inside and its depth in m (negative: nothing is inside)."""
        if not len(self.nodes):
            raise InvalidSystem("RigidContact has no nodes.")
        gaps = self.gaps(q)
        first = int(np.argmin(gaps))
        return int(self.nodes[first, 0]), -float(gaps[first]) / self.obstacle.slope


@kernel
def _total(q, nodes, p, k):
    total = 0.0
    for s in range(len(nodes)):
        g = obstacles.gap(p, q[nodes[s, 0]])
        if g < 0.0:
            total += 0.5 * k * g * g
    return total


@kernel
def _add_gradient(q, nodes, p, k, out):
    curved = p[obstacles.RADIUS] > 0.0
    for s in range(len(nodes)):
        node = nodes[s, 0]
        g = obstacles.gap(p, q[node])
        if not g < 0.0:
            continue
        if not curved:
            for i in range(q.shape[1]):
                out[node, i] += k * g * p[obstacles.NORMAL + i]
        elif g > -p[obstacles.RADIUS]:  # no direction is out at the centre itself
            scale = k * g / (g + p[obstacles.RADIUS])
            for i in range(q.shape[1]):
                out[node, i] += scale * (q[node, i] - p[obstacles.POINT + i])


@kernel
def _add_hessian(q, nodes, p, k, slots, out):
    dim = q.shape[1]
    curved = p[obstacles.RADIUS] > 0.0
    n = np.empty(dim)
    for s in range(len(nodes)):
        node = nodes[s, 0]
        g = obstacles.gap(p, q[node])
        r = g + p[obstacles.RADIUS]
        if not g < 0.0 or (curved and not r > 0.0):
            continue
        for i in range(dim):
            n[i] = (q[node, i] - p[obstacles.POINT + i]) / r if curved else p[obstacles.NORMAL + i]
        tangential = g / r if curved else 0.0  # k (n ⊗ n + g ∂²g/∂x²)
        block = out[slots[s, 0, 0]]
        for i in range(dim):
            for j in range(dim):
                block[i, j] += k * ((1.0 - tangential) * n[i] * n[j] + (tangential if i == j else 0.0))
