"""The strain energy of elements with a law that is a function of invariants, by compiled loops."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from symplex.fem import forms
from symplex.fem.energy import Array, IntArray, LatticeFunctions
from symplex.fem.forms import Form
from symplex.fem.solids import (
    law_discrete,
    law_discrete_tangents,
    law_gradients,
    law_hessians,
    law_means,
    law_secants,
    law_third,
)
from symplex.fem.solids.chunked_elements import ChunkedElements, Loop, Stabilization
from symplex.fem.solids.chunks import GEOMETRY
from symplex.fem.solids.constitutive import InvariantMaterial, Material, Oriented
from symplex.fem.solids.element_energy import ElementEnergy
from symplex.fem.solids.elements import TETRAHEDRON, Element
from symplex.fem.solids.law_functions import LawFunctions
from symplex.fem.solids.law_segments import rule_of, switches_of


def _at_positions(order: str, hourglass: str = "forces") -> Callable[[Any], tuple[Any, ...]]:
    """Return what gives a loop the law with its derivatives of an order, at positions, and the hourglass energy."""
    return lambda elements: (
        elements.law.fibres,
        elements.law.has_i2,
        getattr(elements.law, order),
        elements.law.parameters,
        elements.hourglass(hourglass),
    )


def _between(order: str, hourglass: str = "forces") -> Callable[[Any], tuple[Any, ...]]:
    """Return what gives a loop the law with its derivatives of an order, along increments, and the hourglass energy."""
    return lambda elements: (
        elements.law.fibres,
        elements.law.has_i2,
        getattr(elements.law, order),
        elements.law.parameters,
        elements.rule,
        elements.switches,
        elements.hourglass(hourglass),
    )


class LawElements(ChunkedElements, ElementEnergy):
    """The strain energy of elements of one type and one material whose law is a function of invariants.

    `Solid` makes it. One compiled loop for each form serves all elements and laws: it calls the law by its address
    (`symplex.fem.solids.law_functions`).

    Parameters
    ----------
    element, points, nodes, material, stabilization
        See `ChunkedElements`.
    law : LawFunctions
        Those of the material.
    directions : float64 [F, 3] or [F, m, 3]
        Of the families of fibres, of length 1: in the whole body, or of each element.
    """

    loops: ClassVar[Mapping[Form, Loop | None]] = {
        forms.GRADIENT: Loop(law_gradients.add_gradient, _at_positions("first")),
        forms.HESSIAN: Loop(law_hessians.add_hessian, _at_positions("second", "blocks")),
        forms.SECANT: Loop(law_secants.add_secant, _at_positions("first", "secants")),
        forms.SECANT_RATE: Loop(law_secants.add_secant_rate, _at_positions("second", "secants")),
        forms.THIRD: Loop(law_third.add_third, _at_positions("third")),
        forms.MEAN_GRADIENT: Loop(law_means.add_mean_gradient, _at_positions("first")),
        forms.DISCRETE_GRADIENT: Loop(law_discrete.add_discrete_gradient, _between("first")),
        forms.INCREMENT_GRADIENT: Loop(law_discrete.add_increment_gradient, _between("first")),
        forms.DISCRETE_HESSIAN: Loop(law_discrete_tangents.add_discrete_hessian, _between("second", "blocks")),
    }
    values: ClassVar[Loop] = Loop(law_gradients.set_values, _at_positions("value", "energies"))
    stresses: ClassVar[Loop] = Loop(law_gradients.add_gradient, _at_positions("first", "no_forces"))

    def __init__(
        self,
        element: Element,
        points: Array,
        nodes: IntArray,
        material: Material,
        law: LawFunctions,
        directions: Array,
        stabilization: Stabilization | None = None,
    ):
        super().__init__(element, points, nodes, material, directions, stabilization)
        self.law = law

    def _law_of(self, chosen: slice) -> Material:
        if self._directions.ndim == 2:
            return self.material
        assert isinstance(self.material, InvariantMaterial), "of no other fibres can be given"
        return Oriented(self.material, np.repeat(self._directions[:, chosen], len(self._slopes), axis=1))

    @cached_property
    def rule(self) -> Array:
        """The points in [0, 1] and the weights of the rule by which slopes of the law are averaged."""
        return rule_of(self.law)

    @cached_property
    def switches(self) -> Array:
        """What the means need to know of where second derivatives of the law jump."""
        return switches_of(self.law)

    def lattice_functions(self, axes: Array | None = None) -> LatticeFunctions:
        """Return compiled functions of one element (in any axes: C is the same); infinite where it is inverted."""
        from symplex.fem.grid.lattice_solids import solid_lattice  # C functions are compiled when it is imported

        own, stabilization = self._own_slopes, self._stabilization
        hourglass = None if stabilization is None else stabilization.constants
        known = self.at_points()[..., : GEOMETRY + 3 * self.law.fibres]
        slopes = self._slopes[None] if own is None else own
        return solid_lattice(self.law, slopes, self._point_weights, known, self.rule, hourglass)

    # -- stress, for output ------------------------------------------------------------------------------------

    def first_piola(self, q: Array) -> Array:
        """Return the mean over the undeformed volume of P = F S [m, 3, 3] in Pa at the nodal positions q [n, 3].

        Raises
        ------
        InvertedElement, MaterialFailed
        """
        return self.first_piola_of(self.forces_of(self.stresses, q))

    def cauchy(self, q: Array) -> Array:
        """Return the mean over the deformed volume of σ = F S Fᵀ/J [m, 3, 3] in Pa at the nodal positions q [n, 3].

        Raises
        ------
        InvertedElement, MaterialFailed
        """
        return self.cauchy_of(self.forces_of(self.stresses, q), q)

    def first_piola_of(self, forces: Array) -> Array:
        """Return the mean of P [m, 3, 3] in Pa, given the forces [m, k, 3] in N of each element on its nodes."""
        return self.means(forces, self.points, self.volumes)

    def cauchy_of(self, forces: Array, q: Array) -> Array:
        """Return the mean of σ [m, 3, 3] in Pa, given the forces [m, k, 3] in N at the nodal positions q [n, 3]."""
        known = self.element is TETRAHEDRON  # the loop finds these itself
        return self.means(forces, q, np.empty(0) if known else self.volumes * self.jacobians(q))
