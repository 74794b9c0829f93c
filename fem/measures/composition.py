"""Laws of measures of relative positions: what energies of pairs, contacts and constraints have in common.

The chain rule stands in the kernels of `symplex.fem.measures.loops`. A law that is not compiled is evaluated first, at
the measures of all stencils.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from symplex.errors import InvalidSystem
from symplex.fem.assembly import forms
from symplex.fem.assembly.calls import Call, whole
from symplex.fem.assembly.forms import Form
from symplex.fem.energies.energy import Array, Energy, IntArray, LatticeFunctions, OptionalFunction
from symplex.fem.energies.kernel_energy import KernelEnergy, KernelForms
from symplex.fem.measures import loops, product_loops
from symplex.fem.measures.cut_off import NO_END
from symplex.fem.measures.law_formulas import GIVEN
from symplex.fem.measures.loops import MeasureRecord
from symplex.fem.measures.pair_laws import PairLaw
from symplex.fem.measures.relative import DISTANCE, KIND, ORIGIN, rotated

# The functions of a law in Python whose values kernels take for the constants.
_FUNCTIONS: dict[str, tuple[str, ...]] = {
    "value": ("energy",),
    "gradient": ("slope",),
    "hessian": ("slope", "curvature"),
    "third": ("third_slope", "curvature"),
    "hessian_product": ("slope", "curvature"),
    "discrete_gradient": ("quotient",),
    "discrete_hessian": ("quotient", "quotient_slope"),
    "mean_gradient": ("mean_slope",),
    "secant": ("slope",),
    "secant_rate": ("slope", "curvature"),
}


class MeasureLaw(KernelForms):
    """A law of a measure of the relative positions of stencils of one or two nodes: its local functions.

    Attributes
    ----------
    nodes : int32 [m, k]
        The stencils; with two nodes, the first as seen from the second.
    """

    kernels = forms.kernels_of(loops, product_loops)
    _measure: Array
    _law: PairLaw | None  # if it is not compiled
    _lattice_dim: int | None  # of space, for force-stepping

    def _compose(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        nodes: IntArray,
        measure: Array,
        law: tuple[int, Any, Any] | PairLaw,
        dim: int | None = None,
        end: Array = NO_END,
    ) -> None:
        self.nodes, self._measure, self._lattice_dim = nodes, measure, dim
        self._law, record = None, None
        if isinstance(law, PairLaw):
            self._law = law
        else:
            code, *constants = law
            a, b = (np.array(np.broadcast_to(values, len(nodes)), dtype=float) for values in constants)
            record = MeasureRecord(nodes=nodes, measure=measure, law=code, a=a, b=b, end=end)
        super()._compose(dim, record)

    @property
    def record(self) -> MeasureRecord | None:
        """What kernels read; None if the law is not compiled."""
        return self._record  # pyright: ignore[reportReturnType]

    def of_some(self, chosen: NDArray[np.integer], nodes: IntArray) -> Self:
        """Return the same law of some stencils, by their indices [s], on nodes [s, k] that may have other numbers.

        It has all forms, but not what only the class knows of the stencils.
        """
        if self.record is None:
            raise InvalidSystem(f"{type(self).__name__}: the law of some stencils needs one that is compiled.")
        return self._like_this(nodes, self.record.a[chosen], self.record.b[chosen])

    def with_more(self, other: Self, nodes: IntArray) -> Self:
        """Return the law of its stencils and then those of another part, both from `of_some`, on nodes [s, k]."""
        assert self.record is not None, "it has been found by of_some"
        assert other.record is not None, "it has been found by of_some"
        ours, theirs = self.record, other.record
        return self._like_this(nodes, np.concatenate([ours.a, theirs.a]), np.concatenate([ours.b, theirs.b]))

    def _like_this(self, nodes: IntArray, a: Array, b: Array) -> Self:
        """Return the same law with other stencils and constants."""
        assert self.record is not None, "the law is compiled"
        new, law = copy(self), (self.record.law, a, b)
        new._compose(np.ascontiguousarray(nodes, np.int32), self._measure, law, self._dim, self.record.end)
        new._lattice_dim = self._lattice_dim
        return new

    def _calls_at(self, form: Form, dim: int, *gathered: Array) -> Sequence[Call]:
        """Return the calls of a form for positions [m, k, dim], with the functions of a law in Python found there."""
        if self.record is not None:
            return super()._calls_at(form, dim, *gathered)
        found = [np.empty(len(self.nodes)) for _ in range(form.ends)]
        own = np.arange(self.nodes.size, dtype=np.int32).reshape(self.nodes.shape)
        for x, m in zip(gathered, found, strict=False):
            loops.measures(np.ascontiguousarray(x, float).reshape(-1, dim), own, self._measure, m)
        with np.errstate(all="ignore"):
            names = _FUNCTIONS[form.name]
            values = [
                np.array(np.broadcast_to(getattr(self._law, name)(*found), len(self.nodes)), float) for name in names
            ]
        record = MeasureRecord(
            nodes=self.nodes, measure=self._measure, law=GIVEN, a=values[0], b=values[-1], end=NO_END
        )
        return [Call(self.kernels[form.name], record, whole(len(self.nodes)))]

    # -- local functions --------------------------------------------------------------------------------------

    def value(self, x: Array) -> Array:
        """Return φ [m] at the positions x [m, k, dim] in m."""
        return self._local(forms.VALUE, x)

    def _local(self, form: Form, *gathered: Array) -> Array:
        return self._away_from_poles(super()._local(form, *gathered), gathered[form.ends - 1])

    def _away_from_poles(self, values: Array, x: Array) -> Array:
        """Return values [m, …] of the stencils at x, if they are what they should be."""
        return values


class MeasureEnergy(MeasureLaw, KernelEnergy):
    """An energy that is a law of a measure of relative positions, with all forms an energy can have."""

    def has(self, optional: OptionalFunction) -> bool:
        """Return whether the energy has an optional method: forms of strains only if it depends on distances alone."""
        if optional in ("secant", "mean_gradient"):
            is_distance = self._measure[KIND] == DISTANCE and not self._measure[ORIGIN:].any()
            return bool(is_distance and self.nodes.shape[1] == 2)
        return super().has(optional)

    def is_divisible(self, dim: int) -> bool:
        """Return whether some stencils can be taken alone: those that have kernels."""
        return self.calls(forms.GRADIENT, dim) is not None

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

    def add(self, form: Form, nodal: tuple[Array, ...], out: Array, slots: IntArray | None = None) -> None:
        """Add a form to what is assembled (see `Energy`)."""
        self._require(form)
        if self.record is not None or form.name not in _FUNCTIONS:
            super().add(form, nodal, out, slots)
        else:
            Energy.add(self, form, tuple(map(self._checked, nodal)), out, slots)

    def _require(self, form: Form) -> None:
        if form.optional is not None and not self.has(form.optional):
            raise self.lacks(form.optional)

    def lattice_functions(self, axes: Array | None = None) -> LatticeFunctions:
        """Return compiled differences of one stencil's energy, for force-stepping."""
        if self.record is None:
            return super().lattice_functions(axes)
        from symplex.fem.measures.lattice_measures import measure_lattice  # compiled when first needed

        dim = self._lattice_dim or (3 if axes is None else len(axes))
        measure = self._measure if axes is None else rotated(self._measure, axes)
        our = self.record
        return measure_lattice(measure, our.law, our.a, our.b, our.end, nodes=self.nodes.shape[1], dim=dim)
