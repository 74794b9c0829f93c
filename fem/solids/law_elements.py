"""The strain energy of elements with a law that is a function of invariants, by compiled loops."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.polynomial.legendre import leggauss

from symplex.fem.energy import Array, IntArray, LatticeFunctions
from symplex.fem.solids import (
    law_discrete,
    law_discrete_tangents,
    law_gradients,
    law_hessians,
    law_means,
    law_secants,
    law_third,
)
from symplex.fem.solids.chunked_elements import ChunkedElements
from symplex.fem.solids.elements import Element
from symplex.fem.solids.law_functions import LawFunctions
from symplex.fem.solids.materials import Material


@final
class LawElements(ChunkedElements):
    """The strain energy of elements of one type and one material whose law is a function of invariants.

    `Solid` makes it. One compiled loop for each form serves all elements and laws: it calls the law by its address
    (`symplex.fem.solids.law_functions`).

    Parameters
    ----------
    element, points, nodes, material
        See `ChunkedElements`.
    law : LawFunctions
        Those of the material; with fibres the material has their ``directions`` [F, 3].
    """

    def __init__(self, element: Element, points: Array, nodes: IntArray, material: Material, law: LawFunctions):
        super().__init__(element, points, nodes, material, getattr(material, "directions", np.empty((0, 3))))
        self._law = law

    # -- assembled forms --------------------------------------------------------------------------------------

    def add_gradient(self, q: Array, out: Array, apart: bool = False) -> None:
        """Add the gradient in N at the nodal positions q [n, 3] to out [n, 3]."""
        self._call(law_gradients.add_gradient, (q,), self._law.first, out, apart=apart)

    def add_hessian(self, q: Array, slots: IntArray, out: Array, apart: bool = False) -> None:
        """Add the Hessian in N/m at the nodal positions q [n, 3] to the blocks out [nnz, 3, 3] (see `Energy`)."""
        self._call(law_hessians.add_hessian, (q,), self._law.second, self.blocks.elements, slots, out, apart=apart)

    def add_discrete_gradient(self, q0: Array, q1: Array, out: Array, apart: bool = False) -> None:
        """Add the discrete gradient in N from q0 to q1 [n, 3] to out [n, 3]."""
        self._call(law_discrete.add_discrete_gradient, (q0, q1), self._law.first, self._rule, out, apart=apart)

    def add_increment_gradient(self, q: Array, compensation: Array, dq: Array, out: Array) -> None:
        """Add the discrete gradient in N from q + c to q + c + Δq [n, 3], c the compensation, to out."""
        self._call(
            law_discrete.add_increment_gradient, (q, compensation, dq), self._law.first, self._rule, out, at=(q, q + dq)
        )

    def add_discrete_hessian(self, q0: Array, q1: Array, slots: IntArray, out: Array, apart: bool = False) -> None:
        """Add ∂DG/∂q1 in N/m from q0 to q1 [n, 3] to the blocks out [nnz, 3, 3] (see `Energy`)."""
        named = self.blocks.elements, slots
        self._call(
            law_discrete_tangents.add_discrete_hessian, (q0, q1), self._law.second, self._rule, *named, out, apart=apart
        )

    def add_mean_gradient(self, q0: Array, q1: Array, out: Array, apart: bool = False) -> None:
        """Add the forces of the mean strains in N from q0 to q1 [n, 3] to out [n, 3]."""
        self._call(law_means.add_mean_gradient, (q0, q1), self._law.first, out, apart=apart)

    def add_secant(self, q: Array, slots: IntArray, out: Array, apart: bool = False) -> None:
        """Add 𝓕 in N/m at the nodal positions q [n, 3] to the values out [nnz] (see `Energy`)."""
        self._call(law_secants.add_secant, (q,), self._law.first, self.blocks.elements, slots, out, apart=apart)

    def add_secant_rate(self, q: Array, v: Array, slots: IntArray, out: Array, apart: bool = False) -> None:
        """Add 𝓕̇ in N/(m s) at the positions q along the velocities v [n, 3] to the values out [nnz] (see `Energy`)."""
        named = self.blocks.elements, slots
        self._call(law_secants.add_secant_rate, (q, v), self._law.second, *named, out, at=(q,), apart=apart)

    def add_third(self, q: Array, a: Array, out: Array, apart: bool = False) -> None:
        """Add ∇³V[a, a] at the nodal positions q along a [n, 3] to out [n, 3]."""
        self._call(law_third.add_third, (q, a), self._law.third, out, at=(q,), apart=apart)

    def _values(self, q: Array, apart: bool = False) -> Array:
        out = np.empty(len(self.nodes))
        self._call(law_gradients.set_values, (q,), self._law.value, self.blocks.elements, out, apart=apart)
        return out

    def _call(
        self, kernel: Callable[..., Any], nodal: tuple[Array, ...], function: int, *arguments: Any, **where: Any
    ) -> None:
        """Run a kernel with a function of the law."""
        self._run(kernel, nodal, self._law.fibres, function, self._law.parameters, *arguments, **where)

    @cached_property
    def _rule(self) -> Array:
        """The points in [0, 1] and the weights of the rule by which slopes of the law are averaged."""
        x, w = leggauss(self._law.gauss_points)
        return np.array([0.5 + 0.5 * x, 0.5 * w])

    def lattice_functions(self, axes: Array | None = None) -> LatticeFunctions:
        """Return compiled functions of one element (in any axes: C is the same); infinite where it is inverted."""
        from symplex.fem.grid.lattice_solids import solid_lattice  # C functions are compiled when it is imported

        weights = self.element.stiffness.weights
        return solid_lattice(self._law, self._slopes, weights, self._at_points(), self._rule)

    # -- stress, for output ------------------------------------------------------------------------------------

    def first_piola(self, q: Array) -> Array:
        """Return the mean over the undeformed volume of P = F S [m, 3, 3] in Pa at the nodal positions q [n, 3].

        Raises
        ------
        InvertedElement, MaterialFailed
        """
        return self.first_piola_of(self.gradient(q[self.nodes]))

    def cauchy(self, q: Array) -> Array:
        """Return the mean over the deformed volume of σ = F S Fᵀ/J [m, 3, 3] in Pa at the nodal positions q [n, 3].

        Raises
        ------
        InvertedElement, MaterialFailed
        """
        return self.cauchy_of(self.gradient(q[self.nodes]), q)

    def first_piola_of(self, forces: Array) -> Array:
        """Return the mean of P [m, 3, 3] in Pa, given the forces [m, k, 3] in N of each element on its nodes."""
        return self._moments(forces, self.points) / self.volumes[:, None, None]

    def cauchy_of(self, forces: Array, q: Array) -> Array:
        """Return the mean of σ [m, 3, 3] in Pa, given the forces [m, k, 3] in N at the nodal positions q [n, 3]."""
        return self._moments(forces, q) / (self.volumes * self.jacobians(q))[:, None, None]

    def _moments(self, forces: Array, y: Array) -> Array:
        """Return Σ f_n ⊗ y_n [m, 3, 3], which is ∫ P ∂y/∂X dV, for the forces f_n and nodal vectors y [n, 3]."""
        x = y[self.nodes]
        return np.einsum("eni,enj->eij", forces, x - x[:, :1])  # the forces of an element sum to zero
