"""Inelastic parts from local functions: stored energy, its gradient, update and dissipation; all forms follow.

Internal variables z1 at the end of an increment to the positions x are those at which the incremental potential

    W(x) = min over z of ψ(x, z) + D(z0, z)

is least. So its gradient is ∂ψ/∂x at fixed z = z1(x), its tangent is symmetric, and a discrete gradient of W does the
work Δψ + D exactly, whatever the law (Ortiz and Stainier 1999).
"""

from __future__ import annotations

from abc import abstractmethod
from typing import final

import numpy as np

from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.energies.energy import Energy, Invariance
from symplex.fem.energies.inelastic import Inelastic
from symplex.fem.energies.projected_gradient import difference_slope


class RateIndependent(Inelastic):
    """An inelastic part that a user writes: local functions of gathered positions and internal variables.

    A subclass sets ``nodes``, ``shape`` and, to conserve momenta, ``invariances``, and gives `stored_energy`,
    `stored_gradient`, `updated` and `dissipation`. Forces, tangents, discrete gradients, statics and stable steps
    follow. Functions are pure and take all stencils: x [m, k, dim], z [m, …].

    z1 = updated(x, z0) must minimise ψ(x, z) + D(z0, z) (for a yield condition: the closest point; for damage: its
    criterion at the end), and repeat itself: updated(x, z1) = z1. `symplex.testing.check_inelastic` checks both.

    Attributes
    ----------
    nodes : int32 [m, k]
        The stencils.
    shape : tuple of int
        That of z; the first is m.
    invariances : frozenset of str
        What ψ is the same after, of ``translations`` and ``rotations`` (`symplex.Energy`).
    """

    history = True
    invariances: frozenset[Invariance] = frozenset()

    @abstractmethod
    def stored_energy(self, x: Array, z: Array) -> Array:
        """Return the stored energies ψ [m] in J at the positions x [m, k, dim] in m."""

    @abstractmethod
    def stored_gradient(self, x: Array, z: Array) -> Array:
        """Return ∂ψ/∂x [m, k, dim] in N at fixed z."""

    @abstractmethod
    def updated(self, x: Array, z: Array) -> Array:
        """Return the internal variables at the end of an increment from z to the positions x [m, k, dim]."""

    @abstractmethod
    def dissipation(self, z0: Array, z1: Array) -> Array:
        """Return what is dissipated from z0 to z1, D ≥ 0 [m] in J."""

    def tangent(self, x: Array, z: Array, *, frozen: bool) -> Array:
        """Return the second derivatives [m, k·dim, k·dim] in N/m of the incremental potential, or of ψ at frozen z.

        Here by differences of the gradient, with an error of some 1e-9 of the stiffness.
        """
        energy = self.frozen(z) if frozen else self.increment(z)
        slope = difference_slope(energy.gradient, x)
        return 0.5 * (slope + slope.swapaxes(1, 2))

    def initial(self) -> Array:
        """Return the internal variables of a part that nothing has happened to: here zeros."""
        return np.zeros(self.shape)

    def relaxed(self, q: Array) -> Array:
        """Return the internal variables of a part that was brought to the positions q [n, dim] by one increment."""
        return self.updated(q[self.nodes], self.initial())

    def increment(self, z: Array) -> Energy:
        """Return the incremental potential of an increment from z."""
        return _Increment(self, z)

    def frozen(self, z: Array) -> Energy:
        """Return the stored energy of given internal variables that stay as they are."""
        return _Frozen(self, z)

    @final
    def _during(self, z: Array, h: float) -> Energy:
        return self.frozen(z) if h == 0.0 else self.increment(z)

    def stored(self, q: Array, z: Array) -> float:
        """Return ψ in J."""
        return self.summed(self.stored_energy(q[self.nodes], z))

    def force(self, q0: Array, z0: Array, q1: Array, h: float) -> Array:
        """Return −∂ψ/∂q [n, dim] in N at the end of an increment of h s; with h = 0 z is z0 there."""
        out = np.zeros(q1.shape)
        self._during(z0, h).add_gradient(q1, out)
        return np.negative(out, out=out)

    def mean_force(self, q0: Array, z0: Array, q1: Array, h: float) -> Array:
        """Return the force f [n, dim] in N of an increment, f·(q1 − q0) = −Δψ − D: a discrete gradient."""
        out = np.zeros(q1.shape)
        self._during(z0, h).add_discrete_gradient(q0, q1, out)
        return np.negative(out, out=out)

    def add_derivatives(
        self, q0: Array, z0: Array, q1: Array, h: float, by_q: float, slots: IntArray, out: Array, *, mean: bool
    ) -> None:
        """Add by_q ∂f/∂q1 to the blocks out [nnz, dim, dim], of `mean_force` or of `force`."""
        energy, blocks = self._during(z0, h), np.zeros_like(out)
        if mean:
            energy.add_discrete_hessian(q0, q1, slots, blocks)
        else:
            energy.add_hessian(q1, slots, blocks)
        blocks *= -by_q
        out += blocks

    def after(self, q0: Array, z0: Array, q1: Array, h: float) -> tuple[Array, float]:
        """Return z at the end of an increment, and D in J."""
        if h == 0.0:
            return z0.copy(), 0.0
        z1 = self.updated(q1[self.nodes], z0)
        return z1, self.summed(self.dissipation(z0, z1))

    def force_and_after(self, q0: Array, z0: Array, q1: Array, h: float) -> tuple[Array, Array, float]:
        """Return `force` and what `after` returns of one increment."""
        z1, lost = self.after(q0, z0, q1, h)
        return self.force(q0, z1, q1, 0.0), z1, lost


class _Local(Energy):
    """An energy of the local functions of a part with internal variables z."""

    def __init__(self, part: RateIndependent, z: Array):
        self.nodes, self.invariances, self._part, self._z = part.nodes, part.invariances, part, z


@final
class _Frozen(_Local):
    """ψ(x, z) at fixed z."""

    def value(self, x: Array) -> Array:
        """Return it [m] in J."""
        return self._part.stored_energy(x, self._z)

    def gradient(self, x: Array) -> Array:
        """Return its gradients [m, k, dim] in N."""
        return self._part.stored_gradient(x, self._z)

    def hessian(self, x: Array) -> Array:
        """Return its second derivatives [m, k·dim, k·dim] in N/m."""
        return self._part.tangent(x, self._z, frozen=True)


@final
class _Increment(_Local):
    """The incremental potential W(x)."""

    def value(self, x: Array) -> Array:
        """Return it [m] in J."""
        z = self._part.updated(x, self._z)
        return self._part.stored_energy(x, z) + self._part.dissipation(self._z, z)

    def gradient(self, x: Array) -> Array:
        """Return its gradients [m, k, dim] in N, those of ψ at the end."""
        return self._part.stored_gradient(x, self._part.updated(x, self._z))

    def hessian(self, x: Array) -> Array:
        """Return its second derivatives [m, k·dim, k·dim] in N/m."""
        return self._part.tangent(x, self._z, frozen=False)
