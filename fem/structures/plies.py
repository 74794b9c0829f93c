"""What shells have for each unit of their area: of one material, or of layers of several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import isfinite
from typing import Annotated, Self, final

import numpy as np

from symplex.base.arguments import checked
from symplex.base.quantities import positive
from symplex.base.representation import Summarized
from symplex.errors import InvalidSystem
from symplex.fem.assembly.pattern import Array
from symplex.fem.solids.materials import LameMaterial

_SHEAR = 5.0 / 6.0  # of a parabola over the thickness
_ROUND_OFF = 1e-12


@checked
@final
@dataclass(frozen=True)
class Orthotropic:
    """The constants of a ply with fibres along its axis 1, for small strains in plane stress.

    Parameters
    ----------
    E1, E2 : float
        Young's moduli in Pa along the axes 1 and 2.
    nu12 : float
        Poisson's ratio: the contraction along 2 of a stretch along 1; its square must be less than E1/E2.
    G12, G13, G23 : float
        Shear moduli in Pa, of which 13 and 23 are across the ply.
    density : float
        In kg/m³.

    Raises
    ------
    InvalidSystem
        If the constants are not those of a stable material.
    """

    E1: Annotated[float, positive("Pa")]
    E2: Annotated[float, positive("Pa")]
    nu12: float
    G12: Annotated[float, positive("Pa")]
    G13: Annotated[float, positive("Pa")]
    G23: Annotated[float, positive("Pa")]
    density: Annotated[float, positive("kg/m³")]

    def __post_init__(self):
        if not (isfinite(self.nu12) and self.nu12**2 < self.E1 / self.E2):
            raise InvalidSystem(
                f"Orthotropic: the square of nu12 must be less than E1/E2 = {self.E1 / self.E2:g}, got nu12 = "
                f"{self.nu12:g}."
            )


@checked
@final
@dataclass(frozen=True)
class Ply:
    """A layer of a shell.

    Parameters
    ----------
    thickness : float
        In m.
    material : LameMaterial or Orthotropic
    angle : float, default 0
        In degrees, of its axis 1 from that of the shell, positive about the normal.
    """

    thickness: Annotated[float, positive("m")]
    material: LameMaterial | Orthotropic
    angle: float = 0.0

    def __post_init__(self):
        if not isfinite(self.angle):
            raise InvalidSystem(f"Ply: angle must be finite, got {self.angle:g}.")

    @property
    def stiffness(self) -> tuple[Array, Array]:
        """Q [3, 3] in Pa of (ε₁₁, ε₂₂, 2ε₁₂) in plane stress, and that of γ₁, γ₂ [2, 2], in axes of the shell."""
        m, a = self.material, np.deg2rad(self.angle)
        c, s = np.cos(a), np.sin(a)
        if isinstance(m, Orthotropic):
            E1, E2, nu, G = m.E1, m.E2, m.nu12, (m.G12, m.G13, m.G23)
        else:
            E1 = E2 = m.mu * (3.0 * m.lmbda + 2.0 * m.mu) / (m.lmbda + m.mu)
            nu, G = 0.5 * m.lmbda / (m.lmbda + m.mu), (m.mu,) * 3
        whole = 1.0 - nu * nu * E2 / E1
        Q = np.array([[E1 / whole, nu * E2 / whole, 0.0], [nu * E2 / whole, E2 / whole, 0.0], [0.0, 0.0, G[0]]])
        strain = np.array([[c * c, s * s, c * s], [s * s, c * c, -c * s], [-2.0 * c * s, 2.0 * c * s, c * c - s * s]])
        turn = np.array([[c, s], [-s, c]])
        return strain.T @ Q @ strain, turn.T @ np.diag(G[1:]) @ turn


@checked
@final
@dataclass(frozen=True, eq=False, repr=False)
class ShellProperties(Summarized):
    """What a shell has for each unit of its area, with strains (ε₁₁, ε₂₂, 2ε₁₂) of the surface in its middle.

    Attributes
    ----------
    membrane, coupling, bending : float64 [3, 3]
        A in N/m, B in N and D in N m: N = A ε + B κ and M = B ε + D κ.
    shear : float64 [2, 2]
        Of Q = S γ, in N/m.
    thickness : float
        In m.
    mass : float
        In kg/m².
    center : float
        The centre of mass above the middle, in m.
    moment : float
        ∫ρ z² dz about it in kg.

    Raises
    ------
    InvalidSystem
        If shapes do not match, a matrix is not symmetric, or stiffnesses or masses are not positive.
    """

    membrane: Array
    coupling: Array
    bending: Array
    shear: Array
    thickness: float
    mass: float
    center: float
    moment: float

    def __post_init__(self):
        for field in fields(self)[:4]:
            array, n = np.array(getattr(self, field.name), dtype=float), 2 if field.name == "shear" else 3
            if array.shape != (n, n) or not np.isfinite(array).all():
                raise InvalidSystem(
                    f"ShellProperties: {field.name} must be finite, of shape {(n, n)}, got {array.shape}."
                )
            if np.abs(array - array.T).max() > _ROUND_OFF * np.abs(array).max():
                raise InvalidSystem(f"ShellProperties: {field.name} must be symmetric.")
            object.__setattr__(self, field.name, 0.5 * (array + array.T))
        for name in ("thickness", "mass", "moment"):
            if not (isfinite(getattr(self, name)) and getattr(self, name) > 0.0):
                raise InvalidSystem(f"ShellProperties: {name} must be positive, got {getattr(self, name):g}.")
        if not isfinite(self.center):
            raise InvalidSystem(f"ShellProperties: center must be finite, got {self.center:g} m.")
        size = np.repeat([1.0, 1.0 / self.thickness], 3)  # of strains and curvatures
        for name, matrix in (
            ("membrane, coupling and bending", size[:, None] * self.matrix * size),
            ("shear", self.shear),
        ):
            if not np.linalg.eigvalsh(matrix)[0] > 0.0:
                raise InvalidSystem(f"ShellProperties: {name} must be positive definite.")

    @property
    def matrix(self) -> Array:
        """[[A, B], [B, D]] [6, 6]."""
        return np.block([[self.membrane, self.coupling], [self.coupling, self.bending]])

    @classmethod
    @checked
    def uniform(cls, thickness: float, material: LameMaterial | Orthotropic) -> Self:
        """Return those of one material, by the constants of its small strains, with a thickness in m."""
        return cls.laminate([Ply(thickness, material)])

    @classmethod
    @checked
    def laminate(cls, plies: Sequence[Ply]) -> Self:
        """Return those of plies, from below to above, which is where the normal is; shear with 5/6 of each."""
        if not plies:
            raise InvalidSystem("ShellProperties.laminate: there must be plies, got none.")
        ends = np.concatenate([[0.0], np.cumsum([ply.thickness for ply in plies])])
        ends -= 0.5 * ends[-1]
        rho = np.array([ply.material.density for ply in plies])
        # ∫z^k dz of each ply; those of one ply are exact, as it ends at ± h/2
        powers = [(ends[1:] ** k - ends[:-1] ** k) / k for k in (1, 2, 3)]
        Q = np.array([ply.stiffness[0] for ply in plies])
        A, B, D = (np.einsum("p,pij->ij", power, Q) for power in powers)
        shear = _SHEAR * np.sum([ply.thickness * ply.stiffness[1] for ply in plies], axis=0)
        mass, first, second = (float(rho @ power) for power in powers)
        return cls(A, B, D, shear, float(ends[-1] - ends[0]), mass, first / mass, second - first**2 / mass)
