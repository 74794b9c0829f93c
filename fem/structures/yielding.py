"""Bars of metal that yield: small strains along a bar, isotropic and linear kinematic hardening.

With the engineering strain e = (l − L)/L, the plastic strain p and the equivalent plastic strain α of a bar,

    σ = E (e − p),    |σ − C p| ≤ σy(α),    ψ = V [½ E (e − p)² + ½ C p²],    D = V ∫ σy dα.

The return solves |ξ| − (E + C) x = σy(α + x) for ξ = σ − C p of the trial state; p += x sign ξ, α += x. It is exact for
increments in one direction. Its potential ψ + D is least at the end (Simo and Hughes 1998, §1.3 and §1.5), and the
tangent is E A/L, or E_t A/L with E_t = E (C + H)/(E + C + H) where it flows.
"""

from __future__ import annotations

from typing import Annotated, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from symplex.base.arguments import checked
from symplex.base.quantities import positive
from symplex.errors import MaterialError
from symplex.fem.assembly.pattern import Array
from symplex.fem.compiled.kernels import kernel
from symplex.fem.measures.inelastic_bars import LengthLaw, of_some_bars
from symplex.fem.solids.hardening import Hardening
from symplex.fem.solids.plastic_points import BACK, RATE, RECOVERY, START, flow, work_between

PLASTIC_STRAIN, EQUIVALENT = 0, 1  # internal variables: p and α


@checked
@final
class YieldingBar(LengthLaw):
    """The law of bars of metal that yield, for `InelasticBars`: σ = E (e − p), with e = (l − L)/L.

    Stress and strain are those of the undeformed bar. Internal variables of a bar are the plastic strain p and the
    equivalent plastic strain α.

    Parameters
    ----------
    young : float
        E in Pa.
    section : float or float64 [m]
        Cross-section in m².
    length : float or float64 [m]
        The natural lengths L in m.
    hardening : Hardening
        The yield stress σy(α), and the modulus C of a back stress C p, with which a bar that was stretched yields
        earlier when it is compressed (Bauschinger). It has no rate, recovery and heating.

    Raises
    ------
    MaterialError
        If a section or a length is not positive, or the hardening has what bars do not.
    """

    numbers = 2

    def __init__(
        self,
        young: Annotated[float, positive("Pa")],
        section: ArrayLike,
        length: ArrayLike,
        hardening: Hardening,
    ):
        c = hardening.constants
        more = [name for name, at in (("rate", RATE), ("recovery", RECOVERY), ("heating", START)) if c[at] != 0.0]
        if more:
            raise MaterialError(
                f"YieldingBar: bars have no {more[0]} in their hardening; take the yield stress by the plastic strain "
                "and a back stress without recovery."
            )
        self.young, self.hardening, self.back = float(young), hardening, float(c[BACK])
        self.section, self.length = np.asarray(section, float), np.asarray(length, float)
        for what, values, unit in (("section", self.section, "m²"), ("natural length", self.length, "m")):
            if not (values.ndim < 2 and ((values > 0.0) & (values < np.inf)).all()):
                raise MaterialError(f"YieldingBar: the {what} must be positive, got {values.min():g} {unit}.")

    def of_some(self, chosen: NDArray[np.integer]) -> YieldingBar:
        """Return the law of chosen bars alone."""
        section, length = (of_some_bars(values, chosen) for values in (self.section, self.length))
        return YieldingBar(self.young, section, length, self.hardening)

    def energy(self, length: Array, z: Array) -> Array:
        """Return ψ [m] in J: of the elastic strain and of kinematic hardening."""
        elastic = length / self.length - 1.0 - z[:, PLASTIC_STRAIN]
        return 0.5 * self._volume * (self.young * elastic**2 + self.back * z[:, PLASTIC_STRAIN] ** 2)

    def tension(self, length: Array, z: Array) -> Array:
        """Return σ A [m] in N."""
        return self.section * self.stress(length, z)

    def stress(self, length: Array, z: Array) -> Array:
        """Return σ [m] in Pa at lengths [m] in m."""
        return self.young * (length / self.length - 1.0 - z[:, PLASTIC_STRAIN])

    def updated(self, length: Array, z: Array) -> Array:
        """Return p and α [m, 2] at the end of an increment."""
        return self._returned(length, z)[0]

    def stiffness(self, length: Array, z: Array) -> Array:
        """Return E A/L [m] in N/m, or with the tangent modulus of bars that flow."""
        return self._returned(length, z)[1] * self.section / self.length

    def dissipation(self, z0: Array, z1: Array) -> Array:
        """Return V ∫ σy dα [m] in J."""
        law = self.hardening
        return self._volume * _works(z0[:, EQUIVALENT], z1[:, EQUIVALENT], law.constants, law.points)

    def fields(self, length: Array, z: Array) -> dict[str, Array]:
        """Return the stress ``axial_stress`` [m] in Pa, and α as ``plastic_strain``."""
        return {"axial_stress": self.stress(length, z), "plastic_strain": z[:, EQUIVALENT].copy()}

    @property
    def _volume(self) -> Array:
        return self.section * self.length

    def _returned(self, length: Array, z: Array) -> tuple[Array, Array]:
        """Return z at the end [m, 2], and the tangent modulus [m] in Pa."""
        strain, law = np.ascontiguousarray(length / self.length - 1.0), self.hardening
        end, modulus = np.empty(z.shape), np.empty(len(z))
        moduli = self.young, self.back
        _return(strain, np.ascontiguousarray(z), *moduli, law.constants, law.points, end, modulus)
        return end, modulus


@kernel
def _return(strain, z, young, kinematic, constants, points, end, modulus):
    """Write p and α [m, 2] at the end of increments to strains [m], and the tangent moduli [m]."""
    for i in range(len(strain)):
        p, alpha = z[i, 0], z[i, 1]
        xi = young * (strain[i] - p) - kinematic * p
        x, slope = flow(abs(xi), alpha, (young + kinematic) / 3.0, 1.0, 0.0, constants, points)
        modulus[i] = young
        if x > 0.0:
            hard = kinematic + slope
            modulus[i] = young * hard / (young + hard)
            p += x if xi > 0.0 else -x
            alpha += x
        end[i, 0], end[i, 1] = p, alpha


@kernel
def _works(before, after, constants, points):
    """Return ∫ σy dα [m] in J/m³ between equivalent plastic strains [m]."""
    works = np.empty(len(before))
    for i in range(len(before)):
        works[i] = work_between(before[i], after[i] - before[i], constants, points)
    return works
