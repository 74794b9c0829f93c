"""How a form of elements is found: by a compiled loop over chunks, or by NumPy functions of a law written in Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import Any, final

import numpy as np
from numba.core.dispatcher import Dispatcher

from symplex.fem import forms
from symplex.fem.calls import Call
from symplex.fem.energy import Array, IntArray
from symplex.fem.forms import Form
from symplex.fem.solids import element_kernels, neo_hookean_tangent
from symplex.fem.solids.coupling_sums import PLACES
from symplex.fem.solids.numpy_forms import Part
from symplex.fem.solids.solid_elements import SolidElements
from symplex.fem.stored_calls import stored_call

_TOGETHER = 512  # elements for which a law is called once, so that the call itself costs little


@dataclass(frozen=True)
class Loop:
    """The compiled loop of a form.

    Attributes
    ----------
    kernel : callable
        It takes nodal arrays, what `SolidElements` knows of chunks, constants, where a matrix goes, and the result.
    constants : callable
        Returns those of given elements.
    nodal : callable, optional
        Returns the nodal arrays that the kernel takes, of those of the form; default: the same.
    """

    kernel: Callable[..., Any]
    constants: Callable[[Any], tuple[Any, ...]]
    nodal: Callable[..., tuple[Array, ...]] | None = None

    def add(
        self,
        elements: SolidElements,
        form: Form,
        nodal: tuple[Array, ...],
        out: Array,
        slots: IntArray | None = None,
        apart: bool = False,
    ) -> None:
        """Add a form to out (see `Energy.add`); ``apart``: of elements that share no nodes.

        Raises
        ------
        InvertedElement, MaterialFailed
        """
        to = (elements.blocks.elements, slots, out) if form.is_matrix else (out,)
        self._run(elements, nodal, form.positions(nodal), apart, *to)

    def values(self, elements: SolidElements, q: Array, apart: bool) -> Array:
        """Return one number of each element [m] at the positions q."""
        out = np.empty((len(elements.rules), len(elements.nodes)))
        self._run(elements, (q,), (q,), apart, elements.blocks.elements, each=out)
        return out[0] if len(out) == 1 else out.sum(axis=0)

    def set_each(self, elements: SolidElements, q: Array, out: Array) -> None:
        """Set rows of out [m, …], one for each element, at the positions q."""
        self._run(elements, (q,), (q,), False, elements.blocks.elements, out)

    def calls(self, elements: SolidElements) -> list[Call] | None:
        """Return the calls of the loop of a gradient, on one thread; None if it takes other arrays than q."""
        if self.nodal is not None or not isinstance(self.kernel, Dispatcher):
            return None
        blocks, constants = elements.blocks, self.constants(elements)
        return [
            stored_call(self.kernel, (blocks.nodes, blocks.counts, *rule, *constants), blocks.in_order)
            for rule in elements.rules
        ]

    def _run(
        self,
        elements: SolidElements,
        nodal: tuple[Array, ...],
        at: tuple[Array, ...],
        apart: bool,
        *arguments: Any,
        each: Array | None = None,
    ) -> None:
        """Run the loop on all chunks; where it fails, say why from the positions ``at``.

        All parts of the rule add to the last of the arguments, or write a row of ``each``.
        """
        nodal = nodal if self.nodal is None else self.nodal(*nodal)
        blocks, nodes, constants = elements.blocks, elements.chunk_nodes(apart), self.constants(elements)
        for i, rule in enumerate(elements.rules):
            out = () if each is None else (each[i],)
            results = blocks.run(self.kernel, *nodal, nodes, blocks.counts, *rule, *constants, *arguments, *out)
            if not all(map(isfinite, results)):
                raise elements.failure([q[elements.nodes_of(apart)] for q in at])


@final
@dataclass(frozen=True)
class CoupledHessian(Loop):
    """The Hessian of many neo-Hookean tetrahedra: coupling by coupling (`symplex.fem.solids.couplings`)."""

    def add(
        self,
        elements: SolidElements,
        form: Form,
        nodal: tuple[Array, ...],
        out: Array,
        slots: IntArray | None = None,
        apart: bool = False,
    ) -> None:
        """Add it to out; see `Loop.add`."""
        couplings = None if apart else elements.couplings_of(slots, len(out))
        if couplings is None:
            super().add(elements, form, nodal, out, slots, apart)
            return
        records = couplings.room.value
        Loop(neo_hookean_tangent.set_records, self.constants).set_each(elements, nodal[0], records)
        where, lmbda = (couplings.to, couplings.opposite, couplings.start, couplings.codes), self.constants(elements)[0]
        couplings.phases.run(neo_hookean_tangent.add_hessian, records, *where, PLACES, lmbda, out)


@final
@dataclass(frozen=True)
class NumpyLoop:
    """A form by a law written in Python, of some chunks at a time.

    Compiled loops find F and C of all their points, the law is called once with all of them, and compiled loops
    integrate what it returns (`symplex.fem.solids.numpy_forms`).

    Attributes
    ----------
    integral : callable
        Returns the form of each element of a part, given F and C at each of its positions, and its other arrays.
    """

    integral: Callable[..., Array]

    def add(
        self,
        elements: SolidElements,
        form: Form,
        nodal: tuple[Array, ...],
        out: Array,
        slots: IntArray | None = None,
        apart: bool = False,
    ) -> None:
        """Add a form to out; see `Loop.add`."""
        scatter, to = forms.SCATTER[form.kind], elements.nodes_of(apart) if slots is None else slots
        self._run(elements, form, nodal, apart, lambda chosen, local: scatter(local, to[chosen], out))

    def values(self, elements: SolidElements, q: Array, apart: bool) -> Array:
        """Return the energies [m]; see `Loop.values`."""
        out = np.empty(len(elements.nodes))
        self._run(elements, forms.GRADIENT, (q,), apart, out.__setitem__)
        return out

    def calls(self, elements: SolidElements) -> None:
        """Return None: there are no calls of a compiled loop."""

    def _run(
        self,
        elements: SolidElements,
        form: Form,
        nodal: tuple[Array, ...],
        apart: bool,
        store: Callable[[IntArray, Array], None],
    ) -> None:
        """Hand what the integral is of some elements to store, of some chunks at a time, on several threads."""
        blocks, nodes, (order, whole) = elements.blocks, elements.nodes_of(apart), elements.in_order
        ends, together = (
            np.cumsum(blocks.counts),
            max(_TOGETHER * len(blocks.counts) // max(len(blocks.elements), 1), 1),
        )

        def gathered(chosen: IntArray) -> tuple[list[Array], list[Array]]:
            """Return the positions and the other arrays of some elements."""
            at = nodes[chosen]
            x = [q[at] for q in nodal]
            if form is not forms.INCREMENT_GRADIENT:
                return x[: form.ends], x[form.ends :]
            # of differences within elements: positions far away have few digits
            start, compensation, moved = (y - y[:, :1] for y in x)
            return [start + compensation, start + (compensation + moved)], []

        def slab(first: int, last: int) -> bool:
            with np.errstate(all="ignore"):  # what is not finite is found below
                for chunk in range(first, last, together):
                    end = ends[min(chunk + together, last) - 1]
                    some = slice(ends[chunk] - blocks.counts[chunk], end)
                    part = Part(elements.law_at(order[some]), whole.weights[some], whole.gradients[some])
                    positions, others = gathered(order[some])
                    strains: list[Array] = []
                    for x in positions:
                        F, C, valid = strains_of(part, x)
                        if not valid:
                            return False
                        strains += (F, C)
                    local = self.integral(part, *strains, *others)
                    if not isfinite(local.sum()):
                        return False
                    store(order[some], local)
            return True

        if not all(blocks.run(slab)):
            raise elements.failure(gathered(np.arange(len(nodes), dtype=np.int32))[0])


def strains_of(part: Part, x: Array) -> tuple[Array, Array, bool]:
    """Return F, C [e, g, 3, 3] of a part at x [e, k, 3], and whether no element is inverted.

    Where the law is not objective, 1 is returned for F, and nothing counts as inverted.
    """
    F, C = np.empty((2, *part.weights.shape, 3, 3))
    objective = part.material.objective
    valid = element_kernels.deformations(np.ascontiguousarray(x), part.gradients, objective, F, C)
    return F, C, bool(valid) or not objective
