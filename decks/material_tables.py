"""A material of a deck as the table of a scenario."""

from __future__ import annotations

from typing import Any

from symplex.decks.deck import Axes, MaterialData, Step
from symplex.decks.reading import UnsupportedKeyword
from symplex.decks.units import Units

Table = dict[str, Any]
ANY_DENSITY = 1000.0  # kg/m³, where only a static equilibrium is requested, which has nothing to do with it


def density_of(density: float | None, units: Units) -> float:
    """Return a density in kg/m³, any where there is none."""
    return ANY_DENSITY if density is None else density * units.density


def require_constants(material: MaterialData, step: Step) -> None:
    """Check that a material has what a step needs.

    Raises
    ------
    UnsupportedKeyword
        If it has no density but masses.
    """
    if material.density is None and not step.is_static:
        raise UnsupportedKeyword(f"the material '{material.name}' has no density")


def material_table(material: MaterialData, axes: Axes | None, units: Units, large: bool, flows: bool) -> Table:
    """Return the table of a material.

    Parameters
    ----------
    material : MaterialData
        Without a density it has one that has nothing to do with statics.
    axes : Axes or None
        Those of an orientation, for what is not the same in all directions.
    units : Units
    large : bool
        Whether displacements may be large.
    flows : bool
        Whether metals flow; in vibrations they are elastic.

    Raises
    ------
    UnsupportedKeyword
        If it has no elasticity.
    """
    table = _law_table(material, axes, units, large, flows)
    return table | ({} if material.expansion is None else {"expansion": material.expansion})


def _law_table(material: MaterialData, axes: Axes | None, units: Units, large: bool, flows: bool) -> Table:
    density = density_of(material.density, units)
    if material.yields and (material.formula or material.stiffness or material.engineering):
        raise UnsupportedKeyword(f"the material '{material.name}' flows, so its elasticity must be isotropic")
    if material.formula:
        constants = {
            # D are one over a pressure.
            name: value / units.stress if name.startswith("d") else value * units.stress
            for name, value in material.constants.items()
        }
        return {"law": material.formula, **constants, "density": density}
    if material.stiffness or material.engineering:
        return _anisotropic(material, axes, units, large) | {"density": density}
    if material.lamina:
        raise UnsupportedKeyword(f"the material '{material.name}' of type LAMINA is for shells only")
    if material.young is None:
        raise UnsupportedKeyword(f"the material '{material.name}' has no elasticity")
    if material.yields and flows:
        return _metal(material, material.young, units) | {"poisson": material.poisson, "density": density}
    law = "saint-venant-kirchhoff" if large else "linear-elastic"
    return {"law": law, "young": material.young * units.stress, "poisson": material.poisson, "density": density}


def _metal(material: MaterialData, young: float, units: Units) -> Table:
    """Return what makes a material a metal that flows."""
    stresses = dict.fromkeys(("power_modulus", "back_modulus", "saturation_stress"), units.stress)
    scales: dict[str, float] = {"reference_rate": 1.0 / units.time, **stresses}
    keys = {key: value * scales.get(key, 1.0) for key, value in material.metal.items()}
    table = {"young": young * units.stress}
    if {"power_modulus", "saturation_stress"} & {*keys}:
        return table | {"yield_stress": material.yields[0][1] * units.stress} | keys
    return table | {"yield_table": [[strain, stress * units.stress] for strain, stress in material.yields]} | keys


def _anisotropic(material: MaterialData, axes: Axes | None, units: Units, large: bool) -> Table:
    if axes is not None and axes.cylindrical:
        raise UnsupportedKeyword("the axes of a material cannot be cylindrical; they are the same in all elements")
    table: Table = {"law": "anisotropic" if large else "linear-anisotropic"}
    if material.stiffness:
        table["stiffness"] = [value * units.stress for value in material.stiffness]
    else:
        E, nu, G = (material.engineering[k : k + 3] for k in (0, 3, 6))
        table |= {"moduli": [e * units.stress for e in E], "poisson_ratios": list(nu)}
        table["shear_moduli"] = [g * units.stress for g in G]
    return table | ({} if axes is None else {"axes": [list(axes.first), list(axes.second)]})
