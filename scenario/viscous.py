"""The keys of materials that make them viscous."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from symplex.base.arguments import declared
from symplex.base.quantities import positive
from symplex.errors import ScenarioError
from symplex.fem.solids.solid import Solid
from symplex.fem.solids.viscoelastic import Viscoelastic
from symplex.fem.solids.viscous_stress import ViscousStress
from symplex.fem.structures.generalized_strains import GeneralizedStrains
from symplex.fem.structures.viscoelastic_sections import ViscoelasticSections
from symplex.scenario.table import Need, Table


class MaxwellTable(Table):
    """A Maxwell element of a viscoelastic material; the constants of the material are those of the long run."""

    ratio: Annotated[float | None, positive("1"), "Part of the instantaneous shear modulus, of a Prony series."] = None
    modulus: Annotated[float | None, positive("Pa"), "Its shear modulus, instead."] = None
    time: Annotated[float, positive("s"), "Relaxation time."]


class SectionMaxwellKeys(Table):
    """The key of a material of beams or shells that makes it viscoelastic."""

    viscous: Annotated[
        list[MaxwellTable],
        "Maxwell elements by `ratio`, of all stiffnesses alike; the other constants are those of the long run "
        "([damping.md](../damping.md#viscoelastic-beams-and-shells)).",
    ] = []

    def _check_maxwell(self) -> None:
        if any(item.ratio is None or item.modulus is not None for item in self.viscous):
            raise ValueError("viscous of beams and shells needs in all elements ratio (1), and time (s)")
        total = sum(item.ratio or 0.0 for item in self.viscous)
        if total >= 1.0:
            raise ValueError(f"viscous has ratios that sum to {total:g}, must be below 1: nothing would be left")

    @property
    def relaxes(self) -> tuple[tuple[float, float], ...]:
        """The ratios and times of its Maxwell elements."""
        return tuple((float(item.ratio or 0.0), item.time) for item in self.viscous)


def section_overstress(strains: GeneralizedStrains, relaxing: Sequence[tuple[float, float]]) -> ViscoelasticSections:
    """Return the overstress of a beam or shell by ratios and times of Maxwell elements."""
    ratios, times = zip(*relaxing, strict=True)
    return ViscoelasticSections.prony(strains, ratios, times)


class ViscousKeys(Table):
    """The keys of a material that make it viscous."""

    viscous: Annotated[
        list[MaxwellTable],
        "Maxwell elements, of laws of finite strains ([damping.md](../damping.md#viscoelastic-solids)).",
    ] = []
    viscosity: Annotated[
        float | None,
        declared(ViscousStress, "viscosity"),
        "η of a viscous stress 2η dev Ė + ζ tr Ė 1, of laws of finite strains.",
    ] = None
    bulk_viscosity: Annotated[float | None, declared(ViscousStress, "bulk"), "ζ of the same."] = None

    def _check_viscous(self) -> None:
        given = {("ratio" if item.ratio is not None else "modulus") for item in self.viscous}
        both = any(item.ratio is not None and item.modulus is not None for item in self.viscous)
        neither = any(item.ratio is None and item.modulus is None for item in self.viscous)
        if both or neither or len(given) > 1:
            raise ValueError("viscous needs in all elements either ratio (1) or modulus (Pa), besides time (s)")
        total = sum(item.ratio or 0.0 for item in self.viscous)
        if total >= 1.0:
            raise ValueError(f"viscous has ratios that sum to {total:g}, must be below 1: nothing would be left of mu")

    @property
    def is_viscous(self) -> bool:
        """Whether there is any of it."""
        return bool(self.viscous or self.viscosity or self.bulk_viscosity)

    def overstress(self, solid: Solid) -> Viscoelastic | None:
        """Return the overstress of a body of this material, if there is one."""
        if not self.viscous:
            return None
        times = [item.time for item in self.viscous]
        if self.viscous[0].ratio is not None:
            return Viscoelastic.prony(solid, [float(item.ratio or 0.0) for item in self.viscous], times)
        return Viscoelastic(solid, [float(item.modulus or 0.0) for item in self.viscous], times)

    def viscous_stress(self, solid: Solid) -> ViscousStress | None:
        """Return the viscous stress of a body of this material, if there is one."""
        if not (self.viscosity or self.bulk_viscosity):
            return None
        return ViscousStress(solid, self.viscosity or 0.0, self.bulk_viscosity or 0.0)


def overstress_name(name: str) -> str:
    """Return what the overstress of the solid of this name is called."""
    return f"viscoelastic_{name}"


def needs_of_overstress() -> Need:
    """Return what a viscoelastic material needs."""
    return Need(
        "internal variables",
        "its material is viscous, which {kind} does not take; take another integrator, such as {others}.",
    )


def viscosity_name(name: str) -> str:
    """Return what the viscous stress of the solid of this name is called."""
    return f"viscosity_{name}"


def require_finite_strains(solid: Solid, body: str, key: str, what: str) -> None:
    """Check that the law of a body is not one of small strains."""
    if not solid.material.objective:
        instead = ', or stiffness = "initial"' if key == "beta" else ""
        raise ScenarioError(
            f"{what} for laws of finite strains, and the law of body '{body}' is one of small strains; take "
            f'law = "saint-venant-kirchhoff"{instead}.'
        )
