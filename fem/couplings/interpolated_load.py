"""Loads of points that follow nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import numpy as np

from symplex.errors import InvalidSystem
from symplex.fem.actions.increment_load import Factors, IncrementLoad
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.energies.differentiable_load import DifferentiableLoad

if TYPE_CHECKING:
    from symplex.fem.couplings.interpolation import (
        ChangingInterpolatedEnergy,
        InterpolatedEnergy,
        Interpolation,
    )


@final
class LoadOfPoints(DifferentiableLoad):
    """A load of points that follow nodes as one of the nodes, Bᵀ f(t, B q, B v); see `Interpolation.of_load`."""

    def __init__(self, load: DifferentiableLoad, interpolation: Interpolation):
        self.load, self.interpolation = load, interpolation
        self.nodes, self._weights = interpolation.stencils(load.nodes)

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Return the nodal forces [n, dim] in N at the time t in s, positions q and velocities v [n, dim]."""
        return self.interpolation.forces(self.load(t, *map(self.interpolation.points, (q, v))))

    def derivatives(self, t: float, x: Array, v: Array) -> tuple[Array, Array]:
        """Return ∂f/∂x in N/m and ∂f/∂v in N s/m [m, K·dim, K·dim] at gathered x and v [m, K, dim] of nodes."""
        found = self.load.derivatives(t, self._weights @ x, self._weights @ v)
        return self._of_nodes(found[0], x.shape), self._of_nodes(found[1], x.shape)

    def _of_nodes(self, blocks: Array, shape: tuple[int, ...]) -> Array:
        (m, K, dim), k = shape, self._weights.shape[1]
        if not blocks.any():
            return np.zeros((m, K * dim, K * dim))
        left = np.einsum("maA,maibj->mAibj", self._weights, blocks.reshape(m, k, dim, k, dim))
        return np.einsum("mAibj,mbB->mAiBj", left, self._weights).reshape(m, K * dim, K * dim)


@final
class InterpolatedLoad(IncrementLoad):
    """A load of points that follow nodes; see `of_load` of the energies of such points.

    Its work is that of the forces on the points.
    """

    def __init__(self, load: IncrementLoad, energy: InterpolatedEnergy | ChangingInterpolatedEnergy):
        if load.energy is not energy.energy:
            raise InvalidSystem(
                f"a {type(load).__name__} of points must follow from the {type(energy.energy).__name__} that the "
                "energy of the nodes is made of."
            )
        self.load, self.energy, self._interpolation = load, energy, energy.interpolation

    @property
    def nodes(self) -> IntArray:
        """Its stencils [m, K] as they are now."""
        return self._interpolation.stencils(self.load.nodes)[0]

    def over(self, t: float, q0: Array, q1: Array, v: Array) -> Array:
        """Return the nodal forces [n, dim] in N of an increment from q0 to q1 with the velocities v [n, dim]."""
        return self._interpolation.forces(self.load.over(t, *self._points(q0, q1), self._interpolation.points(v)))

    def add_derivatives(
        self, t: float, ends: tuple[Array, Array], v: Array, by: Factors, slots: IntArray, out: Array
    ) -> None:
        """Add 2 by.q ∂f/∂q1 + by.v ∂f/∂v to the blocks out [nnz, dim, dim]; see `IncrementLoad`."""
        points, u = self._points(*ends), self._interpolation.points(v)
        weights = self._interpolation.stencils(self.load.nodes)[1]

        def add(own: IntArray, local: Array) -> None:
            self.load.add_derivatives(t, points, u, by, own, local)

        self._interpolation.add_matrix(add, weights, slots, out)

    def _points(self, q0: Array, q1: Array) -> tuple[Array, Array]:
        """Return the positions of the points at both ends; of one position, the same array twice."""
        p0 = self._interpolation.points(q0)
        return p0, p0 if q1 is q0 else self._interpolation.points(q1)
