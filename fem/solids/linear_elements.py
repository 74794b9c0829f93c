"""The strain energy of linear elastic elements, by compiled loops."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, final

import numpy as np

from symplex.fem import forms
from symplex.fem.energy import Array, IntArray
from symplex.fem.forms import Form
from symplex.fem.solids import linear_loops
from symplex.fem.solids.chunked_elements import ChunkedElements, Loop
from symplex.fem.solids.element_energy import ElementEnergy
from symplex.fem.solids.elements import Element
from symplex.fem.solids.failures import strains
from symplex.fem.solids.materials import LinearElastic


def _moduli(elements: Any) -> tuple[float, float]:
    return elements.material.lmbda, elements.material.mu


def _half_moduli(elements: Any) -> tuple[float, float]:
    return 0.5 * elements.material.lmbda, 0.5 * elements.material.mu


@final
class LinearElements(ChunkedElements, ElementEnergy):
    """The strain energy of elements of Hooke's law in the linear strain ε = sym F − 1, which is quadratic.

    `Solid` makes it. Its discrete gradient, and that of mean strains, is the gradient half way, its third derivative
    zero, and it has no secant form.

    Parameters
    ----------
    element, points, nodes, material, slopes
        See `ChunkedElements`.
    """

    material: LinearElastic

    loops: ClassVar[Mapping[Form, Loop | None]] = {
        forms.GRADIENT: Loop(linear_loops.add_gradient, _moduli),
        forms.HESSIAN: Loop(linear_loops.add_hessian, _moduli),
        forms.DISCRETE_GRADIENT: Loop(linear_loops.add_discrete_gradient, _moduli),
        forms.INCREMENT_GRADIENT: Loop(linear_loops.add_increment_gradient, _moduli),
        forms.DISCRETE_HESSIAN: Loop(linear_loops.add_hessian, _half_moduli, takes=1),
        forms.MEAN_GRADIENT: Loop(linear_loops.add_discrete_gradient, _moduli),
        forms.THIRD: None,
    }
    values: ClassVar[Loop] = Loop(linear_loops.set_values, _moduli)

    def __init__(
        self, element: Element, points: Array, nodes: IntArray, material: LinearElastic, slopes: Array | None = None
    ):
        super().__init__(element, points, nodes, material, np.eye(3), slopes)

    # -- stress, for output -----------------------------------------------------------------------------------

    def first_piola(self, q: Array) -> Array:
        """Return the mean of σ [m, 3, 3] in Pa at the nodal positions q [n, 3].

        Raises
        ------
        MaterialFailed
            If it is not finite.
        """
        F, det = self._deformations(q[self.nodes])
        C = strains(self.material, F)
        with np.errstate(all="ignore"):
            S = self.material.stress(C.reshape(-1, 3, 3)).reshape(C.shape)
            means = np.einsum("egij,eg,g->eij", S, det, self._point_weights) / self.volumes[:, None, None]
        if not np.isfinite(means).all():
            raise self.failure([q[self.nodes]])
        return means

    def cauchy(self, q: Array) -> Array:
        """Return what `first_piola` does: small strains know one stress."""
        return self.first_piola(q)
