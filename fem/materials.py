"""Hyperelastic materials: constants and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, sqrt

from symplex.errors import MaterialError


@dataclass(frozen=True)
class NeoHookean:
    """A compressible neo-Hookean material.

    W(F) = λ/2 (ln J)² − μ ln J + μ/2 (tr C − 3) per undeformed volume, C = FᵀF, J = det F
    (Gonzalez, Schmidt and Ortiz, eq. 74, less the constant that makes the undeformed energy zero).

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
        for name, value, unit in (
            ("lmbda", self.lmbda, "Pa"),
            ("mu", self.mu, "Pa"),
            ("density", self.density, "kg/m³"),
        ):
            if not isfinite(value):
                raise MaterialError(f"NeoHookean: {name} is {value} {unit}; it must be a finite number.")
            object.__setattr__(self, name, float(value))
        if self.density <= 0:
            raise MaterialError(f"NeoHookean: density is {self.density:g} kg/m³; it must be positive.")
        if self.mu <= 0:
            raise MaterialError(f"NeoHookean: the shear modulus mu is {self.mu:g} Pa; it must be positive.")
        if self.bulk_modulus <= 0:
            raise MaterialError(
                f"NeoHookean: the bulk modulus lmbda + 2 mu/3 is {self.bulk_modulus:g} Pa; it must be positive, "
                f"so with mu = {self.mu:g} Pa lmbda must be above {-2 * self.mu / 3:g} Pa."
            )

    @classmethod
    def from_young(cls, E: float, nu: float, density: float) -> NeoHookean:
        """Return the material with Young's modulus E in Pa and Poisson's ratio ν for small strains.

        λ = E ν / ((1 + ν)(1 − 2ν)),  μ = E / (2 (1 + ν)).

        Raises
        ------
        MaterialError
            If E ≤ 0, ν is not in (−1, ½), a constant is not finite, or ρ ≤ 0.
        """
        if not (isfinite(E) and E > 0):
            raise MaterialError(f"NeoHookean: Young's modulus E is {E:g} Pa; it must be positive and finite.")
        if not -1 < nu < 0.5:
            raise MaterialError(f"NeoHookean: Poisson's ratio nu is {nu:g}; it must be above -1 and below 0.5.")
        return cls(lmbda=E * nu / ((1 + nu) * (1 - 2 * nu)), mu=E / (2 * (1 + nu)), density=density)

    @property
    def bulk_modulus(self) -> float:
        """K = λ + 2μ/3 in Pa."""
        return self.lmbda + 2 * self.mu / 3

    @property
    def young(self) -> float:
        """Young's modulus E = μ (3λ + 2μ)/(λ + μ) in Pa, for small strains."""
        return self.mu * (3 * self.lmbda + 2 * self.mu) / (self.lmbda + self.mu)

    @property
    def poisson(self) -> float:
        """Poisson's ratio ν = λ/(2 (λ + μ)), for small strains."""
        return self.lmbda / (2 * (self.lmbda + self.mu))

    @property
    def wave_speed(self) -> float:
        """Speed of dilatational waves √((λ + 2μ)/ρ) in m/s, the fastest there are, in the undeformed material."""
        return sqrt((self.lmbda + 2 * self.mu) / self.density)

    @property
    def shear_wave_speed(self) -> float:
        """Speed of shear waves √(μ/ρ) in m/s in the undeformed material."""
        return sqrt(self.mu / self.density)
