"""Elastic materials: constants, energy, stress, elasticities, and the discrete stress between two strains.

A law is an energy W(C) per undeformed volume, C = FᵀF. To add one, derive from `Material` and write three functions,
`energy_density`, `stress` and `tangent`; `Solid` takes it on all elements, and energy-momentum methods too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import isfinite, sqrt
from typing import ClassVar, Self, final

import numpy as np
from numpy.polynomial.legendre import leggauss

from symplex.base.arguments import checked
from symplex.errors import InvalidSystem, MaterialError
from symplex.fem.assembly import Array
from symplex.fem.copying import Copyable
from symplex.fem.solids import invariants, tensors
from symplex.fem.solids.law_functions import LawFunctions, shipped

_NODES, _WEIGHTS = (array / 2.0 for array in leggauss(8))
_NODES = _NODES + 0.5  # on [0, 1]
_NO_FIBRES = np.empty((0, 3))


class Material(Copyable, ABC):
    """A hyperelastic law, isotropic or not, for many points p at once.

    Attributes
    ----------
    density : float
        Mass per undeformed volume ρ in kg/m³.
    objective : bool
        True for laws of the right Cauchy-Green tensor C = FᵀF. False for laws of small strains: elements then give
        them C = 1 + 2ε with ε = sym F − 1, and the energy changes with rotations.
    """

    density: float
    objective: ClassVar[bool] = True

    @abstractmethod
    def energy_density(self, C: Array) -> Array:
        """Return W [p] in J/m³ at C [p, 3, 3]."""

    @abstractmethod
    def stress(self, C: Array) -> Array:
        """Return the second Piola-Kirchhoff stress S = 2 ∂W/∂C [p, 3, 3] in Pa, symmetric."""

    @abstractmethod
    def tangent(self, C: Array) -> Array:
        """Return the elasticities ℂ_ijkl = 2 ∂S_ij/∂C_kl [p, 3, 3, 3, 3] in Pa, symmetric in ij and in kl."""

    def discrete_stress(self, C0: Array, C1: Array) -> Array:
        """Return S* [p, 3, 3] in Pa with S* : (C1 − C0)/2 = W(C1) − W(C0).

        The mean of the stress along the segment from C0 to C1 by Gauss' rule of 8 points, so that the work is exact
        for polynomials up to degree 16 along it. Of laws for rubber and foam the error is round-off where components
        of F change by up to 0.1, but 1e-7 of the stiffness at 0.2. Laws with a closed form override it.
        """
        return np.sum([w * self.stress(C0 + t * (C1 - C0)) for t, w in zip(_NODES, _WEIGHTS, strict=True)], axis=0)

    def discrete_tangent(self, C0: Array, C1: Array) -> Array:
        """Return 2 ∂S*/∂C1 [p, 3, 3, 3, 3] in Pa."""
        return np.sum([w * t * self.tangent(C0 + t * (C1 - C0)) for t, w in zip(_NODES, _WEIGHTS, strict=True)], axis=0)

    def stress_curvature(self, C: Array, H: Array) -> Array:
        """Return the second derivative D²S[H, H] of the stress along symmetric H [p, 3, 3] in Pa: optional.

        Methods that need third derivatives of the energy take it.

        Raises
        ------
        InvalidSystem
            If the law has none.
        """
        raise InvalidSystem(
            f"the material {type(self).__name__} has no second derivative of its stress. Give it stress_curvature, or "
            "take a method that needs the gradient and Hessian only."
        )

    @property
    def isotropic(self) -> bool:
        """Whether the law is the same in all directions."""
        return True

    def law_functions(self) -> LawFunctions | None:
        """Return the law as C functions of the invariants of C, or None where it is given by the functions above."""
        return None

    # -- small strains ----------------------------------------------------------------------------------------

    @property
    def lame_constants(self) -> tuple[float, float]:
        """λ and μ in Pa of the undeformed material, if it is isotropic."""
        T = self.tangent(np.eye(3)[None])[0]
        return float(T[0, 0, 1, 1]), float(T[0, 1, 0, 1])

    @property
    def bulk_modulus(self) -> float:
        """K = λ + 2μ/3 in Pa, for small strains."""
        lmbda, mu = self.lame_constants
        return lmbda + 2 * mu / 3

    @property
    def young(self) -> float:
        """Young's modulus E = μ (3λ + 2μ)/(λ + μ) in Pa, for small strains."""
        lmbda, mu = self.lame_constants
        return mu * (3 * lmbda + 2 * mu) / (lmbda + mu)

    @property
    def poisson(self) -> float:
        """Poisson's ratio ν = λ/(2 (λ + μ)), for small strains."""
        lmbda, mu = self.lame_constants
        return lmbda / (2 * (lmbda + mu))

    @property
    def wave_speed(self) -> float:
        """Speed of dilatational waves √((λ + 2μ)/ρ) in m/s, the fastest there are, in the undeformed material."""
        lmbda, mu = self.lame_constants
        return sqrt((lmbda + 2 * mu) / self.density)

    @property
    def shear_wave_speed(self) -> float:
        """Speed of shear waves √(μ/ρ) in m/s in the undeformed material."""
        return sqrt(self.lame_constants[1] / self.density)

    # -- a new law --------------------------------------------------------------------------------------------

    def verify(self) -> None:
        """Check the three functions of a law against each other, by differences, at some strains of up to 15 per cent.

        Raises
        ------
        MaterialError
            If the stress is not 2 ∂W/∂C, or the tangent not 2 ∂S/∂C, or one of them not symmetric or not finite.
        """
        rng = np.random.default_rng(0)
        F = np.eye(3) + 0.1 * rng.uniform(-1.0, 1.0, (8, 3, 3))
        C = np.einsum("pki,pkj->pij", F, F)
        with np.errstate(all="ignore"):  # what is not finite is told below
            S, T = self.stress(C), self.tangent(C)
            stress, tangent = np.empty((8, 3, 3)), np.empty((8, 3, 3, 3, 3))
            h = 1e-5
            for k in range(3):
                for j in range(3):
                    step = np.zeros((3, 3))
                    step[k, j] += 0.5 * h
                    step[j, k] += 0.5 * h
                    stress[:, k, j] = (self.energy_density(C + step) - self.energy_density(C - step)) / h
                    tangent[:, :, :, k, j] = (self.stress(C + step) - self.stress(C - step)) / h
        for name, given, wanted in (
            ("stress is not 2 ∂W/∂C", S, stress),
            ("tangent is not 2 ∂S/∂C", T, tangent),
            ("stress is not symmetric", S, S.swapaxes(1, 2)),
            ("tangent is not symmetric in its last two indices", T, T.swapaxes(3, 4)),
        ):
            error = np.abs(np.asarray(given) - wanted).max() / np.abs(T).max()
            if not error < 1e-6:
                raise MaterialError(
                    f"{type(self).__name__}: the {name}: they differ by {error:.2g} of the largest elasticity "
                    "at strains of up to 15 per cent."
                )


class InvariantMaterial(Material):
    """A law W(I1, I2, ln J, I4, …) of the invariants of C: its C functions say all."""

    @property
    def directions(self) -> Array:
        """The undeformed directions of the families of fibres [F, 3], of length 1."""
        return _NO_FIBRES

    @abstractmethod
    def law_functions(self) -> LawFunctions:
        """Return the law as C functions of I1, I2, ln J and I4 of each family of fibres."""

    def energy_density(self, C: Array) -> Array:
        """Return W [p] in J/m³."""
        return invariants.energy(self.law_functions(), self.directions, C)

    def stress(self, C: Array) -> Array:
        """Return S [p, 3, 3] in Pa."""
        return invariants.stress(self.law_functions(), self.directions, C)

    def tangent(self, C: Array) -> Array:
        """Return ℂ [p, 3, 3, 3, 3] in Pa."""
        return invariants.tangent(self.law_functions(), self.directions, C)

    def discrete_stress(self, C0: Array, C1: Array) -> Array:
        """Return S* [p, 3, 3] in Pa, by means of the slopes of W along a segment of the invariants."""
        return invariants.discrete_stress(self.law_functions(), self.directions, C0, C1)

    def discrete_tangent(self, C0: Array, C1: Array) -> Array:
        """Return 2 ∂S*/∂C1 [p, 3, 3, 3, 3] in Pa."""
        return invariants.discrete_tangent(self.law_functions(), self.directions, C0, C1)

    def stress_curvature(self, C: Array, H: Array) -> Array:
        """Return D²S[H, H] [p, 3, 3] in Pa."""
        return invariants.stress_curvature(self.law_functions(), self.directions, C, H)


def finite_constants(law: str, **constants: float) -> None:
    """Check that constants are finite, and that the density is positive.

    Raises
    ------
    MaterialError
        If not; ``law`` begins the message.
    """
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

    Raises
    ------
    MaterialError
        If a constant is not finite, ρ ≤ 0, μ ≤ 0, or the bulk modulus λ + 2μ/3 ≤ 0.
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

        Raises
        ------
        MaterialError
            If E ≤ 0, ν is not in (−1, ½), a constant is not finite, or ρ ≤ 0.
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
    Its discrete stress has a closed form (see `symplex.fem.solids.volumetric`).

    Parameters and errors are those of `LameMaterial`: ``lmbda`` and ``mu`` in Pa, ``density`` in kg/m³.
    """

    def law_functions(self) -> LawFunctions:
        """Return the law as C functions of I1, I2 and ln J."""
        return LawFunctions.of(shipped("neo_hookean"), vars(self))


@checked
@final
@dataclass(frozen=True)
class SaintVenantKirchhoff(LameMaterial, InvariantMaterial):
    """A Saint Venant-Kirchhoff material: large rotations, small strains.

    W = λ/2 (tr E)² + μ E : E with Green's strain E = (C − 1)/2. Strongly compressed it softens (uniaxially below a
    stretch of 1/√3) and nothing but the refusal of inverted elements stops a collapse: take NeoHookean there.

    Parameters and errors are those of `LameMaterial`: ``lmbda`` and ``mu`` in Pa, ``density`` in kg/m³.
    """

    def law_functions(self) -> LawFunctions:
        """Return the law as C functions of I1, I2 and ln J."""
        return LawFunctions.of(shipped("saint_venant_kirchhoff"), vars(self))


@checked
@final
@dataclass(frozen=True)
class LinearElastic(LameMaterial):
    """Hooke's law with the linear strain ε = sym F − 1: for small displacements only.

    W = λ/2 (tr ε)² + μ ε : ε. It is *not objective*: a rotation by the angle α strains it by cos α − 1, and the forces
    keep linear momentum, but not angular momentum of the moving body (their moments vanish about the *undeformed*
    positions). The energy is quadratic, so the midpoint rule, which is its discrete gradient, keeps energy
    and linear momentum. Inverted elements are not seen.

    Parameters and errors are those of `LameMaterial`: ``lmbda`` and ``mu`` in Pa, ``density`` in kg/m³.
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

    def discrete_stress(self, C0: Array, C1: Array) -> Array:
        """Return S* = S((C0 + C1)/2) [p, 3, 3] in Pa."""
        return self.stress(0.5 * (C0 + C1))

    def discrete_tangent(self, C0: Array, C1: Array) -> Array:
        """Return ℂ/2 [p, 3, 3, 3, 3] in Pa."""
        return 0.5 * self.tangent(C1)

    def stress_curvature(self, C: Array, H: Array) -> Array:
        """Return zeros [p, 3, 3]: S is linear in C."""
        return np.zeros_like(C)


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
        return LawFunctions.of(shipped("mooney_rivlin"), vars(self))
