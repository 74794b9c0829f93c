"""The keys of materials that flow: metals."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from symplex.base.quantities import Quantity, between, not_negative, numbers, positive, refused
from symplex.errors import MaterialError
from symplex.fem.solids.hardening import Hardening
from symplex.scenario.table import Table


def _points(value: Any) -> tuple[tuple[float, float], ...]:
    """Return points of a table."""
    if not isinstance(value, list | tuple) or not value:
        raise refused("a list of pairs", value)
    found = []
    for pair in value:
        strain, stress = numbers("", 2).check(pair)
        found.append((strain, stress))
    return tuple(found)


_OF_YIELD = ("hardening", "saturation_stress", "saturation_rate", "power_modulus", "power")
_FLOWS = ("yield_stress", "yield_table")
_NEEDED = {  # which keys need one of which
    "power": ("power_modulus",),
    "power_modulus": ("power",),
    "reference_rate": _FLOWS,
    "rate_factor": ("reference_rate",),
    "rate_exponent": ("reference_rate",),
    "back_modulus": _FLOWS,
    "recovery": ("back_modulus",),
    "heat_capacity": _FLOWS,
    "heat_fraction": ("heat_capacity",),
    "temperature": ("heat_capacity",),
    "melting_temperature": ("heat_capacity",),
    "reference_temperature": ("melting_temperature",),
    "softening_exponent": ("melting_temperature",),
}


class PlasticKeys(Table):
    """The keys of a material that make it flow."""

    yield_stress: Annotated[
        float | None,
        positive("Pa"),
        "Makes it a metal that flows ([plasticity.md](../plasticity.md)): J2 plasticity at finite strains, with "
        "Hencky's law of the same moduli for the elastic strains; needs the default law.",
    ] = None
    hardening: Annotated[
        float | None, not_negative("Pa"), "Slope of the yield stress over the plastic strain; 0 by default."
    ] = None
    saturation_stress: Annotated[
        float | None, positive("Pa"), "Of Voce's law: the yield stress grows towards it as 1 − exp(−δ α)."
    ] = None
    saturation_rate: Annotated[float | None, positive("1"), "δ of the same."] = None
    yield_table: Annotated[
        tuple[tuple[float, float], ...] | None,
        Quantity(_points, kind="list of pairs"),
        "Pairs of plastic strain and yield stress in Pa, linear between them and constant beyond; instead of "
        "`yield_stress` and the keys that go with it.",
    ] = None

    power_modulus: Annotated[float | None, positive("Pa"), "B of B αⁿ, which adds to the yield stress."] = None
    power: Annotated[float | None, positive("1"), "n of the same."] = None
    reference_rate: Annotated[
        float | None,
        positive("1/s"),
        "Makes the flow stress depend on the rate of plastic strain: α̇0; with `rate_factor` or `rate_exponent`.",
    ] = None
    rate_factor: Annotated[float | None, positive("1"), "C of 1 + C ln(α̇/α̇0) (Johnson and Cook), above α̇0."] = None
    rate_exponent: Annotated[float | None, positive("1"), "m of 1 + (α̇/α̇0)^m (Cowper and Symonds)."] = None
    back_modulus: Annotated[
        float | None, positive("Pa"), "C of a back stress, dX = C dα − γ X dα in tension (Armstrong and Frederick)."
    ] = None
    recovery: Annotated[float | None, not_negative("1"), "γ of the same; 0 by default: linear (Prager)."] = None
    heat_capacity: Annotated[
        float | None, positive("J/(kg K)"), "Lets plastic work heat the metal, without conduction."
    ] = None
    heat_fraction: Annotated[
        float | None, between(0.0, 1.0, "1"), "Of the dissipation that becomes heat (Taylor and Quinney); default 0.9."
    ] = None
    temperature: Annotated[float | None, positive("K"), "At the start; 293.15 by default."] = None
    melting_temperature: Annotated[
        float | None,
        positive("K"),
        "Tm of the factor 1 − ((T − T0)/(Tm − T0))^m on the flow stress (Johnson and Cook); needs heat_capacity.",
    ] = None
    reference_temperature: Annotated[float | None, positive("K"), "T0 of the same; 293.15 by default."] = None
    softening_exponent: Annotated[float | None, positive("1"), "m of the same; 1 by default."] = None
    return_mapping: Annotated[
        Literal["radial", "mean-normal"],
        "How stresses return to the yield surface: of first or of second order in the step; the second one without "
        "rate, back stress and softening.",
    ] = "radial"

    def _check_plastic(self) -> None:
        given = [key for key in _OF_YIELD if getattr(self, key) is not None]
        if self.yield_table is not None and (self.yield_stress is not None or given):
            raise ValueError(f"has yield_table and {'yield_stress' if self.yield_stress is not None else given[0]}")
        if given and self.yield_stress is None:
            raise ValueError(f"has {given[0]}, which needs yield_stress")
        for key, needed in _NEEDED.items():
            if getattr(self, key) is not None and all(getattr(self, one) is None for one in needed):
                raise ValueError(f"has {key}, which needs {' or '.join(needed)}")
        if self.reference_rate is not None and self.rate_factor is None and self.rate_exponent is None:
            raise ValueError("has reference_rate, which needs rate_factor or rate_exponent")
        if self.return_mapping == "mean-normal":
            if not self.is_plastic:
                raise ValueError(f"has return_mapping, which needs {' or '.join(_FLOWS)}")
            for key in ("reference_rate", "back_modulus", "melting_temperature"):
                if getattr(self, key) is not None:
                    raise ValueError(f'has {key} and return_mapping = "mean-normal"; take "radial"')
        try:
            self.flow()
        except MaterialError as error:
            raise ValueError(f"is impossible: {str(error).partition(': ')[2].rstrip('.')}") from None

    @property
    def is_plastic(self) -> bool:
        """Whether it flows."""
        return self.yield_stress is not None or self.yield_table is not None

    def flow(self) -> Hardening | None:
        """Return how it hardens, if it flows."""
        if self.yield_table is not None:
            strains, stresses = zip(*self.yield_table, strict=True)
            found = Hardening.table(strains, stresses)
        elif self.yield_stress is not None:
            found = Hardening(
                self.yield_stress,
                self.hardening or 0.0,
                self.saturation_stress,
                self.saturation_rate or 0.0,
                power_modulus=self.power_modulus or 0.0,
                power=self.power or 1.0,
            )
        else:
            return None
        if self.reference_rate is not None:
            found = found.with_rate(self.reference_rate, factor=self.rate_factor, exponent=self.rate_exponent)
        if self.back_modulus is not None:
            found = found.with_back_stress(self.back_modulus, self.recovery or 0.0)
        if self.heat_capacity is not None:
            given = {"fraction": self.heat_fraction, "temperature": self.temperature}
            found = found.with_heating(self.heat_capacity, **_given(given))
        if self.melting_temperature is not None:
            given = {"reference": self.reference_temperature, "exponent": self.softening_exponent}
            found = found.with_softening(self.melting_temperature, **_given(given))
        return found


class MemberPlasticKeys(PlasticKeys):
    """The keys of the material of members that flow, bars and beams, whose hardening has less than that of solids."""

    def _check_members(self) -> None:
        for key in ("reference_rate", "recovery", "heat_capacity"):
            if getattr(self, key) is not None:
                raise ValueError(
                    f"has {key}, which members that yield do not have; take the yield stress by the plastic strain, "
                    "and back_modulus without recovery"
                )
        if self.return_mapping != "radial":
            raise ValueError("has return_mapping, which is of solids: members flow by their own forces")


def _given(values: dict[str, float | None]) -> dict[str, float]:
    return {key: value for key, value in values.items() if value is not None}
