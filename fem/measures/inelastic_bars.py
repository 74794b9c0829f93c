"""Bars and springs whose force depends on what was before: a law of the length with internal variables.

With the incremental potential W(l) of a length law, the force along an increment is ΔW/Δl along the mean of both
directions, weighted as that of any law of two points (`symplex.fem.measures.loops`): its work is Δψ + D.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self, final

import numpy as np
from numpy.typing import NDArray

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem
from symplex.fem.assembly.copying import Copyable
from symplex.fem.assembly.nodes import Nodes, node_pairs
from symplex.fem.assembly.pattern import Array, IntArray
from symplex.fem.energies.energy import RIGID
from symplex.fem.energies.rate_independent import RateIndependent
from symplex.fem.measures.bars import Bars
from symplex.fem.measures.pair_laws import PairLaw

_EPS = float(np.finfo(float).eps)
_ROUNDING = 8.0 * _EPS  # of energies, relative to the work of their forces over a length


class LengthLaw(Copyable, ABC):
    """A law of the length l of bars or springs with internal variables z [m, …], numbers for each of them.

    A custom law needs `energy`, `tension`, `updated` and `dissipation`, vectorised over the bars; `stiffness` makes
    Newton's method faster. See `RateIndependent` for what they must be.

    Attributes
    ----------
    numbers : int
        How many internal variables a bar has; z is [m, numbers], zero at first.
    """

    numbers: int = 1

    @abstractmethod
    def energy(self, length: Array, z: Array) -> Array:
        """Return the stored energies ψ [m] in J at lengths [m] in m."""

    @abstractmethod
    def tension(self, length: Array, z: Array) -> Array:
        """Return ∂ψ/∂l [m] in N at fixed z, positive where a bar pulls its ends together."""

    @abstractmethod
    def updated(self, length: Array, z: Array) -> Array:
        """Return the internal variables [m, numbers] at the end of an increment from z to these lengths."""

    @abstractmethod
    def dissipation(self, z0: Array, z1: Array) -> Array:
        """Return what is dissipated from z0 to z1, D ≥ 0 [m] in J."""

    def stiffness(self, length: Array, z: Array) -> Array:
        """Return dN/dl [m] in N/m of an increment from z to these lengths, N the tension at its end.

        Here by differences, with an error of some 1e-9 of the stiffness.
        """
        step = _EPS ** (1.0 / 3.0) * length
        ahead, behind = length + step, length - step
        rise = self.tension(ahead, self.updated(ahead, z)) - self.tension(behind, self.updated(behind, z))
        return rise / (ahead - behind)

    def initial(self, m: int) -> Array:
        """Return the internal variables [m, numbers] of m bars that nothing has happened to."""
        return np.zeros((m, self.numbers))

    def fields(self, length: Array, z: Array) -> dict[str, Array]:
        """Return what probes and results show of the bars besides their forces, numbers [m] by name: here nothing."""
        return {}

    def of_some(self, chosen: NDArray[np.integer]) -> Self:
        """Return the law of chosen bars [s] alone.

        Raises
        ------
        NotImplementedError
            If the law does not say.
        """
        raise NotImplementedError(f"{type(self).__name__} has no law of some bars alone.")

    @property
    def is_divisible(self) -> bool:
        """Whether `of_some` is there."""
        return type(self).of_some is not LengthLaw.of_some


@final
class _Path(PairLaw):
    """A law of two points: that of an increment from z, or of z that stays as it is."""

    def __init__(self, law: LengthLaw, z: Array, frozen: bool):
        self._law, self._z, self._frozen = law, z, frozen

    def _end(self, length: Array) -> Array:
        return self._z if self._frozen else self._law.updated(length, self._z)

    def _tension(self, length: Array) -> Array:
        return self._law.tension(length, self._end(length))

    def _stiffness(self, length: Array) -> Array:
        if not self._frozen:
            return self._law.stiffness(length, self._z)
        step = _EPS ** (1.0 / 3.0) * length
        ahead, behind = length + step, length - step
        return (self._law.tension(ahead, self._z) - self._law.tension(behind, self._z)) / (ahead - behind)

    def _potential(self, length: Array) -> Array:
        end = self._end(length)
        return self._law.energy(length, end) + self._law.dissipation(self._z, end)

    def energy(self, s: Array) -> Array:
        """Return W in J."""
        return self._potential(np.sqrt(s))

    def slope(self, s: Array) -> Array:
        """Return dW/ds in N/m."""
        length = np.sqrt(s)
        return 0.5 * self._tension(length) / length

    def curvature(self, s: Array) -> Array:
        """Return d²W/ds² in N/m³."""
        length = np.sqrt(s)
        return 0.25 * (self._stiffness(length) - self._tension(length) / length) / s

    def quotient(self, s0: Array, s1: Array) -> Array:
        """Return ξ = ΔW/(½ Δs) in N/m."""
        l0, l1 = np.sqrt(s0), np.sqrt(s1)
        return 2.0 * self._mean(l0, l1) / (l0 + l1)

    def quotient_slope(self, s0: Array, s1: Array) -> Array:
        """Return ∂ξ/∂s1 in N/m³."""
        l0, l1 = np.sqrt(s0), np.sqrt(s1)
        mean, end, dl = self._mean(l0, l1), self._tension(l1), l1 - l0
        k = self._stiffness(l1)
        # ∂N̄/∂l1 = (N1 − N̄)/Δl, of which the smallest increments leave round-off; there it is half of the stiffness.
        near = np.abs(end - mean) <= 64.0 * _ROUNDING * np.maximum(np.abs(k) * l1, np.abs(end))
        slope = np.where(near, 0.5 * k, (end - mean) / np.where(near, 1.0, dl))
        total = l0 + l1
        return (slope / total - mean / total**2) / l1

    def _mean(self, l0: Array, l1: Array) -> Array:
        """Return N̄ = ΔW/Δl, by quadrature where that gives it to the round-off of energies."""
        dl = l1 - l0
        n0, before, middle, after, n1 = (self._tension(l0 + part * dl) for part in (0.0, 0.25, 0.5, 0.75, 1.0))
        simpson = (n0 + 4.0 * middle + n1) / 6.0
        boole = (7.0 * (n0 + n1) + 32.0 * (before + after) + 12.0 * middle) / 90.0
        w0, w1 = self._potential(l0), self._potential(l1)
        lost = _ROUNDING * (np.abs(w0) + np.abs(w1) + (np.abs(n0) + np.abs(n1)) * l1)
        smooth = np.abs((boole - simpson) * dl) <= lost
        return np.where(smooth, simpson, (w1 - w0) / np.where(smooth, 1.0, dl))


@checked
@final
class InelasticBars(RateIndependent):
    """Bars or springs with a law of their length that has internal variables: metals that yield, bonds that break.

    Forces act along the bars: momentum and angular momentum are conserved whatever the law does.

    Parameters
    ----------
    pairs : int [m, 2]
        The nodes of each one.
    law : LengthLaw
    dim : int, default 3
        Dimension of space.

    Raises
    ------
    InvalidSystem
        If a pair joins a node with itself, or the law has internal variables of another number of bars.
    """

    invariances = RIGID

    def __init__(self, pairs: Nodes, law: LengthLaw, dim: int = 3):
        self.nodes, self.law, self.dim = node_pairs("InelasticBars", pairs), law, dim
        self.shape, self.is_divisible = law.initial(len(self.nodes)).shape, law.is_divisible
        if not len(self.shape) or self.shape[0] != len(self.nodes):
            raise InvalidSystem(
                f"InelasticBars: {type(law).__name__}.initial has shape {self.shape}, expected ({len(self.nodes)}, …)."
            )

    def of_some(self, chosen: NDArray[np.integer], nodes: IntArray) -> InelasticBars:
        """Return chosen bars alone, on other nodes."""
        return InelasticBars(nodes, self.law.of_some(chosen), self.dim)

    def initial(self) -> Array:
        """Return the internal variables of bars that nothing has happened to."""
        return self.law.initial(len(self.nodes))

    def increment(self, z: Array) -> Bars:
        """Return the bars of the incremental potential of an increment from z."""
        return Bars(self.nodes, _Path(self.law, z, frozen=False), self.dim)

    def frozen(self, z: Array) -> Bars:
        """Return the bars of the stored energy of z."""
        return Bars(self.nodes, _Path(self.law, z, frozen=True), self.dim)

    def stored_energy(self, x: Array, z: Array) -> Array:
        """Return ψ [m] in J."""
        return self.law.energy(_lengths(x), z)

    def stored_gradient(self, x: Array, z: Array) -> Array:
        """Return ∂ψ/∂x [m, 2, dim] in N."""
        length = _lengths(x)
        pull = (self.law.tension(length, z) / length)[:, None] * (x[:, 1] - x[:, 0])
        return np.stack([-pull, pull], axis=1)

    def updated(self, x: Array, z: Array) -> Array:
        """Return z at the end of an increment."""
        return self.law.updated(_lengths(x), z)

    def dissipation(self, z0: Array, z1: Array) -> Array:
        """Return D [m] in J."""
        return self.law.dissipation(z0, z1)

    def fields(self, q: Array, z: Array) -> dict[str, Array]:
        """Return the forces ``axial_force`` [m] in N and what the law shows."""
        length = self.lengths(q)
        return {"axial_force": self.law.tension(length, z), **self.law.fields(length, z)}

    def lengths(self, q: Array) -> Array:
        """Return the lengths [m] in m at the nodal positions q [n, dim]."""
        return _lengths(q[self.nodes])

    def tensions(self, q: Array, z: Array) -> Array:
        """Return the forces [m] in N along the bars, positive where they pull together."""
        return self.law.tension(self.lengths(q), z)


def of_some_bars(values: Array, chosen: NDArray[np.integer]) -> Array:
    """Return values of chosen bars, given one for all or one for each [m]."""
    return values[chosen] if values.ndim else values


def _lengths(x: Array) -> Array:
    return np.linalg.norm(x[:, 1] - x[:, 0], axis=1)
