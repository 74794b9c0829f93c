"""Energies whose forms are kernels over stencils."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from symplex.errors import InvalidSystem
from symplex.fem.assembly import forms
from symplex.fem.assembly.calls import Call, known_rows, run, run_apart, run_matrix, whole
from symplex.fem.assembly.forms import Form
from symplex.fem.assembly.nodes import require_nodal
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.compiled.records import Record
from symplex.fem.energies.energy import Energy


class KernelForms:
    """What has kernels for its gradient, Hessian, discrete gradient and that one's Hessian, and perhaps others.

    Attributes
    ----------
    kernels : mapping of str to callable
        By the names of forms (see `symplex.fem.assembly.forms`).
    nodes : int32 [m, k]
        The stencils.
    record : Record or None
        What kernels read; None where that depends on positions.
    """

    kernels: ClassVar[Mapping[str, Any]]
    nodes: IntArray
    _record: Record | None
    _dim: int | None  # of space, if they are made for one

    def _compose(self, dim: int | None, record: Record | None) -> None:
        self._dim, self._record = dim, record
        self._least_nodes = int(self.nodes.max(initial=-1)) + 1

    @property
    def record(self) -> Record | None:
        """What kernels read."""
        return self._record

    def calls(self, form: Form, dim: int) -> Sequence[Call] | None:
        """Return the calls by which a form is added up in a space; None if there is no kernel for it."""
        kernel = self.kernels.get(form.name)
        if kernel is None or self.record is None or (self._dim or dim) != dim or dim > 3:
            return None
        return [Call(kernel, self.record, whole(len(self.nodes)))]

    def gradient(self, x: Array) -> Array:
        """Return ∂φ/∂x [m, k, dim] at the positions x [m, k, dim] in m."""
        return self._local(forms.GRADIENT, x)

    def hessian(self, x: Array) -> Array:
        """Return ∂²φ/∂x² [m, k·dim, k·dim] at the positions x [m, k, dim] in m."""
        return self._local(forms.HESSIAN, x)

    def discrete_gradient(self, x0: Array, x1: Array) -> Array:
        """Return the discrete gradient DG [m, k, dim] from x0 to x1 [m, k, dim] in m."""
        return self._local(forms.DISCRETE_GRADIENT, x0, x1)

    def discrete_hessian(self, x0: Array, x1: Array) -> Array:
        """Return ∂DG/∂x1 [m, k·dim, k·dim]."""
        return self._local(forms.DISCRETE_HESSIAN, x0, x1)

    def third(self, x: Array, a: Array) -> Array:
        """Return ∇³φ[a, a] [m, k, dim] at x along a [m, k, dim]."""
        return self._local(forms.THIRD, x, a)

    def _local(self, form: Form, *gathered: Array) -> Array:
        """Return a form of each stencil apart, each of the arrays [m, k, dim] theirs, of which shapes are checked."""
        x = gathered[0]
        requested = (*self.nodes.shape, self._dim or x.shape[-1])
        for given in gathered:
            if given.shape != requested or requested[-1] > 3:
                raise InvalidSystem(
                    f"{type(self).__name__}: gathered positions have shape {given.shape}, expected {requested}."
                )
        return self._apart(form, *[np.ascontiguousarray(given, dtype=float) for given in gathered])

    def _apart(self, form: Form, *gathered: Array) -> Array:
        """Return a form of each stencil apart."""
        return run_apart(form, self._calls_at(form, gathered[0].shape[-1], *gathered), *gathered)

    def _calls_at(self, form: Form, dim: int, *gathered: Array) -> Sequence[Call]:
        """Return the calls of a form for gathered positions [m, k, dim]."""
        calls = self.calls(form, dim)
        assert calls is not None, "there is a kernel of each form that a class has"
        return calls

    def _checked(self, q: Array) -> Array:
        """Return nodal vectors that kernels can read: they would read beyond the end."""
        require_nodal(self, "an array for nodes has", q, self._least_nodes, self._dim)
        return np.ascontiguousarray(q, dtype=float)

    def _check_result(self, form: Form, n: int, dim: int, out: Array) -> None:
        """Check that kernels can write a form for n nodes: they would write elsewhere, or to a copy."""
        requested = (len(self.nodes),) if form.kind == "number" else form.shape(n, len(out), dim)
        if out.shape != requested or not out.flags.c_contiguous:
            raise InvalidSystem(
                f"{type(self).__name__}: the {form.title} has shape {out.shape}, expected a contiguous array "
                f"{requested}."
            )

    def _rows_of(self, form: Form, dim: int, slots: IntArray | None = None) -> NDArray[np.int64] | None:
        """Return the rows of the calls of a form; None if there is no kernel for it."""
        record = self.record
        if record is None:
            return None
        known = record.call_rows.get(form.name)  # here as well: it is asked in each evaluation
        if known is not None and known[0] is slots:
            return known[1]
        if self.calls(form, dim) is None:
            return None
        return known_rows(record, form, lambda: self.calls(form, dim) or (), slots)


_NO_ROOM = np.empty(0)


class KernelEnergy(KernelForms, Energy):
    """An energy by kernels over its stencils; what they do not have is found as any energy does."""

    def total(self, q: Array) -> float:
        """Return the energy in J at the nodal positions q [n, dim]."""
        q = self._checked(q)
        rows = self._rows_of(forms.VALUE, q.shape[1])
        if rows is None:
            return super().total(q)
        result = run(rows, _NO_ROOM, q)
        if not isfinite(result):
            self._refuse(forms.VALUE, (q,))
        return result

    def add(self, form: Form, nodal: tuple[Array, ...], out: Array, slots: IntArray | None = None) -> None:
        """Add a form to what is assembled (see `Energy`)."""
        nodal = tuple(map(self._checked, nodal))
        dim = nodal[0].shape[1]
        rows = self._rows_of(form, dim, slots)
        if rows is None:
            super().add(form, nodal, out, slots)
            return
        self._check_result(form, len(nodal[0]), dim, out)
        assemble = run_matrix if form.is_matrix else run
        if not isfinite(assemble(rows, out, *nodal)):
            self._refuse(form, nodal)

    def _refuse(self, form: Form, nodal: tuple[Array, ...]) -> None:
        """Raise what says which stencil has no finite value of a form, if the energy refuses that."""
        getattr(self, form.name)(*(values[self.nodes] for values in nodal))
