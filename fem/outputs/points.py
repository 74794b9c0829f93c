"""Deformation and stress at the points of quadrature of a solid, and their means over its elements."""

from __future__ import annotations

from functools import cached_property
from typing import final

import numpy as np

from symplex.fem.assembly.pattern import Array
from symplex.fem.solids.elements import REDUCED_HEXAHEDRON, Element, element_of
from symplex.fem.solids.failures import failure, strains
from symplex.fem.solids.numpy_forms import Part
from symplex.fem.solids.solid import Solid
from symplex.fem.solids.tensors import determinants
from symplex.meshes.shape_functions import SHAPE_FUNCTIONS


@final
class SolidPoints:
    """The points of quadrature of a solid, at which its law is asked; of stabilized hexahedra one stands for all.

    Parameters
    ----------
    solid : Solid

    Attributes
    ----------
    element : Element
        With the rule of quadrature of the energy.
    n_points : int
        Points g of each element.
    """

    def __init__(self, solid: Solid):
        self._solid = solid
        element = element_of("Solid", solid.nodes)
        self.element: Element = REDUCED_HEXAHEDRON if solid.formulation == "reduced" else element
        self.n_points = 1 if solid.formulation == "stabilized" else len(self.element.stiffness.points)

    @cached_property
    def _part(self) -> Part:
        """What the law is asked at: the points of all elements."""
        return self._solid.part()

    def deformation_gradients(self, q: Array) -> Array:
        """Return F [m, g, 3, 3] at the nodal positions q [n, 3]."""
        if self.n_points == 1:
            return self._solid.deformation_gradients(q)[:, None]
        F, stretches = self._elastic(q), self._solid.elements.stretches
        return F if stretches is None else F * stretches[..., None, None]

    def _elastic(self, q: Array) -> Array:
        """Return what the law is asked about: F without the thermal stretch."""
        return np.einsum("eai,egja->egij", q[self._solid.nodes], self._part.gradients, optimize=True)

    def cauchy(self, q: Array) -> Array:
        """Return σ [m, g, 3, 3] in Pa of the elastic law at the nodal positions q [n, 3]."""
        solid = self._solid
        if self.n_points == 1:
            return solid.cauchy(q)[:, None]
        F, part = self._elastic(q), self._part
        C = strains(solid.material, F)
        with np.errstate(all="ignore"):
            S = solid.stress_at_points(part, C)
            J = determinants(F)
            sigma = F @ S @ F.swapaxes(-1, -2) / J[..., None, None] if solid.material.objective else S
        if not np.isfinite(sigma).all() or (solid.material.objective and not (J > 0.0).all()):
            raise failure(solid.material, solid.nodes, np.arange(len(F)), [F], part.material)
        return sigma

    @cached_property
    def extrapolation(self) -> Array:
        """E [k, g]: values at the nodes of an element, of values at its points.

        They are those of the polynomial that fits the values at the points best: of degree 1, on hexahedra and along
        wedges with the products of coordinates that such cells have. A constant stays what it is.
        """
        nodes = SHAPE_FUNCTIONS[self.element.kind].nodes
        if self.n_points == 1:
            return np.ones((len(nodes), 1))
        at = self.element.stiffness.points
        centre = at.mean(axis=0)  # points of pyramids are on one level, which then has no slope
        powers = _FITTED.get(self.element.kind.rstrip("0123456789"), _LINEAR)
        values, basis = (np.stack([np.prod((x - centre) ** p, axis=1) for p in powers], axis=1) for x in (nodes, at))
        return values @ np.linalg.pinv(basis)


_LINEAR = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))
_FITTED = {
    "hexahedron": (*_LINEAR, (1, 1, 0), (0, 1, 1), (1, 0, 1), (1, 1, 1)),
    "wedge": (*_LINEAR, (1, 0, 1), (0, 1, 1)),
}
