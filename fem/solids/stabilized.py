"""Hexahedra of one point of quadrature with an hourglass energy: they neither lock in bending nor with rubber."""

from __future__ import annotations

from collections.abc import Iterable
from typing import final

import numpy as np

from symplex.fem.energy import Array, IntArray, LatticeFunctions
from symplex.fem.forms import Form
from symplex.fem.solids.chunked_elements import Stabilization
from symplex.fem.solids.constitutive import InvariantMaterial, Material, Oriented
from symplex.fem.solids.element_energy import ElementEnergy, ElementForms
from symplex.fem.solids.elements import HEXAHEDRON
from symplex.fem.solids.hourglass import constants_of, hexahedra_of, moduli_of
from symplex.fem.solids.hourglass_forms import Hourglasses
from symplex.fem.solids.isoparametric import Isoparametric
from symplex.fem.solids.law_elements import LawElements
from symplex.fem.solids.linear_elements import LinearElements

_LITTLE = 1e-6  # so that the mean is that of a smooth law to 1e-12


@final
class StabilizedHexahedra(ElementEnergy):
    """The strain energy V W(C0) of the mean deformation F0 of hexahedra, and their hourglass energy.

    `Solid` makes it. See `symplex.fem.solids.hourglass`.

    Parameters
    ----------
    points : float64 [n, 3]
        Undeformed positions in m of the nodes of the whole mesh.
    nodes : int32 [m, 8]
        The nodes of the elements.
    material : Material
    directions : float64 [F, 3] or [F, m, 3]
        Of the material's families of fibres, of length 1: in the whole body, or of each element.

    Raises
    ------
    MeshError
        If an undeformed element has no positive volume everywhere.
    InvalidSystem
        If the undeformed material has no positive stiffness.
    """

    def __init__(self, points: Array, nodes: IntArray, material: Material, directions: Array):
        geometry = hexahedra_of(points, nodes)
        self.nodes = nodes
        self.volumes = geometry.volumes
        elasticities = undeformed_elasticities(material, directions if directions.ndim == 3 else None)
        moduli = moduli_of(geometry, material, elasticities)
        known = Stabilization(geometry.slopes, constants_of(geometry, moduli, material.objective))
        law, linear = material.law_functions(), material.linear_constants()
        self._mean: LawElements | LinearElements | Isoparametric
        self._hourglasses: Hourglasses | None = None
        if law is not None:
            self._mean = LawElements(HEXAHEDRON, points, nodes, material, law, directions, known)
        elif linear is not None:
            self._mean = LinearElements(HEXAHEDRON, points, nodes, material, linear, known)
        else:
            self._mean = Isoparametric(HEXAHEDRON, points, nodes, material, geometry.slopes)
            self._hourglasses = Hourglasses(nodes, geometry, moduli, material.objective)

    # -- forms ------------------------------------------------------------------------------------------------

    def add(self, form: Form, nodal: tuple[Array, ...], out: Array, slots: IntArray | None = None) -> None:
        """Add a form at the nodal positions q [n, 3], and other nodal arrays, to out (see `Energy.add`).

        Raises
        ------
        InvertedElement
            If det F0 ≤ 0.
        MaterialFailed
        """
        for part in self._energies:
            part.add(form, nodal, out, slots)

    def local(self, form: Form, *x: Array) -> Array:
        """Return a form of each element apart, as its local function does, for gathered arrays [m, 8, 3]."""
        return _sum(part.local(form, *x) for part in self._energies)

    def value(self, x: Array) -> Array:
        """Return the strain energies [m] in J of the elements with nodes at x [m, 8, 3]."""
        return _sum(part.value(x) for part in self._energies)

    def total(self, q: Array) -> float:
        """Return the energy in J at the nodal positions q [n, 3]."""
        return sum(part.total(q) for part in self._energies)

    def local_value(self, stencil: int, x: Array) -> float:
        """Return φ in J of one element with nodes at x [8, 3]; infinite where it is inverted."""
        return sum(part.local_value(stencil, x) for part in self._energies)

    def lattice_functions(self, axes: Array | None = None) -> LatticeFunctions:
        """Return functions of one element: compiled for laws of invariants, else evaluated in Python."""
        if isinstance(self._mean, LawElements):
            return self._mean.lattice_functions(axes)
        return super().lattice_functions(axes)

    @property
    def chunked(self) -> ElementEnergy | None:
        """What finds all forces, if it is one of the two."""
        return self._mean if self._hourglasses is None else None

    @property
    def _energies(self) -> tuple[ElementForms, ...]:
        """What sums up to the energy: compiled loops have both parts of it."""
        return (self._mean,) if self._hourglasses is None else (self._mean, self._hourglasses)

    # -- strain and stress, for output: those of the mean deformation ---------------------------------------------

    def deformation_gradients(self, q: Array) -> Array:
        """Return F0 [m, 3, 3] at the nodal positions q [n, 3]."""
        return self._mean.deformation_gradients(q)

    def jacobians(self, q: Array) -> Array:
        """Return det F0 [m] at the nodal positions q [n, 3]."""
        return self._mean.jacobians(q)

    def first_piola(self, q: Array) -> Array:
        """Return P [m, 3, 3] in Pa of F0 at the nodal positions q [n, 3].

        Raises
        ------
        InvertedElement, MaterialFailed
        """
        return self._mean.first_piola(q)

    def cauchy(self, q: Array) -> Array:
        """Return σ [m, 3, 3] in Pa of F0 at the nodal positions q [n, 3].

        Raises
        ------
        InvertedElement, MaterialFailed
        """
        return self._mean.cauchy(q)


def _sum(parts: Iterable[Array]) -> Array:
    first, *others = parts
    for other in others:
        first = first + other
    return first


def undeformed_elasticities(material: Material, fibres: Array | None) -> Array:
    """Return ℂ in Pa of the undeformed material: [1, 3, 3, 3, 3], or [m, …] with fibres of each element [F, m, 3].

    The mean of those stretched and compressed a little: with fibres that bear tension only, ℂ has a step there.
    """
    m = 1
    if fibres is not None:
        assert isinstance(material, InvariantMaterial)
        material, m = Oriented(material, fibres), fibres.shape[1]
    C = np.repeat(np.eye(3)[None], m, axis=0)
    return 0.5 * (material.tangent((1.0 + _LITTLE) * C) + material.tangent((1.0 - _LITTLE) * C))
