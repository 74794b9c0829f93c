"""Damping of beams and shells by the rates of their measures, which rigid motions do not feel."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem
from symplex.fem.assembly.pattern import Array
from symplex.fem.energies.differentiable_load import DifferentiableLoad
from symplex.fem.structures.quadratic_measures import QuadraticMeasures

_ROUND_OFF = 1e-9


@final
class ViscousMeasures(DifferentiableLoad):
    """Resistance to changes of measures, f = −Σ_i (D ε̇)_i ∂ε_i/∂x with ε̇_i = ∂ε_i/∂x · v.

    With D = β C that is the part β K of Rayleigh's damping of small vibrations. It does the power −ε̇·D ε̇, none in rigid
    motions, and keeps both momenta. As measures are quadratic in positions, their rate at the middle of a step is their
    change over it: of methods that evaluate loads there the work of a step is −Δε·D Δε/h.

    Parameters
    ----------
    energy : QuadraticMeasures
        Whose measures these are.
    viscosity : float64 [m, i, i]
        D, symmetric and not negative.

    Raises
    ------
    InvalidSystem
        If D is not symmetric, has a negative eigenvalue, or does not fit.
    """

    @checked
    def __init__(self, energy: QuadraticMeasures, viscosity: ArrayLike):
        given, shape = np.array(viscosity, dtype=float), energy.stiffness.shape
        if given.shape != shape or not np.isfinite(given).all():
            raise InvalidSystem(f"ViscousMeasures: viscosity must be finite, of shape {shape}, got {given.shape}.")
        size = np.abs(given).max(axis=(1, 2), initial=0.0)
        if np.abs(given - given.swapaxes(1, 2)).max(initial=0.0) > _ROUND_OFF * size.max(initial=0.0):
            raise InvalidSystem("ViscousMeasures: the viscosity of each stencil must be symmetric.")
        least = np.linalg.eigvalsh(given)[:, 0]
        if (least < -_ROUND_OFF * size * given.shape[1]).any():
            worst = int(np.argmin(least))
            raise InvalidSystem(
                f"ViscousMeasures: the viscosity must not be negative, got an eigenvalue of {least[worst]:.3g} for "
                f"stencil {worst}."
            )
        self.nodes, self.viscosity = energy.nodes, given
        self._weights, vectors = energy.weights, energy.weights.shape[1]
        self._pairs = np.zeros((len(energy.terms), vectors, vectors))  # of ∂²ε/∂p∂p
        for i, terms in enumerate(energy.terms):
            for r, s, c in terms:
                self._pairs[i, r, s] += c
                self._pairs[i, s, r] += c

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Return the nodal forces [n, 3] in N at positions q [n, 3] and velocities v [n, 3]."""
        out, slopes = np.zeros_like(q), self._slopes(q[self.nodes])
        stress = self._stress(slopes, v[self.nodes])
        np.add.at(out, self.nodes, -self._weights.swapaxes(1, 2) @ np.einsum("mi,mivc->mvc", stress, slopes))
        return out

    def derivatives(self, t: float, x: Array, v: Array) -> tuple[Array, Array]:
        """Return ∂f/∂x in N/m and ∂f/∂v in N s/m [m, 3k, 3k] at gathered x and v [m, k, 3]."""
        m, k = x.shape[:2]
        slopes, rates = self._slopes(x), self._slopes(v)
        stress = self._stress(slopes, v)
        by_node, by_rate = (np.einsum("mivc,mvk->mikc", one, self._weights) for one in (slopes, rates))
        left, right = by_node.reshape(m, -1, 3 * k), by_rate.reshape(m, -1, 3 * k)
        damped = left.swapaxes(1, 2) @ self.viscosity
        pairs = np.einsum("mi,ivw->mvw", stress, self._pairs)
        pairs = self._weights.swapaxes(1, 2) @ pairs @ self._weights
        turning = np.einsum("mkl,cd->mkcld", pairs, np.eye(3)).reshape(m, 3 * k, 3 * k)
        return -(damped @ right + turning), -(damped @ left)

    def _vectors(self, x: Array) -> Array:
        """Return the vectors p [m, v, 3] of gathered positions [m, k, 3]."""
        return np.asarray(self._weights[:, :, 1:] @ (x[:, 1:] - x[:, :1]), float)

    def _slopes(self, x: Array) -> Array:
        """Return ∂ε/∂p = A p [m, i, v, 3]; of velocities their rates."""
        return np.einsum("ivw,mwc->mivc", self._pairs, self._vectors(x))

    def _stress(self, slopes: Array, v: Array) -> Array:
        """Return D ε̇ [m, i]."""
        rates = np.einsum("mivc,mvc->mi", slopes, self._vectors(v))
        return np.einsum("mij,mj->mi", self.viscosity, rates)
