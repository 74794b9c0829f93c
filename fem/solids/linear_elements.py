"""The strain energy of linear elastic elements, by compiled loops."""

from __future__ import annotations

from functools import cached_property
from typing import final

import numpy as np

from symplex.fem.energy import Array, IntArray
from symplex.fem.solids import linear_loops
from symplex.fem.solids.chunked_elements import ChunkedElements
from symplex.fem.solids.elements import Element
from symplex.fem.solids.failures import strains
from symplex.fem.solids.materials import LinearElastic


@final
class LinearElements(ChunkedElements):
    """The strain energy of elements of Hooke's law in the linear strain ε = sym F − 1, which is quadratic.

    `Solid` makes it. Its discrete gradient, and that of mean strains, is the gradient half way, its third derivative
    zero, and it has no secant form.

    Parameters
    ----------
    element, points, nodes, material
        See `ChunkedElements`.
    """

    material: LinearElastic

    def __init__(self, element: Element, points: Array, nodes: IntArray, material: LinearElastic):
        super().__init__(element, points, nodes, material, np.eye(3))

    def add_gradient(self, q: Array, out: Array, apart: bool = False) -> None:
        """Add the gradient in N at the nodal positions q [n, 3] to out [n, 3]."""
        self._run(linear_loops.add_gradient, (q,), *self._moduli, out, apart=apart)

    def add_hessian(self, q: Array, slots: IntArray, out: Array, apart: bool = False) -> None:
        """Add the Hessian in N/m, which is constant, to the blocks out [nnz, 3, 3] (see `Energy`)."""
        self._add_stiffness(1.0, slots, out)

    def add_discrete_gradient(self, q0: Array, q1: Array, out: Array, apart: bool = False) -> None:
        """Add the discrete gradient in N from q0 to q1 [n, 3] to out [n, 3]."""
        self._run(linear_loops.add_discrete_gradient, (q0, q1), *self._moduli, out, apart=apart)

    def add_increment_gradient(self, q: Array, compensation: Array, dq: Array, out: Array) -> None:
        """Add the discrete gradient in N from q + c to q + c + Δq, c the compensation, [n, 3] to out [n, 3]."""
        nodal = q, compensation, dq
        self._run(linear_loops.add_increment_gradient, nodal, *self._moduli, out, at=(q, q + dq))

    def add_discrete_hessian(self, q0: Array, q1: Array, slots: IntArray, out: Array, apart: bool = False) -> None:
        """Add ∂DG/∂q1 in N/m to the blocks out [nnz, 3, 3] (see `Energy`)."""
        self._add_stiffness(0.5, slots, out)

    def add_mean_gradient(self, q0: Array, q1: Array, out: Array, apart: bool = False) -> None:
        """Add the forces of the mean strains in N from q0 to q1 [n, 3] to out [n, 3]."""
        self.add_discrete_gradient(q0, q1, out, apart)

    def add_third(self, q: Array, a: Array, out: Array, apart: bool = False) -> None:
        """Add nothing: the energy is quadratic."""

    def _add_stiffness(self, factor: float, slots: IntArray, out: Array) -> None:
        lmbda, mu = (factor * modulus for modulus in self._moduli)
        constants = self.blocks.counts, self._geometry, self._weights, self._slopes
        self.blocks.run(linear_loops.add_hessian, *constants, lmbda, mu, self.blocks.elements, slots, out)

    def _values(self, q: Array, apart: bool = False) -> Array:
        out = np.empty(len(self.nodes))
        self._run(linear_loops.set_values, (q,), *self._moduli, self.blocks.elements, out, apart=apart)
        return out

    @cached_property
    def _moduli(self) -> tuple[float, float]:
        return self.material.lmbda, self.material.mu

    # -- stress, for output -----------------------------------------------------------------------------------

    def first_piola(self, q: Array) -> Array:
        """Return the mean of σ [m, 3, 3] in Pa at the nodal positions q [n, 3].

        Raises
        ------
        MaterialFailed
            If it is not finite.
        """
        F, det = self._deformations(q[self.nodes], self.nodes)
        C = strains(self.material, F)
        with np.errstate(all="ignore"):
            S = self.material.stress(C.reshape(-1, 3, 3)).reshape(C.shape)
            means = np.einsum("egij,eg,g->eij", S, det, self.element.stiffness.weights) / self.volumes[:, None, None]
        if not np.isfinite(means).all():
            raise self.failure([q[self.nodes]])
        return means

    def cauchy(self, q: Array) -> Array:
        """Return what `first_piola` does: small strains know one stress."""
        return self.first_piola(q)
