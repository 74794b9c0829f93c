"""Stresses at the points of quadrature of a solid that are no function of its strain alone: their forces and tangents.

The stress S of a point is given by its user; here are F and C there, the forces ∫ F S ∇N_a dV, and what they change by.
"""

from __future__ import annotations

from typing import final

import numpy as np

from symplex.errors import InvalidSystem
from symplex.fem.assembly.copying import Copyable
from symplex.fem.assembly.pattern import Array
from symplex.fem.solids import element_kernels
from symplex.fem.solids.hourglass import Hexahedra, hexahedra_of
from symplex.fem.solids.solid import Solid

_TOGETHER = 4096  # elements for which elasticities are laid out at once


@final
class StrainPoints(Copyable):
    """The points of quadrature of a solid's elements.

    Parameters
    ----------
    solid : Solid
    what : str
        Begins messages.

    Attributes
    ----------
    nodes : int32 [m, k]
        The nodes of the elements.
    weights : float64 [m, g]
        The volumes of the points in m³.
    hexahedra : Hexahedra or None
        Of stabilized hexahedra, which have one point, what their hourglass modes are known by.
    """

    def __init__(self, solid: Solid, what: str):
        if not solid.material.objective:
            raise InvalidSystem(
                f"{what}: the law {type(solid.material).__name__} is one of small strains, which is not objective; "
                "take a law of finite strains, such as NeoHookean or SaintVenantKirchhoff."
            )
        self.nodes = solid.nodes
        self.hexahedra: Hexahedra | None = None
        if solid.formulation == "stabilized":
            self.hexahedra = hexahedra_of(solid.points, solid.nodes)
        _, self.weights, self._gradients = solid.part()

    def deformations(self, x: Array) -> tuple[Array, Array]:
        """Return F and C [m, g, 3, 3] of elements with nodes at x [m, k, 3]."""
        F, C = np.empty((2, *self.weights.shape, 3, 3))
        element_kernels.deformations(np.ascontiguousarray(x), self._gradients, True, F, C)
        return F, C

    def rates(self, T: Array, F: Array, v: Array) -> Array:
        """Return ℂ : FᵀḞ [m, g, 3, 3] for velocities v [m, k, 3] and elasticities ℂ [1 or m, 3, 3, 3, 3]."""
        out = np.empty_like(F)
        for part in self._parts():
            x = np.ascontiguousarray(v[part])
            out[part] = element_kernels.stress_rates(self._at_all(T, part), F[part], x, self._gradients[part])
        return out

    def velocity_gradients(self, v: Array) -> Array:
        """Return Ḟ [m, g, 3, 3] for velocities v [m, k, 3]."""
        return np.einsum("eai,egKa->egiK", v, self._gradients, optimize=True)

    def forces(self, F: Array, S: Array) -> Array:
        """Return −∫ F S ∇N_a dV [m, k, 3]."""
        out = np.empty((*self.nodes.shape, 3))
        element_kernels.integrate_forces(F, S, self.weights, self._gradients, out)
        return np.negative(out, out=out)

    def stiffness(self, left: Array, right: Array, S: Array, T: Array, geometric: float) -> Array:
        """Return ∫ (left_iI ℂ_IKJL right_jJ + geometric δ_ij S_KL) ∂_K N_a ∂_L N_b dV [m, 3k, 3k]."""
        m, k = self.nodes.shape
        out = np.empty((m, 3 * k, 3 * k))
        for part in self._parts():
            element_kernels.integrate_stiffness(
                left[part],
                right[part],
                S[part],
                self._at_all(T, part),
                self.weights[part],
                self._gradients[part],
                geometric,
                out[part],
            )
        return out

    def _parts(self) -> list[slice]:
        return [slice(e, e + _TOGETHER) for e in range(0, len(self.nodes), _TOGETHER)]

    def _at_all(self, T: Array, part: slice) -> Array:
        """Return elasticities [1 or m, 3, 3, 3, 3] as they are at all points of a part of the elements."""
        T = (T if len(T) == 1 else T[part])[:, None]
        return np.broadcast_to(T, (*self.weights[part].shape, 3, 3, 3, 3))
