"""Cross-sections of beams, and what beams of a material have of them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import isfinite, pi, sqrt
from typing import Annotated, Self, final

import numpy as np

from symplex.base.arguments import checked
from symplex.base.quantities import positive
from symplex.errors import InvalidSystem
from symplex.fem.solids.materials import LameMaterial

_TERMS = 2 * np.arange(200) + 1.0  # of the series of a rectangle's torsion, whose n-th is less than n⁻⁵


@checked
@final
@dataclass(frozen=True)
class BeamProperties:
    """What a beam has for each unit of its length.

    The axes 1 and 2 of a section are those across the beam (`symplex.structures.beam`), with the principal moments.

    Attributes
    ----------
    axial : float
        EA in N.
    shear : tuple of two floats
        k G A in N along the axes 1 and 2.
    bending : tuple of two floats
        EI in N m² about the axes 1 and 2.
    torsion : float
        GJ in N m².
    mass : float
        ρA in kg/m.
    moments : tuple of two floats
        ∫ρ x₁² dA and ∫ρ x₂² dA in kg m, along the axes 1 and 2.

    Raises
    ------
    InvalidSystem
        If a number is not positive and finite.
    """

    axial: float
    shear: tuple[float, float]
    bending: tuple[float, float]
    torsion: float
    mass: float
    moments: tuple[float, float]

    def __post_init__(self):
        for field in fields(self):
            for value in np.ravel(getattr(self, field.name)):
                if not (isfinite(value) and value > 0.0):
                    raise InvalidSystem(f"BeamProperties: {field.name} must be positive and finite, got {value:g}.")


@checked
@final
@dataclass(frozen=True)
class Section:
    """A cross-section of a beam.

    Parameters
    ----------
    area : float
        A in m².
    I1, I2 : float
        ∫x₂² dA and ∫x₁² dA in m⁴: for bending about the axes 1 and 2.
    J : float
        The torsion constant in m⁴.
    k1, k2 : float, default 5/6
        Which part of the area carries shear along the axes 1 and 2.
    Z1, Z2, Zt : float, optional
        The plastic moduli ∫|x₂| dA and ∫|x₁| dA, from the axes that halve the area, and that of torsion, in m³: the
        moments at which all of it flows are σy Z1, σy Z2 and σy Zt/√3. Shapes have them.
    """

    area: Annotated[float, positive("m²")]
    I1: Annotated[float, positive("m⁴")]
    I2: Annotated[float, positive("m⁴")]
    J: Annotated[float, positive("m⁴")]
    k1: Annotated[float, positive("")] = 5.0 / 6.0
    k2: Annotated[float, positive("")] = 5.0 / 6.0
    Z1: Annotated[float | None, positive("m³")] = None
    Z2: Annotated[float | None, positive("m³")] = None
    Zt: Annotated[float | None, positive("m³")] = None

    @classmethod
    @checked
    def rectangle(cls, height: float, width: float) -> Self:
        """Return a rectangle with a height along axis 1 and a width along axis 2, in m."""
        _require("rectangle", height=height, width=width)
        long, short = max(height, width), min(height, width)
        series = float((np.tanh(0.5 * pi * _TERMS * long / short) / _TERMS**5).sum())
        torsion = long * short**3 * (1.0 - 192.0 / pi**5 * short / long * series) / 3.0
        plastic = 0.25 * height * width**2, 0.25 * width * height**2, _heap(height, width)
        return cls(
            height * width, height * width**3 / 12.0, width * height**3 / 12.0, torsion, 5.0 / 6.0, 5.0 / 6.0, *plastic
        )

    @classmethod
    @checked
    def circle(cls, radius: float) -> Self:
        """Return a full circle of a radius in m; shear as of Cowper (1966) without lateral contraction."""
        _require("circle", radius=radius)
        return cls._round(radius, 0.0)

    @classmethod
    @checked
    def pipe(cls, radius: float, thickness: float) -> Self:
        """Return a pipe of an outer radius and a thickness in m; shear as of Cowper (1966), without contraction."""
        _require("pipe", radius=radius, thickness=thickness)
        _require_below("pipe", "thickness", thickness, "radius", radius)
        return cls._round(radius, radius - thickness)

    @classmethod
    def _round(cls, outer: float, inner: float) -> Self:
        moment, m = 0.25 * pi * (outer**4 - inner**4), (inner / outer) ** 2
        k = 6.0 * (1.0 + m) ** 2 / (7.0 * (1.0 + m) ** 2 + 20.0 * m)
        Z = 4.0 / 3.0 * (outer**3 - inner**3)
        return cls(pi * (outer**2 - inner**2), moment, moment, 2.0 * moment, k, k, Z, Z, 0.5 * pi * Z)

    @classmethod
    @checked
    def box(cls, height: float, width: float, thickness: float) -> Self:
        """Return a hollow rectangle of one wall thickness; torsion by Bredt, shear in the walls along it. All in m."""
        _require("box", height=height, width=width, thickness=thickness)
        _require_below("box", "thickness", thickness, "half of the smaller side", 0.5 * min(height, width))
        h, w = height - 2.0 * thickness, width - 2.0 * thickness
        area = height * width - h * w
        enclosed, middle = (height - thickness) * (width - thickness), 2.0 * (height + width - 2.0 * thickness)
        return cls(
            area,
            (height * width**3 - h * w**3) / 12.0,
            (width * height**3 - w * h**3) / 12.0,
            4.0 * enclosed**2 * thickness / middle,
            2.0 * height * thickness / area,
            2.0 * width * thickness / area,
            0.25 * (height * width**2 - h * w**2),
            0.25 * (width * height**2 - w * h**2),
            2.0 * enclosed * thickness,
        )

    @classmethod
    @checked
    def i_beam(cls, height: float, width: float, web: float, flange: float) -> Self:
        """Return an I with its web along axis 1: height and width overall, thickness of web and flanges, in m.

        Torsion is Σ b t³/3; shear is in the web along axis 1, in the flanges along axis 2. Warping is not restrained.
        """
        _require("i_beam", height=height, width=width, web=web, flange=flange)
        _require_below("i_beam", "web", web, "width", width)
        _require_below("i_beam", "flange", flange, "half of the height", 0.5 * height)
        h = height - 2.0 * flange
        area = 2.0 * width * flange + h * web
        return cls(
            area,
            (2.0 * flange * width**3 + h * web**3) / 12.0,
            (width * height**3 - (width - web) * h**3) / 12.0,
            (2.0 * width * flange**3 + h * web**3) / 3.0,
            h * web / area,
            5.0 / 3.0 * width * flange / area,
            0.5 * flange * width**2 + 0.25 * h * web**2,
            0.25 * (width * height**2 - (width - web) * h**2),
            2.0 * _heap(width, flange) + (_heap(h, web) if h > 0.0 else 0.0),
        )

    @checked
    def limits(self, yield_stress: Annotated[float, positive("Pa")]) -> tuple[float, float, float, float]:
        """Return N_p in N and M_p1, M_p2, T_p in N m, at which all of the section flows, for `YieldingBeams`.

        Raises
        ------
        InvalidSystem
            If it is given by its numbers, without plastic moduli.
        """
        if self.Z1 is None or self.Z2 is None or self.Zt is None:
            raise InvalidSystem("Section: sections that yield need the plastic moduli Z1, Z2 and Zt (m³).")
        sigma = yield_stress
        return sigma * self.area, sigma * self.Z1, sigma * self.Z2, sigma * self.Zt / sqrt(3.0)

    @checked
    def of(self, material: LameMaterial) -> BeamProperties:
        """Return what a beam with this section has of a material, by the constants of its small strains."""
        G, density = material.mu, material.density
        E = G * (3.0 * material.lmbda + 2.0 * G) / (material.lmbda + G)
        return BeamProperties(
            E * self.area,
            (self.k1 * G * self.area, self.k2 * G * self.area),
            (E * self.I1, E * self.I2),
            G * self.J,
            density * self.area,
            (density * self.I2, density * self.I1),
        )


def _heap(one: float, other: float) -> float:
    """Return the plastic modulus of torsion of a rectangle in m³: twice the volume of a heap of sand of slope 1."""
    long, short = max(one, other), min(one, other)
    return short**2 * (3.0 * long - short) / 6.0


def _require(what: str, **lengths: float) -> None:
    for name, value in lengths.items():
        if not (isfinite(value) and value > 0.0):
            raise InvalidSystem(f"Section.{what}: {name} must be positive, got {value:g} m.")


def _require_below(what: str, name: str, value: float, other: str, limit: float) -> None:
    if not value < limit:
        raise InvalidSystem(f"Section.{what}: {name} must be less than {other} = {limit:g} m, got {value:g} m.")
