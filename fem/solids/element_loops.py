"""How a form of elements is found: by a compiled loop over chunks, or by NumPy functions of a law written in Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import Any, final

import numpy as np

from symplex.fem.assembly import forms
from symplex.fem.assembly.calls import Call, known_rows
from symplex.fem.assembly.forms import Form
from symplex.fem.energies.energy import Array, IntArray
from symplex.fem.solids import element_kernels, neo_hookean_tangent
from symplex.fem.solids.numpy_forms import Part
from symplex.fem.solids.solid_elements import Constants, SolidElements

_COUPLED = forms.HESSIAN._replace(is_matrix=False, takes=0)  # by a kernel that knows positions and places
_TOGETHER = 512  # elements for which a law is called once, so that the call itself costs little


@dataclass(frozen=True)
class Loop:
    """The compiled loop of a form.

    Attributes
    ----------
    kernel : callable
        See `symplex.fem.assembly.forms`; its record is one of `Elements`, its ranges are of chunks.
    constants : callable
        Returns the class of the record of given elements, and what else than their chunks it has.
    nodal : callable, optional
        Returns the nodal arrays that the kernel takes, of those of the form; default: the same.
    """

    kernel: Any
    constants: Constants
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
        """Add a form to out (see `Energy.add`); ``apart``: of elements that share no nodes."""
        taken = nodal if self.nodal is None else self.nodal(*nodal)
        form_taken = form if self.nodal is None else form._replace(takes=len(taken))
        for call in elements.calls(self.kernel, self.constants, apart):
            row = known_rows(call.record, form_taken, lambda call=call: [call], slots)
            if not isfinite(elements.blocks.phases.add(row, taken, out, slots)):
                raise elements.failure([q[elements.nodes_of(apart)] for q in form.positions(nodal)])

    def calls(self, elements: SolidElements) -> list[Call] | None:
        """Return the calls of the loop; None if it takes other arrays than the form."""
        return elements.calls(self.kernel, self.constants) if self.nodal is None else None


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
        alpha = self.constants(elements)[1]["lmbda"]
        couplings = None if apart else elements.couplings_of(slots, len(out), alpha)
        if couplings is None:
            super().add(elements, form, nodal, out, slots, apart)
            return
        record = couplings.of_thread.value
        Loop(neo_hookean_tangent.set_records, self.constants).add(elements, forms.GRADIENT, nodal, record.records)
        call = Call(neo_hookean_tangent.add_hessian, record, couplings.phases.ranges)
        couplings.phases.add(known_rows(record, _COUPLED, lambda: [call]), (), out)


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
        to, scatter = elements.nodes_of(apart) if slots is None else slots, forms.SCATTER.get(form.kind)

        def store(chosen: IntArray, local: Array) -> None:
            if scatter is None:
                out[chosen] += local
            else:
                scatter(local, to[chosen], out)

        self._run(elements, form, nodal, apart, store)

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

        if not all(blocks.phases.run(slab)):
            raise elements.failure(gathered(np.arange(len(nodes), dtype=np.int32))[0])


def strains_of(part: Part, x: Array) -> tuple[Array, Array, bool]:
    """Return F, C [e, g, 3, 3] of a part at x [e, k, 3], and whether no element is inverted.

    Where the law is not objective, 1 is returned for F, and nothing counts as inverted.
    """
    F, C = np.empty((2, *part.weights.shape, 3, 3))
    objective = part.material.objective
    valid = element_kernels.deformations(np.ascontiguousarray(x), part.gradients, objective, F, C)
    return F, C, bool(valid) or not objective
