"""Keywords that make the mesh: nodes, elements, sets, surfaces, local systems of nodes."""

from __future__ import annotations

from dataclasses import replace

from symplex.decks.deck import Prescribed, System
from symplex.decks.discrete_keywords import DISCRETE
from symplex.decks.reading import Keyword, Once, Reading, UnsupportedKeyword, fields, real, reals
from symplex.errors import MeshError
from symplex.meshes.formats.abaqus_deck import Block

# What a layer of flat elements is made of: plane strain, plane stress, axisymmetric; and the type of cells.
_LAYERS = {
    "3": ("C3D6", "wedge"),
    "4": ("C3D8", "hexahedron"),
    "4R": ("C3D8R", "hexahedron"),
    "6": ("C3D15", "wedge15"),
    "8": ("C3D20", "hexahedron20"),
    "8R": ("C3D20R", "hexahedron20"),
}
SOLID_OF_FLAT = {family + n: solid for family in ("CPE", "CPS", "CAX") for n, solid in _LAYERS.items()}
# Types of elements that become shells, and how many nodes they have.
SHELLS = {
    **dict.fromkeys(("S3", "S3R", "S3RS", "STRI3"), 3),
    **dict.fromkeys(("S4", "S4R", "S4RS", "S4R5"), 4),
    **dict.fromkeys(("S6", "STRI65"), 6),
    **dict.fromkeys(("S8", "S8R", "S8R5"), 8),
}
# What a layer of shells is made of next to solid elements.
SOLID_OF_SHELL = {name: _LAYERS[str(n) + ("R" if n in (4, 8) and "R" in name else "")] for name, n in SHELLS.items()}
SOLID_OF_SHELL["S4"] = "C3D8I", "hexahedron"
_SHELL = {
    3: "`[[shell]]`",
    4: "`[[shell]]`",
    6: "four triangles of `[[shell]]`",
    8: "four quadrilaterals of `[[shell]]`",
}
# Types of elements that can be computed with, and how.
ELEMENTS = {
    "C3D4": "`tetra`",
    "C3D10": "`tetra10`",
    "C3D10T": "`tetra10`",
    "C3D6": "`wedge`",
    "C3D15": "`wedge15`",
    "C3D8": '`hexahedron`, `formulation = "full"`',
    "C3D8R": '`hexahedron`, `formulation = "stabilized"`',
    "C3D8I": '`hexahedron`, `formulation = "stabilized"`',
    "C3D8H": '`hexahedron`, `formulation = "mean-dilatation"`, with small strains `"stabilized"`',
    "C3D20": '`hexahedron20`, `formulation = "full"`',
    "C3D20R": '`hexahedron20`, `formulation = "reduced"`',
    "B31": "`[[beam]]`",
    "B31R": "`[[beam]]`",
    "B32": "two beams, through the second node",
    "B32R": "two beams, through the second node",
    "C3D20H": '`hexahedron20`, `formulation = "mean-dilatation"`, with small strains `"reduced"`',
    "C3D20RH": '`hexahedron20`, `formulation = "reduced"`',
    "C3D10H": '`tetra10`, `formulation = "mean-dilatation"`, with small strains `"full"`',
    "C3D15H": '`wedge15`, `formulation = "mean-dilatation"`, with small strains `"full"`',
    "C3D6H": '`wedge`, `formulation = "mean-dilatation"`, with small strains `"full"`',
    "T3D2": "springs of stiffness E A/L, with half of the mass on each node; `T2D2` the same, held in z",
    **{name: f"one layer of `{solid}`" for name, (solid, _) in SOLID_OF_FLAT.items()},
    **{
        name: f"{_SHELL[n]}; next to solid elements one layer of `{SOLID_OF_SHELL[name][0]}`"
        for name, n in SHELLS.items()
    },
}
FORMULATIONS = {name: how.split('"')[1] for name, how in ELEMENTS.items() if "formulation" in how}


def _take_elements(reading: Reading, block: Block) -> None:
    name = block.parameter("TYPE").upper()
    if name == "T2D2" and block.placement is None:  # a bar in the plane
        name, block = "T3D2", replace(block, parameters={**block.parameters, "TYPE": "T3D2"})
        nodes = {word: None for line in block.lines for word in fields(line, 3)[1:]}
        reading.deck.held += [Prescribed(node, 2, 0.0, "") for node in nodes]
    try:
        reading.mesh.take(block)
    except MeshError as error:
        if "is not supported" not in str(error):
            raise
        raise UnsupportedKeyword(f"elements '{name}' are not supported") from None
    if name not in ELEMENTS and name not in DISCRETE:
        raise UnsupportedKeyword(f"elements '{name}' cannot be computed with")


def _take_mesh(reading: Reading, block: Block) -> None:
    try:
        reading.mesh.take(block)
    except MeshError as error:
        if "not supported" not in str(error):
            raise
        raise UnsupportedKeyword(str(error).rstrip(".")) from None


def _take_surface(reading: Reading, block: Block) -> None:
    kind = block.parameters.get("TYPE", "ELEMENT").upper()
    if kind not in ("ELEMENT", "NODE"):
        raise UnsupportedKeyword(f"surfaces with TYPE='{kind}' are not supported")
    if kind == "NODE" and any(weight and real(weight) != 1.0 for _, weight in (fields(x, 2) for x in block.lines)):
        raise UnsupportedKeyword("surfaces of nodes with areas or weights other than 1 are not supported")
    _take_mesh(reading, block)


def _take_transform(reading: Reading, block: Block) -> None:
    kind = block.parameters.get("TYPE", "R").upper()
    if kind not in ("R", "C"):
        raise UnsupportedKeyword(f"systems with TYPE='{kind}' are not supported")
    values = reals(" ".join(block.lines))
    if len(values) != 6:
        raise ValueError(f"a *TRANSFORM has {len(values)} numbers, not 6")
    a, b = (values[0], values[1], values[2]), (values[3], values[4], values[5])
    reading.deck.systems.append(System(block.parameter("NSET"), a, b, kind == "C"))


_MODEL = "before steps"
_KEYWORDS = {
    "NODE": Keyword(_take_mesh, ("NSET", "SYSTEM", "INPUT"), "nodes; `SYSTEM=C` in cylindrical coordinates", _MODEL),
    "ELEMENT": Keyword(_take_elements, ("TYPE", "ELSET", "INPUT"), "elements of the types below", _MODEL),
    "NSET": Keyword(
        _take_mesh, ("NSET", "GENERATE", "ELSET", "UNSORTED", "INPUT", "INTERNAL", "INSTANCE"), "a group of points"
    ),
    "ELSET": Keyword(_take_mesh, ("ELSET", "GENERATE", "INPUT", "INTERNAL", "INSTANCE"), "a group of elements"),
    "SURFACE": Keyword(
        _take_surface,
        ("NAME", "TYPE", "INTERNAL", "INPUT"),
        "a group of faces, or of points",
        once=Once("surface", "NAME"),
    ),
    "TRANSFORM": Keyword(
        _take_transform,
        ("NSET", "TYPE"),
        "directions of forces on nodes; of supports only where all three directions are fixed",
        _MODEL,
    ),
    "PART": Keyword(_take_mesh, ("NAME",), "geometry that instances have", _MODEL, Once("part", "NAME"), False),
    "ENDPART": Keyword(_take_mesh, (), "", _MODEL, has_data=False),
    "ASSEMBLY": Keyword(_take_mesh, ("NAME",), "", _MODEL, has_data=False),
    "ENDASSEMBLY": Keyword(_take_mesh, (), "", _MODEL, has_data=False),
    "INSTANCE": Keyword(
        _take_mesh, ("NAME", "PART"), "one or several, shifted and turned; sets are `INSTANCE.SET`", _MODEL
    ),
    "ENDINSTANCE": Keyword(_take_mesh, (), "", _MODEL, has_data=False),
}
MESH_KEYWORDS = {name: keyword._replace(of_mesh=True) for name, keyword in _KEYWORDS.items()}
