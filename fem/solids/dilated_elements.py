"""The strain energy of elements whose dilatation is its mean over the element, by compiled loops."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, ClassVar, final

import numpy as np

from symplex.fem import forms
from symplex.fem.energy import Array
from symplex.fem.forms import Form
from symplex.fem.solids import dilatation_loops, dilatation_tangents
from symplex.fem.solids.chunked_elements import Loop
from symplex.fem.solids.chunks import NO_COMPENSATION
from symplex.fem.solids.law_elements import LawElements
from symplex.fem.solids.law_segments import known_of
from symplex.meshes.quadrature import gauss_between


def _rule_of_means() -> Array:
    """Return the points s in [0, 1] of Gauss' rule, its weights, and these times s [3, 8]."""
    s, w = gauss_between(8)
    return np.array([s, w, w * s])


# Of segments: their means, and their middle. At one position it is both ends, and changes with all of it.
_MEANS, _MIDDLE = _rule_of_means(), np.array([[0.5], [1.0], [1.0]])


def _with(order: str, *others: Any) -> Callable[[Any], tuple[Any, ...]]:
    """Return what gives a loop the law with its derivatives of an order, and others."""
    return lambda elements: (elements.law.fibres, getattr(elements.law, order), elements.law.parameters, *others)


def _at_positions(order: str, *others: Any) -> Callable[[Any], tuple[Any, ...]]:
    """Return what gives a loop the law, and others, where both ends are the same or only the middle counts."""
    return _with(order, _MIDDLE, np.empty(0), *others)


def _along(order: str, *others: Any) -> Callable[[Any], tuple[Any, ...]]:
    """Return what gives a loop the law, and others, along segments."""
    known = _with(order)
    return lambda elements: (*known(elements), _MEANS, elements.switches, *others)


def _add_gradient(q: Array, *others: Any) -> float:
    return dilatation_loops.add_increment_gradient(q, NO_COMPENSATION, q, *others)


def _add_between(q0: Array, q1: Array, *others: Any) -> float:
    return dilatation_loops.add_increment_gradient(q0, NO_COMPENSATION, q1, *others)


def _add_hessian(q: Array, *others: Any) -> float:
    return dilatation_tangents.add_tangent(q, q, *others)


@final
class DilatedElements(LawElements):
    """The strain energy of elements of mean dilatation whose law is a function of invariants.

    `MeanDilatation` makes it, of elements with up to 8 points of quadrature. There are no secant forms.

    Parameters
    ----------
    element, points, nodes, material, law, directions
        See `LawElements`.
    """

    loops: ClassVar[Mapping[Form, Loop | None]] = {
        forms.GRADIENT: Loop(_add_gradient, _at_positions("first")),
        forms.MEAN_GRADIENT: Loop(_add_between, _at_positions("first")),
        forms.DISCRETE_GRADIENT: Loop(_add_between, _along("first")),
        forms.INCREMENT_GRADIENT: Loop(dilatation_loops.add_increment_gradient, _along("first")),
        forms.HESSIAN: Loop(_add_hessian, _at_positions("second", True)),
        forms.DISCRETE_HESSIAN: Loop(dilatation_tangents.add_tangent, _along("second", False)),
    }
    values: ClassVar[Loop] = Loop(dilatation_loops.set_values, _with("value"))
    stresses: ClassVar[Loop] = Loop(_add_gradient, _at_positions("first"))

    @cached_property
    def switches(self) -> Array:
        """What `dilatation_loops.set_pieces` needs to know of where second derivatives of the law jump; or nothing."""
        law = self.law
        if not law.switch_count:
            return np.empty(0)
        from symplex.fem.solids.dilatation_switches import split_dilated  # is compiled when it is imported

        return known_of(law, split_dilated.address, law.fibres, self._parts.shape[1])
