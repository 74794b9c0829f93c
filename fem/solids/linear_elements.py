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
from symplex.fem.solids.constitutive import Material
from symplex.fem.solids.element_energy import ElementEnergy
from symplex.fem.solids.elements import Element


def _with(hourglass: str, *others: float) -> Callable[[Any], tuple[Any, ...]]:
    """Return what gives a loop the numbers of the law, others, and a function of the hourglass energy."""
    return lambda elements: (elements.law, *others, elements.hourglass(hourglass))


_STRESS_ALONE = Loop(linear_loops.add_gradient, _with("no_forces"))


@final
class LinearElements(ChunkedElements, ElementEnergy):
    """The strain energy of elements of a stress that is linear in ε = sym F − 1: it is quadratic.

    `Solid` makes it. Its discrete gradient, and that of mean strains, is the gradient half way, its third derivative
    zero, and it has no secant form.

    Parameters
    ----------
    element, points, nodes, material, stabilization
        See `ChunkedElements`.
    law : tuple of float
        The material's `linear_constants`.
    """

    loops: ClassVar[Mapping[Form, Loop | None]] = {
        forms.GRADIENT: Loop(linear_loops.add_gradient, _with("forces")),
        forms.HESSIAN: Loop(linear_loops.add_hessian, _with("blocks", 1.0)),
        forms.DISCRETE_GRADIENT: Loop(linear_loops.add_discrete_gradient, _with("forces")),
        forms.INCREMENT_GRADIENT: Loop(linear_loops.add_increment_gradient, _with("forces")),
        forms.DISCRETE_HESSIAN: Loop(linear_loops.add_hessian, _with("blocks", 0.5), takes=1),
        forms.MEAN_GRADIENT: Loop(linear_loops.add_discrete_gradient, _with("forces")),
        forms.THIRD: None,
    }
    values: ClassVar[Loop] = Loop(linear_loops.set_values, _with("energies"))

    def __init__(
        self,
        element: Element,
        points: Array,
        nodes: IntArray,
        material: Material,
        law: tuple[float, ...],
        stabilization: Stabilization | None = None,
    ):
        super().__init__(element, points, nodes, material, np.eye(3), stabilization)
        self.law = law

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
