"""Energies between two points: springs, truss bars, gravitation and charges, Lennard-Jones pairs.

With d = x_1 − x_0 and s = |d|², a law (`symplex.fem.measures.pair_laws`) is a function φ(s): its force is 2 φ'(s) d.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import final

import numpy as np

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem, StepFailed
from symplex.fem.energy import Array, Energy, IntArray, LatticeFunctions
from symplex.fem.forms import DISCRETE_GRADIENT, MEAN_GRADIENT
from symplex.fem.measures import pair_formulas
from symplex.fem.measures.pair_laws import (
    CompiledLaw as CompiledLaw,
    EngineeringStrain as EngineeringStrain,
    GreenStrain as GreenStrain,
    InverseDistance as InverseDistance,
    InverseSquare as InverseSquare,
    LennardJones as LennardJones,
    PairLaw as PairLaw,
)
from symplex.fem.nodes import Nodes, node_pairs


@checked
@final
class Bars(Energy):
    """Pairs of points with a two-point law: springs, truss bars, or particles that attract and repel each other.

    Parameters
    ----------
    pairs : int [m, 2]
        The nodes of each pair; the ``line`` cells of a mesh, or `all_pairs`.
    law : PairLaw
    dim : int, default 3
        Dimension of space.

    Raises
    ------
    InvalidSystem
        If a pair joins a node with itself, or the law has constants for another number of pairs.
    StepFailed
        If a pair is where its law has a pole.
    """

    def __init__(self, pairs: Nodes, law: PairLaw, dim: int = 3):
        self.nodes = node_pairs("Bars", pairs)
        self.law = law
        self.dim = dim
        self._compiled: tuple[IntArray, int, Array, Array] | None = None
        if isinstance(law, CompiledLaw):
            for name, values in law.constants.items():
                if values.ndim and values.shape != (len(self.nodes),):
                    raise InvalidSystem(
                        f"Bars: {name} has shape {values.shape}, but there are {len(self.nodes)} pairs."
                    )
            code, *constants = law._arguments()
            a, b = (np.array(np.broadcast_to(values, len(self.nodes))) for values in constants)
            self._compiled = self.nodes, code, a, b
        self._least_nodes = int(self.nodes.max(initial=-1)) + 1

    def value(self, x: Array) -> Array:
        """Return φ [m] in J at the positions x [m, 2, dim] in m."""
        with np.errstate(all="ignore"):
            return self._away_from_poles(self.law.energy(_squared(_difference(x))), x)

    def gradient(self, x: Array) -> Array:
        """Return ∂φ/∂x [m, 2, dim] in N: ∓2 φ'(s) d."""
        d = _difference(x)
        with np.errstate(all="ignore"):
            pull = self._away_from_poles(2.0 * self.law.slope(_squared(d))[:, None] * d, x)
        return np.stack([-pull, pull], axis=1)

    def hessian(self, x: Array) -> Array:
        """Return ∂²φ/∂x² [m, 2·dim, 2·dim] in N/m: ±(2 φ' I + 4 φ'' d ⊗ d)."""
        d = _difference(x)
        s = _squared(d)
        with np.errstate(all="ignore"):
            block = 4.0 * self.law.curvature(s)[:, None, None] * d[:, :, None] * d[:, None, :]
            block += 2.0 * self.law.slope(s)[:, None, None] * np.eye(x.shape[2])
        self._away_from_poles(block, x)
        return np.block([[block, -block], [-block, block]])

    def discrete_gradient(self, x0: Array, x1: Array) -> Array:
        """Return DG [m, 2, dim] in N from x0 to x1 [m, 2, dim]: ∓ξ (d0 + d1)/2."""
        return self._pulls(x0, x1, self.law.quotient)

    def discrete_hessian(self, x0: Array, x1: Array) -> Array:
        """Return ∂DG/∂x1 [m, 2·dim, 2·dim] in N/m: ±(½ ξ I + ∂ξ/∂s1 (d0 + d1) ⊗ d1)."""
        d0, d1 = _difference(x0), _difference(x1)
        s0, s1 = _squared(d0), _squared(d1)
        with np.errstate(all="ignore"):
            block = self.law.quotient_slope(s0, s1)[:, None, None] * (d0 + d1)[:, :, None] * d1[:, None, :]
            block += 0.5 * self.law.quotient(s0, s1)[:, None, None] * np.eye(x1.shape[2])
        self._away_from_poles(block, x1)
        return np.block([[block, -block], [-block, block]])

    def mean_gradient(self, x0: Array, x1: Array) -> Array:
        """Return ∓2 φ' (d0 + d1)/2 [m, 2, dim] in N from x0 to x1 [m, 2, dim], φ' at the mean length ½(l0 + l1).

        Graham and Jelenić, eq. 6.3, with f(l) = φ'(l)/l by the length; for engineering strain it is the discrete
        gradient.
        """
        return self._pulls(x0, x1, self.law.mean_slope)

    def _pulls(self, x0: Array, x1: Array, quotient: Callable[[Array, Array], Array]) -> Array:
        d0, d1 = _difference(x0), _difference(x1)
        with np.errstate(all="ignore"):
            xi = quotient(_squared(d0), _squared(d1))
            pull = self._away_from_poles(0.5 * xi[:, None] * (d0 + d1), x1)
        return np.stack([-pull, pull], axis=1)

    def secant(self, x: Array) -> Array:
        """Return 𝓕 [m, 2, 2] in N/m: ±2 φ'(s), which is φ'(l)/l by the length (Graham and Jelenić, eq. 2.12)."""
        with np.errstate(all="ignore"):
            pull = self._away_from_poles(2.0 * self.law.slope(_squared(_difference(x))), x)
        return pull[:, None, None] * _COUPLING

    def secant_rate(self, x: Array, v: Array) -> Array:
        """Return 𝓕̇ [m, 2, 2] in N/(m s) along velocities v [m, 2, dim] in m/s: ±4 φ''(s) d·(v_1 − v_0)."""
        d = _difference(x)
        with np.errstate(all="ignore"):
            rate = 4.0 * self.law.curvature(_squared(d)) * np.einsum("mi,mi->m", d, _difference(v))
        return self._away_from_poles(rate, x)[:, None, None] * _COUPLING

    def third(self, x: Array, a: Array) -> Array:
        """Return ∇³φ[a, a] [m, 2, dim]: ±(8 φ'' (d·b) b + (8 φ''' (d·b)² + 4 φ'' b·b) d), b = a_1 − a_0."""
        d, b = _difference(x), _difference(a)
        s, product = _squared(d), np.einsum("mi,mi->m", d, b)
        with np.errstate(all="ignore"):
            second = self.law.curvature(s)
            by_d = 8.0 * self.law.third_slope(s) * product**2 + 4.0 * second * _squared(b)
            pull = self._away_from_poles((8.0 * second * product)[:, None] * b + by_d[:, None] * d, x)
        return np.stack([-pull, pull], axis=1)

    def _away_from_poles(self, values: Array, x: Array) -> Array:
        """Return values [m, …] of the pairs at x, all of them finite."""
        bad = np.flatnonzero(~np.isfinite(values).reshape(len(values), -1).all(axis=1))
        if len(bad):
            a, b = self.nodes[bad[0]]
            length = np.sqrt(_squared(_difference(x)))[bad[0]]
            raise StepFailed(
                f"pair {bad[0]} (nodes {a} and {b}) is {length:.3g} m long, where its law has no finite energy or "
                "force. Try a smaller step, or other positions at the start."
            )
        return values

    # -- assembled forms, compiled ----------------------------------------------------------------------------

    def total(self, q: Array) -> float:
        """Return the energy in J at the nodal positions q [n, dim]."""
        if self._compiled is None:
            return super().total(q)
        result = pair_formulas.total(self._checked(q), *self._compiled)
        return result if isfinite(result) else super().total(q)  # which names the pair

    def add_gradient(self, q: Array, out: Array) -> None:
        """Add the gradient in N at the nodal positions q [n, dim] to out [n, dim]."""
        if self._compiled is None:
            super().add_gradient(q, out)
        elif not isfinite(pair_formulas.add_gradient(self._checked(q), *self._compiled, self._writable(out, q))):
            self.gradient(q[self.nodes])  # names the pair

    def add_hessian(self, q: Array, slots: IntArray, out: Array) -> None:
        """Add the Hessian in N/m at the nodal positions q [n, dim] to the blocks out (see `Energy`)."""
        if self._compiled is None:
            super().add_hessian(q, slots, out)
        elif not isfinite(pair_formulas.add_hessian(self._checked(q), *self._compiled, slots, self._blocks(out, q))):
            self.hessian(q[self.nodes])

    def add_discrete_gradient(self, q0: Array, q1: Array, out: Array) -> None:
        """Add the discrete gradient in N from the nodal positions q0 to q1 [n, dim] to out [n, dim]."""
        self._add_pulls(False, q0, q1, out)

    def add_discrete_hessian(self, q0: Array, q1: Array, slots: IntArray, out: Array) -> None:
        """Add ∂DG/∂q1 in N/m from the nodal positions q0 to q1 [n, dim] to the blocks out (see `Energy`)."""
        if self._compiled is None:
            super().add_discrete_hessian(q0, q1, slots, out)
            return
        ends, blocks = (self._checked(q0), self._checked(q1)), self._blocks(out, q1)
        if not isfinite(pair_formulas.add_discrete_hessian(*ends, *self._compiled, slots, blocks)):
            self.discrete_hessian(q0[self.nodes], q1[self.nodes])  # names the pair

    def add_mean_gradient(self, q0: Array, q1: Array, out: Array) -> None:
        """Add the mean gradient in N from the nodal positions q0 to q1 [n, dim] to out [n, dim]."""
        self._add_pulls(True, q0, q1, out)

    def _add_pulls(self, mean: bool, q0: Array, q1: Array, out: Array) -> None:
        if self._compiled is None:
            self.add(MEAN_GRADIENT if mean else DISCRETE_GRADIENT, (q0, q1), out)
            return
        local = self.mean_gradient if mean else self.discrete_gradient
        ends = self._checked(q0), self._checked(q1)
        if not isfinite(pair_formulas.add_discrete_gradient(*ends, *self._compiled, mean, self._writable(out, q1))):
            local(q0[self.nodes], q1[self.nodes])  # names the pair

    def add_increment_gradient(self, q: Array, low: Array, dq: Array, out: Array) -> None:
        """Add the discrete gradient in N from q + low to q + low + Δq [n, dim] to out, strains from the increments."""
        if self._compiled is None:
            super().add_increment_gradient(q, low, dq, out)
            return
        parts = self._checked(q), self._checked(low), self._checked(dq)
        if not isfinite(pair_formulas.add_increment_gradient(*parts, *self._compiled, self._writable(out, q))):
            self.discrete_gradient(q[self.nodes], (q + dq)[self.nodes])  # names the pair

    def add_secant(self, q: Array, slots: IntArray, out: Array) -> None:
        """Add 𝓕 in N/m at the nodal positions q [n, dim] to the values out [nnz] (see `Energy`)."""
        if self._compiled is None:
            super().add_secant(q, slots, out)
        elif not isfinite(pair_formulas.add_secant(self._checked(q), *self._compiled, slots, out)):
            self.secant(q[self.nodes])  # names the pair

    def add_secant_rate(self, q: Array, v: Array, slots: IntArray, out: Array) -> None:
        """Add 𝓕̇ in N/(m s) at the positions q along the velocities v [n, dim] to the values out [nnz]."""
        if self._compiled is None:
            super().add_secant_rate(q, v, slots, out)
            return
        motion = self._checked(q), self._checked(v)
        if not isfinite(pair_formulas.add_secant_rate(*motion, *self._compiled, slots, out)):
            self.secant_rate(q[self.nodes], v[self.nodes])

    def add_third(self, q: Array, a: Array, out: Array) -> None:
        """Add ∇³V[a, a] at the nodal positions q along a [n, dim] to out [n, dim]."""
        if self._compiled is None:
            super().add_third(q, a, out)
            return
        from symplex.fem.measures.third_pairs import add_third  # compiled when first needed

        if not isfinite(add_third(self._checked(q), self._checked(a), *self._compiled, self._writable(out, q))):
            self.third(q[self.nodes], a[self.nodes])  # names the pair

    def _checked(self, q: Array) -> Array:
        if q.ndim != 2 or len(q) < self._least_nodes:  # the compiled loops would read beyond the end
            raise InvalidSystem(f"Bars: positions have shape {q.shape}, wanted at least {self._least_nodes} nodes.")
        return np.ascontiguousarray(q, dtype=float)

    def _writable(self, out: Array, q: Array) -> Array:
        if out.shape != q.shape or not out.flags.c_contiguous:
            raise InvalidSystem(f"Bars: the gradient has shape {out.shape}, wanted a contiguous array {q.shape}.")
        return out

    def _blocks(self, out: Array, q: Array) -> Array:
        if out.shape[1:] != (q.shape[1],) * 2 or not out.flags.c_contiguous:
            raise InvalidSystem(f"Bars: the blocks have shape {out.shape}, wanted a contiguous array (nnz, dim, dim).")
        return out

    def lattice_functions(self, axes: Array | None = None) -> LatticeFunctions:
        """Return compiled differences of one pair's energy, for force-stepping; in any axes alike."""
        if not isinstance(self.law, CompiledLaw):
            return super().lattice_functions(axes)
        from symplex.fem.grid.lattice_bars import bar_lattice  # compiled when first needed

        return bar_lattice(self.law.code, self.dim, len(self.nodes), list(self.law.constants.values()))

    def lengths(self, q: Array) -> Array:
        """Return the lengths [m] in m at the nodal positions q [n, dim]."""
        return np.sqrt(_squared(_difference(q[self.nodes])))

    def tensions(self, q: Array) -> Array:
        """Return the forces [m] in N along the pairs, positive where they pull together: 2 φ'(s) l."""
        lengths = self.lengths(q)
        return 2.0 * self.law.slope(lengths**2) * lengths


@checked
def all_pairs(n: int) -> np.ndarray:
    """Return the n(n − 1)/2 pairs of n nodes [m, 2]."""
    return np.column_stack(np.triu_indices(n, 1)).astype(np.int32)


_COUPLING = np.array([[1.0, -1.0], [-1.0, 1.0]])


def _difference(x: Array) -> Array:
    return x[:, 1] - x[:, 0]


def _squared(d: Array) -> Array:
    return np.einsum("mi,mi->m", d, d)
