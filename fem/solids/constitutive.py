"""What an elastic material is: energy, stress, elasticities, and the discrete stress between two strains.

A law is an energy W(C) per undeformed volume, C = FᵀF. To add one, derive from `Material` and write three functions,
`energy_density`, `stress` and `tangent`; `Solid` takes it on all elements, and energy-momentum methods too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import sqrt
from typing import ClassVar

import numpy as np

from symplex.errors import InvalidSystem, MaterialError
from symplex.fem.assembly.copying import Copyable
from symplex.fem.assembly.pattern import Array
from symplex.fem.solids import invariants
from symplex.fem.solids.law_functions import LawFunctions
from symplex.meshes.quadrature import mean_along, mean_slope_along

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
        return mean_along(self.stress, C0, C1)

    def discrete_tangent(self, C0: Array, C1: Array) -> Array:
        """Return 2 ∂S*/∂C1 [p, 3, 3, 3, 3] in Pa."""
        return mean_slope_along(self.tangent, C0, C1)

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

    def linear_constants(self) -> tuple[float, ...] | None:
        """Return the constants in Pa of a stress that is linear in the linear strain, or None for other laws.

        These are (λ, μ), or the 21 numbers of the matrix D on and above its diagonal, row by row: σ11, σ22, σ33, σ12,
        σ13, σ23 for ε11, ε22, ε33, 2 ε12, 2 ε13, 2 ε23.
        """
        return None

    @property
    def directions(self) -> Array:
        """The undeformed directions [F, 3] of the families of fibres, of length 1, whose I4 the C functions take."""
        return _NO_FIBRES

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
        with np.errstate(all="ignore"):  # what is not finite is reported below
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
        for name, given, requested in (
            ("stress is not 2 ∂W/∂C", S, stress),
            ("tangent is not 2 ∂S/∂C", T, tangent),
            ("stress is not symmetric", S, S.swapaxes(1, 2)),
            ("tangent is not symmetric in its last two indices", T, T.swapaxes(3, 4)),
        ):
            error = np.abs(np.asarray(given) - requested).max() / np.abs(T).max()
            if not error < 1e-6:
                raise MaterialError(
                    f"{type(self).__name__}: the {name}: they differ by {error:.2g} of the largest elasticity "
                    "at strains of up to 15 per cent."
                )


class LinearStress(Material):
    """A law whose stress is linear in C, so that its energy is quadratic."""

    def discrete_stress(self, C0: Array, C1: Array) -> Array:
        """Return S* = S((C0 + C1)/2) [p, 3, 3] in Pa."""
        return self.stress(0.5 * (C0 + C1))

    def discrete_tangent(self, C0: Array, C1: Array) -> Array:
        """Return ℂ/2 [p, 3, 3, 3, 3] in Pa."""
        return 0.5 * self.tangent(C1)

    def stress_curvature(self, C: Array, H: Array) -> Array:
        """Return zeros [p, 3, 3]: S is linear in C."""
        return np.zeros_like(C)


class InvariantMaterial(Material):
    """A law W(I1, I2, ln J, I4, …) of the invariants of C: its C functions say all."""

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


class Oriented(InvariantMaterial):
    """A material whose fibres have the directions [F, p, 3] at each of the points that it is asked about."""

    def __init__(self, material: InvariantMaterial, directions: Array):
        self.density = material.density
        self._material = material
        self._directions = directions

    @property
    def directions(self) -> Array:
        """The undeformed directions [F, p, 3], of length 1."""
        return self._directions

    def law_functions(self) -> LawFunctions:
        """Return the law as C functions of I1, I2, ln J and I4 of each family of fibres."""
        return self._material.law_functions()
