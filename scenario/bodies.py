"""The tables of bodies: where their meshes come from, what they are made of, and copies of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from symplex.base.quantities import (
    ZERO,
    FilePath,
    Key,
    Name,
    Quantity,
    Text,
    Triple,
    check_text,
    counts,
    lengths,
    listed,
    not_negative,
    positive,
    refused,
    shown,
    vector,
    whole,
)
from symplex.errors import MeshError
from symplex.fem.energies.energy import Array, IntArray
from symplex.fem.solids.elements import SOLIDS
from symplex.meshes.bundled_meshes import bundled
from symplex.meshes.formats.read import read_mesh
from symplex.meshes.generate import box, cube_mesh
from symplex.meshes.kinds import dimension_of, face_corners, faces_of_cells
from symplex.meshes.mapping import ball, cylinder, mapped
from symplex.meshes.mesh import Mesh, rows_among, take
from symplex.meshes.midside_nodes import is_quadratic, quadratic
from symplex.meshes.quality import check_mesh
from symplex.meshes.repair import drop_duplicates, drop_unconnected, orient
from symplex.scenario.actions import Timed, formulas, letters, time_or_name
from symplex.scenario.definitions import formula_at
from symplex.scenario.materials import MaterialTable
from symplex.scenario.table import (
    BodyTable,
    Entry,
    Need,
    Rotation,
    Table,
    needs_of_history,
    needs_of_mass,
    one_of,
    placed,
)
from symplex.scenario.temperatures import thermal_change
from symplex.scenario.viscous import needs_of_overstress, overstress_name, require_finite_strains, viscosity_name

if TYPE_CHECKING:
    from symplex.scenario.building import Builder
    from symplex.scenario.tables import Tables

# Elements of decks that, as hexahedra do by default, do not lock in bending: of one point with hourglass control, and
# with incompatible modes.
_AS_BY_DEFAULT = ("C3D8R", "C3D8I")
_REDUCED = "C3D20R"
_ROUNDED = 1e-7  # to what part of the size of a body its positions may be rounded


# -- the tables -------------------------------------------------------------------------------------------------------


def _corners(value: Any) -> tuple[Triple, Triple]:
    """Return two opposite corners of a box, the lower one first."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise refused("two corners of a box, [[x, y, z], [x, y, z]] (m)", value)
    low, high = (vector("m").check(corner) for corner in value)
    if any(a >= b for a, b in zip(low, high, strict=True)):
        raise refused("the lower corner of a box and the upper one, in each direction", value)
    return low, high


_INNER = "Inner radius; by default it is solid, with a block of cells in the middle."
_GRADING = "Size of the outermost cells along the radius over that of the innermost."
_BLOCKS = "How cells are cut, as those of a box."


class CylinderMesh(Table):
    """A cylinder or tube about z from z = 0, or a sector from the x axis, with curved edges if ``quadratic``.

    Its sides are the groups ``outside``, ``inside``, ``z_min``, ``z_max`` and, of a sector, ``y0`` and ``x0`` in the
    planes y = 0 and x = 0, ``start`` and ``end`` in others.
    """

    radius: Annotated[float, positive("m"), "Outer radius."]
    length: Annotated[float, positive("m"), "Along z."]
    cells: Annotated[
        tuple[int, int, int],
        counts(2**31 - 1),
        "Cells along the radius, around and along z; of a solid one an even number in each quarter, and along "
        "the radius outside of the middle block.",
    ]
    inner: Annotated[float, not_negative("m"), _INNER] = 0.0
    degrees: Annotated[float, positive("°", 360.0), "Of the sector; of a solid one 90, 180 or 360."] = 360.0
    grading: Annotated[float, positive("1"), _GRADING] = 1.0
    split: Annotated[Literal["hexahedra", "24", "pyramids"], _BLOCKS] = "hexahedra"

    def mesh(self, order: int) -> Mesh:
        """Return the mesh."""
        keys = {"inner": self.inner, "degrees": self.degrees, "grading": self.grading, "split": self.split}
        return cylinder(self.radius, self.length, self.cells, **keys, order=order)


class BallMesh(Table):
    """A ball about the origin, solid or hollow, or the part of it on one side of planes of symmetry.

    With curved edges if ``quadratic``. Its sides are the groups ``outside``, ``inside`` and, on planes of symmetry,
    ``x0``, ``y0`` and ``z0``.
    """

    radius: Annotated[float, positive("m"), "Outer radius."]
    cells: Annotated[
        tuple[int, int],
        counts(2**31 - 1, of=2),
        "Cells along the radius (of a solid one outside of the middle block), and along a quarter of a great "
        "circle, an even number.",
    ]
    inner: Annotated[float, not_negative("m"), _INNER] = 0.0
    symmetry: Annotated[
        str,
        letters('"" for a whole ball'),
        'Planes that bound it, on whose positive side it is: `"x"` for x = 0, `"xyz"` for an eighth.',
    ] = ""
    grading: Annotated[float, positive("1"), _GRADING] = 1.0
    split: Annotated[Literal["hexahedra", "24", "pyramids"], _BLOCKS] = "hexahedra"

    def mesh(self, order: int) -> Mesh:
        """Return the mesh."""
        keys = {"inner": self.inner, "symmetry": self.symmetry, "grading": self.grading, "split": self.split}
        return ball(self.radius, self.cells, **keys, order=order)


class MeshTable(Table):
    """Where a mesh comes from; a text alone is the name of a file.

    Groups of elements are also those that files have: physical groups of Gmsh (nameless ones are ``volume_1`` …),
    element sets, and one for each value of integer data (``mat_id_1`` …).
    """

    file: Annotated[
        FilePath | None,
        "Mesh file of Gmsh, Abaqus, VTK and more that meshio reads, relative to the scenario; `symplex info` "
        "lists its groups.",
    ] = None
    bundled: Annotated[Text | None, 'A part that comes with symplex, such as `"bracket"`.'] = None
    cube: Annotated[
        Literal["I", "II", "III"] | None, "The cube of 0.1 m of the force-stepping paper in its three meshes."
    ] = None
    box: Annotated[
        Triple | None,
        lengths("m"),
        "A box from the origin with these edges; its sides are the groups `x_min`, `x_max`, `y_min` …",
    ] = None
    cells: Annotated[tuple[int, int, int] | None, counts(2**31 - 1), "Cells of the box in each direction."] = None
    split: Annotated[
        Literal["24", "6", "hexahedra", "body-centred", "wedges", "pyramids"],
        'How cells of the box are cut: tetrahedra without a preferred direction, `"6"` or `"body-centred"` ones, '
        '`"hexahedra"` as they are, two `"wedges"`, or six `"pyramids"`.',
    ] = "24"
    cylinder: Annotated[CylinderMesh | None, "A cylinder or tube, or a sector of it."] = None
    ball: Annotated[BallMesh | None, "A ball, solid or hollow, or a half, a quarter or an eighth of it."] = None
    map: Annotated[
        tuple[str, str, str] | None,
        Quantity(formulas, "m", "three formulas of x, y, z"),
        "New places of points x, y, z (m), after scaling: a quarter of a ring from a box is "
        '`["x*cos(y)", "x*sin(y)", "z"]`. Sides that meet are joined; edges are curved if `quadratic`.',
    ] = None
    regions: Annotated[
        dict[Text, Annotated[tuple[Triple, Triple], Quantity(_corners, "m", "two corners of a box")]],
        "More groups: the elements whose centres are in a box, after scaling and before rotating.",
    ] = {}

    @classmethod
    def _prepared(cls, value: Any) -> Any:
        return {"file": value} if isinstance(value, str) else value

    def _check(self) -> None:
        source = self.source
        if source == "box" and self.cells is None:
            raise ValueError("box needs cells, the number of cells each way, such as cells = [4, 4, 4]")
        if source != "box" and self.cells is not None:
            raise ValueError(f"cells goes with box, not with {source}")
        if source != "box":
            self.refuse_unused("split", goes_with=f"box, not with {source}")

    @property
    def source(self) -> str:
        """Which of the sources is given."""
        return one_of(self, ["file", "bundled", "cube", "box", "cylinder", "ball"], "source")

    def mesh(self, scale: float, folder: Path, order: int) -> tuple[Mesh, str]:
        """Return the mesh, its cells of an order if it is curved, and what to call it in messages."""
        shaped = self.cylinder or self.ball
        if shaped is not None:
            mesh, called = shaped.mesh(order), self.source
        elif self.cube is not None:
            mesh, called = cube_mesh(self.cube), f"cube {self.cube}"
        elif self.box is not None and self.cells is not None:
            mesh, called = box(self.box, self.cells, split=self.split), "box"
        elif self.bundled is not None:
            mesh, called = read_mesh(bundled(self.bundled)), self.bundled
        else:
            path = folder / str(self.file)
            mesh, called, scale = read_mesh(path, scale=scale), path.name, 1.0
        mesh = replace(mesh, points=mesh.points * scale)
        if self.map is None:
            return mesh, called
        if order == 2 and not all(is_quadratic(kind) for kind in mesh.volume_types):
            mesh = quadratic(mesh)
        given = self.map

        def shape(x: Array) -> Array:
            places = dict(zip("xyz", x.T.tolist(), strict=True))
            return np.column_stack([formula_at(one, places) for one in given])

        return mapped(mesh, shape), called


_NOT_OF_MESH = ("material", "materials", "velocity", "angular_velocity")  # keys of a body on which no node depends


class Instance(Table):
    """A copy of a body, its own body; there is none but the copies then."""

    name: Annotated[Name, "Of the body that it is, for all other tables."]
    rotate: Annotated[Rotation | None, "About the origin, after the body itself has been put in its place."] = None
    translate: Annotated[Triple, vector("m"), "After rotating."] = ZERO
    velocity: Annotated[Triple | None, vector("m/s"), "At the start; by default that of the body."] = None
    angular_velocity: Annotated[Triple | None, vector("rad/s"), "At the start; by default that of the body."] = None


def _rigid(value: Any) -> Literal[True] | str | None:
    """Return true, the name of a group, or None for false."""
    if isinstance(value, bool):
        return True if value else None
    return check_text(value)


class ReducedTable(Table):
    """How a body is reduced to few coordinates, for small deformations and any motion ([reduced.md](../reduced.md))."""

    modes: Annotated[int, whole(0, 1000), "How many fixed-interface modes."] = 12
    interfaces: Annotated[
        list[Text],
        "Groups of nodes that couplings and supports hold, each as a rigid body; without any, modes are those of the "
        "free body.",
    ] = []


class Body(BodyTable, Timed):
    """A deformable body.

    Bodies pass through each other unless there is a table ``[[contact]]``. Elements may be tetrahedra, hexahedra,
    wedges and pyramids, linear or quadratic, of several types in one body if their faces fit
    ([elements.md](../elements.md)). Where there are several materials or types, each part has its own energy in
    the history, ``BODY.GROUP``, ``BODY.tetra`` or ``BODY.GROUP.tetra``; in all else it is one body.
    """

    begin: Annotated[
        float,
        time_or_name(),
        "Time from which its elements are there, or the name of a `[[when]]`: without stress in the shape that they "
        "have then ([stages.md](../stages.md#elements-that-are-added-and-removed)).",
        Key("from"),
    ] = 0.0
    until: Annotated[float | None, time_or_name(), "Time until which they are there, or the name of a `[[when]]`."] = (
        None
    )
    name: Annotated[Name, "Names its energy in the history and its block in ParaView."]
    mesh: Annotated[MeshTable, "Where its elements come from."]
    material: Annotated[MaterialTable | None, "Of all elements."] = None
    materials: Annotated[
        dict[Text, MaterialTable] | None,
        "Instead, the material of each of some groups, such as `{ steel = {…}, copper = {…} }`, which hold each "
        "element once.",
    ] = None
    group: Annotated[Text | None, "Use only the elements of this group of the mesh."] = None
    scale: Annotated[
        float,
        positive("m per unit of the file"),
        "`1e-3` for a file in millimetres; files that give their unit need none.",
    ] = 1.0
    repair: Annotated[bool, "Mend inverted and repeated elements, and drop nodes that belong to none."] = False
    rotate: Annotated[Rotation | None, "About the mesh's origin, after scaling."] = None
    translate: Annotated[Triple, vector("m"), "After rotating."] = ZERO
    velocity: Annotated[Triple, vector("m/s"), "At the start."] = ZERO
    angular_velocity: Annotated[
        Triple, vector("rad/s"), "At the start, about the centre of mass, added to `velocity`."
    ] = ZERO
    mass: Annotated[Literal["lumped", "consistent"], '`"consistent"` is for implicit integrators.'] = "lumped"
    massless: Annotated[
        Text | None,
        "Group of nodes without inertia, whose mass goes to the nodes behind, for smooth contact forces "
        '([more](../body-contact.md#sharp-impact-forces-zero-mass-contact-nodes)); for `"energy-momentum"`.',
    ] = None
    quadratic: Annotated[
        bool, "Make linear cells quadratic: `tetra10`, `hexahedron20`, `wedge15`, `pyramid13` with straight edges."
    ] = False
    formulation: Annotated[
        Literal["full", "stabilized", "mean-dilatation", "reduced", "standard"] | None,
        '`"stabilized"` is the default of hexahedra, `"full"` (formerly `"standard"`) of others '
        "([formulations](../elements.md#formulations)). Elements that a deck names otherwise need it.",
    ] = None
    rigid: Annotated[
        Literal[True] | str | None,
        Quantity(_rigid, "", "`true`, or name of a group"),
        "`true`: the body is rigid, a `[[rigid_body]]` with the mass of its materials; or only the elements of a "
        "group, as the rigid body `BODY.GROUP`, to which the others hold on ([more](../body-contact.md#rigid-bodies)).",
    ] = None
    reduced: Annotated[
        ReducedTable | None,
        "The body is reduced to few coordinates, for small deformations and any motion ([more](../reduced.md)).",
    ] = None
    instance: Annotated[list[Instance], "Copies, as tables `[[body.instance]]`."] = []

    def _check(self) -> None:
        if self.material is None and self.materials is None:
            raise ValueError("material is missing; give one, or materials by groups of the mesh")
        if self.material is not None and self.materials is not None:
            raise ValueError("has material and materials; give one for all elements, or those by groups")
        if self.materials == {}:
            raise ValueError("materials is empty; give a material for each group of elements")
        if self.changes and self.rigid is not None:
            raise ValueError("begins or ends, and is rigid; leave rigid out")
        if self.begins_later and (any(self.velocity) or any(self.angular_velocity)):
            raise ValueError("begins later, at rest but where others move it; leave velocity and angular_velocity out")
        if self.reduced is not None and (self.changes or self.rigid is not None or self.massless is not None):
            raise ValueError("is reduced, which goes without from, until, rigid and massless; leave these out")
        if self.rigid is True:
            self.refuse_unused("mass", "massless", "formulation", goes_with="bodies that deform, and rigid is true")
        elif self.rigid is not None and any(self.angular_velocity):
            raise ValueError(
                "angular_velocity goes with bodies without a rigid group, whose centre of mass is another; give "
                "velocity, or make it a separate body"
            )

    @property
    def changes(self) -> bool:
        """Whether it begins later than the run, or ends before."""
        return self.begins_later or self.until is not None or self.until_event is not None

    @property
    def begins_later(self) -> bool:
        """Whether its elements are not there at the start."""
        return self.begin > 0.0 or self.begin_event is not None

    @property
    def instances(self) -> list[Body]:
        """The bodies that it stands for: itself, or, each with one instance, these, with their own velocities."""
        if not self.instance:
            return [self]
        return [
            self.replaced(
                name=copy.name,
                instance=[copy],
                velocity=self.velocity if copy.velocity is None else copy.velocity,
                angular_velocity=self.angular_velocity if copy.angular_velocity is None else copy.angular_velocity,
            )
            for copy in self.instance
        ]

    @property
    def material_of_group(self) -> dict[str | None, MaterialTable]:
        """The material of each group of elements; of all elements by None, if there is only one."""
        if self.material is not None:
            return {None: self.material}
        return {group: material for group, material in (self.materials or {}).items()}

    @property
    def solid_formulation(self) -> Literal["full", "stabilized", "mean-dilatation", "reduced"] | None:
        """That of `symplex.Solid`; ``"standard"`` is what earlier versions called full integration."""
        return "full" if self.formulation == "standard" else self.formulation

    def columns(self, tables: Tables) -> Iterable[str]:
        """What is viscous or flows in it, with its work."""
        stress, overstress = viscosity_name(self.name), overstress_name(self.name)
        own = [f"{what}_{self.name}" for what in ("work", "stored", "eroded", "elements_gone")]
        return [stress, overstress, f"work_{stress}", f"work_{overstress}", f"stored_{overstress}", *own]

    def needs(self) -> Iterable[Need]:
        """Those of its mass and material."""
        yield from needs_of_mass(self.mass)
        if self.massless is not None:
            message = (
                "{method} needs mass at all nodes; take another integrator, such as {others}, or leave massless out."
            )
            yield Need("massless nodes", message)
        materials = self.material_of_group.values()
        if any(item.is_plastic for item in materials):
            yield from needs_of_history("its material flows")
        if any(item.viscous for item in materials):
            yield needs_of_overstress()
        elif any(item.is_viscous for item in materials):
            yield needs_of_overstress()._replace(trait="loads")

    def own_mesh(self, folder: Path) -> Mesh:
        """Return its elements in their place, without those that are rigid."""
        mesh = mesh_of(self, folder)
        return mesh if self.rigid is None else _without(mesh, str(self.rigid), self.name)

    def has_mesh_of(self, other: Entry) -> bool:
        """Return whether it differs in numbers of its material, and in its motion, only."""
        if not isinstance(other, Body) or self.material_of_group.keys() != other.material_of_group.keys():
            return False
        moving = {name: getattr(self, name) for name in _NOT_OF_MESH}
        return self == other.replaced(**moving)

    def add_stiffness(self, world: Builder) -> None:
        """Add the strain energies of its parts."""
        change = thermal_change(world.tables, self.name, world.mesh, world.folder)
        for part in world.inertia.parts[self.name]:
            solid = part.solid(world.mesh.points, change)
            world.add(part.name, part.material.metal(solid) if part.material.is_plastic else solid)

    def add_damping(self, world: Builder) -> None:
        """Add the viscous stress and the overstress of its parts."""
        materials = {part.name: part.material for part in world.inertia.parts[self.name]}
        for name, solid in world.solids(self.name).items():
            if materials[name].is_viscous:
                require_finite_strains(solid, self.name, "viscous", "viscous and viscosity are")
            if (stress := materials[name].viscous_stress(solid)) is not None:
                world.add(viscosity_name(name), stress)
            if (overstress := materials[name].overstress(solid)) is not None:
                world.add(overstress_name(name), overstress)


# -- their meshes -----------------------------------------------------------------------------------------------------


def mesh_of(body: Body, folder: Path) -> Mesh:
    """Return the mesh of one body, restricted to its group, checked and placed; files are looked for in a folder."""
    mesh, called = body.mesh.mesh(body.scale, folder, 2 if body.quadratic else 1)
    mesh = _with_regions(mesh, body.mesh.regions)
    formulations = mesh.formulations
    if body.repair:
        mesh = drop_unconnected(orient(drop_duplicates(mesh)))
    mesh = elements_of(mesh, body.group, called)
    for kind in mesh.volume_types if body.formulation is None else ():
        if others := [name for name in formulations.get(kind, ()) if name not in _AS_BY_DEFAULT]:
            take = 'as formulation = "full", fully integrated, which may be much stiffer'
            if others == [_REDUCED]:
                take = 'formulation = "reduced", as they are, or "full"'
            raise MeshError(
                f"{called} has elements {', '.join(others)}, which {kind} cells are not computed as; "
                f"say how they shall be, {take}."
            )
    try:
        check_mesh(mesh, called)
    except MeshError as error:
        if body.repair:
            raise
        raise MeshError(f"{str(error).split(';')[0]}; repair = true mends what can be mended.") from None
    if body.quadratic and not all(is_quadratic(kind) for kind in mesh.volume_types):
        mesh = quadratic(mesh)
    require_materials(body, mesh, called)
    require_conforming(mesh, called)
    points = placed(mesh.points, body.rotate, body.translate)
    for copy in body.instance:
        points = placed(points, copy.rotate, copy.translate)
    far, size = np.abs(points).max(), np.ptp(points, axis=0).max()
    if np.finfo(float).eps * far > _ROUNDED * size:
        raise MeshError(
            f"it lies up to {far:.3g} m from the origin, where positions are rounded to {np.spacing(far):.1g} m, too "
            f"far for a size of {size:.3g} m; translate it to the origin."
        )
    return replace(mesh, points=points)


def _with_regions(mesh: Mesh, regions: Mapping[str, tuple[Triple, Triple]]) -> Mesh:
    """Return a mesh with a group of the elements whose centres are in each of some boxes, by their corners in m."""
    groups = dict(mesh.cell_groups)
    for name, (low, high) in regions.items():
        if name in mesh.groups:
            raise MeshError(f"mesh.regions: there is a group '{name}' already; choose another name.")
        centres = {kind: mesh.points[mesh.cells[kind]].mean(axis=1) for kind in mesh.volume_types}
        inside = {kind: ((x >= low) & (x <= high)).all(axis=1) for kind, x in centres.items()}
        if not any(on.any() for on in inside.values()):
            raise MeshError(
                f"mesh.regions: no element has its centre in '{name}', between {list(low)} and {list(high)} m; "
                f"the mesh is between {mesh.points.min(axis=0).tolist()} and {mesh.points.max(axis=0).tolist()} m."
            )
        groups[name] = {kind: np.flatnonzero(on).astype(np.int32) for kind, on in inside.items() if on.any()}
    return replace(mesh, cell_groups=groups)


def elements_of(mesh: Mesh, group: str | None, called: str) -> Mesh:
    """Return the part of a mesh that is a group of elements (default: all), with the faces and groups on it."""
    known = [element.kind for element in SOLIDS]
    if group is None:
        kinds = mesh.volume_types
        whose = called
    else:
        if group not in mesh.groups:
            raise MeshError(f"group '{group}' is not in {called}; it has: {', '.join(mesh.groups) or 'none'}.")
        members = mesh.cell_groups.get(group, {})
        kinds = [kind for kind in mesh.volume_types if len(members.get(kind, ()))]
        whose = f"group '{group}' of {called}"
    others = [kind for kind in kinds if kind not in known]
    if others:
        raise MeshError(f"{whose} has {' and '.join(others)} cells; only {', '.join(known)} can be computed with.")
    if not kinds:
        raise MeshError(f"{whose} has no elements ({', '.join(known)}).")
    return mesh if group is None else _part(mesh, {kind: mesh.cell_groups[group][kind] for kind in kinds})


def _without(mesh: Mesh, group: str, name: str) -> Mesh:
    """Return a mesh without the elements of a group."""
    if group not in mesh.groups:
        raise MeshError(f"rigid: group '{group}' is not in body '{name}'; it has: {', '.join(mesh.groups) or 'none'}.")
    members = mesh.cell_groups.get(group, {})
    rest = {kind: np.setdiff1d(np.arange(len(mesh.cells[kind])), members.get(kind, ())) for kind in mesh.volume_types}
    rest = {kind: rows.astype(np.int32) for kind, rows in rest.items() if len(rows)}
    if not rest:
        raise MeshError(f"rigid: group '{group}' holds all elements of '{name}'; then write rigid = true.")
    if sum(map(len, rest.values())) == sum(len(mesh.cells[kind]) for kind in mesh.volume_types):
        raise MeshError(f"rigid: group '{group}' of '{name}' has no elements.")
    return _part(mesh, rest)


def _part(mesh: Mesh, cells: Mapping[str, IntArray]) -> Mesh:
    """Return the mesh of some volume cells, with their faces and the lines between their nodes."""
    chosen = {kind: mesh.cells[kind][index] for kind, index in cells.items()}
    on = np.zeros(len(mesh.points), bool)
    for nodes in chosen.values():
        on[nodes] = True
    lower = {kind: on[c].all(axis=1) for kind, c in mesh.cells.items() if kind not in mesh.volume_types}
    # A face of the rest of the mesh may well have all its nodes in this part.
    own_faces = face_corners(faces_of_cells(chosen))
    for kind, kept in lower.items():
        if dimension_of(kind) == 2:
            kept &= rows_among(face_corners({kind: mesh.cells[kind]}), own_faces)
    return take(mesh, np.flatnonzero(on), {k: np.flatnonzero(kept) for k, kept in lower.items()} | dict(cells))


def require_materials(body: Body, mesh: Mesh, called: str) -> None:
    """Check that each element of a body has one material: that the groups of its materials cover it exactly."""
    groups = [group for group in body.material_of_group if group is not None]
    counts = {kind: np.zeros(len(mesh.cells[kind]), int) for kind in mesh.volume_types}
    for group in groups:
        members = {kind: index for kind, index in mesh.cell_groups.get(group, {}).items() if kind in counts}
        if group not in mesh.groups:
            raise MeshError(f"materials: group '{group}' is not in {called}; it has: {listed(mesh.groups)}.")
        if set(group) & set(',"'):
            raise MeshError(f"materials: the group {shown(group)} names a column: no commas, no quotes.")
        if not any(map(len, members.values())):
            raise MeshError(f"materials: group '{group}' has no elements, only cells of other types or points.")
        for kind, index in members.items():
            counts[kind][index] += 1
    if not groups:
        return
    total = sum(map(len, counts.values()))
    for wrong, how in ((lambda n: n == 0, "no material"), (lambda n: n > 1, "several materials")):
        number = sum(int(wrong(n).sum()) for n in counts.values())
        if number:
            kind = next(kind for kind, n in counts.items() if wrong(n).any())
            first = mesh.points[mesh.cells[kind][np.flatnonzero(wrong(counts[kind]))[0]]].mean(axis=0)
            at = ", ".join(f"{x:.4g}" for x in first)
            raise MeshError(
                f"materials: {number:,} of {total:,} elements have {how}, the first at ({at}) m; the groups "
                f"{listed(groups)} must hold each element once. Groups of {called}: {listed(mesh.groups)}."
            )


def require_conforming(mesh: Mesh, called: str) -> None:
    """Check that quadrilateral faces of elements meet no triangular ones.

    Between tetrahedra and hexahedra that share nodes only, faces would part; pyramids go between them.
    """
    if len(mesh.volume_types) < 2:
        return
    faces = mesh.boundary_faces
    triangles = [rows[:, :3] for kind, rows in faces.items() if kind.startswith("triangle")]
    quads = [rows[:, :4] for kind, rows in faces.items() if kind.startswith("quad")]
    if not triangles or not quads:
        return
    corners = np.concatenate(quads)
    diagonals = np.concatenate([corners[:, [0, 2]], corners[:, [1, 3]]])
    rows = np.concatenate(triangles)
    on = np.zeros(len(rows), bool)
    for pair in ((0, 1), (1, 2), (2, 0)):
        on |= rows_among(rows[:, pair], diagonals)
    if on.any():
        at = ", ".join(f"{x:.4g}" for x in mesh.points[rows[on][0]].mean(axis=0))
        raise MeshError(
            f"{called} is not conforming: {int(on.sum()):,} triangular faces lie on quadrilateral ones, the first at "
            f"({at}) m, so that elements would part there; pyramids go between tetrahedra and hexahedra."
        )
