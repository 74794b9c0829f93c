"""The table of a material: a law by name or by the formula of its strain energy, and its constants."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from symplex.base.expressions import LONGEST
from symplex.base.quantities import (
    Key,
    Quantity,
    Triple,
    check_text,
    lengths,
    listed,
    number,
    numbers,
    positive,
    refused,
    shown,
    vector,
)
from symplex.errors import MaterialError
from symplex.fem.solids.anisotropic import AnisotropicElastic
from symplex.fem.solids.constitutive import Material
from symplex.fem.solids.eroding import Eroding, JohnsonCookFailure
from symplex.fem.solids.formula import material
from symplex.fem.solids.formula_table import LAWS
from symplex.fem.solids.materials import LinearElastic, MooneyRivlin, NeoHookean, SaintVenantKirchhoff
from symplex.fem.solids.plastic import Flowing, Plastic
from symplex.fem.solids.solid import Solid
from symplex.scenario.plastic import PlasticKeys
from symplex.scenario.reading import fields_of
from symplex.scenario.temperatures import EXPANDS, EXPANSION
from symplex.scenario.viscous import ViscousKeys

_LIGHTEST = 1e-3  # kg/m³, far below any solid: densities in t/mm³ or g/mm³ are smaller
_FAILURES = {  # keys that let elements go, and what `Eroding` calls the criteria
    "failure_strain": "failure_strain",
    "failure_johnson_cook": "johnson_cook",
    "failure_stress": "principal_stress",
    "failure_tension": "tension",
    "failure_time_step": "time_step",
}
_SEVERAL = ("stiffness", "moduli", "poisson_ratios", "shear_moduli", "axes")  # of anisotropic laws
_LAWS = {
    "neo-hookean": NeoHookean,
    "saint-venant-kirchhoff": SaintVenantKirchhoff,
    "linear-elastic": LinearElastic,
}
_ANISOTROPIC = ("anisotropic", "linear-anisotropic")
_NAMES = (*_LAWS, *_ANISOTROPIC, "mooney-rivlin")


def _is_formula(law: Any) -> bool:
    """Return whether a law is a formula, or one of the table of formulas, and not a name."""
    return isinstance(law, str) and (law.strip() in LAWS or not re.fullmatch(r"[a-z-]*", law))


def _law(value: Any) -> str:
    """Return the name of a law that is known, or a formula."""
    law = check_text(value, LONGEST).strip()
    if not _is_formula(law) and law not in _NAMES:
        raise ValueError(f"is {shown(law)}; known are {listed([*_NAMES, *LAWS])}, and formulas of I1 … J")
    return law


def _axes(value: Any) -> tuple[Triple, Triple]:
    """Return two directions."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise refused("two directions", value)
    first, second = (vector("1").check(direction) for direction in value)
    return first, second


def _stiffness(value: Any) -> tuple[float, ...]:
    """Return the upper half of a stiffness, column by column: all 21 numbers, or the nine of an orthotropic one."""
    given = numbers("Pa").check(value)
    if len(given) not in (9, 21):
        raise ValueError(f"must be 9 numbers, of an orthotropic material, or 21 (Pa), got {len(given)}")
    return given


def stiffness_matrix(half: Sequence[float]) -> NDArray[np.float64]:
    """Return D [6, 6] in Pa from its upper half, column by column, of which orthotropic ones have nine numbers."""
    D = np.zeros((6, 6))
    places = [(i, j) for j in range(6) for i in range(j + 1)]
    if len(half) == 9:
        places = [(i, j) for i, j in places if j < 3 or i == j]
    for (i, j), number_ in zip(places, half, strict=True):
        D[i, j] = D[j, i] = number_
    return D


def _fibres(value: Any) -> tuple[Triple, ...]:
    """Return one or two directions."""
    several = value if isinstance(value, list) and value and isinstance(value[0], list) else [value]
    if len(several) > 2:
        raise ValueError(f"are {len(several)} directions; at most two families of fibres are known")
    directions = tuple(vector("1").check(direction) for direction in several)
    if not all(any(direction) for direction in directions):
        raise ValueError("have a direction that is zero")
    return directions


class MaterialTable(PlasticKeys, ViscousKeys):
    """A material: a law by name, or the formula of its strain energy, and its constants.

    Laws of small strains have Lamé's constants or Young's modulus and Poisson's ratio. The constants of a formula are
    keys like others.
    """

    law: Annotated[
        str,
        Quantity(_law, kind="name or formula"),
        '`"neo-hookean"`: large strains, W = λ/2 (ln J)² − μ ln J + μ/2 (tr C − 3); `"saint-venant-kirchhoff"`: '
        'large rotations; `"linear-elastic"`: small displacements, without conservation of angular momentum; '
        '`"anisotropic"`, S = ℂ : E, and `"linear-anisotropic"`; `"mooney-rivlin"`, for rubber; a formula of the '
        'strain energy, such as `"c10*(I1bar - 3) + K/2*(J - 1)**2"`, or the name of one, such as `"yeoh"` '
        "([laws.md](../laws.md)).",
    ] = "neo-hookean"
    density: Annotated[float, positive("kg/m³"), "Below 1e-3 it is refused, as one in t/mm³ would be."]
    lmbda: Annotated[float | None, number("Pa"), "Lamé constant λ.", Key("lambda")] = None
    mu: Annotated[float | None, positive("Pa"), "Lamé constant μ, the shear modulus."] = None
    young: Annotated[float | None, positive("Pa"), "Young's modulus, instead of Lamé constants."] = None
    poisson: Annotated[float | None, number("1"), "Poisson's ratio, with Young's modulus."] = None
    c10: Annotated[float | None, number("Pa"), "Of Mooney and Rivlin; 2 (c10 + c01) is the shear modulus."] = None
    c01: Annotated[float | None, number("Pa"), "Of Mooney and Rivlin."] = None
    bulk: Annotated[float | None, positive("Pa"), "Bulk modulus, of Mooney and Rivlin."] = None
    stiffness: Annotated[
        tuple[float, ...] | None,
        Quantity(_stiffness, "Pa", "9 or 21 numbers"),
        "Of anisotropic laws: upper half of D, column by column, of the stresses 11, 22, 33, 12, 13, 23 for the "
        "strains E11 … 2 E23; or nine, D1111, D1122, D2222, D1133, D2233, D3333, D1212, D1313, D2323.",
    ] = None
    moduli: Annotated[Triple | None, lengths("Pa"), "Of orthotropic materials: E1, E2, E3."] = None
    poisson_ratios: Annotated[
        Triple | None, vector("1"), "ν12, ν13, ν23; ν12 is the contraction along 2 under a tension along 1."
    ] = None
    shear_moduli: Annotated[Triple | None, lengths("Pa"), "G12, G13, G23."] = None
    axes: Annotated[
        tuple[Triple, Triple] | None,
        Quantity(_axes, kind="two directions"),
        "Of anisotropic laws: first axis of the material, and a direction in the plane of the first two; by "
        "default x and y.",
    ] = None
    expansion: Annotated[float | None, EXPANSION, EXPANDS] = None
    failure_strain: Annotated[
        float | None,
        positive("1"),
        "Of a metal that flows: elements whose equivalent plastic strain reaches it go "
        "([bonds.md](../bonds.md#erosion)).",
    ] = None
    failure_johnson_cook: Annotated[
        tuple[float, ...] | None,
        numbers("1", 5),
        "D1 … D5 of the strain at failure (D1 + D2 exp(D3 σm/σ))(1 + D4 ln(α̇/α̇0))(1 + D5 Θ), by triaxiality, rate and "
        "temperature; α̇0 is `reference_rate`, or 1/s.",
    ] = None
    failure_stress: Annotated[
        float | None, positive("Pa"), "Elements whose largest principal stress reaches it go."
    ] = None
    failure_tension: Annotated[
        float | None, positive("Pa"), "Elements whose mean stress tr σ/3 reaches it go (spalling)."
    ] = None
    failure_time_step: Annotated[
        float | None, positive("s"), "Elements whose own stable step becomes shorter go: those that are crushed."
    ] = None
    constants: Annotated[dict[str, Annotated[float, number("")]], Key()] = {}  # each is a key of the material
    fibres: Annotated[
        tuple[Triple, ...], Quantity(_fibres, kind="one or two directions"), "Of a formula with `I4`."
    ] = ()

    @classmethod
    def _prepared(cls, value: Any) -> Any:
        if not isinstance(value, dict) or not _is_formula(value.get("law")):
            return value
        own = {"law", "density", "fibres", "expansion", *fields_of(ViscousKeys), *fields_of(PlasticKeys)}
        constants = {"lmbda" if key == "lambda" else key: given for key, given in value.items() if key not in own}
        return {key: given for key, given in value.items() if key in own} | {"constants": constants}

    def _check(self) -> None:
        if self.density < _LIGHTEST:
            raise ValueError(
                f"has a density of {self.density:g} kg/m³, lighter than any solid; "
                f"from t/mm³ it is {self.density * 1e12:g} kg/m³"
            )
        if self.is_plastic and self.law != "neo-hookean":
            raise ValueError(
                f"has a yield stress and the law '{self.law}'; of a metal that flows the elastic law is Hencky's: "
                "leave law out"
            )
        if not self.is_plastic and (given := [key for key in _FAILURES if getattr(self, key) is not None]):
            raise ValueError(f"has {given[0]}, which needs yield_stress or yield_table")
        if self.failure_johnson_cook is not None and self.failure_johnson_cook[4] and self.melting_temperature is None:
            raise ValueError("has D5 of failure_johnson_cook, which needs melting_temperature")
        if self.is_plastic and self.viscous:
            raise ValueError("has a yield stress and viscous; take one of them")
        try:
            self.material()
        except MaterialError as error:
            reason = str(error) if _is_formula(self.law) else str(error).partition(": ")[2]
            raise ValueError(f"is impossible: {reason.rstrip('.')}") from None

    def material(self) -> Material:
        """Return the material."""
        if _is_formula(self.law):
            return material(self.law, density=self.density, fibres=self.fibres or None, **self.constants)
        names = ("lmbda", "mu", "young", "poisson", "c10", "c01", "bulk")
        given: dict[str, float] = {name: value for name in names if (value := getattr(self, name)) is not None}
        if self.fibres or self.constants:
            raise ValueError(f"of the law '{self.law}' has no fibres, and no other constants than its own")
        several = {name: value for name in _SEVERAL if (value := getattr(self, name)) is not None}
        if self.law in _ANISOTROPIC:
            if given:
                raise ValueError(f"of the law '{self.law}' has no {next(iter(given))}, which differs by direction")
            return self._anisotropic({*several} - {"axes"})
        if several:
            raise ValueError(f"of the law '{self.law}' has no {next(iter(several))}")
        if self.law == "mooney-rivlin":
            if set(given) != {"c10", "c01", "bulk"}:
                raise ValueError("of the law 'mooney-rivlin' needs c10, c01 and bulk, and no other constants")
            return MooneyRivlin(**given, density=self.density)
        law = _LAWS[self.law]
        if set(given) == {"lmbda", "mu"}:
            return law(**given, density=self.density)
        if set(given) == {"young", "poisson"}:
            return law.from_young(E=given["young"], nu=given["poisson"], density=self.density)
        raise ValueError("needs either lambda and mu, or young and poisson")

    def metal(self, solid: Solid) -> Flowing:
        """Return the law of a solid of it that flows."""
        hardening = self.flow()
        assert hardening is not None
        with warnings.catch_warnings(action="ignore"):  # `runs.plausibility` reports it
            metal = Plastic(solid, hardening, return_mapping=self.return_mapping)
        given = {name: limit for key, name in _FAILURES.items() if (limit := getattr(self, key)) is not None}
        if "johnson_cook" in given:
            given["johnson_cook"] = JohnsonCookFailure(*given["johnson_cook"])
        return Eroding(metal, **given) if given else metal

    def _anisotropic(self, given: set[str]) -> AnisotropicElastic:
        small = self.law == "linear-anisotropic"
        if self.stiffness is not None and given == {"stiffness"}:
            return AnisotropicElastic(stiffness_matrix(self.stiffness), self.density, self.axes, small)
        if given == {"moduli", "poisson_ratios", "shear_moduli"}:
            E, nu, G = self.moduli, self.poisson_ratios, self.shear_moduli
            assert E is not None
            assert nu is not None
            assert G is not None
            return AnisotropicElastic.orthotropic(E, nu, G, self.density, self.axes, small)
        raise ValueError(f"of the law '{self.law}' needs stiffness, or moduli, poisson_ratios and shear_moduli")
