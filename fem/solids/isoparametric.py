"""The strain energy of isoparametric elements with any law as NumPy functions.

Elements are taken some blocks (`symplex.fem.blocks`) at a time: compiled loops find F and C of all their points, the
law is called once with all of them, and compiled loops integrate what it returns (`symplex.fem.solids.numpy_forms`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from math import inf, isfinite
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from symplex.errors import InvertedElement, MaterialFailed
from symplex.fem import forms
from symplex.fem.blocks import Blocks
from symplex.fem.energy import Array, IntArray
from symplex.fem.forms import Form
from symplex.fem.solids import element_kernels, elements, failures, tensors
from symplex.fem.solids.constitutive import Material
from symplex.fem.solids.element_energy import ElementEnergy
from symplex.fem.solids.elements import Element
from symplex.fem.solids.numpy_forms import INTEGRALS, Part, energies, stress

TOGETHER = 4  # blocks for which a law is called once, so that the call itself costs little


class Isoparametric(ElementEnergy):
    """The strain energy of elements of one type and one material.

    `Solid` makes it, and checks the arrays that are handed to it: all are contiguous and of the right shape.

    Parameters
    ----------
    element : Element
    points : float64 [n, 3]
        Undeformed positions in m of the nodes of the whole mesh.
    nodes : int32 [m, k]
        The nodes of the elements.
    material : Material
    slopes : float64 [m, k, 3], optional
        Of each element at one point that stands for all of it (see `symplex.fem.solids.chunked_elements`).

    Attributes
    ----------
    volumes : float64 [m]
        Undeformed volumes in m³.

    Raises
    ------
    MeshError
        If an undeformed element has no positive volume everywhere.
    """

    # What integrates the forms, energies and stresses of a part of the elements.
    integrals: ClassVar[Mapping[Form, Callable[..., Array]]] = INTEGRALS
    energies: ClassVar[Callable[..., Array]] = staticmethod(energies)
    stress: ClassVar[Callable[..., Array]] = staticmethod(stress)

    def __init__(
        self, element: Element, points: Array, nodes: IntArray, material: Material, slopes: Array | None = None
    ):
        self.element = element
        self.nodes = nodes
        self.material = material
        at_points = element.shapes(element.stiffness.points)[1][None] if slopes is None else slopes[:, None]
        J = points[nodes][:, None].swapaxes(2, 3) @ at_points
        det = elements.checked_determinants(element, nodes, J)
        # ∇N_a = J⁻ᵀ ∂N_a/∂ξ = cof J ∂N_a/∂ξ / det J
        cofactors = tensors.cofactors(J.reshape(-1, 3, 3)).reshape(J.shape) / det[:, :, None, None]
        gradients = cofactors @ at_points.swapaxes(2, 3)
        weights = det * (element.stiffness.weights if slopes is None else 1.0)
        self.volumes = weights.sum(axis=1)
        # Everything is kept in the order of the blocks, so that a block is a slice.
        self.blocks = Blocks(nodes, points)
        self._order = self.blocks.elements[self.blocks.elements >= 0]
        self._ends = np.cumsum(self.blocks.counts)
        self._nodes, self._weights = nodes[self._order], weights[self._order]
        self._gradients = np.ascontiguousarray(gradients[self._order])

    # -- forms ------------------------------------------------------------------------------------------------

    def add(self, form: Form, nodal: tuple[Array, ...], out: Array, slots: IntArray | None = None) -> None:
        """Add a form at the nodal positions q [n, 3], and other nodal arrays, to out (see `Energy.add`).

        Raises
        ------
        InvertedElement, MaterialFailed
        """
        scatter = forms.SCATTER[form.kind]

        def store(part: slice, local: Array) -> None:
            scatter(local, self._nodes[part] if not form.is_matrix or slots is None else slots[self._order[part]], out)

        self._sweep(self.integrals[form], form, nodal, lambda q, part: q[self._nodes[part]], store)

    def local(self, form: Form, *x: Array) -> Array:
        """Return a form of each element apart, as its local function does, for gathered arrays [m, k, 3]."""
        return self._local(self.integrals[form], form, x, form.local_shape(*x[0].shape))

    def value(self, x: Array) -> Array:
        """Return the strain energies [m] in J of the elements with nodes at x [m, k, 3]."""
        return self._local(self.energies, forms.GRADIENT, (x,), (len(x),))

    def local_value(self, stencil: int, x: Array) -> float:
        """Return φ in J of one element with nodes at x [k, 3]; infinite where it is inverted."""
        place = self._places[stencil]
        part = slice(place, place + 1)
        F, C, valid = self._strains(part, np.ascontiguousarray(x[None], dtype=float))
        with np.errstate(all="ignore"):
            return float(self.energies(self._part(part), F, C)[0]) if valid else inf

    @cached_property
    def _places(self) -> NDArray[np.intp]:
        """Where each element is in the order of the blocks."""
        return np.argsort(self._order)

    def _local(
        self, integrate: Callable[..., Array], form: Form, x: tuple[Array, ...], shape: tuple[int, ...]
    ) -> Array:
        out = np.empty(shape)

        def store(part: slice, local: Array) -> None:
            out[self._order[part]] = local

        self._sweep(integrate, form, x, lambda x, part: x[self._order[part]], store)
        return out

    # -- block by block ---------------------------------------------------------------------------------------

    def _sweep(
        self,
        integrate: Callable[..., Array],
        form: Form,
        arrays: tuple[Array, ...],
        gather: Callable[[Array, slice], Array],
        store: Callable[[slice, Array], None],
    ) -> None:
        """Store what integrate(part, F, C, …) returns for each part of the elements, some blocks, on several threads.

        Raises
        ------
        InvertedElement, MaterialFailed
        """

        def gathered(part: slice) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
            """Return the positions and the other arrays of a part."""
            x = tuple(gather(array, part) for array in arrays)
            if form is not forms.INCREMENT_GRADIENT:
                return x[: form.ends], x[form.ends :]
            # of differences within elements: positions far away have few digits
            start, compensation, moved = (y - y[:, :1] for y in x)
            return (start + compensation, start + (compensation + moved)), ()

        def slab(first: int, last: int) -> bool:
            with np.errstate(all="ignore"):  # what is not finite is found below
                for block in range(first, last, TOGETHER):
                    end = self._ends[min(block + TOGETHER, last) - 1]
                    part = slice(self._ends[block] - self.blocks.counts[block], end)
                    positions, others = gathered(part)
                    strains: list[Array] = []
                    for x in positions:
                        F, C, valid = self._strains(part, x)
                        if not valid:
                            return False
                        strains += (F, C)
                    local = integrate(self._part(part), *strains, *others)
                    if not isfinite(local.sum()):
                        return False
                    store(part, local)
            return True

        if not all(self.blocks.run(slab)):
            raise self._failure(gathered(slice(None))[0])

    def _part(self, part: slice) -> Part:
        return Part(self.material, self._weights[part], self._gradients[part])

    def _strains(self, part: slice, x: Array) -> tuple[Array, Array, bool]:
        """Return F, C [e, g, 3, 3] at x [e, k, 3], and whether no element is inverted.

        Where the law is not objective, 1 is returned for F, and nothing counts as inverted.
        """
        G = self._gradients[part]
        F, C = np.empty((2, *self._weights[part].shape, 3, 3))
        valid = element_kernels.deformations(x, G, self.material.objective, F, C)
        return F, C, bool(valid) or not self.material.objective

    # -- strain and stress, for output ------------------------------------------------------------------------

    def deformation_gradients(self, q: Array) -> Array:
        """Return the mean over the undeformed volume of F [m, 3, 3] at the nodal positions q [n, 3]."""
        F = np.einsum("eai,egKa->egiK", q[self._nodes], self._gradients, optimize=True)
        return self._mean(F, self._weights)

    def jacobians(self, q: Array) -> Array:
        """Return deformed over undeformed volume [m] at the nodal positions q [n, 3]."""
        F = np.einsum("eai,egKa->egiK", q[self._nodes], self._gradients, optimize=True)
        return self._mean(tensors.determinants(F), self._weights)

    def first_piola(self, q: Array) -> Array:
        """Return the mean over the undeformed volume of P = F S [m, 3, 3] in Pa at the nodal positions q [n, 3].

        Raises
        ------
        InvertedElement, MaterialFailed
        """
        F, S = self._stresses(q)
        return self._mean(F @ S, self._weights)

    def cauchy(self, q: Array) -> Array:
        """Return the mean over the deformed volume of σ = F S Fᵀ/J [m, 3, 3] in Pa at the nodal positions q [n, 3].

        Raises
        ------
        InvertedElement, MaterialFailed
        """
        F, S = self._stresses(q)
        J = tensors.determinants(F)
        sigma = F @ S @ F.swapaxes(-1, -2) / J[:, :, None, None]
        return self._mean(sigma, self._weights * J)

    def _stresses(self, q: Array) -> tuple[Array, Array]:
        """Return F (1 if the law is not objective) and S [m, g, 3, 3], in the order of the blocks."""
        F, C, valid = self._strains(slice(None), np.ascontiguousarray(q[self._nodes]))
        with np.errstate(all="ignore"):
            S = self.stress(self._part(slice(None)), C) if valid else F
        if not (valid and np.isfinite(S).all()):
            raise self._failure((q[self._nodes],))
        return F, S

    def _mean(self, values: Array, weights: Array) -> Array:
        """Return the weighted means [m, …] of values [m, g, …] in the order of the blocks."""
        out = np.empty((len(values), *values.shape[2:]))
        out[self._order] = np.einsum("eg...,eg->e...", values, weights / weights.sum(axis=1, keepdims=True))
        return out

    # -- failures ---------------------------------------------------------------------------------------------

    def _failure(self, positions: tuple[Array, ...]) -> InvertedElement | MaterialFailed:
        """Return the error about the first element that is inverted, or whose energy or stress is not finite.

        The positions [m, k, 3] are in the order of the blocks.
        """
        F = [np.einsum("eai,egKa->egiK", x, self._gradients, optimize=True) for x in positions]
        return failures.failure(self.material, self.nodes, self._order, F, self._part(slice(None)).material)
