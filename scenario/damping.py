"""The tables of damping, dashpots and drag, and the viscous keys of materials."""

from __future__ import annotations

from math import pi
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from symplex.base.quantities import (
    ZERO,
    Name,
    Quantity,
    Text,
    Triple,
    check_text,
    not_negative,
    numbers,
    positive,
    shown,
    vector,
)
from symplex.fem.solids.solid import Solid
from symplex.fem.solids.viscoelastic import Viscoelastic
from symplex.fem.solids.viscous_stress import ViscousStress
from symplex.scenario.actions import Timed
from symplex.scenario.selections import Nodes, nodes_named
from symplex.scenario.table import Table


def _names(value: Any) -> tuple[str, ...]:
    """Return names of bodies, one at least."""
    if not isinstance(value, list | tuple) or not value:
        raise ValueError(f"is {shown(value)}, must be a list of names")
    return tuple(check_text(name) for name in value)


def _ratios(value: Any) -> tuple[float, ...]:
    """Return ratios of damping, one or two; one number may stand alone."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = [value]
    return numbers("1").check(value)


class DampingTable(Timed):
    """Rayleigh's damping of bodies: α M + β K, given by these or by the ratios at two frequencies."""

    name: Name = "damping"
    bodies: Annotated[tuple[str, ...] | None, Quantity(_names)] = None
    alpha: Annotated[float | None, not_negative("1/s")] = None
    beta: Annotated[float | None, not_negative("s")] = None
    frequencies: Annotated[tuple[float, ...] | None, numbers("Hz")] = None
    ratios: Annotated[tuple[float, ...] | None, Quantity(_ratios)] = None
    stiffness: Literal["strain-rate", "initial"] = "strain-rate"

    @model_validator(mode="after")
    def _check(self) -> DampingTable:
        if self.frequencies is None and self.ratios is None:
            if not (self.alpha or self.beta):
                raise ValueError("damps nothing: give alpha (1/s), beta (s), or frequencies and ratios")
            if not self.beta:
                self.refuse_unused("stiffness", goes_with="a beta above 0")
            return self
        if self.alpha is not None or self.beta is not None:
            raise ValueError("needs either alpha and beta, or frequencies and ratios, from which these follow")
        if self.frequencies is None or self.ratios is None:
            raise ValueError("needs both frequencies and ratios")
        if len(self.frequencies) != 2 or not 0.0 < self.frequencies[0] < self.frequencies[1]:
            raise ValueError(f"frequencies is {shown(list(self.frequencies))}, must be two that ascend (Hz)")
        if len(self.ratios) > 2 or not all(0.0 <= ratio < 1.0 for ratio in self.ratios) or not any(self.ratios):
            raise ValueError(
                f"ratios is {shown(list(self.ratios))}, must be one or two of critical damping, from 0 to below 1, "
                "not all of them 0"
            )
        alpha, beta = self.coefficients
        if min(alpha, beta) < 0.0:
            # With one of both alone the ratio goes with the frequency, or with its inverse.
            low, high = self.frequencies
            first, second = self._two_ratios
            raise ValueError(
                f"ratios {first:g} at {low:g} Hz and {second:g} at {high:g} Hz need a negative "
                f"{'alpha' if alpha < 0.0 else 'beta'}, which would drive vibrations; with the first one the second "
                f"must be from {first * low / high:.3g} to {first * high / low:.3g}"
            )
        return self

    def damps_by(self, load: str) -> bool:
        """Return whether a load, by its name, is a part of this damping."""
        return load == f"{self.name}_mass" or load.startswith(f"{self.name}_stiffness_")

    @property
    def _two_ratios(self) -> tuple[float, float]:
        """Those at the two frequencies; one counts for both."""
        ratios = self.ratios or (0.0,)
        return ratios[0], ratios[-1]

    @property
    def coefficients(self) -> tuple[float, float]:
        """α in 1/s and β in s, where the ratio is ζ = α/(2ω) + β ω/2."""
        if self.frequencies is None or self.ratios is None:
            return self.alpha or 0.0, self.beta or 0.0
        w1, w2 = (2.0 * pi * f for f in self.frequencies)
        z1, z2 = self._two_ratios
        beta = 2.0 * (z2 * w2 - z1 * w1) / (w2 * w2 - w1 * w1)
        return 2.0 * w1 * w2 * (z1 * w2 - z2 * w1) / (w2 * w2 - w1 * w1), beta


class DashpotTable(Timed):
    """A damper between two groups, or between a group and a fixed point."""

    name: Name
    between: tuple[Nodes, Nodes] | None = None
    body: Text | None = None
    group: Text | None = None
    at: Annotated[Triple | None, vector("m")] = None
    to: Annotated[Triple | None, vector("m")] = None
    viscosity: Annotated[float, not_negative("N s/m")]
    exponent: Annotated[float, positive("1")] = 1.0

    @model_validator(mode="before")
    @classmethod
    def _two_ends(cls, value: Any) -> Any:
        between = value.get("between") if isinstance(value, dict) else None
        if between is None:
            return value
        if not isinstance(between, list) or len(between) != 2:
            raise ValueError("between must be two groups: [{ body = …, group = … }, { body = …, group = … }]")
        return value | {"between": tuple(between)}

    @model_validator(mode="after")
    def _check(self) -> DashpotTable:
        if (self.between is None) == (self.body is None and self.to is None):
            raise ValueError("needs either between, two groups, or body, group and to, a fixed point")
        if self.between is None and (self.body is None or self.to is None):
            raise ValueError(f"needs {'body' if self.body is None else 'to, the fixed point (m)'}")
        if self.between is not None and (self.group is not None or self.at is not None):
            raise ValueError("with between has no group and no place")
        if self.group is not None and self.at is not None:
            raise ValueError("has group and at; give the name of a group, or the place of one node")
        if self.exponent < 1.0:
            raise ValueError(f"exponent is {self.exponent:g}, must be at least 1")
        return self

    @property
    def ends(self) -> list[Nodes]:
        """The ends on bodies, one or two."""
        if self.between is not None:
            return list(self.between)
        return [nodes_named(str(self.body), self.group, self.at)]


class DragTable(Timed):
    """The drag of a fluid on the surface of a body, or on nodes of it."""

    name: Name
    body: Text
    group: Text | None = None
    density: Annotated[float, positive("kg/m³")]
    coefficient: Annotated[float, positive("1")]
    area: Annotated[float | None, positive("m²")] = None
    velocity: Annotated[Triple, vector("m/s")] = ZERO


class MaxwellTable(Table):
    """A Maxwell element of a viscoelastic material."""

    ratio: Annotated[float | None, positive("1")] = None
    modulus: Annotated[float | None, positive("Pa")] = None
    time: Annotated[float, positive("s")]


class ViscousKeys(Table):
    """The keys of a material that make it viscous."""

    viscous: list[MaxwellTable] = Field(default_factory=list)
    viscosity: Annotated[float | None, not_negative("Pa s")] = None
    bulk_viscosity: Annotated[float | None, not_negative("Pa s")] = None

    @model_validator(mode="after")
    def _check_viscous(self) -> ViscousKeys:
        given = {("ratio" if item.ratio is not None else "modulus") for item in self.viscous}
        both = any(item.ratio is not None and item.modulus is not None for item in self.viscous)
        neither = any(item.ratio is None and item.modulus is None for item in self.viscous)
        if both or neither or len(given) > 1:
            raise ValueError("viscous needs in all elements either ratio (1) or modulus (Pa), besides time (s)")
        total = sum(item.ratio or 0.0 for item in self.viscous)
        if total >= 1.0:
            raise ValueError(f"viscous has ratios that sum to {total:g}, must be below 1: nothing would be left of mu")
        return self

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
