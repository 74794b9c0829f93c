"""The built-in materials: their constants, and what is checked of them."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Self, final

import numpy as np

from symplex.base.arguments import checked
from symplex.errors import MaterialError
from symplex.fem.assembly.pattern import Array
from symplex.fem.solids import tensors
from symplex.fem.solids.constitutive import InvariantMaterial, LinearStress, Material
from symplex.fem.solids.formula_store import built_in
from symplex.fem.solids.law_functions import LawFunctions


def finite_constants(law: str, **constants: float) -> None:
    """Check that constants are finite, and that the density is positive."""
    for name, value in constants.items():
        unit = "kg/m³" if name == "density" else "Pa"
        if not isfinite(value):
            raise MaterialError(f"{law}: {name} is {value} {unit}; it must be a finite number.")
    if constants["density"] <= 0:
        raise MaterialError(f"{law}: density is {constants['density']:g} kg/m³; it must be positive.")


# -- laws of Lamé's constants ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class LameMaterial(Material):
    """A law with the constants of small strains.

    Parameters
    ----------
    lmbda : float
        First Lamé constant λ in Pa.
    mu : float
        Second Lamé constant (shear modulus) μ in Pa.
    density : float
        Mass per undeformed volume ρ in kg/m³.
    """

    lmbda: float
    mu: float
    density: float

    def __post_init__(self) -> None:
        law = type(self).__name__
        finite_constants(law, lmbda=self.lmbda, mu=self.mu, density=self.density)
        for name in ("lmbda", "mu", "density"):
            object.__setattr__(self, name, float(getattr(self, name)))
        if self.mu <= 0:
            raise MaterialError(f"{law}: the shear modulus mu is {self.mu:g} Pa; it must be positive.")
        bulk = self.lmbda + 2 * self.mu / 3
        if bulk <= 0:
            raise MaterialError(
                f"{law}: the bulk modulus lmbda + 2 mu/3 is {bulk:g} Pa; it must be positive, "
                f"so with mu = {self.mu:g} Pa lmbda must be above {-2 * self.mu / 3:g} Pa."
            )

    @classmethod
    @checked
    def from_young(cls, E: float, nu: float, density: float) -> Self:
        """Return the material with Young's modulus E in Pa and Poisson's ratio ν for small strains.

        λ = E ν / ((1 + ν)(1 − 2ν)),  μ = E / (2 (1 + ν)).
        """
        if not (isfinite(E) and E > 0):
            raise MaterialError(f"{cls.__name__}: Young's modulus E is {E:g} Pa; it must be positive and finite.")
        if not -1 < nu < 0.5:
            raise MaterialError(f"{cls.__name__}: Poisson's ratio nu is {nu:g}; it must be above -1 and below 0.5.")
        return cls(lmbda=E * nu / ((1 + nu) * (1 - 2 * nu)), mu=E / (2 * (1 + nu)), density=density)


@checked
@final
@dataclass(frozen=True)
class NeoHookean(LameMaterial, InvariantMaterial):
    """A compressible neo-Hookean material, for large strains.

    W = λ/2 (ln J)² − μ ln J + μ/2 (tr C − 3) per undeformed volume, J = det F
    (Gonzalez, Schmidt and Ortiz, eq. 74, less the constant that makes the undeformed energy zero).
    Its discrete stress has a closed form (see `symplex.fem.solids.law_discrete`).

    Parameters
    ----------
    lmbda, mu : float
        Lamé's constants λ and μ in Pa.
    density : float
        Mass per undeformed volume in kg/m³.

    Raises
    ------
    MaterialError
        If a constant is not finite, ρ ≤ 0, μ ≤ 0, or the bulk modulus λ + 2μ/3 ≤ 0.
    """

    def law_functions(self) -> LawFunctions:
        """Return the law as C functions of I1, I2 and ln J."""
        return LawFunctions.of(built_in("neo_hookean"), vars(self))


@checked
@final
@dataclass(frozen=True)
class SaintVenantKirchhoff(LameMaterial, InvariantMaterial):
    """A Saint Venant-Kirchhoff material: large rotations, small strains.

    W = λ/2 (tr E)² + μ E : E with Green's strain E = (C − 1)/2. Strongly compressed it softens (uniaxially below a
    stretch of 1/√3) and nothing but the refusal of inverted elements stops a collapse: take NeoHookean there.

    Parameters
    ----------
    lmbda, mu : float
        Lamé's constants λ and μ in Pa.
    density : float
        Mass per undeformed volume in kg/m³.

    Raises
    ------
    MaterialError
        If a constant is not finite, ρ ≤ 0, μ ≤ 0, or the bulk modulus λ + 2μ/3 ≤ 0.
    """

    def law_functions(self) -> LawFunctions:
        """Return the law as C functions of I1, I2 and ln J."""
        return LawFunctions.of(built_in("saint_venant_kirchhoff"), vars(self))


@checked
@final
@dataclass(frozen=True)
class LinearElastic(LinearStress, LameMaterial):
    """Hooke's law with the linear strain ε = sym F − 1: for small displacements only.

    W = λ/2 (tr ε)² + μ ε : ε. It is *not objective*: a rotation by the angle α strains it by cos α − 1, and the forces
    keep linear momentum, but not angular momentum of the moving body (their moments vanish about the *undeformed*
    positions). The energy is quadratic, so the midpoint rule, which is its discrete gradient, keeps energy
    and linear momentum. Inverted elements are not seen.

    Parameters
    ----------
    lmbda, mu : float
        Lamé's constants λ and μ in Pa.
    density : float
        Mass per undeformed volume in kg/m³.

    Raises
    ------
    MaterialError
        If a constant is not finite, ρ ≤ 0, μ ≤ 0, or the bulk modulus λ + 2μ/3 ≤ 0.
    """

    objective = False

    def energy_density(self, C: Array) -> Array:
        """Return W [p] in J/m³."""
        E = 0.5 * (C - tensors.ONE)
        return 0.5 * self.lmbda * tensors.trace(E) ** 2 + self.mu * np.einsum("pij,pij->p", E, E)

    def stress(self, C: Array) -> Array:
        """Return S = λ tr E 1 + 2μ E [p, 3, 3] in Pa."""
        E = 0.5 * (C - tensors.ONE)
        return tensors.scaled(self.lmbda * tensors.trace(E), tensors.ONE) + 2.0 * self.mu * E

    def tangent(self, C: Array) -> Array:
        """Return ℂ = λ 1 ⊗ 1 + 2μ 𝕀 [p, 3, 3, 3, 3] in Pa."""
        T = self.lmbda * tensors.ONE_ONE + 2.0 * self.mu * tensors.SYMMETRIC
        return np.broadcast_to(T, (len(C), 3, 3, 3, 3))

    def linear_constants(self) -> tuple[float, ...]:
        """Return λ and μ in Pa."""
        return self.lmbda, self.mu


# -- rubber ---------------------------------------------------------------------------------------------------


@checked
@final
@dataclass(frozen=True)
class MooneyRivlin(InvariantMaterial):
    """A compressible Mooney-Rivlin material, for rubber.

    W = c10 (I1 − 3) + c01 (I2 − 3) − (2 c10 + 4 c01) ln J + λ'/2 (ln J)²,  λ' = K − 4/3 (c10 + c01) − 4 c01,

    I1 = tr C, I2 = ((tr C)² − tr C²)/2. Undeformed it is free of stress with the shear modulus μ = 2 (c10 + c01) and
    the bulk modulus K. With c01 = 0 it is NeoHookean with μ = 2 c10.

    Parameters
    ----------
    c10, c01 : float
        Constants in Pa, not negative.
    bulk : float
        Bulk modulus K in Pa.
    density : float
        Mass per undeformed volume ρ in kg/m³.

    Raises
    ------
    MaterialError
        If a constant is not finite, ρ ≤ 0, c10 or c01 is negative or both are zero, or K < 4/3 (c10 + c01) + 4 c01,
        when λ' is negative and the energy no longer grows without bounds as the volume vanishes.
    """

    c10: float
    c01: float
    bulk: float
    density: float

    def __post_init__(self) -> None:
        finite_constants("MooneyRivlin", c10=self.c10, c01=self.c01, bulk=self.bulk, density=self.density)
        for name in ("c10", "c01", "bulk", "density"):
            object.__setattr__(self, name, float(getattr(self, name)))
        if min(self.c10, self.c01) < 0 or self.c10 + self.c01 <= 0:
            raise MaterialError(
                f"MooneyRivlin: c10 is {self.c10:g} Pa and c01 is {self.c01:g} Pa; they must not be negative, "
                "and their sum, half the shear modulus, must be positive."
            )
        if self._lmbda < 0:
            least = 4 / 3 * (self.c10 + self.c01) + 4 * self.c01
            raise MaterialError(
                f"MooneyRivlin: the bulk modulus is {self.bulk:g} Pa; with c10 = {self.c10:g} Pa and "
                f"c01 = {self.c01:g} Pa it must be at least {least:g} Pa."
            )

    @property
    def _lmbda(self) -> float:
        return self.bulk - 4 / 3 * (self.c10 + self.c01) - 4 * self.c01

    def law_functions(self) -> LawFunctions:
        """Return the law as C functions of I1, I2 and ln J."""
        return LawFunctions.of(built_in("mooney_rivlin"), vars(self))
