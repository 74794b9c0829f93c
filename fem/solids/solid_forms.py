"""The table of the forms of solids: which loops find each of them, by the element, its law and its formulation.

A law is a function of invariants (`Material.law_functions`), a stress that is linear in the linear strain
(`Material.linear_constants`), or written in Python. To add a formulation, or loops that are faster for some elements of
some law, is to add an entry here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from symplex.fem.assembly import forms
from symplex.fem.assembly.forms import Form
from symplex.fem.energies.energy import Array, LatticeFunctions
from symplex.fem.solids import (
    dilatation_loops,
    dilatation_tangents,
    law_discrete,
    law_discrete_tangents,
    law_gradients,
    law_hessians,
    law_means,
    law_secants,
    law_third,
    linear_loops,
    mean_dilatation,
    neo_hookean,
    neo_hookean_discrete,
    neo_hookean_product,
    numpy_forms,
    stress_loops,
    tetrahedra,
)
from symplex.fem.solids.chunks import GEOMETRY, NO_COMPENSATION, Elements
from symplex.fem.solids.constitutive import Material
from symplex.fem.solids.element_loops import CoupledHessian, Loop, NumpyLoop
from symplex.fem.solids.elements import Element
from symplex.fem.solids.law_gradients import LawElements
from symplex.fem.solids.law_segments import switches_of
from symplex.fem.solids.linear_loops import AnisotropicElements, IsotropicElements
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.solids.neo_hookean import NeoHookeanElements
from symplex.fem.solids.numpy_forms import Part
from symplex.fem.solids.solid_elements import Constants, parts_of_rule
from symplex.meshes.quadrature import gauss_between

Loops = tuple[Loop | NumpyLoop, ...]  # what they find adds up


class SolidForms(NamedTuple):
    """How all is found of the elements of a solid.

    Attributes
    ----------
    loops : mapping of Form to Loops
        None of a form that is zero; the optional forms that there are not are missing.
    forces : Loop or NumpyLoop
        The gradient of the law alone, without an hourglass energy: what stresses are found from.
    energies, stress : callable
        Return φ [e] of F and C at the points of a part, and S [e, g, 3, 3] of C, by the law as NumPy functions.
    cauchy : Loop, optional
        Sets σ [m, 9] or the von Mises stress [m, 1].
    lattice : callable, optional
        Returns compiled functions of one element; None if they are evaluated in Python.
    """

    loops: Mapping[Form, Loops]
    forces: Loop | NumpyLoop
    energies: Callable[[Part, Array, Array], Array] = numpy_forms.energies
    stress: Callable[[Part, Array], Array] = numpy_forms.stress
    cauchy: Loop | None = None
    lattice: Callable[[Any], LatticeFunctions] | None = None


def forms_of(element: Element, material: Material, formulation: str) -> SolidForms:
    """Return the entry of the table."""
    of_invariants = material.law_functions() is not None
    if formulation == "mean-dilatation":
        one_chunk = len(parts_of_rule(len(element.stiffness.points))) == 1
        return _DILATED if of_invariants and one_chunk else _NUMPY_DILATED
    if of_invariants:
        return _NEO_HOOKEAN if element.kind == "tetra" and isinstance(material, NeoHookean) else _OF_INVARIANTS
    if material.linear_constants() is not None:
        return _LINEAR
    found = _NUMPY if material.objective else _NUMPY_SMALL
    if formulation != "stabilized":
        return found
    hourglass = _OF_INVARIANTS if material.objective else _LINEAR  # the law that they are given has no energy
    both = {form: loops + hourglass.loops[form] for form, loops in found.loops.items()}
    return found._replace(loops=both)


# -- laws of invariants ---------------------------------------------------------------------------------------


_NO_RULE, _NO_SWITCHES = np.empty((2, 0)), np.empty(0)


def _at(order: str, hourglass: str = "forces") -> Constants:
    """Return what gives a record the law with its derivatives of an order, and a function of the hourglass energy."""

    def constants(elements: Any) -> tuple[type[Elements], dict[str, Any]]:
        law = elements.law
        known = {"fibres": law.fibres, "has_i2": law.has_i2, "law": getattr(law, order), "parameters": law.parameters}
        hourglasses = elements.hourglass(hourglass)
        return LawElements, {**known, "hourglass": hourglasses, "rule": _NO_RULE, "switches": _NO_SWITCHES}

    return constants


def _along(order: str, hourglass: str = "forces") -> Constants:
    """Return the same for increments."""

    def constants(elements: Any) -> tuple[type[Elements], dict[str, Any]]:
        kind, known = _at(order, hourglass)(elements)
        return kind, {**known, "rule": elements.rule, "switches": switches_of(elements.law)}

    return constants


def _between(q0: Array, q1: Array) -> tuple[Array, ...]:
    """Return what loops of increments take for two positions."""
    return q0, NO_COMPENSATION, q1


def _lattice(elements: Any) -> LatticeFunctions:
    """Return compiled functions of one element (in any axes: C is the same); infinite where it is inverted."""
    from symplex.fem.solids.lattice_solids import solid_lattice  # C functions are compiled when it is imported

    known = elements.at_points()[..., : GEOMETRY + 3 * elements.law.fibres]
    slopes = elements.slopes[None] if elements.own_slopes is None else elements.own_slopes
    return solid_lattice(
        elements.law, slopes, elements.point_weights, known, elements.rule, elements.hourglass_constants
    )


_IN_INCREMENTS = _along("first")
_FORCES = Loop(law_gradients.add_gradient, _at("first"))
_OF_INVARIANTS = SolidForms(
    {
        forms.GRADIENT: (_FORCES,),
        forms.HESSIAN: (Loop(law_hessians.add_hessian, _at("second", "blocks")),),
        forms.SECANT: (Loop(law_secants.add_secant, _at("first", "secants")),),
        forms.SECANT_RATE: (Loop(law_secants.add_secant_rate, _at("second", "secants")),),
        forms.THIRD: (Loop(law_third.add_third, _at("third")),),
        forms.MEAN_GRADIENT: (Loop(law_means.add_mean_gradient, _at("first")),),
        forms.DISCRETE_GRADIENT: (Loop(law_discrete.add_increment_gradient, _IN_INCREMENTS, _between),),
        forms.INCREMENT_GRADIENT: (Loop(law_discrete.add_increment_gradient, _IN_INCREMENTS),),
        forms.DISCRETE_HESSIAN: (Loop(law_discrete_tangents.add_discrete_hessian, _along("second", "blocks")),),
        forms.VALUE: (Loop(law_gradients.write_values, _at("value", "energies")),),
    },
    forces=Loop(law_gradients.add_gradient, _at("first", "no_forces")),
    lattice=_lattice,
)


# -- linear tetrahedra of a neo-Hookean material --------------------------------------------------------------


def _moduli(elements: Any) -> tuple[type[Elements], dict[str, Any]]:
    """Return what gives a record λ and μ."""
    return NeoHookeanElements, {"lmbda": elements.material.lmbda, "mu": elements.material.mu}


def _neo_hookean_lattice(elements: Any) -> LatticeFunctions:
    """Return compiled functions of one tetrahedron (in any axes: W is objective); infinite where it is inverted."""
    from symplex.fem.grid.lattice import neo_hookean_lattice  # compiled when first needed

    gradients = tetrahedra.shape_gradients(elements.points, elements.nodes)
    return neo_hookean_lattice(elements.material.lmbda, elements.material.mu, elements.volumes, gradients)


_BY_HAND = Loop(neo_hookean.add_gradient, _moduli)
_NEO_HOOKEAN = _OF_INVARIANTS._replace(
    loops={
        **_OF_INVARIANTS.loops,
        forms.GRADIENT: (_BY_HAND,),
        forms.HESSIAN: (CoupledHessian(neo_hookean.add_hessian, _moduli),),
        forms.HESSIAN_PRODUCT: (Loop(neo_hookean_product.add_hessian_product, _moduli),),
        forms.DISCRETE_GRADIENT: (Loop(neo_hookean_discrete.add_increment_gradient, _moduli, _between),),
        forms.INCREMENT_GRADIENT: (Loop(neo_hookean_discrete.add_increment_gradient, _moduli),),
        forms.DISCRETE_HESSIAN: (Loop(neo_hookean_discrete.add_discrete_hessian, _moduli),),
        forms.VALUE: (Loop(neo_hookean.write_values, _moduli),),
    },
    forces=_BY_HAND,
    cauchy=Loop(stress_loops.set_neo_hookean, _moduli),
    lattice=_neo_hookean_lattice,
)


# -- a stress that is linear in the linear strain: the energy is quadratic ------------------------------------


def _linear(hourglass: str, factor: float = 1.0) -> Constants:
    """Return what gives a record the numbers of the law, a factor, and a function of the hourglass energy."""

    def constants(elements: Any) -> tuple[type[Elements], dict[str, Any]]:
        kind = IsotropicElements if len(elements.law) == 2 else AnisotropicElements
        known = {"law": elements.law, "factor": factor, "fibres": linear_loops.AXES}
        return kind, {**known, "hourglass": elements.hourglass(hourglass)}

    return constants


_LINEAR_FORCES = _linear("forces")
_HALF_WAY = (Loop(linear_loops.add_increment_gradient, _LINEAR_FORCES, _between),)
_LINEAR = SolidForms(
    {
        forms.GRADIENT: (Loop(linear_loops.add_gradient, _LINEAR_FORCES),),
        forms.HESSIAN: (Loop(linear_loops.add_hessian, _linear("blocks")),),
        forms.DISCRETE_GRADIENT: _HALF_WAY,
        forms.INCREMENT_GRADIENT: (Loop(linear_loops.add_increment_gradient, _LINEAR_FORCES),),
        forms.DISCRETE_HESSIAN: (Loop(linear_loops.add_hessian, _linear("blocks", 0.5), lambda q0, q1: (q0,)),),
        forms.MEAN_GRADIENT: _HALF_WAY,
        forms.THIRD: (),
        forms.VALUE: (Loop(linear_loops.write_values, _linear("energies")),),
    },
    forces=Loop(linear_loops.add_gradient, _linear("no_forces")),
)


# -- mean dilatation: laws of invariants, of elements with up to 8 points -------------------------------------


def _rule_of_means() -> Array:
    """Return the points s in [0, 1] of Gauss' rule, its weights, and these times s [3, 8]."""
    s, w = gauss_between(8)
    return np.array([s, w, w * s])


# Of segments: their means, and their middle. At one position it is both ends, and changes with all of it.
_MEANS, _MIDDLE = _rule_of_means(), np.array([[0.5], [1.0], [1.0]])


def _dilated(order: str) -> Constants:
    """Return what gives a record the law with its derivatives of an order at one place."""

    def constants(elements: Any) -> tuple[type[Elements], dict[str, Any]]:
        kind, known = _at(order)(elements)
        return kind, {**known, "rule": _MIDDLE}

    return constants


def _dilated_along(order: str) -> Constants:
    """Return what gives a record the law along segments, and where its second derivatives jump there."""

    def constants(elements: Any) -> tuple[type[Elements], dict[str, Any]]:
        kind, known = _at(order)(elements)
        return kind, {**known, "rule": _MEANS, "switches": switches_of(elements.law, elements.chunk_points)}

    return constants


_NUMPY_DILATED = SolidForms(
    {form: (NumpyLoop(integral),) for form, integral in mean_dilatation.INTEGRALS.items()},
    forces=NumpyLoop(mean_dilatation.INTEGRALS[forms.GRADIENT]),
    energies=mean_dilatation.energies,
    stress=mean_dilatation.stress,
)
_add = dilatation_loops.add_increment_gradient
_first, _first_along = _dilated("first"), _dilated_along("first")
_OF_DILATED = Loop(dilatation_loops.add_gradient, _at("first"))
_DILATED = _NUMPY_DILATED._replace(
    loops={
        **_NUMPY_DILATED.loops,  # secant forms
        forms.GRADIENT: (_OF_DILATED,),
        forms.MEAN_GRADIENT: (Loop(_add, _first, _between),),
        forms.DISCRETE_GRADIENT: (Loop(_add, _first_along, _between),),
        forms.INCREMENT_GRADIENT: (Loop(_add, _first_along),),
        forms.HESSIAN: (Loop(dilatation_tangents.add_hessian, _at("second")),),
        forms.DISCRETE_HESSIAN: (Loop(dilatation_tangents.add_discrete_hessian, _dilated_along("second")),),
        forms.VALUE: (Loop(dilatation_loops.write_values, _at("value")),),
    },
    forces=_OF_DILATED,
)


# -- laws written in Python -----------------------------------------------------------------------------------

_NUMPY = SolidForms(
    {form: (NumpyLoop(integral),) for form, integral in numpy_forms.INTEGRALS.items()},
    forces=NumpyLoop(numpy_forms.INTEGRALS[forms.GRADIENT]),
)
# Forces of small strains do not turn with the body, as 𝓕 x does.
_NUMPY_SMALL = _NUMPY._replace(loops={form: one for form, one in _NUMPY.loops.items() if form.optional != "secant"})
