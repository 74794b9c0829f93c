"""Linear neo-Hookean tetrahedra: assembled forms by kernels of their own."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np

from symplex.fem.energy import Array, IntArray, LatticeFunctions
from symplex.fem.solids import neo_hookean, neo_hookean_discrete, tetrahedra
from symplex.fem.solids.law_elements import LawElements
from symplex.fem.solids.materials import NeoHookean


class NeoHookeanTetrahedra:
    """The forms that loops for any element and any law (`LawElements`) do not compute as fast.

    Parameters
    ----------
    elements : LawElements
        The same linear tetrahedra. They have all other forms, and name the element where something fails.
    material : NeoHookean
    """

    def __init__(self, elements: LawElements, material: NeoHookean):
        self._elements = elements
        self._moduli = material.lmbda, material.mu

    def total(self, q: Array) -> float:
        """Return the energy in J at the nodal positions q [n, 3]."""
        return sum(self._run(neo_hookean.total, (q,)))

    def add_gradient(self, q: Array, out: Array, apart: bool = False) -> None:
        """Add the gradient in N at the nodal positions q [n, 3] to out [n, 3]."""
        self._run(neo_hookean.add_gradient, (q,), out, apart=apart)

    def add_hessian(self, q: Array, slots: IntArray, out: Array, apart: bool = False) -> None:
        """Add the Hessian in N/m at the nodal positions q [n, 3] to the blocks out [nnz, 3, 3] (see `Energy`)."""
        self._run(neo_hookean.add_hessian, (q,), self._elements.blocks.elements, slots, out, apart=apart)

    def gradient(self, x: Array) -> Array:
        """Return ∂φ/∂x [m, 4, 3] in N of the elements with nodes at x [m, 4, 3]."""
        return self._elements.local_vectors(self.add_gradient, x)

    def hessian(self, x: Array) -> Array:
        """Return ∂²φ/∂x² [m, 12, 12] in N/m of the elements with nodes at x [m, 4, 3]."""
        return self._elements.local_blocks(self.add_hessian, x)

    def add_discrete_gradient(self, q0: Array, q1: Array, out: Array) -> None:
        """Add the discrete gradient in N from q0 to q1 [n, 3] to out [n, 3]."""
        self._run(neo_hookean_discrete.add_gradient, (q0, q1), out)

    def add_increment_gradient(self, q: Array, compensation: Array, dq: Array, out: Array) -> None:
        """Add the discrete gradient in N from q + compensation to q + compensation + Δq [n, 3] to out [n, 3]."""
        nodal = q, compensation, dq
        self._run(neo_hookean_discrete.add_increment_gradient, nodal, out, at=(q, q + dq))

    def add_discrete_hessian(self, q0: Array, q1: Array, slots: IntArray, out: Array) -> None:
        """Add ∂DG/∂q1 in N/m from q0 to q1 [n, 3] to the blocks out [nnz, 3, 3] (see `Energy`)."""
        self._run(neo_hookean_discrete.add_hessian, (q0, q1), self._elements.blocks.elements, slots, out)

    def first_piola(self, q: Array) -> Array:
        """Return P [m, 3, 3] in Pa at the nodal positions q [n, 3]."""
        return self._elements.first_piola_of(self.gradient(q[self._elements.nodes]))

    def cauchy(self, q: Array) -> Array:
        """Return σ [m, 3, 3] in Pa at the nodal positions q [n, 3]."""
        return self._elements.cauchy_of(self.gradient(q[self._elements.nodes]), q)

    def lattice_functions(self) -> LatticeFunctions:
        """Return compiled functions of one element (in any axes: W is objective); infinite where it is inverted."""
        from symplex.fem.grid.lattice import neo_hookean_lattice  # compiled when first needed

        elements = self._elements
        G = tetrahedra.shape_gradients(elements.points, elements.nodes)
        return neo_hookean_lattice(*self._moduli, elements.volumes, G)

    def _run(
        self,
        kernel: Callable[..., Any],
        nodal: tuple[Array, ...],
        *arguments: Any,
        at: tuple[Array, ...] | None = None,
        apart: bool = False,
    ) -> list[Any]:
        """Run a kernel on all blocks, and return what it returns for each slab."""
        elements = self._elements
        results = elements.blocks.run(kernel, *nodal, elements.chunk_nodes(apart), *self._in_blocks, *arguments)
        if not all(map(isfinite, results)):
            raise elements.failure(elements.gathered(at or nodal, apart))
        return results

    @cached_property
    def _in_blocks(self) -> tuple:
        """What the kernels need besides positions: k_11, k_22, k_33, k_12, k_13, k_23 in N/m and 1/D in 1/m³."""
        elements = self._elements
        constants = np.empty((len(elements.nodes), neo_hookean.CONSTANTS))
        neo_hookean.constants(elements.points[elements.nodes], self._moduli[1], constants)
        return elements.blocks.counts, elements.blocks.pack(constants), *self._moduli
