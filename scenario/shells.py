"""The table of shells, and what it describes: faces of a mesh with a thickness, whose nodes are particles.

A node of a smooth shell is a rod of two particles across it, one on a fold has four (`symplex.fem.structures`). The
mesh of all bodies has these particles as points.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from symplex.base.quantities import (
    ZERO,
    FilePath,
    Name,
    Quantity,
    Text,
    Triple,
    between,
    lengths,
    listed,
    nonzero,
    number,
    numbers,
    positive,
    shown,
    vector,
    whole,
)
from symplex.base.sparse import sp
from symplex.errors import MeshError, ScenarioError
from symplex.fem.energies.energy import Array, IntArray
from symplex.fem.solids.constitutive import Material
from symplex.fem.solids.materials import NeoHookean
from symplex.fem.structures.plies import Orthotropic, Ply, ShellProperties
from symplex.fem.structures.quadratic_measures import QuadraticMeasures
from symplex.fem.structures.shell import Shells, shells
from symplex.meshes.formats.read import read_mesh
from symplex.meshes.generate import box
from symplex.meshes.linear_faces import MOST_PIECES, QUADRATIC_FACES, divided_faces
from symplex.meshes.mesh import Mesh, distinct, take
from symplex.scenario.framed import Framed, Viscous
from symplex.scenario.table import BodyTable, Need, Rotation, Table, needs_of_mass, one_of, placed
from symplex.scenario.temperatures import EXPANDS, EXPANSION, thermal_strain
from symplex.scenario.viscous import SectionMaxwellKeys, needs_of_overstress, overstress_name, section_overstress

if TYPE_CHECKING:
    from symplex.scenario.building import Builder
    from symplex.scenario.tables import Tables

N = TypeVar("N", bound=np.generic)
FACES = ("quad", "triangle")
_MOST = 2**31 - 1


def _lengths(value: Any) -> tuple[float, float]:
    x, y = numbers("m", 2).check(value)
    if min(x, y) <= 0.0:
        raise ValueError(f"is {shown(value)}, must be two lengths (m) above 0")
    return x, y


def _counts(value: Any) -> tuple[int, ...]:
    if not isinstance(value, list | tuple) or len(value) not in (2, 3):
        raise ValueError(f"is {shown(value)}, must be two integers of at least 1, or three for a box")
    return tuple(whole(1, _MOST).check(count) for count in value)


class FaceMesh(Table):
    """Where the nodes and elements of a shell come from; a text alone is the name of a file."""

    file: Annotated[FilePath | None, "Mesh file whose quadrilaterals and triangles are the elements."] = None
    plate: Annotated[
        tuple[float, float] | None,
        Quantity(_lengths, "m", "two numbers", "> 0"),
        "Edges of a rectangle from the origin along x and y, with the groups of nodes `x_min` … `y_max`.",
    ] = None
    box: Annotated[
        Triple | None,
        lengths("m"),
        "Edges of a closed box from the origin, with normals outward and the groups of faces `x_min` … `z_max`.",
    ] = None
    cells: Annotated[
        tuple[int, ...] | None,
        Quantity(_counts, "", "two integers, or three", "≥ 1"),
        "Of a plate or box, in each direction.",
    ] = None
    split: Annotated[Literal["quadrilaterals", "triangles"], "What cells are: one quadrilateral, or two triangles."] = (
        "quadrilaterals"
    )

    pieces: Annotated[
        int,
        whole(2, MOST_PIECES),
        "Of a file with faces of eight or six nodes: in how many linear ones along each edge they "
        "are divided, with their curvature; an even number.",
    ] = 2

    @classmethod
    def _prepared(cls, value: Any) -> Any:
        return {"file": value} if isinstance(value, str) else value

    def _check(self) -> None:
        source = one_of(self, ["file", "plate", "box"], "source")
        if source != "file":
            self.refuse_unused("pieces", goes_with=f"file, not with {source}")
        if source == "file":
            if self.cells is not None:
                raise ValueError(f"cells goes with plate or box, not with {source}")
            self.refuse_unused("split", goes_with=f"plate or box, not with {source}")
            return
        count = 2 if source == "plate" else 3
        if self.cells is None:
            raise ValueError(
                f"{source} needs cells, the number of elements each way, such as cells = {[8, 4, 4][:count]}"
            )
        if len(self.cells) != count:
            raise ValueError(f"cells must be {count} integers with {source}, got {shown(list(self.cells))}")


class ShellMaterial(SectionMaxwellKeys):
    """The material of shells, by constants of small strains: isotropic, or a ply with fibres along its axis 1."""

    young: Annotated[float | None, positive("Pa"), "Young's modulus E of an isotropic material."] = None
    moduli: Annotated[tuple[float, float] | None, numbers("Pa", 2), "E₁ along the fibres and E₂ across, instead."] = (
        None
    )
    shear_moduli: Annotated[tuple[float, float, float] | None, numbers("Pa", 3), "G₁₂, G₁₃ and G₂₃, with `moduli`."] = (
        None
    )
    poisson: Annotated[float, number("1"), "ν, or ν₁₂: the contraction along 2 of a stretch along 1."]
    density: Annotated[float, positive("kg/m³"), "ρ."]
    expansion: Annotated[float | None, EXPANSION, f"{EXPANDS} All layers of a shell have the same."] = None

    def _check(self) -> None:
        source = one_of(self, ["young", "moduli"], "stiffness")
        if source == "young" and not -0.99 <= self.poisson <= 0.499:
            raise ValueError(f"poisson is {self.poisson:g}, must be from -0.99 to 0.499")
        if (source == "moduli") != (self.shear_moduli is not None):
            raise ValueError("shear_moduli go with moduli, and moduli need them")

    def material(self) -> NeoHookean | Orthotropic:
        """Return it."""
        if self.young is not None:
            return NeoHookean.from_young(self.young, self.poisson, self.density)
        assert self.moduli is not None
        assert self.shear_moduli is not None
        return Orthotropic(*self.moduli, self.poisson, *self.shear_moduli, self.density)

    @property
    def isotropic(self) -> Material:
        """It, or an isotropic material of the least of its moduli."""
        if self.young is not None:
            return NeoHookean.from_young(self.young, self.poisson, self.density)
        assert self.moduli is not None
        return NeoHookean.from_young(min(self.moduli), 0.0, self.density)

    @property
    def stiffest(self) -> float:
        """The largest of Young's moduli in Pa."""
        return self.young if self.young is not None else max(self.moduli or (0.0,))


class LayerTable(Table):
    """A layer of a shell."""

    thickness: Annotated[float, positive("m"), "Of the layer."]
    material: Annotated[ShellMaterial, "Of the layer."]
    angle: Annotated[float, number("°"), "Of axis 1 of its material from that of elements, about the normal."] = 0.0


Six = tuple[float, float, float, float, float, float]


class ShellPropertiesTable(Table):
    """What shells have for each unit of their area: N = A ε + B κ, M = B ε + D κ, Q = S γ, along axes of elements."""

    membrane: Annotated[Six, numbers("N/m", 6), "A₁₁, A₁₂, A₂₂, A₁₆, A₂₆, A₆₆."]
    coupling: Annotated[Six, numbers("N", 6), "B in the same order."] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    bending: Annotated[Six, numbers("N m", 6), "D in the same order."]
    shear: Annotated[tuple[float, float, float], numbers("N/m", 3), "S₁₁, S₁₂, S₂₂."]
    thickness: Annotated[float, positive("m"), "Between both sides of the surface in results and contact."]
    mass: Annotated[float, positive("kg/m²"), "Of each unit of area, spread over the thickness."]

    def properties(self) -> ShellProperties:
        """Return them."""
        matrices = self.membrane, self.coupling, self.bending
        A, B, D = (np.array([[a, b, d], [b, c, e], [d, e, f]]) for a, b, c, d, e, f in matrices)
        s11, s12, s22 = self.shear
        moment = self.mass * self.thickness**2 / 12.0
        shear = np.array([[s11, s12], [s12, s22]])
        return ShellProperties(A, B, D, shear, self.thickness, self.mass, 0.0, moment)


def _check_stiffness(table: ShellTable | ShellPartTable, needed: bool) -> None:
    given = [key for key in ("thickness", "material") if getattr(table, key) is not None]
    if table.layers and given:
        raise ValueError(f"has layers besides {given[0]}; give layers, or thickness and material")
    if table.properties is not None:
        if table.layers or given:
            raise ValueError(f"has properties besides {given[0] if given else 'layers'}; give one of both")
        return
    if needed and not table.layers and len(given) < 2:
        missing = [key for key in ("thickness", "material") if key not in given]
        raise ValueError(f"needs {' and '.join(missing)}, or layers")


class ShellPartTable(Table):
    """Faces of shells with a thickness, material, layers, direction or offset of their own."""

    group: Annotated[Text, "Group of faces of the mesh."]
    thickness: Annotated[float | None, positive("m"), "Instead of that of the shell."] = None
    material: Annotated[ShellMaterial | None, "Instead of that of the shell."] = None
    layers: Annotated[list[LayerTable], "Instead of thickness and material, or the layers of the shell."] = []
    properties: Annotated[ShellPropertiesTable | None, "Stiffnesses and mass instead of these."] = None
    offset: Annotated[float | None, number("m"), "Instead of that of the shell."] = None
    direction: Annotated[Triple | None, nonzero(), "Instead of that of the shell."] = None

    def _check(self) -> None:
        _check_stiffness(self, needed=False)
        if not self.layers and not {"thickness", "material", "properties", "offset", "direction"} & self.given_keys:
            raise ValueError("needs thickness, material, layers, properties, offset or direction, by which it differs")


class ShellTable(BodyTable):
    """Shells: faces with a thickness that carry forces in their plane, bending and shear, with large rotations.

    Faces that meet at an edge are joined rigidly. Each node has rotations besides its position, but none about the
    direction across the shell: supports hold them, loads may be moments ([shells.md](../shells.md)).
    """

    particles = 2
    name: Annotated[Name, "Names its energy and its block."]
    mesh: Annotated[FaceMesh, "Where its nodes and elements come from."]
    group: Annotated[Text | None, "Of a file: only the faces of this group."] = None
    scale: Annotated[float, positive("m per unit of the file"), "`1e-3` for a file in millimetres."] = 1.0
    rotate: Annotated[Rotation | None, "About the mesh's origin, after scaling."] = None
    translate: Annotated[Triple, vector("m"), "After rotating."] = ZERO
    thickness: Annotated[float | None, positive("m"), "Of the shell, with `material`."] = None
    material: Annotated[ShellMaterial | None, "Of the shell, with `thickness`."] = None
    layers: Annotated[
        list[LayerTable], "Instead of thickness and material: from below to above, which is where the normal is."
    ] = []
    properties: Annotated[
        ShellPropertiesTable | None, "Stiffnesses and mass instead of thickness and material, or layers."
    ] = None
    offset: Annotated[
        float, number("m"), "How far the middle of the thickness, where nodes are, is from the mesh along normals."
    ] = 0.0
    direction: Annotated[
        Triple, nonzero(), "Its projection is axis 1 of elements: of angles of layers, and of forces in results."
    ] = (1.0, 0.0, 0.0)
    parts: Annotated[
        list[ShellPartTable], "Faces with another thickness, material, … than the others, by groups of the mesh."
    ] = []
    fold: Annotated[
        float, between(1.0, 120.0, "°"), "Angle between neighbours from which on there is a fold, not a smooth shell."
    ] = 35.0
    extent: Annotated[
        float,
        between(0.0, 1.0),
        "Least distance of particles from the middle, relative to the root of the area of a node; with 0.3 "
        "explicit steps of thin shells are far longer, and frequencies lower.",
    ] = 0.0
    mass: Annotated[
        Literal["lumped", "consistent"],
        '`"consistent"`, for implicit integrators and modes: frequencies converge faster ([beams.md]'
        "(../beams.md#consistent-masses)).",
    ] = "lumped"
    velocity: Annotated[Triple, vector("m/s"), "At the start."] = ZERO
    angular_velocity: Annotated[Triple, vector("rad/s"), "At the start, about the centre of mass."] = ZERO

    def _check(self) -> None:
        _check_stiffness(self, needed=True)
        if len({one.relaxes for one in self.materials}) > 1 or (
            self.relaxes and any(one.properties is not None for one in (self, *self.parts))
        ):
            raise ValueError(
                "has layers or parts with and without viscous, or with another one; all of a shell must have the same"
            )

    def needs(self) -> Iterable[Need]:
        """Frames."""
        yield Need("frames", "{kind} cannot keep the nodes of shells rigid; take another integrator, such as {others}.")
        yield from needs_of_mass(self.mass)
        if self.relaxes:
            yield needs_of_overstress()

    @property
    def relaxes(self) -> tuple[tuple[float, float], ...]:
        """The ratios and times of the Maxwell elements of all layers."""
        return self.materials[0].relaxes if self.materials else ()

    def columns(self, tables: Tables) -> Iterable[str]:
        """Return the overstress of each kind of elements, what it stores and dissipates."""
        if not self.relaxes:
            return []
        kinds = [self.name, *(f"{self.name}.{kind}" for kind in (*FACES, *(f"{kind}_fold" for kind in FACES)))]
        return [f"{what}{overstress_name(name)}" for name in kinds for what in ("", "stored_", "work_")]

    def own_mesh(self, folder: Path) -> Mesh:
        """Return its faces in their place."""
        mesh = self._faces(folder)
        points = mesh.points * (1.0 if self.mesh.file is not None else self.scale)
        points = placed(points, self.rotate, self.translate)
        return Mesh(points, mesh.cells, mesh.cell_groups, mesh.point_groups, unknown=mesh.unknown)

    def _faces(self, folder: Path) -> Mesh:
        source = self.mesh
        if source.file is not None:
            return _read_faces(self, folder / source.file)
        if self.group is not None:
            raise ScenarioError("group is of a mesh file, and there is none.")
        assert source.cells is not None
        triangles = source.split == "triangles"
        if source.plate is not None:
            return _plate(source.plate, source.cells, triangles)
        assert source.box is not None
        return _box(source.box, source.cells, triangles)

    @property
    def materials(self) -> list[ShellMaterial]:
        """Those of all layers."""
        of_layers = [layer.material for table in (self, *self.parts) for layer in table.layers]
        return of_layers + [table.material for table in (self, *self.parts) if table.material is not None]

    def properties_of_parts(self) -> list[ShellProperties]:
        """Return what it, and then each of its parts, has for each unit of its area."""
        return [self._properties(self), *(self._properties(part) for part in self.parts)]

    def _properties(self, part: ShellTable | ShellPartTable) -> ShellProperties:
        """Return what it, or a part of it, has for each unit of its area."""
        own = part.layers or part.thickness is not None or part.material is not None
        given = part.properties if own or part.properties is not None else self.properties
        if given is not None:
            return given.properties()
        layers = part.layers if own else self.layers
        if layers:
            return ShellProperties.laminate(
                [Ply(layer.thickness, layer.material.material(), layer.angle) for layer in layers]
            )
        thickness, material = part.thickness or self.thickness, part.material or self.material
        if thickness is None or material is None:
            missing, named = "material" if material is None else "thickness", getattr(part, "group", "")
            raise ScenarioError(f"parts: the faces of '{named}' need a {missing}, as the shell is of layers.")
        return ShellProperties.uniform(thickness, material.material())

    def structure(self, mesh: Mesh, jointed: IntArray) -> Shells:
        """Return the shells on the faces of a mesh, with frames of four particles at nodes that have joints."""
        tables = (self, *self.parts)
        names = [str(k) for k in range(len(tables))]
        properties = dict(zip(names, self.properties_of_parts(), strict=True))
        offsets = [self.offset if table.offset is None else table.offset for table in tables]
        along = [self.direction if table.direction is None else table.direction for table in tables]
        return shells(
            replace(mesh, cell_groups=dict(zip(names, self._faces_of_parts(mesh), strict=True))),
            properties,
            offset=dict(zip(names, offsets, strict=True)),
            direction=dict(zip(names, along, strict=True)),
            fold=self.fold,
            extent=self.extent,
            framed=jointed,
        )

    def expanded(self, structure: Shells, mesh: Mesh, change: Array) -> Shells:
        """Return the shells with a change of temperature ΔT [n] in K at the nodes of their mesh."""
        tables = (self, *self.parts)
        if len({one.expansion for one in self.materials}) > 1 or any(one.properties is not None for one in tables):
            raise ScenarioError(
                f"shell '{self.name}' has a temperature, and layers or parts with different expansions, or properties; "
                "give all the same expansion, or take solid elements."
            )
        strain = thermal_strain(self.materials[0].expansion, change)
        if strain is None:
            return structure
        return structure.expanded({name: strain[cells].mean(axis=1) for name, cells in structure.cells.items()})

    def _faces_of_parts(self, mesh: Mesh) -> list[dict[str, IntArray]]:
        """Return the faces of a mesh by kind that no part has, and then those of each part."""
        of_part = {kind: np.zeros(len(cells), np.int32) for kind, cells in mesh.cells.items() if kind in FACES}
        for k, part in enumerate(self.parts, start=1):
            if part.group not in mesh.groups:
                raise ScenarioError(
                    f"parts: there is no group {shown(part.group)}; its mesh has: {listed(mesh.groups)}."
                )
            faces = {kind: rows for kind, rows in mesh.cell_groups.get(part.group, {}).items() if kind in FACES}
            if not any(len(rows) for rows in faces.values()):
                raise ScenarioError(f"parts: group '{part.group}' has no faces, only nodes.")
            for kind, rows in faces.items():
                taken = of_part[kind][rows]
                if taken.any():
                    other = self.parts[taken.max().item() - 1].group
                    raise ScenarioError(f"parts: the groups '{other}' and '{part.group}' have faces together.")
                of_part[kind][rows] = k
        return [
            {kind: np.flatnonzero(which == k).astype(np.int32) for kind, which in of_part.items()}
            for k in range(len(self.parts) + 1)
        ]

    def skin(self, mesh: Mesh, structure: Shells) -> tuple[sp.csr_array, IntArray, IntArray]:
        """Return weights [k, p] of points of its surface, triangles, and which points are drawn: all."""
        weights, triangles = structure.skin()
        return weights, triangles, np.arange(len(weights.indptr) - 1, dtype=np.int32)

    def add_stiffness(self, world: Builder) -> None:
        """Add the energies of its elements: one for each kind of these, if there are several kinds."""
        shell = world.inertia.shells[self.name]
        for name, energy in shell.energies.items():
            world.add(name, energy)
        for k, energy in enumerate(shell.structure.drills, start=1):
            world.add(f"{self.name}.drill_{k}", energy.shifted(shell.first))

    def add_damping(self, world: Builder) -> None:
        """Add the overstress of its elements: one for each kind of these."""
        shell = world.inertia.shells[self.name]
        for kind, name in shell.kinds.items() if self.relaxes else ():
            strains = shell.structure.strains[kind].shifted(shell.first)
            world.add(overstress_name(name), section_overstress(strains, self.relaxes))


@dataclass(frozen=True)
class Shell(Framed):
    """Shells in the mesh of all bodies."""

    table: ShellTable
    structure: Shells

    @property
    def kinds(self) -> dict[str, str]:
        """The names of its energies in the system, by what they are called in the structure."""
        named = self.structure.energies
        return {kind: self.table.name if len(named) == 1 else f"{self.table.name}.{kind}" for kind in named}

    @property
    def contact_material(self) -> Material:
        """The softest of its materials, with a part of its stiffness and density, which say how stiff contact must be.

        Behind an area of contact a shell has the mass of its thickness, and no more, where a solid has that of an
        element: the part is thickness over mean edge.
        """
        ends = [np.stack([one, np.roll(one, 1, axis=1)]) for one in self.structure.cells.values()]
        centers = self.structure.frames.centers(self.structure.points)
        edges = np.concatenate([np.linalg.norm(centers[a] - centers[b], axis=2).ravel() for a, b in ends])
        part = min(1.0, min(one.thickness for one in self.table.properties_of_parts()) / float(edges.mean()))
        softest = min((one.isotropic for one in self.table.materials), key=lambda one: one.young)
        return NeoHookean.from_young(part * softest.young, softest.poisson, part * softest.density)

    @property
    def energies(self) -> dict[str, QuadraticMeasures]:
        """Its energies by name, of the mesh of all bodies."""
        return {name: self.structure.energies[kind].shifted(self.first) for kind, name in self.kinds.items()}

    @property
    def viscous(self) -> dict[str, Viscous]:
        """Its energies by name, whose stiffness is that against rates as well."""
        return {name: Viscous(energy, energy.stiffness) for name, energy in self.energies.items()}

    def faces_in(self, group: str | None) -> dict[str, IntArray]:
        """Return the nodes of the elements of a group of its mesh by type, or of all; see `rows_in`."""
        cells = self.cells
        return {kind: cells[kind][rows] for kind, rows in self.rows_in(group).items()}

    @property
    def numbers(self) -> IntArray:
        """Where each of its elements, in the order of its cells, is among those of its energies."""
        own, first, found = self.structure.cells, 0, {}
        for kind, rows in own.items():
            found[kind] = np.arange(first, first + len(rows), dtype=np.int32)
            first += len(rows)
        return np.asarray(self.of_elements(found), np.int32)

    def rows_in(self, group: str | None) -> dict[str, IntArray]:
        """Return which elements a group of its mesh has by type, or all.

        Of a group of nodes alone these are the elements with all nodes in it.
        """
        cells, mesh = self.cells, self.mesh
        if group is None:
            return {kind: np.arange(len(one), dtype=np.int32) for kind, one in cells.items()}
        if group not in mesh.groups:
            raise ScenarioError(f"body '{self.name}' has no group {shown(group)}; it has: {listed(mesh.groups)}.")
        if group in mesh.cell_groups:
            found = {kind: rows for kind, rows in mesh.cell_groups[group].items() if kind in cells and len(rows)}
        else:
            within = {kind: np.isin(one, mesh.nodes_of(group)).all(axis=1) for kind, one in cells.items()}
            found = {kind: np.flatnonzero(rows).astype(np.int32) for kind, rows in within.items() if rows.any()}
        if not found:
            raise ScenarioError(f"group {shown(group)} of '{self.name}' has no elements; leave it out to mean all.")
        return found

    @property
    def cells(self) -> dict[str, IntArray]:
        """The nodes of its elements by type, in the order of the mesh."""
        return self._in_order(self.structure.cells)

    def of_elements(self, values: Mapping[str, Array]) -> Array:
        """Return values [m, …] by the names of its energies in the structure as those of its cells."""
        return np.concatenate(list(self._in_order(values).values()))

    def _in_order(self, values: Mapping[str, NDArray[N]]) -> dict[str, NDArray[N]]:
        """Return values of the elements of energies by type, in the order of the mesh."""
        found: dict[str, NDArray[N]] = {}
        for face in FACES:
            some = [kind for kind in self.structure.elements if kind.removesuffix("_fold") == face]
            if some:
                order = np.argsort(np.concatenate([self.structure.elements[kind] for kind in some]))
                found[face] = np.concatenate([values[kind] for kind in some])[order]
        return found


def _read_faces(table: ShellTable, path: Path) -> Mesh:
    """Return the faces of a mesh file, all or those of a group, with their nodes only."""
    mesh = read_mesh(path, scale=table.scale, require_volume=False)
    if mesh.points.shape[1] != 3:
        raise MeshError(f"{path.name} is not in space: its points have {mesh.points.shape[1]} coordinates.")
    if table.group is not None and table.group not in mesh.groups:
        raise MeshError(f"group '{table.group}' is not in {path.name}; it has: {', '.join(mesh.groups) or 'none'}.")
    mesh = _with_nodes_of_lines(mesh)
    if any(len(mesh.cells_of(kind)) for kind in QUADRATIC_FACES):
        mesh = divided_faces(mesh, table.mesh.pieces)
    elif "pieces" in table.mesh.given_keys:
        raise MeshError(f"{path.name} has no faces of eight or six nodes, of which there could be pieces.")
    chosen = {kind: np.arange(len(mesh.cells_of(kind))) for kind in FACES if len(mesh.cells_of(kind))}
    if table.group is not None:
        chosen = {kind: mesh.cell_groups.get(table.group, {}).get(kind, np.empty(0, np.int32)) for kind in chosen}
    chosen = {kind: rows for kind, rows in chosen.items() if len(rows)}
    if not chosen:
        whose = f"group '{table.group}' of {path.name}" if table.group is not None else path.name
        raise MeshError(f"{whose} has no quadrilaterals or triangles of three or four nodes, of which shells are made.")
    nodes = np.concatenate([mesh.cells[kind][rows].ravel() for kind, rows in chosen.items()])
    return take(mesh, distinct(nodes, len(mesh.points)), chosen)


def _with_nodes_of_lines(mesh: Mesh) -> Mesh:
    """Return the mesh with groups of lines, such as edges with supports, as groups of their nodes."""
    faces = (*FACES, *QUADRATIC_FACES)
    lines = {
        name: mesh.nodes_of(name)
        for name, members in mesh.cell_groups.items()
        if any(kind.startswith("line") for kind in members) and not any(len(members.get(kind, ())) for kind in faces)
    }
    others = {name: members for name, members in mesh.cell_groups.items() if name not in lines}
    return replace(mesh, cell_groups=others, point_groups={**mesh.point_groups, **lines})


def _cells_of(quads: IntArray, triangles: bool) -> tuple[str, IntArray]:
    """Return the type of cells, and their nodes: quadrilaterals [m, 4], or both halves of each."""
    return ("triangle", np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])) if triangles else ("quad", quads)


def _box(size: Triple, cells: tuple[int, ...], triangles: bool) -> Mesh:
    """Return the sides of a box from the origin, of equal cells, with a group of the faces of each."""
    solid = box(size, cells, split="hexahedra")
    nodes = distinct(solid.boundary_faces["quad"].ravel(), len(solid.points))
    points, quads = solid.points[nodes], np.searchsorted(nodes, solid.boundary_faces["quad"]).astype(np.int32)
    kind, faces = _cells_of(quads, triangles)
    groups = {
        f"{letter}_{end}": {
            kind: np.flatnonzero((np.abs(points[faces, axis] - place) < 1e-9 * length).all(axis=1)).astype(np.int32)
        }
        for axis, (letter, length) in enumerate(zip("xyz", size, strict=True))
        for end, place in (("min", 0.0), ("max", length))
    }
    return Mesh(points, {kind: faces}, groups)


def _plate(size: tuple[float, float], cells: tuple[int, ...], triangles: bool) -> Mesh:
    """Return a rectangle from the origin, of equal cells, with groups of the nodes of its edges."""
    (lx, ly), (nx, ny) = size, cells
    x, y = np.meshgrid(lx * (np.arange(nx + 1) / nx), ly * (np.arange(ny + 1) / ny), indexing="ij")
    node = np.arange((nx + 1) * (ny + 1), dtype=np.int32).reshape(nx + 1, ny + 1)
    quads = np.stack([node[:-1, :-1], node[1:, :-1], node[1:, 1:], node[:-1, 1:]], axis=-1).reshape(-1, 4)
    kind, faces = _cells_of(quads, triangles)
    edges = {"x_min": node[0], "x_max": node[-1], "y_min": node[:, 0], "y_max": node[:, -1]}
    points = np.column_stack([x.ravel(), y.ravel(), np.zeros(x.size)])
    return Mesh(points, {kind: faces}, {}, {name: rows.copy() for name, rows in edges.items()})
