"""Laws of measures of relative positions: what energies of pairs, contacts and constraints have in common.

The chain rule stands in the compiled loops of `symplex.fem.measures.loops`. Here are the local and the assembled forms
that call them; a law that is not compiled is evaluated first, at the measures of all stencils.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any

import numpy as np

from symplex.errors import InvalidSystem
from symplex.fem.energy import Array, Energy, IntArray, LatticeFunctions, OptionalFunction
from symplex.fem.measures import loops
from symplex.fem.measures.law_formulas import GIVEN
from symplex.fem.measures.pair_laws import PairLaw
from symplex.fem.measures.relative import DISTANCE, KIND, ORIGIN, rotated

_Arguments = tuple[IntArray, Array, int, Array, Array]  # nodes, measure, law and its constants, as loops take them


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
        self, nodes: IntArray, measure: Array, law: tuple[int, Any, Any] | PairLaw, dim: int | None = None
    ) -> None:
        self.nodes, self._measure, self._dim, self._lattice_dim = nodes, measure, dim, dim
        self._compiled, self._law = None, None
        if isinstance(law, PairLaw):
            self._law = law
        else:
            code, *constants = law
            a, b = (np.array(np.broadcast_to(values, len(nodes)), dtype=float) for values in constants)
            self._compiled = nodes, measure, code, a, b
        self._least_nodes = int(nodes.max(initial=-1)) + 1

    def _at(self, names: tuple[str, ...], nodes: IntArray, *positions: Array) -> _Arguments:
        """Return what loops take, with the named functions of a law in Python evaluated at nodal positions."""
        if self._compiled is not None:
            return self._compiled if nodes is self.nodes else (nodes, *self._compiled[1:])
        found = [np.empty(len(nodes)) for _ in positions]
        for q, m in zip(positions, found, strict=True):
            loops.measures(q, nodes, self._measure, m)
        with np.errstate(all="ignore"):
            values = [np.array(np.broadcast_to(getattr(self._law, name)(*found), len(nodes)), float) for name in names]
        return nodes, self._measure, GIVEN, values[0], values[-1]

    # -- local functions --------------------------------------------------------------------------------------

    def value(self, x: Array) -> Array:
        """Return φ [m] at the positions x [m, k, dim] in m."""
        out = np.empty(len(x))
        q, nodes = self._own(x)
        loops.write_values(q, *self._at(("energy",), nodes, q), out)
        return self._away_from_poles(out, x)

    def gradient(self, x: Array) -> Array:
        """Return ∂φ/∂x [m, k, dim] at the positions x [m, k, dim] in m."""
        q, nodes = self._own(x)
        out = np.empty_like(q)
        loops.write_gradients(q, *self._at(("slope",), nodes, q), out)
        return self._away_from_poles(out.reshape(x.shape), x)

    def hessian(self, x: Array) -> Array:
        """Return ∂²φ/∂x² [m, k·dim, k·dim] at the positions x [m, k, dim] in m."""
        q, nodes = self._own(x)
        return self._matrices(loops.add_hessian, (q, *self._at(("slope", "curvature"), nodes, q)), x)

    def third(self, x: Array, a: Array) -> Array:
        """Return ∇³φ[a, a] [m, k, dim] at the positions x along a [m, k, dim]."""
        (q, nodes), along = self._own(x), self._own(a)[0]
        out = np.zeros_like(q)
        loops.add_third(q, along, *self._at(("third_slope", "curvature"), nodes, q), out)
        return self._away_from_poles(out.reshape(x.shape), x)

    def discrete_gradient(self, x0: Array, x1: Array) -> Array:
        """Return the discrete gradient DG [m, k, dim] from x0 to x1 [m, k, dim]: ½ ξ G (see `loops`)."""
        return self._pulls(x0, x1, False)

    def discrete_hessian(self, x0: Array, x1: Array) -> Array:
        """Return ∂DG/∂x1 [m, k·dim, k·dim]."""
        return self._stiffness(x0, x1, False)

    def _pulls(self, x0: Array, x1: Array, mean: bool) -> Array:
        (q0, nodes), (q1, _) = self._own(x0), self._own(x1)
        out = np.zeros_like(q1)
        name = "mean_slope" if mean else "quotient"
        loops.add_discrete_gradient(q0, q1, *self._at((name,), nodes, q0, q1), mean, out)
        return self._away_from_poles(out.reshape(x1.shape), x1)

    def _stiffness(self, x0: Array, x1: Array, mean: bool) -> Array:
        (q0, nodes), (q1, _) = self._own(x0), self._own(x1)
        names = ("mean_slope", "mean_slope_rate") if mean else ("quotient", "quotient_slope")
        return self._matrices(loops.add_discrete_hessian, (q0, q1, *self._at(names, nodes, q0, q1), mean), x1)

    def _matrices(self, add: Callable[..., float], arguments: tuple[Any, ...], x: Array) -> Array:
        """Return the matrices [m, k·dim, k·dim] that a loop adds to the blocks of stencils of their own."""
        m, k, dim = x.shape
        slots, out = np.arange(m * k * k, dtype=np.int32).reshape(m, k, k), np.zeros((m * k * k, dim, dim))
        add(*arguments, slots, out)
        blocks = out.reshape(m, k, k, dim, dim).transpose(0, 1, 3, 2, 4)
        return self._away_from_poles(blocks.reshape(m, k * dim, k * dim), x)

    def _own(self, x: Array) -> tuple[Array, IntArray]:
        """Return gathered positions as those of nodes [m·k, dim], and the stencils of these."""
        wanted = (*self.nodes.shape, self._dim or x.shape[-1])
        if x.shape != wanted or wanted[-1] > 3:
            raise InvalidSystem(f"{type(self).__name__}: gathered positions have shape {x.shape}, wanted {wanted}.")
        q = np.ascontiguousarray(x, dtype=float).reshape(-1, x.shape[-1])
        return q, np.arange(len(q), dtype=np.int32).reshape(self.nodes.shape)

    def _checked(self, q: Array) -> Array:
        """Return nodal vectors that compiled loops can read: they would read beyond the end."""
        shape = q.shape
        if len(shape) != 2 or shape[0] < self._least_nodes or shape[1] != (self._dim or shape[1]) or shape[1] > 3:
            raise InvalidSystem(
                f"{type(self).__name__}: an array for nodes has shape {shape}, wanted (n, {self._dim or 'dim'}) "
                f"with n at least {self._least_nodes}."
            )
        return np.ascontiguousarray(q, dtype=float)

    def _writable(self, out: Array, q: Array) -> Array:
        if out.shape != q.shape or not out.flags.c_contiguous:
            raise InvalidSystem(
                f"{type(self).__name__}: the gradient has shape {out.shape}, wanted a contiguous array {q.shape}."
            )
        return out

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
        self._need("mean_gradient")
        return self._pulls(x0, x1, True)

    def mean_hessian(self, x0: Array, x1: Array) -> Array:
        """Return the derivative of the mean gradient with x1 [m, 2·dim, 2·dim] in N/m."""
        self._need("mean_gradient")
        return self._stiffness(x0, x1, True)

    def secant(self, x: Array) -> Array:
        """Return 𝓕 [m, 2, 2] in N/m: ±2 φ'(s), which is φ'(l)/l by the length (Graham and Jelenić, eq. 2.12)."""
        self._need("secant")
        q, nodes = self._own(x)
        return self._numbers(loops.add_secant, (q, *self._at(("slope",), nodes, q)), x)

    def secant_rate(self, x: Array, v: Array) -> Array:
        """Return 𝓕̇ [m, 2, 2] in N/(m s) along velocities v [m, 2, dim] in m/s: ±4 φ''(s) d·ḋ."""
        self._need("secant")
        (q, nodes), rates = self._own(x), self._own(v)[0]
        return self._numbers(loops.add_secant_rate, (q, rates, *self._at(("slope", "curvature"), nodes, q)), x)

    def _numbers(self, add: Callable[..., float], arguments: tuple[Any, ...], x: Array) -> Array:
        slots, out = np.arange(4 * len(x), dtype=np.int32).reshape(-1, 2, 2), np.zeros(4 * len(x))
        add(*arguments, slots, out)
        return self._away_from_poles(out.reshape(-1, 2, 2), x)

    def _need(self, optional: OptionalFunction) -> None:
        if not self.has(optional):
            raise self.lacks(optional)

    # -- assembled forms --------------------------------------------------------------------------------------

    def total(self, q: Array) -> float:
        """Return the energy in J at the nodal positions q [n, dim]."""
        q = self._checked(q)
        result = loops.total(q, *self._at(("energy",), self.nodes, q))
        return result if isfinite(result) else float(self.value(q[self.nodes]).sum())

    def add_gradient(self, q: Array, out: Array) -> None:
        """Add the gradient in N at the nodal positions q [n, dim] to out [n, dim]."""
        q = self._checked(q)
        arguments = self._compiled or self._at(("slope",), self.nodes, q)
        if not isfinite(loops.add_gradient(q, *arguments, self._writable(out, q))):
            self.gradient(q[self.nodes])  # names the stencil

    def add_hessian(self, q: Array, slots: IntArray, out: Array) -> None:
        """Add the Hessian in N/m at the nodal positions q [n, dim] to the blocks out (see `Energy`)."""
        q = self._checked(q)
        arguments = self._at(("slope", "curvature"), self.nodes, q)
        self._judge(loops.add_hessian(q, *arguments, slots, self._blocks(out, q)), self.hessian, q)

    def add_discrete_gradient(self, q0: Array, q1: Array, out: Array) -> None:
        """Add the discrete gradient in N from the nodal positions q0 to q1 [n, dim] to out [n, dim]."""
        self._add_pulls(False, q0, q1, out)

    def add_discrete_hessian(self, q0: Array, q1: Array, slots: IntArray, out: Array) -> None:
        """Add ∂DG/∂q1 in N/m from the nodal positions q0 to q1 [n, dim] to the blocks out (see `Energy`)."""
        self._add_stiffness(False, q0, q1, slots, out)

    def add_mean_gradient(self, q0: Array, q1: Array, out: Array) -> None:
        """Add the mean gradient in N from the nodal positions q0 to q1 [n, dim] to out [n, dim]."""
        self._need("mean_gradient")
        self._add_pulls(True, q0, q1, out)

    def add_mean_hessian(self, q0: Array, q1: Array, slots: IntArray, out: Array) -> None:
        """Add the derivative of the mean gradient with q1 in N/m to the blocks out (see `Energy`)."""
        self._need("mean_gradient")
        self._add_stiffness(True, q0, q1, slots, out)

    def _add_pulls(self, mean: bool, q0: Array, q1: Array, out: Array) -> None:
        q0, q1 = self._checked(q0), self._checked(q1)
        arguments = self._at(("mean_slope" if mean else "quotient",), self.nodes, q0, q1)
        check = loops.add_discrete_gradient(q0, q1, *arguments, mean, self._writable(out, q1))
        self._judge(check, self.mean_gradient if mean else self.discrete_gradient, q0, q1)

    def _add_stiffness(self, mean: bool, q0: Array, q1: Array, slots: IntArray, out: Array) -> None:
        q0, q1 = self._checked(q0), self._checked(q1)
        names = ("mean_slope", "mean_slope_rate") if mean else ("quotient", "quotient_slope")
        arguments = self._at(names, self.nodes, q0, q1)
        check = loops.add_discrete_hessian(q0, q1, *arguments, mean, slots, self._blocks(out, q1))
        self._judge(check, self.mean_hessian if mean else self.discrete_hessian, q0, q1)

    def add_increment_gradient(self, q: Array, low: Array, dq: Array, out: Array) -> None:
        """Add the discrete gradient in N from q + low to q + low + Δq [n, dim] to out, strains from the increments."""
        if self._compiled is None:
            super().add_increment_gradient(q, low, dq, out)
            return
        q, low, dq = self._checked(q), self._checked(low), self._checked(dq)
        check = loops.add_increment_gradient(q, low, dq, *self._compiled, self._writable(out, q))
        self._judge(check, self.discrete_gradient, q, q + dq)

    def add_secant(self, q: Array, slots: IntArray, out: Array) -> None:
        """Add 𝓕 in N/m at the nodal positions q [n, dim] to the values out [nnz] (see `Energy`)."""
        self._need("secant")
        q = self._checked(q)
        self._judge(loops.add_secant(q, *self._at(("slope",), self.nodes, q), slots, out), self.secant, q)

    def add_secant_rate(self, q: Array, v: Array, slots: IntArray, out: Array) -> None:
        """Add 𝓕̇ in N/(m s) at the positions q along the velocities v [n, dim] to the values out [nnz]."""
        self._need("secant")
        q, v = self._checked(q), self._checked(v)
        arguments = self._at(("slope", "curvature"), self.nodes, q)
        self._judge(loops.add_secant_rate(q, v, *arguments, slots, out), self.secant_rate, q, v)

    def add_third(self, q: Array, a: Array, out: Array) -> None:
        """Add ∇³V[a, a] at the nodal positions q along a [n, dim] to out [n, dim]."""
        q, a = self._checked(q), self._checked(a)
        arguments = self._at(("third_slope", "curvature"), self.nodes, q)
        self._judge(loops.add_third(q, a, *arguments, self._writable(out, q)), self.third, q, a)

    def lattice_functions(self, axes: Array | None = None) -> LatticeFunctions:
        """Return compiled differences of one stencil's energy, for force-stepping."""
        if self._compiled is None:
            return super().lattice_functions(axes)
        from symplex.fem.grid.lattice_measures import measure_lattice  # compiled when first needed

        dim = self._lattice_dim or (3 if axes is None else len(axes))
        measure = self._measure if axes is None else rotated(self._measure, axes)
        return measure_lattice(measure, *self._compiled[2:], nodes=self.nodes.shape[1], dim=dim)

    def _blocks(self, out: Array, q: Array) -> Array:
        if out.shape[1:] != (q.shape[1],) * 2 or not out.flags.c_contiguous:
            raise InvalidSystem(
                f"{type(self).__name__}: the blocks have shape {out.shape}, wanted a contiguous array (nnz, dim, dim)."
            )
        return out

    def _judge(self, check: float, local: Callable[..., Array], *positions: Array) -> None:
        """Let the local function tell where something is not finite, if the sum of a loop is not."""
        if not isfinite(check):
            local(*(q[self.nodes] for q in positions))
