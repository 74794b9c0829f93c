"""Energies whose forms are compiled loops over stencils, which loops over steps call by their addresses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from symplex.errors import InvalidSystem
from symplex.fem import forms
from symplex.fem.assembly import Array, IntArray
from symplex.fem.energy import Energy
from symplex.fem.forms import CompiledLoops, Form

_NONE = np.zeros(4)  # in place of the end of a law


class LoopedEnergy(Energy):
    """An energy with compiled loops for its gradient, Hessian, discrete gradient and that one's Hessian, and others."""

    _LOOPS: ClassVar[Mapping[str, Any]]
    _arguments: tuple[IntArray, Array, int, Array, Array, Array]
    _dim: int  # of space

    def _compose(self, dim: int, numbers: Array, a: Array, b: Array) -> None:
        """Take the numbers [p] of the energy and two [m] for each of its stencils."""
        self._dim = dim
        self._arguments = self.nodes, np.ascontiguousarray(numbers.ravel()), 0, a, b, _NONE
        self._least_nodes = int(self.nodes.max(initial=-1)) + 1

    def compiled_loops(self, dim: int) -> CompiledLoops | None:
        """Return the compiled loops, in the space that the energy is made for."""
        return CompiledLoops(self._LOOPS, self._arguments) if dim == self._dim else None

    def gradient(self, x: Array) -> Array:
        """Return ∂φ/∂x [m, k, dim] in N at the positions x [m, k, dim] in m."""
        return self._local(forms.GRADIENT, x)

    def hessian(self, x: Array) -> Array:
        """Return ∂²φ/∂x² [m, k·dim, k·dim] in N/m at the positions x [m, k, dim] in m."""
        return self._local(forms.HESSIAN, x)

    def discrete_gradient(self, x0: Array, x1: Array) -> Array:
        """Return the discrete gradient DG [m, k, dim] in N from x0 to x1 [m, k, dim] in m."""
        return self._local(forms.DISCRETE_GRADIENT, x0, x1)

    def discrete_hessian(self, x0: Array, x1: Array) -> Array:
        """Return ∂DG/∂x1 [m, k·dim, k·dim] in N/m."""
        return self._local(forms.DISCRETE_HESSIAN, x0, x1)

    def third(self, x: Array, a: Array) -> Array:
        """Return ∇³φ[a, a] [m, k, dim] at x along a [m, k, dim]."""
        return self._local(forms.THIRD, x, a)

    def _local(self, form: Form, *gathered: Array) -> Array:
        """Return what a loop adds up for stencils of their own, each of the arrays [m, k, dim] theirs."""
        m, k, dim = (*self.nodes.shape, self._dim)
        for x in gathered:
            if x.shape != (m, k, dim):
                name = type(self).__name__
                raise InvalidSystem(f"{name}: gathered positions have shape {x.shape}, wanted {(m, k, dim)}.")
        nodal = [np.ascontiguousarray(x, dtype=float).reshape(-1, dim) for x in gathered]
        own = np.arange(m * k, dtype=np.int32).reshape(m, k), *self._arguments[1:]
        slots = [np.arange(m * k * k, dtype=np.int32).reshape(m, k, k)] if form.is_matrix else []
        out = np.zeros(form.shape(m * k, m * k * k, dim))
        self._LOOPS[form.name](*nodal, *own, *slots, out)
        if form.is_matrix:
            out = out.reshape(m, k, k, dim, dim).transpose(0, 1, 3, 2, 4)
        return out.reshape(form.local_shape(m, k, dim))

    def add(self, form: Form, nodal: tuple[Array, ...], out: Array, slots: IntArray | None = None) -> None:
        """Add a form to what is assembled (see `Energy`)."""
        loop = self._LOOPS.get(form.name)
        if loop is None or out.shape != form.shape(len(nodal[0]), len(out), self._dim) or not out.flags.c_contiguous:
            super().add(form, nodal, out, slots)
            return
        for x in nodal:  # compiled loops would read beyond the end
            if x.ndim != 2 or len(x) < self._least_nodes or x.shape[1] != self._dim:
                raise InvalidSystem(
                    f"{type(self).__name__}: an array for nodes has shape {x.shape}, wanted (n, {self._dim}) with n "
                    f"at least {self._least_nodes}."
                )
        matrix = [] if slots is None else [slots]
        loop(*(np.ascontiguousarray(x, dtype=float) for x in nodal), *self._arguments, *matrix, out)
