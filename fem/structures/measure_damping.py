"""Damping by the rates of measures that are quadratic in positions: beams and shells of a viscoelastic material."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem
from symplex.fem.assembly.pattern import Array, scatter_vectors
from symplex.fem.energies.differentiable_load import DifferentiableLoad
from symplex.fem.structures.quadratic_measures import QuadraticMeasures

_NEGATIVE = 1e-9  # of an eigenvalue, by rounding


@checked
@final
class MeasureDamping(DifferentiableLoad):
    """Viscous stresses σ = η ε̇ of the measures of an energy, f = −Σ σ_i ∂ε_i/∂x.

    Measures are the same after rigid motions, which are not damped, however large: both momenta are kept. The forces do
    the work −ε̇·η ε̇, in the steps of energy–momentum as well. With η = β C they are the part β K of Rayleigh's damping
    in large rotations: a mode of the frequency ω has the damping ratio β ω/2.

    Parameters
    ----------
    energy : QuadraticMeasures
        Whose measures they are.
    viscosity : float64 [m, i] or [m, i, i]
        η in units of the stiffness of the energy times s: numbers of each measure, not negative; or symmetric matrices
        without negative eigenvalues.

    Raises
    ------
    InvalidSystem
        If shapes do not match, or a viscosity is not finite, not symmetric or negative.
    """

    def __init__(self, energy: QuadraticMeasures, viscosity: ArrayLike):
        given, (m, n) = np.asarray(viscosity, dtype=float), energy.rest.shape
        if given.shape not in ((m, n), (m, n, n)) or not np.isfinite(given).all():
            raise InvalidSystem(
                f"MeasureDamping: viscosity must be finite, of shape {(m, n)} or {(m, n, n)}, got {given.shape}."
            )
        full = given[:, :, None] * np.eye(n) if given.ndim == 2 else given
        if not np.array_equal(full, full.swapaxes(1, 2)):
            raise InvalidSystem("MeasureDamping: the viscosity of each stencil must be symmetric.")
        size = np.sqrt(np.einsum("mii->mi", full).clip(0.0))
        scale = np.where(size > 0.0, size, 1.0)
        least = float(np.linalg.eigvalsh(full / scale[:, :, None] / scale[:, None])[:, 0].min())
        if least < -_NEGATIVE:
            raise InvalidSystem(
                f"MeasureDamping: the viscosity must not be negative, got a least eigenvalue of {least:.3g} after "
                "scaling: it would drive motions."
            )
        self.energy, self.viscosity, self.nodes = energy, full, energy.nodes

    def shifted(self, first: int) -> MeasureDamping:
        """Return the same damping of nodes whose numbers are greater by ``first``."""
        return MeasureDamping(self.energy.shifted(first), self.viscosity)

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Return the nodal forces [n, 3] in N at positions q and velocities v [n, 3]."""
        slopes, out = self.energy.slopes(q[self.nodes]), np.zeros_like(q)
        local = -np.einsum("mi,mika->mka", self._stresses(slopes, v[self.nodes]), slopes)
        scatter_vectors(local, self.nodes, out)
        return out

    def derivatives(self, t: float, x: Array, v: Array) -> tuple[Array, Array]:
        """Return ∂f/∂x in N/m and ∂f/∂v in N s/m [m, 3k, 3k] at gathered x and v [m, k, 3]."""
        m, k = x.shape[:2]
        slopes, rates = self.energy.slopes(x), self.energy.slopes(v)  # slopes are linear in positions
        flat, of_rates = (part.reshape(m, -1, 3 * k) for part in (slopes, rates))
        viscous = flat.swapaxes(1, 2) @ self.viscosity
        by_x = viscous @ of_rates
        matrices = self.energy.matrices(self._stresses(slopes, v))
        by_x += np.einsum("mab,ij->maibj", matrices, np.eye(3)).reshape(m, 3 * k, 3 * k)
        return -by_x, -(viscous @ flat)

    def _stresses(self, slopes: Array, v: Array) -> Array:
        """Return η ε̇ [m, i] for velocities [m, k, 3]."""
        rates = np.einsum("mika,mka->mi", slopes, v)
        return np.asarray(np.einsum("mij,mj->mi", self.viscosity, rates))
