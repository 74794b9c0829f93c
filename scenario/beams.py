"""The table of beams, and what it describes: sections, and the particles that are the nodes of beams.

A node of a beam has a position and a rotation: it is four particles of the system (`symplex.fem.structures`). The mesh
of all bodies has these particles as points, so that what names nodes of a beam names particles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from symplex.base.quantities import ZERO, Text, Triple, between, listed, nonzero, numbers, positive, shown, vector
from symplex.base.sparse import sp
from symplex.errors import ScenarioError
from symplex.fem.energies.energy import Array, IntArray
from symplex.fem.solids.constitutive import Material
from symplex.fem.solids.hardening import Hardening
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.structures.beam import Beams, Formulation, beams
from symplex.fem.structures.outlines import Outline, skin_of
from symplex.fem.structures.sections import BeamProperties, Section
from symplex.fem.structures.yielding_beams import YieldingBeams
from symplex.meshes.mesh import Mesh
from symplex.scenario.framed import Framed, Viscous
from symplex.scenario.plastic import MemberPlasticKeys
from symplex.scenario.table import Need, Table, needs_of_history, needs_of_mass, one_of
from symplex.scenario.temperatures import EXPANDS, EXPANSION, thermal_strain
from symplex.scenario.trusses import LinesTable
from symplex.scenario.viscous import SectionMaxwellKeys, needs_of_overstress, overstress_name, section_overstress

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from symplex.scenario.building import Builder
    from symplex.scenario.tables import Tables

# What each kind of section needs; without a kind it is given by its numbers.
_NEEDED = {
    "rectangle": ("height", "width"),
    "box": ("height", "width", "thickness"),
    "pipe": ("radius", "thickness"),
    "circle": ("radius",),
    "i": ("height", "width", "web", "flange"),
    None: ("area", "I1", "I2", "J"),
}
_DIGITS = 9  # of weights, by which points are the same
_OF_NUMBERS = ("k1", "k2", "Z1", "Z2", "Zt")  # what sections without a kind may have besides
_DIMENSIONS = ("height", "width", "thickness", "radius", "web", "flange", "area", "I1", "I2", "J", *_OF_NUMBERS)


class SectionTable(Table):
    """The section of beams: a shape, or its numbers.

    Axis 1 is what of ``up`` is across the beam, axis 3 is along it, and axis 2 = 3 × 1.
    """

    kind: Annotated[
        Literal["rectangle", "box", "pipe", "circle", "i"] | None,
        '`"rectangle"`: height, width; `"box"`: with a thickness; `"circle"`: radius; `"pipe"`: outer radius, '
        'thickness; `"i"`: height, width, web, flange. Without kind: area, I1, I2, J.',
    ] = None
    height: Annotated[float | None, positive("m"), "Overall, along axis 1."] = None
    width: Annotated[float | None, positive("m"), "Overall, along axis 2."] = None
    thickness: Annotated[float | None, positive("m"), "Of walls."] = None
    radius: Annotated[float | None, positive("m"), "Outer one."] = None
    web: Annotated[float | None, positive("m"), "Thickness of the web of an I, which is along axis 1."] = None
    flange: Annotated[float | None, positive("m"), "Thickness of its flanges."] = None
    area: Annotated[float | None, positive("m²"), "A."] = None
    I1: Annotated[float | None, positive("m⁴"), "∫x₂² dA, for bending about axis 1."] = None
    I2: Annotated[float | None, positive("m⁴"), "∫x₁² dA, for bending about axis 2."] = None
    J: Annotated[float | None, positive("m⁴"), "The torsion constant."] = None
    k1: Annotated[float | None, positive("1"), "Part of the area that carries shear along axis 1; default 5/6."] = None
    k2: Annotated[float | None, positive("1"), "The same along axis 2; default 5/6."] = None
    Z1: Annotated[float | None, positive("m³"), "Plastic modulus ∫|x₂| dA, of metals that flow; M_p1 = σy Z1."] = None
    Z2: Annotated[float | None, positive("m³"), "Plastic modulus ∫|x₁| dA; M_p2 = σy Z2."] = None
    Zt: Annotated[float | None, positive("m³"), "Plastic modulus of torsion; T_p = σy Zt/√3."] = None

    def _check(self) -> None:
        given = [key for key in _DIMENSIONS if getattr(self, key) is not None]
        needed = _NEEDED[self.kind]
        what = f"of kind '{self.kind}'" if self.kind else "without a kind"
        if missing := [key for key in needed if key not in given]:
            raise ValueError(f"{what} needs {' and '.join(missing)}; given: {', '.join(given) or 'none'}")
        may = needed if self.kind else (*needed, *_OF_NUMBERS)
        if odd := [key for key in given if key not in may]:
            raise ValueError(f"{what} has {odd[0]}, which does not go with it; it has {', '.join(may)}")

    def _numbers(self) -> dict[str, Any]:
        return {key: getattr(self, key) for key in _DIMENSIONS if getattr(self, key) is not None}

    def section(self) -> Section:
        """Return its numbers."""
        numbers = self._numbers()
        match self.kind:
            case "rectangle":
                return Section.rectangle(**numbers)
            case "box":
                return Section.box(**numbers)
            case "pipe":
                return Section.pipe(**numbers)
            case "circle":
                return Section.circle(**numbers)
            case "i":
                return Section.i_beam(**numbers)
        return Section(**numbers)

    def outline(self) -> Outline:
        """Return what it looks like; without a kind a rectangle with the same radii of gyration."""
        numbers = self._numbers()
        match self.kind:
            case "rectangle":
                return Outline.rectangle(**numbers)
            case "box":
                return Outline.box(**numbers)
            case "pipe":
                return Outline.pipe(**numbers)
            case "circle":
                return Outline.circle(**numbers)
            case "i":
                return Outline.i_beam(**numbers)
        return _alike(numbers["area"], numbers["I1"], numbers["I2"])


def _alike(area: float, about_1: float, about_2: float) -> Outline:
    """Return the outline of a rectangle with given ratios of second moments to area."""
    return Outline.rectangle((12.0 * about_2 / area) ** 0.5, (12.0 * about_1 / area) ** 0.5)


class BeamMaterial(MemberPlasticKeys, SectionMaxwellKeys):
    """The material of beams, by the constants of its small strains; sections of metals flow by their resultants."""

    young: Annotated[float, positive("Pa"), "Young's modulus E."]
    poisson: Annotated[float, between(-0.99, 0.499), "Poisson's ratio ν."]
    density: Annotated[float, positive("kg/m³"), "ρ."]
    expansion: Annotated[float | None, EXPANSION, EXPANDS] = None

    def _check(self) -> None:
        if self.is_plastic and self.viscous:
            raise ValueError("has a yield stress and viscous; take one of them")


class PropertiesTable(Table):
    """What beams have for each unit of their length."""

    axial: Annotated[float, positive("N"), "EA."]
    shear: Annotated[tuple[float, float], numbers("N", 2), "kGA along the axes 1 and 2."]
    bending: Annotated[tuple[float, float], numbers("N m²", 2), "EI about the axes 1 and 2."]
    torsion: Annotated[float, positive("N m²"), "GJ."]
    mass: Annotated[float, positive("kg/m"), "ρA."]
    moments: Annotated[tuple[float, float], numbers("kg m", 2), "∫ρ x₁² dA and ∫ρ x₂² dA."]

    def properties(self) -> BeamProperties:
        """Return them."""
        return BeamProperties(**self._values())


class BeamPartTable(Table):
    """Members of beams with a section, direction or material of their own."""

    group: Annotated[Text, "Group of lines of the mesh."]
    up: Annotated[Triple | None, nonzero(), "Instead of that of the beams."] = None
    section: Annotated[SectionTable | None, "Instead of that of the beams."] = None
    material: Annotated[BeamMaterial | None, "Instead of that of the beams."] = None
    properties: Annotated[PropertiesTable | None, "Instead of section and material."] = None

    def _check(self) -> None:
        given = [key for key in ("up", "section", "material", "properties") if getattr(self, key) is not None]
        if not given:
            raise ValueError("needs up, section, material or properties, by which its members differ")
        if self.properties is not None and {"section", "material"} & {*given}:
            raise ValueError("has properties besides section or material; give one of both")


class BeamTable(LinesTable):
    """Beams: lines with a section that carry axial and shear forces, bending and torsion, with large rotations.

    Lines that meet at a node are joined rigidly. Each node has a rotation besides its position: supports hold it,
    loads may be moments ([beams.md](../beams.md)).
    """

    particles = 4
    up: Annotated[Triple, nonzero(), "Direction for axis 1 of the section, which is what of it is across the beam."]
    section: Annotated[SectionTable | None, "Shape or numbers of the section, with `material`."] = None
    material: Annotated[BeamMaterial | None, "Of all members, with `section`."] = None
    properties: Annotated[PropertiesTable | None, "Stiffnesses and inertia instead of section and material."] = None
    parts: Annotated[
        list[BeamPartTable],
        "Members with another section, direction or material, by groups of the mesh.",
    ] = []
    formulation: Annotated[
        Formulation,
        'The axial strain: `"green"`, of the line between nodes, or `"reissner"`, along the normal of the section.',
    ] = "green"
    extent: Annotated[
        float,
        between(0.01, 1.0),
        "Distance of a node's particles along the beam, relative to the inertia of its halves of elements; with "
        "1 explicit steps are four times as long, and frequencies lower.",
    ] = 0.25
    mass: Annotated[
        Literal["lumped", "consistent"],
        '`"consistent"`, for implicit integrators and modes: frequencies converge faster ([beams.md]'
        "(../beams.md#consistent-masses)).",
    ] = "lumped"
    velocity: Annotated[Triple, vector("m/s"), "At the start."] = ZERO
    angular_velocity: Annotated[Triple, vector("rad/s"), "At the start, about the centre of mass."] = ZERO

    def _check(self) -> None:
        if (self.section is None) != (self.material is None):
            missing = "section" if self.section is None else "material"
            raise ValueError(f"needs {missing}: beams are of a section and a material, or of properties")
        one_of(self, ["section", "properties"], "stiffness")
        if len({one.relaxes for one in self.materials}) > 1 or (
            self.relaxes and any(one.properties is not None for one in (self, *self.parts))
        ):
            raise ValueError(
                "has members with and without viscous, or with another one; all members of a beam must have the same: "
                "make another [[beam]] of the others"
            )

    def needs(self) -> Iterable[Need]:
        """Frames, and what materials with a history need."""
        yield Need("frames", "{kind} cannot keep the nodes of beams rigid; take another integrator, such as {others}.")
        yield from needs_of_mass(self.mass)
        if self.yields:
            yield from needs_of_history("its members yield")
        elif self.relaxes:
            yield needs_of_overstress()

    @property
    def materials(self) -> list[BeamMaterial]:
        """Those of the beams and of parts with their own."""
        return [one.material for one in (self, *self.parts) if one.material is not None]

    @property
    def yields(self) -> bool:
        """Whether members are of a metal that yields."""
        return any(one.is_plastic for one in self.materials)

    @property
    def relaxes(self) -> tuple[tuple[float, float], ...]:
        """The ratios and times of the Maxwell elements of all members."""
        return self.materials[0].relaxes if self.materials else ()

    def columns(self, tables: Tables) -> Iterable[str]:
        """Return what members store and dissipate."""
        overstress = overstress_name(self.name)
        return [
            *([f"stored_{self.name}", f"work_{self.name}"] if self.yields else []),
            *([overstress, f"stored_{overstress}", f"work_{overstress}"] if self.relaxes else []),
        ]

    def members_of_parts(self, mesh: Mesh) -> list[IntArray]:
        """Return which lines of a mesh each part has."""
        taken = np.full(len(mesh.cells["line"]), -1)
        for k, part in enumerate(self.parts):
            if part.group not in mesh.groups:
                raise ScenarioError(
                    f"parts: there is no group {shown(part.group)}; its mesh has: {listed(mesh.groups)}."
                )
            rows = mesh.cell_groups.get(part.group, {}).get("line", np.empty(0, np.int32))
            if not len(rows):
                raise ScenarioError(f"parts: group '{part.group}' has no members, only nodes.")
            if (taken[rows] >= 0).any():
                other = self.parts[int(taken[rows].max())].group
                raise ScenarioError(f"parts: the groups '{other}' and '{part.group}' have members together.")
            taken[rows] = k
        return [np.flatnonzero(taken == k).astype(np.int32) for k in range(len(self.parts))]

    def structure(self, mesh: Mesh, jointed: IntArray) -> Beams:
        """Return the beams along the lines of a mesh; all of their nodes can have joints."""
        m = len(mesh.cells["line"])
        every, up = [self._properties()] * m, np.tile(np.array(self.up, float), (m, 1))
        for part, rows in zip(self.parts, self.members_of_parts(mesh), strict=True):
            own = self._properties(part)
            for row in rows:
                every[row] = own
            up[rows] = self.up if part.up is None else part.up
        return beams(mesh, every, up, formulation=self.formulation, extent=self.extent)

    def expanded(self, structure: Beams, mesh: Mesh, change: Array) -> Beams:
        """Return the beams with a change of temperature ΔT [n] in K at the nodes of their mesh."""

        def of(material: BeamMaterial | None) -> Array:
            strain = None if material is None else thermal_strain(material.expansion, change)
            return np.zeros(len(structure.lines)) if strain is None else strain[structure.lines].mean(axis=1)

        strain = of(self.material)
        for part, rows in zip(self.parts, self.members_of_parts(mesh), strict=True):
            if part.material is not None or part.properties is not None:
                strain[rows] = of(part.material)[rows]
        return structure.expanded(strain)

    def _properties(self, part: BeamPartTable | None = None) -> BeamProperties:
        """Return what members have for each unit of their length, or those of a part."""
        given = part or self
        if given.properties is not None:
            return given.properties.properties()
        section, material = given.section or self.section, given.material or self.material
        if part is not None and part.section is part.material is None:
            return self._properties()
        if section is None or material is None:
            missing, named = "material" if material is None else "section", part.group if part is not None else ""
            raise ScenarioError(f"parts: the members of '{named}' need a {missing}, as those of the beams have none.")
        law = NeoHookean.from_young(material.young, material.poisson, material.density)
        return section.section().of(law)

    def properties_of_parts(self) -> list[BeamProperties]:
        """Return what its members have for each unit of their length, and then those of all parts."""
        return [self._properties(part) for part in (None, *self.parts)]

    def outlines(self) -> list[Outline]:
        """Return what the section looks like, and then those of all parts."""
        return [self._outline(part) for part in (None, *self.parts)]

    def _outline(self, part: BeamPartTable | None) -> Outline:
        given = part or self
        if given.properties is not None:
            return _alike(given.properties.axial, *given.properties.bending)
        section = given.section or self.section
        return section.outline() if section is not None else self._outline(None)

    def skin(self, mesh: Mesh, structure: Beams) -> tuple[sp.csr_array, IntArray, IntArray]:
        """Return weights [k, p] of points of its surface, triangles, and which point each of those drawn is.

        Elements with one section that meet share the points there.
        """
        which = np.zeros(len(structure.lines), np.int32)
        for k, rows in enumerate(self.members_of_parts(mesh), start=1):
            which[rows] = k
        skin = skin_of(structure, self.outlines(), which)
        same = np.column_stack([skin.particles, np.round(skin.weights, _DIGITS)])
        _, first, place = np.unique(same, axis=0, return_index=True, return_inverse=True)
        particles, drawn = skin.particles[first], place.ravel().astype(np.int32)
        indptr = np.arange(0, particles.size + 1, 4)
        weights = sp.csr_array(
            (skin.weights[first].ravel(), particles.ravel(), indptr), (len(first), len(structure.points))
        )
        quads = drawn[skin.quads]
        triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
        return weights, triangles, drawn

    def add_stiffness(self, world: Builder) -> None:
        """Add their energy, or, where members yield, all of them as a part with history."""
        beam = world.inertia.beams[self.name]
        yielding = self._yielding(beam) if self.yields else None  # pyright: ignore[reportArgumentType]
        world.add(self.name, yielding or beam.structure.energy.shifted(beam.first))

    def add_damping(self, world: Builder) -> None:
        """Add the overstress."""
        beam = world.inertia.beams[self.name]
        if self.relaxes:
            strains = beam.structure.strains.shifted(beam.first)
            world.add(overstress_name(self.name), section_overstress(strains, self.relaxes))

    def _yielding(self, beam: Beam) -> YieldingBeams:
        """Return members that yield, by the limits of their sections, and those that do not, which have none."""
        m = len(beam.structure.lines)
        limits, every = np.full((m, 4), np.inf), [Hardening(1.0)] * m
        rest = np.setdiff1d(np.arange(m), np.concatenate([*beam.members, np.empty(0, int)]))
        for part, rows in zip((None, *self.parts), (rest, *beam.members), strict=True):
            given = part or self
            section, material = given.section or self.section, given.material or self.material
            flows = None if material is None or given.properties is not None else material.flow()
            if flows is None:
                continue
            assert section is not None, "it has been checked with its stiffness"
            limits[rows] = section.section().limits(float(flows.yield_stress(0.0)))
            for row in rows:
                every[row] = flows
        return YieldingBeams(beam.structure, limits, every, first=beam.first)


@dataclass(frozen=True)
class Beam(Framed):
    """Beams in the mesh of all bodies.

    Attributes
    ----------
    members : sequence of int32 [k]
        Which members each part of the table has.
    """

    table: BeamTable
    structure: Beams
    members: Sequence[IntArray]

    @property
    def viscous(self) -> dict[str, Viscous]:
        """Its energy by name, with its stiffness against rates."""
        return {self.name: Viscous(self.structure.energy.shifted(self.first), self.structure.viscous_stiffness)}

    @property
    def contact_material(self) -> Material:
        """An isotropic material with the least of its axial stiffnesses, which says how stiff contact must be."""
        found = []
        for one, outline in zip(self.table.properties_of_parts(), self.table.outlines(), strict=True):
            found.append(NeoHookean.from_young(one.axial / outline.area, 0.0, one.mass / outline.area))
        return min(found, key=lambda material: material.young)

    def outlines(self) -> tuple[list[Outline], IntArray]:
        """Return what its sections look like, and the number of that of each member."""
        which = np.zeros(len(self.structure.lines), np.int32)
        for k, rows in enumerate(self.members, start=1):
            which[rows] = k
        return self.table.outlines(), which
