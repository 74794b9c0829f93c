"""The secant matrix 𝓕 of a system within a step, and what acts from outside of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np

from symplex.fem.assembly.forms import GRADIENT, SECANT, SECANT_RATE
from symplex.fem.compiled.secant_product import secant_product
from symplex.fem.energies.energy import Array
from symplex.fem.system import System

_LOAD_POINTS = 4  # at which loads are seen in a step, at least


@final
class SecantOperator:
    """Products with M⁻¹𝓕, and the accelerations M⁻¹f of what has no part in 𝓕: loads, and energies named external.

    ∇V(q) = 𝓕(q) q for the energies that depend on distances only (Graham and Jelenić 2006, eqs. 2.17, 2.18).

    Parameters
    ----------
    system : System
    external : sequence of str
        The energies whose forces −∇φ act like loads.

    Attributes
    ----------
    acting : list of float64 [n, dim]
        The force of each load in N where accelerations from outside were looked for last.
    """

    acting: list[Array]

    def __init__(self, system: System, external: Sequence[str]):
        self.system = system
        self._internal, self._external = system.energies.keys() - set(external), set(external)
        self.loaded = bool(self._external or system.loads)
        # What becomes of a force: its part in the acceleration, where the mass is lumped.
        self._weights = np.where(system.fixed, 0.0, 1.0)
        if system.is_lumped:
            self._weights /= np.asarray(system.mass)[:, None]

    def values(self, q: Array) -> Array:
        """Return the values [nnz] of 𝓕(q) in N/m on the system's pattern."""
        return self.system.assembled(SECANT, q, among=self._internal)

    def rate_values(self, q: Array, v: Array) -> Array:
        """Return the values [nnz] of 𝓕̇ in N/(m s) at q along the velocities v, on the system's pattern."""
        return self.system.assembled(SECANT_RATE, q, v, among=self._internal)

    def product(self, values: Array, x: Array) -> Array:
        """Return M⁻¹ 𝓕 x [n, dim], zero at fixed coordinates, for the values [nnz] of 𝓕 and x [n, dim]."""
        pattern, system = self.system.pattern, self.system
        out = np.empty_like(x)
        secant_product(pattern.indptr, pattern.indices, values, x, self._weights, out)
        return out if system.is_lumped else system.accelerations(out)

    def points_for_forces(self, least: int) -> int:
        """Return the Gauss points of a step at which forces from outside are seen, not below the least for the order.

        Of loads more of them: a force that changes much in a step gives the body the right momentum nevertheless.
        External energies may be dear, or not smooth.
        """
        return least if self._external else max(least, _LOAD_POINTS)

    def from_outside(self, t: float, q: Array, v: Array) -> Array:
        """Return M⁻¹ f(t, q, v) [n, dim] in m/s² of the loads and the external energies."""
        out = self.system.assembled(GRADIENT, q, among=self._external)
        np.negative(out, out=out)
        self.acting = [load(t, q, v) for load in self.system.loads.values()]
        for force in self.acting:
            out += force
        return self._accelerations(out)

    def accelerations(self, t: float, q: Array, v: Array) -> Array:
        """Return M⁻¹ (f(t, q, v) − ∇V(q)) [n, dim] in m/s², all forces together."""
        return self.system.accelerations(self.system.force(t, q, v))

    def _accelerations(self, force: Array) -> Array:
        if self.system.has_supports:
            force[self.system.fixed] = 0.0
        return self.system.accelerations(force)
