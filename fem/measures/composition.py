"""Laws of measures of relative positions: what energies of pairs, contacts and constraints have in common.

The chain rule stands in the compiled loops of `symplex.fem.measures.loops`. Here are the local and the assembled forms
that call them; a law that is not compiled is evaluated first, at the measures of all stencils.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from math import isfinite
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from symplex.errors import InvalidSystem
from symplex.fem import forms
from symplex.fem.energy import Array, Energy, IntArray, LatticeFunctions, OptionalFunction
from symplex.fem.forms import CompiledLoops, Form
from symplex.fem.measures import loops
from symplex.fem.measures.cut_off import NO_END
from symplex.fem.measures.law_formulas import GIVEN
from symplex.fem.measures.pair_laws import PairLaw
from symplex.fem.measures.relative import DISTANCE, KIND, ORIGIN, rotated

# Nodes, measure, law, its constants and its end, as loops take them.
_Arguments = tuple[IntArray, Array, int, Array, Array, Array]

_LOOPS: dict[str, Callable[..., float]] = {**forms.loops_of(loops), "total": loops.total}
# The functions of a law in Python whose values loops take for the constants.
_FUNCTIONS: dict[str, tuple[str, ...]] = {
    "gradient": ("slope",),
    "hessian": ("slope", "curvature"),
    "third": ("third_slope", "curvature"),
    "discrete_gradient": ("quotient",),
    "discrete_hessian": ("quotient", "quotient_slope"),
    "mean_gradient": ("mean_slope",),
    "secant": ("slope",),
    "secant_rate": ("slope", "curvature"),
    "increment_gradient": (),
}


class MeasureLaw:
    """A law of a measure of the relative positions of stencils of one or two nodes: its local functions.

    Attributes
    ----------
    nodes : int32 [m, k]
        The stencils; with two nodes, the first as seen from the second.
    """

    nodes: IntArray
    _measure: Array
    _compiled: _Arguments | None  # if the law is compiled
    _law: PairLaw | None  # if it is not
    _dim: int | None  # of space, if the measure is made for one
    _lattice_dim: int | None  # of space, for force-stepping

    def _compose(
        self,
        nodes: IntArray,
        measure: Array,
        law: tuple[int, Any, Any] | PairLaw,
        dim: int | None = None,
        end: Array = NO_END,
    ) -> None:
        self.nodes, self._measure, self._dim, self._lattice_dim = nodes, measure, dim, dim
        self._compiled, self._law = None, None
        if isinstance(law, PairLaw):
            self._law = law
        else:
            code, *constants = law
            a, b = (np.array(np.broadcast_to(values, len(nodes)), dtype=float) for values in constants)
            self._compiled = nodes, measure, code, a, b, end
        self._least_nodes = int(nodes.max(initial=-1)) + 1

    def of_some(self, chosen: NDArray[np.integer], nodes: IntArray) -> Self:
        """Return the same law of some stencils, by their indices [s], on nodes [s, k] that may have other numbers.

        It has all forms, but not what only the class knows of the stencils.

        Raises
        ------
        InvalidSystem
            If the law is not compiled.
        """
        if self._compiled is None:
            raise InvalidSystem(f"{type(self).__name__}: the law of some stencils needs one that is compiled.")
        _, measure, code, a, b, end = self._compiled
        new = copy(self)
        new._compose(np.ascontiguousarray(nodes, np.int32), measure, (code, a[chosen], b[chosen]), self._dim, end)
        new._lattice_dim = self._lattice_dim
        return new

    def with_more(self, other: Self, nodes: IntArray) -> Self:
        """Return the law of its stencils and then those of another part, both from `of_some`, on nodes [s, k]."""
        assert self._compiled is not None, "it has been found by of_some"
        assert other._compiled is not None, "it has been found by of_some"
        _, measure, code, a, b, end = self._compiled
        _, _, _, more_a, more_b, _ = other._compiled
        new, constants = copy(self), (np.concatenate([a, more_a]), np.concatenate([b, more_b]))
        new._compose(np.ascontiguousarray(nodes, np.int32), measure, (code, *constants), self._dim, end)
        new._lattice_dim = self._lattice_dim
        return new

    def _at(self, names: tuple[str, ...], nodes: IntArray, *positions: Array) -> _Arguments:
        """Return what loops take, with the named functions of a law in Python evaluated at nodal positions."""
        if self._compiled is not None:
            return self._compiled if nodes is self.nodes else (nodes, *self._compiled[1:])
        found = [np.empty(len(nodes)) for _ in positions]
        for q, m in zip(positions, found, strict=True):
            loops.measures(q, nodes, self._measure, m)
        with np.errstate(all="ignore"):
            values = [np.array(np.broadcast_to(getattr(self._law, name)(*found), len(nodes)), float) for name in names]
        return nodes, self._measure, GIVEN, values[0], values[-1], NO_END

    # -- local functions --------------------------------------------------------------------------------------

    def value(self, x: Array) -> Array:
        """Return φ [m] at the positions x [m, k, dim] in m."""
        out, q, nodes = np.empty(len(x)), self._own(x), self._own_nodes
        loops.write_values(q, *self._at(("energy",), nodes, q), out)
        return self._away_from_poles(out, x)

    def gradient(self, x: Array) -> Array:
        """Return ∂φ/∂x [m, k, dim] at the positions x [m, k, dim] in m."""
        return self._local(forms.GRADIENT, x)

    def hessian(self, x: Array) -> Array:
        """Return ∂²φ/∂x² [m, k·dim, k·dim] at the positions x [m, k, dim] in m."""
        return self._local(forms.HESSIAN, x)

    def third(self, x: Array, a: Array) -> Array:
        """Return ∇³φ[a, a] [m, k, dim] at the positions x along a [m, k, dim]."""
        return self._local(forms.THIRD, x, a)

    def discrete_gradient(self, x0: Array, x1: Array) -> Array:
        """Return the discrete gradient DG [m, k, dim] from x0 to x1 [m, k, dim]: ½ ξ G (see `loops`)."""
        return self._local(forms.DISCRETE_GRADIENT, x0, x1)

    def discrete_hessian(self, x0: Array, x1: Array) -> Array:
        """Return ∂DG/∂x1 [m, k·dim, k·dim]."""
        return self._local(forms.DISCRETE_HESSIAN, x0, x1)

    def _local(self, form: Form, *gathered: Array) -> Array:
        """Return what a loop adds up for stencils of their own, each of the arrays [m, k, dim] theirs."""
        x = gathered[form.ends - 1]
        (m, k, dim), nodes = x.shape, self._own_nodes
        nodal = [self._own(values) for values in gathered]
        loop, names = _LOOPS[form.name], _FUNCTIONS[form.name]
        arguments = self._at(names, nodes, *nodal[: form.ends])
        out = np.zeros(form.shape(m * k, m * k * k, dim))
        slots = [np.arange(m * k * k, dtype=np.int32).reshape(m, k, k)] if form.is_matrix else []
        loop(*nodal, *arguments, *slots, out)
        if form.kind == "block":
            out = out.reshape(m, k, k, dim, dim).transpose(0, 1, 3, 2, 4)
        return self._away_from_poles(out.reshape(form.local_shape(m, k, dim)), x)

    def _own(self, x: Array) -> Array:
        """Return gathered positions as those of nodes [m·k, dim]."""
        wanted = (*self.nodes.shape, self._dim or x.shape[-1])
        if x.shape != wanted or wanted[-1] > 3:
            raise InvalidSystem(f"{type(self).__name__}: gathered positions have shape {x.shape}, wanted {wanted}.")
        return np.ascontiguousarray(x, dtype=float).reshape(-1, x.shape[-1])

    @property
    def _own_nodes(self) -> IntArray:
        return np.arange(self.nodes.size, dtype=np.int32).reshape(self.nodes.shape)

    def _checked(self, q: Array) -> Array:
        """Return nodal vectors that compiled loops can read: they would read beyond the end."""
        shape = q.shape
        if len(shape) != 2 or shape[0] < self._least_nodes or shape[1] != (self._dim or shape[1]) or shape[1] > 3:
            raise InvalidSystem(
                f"{type(self).__name__}: an array for nodes has shape {shape}, wanted (n, {self._dim or 'dim'}) "
                f"with n at least {self._least_nodes}."
            )
        return np.ascontiguousarray(q, dtype=float)

    def _away_from_poles(self, values: Array, x: Array) -> Array:
        """Return values [m, …] of the stencils at x, if they are what they should be."""
        return values


class MeasureEnergy(MeasureLaw, Energy):
    """An energy that is a law of a measure of relative positions, with all forms an energy can have."""

    def has(self, optional: OptionalFunction) -> bool:
        """Return whether the energy has an optional method: forms of strains only if it depends on distances alone."""
        if optional in ("secant", "mean_gradient"):
            is_distance = self._measure[KIND] == DISTANCE and not self._measure[ORIGIN:].any()
            return bool(is_distance and self.nodes.shape[1] == 2)
        return super().has(optional)

    def mean_gradient(self, x0: Array, x1: Array) -> Array:
        """Return 2 φ' (d0 + d1)/2 [m, 2, dim] in N from x0 to x1 [m, 2, dim], φ' at the mean length ½(l0 + l1).

        Graham and Jelenić, eq. 6.3, with f(l) = φ'(l)/l by the length; for engineering strain it is the discrete
        gradient.
        """
        self._require(forms.MEAN_GRADIENT)
        return self._local(forms.MEAN_GRADIENT, x0, x1)

    def secant(self, x: Array) -> Array:
        """Return 𝓕 [m, 2, 2] in N/m: ±2 φ'(s), which is φ'(l)/l by the length (Graham and Jelenić, eq. 2.12)."""
        self._require(forms.SECANT)
        return self._local(forms.SECANT, x)

    def secant_rate(self, x: Array, v: Array) -> Array:
        """Return 𝓕̇ [m, 2, 2] in N/(m s) along velocities v [m, 2, dim] in m/s: ±4 φ''(s) d·ḋ."""
        self._require(forms.SECANT_RATE)
        return self._local(forms.SECANT_RATE, x, v)

    def total(self, q: Array) -> float:
        """Return the energy in J at the nodal positions q [n, dim]."""
        q = self._checked(q)
        result = loops.total(q, *self._at(("energy",), self.nodes, q))
        return result if isfinite(result) else float(self.value(q[self.nodes]).sum())

    def add_gradient(self, q: Array, out: Array) -> None:
        """Add the gradient in N at the nodal positions q [n, dim] to out [n, dim]."""
        if self._compiled is None or out.shape != q.shape or not out.flags.c_contiguous:
            super().add_gradient(q, out)
        # As `add` does, in a microsecond: explicit methods call nothing else in a step.
        elif not isfinite(loops.add_gradient(self._checked(q), *self._compiled, out)):
            self.gradient(q[self.nodes])

    def compiled_loops(self, dim: int) -> CompiledLoops | None:
        """Return the loops by which forms are added up in a space, if that is all there is to them."""
        own = type(self).add_gradient is MeasureEnergy.add_gradient and (self._dim or dim) == dim <= 3
        return CompiledLoops(_LOOPS, self._compiled) if own and self._compiled is not None else None

    def add(self, form: Form, nodal: tuple[Array, ...], out: Array, slots: IntArray | None = None) -> None:
        """Add a form to what is assembled (see `Energy`)."""
        loop, names = _LOOPS[form.name], _FUNCTIONS[form.name]
        self._require(form)
        if self._compiled is None and not names:
            super().add(form, nodal, out, slots)
            return
        nodal = tuple(self._checked(values) for values in nodal)
        n, dim = nodal[0].shape
        if out.shape != form.shape(n, len(out), dim) or not out.flags.c_contiguous:
            raise InvalidSystem(
                f"{type(self).__name__}: the {form.title} has shape {out.shape}, wanted a contiguous array "
                f"{form.shape(n, len(out), dim)}."
            )
        arguments = self._compiled or self._at(names, self.nodes, *nodal[: form.ends])
        check = loop(*nodal, *arguments, out) if slots is None else loop(*nodal, *arguments, slots, out)
        if not isfinite(check):
            getattr(self, form.name)(*(values[self.nodes] for values in nodal))  # names the stencil

    def _require(self, form: Form) -> None:
        if form.optional is not None and not self.has(form.optional):
            raise self.lacks(form.optional)

    def lattice_functions(self, axes: Array | None = None) -> LatticeFunctions:
        """Return compiled differences of one stencil's energy, for force-stepping."""
        if self._compiled is None:
            return super().lattice_functions(axes)
        from symplex.fem.grid.lattice_measures import measure_lattice  # compiled when first needed

        dim = self._lattice_dim or (3 if axes is None else len(axes))
        measure = self._measure if axes is None else rotated(self._measure, axes)
        return measure_lattice(measure, *self._compiled[2:], nodes=self.nodes.shape[1], dim=dim)
