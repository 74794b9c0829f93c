"""The keys of materials that flow: metals."""

from __future__ import annotations

from typing import Annotated, Any

from symplex.base.quantities import Quantity, not_negative, numbers, positive, refused
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

    def _check_plastic(self) -> None:
        given = [key for key in ("hardening", "saturation_stress", "saturation_rate") if getattr(self, key) is not None]
        if self.yield_table is not None and (self.yield_stress is not None or given):
            raise ValueError(f"has yield_table and {'yield_stress' if self.yield_stress is not None else given[0]}")
        if given and self.yield_stress is None:
            raise ValueError(f"has {given[0]}, which needs yield_stress")
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
            return Hardening.table(strains, stresses)
        if self.yield_stress is None:
            return None
        return Hardening(self.yield_stress, self.hardening or 0.0, self.saturation_stress, self.saturation_rate or 0.0)
