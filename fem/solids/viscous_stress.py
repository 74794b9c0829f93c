"""The viscous stress of Kelvin and Voigt: a load in proportion to the rate of Green's strain."""

from __future__ import annotations

from typing import Annotated, final

import numpy as np

from symplex.base.arguments import checked
from symplex.base.quantities import not_negative
from symplex.fem.assembly.pattern import Array, scatter_vectors
from symplex.fem.energies.differentiable_load import DifferentiableLoad
from symplex.fem.solids.hourglass import moduli_change, undeformed_elasticities
from symplex.fem.solids.hourglass_strains import HourglassStrains, matrices_of
from symplex.fem.solids.solid import Solid
from symplex.fem.solids.strain_rates import StrainPoints

_UNIT = np.eye(3)
# dev as a tensor of the fourth order, symmetric in ij and kl
DEVIATOR = 0.5 * (np.einsum("ik,jl->ijkl", _UNIT, _UNIT) + np.einsum("il,jk->ijkl", _UNIT, _UNIT))
DEVIATOR -= np.einsum("ij,kl->ijkl", _UNIT, _UNIT) / 3.0


@checked
@final
class ViscousStress(DifferentiableLoad):
    """The viscous stress of a body, S = 𝔻 : Ė with the rate Ė = sym(Fᵀ Ḟ) of Green's strain.

    Next to the elastic stress it makes a Kelvin-Voigt solid. Ė is zero in any rigid motion, also of a body that is far
    deformed: neither that is damped, nor are the momenta changed. By energy-momentum methods, which take Ė from the
    mean position and the increment of a step, h Ė is the exact change of strain, so that rigid increments of any size
    do no work.

    Parameters
    ----------
    solid : Solid
        The body, of a law of finite strains.
    viscosity : float
        The shear viscosity η in Pa s: S = 2 η dev Ė + ζ tr Ė 1.
    bulk : float, default 0
        The bulk viscosity ζ in Pa s.

    Raises
    ------
    InvalidSystem
        If a viscosity is negative or not finite, or the law of the body is one of small strains.
    """

    def __init__(
        self,
        solid: Solid,
        viscosity: Annotated[float, not_negative("Pa s")],
        bulk: Annotated[float, not_negative("Pa s")] = 0.0,
    ):
        volume = np.einsum("ij,kl->ijkl", _UNIT, _UNIT)
        self._set(solid, (2.0 * viscosity * DEVIATOR + bulk * volume)[None])

    @classmethod
    @checked
    def proportional(cls, solid: Solid, time: Annotated[float, not_negative("s")]) -> ViscousStress:
        """Return the viscous stress 𝔻 = β ℂ0 with the elasticities ℂ0 of the undeformed material.

        About the undeformed configuration it is the part β K of Rayleigh's damping: a mode of frequency ω decays as
        exp(−β ω² t/2). Unlike `StiffnessDamping` it leaves rotations of any size alone.

        Parameters
        ----------
        solid : Solid
        time : float
            β in s.

        Raises
        ------
        InvalidSystem
            If the time is negative or not finite, or the law of the body is one of small strains.
        """
        new = cls.__new__(cls)
        new._set(solid, time * undeformed_elasticities(solid.material, solid.fibres))
        return new

    def _set(self, solid: Solid, viscosity: Array) -> None:
        self._points = StrainPoints(solid, "ViscousStress")
        self._viscosity = viscosity  # 𝔻 [1 or m, 3, 3, 3, 3]
        self._hourglasses: HourglassStrains | None = None
        geometry = self._points.hexahedra
        if geometry is not None:  # Q̇ is resisted with the enhancing modes of the elastic law, as in slow motions
            elastic = undeformed_elasticities(solid.material, solid.fibres)
            self._hourglasses = HourglassStrains(geometry)
            self._resistance = matrices_of(moduli_change(geometry, solid.material, elastic, viscosity))  # [m, 12, 12]
        self.nodes = solid.nodes

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Return the nodal forces [n, 3] in N."""
        x, rates = q[self.nodes], v[self.nodes]
        F, _ = self._points.deformations(x)
        local = self._points.forces(F, self._points.rates(self._viscosity, F, rates))
        if self._hourglasses is not None:
            local += self._hourglasses.forces(x, self._hourglass_stress(self._hourglasses.slopes(x), rates))
        out = np.zeros(q.shape)
        scatter_vectors(local, self.nodes, out)
        return out

    def derivatives(self, t: float, x: Array, v: Array) -> tuple[Array, Array]:
        """Return ∂f/∂x in N/m and ∂f/∂v in N s/m [m, 3k, 3k]."""
        points, D = self._points, self._viscosity
        F, _ = points.deformations(x)
        S = points.rates(D, F, v)
        by_x = points.stiffness(F, points.velocity_gradients(v), S, D, 1.0)
        by_v = points.stiffness(F, F, S, D, 0.0)
        by_x, by_v = -by_x, -by_v
        if self._hourglasses is not None:
            B, rates = self._hourglasses.slopes(x), self._hourglasses.slopes(v)  # Q̇ = B(x) v = B(v) x
            left = B.swapaxes(1, 2) @ self._resistance
            by_x -= left @ rates + self._hourglasses.curvature(self._hourglass_stress(B, v))
            by_v -= left @ B
        return by_x, by_v

    def _hourglass_stress(self, B: Array, v: Array) -> Array:
        """Return T [m, 12] in N/m for B = ∂Q/∂x and velocities v [m, 8, 3]."""
        return (self._resistance @ (B @ v.reshape(-1, 24, 1)))[:, :, 0]
