"""The strain energy of linear elastic elements, by compiled loops."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, final

import numpy as np

from symplex.fem import forms
from symplex.fem.energy import Array, IntArray
from symplex.fem.forms import Form
from symplex.fem.solids import linear_loops
from symplex.fem.solids.chunked_elements import ChunkedElements, Loop, Stabilization
from symplex.fem.solids.element_energy import ElementEnergy
from symplex.fem.solids.elements import Element
from symplex.fem.solids.materials import LinearElastic


def _forces(elements: Any) -> tuple[float, float, int]:
    return elements.material.lmbda, elements.material.mu, elements.hourglass("forces")


def _energies(elements: Any) -> tuple[float, float, int]:
    return elements.material.lmbda, elements.material.mu, elements.hourglass("energies")


def _tangents(factor: float) -> Callable[[Any], tuple[float, float, float, int]]:
    return lambda elements: (elements.material.lmbda, elements.material.mu, factor, elements.hourglass("blocks"))


_STRESS_ALONE = Loop(
    linear_loops.add_gradient, lambda of: (of.material.lmbda, of.material.mu, of.hourglass("no_forces"))
)


@final
class LinearElements(ChunkedElements, ElementEnergy):
    """The strain energy of elements of Hooke's law in the linear strain ε = sym F − 1, which is quadratic.

    `Solid` makes it. Its discrete gradient, and that of mean strains, is the gradient half way, its third derivative
    zero, and it has no secant form.

    Parameters
    ----------
    element, points, nodes, material, stabilization
        See `ChunkedElements`.
    """

    material: LinearElastic

    loops: ClassVar[Mapping[Form, Loop | None]] = {
        forms.GRADIENT: Loop(linear_loops.add_gradient, _forces),
        forms.HESSIAN: Loop(linear_loops.add_hessian, _tangents(1.0)),
        forms.DISCRETE_GRADIENT: Loop(linear_loops.add_discrete_gradient, _forces),
        forms.INCREMENT_GRADIENT: Loop(linear_loops.add_increment_gradient, _forces),
        forms.DISCRETE_HESSIAN: Loop(linear_loops.add_hessian, _tangents(0.5), takes=1),
        forms.MEAN_GRADIENT: Loop(linear_loops.add_discrete_gradient, _forces),
        forms.THIRD: None,
    }
    values: ClassVar[Loop] = Loop(linear_loops.set_values, _energies)

    def __init__(
        self,
        element: Element,
        points: Array,
        nodes: IntArray,
        material: LinearElastic,
        stabilization: Stabilization | None = None,
    ):
        super().__init__(element, points, nodes, material, np.eye(3), stabilization)

    # -- stress, for output -----------------------------------------------------------------------------------

    def first_piola(self, q: Array) -> Array:
        """Return the mean of σ [m, 3, 3] in Pa at the nodal positions q [n, 3].

        Raises
        ------
        MaterialFailed
            If it is not finite.
        """
        return self.means(self.forces_of(_STRESS_ALONE, q), self.points, self.volumes)

    def cauchy(self, q: Array) -> Array:
        """Return what `first_piola` does: small strains know one stress."""
        return self.first_piola(q)
