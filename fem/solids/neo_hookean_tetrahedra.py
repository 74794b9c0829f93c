"""Linear neo-Hookean tetrahedra: assembled forms by kernels of their own."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np

from symplex.fem import forms
from symplex.fem.blocks import SIZE, Blocks
from symplex.fem.calls import Call
from symplex.fem.energy import Array, IntArray, LatticeFunctions
from symplex.fem.forms import Form
from symplex.fem.solids import neo_hookean, neo_hookean_discrete, neo_hookean_tangent, stress_loops, tetrahedra
from symplex.fem.solids.coupling_sums import PLACES
from symplex.fem.solids.couplings import Couplings, couplings_of
from symplex.fem.solids.law_elements import LawElements
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.stored_calls import stored_call

Kernel = Callable[..., Any]

HAND_WRITTEN: dict[Form, Kernel] = {
    forms.GRADIENT: neo_hookean.add_gradient,
    forms.HESSIAN: neo_hookean.add_hessian,
    forms.DISCRETE_GRADIENT: neo_hookean_discrete.add_gradient,
    forms.INCREMENT_GRADIENT: neo_hookean_discrete.add_increment_gradient,
    forms.DISCRETE_HESSIAN: neo_hookean_discrete.add_hessian,
}


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
        self._couplings: tuple[IntArray, Couplings | None] | None = None  # of the last pattern

    def __getstate__(self) -> dict[str, Any]:
        """Return the state of copies, which find couplings anew."""
        return self.__dict__ | {"_couplings": None}

    def total(self, q: Array) -> float:
        """Return the energy in J at the nodal positions q [n, 3]."""
        return float(self.local_energies(q).sum())

    def local_energies(self, q: Array) -> Array:
        """Return the energies [m] in J of the elements at the nodal positions q [n, 3]."""
        out = np.empty(len(self._elements.nodes))
        self._run(neo_hookean.set_energies, (q,), (q,), self._elements.blocks.elements, out)
        return out

    def add(self, form: Form, nodal: tuple[Array, ...], out: Array, slots: IntArray | None = None) -> None:
        """Add a form at the nodal positions q [n, 3], and other nodal arrays, to out (see `Energy.add`).

        Raises
        ------
        InvertedElement, MaterialFailed
        """
        if form in HAND_WRITTEN:
            self._add(form, nodal, out, slots)
        else:
            self._elements.add(form, nodal, out, slots)

    def add_gradient(self, q: Array, out: Array) -> None:
        """Add the gradient in N at the nodal positions q [n, 3] to out [n, 3]."""
        self._add(forms.GRADIENT, (q,), out, None)

    def gradient_calls(self) -> list[Call]:
        """Return the calls of the loop of the gradient, over all elements on one thread."""
        blocks = self._elements.blocks
        return [stored_call(neo_hookean.add_gradient, (blocks.nodes, *self._in_blocks), blocks.in_order)]

    def local(self, form: Form, *x: Array) -> Array:
        """Return a form of each element apart, as its local function does, for gathered arrays [m, 4, 3]."""
        if form in HAND_WRITTEN:
            return self._elements.of_each(form, x, self._add)
        return self._elements.local(form, *x)

    def first_piola(self, q: Array) -> Array:
        """Return P [m, 3, 3] in Pa at the nodal positions q [n, 3]."""
        return self._elements.first_piola_of(self.local(forms.GRADIENT, q[self._elements.nodes]))

    def cauchy(self, q: Array) -> Array:
        """Return σ [m, 3, 3] in Pa at the nodal positions q [n, 3]."""
        return self._stresses(q, stress_loops.NINE).reshape(-1, 3, 3)

    def von_mises(self, q: Array) -> Array:
        """Return the von Mises stress [m] in Pa at the nodal positions q [n, 3]."""
        return self._stresses(q, 1)[:, 0]

    def _stresses(self, q: Array, numbers: int) -> Array:
        elements = self._elements
        out = np.empty((len(elements.nodes), numbers))
        self._run(stress_loops.set_neo_hookean, (q,), (q,), elements.blocks.elements, out)
        return out

    def lattice_functions(self) -> LatticeFunctions:
        """Return compiled functions of one element (in any axes: W is objective); infinite where it is inverted."""
        from symplex.fem.grid.lattice import neo_hookean_lattice  # compiled when first needed

        elements = self._elements
        G = tetrahedra.shape_gradients(elements.points, elements.nodes)
        return neo_hookean_lattice(*self._moduli, elements.volumes, G)

    def _add(
        self, form: Form, nodal: tuple[Array, ...], out: Array, slots: IntArray | None, apart: bool = False
    ) -> None:
        if form is forms.HESSIAN and not apart and (couplings := self._couplings_of(slots, len(out))) is not None:
            records = couplings.room.value
            self._run(neo_hookean_tangent.set_records, nodal, nodal, self._elements.blocks.elements, records)
            where = couplings.to, couplings.opposite, couplings.start, couplings.codes
            couplings.phases.run(neo_hookean_tangent.add_hessian, records, *where, PLACES, self._moduli[0], out)
            return
        to = (self._elements.blocks.elements, slots, out) if form.is_matrix else (out,)
        self._run(HAND_WRITTEN[form], nodal, form.positions(nodal), *to, apart=apart)

    def _run(
        self, kernel: Kernel, nodal: tuple[Array, ...], at: tuple[Array, ...], *arguments: Any, apart: bool = False
    ) -> list[Any]:
        """Run a kernel on all blocks, and return what it returns for each slab; where it fails, say why."""
        elements = self._elements
        results = elements.blocks.run(kernel, *nodal, elements.chunk_nodes(apart), *self._in_blocks, *arguments)
        if not all(map(isfinite, results)):
            raise elements.failure(elements.gathered(at, apart))
        return results

    def _couplings_of(self, slots: IntArray | None, blocks: int) -> Couplings | None:
        """Return the couplings of the elements on a pattern, found once for it."""
        if slots is None:
            return None
        known = self._couplings
        if known is None or known[0] is not slots:
            known = self._couplings = slots, couplings_of(slots, blocks)
        return known[1]

    @cached_property
    def _in_blocks(self) -> tuple:
        """What the kernels need besides positions."""
        blocks = self._elements.blocks
        return blocks.counts, constants_in_blocks(self._elements.points, blocks, self._moduli[1]), *self._moduli


def constants_in_blocks(points: Array, blocks: Blocks, mu: float) -> Array:
    """Return k_11, k_22, k_33, k_12, k_13, k_23 in N/m and 1/D in 1/m³ of the elements of blocks [blocks, 7 · SIZE].

    Parameters
    ----------
    points : float64 [n, 3]
        Undeformed positions in m.
    blocks : Blocks
        Of linear tetrahedra.
    mu : float
        In Pa.
    """
    constants = np.zeros((len(blocks.counts), neo_hookean.CONSTANTS * SIZE))
    neo_hookean.set_constants(points, blocks.nodes, blocks.counts, mu, constants)
    return constants
