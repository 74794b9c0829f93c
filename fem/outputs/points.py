"""Deformation and stress at the points of quadrature of a solid, and their means over its elements."""

from __future__ import annotations

from functools import cached_property
from typing import final

import numpy as np

from symplex.fem.assembly import Array
from symplex.fem.solids import elements, mean_dilatation
from symplex.fem.solids.constitutive import InvariantMaterial, Material, Oriented
from symplex.fem.solids.elements import REDUCED_HEXAHEDRON, Element, element_of
from symplex.fem.solids.failures import failure, strains
from symplex.fem.solids.numpy_forms import Part, flat
from symplex.fem.solids.solid import Solid
from symplex.fem.solids.tensors import cofactors, determinants
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
    def _geometry(self) -> tuple[Array, Array]:
        """The gradients ∇N_a [m, g, k, 3] in 1/m, and the weights [m, g] in m³."""
        solid, rule = self._solid, self.element.stiffness
        _, slopes = self.element.shapes(rule.points)
        J = elements.jacobians(solid.points, solid.nodes, slopes)
        det = determinants(J)
        inverse = cofactors(J.reshape(-1, 3, 3)).reshape(J.shape) / det[:, :, None, None]
        return np.einsum("egij,gaj->egai", inverse, slopes, optimize=True), det * rule.weights

    def deformation_gradients(self, q: Array) -> Array:
        """Return F [m, g, 3, 3] at the nodal positions q [n, 3]."""
        if self.n_points == 1:
            return self._solid.deformation_gradients(q)[:, None]
        return np.einsum("eai,egaj->egij", q[self._solid.nodes], self._geometry[0], optimize=True)

    def cauchy(self, q: Array) -> Array:
        """Return σ [m, g, 3, 3] in Pa of the elastic law at the nodal positions q [n, 3].

        Raises
        ------
        InvertedElement, MaterialFailed
        """
        solid = self._solid
        if self.n_points == 1:
            return solid.cauchy(q)[:, None]
        F, law = self.deformation_gradients(q), self._law
        C = strains(solid.material, F)
        with np.errstate(all="ignore"):
            if solid.formulation == "mean-dilatation":
                gradients, weights = self._geometry
                S = mean_dilatation.stress(Part(law, weights, gradients), C)
            else:
                S = law.stress(flat(C)).reshape(C.shape)
            J = determinants(F)
            sigma = F @ S @ F.swapaxes(-1, -2) / J[..., None, None] if solid.material.objective else S
        if not np.isfinite(sigma).all() or (solid.material.objective and not (J > 0.0).all()):
            raise failure(solid.material, solid.nodes, np.arange(len(F)), [F], law)
        return sigma

    @property
    def _law(self) -> Material:
        """The law as it is asked about all points: with the fibres of each element."""
        material, fibres = self._solid.material, self._solid.fibres
        if fibres is None:
            return material
        assert isinstance(material, InvariantMaterial)
        return Oriented(material, np.repeat(fibres, self.n_points, axis=1))

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
