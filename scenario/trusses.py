"""The table of trusses, and what it describes: a mesh of lines, bars with a law of two points, and their mass.

What beams have in common with them is here too: where lines come from.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import numpy as np

from symplex.base.quantities import (
    ZERO,
    FilePath,
    Name,
    Quantity,
    Text,
    Triple,
    between,
    check_path,
    number,
    positive,
    shown,
    vector,
    whole,
)
from symplex.base.sparse import sp
from symplex.errors import MeshError, ScenarioError
from symplex.fem.actions.mass import bar_mass, consistent_bar_mass
from symplex.fem.energies.energy import Array, IntArray
from symplex.fem.measures.bars import Bars
from symplex.fem.measures.inelastic_bars import InelasticBars
from symplex.fem.measures.pair_laws import CompiledLaw, CompressionOnly, EngineeringStrain, GreenStrain, TensionOnly
from symplex.fem.measures.separation import BreakingBar, TractionSeparation
from symplex.fem.structures.yielding import YieldingBar
from symplex.meshes.formats.read import read_mesh
from symplex.meshes.generate import DIAGONALS, bar_lattice, ring
from symplex.meshes.mesh import Mesh, distinct, take
from symplex.scenario.plastic import MemberPlasticKeys
from symplex.scenario.prescribed import read_numbers
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
from symplex.scenario.temperatures import EXPANDS, EXPANSION, thermal_change, thermal_strain

if TYPE_CHECKING:
    from symplex.scenario.building import Builder
    from symplex.scenario.tables import Tables

MEMBERS = "members"  # the group of all of them
_MOST = 2**31 - 1
_LAWS: dict[str, type[EngineeringStrain | GreenStrain | TensionOnly | CompressionOnly]] = {
    "engineering-strain": EngineeringStrain,
    "green-strain": GreenStrain,
    "tension-only": TensionOnly,
    "compression-only": CompressionOnly,
}
LawName = Literal["engineering-strain", "green-strain", "tension-only", "compression-only"]
LAW = (
    '`"engineering-strain"`: ½ k (l − L)²; `"green-strain"`: ½ k ((l² − L²)/2L)²; `"tension-only"`: a rope; '
    '`"compression-only"`: a strut.'
)


def law_of(name: LawName, stiffness: Any, length: Any) -> CompiledLaw:
    """Return a law of two points by name, with its stiffness in N/m and natural length in m."""
    return _LAWS[name](stiffness, length)


# -- the table ----------------------------------------------------------------------------------------------------


def _rows(value: Any, size: int, of: Quantity, what: str) -> Any:
    """Return rows of numbers, or the path of a file of them."""
    if isinstance(value, str):
        return check_path(value)
    if not isinstance(value, list | tuple) or not value:
        raise ValueError(f"is {shown(value)}, must be a list of {what}, or the name of a file of them")
    for row in value:
        if not isinstance(row, list | tuple) or len(row) != size:
            raise ValueError(f"has {shown(row)}, must have {what}")
    return tuple(tuple(of.check(x) for x in row) for row in value)


_COORDINATES = Quantity(
    lambda value: _rows(value, 3, number("m"), "points [x, y, z] (m)"), "m", "list of points, or path of a file"
)
_CORNERS = Quantity(
    lambda value: _corners(value),
    "m",
    "list of points",  # which is declared below
)
_PAIRS = Quantity(
    lambda value: _rows(value, 2, whole(0, _MOST), "pairs of nodes, which are counted from 0"),
    kind="list of pairs, or path of a file",
)


def _corners(value: Any) -> tuple[Triple, ...]:
    found = _rows(value, 3, number("m"), "points [x, y, z] (m)") if isinstance(value, list | tuple) else ()
    if len(found) < 2 or any(one == other for one, other in pairwise(found)):
        raise ValueError(f"is {shown(value)}, must be two or more points [x, y, z] (m), each apart from the next")
    return found


def _counts(value: Any) -> tuple[int, int, int]:
    if not isinstance(value, list | tuple) or len(value) != 3 or not any(value):
        raise ValueError(f"is {shown(value)}, must be three integers, not all of them 0")
    x, y, z = (whole(0, _MOST).check(count) for count in value)
    return x, y, z


def _lengths(value: Any) -> Triple:
    x, y, z = vector("m").check(value)
    if min(x, y, z) < 0:
        raise ValueError(f"is {shown(value)}, must be three lengths (m), 0 where there are no cells")
    return x, y, z


class LineMesh(Table):
    """Where the nodes and members of a truss or beam come from; a text alone is the name of a file."""

    file: Annotated[FilePath | None, "Mesh file whose lines are the members."] = None
    line: Annotated[float | None, positive("m"), "Length of `bars` members along x, from the origin."] = None
    path: Annotated[
        tuple[Triple, ...] | None,
        _CORNERS,
        "Corners of a line of straight parts, with `bars` members each; with the groups `start`, `end`, `corners`, and "
        "of members `part_1`, `part_2` …",
    ] = None
    ring: Annotated[
        float | None, positive("m"), "Radius of a regular polygon of `bars` members in the plane z = 0."
    ] = None
    bars: Annotated[int | None, whole(1, _MOST), "Number of members of a line or ring, or of each part of a path."] = (
        None
    )
    lattice: Annotated[
        Triple | None,
        Quantity(_lengths, "m", "three numbers", "≥ 0"),
        "Edges of a lattice of members along the edges of cells.",
    ] = None
    cells: Annotated[
        tuple[int, int, int] | None,
        Quantity(_counts, "", "three integers", "≥ 0"),
        "Cells of the lattice in each direction; with 0 it has no extent.",
    ] = None
    diagonals: Annotated[
        Literal["none", "single", "cross", "body", "all"] | None,
        'Of squares and cubes of the lattice: one in each (`"single"`, the default), both of each square '
        '(`"cross"`), the four of each cube (`"body"`), `"all"`, or `"none"`.',
    ] = None
    nodes: Annotated[
        FilePath | tuple[Triple, ...] | None, _COORDINATES, "Nodes, or a file of three columns with commas between."
    ] = None
    members: Annotated[
        FilePath | tuple[tuple[int, int], ...] | None,
        _PAIRS,
        "Pairs of nodes, counted from 0, or a file of two columns.",
    ] = None
    groups: Annotated[
        dict[Text, list[Annotated[int, whole(0, _MOST)]]] | None, "Groups of given nodes, such as `{ foot = [0] }`."
    ] = None

    @classmethod
    def _prepared(cls, value: Any) -> Any:
        return {"file": value} if isinstance(value, str) else value

    def _check(self) -> None:
        needs = {"line": {"bars"}, "path": {"bars"}, "ring": {"bars"}, "lattice": {"cells"}, "nodes": {"members"}}
        may = {"lattice": {"diagonals"}, "nodes": {"groups"}}
        source = one_of(self, ["file", "line", "path", "ring", "lattice", "nodes"], "source")
        given = {key for key in ("bars", "cells", "diagonals", "members", "groups") if getattr(self, key) is not None}
        requested = needs.get(source, set())
        if missing := sorted(requested - given):
            raise ValueError(f"{source} needs {missing[0]}")
        if odd := sorted(given - requested - may.get(source, set())):
            raise ValueError(f"{odd[0]} does not go with {source}")


class BarMaterial(MemberPlasticKeys):
    """The material of bars: stiffness EA/L and mass ρAL."""

    young: Annotated[float, positive("Pa"), "Young's modulus E."]
    density: Annotated[float, positive("kg/m³"), "ρ."]
    expansion: Annotated[float | None, EXPANSION, EXPANDS] = None

    @classmethod
    def _prepared(cls, value: Any) -> Any:
        if isinstance(value, dict) and (given := [key for key in ("strength", "fracture_energy") if key in value]):
            raise ValueError(
                f"has {given[0]}, which is a key of the truss itself (of each member), with stiffness (N/m) and "
                "member_mass instead of section and material"
            )
        return value


class BreakingKeys(Entry):
    """The law of bars or springs, and the keys that make them break."""

    law: Annotated[LawName, LAW] = "engineering-strain"
    strength: Annotated[
        float | None,
        positive("N of each"),
        "Makes them break ([bonds.md](../bonds.md)): the largest force, at which they begin to soften; with "
        "`fracture_energy`.",
    ] = None
    fracture_energy: Annotated[float | None, positive("J of each"), "What breaking one dissipates."] = None

    @property
    def breaks(self) -> bool:
        """Whether they break."""
        return self.strength is not None

    def _check_breaking(self) -> None:
        if (self.strength is None) != (self.fracture_energy is None):
            given = "strength" if self.fracture_energy is None else "fracture_energy"
            raise ValueError(f"has {given} alone; what breaks needs strength (N) and fracture_energy (J)")
        if self.breaks and self.law != "engineering-strain":
            raise ValueError(f'has strength, which goes with law = "engineering-strain", not "{self.law}"')


def breaking_bar(table: BreakingKeys, stiffness: float, lengths: Array | float) -> BreakingBar:
    """Return the law of bars or springs that break, of a stiffness in N/m and natural lengths in m."""
    assert table.strength is not None
    assert table.fracture_energy is not None
    return BreakingBar(TractionSeparation(table.strength, table.fracture_energy, stiffness), lengths)


class LinesTable(BodyTable):
    """What is made of the lines of a mesh."""

    name: Annotated[Name, "Names its energy and its block; all its members are the group `members`."]
    mesh: Annotated[LineMesh, "Where its nodes and members come from."]
    group: Annotated[Text | None, "Of a file: only the lines of this group."] = None
    scale: Annotated[float, positive("m per unit of the file"), "`1e-3` for a file in millimetres."] = 1.0
    rotate: Annotated[Rotation | None, "About the mesh's origin, after scaling."] = None
    translate: Annotated[Triple, vector("m"), "After rotating."] = ZERO

    def own_mesh(self, folder: Path) -> Mesh:
        """Return its lines in their place."""
        return line_mesh(self, folder)


class TrussTable(LinesTable, BreakingKeys):
    """Bars between nodes, which carry forces along themselves only, and turn freely at their nodes."""

    section: Annotated[float | None, positive("m²"), "Cross-section A."] = None
    material: Annotated[BarMaterial | None, "Of all members, with `section`."] = None
    stiffness: Annotated[float | None, positive("N/m of each member"), "Instead of section and material."] = None
    member_mass: Annotated[
        float | None, positive("kg of each member"), "Nodes without any mass need a `[[point_mass]]`."
    ] = None
    prestrain: Annotated[
        float, between(-0.9, 9.0), "ε of all members at the start, of natural lengths L = l/(1 + ε)."
    ] = 0.0
    mass: Annotated[Literal["lumped", "consistent"], '`"consistent"` is for implicit integrators.'] = "lumped"
    velocity: Annotated[Triple, vector("m/s"), "At the start."] = ZERO
    angular_velocity: Annotated[Triple, vector("rad/s"), "At the start, about the centre of mass."] = ZERO

    def _check(self) -> None:
        by_material = {key for key in ("section", "material") if getattr(self, key) is not None}
        if by_material and (self.stiffness is not None or self.member_mass is not None):
            raise ValueError(
                "has stiffness or member_mass besides section and material; give section and material, from which "
                "stiffness EA/L and mass ρAL follow, or stiffness and member_mass"
            )
        if self.stiffness is None and by_material != {"section", "material"}:
            raise ValueError("needs section (m²) and material, or the stiffness of each member (N/m)")
        if self.breaks and self.stiffness is None:
            raise ValueError("has strength, which goes with stiffness (N/m), not with section and material")
        if self.yields and self.law != "engineering-strain":
            raise ValueError(
                f'has a material that yields, which goes with law = "engineering-strain", not "{self.law}"'
            )

    @property
    def yields(self) -> bool:
        """Whether its bars are of a metal that yields."""
        return self.material is not None and self.material.is_plastic

    def needs(self) -> Iterable[Need]:
        """Those of its mass, and of members that yield or break."""
        yield from needs_of_mass(self.mass)
        if self.yields or self.breaks:
            yield from needs_of_history(f"its members {'yield' if self.yields else 'break'}")

    def columns(self, tables: Tables) -> Iterable[str]:
        """Return what its members store and dissipate."""
        return [f"stored_{self.name}", f"work_{self.name}"] if self.yields or self.breaks else []

    def add_stiffness(self, world: Builder) -> None:
        """Add the energy of its bars."""
        change = thermal_change(world.tables, self.name, world.mesh, world.folder)
        strain = thermal_strain(None if self.material is None else self.material.expansion, change)
        world.add(self.name, world.inertia.trusses[self.name].bars(world.mesh.points, strain))


# -- what it describes --------------------------------------------------------------------------------------------


def line_mesh(table: LinesTable, folder: Path) -> Mesh:
    """Return the lines of a truss or beam in their place, with the group ``members`` of all.

    Files are looked for in a folder.
    """
    mesh = _lines_of(table, folder)
    if MEMBERS in mesh.groups:
        raise MeshError(f"a group is called '{MEMBERS}', as that of all members is; give it another name.")
    points = mesh.points * (1.0 if table.mesh.file is not None else table.scale)
    points = placed(points, table.rotate, table.translate)
    lines = mesh.cells["line"]
    lengths = np.linalg.norm(points[lines[:, 1]] - points[lines[:, 0]], axis=1)
    if not lengths.min() > 0.0:
        a, b = lines[int(np.argmin(lengths))]
        raise MeshError(f"the member between the nodes {a} and {b} has no length; both are at {points[a].tolist()} m.")
    every = {MEMBERS: {"line": np.arange(len(lines), dtype=np.int32)}}
    return Mesh(points, {"line": lines}, {**mesh.cell_groups, **every}, mesh.point_groups, unknown=mesh.unknown)


def _lines_of(table: LinesTable, folder: Path) -> Mesh:
    source = table.mesh
    if source.file is not None:
        return _read_lines(table, folder / source.file)
    if table.group is not None:
        raise ScenarioError("group is of a mesh file, and there is none.")
    if source.line is not None:
        return bar_lattice((source.line, 0.0, 0.0), (source.bars or 1, 0, 0))
    if source.path is not None:
        return _path(np.array(source.path), source.bars or 1)
    if source.ring is not None:
        flat = ring(source.ring, source.bars or 1)
        points = np.column_stack([flat.points, np.zeros(len(flat.points))])
        return Mesh(points, flat.cells, flat.cell_groups, flat.point_groups)
    if source.lattice is not None:
        assert source.cells is not None
        return bar_lattice(source.lattice, source.cells, diagonals=source.diagonals or DIAGONALS[1])
    return _given(source, folder)


def _path(corners: Array, bars: int) -> Mesh:
    """Return straight lines from corner to corner [c, 3], of so many members each."""
    parts = np.arange(bars)[:, None] / bars
    straight = [one + parts * (other - one) for one, other in pairwise(corners)]
    points = np.concatenate([*straight, corners[-1:]])
    nodes = np.arange(len(points), dtype=np.int32)
    groups = {"start": nodes[:1], "end": nodes[-1:]}
    if len(corners) > 2:
        groups["corners"] = nodes[bars:-1:bars]
    parts_of = {
        f"part_{k + 1}": {"line": np.arange(k * bars, (k + 1) * bars, dtype=np.int32)} for k in range(len(straight))
    }
    return Mesh(points, {"line": np.column_stack([nodes[:-1], nodes[1:]])}, parts_of, groups)


def _read_lines(table: LinesTable, path: Path) -> Mesh:
    """Return the lines of a mesh file, all or those of a group, with their nodes only."""
    mesh = read_mesh(path, scale=table.scale, require_volume=False)
    if mesh.points.shape[1] != 3:
        raise MeshError(f"{path.name} is not in space: its points have {mesh.points.shape[1]} coordinates.")
    lines = mesh.cells.get("line", np.empty((0, 2), np.int32))
    if table.group is not None and table.group not in mesh.groups:
        raise MeshError(f"group '{table.group}' is not in {path.name}; it has: {', '.join(mesh.groups) or 'none'}.")
    chosen = np.arange(len(lines))
    if table.group is not None:
        chosen = mesh.cell_groups.get(table.group, {}).get("line", chosen[:0])
    if not len(chosen):
        whose = f"group '{table.group}' of {path.name}" if table.group is not None else path.name
        raise MeshError(f"{whose} has no line cells, of which its members are made.")
    return take(mesh, distinct(lines[chosen].ravel(), len(mesh.points)), {"line": chosen})


def _given(source: LineMesh, folder: Path) -> Mesh:
    """Return the mesh of nodes and members that are given, in the scenario or in files."""
    points = np.array(_table(source.nodes, folder, 3, "x, y, z (m)"))
    ends = np.array(_table(source.members, folder, 2, "two nodes, counted from 0"))
    members = ends.astype(np.int64)
    n = len(points)
    for k, (row, (a, b)) in enumerate(zip(ends, members, strict=True)):
        if (row != (a, b)).any() or min(a, b) < 0 or max(a, b) >= n:
            raise ScenarioError(
                f"mesh: member {k + 1} is {row.tolist()}, must be two of the {n} nodes, which are counted from 0."
            )
        if a == b:
            raise ScenarioError(f"mesh: member {k + 1} joins node {a} with itself.")
    loose = np.setdiff1d(np.arange(n), members)
    if len(loose):
        raise ScenarioError(f"mesh: node {loose[0]} has no member; {len(loose)} of {n} nodes belong to none.")
    groups = {}
    for name, index in (source.groups or {}).items():
        if not index or max(index) >= n:
            raise ScenarioError(f"mesh: groups.{name} is {shown(index)}, must be some of the {n} nodes from 0.")
        groups[name] = np.unique(index).astype(np.int32)
    return Mesh(points, {"line": members.astype(np.int32)}, {}, groups)


def _table(value: Any, folder: Path, columns: int, requested: str) -> Any:
    """Return rows of numbers, from a file if it is the name of one."""
    return read_numbers(folder / value, value, columns, requested) if isinstance(value, str) else value


class Truss(NamedTuple):
    """The bars of a truss in the mesh of all bodies."""

    table: TrussTable
    members: IntArray  # [m, 2]

    def bars(self, points: Array, thermal_strain: Array | None = None) -> Bars | InelasticBars:
        """Return bars of natural lengths L/(1 + ε) with the prestrain ε, at positions [n, 3]; times 1 + α ΔT [n]."""
        table = self.table
        lengths = self._lengths(points)
        natural = lengths / (1.0 + table.prestrain)
        if thermal_strain is not None:
            natural = natural * (1.0 + thermal_strain[self.members].mean(axis=1))
        if table.breaks:
            assert table.stiffness is not None
            return InelasticBars(self.members, breaking_bar(table, table.stiffness, natural))
        hardening = None if table.material is None else table.material.flow()
        if hardening is not None:
            assert table.material is not None
            assert table.section is not None
            law = YieldingBar(table.material.young, table.section, natural, hardening)
            return InelasticBars(self.members, law)
        if table.stiffness is not None:
            stiffness: Any = table.stiffness
        else:
            assert table.section is not None
            assert table.material is not None
            stiffness = table.material.young * table.section * (1.0 + table.prestrain) / lengths
        return Bars(self.members, law_of(table.law, stiffness, natural))

    def lumped_mass(self, points: Array, n_nodes: int) -> Array:
        """Return the lumped nodal masses [n_nodes] in kg, 0 of bars that have none."""
        density = self._mass_per_length(points)
        return np.zeros(n_nodes) if density is None else bar_mass(points, self.members, density, 1.0, n_nodes)

    def consistent_mass(self, points: Array, n_nodes: int) -> sp.csr_array:
        """Return the consistent mass matrix [n_nodes, n_nodes] in kg."""
        density = self._mass_per_length(points)
        if density is None:
            return sp.csr_array((n_nodes, n_nodes))
        return consistent_bar_mass(points, self.members, density, 1.0, n_nodes)

    def _mass_per_length(self, points: Array) -> Array | None:
        table = self.table
        if table.material is not None and table.section is not None:
            return np.full(len(self.members), table.material.density * table.section)
        return None if table.member_mass is None else table.member_mass / self._lengths(points)

    def _lengths(self, points: Array) -> Array:
        return np.linalg.norm(points[self.members[:, 1]] - points[self.members[:, 0]], axis=1)
