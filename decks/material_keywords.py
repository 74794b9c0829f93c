"""Keywords of materials and sections."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
from scipy.spatial.transform import Rotation

from symplex.decks.deck import Axes, Layer, MaterialData, Section
from symplex.decks.reading import (
    Keyword,
    Once,
    Reading,
    UnsupportedKeyword,
    fields,
    one_line,
    real,
    reals,
    single_line,
    words,
)
from symplex.meshes.formats.abaqus_deck import Block
from symplex.meshes.formats.abaqus_sets import of_instance

# Strain energies as Abaqus writes them: the formula, and its constants in the order of the data line. D are
# compressibilities; an incompressible material (D = 0) has no formula here.
_HYPERELASTIC = {
    "NEOHOOKE": ("c10*(I1bar - 3) + (J - 1)**2/d1", ("c10", "d1")),
    "MOONEY-RIVLIN": ("c10*(I1bar - 3) + c01*(I2bar - 3) + (J - 1)**2/d1", ("c10", "c01", "d1")),
    "YEOH": (
        "c10*(I1bar - 3) + c20*(I1bar - 3)**2 + c30*(I1bar - 3)**3 + (J - 1)**2/d1 + (J - 1)**4/d2 + (J - 1)**6/d3",
        ("c10", "c20", "c30", "d1", "d2", "d3"),
    ),
}


_CONSTANTS = {
    "ORTHO": 9, "ORTHOTROPIC": 9, "ENGINEERINGCONSTANTS": 9, "ANISO": 21, "ANISOTROPIC": 21, "LAMINA": 6,
}  # fmt: skip
_SIDES = {"SPOS": 0.5, "SNEG": -0.5}


def _take_material(reading: Reading, block: Block) -> None:
    name = block.parameter("NAME")
    reading.material = MaterialData(name, reading.where(block))
    reading.deck.materials[name.upper()] = reading.material


def _take_elastic(reading: Reading, block: Block) -> None:
    kind = block.parameters.get("TYPE", "ISO").upper().replace(" ", "")
    material = reading.material_of()
    if not kind.startswith("ISO"):
        count = _CONSTANTS.get(kind)
        if count is None:
            raise UnsupportedKeyword(f"elasticity with TYPE='{kind}' is not supported")
        values = [real(word) for line in block.lines for word in words(line.rstrip().rstrip(",")) if word]
        if len(values) < count:
            raise ValueError(f"a *{block.keyword} has {len(values)} numbers, not {count}")
        if len(values) > count + 1:  # the last one is a temperature
            raise UnsupportedKeyword("constants that depend on temperature or other fields are not supported")
        given = tuple(values[:count])
        if kind == "LAMINA":
            material.lamina = given
        elif kind.startswith("ENG"):
            material.engineering = given
        else:
            material.stiffness = given
        return
    material.young, material.poisson = _constants(reading, block, 2)


def _take_density(reading: Reading, block: Block) -> None:
    reading.material_of().density = _constants(reading, block, 1)[0] or None  # without mass


def _constants(reading: Reading, block: Block, count: int) -> list[float]:
    """Return constants; of those that depend on temperature the first ones, as CalculiX where there is none.

    Abaqus takes those at 0, which are the same if that is not between two of the temperatures.
    """
    if len(block.lines) < 2:
        return one_line(block, count)
    rows = [reals(line) for line in block.lines]
    temperatures = [row[count] if len(row) == count + 1 else None for row in rows]
    known = [t for t in temperatures if t is not None]
    if len(known) < len(rows) or any(b <= a for a, b in pairwise(known)):
        raise UnsupportedKeyword(f"several lines must have {count} constants and a temperature each, which ascends")
    if any(row[:count] != rows[0][:count] for row in rows):
        reading.material_of().by_temperature[block.keyword] = reading.where(block), tuple(map(tuple, rows))
    return rows[0][:count]


def _take_plastic(reading: Reading, block: Block) -> None:
    kind = block.parameters.get("HARDENING", "ISOTROPIC").upper().replace(" ", "")
    material = reading.material_of()
    if "RATE" in block.parameters:
        raise UnsupportedKeyword("a table for one of several rates is not supported")
    if kind == "ISOTROPIC":
        material.yields = _hardening(block)
    elif kind == "JOHNSONCOOK":
        values = [real(word) if word else 0.0 for word in fields(single_line(block), 6)]
        if values[4]:
            raise UnsupportedKeyword("softening by temperature is not supported; leave its melting temperature out")
        material.yields = ((0.0, values[0]),)
        if values[1]:
            material.metal |= {"power_modulus": values[1], "power": values[2]}
    elif kind in ("KINEMATIC", "COMBINED"):
        _take_back_stress(material, block, kind)
    else:
        raise UnsupportedKeyword(f"hardening with HARDENING='{kind}' is not supported")


def _take_back_stress(material: MaterialData, block: Block, kind: str) -> None:
    """Take a back stress: by parameters, or linear by a table of two points."""
    if int(real(block.parameters.get("NUMBERBACKSTRESSES") or "1")) != 1:
        raise UnsupportedKeyword("several back stresses are not supported")
    data = block.parameters.get("DATATYPE", "HALFCYCLE").upper().replace(" ", "")
    if data == "PARAMETERS" and kind == "COMBINED":
        stress, modulus, recovery = one_line(block, 3)
        material.yields = ((0.0, stress),)
        if modulus:
            material.metal |= {"back_modulus": modulus, "recovery": recovery}
        return
    if data != "HALFCYCLE":
        raise UnsupportedKeyword(f"a back stress with DATA TYPE='{data}' is not supported")
    rows = _hardening(block)
    if len(rows) > 2:
        raise UnsupportedKeyword("a back stress by a table of more than two points is not supported")
    material.yields = rows[:1]
    if len(rows) == 2 and rows[1][1] != rows[0][1]:
        material.metal["back_modulus"] = (rows[1][1] - rows[0][1]) / (rows[1][0] - rows[0][0])


def _take_cyclic_hardening(reading: Reading, block: Block) -> None:
    material = reading.material_of()
    if not material.yields:
        raise UnsupportedKeyword("it must follow a *PLASTIC with HARDENING=COMBINED")
    if "PARAMETERS" not in block.parameters:
        material.yields = _hardening(block)
        return
    stress, more, rate = one_line(block, 3)
    material.yields = ((0.0, stress),)
    if more:
        material.metal |= {"saturation_stress": stress + more, "saturation_rate": rate}


def _take_rate_dependent(reading: Reading, block: Block) -> None:
    kind = block.parameters.get("TYPE", "POWERLAW").upper().replace(" ", "")
    material = reading.material_of()
    if not material.yields:
        raise UnsupportedKeyword("it must follow a *PLASTIC")
    if kind == "JOHNSONCOOK":
        factor, reference = one_line(block, 2)
        material.metal |= {"reference_rate": reference, "rate_factor": factor}
    elif kind == "POWERLAW":
        reference, power = one_line(block, 2)
        material.metal |= {"reference_rate": reference, "rate_exponent": 1.0 / power}
    else:
        raise UnsupportedKeyword(f"a rate with TYPE='{kind}' is not supported")


def _hardening(block: Block) -> tuple[tuple[float, float], ...]:
    """Return plastic strains and yield stresses of a table, of the first temperature if there are several."""
    rows: list[tuple[float, float]] = []
    temperatures: set[str] = set()
    for line in block.lines:
        stress, strain, temperature, *more = *fields(line, 4), ""
        if any(more):
            raise UnsupportedKeyword("yield stresses that depend on the rate or on fields are not supported")
        temperatures.add(temperature)
        rows.append((real(strain) if strain else 0.0, real(stress)))
    if len(temperatures) > 1:
        raise UnsupportedKeyword("yield stresses that depend on temperature are not supported")
    if not rows:
        raise ValueError(f"a *{block.keyword} has no yield stress")
    return tuple(rows)


def _take_expansion(reading: Reading, block: Block) -> None:
    kind = block.parameters.get("TYPE", "ISO").upper()
    count = {"ISO": 1, "ORTHO": 3, "ANISO": 6}.get(kind[:3] if kind.startswith("ISO") else kind)
    if count is None:
        raise UnsupportedKeyword(f"expansion with TYPE='{kind}' is not supported")
    material = reading.material_of()
    rows = [reals(line.rstrip().rstrip(",")) for line in block.lines]
    if not rows or any(not count <= len(row) <= count + 1 for row in rows):
        raise UnsupportedKeyword(f"its lines must have {count} expansions, and may have a temperature")
    at = [row[count] if len(row) > count else 0.0 for row in rows]
    if any(b <= a for a, b in pairwise(at)):
        raise UnsupportedKeyword("several lines must have a temperature each, which ascends")
    reading.keep_without_name("expansion", block)
    material.expands_apart = any(row[k] != row[0] for row in rows for k in range(1, min(count, 3))) or any(
        row[k] for row in rows for k in range(3, count)
    )
    material.expansions = tuple((row[0], t) for row, t in zip(rows, at, strict=True))
    material.zero = _parameter(block, "ZERO")


def _take_hyperelastic(reading: Reading, block: Block) -> None:
    if {*block.parameters} <= {"OGDEN", "N"} and "OGDEN" in block.parameters:
        block = _as_mooney(block)
    kinds = [name for name in block.parameters if name in _HYPERELASTIC]
    if len(kinds) != 1 or len(block.parameters) != 1:
        raise UnsupportedKeyword(f"only {', '.join(_HYPERELASTIC)} with their constants are known")
    formula, names = _HYPERELASTIC[kinds[0]]
    values = one_line(block, 2, len(names))
    values += [0.0] * (len(names) - len(values))
    constants = dict(zip(names, values, strict=False))
    for name in [name for name in names if name.startswith("d")]:
        if constants[name] == 0.0:
            if name == "d1":
                raise UnsupportedKeyword("an incompressible material (D1 = 0) has no formula; give a D1")
            power = 2 * int(name[1:])
            formula = formula.replace(f" + (J - 1)**{power}/{name}", "")
            del constants[name]
    material = reading.material_of()
    material.formula, material.constants = formula, constants


def _as_mooney(block: Block) -> Block:
    """Return Ogden's law of the exponents 2 and −2, W = Σ 2 μ/α² (Σ λ̄^α − 3), as that of Mooney and Rivlin.

    Raises
    ------
    UnsupportedKeyword
        If it has other exponents.
    """
    count = int(real(block.parameters.get("N") or "1"))
    values = [real(word) if word else 0.0 for line in block.lines for word in words(line.rstrip().rstrip(","))]
    terms = dict(zip(values[1 : 2 * count : 2], values[: 2 * count : 2], strict=False))
    further = values[2 * count :]
    if not {*terms} <= {2.0, -2.0} or len(terms) < count or any(further[1:]):
        raise UnsupportedKeyword("OGDEN is known with the exponents 2 and -2, which is MOONEY-RIVLIN")
    given = [0.5 * terms.get(2.0, 0.0), 0.5 * terms.get(-2.0, 0.0), *further[:1]]
    return replace(block, parameters={"MOONEY-RIVLIN": ""}, lines=[", ".join(map(repr, given))])


def _take_damping(reading: Reading, block: Block) -> None:
    material = reading.material_of()
    material.alpha = _parameter(block, "ALPHA")
    material.beta = _parameter(block, "BETA")


def _parameter(block: Block, name: str) -> float:
    return reals(block.parameters.get(name) or "0")[0]


def _take_section(reading: Reading, block: Block) -> None:
    (thickness,) = fields(single_line(block), 1)
    _add_section(reading, block, thickness)


def _take_shell_section(reading: Reading, block: Block) -> None:
    given = block.parameters.get("OFFSET", "").upper() or "0"
    offset = _SIDES[given] if given in _SIDES else real(given)
    if "COMPOSITE" in block.parameters:
        layers = [_layer(line) for line in block.lines]
        if not layers:
            raise ValueError("it has no layers")
        layers += layers[::-1] if "SYMMETRIC" in block.parameters else []
        _add_section(reading, block, "", of_shell=True, layers=tuple(layers), offset=offset)
        return
    if "SYMMETRIC" in block.parameters:
        raise UnsupportedKeyword("the parameter SYMMETRIC goes with COMPOSITE")
    if not block.parameters.get("MATERIAL"):
        numbers = [real(word) for line in block.lines for word in words(line.rstrip().rstrip(",")) if word]
        if len(numbers) != 21:
            raise UnsupportedKeyword(
                f"a shell must have a MATERIAL and a thickness, layers (COMPOSITE) or 21 numbers, got {len(numbers)}"
            )
        density = reals(block.parameters["DENSITY"])[0] if "DENSITY" in block.parameters else None
        _add_section(reading, block, "", of_shell=True, offset=offset, numbers=tuple(numbers), density=density)
        return
    if "DENSITY" in block.parameters:
        raise UnsupportedKeyword("the parameter DENSITY goes with stiffnesses by numbers")
    thickness, _ = fields(single_line(block), 2)  # and the number of points across it
    _add_section(reading, block, thickness, of_shell=True, offset=offset)


def _layer(line: str) -> Layer:
    """Return a layer: thickness, number of points, material, orientation or angle, name of the ply."""
    thickness, _, material, axes, _ = fields(line, 5)
    if not thickness or not material:
        raise ValueError("a layer must have a thickness and a material")
    try:
        return Layer(real(thickness), material, "", real(axes) if axes else 0.0)
    except ValueError:
        return Layer(real(thickness), material, axes.strip('"').upper(), 0.0)


def _add_section(
    reading: Reading,
    block: Block,
    thickness: str,
    *,
    of_shell: bool = False,
    layers: tuple[Layer, ...] = (),
    offset: float = 0.0,
    numbers: tuple[float, ...] = (),
    density: float | None = None,
) -> None:
    elements = block.parameter("ELSET")
    if block.placement is not None:
        elements = of_instance(elements, block.placement)
    reading.deck.sections.append(
        Section(
            elements,
            "" if layers or numbers else block.parameter("MATERIAL"),
            sum(layer.thickness for layer in layers) if layers else real(thickness) if thickness else None,
            reading.where(block),
            block.parameters.get("ORIENTATION", "").upper(),
            "NODALTHICKNESS" in block.parameters,
            of_shell,
            layers,
            offset,
            numbers,
            density,
        )
    )


def _take_transverse_shear(reading: Reading, block: Block) -> None:
    sections = reading.deck.sections
    if not sections or not sections[-1].numbers or len(sections[-1].numbers) > 21:
        raise UnsupportedKeyword("it must follow a *SHELL GENERAL SECTION whose stiffness is by numbers")
    values = reals(single_line(block))
    if len(values) not in (2, 3):
        raise ValueError(f"a *{block.keyword} has {len(values)} numbers, not K11, K22 and K12")
    sections[-1] = sections[-1]._replace(numbers=(*sections[-1].numbers, *values, *[0.0] * (3 - len(values))))


def _take_thickness(reading: Reading, block: Block) -> None:
    for line in block.lines:
        nodes, size = fields(line, 2)
        reading.deck.thicknesses.append((nodes, real(size)))


def _take_orientation(reading: Reading, block: Block) -> None:
    kind = block.parameters.get("SYSTEM", "RECTANGULAR").upper()
    if kind[:1] not in ("R", "C") or block.parameters.get("DEFINITION", "COORDINATES").upper() != "COORDINATES":
        raise UnsupportedKeyword("only orientations with SYSTEM=RECTANGULAR and CYLINDRICAL by coordinates are known")
    if block.lines and len(words(block.lines[0])) == 1:
        raise UnsupportedKeyword("orientations that differ between elements are not supported")
    *points, further = *(fields(block.lines[0], 9) if block.lines else []), block.lines[2:]
    values = [real(word) if word else 0.0 for word in points]
    if len(values) < 6:
        raise ValueError(f"an *{block.keyword} has no two points")
    if any(values[6:]) or further:
        raise UnsupportedKeyword("orientations with another origin, or more than one rotation, are not supported")
    axes = Axes((values[0], values[1], values[2]), (values[3], values[4], values[5]), kind.startswith("C"))
    if len(block.lines) > 1:
        axis, degrees = fields(block.lines[1], 2)
        turn = real(degrees) if degrees else 0.0
        if axis not in ("1", "2", "3") or (axes.cylindrical and turn):
            raise UnsupportedKeyword("only orientations that are turned about one of their axes 1, 2, 3 are known")
        axes = (_turned(axes, int(axis) - 1, turn) if turn else axes)._replace(normal=int(axis) - 1)
    reading.deck.orientations[block.parameter("NAME").upper()] = axes


def _turned(axes: Axes, axis: int, degrees: float) -> Axes:
    """Return rectangular axes turned about one of them."""
    third = np.cross(axes.first, axes.second)
    system = np.array([axes.first, np.cross(third, axes.first), third])
    sizes = np.linalg.norm(system, axis=1, keepdims=True)
    if not sizes.all():
        raise ValueError("the two points of an orientation are on one line with the origin")
    system /= sizes
    turned = Rotation.from_rotvec(np.radians(degrees) * system[axis]).apply(system)
    first, second = (tuple(map(float, turned[k])) for k in (0, 1))
    return Axes((first[0], first[1], first[2]), (second[0], second[1], second[2]))


_MODEL = "before steps"
_ELASTICITY = Once("elasticity", owner="material")
_SECTION = Once("section", "ELSET", repeats=True)
_OF_SHELLS = (
    "ELSET", "MATERIAL", "NODALTHICKNESS", "OFFSET", "COMPOSITE", "ORIENTATION", "SYMMETRIC", "SECTIONINTEGRATION",
)  # fmt: skip
_SHEAR = Keyword(_take_transverse_shear, (), "of stiffnesses by numbers: K11, K22, K12", _MODEL)

MATERIAL_KEYWORDS = {
    "MATERIAL": Keyword(_take_material, ("NAME",), "a material", _MODEL, Once("material", "NAME"), has_data=False),
    "ELASTIC": Keyword(
        _take_elastic,
        ("TYPE",),
        'isotropic: `law = "linear-elastic"`, and with `NLGEOM` `"saint-venant-kirchhoff"`; `ORTHO`, '
        '`ENGINEERING CONSTANTS`, `ANISO`: `"linear-anisotropic"` and `"anisotropic"`; `LAMINA` of shells; of several '
        "temperatures the first ones, if the deck gives no temperature",
        _MODEL,
        _ELASTICITY,
    ),
    "DENSITY": Keyword(
        _take_density, (), "constant, as those of `*ELASTIC`", _MODEL, Once("density", owner="material")
    ),
    "PLASTIC": Keyword(
        _take_plastic,
        ("HARDENING", "DATATYPE", "NUMBERBACKSTRESSES", "RATE"),
        "`yield_table`, or `yield_stress` with `power_modulus` (`JOHNSON COOK`, without temperatures), a back stress "
        "by two points (`KINEMATIC`, `COMBINED`; linear beyond the second) or C and γ (`PARAMETERS`); static steps "
        "become motions of kind `static` through all earlier ones",
        _MODEL,
        Once("plasticity", owner="material"),
    ),
    "CYCLICHARDENING": Keyword(
        _take_cyclic_hardening,
        ("PARAMETERS",),
        "the isotropic part of `COMBINED`: a table, or the saturation σ0 + Q with b",
        _MODEL,
        Once("cyclic hardening", owner="material"),
    ),
    "RATEDEPENDENT": Keyword(
        _take_rate_dependent,
        ("TYPE",),
        "`rate_factor` (`JOHNSON COOK`), or `rate_exponent`, 1/n (`POWER LAW`)",
        _MODEL,
        Once("rate dependence", owner="material"),
    ),
    "EXPANSION": Keyword(
        _take_expansion,
        ("TYPE", "ZERO"),
        "`expansion`, the same in all directions; of several temperatures the secant to those of the step",
        _MODEL,
        Once("expansion", owner="material"),
    ),
    "HYPERELASTIC": Keyword(
        _take_hyperelastic,
        ("NEOHOOKE", "MOONEY-RIVLIN", "YEOH", "OGDEN", "N"),
        "the same strain energy, as a formula; `OGDEN` of the exponents 2 and −2",
        _MODEL,
        _ELASTICITY,
    ),
    "DAMPING": Keyword(
        _take_damping,
        ("ALPHA", "BETA"),
        "`[[damping]]`, in motions; the same for all materials",
        _MODEL,
        Once("damping", owner="material"),
        has_data=False,
    ),
    "CONDUCTIVITY": Keyword(None, (), "ignored: heat"),
    "SPECIFICHEAT": Keyword(None, (), "ignored: heat"),
    "SOLIDSECTION": Keyword(
        _take_section,
        ("ELSET", "MATERIAL", "CONTROLS", "ORIENTATION", "NODALTHICKNESS", "OFFSET"),
        "material of elements, thickness of flat ones",
        _MODEL,
        _SECTION,
    ),
    "SHELLSECTION": Keyword(
        _take_shell_section,
        _OF_SHELLS,
        "material and thickness, or layers (`COMPOSITE`), of `[[shell]]`, with an `OFFSET` of its nodes",
        _MODEL,
        _SECTION,
    ),
    "SHELLGENERALSECTION": Keyword(
        _take_shell_section,
        (*_OF_SHELLS, "DENSITY"),
        "the same, or `properties` of `[[shell]]`: 21 numbers, with those of `*TRANSVERSE SHEAR STIFFNESS`",
        _MODEL,
        _SECTION,
    ),
    "TRANSVERSESHEARSTIFFNESS": _SHEAR,
    "TRANSVERSESHEAR": _SHEAR,
    "NODALTHICKNESS": Keyword(_take_thickness, (), "nodal thickness of flat elements and shells", _MODEL),
    "ORIENTATION": Keyword(
        _take_orientation,
        ("NAME", "SYSTEM", "DEFINITION"),
        "`axes` of anisotropic materials, rectangular; directions of couplings, cylindrical as well",
        _MODEL,
        Once("orientation", "NAME"),
    ),
}
