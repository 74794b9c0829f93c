"""A spring whose force is a table over its elongation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symplex.base.arguments import checked
from symplex.errors import MaterialError
from symplex.fem.assembly.pattern import Array
from symplex.fem.measures.pair_laws import PairLaw


@checked
@final
class ForceTable(PairLaw):
    """A spring with a force N(e) over its elongation e = l − L, linear between given points and constant beyond them.

    φ = ∫ N de from e = 0, and along an increment ξ = 2 N̄/(l0 + l1) with the mean N̄ of the force over the elongations
    passed, found interval by interval without cancellation: energy is conserved across kinks. Evaluated in NumPy.

    Parameters
    ----------
    elongations : float64 [k]
        In m, ascending, two at least.
    forces : float64 [k]
        In N, positive where they pull together.
    length : float or float64 [m]
        The natural length L in m.

    Raises
    ------
    MaterialError
        If the elongations do not ascend, or numbers are missing or not finite.
    """

    def __init__(self, elongations: ArrayLike, forces: ArrayLike, length: ArrayLike):
        e, N = (np.array(values, dtype=float) for values in (elongations, forces))
        if e.ndim != 1 or len(e) < 2 or e.shape != N.shape:
            raise MaterialError(
                f"ForceTable: elongations and forces must be lists of one length, two at least, got {e.shape} and "
                f"{N.shape}."
            )
        if not (np.isfinite(e).all() and np.isfinite(N).all()):
            raise MaterialError("ForceTable: elongations (m) and forces (N) must be finite.")
        if (np.diff(e) <= 0.0).any():
            raise MaterialError("ForceTable: elongations must ascend (m).")
        self.length = np.array(length, dtype=float)
        if not (np.isfinite(self.length).all() and (self.length >= 0.0).all()):
            raise MaterialError("ForceTable: the natural length must be at least 0 m.")
        self.elongations, self.forces = e, N
        self._slopes = np.concatenate([[0.0], np.diff(N) / np.diff(e), [0.0]])  # of the intervals, N/m
        self._ends = np.concatenate([[-np.inf], e, [np.inf]])
        areas = np.concatenate([[0.0], np.cumsum(0.5 * (N[1:] + N[:-1]) * np.diff(e))])
        self._areas = areas  # ∫ N de from the first point, in J
        self._zero = float(self._integral(np.zeros(1))[0])

    @property
    def constants(self) -> Mapping[str, Array]:
        """The natural length."""
        return {"length": self.length}

    def _interval(self, e: Array) -> NDArray[np.intp]:
        """Return the numbers of the intervals of elongations, that below the first point is 0."""
        return np.searchsorted(self.elongations, e, side="right")

    def force(self, e: Array) -> Array:
        """Return N(e) in N."""
        return np.interp(e, self.elongations, self.forces)

    def _integral(self, e: Array) -> Array:
        """Return ∫ N de in J from the first point."""
        below = np.maximum(self._interval(e) - 1, 0)
        d = e - self.elongations[below]
        return self._areas[below] + 0.5 * (self.forces[below] + self.force(e)) * d

    def energy(self, s: Array) -> Array:
        """Return φ(s) in J."""
        return self._integral(np.sqrt(s) - self.length) - self._zero

    def slope(self, s: Array) -> Array:
        """Return dφ/ds = N/2l in N/m."""
        length = np.sqrt(s)
        return 0.5 * self.force(length - self.length) / length

    def curvature(self, s: Array) -> Array:
        """Return d²φ/ds² = (N'/l² − N/l³)/4 in N/m³."""
        length = np.sqrt(s)
        e = length - self.length
        return 0.25 * (self._slopes[self._interval(e)] - self.force(e) / length) / s

    def third_slope(self, s: Array) -> Array:
        """Return d³φ/ds³ = 3 (N/l − N')/8l⁴ in N/m⁵, between kinks."""
        length = np.sqrt(s)
        e = length - self.length
        return 0.375 * (self.force(e) / length - self._slopes[self._interval(e)]) / s**2

    def _along(self, s0: Array, s1: Array) -> tuple[Array, Array, Array]:
        """Return l0 + l1, the mean N̄ of the force between both, and (N1 − N̄)/(e1 − e0)."""
        l0, l1 = np.broadcast_arrays(np.sqrt(s0), np.sqrt(s1))
        e0, e1 = l0 - self.length, l1 - self.length
        start, delta = e0[..., None], (e1 - e0)[..., None]
        low, high = np.minimum(e0, e1)[..., None], np.maximum(e0, e1)[..., None]
        a, b = np.clip(self._ends[:-1], low, high), np.clip(self._ends[1:], low, high)
        still = delta == 0.0
        whole = self._interval(e1)[..., None] == np.arange(len(self._slopes))
        size = np.abs(delta) + still
        # What part of the way each interval has, and where on it: all of it where there is no way.
        near, far = np.minimum(np.abs(a - start), np.abs(b - start)), np.maximum(np.abs(a - start), np.abs(b - start))
        near, far = np.where(still, 0.0, near / size), np.where(still, 1.0 * whole, far / size)
        mean = np.sum((far - near) * 0.5 * (self.force(a) + self.force(b)), axis=-1)
        return l0 + l1, mean, np.sum(self._slopes * 0.5 * (far**2 - near**2), axis=-1)

    def quotient(self, s0: Array, s1: Array) -> Array:
        """Return ξ = 2 N̄/(l0 + l1) in N/m, also where s1 = s0."""
        both, mean, _ = self._along(s0, s1)
        return 2.0 * mean / both

    def quotient_slope(self, s0: Array, s1: Array) -> Array:
        """Return ∂ξ/∂s1 in N/m³, also where s1 = s0."""
        both, mean, rate = self._along(s0, s1)
        return (rate - mean / both) / both / np.sqrt(s1)
