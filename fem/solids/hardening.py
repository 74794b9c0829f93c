"""Hardening: the flow stress of a metal by its plastic strain, its rate and temperature, and its back stress."""

from __future__ import annotations

from math import inf
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from symplex.base.arguments import checked
from symplex.errors import MaterialError
from symplex.fem.assembly.copying import Copyable
from symplex.fem.assembly.pattern import Array
from symplex.fem.solids.plastic_points import (
    BACK,
    CONSTANTS,
    EXPONENT,
    HEAT,
    LOGARITHMIC,
    MELTING,
    RATE,
    RECOVERY,
    REFERENCE,
    SOFTENING,
    START,
    plastic_work,
    yield_stress,
)


@checked
@final
class Hardening(Copyable):
    """The yield stress σy(α) by a line and a saturation (Voce), or by a table (`Hardening.table`).

    σy(α) = σ0 + H α + (σ∞ − σ0) (1 − exp(−δ α)) + B αⁿ

    with the equivalent plastic strain α = ∫ √(2/3) |dᵖ| dt. `with_rate`, `with_back_stress`, `with_heating` and
    `with_softening` add to it; together the law of Johnson and Cook is
    ``Hardening(A, power_modulus=B, power=n).with_rate(1.0, factor=C).with_heating(c).with_softening(Tm, exponent=m)``.

    Parameters
    ----------
    yield_stress : float
        σ0 in Pa, of the material that has not flowed.
    modulus : float, default 0
        H in Pa, the slope of the yield stress over the plastic strain (not over the total strain).
    saturation_stress : float, optional
        σ∞ in Pa, at least σ0; by default σ0.
    saturation_rate : float, default 0
        δ, required with a saturation stress.
    power_modulus, power : float, default 0 and 1
        B in Pa and n of B αⁿ, of Ludwik, and of Johnson and Cook.

    Raises
    ------
    MaterialError
        If a number is not finite, the yield stress is not positive, or it would decrease: softening concentrates in
        single elements, so that results depend on the mesh.
    """

    def __init__(
        self,
        yield_stress: float,
        modulus: float = 0.0,
        saturation_stress: float | None = None,
        saturation_rate: float = 0.0,
        *,
        power_modulus: float = 0.0,
        power: float = 1.0,
    ):
        final_stress = yield_stress if saturation_stress is None else saturation_stress
        _require(0.0 < yield_stress < inf, f"the yield stress must be positive, got {yield_stress:g} Pa.")
        _require(
            0.0 <= modulus < inf,
            f"the hardening modulus must not be negative, got {modulus:g} Pa: softening depends on the mesh.",
        )
        _require(
            yield_stress <= final_stress < inf,
            f"the saturation stress must be at least the yield stress {yield_stress:g} Pa, got {final_stress:g} Pa.",
        )
        _require(
            0.0 <= saturation_rate < inf and (saturation_stress is None) == (saturation_rate == 0.0),
            f"a saturation stress and a positive saturation rate belong together, got {saturation_stress} Pa and "
            f"{saturation_rate:g}.",
        )
        _require(
            0.0 <= power_modulus < inf and 0.0 < power < inf,
            f"the power law must have a modulus that is not negative and a positive exponent, got {power_modulus:g} Pa "
            f"and {power:g}.",
        )
        self.constants = np.zeros(CONSTANTS)
        self.constants[:RATE] = (
            yield_stress,
            modulus,
            final_stress - yield_stress,
            saturation_rate,
            power_modulus,
            power,
        )
        self.points = np.zeros((2, 0))

    @classmethod
    @checked
    def table(cls, strains: ArrayLike, stresses: ArrayLike) -> Hardening:
        """Return the hardening that is linear between points (α, σy), and constant beyond the last one.

        Parameters
        ----------
        strains : float64 [p]
            Equivalent plastic strains, from 0 on, each larger than the one before.
        stresses : float64 [p]
            Yield stresses in Pa, none lower than the one before.

        Raises
        ------
        MaterialError
            If they are not such.
        """
        a, sigma = (np.atleast_1d(np.array(values, float)) for values in (strains, stresses))
        _require(
            a.ndim == 1 and a.shape == sigma.shape and len(a) > 0 and bool(np.isfinite([a, sigma]).all()),
            "a table must have as many finite plastic strains as yield stresses, and one at least.",
        )
        _require(
            a[0] == 0.0 and bool((np.diff(a) > 0.0).all()),
            f"plastic strains of a table must begin with 0 and increase, got {a.tolist()}.",
        )
        _require(
            sigma[0] > 0.0 and bool((np.diff(sigma) >= 0.0).all()),
            f"yield stresses of a table must be positive and must not decrease, got {sigma.tolist()} Pa: softening "
            "depends on the mesh.",
        )
        found = cls(float(sigma[0]))
        found.points = np.array([a, sigma])
        return found

    @checked
    def with_rate(self, reference: float, *, factor: float | None = None, exponent: float | None = None) -> Hardening:
        """Return the same with a flow stress that grows with the rate of plastic strain.

        It is multiplied by 1 + C ln(α̇/α̇0) above the reference rate (Johnson and Cook 1983), or by 1 + (α̇/α̇0)^m
        (Cowper and Symonds, Perzyna). Statics take it as infinitely slow.

        Parameters
        ----------
        reference : float
            α̇0 in 1/s.
        factor : float, optional
            C; either it or the exponent.
        exponent : float, optional
            m.

        Raises
        ------
        MaterialError
            If a number is not positive, or both or none are given.
        """
        _require(
            0.0 < reference < inf
            and (factor is None) != (exponent is None)
            and 0.0 < (factor or exponent or 0.0) < inf,
            "a rate must have a positive reference in 1/s and either a positive factor or a positive exponent, got "
            f"{reference:g}, {factor} and {exponent}.",
        )
        return self._with({RATE: reference, LOGARITHMIC: factor or 0.0, EXPONENT: exponent or 0.0})

    @checked
    def with_back_stress(self, modulus: float, recovery: float = 0.0) -> Hardening:
        """Return the same with kinematic hardening (Armstrong and Frederick).

        In uniaxial tension the back stress X grows as dX = C dα − γ X dα, to C/γ.

        Parameters
        ----------
        modulus : float
            C in Pa.
        recovery : float, default 0
            γ; without it hardening is linear (Prager).

        Raises
        ------
        MaterialError
            If the modulus is not positive or the recovery negative.
        """
        _require(
            0.0 < modulus < inf and 0.0 <= recovery < inf,
            f"a back stress must have a positive modulus and no negative recovery, got {modulus:g} Pa and "
            f"{recovery:g}.",
        )
        return self._with({BACK: modulus, RECOVERY: recovery})

    @checked
    def with_heating(self, heat_capacity: float, *, fraction: float = 0.9, temperature: float = 293.15) -> Hardening:
        """Return the same of a metal that is heated by its flow, without conduction (Taylor and Quinney).

        Parameters
        ----------
        heat_capacity : float
            In J/(kg K).
        fraction : float, default 0.9
            Of the dissipation that becomes heat.
        temperature : float, default 293.15
            At the start, in K.

        Raises
        ------
        MaterialError
            If a number is not positive, or the fraction above 1.
        """
        _require(
            0.0 < heat_capacity < inf and 0.0 <= fraction <= 1.0 and 0.0 < temperature < inf,
            "heating must have a positive heat capacity and temperature and a fraction from 0 to 1, got "
            f"{heat_capacity:g} J/(kg K), {temperature:g} K and {fraction:g}.",
        )
        return self._with({HEAT: fraction / heat_capacity, START: temperature})

    @checked
    def with_softening(self, melting: float, *, reference: float = 293.15, exponent: float = 1.0) -> Hardening:
        """Return the same with a flow stress that is multiplied by 1 − ((T − T0)/(Tm − T0))^m (Johnson and Cook).

        Parameters
        ----------
        melting : float
            Tm in K.
        reference : float, default 293.15
            T0 in K, below which nothing softens.
        exponent : float, default 1
            m.

        Raises
        ------
        MaterialError
            If it is not heated (`with_heating`), or numbers are impossible.
        """
        _require(self.heats, "softening needs heating, which tells the temperature.")
        _require(
            0.0 < reference < melting < inf and 0.0 < exponent < inf,
            "softening must have a positive exponent and a melting temperature above the reference, got "
            f"{exponent:g}, {melting:g} K and {reference:g} K.",
        )
        return self._with({MELTING: melting, REFERENCE: reference, SOFTENING: exponent})

    @property
    def has_back_stress(self) -> bool:
        """Whether hardening is kinematic."""
        return bool(self.constants[BACK])

    @property
    def heats(self) -> bool:
        """Whether its temperature changes as it flows."""
        return bool(self.constants[START])

    def _with(self, given: dict[int, float]) -> Hardening:
        found = Hardening.__new__(Hardening)
        found.constants, found.points = self.constants.copy(), self.points
        found.constants[[*given]] = [*given.values()]
        return found

    def yield_stress(self, strain: ArrayLike) -> Array:
        """Return σy in Pa at equivalent plastic strains α of any shape."""
        alpha = np.asarray(strain, float)
        return np.array([yield_stress(a, self.constants, self.points)[0] for a in alpha.ravel()]).reshape(alpha.shape)

    def plastic_work(self, strain: ArrayLike) -> Array:
        """Return ∫ σy dα in J/m³ from 0 to equivalent plastic strains α of any shape."""
        alpha = np.asarray(strain, float)
        return np.array([plastic_work(a, self.constants, self.points) for a in alpha.ravel()]).reshape(alpha.shape)

    def __repr__(self) -> str:
        sigma, modulus, more, rate, power_modulus, power = self.constants[:RATE].tolist()
        if self.points.size:
            text = f"Hardening.table({self.points[0].tolist()}, {self.points[1].tolist()})"
        else:
            voce = f", saturation_stress={sigma + more:g}, saturation_rate={rate:g}" if rate else ""
            ludwik = f", power_modulus={power_modulus:g}, power={power:g}" if power_modulus else ""
            text = f"Hardening({sigma:g}, modulus={modulus:g}{voce}{ludwik})"
        c = self.constants
        if c[RATE]:
            how = f"factor={c[LOGARITHMIC]:g}" if c[LOGARITHMIC] else f"exponent={c[EXPONENT]:g}"
            text += f".with_rate({c[RATE]:g}, {how})"
        if self.has_back_stress:
            text += f".with_back_stress({c[BACK]:g}, {c[RECOVERY]:g})"
        if self.heats:
            text += f".with_heating({1.0 / c[HEAT] if c[HEAT] else inf:g}, fraction=1, temperature={c[START]:g})"
        if c[MELTING]:
            text += f".with_softening({c[MELTING]:g}, reference={c[REFERENCE]:g}, exponent={c[SOFTENING]:g})"
        return text


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise MaterialError(f"Hardening: {message}")
